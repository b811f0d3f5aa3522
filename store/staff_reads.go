package store

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Reads of the staff pages: each is one statement however many rows a page shows.

// SlotsByID reads the named slots of a tenant by start; ids that name none are left out.
func (s *Store) SlotsByID(ctx context.Context, tenant string, ids []string) ([]Slot, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return list[Slot](ctx, s.db, slotsByIDSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "slots": ids})
}

const openOffersSQL = `-- open offers of a tenant
SELECT ` + entryColumns + `, 0 AS place, 0 AS of, coalesce(@at::timestamptz, statement_timestamp()) AS now
FROM waitlist_entries e
WHERE e.tenant_id = @tenant AND e.state = 'offered' AND e.expires_at > coalesce(@at::timestamptz, statement_timestamp())
ORDER BY e.shown_until, e.id LIMIT @limit`

// OpenOffers lists the offers of a tenant that are not due, the one that ends first in front.
func (s *Store) OpenOffers(ctx context.Context, tenant string, limit int) ([]Entry, error) {
	return list[Entry](ctx, s.db, openOffersSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "limit": limit})
}

// Person is who a reservation or an entry is for, as far as a list of messages says it.
type Person struct {
	ID    string // of the reservation or the entry
	Name  string
	Phone string
}

const peopleSQL = `-- people of reservations and entries
SELECT r.id::text, r.name, r.phone FROM reservations r WHERE r.tenant_id = @tenant AND r.id = ANY(@ids::text[]::uuid[])
UNION ALL
SELECT e.id::text, e.name, e.phone FROM waitlist_entries e WHERE e.tenant_id = @tenant AND e.id = ANY(@ids::text[]::uuid[])`

// People reads who the named reservations and entries are for, by id.
func (s *Store) People(ctx context.Context, tenant string, ids []string) (map[string]Person, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := list[Person](ctx, s.db, peopleSQL, pgx.StrictNamedArgs{"tenant": tenant, "ids": ids})
	if err != nil {
		return nil, err
	}
	people := make(map[string]Person, len(found))
	for _, p := range found {
		people[p.ID] = p
	}
	return people, nil
}

const membersSQL = `-- members
SELECT s.id::text, s.email, s.name, s.locale, s.password_hash, s.totp_secret IS NOT NULL AS second_factor FROM memberships m JOIN staff s ON s.id = m.staff_id
WHERE m.tenant_id = @tenant ORDER BY s.name, s.email LIMIT 500`

// Members lists the people who work for a tenant.
func (s *Store) Members(ctx context.Context, tenant string) ([]StaffMember, error) {
	return list[StaffMember](ctx, s.db, membersSQL, pgx.StrictNamedArgs{"tenant": tenant})
}

const messageCountsSQL = `-- messages by state
SELECT state, count(*)::int AS count FROM outbox WHERE tenant_id = @tenant AND state IN ('pending', 'sending', 'failed') GROUP BY state`

// MessageCounts counts a tenant's messages that are not yet sent, by state:
// little work, whatever has been sent before.
func (s *Store) MessageCounts(ctx context.Context, tenant string) (map[MessageState]int, error) {
	rows, err := s.db.Query(ctx, messageCountsSQL, pgx.StrictNamedArgs{"tenant": tenant})
	if err != nil {
		return nil, classify(err)
	}
	counts := map[MessageState]int{}
	var state MessageState
	var n int
	_, err = pgx.ForEachRow(rows, []any{&state, &n}, func() error {
		counts[state] = n
		return nil
	})
	return counts, classify(err)
}

const arrivedSQL = `-- arrived of several slots
SELECT slot_id::text AS slot, sum(party_size)::int AS seats FROM reservations
WHERE tenant_id = @tenant AND slot_id = ANY(@slots::text[]::uuid[]) AND state = 'confirmed' AND attendance = 'arrived' GROUP BY slot_id`

// Arrived counts the people who have arrived, by slot.
func (s *Store) Arrived(ctx context.Context, tenant string, slots []string) (map[string]int, error) {
	rows, err := s.db.Query(ctx, arrivedSQL, pgx.StrictNamedArgs{"tenant": tenant, "slots": slots})
	if err != nil {
		return nil, classify(err)
	}
	arrived := map[string]int{}
	var slot string
	var n int
	_, err = pgx.ForEachRow(rows, []any{&slot, &n}, func() error {
		arrived[slot] = n
		return nil
	})
	return arrived, classify(err)
}

const vacancyCallsSQL = `-- people to call about open seats
SELECT ` + entryColumns + `, 0 AS place, 0 AS of, n.now
FROM (SELECT coalesce(@at::timestamptz, statement_timestamp()) AS now) n, slots s
JOIN waitlist_entries e ON e.tenant_id = s.tenant_id AND e.slot_id = s.id AND e.state = 'waiting'
WHERE s.tenant_id = @tenant AND s.status = 'open' AND NOT s.waitlist_paused AND s.starts_at > n.now AND s.order_until <= n.now
	AND s.starts_at - s.booking_opens <= n.now AND s.starts_at - s.booking_closes > n.now
	AND s.taken + e.party_size <= s.capacity AND e.email = ''
ORDER BY s.starts_at, e.position LIMIT @limit`

// VacancyCalls lists those who wait without an address while seats that would do for them are open to whoever
// comes first: only somebody who calls tells them. By start of the slot.
func (s *Store) VacancyCalls(ctx context.Context, tenant string, limit int) ([]Entry, error) {
	return list[Entry](ctx, s.db, vacancyCallsSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "limit": limit})
}

const offersAndCallsSQL = `-- open offers and people to call of a tenant
(` + openOffersSQL + `)
UNION ALL
(` + vacancyCallsSQL + `)`

// OffersAndCalls reads what OpenOffers and VacancyCalls list, at one instant and in one statement; the calls come by their place in the queue.
func (s *Store) OffersAndCalls(ctx context.Context, tenant string, limit int) (offers, calls []Entry, err error) {
	entries, err := list[Entry](ctx, s.db, offersAndCallsSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "limit": limit})
	for _, e := range entries {
		if e.State == Offered {
			offers = append(offers, e)
		} else {
			calls = append(calls, e)
		}
	}
	// Each list is in its order; that of the two together is nobody's promise.
	slices.SortStableFunc(offers, func(a, b Entry) int { return a.ShownUntil.Compare(*b.ShownUntil) })
	slices.SortStableFunc(calls, func(a, b Entry) int { return int(a.Position - b.Position) })
	return offers, calls, err
}

// A message that waits longer than this waits for something: the mail server is away.
const lateMessagesSQL = `-- failed and late messages
SELECT ` + messageColumns + ` FROM outbox o
WHERE o.tenant_id = @tenant AND (o.state = 'failed' OR (o.state IN ('pending', 'sending') AND o.created_at < coalesce(@at::timestamptz, statement_timestamp()) - interval '5 minutes'))
ORDER BY o.created_at DESC, o.id DESC LIMIT @limit`

// UndeliveredMessages lists the newest messages that have failed, or have waited
// for more than five minutes: somebody does not know what they ought to.
func (s *Store) UndeliveredMessages(ctx context.Context, tenant string, limit int) ([]Message, error) {
	return list[Message](ctx, s.db, lateMessagesSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "limit": limit})
}
