package web

import "github.com/go-chi/chi/v5"

// importRoutes are importing slots and bookings.
func (s *Server) importRoutes(_ chi.Router) {
}
