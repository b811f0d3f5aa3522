package store_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

func TestSweepClosesWhatIsDueAndPassesOn(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	held := s.Slot(t, 1)
	r := s.Hold(t, held, 1)
	waiting := s.Join(t, held, 1)
	offeredSlot, offer := s.offered()
	next := s.Join(t, offeredSlot, 1)
	quiet := s.Slot(t, 1)
	s.Hold(t, quiet, 1)

	s.at(6*time.Minute - time.Microsecond)
	if report := s.sweep(); report.Slots != 0 || report.Next == nil || !report.Next.Equal(s.begin.Add(6*time.Minute)) {
		t.Fatalf("%+v", report)
	}
	m, n := s.mark(held), s.mark(offeredSlot)
	s.at(6 * time.Minute)
	if report := s.sweep(); report.Slots != 2 || report.Expired != 2 || report.Offered != 1 || report.Failed != 0 {
		t.Fatalf("%+v", report)
	}
	m.events("expired -1 system", "offered +1 system")
	m.mail("offer " + waiting.Email)
	s.reservationState(r, store.ExpiredR)
	s.at(35 * time.Minute)
	if report := s.sweep(); report.Slots != 1 || report.Closed != 1 || report.Offered != 1 {
		t.Fatalf("%+v", report)
	}
	n.events("lapsed -1 system", "offered +1 system")
	n.mail("lapsed "+offer.Email, "offer "+next.Email)
	s.entryState(offer, store.Lapsed)
	if report := s.sweep(); report.Slots != 0 || report.Offered != 0 {
		t.Fatalf("a second pass did something: %+v", report)
	}
}

func TestSweepHandlesInTheOrderOfTheDeadlines(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot := s.Slot(t, 2)
	first := s.Hold(t, slot, 1)
	s.at(time.Minute)
	s.Hold(t, slot, 1)
	s.at(time.Hour)
	m := s.mark(slot)
	s.sweep()
	m.events("expired -1 system", "expired -1 system")
	history, err := s.Store.History(s.ctx(), slot.TenantID, slot.ID, 0, 2)
	s.must(err)
	if *history[1].SubjectID != first.ID {
		t.Fatal("the later deadline was handled first")
	}
}

func TestOneFailingSlotDoesNotStopTheOthers(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	bad, good := s.Slot(t, 1), s.Slot(t, 1)
	s.Hold(t, bad, 1)
	held := s.Hold(t, good, 1)
	s.Exec(t, "UPDATE slots SET taken = 0 WHERE id = $1", bad.ID) // the sweep would go below nothing
	s.at(6 * time.Minute)
	report, err := s.Store.Sweep(s.ctx())
	if err == nil || report.Failed != 1 || report.Slots != 1 {
		t.Fatalf("%+v %v", report, err)
	}
	s.reservationState(held, store.ExpiredR)
	s.Exec(t, "UPDATE slots SET taken = 1 WHERE id = $1", bad.ID)
	s.sweep()
}

func TestWaitingEndsWhenTheSlotBegins(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot, _ := s.full(1)
	e := s.Join(t, slot, 1)
	s.until(slot.StartsAt.Add(-time.Microsecond))
	s.sweep()
	s.entryState(e, store.Waiting)
	s.until(slot.StartsAt)
	m := s.mark(slot)
	if report := s.sweep(); report.Closed != 1 {
		t.Fatalf("%+v", report)
	}
	m.events("entry_closed +0 system")
	m.mail()
	if got := s.entryState(e, store.EntryClosed); got.Reason != "begun" {
		t.Fatalf("%+v", got)
	}
	s.sweep()
	m.events("entry_closed +0 system")
}

func TestAnOpenOfferRunsOnAfterTheSlotHasBegun(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot := s.Slot(t, 1)
	// Just before order ends an offer is made by staff, and booking closes with the start.
	r := s.Book(t, slot, 1)
	e := s.Join(t, slot, 1)
	s.until(slot.StartsAt.Add(-time.Minute))
	_, err := s.cancelBy(r, shop.Staff)
	s.must(err)
	_, err = s.Store.OfferTo(s.ctx(), s.entryRequest(e))
	s.must(err)
	got := s.entryState(e, store.Offered)
	if !got.ShownUntil.Equal(slot.StartsAt) || !got.ExpiresAt.Equal(slot.StartsAt.Add(5*time.Minute)) {
		t.Fatalf("shown %v enforced %v", got.ShownUntil, got.ExpiresAt)
	}
	s.until(slot.StartsAt.Add(time.Minute))
	s.sweep()
	_, err = s.accept(e)
	s.must(err)
}

func TestReminders(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot := s.Slot(t, 6)
	due := slot.StartsAt.Add(-24 * time.Hour)
	booked, cancelled, moved := s.Book(t, slot, 1), s.Book(t, slot, 1), s.Book(t, slot, 1)
	s.Cancel(t, cancelled)
	target := s.SlotAt(t, 2, slot.StartsAt.Add(72*time.Hour))
	_, err := s.move(moved, target)
	s.must(err)
	s.until(due.Add(-time.Microsecond))
	s.Hold(t, slot, 1)
	m, n := s.mark(slot), s.mark(target)
	if report := s.sweep(); report.Reminded != 0 {
		t.Fatalf("%+v", report)
	}
	s.until(due.Add(time.Microsecond))
	late := s.Book(t, slot, 1) // has just read what a reminder would say
	if report := s.sweep(); report.Reminded != 1 {
		t.Fatalf("%+v", report)
	}
	s.sweep()
	m.mail("reminder "+booked.Email, "confirmed "+late.Email)
	// The moved one is reminded of the new time only.
	s.until(target.StartsAt.Add(-24 * time.Hour))
	s.sweep()
	n.mail("reminder " + moved.Email)
}

func TestASlotThatIsPutOffIsRemindedOfAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot, booked := s.full(1)
	s.until(slot.StartsAt.Add(-time.Hour))
	s.sweep()
	_, err := s.Store.ChangeTerms(s.ctx(), store.TermsRequest{
		TenantID: slot.TenantID, SlotID: slot.ID, StartsAt: slot.StartsAt.Add(72 * time.Hour), EndsAt: slot.EndsAt.Add(72 * time.Hour), Actor: shop.Staff,
	})
	s.must(err)
	s.until(slot.StartsAt.Add(71 * time.Hour))
	m := s.mark(slot)
	s.sweep()
	m.mail("reminder " + booked[0].Email)
}

func TestACancelledSlotIsNotRemindedOf(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot, _ := s.full(1)
	_, err := s.Store.CancelSlot(s.ctx(), s.slotRequest(slot))
	s.must(err)
	s.until(slot.StartsAt.Add(-time.Hour))
	if report := s.sweep(); report.Reminded != 0 {
		t.Fatalf("%+v", report)
	}
}

func TestContactsAreErasedWhenTheirTimeIsOver(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot, booked := s.full(2)
	waiting, accepting := s.Join(t, slot, 1), s.Join(t, slot, 1)
	_, err := s.Store.Withdraw(s.ctx(), s.entryPress(waiting))
	s.must(err)
	s.Cancel(t, booked[0])
	accepted, err := s.accept(accepting)
	s.must(err)
	personal := func(table string) (n int) {
		s.must(s.Pool.QueryRow(s.ctx(), "SELECT count(*) FROM "+table+" WHERE name || kana || email || phone || note || coalesce(person_key, '') || press_addr || press_agent <> ''").Scan(&n))
		return n
	}
	recipients := func() (n int) {
		s.must(s.Pool.QueryRow(s.ctx(), "SELECT count(*) FROM outbox WHERE recipient || sent_subject || sent_text <> ''").Scan(&n))
		return n
	}
	s.until(slot.EndsAt.Add(7*24*time.Hour - time.Microsecond))
	s.sweep()
	if n := personal("waitlist_entries"); n != 2 {
		t.Fatalf("%d entries have personal data", n)
	}
	letters := recipients()
	s.until(slot.EndsAt.Add(7 * 24 * time.Hour))
	if report := s.sweep(); report.Erased != 2 {
		t.Fatalf("%+v", report)
	}
	if n, m := personal("waitlist_entries"), personal("reservations"); n != 0 || m != 3 {
		t.Fatalf("%d entries and %d reservations have personal data", n, m)
	}
	if n := recipients(); n >= letters || n == 0 {
		t.Fatalf("%d letters of %d have a recipient", n, letters)
	}
	s.Check(t)
	s.until(slot.EndsAt.Add(400 * 24 * time.Hour))
	if report := s.sweep(); report.Erased != 3 {
		t.Fatalf("%+v", report)
	}
	if n, m := personal("reservations"), recipients(); n != 0 || m != 0 {
		t.Fatalf("%d reservations and %d letters have personal data", n, m)
	}
	if report := s.sweep(); report.Erased != 0 {
		t.Fatalf("%+v", report)
	}
	// What is left: counts and the history.
	if got := s.Reservation(t, accepted); got.State != store.Confirmed || got.PartySize != 1 || got.Name != "" {
		t.Fatalf("%+v", got)
	}
	_, err = s.Store.Search(s.ctx(), slot.TenantID, "客")
	s.must(err)
}

func TestAnUnsentLetterToAnErasedAddressIsNotSent(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot, _ := s.full(1)
	s.Join(t, slot, 1)
	s.Exec(t, "UPDATE outbox SET state = 'failed' WHERE kind = 'joined'")
	var failed string
	s.must(s.Pool.QueryRow(s.ctx(), "SELECT id::text FROM outbox WHERE kind = 'joined'").Scan(&failed))
	s.until(slot.EndsAt.Add(401 * 24 * time.Hour))
	s.sweep()
	s.must(s.Store.RetryMessage(s.ctx(), slot.TenantID, failed))
	tenants, err := s.Store.TenantsToSend(s.ctx())
	if err != nil || len(tenants) != 0 {
		t.Fatal(tenants, err)
	}
}

func TestSeals(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot := s.Slot(t, 2)
	seals := func() [][]byte {
		rows, err := s.Pool.Query(s.ctx(), "SELECT coalesce(seal, '') FROM events WHERE number IS NOT NULL ORDER BY number")
		s.must(err)
		var all [][]byte
		for rows.Next() {
			var seal []byte
			s.must(rows.Scan(&seal))
			all = append(all, seal)
		}
		s.must(rows.Err())
		return all
	}
	a := s.Book(t, slot, 1)
	if report := s.sweep(); report.Sealed != 1 {
		t.Fatalf("%+v", report)
	}
	first := seals()
	s.Cancel(t, a)
	s.Book(t, slot, 2)
	if report := s.sweep(); report.Sealed != 2 {
		t.Fatalf("%+v", report)
	}
	if report := s.sweep(); report.Sealed != 0 {
		t.Fatalf("%+v", report)
	}
	all := seals()
	if len(all) != 3 || !bytes.Equal(all[0], first[0]) || bytes.Equal(all[1], all[2]) || len(all[2]) != 32 {
		t.Fatalf("%x", all)
	}
	s.Check(t)
}

func TestSweepReportsTheNextDeadline(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(p *store.Policies) { p.Fit = store.Strict })
	next, now, err := s.Store.NextDue(s.ctx())
	if err != nil || next != nil || !now.Equal(s.begin) {
		t.Fatal(next, now, err)
	}
	slot, booked := s.full(2)
	s.Join(t, slot, 2)
	s.Cancel(t, booked[0])
	next, _, err = s.Store.NextDue(s.ctx())
	if err != nil || !next.Equal(*slot.OrderUntil) {
		t.Fatal(next, err)
	}
	other := s.Slot(t, 1)
	held := s.Hold(t, other, 1)
	next, _, err = s.Store.NextDue(s.ctx())
	if err != nil || !next.Equal(*held.ExpiresAt) {
		t.Fatal(next, err)
	}
}

func TestHistoryReplaysToTheSlot(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot, booked := s.full(3)
	s.Join(t, slot, 1)
	s.Cancel(t, booked[0])
	_, err := s.capacity(slot, 5)
	s.must(err)
	s.Hold(t, slot, 1)
	s.at(time.Hour)
	s.sweep()
	got := s.Read(t, slot)
	history, err := s.Store.History(s.ctx(), slot.TenantID, slot.ID, 0, 1000)
	s.must(err)
	taken, number := 0, got.Version
	for _, e := range history {
		if e.Number == nil {
			continue
		}
		if *e.Number != number {
			t.Fatalf("number %d where %d should be", *e.Number, number)
		}
		number--
		taken += e.Seats
	}
	if number != 0 || taken != got.Taken {
		t.Fatalf("replayed to %d at number %d, the slot has %d", taken, number, got.Taken)
	}
	since, err := s.Store.History(s.ctx(), slot.TenantID, slot.ID, got.Version-2, 10)
	if err != nil || len(since) != 2 {
		t.Fatal(since, err)
	}
}

func TestNoPersonalDataStandsInTheHistory(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot, booked := s.full(1)
	e := s.Join(t, slot, 1)
	s.Cancel(t, booked[0])
	_, err := s.accept(e)
	s.must(err)
	var found int
	for _, secret := range []string{e.Email, e.Name, booked[0].Email, booked[0].Phone, s.Store.EntryToken(e), s.Store.ReservationToken(booked[0])} {
		s.must(s.Pool.QueryRow(s.ctx(), "SELECT count(*) FROM events WHERE events::text LIKE '%' || $1 || '%'", secret).Scan(&found))
		if found != 0 {
			t.Errorf("%d events tell %s", found, secret)
		}
		s.must(s.Pool.QueryRow(s.ctx(), "SELECT count(*) FROM reservations r, waitlist_entries w WHERE (r::text || w::text) LIKE '%' || $1 || '%'", s.Store.EntryToken(e)).Scan(&found))
		if found != 0 {
			t.Errorf("a token is stored")
		}
	}
}

func TestSweepsWorkGrowsWithWhatIsDue(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	statements := func() int { return s.Count(func() { s.sweep() }) }
	for range 3 {
		s.Book(t, s.Slot(t, 1), 1)
	}
	s.sweep()
	few := statements()
	for i := range 20 {
		req := s.HoldRequest(s.Slot(t, 1), 1)
		req.Key = fmt.Sprint("key", i)
		_, err := s.Store.Hold(s.ctx(), req)
		s.must(err)
	}
	s.sweep() // seals
	if many := statements(); many != few {
		t.Fatalf("nothing is due: %d statements with few slots, %d with many", few, many)
	}
}
