package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Numbers about what happened. All are about the slots that begin in a period
// and were not cancelled, whenever the bookings were made, so that any two of
// them may be compared. They come from states, times and events, which erasing
// leaves: an erased booking still counts.

// InsightQuery chooses the slots: From included, To not. Empty ids choose all.
type InsightQuery struct {
	TenantID   string
	Zone       string // IANA; weekdays, hours and weeks are those of its clocks
	From, To   time.Time
	ServiceID  string
	ResourceID string
}

func (q InsightQuery) args(at *time.Time) pgx.StrictNamedArgs {
	return pgx.StrictNamedArgs{"at": at, "tenant": q.TenantID, "from": q.From, "to": q.To, "service": q.ServiceID, "resource": q.ResourceID}
}

const chosenSlots = `chosen AS MATERIALIZED (
	SELECT s.tenant_id, s.id, s.starts_at, s.ends_at, s.capacity, s.status FROM slots s
	WHERE s.tenant_id = @tenant AND s.starts_at >= @from AND s.starts_at < @to
		AND (@service::text = '' OR s.service_id = NULLIF(@service, '')::uuid) AND (@resource::text = '' OR s.resource_id = NULLIF(@resource, '')::uuid)
)`

// Occupancy is what a group of slots had: seats, unless it says otherwise.
type Occupancy struct {
	Of       string // "hour" (Weekday and Hour), "week" (Week), or "all"
	Weekday  int    // ISO: Monday is 1
	Hour     int    // at the venue, of the start
	Week     string // its Monday at the venue, 2006-01-02
	Slots    int
	Capacity int
	Booked   int
	// Of the slots that are over: seats booked, and those whose party was marked as arrived.
	Past    int
	Arrived int
	// Parties of slots that are over, by what was noted of them.
	PartiesArrived  int
	PartiesNoShow   int
	PartiesUnmarked int
	SlotsCancelled  int // "all" only
}

const occupancySQL = `-- occupancy
WITH ` + chosenSlots + `, seats AS (
	SELECT r.slot_id, sum(r.party_size) AS booked, sum(r.party_size) FILTER (WHERE r.attendance = 'arrived') AS arrived,
		count(*) FILTER (WHERE r.attendance = 'arrived') AS parties_arrived, count(*) FILTER (WHERE r.attendance = 'no_show') AS parties_no_show,
		count(*) FILTER (WHERE r.attendance = '') AS parties_unmarked
	FROM chosen c JOIN reservations r ON r.tenant_id = c.tenant_id AND r.slot_id = c.id AND r.state = 'confirmed'
	WHERE c.status <> 'cancelled' GROUP BY r.slot_id
), lined AS (
	SELECT extract(isodow FROM c.starts_at AT TIME ZONE @zone::text)::int AS weekday, extract(hour FROM c.starts_at AT TIME ZONE @zone::text)::int AS hour,
		to_char(date_trunc('week', c.starts_at AT TIME ZONE @zone::text), 'YYYY-MM-DD') AS week,
		c.capacity, coalesce(s.booked, 0) AS booked, coalesce(s.arrived, 0) AS arrived, s.parties_arrived, s.parties_no_show, s.parties_unmarked,
		c.ends_at <= coalesce(@at::timestamptz, statement_timestamp()) AS past
	FROM chosen c LEFT JOIN seats s ON s.slot_id = c.id WHERE c.status <> 'cancelled'
)
SELECT CASE grouping(weekday, week) WHEN 1 THEN 'hour' WHEN 2 THEN 'week' ELSE 'all' END AS of,
	coalesce(weekday, 0) AS weekday, coalesce(hour, 0) AS hour, coalesce(week, '') AS week,
	count(*)::int AS slots, coalesce(sum(capacity), 0)::int AS capacity, coalesce(sum(booked), 0)::int AS booked,
	coalesce(sum(booked) FILTER (WHERE past), 0)::int AS past, coalesce(sum(arrived) FILTER (WHERE past), 0)::int AS arrived,
	coalesce(sum(parties_arrived) FILTER (WHERE past), 0)::int AS parties_arrived, coalesce(sum(parties_no_show) FILTER (WHERE past), 0)::int AS parties_no_show,
	coalesce(sum(parties_unmarked) FILTER (WHERE past), 0)::int AS parties_unmarked,
	CASE WHEN grouping(weekday, week) = 3 THEN (SELECT count(*) FROM chosen WHERE status = 'cancelled') ELSE 0 END::int AS slots_cancelled
FROM lined GROUP BY GROUPING SETS ((weekday, hour), (week), ())
ORDER BY 1, 4, 2, 3`

// Occupancy gives the seats by weekday and hour, by week, and of all.
func (s *Store) Occupancy(ctx context.Context, q InsightQuery) ([]Occupancy, error) {
	args := q.args(s.at)
	args["zone"] = q.Zone
	return list[Occupancy](ctx, s.db, occupancySQL, args)
}

// Funnel counts what became of the parties that waited. Each stands in exactly
// one of the fields from Accepted on, which add up to Joined.
type Funnel struct {
	Joined    int
	Offered   int // were ever offered seats
	Accepted  int // took their offer
	Lapsed    int // did not answer in time
	Declined  int
	Revoked   int // the offer was taken back
	Claimed   int // took open seats, first come, first served
	Withdrawn int // left before an offer
	Booked    int // had booked otherwise meanwhile
	Unserved  int // the slot began
	Waiting   int
	Open      int // have an offer now
}

const funnelSQL = `-- waitlist funnel
WITH ` + chosenSlots + `
SELECT count(*)::int AS joined, count(*) FILTER (WHERE e.offered_at IS NOT NULL)::int AS offered,
	count(*) FILTER (WHERE e.state = 'accepted' AND e.offered_at IS NOT NULL)::int AS accepted,
	count(*) FILTER (WHERE e.state = 'lapsed')::int AS lapsed, count(*) FILTER (WHERE e.state = 'declined')::int AS declined,
	count(*) FILTER (WHERE e.state = 'withdrawn' AND e.offered_at IS NOT NULL)::int AS revoked,
	count(*) FILTER (WHERE e.state = 'accepted' AND e.offered_at IS NULL)::int AS claimed,
	count(*) FILTER (WHERE e.state = 'withdrawn' AND e.offered_at IS NULL)::int AS withdrawn,
	count(*) FILTER (WHERE e.state = 'closed' AND e.reason = 'booked')::int AS booked,
	count(*) FILTER (WHERE e.state = 'closed' AND e.reason <> 'booked')::int AS unserved,
	count(*) FILTER (WHERE e.state = 'waiting')::int AS waiting, count(*) FILTER (WHERE e.state = 'offered')::int AS open
FROM chosen c JOIN waitlist_entries e ON e.tenant_id = c.tenant_id AND e.slot_id = c.id
WHERE c.status <> 'cancelled'`

// Funnel counts the waitlist entries, as parties.
func (s *Store) Funnel(ctx context.Context, q InsightQuery) (Funnel, error) {
	args := q.args(s.at)
	delete(args, "at")
	return one[Funnel](ctx, s.db, funnelSQL, args)
}

// FreedSeats is what became of the seats that bookings gave back.
type FreedSeats struct {
	Outcome string // "offer", "claim", "booking", "empty", "ahead", or "all"
	Seats   int
	// Seconds from the giving back to the next booking, at the quartiles; nil where none was booked again.
	Quartiles []float64
}

// Freed seats of a slot wait in a line, and each seat that is booked afterwards
// takes the one that has waited longest. The length of that line after each
// event is the running sum of what came and went, lifted wherever it would be
// below zero: seats that were free all the time are no one's. Then the k-th seat
// that came free and the k-th that was taken out of the line belong together.
// An offer is not yet a booking: it counts when it is accepted. Seats that were
// added for one booking and ended with it never came free.
const freedSeatsSQL = `-- freed seats and what became of them
WITH ` + chosenSlots + `, lossy AS MATERIALIZED (
	SELECT c.tenant_id, c.id, c.starts_at <= coalesce(@at::timestamptz, statement_timestamp()) AS begun FROM chosen c
	WHERE c.status <> 'cancelled' AND EXISTS (SELECT 1 FROM events v WHERE v.tenant_id = c.tenant_id AND v.slot_id = c.id
		AND v.kind IN ('cancelled', 'moved_out', 'party_changed'))
), flow AS (
	SELECT v.slot_id, l.begun, v.at, v.id,
		CASE WHEN v.kind IN ('cancelled', 'moved_out', 'party_changed') THEN greatest(0, -v.seats + least(0, coalesce((v.details->>'extra_seats')::int, 0))) ELSE 0 END AS freed,
		CASE
			WHEN v.kind = 'party_changed' THEN greatest(0, v.seats)
			WHEN v.kind = 'moved_in' THEN v.seats
			WHEN v.kind = 'held' THEN v.seats - coalesce((v.details->>'extra_seats')::int, 0)
			WHEN v.kind IN ('confirmed', 'accepted', 'claimed') THEN v.party_size
			ELSE 0
		END AS taken,
		CASE v.kind WHEN 'accepted' THEN 'offer' WHEN 'claimed' THEN 'claim' ELSE 'booking' END AS via
	FROM lossy l JOIN events v ON v.tenant_id = l.tenant_id AND v.slot_id = l.id
	WHERE v.kind IN ('cancelled', 'moved_out', 'party_changed', 'moved_in', 'accepted', 'claimed')
		OR (v.kind = 'confirmed' AND v.number IS NULL) OR (v.kind = 'held' AND v.details ? 'booked')
), summed AS (
	SELECT *, sum(freed - taken) OVER w AS run FROM flow WINDOW w AS (PARTITION BY slot_id ORDER BY at, id)
), lined AS (
	SELECT *, run - least(0, min(run) OVER w) AS line FROM summed WINDOW w AS (PARTITION BY slot_id ORDER BY at, id)
), used AS (
	SELECT *, CASE WHEN taken > 0 THEN least(taken, coalesce(lag(line) OVER w, 0)) ELSE 0 END AS out FROM lined WINDOW w AS (PARTITION BY slot_id ORDER BY at, id)
), counted AS (
	SELECT *, sum(freed) OVER w - freed AS freed_before, sum(out) OVER w - out AS out_before FROM used WINDOW w AS (PARTITION BY slot_id ORDER BY at, id)
), came AS (
	SELECT slot_id, begun, at, freed_before + k AS k FROM counted CROSS JOIN LATERAL generate_series(1, freed) AS k
), went AS (
	SELECT slot_id, at, via, out_before + k AS k FROM counted CROSS JOIN LATERAL generate_series(1, out) AS k
), told AS (
	SELECT coalesce(went.via, CASE WHEN came.begun THEN 'empty' ELSE 'ahead' END) AS outcome, extract(epoch FROM went.at - came.at)::float8 AS seconds
	FROM came LEFT JOIN went ON went.slot_id = came.slot_id AND went.k = came.k
)
SELECT coalesce(outcome, 'all') AS outcome, count(*)::int AS seats,
	percentile_cont(ARRAY[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY seconds) AS quartiles
FROM told GROUP BY GROUPING SETS ((outcome), ()) ORDER BY 1`

// FreedSeats tells what became of the seats that were booked and given back:
// by a cancellation, a move away, or a party that became smaller.
func (s *Store) FreedSeats(ctx context.Context, q InsightQuery) ([]FreedSeats, error) {
	return list[FreedSeats](ctx, s.db, freedSeatsSQL, q.args(s.at))
}

// LeadBounds are the lower bounds, in hours before the start, of the classes
// of Lead.Class from 1 on; class 0 is after the start.
var LeadBounds = []int{0, 3, 24, 72, 168, 336, 720}

// Lead counts parties by how long before the start something was done.
type Lead struct {
	What    string // "booked": bookings that stand; "cancelled"
	Channel string // of a cancellation: who did it, "customer", "staff", "api"
	Class   int    // see LeadBounds
	Parties int
	Seats   int
}

const leadsSQL = `-- how long before the start
WITH ` + chosenSlots + `
SELECT x.what, x.channel, x.class, count(*)::int AS parties, sum(x.party_size)::int AS seats FROM (
	SELECT CASE r.state WHEN 'confirmed' THEN 'booked' ELSE 'cancelled' END AS what, CASE r.state WHEN 'confirmed' THEN '' ELSE r.cancelled_by END AS channel,
		width_bucket(extract(epoch FROM c.starts_at - CASE r.state WHEN 'confirmed' THEN r.confirmed_at ELSE r.ended_at END) / 3600, ARRAY[0, 3, 24, 72, 168, 336, 720]::numeric[]) AS class,
		r.party_size
	FROM chosen c JOIN reservations r ON r.tenant_id = c.tenant_id AND r.slot_id = c.id AND r.confirmed_at IS NOT NULL AND r.state IN ('confirmed', 'cancelled')
	WHERE c.status <> 'cancelled'
) x GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`

// Leads tells how long before the start was booked and cancelled.
func (s *Store) Leads(ctx context.Context, q InsightQuery) ([]Lead, error) {
	args := q.args(s.at)
	delete(args, "at")
	return list[Lead](ctx, s.db, leadsSQL, args)
}
