package web

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// daysShown is the strip of days, and the week on a wide page.
const daysShown = 7

// lastDay is how far ahead, in days from today, the calendar can be turned.
const lastDay = 400

// monthForm is how an address names a month.
const monthForm = "2006-01"

// venueQuery is what the address of the venue's page asks for. What the venue
// does not have is left out: an old link still opens the calendar.
type venueQuery struct {
	date     time.Time // midnight at the venue; zero: the first day with something to book
	asked    bool      // the address names the day
	month    time.Time // midnight of its first day; zero: days, not a month
	service  store.Service
	resource store.Resource
	free     bool
	lang     string // as the address names it
	embed    bool   // in a frame on another site
}

func decodeVenue(r *http.Request, n names, today time.Time) venueQuery {
	asked := r.URL.Query()
	q := venueQuery{free: asked.Get("free") == "1", lang: addressLang(r)}
	if i := slices.IndexFunc(n.services, func(sv store.Service) bool { return sv.Active && sv.Slug == asked.Get("service") }); i >= 0 {
		q.service = n.services[i]
	}
	if i := slices.IndexFunc(n.resources, func(r store.Resource) bool { return r.Active && r.Slug == asked.Get("resource") }); i >= 0 {
		q.resource = n.resources[i]
	}
	if date, err := time.ParseInLocation(time.DateOnly, asked.Get("date"), today.Location()); err == nil {
		q.date, q.asked = within(date, today, addDays(today, lastDay)), true
	}
	if month, err := time.ParseInLocation(monthForm, asked.Get("month"), today.Location()); err == nil {
		q.month = within(firstOfMonth(month, 0), firstOfMonth(today, 0), firstOfMonth(addDays(today, lastDay), 0))
	}
	return q
}

// within is the day, or the nearest one between first and last.
func within(day, first, last time.Time) time.Time {
	switch {
	case daysBetween(first, day) < 0:
		return first
	case daysBetween(day, last) < 0:
		return last
	default:
		return midnight(day)
	}
}

// filter is the address of this page with another day.
func (q venueQuery) filter(date string) views.VenueFilter {
	return views.VenueFilter{Date: date, Service: q.service.Slug, Resource: q.resource.Slug, Free: q.free, Lang: q.lang, Embed: q.embed}
}

// over is the address of this page with another month.
func (q venueQuery) over(month time.Time) views.VenueFilter {
	f := q.filter("")
	f.Month = month.Format(monthForm)
	return f
}

// same is the address of this page as it is looked at: its month, or the day.
func (q venueQuery) same(day string) views.VenueFilter {
	if q.month.IsZero() {
		return q.filter(day)
	}
	return q.over(q.month)
}

// filtered reports whether something is left out that the venue has.
func (q venueQuery) filtered() bool { return q.free || q.service.ID != "" || q.resource.ID != "" }

func (q venueQuery) slots(tenant string, from, to time.Time) store.SlotQuery {
	sq := store.SlotQuery{TenantID: tenant, From: from, To: to, ServiceID: q.service.ID, ResourceID: q.resource.ID}
	if q.free {
		sq.FreeFor = 1
	}
	return sq
}

func (s *Server) getVenue(w http.ResponseWriter, r *http.Request) error {
	v, q, err := s.venuePage(r, false)
	if err != nil {
		return err
	}
	v.Page = s.page(r)
	s.describe(r, &v.Page, q)
	return s.render(w, r, http.StatusOK, views.Venue(v))
}

// getEmbed shows the calendar in a frame on the sites that the tenant names, and
// on no other. It takes nothing from the session and leaves nothing in it: a
// frame on another site has none.
func (s *Server) getEmbed(w http.ResponseWriter, r *http.Request) error {
	t := venue(r)
	v, q, err := s.venuePage(r, true)
	if err != nil {
		return err
	}
	v.Page = views.Page{Tenant: s.tenantView(r, t)}
	s.describe(r, &v.Page, q)
	v.Page.Alternates = nil
	for _, lang := range i18n.Languages {
		if lang != i18n.Lang(r.Context()) {
			other := q
			other.lang = lang
			v.Languages = append(v.Languages, views.LanguageLink{
				Lang: lang, Text: i18n.For(lang).T("chrome.language.own"), URL: views.VenueFilterURL(t.Slug, other.same(q.date.Format(time.DateOnly))),
			})
		}
	}
	if len(t.EmbedOrigins) > 0 {
		h := w.Header()
		h.Set("Content-Security-Policy", strings.Replace(h.Get("Content-Security-Policy"), "frame-ancestors 'none'", "frame-ancestors "+strings.Join(t.EmbedOrigins, " "), 1))
		h.Del("X-Frame-Options") // it can name no list; every browser that has frame-ancestors goes by that
		h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	}
	return s.render(w, r, http.StatusOK, views.VenueEmbed(v))
}

// venuePage makes the calendar without what stands around it.
func (s *Server) venuePage(r *http.Request, embed bool) (views.VenuePage, venueQuery, error) {
	ctx, t := r.Context(), venue(r)
	n, err := s.loadNames(ctx, t.ID)
	if err != nil {
		return views.VenuePage{}, venueQuery{}, err
	}
	c, loc := i18n.In(ctx), t.Location()
	today := midnight(s.now().In(loc))
	q := decodeVenue(r, n, today)
	q.embed = embed
	v := views.VenuePage{
		Services: serviceCards(c, t, n, q), About: about(c, t, n, q), ZoneName: loc.String(), Zone: c.ZoneLong(s.now(), loc),
	}
	if q.month.IsZero() {
		err = s.venueDays(ctx, t, &v, &q, n, today)
	} else {
		err = s.venueMonth(ctx, t, &v, q, today)
	}
	if err != nil {
		return views.VenuePage{}, venueQuery{}, err
	}
	day := q.date.Format(time.DateOnly)
	v.Resources = resourceChoices(c, t, n, q)
	only := q
	only.free = !q.free
	v.FreeOnly = views.Choice{Text: c.T("venue.free_only"), URL: views.VenueFilterURL(t.Slug, only.same(day)), Current: q.free}
	if q.filtered() {
		all := q
		all.service, all.resource, all.free = store.Service{}, store.Resource{}, false
		v.Unfiltered = views.VenueFilterURL(t.Slug, all.same(day))
	}
	return v, q, nil
}

// venueDays fills in the strip and its days, and the day of q if the address
// names none.
func (s *Server) venueDays(ctx context.Context, t store.Tenant, v *views.VenuePage, q *venueQuery, n names, today time.Time) error {
	c := i18n.In(ctx)
	loc, end, nothingAtAll := t.Location(), addDays(today, lastDay+1), false
	if q.date.IsZero() {
		first, err := s.store.FirstBookable(ctx, q.slots(t.ID, today, end))
		switch {
		case errors.Is(err, store.NotFound):
			first, nothingAtAll = today, true
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
	shut, err := s.closedDays(ctx, t, start, addDays(start, daysShown-1))
	if err != nil {
		return err
	}
	v.Month = c.Month(q.date, loc)
	if before := addDays(start, -daysShown); !before.Before(today) {
		v.PrevURL = views.VenueFilterURL(t.Slug, q.filter(before.Format(time.DateOnly)))
	}
	if after := addDays(start, daysShown); daysBetween(today, after) <= lastDay {
		v.NextURL = views.VenueFilterURL(t.Slug, q.filter(after.Format(time.DateOnly)))
	}
	v.Views = []views.Choice{
		{Text: c.T("venue.view.days"), URL: views.VenueFilterURL(t.Slug, q.filter(chosen)), Current: true},
		{Text: c.T("venue.view.month"), URL: views.VenueFilterURL(t.Slug, q.over(q.date))},
	}
	something := false
	for i := range daysShown {
		at := addDays(start, i)
		date := at.Format(time.DateOnly)
		day := views.VenueDay{
			Date: date, Title: c.DateShort(at, loc), Long: c.Date(at, loc), Current: date == chosen, Today: at.Equal(today),
			Holiday: holiday(c, t, at), At: noon(at).Format(time.RFC3339),
		}
		day.Kind = kindOfDay(at.Weekday(), day.Holiday)
		if note, closed := shut[date]; closed {
			day.Closed, day.Note = true, note.In(c.Lang())
		}
		for _, slot := range slots {
			if slot.StartsAt.In(loc).Format(time.DateOnly) == date {
				day.Slots = append(day.Slots, venueRow(ctx, t, n.of(slot), *q))
				something = something || day.Current && slot.Bookable()
			}
		}
		if len(day.Slots) == 0 {
			day.Nothing = nothing(c, *q, day.Closed)
		}
		state, phase := best(day.Slots)
		tab := views.DayTab{
			Weekday: c.Weekday(at.Weekday()), Day: strconv.Itoa(at.Day()), Label: day.Long, URL: views.VenueFilterURL(t.Slug, q.filter(date)),
			Current: day.Current, Today: day.Today, State: state, Phase: phase, Kind: day.Kind, Holiday: day.Holiday, Closed: day.Closed,
		}
		if i == 0 || at.Day() == 1 {
			tab.Month = c.MonthShort(at, loc)
		}
		v.Days, v.Strip = append(v.Days, day), append(v.Strip, tab)
	}
	if something || nothingAtAll {
		return nil
	}
	v.NextFree, err = s.nextFree(ctx, t, *q, addDays(q.date, 1), end)
	return err
}

// venueMonth fills in the overview of the month of q.
func (s *Server) venueMonth(ctx context.Context, t store.Tenant, v *views.VenuePage, q venueQuery, today time.Time) error {
	c := i18n.In(ctx)
	loc, last := t.Location(), addDays(today, lastDay)
	after := firstOfMonth(q.month, 1)
	from := within(today, q.month, after) // what has been is not looked up
	summaries, err := s.store.Days(ctx, q.slots(t.ID, from, after), loc)
	if err != nil {
		return err
	}
	shut, err := s.closedDays(ctx, t, q.month, addDays(after, -1))
	if err != nil {
		return err
	}
	now := s.now()
	days := map[string]store.DaySummary{}
	for _, d := range summaries {
		days[d.Day] = d
	}
	m := &views.VenueMonth{Title: c.Month(q.month, loc)}
	v.Month, v.Grid = m.Title, m
	if before := firstOfMonth(q.month, -1); daysBetween(firstOfMonth(today, 0), before) >= 0 {
		v.PrevURL = views.VenueFilterURL(t.Slug, q.over(before))
	}
	if daysBetween(after, last) >= 0 {
		v.NextURL = views.VenueFilterURL(t.Slug, q.over(after))
	}
	back := "" // this month: the first day that has something
	if daysBetween(today, q.month) > 0 {
		back = q.month.Format(time.DateOnly)
	}
	v.Views = []views.Choice{
		{Text: c.T("venue.view.days"), URL: views.VenueFilterURL(t.Slug, q.filter(back))},
		{Text: c.T("venue.view.month"), URL: views.VenueFilterURL(t.Slug, q.over(q.month)), Current: true},
	}
	for d := range daysShown {
		day := time.Weekday(d)
		m.Weekdays = append(m.Weekdays, views.VenueWeekday{Short: c.Weekday(day), Long: c.WeekdayLong(day), Kind: kindOfDay(day, "")})
	}
	var week []views.VenueMonthDay
	for range int(q.month.Weekday()) {
		week = append(week, views.VenueMonthDay{})
	}
	something, free := false, false
	for at := q.month; at.Before(after); at = addDays(at, 1) {
		date := at.Format(time.DateOnly)
		day := views.VenueMonthDay{
			Day: strconv.Itoa(at.Day()), Date: date, Label: c.Date(at, loc), Today: at.Equal(today), Holiday: holiday(c, t, at),
		}
		day.Kind = kindOfDay(at.Weekday(), day.Holiday)
		if day.Holiday != "" {
			m.Holidays = append(m.Holidays, c.DateShort(at, loc)+" "+day.Holiday)
		}
		if !at.Before(today) && !last.Before(at) {
			day.URL = views.VenueFilterURL(t.Slug, q.filter(date))
			if note, closed := shut[date]; closed {
				day.Closed, day.Note = true, note.In(c.Lang())
			}
			sum := days[date]
			day.State, day.Phase = bestOf(sum, q.free)
			if day.Phase == views.PhaseNotYet && sum.OpensAt != nil {
				day.Opens = opens(c, *sum.OpensAt, now, loc)
			}
			something = something || day.State != ""
			free = free || sum.Free+sum.Few > 0
		}
		if week = append(week, day); len(week) == daysShown {
			m.Weeks, week = append(m.Weeks, week), nil
		}
	}
	if week != nil {
		m.Weeks = append(m.Weeks, append(week, make([]views.VenueMonthDay, daysShown-len(week))...))
	}
	if !something {
		m.Empty = c.T("venue.nothing_month")
		if q.filtered() {
			m.Empty = c.T("venue.nothing_month_filtered")
		}
	}
	if !free {
		v.NextFree, err = s.nextFree(ctx, t, q, after, addDays(last, 1))
	}
	return err
}

// nextFree leads to the first day from then on that has something to book; nil
// where there is none.
func (s *Server) nextFree(ctx context.Context, t store.Tenant, q venueQuery, from, to time.Time) (*views.Link, error) {
	c := i18n.In(ctx)
	next, err := s.store.FirstBookable(ctx, q.slots(t.ID, from, to))
	if errors.Is(err, store.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	date := next.In(t.Location())
	return &views.Link{
		Text: c.T("venue.next_free", "date", c.DateShort(next, t.Location())), URL: views.VenueFilterURL(t.Slug, q.filter(date.Format(time.DateOnly))),
	}, nil
}

// closedDays are the notes of the closed days from first to last, by date.
func (s *Server) closedDays(ctx context.Context, t store.Tenant, first, last time.Time) (map[string]store.Text, error) {
	days, err := s.store.ClosedDays(ctx, t.ID, first.Format(time.DateOnly), last.Format(time.DateOnly))
	if err != nil {
		return nil, err
	}
	notes := map[string]store.Text{}
	for _, d := range days {
		notes[d.Day] = d.Note
	}
	return notes, nil
}

// holiday names the public holiday of a day, where the venue has such.
func holiday(c *i18n.Catalog, t store.Tenant, day time.Time) string {
	if region(t) != "JP" {
		return ""
	}
	return store.JapaneseHoliday(day).In(c.Lang())
}

// nothing says why no slot stands on a day.
func nothing(c *i18n.Catalog, q venueQuery, closed bool) string {
	switch {
	case closed:
		return c.T("venue.nothing_closed")
	case q.filtered():
		return c.T("venue.nothing_filtered")
	default:
		return c.T("venue.nothing_day")
	}
}

// venueRow is a slot in the calendar: outside its booking window it says
// whether that is still to come, and when.
func venueRow(ctx context.Context, t store.Tenant, o oneSlot, q venueQuery) views.SlotRow {
	v := row(ctx, t, o)
	v.URL, v.Top = views.InLanguage(v.URL, q.lang), q.embed
	if v.State != views.SlotOutside {
		return v
	}
	switch {
	case o.Now.Before(o.OpensAt):
		v.Phase, v.Note = views.PhaseNotYet, opens(i18n.In(ctx), o.OpensAt, o.Now, t.Location())
	case o.Now.Before(o.EndsAt):
		v.Phase = views.PhaseOver
	default:
		v.Phase = views.PhasePast
	}
	return v
}

// opens says when booking begins, with the year where that is another one.
func opens(c *i18n.Catalog, at, now time.Time, loc *time.Location) string {
	if at.In(loc).Year() != now.In(loc).Year() {
		return c.T("venue.opens", "time", c.DateTime(at, loc))
	}
	return c.T("venue.opens", "time", c.DateTimeShort(at, loc))
}

// describe says what the page is about to those who have not opened it.
func (s *Server) describe(r *http.Request, p *views.Page, q venueQuery) {
	ctx, t := r.Context(), venue(r)
	c := i18n.In(ctx)
	var title []string
	p.Description = c.T("venue.description", "name", t.Name)
	if q.service.ID != "" {
		name := q.service.Name.In(c.Lang())
		title = append(title, name)
		p.Description = strings.TrimSpace(c.T("venue.service_description", "service", name, "name", t.Name, "details", q.service.Description.In(c.Lang())))
	}
	switch {
	case !q.month.IsZero():
		title = append(title, c.Month(q.month, t.Location()))
	case q.asked:
		title = append(title, c.Date(q.date, t.Location()))
	}
	p.Title = strings.Join(title, " ")
	// One address for the calendar and one for each service, whatever day.
	s.findable(p, q.lang, func(lang string) string {
		return views.VenueFilterURL(t.Slug, views.VenueFilter{Service: q.service.Slug, Lang: lang})
	})
}

// findable names the page's own address, in the language that its address
// names, and those of the same page in each language.
func (s *Server) findable(p *views.Page, lang string, path func(lang string) string) {
	p.Canonical = s.absolute(path(lang))
	for _, other := range i18n.Languages {
		p.Alternates = append(p.Alternates, views.Alternate{Lang: other, URL: s.absolute(path(other))})
	}
	p.Alternates = append(p.Alternates, views.Alternate{Lang: "x-default", URL: s.absolute(path(""))})
}

// describeSlot is describe for the page of a slot.
func (s *Server) describeSlot(r *http.Request, p *views.Page, o oneSlot) {
	t := venue(r)
	c := i18n.In(r.Context())
	name, when := o.service.Name.In(c.Lang()), c.DateTimeRange(o.StartsAt, o.EndsAt, t.Location())
	p.Title = name + " " + when
	p.Description = strings.TrimSpace(c.T("venue.slot_description", "service", name, "time", when, "name", t.Name, "details", o.service.Description.In(c.Lang())))
	s.findable(p, addressLang(r), func(lang string) string { return views.InLanguage(views.SlotURL(t.Slug, o.ID), lang) })
}

// absolute is a path of ours as the public knows it.
func (s *Server) absolute(path string) string {
	return s.cfg.PublicURL.Scheme + "://" + s.cfg.PublicURL.Host + path
}

// active are the services that can be chosen.
func (n names) active() []store.Service {
	return slices.DeleteFunc(slices.Clone(n.services), func(sv store.Service) bool { return !sv.Active })
}

// serviceCards lead to one service each, and back from the chosen one to all.
func serviceCards(c *i18n.Catalog, t store.Tenant, n names, q venueQuery) []views.ServiceCard {
	var cards []views.ServiceCard
	for _, sv := range n.active() {
		other, current := q, sv.ID == q.service.ID
		if other.service = sv; current {
			other.service = store.Service{}
		}
		cards = append(cards, views.ServiceCard{
			Name: sv.Name.In(c.Lang()), Price: sv.Price.In(c.Lang()), Duration: c.Duration(sv.Duration), Current: current,
			// No day: the first one that has something of this service.
			URL: views.VenueFilterURL(t.Slug, other.same("")),
		})
	}
	return cards
}

// about is what the shop says about the service that was chosen, or about the
// only one; nil where it says nothing.
func about(c *i18n.Catalog, t store.Tenant, n names, q venueQuery) *views.ServiceAbout {
	sv, services := q.service, n.active()
	if len(services) == 1 {
		sv = services[0]
	}
	if sv.ID == "" {
		return nil
	}
	lang := c.Lang()
	a := views.ServiceAbout{Name: sv.Name.In(lang), Details: sv.Description.In(lang), Place: sv.Place.In(lang), Bring: sv.Bring.In(lang), Picture: picture(t, sv, lang)}
	if len(services) == 1 {
		a.Price = sv.Price.In(lang) // otherwise its card says this and the duration
	}
	if a == (views.ServiceAbout{Name: a.Name}) {
		return nil
	}
	if len(services) == 1 {
		a.Duration = c.Duration(sv.Duration)
	}
	return &a
}

// resourceChoices narrow the calendar to one resource, where there are several.
func resourceChoices(c *i18n.Catalog, t store.Tenant, n names, q venueQuery) []views.Choice {
	inUse := slices.DeleteFunc(slices.Clone(n.resources), func(r store.Resource) bool { return !r.Active })
	if len(inUse) < 2 {
		return nil
	}
	day := "" // the first day that has something, unless one was asked for
	if q.asked {
		day = q.date.Format(time.DateOnly)
	}
	to := func(r store.Resource, text string) views.Choice {
		other := q
		other.resource = r
		return views.Choice{Text: text, URL: views.VenueFilterURL(t.Slug, other.same(day)), Current: q.resource.ID == r.ID}
	}
	choices := []views.Choice{to(store.Resource{}, c.T("venue.any_resource"))}
	for _, r := range inUse {
		choices = append(choices, to(r, r.Name.In(c.Lang())))
	}
	return choices
}

// best is the best that a day has, empty for nothing at all; the phase is that
// of what is outside its window.
func best(rows []views.SlotRow) (views.SlotState, views.SlotPhase) {
	order := []struct {
		state views.SlotState
		phase views.SlotPhase
	}{
		{views.SlotFree, ""},
		{views.SlotFew, ""},
		{views.SlotWaitlist, ""},
		{views.SlotFull, ""},
		{views.SlotOutside, views.PhaseNotYet},
		{views.SlotOutside, views.PhaseOver},
		{views.SlotOutside, views.PhasePast},
		{views.SlotClosed, ""},
		{views.SlotCancelled, ""},
	}
	for _, o := range order {
		if slices.ContainsFunc(rows, func(r views.SlotRow) bool { return r.State == o.state && r.Phase == o.phase }) {
			return o.state, o.phase
		}
	}
	return "", ""
}

// bestOf is best of a day that is known by its numbers only.
func bestOf(d store.DaySummary, freeOnly bool) (views.SlotState, views.SlotPhase) {
	switch {
	case d.Free > 0:
		return views.SlotFree, ""
	case d.Few > 0:
		return views.SlotFew, ""
	case freeOnly:
		return "", ""
	case d.Joinable > 0:
		return views.SlotWaitlist, ""
	case d.Full > 0:
		return views.SlotFull, ""
	case d.NotYet > 0:
		return views.SlotOutside, views.PhaseNotYet
	case d.Over > 0:
		return views.SlotOutside, views.PhaseOver
	case d.Closed > 0:
		return views.SlotClosed, ""
	case d.Cancelled > 0:
		return views.SlotCancelled, ""
	default:
		return "", ""
	}
}

// kindOfDay colours a day; public holidays have the colour of Sundays.
func kindOfDay(d time.Weekday, holiday string) views.DayKind {
	if holiday != "" {
		return views.DaySunday
	}
	return dayKind(d)
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

// firstOfMonth is the first day of the month so many months later.
func firstOfMonth(at time.Time, months int) time.Time {
	y, m, _ := at.Date()
	return time.Date(y, m+time.Month(months), 1, 0, 0, 0, 0, at.Location())
}

// noon is the middle of a day, when no clock is changed.
func noon(at time.Time) time.Time {
	y, m, d := at.Date()
	return time.Date(y, m, d, 12, 0, 0, 0, at.Location())
}

// daysBetween counts calendar days, whatever the clocks do meanwhile.
func daysBetween(from, to time.Time) int {
	utc := func(at time.Time) time.Time {
		y, m, d := at.Date()
		return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	}
	return int(utc(to).Sub(utc(from)) / (24 * time.Hour))
}
