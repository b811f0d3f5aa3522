package web

import "github.com/go-chi/chi/v5"

// accountRoutes are a person's own sign-in: password, sessions, second factor, invitations.
func (s *Server) accountRoutes(_ chi.Router) {
}
