-- +goose Up
-- The LINE account through which a venue's customers may get their messages.
CREATE TABLE line_channels (
    tenant_id    uuid NOT NULL PRIMARY KEY REFERENCES tenants (id),
    -- By which LINE finds the account.
    basic_id     text NOT NULL CHECK (basic_id ~ '^@[a-z0-9][a-z0-9._-]{0,39}$'),
    -- Both encrypted under a key derived from the server secret.
    secret       bytea NOT NULL,
    token        bytea NOT NULL,
    -- What LINE said of the account when it was last asked.
    bot_name     text NOT NULL DEFAULT '',
    bot_basic_id text NOT NULL DEFAULT '',
    checked_at   timestamptz,
    -- Since when LINE does not take the token; null: it does.
    broken_at    timestamptz,
    -- Until when the month's messages are used up; null, or past: they are not.
    paused_until timestamptz,
    -- Goes up with each change; what is said of an older one is not believed.
    version      integer NOT NULL DEFAULT 1 CHECK (version > 0),
    changed_at   timestamptz NOT NULL
);

-- Codes by which a customer shows LINE's account to be theirs: one for each booking or waitlist entry. They open nothing else.
CREATE TABLE line_codes (
    tenant_id  uuid NOT NULL REFERENCES tenants (id),
    subject_id uuid NOT NULL,
    code_hash  bytea NOT NULL,
    -- It was made on a page that was opened from a mail to the address.
    proven     boolean NOT NULL,
    locale     text NOT NULL CHECK (locale IN ('ja', 'en')),
    made_at    timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    used_at    timestamptz,
    -- Hash of the id of LINE's event that used it: the same event may come again.
    used_event bytea,
    PRIMARY KEY (tenant_id, subject_id)
);
CREATE UNIQUE INDEX line_codes_hash ON line_codes (tenant_id, code_hash);

-- Who gets the messages by LINE: LINE's id of the person, for as long as the row
-- has the address that it was linked for.
ALTER TABLE reservations ADD COLUMN line_user text NOT NULL DEFAULT '';
ALTER TABLE reservations ADD COLUMN line_address text NOT NULL DEFAULT '';
ALTER TABLE reservations ADD COLUMN line_proven boolean NOT NULL DEFAULT false;
ALTER TABLE reservations ADD COLUMN line_at timestamptz;
ALTER TABLE reservations ADD CONSTRAINT reservations_line CHECK ((line_user = '') = (line_at IS NULL) AND (line_user = '') = (line_address = '') AND (line_user <> '' OR NOT line_proven));
CREATE INDEX reservations_line_user ON reservations (tenant_id, line_user) WHERE line_user <> '';
ALTER TABLE waitlist_entries ADD COLUMN line_user text NOT NULL DEFAULT '';
ALTER TABLE waitlist_entries ADD COLUMN line_address text NOT NULL DEFAULT '';
ALTER TABLE waitlist_entries ADD COLUMN line_proven boolean NOT NULL DEFAULT false;
ALTER TABLE waitlist_entries ADD COLUMN line_at timestamptz;
ALTER TABLE waitlist_entries ADD CONSTRAINT waitlist_entries_line CHECK ((line_user = '') = (line_at IS NULL) AND (line_user = '') = (line_address = '') AND (line_user <> '' OR NOT line_proven));
CREATE INDEX waitlist_entries_line_user ON waitlist_entries (tenant_id, line_user) WHERE line_user <> '';

-- Which way a message went, how often LINE gave no clear answer, and why it is not tried there (any more).
ALTER TABLE outbox ADD COLUMN channel text NOT NULL DEFAULT '' CHECK (channel IN ('', 'mail', 'line'));
ALTER TABLE outbox ADD COLUMN line_tries integer NOT NULL DEFAULT 0;
ALTER TABLE outbox ADD COLUMN line_over text NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE outbox DROP COLUMN line_over, DROP COLUMN line_tries, DROP COLUMN channel;
DROP INDEX waitlist_entries_line_user;
ALTER TABLE waitlist_entries DROP CONSTRAINT waitlist_entries_line, DROP COLUMN line_at, DROP COLUMN line_proven, DROP COLUMN line_address, DROP COLUMN line_user;
DROP INDEX reservations_line_user;
ALTER TABLE reservations DROP CONSTRAINT reservations_line, DROP COLUMN line_at, DROP COLUMN line_proven, DROP COLUMN line_address, DROP COLUMN line_user;
DROP TABLE line_codes, line_channels;
