package store_test

import (
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

func TestConfirmMakesABookingAndWritesOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot := s.Slot(t, 1)
	r := s.Hold(t, slot, 1)
	req := s.ConfirmRequest(r)
	req.ConsentVersion = "2027-01"
	s.at(time.Minute)
	m := s.mark(slot)
	got, err := s.Store.Confirm(s.ctx(), req)
	if err != nil || got.State != store.Confirmed || got.ID != r.ID || got.Number != r.Number || got.Email != req.Contact.Email || !got.ConfirmedAt.Equal(s.begin.Add(time.Minute)) {
		t.Fatal(got, err)
	}
	m.events("~confirmed +0 customer")
	m.mail("confirmed " + req.Contact.Email)
	if after := s.taken(slot, 1); after.Version != 1 {
		t.Fatalf("confirming changed the version to %d", after.Version)
	}
	again, err := s.Store.Confirm(s.ctx(), req)
	if err != nil || again.ID != r.ID || again.State != store.Confirmed {
		t.Fatal(again, err)
	}
	m.events("~confirmed +0 customer")
	m.mail("confirmed " + req.Contact.Email)
	var consented time.Time
	var addr string
	s.must(s.Pool.QueryRow(s.ctx(), "SELECT consented_at, press_addr FROM reservations WHERE id = $1", r.ID).Scan(&consented, &addr))
	if !consented.Equal(s.begin.Add(time.Minute)) || addr != shop.Customer.Addr {
		t.Fatal(consented, addr)
	}
}

func TestConfirmIsRefused(t *testing.T) {
	t.Parallel()
	held := func(change func(*stage, *store.ConfirmRequest, store.Reservation)) func(*stage) error {
		return func(s *stage) error {
			r := s.Hold(s.t, s.Slot(s.t, 3), 1)
			req := s.ConfirmRequest(r)
			change(s, &req, r)
			_, err := s.Store.Confirm(s.ctx(), req)
			return err
		}
	}
	refusals(t, []refusal{
		{"when there is no such hold", store.NotFound, nil, held(func(s *stage, req *store.ConfirmRequest, _ store.Reservation) {
			req.ID = "00000000-0000-4000-8000-000000000000"
		})},
		{"from another tenant", store.NotFound, nil, held(func(s *stage, req *store.ConfirmRequest, _ store.Reservation) {
			req.TenantID = s.AddTenant(s.t, "other", nil).ID
		})},
		{"by another owner", store.NotOwner, nil, held(func(s *stage, req *store.ConfirmRequest, _ store.Reservation) { req.Owner = "another" })},
		{"by another owner, also after the deadline", store.NotOwner, nil, held(func(s *stage, req *store.ConfirmRequest, _ store.Reservation) {
			req.Owner = "another"
			s.at(time.Hour)
		})},
		{"at the enforced deadline", store.Expired, nil, held(func(s *stage, req *store.ConfirmRequest, r store.Reservation) { s.until(*r.ExpiresAt) })},
		{"after the sweep", store.Expired, nil, held(func(s *stage, req *store.ConfirmRequest, r store.Reservation) {
			s.until(*r.ExpiresAt)
			s.sweep()
		})},
		{"after release", store.Over, nil, held(func(s *stage, req *store.ConfirmRequest, r store.Reservation) {
			_, err := s.Store.Release(s.ctx(), s.press(r))
			s.must(err)
		})},
		{"after it was confirmed and cancelled", store.Over, nil, held(func(s *stage, req *store.ConfirmRequest, r store.Reservation) {
			_, err := s.Store.Confirm(s.ctx(), *req)
			s.must(err)
			s.Cancel(s.t, r)
		})},
		{"after the slot was cancelled", store.Over, nil, held(func(s *stage, req *store.ConfirmRequest, r store.Reservation) {
			_, err := s.Store.CancelSlot(s.ctx(), store.SlotRequest{TenantID: r.TenantID, SlotID: r.SlotID, Actor: shop.Staff})
			s.must(err)
		})},
		{"when the page showed other terms", store.TermsChanged, nil, held(func(s *stage, req *store.ConfirmRequest, _ store.Reservation) { req.TermsVersion = 2 })},
		{"when the terms have changed since", store.TermsChanged, nil, held(func(s *stage, req *store.ConfirmRequest, r store.Reservation) {
			_, err := s.Store.ChangeTerms(s.ctx(), store.TermsRequest{TenantID: r.TenantID, SlotID: r.SlotID, EndsAt: s.Start.Add(2 * time.Hour), Actor: shop.Staff})
			s.must(err)
		})},
		{"for a person who has booked here", store.AlreadyBooked, nil, held(func(s *stage, req *store.ConfirmRequest, r store.Reservation) {
			slot := store.Slot{TenantID: r.TenantID, ID: r.SlotID, TermsVersion: 1}
			first := s.ConfirmRequest(s.Hold(s.t, slot, 1))
			first.Contact.Email = "Same@example.com"
			_, err := s.Store.Confirm(s.ctx(), first)
			s.must(err)
			req.Contact.Email = "same@example.com"
		})},
	})
}

func TestConfirmIsServedUntilTheEnforcedDeadline(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		at   func(store.Reservation) time.Time
	}{
		{"at the shown deadline", func(r store.Reservation) time.Time { return *r.ShownUntil }},
		{"within the grace", func(r store.Reservation) time.Time { return r.ShownUntil.Add(59 * time.Second) }},
		{"an instant before the enforced one", func(r store.Reservation) time.Time { return r.ExpiresAt.Add(-time.Microsecond) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, nil)
			slot := s.Slot(t, 1)
			r := s.Hold(t, slot, 1)
			s.until(c.at(r))
			s.sweep()
			_, err := s.Store.Confirm(s.ctx(), s.ConfirmRequest(r))
			s.must(err)
			s.taken(slot, 1)
		})
	}
}

func TestConfirmLooksAtItsOwnRowOnly(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot := s.Slot(t, 1)
	r := s.Hold(t, slot, 1)
	s.close(slot)
	_, err := s.Store.Confirm(s.ctx(), s.ConfirmRequest(r))
	s.must(err)
}

func TestAnswerTooLateIsRecordedOutsideTheOrder(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot := s.Slot(t, 1)
	r := s.Hold(t, slot, 1)
	s.until(*r.ExpiresAt)
	m := s.mark(slot)
	_, err := s.Store.Confirm(s.ctx(), s.ConfirmRequest(r))
	want(t, err, store.Expired)
	m.events("~refused_late +0 customer")
	history, err := s.Store.History(s.ctx(), slot.TenantID, slot.ID, 0, 1)
	s.must(err)
	if history[0].Details["step"] != "confirm" || *history[0].SubjectID != r.ID {
		t.Fatalf("%+v", history[0])
	}
}

func TestOnePersonMayBookTwiceWhereThePolicyAllows(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(p *store.Policies) { p.OnePerPerson = false })
	slot := s.Slot(t, 2)
	person := s.Person()
	for range 2 {
		req := s.ConfirmRequest(s.Hold(t, slot, 1))
		req.Contact = person
		_, err := s.Store.Confirm(s.ctx(), req)
		s.must(err)
	}
	s.taken(slot, 2)
}

func TestConfirmWithoutAnAddressWritesNoMessage(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot := s.Slot(t, 2)
	for range 2 { // nobody is nobody: two bookings without an address are two persons
		m := s.mark(slot)
		req := s.ConfirmRequest(s.Hold(t, slot, 1))
		req.Contact.Email = ""
		_, err := s.Store.Confirm(s.ctx(), req)
		s.must(err)
		m.mail()
	}
}

func TestAnAddressAddedLaterOwesNoEarlierMessage(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	a, b := s.Slot(t, 2), s.Slot(t, 2)
	req := s.ConfirmRequest(s.Hold(t, a, 1))
	req.Contact.Email = ""
	held, err := s.Store.Confirm(s.ctx(), req)
	s.must(err)
	contact := s.Person()
	contact.Email = ""
	booked, _, err := s.Store.Book(s.ctx(), store.BookRequest{TenantID: a.TenantID, SlotID: a.ID, PartySize: 1, Contact: contact, Actor: shop.Staff})
	s.must(err)
	_, err = s.move(booked, b)
	s.must(err)
	for _, r := range []store.Reservation{held, booked} {
		_, err := s.Store.CorrectContact(s.ctx(), store.ContactRequest{TenantID: r.TenantID, ID: r.ID, Contact: s.Person(), Actor: shop.Staff})
		s.must(err)
	}
	s.Check(t)
}

func TestConfirmingMarksTheWaitingEntryOfTheSamePerson(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot := s.Slot(t, 2)
	r := s.Hold(t, slot, 1)
	s.Book(t, slot, 1)
	e := s.Join(t, slot, 1)
	req := s.ConfirmRequest(r)
	req.Contact.Email = e.Email
	_, err := s.Store.Confirm(s.ctx(), req)
	s.must(err)
	m := s.mark(slot)
	if report := s.sweep(); report.Slots != 1 || report.Closed != 1 {
		t.Fatalf("%+v", report)
	}
	m.events("entry_closed +0 system")
	m.mail()
	if got := s.entryState(e, store.EntryClosed); got.Reason != "booked" {
		t.Fatalf("%+v", got)
	}
	if report := s.sweep(); report.Slots != 0 {
		t.Fatalf("%+v", report)
	}
}

func TestAnOfferToSomebodyWhoHasConfirmedHereIsDue(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot := s.Slot(t, 2)
	r := s.Hold(t, slot, 1)
	other := s.Book(t, slot, 1)
	e, next := s.Join(t, slot, 1), s.Join(t, slot, 1)
	s.Cancel(t, other)
	s.entryState(e, store.Offered)
	req := s.ConfirmRequest(r)
	req.Contact.Email = e.Email
	_, err := s.Store.Confirm(s.ctx(), req)
	s.must(err)
	m := s.mark(slot)
	_, err = s.accept(e)
	want(t, err, store.AlreadyBooked)
	m.events("entry_closed -1 system", "offered +1 system")
	m.mail("offer " + next.Email)
	s.taken(slot, 2)
}

func TestExtendGivesBothDeadlinesAnewOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot := s.Slot(t, 2)
	r := s.Hold(t, slot, 1)
	can, err := s.Store.CanExtend(s.ctx(), r.TenantID, r.ID)
	if err != nil || !can {
		t.Fatal(can, err)
	}
	s.at(4 * time.Minute)
	m := s.mark(slot)
	got, err := s.Store.Extend(s.ctx(), s.press(r))
	s.must(err)
	m.events("extended +0 customer")
	m.mail()
	stored := s.Reservation(t, r)
	for _, r := range []store.Reservation{got, stored} {
		if !r.ShownUntil.Equal(s.begin.Add(9*time.Minute)) || !r.ExpiresAt.Equal(s.begin.Add(10*time.Minute)) {
			t.Fatalf("shown %v enforced %v", r.ShownUntil, r.ExpiresAt)
		}
	}
	if can, err := s.Store.CanExtend(s.ctx(), r.TenantID, r.ID); err != nil || can {
		t.Fatal(can, err)
	}
	_, err = s.Store.Extend(s.ctx(), s.press(r))
	want(t, err, store.NotExtendable)
}

func TestExtendIsRefused(t *testing.T) {
	t.Parallel()
	held := func(change func(*stage, *store.OwnerPress, store.Reservation)) func(*stage) error {
		return func(s *stage) error {
			r := s.Hold(s.t, s.Slot(s.t, 1), 1)
			press := s.press(r)
			change(s, &press, r)
			_, err := s.Store.Extend(s.ctx(), press)
			return err
		}
	}
	refusals(t, []refusal{
		{"of another owner's hold", store.NotOwner, nil, held(func(s *stage, p *store.OwnerPress, _ store.Reservation) { p.Owner = "another" })},
		{"from another tenant", store.NotFound, nil, held(func(s *stage, p *store.OwnerPress, _ store.Reservation) {
			p.TenantID = s.AddTenant(s.t, "other", nil).ID
		})},
		{"at the enforced deadline", store.Expired, nil, held(func(s *stage, p *store.OwnerPress, r store.Reservation) { s.until(*r.ExpiresAt) })},
		{"after release", store.Over, nil, held(func(s *stage, p *store.OwnerPress, r store.Reservation) {
			_, err := s.Store.Release(s.ctx(), *p)
			s.must(err)
		})},
		{"of a booking", store.Conflict, nil, held(func(s *stage, p *store.OwnerPress, r store.Reservation) {
			_, err := s.Store.Confirm(s.ctx(), s.ConfirmRequest(r))
			s.must(err)
		})},
		{"while somebody waits", store.NotExtendable, nil, held(func(s *stage, p *store.OwnerPress, r store.Reservation) {
			s.Join(s.t, store.Slot{TenantID: r.TenantID, ID: r.SlotID}, 1)
		})},
		{"while somebody is offered seats", store.NotExtendable, nil, func(s *stage) error {
			slot := s.Slot(s.t, 2)
			r := s.Hold(s.t, slot, 1)
			other := s.Book(s.t, slot, 1)
			s.Join(s.t, slot, 1)
			s.Cancel(s.t, other)
			_, err := s.Store.Extend(s.ctx(), s.press(r))
			return err
		}},
	})
}

func TestExtendingALateHoldSweepsItAndPassesOn(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot := s.Slot(t, 1)
	r := s.Hold(t, slot, 1)
	e := s.Join(t, slot, 1)
	s.until(*r.ExpiresAt)
	m := s.mark(slot)
	_, err := s.Store.Extend(s.ctx(), s.press(r))
	want(t, err, store.Expired)
	// Those with a number are written at the end of the step.
	m.events("~refused_late +0 customer", "expired -1 system", "offered +1 system")
	m.mail("offer " + e.Email)
}

func TestExtendNeverShortensWhatWasShown(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(p *store.Policies) { p.HoldShown = store.Duration(30 * time.Minute) })
	slot := s.Slot(t, 1)
	r := s.Hold(t, slot, 1)
	// Booking now closes in ten minutes.
	_, err := s.Store.ChangeTerms(s.ctx(), store.TermsRequest{
		TenantID: slot.TenantID, SlotID: slot.ID, StartsAt: s.begin.Add(10 * time.Minute), EndsAt: s.begin.Add(time.Hour), Actor: shop.Staff,
	})
	s.must(err)
	got, err := s.Store.Extend(s.ctx(), s.press(r))
	if err != nil || got.ShownUntil.Before(*r.ShownUntil) {
		t.Fatal(got.ShownUntil, r.ShownUntil, err)
	}
}

func TestReleaseGivesTheSeatsBackAndPassesOn(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot := s.Slot(t, 1)
	r := s.Hold(t, slot, 1)
	e := s.Join(t, slot, 1)
	m := s.mark(slot)
	got, err := s.Store.Release(s.ctx(), s.press(r))
	if err != nil || got.State != store.Released {
		t.Fatal(got, err)
	}
	m.events("released -1 customer", "offered +1 system")
	m.mail("offer " + e.Email)
	again, err := s.Store.Release(s.ctx(), s.press(r))
	if err != nil || again.State != store.Released {
		t.Fatal(again, err)
	}
	m.events("released -1 customer", "offered +1 system")
}

func TestReleaseIsRefused(t *testing.T) {
	t.Parallel()
	refusals(t, []refusal{
		{"of another owner's hold", store.NotOwner, nil, func(s *stage) error {
			p := s.press(s.Hold(s.t, s.Slot(s.t, 1), 1))
			p.Owner = "another"
			_, err := s.Store.Release(s.ctx(), p)
			return err
		}},
		{"of a booking", store.Conflict, nil, func(s *stage) error {
			_, err := s.Store.Release(s.ctx(), s.press(s.Book(s.t, s.Slot(s.t, 1), 1)))
			return err
		}},
		{"from another tenant", store.NotFound, nil, func(s *stage) error {
			p := s.press(s.Hold(s.t, s.Slot(s.t, 1), 1))
			p.TenantID = s.AddTenant(s.t, "other", nil).ID
			_, err := s.Store.Release(s.ctx(), p)
			return err
		}},
	})
}

func TestReleasingADueHoldReleasesItOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot := s.Slot(t, 1)
	r := s.Hold(t, slot, 1)
	s.until(*r.ExpiresAt)
	m := s.mark(slot)
	got, err := s.Store.Release(s.ctx(), s.press(r))
	if err != nil || got.State != store.Released {
		t.Fatal(got, err)
	}
	m.events("released -1 customer")
	s.taken(slot, 0)
}

func TestReleasingWhatHasExpiredIsAnsweredWithIt(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot := s.Slot(t, 1)
	r := s.Hold(t, slot, 1)
	s.until(*r.ExpiresAt)
	s.sweep()
	m := s.mark(slot)
	got, err := s.Store.Release(s.ctx(), s.press(r))
	if err != nil || got.State != store.ExpiredR {
		t.Fatal(got, err)
	}
	m.nothing()
}
