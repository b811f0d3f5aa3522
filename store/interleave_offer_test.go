package store_test

import (
	"testing"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

// offered makes a full slot of one seat that is offered to somebody, with one more waiting.
func offered(t *testing.T, s *shop.Shop) (slot store.Slot, offer, next store.Entry) {
	t.Helper()
	slot = s.Slot(t, 1)
	first := s.Book(t, slot, 1)
	offer, next = s.Join(t, slot, 1), s.Join(t, slot, 1)
	offeredTo(t, s.Cancel(t, first), offer)
	return slot, s.Entry(t, offer), next
}

func TestAcceptIsServedBeforeASweepThatWaitsForIt(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot, offer, next := offered(t, s)
	r := newRival(t, s)
	r.lockEntry(offer)
	accept := pressAccept(t, s, offer, slot.TermsVersion)
	s.Waiting(t, 1) // it has the slot
	sweep := pressSweep(t, later(s))
	s.Waiting(t, 2)
	r.rollback()
	if got := accept.ok(t); got.State != store.Confirmed {
		t.Fatalf("accepted into %s", got.State)
	}
	sweep.ok(t)
	if got := s.Entry(t, offer); got.State != store.Accepted {
		t.Fatalf("the offer is %s", got.State)
	}
	if got := s.Entry(t, next); got.State != store.Waiting {
		t.Fatalf("the next is %s", got.State)
	}
	taken(t, s, slot, 1)
}

func TestAcceptInGraceIsRefusedAfterASweepThatWasFirst(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot, offer, next := offered(t, s)
	inGrace(t, s, "waitlist_entries", offer.ID)
	r := newRival(t, s)
	r.lockEntry(offer)
	sweep := pressSweep(t, later(s))
	s.Waiting(t, 1)
	accept := pressAccept(t, s, offer, slot.TermsVersion)
	s.Waiting(t, 2)
	r.rollback()
	sweep.ok(t)
	accept.refused(t, store.Expired)
	if got := s.Entry(t, offer); got.State != store.Lapsed {
		t.Fatalf("the offer is %s", got.State)
	}
	if got := s.Entry(t, next); got.State != store.Offered {
		t.Fatalf("the next is %s", got.State)
	}
	if n := messages(t, s, store.KindLapsed, offer.ID); n != 1 {
		t.Fatalf("%d messages tell of the lapse", n)
	}
	taken(t, s, slot, 1)
}

func TestAcceptPressedBeforeTheEnforcedDeadlineIsServedAfterWaitingPastIt(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot, offer, next := offered(t, s)
	r := newRival(t, s)
	r.lockSlot(slot)
	accept := pressAccept(t, s, offer, slot.TermsVersion)
	s.Waiting(t, 1)
	// The deadline passes now, after the press and before the lock is had.
	r.exec("UPDATE waitlist_entries SET expires_at = clock_timestamp(), shown_until = clock_timestamp() WHERE id = $1", offer.ID)
	r.commit()
	if got := accept.ok(t); got.State != store.Confirmed {
		t.Fatalf("accepted into %s", got.State)
	}
	if got := s.Entry(t, next); got.State != store.Waiting {
		t.Fatalf("the next is %s", got.State)
	}
	taken(t, s, slot, 1)
}

// The mirror of the last: a press that comes after the deadline is not helped by a lock.
func TestAcceptPressedAfterTheEnforcedDeadlineIsRefusedThoughNoSweeperRan(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot, offer, next := offered(t, s)
	due(t, s, "waitlist_entries", offer.ID, 0)
	r := newRival(t, s)
	r.lockSlot(slot)
	accept := pressAccept(t, s, offer, slot.TermsVersion)
	s.Waiting(t, 1)
	r.rollback()
	accept.refused(t, store.Expired)
	if got := s.Entry(t, next); got.State != store.Offered {
		t.Fatalf("the next is %s: the refusal did not pass the seat on", got.State)
	}
}

func TestTwoCancellationsAtOnceOfferToTwoDifferentInOrder(t *testing.T) {
	t.Parallel()
	for _, first := range []int{0, 1} {
		t.Run([]string{"first booking first", "second booking first"}[first], func(t *testing.T) {
			t.Parallel()
			s := shop.New(t, nil)
			slot := s.Slot(t, 2)
			booked := []store.Reservation{s.Book(t, slot, 1), s.Book(t, slot, 1)}
			waiting := []store.Entry{s.Join(t, slot, 1), s.Join(t, slot, 1), s.Join(t, slot, 1)}
			r := newRival(t, s)
			r.lockReservation(booked[first])
			a := pressCancel(t, s, booked[first], shop.Customer)
			s.Waiting(t, 1)
			b := pressCancel(t, s, booked[1-first], shop.Staff)
			s.Waiting(t, 2)
			r.rollback()
			offeredTo(t, a.ok(t), waiting[0])
			offeredTo(t, b.ok(t), waiting[1])
			if got := s.Entry(t, waiting[2]); got.State != store.Waiting {
				t.Fatalf("the third is %s", got.State)
			}
			taken(t, s, slot, 2)
		})
	}
}

func TestTheSecondCancellationOffersToTheFirstWhoWaitsWhenTheFirstRollsBack(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 2)
	x, y := s.Book(t, slot, 1), s.Book(t, slot, 1)
	one, two := s.Join(t, slot, 1), s.Join(t, slot, 1)
	r := newRival(t, s)
	r.lockReservation(x)
	a := pressCancel(t, s, x, shop.Customer)
	s.Waiting(t, 1)
	b := pressCancel(t, s, y, shop.Customer)
	s.Waiting(t, 2)
	killWaiting(t, s, "lock reservation")
	if _, err := a.answer(t); err == nil {
		t.Fatal("a cancellation whose connection was killed says that it succeeded")
	}
	offeredTo(t, b.ok(t), one)
	r.rollback()
	if got := s.Reservation(t, x); got.State != store.Confirmed {
		t.Fatalf("the booking is %s though its cancellation failed", got.State)
	}
	if got := s.Entry(t, two); got.State != store.Waiting {
		t.Fatalf("the second is %s", got.State)
	}
	taken(t, s, slot, 2)
}

// waitingInBroadcast makes a slot of one open seat for which two have been told.
func waitingInBroadcast(t *testing.T, s *shop.Shop) (store.Slot, store.Entry, store.Entry) {
	t.Helper()
	slot := s.Slot(t, 1)
	first := s.Book(t, slot, 1)
	one, two := s.Join(t, slot, 1), s.Join(t, slot, 1)
	if change := s.Cancel(t, first); len(change.Told) != 2 || len(change.Offered) != 0 {
		t.Fatalf("told %d, offered %d", len(change.Told), len(change.Offered))
	}
	return slot, one, two
}

func TestAHoldBehindAClaimIsRefused(t *testing.T) {
	t.Parallel()
	s := shop.New(t, broadcast)
	slot, one, two := waitingInBroadcast(t, s)
	r := newRival(t, s)
	r.lockEntry(one)
	claim := pressClaim(t, s, one, slot.TermsVersion)
	s.Waiting(t, 1)
	hold := pressHold(t, s, s.HoldRequest(slot, 1))
	s.Waiting(t, 2)
	r.rollback()
	claim.ok(t)
	hold.refused(t, store.SoldOut)
	if got := s.Entry(t, two); got.State != store.Waiting {
		t.Fatalf("the other is %s", got.State)
	}
	taken(t, s, slot, 1)
}

func TestAClaimBehindAHoldIsRefusedAndKeepsItsPlace(t *testing.T) {
	t.Parallel()
	s := shop.New(t, broadcast)
	slot, one, _ := waitingInBroadcast(t, s)
	req := s.HoldRequest(slot, 1)
	r := newRival(t, s)
	r.takeKey(slot, req.Key)
	hold := pressHold(t, s, req)
	s.Waiting(t, 1)
	claim := pressClaim(t, s, one, slot.TermsVersion)
	s.Waiting(t, 2)
	r.rollback()
	hold.ok(t)
	claim.refused(t, store.SoldOut)
	if got := s.Entry(t, one); got.State != store.Waiting || got.Position != one.Position {
		t.Fatalf("the loser is %s at %d", got.State, got.Position)
	}
	taken(t, s, slot, 1)
}

func TestTheSecondOfTwoClaimsIsRefusedAndKeepsItsPlace(t *testing.T) {
	t.Parallel()
	for _, first := range []int{0, 1} {
		t.Run([]string{"the first in the queue claims first", "the second in the queue claims first"}[first], func(t *testing.T) {
			t.Parallel()
			s := shop.New(t, broadcast)
			slot, one, two := waitingInBroadcast(t, s)
			both := []store.Entry{one, two}
			r := newRival(t, s)
			r.lockEntry(both[first])
			a := pressClaim(t, s, both[first], slot.TermsVersion)
			s.Waiting(t, 1)
			b := pressClaim(t, s, both[1-first], slot.TermsVersion)
			s.Waiting(t, 2)
			r.rollback()
			a.ok(t)
			b.refused(t, store.SoldOut)
			if got := s.Entry(t, both[1-first]); got.State != store.Waiting {
				t.Fatalf("the loser is %s", got.State)
			}
			taken(t, s, slot, 1)
		})
	}
}

func TestJoinBeforeACancellationIsOfferedItsSeat(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 1)
	booked := s.Book(t, slot, 1)
	req := s.JoinRequest(slot, 1)
	r := newRival(t, s)
	r.takePlace(slot, req.Contact.Email)
	join := pressJoin(t, s, req)
	s.Waiting(t, 1)
	cancel := pressCancel(t, s, booked, shop.Customer)
	s.Waiting(t, 2)
	r.rollback()
	// The join reads its entry again after its commit, so the offer may show already.
	offeredTo(t, cancel.ok(t), join.ok(t))
	taken(t, s, slot, 1)
}

func TestJoinBehindACancellationIsToldThatSeatsAreFree(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 1)
	booked := s.Book(t, slot, 1)
	r := newRival(t, s)
	r.lockReservation(booked)
	cancel := pressCancel(t, s, booked, shop.Customer)
	s.Waiting(t, 1)
	join := pressJoin(t, s, s.JoinRequest(slot, 1))
	s.Waiting(t, 2)
	r.rollback()
	cancel.ok(t)
	join.refused(t, store.SeatsFree)
	taken(t, s, slot, 0)
}

// kept makes a paused slot with one seat kept for two who wait.
func kept(t *testing.T, s *shop.Shop) (store.Slot, store.Entry, store.Entry) {
	t.Helper()
	slot := s.Slot(t, 1)
	booked := s.Book(t, slot, 1)
	one, two := s.Join(t, slot, 1), s.Join(t, slot, 1)
	if _, err := s.Store.PauseWaitlist(t.Context(), store.SlotRequest{TenantID: slot.TenantID, SlotID: slot.ID, Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	if change := s.Cancel(t, booked); len(change.Offered) != 0 {
		t.Fatalf("a paused slot offered to %d", len(change.Offered))
	}
	return slot, one, two
}

func pressOfferTo(t *testing.T, s *shop.Shop, e store.Entry) *pending[store.Change] {
	return press(func() (store.Change, error) {
		return s.Store.OfferTo(t.Context(), store.EntryRequest{TenantID: e.TenantID, ID: e.ID, Reason: "asked on the phone", Actor: shop.Staff})
	})
}

func pressResume(t *testing.T, s *shop.Shop, slot store.Slot) *pending[store.Change] {
	return press(func() (store.Change, error) {
		return s.Store.ResumeWaitlist(t.Context(), store.SlotRequest{TenantID: slot.TenantID, SlotID: slot.ID, Actor: shop.Staff})
	})
}

func TestPassOnBehindAStaffOfferFindsNoSeat(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot, one, two := kept(t, s)
	r := newRival(t, s)
	r.lockEntry(two)
	offer := pressOfferTo(t, s, two)
	s.Waiting(t, 1)
	resume := pressResume(t, s, slot)
	s.Waiting(t, 2)
	r.rollback()
	offeredTo(t, offer.ok(t), two)
	if change := resume.ok(t); len(change.Offered) != 0 {
		t.Fatalf("the seat was offered twice: %v", change.Offered)
	}
	if got := s.Entry(t, one); got.State != store.Waiting {
		t.Fatalf("the first is %s", got.State)
	}
	taken(t, s, slot, 1)
}

func TestAStaffOfferBehindPassOnIsRefused(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot, one, two := kept(t, s)
	r := newRival(t, s)
	r.lockEntry(one)
	resume := pressResume(t, s, slot)
	s.Waiting(t, 1)
	offer := pressOfferTo(t, s, two)
	s.Waiting(t, 2)
	r.rollback()
	offeredTo(t, resume.ok(t), one)
	offer.refused(t, store.SoldOut)
	if got := s.Entry(t, two); got.State != store.Waiting {
		t.Fatalf("the second is %s", got.State)
	}
	taken(t, s, slot, 1)
}

// bothWays makes somebody who holds seats without having said who they are, and
// is offered seats in the same slot as well.
func bothWays(t *testing.T, s *shop.Shop) (slot store.Slot, confirm store.ConfirmRequest, hold store.Reservation, offer, next store.Entry) {
	t.Helper()
	slot = s.Slot(t, 2)
	other := s.Book(t, slot, 1)
	hold = s.Hold(t, slot, 1)
	offer, next = s.Join(t, slot, 1), s.Join(t, slot, 1)
	confirm = s.ConfirmRequest(hold)
	confirm.Contact.Email = offer.Email
	offeredTo(t, s.Cancel(t, other), offer)
	return slot, confirm, hold, s.Entry(t, offer), next
}

func TestAcceptMeetingAConfirmNotYetCommittedOfTheSamePersonIsAlreadyBooked(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot, req, hold, offer, next := bothWays(t, s)
	r := newRival(t, s)
	r.takeMessage(hold)
	confirm := pressConfirm(t, s, req)
	s.Waiting(t, 1)
	accept := pressAccept(t, s, offer, slot.TermsVersion)
	s.Waiting(t, 2) // for the person's key
	r.rollback()
	confirm.ok(t)
	accept.refused(t, store.AlreadyBooked)
	if got := s.Entry(t, offer); got.State != store.EntryClosed || got.Reason != "booked" {
		t.Fatalf("the offer is %s, %q", got.State, got.Reason)
	}
	if got := s.Entry(t, next); got.State != store.Offered {
		t.Fatalf("the next is %s: the seat was not passed on", got.State)
	}
	taken(t, s, slot, 2)
}

func TestAcceptMeetingAConfirmThatRollsBackIsServed(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot, req, hold, offer, next := bothWays(t, s)
	r := newRival(t, s)
	r.takeMessage(hold)
	confirm := pressConfirm(t, s, req)
	s.Waiting(t, 1)
	accept := pressAccept(t, s, offer, slot.TermsVersion)
	s.Waiting(t, 2)
	killWaiting(t, s, "-- confirm")
	if _, err := confirm.answer(t); err == nil {
		t.Fatal("a confirm whose connection was killed says that it succeeded")
	}
	accept.ok(t)
	r.rollback()
	if got := s.Entry(t, next); got.State != store.Waiting {
		t.Fatalf("the next is %s", got.State)
	}
	// The person's hold is still there; confirming it would be a second booking.
	_, err := s.Store.Confirm(t.Context(), req)
	want(t, err, store.AlreadyBooked)
	taken(t, s, slot, 2)
}
