-- +goose Up
-- Who gave a message up, as an event names its actor; staff are asked once more before.
ALTER TABLE outbox ADD COLUMN given_up_at timestamptz;
ALTER TABLE outbox ADD COLUMN given_up_by text NOT NULL DEFAULT '';
ALTER TABLE outbox ADD CONSTRAINT outbox_given_up CHECK ((given_up_at IS NOT NULL) = (given_up_by <> '') AND (given_up_at IS NULL OR state = 'obsolete'));
-- Counts and lists by state and kind read the index alone.
CREATE INDEX outbox_sorted ON outbox (tenant_id, state, kind, created_at, id);

-- What a venue says in its own words, by kind of message and language; no row: the words that we bring.
CREATE TABLE message_texts (
    tenant_id  uuid NOT NULL REFERENCES tenants (id),
    kind       text NOT NULL CHECK (kind <> ''),
    locale     text NOT NULL CHECK (locale IN ('ja', 'en')),
    -- Stands for the first sentence; empty: ours.
    opening    text NOT NULL DEFAULT '' CHECK (char_length(opening) <= 1000),
    -- One more paragraph at the end; empty: none.
    extra      text NOT NULL DEFAULT '' CHECK (char_length(extra) <= 1000),
    -- Goes up with each change.
    version    integer NOT NULL DEFAULT 1 CHECK (version > 0),
    changed_at timestamptz NOT NULL,
    changed_by uuid,
    PRIMARY KEY (tenant_id, kind, locale)
);

-- What a member of a team wants to be told of; no row: nothing.
CREATE TABLE staff_notices (
    tenant_id    uuid NOT NULL,
    staff_id     uuid NOT NULL,
    bookings     boolean NOT NULL DEFAULT false,
    cancels      boolean NOT NULL DEFAULT false,
    failures     boolean NOT NULL DEFAULT false,
    -- Minutes after midnight at the venue at which the digest of the day is written; null: never.
    digest_at    integer CHECK (digest_at BETWEEN 0 AND 1439),
    -- What happened before is not told.
    since        timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, staff_id),
    FOREIGN KEY (tenant_id, staff_id) REFERENCES memberships (tenant_id, staff_id) ON DELETE CASCADE
);

-- How far the history has been read for these notices. The row is their lock.
CREATE TABLE staff_notice_cursors (
    tenant_id  uuid NOT NULL PRIMARY KEY REFERENCES tenants (id),
    last_event bigint NOT NULL DEFAULT 0,
    looked_at  timestamptz NOT NULL
);

-- +goose Down
DROP TABLE staff_notice_cursors, staff_notices, message_texts;
DROP INDEX outbox_sorted;
ALTER TABLE outbox DROP CONSTRAINT outbox_given_up, DROP COLUMN given_up_by, DROP COLUMN given_up_at;
