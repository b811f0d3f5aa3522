package store_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

func insight(s *shop.Shop, from, to time.Time) store.InsightQuery {
	return store.InsightQuery{TenantID: s.Tenant.ID, Zone: s.Tenant.TimeZone, From: from, To: to}
}

func all(s *shop.Shop) store.InsightQuery {
	return insight(s, s.Start.Add(-1000*time.Hour), s.Start.Add(1000*time.Hour))
}

func cancelBy(t testing.TB, s *shop.Shop, r store.Reservation, actor store.Actor) {
	t.Helper()
	if _, err := s.Store.Cancel(t.Context(), store.CancelRequest{TenantID: r.TenantID, IDs: []string{r.ID}, Actor: actor}); err != nil {
		t.Fatal(err)
	}
}

func freed(t testing.TB, s *shop.Shop) map[string]int {
	t.Helper()
	rows, err := s.Store.FreedSeats(t.Context(), all(s))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for _, r := range rows {
		out[r.Outcome] = r.Seats
	}
	return out
}

func TestOccupancyByTheVenuesClock(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	s.Exec(t, "UPDATE tenants SET time_zone = 'America/New_York' WHERE id = $1", s.Tenant.ID)
	s.Tenant.TimeZone = "America/New_York"
	ny, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	// Sundays on both sides of the end of summer time: the same hour on the wall, another one in UTC.
	before, after := time.Date(2026, 10, 25, 10, 0, 0, 0, ny), time.Date(2026, 11, 8, 10, 0, 0, 0, ny)
	twice := time.Date(2026, 11, 1, 5, 30, 0, 0, time.UTC) // 01:30, and an hour later 01:30 again
	for i, start := range []time.Time{before, after, twice, twice.Add(time.Hour)} {
		slot := s.SlotAt(t, 4, start)
		s.Exec(t, `INSERT INTO reservations (tenant_id, slot_id, party_size, state, number, locale, owner, terms_version, link_hash, source, attendance, created_at, confirmed_at, erased_at)
			VALUES ($1, $2, 3, 'confirmed', $3, 'ja', 'o', 1, sha256($3::text::bytea), 'web', CASE WHEN $4 THEN 'arrived' ELSE 'no_show' END, now(), now(), now())`, s.Tenant.ID, slot.ID, fmt.Sprint("N", i), i%2 == 0)
	}
	cancelled := s.SlotAt(t, 4, before.Add(24*time.Hour))
	s.Exec(t, "UPDATE slots SET status = 'cancelled' WHERE id = $1", cancelled.ID)
	rows, err := s.Store.At(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)).Occupancy(t.Context(), insight(s, before.Add(-time.Hour), after.Add(time.Hour)))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]store.Occupancy{}
	for _, r := range rows {
		switch r.Of {
		case "hour":
			got[fmt.Sprint(r.Weekday, "/", r.Hour)] = r
		case "week":
			got[r.Week] = r
		default:
			got["all"] = r
		}
	}
	if r := got["7/10"]; r.Slots != 2 || r.Capacity != 8 || r.Booked != 6 {
		t.Errorf("Sunday at ten: %+v", r)
	}
	if r := got["7/1"]; r.Slots != 2 || r.Booked != 6 {
		t.Errorf("the hour that came twice: %+v", r)
	}
	if r := got["2026-10-19"]; r.Slots != 1 || r.Booked != 3 {
		t.Errorf("the first week: %+v", r)
	}
	if r := got["all"]; r.Slots != 4 || r.SlotsCancelled != 1 || r.Past != 12 || r.Arrived != 6 || r.PartiesArrived != 2 || r.PartiesNoShow != 2 || r.PartiesUnmarked != 0 {
		t.Errorf("all: %+v", r)
	}
	// Rows put in by hand have no history.
	s.Exec(t, "DELETE FROM reservations")
}

func TestNothingHasNumbersOfNothing(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	rows, err := s.Store.Occupancy(t.Context(), all(s))
	if err != nil || len(rows) != 1 || rows[0].Of != "all" || rows[0].Slots != 0 {
		t.Errorf("%v %+v", err, rows)
	}
	if f, err := s.Store.Funnel(t.Context(), all(s)); err != nil || f != (store.Funnel{}) {
		t.Errorf("%v %+v", err, f)
	}
	if got := freed(t, s); got["all"] != 0 {
		t.Errorf("%v", got)
	}
}

func TestTheFunnelAddsUp(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 1)
	first := s.Book(t, slot, 1)
	a, b, c, d, e := s.Join(t, slot, 1), s.Join(t, slot, 1), s.Join(t, slot, 1), s.Join(t, slot, 1), s.Join(t, slot, 1)
	if _, err := s.Store.Withdraw(t.Context(), store.Press{TenantID: e.TenantID, ID: e.ID, Actor: shop.Customer}); err != nil {
		t.Fatal(err)
	}
	s.Cancel(t, first) // a is offered
	if _, err := s.Store.Decline(t.Context(), store.Press{TenantID: a.TenantID, ID: a.ID, Actor: shop.Customer}); err != nil {
		t.Fatal(err)
	}
	s.Exec(t, "UPDATE waitlist_entries SET shown_until = now() - interval '20 minutes', expires_at = now() - interval '10 minutes' WHERE id = $1", b.ID)
	if _, err := s.Store.Sweep(t.Context()); err != nil { // b lapses, c is offered
		t.Fatal(err)
	}
	if _, err := s.Store.Accept(t.Context(), store.AcceptRequest{TenantID: c.TenantID, ID: c.ID, TermsVersion: 1, Actor: shop.Customer}); err != nil {
		t.Fatal(err)
	}
	_ = d // waits on
	got, err := s.Store.Funnel(t.Context(), all(s))
	want := store.Funnel{Joined: 5, Offered: 3, Accepted: 1, Lapsed: 1, Declined: 1, Withdrawn: 1, Waiting: 1}
	if err != nil || got != want {
		t.Errorf("%v %+v, want %+v", err, got, want)
	}
	// The one seat came free once, whatever went through two hands before it was booked.
	if f := freed(t, s); f["offer"] != 1 || f["all"] != 1 {
		t.Errorf("%v", f)
	}
	// A slot that is cancelled is not counted.
	if _, err := s.Store.CancelSlot(t.Context(), store.SlotRequest{TenantID: slot.TenantID, SlotID: slot.ID, Reason: "r", Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Store.Funnel(t.Context(), all(s)); err != nil || got.Joined != 0 {
		t.Errorf("%v %+v", err, got)
	}
}

func TestWhatBecameOfFreedSeats(t *testing.T) {
	t.Parallel()
	s := shop.New(t, func(p *store.Policies) { p.CancelBefore = 0 })
	// A party of three gives back its seats; two of them are booked by somebody else, the third stays.
	slot := s.Slot(t, 5)
	three := s.Book(t, slot, 3)
	s.Cancel(t, three)
	s.Book(t, slot, 2)
	if got := freed(t, s); got["booking"] != 2 || got["ahead"] != 1 || got["all"] != 3 {
		t.Errorf("a party: %v", got)
	}
	past(t, s, slot, 3)
	// (The period of these tests reaches back.)
	if got := freed(t, s); got["booking"] != 2 || got["empty"] != 1 {
		t.Errorf("begun: %v", got)
	}

	// A smaller party and a move free seats as well; what a move takes is a booking in the other slot.
	s.Exec(t, "UPDATE slots SET status = 'cancelled' WHERE id = $1", slot.ID)
	a, b := s.Slot(t, 4), s.Slot(t, 4)
	four := s.Book(t, a, 4)
	if _, _, err := s.Store.ChangeParty(t.Context(), store.PartyRequest{TenantID: a.TenantID, ID: four.ID, PartySize: 2, Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	if got := freed(t, s); got["ahead"] != 2 || got["all"] != 2 {
		t.Errorf("smaller: %v", got)
	}
	gone := s.Book(t, b, 3)
	cancelBy(t, s, gone, shop.Staff)
	if _, err := s.Store.Move(t.Context(), store.MoveRequest{TenantID: a.TenantID, ID: four.ID, TargetSlot: b.ID, TargetTerms: 1, Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	// a: 2 + 2 came free and wait; b: 3 came free, the two that moved in have two of them.
	if got := freed(t, s); got["booking"] != 2 || got["ahead"] != 5 || got["all"] != 7 {
		t.Errorf("moved: %v", got)
	}
	s.Exec(t, "UPDATE slots SET status = 'open' WHERE id = $1", slot.ID)
}

// Seats that were added for one booking end with it: none came free.
func TestExtraSeatsDoNotComeFree(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 1)
	s.Book(t, slot, 1)
	extra, _, err := s.Store.Book(t.Context(), store.BookRequest{TenantID: slot.TenantID, SlotID: slot.ID, PartySize: 2, Contact: s.Person(), Key: "k", ExtraReason: "補助席", Actor: shop.Staff})
	if err != nil {
		t.Fatal(err)
	}
	cancelBy(t, s, extra, shop.Staff)
	if got := freed(t, s); got["all"] != 0 {
		t.Errorf("%v", got)
	}
}

func TestTheTimeToRefill(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	for i, minutes := range []int{10, 20, 60} {
		slot := s.Slot(t, 1)
		s.Cancel(t, s.Book(t, slot, 1))
		again := s.Book(t, slot, 1)
		// The clock of the history is put apart; the cancellation stands so long before the second booking.
		s.Exec(t, "UPDATE events SET at = at - make_interval(mins => $2) WHERE slot_id = $1 AND (subject_id <> $3 OR kind = 'held')", slot.ID, minutes, again.ID)
		_ = i
	}
	rows, err := s.Store.FreedSeats(t.Context(), all(s))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(rows, func(r store.FreedSeats) bool { return r.Outcome == "all" })
	if i < 0 || len(rows[i].Quartiles) != 3 || math.Abs(rows[i].Quartiles[1]-1200) > 10 || math.Abs(rows[i].Quartiles[0]-900) > 10 || math.Abs(rows[i].Quartiles[2]-2400) > 10 {
		t.Errorf("%+v", rows)
	}
}

func TestLeadsAndErasedRowsStillCount(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 10)
	kept, byCustomer, byStaff := s.Book(t, slot, 2), s.Book(t, slot, 1), s.Book(t, slot, 3)
	s.Cancel(t, byCustomer)
	cancelBy(t, s, byStaff, shop.Staff)
	read := func() map[string]int {
		rows, err := s.Store.Leads(t.Context(), all(s))
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]int{}
		for _, r := range rows {
			// All of it happened ten days ahead.
			out[fmt.Sprint(r.What, r.Channel, r.Class)] = r.Seats
		}
		return out
	}
	before := read()
	if before["booked5"] != 2 || before["cancelledcustomer5"] != 1 || before["cancelledstaff5"] != 3 || len(before) != 3 {
		t.Errorf("%v", before)
	}
	for _, r := range []store.Reservation{byCustomer, byStaff} {
		if _, err := s.Store.ErasePerson(t.Context(), store.EraseRequest{TenantID: r.TenantID, ID: r.ID, Reason: "依頼", Actor: shop.Staff}); err != nil {
			t.Fatal(err)
		}
	}
	if after := read(); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("erased: %v, before %v", after, before)
	}
	if got := freed(t, s); got["all"] != 4 {
		t.Errorf("erased: %v", got)
	}
	_ = kept
}

func TestNumbersStayWithinTheirTenant(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 1)
	leaver := s.Book(t, slot, 1)
	s.Join(t, slot, 1)
	s.Cancel(t, leaver)
	q := all(s)
	q.TenantID = s.AddTenant(t, "other", nil).ID
	q.ServiceID = s.Service.ID
	rows, err := s.Store.Occupancy(t.Context(), q)
	if err != nil || len(rows) != 1 || rows[0].Slots != 0 {
		t.Errorf("%v %+v", err, rows)
	}
	if f, err := s.Store.Funnel(t.Context(), q); err != nil || f.Joined != 0 {
		t.Errorf("%v %+v", err, f)
	}
	if f, err := s.Store.FreedSeats(t.Context(), q); err != nil || len(f) != 1 || f[0].Seats != 0 {
		t.Errorf("%v %+v", err, f)
	}
	if l, err := s.Store.Leads(t.Context(), q); err != nil || len(l) != 0 {
		t.Errorf("%v %+v", err, l)
	}
}
