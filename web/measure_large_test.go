//go:build measure

package web

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"holdfast/store"
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
	// slowStatement is named below the page that sends it.
	slowStatement = 50 * time.Millisecond
)

var (
	seedShare  = flag.Float64("seed", 1, "how large the large business is: 1 is all of it")
	seedJIT    = flag.String("jit", "", "jit of the sessions, on or off; empty: as the database says")
	seedPerDay = flag.Int("per-day", seed.Large.PerDay, "how many slots a resource of the large business has on a day: 1 is two thirds of a year, 8 is a month")
)

// percentiles gives the middle and the 95th of a hundred.
func percentiles(times []time.Duration) (p50, p95 time.Duration) {
	slices.Sort(times)
	return times[len(times)/2], times[min(len(times)-1, len(times)*95/100)]
}

// large is the site of a large business.
type large struct {
	*site
	watch      *watcher
	conn       *pgx.Conn // not watched
	now        time.Time
	open       []store.Slot // of the coming days, with seats for more than three
	full, free store.Slot   // one where people wait, and the first of the open ones
}

// openLarge stores the business and opens its site, with the statements of its store watched.
func openLarge(t *testing.T) *large {
	t.Helper()
	sh := shop.New(t, func(p *store.Policies) { p.HoldsPerVisitor, p.OnePerPerson = 1000, false })
	l := &large{watch: &watcher{seen: map[string]*sentSQL{}}, now: time.Now(), conn: sh.Conn(t)}
	size := seed.Large
	size.PerDay = *seedPerDay
	for _, n := range []*int{&size.Resources, &size.Slots, &size.Bookings, &size.Entries, &size.Sent} {
		*n = int(float64(*n) * *seedShare)
	}
	seed.Fill(t, sh, size, l.now)
	fmt.Printf("seed: %+v in %v\n", size, time.Since(l.now).Round(100*time.Millisecond))
	t.Cleanup(func() {
		// The check at the end of the test is for histories that were made by steps.
		if _, err := sh.Pool.Exec(context.WithoutCancel(t.Context()), "TRUNCATE events, outbox, waitlist_entries, reservations, slots CASCADE"); err != nil {
			t.Error(err)
		}
	})
	cfg, err := pgxpool.ParseConfig(sh.DSN)
	if err != nil {
		t.Fatal(err)
	}
	cfg.MaxConns, cfg.ConnConfig.Tracer = 16, l.watch
	if *seedJIT != "" {
		cfg.ConnConfig.RuntimeParams["jit"] = *seedJIT
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	plain := sh.Store
	t.Cleanup(func() {
		pool.Close()
		sh.Store = plain // for the check, which comes last
	})
	if sh.Store, err = store.New(pool, shop.Secret, store.Watch{}); err != nil {
		t.Fatal(err)
	}
	l.site = openSite(t, sh)
	slots, err := sh.Store.Slots(t.Context(), store.SlotQuery{TenantID: sh.Tenant.ID, From: l.now.Add(26 * time.Hour), To: l.now.Add(170 * time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	for _, slot := range slots {
		switch {
		case slot.Waiting > 0:
			l.full = slot
		case slot.SeatsLeft > 3:
			l.open = append(l.open, slot)
		}
	}
	if l.full.ID == "" || len(l.open) < 50 {
		t.Fatal("no slot where people wait, or too few with seats")
	}
	l.free = l.open[0]
	return l
}

// opened is a page that is measured.
type opened struct {
	name string
	most int // statements; 0: mostPerPage, and no longer than a page may take
	open func() page
}

// measure opens a page once to count and to ask the planner, then again and again.
func (l *large) measure(t *testing.T, c opened) {
	most := c.most
	if most == 0 {
		most = mostPerPage
	}
	l.watch.take()
	got := c.open()
	seen, statements := l.watch.take()
	if got.status != http.StatusOK {
		// The others are measured all the same.
		t.Errorf("%s: status %d", c.name, got.status)
		fmt.Printf("%-36s status %d\n", c.name, got.status)
	}
	var times []time.Duration
	begun := time.Now()
	for len(times) < 20 && (len(times) < 3 || time.Since(begun) < 10*time.Second) {
		start := time.Now()
		c.open()
		times = append(times, time.Since(start))
	}
	again, _ := l.watch.take()
	p50, p95 := percentiles(times)
	fmt.Printf("%-36s p50 %8v  p95 %8v  %3d statements  %4d kB\n", c.name, p50.Round(100*time.Microsecond), p95.Round(100*time.Microsecond), statements, len(got.body)/1024)
	for sql, one := range seen {
		if most := again[sql]; most != nil && most.total/time.Duration(most.runs) > slowStatement {
			fmt.Printf("    %v on average, %d times a page: %s\n", (most.total / time.Duration(most.runs)).Round(time.Millisecond), one.runs, one.name)
		}
		tables, err := one.scans(t.Context(), l.conn)
		if err != nil {
			t.Error(err)
		}
		if len(tables) > 0 {
			if !sums(c.name) {
				t.Errorf("%s: %q reads all of %v", c.name, one.name, tables)
			}
			fmt.Printf("    reads all of %v: %s\n", tables, one.name)
		}
	}
	if statements > most {
		t.Errorf("%s: %d statements, at most %d", c.name, statements, most)
	}
	if c.most == 0 && p95 > forgiven*longestPage {
		t.Errorf("%s: p95 %v", c.name, p95)
	}
}

// TestMeasureLargeBusiness opens every page that a busy day needs, on a business
// of 200 resources, 50,000 slots, 200,000 bookings, 20,000 people who wait and
// 200,000 messages sent; makes holds and bookings; sweeps; and lets 50 visitors come at once.
func TestMeasureLargeBusiness(t *testing.T) {
	l := openLarge(t)
	l.pages(t)
	l.presses(t)
	l.sweeps(t)
	l.checks(t)
	l.together(t)
}

// checks makes passes of the watch over the invariants: after forty bookings, after
// nothing, and over all there is. The business was not made by steps, so that its
// histories are found to be broken; looking costs the same.
func (l *large) checks(t *testing.T) {
	if _, err := l.Pool.Exec(t.Context(), `INSERT INTO self_checks (tenant_id, feed, looked_at, full_at) SELECT id, feed_head, now(), now() FROM tenants
		ON CONFLICT (tenant_id) DO UPDATE SET feed = excluded.feed, full_at = excluded.full_at`); err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		held, err := l.Store.Hold(t.Context(), l.HoldRequest(l.open[len(l.open)-1-i], 1))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Store.Confirm(t.Context(), l.ConfirmRequest(held[0])); err != nil {
			t.Fatal(err)
		}
	}
	l.watch.take()
	look := func(name string, o store.WatchOptions, most time.Duration) {
		start := time.Now()
		report, err := l.Store.WatchInvariants(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		took := time.Since(start)
		slots, full := 0, false
		for _, p := range report.Passes {
			slots, full = slots+p.Slots, full || p.Full
		}
		fmt.Printf("%-36s %8v  %d slots\n", name, took.Round(time.Millisecond), slots)
		if took > most {
			t.Errorf("%s took %v", name, took)
		}
		if full {
			l.watch.take()
		} else {
			l.explainAll(t, name)
		}
	}
	changes := store.WatchOptions{Full: 1000 * time.Hour}
	look("check, 40 slots changed", changes, forgiven*longestPage)
	look("check, the same slots once more", changes, forgiven*longestPage)
	changes.Turn = 50
	look("check, with 50 slots in turn", changes, forgiven*longestPage)
	look("check, everything", store.WatchOptions{}, time.Minute)
}

func (l *large) pages(t *testing.T) {
	staff, guest := asOwner(t, l.site), l.browser(t)
	loc := l.Tenant.Location()
	date := func(days int) string { return l.now.In(loc).AddDate(0, 0, days).Format(time.DateOnly) }
	day := date(2)
	roster, err := l.Store.Roster(t.Context(), l.full.TenantID, l.full.ID)
	if err != nil {
		t.Fatal(err)
	}
	one := roster[0]
	held := guest.press(guest.get(views.SlotURL("shop", l.free.ID)), "/hold", nil).location()
	booked := l.browser(t).book(l.free, "seed@example.com")
	waiting := guest.press(guest.get(views.SlotURL("shop", l.full.ID)), "/waitlist", contact("佐藤 次郎", "jiro@example.com")).location()

	at := func(b *browser, path string) func() page { return func() page { return b.get(path) } }
	find := func(path, text string) func() page {
		return func() page { return staff.post(path, url.Values{views.FieldQuery: {text}}) }
	}
	search := func(text string) func() page { return find(views.StaffSearchURL("shop"), text) }
	month := "?from=" + date(-7) + "&to=" + date(23)
	for _, c := range []opened{
		{"venue", 0, at(guest, "/shop")},
		{"venue, a day", 0, at(guest, "/shop?date="+day)},
		{"venue, what is free on a day", 0, at(guest, "/shop?free=1&date="+day)},
		{"venue, one room", 0, at(guest, "/shop?resource=seed-7&date="+day)},
		{"venue, a month", 0, at(guest, "/shop?month="+day[:7])},
		{"venue, next month", 0, at(guest, "/shop?month="+date(20)[:7])},
		{"venue, in a frame", 0, at(guest, "/shop/embed?date="+day)},
		{"slot", 0, at(guest, views.SlotURL("shop", l.free.ID))},
		{"slot, full", 0, at(guest, views.SlotURL("shop", l.full.ID))},
		{"hold", 0, at(guest, held)},
		{"booking", 0, at(guest, booked)},
		{"booking, moving it", 0, at(guest, booked+"/move")},
		{"entry", 0, at(guest, waiting)},
		{"staff: today", 0, at(staff, views.StaffTodayURL("shop"))},
		{"staff: a day", 0, at(staff, views.StaffDayURL("shop", day))},
		{"staff: calendar, week", 0, at(staff, "/staff/shop/calendar?week="+day)},
		{"staff: calendar, month", 0, at(staff, "/staff/shop/calendar?month="+day[:7])},
		{"staff: slot", 0, at(staff, views.StaffSlotURL("shop", l.full.ID))},
		{"staff: slot, history", 0, at(staff, views.StaffSlotURL("shop", l.full.ID)+"/history")},
		{"staff: slot, moving one", 0, at(staff, views.StaffSlotURL("shop", l.full.ID)+"/reservations/"+one.ID+"/move")},
		{"staff: search, a name", 0, search("佐藤花子")},
		{"staff: search, a family name", 0, search("佐藤")},
		{"staff: search, one character", 0, search("林")},
		{"staff: search, a reading", 0, search("さとう")},
		{"staff: search, a common piece", 0, search("an")},
		{"staff: search, four digits", 0, search("5678")},
		{"staff: search, a telephone", 0, search("0" + strings.TrimPrefix(one.Phone, "+81"))},
		{"staff: search, a number", 0, search(one.Number)},
		{"staff: search, an address", 0, search(one.Email)},
		{"staff: check-in", 0, at(staff, views.StaffCheckinNumberURL("shop", one.Number))},
		{"staff: people", 0, at(staff, views.StaffPeopleURL("shop"))},
		{"staff: people, a name", 0, find(views.StaffPeopleURL("shop"), "佐藤")},
		{"staff: person", 0, at(staff, views.StaffPersonURL("shop", one.ID))},
		{"staff: messages", 0, at(staff, views.StaffMailURL("shop"))},
		{"staff: insight, 28 days", 0, at(staff, views.StaffInsightURL("shop"))},
		{"staff: insight, 366 days", 0, at(staff, views.StaffInsightOfURL("shop", views.StaffInsightFilter{From: date(-350), To: date(15)}))},
		{"staff: services", 0, at(staff, views.StaffServicesURL("shop"))},
		{"staff: service", 0, at(staff, views.StaffServiceURL("shop", l.Service.ID))},
		{"staff: service, its policies", 0, at(staff, views.StaffServicePoliciesURL("shop", l.Service.ID))},
		{"staff: resources", 0, at(staff, views.StaffResourcesURL("shop"))},
		{"staff: resource", 0, at(staff, views.StaffResourceURL("shop", l.free.ResourceID))},
		{"staff: closed days", 0, at(staff, views.StaffClosedURL("shop"))},
		{"staff: schedules", 0, at(staff, views.StaffSchedulesURL("shop"))},
		{"staff: schedules, a new one", 0, at(staff, views.StaffScheduleNewURL("shop", nil))},
		{"staff: team", 0, at(staff, views.StaffTeamURL("shop"))},
		{"staff: exports", 0, at(staff, views.StaffExportsURL("shop")+month)},
		{"staff: roster.csv", 0, at(staff, views.StaffSlotURL("shop", l.full.ID)+"/roster.csv")},
		// By pages of lines: so many statements, and no time that a page may take.
		{"staff: bookings of a month.csv", 500, at(staff, views.StaffExportsURL("shop")+"/reservations.csv"+month)},
		{"staff: waitlist of a month.csv", 100, at(staff, views.StaffExportsURL("shop")+"/waitlist.csv"+month)},
		{"staff: customers of a month.csv", 200, at(staff, views.StaffExportsURL("shop")+"/customers.csv"+month)},
	} {
		l.measure(t, c)
	}
}

// bound prints what a press took, and fails the test where that is too long.
func bound(t *testing.T, name string, times []time.Duration) {
	t.Helper()
	if len(times) < 20 {
		t.Fatalf("%s: only %d", name, len(times))
	}
	p50, p95 := percentiles(times)
	fmt.Printf("%-36s p50 %8v  p95 %8v\n", name, p50.Round(10*time.Microsecond), p95.Round(10*time.Microsecond))
	if p95 > forgiven*longestPress {
		t.Errorf("%s: p95 %v", name, p95)
	}
}

// presses holds and confirms, through the pages, and by the store alone.
func (l *large) presses(t *testing.T) {
	var holds, confirms, pressed, confirmed []time.Duration
	l.watch.take()
	since := func(times *[]time.Duration, do func()) {
		start := time.Now()
		do()
		*times = append(*times, time.Since(start))
	}
	guest := l.browser(t)
	for i := range 40 {
		slot := l.open[i*len(l.open)/40]
		var held []store.Reservation
		since(&holds, func() {
			var err error
			if held, err = l.Store.Hold(t.Context(), l.HoldRequest(slot, 1)); err != nil {
				t.Fatal(err)
			}
		})
		since(&confirms, func() {
			if _, err := l.Store.Confirm(t.Context(), l.ConfirmRequest(held[0])); err != nil {
				t.Fatal(err)
			}
		})
		form := guest.get(views.SlotURL("shop", slot.ID))
		var answer page
		since(&pressed, func() { answer = guest.press(form, "/hold", nil).is(http.StatusSeeOther) })
		form = guest.follow(answer)
		since(&confirmed, func() {
			guest.press(form, "/confirm", contact("佐藤 次郎", fmt.Sprintf("press%d@example.com", i))).is(http.StatusSeeOther)
		})
	}
	bound(t, "hold", holds)
	bound(t, "confirm", confirms)
	bound(t, "hold, by the page", pressed)
	bound(t, "confirm, by the page", confirmed)
	l.explainAll(t, "hold and confirm")
}

// explainAll asks the planner about all that was sent since the last time.
func (l *large) explainAll(t *testing.T, name string) {
	t.Helper()
	seen, _ := l.watch.take()
	for _, one := range seen {
		tables, err := one.scans(t.Context(), l.conn)
		if err != nil {
			t.Error(err)
		}
		if len(tables) > 0 {
			t.Errorf("%s: %q reads all of %v", name, one.name, tables)
			fmt.Printf("    reads all of %v: %s\n", tables, one.name)
		}
		if one.longest > slowStatement {
			fmt.Printf("    %v at the longest: %s\n", one.longest.Round(time.Millisecond), one.name)
		}
	}
}

// sweeps makes passes over what the presses left, over nothing, and over a batch of
// holds that are due, while visitors press in the same slots.
func (l *large) sweeps(t *testing.T) {
	sweep := func(name string, most time.Duration) {
		start := time.Now()
		report, err := l.Store.Sweep(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		took := time.Since(start)
		fmt.Printf("%-36s %8v  %+v\n", name, took.Round(time.Millisecond), report)
		if took > most {
			t.Errorf("%s took %v", name, took)
		}
		l.explainAll(t, name)
	}
	for range 3 { // what was made above is sealed, and reminders go out
		sweep("sweep", 20*time.Second)
	}
	sweep("sweep, nothing due", forgiven*longestPage)
	held := 0
	for i := range 500 {
		if _, err := l.Store.Hold(t.Context(), l.HoldRequest(l.open[i%len(l.open)], 1)); err == nil {
			held++
		}
	}
	if _, err := l.Pool.Exec(t.Context(), "UPDATE reservations SET shown_until = now() - interval '2 minutes', expires_at = now() - interval '1 minute' WHERE state = 'held'"); err != nil {
		t.Fatal(err)
	}
	l.watch.take()
	var waited []time.Duration
	var wg sync.WaitGroup
	stop := make(chan struct{})
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			start := time.Now()
			if _, err := l.Store.Hold(t.Context(), l.HoldRequest(l.open[i%len(l.open)], 1)); err != nil && err != store.SoldOut {
				t.Error(err)
				return
			}
			waited = append(waited, time.Since(start))
		}
	})
	sweep(fmt.Sprintf("sweep, %d holds due", held), 10*time.Second)
	close(stop)
	wg.Wait()
	bound(t, "hold while it sweeps", waited)
}

// together lets fifty visitors come at the same time, each with a browser of their own.
func (l *large) together(t *testing.T) {
	day := l.now.In(l.Tenant.Location()).AddDate(0, 0, 2).Format(time.DateOnly)
	for _, c := range []struct{ name, path string }{
		{"50 visitors at once: venue", "/shop?date=" + day},
		{"50 visitors at once: month", "/shop?month=" + day[:7]},
		{"50 visitors at once: slot", views.SlotURL("shop", l.free.ID)},
	} {
		times := make([]time.Duration, 50)
		var wg sync.WaitGroup
		for i := range times {
			visitor := l.browser(t)
			wg.Go(func() {
				start := time.Now()
				if got := visitor.get(c.path); got.status != http.StatusOK {
					t.Errorf("%s: status %d", c.name, got.status)
				}
				times[i] = time.Since(start)
			})
		}
		wg.Wait()
		p50, p95 := percentiles(times)
		fmt.Printf("%-36s p50 %8v  p95 %8v\n", c.name, p50.Round(time.Millisecond), p95.Round(time.Millisecond))
	}
}

// sums reports whether a page is about the whole of a table or of a period, for
// which an index is the longer way: numbers, exports, what still uses a service.
// Nobody who books or serves waits for these.
func sums(page string) bool {
	for _, about := range []string{"insight", "export", ".csv", "service", "resource"} {
		if strings.Contains(page, about) {
			return true
		}
	}
	return false
}
