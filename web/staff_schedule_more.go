package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// oneForm is one slot as typed.
type oneForm struct {
	service, resource, day, time, capacity, key string
	errs                                        formErrors
}

func (s *Server) getScheduleSlot(w http.ResponseWriter, r *http.Request) error {
	n, err := s.loadNames(r.Context(), venue(r).ID)
	if err != nil {
		return err
	}
	fresh := freshSchedule(venue(r), n, s.now())
	f := oneForm{service: fresh.service, resource: fresh.resource, capacity: fresh.capacity, day: fresh.first, errs: formErrors{}}
	if day, err := time.Parse(time.DateOnly, r.URL.Query().Get(views.FieldScheduleDay)); err == nil {
		f.day = day.Format(time.DateOnly)
	}
	return s.oneSlotPage(w, r, http.StatusOK, n, f, "", nil)
}

func (s *Server) oneSlotPage(w http.ResponseWriter, r *http.Request, status int, n names, f oneForm, problem string, inTheWay []store.BusySlot) error {
	ctx, t := r.Context(), venue(r)
	if len(n.services) == 0 || len(n.resources) == 0 {
		return s.see(w, r, views.StaffSchedulesURL(t.Slug), "")
	}
	if !store.ValidID(f.key) {
		f.key = newKey()
	}
	v := views.StaffScheduleSlotPage{
		Tabs: s.scheduleTabs(ctx, t, "slot"), ActionURL: views.StaffScheduleSlotURL(t.Slug, ""), Key: f.key, Services: n.serviceOptions(ctx, f.service, ""),
		Resources: n.resourceOptions(ctx, f.resource, ""), Day: f.day, Time: f.time, Capacity: f.capacity, Problem: problem, Errs: f.errs.in(ctx),
	}
	for _, b := range inTheWay {
		service, _ := n.serviceOf(b.ServiceID)
		v.InTheWay = append(v.InTheWay, views.StaffScheduleSkip{
			When: i18n.In(ctx).DateTimeRangeShort(b.StartsAt, b.EndsAt, t.Location()), Why: service.Name.In(i18n.Lang(ctx)), URL: views.StaffSlotURL(t.Slug, b.ID),
		})
	}
	var err error
	if v.Page, v.Staff, err = s.staffPage(r, "settings", i18n.T(ctx, "schedule.one.title"), v.ActionURL); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffScheduleOne(v))
}

func (s *Server) postScheduleSlot(w http.ResponseWriter, r *http.Request) error {
	body, err := s.form(w, r)
	if err != nil {
		return err
	}
	ctx, t := r.Context(), venue(r)
	n, err := s.loadNames(ctx, t.ID)
	if err != nil {
		return err
	}
	e := body.errs
	f := oneForm{
		service: body.text(views.FieldScheduleService, 40), resource: body.text(views.FieldScheduleResource, 40), day: body.text(views.FieldScheduleDay, longestDay),
		time: body.text(views.FieldScheduleTime, 20), capacity: body.text(views.FieldCapacity, 20), key: body.text(views.FieldIdempotencyKey, longestKey), errs: e,
	}
	service, ok := n.serviceOf(f.service)
	if !ok {
		e.fault(views.FieldScheduleService, "schedule.err.service")
	}
	if resource, ok := n.resourceOf(f.resource); !ok || !resource.Active {
		e.fault(views.FieldScheduleResource, "schedule.err.resource")
	}
	req := store.SingleSlot{
		TenantID: t.ID, ServiceID: f.service, ResourceID: f.resource, Day: e.day(views.FieldScheduleDay, f.day, "schedule.err.day"),
		Minute: e.clock(views.FieldScheduleTime, f.time), Capacity: e.whole(views.FieldCapacity, f.capacity, 1, mostSeats, "schedule.err.number"), Key: f.key,
	}
	if f.key == "" {
		e.fault(views.FieldIdempotencyKey, "schedule.err.key")
	}
	e.hidden(views.FieldIdempotencyKey)
	back := func(status int, problem string, inTheWay []store.BusySlot) error {
		return s.oneSlotPage(w, r, status, n, f, problem, inTheWay)
	}
	if len(e) > 0 {
		return back(http.StatusUnprocessableEntity, "", nil)
	}
	id, err := s.store.AddSlot(ctx, req)
	switch {
	case errors.Is(err, store.TooLate):
		s.noteRefusal(r, store.TooLate)
		e.fault(views.FieldScheduleTime, "schedule.err.past")
		return back(http.StatusUnprocessableEntity, "", nil)
	case errors.Is(err, store.Overlaps):
		s.noteRefusal(r, store.Overlaps)
		start, _, err := store.OnTheWall(req.Day, req.Minute, t.Location())
		if err != nil {
			return err
		}
		busy, err := s.store.InTheWay(ctx, t.ID, f.resource, start, start.Add(service.Duration))
		if err != nil {
			return err
		}
		return back(http.StatusConflict, i18n.T(ctx, "schedule.one.overlap"), busy)
	case err != nil:
		return err
	}
	return s.see(w, r, views.StaffSlotURL(t.Slug, id), "schedule.one.done")
}

// copyForm is the week to copy as typed.
type copyForm struct {
	week, into, weeks, service, resource string
	closed, holidays                     bool
	errs                                 formErrors
}

func decodeCopy(f *form) copyForm {
	return copyForm{
		week: f.text(views.FieldScheduleWeek, longestDay), into: f.text(views.FieldScheduleInto, longestDay), weeks: f.text(views.FieldScheduleWeeks, 20),
		service: f.text(views.FieldScheduleService, 40), resource: f.text(views.FieldScheduleResource, 40),
		closed: f.text(views.FieldScheduleClosed, 1) == "1", holidays: f.text(views.FieldScheduleHolidays, 1) == "1", errs: f.errs,
	}
}

func (f copyForm) values() url.Values {
	v := url.Values{views.FieldScheduleWeek: {f.week}, views.FieldScheduleInto: {f.into}, views.FieldScheduleWeeks: {f.weeks}}
	if f.service != "" {
		v.Set(views.FieldScheduleService, f.service)
	}
	if f.resource != "" {
		v.Set(views.FieldScheduleResource, f.resource)
	}
	if f.closed {
		v.Set(views.FieldScheduleClosed, "1")
	}
	if f.holidays {
		v.Set(views.FieldScheduleHolidays, "1")
	}
	return v
}

// mondayOf gives the first day of a day's week.
func mondayOf(day string) string {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return day
	}
	return at.AddDate(0, 0, -(int(at.Weekday())+6)%7).Format(time.DateOnly)
}

func (f copyForm) check(t store.Tenant, n names) store.CopyRequest {
	e := f.errs
	f.filter(n)
	c := store.CopyRequest{
		TenantID: t.ID, From: mondayOf(e.day(views.FieldScheduleWeek, f.week, "schedule.err.day")), To: mondayOf(e.day(views.FieldScheduleInto, f.into, "schedule.err.day")),
		Weeks: e.whole(views.FieldScheduleWeeks, f.weeks, 1, store.MostCopiedWeeks, "schedule.err.number"), ServiceID: f.service, ResourceID: f.resource,
		SkipClosed: f.closed, SkipHolidays: f.holidays,
	}
	if len(e) == 0 && c.To <= c.From {
		e.fault(views.FieldScheduleInto, "schedule.err.into")
	}
	return c
}

func (f copyForm) filter(n names) {
	filterFaults(f.errs, n, f.service, f.resource)
}

// filterFaults says where a filter names what is not there.
func filterFaults(e formErrors, n names, service, resource string) {
	if _, ok := n.serviceOf(service); !ok && service != "" {
		e.fault(views.FieldScheduleService, "schedule.err.service")
	}
	if _, ok := n.resourceOf(resource); !ok && resource != "" {
		e.fault(views.FieldScheduleResource, "schedule.err.resource")
	}
}

func (s *Server) getScheduleCopy(w http.ResponseWriter, r *http.Request) error {
	n, err := s.loadNames(r.Context(), venue(r).ID)
	if err != nil {
		return err
	}
	if !r.URL.Query().Has(views.FieldScheduleWeek) {
		today := s.now().In(venue(r).Location())
		f := copyForm{
			week: mondayOf(today.Format(time.DateOnly)), into: mondayOf(today.AddDate(0, 0, 7).Format(time.DateOnly)), weeks: "1", closed: true, errs: formErrors{},
		}
		return s.copyPage(w, r, http.StatusOK, n, f, false, "", "")
	}
	return s.copyPage(w, r, http.StatusOK, n, decodeCopy(queryForm(r)), true, "", "")
}

func (s *Server) copyPage(w http.ResponseWriter, r *http.Request, status int, n names, f copyForm, preview bool, key, problem string) error {
	ctx, t := r.Context(), venue(r)
	v := views.StaffScheduleCopyPage{Tabs: s.scheduleTabs(ctx, t, "copy"), ActionURL: views.StaffScheduleCopyURL(t.Slug, nil), Problem: problem}
	if preview {
		req := f.check(t, n)
		var plan store.CopyPlan
		if len(f.errs) == 0 {
			var err error
			if plan, err = s.store.PreviewCopy(ctx, req); errors.Is(err, store.ErrTooManyOccurrences) {
				f.errs.fault(views.FieldScheduleWeeks, "schedule.err.too_many", "most", store.MostOccurrences)
			} else if err != nil {
				return err
			}
		}
		if len(f.errs) > 0 {
			status = http.StatusUnprocessableEntity
		} else {
			lines := planLines(ctx, t, n, plan.Plan)
			v.Plan = &lines
			v.Source = i18n.T(ctx, "schedule.copy.source", "n", plan.Sources, "from", dateOf(ctx, req.From, true))
			overlaps := plan.Count(store.SkipOverlap) + plan.Count(store.SkipSelf)
			hidden := f.values()
			if !store.ValidID(key) {
				key = newKey()
			}
			hidden.Set(views.FieldIdempotencyKey, key)
			hidden.Set(views.FieldSchedulePlan, plan.Print)
			if lines.N > 0 {
				v.PressURL, v.Press = v.ActionURL, i18n.T(ctx, "schedule.press.copy", "n", lines.N)
				if overlaps > 0 {
					hidden.Set(views.FieldScheduleOthers, "1")
					v.Others, v.Press = i18n.T(ctx, "schedule.others", "n", overlaps), i18n.T(ctx, "schedule.press.others", "n", lines.N)
				}
			}
			v.Hidden = hiddenOf(hidden)
		}
	}
	v.Week, v.Into, v.Weeks, v.Closed, v.Holidays, v.HasHolidays, v.Errs = f.week, f.into, f.weeks, f.closed, f.holidays, japanese(t), f.errs.in(ctx)
	v.Services, v.Resources = n.serviceOptions(ctx, f.service, "schedule.all.services"), n.resourceOptions(ctx, f.resource, "schedule.all.resources")
	var err error
	if v.Page, v.Staff, err = s.staffPage(r, "settings", i18n.T(ctx, "schedule.copy.title"), v.ActionURL); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffScheduleCopy(v))
}

func (s *Server) postScheduleCopy(w http.ResponseWriter, r *http.Request) error {
	body, err := s.form(w, r)
	if err != nil {
		return err
	}
	ctx, t := r.Context(), venue(r)
	n, err := s.loadNames(ctx, t.ID)
	if err != nil {
		return err
	}
	f := decodeCopy(body)
	key := body.text(views.FieldIdempotencyKey, longestKey)
	print, others := body.text(views.FieldSchedulePlan, 80), body.text(views.FieldScheduleOthers, 1) == "1"
	req := f.check(t, n)
	f.errs.hidden(views.FieldIdempotencyKey, views.FieldSchedulePlan, views.FieldScheduleOthers)
	if len(f.errs) > 0 {
		problem := ""
		if fault, bad := f.errs[""]; bad {
			problem = fault.In(ctx)
		}
		return s.copyPage(w, r, http.StatusUnprocessableEntity, n, f, false, "", problem)
	}
	req.Key, req.Print, req.Others = strings.ToLower(key), print, others
	if !store.ValidID(req.Key) {
		req.Print = ""
	}
	made, err := s.store.CopyWeek(ctx, req)
	if problem, status := s.planRefusal(r, err); problem != "" {
		return s.copyPage(w, r, status, n, f, true, key, problem)
	}
	if errors.Is(err, store.ErrTooManyOccurrences) {
		f.errs.fault(views.FieldScheduleWeeks, "schedule.err.too_many", "most", store.MostOccurrences)
		return s.copyPage(w, r, http.StatusUnprocessableEntity, n, f, false, "", "")
	}
	if err != nil {
		return err
	}
	return s.see(w, r, views.StaffDayURL(t.Slug, req.To), "schedule.copy.done", "n", made)
}

// seatsForm is the change of many as typed.
type seatsForm struct {
	service, resource, first, until, capacity string
	weekdays                                  []string
	errs                                      formErrors
}

func decodeSeats(f *form) seatsForm {
	return seatsForm{
		service: f.text(views.FieldScheduleService, 40), resource: f.text(views.FieldScheduleResource, 40), first: f.text(views.FieldScheduleFirst, longestDay),
		until: f.text(views.FieldScheduleUntil, longestDay), capacity: f.text(views.FieldCapacity, 20), weekdays: decodeWeekdays(f), errs: f.errs,
	}
}

func (f seatsForm) values() url.Values {
	v := url.Values{views.FieldScheduleFirst: {f.first}, views.FieldScheduleUntil: {f.until}, views.FieldCapacity: {f.capacity}}
	if f.service != "" {
		v.Set(views.FieldScheduleService, f.service)
	}
	if f.resource != "" {
		v.Set(views.FieldScheduleResource, f.resource)
	}
	for _, d := range f.weekdays {
		v.Add(views.FieldScheduleWeekday, d)
	}
	return v
}

func (f seatsForm) check(t store.Tenant, n names) (store.ResizeQuery, int) {
	e := f.errs
	filterFaults(e, n, f.service, f.resource)
	q := store.ResizeQuery{
		TenantID: t.ID, ServiceID: f.service, ResourceID: f.resource, First: e.day(views.FieldScheduleFirst, f.first, "schedule.err.day"),
		Last: e.day(views.FieldScheduleUntil, f.until, "schedule.err.day"),
	}
	if q.First != "" && q.Last != "" && !scheduleWithin(q.First, q.Last) {
		e.fault(views.FieldScheduleUntil, "schedule.err.until")
	}
	for _, d := range f.weekdays {
		if n, err := strconv.Atoi(d); err == nil {
			q.Weekdays = append(q.Weekdays, time.Weekday(n))
		}
	}
	return q, e.whole(views.FieldCapacity, f.capacity, 0, mostSeats, "schedule.err.number")
}

func (s *Server) getScheduleSeats(w http.ResponseWriter, r *http.Request) error {
	n, err := s.loadNames(r.Context(), venue(r).ID)
	if err != nil {
		return err
	}
	if !r.URL.Query().Has(views.FieldCapacity) {
		today := s.now().In(venue(r).Location())
		f := seatsForm{first: today.Format(time.DateOnly), until: today.AddDate(0, 1, 0).Format(time.DateOnly), errs: formErrors{}}
		return s.seatsPage(w, r, http.StatusOK, n, f, false, "")
	}
	return s.seatsPage(w, r, http.StatusOK, n, decodeSeats(queryForm(r)), true, "")
}

func (s *Server) seatsPage(w http.ResponseWriter, r *http.Request, status int, n names, f seatsForm, preview bool, problem string) error {
	ctx, t := r.Context(), venue(r)
	v := views.StaffScheduleSeatsPage{Tabs: s.scheduleTabs(ctx, t, "seats"), ActionURL: views.StaffScheduleSeatsURL(t.Slug, nil), Problem: problem}
	var err error
	if preview {
		q, capacity := f.check(t, n)
		if len(f.errs) > 0 {
			status = http.StatusUnprocessableEntity
		} else if err := s.seatsPreview(r, n, f, q, capacity, &v); err != nil {
			return err
		}
	} else if v.Result, err = s.popSeats(r, n); err != nil {
		return err
	}
	v.Services, v.Resources = n.serviceOptions(ctx, f.service, "schedule.all.services"), n.resourceOptions(ctx, f.resource, "schedule.all.resources")
	v.First, v.Until, v.Capacity, v.Weekdays, v.Errs = f.first, f.until, f.capacity, weekdayOptions(ctx, f.weekdays, true), f.errs.in(ctx)
	if v.Page, v.Staff, err = s.staffPage(r, "settings", i18n.T(ctx, "schedule.seats.title"), v.ActionURL); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffScheduleSeats(v))
}

func (s *Server) seatsPreview(r *http.Request, n names, f seatsForm, q store.ResizeQuery, capacity int, v *views.StaffScheduleSeatsPage) error {
	ctx, t := r.Context(), venue(r)
	cat, lang, loc := i18n.In(ctx), i18n.Lang(ctx), t.Location()
	plan, err := s.store.PreviewResize(ctx, q, capacity, me(r).actor(r))
	if err != nil {
		return err
	}
	v.Shown = true
	var refused []string
	change := 0
	add := func(kind string, key i18n.Key, args ...any) {
		v.Effects = append(v.Effects, views.StaffConsequence{Kind: kind, Text: i18n.T(ctx, key, args...)})
	}
	told := 0
	for _, slot := range plan.Slots {
		if slot.Why != "" {
			refused = append(refused, slot.ID)
			continue
		}
		change++
		told += len(slot.Change.Told)
		for _, e := range slot.Change.Offered {
			add("offer", "schedule.seats.offer", "name", called(ctx, e.Name), "n", e.PartySize, "slot", cat.DateTimeShort(slot.StartsAt, loc), "time", cat.DateTimeShort(*e.ShownUntil, loc))
		}
	}
	if told > 0 {
		add("vacancy", "schedule.seats.tell", "n", told)
	}
	who, err := s.store.WhoIsIn(ctx, t.ID, refused, namesShown)
	if err != nil {
		return err
	}
	for _, slot := range plan.Slots {
		service, _ := n.serviceOf(slot.ServiceID)
		line := views.StaffScheduleSlot{
			URL: views.StaffSlotURL(t.Slug, slot.ID), When: cat.DateTimeRangeShort(slot.StartsAt, slot.EndsAt, loc),
			What: i18n.T(ctx, "schedule.seats.from_to", "name", service.Name.In(lang), "from", slot.Capacity, "to", capacity),
		}
		if slot.Why != "" {
			line.What = i18n.T(ctx, "schedule.seats.refused", "name", service.Name.In(lang), "n", slot.Taken)
			if slot.Why != store.BelowTaken {
				line.What = i18n.T(ctx, i18n.Key("staff.refused."+string(slot.Why)))
			}
			line.Who = whoText(ctx, who[slot.ID])
		}
		v.Slots = append(v.Slots, line)
	}
	sum := func(key i18n.Key, n int) {
		if n > 0 {
			v.Summary = append(v.Summary, i18n.T(ctx, key, "n", n))
		}
	}
	sum("schedule.seats.change", change)
	sum("schedule.seats.stay", len(refused))
	sum("schedule.seats.same", plan.Same)
	if change+len(refused)+plan.Same == 0 {
		v.Summary = append(v.Summary, i18n.T(ctx, "schedule.seats.none"))
	}
	if plan.More {
		v.Summary = append(v.Summary, i18n.T(ctx, "schedule.seats.more", "n", store.MostResized))
	}
	if change > 0 {
		v.PressURL, v.Press = v.ActionURL, i18n.T(ctx, "schedule.press.seats", "n", change)
		hidden := f.values()
		hidden.Set(views.FieldSchedulePlan, plan.Print)
		v.Hidden = hiddenOf(hidden)
	}
	return nil
}

// sessionSeats is what a change of many did, told on the page of the form.
const sessionSeats = "schedule_seats"

// seatsDone holds ids, no personal data: names are looked up when it is shown.
type seatsDone struct {
	Tenant  string      `json:"t"`
	At      time.Time   `json:"at"`
	Changed int         `json:"n"`
	Refused []string    `json:"r,omitempty"`
	Offered []seatsKept `json:"o,omitempty"`
	Told    int         `json:"told,omitempty"`
}

// mostRemembered keeps a session small.
const mostRemembered = 40

func (s *Server) postScheduleSeats(w http.ResponseWriter, r *http.Request) error {
	body, err := s.form(w, r)
	if err != nil {
		return err
	}
	ctx, t := r.Context(), venue(r)
	n, err := s.loadNames(ctx, t.ID)
	if err != nil {
		return err
	}
	f := decodeSeats(body)
	print := body.text(views.FieldSchedulePlan, 80)
	q, capacity := f.check(t, n)
	f.errs.hidden(views.FieldSchedulePlan)
	if len(f.errs) > 0 {
		problem := ""
		if fault, bad := f.errs[""]; bad {
			problem = fault.In(ctx)
		}
		return s.seatsPage(w, r, http.StatusUnprocessableEntity, n, f, false, problem)
	}
	plan, err := s.store.Resize(ctx, q, capacity, print, me(r).actor(r))
	if problem, status := s.planRefusal(r, err); problem != "" {
		return s.seatsPage(w, r, status, n, f, true, problem)
	}
	if err != nil {
		return err
	}
	done := seatsDone{Tenant: t.ID, At: s.now()}
	for _, slot := range plan.Slots {
		if slot.Why != "" {
			if len(done.Refused) < mostRemembered {
				done.Refused = append(done.Refused, slot.ID)
			}
			continue
		}
		done.Changed++
		done.Told += len(slot.Change.Told)
		for _, kept := range (staffDone{}).with(slot.Change).Offered {
			if len(done.Offered) < mostRemembered {
				done.Offered = append(done.Offered, kept)
			}
		}
	}
	text, err := json.Marshal(done)
	if err != nil {
		return err
	}
	s.sessions.Put(ctx, sessionSeats, string(text))
	return s.see(w, r, views.StaffScheduleSeatsURL(t.Slug, nil), "")
}

// popSeats takes what the last change of many did; nil for none.
func (s *Server) popSeats(r *http.Request, n names) (*views.StaffResult, error) {
	ctx, t := r.Context(), venue(r)
	text := s.sessions.GetString(ctx, sessionSeats)
	if text == "" {
		return nil, nil
	}
	s.sessions.Remove(ctx, sessionSeats)
	var done seatsDone
	if err := json.Unmarshal([]byte(text), &done); err != nil || done.Tenant != t.ID || s.now().Sub(done.At) >= doneShown {
		return nil, nil // written by another version of the program, or long ago
	}
	cat, loc := i18n.In(ctx), t.Location()
	v := views.StaffResult{Title: i18n.T(ctx, "schedule.seats.done", "n", done.Changed)}
	var entries []string
	for _, o := range done.Offered {
		entries = append(entries, o.Entry)
	}
	people, err := s.store.People(ctx, t.ID, entries)
	if err != nil {
		return nil, err
	}
	for _, o := range done.Offered {
		v.Lines = append(v.Lines, views.StaffResultLine{Text: i18n.T(ctx, "schedule.seats.offered", "name", called(ctx, people[o.Entry].Name), "time", cat.DateTimeShort(o.Until, loc))})
	}
	if done.Told > 0 {
		v.Lines = append(v.Lines, views.StaffResultLine{Text: i18n.T(ctx, "schedule.seats.tell", "n", done.Told)})
	}
	slots, err := s.store.SlotsByID(ctx, t.ID, done.Refused)
	if err != nil {
		return nil, err
	}
	for _, slot := range slots {
		service, _ := n.serviceOf(slot.ServiceID)
		v.Lines = append(v.Lines, views.StaffResultLine{
			Text: i18n.T(ctx, "schedule.seats.left", "slot", cat.DateTimeShort(slot.StartsAt, loc), "name", service.Name.In(i18n.Lang(ctx))), URL: views.StaffSlotURL(t.Slug, slot.ID),
		})
	}
	return &v, nil
}
