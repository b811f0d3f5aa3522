package web

import "github.com/go-chi/chi/v5"

// lineRoutes are the LINE account of a venue.
func (s *Server) lineRoutes(r chi.Router) {
	r.Group(func(r chi.Router) {
		r.Use(s.may(runVenue))
		r.Get("/line", s.staff(s.getLine))
		r.Post("/line", s.staff(s.postLine))
		r.Post("/line/check", s.staff(s.postLineCheck))
		r.Get("/line/remove", s.staff(s.getLineRemove))
		r.Post("/line/remove", s.staff(s.postLineRemove))
	})
}
