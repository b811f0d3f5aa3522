package store_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest"
	"holdfast/store/storetest/shop"
	"holdfast/store/strategy"
)

func TestTwentyClaimsForOneVacancy(t *testing.T) {
	t.Parallel()
	const n, rounds = 20, 5
	s := shop.New(t, broadcast, storetest.Conns(n))
	for range rounds {
		slot := s.Slot(t, 1)
		booked := s.Book(t, slot, 1)
		entries := make([]store.Entry, n)
		for i := range entries {
			entries[i] = s.Join(t, slot, 1)
		}
		if change := s.Cancel(t, booked); len(change.Told) != n {
			t.Fatalf("%d were told of the vacancy", len(change.Told))
		}
		won := tally(t, race(n, func(i int) error {
			_, err := s.Store.Claim(t.Context(), store.AcceptRequest{TenantID: slot.TenantID, ID: entries[i].ID, TermsVersion: slot.TermsVersion, Actor: shop.Customer})
			return err
		}), store.SoldOut)
		if won != 1 {
			t.Fatalf("%d claims won one seat", won)
		}
		taken(t, s, slot, 1)
		queue, err := s.Store.Waitlist(t.Context(), slot.TenantID, slot.ID, false)
		if err != nil || len(queue) != n-1 {
			t.Fatalf("%d still wait, %v", len(queue), err)
		}
	}
}

func TestTwoCancellationsAtOnceWithFiveWaiting(t *testing.T) {
	t.Parallel()
	const rounds = 20
	s := shop.New(t, nil)
	for range rounds {
		slot := s.Slot(t, 2)
		booked := []store.Reservation{s.Book(t, slot, 1), s.Book(t, slot, 1)}
		entries := make([]store.Entry, 5)
		for i := range entries {
			entries[i] = s.Join(t, slot, 1)
		}
		changes := make([]store.Change, 2)
		tally(t, race(2, func(i int) error {
			var err error
			changes[i], err = s.Store.Cancel(t.Context(), store.CancelRequest{TenantID: slot.TenantID, IDs: []string{booked[i].ID}, Actor: []store.Actor{shop.Customer, shop.Staff}[i]})
			return err
		}))
		offered := map[string]bool{}
		for _, change := range changes {
			for _, e := range change.Offered {
				offered[e.ID] = true
			}
		}
		if len(offered) != 2 || !offered[entries[0].ID] || !offered[entries[1].ID] {
			t.Fatalf("offered to %d, want the first two", len(offered))
		}
		taken(t, s, slot, 2)
	}
}

// What the test above guards against, step by step: the second of two
// cancellations, which waits for the slot, picks whom the first has picked already.
func TestPickingTheHeadInTheLockingStatementStrandsASeat(t *testing.T) {
	t.Parallel()
	s := broken(t, nil)
	slot := s.Slot(t, 2)
	x, y := s.Book(t, slot, 1), s.Book(t, slot, 1)
	one, two := s.Join(t, slot, 1), s.Join(t, slot, 1)
	r := newRival(t, s)
	picked, err := strategy.CancelAndPick(t.Context(), r.tx, slot.TenantID, x.ID)
	if err != nil || picked != one.ID {
		t.Fatalf("the first picked %q, %v", picked, err)
	}
	second := press(func() (string, error) { return strategy.CancelAndPick(t.Context(), s.Pool, slot.TenantID, y.ID) })
	s.Waiting(t, 1)
	r.commit()
	if picked := second.ok(t); picked != "" {
		t.Fatalf("the second picked %q: the naive way is not broken any more", picked)
	}
	if got := s.Entry(t, two); got.State != store.Waiting {
		t.Fatalf("the second in the queue is %s", got.State)
	}
	if violations(t, s, "I3") == 0 {
		t.Fatal("I3 does not see the stranded seat")
	}
}

// What the interleavings of confirm guard against: a condition on a joined slot is judged as it was before the wait.
func TestConfirmingByTheTermsOfAJoinedSlotAgreesToOldTerms(t *testing.T) {
	t.Parallel()
	s := broken(t, nil)
	slot := s.Slot(t, 1)
	held := s.Hold(t, slot, 1)
	r := newRival(t, s)
	r.exec("UPDATE slots SET terms_version = terms_version + 1 WHERE id = $1", slot.ID)
	r.lockReservation(held)
	confirm := press(func() (bool, error) {
		return strategy.JoinedConfirm(t.Context(), s.Pool, slot.TenantID, held.ID, slot.TermsVersion)
	})
	s.Waiting(t, 1)
	r.commit()
	if !confirm.ok(t) {
		t.Fatal("refused: the naive way is not broken any more")
	}
	if s.Read(t, slot).TermsVersion == slot.TermsVersion {
		t.Fatal("the terms did not change")
	}
}

func TestCustomerAndStaffCancellingAtOnceFreeOneSeatAndSendOneMail(t *testing.T) {
	t.Parallel()
	const n, rounds = 6, 15
	s := shop.New(t, nil)
	for range rounds {
		slot := s.Slot(t, 1)
		booked := s.Book(t, slot, 1)
		first, second := s.Join(t, slot, 1), s.Join(t, slot, 1)
		won := tally(t, race(n, func(i int) error {
			_, err := s.Store.Cancel(t.Context(), store.CancelRequest{TenantID: slot.TenantID, IDs: []string{booked.ID}, Actor: []store.Actor{shop.Customer, shop.Staff}[i%2]})
			return err
		}))
		if won != n {
			t.Fatalf("%d of %d were answered with the cancelled booking", won, n)
		}
		if mails := messages(t, s, store.KindCancelled, booked.ID); mails != 1 {
			t.Fatalf("%d mails", mails)
		}
		if x, y := s.Entry(t, first), s.Entry(t, second); x.State != store.Offered || y.State != store.Waiting {
			t.Fatalf("the queue is %s, %s", x.State, y.State)
		}
		taken(t, s, slot, 1)
	}
}

func TestConfirmingFourTimesAtOnceIsOneBookingAndOneMail(t *testing.T) {
	t.Parallel()
	const n, rounds = 4, 15
	s := shop.New(t, nil)
	for range rounds {
		slot := s.Slot(t, 5)
		held := s.Hold(t, slot, 1)
		req := s.ConfirmRequest(held)
		if won := tally(t, race(n, func(int) error { _, err := s.Store.Confirm(t.Context(), req); return err })); won != n {
			t.Fatalf("%d of %d were answered with the booking", won, n)
		}
		if mails := messages(t, s, store.KindConfirmed, held.ID); mails != 1 {
			t.Fatalf("%d mails", mails)
		}
		taken(t, s, slot, 1)
	}
}

// Accept, decline and the sweep at one instant: exactly one of them ends the offer.
func TestAcceptDeclineAndSweepAtOnceEndAnOfferOnce(t *testing.T) {
	t.Parallel()
	const rounds = 20
	s := shop.New(t, nil)
	for range rounds {
		slot, offer, next := offered(t, s)
		inGrace(t, s, "waitlist_entries", offer.ID)
		answers := race(3, func(i int) error {
			switch i {
			case 0:
				_, err := s.Store.Accept(t.Context(), store.AcceptRequest{TenantID: slot.TenantID, ID: offer.ID, TermsVersion: slot.TermsVersion, Actor: shop.Customer})
				return err
			case 1:
				_, err := s.Store.Decline(t.Context(), store.Press{TenantID: slot.TenantID, ID: offer.ID, Actor: shop.Customer})
				return err
			}
			_, err := s.Store.At(*offer.ExpiresAt).Sweep(t.Context())
			return err
		})
		tally(t, answers, store.Expired, store.Over)
		was, after := s.Entry(t, offer), s.Entry(t, next)
		if accepted := was.State == store.Accepted; accepted != (answers[0] == nil) || accepted != (after.State == store.Waiting) {
			t.Fatalf("the offer is %s, the next %s, the press to accept was answered %v", was.State, after.State, answers[0])
		}
		taken(t, s, slot, 1)
	}
}

// Moves back and forth and groups from both ends, over the same few slots: every
// step locks several, and none may wait for another that waits for it.
func TestMovesAndGroupsOverTheSameSlotsAtOnceDoNotBlockEachOther(t *testing.T) {
	t.Parallel()
	const workers, steps = 8, 15
	s := shop.New(t, nil)
	deadlocksSurface(t, s, workers)
	slots := []store.Slot{s.Slot(t, 20), s.Slot(t, 20), s.Slot(t, 20)}
	booked := make([]store.Reservation, workers)
	for i := range booked {
		booked[i] = s.Book(t, slots[i%3], 1)
	}
	tally(t, race(workers, func(i int) error {
		for n := range steps {
			to, other := slots[(i+n)%3], slots[(i+2*n+1)%3]
			if i%2 == 0 {
				_, err := s.Store.Move(t.Context(), store.MoveRequest{TenantID: to.TenantID, ID: booked[i].ID, TargetSlot: to.ID, TargetTerms: to.TermsVersion, Actor: shop.Customer})
				if err != nil {
					return err
				}
				continue
			}
			req := s.HoldRequest(to, 1)
			if to.ID != other.ID {
				req.Slots = append(req.Slots, store.HoldSlot{ID: other.ID, TermsVersion: other.TermsVersion})
			}
			held, err := s.Store.Hold(t.Context(), req)
			if err == nil && n%3 == 0 {
				_, err = s.Store.Confirm(t.Context(), s.ConfirmRequest(held[0]))
			} else if err == nil {
				_, err = s.Store.Release(t.Context(), store.OwnerPress{Press: store.Press{TenantID: to.TenantID, ID: held[len(held)-1].ID, Actor: shop.Customer}, Owner: req.Owner})
			}
			if err != nil {
				return err
			}
		}
		return nil
	}), store.SoldOut)
}

// Everything at once on few slots: whatever happens, the invariants hold, and no
// answer is an error. Time does not move; what is due is made due by a step.
func TestRandomStepsAtOnceKeepTheInvariants(t *testing.T) {
	t.Parallel()
	const workers, steps, rounds = 8, 25, 4
	modes := []func(*store.Policies){
		nil,
		func(p *store.Policies) { p.Fit = store.Strict },
		broadcast,
		func(p *store.Policies) { p.OnePerPerson = false; p.HoldsPerVisitor = 50 },
	}
	for round := range rounds {
		seed := rand.Uint64()
		t.Run([]string{"first fit", "strict", "broadcast", "several per person"}[round], func(t *testing.T) {
			t.Parallel()
			t.Logf("seed %d", seed)
			s := shop.New(t, modes[round])
			deadlocksSurface(t, s, workers)
			slots := []store.Slot{s.Slot(t, 1), s.Slot(t, 2), s.Slot(t, 4)}
			people := []store.Contact{s.Person(), s.Person(), s.Person(), s.Person(), s.Person(), s.Person()}
			for _, err := range race(workers, func(i int) error {
				w := walker{t: t, s: s, slots: slots, people: people, rng: rand.New(rand.NewPCG(seed, uint64(i)))}
				for range steps {
					if err := w.step(); errors.Is(err, store.Busy) || (err != nil && !errors.As(err, new(store.Outcome))) {
						return err
					}
				}
				return nil
			}) {
				if err != nil {
					t.Error(err)
				}
			}
			s.Check(t)
			for _, slot := range slots { // and what everybody was told adds up
				if got := s.Read(t, slot); got.Taken > got.Capacity {
					t.Errorf("taken %d of %d", got.Taken, got.Capacity)
				}
			}
			if _, err := s.Store.Sweep(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// walker presses at random, on what it finds in the database.
type walker struct {
	t      *testing.T
	s      *shop.Shop
	slots  []store.Slot
	people []store.Contact
	rng    *rand.Rand
}

func (w *walker) slot() store.Slot {
	read, err := w.s.Store.Slot(w.t.Context(), w.slots[0].TenantID, w.slots[w.rng.IntN(len(w.slots))].ID)
	if err != nil {
		w.t.Error(err)
	}
	return read
}

func (w *walker) person() store.Contact { return w.people[w.rng.IntN(len(w.people))] }

func (w *walker) actor() store.Actor {
	return []store.Actor{shop.Customer, shop.Staff}[w.rng.IntN(2)]
}

func (w *walker) reservation(slot store.Slot, states ...store.ReservationState) (store.Reservation, bool) {
	all, err := w.s.Store.Roster(w.t.Context(), slot.TenantID, slot.ID)
	if err != nil {
		w.t.Error(err)
	}
	var live []store.Reservation
	for _, r := range all {
		for _, state := range states {
			if r.State == state {
				live = append(live, r)
			}
		}
	}
	if len(live) == 0 {
		return store.Reservation{}, false
	}
	return live[w.rng.IntN(len(live))], true
}

func (w *walker) entry(slot store.Slot) (store.Entry, bool) {
	all, err := w.s.Store.Waitlist(w.t.Context(), slot.TenantID, slot.ID, false)
	if err != nil {
		w.t.Error(err)
	}
	if len(all) == 0 {
		return store.Entry{}, false
	}
	return all[w.rng.IntN(len(all))], true
}

func (w *walker) step() error {
	ctx, st, slot := w.t.Context(), w.s.Store, w.slot()
	tenant := slot.TenantID
	party := 1 + w.rng.IntN(2)
	ask := store.SlotRequest{TenantID: tenant, SlotID: slot.ID, Actor: shop.Staff}
	switch n := w.rng.IntN(30); {
	case n < 6: // hold, and perhaps confirm
		req := w.s.HoldRequest(slot, party)
		if n == 0 {
			other := w.slot()
			req.Slots = append(req.Slots, store.HoldSlot{ID: other.ID, TermsVersion: other.TermsVersion})
		}
		held, err := st.Hold(ctx, req)
		if err != nil || n < 2 {
			return err
		}
		confirm := w.s.ConfirmRequest(held[0])
		confirm.Contact = w.person()
		_, err = st.Confirm(ctx, confirm)
		return err
	case n < 9:
		req := w.s.JoinRequest(slot, party)
		req.Contact = w.person()
		_, err := st.Join(ctx, req)
		return err
	case n < 12:
		if r, found := w.reservation(slot, store.Confirmed); found {
			_, err := st.Cancel(ctx, store.CancelRequest{TenantID: tenant, IDs: []string{r.ID}, Actor: w.actor()})
			return err
		}
	case n < 15:
		if r, found := w.reservation(slot, store.Held); found {
			confirm := w.s.ConfirmRequest(r)
			confirm.Contact = w.person()
			_, err := st.Confirm(ctx, confirm)
			return err
		}
	case n < 16:
		if r, found := w.reservation(slot, store.Held); found {
			_, err := st.Release(ctx, store.OwnerPress{Press: store.Press{TenantID: tenant, ID: r.ID, Actor: shop.Customer}, Owner: r.Owner})
			return err
		}
	case n < 19:
		if e, found := w.entry(slot); found {
			req := store.AcceptRequest{TenantID: tenant, ID: e.ID, TermsVersion: slot.TermsVersion, Actor: w.actor()}
			if e.State == store.Offered {
				_, err := st.Accept(ctx, req)
				return err
			}
			_, err := st.Claim(ctx, req)
			return err
		}
	case n < 20:
		if e, found := w.entry(slot); found {
			_, err := st.Decline(ctx, store.Press{TenantID: tenant, ID: e.ID, Actor: shop.Customer})
			return err
		}
	case n < 21:
		if e, found := w.entry(slot); found {
			_, err := st.Withdraw(ctx, store.Press{TenantID: tenant, ID: e.ID, Actor: shop.Customer})
			return err
		}
	case n < 22:
		if e, found := w.entry(slot); found {
			_, err := st.OfferTo(ctx, store.EntryRequest{TenantID: tenant, ID: e.ID, Reason: "asked", Actor: shop.Staff})
			return err
		}
	case n < 23:
		if e, found := w.entry(slot); found {
			_, err := st.Revoke(ctx, store.EntryRequest{TenantID: tenant, ID: e.ID, Reason: "mistake", Actor: shop.Staff})
			return err
		}
	case n < 24:
		if r, found := w.reservation(slot, store.Confirmed); found {
			to := w.slot()
			_, err := st.Move(ctx, store.MoveRequest{TenantID: tenant, ID: r.ID, TargetSlot: to.ID, TargetTerms: to.TermsVersion, Actor: w.actor()})
			return err
		}
	case n < 25:
		if r, found := w.reservation(slot, store.Confirmed); found {
			_, _, err := st.ChangeParty(ctx, store.PartyRequest{TenantID: tenant, ID: r.ID, PartySize: party, Actor: w.actor()})
			return err
		}
	case n < 26:
		_, err := st.ChangeCapacity(ctx, store.CapacityRequest{TenantID: tenant, SlotID: slot.ID, Capacity: 1 + w.rng.IntN(5), Actor: shop.Staff})
		return err
	case n < 27:
		_, _, err := st.Book(ctx, store.BookRequest{TenantID: tenant, SlotID: slot.ID, PartySize: party, Contact: w.person(), ExtraReason: []string{"", "regular"}[w.rng.IntN(2)], Actor: shop.Staff})
		return err
	case n < 28:
		steps := []func() (store.Change, error){
			func() (store.Change, error) { return st.PauseWaitlist(ctx, ask) },
			func() (store.Change, error) { return st.ResumeWaitlist(ctx, ask) },
			func() (store.Change, error) { return st.CloseSlot(ctx, ask) },
			func() (store.Change, error) { return st.ReopenSlot(ctx, ask) },
			func() (store.Change, error) { return st.ReopenSlot(ctx, ask) },
			func() (store.Change, error) { return st.ResumeWaitlist(ctx, ask) },
		}
		_, err := steps[w.rng.IntN(len(steps))]()
		return err
	case n < 29:
		_, err := st.ChangeTerms(ctx, store.TermsRequest{TenantID: tenant, SlotID: slot.ID, EndsAt: slot.StartsAt.Add(time.Duration(20+w.rng.IntN(30)) * time.Minute), Actor: shop.Staff})
		return err
	default: // the deadlines of one hold and one offer pass, shown and enforced
		for _, sql := range []string{
			"UPDATE reservations SET shown_until = now() - interval '10 minutes', expires_at = now() WHERE id = (SELECT id FROM reservations WHERE slot_id = $1 AND state = 'held' LIMIT 1) AND state = 'held'",
			"UPDATE waitlist_entries SET shown_until = now() - interval '10 minutes', expires_at = now() WHERE id = (SELECT id FROM waitlist_entries WHERE slot_id = $1 AND state = 'offered' LIMIT 1) AND state = 'offered'",
		} {
			if _, err := w.s.Pool.Exec(ctx, sql, slot.ID); err != nil {
				return err
			}
		}
		_, err := st.Sweep(ctx)
		return err
	}
	return nil
}
