package web

import (
	"bytes"
	"image"
	"image/png"
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

func TestAWaitingPartyChoosesWhatItIsTold(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	slot := s.Slot(t, 1)
	s.Book(t, slot, 1)
	e := s.Join(t, slot, 1)
	entry := views.WaitlistURL("shop", s.Store.EntryToken(e))
	b := s.browser(t)
	page := b.get(entry).is(http.StatusOK).need("aria-checked", "true").says(ja("prefer.label"))
	if !strings.Contains(page.text(), "いつもメールでお知らせし、お席を確保します") {
		t.Error("the page does not say that a turn is offered in any case")
	}
	off := url.Values{views.FieldTellVacancies: {"no"}}
	for range 2 { // a second press of the same page does not turn it on again
		b.follow(b.post(entry+"/preferences", off)).is(http.StatusOK).need("aria-checked", "false").says(ja("flash.prefer.off"))
	}
	if s.Entry(t, e).TellVacancies {
		t.Error("it is not stored")
	}
	// The own story does not take it for a smaller party.
	if text := b.get(entry).text(); strings.Contains(text, ja("live.story.changed", "n", 1)) {
		t.Error("the page says that the party has changed")
	}
	b.follow(b.post(entry+"/preferences", url.Values{views.FieldTellVacancies: {"yes"}})).need("aria-checked", "true")
	b.post(entry+"/preferences", nil).is(http.StatusUnprocessableEntity).need("data-error", views.FieldTellVacancies).need("data-state", "waiting")
	b.follow(b.press(b.get(entry), "/withdraw", nil))
	b.post(entry+"/preferences", off).is(http.StatusConflict).need("data-state", "withdrawn")

	desk := atTheDesk(t, s)
	desk.get(views.StaffSlotURL("shop", slot.ID)).is(http.StatusOK).says(strings.TrimPrefix(ja("staff.event_untold", "who", ""), "\u2068\u2069"))
}

func TestAPictureIsKeptForEverUnderItsHash(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	slot := s.Slot(t, 2)
	b := s.browser(t)
	if b.get(views.SlotURL("shop", slot.ID)).has("src", "") && len(b.get(views.SlotURL("shop", slot.ID)).all("loading", "lazy")) > 0 {
		t.Error("a service without a picture shows one")
	}
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, 64, 36))); err != nil {
		t.Fatal(err)
	}
	info, err := s.Store.SetPicture(t.Context(), s.Tenant.ID, s.Service.ID, file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{views.SlotURL("shop", slot.ID), "/shop", "/shop?service=class"} {
		shown := b.get(path).is(http.StatusOK).all("loading", "lazy")
		if len(shown) != 1 {
			t.Fatalf("%s shows %d pictures", path, len(shown))
		}
		img := shown[0]
		if attr(img, "width") != "64" || attr(img, "height") != "36" || attr(img, "alt") != "朝のヨガ" {
			t.Errorf("%s: %v", path, img.Attr)
		}
		got := b.get(attr(img, "src")).is(http.StatusOK)
		if got.body != file.String() || got.header.Get("Content-Type") != "image/png" || !strings.Contains(got.header.Get("Cache-Control"), "immutable") || got.header.Get("Vary") != "" {
			t.Errorf("the picture comes as %v", got.header)
		}
		b.do(http.MethodGet, attr(img, "src"), "", "", func(r *http.Request) { r.Header.Set("If-None-Match", got.header.Get("ETag")) }).is(http.StatusNotModified)
	}
	other := s.AddTenant(t, "other", nil)
	s.AddService(t, other, "class", nil)
	for _, path := range []string{
		views.PictureURL("shop", "class", "0123456789abcdef"), "/shop/services/class/picture", "/shop/services/class/picture?v=%00", "/shop/services/class/picture?v=%ff",
		views.PictureURL("other", "class", info.Hash), views.PictureURL("shop", "nothing", info.Hash), "/shop/services/%00/picture?v=" + info.Hash,
	} {
		if got := b.get(path).is(http.StatusNotFound); strings.Contains(got.header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: what is not there is kept for ever", path)
		}
	}
}

// Between the deadline that people read and the one that is enforced everything
// still works, and no page says so: else everybody would take the later one.
func TestGraceWorksAndNoPageMentionsIt(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	now, err := s.Store.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	shown, enforced := now.Add(-90*time.Second), now.Add(4*time.Minute)
	silent := func(p page) page {
		t.Helper()
		loc := s.Tenant.Location()
		for _, lang := range i18n.Languages {
			if words := i18n.For(lang).Time(enforced, loc); strings.Contains(p.text(), words) {
				t.Errorf("the page names the enforced deadline, %s:\n%s", words, p.text())
			}
		}
		for _, form := range []string{time.RFC3339, "2006-01-02T15:04"} {
			if strings.Contains(p.body, enforced.UTC().Format(form)) || strings.Contains(p.body, enforced.In(loc).Format(form)) {
				t.Error("the page has the enforced deadline in it")
			}
		}
		for _, n := range p.all("data-seconds-left", "") {
			if attr(n, "data-seconds-left") != "0" {
				t.Errorf("the page counts %s seconds", attr(n, "data-seconds-left"))
			}
		}
		return p
	}

	held := s.Hold(t, s.Slot(t, 1), 1)
	s.Exec(t, "UPDATE reservations SET shown_until = $1, expires_at = $2 WHERE id = $3", shown, enforced, held.ID)
	b := s.browser(t)
	form := silent(b.get(views.ReservationURL("shop", s.Store.ReservationToken(held))).is(http.StatusOK).need("data-state", "held").need("data-seconds-left", "0"))
	silent(b.press(form, "/confirm", nil).is(http.StatusUnprocessableEntity))
	b.follow(b.press(form, "/confirm", contact("山田 花子", "late@example.com"))).is(http.StatusOK).need("data-state", "confirmed")

	slot := s.Slot(t, 1)
	booked, e := s.Book(t, slot, 1), s.Join(t, slot, 1)
	s.Cancel(t, booked)
	s.Exec(t, "UPDATE waitlist_entries SET shown_until = $1, expires_at = $2 WHERE id = $3", shown, enforced, e.ID)
	e = s.Entry(t, e)
	silent(b.get(views.WaitlistURL("shop", s.Store.EntryToken(e))).is(http.StatusOK).need("data-state", "offered"))
	offer := silent(b.get(views.OfferURL("shop", s.Store.OfferToken(e))).is(http.StatusOK).need("data-state", "offered").need("data-seconds-left", "0"))
	b.follow(b.press(offer, "/accept", nil)).is(http.StatusOK).need("data-state", "confirmed")
	if got := s.Entry(t, e).State; got != store.Accepted {
		t.Errorf("the entry is %s", got)
	}
}

// Somebody else has taken the seats of a hold that ran out: what was typed stands in the form that waits.
func TestAHoldThatRanOutOnAFullSlotOffersTheWaitlistWithWhatWasTyped(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	slot := s.Slot(t, 1)
	b := s.browser(t)
	form := b.follow(b.press(b.get(views.SlotURL("shop", slot.ID)), "/hold", nil)).need("data-state", "held")
	s.Exec(t, "UPDATE reservations SET shown_until = now() - interval '2 minutes', expires_at = now() - interval '1 minute' WHERE slot_id = $1", slot.ID)
	s.Book(t, slot, 1)
	late := b.press(form, "/confirm", contact("山田 花子", "hanako@example.com")).is(http.StatusGone).need("data-state", "expired")
	if !strings.Contains(late.body, `value="hanako@example.com"`) {
		t.Errorf("what was typed is lost:\n%s", late.text())
	}
	b.follow(b.press(late, "/waitlist", nil)).is(http.StatusOK).need("data-state", "waiting")
}
