package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// The longest texts of a schedule's form, in characters.
const (
	longestTimes  = 2000
	longestExcept = 4000
	longestDay    = 20
)

// queryForm is a form that was sent by GET: it changes nothing, and can be shared.
func queryForm(r *http.Request) *form { return &form{values: r.URL.Query(), errs: formErrors{}} }

// scheduleForm is the rule as typed.
type scheduleForm struct {
	service, resource, capacity, from                  string
	freq, every, monthDay, nth, nthDay                 string
	weekdays                                           []string
	by, times, opens, closes, step, first, until, days string
	closed, holidays                                   bool
	errs                                               formErrors
}

func decodeSchedule(f *form) scheduleForm {
	return scheduleForm{
		service: f.text(views.FieldScheduleService, 40), resource: f.text(views.FieldScheduleResource, 40), capacity: f.text(views.FieldCapacity, 20),
		from: f.text(views.FieldScheduleFrom, longestDay),
		freq: f.text(views.FieldScheduleFreq, 20), every: f.text(views.FieldScheduleEvery, 20), monthDay: f.text(views.FieldScheduleMonthDay, 20),
		nth: f.text(views.FieldScheduleNth, 20), nthDay: f.text(views.FieldScheduleNthDay, 20), weekdays: decodeWeekdays(f),
		by: f.text(views.FieldScheduleBy, 20), times: f.text(views.FieldScheduleTimes, longestTimes), opens: f.text(views.FieldScheduleOpens, 20),
		closes: f.text(views.FieldScheduleCloses, 20), step: f.text(views.FieldScheduleStep, 20),
		first: f.text(views.FieldScheduleFirst, longestDay), until: f.text(views.FieldScheduleUntil, longestDay), days: f.lines(views.FieldScheduleExcept, longestExcept),
		closed: f.text(views.FieldScheduleClosed, 1) == "1", holidays: f.text(views.FieldScheduleHolidays, 1) == "1", errs: f.errs,
	}
}

// decodeWeekdays reads a field that may repeat.
func decodeWeekdays(f *form) []string {
	var out []string
	for _, v := range f.values[views.FieldScheduleWeekday] {
		if n, err := strconv.Atoi(v); err != nil || n < 0 || n > 6 || len(v) > 1 {
			f.errs.fault(views.FieldScheduleWeekday, "schedule.err.weekday")
			continue
		}
		out = append(out, v)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// values gives the form back as it would be sent.
func (f scheduleForm) values() url.Values {
	v := url.Values{}
	set := func(name, value string) {
		if value != "" {
			v.Set(name, value)
		}
	}
	for name, value := range map[string]string{
		views.FieldScheduleService: f.service, views.FieldScheduleResource: f.resource, views.FieldCapacity: f.capacity, views.FieldScheduleFrom: f.from,
		views.FieldScheduleFreq: f.freq, views.FieldScheduleEvery: f.every, views.FieldScheduleMonthDay: f.monthDay, views.FieldScheduleNth: f.nth,
		views.FieldScheduleNthDay: f.nthDay, views.FieldScheduleBy: f.by, views.FieldScheduleTimes: f.times, views.FieldScheduleOpens: f.opens,
		views.FieldScheduleCloses: f.closes, views.FieldScheduleStep: f.step, views.FieldScheduleFirst: f.first, views.FieldScheduleUntil: f.until,
		views.FieldScheduleExcept: f.days,
	} {
		set(name, value)
	}
	for _, d := range f.weekdays {
		v.Add(views.FieldScheduleWeekday, d)
	}
	if f.closed {
		v.Set(views.FieldScheduleClosed, "1")
	}
	if f.holidays {
		v.Set(views.FieldScheduleHolidays, "1")
	}
	return v
}

// hiddenOf are the fields of the press that follows a preview.
func hiddenOf(v url.Values) []views.Hidden {
	var out []views.Hidden
	for _, name := range slices.Sorted(keysOf(v)) {
		for _, value := range v[name] {
			out = append(out, views.Hidden{Name: name, Value: value})
		}
	}
	return out
}

func keysOf(v url.Values) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range v {
			if !yield(k) {
				return
			}
		}
	}
}

// day reads a calendar day within reason: the years around now.
func (e formErrors) day(field, text string, fault i18n.Key) string {
	at, err := time.Parse(time.DateOnly, strings.ReplaceAll(store.NormalizeText(text), "/", "-"))
	if err != nil || at.Year() < 2000 || at.Year() > 2200 {
		e.fault(field, fault)
		return ""
	}
	return at.Format(time.DateOnly)
}

func (e formErrors) whole(field, text string, least, most int, fault i18n.Key) int {
	n, err := strconv.Atoi(store.NormalizeText(text))
	if err != nil || n < least || n > most {
		e.fault(field, fault, "least", least, "most", most)
		return least
	}
	return n
}

func (e formErrors) clock(field, text string) int {
	minute, ok := store.ParseClock(text)
	if !ok {
		e.fault(field, "schedule.err.clock")
	}
	return minute
}

// typedList separates what was typed with commas, blanks or lines.
func typedList(text string) []string {
	return strings.FieldsFunc(store.NormalizeText(text), func(c rune) bool { return strings.ContainsRune(" ,、，\n\r\t;", c) })
}

// check makes a schedule of what was typed; what is wrong stands in the errors.
func (f scheduleForm) check(t store.Tenant, n names) store.Schedule {
	e := f.errs
	c := store.Schedule{TenantID: t.ID, SkipClosed: f.closed, SkipHolidays: f.holidays}
	service, ok := n.serviceOf(f.service)
	if !ok {
		e.fault(views.FieldScheduleService, "schedule.err.service")
	}
	resource, ok := n.resourceOf(f.resource)
	if !ok || !resource.Active {
		e.fault(views.FieldScheduleResource, "schedule.err.resource")
	}
	c.ServiceID, c.ResourceID = service.ID, resource.ID
	c.Capacity = e.whole(views.FieldCapacity, f.capacity, 1, mostSeats, "schedule.err.number")
	c.Rule = f.rule()
	c.Starts = f.starts(service.Duration)
	c.First = e.day(views.FieldScheduleFirst, f.first, "schedule.err.day")
	if f.until != "" {
		c.Until = e.day(views.FieldScheduleUntil, f.until, "schedule.err.day")
	}
	if c.First != "" && c.Until != "" && !scheduleWithin(c.First, c.Until) {
		e.fault(views.FieldScheduleUntil, "schedule.err.until")
	}
	for _, day := range typedList(f.days) {
		if d := e.day(views.FieldScheduleExcept, day, "schedule.err.except"); d != "" {
			c.Except = append(c.Except, d)
		}
	}
	slices.Sort(c.Except)
	c.Except = slices.Compact(c.Except)
	return c
}

// scheduleWithin reports whether a schedule may run from one day to the other.
func scheduleWithin(first, until string) bool {
	a, err := time.Parse(time.DateOnly, first)
	b, err2 := time.Parse(time.DateOnly, until)
	return err == nil && err2 == nil && !b.Before(a) && b.Sub(a) <= store.LongestSchedule*24*time.Hour
}

func (f scheduleForm) rule() string {
	e := f.errs
	p := store.RuleParts{Frequency: store.Frequency(f.freq), Every: e.whole(views.FieldScheduleEvery, f.every, 1, 99, "schedule.err.number")}
	switch p.Frequency {
	case store.Daily:
	case store.Weekly:
		for _, d := range f.weekdays {
			n, err := strconv.Atoi(d)
			if err == nil {
				p.Weekdays = append(p.Weekdays, time.Weekday(n))
			}
		}
		if len(p.Weekdays) == 0 {
			e.fault(views.FieldScheduleWeekday, "schedule.err.weekday")
		}
	case store.MonthlyDay:
		p.MonthDay = e.whole(views.FieldScheduleMonthDay, f.monthDay, 1, 31, "schedule.err.number")
	case store.MonthlyNth:
		p.Nth = e.whole(views.FieldScheduleNth, f.nth, -1, 5, "schedule.err.nth")
		if p.Nth == 0 {
			e.fault(views.FieldScheduleNth, "schedule.err.nth")
		}
		p.Weekdays = []time.Weekday{time.Weekday(e.whole(views.FieldScheduleNthDay, f.nthDay, 0, 6, "schedule.err.weekday"))}
	default:
		e.fault(views.FieldScheduleFreq, "schedule.err.freq")
	}
	if len(e) > 0 {
		return ""
	}
	return p.RRule()
}

func (f scheduleForm) starts(duration time.Duration) []int {
	e := f.errs
	var out []int
	switch f.by {
	case "times":
		for _, text := range typedList(f.times) {
			minute := e.clock(views.FieldScheduleTimes, text)
			if minute >= 24*60 {
				e.fault(views.FieldScheduleTimes, "schedule.err.clock")
			}
			out = append(out, minute)
		}
		slices.Sort(out)
		out = slices.Compact(out)
		if len(out) == 0 {
			e.fault(views.FieldScheduleTimes, "schedule.err.times")
		}
		if len(out) > store.MostStarts {
			e.fault(views.FieldScheduleTimes, "schedule.err.too_many_times", "most", store.MostStarts)
		}
		for i := 1; i < len(out); i++ {
			if duration > time.Duration(out[i]-out[i-1])*time.Minute {
				e.fault(views.FieldScheduleTimes, "schedule.err.close", "a", store.ClockText(out[i-1]), "b", store.ClockText(out[i]))
			}
		}
	case "hours":
		opens, closes := e.clock(views.FieldScheduleOpens, f.opens), e.clock(views.FieldScheduleCloses, f.closes)
		step := int(duration / time.Minute)
		if f.step != "" {
			step = e.whole(views.FieldScheduleStep, f.step, 1, 24*60, "schedule.err.number")
			if time.Duration(step)*time.Minute < duration {
				e.fault(views.FieldScheduleStep, "schedule.err.step")
			}
		}
		if out = store.EveryMinutes(opens, closes, step, duration); len(out) == 0 {
			e.fault(views.FieldScheduleCloses, "schedule.err.closes")
		}
	default:
		e.fault(views.FieldScheduleBy, "schedule.err.by")
	}
	return out
}

// freshSchedule is the form before anything was typed.
func freshSchedule(t store.Tenant, n names, now time.Time) scheduleForm {
	f := scheduleForm{freq: string(store.Weekly), every: "1", by: "times", closed: true, first: now.In(t.Location()).AddDate(0, 0, 1).Format(time.DateOnly), errs: formErrors{}}
	for _, sv := range n.services {
		if sv.Active {
			f.service, f.capacity = sv.ID, strconv.Itoa(sv.Capacity)
			break
		}
	}
	for _, r := range n.resources {
		if r.Active {
			f.resource = r.ID
			break
		}
	}
	return f
}

// typedSchedule writes a stored schedule as it could have been typed.
func typedSchedule(c store.Schedule) scheduleForm {
	f := scheduleForm{
		service: c.ServiceID, resource: c.ResourceID, capacity: strconv.Itoa(c.Capacity), by: "times", first: c.First, until: c.Until,
		days: strings.Join(c.Except, "\n"), closed: c.SkipClosed, holidays: c.SkipHolidays, errs: formErrors{},
	}
	var times []string
	for _, m := range c.Starts {
		times = append(times, store.ClockText(m))
	}
	f.times = strings.Join(times, ", ")
	p, ok := store.PartsOf(c.Rule)
	if !ok {
		return f
	}
	f.freq, f.every = string(p.Frequency), strconv.Itoa(p.Every)
	switch p.Frequency {
	case store.Weekly:
		for _, d := range p.Weekdays {
			f.weekdays = append(f.weekdays, strconv.Itoa(int(d)))
		}
	case store.MonthlyDay:
		f.monthDay = strconv.Itoa(p.MonthDay)
	case store.MonthlyNth:
		f.nth, f.nthDay = strconv.Itoa(p.Nth), strconv.Itoa(int(p.Weekdays[0]))
	}
	return f
}

// The nth weekdays that a form offers.
var nths = []int{1, 2, 3, 4, 5, -1}

// clockChanges reports whether the clocks of a place go forward and back in the
// year of a day.
func clockChanges(loc *time.Location, day string) bool {
	at, err := time.ParseInLocation(time.DateOnly, day, loc)
	if err != nil {
		return false
	}
	_, winter := time.Date(at.Year(), time.January, 1, 12, 0, 0, 0, loc).Zone()
	_, summer := time.Date(at.Year(), time.July, 1, 12, 0, 0, 0, loc).Zone()
	return winter != summer
}

func (f scheduleForm) view(ctx context.Context, t store.Tenant, n names) views.StaffScheduleForm {
	v := views.StaffScheduleForm{
		ActionURL: views.StaffSchedulePreviewURL(t.Slug), Services: n.serviceOptions(ctx, f.service, ""), Resources: n.resourceOptions(ctx, f.resource, ""),
		Every: f.every, Weekdays: weekdayOptions(ctx, f.weekdays, true), MonthDay: f.monthDay, NthDays: weekdayOptions(ctx, []string{f.nthDay}, false),
		Times: f.times, Opens: f.opens, Closes: f.closes, Step: f.step, First: f.first, Until: f.until, Except: f.days, Capacity: f.capacity,
		Closed: f.closed, Holidays: f.holidays, HasHolidays: japanese(t), From: f.from, Errs: f.errs.in(ctx),
		ClockChanges: clockChanges(t.Location(), f.first),
	}
	for _, freq := range []store.Frequency{store.Weekly, store.Daily, store.MonthlyDay, store.MonthlyNth} {
		v.Freqs = append(v.Freqs, views.Option{Value: string(freq), Text: i18n.T(ctx, i18n.Key("schedule.freq."+string(freq))), Selected: f.freq == string(freq)})
	}
	for _, by := range []string{"times", "hours"} {
		v.Bys = append(v.Bys, views.Option{Value: by, Text: i18n.T(ctx, i18n.Key("schedule.by."+by)), Selected: f.by == by})
	}
	for _, nth := range nths {
		v.Nths = append(v.Nths, views.Option{Value: strconv.Itoa(nth), Text: nthText(ctx, nth), Selected: f.nth == strconv.Itoa(nth)})
	}
	return v
}

func japanese(t store.Tenant) bool { return region(t) == "JP" }

func nthText(ctx context.Context, nth int) string {
	if nth < 0 {
		return i18n.T(ctx, "schedule.nth.last")
	}
	return i18n.T(ctx, i18n.Key("schedule.nth."+strconv.Itoa(nth)))
}

// weekdayOptions are the days of the week, Monday first.
func weekdayOptions(ctx context.Context, chosen []string, short bool) []views.Option {
	var out []views.Option
	for i := 1; i <= 7; i++ {
		day := time.Weekday(i % 7)
		o := views.Option{Value: strconv.Itoa(int(day)), Text: i18n.In(ctx).WeekdayLong(day)}
		if short {
			o.Text = i18n.In(ctx).Weekday(day)
		}
		o.Selected = slices.Contains(chosen, o.Value)
		out = append(out, o)
	}
	return out
}

func (n names) serviceOf(id string) (store.Service, bool) {
	at := slices.IndexFunc(n.services, func(s store.Service) bool { return s.ID == id })
	if at < 0 {
		return store.Service{}, false
	}
	return n.services[at], true
}

func (n names) resourceOf(id string) (store.Resource, bool) {
	at := slices.IndexFunc(n.resources, func(r store.Resource) bool { return r.ID == id })
	if at < 0 {
		return store.Resource{}, false
	}
	return n.resources[at], true
}

// serviceOptions are the services to choose from; all, if named, chooses none of them.
func (n names) serviceOptions(ctx context.Context, chosen string, all i18n.Key) []views.Option {
	var out []views.Option
	if all != "" {
		out = append(out, views.Option{Text: i18n.T(ctx, all), Selected: chosen == ""})
	}
	for _, sv := range n.services {
		if sv.Active || sv.ID == chosen || all != "" {
			text := i18n.T(ctx, "schedule.service", "name", sv.Name.In(i18n.Lang(ctx)), "time", i18n.In(ctx).Duration(sv.Duration))
			out = append(out, views.Option{Value: sv.ID, Text: text, Selected: sv.ID == chosen})
		}
	}
	return out
}

func (n names) resourceOptions(ctx context.Context, chosen string, all i18n.Key) []views.Option {
	var out []views.Option
	if all != "" {
		out = append(out, views.Option{Text: i18n.T(ctx, all), Selected: chosen == ""})
	}
	for _, r := range n.resources {
		if !r.Active && r.ID != chosen && all == "" {
			continue
		}
		out = append(out, views.Option{Value: r.ID, Text: r.Name.In(i18n.Lang(ctx)), Selected: r.ID == chosen})
	}
	return out
}

// scheduleParam is the schedule of the path.
func (s *Server) scheduleParam(r *http.Request) (store.ListedSchedule, error) {
	id := chi.URLParam(r, "schedule")
	if !store.ValidID(id) {
		return store.ListedSchedule{}, store.NotFound
	}
	return s.store.ScheduleWithCounts(r.Context(), venue(r).ID, id)
}
