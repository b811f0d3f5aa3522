-- +goose Up
-- How far the watch over the invariants has come. The row is the lock of a pass.
CREATE TABLE self_checks (
    tenant_id uuid NOT NULL PRIMARY KEY REFERENCES tenants (id),
    -- What changed up to this place of the feed was looked at.
    feed      bigint NOT NULL DEFAULT 0 CHECK (feed >= 0),
    -- The last of the slots that were looked at in turn.
    turn      uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    looked_at timestamptz,
    -- When everything was looked at; null: not yet.
    full_at   timestamptz
);

-- What was found and not yet seen to be mended. Ids only, nothing about people.
CREATE TABLE self_check_findings (
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    invariant text NOT NULL,
    -- The row that breaks it, as the check names it.
    example   text NOT NULL,
    -- The slot that it is about; no foreign key, since that may be what is broken.
    slot_id   uuid,
    -- How often the check named this row.
    n         integer NOT NULL DEFAULT 1 CHECK (n > 0),
    found_at  timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, invariant, example)
);

-- Runs of the race lab that staff asked for. The lab works on tables of its own:
-- nothing here is about the tenant but that it asked.
CREATE TABLE race_runs (
    tenant_id  uuid NOT NULL REFERENCES tenants (id),
    id         uuid NOT NULL DEFAULT gen_random_uuid(),
    state      text NOT NULL DEFAULT 'asked' CHECK (state IN ('asked', 'running', 'done', 'failed')),
    asked_at   timestamptz NOT NULL,
    -- No foreign key: the run outlives a membership.
    asked_by   uuid,
    started_at timestamptz,
    -- When the runner was last heard of.
    beat_at    timestamptz,
    ended_at   timestamptz,
    done       integer NOT NULL DEFAULT 0,
    total      integer NOT NULL DEFAULT 0,
    result     jsonb,
    PRIMARY KEY (tenant_id, id),
    CHECK ((state IN ('done', 'failed')) = (ended_at IS NOT NULL)),
    CHECK (state <> 'done' OR result IS NOT NULL)
);
CREATE UNIQUE INDEX race_runs_open ON race_runs (tenant_id) WHERE state IN ('asked', 'running');
CREATE INDEX race_runs_newest ON race_runs (tenant_id, asked_at DESC);

-- +goose Down
DROP TABLE race_runs, self_check_findings, self_checks;
