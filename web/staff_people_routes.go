package web

import "github.com/go-chi/chi/v5"

// peopleRoutes are the customers.
func (s *Server) peopleRoutes(r chi.Router) {
	r.Group(func(r chi.Router) {
		r.Use(s.may(lookAtTheDay))
		r.Get("/people", s.staff(s.getPeople))
		r.Post("/people", s.staff(s.postPeople))
		r.Get("/people/{person}", s.staff(s.getPerson))
	})
	r.With(s.may(serveCustomers)).Post("/people/{person}/links", s.staff(s.postPersonLinks))
	r.Group(func(r chi.Router) {
		r.Use(s.may(takeData))
		r.Get("/people/{person}/export", s.staff(s.getPersonExport))
		r.Get("/people/{person}/export.json", s.staff(s.getPersonExportFile))
		r.Get("/people/{person}/erase", s.staff(s.getPersonErase))
		r.Post("/people/{person}/erase", s.staff(s.postPersonErase))
	})
}
