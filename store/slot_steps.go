package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// SlotRequest is a step of staff on a whole slot.
type SlotRequest struct {
	TenantID string
	SlotID   string
	Reason   string
	Actor    Actor
	Version  *int64 // as the form showed it; nil: not asked
}

// CapacityRequest changes the number of seats.
type CapacityRequest struct {
	TenantID string
	SlotID   string
	Capacity int
	Actor    Actor
	Version  *int64
}

const endExtrasSQL = `-- end extra seats
UPDATE reservations SET extra_seats = 0 WHERE tenant_id = @tenant AND slot_id = @slot AND state IN ('held', 'confirmed') AND extra_seats > 0`

// ChangeCapacity sets the number of seats and passes new ones on. Seats added
// on purpose become ordinary ones. Refusals: NotFound, Conflict, BelowTaken.
func (s *Store) ChangeCapacity(ctx context.Context, req CapacityRequest) (Change, error) {
	change, err := s.changeCapacity(ctx, req, s.onSlot)
	return change, s.settle("capacity", err)
}

// PreviewCapacity tells what ChangeCapacity would do at this moment. Nothing is changed.
func (s *Store) PreviewCapacity(ctx context.Context, req CapacityRequest) (Change, error) {
	change, err := s.changeCapacity(ctx, req, s.previewSlot)
	return change, classify(err)
}

func (s *Store) changeCapacity(ctx context.Context, req CapacityRequest, run runner) (Change, error) {
	return run(ctx, "capacity", req.TenantID, req.SlotID, req.Actor, func(ctx context.Context, t *slotTx) error {
		if err := t.seen(req.Version); err != nil {
			return err
		}
		if err := t.sweepOnly(ctx); err != nil { // new seats and due ones pass on together, at the end
			return err
		}
		if req.Capacity < t.slot.Taken {
			return BelowTaken
		}
		if req.Capacity == t.slot.Capacity {
			return nil
		}
		if _, err := t.tx.Exec(ctx, endExtrasSQL, pgx.StrictNamedArgs{"tenant": t.tenant, "slot": t.slot.ID}); err != nil {
			return err
		}
		from := t.slot.Capacity
		t.slot.Capacity = req.Capacity
		t.event(EventCapacityChanged, "", 0, 0, map[string]any{"from": from, "to": req.Capacity})
		return nil
	})
}

// CloseSlot stops new holds, entries, offers and claims. Live holds and offers
// run to their deadline. Refusals: NotFound, Conflict, Closed (it is cancelled).
func (s *Store) CloseSlot(ctx context.Context, req SlotRequest) (Change, error) {
	return s.switchSlot(ctx, "close", req, EventClosed, func(l *lockedSlot) bool {
		changed := l.Status == SlotOpen
		l.Status = SlotClosed
		return changed
	})
}

// ReopenSlot opens a closed slot again and passes its free seats on. Refusals as CloseSlot.
func (s *Store) ReopenSlot(ctx context.Context, req SlotRequest) (Change, error) {
	return s.switchSlot(ctx, "reopen", req, EventReopened, func(l *lockedSlot) bool {
		changed := l.Status == SlotClosed
		l.Status = SlotOpen
		return changed
	})
}

// PauseWaitlist stops offers but those of staff. Refusals as CloseSlot.
func (s *Store) PauseWaitlist(ctx context.Context, req SlotRequest) (Change, error) {
	return s.switchSlot(ctx, "pause", req, EventPaused, func(l *lockedSlot) bool {
		changed := !l.Paused
		l.Paused = true
		return changed
	})
}

// ResumeWaitlist ends a pause and passes the free seats on. Refusals as CloseSlot.
func (s *Store) ResumeWaitlist(ctx context.Context, req SlotRequest) (Change, error) {
	return s.switchSlot(ctx, "resume", req, EventResumed, func(l *lockedSlot) bool {
		changed := l.Paused
		l.Paused = false
		return changed
	})
}

// switchSlot sets a switch of the slot; one that stands so already is left, and nothing is written.
func (s *Store) switchSlot(ctx context.Context, step string, req SlotRequest, kind EventKind, set func(*lockedSlot) bool) (Change, error) {
	change, err := s.onSlot(ctx, step, req.TenantID, req.SlotID, req.Actor, func(ctx context.Context, t *slotTx) error {
		if err := t.seen(req.Version); err != nil {
			return err
		}
		if t.slot.Status == SlotCancelled {
			return Closed
		}
		if err := t.sweepOnly(ctx); err != nil {
			return err
		}
		if set(&t.slot) {
			t.event(kind, "", 0, 0, noticeDetails(req.Reason, false))
		}
		return nil
	})
	return change, s.settle(step, err)
}

// Held and confirmed go in one statement: a confirm looks at its own row only,
// and between two statements it could slip from one set into the other.
const cancelAllSQL = `-- cancel all reservations of a slot
UPDATE reservations r SET state = 'cancelled', ended_at = @now, cancelled_by = @by, cancel_reason = @reason, sequence = sequence + 1
WHERE r.tenant_id = @tenant AND r.slot_id = @slot AND r.state IN ('held', 'confirmed')
RETURNING ` + reservationColumns + `, r.ended_at AS now`

const closeAllSQL = `-- close all entries of a slot
UPDATE waitlist_entries e SET state = 'closed', ended_at = @now, reason = @reason
WHERE e.tenant_id = @tenant AND e.slot_id = @slot AND e.state IN ('waiting', 'offered')
RETURNING ` + entryColumns + `, 0 AS place, 0 AS of, e.ended_at AS now`

// CancelSlot ends a slot with all that lives in it, and writes to each.
// Refusals: NotFound, Conflict. Cancelling twice is one cancelling.
func (s *Store) CancelSlot(ctx context.Context, req SlotRequest) (Change, error) {
	change, err := s.onSlot(ctx, "cancel_slot", req.TenantID, req.SlotID, req.Actor, func(ctx context.Context, t *slotTx) error {
		if t.slot.Status == SlotCancelled {
			return nil
		}
		if err := t.seen(req.Version); err != nil {
			return err
		}
		if err := t.sweepOnly(ctx); err != nil {
			return err
		}
		ended, err := list[Reservation](ctx, t.tx, cancelAllSQL, pgx.StrictNamedArgs{
			"tenant": t.tenant, "slot": t.slot.ID, "now": t.now, "by": string(t.actor.Kind), "reason": req.Reason,
		})
		if err != nil {
			return err
		}
		closed, err := list[Entry](ctx, t.tx, closeAllSQL, pgx.StrictNamedArgs{"tenant": t.tenant, "slot": t.slot.ID, "now": t.now, "reason": "slot_cancelled"})
		if err != nil {
			return err
		}
		t.slot.Status = SlotCancelled
		t.event(EventSlotCancelled, "", 0, 0, noticeDetails(req.Reason, false))
		told := map[string]any{"reason": req.Reason}
		for _, r := range ended {
			number := t.freeSeats(r, EventCancelled, r.PartySize, map[string]any{"slot_cancelled": true}, false)
			t.toReservation(KindSlotCancelled, r, number, told)
		}
		for _, e := range closed {
			if e.OfferedAt != nil {
				e.State = Offered
			}
			t.entryClosed(e, "slot_cancelled")
			t.toEntry(KindSlotCancelled, e, t.slot.Version, told)
		}
		t.change.Ended = append(t.change.Ended, ended...)
		if t.slot.Taken != 0 {
			return fmt.Errorf("slot %s: %d seats left after cancelling all", t.slot.ID, t.slot.Taken)
		}
		return nil
	})
	return change, s.settle("cancel_slot", err)
}

// TermsRequest changes what customers have agreed to. Empty or zero fields stay as they are.
type TermsRequest struct {
	TenantID   string
	SlotID     string
	StartsAt   time.Time
	EndsAt     time.Time
	ServiceID  string
	ResourceID string
	Reason     string
	Actor      Actor
	Version    *int64
}

const policyColumns = `waitlist_mode = @waitlist_mode, fit = @fit, hold_shown = @hold_shown, hold_grace = @hold_grace, offer_shown = @offer_shown,
	offer_grace = @offer_grace, broadcast_before = @broadcast_before, booking_opens = @booking_opens, booking_closes = @booking_closes,
	cancel_before = @cancel_before, least_answer = @least_answer, quiet_from = @quiet_from, quiet_until = @quiet_until, party_max = @party_max,
	waitlist_max = @waitlist_max, holds_per_visitor = @holds_per_visitor, few_left = @few_left, one_per_person = @one_per_person,
	reminder_before = @reminder_before, erase_waitlist_after = @erase_waitlist_after, erase_reservations_after = @erase_reservations_after`

const writeTermsSQL = `-- write terms
UPDATE slots SET starts_at = @starts, ends_at = @ends, service_id = @service, resource_id = @resource, terms_version = @terms,
	order_until = @order_until, reminded_at = CASE WHEN @starts::timestamptz - reminder_before > @now THEN NULL ELSE reminded_at END,
	entries_closed_at = CASE WHEN @starts::timestamptz > @now THEN NULL ELSE entries_closed_at END,
	waitlist_erased_at = CASE WHEN @ends::timestamptz > @now THEN NULL ELSE waitlist_erased_at END,
	reservations_erased_at = CASE WHEN @ends::timestamptz > @now THEN NULL ELSE reservations_erased_at END
WHERE tenant_id = @tenant AND id = @slot`

const writePoliciesSQL = `-- write policies
UPDATE slots SET ` + policyColumns + `, order_until = @order_until WHERE tenant_id = @tenant AND id = @slot`

const rewriteHoldsSQL = `-- rewrite terms of holds
UPDATE reservations SET terms_version = @terms, one_per_person = @one_per_person WHERE tenant_id = @tenant AND slot_id = @slot AND state = 'held'`

// A person who booked twice while that was allowed keeps both; only one of the
// two can have the key that the unique index asks for.
const rewriteKeysSQL = `-- rewrite keys of the confirmed
UPDATE reservations r SET one_per_person = @one_per_person, person_key = CASE WHEN @one_per_person::boolean AND NOT EXISTS (
		SELECT 1 FROM reservations o WHERE o.tenant_id = r.tenant_id AND o.slot_id = r.slot_id AND o.state = 'confirmed' AND lower(o.email) = lower(r.email) AND o.id < r.id)
	THEN NULLIF(lower(r.email), '') END
WHERE r.tenant_id = @tenant AND r.slot_id = @slot AND r.state = 'confirmed' AND r.one_per_person <> @one_per_person`

// rewriteReservations takes the terms and the rule of one booking per person,
// as they now stand, into the live reservations: the holds first.
func (t *slotTx) rewriteReservations(ctx context.Context) error {
	if _, err := t.tx.Exec(ctx, rewriteHoldsSQL, pgx.StrictNamedArgs{
		"tenant": t.tenant, "slot": t.slot.ID, "terms": t.slot.TermsVersion, "one_per_person": t.slot.OnePerPerson,
	}); err != nil {
		return err
	}
	_, err := t.tx.Exec(ctx, rewriteKeysSQL, pgx.StrictNamedArgs{"tenant": t.tenant, "slot": t.slot.ID, "one_per_person": t.slot.OnePerPerson})
	return err
}

const changedConfirmedSQL = `-- confirmed ones to tell
UPDATE reservations r SET sequence = sequence + 1 WHERE r.tenant_id = @tenant AND r.slot_id = @slot AND r.state = 'confirmed'
RETURNING ` + reservationColumns + `, @now::timestamptz AS now`

const offeredInSQL = `-- offers of a slot
SELECT ` + entryColumns + `, 0 AS place, 0 AS of, @now::timestamptz AS now FROM waitlist_entries e
WHERE e.tenant_id = @tenant AND e.slot_id = @slot AND e.state = 'offered' ORDER BY e.position`

// ChangeTerms changes time, resource or service of a slot. Live holds have to
// agree anew, the confirmed are told, offers are told again. Refusals: NotFound,
// Conflict, Closed (it is cancelled), Overlaps; NotFound also for the new service or resource.
func (s *Store) ChangeTerms(ctx context.Context, req TermsRequest) (Change, error) {
	change, err := s.onSlot(ctx, "terms", req.TenantID, req.SlotID, req.Actor, func(ctx context.Context, t *slotTx) error {
		return t.changeTerms(ctx, req)
	})
	return change, s.settle("terms", err)
}

func (t *slotTx) changeTerms(ctx context.Context, req TermsRequest) error {
	if err := t.seen(req.Version); err != nil {
		return err
	}
	if t.slot.Status == SlotCancelled {
		return Closed
	}
	if err := t.sweepOnly(ctx); err != nil {
		return err
	}
	was := t.slot
	if !req.StartsAt.IsZero() {
		t.slot.StartsAt = req.StartsAt
	}
	if !req.EndsAt.IsZero() {
		t.slot.EndsAt = req.EndsAt
	}
	if req.ResourceID != "" {
		t.slot.ResourceID = req.ResourceID
	}
	if req.ServiceID != "" {
		t.slot.ServiceID = req.ServiceID
	}
	if was.StartsAt.Equal(t.slot.StartsAt) && was.EndsAt.Equal(t.slot.EndsAt) && was.ResourceID == t.slot.ResourceID && was.ServiceID == t.slot.ServiceID {
		return nil
	}
	if !t.slot.EndsAt.After(t.slot.StartsAt) {
		return fmt.Errorf("a slot ends after it starts")
	}
	var policies *Policies
	if was.ServiceID != t.slot.ServiceID {
		of, err := t.servicePolicies(ctx, t.slot.ServiceID)
		if err != nil {
			t.slot = was
			return err
		}
		policies = &of
		t.slot.take(of)
	}
	t.slot.setOrderUntil()
	t.slot.TermsVersion++
	if err := t.writeTerms(ctx, policies); err != nil {
		t.slot = was
		return err
	}
	// The holds first, then the confirmed: a hold that is being confirmed
	// meanwhile either agrees to the new terms or is found among those to be told.
	if err := t.rewriteReservations(ctx); err != nil {
		return err
	}
	confirmed, err := list[Reservation](ctx, t.tx, changedConfirmedSQL, pgx.StrictNamedArgs{"tenant": t.tenant, "slot": t.slot.ID, "now": t.now})
	if err != nil {
		return err
	}
	offers, err := list[Entry](ctx, t.tx, offeredInSQL, pgx.StrictNamedArgs{"tenant": t.tenant, "slot": t.slot.ID, "now": t.now})
	if err != nil {
		return err
	}
	told := map[string]any{"from_starts_at": was.StartsAt, "from_ends_at": was.EndsAt, "reason": req.Reason}
	details := noticeDetails(req.Reason, false)
	details["terms_version"] = t.slot.TermsVersion
	details["from_starts_at"], details["to_starts_at"] = was.StartsAt, t.slot.StartsAt
	number := t.event(EventTermsChanged, "", 0, 0, details)
	if t.s.undo {
		return nil // what is taken back need not be told: as many messages as there are bookings
	}
	before := len(t.outbox)
	for _, r := range confirmed {
		t.toReservation(KindChanged, r, number, told)
	}
	for _, e := range offers {
		t.toEntry(KindOffer, e, number, told)
	}
	details["told"] = len(t.outbox) - before
	return nil
}

// writeTerms writes within a savepoint, with the policies of a new service: an
// overlap refuses the step, while the sweep made before stays.
func (t *slotTx) writeTerms(ctx context.Context, policies *Policies) error {
	err := pgx.BeginFunc(ctx, t.tx, func(tx pgx.Tx) error {
		if policies != nil {
			if err := t.writePolicies(ctx, *policies); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, writeTermsSQL, pgx.StrictNamedArgs{
			"tenant": t.tenant, "slot": t.slot.ID, "starts": t.slot.StartsAt, "ends": t.slot.EndsAt, "service": t.slot.ServiceID,
			"resource": t.slot.ResourceID, "terms": t.slot.TermsVersion, "order_until": t.slot.OrderUntil, "now": t.now,
		})
		return err
	})
	switch {
	case violated(err, "slots_no_overlap"), violated(err, "slots_start"):
		return Overlaps
	case code(err) == "23503": // a resource that is absent or another tenant's
		return NotFound
	}
	return err
}

// take copies the policies into the locked slot.
func (l *lockedSlot) take(p Policies) {
	l.WaitlistMode, l.Fit, l.PartyMax, l.WaitlistMax, l.HoldsPerVisitor, l.OnePerPerson = p.WaitlistMode, p.Fit, p.PartyMax, p.WaitlistMax, p.HoldsPerVisitor, p.OnePerPerson
	l.HoldShown, l.HoldGrace, l.OfferShown, l.OfferGrace = p.HoldShown.D(), p.HoldGrace.D(), p.OfferShown.D(), p.OfferGrace.D()
	l.BroadcastBefore, l.BookingOpens, l.BookingCloses = p.BroadcastBefore.D(), p.BookingOpens.D(), p.BookingCloses.D()
	l.CancelBefore, l.LeastAnswer, l.ReminderBefore = p.CancelBefore.D(), p.LeastAnswer.D(), p.ReminderBefore.D()
	l.QuietFrom, l.QuietUntil = nil, nil
	if p.Quiet != nil {
		l.QuietFrom, l.QuietUntil = &p.Quiet.From, &p.Quiet.Until
	}
}

// args are the slot's own copy of the policies, as columns.
func (p Policies) args() pgx.StrictNamedArgs {
	var from, until *int
	if p.Quiet != nil {
		from, until = &p.Quiet.From, &p.Quiet.Until
	}
	return pgx.StrictNamedArgs{
		"waitlist_mode": p.WaitlistMode, "fit": p.Fit, "hold_shown": p.HoldShown.D(), "hold_grace": p.HoldGrace.D(), "offer_shown": p.OfferShown.D(),
		"offer_grace": p.OfferGrace.D(), "broadcast_before": p.BroadcastBefore.D(), "booking_opens": p.BookingOpens.D(), "booking_closes": p.BookingCloses.D(),
		"cancel_before": p.CancelBefore.D(), "least_answer": p.LeastAnswer.D(), "quiet_from": from, "quiet_until": until, "party_max": p.PartyMax,
		"waitlist_max": p.WaitlistMax, "holds_per_visitor": p.HoldsPerVisitor, "few_left": p.FewLeft, "one_per_person": p.OnePerPerson,
		"reminder_before": p.ReminderBefore.D(), "erase_waitlist_after": p.EraseWaitlist.D(), "erase_reservations_after": p.EraseBookings.D(),
	}
}

func (t *slotTx) servicePolicies(ctx context.Context, service string) (Policies, error) {
	sv, err := one[Service](ctx, t.tx, serviceSQL, pgx.StrictNamedArgs{"tenant": t.tenant, "service": service})
	if err != nil {
		return Policies{}, err
	}
	tenant, err := one[Tenant](ctx, t.tx, tenantByIDSQL, pgx.StrictNamedArgs{"tenant": t.tenant})
	if err != nil {
		return Policies{}, err
	}
	return sv.Policies(tenant)
}

func (t *slotTx) writePolicies(ctx context.Context, p Policies) error {
	t.slot.setOrderUntil()
	args := p.args()
	args["tenant"], args["slot"], args["order_until"] = t.tenant, t.slot.ID, t.slot.OrderUntil
	return t.exec(ctx, 1, writePoliciesSQL, args)
}

// NewSlot is a slot to be made; it ends after the service's duration. Capacity
// 0 takes the service's.
type NewSlot struct {
	ServiceID  string
	ResourceID string
	StartsAt   time.Time
	Capacity   int
}

const addSlotSQL = `-- add slot
INSERT INTO slots (tenant_id, id, service_id, resource_id, starts_at, ends_at, capacity, order_until, waitlist_mode, fit, hold_shown, hold_grace,
	offer_shown, offer_grace, broadcast_before, booking_opens, booking_closes, cancel_before, least_answer, quiet_from, quiet_until, party_max,
	waitlist_max, holds_per_visitor, few_left, one_per_person, reminder_before, erase_waitlist_after, erase_reservations_after)
VALUES (@tenant, @id, @service, @resource, @starts, @ends, @capacity, @order_until, @waitlist_mode, @fit, @hold_shown, @hold_grace,
	@offer_shown, @offer_grace, @broadcast_before, @booking_opens, @booking_closes, @cancel_before, @least_answer, @quiet_from, @quiet_until, @party_max,
	@waitlist_max, @holds_per_visitor, @few_left, @one_per_person, @reminder_before, @erase_waitlist_after, @erase_reservations_after)`

// AddSlots makes slots with their own copy of their service's policies, all or
// none. Refusals: NotFound (service or resource), Overlaps.
func (s *Store) AddSlots(ctx context.Context, tenant string, slots []NewSlot) ([]Slot, error) {
	type offered struct {
		Service
		Policies Policies
	}
	var named []string
	for _, slot := range slots {
		named = append(named, slot.ServiceID)
	}
	slices.Sort(named)
	named = slices.Compact(named)
	ids := make([]string, 0, len(slots))
	err := pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		// Under a lock, in the order of their keys: a change of the policies waits
		// until these slots are there to take it, or is in what is read here.
		services := map[string]offered{}
		for _, id := range named {
			var of, own []byte
			if err := tx.QueryRow(ctx, presentPoliciesSQL, pgx.StrictNamedArgs{"tenant": tenant, "service": id}).Scan(&of, &own); err != nil {
				return err
			}
			policies, err := Service{Overrides: own}.Policies(Tenant{Overrides: of})
			if err != nil {
				return err
			}
			sv, err := one[Service](ctx, tx, serviceSQL, pgx.StrictNamedArgs{"tenant": tenant, "service": id})
			if err != nil {
				return err
			}
			services[id] = offered{sv, policies}
		}
		batch := &pgx.Batch{}
		for _, slot := range slots {
			sv := services[slot.ServiceID]
			locked := lockedSlot{StartsAt: slot.StartsAt}
			locked.take(sv.Policies)
			locked.setOrderUntil()
			args := sv.Policies.args()
			id := newID()
			ids = append(ids, id)
			capacity := slot.Capacity
			if capacity == 0 {
				capacity = sv.Capacity
			}
			args["tenant"], args["id"], args["service"], args["resource"] = tenant, id, slot.ServiceID, slot.ResourceID
			args["starts"], args["ends"], args["capacity"], args["order_until"] = slot.StartsAt, slot.StartsAt.Add(sv.Duration), capacity, locked.OrderUntil
			batch.Queue(addSlotSQL, args)
		}
		return tx.SendBatch(ctx, batch).Close()
	})
	switch {
	case violated(err, "slots_no_overlap"), violated(err, "slots_start"):
		err = Overlaps
	case code(err) == "23503": // a resource that is absent or another tenant's
		err = NotFound
	}
	if err != nil {
		return nil, s.settle("add_slots", err)
	}
	return list[Slot](ctx, s.db, slotsByIDSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "slots": ids})
}

const slotsByIDSQL = `-- slots by id
` + slotSelect + `WHERE s.tenant_id = @tenant AND s.id = ANY(@slots::text[]::uuid[]) ORDER BY s.starts_at, s.id`
