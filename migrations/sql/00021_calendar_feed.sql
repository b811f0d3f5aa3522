-- +goose Up
-- The secret address under which a member subscribes to the venue's slots. It is
-- derived from the server's secret and the generation; the row keeps its hash. No
-- hash: there is no address. The generation only ever goes up, also over the end
-- and the renewal of a membership, so that an address that was ended never opens
-- anything again.
ALTER TABLE memberships ADD COLUMN feed_generation bigint NOT NULL DEFAULT 0 CHECK (feed_generation >= 0);
ALTER TABLE memberships ADD COLUMN feed_hash bytea;
ALTER TABLE memberships ADD CONSTRAINT memberships_feed CHECK (feed_hash IS NULL OR feed_generation > 0);
CREATE UNIQUE INDEX memberships_feed_hash ON memberships (tenant_id, feed_hash) WHERE feed_hash IS NOT NULL;

-- +goose Down
DROP INDEX memberships_feed_hash;
ALTER TABLE memberships DROP CONSTRAINT memberships_feed, DROP COLUMN feed_hash, DROP COLUMN feed_generation;
