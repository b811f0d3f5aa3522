package store

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
)

// CancelRequest ends one booking, or several of one slot. Every door uses it:
// the customer's link, staff, a bulk of staff, the API.
type CancelRequest struct {
	TenantID string
	SlotID   string // may be empty for one booking: then it is the slot that it is in
	IDs      []string
	Actor    Actor
	Reason   string
	Version  *int64 // of the slot, as the form showed it; nil: not asked
	Silent   bool   // the customers are not told; recorded in the event
}

// Cancel ends bookings and passes their seats on, in one transaction. Live
// holds among them are released. Refusals: NotFound, Over (nothing of it was
// ever confirmed), TooLate (customers, after the cutoff), Conflict (stale
// version, or a booking that is no longer in the slot), Busy. What is cancelled
// already stays so: a repeated press is answered with the present state.
func (s *Store) Cancel(ctx context.Context, req CancelRequest) (Change, error) {
	change, err := s.cancel(ctx, req, s.onSlot)
	return change, s.settle("cancel", err)
}

// PreviewCancel tells what Cancel would do at this moment: who would be offered
// the seats and until when, or that they would be open to everybody. Nothing is changed.
func (s *Store) PreviewCancel(ctx context.Context, req CancelRequest) (Change, error) {
	change, err := s.cancel(ctx, req, s.previewSlot)
	return change, classify(err)
}

// runner is onSlot or previewSlot.
type runner func(ctx context.Context, step, tenant, slot string, actor Actor, f func(context.Context, *slotTx) error) (Change, error)

func (s *Store) cancel(ctx context.Context, req CancelRequest, run runner) (Change, error) {
	if len(req.IDs) == 0 {
		return Change{}, NotFound
	}
	ids := slices.Compact(slices.Sorted(slices.Values(req.IDs)))
	for range 4 {
		slot := req.SlotID
		if slot == "" {
			read, err := s.Reservation(ctx, req.TenantID, ids[0])
			if err != nil {
				return Change{}, err
			}
			slot = read.SlotID
		}
		change, err := run(ctx, "cancel", req.TenantID, slot, req.Actor, func(ctx context.Context, t *slotTx) error {
			return t.cancel(ctx, req, ids)
		})
		switch {
		case errors.Is(err, errMoved) && req.SlotID == "":
			continue
		case errors.Is(err, errMoved):
			return change, Conflict
		}
		return change, err
	}
	return Change{}, Busy
}

func (t *slotTx) cancel(ctx context.Context, req CancelRequest, ids []string) error {
	var live []Reservation
	ended := 0
	for _, id := range ids {
		r, err := t.lockReservation(ctx, id)
		if err != nil {
			return err
		}
		switch {
		case r.State == Confirmed:
			if t.actor.Kind == Customer && !t.press.Before(t.slot.cancelUntil()) {
				return TooLate
			}
			live = append(live, r)
		case r.State == Held && t.actor.Kind != Customer:
			t.exempt = append(t.exempt, r.ID)
			live = append(live, r)
		case r.State == Cancelled:
			ended++
		default:
			if err := t.seen(req.Version); err != nil {
				return err
			}
			return Over
		}
	}
	if len(live) == 0 && ended > 0 {
		return t.sweep(ctx)
	}
	if err := t.seen(req.Version); err != nil {
		return err
	}
	if err := t.sweep(ctx); err != nil {
		return err
	}
	for _, r := range live {
		if r.State == Held {
			if err := t.endReservation(ctx, &r, Released, req.Reason); err != nil {
				return err
			}
			t.freeSeats(r, EventReleased, r.PartySize, nil, false)
		} else {
			if err := t.endReservation(ctx, &r, Cancelled, req.Reason); err != nil {
				return err
			}
			number := t.freeSeats(r, EventCancelled, r.PartySize, noticeDetails(req.Reason, req.Silent), false)
			if !req.Silent {
				t.toReservation(KindCancelled, r, number, map[string]any{"by": string(t.actor.Kind), "reason": req.Reason})
			}
		}
		t.change.Ended = append(t.change.Ended, r)
	}
	return nil
}

// noticeDetails are the details of an event with a reason, and with the
// explicit choice that nobody was told.
func noticeDetails(reason string, silent bool) map[string]any {
	details := map[string]any{}
	if reason != "" {
		details["reason"] = reason
	}
	if silent {
		details["notice"] = "none"
	}
	return details
}

// seen refuses a form that showed an older state of the slot. The shown version
// is compared with that at the lock: a sweep on the way is not the person's mistake.
func (t *slotTx) seen(version *int64) error {
	if version != nil && *version != t.was.Version {
		return Conflict
	}
	return nil
}

// PartyRequest changes the number of people of a booking.
type PartyRequest struct {
	TenantID  string
	ID        string
	PartySize int
	Actor     Actor
	Version   *int64
}

const partySQL = `-- change party
UPDATE reservations SET party_size = @party, extra_seats = @extra, sequence = sequence + 1, press_addr = @addr, press_agent = @agent
WHERE tenant_id = @tenant AND id = @id AND state = 'confirmed'`

// ChangeParty makes a booking smaller (customers: before the cutoff, since that
// is to cancel a part), or larger where seats are free. Staff may do so in a
// closed slot too. Refusals: NotFound, Over, Conflict, SoldOut, PartyTooLarge,
// Closed, TooEarly, TooLate. The same size again is answered with the booking.
func (s *Store) ChangeParty(ctx context.Context, req PartyRequest) (Reservation, Change, error) {
	var changed Reservation
	change, err := s.onReservation(ctx, "party", Press{TenantID: req.TenantID, ID: req.ID, Actor: req.Actor}, func(ctx context.Context, t *slotTx, r Reservation) error {
		if err := t.seen(req.Version); err != nil {
			return err
		}
		changed = r
		switch {
		case r.State != Confirmed:
			return Over
		case req.PartySize < 1:
			return PartyTooLarge
		}
		if err := t.sweep(ctx); err != nil {
			return err
		}
		more := req.PartySize - r.PartySize
		if more < 0 && t.actor.Kind == Customer && !t.press.Before(t.slot.cancelUntil()) {
			return TooLate // to give up three of four seats is to cancel three
		}
		if more > 0 {
			if err := t.open(); err != nil && t.actor.Kind != Staff {
				return err
			}
			if req.PartySize > t.slot.PartyMax && t.actor.Kind != Staff {
				return PartyTooLarge
			}
			if t.slot.Status == SlotCancelled {
				return Closed
			}
			if !t.hasSeats(more) {
				return SoldOut
			}
		}
		if more == 0 {
			return nil
		}
		extra := r.ExtraSeats - min(r.ExtraSeats, max(0, -more))
		err := t.exec(ctx, 1, partySQL, pgx.StrictNamedArgs{
			"tenant": t.tenant, "id": r.ID, "party": req.PartySize, "extra": extra, "addr": t.actor.Addr, "agent": t.actor.Agent,
		})
		if err != nil {
			return err
		}
		details := map[string]any{"from": r.PartySize}
		changed.PartySize, changed.ExtraSeats, changed.Sequence = req.PartySize, extra, r.Sequence+1
		if more < 0 {
			was := r
			was.PartySize = req.PartySize
			t.freeSeats(was, EventPartyChanged, -more, details, false)
		} else {
			t.event(EventPartyChanged, r.ID, req.PartySize, more, details)
		}
		return nil
	})
	return changed, change, s.settle("party", err)
}

// MoveRequest takes a booking to another slot.
type MoveRequest struct {
	TenantID    string
	ID          string
	TargetSlot  string
	TargetTerms int // as the page showed them
	Actor       Actor
	Reason      string
	Version     *int64 // of the slot it stands in, as the form showed it
}

const moveSQL = `-- move
UPDATE reservations SET slot_id = @target, terms_version = @terms, idempotency_key = NULL, extra_seats = 0, one_per_person = @one_per_person,
	person_key = CASE WHEN @one_per_person::boolean THEN NULLIF(lower(email), '') END, attendance = '', sequence = sequence + 1, press_addr = @addr, press_agent = @agent
WHERE tenant_id = @tenant AND id = @id AND state = 'confirmed'`

const bookedHereSQL = `-- has this person booked here
SELECT EXISTS (SELECT 1 FROM reservations WHERE tenant_id = @tenant AND slot_id = @slot AND person_key = @person AND state IN ('held', 'confirmed'))`

// bookedHere reports whether the person has a booking in this slot, where one is allowed.
func (t *slotTx) bookedHere(ctx context.Context, email string) (bool, error) {
	if !t.slot.OnePerPerson || email == "" {
		return false, nil
	}
	var booked bool
	err := t.tx.QueryRow(ctx, bookedHereSQL, pgx.StrictNamedArgs{"tenant": t.tenant, "slot": t.slot.ID, "person": PersonKey(email)}).Scan(&booked)
	return booked, err
}

// Move changes the slot of a booking, not its identity: number and link stay.
// Seats are taken in the target and freed in the source in one transaction, or
// nothing moves. Refusals: NotFound, Over, Conflict, TooLate (customers, after
// the source's cutoff), AlreadyBooked, and those of Hold for the target. A move
// to where it stands is done.
func (s *Store) Move(ctx context.Context, req MoveRequest) (Reservation, error) {
	var moved Reservation
	err := s.move(ctx, req, &moved)
	return moved, s.settle("move", err)
}

func (s *Store) move(ctx context.Context, req MoveRequest, moved *Reservation) error {
	for range 4 {
		read, err := s.Reservation(ctx, req.TenantID, req.ID)
		if err != nil {
			return err
		}
		*moved = read
		if read.SlotID == req.TargetSlot && read.State == Confirmed {
			return nil
		}
		_, err = s.onSlots(ctx, "move", req.TenantID, []string{read.SlotID, req.TargetSlot}, req.Actor, stepOptions{}, func(ctx context.Context, t *stepTx) error {
			source, target := t.at(read.SlotID), t.at(req.TargetSlot)
			if err := source.seen(req.Version); err != nil {
				return err
			}
			r, err := source.lockReservation(ctx, req.ID)
			if err != nil {
				return err
			}
			*moved = r
			if source == target && r.State == Confirmed { // another press was first
				return nil
			}
			return t.moveBooking(ctx, source, target, moved, req)
		})
		if !errors.Is(err, errMoved) {
			return err
		}
	}
	return Busy
}

func (t *stepTx) moveBooking(ctx context.Context, source, target *slotTx, r *Reservation, req MoveRequest) error {
	if r.State != Confirmed {
		return Over
	}
	if t.actor.Kind == Customer && !t.press.Before(source.slot.cancelUntil()) {
		return TooLate
	}
	for _, slot := range t.slots {
		if err := slot.sweep(ctx); err != nil {
			return err
		}
	}
	if booked, err := target.bookedHere(ctx, r.Email); err != nil {
		return err
	} else if booked {
		return AlreadyBooked
	}
	party := r.PartySize
	if t.actor.Kind == Staff { // staff judge the size of a party themselves
		party = min(party, target.slot.PartyMax)
	}
	if err := target.judgeHold(HoldSlot{ID: target.slot.ID, TermsVersion: req.TargetTerms}, party, 0); err != nil {
		return err
	}
	if !target.hasSeats(r.PartySize) {
		return SoldOut
	}
	err := t.exec(ctx, 1, moveSQL, pgx.StrictNamedArgs{
		"tenant": t.tenant, "id": r.ID, "target": target.slot.ID, "terms": target.slot.TermsVersion, "one_per_person": target.slot.OnePerPerson,
		"addr": t.actor.Addr, "agent": t.actor.Agent,
	})
	if err != nil {
		return err
	}
	details := noticeDetails(req.Reason, false)
	details["to"] = target.slot.ID
	source.freeSeats(*r, EventMovedOut, r.PartySize, details, false)
	number := target.event(EventMovedIn, r.ID, r.PartySize, r.PartySize, map[string]any{"from": source.slot.ID})
	if err := target.sweepOnly(ctx); err != nil { // an entry of the same person has nothing more to wait for
		return err
	}
	target.toReservation(KindMoved, *r, number, map[string]any{"from_slot": source.slot.ID, "from_starts_at": source.slot.StartsAt, "from_ends_at": source.slot.EndsAt})
	r.SlotID, r.TermsVersion, r.ExtraSeats = target.slot.ID, target.slot.TermsVersion, 0
	r.Sequence++
	return nil
}

// BookRequest is a booking that staff make for a caller, or somebody at the counter.
type BookRequest struct {
	TenantID    string
	SlotID      string
	PartySize   int
	Contact     Contact // normalised; without an e-mail nobody is written to
	Key         string
	ExtraReason string // not empty: seats may be added beyond the capacity, for this reason
	Silent      bool   // no confirmation mail; recorded in the event
	Actor       Actor
	Version     *int64
}

// Book makes a confirmed reservation in one press. Staff are not bound to the
// booking window until the slot ends, nor to the largest party. With a reason
// they may add seats on purpose: capacity and taken then rise in the same write.
// Refusals: NotFound, Closed, TooLate, Conflict, SoldOut, AlreadyBooked, KeyReused.
func (s *Store) Book(ctx context.Context, req BookRequest) (Reservation, Change, error) {
	hold := HoldRequest{TenantID: req.TenantID, Slots: []HoldSlot{{ID: req.SlotID}}, PartySize: req.PartySize, Owner: req.Actor.label(), Key: req.Key}
	var booked Reservation
	change, err := s.onSlot(ctx, "book", req.TenantID, req.SlotID, req.Actor, func(ctx context.Context, t *slotTx) error {
		made, err := lookUpKey(ctx, t.tx, hold, &t.now)
		if err != nil || len(made) > 0 {
			if len(made) > 0 {
				booked = made[0]
			}
			return err
		}
		if err := t.seen(req.Version); err != nil {
			return err
		}
		if err := t.sweep(ctx); err != nil {
			return err
		}
		if t.slot.Status == SlotClosed && req.ExtraReason == "" {
			return Closed
		}
		booked, err = t.bookForStaff(ctx, hold, staffBooking{contact: req.Contact, reason: req.ExtraReason, silent: req.Silent})
		return err
	})
	return booked, change, s.settle("book", err)
}

// staffBooking is what the bookings differ in that staff make in one press.
type staffBooking struct {
	contact Contact
	reason  string // not empty: seats may be added beyond the capacity
	silent  bool
	undoes  string // the cancelled reservation that it stands for again; else empty
}

// bookForStaff makes a confirmed reservation in a slot that is swept.
func (t *slotTx) bookForStaff(ctx context.Context, hold HoldRequest, b staffBooking) (Reservation, error) {
	switch {
	case t.slot.Status == SlotCancelled:
		return Reservation{}, Closed
	case !t.press.Before(t.slot.EndsAt):
		return Reservation{}, TooLate
	case hold.PartySize < 1:
		return Reservation{}, PartyTooLarge
	}
	if here, err := t.bookedHere(ctx, b.contact.Email); err != nil {
		return Reservation{}, err
	} else if here {
		return Reservation{}, AlreadyBooked
	}
	extra := t.missingSeats(hold.PartySize)
	if extra > 0 && b.reason == "" {
		return Reservation{}, SoldOut
	}
	booked, err := t.insertReservation(ctx, newReservation{
		state: Confirmed, party: hold.PartySize, extra: extra, contact: b.contact, owner: hold.Owner, key: hold.Key,
		fingerprint: hold.fingerprint(), source: SourceStaff,
	})
	if err != nil {
		return Reservation{}, err
	}
	details := noticeDetails(b.reason, b.silent)
	if extra > 0 {
		t.slot.Capacity += extra
		details["extra_seats"] = extra
	}
	details["booked"] = true
	var payload map[string]any
	if b.undoes != "" {
		details["undoes"] = b.undoes
		payload = map[string]any{"again": true}
	}
	t.event(EventHeld, booked.ID, booked.PartySize, booked.PartySize, details)
	// Under the slot's lock, so this confirming has a number, unlike a customer's.
	number := t.event(EventConfirmed, booked.ID, booked.PartySize, 0, noticeDetails("", b.silent))
	if !b.silent {
		t.toReservation(KindConfirmed, booked, number, payload)
	}
	return booked, t.sweepOnly(ctx) // an entry of the same person has nothing more to wait for
}

// missingSeats is how many seats a party lacks. Free seats that are kept for
// the waitlist are not for it.
func (t *slotTx) missingSeats(party int) int {
	if t.hasSeats(party) {
		return 0
	}
	if t.slot.Kept && t.slot.orderRules(t.now) {
		return party
	}
	return party - t.slot.free()
}

// AttendanceRequest says whether a party came.
type AttendanceRequest struct {
	TenantID   string
	ID         string
	Attendance string // "arrived", "no_show" or ""
	Actor      Actor
}

// One row, by its key, with its own condition: no lock of the slot is needed, since no seat changes.
const attendanceSQL = `-- attendance
UPDATE reservations r SET attendance = @attendance WHERE r.tenant_id = @tenant AND r.id = @id AND r.state = 'confirmed'
RETURNING ` + reservationColumns + `, statement_timestamp() AS now`

// SetAttendance notes that a party has arrived or not. Refusals: NotFound (or no longer booked).
func (s *Store) SetAttendance(ctx context.Context, req AttendanceRequest) (Reservation, error) {
	r, err := one[Reservation](ctx, s.db, attendanceSQL, pgx.StrictNamedArgs{"tenant": req.TenantID, "id": req.ID, "attendance": req.Attendance})
	if err == nil {
		s.changed(req.TenantID, r.SlotID)
	}
	return r, s.settle("attendance", err)
}
