package web

import "github.com/go-chi/chi/v5"

// messageRoutes are the messages.
func (s *Server) messageRoutes(r chi.Router) {
	r.Group(func(r chi.Router) {
		r.Use(s.may(lookAtTheDay))
		r.Get("/messages", s.staff(s.getMessages))
		r.Get("/messages/{message}", s.staff(s.getMessage))
		r.Get("/mailbox", s.staff(s.getMailbox))
		r.Get("/mailbox/{message}", s.staff(s.getMail))
	})
	r.With(s.may(serveCustomers)).Post("/messages/{message}/retry", s.staff(s.postRetry))
}
