package store_test

import (
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

func TestAcceptTurnsTheOfferIntoABooking(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot, e := s.offered()
	if !e.ShownUntil.Equal(s.begin.Add(30*time.Minute)) || !e.ExpiresAt.Equal(s.begin.Add(35*time.Minute)) {
		t.Fatalf("shown %v enforced %v", e.ShownUntil, e.ExpiresAt)
	}
	byToken, err := s.Store.OfferByToken(s.ctx(), slot.TenantID, s.Store.OfferToken(e))
	if err != nil || byToken.ID != e.ID {
		t.Fatal(byToken, err)
	}
	m := s.mark(slot)
	r, err := s.accept(e)
	if err != nil || r.State != store.Confirmed || r.Source != store.SourceWaitlist || r.Email != e.Email || *r.EntryID != e.ID || r.PartySize != e.PartySize {
		t.Fatal(r, err)
	}
	m.events("accepted +0 customer")
	m.mail("confirmed " + e.Email)
	s.taken(slot, 1)
	if got := s.entryState(e, store.Accepted); *got.ReservationID != r.ID {
		t.Fatalf("%+v", got)
	}
	again, err := s.accept(e)
	if err != nil || again.ID != r.ID {
		t.Fatal(again, err)
	}
	m.events("accepted +0 customer")
	m.mail("confirmed " + e.Email)
	// The secret link of the booking acts on what became of it, and a repeated accept tells it.
	s.Cancel(t, r)
	cancelled, err := s.accept(e)
	if err != nil || cancelled.State != store.Cancelled {
		t.Fatal(cancelled, err)
	}
}

func TestAcceptIsRefused(t *testing.T) {
	t.Parallel()
	accept := func(prepare func(*stage, store.Slot, *store.Entry)) func(*stage) error {
		return func(s *stage) error {
			slot, e := s.offered()
			prepare(s, slot, &e)
			_, err := s.accept(e)
			return err
		}
	}
	refusals(t, []refusal{
		{"at the enforced deadline", store.Expired, nil, accept(func(s *stage, _ store.Slot, e *store.Entry) { s.until(*e.ExpiresAt) })},
		{"after the sweep", store.Expired, nil, accept(func(s *stage, _ store.Slot, e *store.Entry) {
			s.until(*e.ExpiresAt)
			s.sweep()
		})},
		{"after it was declined", store.Over, nil, accept(func(s *stage, _ store.Slot, e *store.Entry) {
			_, err := s.Store.Decline(s.ctx(), s.entryPress(*e))
			s.must(err)
		})},
		{"after it was revoked", store.Over, nil, accept(func(s *stage, _ store.Slot, e *store.Entry) {
			_, err := s.Store.Revoke(s.ctx(), s.entryRequest(*e))
			s.must(err)
		})},
		{"after the slot was cancelled", store.Over, nil, accept(func(s *stage, slot store.Slot, _ *store.Entry) {
			_, err := s.Store.CancelSlot(s.ctx(), s.slotRequest(slot))
			s.must(err)
		})},
		{"when the terms have changed since the page", store.TermsChanged, nil, accept(func(s *stage, slot store.Slot, _ *store.Entry) {
			_, err := s.Store.ChangeTerms(s.ctx(), store.TermsRequest{TenantID: slot.TenantID, SlotID: slot.ID, EndsAt: slot.EndsAt.Add(-time.Minute), Actor: shop.Staff})
			s.must(err)
		})},
		{"of an entry that waits", store.Over, nil, func(s *stage) error {
			slot, _ := s.full(1)
			_, err := s.accept(s.Join(s.t, slot, 1))
			return err
		}},
		{"from another tenant", store.NotFound, nil, accept(func(s *stage, _ store.Slot, e *store.Entry) { e.TenantID = s.AddTenant(s.t, "other", nil).ID })},
	})
}

func TestAcceptIsServed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		prepare func(*stage, store.Slot, store.Entry)
	}{
		{"at the shown deadline", func(s *stage, _ store.Slot, e store.Entry) { s.until(*e.ShownUntil) }},
		{"within the grace, also after a sweep", func(s *stage, _ store.Slot, e store.Entry) {
			s.until(e.ExpiresAt.Add(-time.Microsecond))
			s.sweep()
		}},
		{"in a slot that was closed", func(s *stage, slot store.Slot, _ store.Entry) { s.close(slot) }},
		{"while the waitlist is paused", func(s *stage, slot store.Slot, _ store.Entry) { s.pause(slot) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, nil)
			slot, e := s.offered()
			c.prepare(s, slot, e)
			_, err := s.accept(e)
			s.must(err)
			s.taken(slot, 1)
		})
	}
}

func TestALateAcceptSweepsAndPassesOn(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot, e := s.offered()
	next := s.Join(t, slot, 1)
	s.until(*e.ExpiresAt)
	m := s.mark(slot)
	_, err := s.accept(e)
	want(t, err, store.Expired)
	m.events("~refused_late +0 customer", "lapsed -1 system", "offered +1 system")
	m.mail("lapsed "+e.Email, "offer "+next.Email)
}

func TestAnAcceptSweepsWhatIsDueBesideIt(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot := s.Slot(t, 2)
	a, b := s.Book(t, slot, 1), s.Book(t, slot, 1)
	first, second := s.Join(t, slot, 1), s.Join(t, slot, 1)
	s.Cancel(t, a)
	s.at(10 * time.Minute)
	s.Cancel(t, b)
	s.at(40 * time.Minute) // the first is due, the second at its shown deadline
	m := s.mark(slot)
	_, err := s.accept(second)
	s.must(err)
	m.events("lapsed -1 system", "accepted +0 customer")
	s.entryState(first, store.Lapsed)
}

func TestDeclinePassesOn(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot, e := s.offered()
	next := s.Join(t, slot, 1)
	m := s.mark(slot)
	for range 2 {
		got, err := s.Store.Decline(s.ctx(), s.entryPress(e))
		if err != nil || got.State != store.Declined {
			t.Fatal(got, err)
		}
		m.events("declined -1 customer", "offered +1 system")
		m.mail("offer " + next.Email)
	}
	_, err := s.Store.Decline(s.ctx(), s.entryPress(next))
	s.must(err)
	// Everybody has declined: the seat is open to the public.
	if got := s.taken(slot, 0); got.SeatsLeft != 1 {
		t.Fatalf("%+v", got)
	}
	s.Hold(t, slot, 1)
}

func TestDecline(t *testing.T) {
	t.Parallel()
	t.Run("of an entry that waits is refused", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot, _ := s.full(1)
		_, err := s.Store.Decline(s.ctx(), s.entryPress(s.Join(t, slot, 1)))
		want(t, err, store.Over)
	})
	t.Run("of an accepted offer is answered with it", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot, e := s.offered()
		_, err := s.accept(e)
		s.must(err)
		got, err := s.Store.Decline(s.ctx(), s.entryPress(e))
		if err != nil || got.State != store.Accepted {
			t.Fatal(got, err)
		}
		s.taken(slot, 1)
	})
	t.Run("of an offer that is due declines it", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot, e := s.offered()
		s.until(*e.ExpiresAt)
		m := s.mark(slot)
		_, err := s.Store.Decline(s.ctx(), s.entryPress(e))
		s.must(err)
		m.events("declined -1 customer")
	})
	t.Run("by staff for a caller", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot, e := s.offered()
		p := s.entryPress(e)
		p.Actor = shop.Staff
		m := s.mark(slot)
		_, err := s.Store.Decline(s.ctx(), p)
		s.must(err)
		m.events("declined -1 staff")
	})
}

// broadcastSlot is a full slot in broadcast mode with one who waits, and then a free seat.
func broadcastSlot(s *stage) (store.Slot, store.Entry, store.Reservation) {
	slot, booked := s.full(2)
	e := s.Join(s.t, slot, 1)
	s.Cancel(s.t, booked[0])
	return slot, e, booked[1]
}

func inBroadcast(p *store.Policies) { p.WaitlistMode = store.Broadcast }

func TestClaimTakesAnOpenSeat(t *testing.T) {
	t.Parallel()
	s := newStage(t, inBroadcast)
	slot, e, _ := broadcastSlot(s)
	other := s.Join(t, slot, 2)
	m := s.mark(slot)
	r, err := s.claim(e)
	if err != nil || r.State != store.Confirmed || r.Email != e.Email || *r.EntryID != e.ID {
		t.Fatal(r, err)
	}
	m.events("claimed +1 customer")
	m.mail("confirmed " + e.Email)
	s.taken(slot, 2)
	again, err := s.claim(e)
	if err != nil || again.ID != r.ID {
		t.Fatal(again, err)
	}
	// The loser keeps waiting.
	_, err = s.claim(other)
	want(t, err, store.SoldOut)
	s.entryState(other, store.Waiting)
	m.events("claimed +1 customer")
}

func TestClaimIsRefused(t *testing.T) {
	t.Parallel()
	claim := func(prepare func(*stage, store.Slot, *store.Entry)) func(*stage) error {
		return func(s *stage) error {
			slot, e, _ := broadcastSlot(s)
			prepare(s, slot, &e)
			_, err := s.claim(e)
			return err
		}
	}
	refusals(t, []refusal{
		{"while order rules", store.OrderRules, nil, func(s *stage) error {
			slot, booked := s.full(1)
			e := s.Join(s.t, slot, 1)
			s.pause(slot)
			s.Cancel(s.t, booked[0])
			_, err := s.claim(e)
			return err
		}},
		{"in a closed slot", store.Closed, inBroadcast, claim(func(s *stage, slot store.Slot, _ *store.Entry) { s.close(slot) })},
		{"after the close of booking", store.TooLate, inBroadcast, claim(func(s *stage, slot store.Slot, _ *store.Entry) { s.until(slot.StartsAt) })},
		{"when somebody was faster", store.SoldOut, inBroadcast, claim(func(s *stage, slot store.Slot, _ *store.Entry) { s.Hold(s.t, slot, 1) })},
		{"when the page showed other terms", store.TermsChanged, inBroadcast, claim(func(s *stage, slot store.Slot, _ *store.Entry) {
			_, err := s.Store.ChangeTerms(s.ctx(), store.TermsRequest{TenantID: slot.TenantID, SlotID: slot.ID, EndsAt: slot.EndsAt.Add(-time.Minute), Actor: shop.Staff})
			s.must(err)
		})},
		{"after it was withdrawn", store.Over, inBroadcast, claim(func(s *stage, _ store.Slot, e *store.Entry) {
			_, err := s.Store.Withdraw(s.ctx(), s.entryPress(*e))
			s.must(err)
		})},
		{"by somebody who has meanwhile booked here", store.AlreadyBooked, inBroadcast, claim(func(s *stage, slot store.Slot, e *store.Entry) {
			req := s.ConfirmRequest(s.Hold(s.t, slot, 1))
			req.Contact.Email = e.Email
			_, err := s.Store.Confirm(s.ctx(), req)
			s.must(err)
		})},
		{"by somebody who has booked, after the sweep closed the entry", store.AlreadyBooked, inBroadcast, claim(func(s *stage, slot store.Slot, e *store.Entry) {
			req := s.ConfirmRequest(s.Hold(s.t, slot, 1))
			req.Contact.Email = e.Email
			_, err := s.Store.Confirm(s.ctx(), req)
			s.must(err)
			s.sweep()
		})},
	})
}

func TestClaimTakesADueSeat(t *testing.T) {
	t.Parallel()
	s := newStage(t, inBroadcast)
	slot := s.Slot(t, 1)
	s.Hold(t, slot, 1)
	e := s.Join(t, slot, 1)
	s.at(6 * time.Minute)
	m := s.mark(slot)
	_, err := s.claim(e)
	s.must(err)
	m.events("expired -1 system", "claimed +1 customer")
}

func TestClaimAfterASwitchThatNobodyHasHandled(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(p *store.Policies) { p.Fit = store.Strict })
	slot, booked := s.full(2)
	head, small := s.Join(t, slot, 2), s.Join(t, slot, 1)
	s.Cancel(t, booked[0])
	s.until(slot.StartsAt.Add(-3 * time.Hour))
	_, err := s.claim(head)
	want(t, err, store.SoldOut)
	_, err = s.claim(small)
	s.must(err)
}

func TestStaffOffer(t *testing.T) {
	t.Parallel()
	t.Run("goes to the chosen entry before anybody else", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot, booked := s.full(2)
		first, chosen := s.Join(t, slot, 1), s.Join(t, slot, 1)
		s.pause(slot)
		s.Cancel(t, booked[0])
		m := s.mark(slot)
		change, err := s.Store.OfferTo(s.ctx(), s.entryRequest(chosen))
		if err != nil || len(change.Offered) != 1 {
			t.Fatalf("%+v %v", change, err)
		}
		m.events("staff_offered +1 staff")
		m.mail("offer " + chosen.Email)
		s.entryState(chosen, store.Offered)
		s.entryState(first, store.Waiting)
		history, err := s.Store.History(s.ctx(), slot.TenantID, slot.ID, 0, 1)
		if err != nil || history[0].Details["reason"] != "asked by phone" {
			t.Fatalf("%+v %v", history, err)
		}
		// Pressed twice: the offer is there.
		_, err = s.Store.OfferTo(s.ctx(), s.entryRequest(chosen))
		s.must(err)
		m.events("staff_offered +1 staff")
	})
	t.Run("takes a seat that is due, before the head of the queue gets it", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot := s.Slot(t, 1)
		s.Hold(t, slot, 1)
		s.Join(t, slot, 1)
		chosen := s.Join(t, slot, 1)
		s.at(6 * time.Minute)
		m := s.mark(slot)
		_, err := s.Store.OfferTo(s.ctx(), s.entryRequest(chosen))
		s.must(err)
		m.events("expired -1 system", "staff_offered +1 staff")
	})
	t.Run("passes on what is left in the same step", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot := s.Slot(t, 2)
		s.Hold(t, slot, 2)
		first, chosen := s.Join(t, slot, 1), s.Join(t, slot, 1)
		s.at(6 * time.Minute)
		m := s.mark(slot)
		_, err := s.Store.OfferTo(s.ctx(), s.entryRequest(chosen))
		s.must(err)
		m.events("expired -2 system", "staff_offered +1 staff", "offered +1 system")
		s.entryState(first, store.Offered)
	})
	t.Run("is possible when seats are first come, first served", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, inBroadcast)
		_, e, _ := broadcastSlot(s)
		_, err := s.Store.OfferTo(s.ctx(), s.entryRequest(e))
		s.must(err)
		s.entryState(e, store.Offered)
	})
	stale := int64(0)
	refusals(t, []refusal{
		{"is refused without seats", store.SoldOut, nil, func(s *stage) error {
			slot, _ := s.full(1)
			_, err := s.Store.OfferTo(s.ctx(), s.entryRequest(s.Join(s.t, slot, 1)))
			return err
		}},
		{"is refused in a closed slot", store.Closed, inBroadcast, func(s *stage) error {
			slot, e, _ := broadcastSlot(s)
			s.close(slot)
			_, err := s.Store.OfferTo(s.ctx(), s.entryRequest(e))
			return err
		}},
		{"is refused after the close of booking", store.TooLate, inBroadcast, func(s *stage) error {
			slot, e, _ := broadcastSlot(s)
			s.until(slot.StartsAt)
			_, err := s.Store.OfferTo(s.ctx(), s.entryRequest(e))
			return err
		}},
		{"is refused for an entry that is over", store.Over, inBroadcast, func(s *stage) error {
			_, e, _ := broadcastSlot(s)
			_, err := s.Store.Withdraw(s.ctx(), s.entryPress(e))
			s.must(err)
			_, err = s.Store.OfferTo(s.ctx(), s.entryRequest(e))
			return err
		}},
		{"is refused for somebody who has booked here", store.AlreadyBooked, inBroadcast, func(s *stage) error {
			slot, booked := s.full(2)
			e := s.Join(s.t, slot, 1)
			s.Cancel(s.t, booked[0])
			req := s.ConfirmRequest(s.Hold(s.t, slot, 1))
			req.Contact.Email = e.Email
			_, err := s.Store.Confirm(s.ctx(), req)
			s.must(err)
			s.Cancel(s.t, booked[1])
			s.Exec(s.t, "UPDATE waitlist_entries SET state = 'waiting', ended_at = NULL WHERE id = $1", e.ID)
			_, err = s.Store.OfferTo(s.ctx(), s.entryRequest(e))
			return err
		}},
		{"is refused on a form that showed an older state", store.Conflict, inBroadcast, func(s *stage) error {
			_, e, _ := broadcastSlot(s)
			req := s.entryRequest(e)
			req.Version = &stale
			_, err := s.Store.OfferTo(s.ctx(), req)
			return err
		}},
	})
}

func TestRevokeAndRemove(t *testing.T) {
	t.Parallel()
	t.Run("revoking passes the seat on and tells", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot, e := s.offered()
		next := s.Join(t, slot, 1)
		m := s.mark(slot)
		for range 2 {
			_, err := s.Store.Revoke(s.ctx(), s.entryRequest(e))
			s.must(err)
			m.events("revoked -1 staff", "offered +1 system")
			m.mail("revoked "+e.Email, "offer "+next.Email)
		}
		if got := s.entryState(e, store.Withdrawn); got.Reason != "asked by phone" {
			t.Fatalf("%+v", got)
		}
	})
	t.Run("revoking an entry that waits is refused", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot, _ := s.full(1)
		_, err := s.Store.Revoke(s.ctx(), s.entryRequest(s.Join(t, slot, 1)))
		want(t, err, store.Over)
	})
	t.Run("removing takes a waiting party off and tells", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot, _ := s.full(1)
		e := s.Join(t, slot, 1)
		m := s.mark(slot)
		_, err := s.Store.RemoveEntry(s.ctx(), s.entryRequest(e))
		s.must(err)
		m.events("withdrawn +0 staff")
		m.mail("revoked " + e.Email)
	})
	t.Run("removing an offered entry is refused", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		_, e := s.offered()
		_, err := s.Store.RemoveEntry(s.ctx(), s.entryRequest(e))
		want(t, err, store.Over)
	})
	t.Run("a stale form is refused", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		_, e := s.offered()
		stale := int64(0)
		req := s.entryRequest(e)
		req.Version = &stale
		_, err := s.Store.Revoke(s.ctx(), req)
		want(t, err, store.Conflict)
		s.entryState(e, store.Offered)
	})
	t.Run("removal by the API is told, too", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot, _ := s.full(1)
		e := s.Join(t, slot, 1)
		req := s.entryRequest(e)
		req.Actor = store.Actor{Kind: store.API, ID: "00000000-0000-4000-8000-000000000002"}
		_, err := s.Store.RemoveEntry(s.ctx(), req)
		s.must(err)
	})
	t.Run("a withdrawal by staff for a caller is no removal", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, nil)
		slot, _ := s.full(1)
		p := s.entryPress(s.Join(t, slot, 1))
		p.Actor = shop.Staff
		_, err := s.Store.Withdraw(s.ctx(), p)
		s.must(err)
	})
}

func TestTheOfferLinkAndTheEntryLinkHaveOnePurposeEach(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot, e := s.offered()
	offer, entry := s.Store.OfferToken(e), s.Store.EntryToken(e)
	_, err := s.Store.EntryByToken(s.ctx(), slot.TenantID, offer)
	want(t, err, store.NotFound)
	_, err = s.Store.OfferByToken(s.ctx(), slot.TenantID, entry)
	want(t, err, store.NotFound)
	_, err = s.Store.ReservationByToken(s.ctx(), slot.TenantID, entry)
	want(t, err, store.NotFound)
	_, err = s.Store.OfferByToken(s.ctx(), s.AddTenant(t, "other", nil).ID, offer)
	want(t, err, store.NotFound)
}

func TestTheBookingKeepsTheConsentOfJoining(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot, booked := s.full(1)
	req := s.JoinRequest(slot, 1)
	req.ConsentVersion = "2027-01"
	e, err := s.Store.Join(s.ctx(), req)
	s.must(err)
	s.at(time.Hour)
	s.Cancel(t, booked[0])
	r, err := s.accept(e)
	s.must(err)
	var version string
	var at time.Time
	s.must(s.Pool.QueryRow(s.ctx(), "SELECT consent_version, consented_at FROM reservations WHERE id = $1", r.ID).Scan(&version, &at))
	if version != "2027-01" || !at.Equal(s.begin) {
		t.Fatal(version, at)
	}
}
