package store_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

func explain(t *testing.T, s *shop.Shop, slot store.Slot) store.Explanation {
	t.Helper()
	x, err := s.Store.Explain(t.Context(), s.Tenant, slot.ID)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestTheJourneyOfASeatIsToldInOrderWithoutNames(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 1)
	booked := s.Book(t, slot, 1)
	first, second := s.Join(t, slot, 1), s.Join(t, slot, 1)
	s.Cancel(t, booked)
	if _, err := s.Store.Decline(t.Context(), store.Press{TenantID: slot.TenantID, ID: first.ID, Actor: shop.Customer}); err != nil {
		t.Fatal(err)
	}
	won, err := s.Store.Accept(t.Context(), store.AcceptRequest{TenantID: slot.TenantID, ID: second.ID, TermsVersion: 1, Actor: shop.Staff})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Store.Cancel(t.Context(), store.CancelRequest{TenantID: slot.TenantID, IDs: []string{won.ID}, Reason: "電話でのご依頼", Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	x := explain(t, s, slot)
	if len(x.Seats) != 1 {
		t.Fatalf("%d seats have a journey", len(x.Seats))
	}
	var steps []string
	for _, step := range x.Seats[0].Steps {
		steps = append(steps, step.Who+" "+string(step.Kind)+" by "+step.By)
	}
	want := []string{
		"A held by customer", "A confirmed by customer", "A cancelled by customer", "B offered by system", "B declined by customer",
		"C offered by system", "C accepted by staff 1", "C cancelled by staff 1",
	}
	if !slices.Equal(steps, want) {
		t.Errorf("the seat's journey is\n%s\nwant\n%s", strings.Join(steps, "\n"), strings.Join(want, "\n"))
	}
	last := x.Events[len(x.Events)-1]
	if last.Taken != 0 || last.Reason != "電話でのご依頼" || x.Taken != 0 {
		t.Errorf("it ends with %+v", last)
	}
	text, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	for _, personal := range []string{"客", "guest", booked.ID, first.ID, won.ID, shop.Staff.ID, "192.0.2.1"} {
		if strings.Contains(string(text), personal) {
			t.Errorf("the explanation tells %q", personal)
		}
	}
}

func TestPartiesOfSeveralHaveTheirOwnSeatsAndGiveThoseBack(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 4)
	a, b := s.Book(t, slot, 2), s.Book(t, slot, 2)
	s.Cancel(t, a)
	c := s.Book(t, slot, 1)
	if _, _, err := s.Store.ChangeParty(t.Context(), store.PartyRequest{TenantID: slot.TenantID, ID: b.ID, PartySize: 1, Actor: shop.Customer}); err != nil {
		t.Fatal(err)
	}
	target := s.Slot(t, 2)
	if _, err := s.Store.Move(t.Context(), store.MoveRequest{TenantID: slot.TenantID, ID: c.ID, TargetSlot: target.ID, TargetTerms: 1, Actor: shop.Customer}); err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		slot store.Slot
		want []string
	}{
		{slot, []string{"1 2", "1 2", "3 4", "3 4", "1 2", "1", "1", "4", "1"}},
		{target, []string{"1"}},
	} {
		x := explain(t, s, one.slot)
		var of []string
		for _, e := range x.Events {
			of = append(of, strings.Trim(strings.Join(strings.Fields(strings.Trim(strings.ReplaceAll(jsonOf(t, e.Of), ",", " "), "[]")), " "), " "))
		}
		if !slices.Equal(of, one.want) {
			t.Errorf("the seats of the events are %q, want %q", of, one.want)
		}
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAChangedHistoryIsSeenFromTheEventOn(t *testing.T) {
	t.Parallel()
	for name, sql := range map[string]string{
		"another actor":      "UPDATE events SET actor = 'customer' WHERE slot_id = $1 AND number = 2",
		"another time":       "UPDATE events SET at = at + interval '1 second' WHERE slot_id = $1 AND number = 2",
		"a line taken away":  "DELETE FROM events WHERE slot_id = $1 AND number = 2",
		"a seal of its own":  "UPDATE events SET seal = sha256('x') WHERE slot_id = $1 AND number = 2",
		"a seal taken away":  "UPDATE events SET seal = NULL WHERE slot_id = $1 AND number = 1",
		"two in other order": "UPDATE events SET number = CASE number WHEN 2 THEN 900 ELSE 2 END WHERE slot_id = $1 AND number IN (2, 900)",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := broken(t, nil)
			slot := s.Slot(t, 2)
			ask := store.SlotRequest{TenantID: slot.TenantID, SlotID: slot.ID, Actor: shop.Staff}
			for range 2 {
				if _, err := s.Store.CloseSlot(t.Context(), ask); err != nil {
					t.Fatal(err)
				}
				if _, err := s.Store.ReopenSlot(t.Context(), ask); err != nil {
					t.Fatal(err)
				}
			}
			if x := explain(t, s, slot); !x.Seals.OK || x.Seals.Sealed != 0 || x.Seals.Numbered != 4 {
				t.Fatalf("before the sweep: %+v", x.Seals)
			}
			if _, err := s.Store.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			x := explain(t, s, slot)
			if !x.Seals.OK || x.Seals.Sealed != 4 || len(x.Seals.Head) != 64 {
				t.Fatalf("after it: %+v", x.Seals)
			}
			s.Exec(t, sql, slot.ID)
			if x := explain(t, s, slot); x.Seals.OK || x.Seals.BrokenAt == nil || *x.Seals.BrokenAt == 1 && name != "a seal taken away" {
				t.Errorf("the change is not seen: %+v", x.Seals)
			}
		})
	}
}

func TestNobodyElsesSlotIsExplained(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 1)
	other := s.AddTenant(t, "other", nil)
	for _, id := range []string{slot.ID, "00000000-0000-4000-8000-000000000000", "nonsense"} {
		if _, err := s.Store.Explain(t.Context(), other, id); err != store.NotFound {
			t.Errorf("%s: %v", id, err)
		}
	}
}
