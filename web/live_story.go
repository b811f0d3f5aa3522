package web

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// storyShown is how many things that happened to a place are told, the newest.
const storyShown = 6

// story tells what happened to the place of the entry at position, newest
// first. Others are nobody in it: somebody before, somebody else. Places are
// counted back from the present one: each that left from before made it one less.
func story(ctx context.Context, t store.Tenant, position int64, place int, moments []store.Moment, now time.Time) []views.StoryLine {
	var lines []views.StoryLine
	c := i18n.In(ctx)
	for _, m := range moments {
		if m.Number < position {
			break
		}
		ahead, own := m.Position > 0 && m.Position < position, m.Position == position
		var text string
		moved := false
		told := c.Ordinal(place)
		switch m.Kind {
		case store.EventJoined:
			if own {
				text = i18n.T(ctx, "live.story.joined", "place", told)
			}
		case store.EventWithdrawn:
			if ahead && m.Seats == 0 {
				text, moved = i18n.T(ctx, "live.story.left", "place", told), true
			}
		case store.EventEntryClosed:
			if ahead && m.Seats == 0 {
				text, moved = i18n.T(ctx, "live.story.closed", "place", told), true
			}
		case store.EventClaimed:
			if ahead {
				text, moved = i18n.T(ctx, "live.story.claimed", "place", told), true
			}
		case store.EventOffered, store.EventStaffOffered:
			switch {
			case ahead:
				text, moved = i18n.T(ctx, "live.story.offered", "place", told), true
			case m.Kind == store.EventStaffOffered && !own:
				text = i18n.T(ctx, "live.story.chosen")
			case !own:
				text = i18n.T(ctx, "live.story.passed")
			}
		case store.EventDeclined:
			if ahead {
				text = i18n.T(ctx, "live.story.declined")
			}
		case store.EventLapsed:
			if ahead {
				text = i18n.T(ctx, "live.story.lapsed")
			}
		case store.EventEntryChanged:
			if own {
				text = i18n.T(ctx, "live.story.changed", "n", m.Party)
			}
		case store.EventVacancyTold:
			if own {
				text = i18n.T(ctx, "live.story.told")
			}
		case store.EventPaused:
			text = i18n.T(ctx, "live.story.paused")
		case store.EventResumed:
			text = i18n.T(ctx, "live.story.resumed")
		}
		if moved {
			place++
		}
		if text != "" && len(lines) < storyShown {
			lines = append(lines, views.StoryLine{At: momentAt(ctx, t, m.At, now), Time: m.At.UTC().Format(time.RFC3339), Text: text})
		}
	}
	return lines
}

// odds are honest words about how likely a seat is: what has happened here, and
// until when others can cancel. No number is guessed.
func odds(ctx context.Context, t store.Tenant, slot store.Slot, moments []store.Moment) []string {
	var out []string
	if len(moments) > 0 && moments[0].Offered > 0 {
		out = append(out, i18n.T(ctx, "live.odds.so_far", "n", moments[0].Offered))
	} else {
		out = append(out, i18n.T(ctx, "live.odds.none"))
	}
	if slot.CancelUntil.After(slot.Now) {
		out = append(out, i18n.T(ctx, "live.odds.until", "time", i18n.In(ctx).DateTime(slot.CancelUntil, t.Location())))
	} else {
		out = append(out, i18n.T(ctx, "live.odds.past"))
	}
	return append(out, i18n.T(ctx, "live.odds.no_promise"))
}

// waitsRemembered is how many waits a browser's session remembers.
const waitsRemembered = 12

// rememberWait notes in the session that this browser joined a waitlist: it has
// the entry's link. Only such waits are told on other pages, and all of them to
// who comes with the proof that stands in mails, since whoever types an address
// must not learn where else its owner waits, or end that.
func (s *Server) rememberWait(r *http.Request, e store.Entry) {
	ids := s.ownWaits(r)
	if slices.Contains(ids, e.ID) {
		return
	}
	if ids = append(ids, e.ID); len(ids) > waitsRemembered {
		ids = ids[len(ids)-waitsRemembered:]
	}
	s.sessions.Put(r.Context(), sessionWaits, strings.Join(ids, " "))
}

// ownWaits are the ids of the entries that this browser has made.
func (s *Server) ownWaits(r *http.Request) []string {
	return slices.DeleteFunc(strings.Fields(s.sessions.GetString(r.Context(), sessionWaits)), func(id string) bool { return !store.ValidID(id) })
}

// clash lists where else the person of q waits at the time of its slot; nil for
// nowhere. One statement, none for a browser that has not joined a waitlist and
// has no proof of the address.
func (s *Server) clash(r *http.Request, t store.Tenant, n names, q store.OverlapQuery, action string) (*views.Clash, error) {
	ctx := r.Context()
	q.TenantID, q.Known = t.ID, s.ownWaits(r)
	waits, err := s.store.OverlappingWaits(ctx, q)
	if err != nil || len(waits) == 0 {
		return nil, err
	}
	ids := make([]string, 0, len(waits))
	for _, e := range waits {
		ids = append(ids, e.SlotID)
	}
	slots, err := s.store.SlotsByID(ctx, t.ID, ids)
	if err != nil {
		return nil, err
	}
	c := &views.Clash{Action: action}
	for _, e := range waits {
		at := slices.IndexFunc(slots, func(slot store.Slot) bool { return slot.ID == e.SlotID })
		if at < 0 {
			continue
		}
		f := facts(ctx, t, n.of(slots[at]), false)
		url := views.WaitlistURL(t.Slug, s.store.EntryToken(e))
		if q.All {
			url = views.Proven(url, s.store.EntryProof(e))
		}
		c.Rows = append(c.Rows, views.ClashRow{
			Entry: e.ID, URL: url, Service: f.Service, When: f.When, State: entryState(e),
		})
	}
	return c, nil
}

// postLeaveWaits leaves the waitlists that the page of a booking listed: each is
// a step of its own, and what was listed but is over by now is left as it is.
func (s *Server) postLeaveWaits(w http.ResponseWriter, r *http.Request) error {
	t := venue(r)
	f, res, err := formFor(s, w, r, s.reservation)
	if err != nil {
		return err
	}
	if res.State != store.Confirmed {
		return s.reservationRefused(w, r, store.Over, contactForm{})
	}
	// What the page could not list is not ended from here.
	waits, err := s.store.OverlappingWaits(r.Context(), store.OverlapQuery{
		TenantID: t.ID, Email: res.Email, SlotID: res.SlotID, Known: s.ownWaits(r), All: s.store.ReservationProven(res, shownProof(r)),
	})
	if err != nil {
		return err
	}
	left := 0
	for _, e := range waits {
		if !slices.Contains(f.values[views.FieldEntry], e.ID) {
			continue
		}
		switch _, err := s.store.Withdraw(r.Context(), press(r, e.ID)); {
		case errors.Is(err, store.NotFound):
		case err != nil:
			return s.reservationRefused(w, r, err, contactForm{})
		default:
			left++
		}
	}
	page := keepProof(r, views.ReservationURL(t.Slug, chi.URLParam(r, "token")))
	if left == 0 {
		return s.see(w, r, page, "")
	}
	return s.see(w, r, page, "flash.waits_left", "n", left)
}

// lostAt says in a banner when the seats went that somebody lost, and what is left to do.
func (s *Server) lostAt(r *http.Request, t store.Tenant, slot store.Slot, b *views.Banner, then i18n.Key) error {
	at, err := s.store.FilledAt(r.Context(), t.ID, slot.ID)
	if errors.Is(err, store.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	ctx := r.Context()
	b.Text = i18n.T(ctx, "live.full.at", "time", momentAt(ctx, t, at, slot.Now), "then", i18n.T(ctx, then))
	return nil
}

// waitingNow puts on the page of a waiting entry what happened to its place,
// how likely a seat is, and where else the person waits at this time. One
// statement, and two more for a browser that has joined several waitlists.
func (s *Server) waitingNow(r *http.Request, t store.Tenant, n names, e store.Entry, slot store.Slot, v *views.EntryPage) error {
	ctx := r.Context()
	moments, err := s.store.Moments(ctx, []store.SlotRef{{TenantID: t.ID, SlotID: slot.ID}})
	if err != nil {
		return err
	}
	v.LiveURL = views.WaitlistLiveURL(t.Slug, s.store.EntryToken(e), i18n.Lang(ctx), entryShows(slot, e.PartySize))
	v.Story, v.Odds = story(ctx, t, e.Position, e.Place, moments, slot.Now), odds(ctx, t, slot, moments)
	if v.Clash, err = s.clash(r, t, n, store.OverlapQuery{Email: e.Email, SlotID: slot.ID, All: s.store.EntryProven(e, shownProof(r))}, ""); err != nil {
		return err
	}
	return nil
}
