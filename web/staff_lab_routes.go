package web

import "github.com/go-chi/chi/v5"

// labRoutes are the self-check and the race lab. Everybody who sees the day may
// see whether its numbers can be trusted; a run costs the database something, so
// it is the owner's to start.
func (s *Server) labRoutes(r chi.Router) {
	r.With(s.may(lookAtTheDay)).Get("/proof", s.staff(s.getProof))
	r.With(s.may(runVenue)).Post("/proof/race", s.staff(s.postRace))
}
