-- +goose Up
-- Days on which a venue is closed, as people read them in its calendar. They
-- decide nothing about seats: a slot that stands on such a day is as it is.
CREATE TABLE closed_days (
    tenant_id  uuid NOT NULL REFERENCES tenants (id),
    day        date NOT NULL,
    -- Why, for customers, by locale.
    note       jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, day)
);

-- Sites that may show the calendar in a frame: origins, such as
-- https://www.example.com. None: nobody may.
ALTER TABLE tenants ADD COLUMN embed_origins text[] NOT NULL DEFAULT '{}';

-- +goose Down
ALTER TABLE tenants DROP COLUMN embed_origins;
DROP TABLE closed_days;
