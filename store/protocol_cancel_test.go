package store_test

import (
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

func TestCancelFreesTheSeatAndPassesItOnWhoeverCancels(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		actor store.Actor
	}{
		{"the customer", shop.Customer},
		{"staff", shop.Staff},
		{"the API", store.Actor{Kind: store.API, ID: "00000000-0000-4000-8000-000000000002"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, nil)
			slot, booked := s.full(1)
			first, second := s.Join(t, slot, 1), s.Join(t, slot, 1)
			m := s.mark(slot)
			change, err := s.cancelBy(booked[0], c.actor)
			if err != nil || len(change.Offered) != 1 || change.Offered[0].ID != first.ID || change.FreeSeats != 0 || change.Mode != "first_fit" || len(change.Ended) != 1 {
				t.Fatalf("%+v %v", change, err)
			}
			events := []string{"cancelled -1 " + string(c.actor.Kind), "offered +1 system"}
			mails := []string{"cancelled " + booked[0].Email, "offer " + first.Email}
			m.events(events...)
			m.mail(mails...)
			got := s.reservationState(booked[0], store.Cancelled)
			if got.CancelledBy != string(c.actor.Kind) || got.Sequence != 1 {
				t.Fatalf("%+v", got)
			}
			s.entryState(second, store.Waiting)
			// Again, and once more: one seat, one message.
			for range 2 {
				if _, err := s.cancelBy(booked[0], c.actor); err != nil {
					t.Fatal(err)
				}
			}
			m.events(events...)
			m.mail(mails...)
			s.taken(slot, 1)
		})
	}
}

func TestCancelIsRefused(t *testing.T) {
	t.Parallel()
	stale := int64(99)
	refusals(t, []refusal{
		{"at the customer's cutoff", store.TooLate, nil, func(s *stage) error {
			slot, booked := s.full(1)
			s.until(slot.StartsAt.Add(-24 * time.Hour))
			_, err := s.cancelBy(booked[0], shop.Customer)
			return err
		}},
		{"of a hold, by a customer", store.Over, nil, func(s *stage) error {
			_, err := s.cancelBy(s.Hold(s.t, s.Slot(s.t, 1), 1), shop.Customer)
			return err
		}},
		{"of what was released", store.Over, nil, func(s *stage) error {
			r := s.Hold(s.t, s.Slot(s.t, 1), 1)
			_, err := s.Store.Release(s.ctx(), s.press(r))
			s.must(err)
			_, err = s.cancelBy(r, shop.Staff)
			return err
		}},
		{"from another tenant", store.NotFound, nil, func(s *stage) error {
			_, booked := s.full(1)
			booked[0].TenantID = s.AddTenant(s.t, "other", nil).ID
			_, err := s.cancelBy(booked[0], shop.Staff)
			return err
		}},
		{"of nothing", store.NotFound, nil, func(s *stage) error {
			_, err := s.Store.Cancel(s.ctx(), store.CancelRequest{TenantID: s.Tenant.ID, Actor: shop.Staff})
			return err
		}},
		{"on a form that showed an older state", store.Conflict, nil, func(s *stage) error {
			slot, booked := s.full(1)
			m := s.mark(slot)
			_, err := s.Store.Cancel(s.ctx(), store.CancelRequest{TenantID: slot.TenantID, SlotID: slot.ID, IDs: []string{booked[0].ID}, Actor: shop.Staff, Version: &stale})
			m.nothing()
			return err
		}},
		{"in bulk, when one of them has moved away", store.Conflict, nil, func(s *stage) error {
			slot, booked := s.full(2)
			_, err := s.move(booked[0], s.Slot(s.t, 1))
			s.must(err)
			_, err = s.Store.Cancel(s.ctx(), store.CancelRequest{TenantID: slot.TenantID, SlotID: slot.ID, IDs: []string{booked[0].ID, booked[1].ID}, Actor: shop.Staff})
			s.reservationState(booked[1], store.Confirmed)
			return err
		}},
	})
}

func TestCancelIsAllowed(t *testing.T) {
	t.Parallel()
	t.Run("by a customer an instant before the cutoff", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot, booked := s.full(1)
		s.until(slot.StartsAt.Add(-24*time.Hour - time.Microsecond))
		s.Cancel(t, booked[0])
	})
	t.Run("by staff after the cutoff", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot, booked := s.full(1)
		s.until(slot.StartsAt.Add(time.Minute))
		_, err := s.cancelBy(booked[0], shop.Staff)
		s.must(err)
	})
	t.Run("by staff of a live hold, which is released", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot := s.Slot(t, 1)
		r := s.Hold(t, slot, 1)
		e := s.Join(t, slot, 1)
		m := s.mark(slot)
		_, err := s.cancelBy(r, shop.Staff)
		s.must(err)
		s.reservationState(r, store.Released)
		m.events("released -1 staff", "offered +1 system")
		m.mail("offer " + e.Email)
	})
	t.Run("by staff again on the same form, which is answered with the present state", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot, booked := s.full(1)
		version := s.Read(t, slot).Version
		req := store.CancelRequest{TenantID: slot.TenantID, SlotID: slot.ID, IDs: []string{booked[0].ID}, Actor: shop.Staff, Version: &version}
		for range 2 {
			_, err := s.Store.Cancel(s.ctx(), req)
			s.must(err)
		}
		s.taken(slot, 0)
	})
}

func TestCancellingSeveralIsOneStep(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot, booked := s.full(3)
	e := s.Join(t, slot, 2)
	m := s.mark(slot)
	change, err := s.Store.Cancel(s.ctx(), store.CancelRequest{
		TenantID: slot.TenantID, SlotID: slot.ID, IDs: []string{booked[0].ID, booked[1].ID, booked[0].ID}, Actor: shop.Staff, Reason: "the teacher is ill",
	})
	if err != nil || len(change.Ended) != 2 {
		t.Fatalf("%+v %v", change, err)
	}
	m.events("cancelled -1 staff", "cancelled -1 staff", "offered +2 system")
	m.mail("cancelled "+booked[0].Email, "cancelled "+booked[1].Email, "offer "+e.Email)
	if got := s.Reservation(t, booked[0]); got.CancelReason != "the teacher is ill" {
		t.Fatalf("%+v", got)
	}
}

func TestNotTellingIsAChoiceThatIsRecorded(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot, booked := s.full(1)
	m := s.mark(slot)
	_, err := s.Store.Cancel(s.ctx(), store.CancelRequest{TenantID: slot.TenantID, IDs: []string{booked[0].ID}, Actor: shop.Staff, Silent: true})
	s.must(err)
	m.events("cancelled -1 staff")
	m.mail()
	history, err := s.Store.History(s.ctx(), slot.TenantID, slot.ID, 0, 1)
	if err != nil || history[0].Details["notice"] != "none" || history[0].Actor != "staff:"+shop.Staff.ID {
		t.Fatalf("%+v %v", history, err)
	}
}

func TestPreviewTellsAndChangesNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot, booked := s.full(1)
	e := s.Join(t, slot, 1)
	m := s.mark(slot)
	change, err := s.Store.PreviewCancel(s.ctx(), store.CancelRequest{TenantID: slot.TenantID, IDs: []string{booked[0].ID}, Actor: shop.Staff})
	if err != nil || len(change.Offered) != 1 || change.Offered[0].ID != e.ID || change.Offered[0].ShownUntil == nil {
		t.Fatalf("%+v %v", change, err)
	}
	raised, err := s.Store.PreviewCapacity(s.ctx(), store.CapacityRequest{TenantID: slot.TenantID, SlotID: slot.ID, Capacity: 3, Actor: shop.Staff})
	if err != nil || len(raised.Offered) != 1 || raised.FreeSeats != 1 {
		t.Fatalf("%+v %v", raised, err)
	}
	m.nothing()
	s.reservationState(booked[0], store.Confirmed)
	s.entryState(e, store.Waiting)
	if got := s.taken(slot, 1); got.Capacity != 1 {
		t.Fatalf("%+v", got)
	}
}

func TestCancelWhileADueHoldIsThereFreesBoth(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot := s.Slot(t, 2)
	r := s.Book(t, slot, 1)
	s.Hold(t, slot, 1)
	e := s.Join(t, slot, 2)
	s.at(6 * time.Minute)
	m := s.mark(slot)
	s.Cancel(t, r)
	m.events("expired -1 system", "cancelled -1 customer", "offered +2 system")
	s.entryState(e, store.Offered)
}

func TestPartySmaller(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot := s.Slot(t, 3)
	r := s.Book(t, slot, 3)
	e := s.Join(t, slot, 1)
	m := s.mark(slot)
	got, err := s.party(r, 2, shop.Customer)
	if err != nil || got.PartySize != 2 || got.Sequence != 1 {
		t.Fatal(got, err)
	}
	m.events("party_changed -1 customer", "offered +1 system")
	m.mail("offer " + e.Email)
	s.taken(slot, 3)
	again, err := s.party(r, 2, shop.Customer)
	if err != nil || again.PartySize != 2 {
		t.Fatal(again, err)
	}
	m.events("party_changed -1 customer", "offered +1 system")
}

func TestPartySmallerIsAPartOfCancelling(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot := s.Slot(t, 3)
	r := s.Book(t, slot, 3)
	s.close(slot)
	_, err := s.party(r, 2, shop.Customer) // a closed slot gives back seats
	s.must(err)
	s.until(slot.StartsAt.Add(-time.Minute))
	_, err = s.party(r, 1, shop.Customer)
	want(t, err, store.TooLate)
	s.taken(slot, 2)
	_, err = s.party(r, 1, shop.Staff)
	s.must(err)
	s.taken(slot, 1)
}

func TestPartyLarger(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot := s.Slot(t, 3)
	r := s.Book(t, slot, 1)
	m := s.mark(slot)
	_, err := s.party(r, 3, shop.Customer)
	s.must(err)
	m.events("party_changed +2 customer")
	m.mail()
	s.taken(slot, 3)
}

func TestPartyLargerTakesSeatsThatAreDue(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot := s.Slot(t, 2)
	r := s.Book(t, slot, 1)
	s.Hold(t, slot, 1)
	s.at(6 * time.Minute)
	m := s.mark(slot)
	_, err := s.party(r, 2, shop.Customer)
	s.must(err)
	m.events("expired -1 system", "party_changed +1 customer")
}

func TestPartyChangeIsRefused(t *testing.T) {
	t.Parallel()
	larger := func(capacity, to int, actor store.Actor, change func(*stage, store.Slot, store.Reservation)) func(*stage) error {
		return func(s *stage) error {
			slot := s.Slot(s.t, capacity)
			r := s.Book(s.t, slot, 1)
			change(s, slot, r)
			_, err := s.party(r, to, actor)
			return err
		}
	}
	refusals(t, []refusal{
		{"without seats", store.SoldOut, nil, larger(1, 2, shop.Customer, func(*stage, store.Slot, store.Reservation) {})},
		{"without seats, also for staff", store.SoldOut, nil, larger(1, 2, shop.Staff, func(*stage, store.Slot, store.Reservation) {})},
		{"when the free seat is kept", store.SoldOut, nil, larger(2, 2, shop.Customer, func(s *stage, slot store.Slot, _ store.Reservation) {
			other := s.Book(s.t, slot, 1)
			s.Join(s.t, slot, 1)
			s.pause(slot)
			s.Cancel(s.t, other)
		})},
		{"when the due seat passes on to somebody who waits", store.SoldOut, nil, larger(2, 2, shop.Customer, func(s *stage, slot store.Slot, _ store.Reservation) {
			s.Hold(s.t, slot, 1)
			s.Join(s.t, slot, 1)
			s.at(6 * time.Minute)
		})},
		{"to a larger party of a customer in a closed slot", store.Closed, nil, larger(3, 2, shop.Customer, func(s *stage, slot store.Slot, _ store.Reservation) { s.close(slot) })},
		{"to a larger party of a customer after the close of booking", store.TooLate, nil, larger(3, 2, shop.Customer, func(s *stage, slot store.Slot, _ store.Reservation) { s.until(slot.StartsAt) })},
		{"to more people than a party may have", store.PartyTooLarge, nil, larger(9, 5, shop.Customer, func(*stage, store.Slot, store.Reservation) {})},
		{"to nobody", store.PartyTooLarge, nil, larger(9, 0, shop.Customer, func(*stage, store.Slot, store.Reservation) {})},
		{"of what was cancelled", store.Over, nil, larger(9, 2, shop.Customer, func(s *stage, _ store.Slot, r store.Reservation) { s.Cancel(s.t, r) })},
		{"of a hold", store.Over, nil, func(s *stage) error {
			_, err := s.party(s.Hold(s.t, s.Slot(s.t, 2), 1), 2, shop.Staff)
			return err
		}},
	})
}

func TestStaffMayEnlargeInAClosedSlotAndBeyondTheLargestParty(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot := s.Slot(t, 9)
	r := s.Book(t, slot, 1)
	s.close(slot)
	_, err := s.party(r, 6, shop.Staff)
	s.must(err)
	s.taken(slot, 6)
}

func TestMoveTakesAndFreesInOneStep(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	a, booked := s.full(1)
	b := s.Slot(t, 2)
	e := s.Join(t, a, 1)
	ma, mb := s.mark(a), s.mark(b)
	r, err := s.move(booked[0], b)
	if err != nil || r.SlotID != b.ID || r.ID != booked[0].ID || r.Number != booked[0].Number || r.Sequence != 1 {
		t.Fatal(r, err)
	}
	ma.events("moved_out -1 customer", "offered +1 system")
	ma.mail("offer " + e.Email)
	mb.events("moved_in +1 customer")
	mb.mail("moved " + r.Email)
	s.taken(a, 1)
	s.taken(b, 1)
	// The link acts on the present state: a move to where it stands is done, an older tab moves on from there.
	_, err = s.move(booked[0], b)
	s.must(err)
	mb.events("moved_in +1 customer")
	c := s.Slot(t, 1)
	_, err = s.move(booked[0], c)
	s.must(err)
	s.taken(b, 0)
	s.taken(c, 1)
	found, err := s.Store.ReservationByToken(s.ctx(), r.TenantID, s.Store.ReservationToken(r))
	if err != nil || found.SlotID != c.ID {
		t.Fatal(found, err)
	}
}

// Numbers are a slot's own: the same number in two slots is two causes.
func TestEachMoveIsTold(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	_, booked := s.full(1)
	for range 3 { // each target is new, so each moved_in is its first event
		target := s.Slot(t, 1)
		m := s.mark(target)
		_, err := s.move(booked[0], target)
		s.must(err)
		m.mail("moved " + booked[0].Email)
		_, err = s.Store.ChangeTerms(s.ctx(), store.TermsRequest{TenantID: target.TenantID, SlotID: target.ID, EndsAt: target.EndsAt.Add(-time.Minute), Actor: shop.Staff})
		s.must(err)
		m.mail("moved "+booked[0].Email, "changed "+booked[0].Email)
	}
}

func TestMoveIsRefused(t *testing.T) {
	t.Parallel()
	move := func(change func(s *stage, r store.Reservation, target store.Slot) store.Slot) func(*stage) error {
		return func(s *stage) error {
			a := s.Slot(s.t, 2)
			r := s.Book(s.t, a, 2)
			target := s.Slot(s.t, 3)
			target = change(s, r, target)
			ma, mb := s.mark(a), s.mark(target)
			_, err := s.move(r, target)
			if err != nil {
				ma.nothing()
				mb.nothing()
			}
			return err
		}
	}
	refusals(t, []refusal{
		{"at the cutoff of the slot that it would leave", store.TooLate, nil, move(func(s *stage, r store.Reservation, target store.Slot) store.Slot {
			s.until(s.Start.Add(-time.Hour - 24*time.Hour))
			return target
		})},
		{"to a full slot", store.SoldOut, nil, move(func(s *stage, r store.Reservation, target store.Slot) store.Slot {
			s.Book(s.t, target, 2)
			return target
		})},
		{"to seats that are kept", store.SoldOut, nil, move(func(s *stage, r store.Reservation, target store.Slot) store.Slot {
			x := s.Book(s.t, target, 3)
			s.Join(s.t, target, 3)
			s.pause(target)
			s.Cancel(s.t, x)
			return target
		})},
		{"to a closed slot", store.Closed, nil, move(func(s *stage, r store.Reservation, target store.Slot) store.Slot {
			s.close(target)
			return target
		})},
		{"when the target's page showed other terms", store.TermsChanged, nil, move(func(s *stage, r store.Reservation, target store.Slot) store.Slot {
			target.TermsVersion = 2
			return target
		})},
		{"to a slot where the person has booked", store.AlreadyBooked, nil, move(func(s *stage, r store.Reservation, target store.Slot) store.Slot {
			req := s.ConfirmRequest(s.Hold(s.t, target, 1))
			req.Contact.Email = r.Email
			_, err := s.Store.Confirm(s.ctx(), req)
			s.must(err)
			return target
		})},
		{"of what was cancelled", store.Over, nil, move(func(s *stage, r store.Reservation, target store.Slot) store.Slot {
			s.Cancel(s.t, r)
			return target
		})},
		{"to no slot", store.NotFound, nil, move(func(s *stage, r store.Reservation, target store.Slot) store.Slot {
			target.ID = "00000000-0000-4000-8000-000000000000"
			return target
		})},
		{"to a slot whose booking has not opened", store.TooEarly, nil, move(func(s *stage, r store.Reservation, target store.Slot) store.Slot {
			return s.SlotAt(s.t, 3, s.begin.Add(61*24*time.Hour))
		})},
		{"to a slot whose largest party is smaller", store.PartyTooLarge, nil, move(func(s *stage, r store.Reservation, target store.Slot) store.Slot {
			s.Exec(s.t, "UPDATE slots SET party_max = 1 WHERE id = $1", target.ID)
			return target
		})},
		{"of a hold", store.Over, nil, func(s *stage) error {
			_, err := s.move(s.Hold(s.t, s.Slot(s.t, 2), 1), s.Slot(s.t, 2))
			return err
		}},
	})
}

func TestARefusedMoveKeepsTheSweepsOfBothSlots(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	a, b := s.Slot(t, 2), s.Slot(t, 3)
	r := s.Book(t, a, 1)
	s.Hold(t, a, 1)
	s.Hold(t, b, 1)
	s.Book(t, b, 2)
	e := s.Join(t, b, 1)
	s.at(6 * time.Minute)
	ma, mb := s.mark(a), s.mark(b)
	_, err := s.move(r, b)
	want(t, err, store.SoldOut)
	ma.events("expired -1 system")
	mb.events("expired -1 system", "offered +1 system")
	mb.mail("offer " + e.Email)
	s.reservationState(r, store.Confirmed)
}

func TestMoveTakesADueSeat(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	_, booked := s.full(1)
	b := s.Slot(t, 1)
	s.Hold(t, b, 1)
	s.at(6 * time.Minute)
	_, err := s.move(booked[0], b)
	s.must(err)
	s.taken(b, 1)
}

func TestStaffMayMoveAfterTheCutoffAndALargeParty(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	a := s.Slot(t, 6)
	r, _, err := s.Store.Book(s.ctx(), store.BookRequest{TenantID: a.TenantID, SlotID: a.ID, PartySize: 6, Contact: s.Person(), Actor: shop.Staff})
	s.must(err)
	b := s.Slot(t, 6)
	s.until(a.StartsAt.Add(-time.Minute))
	_, err = s.Store.Move(s.ctx(), store.MoveRequest{TenantID: r.TenantID, ID: r.ID, TargetSlot: b.ID, TargetTerms: 1, Actor: shop.Staff})
	s.must(err)
}

// Whoever has a booking here has nothing to wait for, whichever door the booking came through.
func TestTheEntryOfSomebodyWhoGetsABookingHereIsClosed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		book func(s *stage, target store.Slot, person store.Contact) error
	}{
		{"by a move", func(s *stage, target store.Slot, person store.Contact) error {
			req := s.ConfirmRequest(s.Hold(s.t, s.Slot(s.t, 1), 1))
			req.Contact = person
			r, err := s.Store.Confirm(s.ctx(), req)
			s.must(err)
			_, err = s.move(r, target)
			return err
		}},
		{"by staff", func(s *stage, target store.Slot, person store.Contact) error {
			_, _, err := s.Store.Book(s.ctx(), store.BookRequest{TenantID: target.TenantID, SlotID: target.ID, PartySize: 1, Contact: person, Actor: shop.Staff})
			return err
		}},
		{"by a corrected address", func(s *stage, target store.Slot, person store.Contact) error {
			_, err := s.Store.CorrectContact(s.ctx(), store.ContactRequest{TenantID: target.TenantID, ID: s.Book(s.t, target, 1).ID, Contact: person, Actor: shop.Staff})
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, nil)
			target, booked := s.full(2)
			join := s.JoinRequest(target, 2)
			e, err := s.Store.Join(s.ctx(), join)
			s.must(err)
			// One seat is free and too few for the party that waits.
			s.Cancel(t, booked[0])
			s.must(c.book(s, target, join.Contact))
			s.sweep()
			if got := s.entryState(e, store.EntryClosed); got.Reason != "booked" {
				t.Fatalf("%+v", got)
			}
			s.taken(target, 2)
		})
	}
}

func TestCorrectContact(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot, booked := s.full(2)
	correct := func(r store.Reservation, contact store.Contact) (store.Reservation, error) {
		return s.Store.CorrectContact(s.ctx(), store.ContactRequest{TenantID: slot.TenantID, ID: r.ID, Contact: contact, Actor: shop.Staff})
	}
	contact := s.Person()
	got, err := correct(booked[0], contact) // also in a full slot
	if err != nil || got.Email != contact.Email || s.Reservation(t, booked[0]).Name != contact.Name {
		t.Fatal(got, err)
	}
	_, err = correct(booked[1], contact)
	want(t, err, store.AlreadyBooked)
	contact.Name = "髙橋 𠮷郎"
	_, err = correct(booked[0], contact) // the own address is no other booking
	s.must(err)
	s.Cancel(t, booked[0])
	_, err = correct(booked[0], contact)
	want(t, err, store.Over)
}

func TestAttendance(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	_, booked := s.full(1)
	set := func(attendance string) (store.Reservation, error) {
		return s.Store.SetAttendance(s.ctx(), store.AttendanceRequest{TenantID: booked[0].TenantID, ID: booked[0].ID, Attendance: attendance, Actor: shop.Staff})
	}
	for _, attendance := range []string{"arrived", "no_show", ""} {
		got, err := set(attendance)
		if err != nil || got.Attendance != attendance {
			t.Fatal(got, err)
		}
	}
	s.Cancel(t, booked[0])
	_, err := set("arrived")
	want(t, err, store.NotFound)
}

func TestStaffBookingSomebodyWhoIsOfferedSeatsPassesThoseOn(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot, booked := s.full(3)
	join := s.JoinRequest(slot, 1)
	e, err := s.Store.Join(s.ctx(), join)
	s.must(err)
	s.Cancel(t, booked[0])
	large, small := s.Join(t, slot, 3), s.Join(t, slot, 2)
	_, err = s.capacity(slot, 4)
	s.must(err)
	book := store.BookRequest{TenantID: slot.TenantID, SlotID: slot.ID, PartySize: 1, Contact: join.Contact, Actor: shop.Staff}
	m := s.mark(slot)
	r, _, err := s.Store.Book(s.ctx(), book)
	s.must(err)
	m.events("held +1 staff", "confirmed +0 staff", "entry_closed -1 system")
	m.mail("confirmed " + r.Email)
	s.entryState(e, store.EntryClosed)
	s.taken(slot, 3)
	s.Cancel(t, booked[1])
	s.entryState(large, store.Waiting)
	s.entryState(small, store.Offered)
}
