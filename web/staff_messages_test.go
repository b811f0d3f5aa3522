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
