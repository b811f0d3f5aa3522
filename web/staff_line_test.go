package web

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
	"holdfast/views"
	"holdfast/views/i18n"
)

const (
	shopLineID     = "@012abcde"
	shopLineSecret = "0123456789abcdef0123456789abcdef"
	shopLineToken  = "channel-access-token-of-the-shop"
	aLineUser      = "U00112233445566778899aabbccddeeff"
)

func init() {
	keys := []badField{
		{name: views.FieldLineID, kind: textField, longest: longestLineID}, {name: views.FieldLineSecret, kind: textField}, {name: views.FieldLineToken, kind: textField, longest: longestLineToken},
	}
	box := func(make func(*testing.T, *site) string, step string) func(*testing.T, *site) (string, url.Values) {
		return func(t *testing.T, s *site) (string, url.Values) {
			s.withLine(t)
			return make(t, s) + step, none()
		}
	}
	booking := func(t *testing.T, s *site) string { return s.reservationPath(s.Book(t, s.Slot(t, 2), 1), "") }
	waiting := func(t *testing.T, s *site) string { return s.entryPath(s.waits(t), "") }
	for route, form := range map[string]badForm{
		"/{tenant}/reservations/{token}/line":      {fresh: box(booking, "/line")},
		"/{tenant}/reservations/{token}/line-stop": {fresh: box(booking, "/line-stop")},
		"/{tenant}/waitlist/{token}/line":          {fresh: box(waiting, "/line")},
		"/{tenant}/waitlist/{token}/line-stop":     {fresh: box(waiting, "/line-stop")},
		"/staff/{tenant}/line": {fields: append(keys, hiddenFields(views.FieldVersion)...), owner: true, fresh: func(t *testing.T, s *site) (string, url.Values) {
			c := s.withLine(t)
			return views.StaffLineURL("shop"), url.Values{
				views.FieldLineID: {shopLineID}, views.FieldLineSecret: {shopLineSecret}, views.FieldLineToken: {shopLineToken}, views.FieldVersion: {fmt.Sprint(c.Version)},
			}
		}},
		"/staff/{tenant}/line/check": {owner: true, shown: true, fresh: func(t *testing.T, s *site) (string, url.Values) {
			s.withLine(t)
			return views.StaffLineCheckURL("shop"), none()
		}},
		"/staff/{tenant}/line/remove": {owner: true, fresh: func(t *testing.T, s *site) (string, url.Values) {
			s.withLine(t)
			return views.StaffLineRemoveURL("shop"), none()
		}},
	} {
		forms[route] = form
	}
}

// withLine gives the shop a LINE account, if it has none.
func (s *site) withLine(t testing.TB) store.LineChannel {
	t.Helper()
	c, err := s.Store.LineChannel(t.Context(), s.Tenant.ID)
	if err == nil {
		return c
	}
	if err := s.Store.SaveLineChannel(t.Context(), store.LineSettings{TenantID: s.Tenant.ID, BasicID: shopLineID, Secret: shopLineSecret, Token: shopLineToken}); err != nil {
		t.Fatal(err)
	}
	if c, err = s.Store.LineChannel(t.Context(), s.Tenant.ID); err != nil {
		t.Fatal(err)
	}
	return c
}

// lineBot answers for LINE as a test scripts it, and tells what was replied.
type lineBot struct {
	mu      sync.Mutex
	trouble error
	name    string
	id      string
	asked   string // with which token
	replies chan string
}

func newLineBot() *lineBot {
	return &lineBot{name: "お店", id: shopLineID, replies: make(chan string, 100)}
}

func (b *lineBot) Info(_ context.Context, token string) (string, string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = token
	return b.name, b.id, b.trouble
}

func (b *lineBot) Reply(_ context.Context, token, replyToken, text string) error {
	b.replies <- token + " " + replyToken + " " + text
	return nil
}

// told is the next reply, which is sent beside the request.
func (b *lineBot) told(t *testing.T) string {
	t.Helper()
	select {
	case said := <-b.replies:
		return said
	case <-time.After(10 * time.Second):
		t.Fatal("nobody was answered")
		return ""
	}
}

func lineSign(secret, body string) string {
	m := hmac.New(sha256.New, []byte(secret))
	m.Write([]byte(body))
	return base64.StdEncoding.EncodeToString(m.Sum(nil))
}

// lineTells is a body as LINE sends it.
func lineTells(t testing.TB, events ...map[string]any) string {
	t.Helper()
	if events == nil {
		events = []map[string]any{}
	}
	raw, err := json.Marshal(map[string]any{"destination": "U0", "events": events})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func lineText(id, user, text string) map[string]any {
	return map[string]any{
		"type": "message", "mode": "active", "timestamp": time.Now().UnixMilli(), "webhookEventId": id, "deliveryContext": map[string]any{"isRedelivery": false},
		"source": map[string]any{"type": "user", "userId": user}, "replyToken": "reply-" + id, "message": map[string]any{"id": "1", "type": "text", "quoteToken": "q", "text": text},
	}
}

func lineBlock(user string, at time.Time) map[string]any {
	return map[string]any{
		"type": "unfollow", "mode": "active", "timestamp": at.UnixMilli(), "webhookEventId": "block", "deliveryContext": map[string]any{"isRedelivery": false}, "source": map[string]any{"type": "user", "userId": user},
	}
}

// line delivers a body to a venue's webhook.
func (s *site) line(t testing.TB, tenant, body, signature string) page {
	t.Helper()
	return s.browser(t).do(http.MethodPost, views.LineWebhookURL(tenant), "application/json", body, func(r *http.Request) {
		if signature != "" {
			r.Header.Set("X-Line-Signature", signature)
		}
	})
}

func TestWhoHasNotSignedGetsOneAnswer(t *testing.T) {
	t.Parallel()
	bot := newLineBot()
	s := openSite(t, shop.New(t, nil), func(c *Config) { c.Line = bot })
	s.withLine(t)
	other := s.AddTenant(t, "other", nil) // has no account
	const othersSecret = "ffffffffffffffffffffffffffffffff"
	third := s.AddTenant(t, "third", nil)
	if err := s.Store.SaveLineChannel(t.Context(), store.LineSettings{TenantID: third.ID, BasicID: "@third", Secret: othersSecret, Token: shopLineToken}); err != nil {
		t.Fatal(err)
	}
	r := s.Book(t, s.Slot(t, 1), 1)
	s.link(t, r, true, aLineUser)
	body := lineTells(t, lineBlock(aLineUser, time.Now()))
	before := dump(t, s.Shop)
	good := lineSign(shopLineSecret, body)
	first := ""
	for _, c := range []struct{ name, tenant, body, signature string }{
		{"no signature", "shop", body, ""},
		{"nonsense", "shop", body, "nonsense"},
		{"an empty MAC", "shop", body, "="},
		{"another secret", "shop", body, lineSign("another", body)},
		{"no secret", "shop", body, lineSign("", body)},
		{"another body", "shop", body + " ", good},
		{"a part of it", "shop", body, good[:20]},
		{"in hex", "shop", body, fmt.Sprintf("%x", good)},
		{"another venue's", "shop", body, lineSign(othersSecret, body)},
		{"at another venue", "third", body, good},
		{"a venue without an account", other.Slug, body, lineSign("", body)},
		{"no venue", "nobody", body, lineSign("", body)},
		{"no slug", "No_Body", body, good},
		{"an empty body", "shop", "", ""},
	} {
		p := s.line(t, c.tenant, c.body, c.signature)
		if first == "" {
			first = p.body
		}
		if p.status != http.StatusUnauthorized || p.body != first || p.header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %d %q", c.name, p.status, p.body)
		}
	}
	if dump(t, s.Shop) != before {
		t.Error("something has changed")
	}
	huge := lineTells(t, lineText("e", aLineUser, strings.Repeat("x", lineBodyLimit)))
	if p := s.line(t, "shop", huge, lineSign(shopLineSecret, huge)); p.status != http.StatusRequestEntityTooLarge {
		t.Errorf("more than a megabyte: %d", p.status)
	}
	if p := s.line(t, "shop", body, good); p.status != http.StatusOK {
		t.Errorf("signed: %d %s", p.status, p.body)
	}
	if dump(t, s.Shop) == before {
		t.Error("the signed one has done nothing")
	}
	if logs := s.logs.String(); strings.Contains(logs, aLineUser) || strings.Contains(logs, good) {
		t.Error("the log names somebody")
	}
}

// link links LINE by a code, as the page and the webhook do.
func (s *site) link(t testing.TB, r store.Reservation, proven bool, user string) {
	t.Helper()
	sub := store.LineSubject{TenantID: r.TenantID, ID: r.ID, Email: r.Email, Proven: proven}
	if err := s.Store.MakeLineCode(t.Context(), sub, i18n.JA); err != nil {
		t.Fatal(err)
	}
	st, err := s.Store.LineStatus(t.Context(), sub)
	if err != nil {
		t.Fatal(err)
	}
	body := lineTells(t, lineText("link"+r.ID, user, st.Code))
	s.line(t, "shop", body, lineSign(shopLineSecret, body)).is(http.StatusOK)
}

func TestASignedBodyIsTakenWhateverIsInIt(t *testing.T) {
	t.Parallel()
	bot := newLineBot()
	s := openSite(t, shop.New(t, nil), func(c *Config) { c.Line = bot })
	s.withLine(t)
	s.link(t, s.Book(t, s.Slot(t, 1), 1), true, aLineUser)
	bot.told(t)
	before := dump(t, s.Shop)
	group := lineText("g", aLineUser, "ABCDEFGH")
	group["source"] = map[string]any{"type": "group", "groupId": "C1", "userId": aLineUser}
	blocked := lineBlock(aLineUser, time.Now())
	blocked["source"] = map[string]any{"type": "group", "groupId": "C1", "userId": aLineUser}
	for name, body := range map[string]string{
		"LINE's own test":      lineTells(t),
		"no JSON":              "x",
		"another JSON":         "[1]",
		"events that are none": `{"events":{"type":"unfollow"}}`,
		"an event that is none": `{"events":[null,1,"x",{"type":1},{"type":"message"},{"type":"unfollow"},
			{"type":"unfollow","timestamp":9e99,"source":{"type":"user","userId":"` + aLineUser + `"}}]}`,
		"a chat":              lineTells(t, lineText("e1", aLineUser, "こんにちは、明日は空いていますか？")),
		"what is like a code": lineTells(t, lineText("e2", aLineUser, "ABCDEFGH")),
		"a sticker":           lineTells(t, map[string]any{"type": "message", "source": map[string]any{"type": "user", "userId": aLineUser}, "message": map[string]any{"type": "sticker"}}),
		"a new friend":        lineTells(t, map[string]any{"type": "follow", "source": map[string]any{"type": "user", "userId": aLineUser}, "replyToken": "r"}),
		"a group":             lineTells(t, group, blocked),
		"a strange user":      lineTells(t, lineBlock("x\x00y", time.Now()), lineBlock(strings.Repeat("U", 200), time.Now())),
	} {
		if p := s.line(t, "shop", body, lineSign(shopLineSecret, body)); p.status != http.StatusOK {
			t.Errorf("%s: %d %s", name, p.status, p.body)
		}
	}
	if dump(t, s.Shop) != before {
		t.Error("something has changed")
	}
	select {
	case said := <-bot.replies:
		t.Errorf("somebody was answered: %s", said)
	default:
	}
}

func TestACustomerLinksLINEAndGoesBackToMail(t *testing.T) {
	t.Parallel()
	bot := newLineBot()
	s := openSite(t, shop.New(t, nil), func(c *Config) { c.Line = bot })
	r := s.Book(t, s.Slot(t, 1), 1)
	e := s.waits(t)
	b := s.browser(t)
	for name, path := range map[string]string{
		"a booking": views.ReservationURL("shop", s.Store.ReservationToken(r)), "a wait": views.WaitlistURL("shop", s.Store.EntryToken(e)),
	} {
		if p := b.get(path); p.has("id", "line") {
			t.Errorf("%s: a venue without LINE offers it", name)
		}
		if p := b.post(path+"/line", nil); p.status != http.StatusNotFound {
			t.Errorf("%s: a code of a venue without LINE: %d", name, p.status)
		}
	}
	s.withLine(t)
	for name, c := range map[string]struct {
		path string
		all  bool
	}{
		"a booking, from the browser":    {path: views.ReservationURL("shop", s.Store.ReservationToken(r))},
		"a booking, from its mail":       {path: views.Proven(views.ReservationURL("shop", s.Store.ReservationToken(r)), s.Store.ReservationProof(r)), all: true},
		"a wait, from the browser":       {path: views.WaitlistURL("shop", s.Store.EntryToken(e))},
		"a wait, from the mail about it": {path: views.Proven(views.WaitlistURL("shop", s.Store.EntryToken(e)), s.Store.EntryProof(e)), all: true},
	} {
		p := b.get(c.path).need("data-line", "off")
		p = b.follow(b.press(p, "/line", nil)).need("data-line", "code")
		code := p.wordsOf("data-line-code")
		if open := "https://line.me/R/oaMessage/%40012abcde/?" + code; !p.has("href", open) {
			t.Errorf("%s: no link %s", name, open)
		}
		if again := b.get(c.path); again.wordsOf("data-line-code") != code {
			t.Errorf("%s: opened again the page has another code", name)
		}
		// In LINE people write as they like.
		body := lineTells(t, lineText("e-"+code, aLineUser, " "+strings.ToLower(code)+" \n"))
		s.line(t, "shop", body, lineSign(shopLineSecret, body)).is(http.StatusOK)
		want := i18n.For(i18n.JA).T("line.reply.linked", "venue", "")
		if c.all {
			want = i18n.For(i18n.JA).T("line.reply.linked.all", "venue", i18n.Isolate(s.Tenant.Name))
		}
		if said := bot.told(t); said != shopLineToken+" reply-e-"+code+" "+want {
			t.Errorf("%s: answered %q", name, said)
		}
		s.line(t, "shop", body, lineSign(shopLineSecret, body)).is(http.StatusOK) // delivered again
		late := lineTells(t, lineText("other", "U9", code))
		s.line(t, "shop", late, lineSign(shopLineSecret, late)).is(http.StatusOK)
		if said := bot.told(t); !strings.HasSuffix(said, i18n.For(i18n.JA).T("line.reply.expired")) {
			t.Errorf("%s: to a second user of the code: %q", name, said)
		}
		p = b.get(c.path).need("data-line", "linked")
		p = b.follow(b.press(p, "/line-stop", nil))
		p.need("data-line", "off").says(i18n.For(i18n.JA).T("line.box.stopped"))
	}
	if n := s.linkedRows(t); n != 0 {
		t.Errorf("%d rows are still linked", n)
	}
	// What is over has nothing to link.
	s.Cancel(t, r)
	if p := b.post(views.ReservationLineURL("shop", s.Store.ReservationToken(r)), nil); p.status != http.StatusConflict && p.status != http.StatusGone {
		t.Errorf("a code for what is cancelled: %d", p.status)
	}
}

func (s *site) linkedRows(t testing.TB) int {
	t.Helper()
	var n int
	err := s.Pool.QueryRow(t.Context(), "SELECT (SELECT count(*) FROM reservations WHERE line_user <> '') + (SELECT count(*) FROM waitlist_entries WHERE line_user <> '')").Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestWhoMakesTooManyCodesHasToWait(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil), func(c *Config) { c.RateLimit = true })
	s.withLine(t)
	r := s.Book(t, s.Slot(t, 1), 1)
	b := s.browser(t)
	for i := range lineCodesPerMinute + 1 {
		p := b.post(views.ReservationLineURL("shop", s.Store.ReservationToken(r)), nil)
		if want := i == lineCodesPerMinute; want != (p.status == http.StatusTooManyRequests) {
			t.Errorf("the %d. code: %d", i+1, p.status)
		}
	}
}

func TestAnOwnerConnectsLINEAndNobodyReadsTheKeysAgain(t *testing.T) {
	t.Parallel()
	bot := newLineBot()
	s := openSite(t, shop.New(t, nil), func(c *Config) { c.Line = bot })
	b := asOwner(t, s)
	page := views.StaffLineURL("shop")
	p := b.get(page).need("data-line-state", "none").need("value", "http://booking.example/api/line/shop")
	for name, c := range map[string]struct {
		field, value string
	}{
		"no secret": {views.FieldLineSecret, ""}, "a short secret": {views.FieldLineSecret, "0123"}, "a secret with blanks": {views.FieldLineSecret, strings.Repeat("a b ", 8)},
		"no token": {views.FieldLineToken, ""}, "a token in Japanese": {views.FieldLineToken, strings.Repeat("あ", 30)}, "no id": {views.FieldLineID, ""}, "an id that is none": {views.FieldLineID, "お店"},
	} {
		typed := url.Values{views.FieldLineID: {shopLineID}, views.FieldLineSecret: {shopLineSecret}, views.FieldLineToken: {shopLineToken}}
		typed.Set(c.field, c.value)
		got := b.press(p, page, typed)
		if got.status != http.StatusUnprocessableEntity || !got.has("data-error", c.field) {
			t.Errorf("%s: %d", name, got.status)
		}
		if strings.Contains(got.body, shopLineToken) || strings.Contains(got.body, shopLineSecret) {
			t.Errorf("%s: the page shows a key", name)
		}
	}
	p = b.follow(b.press(p, page, url.Values{views.FieldLineID: {"012ABCDE"}, views.FieldLineSecret: {shopLineSecret}, views.FieldLineToken: {shopLineToken}}))
	p.need("data-line-state", "unchecked").need("value", shopLineID)
	p = b.follow(b.press(p, "/line/check", nil))
	p.need("data-line-state", "working").says("お店")
	if bot.asked != shopLineToken {
		t.Errorf("LINE was asked with %q", bot.asked)
	}
	bot.id = "@999zzzzz"
	p = b.follow(b.press(p, "/line/check", nil)).need("data-line-state", "mismatch").says("@999zzzzz")
	bot.trouble = store.LineUnclear
	b.press(p, "/line/check", nil).is(http.StatusOK).need("data-line-state", "mismatch").need("role", "alert")
	bot.trouble = store.LineBroken
	p = b.press(p, "/line/check", nil).is(http.StatusOK).need("data-line-state", "broken")
	bot.trouble, bot.id = nil, shopLineID

	// What is left empty stays; somebody else's change in between is not undone.
	stale := b.get(page)
	p = b.follow(b.press(p, page, url.Values{views.FieldLineToken: {"a-new-channel-access-token"}}))
	p.need("data-line-state", "unchecked")
	b.press(stale, page, url.Values{views.FieldLineToken: {"an-old-channel-access-token"}}).is(http.StatusConflict).need("role", "alert")
	keys, err := s.Store.LineKeys(t.Context(), s.Tenant.ID)
	if err != nil || keys.Token != "a-new-channel-access-token" || keys.Secret != shopLineSecret {
		t.Errorf("%+v %v", keys, err)
	}
	for _, path := range []string{page, views.StaffLineRemoveURL("shop")} {
		if got := b.get(path); strings.Contains(got.body, keys.Token) || strings.Contains(got.body, keys.Secret) {
			t.Errorf("%s shows a key", path)
		}
	}
	s.link(t, s.Book(t, s.Slot(t, 1), 1), true, aLineUser)
	b.get(page).says("1名")
	p = b.get(views.StaffLineRemoveURL("shop")).says("1名")
	b.follow(b.press(p, "/line/remove", nil)).need("data-line-state", "none")
	if s.linkedRows(t) != 0 {
		t.Error("somebody is still linked")
	}
	if logs := s.logs.String(); strings.Contains(logs, keys.Token) || strings.Contains(logs, shopLineSecret) || strings.Contains(logs, aLineUser) {
		t.Error("the log has a key, or names somebody")
	}
	for _, role := range []store.Role{store.RoleManager, store.RoleDesk} {
		s.hire(t, s.Tenant, string(role)+"@example.com", role)
		other := s.browser(t)
		other.follow(other.post("/staff/sign-in", signIn(string(role)+"@example.com", staffPassword)))
		other.get(page).is(http.StatusForbidden)
	}
}

func TestTheMessagesSayWhichWayTheyWent(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	r := s.Book(t, s.Slot(t, 1), 1)
	claim := func() store.Message {
		t.Helper()
		claimed, err := s.Store.ClaimMessages(t.Context(), s.Tenant.ID, 1, time.Minute)
		if err != nil || len(claimed) != 1 {
			t.Fatal(len(claimed), err)
		}
		return claimed[0]
	}
	m := claim()
	if _, err := s.Store.FinishMessage(t.Context(), m, store.MessageResult{State: store.MessageSent, Channel: store.ChannelLine, Subject: "件名", Text: "件名\n\n本文"}); err != nil {
		t.Fatal(err)
	}
	c := i18n.For(i18n.JA)
	if p := b.get(views.StaffMessageURL("shop", m.ID)).says("本文"); p.wordsOf("data-way") != c.T("line.way.line") || p.hasText(r.Email) {
		t.Errorf("%s", p.text())
	}
	for _, trouble := range store.LineTroubles {
		s.Book(t, s.Slot(t, 1), 1)
		m := claim()
		if left, err := s.Store.LeaveLine(t.Context(), m, trouble); err != nil || !left {
			t.Fatal(left, err)
		}
		if _, err := s.Store.FinishMessage(t.Context(), m, store.MessageResult{State: store.MessageSent, Channel: store.ChannelMail, Subject: "件名", Text: "本文"}); err != nil {
			t.Fatal(err)
		}
		want := c.T("line.way.mail")
		if trouble != store.LineUnlinked {
			want = c.T(i18n.Key("line.over." + string(trouble)))
		}
		if p := b.get(views.StaffMessageURL("shop", m.ID)); p.wordsOf("data-way") != want || strings.Contains(want, "line.") {
			t.Errorf("%s: %q, want %q", trouble, p.wordsOf("data-way"), want)
		}
	}
	if n := len(b.get(views.StaffMailURL("shop")).all("data-way", "")); n != len(store.LineTroubles)+1 {
		t.Errorf("the list says it of %d", n)
	}
}

// wordsOf is the text of the first part that has the attribute.
func (p page) wordsOf(attr string) string {
	p.t.Helper()
	return strings.TrimSpace(innerText(p.need(attr, "").all(attr, "")[0]))
}

func (p page) hasText(text string) bool { return strings.Contains(p.text(), text) }
