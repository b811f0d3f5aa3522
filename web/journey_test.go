package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
	"holdfast/views"
	"holdfast/views/i18n"
)

func ja(key i18n.Key, args ...any) string { return i18n.For(i18n.JA).T(key, args...) }

func contact(name, email string) url.Values {
	return url.Values{views.FieldName: {name}, views.FieldEmail: {email}}
}

// book makes a booking through the pages and gives the path of its link.
func (b *browser) book(slot store.Slot, email string) string {
	b.t.Helper()
	held := b.press(b.get(views.SlotURL(b.site.Tenant.Slug, slot.ID)), "/hold", nil)
	form := b.follow(held).is(http.StatusOK).need("data-state", "held")
	b.follow(b.press(form, "/confirm", contact("山田 花子", email))).is(http.StatusOK).need("data-state", "confirmed")
	return held.location()
}

func TestTheLastSeatIsBookedWaitedForCancelledAndAccepted(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	slot := s.Slot(t, 1)
	first, second := s.browser(t), s.browser(t)

	venuePage := first.get("/shop").is(http.StatusOK)
	if rows := venuePage.all("data-slot", slot.ID); len(rows) != 1 || attr(rows[0], "data-seats-left") != "1" {
		t.Fatalf("the calendar does not open on the first day with something to book:\n%s", venuePage.text())
	}
	page := first.get(views.SlotURL("shop", slot.ID)).is(http.StatusOK).need("data-seats-left", "1")
	seen := second.get(views.SlotURL("shop", slot.ID))
	held := first.press(page, "/hold", nil).is(http.StatusSeeOther)
	form := first.follow(held).is(http.StatusOK).need("data-state", "held").need("data-seconds-left", "300")
	first.get(views.SlotURL("shop", slot.ID)).need("data-own-hold", "")

	lost := second.press(seen, "/hold", nil).is(http.StatusConflict).need("data-outcome", "sold_out").need("data-seats-left", "0")
	joined := second.press(lost, "/waitlist", contact("佐藤 次郎", "jiro@example.com")).is(http.StatusSeeOther)
	second.follow(joined).is(http.StatusOK).need("data-state", "waiting").need("data-place", "1").says(ja("entry.heading.just"))

	done := first.press(form, "/confirm", contact("山田 花子", "hanako@example.com"))
	booked := first.follow(done).is(http.StatusOK).need("data-state", "confirmed").says("hanako@example.com")
	cancelled := first.follow(first.press(booked, "/cancel", nil)).is(http.StatusOK).need("data-state", "cancelled")
	if cancelled.hasForm("/cancel") {
		t.Error("what is cancelled can be cancelled again")
	}
	offered := second.get(joined.location()).is(http.StatusOK).need("data-state", "offered").need("data-seconds-left", "1800")
	offer := ""
	for _, a := range offered.all("href", "") {
		if strings.Contains(attr(a, "href"), "/offers/") {
			offer = attr(a, "href")
		}
	}
	taken := second.press(second.get(offer).is(http.StatusOK), "/accept", nil)
	second.follow(taken).is(http.StatusOK).need("data-state", "confirmed").says("佐藤 次郎")
	second.get(offer).is(http.StatusOK).need("data-state", "accepted")
	second.get(joined.location()).is(http.StatusOK).need("data-state", "accepted")
}

func TestEachPageLeadsWhereItsPressSays(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	a, c := s.Slot(t, 3), s.Slot(t, 3)
	b := s.browser(t)
	link := b.book(a, "moves@example.com")

	move := b.get(link+"/move").is(http.StatusOK).need("data-slot", c.ID)
	chosen := ""
	for _, n := range move.all("data-slot", c.ID) {
		chosen = attr(n, "href")
	}
	b.follow(b.press(b.get(chosen).is(http.StatusOK), "/move", nil)).is(http.StatusOK).need("data-slot", c.ID).says(ja("flash.moved"))
	b.follow(b.press(b.get(link), "/party", url.Values{views.FieldPartySize: {"3"}})).is(http.StatusOK).says(ja("flash.party")).says(ja("party", "n", 3))
	b.press(b.get(link), "/party", url.Values{views.FieldPartySize: {"4"}}).is(http.StatusConflict).need("data-outcome", "sold_out").need("data-state", "confirmed")

	held := b.press(b.get(views.SlotURL("shop", a.ID)), "/hold", nil)
	form := b.follow(held)
	b.follow(b.press(form, "/extend", nil)).says(ja("flash.extended"))
	b.post(held.location()+"/extend", url.Values{}).is(http.StatusConflict).need("data-outcome", "not_extendable").need("data-state", "held")
	b.follow(b.press(b.get(held.location()), "/release", nil)).is(http.StatusOK).need("data-state", "released")

	waiting := s.Join(t, c, 2)
	entry := views.WaitlistURL("shop", s.Store.EntryToken(waiting))
	b.follow(b.press(b.get(entry), "/party", nil)).is(http.StatusOK).says(ja("party", "n", 1))
	b.follow(b.press(b.get(entry), "/withdraw", nil)).is(http.StatusOK).need("data-state", "withdrawn")
	again := b.press(b.get(entry), "/rejoin", nil).is(http.StatusSeeOther)
	if again.location() == entry {
		t.Error("joining again gave the old entry")
	}
	b.follow(again).need("data-state", "waiting").need("data-place", "1")
	b.post(entry+"/claim", url.Values{}).is(http.StatusConflict)
}

func TestAnOfferThatIsDeclinedIsToldAndCanBeJoinedAgain(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	slot := s.Slot(t, 1)
	booked, waiting := s.Book(t, slot, 1), s.Join(t, slot, 1)
	next := s.Join(t, slot, 1)
	s.Cancel(t, booked)
	offered := s.Entry(t, waiting)
	b := s.browser(t)
	offer := views.OfferURL("shop", s.Store.OfferToken(offered))
	b.follow(b.press(b.get(offer), "/decline", nil)).is(http.StatusOK).need("data-state", "declined")
	if got := s.Entry(t, next).State; got != store.Offered {
		t.Errorf("the next is %s", got)
	}
	b.post(offer+"/accept", url.Values{views.FieldTermsVersion: {"1"}}).is(http.StatusConflict).need("data-state", "declined")
	b.follow(b.press(b.get(offer), "/rejoin", nil)).is(http.StatusOK).need("data-state", "waiting")
}

func TestFreeSeatsAreClaimedFirstComeFirstServed(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, func(p *store.Policies) { p.WaitlistMode = store.Broadcast }))
	slot := s.Slot(t, 1)
	booked, one, two := s.Book(t, slot, 1), s.Join(t, slot, 1), s.Join(t, slot, 1)
	s.Cancel(t, booked)
	b := s.browser(t)
	first := b.get(views.WaitlistURL("shop", s.Store.EntryToken(two))).is(http.StatusOK).need("data-seats-left", "1")
	late := b.get(views.WaitlistURL("shop", s.Store.EntryToken(one))).is(http.StatusOK)
	b.follow(b.press(first, "/claim", nil)).is(http.StatusOK).need("data-state", "confirmed")
	b.press(late, "/claim", nil).is(http.StatusConflict).need("data-outcome", "sold_out").need("data-state", "waiting")
}

func TestALargerPartyThanTheSeatsLeftCanWait(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	slot := s.Slot(t, 4)
	s.Book(t, slot, 2)
	b := s.browser(t)
	page := b.get(views.SlotURL("shop", slot.ID)).need("data-state", "few").says(ja("slot.party_waits", "party", ja("party", "n", 3)))
	if page.hasForm("/waitlist") {
		t.Error("the waitlist stands beside free seats")
	}
	p := b.press(page, "/hold", url.Values{views.FieldPartySize: {"3"}}).is(http.StatusConflict).need("data-outcome", "sold_out").says(ja("outcome.sold_out.some.title", "n", 2))
	if _, fields := p.form("/waitlist"); fields.Get(views.FieldPartySize) != "3" {
		t.Errorf("the waitlist asks for %q people", fields.Get(views.FieldPartySize))
	}
	if _, fields := p.form("/hold"); fields.Get(views.FieldPartySize) != "2" {
		t.Errorf("the hold is for %q people", fields.Get(views.FieldPartySize))
	}
	b.press(p, "/waitlist", url.Values{views.FieldPartySize: {"2"}, views.FieldName: {"山田"}, views.FieldEmail: {"a@example.com"}}).is(http.StatusConflict).need("data-outcome", "seats_free")
	b.follow(b.press(p, "/waitlist", contact("山田", "a@example.com"))).need("data-place", "1")
}

func TestAPressIsNotDoneTwice(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	slot := s.Slot(t, 5)
	b := s.browser(t)
	page := b.get(views.SlotURL("shop", slot.ID))
	held := b.press(page, "/hold", nil)
	if again := b.press(page, "/hold", nil).is(http.StatusSeeOther); again.location() != held.location() {
		t.Error("a second press of the same form made a second hold")
	}
	b.press(page, "/hold", url.Values{views.FieldPartySize: {"2"}}).is(http.StatusUnprocessableEntity).need("data-outcome", "key_reused")
	form := b.follow(held)
	for range 3 {
		done := b.press(form, "/confirm", contact("山田 花子", "hanako@example.com")).is(http.StatusSeeOther)
		b.follow(done).need("data-state", "confirmed")
	}
	for range 2 {
		b.follow(b.post(held.location()+"/cancel", url.Values{})).need("data-state", "cancelled")
	}
	if got := s.Read(t, slot); got.Taken != 0 || got.Version != 2 {
		t.Errorf("taken %d, version %d", got.Taken, got.Version)
	}
}

func TestAFormThatComesBackKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, func(p *store.Policies) { p.KanaRequired, p.PhoneRequired = true, true }))
	slot, full := s.Slot(t, 2), s.Slot(t, 1)
	s.Book(t, full, 1)
	b := s.browser(t)
	hold := b.follow(b.press(b.get(views.SlotURL("shop", slot.ID)), "/hold", nil))
	typed := url.Values{
		views.FieldName: {" "}, views.FieldKana: {"山田"}, views.FieldEmail: {"hanako＠example"}, views.FieldPhone: {"110"}, views.FieldNote: {"line 1\r\n<line 2>"},
	}
	for where, back := range map[string]page{
		"confirm":  b.press(hold, "/confirm", typed),
		"waitlist": b.press(b.get(views.SlotURL("shop", full.ID)), "/waitlist", typed),
	} {
		back.is(http.StatusUnprocessableEntity)
		for _, field := range []string{views.FieldName, views.FieldKana, views.FieldEmail, views.FieldPhone} {
			back.need("data-error", field)
		}
		_, fields := back.form("/" + where)
		for field, want := range map[string]string{views.FieldKana: "山田", views.FieldEmail: "hanako＠example", views.FieldPhone: "110"} {
			if got := fields.Get(field); got != want {
				t.Errorf("%s: %s came back as %q", where, field, got)
			}
		}
		if note := strings.ReplaceAll(fields.Get(views.FieldNote), "\r", ""); note != "line 1\n<line 2>" {
			t.Errorf("%s: the note came back as %q", where, note)
		}
	}
	good := url.Values{
		views.FieldName: {"山田 花子"}, views.FieldKana: {"やまだ ﾊﾅｺ"}, views.FieldEmail: {"ｈａｎａｋｏ@Example.com"}, views.FieldPhone: {"０９０ー１２３４－５６７８"},
	}
	b.follow(b.press(hold, "/confirm", good)).need("data-state", "confirmed")
	var kana, email, phone string
	err := s.Pool.QueryRow(t.Context(), "SELECT kana, email, phone FROM reservations WHERE slot_id = $1", slot.ID).Scan(&kana, &email, &phone)
	if err != nil || kana != "ヤマダ ハナコ" || email != "hanako@example.com" || phone != "+819012345678" {
		t.Errorf("stored as %q %q %q, %v", kana, email, phone, err)
	}
}

func TestWhatRanOutIsToldAndKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	slot := s.Slot(t, 1)
	b := s.browser(t)
	held := b.press(b.get(views.SlotURL("shop", slot.ID)), "/hold", nil)
	form := b.follow(held)

	// Past the shown deadline and within the grace the form still works, and no page speaks of it.
	s.Exec(t, "UPDATE reservations SET shown_until = now() - interval '2 seconds', expires_at = now() + interval '30 seconds'")
	b.get(held.location()).is(http.StatusOK).need("data-state", "held").need("data-seconds-left", "0")
	s.Exec(t, "UPDATE reservations SET shown_until = now() - interval '70 seconds', expires_at = now() - interval '10 seconds'")
	b.get(held.location()).is(http.StatusOK).need("data-state", "expired")
	b.get(views.SlotURL("shop", slot.ID)).is(http.StatusOK).need("data-seats-left", "1")

	late := b.press(form, "/confirm", contact("山田 花子", "hanako@example.com")).is(http.StatusGone).need("data-state", "expired")
	again := b.press(late, "/hold", nil).is(http.StatusOK).need("data-state", "held")
	_, fields := again.form("/confirm")
	if fields.Get(views.FieldName) != "山田 花子" || fields.Get(views.FieldEmail) != "hanako@example.com" {
		t.Errorf("what was typed is lost: %v", fields)
	}
	b.follow(b.press(again, "/confirm", nil)).need("data-state", "confirmed")
}

func TestChangedTermsAreShownBeforeAnybodyAgrees(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	slot := s.Slot(t, 3)
	b := s.browser(t)
	page := b.get(views.SlotURL("shop", slot.ID))
	held := b.press(page, "/hold", nil)
	form := b.follow(held)
	start := slot.StartsAt.Add(24 * time.Hour)
	if _, err := s.Store.ChangeTerms(t.Context(), store.TermsRequest{TenantID: slot.TenantID, SlotID: slot.ID, StartsAt: start, EndsAt: start.Add(time.Hour), ServiceID: slot.ServiceID, ResourceID: slot.ResourceID, Reason: "ill", Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	changed := b.press(form, "/confirm", contact("山田 花子", "hanako@example.com")).is(http.StatusConflict).need("data-outcome", "terms_changed").need("data-state", "held")
	if _, fields := changed.form("/confirm"); fields.Get(views.FieldName) != "山田 花子" {
		t.Error("what was typed is lost")
	}
	b.follow(b.press(changed, "/confirm", nil)).need("data-state", "confirmed")
	b.press(page, "/hold", url.Values{views.FieldIdempotencyKey: {"other"}}).is(http.StatusConflict).need("data-outcome", "terms_changed")
}
