package store_test

import (
	"slices"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

func (s *stage) claimMessages(limit int) []store.Message {
	s.t.Helper()
	messages, err := s.Store.ClaimMessages(s.ctx(), s.Tenant.ID, limit, time.Minute)
	s.must(err)
	return messages
}

func (s *stage) finish(m store.Message, r store.MessageResult) bool {
	s.t.Helper()
	done, err := s.Store.FinishMessage(s.ctx(), m, r)
	s.must(err)
	return done
}

func TestAMessageIsClaimedByOneAndThenMarked(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	s.full(2)
	tenants, err := s.Store.TenantsToSend(s.ctx())
	if err != nil || !slices.Equal(tenants, []string{s.Tenant.ID}) {
		t.Fatal(tenants, err)
	}
	first := s.claimMessages(1)
	rest := s.claimMessages(10)
	if len(first) != 1 || len(rest) != 1 || first[0].ID == rest[0].ID || first[0].State != store.MessageSending || first[0].Attempts != 1 {
		t.Fatalf("%+v %+v", first, rest)
	}
	if again := s.claimMessages(10); len(again) != 0 {
		t.Fatalf("%+v", again)
	}
	if !s.finish(first[0], store.MessageResult{State: store.MessageSent, Subject: "subject", Text: "text"}) {
		t.Fatal("not finished")
	}
	got, err := s.Store.Message(s.ctx(), s.Tenant.ID, first[0].ID)
	if err != nil || got.State != store.MessageSent || got.SentText != "text" || !got.SentAt.Equal(s.begin) || got.SendingUntil != nil {
		t.Fatalf("%+v %v", got, err)
	}
	if s.finish(first[0], store.MessageResult{State: store.MessageFailed}) {
		t.Fatal("finished twice")
	}
	stats, err := s.Store.OutboxStats(s.ctx())
	if err != nil || stats.ByState[store.MessageSending] != 1 || stats.ByState[store.MessagePending] != 0 {
		t.Fatalf("%+v %v", stats, err)
	}
}

func TestALeaseThatHasRunOutGoesToAnother(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	s.full(1)
	dead := s.claimMessages(1)[0]
	s.at(time.Minute - time.Microsecond)
	if again := s.claimMessages(1); len(again) != 0 {
		t.Fatalf("%+v", again)
	}
	s.at(time.Minute)
	tenants, err := s.Store.TenantsToSend(s.ctx())
	if err != nil || len(tenants) != 1 {
		t.Fatal(tenants, err)
	}
	taken := s.claimMessages(1)[0]
	if taken.ID != dead.ID || taken.Attempts != 2 {
		t.Fatalf("%+v", taken)
	}
	// The late one can't touch the newer lease.
	if s.finish(dead, store.MessageResult{State: store.MessageFailed, Error: "late"}) {
		t.Fatal("a lost lease finished the message")
	}
	if !s.finish(taken, store.MessageResult{State: store.MessageSent}) {
		t.Fatal("not finished")
	}
}

func TestAFailedTryIsRepeatedLaterAndAtLastByHand(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	s.full(1)
	m := s.claimMessages(1)[0]
	s.finish(m, store.MessageResult{State: store.MessagePending, Again: 10 * time.Minute, Error: "connection refused"})
	s.at(10*time.Minute - time.Microsecond)
	if again := s.claimMessages(1); len(again) != 0 {
		t.Fatalf("%+v", again)
	}
	s.at(10 * time.Minute)
	m = s.claimMessages(1)[0]
	if m.Attempts != 2 || m.LastError != "connection refused" {
		t.Fatalf("%+v", m)
	}
	s.finish(m, store.MessageResult{State: store.MessageFailed, Error: "gave up"})
	if again := s.claimMessages(1); len(again) != 0 {
		t.Fatalf("%+v", again)
	}
	for range 2 {
		s.must(s.Store.RetryMessage(s.ctx(), s.Tenant.ID, m.ID))
	}
	if again := s.claimMessages(5); len(again) != 1 || again[0].Attempts != 1 {
		t.Fatalf("%+v", again)
	}
}

func TestMessagesAreClaimedWithinOneTenant(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	s.full(1)
	other := s.AddTenant(t, "other", nil)
	messages, err := s.Store.ClaimMessages(s.ctx(), other.ID, 10, time.Minute)
	if err != nil || len(messages) != 0 {
		t.Fatal(messages, err)
	}
	m := s.claimMessages(1)[0]
	_, err = s.Store.Message(s.ctx(), other.ID, m.ID)
	want(t, err, store.NotFound)
	m.TenantID = other.ID
	if s.finish(m, store.MessageResult{State: store.MessageSent}) {
		t.Fatal("finished from another tenant")
	}
}

// letter reads the one message of a kind as the dispatcher would.
func (s *stage) letter(slot store.Slot, kind store.MessageKind) store.Letter {
	s.t.Helper()
	for _, m := range s.mails(slot) {
		if m.Kind == kind {
			letter, err := s.Store.Letter(s.ctx(), m)
			s.must(err)
			return letter
		}
	}
	s.t.Fatalf("no message %s", kind)
	return store.Letter{}
}

func TestAMessageThatHasBecomePointless(t *testing.T) {
	t.Parallel()
	offered := func(s *stage) (store.Slot, store.Entry) { return s.offered() }
	for _, c := range []struct {
		name      string
		kind      store.MessageKind
		pointless bool
		edit      func(*store.Policies)
		make      func(*stage) store.Slot
	}{
		{"an offer that stands is not", store.KindOffer, false, nil, func(s *stage) store.Slot { slot, _ := offered(s); return slot }},
		{"an offer past its shown deadline", store.KindOffer, true, nil, func(s *stage) store.Slot {
			slot, e := offered(s)
			s.until(*e.ShownUntil)
			return slot
		}},
		{"an offer that was declined", store.KindOffer, true, nil, func(s *stage) store.Slot {
			slot, e := offered(s)
			_, err := s.Store.Decline(s.ctx(), s.entryPress(e))
			s.must(err)
			return slot
		}},
		{"an offer that was accepted", store.KindOffer, true, nil, func(s *stage) store.Slot {
			slot, e := offered(s)
			_, err := s.accept(e)
			s.must(err)
			return slot
		}},
		{"a vacancy of one who still waits is not", store.KindVacancy, false, inBroadcast, func(s *stage) store.Slot { slot, _, _ := broadcastSlot(s); return slot }},
		{"a vacancy of one who has claimed", store.KindVacancy, true, inBroadcast, func(s *stage) store.Slot {
			slot, e, _ := broadcastSlot(s)
			_, err := s.claim(e)
			s.must(err)
			return slot
		}},
		{"a vacancy after the close of booking", store.KindVacancy, true, inBroadcast, func(s *stage) store.Slot {
			slot, _, _ := broadcastSlot(s)
			s.until(slot.StartsAt)
			return slot
		}},
		{"a vacancy in a slot that was closed", store.KindVacancy, true, inBroadcast, func(s *stage) store.Slot {
			slot, _, _ := broadcastSlot(s)
			s.close(slot)
			return slot
		}},
		{"a confirmation that stands is not", store.KindConfirmed, false, nil, func(s *stage) store.Slot { slot, _ := s.full(1); return slot }},
		{"a confirmation of what was cancelled", store.KindConfirmed, true, nil, func(s *stage) store.Slot {
			slot, booked := s.full(1)
			s.Cancel(s.t, booked[0])
			return slot
		}},
		{"a confirmation of what has moved away", store.KindConfirmed, true, nil, func(s *stage) store.Slot {
			slot, booked := s.full(1)
			_, err := s.move(booked[0], s.Slot(s.t, 1))
			s.must(err)
			return slot
		}},
		{"a cancellation never", store.KindCancelled, false, nil, func(s *stage) store.Slot {
			slot, booked := s.full(1)
			s.Cancel(s.t, booked[0])
			return slot
		}},
		{"a reminder of what was cancelled", store.KindReminder, true, nil, func(s *stage) store.Slot {
			slot, booked := s.full(1)
			s.until(slot.StartsAt.Add(-time.Hour))
			s.sweep()
			_, err := s.cancelBy(booked[0], shop.Staff)
			s.must(err)
			return slot
		}},
		{"a reminder after the start", store.KindReminder, true, nil, func(s *stage) store.Slot {
			slot, _ := s.full(1)
			s.until(slot.StartsAt.Add(-time.Hour))
			s.sweep()
			s.until(slot.StartsAt)
			return slot
		}},
		{"a welcome to the list of one who has left it", store.KindJoined, true, nil, func(s *stage) store.Slot {
			slot, _ := s.full(1)
			_, err := s.Store.Withdraw(s.ctx(), s.entryPress(s.Join(s.t, slot, 1)))
			s.must(err)
			return slot
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, c.edit)
			letter := s.letter(c.make(s), c.kind)
			if letter.Pointless != c.pointless {
				t.Fatalf("pointless %v", letter.Pointless)
			}
			if letter.Tenant.ID != s.Tenant.ID || letter.Slot == nil || letter.Service.ID != s.Service.ID || letter.Resource.ID != s.Resource.ID || (letter.Entry == nil) == (letter.Reservation == nil) {
				t.Fatalf("%+v", letter)
			}
		})
	}
}

func TestSendMyLinks(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot, booked := s.full(1)
	e := s.Join(t, slot, 1)
	links := func(email string) []store.Message {
		s.must(s.Store.SendMyLinks(s.ctx(), slot.TenantID, email, "en"))
		messages, err := s.Store.Messages(s.ctx(), store.MessageQuery{TenantID: slot.TenantID})
		s.must(err)
		return slices.DeleteFunc(messages, func(m store.Message) bool {
			return m.Kind != store.KindMyLinks || store.PersonKey(m.Recipient) != store.PersonKey(email)
		})
	}
	if got := links("stranger@example.com"); len(got) != 0 {
		t.Fatalf("%+v", got)
	}
	for range 2 { // at most one an hour
		if got := links("G" + booked[0].Email[1:]); len(got) != 1 || got[0].Locale != "en" {
			t.Fatalf("%+v", got)
		}
	}
	s.at(time.Hour)
	got := links(booked[0].Email)
	if len(got) != 2 {
		t.Fatalf("%+v", got)
	}
	letter, err := s.Store.Letter(s.ctx(), got[0])
	if err != nil || len(letter.Bookings) != 1 || letter.Bookings[0].Reservation.ID != booked[0].ID || letter.Bookings[0].Service.ID != s.Service.ID || letter.Pointless {
		t.Fatalf("%+v %v", letter, err)
	}
	waiting := links(e.Email)
	letter, err = s.Store.Letter(s.ctx(), waiting[0])
	if err != nil || len(letter.Bookings) != 1 || letter.Bookings[0].Entry.ID != e.ID {
		t.Fatalf("%+v %v", letter, err)
	}
	s.Exec(t, "UPDATE outbox SET state = 'sent', sent_text = 'links' WHERE kind = 'my_reservations'")
	s.at(8 * 24 * time.Hour)
	s.sweep()
	var kept int
	s.must(s.Pool.QueryRow(s.ctx(), "SELECT count(*) FROM outbox WHERE kind = 'my_reservations' AND recipient || sent_text <> ''").Scan(&kept))
	if kept != 0 {
		t.Fatalf("%d link mails keep their address", kept)
	}
}

func TestMessagesCanBeChosen(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot, booked := s.full(2)
	s.full(1)
	for _, c := range []struct {
		query store.MessageQuery
		want  int
	}{
		{store.MessageQuery{}, 3},
		{store.MessageQuery{SlotID: slot.ID}, 2},
		{store.MessageQuery{SubjectID: booked[0].ID}, 1},
		{store.MessageQuery{State: store.MessageSent}, 0},
		{store.MessageQuery{Limit: 1}, 1},
	} {
		c.query.TenantID = s.Tenant.ID
		got, err := s.Store.Messages(s.ctx(), c.query)
		if err != nil || len(got) != c.want {
			t.Errorf("%+v: %d messages, %v", c.query, len(got), err)
		}
	}
}

func TestARolledBackStepLeavesNoMessage(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot, booked := s.full(1)
	e := s.Join(t, slot, 1)
	for k := 1; ; k++ {
		m := s.mark(slot)
		s.FailAt(k)
		_, err := s.cancelBy(booked[0], shop.Customer)
		if !s.Failed() {
			s.must(err)
			break
		}
		if err == nil {
			t.Fatalf("statement %d failed and nobody noticed", k)
		}
		m.nothing()
		s.reservationState(booked[0], store.Confirmed)
		s.entryState(e, store.Waiting)
		s.taken(slot, 1)
	}
	s.entryState(e, store.Offered)
}
