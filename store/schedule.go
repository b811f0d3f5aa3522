package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// ScheduleState says whether a schedule makes slots.
type ScheduleState string

// The states of a schedule.
const (
	ScheduleActive  ScheduleState = "active"
	ScheduleStopped ScheduleState = "stopped" // its slots stay, no new ones are made
	ScheduleEnded   ScheduleState = "ended"   // deleted: off the list, its coming slots cancelled or on their own
)

// Schedule makes slots of a service by a rule. A slot remembers the day and
// time that it stands for, so that however often the schedule is run, and
// whatever was done to the slot by hand, it is made once.
//
// A schedule without a last day is made up to Horizon, and further by the
// sweep once a day.
type Schedule struct {
	ID         string
	TenantID   string
	ServiceID  string
	ResourceID string
	Recurrence
	SkipClosed   bool // leave out the venue's closed days
	SkipHolidays bool // leave out the public holidays of Japan
	Capacity     int
	State        ScheduleState
	Version      int
	MadeUntil    string // 2006-01-02, up to which day it was made; empty: never
	Pending      *PendingChange
	Result       *ScheduleResult
}

// PendingChange is a change of slots that was decided on; it is gone when it is through.
type PendingChange struct {
	From   string       `json:"from"` // 2006-01-02
	Choice ChangeChoice `json:"choice"`
	Reason string       `json:"reason"`
}

// ScheduleResult is what the last press on a schedule did, as numbers and ids of slots.
type ScheduleResult struct {
	At        time.Time    `json:"at"`
	Made      int          `json:"made"`
	First     string       `json:"first,omitempty"` // the day of the first one made, on the wall: 2006-01-02
	Moved     int          `json:"moved,omitempty"`
	Cancelled int          `json:"cancelled,omitempty"`
	Kept      int          `json:"kept,omitempty"`
	Resized   int          `json:"resized,omitempty"`
	Told      int          `json:"told,omitempty"` // people who were written to, or have to be called
	Left      int          `json:"left,omitempty"` // still to be done
	Failed    []FailedSlot `json:"failed,omitempty"`
	Overlaps  []string     `json:"overlaps,omitempty"` // not made: day and time on the wall
}

// FailedSlot is a slot that could not be changed, and the refusal.
type FailedSlot struct {
	Slot string  `json:"slot"`
	Why  Outcome `json:"why"`
}

const scheduleColumns = `id::text, tenant_id::text, service_id::text, resource_id::text, rule, to_char(first_day, 'YYYY-MM-DD') AS first,
	coalesce(to_char(until_day, 'YYYY-MM-DD'), '') AS until, starts::int[] AS starts, except_days::text[] AS "except",
	skip_closed, skip_holidays, capacity, state, version, coalesce(to_char(made_until, 'YYYY-MM-DD'), '') AS made_until, pending, result`

const scheduleSQL = `-- schedule
SELECT ` + scheduleColumns + ` FROM schedules WHERE tenant_id = @tenant AND id = @schedule`

const lockScheduleSQL = `-- lock schedule
SELECT ` + scheduleColumns + ` FROM schedules WHERE tenant_id = @tenant AND id = @schedule FOR NO KEY UPDATE`

// Schedule reads one schedule; NotFound if there is none.
func (s *Store) Schedule(ctx context.Context, tenant, id string) (Schedule, error) {
	return one[Schedule](ctx, s.db, scheduleSQL, pgx.StrictNamedArgs{"tenant": tenant, "schedule": id})
}

// ListedSchedule is a schedule with what its slots come to.
type ListedSchedule struct {
	Schedule
	Coming int        // live slots that have not begun
	Next   *time.Time // the start of the first of them
}

const schedulesSQL = `-- schedules
SELECT s.*, n.coming, n.next FROM (SELECT ` + scheduleColumns + `, created_at FROM schedules WHERE tenant_id = @tenant AND (@id::text = '' AND state <> 'ended' OR id = NULLIF(@id, '')::uuid)) s
CROSS JOIN LATERAL (SELECT count(*)::int AS coming, min(starts_at) AS next FROM slots o WHERE o.tenant_id = @tenant AND o.schedule_id = s.id::uuid
	AND o.status <> 'cancelled' AND o.starts_at > coalesce(@at::timestamptz, statement_timestamp())) n
ORDER BY s.created_at DESC, s.id LIMIT 200`

// Schedules lists the schedules of a tenant that are not deleted, newest first.
func (s *Store) Schedules(ctx context.Context, tenant string) ([]ListedSchedule, error) {
	return s.listSchedules(ctx, tenant, "")
}

func (s *Store) listSchedules(ctx context.Context, tenant, id string) ([]ListedSchedule, error) {
	type row struct {
		ListedSchedule
		CreatedAt time.Time
	}
	rows, err := list[row](ctx, s.db, schedulesSQL, pgx.StrictNamedArgs{"tenant": tenant, "id": id, "at": s.at})
	out := make([]ListedSchedule, len(rows))
	for i, r := range rows {
		out[i] = r.ListedSchedule
	}
	return out, err
}

// ScheduleWithCounts is Schedule with what its slots come to; NotFound if there is none.
func (s *Store) ScheduleWithCounts(ctx context.Context, tenant, id string) (ListedSchedule, error) {
	found, err := s.listSchedules(ctx, tenant, id)
	if err == nil && len(found) == 0 {
		err = NotFound
	}
	if err != nil {
		return ListedSchedule{}, err
	}
	return found[0], nil
}

// SkipReason says why an occurrence is not made.
type SkipReason string

// The reasons.
const (
	SkipPast    SkipReason = "past"    // it has begun
	SkipClosed  SkipReason = "closed"  // a closed day of the venue
	SkipHoliday SkipReason = "holiday" // a public holiday of Japan
	SkipOverlap SkipReason = "overlap" // the resource is in another slot
	SkipSelf    SkipReason = "self"    // the one before of the same plan is not over
	SkipClock   SkipReason = "clock"   // a clock change pushes it onto another one of the same plan
	SkipThere   SkipReason = "there"   // made already
)

// PlannedSlot is an occurrence, and what would become of it.
type PlannedSlot struct {
	Occurrence
	EndsAt time.Time
	Why    SkipReason // empty: it would be made
	Note   Text       // of a closed day or a holiday; may be empty
	With   *BusySlot  // of SkipOverlap

	source *BusySlot // of a copy
}

// BusySlot is a slot that occupies a resource.
type BusySlot struct {
	ID         string
	ServiceID  string
	ResourceID string
	StartsAt   time.Time
	EndsAt     time.Time
	Capacity   int
}

// Plan is what a press would make, at the moment of reading.
type Plan struct {
	Slots   []PlannedSlot
	Through string // the last day looked at, 2006-01-02
	// Print is the same for two plans that would make and leave out the same.
	Print string
}

// Count counts the occurrences with a reason; the empty one counts what would be made.
func (p Plan) Count(why SkipReason) int {
	n := 0
	for _, slot := range p.Slots {
		if slot.Why == why {
			n++
		}
	}
	return n
}

func (p Plan) make() []PlannedSlot {
	return slices.DeleteFunc(slices.Clone(p.Slots), func(s PlannedSlot) bool { return s.Why != "" })
}

func (p *Plan) stamp(more ...any) {
	sum := sha256.New()
	for _, slot := range p.Slots {
		with := ""
		if slot.With != nil {
			with = slot.With.ID
		}
		fmt.Fprintf(sum, "%d %d %s %s\n", slot.StartsAt.Unix(), slot.EndsAt.Unix(), slot.Why, with)
	}
	fmt.Fprintln(sum, more...)
	p.Print = hex.EncodeToString(sum.Sum(nil)[:12])
}

const closedBetweenSQL = `-- closed days between
SELECT tenant_id::text, to_char(day, 'YYYY-MM-DD') AS day, note FROM closed_days
WHERE tenant_id = @tenant AND day BETWEEN @first::date AND @last::date ORDER BY day LIMIT 5000`

const busySQL = `-- slots that occupy a resource
SELECT id::text, service_id::text, resource_id::text, starts_at, ends_at, capacity FROM slots
WHERE tenant_id = @tenant AND resource_id = ANY(@resources::text[]::uuid[]) AND status <> 'cancelled' AND tstzrange(starts_at, ends_at) && tstzrange(@from, @to)
ORDER BY starts_at`

const madeSQL = `-- slots of a schedule
SELECT s.id::text, s.resource_id::text, s.starts_at, s.ends_at, s.capacity, s.taken, s.status, s.version, to_char(s.schedule_start, 'YYYY-MM-DD HH24:MI') AS local,
	r.parties, e.entries
FROM slots s
CROSS JOIN LATERAL (SELECT count(*)::int AS parties FROM reservations r WHERE r.tenant_id = s.tenant_id AND r.slot_id = s.id AND r.state IN ('held', 'confirmed')) r
CROSS JOIN LATERAL (SELECT count(*)::int AS entries FROM waitlist_entries e WHERE e.tenant_id = s.tenant_id AND e.slot_id = s.id AND e.state IN ('waiting', 'offered')) e
WHERE s.tenant_id = @tenant AND s.schedule_id = @schedule AND s.schedule_start >= @from::date
ORDER BY s.schedule_start`

// MadeSlot is a slot of a schedule.
type MadeSlot struct {
	ID         string
	ResourceID string
	StartsAt   time.Time
	EndsAt     time.Time
	Capacity   int
	Taken      int
	Status     SlotStatus
	Version    int64
	Local      string // the day and time that it stands for, 2006-01-02 15:04
	Parties    int    // live reservations
	Entries    int    // parties waiting or with an offer
}

// People reports whether somebody would have to be told of a change.
func (m MadeSlot) People() bool { return m.Parties+m.Entries > 0 }

// planning is what plans are made from, read once.
type planning struct {
	loc     *time.Location
	now     time.Time
	today   string
	service Service
	rules   Policies
}

func (s *Store) planning(ctx context.Context, db querier, tenant, service string) (planning, error) {
	var p planning
	t, err := one[Tenant](ctx, db, tenantByIDSQL, pgx.StrictNamedArgs{"tenant": tenant})
	if err != nil {
		return p, err
	}
	p.loc = t.Location()
	if err := db.QueryRow(ctx, nowSQL, pgx.StrictNamedArgs{"at": s.at}).Scan(&p.now); err != nil {
		return p, err
	}
	p.today = p.now.In(p.loc).Format(time.DateOnly)
	if service == "" {
		return p, nil
	}
	if p.service, err = one[Service](ctx, db, serviceSQL, pgx.StrictNamedArgs{"tenant": tenant, "service": service}); err != nil {
		return p, err
	}
	p.rules, err = p.service.Policies(t)
	return p, err
}

// Horizon is the last day, at the venue, up to which a schedule without end is
// made: the booking window and four weeks more, 400 days at most.
func (p planning) horizon() string {
	ahead := min(p.rules.BookingOpens.D()+28*24*time.Hour, farEnough)
	return p.now.In(p.loc).AddDate(0, 0, int(ahead.Hours()/24)).Format(time.DateOnly)
}

// later is the first instant of the day after the venue's today.
func (p planning) tomorrow() time.Time {
	y, m, d := p.now.In(p.loc).Date()
	return time.Date(y, m, d+1, 0, 0, 0, 0, p.loc)
}

// wanted gives the occurrences of a schedule from a day on: those that its
// rule and its switches ask for, the others with the reason.
func (s *Store) wanted(ctx context.Context, db querier, p planning, c Schedule, from string) (Plan, error) {
	plan := Plan{Through: c.Until}
	if c.Until == "" {
		plan.Through = p.horizon()
	}
	first := max(from, c.First)
	if first > plan.Through {
		return plan, nil
	}
	occurrences, err := c.Occurrences(first, plan.Through, p.loc)
	if err != nil {
		return plan, err
	}
	if len(occurrences) > 0 {
		plan.Slots = make([]PlannedSlot, 0, len(occurrences))
	}
	closed := map[string]Text{}
	if c.SkipClosed {
		days, err := list[ClosedDay](ctx, db, closedBetweenSQL, pgx.StrictNamedArgs{"tenant": c.TenantID, "first": first, "last": plan.Through})
		if err != nil {
			return plan, err
		}
		for _, d := range days {
			closed[d.Day] = d.Note
		}
	}
	for _, o := range occurrences {
		slot := PlannedSlot{Occurrence: o, EndsAt: o.StartsAt.Add(p.service.Duration)}
		note, shut := closed[o.Day]
		switch {
		case !o.StartsAt.After(p.now):
			slot.Why = SkipPast
		case shut:
			slot.Why, slot.Note = SkipClosed, note
		case c.SkipHolidays:
			day, err := time.Parse(time.DateOnly, o.Day)
			if err != nil {
				return plan, err
			}
			if name := JapaneseHoliday(day); name != nil {
				slot.Why, slot.Note = SkipHoliday, name
			}
		}
		plan.Slots = append(plan.Slots, slot)
	}
	// What the clock has pushed gives way to what is in its place.
	for i := range plan.Slots {
		if pushed := &plan.Slots[i]; pushed.Why == "" && pushed.Clock == ClockGap {
			for _, other := range plan.Slots {
				if other.Why == "" && other.Clock != ClockGap && other.StartsAt.Before(pushed.EndsAt) && pushed.StartsAt.Before(other.EndsAt) {
					pushed.Why = SkipClock
				}
			}
		}
	}
	return plan, nil
}

// fit says for each that is to be made whether its resource is free: of the
// slots of the plan before it, and of others.
func (s *Store) fit(ctx context.Context, db querier, tenant, resource string, plan *Plan, leaving map[string]bool, coming []BusySlot) error {
	var from, to time.Time
	for _, slot := range plan.Slots {
		if slot.Why == "" {
			if from.IsZero() {
				from = slot.StartsAt
			}
			to = slot.EndsAt
		}
	}
	if from.IsZero() {
		return nil
	}
	busy, err := list[BusySlot](ctx, db, busySQL, pgx.StrictNamedArgs{"tenant": tenant, "resources": []string{resource}, "from": from, "to": to})
	if err != nil {
		return err
	}
	busy = slices.DeleteFunc(busy, func(b BusySlot) bool { return leaving[b.ID] })
	busy = append(busy, coming...)
	slices.SortFunc(busy, func(a, b BusySlot) int { return a.StartsAt.Compare(b.StartsAt) })
	next, over := 0, time.Time{}
	for i := range plan.Slots {
		slot := &plan.Slots[i]
		if slot.Why != "" {
			continue
		}
		for next < len(busy) && !busy[next].EndsAt.After(slot.StartsAt) {
			next++
		}
		switch {
		case next < len(busy) && busy[next].StartsAt.Before(slot.EndsAt):
			slot.Why, slot.With = SkipOverlap, &busy[next]
		case slot.StartsAt.Before(over):
			slot.Why = SkipSelf
		default:
			over = slot.EndsAt
		}
	}
	return nil
}

func (s *Store) planSchedule(ctx context.Context, db querier, p planning, c Schedule) (Plan, error) {
	plan, err := s.wanted(ctx, db, p, c, max(p.today, c.First))
	if err != nil {
		return plan, err
	}
	made, err := list[MadeSlot](ctx, db, madeSQL, pgx.StrictNamedArgs{"tenant": c.TenantID, "schedule": c.ID, "from": p.today})
	if err != nil {
		return plan, err
	}
	there := map[string]bool{}
	for _, slot := range made {
		there[slot.Local] = true
	}
	for i := range plan.Slots {
		if there[plan.Slots[i].Local()] {
			plan.Slots[i].Why = SkipThere
		}
	}
	if err := s.fit(ctx, db, c.TenantID, c.ResourceID, &plan, nil, nil); err != nil {
		return plan, err
	}
	plan.stamp(c.ServiceID, c.ResourceID, c.Capacity, c.Rule, c.First, c.Until, c.Starts, c.Except, c.SkipClosed, c.SkipHolidays)
	return plan, nil
}

// PreviewSchedule tells which slots a schedule that is not stored yet would
// make, or a stored one would add. Nothing is written. Refusals: NotFound (service).
func (s *Store) PreviewSchedule(ctx context.Context, c Schedule) (Plan, error) {
	if c.ID == "" {
		c.ID = newID()
	}
	p, err := s.planning(ctx, s.db, c.TenantID, c.ServiceID)
	if err != nil {
		return Plan{}, classify(err)
	}
	plan, err := s.planSchedule(ctx, s.db, p, c)
	return plan, classify(err)
}

const addScheduleSQL = `-- add schedule
INSERT INTO schedules (tenant_id, id, service_id, resource_id, rule, first_day, until_day, starts, except_days, skip_closed, skip_holidays, capacity, pending)
VALUES (@tenant, @id, @service, @resource, @rule, @first::date, NULLIF(@until::text, '')::date, @starts::int[]::smallint[], @except::text[]::date[], @skip_closed, @skip_holidays, @capacity, @pending::jsonb)
ON CONFLICT (tenant_id, id) DO NOTHING`

func (c Schedule) insert(ctx context.Context, db querier, pending *PendingChange) (bool, error) {
	text, err := jsonOrNull(pending)
	if err != nil {
		return false, err
	}
	if c.Except == nil {
		c.Except = []string{}
	}
	tag, err := db.Exec(ctx, addScheduleSQL, pgx.StrictNamedArgs{
		"tenant": c.TenantID, "id": c.ID, "service": c.ServiceID, "resource": c.ResourceID, "rule": c.Rule, "first": c.First, "until": c.Until,
		"starts": c.Starts, "except": c.Except, "skip_closed": c.SkipClosed, "skip_holidays": c.SkipHolidays, "capacity": c.Capacity, "pending": text,
	})
	return tag.RowsAffected() == 1, err
}

func jsonOrNull[T any](v *T) (*string, error) {
	if v == nil {
		return nil, nil
	}
	b, err := json.Marshal(v)
	text := string(b)
	return &text, err
}

const insertSlotsSQL = `-- insert slots of a plan
INSERT INTO slots (tenant_id, id, service_id, resource_id, schedule_id, schedule_start, starts_at, ends_at, capacity, order_until, waitlist_mode, fit, hold_shown, hold_grace,
	offer_shown, offer_grace, broadcast_before, booking_opens, booking_closes, cancel_before, least_answer, quiet_from, quiet_until, party_max,
	waitlist_max, holds_per_visitor, few_left, one_per_person, reminder_before, erase_waitlist_after, erase_reservations_after)
SELECT @tenant, p.id::uuid, @service::uuid, p.resource::uuid, NULLIF(@schedule::text, '')::uuid, p.local, p.starts, p.ends, p.capacity, p.order_until, @waitlist_mode, @fit, @hold_shown, @hold_grace,
	@offer_shown, @offer_grace, @broadcast_before, @booking_opens, @booking_closes, @cancel_before, @least_answer, @quiet_from, @quiet_until, @party_max,
	@waitlist_max, @holds_per_visitor, @few_left, @one_per_person, @reminder_before, @erase_waitlist_after, @erase_reservations_after
FROM unnest(@ids::text[], @resources::text[], @locals::timestamp[], @starts::timestamptz[], @ends::timestamptz[], @order_untils::timestamptz[], @capacities::int[])
	AS p(id, resource, local, starts, ends, order_until, capacity)
ORDER BY p.starts
ON CONFLICT DO NOTHING
RETURNING id::text`

// slotToMake is one row to insert.
type slotToMake struct {
	id, resource     string
	local            *time.Time // labelled UTC
	startsAt, endsAt time.Time
	capacity         int
}

// insertChunk bounds the arguments of one statement.
const insertChunk = 2000

// insertSlots makes slots of one service, and gives the ids of those that were
// made: one whose occurrence is there, or whose resource is not free, is not.
func insertSlots(ctx context.Context, tx pgx.Tx, tenant, service, schedule string, rules Policies, slots []slotToMake) (map[string]bool, error) {
	made := map[string]bool{}
	for chunk := range slices.Chunk(slots, insertChunk) {
		args := rules.args()
		var ids, resources []string
		var locals []*time.Time
		var starts, ends []time.Time
		var orders []pgtype.Timestamptz
		var capacities []int
		for _, slot := range chunk {
			locked := lockedSlot{StartsAt: slot.startsAt}
			locked.take(rules)
			locked.setOrderUntil()
			ids, resources, locals = append(ids, slot.id), append(resources, slot.resource), append(locals, slot.local)
			starts, ends, orders, capacities = append(starts, slot.startsAt), append(ends, slot.endsAt), append(orders, locked.OrderUntil), append(capacities, slot.capacity)
		}
		args["tenant"], args["service"], args["schedule"], args["ids"], args["resources"], args["locals"] = tenant, service, schedule, ids, resources, locals
		args["starts"], args["ends"], args["order_untils"], args["capacities"] = starts, ends, orders, capacities
		rows, err := tx.Query(ctx, insertSlotsSQL, args)
		if err != nil {
			return nil, err
		}
		got, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return nil, err
		}
		for _, id := range got {
			made[id] = true
		}
	}
	return made, nil
}

func (c Schedule) toMake(plan []PlannedSlot) ([]slotToMake, error) {
	out := make([]slotToMake, 0, len(plan))
	for _, slot := range plan {
		local, err := time.Parse(localLayout, slot.Local())
		if err != nil {
			return nil, err
		}
		out = append(out, slotToMake{id: newID(), resource: c.ResourceID, local: &local, startsAt: slot.StartsAt, endsAt: slot.EndsAt, capacity: c.Capacity})
	}
	return out, nil
}

const localLayout = "2006-01-02 15:04"

const ranScheduleSQL = `-- schedule was run
UPDATE schedules SET made_until = greatest(made_until, NULLIF(@until::text, '')::date), result = @result::jsonb,
	extend_at = CASE WHEN state = 'active' AND until_day IS NULL THEN @next::timestamptz END
WHERE tenant_id = @tenant AND id = @schedule`

// makeIn inserts what the plan says, within the transaction.
func (s *Store) makeIn(ctx context.Context, tx pgx.Tx, p planning, c Schedule, plan Plan, result *ScheduleResult) error {
	planned := plan.make()
	rows, err := c.toMake(planned)
	if err != nil {
		return err
	}
	made, err := insertSlots(ctx, tx, c.TenantID, c.ServiceID, c.ID, p.rules, rows)
	if err != nil {
		return err
	}
	result.At, result.Made = p.now, result.Made+len(made)
	for i, row := range rows {
		local := planned[i].Local()
		switch {
		case !made[row.id]:
			result.Overlaps = append(result.Overlaps, local)
		case result.First == "" || local[:len(time.DateOnly)] < result.First:
			result.First = local[:len(time.DateOnly)]
		}
	}
	for _, slot := range plan.Slots {
		if (slot.Why == SkipOverlap || slot.Why == SkipSelf) && len(result.Overlaps) < 50 {
			result.Overlaps = append(result.Overlaps, slot.Local())
		}
	}
	text, err := jsonOrNull(result)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, ranScheduleSQL, pgx.StrictNamedArgs{"tenant": c.TenantID, "schedule": c.ID, "until": plan.Through, "result": text, "next": p.tomorrow()})
	return err
}

// NewSchedule is a schedule to be stored, as its preview showed it.
type NewSchedule struct {
	// Schedule has an ID that the form was given: the same form sent twice makes one.
	Schedule
	Print  string // of the preview
	Others bool   // make the others where some overlap
}

// retrying runs f in a transaction of its own, again where the database says
// that nothing of it was done.
func (s *Store) retrying(ctx context.Context, f func(pgx.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, LongestWait)
	defer cancel()
	for attempt := 1; ; attempt++ {
		err := pgx.BeginFunc(ctx, s.db, f)
		if err == nil || !retryable(err) || attempt == 4 || wait(ctx, backoff(attempt)) != nil {
			return err
		}
	}
}

// CreateSchedule stores a schedule and makes its slots, exactly those of the
// preview or none. Refusals: Conflict (the plan is another now), Overlaps (some
// do, and Others was not asked for, or all do), NotFound (service or resource).
// One that was stored before is given as it is.
func (s *Store) CreateSchedule(ctx context.Context, req NewSchedule) (Schedule, error) {
	if err := req.check(); err != nil {
		return Schedule{}, err
	}
	err := s.retrying(ctx, func(tx pgx.Tx) error {
		p, err := s.planning(ctx, tx, req.TenantID, req.ServiceID)
		if err != nil {
			return err
		}
		fresh, err := req.insert(ctx, tx, nil)
		if err != nil || !fresh {
			return err
		}
		plan, err := s.planSchedule(ctx, tx, p, req.Schedule)
		if err != nil {
			return err
		}
		overlaps := plan.Count(SkipOverlap) + plan.Count(SkipSelf)
		switch {
		case plan.Print != req.Print:
			return Conflict
		case overlaps > 0 && (!req.Others || plan.Count("") == 0):
			return Overlaps
		}
		var result ScheduleResult
		if err := s.makeIn(ctx, tx, p, req.Schedule, plan, &result); err != nil {
			return err
		}
		if result.Made != plan.Count("") {
			return Conflict // somebody was faster
		}
		return nil
	})
	if code(err) == "23503" { // a resource that is absent or another tenant's
		err = NotFound
	}
	if err := s.settle("schedule", err); err != nil {
		return Schedule{}, err
	}
	return s.Schedule(ctx, req.TenantID, req.ID)
}

// RunSchedule makes the slots of a stored schedule that are not there yet and
// have room, and tells what it made and what overlaps. However often it is run,
// nothing is made twice. Refusals: NotFound, Closed (it is stopped), Conflict (a
// change of its slots is not through).
func (s *Store) RunSchedule(ctx context.Context, tenant, id string) (ScheduleResult, error) {
	var result ScheduleResult
	err := s.retrying(ctx, func(tx pgx.Tx) error {
		result = ScheduleResult{}
		c, err := one[Schedule](ctx, tx, lockScheduleSQL, pgx.StrictNamedArgs{"tenant": tenant, "schedule": id})
		switch {
		case err != nil:
			return err
		case c.State != ScheduleActive:
			return Closed
		case c.Pending != nil:
			return Conflict
		}
		p, err := s.planning(ctx, tx, tenant, c.ServiceID)
		if err != nil {
			return err
		}
		plan, err := s.planSchedule(ctx, tx, p, c)
		if err != nil {
			return err
		}
		return s.makeIn(ctx, tx, p, c, plan, &result)
	})
	return result, s.settle("run_schedule", err)
}

const schedulesToExtendSQL = `-- schedules to extend
SELECT tenant_id::text AS tenant, id::text AS schedule FROM schedules
WHERE extend_at <= coalesce(@at::timestamptz, statement_timestamp()) ORDER BY extend_at LIMIT 50`

const extendLaterSQL = `-- extend schedule later
UPDATE schedules SET extend_at = coalesce(@at::timestamptz, statement_timestamp()) + interval '1 hour' WHERE tenant_id = @tenant AND id = @schedule AND extend_at IS NOT NULL`

// ExtendSchedules makes the schedules without end longer, each at most once a
// day. One that fails is tried again in an hour and does not stop the others.
// It gives the number of slots made. Any number of instances may do so at once.
func (s *Store) ExtendSchedules(ctx context.Context) (int, error) {
	type ref struct{ Tenant, Schedule string }
	due, err := list[ref](ctx, s.db, schedulesToExtendSQL, pgx.StrictNamedArgs{"at": s.at})
	if err != nil {
		return 0, err
	}
	made := 0
	var failed []error
	for _, r := range due {
		result, err := s.RunSchedule(ctx, r.Tenant, r.Schedule)
		made += result.Made
		if err == nil {
			continue
		}
		if !errors.As(err, new(Outcome)) {
			failed = append(failed, fmt.Errorf("schedule %s: %w", r.Schedule, err))
		}
		if _, err := s.db.Exec(ctx, extendLaterSQL, pgx.StrictNamedArgs{"tenant": r.Tenant, "schedule": r.Schedule, "at": s.at}); err != nil {
			failed = append(failed, err)
		}
	}
	return made, errors.Join(failed...)
}
