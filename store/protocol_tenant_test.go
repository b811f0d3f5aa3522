package store_test

import (
	"testing"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

// What another tenant has is absent, whoever knows its id.
func TestAnotherTenantsRowsAreAbsent(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 1)
	booked := s.Book(t, slot, 1)
	waits := s.Join(t, slot, 1)
	other := s.AddTenant(t, "other", nil)
	_, err := s.Store.Reservation(t.Context(), other.ID, booked.ID)
	want(t, err, store.NotFound)
	_, err = s.Store.Entry(t.Context(), other.ID, waits.ID)
	want(t, err, store.NotFound)
	_, err = s.Store.Cancel(t.Context(), store.CancelRequest{TenantID: other.ID, IDs: []string{booked.ID}, Actor: shop.Staff})
	want(t, err, store.NotFound)
	_, err = s.Store.Withdraw(t.Context(), store.Press{TenantID: other.ID, ID: waits.ID, Actor: shop.Customer})
	want(t, err, store.NotFound)
	taken(t, s, slot, 1)
}
