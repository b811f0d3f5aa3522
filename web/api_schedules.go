package web

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"holdfast/store"
)

// The schedules of a tenant, as the staff's pages make, change and end them: a
// plan is asked for first, and its print is given along, so that a press does
// what was shown or nothing.

// apiScheduleRule says when slots are made, and which.
type apiScheduleRule struct {
	Service        string   `json:"service"`    // slug; of a schedule that is there it stays
	Resource       string   `json:"resource"`   // slug
	RRule          string   `json:"rrule"`      // days, as RFC 5545 has them: FREQ=DAILY, FREQ=WEEKLY;BYDAY=MO,TH, FREQ=MONTHLY;BYMONTHDAY=1, FREQ=MONTHLY;BYDAY=+2FR
	Starts         []string `json:"starts"`     // times of each day at the venue: 10:00
	FirstDay       string   `json:"firstDay"`   // 2027-03-14, at the venue
	LastDay        *string  `json:"lastDay"`    // itself included; null: without end
	ExceptDays     []string `json:"exceptDays"` // days that are left out
	SkipClosedDays bool     `json:"skipClosedDays"`
	SkipHolidays   bool     `json:"skipHolidays"` // public holidays of Japan
	Capacity       int      `json:"capacity"`     // of each slot; 0: the service's
}

// apiSchedule is a schedule with what its slots come to.
type apiSchedule struct {
	ID         string             `json:"id"`
	State      string             `json:"state"` // active, stopped, ended
	Version    int                `json:"version"`
	Rule       apiScheduleRule    `json:"rule"`
	MadeUntil  *string            `json:"madeUntil"`  // up to which day slots are made
	Coming     int                `json:"coming"`     // slots that have not begun
	NextStart  *apiTime           `json:"nextStart"`  // of the first of them
	Unfinished bool               `json:"unfinished"` // a change has not reached all its slots: continue it
	Result     *apiScheduleResult `json:"result"`     // of the last step
}

// apiScheduleResult is what a step on a schedule did.
type apiScheduleResult struct {
	At        apiTime           `json:"at"`
	Made      int               `json:"made"`
	Moved     int               `json:"moved"`
	Cancelled int               `json:"cancelled"`
	Kept      int               `json:"kept"`
	Resized   int               `json:"resized"`
	Told      int               `json:"told"` // people who were written to, or have to be called
	Left      int               `json:"left"`
	Failed    map[string]string `json:"failed"`   // slot → reason
	Overlaps  []string          `json:"overlaps"` // not made: day and time at the venue
}

// apiPlan is what would be made, at the moment of asking.
type apiPlan struct {
	Print string           `json:"print"` // to be given along with the step
	Until string           `json:"until"` // the last day looked at
	Make  int              `json:"make"`  // how many would be made
	Slots []apiPlannedSlot `json:"slots"`
}

type apiPlannedSlot struct {
	StartsAt apiTime `json:"startsAt"`
	EndsAt   apiTime `json:"endsAt"`
	Skipped  string  `json:"skipped"` // why it would not be made: past, closed, holiday, overlap, self, clock, there; empty: it would
	With     *string `json:"with"`    // the slot that is in the way
}

// apiChangePlan is what a change or an end would do to the slots that are there, and what would be made.
type apiChangePlan struct {
	Print   string           `json:"print"`
	Split   bool             `json:"split"`   // earlier days stay with the old schedule, a new one takes over
	Touched int              `json:"touched"` // slots with people in them that would be moved or cancelled
	Changes []apiSlotChange  `json:"changes"`
	Make    int              `json:"make"`
	Slots   []apiPlannedSlot `json:"slots"`
}

type apiSlotChange struct {
	Slot     string   `json:"slot"`
	StartsAt apiTime  `json:"startsAt"`
	Effect   string   `json:"effect"` // move, resize, remove
	NewStart *apiTime `json:"newStart"`
	NewEnd   *apiTime `json:"newEnd"`
	Parties  int      `json:"parties"`
	Waiting  int      `json:"waiting"`
}

func textOrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func (n apiNames) schedule(c store.ListedSchedule) apiSchedule {
	out := apiSchedule{
		ID: c.ID, State: string(c.State), Version: c.Version, MadeUntil: textOrNull(c.MadeUntil), Coming: c.Coming, NextStart: apiTimeOf(c.Next), Unfinished: c.Pending != nil,
		Rule: apiScheduleRule{
			Service: n.services[c.ServiceID], Resource: n.resources[c.ResourceID], RRule: c.Rule, Starts: []string{}, FirstDay: c.First, LastDay: textOrNull(c.Until),
			ExceptDays: append([]string{}, c.Except...), SkipClosedDays: c.SkipClosed, SkipHolidays: c.SkipHolidays, Capacity: c.Capacity,
		},
	}
	for _, minute := range c.Starts {
		out.Rule.Starts = append(out.Rule.Starts, store.ClockText(minute))
	}
	if r := c.Result; r != nil {
		out.Result = &apiScheduleResult{
			At: apiTime(r.At), Made: r.Made, Moved: r.Moved, Cancelled: r.Cancelled, Kept: r.Kept, Resized: r.Resized, Told: r.Told, Left: r.Left,
			Failed: map[string]string{}, Overlaps: append([]string{}, r.Overlaps...),
		}
		for _, f := range r.Failed {
			out.Result.Failed[f.Slot] = answerFor(f.Why).reason
		}
	}
	return out
}

func plannedSlots(plan store.Plan) []apiPlannedSlot {
	out := make([]apiPlannedSlot, 0, len(plan.Slots))
	for _, slot := range plan.Slots {
		p := apiPlannedSlot{StartsAt: apiTime(slot.StartsAt), EndsAt: apiTime(slot.EndsAt), Skipped: string(slot.Why)}
		if slot.With != nil {
			p.With = textOrNull(slot.With.ID)
		}
		out = append(out, p)
	}
	return out
}

func changePlanOf(plan store.ChangePlan) apiChangePlan {
	out := apiChangePlan{Print: plan.Plan.Print, Split: plan.Split, Touched: plan.Touched(), Changes: []apiSlotChange{}, Make: plan.Plan.Count(""), Slots: plannedSlots(plan.Plan)}
	for _, slot := range plan.Slots {
		if slot.Status == store.SlotCancelled {
			continue // it stays so, wherever it stands
		}
		c := apiSlotChange{Slot: slot.ID, StartsAt: apiTime(slot.StartsAt), Effect: string(slot.Effect), Parties: slot.Parties, Waiting: slot.Entries}
		if slot.To != nil {
			c.NewStart, c.NewEnd = apiTimeOf(&slot.To.StartsAt), apiTimeOf(&slot.ToEnds)
		}
		out.Changes = append(out.Changes, c)
	}
	return out
}

// mostExcept is how many days a rule may leave out: each day of the longest.
const mostExcept = store.LongestSchedule

// apiDay reads a calendar day; the years are those that the pages take.
func (q *apiRequest) apiDay(field, text string) string {
	at, err := time.Parse(time.DateOnly, text)
	if err != nil || at.Year() < 2000 || at.Year() > 2200 {
		q.fault(field, "invalid")
		return ""
	}
	return text
}

// scheduleRule checks a rule; was is the schedule that it is for, nil for a new one.
func (q *apiRequest) scheduleRule(n apiNames, services []store.Service, rule apiScheduleRule, was *store.Schedule) store.Schedule {
	c := store.Schedule{TenantID: q.tenant(), Recurrence: store.Recurrence{Rule: rule.RRule}, SkipClosed: rule.SkipClosedDays, SkipHolidays: rule.SkipHolidays, Capacity: rule.Capacity}
	if rule.Service == "" && was != nil {
		rule.Service = n.services[was.ServiceID]
	}
	for field, value := range map[string]string{"rule.service": rule.Service, "rule.resource": rule.Resource, "rule.rrule": rule.RRule, "rule.firstDay": rule.FirstDay} {
		if value == "" {
			q.fault(field, "required")
		}
	}
	c.ServiceID, c.ResourceID = idOf(q, "rule.service", rule.Service, n.services), idOf(q, "rule.resource", rule.Resource, n.resources)
	if was != nil && c.ServiceID != "" && c.ServiceID != was.ServiceID {
		q.fault("rule.service", "invalid")
	}
	at := slices.IndexFunc(services, func(s store.Service) bool { return s.ID == c.ServiceID })
	if c.Capacity == 0 && at >= 0 {
		c.Capacity = services[at].Capacity
	}
	if c.Capacity < 0 || c.Capacity > mostSeats {
		q.fault("rule.capacity", "invalid")
	}
	if parts, ok := store.PartsOf(c.Rule); c.Rule != "" && (!ok || parts.Every > 99) {
		q.fault("rule.rrule", "invalid")
	}
	if len(rule.Starts) == 0 || len(rule.Starts) > store.MostStarts {
		q.fault("rule.starts", "invalid")
	}
	for i, text := range rule.Starts {
		minute, ok := store.ParseClock(text)
		if !ok || minute >= 24*60 {
			q.fault("rule.starts["+strconv.Itoa(i)+"]", "invalid")
		}
		c.Starts = append(c.Starts, minute)
	}
	slices.Sort(c.Starts)
	c.Starts = slices.Compact(c.Starts)
	for i := 1; i < len(c.Starts); i++ {
		if at >= 0 && services[at].Duration > time.Duration(c.Starts[i]-c.Starts[i-1])*time.Minute {
			q.fault("rule.starts", "invalid") // one would begin before the other is over, on every day
			break
		}
	}
	if rule.FirstDay != "" {
		c.First = q.apiDay("rule.firstDay", rule.FirstDay)
	}
	if rule.LastDay != nil && *rule.LastDay != "" {
		if c.Until = q.apiDay("rule.lastDay", *rule.LastDay); c.First != "" && c.Until != "" && !scheduleWithin(c.First, c.Until) {
			q.fault("rule.lastDay", "invalid")
		}
	}
	if len(rule.ExceptDays) > mostExcept {
		q.fault("rule.exceptDays", "too_long")
	} else {
		for i, day := range rule.ExceptDays {
			c.Except = append(c.Except, q.apiDay("rule.exceptDays["+strconv.Itoa(i)+"]", day))
		}
	}
	slices.Sort(c.Except)
	c.Except = slices.Compact(c.Except)
	return c
}

// apiCatalog are the names and the services of the caller's tenant.
func (s *Server) apiCatalog(q *apiRequest) (apiNames, []store.Service, error) {
	n, err := s.apiNames(q.Context(), q.caller.tenant)
	if err != nil {
		return n, nil, err
	}
	services, err := s.store.Services(q.Context(), q.tenant())
	return n, services, err
}

// planned gives the error of a plan its form: too many occurrences are a fault of the rule.
func planned(err error) error {
	if errors.Is(err, store.ErrTooManyOccurrences) {
		return badRequest("the rule has too many occurrences", apiFault{"rule.lastDay", "invalid"})
	}
	return err
}

// apiScheduleNow is a schedule as a step left it.
func (s *Server) apiScheduleNow(q *apiRequest, id string) (any, error) {
	c, err := s.store.ScheduleWithCounts(q.Context(), q.tenant(), id)
	if err != nil {
		return nil, err
	}
	n, err := s.apiNames(q.Context(), q.caller.tenant)
	if err != nil {
		return nil, err
	}
	q.etag = etagOf(int64(c.Version))
	return n.schedule(c), nil
}

func (s *Server) apiGetSchedules(q *apiRequest) (any, error) {
	q.query()
	if err := q.ok(); err != nil {
		return nil, err
	}
	n, err := s.apiNames(q.Context(), q.caller.tenant)
	if err != nil {
		return nil, err
	}
	schedules, err := s.store.Schedules(q.Context(), q.tenant())
	if err != nil {
		return nil, err
	}
	list := apiList[apiSchedule]{Items: []apiSchedule{}}
	for _, c := range schedules {
		list.Items = append(list.Items, n.schedule(c))
	}
	return list, nil
}

func (s *Server) apiGetSchedule(q *apiRequest) (any, error) {
	q.query()
	if err := q.ok(); err != nil {
		return nil, err
	}
	id, err := q.id("schedule")
	if err != nil {
		return nil, err
	}
	return s.apiScheduleNow(q, id)
}

// The bodies of the operations.
type (
	schedulePreviewBody struct {
		Rule apiScheduleRule `json:"rule"`
	}
	scheduleBody struct {
		Rule   apiScheduleRule `json:"rule"`
		Print  string          `json:"print"`
		Others bool            `json:"others"` // make the others where some overlap
	}
	scheduleChangePreviewBody struct {
		Rule apiScheduleRule `json:"rule"`
		From string          `json:"from"` // day at the venue; earlier slots stay as they are
	}
	scheduleChangeBody struct {
		Rule   apiScheduleRule `json:"rule"`
		From   string          `json:"from"`
		Print  string          `json:"print"`
		Others bool            `json:"others"`
		Choice string          `json:"choice"` // what becomes of slots with people: move, cancel, keep
		Reason string          `json:"reason"` // told to the people
	}
	scheduleEndBody struct {
		Stop   bool   `json:"stop"`   // only make no new slots; else the coming ones go
		Choice string `json:"choice"` // what becomes of slots with people: cancel, keep
		Reason string `json:"reason"`
		Print  string `json:"print"` // of the plan; not asked for stop
	}
)

func (s *Server) apiPreviewSchedule(q *apiRequest) (any, error) {
	var body schedulePreviewBody
	if err := q.decode(&body); err != nil {
		return nil, err
	}
	n, services, err := s.apiCatalog(q)
	if err != nil {
		return nil, err
	}
	c := q.scheduleRule(n, services, body.Rule, nil)
	if err := q.ok(); err != nil {
		return nil, err
	}
	plan, err := s.store.PreviewSchedule(q.Context(), c)
	if err != nil {
		return nil, planned(err)
	}
	return apiPlan{Print: plan.Print, Until: plan.Through, Make: plan.Count(""), Slots: plannedSlots(plan)}, nil
}

const longestPrint = 80

func (s *Server) apiPostSchedule(q *apiRequest) (any, error) {
	var body scheduleBody
	if err := q.decode(&body); err != nil {
		return nil, err
	}
	n, services, err := s.apiCatalog(q)
	if err != nil {
		return nil, err
	}
	c := q.scheduleRule(n, services, body.Rule, nil)
	print := q.text("print", body.Print, longestPrint, true)
	if err := q.ok(); err != nil {
		return nil, err
	}
	c.ID = newKey()
	made, err := s.store.CreateSchedule(q.Context(), store.NewSchedule{Schedule: c, Print: print, Others: body.Others})
	if err != nil {
		return nil, planned(err)
	}
	return s.apiScheduleNow(q, made.ID)
}

// apiSchedule finds the schedule of the path. One that is deleted can still be read.
func (s *Server) apiSchedule(q *apiRequest) (store.Schedule, error) {
	id, err := q.id("schedule")
	if err != nil {
		return store.Schedule{}, err
	}
	return s.store.Schedule(q.Context(), q.tenant(), id)
}

// scheduleVersion is the version that the caller has seen, which has to be named.
func (q *apiRequest) scheduleVersion(c store.Schedule) (int, error) {
	if q.Header.Get("If-Match") == "" {
		return 0, apiProblem{Status: http.StatusPreconditionRequired, Reason: "if_match_required", Detail: "name the version that you have seen, or * for any"}
	}
	version, err := q.version()
	if err != nil || version == nil {
		return c.Version, err
	}
	return int(*version), nil
}

func (s *Server) apiPreviewScheduleChange(q *apiRequest) (any, error) {
	var body scheduleChangePreviewBody
	if err := q.decode(&body); err != nil {
		return nil, err
	}
	req, err := s.apiScheduleChange(q, body)
	if err != nil {
		return nil, err
	}
	if err := q.ok(); err != nil {
		return nil, err
	}
	plan, err := s.store.PreviewScheduleChange(q.Context(), req)
	if err != nil {
		return nil, planned(err)
	}
	return changePlanOf(plan), nil
}

func (s *Server) apiScheduleChange(q *apiRequest, body scheduleChangePreviewBody) (store.ScheduleChange, error) {
	was, err := s.apiSchedule(q)
	if err != nil {
		return store.ScheduleChange{}, err
	}
	n, services, err := s.apiCatalog(q)
	if err != nil {
		return store.ScheduleChange{}, err
	}
	req := store.ScheduleChange{Schedule: q.scheduleRule(n, services, body.Rule, &was)}
	req.ID, req.Version, req.TenantID = was.ID, was.Version, was.TenantID
	if q.text("from", body.From, longestDay, true) != "" {
		req.From = q.apiDay("from", body.From)
	}
	return req, nil
}

func (s *Server) apiChangeSchedule(q *apiRequest) (any, error) {
	var body scheduleChangeBody
	if err := q.decode(&body); err != nil {
		return nil, err
	}
	req, err := s.apiScheduleChange(q, scheduleChangePreviewBody{Rule: body.Rule, From: body.From})
	if err != nil {
		return nil, err
	}
	if req.Version, err = q.scheduleVersion(store.Schedule{Version: req.Version}); err != nil {
		return nil, err
	}
	req.Print, req.Reason = q.text("print", body.Print, longestPrint, true), q.text("reason", body.Reason, longestReason, false)
	if req.Choice = store.ChangeChoice(body.Choice); !slices.Contains(store.ChangeChoices, req.Choice) {
		q.fault("choice", "invalid")
	}
	if err := q.ok(); err != nil {
		return nil, err
	}
	req.Others, req.NewID, req.Actor = body.Others, newKey(), q.actor()
	changed, err := s.store.ChangeSchedule(q.Context(), req)
	if err != nil {
		return nil, planned(err)
	}
	return s.apiScheduleNow(q, changed.ID)
}

func (s *Server) apiPreviewScheduleEnd(q *apiRequest) (any, error) {
	q.query()
	if err := q.ok(); err != nil {
		return nil, err
	}
	c, err := s.apiSchedule(q)
	if err != nil {
		return nil, err
	}
	plan, err := s.store.PreviewEndSchedule(q.Context(), c.TenantID, c.ID)
	if err != nil {
		return nil, err
	}
	return changePlanOf(plan), nil
}

func (s *Server) apiEndSchedule(q *apiRequest) (any, error) {
	var body scheduleEndBody
	if err := q.decode(&body); err != nil {
		return nil, err
	}
	c, err := s.apiSchedule(q)
	if err != nil {
		return nil, err
	}
	version, err := q.scheduleVersion(c)
	if err != nil {
		return nil, err
	}
	reason, print := q.text("reason", body.Reason, longestReason, false), q.text("print", body.Print, longestPrint, !body.Stop)
	choice := store.ChangeChoice(body.Choice)
	if !body.Stop && choice != store.ChoiceCancel && choice != store.ChoiceKeep {
		q.fault("choice", "invalid")
	}
	if err := q.ok(); err != nil {
		return nil, err
	}
	_, err = s.store.EndSchedule(q.Context(), store.EndRequest{
		TenantID: c.TenantID, ID: c.ID, Version: version, Stop: body.Stop, Choice: choice, Reason: reason, Print: print, Actor: q.actor(),
	})
	if err != nil {
		return nil, err
	}
	return s.apiScheduleNow(q, c.ID)
}

func (s *Server) apiContinueSchedule(q *apiRequest) (any, error) {
	if err := q.decode(&struct{}{}); err != nil {
		return nil, err
	}
	c, err := s.apiSchedule(q)
	if err != nil {
		return nil, err
	}
	if _, err := s.store.ContinueSchedule(q.Context(), c.TenantID, c.ID, q.actor()); err != nil {
		return nil, err
	}
	return s.apiScheduleNow(q, c.ID)
}

func init() {
	manage := []string{scopeManage}
	apiOperations = append(apiOperations, []apiOperation{
		{http.MethodGet, "/schedules", manage, (*Server).apiGetSchedules, http.StatusOK, false, apiDoc{
			id: "listSchedules", text: "The schedules that make slots, newest first, without the deleted ones; at most 200.", answer: apiList[apiSchedule]{}, faults: []int{400},
		}},
		{http.MethodPost, "/schedules/preview", manage, (*Server).apiPreviewSchedule, http.StatusOK, false, apiDoc{
			id: "previewSchedule", text: "What a new schedule would make now, slot by slot, and why some would be left out. Nothing is written.", body: schedulePreviewBody{}, required: []string{"rule"},
			answer: apiPlan{}, faults: []int{400, 413, 415},
		}},
		{http.MethodPost, "/schedules", manage, (*Server).apiPostSchedule, http.StatusCreated, true, apiDoc{
			id: "addSchedule", text: "Store a schedule and make exactly the slots of the plan whose print is given, or none: 409 conflict where the plan would be another by now, overlaps where some overlap and others does not ask for the rest.",
			body: scheduleBody{}, required: []string{"rule", "print"}, answer: apiSchedule{}, etag: true, faults: []int{400, 409, 413, 415, 422},
		}},
		{http.MethodGet, "/schedules/{schedule}", manage, (*Server).apiGetSchedule, http.StatusOK, false, apiDoc{
			id: "getSchedule", text: "A schedule. The ETag is its version, for If-Match.", answer: apiSchedule{}, etag: true, faults: []int{400, 404},
		}},
		{http.MethodPost, "/schedules/{schedule}/preview", manage, (*Server).apiPreviewScheduleChange, http.StatusOK, false, apiDoc{
			id: "previewScheduleChange", text: "What another rule from a day on would do to the slots that are there, and what it would make. Nothing is written.",
			body: scheduleChangePreviewBody{}, required: []string{"rule", "from"}, answer: apiChangePlan{}, faults: []int{400, 404, 413, 415},
		}},
		{http.MethodPost, "/schedules/{schedule}/change", manage, (*Server).apiChangeSchedule, http.StatusOK, true, apiDoc{
			id: "changeSchedule", text: "Give a schedule another rule from a day on, as the plan says whose print is given. The answer is the schedule that makes the slots from then on, with what was done; unfinished where some is left to be continued. If-Match names the version that was seen, or *; where that or the plan is another by now, 412.",
			body: scheduleChangeBody{}, required: []string{"rule", "from", "print", "choice"}, match: true, answer: apiSchedule{}, etag: true, faults: []int{400, 404, 409, 412, 413, 415, 422, 428},
		}},
		{http.MethodGet, "/schedules/{schedule}/end", manage, (*Server).apiPreviewScheduleEnd, http.StatusOK, false, apiDoc{
			id: "previewScheduleEnd", text: "Which slots would go if the schedule ended now. Nothing is written.", answer: apiChangePlan{}, faults: []int{400, 404},
		}},
		{http.MethodPost, "/schedules/{schedule}/end", manage, (*Server).apiEndSchedule, http.StatusOK, true, apiDoc{
			id: "endSchedule", text: "End a schedule: its coming slots go, those with people as choice says. With stop only no new ones are made. If-Match as in changeSchedule.",
			body: scheduleEndBody{}, match: true, answer: apiSchedule{}, etag: true, faults: []int{400, 404, 409, 412, 413, 415, 422, 428},
		}},
		{http.MethodPost, "/schedules/{schedule}/continue", manage, (*Server).apiContinueSchedule, http.StatusOK, true, apiDoc{
			id: "continueSchedule", text: "Go on with a change that is unfinished; where nothing is left, the answer is the schedule.", body: struct{}{}, answer: apiSchedule{}, etag: true, faults: []int{400, 404, 409, 413, 415, 422},
		}},
	}...)
}
