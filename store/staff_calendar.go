package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// A slot that began longer than a week before the stretch is not looked for: the
// index is by start, and the read must not grow with what has been.
const slotsOverSQL = `-- slots over a stretch of time
` + slotSelect + `
WHERE s.tenant_id = @tenant AND s.starts_at >= @from::timestamptz - interval '168 hours' AND s.starts_at < @to AND s.ends_at > @from
	AND (@service::text = '' OR s.service_id = NULLIF(@service, '')::uuid)
	AND (@resource::text = '' OR s.resource_id = NULLIF(@resource, '')::uuid)
ORDER BY s.starts_at, s.resource_id, s.id LIMIT @limit`

// SlotsOver lists by start the slots that take some of the time from q.From to
// q.To, cancelled ones too: also one that began before and goes on past From, as
// one over midnight does. FreeFor of q does not count here.
func (s *Store) SlotsOver(ctx context.Context, q SlotQuery) ([]Slot, error) {
	if q.Limit <= 0 || q.Limit > 1000 {
		q.Limit = 1000
	}
	return list[Slot](ctx, s.db, slotsOverSQL, pgx.StrictNamedArgs{
		"at": s.at, "tenant": q.TenantID, "from": q.From, "to": q.To, "service": q.ServiceID, "resource": q.ResourceID, "limit": q.Limit,
	})
}

// DayLoad is how full a calendar day of a venue is. Cancelled slots count as
// Cancelled and nowhere else.
type DayLoad struct {
	Day       string // 2006-01-02, the calendar day at the venue on which the slots begin
	Slots     int
	Closed    int // slots that are closed for booking
	Cancelled int
	Full      int // slots that are open, still to come, and have no seat for a newcomer
	Capacity  int // seats
	Booked    int // seats
	Kept      int // seats of holds and open offers
	Waiting   int // parties
	Offers    int // slots with open offers
	Calls     int // open offers to people without an address: somebody has to call
}

// Seats that are taken and neither held nor offered are booked. OFFSET 0 as above daySummariesSQL.
const dayLoadsSQL = `-- loads of days
SELECT to_char(starts_at AT TIME ZONE @zone::text, 'YYYY-MM-DD') AS day,
	count(*) FILTER (WHERE status <> 'cancelled')::int AS slots, count(*) FILTER (WHERE status = 'closed')::int AS closed,
	count(*) FILTER (WHERE status = 'cancelled')::int AS cancelled,
	count(*) FILTER (WHERE status = 'open' AND starts_at > now AND seats_left = 0)::int AS "full",
	coalesce(sum(capacity) FILTER (WHERE status <> 'cancelled'), 0)::int AS capacity, coalesce(sum(taken - kept), 0)::int AS booked,
	coalesce(sum(kept - due), 0)::int AS kept, coalesce(sum(waiting), 0)::int AS waiting,
	count(*) FILTER (WHERE offered > 0)::int AS offers, coalesce(sum(calls), 0)::int AS calls
FROM (
	SELECT s.starts_at, s.status, s.capacity, s.taken, ` + keptSeatsLeft + `, n.now,
		coalesce(k.seats, 0) AS kept, coalesce(k.due, 0) AS due, k.offered, k.calls, q.waiting
	FROM (SELECT coalesce(@at::timestamptz, statement_timestamp()) AS now) n CROSS JOIN slots s
` + keptSeats + `
	LEFT JOIN (
		SELECT e.slot_id, count(*)::int AS waiting FROM slots w JOIN waitlist_entries e ON e.tenant_id = w.tenant_id AND e.slot_id = w.id AND e.state = 'waiting'
		WHERE w.tenant_id = @tenant AND w.starts_at >= @from AND w.starts_at < @to GROUP BY e.slot_id
	) q ON q.slot_id = s.id
	WHERE s.tenant_id = @tenant AND s.starts_at >= @from AND s.starts_at < @to
		AND (@service::text = '' OR s.service_id = NULLIF(@service, '')::uuid)
		AND (@resource::text = '' OR s.resource_id = NULLIF(@resource, '')::uuid)
	OFFSET 0
) slots
GROUP BY 1 ORDER BY 1`

// DayLoads sums up the slots of q by calendar day in the zone loc, without the
// days that have none. FreeFor and Limit of q do not count here.
func (s *Store) DayLoads(ctx context.Context, q SlotQuery, loc *time.Location) ([]DayLoad, error) {
	return list[DayLoad](ctx, s.db, dayLoadsSQL, pgx.StrictNamedArgs{
		"at": s.at, "tenant": q.TenantID, "from": q.From, "to": q.To, "service": q.ServiceID, "resource": q.ResourceID, "zone": loc.String(),
	})
}
