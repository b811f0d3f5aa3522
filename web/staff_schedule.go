package web

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// How much of a plan a page lists.
const (
	skipsListed = 60
	busyShown   = 100 // slots with people
	namesShown  = 3   // of each
)

// resultFresh is how long what a press did stands on top.
const resultFresh = 5 * time.Minute

// newKey makes the id that a form gives to what it will make.
func newKey() string {
	var b [16]byte
	// Read never fails, as its documentation says.
	_, _ = rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

func (s *Server) scheduleTabs(ctx context.Context, t store.Tenant, current string) []views.StaffScheduleTab {
	var out []views.StaffScheduleTab
	for _, tab := range []struct{ key, url string }{
		{"list", views.StaffSchedulesURL(t.Slug)},
		{"new", views.StaffScheduleNewURL(t.Slug, nil)},
		{"slot", views.StaffScheduleSlotURL(t.Slug, "")},
		{"copy", views.StaffScheduleCopyURL(t.Slug, nil)},
		{"seats", views.StaffScheduleSeatsURL(t.Slug, nil)},
	} {
		out = append(out, views.StaffScheduleTab{Text: i18n.T(ctx, i18n.Key("schedule.tab."+tab.key)), URL: tab.url, Current: tab.key == current})
	}
	return out
}

func (s *Server) getSchedules(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	n, err := s.loadNames(ctx, t.ID)
	if err != nil {
		return err
	}
	schedules, err := s.store.Schedules(ctx, t.ID)
	if err != nil {
		return err
	}
	v := views.StaffSchedulesPage{Tabs: s.scheduleTabs(ctx, t, "list"), NewURL: views.StaffScheduleNewURL(t.Slug, nil)}
	if len(n.services) == 0 || len(n.resources) == 0 {
		v.Missing = i18n.T(ctx, "schedule.nothing_to_schedule")
	}
	for _, c := range schedules {
		v.Items = append(v.Items, scheduleItem(ctx, t, n, c))
	}
	if v.Page, v.Staff, err = s.staffPage(r, "settings", i18n.T(ctx, "schedule.title"), views.StaffSchedulesURL(t.Slug)); err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, views.StaffSchedules(v))
}

// dateOf writes a calendar day.
func dateOf(ctx context.Context, day string, short bool) string {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return day
	}
	if short {
		return i18n.In(ctx).DateShort(at, time.UTC)
	}
	return i18n.In(ctx).Date(at, time.UTC)
}

func scheduleItem(ctx context.Context, t store.Tenant, n names, c store.ListedSchedule) views.StaffScheduleItem {
	lang := i18n.Lang(ctx)
	service, _ := n.serviceOf(c.ServiceID)
	resource, _ := n.resourceOf(c.ResourceID)
	v := views.StaffScheduleItem{
		ID: c.ID, URL: views.StaffScheduleURL(t.Slug, c.ID, nil), Service: service.Name.In(lang), Resource: resource.Name.In(lang),
		Rule: ruleText(ctx, c.Rule), Times: timesText(ctx, c.Starts), State: string(c.State), Unfinished: c.Pending != nil,
	}
	switch {
	case c.Until == "":
		v.Span = i18n.T(ctx, "schedule.span.open", "from", dateOf(ctx, c.First, false))
	case c.Until == c.First:
		v.Span = dateOf(ctx, c.First, false)
	default:
		v.Span = i18n.T(ctx, "schedule.span", "from", dateOf(ctx, c.First, false), "until", dateOf(ctx, c.Until, false))
	}
	if c.Until == "" && c.MadeUntil != "" && c.State == store.ScheduleActive {
		v.Span += " " + i18n.T(ctx, "schedule.span.made", "until", dateOf(ctx, c.MadeUntil, true))
	}
	v.Span += " " + i18n.T(ctx, "schedule.seats", "n", c.Capacity)
	if c.State != store.ScheduleActive && c.State != "" {
		v.StateText = i18n.T(ctx, i18n.Key("schedule.state."+string(c.State)))
	}
	switch {
	case c.State == "":
	case c.Next == nil:
		v.Coming = i18n.T(ctx, "schedule.coming.none")
	default:
		v.Coming = i18n.T(ctx, "schedule.coming", "n", c.Coming, "time", i18n.In(ctx).DateTimeShort(*c.Next, t.Location()))
	}
	return v
}

// ruleText says which days a rule means.
func ruleText(ctx context.Context, rule string) string {
	p, ok := store.PartsOf(rule)
	if !ok {
		return rule
	}
	many := ""
	if p.Every > 1 {
		many = "_n"
	}
	args := []any{"n", p.Every}
	switch p.Frequency {
	case store.Weekly:
		var days []string
		for i := 1; i <= 7; i++ {
			if day := time.Weekday(i % 7); slices.Contains(p.Weekdays, day) {
				days = append(days, i18n.In(ctx).Weekday(day))
			}
		}
		args = append(args, "days", strings.Join(days, i18n.T(ctx, "schedule.days.list")))
	case store.MonthlyDay:
		args = append(args, "day", strconv.Itoa(p.MonthDay))
	case store.MonthlyNth:
		args = append(args, "nth", nthText(ctx, p.Nth), "day", i18n.In(ctx).WeekdayLong(p.Weekdays[0]))
	}
	return i18n.T(ctx, i18n.Key("schedule.rule."+string(p.Frequency)+many), args...)
}

// timesText says at what times of the day; many are told by the first, the last and their number.
func timesText(ctx context.Context, starts []int) string {
	if len(starts) > 6 {
		return i18n.T(ctx, "schedule.times.many", "first", store.ClockText(starts[0]), "last", store.ClockText(starts[len(starts)-1]), "n", len(starts))
	}
	var out []string
	for _, m := range starts {
		out = append(out, store.ClockText(m))
	}
	return strings.Join(out, i18n.T(ctx, "schedule.list"))
}

func (s *Server) getScheduleNew(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	n, err := s.loadNames(ctx, t.ID)
	if err != nil {
		return err
	}
	f := freshSchedule(t, n, s.now())
	if r.URL.Query().Has(views.FieldScheduleFreq) {
		f = decodeSchedule(queryForm(r))
		f.errs = formErrors{}
	}
	return s.scheduleNewPage(w, r, http.StatusOK, n, f)
}

func (s *Server) scheduleNewPage(w http.ResponseWriter, r *http.Request, status int, n names, f scheduleForm) error {
	ctx, t := r.Context(), venue(r)
	form := f.view(ctx, t, n)
	v := views.StaffSchedulePage{Tabs: s.scheduleTabs(ctx, t, "new"), Title: i18n.T(ctx, "schedule.new.title"), Form: &form}
	if len(n.services) == 0 || len(n.resources) == 0 {
		return s.see(w, r, views.StaffSchedulesURL(t.Slug), "")
	}
	var err error
	if v.Page, v.Staff, err = s.staffPage(r, "settings", v.Title, views.StaffScheduleNewURL(t.Slug, nil)); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffSchedule(v))
}

// tooMany puts a rule that makes too many slots beside its last day.
func tooMany(err error, errs formErrors) bool {
	if errors.Is(err, store.ErrTooManyOccurrences) {
		errs.fault(views.FieldScheduleUntil, "schedule.err.too_many", "most", store.MostOccurrences)
		return true
	}
	return false
}

func (s *Server) getSchedulePreview(w http.ResponseWriter, r *http.Request) error {
	n, err := s.loadNames(r.Context(), venue(r).ID)
	if err != nil {
		return err
	}
	return s.schedulePreviewPage(w, r, http.StatusOK, n, decodeSchedule(queryForm(r)), "", "")
}

// schedulePreviewPage says what a new schedule would make; what can't be read leads back to its form.
func (s *Server) schedulePreviewPage(w http.ResponseWriter, r *http.Request, status int, n names, f scheduleForm, key, problem string) error {
	ctx, t := r.Context(), venue(r)
	c := f.check(t, n)
	var plan store.Plan
	if len(f.errs) == 0 {
		var err error
		if plan, err = s.store.PreviewSchedule(ctx, c); err != nil && !tooMany(err, f.errs) {
			return err
		}
	}
	if len(f.errs) > 0 {
		return s.scheduleNewPage(w, r, http.StatusUnprocessableEntity, n, f)
	}
	typed := f.values()
	v := views.StaffSchedulePreviewPage{
		Tabs: s.scheduleTabs(ctx, t, "new"), Title: i18n.T(ctx, "schedule.preview.title"), Item: scheduleItem(ctx, t, n, store.ListedSchedule{Schedule: c}),
		Problem: problem, BackURL: views.StaffScheduleNewURL(t.Slug, typed),
	}
	var err error
	if v.Plan, err = planView(ctx, t, n, c, plan); err != nil {
		return err
	}
	if !store.ValidID(key) {
		key = newKey()
	}
	fill(ctx, &v, plan, plan.Count("") > 0 || c.Until == "" && plan.Count(store.SkipOverlap) == 0, false)
	if v.ActionURL = views.StaffSchedulesURL(t.Slug); v.Press == "" {
		v.ActionURL = ""
	}
	typed.Set(views.FieldIdempotencyKey, key)
	typed.Set(views.FieldSchedulePlan, plan.Print)
	if v.Others != "" {
		typed.Set(views.FieldScheduleOthers, "1")
	}
	v.Hidden = hiddenOf(typed)
	if v.Page, v.Staff, err = s.staffPage(r, "settings", v.Title, v.BackURL); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffSchedulePreview(v))
}

// fill says what the button does, and that some overlap.
func fill(ctx context.Context, v *views.StaffSchedulePreviewPage, plan store.Plan, possible, change bool) {
	overlaps := plan.Count(store.SkipOverlap) + plan.Count(store.SkipSelf)
	switch make := plan.Count(""); {
	case !possible:
	case change:
		v.Press = i18n.T(ctx, "schedule.press.change")
	case overlaps > 0:
		v.Press = i18n.T(ctx, "schedule.press.others", "n", make)
	default:
		v.Press = i18n.T(ctx, "schedule.press.make", "n", make)
	}
	if overlaps > 0 && v.Press != "" {
		v.Others = i18n.T(ctx, "schedule.others", "n", overlaps)
	}
}

// planView lists what would be made by month and day, and what not, with the reason.
func planView(ctx context.Context, t store.Tenant, n names, c store.Schedule, plan store.Plan) (views.StaffSchedulePlan, error) {
	v := planLines(ctx, t, n, plan)
	if c.Rule == "" {
		return v, nil
	}
	months, err := c.PassedMonths(c.First, plan.Through)
	if err != nil {
		return v, err
	}
	if len(months) > 0 {
		var texts []string
		for _, m := range months[:min(len(months), 12)] {
			at, err := time.Parse("2006-01", m)
			if err != nil {
				return v, err
			}
			texts = append(texts, i18n.In(ctx).MonthShort(at, time.UTC))
		}
		v.Notes = append(v.Notes, i18n.T(ctx, "schedule.note.months", "months", strings.Join(texts, i18n.T(ctx, "schedule.list"))))
	}
	if c.Until == "" {
		v.Notes = append(v.Notes, i18n.T(ctx, "schedule.note.open", "until", dateOf(ctx, plan.Through, false)))
	}
	return v, nil
}

// The reasons that are counted above the list, in order.
var skipReasons = []store.SkipReason{
	store.SkipOverlap, store.SkipSelf, store.SkipClosed, store.SkipHoliday, store.SkipPast, store.SkipClock, store.SkipThere,
}

func planLines(ctx context.Context, t store.Tenant, n names, plan store.Plan) views.StaffSchedulePlan {
	lang, cat, loc := i18n.Lang(ctx), i18n.In(ctx), t.Location()
	v := views.StaffSchedulePlan{N: plan.Count("")}
	v.Make = i18n.T(ctx, "schedule.make", "n", v.N)
	for _, why := range skipReasons {
		if n := plan.Count(why); n > 0 {
			v.Notes = append(v.Notes, i18n.T(ctx, i18n.Key("schedule.count."+string(why)), "n", n))
		}
	}
	var month *views.StaffScheduleMonth
	more, in := 0, 0
	closeMonth := func() {
		if month != nil {
			month.Count = i18n.T(ctx, "schedule.month.count", "n", in)
		}
	}
	var day string
	var slots []store.PlannedSlot
	closeDay := func() {
		if len(slots) == 0 {
			return
		}
		at, err := time.Parse(time.DateOnly, slots[0].Day)
		if err != nil {
			return
		}
		if heading := cat.Month(at, time.UTC); month == nil || month.Heading != heading {
			closeMonth()
			v.Months = append(v.Months, views.StaffScheduleMonth{Heading: heading})
			month, in = &v.Months[len(v.Months)-1], 0
		}
		in += len(slots)
		d := views.StaffScheduleDay{Date: cat.DateShort(at, time.UTC)}
		if len(slots) <= 3 {
			var times []string
			for _, slot := range slots {
				times = append(times, cat.TimeRange(slot.StartsAt, slot.EndsAt, loc))
			}
			d.Times = strings.Join(times, i18n.T(ctx, "schedule.list"))
		} else {
			last := slots[len(slots)-1]
			d.Times = i18n.T(ctx, "schedule.day.many", "first", cat.TimeRange(slots[0].StartsAt, slots[0].EndsAt, loc), "last", cat.TimeRange(last.StartsAt, last.EndsAt, loc), "n", len(slots))
		}
		for _, slot := range slots {
			if slot.Clock != store.ClockPlain {
				d.Note = i18n.T(ctx, i18n.Key("schedule.clock."+string(slot.Clock)), "time", store.ClockText(slot.Minute), "start", cat.Time(slot.StartsAt, loc))
				break
			}
		}
		month.Days = append(month.Days, d)
		slots = nil
	}
	for _, slot := range plan.Slots {
		if slot.Why == "" {
			if slot.Day != day {
				closeDay()
				day = slot.Day
			}
			slots = append(slots, slot)
			continue
		}
		if slot.Why == store.SkipThere {
			continue
		}
		if len(v.Skipped) == skipsListed {
			more++
			continue
		}
		skip := views.StaffScheduleSkip{When: dateOf(ctx, slot.Day, true) + " " + store.ClockText(slot.Minute)}
		switch note := slot.Note.In(lang); {
		case slot.With != nil:
			service, _ := n.serviceOf(slot.With.ServiceID)
			skip.Why = i18n.T(ctx, "schedule.why.overlap", "time", cat.DateTimeRangeShort(slot.With.StartsAt, slot.With.EndsAt, loc), "name", service.Name.In(lang))
			skip.URL = views.StaffSlotURL(t.Slug, slot.With.ID)
			if slot.With.ServiceID == "" { // a slot of this schedule, at its new time
				skip.Why, skip.URL = i18n.T(ctx, "schedule.why.self"), views.StaffSlotURL(t.Slug, slot.With.ID)
			}
		case note != "":
			skip.Why = i18n.T(ctx, i18n.Key("schedule.why."+string(slot.Why)+"_named"), "name", note)
		default:
			skip.Why = i18n.T(ctx, i18n.Key("schedule.why."+string(slot.Why)))
		}
		v.Skipped = append(v.Skipped, skip)
	}
	closeDay()
	closeMonth()
	if more > 0 {
		v.MoreSkipped = i18n.T(ctx, "schedule.more", "n", more)
	}
	return v
}

// planRefusal says why nothing was made, in the words of plans; empty for what is no such refusal.
func (s *Server) planRefusal(r *http.Request, err error) (string, int) {
	var o store.Outcome
	if !errors.As(err, &o) || o != store.Conflict && o != store.Overlaps {
		return "", 0
	}
	s.noteRefusal(r, o)
	return i18n.T(r.Context(), i18n.Key("schedule.refused."+string(o))), http.StatusConflict
}

func (s *Server) postSchedule(w http.ResponseWriter, r *http.Request) error {
	body, err := s.form(w, r)
	if err != nil {
		return err
	}
	ctx, t := r.Context(), venue(r)
	n, err := s.loadNames(ctx, t.ID)
	if err != nil {
		return err
	}
	f := decodeSchedule(body)
	key, print := body.text(views.FieldIdempotencyKey, longestKey), body.text(views.FieldSchedulePlan, 80)
	others := body.text(views.FieldScheduleOthers, 1) == "1"
	c := f.check(t, n)
	if len(f.errs) > 0 {
		f.errs.hidden(views.FieldIdempotencyKey, views.FieldSchedulePlan, views.FieldScheduleOthers)
		return s.scheduleNewPage(w, r, http.StatusUnprocessableEntity, n, f)
	}
	if c.ID = strings.ToLower(key); !store.ValidID(c.ID) {
		s.noteRefusal(r, store.Conflict)
		return s.schedulePreviewPage(w, r, http.StatusConflict, n, f, "", i18n.T(ctx, "schedule.refused.conflict"))
	}
	made, err := s.store.CreateSchedule(ctx, store.NewSchedule{Schedule: c, Print: print, Others: others})
	if problem, status := s.planRefusal(r, err); problem != "" {
		return s.schedulePreviewPage(w, r, status, n, f, key, problem)
	}
	if tooMany(err, f.errs) {
		return s.scheduleNewPage(w, r, http.StatusUnprocessableEntity, n, f)
	}
	if err != nil {
		return err
	}
	return s.see(w, r, views.StaffScheduleURL(t.Slug, made.ID, nil), "")
}

func (s *Server) getSchedule(w http.ResponseWriter, r *http.Request) error {
	c, err := s.scheduleParam(r)
	if err != nil {
		return err
	}
	f := typedSchedule(c.Schedule)
	if q := queryForm(r); q.values.Has(views.FieldScheduleFreq) {
		f = decodeSchedule(q)
		f.errs = formErrors{}
	}
	return s.schedulePage(w, r, http.StatusOK, c, f)
}

// schedulePage shows a stored schedule, and the form that changes it as typed.
func (s *Server) schedulePage(w http.ResponseWriter, r *http.Request, status int, c store.ListedSchedule, f scheduleForm) error {
	ctx, t := r.Context(), venue(r)
	n, err := s.loadNames(ctx, t.ID)
	if err != nil {
		return err
	}
	item := scheduleItem(ctx, t, n, c)
	v := views.StaffSchedulePage{Tabs: s.scheduleTabs(ctx, t, ""), Title: item.Service, Item: &item}
	if c.Result != nil {
		result := scheduleResult(ctx, t, c.Schedule)
		v.Result, v.Fresh = &result, s.now().Sub(c.Result.At).Abs() < resultFresh
	}
	switch {
	case c.Pending != nil:
		left := 0
		if c.Result != nil {
			left = c.Result.Left
		}
		v.ContinueURL, v.Left = views.StaffScheduleContinueURL(t.Slug, c.ID), i18n.T(ctx, "schedule.unfinished.left", "n", left)
	case c.State != store.ScheduleEnded:
		service, _ := n.serviceOf(c.ServiceID)
		f.service = service.ID
		if f.from == "" {
			f.from = s.now().In(t.Location()).Format(time.DateOnly)
		}
		form := f.view(ctx, t, n)
		form.Editing, form.ActionURL = true, views.StaffScheduleChangeURL(t.Slug, c.ID)
		v.Form = &form
		v.DeleteURL = views.StaffScheduleDeleteURL(t.Slug, c.ID)
		if c.State == store.ScheduleActive {
			plan, err := s.store.PreviewSchedule(ctx, c.Schedule)
			if err != nil && !errors.Is(err, store.ErrTooManyOccurrences) {
				return err
			}
			missing := plan.Count("") + plan.Count(store.SkipOverlap) + plan.Count(store.SkipSelf)
			if missing > 0 {
				v.Missing = i18n.T(ctx, "schedule.missing", "n", missing)
				plan.Slots = slices.DeleteFunc(plan.Slots, func(p store.PlannedSlot) bool { return p.With == nil && p.Why != store.SkipSelf })
				v.Skipped = planLines(ctx, t, n, plan).Skipped
				v.RunURL = views.StaffScheduleRunURL(t.Slug, c.ID)
			}
		}
	}
	if v.Page, v.Staff, err = s.staffPage(r, "settings", v.Title, views.StaffScheduleURL(t.Slug, c.ID, nil)); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffSchedule(v))
}

// scheduleResult says what the last press did.
func scheduleResult(ctx context.Context, t store.Tenant, c store.Schedule) views.StaffResult {
	res := c.Result
	v := views.StaffResult{Title: i18n.T(ctx, "schedule.result", "time", i18n.In(ctx).DateTimeShort(res.At, t.Location()))}
	line := func(key i18n.Key, n int) {
		if n > 0 {
			v.Lines = append(v.Lines, views.StaffResultLine{Text: i18n.T(ctx, key, "n", n)})
		}
	}
	line("schedule.did.made", res.Made)
	line("schedule.did.moved", res.Moved)
	line("schedule.did.resized", res.Resized)
	line("schedule.did.cancelled", res.Cancelled)
	line("schedule.did.told", res.Told)
	line("schedule.did.kept", res.Kept)
	line("schedule.did.overlaps", len(res.Overlaps))
	for _, failed := range res.Failed[:min(len(res.Failed), 20)] {
		v.Lines = append(v.Lines, views.StaffResultLine{
			Text: i18n.T(ctx, "schedule.did.failed", "why", i18n.T(ctx, i18n.Key("staff.refused."+string(failed.Why)))), URL: views.StaffSlotURL(t.Slug, failed.Slot),
		})
	}
	if len(v.Lines) == 0 {
		v.Lines = append(v.Lines, views.StaffResultLine{Text: i18n.T(ctx, "schedule.did.nothing")})
	}
	return v
}

func (s *Server) getScheduleChange(w http.ResponseWriter, r *http.Request) error {
	c, err := s.scheduleParam(r)
	if err != nil {
		return err
	}
	return s.scheduleChangePage(w, r, http.StatusOK, c, decodeSchedule(queryForm(r)), changePress{})
}

// changePress is what came with the press on a preview.
type changePress struct {
	problem, choice, reason, key string
	errs                         formErrors
}

func (f scheduleForm) change(t store.Tenant, n names, c store.ListedSchedule) store.ScheduleChange {
	f.service = c.ServiceID
	req := store.ScheduleChange{Schedule: f.check(t, n), From: f.errs.day(views.FieldScheduleFrom, f.from, "schedule.err.day")}
	req.ID, req.Version = c.ID, c.Version
	return req
}

func (s *Server) scheduleChangePage(w http.ResponseWriter, r *http.Request, status int, c store.ListedSchedule, f scheduleForm, press changePress) error {
	ctx, t := r.Context(), venue(r)
	n, err := s.loadNames(ctx, t.ID)
	if err != nil {
		return err
	}
	if c.Pending != nil || c.State == store.ScheduleEnded {
		return s.see(w, r, views.StaffScheduleURL(t.Slug, c.ID, nil), "")
	}
	req := f.change(t, n, c)
	var plan store.ChangePlan
	if len(f.errs) == 0 {
		if plan, err = s.store.PreviewScheduleChange(ctx, req); err != nil && !tooMany(err, f.errs) {
			return err
		}
	}
	if len(f.errs) > 0 {
		return s.schedulePage(w, r, http.StatusUnprocessableEntity, c, f)
	}
	typed := f.values()
	typed.Del(views.FieldScheduleService)
	v := views.StaffSchedulePreviewPage{
		Tabs: s.scheduleTabs(ctx, t, ""), Title: i18n.T(ctx, "schedule.change.title", "day", dateOf(ctx, req.From, false)),
		Item: scheduleItem(ctx, t, n, store.ListedSchedule{Schedule: req.Schedule}), Problem: press.problem, BackURL: views.StaffScheduleURL(t.Slug, c.ID, typed),
	}
	v.Item.Service = scheduleItem(ctx, t, n, c).Service
	if plan.Split {
		v.Split = i18n.T(ctx, "schedule.change.split", "day", dateOf(ctx, req.From, false))
	}
	if v.Plan, err = planView(ctx, t, n, req.Schedule, plan.Plan); err != nil {
		return err
	}
	v.Effects = effects(ctx, plan)
	if err := s.peopleOf(ctx, t, plan, &v); err != nil {
		return err
	}
	if plan.Touched() > 0 || len(press.errs) > 0 {
		for _, choice := range store.ChangeChoices {
			v.Choices = append(v.Choices, views.Option{Value: string(choice), Text: i18n.T(ctx, i18n.Key("schedule.choice."+string(choice))), Selected: press.choice == string(choice)})
		}
	}
	faults := press.errs.in(ctx)
	v.ChoiceErr, v.Reason = faults[views.FieldScheduleChoice], views.StaffReasonForm{Reason: press.reason, Err: faults[views.FieldReason]}
	fill(ctx, &v, plan.Plan, true, true)
	v.ActionURL = views.StaffScheduleChangeURL(t.Slug, c.ID)
	if press.key == "" {
		press.key = newKey()
	}
	typed.Set(views.FieldIdempotencyKey, press.key)
	typed.Set(views.FieldSchedulePlan, plan.Plan.Print)
	typed.Set(views.FieldVersion, strconv.Itoa(c.Version))
	if v.Others != "" {
		typed.Set(views.FieldScheduleOthers, "1")
	}
	v.Hidden = hiddenOf(typed)
	if v.Page, v.Staff, err = s.staffPage(r, "settings", v.Title, v.BackURL); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffSchedulePreview(v))
}

// effects say what a change does to the slots that are there.
func effects(ctx context.Context, plan store.ChangePlan) []views.StaffConsequence {
	var out []views.StaffConsequence
	add := func(kind string, key i18n.Key, n int) {
		if n > 0 {
			out = append(out, views.StaffConsequence{Kind: kind, Text: i18n.T(ctx, key, "n", n)})
		}
	}
	add("offer", "schedule.effect.move", plan.Count(store.EffectMove, false))
	add("offer", "schedule.effect.resize", plan.Count(store.EffectResize, false)+plan.Count(store.EffectResize, true))
	add("warn", "schedule.effect.remove", plan.Count(store.EffectRemove, false))
	add("mail", "schedule.effect.people", plan.Touched())
	return out
}

// peopleOf lists the slots with people whose time changes or ends, with the first names of each.
func (s *Server) peopleOf(ctx context.Context, t store.Tenant, plan store.ChangePlan, v *views.StaffSchedulePreviewPage) error {
	cat, loc := i18n.In(ctx), t.Location()
	var ids []string
	for _, slot := range plan.Slots {
		if slot.People() && slot.Effect != store.EffectResize && len(ids) < busyShown {
			ids = append(ids, slot.ID)
		}
	}
	who, err := s.store.WhoIsIn(ctx, t.ID, ids, namesShown)
	if err != nil {
		return err
	}
	for _, slot := range plan.Slots {
		if !slices.Contains(ids, slot.ID) {
			continue
		}
		line := views.StaffScheduleSlot{
			URL: views.StaffSlotURL(t.Slug, slot.ID), When: cat.DateTimeRangeShort(slot.StartsAt, slot.EndsAt, loc), Who: whoText(ctx, who[slot.ID]),
			What: i18n.T(ctx, "schedule.to.none"),
		}
		if slot.Effect == store.EffectMove {
			line.What = i18n.T(ctx, "schedule.to", "time", cat.DateTimeRangeShort(slot.To.StartsAt, slot.ToEnds, loc))
		}
		v.Slots = append(v.Slots, line)
	}
	if more := plan.Touched() - len(v.Slots); more > 0 {
		v.MoreSlots = i18n.T(ctx, "schedule.more", "n", more)
	}
	return nil
}

// whoText names the first parties of a slot and says how many more there are.
func whoText(ctx context.Context, who []store.InSlot) string {
	if len(who) == 0 {
		return ""
	}
	var out []string
	for _, w := range who {
		key := i18n.Key("schedule.who")
		if w.Waiting {
			key = "schedule.who.waiting"
		}
		out = append(out, i18n.T(ctx, key, "name", called(ctx, w.Name), "n", w.PartySize))
	}
	text := strings.Join(out, i18n.T(ctx, "schedule.list"))
	if more := who[0].Total - len(who); more > 0 {
		text += " " + i18n.T(ctx, "schedule.who.more", "n", more)
	}
	return text
}

func (s *Server) postScheduleChange(w http.ResponseWriter, r *http.Request) error {
	body, c, err := formFor(s, w, r, s.scheduleParam)
	if err != nil {
		return err
	}
	ctx, t := r.Context(), venue(r)
	n, err := s.loadNames(ctx, t.ID)
	if err != nil {
		return err
	}
	f := decodeSchedule(body)
	// What is typed into the preview itself stands beside its own field there;
	// what it gave along and is none of its own is another preview than this one.
	typed, along := form{values: body.values, errs: formErrors{}}, form{values: body.values, errs: formErrors{}}
	press := changePress{choice: typed.text(views.FieldScheduleChoice, 20), reason: typed.text(views.FieldReason, longestReason), errs: typed.errs}
	press.key = strings.ToLower(along.text(views.FieldIdempotencyKey, longestKey))
	print, others, version := along.text(views.FieldSchedulePlan, 80), along.text(views.FieldScheduleOthers, 1) == "1", along.version()
	req := f.change(t, n, c)
	if len(f.errs) > 0 {
		return errBadRequest // the preview gave the rule along as it was read; only a broken page sends another
	}
	req.Choice, req.Reason, req.Print, req.Others, req.NewID, req.Actor = store.ChangeChoice(press.choice), press.reason, print, others, press.key, me(r).actor(r)
	plan, err := s.store.PreviewScheduleChange(ctx, req)
	if tooMany(err, f.errs) {
		return errBadRequest
	}
	if err != nil {
		return err
	}
	switch {
	case slices.Contains(store.ChangeChoices, req.Choice):
	case plan.Touched() > 0 || req.Choice != "":
		press.errs.fault(views.FieldScheduleChoice, "schedule.err.choice")
	default:
		req.Choice = store.ChoiceKeep // nobody is concerned; who comes meanwhile stays
	}
	if len(press.errs) > 0 {
		return s.scheduleChangePage(w, r, http.StatusUnprocessableEntity, c, f, press)
	}
	req.Version = -1 // none that a schedule has
	switch {
	case !store.ValidID(req.NewID):
		press.key = ""
	case version != nil && len(along.errs) == 0:
		req.Version = int(*version)
	}
	changed, err := s.store.ChangeSchedule(ctx, req)
	if problem, status := s.planRefusal(r, err); problem != "" {
		// The same press once more finds the schedule that it made.
		if again, err := s.store.Schedule(ctx, t.ID, press.key); store.ValidID(press.key) && err == nil {
			return s.see(w, r, views.StaffScheduleURL(t.Slug, again.ID, nil), "")
		}
		if c, err = s.scheduleParam(r); err != nil {
			return err
		}
		press.problem, press.key = problem, ""
		return s.scheduleChangePage(w, r, status, c, f, press)
	}
	if err != nil {
		return err
	}
	return s.see(w, r, views.StaffScheduleURL(t.Slug, changed.ID, nil), "")
}

func (s *Server) postScheduleRun(w http.ResponseWriter, r *http.Request) error {
	if _, err := s.form(w, r); err != nil {
		return err
	}
	c, err := s.scheduleParam(r)
	if err != nil {
		return err
	}
	_, err = s.store.RunSchedule(r.Context(), venue(r).ID, c.ID)
	var o store.Outcome
	if errors.As(err, &o) && (o == store.Closed || o == store.Conflict) {
		s.noteRefusal(r, o) // the page says how it stands
		err = nil
	}
	if err != nil {
		return err
	}
	return s.see(w, r, views.StaffScheduleURL(venue(r).Slug, c.ID, nil), "")
}

func (s *Server) postScheduleContinue(w http.ResponseWriter, r *http.Request) error {
	if _, err := s.form(w, r); err != nil {
		return err
	}
	c, err := s.scheduleParam(r)
	if err != nil {
		return err
	}
	if _, err := s.store.ContinueSchedule(r.Context(), venue(r).ID, c.ID, me(r).actor(r)); err != nil {
		return err
	}
	return s.see(w, r, views.StaffScheduleURL(venue(r).Slug, c.ID, nil), "")
}

// The ways to end a schedule; stop only makes no new slots.
const endStop = "stop"

var endChoices = []string{endStop, string(store.ChoiceKeep), string(store.ChoiceCancel)}

func (s *Server) getScheduleDelete(w http.ResponseWriter, r *http.Request) error {
	c, err := s.scheduleParam(r)
	if err != nil {
		return err
	}
	return s.scheduleDeletePage(w, r, http.StatusOK, c, changePress{})
}

func (s *Server) scheduleDeletePage(w http.ResponseWriter, r *http.Request, status int, c store.ListedSchedule, press changePress) error {
	ctx, t := r.Context(), venue(r)
	if c.Pending != nil || c.State == store.ScheduleEnded {
		return s.see(w, r, views.StaffScheduleURL(t.Slug, c.ID, nil), "")
	}
	n, err := s.loadNames(ctx, t.ID)
	if err != nil {
		return err
	}
	plan, err := s.store.PreviewEndSchedule(ctx, t.ID, c.ID)
	if err != nil {
		return err
	}
	v := views.StaffSchedulePreviewPage{
		Tabs: s.scheduleTabs(ctx, t, ""), Title: i18n.T(ctx, "schedule.delete.title"), Item: scheduleItem(ctx, t, n, c), Problem: press.problem,
		BackURL: views.StaffScheduleURL(t.Slug, c.ID, nil), ActionURL: views.StaffScheduleDeleteURL(t.Slug, c.ID), Danger: true,
		Press: i18n.T(ctx, "schedule.press.delete"),
	}
	empty, full := plan.Count(store.EffectRemove, false), plan.Count(store.EffectRemove, true)
	v.Effects = []views.StaffConsequence{{Kind: "warn", Text: i18n.T(ctx, "schedule.effect.coming", "n", empty+full)}}
	if full > 0 {
		v.Effects = append(v.Effects, views.StaffConsequence{Kind: "mail", Text: i18n.T(ctx, "schedule.effect.full", "n", full)})
	}
	if err := s.peopleOf(ctx, t, plan, &v); err != nil {
		return err
	}
	for i := range v.Slots {
		v.Slots[i].What = ""
	}
	for _, choice := range endChoices {
		v.Choices = append(v.Choices, views.Option{Value: choice, Text: i18n.T(ctx, i18n.Key("schedule.end."+choice)), Selected: press.choice == choice})
	}
	faults := press.errs.in(ctx)
	v.ChoiceErr, v.Reason = faults[views.FieldScheduleChoice], views.StaffReasonForm{Reason: press.reason, Err: faults[views.FieldReason]}
	v.Hidden = hiddenOf(url.Values{views.FieldSchedulePlan: {plan.Plan.Print}, views.FieldVersion: {strconv.Itoa(c.Version)}})
	if v.Page, v.Staff, err = s.staffPage(r, "settings", v.Title, v.BackURL); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffSchedulePreview(v))
}

func (s *Server) postScheduleDelete(w http.ResponseWriter, r *http.Request) error {
	body, c, err := formFor(s, w, r, s.scheduleParam)
	if err != nil {
		return err
	}
	press := changePress{choice: body.text(views.FieldScheduleChoice, 20), reason: body.text(views.FieldReason, longestReason), errs: body.errs}
	print, version := body.text(views.FieldSchedulePlan, 80), body.version()
	if !slices.Contains(endChoices, press.choice) {
		body.errs.fault(views.FieldScheduleChoice, "schedule.err.choice")
	}
	if len(body.errs) > 0 {
		body.errs.hidden(views.FieldSchedulePlan, views.FieldVersion)
		if fault, bad := body.errs[""]; bad {
			press.problem = fault.In(r.Context())
		}
		return s.scheduleDeletePage(w, r, http.StatusUnprocessableEntity, c, press)
	}
	req := store.EndRequest{
		TenantID: venue(r).ID, ID: c.ID, Version: -1, Stop: press.choice == endStop, Choice: store.ChangeChoice(press.choice), Reason: press.reason,
		Print: print, Actor: me(r).actor(r),
	}
	if version != nil && *version >= 0 {
		req.Version = int(*version)
	}
	_, err = s.store.EndSchedule(r.Context(), req)
	if problem, status := s.planRefusal(r, err); problem != "" {
		if c, err = s.scheduleParam(r); err != nil {
			return err
		}
		press.problem = problem
		return s.scheduleDeletePage(w, r, status, c, press)
	}
	if err != nil {
		return err
	}
	return s.see(w, r, views.StaffScheduleURL(venue(r).Slug, c.ID, nil), "")
}
