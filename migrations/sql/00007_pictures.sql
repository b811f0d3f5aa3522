-- +goose Up
-- A picture of a service, as it is served. Apart from services, whose rows are
-- read by every page.
CREATE TABLE service_pictures (
    tenant_id  uuid NOT NULL REFERENCES tenants (id),
    service_id uuid NOT NULL,
    media_type text NOT NULL CHECK (media_type IN ('image/png', 'image/jpeg', 'image/webp')),
    width      integer NOT NULL CHECK (width > 0),
    height     integer NOT NULL CHECK (height > 0),
    bytes      bytea NOT NULL CHECK (octet_length(bytes) BETWEEN 1 AND 400000),
    -- Of the bytes: it stands in the address, so that the answer may be kept for ever.
    hash       text NOT NULL CHECK (hash ~ '^[0-9a-f]{16,}$'),
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, service_id),
    FOREIGN KEY (tenant_id, service_id) REFERENCES services (tenant_id, id)
);

-- Whether a waiting party wants to be told of seats that are open, first come,
-- first served. Its turn is offered in any case.
ALTER TABLE waitlist_entries ADD COLUMN tell_vacancies boolean NOT NULL DEFAULT true;

-- +goose Down
ALTER TABLE waitlist_entries DROP COLUMN tell_vacancies;
DROP TABLE service_pictures;
