package store_test

import (
	"fmt"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

func TestCapacityRisesAndPassesOn(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot, _ := s.full(2)
	var entries []store.Entry
	for range 4 {
		entries = append(entries, s.Join(t, slot, 1))
	}
	m := s.mark(slot)
	change, err := s.capacity(slot, 4)
	if err != nil || len(change.Offered) != 2 {
		t.Fatalf("%+v %v", change, err)
	}
	m.events("capacity_changed +0 staff", "offered +1 system", "offered +1 system")
	m.mail("offer "+entries[0].Email, "offer "+entries[1].Email)
	if got := s.taken(slot, 4); got.Capacity != 4 {
		t.Fatalf("%+v", got)
	}
	_, err = s.capacity(slot, 4)
	s.must(err)
	m.events("capacity_changed +0 staff", "offered +1 system", "offered +1 system")
}

func TestCapacityChangeIsRefused(t *testing.T) {
	t.Parallel()
	stale := int64(0)
	refusals(t, []refusal{
		{"below what is taken by bookings", store.BelowTaken, nil, func(s *stage) error {
			slot, _ := s.full(2)
			_, err := s.capacity(slot, 1)
			return err
		}},
		{"below what is taken by a live hold", store.BelowTaken, nil, func(s *stage) error {
			slot := s.Slot(s.t, 2)
			s.Hold(s.t, slot, 2)
			_, err := s.capacity(slot, 1)
			return err
		}},
		{"below nothing", store.BelowTaken, nil, func(s *stage) error {
			_, err := s.capacity(s.Slot(s.t, 2), -1)
			return err
		}},
		{"on a form that showed an older state", store.Conflict, nil, func(s *stage) error {
			slot, _ := s.full(2)
			_, err := s.Store.ChangeCapacity(s.ctx(), store.CapacityRequest{TenantID: slot.TenantID, SlotID: slot.ID, Capacity: 5, Actor: shop.Staff, Version: &stale})
			return err
		}},
		{"from another tenant", store.NotFound, nil, func(s *stage) error {
			slot := s.Slot(s.t, 2)
			slot.TenantID = s.AddTenant(s.t, "other", nil).ID
			_, err := s.capacity(slot, 5)
			return err
		}},
	})
}

func TestCapacityIsJudgedAfterWhatIsDueIsFree(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot := s.Slot(t, 2)
	s.Hold(t, slot, 2)
	s.at(6 * time.Minute)
	m := s.mark(slot)
	_, err := s.capacity(slot, 1)
	s.must(err)
	m.events("expired -2 system", "capacity_changed +0 staff")
	_, err = s.capacity(slot, 0)
	s.must(err)
}

func (s *stage) bookExtra(slot store.Slot, party int) (store.Reservation, error) {
	r, _, err := s.Store.Book(s.ctx(), store.BookRequest{TenantID: slot.TenantID, SlotID: slot.ID, PartySize: party, Contact: s.Person(), ExtraReason: "a regular", Actor: shop.Staff})
	return r, err
}

func TestStaffBook(t *testing.T) {
	t.Parallel()
	book := func(s *stage, slot store.Slot, change func(*store.BookRequest)) (store.Reservation, error) {
		req := store.BookRequest{TenantID: slot.TenantID, SlotID: slot.ID, PartySize: 1, Contact: s.Person(), Key: "form", Actor: shop.Staff}
		if change != nil {
			change(&req)
		}
		r, _, err := s.Store.Book(s.ctx(), req)
		return r, err
	}
	t.Run("is a booking in one press", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot := s.Slot(t, 1)
		m := s.mark(slot)
		r, err := book(s, slot, nil)
		if err != nil || r.State != store.Confirmed || r.Source != store.SourceStaff {
			t.Fatal(r, err)
		}
		m.events("held +1 staff", "confirmed +0 staff")
		m.mail("confirmed " + r.Email)
		s.taken(slot, 1)
	})
	t.Run("pressed twice is one booking", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot := s.Slot(t, 3)
		first, err := book(s, slot, nil)
		s.must(err)
		again, err := book(s, slot, func(r *store.BookRequest) { r.Contact.Email = first.Email })
		if err != nil || again.ID != first.ID {
			t.Fatal(again, err)
		}
		_, err = book(s, slot, func(r *store.BookRequest) { r.PartySize = 2 })
		want(t, err, store.KeyReused)
		s.taken(slot, 1)
	})
	t.Run("without a message is recorded as a choice", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot := s.Slot(t, 1)
		m := s.mark(slot)
		_, err := book(s, slot, func(r *store.BookRequest) { r.Silent = true })
		s.must(err)
		m.mail()
	})
	t.Run("is not bound to the largest party nor to the window until the end", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot := s.Slot(t, 9)
		s.until(slot.EndsAt.Add(-time.Microsecond))
		_, err := book(s, slot, func(r *store.BookRequest) { r.PartySize = 9 })
		s.must(err)
	})
	t.Run("takes a due seat", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot := s.Slot(t, 1)
		s.Hold(t, slot, 1)
		s.at(6 * time.Minute)
		_, err := book(s, slot, nil)
		s.must(err)
	})
	refusals(t, []refusal{
		{"is refused in a full slot", store.SoldOut, nil, func(s *stage) error {
			slot, _ := s.full(1)
			_, err := book(s, slot, nil)
			return err
		}},
		{"is refused where the free seat is kept", store.SoldOut, nil, func(s *stage) error {
			slot, booked := s.full(1)
			s.Join(s.t, slot, 1)
			s.pause(slot)
			s.Cancel(s.t, booked[0])
			_, err := book(s, slot, nil)
			return err
		}},
		{"is refused in a closed slot", store.Closed, nil, func(s *stage) error {
			slot := s.Slot(s.t, 1)
			s.close(slot)
			_, err := book(s, slot, nil)
			return err
		}},
		{"is refused after the end", store.TooLate, nil, func(s *stage) error {
			slot := s.Slot(s.t, 1)
			s.until(slot.EndsAt)
			_, err := book(s, slot, nil)
			return err
		}},
		{"is refused for somebody who has booked here", store.AlreadyBooked, nil, func(s *stage) error {
			slot := s.Slot(s.t, 3)
			r := s.Book(s.t, slot, 1)
			_, err := book(s, slot, func(req *store.BookRequest) { req.Contact.Email = r.Email })
			return err
		}},
		{"is refused on a form that showed an older state", store.Conflict, nil, func(s *stage) error {
			slot := s.Slot(s.t, 3)
			s.Book(s.t, slot, 1)
			_, err := book(s, slot, func(req *store.BookRequest) { zero := int64(0); req.Version = &zero })
			return err
		}},
	})
}

func TestExtraSeats(t *testing.T) {
	t.Parallel()
	capacity := func(s *stage, slot store.Slot, capacity, taken int) {
		s.t.Helper()
		if got := s.taken(slot, taken); got.Capacity != capacity {
			s.t.Fatalf("the capacity is %d, not %d", got.Capacity, capacity)
		}
	}
	t.Run("capacity and taken rise together by what is missing", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot := s.Slot(t, 3)
		s.Book(t, slot, 2)
		m := s.mark(slot)
		r, err := s.bookExtra(slot, 3)
		if err != nil || r.ExtraSeats != 2 {
			t.Fatal(r, err)
		}
		m.events("held +3 staff", "confirmed +0 staff")
		capacity(s, slot, 5, 5)
	})
	t.Run("seats that are kept for the waitlist are not used up", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot, booked := s.full(1)
		s.Join(t, slot, 1)
		s.pause(slot)
		s.Cancel(t, booked[0])
		r, err := s.bookExtra(slot, 1)
		if err != nil || r.ExtraSeats != 1 {
			t.Fatal(r, err)
		}
		capacity(s, slot, 2, 1)
	})
	t.Run("a reason adds none where seats are free", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot := s.Slot(t, 3)
		r, err := s.bookExtra(slot, 3)
		if err != nil || r.ExtraSeats != 0 {
			t.Fatal(r, err)
		}
		capacity(s, slot, 3, 3)
	})
	t.Run("they go first when the booking is cancelled, and are offered to nobody", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot, _ := s.full(1)
		e := s.Join(t, slot, 1)
		r, err := s.bookExtra(slot, 2)
		s.must(err)
		m := s.mark(slot)
		s.Cancel(t, r)
		m.events("cancelled -2 customer")
		capacity(s, slot, 1, 1)
		s.entryState(e, store.Waiting)
	})
	t.Run("of a party that used free seats too, only those go on", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot := s.Slot(t, 2)
		s.Book(t, slot, 1)
		r, err := s.bookExtra(slot, 3) // 1 free, 2 extra
		s.must(err)
		e := s.Join(t, slot, 1)
		s.Cancel(t, r)
		capacity(s, slot, 2, 2)
		s.entryState(e, store.Offered)
	})
	t.Run("they go first when the party becomes smaller", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot, _ := s.full(1)
		e := s.Join(t, slot, 1)
		r, err := s.bookExtra(slot, 3)
		s.must(err)
		got, err := s.party(r, 1, shop.Customer)
		if err != nil || got.ExtraSeats != 1 {
			t.Fatal(got, err)
		}
		capacity(s, slot, 2, 2)
		s.entryState(e, store.Waiting)
	})
	t.Run("a party never has more extra seats than people", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot := s.Slot(t, 2)
		s.Book(t, slot, 1)
		r, err := s.bookExtra(slot, 3) // 2 of them extra
		s.must(err)
		got, err := s.party(r, 1, shop.Customer)
		if err != nil || got.ExtraSeats != 0 {
			t.Fatal(got, err)
		}
		capacity(s, slot, 2, 2)
	})
	t.Run("they stay behind when the booking moves away", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot, _ := s.full(1)
		r, err := s.bookExtra(slot, 1)
		s.must(err)
		target := s.Slot(t, 1)
		moved, err := s.move(r, target)
		if err != nil || moved.ExtraSeats != 0 {
			t.Fatal(moved, err)
		}
		capacity(s, slot, 1, 1)
		capacity(s, target, 1, 1)
	})
	t.Run("a change of capacity ends all extras", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot, _ := s.full(1)
		r, err := s.bookExtra(slot, 1)
		s.must(err)
		_, err = s.capacity(slot, 3)
		s.must(err)
		if got := s.Reservation(t, r); got.ExtraSeats != 0 {
			t.Fatalf("%+v", got)
		}
		s.Cancel(t, r)
		capacity(s, slot, 3, 1)
	})
	t.Run("cancelling the slot ends them", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot, _ := s.full(1)
		_, err := s.bookExtra(slot, 1)
		s.must(err)
		_, err = s.Store.CancelSlot(s.ctx(), s.slotRequest(slot))
		s.must(err)
		capacity(s, slot, 1, 0)
	})
}

func TestSwitches(t *testing.T) {
	t.Parallel()
	type step func(*store.Store, *stage, store.SlotRequest) (store.Change, error)
	closeIt := func(st *store.Store, s *stage, r store.SlotRequest) (store.Change, error) {
		return st.CloseSlot(s.ctx(), r)
	}
	reopen := func(st *store.Store, s *stage, r store.SlotRequest) (store.Change, error) {
		return st.ReopenSlot(s.ctx(), r)
	}
	pause := func(st *store.Store, s *stage, r store.SlotRequest) (store.Change, error) {
		return st.PauseWaitlist(s.ctx(), r)
	}
	resume := func(st *store.Store, s *stage, r store.SlotRequest) (store.Change, error) {
		return st.ResumeWaitlist(s.ctx(), r)
	}
	for _, c := range []struct {
		name  string
		steps []step
		event string
	}{
		{"close", []step{closeIt}, "closed +0 staff"},
		{"reopen", []step{closeIt, reopen}, "reopened +0 staff"},
		{"pause", []step{pause}, "paused +0 staff"},
		{"resume", []step{pause, resume}, "resumed +0 staff"},
	} {
		t.Run(c.name+" is one event, also when pressed twice", func(t *testing.T) {
			t.Parallel()
			s := newStage(t, nil)
			slot := s.Slot(t, 1)
			last := len(c.steps) - 1
			for _, prepare := range c.steps[:last] {
				_, err := prepare(s.Store, s, s.slotRequest(slot))
				s.must(err)
			}
			m := s.mark(slot)
			for range 2 {
				_, err := c.steps[last](s.Store, s, s.slotRequest(slot))
				s.must(err)
			}
			m.events(c.event)
			m.mail()
		})
		t.Run(c.name+" is refused for a cancelled slot", func(t *testing.T) {
			t.Parallel()
			s := newStage(t, nil)
			slot := s.Slot(t, 1)
			_, err := s.Store.CancelSlot(s.ctx(), s.slotRequest(slot))
			s.must(err)
			_, err = c.steps[len(c.steps)-1](s.Store, s, s.slotRequest(slot))
			want(t, err, store.Closed)
		})
		t.Run(c.name+" is refused on a form that showed an older state", func(t *testing.T) {
			t.Parallel()
			s := newStage(t, nil)
			slot, _ := s.full(1)
			req := s.slotRequest(slot)
			stale := int64(0)
			req.Version = &stale
			_, err := c.steps[len(c.steps)-1](s.Store, s, req)
			want(t, err, store.Conflict)
		})
		t.Run(c.name+" is refused from another tenant", func(t *testing.T) {
			t.Parallel()
			s := newStage(t, nil)
			req := s.slotRequest(s.Slot(t, 1))
			req.TenantID = s.AddTenant(t, "other", nil).ID
			_, err := c.steps[len(c.steps)-1](s.Store, s, req)
			want(t, err, store.NotFound)
		})
	}
}

func TestAClosedSlotRunsOnWithWhatLives(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot := s.Slot(t, 2)
	held := s.Hold(t, slot, 1)
	other := s.Book(t, slot, 1)
	e := s.Join(t, slot, 1)
	s.close(slot)
	_, err := s.Store.Confirm(s.ctx(), s.ConfirmRequest(held))
	s.must(err)
	m := s.mark(slot)
	s.Cancel(t, other)
	m.events("cancelled -1 customer") // no new offer
	if !s.kept(slot) {
		t.Fatal("the free seat is not kept for whoever waits")
	}
	m = s.mark(slot)
	_, err = s.Store.ReopenSlot(s.ctx(), s.slotRequest(slot))
	s.must(err)
	m.events("reopened +0 staff", "offered +1 system")
	m.mail("offer " + e.Email)
}

func TestAPausedWaitlistStillClosesWhatIsDue(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot, e := s.offered()
	next := s.Join(t, slot, 1)
	s.pause(slot)
	s.until(*e.ExpiresAt)
	m := s.mark(slot)
	s.sweep()
	m.events("lapsed -1 system")
	if !s.kept(slot) {
		t.Fatal("the seat is not kept")
	}
	_, err := s.Store.ResumeWaitlist(s.ctx(), s.slotRequest(slot))
	s.must(err)
	s.entryState(next, store.Offered)
}

func TestAPauseKeepsNoSeatThatNobodyWaitingCanUse(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot, booked := s.full(2)
	s.Join(t, slot, 2)
	s.pause(slot)
	s.Cancel(t, booked[0])
	s.Hold(t, slot, 1)
}

func TestCancelSlotEndsAllAndTellsEach(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot := s.Slot(t, 3)
	booked, gone, held := s.Book(t, slot, 1), s.Book(t, slot, 1), s.Hold(t, slot, 1)
	first, second := s.Join(t, slot, 1), s.Join(t, slot, 1)
	s.Cancel(t, gone)
	m := s.mark(slot)
	for range 2 {
		_, err := s.Store.CancelSlot(s.ctx(), s.slotRequest(slot))
		s.must(err)
		if got := s.taken(slot, 0); got.Status != store.SlotCancelled {
			t.Fatalf("%+v", got)
		}
		if n := len(m.newEvents()); n != 5 {
			t.Fatalf("%q", m.newEvents())
		}
		m.mail("slot_cancelled "+booked.Email, "slot_cancelled "+first.Email, "slot_cancelled "+second.Email)
	}
	for _, r := range []store.Reservation{booked, held} {
		if got := s.reservationState(r, store.Cancelled); got.CancelledBy != "staff" || got.CancelReason != "a reason" {
			t.Fatalf("%+v", got)
		}
	}
	s.entryState(first, store.EntryClosed)
	s.entryState(second, store.EntryClosed)
	want(t, s.hold(slot, 1), store.Closed)
	// Its time and resource are free again.
	s.SlotAt(t, 1, slot.StartsAt)
}

func TestCancelSlotEndsWhatIsDueFirst(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot, e := s.offered()
	s.until(*e.ExpiresAt)
	m := s.mark(slot)
	_, err := s.Store.CancelSlot(s.ctx(), s.slotRequest(slot))
	s.must(err)
	m.events("lapsed -1 system", "slot_cancelled +0 staff")
	m.mail("lapsed " + e.Email)
	stale := int64(0)
	other, _ := s.full(1)
	req := s.slotRequest(other)
	req.Version = &stale
	_, err = s.Store.CancelSlot(s.ctx(), req)
	want(t, err, store.Conflict)
}

func TestChangeOfTerms(t *testing.T) {
	t.Parallel()
	change := func(s *stage, slot store.Slot, edit func(*store.TermsRequest)) error {
		req := store.TermsRequest{TenantID: slot.TenantID, SlotID: slot.ID, Reason: "a reason", Actor: shop.Staff}
		edit(&req)
		_, err := s.Store.ChangeTerms(s.ctx(), req)
		return err
	}
	later := func(slot store.Slot, d time.Duration) func(*store.TermsRequest) {
		return func(r *store.TermsRequest) { r.StartsAt, r.EndsAt = slot.StartsAt.Add(d), slot.EndsAt.Add(d) }
	}
	t.Run("tells the confirmed, retells offers, and holds have to agree anew", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot := s.Slot(t, 3)
		booked, gone, held := s.Book(t, slot, 1), s.Book(t, slot, 1), s.Hold(t, slot, 1)
		offered, waiting := s.Join(t, slot, 1), s.Join(t, slot, 1)
		s.Cancel(t, gone)
		before := s.Entry(t, offered)
		m := s.mark(slot)
		s.must(change(s, slot, later(slot, 5*time.Hour)))
		m.events("terms_changed +0 staff")
		m.mail("changed "+booked.Email, "offer "+offered.Email)
		after := s.taken(slot, 3)
		if after.TermsVersion != 2 || !after.StartsAt.Equal(slot.StartsAt.Add(5*time.Hour)) || !after.OrderUntil.Equal(after.StartsAt.Add(-3*time.Hour)) {
			t.Fatalf("%+v", after)
		}
		if got := s.Reservation(t, booked); got.TermsVersion != 1 || got.Sequence != 1 {
			t.Fatalf("%+v", got)
		}
		if got := s.Reservation(t, held); got.TermsVersion != 2 {
			t.Fatalf("%+v", got)
		}
		if got := s.Entry(t, offered); !got.ShownUntil.Equal(*before.ShownUntil) {
			t.Fatal("a deadline that was shown has changed")
		}
		s.entryState(waiting, store.Waiting)
		_, err := s.Store.Confirm(s.ctx(), s.ConfirmRequest(held))
		want(t, err, store.TermsChanged)
		held.TermsVersion = 2
		_, err = s.Store.Confirm(s.ctx(), s.ConfirmRequest(held))
		s.must(err)
	})
	t.Run("twice tells twice", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot, booked := s.full(1)
		m := s.mark(slot)
		for i := range 2 {
			s.must(change(s, slot, later(slot, time.Duration(i+1)*time.Minute)))
		}
		m.mail("changed "+booked[0].Email, "changed "+booked[0].Email)
	})
	t.Run("to what it is changes nothing", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot, _ := s.full(1)
		m := s.mark(slot)
		s.must(change(s, slot, later(slot, 0)))
		m.nothing()
	})
	t.Run("to an earlier time may bring the switch, and then tells", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, func(p *store.Policies) { p.Fit = store.Strict })
		slot, booked := s.full(2)
		s.Join(t, slot, 2)
		small := s.Join(t, slot, 1)
		s.Cancel(t, booked[0])
		m := s.mark(slot)
		s.must(change(s, slot, func(r *store.TermsRequest) { r.StartsAt, r.EndsAt = s.begin.Add(2*time.Hour), s.begin.Add(3*time.Hour) }))
		m.events("terms_changed +0 staff", "vacancy_told +0 system")
		m.mail("changed "+booked[1].Email, "vacancy "+small.Email)
		if s.kept(slot) {
			t.Fatal("the seat is still kept")
		}
	})
	t.Run("to another service copies its policies", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot, booked := s.full(1)
		e := s.Join(t, slot, 1)
		other := s.AddService(t, s.Tenant, "fair", []byte(`{"waitlistMode":"broadcast","partyMax":2}`))
		s.must(change(s, slot, func(r *store.TermsRequest) { r.ServiceID = other.ID }))
		got := s.Read(t, slot)
		if got.ServiceID != other.ID || got.WaitlistMode != store.Broadcast || got.PartyMax != 2 || got.OrderRules || got.OrderUntil != nil {
			t.Fatalf("%+v", got)
		}
		m := s.mark(slot)
		s.Cancel(t, booked[0])
		m.mail("cancelled "+booked[0].Email, "vacancy "+e.Email)
	})
	t.Run("refused for an overlap keeps the sweep, and nothing of the new service", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot, other := s.Slot(t, 1), s.Slot(t, 1)
		s.Hold(t, slot, 1)
		s.at(6 * time.Minute)
		service := s.AddService(t, s.Tenant, "fair", []byte(`{"waitlistMode":"broadcast","partyMax":2}`))
		m := s.mark(slot)
		err := change(s, slot, func(r *store.TermsRequest) {
			r.ServiceID, r.StartsAt, r.EndsAt = service.ID, other.StartsAt, other.EndsAt
		})
		want(t, err, store.Overlaps)
		m.events("expired -1 system")
		got := s.Read(t, slot)
		if got.TermsVersion != 1 || got.PartyMax != 4 || got.WaitlistMode != store.Sequential || !got.StartsAt.Equal(slot.StartsAt) || !got.OrderUntil.Equal(*slot.OrderUntil) {
			t.Fatalf("%+v", got)
		}
	})
	t.Run("frees the waitlist of a slot that had begun and was put off", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot, _ := s.full(1)
		s.until(slot.StartsAt)
		s.sweep()
		s.must(change(s, slot, later(slot, 48*time.Hour)))
		e := s.Join(t, s.Read(t, slot), 1)
		s.until(slot.StartsAt.Add(48 * time.Hour))
		s.sweep()
		s.entryState(e, store.EntryClosed)
	})
	stale := int64(0)
	refusals(t, []refusal{
		{"is refused for an overlap in the new resource", store.Overlaps, nil, func(s *stage) error {
			slot := s.Slot(s.t, 1)
			other := s.AddResource(s.t, s.Tenant, "studio-b")
			_, err := s.Store.AddSlots(s.ctx(), s.Tenant.ID, []store.NewSlot{{ServiceID: s.Service.ID, ResourceID: other.ID, StartsAt: slot.StartsAt.Add(30 * time.Minute)}})
			s.must(err)
			return change(s, slot, func(r *store.TermsRequest) { r.ResourceID = other.ID })
		}},
		{"is refused for a service that is not there", store.NotFound, nil, func(s *stage) error {
			slot, booked := s.full(1)
			s.Join(s.t, slot, 1)
			s.pause(slot)
			s.Cancel(s.t, booked[0])
			return change(s, slot, func(r *store.TermsRequest) { r.ServiceID = "00000000-0000-4000-8000-000000000000" })
		}},
		{"is refused for another tenant's resource", store.NotFound, nil, func(s *stage) error {
			other := s.AddResource(s.t, s.AddTenant(s.t, "other", nil), "studio-b")
			return change(s, s.Slot(s.t, 1), func(r *store.TermsRequest) { r.ResourceID = other.ID })
		}},
		{"is refused for a cancelled slot", store.Closed, nil, func(s *stage) error {
			slot := s.Slot(s.t, 1)
			_, err := s.Store.CancelSlot(s.ctx(), s.slotRequest(slot))
			s.must(err)
			return change(s, slot, later(slot, time.Minute))
		}},
		{"is refused on a form that showed an older state", store.Conflict, nil, func(s *stage) error {
			slot, _ := s.full(1)
			return change(s, slot, func(r *store.TermsRequest) { r.EndsAt, r.Version = slot.EndsAt.Add(-time.Minute), &stale })
		}},
	})
}

func TestChangeOfPoliciesIsAStepOfEachFutureSlot(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(p *store.Policies) { p.Fit = store.Strict })
	slot, booked := s.full(2)
	past := s.SlotAt(t, 1, s.begin.Add(-2*time.Hour))
	cancelled := s.Slot(t, 1)
	_, err := s.Store.CancelSlot(s.ctx(), s.slotRequest(cancelled))
	s.must(err)
	large, small := s.Join(t, slot, 2), s.Join(t, slot, 1)
	s.Cancel(t, booked[0])
	m := s.mark(slot)
	n, err := s.Store.ChangePolicies(s.ctx(), s.Tenant.ID, s.Service.ID, []byte(`{"fit":"first_fit","offerShown":"1h0m0s"}`), shop.Staff)
	if err != nil || n != 1 {
		t.Fatal(n, err)
	}
	m.events("policy_changed +0 staff", "offered +1 system")
	s.entryState(large, store.Waiting)
	if got := s.entryState(small, store.Offered); !got.ShownUntil.Equal(s.begin.Add(time.Hour)) {
		t.Fatalf("%+v", got)
	}
	if got := s.Read(t, past); got.Fit != store.Strict || got.Version != 0 {
		t.Fatalf("%+v", got)
	}
	if got := s.Slot(t, 1); got.Fit != store.FirstFit {
		t.Fatalf("a new slot has %s", got.Fit)
	}
	for _, bad := range []string{`{"fit":"any"}`, `{"holdGrace":"1s"}`, `not JSON`, `{"partyMax":0}`} {
		if _, err := s.Store.ChangePolicies(s.ctx(), s.Tenant.ID, s.Service.ID, []byte(bad), shop.Staff); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

func TestSwitchingToBroadcastTellsThoseForWhomSeatsWereKept(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(p *store.Policies) { p.Fit = store.Strict })
	slot, booked := s.full(2)
	s.Join(t, slot, 2)
	small := s.Join(t, slot, 1)
	s.Cancel(t, booked[0])
	m := s.mark(slot)
	_, err := s.Store.ChangePolicies(s.ctx(), s.Tenant.ID, s.Service.ID, []byte(`{"waitlistMode":"broadcast"}`), shop.Staff)
	s.must(err)
	m.events("policy_changed +0 staff", "vacancy_told +0 system")
	m.mail("vacancy " + small.Email)
}

func TestAddSlots(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	at := func(d time.Duration) store.NewSlot {
		return store.NewSlot{ServiceID: s.Service.ID, ResourceID: s.Resource.ID, StartsAt: s.Start.Add(d)}
	}
	made, err := s.Store.AddSlots(s.ctx(), s.Tenant.ID, []store.NewSlot{at(0), at(time.Hour)})
	if err != nil || len(made) != 2 || made[0].Capacity != 10 || !made[0].EndsAt.Equal(s.Start.Add(time.Hour)) {
		t.Fatal(made, err)
	}
	_, err = s.Store.AddSlots(s.ctx(), s.Tenant.ID, []store.NewSlot{at(5 * time.Hour), at(90 * time.Minute)})
	want(t, err, store.Overlaps)
	_, err = s.Store.SlotAt(s.ctx(), s.Tenant.ID, "studio-a", s.Start.Add(5*time.Hour))
	want(t, err, store.NotFound)
	found, err := s.Store.SlotAt(s.ctx(), s.Tenant.ID, "studio-a", s.Start.Add(time.Hour).In(time.FixedZone("JST", 9*3600)))
	if err != nil || found.ID != made[1].ID {
		t.Fatal(found, err)
	}
	foreign := at(7 * time.Hour)
	foreign.ResourceID = s.AddResource(t, s.AddTenant(t, "other", nil), "studio-b").ID
	_, err = s.Store.AddSlots(s.ctx(), s.Tenant.ID, []store.NewSlot{foreign})
	want(t, err, store.NotFound)
}

func TestOrderUntil(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		edit func(*store.Policies)
		want time.Duration // before the start; 0: never rules
	}{
		{"is the switch to broadcast before the start", nil, 3 * time.Hour},
		{"leaves the least time for an answer before the close of booking", func(p *store.Policies) {
			p.BroadcastBefore, p.BookingCloses = 0, store.Duration(time.Hour)
		}, time.Hour + 10*time.Minute},
		{"is the earlier of the two", func(p *store.Policies) { p.BookingCloses = store.Duration(4 * time.Hour) }, 4*time.Hour + 10*time.Minute},
		{"is minus infinity in broadcast mode", inBroadcast, 0},
		{"is minus infinity without a waitlist", func(p *store.Policies) { p.WaitlistMode = store.WaitlistNone }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, c.edit)
			slot := s.Slot(t, 1)
			if c.want == 0 {
				if slot.OrderUntil != nil || slot.OrderRules {
					t.Fatalf("%+v", slot)
				}
				return
			}
			until := slot.StartsAt.Add(-c.want)
			if !slot.OrderUntil.Equal(until) || !slot.OrderRules {
				t.Fatalf("%v, not %v", slot.OrderUntil, until)
			}
			s.until(until)
			if got := s.Read(t, slot); got.OrderRules {
				t.Fatal("order still rules at that instant")
			}
		})
	}
}

func TestSlotShowsDueSeats(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		fit     store.Fit
		parties []int // who waits
		due     int   // seats of a due hold, the slot's capacity is 3
		want    int
	}{
		{"as free when nobody waits", store.FirstFit, nil, 2, 2},
		{"as taken when whoever waits would get them", store.FirstFit, []int{2}, 2, 0},
		{"as free when they are too few for whoever waits", store.FirstFit, []int{3}, 2, 2},
		{"as taken when the strict head waits for more", store.Strict, []int{3}, 2, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, func(p *store.Policies) { p.Fit = c.fit })
			slot := s.Slot(t, 3)
			s.Book(t, slot, 3-c.due)
			s.Hold(t, slot, c.due)
			for _, party := range c.parties {
				s.Join(t, slot, party)
			}
			s.at(6 * time.Minute)
			if got := s.Read(t, slot); got.SeatsLeft != c.want || got.Held != 0 {
				t.Fatalf("%d seats left, not %d", got.SeatsLeft, c.want)
			}
			err := s.hold(slot, max(c.want, 1))
			if (err == nil) != (c.want > 0) {
				t.Fatalf("a hold of what the page shows: %v", err)
			}
		})
	}
}

func TestReadsOfSlots(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	full, _ := s.full(1)
	free := s.Slot(t, 2)
	closed := s.Slot(t, 2)
	s.close(closed)
	query := store.SlotQuery{TenantID: s.Tenant.ID, From: full.StartsAt, To: closed.StartsAt.Add(time.Second)}
	ids := func(slots []store.Slot, err error) string {
		s.must(err)
		text := ""
		for _, slot := range slots {
			text += slot.ID
		}
		return text
	}
	if got := ids(s.Store.Slots(s.ctx(), query)); got != full.ID+free.ID+closed.ID {
		t.Fatal(got)
	}
	query.FreeFor = 2
	if got := ids(s.Store.Slots(s.ctx(), query)); got != free.ID {
		t.Fatal(got)
	}
	if got := ids(s.Store.NearestFree(s.ctx(), s.Tenant.ID, full.ID, 2, 5)); got != free.ID {
		t.Fatal(got)
	}
	first, err := s.Store.FirstBookable(s.ctx(), query)
	if err != nil || !first.Equal(free.StartsAt) {
		t.Fatal(first, err)
	}
	query.To = full.StartsAt
	_, err = s.Store.FirstBookable(s.ctx(), query)
	want(t, err, store.NotFound)
	other := s.AddTenant(t, "other", nil)
	if _, err := s.Store.Slot(s.ctx(), other.ID, full.ID); fmt.Sprint(err) != string(store.NotFound) {
		t.Fatal(err)
	}
}
