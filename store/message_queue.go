package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// MessageCount counts the messages of one state and kind.
type MessageCount struct {
	State MessageState
	Kind  MessageKind
	Count int
	// Late of them wait for longer than five minutes, since Since; Error is what
	// the oldest of these last met. Of a tenant as a whole only, else zero.
	Late  int
	Since *time.Time
	Error string
}

// All messages are counted from the index alone; of the few that wait the rows are read.
const messageTallySQL = `-- messages by state and kind
WITH late AS (
	SELECT state, kind, count(*)::int AS late, min(created_at) AS since,
		coalesce((array_agg(last_error ORDER BY created_at) FILTER (WHERE last_error <> ''))[1], '') AS error
	FROM outbox WHERE tenant_id = @tenant AND state IN ('pending', 'sending') AND created_at < coalesce(@at::timestamptz, statement_timestamp()) - interval '5 minutes'
	GROUP BY state, kind
), counted AS (
	SELECT state, kind, count(*)::int AS count FROM outbox WHERE tenant_id = @tenant GROUP BY state, kind
)
SELECT c.state, c.kind, c.count, coalesce(l.late, 0) AS late, l.since, coalesce(l.error, '') AS error
FROM counted c LEFT JOIN late l USING (state, kind) ORDER BY c.state, c.kind`

const messageTallyOfSQL = `-- messages of a booking or a slot by state and kind
SELECT state, kind, count(*)::int AS count, 0 AS late, NULL::timestamptz AS since, '' AS error FROM outbox
WHERE tenant_id = @tenant AND (@subject::text = '' OR subject_id = NULLIF(@subject, '')::uuid) AND (@slot::text = '' OR slot_id = NULLIF(@slot, '')::uuid)
GROUP BY state, kind ORDER BY state, kind`

// MessageTally counts the messages of a tenant, or of one booking, entry or slot
// (subject, slot; empty: of all), by state and kind. One statement.
func (s *Store) MessageTally(ctx context.Context, tenant, subject, slot string) ([]MessageCount, error) {
	if subject != "" || slot != "" {
		return list[MessageCount](ctx, s.db, messageTallyOfSQL, pgx.StrictNamedArgs{"tenant": tenant, "subject": subject, "slot": slot})
	}
	return list[MessageCount](ctx, s.db, messageTallySQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant})
}

// mostRetried bounds one press: the rest is for the next.
const mostRetried = 200

// The oldest first: they are awaited longest.
const retryFailedSQL = `-- retry failed messages
WITH failed AS MATERIALIZED (
	SELECT id FROM outbox WHERE tenant_id = @tenant AND state = 'failed' AND erased_at IS NULL ORDER BY created_at, id LIMIT @limit FOR UPDATE SKIP LOCKED
)
UPDATE outbox o SET state = 'pending', attempts = 0, next_attempt_at = (SELECT coalesce(@at::timestamptz, statement_timestamp()))
FROM failed WHERE o.tenant_id = @tenant AND o.id = failed.id`

// RetryFailedMessages puts up to 200 failed messages of a tenant back into the
// queue, and tells how many. Two presses at once never take the same one. What
// has become pointless meanwhile is not sent: the dispatcher sees to it.
func (s *Store) RetryFailedMessages(ctx context.Context, tenant string) (int, error) {
	tag, err := s.db.Exec(ctx, retryFailedSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "limit": mostRetried})
	if err != nil {
		return 0, fmt.Errorf("retry failed messages: %w", classify(err))
	}
	return int(tag.RowsAffected()), nil
}

// A message that is being sent can't be given up: it may have arrived.
const giveUpMessageSQL = `-- give up message
WITH m AS (
	UPDATE outbox SET state = 'obsolete', given_up_at = (SELECT coalesce(@at::timestamptz, statement_timestamp())), given_up_by = @actor
	WHERE tenant_id = @tenant AND id = @id AND state IN ('pending', 'failed')
	RETURNING kind, slot_id, subject_id, given_up_at
), e AS (
	INSERT INTO events (tenant_id, slot_id, kind, actor, subject_id, at, details)
	SELECT @tenant, slot_id, 'message_given_up', @actor, subject_id, given_up_at, jsonb_build_object('message', kind) FROM m WHERE slot_id IS NOT NULL
)
SELECT count(*)::int FROM m`

// GiveUpMessage ends the tries of a message that waits or has failed. It is
// recorded on the message and, where it is about a slot, in the history. Giving
// up what was given up is a success. Refusals: NotFound; Conflict: it is being
// sent, or has ended in another way.
func (s *Store) GiveUpMessage(ctx context.Context, tenant, id string, actor Actor) error {
	var n int
	err := s.db.QueryRow(ctx, giveUpMessageSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "id": id, "actor": actor.label()}).Scan(&n)
	if err != nil {
		return fmt.Errorf("give up message %s: %w", id, classify(err))
	}
	if n > 0 {
		return nil
	}
	m, err := s.Message(ctx, tenant, id)
	if err == nil && m.GivenUpAt == nil {
		err = Conflict
	}
	return s.settle("give_up_message", err)
}

// How often the link of one booking is mailed again by staff: with this pause, and so often a day.
const (
	LinkPause   = 10 * time.Minute
	linksPerDay = 3
)

// LinkOnFile is a booking or an entry as far as sending its link again goes.
type LinkOnFile struct {
	ID       string
	IsEntry  bool
	Name     string
	Email    string
	Locale   string
	SlotID   string
	Live     bool // confirmed and not over; waiting or offered and not begun
	Sent     int  // how often a mail with its link was queued, beside those of its own steps
	Recent   int  // of these within a day
	LastSent *time.Time
	Now      time.Time
}

// MayResend reports whether the link may be mailed now: there is an address,
// there is something to open, and it was not just sent.
func (l LinkOnFile) MayResend() bool {
	return l.Live && l.Email != "" && l.Recent < linksPerDay && (l.LastSent == nil || !l.LastSent.After(l.Now.Add(-LinkPause)))
}

const linkOnFile = `SELECT p.*, m.sent, m.recent, m.last_sent, n.now
	FROM (SELECT coalesce(@at::timestamptz, statement_timestamp()) AS now) n
	CROSS JOIN LATERAL (
		SELECT r.id::text, false AS is_entry, r.name, r.email, r.locale, r.slot_id::text, r.state = 'confirmed' AND s.ends_at > n.now AS live
		FROM reservations r JOIN slots s ON s.tenant_id = r.tenant_id AND s.id = r.slot_id WHERE r.tenant_id = @tenant AND r.id = @id
		UNION ALL
		SELECT e.id::text, true, e.name, e.email, e.locale, e.slot_id::text, e.state IN ('waiting', 'offered') AND s.starts_at > n.now
		FROM waitlist_entries e JOIN slots s ON s.tenant_id = e.tenant_id AND s.id = e.slot_id WHERE e.tenant_id = @tenant AND e.id = @id
	) p
	CROSS JOIN LATERAL (
		SELECT count(*)::int AS sent, (count(*) FILTER (WHERE o.created_at > n.now - interval '24 hours'))::int AS recent, max(o.created_at) AS last_sent
		FROM outbox o WHERE o.tenant_id = @tenant AND o.subject_id = @id AND o.kind = 'my_reservations'
	) m`

const linkOnFileSQL = `-- link on file
` + linkOnFile

// LinkOnFile reads whose link a booking or an entry has; NotFound if it is neither.
func (s *Store) LinkOnFile(ctx context.Context, tenant, id string) (LinkOnFile, error) {
	return one[LinkOnFile](ctx, s.db, linkOnFileSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "id": id})
}

// The number of mails so far stands in the key: of two presses at once, which
// counted the same, one inserts.
const resendLinkSQL = `-- resend link
WITH p AS MATERIALIZED (
	` + linkOnFile + `
), m AS (
	INSERT INTO outbox (tenant_id, id, kind, slot_id, subject_id, recipient, locale, next_attempt_at, dedupe_key, created_at)
	SELECT @tenant, @message, 'my_reservations', slot_id::uuid, id::uuid, email, locale, now, 'my_reservations/' || id || '/' || sent, now
	FROM p WHERE live AND email <> '' AND recent < @most AND (last_sent IS NULL OR last_sent <= now - @pause::interval)
	ON CONFLICT (tenant_id, dedupe_key) DO NOTHING
	RETURNING slot_id, subject_id, created_at
), e AS (
	INSERT INTO events (tenant_id, slot_id, kind, actor, subject_id, at) SELECT @tenant, slot_id, 'link_sent', @actor, subject_id, created_at FROM m
)
SELECT count(*)::int FROM m`

// ResendLink queues a mail with the links of whoever has the booking or the
// entry, to the address on file, and notes it in the history. False: it may not
// be sent now (see LinkOnFile.MayResend), or somebody has just done so.
func (s *Store) ResendLink(ctx context.Context, tenant, id string, actor Actor) (bool, error) {
	var n int
	err := s.db.QueryRow(ctx, resendLinkSQL, pgx.StrictNamedArgs{
		"at": s.at, "tenant": tenant, "id": id, "message": newID(), "actor": actor.label(), "most": linksPerDay, "pause": LinkPause,
	}).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("resend link of %s: %w", id, classify(err))
	}
	return n > 0, nil
}
