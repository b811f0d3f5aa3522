package web

import (
	"net/http"

	"holdfast/store"
	"holdfast/views"
)

// shownProof is the proof of an address that the link of this request carries,
// if it has the form of one. It is judged where something depends on it.
func shownProof(r *http.Request) string {
	shown := r.URL.Query().Get(views.FieldProof)
	if !store.ValidToken(shown) {
		return ""
	}
	return shown
}

// keepProof gives the address of a page or a press with the proof that this request carries.
func keepProof(r *http.Request, url string) string { return views.Proven(url, shownProof(r)) }

// bookedURL is the page of the booking that an entry became. Who proved to have
// the address of the entry has that of the booking, if it is the same.
func (s *Server) bookedURL(r *http.Request, e store.Entry, booked store.Reservation) string {
	url := views.ReservationURL(venue(r).Slug, s.store.ReservationToken(booked))
	if s.store.EntryProven(e, shownProof(r)) && store.PersonKey(e.Email) == store.PersonKey(booked.Email) {
		return views.Proven(url, s.store.ReservationProof(booked))
	}
	return url
}
