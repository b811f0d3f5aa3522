package web

import "github.com/go-chi/chi/v5"

// policyRoutes are the rules: policies, the first set-up, the sheets.
func (s *Server) policyRoutes(r chi.Router) {
	r.Group(func(r chi.Router) {
		r.Use(s.may(setUp))
		r.Get("/policies", s.staff(s.getPolicies))
		r.Post("/policies", s.staff(s.postPolicies))
		r.Get("/policies/complete", s.staff(s.getCompletePolicies))
		r.Post("/policies/complete", s.staff(s.postCompletePolicies))
		r.Get("/services/{service}/policies", s.staff(s.getPolicies))
		r.Post("/services/{service}/policies", s.staff(s.postPolicies))
		r.Get("/setup", s.staff(s.getSetup))
		r.Post("/setup", s.staff(s.postSetup))
	})
	r.Group(func(r chi.Router) {
		r.Use(s.may(lookAtTheDay))
		r.Get("/rules", s.staff(s.getRules))
		r.Get("/rules/customers", s.staff(s.getRulesCustomers))
	})
}
