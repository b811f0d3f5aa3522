package store_test

import (
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

func TestJoinMakesAnEntryAtTheEnd(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot, _ := s.full(1)
	m := s.mark(slot)
	first, second := s.Join(t, slot, 1), s.Join(t, slot, 1)
	if first.Place != 1 || second.Place != 2 || second.Of != 2 || first.Position >= second.Position || first.State != store.Waiting {
		t.Fatalf("%+v %+v", first, second)
	}
	m.events("joined +0 customer", "joined +0 customer")
	m.mail("joined "+first.Email, "joined "+second.Email)
	found, err := s.Store.EntryByToken(s.ctx(), slot.TenantID, s.Store.EntryToken(first))
	if err != nil || found.ID != first.ID {
		t.Fatal(found, err)
	}
	list, err := s.Store.Waitlist(s.ctx(), slot.TenantID, slot.ID, false)
	if err != nil || len(list) != 2 || list[0].ID != first.ID || list[1].Place != 2 {
		t.Fatal(list, err)
	}
}

func TestJoinIsRefused(t *testing.T) {
	t.Parallel()
	join := func(change func(s *stage, slot store.Slot, req *store.JoinRequest)) func(*stage) error {
		return func(s *stage) error {
			slot, _ := s.full(2)
			req := s.JoinRequest(slot, 1)
			change(s, slot, &req)
			_, err := s.Store.Join(s.ctx(), req)
			return err
		}
	}
	none := 0
	refusals(t, []refusal{
		{"in a closed slot", store.Closed, nil, join(func(s *stage, slot store.Slot, _ *store.JoinRequest) { s.close(slot) })},
		{"before booking opens", store.TooEarly, nil, join(func(s *stage, slot store.Slot, _ *store.JoinRequest) {
			s.until(slot.StartsAt.Add(-60*24*time.Hour - time.Microsecond))
		})},
		{"after booking has closed", store.TooLate, nil, join(func(s *stage, slot store.Slot, _ *store.JoinRequest) { s.until(slot.StartsAt) })},
		{"where there is no waitlist", store.WaitlistOff, func(p *store.Policies) { p.WaitlistMode = store.WaitlistNone }, join(func(*stage, store.Slot, *store.JoinRequest) {})},
		{"of a party larger than the capacity", store.PartyTooLarge, nil, join(func(_ *stage, _ store.Slot, req *store.JoinRequest) { req.PartySize = 3 })},
		{"of a party larger than a reservation may be", store.PartyTooLarge, func(p *store.Policies) { p.PartyMax = 1 }, join(func(_ *stage, _ store.Slot, req *store.JoinRequest) { req.PartySize = 2 })},
		{"of nobody", store.PartyTooLarge, nil, join(func(_ *stage, _ store.Slot, req *store.JoinRequest) { req.PartySize = 0 })},
		{"when the list is at its length", store.WaitlistFull, func(p *store.Policies) { p.WaitlistMax = &none }, join(func(*stage, store.Slot, *store.JoinRequest) {})},
		{"by somebody who waits already, however the address is written", store.AlreadyWaiting, nil, join(func(s *stage, slot store.Slot, req *store.JoinRequest) {
			e := s.Join(s.t, slot, 1)
			req.Contact.Email = "G" + e.Email[1:]
		})},
		{"by somebody who is offered seats", store.AlreadyWaiting, nil, func(s *stage) error {
			slot, e := s.offered()
			req := s.JoinRequest(slot, 1)
			req.Contact.Email = e.Email
			_, err := s.Store.Join(s.ctx(), req)
			return err
		}},
		{"by somebody who has booked here", store.AlreadyBooked, nil, func(s *stage) error {
			slot, booked := s.full(1)
			req := s.JoinRequest(slot, 1)
			req.Contact.Email = booked[0].Email
			_, err := s.Store.Join(s.ctx(), req)
			return err
		}},
		{"when a hold would succeed", store.SeatsFree, nil, func(s *stage) error {
			_, err := s.Store.Join(s.ctx(), s.JoinRequest(s.Slot(s.t, 1), 1))
			return err
		}},
		{"when a hold would succeed because another is due", store.SeatsFree, nil, func(s *stage) error {
			slot := s.Slot(s.t, 1)
			s.Hold(s.t, slot, 1)
			s.at(6 * time.Minute)
			_, err := s.Store.Join(s.ctx(), s.JoinRequest(slot, 1))
			return err
		}},
		{"with a stale form", store.Conflict, nil, join(func(s *stage, slot store.Slot, req *store.JoinRequest) {
			stale := int64(0)
			req.Version = &stale
		})},
		{"with a used key for somebody else", store.KeyReused, nil, join(func(s *stage, slot store.Slot, req *store.JoinRequest) {
			other := s.JoinRequest(slot, 1)
			other.Key = req.Key
			_, err := s.Store.Join(s.ctx(), other)
			s.must(err)
		})},
		{"from another tenant", store.NotFound, nil, join(func(s *stage, _ store.Slot, req *store.JoinRequest) { req.TenantID = s.AddTenant(s.t, "other", nil).ID })},
	})
}

func TestJoinIsAllowed(t *testing.T) {
	t.Parallel()
	t.Run("while free seats are too few for the party", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot := s.Slot(t, 2)
		s.Book(t, slot, 1)
		s.Join(t, slot, 2)
	})
	t.Run("while the free seats are kept", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, func(p *store.Policies) { p.Fit = store.Strict })
		slot, booked := s.full(2)
		s.Join(t, slot, 2)
		s.Cancel(t, booked[0])
		e := s.Join(t, slot, 1)
		s.entryState(e, store.Waiting)
	})
	t.Run("by staff for a caller without an address, who gets no message", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot, _ := s.full(1)
		m := s.mark(slot)
		for range 2 {
			req := s.JoinRequest(slot, 1)
			req.Contact.Email, req.Actor, req.Source = "", shop.Staff, store.SourceStaff
			_, err := s.Store.Join(s.ctx(), req)
			s.must(err)
		}
		m.events("joined +0 staff", "joined +0 staff")
		m.mail()
	})
	t.Run("after an earlier entry is over, at the end of the queue", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot, _ := s.full(1)
		first, second := s.Join(t, slot, 1), s.Join(t, slot, 1)
		_, err := s.Store.Withdraw(s.ctx(), s.entryPress(first))
		s.must(err)
		req := s.JoinRequest(slot, 1)
		req.Contact.Email = first.Email
		again, err := s.Store.Join(s.ctx(), req)
		if err != nil || again.ID == first.ID || again.Place != 2 || s.Entry(t, second).Place != 1 {
			t.Fatal(again, err)
		}
	})
}

func TestJoinRepeatedGetsTheSameEntry(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot, _ := s.full(1)
	req := s.JoinRequest(slot, 1)
	first, err := s.Store.Join(s.ctx(), req)
	s.must(err)
	m := s.mark(slot)
	again, err := s.Store.Join(s.ctx(), req)
	if err != nil || again.ID != first.ID || again.Place != 1 {
		t.Fatal(again, err)
	}
	m.nothing()
}

func TestJoinClosesTheEntryOfSomebodyWhoHasBookedAndSaysSo(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot := s.Slot(t, 1)
	r := s.Hold(t, slot, 1)
	e := s.Join(t, slot, 1)
	confirm := s.ConfirmRequest(r)
	confirm.Contact.Email = e.Email
	_, err := s.Store.Confirm(s.ctx(), confirm)
	s.must(err)
	req := s.JoinRequest(slot, 1)
	req.Contact.Email = e.Email
	_, err = s.Store.Join(s.ctx(), req)
	want(t, err, store.AlreadyBooked)
	s.entryState(e, store.EntryClosed)
}

func TestWithdraw(t *testing.T) {
	t.Parallel()
	t.Run("of a waiting entry takes it off the list", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot, _ := s.full(1)
		e, next := s.Join(t, slot, 1), s.Join(t, slot, 1)
		m := s.mark(slot)
		got, err := s.Store.Withdraw(s.ctx(), s.entryPress(e))
		if err != nil || got.State != store.Withdrawn {
			t.Fatal(got, err)
		}
		m.events("withdrawn +0 customer")
		m.mail()
		if got := s.Entry(t, next); got.Place != 1 {
			t.Fatalf("%+v", got)
		}
		again, err := s.Store.Withdraw(s.ctx(), s.entryPress(e))
		if err != nil || again.State != store.Withdrawn {
			t.Fatal(again, err)
		}
		m.events("withdrawn +0 customer")
	})
	t.Run("of an offered entry declines it", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot, e := s.offered()
		m := s.mark(slot)
		got, err := s.Store.Withdraw(s.ctx(), s.entryPress(e))
		if err != nil || got.State != store.Declined {
			t.Fatal(got, err)
		}
		m.events("declined -1 customer")
		s.taken(slot, 0)
	})
	t.Run("of the strict head passes on to those behind it", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, func(p *store.Policies) { p.Fit = store.Strict })
		slot, booked := s.full(2)
		head, next := s.Join(t, slot, 2), s.Join(t, slot, 1)
		s.Cancel(t, booked[0])
		s.entryState(next, store.Waiting)
		m := s.mark(slot)
		_, err := s.Store.Withdraw(s.ctx(), s.entryPress(head))
		s.must(err)
		m.events("withdrawn +0 customer", "offered +1 system")
		m.mail("offer " + next.Email)
		if s.kept(slot) {
			t.Fatal("nobody is left to keep seats for")
		}
	})
	t.Run("while a seat is due passes it to the next and not to the one who leaves", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot := s.Slot(t, 1)
		s.Hold(t, slot, 1)
		e, next := s.Join(t, slot, 1), s.Join(t, slot, 1)
		s.at(6 * time.Minute)
		m := s.mark(slot)
		_, err := s.Store.Withdraw(s.ctx(), s.entryPress(e))
		s.must(err)
		m.events("expired -1 system", "withdrawn +0 customer", "offered +1 system")
		m.mail("offer " + next.Email)
		s.entryState(e, store.Withdrawn)
		s.taken(slot, 1)
	})
	t.Run("from another tenant is refused", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot, _ := s.full(1)
		p := s.entryPress(s.Join(t, slot, 1))
		p.TenantID = s.AddTenant(t, "other", nil).ID
		_, err := s.Store.Withdraw(s.ctx(), p)
		want(t, err, store.NotFound)
	})
}

func (s *stage) entryParty(e store.Entry, n int) (store.Entry, error) {
	return s.Store.ChangeEntryParty(s.ctx(), store.EntryPartyRequest{TenantID: e.TenantID, ID: e.ID, PartySize: n, Actor: shop.Customer})
}

func TestASmallerWaitingPartyKeepsItsPlaceAndMayFit(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot, booked := s.full(2)
	e := s.Join(t, slot, 2)
	s.Cancel(t, booked[0])
	s.entryState(e, store.Waiting)
	m := s.mark(slot)
	got, err := s.entryParty(e, 1)
	if err != nil || got.PartySize != 1 || got.State != store.Offered || got.Position != e.Position {
		t.Fatal(got, err)
	}
	m.events("entry_changed +0 customer", "offered +1 system")
	m.mail("offer " + e.Email)
	s.taken(slot, 2)
}

func TestASmallerWaitingPartyIsToldWhenSeatsWouldNowDo(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(p *store.Policies) { p.WaitlistMode = store.Broadcast })
	slot, booked := s.full(2)
	e, other := s.Join(t, slot, 2), s.Join(t, slot, 2)
	s.Cancel(t, booked[0])
	m := s.mark(slot)
	_, err := s.entryParty(e, 1)
	s.must(err)
	m.events("entry_changed +0 customer", "vacancy_told +0 system")
	m.mail("vacancy " + e.Email)
	s.entryState(other, store.Waiting)
}

func TestEntryPartyChangeIsRefused(t *testing.T) {
	t.Parallel()
	change := func(n int, prepare func(*stage, store.Slot, store.Entry)) func(*stage) error {
		return func(s *stage) error {
			slot, _ := s.full(3)
			e := s.Join(s.t, slot, 2)
			prepare(s, slot, e)
			_, err := s.entryParty(e, n)
			return err
		}
	}
	refusals(t, []refusal{
		{"to a larger party", store.PartyTooLarge, nil, change(3, func(*stage, store.Slot, store.Entry) {})},
		{"to nobody", store.PartyTooLarge, nil, change(0, func(*stage, store.Slot, store.Entry) {})},
		{"when it no longer waits", store.Over, nil, change(1, func(s *stage, _ store.Slot, e store.Entry) {
			_, err := s.Store.Withdraw(s.ctx(), s.entryPress(e))
			s.must(err)
		})},
		{"when it is offered seats", store.Over, nil, func(s *stage) error {
			_, e := s.offered()
			_, err := s.entryParty(e, 1)
			return err
		}},
	})
	t.Run("the same size changes nothing", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot, _ := s.full(3)
		e := s.Join(t, slot, 2)
		m := s.mark(slot)
		got, err := s.entryParty(e, 2)
		if err != nil || got.PartySize != 2 {
			t.Fatal(got, err)
		}
		m.nothing()
	})
}

func TestRejoin(t *testing.T) {
	t.Parallel()
	t.Run("of a lapsed entry makes a new one at the end, pressed twice the same", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot, e := s.offered()
		other := s.Join(t, slot, 1)
		s.at(35 * time.Minute)
		s.sweep()
		s.entryState(other, store.Offered)
		m := s.mark(slot)
		again, err := s.Store.Rejoin(s.ctx(), s.entryPress(e))
		if err != nil || again.ID == e.ID || again.Email != e.Email || again.PartySize != e.PartySize || again.State != store.Waiting {
			t.Fatal(again, err)
		}
		twice, err := s.Store.Rejoin(s.ctx(), s.entryPress(e))
		if err != nil || twice.ID != again.ID {
			t.Fatal(twice, err)
		}
		m.events("joined +0 customer")
		m.mail("joined " + e.Email)
	})
	t.Run("of an entry whose offer is due, without a sweeper, ends the old one first", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot, e := s.offered()
		other := s.Join(t, slot, 1)
		s.at(35 * time.Minute)
		m := s.mark(slot)
		_, err := s.Store.Rejoin(s.ctx(), s.entryPress(e))
		s.must(err)
		m.events("lapsed -1 system", "offered +1 system", "joined +0 customer")
		m.mail("lapsed "+e.Email, "offer "+other.Email, "joined "+e.Email)
	})
	t.Run("of an entry that lives is refused", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		_, e := s.offered()
		_, err := s.Store.Rejoin(s.ctx(), s.entryPress(e))
		want(t, err, store.AlreadyWaiting)
	})
	t.Run("when seats are free is refused, since they can be held", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		_, e := s.offered()
		_, err := s.Store.Decline(s.ctx(), s.entryPress(e))
		s.must(err)
		_, err = s.Store.Rejoin(s.ctx(), s.entryPress(e))
		want(t, err, store.SeatsFree)
	})
}

// Every way in which a seat comes free offers it in the same transaction, in order.
func TestEveryDoorPassesOn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		free func(s *stage, slot store.Slot, booked []store.Reservation) error
	}{
		{"the customer cancels", func(s *stage, _ store.Slot, b []store.Reservation) error {
			_, err := s.cancelBy(b[0], shop.Customer)
			return err
		}},
		{"staff cancel", func(s *stage, _ store.Slot, b []store.Reservation) error {
			_, err := s.cancelBy(b[0], shop.Staff)
			return err
		}},
		{"the booking moves away", func(s *stage, _ store.Slot, b []store.Reservation) error {
			_, err := s.move(b[0], s.Slot(s.t, 1))
			return err
		}},
		{"the capacity rises", func(s *stage, slot store.Slot, _ []store.Reservation) error {
			_, err := s.capacity(slot, 3)
			return err
		}},
		{"staff pause, a seat comes free, and they resume", func(s *stage, slot store.Slot, b []store.Reservation) error {
			s.pause(slot)
			s.Cancel(s.t, b[0])
			_, err := s.Store.ResumeWaitlist(s.ctx(), s.slotRequest(slot))
			return err
		}},
		{"staff close, a seat comes free, and they reopen", func(s *stage, slot store.Slot, b []store.Reservation) error {
			s.close(slot)
			s.Cancel(s.t, b[0])
			_, err := s.Store.ReopenSlot(s.ctx(), s.slotRequest(slot))
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, nil)
			slot, booked := s.full(2)
			first, second := s.Join(t, slot, 1), s.Join(t, slot, 1)
			m := s.mark(slot)
			s.must(c.free(s, slot, booked))
			s.entryState(first, store.Offered)
			s.entryState(second, store.Waiting)
			offers := 0
			for _, line := range m.newEvents() {
				if line == "offered +1 system" {
					offers++
				}
			}
			if offers != 1 {
				t.Fatalf("%q", m.newEvents())
			}
		})
	}
}

func TestPassOnOrder(t *testing.T) {
	t.Parallel()
	// Parties wait in this order; free seats come in one step; who is offered?
	for _, c := range []struct {
		name     string
		fit      store.Fit
		capacity int
		parties  []int
		free     int
		offered  []bool
	}{
		{"first fit offers in order until nobody fits", store.FirstFit, 3, []int{1, 1, 1, 1}, 3, []bool{true, true, true, false}},
		{"first fit passes a party that is too large and goes on behind it", store.FirstFit, 3, []int{3, 1, 1}, 2, []bool{false, true, true}},
		{"first fit keeps the place of whom it passed", store.FirstFit, 4, []int{2, 1, 3}, 3, []bool{true, true, false}},
		{"strict stops at a head that is too large", store.Strict, 3, []int{3, 1, 1}, 2, []bool{false, false, false}},
		{"strict offers to the head when it fits, and stops at the next", store.Strict, 4, []int{2, 3, 1}, 3, []bool{true, false, false}},
		{"strict offers to all that fit in order", store.Strict, 3, []int{1, 2}, 3, []bool{true, true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, func(p *store.Policies) { p.Fit = c.fit })
			slot, booked := s.full(c.capacity)
			var entries []store.Entry
			for _, party := range c.parties {
				entries = append(entries, s.Join(t, slot, party))
			}
			req := store.CancelRequest{TenantID: slot.TenantID, SlotID: slot.ID, Actor: shop.Staff}
			for _, r := range booked[:c.free] {
				req.IDs = append(req.IDs, r.ID)
			}
			_, err := s.Store.Cancel(s.ctx(), req)
			s.must(err)
			for i, e := range entries {
				if got := s.Entry(t, e).State == store.Offered; got != c.offered[i] {
					t.Errorf("party %d (of %d): offered %v", i, c.parties[i], got)
				}
			}
		})
	}
	t.Run("strict passes over a party larger than the capacity", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, func(p *store.Policies) { p.Fit = store.Strict })
		slot, booked := s.full(3)
		large, small := s.Join(t, slot, 3), s.Join(t, slot, 1)
		s.Cancel(t, booked[0])
		_, err := s.capacity(slot, 2)
		s.must(err)
		s.Cancel(t, booked[1])
		s.entryState(large, store.Waiting)
		s.entryState(small, store.Offered)
	})
	t.Run("before the opening of booking it does offer", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot, booked := s.full(1)
		e := s.Join(t, slot, 1)
		s.Exec(t, "UPDATE slots SET booking_opens = '1 hour' WHERE id = $1", slot.ID)
		s.Cancel(t, booked[0])
		s.entryState(e, store.Offered)
	})
	t.Run("after the close of booking it offers and tells nothing", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, func(p *store.Policies) { p.BookingCloses = store.Duration(time.Hour) })
		slot, booked := s.full(1)
		e := s.Join(t, slot, 1)
		s.until(slot.StartsAt.Add(-time.Hour))
		m := s.mark(slot)
		_, err := s.cancelBy(booked[0], shop.Staff)
		s.must(err)
		m.events("cancelled -1 staff")
		s.entryState(e, store.Waiting)
	})
	t.Run("it closes the entry of somebody who has booked here instead of offering to it", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot := s.Slot(t, 2)
		held := s.Hold(t, slot, 1)
		other := s.Book(t, slot, 1)
		e, next := s.Join(t, slot, 1), s.Join(t, slot, 1)
		req := s.ConfirmRequest(held)
		req.Contact.Email = e.Email
		_, err := s.Store.Confirm(s.ctx(), req)
		s.must(err)
		// As if the confirm had not seen the entry: only pass on can.
		s.Exec(t, "UPDATE reservations SET entry_to_close = false")
		m := s.mark(slot)
		s.Cancel(t, other)
		m.events("entry_closed +0 system", "cancelled -1 customer", "offered +1 system")
		s.entryState(e, store.EntryClosed)
		s.entryState(next, store.Offered)
	})
}

func TestVacancies(t *testing.T) {
	t.Parallel()
	broadcast := func(p *store.Policies) { p.WaitlistMode = store.Broadcast }
	t.Run("in broadcast mode everybody for whom the seats would do is told, and none is kept", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, broadcast)
		slot, booked := s.full(2)
		one, two, other := s.Join(t, slot, 1), s.Join(t, slot, 2), s.Join(t, slot, 1)
		m := s.mark(slot)
		change := s.Cancel(t, booked[0])
		m.events("cancelled -1 customer", "vacancy_told +0 system", "vacancy_told +0 system")
		m.mail("cancelled "+booked[0].Email, "vacancy "+one.Email, "vacancy "+other.Email)
		if len(change.Told) != 2 || change.Mode != "first_come" || change.FreeSeats != 1 || s.kept(slot) {
			t.Fatalf("%+v", change)
		}
		// One more seat: now they do for the party of two; the others' last message is unsent.
		m = s.mark(slot)
		s.Cancel(t, booked[1])
		m.events("cancelled -1 customer", "vacancy_told +0 system")
		m.mail("cancelled "+booked[1].Email, "vacancy "+two.Email)
	})
	t.Run("who was told and has lost is told again when seats come free again", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, broadcast)
		slot, booked := s.full(1)
		e := s.Join(t, slot, 1)
		s.Cancel(t, booked[0])
		s.Exec(t, "UPDATE outbox SET state = 'sent', sent_at = now() WHERE kind = 'vacancy'")
		r := s.Book(t, slot, 1)
		m := s.mark(slot)
		s.Cancel(t, r)
		m.mail("cancelled "+r.Email, "vacancy "+e.Email)
	})
	t.Run("more free seats are no news to whom the earlier ones would have done", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, broadcast)
		slot, booked := s.full(2)
		s.Join(t, slot, 1)
		s.Cancel(t, booked[0])
		s.Exec(t, "UPDATE outbox SET state = 'sent', sent_at = now() WHERE kind = 'vacancy'")
		m := s.mark(slot)
		s.Cancel(t, booked[1])
		m.mail("cancelled " + booked[1].Email)
	})
	t.Run("at the switch everybody who fits the kept seats is told", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, func(p *store.Policies) { p.Fit = store.Strict })
		slot, booked := s.full(2)
		head, small := s.Join(t, slot, 2), s.Join(t, slot, 1)
		s.Cancel(t, booked[0])
		if !s.kept(slot) {
			t.Fatal("the free seat is not kept for the head")
		}
		s.until(slot.StartsAt.Add(-3 * time.Hour))
		m := s.mark(slot)
		if report := s.sweep(); report.Slots != 1 || report.Told != 1 {
			t.Fatalf("%+v", report)
		}
		m.events("vacancy_told +0 system")
		if s.kept(slot) {
			t.Fatal("the seat is still kept")
		}
		s.entryState(head, store.Waiting)
		s.entryState(small, store.Waiting)
		if report := s.sweep(); report.Slots != 0 {
			t.Fatalf("%+v", report)
		}
	})
	t.Run("a resumption after the switch tells", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot, booked := s.full(1)
		e := s.Join(t, slot, 1)
		s.pause(slot)
		s.Cancel(t, booked[0])
		s.until(slot.StartsAt.Add(-time.Hour))
		s.sweep()
		m := s.mark(slot)
		_, err := s.Store.ResumeWaitlist(s.ctx(), s.slotRequest(slot))
		s.must(err)
		m.events("resumed +0 staff", "vacancy_told +0 system")
		m.mail("vacancy " + e.Email)
	})
	t.Run("a reopening tells", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, broadcast)
		slot, booked := s.full(1)
		e := s.Join(t, slot, 1)
		s.close(slot)
		m := s.mark(slot)
		s.Cancel(t, booked[0])
		m.events("cancelled -1 customer")
		_, err := s.Store.ReopenSlot(s.ctx(), s.slotRequest(slot))
		s.must(err)
		m.mail("cancelled "+booked[0].Email, "vacancy "+e.Email)
	})
	t.Run("a window that opens again tells", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, func(p *store.Policies) { p.WaitlistMode, p.BookingCloses = store.Broadcast, store.Duration(time.Hour) })
		slot, booked := s.full(1)
		e := s.Join(t, slot, 1)
		s.until(slot.StartsAt.Add(-30 * time.Minute))
		_, err := s.cancelBy(booked[0], shop.Staff)
		s.must(err)
		m := s.mark(slot)
		_, err = s.Store.ChangeTerms(s.ctx(), store.TermsRequest{
			TenantID: slot.TenantID, SlotID: slot.ID, StartsAt: slot.StartsAt.Add(5 * time.Hour), EndsAt: slot.EndsAt.Add(5 * time.Hour), Actor: shop.Staff,
		})
		s.must(err)
		m.events("terms_changed +0 staff", "vacancy_told +0 system")
		m.mail("vacancy " + e.Email)
	})
}

func TestTheLengthOfTheListCountsThoseWhoWait(t *testing.T) {
	t.Parallel()
	one := 1
	s := newStage(t, func(p *store.Policies) { p.WaitlistMax = &one })
	slot, booked := s.full(2)
	first := s.Join(t, slot, 1)
	_, err := s.Store.Join(s.ctx(), s.JoinRequest(slot, 1))
	want(t, err, store.WaitlistFull)
	s.Cancel(t, booked[0])
	s.entryState(first, store.Offered)
	s.Join(t, slot, 1) // whoever is offered seats no longer waits
	_, err = s.Store.Join(s.ctx(), s.JoinRequest(slot, 1))
	want(t, err, store.WaitlistFull)
}
