// Package strategy holds other ways to take, pass on and confirm seats than the
// product's: broken ones, which tests use to show that they can fail and the race
// lab to show what it is about, and two sound ones to compare with.
//
// Nothing of the product may call it. The statements write the product's own
// tables, but only what the failure is about: no events, no messages.
package strategy

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// DB is a connection or a pool.
type DB interface {
	Begin(ctx context.Context) (pgx.Tx, error)
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Request asks for seats in a slot.
type Request struct {
	TenantID string
	SlotID   string
	Party    int
	Key      string // idempotency key; empty: none
}

// ErrStale says that the slot changed between reading and writing: whoever
// asked has to read again. Only Optimistic knows it.
var ErrStale = errors.New("the slot has changed since it was read")

// Hold takes seats, or reports false where there are too few. Between judging
// and writing, where the strategy has such a moment, it calls pause.
type Hold func(ctx context.Context, db DB, r Request, pause func()) (bool, error)

// Holds are the strategies by the names that reports use. Sound ones never oversell.
var Holds = []struct {
	Name  string
	Sound bool
	Hold  Hold
}{
	{"naive", false, Naive},
	{"optimistic", true, Optimistic},
	{"advisory", true, Advisory},
	{"ignore-conflict", false, IgnoreConflict},
}

const readSlotSQL = `-- strategy: read slot
SELECT taken, capacity, version FROM slots WHERE tenant_id = @tenant AND id = @slot`

const setTakenSQL = `-- strategy: naive write
UPDATE slots SET taken = @taken, version = version + 1 WHERE tenant_id = @tenant AND id = @slot`

const insertSQL = `-- strategy: reservation
INSERT INTO reservations (tenant_id, slot_id, party_size, state, number, locale, owner, shown_until, expires_at, terms_version, idempotency_key, link_hash, source, created_at)
VALUES (@tenant, @slot, @party, 'held', left(md5(gen_random_uuid()::text), 12), 'en', 'strategy', now() + interval '5 minutes', now() + interval '6 minutes', 1,
	NULLIF(@key::text, ''), sha256(gen_random_uuid()::text::bytea), 'web', now())`

func (r Request) args() pgx.StrictNamedArgs {
	return pgx.StrictNamedArgs{"tenant": r.TenantID, "slot": r.SlotID}
}

func (r Request) row() pgx.StrictNamedArgs {
	return pgx.StrictNamedArgs{"tenant": r.TenantID, "slot": r.SlotID, "party": r.Party, "key": r.Key}
}

// Naive reads, decides and writes, in one transaction, as most code does. At
// READ COMMITTED the transaction protects nothing: two that read the same number
// both write the next one, and one seat is sold twice. The CHECK on taken does
// not see it, because the second write is the same as the first.
func Naive(ctx context.Context, db DB, r Request, pause func()) (held bool, err error) {
	err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		var taken, capacity int
		var version int64
		if err := tx.QueryRow(ctx, readSlotSQL, r.args()).Scan(&taken, &capacity, &version); err != nil {
			return err
		}
		pause()
		if taken+r.Party > capacity {
			return nil
		}
		args := r.args()
		args["taken"] = taken + r.Party
		if _, err := tx.Exec(ctx, setTakenSQL, args); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, insertSQL, r.row())
		held = err == nil
		return err
	})
	return held, err
}

const setTakenIfSQL = `-- strategy: optimistic write
UPDATE slots SET taken = taken + @party, version = version + 1 WHERE tenant_id = @tenant AND id = @slot AND version = @version`

// Optimistic writes only if the version is the one that it read. It never
// oversells; under a rush most are told ErrStale though seats are left.
func Optimistic(ctx context.Context, db DB, r Request, pause func()) (held bool, err error) {
	err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		var taken, capacity int
		var version int64
		if err := tx.QueryRow(ctx, readSlotSQL, r.args()).Scan(&taken, &capacity, &version); err != nil {
			return err
		}
		pause()
		if taken+r.Party > capacity {
			return nil
		}
		args := r.args()
		args["party"], args["version"] = r.Party, version
		tag, err := tx.Exec(ctx, setTakenIfSQL, args)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return ErrStale
		}
		_, err = tx.Exec(ctx, insertSQL, r.row())
		held = err == nil
		return err
	})
	return held, err
}

const advisorySQL = `-- strategy: advisory lock
SELECT pg_advisory_xact_lock(hashtextextended(@slot::text, 0))`

const countingInsertSQL = `-- strategy: counting insert
WITH r AS (
	INSERT INTO reservations (tenant_id, slot_id, party_size, state, number, locale, owner, shown_until, expires_at, terms_version, idempotency_key, link_hash, source, created_at)
	SELECT s.tenant_id, s.id, @party::int, 'held', left(md5(gen_random_uuid()::text), 12), 'en', 'strategy', now() + interval '5 minutes', now() + interval '6 minutes', 1,
		NULLIF(@key::text, ''), sha256(gen_random_uuid()::text::bytea), 'web', now()
	FROM slots s
	WHERE s.tenant_id = @tenant AND s.id = @slot AND s.capacity >= @party::int + (
		SELECT coalesce(sum(party_size), 0) FROM reservations WHERE tenant_id = @tenant AND slot_id = @slot AND state IN ('held', 'confirmed'))
	RETURNING 1
)
UPDATE slots SET taken = taken + @party::int, version = version + 1 WHERE tenant_id = @tenant AND id = @slot AND EXISTS (SELECT 1 FROM r)`

// Advisory takes an advisory lock named by the slot, in a statement of its own,
// and counts the reservations in the next. It never oversells as long as
// everybody who changes seats remembers to take the lock first.
func Advisory(ctx context.Context, db DB, r Request, pause func()) (held bool, err error) {
	pause()
	err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, advisorySQL, pgx.StrictNamedArgs{"slot": r.SlotID}); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, countingInsertSQL, r.row())
		held = err == nil && tag.RowsAffected() == 1
		return err
	})
	return held, err
}

const ignoreConflictSQL = `-- strategy: conflict ignored
WITH slot AS (
	UPDATE slots SET taken = taken + @party::int, version = version + 1
	WHERE tenant_id = @tenant AND id = @slot AND taken + @party::int <= capacity
	RETURNING tenant_id, id
)
INSERT INTO reservations (tenant_id, slot_id, party_size, state, number, locale, owner, shown_until, expires_at, terms_version, idempotency_key, link_hash, source, created_at)
SELECT tenant_id, id, @party::int, 'held', left(md5(gen_random_uuid()::text), 12), 'en', 'strategy', now() + interval '5 minutes', now() + interval '6 minutes', 1,
	NULLIF(@key::text, ''), sha256(gen_random_uuid()::text::bytea), 'web', now()
FROM slot
ON CONFLICT (tenant_id, slot_id, idempotency_key) WHERE state IN ('held', 'confirmed') DO NOTHING`

// IgnoreConflict is the product's conditional update, with the repeated key
// swallowed instead of failing: the seats of the second press stay counted, and
// nobody has them.
func IgnoreConflict(ctx context.Context, db DB, r Request, pause func()) (bool, error) {
	pause()
	tag, err := db.Exec(ctx, ignoreConflictSQL, r.row())
	return err == nil && tag.RowsAffected() == 1, err
}

const cancelAndPickSQL = `-- strategy: cancel and pick in one statement
WITH gone AS (
	UPDATE reservations SET state = 'cancelled', ended_at = now() WHERE tenant_id = @tenant AND id = @reservation AND state = 'confirmed'
	RETURNING tenant_id, slot_id, party_size
), slot AS (
	UPDATE slots s SET version = s.version + 1, taken = s.taken - gone.party_size FROM gone WHERE s.tenant_id = gone.tenant_id AND s.id = gone.slot_id
	RETURNING s.tenant_id, s.id
), head AS (
	SELECT e.tenant_id, e.id FROM slot JOIN waitlist_entries e ON e.tenant_id = slot.tenant_id AND e.slot_id = slot.id
	WHERE e.state = 'waiting' ORDER BY e.position LIMIT 1
)
UPDATE waitlist_entries e SET state = 'offered', shown_until = now() + interval '30 minutes', expires_at = now() + interval '35 minutes', offered_at = now(),
	offer_hash = sha256(gen_random_uuid()::text::bytea)
FROM head WHERE e.tenant_id = head.tenant_id AND e.id = head.id AND e.state = 'waiting'
RETURNING e.id::text`

// CancelAndPick cancels a booking and offers its seat to the head of the queue
// in the statement that locks the slot. The head is picked from the snapshot taken
// before the wait: of two at once the second picks the same entry, finds it
// offered already, and its seat is stranded. It gives the entry offered to, or "".
// The seat that an offer keeps is not counted: what it is about is who was picked.
func CancelAndPick(ctx context.Context, db DB, tenant, reservation string) (string, error) {
	var entry string
	err := db.QueryRow(ctx, cancelAndPickSQL, pgx.StrictNamedArgs{"tenant": tenant, "reservation": reservation}).Scan(&entry)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	return entry, err
}

const joinedConfirmSQL = `-- strategy: confirm with a condition on the slot
UPDATE reservations r SET state = 'confirmed', confirmed_at = statement_timestamp()
FROM slots s
WHERE s.tenant_id = r.tenant_id AND s.id = r.slot_id AND s.terms_version = @terms AND s.status <> 'cancelled'
	AND r.tenant_id = @tenant AND r.id = @reservation AND r.state = 'held'`

// JoinedConfirm confirms a hold if the slot's terms are those that the page
// showed. The slot is joined and not locked: when the statement has waited for
// the hold's own row, the slot is still judged as it was before the wait.
func JoinedConfirm(ctx context.Context, db DB, tenant, reservation string, terms int) (bool, error) {
	tag, err := db.Exec(ctx, joinedConfirmSQL, pgx.StrictNamedArgs{"tenant": tenant, "reservation": reservation, "terms": terms})
	return err == nil && tag.RowsAffected() == 1, err
}

const naiveExpireReadSQL = `-- strategy: read what is due
SELECT expires_at <= clock_timestamp() FROM reservations WHERE tenant_id = @tenant AND id = @reservation AND state = 'held'`

const naiveExpireSQL = `-- strategy: expire what was due
UPDATE reservations SET state = 'expired', ended_at = now() WHERE tenant_id = @tenant AND id = @reservation`

// NaiveExpire reads that a hold is due and then expires it by its key alone. A
// hold that was confirmed or extended in between loses its seats.
func NaiveExpire(ctx context.Context, db DB, tenant, reservation string, pause func()) (bool, error) {
	args := pgx.StrictNamedArgs{"tenant": tenant, "reservation": reservation}
	var due bool
	if err := db.QueryRow(ctx, naiveExpireReadSQL, args).Scan(&due); err != nil {
		return false, err
	}
	pause()
	if !due {
		return false, nil
	}
	tag, err := db.Exec(ctx, naiveExpireSQL, args)
	if err == nil && tag.RowsAffected() != 1 {
		err = fmt.Errorf("expired %d rows", tag.RowsAffected())
	}
	return err == nil, err
}
