package web

import "github.com/go-chi/chi/v5"

// teamRoutes are the team and the API keys of a venue.
func (s *Server) teamRoutes(_ chi.Router) {
}
