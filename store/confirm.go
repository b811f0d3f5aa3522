package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Press is a press about one reservation or entry.
type Press struct {
	TenantID string
	ID       string
	Actor    Actor
	Version  *int64 // of the slot, as the form showed it; nil: not asked. Only Withdraw and Decline look at it
}

// OwnerPress is a press that only the owner of a hold may make. Who holds the
// secret link owns: callers then pass the reservation's own Owner.
type OwnerPress struct {
	Press
	Owner string
}

// ConfirmRequest turns a hold into a booking. Contact is normalised.
type ConfirmRequest struct {
	TenantID       string
	ID             string
	Owner          string
	TermsVersion   int // as the page showed them: what the customer agrees to
	Contact        Contact
	ConsentVersion string // "" where nothing had to be consented to
	Actor          Actor
}

// Confirm makes a held reservation, or all of its group, a booking. Seats do
// not change, so it works without the slot's lock, in one statement on the
// reservation's own row. Refusals: NotFound, NotOwner, Expired, Over,
// TermsChanged, AlreadyBooked, Busy. Confirming what is confirmed is answered with it.
func (s *Store) Confirm(ctx context.Context, req ConfirmRequest) (Reservation, error) {
	ctx, cancel := context.WithTimeout(ctx, LongestWait)
	defer cancel()
	var r Reservation
	var err error
	for attempt := 1; ; attempt++ {
		r, err = s.confirm(ctx, req)
		if !retryable(err) || attempt == 4 || wait(ctx, backoff(attempt)) != nil {
			break
		}
	}
	if violated(err, "reservations_person") {
		err = AlreadyBooked
	}
	if err == nil {
		s.changed(req.TenantID, r.SlotID)
	}
	return r, s.settle("confirm", err)
}

// The row's own conditions are judged on its newest version, which the update
// locks; a condition on the slot would be judged on an old one. That is why a
// change of terms rewrites terms_version of the holds.
// The mark for the sweep reads the snapshot: an entry of the same person that
// is joining at this moment is met by pass on, which never offers to somebody who has booked.
const confirmSQL = `-- confirm
WITH r AS (
	UPDATE reservations AS r SET state = 'confirmed', confirmed_at = (SELECT coalesce(@at::timestamptz, statement_timestamp())),
		name = @name, kana = @kana, email = @email, phone = @phone, note = @note, locale = @locale, answers = @answers::jsonb,
		person_key = CASE WHEN one_per_person THEN NULLIF(@person::text, '') END,
		consent_version = @consent, consented_at = (SELECT CASE WHEN @consent::text <> '' THEN coalesce(@at::timestamptz, statement_timestamp()) END),
		press_addr = @addr, press_agent = @agent,
		entry_to_close = one_per_person AND EXISTS (SELECT 1 FROM waitlist_entries e WHERE e.tenant_id = @tenant AND e.slot_id = r.slot_id
			AND e.person_key = NULLIF(@person::text, '') AND e.state IN ('waiting', 'offered'))
	WHERE r.tenant_id = @tenant AND r.id = @id AND r.state = 'held' AND r.owner = @owner AND r.terms_version = @terms AND r.group_id IS NULL
		AND r.expires_at > (SELECT coalesce(@at::timestamptz, statement_timestamp()))
	RETURNING ` + reservationColumns + `, r.confirmed_at AS now
), e AS (
	INSERT INTO events (tenant_id, slot_id, kind, actor, party_size, subject_id, at, details)
	SELECT @tenant, slot_id::uuid, 'confirmed', @actor, party_size, id::uuid, now, CASE WHEN email = '' THEN '{"notice": "no_address"}' ELSE '{}' END::jsonb FROM r
), o AS (
	INSERT INTO outbox (tenant_id, id, kind, slot_id, subject_id, recipient, locale, next_attempt_at, dedupe_key, created_at)
	SELECT @tenant, @message, 'confirmed', slot_id::uuid, id::uuid, email, locale, now, 'confirmed/' || id || '/' || terms_version, now FROM r WHERE email <> ''
)
SELECT * FROM r`

func (s *Store) confirm(ctx context.Context, req ConfirmRequest) (Reservation, error) {
	rows, err := s.db.Query(ctx, confirmSQL, req.args(s.at, req.ID))
	var r Reservation
	if err == nil {
		r, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Reservation])
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return r, err
	}
	s.zeroRows("confirm")
	r, err = s.Reservation(ctx, req.TenantID, req.ID)
	if err != nil {
		return Reservation{}, err
	}
	if r.GroupID != nil && r.State == Held && r.Owner == req.Owner {
		return s.confirmGroup(ctx, req, *r.GroupID)
	}
	return r, s.whyNotConfirmed(ctx, req, r)
}

func (req ConfirmRequest) args(at *time.Time, id string) pgx.StrictNamedArgs {
	return pgx.StrictNamedArgs{
		"at": at, "tenant": req.TenantID, "id": id, "owner": req.Owner, "terms": req.TermsVersion, "name": req.Contact.Name, "kana": req.Contact.Kana,
		"email": req.Contact.Email, "phone": req.Contact.Phone, "note": req.Contact.Note, "locale": req.Contact.Locale, "person": PersonKey(req.Contact.Email), "answers": jsonAnswers(req.Contact.Answers),
		"consent": req.ConsentVersion, "actor": req.Actor.label(), "addr": req.Actor.Addr, "agent": req.Actor.Agent, "message": newID(),
	}
}

// whyNotConfirmed names the refusal, or nil where r is confirmed already: a
// second press is shown the first one's success.
func (s *Store) whyNotConfirmed(ctx context.Context, req ConfirmRequest, r Reservation) error {
	switch {
	case r.Owner != req.Owner:
		return NotOwner
	case r.State == Confirmed:
		return nil
	case r.State == ExpiredR || (r.State == Held && !r.ExpiresAt.After(r.Now)):
		if err := refusedLate(ctx, s.db, r.TenantID, r.SlotID, r.ID, "confirm", req.Actor, r.PartySize, r.Now, r.ShownUntil); err != nil {
			return err
		}
		return Expired
	case r.State != Held:
		return Over
	case r.TermsVersion != req.TermsVersion:
		return TermsChanged
	}
	// Everything holds now: it did not a moment ago, when the statement judged.
	return Busy
}

const lockGroupSQL = `-- lock group
SELECT ` + reservationColumns + `, coalesce(@at::timestamptz, now()) AS now
FROM reservations r WHERE r.tenant_id = @tenant AND r.group_id = @group ORDER BY r.slot_id FOR NO KEY UPDATE`

// A press carries one version of terms, that of the reservation pressed on.
// The rows are locked: a change of another slot has rewritten its hold before, and its event shows.
const groupChangedSQL = `-- have the terms of others in the group changed
SELECT EXISTS (
	SELECT 1 FROM reservations r
	JOIN events h ON h.tenant_id = r.tenant_id AND h.slot_id = r.slot_id AND h.subject_id = r.id AND h.kind = 'held'
	JOIN events c ON c.tenant_id = r.tenant_id AND c.slot_id = r.slot_id AND c.kind = 'terms_changed' AND c.number > h.number
	WHERE r.tenant_id = @tenant AND r.group_id = @group AND r.id <> @id)`

// confirmOfGroupSQL is confirmSQL for a row that is locked and judged.
const confirmOfGroupSQL = `-- confirm one of a group
WITH r AS (
	UPDATE reservations AS r SET state = 'confirmed', confirmed_at = @now, name = @name, kana = @kana, email = @email, phone = @phone, note = @note, locale = @locale, answers = @answers::jsonb,
		person_key = CASE WHEN one_per_person THEN NULLIF(@person::text, '') END,
		consent_version = @consent, consented_at = CASE WHEN @consent::text <> '' THEN @now::timestamptz END, press_addr = @addr, press_agent = @agent,
		entry_to_close = one_per_person AND EXISTS (SELECT 1 FROM waitlist_entries e WHERE e.tenant_id = @tenant AND e.slot_id = r.slot_id
			AND e.person_key = NULLIF(@person::text, '') AND e.state IN ('waiting', 'offered'))
	WHERE r.tenant_id = @tenant AND r.id = @id AND r.state = 'held'
	RETURNING ` + reservationColumns + `, r.confirmed_at AS now
), e AS (
	INSERT INTO events (tenant_id, slot_id, kind, actor, party_size, subject_id, at, details)
	SELECT @tenant, slot_id::uuid, 'confirmed', @actor, party_size, id::uuid, now, CASE WHEN email = '' THEN '{"notice": "no_address"}' ELSE '{}' END::jsonb FROM r
), o AS (
	INSERT INTO outbox (tenant_id, id, kind, slot_id, subject_id, recipient, locale, next_attempt_at, dedupe_key, created_at)
	SELECT @tenant, @message, 'confirmed', slot_id::uuid, id::uuid, email, locale, now, 'confirmed/' || id || '/' || terms_version, now FROM r WHERE email <> ''
)
SELECT * FROM r`

// confirmGroup confirms all reservations of a group or none: its rows are
// locked in the order of their slots, as every other step goes through them.
// TermsVersion is that of the reservation pressed on; the others must not have changed since they were held either.
func (s *Store) confirmGroup(ctx context.Context, req ConfirmRequest, group string) (Reservation, error) {
	var pressed Reservation
	var refusal error
	var confirmedIn []string // slots
	refused := false
	err := pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		members, err := list[Reservation](ctx, tx, lockGroupSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": req.TenantID, "group": group})
		if err != nil {
			return err
		}
		live := 0
		for _, r := range members {
			if r.ID == req.ID {
				pressed = r
			}
			if r.State == Held && r.ExpiresAt.After(r.Now) {
				live++
			}
		}
		if pressed.ID == "" {
			return NotFound
		}
		if pressed.State != Held || live != *pressed.GroupSize || pressed.TermsVersion != req.TermsVersion {
			refused = true
			return nil
		}
		var changed bool
		if err := tx.QueryRow(ctx, groupChangedSQL, pgx.StrictNamedArgs{"tenant": req.TenantID, "group": group, "id": req.ID}).Scan(&changed); err != nil {
			return err
		}
		if changed {
			refusal = TermsChanged
			return nil
		}
		for _, r := range members {
			args := req.args(s.at, r.ID)
			delete(args, "at")
			delete(args, "owner")
			delete(args, "terms")
			args["now"] = r.Now
			confirmed, err := one[Reservation](ctx, tx, confirmOfGroupSQL, args)
			if err != nil {
				return err
			}
			confirmedIn = append(confirmedIn, r.SlotID)
			if r.ID == req.ID {
				pressed = confirmed
			}
		}
		return nil
	})
	if err == nil && refused {
		// After the transaction: the record of a late press asks the pool for a connection of its own.
		if refusal = s.whyNotConfirmed(ctx, req, pressed); refusal == Busy {
			refusal = Expired // this one lives, another of its group does not
		}
	}
	if err == nil {
		for _, slot := range confirmedIn {
			s.changed(req.TenantID, slot)
		}
		err = refusal
	}
	return pressed, err
}

const lockReservationSQL = `-- lock reservation
SELECT ` + reservationColumns + `, @now::timestamptz AS now FROM reservations r WHERE r.tenant_id = @tenant AND r.id = @id FOR NO KEY UPDATE`

// errMoved says that the reservation is in another slot than was read: start again there.
var errMoved = errors.New("the reservation has moved")

// onReservation locks the slot that the reservation is in, then its row, and
// runs f. A reservation that moved in between is followed.
func (s *Store) onReservation(ctx context.Context, step string, p Press, f func(context.Context, *slotTx, Reservation) error) (Change, error) {
	for range 4 {
		read, err := s.Reservation(ctx, p.TenantID, p.ID)
		if err != nil {
			return Change{}, err
		}
		change, err := s.onSlot(ctx, step, p.TenantID, read.SlotID, p.Actor, func(ctx context.Context, t *slotTx) error {
			r, err := t.lockReservation(ctx, p.ID)
			if err != nil {
				return err
			}
			return f(ctx, t, r)
		})
		if !errors.Is(err, errMoved) {
			return change, err
		}
	}
	return Change{}, Busy
}

func (t *slotTx) lockReservation(ctx context.Context, id string) (Reservation, error) {
	r, err := one[Reservation](ctx, t.tx, lockReservationSQL, pgx.StrictNamedArgs{"tenant": t.tenant, "id": id, "now": t.now})
	if err == nil && r.SlotID != t.slot.ID {
		return r, errMoved
	}
	return r, err
}

// onGroup is onReservation for a hold and all that were held with it: all slots
// are locked, f gets the members by slot id.
func (s *Store) onGroup(ctx context.Context, step string, p OwnerPress, f func(ctx context.Context, t *stepTx, members []Reservation) error) error {
	read, err := s.Reservation(ctx, p.TenantID, p.ID)
	if err != nil {
		return err
	}
	if read.Owner != p.Owner {
		return NotOwner
	}
	members := []Reservation{read}
	if read.GroupID != nil && read.State == Held {
		if members, err = s.Group(ctx, p.TenantID, *read.GroupID); err != nil {
			return err
		}
	}
	slots := make([]string, 0, len(members))
	for _, r := range members {
		slots = append(slots, r.SlotID)
	}
	_, err = s.onSlots(ctx, step, p.TenantID, slots, p.Actor, stepOptions{}, func(ctx context.Context, t *stepTx) error {
		locked := make([]Reservation, 0, len(members))
		for _, member := range members {
			r, err := t.at(member.SlotID).lockReservation(ctx, member.ID)
			if err != nil {
				return err
			}
			locked = append(locked, r)
		}
		return f(ctx, t, locked)
	})
	if errors.Is(err, errMoved) { // only bookings move: the hold was confirmed meanwhile
		return Conflict
	}
	return err
}

// judgeOwnHold judges the press on the person's own hold, before the slot.
func (t *slotTx) judgeOwnHold(ctx context.Context, step string, r Reservation) error {
	switch {
	case r.State == ExpiredR || (r.State == Held && !r.ExpiresAt.After(t.press)):
		if err := refusedLate(ctx, t.tx, t.tenant, t.slot.ID, r.ID, step, t.actor, r.PartySize, t.press, r.ShownUntil); err != nil {
			return err
		}
		if err := t.sweep(ctx); err != nil {
			return err
		}
		return Expired
	case r.State == Confirmed:
		return Conflict
	case r.State != Held:
		return Over
	}
	return nil
}

const extendSQL = `-- extend
UPDATE reservations SET shown_until = @shown, expires_at = @expires, extended_at = @now WHERE tenant_id = @tenant AND id = @id AND state = 'held'`

const someoneWaitsSQL = `-- does anybody wait
SELECT EXISTS (SELECT 1 FROM waitlist_entries WHERE tenant_id = @tenant AND slot_id = @slot AND state IN ('waiting', 'offered'))`

// Extend gives a hold, with its group, both deadlines anew, once, while nobody
// waits. Refusals: NotFound, NotOwner, Expired, Over, Conflict (it is confirmed), TermsChanged, NotExtendable.
func (s *Store) Extend(ctx context.Context, p OwnerPress) (Reservation, error) {
	var extended Reservation
	err := s.onGroup(ctx, "extend", p, func(ctx context.Context, t *stepTx, members []Reservation) error {
		for _, r := range members {
			slot := t.at(r.SlotID)
			if err := slot.judgeOwnHold(ctx, "extend", r); err != nil {
				return err
			}
			if r.TermsVersion != slot.slot.TermsVersion {
				return TermsChanged
			}
			if r.ExtendedAt != nil {
				return NotExtendable
			}
			slot.exempt = append(slot.exempt, r.ID)
			if err := slot.sweep(ctx); err != nil {
				return err
			}
			var waits bool
			if err := t.tx.QueryRow(ctx, someoneWaitsSQL, pgx.StrictNamedArgs{"tenant": t.tenant, "slot": r.SlotID}).Scan(&waits); err != nil {
				return err
			}
			if waits {
				return NotExtendable
			}
		}
		for _, r := range members {
			slot := t.at(r.SlotID)
			shown := slot.holdDeadline()
			if shown.Before(*r.ShownUntil) { // the close of booking has come nearer: what was shown stands
				shown = *r.ShownUntil
			}
			expires := shown.Add(slot.slot.HoldGrace)
			err := t.exec(ctx, 1, extendSQL, pgx.StrictNamedArgs{"tenant": t.tenant, "id": r.ID, "shown": shown, "expires": expires, "now": t.now})
			if err != nil {
				return err
			}
			slot.event(EventExtended, r.ID, r.PartySize, 0, map[string]any{"shown_until": shown})
			if r.ID == p.ID {
				extended = r
				extended.ShownUntil, extended.ExpiresAt, extended.ExtendedAt = &shown, &expires, &t.now
			}
		}
		return nil
	})
	return extended, s.settle("extend", err)
}

const canExtendSQL = `-- can extend
SELECT NOT EXISTS (
	SELECT 1 FROM reservations m
	WHERE m.tenant_id = r.tenant_id AND (m.id = r.id OR m.group_id = r.group_id)
		AND (m.state <> 'held' OR m.extended_at IS NOT NULL OR EXISTS (
			SELECT 1 FROM waitlist_entries e WHERE e.tenant_id = m.tenant_id AND e.slot_id = m.slot_id AND e.state IN ('waiting', 'offered'))))
FROM reservations r WHERE r.tenant_id = @tenant AND r.id = @id`

// CanExtend reports whether Extend would be tried now, to show its button or not.
func (s *Store) CanExtend(ctx context.Context, tenant, id string) (bool, error) {
	var can bool
	err := s.db.QueryRow(ctx, canExtendSQL, pgx.StrictNamedArgs{"tenant": tenant, "id": id}).Scan(&can)
	return can, classify(err)
}

const endReservationSQL = `-- end reservation
UPDATE reservations SET state = @state, ended_at = @now, cancelled_by = @by, cancel_reason = @reason, sequence = sequence + 1,
	press_addr = @addr, press_agent = @agent
WHERE tenant_id = @tenant AND id = @id AND state IN ('held', 'confirmed')`

func (t *slotTx) endReservation(ctx context.Context, r *Reservation, state ReservationState, reason string) error {
	by := ""
	if state == Cancelled {
		by = string(t.actor.Kind)
	}
	err := t.exec(ctx, 1, endReservationSQL, pgx.StrictNamedArgs{
		"tenant": t.tenant, "id": r.ID, "state": state, "now": t.now, "by": by, "reason": reason, "addr": t.actor.Addr, "agent": t.actor.Agent,
	})
	if err != nil {
		return fmt.Errorf("end %s: %w", r.ID, err)
	}
	r.State, r.EndedAt, r.CancelledBy, r.CancelReason = state, &t.now, by, reason
	r.Sequence++
	return nil
}

// Release gives the seats of a hold, with its group, back. Refusals: NotFound,
// NotOwner, Conflict (it is confirmed). Releasing what is over is answered with it.
func (s *Store) Release(ctx context.Context, p OwnerPress) (Reservation, error) {
	var released Reservation
	err := s.onGroup(ctx, "release", p, func(ctx context.Context, t *stepTx, members []Reservation) error {
		for _, r := range members {
			if r.State == Confirmed {
				return Conflict
			}
			slot := t.at(r.SlotID)
			slot.exempt = append(slot.exempt, r.ID)
		}
		for i, r := range members {
			slot := t.at(r.SlotID)
			if err := slot.sweep(ctx); err != nil {
				return err
			}
			if r.State == Held {
				if err := slot.endReservation(ctx, &members[i], Released, ""); err != nil {
					return err
				}
				slot.freeSeats(r, EventReleased, r.PartySize, nil, false)
			}
			if r.ID == p.ID {
				released = members[i]
			}
		}
		return nil
	})
	return released, s.settle("release", err)
}
