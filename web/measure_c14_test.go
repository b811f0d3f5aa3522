//go:build measure

package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest"
	"holdfast/store/storetest/seed"
	"holdfast/store/storetest/shop"
	"holdfast/views"
)

// What a page and a press may take on a quiet machine, and how much a noisy one is forgiven.
const (
	longestPage  = time.Second
	longestPress = 300 * time.Millisecond
	mostPerPage  = 30
	forgiven     = 2
)

// percentiles gives the middle and the 95th of a hundred.
func percentiles(times []time.Duration) (p50, p95 time.Duration) {
	slices.Sort(times)
	return times[len(times)/2], times[min(len(times)-1, len(times)*95/100)]
}

// TestMeasureLargeBusiness opens every page that a busy day needs, on a business
// of 200 resources, 50,000 slots, 200,000 bookings, 20,000 people who wait and
// 200,000 messages sent; alone, and with 50 visitors at once.
func TestMeasureLargeBusiness(t *testing.T) {
	s := openSite(t, shop.New(t, func(p *store.Policies) { p.HoldsPerVisitor, p.OnePerPerson = 1000, false }, storetest.Conns(16)))
	began := time.Now()
	now := began
	seed.Fill(t, s.Shop, seed.Large, now)
	// Sealed, as those of a business that has run until now; nobody verifies them here.
	conn := s.Conn(t)
	for _, sql := range []string{"SET statement_timeout = 0", "UPDATE events SET seal = '\\x00'", "VACUUM ANALYZE"} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Printf("seed: %v\n", time.Since(began).Round(100*time.Millisecond))
	t.Cleanup(func() {
		// The check at the end of the test is for histories that were made by steps.
		if _, err := conn.Exec(context.WithoutCancel(t.Context()), "SET lock_timeout = 0; TRUNCATE events, outbox, waitlist_entries, reservations CASCADE; UPDATE slots SET taken = 0, version = 0, kept = false"); err != nil {
			t.Error(err)
		}
	})
	staff, guest := asOwner(t, s), s.browser(t)
	loc := s.Tenant.Location()
	day := now.In(loc).AddDate(0, 0, 2).Format(time.DateOnly)
	slots, err := s.Store.Slots(t.Context(), store.SlotQuery{TenantID: s.Tenant.ID, From: now.Add(26 * time.Hour), To: now.Add(80 * time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	var full, free store.Slot
	for _, slot := range slots {
		switch {
		case slot.Waiting > 0 && full.ID == "":
			full = slot
		case slot.SeatsLeft > 3 && free.ID == "":
			free = slot
		}
	}
	roster, err := s.Store.Roster(t.Context(), full.TenantID, full.ID)
	if err != nil {
		t.Fatal(err)
	}
	find := func(text string) func() page {
		return func() page {
			return staff.post(views.StaffSearchURL("shop"), url.Values{views.FieldQuery: {text}})
		}
	}
	month := "?from=" + now.In(loc).AddDate(0, 0, -7).Format(time.DateOnly) + "&to=" + now.In(loc).AddDate(0, 0, 23).Format(time.DateOnly)
	for _, c := range []struct {
		name string
		most int // statements; 0: mostPerPage
		open func() page
	}{
		{"venue", 0, func() page { return guest.get("/shop") }},
		{"venue, a day", 0, func() page { return guest.get("/shop?date=" + day) }},
		{"venue, a month", 0, func() page { return guest.get("/shop?month=" + day[:7]) }},
		{"slot", 0, func() page { return guest.get(views.SlotURL("shop", free.ID)) }},
		{"staff: today", 0, func() page { return staff.get(views.StaffTodayURL("shop")) }},
		{"staff: a day", 0, func() page { return staff.get(views.StaffDayURL("shop", day)) }},
		{"staff: calendar, week", 0, func() page { return staff.get("/staff/shop/calendar?view=week&date=" + day) }},
		{"staff: calendar, month", 0, func() page { return staff.get("/staff/shop/calendar?view=month&date=" + day) }},
		{"staff: slot", 0, func() page { return staff.get(views.StaffSlotURL("shop", full.ID)) }},
		{"staff: search, a name", 0, find("佐藤花子")},
		{"staff: search, a family name", 0, find("佐藤")},
		{"staff: search, one character", 0, find("林")},
		{"staff: search, a reading", 0, find("さとう")},
		{"staff: search, a common piece", 0, find("an")},
		{"staff: search, four digits", 0, find("5678")},
		{"staff: search, a number", 0, find(roster[0].Number)},
		{"staff: search, an address", 0, find(roster[0].Email)},
		{"staff: check-in", 0, func() page { return staff.get(views.StaffCheckinNumberURL("shop", roster[0].Number)) }},
		{"staff: people", 0, func() page { return staff.get("/staff/shop/people") }},
		{"staff: messages", 0, func() page { return staff.get(views.StaffMailURL("shop")) }},
		{"staff: insight", 0, func() page { return staff.get("/staff/shop/insight") }},
		{"staff: exports", 0, func() page { return staff.get(views.StaffExportsURL("shop") + month) }},
		{"staff: roster.csv", 0, func() page { return staff.get(views.StaffSlotURL("shop", full.ID) + "/roster.csv") }},
		// By pages of 500 lines: so many statements, and no time that a page may take.
		{"staff: bookings of a month.csv", 200, func() page { return staff.get(views.StaffExportsURL("shop") + "/reservations.csv" + month) }},
		{"staff: customers of a month.csv", 40, func() page { return staff.get(views.StaffExportsURL("shop") + "/customers.csv" + month) }},
	} {
		most := c.most
		if most == 0 {
			most = mostPerPage
		}
		var got page
		statements := s.Count(func() { got = c.open() })
		if got.status == http.StatusNotFound {
			fmt.Printf("%-34s is not there\n", c.name)
			continue
		}
		if got.status != http.StatusOK {
			// The others are measured all the same.
			t.Errorf("%s: status %d", c.name, got.status)
			continue
		}
		var times []time.Duration
		for range 20 {
			start := time.Now()
			c.open()
			times = append(times, time.Since(start))
		}
		p50, p95 := percentiles(times)
		fmt.Printf("%-34s p50 %8v  p95 %8v  %3d statements  %4d kB\n", c.name, p50.Round(100*time.Microsecond), p95.Round(100*time.Microsecond), statements, len(got.body)/1024)
		if statements > most {
			t.Errorf("%s: %d statements, at most %d", c.name, statements, most)
		}
		if c.most == 0 && p95 > forgiven*longestPage {
			t.Errorf("%s: p95 %v", c.name, p95)
		}
	}

	var holds, confirms []time.Duration
	for i := range 60 {
		slot := slots[i*len(slots)/60]
		if slot.SeatsLeft == 0 {
			slot = free
		}
		start := time.Now()
		held, err := s.Store.Hold(t.Context(), s.HoldRequest(slot, 1))
		if err != nil {
			continue
		}
		holds = append(holds, time.Since(start))
		start = time.Now()
		if _, err := s.Store.Confirm(t.Context(), s.ConfirmRequest(held[0])); err != nil {
			t.Fatal(err)
		}
		confirms = append(confirms, time.Since(start))
	}
	for name, times := range map[string][]time.Duration{"hold": holds, "confirm": confirms} {
		if len(times) < 20 {
			t.Fatalf("only %d of %s", len(times), name)
		}
		p50, p95 := percentiles(times)
		fmt.Printf("%-34s p50 %8v  p95 %8v\n", name, p50.Round(10*time.Microsecond), p95.Round(10*time.Microsecond))
		if p95 > forgiven*longestPress {
			t.Errorf("%s: p95 %v", name, p95)
		}
	}

	// A pass over all, with nothing due and then with a batch; visitors press meanwhile.
	sweep := func(name string, most time.Duration) {
		start := time.Now()
		report, err := s.Store.Sweep(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		took := time.Since(start)
		fmt.Printf("%-34s %v %+v\n", name, took.Round(time.Millisecond), report)
		if took > most {
			t.Errorf("%s took %v", name, took)
		}
	}
	for range 3 { // what was made above is sealed
		sweep("sweep", 20*time.Second)
	}
	sweep("sweep, nothing due", forgiven*longestPage)
	s.Exec(t, "UPDATE slots SET order_until = starts_at - interval '1 hour' WHERE starts_at < now()")
	var held []store.Reservation
	for i := range 200 {
		slot := slots[i*len(slots)/200]
		if slot.SeatsLeft > 1 {
			if got, err := s.Store.Hold(t.Context(), s.HoldRequest(slot, 1)); err == nil {
				held = append(held, got[0])
			}
		}
	}
	s.Exec(t, "UPDATE reservations SET shown_until = now() - interval '2 minutes', expires_at = now() - interval '1 minute' WHERE state = 'held'")
	var mu sync.Mutex
	var waited []time.Duration
	var wg sync.WaitGroup
	stop := make(chan struct{})
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			start := time.Now()
			if _, err := s.Store.Hold(t.Context(), s.HoldRequest(free, 1)); err == nil || store.SoldOut == err {
				mu.Lock()
				waited = append(waited, time.Since(start))
				mu.Unlock()
			}
		}
	})
	sweep(fmt.Sprintf("sweep, %d holds due", len(held)), 10*time.Second)
	close(stop)
	wg.Wait()
	if len(waited) > 0 {
		p50, p95 := percentiles(waited)
		fmt.Printf("%-34s p50 %8v  p95 %8v\n", "hold while it sweeps", p50.Round(10*time.Microsecond), p95.Round(10*time.Microsecond))
		if p95 > forgiven*longestPress {
			t.Errorf("a hold waits for the sweep: p95 %v", p95)
		}
	}

	// Fifty visitors at the same time.
	var together []time.Duration
	for range 50 {
		visitor := s.browser(t)
		wg.Go(func() {
			for _, path := range []string{"/shop?date=" + day, views.SlotURL("shop", free.ID)} {
				start := time.Now()
				visitor.get(path).is(http.StatusOK)
				mu.Lock()
				together = append(together, time.Since(start))
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	p50, p95 := percentiles(together)
	fmt.Printf("%-34s p50 %8v  p95 %8v\n", "50 visitors at once, two pages", p50.Round(time.Millisecond), p95.Round(time.Millisecond))
}
