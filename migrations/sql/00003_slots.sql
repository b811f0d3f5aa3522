-- +goose Up
CREATE EXTENSION IF NOT EXISTS btree_gist;

CREATE TABLE slots (
    tenant_id     uuid NOT NULL REFERENCES tenants (id),
    id            uuid NOT NULL DEFAULT gen_random_uuid(),
    service_id    uuid NOT NULL,
    resource_id   uuid NOT NULL,
    starts_at     timestamptz NOT NULL,
    ends_at       timestamptz NOT NULL,
    capacity      integer NOT NULL,
    taken         integer NOT NULL DEFAULT 0,
    status        text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'closed', 'cancelled')),
    version       bigint NOT NULL DEFAULT 0,
    terms_version integer NOT NULL DEFAULT 1,
    kept          boolean NOT NULL DEFAULT false,
    order_until   timestamptz NOT NULL DEFAULT 'infinity',
    waitlist_paused boolean NOT NULL DEFAULT false,

    -- The slot's own copy of the policies that decide who gets a seat.
    waitlist_mode     text NOT NULL DEFAULT 'sequential' CHECK (waitlist_mode IN ('off', 'sequential', 'broadcast')),
    fit               text NOT NULL DEFAULT 'first_fit' CHECK (fit IN ('first_fit', 'strict')),
    hold_shown        interval NOT NULL DEFAULT '5 minutes',
    hold_grace        interval NOT NULL DEFAULT '1 minute',
    offer_shown       interval NOT NULL DEFAULT '30 minutes',
    offer_grace       interval NOT NULL DEFAULT '5 minutes',
    broadcast_before  interval NOT NULL DEFAULT '3 hours',
    -- Hours, not days: a day of 23 or 25 hours must not move a booking window.
    booking_opens     interval NOT NULL DEFAULT '1440 hours',
    booking_closes    interval NOT NULL DEFAULT '0',
    cancel_before     interval NOT NULL DEFAULT '24 hours',
    least_answer      interval NOT NULL DEFAULT '10 minutes',
    -- Minutes after midnight at the venue; null: no quiet hours.
    quiet_from        smallint DEFAULT 1260 CHECK (quiet_from BETWEEN 0 AND 1439),
    quiet_until       smallint DEFAULT 480 CHECK (quiet_until BETWEEN 0 AND 1439),
    party_max         integer NOT NULL DEFAULT 4 CHECK (party_max > 0),
    waitlist_max      integer CHECK (waitlist_max >= 0),
    holds_per_visitor integer NOT NULL DEFAULT 3 CHECK (holds_per_visitor > 0),
    few_left          integer NOT NULL DEFAULT 3 CHECK (few_left >= 0),
    one_per_person    boolean NOT NULL DEFAULT true,
    reminder_before   interval NOT NULL DEFAULT '24 hours',
    erase_waitlist_after     interval NOT NULL DEFAULT '168 hours',
    erase_reservations_after interval NOT NULL DEFAULT '9600 hours',

    -- What the sweeper has done for the slot as a whole.
    reminded_at            timestamptz,
    entries_closed_at      timestamptz,
    waitlist_erased_at     timestamptz,
    reservations_erased_at timestamptz,
    created_at             timestamptz NOT NULL DEFAULT now(),

    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, service_id) REFERENCES services (tenant_id, id),
    FOREIGN KEY (tenant_id, resource_id) REFERENCES resources (tenant_id, id),
    CONSTRAINT slots_seats CHECK (taken BETWEEN 0 AND capacity),
    CONSTRAINT slots_times CHECK (ends_at > starts_at),
    CONSTRAINT slots_quiet CHECK ((quiet_from IS NULL) = (quiet_until IS NULL)),
    -- One resource is never in two slots at one time.
    CONSTRAINT slots_no_overlap EXCLUDE USING gist (
        tenant_id WITH =, resource_id WITH =, tstzrange(starts_at, ends_at) WITH &&
    ) WHERE (status <> 'cancelled')
);
-- Partial, so that changing starts_at takes FOR NO KEY UPDATE and not FOR
-- UPDATE, which would wait for the foreign keys of child rows being inserted.
CREATE UNIQUE INDEX slots_start ON slots (tenant_id, resource_id, starts_at) WHERE status <> 'cancelled';
CREATE INDEX slots_calendar ON slots (tenant_id, starts_at, id);
CREATE INDEX slots_service ON slots (tenant_id, service_id, starts_at);
CREATE INDEX slots_switch ON slots (order_until) WHERE kept;
CREATE INDEX slots_to_remind ON slots (starts_at) WHERE reminded_at IS NULL AND status <> 'cancelled';
CREATE INDEX slots_to_close ON slots (starts_at) WHERE entries_closed_at IS NULL;
CREATE INDEX slots_erase_waitlist ON slots (ends_at) WHERE waitlist_erased_at IS NULL;
CREATE INDEX slots_erase_reservations ON slots (ends_at) WHERE reservations_erased_at IS NULL;

-- +goose Down
DROP TABLE slots;
DROP EXTENSION btree_gist;
