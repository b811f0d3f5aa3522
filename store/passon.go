package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// passOn gives the free seats to those who may have them. It is the end of
// every slot transaction, so that a seat is never free and unclaimed in between,
// whichever door it came back through. It may run several times in one.
func (t *slotTx) passOn(ctx context.Context) error {
	if err := t.offerInOrder(ctx); err != nil {
		return err
	}
	return t.tellVacancies(ctx)
}

// passes reports whether the slot gives out seats by itself now. Before its
// booking opens it does: whoever waits has come through staff or a moved window.
func (t *slotTx) passes() bool {
	return t.slot.Status == SlotOpen && !t.slot.Paused && t.now.Before(t.slot.closesAt())
}

const nextFirstFitSQL = `-- next waiting that fits
SELECT ` + nextColumns + ` FROM waitlist_entries e
WHERE e.tenant_id = @tenant AND e.slot_id = @slot AND e.state = 'waiting' AND e.party_size <= @free ORDER BY e.position LIMIT 1`

const nextStrictSQL = `-- next waiting in strict order
SELECT ` + nextColumns + ` FROM waitlist_entries e
WHERE e.tenant_id = @tenant AND e.slot_id = @slot AND e.state = 'waiting' AND e.party_size <= @capacity ORDER BY e.position LIMIT 1`

const nextColumns = entryColumns + `, 0 AS place, 0 AS of, @now::timestamptz AS now, (e.person_key IS NOT NULL AND EXISTS (
	SELECT 1 FROM reservations r WHERE r.tenant_id = e.tenant_id AND r.slot_id = e.slot_id AND r.person_key = e.person_key AND r.state = 'confirmed')) AS booked`

type nextEntry struct {
	Entry
	Booked bool
}

// offerInOrder offers the free seats while order rules, and sets kept anew.
func (t *slotTx) offerInOrder(ctx context.Context) error {
	if !t.slot.orderRules(t.now) || t.slot.Status == SlotCancelled {
		t.slot.Kept = false
		return nil
	}
	for t.passes() && t.slot.free() > 0 {
		next, err := t.next(ctx)
		if errors.Is(err, NotFound) {
			break
		}
		if err != nil {
			return err
		}
		switch {
		case next.Booked:
			if err := t.closeEntry(ctx, next.Entry, "booked"); err != nil {
				return err
			}
			continue
		case next.PartySize > t.slot.free(): // strict: the head waits for more, and nobody passes it
		default:
			if err := t.offer(ctx, next.Entry, EventOffered, ""); err != nil {
				return err
			}
			continue
		}
		break
	}
	return t.setKept(ctx)
}

func (t *slotTx) next(ctx context.Context) (nextEntry, error) {
	if t.slot.Fit == Strict {
		return one[nextEntry](ctx, t.tx, nextStrictSQL, pgx.StrictNamedArgs{"tenant": t.tenant, "slot": t.slot.ID, "capacity": t.slot.Capacity, "now": t.now})
	}
	return one[nextEntry](ctx, t.tx, nextFirstFitSQL, pgx.StrictNamedArgs{"tenant": t.tenant, "slot": t.slot.ID, "free": t.slot.free(), "now": t.now})
}

const claimExistsSQL = `-- does a waiting entry have a claim
SELECT EXISTS (SELECT 1 FROM waitlist_entries WHERE tenant_id = @tenant AND slot_id = @slot AND state = 'waiting' AND party_size <= @seats)`

// setKept says whether the free seats are kept for somebody who waits. First
// fit: one that they would do for, which after offering is nobody unless the
// slot passes nothing on now. Strict: anybody whom the capacity can hold.
func (t *slotTx) setKept(ctx context.Context) error {
	seats := t.slot.free()
	if t.slot.Fit == Strict {
		seats = t.slot.Capacity
	}
	if seats <= 0 {
		t.slot.Kept = false
		return nil
	}
	return t.tx.QueryRow(ctx, claimExistsSQL, pgx.StrictNamedArgs{"tenant": t.tenant, "slot": t.slot.ID, "seats": seats}).Scan(&t.slot.Kept)
}

const offerSQL = `-- offer
UPDATE waitlist_entries SET state = 'offered', shown_until = @shown, expires_at = @expires, offered_at = @now, offer_hash = @hash
WHERE tenant_id = @tenant AND id = @id AND state = 'waiting'`

// offer keeps seats for an entry until its deadline.
func (t *slotTx) offer(ctx context.Context, e Entry, kind EventKind, reason string) error {
	shown := OfferDeadline(t.now, t.slot.OfferShown, t.slot.quiet(), location(t.slot.TimeZone), t.slot.closesAt())
	expires := shown.Add(t.slot.OfferGrace)
	err := t.exec(ctx, 1, offerSQL, pgx.StrictNamedArgs{
		"tenant": t.tenant, "id": e.ID, "shown": shown, "expires": expires, "now": t.now, "hash": tokenHash(t.s.OfferToken(e)),
	})
	if err != nil {
		return err
	}
	e.State, e.ShownUntil, e.ExpiresAt, e.OfferedAt = Offered, &shown, &expires, &t.now
	details := map[string]any{"shown_until": shown}
	if reason != "" {
		details["reason"] = reason
	}
	var number int64
	if kind == EventOffered {
		// By rule; whose press freed the seats stands in an event before.
		number = t.swept(kind, e.ID, e.PartySize, e.PartySize, details)
	} else {
		number = t.event(kind, e.ID, e.PartySize, e.PartySize, details)
	}
	t.toEntry(KindOffer, e, number, nil)
	t.change.Offered = append(t.change.Offered, e)
	return nil
}

const closeEntrySQL = `-- close entry
UPDATE waitlist_entries SET state = 'closed', ended_at = @now, reason = @reason WHERE tenant_id = @tenant AND id = @id AND state IN ('waiting', 'offered')`

// closeEntry ends an entry that has nothing more to wait for. If seats were
// kept for it, they come free.
func (t *slotTx) closeEntry(ctx context.Context, e Entry, reason string) error {
	if err := t.exec(ctx, 1, closeEntrySQL, pgx.StrictNamedArgs{"tenant": t.tenant, "id": e.ID, "now": t.now, "reason": reason}); err != nil {
		return err
	}
	t.entryClosed(e, reason)
	return nil
}

func (t *slotTx) entryClosed(e Entry, reason string) {
	seats := 0
	if e.State == Offered {
		seats = -e.PartySize
	}
	t.swept(EventEntryClosed, e.ID, e.PartySize, seats, map[string]any{"reason": reason})
	t.change.Closed = append(t.change.Closed, e)
}

const tellSQL = `-- whom to tell of open seats
SELECT ` + entryColumns + `, 0 AS place, 0 AS of, @now::timestamptz AS now
FROM waitlist_entries e
WHERE e.tenant_id = @tenant AND e.slot_id = @slot AND e.state = 'waiting' AND e.tell_vacancies AND e.party_size <= @free
	AND (e.party_size > @before OR e.id = ANY(@resized::text[]::uuid[]))
	AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.tenant_id = e.tenant_id AND o.subject_id = e.id AND o.kind = 'vacancy' AND o.state IN ('pending', 'sending'))
ORDER BY e.position`

// tellVacancies tells those who wait that seats are open, first come, first
// served: each for whom they do now and did not before this transaction, unless
// the last telling is still unsent, or the party does not want to be told.
func (t *slotTx) tellVacancies(ctx context.Context) error {
	if t.slot.orderRules(t.now) || !t.passes() || t.slot.free() <= 0 {
		return nil
	}
	before := t.freeBefore()
	if before >= t.slot.free() && len(t.resized) == 0 {
		return nil
	}
	resized := []string{}
	for id := range t.resized {
		resized = append(resized, id)
	}
	entries, err := list[Entry](ctx, t.tx, tellSQL, pgx.StrictNamedArgs{
		"tenant": t.tenant, "slot": t.slot.ID, "free": t.slot.free(), "before": before, "resized": resized, "now": t.now,
	})
	if err != nil {
		return err
	}
	for _, e := range entries {
		if was, changed := t.resized[e.ID]; t.told[e.ID] || (changed && was <= before) {
			continue
		}
		t.told[e.ID] = true
		number := t.swept(EventVacancyTold, e.ID, e.PartySize, 0, map[string]any{"free": t.slot.free()})
		t.toEntry(KindVacancy, e, number, map[string]any{"free": t.slot.free()})
		t.change.Told = append(t.change.Told, e)
	}
	return nil
}

// freeBefore is how many seats were open to everybody before this transaction:
// none while order ruled, or while the slot passed nothing on.
func (t *slotTx) freeBefore() int {
	was := &t.was
	if was.Status != SlotOpen || was.Paused || was.Kept || was.orderRules(t.now) || !t.now.Before(was.closesAt()) {
		return 0
	}
	return was.free()
}

// sweep closes what is past its enforced deadline in this slot, and the
// entries of people who have meanwhile booked here; then it passes on, so that
// whoever is judged next finds the seats as they ought to be. The row that the
// press is about (exempt) was judged by the press and is left alone.
func (t *slotTx) sweep(ctx context.Context) error {
	before := t.slot.Version
	if err := t.sweepOnly(ctx); err != nil {
		return err
	}
	if t.slot.Version == before && (!t.slot.Kept || t.slot.orderRules(t.now)) {
		return nil // nothing was due: the slot is as the last step left it
	}
	return t.offerInOrder(ctx)
}

// sweepOnly sweeps and leaves passing on to the end of the step.
func (t *slotTx) sweepOnly(ctx context.Context) error {
	due := pgx.StrictNamedArgs{"tenant": t.tenant, "slot": t.slot.ID, "now": t.now, "exempt": t.exempt}
	batch := &pgx.Batch{}
	batch.Queue(expireHoldsSQL, due)
	batch.Queue(lapseOffersSQL, due)
	batch.Queue(unmarkSQL, pgx.StrictNamedArgs{"tenant": t.tenant, "slot": t.slot.ID})
	batch.Queue(closeBookedSQL, pgx.StrictNamedArgs{"tenant": t.tenant, "slot": t.slot.ID, "now": t.now})
	results := t.tx.SendBatch(ctx, batch)
	holds, err := collect[Reservation](results)
	if err != nil {
		return errors.Join(err, results.Close())
	}
	offers, err := collect[Entry](results)
	if err != nil {
		return errors.Join(err, results.Close())
	}
	if _, err := results.Exec(); err != nil {
		return errors.Join(err, results.Close())
	}
	booked, err := collect[Entry](results)
	if err != nil {
		return errors.Join(err, results.Close())
	}
	if err := results.Close(); err != nil {
		return err
	}

	slices.SortFunc(holds, func(a, b Reservation) int {
		return cmp.Or(a.ExpiresAt.Compare(*b.ExpiresAt), cmp.Compare(a.ID, b.ID))
	})
	for _, r := range holds {
		t.freeSeats(r, EventExpired, r.PartySize, nil, true)
		t.change.Ended = append(t.change.Ended, r)
	}
	slices.SortFunc(offers, func(a, b Entry) int {
		return cmp.Or(a.ExpiresAt.Compare(*b.ExpiresAt), cmp.Compare(a.Position, b.Position))
	})
	for _, e := range offers {
		number := t.swept(EventLapsed, e.ID, e.PartySize, -e.PartySize, nil)
		t.toEntry(KindLapsed, e, number, nil)
		t.change.Closed = append(t.change.Closed, e)
		t.sweepLag(*e.ExpiresAt)
	}
	slices.SortFunc(booked, func(a, b Entry) int { return cmp.Compare(a.Position, b.Position) })
	for _, e := range booked {
		if e.OfferedAt != nil { // the row is closed already; what it was shows here
			e.State = Offered
		}
		t.entryClosed(e, "booked")
	}
	return nil
}

func (t *slotTx) sweepLag(due time.Time) {
	if t.s.watch.SweepLag != nil {
		t.s.watch.SweepLag(t.now.Sub(due))
	}
}

// Before the closing, never after: a confirm that commits in between then
// keeps its mark for the next sweep.
const unmarkSQL = `-- entries are about to be closed
UPDATE reservations SET entry_to_close = false WHERE tenant_id = @tenant AND slot_id = @slot AND entry_to_close`

func collect[T any](results pgx.BatchResults) ([]T, error) {
	rows, err := results.Query()
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[T])
}

const expireHoldsSQL = `-- expire holds
UPDATE reservations r SET state = 'expired', ended_at = @now
WHERE r.tenant_id = @tenant AND r.slot_id = @slot AND r.state = 'held' AND r.expires_at <= @now AND r.id <> ALL(@exempt::text[]::uuid[])
RETURNING ` + reservationColumns + `, r.ended_at AS now`

const lapseOffersSQL = `-- lapse offers
UPDATE waitlist_entries e SET state = 'lapsed', ended_at = @now
WHERE e.tenant_id = @tenant AND e.slot_id = @slot AND e.state = 'offered' AND e.expires_at <= @now AND e.id <> ALL(@exempt::text[]::uuid[])
RETURNING ` + entryColumns + `, 0 AS place, 0 AS of, e.ended_at AS now`

// Driven from the few live entries, each looked up by the person's unique key.
const closeBookedSQL = `-- close entries of people who have booked
UPDATE waitlist_entries e SET state = 'closed', ended_at = @now, reason = 'booked'
FROM reservations r
WHERE e.tenant_id = @tenant AND e.slot_id = @slot AND e.state IN ('waiting', 'offered')
	AND r.tenant_id = e.tenant_id AND r.slot_id = e.slot_id AND r.person_key = e.person_key AND r.state = 'confirmed'
RETURNING ` + entryColumns + `, 0 AS place, 0 AS of, e.ended_at AS now`

// freeSeats takes the end of a reservation's seats into the slot: extra seats
// that were added for it go first, in the same write as taken.
func (t *slotTx) freeSeats(r Reservation, kind EventKind, seats int, details map[string]any, bySweeper bool) int64 {
	if extra := min(r.ExtraSeats, seats); extra > 0 {
		t.slot.Capacity -= extra
		if details == nil {
			details = map[string]any{}
		}
		details["extra_seats"] = -extra
	}
	if bySweeper {
		if r.ExpiresAt != nil {
			t.sweepLag(*r.ExpiresAt)
		}
		return t.swept(kind, r.ID, r.PartySize, -seats, details)
	}
	return t.event(kind, r.ID, r.PartySize, -seats, details)
}
