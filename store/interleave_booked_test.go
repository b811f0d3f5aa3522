package store_test

import (
	"context"
	"testing"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

// Confirming needs no lock of the slot, so somebody who waits may book between
// the sweep of a step and its passing on. The seats that the step has to give then
// go to the next: an offer to somebody who has booked would be a seat kept for nobody.
func TestPassOnSeesWhoConfirmedWhileTheStepWaited(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 1)
	held := s.Hold(t, slot, 1)
	extra, _, err := s.Store.Book(t.Context(), store.BookRequest{
		TenantID: slot.TenantID, SlotID: slot.ID, PartySize: 1, Contact: s.Person(), ExtraReason: "a regular", Actor: shop.Staff,
	})
	if err != nil {
		t.Fatal(err)
	}
	first, second := s.Join(t, slot, 1), s.Join(t, slot, 1)

	// A change of capacity sweeps, then takes the extra seats off the bookings: there it has to wait.
	other := s.Conn(t)
	tx, err := other.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT 1 FROM reservations WHERE tenant_id = $1 AND id = $2 FOR UPDATE", extra.TenantID, extra.ID); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := s.Store.ChangeCapacity(context.WithoutCancel(t.Context()), store.CapacityRequest{TenantID: slot.TenantID, SlotID: slot.ID, Capacity: 3, Actor: shop.Staff})
		done <- err
	}()
	s.Waiting(t, 1)
	req := s.ConfirmRequest(held)
	req.Contact.Email = first.Email
	if _, err := s.Store.Confirm(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := s.Entry(t, first); got.State != store.EntryClosed || got.Reason != "booked" {
		t.Errorf("who has booked is %s (%s)", got.State, got.Reason)
	}
	if got := s.Entry(t, second); got.State != store.Offered {
		t.Errorf("the next is %s", got.State)
	}
}
