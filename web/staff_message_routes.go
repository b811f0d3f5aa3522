package web

import "github.com/go-chi/chi/v5"

// messageRoutes are the messages.
func (s *Server) messageRoutes(r chi.Router) {
	r.Group(func(r chi.Router) {
		r.Use(s.may(lookAtTheDay))
		r.Get("/messages", s.staff(s.getMessages))
		r.Get("/messages/{message}", s.staff(s.getMessage))
		r.Get("/messages/previews", s.staff(s.getPreviews))
		r.Get("/messages/previews/html", s.staff(s.getPreviewHTML))
		r.Get("/messages/notices", s.staff(s.getNotices))
		r.Post("/messages/notices", s.staff(s.postNotices))
		r.Get("/mailbox", s.staff(s.getMailbox))
		r.Get("/mailbox/{message}", s.staff(s.getMail))
	})
	r.Group(func(r chi.Router) {
		r.Use(s.may(serveCustomers))
		r.Post("/messages/{message}/retry", s.staff(s.postRetry))
		r.Post("/messages/retry-failed", s.staff(s.postRetryFailed))
		r.Get("/messages/{message}/give-up", s.staff(s.getGiveUp))
		r.Post("/messages/{message}/give-up", s.staff(s.postGiveUp))
		r.Post("/messages/links/{subject}", s.staff(s.postLinkAgain))
	})
	r.Group(func(r chi.Router) {
		r.Use(s.may(setUp))
		r.Get("/messages/texts", s.staff(s.getTexts))
		r.Get("/messages/texts/{kind}/{lang}", s.staff(s.getText))
		r.Post("/messages/texts/{kind}/{lang}", s.staff(s.postText))
		r.Post("/messages/texts/{kind}/{lang}/preview", s.staff(s.postTextPreview))
		r.Post("/messages/texts/{kind}/{lang}/default", s.staff(s.postTextDefault))
	})
}
