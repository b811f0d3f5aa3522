package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// ExportQuery chooses what an export holds, as its page shows it.
type ExportQuery struct {
	TenantID   string
	From, To   time.Time // of the slot's start; From included, To not
	ServiceID  string    // empty: all
	ResourceID string    // empty: all
	// State chooses reservations and their customers: "" for booked and cancelled ones, "confirmed", "arrived", "no_show", "cancelled".
	State string
}

func (q ExportQuery) args() pgx.StrictNamedArgs {
	return pgx.StrictNamedArgs{"tenant": q.TenantID, "from": q.From, "to": q.To, "service": q.ServiceID, "resource": q.ResourceID}
}

// ExportStates lists what ExportQuery.State may be.
var ExportStates = []string{"", "confirmed", "arrived", "no_show", "cancelled"}

// ExportCounts are the lines that the exports of a query have.
type ExportCounts struct {
	Reservations int
	Entries      int
	Customers    int
}

// ExportedReservation is a reservation with the slot that it is in.
type ExportedReservation struct {
	Reservation
	ServiceID  string
	ResourceID string
	StartsAt   time.Time
	EndsAt     time.Time
}

// ExportedEntry is a waitlist entry with the slot that it waits for.
type ExportedEntry struct {
	Entry
	ServiceID  string
	ResourceID string
	StartsAt   time.Time
	EndsAt     time.Time
}

// ExportedCustomer is what a business knows about one person: those without an
// address are told apart by telephone, or else by name.
type ExportedCustomer struct {
	Key       string // tells the person apart; never shown
	Name      string // as in the newest booking, as all of the contact
	Kana      string
	Email     string
	Phone     string
	Booked    int // bookings that were not cancelled
	Arrived   int
	NoShows   int
	Cancelled int
	People    int       // in those that were not cancelled
	First     time.Time // start of the earliest slot
	Last      time.Time
}

// exportPage is how many lines are read at once; the whole is never in memory.
const exportPage = 500

// exportCustomerPage is larger, since each page groups anew what it has not told yet.
const exportCustomerPage = 5000

// The slots of an export, and which reservations of theirs.
const exportSlots = `s.tenant_id = @tenant AND s.starts_at >= @from AND s.starts_at < @to
	AND (@service::text = '' OR s.service_id = NULLIF(@service, '')::uuid)
	AND (@resource::text = '' OR s.resource_id = NULLIF(@resource, '')::uuid)`

const exportStates = ` AND CASE @state::text WHEN '' THEN r.state IN ('confirmed', 'cancelled') WHEN 'confirmed' THEN r.state = 'confirmed'
	WHEN 'cancelled' THEN r.state = 'cancelled' ELSE r.state = 'confirmed' AND r.attendance = @state END`

// Whoever is erased is nobody any more.
const exportPerson = `CASE WHEN r.email <> '' THEN lower(r.email) WHEN r.phone <> '' THEN r.phone ELSE r.name || ' ' || r.kana END COLLATE "C"`

const exportCountsSQL = `-- count an export
SELECT (SELECT count(*) FROM slots s JOIN reservations r ON r.tenant_id = s.tenant_id AND r.slot_id = s.id WHERE ` + exportSlots + exportStates + `)::int AS reservations,
	(SELECT count(*) FROM slots s JOIN waitlist_entries e ON e.tenant_id = s.tenant_id AND e.slot_id = s.id WHERE ` + exportSlots + `)::int AS entries,
	(SELECT count(DISTINCT ` + exportPerson + `) FROM slots s JOIN reservations r ON r.tenant_id = s.tenant_id AND r.slot_id = s.id
		WHERE ` + exportSlots + exportStates + ` AND r.name || r.kana || r.email || r.phone <> '')::int AS customers`

// CountExport counts the lines of the exports of a query. One statement.
func (s *Store) CountExport(ctx context.Context, q ExportQuery) (ExportCounts, error) {
	args := q.args()
	args["state"] = q.State
	return one[ExportCounts](ctx, s.db, exportCountsSQL, args)
}

const exportReservationsSQL = `-- export reservations
SELECT ` + reservationColumns + `, coalesce(@at::timestamptz, statement_timestamp()) AS now, s.service_id::text, s.resource_id::text, s.starts_at, s.ends_at
FROM slots s JOIN reservations r ON r.tenant_id = s.tenant_id AND r.slot_id = s.id
WHERE ` + exportSlots + exportStates + `
	AND s.starts_at >= @after AND (s.starts_at, s.id, r.id) > (@after::timestamptz, @after_slot::uuid, @after_id::uuid)
ORDER BY s.starts_at, s.id, r.id LIMIT @limit`

// before is a key in front of all others.
const before = "00000000-0000-0000-0000-000000000000"

// ExportReservations hands over the reservations of a query one by one, by start
// of the slot; an error of each ends it. It reads some at a time: what changes
// meanwhile may be in it or not, but nothing is told twice.
func (s *Store) ExportReservations(ctx context.Context, q ExportQuery, each func(ExportedReservation) error) error {
	last := ExportedReservation{StartsAt: q.From}
	last.SlotID, last.ID = before, before
	return pages(exportPage, func() ([]ExportedReservation, error) {
		args := q.args()
		args["at"], args["state"], args["limit"] = s.at, q.State, exportPage
		args["after"], args["after_slot"], args["after_id"] = last.StartsAt, last.SlotID, last.ID
		return list[ExportedReservation](ctx, s.db, exportReservationsSQL, args)
	}, func(r ExportedReservation) error {
		last = r
		return each(r)
	})
}

const exportEntriesSQL = `-- export entries
SELECT ` + entryColumns + `, 0 AS place, 0 AS of, coalesce(@at::timestamptz, statement_timestamp()) AS now, s.service_id::text, s.resource_id::text, s.starts_at, s.ends_at
FROM slots s JOIN waitlist_entries e ON e.tenant_id = s.tenant_id AND e.slot_id = s.id
WHERE ` + exportSlots + `
	AND s.starts_at >= @after AND (s.starts_at, s.id, e.position, e.id) > (@after::timestamptz, @after_slot::uuid, @after_position::bigint, @after_id::uuid)
ORDER BY s.starts_at, s.id, e.position, e.id LIMIT @limit`

// ExportEntries hands over the waitlist entries of a query in all states, by start
// of the slot and in the order of the queue, as ExportReservations does.
func (s *Store) ExportEntries(ctx context.Context, q ExportQuery, each func(ExportedEntry) error) error {
	last := ExportedEntry{StartsAt: q.From}
	last.SlotID, last.ID = before, before
	return pages(exportPage, func() ([]ExportedEntry, error) {
		args := q.args()
		args["at"], args["limit"] = s.at, exportPage
		args["after"], args["after_slot"], args["after_position"], args["after_id"] = last.StartsAt, last.SlotID, last.Position, last.ID
		return list[ExportedEntry](ctx, s.db, exportEntriesSQL, args)
	}, func(e ExportedEntry) error {
		last = e
		return each(e)
	})
}

const exportCustomersSQL = `-- export customers
SELECT key, (array_agg(name ORDER BY starts_at DESC))[1] AS name, (array_agg(kana ORDER BY starts_at DESC))[1] AS kana,
	(array_agg(email ORDER BY starts_at DESC))[1] AS email, (array_agg(phone ORDER BY phone = '', starts_at DESC))[1] AS phone,
	count(*) FILTER (WHERE state = 'confirmed')::int AS booked, count(*) FILTER (WHERE state = 'confirmed' AND attendance = 'arrived')::int AS arrived,
	count(*) FILTER (WHERE state = 'confirmed' AND attendance = 'no_show')::int AS no_shows, count(*) FILTER (WHERE state = 'cancelled')::int AS cancelled,
	coalesce(sum(party_size) FILTER (WHERE state = 'confirmed'), 0)::int AS people, min(starts_at) AS first, max(starts_at) AS last
FROM (
	SELECT ` + exportPerson + ` AS key, r.name, r.kana, r.email, r.phone, r.state, r.attendance, r.party_size, s.starts_at
	FROM slots s JOIN reservations r ON r.tenant_id = s.tenant_id AND r.slot_id = s.id
	WHERE ` + exportSlots + exportStates + ` AND r.name || r.kana || r.email || r.phone <> ''
) p
WHERE key > @after::text COLLATE "C"
GROUP BY key ORDER BY key LIMIT @limit`

// ExportCustomers hands over the people who have a reservation of the query, each
// once, as ExportReservations does.
func (s *Store) ExportCustomers(ctx context.Context, q ExportQuery, each func(ExportedCustomer) error) error {
	last := ""
	return pages(exportCustomerPage, func() ([]ExportedCustomer, error) {
		args := q.args()
		args["state"], args["after"], args["limit"] = q.State, last, exportCustomerPage
		return list[ExportedCustomer](ctx, s.db, exportCustomersSQL, args)
	}, func(c ExportedCustomer) error {
		last = c.Key
		return each(c)
	})
}

// pages reads until a page is not full.
func pages[T any](size int, read func() ([]T, error), each func(T) error) error {
	for {
		rows, err := read()
		if err != nil {
			return err
		}
		for _, row := range rows {
			if err := each(row); err != nil {
				return err
			}
		}
		if len(rows) < size {
			return nil
		}
	}
}
