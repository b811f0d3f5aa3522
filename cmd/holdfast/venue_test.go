package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"holdfast/store/storetest/shop"
)

// promise asks the page for what comes later.
func promise[T any](v *visitor, js string) T {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(v.ctx, 60*time.Second)
	defer cancel()
	answer, err := chromedp.Run(ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
	if err != nil {
		v.t.Fatalf("%s: %v", js, err)
	}
	return answer
}

func TestTheMonthLeadsToADayByKeyboard(t *testing.T) {
	t.Parallel()
	p := serveProduct(t, nil)
	slot := p.Slot(t, 10)
	date := slot.StartsAt.In(p.Tenant.Location()).Format(time.DateOnly)
	for _, scripts := range []bool{true, false} {
		v := p.visitor(t, phone, scripts)
		v.open("/shop?date=" + date)
		v.press(`a.view[href*="month="]`, `table[data-month]`)
		if !strings.Contains(v.location(), "month="+date[:7]) {
			t.Errorf("the month is at %s", v.location())
		}
		day := fmt.Sprintf(`[data-month] a[data-date=%q]`, date)
		v.sees(day + `[data-state="free"]`)
		v.do(chromedp.Focus(chromedp.CSS(day)))
		if scripts && ask[bool](v, fmt.Sprintf(`!!document.querySelector(%q).closest("td").nextElementSibling?.querySelector("a")`, day)) {
			v.do(chromedp.KeyEvent(kb.ArrowRight))
			if got := ask[string](v, `document.activeElement.dataset.date`); got <= date {
				t.Errorf("the arrow leads to %q", got)
			}
			v.do(chromedp.KeyEvent(kb.ArrowLeft))
		}
		if got := ask[string](v, `document.activeElement.dataset.date`); got != date {
			t.Errorf("the focus is on %q", got)
		}
		v.do(chromedp.KeyEvent(kb.Enter), chromedp.WaitReady(chromedp.CSS(fmt.Sprintf(`a[data-slot=%q]`, slot.ID))))
		if !strings.Contains(v.location(), "date="+date) {
			t.Errorf("the day is at %s", v.location())
		}
	}
}

// The venue's clock is named where the visitor's shows another time, and only there.
func TestTheVenuesZoneIsNamedToThoseWhoseClockDiffers(t *testing.T) {
	t.Parallel()
	p := serveProduct(t, nil)
	slot := p.Slot(t, 10)
	path := "/shop?date=" + slot.StartsAt.In(p.Tenant.Location()).Format(time.DateOnly)
	shown := `[...document.querySelectorAll("[data-zone]")].filter(e => e.checkVisibility({visibilityProperty: true})).length`
	for _, size := range []screenSize{phone, desktop} {
		v := p.visitor(t, size, true)
		for zone, want := range map[string]bool{"America/New_York": true, "Asia/Tokyo": false, "Asia/Seoul": false, "Europe/Paris": true} {
			call(v, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: zone})
			v.open(path)
			if got := ask[int](v, shown); (got > 0) != want || got > 1 {
				t.Errorf("%s on a %s: %d notes are seen", zone, size.name, got)
			}
		}
	}
	without := p.visitor(t, phone, false)
	call(without, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "America/New_York"})
	without.open(path)
	if body := ask[string](without, `document.querySelector("#foot").innerText`); !strings.Contains(body, "日本時間（UTC+9）") {
		t.Errorf("without a script the foot does not name the zone: %q", body)
	}
}

// TestTheCalendarStandsOnTheShopsOwnSite opens a page of another site that
// frames the calendar: it shows there only where the tenant says so, leaves no
// cookie, and a slot opens outside the frame.
func TestTheCalendarStandsOnTheShopsOwnSite(t *testing.T) {
	t.Parallel()
	p := serveProduct(t, nil)
	slot := p.Slot(t, 10)
	date := slot.StartsAt.In(p.Tenant.Location()).Format(time.DateOnly)
	shopSite := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!DOCTYPE html><meta name="viewport" content="width=device-width"><title>A shop</title><body style="margin: 0"><iframe src="%s/shop/embed?date=%s" style="width: 100%%; height: 800px; border: 0; display: block" onload="document.title = 'loaded'"></iframe>`, p.base, date)
	}))
	t.Cleanup(shopSite.Close)
	v := p.visitor(t, phone, true)
	// Where the slot stands in the frame: the frame is as wide as the window.
	v.open("/shop/embed?date=" + date)
	type point struct{ X, Y float64 }
	at := ask[point](v, fmt.Sprintf(`(r => ({X: r.x + r.width / 2, Y: r.y + r.height / 2}))(document.querySelector('.day.current [data-slot=%q]').getBoundingClientRect())`, slot.ID))
	if at.Y <= 0 || at.Y > 800 {
		t.Fatalf("the slot stands at %v", at)
	}
	framed := func() {
		t.Helper()
		v.open(shopSite.URL)
		p.Until(t, func() bool { return ask[string](v, `document.title`) == "loaded" }, func() string { return "the frame does not load" })
	}
	framed()
	v.do(chromedp.MouseClickXY(at.X, at.Y))
	if !strings.HasPrefix(v.location(), shopSite.URL) {
		t.Fatalf("a site that may not frame the calendar shows it: %s", v.location())
	}
	origin := strings.Replace(shopSite.URL, "localhost", "127.0.0.1", 1)
	if out := p.embed(t, "--origin", origin); !strings.Contains(out, origin) {
		t.Errorf("tenant embed says %q", out)
	}
	framed()
	p.Until(t, func() bool {
		if strings.HasPrefix(v.location(), p.base+"/shop/slots/") {
			return true
		}
		v.do(chromedp.MouseClickXY(at.X, at.Y)) // the frame may not have painted when it says that it is loaded
		return false
	}, func() string { return "the slot does not open outside the frame: " + v.location() })
	v.sees(`form[action$="/hold"]`)
	cookies := call(v, network.GetCookies, network.GetCookiesParams{URLs: []string{p.base}})
	if len(cookies.Cookies) > 0 {
		t.Errorf("looking at the calendar left the cookie %s", cookies.Cookies[0].Name)
	}
	if out := p.embed(t); !strings.Contains(out, "no site") {
		t.Errorf("tenant embed says %q", out)
	}
}

// embed runs the command that says which sites may frame the calendar.
func (p *product) embed(t *testing.T, args ...string) string {
	t.Helper()
	return settings{"DATABASE_URL": p.DSN, "HOLDFAST_SECRET": string(shop.Secret), "HOLDFAST_DATA_DIR": t.TempDir()}.fine(t, "", append([]string{"tenant", "embed", "--tenant", "shop"}, args...)...)
}

// layoutShift is what moved on the page since it began, as browsers count it.
const layoutShift = `new Promise(done => {
	let sum = 0, moved = [];
	const add = list => { for (const e of list) if (!e.hadRecentInput) {
		sum += e.value;
		for (const s of e.sources) moved.push((s.node?.parentElement?.className || "") + " " + (s.node?.className || s.node?.nodeName || "") + JSON.stringify([s.previousRect, s.currentRect]));
	} };
	const o = new PerformanceObserver(list => add(list.getEntries()));
	o.observe({type: "layout-shift", buffered: true});
	document.fonts.ready.then(() => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => { add(o.takeRecords()); done({Sum: sum, Moved: moved}); }, 600))));
})`

// shifted is how much has moved, and what.
type shifted struct {
	Sum   float64
	Moved []string
}

const firstPaint = `(performance.getEntriesByName("first-contentful-paint")[0] || {startTime: -1}).startTime`

// The most that may move, and the latest that something is seen on a slow
// phone: a guard against a page that waits for a script or grows while it
// loads, on a machine that does other things too.
const (
	mostShift       = 0.02
	latestPaint     = 10 * time.Second // an idle machine needs a fifth; the figures stand in the README
	slowDown        = 1.6e6 / 8        // bytes a second, as slow 4G is emulated elsewhere
	slowUp          = 750e3 / 8
	slowLatency     = 150 // ms
	slowerProcessor = 4
)

// TestPagesStandStillAndPaintEarly measures layout shift on phone and desktop,
// and the first paint of a visitor who comes for the first time, with a slow
// network and processor.
func TestPagesStandStillAndPaintEarly(t *testing.T) {
	t.Parallel()
	p := serveProduct(t, nil)
	slot := p.Slot(t, 10)
	for range 6 {
		p.Slot(t, 4)
	}
	held := p.Hold(t, slot, 2)
	date := slot.StartsAt.In(p.Tenant.Location()).Format(time.DateOnly)
	pages := []struct{ name, path string }{
		{"venue", "/shop?date=" + date},
		{"month", "/shop?month=" + date[:7]},
		{"embed", "/shop/embed?date=" + date},
		{"slot", "/shop/slots/" + slot.ID},
		{"hold", "/shop/reservations/" + p.Store.ReservationToken(held)},
	}
	look := func(path string, size screenSize) (shifted, time.Duration) {
		v := p.visitor(t, size, true) // a new one each: nothing is cached
		call(v, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "America/New_York"})
		if size == phone {
			call(v, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{
				{Latency: slowLatency, DownloadThroughput: slowDown, UploadThroughput: slowUp},
			}})
			call(v, emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: slowerProcessor})
		}
		v.open(path)
		shift := promise[shifted](v, layoutShift)
		return shift, time.Duration(ask[float64](v, firstPaint) * float64(time.Millisecond))
	}
	for _, page := range pages {
		for _, size := range []screenSize{phone, desktop} {
			var paint time.Duration
			// A machine that is busy paints late; a page that is too heavy does so each time.
			for range 3 {
				var shift shifted
				shift, paint = look(page.path, size)
				t.Logf("%s on a %s: layout shift %.4f, first contentful paint %d ms", page.name, size.name, shift.Sum, paint.Milliseconds())
				if shift.Sum > mostShift {
					t.Errorf("%s on a %s moves by %.4f, at most %.2f: %s", page.name, size.name, shift.Sum, mostShift, strings.Join(shift.Moved, "\n"))
				}
				if paint > 0 && paint <= latestPaint {
					break
				}
			}
			if paint <= 0 || paint > latestPaint {
				t.Errorf("%s on a %s paints after %v, at most %v", page.name, size.name, paint, latestPaint)
			}
		}
	}
	// The measurement sees what moves.
	v := p.visitor(t, phone, true)
	v.open(pages[0].path)
	promise[bool](v, `new Promise(done => setTimeout(() => {
		const box = document.createElement("div");
		box.style.height = "300px";
		document.querySelector("#main").prepend(box);
		requestAnimationFrame(() => requestAnimationFrame(() => done(true)));
	}, 600))`)
	if shift := promise[shifted](v, layoutShift); shift.Sum <= mostShift {
		t.Errorf("a page that moves by a third counts as %.4f", shift.Sum)
	}
}

func TestTenantEmbedRefusesWhatIsNoOrigin(t *testing.T) {
	t.Parallel()
	for _, origin := range []string{"*", "example.com", "http://example.com", "https://example.com/shop"} {
		r := settings{}.run(t, "", "tenant", "embed", "--tenant", "shop", "--origin", origin)
		if r.code != exitUsage || !strings.Contains(r.errors, "https://www.example.com") {
			t.Errorf("%s: exit %d, %s", origin, r.code, r.errors)
		}
	}
	if r := (settings{}).run(t, "", "tenant", "embed", "--origin", "https://example.com"); r.code != exitUsage || !strings.Contains(r.errors, "--tenant") {
		t.Errorf("no tenant: exit %d, %s", r.code, r.errors)
	}
}
