package race

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"holdfast/store"
	"holdfast/store/strategy"
)

// The strategies by the names that reports use.
const (
	// Product is the product's own code path: conditional updates under the slot's lock.
	Product    = "conditional"
	Naive      = "naive"
	Optimistic = "optimistic"
	Advisory   = "advisory"
)

// Strategies lists them in the order of reports.
var Strategies = []string{Naive, Product, Optimistic, Advisory}

// A scenario is one race.
type scenario struct {
	name string
	text string
	// broken: the naive strategy has to break here, else the race was not provoked.
	broken bool
	// strategies that have a way to do it; nil: all.
	strategies []string
	// rounds runs n rounds of it and judges each.
	rounds func(ctx context.Context, l *lab, strat string, n int, t *tally) error
}

// Scenarios are all races, by name, in the order of reports.
func Scenarios() []string {
	var names []string
	for _, s := range scenarios {
		names = append(names, s.name)
	}
	return names
}

var scenarios = []scenario{
	{name: "last-seat-2", text: "two press for the last seat", broken: true, rounds: lastSeat(2, 0)},
	{name: "last-seat-50", text: "fifty press for the last seat", broken: true, rounds: lastSeat(50, 0)},
	{name: "cancelled-rows", text: "ten press for the last seat of a slot that ended reservations stand in", broken: true, rounds: lastSeat(10, 3)},
	{name: "deadline-one", text: "accept a millisecond before the deadline, the sweep at it: one deadline", broken: true, rounds: deadline(0)},
	{name: "deadline-grace", text: "the same with a shown and an enforced deadline", strategies: []string{Product}, rounds: deadline(3 * time.Second)},
	{name: "two-cancels", text: "two cancellations at once, five waiting", broken: true, rounds: twoCancels},
	{name: "claims", text: "twenty claim one vacancy", broken: true, rounds: claims},
	{name: "stale", text: "two forms with the same version", broken: true, rounds: stale},
	{name: "same-key", text: "ten retries of one key at once", broken: true, strategies: []string{Naive, Product}, rounds: sameKey},
	{name: "rollback", text: "the first of two commits or rolls back while the second waits", broken: true, rounds: rollback},
	{name: "unrelated", text: "one slot is locked, eight others must not wait", rounds: unrelated},
	{name: "lock-timeout", text: "the slot stays locked for longer than anybody waits", rounds: lockTimeout},
}

// pauseOf is how long a strategy that reads first thinks before it writes: what
// a rush does now and then happens each time.
func pauseOf(strat string) time.Duration {
	if strat == Product {
		return 0
	}
	return 8 * time.Millisecond
}

// lastSeat lets n press for the one seat of a fresh slot in which some reservations have ended.
func lastSeat(n, ended int) func(context.Context, *lab, string, int, *tally) error {
	return func(ctx context.Context, l *lab, strat string, rounds int, t *tally) error {
		slots, err := l.slots(ctx, l.sequential, rounds, 1)
		if err != nil {
			return err
		}
		for _, slot := range slots {
			for range ended {
				r, err := l.hold(ctx, slot)
				if err != nil {
					return err
				}
				if _, err := l.store.Release(ctx, store.OwnerPress{Press: store.Press{TenantID: slot.TenantID, ID: r.ID, Actor: visitors}, Owner: r.Owner}); err != nil {
					return err
				}
			}
			presses := make([]press, n)
			for i := range presses {
				presses[i] = press{Do: "hold", Strategy: strat, Slot: slot.ID, Key: l.key(), Pause: pauseOf(strat)}
			}
			answers, err := l.round(ctx, t, slot, presses, nil)
			if err != nil {
				return err
			}
			if err := t.judgeSeats(ctx, l, slot, answers, 1); err != nil {
				return err
			}
		}
		return nil
	}
}

const (
	// deadlineBatch is how many offers end at one instant.
	deadlineBatch = 40
	// deadlineAhead is how far off that instant is: time to send everybody out.
	deadlineAhead = 80 * time.Millisecond
	// longestWay bounds how long a press is under way to the database.
	longestWay = 25 * time.Millisecond
	// justBefore is how long before the deadline the other half of the presses
	// arrives: as near as a machine that does forty things at once can aim.
	justBefore = 12 * time.Millisecond
	// slowPause lets a strategy that reads first write after the deadline.
	slowPause = 25 * time.Millisecond
)

// deadline presses accept one millisecond before the deadline that people read,
// while the sweep runs. With a grace the enforced deadline is later, as the product sets it.
func deadline(grace time.Duration) func(context.Context, *lab, string, int, *tally) error {
	return func(ctx context.Context, l *lab, strat string, rounds int, t *tally) error {
		// A batch takes as long as one offer.
		for left := max(rounds, deadlineBatch); left > 0; left -= deadlineBatch {
			if err := deadlineRound(ctx, l, strat, min(left, deadlineBatch), grace, t); err != nil {
				return err
			}
		}
		return nil
	}
}

func deadlineRound(ctx context.Context, l *lab, strat string, n int, grace time.Duration, t *tally) error {
	slots, err := l.slots(ctx, l.sequential, n, 1)
	if err != nil {
		return err
	}
	offers := make([]store.Entry, n)
	var setting errgroup.Group
	setting.SetLimit(3)
	for i, slot := range slots {
		setting.Go(func() error {
			booked, err := l.book(ctx, slot)
			if err != nil {
				return err
			}
			if offers[i], err = l.join(ctx, slot); err != nil {
				return err
			}
			_, err = l.store.Cancel(ctx, store.CancelRequest{TenantID: slot.TenantID, IDs: []string{booked.ID}, Actor: visitors})
			return err
		})
	}
	if err := setting.Wait(); err != nil {
		return err
	}
	shown, err := strategy.SetDeadline(ctx, l.pool, l.tenant.ID, idsOf(offers), deadlineAhead, grace)
	if err != nil {
		return err
	}
	pause := pauseOf(strat)
	if pause > 0 {
		pause = slowPause
	}
	var presses []press
	for i, e := range offers {
		// By turns pressed a millisecond before the deadline, and so that it arrives just before.
		accept := press{Do: "accept", Strategy: strat, Slot: slots[i].ID, ID: e.ID, At: shown.Add(-time.Millisecond), Way: time.Duration(rand.Int64N(int64(longestWay))), Pause: pause}
		if i%2 == 1 {
			accept.At = shown.Add(-justBefore - accept.Way)
		}
		presses = append(presses, accept)
	}
	if strat == Product {
		presses = append(presses, press{Do: "sweep", Strategy: strat, At: shown.Add(-20 * time.Millisecond), Until: shown.Add(2 * longestWay)})
	} else {
		for i, e := range offers {
			presses = append(presses, press{Do: "lapse", Strategy: strat, Slot: slots[i].ID, ID: e.ID, At: shown.Add(time.Millisecond), Pause: pause})
		}
	}
	answers, err := l.round(ctx, t, slots[0], presses, nil)
	if err != nil {
		return err
	}
	t.Rounds += n - 1 // each offer is one
	for i, slot := range slots {
		a := answers[i]
		inTime := !a.Pressed.After(shown)
		if inTime {
			t.InTime++
		}
		if inTime && a.Outcome != "" && a.Outcome != "stale" {
			t.RefusedInTime++
			if grace > 0 {
				t.violated("refused_in_time", slot)
			}
		}
		state, held, err := strategy.OfferNow(ctx, l.pool, l.tenant.ID, offers[i].ID)
		if err != nil {
			return err
		}
		if a.Yes != (state == string(store.Accepted)) || a.Yes != (held == 1) {
			t.violated("told_otherwise", slot)
			continue
		}
		if err := t.judgeTaken(ctx, l, slot); err != nil {
			return err
		}
	}
	return nil
}

func idsOf(entries []store.Entry) []string {
	var ids []string
	for _, e := range entries {
		ids = append(ids, e.ID)
	}
	return ids
}

// twoCancels frees both seats of a slot at once while five wait: the first two have to be offered them.
func twoCancels(ctx context.Context, l *lab, strat string, rounds int, t *tally) error {
	slots, err := l.slots(ctx, l.sequential, rounds, 2)
	if err != nil {
		return err
	}
	for _, slot := range slots {
		presses := make([]press, 2)
		for i := range presses {
			booked, err := l.book(ctx, slot)
			if err != nil {
				return err
			}
			presses[i] = press{Do: "cancel", Strategy: strat, Slot: slot.ID, ID: booked.ID, Pause: pauseOf(strat) / 4}
		}
		var queue []store.Entry
		for range 5 {
			e, err := l.join(ctx, slot)
			if err != nil {
				return err
			}
			queue = append(queue, e)
		}
		if _, err := l.round(ctx, t, slot, presses, nil); err != nil {
			return err
		}
		offered, err := strategy.OfferedOf(ctx, l.pool, slot.TenantID, slot.ID)
		if err != nil {
			return err
		}
		switch {
		case len(offered) < 2:
			t.violated("seat_idle", slot)
		case len(offered) > 2:
			t.violated("oversold", slot)
		case offered[0] != queue[0].ID || offered[1] != queue[1].ID:
			t.violated("out_of_order", slot)
		}
	}
	return nil
}

// claims lets twenty who wait press for one open seat, first come, first served.
func claims(ctx context.Context, l *lab, strat string, rounds int, t *tally) error {
	const n = 20
	slots, err := l.slots(ctx, l.broadcast, rounds, 1)
	if err != nil {
		return err
	}
	for _, slot := range slots {
		booked, err := l.book(ctx, slot)
		if err != nil {
			return err
		}
		presses := make([]press, n)
		for i := range presses {
			e, err := l.join(ctx, slot)
			if err != nil {
				return err
			}
			presses[i] = press{Do: "hold", Strategy: strat, Slot: slot.ID, Pause: pauseOf(strat)}
			if strat == Product {
				presses[i] = press{Do: "claim", Strategy: strat, Slot: slot.ID, ID: e.ID}
			}
		}
		if _, err := l.store.Cancel(ctx, store.CancelRequest{TenantID: slot.TenantID, IDs: []string{booked.ID}, Actor: visitors}); err != nil {
			return err
		}
		answers, err := l.round(ctx, t, slot, presses, nil)
		if err != nil {
			return err
		}
		if err := t.judgeSeats(ctx, l, slot, answers, 1); err != nil {
			return err
		}
	}
	return nil
}

// stale sends two forms that showed the same version: one may be written.
func stale(ctx context.Context, l *lab, strat string, rounds int, t *tally) error {
	slots, err := l.slots(ctx, l.sequential, rounds, 4)
	if err != nil {
		return err
	}
	for _, slot := range slots {
		answers, err := l.round(ctx, t, slot, []press{
			{Do: "capacity", Strategy: strat, Slot: slot.ID, Version: slot.Version, Capacity: 5, Pause: pauseOf(strat)},
			{Do: "capacity", Strategy: strat, Slot: slot.ID, Version: slot.Version, Capacity: 6, Pause: pauseOf(strat)},
		}, nil)
		if err != nil {
			return err
		}
		if yes := answers[0].Yes; yes == answers[1].Yes {
			t.violated(map[bool]string{true: "lost_update", false: "refused_both"}[yes], slot)
		}
	}
	return nil
}

// sameKey sends one request ten times at once: everybody gets the one hold.
func sameKey(ctx context.Context, l *lab, strat string, rounds int, t *tally) error {
	const n = 10
	way := strat
	if strat == Naive {
		way = "ignore-conflict" // the conflict of the key is swallowed, and the seats of the second press stay counted
	}
	slots, err := l.slots(ctx, l.sequential, rounds, 5)
	if err != nil {
		return err
	}
	for _, slot := range slots {
		key := l.key()
		presses := make([]press, n)
		for i := range presses {
			presses[i] = press{Do: "hold", Strategy: way, Slot: slot.ID, Key: key}
		}
		answers, err := l.round(ctx, t, slot, presses, nil)
		if err != nil {
			return err
		}
		ids := map[string]bool{}
		yes := 0
		for _, a := range answers {
			if a.Yes {
				ids[a.ID], yes = true, yes+1
			}
		}
		if strat == Product && (yes != n || len(ids) != 1) {
			t.violated("told_otherwise", slot)
		}
		taken, given, err := l.seats(ctx, slot)
		if err != nil {
			return err
		}
		if taken != 1 || given != 1 {
			t.violated("seat_leaked", slot)
		}
	}
	return nil
}

// rollback holds the slot's lock with the last seat taken, until the other press
// is seen to wait, and then commits or rolls back, by turns.
func rollback(ctx context.Context, l *lab, strat string, rounds int, t *tally) error {
	slots, err := l.slots(ctx, l.sequential, rounds, 1)
	if err != nil {
		return err
	}
	first := strategy.IgnoreConflict // the product's conditional update, in a transaction that can be held open
	if strat != Product {
		first = holdBy(strat)
	}
	for i, slot := range slots {
		commit := i%2 == 0
		tx, err := l.pool.Begin(ctx)
		if err != nil {
			return err
		}
		if _, err := first(ctx, tx, strategy.Request{TenantID: slot.TenantID, SlotID: slot.ID, Party: 1}, func() {}); err != nil {
			return closing(ctx, tx, err)
		}
		answers, err := l.round(ctx, t, slot, []press{{Do: "hold", Strategy: strat, Slot: slot.ID, Key: l.key()}}, func() error {
			if err := l.untilWaiting(ctx, t, 1); err != nil {
				return closing(ctx, tx, err)
			}
			if commit {
				return tx.Commit(ctx)
			}
			return tx.Rollback(ctx)
		})
		if err != nil {
			return closing(ctx, tx, err)
		}
		_, given, err := l.seats(ctx, slot)
		if err != nil {
			return err
		}
		told := 0
		if commit {
			told++
		}
		if answers[0].Yes {
			told++
		}
		switch {
		case given > 1 || told > 1:
			t.violated("oversold", slot)
		case told == 0 && answers[0].Outcome != "stale": // one that is asked to try again has lost nothing
			t.violated("seat_idle", slot)
		case given != told:
			t.violated("told_otherwise", slot)
		}
		if strat == Product { // the first was written by hand, without its event
			if err := strategy.Forget(ctx, l.pool, slot.TenantID, slot.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// locked holds the lock that the strategy needs for a slot until do has ended.
func (l *lab) locked(ctx context.Context, strat string, slot store.Slot, do func() error) error {
	tx, err := l.pool.Begin(ctx)
	if err != nil {
		return err
	}
	if err := strategy.LockSlot(ctx, tx, slot.TenantID, slot.ID, strat == Advisory); err != nil {
		return closing(ctx, tx, err)
	}
	return closing(ctx, tx, do())
}

// unrelated locks one slot and holds seats of eight others: nobody may wait.
func unrelated(ctx context.Context, l *lab, strat string, rounds int, t *tally) error {
	slots, err := l.slots(ctx, l.sequential, rounds*9, 1)
	if err != nil {
		return err
	}
	for ; len(slots) > 0; slots = slots[9:] {
		presses := make([]press, 8)
		for i := range presses {
			presses[i] = press{Do: "hold", Strategy: strat, Slot: slots[1+i].ID, Key: l.key()}
		}
		err := l.locked(ctx, strat, slots[0], func() error {
			answers, err := l.round(ctx, t, slots[0], presses, nil)
			if err != nil {
				return err
			}
			for i, a := range answers {
				if !a.Yes {
					t.violated("waited_for_another", slots[1+i])
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// lockTimeout keeps the slot locked until all have given up: nobody may be told yes.
func lockTimeout(ctx context.Context, l *lab, strat string, rounds int, t *tally) error {
	n := max(1, rounds/10) // each takes as long as people wait
	slots, err := l.slots(ctx, l.sequential, n, 1)
	if err != nil {
		return err
	}
	for _, slot := range slots {
		presses := make([]press, 4)
		for i := range presses {
			presses[i] = press{Do: "hold", Strategy: strat, Slot: slot.ID, Key: l.key()}
		}
		err := l.locked(ctx, strat, slot, func() error {
			answers, err := l.round(ctx, t, slot, presses, func() error { return l.untilWaiting(ctx, t, len(presses)) })
			if err != nil {
				return err
			}
			for _, a := range answers {
				switch {
				case a.Yes:
					t.violated("false_success", slot)
				case a.Outcome != string(store.Busy):
					t.violated("told_otherwise", slot)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		taken, given, err := l.seats(ctx, slot)
		if err != nil {
			return err
		}
		if taken+given > 0 {
			t.violated("seat_leaked", slot)
		}
	}
	return nil
}

// closing ends a transaction whose work is over, and keeps the error that ended it.
func closing(ctx context.Context, tx pgx.Tx, err error) error {
	if undo := tx.Rollback(context.WithoutCancel(ctx)); err == nil && undo != nil && undo != pgx.ErrTxClosed {
		return fmt.Errorf("roll back: %w", undo)
	}
	return err
}
