package web

import "github.com/go-chi/chi/v5"

func (s *Server) staffSlotRoutes(r chi.Router) {
	r.With(s.may(lookAtTheDay)).Get("/", s.staff(s.getStaffSlot))
	r.Group(func(r chi.Router) {
		r.Use(s.may(serveCustomers))
		r.Get("/cancel", s.staff(s.getStaffCancel))
		r.Post("/cancel", s.staff(s.postStaffCancel))
		r.Post("/book", s.staff(s.postBook))
		r.Get("/move", s.staff(s.getStaffMove))
		r.Post("/move", s.staff(s.postStaffMove))
		r.Post("/party", s.staff(s.postStaffParty))
		r.Post("/attendance", s.staff(s.postAttendance))
		r.Route("/reservations/{reservation}", func(r chi.Router) {
			r.Get("/move", s.staff(s.getStaffMove))
			r.Post("/move", s.staff(s.postStaffMove))
			r.Post("/party", s.staff(s.postStaffParty))
			r.Post("/attendance", s.staff(s.postAttendance))
			r.Post("/contact", s.staff(s.postContact))
		})
		r.Post("/waitlist", s.staff(s.postStaffJoin))
		r.Route("/waitlist/{entry}", func(r chi.Router) {
			r.Post("/offer", s.staff(s.postOfferTo))
			r.Post("/revoke", s.staff(s.postRevoke))
			r.Post("/remove", s.staff(s.postRemove))
			r.Post("/accept", s.staff(s.postStaffAccept))
			r.Post("/decline", s.staff(s.postStaffDecline))
			r.Post("/claim", s.staff(s.postStaffClaim))
		})
	})
	r.Group(func(r chi.Router) {
		r.Use(s.may(runSlots))
		r.Get("/capacity", s.staff(s.getCapacity))
		r.Post("/capacity", s.staff(s.postCapacity))
		r.Post("/close", s.staff(s.postSwitch(stepClose)))
		r.Post("/reopen", s.staff(s.postSwitch(stepReopen)))
		r.Post("/pause", s.staff(s.postSwitch(stepPause)))
		r.Post("/resume", s.staff(s.postSwitch(stepResume)))
		r.Get("/cancel-slot", s.staff(s.getCancelSlot))
		r.Post("/cancel-slot", s.staff(s.postCancelSlot))
	})
}
