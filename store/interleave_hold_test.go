package store_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

func TestLoweringTheCapacityBehindAHoldIsRefused(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 2)
	s.Book(t, slot, 1)
	req := s.HoldRequest(slot, 1)
	r := newRival(t, s)
	r.takeKey(slot, req.Key)
	hold := pressHold(t, s, req)
	s.Waiting(t, 1)
	capacity := pressCapacity(t, s, slot, 1)
	s.Waiting(t, 2)
	r.rollback()
	hold.ok(t)
	capacity.refused(t, store.BelowTaken)
	taken(t, s, slot, 2)
}

func TestAHoldBehindALoweredCapacityIsRefused(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 2)
	first := s.Book(t, slot, 1)
	extra, _, err := s.Store.Book(t.Context(), store.BookRequest{TenantID: slot.TenantID, SlotID: slot.ID, PartySize: 2, Contact: s.Person(), ExtraReason: "family", Actor: shop.Staff})
	if err != nil || extra.ExtraSeats != 1 {
		t.Fatalf("%+v %v", extra, err)
	}
	s.Cancel(t, first) // capacity 3, taken 2
	r := newRival(t, s)
	r.lockReservation(extra) // a change of capacity ends its extra seats, with the slot locked
	capacity := pressCapacity(t, s, slot, 2)
	s.Waiting(t, 1)
	hold := pressHold(t, s, s.HoldRequest(slot, 1))
	s.Waiting(t, 2)
	r.rollback()
	capacity.ok(t)
	hold.refused(t, store.SoldOut)
	taken(t, s, slot, 2)
}

func TestAHoldBehindARaisedCapacityIsServed(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 1)
	first := s.Hold(t, slot, 1)
	due(t, s, "reservations", first.ID, 0) // what is due makes the step stand still, and both meet it
	second := s.HoldRequest(slot, 2)
	r := newRival(t, s)
	r.lockReservation(first)
	capacity := pressCapacity(t, s, slot, 2)
	s.Waiting(t, 1)
	hold := pressHold(t, s, second)
	s.Waiting(t, 2)
	r.rollback()
	capacity.ok(t)
	hold.ok(t)
	taken(t, s, slot, 2)
}

func TestTheSameKeyAtOnceIsOneHoldAndBothGetIt(t *testing.T) {
	t.Parallel()
	for name, seats := range map[string]int{"the last seat": 1, "seats for both": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shop.New(t, nil)
			slot := s.Slot(t, seats)
			req := s.HoldRequest(slot, 1)
			r := newRival(t, s)
			r.takeKey(slot, req.Key)
			a := pressHold(t, s, req)
			s.Waiting(t, 1)
			b := pressHold(t, s, req)
			other := req
			other.Owner = "somebody else"
			c := pressHold(t, s, other)
			s.Waiting(t, 3)
			r.rollback()
			if x, y := a.ok(t), b.ok(t); x[0].ID != y[0].ID {
				t.Fatalf("two reservations: %s, %s", x[0].ID, y[0].ID)
			}
			c.refused(t, store.KeyReused)
			taken(t, s, slot, 1)
		})
	}
}

func TestTheSecondHoldGetsTheSeatWhenTheFirstRollsBack(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 1)
	req := s.HoldRequest(slot, 1)
	r := newRival(t, s)
	r.takeKey(slot, req.Key)
	ctx, leave := context.WithCancel(t.Context())
	a := press(func() ([]store.Reservation, error) { return s.Store.Hold(ctx, req) })
	s.Waiting(t, 1)
	b := pressHold(t, s, s.HoldRequest(slot, 1))
	s.Waiting(t, 2)
	leave() // the first visitor has closed the browser
	if _, err := a.answer(t); err == nil {
		t.Fatal("a hold that was given up says that it succeeded")
	}
	b.ok(t)
	r.rollback()
	taken(t, s, slot, 1)
	// The key of the first stands for nothing: pressed again it is a new request, for which there is no seat.
	_, err := s.Store.Hold(t.Context(), req)
	want(t, err, store.SoldOut)
}

func TestUnrelatedSlotsDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot, other := s.Slot(t, 2), s.Slot(t, 1)
	req := s.HoldRequest(slot, 1)
	r := newRival(t, s)
	r.takeKey(slot, req.Key)
	hold := pressHold(t, s, req)
	s.Waiting(t, 1)
	// All of this passes while the first slot is locked, by the same resource, service and tenant.
	booked := s.Book(t, other, 1)
	e := s.Join(t, other, 1)
	offeredTo(t, s.Cancel(t, booked), e)
	pressAccept(t, s, e, other.TermsVersion).ok(t)
	if _, err := s.Store.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if hold.answered() {
		t.Fatal("the first hold did not wait any more: nothing was shown")
	}
	s.Waiting(t, 1)
	r.rollback()
	hold.ok(t)
}

// A slot that is locked is read without waiting: pages never queue behind steps.
func TestReadingDoesNotWaitForALockedSlot(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 1)
	booked := s.Book(t, slot, 1)
	r := newRival(t, s)
	r.lockSlot(slot)
	r.lockReservation(booked)
	s.Read(t, slot)
	s.Reservation(t, booked)
	if _, err := s.Store.Slots(t.Context(), store.SlotQuery{TenantID: slot.TenantID, From: slot.StartsAt, To: slot.EndsAt}); err != nil {
		t.Fatal(err)
	}
	s.Check(t)
	r.rollback()
}

// impatient is a store whose waits for locks end after a tenth of a second.
func impatient(t *testing.T, s *shop.Shop, timeouts *atomic.Int64) *store.Store {
	t.Helper()
	s.Exec(t, "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET lock_timeout = ''100ms''', current_database()); END $$")
	st, err := store.New(s.NewPool(t, 4), shop.Secret, store.Watch{LockTimeout: func(string) { timeouts.Add(1) }})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func TestALockTimeoutIsBusyAndChangesNothing(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 3)
	held, booked := s.Hold(t, slot, 1), s.Book(t, slot, 1)
	second := s.Hold(t, slot, 1)
	e := s.Join(t, slot, 1)
	_, waits := s.Book(t, s.Slot(t, 1), 1), s.JoinRequest(slot, 1)
	pressRelease(t, s, second).ok(t) // e is offered its seat
	var timeouts atomic.Int64
	st := impatient(t, s, &timeouts)
	r := newRival(t, s)
	r.lockSlot(slot)
	r.lockReservation(held)
	before := dump(t, s)
	ctx := t.Context()
	due := s.HoldRequest(slot, 1)
	steps := map[string]func() error{
		"confirm": func() error { _, err := st.Confirm(ctx, s.ConfirmRequest(held)); return err },
		"cancel": func() error {
			_, err := st.Cancel(ctx, store.CancelRequest{TenantID: slot.TenantID, IDs: []string{booked.ID}, Actor: shop.Staff})
			return err
		},
		"accept": func() error {
			_, err := st.Accept(ctx, store.AcceptRequest{TenantID: slot.TenantID, ID: e.ID, TermsVersion: 1, Actor: shop.Customer})
			return err
		},
		"join": func() error { _, err := st.Join(ctx, waits); return err },
		"hold of several": func() error {
			req := due
			req.Slots = append(req.Slots, store.HoldSlot{ID: s.Slot(t, 1).ID, TermsVersion: 1})
			_, err := st.Hold(ctx, req)
			return err
		},
		"capacity": func() error {
			_, err := st.ChangeCapacity(ctx, store.CapacityRequest{TenantID: slot.TenantID, SlotID: slot.ID, Capacity: 9, Actor: shop.Staff})
			return err
		},
		"terms": func() error {
			_, err := st.ChangeTerms(ctx, store.TermsRequest{TenantID: slot.TenantID, SlotID: slot.ID, StartsAt: slot.StartsAt.Add(-48 * time.Hour), EndsAt: slot.EndsAt.Add(-48 * time.Hour), Actor: shop.Staff})
			return err
		},
		"cancel slot": func() error {
			_, err := st.CancelSlot(ctx, store.SlotRequest{TenantID: slot.TenantID, SlotID: slot.ID, Actor: shop.Staff})
			return err
		},
	}
	for name, do := range steps {
		if name == "hold of several" {
			continue // it makes a slot; below
		}
		if err := do(); err != store.Busy { //nolint:errorlint // exactly the refusal, not wrapped
			t.Errorf("%s: %v, want busy", name, err)
		}
	}
	if after := dump(t, s); after != before {
		t.Errorf("a step that was busy has changed something:\n%s\n%s", before, after)
	}
	if err := steps["hold of several"](); err != store.Busy { //nolint:errorlint // exactly the refusal, not wrapped
		t.Errorf("hold of several: %v, want busy", err)
	}
	if n := timeouts.Load(); n != int64(len(steps)) {
		t.Errorf("%d lock timeouts were counted, want %d", n, len(steps))
	}
	r.rollback()
}

// The fast hold waits only where it might be served.
func TestAHoldThatWaitsTooLongIsBusyAndHoldsNothing(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 1)
	var timeouts atomic.Int64
	st := impatient(t, s, &timeouts)
	r := newRival(t, s)
	r.lockSlot(slot)
	req := s.HoldRequest(slot, 1)
	if _, err := st.Hold(t.Context(), req); err != store.Busy { //nolint:errorlint // exactly the refusal, not wrapped
		t.Fatalf("got %v, want busy", err)
	}
	r.rollback()
	taken(t, s, slot, 0)
	if timeouts.Load() != 1 {
		t.Fatalf("%d lock timeouts were counted", timeouts.Load())
	}
	if _, err := st.Hold(t.Context(), req); err != nil {
		t.Fatal(err)
	}
}

// A row of a step that waits inside its slot transaction must not be committed half.
func TestALockTimeoutInTheMiddleOfAStepUndoesIt(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 1)
	booked, e := s.Book(t, slot, 1), s.Join(t, slot, 1)
	var timeouts atomic.Int64
	st := impatient(t, s, &timeouts)
	before := dump(t, s)
	r := newRival(t, s)
	r.lockEntry(e) // cancelling has ended the booking when it comes to the offer
	_, err := st.Cancel(t.Context(), store.CancelRequest{TenantID: slot.TenantID, IDs: []string{booked.ID}, Actor: shop.Customer})
	if err != store.Busy { //nolint:errorlint // exactly the refusal, not wrapped
		t.Fatalf("got %v, want busy", err)
	}
	r.rollback()
	if after := dump(t, s); after != before {
		t.Fatalf("half a cancellation:\n%s\n%s", before, after)
	}
	offeredTo(t, s.Cancel(t, booked), e)
}

func TestASweepPassesByALockedSlotAndWaitsForAnOverdueOne(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	locked, other := s.Slot(t, 1), s.Slot(t, 1)
	x, y := s.Hold(t, locked, 1), s.Hold(t, other, 1)
	due(t, s, "reservations", x.ID, 0)
	due(t, s, "reservations", y.ID, 0)
	r := newRival(t, s)
	r.lockSlot(locked)
	report, err := s.Store.Sweep(t.Context())
	if err != nil || report.Expired != 1 || report.Failed != 0 {
		t.Fatalf("%+v %v", report, err)
	}
	if got := s.Reservation(t, x); got.State != store.Held {
		t.Fatalf("the hold in the locked slot is %s", got.State)
	}
	if got := s.Reservation(t, y); got.State != store.ExpiredR {
		t.Fatalf("the hold in the free slot is %s", got.State)
	}
	due(t, s, "reservations", x.ID, time.Minute)
	sweep := pressSweep(t, s.Store)
	s.Waiting(t, 1)
	r.rollback()
	if report := sweep.ok(t); report.Expired != 1 {
		t.Fatalf("%+v", report)
	}
	taken(t, s, locked, 0)
}

func TestTwoSweepersShareTheWork(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 2)
	booked, held := s.Book(t, slot, 1), s.Hold(t, slot, 1)
	e := s.Join(t, slot, 1)
	_ = booked
	due(t, s, "reservations", held.ID, time.Minute)
	r := newRival(t, s)
	r.lockReservation(held)
	a, b := pressSweep(t, s.Store), pressSweep(t, s.Store)
	s.Waiting(t, 2)
	r.rollback()
	x, y := a.ok(t), b.ok(t)
	if x.Expired+y.Expired != 1 || x.Offered+y.Offered != 1 {
		t.Fatalf("%+v and %+v", x, y)
	}
	if got := s.Entry(t, e); got.State != store.Offered {
		t.Fatalf("the entry is %s", got.State)
	}
	taken(t, s, slot, 2)
}

func TestCrossingMovesBothArrive(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	deadlocksSurface(t, s, 4)
	a, b := s.Slot(t, 2), s.Slot(t, 2)
	x, y := s.Book(t, a, 1), s.Book(t, b, 1)
	r := newRival(t, s)
	r.lockSlot(a)
	one, two := pressMove(t, s, x, b), pressMove(t, s, y, a)
	s.Waiting(t, 2)
	r.rollback()
	if got := one.ok(t); got.SlotID != b.ID {
		t.Fatal("the first did not move")
	}
	if got := two.ok(t); got.SlotID != a.ID {
		t.Fatal("the second did not move")
	}
	taken(t, s, a, 1)
	taken(t, s, b, 1)
}

func TestCrossingMovesIntoFullSlotsAreBothRefused(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	deadlocksSurface(t, s, 4)
	a, b := s.Slot(t, 1), s.Slot(t, 1)
	x, y := s.Book(t, a, 1), s.Book(t, b, 1)
	r := newRival(t, s)
	r.lockReservation(x)
	one := pressMove(t, s, x, b) // has both slots
	s.Waiting(t, 1)
	two := pressMove(t, s, y, a)
	s.Waiting(t, 2)
	r.rollback()
	one.refused(t, store.SoldOut)
	two.refused(t, store.SoldOut)
	taken(t, s, a, 1)
	taken(t, s, b, 1)
}

func TestACancellationFollowsABookingThatMoves(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	a, b := s.Slot(t, 1), s.Slot(t, 1)
	booked := s.Book(t, a, 1)
	r := newRival(t, s)
	r.lockReservation(booked)
	move := pressMove(t, s, booked, b)
	s.Waiting(t, 1)
	cancel := pressCancel(t, s, booked, shop.Customer) // has read the first slot
	staff := press(func() (store.Change, error) {
		return s.Store.Cancel(t.Context(), store.CancelRequest{TenantID: a.TenantID, SlotID: a.ID, IDs: []string{booked.ID}, Actor: shop.Staff})
	})
	s.Waiting(t, 3)
	r.rollback()
	move.ok(t)
	if change := cancel.ok(t); change.SlotID != b.ID {
		t.Fatal("it was cancelled in the slot that it had left")
	}
	staff.refused(t, store.Conflict) // their page showed it in the first slot
	if got := s.Reservation(t, booked); got.State != store.Cancelled || got.SlotID != b.ID {
		t.Fatalf("it is %s in %s", got.State, got.SlotID)
	}
	taken(t, s, a, 0)
	taken(t, s, b, 0)
}

func TestAMoveBehindACancellationFindsNothingToMove(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	a, b := s.Slot(t, 1), s.Slot(t, 1)
	booked := s.Book(t, a, 1)
	r := newRival(t, s)
	r.lockReservation(booked)
	cancel := pressCancel(t, s, booked, shop.Customer)
	s.Waiting(t, 1)
	move := pressMove(t, s, booked, b)
	s.Waiting(t, 2)
	r.rollback()
	cancel.ok(t)
	move.refused(t, store.Over)
	taken(t, s, b, 0)
}

func TestTheSameMovePressedTwiceAtOnceMovesOnce(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	a, b := s.Slot(t, 1), s.Slot(t, 2)
	booked := s.Book(t, a, 1)
	r := newRival(t, s)
	r.lockReservation(booked)
	one, two := pressMove(t, s, booked, b), pressMove(t, s, booked, b)
	s.Waiting(t, 2)
	r.rollback()
	one.ok(t)
	two.ok(t)
	if n := messages(t, s, store.KindMoved, booked.ID); n != 1 {
		t.Fatalf("%d messages tell of one move", n)
	}
	taken(t, s, a, 0)
	taken(t, s, b, 1)
}

func TestGroupsHeldInOppositeOrderDoNotBlockEachOther(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	deadlocksSurface(t, s, 4)
	a, b := s.Slot(t, 1), s.Slot(t, 1)
	forth, back := s.HoldRequest(a, 1), s.HoldRequest(b, 1)
	forth.Slots = append(forth.Slots, store.HoldSlot{ID: b.ID, TermsVersion: b.TermsVersion})
	back.Slots = append(back.Slots, store.HoldSlot{ID: a.ID, TermsVersion: a.TermsVersion})
	for _, first := range []store.Slot{a, b} {
		r := newRival(t, s)
		r.lockSlot(first)
		one, two := pressHold(t, s, forth), pressHold(t, s, back)
		s.Waiting(t, 2)
		r.rollback()
		x, errX := one.answer(t)
		y, errY := two.answer(t)
		switch {
		case errX == nil:
			want(t, errY, store.SoldOut)
		case errY == nil:
			want(t, errX, store.SoldOut)
			x = y
		default:
			t.Fatalf("nobody got the seats: %v, %v", errX, errY)
		}
		taken(t, s, a, 1)
		taken(t, s, b, 1)
		pressRelease(t, s, x[0]).ok(t)
		taken(t, s, a, 0)
		taken(t, s, b, 0)
	}
}

// What is due is judged by the clock read after the lock was had, and new
// deadlines count from it: who waited long for a lock gives nobody a shorter offer.
func TestWhatBecomesDueWhileAStepWaitsIsSweptByIt(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 2)
	booked, held := s.Book(t, slot, 1), s.Hold(t, slot, 1)
	one, two := s.Join(t, slot, 1), s.Join(t, slot, 1)
	r := newRival(t, s)
	r.lockSlot(slot)
	cancel := pressCancel(t, s, booked, shop.Customer)
	s.Waiting(t, 1)
	r.exec("UPDATE reservations SET expires_at = clock_timestamp(), shown_until = clock_timestamp() WHERE id = $1", held.ID)
	var released time.Time
	if err := r.tx.QueryRow(t.Context(), "SELECT clock_timestamp()").Scan(&released); err != nil {
		t.Fatal(err)
	}
	r.commit()
	change := cancel.ok(t)
	if len(change.Offered) != 2 || change.Offered[0].ID != one.ID || change.Offered[1].ID != two.ID {
		t.Fatalf("offered to %d, want both in order", len(change.Offered))
	}
	for _, e := range change.Offered {
		if e.OfferedAt.Before(released) || e.ShownUntil.Before(released.Add(30*time.Minute)) {
			t.Fatalf("offered at %s until %s, the lock was had after %s", e.OfferedAt, e.ShownUntil, released)
		}
	}
	if got := s.Reservation(t, held); got.State != store.ExpiredR {
		t.Fatalf("the hold is %s", got.State)
	}
	taken(t, s, slot, 2)
}

// A press is judged by its arrival: the window that closes while it waits does not shut it out.
func TestAHoldPressedBeforeBookingClosesIsServedAfterWaitingPastIt(t *testing.T) {
	t.Parallel()
	for _, slow := range []bool{false, true} {
		t.Run(map[bool]string{false: "in one statement", true: "with something due"}[slow], func(t *testing.T) {
			t.Parallel()
			s := shop.New(t, func(p *store.Policies) { p.WaitlistMode = store.WaitlistNone })
			slot := s.Slot(t, 2)
			if slow {
				due(t, s, "reservations", s.Hold(t, slot, 2).ID, 0)
			}
			r := newRival(t, s)
			r.lockSlot(slot)
			hold := pressHold(t, s, s.HoldRequest(slot, 1))
			s.Waiting(t, 1)
			r.exec("UPDATE slots SET booking_closes = starts_at - clock_timestamp() WHERE id = $1", slot.ID)
			r.commit()
			got := hold.ok(t)
			if closes := s.Read(t, slot).ClosesAt; got[0].ShownUntil.After(closes) {
				t.Fatalf("shown until %s, booking closed at %s", got[0].ShownUntil, closes)
			}
		})
	}
}
