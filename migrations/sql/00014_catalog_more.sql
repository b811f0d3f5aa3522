-- +goose Up
-- Where a service stands on the venue's page; alike: the older one first.
ALTER TABLE services ADD COLUMN position integer NOT NULL DEFAULT 0;
-- Rises with each change that staff make: a form that shows an older one writes nothing.
ALTER TABLE services ADD COLUMN version integer NOT NULL DEFAULT 1;
-- What the picture shows, for those who don't see it, by locale; empty: the name says it.
ALTER TABLE services ADD COLUMN picture_alt jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(picture_alt) = 'object');
-- Questions that are no longer asked. They stay because stored answers name them.
ALTER TABLE services ADD COLUMN former_questions jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(former_questions) = 'array');
ALTER TABLE resources ADD COLUMN active boolean NOT NULL DEFAULT true;
ALTER TABLE resources ADD COLUMN version integer NOT NULL DEFAULT 1;
ALTER TABLE tenants ADD COLUMN version integer NOT NULL DEFAULT 1;

-- Who changed what in the settings, and when: append-only. It names fields, never what stood in them.
CREATE TABLE setting_changes (
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    id        uuid NOT NULL DEFAULT gen_random_uuid(),
    at        timestamptz NOT NULL DEFAULT now(),
    -- Null: not a person. No foreign key: the history outlives a membership.
    staff_id  uuid,
    area      text NOT NULL CHECK (area ~ '^[a-z][a-z_]{0,39}$'),
    -- The id of what was changed within the area, a day for closed days; empty for the whole.
    subject   text NOT NULL DEFAULT '' CHECK (char_length(subject) <= 80),
    fields    text[] NOT NULL CHECK (cardinality(fields) BETWEEN 1 AND 60),
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX setting_changes_newest ON setting_changes (tenant_id, at DESC, id DESC);
CREATE INDEX setting_changes_subject ON setting_changes (tenant_id, area, subject, at DESC, id DESC);

-- +goose Down
DROP TABLE setting_changes;
ALTER TABLE tenants DROP COLUMN version;
ALTER TABLE resources DROP COLUMN version, DROP COLUMN active;
ALTER TABLE services DROP COLUMN former_questions, DROP COLUMN picture_alt, DROP COLUMN version, DROP COLUMN position;
