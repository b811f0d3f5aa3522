package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// PersonRef is a customer of a tenant: all that was booked and waited for under
// one e-mail address, or, without an address, one booking alone. It is found by
// the id of any of these rows, so that an address stands in no URL.
type PersonRef struct {
	TenantID string
	ID       string // the row by which the person was found
	Key      string // PersonKey; empty without an address
	SlotID   string
	Linked   string // without an address: the entry of the booking, or the booking of the entry; may be empty
	ErasedAt *time.Time
}

const personOfReservationSQL = `-- person of a reservation
SELECT r.tenant_id::text, r.id::text, lower(r.email) AS key, r.slot_id::text, coalesce(r.entry_id::text, '') AS linked, r.erased_at
FROM reservations r WHERE r.tenant_id = @tenant AND r.id = @id`

const personOfEntrySQL = `-- person of an entry
SELECT e.tenant_id::text, e.id::text, lower(e.email) AS key, e.slot_id::text, coalesce(e.reservation_id::text, '') AS linked, e.erased_at
FROM waitlist_entries e WHERE e.tenant_id = @tenant AND e.id = @id`

// PersonOf finds the customer of a reservation or a waitlist entry; NotFound if there is no such row.
func (s *Store) PersonOf(ctx context.Context, tenant, id string) (PersonRef, error) {
	if !ValidID(id) {
		return PersonRef{}, NotFound
	}
	p, err := one[PersonRef](ctx, s.db, personOfReservationSQL, pgx.StrictNamedArgs{"tenant": tenant, "id": id})
	if errors.Is(err, NotFound) {
		p, err = one[PersonRef](ctx, s.db, personOfEntrySQL, pgx.StrictNamedArgs{"tenant": tenant, "id": id})
	}
	return p, err
}

// ids are the rows that are the person's whatever their address.
func (p PersonRef) ids() []string {
	if p.Key != "" {
		return []string{}
	}
	if p.Linked != "" {
		return []string{p.ID, p.Linked}
	}
	return []string{p.ID}
}

func (p PersonRef) args(more string, value any) pgx.StrictNamedArgs {
	return pgx.StrictNamedArgs{"tenant": p.TenantID, "person": p.Key, "ids": p.ids(), more: value}
}

// The rows of a person: each branch reads an index of its own.
const personRows = `WITH mine AS MATERIALIZED (
	SELECT r.id FROM reservations r WHERE r.tenant_id = @tenant AND r.email <> '' AND lower(r.email) = @person
	UNION SELECT r.id FROM reservations r WHERE r.tenant_id = @tenant AND r.id = ANY(@ids::text[]::uuid[])
), waits AS MATERIALIZED (
	SELECT e.id FROM waitlist_entries e WHERE e.tenant_id = @tenant AND e.email <> '' AND lower(e.email) = @person
	UNION SELECT e.id FROM waitlist_entries e WHERE e.tenant_id = @tenant AND e.id = ANY(@ids::text[]::uuid[])
)`

// PersonCounts are the numbers of one customer's history. Bookings are parties, not seats.
type PersonCounts struct {
	Bookings       int // ever confirmed
	Upcoming       int // confirmed, and the slot has not begun
	Visits         int // arrived
	NoShows        int
	Unmarked       int // over, and nobody noted whether they came
	ByCustomer     int // cancelled by the customer
	Late           int // of these: after the time until which customers may cancel, or within a day of the start
	ByVenue        int // cancelled by staff, by another system, or with the slot
	Waits          int // joined a waitlist
	LiveWaits      int // waiting or offered now
	Offers         int
	OffersAccepted int
	OffersLapsed   int
	OffersDeclined int
	First          *time.Time // of the first booking or wait
}

const personCountsSQL = `-- counts of a person
` + personRows + `, booked AS (
	SELECT count(*) FILTER (WHERE r.confirmed_at IS NOT NULL)::int AS bookings,
		count(*) FILTER (WHERE r.state = 'confirmed' AND s.starts_at > n.now)::int AS upcoming,
		count(*) FILTER (WHERE r.state = 'confirmed' AND r.attendance = 'arrived')::int AS visits,
		count(*) FILTER (WHERE r.state = 'confirmed' AND r.attendance = 'no_show')::int AS no_shows,
		count(*) FILTER (WHERE r.state = 'confirmed' AND r.attendance = '' AND s.ends_at <= n.now)::int AS unmarked,
		count(*) FILTER (WHERE r.state = 'cancelled' AND r.confirmed_at IS NOT NULL AND r.cancelled_by = 'customer')::int AS by_customer,
		count(*) FILTER (WHERE r.state = 'cancelled' AND r.confirmed_at IS NOT NULL AND r.cancelled_by = 'customer'
			AND r.ended_at >= s.starts_at - greatest(s.cancel_before, interval '24 hours'))::int AS late,
		count(*) FILTER (WHERE r.state = 'cancelled' AND r.confirmed_at IS NOT NULL AND r.cancelled_by <> 'customer')::int AS by_venue,
		min(r.created_at) AS first
	FROM (SELECT coalesce(@at::timestamptz, statement_timestamp()) AS now) n
	CROSS JOIN mine JOIN reservations r ON r.tenant_id = @tenant AND r.id = mine.id JOIN slots s ON s.tenant_id = r.tenant_id AND s.id = r.slot_id
), waited AS (
	SELECT count(*)::int AS waits, count(*) FILTER (WHERE e.state IN ('waiting', 'offered'))::int AS live_waits,
		count(*) FILTER (WHERE e.offered_at IS NOT NULL)::int AS offers,
		count(*) FILTER (WHERE e.offered_at IS NOT NULL AND e.state = 'accepted')::int AS offers_accepted,
		count(*) FILTER (WHERE e.state = 'lapsed')::int AS offers_lapsed, count(*) FILTER (WHERE e.state = 'declined')::int AS offers_declined,
		min(e.joined_at) AS first
	FROM waits JOIN waitlist_entries e ON e.tenant_id = @tenant AND e.id = waits.id
)
SELECT b.bookings, b.upcoming, b.visits, b.no_shows, b.unmarked, b.by_customer, b.late, b.by_venue,
	w.waits, w.live_waits, w.offers, w.offers_accepted, w.offers_lapsed, w.offers_declined, least(b.first, w.first) AS first
FROM booked b CROSS JOIN waited w`

// PersonCounts counts a customer's history.
func (s *Store) PersonCounts(ctx context.Context, p PersonRef) (PersonCounts, error) {
	return one[PersonCounts](ctx, s.db, personCountsSQL, p.args("at", s.at))
}

// PersonLine is one reservation or one wait in a customer's history.
type PersonLine struct {
	ID          string
	IsEntry     bool
	SlotID      string
	ServiceID   string
	ResourceID  string
	StartsAt    time.Time
	EndsAt      time.Time
	SlotStatus  SlotStatus
	State       string // of a reservation or an entry
	Number      string // of a reservation
	PartySize   int
	Attendance  string
	Source      Source
	CancelledBy string
	At          time.Time // booked, or joined
	EndedAt     *time.Time
	Note        string
	Upcoming    bool
}

// The slot of each line is found by its key: the planner can't know how few the
// lines of a person are, and would read all slots.
const personLinesSQL = `-- history of a person
` + personRows + `
SELECT x.id::text, x.is_entry, x.slot_id::text, s.service_id::text, s.resource_id::text, s.starts_at, s.ends_at, s.status AS slot_status, x.state, x.number,
	x.party_size, x.attendance, x.source, x.cancelled_by, x.at, x.ended_at, x.note,
	s.starts_at > coalesce(@at::timestamptz, statement_timestamp()) AND x.live AS upcoming
FROM (
	SELECT r.id, false AS is_entry, r.tenant_id, r.slot_id, r.state, r.number, r.party_size, r.attendance, r.source, r.cancelled_by, coalesce(r.confirmed_at, r.created_at) AS at,
		r.ended_at, r.note, r.state IN ('held', 'confirmed') AS live
	FROM mine JOIN reservations r ON r.tenant_id = @tenant AND r.id = mine.id
	UNION ALL
	SELECT e.id, true, e.tenant_id, e.slot_id, e.state, '', e.party_size, '', e.source, '', e.joined_at, e.ended_at, e.note, e.state IN ('waiting', 'offered')
	FROM waits JOIN waitlist_entries e ON e.tenant_id = @tenant AND e.id = waits.id
) x CROSS JOIN LATERAL (
	SELECT l.service_id, l.resource_id, l.starts_at, l.ends_at, l.status FROM slots l WHERE l.tenant_id = x.tenant_id AND l.id = x.slot_id LIMIT 1
) s
WHERE (@upcoming::boolean AND s.starts_at > coalesce(@at::timestamptz, statement_timestamp()) AND x.live)
	OR (NOT @upcoming::boolean AND NOT (s.starts_at > coalesce(@at::timestamptz, statement_timestamp()) AND x.live)
		AND (@after_id::text = '' OR (s.starts_at, x.id) < (@after::timestamptz, NULLIF(@after_id, '')::uuid)))
ORDER BY CASE WHEN @upcoming::boolean THEN s.starts_at END, CASE WHEN NOT @upcoming::boolean THEN s.starts_at END DESC, x.id DESC
LIMIT @limit`

// PersonUpcoming lists what a customer has ahead: bookings and waits that live, the nearest first, at most limit.
func (s *Store) PersonUpcoming(ctx context.Context, p PersonRef, limit int) ([]PersonLine, error) {
	return s.personLines(ctx, p, true, time.Time{}, "", limit)
}

// PersonPast lists the rest of a customer's history, the newest slot first. With
// afterID it goes on after that line, whose slot starts at after.
func (s *Store) PersonPast(ctx context.Context, p PersonRef, after time.Time, afterID string, limit int) ([]PersonLine, error) {
	return s.personLines(ctx, p, false, after, afterID, limit)
}

func (s *Store) personLines(ctx context.Context, p PersonRef, upcoming bool, after time.Time, afterID string, limit int) ([]PersonLine, error) {
	args := p.args("at", s.at)
	args["upcoming"], args["after"], args["after_id"], args["limit"] = upcoming, after, afterID, limit
	return list[PersonLine](ctx, s.db, personLinesSQL, args)
}

// PersonContact is a contact that a customer gave, and when last.
type PersonContact struct {
	Name   string
	Kana   string
	Email  string
	Phone  string
	Locale string
	At     time.Time
}

const personContactsSQL = `-- contacts of a person
` + personRows + `
SELECT x.name, x.kana, x.email, x.phone, (array_agg(x.locale ORDER BY x.at DESC))[1] AS locale, max(x.at) AS at FROM (
	SELECT r.name, r.kana, r.email, r.phone, r.locale, coalesce(r.confirmed_at, r.created_at) AS at FROM mine JOIN reservations r ON r.tenant_id = @tenant AND r.id = mine.id AND r.erased_at IS NULL
	UNION ALL
	SELECT e.name, e.kana, e.email, e.phone, e.locale, e.joined_at FROM waits JOIN waitlist_entries e ON e.tenant_id = @tenant AND e.id = waits.id AND e.erased_at IS NULL
) x GROUP BY x.name, x.kana, x.email, x.phone ORDER BY max(x.at) DESC LIMIT @limit`

// PersonContacts lists the contacts that a customer gave, the last one first.
func (s *Store) PersonContacts(ctx context.Context, p PersonRef, limit int) ([]PersonContact, error) {
	return list[PersonContact](ctx, s.db, personContactsSQL, p.args("limit", limit))
}

// PersonSummary is a customer in a list: the contact as last given, and counts.
type PersonSummary struct {
	ID          string // of the last booking, by which the person is found
	Name        string
	Kana        string
	Email       string
	Phone       string
	Bookings    int
	NoShows     int
	ConfirmedAt time.Time // the last booking
}

// The last booking of each, so that nobody stands in the list twice.
const recentPeopleSQL = `-- customers by their last booking
SELECT p.id::text, p.name, p.kana, p.email, p.phone, c.bookings, c.no_shows, p.confirmed_at FROM (
	SELECT r.tenant_id, r.id, r.name, r.kana, r.email, r.phone, r.confirmed_at FROM reservations r
	WHERE r.tenant_id = @tenant AND r.email <> '' AND r.confirmed_at IS NOT NULL
		AND (@after_id::text = '' OR (r.confirmed_at, r.id) < (@after::timestamptz, NULLIF(@after_id, '')::uuid))
		AND NOT EXISTS (SELECT 1 FROM reservations n WHERE n.tenant_id = r.tenant_id AND n.email <> '' AND lower(n.email) = lower(r.email)
			AND n.confirmed_at IS NOT NULL AND (n.confirmed_at, n.id) > (r.confirmed_at, r.id))
	ORDER BY r.confirmed_at DESC, r.id DESC LIMIT @limit
) p
CROSS JOIN LATERAL (
	SELECT count(*) FILTER (WHERE x.confirmed_at IS NOT NULL)::int AS bookings, count(*) FILTER (WHERE x.state = 'confirmed' AND x.attendance = 'no_show')::int AS no_shows
	FROM reservations x WHERE x.tenant_id = p.tenant_id AND x.email <> '' AND lower(x.email) = lower(p.email)
) c
ORDER BY p.confirmed_at DESC, p.id DESC`

// RecentPeople lists customers by their last booking, newest first; with afterID it goes on after that one.
func (s *Store) RecentPeople(ctx context.Context, tenant string, after time.Time, afterID string, limit int) ([]PersonSummary, error) {
	return list[PersonSummary](ctx, s.db, recentPeopleSQL, pgx.StrictNamedArgs{"tenant": tenant, "after": after, "after_id": afterID, "limit": limit})
}

// PersonExport is all that is stored about a customer, without secrets: no link, no hash.
type PersonExport struct {
	Reservations []PersonReservation
	Entries      []PersonEntry
	Messages     []PersonMessage
	Events       []PersonEvent
	// Cut says that there is more than PersonExportMost of a kind, which are left out.
	Cut bool
}

// PersonExportMost is how many rows of each kind are exported at most.
const PersonExportMost = 10000

// PersonReservation is a reservation with all that is stored about its person.
type PersonReservation struct {
	ID             string
	Number         string
	SlotID         string
	ServiceID      string
	ResourceID     string
	StartsAt       time.Time
	EndsAt         time.Time
	State          string
	PartySize      int
	Name           string
	Kana           string
	Email          string
	EmailNew       string
	Phone          string
	Note           string
	Answers        map[string]string
	Locale         string
	Source         Source
	Attendance     string
	ConsentVersion string
	ConsentedAt    *time.Time
	CancelledBy    string
	CancelReason   string
	PressAddr      string
	PressAgent     string
	CreatedAt      time.Time
	ConfirmedAt    *time.Time
	EndedAt        *time.Time
	LineUser       string // LINE's id of who gets the messages; empty: nobody
	LineAt         *time.Time
}

const personExportReservationsSQL = `-- export reservations of a person
` + personRows + `
SELECT r.id::text, r.number, r.slot_id::text, s.service_id::text, s.resource_id::text, s.starts_at, s.ends_at, r.state, r.party_size, r.name, r.kana, r.email, r.email_new,
	r.phone, r.note, r.answers, r.locale, r.source, r.attendance, r.consent_version, r.consented_at, r.cancelled_by, r.cancel_reason, r.press_addr, r.press_agent,
	r.created_at, r.confirmed_at, r.ended_at, r.line_user, r.line_at
FROM mine JOIN reservations r ON r.tenant_id = @tenant AND r.id = mine.id JOIN slots s ON s.tenant_id = r.tenant_id AND s.id = r.slot_id
ORDER BY r.created_at, r.id LIMIT @limit`

// PersonEntry is a waitlist entry with all that is stored about its person.
type PersonEntry struct {
	ID             string
	SlotID         string
	ServiceID      string
	ResourceID     string
	StartsAt       time.Time
	EndsAt         time.Time
	State          string
	PartySize      int
	Name           string
	Kana           string
	Email          string
	Phone          string
	Note           string
	Answers        map[string]string
	Locale         string
	Source         Source
	Reason         string
	ConsentVersion string
	ConsentedAt    *time.Time
	PressAddr      string
	PressAgent     string
	JoinedAt       time.Time
	OfferedAt      *time.Time
	EndedAt        *time.Time
	LineUser       string // as of a reservation
	LineAt         *time.Time
}

const personExportEntriesSQL = `-- export entries of a person
` + personRows + `
SELECT e.id::text, e.slot_id::text, s.service_id::text, s.resource_id::text, s.starts_at, s.ends_at, e.state, e.party_size, e.name, e.kana, e.email, e.phone, e.note, e.answers,
	e.locale, e.source, e.reason, e.consent_version, e.consented_at, e.press_addr, e.press_agent, e.joined_at, e.offered_at, e.ended_at,
	e.line_user, e.line_at
FROM waits JOIN waitlist_entries e ON e.tenant_id = @tenant AND e.id = waits.id JOIN slots s ON s.tenant_id = e.tenant_id AND s.id = e.slot_id
ORDER BY e.joined_at, e.id LIMIT @limit`

// PersonMessage is a message as it was sent; its secret links have to be taken out before it is shown to anybody else.
type PersonMessage struct {
	ID        string
	Kind      MessageKind
	SubjectID string // of the reservation or the entry; empty: about all of them
	Recipient string
	Locale    string
	State     MessageState
	Subject   string
	Text      string
	CreatedAt time.Time
	SentAt    *time.Time
}

const personExportMessagesSQL = `-- export messages of a person
` + personRows + `
SELECT o.id::text, o.kind, coalesce(o.subject_id::text, '') AS subject_id, o.recipient, o.locale, o.state, o.sent_subject AS subject, o.sent_text AS text, o.created_at, o.sent_at
FROM (
	SELECT o.id FROM outbox o WHERE o.tenant_id = @tenant AND o.subject_id IN (SELECT id FROM mine UNION ALL SELECT id FROM waits)
	UNION SELECT o.id FROM outbox o WHERE o.tenant_id = @tenant AND o.recipient <> '' AND lower(o.recipient) = @person
) found JOIN outbox o ON o.tenant_id = @tenant AND o.id = found.id
ORDER BY o.created_at, o.id LIMIT @limit`

// PersonEvent is a line of the history of a slot that is about the person.
type PersonEvent struct {
	SlotID    string
	SubjectID string
	Kind      EventKind
	Actor     string // "customer", "staff:ID", "api:ID", "system"
	PartySize int
	At        time.Time
	Reason    string
}

const personExportEventsSQL = `-- export events of a person
` + personRows + `
SELECT v.slot_id::text, v.subject_id::text, v.kind, v.actor, v.party_size, v.at, coalesce(v.details->>'reason', '') AS reason
FROM events v WHERE v.tenant_id = @tenant AND v.subject_id IN (SELECT id FROM mine UNION ALL SELECT id FROM waits)
ORDER BY v.at, v.id LIMIT @limit`

// ExportPerson reads all that is stored about a customer, as it stood at one instant.
func (s *Store) ExportPerson(ctx context.Context, p PersonRef) (PersonExport, error) {
	var out PersonExport
	err := pgx.BeginTxFunc(ctx, s.db, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		args := p.args("limit", PersonExportMost+1)
		var err error
		if out.Reservations, err = list[PersonReservation](ctx, tx, personExportReservationsSQL, args); err != nil {
			return err
		}
		if out.Entries, err = list[PersonEntry](ctx, tx, personExportEntriesSQL, args); err != nil {
			return err
		}
		if out.Messages, err = list[PersonMessage](ctx, tx, personExportMessagesSQL, args); err != nil {
			return err
		}
		out.Events, err = list[PersonEvent](ctx, tx, personExportEventsSQL, args)
		return err
	})
	if err != nil {
		return PersonExport{}, classify(err)
	}
	cutTo(&out.Reservations, &out.Cut)
	cutTo(&out.Entries, &out.Cut)
	cutTo(&out.Messages, &out.Cut)
	cutTo(&out.Events, &out.Cut)
	return out, nil
}

func cutTo[T any](rows *[]T, cut *bool) {
	if len(*rows) > PersonExportMost {
		*rows, *cut = (*rows)[:PersonExportMost], true
	}
}
