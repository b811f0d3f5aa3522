package strategy

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// What a judge of the races reads and sets. It looks at the tables and at
// nothing else, so that no strategy is judged by its own word.

// Reader is a connection, a pool or a transaction.
type Reader interface {
	DB
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

const setDeadlineSQL = `-- strategy: set deadline
WITH d AS (SELECT clock_timestamp() + @after::interval AS shown), e AS (
	UPDATE waitlist_entries SET shown_until = d.shown, expires_at = d.shown + @grace::interval FROM d
	WHERE tenant_id = @tenant AND id = ANY(@entries::text[]::uuid[]) RETURNING 1
)
SELECT shown FROM d, (SELECT count(*) FROM e) n`

// SetDeadline lets open offers end at one instant, a while from now by the
// database's clock, and gives it; they are enforced a grace later.
func SetDeadline(ctx context.Context, db Reader, tenant string, entries []string, after, grace time.Duration) (shown time.Time, err error) {
	err = db.QueryRow(ctx, setDeadlineSQL, pgx.StrictNamedArgs{"tenant": tenant, "entries": entries, "after": after, "grace": grace}).Scan(&shown)
	return shown, err
}

const seatsOfSQL = `-- strategy: seats of a slot
SELECT s.taken, (SELECT coalesce(sum(r.party_size), 0)::int FROM reservations r
		WHERE r.tenant_id = s.tenant_id AND r.slot_id = s.id AND r.state IN ('held', 'confirmed')),
	(SELECT coalesce(sum(e.party_size), 0)::int FROM waitlist_entries e WHERE e.tenant_id = s.tenant_id AND e.slot_id = s.id AND e.state = 'offered')
FROM slots s WHERE s.tenant_id = @tenant AND s.id = @slot`

// SeatsOf gives what the slot counts, what live reservations have, and what open offers keep.
func SeatsOf(ctx context.Context, db Reader, tenant, slot string) (taken, given, offered int, err error) {
	err = db.QueryRow(ctx, seatsOfSQL, pgx.StrictNamedArgs{"tenant": tenant, "slot": slot}).Scan(&taken, &given, &offered)
	return taken, given, offered, err
}

const offerNowSQL = `-- strategy: offer as it is
SELECT e.state, (SELECT count(*)::int FROM reservations r WHERE r.tenant_id = e.tenant_id AND r.slot_id = e.slot_id AND r.state = 'confirmed')
FROM waitlist_entries e WHERE e.tenant_id = @tenant AND e.id = @entry`

// OfferNow gives the state of an entry, and how many are booked in its slot.
func OfferNow(ctx context.Context, db Reader, tenant, entry string) (state string, booked int, err error) {
	err = db.QueryRow(ctx, offerNowSQL, pgx.StrictNamedArgs{"tenant": tenant, "entry": entry}).Scan(&state, &booked)
	return state, booked, err
}

const offeredOfSQL = `-- strategy: offered entries
SELECT id::text FROM waitlist_entries WHERE tenant_id = @tenant AND slot_id = @slot AND state = 'offered' ORDER BY position`

// OfferedOf lists the entries of a slot that are offered seats, in the order of the queue.
func OfferedOf(ctx context.Context, db Reader, tenant, slot string) ([]string, error) {
	rows, err := db.Query(ctx, offeredOfSQL, pgx.StrictNamedArgs{"tenant": tenant, "slot": slot})
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

const lockRowSQL = `-- strategy: lock slot
SELECT 1 FROM slots WHERE tenant_id = @tenant AND id = @slot FOR NO KEY UPDATE`

// LockSlot takes the row lock of a slot, or the advisory lock that stands for it.
func LockSlot(ctx context.Context, tx pgx.Tx, tenant, slot string, advisory bool) error {
	sql, args := lockRowSQL, pgx.StrictNamedArgs{"tenant": tenant, "slot": slot}
	if advisory {
		sql, args = advisorySQL, pgx.StrictNamedArgs{"slot": slot}
	}
	_, err := tx.Exec(ctx, sql, args)
	return err
}

// What a strategy has written without events is taken away before invariants are asked about it.
const (
	forgetEventsSQL = `-- strategy: forget events
DELETE FROM events WHERE tenant_id = @tenant AND slot_id = @slot`
	forgetReservationsSQL = `-- strategy: forget reservations
DELETE FROM reservations WHERE tenant_id = @tenant AND slot_id = @slot`
	emptySlotSQL = `-- strategy: empty slot
UPDATE slots SET taken = 0, version = 0, kept = false WHERE tenant_id = @tenant AND id = @slot`
)

// Forget empties a slot.
func Forget(ctx context.Context, db DB, tenant, slot string) error {
	for _, sql := range []string{forgetEventsSQL, forgetReservationsSQL, emptySlotSQL} {
		if _, err := db.Exec(ctx, sql, pgx.StrictNamedArgs{"tenant": tenant, "slot": slot}); err != nil {
			return err
		}
	}
	return nil
}

// Wait is a backend that waits for a lock.
type Wait struct {
	PID       int     `json:"pid"`
	Event     string  `json:"event"`
	BlockedBy []int32 `json:"blockedBy"`
}

const waitsSQL = `-- strategy: who waits
SELECT a.pid::int AS pid, a.wait_event_type || ' ' || a.wait_event AS event, pg_blocking_pids(a.pid) AS blocked_by
FROM pg_stat_activity a WHERE a.application_name = @application AND a.wait_event_type = 'Lock'`

// Waits lists the sessions of an application that wait for a lock now.
func Waits(ctx context.Context, db Reader, application string) ([]Wait, error) {
	rows, err := db.Query(ctx, waitsSQL, pgx.StrictNamedArgs{"application": application})
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[Wait])
}
