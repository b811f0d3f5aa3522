package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// ReservationState is where a reservation stands in its life.
type ReservationState string

// The states of a reservation: held, then confirmed; or one of the ends.
const (
	Held      ReservationState = "held"
	Confirmed ReservationState = "confirmed"
	Released  ReservationState = "released"
	ExpiredR  ReservationState = "expired"
	Cancelled ReservationState = "cancelled"
)

// Source is the door through which a reservation or an entry came.
type Source string

// The doors.
const (
	SourceWeb      Source = "web"
	SourceStaff    Source = "staff"
	SourceAPI      Source = "api"
	SourceWaitlist Source = "waitlist"
)

// Reservation is a party's seats in a slot. Times are instants in UTC.
type Reservation struct {
	ID           string
	TenantID     string
	SlotID       string
	PartySize    int
	State        ReservationState
	Number       string
	Name         string
	Kana         string
	Email        string
	Phone        string
	Note         string
	Answers      map[string]string // to the questions of the service, by their id
	Locale       string
	Owner        string
	ShownUntil   *time.Time // held: the deadline that people read
	ExpiresAt    *time.Time // held: the enforced deadline; never shown
	TermsVersion int
	OnePerPerson bool
	ExtendedAt   *time.Time
	ExtraSeats   int
	GroupID      *string
	GroupSize    *int
	Source       Source
	EntryID      *string
	Attendance   string // "", "arrived", "no_show"
	CancelledBy  string // "customer", "staff", "api"
	CancelReason string
	Sequence     int
	CreatedAt    time.Time
	ConfirmedAt  *time.Time
	EndedAt      *time.Time
	Generation   int `db:"link_generation"`
	// An address that was named and is not confirmed yet; until when people read that it can be; how many were named.
	EmailNew        string
	EmailUntil      *time.Time
	EmailGeneration int
	Now             time.Time // when it was read
}

// Live reports whether the reservation has seats.
func (r Reservation) Live() bool { return r.State == Held || r.State == Confirmed }

const reservationColumns = `r.id::text, r.tenant_id::text, r.slot_id::text, r.party_size, r.state, r.number, r.name, r.kana, r.email, r.phone, r.note, r.answers, r.locale,
	r.owner, r.shown_until, r.expires_at, r.terms_version, r.one_per_person, r.extended_at, r.extra_seats, r.group_id::text, r.group_size, r.source,
	r.entry_id::text, r.attendance, r.cancelled_by, r.cancel_reason, r.sequence, r.created_at, r.confirmed_at, r.ended_at, r.link_generation,
	r.email_new, r.email_until, r.email_generation`

// ReservationToken is the secret of the reservation's link.
func (s *Store) ReservationToken(r Reservation) string {
	return s.token(linkReservation, r.TenantID, r.ID, r.Generation)
}

const reservationByTokenSQL = `-- reservation by token
SELECT ` + reservationColumns + `, coalesce(@at::timestamptz, statement_timestamp()) AS now
FROM reservations r WHERE r.tenant_id = @tenant AND r.link_hash = @hash`

// ReservationByToken finds the reservation that a link opens; NotFound if none.
func (s *Store) ReservationByToken(ctx context.Context, tenant, token string) (Reservation, error) {
	if !validToken(token) {
		return Reservation{}, NotFound
	}
	return one[Reservation](ctx, s.db, reservationByTokenSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "hash": tokenHash(token)})
}

const reservationSQL = `-- reservation
SELECT ` + reservationColumns + `, coalesce(@at::timestamptz, statement_timestamp()) AS now
FROM reservations r WHERE r.tenant_id = @tenant AND r.id = @id`

// Reservation finds a reservation by its id; NotFound if none.
func (s *Store) Reservation(ctx context.Context, tenant, id string) (Reservation, error) {
	return one[Reservation](ctx, s.db, reservationSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "id": id})
}

const groupSQL = `-- reservations of a group
SELECT ` + reservationColumns + `, coalesce(@at::timestamptz, statement_timestamp()) AS now
FROM reservations r WHERE r.tenant_id = @tenant AND r.group_id = @group ORDER BY r.slot_id LIMIT 100`

// Group lists the reservations that were held together, by slot id.
func (s *Store) Group(ctx context.Context, tenant, group string) ([]Reservation, error) {
	return list[Reservation](ctx, s.db, groupSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "group": group})
}

const ownHoldSQL = `-- own hold
SELECT ` + reservationColumns + `, n.now
FROM (SELECT coalesce(@at::timestamptz, statement_timestamp()) AS now) n, reservations r
WHERE r.tenant_id = @tenant AND r.slot_id = @slot AND r.owner = @owner AND r.state = 'held' AND r.expires_at > n.now
ORDER BY r.created_at DESC LIMIT 1`

// OwnHold finds the visitor's newest live hold in a slot; NotFound if none.
func (s *Store) OwnHold(ctx context.Context, tenant, slot, owner string) (Reservation, error) {
	return one[Reservation](ctx, s.db, ownHoldSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "slot": slot, "owner": owner})
}

const rosterSQL = `-- roster
SELECT ` + reservationColumns + `, coalesce(@at::timestamptz, statement_timestamp()) AS now
FROM reservations r WHERE r.tenant_id = @tenant AND r.slot_id = @slot
ORDER BY CASE r.state WHEN 'confirmed' THEN 0 WHEN 'held' THEN 1 ELSE 2 END, nullif(r.kana, '') COLLATE "ja-x-icu" NULLS LAST, r.name, r.created_at
LIMIT 2000`

// Roster lists the reservations of a slot: confirmed in kana order, then held, then ended ones.
func (s *Store) Roster(ctx context.Context, tenant, slot string) ([]Reservation, error) {
	return list[Reservation](ctx, s.db, rosterSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "slot": slot})
}
