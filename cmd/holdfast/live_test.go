package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

// instance is one more instance of the program on the database of a product.
type instance struct {
	base string
	log  *lockedBuffer
	stop func() (code int, took time.Duration)
}

func (p *product) another(t *testing.T) *instance {
	t.Helper()
	port := freePort(t)
	i := &instance{base: "http://localhost:" + port, log: &lockedBuffer{}}
	settings := map[string]string{
		"DATABASE_URL": p.DSN, "HOLDFAST_SECRET": string(shop.Secret), "HOLDFAST_DATA_DIR": t.TempDir(), "HOLDFAST_ADDR": "127.0.0.1:" + port,
		"HOLDFAST_PUBLIC_URL": i.base, "HOLDFAST_RATE_LIMIT": "off", "HOLDFAST_SWEEP": "off", "HOLDFAST_DISPATCH": "off",
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan int, 1)
	go func() {
		done <- Run(ctx, []string{"serve"}, func(name string) string { return settings[name] }, strings.NewReader(""), io.Discard, i.log)
	}()
	ended := false
	i.stop = func() (int, time.Duration) {
		ended = true
		began := time.Now()
		cancel()
		return <-done, time.Since(began)
	}
	t.Cleanup(func() {
		if !ended {
			i.stop()
		}
		if t.Failed() {
			t.Logf("the other instance's log:\n%s", i.log)
		}
	})
	p.Until(t, func() bool {
		answer, err := http.Get(i.base + "/readyz")
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	}, func() string { return "the other instance does not get ready: " + i.log.String() })
	return i
}

// follow opens a stream and gives what it sends, line by line, until it ends.
func follow(t *testing.T, address string) <-chan string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "text/event-stream")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d", address, answer.StatusCode)
	}
	lines := make(chan string, 1000)
	go func() {
		defer close(lines)
		defer answer.Body.Close()
		for scan := bufio.NewScanner(answer.Body); scan.Scan(); {
			lines <- scan.Text()
		}
	}()
	return lines
}

// hears waits for a line with the words, and tells how long that took.
func hears(t *testing.T, lines <-chan string, words string) time.Duration {
	t.Helper()
	began := time.Now()
	limit := time.NewTimer(20 * time.Second)
	defer limit.Stop()
	for {
		select {
		case line, open := <-lines:
			if !open {
				t.Fatalf("the stream ended before it said %q", words)
			}
			if strings.Contains(line, words) {
				return time.Since(began)
			}
		case <-limit.C:
			t.Fatalf("the stream does not say %q", words)
		}
	}
}

// holdAt presses the hold form at an instance.
func holdAt(t *testing.T, base string, slot store.Slot, key string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.PostForm(base+"/shop/slots/"+slot.ID+"/hold", url.Values{"party_size": {"1"}, "terms_version": {"1"}, "idempotency_key": {key}})
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusSeeOther {
		t.Fatalf("hold: %d", answer.StatusCode)
	}
}

func TestAChangeByOneInstanceReachesTheViewersOfAnother(t *testing.T) {
	t.Parallel()
	p := serveProduct(t, nil)
	other := p.another(t)
	slot := p.Slot(t, 9)
	lines := follow(t, other.base+"/shop/slots/"+slot.ID+"/live?shows=hold")
	hears(t, lines, `data-seats-left="9"`)
	// At the very beginning the other may not listen yet: then its poll brings it.
	holdAt(t, p.base, slot, "the first key of all of them")
	hears(t, lines, `data-seats-left="8"`)
	best := time.Hour
	for i, want := range []string{"7", "6", "5"} {
		holdAt(t, p.base, slot, "another key, number "+string('a'+rune(i)))
		best = min(best, hears(t, lines, `data-seats-left="`+want+`"`))
	}
	if best > 1500*time.Millisecond { // sooner than the poll, which reads every 2 s
		t.Errorf("the quickest of three changes took %v", best)
	}

	// Whoever listens is cut off, and a change comes that nobody tells of.
	var cut int
	if err := p.Pool.QueryRow(t.Context(), `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND query ILIKE 'listen %'`).Scan(&cut); err != nil {
		t.Fatal(err)
	}
	if cut != 2 {
		t.Errorf("%d connections listened, want one of each instance", cut)
	}
	p.Hold(t, slot, 1)
	hears(t, lines, `data-seats-left="4"`)
	// They listen again.
	p.Until(t, func() bool {
		var listening int
		if err := p.Pool.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query ILIKE 'listen %'`).Scan(&listening); err != nil {
			t.Fatal(err)
		}
		return listening == 2
	}, func() string { return "they do not listen again" })
	holdAt(t, p.base, slot, "the key after the connection was lost")
	hears(t, lines, `data-seats-left="3"`)

	// Stopping does not wait for those who look.
	more := follow(t, other.base+"/shop/slots/"+slot.ID+"/live?shows=hold")
	hears(t, more, `data-seats-left="3"`)
	code, took := other.stop()
	if code != 0 || took > 5*time.Second {
		t.Errorf("with open streams it ended with %d after %v", code, took)
	}
	for range more {
	}
	for range lines {
	}
	for _, log := range []string{p.log.String(), other.log.String()} {
		if strings.Contains(log, "level=ERROR") {
			t.Errorf("the log has errors:\n%s", log)
		}
	}
}

// TestTheStaffsDayFollowsEveryInstance opens the day at one instance and the calendar at another, and presses at
// both: each follows at once, in place.
func TestTheStaffsDayFollowsEveryInstance(t *testing.T) {
	t.Parallel()
	p := serveProduct(t, nil)
	other := p.another(t)
	slot := p.Slot(t, 5)
	date := slot.StartsAt.In(p.Tenant.Location()).Format("2006-01-02")
	counter := screenSize{"tablet", 1024, 768}
	day, calendar := p.visitor(t, counter, true), p.visitor(t, counter, true)
	for _, v := range []*visitor{day, calendar} {
		v.signIn()
	}
	day.open("/staff/shop/today?date=" + date)
	calendar.open(other.base + "/staff/shop/calendar?week=" + date) // a cookie is for all ports of a host
	day.sees(`[data-slot="` + slot.ID + `"][data-seats-left="5"]`)
	calendar.sees(`[data-slot="` + slot.ID + `"][data-seats-left="5"]`)
	for _, v := range []*visitor{day, calendar} {
		ask[bool](v, `window.samePage = true`)
		ask[bool](v, `document.querySelector('[data-slot="`+slot.ID+`"] a').focus(), true`)
	}
	left, best := 5, time.Hour
	for i, base := range []string{p.base, other.base, p.base} {
		holdAt(t, base, slot, "a key of the counter, number "+string('a'+rune(i)))
		left--
		want := fmt.Sprintf(`[data-slot="%s"][data-seats-left="%d"]`, slot.ID, left)
		began := time.Now()
		day.sees(want)
		calendar.sees(want)
		best = min(best, time.Since(began))
	}
	if best > 3*time.Second { // sooner than the pages ask by themselves, which is every 15 s
		t.Errorf("the quickest of three changes took %v", best)
	}
	for _, v := range []*visitor{day, calendar} {
		if !ask[bool](v, `window.samePage && document.activeElement.matches('[data-slot="`+slot.ID+`"] a')`) {
			t.Error("the page was loaded anew, or the focus was lost")
		}
	}
	// Without a stream the poll brings it: the fallback is on the page, and needs nothing but the page.
	if !ask[bool](day, `document.querySelector("#staff-day").getAttribute("hx-trigger").startsWith("every 15s")`) {
		t.Error("nothing polls")
	}
	for _, log := range []string{p.log.String(), other.log.String()} {
		if strings.Contains(log, "level=ERROR") {
			t.Errorf("the log has errors:\n%s", log)
		}
	}
}

func TestAnOpenPageFollowsWhatOthersDo(t *testing.T) {
	t.Parallel()
	p := serveProduct(t, nil)
	slot := p.Slot(t, 2)
	path := "/shop/slots/" + slot.ID
	watching := p.visitor(t, phone, true)
	watching.open(path)
	watching.sees(`form[action$="/hold"]`)
	staff := p.visitor(t, desktop, true)
	staff.signIn()
	staff.open("/staff/shop/today?date=" + slot.StartsAt.In(p.Tenant.Location()).Format("2006-01-02"))
	staff.sees(`[data-slot="` + slot.ID + `"][data-seats-left="2"]`)
	const unchanged = `window.samePage = true; document.querySelector("#main form [name=party_size][value='2']").click(); document.querySelector("#main form button[type=submit]").focus(); true`
	ask[bool](watching, unchanged)
	ask[bool](staff, `window.samePage = true`)

	p.Book(t, slot, 1)
	watching.sees(`.slot-status[data-seats-left="1"]`)

	buyer := p.visitor(t, phone, true)
	buyer.open(path)
	buyer.press(`form[action$="/hold"] button[type=submit]`, `[data-state="held"]`)
	watching.sees(`.slot-status[data-state="waitlist"]`)
	watching.sees(`[data-live-note="full"] a`)
	if !ask[bool](watching, `window.samePage && document.querySelector("#main form [name=party_size][value='2']").checked && document.activeElement.matches("#main form button[type=submit]")`) {
		t.Error("the form that was being filled in was disturbed")
	}
	p.Until(t, func() bool {
		return strings.Contains(ask[string](watching, `document.querySelector("#say").textContent`), "うまりました")
	},
		func() string { return "the change is not said aloud" })
	staff.sees(`[data-slot="` + slot.ID + `"][data-seats-left="0"]`)
	if !ask[bool](staff, `window.samePage`) {
		t.Error("the staff's page was loaded anew")
	}
	watching.press(`[data-live-note="full"] a`, `form[action$="/waitlist"]`)

	// A place in the queue: what moves it comes by itself.
	ahead := p.Join(t, slot, 1)
	watching.fill("name", "鈴木 次郎")
	watching.fill("email", "jiro@example.com")
	watching.press(`form[action$="/waitlist"] button[type=submit]`, `[data-place="2"]`)
	ask[bool](watching, `window.samePage = true`)
	if _, err := p.Store.Withdraw(t.Context(), store.Press{TenantID: ahead.TenantID, ID: ahead.ID, Actor: shop.Customer}); err != nil {
		t.Fatal(err)
	}
	watching.sees(`[data-place="1"]`)
	if text := ask[string](watching, `document.querySelector(".queue-story").innerText`); !strings.Contains(text, "前の方がお待ちをやめた") || !ask[bool](watching, `window.samePage`) {
		t.Errorf("the queue's story says %q", text)
	}
	// Its turn comes: the page becomes the offer.
	buyer.do(chromedp.Click(chromedp.CSS(`form[action$="/release"] button[type=submit]`)))
	watching.sees(`.entry-head[data-state="offered"]`)
	if noise := p.log.String(); strings.Contains(noise, "level=ERROR") {
		t.Errorf("the log has errors:\n%s", noise)
	}
}
