package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// FeedEvent is an event with its place in the tenant's feed.
type FeedEvent struct {
	Feed int64
	Event
}

const feedSQL = `-- feed since a cursor
SELECT feed, ` + eventColumns + ` FROM events WHERE tenant_id = @tenant AND feed > @after ORDER BY feed LIMIT @limit`

// Feed lists the events of a tenant after a place in its feed, in order. Every
// event gets a place, once, some seconds after its commit at most; one that was
// read is never followed by one with a smaller place.
func (s *Store) Feed(ctx context.Context, tenant string, after int64, limit int) ([]FeedEvent, error) {
	return list[FeedEvent](ctx, s.db, feedSQL, pgx.StrictNamedArgs{"tenant": tenant, "after": after, "limit": limit})
}

const unfedTenantsSQL = `-- tenants with events to feed
WITH RECURSIVE t AS (
	(SELECT tenant_id FROM events WHERE feed IS NULL ORDER BY tenant_id LIMIT 1)
	UNION ALL
	SELECT (SELECT e.tenant_id FROM events e WHERE e.feed IS NULL AND e.tenant_id > t.tenant_id ORDER BY e.tenant_id LIMIT 1) FROM t WHERE t.tenant_id IS NOT NULL
)
SELECT tenant_id::text FROM t WHERE tenant_id IS NOT NULL`

// The head is the lock: whoever has it sees all that was committed before.
const lockFeedSQL = `-- lock feed
SELECT feed_head FROM tenants WHERE id = @tenant FOR NO KEY UPDATE`

const feedEventsSQL = `-- give events their place in the feed
WITH unfed AS (
	SELECT id, row_number() OVER (ORDER BY id) AS n FROM (SELECT id FROM events WHERE tenant_id = @tenant AND feed IS NULL ORDER BY id LIMIT 5000) e
)
UPDATE events e SET feed = @head + unfed.n FROM unfed WHERE e.tenant_id = @tenant AND e.id = unfed.id`

const raiseFeedSQL = `-- raise the head of the feed
UPDATE tenants SET feed_head = feed_head + @n WHERE id = @tenant`

// feedEvents gives the events that have none yet their place, tenant by tenant.
func (s *Store) feedEvents(ctx context.Context) error {
	rows, err := s.db.Query(ctx, unfedTenantsSQL)
	if err != nil {
		return classify(err)
	}
	tenants, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return classify(err)
	}
	for _, tenant := range tenants {
		err := pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
			var head int64
			if err := tx.QueryRow(ctx, lockFeedSQL, pgx.StrictNamedArgs{"tenant": tenant}).Scan(&head); err != nil {
				return err
			}
			tag, err := tx.Exec(ctx, feedEventsSQL, pgx.StrictNamedArgs{"tenant": tenant, "head": head})
			if err != nil {
				return err
			}
			_, err = tx.Exec(ctx, raiseFeedSQL, pgx.StrictNamedArgs{"tenant": tenant, "n": tag.RowsAffected()})
			return err
		})
		if err != nil {
			return fmt.Errorf("feed of tenant %s: %w", tenant, err)
		}
	}
	return nil
}
