-- +goose Up
-- The newest customers, without a look at every booking that there ever was.
CREATE INDEX reservations_newest ON reservations (tenant_id, confirmed_at, id) WHERE email <> '' AND confirmed_at IS NOT NULL;
-- What was written to one address, and the bookings for which it was named and not confirmed.
CREATE INDEX outbox_recipient ON outbox (tenant_id, lower(recipient)) WHERE recipient <> '';
CREATE INDEX reservations_email_new ON reservations (tenant_id, lower(email_new)) WHERE email_new <> '';
-- Where seats came free: the start of what became of them.
CREATE INDEX events_freed ON events (tenant_id, slot_id) WHERE kind IN ('cancelled', 'moved_out', 'party_changed');

-- +goose Down
DROP INDEX events_freed;
DROP INDEX reservations_newest;
DROP INDEX outbox_recipient;
DROP INDEX reservations_email_new;
