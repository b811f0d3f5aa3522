package web

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// historyPage is how many events a page of history shows.
const historyPage = 50

// getSlotHistory is everything that happened to a slot, newest first.
func (s *Server) getSlotHistory(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	c, err := s.loadCounter(r)
	if err != nil {
		return err
	}
	// What is no number is no place in the history: the newest are shown.
	before, err := strconv.ParseInt(r.URL.Query().Get(views.FieldBefore), 10, 64)
	if err != nil || before < 0 {
		before = 0
	}
	events, err := s.store.HistoryBefore(ctx, t.ID, c.ID, before, historyPage+1)
	if err != nil {
		return err
	}
	v := views.StaffHistoryPage{Slot: c.head(ctx)}
	if len(events) > historyPage {
		events = events[:historyPage]
		v.OlderURL = views.StaffSlotHistoryURL(t.Slug, c.ID, events[historyPage-1].ID)
	}
	if before > 0 {
		v.NewestURL = views.StaffSlotHistoryURL(t.Slug, c.ID, 0)
	}
	if v.Events, err = s.sentences(r, c, events); err != nil {
		return err
	}
	if v.Page, v.Staff, err = s.staffPage(r, "", i18n.T(ctx, "staff.history.title"), r.URL.RequestURI()); err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, views.StaffHistory(v))
}

// toldOtherwise is the sentence of an event whose details say more than its kind; else "".
func (c counter) toldOtherwise(ctx context.Context, e store.Event, f views.StaffEventFacts) string {
	booked, _ := e.Details["booked"].(bool)
	tell, chosen := e.Details["tell_vacancies"].(bool)
	removed, _ := e.Details["removed"].(bool)
	switch {
	case e.Kind == store.EventHeld && detail(e, "undoes") != "":
		return i18n.T(ctx, "staff.event_rebooked", "actor", f.Actor, "who", f.Who, "n", f.Party)
	case e.Kind == store.EventHeld && booked:
		// A booking by staff is held and confirmed in one press: there is no deadline to tell.
		return i18n.T(ctx, "staff.event_booked", "actor", f.Actor, "who", f.Who, "n", f.Party)
	case e.Kind == store.EventWithdrawn && removed:
		return i18n.T(ctx, "staff.event_removed", "actor", f.Actor, "who", f.Who, "n", f.Party)
	case e.Kind == store.EventEntryChanged && chosen && tell:
		return i18n.T(ctx, "staff.event_told", "who", f.Who)
	case e.Kind == store.EventEntryChanged && chosen:
		return i18n.T(ctx, "staff.event_untold", "who", f.Who)
	case e.Kind == store.EventTermsChanged:
		from, errFrom := time.Parse(time.RFC3339, detail(e, "from_starts_at"))
		to, errTo := time.Parse(time.RFC3339, detail(e, "to_starts_at"))
		if errFrom != nil || errTo != nil || from.Equal(to) {
			return ""
		}
		loc := c.tenant.Location()
		return i18n.T(ctx, "staff.event_terms", "actor", f.Actor, "from", i18n.In(ctx).DateTimeShort(from, loc), "to", i18n.In(ctx).DateTimeShort(to, loc))
	}
	return ""
}

// seatsChanged says how an event changed the seats that are taken.
func seatsChanged(ctx context.Context, e store.Event) string {
	switch {
	case e.Seats > 0:
		return i18n.T(ctx, "staff.event.seats_taken", "n", e.Seats)
	case e.Seats < 0:
		return i18n.T(ctx, "staff.event.seats_freed", "n", -e.Seats)
	}
	return ""
}

// eventNotes say what an event did besides: who was not told, seats that were
// added, how many were written to.
func eventNotes(ctx context.Context, e store.Event) []string {
	var out []string
	switch detail(e, "notice") {
	case "none":
		if e.Kind != store.EventEmailChanged && e.Kind != store.EventHeld {
			out = append(out, i18n.T(ctx, "staff.event.silent"))
		}
	case "no_address":
		out = append(out, i18n.T(ctx, "staff.event.no_address"))
	}
	switch extra := numberIn(e, "extra_seats"); {
	case extra > 0:
		out = append(out, i18n.T(ctx, "staff.event.extra_added", "n", extra))
	case extra < 0:
		out = append(out, i18n.T(ctx, "staff.event.extra_gone", "n", -extra))
	}
	if e.Kind == store.EventTermsChanged || e.Kind == store.EventNoticeSent {
		out = append(out, i18n.T(ctx, "staff.event.told", "n", numberIn(e, "told")))
	}
	if callers := numberIn(e, "callers"); callers > 0 {
		out = append(out, i18n.T(ctx, "staff.event.callers", "n", callers))
	}
	return out
}

// getSlotPrint is one sheet: who comes, in kana order, and who waits.
func (s *Server) getSlotPrint(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	c, err := s.loadCounter(r)
	if err != nil {
		return err
	}
	v := views.StaffPrintPage{Slot: c.head(ctx), BackURL: c.url()}
	parties, people := 0, 0
	for _, res := range c.roster {
		if res.State == store.Confirmed { // a hold is nobody yet
			v.Roster = append(v.Roster, c.reservationView(ctx, res))
			parties, people = parties+1, people+res.PartySize
		}
	}
	place := 0
	for _, e := range c.entries {
		if e.Live() {
			place++
			v.Waiting = append(v.Waiting, c.entryView(ctx, e, place, nil))
		}
	}
	v.Counts = i18n.T(ctx, "staff.print.counts", "n", parties, "people", people, "capacity", c.Capacity)
	v.Printed = i18n.T(ctx, "staff.print.printed", "time", i18n.In(ctx).DateTime(c.Now, c.tenant.Location()))
	self := views.StaffSlotPrintURL(c.tenant.Slug, c.ID)
	if v.Page, v.Staff, err = s.staffPage(r, "", i18n.T(ctx, "staff.print.title"), self); err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, views.StaffPrint(v))
}
