package web

import (
	"net/http"
	"strconv"
	"strings"

	ics "github.com/arran4/golang-ical"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// calendarUID names a booking in calendars, in every file and mail about it.
func calendarUID(reservation string) string { return reservation + "@holdfast" }

// getCalendar gives a booking as a file for calendars. Its identity stays the
// same for the life of the booking and its sequence rises with each change, so
// that a newer file moves the entry instead of doubling it.
func (s *Server) getCalendar(w http.ResponseWriter, r *http.Request) error {
	t := venue(r)
	res, err := s.reservation(r)
	if err != nil {
		return err
	}
	if res.State != store.Confirmed && res.State != store.Cancelled {
		return errLink
	}
	r = s.inLanguageOf(r, res.Locale)
	members := []store.Reservation{res}
	if res.GroupID != nil {
		if members, err = s.store.Group(r.Context(), t.ID, *res.GroupID); err != nil {
			return err
		}
	}
	n, err := s.loadNames(r.Context(), t.ID)
	if err != nil {
		return err
	}
	lang := i18n.Lang(r.Context())
	cal := ics.NewCalendarFor("Holdfast")
	cal.SetProductId("-//Holdfast//Reservations//" + strings.ToUpper(lang))
	for _, m := range members {
		if m.State != store.Confirmed && m.State != store.Cancelled {
			continue
		}
		slot, err := s.store.Slot(r.Context(), t.ID, m.SlotID)
		if err != nil {
			return err
		}
		o := n.of(slot)
		e := cal.AddEvent(calendarUID(m.ID))
		// The time of the newest change, not of the download: the same state gives the same file.
		stamp := m.CreatedAt
		if m.ConfirmedAt != nil {
			stamp = *m.ConfirmedAt
		}
		if m.EndedAt != nil {
			stamp = *m.EndedAt
		}
		e.SetDtStampTime(stamp.UTC())
		e.SetStartAt(slot.StartsAt.UTC())
		e.SetEndAt(slot.EndsAt.UTC())
		e.SetSequence(m.Sequence)
		e.SetSummary(o.service.Name.In(lang) + " (" + t.Name + ")")
		if where := mapPlace(o, t, lang); where != "" {
			e.SetLocation(where)
		}
		e.SetDescription(i18n.T(r.Context(), "booked.number") + " " + m.Number)
		e.SetStatus(ics.ObjectStatusConfirmed)
		if m.State == store.Cancelled {
			e.SetStatus(ics.ObjectStatusCancelled)
		}
		e.SetURL(s.cfg.PublicURL.JoinPath(views.ReservationURL(t.Slug, s.store.ReservationToken(m))).String())
	}
	body := cal.Serialize(ics.WithNewLineWindows)
	h := w.Header()
	h.Set("Content-Type", "text/calendar; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="booking.ics"`)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		// The visitor may have left; there is nobody to tell.
		_, _ = w.Write([]byte(body))
	}
	return nil
}

// mapPlace is the place as a calendar's map understands it: the address. How to
// find the door is for people, and stands in only where there is no address.
func mapPlace(o oneSlot, t store.Tenant, lang string) string {
	if t.Address != "" {
		return t.Address
	}
	return o.service.Place.In(lang)
}
