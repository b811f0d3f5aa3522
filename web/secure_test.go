package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"holdfast/static"
	"holdfast/store"
	"holdfast/store/storetest/shop"
	"holdfast/views"
)

var noncePattern = regexp.MustCompile(`script-src 'nonce-([A-Za-z0-9]{20,})' 'strict-dynamic';`)

func TestEveryPageHasItsHeaders(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	l := live(t, s.Shop)
	japanese, english := s.browser(t), s.browser(t)
	english.post("/shop/language", url.Values{views.FieldLang: {"en"}}).is(http.StatusSeeOther)
	routes := slices.DeleteFunc(s.routesOf(t), func(r route) bool {
		return r.method != http.MethodGet || !ofCustomers(r) && r.pattern != "/" || strings.HasSuffix(r.pattern, "/picture") // no page
	})
	for i, r := range append(routes, routes...) {
		b := japanese
		if i >= len(routes) {
			b = english
		}
		for _, path := range append(l.paths(s.Store, "shop", r.pattern), "/nobody") {
			p := b.get(path)
			for name, want := range map[string]string{
				"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin", "X-Frame-Options": "DENY",
				"Strict-Transport-Security": "",
			} {
				if got := p.header.Get(name); got != want {
					t.Errorf("%s: %s: %q", r.pattern, name, got)
				}
			}
			csp := p.header.Get("Content-Security-Policy")
			nonce := noncePattern.FindStringSubmatch(csp)
			if nonce == nil || strings.Contains(csp, "unsafe") || !strings.HasPrefix(csp, "default-src 'none';") {
				t.Fatalf("%s: %s", r.pattern, csp)
			}
			if cache, secret := p.header.Get("Cache-Control"), strings.Contains(r.pattern, "{token}"); path != "/nobody" && (cache == "no-store") != secret {
				t.Errorf("%s: Cache-Control: %s", r.pattern, cache)
			}
			if vary := strings.Join(p.header.Values("Vary"), ", "); !strings.Contains(vary, "Cookie") || !strings.Contains(vary, "Accept-Language") {
				t.Errorf("%s: Vary: %s", r.pattern, vary)
			}
			for n := range p.doc.Descendants() {
				if n.Type != html.ElementNode {
					continue
				}
				switch n.Data {
				case "script":
					if attr(n, "nonce") != nonce[1] || n.FirstChild != nil {
						t.Errorf("%s: a script that the policy refuses", r.pattern)
					}
				case "style":
					t.Errorf("%s: an inline style", r.pattern)
				case "title":
					if segments := strings.Split(path, "/"); len(segments) > 3 && strings.Contains(n.FirstChild.Data, segments[3]) {
						t.Errorf("%s: the title has the token", r.pattern)
					}
				case "a", "form", "link":
					if rel := attr(n, "rel"); rel == "canonical" || rel == "alternate" { // must be absolute, and are the configured address
						if !strings.HasPrefix(attr(n, "href"), "http://booking.example/") {
							t.Errorf("%s: %s: %s", r.pattern, rel, attr(n, "href"))
						}
						continue
					}
					// Calendars on the web are elsewhere; they learn nothing by whence somebody comes.
					if host := strings.HasPrefix(attr(n, "href"), "https://calendar.google.com/calendar/") || strings.HasPrefix(attr(n, "href"), "https://outlook.live.com/calendar/"); host {
						if attr(n, "rel") != "noopener noreferrer" {
							t.Errorf("%s: %s tells where somebody comes from", r.pattern, attr(n, "href"))
						}
						continue
					}
					for _, a := range n.Attr {
						if (a.Key == "href" || a.Key == "action") && strings.Contains(a.Val, "://") {
							t.Errorf("%s: the address %s is not relative", r.pattern, a.Val)
						}
					}
				}
				for _, a := range n.Attr {
					if strings.HasPrefix(a.Key, "on") || a.Key == "style" {
						t.Errorf("%s: %s=%q", r.pattern, a.Key, a.Val)
					}
				}
			}
		}
	}
	p := english.get(static.URL("app.css")).is(http.StatusOK)
	if got := p.header.Get("Cache-Control"); !strings.Contains(got, "immutable") {
		t.Errorf("static: Cache-Control: %s", got)
	}
}

func TestACookieIsOnlyForThisSite(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 3)
	for scheme, want := range map[string]string{"http": "holdfast=", "https": "__Host-holdfast="} {
		site := openSite(t, s, func(c *Config) { c.PublicURL = &url.URL{Scheme: scheme, Host: "booking.example"} })
		b := site.browser(t)
		page := b.get(views.SlotURL("shop", slot.ID))
		if page.header.Get("Set-Cookie") != "" {
			t.Errorf("%s: looking sets a cookie", scheme)
		}
		p := b.press(page, "/hold", nil).is(http.StatusSeeOther)
		cookie := p.header.Get("Set-Cookie")
		if !strings.HasPrefix(cookie, want) || !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Lax") || !strings.Contains(cookie, "Path=/") ||
			strings.Contains(cookie, "Domain") || strings.Contains(cookie, "Secure") != (scheme == "https") {
			t.Errorf("%s: %s", scheme, cookie)
		}
		if hsts := p.header.Get("Strict-Transport-Security"); (hsts != "") != (scheme == "https") {
			t.Errorf("%s: HSTS: %q", scheme, hsts)
		}
		value, _, _ := strings.Cut(strings.TrimPrefix(cookie, want), ";")
		var stored int
		if err := s.Pool.QueryRow(t.Context(), "SELECT count(*) FROM sessions WHERE token = $1", value).Scan(&stored); err != nil || stored != 0 {
			t.Errorf("%s: the session's token is stored as it is, %v", scheme, err)
		}
	}
}

func TestAPressKeepsABrowserKnownAndAGETDoesNot(t *testing.T) {
	t.Parallel()
	var later time.Duration
	s := openSite(t, shop.New(t, nil), func(c *Config) { c.Now = func() time.Time { return time.Now().Add(later) } })
	slot := s.Slot(t, 3)
	b := s.browser(t)
	b.press(b.get(views.SlotURL("shop", slot.ID)), "/hold", nil).is(http.StatusSeeOther)
	page := b.get(views.SlotURL("shop", slot.ID)).need("data-own-hold", "")
	if page.header.Get("Cache-Control") != "no-store" {
		t.Error("a page with the link of a hold may be stored")
	}
	press := func() string { return b.post("/shop/my-reservations", url.Values{}).header.Get("Set-Cookie") }
	if press() != "" {
		t.Error("each press writes the session")
	}
	later = sessionRefresh + time.Hour
	if b.get("/shop").header.Get("Set-Cookie") != "" {
		t.Error("a GET writes the session")
	}
	if press() == "" {
		t.Error("a press after a day does not extend the session")
	}
	if press() != "" {
		t.Error("the next press extends it again")
	}
	b.get(views.SlotURL("shop", slot.ID)).need("data-own-hold", "")
}

func TestForgedHostsChangeNothing(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	l := live(t, s.Shop)
	b := s.browser(t)
	forge := func(r *http.Request) {
		r.Host = "evil.example"
		r.Header.Set("X-Forwarded-Host", "evil.example")
		r.Header.Set("X-Forwarded-Proto", "gopher")
		r.Header.Set("Forwarded", "host=evil.example")
	}
	token := s.Store.ReservationToken(l.booked)
	for _, path := range []string{"/", "/shop", "/shop/my-reservations", views.ReservationURL("shop", token), views.ReservationCalendarURL("shop", token), "/shop/my-reservations/"} {
		p := b.do(http.MethodGet, path, "", "", forge)
		if strings.Contains(p.body+fmt.Sprint(p.header), "evil") {
			t.Errorf("%s names the forged host", path)
		}
	}
	if ics := b.get(views.ReservationCalendarURL("shop", token)); !strings.Contains(strings.ReplaceAll(ics.body, "\r\n ", ""), "URL:http://booking.example/shop/reservations/"+token) {
		t.Errorf("the calendar does not name the public address:\n%s", ics.body)
	}
	p := b.do(http.MethodPost, views.ReservationCancelURL("shop", token), "application/x-www-form-urlencoded", "", forge).is(http.StatusSeeOther)
	if p.location() != views.ReservationURL("shop", token) {
		t.Errorf("led to %s", p.location())
	}
}

func TestALanguagePressComesBackOnlyHere(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := s.browser(t)
	for back, want := range map[string]string{
		"/shop?date=2026-12-01": "/shop?date=2026-12-01", "//evil.example": "/shop", "https://evil.example/": "/shop", `/\evil.example`: "/shop", "evil": "/shop", "": "/shop",
		"/shop/my-reservations": "/shop/my-reservations", "javascript:alert(1)": "/shop", "/%0d%0aSet-Cookie:x": "/%0d%0aSet-Cookie:x",
	} {
		p := b.post("/shop/language", url.Values{views.FieldLang: {"en"}, views.FieldReturn: {back}}).is(http.StatusSeeOther)
		if p.location() != want {
			t.Errorf("from %q to %q, want %q", back, p.location(), want)
		}
	}
	for _, lang := range []string{"", "fr", "'"} {
		b.post("/shop/language", url.Values{views.FieldLang: {lang}}).is(http.StatusBadRequest)
	}
}

func TestLanguages(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	slot := s.Slot(t, 3)
	lang := func(p page) string {
		for n := range p.doc.Descendants() {
			if n.Type == html.ElementNode && n.Data == "html" {
				return attr(n, "lang")
			}
		}
		return ""
	}
	b := s.browser(t)
	for accept, want := range map[string]string{
		"": "ja", "en-GB,en;q=0.8": "en", "fr-FR,fr;q=0.9": "ja", "fr,en;q=0.3": "en", "ja": "ja", "de;q=;;;": "ja", "zh-Hant,ja;q=0.2,en;q=0.1": "ja", strings.Repeat("en,", 400): "ja",
	} {
		b.header.Set("Accept-Language", accept)
		if got := lang(b.get("/shop")); got != want {
			t.Errorf("%.40q: %s, want %s", accept, got, want)
		}
	}
	b.header.Set("Accept-Language", "en")
	link := b.book(slot, "english@example.com")
	var locale string
	if err := s.Pool.QueryRow(t.Context(), "SELECT locale FROM reservations WHERE email = 'english@example.com'").Scan(&locale); err != nil || locale != "en" {
		t.Errorf("the booking's language is %q, %v", locale, err)
	}
	// The link of a mail opens in the language of its person, until another is chosen.
	other := s.browser(t)
	other.header.Set("Accept-Language", "ja")
	if got := lang(other.get(link)); got != "en" {
		t.Errorf("the link opens in %s", got)
	}
	back := other.press(other.get(link), "/language", url.Values{views.FieldLang: {"ja"}})
	if got := lang(other.follow(back)); back.location() != link || got != "ja" {
		t.Errorf("after the press %s in %s", back.location(), got)
	}
}

func TestOnlyTrustedProxiesSayWhoAsks(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 9)
	for name, c := range map[string]struct {
		proxies []netip.Prefix
		want    string
	}{
		"nobody is trusted":     {nil, "127.0.0.1"},
		"another is trusted":    {[]netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, "127.0.0.1"},
		"the peer is trusted":   {[]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, "203.0.113.9"},
		"two hops are trusted":  {[]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("203.0.113.0/24")}, "198.51.100.7"},
		"all IPv6 ones, say so": {[]netip.Prefix{netip.MustParsePrefix("::/0")}, "127.0.0.1"},
	} {
		site := openSite(t, s, func(cfg *Config) { cfg.TrustedProxies = c.proxies })
		b := site.browser(t)
		held := b.press(b.get(views.SlotURL("shop", slot.ID)), "/hold", nil)
		b.header.Set("X-Forwarded-For", "198.51.100.7, 203.0.113.9")
		b.header.Set("User-Agent", "Mozilla/5.0 \xff"+strings.Repeat("x", 500))
		b.follow(b.press(b.get(held.location()), "/confirm", contact("客", name[:3]+"@example.com"))).is(http.StatusOK)
		var addr, agent string
		err := s.Pool.QueryRow(t.Context(), "SELECT press_addr, press_agent FROM reservations WHERE email = $1", name[:3]+"@example.com").Scan(&addr, &agent)
		if err != nil || addr != c.want || !strings.HasPrefix(agent, "Mozilla/5.0") || len(agent) > 200 {
			t.Errorf("%s: %s %q, %v", name, addr, agent, err)
		}
	}
}

func TestFormsThatAreNone(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	slot, full := s.Slot(t, 2), s.Slot(t, 1)
	s.Book(t, full, 1)
	b := s.browser(t)
	hold, join := views.SlotHoldURL("shop", slot.ID), views.SlotWaitlistURL("shop", full.ID)
	for _, c := range []struct {
		name, kind, body string
		status           int
	}{
		{"JSON", "application/json", `{"party_size":1}`, http.StatusUnsupportedMediaType},
		{"files", "multipart/form-data; boundary=x", "--x--", http.StatusUnsupportedMediaType},
		{"another character set", "application/x-www-form-urlencoded; charset=shift_jis", "party_size=1", http.StatusUnsupportedMediaType},
		{"no type", "", "party_size=1", http.StatusUnsupportedMediaType},
		{"broken escapes", "application/x-www-form-urlencoded", "party_size=%zz", http.StatusBadRequest},
		{"too long", "application/x-www-form-urlencoded", "party_size=1&note=" + strings.Repeat("a", bodyLimit), http.StatusRequestEntityTooLarge},
	} {
		if p := b.do(http.MethodPost, hold, c.kind, c.body); p.status != c.status || p.text() == "" {
			t.Errorf("%s: %d, want %d", c.name, p.status, c.status)
		}
	}
	good := func() url.Values {
		v := contact("山田 花子", "hanako@example.com")
		v.Set(views.FieldPartySize, "1")
		v.Set(views.FieldTermsVersion, fmt.Sprint(full.TermsVersion))
		return v
	}
	for _, c := range []struct{ field, value string }{
		{views.FieldName, "a\x00b"},
		{views.FieldName, "\xff\xfe"},
		{views.FieldName, strings.Repeat("あ", longestName+1)},
		{views.FieldNote, "bell\a"},
		{views.FieldKana, "\x1b[31m"},
		{views.FieldEmail, "a@example.com\r\nBcc: b@example.com"},
		{views.FieldEmail, strings.Repeat("a", 300) + "@example.com"},
		{views.FieldPhone, "\x00"},
		{views.FieldPartySize, "1\x00"},
		{views.FieldPartySize, "0"},
		{views.FieldPartySize, "-1"},
		{views.FieldPartySize, "2147483648"},
		{views.FieldPartySize, "1.5"},
		{views.FieldPartySize, "一"},
		{views.FieldPartySize, ""},
		{views.FieldPartySize, "99999999999999999999999"},
		{views.FieldIdempotencyKey, "k\x00"},
		{views.FieldIdempotencyKey, strings.Repeat("k", longestKey+1)},
	} {
		fields := good()
		fields.Set(c.field, c.value)
		p := b.post(join, fields)
		where := c.field
		if where == views.FieldIdempotencyKey {
			where = "form"
		}
		if p.status != http.StatusUnprocessableEntity || !p.has("data-error", where) {
			t.Errorf("%s=%.30q: %d", c.field, c.value, p.status)
		}
		fields.Del(views.FieldName)
		if p := b.post(views.SlotHoldURL("shop", full.ID), fields); p.status >= 500 || p.status < 400 {
			t.Errorf("hold with %s=%.30q: %d", c.field, c.value, p.status)
		}
	}
	repeated := good()
	repeated.Add(views.FieldEmail, "other@example.com")
	b.post(join, repeated).is(http.StatusUnprocessableEntity).need("data-error", views.FieldEmail)
	for _, wrong := range []string{"", "x", "999999999999999999999", "-5", "0"} {
		fields := good()
		fields.Set(views.FieldTermsVersion, wrong)
		b.post(hold, fields).is(http.StatusConflict).need("data-outcome", "terms_changed")
		fields = good()
		fields.Set(views.FieldVersion, "x")
		b.post(hold, fields).is(http.StatusConflict)
	}
	// Full width is a number too.
	fields := url.Values{views.FieldPartySize: {"２"}, views.FieldTermsVersion: {fmt.Sprint(slot.TermsVersion)}}
	b.post(hold, fields).is(http.StatusSeeOther)
}

func TestWhatPeopleTypeIsTextEverywhere(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	slot, full := s.Slot(t, 9), s.Slot(t, 1)
	s.Book(t, full, 1)
	b := s.browser(t)
	for i, payload := range []string{`<img src=x onerror=alert(1)>`, `"><svg onload=alert(1)>`, `'-alert(1)-'`, `javascript:alert(1)`, `</textarea><script>alert(1)</script>`, `{name}`} {
		email := fmt.Sprintf("x%d@example.com", i)
		typed := url.Values{views.FieldName: {payload}, views.FieldKana: {payload}, views.FieldEmail: {payload}, views.FieldPhone: {payload}, views.FieldNote: {payload}}
		hold := b.follow(b.press(b.get(views.SlotURL("shop", slot.ID)), "/hold", nil))
		pages := []page{b.press(hold, "/confirm", typed), b.press(b.get(views.SlotURL("shop", full.ID)), "/waitlist", typed)}
		typed = url.Values{views.FieldName: {payload}, views.FieldEmail: {email}, views.FieldNote: {payload}}
		done := b.press(hold, "/confirm", typed)
		waiting := b.press(b.get(views.SlotURL("shop", full.ID)), "/waitlist", typed)
		pages = append(pages, b.follow(done).says(payload), b.follow(waiting), b.get(done.location()+"/move"), b.get("/shop?service="+url.QueryEscape(payload)+"&date="+url.QueryEscape(payload)))
		for _, p := range pages {
			for n := range p.doc.Descendants() {
				if n.Type != html.ElementNode {
					continue
				}
				if n.Data == "svg" && hasAttr(n, "onload") || n.Data == "img" || n.Data == "script" && n.FirstChild != nil {
					t.Errorf("%q has become a %s", payload, n.Data)
				}
				for _, a := range n.Attr {
					if strings.HasPrefix(a.Key, "on") || (a.Key == "href" || a.Key == "action") && strings.HasPrefix(a.Val, "javascript:") {
						t.Errorf("%q has become %s=%q", payload, a.Key, a.Val)
					}
				}
			}
		}
	}
}

func TestTheLogSaysNothingAboutAnybody(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	slot := s.Slot(t, 1)
	b := s.browser(t)
	b.header.Set("X-Request-Id", "forged-by-me")
	link := b.book(slot, "secret.person@example.com")
	b.get(link + "?q=secretquery")
	b.post("/shop/my-reservations", url.Values{views.FieldEmail: {"secret.person@example.com"}}).is(http.StatusSeeOther)
	b.post(views.SlotHoldURL("shop", slot.ID), url.Values{views.FieldPartySize: {"1"}, views.FieldTermsVersion: {"1"}}).is(http.StatusConflict)
	logs := s.logs.String()
	for _, secret := range []string{strings.Split(link, "/")[3], "secret.person", "花子", "secretquery", "127.0.0.1", slot.ID, "forged-by-me"} {
		if strings.Contains(logs, secret) {
			t.Errorf("the log names %q", secret)
		}
	}
	for _, wanted := range []string{`"route":"/{tenant}/reservations/{token}`, `"status":303`, `"outcome":"sold_out"`, `"request":"`} {
		if !strings.Contains(logs, wanted) {
			t.Errorf("the log does not say %s:\n%s", wanted, logs)
		}
	}
}

func TestTooManyPressesAreToldWhenToComeAgain(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil), func(c *Config) { c.RateLimit = true })
	b := s.browser(t)
	for range linkMailsPerMinute {
		b.post("/shop/my-reservations", url.Values{views.FieldEmail: {"x"}}).is(http.StatusUnprocessableEntity)
	}
	p := b.post("/shop/my-reservations", url.Values{views.FieldEmail: {"x"}}).is(http.StatusTooManyRequests).need("data-state", "too_many")
	if p.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	b.get("/shop/my-reservations").is(http.StatusOK)
	b.post("/shop/language", url.Values{views.FieldLang: {"en"}}).is(http.StatusSeeOther)
}

func TestMetricsAreForThisMachineAndForTheToken(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil), func(c *Config) {
		c.MetricsHandler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { plain(w, http.StatusOK, "metrics") })
		c.MetricsToken = "token"
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	})
	for _, c := range []struct {
		peer, bearer, forwarded string
		status                  int
	}{
		{"127.0.0.1:1", "", "", 200},
		{"[::1]:1", "", "", 200},
		{"[::ffff:127.0.0.1]:1", "", "", 200},
		{"192.0.2.1:1", "", "", 403},
		{"192.0.2.1:1", "", "127.0.0.1", 403},
		{"192.0.2.1:1", "token", "", 200},
		{"192.0.2.1:1", "wrong", "", 403},
		{"127.0.0.1:1", "wrong", "", 403},
		{"127.0.0.1:1", "", "198.51.100.1", 403},
		{"@", "", "", 403},
	} {
		r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
		r.RemoteAddr = c.peer
		if c.bearer != "" {
			r.Header.Set("Authorization", "Bearer "+c.bearer)
		}
		if c.forwarded != "" {
			r.Header.Set("X-Forwarded-For", c.forwarded)
		}
		w := httptest.NewRecorder()
		s.web.Handler().ServeHTTP(w, r)
		if w.Code != c.status {
			t.Errorf("%+v: %d", c, w.Code)
		}
	}
	openSite(t, s.Shop).browser(t).get("/metrics").is(http.StatusNotFound)
}

func TestHealthAndReadiness(t *testing.T) {
	t.Parallel()
	well := true
	s := openSite(t, shop.New(t, nil), func(c *Config) {
		c.Ready = func(context.Context) error {
			if well {
				return nil
			}
			return errors.New("the secret differs")
		}
	})
	b := s.browser(t)
	b.get("/healthz").is(http.StatusOK)
	b.get("/readyz").is(http.StatusOK)
	well = false
	if p := b.get("/readyz").is(http.StatusServiceUnavailable); strings.Contains(p.body, "secret") {
		t.Error("the prober learns why")
	}
	b.get("/healthz").is(http.StatusOK)
}

func TestFaultsOfOursAreSaidCalmly(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	answer := func(ctx context.Context, fn handlerFunc) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		s.web.record(s.web.headers(s.web.session(s.web.withLanguage(s.web.handle(fn))))).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", nil).WithContext(ctx))
		return w
	}
	fault := answer(t.Context(), func(http.ResponseWriter, *http.Request) error { return errors.New("relation does not exist") })
	panics := answer(t.Context(), func(http.ResponseWriter, *http.Request) error { panic("index out of range") })
	for _, w := range []*httptest.ResponseRecorder{fault, panics} {
		if w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "data-state=\"internal\"") || strings.Contains(w.Body.String(), "relation") || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%d: %s", w.Code, w.Body)
		}
	}
	for _, err := range []error{store.Busy, context.DeadlineExceeded, fmt.Errorf("hold: %w", store.Busy)} {
		w := answer(t.Context(), func(http.ResponseWriter, *http.Request) error { return err })
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("%v: %d", err, w.Code)
		}
	}
	before := s.logs.String()
	gone, leave := context.WithCancel(t.Context())
	w := answer(gone, func(http.ResponseWriter, *http.Request) error {
		leave()
		return fmt.Errorf("hold: %w", context.Canceled)
	})
	if said := strings.TrimPrefix(s.logs.String(), before); w.Body.Len() > 0 || !strings.Contains(said, `"status":499`) || strings.Contains(said, "ERROR") || strings.Contains(said, "refused") {
		t.Errorf("a visitor who left: %s\n%s", w.Body, said)
	}
}
