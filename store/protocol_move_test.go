package store_test

import (
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

// Whoever moves has seen the terms of the new slot, and agrees to those.
func TestAMovedBookingHasTheTermsOfItsNewSlot(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	from, to := s.Slot(t, 1), s.Slot(t, 1)
	booked := s.Book(t, from, 1)
	if _, err := s.Store.ChangeTerms(t.Context(), store.TermsRequest{
		TenantID: to.TenantID, SlotID: to.ID, EndsAt: to.EndsAt.Add(time.Minute), Actor: shop.Staff,
	}); err != nil {
		t.Fatal(err)
	}
	to = s.Read(t, to)
	if _, err := s.Store.Move(t.Context(), store.MoveRequest{
		TenantID: to.TenantID, ID: booked.ID, TargetSlot: to.ID, TargetTerms: to.TermsVersion, Actor: shop.Customer,
	}); err != nil {
		t.Fatal(err)
	}
	if got := s.Reservation(t, booked); got.SlotID != to.ID || got.TermsVersion != to.TermsVersion || to.TermsVersion != 2 {
		t.Fatalf("the booking has terms %d, its slot %d", got.TermsVersion, to.TermsVersion)
	}
}

// A key stands for a hold in its own slot. Where the booking goes, it means nothing: somebody else's press
// with the same key there is a press of its own.
func TestAMovedBookingLeavesItsKeyBehind(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	from, to := s.Slot(t, 1), s.Slot(t, 2)
	req := s.HoldRequest(from, 1)
	held, err := s.Store.Hold(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	booked, err := s.Store.Confirm(t.Context(), s.ConfirmRequest(held[0]))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Store.Move(t.Context(), store.MoveRequest{
		TenantID: to.TenantID, ID: booked.ID, TargetSlot: to.ID, TargetTerms: to.TermsVersion, Actor: shop.Customer,
	}); err != nil {
		t.Fatal(err)
	}
	there := s.HoldRequest(to, 1)
	there.Key = req.Key
	fresh, err := s.Store.Hold(t.Context(), there)
	if err != nil || fresh[0].ID == booked.ID {
		t.Fatalf("%v %v", fresh, err)
	}
	taken(t, s, to, 2)
}
