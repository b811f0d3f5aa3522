package store_test

import (
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

func groupRequest(s *stage, party int, slots ...store.Slot) store.HoldRequest {
	req := s.HoldRequest(slots[0], party)
	req.Slots = nil
	for _, slot := range slots {
		req.Slots = append(req.Slots, store.HoldSlot{ID: slot.ID, TermsVersion: slot.TermsVersion})
	}
	return req
}

func TestAGroupIsHeldConfirmedExtendedAndReleasedTogether(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	a, b := s.Slot(t, 2), s.Slot(t, 2)
	held, err := s.Store.Hold(s.ctx(), groupRequest(s, 2, b, a))
	if err != nil || len(held) != 2 || held[0].GroupID == nil || *held[0].GroupID != *held[1].GroupID || *held[0].GroupSize != 2 {
		t.Fatal(held, err)
	}
	ma, mb := s.mark(a), s.mark(b)
	_, err = s.Store.Extend(s.ctx(), s.press(held[1]))
	s.must(err)
	ma.events("extended +0 customer")
	mb.events("extended +0 customer")
	req := s.ConfirmRequest(held[0])
	_, err = s.Store.Confirm(s.ctx(), req)
	s.must(err)
	for _, r := range held {
		s.reservationState(r, store.Confirmed)
	}
	ma.mail("confirmed " + req.Contact.Email)
	mb.mail("confirmed " + req.Contact.Email)
	again, err := s.Store.Confirm(s.ctx(), req)
	if err != nil || again.State != store.Confirmed {
		t.Fatal(again, err)
	}
	ma.mail("confirmed " + req.Contact.Email)

	second, err := s.Store.Hold(s.ctx(), groupRequest(s, 1, s.Slot(t, 1), s.Slot(t, 1)))
	s.must(err)
	_, err = s.Store.Release(s.ctx(), s.press(second[0]))
	s.must(err)
	for _, r := range second {
		s.reservationState(r, store.Released)
	}
}

func TestAGroupIsHeldWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	group := func(change func(s *stage, a, b store.Slot, req *store.HoldRequest)) func(*stage) error {
		return func(s *stage) error {
			a, b := s.Slot(s.t, 2), s.Slot(s.t, 2)
			req := groupRequest(s, 1, a, b)
			change(s, a, b, &req)
			ma, mb := s.mark(a), s.mark(b)
			_, err := s.Store.Hold(s.ctx(), req)
			ma.nothing()
			mb.nothing()
			return err
		}
	}
	refusals(t, []refusal{
		{"one is full", store.SoldOut, nil, group(func(s *stage, a, b store.Slot, req *store.HoldRequest) { s.Book(s.t, b, 2) })},
		{"one is closed", store.Closed, nil, group(func(s *stage, a, b store.Slot, req *store.HoldRequest) { s.close(b) })},
		{"one has other terms", store.TermsChanged, nil, group(func(s *stage, a, b store.Slot, req *store.HoldRequest) { req.Slots[1].TermsVersion = 2 })},
		{"one does not exist", store.NotFound, nil, group(func(s *stage, a, b store.Slot, req *store.HoldRequest) {
			req.Slots[1].ID = "00000000-0000-4000-8000-000000000000"
		})},
		{"one is named twice", store.Conflict, nil, group(func(s *stage, a, b store.Slot, req *store.HoldRequest) { req.Slots[1] = req.Slots[0] })},
		{"the key stands for a hold of one of them alone", store.KeyReused, nil, group(func(s *stage, a, b store.Slot, req *store.HoldRequest) {
			single := *req
			single.Slots = req.Slots[:1:1]
			_, err := s.Store.Hold(s.ctx(), single)
			s.must(err)
		})},
	})
}

func TestARefusedGroupKeepsTheSweeps(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	a, b := s.Slot(t, 1), s.Slot(t, 1)
	s.Hold(t, a, 1)
	s.Book(t, b, 1)
	s.at(6 * time.Minute)
	m := s.mark(a)
	_, err := s.Store.Hold(s.ctx(), groupRequest(s, 1, a, b))
	want(t, err, store.SoldOut)
	m.events("expired -1 system")
}

func TestAGroupRepeated(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	a, b := s.Slot(t, 1), s.Slot(t, 1)
	req := groupRequest(s, 1, a, b)
	first, err := s.Store.Hold(s.ctx(), req)
	s.must(err)
	again, err := s.Store.Hold(s.ctx(), req)
	if err != nil || len(again) != 2 || again[0].ID != first[0].ID || again[1].ID != first[1].ID {
		t.Fatal(again, err)
	}
	req.PartySize = 2
	_, err = s.Store.Hold(s.ctx(), req)
	want(t, err, store.KeyReused)
}

// The slots may have different policies: when one hold of a group is due, the
// group can no longer be confirmed, and the press with its key starts anew.
func TestAGroupOfWhichOneIsDueStartsAnew(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	a, b := s.Slot(t, 1), s.Slot(t, 1)
	s.Exec(t, "UPDATE slots SET hold_shown = '20 minutes' WHERE id = $1", b.ID)
	req := groupRequest(s, 1, a, b)
	first, err := s.Store.Hold(s.ctx(), req)
	s.must(err)
	s.at(7 * time.Minute)
	for _, swept := range []bool{false, true} {
		if swept {
			s.sweep()
		}
		again, err := s.Store.Hold(s.ctx(), req)
		if err != nil || len(again) != 2 || again[0].ID == first[0].ID || again[1].ID == first[1].ID {
			t.Fatal(again, err)
		}
		s.taken(a, 1)
		s.taken(b, 1)
		first = again
		s.at(15 * time.Minute)
	}
}

func TestAGroupIsNotConfirmedWhenOneOfItIsOver(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	a, b := s.Slot(t, 1), s.Slot(t, 1)
	held, err := s.Store.Hold(s.ctx(), groupRequest(s, 1, a, b))
	s.must(err)
	_, err = s.Store.CancelSlot(s.ctx(), s.slotRequest(b))
	s.must(err)
	lives := held[0]
	if lives.SlotID == b.ID {
		lives = held[1]
	}
	_, err = s.Store.Confirm(s.ctx(), s.ConfirmRequest(lives))
	want(t, err, store.Expired)
	s.reservationState(lives, store.Held)
}

func TestAGroupIsNotConfirmedForSomebodyWhoHasBookedOneOfItsSlots(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	a, b := s.Slot(t, 2), s.Slot(t, 2)
	booked := s.Book(t, b, 1)
	held, err := s.Store.Hold(s.ctx(), groupRequest(s, 1, a, b))
	s.must(err)
	req := s.ConfirmRequest(held[0])
	req.Contact.Email = booked.Email
	_, err = s.Store.Confirm(s.ctx(), req)
	want(t, err, store.AlreadyBooked)
	for _, r := range held {
		s.reservationState(r, store.Held)
	}
}

// What the customer agrees to is every slot of the group.
func TestAGroupIsNotConfirmedWhenTheTermsOfOneOfItHaveChanged(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	a, b := s.Slot(t, 1), s.Slot(t, 1)
	held, err := s.Store.Hold(s.ctx(), groupRequest(s, 1, a, b))
	s.must(err)
	pressed, other := held[0], held[1]
	_, err = s.Store.ChangeTerms(s.ctx(), store.TermsRequest{
		TenantID: a.TenantID, SlotID: other.SlotID, StartsAt: s.Start.Add(5 * time.Hour), EndsAt: s.Start.Add(6 * time.Hour), Actor: shop.Staff,
	})
	s.must(err)
	_, err = s.Store.Confirm(s.ctx(), s.ConfirmRequest(pressed))
	want(t, err, store.TermsChanged)
}

func TestAGroupCountsAsOneHoldOfTheVisitor(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(p *store.Policies) { p.HoldsPerVisitor = 2 })
	a, b := s.Slot(t, 5), s.Slot(t, 5)
	group := groupRequest(s, 1, a, b)
	_, err := s.Store.Hold(s.ctx(), group)
	s.must(err)
	single := s.HoldRequest(a, 1)
	single.Owner = group.Owner
	_, err = s.Store.Hold(s.ctx(), single)
	s.must(err)
	single.Key = "one more"
	_, err = s.Store.Hold(s.ctx(), single)
	want(t, err, store.TooManyHolds)
	group.Key = "another"
	_, err = s.Store.Hold(s.ctx(), group)
	want(t, err, store.TooManyHolds)
}
