-- +goose Up
-- What a service asks besides the contact: an array of questions.
ALTER TABLE services ADD COLUMN questions jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(questions) = 'array');
-- Which version of the privacy notice is in force: it stands with each consent.
ALTER TABLE tenants ADD COLUMN privacy_version text NOT NULL DEFAULT '';
-- Personal data, erased together with the contact.
ALTER TABLE waitlist_entries ADD COLUMN answers jsonb NOT NULL DEFAULT '{}';
ALTER TABLE reservations ADD COLUMN answers jsonb NOT NULL DEFAULT '{}';
-- An address that was named and not yet confirmed by its owner. The old one
-- stands until then. The hash stays when it is done: the link opened again says so.
ALTER TABLE reservations ADD COLUMN email_new text NOT NULL DEFAULT '';
ALTER TABLE reservations ADD COLUMN email_until timestamptz;
ALTER TABLE reservations ADD COLUMN email_hash bytea;
ALTER TABLE reservations ADD COLUMN email_generation integer NOT NULL DEFAULT 0;
ALTER TABLE reservations ADD CONSTRAINT reservations_email_change
    CHECK (email_new = '' OR (email_until IS NOT NULL AND email_hash IS NOT NULL));
CREATE UNIQUE INDEX reservations_email_link ON reservations (tenant_id, email_hash) WHERE email_hash IS NOT NULL;

-- +goose Down
DROP INDEX reservations_email_link;
ALTER TABLE reservations DROP CONSTRAINT reservations_email_change, DROP COLUMN email_new, DROP COLUMN email_until,
    DROP COLUMN email_hash, DROP COLUMN email_generation, DROP COLUMN answers;
ALTER TABLE waitlist_entries DROP COLUMN answers;
ALTER TABLE tenants DROP COLUMN privacy_version;
ALTER TABLE services DROP COLUMN questions;
