package store

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
)

// DueWebhook is an endpoint for which somebody may have something to deliver.
type DueWebhook struct {
	TenantID string
	ID       string
	Attempts int // in vain, of what is to be delivered
}

const dueWebhooksSQL = `-- webhooks with events to deliver
SELECT w.tenant_id::text, w.id::text, w.attempts FROM webhook_endpoints w JOIN tenants t ON t.id = w.tenant_id
WHERE w.state = 'active' AND w.next_at <= coalesce(@at::timestamptz, statement_timestamp()) AND w.cursor < t.feed_head
	AND (w.leased_until IS NULL OR w.leased_until <= coalesce(@at::timestamptz, statement_timestamp()))
ORDER BY w.next_at, w.id LIMIT @limit`

// DueWebhooks lists endpoints of all tenants behind whose cursor there are
// events, those that wait longest first. Nothing is locked.
func (s *Store) DueWebhooks(ctx context.Context, limit int) ([]DueWebhook, error) {
	return list[DueWebhook](ctx, s.db, dueWebhooksSQL, pgx.StrictNamedArgs{"limit": limit, "at": s.at})
}

// WebhookClaim is an endpoint that one deliverer has for a while.
type WebhookClaim struct {
	TenantID string
	ID       string
	Term     int64 // names this claim
	URL      string
	Kinds    []string // none: all
	Secrets  []string // that sign, the newest first
	Cursor   int64
	Attempts int // in vain, of the event behind the cursor
	Paused   bool
	Now      time.Time // the database's clock
}

// Wants reports whether the endpoint is to be told of events of the kind.
func (c WebhookClaim) Wants(kind EventKind) bool {
	return len(c.Kinds) == 0 || slices.Contains(c.Kinds, string(kind))
}

// Delivery is the id of the delivery of an event: the same at each attempt.
func (c WebhookClaim) Delivery(feed int64) string { return c.ID + "-" + strconv.FormatInt(feed, 10) }

// claimed is a claim as the tables have it.
type claimed struct {
	ID         string
	Term       int64
	URL        string
	Kinds      []string
	Secret     []byte
	OldSecret  []byte
	Cursor     int64
	Attempts   int
	State      string
	Now        time.Time
	NumberTold int64
}

func (s *Store) opened(tenant string, c claimed) (WebhookClaim, error) {
	out := WebhookClaim{TenantID: tenant, ID: c.ID, Term: c.Term, URL: c.URL, Kinds: c.Kinds, Cursor: c.Cursor, Attempts: c.Attempts, Paused: c.State != "active", Now: c.Now}
	for _, sealed := range [][]byte{c.Secret, c.OldSecret} {
		if sealed == nil {
			continue
		}
		secret, err := s.openWebhook(tenant, c.ID, sealed)
		if err != nil {
			return out, err
		}
		out.Secrets = append(out.Secrets, secret)
	}
	return out, nil
}

const claimedColumns = `w.id::text, w.term, w.url, w.kinds, w.secret, w.old_secret, w.cursor, w.attempts, w.state, coalesce(@at::timestamptz, statement_timestamp()) AS now, w.tried AS number_told`

// The former secret goes when its time is over.
const claimWebhookSQL = `-- claim webhook
WITH w AS (
	UPDATE webhook_endpoints SET leased_until = (SELECT coalesce(@at::timestamptz, statement_timestamp())) + @lease::interval, term = term + 1,
		old_secret = CASE WHEN old_until > (SELECT coalesce(@at::timestamptz, statement_timestamp())) THEN old_secret END,
		old_until = CASE WHEN old_until > (SELECT coalesce(@at::timestamptz, statement_timestamp())) THEN old_until END
	WHERE tenant_id = @tenant AND id = @id AND state = 'active' AND next_at <= (SELECT coalesce(@at::timestamptz, statement_timestamp()))
		AND (leased_until IS NULL OR leased_until <= (SELECT coalesce(@at::timestamptz, statement_timestamp())))
	RETURNING *
)
SELECT ` + claimedColumns + ` FROM w`

// ClaimWebhook takes an endpoint for the time of the lease. False: somebody else
// has it, or it is not to be delivered to now.
func (s *Store) ClaimWebhook(ctx context.Context, tenant, id string, lease time.Duration) (WebhookClaim, bool, error) {
	row, err := one[claimed](ctx, s.db, claimWebhookSQL, pgx.StrictNamedArgs{"tenant": tenant, "id": id, "lease": lease, "at": s.at})
	if errors.Is(err, NotFound) {
		return WebhookClaim{}, false, nil
	}
	if err != nil {
		return WebhookClaim{}, false, err
	}
	c, err := s.opened(tenant, row)
	return c, err == nil, err
}

// WebhookResult is how one attempt ended.
type WebhookResult struct {
	Feed     int64 // place of the event
	Kind     EventKind
	Delivery string
	Outcome  WebhookOutcome
	Status   int // of the answer; 0: there was none
	Took     time.Duration
	Again    time.Duration // until the next attempt, where it was not delivered
}

const webhookLogged = `, logged AS (
	INSERT INTO webhook_deliveries (tenant_id, endpoint_id, number, delivery, kind, attempt, at, took_ms, outcome, status)
	SELECT tenant_id, id, tried, @delivery, @kind, @attempt, (SELECT coalesce(@at::timestamptz, statement_timestamp())), @took, @outcome, @status FROM w
), forgotten AS (
	DELETE FROM webhook_deliveries d USING w WHERE d.tenant_id = @tenant AND d.endpoint_id = w.id AND d.number <= w.tried - @keep
)
SELECT ` + claimedColumns + ` FROM w`

// A skip by staff may have moved the cursor past the event meanwhile; it never goes back.
const webhookDeliveredSQL = `-- webhook delivered
WITH w AS (
	UPDATE webhook_endpoints SET cursor = GREATEST(cursor, @feed), attempts = 0, failing_since = NULL, tried = tried + 1,
		next_at = (SELECT coalesce(@at::timestamptz, statement_timestamp())), delivered_at = (SELECT coalesce(@at::timestamptz, statement_timestamp())),
		leased_until = (SELECT coalesce(@at::timestamptz, statement_timestamp())) + @lease::interval
	WHERE tenant_id = @tenant AND id = @id AND term = @term
	RETURNING *
)` + webhookLogged

// An endpoint that staff have paused, or resumed with a skip or another address,
// while the attempt was under way, is left as they want it.
const webhookFailedSQL = `-- webhook not delivered
WITH w AS (
	UPDATE webhook_endpoints SET cursor = GREATEST(cursor, @before), tried = tried + 1, leased_until = NULL,
		attempts = CASE WHEN cursor >= @feed OR url <> @url THEN attempts ELSE attempts + 1 END,
		failing_since = CASE WHEN cursor >= @feed OR url <> @url THEN failing_since ELSE coalesce(failing_since, (SELECT coalesce(@at::timestamptz, statement_timestamp()))) END,
		next_at = CASE WHEN cursor >= @feed OR url <> @url THEN next_at ELSE (SELECT coalesce(@at::timestamptz, statement_timestamp())) + @again::interval END,
		state = CASE WHEN state = 'active' AND cursor < @feed AND url = @url AND failing_since <= (SELECT coalesce(@at::timestamptz, statement_timestamp())) - @patience::interval THEN 'paused' ELSE state END,
		paused_why = CASE WHEN state = 'active' AND cursor < @feed AND url = @url AND failing_since <= (SELECT coalesce(@at::timestamptz, statement_timestamp())) - @patience::interval THEN 'failing' ELSE paused_why END,
		paused_at = CASE WHEN state = 'active' AND cursor < @feed AND url = @url AND failing_since <= (SELECT coalesce(@at::timestamptz, statement_timestamp())) - @patience::interval
			THEN (SELECT coalesce(@at::timestamptz, statement_timestamp())) ELSE paused_at END
	WHERE tenant_id = @tenant AND id = @id AND term = @term
	RETURNING *
)` + webhookLogged

// FinishWebhook writes down how the attempt of an event ended. Delivered, the
// endpoint is kept for another lease and comes back as it stands now; else it is
// let go until the next attempt, or paused where its time is over. False: it is
// no longer this deliverer's, and nothing was written.
func (s *Store) FinishWebhook(ctx context.Context, c WebhookClaim, r WebhookResult, lease time.Duration) (WebhookClaim, bool, error) {
	args := pgx.StrictNamedArgs{
		"tenant": c.TenantID, "id": c.ID, "term": c.Term, "feed": r.Feed, "delivery": r.Delivery, "kind": r.Kind, "attempt": c.Attempts + 1,
		"took": r.Took.Milliseconds(), "outcome": r.Outcome, "status": r.Status, "keep": WebhookLog, "at": s.at,
	}
	sql := webhookDeliveredSQL
	if r.Outcome == WebhookDelivered {
		args["lease"] = lease
	} else {
		sql = webhookFailedSQL
		// What stands between the cursor and this event is not wanted here.
		args["before"], args["again"], args["patience"], args["url"] = r.Feed-1, r.Again, WebhookPatience, c.URL
	}
	row, err := one[claimed](ctx, s.db, sql, args)
	if errors.Is(err, NotFound) {
		return c, false, nil
	}
	if err != nil {
		return c, false, err
	}
	now, err := s.opened(c.TenantID, row)
	return now, err == nil, err
}

const releaseWebhookSQL = `-- let a webhook go
UPDATE webhook_endpoints SET leased_until = NULL, cursor = GREATEST(cursor, @cursor) WHERE tenant_id = @tenant AND id = @id AND term = @term`

// ReleaseWebhook lets a claimed endpoint go. Cursor is the place up to which
// nothing is left to deliver.
func (s *Store) ReleaseWebhook(ctx context.Context, c WebhookClaim, cursor int64) error {
	_, err := s.db.Exec(ctx, releaseWebhookSQL, pgx.StrictNamedArgs{"tenant": c.TenantID, "id": c.ID, "term": c.Term, "cursor": cursor})
	return classify(err)
}

const openWebhookSQL = `-- webhook with its secrets
WITH w AS (SELECT * FROM webhook_endpoints WHERE tenant_id = @tenant AND id = @id)
SELECT w.id::text, w.term, w.url, w.kinds, w.secret, CASE WHEN w.old_until > coalesce(@at::timestamptz, statement_timestamp()) THEN w.old_secret END AS old_secret,
	w.cursor, w.attempts, w.state, coalesce(@at::timestamptz, statement_timestamp()) AS now, w.tried AS number_told FROM w`

// OpenWebhook reads an endpoint with its secrets, for a test; nothing is claimed.
// NotFound: the tenant has none of that id.
func (s *Store) OpenWebhook(ctx context.Context, tenant, id string) (WebhookClaim, error) {
	row, err := one[claimed](ctx, s.db, openWebhookSQL, pgx.StrictNamedArgs{"tenant": tenant, "id": id, "at": s.at})
	if err != nil {
		return WebhookClaim{}, err
	}
	return s.opened(tenant, row)
}

const webhookTestedSQL = `-- webhook tested
WITH w AS (UPDATE webhook_endpoints SET tried = tried + 1 WHERE tenant_id = @tenant AND id = @id RETURNING *)` + webhookLogged

// LogWebhookTest writes a test into the log, and gives its number there.
func (s *Store) LogWebhookTest(ctx context.Context, tenant, id string, r WebhookResult) (int64, error) {
	row, err := one[claimed](ctx, s.db, webhookTestedSQL, pgx.StrictNamedArgs{
		"tenant": tenant, "id": id, "delivery": r.Delivery, "kind": r.Kind, "attempt": 1, "took": r.Took.Milliseconds(), "outcome": r.Outcome, "status": r.Status,
		"keep": WebhookLog, "at": s.at,
	})
	return row.NumberTold, err
}
