package store_test

import (
	"fmt"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

func TestHoldTakesSeatsUntilADeadline(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot := s.Slot(t, 3)
	m := s.mark(slot)
	r := s.Hold(t, slot, 2)
	if r.State != store.Held || r.PartySize != 2 || r.SlotID != slot.ID || r.TermsVersion != 1 || len(r.Number) != 7 {
		t.Fatalf("%+v", r)
	}
	if !r.ShownUntil.Equal(s.begin.Add(5*time.Minute)) || !r.ExpiresAt.Equal(s.begin.Add(6*time.Minute)) {
		t.Fatalf("shown %v enforced %v", r.ShownUntil, r.ExpiresAt)
	}
	m.events("held +2 customer")
	m.mail()
	if got := s.taken(slot, 2); got.Version != 1 || got.SeatsLeft != 1 || got.Held != 2 {
		t.Fatalf("%+v", got)
	}
	found, err := s.Store.ReservationByToken(s.ctx(), slot.TenantID, s.Store.ReservationToken(r))
	if err != nil || found.ID != r.ID {
		t.Fatal(found, err)
	}
}

func holdWith(change func(*stage, *store.HoldRequest)) func(*stage) error {
	return func(s *stage) error {
		slot := s.Slot(s.t, 2)
		if s.due {
			r := s.Hold(s.t, slot, 1)
			s.Exec(s.t, "UPDATE reservations SET shown_until = $2, expires_at = $2 WHERE id = $1", r.ID, s.begin.Add(-24*time.Hour))
		}
		req := s.HoldRequest(slot, 1)
		change(s, &req)
		before := s.mark(slot)
		_, err := s.Store.Hold(s.ctx(), req)
		if err != nil && !s.due {
			before.nothing()
		}
		return err
	}
}

func TestHoldIsRefused(t *testing.T) {
	t.Parallel()
	other := int64(7)
	cases := []refusal{
		{"where there is no such slot", store.NotFound, nil, holdWith(func(s *stage, r *store.HoldRequest) {
			r.Slots[0].ID = "00000000-0000-4000-8000-000000000000"
		})},
		{"in another tenant's slot", store.NotFound, nil, holdWith(func(s *stage, r *store.HoldRequest) {
			r.TenantID = s.AddTenant(s.t, "other", nil).ID
		})},
		{"in a closed slot", store.Closed, nil, holdWith(func(s *stage, r *store.HoldRequest) { s.close(store.Slot{TenantID: r.TenantID, ID: r.Slots[0].ID}) })},
		{"in a cancelled slot", store.Closed, nil, holdWith(func(s *stage, r *store.HoldRequest) {
			_, err := s.Store.CancelSlot(s.ctx(), store.SlotRequest{TenantID: r.TenantID, SlotID: r.Slots[0].ID, Actor: shop.Staff})
			s.must(err)
		})},
		{"an instant before booking opens", store.TooEarly, nil, holdWith(func(s *stage, r *store.HoldRequest) {
			s.until(s.Start.Add(-60*24*time.Hour - time.Microsecond))
		})},
		{"at the instant when booking closes", store.TooLate, func(p *store.Policies) { p.BookingCloses = store.Duration(time.Hour) }, holdWith(func(s *stage, r *store.HoldRequest) {
			s.until(s.Start.Add(-time.Hour))
		})},
		{"at the start, when booking closes with it", store.TooLate, nil, holdWith(func(s *stage, r *store.HoldRequest) { s.until(s.Start) })},
		{"when the page showed other terms", store.TermsChanged, nil, holdWith(func(s *stage, r *store.HoldRequest) { r.Slots[0].TermsVersion = 2 })},
		{"when the caller names another version", store.Conflict, nil, holdWith(func(s *stage, r *store.HoldRequest) { r.Slots[0].Version = &other })},
		{"for more people than a party may have", store.PartyTooLarge, func(p *store.Policies) { p.PartyMax = 1 }, holdWith(func(s *stage, r *store.HoldRequest) { r.PartySize = 2 })},
		{"for more people than seats", store.SoldOut, nil, holdWith(func(s *stage, r *store.HoldRequest) { r.PartySize = 3 })},
		{"when all seats are taken", store.SoldOut, nil, func(s *stage) error {
			slot, _ := s.full(2)
			return s.hold(slot, 1)
		}},
		{"when the free seat is kept because the waitlist is paused", store.SoldOut, nil, func(s *stage) error {
			slot, booked := s.full(1)
			s.Join(s.t, slot, 1)
			s.pause(slot)
			s.Cancel(s.t, booked[0])
			return s.hold(slot, 1)
		}},
		{"when the free seat is kept for a larger party, strict", store.SoldOut, func(p *store.Policies) { p.Fit = store.Strict }, func(s *stage) error {
			slot, booked := s.full(2)
			s.Join(s.t, slot, 2)
			s.Cancel(s.t, booked[0])
			return s.hold(slot, 1)
		}},
		{"beyond the visitor's number of holds", store.TooManyHolds, func(p *store.Policies) { p.HoldsPerVisitor = 2 }, func(s *stage) error {
			slot := s.Slot(s.t, 9)
			req := s.HoldRequest(slot, 1)
			for i := range 2 {
				req.Key = fmt.Sprint(i)
				_, err := s.Store.Hold(s.ctx(), req)
				s.must(err)
			}
			req.Key = "one more"
			_, err := s.Store.Hold(s.ctx(), req)
			return err
		}},
	}
	refusals(t, cases)
	for i := range cases {
		step := cases[i].step
		cases[i].name += ", also where something is due"
		cases[i].step = func(s *stage) error {
			s.due = true
			return step(s)
		}
	}
	refusals(t, cases)
}

func TestHoldIsAllowed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		edit func(*store.Policies)
		step func(s *stage) error
	}{
		{"at the instant when booking opens", nil, holdWith(func(s *stage, r *store.HoldRequest) { s.until(s.Start.Add(-60 * 24 * time.Hour)) })},
		{"an instant before booking closes", nil, holdWith(func(s *stage, r *store.HoldRequest) { s.until(s.Start.Add(-time.Microsecond)) })},
		{"with the version that it names", nil, holdWith(func(s *stage, r *store.HoldRequest) { zero := int64(0); r.Slots[0].Version = &zero })},
		{"of a seat that a larger waiting party can't use, first fit", nil, func(s *stage) error {
			slot, booked := s.full(2)
			s.Join(s.t, slot, 2)
			s.Cancel(s.t, booked[0])
			return s.hold(slot, 1)
		}},
		{"when only a party larger than the capacity waits, strict", func(p *store.Policies) { p.Fit = store.Strict }, func(s *stage) error {
			slot, booked := s.full(2)
			s.Join(s.t, slot, 2)
			s.Cancel(s.t, booked[0])
			if _, err := s.capacity(slot, 1); err != nil {
				return err
			}
			s.Cancel(s.t, booked[1])
			return s.hold(slot, 1)
		}},
		{"in broadcast mode, also while somebody waits", func(p *store.Policies) { p.WaitlistMode = store.Broadcast }, func(s *stage) error {
			slot, booked := s.full(1)
			s.Join(s.t, slot, 1)
			s.Cancel(s.t, booked[0])
			return s.hold(slot, 1)
		}},
		{"of a kept seat once order no longer rules and no sweeper has run", nil, func(s *stage) error {
			slot, booked := s.full(1)
			s.Join(s.t, slot, 1)
			s.pause(slot)
			s.Cancel(s.t, booked[0])
			if !s.kept(slot) {
				return fmt.Errorf("the seat is not kept")
			}
			s.until(slot.StartsAt.Add(-3 * time.Hour))
			return s.hold(slot, 1)
		}},
		{"by a visitor whose earlier holds are due", func(p *store.Policies) { p.HoldsPerVisitor = 1 }, func(s *stage) error {
			slot := s.Slot(s.t, 9)
			req := s.HoldRequest(slot, 1)
			_, err := s.Store.Hold(s.ctx(), req)
			s.must(err)
			s.at(6 * time.Minute)
			req.Key = "another"
			_, err = s.Store.Hold(s.ctx(), req)
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if err := c.step(newStage(t, c.edit)); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestADueHoldIsFreeForTheNextWithoutASweeper(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot := s.Slot(t, 1)
	old := s.Hold(t, slot, 1)
	s.at(6*time.Minute - time.Microsecond)
	want(t, s.hold(slot, 1), store.SoldOut)
	s.at(6 * time.Minute)
	if got := s.Read(t, slot); got.SeatsLeft != 1 {
		t.Fatalf("the page shows %d seats", got.SeatsLeft)
	}
	m := s.mark(slot)
	s.Hold(t, slot, 1)
	m.events("expired -1 system", "held +1 customer")
	s.reservationState(old, store.ExpiredR)
	s.taken(slot, 1)
}

func TestADueOfferIsFreeForTheNextWithoutASweeper(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot, e := s.offered()
	s.at(35 * time.Minute)
	if got := s.Read(t, slot); got.SeatsLeft != 1 {
		t.Fatalf("the page shows %d seats", got.SeatsLeft)
	}
	m := s.mark(slot)
	s.Hold(t, slot, 1)
	m.events("lapsed -1 system", "held +1 customer")
	m.mail("lapsed " + e.Email)
	s.entryState(e, store.Lapsed)
}

func TestADueSeatGoesToWhoeverWaitsAndNotToANewcomer(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot := s.Slot(t, 1)
	s.Hold(t, slot, 1)
	e := s.Join(t, slot, 1)
	s.at(6 * time.Minute)
	if got := s.Read(t, slot); got.SeatsLeft != 0 {
		t.Fatalf("the page shows %d seats", got.SeatsLeft)
	}
	m := s.mark(slot)
	want(t, s.hold(slot, 1), store.SoldOut)
	// The sweep stays although the hold was refused.
	m.events("expired -1 system", "offered +1 system")
	m.mail("offer " + e.Email)
	s.entryState(e, store.Offered)
}

func TestARefusedHoldWritesNothingWhereNothingIsDue(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot, _ := s.full(1)
	m := s.mark(slot)
	statements := s.Count(func() { want(t, s.hold(slot, 1), store.SoldOut) })
	m.nothing()
	if statements > 3 {
		t.Errorf("a refusal takes %d statements", statements)
	}
}

func TestHoldRepeated(t *testing.T) {
	t.Parallel()
	again := func(s *stage, req store.HoldRequest) (store.Reservation, error) {
		held, err := s.Store.Hold(s.ctx(), req)
		if err != nil {
			return store.Reservation{}, err
		}
		return held[0], nil
	}
	t.Run("the same key and request get the same hold, also in a full slot", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot := s.Slot(t, 1)
		req := s.HoldRequest(slot, 1)
		first, err := again(s, req)
		s.must(err)
		m := s.mark(slot)
		for range 3 {
			next, err := again(s, req)
			if err != nil || next.ID != first.ID || s.Store.ReservationToken(next) != s.Store.ReservationToken(first) {
				t.Fatal(next, err)
			}
		}
		m.nothing()
	})
	t.Run("the key is looked up before any refusal is named", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot := s.Slot(t, 1)
		req := s.HoldRequest(slot, 1)
		first, err := again(s, req)
		s.must(err)
		s.close(slot)
		next, err := again(s, req)
		if err != nil || next.ID != first.ID {
			t.Fatal(next, err)
		}
	})
	t.Run("a confirmed reservation is the answer, too", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		req := s.HoldRequest(s.Slot(t, 1), 1)
		first, err := again(s, req)
		s.must(err)
		_, err = s.Store.Confirm(s.ctx(), s.ConfirmRequest(first))
		s.must(err)
		next, err := again(s, req)
		if err != nil || next.ID != first.ID || next.State != store.Confirmed {
			t.Fatal(next, err)
		}
	})
	t.Run("the same key with another party is refused", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		req := s.HoldRequest(s.Slot(t, 3), 1)
		_, err := again(s, req)
		s.must(err)
		req.PartySize = 2
		_, err = again(s, req)
		want(t, err, store.KeyReused)
	})
	t.Run("the same key of another owner is refused and tells nothing of the first", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		req := s.HoldRequest(s.Slot(t, 3), 1)
		_, err := again(s, req)
		s.must(err)
		req.Owner = "somebody else"
		held, err := s.Store.Hold(s.ctx(), req)
		want(t, err, store.KeyReused)
		if len(held) != 0 {
			t.Fatalf("%+v", held)
		}
	})
	t.Run("the same key in another slot is another request", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		req := s.HoldRequest(s.Slot(t, 1), 1)
		first, err := again(s, req)
		s.must(err)
		req.Slots[0].ID = s.Slot(t, 1).ID
		next, err := again(s, req)
		if err != nil || next.ID == first.ID {
			t.Fatal(next, err)
		}
	})
	t.Run("when the reservation is due it is swept, and the press starts anew", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot := s.Slot(t, 1)
		req := s.HoldRequest(slot, 1)
		first, err := again(s, req)
		s.must(err)
		s.at(6 * time.Minute)
		m := s.mark(slot)
		next, err := again(s, req)
		if err != nil || next.ID == first.ID {
			t.Fatal(next, err)
		}
		m.events("expired -1 system", "held +1 customer")
	})
	t.Run("when the reservation is over the key is free", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		req := s.HoldRequest(s.Slot(t, 1), 1)
		first, err := again(s, req)
		s.must(err)
		_, err = s.Store.Release(s.ctx(), s.press(first))
		s.must(err)
		next, err := again(s, req)
		if err != nil || next.ID == first.ID {
			t.Fatal(next, err)
		}
	})
	t.Run("without a key every press is a new request", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot := s.Slot(t, 2)
		req := s.HoldRequest(slot, 1)
		req.Key = ""
		for range 2 {
			_, err := again(s, req)
			s.must(err)
		}
		s.taken(slot, 2)
	})
	t.Run("a moved booking takes its key off, so the slot that it left can be held with it", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		a, b := s.Slot(t, 1), s.Slot(t, 2)
		req := s.HoldRequest(a, 1)
		first, err := again(s, req)
		s.must(err)
		_, err = s.Store.Confirm(s.ctx(), s.ConfirmRequest(first))
		s.must(err)
		_, err = s.move(first, b)
		s.must(err)
		next, err := again(s, req)
		if err != nil || next.ID == first.ID {
			t.Fatal(next, err)
		}
		// Nor does it stand in the way of the same key in the slot that it came to.
		req.Slots[0].ID, req.Owner = b.ID, "somebody else"
		if _, err := again(s, req); err != nil {
			t.Fatal(err)
		}
	})
}

func TestHoldsShownDeadlineIsNeverPastTheCloseOfBooking(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(p *store.Policies) { p.BookingCloses = store.Duration(time.Hour) })
	slot := s.Slot(t, 2)
	closes := slot.StartsAt.Add(-time.Hour)
	s.until(closes.Add(-2 * time.Minute))
	r := s.Hold(t, slot, 1)
	if !r.ShownUntil.Equal(closes) || !r.ExpiresAt.Equal(closes.Add(time.Minute)) {
		t.Fatalf("shown %v enforced %v", r.ShownUntil, r.ExpiresAt)
	}
	// Confirm does not look at the window: the enforced deadline decides.
	s.until(closes.Add(30 * time.Second))
	_, err := s.Store.Confirm(s.ctx(), s.ConfirmRequest(r))
	s.must(err)
}

// A switch whose time has passed blocks nobody, also while no sweeper runs: every step that asks for seats finds the
// kept ones open.
func TestASwitchThatNobodyHasHandledBlocksNobody(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		step func(s *stage, slot store.Slot, booked store.Reservation) error
	}{
		{"hold", func(s *stage, slot store.Slot, _ store.Reservation) error { return s.hold(slot, 1) }},
		{"move", func(s *stage, slot store.Slot, _ store.Reservation) error {
			other := s.SlotAt(s.t, 1, slot.StartsAt.Add(240*time.Hour))
			_, err := s.move(s.Book(s.t, other, 1), slot)
			return err
		}},
		{"enlarge", func(s *stage, _ store.Slot, booked store.Reservation) error {
			_, err := s.party(booked, 2, shop.Customer)
			return err
		}},
		{"book by staff", func(s *stage, slot store.Slot, _ store.Reservation) error {
			_, _, err := s.Store.Book(s.ctx(), store.BookRequest{TenantID: slot.TenantID, SlotID: slot.ID, PartySize: 1, Contact: s.Person(), Actor: shop.Staff})
			return err
		}},
		{"hold of several slots", func(s *stage, slot store.Slot, _ store.Reservation) error {
			_, err := s.Store.Hold(s.ctx(), groupRequest(s, 1, slot, s.Slot(s.t, 1)))
			return err
		}},
		{"join, which is told to hold", func(s *stage, slot store.Slot, _ store.Reservation) error {
			_, err := s.Store.Join(s.ctx(), s.JoinRequest(slot, 1))
			if err != store.SeatsFree {
				return fmt.Errorf("got %w", err)
			}
			return nil
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, func(p *store.Policies) { p.Fit = store.Strict })
			slot, booked := s.full(2)
			s.Join(t, slot, 2)
			s.Cancel(t, booked[0])
			s.until(slot.StartsAt.Add(-3*time.Hour - time.Microsecond))
			if got := s.Read(t, slot); got.SeatsLeft != 0 {
				t.Fatalf("%+v", got)
			}
			want(t, s.hold(slot, 1), store.SoldOut)
			s.until(slot.StartsAt.Add(-3 * time.Hour))
			if got := s.Read(t, slot); got.SeatsLeft != 1 {
				t.Fatalf("%+v", got)
			}
			s.must(c.step(s, slot, booked[1]))
		})
	}
}
