package views

import (
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"holdfast/views/i18n"
)

// TestStaffKeys presses the keys as somebody at a desktop would.
func TestStaffKeys(t *testing.T) {
	t.Parallel()
	say := staffSayIn(i18n.JA)
	mux := http.NewServeMux()
	page := func(path string, make func() string) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { staffWrite(t, w, http.StatusOK, make()) })
	}
	page(StaffTodayURL("aozora"), func() string { return staffRender(t, i18n.JA, StaffToday(staffTestToday(say))) })
	page(StaffCalendarURL("aozora"), func() string { return staffRender(t, i18n.JA, StaffCalendar(staffTestWeek(say))) })
	page("/staff/aozora/slots/{id}", func() string { return staffRender(t, i18n.JA, StaffSlot(staffTestSlot(say))) })
	page("/month", func() string { return staffRender(t, i18n.JA, StaffCalendar(staffTestMonth(say))) })
	page(StaffKeysURL("aozora"), func() string {
		return staffRender(t, i18n.JA, StaffKeys(StaffKeysPage{Page: staffTestPage(say, "キーボード操作"), Staff: staffTestFrame("")}))
	})
	base := staffServe(t, mux)
	ctx := browser(t)
	complaints := staffComplaints(t, ctx)
	screen(t, ctx, 1440, 900, "light")
	key := func(key string) {
		t.Helper()
		text := key
		if len([]rune(key)) > 1 {
			text = map[string]string{"Enter": "\r"}[key]
		}
		for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeKeyDown, input.DispatchKeyEventTypeKeyUp} {
			p := input.DispatchKeyEventParams{Type: kind, Key: key, Text: text}
			if kind == input.DispatchKeyEventTypeKeyUp {
				p.Text = ""
			}
			command(t, ctx, input.DispatchKeyEvent, p)
		}
	}
	focused := func(what, selector string) {
		t.Helper()
		if !ask[bool](t, ctx, `document.activeElement.matches(`+"`"+selector+"`"+`)`) {
			t.Errorf("%s: the focus is on %s", what, ask[string](t, ctx, `document.activeElement.outerHTML.slice(0, 200)`))
		}
	}
	visit(t, ctx, base+StaffDayURL("aozora", "2026-10-08"))
	key("ArrowDown")
	focused("the first step goes to what is on", `#slot-2 a`)
	key("j")
	focused("j goes on", `#slot-3 a`)
	key("ArrowUp")
	key("k")
	focused("k goes back", `#slot-1 a`)
	key("k")
	focused("there is nothing before the first", `#slot-1 a`)
	key("/")
	focused("/ is for the search", `[data-search]`)
	key("j")
	key("?")
	if typed := ask[string](t, ctx, `document.activeElement.value`); typed != "j?" {
		t.Errorf("what is typed into the search is %q", typed)
	}
	ask[bool](t, ctx, `document.activeElement.blur(), true`)
	key("?")
	staffUntilTrue(t, ctx, `document.querySelector("dialog[open] kbd")`)
	focused("the dialog has the focus", `dialog [data-keys-close] button`)
	key("j")
	focused("keys rest behind the dialog", `dialog [data-keys-close] button`)
	ask[bool](t, ctx, `document.querySelector("dialog [data-keys-on]").click(), document.querySelector("dialog [data-keys-close] button").click(), true`)
	staffUntilTrue(t, ctx, `!document.querySelector("dialog")`)
	key("j")
	key("/")
	focused("the keys are off", `body`)
	visit(t, ctx, base+StaffKeysURL("aozora"))
	if ask[bool](t, ctx, `document.querySelector("[data-keys-on]").checked`) {
		t.Error("the page does not say that the keys are off")
	}
	ask[bool](t, ctx, `document.querySelector("[data-keys-on]").click(), document.activeElement.blur(), true`)
	key("t")

	visit(t, ctx, base+StaffDayURL("aozora", "2026-10-08"))
	turn := func(by, search string) {
		t.Helper()
		ask[string](t, ctx, `document.querySelector("h1").dataset.old = "1"`)
		key(by)
		staffUntilTrue(t, ctx, `location.search === "`+search+`" && document.activeElement.matches("h1:not([data-old])")`)
	}
	turn("ArrowLeft", "?date=2026-10-07")
	turn("ArrowRight", "?date=2026-10-09")
	turn("t", "")
	key("ArrowDown")
	key("Enter")
	staffUntilTrue(t, ctx, `location.pathname.endsWith("/slots/2")`)

	visit(t, ctx, base+StaffCalendarURL("aozora"))
	key("ArrowDown")
	focused("the first that is not over", `[data-slot="3"] a`)
	key("ArrowRight")
	focused("the next day, at about the same height", `[data-slot="7"] a`)
	key("ArrowRight")
	focused("and the next", `[data-slot="9"] a`)
	key("ArrowLeft")
	key("ArrowLeft")
	key("ArrowLeft")
	focused("back over the closed days", `[data-slot="42"] a`)
	visit(t, ctx, base+"/month")
	key("ArrowDown")
	focused("today", `[data-date="2026-10-08"]`)
	key("ArrowRight")
	key("ArrowDown")
	focused("a week and a day later", `[data-date="2026-10-16"]`)
	key("k")
	focused("the day before", `[data-date="2026-10-15"]`)
	complaints()
}

// TestStaffDayHoldsStill: what somebody is about to press stays where it is while the day changes above it; nothing
// at all moves while a finger is down; who only looks on is shown what has come in on top.
func TestStaffDayHoldsStill(t *testing.T) {
	t.Parallel()
	say := staffSayIn(i18n.JA)
	var urgent atomic.Bool
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+StaffTodayURL("aozora"), func(w http.ResponseWriter, _ *http.Request) {
		p := staffTestToday(say)
		if !urgent.Load() {
			p.Attention.Alarms, p.Attention.Calls = nil, nil
		}
		staffWrite(t, w, http.StatusOK, strings.Replace(staffRender(t, i18n.JA, StaffToday(p)), `"every 15s, `, `"every 200ms, `, 1))
	})
	base := staffServe(t, mux)
	ctx := browser(t)
	screen(t, ctx, 390, 844, "light")
	const top = `Math.round(document.querySelector("#failed-77 button").getBoundingClientRect().top)`
	visit(t, ctx, base+StaffDayURL("aozora", "2026-10-08"))
	before := ask[int](t, ctx, top)
	command(t, ctx, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved, X: 300, Y: float64(before + 10)})
	command(t, ctx, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMousePressed, X: 20, Y: float64(before + 10), Button: input.MouseButtonLeft, ClickCount: 1})
	urgent.Store(true)
	// Three answers come and are put aside.
	ask[bool](t, ctx, `window.answers = 0, document.addEventListener("htmx:before:swap", (e) => { if (e.defaultPrevented) document.body.dataset.answers = ++window.answers; }), true`)
	staffUntilTrue(t, ctx, `Number(document.body.dataset.answers) > 2`)
	if now := ask[int](t, ctx, top); now != before || ask[bool](t, ctx, `!!document.querySelector("#call-31")`) {
		t.Errorf("under the finger: the button was at %d and is at %d", before, now)
	}
	command(t, ctx, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseReleased, X: 20, Y: float64(before + 10), Button: input.MouseButtonLeft, ClickCount: 1})
	staffUntilTrue(t, ctx, `document.querySelector("#call-31")`)
	if now := ask[int](t, ctx, top); now < before-1 || now > before+1 {
		t.Errorf("after the press: the button was at %d and is at %d", before, now)
	}

	urgent.Store(false)
	visit(t, ctx, base+StaffDayURL("aozora", "2026-10-08"))
	urgent.Store(true)
	staffUntilTrue(t, ctx, `document.querySelector("#call-31")`)
	if y := ask[float64](t, ctx, `scrollY`); y != 0 {
		t.Errorf("who only looks on is at %v", y)
	}
}

// TestStaffWithoutScript: the ways through the days are links and forms.
func TestStaffWithoutScript(t *testing.T) {
	t.Parallel()
	say := staffSayIn(i18n.EN)
	mux := http.NewServeMux()
	var asked []string
	mux.HandleFunc("GET "+StaffCalendarURL("aozora"), func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.RawQuery)
		p := staffTestWeek(say)
		if r.URL.Query().Get("month") != "" {
			p = staffTestMonth(say)
		}
		staffWrite(t, w, http.StatusOK, staffRender(t, i18n.EN, StaffCalendar(p)))
	})
	mux.HandleFunc("GET "+StaffKeysURL("aozora"), func(w http.ResponseWriter, _ *http.Request) {
		staffWrite(t, w, http.StatusOK, staffRender(t, i18n.EN, StaffKeys(StaffKeysPage{Page: staffTestPage(say, "Keys"), Staff: staffTestFrame("")})))
	})
	base := staffServe(t, mux)
	ctx := browser(t)
	command(t, ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	screen(t, ctx, 1024, 768, "light")
	visit(t, ctx, base+StaffCalendarURL("aozora"))
	click := func(selector string) {
		t.Helper()
		if err := chromedp.Do(soon(t, ctx), chromedp.Click(chromedp.CSS(selector))); err != nil {
			t.Fatalf("%s: %v", selector, err)
		}
		if err := chromedp.Do(soon(t, ctx), chromedp.WaitReady(chromedp.CSS("#foot"))); err != nil {
			t.Fatal(err)
		}
	}
	click(`.staff-views a:last-child`)
	click(`.staff-jump button`)
	click(`.staff-me summary`)
	click(`.staff-me [data-keys]`)
	if want := []string{"", "month=2026-10", "month=2026-10&service=yoga"}; !slices.Equal(asked, want) {
		t.Errorf("asked for %q, want %q", asked, want)
	}
}
