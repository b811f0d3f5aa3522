-- +goose Up
CREATE TABLE tenants (
    id                 uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    slug               text NOT NULL UNIQUE CHECK (slug ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
    name               text NOT NULL CHECK (name <> ''),
    time_zone          text NOT NULL,
    locale             text NOT NULL CHECK (locale IN ('ja', 'en')),
    email              text NOT NULL DEFAULT '',
    phone              text NOT NULL DEFAULT '',
    address            text NOT NULL DEFAULT '',
    map_url            text NOT NULL DEFAULT '',
    privacy_url        text NOT NULL DEFAULT '',
    legal_url          text NOT NULL DEFAULT '',
    -- What differs from the product's defaults; a service may differ again.
    policies           jsonb NOT NULL DEFAULT '{}',
    -- Links are derived from a server secret: an instance started with another
    -- one could not open the links already mailed, so readiness compares this.
    secret_fingerprint text NOT NULL DEFAULT '',
    created_at         timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE staff (
    id            uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    email         text NOT NULL UNIQUE,
    name          text NOT NULL DEFAULT '',
    locale        text NOT NULL DEFAULT '' CHECK (locale IN ('', 'ja', 'en')),
    password_hash text NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE memberships (
    tenant_id  uuid NOT NULL REFERENCES tenants (id),
    staff_id   uuid NOT NULL REFERENCES staff (id),
    role       text NOT NULL CHECK (role IN ('owner', 'manager', 'desk')),
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, staff_id)
);
CREATE INDEX memberships_staff ON memberships (staff_id);

CREATE TABLE api_keys (
    tenant_id    uuid NOT NULL REFERENCES tenants (id),
    id           uuid NOT NULL DEFAULT gen_random_uuid(),
    name         text NOT NULL CHECK (name <> ''),
    hash         bytea NOT NULL,
    scopes       text[] NOT NULL CHECK (scopes <@ ARRAY['read', 'book', 'manage']),
    created_at   timestamptz NOT NULL DEFAULT now(),
    last_used_at timestamptz,
    revoked_at   timestamptz,
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX api_keys_hash ON api_keys (tenant_id, hash);

-- +goose Down
DROP TABLE api_keys, memberships, staff, tenants;
