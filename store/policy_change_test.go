package store_test

import (
	"testing"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

func TestOneBookingPerPersonCanBeSwitchedOffAndOnAgain(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 5)
	first := s.Book(t, slot, 1)
	again := func() (store.Reservation, error) {
		request := s.ConfirmRequest(s.Hold(t, s.Read(t, slot), 1))
		request.Contact.Email = first.Email
		return s.Store.Confirm(t.Context(), request)
	}
	_, err := again()
	want(t, err, store.AlreadyBooked)
	change := func(overrides string) {
		t.Helper()
		if _, err := s.Store.ChangePolicies(t.Context(), slot.TenantID, s.Service.ID, []byte(overrides), shop.Staff); err != nil {
			t.Fatal(err)
		}
	}
	change(`{"onePerPerson": false}`)
	second, err := again()
	if err != nil {
		t.Fatalf("a second booking, now that it is allowed: %v", err)
	}
	change(`{"onePerPerson": true}`)
	_, err = again()
	want(t, err, store.AlreadyBooked)
	s.Cancel(t, first)
	s.Cancel(t, second)
	if _, err := again(); err != nil {
		t.Fatalf("after both were cancelled: %v", err)
	}
}
