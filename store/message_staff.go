package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// The messages that members of a team get of what happens at their venue.
const (
	KindStaffNotice MessageKind = "staff_notice" // a booking, a cancellation, or a message that failed
	KindStaffDigest MessageKind = "staff_digest" // the day ahead
)

// TellsStaff reports whether messages of the kind tell a member of what happens
// at the venue. They have no link that opens anything for whoever holds it.
func (k MessageKind) TellsStaff() bool { return k == KindStaffNotice || k == KindStaffDigest }

// StaffNotices is what a member of a team wants to be told of by mail.
type StaffNotices struct {
	Bookings bool // each new booking that somebody else made
	Cancels  bool // each cancellation that somebody else made
	Failures bool // each message that could not be sent
	DigestAt *int // minutes after midnight at the venue, for the digest of the day; nil: none
}

const staffNoticesSQL = `-- notices of a member
SELECT bookings, cancels, failures, digest_at FROM staff_notices WHERE tenant_id = @tenant AND staff_id = @staff`

// StaffNotices reads what a member wants to be told of: nothing, until they chose.
func (s *Store) StaffNotices(ctx context.Context, tenant, staffID string) (StaffNotices, error) {
	n, err := one[StaffNotices](ctx, s.db, staffNoticesSQL, pgx.StrictNamedArgs{"tenant": tenant, "staff": staffID})
	return n, ignoreNotFound(err)
}

// What is newly wanted is told from now on.
const saveStaffNoticesSQL = `-- save notices of a member
INSERT INTO staff_notices AS n (tenant_id, staff_id, bookings, cancels, failures, digest_at, since)
SELECT m.tenant_id, m.staff_id, @bookings, @cancels, @failures, @digest, (SELECT coalesce(@at::timestamptz, statement_timestamp()))
FROM memberships m WHERE m.tenant_id = @tenant AND m.staff_id = @staff
ON CONFLICT (tenant_id, staff_id) DO UPDATE SET bookings = excluded.bookings, cancels = excluded.cancels, failures = excluded.failures, digest_at = excluded.digest_at,
	since = CASE WHEN (excluded.bookings AND NOT n.bookings) OR (excluded.cancels AND NOT n.cancels) OR (excluded.failures AND NOT n.failures)
		OR excluded.digest_at IS DISTINCT FROM n.digest_at THEN excluded.since ELSE n.since END`

// SaveStaffNotices keeps what a member wants to be told of. NotFound: they do not belong to the team.
func (s *Store) SaveStaffNotices(ctx context.Context, tenant, staffID string, n StaffNotices) error {
	tag, err := s.db.Exec(ctx, saveStaffNoticesSQL, pgx.StrictNamedArgs{
		"at": s.at, "tenant": tenant, "staff": staffID, "bookings": n.Bookings, "cancels": n.Cancels, "failures": n.Failures, "digest": n.DigestAt,
	})
	if err != nil {
		return fmt.Errorf("save notices: %w", classify(err))
	}
	if tag.RowsAffected() == 0 {
		return NotFound
	}
	return nil
}

const tenantsToTellSQL = `-- tenants whose staff want to be told
SELECT DISTINCT n.tenant_id::text FROM staff_notices n
WHERE (n.bookings OR n.cancels OR n.failures OR n.digest_at IS NOT NULL)
	AND NOT EXISTS (SELECT 1 FROM staff_notice_cursors c WHERE c.tenant_id = n.tenant_id AND c.looked_at > coalesce(@at::timestamptz, statement_timestamp()) - interval '2 seconds')
LIMIT 500`

// Events get their ids before they are committed, so one with a lower id may
// appear later: what is younger than this is read again, and the dedupe key
// keeps it from being told again. No transaction lives that long.
const firstNoticeCursorSQL = `-- begin to read for notices
INSERT INTO staff_notice_cursors (tenant_id, last_event, looked_at)
SELECT @tenant, coalesce((SELECT max(id) FROM events WHERE tenant_id = @tenant AND at < n.now - interval '5 minutes'), 0), n.now - interval '1 hour'
FROM (SELECT coalesce(@at::timestamptz, statement_timestamp()) AS now) n
ON CONFLICT (tenant_id) DO NOTHING`

const lockNoticeCursorSQL = `-- lock notice cursor
SELECT last_event, coalesce(@at::timestamptz, statement_timestamp()) AS now FROM staff_notice_cursors
WHERE tenant_id = @tenant AND looked_at <= coalesce(@at::timestamptz, statement_timestamp()) - interval '2 seconds' FOR UPDATE SKIP LOCKED`

// Nobody is told of what they did themselves, nor of each booking of a slot
// that was cancelled as a whole.
const noticeEventsSQL = `-- notices of bookings and cancellations
INSERT INTO outbox (tenant_id, id, kind, slot_id, subject_id, recipient, locale, payload, next_attempt_at, dedupe_key, created_at)
SELECT e.tenant_id, gen_random_uuid(), 'staff_notice', e.slot_id, r.id, s.email, coalesce(NULLIF(s.locale, ''), t.locale),
	jsonb_build_object('staff', s.id, 'about', CASE WHEN e.kind = 'cancelled' THEN 'cancelled' ELSE 'booked' END), @now, 'staff_notice/' || e.id || '/' || s.id, @now
FROM events e
JOIN tenants t ON t.id = e.tenant_id
JOIN reservations r ON r.tenant_id = e.tenant_id AND r.id = CASE WHEN e.kind IN ('accepted', 'claimed') THEN (e.details->>'reservation')::uuid ELSE e.subject_id END
JOIN staff_notices n ON n.tenant_id = e.tenant_id
JOIN staff s ON s.id = n.staff_id
WHERE e.tenant_id = @tenant AND e.id > @last AND e.at >= n.since AND e.actor <> 'staff:' || s.id AND r.erased_at IS NULL
	AND ((n.bookings AND e.kind IN ('confirmed', 'accepted', 'claimed')) OR (n.cancels AND e.kind = 'cancelled' AND NOT e.details ? 'slot_cancelled'))
ON CONFLICT (tenant_id, dedupe_key) DO NOTHING`

// A message that fails is due since its last try, so old failures are not read.
const noticeFailuresSQL = `-- notices of failed messages
INSERT INTO outbox (tenant_id, id, kind, slot_id, subject_id, recipient, locale, payload, next_attempt_at, dedupe_key, created_at)
SELECT o.tenant_id, gen_random_uuid(), 'staff_notice', o.slot_id, o.subject_id, s.email, coalesce(NULLIF(s.locale, ''), t.locale),
	jsonb_build_object('staff', s.id, 'about', 'failed', 'message', o.id), @now, 'staff_notice/' || o.id || '/' || s.id, @now
FROM outbox o
JOIN tenants t ON t.id = o.tenant_id
JOIN staff_notices n ON n.tenant_id = o.tenant_id AND n.failures
JOIN staff s ON s.id = n.staff_id
WHERE o.tenant_id = @tenant AND o.state = 'failed' AND o.erased_at IS NULL AND o.kind NOT LIKE 'staff\_%'
	AND o.next_attempt_at >= n.since AND o.next_attempt_at > @now::timestamptz - interval '48 hours'
ON CONFLICT (tenant_id, dedupe_key) DO NOTHING`

// One a day and member, by the venue's date. A program that comes back hours
// later writes none: the day is then known from the pages.
const noticeDigestsSQL = `-- digests of the day
INSERT INTO outbox (tenant_id, id, kind, recipient, locale, payload, next_attempt_at, dedupe_key, created_at)
SELECT n.tenant_id, gen_random_uuid(), 'staff_digest', s.email, coalesce(NULLIF(s.locale, ''), t.locale), jsonb_build_object('staff', s.id, 'date', to_char(d.due, 'YYYY-MM-DD')),
	@now, 'staff_digest/' || s.id || '/' || to_char(d.due, 'YYYY-MM-DD'), @now
FROM staff_notices n
JOIN tenants t ON t.id = n.tenant_id
JOIN staff s ON s.id = n.staff_id
CROSS JOIN LATERAL (SELECT date_trunc('day', @now::timestamptz AT TIME ZONE t.time_zone) + make_interval(mins => n.digest_at) AS due) d
WHERE n.tenant_id = @tenant AND n.digest_at IS NOT NULL AND d.due AT TIME ZONE t.time_zone BETWEEN greatest(n.since, @now::timestamptz - interval '3 hours') AND @now::timestamptz
ON CONFLICT (tenant_id, dedupe_key) DO NOTHING`

const moveNoticeCursorSQL = `-- move notice cursor
UPDATE staff_notice_cursors SET looked_at = @now,
	last_event = greatest(last_event, (SELECT max(id) FROM events WHERE tenant_id = @tenant AND id > @last AND at < @now::timestamptz - interval '5 minutes'))
WHERE tenant_id = @tenant`

// tellStaff writes to the members of each team what they chose to be told. The
// cursor's row lets one instance at a time read a tenant's history, every two
// seconds; the dedupe keys make each notice one.
func (s *Store) tellStaff(ctx context.Context) error {
	rows, err := s.db.Query(ctx, tenantsToTellSQL, pgx.StrictNamedArgs{"at": s.at})
	if err != nil {
		return err
	}
	tenants, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	var failed error
	for _, tenant := range tenants {
		// One tenant's trouble is not the others'.
		if err := s.tellStaffOf(ctx, tenant); err != nil {
			failed = errors.Join(failed, fmt.Errorf("notices of tenant %s: %w", tenant, err))
		}
	}
	return failed
}

func (s *Store) tellStaffOf(ctx context.Context, tenant string) error {
	return pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, firstNoticeCursorSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant}); err != nil {
			return err
		}
		var last int64
		var now time.Time
		err := tx.QueryRow(ctx, lockNoticeCursorSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant}).Scan(&last, &now)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil // another instance is at it, or was a moment ago
		}
		if err != nil {
			return err
		}
		batch := &pgx.Batch{}
		batch.Queue(noticeEventsSQL, pgx.StrictNamedArgs{"tenant": tenant, "last": last, "now": now})
		batch.Queue(noticeFailuresSQL, pgx.StrictNamedArgs{"tenant": tenant, "now": now})
		batch.Queue(noticeDigestsSQL, pgx.StrictNamedArgs{"tenant": tenant, "now": now})
		batch.Queue(moveNoticeCursorSQL, pgx.StrictNamedArgs{"tenant": tenant, "last": last, "now": now})
		return tx.SendBatch(ctx, batch).Close()
	})
}

// StaffNews is what a mail to a member tells.
type StaffNews struct {
	About   string // "booked", "cancelled", "failed"; empty for the digest
	Name    string // of the member
	Failed  Message
	Date    time.Time // of the digest: midnight at the venue
	Day     []DigestSlot
	Unsent  int // of the digest: messages that have failed
	Waiting int // of the digest: parties that wait
}

// DigestSlot is a slot of the day. Texts are by locale.
type DigestSlot struct {
	ID       string
	StartsAt time.Time
	EndsAt   time.Time
	Service  Text
	Booked   int // seats
	Capacity int
	Waiting  int // parties
}

const digestSlotsSQL = `-- slots of a digest
SELECT s.id::text, s.starts_at, s.ends_at, v.name AS service, s.capacity,
	(SELECT coalesce(sum(r.party_size), 0) FROM reservations r WHERE r.tenant_id = s.tenant_id AND r.slot_id = s.id AND r.state = 'confirmed')::int AS booked,
	(SELECT count(*) FROM waitlist_entries e WHERE e.tenant_id = s.tenant_id AND e.slot_id = s.id AND e.state IN ('waiting', 'offered'))::int AS waiting
FROM slots s JOIN services v ON v.tenant_id = s.tenant_id AND v.id = s.service_id
WHERE s.tenant_id = @tenant AND s.status <> 'cancelled' AND s.starts_at >= @from AND s.starts_at < @until ORDER BY s.starts_at, s.id LIMIT 100`

// staffNews reads what a mail to a member tells, as late as possible. Pointless:
// they left the team, what it was about is gone, or has been put right.
func (s *Store) staffNews(ctx context.Context, l *Letter) error {
	m := l.Message
	text := func(name string) string { v, _ := m.Payload[name].(string); return v }
	member, err := s.StaffByID(ctx, text("staff"))
	if err == nil {
		_, err = s.Membership(ctx, m.TenantID, member.ID)
	}
	if errors.Is(err, NotFound) {
		l.Pointless = true
		return nil
	}
	if err != nil {
		return err
	}
	l.News = &StaffNews{About: text("about"), Name: member.Name}
	if m.Kind == KindStaffDigest {
		return s.digest(ctx, l, text("date"))
	}
	if l.News.About == "failed" {
		l.News.Failed, err = s.Message(ctx, m.TenantID, text("message"))
		l.Pointless = errors.Is(err, NotFound) || (err == nil && l.News.Failed.State != MessageFailed)
		if err = ignoreNotFound(err); err != nil || l.Pointless || l.News.Failed.SlotID == nil {
			return err
		}
	}
	slot, err := s.Slot(ctx, m.TenantID, *m.SlotID)
	if err != nil {
		return err
	}
	l.Slot = &slot
	if l.Service, err = s.Service(ctx, m.TenantID, slot.ServiceID); err != nil {
		return err
	}
	if l.Resource, err = s.resource(ctx, m.TenantID, slot.ResourceID); err != nil {
		return err
	}
	r, err := s.Reservation(ctx, m.TenantID, *m.SubjectID)
	if err == nil {
		l.Reservation = &r
		return nil
	}
	e, err := s.Entry(ctx, m.TenantID, *m.SubjectID)
	if err == nil {
		l.Entry = &e
	}
	return err
}

func (s *Store) digest(ctx context.Context, l *Letter, date string) error {
	day, err := time.ParseInLocation(time.DateOnly, date, l.Tenant.Location())
	if err != nil {
		return fmt.Errorf("digest of %q: %w", date, err)
	}
	l.News.Date = day
	l.News.Day, err = list[DigestSlot](ctx, s.db, digestSlotsSQL, pgx.StrictNamedArgs{"tenant": l.Tenant.ID, "from": day, "until": day.AddDate(0, 0, 1)})
	if err != nil {
		return err
	}
	for _, slot := range l.News.Day {
		l.News.Waiting += slot.Waiting
	}
	counts, err := s.MessageCounts(ctx, l.Tenant.ID)
	l.News.Unsent = counts[MessageFailed]
	return err
}
