package web

import "github.com/go-chi/chi/v5"

// dayRoutes are the days: today, week, month.
func (s *Server) dayRoutes(r chi.Router) {
	r.Group(func(r chi.Router) {
		r.Use(s.may(lookAtTheDay))
		r.Get("/today", s.staff(s.getToday))
		r.Get("/calendar", s.staff(s.getStaffCalendar))
		r.Get("/keys", s.staff(s.getKeys))
		r.Get("/live", s.staff(s.getStaffLive))
	})
}
