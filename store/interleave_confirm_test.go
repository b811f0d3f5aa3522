package store_test

import (
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

func TestASweepWaitingForAConfirmDoesNotExpireIt(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 1)
	held := s.Hold(t, slot, 1)
	r := newRival(t, s)
	r.takeMessage(held)
	confirm := pressConfirm(t, s, s.ConfirmRequest(held))
	s.Waiting(t, 1)
	sweep := pressSweep(t, later(s))
	s.Waiting(t, 2)
	r.rollback()
	confirm.ok(t)
	if report := sweep.ok(t); report.Expired != 0 {
		t.Fatalf("%d holds expired", report.Expired)
	}
	if got := s.Reservation(t, held); got.State != store.Confirmed {
		t.Fatalf("it is %s", got.State)
	}
	taken(t, s, slot, 1)
}

func TestAConfirmInGraceBehindASweepIsExpired(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 2)
	other := s.Book(t, slot, 1)
	held := s.Hold(t, slot, 1)
	offer := s.Join(t, slot, 1)
	s.Cancel(t, other)
	inGrace(t, s, "reservations", held.ID)
	r := newRival(t, s)
	r.lockEntry(offer) // the sweep has expired the hold when it comes to the offers
	sweep := pressSweep(t, later(s))
	s.Waiting(t, 1)
	confirm := pressConfirm(t, s, s.ConfirmRequest(held))
	s.Waiting(t, 2)
	r.rollback()
	sweep.ok(t)
	confirm.refused(t, store.Expired)
	if n := messages(t, s, store.KindConfirmed, held.ID); n != 0 {
		t.Fatalf("%d messages confirm what is expired", n)
	}
	taken(t, s, slot, 0)
}

func TestAConfirmPressedBeforeTheEnforcedDeadlineIsServedAfterWaitingPastIt(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 1)
	held := s.Hold(t, slot, 1)
	r := newRival(t, s)
	r.lockReservation(held)
	confirm := pressConfirm(t, s, s.ConfirmRequest(held))
	s.Waiting(t, 1)
	r.exec("UPDATE reservations SET expires_at = clock_timestamp(), shown_until = clock_timestamp() WHERE id = $1", held.ID)
	r.commit()
	if got := confirm.ok(t); got.State != store.Confirmed {
		t.Fatalf("it is %s", got.State)
	}
}

func pressCancelSlot(t *testing.T, s *shop.Shop, slot store.Slot) *pending[store.Change] {
	return press(func() (store.Change, error) {
		return s.Store.CancelSlot(t.Context(), store.SlotRequest{TenantID: slot.TenantID, SlotID: slot.ID, Reason: "storm", Actor: shop.Staff})
	})
}

func TestCancellingASlotWaitsForAConfirmAndCancelsIt(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 2)
	held, booked := s.Hold(t, slot, 1), s.Book(t, slot, 1)
	r := newRival(t, s)
	r.takeMessage(held)
	confirm := pressConfirm(t, s, s.ConfirmRequest(held))
	s.Waiting(t, 1)
	cancel := pressCancelSlot(t, s, slot)
	s.Waiting(t, 2)
	r.rollback()
	confirm.ok(t)
	cancel.ok(t)
	for _, one := range []store.Reservation{held, booked} {
		if got := s.Reservation(t, one); got.State != store.Cancelled {
			t.Fatalf("a reservation of a cancelled slot is %s", got.State)
		}
		if n := messages(t, s, store.KindSlotCancelled, one.ID); n != 1 {
			t.Fatalf("%d messages tell of the cancelled slot", n)
		}
	}
	taken(t, s, slot, 0)
}

func TestAConfirmBehindACancelledSlotIsOver(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 1)
	held, e := s.Hold(t, slot, 1), s.Join(t, slot, 1)
	r := newRival(t, s)
	r.lockEntry(e) // entries come after reservations
	cancel := pressCancelSlot(t, s, slot)
	s.Waiting(t, 1)
	confirm := pressConfirm(t, s, s.ConfirmRequest(held))
	s.Waiting(t, 2)
	r.rollback()
	cancel.ok(t)
	confirm.refused(t, store.Over)
	if n := messages(t, s, store.KindConfirmed, held.ID); n != 0 {
		t.Fatalf("%d messages confirm what is cancelled", n)
	}
	taken(t, s, slot, 0)
}

func pressTerms(t *testing.T, s *shop.Shop, slot store.Slot) *pending[store.Change] {
	return press(func() (store.Change, error) {
		return s.Store.ChangeTerms(t.Context(), store.TermsRequest{
			TenantID: slot.TenantID, SlotID: slot.ID, StartsAt: slot.StartsAt.Add(-48 * time.Hour), EndsAt: slot.EndsAt.Add(-48 * time.Hour), Actor: shop.Staff,
		})
	})
}

func TestAChangeOfTermsWaitsForAConfirmAndTellsIt(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 1)
	held := s.Hold(t, slot, 1)
	r := newRival(t, s)
	r.takeMessage(held)
	confirm := pressConfirm(t, s, s.ConfirmRequest(held))
	s.Waiting(t, 1)
	terms := pressTerms(t, s, slot)
	s.Waiting(t, 2)
	r.rollback()
	if got := confirm.ok(t); got.TermsVersion != slot.TermsVersion {
		t.Fatalf("agreed to terms %d, the page showed %d", got.TermsVersion, slot.TermsVersion)
	}
	terms.ok(t)
	if n := messages(t, s, store.KindChanged, held.ID); n != 1 {
		t.Fatalf("%d messages tell of the change", n)
	}
	if got := s.Reservation(t, held); got.TermsVersion != slot.TermsVersion {
		t.Fatalf("the change rewrote what a booking has agreed to: %d", got.TermsVersion)
	}
}

func TestAConfirmBehindAChangeOfTermsHasToAgreeAnew(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 2)
	held, booked := s.Hold(t, slot, 1), s.Book(t, slot, 1)
	r := newRival(t, s)
	r.lockReservation(booked) // the confirmed come after the holds
	terms := pressTerms(t, s, slot)
	s.Waiting(t, 1)
	req := s.ConfirmRequest(held)
	confirm := pressConfirm(t, s, req)
	s.Waiting(t, 2)
	r.rollback()
	terms.ok(t)
	confirm.refused(t, store.TermsChanged)
	if n := messages(t, s, store.KindChanged, held.ID); n != 0 {
		t.Fatalf("%d messages tell a mere hold of the change", n)
	}
	req.TermsVersion = s.Reservation(t, held).TermsVersion
	if got, err := s.Store.Confirm(t.Context(), req); err != nil || got.TermsVersion != slot.TermsVersion+1 {
		t.Fatalf("agreeing anew: %+v, %v", got, err)
	}
}

func TestTwoConfirmsOfOnePersonAtOnceAreOneBooking(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 2)
	x, y := s.Hold(t, slot, 1), s.Hold(t, slot, 1)
	reqX, reqY := s.ConfirmRequest(x), s.ConfirmRequest(y)
	reqY.Contact.Email = reqX.Contact.Email
	r := newRival(t, s)
	r.takeMessage(x)
	a := pressConfirm(t, s, reqX)
	s.Waiting(t, 1)
	b := pressConfirm(t, s, reqY)
	s.Waiting(t, 2)
	r.rollback()
	a.ok(t)
	b.refused(t, store.AlreadyBooked)
	if got := s.Reservation(t, y); got.State != store.Held {
		t.Fatalf("the second is %s", got.State)
	}
}

func TestTheSecondConfirmOfOneHoldIsAnsweredWithTheFirst(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 1)
	held := s.Hold(t, slot, 1)
	req := s.ConfirmRequest(held)
	r := newRival(t, s)
	r.takeMessage(held)
	a := pressConfirm(t, s, req)
	s.Waiting(t, 1)
	b := pressConfirm(t, s, req)
	s.Waiting(t, 2)
	r.rollback()
	if x, y := a.ok(t), b.ok(t); x.ID != y.ID || y.State != store.Confirmed {
		t.Fatalf("%s and %s, %s", x.ID, y.ID, y.State)
	}
	if n := messages(t, s, store.KindConfirmed, held.ID); n != 1 {
		t.Fatalf("%d messages confirm one booking", n)
	}
}

// group holds one seat in each slot.
func group(t *testing.T, s *shop.Shop, slots ...store.Slot) (store.HoldRequest, []store.Reservation) {
	t.Helper()
	req := s.HoldRequest(slots[0], 1)
	for _, slot := range slots[1:] {
		req.Slots = append(req.Slots, store.HoldSlot{ID: slot.ID, TermsVersion: slot.TermsVersion})
	}
	held, err := s.Store.Hold(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return req, held
}

func pressRelease(t *testing.T, s *shop.Shop, r store.Reservation) *pending[store.Reservation] {
	return press(func() (store.Reservation, error) {
		return s.Store.Release(t.Context(), store.OwnerPress{Press: store.Press{TenantID: r.TenantID, ID: r.ID, Actor: shop.Customer}, Owner: r.Owner})
	})
}

func TestAReleaseBehindTheConfirmOfItsGroupIsRefused(t *testing.T) {
	t.Parallel()
	for _, from := range []int{0, 1} {
		t.Run([]string{"released by its first", "released by its second"}[from], func(t *testing.T) {
			t.Parallel()
			s := shop.New(t, nil)
			a, b := s.Slot(t, 1), s.Slot(t, 1)
			_, held := group(t, s, a, b)
			r := newRival(t, s)
			r.takeMessage(held[1])
			confirm := pressConfirm(t, s, s.ConfirmRequest(held[0]))
			s.Waiting(t, 1)
			release := pressRelease(t, s, held[from])
			s.Waiting(t, 2)
			r.rollback()
			confirm.ok(t)
			release.refused(t, store.Conflict)
			for _, one := range held {
				if got := s.Reservation(t, one); got.State != store.Confirmed {
					t.Fatalf("one of the group is %s", got.State)
				}
			}
			taken(t, s, a, 1)
			taken(t, s, b, 1)
		})
	}
}

func TestTheConfirmOfAGroupBehindItsReleaseIsOver(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	a, b := s.Slot(t, 1), s.Slot(t, 1)
	_, held := group(t, s, a, b)
	r := newRival(t, s)
	r.lockReservation(held[1])
	release := pressRelease(t, s, held[0])
	s.Waiting(t, 1)
	confirm := pressConfirm(t, s, s.ConfirmRequest(held[1]))
	s.Waiting(t, 2)
	r.rollback()
	release.ok(t)
	confirm.refused(t, store.Over)
	for _, one := range held {
		if n := messages(t, s, store.KindConfirmed, one.ID); n != 0 {
			t.Fatalf("%d messages confirm what was released", n)
		}
	}
	taken(t, s, a, 0)
	taken(t, s, b, 0)
}

// Who confirms a group agrees to the terms of all its slots. Only one version
// comes with the press; a change of another slot must not slip in beside it.
func TestTheConfirmOfAGroupIsRefusedWhenAnotherOfItsSlotsHasChanged(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	a, b := s.Slot(t, 1), s.Slot(t, 1)
	_, held := group(t, s, a, b)
	other := a
	if held[0].SlotID == a.ID {
		other = b
	}
	r := newRival(t, s)
	r.lockReservation(held[1])
	terms := pressTerms(t, s, other)
	s.Waiting(t, 1)
	confirm := pressConfirm(t, s, s.ConfirmRequest(held[0]))
	s.Waiting(t, 2)
	r.rollback()
	terms.ok(t)
	confirm.refused(t, store.TermsChanged)
	for _, one := range held {
		if got := s.Reservation(t, one); got.State != store.Held {
			t.Fatalf("one of the group is %s", got.State)
		}
	}
}

// A refusal for lateness is recorded. With one connection, a record that asked
// the pool for a second one would wait for itself.
func TestALateConfirmOfAGroupNeedsOneConnectionOnly(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	_, held := group(t, s, s.Slot(t, 1), s.Slot(t, 1))
	for _, one := range held {
		due(t, s, "reservations", one.ID, time.Second)
	}
	st, err := store.New(s.NewPool(t, 1), shop.Secret, store.Watch{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = st.Confirm(t.Context(), s.ConfirmRequest(held[0]))
	want(t, err, store.Expired)
}

// Where a slot allows several bookings of one person and its reservations still
// have keys, as after a repair by SQL, a corrected address may meet another's key:
// a refusal, never an error.
func TestACorrectedAddressThatMeetsAnOldKeyIsRefused(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 2)
	x, y := s.Book(t, slot, 1), s.Book(t, slot, 1)
	s.Exec(t, "UPDATE slots SET one_per_person = false WHERE id = $1", slot.ID)
	contact := s.Person()
	contact.Email = x.Email
	_, err := s.Store.CorrectContact(t.Context(), store.ContactRequest{TenantID: slot.TenantID, ID: y.ID, Contact: contact, Actor: shop.Staff})
	want(t, err, store.AlreadyBooked)
	if got := s.Reservation(t, y); got.Email != y.Email {
		t.Fatal("a refused correction was written")
	}
}
