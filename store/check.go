package store

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// CheckReport tells which invariants (see the package comment) held at one instant.
type CheckReport struct {
	At         time.Time   `json:"at"`
	OK         bool        `json:"ok"`
	Invariants []Invariant `json:"invariants"`
}

// Invariant is what was found about one of them. Examples are ids of slots or rows, at most ten.
type Invariant struct {
	ID         string   `json:"id"`
	Violations int      `json:"violations"`
	Examples   []string `json:"examples"`
}

const maxExamples = 10

// The invariants that one statement each computes; a row is a violation: what is
// wrong, and with which slot. All of them read everything, or one tenant's, or,
// with @slots, what belongs to these slots of it: the text is one, so that a
// pass over what has changed can't judge otherwise than one over everything.
var checkSQL = []struct{ id, sql string }{
	{"I1", checkI1SQL}, {"I2", checkI2SQL}, {"I3", checkI3SQL}, {"I5", checkI5SQL}, {"I6", checkI6SQL}, {"I7", checkI7SQL}, {"I8", checkI8SQL}, {"I9", checkI9SQL},
}

const checkI1SQL = `-- check I1: taken between 0 and capacity
SELECT 'slot ' || id, id::text FROM slots
WHERE (@tenant::text = '' OR tenant_id = NULLIF(@tenant, '')::uuid) AND (@slots::text[] IS NULL OR id = ANY(@slots::text[]::uuid[])) AND NOT taken BETWEEN 0 AND capacity`

const checkI2SQL = `-- check I2: taken is held + confirmed + offered
SELECT 'slot ' || s.id || ' taken ' || s.taken || ' counted ' || c.seats, s.id::text FROM slots s
CROSS JOIN LATERAL (SELECT
	(SELECT coalesce(sum(party_size), 0) FROM reservations r WHERE r.tenant_id = s.tenant_id AND r.slot_id = s.id AND r.state IN ('held', 'confirmed'))
	+ (SELECT coalesce(sum(party_size), 0) FROM waitlist_entries e WHERE e.tenant_id = s.tenant_id AND e.slot_id = s.id AND e.state = 'offered') AS seats) c
WHERE (@tenant::text = '' OR s.tenant_id = NULLIF(@tenant, '')::uuid) AND (@slots::text[] IS NULL OR s.id = ANY(@slots::text[]::uuid[])) AND s.taken <> c.seats`

const checkI3SQL = `-- check I3: no idle seat
SELECT 'slot ' || s.id, s.id::text FROM slots s
WHERE (@tenant::text = '' OR s.tenant_id = NULLIF(@tenant, '')::uuid) AND (@slots::text[] IS NULL OR s.id = ANY(@slots::text[]::uuid[]))
	AND s.status = 'open' AND NOT s.waitlist_paused
	AND s.starts_at - s.booking_opens <= @now AND s.starts_at - s.booking_closes > @now AND s.order_until > @now
	AND EXISTS (
		SELECT 1 FROM waitlist_entries e WHERE e.tenant_id = s.tenant_id AND e.slot_id = s.id AND e.state = 'waiting'
			AND e.party_size <= s.capacity - s.taken
			AND (s.fit = 'first_fit' OR e.position = (
				SELECT min(h.position) FROM waitlist_entries h WHERE h.tenant_id = s.tenant_id AND h.slot_id = s.id AND h.state = 'waiting' AND h.party_size <= s.capacity)))`

const checkI5SQL = `-- check I5: an entry gets at most one offer, an offer at most one reservation
SELECT 'entry ' || subject_id, min(slot_id::text) FROM events
WHERE (@tenant::text = '' OR tenant_id = NULLIF(@tenant, '')::uuid) AND (@slots::text[] IS NULL OR slot_id = ANY(@slots::text[]::uuid[]))
	AND kind IN ('offered', 'staff_offered')
GROUP BY tenant_id, subject_id HAVING count(*) > 1
UNION ALL
SELECT 'entry ' || e.id, min(e.slot_id::text) FROM waitlist_entries e
JOIN reservations r ON r.tenant_id = e.tenant_id AND r.entry_id = e.id
WHERE (@tenant::text = '' OR e.tenant_id = NULLIF(@tenant, '')::uuid) AND (@slots::text[] IS NULL OR e.slot_id = ANY(@slots::text[]::uuid[]))
GROUP BY e.tenant_id, e.id HAVING count(*) > 1`

const checkI6SQL = `-- check I6: one slot and key, at most one live reservation
SELECT 'slot ' || slot_id, slot_id::text FROM reservations
WHERE (@tenant::text = '' OR tenant_id = NULLIF(@tenant, '')::uuid) AND (@slots::text[] IS NULL OR slot_id = ANY(@slots::text[]::uuid[]))
	AND state IN ('held', 'confirmed') AND idempotency_key IS NOT NULL
GROUP BY tenant_id, slot_id, idempotency_key HAVING count(*) > 1`

const checkI7SQL = `-- check I7: nobody who pressed by the shown deadline was refused for lateness
SELECT 'event ' || id, slot_id::text FROM events
WHERE (@tenant::text = '' OR tenant_id = NULLIF(@tenant, '')::uuid) AND (@slots::text[] IS NULL OR slot_id = ANY(@slots::text[]::uuid[]))
	AND kind = 'refused_late' AND number IS NULL
	AND (details->>'press')::timestamptz <= (details->>'shown_until')::timestamptz`

// What each event owes: a message to its subject's address, unless the caller
// chose not to tell (recorded), or the contact is erased. Then the reverse. The
// limit makes each subject be found by its key, however many slots are checked.
const checkI8SQL = `-- check I8: each change that has a notification has exactly one message per recipient
WITH owed AS (
	SELECT e.tenant_id, e.id AS event_id, e.number, e.slot_id, m.kind,
		CASE WHEN e.kind IN ('accepted', 'claimed') THEN (e.details->>'reservation')::uuid ELSE e.subject_id END AS subject_id
	FROM events e
	CROSS JOIN LATERAL (SELECT CASE
		WHEN e.kind IN ('confirmed', 'accepted', 'claimed') THEN 'confirmed'
		WHEN e.kind = 'cancelled' AND e.details ? 'slot_cancelled' THEN 'slot_cancelled'
		WHEN e.kind = 'entry_closed' AND e.details->>'reason' = 'slot_cancelled' THEN 'slot_cancelled'
		WHEN e.kind = 'cancelled' THEN 'cancelled'
		WHEN e.kind = 'joined' THEN 'joined'
		WHEN e.kind IN ('offered', 'staff_offered') THEN 'offer'
		WHEN e.kind = 'lapsed' THEN 'lapsed'
		WHEN e.kind = 'revoked' OR (e.kind = 'withdrawn' AND e.details ? 'removed') THEN 'revoked'
		WHEN e.kind = 'vacancy_told' THEN 'vacancy'
		WHEN e.kind = 'moved_in' THEN 'moved'
		WHEN e.kind = 'email_asked' THEN 'confirm_email'
		WHEN e.kind = 'email_changed' THEN 'email_changed'
	END AS kind) m
	WHERE m.kind IS NOT NULL AND NOT e.details ? 'notice' AND (@tenant::text = '' OR e.tenant_id = NULLIF(@tenant, '')::uuid)
		AND (@slots::text[] IS NULL OR e.slot_id = ANY(@slots::text[]::uuid[]))
), reachable AS (
	SELECT o.* FROM owed o CROSS JOIN LATERAL (
		SELECT 1 FROM reservations r WHERE r.tenant_id = o.tenant_id AND r.id = o.subject_id AND r.email <> '' AND r.erased_at IS NULL
		UNION ALL
		SELECT 1 FROM waitlist_entries w WHERE w.tenant_id = o.tenant_id AND w.id = o.subject_id AND w.email <> '' AND w.erased_at IS NULL
		LIMIT 1
	) somebody
)
SELECT 'event ' || event_id || ' owes ' || kind, slot_id::text FROM reachable o
WHERE (SELECT count(*) FROM outbox x WHERE x.tenant_id = o.tenant_id AND x.slot_id = o.slot_id AND x.subject_id = o.subject_id AND x.kind = o.kind
	AND (x.event_number IS NULL OR o.number IS NULL OR x.event_number = o.number)) <> 1
UNION ALL
SELECT 'message ' || x.id || ' without a cause', x.slot_id::text FROM outbox x
WHERE (@tenant::text = '' OR x.tenant_id = NULLIF(@tenant, '')::uuid) AND (@slots::text[] IS NULL OR x.slot_id = ANY(@slots::text[]::uuid[]))
	AND x.kind NOT IN ('reminder', 'my_reservations', 'staff_invite', 'staff_reset', 'staff_password_changed', 'staff_notice', 'staff_digest') AND x.erased_at IS NULL
	AND NOT EXISTS (SELECT 1 FROM owed o WHERE o.tenant_id = x.tenant_id AND o.slot_id = x.slot_id AND o.subject_id = x.subject_id AND o.kind = x.kind
		AND (x.event_number IS NULL OR o.number IS NULL OR x.event_number = o.number))
	AND NOT EXISTS (SELECT 1 FROM events e WHERE e.tenant_id = x.tenant_id AND e.slot_id = x.slot_id AND e.number = x.event_number AND e.kind IN ('terms_changed', 'notice_sent'))
UNION ALL
SELECT 'event ' || e.id || ' told ' || (e.details->>'told'), e.slot_id::text FROM events e
WHERE (@tenant::text = '' OR e.tenant_id = NULLIF(@tenant, '')::uuid) AND (@slots::text[] IS NULL OR e.slot_id = ANY(@slots::text[]::uuid[]))
	AND e.kind IN ('terms_changed', 'notice_sent')
	AND (e.details->>'told')::int <> (SELECT count(*) FROM outbox x WHERE x.tenant_id = e.tenant_id AND x.slot_id = e.slot_id AND x.event_number = e.number)`

// Foreign keys carry the tenant, so this can only fail where one was dropped.
// What a slot's events began is looked for from the slot: a row that went to
// another tenant is missing here.
const checkI9SQL = `-- check I9: no row refers across tenants
SELECT 'reservation ' || r.id, r.slot_id::text FROM reservations r
WHERE (@tenant::text = '' OR r.tenant_id = NULLIF(@tenant, '')::uuid) AND (@slots::text[] IS NULL OR r.slot_id = ANY(@slots::text[]::uuid[]))
	AND NOT EXISTS (SELECT 1 FROM slots s WHERE s.tenant_id = r.tenant_id AND s.id = r.slot_id)
UNION ALL
SELECT 'entry ' || e.id, e.slot_id::text FROM waitlist_entries e
WHERE (@tenant::text = '' OR e.tenant_id = NULLIF(@tenant, '')::uuid) AND (@slots::text[] IS NULL OR e.slot_id = ANY(@slots::text[]::uuid[]))
	AND (NOT EXISTS (SELECT 1 FROM slots s WHERE s.tenant_id = e.tenant_id AND s.id = e.slot_id)
		OR (e.reservation_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM reservations r WHERE r.tenant_id = e.tenant_id AND r.id = e.reservation_id)))
UNION ALL
SELECT 'slot ' || s.id, s.id::text FROM slots s
WHERE (@tenant::text = '' OR s.tenant_id = NULLIF(@tenant, '')::uuid) AND (@slots::text[] IS NULL OR s.id = ANY(@slots::text[]::uuid[]))
	AND (NOT EXISTS (SELECT 1 FROM services v WHERE v.tenant_id = s.tenant_id AND v.id = s.service_id)
		OR NOT EXISTS (SELECT 1 FROM resources v WHERE v.tenant_id = s.tenant_id AND v.id = s.resource_id))
UNION ALL
SELECT 'event ' || e.id, e.slot_id::text FROM events e
WHERE (@tenant::text = '' OR e.tenant_id = NULLIF(@tenant, '')::uuid) AND (@slots::text[] IS NULL OR e.slot_id = ANY(@slots::text[]::uuid[]))
	AND (NOT EXISTS (SELECT 1 FROM slots s WHERE s.tenant_id = e.tenant_id AND s.id = e.slot_id)
		OR (e.kind IN ('held', 'joined')
			AND NOT EXISTS (SELECT 1 FROM reservations r WHERE r.tenant_id = e.tenant_id AND r.id = e.subject_id)
			AND NOT EXISTS (SELECT 1 FROM waitlist_entries w WHERE w.tenant_id = e.tenant_id AND w.id = e.subject_id)))
UNION ALL
SELECT 'message ' || o.id, o.slot_id::text FROM outbox o
WHERE (@tenant::text = '' OR o.tenant_id = NULLIF(@tenant, '')::uuid) AND (@slots::text[] IS NULL OR o.slot_id = ANY(@slots::text[]::uuid[]))
	AND o.subject_id IS NOT NULL
	AND NOT EXISTS (SELECT 1 FROM reservations r WHERE r.tenant_id = o.tenant_id AND r.id = o.subject_id)
	AND NOT EXISTS (SELECT 1 FROM waitlist_entries e WHERE e.tenant_id = o.tenant_id AND e.id = o.subject_id)`

const numberedEventsSQL = `-- numbered events of slots
SELECT tenant_id::text AS tenant, ` + sealColumns + `
FROM events WHERE number IS NOT NULL AND (@tenant::text = '' OR tenant_id = NULLIF(@tenant, '')::uuid)
	AND (@slots::text[] IS NULL OR slot_id = ANY(@slots::text[]::uuid[]))
ORDER BY tenant_id, slot_id, number`

const slotStatesSQL = `-- versions and seats of slots
SELECT tenant_id::text, id::text, version, taken, capacity FROM slots
WHERE (@tenant::text = '' OR tenant_id = NULLIF(@tenant, '')::uuid) AND (@slots::text[] IS NULL OR id = ANY(@slots::text[]::uuid[]))`

// Check computes the invariants in one snapshot, over all tenants, or over the
// one whose slug is given (NotFound if there is none). It may be run at any
// time, also under load; it locks nothing.
func (s *Store) Check(ctx context.Context, slug string) (CheckReport, error) {
	report := CheckReport{OK: true}
	err := pgx.BeginTxFunc(ctx, s.db, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		// It reads all there is: the timeout for steps does not fit.
		if _, err := tx.Exec(ctx, "SET LOCAL statement_timeout = 0"); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, nowSQL, pgx.StrictNamedArgs{"at": s.at}).Scan(&report.At); err != nil {
			return err
		}
		report.At = report.At.UTC()
		tenant := ""
		if slug != "" {
			t, err := one[Tenant](ctx, tx, tenantBySlugSQL, pgx.StrictNamedArgs{"slug": slug})
			if err != nil {
				return err
			}
			tenant = t.ID
		}
		found, err := checkIn(ctx, tx, tenant, nil, report.At)
		if err != nil {
			return err
		}
		for _, id := range InvariantIDs {
			examples := []string{}
			for _, v := range found[id][:min(len(found[id]), maxExamples)] {
				examples = append(examples, v.Example)
			}
			report.OK = report.OK && len(examples) == 0
			report.Invariants = append(report.Invariants, Invariant{id, len(found[id]), examples})
		}
		return nil
	})
	if err != nil {
		return CheckReport{}, classify(err)
	}
	return report, nil
}

// InvariantIDs lists the invariants, in order.
var InvariantIDs = []string{"I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "I9", "I10"}

// violation is one row that breaks an invariant. Slot is the slot that it is
// about, which need not exist any more; nil where it belongs to none.
type violation struct {
	Example string
	Slot    *string
}

type violations map[string][]violation

func (v violations) add(id, slot, format string, args ...any) {
	v[id] = append(v[id], violation{fmt.Sprintf("slot %s "+format, append([]any{slot}, args...)...), &slot})
}

// checkIn computes all invariants in the snapshot of the transaction: over
// everything, over one tenant, or, where slots is not nil, over these slots of it.
func checkIn(ctx context.Context, tx pgx.Tx, tenant string, slots []string, now time.Time) (violations, error) {
	found := violations{}
	for _, check := range checkSQL {
		args := pgx.StrictNamedArgs{"tenant": tenant, "slots": slots}
		if check.id == "I3" {
			args["now"] = now
		}
		rows, err := tx.Query(ctx, check.sql, args)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", check.id, err)
		}
		if found[check.id], err = pgx.CollectRows(rows, pgx.RowToStructByPos[violation]); err != nil {
			return nil, fmt.Errorf("%s: %w", check.id, err)
		}
	}
	return found, checkHistories(ctx, tx, tenant, slots, found)
}

type tenantEvent struct {
	Tenant string
	sealedEvent
}

type slotState struct {
	version         int64
	taken, capacity int
}

// checkHistories replays the numbered events of each slot: I4 and I10.
func checkHistories(ctx context.Context, tx pgx.Tx, tenant string, only []string, found violations) error {
	slots := map[[2]string]slotState{}
	rows, err := tx.Query(ctx, slotStatesSQL, pgx.StrictNamedArgs{"tenant": tenant, "slots": only})
	if err != nil {
		return err
	}
	var tenantID, slotID string
	var state slotState
	if _, err := pgx.ForEachRow(rows, []any{&tenantID, &slotID, &state.version, &state.taken, &state.capacity}, func() error {
		slots[[2]string{tenantID, slotID}] = state
		return nil
	}); err != nil {
		return err
	}

	rows, err = tx.Query(ctx, numberedEventsSQL, pgx.StrictNamedArgs{"tenant": tenant, "slots": only})
	if err != nil {
		return err
	}
	var replay *replayed
	var key [2]string
	end := func() {
		if replay != nil {
			replay.end(slots[key], found)
			delete(slots, key)
		}
	}
	e := tenantEvent{}
	fields := []any{
		&e.Tenant, &e.ID, &e.Slot, &e.Number, &e.Kind, &e.Actor, &e.PartySize, &e.Seats, &e.Capacity, &e.Mode, &e.Subject, &e.At, &e.Details, &e.Seal,
	}
	if _, err := pgx.ForEachRow(rows, fields, func() error {
		if at := [2]string{e.Tenant, e.Slot}; replay == nil || at != key {
			end()
			key, replay = at, &replayed{slot: e.Slot, waiting: map[string]queued{}}
		}
		return replay.next(e.sealedEvent, found)
	}); err != nil {
		return err
	}
	end()
	for at, state := range slots { // slots without an event
		if state.version != 0 || state.taken != 0 {
			found.add("I10", at[1], "has version %d, taken %d and no events", state.version, state.taken)
		}
	}
	return nil
}

type queued struct {
	party    int
	position int64
}

// replayed is a slot as its history tells it.
type replayed struct {
	slot    string
	number  int64
	taken   int
	waiting map[string]queued
	seal    []byte
	sealing bool // an unsealed event was met: all after it have to be unsealed
}

func (r *replayed) next(e sealedEvent, found violations) error {
	bad := func(id, format string, args ...any) {
		found.add(id, r.slot, "event %d: %s", e.Number, fmt.Sprintf(format, args...))
	}
	if e.Number != r.number+1 {
		bad("I10", "follows number %d", r.number)
	}
	r.number = e.Number
	want, err := e.seal(r.seal)
	if err != nil {
		return err
	}
	switch {
	case len(e.Seal) == 0:
		r.sealing = true
	case r.sealing:
		bad("I10", "is sealed, an earlier one is not")
	case !bytes.Equal(e.Seal, want):
		bad("I10", "its seal does not verify")
	}
	r.seal = want

	subject := ""
	if e.Subject != nil {
		subject = *e.Subject
	}
	switch EventKind(e.Kind) {
	case EventJoined:
		r.waiting[subject] = queued{e.PartySize, e.Number}
	case EventEntryChanged:
		if q, waits := r.waiting[subject]; waits {
			r.waiting[subject] = queued{e.PartySize, q.position}
		}
	case EventOffered:
		r.judgeOrder(e, subject, bad)
		delete(r.waiting, subject)
	case EventStaffOffered, EventWithdrawn, EventEntryClosed, EventClaimed, EventDeclined, EventRevoked, EventAccepted, EventLapsed:
		delete(r.waiting, subject)
	}
	r.taken += e.Seats
	return nil
}

// judgeOrder is I4: was anybody passed over who should not have been? Offers
// take seats out of those that were free, so with first fit whoever came
// earlier and would have fitted was passed; with strict whoever came earlier and the capacity can hold.
func (r *replayed) judgeOrder(e sealedEvent, subject string, bad func(id, format string, args ...any)) {
	offered, known := r.waiting[subject]
	if !known {
		bad("I4", "offers to entry %s, which was not waiting", subject)
		return
	}
	if e.Capacity == nil {
		return
	}
	room := *e.Capacity - r.taken
	if Fit(e.Mode) == Strict {
		room = *e.Capacity
	}
	for id, earlier := range r.waiting {
		if earlier.position < offered.position && earlier.party <= room {
			bad("I4", "entry %s was passed over", id)
			return
		}
	}
}

func (r *replayed) end(slot slotState, found violations) {
	if r.number != slot.version {
		found.add("I10", r.slot, "has version %d, its history ends at %d", slot.version, r.number)
	}
	if r.taken != slot.taken {
		found.add("I10", r.slot, "has taken %d, its history gives %d", slot.taken, r.taken)
	}
}
