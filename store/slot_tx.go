package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// Actor is who presses. It goes into events; its address and user agent go to
// the row that the press changed, so that a complaint can be explained.
type Actor struct {
	Kind  ActorKind
	ID    string // of the staff member or the API key; never a name
	Addr  string // network address of a press by link
	Agent string // its user agent
}

// ActorKind is the side that an actor stands on.
type ActorKind string

// The actors.
const (
	Customer ActorKind = "customer"
	Staff    ActorKind = "staff"
	API      ActorKind = "api"
	System   ActorKind = "system" // what follows by rule or by the clock
)

// label is how the actor stands in an event.
func (a Actor) label() string {
	if a.ID == "" {
		return string(a.Kind)
	}
	return string(a.Kind) + ":" + a.ID
}

// lockedSlot is the slot as it stood when its lock was had. Steps change this
// copy; finish writes it once.
type lockedSlot struct {
	ID              string
	ServiceID       string
	ResourceID      string
	StartsAt        time.Time
	EndsAt          time.Time
	Capacity        int
	Taken           int
	Status          SlotStatus
	Version         int64
	TermsVersion    int
	Kept            bool
	OrderUntil      pgtype.Timestamptz
	Paused          bool
	WaitlistMode    WaitlistMode
	Fit             Fit
	HoldShown       time.Duration
	HoldGrace       time.Duration
	OfferShown      time.Duration
	OfferGrace      time.Duration
	BroadcastBefore time.Duration
	BookingOpens    time.Duration
	BookingCloses   time.Duration
	CancelBefore    time.Duration
	LeastAnswer     time.Duration
	QuietFrom       *int
	QuietUntil      *int
	PartyMax        int
	WaitlistMax     *int
	HoldsPerVisitor int
	OnePerPerson    bool
	ReminderBefore  time.Duration
	RemindedAt      *time.Time
	TimeZone        string
}

func (l *lockedSlot) opensAt() time.Time     { return l.StartsAt.Add(-l.BookingOpens) }
func (l *lockedSlot) closesAt() time.Time    { return l.StartsAt.Add(-l.BookingCloses) }
func (l *lockedSlot) cancelUntil() time.Time { return l.StartsAt.Add(-l.CancelBefore) }
func (l *lockedSlot) free() int              { return l.Capacity - l.Taken }

func (l *lockedSlot) quiet() *QuietHours {
	if l.QuietFrom == nil || l.QuietUntil == nil {
		return nil
	}
	return &QuietHours{From: *l.QuietFrom, Until: *l.QuietUntil}
}

// orderRules reports whether seats go by order at the instant, and not first come, first served.
func (l *lockedSlot) orderRules(at time.Time) bool {
	switch l.OrderUntil.InfinityModifier {
	case pgtype.Infinity:
		return true
	case pgtype.NegativeInfinity:
		return false
	}
	return l.OrderUntil.Time.After(at)
}

// setOrderUntil sets until when seats go by order: the earlier of the
// switch to broadcast and the last moment that leaves the least time for an answer.
func (l *lockedSlot) setOrderUntil() {
	if l.WaitlistMode != Sequential {
		l.OrderUntil = pgtype.Timestamptz{InfinityModifier: pgtype.NegativeInfinity, Valid: true}
		return
	}
	until := l.StartsAt.Add(-l.BroadcastBefore)
	if least := l.closesAt().Add(-l.LeastAnswer); least.Before(until) {
		until = least
	}
	l.OrderUntil = pgtype.Timestamptz{Time: until, Valid: true}
}

// mode is how a seat that comes free now finds its next owner.
func (l *lockedSlot) mode(at time.Time) string {
	if !l.orderRules(at) {
		return "first_come"
	}
	return string(l.Fit)
}

// stepTx is one transaction of a step, over one slot or several.
type stepTx struct {
	s      *Store
	tx     pgx.Tx
	tenant string
	actor  Actor
	// press is when the press reached the database: it judges the person.
	press time.Time
	// now was read after the locks were had: it judges what is due, and new deadlines count from it.
	now   time.Time
	slots []*slotTx
	// preview: it is undone when it has told what it does, so what only is written is left out.
	preview bool
	// Written at the end, in this order, in one batch.
	events []event
	outbox []message
}

// slotTx is one locked slot within a step. Whoever has it may change the
// slot's children; nobody else may.
type slotTx struct {
	*stepTx
	slot lockedSlot
	was  lockedSlot // as it stood when locked
	// exempt are the rows that the press is about and that were judged already: the sweep passes them by.
	exempt []string
	// Who got a vacancy in this transaction already, and what size an entry had before it.
	told    map[string]bool
	resized map[string]int
	// What happened, for the caller.
	change Change
}

// Change tells what a step did to a slot beyond the row it was about.
type Change struct {
	SlotID    string
	Version   int64 // after the step
	FreeSeats int   // open to everybody after the step
	Mode      string
	Offered   []Entry // who was offered seats, with the shown deadline
	Told      []Entry // who was told of open seats, first come, first served
	Ended     []Reservation
	Closed    []Entry // entries that ended with the step
}

const lockSlotsSQL = `-- lock slots
SELECT s.id::text, s.service_id::text, s.resource_id::text, s.starts_at, s.ends_at, s.capacity, s.taken, s.status, s.version, s.terms_version,
	s.kept, s.order_until, s.waitlist_paused AS paused, s.waitlist_mode, s.fit, s.hold_shown, s.hold_grace, s.offer_shown, s.offer_grace,
	s.broadcast_before, s.booking_opens, s.booking_closes, s.cancel_before, s.least_answer, s.quiet_from, s.quiet_until, s.party_max,
	s.waitlist_max, s.holds_per_visitor, s.one_per_person, s.reminder_before, s.reminded_at,
	(SELECT t.time_zone FROM tenants t WHERE t.id = s.tenant_id) AS time_zone
FROM slots s WHERE s.tenant_id = @tenant AND s.id = ANY(@slots::text[]::uuid[])
ORDER BY s.id FOR NO KEY UPDATE OF s`

const lockSlotIfFreeSQL = lockSlotsSQL + ` SKIP LOCKED`

// The clock is read by a statement of its own after the lock was had: within
// the locking statement it could predate the wait.
const stepClockSQL = `-- clock of a step
SELECT coalesce(@at::timestamptz, now()) AS press, coalesce(@at::timestamptz, clock_timestamp()) AS now`

// errSkipped tells the sweeper that somebody else has the slot.
var errSkipped = errors.New("the slot is locked by another")

type stepOptions struct {
	skipLocked bool
	preview    bool
}

// onSlot runs f with the one slot locked, passes on what f freed, and commits.
// f judges before it writes: when it returns an Outcome the transaction commits
// nevertheless, so that the sweep made on the way stays; any other error undoes all.
func (s *Store) onSlot(ctx context.Context, step, tenant, slot string, actor Actor, f func(context.Context, *slotTx) error) (Change, error) {
	return s.onSlotWith(ctx, step, tenant, slot, actor, stepOptions{}, f)
}

// previewSlot runs f as onSlot does and undoes it: what it tells is what the
// step would do at this moment.
func (s *Store) previewSlot(ctx context.Context, step, tenant, slot string, actor Actor, f func(context.Context, *slotTx) error) (Change, error) {
	return s.onSlotWith(ctx, step, tenant, slot, actor, stepOptions{preview: true}, f)
}

func (s *Store) onSlotWith(ctx context.Context, step, tenant, slot string, actor Actor, opt stepOptions, f func(context.Context, *slotTx) error) (Change, error) {
	changes, err := s.onSlots(ctx, step, tenant, []string{slot}, actor, opt, func(ctx context.Context, t *stepTx) error {
		return f(ctx, t.slots[0])
	})
	if len(changes) == 0 {
		return Change{}, err
	}
	return changes[0], err
}

// onSlots is onSlot for several slots, locked in the order of their keys.
func (s *Store) onSlots(ctx context.Context, step, tenant string, slots []string, actor Actor, opt stepOptions, f func(context.Context, *stepTx) error) ([]Change, error) {
	ctx, cancel := context.WithTimeout(ctx, LongestWait)
	defer cancel()
	opt.preview = opt.preview || s.undo
	slots = slices.Compact(slices.Sorted(slices.Values(slots)))
	var press time.Time
	personTried := false
	for attempt := 1; ; attempt++ {
		changes, err := s.tryOnSlots(ctx, step, tenant, slots, actor, opt, &press, f)
		switch {
		case err == nil || errors.As(err, new(Outcome)) || errors.Is(err, errSkipped):
			return changes, err
		case violated(err, "reservations_person") && !personTried:
			// Somebody confirmed for the same person and has now committed:
			// judged once more, the step sees it and says AlreadyBooked.
			personTried = true
			continue
		case violated(err, "reservations_person"):
			// It is still there: a booking made when the slot allowed one per person.
			return nil, AlreadyBooked
		case violated(err, "reservations_number") && attempt < 4: // drawn anew
			continue
		case retryable(err) && attempt < 4:
			if wait(ctx, backoff(attempt)) == nil {
				continue
			}
		}
		return nil, err
	}
}

// backoff gives the pause before another attempt, with jitter so that those
// who met once don't meet again.
func backoff(attempt int) time.Duration {
	step := 5 * time.Millisecond << min(attempt, 6)
	return step/2 + rand.N(step)
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Store) tryOnSlots(ctx context.Context, step, tenant string, ids []string, actor Actor, opt stepOptions, press *time.Time, f func(context.Context, *stepTx) error) (changes []Change, err error) {
	tx, err := s.db.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		// After a commit this does nothing; a cancelled caller must not keep the lock.
		if undo := tx.Rollback(context.WithoutCancel(ctx)); undo != nil && !errors.Is(undo, pgx.ErrTxClosed) && err == nil {
			err = undo
		}
	}()

	t := &stepTx{s: s, tx: tx, tenant: tenant, actor: actor, preview: opt.preview}
	if err := t.lock(ctx, step, ids, opt.skipLocked); err != nil {
		return nil, err
	}
	if press.IsZero() {
		*press = t.press
	}
	t.press = *press

	outcome := f(ctx, t)
	if outcome != nil && !errors.As(outcome, new(Outcome)) {
		return nil, outcome
	}
	if err := t.finish(ctx); err != nil {
		return nil, err
	}
	if !opt.preview {
		if err := tx.Commit(ctx); err != nil {
			return nil, commitError(err)
		}
	}
	for _, slot := range t.slots {
		slot.change.SlotID, slot.change.Version = slot.slot.ID, slot.slot.Version
		slot.change.FreeSeats, slot.change.Mode = slot.slot.free(), slot.slot.mode(t.now)
		if slot.slot.Kept {
			slot.change.FreeSeats = 0
		}
		if !opt.preview && (slot.slot.Version != slot.was.Version || slot.slot.Kept != slot.was.Kept) {
			s.changed(tenant, slot.slot.ID)
		}
		changes = append(changes, slot.change)
	}
	return changes, outcome
}

// commitError keeps a commit whose answer was lost apart from one that the
// server refused: only the latter is known not to have happened.
func commitError(err error) error {
	if code(err) != "" || errors.Is(err, pgx.ErrTxCommitRollback) {
		return err
	}
	return fmt.Errorf("%w: %w", errUnknownFate, err)
}

func (t *stepTx) lock(ctx context.Context, step string, ids []string, skipLocked bool) error {
	sql := lockSlotsSQL
	if skipLocked {
		sql = lockSlotIfFreeSQL
	}
	asked := time.Now()
	batch := &pgx.Batch{}
	batch.Queue(sql, pgx.StrictNamedArgs{"tenant": t.tenant, "slots": ids})
	batch.Queue(stepClockSQL, pgx.StrictNamedArgs{"at": t.s.at})
	results := t.tx.SendBatch(ctx, batch)
	rows, err := results.Query()
	if err != nil {
		return errors.Join(err, results.Close())
	}
	locked, err := pgx.CollectRows(rows, pgx.RowToStructByName[lockedSlot])
	if err != nil {
		return errors.Join(err, results.Close())
	}
	if err := results.QueryRow().Scan(&t.press, &t.now); err != nil {
		return errors.Join(err, results.Close())
	}
	if err := results.Close(); err != nil {
		return err
	}
	if t.s.watch.LockWait != nil {
		t.s.watch.LockWait(step, time.Since(asked))
	}
	if len(locked) != len(ids) {
		if skipLocked {
			return errSkipped
		}
		return NotFound
	}
	for _, slot := range locked {
		t.slots = append(t.slots, &slotTx{stepTx: t, slot: slot, was: slot, exempt: []string{}, told: map[string]bool{}, resized: map[string]int{}})
	}
	return nil
}

// at finds a locked slot by its id.
func (t *stepTx) at(slot string) *slotTx {
	for _, locked := range t.slots {
		if locked.slot.ID == slot {
			return locked
		}
	}
	return nil
}

// event appends a numbered line to the slot's history: each raises the version by one.
func (t *slotTx) event(kind EventKind, subject string, party, seats int, details map[string]any) int64 {
	t.slot.Version++
	t.slot.Taken += seats
	number, capacity := t.slot.Version, t.slot.Capacity
	t.events = append(t.events, event{
		slot: t.slot.ID, number: &number, kind: kind, actor: t.actor.label(), party: party, seats: seats, capacity: &capacity,
		mode: t.slot.mode(t.now), subject: subject, at: t.now, details: details,
	})
	return number
}

// swept is event for what nobody pressed: it follows by rule or by the clock.
func (t *slotTx) swept(kind EventKind, subject string, party, seats int, details map[string]any) int64 {
	number := t.event(kind, subject, party, seats, details)
	t.events[len(t.events)-1].actor = string(System)
	return number
}

const updateSlotSQL = `-- write slot
UPDATE slots SET taken = @taken, capacity = @capacity, version = @version, kept = @kept, status = @status, waitlist_paused = @paused
WHERE tenant_id = @tenant AND id = @slot`

const insertEventSQL = `-- write event
INSERT INTO events (tenant_id, slot_id, number, kind, actor, party_size, seats, capacity, mode, subject_id, at, details)
VALUES (@tenant, @slot, @number, @kind, @actor, @party, @seats, @capacity, @mode, NULLIF(@subject::text, '')::uuid, @at, @details::jsonb)`

const insertOutboxSQL = `-- write outbox message
INSERT INTO outbox (tenant_id, id, kind, slot_id, subject_id, event_number, recipient, locale, payload, next_attempt_at, dedupe_key, created_at)
VALUES (@tenant, @id, @kind, @slot, @subject, @number, @recipient, @locale, @payload::jsonb, @at, @dedupe, @at)`

// finish passes on and writes what the step gathered. The slot comes first, so
// that the database's own check of the seats speaks before anything else.
func (t *stepTx) finish(ctx context.Context) error {
	for _, slot := range t.slots {
		if err := slot.passOn(ctx); err != nil {
			return err
		}
	}
	if t.preview {
		return nil
	}
	batch := &pgx.Batch{}
	for _, slot := range t.slots {
		now, was := slot.slot, slot.was
		if now.Version != was.Version || now.Kept != was.Kept || now.Taken != was.Taken || now.Capacity != was.Capacity || now.Status != was.Status || now.Paused != was.Paused {
			batch.Queue(updateSlotSQL, pgx.StrictNamedArgs{
				"tenant": t.tenant, "slot": now.ID, "taken": now.Taken, "capacity": now.Capacity, "version": now.Version,
				"kept": now.Kept, "status": now.Status, "paused": now.Paused,
			})
		}
	}
	for _, e := range t.events {
		details := []byte("{}")
		if len(e.details) > 0 {
			var err error
			if details, err = json.Marshal(e.details); err != nil {
				return err
			}
		}
		batch.Queue(insertEventSQL, pgx.StrictNamedArgs{
			"tenant": t.tenant, "slot": e.slot, "number": e.number, "kind": e.kind, "actor": e.actor, "party": e.party, "seats": e.seats,
			"capacity": e.capacity, "mode": e.mode, "subject": e.subject, "at": e.at, "details": string(details),
		})
	}
	for _, m := range t.outbox {
		payload, err := json.Marshal(m.payload)
		if err != nil {
			return err
		}
		batch.Queue(insertOutboxSQL, pgx.StrictNamedArgs{
			"tenant": t.tenant, "id": newID(), "kind": m.kind, "slot": m.slot, "subject": m.subject, "number": m.number,
			"recipient": m.recipient, "locale": m.locale, "payload": string(payload), "at": t.now, "dedupe": m.dedupe(),
		})
	}
	if batch.Len() == 0 {
		return nil
	}
	return t.tx.SendBatch(ctx, batch).Close()
}

// exec runs a statement that must change exactly the rows it was meant to:
// under the slot's lock another count is a bug, not a race.
func (t *stepTx) exec(ctx context.Context, want int64, sql string, args pgx.StrictNamedArgs) error {
	tag, err := t.tx.Exec(ctx, sql, args)
	if err != nil {
		return err
	}
	if tag.RowsAffected() != want {
		return fmt.Errorf("%s: changed %d rows, not %d", firstLine(sql), tag.RowsAffected(), want)
	}
	return nil
}

func firstLine(sql string) string {
	for i, c := range sql {
		if c == '\n' {
			return sql[:i]
		}
	}
	return sql
}
