-- +goose Up
ALTER TABLE staff
    ADD COLUMN signed_in_at timestamptz,
    -- The secret of the second factor, encrypted with a key made of the server's
    -- secret; it waits in totp_pending until a code has shown that the app has it.
    ADD COLUMN totp_secret  bytea,
    ADD COLUMN totp_pending bytea,
    -- The time step of the last code that was taken: none is taken twice.
    ADD COLUMN totp_step    bigint NOT NULL DEFAULT 0,
    ADD COLUMN recovery     bytea[] NOT NULL DEFAULT '{}',
    -- A link that sets a new password.
    ADD COLUMN reset_generation integer NOT NULL DEFAULT 0,
    ADD COLUMN reset_hash   bytea,
    ADD COLUMN reset_until  timestamptz,
    ADD CHECK ((reset_hash IS NULL) = (reset_until IS NULL)),
    ADD CHECK (totp_secret IS NOT NULL OR recovery = '{}');
CREATE UNIQUE INDEX staff_reset ON staff (reset_hash) WHERE reset_hash IS NOT NULL;

-- What a person sees of their own sessions. A session of somebody who is not
-- signed in has no handle.
ALTER TABLE sessions
    ADD COLUMN handle     text NOT NULL DEFAULT '',
    ADD COLUMN device     text NOT NULL DEFAULT '',
    ADD COLUMN started_at timestamptz NOT NULL DEFAULT now(),
    ADD COLUMN seen_at    timestamptz NOT NULL DEFAULT now(),
    DROP CONSTRAINT sessions_staff_id_fkey,
    ADD FOREIGN KEY (staff_id) REFERENCES staff (id) ON DELETE CASCADE;

CREATE TABLE staff_invitations (
    tenant_id   uuid NOT NULL REFERENCES tenants (id),
    id          uuid NOT NULL,
    email       text NOT NULL,
    role        text NOT NULL CHECK (role IN ('owner', 'manager', 'desk')),
    locale      text NOT NULL CHECK (locale IN ('ja', 'en')),
    invited_by  text NOT NULL DEFAULT '',
    link_hash   bytea NOT NULL,
    generation  integer NOT NULL DEFAULT 1,
    created_at  timestamptz NOT NULL,
    expires_at  timestamptz NOT NULL,
    accepted_at timestamptz,
    revoked_at  timestamptz,
    PRIMARY KEY (tenant_id, id),
    CHECK (accepted_at IS NULL OR revoked_at IS NULL)
);
CREATE UNIQUE INDEX staff_invitations_open ON staff_invitations (tenant_id, email) WHERE accepted_at IS NULL AND revoked_at IS NULL;
CREATE UNIQUE INDEX staff_invitations_link ON staff_invitations (tenant_id, link_hash);

-- +goose Down
DROP TABLE staff_invitations;
ALTER TABLE sessions
    DROP CONSTRAINT sessions_staff_id_fkey,
    ADD FOREIGN KEY (staff_id) REFERENCES staff (id),
    DROP COLUMN handle, DROP COLUMN device, DROP COLUMN started_at, DROP COLUMN seen_at;
DROP INDEX staff_reset;
ALTER TABLE staff
    DROP COLUMN signed_in_at, DROP COLUMN totp_secret, DROP COLUMN totp_pending, DROP COLUMN totp_step, DROP COLUMN recovery,
    DROP COLUMN reset_generation, DROP COLUMN reset_hash, DROP COLUMN reset_until;
