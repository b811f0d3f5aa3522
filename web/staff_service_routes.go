package web

import "github.com/go-chi/chi/v5"

// serviceRoutes are services, resources, closed days and the venue itself.
func (s *Server) serviceRoutes(_ chi.Router) {
}
