package web

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/mail"
	"slices"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/calendar"
	"holdfast/views/i18n"
)

// What a feed lists, in days at the venue around today, and how often a program
// is asked to look again.
const (
	feedBack    = 30
	feedAhead   = 180
	feedRefresh = 15 * time.Minute
)

// getFeedICS gives the slots of a venue to a calendar program that knows a
// member's secret address. The program and its server are somebody else's: it is
// told how full a slot is, and nothing of who comes. A wrong address, one that
// was ended, and one of somebody who has left are all the same 404.
func (s *Server) getFeedICS(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	token, named := strings.CutSuffix(chi.URLParam(r, "token"), ".ics")
	locale, err := s.store.CalendarFeedByToken(ctx, t.ID, token)
	if !named || errors.Is(err, store.NotFound) {
		return errLink
	}
	if err != nil {
		return err
	}
	if !i18n.Known(locale) {
		locale = t.Locale
	}
	n, err := s.loadNames(ctx, t.ID)
	if err != nil {
		return err
	}
	today := s.now().In(t.Location())
	y, m, d := today.Date()
	q := store.SlotQuery{
		TenantID: t.ID, From: time.Date(y, m, d-feedBack, 0, 0, 0, 0, t.Location()), To: time.Date(y, m, d+feedAhead+1, 0, 0, 0, 0, t.Location()),
	}
	var of []string // what the feed is narrowed to
	if slug := r.URL.Query().Get("service"); slug != "" {
		at := slices.IndexFunc(n.services, func(sv store.Service) bool { return sv.Slug == slug })
		if at < 0 {
			return errLink
		}
		q.ServiceID, of = n.services[at].ID, append(of, n.services[at].Name.In(locale))
	}
	if slug := r.URL.Query().Get("resource"); slug != "" {
		at := slices.IndexFunc(n.resources, func(one store.Resource) bool { return one.Slug == slug })
		if at < 0 {
			return errLink
		}
		q.ResourceID, of = n.resources[at].ID, append(of, n.resources[at].Name.In(locale))
	}
	slots, err := s.store.CalendarSlots(ctx, q)
	if err != nil {
		return err
	}
	words := i18n.For(locale)
	cal := calendar.Calendar{
		Method: calendar.Publish, Lang: locale, Zone: t.Location(), Refresh: feedRefresh, Name: words.T("feed.calendar", "venue", t.Name),
		Organizer: calendar.Person{Name: t.Name, Email: s.organizer(t)}, Events: make([]calendar.Event, 0, len(slots)),
	}
	if len(of) > 0 {
		cal.Name = words.T("feed.calendar.of", "venue", t.Name, "what", strings.Join(of, " / "))
	}
	for _, slot := range slots {
		cal.Events = append(cal.Events, s.feedEvent(t, n, words, slot))
	}
	body := cal.String()
	sum := sha256.Sum256([]byte(body))
	h := w.Header()
	h.Set("Content-Type", "text/calendar; charset=utf-8")
	h.Set("ETag", `"`+hex.EncodeToString(sum[:16])+`"`)
	// Kept by the program that asked, which asks each time whether it is still so; by nobody on the way.
	h.Set("Cache-Control", cachePrivate)
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(body))
	return nil
}

func (s *Server) feedEvent(t store.Tenant, n names, words *i18n.Catalog, slot store.FeedSlot) calendar.Event {
	o := n.of(store.Slot{ServiceID: slot.ServiceID, ResourceID: slot.ResourceID})
	lang := words.Lang()
	service := o.service.Name.In(lang)
	e := calendar.Event{
		UID: calendar.UID(slot.ID), Sequence: int(slot.Version), Stamp: slot.ChangedAt, Start: slot.StartsAt, End: slot.EndsAt, Free: true,
		Summary:  words.T("feed.event", "service", service, "taken", slot.Taken, "capacity", slot.Capacity),
		Location: o.resource.Name.In(lang), Link: s.cfg.PublicURL.JoinPath(views.StaffSlotURL(t.Slug, slot.ID)).String(),
	}
	notes := []string{words.T("feed.event.notes", "taken", slot.Taken, "n", slot.Capacity)}
	switch {
	case slot.Status == store.SlotCancelled:
		e.Cancelled, e.Summary, notes = true, words.T("feed.event.cancelled", "service", service), []string{words.T("feed.event.off")}
	case slot.Status == store.SlotClosed:
		notes = append(notes, words.T("feed.event.closed"))
	case slot.Taken >= slot.Capacity:
		notes = append(notes, words.T("feed.event.full"))
	}
	e.Notes = strings.Join(notes, "\n")
	return e
}

// organizer is the address that a calendar names as the one whose events they are.
func (s *Server) organizer(t store.Tenant) string {
	if t.Email != "" {
		return t.Email
	}
	from, err := mail.ParseAddress(s.cfg.MailFrom)
	if err != nil {
		return ""
	}
	return from.Address
}
