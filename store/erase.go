package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// What erasing takes out of a row, the same whether the time to keep it is over
// or somebody has asked. State, size, times and consent stay: they are counts.
const (
	entryErased       = `name = '', kana = '', email = '', phone = '', note = '', answers = '{}', line_user = '', line_address = '', line_proven = false, line_at = NULL, person_key = NULL, press_addr = '', press_agent = '', erased_at = @now`
	reservationErased = `name = '', kana = '', email = '', phone = '', note = '', answers = '{}', line_user = '', line_address = '', line_proven = false, line_at = NULL, email_new = '', email_until = NULL, email_hash = NULL, person_key = NULL, press_addr = '', press_agent = '', erased_at = @now`
	messageErased     = `recipient = '', payload = '{}', sent_subject = '', sent_text = '', last_error = '', erased_at = @now, sending_until = NULL,
	state = CASE WHEN o.state IN ('pending', 'sending') THEN 'obsolete' ELSE o.state END`
)

// EraseRequest takes the personal data of a customer out of a tenant.
type EraseRequest struct {
	TenantID string
	// ID is that of any reservation or waitlist entry of the customer.
	ID string
	// Reason stands in the history of each slot concerned, for good: it must name nobody.
	Reason string
	// CancelUpcoming cancels the bookings that have not begun; without it there must be none.
	CancelUpcoming bool
	Actor          Actor
}

// Erasure tells what was erased, and what followed.
type Erasure struct {
	Reservations int
	Entries      int
	Messages     int
	Cancelled    int // bookings that had not begun, and holds
	Withdrawn    int // live entries
	Changes      []Change
}

// Offered lists who was offered the seats that came free.
func (e Erasure) Offered() []Entry {
	var all []Entry
	for _, c := range e.Changes {
		all = append(all, c.Offered...)
	}
	return all
}

// Told lists who was told that seats are open, first come, first served.
func (e Erasure) Told() []Entry {
	var all []Entry
	for _, c := range e.Changes {
		all = append(all, c.Told...)
	}
	return all
}

// A person without an address is the one booking, and the entry that it came
// from. Each branch reads an index of its own.
const slotsOfPersonSQL = `-- slots with data of a person
SELECT s.slot::text AS slot, bool_or(s.live) AS live FROM (
	SELECT r.slot_id AS slot, r.state IN ('held', 'confirmed') AND EXISTS (SELECT 1 FROM slots l WHERE l.tenant_id = r.tenant_id AND l.id = r.slot_id AND l.starts_at > coalesce(@now::timestamptz, statement_timestamp())) AS live
	FROM reservations r
	WHERE r.tenant_id = @tenant AND r.email <> '' AND lower(r.email) = @person AND r.erased_at IS NULL AND coalesce(r.confirmed_at, r.created_at) <= coalesce(@now::timestamptz, statement_timestamp())
	UNION ALL
	SELECT r.slot_id, r.state IN ('held', 'confirmed') AND EXISTS (SELECT 1 FROM slots l WHERE l.tenant_id = r.tenant_id AND l.id = r.slot_id AND l.starts_at > coalesce(@now::timestamptz, statement_timestamp()))
	FROM reservations r
	WHERE r.tenant_id = @tenant AND r.id = ANY(@ids::text[]::uuid[]) AND r.erased_at IS NULL
	UNION ALL
	SELECT e.slot_id, e.state IN ('waiting', 'offered') FROM waitlist_entries e
	WHERE e.tenant_id = @tenant AND e.email <> '' AND lower(e.email) = @person AND e.erased_at IS NULL AND e.joined_at <= coalesce(@now::timestamptz, statement_timestamp())
	UNION ALL
	SELECT e.slot_id, e.state IN ('waiting', 'offered') FROM waitlist_entries e
	WHERE e.tenant_id = @tenant AND e.id = ANY(@ids::text[]::uuid[]) AND e.erased_at IS NULL
) s GROUP BY s.slot ORDER BY bool_or(s.live) DESC, s.slot LIMIT 500`

type slotOfPerson struct {
	Slot string
	Live bool
}

// ErasePerson takes the personal data of one customer out of everything that a
// tenant has: live waits are withdrawn and their seats passed on, bookings to
// come are cancelled if that was chosen, then names, contacts, notes, answers,
// addresses of presses and the text of messages go, and no link opens anything any more.
// Counts and history stay. It goes slot by slot, each whole, so that a press at
// the same moment comes before or after; what was confirmed before this
// request and committed during it is found by another round. Pressed again it
// does what is left to do, or nothing. Nobody is written to.
// Refusals: NotFound, Conflict (a booking to come, and CancelUpcoming was not chosen), Busy.
func (s *Store) ErasePerson(ctx context.Context, req EraseRequest) (Erasure, error) {
	var done Erasure
	err := s.erasePerson(ctx, req, &done)
	return done, s.settle("erase", err)
}

func (s *Store) erasePerson(ctx context.Context, req EraseRequest, done *Erasure) error {
	p, err := s.PersonOf(ctx, req.TenantID, req.ID)
	if err != nil {
		return err
	}
	if !req.CancelUpcoming {
		// Before anything is written; the step asks once more under each lock.
		counts, err := s.PersonCounts(ctx, p)
		if err != nil {
			return err
		}
		if counts.Upcoming > 0 {
			return Conflict
		}
	}
	before, err := s.Now(ctx)
	if err != nil {
		return err
	}
	for round := 0; ; round++ {
		slots, err := list[slotOfPerson](ctx, s.db, slotsOfPersonSQL, p.args("now", before))
		if err != nil {
			return err
		}
		if len(slots) == 0 {
			break
		}
		if round == maxEraseRounds {
			return Busy
		}
		for _, slot := range slots {
			if err := s.eraseInSlot(ctx, req, p, slot.Slot, done); err != nil {
				return err
			}
		}
	}
	return s.eraseLoose(ctx, p, before, done)
}

// maxEraseRounds bounds how often what was found meanwhile is gone through; each takes up to 500 slots.
const maxEraseRounds = 20

// PreviewErase tells what ErasePerson would do now to the bookings and waits
// that live, in the first limit slots: the step itself, undone, in one
// transaction over these slots. More: there are others.
func (s *Store) PreviewErase(ctx context.Context, p PersonRef, actor Actor, limit int) (preview Erasure, more bool, err error) {
	slots, err := list[slotOfPerson](ctx, s.db, slotsOfPersonSQL, p.args("now", s.at))
	if err != nil {
		return Erasure{}, false, classify(err)
	}
	var live []string
	for _, slot := range slots {
		if slot.Live {
			live = append(live, slot.Slot)
		}
	}
	if len(live) == 0 {
		return Erasure{}, false, nil
	}
	req := EraseRequest{TenantID: p.TenantID, CancelUpcoming: true, Actor: actor}
	changes, err := s.onSlots(ctx, "erase", p.TenantID, live[:min(limit, len(live))], actor, stepOptions{preview: true}, func(ctx context.Context, t *stepTx) error {
		preview = Erasure{}
		return t.erasePerson(ctx, req, p, &preview)
	})
	if err != nil {
		return Erasure{}, false, classify(err)
	}
	preview.Changes = changes
	return preview, len(live) > limit, nil
}

// By e-mail or by id, chosen after the slot was locked: an accept that came
// first has made a row that no earlier read knew. An entry that became one of
// these bookings is the same person; a booking that was handed to another
// address is not, unless it has none.
const lockPersonReservationsSQL = `-- lock reservations of a person in slots
SELECT ` + reservationColumns + `, @now::timestamptz AS now FROM reservations r
WHERE r.tenant_id = @tenant AND r.slot_id = ANY(@slots::text[]::uuid[]) AND r.erased_at IS NULL
	AND ((r.email <> '' AND lower(r.email) = @person) OR r.id = ANY(@ids::text[]::uuid[])
		OR (r.email = '' AND EXISTS (SELECT 1 FROM waitlist_entries e WHERE e.tenant_id = r.tenant_id AND e.id = r.entry_id
			AND ((e.email <> '' AND lower(e.email) = @person) OR e.id = ANY(@ids::text[]::uuid[])))))
ORDER BY r.id FOR NO KEY UPDATE OF r`

const lockPersonEntriesSQL = `-- lock entries of a person in slots
SELECT ` + entryColumns + `, 0 AS place, 0 AS of, @now::timestamptz AS now FROM waitlist_entries e
WHERE e.tenant_id = @tenant AND e.slot_id = ANY(@slots::text[]::uuid[]) AND e.erased_at IS NULL
	AND ((e.email <> '' AND lower(e.email) = @person) OR e.id = ANY(@ids::text[]::uuid[]) OR e.reservation_id = ANY(@reservations::text[]::uuid[]))
ORDER BY e.id FOR NO KEY UPDATE OF e`

// The hash of the hash is that of no token, so the old link opens nothing.
const erasePersonReservationsSQL = `-- erase reservations of a person
UPDATE reservations SET ` + reservationErased + `, owner = 'erased', idempotency_key = NULL, fingerprint = NULL, cancel_reason = '',
	link_generation = link_generation + 1, link_hash = sha256(link_hash)
WHERE tenant_id = @tenant AND id = ANY(@rows::text[]::uuid[])`

// The reason of a closed entry is a code of ours; any other was typed.
const erasePersonEntriesSQL = `-- erase entries of a person
UPDATE waitlist_entries SET ` + entryErased + `, reason = CASE WHEN state = 'closed' THEN reason ELSE '' END, offer_hash = NULL,
	link_generation = link_generation + 1, offer_generation = offer_generation + 1, link_hash = sha256(link_hash)
WHERE tenant_id = @tenant AND id = ANY(@rows::text[]::uuid[])`

const erasePersonMessagesSQL = `-- erase messages of a person
UPDATE outbox o SET ` + messageErased + `
WHERE o.tenant_id = @tenant AND o.subject_id = ANY(@rows::text[]::uuid[]) AND o.erased_at IS NULL`

func (s *Store) eraseInSlot(ctx context.Context, req EraseRequest, p PersonRef, slot string, done *Erasure) error {
	var here Erasure
	change, err := s.onSlot(ctx, "erase", req.TenantID, slot, req.Actor, func(ctx context.Context, t *slotTx) error {
		here = Erasure{}
		return t.stepTx.erasePerson(ctx, req, p, &here)
	})
	if err != nil {
		return err
	}
	done.Reservations += here.Reservations
	done.Entries += here.Entries
	done.Messages += here.Messages
	done.Cancelled += here.Cancelled
	done.Withdrawn += here.Withdrawn
	done.Changes = append(done.Changes, change)
	return nil
}

const dueInSlotsSQL = `-- is anything due in slots
SELECT EXISTS (SELECT 1 FROM reservations r WHERE r.tenant_id = @tenant AND r.slot_id = ANY(@slots::text[]::uuid[])
		AND (r.entry_to_close OR (r.state = 'held' AND r.expires_at <= @now AND r.id <> ALL(@exempt::text[]::uuid[]))))
	OR EXISTS (SELECT 1 FROM waitlist_entries e WHERE e.tenant_id = @tenant AND e.slot_id = ANY(@slots::text[]::uuid[])
		AND e.state = 'offered' AND e.expires_at <= @now AND e.id <> ALL(@exempt::text[]::uuid[]))`

// erasePerson erases a person in the locked slots.
func (t *stepTx) erasePerson(ctx context.Context, req EraseRequest, p PersonRef, here *Erasure) error {
	args := p.args("now", t.now)
	var slots []string
	for _, slot := range t.slots {
		slots = append(slots, slot.slot.ID)
	}
	args["slots"] = slots
	reservations, err := list[Reservation](ctx, t.tx, lockPersonReservationsSQL, args)
	if err != nil {
		return err
	}
	rows := []string{}
	for _, r := range reservations {
		rows = append(rows, r.ID)
	}
	args["reservations"] = append([]string{}, rows...)
	entries, err := list[Entry](ctx, t.tx, lockPersonEntriesSQL, args)
	if err != nil {
		return err
	}
	for _, e := range entries {
		rows = append(rows, e.ID)
	}
	// A preview asks for all slots at once what the sweep of each would look for.
	due := true
	if t.preview {
		if err := t.tx.QueryRow(ctx, dueInSlotsSQL, pgx.StrictNamedArgs{"tenant": t.tenant, "slots": slots, "now": t.now, "exempt": rows}).Scan(&due); err != nil {
			return err
		}
	}
	for _, slot := range t.slots {
		var own []Reservation
		for _, r := range reservations {
			if r.SlotID == slot.slot.ID {
				own = append(own, r)
			}
		}
		var waits []Entry
		for _, e := range entries {
			if e.SlotID == slot.slot.ID {
				waits = append(waits, e)
			}
		}
		if err := slot.erasePerson(ctx, req, own, waits, due, here); err != nil {
			return err
		}
	}
	return nil
}

// erasePerson erases a person's rows in one slot.
func (t *slotTx) erasePerson(ctx context.Context, req EraseRequest, reservations []Reservation, entries []Entry, due bool, here *Erasure) error {
	var rows []string
	for _, r := range reservations {
		rows = append(rows, r.ID)
	}
	for _, e := range entries {
		rows = append(rows, e.ID)
	}
	if len(rows) == 0 {
		return nil // moved, or erased by another press
	}
	upcoming := t.slot.StartsAt.After(t.now)
	for _, r := range reservations {
		if r.State == Confirmed && upcoming && !req.CancelUpcoming {
			return Conflict
		}
	}
	// Nothing of this person's is swept: a message would be written after the others were erased.
	t.exempt = append(t.exempt, rows...)
	if due {
		if err := t.sweepOnly(ctx); err != nil {
			return err
		}
	}
	untold := map[string]any{"notice": "none"}
	for i := range reservations {
		r := reservations[i]
		switch {
		case r.State == Held:
			if err := t.endReservation(ctx, &r, Released, ""); err != nil {
				return err
			}
			t.freeSeats(r, EventReleased, r.PartySize, nil, false)
			here.Cancelled++
		case r.State == Confirmed && upcoming:
			if err := t.endReservation(ctx, &r, Cancelled, ""); err != nil {
				return err
			}
			t.freeSeats(r, EventCancelled, r.PartySize, map[string]any{"notice": untold["notice"]}, false)
			t.change.Ended = append(t.change.Ended, r)
			here.Cancelled++
		}
	}
	for i := range entries {
		e := entries[i]
		if !e.Live() || t.closedMeanwhile(e.ID) {
			continue
		}
		kind := EventWithdrawn
		if e.State == Offered {
			kind = EventRevoked
		}
		if _, err := t.endEntry(ctx, &e, Withdrawn, kind, ""); err != nil {
			return err
		}
		t.events[len(t.events)-1].details["notice"] = untold["notice"]
		here.Withdrawn++
	}
	here.Reservations, here.Entries = here.Reservations+len(reservations), here.Entries+len(entries)
	if t.preview {
		return nil // what is erased is written only
	}
	erased := pgx.StrictNamedArgs{"tenant": t.tenant, "rows": rows, "now": t.now}
	if err := t.exec(ctx, int64(len(reservations)), erasePersonReservationsSQL, erased); err != nil {
		return err
	}
	if err := t.exec(ctx, int64(len(entries)), erasePersonEntriesSQL, erased); err != nil {
		return err
	}
	messages, err := t.tx.Exec(ctx, erasePersonMessagesSQL, erased)
	if err != nil {
		return err
	}
	for _, r := range reservations {
		t.event(EventErased, r.ID, r.PartySize, 0, noticeDetails(req.Reason, false))
	}
	for _, e := range entries {
		t.event(EventErased, e.ID, e.PartySize, 0, noticeDetails(req.Reason, false))
	}
	here.Messages += int(messages.RowsAffected())
	return nil
}

const eraseAddressSQL = `-- erase messages to an address
UPDATE outbox o SET ` + messageErased + `
WHERE o.tenant_id = @tenant AND o.recipient <> '' AND lower(o.recipient) = @person AND o.erased_at IS NULL AND o.created_at <= @before`

const eraseNamedAddressSQL = `-- take back an address that was named for somebody else's booking
UPDATE reservations SET email_new = '', email_until = NULL, email_hash = NULL
WHERE tenant_id = @tenant AND email_new <> '' AND lower(email_new) = @person`

// eraseLoose takes out what is about no booking of the person's: mails with
// links, and an address that was named for a booking and never confirmed.
func (s *Store) eraseLoose(ctx context.Context, p PersonRef, before time.Time, done *Erasure) error {
	if p.Key == "" {
		return nil
	}
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	tag, err := s.db.Exec(ctx, eraseAddressSQL, pgx.StrictNamedArgs{"tenant": p.TenantID, "person": p.Key, "now": now, "before": before})
	if err != nil {
		return err
	}
	done.Messages += int(tag.RowsAffected())
	_, err = s.db.Exec(ctx, eraseNamedAddressSQL, pgx.StrictNamedArgs{"tenant": p.TenantID, "person": p.Key})
	return err
}
