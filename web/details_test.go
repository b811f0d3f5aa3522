package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"holdfast/store"
	"holdfast/store/storetest/shop"
	"holdfast/views"
	"holdfast/views/i18n"
)

// asking opens a shop whose service asks one question of each kind; only the
// choice is asked of those who wait.
func asking(t testing.TB) *site {
	t.Helper()
	s := shop.New(t, nil)
	label := func(ja, en string) store.Text { return store.Text{"ja": ja, "en": en} }
	service, err := s.Store.AddService(t.Context(), store.Service{
		TenantID: s.Tenant.ID, Slug: "asks", Name: label("試食会", "Tasting"), Duration: time.Hour, Capacity: 10, Active: true,
		Questions: []store.Question{
			{ID: "diet", Kind: store.QuestionText, Label: label("食べられないもの", "What you cannot eat"), MaxLength: 20},
			{ID: "seat", Kind: store.QuestionChoice, Label: label("お席", "Seat"), Required: true, OnJoin: true, Options: []store.QuestionOption{
				{ID: "window", Label: label("窓側", "By the window")}, {ID: "hall", Label: label("中央", "In the middle")},
			}},
			{ID: "photo", Kind: store.QuestionConsent, Label: label("写真に写ってもよい", "Photographs")},
			{ID: "terms", Kind: store.QuestionConsent, Label: label("規約を読みました", "Terms"), Required: true},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Service = service
	return openSite(t, s)
}

// value is what a field of the page has.
func (p page) value(action, field string) []string {
	p.t.Helper()
	_, fields := p.form(action)
	return fields[field]
}

const (
	diet  = views.FieldAnswer + "diet"
	seat  = views.FieldAnswer + "seat"
	photo = views.FieldAnswer + "photo"
	terms = views.FieldAnswer + "terms"
)

func TestQuestionsAreAskedAndTheirAnswersRead(t *testing.T) {
	t.Parallel()
	s := asking(t)
	slot := s.Slot(t, 1)
	b := s.browser(t)
	held := b.press(b.get(views.SlotURL("shop", slot.ID)), "/hold", nil)
	form := b.follow(held).need("data-state", "held").says("食べられないもの")
	good := func() url.Values {
		v := contact("山田 花子", "hanako@example.com")
		v.Set(diet, "えび")
		v.Set(seat, "window")
		v.Set(terms, "yes")
		return v
	}
	for _, c := range []struct {
		name, field string
		values      []string
	}{
		{"a choice that was not made", seat, []string{""}},
		{"a choice that is not there", seat, nil},
		{"a choice of nothing on the list", seat, []string{"roof"}},
		{"two choices", seat, []string{"window", "hall"}},
		{"a needed consent that was not given", terms, nil},
		{"a needed consent in other words", terms, []string{"on"}},
		{"a consent in other words", photo, []string{"maybe"}},
		{"a text that is too long", diet, []string{strings.Repeat("卵", 21)}},
		{"a text with NUL", diet, []string{"a\x00b"}},
		{"a text that is no UTF-8", diet, []string{"\xff\xfe"}},
		{"a text with an escape", diet, []string{"\x1b[31m"}},
		{"two texts", diet, []string{"a", "b"}},
		{"a choice with NUL", seat, []string{"window\x00"}},
	} {
		v := good()
		v[c.field] = c.values
		p := b.press(form, "/confirm", v)
		if p.status != http.StatusUnprocessableEntity || !p.has("data-error", c.field) || !p.has("href", "#"+c.field) {
			t.Errorf("%s: %d, or no message beside the field:\n%s", c.name, p.status, p.text())
			continue
		}
		for field, want := range good() {
			if got := p.value("/confirm", field); field != c.field && !slices.Equal(got, want) {
				t.Errorf("%s: %s was %q and came back as %q", c.name, field, want, got)
			}
		}
	}
	v := good()
	v.Set(diet, "えび 🦐 مرحبا & <b>")
	v.Set(views.FieldAnswer+"unknown", "nobody asked")
	booked := b.follow(b.press(form, "/confirm", v)).need("data-state", "confirmed").says("食べられないもの").says("えび 🦐 مرحبا & <b>").says("窓側").says(ja("details.no")).says(ja("details.yes"))
	if strings.Contains(booked.text(), "nobody asked") {
		t.Error("an answer to no question was kept")
	}
	// In the other language the options are said in it.
	b.follow(b.press(b.get(held.location()), "/language", url.Values{views.FieldLang: {"en"}})).says("By the window").says("What you cannot eat")

	desk := atTheDesk(t, s)
	desk.get(views.StaffSlotURL("shop", slot.ID)).says("窓側").says("えび 🦐 مرحبا & <b>")
}

func TestTheWaitlistAsksOnlyWhatIsForIt(t *testing.T) {
	t.Parallel()
	s := asking(t)
	slot := s.Slot(t, 1)
	first := s.Book(t, slot, 1)
	b := s.browser(t)
	form := b.get(views.SlotURL("shop", slot.ID)).is(http.StatusOK)
	if _, fields := form.form("/waitlist"); fields.Has(terms) || strings.Contains(form.text(), "食べられないもの") {
		t.Error("those who wait are asked what is not for them")
	}
	b.press(form, "/waitlist", contact("佐藤 次郎", "jiro@example.com")).is(http.StatusUnprocessableEntity).need("data-error", seat)
	v := contact("佐藤 次郎", "jiro@example.com")
	v.Set(seat, "hall")
	v.Set(diet, "not asked here")
	joined := b.press(form, "/waitlist", v).is(http.StatusSeeOther)
	s.Cancel(t, first)
	offer := ""
	for _, a := range b.follow(joined).all("href", "") {
		if strings.Contains(attr(a, "href"), "/offers/") {
			offer = attr(a, "href")
		}
	}
	accepted := b.press(b.get(offer), "/accept", nil)
	booked := b.follow(accepted).need("data-state", "confirmed").says("中央").need("data-missing-answers", "")
	// What was not asked yet is answered on the page of the booking.
	v = url.Values{terms: {"yes"}, diet: {"小麦"}}
	if done := b.follow(b.press(booked, "/contact", v)).says("小麦").says(ja("flash.contact")); done.has("data-missing-answers", "") {
		t.Error("what was answered is still asked for")
	}
	desk := atTheDesk(t, s)
	desk.get(views.StaffSlotURL("shop", slot.ID)).says("小麦")
}

func TestAnswersOutliveTheEndOfAHold(t *testing.T) {
	t.Parallel()
	s := asking(t)
	slot := s.Slot(t, 3)
	b := s.browser(t)
	held := b.press(b.get(views.SlotURL("shop", slot.ID)), "/hold", nil)
	form := b.follow(held)
	s.Exec(t, "UPDATE reservations SET shown_until = now() - interval '2 minutes', expires_at = now() - interval '1 minute' WHERE state = 'held'")
	v := contact("山田 花子", "hanako@example.com")
	v.Set(diet, "えび")
	v.Set(seat, "hall")
	v.Set(terms, "yes")
	over := b.press(form, "/confirm", v).is(http.StatusGone).need("data-state", "expired")
	again := b.press(over, "/hold", nil).is(http.StatusOK).need("data-state", "held")
	for field, want := range map[string]string{diet: "えび", seat: "hall", terms: "yes", views.FieldName: "山田 花子"} {
		if got := again.value("/confirm", field); len(got) != 1 || got[0] != want {
			t.Errorf("%s came back as %q", field, got)
		}
	}
	b.follow(b.press(again, "/confirm", nil)).need("data-state", "confirmed").says("中央")
}

func TestNothingTypedRunsAnywhere(t *testing.T) {
	t.Parallel()
	for _, attack := range []string{`<img src=x onerror=alert(1)>`, `"><svg onload=alert(1)>`, `'-alert(1)-'`, `javascript:alert(1)`, `</textarea><script>alert(1)</script>`} {
		t.Run(attack, func(t *testing.T) {
			t.Parallel()
			s := asking(t)
			s.Exec(t, `UPDATE services SET questions = jsonb_set(questions, '{0,maxLength}', '200') WHERE slug = 'asks'`)
			slot := s.Slot(t, 1)
			safe := func(where string, p page) {
				t.Helper()
				for n := range p.doc.Descendants() {
					if n.Data == "svg" && hasAttr(n, "onload") || n.Data == "img" && attr(n, "src") == "x" || n.Data == "script" && !hasAttr(n, "src") && n.FirstChild != nil && strings.Contains(n.FirstChild.Data, "alert") {
						t.Errorf("%s: <%s> of %s", where, n.Data, attack)
					}
					if a := attr(n, "href"); strings.HasPrefix(strings.TrimSpace(a), "javascript:") {
						t.Errorf("%s: a link runs %s", where, a)
					}
				}
			}
			b := s.browser(t)
			held := b.press(b.get(views.SlotURL("shop", slot.ID)), "/hold", nil)
			v := contact(attack, "hanako@example.com")
			v.Set(diet, attack)
			v.Set(seat, attack) // refused, and shown again
			v.Set(terms, "yes")
			v.Set(views.FieldNote, attack)
			refused := b.press(b.follow(held), "/confirm", v).is(http.StatusUnprocessableEntity).need("data-error", seat)
			safe("the form that came back", refused)
			v.Set(seat, "hall")
			booked := b.follow(b.press(refused, "/confirm", v)).need("data-state", "confirmed").says(attack)
			safe("the booking", booked)
			safe("the correction", b.press(booked, "/contact", url.Values{views.FieldName: {attack}, views.FieldEmail: {attack}, seat: {attack}}).is(http.StatusUnprocessableEntity))
			desk := atTheDesk(t, s)
			safe("the counter", desk.get(views.StaffSlotURL("shop", slot.ID)).says(attack))
		})
	}
}

func TestAContactIsCorrected(t *testing.T) {
	t.Parallel()
	s := asking(t)
	slot := s.Slot(t, 3)
	b := s.browser(t)
	held := b.press(b.get(views.SlotURL("shop", slot.ID)), "/hold", nil)
	v := contact("やまだ", "hanako@example.com")
	v.Set(seat, "hall")
	v.Set(terms, "yes")
	link := held.location()
	booked := b.follow(b.press(b.follow(held), "/confirm", v)).need("data-state", "confirmed")
	for _, c := range []struct{ field, value string }{
		{views.FieldName, ""},
		{views.FieldName, "\x00"},
		{views.FieldKana, "山田"},
		{views.FieldEmail, ""},
		{views.FieldEmail, "a@"},
		{views.FieldEmail, "a b@example.com"},
		{views.FieldPhone, "12"},
		{views.FieldNote, strings.Repeat("あ", longestNote+1)},
		{seat, ""},
		{terms, ""},
	} {
		v := url.Values{views.FieldName: {"山田 花子"}, views.FieldPhone: {"０９０ー１２３４ー５６７８"}}
		v.Set(c.field, c.value)
		p := b.press(booked, "/contact", v)
		if p.status != http.StatusUnprocessableEntity || !p.has("data-error", c.field) || !p.has("data-state", "confirmed") {
			t.Errorf("%s=%q: %d, or no message beside the field", c.field, c.value, p.status)
			continue
		}
		if got := p.value("/contact", views.FieldPhone); c.field != views.FieldPhone && got[0] != "０９０ー１２３４ー５６７８" {
			t.Errorf("%s=%q: what else was typed came back as %q", c.field, c.value, got)
		}
	}
	p := b.follow(b.press(booked, "/contact", url.Values{
		views.FieldName: {" 髙橋 𠮷郎 👩‍👩‍👧 "}, views.FieldKana: {"たかはし よしろう"}, views.FieldPhone: {"０９０ー１２３４ー５６７８"}, views.FieldEmail: {"Hanako@EXAMPLE.com "},
	})).says("髙橋 𠮷郎 👩‍👩‍👧").says(ja("flash.contact"))
	if p.has("data-email-pending", "") {
		t.Error("the same address otherwise spelled is to be confirmed")
	}
	res, err := s.Store.ReservationByToken(t.Context(), s.Tenant.ID, link[strings.LastIndexByte(link, '/')+1:])
	if err != nil || res.Kana != "タカハシ ヨシロウ" || res.Phone != "+819012345678" || res.Email != "Hanako@example.com" || res.Answers["seat"] != "hall" {
		t.Fatalf("%+v, %v", res, err)
	}
	b.follow(b.press(p, "/cancel", nil)).need("data-state", "cancelled")
	b.post(link+"/contact", url.Values{views.FieldName: {"x"}, views.FieldEmail: {"hanako@example.com"}}).is(http.StatusConflict).need("data-state", "cancelled").need("data-outcome", "over")
}

func TestANewAddressIsConfirmedByItsOwner(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	slot := s.Slot(t, 3)
	b := s.browser(t)
	link := b.book(slot, "old@example.com")
	asked := b.follow(b.press(b.get(link), "/contact", url.Values{views.FieldEmail: {"taro+class@example.com"}})).need("data-email-pending", "").says("taro+class@example.com").says(ja("details.pending.title"))
	res, err := s.Store.ReservationByToken(t.Context(), s.Tenant.ID, link[strings.LastIndexByte(link, '/')+1:])
	if err != nil || res.Email != "old@example.com" {
		t.Fatal(res.Email, err)
	}
	if strings.Contains(asked.body, s.Store.EmailToken(res)) {
		t.Fatal("whoever asked can confirm without the mail")
	}
	path := views.EmailChangeURL("shop", s.Store.EmailToken(res))
	other := s.browser(t) // the mail is read elsewhere
	form := other.get(path).is(http.StatusOK).need("data-state", "asked").says("taro+class@example.com")
	for _, personal := range []string{"山田", res.Number, s.Store.ReservationToken(res), "old@example.com"} {
		if strings.Contains(form.body, personal) {
			t.Errorf("before the press the page has %s", personal)
		}
	}
	if got := s.Reservation(t, res); got.Email != "old@example.com" {
		t.Fatal("opening the link changed the address")
	}
	done := other.follow(other.press(form, path, nil)).is(http.StatusOK).need("data-state", "done").need("href", link)
	if done.hasForm(path) {
		t.Error("what is done can be pressed")
	}
	other.post(path, nil).is(http.StatusSeeOther) // twice is once
	if got := s.Reservation(t, res); got.Email != "taro+class@example.com" {
		t.Fatal(got.Email)
	}
	if p := b.get(link); p.has("data-email-pending", "") {
		t.Error("the address still waits")
	}

	// A later one that comes too late.
	b.follow(b.press(b.get(link), "/contact", url.Values{views.FieldEmail: {"late@example.com"}})).need("data-email-pending", "")
	res = s.Reservation(t, res)
	late := views.EmailChangeURL("shop", s.Store.EmailToken(res))
	s.Exec(t, "UPDATE reservations SET email_until = now() - interval '1 hour'")
	other.get(late).is(http.StatusOK).need("data-state", "over")
	other.post(late, nil).is(http.StatusGone).need("data-state", "over")
	other.get(path).is(http.StatusNotFound)
	if p := b.get(link); p.has("data-email-pending", "") {
		t.Error("what is over is said to wait")
	}
	// To somebody who has booked here meanwhile.
	b.follow(b.press(b.get(link), "/contact", url.Values{views.FieldEmail: {"twin@example.com"}}))
	s.browser(t).book(slot, "twin@example.com")
	res = s.Reservation(t, res)
	other.post(views.EmailChangeURL("shop", s.Store.EmailToken(res)), nil).is(http.StatusConflict).need("data-outcome", "already_booked")
}

func TestThePressIsTheConsent(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	slot := s.Slot(t, 3)
	b := s.browser(t)
	consent := func(email string) (version string, at *time.Time) {
		t.Helper()
		if err := s.Pool.QueryRow(t.Context(), "SELECT consent_version, consented_at FROM reservations WHERE email = $1", email).Scan(&version, &at); err != nil {
			t.Fatal(err)
		}
		return version, at
	}
	b.book(slot, "one@example.com")
	if version, at := consent("one@example.com"); version != "" || at != nil {
		t.Errorf("consent to nothing: %q %v", version, at)
	}
	s.Exec(t, "UPDATE tenants SET privacy_url = 'https://shop.example/privacy', legal_url = 'https://shop.example/legal', privacy_version = '2026-04'")
	held := b.press(b.get(views.SlotURL("shop", slot.ID)), "/hold", nil)
	form := b.follow(held).says(ja("details.confirm.consent")).says(ja("details.consent.after")).need("href", "https://shop.example/privacy")
	main := form.all("id", "main")[0]
	legal := false
	for n := range main.Descendants() {
		legal = legal || attr(n, "href") == "https://shop.example/legal"
	}
	if !legal {
		t.Error("the legal notice does not stand before the last press")
	}
	b.follow(b.press(form, "/confirm", contact("客", "two@example.com"))).need("data-state", "confirmed")
	if version, at := consent("two@example.com"); version != "2026-04" || at == nil {
		t.Errorf("%q %v", version, at)
	}
}

func TestCalendarsOnTheWebLearnNothingPersonal(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	slot := s.Slot(t, 3)
	b := s.browser(t)
	link := b.book(slot, "hanako@example.com")
	found := 0
	for _, a := range b.get(link).all("href", "") {
		address, err := url.Parse(attr(a, "href"))
		if err != nil {
			t.Fatal(err)
		}
		if address.Host == "" {
			continue
		}
		found++
		said, err := url.QueryUnescape(address.RawQuery)
		if err != nil || strings.Contains(said, "hanako") || strings.Contains(said, "山田") || strings.Contains(said, link[len(link)-20:]) || !strings.Contains(said, "朝のヨガ (Studio shop)") {
			t.Errorf("%s says %s (%v)", address.Host, said, err)
		}
		start := slot.StartsAt.UTC()
		if !strings.Contains(said, start.Format("20060102T150405Z")) && !strings.Contains(said, start.Format(time.RFC3339)) {
			t.Errorf("%s does not have the time: %s", address.Host, said)
		}
	}
	if found != 2 {
		t.Errorf("%d calendars", found)
	}
}

// inARow opens a shop whose service allows two slots in one hold, with three
// slots one after the other, and one after a gap.
func inARow(t *testing.T) (*site, []store.Slot) {
	t.Helper()
	s := shop.New(t, func(p *store.Policies) { p.SlotsTogether = 2 })
	slots := []store.Slot{s.Slot(t, 2), s.Slot(t, 2), s.Slot(t, 2)}
	return openSite(t, s), append(slots, s.SlotAt(t, 2, s.Start.Add(90*time.Minute)))
}

func TestTwoSlotsInARowAreOneHold(t *testing.T) {
	t.Parallel()
	s, slots := inARow(t)
	b := s.browser(t)
	page := b.get(views.SlotURL("shop", slots[0].ID)).is(http.StatusOK)
	if got := len(page.all("name", views.FieldTogether)); got != 2 {
		t.Fatalf("%d choices", got)
	}
	if last := b.get(views.SlotURL("shop", slots[2].ID)); last.has("name", views.FieldTogether) {
		t.Error("a slot after a gap is offered as the next")
	}
	held := b.press(page, "/hold", url.Values{views.FieldTogether: {"2"}})
	form := b.follow(held).need("data-state", "held").need("data-slot", slots[0].ID).need("data-slot", slots[1].ID)
	if again := b.press(page, "/hold", url.Values{views.FieldTogether: {"2"}}); again.location() != held.location() {
		t.Error("pressed twice it is another hold")
	}
	booked := b.follow(b.press(form, "/confirm", contact("山田 花子", "hanako@example.com"))).need("data-state", "confirmed")
	other := ""
	for _, n := range booked.all("data-slot", slots[1].ID) {
		for a := range n.Descendants() {
			if strings.Contains(attr(a, "href"), "/reservations/") {
				other = attr(a, "href")
			}
		}
	}
	if other == "" || other == held.location() {
		t.Fatalf("the second slot has no page of its own (%q)", other)
	}
	b.follow(b.press(b.get(other).need("data-state", "confirmed"), "/cancel", nil)).need("data-state", "cancelled")
	left := b.get(held.location()).need("data-state", "confirmed")
	if left.has("data-slot", slots[1].ID) {
		t.Error("what was cancelled is still shown as booked")
	}
	if a, c := s.Read(t, slots[0]), s.Read(t, slots[1]); a.Taken != 1 || c.Taken != 0 {
		t.Errorf("taken %d and %d", a.Taken, c.Taken)
	}
}

func TestOneShortAndNothingIsHeld(t *testing.T) {
	t.Parallel()
	s, slots := inARow(t)
	b := s.browser(t)
	seen := b.get(views.SlotURL("shop", slots[0].ID))
	s.Book(t, slots[1], 1)
	p := b.press(seen, "/hold", url.Values{views.FieldTogether: {"2"}, views.FieldPartySize: {"2"}}).is(http.StatusConflict).need("data-outcome", "sold_out")
	p.says(ja("details.short.title", "time", i18n.For(i18n.JA).TimeRange(slots[1].StartsAt, slots[1].EndsAt, s.Tenant.Location())))
	if got := s.Read(t, slots[0]).Taken; got != 0 {
		t.Errorf("%d seats of the first are taken", got)
	}
	// It came back as it was sent, and this slot alone can be had.
	if got := p.value("/hold", views.FieldPartySize); got[0] != "2" {
		t.Errorf("the party came back as %q", got)
	}
	b.follow(b.press(p, "/hold", url.Values{views.FieldTogether: {"1"}})).need("data-state", "held")

	s.Book(t, slots[1], 1)
	full := s.browser(t).get(views.SlotURL("shop", slots[0].ID))
	if !slices.ContainsFunc(full.all("name", views.FieldTogether), func(n *html.Node) bool { return attr(n, "value") == "2" && hasAttr(n, "disabled") }) {
		// The first is full by now as well, or its successor can't be chosen.
		if full.hasForm("/hold") {
			t.Errorf("a full slot can be chosen:\n%s", full.text())
		}
	}
}

func TestARowThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	s, slots := inARow(t)
	plain := s.AddService(t, s.Tenant, "single", []byte(`{"slotsTogether": 1}`))
	s.Service = plain
	single := s.SlotAt(t, 2, s.Start.Add(5*time.Hour))
	s.SlotAt(t, 2, s.Start.Add(6*time.Hour))
	b := s.browser(t)
	next := func(slot store.Slot) string { return slot.ID + " 1" }
	for _, c := range []struct {
		name   string
		slot   store.Slot
		count  []string
		next   []string
		status int
	}{
		{"another slot than the next", slots[0], []string{"2"}, []string{next(slots[2])}, http.StatusConflict},
		{"itself", slots[0], []string{"2"}, []string{next(slots[0])}, http.StatusConflict},
		{"more than allowed", slots[0], []string{"3"}, []string{next(slots[1]), next(slots[2])}, http.StatusConflict},
		{"over a gap", slots[2], []string{"2"}, []string{next(slots[3])}, http.StatusConflict},
		{"of a service that allows none", single, []string{"2"}, []string{next(slots[1])}, http.StatusConflict},
		{"without naming it", slots[0], []string{"2"}, nil, http.StatusConflict},
		{"old terms of the next", slots[0], []string{"2"}, []string{slots[1].ID + " 7"}, http.StatusConflict},
		{"no number", slots[0], []string{"two"}, []string{next(slots[1])}, http.StatusUnprocessableEntity},
		{"none", slots[0], []string{"0"}, []string{next(slots[1])}, http.StatusUnprocessableEntity},
		{"less than none", slots[0], []string{"-1"}, []string{next(slots[1])}, http.StatusUnprocessableEntity},
		{"empty", slots[0], []string{""}, []string{next(slots[1])}, http.StatusUnprocessableEntity},
		{"twice", slots[0], []string{"2", "1"}, []string{next(slots[1])}, http.StatusUnprocessableEntity},
		{"with NUL", slots[0], []string{"2\x00"}, []string{next(slots[1])}, http.StatusUnprocessableEntity},
		{"a next that is no id", slots[0], []string{"2"}, []string{"' OR 1=1 --"}, http.StatusUnprocessableEntity},
		{"a next that is no UTF-8", slots[0], []string{"2"}, []string{"\xff"}, http.StatusUnprocessableEntity},
	} {
		p := b.post(views.SlotHoldURL("shop", c.slot.ID), url.Values{
			views.FieldPartySize: {"1"}, views.FieldTermsVersion: {"1"}, views.FieldIdempotencyKey: {c.name}, views.FieldTogether: c.count, views.FieldNextSlot: c.next,
		})
		if p.status != c.status {
			t.Errorf("%s: %d, want %d:\n%s", c.name, p.status, c.status, p.text())
		}
		if c.status == http.StatusUnprocessableEntity && !p.has("data-error", views.FieldTogether) {
			t.Errorf("%s: no message beside the choice", c.name)
		}
	}
	for _, slot := range append(slots, single) {
		if got := s.Read(t, slot).Taken; got != 0 {
			t.Errorf("%d seats are taken", got)
		}
	}
}

func TestAHoldForTwoThatRanOutIsHeldOnceMore(t *testing.T) {
	t.Parallel()
	s, slots := inARow(t)
	b := s.browser(t)
	held := b.press(b.get(views.SlotURL("shop", slots[0].ID)), "/hold", url.Values{views.FieldTogether: {"2"}})
	s.Exec(t, "UPDATE reservations SET shown_until = now() - interval '2 minutes', expires_at = now() - interval '1 minute' WHERE state = 'held'")
	over := b.get(held.location()).need("data-state", "expired")
	again := b.follow(b.press(over, "/hold", nil)).need("data-state", "held")
	again.need("data-slot", slots[0].ID).need("data-slot", slots[1].ID)
	b.follow(b.press(again, "/release", nil)).need("data-state", "released")
	if a, c := s.Read(t, slots[0]), s.Read(t, slots[1]); a.Taken != 0 || c.Taken != 0 {
		t.Errorf("taken %d and %d", a.Taken, c.Taken)
	}
}

func TestAPartyThatCannotGrowStaysAsItIs(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	slot := s.Slot(t, 3)
	b := s.browser(t)
	link := b.book(slot, "hanako@example.com")
	seen := b.get(link)
	s.Book(t, slot, 2)
	b.press(seen, "/party", url.Values{views.FieldPartySize: {"3"}}).is(http.StatusConflict).need("data-outcome", "sold_out").need("data-state", "confirmed").
		says(ja("details.no_more.title")).says(ja("details.no_more.text", "party", ja("party", "n", 1)))
	b.press(seen, "/party", url.Values{views.FieldPartySize: {"9"}}).is(http.StatusConflict).need("data-outcome", "party_too_large").need("href", "tel:+81312345678")
	for _, wrong := range []string{"", "0", "-1", "1\x00", "x", "1.5"} {
		b.press(seen, "/party", url.Values{views.FieldPartySize: {wrong}}).is(http.StatusUnprocessableEntity).need("data-error", views.FieldPartySize)
	}
}

// The second try may be refused as well: what was typed is still there for the third.
func TestWhatWasTypedOutlivesARefusedSecondTry(t *testing.T) {
	t.Parallel()
	s := asking(t)
	slot := s.Slot(t, 2)
	b := s.browser(t)
	form := b.follow(b.press(b.get(views.SlotURL("shop", slot.ID)), "/hold", nil))
	s.Exec(t, "UPDATE reservations SET shown_until = now() - interval '2 minutes', expires_at = now() - interval '1 minute' WHERE state = 'held'")
	v := contact("山田 花子", "hanako@example.com")
	v.Set(diet, "えび")
	v.Set(seat, "hall")
	over := b.press(form, "/confirm", v).is(http.StatusUnprocessableEntity) // a consent is missing
	over = b.press(over, "/hold", url.Values{views.FieldPartySize: {"0"}}).is(http.StatusUnprocessableEntity).need("data-error", views.FieldPartySize)
	again := b.press(over, "/hold", url.Values{views.FieldPartySize: {"1"}}).is(http.StatusOK).need("data-state", "held")
	for field, want := range map[string]string{diet: "えび", seat: "hall", views.FieldName: "山田 花子"} {
		if got := again.value("/confirm", field); len(got) != 1 || got[0] != want {
			t.Errorf("%s came back as %q", field, got)
		}
	}
}
