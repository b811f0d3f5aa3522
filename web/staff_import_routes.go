package web

import "github.com/go-chi/chi/v5"

// importRoutes are importing slots and bookings.
func (s *Server) importRoutes(r chi.Router) {
	r.Route("/import", func(r chi.Router) {
		r.Use(s.may(setUp))
		r.Get("/", s.staff(s.getImport))
		r.Post("/", s.staff(s.postImport))
		r.Post("/run", s.staff(s.postImportRun))
		r.Get("/slots.csv", s.staff(s.getImportTemplate(importSlots)))
		r.Get("/bookings.csv", s.staff(s.getImportTemplate(importBookings)))
	})
}
