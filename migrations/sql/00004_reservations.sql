-- +goose Up
CREATE TABLE waitlist_entries (
    tenant_id        uuid NOT NULL,
    id               uuid NOT NULL DEFAULT gen_random_uuid(),
    slot_id          uuid NOT NULL,
    party_size       integer NOT NULL CHECK (party_size > 0),
    state            text NOT NULL CHECK (state IN ('waiting', 'offered', 'accepted', 'lapsed', 'declined', 'withdrawn', 'closed')),
    -- The number of the joining event: the order of the queue.
    position         bigint NOT NULL,
    name             text NOT NULL DEFAULT '',
    kana             text NOT NULL DEFAULT '',
    email            text NOT NULL DEFAULT '',
    phone            text NOT NULL DEFAULT '',
    note             text NOT NULL DEFAULT '',
    locale           text NOT NULL CHECK (locale IN ('ja', 'en')),
    person_key       text,
    link_hash        bytea NOT NULL,
    link_generation  integer NOT NULL DEFAULT 0,
    offer_hash       bytea,
    offer_generation integer NOT NULL DEFAULT 0,
    shown_until      timestamptz,
    expires_at       timestamptz,
    reservation_id   uuid,
    source           text NOT NULL CHECK (source IN ('web', 'staff', 'api')),
    reason           text NOT NULL DEFAULT '',
    consent_version  text NOT NULL DEFAULT '',
    consented_at     timestamptz,
    press_addr       text NOT NULL DEFAULT '',
    press_agent      text NOT NULL DEFAULT '',
    joined_at        timestamptz NOT NULL,
    offered_at       timestamptz,
    ended_at         timestamptz,
    erased_at        timestamptz,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, slot_id) REFERENCES slots (tenant_id, id),
    CHECK (state <> 'offered' OR (shown_until IS NOT NULL AND expires_at IS NOT NULL AND offer_hash IS NOT NULL)),
    CHECK ((state IN ('waiting', 'offered')) = (ended_at IS NULL)),
    CHECK (state <> 'accepted' OR reservation_id IS NOT NULL)
);
CREATE UNIQUE INDEX waitlist_entries_link ON waitlist_entries (tenant_id, link_hash);
CREATE UNIQUE INDEX waitlist_entries_offer_link ON waitlist_entries (tenant_id, offer_hash) WHERE offer_hash IS NOT NULL;
CREATE UNIQUE INDEX waitlist_entries_person ON waitlist_entries (tenant_id, slot_id, person_key)
    WHERE state IN ('waiting', 'offered');
CREATE INDEX waitlist_entries_queue ON waitlist_entries (tenant_id, slot_id, position) WHERE state = 'waiting';
CREATE INDEX waitlist_entries_slot ON waitlist_entries (tenant_id, slot_id, position);
CREATE INDEX waitlist_entries_due ON waitlist_entries (expires_at) WHERE state = 'offered';
CREATE INDEX waitlist_entries_offered ON waitlist_entries (tenant_id, slot_id, expires_at) WHERE state = 'offered';
CREATE INDEX waitlist_entries_email ON waitlist_entries (tenant_id, lower(email)) WHERE email <> '';

CREATE TABLE reservations (
    tenant_id       uuid NOT NULL,
    id              uuid NOT NULL DEFAULT gen_random_uuid(),
    slot_id         uuid NOT NULL,
    party_size      integer NOT NULL CHECK (party_size > 0),
    state           text NOT NULL CHECK (state IN ('held', 'confirmed', 'released', 'expired', 'cancelled')),
    number          text NOT NULL,
    name            text NOT NULL DEFAULT '',
    kana            text NOT NULL DEFAULT '',
    email           text NOT NULL DEFAULT '',
    phone           text NOT NULL DEFAULT '',
    note            text NOT NULL DEFAULT '',
    locale          text NOT NULL CHECK (locale IN ('ja', 'en')),
    -- Who may confirm, and whose holds are counted.
    owner           text NOT NULL,
    shown_until     timestamptz,
    expires_at      timestamptz,
    terms_version   integer NOT NULL,
    one_per_person  boolean NOT NULL DEFAULT true,
    extended_at     timestamptz,
    extra_seats     integer NOT NULL DEFAULT 0 CHECK (extra_seats BETWEEN 0 AND party_size),
    group_id        uuid,
    group_size      integer,
    idempotency_key text,
    fingerprint     bytea,
    link_hash       bytea NOT NULL,
    link_generation integer NOT NULL DEFAULT 0,
    source          text NOT NULL CHECK (source IN ('web', 'staff', 'api', 'waitlist')),
    entry_id        uuid,
    attendance      text NOT NULL DEFAULT '' CHECK (attendance IN ('', 'arrived', 'no_show')),
    consent_version text NOT NULL DEFAULT '',
    consented_at    timestamptz,
    cancelled_by    text NOT NULL DEFAULT '',
    cancel_reason   text NOT NULL DEFAULT '',
    press_addr      text NOT NULL DEFAULT '',
    press_agent     text NOT NULL DEFAULT '',
    -- Null where one person may book a slot twice, and until the person is known.
    person_key      text,
    -- Confirmed while an entry of the same person was waiting here: the sweep closes that entry.
    entry_to_close  boolean NOT NULL DEFAULT false,
    -- Goes up with each change that a calendar must follow (RFC 5545, SEQUENCE).
    sequence        integer NOT NULL DEFAULT 0,
    created_at      timestamptz NOT NULL,
    confirmed_at    timestamptz,
    ended_at        timestamptz,
    erased_at       timestamptz,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, slot_id) REFERENCES slots (tenant_id, id),
    FOREIGN KEY (tenant_id, entry_id) REFERENCES waitlist_entries (tenant_id, id),
    CHECK (state <> 'held' OR (shown_until IS NOT NULL AND expires_at IS NOT NULL)),
    CHECK (state <> 'confirmed' OR confirmed_at IS NOT NULL),
    CHECK ((state IN ('held', 'confirmed')) = (ended_at IS NULL)),
    CHECK ((group_id IS NULL) = (group_size IS NULL))
);
CREATE UNIQUE INDEX reservations_number ON reservations (tenant_id, number);
CREATE UNIQUE INDEX reservations_link ON reservations (tenant_id, link_hash);
CREATE UNIQUE INDEX reservations_key ON reservations (tenant_id, slot_id, idempotency_key)
    WHERE state IN ('held', 'confirmed');
CREATE UNIQUE INDEX reservations_person ON reservations (tenant_id, slot_id, person_key)
    WHERE state IN ('held', 'confirmed');
CREATE INDEX reservations_slot ON reservations (tenant_id, slot_id);
CREATE INDEX reservations_due ON reservations (expires_at) WHERE state = 'held';
CREATE INDEX reservations_held ON reservations (tenant_id, slot_id, expires_at) WHERE state = 'held';
CREATE INDEX reservations_owner ON reservations (tenant_id, owner) WHERE state = 'held';
CREATE INDEX reservations_group ON reservations (tenant_id, group_id) WHERE group_id IS NOT NULL;
CREATE INDEX reservations_email ON reservations (tenant_id, lower(email)) WHERE email <> '';
CREATE UNIQUE INDEX reservations_entry ON reservations (tenant_id, entry_id) WHERE entry_id IS NOT NULL;
CREATE INDEX reservations_entry_to_close ON reservations (tenant_id, slot_id) WHERE entry_to_close;

ALTER TABLE waitlist_entries ADD FOREIGN KEY (tenant_id, reservation_id) REFERENCES reservations (tenant_id, id);

-- +goose Down
ALTER TABLE waitlist_entries DROP CONSTRAINT waitlist_entries_tenant_id_reservation_id_fkey;
DROP TABLE reservations;
DROP TABLE waitlist_entries;
