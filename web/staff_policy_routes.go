package web

import "github.com/go-chi/chi/v5"

// policyRoutes are the rules: policies, the first set-up, the sheets.
func (s *Server) policyRoutes(_ chi.Router) {
}
