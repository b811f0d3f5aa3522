package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// The bounds of copying and of changing many.
const (
	MostCopiedWeeks = 26
	MostResized     = 200 // slots of one press
)

// CopyRequest copies the slots of a week into the weeks from another one on.
// Each keeps its day of the week, its time on the wall and its duration.
type CopyRequest struct {
	TenantID     string
	From         string // 2006-01-02, the first of the seven days to copy
	To           string // the first day of the first week to fill
	Weeks        int    // how many, one after the other
	ServiceID    string // empty: all
	ResourceID   string // empty: all
	SkipClosed   bool
	SkipHolidays bool
	Key          string // given by the form: the same press twice copies once
	Print        string // of the preview
	Others       bool   // copy the others where some overlap
}

// CopyPlan is what would be copied.
type CopyPlan struct {
	Plan
	Sources int // slots in the week to copy
}

// SourceOf is the slot of which an occurrence of the plan is a copy.
func (s PlannedSlot) SourceOf() BusySlot {
	if s.source == nil {
		return BusySlot{}
	}
	return *s.source
}

const sourcesSQL = `-- slots to copy
SELECT id::text, service_id::text, resource_id::text, starts_at, ends_at, capacity FROM slots
WHERE tenant_id = @tenant AND starts_at >= @from AND starts_at < @to AND status <> 'cancelled'
	AND (@service::text = '' OR service_id = NULLIF(@service, '')::uuid) AND (@resource::text = '' OR resource_id = NULLIF(@resource, '')::uuid)
ORDER BY starts_at, id LIMIT 2000`

func (s *Store) copyPlan(ctx context.Context, db querier, p planning, req CopyRequest) (CopyPlan, error) {
	var out CopyPlan
	from, _, err := OnTheWall(req.From, 0, p.loc)
	if err != nil {
		return out, err
	}
	first, err := time.Parse(time.DateOnly, req.From)
	if err != nil {
		return out, err
	}
	target, err := time.Parse(time.DateOnly, req.To)
	if err != nil {
		return out, err
	}
	if req.Weeks < 1 || req.Weeks > MostCopiedWeeks {
		return out, fmt.Errorf("%d weeks: 1 to %d are possible", req.Weeks, MostCopiedWeeks)
	}
	to, _, err := OnTheWall(first.AddDate(0, 0, 7).Format(time.DateOnly), 0, p.loc)
	if err != nil {
		return out, err
	}
	sources, err := list[BusySlot](ctx, db, sourcesSQL, pgx.StrictNamedArgs{"tenant": req.TenantID, "from": from, "to": to, "service": req.ServiceID, "resource": req.ResourceID})
	if err != nil {
		return out, err
	}
	out.Sources = len(sources)
	if len(sources)*req.Weeks > MostOccurrences {
		return out, ErrTooManyOccurrences
	}
	closed := map[string]Text{}
	if req.SkipClosed {
		days, err := list[ClosedDay](ctx, db, closedBetweenSQL, pgx.StrictNamedArgs{"tenant": req.TenantID, "first": req.To, "last": target.AddDate(0, 0, 7*req.Weeks).Format(time.DateOnly)})
		if err != nil {
			return out, err
		}
		for _, d := range days {
			closed[d.Day] = d.Note
		}
	}
	byResource := map[string]*Plan{}
	for week := range req.Weeks {
		for i := range sources {
			source := &sources[i]
			wall := source.StartsAt.In(p.loc)
			y, m, d := wall.Date()
			days := int(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Sub(first).Hours()) / 24
			day := target.AddDate(0, 0, 7*week+days)
			o := Occurrence{Day: day.Format(time.DateOnly), Minute: wall.Hour()*60 + wall.Minute()}
			if o.StartsAt, o.Clock, err = OnTheWall(o.Day, o.Minute, p.loc); err != nil {
				return out, err
			}
			slot := PlannedSlot{Occurrence: o, EndsAt: o.StartsAt.Add(source.EndsAt.Sub(source.StartsAt)), source: source}
			note, shut := closed[o.Day]
			switch {
			case !o.StartsAt.After(p.now):
				slot.Why = SkipPast
			case shut:
				slot.Why, slot.Note = SkipClosed, note
			case req.SkipHolidays && JapaneseHoliday(day) != nil:
				slot.Why, slot.Note = SkipHoliday, JapaneseHoliday(day)
			}
			if byResource[source.ResourceID] == nil {
				byResource[source.ResourceID] = &Plan{}
			}
			plan := byResource[source.ResourceID]
			plan.Slots = append(plan.Slots, slot)
		}
	}
	for resource, plan := range byResource {
		slices.SortStableFunc(plan.Slots, func(a, b PlannedSlot) int { return a.StartsAt.Compare(b.StartsAt) })
		if err := s.fit(ctx, db, req.TenantID, resource, plan, nil, nil); err != nil {
			return out, err
		}
		out.Slots = append(out.Slots, plan.Slots...)
	}
	slices.SortFunc(out.Slots, func(a, b PlannedSlot) int {
		return cmp.Or(a.StartsAt.Compare(b.StartsAt), cmp.Compare(a.source.ID, b.source.ID))
	})
	out.Through = target.AddDate(0, 0, 7*req.Weeks-1).Format(time.DateOnly)
	out.stamp(sources)
	return out, nil
}

// PreviewCopy tells what CopyWeek would make. Nothing is written.
func (s *Store) PreviewCopy(ctx context.Context, req CopyRequest) (CopyPlan, error) {
	p, err := s.planning(ctx, s.db, req.TenantID, "")
	if err != nil {
		return CopyPlan{}, classify(err)
	}
	plan, err := s.copyPlan(ctx, s.db, p, req)
	return plan, classify(err)
}

// keyedID makes the id of a slot that a form with a key makes, so that the same
// press twice meets its own slots.
func keyedID(key string, more ...any) string {
	sum := sha256.Sum256([]byte(key + "\x00" + fmt.Sprint(more...)))
	return formatID([16]byte(sum[:16]))
}

const slotsThereSQL = `-- which slots are there
SELECT count(*)::int FROM slots WHERE tenant_id = @tenant AND id = ANY(@slots::text[]::uuid[])`

func (s *Store) slotsThere(ctx context.Context, db querier, tenant string, ids []string) (int, error) {
	var n int
	err := db.QueryRow(ctx, slotsThereSQL, pgx.StrictNamedArgs{"tenant": tenant, "slots": ids}).Scan(&n)
	return n, err
}

// CopyWeek makes exactly the slots of the preview, or none, and gives their
// number. Refusals: Conflict (the plan is another now), Overlaps (some do, and
// Others was not asked for, or nothing remains).
func (s *Store) CopyWeek(ctx context.Context, req CopyRequest) (int, error) {
	made := 0
	err := s.retrying(ctx, func(tx pgx.Tx) error {
		made = 0
		p, err := s.planning(ctx, tx, req.TenantID, "")
		if err != nil {
			return err
		}
		plan, err := s.copyPlan(ctx, tx, p, req)
		if err != nil {
			return err
		}
		// All that the key could have made: a repeated press finds its own.
		ids := make([]string, len(plan.Slots))
		byService := map[string][]slotToMake{}
		for i, slot := range plan.Slots {
			ids[i] = keyedID(req.Key, slot.source.ID, slot.StartsAt.Unix())
			if slot.Why == "" {
				byService[slot.source.ServiceID] = append(byService[slot.source.ServiceID], slotToMake{
					id: ids[i], resource: slot.source.ResourceID, startsAt: slot.StartsAt, endsAt: slot.EndsAt, capacity: slot.source.Capacity,
				})
			}
		}
		if made, err = s.slotsThere(ctx, tx, req.TenantID, ids); err != nil || made > 0 {
			return err
		}
		overlaps := plan.Count(SkipOverlap) + plan.Count(SkipSelf)
		switch {
		case plan.Print != req.Print:
			return Conflict
		case overlaps > 0 && !req.Others, plan.Count("") == 0:
			return Overlaps
		}
		for _, service := range slices.Sorted(maps.Keys(byService)) {
			of, err := s.planning(ctx, tx, req.TenantID, service)
			if err != nil {
				return err
			}
			got, err := insertSlots(ctx, tx, req.TenantID, service, "", of.rules, byService[service])
			if err != nil {
				return err
			}
			if made += len(got); len(got) != len(byService[service]) {
				return Conflict // somebody was faster
			}
		}
		return nil
	})
	if errors.Is(err, Conflict) { // it may have been the same press
		if p, again := s.planning(ctx, s.db, req.TenantID, ""); again == nil {
			if plan, again := s.copyPlan(ctx, s.db, p, req); again == nil {
				var ids []string
				for _, slot := range plan.Slots {
					ids = append(ids, keyedID(req.Key, slot.source.ID, slot.StartsAt.Unix()))
				}
				if n, again := s.slotsThere(ctx, s.db, req.TenantID, ids); again == nil && n > 0 {
					made, err = n, nil
				}
			}
		}
	}
	return made, s.settle("copy_week", err)
}

// SingleSlot is one slot to be made by hand, at a day and time on the wall.
type SingleSlot struct {
	TenantID   string
	ServiceID  string
	ResourceID string
	Day        string // 2006-01-02
	Minute     int    // after midnight
	Capacity   int    // 0 is none, and not the service's
	Key        string // given by the form: the same press twice makes one
}

// AddSlot makes one slot of its service's duration, and gives its id. Refusals:
// NotFound (service or resource), Overlaps, TooLate (it would have begun).
func (s *Store) AddSlot(ctx context.Context, req SingleSlot) (string, error) {
	id := keyedID(req.Key, req.Day, req.Minute, req.ResourceID)
	err := s.retrying(ctx, func(tx pgx.Tx) error {
		p, err := s.planning(ctx, tx, req.TenantID, req.ServiceID)
		if err != nil {
			return err
		}
		start, _, err := OnTheWall(req.Day, req.Minute, p.loc)
		if err != nil {
			return err
		}
		if !start.After(p.now) {
			return TooLate
		}
		made, err := insertSlots(ctx, tx, req.TenantID, req.ServiceID, "", p.rules, []slotToMake{{
			id: id, resource: req.ResourceID, startsAt: start, endsAt: start.Add(p.service.Duration), capacity: req.Capacity,
		}})
		if err != nil || made[id] {
			return err
		}
		there, err := s.slotsThere(ctx, tx, req.TenantID, []string{id})
		if err != nil || there > 0 {
			return err
		}
		return Overlaps
	})
	if code(err) == "23503" {
		err = NotFound
	}
	return id, s.settle("add_slot", err)
}

const overlappingSQL = `-- slots in the way
SELECT id::text, service_id::text, resource_id::text, starts_at, ends_at, capacity FROM slots
WHERE tenant_id = @tenant AND resource_id = @resource AND status <> 'cancelled' AND tstzrange(starts_at, ends_at) && tstzrange(@from, @to)
ORDER BY starts_at LIMIT 5`

// InTheWay lists the first slots that occupy a resource within a time.
func (s *Store) InTheWay(ctx context.Context, tenant, resource string, from, to time.Time) ([]BusySlot, error) {
	return list[BusySlot](ctx, s.db, overlappingSQL, pgx.StrictNamedArgs{"tenant": tenant, "resource": resource, "from": from, "to": to})
}

// ResizeQuery chooses the slots whose number of seats is to change.
type ResizeQuery struct {
	TenantID   string
	ServiceID  string // empty: all
	ResourceID string // empty: all
	First      string // 2006-01-02 at the venue
	Last       string // itself included
	Weekdays   []time.Weekday
}

// ResizedSlot is what another number of seats would do to a slot, or did.
type ResizedSlot struct {
	Slot
	Change Change
	Why    Outcome // the refusal; empty: none
}

// ResizePlan is what a change of many would do.
type ResizePlan struct {
	Slots []ResizedSlot // those that would change or refuse, by start
	Same  int           // that have this number already
	More  bool          // there are more than MostResized
	Print string
}

func (s *Store) toResize(ctx context.Context, q ResizeQuery, capacity int) (ResizePlan, error) {
	var out ResizePlan
	p, err := s.planning(ctx, s.db, q.TenantID, "")
	if err != nil {
		return out, classify(err)
	}
	from, _, err := OnTheWall(q.First, 0, p.loc)
	if err != nil {
		return out, err
	}
	to, _, err := OnTheWall(q.Last, dayMinutes, p.loc)
	if err != nil {
		return out, err
	}
	if from.Before(p.now) {
		from = p.now
	}
	slots, err := s.Slots(ctx, SlotQuery{TenantID: q.TenantID, From: from, To: to, ServiceID: q.ServiceID, ResourceID: q.ResourceID, Limit: 1000})
	if err != nil {
		return out, err
	}
	out.More = len(slots) == 1000
	print := sha256.New()
	fmt.Fprintln(print, capacity)
	for _, slot := range slots {
		switch {
		case slot.Status == SlotCancelled, len(q.Weekdays) > 0 && !slices.Contains(q.Weekdays, slot.StartsAt.In(p.loc).Weekday()):
		case slot.Capacity == capacity:
			out.Same++
		case len(out.Slots) == MostResized:
			out.More = true
		default:
			out.Slots = append(out.Slots, ResizedSlot{Slot: slot})
			fmt.Fprintln(print, slot.ID, slot.Version)
		}
	}
	out.Print = hex.EncodeToString(print.Sum(nil)[:12])
	return out, nil
}

// PreviewResize tells for each slot what ChangeCapacity would do at this
// moment. Nothing is changed.
func (s *Store) PreviewResize(ctx context.Context, q ResizeQuery, capacity int, actor Actor) (ResizePlan, error) {
	return s.resize(ctx, q, capacity, actor, s.PreviewCapacity)
}

// Resize changes the number of seats of each slot, one step each: one that
// refuses does not stop the others. What is changed already is passed over, so
// it may be pressed again. Refusal: Conflict, before the first, if the slots are
// no longer those of the preview.
func (s *Store) Resize(ctx context.Context, q ResizeQuery, capacity int, print string, actor Actor) (ResizePlan, error) {
	plan, err := s.toResize(ctx, q, capacity)
	if err != nil {
		return plan, err
	}
	if len(plan.Slots) > 0 && plan.Print != print {
		return plan, Conflict
	}
	return s.resize(ctx, q, capacity, actor, s.ChangeCapacity)
}

func (s *Store) resize(ctx context.Context, q ResizeQuery, capacity int, actor Actor, do func(context.Context, CapacityRequest) (Change, error)) (ResizePlan, error) {
	plan, err := s.toResize(ctx, q, capacity)
	if err != nil {
		return plan, err
	}
	for i := range plan.Slots {
		slot := &plan.Slots[i]
		var o Outcome
		slot.Change, err = do(ctx, CapacityRequest{TenantID: q.TenantID, SlotID: slot.ID, Capacity: capacity, Actor: actor, Version: &slot.Version})
		switch {
		case errors.As(err, &o):
			slot.Why = o
		case err != nil:
			return plan, err
		}
	}
	return plan, nil
}
