package web

import (
	"net/http"
	"strconv"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/calendar"
	"holdfast/views/i18n"
)

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
	cal := calendar.Calendar{Lang: lang, Zone: t.Location()}
	for _, m := range members {
		if m.State != store.Confirmed && m.State != store.Cancelled {
			continue
		}
		slot, err := s.store.Slot(r.Context(), t.ID, m.SlotID)
		if err != nil {
			return err
		}
		o := n.of(slot)
		// The time of the newest change, not of the download: the same state gives the same file.
		stamp := m.CreatedAt
		if m.ConfirmedAt != nil {
			stamp = *m.ConfirmedAt
		}
		if m.EndedAt != nil {
			stamp = *m.EndedAt
		}
		cal.Events = append(cal.Events, calendar.Booking{
			ID: m.ID, Number: m.Number, Sequence: m.Sequence, Stamp: stamp, Start: slot.StartsAt, End: slot.EndsAt,
			Service: o.service.Name.In(lang), Venue: t.Name, Where: mapPlace(o, t, lang), Cancelled: m.State == store.Cancelled,
			Link: s.cfg.PublicURL.JoinPath(views.ReservationURL(t.Slug, s.store.ReservationToken(m))).String(),
		}.Event(lang))
	}
	body := cal.String()
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
