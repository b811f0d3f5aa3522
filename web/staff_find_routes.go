package web

import (
	"github.com/go-chi/chi/v5"

	"holdfast/views"
)

// findRoutes are finding: search, check-in, exports of a list.
func (s *Server) findRoutes(r chi.Router) {
	r.Group(func(r chi.Router) {
		r.Use(s.may(lookAtTheDay))
		r.Get("/search", s.staff(s.getSearch))
		r.Post("/search", s.staff(s.postSearch))
		r.Get("/slots/{slot}/roster.csv", s.staff(s.getRosterCSV))
		r.Get("/slots/{slot}/waitlist.csv", s.staff(s.getWaitlistCSV))
	})
	r.Group(func(r chi.Router) {
		r.Use(s.may(serveCustomers))
		r.Get("/checkin", s.staff(s.getCheckin))
		r.Post("/checkin", s.staff(s.postCheckin))
		r.Get("/checkin/{number}", s.staff(s.getCheckinNumber))
		r.Post("/checkin/{number}", s.staff(s.postCheckinNumber))
	})
	r.Group(func(r chi.Router) {
		r.Use(s.may(takeData))
		r.Get("/exports", s.staff(s.getExports))
		r.Get("/exports/reservations.csv", s.staff(s.getExport(views.ExportReservations)))
		r.Get("/exports/waitlist.csv", s.staff(s.getExport(views.ExportWaitlist)))
		r.Get("/exports/customers.csv", s.staff(s.getExport(views.ExportCustomers)))
	})
}
