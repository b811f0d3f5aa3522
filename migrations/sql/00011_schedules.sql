-- +goose Up
-- Rules from which slots are made. Days and times are those on the wall at the
-- venue, so that a clock change moves none of them.
CREATE TABLE schedules (
    tenant_id     uuid NOT NULL REFERENCES tenants (id),
    id            uuid NOT NULL DEFAULT gen_random_uuid(),
    service_id    uuid NOT NULL,
    resource_id   uuid NOT NULL,
    -- RFC 5545 RRULE without COUNT and UNTIL: which days.
    rule          text NOT NULL CHECK (rule <> ''),
    first_day     date NOT NULL,
    -- The last day, itself included; null: without end, made up to made_until and on from there.
    until_day     date,
    -- Starts as minutes after midnight, in order.
    starts        smallint[] NOT NULL CHECK (cardinality(starts) BETWEEN 1 AND 300),
    except_days   date[] NOT NULL DEFAULT '{}',
    skip_closed   boolean NOT NULL DEFAULT true,
    skip_holidays boolean NOT NULL DEFAULT false,
    capacity      integer NOT NULL CHECK (capacity >= 0),
    -- stopped: no new slots; ended: gone from the list, its slots are cancelled or on their own.
    state         text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'stopped', 'ended')),
    version       integer NOT NULL DEFAULT 1,
    made_until    date,
    -- When a rule without end is looked at again; null: never.
    extend_at     timestamptz,
    -- A change of the slots that has begun and is not through: {"from", "choice", "reason", …}.
    pending       jsonb,
    -- What the last press did, as numbers and ids of slots.
    result        jsonb,
    created_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, service_id) REFERENCES services (tenant_id, id),
    FOREIGN KEY (tenant_id, resource_id) REFERENCES resources (tenant_id, id),
    CONSTRAINT schedules_days CHECK (until_day >= first_day)
);
CREATE INDEX schedules_to_extend ON schedules (extend_at) WHERE extend_at IS NOT NULL;

-- Which occurrence of a schedule a slot stands for: a day and time on the wall.
-- It stays when the slot is moved or cancelled by hand, so that it is not made anew.
ALTER TABLE slots ADD COLUMN schedule_id uuid, ADD COLUMN schedule_start timestamp,
    ADD CONSTRAINT slots_schedule FOREIGN KEY (tenant_id, schedule_id) REFERENCES schedules (tenant_id, id),
    ADD CONSTRAINT slots_occurrence CHECK ((schedule_id IS NULL) = (schedule_start IS NULL));
-- Partial, as all unique indexes on changeable columns of slots.
CREATE UNIQUE INDEX slots_once ON slots (tenant_id, schedule_id, schedule_start) WHERE schedule_id IS NOT NULL;

-- +goose Down
DROP INDEX slots_once;
ALTER TABLE slots DROP CONSTRAINT slots_occurrence, DROP CONSTRAINT slots_schedule, DROP COLUMN schedule_start, DROP COLUMN schedule_id;
DROP TABLE schedules;
