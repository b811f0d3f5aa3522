package web

import "github.com/go-chi/chi/v5"

// insightRoutes are the numbers.
func (s *Server) insightRoutes(_ chi.Router) {
}
