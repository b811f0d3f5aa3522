package web

import "github.com/go-chi/chi/v5"

// scheduleRoutes are the pages that make, change and end many slots. What a
// press would do is shown by GET, with the rule in the address; the POST
// carries the print of that preview, and does what it showed or nothing.
func (s *Server) scheduleRoutes(r chi.Router) {
	r.Route("/schedules", func(r chi.Router) {
		r.Use(s.may(setUp))
		r.Get("/", s.staff(s.getSchedules))
		r.Post("/", s.staff(s.postSchedule))
		r.Get("/new", s.staff(s.getScheduleNew))
		r.Get("/preview", s.staff(s.getSchedulePreview))
		r.Get("/slot", s.staff(s.getScheduleSlot))
		r.Post("/slot", s.staff(s.postScheduleSlot))
		r.Get("/copy", s.staff(s.getScheduleCopy))
		r.Post("/copy", s.staff(s.postScheduleCopy))
		r.Get("/seats", s.staff(s.getScheduleSeats))
		r.Post("/seats", s.staff(s.postScheduleSeats))
		r.Get("/{schedule}", s.staff(s.getSchedule))
		r.Get("/{schedule}/change", s.staff(s.getScheduleChange))
		r.Post("/{schedule}/change", s.staff(s.postScheduleChange))
		r.Post("/{schedule}/run", s.staff(s.postScheduleRun))
		r.Post("/{schedule}/continue", s.staff(s.postScheduleContinue))
		r.Get("/{schedule}/delete", s.staff(s.getScheduleDelete))
		r.Post("/{schedule}/delete", s.staff(s.postScheduleDelete))
	})
}
