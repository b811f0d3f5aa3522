package main

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"holdfast/store"
	"holdfast/store/storetest/shop"
	"holdfast/views"
)

// counted is somebody at the counter whose presses are counted as time: a
// second for each press of a button or a link, a tenth for each other key.
type counted struct {
	*visitor
	spent time.Duration
}

func (c *counted) keys(text string) {
	c.t.Helper()
	for _, key := range text {
		c.key(string(key))
		c.spent += 100 * time.Millisecond
	}
}

// press is Enter on what has the focus, and waits for what must be there then.
func (c *counted) press(after string) {
	c.t.Helper()
	c.enter()
	c.spent += time.Second
	c.sees(after)
	// The page has come whole: what it brings into focus has it.
	c.until(`document.readyState === "complete"`)
}

// tab goes on by the keyboard to an element.
func (c *counted) tab(css string) {
	c.t.Helper()
	for range 60 {
		c.keys(kb.Tab)
		if ask[bool](c.visitor, fmt.Sprintf(`document.activeElement.matches(%q)`, css)) {
			return
		}
	}
	c.t.Fatalf("%s cannot be reached by Tab", css)
}

// mostForACall is how long cancelling for somebody on the telephone may take.
const mostForACall = 15 * time.Second

// Somebody calls to cancel: from whatever page is open, by the keyboard alone.
func TestACallToCancelTakesSeconds(t *testing.T) {
	t.Parallel()
	p := serveProduct(t, nil)
	slot := p.Slot(t, 2)
	p.Book(t, slot, 1) // whose number ends otherwise
	p.Exec(t, "UPDATE reservations SET phone = '+819011112222'")
	caller := store.Contact{Name: "電話 花子", Kana: "デンワ ハナコ", Email: "denwa@example.com", Phone: "+819012344321", Locale: "ja"}
	booked, _, err := p.Store.Book(t.Context(), store.BookRequest{TenantID: slot.TenantID, SlotID: slot.ID, PartySize: 1, Contact: caller, Key: "counter", Actor: shop.Staff})
	check(t, err)
	next := p.Join(t, slot, 1)
	for i, from := range []string{"/staff/shop/today", "/staff/shop/settings", views.StaffSlotURL("shop", p.Slot(t, 1).ID), "/staff/shop/messages", "/staff/shop/import"} {
		v := p.visitor(t, desktop, true)
		v.signIn()
		v.open(from)
		c := &counted{visitor: v}
		c.keys("/")
		if !ask[bool](v, `document.activeElement.matches("[data-search]")`) {
			t.Fatalf("%s: / does not lead to the search", from)
		}
		c.keys("4321")
		c.press(`.staff-found`)
		if strings.Contains(v.location(), "4321") {
			t.Errorf("the address says what was searched for: %s", v.location())
		}
		c.tab(`.staff-found a[href*="/cancel?"]`)
		c.press(`.staff-picked`)
		page := ask[string](v, `document.querySelector("main").innerText`)
		if !strings.Contains(page, "電話 花子") || !strings.Contains(page, next.Name+"様 に") {
			t.Errorf("before the press it is not said who and what follows:\n%s", page)
		}
		c.tab(`form[action$="/cancel"] button[type=submit]`)
		if i < 4 {
			if got := p.Reservation(t, booked); got.State != store.Confirmed {
				t.Fatalf("it is %s before the press", got.State)
			}
			t.Logf("from %s to the press: %v", from, c.spent+time.Second)
			if c.spent+time.Second >= mostForACall {
				t.Errorf("from %s it takes %v, under %v is right", from, c.spent+time.Second, mostForACall)
			}
			continue // the call is for one booking; from the last page it is done
		}
		c.press(`#result`)
		if c.spent >= mostForACall {
			t.Errorf("from %s it took %v, under %v is right", from, c.spent, mostForACall)
		}
		if done := ask[string](v, `document.querySelector("#result").innerText`); !strings.Contains(done, next.Name) {
			t.Errorf("what followed is not told:\n%s", done)
		}
	}
	if got := p.Reservation(t, booked); got.State != store.Cancelled || got.CancelledBy != "staff" {
		t.Errorf("it is %s by %s", got.State, got.CancelledBy)
	}
	p.mails.wait(t, p, next.Email, "/shop/offers/")
	p.mails.wait(t, p, caller.Email, "取り消")
}

// A slot with ten people is cancelled with a reason: everybody with an address
// gets one letter in their own language, and the page says whom to call.
func TestASlotWithTenPeopleIsCancelled(t *testing.T) {
	t.Parallel()
	p := serveProduct(t, nil)
	slot := p.Slot(t, 10)
	const reason = "Boiler failure ボイラーの故障"
	words := map[string]string{"ja": "開催できなくなりました", "en": "will not take place"}
	people := map[string]string{} // language by address
	for i := range 10 {
		who := store.Contact{Name: fmt.Sprintf("客 %d", i), Kana: "キャク", Email: fmt.Sprintf("ten%d@example.com", i), Phone: fmt.Sprintf("+8190123400%02d", i), Locale: "ja"}
		switch {
		case i >= 8:
			who.Email = "" // to be called
		case i%3 == 2:
			who.Locale = "en"
		}
		if who.Email != "" {
			people[who.Email] = who.Locale
		}
		_, _, err := p.Store.Book(t.Context(), store.BookRequest{TenantID: slot.TenantID, SlotID: slot.ID, PartySize: 1, Contact: who, Key: who.Name, Silent: true, Actor: shop.Staff})
		check(t, err)
	}
	v := p.visitor(t, desktop, true)
	v.signIn()
	v.open(views.StaffSlotURL("shop", slot.ID))
	v.open(views.StaffSlotCancelSlotURL("shop", slot.ID))
	before := ask[string](v, `document.querySelector("main").innerText`)
	for _, words := range []string{"10", "客 8", "客 9"} {
		if !strings.Contains(before, words) {
			t.Errorf("before the press %q is not said:\n%s", words, before)
		}
	}
	v.fill("reason", reason)
	v.press(`form[action$="/cancel-slot"] button[type=submit]`, `#result`)
	done := ask[string](v, `document.querySelector("#result").innerText`)
	for _, called := range []string{"客 8", "090-1234-0008", "客 9", "090-1234-0009"} {
		if !strings.Contains(done, called) {
			t.Errorf("the page does not say to call %s:\n%s", called, done)
		}
	}
	if strings.Contains(done, "客 7様にはメール") {
		t.Errorf("somebody with an address is to be called:\n%s", done)
	}
	for to, lang := range people {
		text := p.mails.wait(t, p, to, reason).text(t)
		other := map[string]string{"ja": "en", "en": "ja"}[lang]
		if !strings.Contains(text, words[lang]) || strings.Contains(text, words[other]) {
			t.Errorf("%s, who speaks %s, reads:\n%s", to, lang, text)
		}
	}
	p.Until(t, func() bool {
		var left int
		check(t, p.Pool.QueryRow(t.Context(), "SELECT count(*) FROM outbox WHERE state IN ('pending', 'sending')").Scan(&left))
		return left == 0
	}, func() string { return "messages are left" })
	p.mails.mu.Lock()
	defer p.mails.mu.Unlock()
	got := map[string]int{}
	for _, l := range p.mails.got {
		got[l.to]++
	}
	for to := range people {
		if got[to] != 1 {
			t.Errorf("%s got %d letters", to, got[to])
		}
	}
	if len(got) != len(people) {
		t.Errorf("letters went to %v", got)
	}
}

// Two colleagues at the counter take the same caller's booking away in the same
// instant, and then change the same slot: both see one truth, and one of them is
// asked again.
func TestTwoColleaguesAtTheCounter(t *testing.T) {
	t.Parallel()
	p := serveProduct(t, nil)
	slot := p.Slot(t, 1)
	booked := p.Book(t, slot, 1)
	first, second := p.Join(t, slot, 1), p.Join(t, slot, 1)
	one, two := p.visitor(t, desktop, true), p.visitor(t, screenSize{"tablet", 1024, 768}, false)
	cancel := views.StaffSlotCancelStepURL("shop", slot.ID, booked.ID)
	for _, v := range []*visitor{one, two} {
		v.signIn()
		v.open(cancel)
		v.sees(`.staff-picked`)
	}
	var both sync.WaitGroup
	for _, v := range []*visitor{one, two} {
		both.Go(func() { v.press(`form[action$="/cancel"] button[type=submit]`, `#result`) })
	}
	both.Wait()
	if p.Entry(t, first).State != store.Offered || p.Entry(t, second).State != store.Waiting {
		t.Errorf("the seat went to %s and %s", p.Entry(t, first).State, p.Entry(t, second).State)
	}
	p.mails.wait(t, p, first.Email, "/shop/offers/")
	for _, v := range []*visitor{one, two} {
		if page := ask[string](v, `document.querySelector("main").innerText`); !strings.Contains(page, first.Name) {
			t.Errorf("one of the two does not see who has the seat:\n%s", page)
		}
	}
	// Now each of them with the page as it was: the later one is told, and asked again.
	other := p.Slot(t, 3)
	r := p.Book(t, other, 1)
	one.open(views.StaffSlotCancelStepURL("shop", other.ID, r.ID))
	one.sees(`.staff-picked`)
	two.open(views.StaffSlotURL("shop", other.ID))
	two.press(`form[action$="/close"] button[type=submit]`, `#result`)
	one.press(`form[action$="/cancel"] button[type=submit]`, `#changed`)
	if got := p.Reservation(t, r); got.State != store.Confirmed {
		t.Errorf("a stale press has made it %s", got.State)
	}
	one.press(`#changed form button[type=submit]`, `#result`)
	if got := p.Reservation(t, r); got.State != store.Cancelled {
		t.Errorf("after the second press it is %s", got.State)
	}
}
