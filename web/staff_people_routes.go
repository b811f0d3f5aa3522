package web

import "github.com/go-chi/chi/v5"

// peopleRoutes are the customers.
func (s *Server) peopleRoutes(_ chi.Router) {
}
