package store_test

import (
	"errors"
	"os"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest"
	"holdfast/store/storetest/shop"
)

func TestMain(m *testing.M) {
	if dsn := os.Getenv(historyDSN); dsn != "" {
		os.Exit(historyProcess(dsn)) // one of several that a test starts
	}
	storetest.Main(m)
}

func want(t *testing.T, got error, outcome store.Outcome) {
	t.Helper()
	if !errors.Is(got, outcome) {
		t.Fatalf("got %v, want %v", got, outcome)
	}
}

// The main story: the last seat is booked, somebody waits, it is cancelled and
// passed on, and the one who waited accepts.
func TestASeatIsBookedCancelledAndPassedOn(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 1)
	first := s.Book(t, slot, 1)
	_, err := s.Store.Hold(t.Context(), s.HoldRequest(slot, 1))
	want(t, err, store.SoldOut)
	second := s.Join(t, slot, 1)
	third := s.Join(t, slot, 1)
	if second.Place != 1 || third.Place != 2 || third.Of != 2 {
		t.Fatalf("places %d and %d of %d", second.Place, third.Place, third.Of)
	}
	preview, err := s.Store.PreviewCancel(t.Context(), store.CancelRequest{TenantID: slot.TenantID, IDs: []string{first.ID}, Actor: shop.Staff})
	if err != nil || len(preview.Offered) != 1 || preview.Offered[0].ID != second.ID {
		t.Fatalf("preview %+v %v", preview, err)
	}
	change := s.Cancel(t, first)
	if len(change.Offered) != 1 || change.Offered[0].ID != second.ID {
		t.Fatalf("offered %+v", change.Offered)
	}
	s.Cancel(t, first)
	accepted, err := s.Store.Accept(t.Context(), store.AcceptRequest{TenantID: slot.TenantID, ID: second.ID, TermsVersion: slot.TermsVersion, Actor: shop.Customer})
	if err != nil || accepted.State != store.Confirmed {
		t.Fatalf("accept: %+v %v", accepted, err)
	}
	again, err := s.Store.Accept(t.Context(), store.AcceptRequest{TenantID: slot.TenantID, ID: second.ID, TermsVersion: slot.TermsVersion, Actor: shop.Customer})
	if err != nil || again.ID != accepted.ID {
		t.Fatalf("accept again: %+v %v", again, err)
	}
	report, err := s.Store.Sweep(t.Context())
	if err != nil || report.Sealed == 0 {
		t.Fatalf("sweep: %+v %v", report, err)
	}
}

func TestTheRarerSteps(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	a, b := s.Slot(t, 2), s.Slot(t, 1)
	r := s.Book(t, a, 1)
	moved, err := s.Store.Move(t.Context(), store.MoveRequest{TenantID: a.TenantID, ID: r.ID, TargetSlot: b.ID, TargetTerms: b.TermsVersion, Actor: shop.Customer})
	if err != nil || moved.SlotID != b.ID {
		t.Fatal(moved, err)
	}
	req := s.HoldRequest(a, 1)
	req.Slots = append(req.Slots, store.HoldSlot{ID: b.ID, TermsVersion: b.TermsVersion})
	_, err = s.Store.Hold(t.Context(), req)
	want(t, err, store.SoldOut)
	c := s.Slot(t, 1)
	req.Slots[1].ID = c.ID
	held, err := s.Store.Hold(t.Context(), req)
	if err != nil || len(held) != 2 {
		t.Fatal(held, err)
	}
	if held[0].SlotID != a.ID { // a group is in the order of its slots' keys
		held[0], held[1] = held[1], held[0]
	}
	if _, err := s.Store.Extend(t.Context(), store.OwnerPress{Press: store.Press{TenantID: a.TenantID, ID: held[0].ID, Actor: shop.Customer}, Owner: req.Owner}); err != nil {
		t.Fatal(err)
	}
	confirm := s.ConfirmRequest(held[0])
	if _, err := s.Store.Confirm(t.Context(), confirm); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Store.ChangeParty(t.Context(), store.PartyRequest{TenantID: a.TenantID, ID: held[0].ID, PartySize: 2, Actor: shop.Customer}); err != nil {
		t.Fatal(err)
	}
	booked, _, err := s.Store.Book(t.Context(), store.BookRequest{TenantID: a.TenantID, SlotID: a.ID, PartySize: 1, Contact: s.Person(), ExtraReason: "regular", Actor: shop.Staff})
	if err != nil || booked.ExtraSeats != 1 {
		t.Fatal(booked, err)
	}
	e := s.Join(t, a, 1)
	if _, err := s.Store.ChangeTerms(t.Context(), store.TermsRequest{TenantID: a.TenantID, SlotID: a.ID, StartsAt: a.StartsAt.Add(-3 * time.Hour), EndsAt: a.EndsAt.Add(-3 * time.Hour), Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Store.ChangeTerms(t.Context(), store.TermsRequest{TenantID: a.TenantID, SlotID: a.ID, StartsAt: b.StartsAt, EndsAt: b.EndsAt, Actor: shop.Staff}); !errors.Is(err, store.Overlaps) {
		t.Fatal(err)
	}
	if _, err := s.Store.PauseWaitlist(t.Context(), store.SlotRequest{TenantID: a.TenantID, SlotID: a.ID, Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Store.ChangeCapacity(t.Context(), store.CapacityRequest{TenantID: a.TenantID, SlotID: a.ID, Capacity: 4, Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	_, err = s.Store.Hold(t.Context(), s.HoldRequest(s.Read(t, a), 1))
	want(t, err, store.SoldOut)
	if _, err := s.Store.ResumeWaitlist(t.Context(), store.SlotRequest{TenantID: a.TenantID, SlotID: a.ID, Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	if got := s.Entry(t, e); got.State != store.Offered {
		t.Fatal(got.State)
	}
	if _, err := s.Store.Revoke(t.Context(), store.EntryRequest{TenantID: a.TenantID, ID: e.ID, Reason: "mistake", Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Store.ChangePolicies(t.Context(), a.TenantID, s.Service.ID, []byte(`{"waitlistMode":"broadcast"}`), shop.Staff); err != nil || n != 3 {
		t.Fatal(n, err)
	}
	if _, err := s.Store.CancelSlot(t.Context(), store.SlotRequest{TenantID: a.TenantID, SlotID: a.ID, Reason: "storm", Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Store.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Store.Search(t.Context(), a.TenantID, "客"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Store.NearestFree(t.Context(), a.TenantID, a.ID, 1, 3); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Store.FirstBookable(t.Context(), store.SlotQuery{TenantID: a.TenantID, From: time.Now(), To: s.Start.Add(time.Hour * 1000)}); err != nil && !errors.Is(err, store.NotFound) {
		t.Fatal(err)
	}
	if _, err := s.Store.Roster(t.Context(), a.TenantID, a.ID); err != nil {
		t.Fatal(err)
	}
}
