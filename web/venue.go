package web

import (
	"errors"
	"net/http"
	"slices"
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

// venueQuery is what the address of the venue's page asks for. What the venue
// does not have is left out: an old link still opens the calendar.
type venueQuery struct {
	date     time.Time // midnight at the venue; zero: the first day with something to book
	service  store.Service
	resource store.Resource
	free     bool
}

func decodeVenue(r *http.Request, n names, today time.Time) venueQuery {
	asked := r.URL.Query()
	q := venueQuery{free: asked.Get("free") == "1"}
	if i := slices.IndexFunc(n.services, func(sv store.Service) bool { return sv.Active && sv.Slug == asked.Get("service") }); i >= 0 {
		q.service = n.services[i]
	}
	if i := slices.IndexFunc(n.resources, func(r store.Resource) bool { return r.Slug == asked.Get("resource") }); i >= 0 {
		q.resource = n.resources[i]
	}
	if date, err := time.ParseInLocation(time.DateOnly, asked.Get("date"), today.Location()); err == nil {
		q.date = date
		if days := daysBetween(today, date); days < 0 {
			q.date = today
		} else if days > lastDay {
			q.date = addDays(today, lastDay)
		}
	}
	return q
}

// filter is the address of this page with another day.
func (q venueQuery) filter(date string) views.VenueFilter {
	return views.VenueFilter{Date: date, Service: q.service.Slug, Resource: q.resource.Slug, Free: q.free}
}

func (q venueQuery) slots(tenant string, from, to time.Time) store.SlotQuery {
	sq := store.SlotQuery{TenantID: tenant, From: from, To: to, ServiceID: q.service.ID, ResourceID: q.resource.ID}
	if q.free {
		sq.FreeFor = 1
	}
	return sq
}

func (s *Server) getVenue(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	n, err := s.loadNames(ctx, t.ID)
	if err != nil {
		return err
	}
	c, loc := i18n.In(ctx), t.Location()
	today := midnight(s.now().In(loc))
	end := addDays(today, lastDay+1)
	q := decodeVenue(r, n, today)
	if q.date.IsZero() {
		first, err := s.store.FirstBookable(ctx, q.slots(t.ID, today, end))
		switch {
		case errors.Is(err, store.NotFound):
			first = today
		case err != nil:
			return err
		}
		q.date = midnight(first.In(loc))
	}
	chosen := q.date.Format(time.DateOnly)
	start := addDays(today, daysBetween(today, q.date)/daysShown*daysShown)
	slots, err := s.store.Slots(ctx, q.slots(t.ID, start, addDays(start, daysShown)))
	if err != nil {
		return err
	}
	v := views.VenuePage{Page: s.page(r), Services: serviceCards(c, n, q), Resources: resourceChoices(c, t, n, q), Month: c.Month(q.date, loc)}
	only := q
	only.free = !q.free
	v.FreeOnly = views.Choice{Text: c.T("venue.free_only"), URL: views.VenueFilterURL(t.Slug, only.filter(chosen)), Current: q.free}
	for i := range v.Services {
		other := q
		if v.Services[i].Current {
			other.service = store.Service{}
		} else {
			other.service = n.active()[i]
		}
		// No day: the first one that has something of this service.
		v.Services[i].URL = views.VenueFilterURL(t.Slug, other.filter(""))
	}
	if before := addDays(start, -daysShown); !before.Before(today) {
		v.PrevURL = views.VenueFilterURL(t.Slug, q.filter(before.Format(time.DateOnly)))
	}
	if after := addDays(start, daysShown); daysBetween(today, after) <= lastDay {
		v.NextURL = views.VenueFilterURL(t.Slug, q.filter(after.Format(time.DateOnly)))
	}
	something := false
	for i := range daysShown {
		at := addDays(start, i)
		date := at.Format(time.DateOnly)
		day := views.VenueDay{
			Date: date, Title: c.DateShort(at, loc), Long: c.Date(at, loc), Kind: dayKind(at.Weekday()), Current: date == chosen, Today: at.Equal(today),
		}
		for _, slot := range slots {
			if slot.StartsAt.In(loc).Format(time.DateOnly) == date {
				day.Slots = append(day.Slots, row(ctx, t, n.of(slot)))
				something = something || day.Current && slot.Bookable()
			}
		}
		tab := views.DayTab{
			Weekday: c.Weekday(at.Weekday()), Day: strconv.Itoa(at.Day()), Label: day.Long, URL: views.VenueFilterURL(t.Slug, q.filter(date)),
			Current: day.Current, Today: day.Today, State: best(day.Slots), Kind: day.Kind,
		}
		if i == 0 || at.Day() == 1 {
			tab.Month = c.MonthShort(at, loc)
		}
		v.Days, v.Strip = append(v.Days, day), append(v.Strip, tab)
	}
	if !something {
		next, err := s.store.FirstBookable(ctx, q.slots(t.ID, addDays(q.date, 1), end))
		switch {
		case err == nil:
			v.NextFree = &views.Link{
				Text: c.T("venue.next_free", "date", c.DateShort(next, loc)), URL: views.VenueFilterURL(t.Slug, q.filter(next.In(loc).Format(time.DateOnly))),
			}
		case !errors.Is(err, store.NotFound):
			return err
		}
	}
	return s.render(w, r, http.StatusOK, views.Venue(v))
}

// active are the services that can be chosen.
func (n names) active() []store.Service {
	return slices.DeleteFunc(slices.Clone(n.services), func(sv store.Service) bool { return !sv.Active })
}

func serviceCards(c *i18n.Catalog, n names, q venueQuery) []views.ServiceCard {
	var cards []views.ServiceCard
	for _, sv := range n.active() {
		cards = append(cards, views.ServiceCard{
			Name: sv.Name.In(c.Lang()), Details: sv.Description.In(c.Lang()), Price: sv.Price.In(c.Lang()), Duration: c.Duration(sv.Duration),
			Current: sv.ID == q.service.ID,
		})
	}
	return cards
}

// resourceChoices narrow the calendar to one resource, where there are several.
func resourceChoices(c *i18n.Catalog, t store.Tenant, n names, q venueQuery) []views.Choice {
	if len(n.resources) < 2 {
		return nil
	}
	to := func(r store.Resource, text string) views.Choice {
		other := q
		other.resource = r
		return views.Choice{Text: text, URL: views.VenueFilterURL(t.Slug, other.filter("")), Current: q.resource.ID == r.ID}
	}
	choices := []views.Choice{to(store.Resource{}, c.T("venue.any_resource"))}
	for _, r := range n.resources {
		choices = append(choices, to(r, r.Name.In(c.Lang())))
	}
	return choices
}

// best is the best that a day has, empty for nothing at all.
func best(rows []views.SlotRow) views.SlotState {
	order := []views.SlotState{
		views.SlotFree, views.SlotFew, views.SlotWaitlist, views.SlotFull, views.SlotOutside, views.SlotClosed, views.SlotCancelled,
	}
	for _, state := range order {
		if slices.ContainsFunc(rows, func(r views.SlotRow) bool { return r.State == state }) {
			return state
		}
	}
	return ""
}

func dayKind(d time.Weekday) views.DayKind {
	switch d {
	case time.Saturday:
		return views.DaySaturday
	case time.Sunday:
		return views.DaySunday
	default:
		return views.DayPlain
	}
}

// midnight is the first instant of a day. Where the clock skips midnight, Go
// gives the instant to which it jumps.
func midnight(at time.Time) time.Time { return addDays(at, 0) }

func addDays(at time.Time, days int) time.Time {
	y, m, d := at.Date()
	return time.Date(y, m, d+days, 0, 0, 0, 0, at.Location())
}

// daysBetween counts calendar days, whatever the clocks do meanwhile.
func daysBetween(from, to time.Time) int {
	utc := func(at time.Time) time.Time {
		y, m, d := at.Date()
		return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	}
	return int(utc(to).Sub(utc(from)) / (24 * time.Hour))
}
