package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// ChangeChoice says what becomes of slots with people in them when their
// schedule changes.
type ChangeChoice string

// The choices.
const (
	ChoiceMove   ChangeChoice = "move"   // to the new time; where there is none, cancelled; everybody is told
	ChoiceCancel ChangeChoice = "cancel" // cancelled, everybody is told; the new time is made empty
	ChoiceKeep   ChangeChoice = "keep"   // left as they are, and from now on a slot of its own
)

// ChangeChoices lists them.
var ChangeChoices = []ChangeChoice{ChoiceMove, ChoiceCancel, ChoiceKeep}

// ScheduleChange edits a schedule from a day on.
type ScheduleChange struct {
	// Schedule has the id and the version that the form showed, and the rule as it is to be from From on.
	Schedule
	From string // 2006-01-02 at the venue: earlier slots stay as they are
	// NewID is that of the schedule that takes over on From where the old one
	// still has days before it; given by the form, so that a press twice is one.
	NewID  string
	Choice ChangeChoice
	Reason string
	Print  string // of the preview
	Others bool   // make the others where some of the new ones overlap
	Actor  Actor
}

// SlotEffect says what a change does to a slot.
type SlotEffect string

// The effects.
const (
	EffectNone   SlotEffect = "none"
	EffectMove   SlotEffect = "move"   // it has a new time or resource
	EffectResize SlotEffect = "resize" // only the number of seats differs
	EffectRemove SlotEffect = "remove" // the new rule has no place for it
)

// ChangedSlot is a slot of the schedule, and what the new rule means for it.
type ChangedSlot struct {
	MadeSlot
	Effect SlotEffect
	To     *Occurrence // of EffectMove
	ToEnds time.Time
}

// ChangePlan is what a change of a schedule would do, at the moment of reading.
type ChangePlan struct {
	// Split: days before From remain with the old schedule, a new one takes over.
	Split   bool
	Slots   []ChangedSlot // those with an effect, by start
	Plan    Plan          // what would be made besides
	Current []ChangedSlot // those without
}

// Count counts the slots with an effect, of those with people or without.
func (p ChangePlan) Count(effect SlotEffect, people bool) int {
	n := 0
	for _, slot := range p.Slots {
		if slot.Effect == effect && slot.People() == people {
			n++
		}
	}
	return n
}

// Touched counts the slots with people that would be moved or cancelled.
func (p ChangePlan) Touched() int { return p.Count(EffectMove, true) + p.Count(EffectRemove, true) }

// compare finds for each slot of the schedule from a day on what the wanted
// occurrences mean for it. A slot takes the occurrence of its own day and time;
// those left over take, in order, what is left of their day, then of their week
// if as many are left there. The wanted ones that nobody took remain.
func compare(c Schedule, made []MadeSlot, wanted []PlannedSlot, now time.Time) (slots []ChangedSlot, left []PlannedSlot) {
	taken := make([]*PlannedSlot, len(made))
	free := map[string]*PlannedSlot{}
	for i := range wanted {
		if wanted[i].Why == "" {
			free[wanted[i].Local()] = &wanted[i]
		}
	}
	for i, m := range made {
		if o := free[m.Local]; o != nil {
			taken[i] = o
			delete(free, m.Local)
		}
	}
	pair := func(group func(local string) string, evenly bool) {
		groups := map[string][]*PlannedSlot{}
		for i := range wanted {
			if local := wanted[i].Local(); free[local] == &wanted[i] {
				groups[group(local)] = append(groups[group(local)], &wanted[i])
			}
		}
		open := map[string][]int{}
		for i, m := range made {
			if taken[i] == nil {
				open[group(m.Local)] = append(open[group(m.Local)], i)
			}
		}
		for key, members := range open {
			targets := groups[key]
			if evenly && len(targets) != len(members) {
				continue
			}
			for k, i := range members {
				if k < len(targets) {
					taken[i] = targets[k]
					delete(free, targets[k].Local())
				}
			}
		}
	}
	pair(func(local string) string { return local[:10] }, false)
	pair(weekOf, true)
	for i, m := range made {
		slot := ChangedSlot{MadeSlot: m, Effect: EffectRemove}
		if o := taken[i]; o != nil {
			slot.Effect = EffectNone
			switch {
			case o.Local() != m.Local || m.ResourceID != c.ResourceID:
				slot.Effect, slot.To = EffectMove, &o.Occurrence
				slot.ToEnds = o.StartsAt.Add(m.EndsAt.Sub(m.StartsAt))
				if o.Local() == m.Local { // moved by hand before: its time is its own
					at := o.Occurrence
					at.StartsAt, slot.ToEnds = m.StartsAt, m.EndsAt
					slot.To = &at
				}
			case m.Capacity != c.Capacity:
				slot.Effect = EffectResize
			}
		}
		if m.Status != SlotCancelled && !m.StartsAt.After(now) {
			slot.Effect = EffectNone // it has begun
		}
		slots = append(slots, slot)
	}
	for i := range wanted {
		if free[wanted[i].Local()] == &wanted[i] {
			left = append(left, wanted[i])
		}
	}
	return slots, left
}

func weekOf(local string) string {
	day, err := time.Parse(time.DateOnly, local[:10])
	if err != nil {
		return local
	}
	year, week := day.ISOWeek()
	return fmt.Sprintf("%d-%02d", year, week)
}

// changePlan compares a schedule as it is to be with its slots from a day on.
// An ended one wants nothing.
func (s *Store) changePlan(ctx context.Context, db querier, p planning, c Schedule, made string, from string) (ChangePlan, error) {
	var out ChangePlan
	var err error
	if c.State != ScheduleEnded {
		if out.Plan, err = s.wanted(ctx, db, p, c, from); err != nil {
			return out, err
		}
	}
	all, err := list[MadeSlot](ctx, db, madeSQL, pgx.StrictNamedArgs{"tenant": c.TenantID, "schedule": made, "from": from})
	if err != nil {
		return out, err
	}
	slots, left := compare(c, all, out.Plan.Slots, p.now)
	leaving := map[string]bool{}
	var coming []BusySlot
	var print []string
	for _, slot := range slots {
		if slot.Effect == EffectNone {
			out.Current = append(out.Current, slot)
			continue
		}
		if slot.Status != SlotCancelled {
			leaving[slot.ID] = slot.Effect != EffectResize
			if slot.Effect == EffectMove {
				coming = append(coming, BusySlot{ID: slot.ID, StartsAt: slot.To.StartsAt, EndsAt: slot.ToEnds})
			}
			print = append(print, fmt.Sprint(slot.ID, slot.Effect, slot.Version))
		}
		out.Slots = append(out.Slots, slot)
	}
	// What is passed over stays in the plan, so that a preview can say why.
	kept := slices.DeleteFunc(slices.Clone(out.Plan.Slots), func(o PlannedSlot) bool { return o.Why == "" })
	out.Plan.Slots = append(kept, left...)
	slices.SortStableFunc(out.Plan.Slots, func(a, b PlannedSlot) int { return a.StartsAt.Compare(b.StartsAt) })
	if err := s.fit(ctx, db, c.TenantID, c.ResourceID, &out.Plan, leaving, coming); err != nil {
		return out, err
	}
	out.Plan.stamp(print, c.Rule, c.First, c.Until, c.Starts, c.Except, c.SkipClosed, c.SkipHolidays, c.Capacity, c.ResourceID, from)
	return out, nil
}

// settleChange fills what a change leaves open: whether a new schedule takes over, and from which day.
func settleChange(p planning, was Schedule, req *ScheduleChange) (split bool, err error) {
	req.TenantID, req.ServiceID, req.State = was.TenantID, was.ServiceID, was.State
	if was.State == ScheduleStopped {
		req.State = ScheduleActive // whoever edits it wants it
	}
	req.From = max(req.From, p.today)
	req.ID = was.ID
	same := was.Rule == req.Rule && slices.Equal(was.Starts, req.Starts) && was.ResourceID == req.ResourceID && was.Capacity == req.Capacity
	if same || req.From <= was.First {
		return false, nil
	}
	yesterday, err := dayBefore(req.From)
	if err != nil {
		return false, err
	}
	before, err := was.Days(max(p.today, was.First), yesterday)
	if err != nil || len(before) == 0 {
		return false, err
	}
	req.First = max(req.First, req.From)
	return true, nil
}

func dayBefore(day string) (string, error) {
	at, err := time.Parse(time.DateOnly, day)
	return at.AddDate(0, 0, -1).Format(time.DateOnly), err
}

func (s *Store) previewChange(ctx context.Context, db querier, p planning, was Schedule, req *ScheduleChange) (ChangePlan, error) {
	split, err := settleChange(p, was, req)
	if err != nil {
		return ChangePlan{}, err
	}
	if err := req.Schedule.check(); err != nil {
		return ChangePlan{}, err
	}
	plan, err := s.changePlan(ctx, db, p, req.Schedule, was.ID, req.From)
	plan.Split = split
	return plan, err
}

// PreviewScheduleChange tells what ChangeSchedule would do. Nothing is written.
// Refusals: NotFound.
func (s *Store) PreviewScheduleChange(ctx context.Context, req ScheduleChange) (ChangePlan, error) {
	was, err := s.Schedule(ctx, req.TenantID, req.ID)
	if err != nil {
		return ChangePlan{}, err
	}
	p, err := s.planning(ctx, s.db, req.TenantID, was.ServiceID)
	if err != nil {
		return ChangePlan{}, classify(err)
	}
	plan, err := s.previewChange(ctx, s.db, p, was, &req)
	return plan, classify(err)
}

const editScheduleSQL = `-- edit schedule
UPDATE schedules SET resource_id = @resource, rule = @rule, first_day = @first::date, until_day = NULLIF(@until::text, '')::date, starts = @starts::int[]::smallint[],
	except_days = @except::text[]::date[], skip_closed = @skip_closed, skip_holidays = @skip_holidays, capacity = @capacity, state = @state,
	pending = @pending::jsonb, result = NULL, extend_at = NULL, version = version + 1
WHERE tenant_id = @tenant AND id = @id`

func (c Schedule) update(ctx context.Context, db querier, pending *PendingChange) error {
	text, err := jsonOrNull(pending)
	if err != nil {
		return err
	}
	if c.Except == nil {
		c.Except = []string{}
	}
	_, err = db.Exec(ctx, editScheduleSQL, pgx.StrictNamedArgs{
		"tenant": c.TenantID, "id": c.ID, "resource": c.ResourceID, "rule": c.Rule, "first": c.First, "until": c.Until, "starts": c.Starts, "except": c.Except,
		"skip_closed": c.SkipClosed, "skip_holidays": c.SkipHolidays, "capacity": c.Capacity, "state": c.State, "pending": text,
	})
	return err
}

const handOverSQL = `-- hand slots over to another schedule
UPDATE slots SET schedule_id = @to WHERE tenant_id = @tenant AND schedule_id = @schedule AND schedule_start >= @from::date`

// ChangeSchedule stores the new rule, and then takes it into the slots one by
// one, each by the step that staff would press: nothing but that one slot is
// locked. What is left when it ends early is remembered, and done by
// ContinueSchedule. It gives the schedule that now makes the slots, with its
// Result. Refusals: NotFound, Conflict (the schedule or the plan is another
// now), Overlaps (some of the new ones do, and Others was not asked for).
func (s *Store) ChangeSchedule(ctx context.Context, req ScheduleChange) (Schedule, error) {
	tenant, old, version := req.TenantID, req.ID, req.Version
	id := old
	err := s.retrying(ctx, func(tx pgx.Tx) error {
		was, err := one[Schedule](ctx, tx, lockScheduleSQL, pgx.StrictNamedArgs{"tenant": tenant, "schedule": old})
		switch {
		case err != nil:
			return err
		case was.Version != version || was.Pending != nil || was.State == ScheduleEnded:
			return Conflict
		}
		p, err := s.planning(ctx, tx, tenant, was.ServiceID)
		if err != nil {
			return err
		}
		to := req
		plan, err := s.previewChange(ctx, tx, p, was, &to)
		switch {
		case err != nil:
			return err
		case plan.Plan.Print != req.Print:
			return Conflict
		case !req.Others && plan.Plan.Count(SkipOverlap)+plan.Plan.Count(SkipSelf) > 0:
			return Overlaps
		}
		pending := &PendingChange{From: to.From, Choice: req.Choice, Reason: req.Reason}
		if !plan.Split {
			id = old
			return to.Schedule.update(ctx, tx, pending)
		}
		if was.Until, err = dayBefore(to.From); err != nil {
			return err
		}
		if err := was.update(ctx, tx, nil); err != nil {
			return err
		}
		id, to.ID = req.NewID, req.NewID
		if fresh, err := to.Schedule.insert(ctx, tx, pending); err != nil || !fresh {
			return errors.Join(err, Conflict)
		}
		_, err = tx.Exec(ctx, handOverSQL, pgx.StrictNamedArgs{"tenant": tenant, "schedule": old, "to": id, "from": to.From})
		return err
	})
	if code(err) == "23503" {
		err = NotFound
	}
	if err := s.settle("change_schedule", err); err != nil {
		return Schedule{}, err
	}
	return s.ContinueSchedule(ctx, tenant, id, req.Actor)
}

// EndRequest stops or deletes a schedule.
type EndRequest struct {
	TenantID string
	ID       string
	Version  int
	// Stop: only no new slots. Otherwise the coming ones go: those without
	// people are cancelled, those with by Choice, cancel or keep.
	Stop   bool
	Choice ChangeChoice
	Reason string
	Print  string // of the preview; not asked for Stop
	Actor  Actor
}

// PreviewEndSchedule tells which slots EndSchedule would cancel. Nothing is written.
func (s *Store) PreviewEndSchedule(ctx context.Context, tenant, id string) (ChangePlan, error) {
	c, err := s.Schedule(ctx, tenant, id)
	if err != nil {
		return ChangePlan{}, err
	}
	p, err := s.planning(ctx, s.db, tenant, c.ServiceID)
	if err != nil {
		return ChangePlan{}, classify(err)
	}
	c.State = ScheduleEnded
	plan, err := s.changePlan(ctx, s.db, p, c, id, p.today)
	return plan, classify(err)
}

// EndSchedule stops or deletes a schedule. Ending twice is one ending.
// Refusals: NotFound, Conflict.
func (s *Store) EndSchedule(ctx context.Context, req EndRequest) (Schedule, error) {
	err := s.retrying(ctx, func(tx pgx.Tx) error {
		c, err := one[Schedule](ctx, tx, lockScheduleSQL, pgx.StrictNamedArgs{"tenant": req.TenantID, "schedule": req.ID})
		switch {
		case err != nil:
			return err
		case c.State == ScheduleEnded || req.Stop && c.State == ScheduleStopped:
			return nil
		case c.Version != req.Version || c.Pending != nil:
			return Conflict
		case req.Stop:
			c.State = ScheduleStopped
			return c.update(ctx, tx, nil)
		}
		p, err := s.planning(ctx, tx, req.TenantID, c.ServiceID)
		if err != nil {
			return err
		}
		c.State = ScheduleEnded
		plan, err := s.changePlan(ctx, tx, p, c, c.ID, p.today)
		if err != nil {
			return err
		}
		if plan.Plan.Print != req.Print {
			return Conflict
		}
		return c.update(ctx, tx, &PendingChange{From: p.today, Choice: req.Choice, Reason: req.Reason})
	})
	if err := s.settle("end_schedule", err); err != nil {
		return Schedule{}, err
	}
	return s.ContinueSchedule(ctx, req.TenantID, req.ID, req.Actor)
}

// mostSteps bounds one press: the rest is done by the next one.
const mostSteps = 400

const detachSQL = `-- take slots off a schedule
UPDATE slots SET schedule_id = NULL, schedule_start = NULL WHERE tenant_id = @tenant AND schedule_id = @schedule AND id = ANY(@slots::text[]::uuid[])`

const reattachSQL = `-- slot stands for another occurrence
UPDATE slots SET schedule_start = @local::timestamp WHERE tenant_id = @tenant AND schedule_id = @schedule AND id = @slot`

const progressSQL = `-- change of a schedule went on
UPDATE schedules SET result = @result::jsonb WHERE tenant_id = @tenant AND id = @schedule`

const changeDoneSQL = `-- change of a schedule is through
UPDATE schedules SET pending = NULL WHERE tenant_id = @tenant AND id = @schedule AND pending IS NOT NULL`

// ContinueSchedule takes a change that was decided on into the slots that it
// has not reached. What is to be done is found from the slots as they stand, so
// that it may be interrupted and repeated at any point. It gives the schedule,
// with what was done in Result. Refusals: NotFound, Conflict (somebody else is at it).
func (s *Store) ContinueSchedule(ctx context.Context, tenant, id string, actor Actor) (Schedule, error) {
	c, err := s.Schedule(ctx, tenant, id)
	if err != nil || c.Pending == nil {
		return c, err
	}
	// A step that waits for a lock longer than the whole may take is left to the next press.
	ctx, cancel := context.WithTimeout(ctx, LongestWait-time.Second)
	defer cancel()
	err = s.continueChange(ctx, c, actor)
	if ctx.Err() != nil && err != nil {
		err = nil // the page says that it is not through
	}
	if err := s.settle("continue_schedule", err); err != nil {
		return Schedule{}, err
	}
	return s.Schedule(context.WithoutCancel(ctx), tenant, id)
}

func (s *Store) continueChange(ctx context.Context, c Schedule, actor Actor) error {
	result := ScheduleResult{}
	if c.Result != nil {
		result = *c.Result
	}
	steps := 0
	failed := map[string]Outcome{}
	for pass := 0; pass < 10; pass++ {
		p, err := s.planning(ctx, s.db, c.TenantID, c.ServiceID)
		if err != nil {
			return err
		}
		plan, err := s.changePlan(ctx, s.db, p, c, c.ID, c.Pending.From)
		if err != nil {
			return err
		}
		clear(failed)
		before := steps
		if err := s.changeSlots(ctx, c, plan, actor, &result, &steps, failed); err != nil {
			return errors.Join(err, s.noteProgress(ctx, c, p, result, failed, len(plan.Slots)))
		}
		if steps >= mostSteps {
			return s.noteProgress(ctx, c, p, result, nil, len(plan.Slots)-(steps-before))
		}
		stale := false // somebody did something to the slot meanwhile: judged once more
		for _, why := range failed {
			stale = stale || why == Conflict
		}
		if steps == before && !stale {
			break
		}
	}
	return s.retrying(ctx, func(tx pgx.Tx) error {
		now, err := one[Schedule](ctx, tx, lockScheduleSQL, pgx.StrictNamedArgs{"tenant": c.TenantID, "schedule": c.ID})
		if err != nil || now.Pending == nil {
			return err // another press has finished it
		}
		p, err := s.planning(ctx, tx, c.TenantID, c.ServiceID)
		if err != nil {
			return err
		}
		plan, err := s.changePlan(ctx, tx, p, now, c.ID, c.Pending.From)
		if err != nil {
			return err
		}
		final := result
		final.Left, final.Failed = 0, nil
		for slot, why := range failed {
			final.Failed = append(final.Failed, FailedSlot{Slot: slot, Why: why})
		}
		slices.SortFunc(final.Failed, func(a, b FailedSlot) int { return strings.Compare(a.Slot, b.Slot) })
		if err := s.makeIn(ctx, tx, p, now, plan.Plan, &final); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, changeDoneSQL, pgx.StrictNamedArgs{"tenant": c.TenantID, "schedule": c.ID})
		return err
	})
}

func (s *Store) noteProgress(ctx context.Context, c Schedule, p planning, result ScheduleResult, failed map[string]Outcome, left int) error {
	result.At, result.Left, result.Failed = p.now, max(1, left), nil
	for slot, why := range failed {
		result.Failed = append(result.Failed, FailedSlot{Slot: slot, Why: why})
	}
	text, err := jsonOrNull(&result)
	if err != nil {
		return err
	}
	_, err = s.db.Exec(context.WithoutCancel(ctx), progressSQL, pgx.StrictNamedArgs{"tenant": c.TenantID, "schedule": c.ID, "result": text})
	return err
}

// changeSlots makes one pass. A slot whose new time is still another's waits
// for the next; what was refused stands in failed.
func (s *Store) changeSlots(ctx context.Context, c Schedule, plan ChangePlan, actor Actor, result *ScheduleResult, steps *int, failed map[string]Outcome) error {
	at := map[string]string{} // which slot stands for a day and time
	for _, slot := range slices.Concat(plan.Slots, plan.Current) {
		at[slot.Local] = slot.ID
	}
	// Later ones first where they go to a later time, so that they make room.
	slots := slices.Clone(plan.Slots)
	if i := slices.IndexFunc(slots, func(x ChangedSlot) bool { return x.Effect == EffectMove }); i >= 0 && slots[i].To.StartsAt.After(slots[i].StartsAt) {
		slices.Reverse(slots)
	}
	for _, slot := range slots {
		if *steps >= mostSteps {
			return nil
		}
		if slot.Effect == EffectMove {
			if other, there := at[slot.To.Local()]; there && other != slot.ID {
				failed[slot.ID] = Overlaps
				continue
			}
		}
		done, err := s.changeSlot(ctx, c, slot, actor, result)
		var o Outcome
		switch {
		case errors.As(err, &o) && o != Busy:
			failed[slot.ID] = o
		case err != nil:
			return err
		case done:
			*steps++
			delete(at, slot.Local)
			if slot.Effect != EffectRemove && slot.To != nil {
				at[slot.To.Local()] = slot.ID
			}
		}
	}
	return nil
}

func (s *Store) changeSlot(ctx context.Context, c Schedule, slot ChangedSlot, actor Actor, result *ScheduleResult) (bool, error) {
	detach := func() error {
		_, err := s.db.Exec(ctx, detachSQL, pgx.StrictNamedArgs{"tenant": c.TenantID, "schedule": c.ID, "slots": []string{slot.ID}})
		return err
	}
	reattach := func() error {
		_, err := s.db.Exec(ctx, reattachSQL, pgx.StrictNamedArgs{"tenant": c.TenantID, "schedule": c.ID, "slot": slot.ID, "local": slot.To.Local()})
		return err
	}
	choice := c.Pending.Choice
	version := &slot.Version // somebody may have booked since: then it is judged anew
	told := slot.Parties + slot.Entries
	switch {
	case slot.Status == SlotCancelled && slot.Effect == EffectMove:
		return true, reattach() // cancelled by hand: it stays so at the new time
	case slot.Status == SlotCancelled && slot.Effect == EffectRemove:
		return true, detach()
	case slot.Status == SlotCancelled:
		return false, nil
	case slot.Effect == EffectResize:
		_, err := s.ChangeCapacity(ctx, CapacityRequest{TenantID: c.TenantID, SlotID: slot.ID, Capacity: c.Capacity, Actor: actor, Version: version})
		if err == nil {
			result.Resized++
		}
		return err == nil, err
	case slot.People() && choice == ChoiceKeep:
		result.Kept++
		return true, detach()
	case slot.Effect == EffectRemove || slot.People() && choice == ChoiceCancel:
		if _, err := s.CancelSlot(ctx, SlotRequest{TenantID: c.TenantID, SlotID: slot.ID, Reason: c.Pending.Reason, Actor: actor, Version: version}); err != nil {
			return false, err
		}
		result.Cancelled++
		result.Told += told
		return true, detach()
	default:
		_, err := s.ChangeTerms(ctx, TermsRequest{
			TenantID: c.TenantID, SlotID: slot.ID, StartsAt: slot.To.StartsAt, EndsAt: slot.ToEnds, ResourceID: c.ResourceID,
			Reason: c.Pending.Reason, Actor: actor, Version: version,
		})
		if err != nil {
			return false, err
		}
		result.Moved++
		result.Told += told
		return true, reattach()
	}
}

const whoSQL = `-- who is in slots
SELECT slot_id::text AS slot, name, party_size, waiting, total FROM (
	SELECT slot_id, name, party_size, waiting, row_number() OVER (PARTITION BY slot_id ORDER BY waiting, created_at, id) AS place, count(*) OVER (PARTITION BY slot_id)::int AS total FROM (
		SELECT slot_id, id, name, party_size, false AS waiting, created_at FROM reservations WHERE tenant_id = @tenant AND slot_id = ANY(@slots::text[]::uuid[]) AND state IN ('held', 'confirmed')
		UNION ALL
		SELECT slot_id, id, name, party_size, true, joined_at FROM waitlist_entries WHERE tenant_id = @tenant AND slot_id = ANY(@slots::text[]::uuid[]) AND state IN ('waiting', 'offered')
	) people
) ranked WHERE place <= @most ORDER BY slot_id, place`

// InSlot is a party in a slot.
type InSlot struct {
	Slot      string
	Name      string // empty: a hold without a name yet
	PartySize int
	Waiting   bool
	Total     int // parties of the slot
}

// WhoIsIn names the first parties of each slot, at most most of each.
func (s *Store) WhoIsIn(ctx context.Context, tenant string, slots []string, most int) (map[string][]InSlot, error) {
	found, err := list[InSlot](ctx, s.db, whoSQL, pgx.StrictNamedArgs{"tenant": tenant, "slots": slots, "most": most})
	out := map[string][]InSlot{}
	for _, who := range found {
		out[who.Slot] = append(out[who.Slot], who)
	}
	return out, err
}
