package store_test

import (
	"strings"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

// A misspelt policy would be stored, and never hold.
func TestAnOverrideNamesPoliciesOnly(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	misspelt := []byte(`{"partyMaximum": 2}`)
	if _, err := s.Store.AddTenant(t.Context(), store.Tenant{Slug: "b", Name: "B", TimeZone: "UTC", Locale: "en", Overrides: misspelt}); err == nil || !strings.Contains(err.Error(), "partyMaximum") {
		t.Errorf("a tenant: %v", err)
	}
	if _, err := s.Store.AddService(t.Context(), store.Service{TenantID: s.Tenant.ID, Slug: "b", Name: store.Text{"en": "B"}, Duration: time.Hour, Capacity: 1, Overrides: misspelt}); err == nil {
		t.Error("a service: it is stored")
	}
	for _, service := range []string{"", s.Service.ID} {
		if _, err := s.Store.SetPolicies(t.Context(), store.PolicyChange{TenantID: s.Tenant.ID, ServiceID: service, Overrides: misspelt, Actor: shop.Staff}); err == nil {
			t.Errorf("a change of %q: it is stored", service)
		}
	}
	// What a newer program has stored is read all the same.
	s.Exec(t, `UPDATE services SET policies = '{"ofTomorrow": 1, "partyMax": 2}'`)
	if slot := s.Slot(t, 4); slot.PartyMax != 2 {
		t.Errorf("%d", slot.PartyMax)
	}
}

// Slots that are made while the policies change have the new ones, whoever comes first.
func TestNewSlotsHaveThePoliciesThatAreInForce(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	conn := s.Conn(t)
	tx, err := conn.Begin(t.Context())
	noError(t, err)
	_, err = tx.Exec(t.Context(), `UPDATE services SET policies = '{"partyMax": 2}' WHERE id = $1`, s.Service.ID)
	noError(t, err)
	made := make(chan []store.Slot, 1)
	failed := make(chan error, 1)
	go func() {
		slots, err := s.Store.AddSlots(t.Context(), s.Tenant.ID, []store.NewSlot{{ServiceID: s.Service.ID, ResourceID: s.Resource.ID, StartsAt: s.Start, Capacity: 4}})
		made <- slots
		failed <- err
	}()
	s.Waiting(t, 1)
	noError(t, tx.Commit(t.Context()))
	slots := <-made
	noError(t, <-failed)
	if slots[0].PartyMax != 2 {
		t.Errorf("made with the policies of before: %d", slots[0].PartyMax)
	}
	if _, err := s.Store.AddSlots(t.Context(), s.Tenant.ID, []store.NewSlot{{ServiceID: s.Resource.ID, ResourceID: s.Resource.ID, StartsAt: s.Start, Capacity: 4}}); err != store.NotFound {
		t.Errorf("of a service that is none: %v", err)
	}
}

// What erasing somebody would do is worked out in one transaction over the nearest slots.
func TestThePreviewOfErasingSendsFewStatements(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	hanako := store.Contact{Name: "早乙女 花子", Email: "hanako@mail.example", Locale: "ja"}
	var one store.Reservation
	book := func() {
		t.Helper()
		slot := s.Slot(t, 2)
		req := s.ConfirmRequest(s.Hold(t, slot, 1))
		req.Contact = hanako
		var err error
		one, err = s.Store.Confirm(t.Context(), req)
		noError(t, err)
		s.Book(t, slot, 1)
		s.Join(t, slot, 1)
	}
	for i, most := range []int{12, 16, 20} {
		book()
		her, err := s.Store.PersonOf(t.Context(), s.Tenant.ID, one.ID)
		noError(t, err)
		var preview store.Erasure
		n := s.Count(func() { preview, _, err = s.Store.PreviewErase(t.Context(), her, shop.Staff, 3) })
		noError(t, err)
		if preview.Cancelled != i+1 || len(preview.Offered()) != i+1 || len(preview.Changes) != i+1 {
			t.Fatalf("%d bookings: %+v", i+1, preview)
		}
		if n > most {
			t.Errorf("%d bookings: %d statements, at most %d", i+1, n, most)
		}
	}
	// A hold of somebody else that is due goes first, and its seat is passed on as well.
	other := s.Slot(t, 2)
	req := s.ConfirmRequest(s.Hold(t, other, 1))
	req.Contact = store.Contact{Name: "次郎", Email: "jiro@mail.example", Locale: "ja"}
	his, err := s.Store.Confirm(t.Context(), req)
	noError(t, err)
	due := s.Hold(t, other, 1)
	s.Join(t, other, 1)
	s.Join(t, other, 1)
	s.Exec(t, "UPDATE reservations SET shown_until = now() - interval '2 minutes', expires_at = now() - interval '1 minute' WHERE id = $1", due.ID)
	him, err := s.Store.PersonOf(t.Context(), s.Tenant.ID, his.ID)
	noError(t, err)
	if preview, _, err := s.Store.PreviewErase(t.Context(), him, shop.Staff, 3); err != nil || len(preview.Offered()) != 2 {
		t.Errorf("%v: %+v", err, preview)
	}
	if r := s.Reservation(t, one); r.State != store.Confirmed {
		t.Errorf("a preview has left %s", r.State)
	}
}
