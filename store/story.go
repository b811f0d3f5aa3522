package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Moment is an event of a slot as far as it may be told to somebody who waits:
// no actor, no name, and of another's entry nothing but whether it stands before or behind.
type Moment struct {
	TenantID string
	SlotID   string
	Number   int64
	Kind     EventKind
	Party    int
	Seats    int // by how much taken changed
	At       time.Time
	Position int64 // of the entry that it is about; 0: about none
	Offered  int   // entries of the slot that have been offered seats so far
}

// momentsKept is how many events of a slot are told at most.
const momentsKept = 200

const momentsSQL = `-- moments of waitlists
SELECT w.tenant_id::text, w.slot_id::text, v.number, v.kind, v.party, v.seats, v.at, v.position, o.offered
FROM unnest(@tenants::text[]::uuid[], @slots::text[]::uuid[]) AS w (tenant_id, slot_id)
CROSS JOIN LATERAL (
	SELECT count(*)::int AS offered FROM waitlist_entries e WHERE e.tenant_id = w.tenant_id AND e.slot_id = w.slot_id AND e.offered_at IS NOT NULL
) o
CROSS JOIN LATERAL (
	SELECT x.id, x.number, x.kind, x.party_size AS party, x.seats, x.at, coalesce(e.position, 0) AS position
	FROM events x LEFT JOIN waitlist_entries e ON e.tenant_id = x.tenant_id AND e.id = x.subject_id
	WHERE x.tenant_id = w.tenant_id AND x.slot_id = w.slot_id AND x.number IS NOT NULL
		AND x.kind IN ('joined', 'offered', 'staff_offered', 'withdrawn', 'claimed', 'entry_closed', 'entry_changed', 'lapsed', 'declined', 'revoked', 'vacancy_told', 'paused', 'resumed')
		AND NOT x.details ? 'tell_vacancies'
	ORDER BY x.number DESC LIMIT @limit
) v
ORDER BY w.tenant_id, w.slot_id, v.number DESC`

// Moments reads what happened to the queues of the named slots, newest first, in one statement.
func (s *Store) Moments(ctx context.Context, refs []SlotRef) ([]Moment, error) {
	if len(refs) == 0 {
		return nil, nil
	}
	tenants, slots := refArrays(refs)
	return list[Moment](ctx, s.db, momentsSQL, pgx.StrictNamedArgs{"tenants": tenants, "slots": slots, "limit": momentsKept})
}

const filledAtSQL = `-- when the last seat went
SELECT x.at FROM events x WHERE x.tenant_id = @tenant AND x.slot_id = @slot AND x.number IS NOT NULL AND x.seats > 0
ORDER BY x.number DESC LIMIT 1`

// FilledAt tells when seats of a slot were last taken: of a full one, since
// when it has been full. NotFound if none ever were.
func (s *Store) FilledAt(ctx context.Context, tenant, slot string) (time.Time, error) {
	var at time.Time
	err := s.db.QueryRow(ctx, filledAtSQL, pgx.StrictNamedArgs{"tenant": tenant, "slot": slot}).Scan(&at)
	return at, classify(err)
}

// OverlapQuery asks for the waits of one person that clash with a slot in time.
type OverlapQuery struct {
	TenantID string
	Email    string
	SlotID   string
	// Known are the ids of the entries that may be told of: whoever only types an
	// address must not learn where else its owner waits.
	Known []string
	// All tells of every entry: the reader has shown that the address is theirs.
	All bool
}

const overlappingWaitsSQL = `-- waits that clash with a slot
SELECT ` + entryColumns + `, 0 AS place, 0 AS of, coalesce(@at::timestamptz, statement_timestamp()) AS now
FROM waitlist_entries e
JOIN slots s ON s.tenant_id = e.tenant_id AND s.id = e.slot_id
JOIN slots o ON o.tenant_id = e.tenant_id AND o.id = @slot
WHERE e.tenant_id = @tenant AND (@all::boolean OR e.id = ANY(@known::text[]::uuid[])) AND e.state IN ('waiting', 'offered') AND e.email <> '' AND lower(e.email) = lower(@email)
	AND e.slot_id <> o.id AND s.status <> 'cancelled' AND s.starts_at < o.ends_at AND s.ends_at > o.starts_at
	AND s.starts_at > coalesce(@at::timestamptz, statement_timestamp())
ORDER BY s.starts_at, e.id LIMIT 50`

// OverlappingWaits lists the live entries of the same person for other slots at
// the same time: of those named, or all where the reader has proved to have the address.
func (s *Store) OverlappingWaits(ctx context.Context, q OverlapQuery) ([]Entry, error) {
	if q.Email == "" || len(q.Known) == 0 && !q.All {
		return nil, nil
	}
	return list[Entry](ctx, s.db, overlappingWaitsSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": q.TenantID, "email": q.Email, "slot": q.SlotID, "known": q.Known, "all": q.All})
}
