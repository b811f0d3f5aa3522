package views

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"

	"holdfast/static"
	"holdfast/views/i18n"
)

const staffPolicy = "default-src 'self'; script-src 'nonce-test-nonce' 'strict-dynamic'; style-src 'self'; base-uri 'none'; object-src 'none'"

func staffWrite(t testing.TB, w http.ResponseWriter, status int, page string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", staffPolicy)
	w.WriteHeader(status)
	if _, err := io.WriteString(w, page); err != nil {
		t.Log(err)
	}
}

func staffServe(t testing.TB, mux *http.ServeMux) string {
	t.Helper()
	mux.Handle(static.Prefix, static.Handler())
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// staffComplaints collects what the browser reports, refusals of the policy among them, and fails the test by it.
func staffComplaints(t *testing.T, ctx context.Context) func() {
	t.Helper()
	var mu sync.Mutex
	var said []string
	messages := chromedp.Console(ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			mu.Lock()
			said = append(said, m.String()+" "+m.URL)
			mu.Unlock()
		}
	}()
	return func() {
		mu.Lock()
		defer mu.Unlock()
		for _, s := range said {
			// A refusal with its page is an ordinary answer; the browser notes it all the same.
			if !strings.Contains(s, "409") {
				t.Errorf("the browser complains: %s", s)
			}
		}
	}
}

// staffUntilTrue waits in the page until a condition holds.
func staffUntilTrue(t testing.TB, ctx context.Context, condition string) {
	t.Helper()
	js := `new Promise((done, late) => {
		const look = () => { if (` + condition + `) { stop(); done(true); } };
		const watch = new MutationObserver(look);
		const end = setTimeout(() => { stop(); late(new Error("never: " + document.querySelector("main").textContent.slice(0, 300))); }, 20000);
		const stop = () => { watch.disconnect(); clearTimeout(end); };
		watch.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
		look();
	})`
	if _, err := chromedp.Run(soon(t, ctx), chromedp.Evaluate[bool](js, chromedp.EvalAwaitPromise)); err != nil {
		t.Fatalf("%s: %v", condition, err)
	}
}

// staffSmallTargets takes a box together with its label: both can be pressed. What is there for a store of passwords
// only, and neither seen nor reached, is no target.
var staffSmallTargets = strings.NewReplacer(
	`e.getBoundingClientRect().height <`, `(e.closest("label") || e).getBoundingClientRect().height <`, `e.type !== "hidden"`, `e.type !== "hidden" && e.ariaHidden !== "true"`,
).Replace(smallTargets)

// TestStaffStoriesInABrowser holds for every page: nothing is wider than the narrowest screen, targets are big enough,
// text has contrast in light and dark, and the policy refuses nothing.
func TestStaffStoriesInABrowser(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	for _, s := range staffStories() {
		for _, lang := range i18n.Languages {
			page := staffRender(t, lang, s.page(staffSayIn(lang)))
			mux.HandleFunc("/"+lang+"/"+s.name, func(w http.ResponseWriter, _ *http.Request) { staffWrite(t, w, http.StatusOK, page) })
		}
	}
	base := staffServe(t, mux)
	ctx := browser(t)
	complaints := staffComplaints(t, ctx)
	for _, s := range staffStories() {
		for _, lang := range i18n.Languages {
			screen(t, ctx, 320, 640, "light")
			visit(t, ctx, base+"/"+lang+"/"+s.name)
			if width := ask[int](t, ctx, `document.documentElement.scrollWidth`); width > 320 {
				t.Errorf("%s.%s is %d px wide on a screen of 320", s.name, lang, width)
			}
			for _, target := range ask[[]string](t, ctx, staffSmallTargets) {
				t.Errorf("%s.%s: a target is too small: %s", s.name, lang, target)
			}
			for _, mode := range []string{"light", "dark"} {
				screen(t, ctx, 1024, 768, mode)
				for _, pale := range ask[[]string](t, ctx, paleText) {
					t.Errorf("%s.%s %s: too little contrast: %s", s.name, lang, mode, pale)
				}
			}
		}
	}
	complaints()
	if *shots != "" {
		staffPhotograph(t, ctx, base)
	}
}

// staffPhotograph writes pictures of the stories; -shots-size knows the counter's tablet as well.
func staffPhotograph(t *testing.T, ctx context.Context, base string) {
	t.Helper()
	if err := os.MkdirAll(*shots, 0o755); err != nil {
		t.Fatal(err)
	}
	sizes := map[string][2]int64{"phone": {390, 844}, "narrow": {320, 640}, "tablet": {1024, 768}, "desktop": {1440, 900}}
	for _, s := range staffStories() {
		if !strings.Contains(s.name, *shotsOnly) {
			continue
		}
		for lang := range strings.SplitSeq(*shotsLang, ",") {
			for size := range strings.SplitSeq(*shotsSize, ",") {
				for mode := range strings.SplitSeq(*shotsMode, ",") {
					screen(t, ctx, sizes[size][0], sizes[size][1], mode)
					visit(t, ctx, base+"/"+lang+"/"+s.name)
					png, err := chromedp.Run(soon(t, ctx), chromedp.FullScreenshot(100))
					if err != nil {
						t.Fatal(err)
					}
					file := filepath.Join(*shots, strings.Join([]string{"staff", s.name, lang, size, mode}, ".")+".png")
					if err := os.WriteFile(file, png, 0o644); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
}

// TestStaffCheckInKeepsThePlace checks somebody in: the row changes and nothing else moves, neither the page under the
// finger nor what is being typed for a caller. A refusal shows the whole page with what changed.
func TestStaffCheckInKeepsThePlace(t *testing.T) {
	t.Parallel()
	say := staffSayIn(i18n.JA)
	var arrived, refuse atomic.Bool
	mux := http.NewServeMux()
	slot := func() StaffSlotPage {
		p := staffTestSlot(say)
		if arrived.Load() {
			p.Roster[2].Attendance = "arrived"
			p.Slot.Arrived++
		}
		return p
	}
	mux.HandleFunc("GET "+StaffSlotURL("aozora", "4"), func(w http.ResponseWriter, _ *http.Request) {
		staffWrite(t, w, http.StatusOK, staffRender(t, i18n.JA, StaffSlot(slot())))
	})
	mux.HandleFunc("POST "+StaffSlotAttendanceURL("aozora", "4"), func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue(FieldReservation) != "13" {
			t.Errorf("reservation %q, want 13", r.FormValue(FieldReservation))
		}
		if refuse.Load() {
			p := slot()
			p.Changed = &StaffChanged{Events: staffTestEvents(say)[:1], Pressed: "?", AgainText: "!", AgainURL: StaffSlotAttendanceURL("aozora", "4"), BackURL: StaffSlotURL("aozora", "4")}
			staffWrite(t, w, http.StatusConflict, staffRender(t, i18n.JA, StaffSlot(p)))
			return
		}
		arrived.Store(r.FormValue(FieldAttendance) == "arrived")
		http.Redirect(w, r, StaffSlotURL("aozora", "4"), http.StatusSeeOther)
	})
	base := staffServe(t, mux)
	ctx := browser(t)
	complaints := staffComplaints(t, ctx)
	screen(t, ctx, 390, 700, "light")
	visit(t, ctx, base+StaffSlotURL("aozora", "4"))
	before := ask[float64](t, ctx, `document.querySelector("#book-name").value = "渡辺",
		document.querySelector("#reservation-13 .staff-in").scrollIntoView({block: "center"}), scrollY`)
	ask[bool](t, ctx, `document.querySelector("#reservation-13 .staff-in").click(), true`)
	staffUntilTrue(t, ctx, `document.querySelector("#reservation-13").dataset.attendance === "arrived"`)
	staffUntilTrue(t, ctx, `document.querySelector("#roster-sums").textContent.includes("3")`)
	if after := ask[float64](t, ctx, `scrollY`); after != before {
		t.Errorf("the page moved from %v to %v", before, after)
	}
	if typed := ask[string](t, ctx, `document.querySelector("#book-name").value`); typed != "渡辺" {
		t.Errorf("the caller's name is now %q", typed)
	}
	refuse.Store(true)
	ask[bool](t, ctx, `document.querySelector("#reservation-13 .staff-in").click(), true`)
	staffUntilTrue(t, ctx, `document.querySelector("#changed")`)
	if n := ask[int](t, ctx, `document.querySelectorAll("main").length`); n != 1 {
		t.Errorf("%d main, want one", n)
	}
	complaints()
}

// TestStaffDayUpdatesItself changes the day behind an open page: the numbers follow, and what is typed into the search
// stays. An answer that is an error leaves the page as it is.
func TestStaffDayUpdatesItself(t *testing.T) {
	t.Parallel()
	say := staffSayIn(i18n.JA)
	var booked, polls atomic.Int32
	booked.Store(5)
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+StaffTodayURL("aozora"), func(w http.ResponseWriter, _ *http.Request) {
		if polls.Add(1) == 2 {
			staffWrite(t, w, http.StatusServiceUnavailable, "<h1>busy</h1>")
			return
		}
		p := staffTestToday(say)
		p.Slots[2].Bar.Booked = int(booked.Load())
		p.Slots[2].Bar.Free = 7 - p.Slots[2].Bar.Booked
		staffWrite(t, w, http.StatusOK, strings.Replace(staffRender(t, i18n.JA, StaffToday(p)), `"every 15s, `, `"every 300ms, `, 1))
	})
	base := staffServe(t, mux)
	ctx := browser(t)
	screen(t, ctx, 1024, 768, "light")
	visit(t, ctx, base+StaffDayURL("aozora", "2026-10-08"))
	ask[bool](t, ctx, `document.querySelector("[data-search]").focus(), document.querySelector("[data-search]").value = "さと", window.row = document.querySelector("#slot-3"), true`)
	booked.Store(7)
	staffUntilTrue(t, ctx, `document.querySelector("#slot-3").dataset.seatsLeft === "0"`)
	if typed := ask[string](t, ctx, `document.activeElement.value`); typed != "さと" {
		t.Errorf("the search now holds %q", typed)
	}
	if !ask[bool](t, ctx, `window.row === document.querySelector("#slot-3")`) {
		t.Error("the row was replaced, so a press that had begun on it is lost")
	}
}
