-- +goose Up
-- What a shop has decided before its first booking, besides its policies.
ALTER TABLE tenants
    -- The kind of business that its set-up proposed values for.
    ADD COLUMN trade text NOT NULL DEFAULT '',
    -- What the counter does when somebody calls about a full slot; '' until decided.
    ADD COLUMN call_rule text NOT NULL DEFAULT '' CHECK (call_rule IN ('', 'waitlist', 'online', 'extra')),
    -- What else the counter says or does, in the shop's own words.
    ADD COLUMN call_note text NOT NULL DEFAULT '',
    -- Null until the shop has gone through the set-up once.
    ADD COLUMN setup_done_at timestamptz;

-- +goose Down
ALTER TABLE tenants DROP COLUMN setup_done_at, DROP COLUMN call_note, DROP COLUMN call_rule, DROP COLUMN trade;
