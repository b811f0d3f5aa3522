package web

import "github.com/go-chi/chi/v5"

// findRoutes are finding: search, check-in, exports of a list.
func (s *Server) findRoutes(r chi.Router) {
	r.Group(func(r chi.Router) {
		r.Use(s.may(lookAtTheDay))
		r.Get("/search", s.staff(s.getSearch))
		r.Post("/search", s.staff(s.postSearch))
	})
}
