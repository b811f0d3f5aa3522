package web

import "github.com/go-chi/chi/v5"

// teamRoutes are the team and the API keys of a venue.
func (s *Server) teamRoutes(r chi.Router) {
	r.Group(func(r chi.Router) {
		r.Use(s.may(runVenue))
		r.Get("/team", s.staff(s.getTeam))
		r.Post("/team/invite", s.staff(s.postInvite))
		r.Post("/team/{member}/role", s.staff(s.postRole))
		r.Get("/team/{member}/remove", s.staff(s.getRemoveMember))
		r.Post("/team/{member}/remove", s.staff(s.postRemoveMember))
		r.Post("/team/invitations/{invitation}/resend", s.staff(s.postInvitationResend))
		r.Post("/team/invitations/{invitation}/revoke", s.staff(s.postInvitationRevoke))
		r.Get("/api-keys", s.staff(s.getAPIKeys))
		r.Post("/api-keys", s.staff(s.postAPIKey))
		r.Get("/api-keys/{key}/revoke", s.staff(s.getRevokeAPIKey))
		r.Post("/api-keys/{key}/revoke", s.staff(s.postRevokeAPIKey))
	})
}
