package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"holdfast/store"
	"holdfast/store/storetest/shop"
	"holdfast/views"
)

// until waits in the page for a condition; between pages there may be none to ask.
func (v *visitor) until(condition string) {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(v.ctx, 30*time.Second)
	defer cancel()
	js := `new Promise(done => { const look = () => (` + condition + `) ? done(true) : setTimeout(look, 25); look() })`
	var err error
	for ctx.Err() == nil {
		var holds bool
		if holds, err = chromedp.Run(ctx, chromedp.Evaluate[bool](js, chromedp.EvalAwaitPromise)); holds && err == nil {
			return
		}
	}
	shown, _ := chromedp.Run(context.WithoutCancel(v.ctx), chromedp.Text(chromedp.CSS("body")))
	v.t.Fatalf("never: %s (%v); at %s the page shows:\n%s", condition, err, v.location(), shown)
}

// shows waits for an element, and fails where the page does not say all the words.
func (v *visitor) shows(css string, words ...string) {
	v.t.Helper()
	v.until(fmt.Sprintf(`document.querySelector(%q)`, css))
	text := ask[string](v, `document.querySelector("main").innerText`)
	for _, w := range words {
		if !strings.Contains(text, w) {
			v.t.Errorf("the page does not say %q:\n%s", w, text)
		}
	}
}

// click presses within the page, at once and as often as said.
func (v *visitor) click(css string, times int) {
	v.t.Helper()
	ask[bool](v, fmt.Sprintf(`(() => { const b = document.querySelector(%q); for (let i = 0; i < %d; i++) b.click(); return true })()`, css, times))
}

func (v *visitor) value(name string) string {
	v.t.Helper()
	return ask[string](v, fmt.Sprintf(`document.querySelector('#main [name=%q]').value`, name))
}

func (v *visitor) key(keys string) {
	v.t.Helper()
	v.do(chromedp.KeyEvent(keys))
}

// enter presses the key as a keyboard does: what its going down has done takes
// the character with it, which would else be typed wherever the focus went.
func (v *visitor) enter() {
	v.t.Helper()
	press := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: "Enter", Code: "Enter", WindowsVirtualKeyCode: 13, NativeVirtualKeyCode: 13, Text: "\r", UnmodifiedText: "\r"}
	call(v, input.DispatchKeyEvent, press)
	press.Type, press.Text, press.UnmodifiedText = input.DispatchKeyEventTypeKeyUp, "", ""
	call(v, input.DispatchKeyEvent, press)
}

// tabTo goes by Tab alone to an element, which must then show that it has the focus.
func (v *visitor) tabTo(css string) {
	v.t.Helper()
	for range 120 {
		v.key(kb.Tab)
		if !ask[bool](v, fmt.Sprintf(`document.activeElement.matches(%q)`, css)) {
			continue
		}
		if !ask[bool](v, `[document.activeElement, document.activeElement.nextElementSibling].some((e) => e && getComputedStyle(e).outlineStyle !== "none" && parseFloat(getComputedStyle(e).outlineWidth) >= 2)`) {
			v.t.Errorf("the focus on %s is not to be seen", css)
		}
		return
	}
	v.t.Fatalf("no Tab leads to %s; the focus is on %s", css, ask[string](v, `document.activeElement.outerHTML.slice(0, 200)`))
}

func (v *visitor) fits(where string) {
	v.t.Helper()
	if over := ask[int](v, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
		culprit := ask[string](v, `[...document.querySelectorAll("main *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1).slice(0, 5).map((e) => e.tagName + "." + e.className).join(", ")`)
		v.t.Errorf("%s scrolls sideways by %d: %s", where, over, culprit)
	}
}

func (v *visitor) offline(off bool) {
	v.t.Helper()
	call(v, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{Offline: off, DownloadThroughput: -1, UploadThroughput: -1}},
	})
}

const (
	holdButton    = `form[action$="/hold"] button[type=submit]`
	confirmButton = `form[action$="/confirm"] button[type=submit]`
	joinButton    = `form[action$="/waitlist"] button[type=submit]`
)

// hold opens a slot and holds seats in it.
func (v *visitor) hold(slot store.Slot) {
	v.t.Helper()
	v.open(views.SlotURL("shop", slot.ID))
	v.click(holdButton, 1)
	v.until(`document.querySelector('[data-state="held"]')`)
}

func (v *visitor) typeIn(name, email string) {
	v.t.Helper()
	v.fill("name", name)
	v.fill("email", email)
}

// count asks the database.
func (p *product) count(t *testing.T, sql string, args ...any) int {
	t.Helper()
	var n int
	if err := p.Pool.QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// The moments of the customers' side, each as somebody with a phone lives it.
// One program serves them all, as it would.
func TestMoments(t *testing.T) {
	t.Parallel()
	p := serveProduct(t, nil)
	var making sync.Mutex // the shop makes its slots one after another
	slotOf := func(t *testing.T, capacity int) store.Slot {
		making.Lock()
		defer making.Unlock()
		return p.Slot(t, capacity)
	}
	moment := func(name string, live func(t *testing.T, v *visitor)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			live(t, p.visitor(t, phone, true))
		})
	}

	moment("two visitors race for the last seat", func(t *testing.T, one *visitor) {
		slot := slotOf(t, 1)
		slotOf(t, 3) // the nearest
		two := p.visitor(t, phone, true)
		for _, v := range []*visitor{one, two} {
			v.open(views.SlotURL("shop", slot.ID))
			v.until(fmt.Sprintf(`document.querySelector(%q)`, holdButton))
		}
		var pressed sync.WaitGroup
		for _, v := range []*visitor{one, two} {
			pressed.Go(func() { v.click(holdButton, 1) })
		}
		pressed.Wait()
		ended := `document.querySelector('[data-state="held"], [data-outcome="sold_out"]')`
		one.until(ended)
		two.until(ended)
		won, lost := one, two
		if ask[bool](one, `!document.querySelector('[data-state="held"]')`) {
			won, lost = two, one
		}
		won.shows(`[data-state="held"]`)
		lost.shows(`[data-outcome="sold_out"]`)
		if ask[bool](lost, `!!document.querySelector(".banner.bad")`) {
			t.Error("losing a race is shown as an error")
		}
		lost.shows(`.nearest [data-slot]`)
		lost.until(`document.activeElement.matches('[data-outcome="sold_out"]')`)
		// The place is kept: one form, already for as many people as wanted.
		if got := ask[string](lost, `document.querySelector('form[action$="/waitlist"] [name="party_size"]:checked').value`); got != "1" {
			t.Errorf("the form to wait is for %s", got)
		}
		lost.typeIn("佐藤 次郎", "lost@example.com")
		lost.click(joinButton, 1)
		lost.shows(`[data-state="waiting"]`)
		lost.shows(`[data-place="1"]`)
		won.typeIn("山田 花子", "won@example.com")
		won.click(confirmButton, 1)
		won.shows(`[data-state="confirmed"]`)
	})

	moment("the back button after each step", func(t *testing.T, v *visitor) {
		slot := slotOf(t, 3)
		left := 0
		back := func() {
			left++
			ask[bool](v, fmt.Sprintf(`(document.querySelector("h1").dataset.left = %d, setTimeout(() => history.back()), true)`, left))
			v.until(fmt.Sprintf(`!document.querySelector('h1[data-left="%d"]') && document.readyState === "complete" && document.querySelector("h1")`, left))
		}
		v.open("/shop?date=" + slot.StartsAt.In(p.Tenant.Location()).Format(time.DateOnly))
		v.click(fmt.Sprintf(`a[href^=%q]`, views.SlotURL("shop", slot.ID)), 1)
		v.until(fmt.Sprintf(`document.querySelector(%q)`, holdButton))
		back()
		v.until(fmt.Sprintf(`location.pathname === "/shop" && document.querySelector('a[href^=%q]')`, views.SlotURL("shop", slot.ID)))
		v.hold(slot)
		held := v.location()
		back() // the own hold is found again, and is not hidden behind the free seats
		v.until(`location.pathname.includes("/slots/") && document.querySelector("[data-own-hold] a")`)
		v.click(`[data-own-hold] a`, 1)
		v.until(`document.querySelector('[data-state="held"]')`)
		v.typeIn("山田 花子", "back@example.com")
		v.click(confirmButton, 1)
		v.until(`document.querySelector('[data-state="confirmed"]')`)
		back() // no form that was sent comes back to be sent again
		v.until(`!document.querySelector('[data-state="held"]') && document.querySelector("h1")`)
		v.open(held)
		v.shows(`[data-state="confirmed"]`)
		v.click(`form[action$="/cancel"] button[type=submit]`, 1)
		v.until(`document.querySelector('[data-state="cancelled"]')`)
		back()
		v.until(`!document.querySelector('form[action$="/cancel"]') && document.querySelector("h1")`)
		if n := p.count(t, "SELECT count(*) FROM reservations WHERE slot_id = $1", slot.ID); n != 1 {
			t.Errorf("going back made %d reservations", n)
		}
	})

	for name, times := range map[string]int{"pressed twice": 2, "pressed three times": 3} {
		moment("confirm "+name, func(t *testing.T, v *visitor) {
			slot := slotOf(t, 3)
			email := fmt.Sprintf("press%d@example.com", times)
			v.open(views.SlotURL("shop", slot.ID))
			v.click(holdButton, times)
			v.until(`document.querySelector('[data-state="held"]')`)
			v.typeIn("山田 花子", email)
			if times == 2 {
				v.do(chromedp.DoubleClick(chromedp.CSS(confirmButton)))
			} else {
				v.click(confirmButton, times)
			}
			v.shows(`[data-state="confirmed"]`, email)
			p.mails.wait(t, p, email, "/shop/reservations/")
			if n := p.count(t, "SELECT count(*) FROM reservations WHERE slot_id = $1", slot.ID); n != 1 {
				t.Errorf("%d reservations", n)
			}
			if n := p.count(t, "SELECT count(*) FROM outbox WHERE recipient = $1", email); n != 1 {
				t.Errorf("%d messages", n)
			}
		})
	}

	moment("a hold runs out while the form is filled in", func(t *testing.T, v *visitor) {
		slot := slotOf(t, 1)
		v.hold(slot)
		v.typeIn("山田 花子", "slow@example.com")
		v.fill("note", "窓の近くを希望します")
		p.Exec(t, "UPDATE reservations SET shown_until = now() - interval '90 seconds', expires_at = now() - interval '30 seconds' WHERE slot_id = $1", slot.ID)
		v.click(confirmButton, 1)
		v.until(`document.querySelector('[data-state="expired"]')`)
		v.click(holdButton, 1)
		v.until(`document.querySelector('[data-state="held"]')`)
		for field, want := range map[string]string{"name": "山田 花子", "email": "slow@example.com", "note": "窓の近くを希望します"} {
			if got := v.value(field); got != want {
				t.Errorf("%s came back as %q", field, got)
			}
		}
		v.click(confirmButton, 1)
		v.shows(`[data-state="confirmed"]`, "slow@example.com")
	})

	moment("the line is down during a press", func(t *testing.T, v *visitor) {
		slot := slotOf(t, 2)
		v.hold(slot)
		v.typeIn("山田 花子", "tunnel@example.com")
		at := v.location()
		v.offline(true)
		v.click(confirmButton, 1)
		v.shows(`[data-failed-note]`)
		if v.location() != at || v.value("name") != "山田 花子" || v.value("email") != "tunnel@example.com" {
			t.Errorf("at %s with %q and %q", v.location(), v.value("name"), v.value("email"))
		}
		v.until(`!document.querySelector("form[data-busy]")`)
		v.offline(false)
		v.click(confirmButton, 1)
		v.shows(`[data-state="confirmed"]`, "tunnel@example.com")
	})

	moment("an offer past its deadline", func(t *testing.T, v *visitor) {
		slot := slotOf(t, 1)
		slotOf(t, 3) // the nearest
		booked, e := p.Book(t, slot, 1), p.Join(t, slot, 1)
		p.Cancel(t, booked)
		v.open(views.OfferURL("shop", p.Store.OfferToken(p.Entry(t, e))))
		v.shows(`[data-state="offered"]`)
		p.Exec(t, "UPDATE waitlist_entries SET shown_until = now() - interval '10 minutes', expires_at = now() - interval '5 minutes' WHERE id = $1", e.ID)
		v.click(`form[action*="/accept"] button`, 1)
		v.shows(`[data-state="lapsed"]`)
		v.shows(`.nearest [data-slot]`)
		if ask[bool](v, `!!document.querySelector('form[action*="/accept"]')`) {
			t.Error("what is over can still be pressed")
		}
	})

	moment("a second press shows the success again", func(t *testing.T, v *visitor) {
		slot := slotOf(t, 1)
		booked, e := p.Book(t, slot, 1), p.Join(t, slot, 1)
		p.Cancel(t, booked)
		offer := views.OfferURL("shop", p.Store.OfferToken(p.Entry(t, e)))
		v.open(offer)
		other := p.visitor(t, phone, true) // the same link, opened on two devices
		other.open(offer)
		v.click(`form[action*="/accept"] button`, 2)
		v.shows(`[data-state="confirmed"]`)
		other.click(`form[action*="/accept"] button`, 1)
		other.shows(`[data-state="confirmed"]`)
		other.open(offer)
		other.shows(`[data-state="accepted"]`)
		other.click(`main a.button.primary`, 1)
		other.shows(`[data-state="confirmed"]`)
	})

	moment("a link that opens nothing", func(t *testing.T, v *visitor) {
		for _, kind := range []string{"reservations", "waitlist", "offers"} {
			v.open("/shop/" + kind + "/" + strings.Repeat("a", 32))
			v.shows(`[data-state="link"]`)
			v.shows(`main a[href="/shop/my-reservations"]`)
		}
	})

	moment("cancelled by the shop", func(t *testing.T, v *visitor) {
		slot := slotOf(t, 2)
		slotOf(t, 2) // the nearest
		booked, e := p.Book(t, slot, 2), p.Join(t, slot, 1)
		if _, err := p.Store.CancelSlot(t.Context(), store.SlotRequest{TenantID: slot.TenantID, SlotID: slot.ID, Reason: "台風のため", Actor: shop.Staff}); err != nil {
			t.Fatal(err)
		}
		v.open(views.ReservationURL("shop", p.Store.ReservationToken(booked)))
		v.shows(`[data-state="slot_cancelled"]`, "台風のため")
		v.shows(`.nearest [data-slot]`)
		v.open(views.WaitlistURL("shop", p.Store.EntryToken(e)))
		v.shows(`[data-state="closed"]`)
		v.open(views.SlotURL("shop", slot.ID))
		v.shows(`.closed-note`)
	})

	moment("by keyboard alone, from the venue to the booking", func(t *testing.T, v *visitor) {
		slot := slotOf(t, 4)
		v.open("/shop?date=" + slot.StartsAt.In(p.Tenant.Location()).Format(time.DateOnly))
		v.tabTo(fmt.Sprintf(`a[href^=%q]`, views.SlotURL("shop", slot.ID)))
		v.enter()
		v.until(fmt.Sprintf(`document.querySelector(%q) && document.activeElement.matches("h1")`, holdButton))
		v.tabTo(`[name="party_size"]`)
		v.key(kb.ArrowRight)
		v.key(" ")
		v.tabTo(holdButton)
		v.key(" ")
		v.until(`document.querySelector('[data-state="held"]') && document.activeElement.matches("h1")`)
		v.tabTo(`[name="name"]`)
		v.key("山田 花子")
		v.tabTo(`[name="email"]`)
		v.key("keys@example")
		v.enter()
		v.until(`document.activeElement.id === "error-summary"`)
		v.tabTo(`#error-summary a`)
		v.enter()
		v.until(`document.activeElement.matches('[name="email"]')`)
		if got := v.value("email") + " " + v.value("name"); got != "keys@example 山田 花子" {
			t.Errorf("typed before, and now %q", got)
		}
		v.key(kb.End)
		v.key(".jp")
		v.tabTo(confirmButton)
		v.enter()
		v.until(`document.querySelector('[data-state="confirmed"]') && document.activeElement.matches("h1")`)
		v.shows(`[data-state="confirmed"]`, "keys@example.jp")
		if n := p.count(t, "SELECT party_size FROM reservations WHERE slot_id = $1", slot.ID); n != 2 {
			t.Errorf("the party is %d", n)
		}
	})

	moment("what somebody waiting is told is one switch", func(t *testing.T, v *visitor) {
		slot := slotOf(t, 1)
		p.Book(t, slot, 1)
		e := p.Join(t, slot, 1)
		v.open(views.WaitlistURL("shop", p.Store.EntryToken(e)))
		v.press(`[role="switch"][aria-checked="true"]`, `[role="switch"][aria-checked="false"]`)
		v.shows(`[data-flash]`)
		if p.Entry(t, e).TellVacancies {
			t.Error("it is still told")
		}
		v.press(`[role="switch"]`, `[role="switch"][aria-checked="true"]`)
	})

	// Each page once, as somebody meets it who needs it otherwise.
	pages := func(t *testing.T, v *visitor, look func(where string)) {
		slot, full := slotOf(t, 3), slotOf(t, 1)
		booked, offered, waiting := p.Book(t, full, 1), p.Join(t, full, 1), p.Join(t, full, 1)
		p.Cancel(t, booked)
		held, confirmed := p.Hold(t, slot, 1), p.Book(t, slot, 2)
		for where, path := range map[string]string{
			"the venue": "/shop?date=" + slot.StartsAt.In(p.Tenant.Location()).Format(time.DateOnly), "the month": "/shop?month=" + slot.StartsAt.Format("2006-01"),
			"a slot": views.SlotURL("shop", slotOf(t, 4).ID), "a full slot": views.SlotURL("shop", full.ID), "a hold": views.ReservationURL("shop", p.Store.ReservationToken(held)),
			"a booking": views.ReservationURL("shop", p.Store.ReservationToken(confirmed)), "a cancelled one": views.ReservationURL("shop", p.Store.ReservationToken(booked)),
			"a place in the queue": views.WaitlistURL("shop", p.Store.EntryToken(waiting)), "an offer": views.OfferURL("shop", p.Store.OfferToken(p.Entry(t, offered))),
			"moving": views.ReservationMoveURL("shop", p.Store.ReservationToken(confirmed)), "my bookings": views.MyReservationsURL("shop"), "no such link": "/shop/offers/x",
		} {
			v.open(path)
			v.until(`document.querySelector("h1")`)
			look(where)
		}
	}

	moment("text twice as large", func(t *testing.T, v *visitor) {
		pages(t, v, func(where string) {
			v.fits(where)
			if size := ask[string](v, `(document.documentElement.style.fontSize = "200%", getComputedStyle(document.querySelector("main p, main h1")).fontSize)`); !(size >= "28px") {
				t.Errorf("%s: the text is %s", where, size)
			}
			v.fits(where + " at 200 %")
		})
	})

	moment("forced colours and no motion", func(t *testing.T, v *visitor) {
		call(v, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "forced-colors", Value: "active"}, {Name: "prefers-reduced-motion", Value: "reduce"},
		}})
		pages(t, v, func(where string) {
			v.fits(where)
			if lost := ask[string](v, `[...document.querySelectorAll("main button, main a.button, main input:not([type=hidden]), main .choice span")].filter((e) => e.offsetParent && !e.closest("details:not([open])") && getComputedStyle(e).opacity !== "0" && getComputedStyle(e).borderTopStyle === "none" && !e.matches("input[type=radio], input[type=checkbox], .choice span span")).map((e) => e.outerHTML.slice(0, 80)).join("\n")`); lost != "" {
				t.Errorf("%s: in forced colours these have no edge:\n%s", where, lost)
			}
			if moving := ask[string](v, `[...document.querySelectorAll("main *")].filter((e) => parseFloat(getComputedStyle(e).transitionDuration) > 0.01).map((e) => e.tagName + "." + e.className).join()`); moving != "" {
				t.Errorf("%s: still moving: %s", where, moving)
			}
		})
	})
}
