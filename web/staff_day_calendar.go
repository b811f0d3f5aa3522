package web

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// calendarShown is the most slots that one week shows: a page that nobody reads
// to its end helps nobody, and the filters are beside it.
const calendarShown = 1000

// dayFilter is what staff have narrowed a day or the calendar to. What the venue
// does not have is left out: an old link still opens.
type dayFilter struct {
	service  store.Service
	resource store.Resource
}

func decodeDayFilter(r *http.Request, n names) dayFilter {
	var f dayFilter
	asked := r.URL.Query()
	if i := slices.IndexFunc(n.services, func(sv store.Service) bool { return sv.Slug == asked.Get("service") }); i >= 0 {
		f.service = n.services[i]
	}
	if i := slices.IndexFunc(n.resources, func(o store.Resource) bool { return o.Slug == asked.Get("resource") }); i >= 0 {
		f.resource = n.resources[i]
	}
	return f
}

// on is the address part of a page with these filters.
func (f dayFilter) on(day views.StaffDayFilter) views.StaffDayFilter {
	day.Service, day.Resource = f.service.Slug, f.resource.Slug
	return day
}

func (f dayFilter) slots(tenant string, from, to time.Time) store.SlotQuery {
	return store.SlotQuery{TenantID: tenant, From: from, To: to, ServiceID: f.service.ID, ResourceID: f.resource.ID}
}

// hidden are the filters as fields of the form that jumps.
func (f dayFilter) hidden() []views.Hidden {
	var out []views.Hidden
	if f.service.Slug != "" {
		out = append(out, views.Hidden{Name: "service", Value: f.service.Slug})
	}
	if f.resource.Slug != "" {
		out = append(out, views.Hidden{Name: "resource", Value: f.resource.Slug})
	}
	return out
}

// choosers are the filters as links to the same page; url makes its address.
func (f dayFilter) choosers(ctx context.Context, n names, url func(dayFilter) string) []views.StaffChooser {
	lang := i18n.Lang(ctx)
	var out []views.StaffChooser
	if len(n.services) > 1 {
		c := views.StaffChooser{Name: i18n.T(ctx, "staff.calendar.service"), Chosen: i18n.T(ctx, "staff.calendar.all"), Narrowed: f.service.ID != ""}
		c.Choices = append(c.Choices, views.StaffChoice{Text: c.Chosen, URL: url(dayFilter{resource: f.resource}), Current: !c.Narrowed})
		for _, sv := range n.services {
			current := sv.ID == f.service.ID
			if !sv.Active && !current {
				continue
			}
			if current {
				c.Chosen = sv.Name.In(lang)
			}
			c.Choices = append(c.Choices, views.StaffChoice{Text: sv.Name.In(lang), URL: url(dayFilter{service: sv, resource: f.resource}), Current: current})
		}
		out = append(out, c)
	}
	if len(n.resources) > 1 {
		c := views.StaffChooser{Name: i18n.T(ctx, "staff.calendar.resource"), Chosen: i18n.T(ctx, "staff.calendar.all"), Narrowed: f.resource.ID != ""}
		c.Choices = append(c.Choices, views.StaffChoice{Text: c.Chosen, URL: url(dayFilter{service: f.service}), Current: !c.Narrowed})
		for _, o := range n.resources {
			current := o.ID == f.resource.ID
			if current {
				c.Chosen = o.Name.In(lang)
			}
			c.Choices = append(c.Choices, views.StaffChoice{Text: o.Name.In(lang), URL: url(dayFilter{service: f.service, resource: o}), Current: current})
		}
		out = append(out, c)
	}
	return out
}

// hues is how many colours tell resources apart; each has its name beside it all the same.
const hues = 8

// hue is the number of a resource's colour, 0 where the venue has only one.
func (n names) hue(resource string) int {
	if len(n.resources) < 2 {
		return 0
	}
	return slices.IndexFunc(n.resources, func(o store.Resource) bool { return o.ID == resource })%hues + 1
}

// calendarRequest is what the address of the calendar asks for.
type calendarRequest struct {
	dayFilter
	today time.Time // midnight at the venue
	month bool
	first time.Time // midnight of the first day of the week or the month
}

// decodeCalendar reads the address; what cannot be read is this week.
func decodeCalendar(r *http.Request, n names, today time.Time) calendarRequest {
	asked := r.URL.Query()
	q := calendarRequest{dayFilter: decodeDayFilter(r, n), today: today, first: startOfWeek(today)}
	if month, err := time.ParseInLocation(monthForm, asked.Get("month"), today.Location()); err == nil && isDay(month) {
		q.month, q.first = true, firstOfMonth(month, 0)
	} else if day, err := readWeek(asked.Get("week"), today.Location()); err == nil && isDay(day) {
		q.first = startOfWeek(day)
	}
	return q
}

// isDay reports whether a day is one that the database and our addresses can name, and its neighbours too.
func isDay(day time.Time) bool { return day.Year() > 1900 && day.Year() < 3000 }

// readWeek reads a week as we write it, by one of its days, or as the fields of
// browsers do, by its number: 2026-10-08, 2026-W41.
func readWeek(text string, loc *time.Location) (time.Time, error) {
	year, week, isWeek := strings.Cut(text, "-W")
	if !isWeek {
		return time.ParseInLocation(time.DateOnly, text, loc)
	}
	first, err := time.ParseInLocation(time.DateOnly, year+"-01-04", loc) // always in week 1
	if err != nil {
		return first, err
	}
	n, err := strconv.Atoi(week)
	if err != nil || n < 1 || n > 53 {
		return first, store.NotFound
	}
	monday := addDays(first, -int(first.Weekday()+6)%7)
	return addDays(monday, 7*(n-1)), nil
}

// startOfWeek is the Sunday on which a week begins, as in the customers' months.
func startOfWeek(day time.Time) time.Time { return addDays(day, -int(day.Weekday())) }

// url is the calendar with these filters: this week or month, or another.
func (q calendarRequest) url(tenant string, month bool, first time.Time) string {
	if month {
		return views.StaffFilteredCalendarURL(tenant, q.on(views.StaffDayFilter{Month: first.Format(monthForm)}))
	}
	return views.StaffFilteredCalendarURL(tenant, q.on(views.StaffDayFilter{Week: first.Format(time.DateOnly)}))
}

func (q calendarRequest) dayURL(tenant string, day time.Time) string {
	return views.StaffFilteredDayURL(tenant, q.on(views.StaffDayFilter{Date: day.Format(time.DateOnly)}))
}

// getStaffCalendar is a week or a month. Its statements don't grow with what it shows.
func (s *Server) getStaffCalendar(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	c, loc := i18n.In(ctx), t.Location()
	n, err := s.loadNames(ctx, t.ID)
	if err != nil {
		return err
	}
	q := decodeCalendar(r, n, startOfDay(s.now(), loc))
	v := views.StaffCalendarPage{PathURL: views.StaffCalendarURL(t.Slug), Keep: q.hidden(), UpdatedAt: c.Time(s.now(), loc), SelfURL: q.url(t.Slug, q.month, q.first)}
	// From a week to its month and back, the days stay those one looks at.
	day := q.first
	if !q.today.Before(q.first) && q.today.Before(q.end()) {
		day = q.today
	}
	v.Views = []views.StaffChoice{
		{Text: c.T("staff.calendar.day"), URL: q.dayURL(t.Slug, day)},
		{Text: c.T("staff.calendar.week"), URL: q.url(t.Slug, false, startOfWeek(day)), Current: !q.month},
		{Text: c.T("staff.calendar.month"), URL: q.url(t.Slug, true, day), Current: q.month},
	}
	v.Choosers = q.choosers(ctx, n, func(f dayFilter) string {
		other := q
		other.dayFilter = f
		return other.url(t.Slug, q.month, q.first)
	})
	if me(r).can(setUp) {
		v.AddURL = views.StaffAddSlotsURL(t.Slug)
	}
	if q.month {
		err = s.calendarMonth(ctx, t, &v, q)
	} else {
		err = s.calendarWeek(ctx, t, &v, q, n)
	}
	if err != nil {
		return err
	}
	if v.Page, v.Staff, err = s.staffPage(r, "calendar", v.Heading, v.SelfURL); err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, views.StaffCalendar(v))
}

// end is the first midnight after the week or the month.
func (q calendarRequest) end() time.Time {
	if q.month {
		return firstOfMonth(q.first, 1)
	}
	return addDays(q.first, 7)
}

func (s *Server) calendarWeek(ctx context.Context, t store.Tenant, v *views.StaffCalendarPage, q calendarRequest, n names) error {
	c, loc := i18n.In(ctx), t.Location()
	end := q.end()
	slots, err := s.store.SlotsOver(ctx, q.slots(t.ID, q.first, end))
	if err != nil {
		return err
	}
	shut, err := s.closedDays(ctx, t, q.first, addDays(end, -1))
	if err != nil {
		return err
	}
	v.Heading = c.T("staff.calendar.week_of", "from", c.Date(q.first, loc), "to", c.DateShort(addDays(end, -1), loc))
	v.PrevURL, v.PrevText = q.url(t.Slug, false, addDays(q.first, -7)), c.T("staff.calendar.prev_week")
	v.NextURL, v.NextText = q.url(t.Slug, false, end), c.T("staff.calendar.next_week")
	v.NowURL, v.NowText = q.url(t.Slug, false, startOfWeek(q.today)), c.T("staff.calendar.this_week")
	v.IsNow = q.first.Equal(startOfWeek(q.today))
	v.JumpKind, v.JumpName, v.JumpText, v.JumpValue = "date", "week", c.T("staff.calendar.jump_week"), q.first.Format(time.DateOnly)
	v.LiveURL = views.StaffLiveWeekURL(t.Slug, q.first.Format(time.DateOnly))
	if len(slots) == calendarShown {
		v.Cut = c.T("staff.calendar.cut", "n", calendarShown)
	}
	if len(n.resources) > 1 {
		seen := map[string]bool{}
		for _, slot := range slots {
			seen[slot.ResourceID] = true
		}
		for _, o := range n.resources {
			if seen[o.ID] {
				other := q
				other.resource = o
				v.Colours = append(v.Colours, views.StaffChoice{Text: o.Name.In(c.Lang()), URL: other.url(t.Slug, false, q.first), Hue: n.hue(o.ID)})
			}
		}
	}
	week := &views.StaffWeek{}
	v.Week = week
	for i := range 7 {
		at := addDays(q.first, i)
		next := addDays(at, 1)
		day := views.StaffWeekDay{
			Date: at.Format(time.DateOnly), Weekday: c.Weekday(at.Weekday()), Day: strconv.Itoa(at.Day()), Label: c.DateShort(at, loc), URL: q.dayURL(t.Slug, at),
			Today: at.Equal(q.today), Past: at.Before(q.today), Holiday: holiday(c, t, at), Clock: clockChange(c, at), Now: -1,
		}
		day.Kind = weekendKind(at.Weekday(), day.Holiday)
		if note, closed := shut[day.Date]; closed {
			day.Closed, day.Note = true, note.In(c.Lang())
		}
		if day.Today {
			day.Now = wallMinute(s.now().In(loc))
		}
		for _, slot := range slots {
			if slot.StartsAt.Before(next) && slot.EndsAt.After(at) {
				day.Slots = append(day.Slots, weekSlot(ctx, t, n, slot, at))
			}
		}
		day.Lanes = layOut(day.Slots)
		week.Days = append(week.Days, day)
	}
	week.From, week.Until, week.Zoom = span(week.Days)
	return nil
}

// weekSlot is the part of a slot that lies on a day.
func weekSlot(ctx context.Context, t store.Tenant, n names, slot store.Slot, day time.Time) views.StaffWeekSlot {
	c, loc, o := i18n.In(ctx), t.Location(), n.of(slot)
	next := addDays(day, 1)
	start, end := slot.StartsAt.In(loc), slot.EndsAt.In(loc)
	v := views.StaffWeekSlot{
		ID: slot.ID, URL: views.StaffSlotURL(t.Slug, slot.ID), Time: c.TimeRange(start, end, loc), Start: c.Time(start, loc), Service: o.service.Name.In(c.Lang()),
		Resource: o.resource.Name.In(c.Lang()), Hue: n.hue(slot.ResourceID), State: staffState(slot), Paused: slot.Paused && slot.Status != store.SlotCancelled,
		Bar: staffBar(slot), Waiting: slot.Waiting, Before: start.Before(day),
	}
	// A night is said shortly: a column has no room for a date.
	if morning := addDays(start, 1); end.After(morning) && end.Before(addDays(morning, 1)) {
		v.Time = c.T("staff.calendar.overnight", "from", v.Start, "to", c.Time(end, loc))
	}
	if v.Before && !end.After(next) {
		v.Start = c.T("staff.calendar.until", "to", c.Time(end, loc))
	}
	if twice(start) && !v.Before {
		v.Time, v.Start = c.WithZone(v.Time, start, loc), c.WithZone(v.Start, start, loc)
	}
	v.From, v.Until = wallMinute(start), wallMinute(end)
	if v.Before {
		v.From = 0
	}
	if !end.Before(next) {
		v.Until = 24 * 60
	}
	// Where the clock was set back in between, the end may read earlier than the start: then it is as high as it is long.
	if v.Until <= v.From {
		v.Until = min(24*60, v.From+max(1, int(end.Sub(start).Minutes())))
	}
	return v
}

// wallMinute is the time of day as minutes of the clock on the wall.
func wallMinute(at time.Time) int { return 60*at.Hour() + at.Minute() }

// twice reports whether the clock on the wall shows this time twice on its day, because it is set back.
func twice(at time.Time) bool {
	for _, other := range []time.Time{at.Add(-2 * time.Hour), at.Add(2 * time.Hour)} {
		_, here := at.Zone()
		_, there := other.Zone()
		again := at.Add(time.Duration(here-there) * time.Second)
		if here != there && again.Format(time.DateTime) == at.Format(time.DateTime) {
			return true
		}
	}
	return false
}

// clockChange says how the clocks change on a day; empty on all others.
func clockChange(c *i18n.Catalog, day time.Time) string {
	_, change := day.ZoneBounds()
	if change.IsZero() || !change.Before(addDays(day, 1)) {
		return ""
	}
	_, before := day.Zone()
	_, after := change.In(day.Location()).Zone()
	from, to := change.In(time.FixedZone("", before)).Format("15:04"), change.In(day.Location()).Format("15:04")
	switch {
	case after > before:
		return c.T("staff.calendar.clock_forward", "from", from, "to", to)
	case after < before:
		return c.T("staff.calendar.clock_back", "from", from, "to", to)
	default:
		return "" // another name for the same time
	}
}

// layOut gives each slot of a day its lane, so that none covers another, and
// tells how many lanes there are at most. The slots come by start; those that
// meet in time share the breadth.
func layOut(slots []views.StaffWeekSlot) int {
	slices.SortStableFunc(slots, func(a, b views.StaffWeekSlot) int { return a.From - b.From })
	most := 1
	for first := 0; first < len(slots); {
		// A run of slots that hang together in time.
		var ends []int // by lane
		last, until := first, 0
		for ; last < len(slots) && (last == first || slots[last].From < until); last++ {
			lane := slices.IndexFunc(ends, func(end int) bool { return end <= slots[last].From })
			if lane < 0 {
				lane = len(ends)
				ends = append(ends, 0)
			}
			ends[lane], slots[last].Lane = slots[last].Until, lane
			until = max(until, slots[last].Until)
		}
		for i := first; i < last; i++ {
			slots[i].Of = len(ends)
		}
		most = max(most, len(ends))
		first = last
	}
	return most
}

// span is the hours that a week shows, and how high: the day's work with
// nothing cut off, and room for the words of its shortest slot.
func span(days []views.StaffWeekDay) (from, until, zoom int) {
	from, until = 24*60, 0
	shortest := 24 * 60
	for _, d := range days {
		for _, s := range d.Slots {
			from, until, shortest = min(from, s.From), max(until, s.Until), min(shortest, s.Until-s.From)
		}
	}
	if until == 0 {
		return 9, 18, 1
	}
	from, until = from/60, (until+59)/60
	zoom = 1
	if shortest < 45 {
		zoom = 2
	}
	if shortest < 25 {
		zoom = 3
	}
	return from, until, zoom
}

// weekendKind colours a day; public holidays have the colour of Sundays.
func weekendKind(d time.Weekday, holiday string) string {
	switch {
	case holiday != "" || d == time.Sunday:
		return "sun"
	case d == time.Saturday:
		return "sat"
	default:
		return ""
	}
}

func (s *Server) calendarMonth(ctx context.Context, t store.Tenant, v *views.StaffCalendarPage, q calendarRequest) error {
	c, loc := i18n.In(ctx), t.Location()
	from := startOfWeek(q.first)
	to := addDays(startOfWeek(addDays(q.end(), -1)), 7)
	loads, err := s.store.DayLoads(ctx, q.slots(t.ID, from, to), loc)
	if err != nil {
		return err
	}
	shut, err := s.closedDays(ctx, t, from, addDays(to, -1))
	if err != nil {
		return err
	}
	v.Heading = c.Month(q.first, loc)
	v.PrevURL, v.PrevText = q.url(t.Slug, true, firstOfMonth(q.first, -1)), c.T("staff.calendar.prev_month")
	v.NextURL, v.NextText = q.url(t.Slug, true, q.end()), c.T("staff.calendar.next_month")
	v.NowURL, v.NowText = q.url(t.Slug, true, firstOfMonth(q.today, 0)), c.T("staff.calendar.this_month")
	v.IsNow = q.first.Equal(firstOfMonth(q.today, 0))
	v.JumpKind, v.JumpName, v.JumpText, v.JumpValue = "month", "month", c.T("staff.calendar.jump_month"), q.first.Format(monthForm)
	byDay := map[string]store.DayLoad{}
	for _, load := range loads {
		byDay[load.Day] = load
	}
	m := &views.StaffMonth{}
	v.Month = m
	for d := range 7 {
		m.Weekdays = append(m.Weekdays, views.StaffMonthWeekday{Text: c.Weekday(time.Weekday(d)), Kind: weekendKind(time.Weekday(d), "")})
	}
	for at := from; at.Before(to); at = addDays(at, 1) {
		day := views.StaffMonthDay{
			Date: at.Format(time.DateOnly), Day: strconv.Itoa(at.Day()), Label: c.DateShort(at, loc), URL: q.dayURL(t.Slug, at), Today: at.Equal(q.today),
			Past: at.Before(q.today), Other: at.Before(q.first) || !at.Before(q.end()), Holiday: holiday(c, t, at),
		}
		day.Kind = weekendKind(at.Weekday(), day.Holiday)
		if note, closed := shut[day.Date]; closed {
			day.Closed, day.Note = true, note.In(c.Lang())
		}
		load := byDay[day.Date]
		day.Slots, day.Full, day.Cancelled, day.Shut = load.Slots, load.Full, load.Cancelled, load.Closed
		day.Waiting, day.Offers, day.Calls = load.Waiting, load.Offers, load.Calls
		day.Bar = views.StaffBar{Capacity: load.Capacity, Booked: load.Booked, Offered: load.Kept, Free: max(0, load.Capacity-load.Booked-load.Kept)}
		if day.Holiday != "" && !day.Other {
			m.Holidays = append(m.Holidays, day.Label+" "+day.Holiday)
		}
		m.Days = append(m.Days, day)
	}
	return nil
}

// getKeys lists the keys.
func (s *Server) getKeys(w http.ResponseWriter, r *http.Request) error {
	var v views.StaffKeysPage
	var err error
	if v.Page, v.Staff, err = s.staffPage(r, "", i18n.T(r.Context(), "staff.keys.title"), views.StaffKeysURL(venue(r).Slug)); err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, views.StaffKeys(v))
}
