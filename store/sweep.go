package store

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// SweepReport tells what one pass did.
type SweepReport struct {
	Slots    int `json:"slots"`
	Expired  int `json:"expired"`
	Closed   int `json:"closed"` // entries that ended: lapsed, booked meanwhile, or their slot has begun
	Offered  int `json:"offered"`
	Told     int `json:"told"`
	Sealed   int `json:"sealed"`
	Reminded int `json:"reminded"`
	Erased   int `json:"erased"`
	Failed   int `json:"failed"` // slots that could not be swept; they are tried again
	// Next is the next deadline, when there will be something to do; nil: none is set.
	Next *time.Time `json:"next"`
}

// slotRef names a slot; work is looked for over all tenants in reads without
// locks, and done within one tenant.
type slotRef struct {
	Tenant string
	Slot   string
	Due    time.Time
}

// Each part reads an index of what is due, so that the work grows with that
// and not with what is stored.
const dueSlotsSQL = `-- slots with something due
SELECT tenant_id::text AS tenant, slot_id::text AS slot, min(due) AS due FROM (
	SELECT tenant_id, slot_id, expires_at AS due FROM reservations
		WHERE state = 'held' AND expires_at <= coalesce(@at::timestamptz, statement_timestamp())
	UNION ALL
	SELECT tenant_id, slot_id, expires_at FROM waitlist_entries
		WHERE state = 'offered' AND expires_at <= coalesce(@at::timestamptz, statement_timestamp())
	UNION ALL
	SELECT tenant_id, id, order_until FROM slots
		WHERE kept AND order_until > '-infinity' AND order_until <= coalesce(@at::timestamptz, statement_timestamp())
	UNION ALL
	SELECT tenant_id, slot_id, confirmed_at FROM reservations WHERE entry_to_close
) due
WHERE slot_id <> ALL(@left_out::text[]::uuid[])
GROUP BY 1, 2 ORDER BY min(due) LIMIT 500`

const begunSlotsSQL = `-- slots that have begun with entries waiting
SELECT s.tenant_id::text AS tenant, s.id::text AS slot, s.starts_at AS due FROM slots s
WHERE s.id <> ALL(@left_out::text[]::uuid[]) AND s.entries_closed_at IS NULL AND s.starts_at <= coalesce(@at::timestamptz, statement_timestamp())
ORDER BY s.starts_at LIMIT 500`

const remindSlotsSQL = `-- slots to remind of
SELECT s.tenant_id::text AS tenant, s.id::text AS slot, s.starts_at - s.reminder_before AS due FROM slots s
WHERE s.id <> ALL(@left_out::text[]::uuid[]) AND s.reminded_at IS NULL AND s.status <> 'cancelled' AND s.starts_at > coalesce(@at::timestamptz, statement_timestamp())
	AND s.starts_at < coalesce(@at::timestamptz, statement_timestamp()) + interval '720 hours'
	AND s.starts_at AT TIME ZONE 'UTC' - s.reminder_before <= coalesce(@at::timestamptz, statement_timestamp()) AT TIME ZONE 'UTC'
	AND s.starts_at AT TIME ZONE 'UTC' - s.reminder_before > coalesce(@at::timestamptz, statement_timestamp()) AT TIME ZONE 'UTC' - interval '720 hours'
ORDER BY s.starts_at LIMIT 500`

const unsealedSlotsSQL = `-- slots with events to seal
SELECT tenant_id::text AS tenant, slot_id::text AS slot, coalesce(@at::timestamptz, min(at)) AS due FROM events
WHERE number IS NOT NULL AND seal IS NULL AND slot_id <> ALL(@left_out::text[]::uuid[]) GROUP BY 1, 2 LIMIT 500`

const eraseSlotsSQL = `-- slots whose contacts are to be erased
SELECT s.tenant_id::text AS tenant, s.id::text AS slot, s.ends_at AS due FROM slots s
WHERE s.id <> ALL(@left_out::text[]::uuid[])
	AND ((s.waitlist_erased_at IS NULL AND s.ends_at AT TIME ZONE 'UTC' + s.erase_waitlist_after <= coalesce(@at::timestamptz, statement_timestamp()) AT TIME ZONE 'UTC')
		OR (s.reservations_erased_at IS NULL AND s.ends_at AT TIME ZONE 'UTC' + s.erase_reservations_after <= coalesce(@at::timestamptz, statement_timestamp()) AT TIME ZONE 'UTC'))
ORDER BY s.ends_at LIMIT 500`

const nextDueSQL = `-- next deadline
SELECT least(
	(SELECT min(expires_at) FROM reservations WHERE state = 'held'),
	(SELECT min(expires_at) FROM waitlist_entries WHERE state = 'offered'),
	(SELECT min(order_until) FROM slots WHERE kept AND order_until > '-infinity' AND order_until < 'infinity')
) AS next, coalesce(@at::timestamptz, statement_timestamp()) AS now`

// NextDue gives the next deadline of a hold, an offer or a switch (nil: none),
// and the database's now, which it has to be compared with.
func (s *Store) NextDue(ctx context.Context) (*time.Time, time.Time, error) {
	var next *time.Time
	var now time.Time
	err := s.db.QueryRow(ctx, nextDueSQL, pgx.StrictNamedArgs{"at": s.at}).Scan(&next, &now)
	return next, now, classify(err)
}

// overdue is how long a slot may be passed by because somebody else has its
// lock; past it the sweep waits for the lock like everybody else.
const overdue = 5 * time.Second

// Sweep makes one pass over all that is due: it closes what is past its
// enforced deadline and passes the seats on, one short transaction a slot. Any
// number of instances may do so at once; each takes the slots that it gets.
// A slot that fails is counted and reported, does not stop the others, and is
// left out of the next passes, each time of more.
func (s *Store) Sweep(ctx context.Context) (SweepReport, error) {
	var report SweepReport
	var failed []error
	leftOut := s.aside.pass()
	each := func(sql string, do func(context.Context, slotRef) error) {
		refs, err := s.refs(ctx, sql, leftOut)
		if err != nil {
			failed = append(failed, err)
			return
		}
		for _, ref := range refs {
			switch err := do(ctx, ref); {
			case err == nil:
				s.aside.done(ref.Slot)
			case errors.Is(err, errSkipped):
			case ctx.Err() == nil:
				s.aside.failed(ref.Slot)
				report.Failed++
				failed = append(failed, fmt.Errorf("slot %s: %w", ref.Slot, err))
			}
		}
	}
	each(dueSlotsSQL, func(ctx context.Context, ref slotRef) error { return s.sweepSlot(ctx, ref, &report) })
	each(begunSlotsSQL, func(ctx context.Context, ref slotRef) error { return s.closeBegun(ctx, ref, &report) })
	each(remindSlotsSQL, func(ctx context.Context, ref slotRef) error { return s.remind(ctx, ref, &report) })
	each(unsealedSlotsSQL, func(ctx context.Context, ref slotRef) error { return s.seal(ctx, ref, &report) })
	each(eraseSlotsSQL, func(ctx context.Context, ref slotRef) error { return s.erase(ctx, ref, &report) })
	for _, chore := range []func(context.Context) error{s.feedEvents, s.tellStaff, s.tidy, s.tidyAnswers} {
		if err := chore(ctx); err != nil {
			failed = append(failed, err)
		}
	}
	next, _, err := s.NextDue(ctx)
	if err != nil {
		failed = append(failed, err)
	}
	report.Next = next
	if ctx.Err() != nil {
		return report, ctx.Err()
	}
	if len(failed) > 0 {
		return report, fmt.Errorf("sweep: %w", errors.Join(failed...))
	}
	return report, nil
}

func (s *Store) refs(ctx context.Context, sql string, leftOut []string) ([]slotRef, error) {
	return list[slotRef](ctx, s.db, sql, pgx.StrictNamedArgs{"at": s.at, "left_out": leftOut})
}

// lockForSweep runs f on the slot, passing by one that somebody else has
// locked, unless it is overdue.
func (s *Store) lockForSweep(ctx context.Context, step string, ref slotRef, f func(context.Context, *slotTx) error) (Change, error) {
	now, err := s.Now(ctx)
	if err != nil {
		return Change{}, err
	}
	opt := stepOptions{skipLocked: now.Sub(ref.Due) < overdue}
	return s.onSlotWith(ctx, step, ref.Tenant, ref.Slot, Actor{Kind: System}, opt, f)
}

func (s *Store) sweepSlot(ctx context.Context, ref slotRef, report *SweepReport) error {
	change, err := s.lockForSweep(ctx, "sweep", ref, func(ctx context.Context, t *slotTx) error { return t.sweep(ctx) })
	if err != nil {
		return err
	}
	report.Slots++
	report.Expired += len(change.Ended)
	report.Closed += len(change.Closed)
	report.Offered += len(change.Offered)
	report.Told += len(change.Told)
	return nil
}

const entriesClosedSQL = `-- entries of a begun slot are closed
UPDATE slots SET entries_closed_at = @now WHERE tenant_id = @tenant AND id = @slot`

const closeWaitingSQL = `-- close waiting entries of a begun slot
UPDATE waitlist_entries e SET state = 'closed', ended_at = @now, reason = 'begun'
WHERE e.tenant_id = @tenant AND e.slot_id = @slot AND e.state = 'waiting'
RETURNING ` + entryColumns + `, 0 AS place, 0 AS of, e.ended_at AS now`

// closeBegun ends the waiting of those who waited until the slot began. An open
// offer runs to its deadline; when it lapses there is nobody left to pass on to.
func (s *Store) closeBegun(ctx context.Context, ref slotRef, report *SweepReport) error {
	_, err := s.lockForSweep(ctx, "begun", ref, func(ctx context.Context, t *slotTx) error {
		if t.slot.StartsAt.After(t.now) { // it was put off in the meantime
			return nil
		}
		if err := t.sweepOnly(ctx); err != nil {
			return err
		}
		closed, err := list[Entry](ctx, t.tx, closeWaitingSQL, pgx.StrictNamedArgs{"tenant": t.tenant, "slot": t.slot.ID, "now": t.now})
		if err != nil {
			return err
		}
		for _, e := range closed {
			t.entryClosed(e, "begun")
		}
		report.Closed += len(closed)
		return t.exec(ctx, 1, entriesClosedSQL, pgx.StrictNamedArgs{"tenant": t.tenant, "slot": t.slot.ID, "now": t.now})
	})
	return err
}

// One reminder per booking and terms, also with several sweepers: the slot is locked, and the key is unique.
const remindSQL = `-- remind
INSERT INTO outbox (tenant_id, id, kind, slot_id, subject_id, recipient, locale, next_attempt_at, dedupe_key, created_at)
SELECT r.tenant_id, gen_random_uuid(), 'reminder', r.slot_id, r.id, r.email, r.locale, @now, 'reminder/' || r.id || '/' || r.slot_id || '/' || @terms::int, @now
FROM reservations r
WHERE r.tenant_id = @tenant AND r.slot_id = @slot AND r.state = 'confirmed' AND r.email <> '' AND r.confirmed_at <= @due
ON CONFLICT (tenant_id, dedupe_key) DO NOTHING`

const remindedSQL = `-- reminded
UPDATE slots SET reminded_at = @now WHERE tenant_id = @tenant AND id = @slot`

// remind writes to everybody who booked before the reminder was due; who
// booked later has just read what it would say.
func (s *Store) remind(ctx context.Context, ref slotRef, report *SweepReport) error {
	_, err := s.lockForSweep(ctx, "remind", ref, func(ctx context.Context, t *slotTx) error {
		due := t.slot.StartsAt.Add(-t.slot.ReminderBefore)
		if t.slot.RemindedAt != nil || t.slot.Status == SlotCancelled || due.After(t.now) {
			return nil
		}
		tag, err := t.tx.Exec(ctx, remindSQL, pgx.StrictNamedArgs{"tenant": t.tenant, "slot": t.slot.ID, "now": t.now, "terms": t.slot.TermsVersion, "due": due})
		if err != nil {
			return err
		}
		report.Reminded += int(tag.RowsAffected())
		return t.exec(ctx, 1, remindedSQL, pgx.StrictNamedArgs{"tenant": t.tenant, "slot": t.slot.ID, "now": t.now})
	})
	return err
}

// sealedEvent is an event as it is sealed; its JSON is what the seal covers.
type sealedEvent struct {
	ID        int64     `json:"-"`
	Slot      string    `json:"slot"`
	Number    int64     `json:"number"`
	Kind      string    `json:"kind"`
	Actor     string    `json:"actor"`
	PartySize int       `json:"party"`
	Seats     int       `json:"seats"`
	Capacity  *int      `json:"capacity"`
	Mode      string    `json:"mode"`
	Subject   *string   `json:"subject"`
	At        time.Time `json:"at"`
	Details   string    `json:"details"`
	Seal      []byte    `json:"-"`
}

const sealColumns = `id, slot_id::text AS slot, number, kind, actor, party_size, seats, capacity, mode, subject_id::text AS subject, at, details::text AS details, seal`

// seal is a hash over the previous seal and the event, so that changing,
// adding or removing a line of the history breaks all seals after it.
func (e sealedEvent) seal(previous []byte) ([]byte, error) {
	e.At = e.At.UTC()
	line, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(append(append([]byte{}, previous...), line...))
	return sum[:], nil
}

const lastSealSQL = `-- last seal
SELECT number, seal FROM events WHERE tenant_id = @tenant AND slot_id = @slot AND number IS NOT NULL AND seal IS NOT NULL ORDER BY number DESC LIMIT 1`

const unsealedSQL = `-- events to seal
SELECT ` + sealColumns + ` FROM events
WHERE tenant_id = @tenant AND slot_id = @slot AND number IS NOT NULL AND seal IS NULL ORDER BY number LIMIT 1000`

const sealSQL = `-- seal
UPDATE events SET seal = @seal WHERE tenant_id = @tenant AND id = @id AND seal IS NULL`

// seal seals the numbered events of a slot, in order. It needs no lock: numbers
// become visible in their order, because each is committed before the next can
// be given, and two sealers write the same bytes.
func (s *Store) seal(ctx context.Context, ref slotRef, report *SweepReport) error {
	return pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		var last int64
		var previous []byte
		err := tx.QueryRow(ctx, lastSealSQL, pgx.StrictNamedArgs{"tenant": ref.Tenant, "slot": ref.Slot}).Scan(&last, &previous)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		events, err := list[sealedEvent](ctx, tx, unsealedSQL, pgx.StrictNamedArgs{"tenant": ref.Tenant, "slot": ref.Slot})
		if err != nil {
			return err
		}
		batch := &pgx.Batch{}
		for _, e := range events {
			if e.Number != last+1 { // sealed by another in the meantime, or a gap, which check reports
				break
			}
			if previous, err = e.seal(previous); err != nil {
				return err
			}
			last = e.Number
			batch.Queue(sealSQL, pgx.StrictNamedArgs{"tenant": ref.Tenant, "id": e.ID, "seal": previous})
		}
		report.Sealed += batch.Len()
		return tx.SendBatch(ctx, batch).Close()
	})
}

const eraseEntriesSQL = `-- erase contacts of entries
UPDATE waitlist_entries SET ` + entryErased + `
WHERE tenant_id = @tenant AND slot_id = @slot AND erased_at IS NULL`

const eraseReservationsSQL = `-- erase contacts of reservations
UPDATE reservations SET ` + reservationErased + `
WHERE tenant_id = @tenant AND slot_id = @slot AND erased_at IS NULL`

// A message that was never sent is not sent to an erased address.
const eraseOutboxSQL = `-- erase messages
UPDATE outbox o SET ` + messageErased + `
WHERE o.tenant_id = @tenant AND o.slot_id = @slot AND o.erased_at IS NULL
	AND (EXISTS (SELECT 1 FROM waitlist_entries e WHERE e.tenant_id = o.tenant_id AND e.id = o.subject_id AND e.erased_at IS NOT NULL)
		OR EXISTS (SELECT 1 FROM reservations r WHERE r.tenant_id = o.tenant_id AND r.id = o.subject_id AND r.erased_at IS NOT NULL))`

const erasedSQL = `-- contacts erased
UPDATE slots SET waitlist_erased_at = CASE WHEN ends_at + erase_waitlist_after <= @now THEN coalesce(waitlist_erased_at, @now) ELSE waitlist_erased_at END,
	reservations_erased_at = CASE WHEN ends_at + erase_reservations_after <= @now THEN coalesce(reservations_erased_at, @now) ELSE reservations_erased_at END
WHERE tenant_id = @tenant AND id = @slot
RETURNING waitlist_erased_at IS NOT NULL AS waitlist, reservations_erased_at IS NOT NULL AS reservations`

// erase takes the personal data out of a slot whose time to keep it is over.
// Counts and history stay: they hold none.
func (s *Store) erase(ctx context.Context, ref slotRef, report *SweepReport) error {
	_, err := s.lockForSweep(ctx, "erase", ref, func(ctx context.Context, t *slotTx) error {
		if err := t.sweepOnly(ctx); err != nil {
			return err
		}
		var waitlist, reservations bool
		args := pgx.StrictNamedArgs{"tenant": t.tenant, "slot": t.slot.ID, "now": t.now}
		if err := t.tx.QueryRow(ctx, erasedSQL, args).Scan(&waitlist, &reservations); err != nil {
			return err
		}
		for _, part := range []struct {
			due bool
			sql string
		}{{waitlist, eraseEntriesSQL}, {reservations, eraseReservationsSQL}} {
			if !part.due {
				continue
			}
			tag, err := t.tx.Exec(ctx, part.sql, args)
			if err != nil {
				return err
			}
			report.Erased += int(tag.RowsAffected())
		}
		_, err := t.tx.Exec(ctx, eraseOutboxSQL, args)
		return err
	})
	return err
}

const tidyMyLinksSQL = `-- erase sent link mails
UPDATE outbox SET recipient = '', sent_subject = '', sent_text = '', erased_at = (SELECT coalesce(@at::timestamptz, statement_timestamp()))
WHERE tenant_id = @tenant AND kind = 'my_reservations' AND erased_at IS NULL AND state IN ('sent', 'obsolete', 'failed')
	AND created_at < (SELECT coalesce(@at::timestamptz, statement_timestamp())) - interval '168 hours'`

const oldMyLinksSQL = `-- tenants with old link mails
SELECT DISTINCT tenant_id::text FROM outbox WHERE kind = 'my_reservations' AND erased_at IS NULL AND state IN ('sent', 'obsolete', 'failed')
	AND created_at < coalesce(@at::timestamptz, statement_timestamp()) - interval '168 hours' LIMIT 100`

const tidySessionsSQL = `-- delete ended sessions
DELETE FROM sessions WHERE expiry < statement_timestamp()`

const tidyLimitsSQL = `-- delete old counts
DELETE FROM rate_limits WHERE opens_at < statement_timestamp() - interval '24 hours'`

// tidy takes away what has only a time: ended sessions, old counts, mails with links.
func (s *Store) tidy(ctx context.Context) error {
	if _, err := s.db.Exec(ctx, tidySessionsSQL); err != nil {
		return err
	}
	if _, err := s.db.Exec(ctx, tidyLimitsSQL); err != nil {
		return err
	}
	rows, err := s.db.Query(ctx, oldMyLinksSQL, pgx.StrictNamedArgs{"at": s.at})
	if err != nil {
		return err
	}
	tenants, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, tenant := range tenants {
		if _, err := s.db.Exec(ctx, tidyMyLinksSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant}); err != nil {
			return err
		}
	}
	return nil
}
