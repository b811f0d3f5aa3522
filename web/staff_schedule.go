package web

import (
	"context"
	"crypto/rand"
	"encoding/hex"
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
	if first, err := time.ParseInLocation(time.DateOnly, res.First, t.Location()); err == nil && res.Made > 0 {
		v.Lines = append(v.Lines, views.StaffResultLine{
			Text: i18n.T(ctx, "schedule.did.first", "day", i18n.In(ctx).DateShort(first, t.Location())), URL: views.StaffDayURL(t.Slug, res.First),
		})
	}
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
