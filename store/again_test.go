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

func TestRejoiningByAnOldLinkLeadsToALiveEntry(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 1)
	s.Book(t, slot, 1)
	first := s.Join(t, slot, 1)
	press := store.Press{TenantID: slot.TenantID, ID: first.ID, Actor: shop.Customer}
	withdraw := func(e store.Entry) {
		t.Helper()
		if _, err := s.Store.Withdraw(t.Context(), store.Press{TenantID: slot.TenantID, ID: e.ID, Actor: shop.Customer}); err != nil {
			t.Fatal(err)
		}
	}
	withdraw(first)
	second, err := s.Store.Rejoin(t.Context(), press)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := s.Store.Rejoin(t.Context(), press); err != nil || again.ID != second.ID {
		t.Fatalf("pressed twice: %+v %v", again, err)
	}
	withdraw(second)
	third, err := s.Store.Rejoin(t.Context(), press)
	if err != nil || third.ID == second.ID || third.State != store.Waiting {
		t.Fatalf("by the old link after the new entry has ended: %+v %v", third, err)
	}
}

func TestAnAddressThatStaffCorrectGetsALinkAndTheOldLinkEnds(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	r := s.Book(t, s.Slot(t, 1), 1)
	old := s.Store.ReservationToken(r)
	contact := s.Person()
	corrected, err := s.Store.CorrectContact(t.Context(), store.ContactRequest{TenantID: r.TenantID, ID: r.ID, Contact: contact, Actor: shop.Staff})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Store.ReservationByToken(t.Context(), r.TenantID, old)
	want(t, err, store.NotFound)
	if found, err := s.Store.ReservationByToken(t.Context(), r.TenantID, s.Store.ReservationToken(corrected)); err != nil || found.ID != r.ID {
		t.Fatalf("the new link: %+v %v", found, err)
	}
	messages, err := s.Store.Messages(t.Context(), store.MessageQuery{TenantID: r.TenantID, SubjectID: r.ID})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		if m.Kind == store.KindMyLinks && m.Recipient == contact.Email {
			letter, err := s.Store.Letter(t.Context(), m)
			if err != nil || len(letter.Bookings) != 1 || s.Store.ReservationToken(*letter.Bookings[0].Reservation) == old {
				t.Fatalf("the mail to the right address: %+v %v", letter.Bookings, err)
			}
			return
		}
	}
	t.Fatalf("no mail with the new link: %+v", messages)
}
