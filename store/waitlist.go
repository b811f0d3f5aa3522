package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// EntryState is where a waitlist entry stands in its life.
type EntryState string

// The states of a waitlist entry.
const (
	Waiting     EntryState = "waiting"
	Offered     EntryState = "offered"
	Accepted    EntryState = "accepted"
	Lapsed      EntryState = "lapsed"
	Declined    EntryState = "declined"
	Withdrawn   EntryState = "withdrawn"
	EntryClosed EntryState = "closed"
)

// Entry is a party waiting for a slot; while its state is offered it is an
// offer. Times are instants in UTC.
type Entry struct {
	ID              string
	TenantID        string
	SlotID          string
	PartySize       int
	State           EntryState
	Position        int64 // order in the queue: smaller first
	Name            string
	Kana            string
	Email           string
	Phone           string
	Note            string
	Answers         map[string]string // to the questions of the service, by their id
	Locale          string
	ShownUntil      *time.Time // offered: the deadline that people read
	ExpiresAt       *time.Time // offered: the enforced deadline; never shown
	ReservationID   *string
	Source          Source
	Reason          string
	JoinedAt        time.Time
	OfferedAt       *time.Time
	EndedAt         *time.Time
	Generation      int `db:"link_generation"`
	OfferGeneration int
	TellVacancies   bool      // wants to be told of seats that are open, first come, first served
	Place           int       // waiting: 1 is next; else 0
	Of              int       // entries waiting in the slot
	Now             time.Time // when it was read
}

// Live reports whether the party is still in the queue or offered seats.
func (e Entry) Live() bool { return e.State == Waiting || e.State == Offered }

const entryColumns = `e.id::text, e.tenant_id::text, e.slot_id::text, e.party_size, e.state, e.position, e.name, e.kana, e.email, e.phone, e.note, e.answers, e.locale,
	e.shown_until, e.expires_at, e.reservation_id::text, e.source, e.reason, e.joined_at, e.offered_at, e.ended_at, e.link_generation, e.offer_generation, e.tell_vacancies`

const entryPlace = `,
	CASE WHEN e.state = 'waiting' THEN (SELECT count(*) FROM waitlist_entries w WHERE w.tenant_id = e.tenant_id AND w.slot_id = e.slot_id AND w.state = 'waiting' AND w.position <= e.position) ELSE 0 END::int AS place,
	(SELECT count(*) FROM waitlist_entries w WHERE w.tenant_id = e.tenant_id AND w.slot_id = e.slot_id AND w.state = 'waiting')::int AS of,
	coalesce(@at::timestamptz, statement_timestamp()) AS now`

// EntryToken is the secret of the entry's link.
func (s *Store) EntryToken(e Entry) string { return s.token(linkEntry, e.TenantID, e.ID, e.Generation) }

// OfferToken is the secret of the link to the entry's offer.
func (s *Store) OfferToken(e Entry) string {
	return s.token(linkOffer, e.TenantID, e.ID, e.OfferGeneration)
}

const entryByTokenSQL = `-- entry by token
SELECT ` + entryColumns + entryPlace + ` FROM waitlist_entries e WHERE e.tenant_id = @tenant AND e.link_hash = @hash`

// EntryByToken finds the entry that a waitlist link opens; NotFound if none.
func (s *Store) EntryByToken(ctx context.Context, tenant, token string) (Entry, error) {
	if !validToken(token) {
		return Entry{}, NotFound
	}
	return one[Entry](ctx, s.db, entryByTokenSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "hash": tokenHash(token)})
}

const offerByTokenSQL = `-- offer by token
SELECT ` + entryColumns + entryPlace + ` FROM waitlist_entries e WHERE e.tenant_id = @tenant AND e.offer_hash = @hash`

// OfferByToken finds the entry whose offer a link opens, also when it is over; NotFound if none.
func (s *Store) OfferByToken(ctx context.Context, tenant, token string) (Entry, error) {
	if !validToken(token) {
		return Entry{}, NotFound
	}
	return one[Entry](ctx, s.db, offerByTokenSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "hash": tokenHash(token)})
}

const entrySQL = `-- entry
SELECT ` + entryColumns + entryPlace + ` FROM waitlist_entries e WHERE e.tenant_id = @tenant AND e.id = @id`

// Entry finds an entry by its id; NotFound if none.
func (s *Store) Entry(ctx context.Context, tenant, id string) (Entry, error) {
	return one[Entry](ctx, s.db, entrySQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "id": id})
}

const queueSQL = `-- waitlist of a slot
SELECT ` + entryColumns + `,
	CASE WHEN e.state = 'waiting' THEN count(*) FILTER (WHERE e.state = 'waiting') OVER (ORDER BY e.position) ELSE 0 END::int AS place,
	(count(*) FILTER (WHERE e.state = 'waiting') OVER ())::int AS of,
	coalesce(@at::timestamptz, statement_timestamp()) AS now
FROM waitlist_entries e WHERE e.tenant_id = @tenant AND e.slot_id = @slot AND (@all OR e.state IN ('waiting', 'offered'))
ORDER BY e.position LIMIT 2000`

// Waitlist lists the entries of a slot in order; only live ones unless all is set.
func (s *Store) Waitlist(ctx context.Context, tenant, slot string, all bool) ([]Entry, error) {
	return list[Entry](ctx, s.db, queueSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "slot": slot, "all": all})
}

const waitlistsSQL = `-- waitlists of several slots
SELECT ` + entryColumns + `,
	CASE WHEN e.state = 'waiting' THEN count(*) FILTER (WHERE e.state = 'waiting') OVER (PARTITION BY e.slot_id ORDER BY e.position) ELSE 0 END::int AS place,
	(count(*) FILTER (WHERE e.state = 'waiting') OVER (PARTITION BY e.slot_id))::int AS of,
	coalesce(@at::timestamptz, statement_timestamp()) AS now
FROM waitlist_entries e WHERE e.tenant_id = @tenant AND e.slot_id = ANY(@slots::text[]::uuid[]) AND e.state IN ('waiting', 'offered')
ORDER BY e.slot_id, e.position LIMIT 5000`

// Waitlists lists the live entries of several slots in order, by slot id.
func (s *Store) Waitlists(ctx context.Context, tenant string, slots []string) (map[string][]Entry, error) {
	entries, err := list[Entry](ctx, s.db, waitlistsSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "slots": slots})
	if err != nil {
		return nil, err
	}
	bySlot := map[string][]Entry{}
	for _, e := range entries {
		bySlot[e.SlotID] = append(bySlot[e.SlotID], e)
	}
	return bySlot, nil
}
