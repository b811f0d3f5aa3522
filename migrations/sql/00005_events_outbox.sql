-- +goose Up
CREATE TABLE events (
    tenant_id  uuid NOT NULL,
    id         bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    slot_id    uuid NOT NULL,
    -- Null for what happens without the slot's lock: confirmed, refused_late.
    number     bigint CHECK (number > 0),
    kind       text NOT NULL,
    actor      text NOT NULL,
    party_size integer NOT NULL DEFAULT 0,
    -- By how much taken changed.
    seats      integer NOT NULL DEFAULT 0,
    -- The slot's capacity after the event.
    capacity   integer,
    -- Who was served at that moment: first_fit, strict or first_come.
    mode       text NOT NULL DEFAULT '',
    subject_id uuid,
    at         timestamptz NOT NULL,
    details    jsonb NOT NULL DEFAULT '{}',
    seal       bytea,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, slot_id) REFERENCES slots (tenant_id, id)
);
CREATE UNIQUE INDEX events_number ON events (tenant_id, slot_id, number) WHERE number IS NOT NULL;
CREATE INDEX events_unsealed ON events (tenant_id, slot_id, number) WHERE number IS NOT NULL AND seal IS NULL;
CREATE INDEX events_slot ON events (tenant_id, slot_id, id);
CREATE INDEX events_subject ON events (tenant_id, subject_id);

CREATE TABLE outbox (
    tenant_id       uuid NOT NULL REFERENCES tenants (id),
    id              uuid NOT NULL DEFAULT gen_random_uuid(),
    kind            text NOT NULL,
    slot_id         uuid,
    -- The reservation or the waitlist entry that it is about.
    subject_id      uuid,
    -- The number of the causing event, where it has one.
    event_number    bigint,
    recipient       text NOT NULL,
    locale          text NOT NULL CHECK (locale IN ('ja', 'en')),
    payload         jsonb NOT NULL DEFAULT '{}',
    sent_subject    text NOT NULL DEFAULT '',
    sent_text       text NOT NULL DEFAULT '',
    state           text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'sending', 'sent', 'failed', 'obsolete')),
    attempts        integer NOT NULL DEFAULT 0,
    next_attempt_at timestamptz NOT NULL,
    sending_until   timestamptz,
    sent_at         timestamptz,
    last_error      text NOT NULL DEFAULT '',
    dedupe_key      text NOT NULL,
    created_at      timestamptz NOT NULL,
    erased_at       timestamptz,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, slot_id) REFERENCES slots (tenant_id, id),
    CHECK ((state = 'sending') = (sending_until IS NOT NULL))
);
CREATE UNIQUE INDEX outbox_dedupe ON outbox (tenant_id, dedupe_key);
CREATE INDEX outbox_due ON outbox (tenant_id, next_attempt_at) WHERE state = 'pending';
CREATE INDEX outbox_leases ON outbox (tenant_id, sending_until) WHERE state = 'sending';
CREATE INDEX outbox_subject ON outbox (tenant_id, subject_id);
CREATE INDEX outbox_slot ON outbox (tenant_id, slot_id);
CREATE INDEX outbox_open ON outbox (tenant_id, created_at) WHERE state IN ('pending', 'sending', 'failed');
CREATE INDEX outbox_newest ON outbox (tenant_id, created_at, id);

-- +goose Down
DROP TABLE outbox, events;
