package web

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"holdfast/store"
	"holdfast/store/storetest"
	"holdfast/store/storetest/shop"
	"holdfast/views"
)

func TestTwentyVisitorsPressForTheLastSeats(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	for range 3 {
		slot := s.Slot(t, 3)
		ready := storetest.Barrier(20)
		var all sync.WaitGroup
		var mu sync.Mutex
		statuses := map[int]int{}
		count := func(p page) {
			mu.Lock()
			defer mu.Unlock()
			statuses[p.status]++
		}
		for range 20 {
			b := s.browser(t)
			all.Go(func() {
				page := b.get(views.SlotURL("shop", slot.ID))
				ready()
				p := b.press(page, "/hold", nil)
				count(p)
				if p.status == http.StatusConflict && !p.has("data-outcome", "sold_out") {
					t.Errorf("lost without a word:\n%s", p.text())
				}
			})
		}
		all.Wait()
		if statuses[http.StatusSeeOther] != 3 || statuses[http.StatusConflict] != 17 {
			t.Errorf("answers: %v", statuses)
		}
	}
}

func TestOneFormSentManyTimesAtOnceIsOnePress(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	slot := s.Slot(t, 5)
	b := s.browser(t)
	// A first press of another slot makes the visitor known, as for most people.
	b.press(b.get(views.SlotURL("shop", s.Slot(t, 1).ID)), "/hold", nil).is(http.StatusSeeOther)
	slotPage := b.get(views.SlotURL("shop", slot.ID))
	at := make(chan string, 8)
	ready := storetest.Barrier(cap(at))
	var all sync.WaitGroup
	press := func(from page, action string, more url.Values) {
		for range cap(at) {
			all.Go(func() {
				ready()
				got := b.press(from, action, more)
				if got.status != http.StatusSeeOther {
					t.Errorf("%s: status %d:\n%s", action, got.status, got.text())
				}
				at <- got.location()
			})
		}
		all.Wait()
	}
	press(slotPage, "/hold", nil)
	link := <-at
	for range cap(at) - 1 {
		if other := <-at; other != link {
			t.Errorf("one press led to %s and %s", link, other)
		}
	}
	press(b.get(link), "/confirm", contact("山田 花子", "hanako@example.com"))
	var mails int
	if err := s.Pool.QueryRow(t.Context(), "SELECT count(*) FROM outbox WHERE kind = 'confirmed'").Scan(&mails); err != nil || mails != 1 {
		t.Errorf("%d mails, %v", mails, err)
	}
	if got := s.Read(t, slot); got.Taken != 1 || got.Confirmed != 1 {
		t.Errorf("taken %d, confirmed %d", got.Taken, got.Confirmed)
	}
}

func TestAnOfferThatIsOverIsToldAsOver(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	slot := s.Slot(t, 1)
	booked, first, second := s.Book(t, slot, 1), s.Join(t, slot, 1), s.Join(t, slot, 1)
	s.Cancel(t, booked)
	b := s.browser(t)
	offer := views.OfferURL("shop", s.Store.OfferToken(s.Entry(t, first)))
	page := b.get(offer).is(http.StatusOK).need("data-state", "offered")
	s.Exec(t, "UPDATE waitlist_entries SET shown_until = now() - interval '10 minutes', expires_at = now() - interval '5 minutes' WHERE state = 'offered'")
	b.get(offer).is(http.StatusOK).need("data-state", "lapsed")
	b.get(views.WaitlistURL("shop", s.Store.EntryToken(first))).is(http.StatusOK).need("data-state", "lapsed")
	b.press(page, "/accept", nil).is(http.StatusGone).need("data-state", "lapsed")
	if _, err := s.Store.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	// Within the grace the form works.
	next := b.get(views.OfferURL("shop", s.Store.OfferToken(s.Entry(t, second)))).need("data-state", "offered")
	s.Exec(t, "UPDATE waitlist_entries SET shown_until = now() - interval '2 seconds', expires_at = now() + interval '1 minute' WHERE state = 'offered'")
	b.get(views.OfferURL("shop", s.Store.OfferToken(s.Entry(t, second)))).need("data-state", "offered").need("data-seconds-left", "0")
	b.follow(b.press(next, "/accept", nil)).is(http.StatusOK).need("data-state", "confirmed")
}

func TestOnePersonHasOneBookingInASlot(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	slot, full := s.Slot(t, 5), s.Slot(t, 1)
	b := s.browser(t)
	b.book(slot, "hanako@example.com")
	form := b.follow(b.press(b.get(views.SlotURL("shop", slot.ID)), "/hold", nil))
	p := b.press(form, "/confirm", contact("山田 花子", "Hanako@Example.com")).is(http.StatusConflict).need("data-outcome", "already_booked").need("data-state", "held")
	if _, fields := p.form("/confirm"); fields.Get(views.FieldEmail) != "Hanako@Example.com" {
		t.Error("what was typed is lost")
	}
	if !strings.Contains(p.body, views.MyReservationsURL("shop")) {
		t.Error("no way to the booking that there is")
	}
	s.Book(t, full, 1)
	b.press(b.get(views.SlotURL("shop", full.ID)), "/waitlist", contact("山田 花子", "hanako@example.com")).is(http.StatusSeeOther)
	b.press(b.get(views.SlotURL("shop", full.ID)), "/waitlist", contact("山田 はな子", "HANAKO@example.com")).is(http.StatusConflict).need("data-outcome", "already_waiting")
}

func TestSeveralSlotsHeldTogetherAreOneReservation(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	one, two := s.Slot(t, 2), s.Slot(t, 2)
	req := s.HoldRequest(one, 1)
	req.Slots = append(req.Slots, store.HoldSlot{ID: two.ID, TermsVersion: two.TermsVersion})
	held, err := s.Store.Hold(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	b := s.browser(t)
	link := views.ReservationURL("shop", s.Store.ReservationToken(held[0]))
	form := b.get(link).is(http.StatusOK).need("data-slot", one.ID).need("data-slot", two.ID)
	b.follow(b.press(form, "/confirm", contact("山田 花子", "hanako@example.com"))).need("data-state", "confirmed").need("data-slot", one.ID).need("data-slot", two.ID)
	if p := b.get(link + "/calendar.ics"); strings.Count(p.body, "BEGIN:VEVENT") != 2 {
		t.Errorf("the calendar has not both:\n%s", p.body)
	}
}

func TestWhoeverAsksGetsTheSamePage(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	l := live(t, s.Shop)
	b := s.browser(t)
	for _, path := range []string{"/shop", views.ReservationURL("shop", s.Store.ReservationToken(l.booked)), views.WaitlistURL("shop", s.Store.EntryToken(l.waiting))} {
		plain := b.get(path).is(http.StatusOK)
		scripted := b.do(http.MethodGet, path, "", "", func(r *http.Request) {
			r.Header.Set("HX-Request", "true")
			r.Header.Set("HX-Request-Type", "partial")
			r.Header.Set("HX-Boosted", "true")
		})
		if changing.ReplaceAllString(plain.body, "") != changing.ReplaceAllString(scripted.body, "") {
			t.Errorf("%s differs for htmx", path)
		}
	}
}
