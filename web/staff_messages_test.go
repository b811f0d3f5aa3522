package web

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"holdfast/store"
	"holdfast/store/storetest/shop"
	"holdfast/views"
	"holdfast/views/i18n"
	"holdfast/views/mail"
)

func TestMessagesShowWhatBecameOfThemAndCanBeSentAgain(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	r := s.Book(t, s.Slot(t, 1), 1)
	list := b.get("/staff/shop/messages").is(http.StatusOK).says(r.Name).need("data-state", "pending")
	if list.hasForm("/retry") {
		t.Error("what is still to be sent can be sent again")
	}
	s.Exec(t, "UPDATE outbox SET state = 'failed', attempts = 8, last_error = '550 no such user', sent_subject = '予約の確認', sent_text = '本文です'")
	failed := b.get("/staff/shop/messages?state=failed").says("550 no such user").says("090-1234-5678")
	b.get("/staff/shop/messages?state=sent").need("data-state", "empty")
	id := attr(failed.all("data-message", "")[0], "data-message")
	b.get(views.StaffMessageURL("shop", id)).says("予約の確認").says("本文です").says(r.Email)
	b.follow(b.press(failed, "/retry", nil)).says(ja("staff.retried")).need("data-state", "pending")
	m, err := s.Store.Message(t.Context(), s.Tenant.ID, id)
	if err != nil || m.State != store.MessagePending || m.Attempts != 0 {
		t.Errorf("%+v %v", m, err)
	}
	b.post(views.StaffMessageRetryURL("shop", id), nil).is(http.StatusSeeOther)
	// Another venue's messages are as absent as none.
	other := s.AddTenant(t, "other", nil)
	s.hire(t, other, "other@example.com", store.RoleOwner)
	stranger := s.browser(t)
	stranger.post("/staff/sign-in", signIn("other@example.com", staffPassword)).is(http.StatusSeeOther)
	stranger.get(views.StaffMessageURL("other", id)).is(http.StatusNotFound)
	stranger.post(views.StaffMessageRetryURL("other", id), nil).is(http.StatusNotFound)
}

func TestTheMailboxShowsThisVenuesMailsWithLinks(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := openSite(t, shop.New(t, nil), func(c *Config) { c.MailDir = folder })
	b := atTheDesk(t, s)
	s.Book(t, s.Slot(t, 1), 1)
	s.Exec(t, "UPDATE outbox SET state = 'sent', sent_at = now(), sent_subject = '予約の確認', sent_text = '本文'")
	messages, err := s.Store.Messages(t.Context(), store.MessageQuery{TenantID: s.Tenant.ID})
	if err != nil || len(messages) != 1 {
		t.Fatal(messages, err)
	}
	id := messages[0].ID
	b.get("/staff/shop/mailbox").need("data-state", "empty")
	raw := "From: =?UTF-8?B?6Z2S56m6?= <shop@example.com>\r\nTo: guest@example.com\r\nSubject: =?UTF-8?Q?=E4=BA=88=E7=B4=84?=\r\nDate: Thu, 08 Oct 2026 09:00:00 +0000\r\n" +
		"Content-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain; charset=UTF-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n" +
		"<b>=E3=81=93=E3=81=A1=E3=82=89</b> http://localhost:8080/shop/reservations/abc=\r\ndef\r\n--b\r\nContent-Type: text/html\r\n\r\n<p>no</p>\r\n--b--\r\n"
	for _, name := range []string{id, "00000000-0000-4000-8000-000000000000"} {
		if err := os.WriteFile(filepath.Join(folder, name+".eml"), []byte(raw), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list := b.get("/staff/shop/mailbox").is(http.StatusOK).says("予約の確認")
	if n := strings.Count(list.body, "/staff/shop/mailbox/"); n != 1 {
		t.Errorf("%d mails are listed", n)
	}
	mail := b.get(views.StaffMailboxMailURL("shop", id)).is(http.StatusOK).says("青空").says("<b>こちら</b>").says("2026年10月8日（木）18:00")
	if !mail.has("href", "http://localhost:8080/shop/reservations/abcdef") {
		t.Errorf("the link can't be followed:\n%s", mail.body)
	}
	// Not ours, and not in the folder.
	for _, wrong := range []string{"00000000-0000-4000-8000-000000000000", "..%2f..%2fetc%2fpasswd", "x"} {
		b.get("/staff/shop/mailbox/" + wrong).is(http.StatusNotFound)
	}
	if p := openSite(t, s.Shop); p.web.cfg.MailDir != "" {
		t.Fatal("a folder without being configured")
	} else {
		plain := p.browser(t)
		plain.follow(plain.post("/staff/sign-in", signIn("desk@example.com", staffPassword)))
		plain.get("/staff/shop/mailbox").is(http.StatusNotFound)
		plain.get(views.StaffMailboxMailURL("shop", id)).is(http.StatusNotFound)
	}
}

func TestReadMailFindsTheText(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ mail, subject, text string }{
		"plain":                 {"Subject: Hi\r\n\r\nText\r\nmore\r\n", "Hi", "Text\nmore\n"},
		"base64":                {"Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n5pys\r\n5paH\r\n", "", "本文"},
		"only HTML":             {"Content-Type: text/html\r\n\r\n<p>x</p>", "", ""},
		"a header that is none": {"Subject: =?x?B?!?=\r\n\r\nText", "=?x?B?!?=", "Text"},
		"parts within parts": {
			"Content-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n<p>\r\n--b\r\n\r\nText\r\n--b--\r\n--a--\r\n", "", "Text",
		},
	} {
		l, err := readMail([]byte(c.mail))
		if err != nil || l.subject != c.subject || l.text != c.text {
			t.Errorf("%s: %+v %v", name, l, err)
		}
	}
}

func TestOnlyLocalStaffPathsAreComeBackTo(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/staff": "/staff", "/staff/shop/today?date=2026-10-08": "/staff/shop/today?date=2026-10-08", "/": "", "/shop": "", "//staff/x": "", "https://x/staff/": "", "/staffx": "", "": "",
	} {
		if got := staffPathOnly(path); got != want {
			t.Errorf("%q: %q", path, got)
		}
	}
	q := url.Values{views.FieldNext: {"/staff/shop/today"}}
	if !strings.Contains(views.StaffSignInURL()+"?"+q.Encode(), "next=") {
		t.Error("the field has another name")
	}
}

func init() {
	failed := func(t *testing.T, s *site) string {
		s.Book(t, s.Slot(t, 1), 1)
		s.Exec(t, "UPDATE outbox SET state = 'failed', attempts = 8, last_error = '550 no such user' WHERE state = 'pending'")
		messages, err := s.Store.Messages(t.Context(), store.MessageQuery{TenantID: s.Tenant.ID, State: store.MessageFailed})
		if err != nil || len(messages) == 0 {
			t.Fatal(messages, err)
		}
		return messages[0].ID
	}
	for route, form := range map[string]badForm{
		"/staff/{tenant}/messages/retry-failed": {
			staff: true,
			fresh: func(t *testing.T, s *site) (string, url.Values) {
				failed(t, s)
				return views.StaffMessagesRetryAllURL("shop"), url.Values{}
			},
		},
		"/staff/{tenant}/messages/{message}/give-up": {
			staff: true,
			fresh: func(t *testing.T, s *site) (string, url.Values) {
				return views.StaffMessageGiveUpURL("shop", failed(t, s)), url.Values{}
			},
		},
		"/staff/{tenant}/messages/links/{subject}": {
			staff: true,
			fresh: func(t *testing.T, s *site) (string, url.Values) {
				return views.StaffMessageLinkURL("shop", s.Book(t, s.Slot(t, 1), 1).ID), url.Values{}
			},
		},
		"/staff/{tenant}/messages/notices": {
			fields: []badField{
				{name: views.FieldBookings, kind: choiceField},
				{name: views.FieldCancels, kind: choiceField},
				{name: views.FieldFailures, kind: choiceField},
				{name: views.FieldDigest, kind: choiceField},
				{name: views.FieldDigestAt, kind: textField, longest: 8},
			},
			staff: true,
			fresh: func(*testing.T, *site) (string, url.Values) {
				return views.StaffNoticesURL("shop"), url.Values{views.FieldBookings: {"1"}, views.FieldDigest: {"1"}, views.FieldDigestAt: {"08:00"}}
			},
		},
		"/staff/{tenant}/messages/texts/{kind}/{lang}": {
			fields: []badField{{name: views.FieldOpening, kind: textField, longest: store.LongestMessageText}, {name: views.FieldExtra, kind: textField, longest: store.LongestMessageText}},
			owner:  true,
			fresh: func(t *testing.T, s *site) (string, url.Values) {
				s.Exec(t, "DELETE FROM message_texts") // the form is that of a venue without words of its own
				return views.StaffTextURL("shop", "confirmed", "ja"), url.Values{views.FieldVersion: {"0"}, views.FieldOpening: {"{name}様"}, views.FieldExtra: {"駐車場は裏手です。"}}
			},
		},
		"/staff/{tenant}/messages/texts/{kind}/{lang}/preview": {
			fields: []badField{{name: views.FieldOpening, kind: textField, longest: store.LongestMessageText}, {name: views.FieldExtra, kind: textField, longest: store.LongestMessageText}},
			owner:  true, shown: true,
			fresh: func(*testing.T, *site) (string, url.Values) {
				return views.StaffTextPreviewURL("shop", "confirmed", "ja"), url.Values{views.FieldVersion: {"0"}, views.FieldExtra: {"駐車場は裏手です。"}}
			},
		},
		"/staff/{tenant}/messages/texts/{kind}/{lang}/default": {
			owner: true,
			fresh: func(*testing.T, *site) (string, url.Values) {
				return views.StaffTextDefaultURL("shop", "confirmed", "ja"), url.Values{views.FieldVersion: {"0"}}
			},
		},
	} {
		forms[route] = form
	}
}

func TestAVenueSpeaksInItsOwnWords(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	list := b.get(views.StaffTextsURL("shop")).is(http.StatusOK)
	if list.has("data-own", "") {
		t.Error("words of its own that it has not")
	}
	offer := views.StaffTextURL("shop", "offer", "ja")
	form := b.get(offer).is(http.StatusOK).says("{time}").says(ja("message.text.required"))
	read := func() store.MessageText {
		m, err := s.Store.MessageText(t.Context(), s.Tenant.ID, store.KindOffer, "ja")
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for _, wrong := range []struct{ field, text, says string }{
		{views.FieldOpening, "{time} までにお返事を。{nmae} 様", "{nmae}"},
		{views.FieldOpening, "お席が空きました。", "{time}"},
		{views.FieldExtra, "番号は {number} です。", "{number}"},
		{views.FieldExtra, "かっこ { だけ", "{"},
	} {
		for _, path := range []string{offer, views.StaffTextPreviewURL("shop", "offer", "ja")} {
			b.post(path, url.Values{views.FieldVersion: {"0"}, wrong.field: {wrong.text}}).is(http.StatusUnprocessableEntity).need("data-error", wrong.field).says(wrong.says).says(wrong.text)
		}
	}
	typed := url.Values{views.FieldVersion: {"0"}, views.FieldOpening: {"{name} 様、{time} までお席をお取りしています。"}, views.FieldExtra: {"駐車場は裏手です。\n<b>ご注意</b>"}}
	b.post(views.StaffTextPreviewURL("shop", "offer", "ja"), typed).is(http.StatusOK).need("data-unsaved", "").says("までお席をお取りしています").says("<b>ご注意</b>")
	if read().Version != 0 {
		t.Error("the preview has saved something")
	}
	saved := b.follow(b.press(form, offer, typed)).says(ja("message.text.saved"))
	if m := read(); m.Version != 1 || !strings.Contains(m.Extra, "駐車場") {
		t.Errorf("%+v", m)
	}
	b.post(offer, typed).is(http.StatusSeeOther) // sent twice is done once
	b.get(views.StaffTextsURL("shop")).need("data-own", "")
	for _, part := range []string{views.StaffPreviewTextURL("shop", "offer", "ja"), views.StaffPreviewHTMLURL("shop", "offer", "ja")} {
		b.get(part).says("駐車場は裏手です。")
	}
	// Somebody else was faster: what they wrote stays, what was typed too, and it is asked again.
	stale := url.Values{views.FieldVersion: {"0"}, views.FieldExtra: {"別の文"}}
	again := b.post(offer, stale).is(http.StatusConflict).says(ja("message.text.conflict")).says("別の文")
	if m := read(); m.Version != 1 || strings.Contains(m.Extra, "別") {
		t.Errorf("%+v", m)
	}
	b.press(again, offer, nil).is(http.StatusSeeOther)
	if m := read(); m.Extra != "別の文" {
		t.Errorf("%+v", m)
	}
	b.post(views.StaffTextDefaultURL("shop", "offer", "ja"), url.Values{views.FieldVersion: {"1"}}).is(http.StatusConflict)
	b.follow(b.press(b.get(offer), "/default", nil)).says(ja("message.text.back"))
	if read().Version != 0 || saved.status != http.StatusOK {
		t.Error("the words are still there")
	}
	for _, absent := range []string{views.StaffTextURL("shop", "notice", "ja"), views.StaffTextURL("shop", "offer", "fr")} {
		b.get(absent).is(http.StatusNotFound)
	}
	// The front desk reads previews, and changes no words.
	desk := atTheDesk(t, s)
	desk.get(offer).is(http.StatusForbidden)
	desk.post(offer, typed).is(http.StatusForbidden)
	if desk.get(views.StaffPreviewURL("shop", "offer", "ja")).is(http.StatusOK).has("href", offer) {
		t.Error("a door that is shut is shown")
	}
}

func TestAMemberChoosesWhatToBeToldOf(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	form := b.get(views.StaffNoticesURL("shop")).is(http.StatusOK).says("desk@example.com")
	b.follow(b.press(form, "/notices", url.Values{views.FieldBookings: {"1"}, views.FieldDigest: {"1"}, views.FieldDigestAt: {"７:30"}})).says(ja("message.notices.saved")).need("value", "07:30")
	for _, wrong := range []string{"", "25:00", "8", "08:00:00"} {
		b.post(views.StaffNoticesURL("shop"), url.Values{views.FieldDigest: {"1"}, views.FieldDigestAt: {wrong}}).is(http.StatusUnprocessableEntity).need("data-error", views.FieldDigestAt)
	}
	r := s.Book(t, s.Slot(t, 2), 1)
	if _, err := s.Store.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	notices, err := s.Store.Messages(t.Context(), store.MessageQuery{TenantID: s.Tenant.ID, Kind: store.KindStaffNotice})
	if err != nil || len(notices) != 1 || notices[0].Recipient != "desk@example.com" || *notices[0].SubjectID != r.ID {
		t.Fatalf("%+v %v", notices, err)
	}
	b.get(views.StaffMessageURL("shop", notices[0].ID)).is(http.StatusOK).says(ja("staff.mail_kind.staff_notice"))
}

func TestTheQueueIsFilteredPagedAndSaysWhatIsLate(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	b.get("/staff/shop/messages").need("data-state", "empty")
	slot := s.Slot(t, 80)
	for range 60 {
		s.Book(t, slot, 1)
	}
	full := s.Slot(t, 1)
	r := s.Book(t, full, 1)
	e := s.Join(t, full, 1)
	first := b.get("/staff/shop/messages").is(http.StatusOK)
	if first.has("data-state", "late") || len(first.all("data-message", "")) != 50 {
		t.Errorf("%d on the first page", len(first.all("data-message", "")))
	}
	href := ""
	for _, a := range first.all("href", "") {
		if to := attr(a, "href"); strings.Contains(to, "before=") {
			href = to
		}
	}
	second := b.get(href).is(http.StatusOK)
	if n := len(second.all("data-message", "")); n != 12 {
		t.Errorf("%d on the second page", n)
	}
	for _, m := range second.all("data-message", "") {
		if first.has("data-message", attr(m, "data-message")) {
			t.Error("listed on both pages")
		}
	}
	if n := len(b.get("/staff/shop/messages?kind=joined").all("data-message", "")); n != 1 {
		t.Errorf("%d of one kind", n)
	}
	if n := len(b.get(views.StaffMessagesOfSlotURL("shop", full.ID)).says(ja("message.all")).all("data-message", "")); n != 2 {
		t.Errorf("%d of one slot", n)
	}
	of := b.get(views.StaffMessagesOfURL("shop", e.ID)).says(e.Name).says(e.Email)
	if n := len(of.all("data-message", "")); n != 1 || of.hasForm("/retry-failed") {
		t.Errorf("%d of one entry", n)
	}
	// The mail server is away.
	s.Exec(t, "UPDATE outbox SET created_at = now() - interval '20 minutes', attempts = 3, last_error = 'the mail server can''t be used: dial tcp: connection refused' WHERE subject_id = $1", r.ID)
	b.get("/staff/shop/messages").need("data-state", "late").says(ja("message.trouble.away"))
	b.get(views.StaffMessagesOfURL("shop", r.ID)).says(ja("message.trouble.away")).says("connection refused")
	for _, odd := range []string{"?state=x&kind=y&subject=z&slot='", "?before=x&id=y", "?before=2026-01-01T00:00:00Z&id=" + absentID, "?subject=" + absentID, "?slot=" + absentID} {
		b.get("/staff/shop/messages" + odd).is(http.StatusOK)
	}
	// The work does not grow with the list.
	for path, most := range map[string]int{"/staff/shop/messages": 11, views.StaffMessagesOfURL("shop", e.ID): 12, views.StaffPreviewsURL("shop"): 6} {
		if n := s.Count(func() { b.get(path) }); n > most {
			t.Errorf("%s: %d statements, at most %d", path, n, most)
		}
	}
}

func TestWhatFailedIsSentAgainTogetherOrGivenUp(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	slot := s.Slot(t, 9)
	for range 3 {
		s.Book(t, slot, 1)
	}
	s.Exec(t, "UPDATE outbox SET state = 'failed', attempts = 10, last_error = '550 5.1.1 no such user'")
	list := b.get("/staff/shop/messages").says(ja("message.trouble.address")).says("550 5.1.1")
	id := attr(list.all("data-message", "")[0], "data-message")
	ask := b.get(views.StaffMessageGiveUpURL("shop", id)).is(http.StatusOK).says(ja("message.give_up.call"))
	if m, err := s.Store.Message(t.Context(), s.Tenant.ID, id); err != nil || m.State != store.MessageFailed {
		t.Errorf("asking has changed it: %+v %v", m, err)
	}
	b.follow(b.press(ask, "/give-up", nil)).says(ja("message.given_up.done")).need("data-state", "obsolete").says("受付 一郎")
	b.get(views.StaffMessageGiveUpURL("shop", id)).is(http.StatusSeeOther)
	b.post(views.StaffMessageGiveUpURL("shop", id), nil).is(http.StatusSeeOther) // twice is once
	b.follow(b.press(b.get("/staff/shop/messages"), "/retry-failed", nil)).says(ja("message.retried_all", "n", 2))
	b.follow(b.post(views.StaffMessagesRetryAllURL("shop"), nil)).says(ja("message.retried_none"))
	b.get(views.StaffSlotHistoryURL("shop", slot.ID, 0)).need("data-event", "message_given_up")
	// What is being sent can't be given up any more.
	s.Exec(t, "UPDATE outbox SET state = 'sending', sending_until = now() + interval '1 minute' WHERE state = 'pending'")
	sending, err := s.Store.Messages(t.Context(), store.MessageQuery{TenantID: s.Tenant.ID, State: store.MessageSending})
	if err != nil || len(sending) != 2 {
		t.Fatal(sending, err)
	}
	b.post(views.StaffMessageGiveUpURL("shop", sending[0].ID), nil).is(http.StatusConflict).says(ja("message.give_up.conflict"))
}

func TestALostLinkIsSentAgainAndStaffDoNotSeeIt(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	slot := s.Slot(t, 1)
	r := s.Book(t, slot, 1)
	secret := "https://holdfast.example/shop/reservations/" + strings.Repeat("abcdefg2", 4) + "?proof=x"
	s.Exec(t, "UPDATE outbox SET state = 'sent', sent_at = now(), sent_subject = '確認', sent_text = $1", "こちら:\n"+secret+"\nhttps://holdfast.example/shop")
	of := b.get(views.StaffMessagesOfURL("shop", r.ID)).says(ja("message.link.text", "address", i18n.Isolate(r.Email)))
	after := b.follow(b.press(of, "/links/"+r.ID, nil)).says(ja("message.link.sent"))
	if after.hasForm("/links/" + r.ID) {
		t.Error("it can be sent again at once")
	}
	b.follow(b.post(views.StaffMessageLinkURL("shop", r.ID), nil)).says(ja("message.link.again_later"))
	b.get(views.StaffSlotHistoryURL("shop", slot.ID, 0)).need("data-event", "link_sent")
	for _, m := range after.all("data-message", "") {
		p := b.get(views.StaffMessageURL("shop", attr(m, "data-message"))).is(http.StatusOK)
		if strings.Contains(p.body, "abcdefg2") {
			t.Error("a customer's secret is shown")
		}
		if strings.Contains(p.body, "こちら:") {
			p.says(ja("message.link_hidden")).says("https://holdfast.example/shop")
		}
	}
	other := s.AddTenant(t, "other", nil)
	s.hire(t, other, "other@example.com", store.RoleOwner)
	stranger := s.browser(t)
	stranger.post("/staff/sign-in", signIn("other@example.com", staffPassword)).is(http.StatusSeeOther)
	stranger.post(views.StaffMessageLinkURL("other", r.ID), nil).is(http.StatusNotFound)
	stranger.post(views.StaffMessageLinkURL("shop", r.ID), nil).is(http.StatusNotFound)
	if p := stranger.get(views.StaffMessagesOfURL("other", r.ID)).is(http.StatusOK); strings.Contains(p.body, r.Name) || strings.Contains(p.body, r.Email) {
		t.Error("another venue's customer is named")
	}
}

func TestEveryKindHasAPreviewInBothLanguages(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	for _, kind := range previewKinds {
		for _, lang := range mailLanguages {
			text := mail.Render(s.web.exampleLetter(s.Tenant, store.MessageKind(kind), lang))
			if text.Subject == "" {
				t.Errorf("no text for %s in %s", kind, lang)
			}
			b.get(views.StaffPreviewURL("shop", string(kind), lang)).is(http.StatusOK).need("data-letter", lang).says(text.Subject)
		}
		if !i18n.Has(i18n.Key("message.when." + string(kind))) {
			t.Errorf("nothing says when %s is sent", kind)
		}
	}
	b.get(views.StaffPreviewsURL("shop") + "?kind='&lang=xx").is(http.StatusOK)
}

func TestTheWordsOfMailServersAreUnderstood(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]trouble{
		"client sending SMTP RCPT TO command: 550 5.1.1 no such user": troubleAddress,
		"550 unknown user":                                 troubleAddress,
		"552 5.2.2 over quota":                             troubleFull,
		"452 4.2.2 mailbox full":                           troubleFull,
		"554 5.7.1 looks like spam":                        troubleRefused,
		"550 5.7.26 unauthenticated mail":                  troubleRefused,
		"451 4.3.0 try later":                              troubleLater,
		"421 4.3.2 closing":                                troubleAway,
		"the mail server can't be used: dial tcp: refused": troubleAway,
		"535 5.7.8 bad credentials":                        troubleSignIn,
		"the text could not be made":                       troubleText,
		"what it was about is gone":                        troubleGone,
		"the recipient's address can't be used":            troubleAddress,
		"the sender's address (X) can't be used":           troubleSender,
		"hm":                                               troubleUnknown,
	} {
		if got := troubleOf(said); got != want {
			t.Errorf("%q: %s, not %s", said, got, want)
		}
	}
	for _, x := range troubles {
		if !i18n.Has(x.key()) {
			t.Errorf("no words for %s", x)
		}
	}
}
