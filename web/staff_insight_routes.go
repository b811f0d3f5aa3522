package web

import "github.com/go-chi/chi/v5"

// insightRoutes are the numbers.
func (s *Server) insightRoutes(r chi.Router) {
	r.Group(func(r chi.Router) {
		r.Use(s.may(seeNumbers))
		r.Get("/insight", s.staff(s.getInsight))
		r.Get("/insight/{table}.csv", s.staff(s.getInsightFile))
	})
}
