package strategy

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// Offer names an open offer to a party of one.
type Offer struct {
	TenantID string
	SlotID   string
	EntryID  string
}

func (o Offer) args() pgx.StrictNamedArgs {
	return pgx.StrictNamedArgs{"tenant": o.TenantID, "slot": o.SlotID, "entry": o.EntryID}
}

// Step is one side of a race about an offer. It reports whether it ended the offer.
type Step func(ctx context.Context, db DB, o Offer, pause func()) (bool, error)

// Deadlines are the ways to judge an offer at its deadline. All look at one
// deadline, expires_at, as most code does.
var Deadlines = []struct {
	Name          string
	Sound         bool
	Accept, Lapse Step
}{
	{"naive", false, NaiveAccept, NaiveLapse},
	{"optimistic", true, optimistic(acceptSQL, true), optimistic(lapseSQL, false)},
	{"advisory", true, advisory(acceptSQL, true), advisory(lapseSQL, false)},
}

const readOfferSQL = `-- strategy: read offer
SELECT e.state = 'offered' AND (e.expires_at > clock_timestamp()) = @in_time::boolean, s.version
FROM waitlist_entries e JOIN slots s ON s.tenant_id = e.tenant_id AND s.id = e.slot_id
WHERE e.tenant_id = @tenant AND e.id = @entry`

const acceptSQL = `-- strategy: accept
WITH r AS (
	INSERT INTO reservations (tenant_id, slot_id, party_size, state, number, locale, owner, terms_version, link_hash, source, created_at, confirmed_at)
	VALUES (@tenant, @slot, 1, 'confirmed', left(md5(gen_random_uuid()::text), 12), 'en', 'strategy', 1, sha256(gen_random_uuid()::text::bytea), 'waitlist', now(), now())
	RETURNING id
)
UPDATE waitlist_entries e SET state = 'accepted', reservation_id = r.id, ended_at = now() FROM r WHERE e.tenant_id = @tenant AND e.id = @entry`

const lapseSQL = `-- strategy: lapse
WITH slot AS (UPDATE slots SET taken = taken - 1 WHERE tenant_id = @tenant AND id = @slot)
UPDATE waitlist_entries SET state = 'lapsed', ended_at = now() WHERE tenant_id = @tenant AND id = @entry`

func naive(ctx context.Context, db DB, o Offer, sql string, inTime bool, pause func()) (done bool, err error) {
	err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		fits, _, err := readOffer(ctx, tx, o, inTime)
		pause()
		if err != nil || !fits {
			return err
		}
		done = true
		_, err = tx.Exec(ctx, sql, o.args())
		return err
	})
	return done && err == nil, err
}

func readOffer(ctx context.Context, tx pgx.Tx, o Offer, inTime bool) (fits bool, version int64, err error) {
	err = tx.QueryRow(ctx, readOfferSQL, pgx.StrictNamedArgs{"tenant": o.TenantID, "entry": o.EntryID, "in_time": inTime}).Scan(&fits, &version)
	return fits, version, err
}

// NaiveAccept reads that the offer is open and in time, and then writes by its
// key alone: an offer that lapsed in between is accepted all the same, and its
// seat, which went on, is given twice.
func NaiveAccept(ctx context.Context, db DB, o Offer, pause func()) (bool, error) {
	return naive(ctx, db, o, acceptSQL, true, pause)
}

// NaiveLapse is the sweep of the same kind: it takes the seat of somebody who accepted in between.
func NaiveLapse(ctx context.Context, db DB, o Offer, pause func()) (bool, error) {
	return naive(ctx, db, o, lapseSQL, false, pause)
}

const raiseVersionSQL = `-- strategy: raise version
UPDATE slots SET version = version + 1 WHERE tenant_id = @tenant AND id = @slot AND version = @version`

// optimistic reads and writes if the slot still has the version that it read, else ErrStale.
func optimistic(sql string, inTime bool) Step {
	return func(ctx context.Context, db DB, o Offer, pause func()) (done bool, err error) {
		err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
			fits, version, err := readOffer(ctx, tx, o, inTime)
			pause()
			if err != nil || !fits {
				return err
			}
			tag, err := tx.Exec(ctx, raiseVersionSQL, pgx.StrictNamedArgs{"tenant": o.TenantID, "slot": o.SlotID, "version": version})
			if err != nil {
				return err
			}
			if tag.RowsAffected() == 0 {
				return ErrStale
			}
			done = true
			_, err = tx.Exec(ctx, sql, o.args())
			return err
		})
		return done && err == nil, err
	}
}

// advisory reads and writes under the slot's advisory lock.
func advisory(sql string, inTime bool) Step {
	return func(ctx context.Context, db DB, o Offer, pause func()) (done bool, err error) {
		pause()
		err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, advisorySQL, pgx.StrictNamedArgs{"slot": o.SlotID}); err != nil {
				return err
			}
			fits, _, err := readOffer(ctx, tx, o, inTime)
			if err != nil || !fits {
				return err
			}
			done = true
			_, err = tx.Exec(ctx, sql, o.args())
			return err
		})
		return done && err == nil, err
	}
}

// Cancellation frees the seat of a confirmed reservation and offers it to the
// head of the queue. It gives the entry offered to, or "".
type Cancellation func(ctx context.Context, db DB, tenant, slot, reservation string, pause func()) (string, error)

// Cancellations are the ways to pass a freed seat on.
var Cancellations = []struct {
	Name   string
	Sound  bool
	Cancel Cancellation
}{
	{"naive", false, func(ctx context.Context, db DB, tenant, slot, reservation string, pause func()) (string, error) {
		pause()
		return CancelAndPick(ctx, db, tenant, reservation)
	}},
	{"optimistic", true, optimisticCancel},
	{"advisory", true, advisoryCancel},
}

const cancelSQL = `-- strategy: cancel
UPDATE reservations SET state = 'cancelled', ended_at = now() WHERE tenant_id = @tenant AND id = @reservation AND state = 'confirmed'`

const headSQL = `-- strategy: head of the queue
SELECT e.id::text FROM waitlist_entries e WHERE e.tenant_id = @tenant AND e.slot_id = @slot AND e.state = 'waiting' ORDER BY e.position LIMIT 1`

const offerSQL = `-- strategy: offer
UPDATE waitlist_entries SET state = 'offered', shown_until = now() + interval '30 minutes', expires_at = now() + interval '35 minutes', offered_at = now(),
	offer_hash = sha256(gen_random_uuid()::text::bytea)
WHERE tenant_id = @tenant AND id = @entry AND state = 'waiting'`

const readVersionSQL = `-- strategy: read version
SELECT version FROM slots WHERE tenant_id = @tenant AND id = @slot`

// passOn cancels and offers the seat, which stays taken, to the head as it is now.
func passOn(ctx context.Context, tx pgx.Tx, tenant, slot, reservation string) (string, error) {
	tag, err := tx.Exec(ctx, cancelSQL, pgx.StrictNamedArgs{"tenant": tenant, "reservation": reservation})
	if err != nil || tag.RowsAffected() == 0 {
		return "", err
	}
	var head string
	err = tx.QueryRow(ctx, headSQL, pgx.StrictNamedArgs{"tenant": tenant, "slot": slot}).Scan(&head)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	_, err = tx.Exec(ctx, offerSQL, pgx.StrictNamedArgs{"tenant": tenant, "entry": head})
	return head, err
}

func optimisticCancel(ctx context.Context, db DB, tenant, slot, reservation string, pause func()) (head string, err error) {
	err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		var version int64
		args := pgx.StrictNamedArgs{"tenant": tenant, "slot": slot}
		if err := tx.QueryRow(ctx, readVersionSQL, args).Scan(&version); err != nil {
			return err
		}
		pause()
		args["version"] = version
		tag, err := tx.Exec(ctx, raiseVersionSQL, args)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return ErrStale
		}
		head, err = passOn(ctx, tx, tenant, slot, reservation)
		return err
	})
	return head, err
}

func advisoryCancel(ctx context.Context, db DB, tenant, slot, reservation string, pause func()) (head string, err error) {
	pause()
	err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, advisorySQL, pgx.StrictNamedArgs{"slot": slot}); err != nil {
			return err
		}
		head, err = passOn(ctx, tx, tenant, slot, reservation)
		return err
	})
	return head, err
}

// Edit sets the capacity as a form does that showed a version. It reports
// whether it was written; false or ErrStale: the form was stale.
type Edit func(ctx context.Context, db DB, tenant, slot string, version int64, capacity int, pause func()) (bool, error)

// Edits are the ways to take a form that may be stale.
var Edits = []struct {
	Name  string
	Sound bool
	Edit  Edit
}{
	{"naive", false, naiveEdit},
	{"optimistic", true, optimisticEdit},
	{"advisory", true, advisoryEdit},
}

const setCapacitySQL = `-- strategy: set capacity
UPDATE slots SET capacity = @capacity, version = version + 1 WHERE tenant_id = @tenant AND id = @slot`

const setCapacityIfSQL = `-- strategy: set capacity of a version
UPDATE slots SET capacity = @capacity, version = version + 1 WHERE tenant_id = @tenant AND id = @slot AND version = @version`

// naiveEdit compares the version that it reads, and writes by the key alone: of
// two forms with the same version both are written, and the first is lost unseen.
func naiveEdit(ctx context.Context, db DB, tenant, slot string, version int64, capacity int, pause func()) (done bool, err error) {
	err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		var now int64
		args := pgx.StrictNamedArgs{"tenant": tenant, "slot": slot}
		if err := tx.QueryRow(ctx, readVersionSQL, args).Scan(&now); err != nil {
			return err
		}
		pause()
		if now != version {
			return nil
		}
		args["capacity"] = capacity
		_, err := tx.Exec(ctx, setCapacitySQL, args)
		done = err == nil
		return err
	})
	return done, err
}

func optimisticEdit(ctx context.Context, db DB, tenant, slot string, version int64, capacity int, pause func()) (bool, error) {
	pause()
	tag, err := db.Exec(ctx, setCapacityIfSQL, pgx.StrictNamedArgs{"tenant": tenant, "slot": slot, "capacity": capacity, "version": version})
	if err == nil && tag.RowsAffected() == 0 {
		err = ErrStale
	}
	return err == nil, err
}

func advisoryEdit(ctx context.Context, db DB, tenant, slot string, version int64, capacity int, pause func()) (done bool, err error) {
	pause()
	err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, advisorySQL, pgx.StrictNamedArgs{"slot": slot}); err != nil {
			return err
		}
		done, err = naiveEdit(ctx, tx, tenant, slot, version, capacity, func() {})
		return err
	})
	return done && err == nil, err
}
