package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"holdfast/store"
	"holdfast/store/storetest/shop"
	"holdfast/views"
)

func init() {
	person := func(t *testing.T, s *site) store.Reservation { return s.Book(t, s.Slot(t, 4), 2) }
	for route, form := range map[string]badForm{
		"/staff/{tenant}/people": {
			fields: []badField{{name: views.FieldQuery, kind: textField, longest: longestQuery}}, staff: true, alert: true, shown: true,
			fresh: func(*testing.T, *site) (string, url.Values) {
				return views.StaffPeopleURL("shop"), url.Values{views.FieldQuery: {"客"}}
			},
		},
		"/staff/{tenant}/people/{person}/links": {
			staff: true,
			fresh: func(t *testing.T, s *site) (string, url.Values) {
				return views.StaffPersonLinksURL("shop", person(t, s).ID), url.Values{}
			},
		},
		"/staff/{tenant}/people/{person}/erase": {
			fields: []badField{{name: views.FieldReason, kind: textField, longest: longestReason}, {name: views.FieldCancelUpcoming, kind: choiceField}}, owner: true,
			fresh: func(t *testing.T, s *site) (string, url.Values) {
				return views.StaffPersonEraseURL("shop", person(t, s).ID), url.Values{views.FieldReason: {"本人の依頼"}, views.FieldCancelUpcoming: {"1"}}
			},
		},
	} {
		forms[route] = form
	}
}

// known books twice for one person, who waits for a third slot.
func (s *site) known(t testing.TB) (visited, ahead store.Reservation, waits store.Entry) {
	t.Helper()
	who := store.Contact{Name: "早乙女 花子", Kana: "サオトメ ハナコ", Email: "Hanako@mail.example", Phone: "+819087654321", Note: "窓の近く", Locale: "ja"}
	book := func(slot store.Slot) store.Reservation {
		req := s.ConfirmRequest(s.Hold(t, slot, 1))
		req.Contact = who
		r, err := s.Store.Confirm(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := s.Slot(t, 2)
	visited = book(first)
	if _, err := s.Store.SetAttendance(t.Context(), store.AttendanceRequest{TenantID: s.Tenant.ID, ID: visited.ID, Attendance: "no_show", Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	s.Exec(t, "UPDATE slots SET starts_at = now() - interval '50 hours', ends_at = now() - interval '49 hours' WHERE id = $1", first.ID)
	ahead = book(s.Slot(t, 2))
	full := s.Slot(t, 1)
	s.Book(t, full, 1)
	req := s.JoinRequest(full, 1)
	req.Contact = who
	waits, err := s.Store.Join(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return visited, ahead, waits
}

func TestACustomerIsFoundAndTheirHistoryTold(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	visited, ahead, waits := s.known(t)
	list := b.get(views.StaffPeopleURL("shop")).is(http.StatusOK).says("早乙女 花子").says("来店なし 1回")
	if n := strings.Count(list.body, "早乙女"); n != 1 {
		t.Errorf("stands in the list %d times", n)
	}
	found := b.post(views.StaffPeopleURL("shop"), url.Values{views.FieldQuery: {"早乙女"}}).is(http.StatusOK).says("該当する予約 2件").says("キャンセル待ち 1件")
	if n := strings.Count(found.body, `class="staff-people-who"`); n != 1 {
		t.Errorf("found %d customers", n)
	}
	for _, id := range []string{visited.ID, ahead.ID, waits.ID} {
		p := b.get(views.StaffPersonURL("shop", id)).is(http.StatusOK).says("早乙女 花子").says("Hanako@mail.example").says("090-8765-4321").says("日本語")
		p.need("data-line", visited.ID).need("data-line", ahead.ID).need("data-line", waits.ID).need("data-attendance", "no_show")
		// The counter sees who it is, and neither takes the data along nor erases them.
		if strings.Contains(p.body, "/export") || strings.Contains(p.body, "/erase") {
			t.Error("the counter is offered what it may not do")
		}
	}
	b.follow(b.press(b.get(views.StaffPersonURL("shop", ahead.ID)), "/links", nil)).is(http.StatusOK)
	var mails int
	if err := s.Pool.QueryRow(t.Context(), "SELECT count(*) FROM outbox WHERE kind = 'my_reservations' AND recipient = 'Hanako@mail.example'").Scan(&mails); err != nil || mails != 1 {
		t.Errorf("%d mails: %v", mails, err)
	}
	for _, path := range []string{views.StaffPersonExportURL("shop", ahead.ID), views.StaffPersonExportFileURL("shop", ahead.ID), views.StaffPersonEraseURL("shop", ahead.ID)} {
		b.get(path).is(http.StatusForbidden)
	}
	b.get(views.StaffPersonURL("shop", absentID)).is(http.StatusNotFound)
	b.get(views.StaffPersonURL("shop", "nobody")).is(http.StatusNotFound)
}

func TestACustomerOfAnotherVenueIsAbsent(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	_, ahead, waits := s.known(t)
	other := s.AddTenant(t, "other", nil)
	s.hire(t, other, "theirs@example.com", store.RoleOwner)
	b := s.browser(t)
	b.post("/staff/sign-in", signIn("theirs@example.com", staffPassword)).is(http.StatusSeeOther)
	before := dump(t, s.Shop)
	for _, id := range []string{ahead.ID, waits.ID} {
		for _, path := range []string{views.StaffPersonURL("other", id), views.StaffPersonExportURL("other", id), views.StaffPersonExportFileURL("other", id), views.StaffPersonEraseURL("other", id)} {
			if p := b.get(path); p.status != http.StatusNotFound || strings.Contains(p.body, "早乙女") {
				t.Errorf("%s: %d", path, p.status)
			}
		}
		b.post(views.StaffPersonEraseURL("other", id), url.Values{views.FieldReason: {"x"}, views.FieldCancelUpcoming: {"1"}}).is(http.StatusNotFound)
		b.post(views.StaffPersonLinksURL("other", id), nil).is(http.StatusNotFound)
	}
	if p := b.get(views.StaffPeopleURL("other")).is(http.StatusOK); strings.Contains(p.body, "早乙女") {
		t.Error("the list shows another's customer")
	}
	if p := b.post(views.StaffPeopleURL("other"), url.Values{views.FieldQuery: {"早乙女"}}).is(http.StatusOK); strings.Contains(p.body, "サオトメ") {
		t.Error("the search finds another's customer")
	}
	if dump(t, s.Shop) != before {
		t.Error("something of another's has changed")
	}
}

func TestTheExportIsWholeAndHasNoSecrets(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	_, ahead, waits := s.known(t)
	token := s.Store.ReservationToken(ahead)
	s.Exec(t, "UPDATE outbox SET state = 'sent', sent_at = now(), sent_subject = 'ご予約', sent_text = $1 WHERE kind = 'confirmed'", "早乙女 花子 様\nhttps://booking.example/shop/reservations/"+token+"\n")
	page := b.get(views.StaffPersonExportURL("shop", waits.ID)).is(http.StatusOK).says("早乙女 花子").says("192.0.2.1").says("https://booking.example/shop/reservations/…")
	file := b.get(views.StaffPersonExportFileURL("shop", waits.ID)).is(http.StatusOK)
	if got := file.header.Get("Content-Disposition"); !strings.HasPrefix(got, "attachment") || strings.Contains(got, "anako") {
		t.Errorf("disposition %q", got)
	}
	for _, body := range []string{page.body, file.body} {
		for _, secret := range []string{token, s.Store.EntryToken(waits), "link_hash", "linkHash"} {
			if strings.Contains(body, secret) {
				t.Errorf("has the secret %s", secret)
			}
		}
	}
	var out exported
	if err := json.Unmarshal([]byte(file.body), &out); err != nil {
		t.Fatal(err)
	}
	if !out.Complete || len(out.Reservations) != 2 || len(out.Waits) != 1 || len(out.Messages) < 3 || len(out.Events) < 5 || out.Reservations[0].Person.Note != "窓の近く" || out.Reservations[0].LastPress.Address != "192.0.2.1" {
		t.Errorf("%+v", out)
	}
}

func TestErasingSaysFirstWhatItDoes(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	visited, ahead, waits := s.known(t)
	slot := s.Read(t, store.Slot{TenantID: s.Tenant.ID, ID: ahead.SlotID})
	s.Book(t, slot, 1)
	next := s.Join(t, slot, 1)
	before := dump(t, s.Shop)
	name := s.Entry(t, next).Name
	page := b.get(views.StaffPersonEraseURL("shop", waits.ID)).is(http.StatusOK).says(name+" 様に 1席が").need("data-line", ahead.ID).need("data-line", waits.ID)
	if dump(t, s.Shop) != before {
		t.Fatal("looking has changed something")
	}
	// No reason, and no word about the booking ahead: both are said beside their field.
	b.press(page, "/erase", nil).is(http.StatusUnprocessableEntity).need("data-error", views.FieldReason)
	b.press(page, "/erase", url.Values{views.FieldReason: {"本人の依頼"}}).is(http.StatusUnprocessableEntity).need("data-error", views.FieldCancelUpcoming).need("value", "本人の依頼")
	if dump(t, s.Shop) != before {
		t.Fatal("a refusal has changed something")
	}
	done := b.follow(b.press(page, "/erase", url.Values{views.FieldReason: {"本人の依頼"}, views.FieldCancelUpcoming: {"1"}})).is(http.StatusOK).need("data-state", "erased").says("個人情報を消去しました")
	for _, p := range []string{done.body, b.get(views.StaffPeopleURL("shop")).body, b.post(views.StaffPeopleURL("shop"), url.Values{views.FieldQuery: {"サオトメ"}}).body, dump(t, s.Shop)} {
		for _, trace := range []string{"早乙女", "ハナコ", "anako@mail", "9087654321", "窓の近く"} {
			if strings.Contains(strings.ReplaceAll(p, "サオトメ", ""), trace) {
				t.Errorf("still there: %s", trace)
			}
		}
	}
	if e := s.Entry(t, next); e.State != store.Offered {
		t.Errorf("who waited for the seat is %s", e.State)
	}
	// Her own links say that they are not valid.
	b.get(views.ReservationURL("shop", s.Store.ReservationToken(ahead))).is(http.StatusNotFound)
	// Pressed again, and looked at again: it is done.
	b.follow(b.post(views.StaffPersonEraseURL("shop", visited.ID), url.Values{views.FieldReason: {"本人の依頼"}})).is(http.StatusOK).says("すでに消去")
	b.follow(b.get(views.StaffPersonEraseURL("shop", visited.ID))).is(http.StatusOK)
	b.get(views.StaffSlotURL("shop", visited.SlotID)).is(http.StatusOK).says("個人情報を消去しました")
}

func TestPeoplePagesKeepToTheirBudgetOfStatements(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	_, ahead, _ := s.known(t)
	for range 8 {
		slot := s.Slot(t, 2)
		req := s.ConfirmRequest(s.Hold(t, slot, 1))
		req.Contact = store.Contact{Name: "早乙女 花子", Email: "hanako@mail.example", Locale: "ja"}
		if _, err := s.Store.Confirm(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		s.Book(t, slot, 1)
		s.Join(t, slot, 1)
	}
	for _, c := range []struct {
		name string
		most int
		open func() page
	}{
		{"list", 8, func() page { return b.get(views.StaffPeopleURL("shop")) }},
		{"search", 9, func() page { return b.post(views.StaffPeopleURL("shop"), url.Values{views.FieldQuery: {"客"}}) }},
		{"person", 14, func() page { return b.get(views.StaffPersonURL("shop", ahead.ID)) }},
		{"export", 18, func() page { return b.get(views.StaffPersonExportURL("shop", ahead.ID)) }},
		// The step itself, made and undone in a few slots, is among these.
		{"erase", 36, func() page { return b.get(views.StaffPersonEraseURL("shop", ahead.ID)) }},
	} {
		var got page
		if n := s.Count(func() { got = c.open() }); n > c.most || got.status != http.StatusOK {
			t.Errorf("%s: %d statements, at most %d (status %d)", c.name, n, c.most, got.status)
		} else {
			t.Log(fmt.Sprint(c.name, ": ", n))
		}
	}
}
