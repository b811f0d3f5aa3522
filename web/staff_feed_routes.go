package web

import "github.com/go-chi/chi/v5"

// feedRoutes are a member's calendar of the venue.
func (s *Server) feedRoutes(r chi.Router) {
	r.Group(func(r chi.Router) {
		r.Use(s.may(lookAtTheDay))
		r.Get("/calendar-feed", s.staff(s.getFeed))
		r.Post("/calendar-feed", s.staff(s.postFeed))
		r.Post("/calendar-feed/off", s.staff(s.postFeedOff))
	})
}
