-- +goose Up
CREATE TABLE services (
    tenant_id   uuid NOT NULL REFERENCES tenants (id),
    id          uuid NOT NULL DEFAULT gen_random_uuid(),
    slug        text NOT NULL CHECK (slug ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
    -- Texts for customers, one per locale: {"ja": "…", "en": "…"}.
    name        jsonb NOT NULL CHECK (jsonb_typeof(name) = 'object'),
    description jsonb NOT NULL DEFAULT '{}',
    price       jsonb NOT NULL DEFAULT '{}',
    place       jsonb NOT NULL DEFAULT '{}',
    bring       jsonb NOT NULL DEFAULT '{}',
    duration    interval NOT NULL CHECK (duration > '0'),
    capacity    integer NOT NULL CHECK (capacity >= 0),
    active      boolean NOT NULL DEFAULT true,
    -- What differs from the tenant's policies.
    policies    jsonb NOT NULL DEFAULT '{}',
    created_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX services_slug ON services (tenant_id, slug);

CREATE TABLE resources (
    tenant_id  uuid NOT NULL REFERENCES tenants (id),
    id         uuid NOT NULL DEFAULT gen_random_uuid(),
    slug       text NOT NULL CHECK (slug ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
    name       jsonb NOT NULL CHECK (jsonb_typeof(name) = 'object'),
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX resources_slug ON resources (tenant_id, slug);

-- +goose Down
DROP TABLE resources, services;
