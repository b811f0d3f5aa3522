package store

import (
	"bytes"
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// linkFeed opens the slots of a venue to a calendar program.
const linkFeed purpose = "calendar feed"

// feedRow is what a membership says of its calendar feed.
type feedRow struct {
	Generation int64
	Hash       []byte
	Micros     int64 // now, in Unix time
}

const feedOfMember = `
SELECT feed_generation AS generation, feed_hash AS hash, (extract(epoch FROM coalesce(@at::timestamptz, statement_timestamp())) * 1000000)::bigint AS micros
FROM memberships WHERE tenant_id = @tenant AND staff_id = @staff`

const calendarFeedSQL = `-- calendar feed of a member` + feedOfMember

const lockCalendarFeedSQL = `-- lock calendar feed of a member` + feedOfMember + ` FOR NO KEY UPDATE`

const setCalendarFeedSQL = `-- set calendar feed of a member
UPDATE memberships SET feed_generation = @generation, feed_hash = @hash WHERE tenant_id = @tenant AND staff_id = @staff`

// CalendarFeed gives the secret of a member's calendar feed; empty where there
// is none. NotFound for who is no member of the tenant.
func (s *Store) CalendarFeed(ctx context.Context, tenant, staff string) (string, error) {
	row, err := one[feedRow](ctx, s.db, calendarFeedSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "staff": staff})
	if err != nil || row.Hash == nil {
		return "", err
	}
	token := s.token(linkFeed, tenant, staff, int(row.Generation))
	if !bytes.Equal(tokenHash(token), row.Hash) {
		return "", nil // made with another server secret: it can't be shown any more
	}
	return token, nil
}

// NewCalendarFeed gives a member a new secret address for their calendar; the
// one before opens nothing any more. NotFound for who is no member.
func (s *Store) NewCalendarFeed(ctx context.Context, tenant, staff string) (string, error) {
	var token string
	err := pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		row, err := one[feedRow](ctx, tx, lockCalendarFeedSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "staff": staff})
		if err != nil {
			return err
		}
		// Not the next number alone: a membership that ended and began again would count anew.
		generation := max(row.Generation+1, row.Micros)
		token = s.token(linkFeed, tenant, staff, int(generation))
		_, err = tx.Exec(ctx, setCalendarFeedSQL, pgx.StrictNamedArgs{"tenant": tenant, "staff": staff, "generation": generation, "hash": tokenHash(token)})
		return err
	})
	if err := s.settle("calendar_feed_new", err); err != nil {
		return "", err
	}
	return token, nil
}

const endCalendarFeedSQL = `-- end calendar feed of a member
UPDATE memberships SET feed_hash = NULL WHERE tenant_id = @tenant AND staff_id = @staff`

// EndCalendarFeed ends a member's address; without one nothing changes.
func (s *Store) EndCalendarFeed(ctx context.Context, tenant, staff string) error {
	_, err := s.db.Exec(ctx, endCalendarFeedSQL, pgx.StrictNamedArgs{"tenant": tenant, "staff": staff})
	return s.settle("calendar_feed_end", err)
}

const calendarFeedByTokenSQL = `-- language of the member whose calendar feed it is
SELECT p.locale FROM memberships m JOIN staff p ON p.id = m.staff_id WHERE m.tenant_id = @tenant AND m.feed_hash = @hash`

// CalendarFeedByToken tells in which language the owner of a calendar feed
// reads, "ja" or "en", or empty where they chose none. NotFound where the token
// is no member's, whatever it was before.
func (s *Store) CalendarFeedByToken(ctx context.Context, tenant, token string) (string, error) {
	if !validToken(token) {
		return "", NotFound
	}
	type owner struct{ Locale string }
	found, err := one[owner](ctx, s.db, calendarFeedByTokenSQL, pgx.StrictNamedArgs{"tenant": tenant, "hash": tokenHash(token)})
	return found.Locale, err
}

// FeedSlot is a slot as a calendar shows it: nothing of who comes.
type FeedSlot struct {
	ID         string
	ServiceID  string
	ResourceID string
	StartsAt   time.Time
	EndsAt     time.Time
	Capacity   int
	Taken      int
	Status     SlotStatus
	Version    int64
	ChangedAt  time.Time // when the version came to be
}

// MostFeedSlots bounds a calendar feed: programs refuse files that are much longer.
const MostFeedSlots = 4000

const calendarSlotsSQL = `-- slots of a calendar feed
SELECT s.id::text, s.service_id::text, s.resource_id::text, s.starts_at, s.ends_at, s.capacity, s.taken, s.status, s.version, coalesce(e.at, s.created_at) AS changed_at
FROM slots s LEFT JOIN events e ON e.tenant_id = s.tenant_id AND e.slot_id = s.id AND e.number = s.version
WHERE s.tenant_id = @tenant AND s.starts_at >= @from AND s.starts_at < @to
	AND (@service::text = '' OR s.service_id = NULLIF(@service, '')::uuid)
	AND (@resource::text = '' OR s.resource_id = NULLIF(@resource, '')::uuid)
ORDER BY s.starts_at, s.id LIMIT @limit`

// CalendarSlots lists the slots of a calendar feed by start, cancelled ones too:
// those that begin from q.From to before q.To, of q's service and resource. One
// statement; q.Limit is at most MostFeedSlots, which is also the default.
func (s *Store) CalendarSlots(ctx context.Context, q SlotQuery) ([]FeedSlot, error) {
	if q.Limit <= 0 || q.Limit > MostFeedSlots {
		q.Limit = MostFeedSlots
	}
	return list[FeedSlot](ctx, s.db, calendarSlotsSQL, pgx.StrictNamedArgs{
		"tenant": q.TenantID, "from": q.From, "to": q.To, "service": q.ServiceID, "resource": q.ResourceID, "limit": q.Limit,
	})
}
