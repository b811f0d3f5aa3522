-- +goose Up
-- What the sweeper looks for, by the time at which it is due, so that a pass costs what is due and
-- not what is stored. In UTC without a zone, since only such a sum is the same in every session.
CREATE INDEX slots_remind_due ON slots ((starts_at AT TIME ZONE 'UTC' - reminder_before)) WHERE reminded_at IS NULL AND status <> 'cancelled';
CREATE INDEX slots_erase_waitlist_due ON slots ((ends_at AT TIME ZONE 'UTC' + erase_waitlist_after)) WHERE waitlist_erased_at IS NULL;
CREATE INDEX slots_erase_reservations_due ON slots ((ends_at AT TIME ZONE 'UTC' + erase_reservations_after)) WHERE reservations_erased_at IS NULL;
DROP INDEX slots_to_remind, slots_erase_waitlist, slots_erase_reservations;

-- +goose Down
CREATE INDEX slots_to_remind ON slots (starts_at) WHERE reminded_at IS NULL AND status <> 'cancelled';
CREATE INDEX slots_erase_waitlist ON slots (ends_at) WHERE waitlist_erased_at IS NULL;
CREATE INDEX slots_erase_reservations ON slots (ends_at) WHERE reservations_erased_at IS NULL;
DROP INDEX slots_erase_reservations_due, slots_erase_waitlist_due, slots_remind_due;
