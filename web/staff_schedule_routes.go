package web

import "github.com/go-chi/chi/v5"

// scheduleRoutes are recurring schedules and single slots.
func (s *Server) scheduleRoutes(_ chi.Router) {
}
