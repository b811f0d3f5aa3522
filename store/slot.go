package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// SlotStatus is what staff have decided about a slot.
type SlotStatus string

// The statuses of a slot.
const (
	SlotOpen      SlotStatus = "open"
	SlotClosed    SlotStatus = "closed"    // no new hold, entry, offer or claim; what lives runs on
	SlotCancelled SlotStatus = "cancelled" // it does not take place
)

// Slot is one occurrence of a service, as read at Now. Reads may be stale the
// moment they are made: they choose words; only a step's own statement decides.
type Slot struct {
	ID           string
	TenantID     string
	ServiceID    string
	ResourceID   string
	StartsAt     time.Time
	EndsAt       time.Time
	Capacity     int
	Taken        int // held + confirmed + kept for open offers, due ones included
	Status       SlotStatus
	Version      int64
	TermsVersion int
	OrderRules   bool       // seats go by order still, not first come, first served
	OrderUntil   *time.Time // until then seats go by order; nil: never, or without end
	Paused       bool       // no new offers but by staff
	WaitlistMode WaitlistMode
	Fit          Fit
	PartyMax     int
	FewLeft      int
	OnePerPerson bool
	OpensAt      time.Time // booking opens
	ClosesAt     time.Time // booking closes
	CancelUntil  time.Time // customers may cancel before
	HoldShown    time.Duration
	OfferShown   time.Duration
	Confirmed    int // seats
	Held         int // seats of holds that are not due
	Offered      int // seats kept for offers that are not due
	Waiting      int // entries waiting
	// SeatsLeft is what a newcomer could take now: due seats count as free,
	// unless pass on would give them to someone waiting. 0 where free seats are kept.
	SeatsLeft int
	Now       time.Time
}

// Bookable reports whether a hold of one seat would be tried now.
func (s Slot) Bookable() bool { return s.WindowOpen() && s.Status == SlotOpen && s.SeatsLeft > 0 }

// WindowOpen reports whether the booking window is open at Now.
func (s Slot) WindowOpen() bool { return !s.Now.Before(s.OpensAt) && s.Now.Before(s.ClosesAt) }

// Joinable reports whether a party could wait for this slot now.
func (s Slot) Joinable() bool {
	return s.Status == SlotOpen && s.WindowOpen() && s.WaitlistMode != WaitlistNone && s.SeatsLeft < s.Capacity
}

// The counts come from rows that are found by the slot's key, so that reading a
// page of slots costs what the page shows, not what is stored.
const slotSelect = `SELECT s.id::text, s.tenant_id::text, s.service_id::text, s.resource_id::text, s.starts_at, s.ends_at, s.capacity, s.taken,
	s.status, s.version, s.terms_version, s.order_until > n.now AS order_rules,
	CASE WHEN isfinite(s.order_until) THEN s.order_until END AS order_until,
	s.waitlist_paused AS paused, s.waitlist_mode, s.fit, s.party_max, s.few_left, s.one_per_person,
	s.starts_at - s.booking_opens AS opens_at, s.starts_at - s.booking_closes AS closes_at, s.starts_at - s.cancel_before AS cancel_until,
	s.hold_shown, s.offer_shown, r.confirmed, r.held, e.offered, e.waiting,
	CASE
		WHEN s.order_until > n.now AND (s.kept OR (r.due + e.due > 0 AND e.waiting > 0 AND e.least <= CASE s.fit WHEN 'strict' THEN s.capacity ELSE s.capacity - s.taken + r.due + e.due END)) THEN 0
		ELSE greatest(0, s.capacity - s.taken + r.due + e.due)
	END AS seats_left,
	n.now
FROM (SELECT coalesce(@at::timestamptz, statement_timestamp()) AS now) n
CROSS JOIN slots s
CROSS JOIN LATERAL (
	SELECT coalesce(sum(party_size) FILTER (WHERE state = 'confirmed'), 0)::int AS confirmed,
		coalesce(sum(party_size) FILTER (WHERE state = 'held' AND expires_at > n.now), 0)::int AS held,
		coalesce(sum(party_size) FILTER (WHERE state = 'held' AND expires_at <= n.now), 0)::int AS due
	FROM reservations r WHERE r.tenant_id = s.tenant_id AND r.slot_id = s.id AND r.state IN ('held', 'confirmed')
) r
CROSS JOIN LATERAL (
	SELECT coalesce(sum(party_size) FILTER (WHERE state = 'offered' AND expires_at > n.now), 0)::int AS offered,
		coalesce(sum(party_size) FILTER (WHERE state = 'offered' AND expires_at <= n.now), 0)::int AS due,
		count(*) FILTER (WHERE state = 'waiting')::int AS waiting,
		min(party_size) FILTER (WHERE state = 'waiting') AS least
	FROM waitlist_entries e WHERE e.tenant_id = s.tenant_id AND e.slot_id = s.id AND e.state IN ('waiting', 'offered')
) e
`

const slotSQL = `-- slot
` + slotSelect + `WHERE s.tenant_id = @tenant AND s.id = @slot`

// Slot reads one slot; NotFound if there is none.
func (s *Store) Slot(ctx context.Context, tenant, slot string) (Slot, error) {
	return one[Slot](ctx, s.db, slotSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "slot": slot})
}

// SlotQuery chooses slots of a tenant by their start, From included, To not.
// Empty ids choose all. Limit is at most 1000, which is also the default.
type SlotQuery struct {
	TenantID   string
	From, To   time.Time
	ServiceID  string
	ResourceID string
	// FreeFor chooses slots that would take a hold of so many seats now; 0: all.
	FreeFor int
	// AfterStart and AfterID begin behind a slot that was listed last; empty: with the first.
	AfterStart time.Time
	AfterID    string
	Limit      int
}

const slotsSQL = `-- slots
SELECT * FROM (
` + slotSelect + `
WHERE s.tenant_id = @tenant AND s.starts_at >= @from AND s.starts_at < @to
	AND (@service::text = '' OR s.service_id = NULLIF(@service, '')::uuid)
	AND (@resource::text = '' OR s.resource_id = NULLIF(@resource, '')::uuid)
	AND (@after_id::text = '' OR (s.starts_at, s.id) > (@after_start::timestamptz, NULLIF(@after_id, '')::uuid))
) found
WHERE @free_for::int = 0 OR (status = 'open' AND opens_at <= now AND closes_at > now AND seats_left >= @free_for::int)
ORDER BY starts_at, id LIMIT @limit`

// Slots lists slots by start, cancelled ones too.
func (s *Store) Slots(ctx context.Context, q SlotQuery) ([]Slot, error) {
	if q.Limit <= 0 || q.Limit > 1000 {
		q.Limit = 1000
	}
	return list[Slot](ctx, s.db, slotsSQL, pgx.StrictNamedArgs{
		"at": s.at, "tenant": q.TenantID, "from": q.From, "to": q.To, "service": q.ServiceID, "resource": q.ResourceID,
		"free_for": q.FreeFor, "after_start": q.AfterStart, "after_id": q.AfterID, "limit": q.Limit,
	})
}

const bookableDaysSQL = `-- bookable days
SELECT s.starts_at FROM (
` + slotSelect + `
WHERE s.tenant_id = @tenant AND s.starts_at >= @from AND s.starts_at < @to
	AND (@service::text = '' OR s.service_id = NULLIF(@service, '')::uuid)
	AND (@resource::text = '' OR s.resource_id = NULLIF(@resource, '')::uuid)
	AND s.status = 'open' AND s.starts_at - s.booking_closes > n.now
) s
WHERE opens_at <= now AND seats_left > 0
ORDER BY starts_at LIMIT 1`

// FirstBookable finds the start of the first slot at or after q.From that has a seat; NotFound if none.
func (s *Store) FirstBookable(ctx context.Context, q SlotQuery) (time.Time, error) {
	var first time.Time
	err := s.db.QueryRow(ctx, bookableDaysSQL, pgx.StrictNamedArgs{
		"at": s.at, "tenant": q.TenantID, "from": q.From, "to": q.To, "service": q.ServiceID, "resource": q.ResourceID,
	}).Scan(&first)
	return first, classify(err)
}

// The nearest are chosen before their seats are counted.
const nearestSQL = `-- nearest free slots
SELECT * FROM (
` + slotSelect + `
JOIN (
	SELECT c.id FROM slots o JOIN slots c ON c.tenant_id = o.tenant_id AND c.service_id = o.service_id AND c.id <> o.id
	WHERE o.tenant_id = @tenant AND o.id = @slot AND c.status = 'open'
		AND c.starts_at BETWEEN o.starts_at - interval '336 hours' AND o.starts_at + interval '336 hours'
		AND c.starts_at > coalesce(@at::timestamptz, statement_timestamp())
	ORDER BY abs(extract(epoch FROM c.starts_at - o.starts_at)) LIMIT 60
) near ON near.id = s.id
WHERE s.tenant_id = @tenant
) found
WHERE opens_at <= now AND closes_at > now AND seats_left >= @party::int
ORDER BY starts_at LIMIT @limit`

// NearestFree lists slots of the same service, within two weeks of the given
// one, that have seats for the party, by start.
func (s *Store) NearestFree(ctx context.Context, tenant, slot string, party, limit int) ([]Slot, error) {
	return list[Slot](ctx, s.db, nearestSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "slot": slot, "party": party, "limit": limit})
}

const slotAtSQL = `-- slot at
` + slotSelect + `JOIN resources o ON o.tenant_id = s.tenant_id AND o.id = s.resource_id
WHERE s.tenant_id = @tenant AND o.slug = @resource AND s.starts_at = @start AND s.status <> 'cancelled'`

// SlotAt finds a slot by its resource's slug and its start; NotFound if none.
// A resource has at most one live slot at a time.
func (s *Store) SlotAt(ctx context.Context, tenant, resource string, start time.Time) (Slot, error) {
	return one[Slot](ctx, s.db, slotAtSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "resource": resource, "start": start})
}
