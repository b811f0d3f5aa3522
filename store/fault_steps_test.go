package store_test

import (
	"context"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

// faultCase is a step with what has to be there before it. prepare gives the
// step; it is run again and again, so it must not use up what it needs.
type faultCase struct {
	prepare func(t *testing.T, s *shop.Shop) func(ctx context.Context) error
	policy  func(*store.Policies)
}

var faultCases = map[string]faultCase{
	"hold in one statement": {prepare: func(t *testing.T, s *shop.Shop) func(context.Context) error {
		req := s.HoldRequest(s.Slot(t, 1), 1)
		return func(ctx context.Context) error { _, err := s.Store.Hold(ctx, req); return err }
	}},
	"hold with something due": {prepare: func(t *testing.T, s *shop.Shop) func(context.Context) error {
		slot := s.Slot(t, 1)
		due(t, s, "reservations", s.Hold(t, slot, 1).ID, time.Second)
		req := s.HoldRequest(slot, 1)
		return func(ctx context.Context) error { _, err := s.Store.Hold(ctx, req); return err }
	}},
	"hold of a group": {prepare: func(t *testing.T, s *shop.Shop) func(context.Context) error {
		a, b := s.Slot(t, 1), s.Slot(t, 2)
		req := s.HoldRequest(a, 1)
		req.Slots = append(req.Slots, store.HoldSlot{ID: b.ID, TermsVersion: b.TermsVersion})
		return func(ctx context.Context) error { _, err := s.Store.Hold(ctx, req); return err }
	}},
	"confirm": {prepare: func(t *testing.T, s *shop.Shop) func(context.Context) error {
		req := s.ConfirmRequest(s.Hold(t, s.Slot(t, 1), 1))
		return func(ctx context.Context) error { _, err := s.Store.Confirm(ctx, req); return err }
	}},
	"confirm of a group": {prepare: func(t *testing.T, s *shop.Shop) func(context.Context) error {
		_, held := group(t, s, s.Slot(t, 1), s.Slot(t, 1))
		req := s.ConfirmRequest(held[0])
		return func(ctx context.Context) error { _, err := s.Store.Confirm(ctx, req); return err }
	}},
	"extend": {prepare: func(t *testing.T, s *shop.Shop) func(context.Context) error {
		held := s.Hold(t, s.Slot(t, 1), 1)
		return func(ctx context.Context) error {
			_, err := s.Store.Extend(ctx, store.OwnerPress{Press: store.Press{TenantID: held.TenantID, ID: held.ID, Actor: shop.Customer}, Owner: held.Owner})
			return err
		}
	}},
	"release with somebody waiting": {prepare: func(t *testing.T, s *shop.Shop) func(context.Context) error {
		slot := s.Slot(t, 1)
		held := s.Hold(t, slot, 1)
		s.Join(t, slot, 1)
		return func(ctx context.Context) error {
			_, err := s.Store.Release(ctx, store.OwnerPress{Press: store.Press{TenantID: held.TenantID, ID: held.ID, Actor: shop.Customer}, Owner: held.Owner})
			return err
		}
	}},
	"cancel with somebody waiting": {prepare: func(t *testing.T, s *shop.Shop) func(context.Context) error {
		slot := s.Slot(t, 1)
		booked := s.Book(t, slot, 1)
		s.Join(t, slot, 1)
		s.Join(t, slot, 1)
		return func(ctx context.Context) error {
			_, err := s.Store.Cancel(ctx, store.CancelRequest{TenantID: slot.TenantID, IDs: []string{booked.ID}, Actor: shop.Customer})
			return err
		}
	}},
	"cancel with a vacancy told": {policy: broadcast, prepare: func(t *testing.T, s *shop.Shop) func(context.Context) error {
		slot := s.Slot(t, 1)
		booked := s.Book(t, slot, 1)
		s.Join(t, slot, 1)
		return func(ctx context.Context) error {
			_, err := s.Store.Cancel(ctx, store.CancelRequest{TenantID: slot.TenantID, IDs: []string{booked.ID}, Actor: shop.Customer})
			return err
		}
	}},
	"join": {prepare: func(t *testing.T, s *shop.Shop) func(context.Context) error {
		slot := s.Slot(t, 1)
		s.Book(t, slot, 1)
		req := s.JoinRequest(slot, 1)
		return func(ctx context.Context) error { _, err := s.Store.Join(ctx, req); return err }
	}},
	"accept": {prepare: func(t *testing.T, s *shop.Shop) func(context.Context) error {
		slot, offer, _ := offered(t, s)
		return func(ctx context.Context) error {
			_, err := s.Store.Accept(ctx, store.AcceptRequest{TenantID: slot.TenantID, ID: offer.ID, TermsVersion: slot.TermsVersion, Actor: shop.Customer})
			return err
		}
	}},
	"decline": {prepare: func(t *testing.T, s *shop.Shop) func(context.Context) error {
		slot, offer, _ := offered(t, s)
		return func(ctx context.Context) error {
			_, err := s.Store.Decline(ctx, store.Press{TenantID: slot.TenantID, ID: offer.ID, Actor: shop.Customer})
			return err
		}
	}},
	"claim": {policy: broadcast, prepare: func(t *testing.T, s *shop.Shop) func(context.Context) error {
		slot, one, _ := waitingInBroadcast(t, s)
		return func(ctx context.Context) error {
			_, err := s.Store.Claim(ctx, store.AcceptRequest{TenantID: slot.TenantID, ID: one.ID, TermsVersion: slot.TermsVersion, Actor: shop.Customer})
			return err
		}
	}},
	"staff offer": {prepare: func(t *testing.T, s *shop.Shop) func(context.Context) error {
		_, _, two := kept(t, s)
		return func(ctx context.Context) error {
			_, err := s.Store.OfferTo(ctx, store.EntryRequest{TenantID: two.TenantID, ID: two.ID, Reason: "asked", Actor: shop.Staff})
			return err
		}
	}},
	"move with somebody waiting behind": {prepare: func(t *testing.T, s *shop.Shop) func(context.Context) error {
		from, to := s.Slot(t, 1), s.Slot(t, 1)
		booked := s.Book(t, from, 1)
		s.Join(t, from, 1)
		return func(ctx context.Context) error {
			_, err := s.Store.Move(ctx, store.MoveRequest{TenantID: from.TenantID, ID: booked.ID, TargetSlot: to.ID, TargetTerms: to.TermsVersion, Actor: shop.Customer})
			return err
		}
	}},
	"party smaller": {prepare: func(t *testing.T, s *shop.Shop) func(context.Context) error {
		slot := s.Slot(t, 2)
		booked := s.Book(t, slot, 2)
		s.Join(t, slot, 1)
		return func(ctx context.Context) error {
			_, _, err := s.Store.ChangeParty(ctx, store.PartyRequest{TenantID: slot.TenantID, ID: booked.ID, PartySize: 1, Actor: shop.Customer})
			return err
		}
	}},
	"booked by staff with an extra seat": {prepare: func(t *testing.T, s *shop.Shop) func(context.Context) error {
		slot := s.Slot(t, 1)
		s.Book(t, slot, 1)
		req := store.BookRequest{TenantID: slot.TenantID, SlotID: slot.ID, PartySize: 1, Contact: s.Person(), Key: "counter", ExtraReason: "regular", Actor: shop.Staff}
		return func(ctx context.Context) error { _, _, err := s.Store.Book(ctx, req); return err }
	}},
	"capacity with somebody waiting": {prepare: func(t *testing.T, s *shop.Shop) func(context.Context) error {
		slot := s.Slot(t, 2)
		s.Book(t, slot, 2)
		s.Join(t, slot, 2)
		return func(ctx context.Context) error {
			_, err := s.Store.ChangeCapacity(ctx, store.CapacityRequest{TenantID: slot.TenantID, SlotID: slot.ID, Capacity: 4, Actor: shop.Staff})
			return err
		}
	}},
	"terms": {prepare: func(t *testing.T, s *shop.Shop) func(context.Context) error {
		slot := s.Slot(t, 3)
		s.Book(t, slot, 1)
		s.Hold(t, slot, 1)
		return func(ctx context.Context) error {
			_, err := s.Store.ChangeTerms(ctx, store.TermsRequest{
				TenantID: slot.TenantID, SlotID: slot.ID, StartsAt: slot.StartsAt.Add(-48 * time.Hour), EndsAt: slot.EndsAt.Add(-48 * time.Hour), Actor: shop.Staff,
			})
			return err
		}
	}},
	"cancel slot": {prepare: func(t *testing.T, s *shop.Shop) func(context.Context) error {
		slot, _, _ := offered(t, s)
		return func(ctx context.Context) error {
			_, err := s.Store.CancelSlot(ctx, store.SlotRequest{TenantID: slot.TenantID, SlotID: slot.ID, Reason: "storm", Actor: shop.Staff})
			return err
		}
	}},
}

// Whichever statement of a step fails, the commit too, nothing has happened; and
// pressed again the step succeeds.
func TestAFailureAtAnyStatementChangesNothing(t *testing.T) {
	t.Parallel()
	for name, c := range faultCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shop.New(t, c.policy)
			step := c.prepare(t, s)
			before := dump(t, s)
			for k := 1; ; k++ {
				s.FailAt(k)
				err := step(t.Context())
				if !s.Failed() {
					if err != nil {
						t.Fatalf("the step fails by itself: %v", err)
					}
					if k == 1 {
						t.Fatal("no statement was made to fail")
					}
					break
				}
				if err == nil {
					// What failed came after the commit: a read of the answer, at most.
					t.Fatalf("statement %d failed and the step says that it succeeded", k)
				}
				if after := dump(t, s); after != before {
					if committed(t, s, step) {
						return
					}
					t.Fatalf("statement %d failed with %v and something has changed:\n%s\n%s", k, err, before, after)
				}
				s.Check(t)
			}
			if after := dump(t, s); after == before {
				t.Fatal("the step succeeded and nothing has changed")
			}
		})
	}
}

// committed reports whether the step was whole when a later read failed, which
// only the answer was missing: then pressing again is answered with it, and changes nothing.
func committed(t *testing.T, s *shop.Shop, step func(context.Context) error) bool {
	t.Helper()
	s.Check(t)
	before := dump(t, s)
	if err := step(t.Context()); err != nil {
		return false
	}
	return dump(t, s) == before
}

// Each slot is swept in a transaction of its own; the failure of one stops neither the others nor the next pass.
func TestAFailureAtAnyStatementOfASweepLeavesWholeSlots(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	var held []store.Reservation
	var entries []store.Entry
	for range 2 {
		slot := s.Slot(t, 1)
		held = append(held, s.Hold(t, slot, 1))
		entries = append(entries, s.Join(t, slot, 1))
	}
	for k := 1; ; k++ {
		for i := range held { // both are due again
			s.Exec(t, "UPDATE reservations SET shown_until = now() - interval '1 hour', expires_at = now() - interval '1 minute' WHERE id = $1 AND state = 'held'", held[i].ID)
		}
		s.FailAt(k)
		_, err := s.Store.Sweep(t.Context())
		failed := s.Failed()
		if failed && err == nil {
			t.Fatalf("statement %d failed and the sweep does not say so", k)
		}
		for i := range held {
			r, e := s.Reservation(t, held[i]), s.Entry(t, entries[i])
			if (r.State == store.ExpiredR) != (e.State == store.Offered) {
				t.Fatalf("statement %d: the hold is %s, the entry %s: half a sweep", k, r.State, e.State)
			}
		}
		s.Check(t)
		if !failed {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		// A fresh pair for the next k, so that there is always something to fail at.
		for i := range held {
			slot := s.Slot(t, 1)
			held[i], entries[i] = s.Hold(t, slot, 1), s.Join(t, slot, 1)
		}
		if k > 200 {
			t.Fatal("a sweep of two slots takes more than 200 statements")
		}
	}
}

// The caller leaves while the step stands in its middle: no lock stays, and nothing has changed.
func TestACallerWhoLeavesInTheMiddleLeavesNoLock(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 1)
	booked, e := s.Book(t, slot, 1), s.Join(t, slot, 1)
	before := dump(t, s)
	r := newRival(t, s)
	r.lockEntry(e)
	ctx, leave := context.WithCancel(t.Context())
	cancel := press(func() (store.Change, error) {
		return s.Store.Cancel(ctx, store.CancelRequest{TenantID: slot.TenantID, IDs: []string{booked.ID}, Actor: shop.Customer})
	})
	s.Waiting(t, 1)
	leave()
	if _, err := cancel.answer(t); err == nil {
		t.Fatal("a step that was left says that it succeeded")
	}
	// The slot is free again although the rival still has the row that the step waited for.
	other := newRival(t, s)
	other.lockSlot(slot)
	other.lockReservation(booked)
	other.rollback()
	if after := dump(t, s); after != before {
		t.Fatalf("half a step:\n%s\n%s", before, after)
	}
	r.rollback()
	offeredTo(t, s.Cancel(t, booked), e)
}

// A server's session that dies in the middle of a step: an error or busy, and nothing has changed.
func TestAKilledConnectionChangesNothing(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot, offer, next := offered(t, s)
	before := dump(t, s)
	r := newRival(t, s)
	r.lockEntry(offer)
	accept := pressAccept(t, s, offer, slot.TermsVersion)
	s.Waiting(t, 1)
	killWaiting(t, s, "lock entry")
	_, err := accept.answer(t)
	if err == nil {
		t.Fatal("a step whose connection was killed says that it succeeded")
	}
	r.rollback()
	if after := dump(t, s); after != before {
		t.Fatalf("half a step:\n%s\n%s", before, after)
	}
	pressAccept(t, s, offer, slot.TermsVersion).ok(t)
	if got := s.Entry(t, next); got.State != store.Waiting {
		t.Fatalf("the next is %s", got.State)
	}
}

func TestAKilledHoldIsResolvedByItsKey(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 1)
	req := s.HoldRequest(slot, 1)
	r := newRival(t, s)
	r.takeKey(slot, req.Key)
	hold := pressHold(t, s, req)
	s.Waiting(t, 1)
	killWaiting(t, s, "-- hold")
	if _, err := hold.answer(t); err != store.Busy { //nolint:errorlint // exactly the refusal, not wrapped
		t.Fatalf("got %v, want busy", err)
	}
	r.rollback()
	taken(t, s, slot, 0)
	first, err := s.Store.Hold(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.Store.Hold(t.Context(), req)
	if err != nil || again[0].ID != first[0].ID {
		t.Fatalf("%v %v", again, err)
	}
	taken(t, s, slot, 1)
}
