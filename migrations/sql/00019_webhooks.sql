-- +goose Up
-- An address of another system that is told of each event of the venue's feed.
CREATE TABLE webhook_endpoints (
    tenant_id     uuid NOT NULL REFERENCES tenants (id),
    id            uuid NOT NULL,
    url           text NOT NULL CHECK (char_length(url) BETWEEN 1 AND 2000),
    -- Of events; none: all, also those that a later version brings.
    kinds         text[] NOT NULL DEFAULT '{}',
    -- Encrypted with a key of the server's secret. The former one signs too, for a while.
    secret        bytea NOT NULL,
    old_secret    bytea,
    old_until     timestamptz,
    state         text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'paused')),
    paused_why    text NOT NULL DEFAULT '' CHECK (paused_why IN ('', 'staff', 'failing')),
    paused_at     timestamptz,
    -- The place in the feed of the last event that was delivered, or that is not wanted here.
    cursor        bigint NOT NULL CHECK (cursor >= 0),
    -- Of the event behind the cursor: how often it was tried in vain, and since when.
    attempts      integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    failing_since timestamptz,
    next_at       timestamptz NOT NULL,
    -- Whoever delivers has the endpoint until then; the term names whose turn it is.
    leased_until  timestamptz,
    term          bigint NOT NULL DEFAULT 0,
    delivered_at  timestamptz,
    -- How many deliveries were tried, tests included: the number of the last line of the log.
    tried         bigint NOT NULL DEFAULT 0,
    version       integer NOT NULL DEFAULT 1 CHECK (version > 0),
    created_at    timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id),
    CHECK ((old_secret IS NULL) = (old_until IS NULL)),
    CHECK ((state = 'paused') = (paused_why <> '') AND (state = 'paused') = (paused_at IS NOT NULL)),
    CHECK ((attempts = 0) = (failing_since IS NULL))
);
CREATE INDEX webhook_endpoints_next ON webhook_endpoints (next_at, id) WHERE state = 'active';

-- How the last deliveries went. It holds nothing of what was sent or answered.
CREATE TABLE webhook_deliveries (
    tenant_id   uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    number      bigint NOT NULL,
    -- As it stands in the header, the same at each attempt.
    delivery    text NOT NULL,
    kind        text NOT NULL,
    attempt     integer NOT NULL CHECK (attempt > 0),
    at          timestamptz NOT NULL,
    took_ms     integer NOT NULL CHECK (took_ms >= 0),
    outcome     text NOT NULL CHECK (outcome IN ('delivered', 'status', 'redirect', 'timeout', 'connection', 'name', 'certificate', 'address', 'broken')),
    -- Of the answer; 0: there was none.
    status      integer NOT NULL,
    PRIMARY KEY (tenant_id, endpoint_id, number),
    FOREIGN KEY (tenant_id, endpoint_id) REFERENCES webhook_endpoints (tenant_id, id) ON DELETE CASCADE
);

-- +goose Down
DROP TABLE webhook_deliveries, webhook_endpoints;
