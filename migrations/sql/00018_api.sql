-- +goose Up
-- The place of an event in its tenant's feed, which other systems read since a
-- cursor. It is given after the commit, in the order in which events became
-- visible: an id is drawn before the commit, so a reader who goes by ids would
-- pass by what was committed later.
ALTER TABLE events ADD COLUMN feed bigint CHECK (feed > 0);
ALTER TABLE tenants ADD COLUMN feed_head bigint NOT NULL DEFAULT 0;
WITH fed AS (SELECT tenant_id, id, row_number() OVER (PARTITION BY tenant_id ORDER BY id) AS feed FROM events)
UPDATE events e SET feed = fed.feed FROM fed WHERE fed.tenant_id = e.tenant_id AND fed.id = e.id;
UPDATE tenants t SET feed_head = coalesce((SELECT max(e.feed) FROM events e WHERE e.tenant_id = t.id), 0);
CREATE UNIQUE INDEX events_feed ON events (tenant_id, feed) WHERE feed IS NOT NULL;
CREATE INDEX events_unfed ON events (tenant_id, id) WHERE feed IS NULL;

-- Answers of the API by idempotency key, for the steps that are not idempotent
-- by their own state. They hold no personal data.
CREATE TABLE idempotency_answers (
    tenant_id   uuid NOT NULL REFERENCES tenants (id),
    route       text NOT NULL,
    key_hash    bytea NOT NULL,
    fingerprint bytea NOT NULL,
    -- Null while the request is under way.
    status      integer,
    body        bytea,
    begun_at    timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, route, key_hash)
);
CREATE INDEX idempotency_answers_begun ON idempotency_answers (begun_at);

-- +goose Down
DROP TABLE idempotency_answers;
DROP INDEX events_unfed;
DROP INDEX events_feed;
ALTER TABLE tenants DROP COLUMN feed_head;
ALTER TABLE events DROP COLUMN feed;
