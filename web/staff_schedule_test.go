package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
	"holdfast/views"
)

func init() {
	hidden := func(names ...string) []badField {
		var out []badField
		for _, name := range names {
			out = append(out, badField{name: name, kind: hiddenField})
		}
		return out
	}
	// The rule comes along hidden with the press on its preview; where it is wrong, its form stands again.
	rule := hidden(
		views.FieldScheduleResource, views.FieldCapacity, views.FieldScheduleFreq, views.FieldScheduleEvery, views.FieldScheduleBy, views.FieldScheduleTimes,
		views.FieldScheduleFirst, views.FieldScheduleUntil, views.FieldScheduleExcept, views.FieldSchedulePlan, views.FieldIdempotencyKey,
	)
	as := func(kind fieldKind, fields []badField) []badField {
		fields = slices.Clone(fields)
		for i := range fields {
			fields[i].kind = kind
		}
		return fields
	}
	choice := badField{name: views.FieldScheduleChoice, kind: choiceField}
	for route, f := range map[string]badForm{
		"/staff/{tenant}/schedules": {
			owner: true, fields: append(hidden(views.FieldScheduleService), rule...),
			fresh: func(t *testing.T, s *site) (string, url.Values) {
				return views.StaffSchedulesURL("shop"), s.previewed(t, newKey())
			},
		},
		"/staff/{tenant}/schedules/slot": {
			owner: true, fields: []badField{
				{name: views.FieldScheduleService, kind: choiceField},
				{name: views.FieldScheduleResource, kind: choiceField},
				{name: views.FieldScheduleDay, kind: textField, longest: longestDay},
				{name: views.FieldScheduleTime, kind: textField, longest: 20},
				{name: views.FieldCapacity, kind: numberField},
				{name: views.FieldIdempotencyKey, kind: hiddenField},
			},
			fresh: func(t *testing.T, s *site) (string, url.Values) {
				s.Start = s.Start.Add(2 * time.Hour)
				at := s.Start.In(s.Tenant.Location())
				return views.StaffScheduleSlotURL("shop", ""), url.Values{
					views.FieldScheduleService: {s.Service.ID}, views.FieldScheduleResource: {s.Resource.ID}, views.FieldScheduleDay: {at.Format(time.DateOnly)},
					views.FieldScheduleTime: {at.Format("15:04")}, views.FieldCapacity: {"5"}, views.FieldIdempotencyKey: {newKey()},
				}
			},
		},
		"/staff/{tenant}/schedules/copy": {
			owner: true, fields: hidden(views.FieldScheduleWeek, views.FieldScheduleInto, views.FieldScheduleWeeks, views.FieldScheduleService, views.FieldScheduleResource, views.FieldSchedulePlan, views.FieldIdempotencyKey),
			fresh: func(t *testing.T, s *site) (string, url.Values) {
				s.Start = s.Start.Add(7 * 24 * time.Hour)
				s.Slot(t, 3)
				week := mondayOf(s.Start.In(s.Tenant.Location()).Format(time.DateOnly))
				into := weekAfter(t, week)
				v := url.Values{views.FieldScheduleWeek: {week}, views.FieldScheduleInto: {into}, views.FieldScheduleWeeks: {"1"}, views.FieldIdempotencyKey: {newKey()}}
				plan, err := s.Store.PreviewCopy(t.Context(), store.CopyRequest{TenantID: s.Tenant.ID, From: week, To: into, Weeks: 1})
				if err != nil {
					t.Fatal(err)
				}
				v.Set(views.FieldSchedulePlan, plan.Print)
				if plan.Count(store.SkipOverlap) > 0 {
					v.Set(views.FieldScheduleOthers, "1")
				}
				return views.StaffScheduleCopyURL("shop", nil), v
			},
		},
		"/staff/{tenant}/schedules/seats": {
			owner: true, fields: hidden(views.FieldScheduleFirst, views.FieldScheduleUntil, views.FieldCapacity, views.FieldScheduleService, views.FieldScheduleResource, views.FieldSchedulePlan),
			fresh: func(t *testing.T, s *site) (string, url.Values) {
				slot := s.Slot(t, 3)
				day := slot.StartsAt.In(s.Tenant.Location()).Format(time.DateOnly)
				q := store.ResizeQuery{TenantID: s.Tenant.ID, First: day, Last: day}
				plan, err := s.Store.PreviewResize(t.Context(), q, 4, shop.Staff)
				if err != nil {
					t.Fatal(err)
				}
				return views.StaffScheduleSeatsURL("shop", nil), url.Values{
					views.FieldScheduleFirst: {day}, views.FieldScheduleUntil: {day}, views.FieldCapacity: {"4"}, views.FieldSchedulePlan: {plan.Print},
				}
			},
		},
		"/staff/{tenant}/schedules/{schedule}/change": {
			owner: true, fields: append(append(as(idField, hidden(views.FieldScheduleFrom)), as(idField, rule[:len(rule)-2])...), badField{name: views.FieldVersion, kind: hiddenField}, rule[len(rule)-2], rule[len(rule)-1], choice, reasonOf),
			fresh: func(t *testing.T, s *site) (string, url.Values) {
				c := s.scheduled(t)
				v := typedSchedule(c).values()
				v.Del(views.FieldScheduleService)
				v.Set(views.FieldScheduleFrom, c.First)
				v.Set(views.FieldScheduleTimes, "20:00")
				return views.StaffScheduleChangeURL("shop", c.ID), s.changeOf(t, c, v)
			},
		},
		"/staff/{tenant}/schedules/{schedule}/run": {
			owner: true, fresh: func(t *testing.T, s *site) (string, url.Values) {
				return views.StaffScheduleRunURL("shop", s.scheduled(t).ID), none()
			},
		},
		"/staff/{tenant}/schedules/{schedule}/continue": {
			owner: true, fresh: func(t *testing.T, s *site) (string, url.Values) {
				return views.StaffScheduleContinueURL("shop", s.scheduled(t).ID), none()
			},
		},
		"/staff/{tenant}/schedules/{schedule}/delete": {
			owner: true, fields: append(hidden(views.FieldVersion, views.FieldSchedulePlan), choice, reasonOf),
			fresh: func(t *testing.T, s *site) (string, url.Values) {
				c := s.scheduled(t)
				plan, err := s.Store.PreviewEndSchedule(t.Context(), s.Tenant.ID, c.ID)
				if err != nil {
					t.Fatal(err)
				}
				return views.StaffScheduleDeleteURL("shop", c.ID), url.Values{
					views.FieldVersion: {"1"}, views.FieldSchedulePlan: {plan.Plan.Print}, views.FieldScheduleChoice: {"cancel"}, views.FieldReason: {"終了"},
				}
			},
		},
	} {
		forms[route] = f
	}
}

func weekAfter(t *testing.T, day string) string {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		t.Fatal(err)
	}
	return at.AddDate(0, 0, 7).Format(time.DateOnly)
}

// previewed is the press on the preview of a schedule of two days.
func (s *site) previewed(t *testing.T, key string) url.Values {
	t.Helper()
	s.Start = s.Start.Add(72 * time.Hour)
	first := s.Start.In(s.Tenant.Location())
	f := freshSchedule(s.Tenant, names{services: []store.Service{s.Service}, resources: []store.Resource{s.Resource}}, s.Start)
	f.freq, f.times, f.first, f.until = "daily", "19:00", first.Format(time.DateOnly), first.AddDate(0, 0, 1).Format(time.DateOnly)
	plan, err := s.Store.PreviewSchedule(t.Context(), f.check(s.Tenant, names{services: []store.Service{s.Service}, resources: []store.Resource{s.Resource}}))
	if err != nil || len(f.errs) > 0 {
		t.Fatal(err, f.errs)
	}
	v := f.values()
	v.Set(views.FieldIdempotencyKey, key)
	v.Set(views.FieldSchedulePlan, plan.Print)
	return v
}

// scheduled is a stored schedule of two days.
func (s *site) scheduled(t *testing.T) store.Schedule {
	t.Helper()
	v := s.previewed(t, newKey())
	f := decodeSchedule(&form{values: v, errs: formErrors{}})
	c := f.check(s.Tenant, names{services: []store.Service{s.Service}, resources: []store.Resource{s.Resource}})
	c.ID = v.Get(views.FieldIdempotencyKey)
	made, err := s.Store.CreateSchedule(t.Context(), store.NewSchedule{Schedule: c, Print: v.Get(views.FieldSchedulePlan)})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (s *site) changeOf(t *testing.T, c store.Schedule, v url.Values) url.Values {
	t.Helper()
	f := decodeSchedule(&form{values: v, errs: formErrors{}})
	req := f.change(s.Tenant, names{services: []store.Service{s.Service}, resources: []store.Resource{s.Resource}}, store.ListedSchedule{Schedule: c})
	plan, err := s.Store.PreviewScheduleChange(t.Context(), req)
	if err != nil || len(f.errs) > 0 {
		t.Fatal(err, f.errs)
	}
	v.Set(views.FieldSchedulePlan, plan.Plan.Print)
	v.Set(views.FieldVersion, "1")
	v.Set(views.FieldIdempotencyKey, newKey())
	v.Set(views.FieldScheduleChoice, "move")
	v.Set(views.FieldReason, "講師の都合")
	return v
}

func TestASchedulesJourney(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	b.get(views.StaffSchedulesURL("shop")).is(http.StatusOK).need("data-state", "empty")
	page := b.get(views.StaffScheduleNewURL("shop", nil)).is(http.StatusOK)
	_, fields := page.form(views.StaffSchedulePreviewURL("shop"))
	first := s.Start.In(s.Tenant.Location())
	for first.Weekday() != time.Friday {
		first = first.AddDate(0, 0, 1)
	}
	fields[views.FieldScheduleWeekday] = []string{"5"}
	fields.Set(views.FieldScheduleFreq, "weekly")
	fields.Set(views.FieldScheduleBy, "times")
	fields.Set(views.FieldScheduleTimes, "19:00、20:30")
	fields.Set(views.FieldScheduleFirst, first.Format(time.DateOnly))
	fields.Set(views.FieldScheduleUntil, first.AddDate(0, 0, 28).Format(time.DateOnly))
	before := dump(t, s.Shop)
	preview := b.get(views.StaffSchedulePreviewURL("shop") + "?" + fields.Encode()).is(http.StatusOK)
	preview.need("data-count", "10")
	if dump(t, s.Shop) != before {
		t.Error("the preview has written something")
	}
	_, hidden := preview.form(views.StaffSchedulesURL("shop"))
	// Pressed twice, and from a second tab.
	answer := b.post(views.StaffSchedulesURL("shop"), hidden).is(http.StatusSeeOther)
	again := b.post(views.StaffSchedulesURL("shop"), hidden).is(http.StatusSeeOther)
	if answer.location() != again.location() {
		t.Errorf("pressed twice it leads to %s and %s", answer.location(), again.location())
	}
	other := url.Values{}
	for k, v := range hidden {
		other[k] = v
	}
	other.Set(views.FieldIdempotencyKey, newKey())
	b.post(views.StaffSchedulesURL("shop"), other).is(http.StatusConflict)
	if n := s.countSlots(t, "status <> 'cancelled'"); n != 10 {
		t.Errorf("%d slots", n)
	}
	shown := b.follow(answer).is(http.StatusOK)
	shown.need("data-state", "done")
	id := answer.location()[strings.LastIndex(answer.location(), "/")+1:]

	// The edit form shows the last day; a week more is two slots more.
	_, edit := shown.form(views.StaffScheduleChangeURL("shop", id))
	if got := edit.Get(views.FieldScheduleUntil); got != first.AddDate(0, 0, 28).Format(time.DateOnly) {
		t.Errorf("the form shows %s", got)
	}
	edit.Set(views.FieldScheduleUntil, first.AddDate(0, 0, 35).Format(time.DateOnly))
	edit[views.FieldScheduleWeekday] = []string{"5"}
	change := b.get(views.StaffScheduleChangeURL("shop", id) + "?" + edit.Encode()).is(http.StatusOK)
	change.need("data-count", "2")
	b.follow(b.press(change, "/change", nil)).is(http.StatusOK)
	if n := s.countSlots(t, "status <> 'cancelled'"); n != 12 {
		t.Errorf("%d slots after a week more", n)
	}
	for range 3 {
		b.post(views.StaffScheduleRunURL("shop", id), none()).is(http.StatusSeeOther)
	}

	// Somebody books; the time changes; the choice is asked for.
	slots, err := s.Store.Slots(t.Context(), store.SlotQuery{TenantID: s.Tenant.ID, From: s.Start.Add(-time.Hour), To: s.Start.AddDate(0, 3, 0)})
	if err != nil {
		t.Fatal(err)
	}
	s.Book(t, slots[2], 2)
	edit.Set(views.FieldScheduleTimes, "18:00, 20:30")
	change = b.get(views.StaffScheduleChangeURL("shop", id) + "?" + edit.Encode()).is(http.StatusOK)
	if !strings.Contains(change.text(), "客 ") {
		t.Error("the preview does not name who is concerned")
	}
	b.press(change, "/change", nil).is(http.StatusUnprocessableEntity).need("data-error", views.FieldScheduleChoice)
	if n := s.countSlots(t, "to_char(starts_at AT TIME ZONE 'Asia/Tokyo', 'HH24:MI') = '18:00'"); n != 0 {
		t.Errorf("%d moved without a choice", n)
	}
	done := b.follow(b.press(change, "/change", url.Values{views.FieldScheduleChoice: {"move"}, views.FieldReason: {"講師の都合"}}).is(http.StatusSeeOther))
	done.need("data-state", "done")
	if n := s.countSlots(t, "to_char(starts_at AT TIME ZONE 'Asia/Tokyo', 'HH24:MI') = '18:00' AND status = 'open'"); n != 6 {
		t.Errorf("%d moved", n)
	}

	// Deleting tells whoever is concerned.
	page = b.get(views.StaffScheduleDeleteURL("shop", id)).is(http.StatusOK)
	b.press(page, "/delete", nil).is(http.StatusUnprocessableEntity).need("data-error", views.FieldScheduleChoice)
	b.follow(b.press(page, "/delete", url.Values{views.FieldScheduleChoice: {"cancel"}, views.FieldReason: {"終了"}}).is(http.StatusSeeOther)).need("data-state", "ended")
	if n := s.countSlots(t, "status <> 'cancelled'"); n != 0 {
		t.Errorf("%d slots are left", n)
	}
	b.get(views.StaffSchedulesURL("shop")).is(http.StatusOK).need("data-state", "empty")
}

func (s *site) countSlots(t *testing.T, where string) int {
	t.Helper()
	var n int
	if err := s.Pool.QueryRow(t.Context(), "SELECT count(*) FROM slots WHERE "+where).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestChangingSeatsOfManyIsShownAndTold(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	full := s.Slot(t, 1)
	s.Book(t, full, 1)
	s.Join(t, full, 1)
	s.Slot(t, 1)
	loc := s.Tenant.Location()
	typed := url.Values{
		views.FieldScheduleFirst: {s.Start.AddDate(0, 0, -5).In(loc).Format(time.DateOnly)}, views.FieldScheduleUntil: {s.Start.AddDate(0, 0, 5).In(loc).Format(time.DateOnly)}, views.FieldCapacity: {"0"},
	}
	less := b.get(views.StaffScheduleSeatsURL("shop", typed)).is(http.StatusOK)
	if !strings.Contains(less.text(), "客 ") {
		t.Error("it does not say who is in the way")
	}
	typed.Set(views.FieldCapacity, "2")
	more := b.get(views.StaffScheduleSeatsURL("shop", typed)).is(http.StatusOK)
	if !more.has("class", "staff-consequence-offer") {
		t.Error("it does not say who would be offered seats")
	}
	plan := url.Values{views.FieldSchedulePlan: {attr(more.all("name", views.FieldSchedulePlan)[0], "value")}}
	done := b.follow(b.press(more, "/seats", plan).is(http.StatusSeeOther)).is(http.StatusOK)
	done.need("data-state", "done")
	if n := s.countSlots(t, "capacity = 2"); n != 2 {
		t.Errorf("%d changed", n)
	}
	stale := b.press(more, "/seats", plan)
	if stale.status != http.StatusSeeOther { // all have the number already
		t.Errorf("pressed twice: %d", stale.status)
	}
	s.Slot(t, 1)
	b.press(more, "/seats", plan).is(http.StatusConflict)
}

func TestPagesOfSchedulesNeedFewStatements(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	c := s.scheduled(t)
	for range 3 {
		s.scheduled(t)
	}
	for path, most := range map[string]int{
		views.StaffSchedulesURL("shop"): 12, views.StaffScheduleNewURL("shop", nil): 12, views.StaffScheduleURL("shop", c.ID, nil): 20, views.StaffScheduleDeleteURL("shop", c.ID): 20,
		views.StaffScheduleSlotURL("shop", "2027-04-02"): 12, views.StaffScheduleCopyURL("shop", nil): 12,
	} {
		if n := s.Count(func() { b.get(path).is(http.StatusOK) }); n > most {
			t.Errorf("%s: %d statements", path, n)
		}
	}
}
