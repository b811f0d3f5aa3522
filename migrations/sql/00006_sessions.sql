-- +goose Up
CREATE TABLE sessions (
    token    text PRIMARY KEY,
    data     bytea NOT NULL,
    expiry   timestamptz NOT NULL,
    staff_id uuid REFERENCES staff (id)
);
CREATE INDEX sessions_expiry ON sessions (expiry);
CREATE INDEX sessions_staff ON sessions (staff_id) WHERE staff_id IS NOT NULL;

-- Counts per key and window, shared by all instances. Keys are hashes: no
-- address or e-mail stands here.
CREATE TABLE rate_limits (
    key      text PRIMARY KEY,
    opens_at timestamptz NOT NULL,
    count    integer NOT NULL
);
CREATE INDEX rate_limits_opens ON rate_limits (opens_at);

-- +goose Down
DROP TABLE rate_limits, sessions;
