package store

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// ClosedDay is a day on which a venue is closed. It decides nothing about
// seats: it is told to people, and a slot that stands on it is as it is.
type ClosedDay struct {
	TenantID string
	Day      string // 2006-01-02, a calendar day at the venue
	Note     Text   // why, for customers; may be empty
}

const addClosedDaySQL = `-- add closed day
INSERT INTO closed_days (tenant_id, day, note) VALUES (@tenant, @day::date, @note::jsonb)
ON CONFLICT (tenant_id, day) DO UPDATE SET note = excluded.note
RETURNING tenant_id::text, to_char(day, 'YYYY-MM-DD') AS day, note`

// AddClosedDay stores a closed day; one that is there gets the new note. A Day
// that is no calendar day is an error.
func (s *Store) AddClosedDay(ctx context.Context, c ClosedDay) (ClosedDay, error) {
	if _, err := time.Parse(time.DateOnly, c.Day); err != nil {
		return ClosedDay{}, fmt.Errorf("closed day %q: not a day as 2006-01-02", c.Day)
	}
	return one[ClosedDay](ctx, s.db, addClosedDaySQL, pgx.StrictNamedArgs{"tenant": c.TenantID, "day": c.Day, "note": jsonText(c.Note)})
}

const closedDaysSQL = `-- closed days
SELECT tenant_id::text, to_char(day, 'YYYY-MM-DD') AS day, note FROM closed_days
WHERE tenant_id = @tenant AND day BETWEEN @first::date AND @last::date ORDER BY day LIMIT 500`

// ClosedDays lists the closed days from first to last, both included and both
// as 2006-01-02.
func (s *Store) ClosedDays(ctx context.Context, tenant, first, last string) ([]ClosedDay, error) {
	return list[ClosedDay](ctx, s.db, closedDaysSQL, pgx.StrictNamedArgs{"tenant": tenant, "first": first, "last": last})
}

// DaySummary is what a calendar day of a venue has, as numbers of slots. Each
// slot is counted once, in the order in which a page would judge it.
type DaySummary struct {
	Day       string // 2006-01-02, a calendar day at the venue
	Free      int
	Few       int // bookable, and few seats are left
	Joinable  int // full, and people can wait
	Full      int
	NotYet    int // booking has not opened
	Over      int // booking is over
	Closed    int
	Cancelled int
	OpensAt   *time.Time // when the first of those not yet open opens
}

// What is kept in the slots of a tenant by holds and open offers: few rows,
// however many slots there are. The smallest party that waits matters only where
// something is due.
const keptSeats = `LEFT JOIN (
	SELECT g.*, CASE WHEN g.due > 0 THEN (SELECT min(e.party_size) FROM waitlist_entries e
		WHERE e.tenant_id = @tenant AND e.slot_id = g.slot_id AND e.state = 'waiting') END AS least
	FROM (SELECT slot_id, sum(party_size)::int AS seats, coalesce(sum(party_size) FILTER (WHERE due), 0)::int AS due,
		coalesce(sum(party_size) FILTER (WHERE offer AND NOT due), 0)::int AS offered, (count(*) FILTER (WHERE offer AND NOT due AND email = ''))::int AS calls
	FROM (
		SELECT r.slot_id, r.party_size, r.expires_at <= coalesce(@at::timestamptz, statement_timestamp()) AS due, false AS offer, '' AS email
		FROM reservations r WHERE r.tenant_id = @tenant AND r.state = 'held'
		UNION ALL
		SELECT e.slot_id, e.party_size, e.expires_at <= coalesce(@at::timestamptz, statement_timestamp()), true, e.email
		FROM waitlist_entries e WHERE e.tenant_id = @tenant AND e.state = 'offered'
	) h GROUP BY slot_id) g
) k ON k.slot_id = s.id
`

// Seats left as slotSelect gives them, from the slot's own row and what is kept.
const keptSeatsLeft = `CASE
	WHEN s.order_until > n.now AND (s.kept OR (k.due > 0 AND k.least <= CASE s.fit WHEN 'strict' THEN s.capacity ELSE s.capacity - s.taken + k.due END)) THEN 0
	ELSE greatest(0, s.capacity - s.taken + coalesce(k.due, 0))
END AS seats_left`

// Slots are counted where they are stored: a month of a busy venue is more than
// a page should read. OFFSET 0 has each slot judged once, and not once for each
// of the counts.
const daySummariesSQL = `-- day summaries
SELECT to_char(starts_at AT TIME ZONE @zone::text, 'YYYY-MM-DD') AS day,
	count(*) FILTER (WHERE judged = 'free')::int AS free, count(*) FILTER (WHERE judged = 'few')::int AS few,
	count(*) FILTER (WHERE judged = 'joinable')::int AS joinable, count(*) FILTER (WHERE judged = 'full')::int AS "full",
	count(*) FILTER (WHERE judged = 'not_yet')::int AS not_yet, count(*) FILTER (WHERE judged = 'over')::int AS over,
	count(*) FILTER (WHERE judged = 'closed')::int AS closed, count(*) FILTER (WHERE judged = 'cancelled')::int AS cancelled,
	min(opens_at) FILTER (WHERE judged = 'not_yet') AS opens_at
FROM (
	SELECT starts_at, opens_at, CASE
		WHEN status = 'cancelled' THEN 'cancelled'
		WHEN status = 'closed' THEN 'closed'
		WHEN now >= closes_at THEN 'over'
		WHEN now < opens_at THEN 'not_yet'
		WHEN seats_left > 0 AND seats_left <= few_left AND seats_left < capacity THEN 'few'
		WHEN seats_left > 0 THEN 'free'
		WHEN waitlist_mode <> 'off' THEN 'joinable'
		ELSE 'full'
	END AS judged
	FROM (
SELECT s.starts_at, s.status, s.capacity, s.few_left, s.waitlist_mode, s.starts_at - s.booking_opens AS opens_at, s.starts_at - s.booking_closes AS closes_at,
	` + keptSeatsLeft + `, n.now
FROM (SELECT coalesce(@at::timestamptz, statement_timestamp()) AS now) n CROSS JOIN slots s
` + keptSeats + `
WHERE s.tenant_id = @tenant AND s.starts_at >= @from AND s.starts_at < @to
	AND (@service::text = '' OR s.service_id = NULLIF(@service, '')::uuid)
	AND (@resource::text = '' OR s.resource_id = NULLIF(@resource, '')::uuid)
	) found
	OFFSET 0
) slots
GROUP BY 1 ORDER BY 1`

// Days sums up the slots of q by calendar day in the zone loc, without those
// days that have none. FreeFor and Limit of q do not count here.
func (s *Store) Days(ctx context.Context, q SlotQuery, loc *time.Location) ([]DaySummary, error) {
	return list[DaySummary](ctx, s.db, daySummariesSQL, pgx.StrictNamedArgs{
		"at": s.at, "tenant": q.TenantID, "from": q.From, "to": q.To, "service": q.ServiceID, "resource": q.ResourceID, "zone": loc.String(),
	})
}

const setEmbedOriginsSQL = `-- set embed origins
UPDATE tenants SET embed_origins = @origins WHERE id = @tenant RETURNING ` + tenantColumns

// SetEmbedOrigins says which sites may show the tenant's calendar in a frame;
// none: nobody may. What is no origin (see NormalizeOrigin) is an error.
func (s *Store) SetEmbedOrigins(ctx context.Context, tenant string, origins []string) (Tenant, error) {
	clean, err := normalizeOrigins(origins)
	if err != nil {
		return Tenant{}, err
	}
	return one[Tenant](ctx, s.db, setEmbedOriginsSQL, pgx.StrictNamedArgs{"tenant": tenant, "origins": clean})
}

func normalizeOrigins(origins []string) ([]string, error) {
	clean := []string{}
	for _, origin := range origins {
		normal, err := NormalizeOrigin(origin)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(clean, normal) {
			clean = append(clean, normal)
		}
	}
	return clean, nil
}

// NormalizeOrigin gives the origin of a site as browsers write it:
// https://www.example.com, with a port only where it is not the usual one. It
// will stand in a header, so nothing else may be in it; http is taken for
// machines under test only (localhost and loopback addresses).
func NormalizeOrigin(origin string) (string, error) {
	bad := fmt.Errorf("%q is not the origin of a site, such as https://www.example.com", origin)
	u, err := url.Parse(strings.TrimSpace(origin))
	if err != nil || u.User != nil || u.RawQuery != "" || u.Fragment != "" || (u.Path != "" && u.Path != "/") {
		return "", bad
	}
	scheme, host, port := strings.ToLower(u.Scheme), strings.ToLower(u.Hostname()), u.Port()
	local := host == "localhost" || host == "127.0.0.1"
	if host == "" || (scheme != "https" && (scheme != "http" || !local)) || strings.HasSuffix(u.Host, ":") {
		return "", bad
	}
	for _, c := range []byte(host) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '.' {
			return "", bad
		}
	}
	if port == "" || (scheme == "https" && port == "443") || (scheme == "http" && port == "80") {
		return scheme + "://" + host, nil
	}
	return scheme + "://" + host + ":" + port, nil
}
