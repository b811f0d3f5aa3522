package web

import "github.com/go-chi/chi/v5"

// channelRoutes are webhooks.
func (s *Server) channelRoutes(r chi.Router) {
	r.Group(func(r chi.Router) {
		r.Use(s.may(runVenue))
		r.Get("/webhooks", s.staff(s.getWebhooks))
		r.Post("/webhooks", s.staff(s.postWebhooks))
		r.Get("/webhooks/{webhook}", s.staff(s.getWebhook))
		r.Post("/webhooks/{webhook}", s.staff(s.postWebhook))
		r.Post("/webhooks/{webhook}/test", s.staff(s.postWebhookTest))
		r.Post("/webhooks/{webhook}/pause", s.staff(s.postWebhookPause))
		r.Post("/webhooks/{webhook}/resume", s.staff(s.postWebhookResume))
		r.Get("/webhooks/{webhook}/secret", s.staff(s.getWebhookSecret))
		r.Post("/webhooks/{webhook}/secret", s.staff(s.postWebhookSecret))
		r.Get("/webhooks/{webhook}/delete", s.staff(s.getWebhookDelete))
		r.Post("/webhooks/{webhook}/delete", s.staff(s.postWebhookDelete))
	})
}
