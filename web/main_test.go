package web

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/html"

	"holdfast/store/storetest"
	"holdfast/store/storetest/shop"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// site is a shop with its pages on a real server.
type site struct {
	*shop.Shop
	web  *Server
	addr string // http://127.0.0.1:port
	logs *lockedBuffer
}

// openSite opens a shop's site; edits change its configuration.
func openSite(t testing.TB, s *shop.Shop, edits ...func(*Config)) *site {
	t.Helper()
	logs := &lockedBuffer{}
	cfg := Config{
		Store: s.Store, Sessions: s.Store.Sessions(), PublicURL: &url.URL{Scheme: "http", Host: "booking.example"},
		Log: slog.New(slog.NewJSONHandler(logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, edit := range edits {
		edit(&cfg)
	}
	web, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(web.Handler())
	t.Cleanup(server.Close)
	return &site{Shop: s, web: web, addr: server.URL, logs: logs}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// browser is one visitor without JavaScript: cookies are kept, redirects are
// shown, forms are sent with the fields that they have.
type browser struct {
	t      testing.TB
	site   *site
	client *http.Client
	header http.Header
}

func (s *site) browser(t testing.TB) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{t: t, site: s, header: http.Header{}, client: &http.Client{
		Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// page is an answer.
type page struct {
	t      testing.TB
	status int
	header http.Header
	body   string
	doc    *html.Node
}

func (b *browser) do(method, path, contentType, body string, edits ...func(*http.Request)) page {
	b.t.Helper()
	req, err := http.NewRequestWithContext(context.WithoutCancel(b.t.Context()), method, b.site.addr+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	for name, values := range b.header {
		req.Header[name] = values
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	for _, edit := range edits {
		edit(req)
	}
	resp, err := b.client.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		b.t.Fatal(err)
	}
	if i := strings.Index(string(text), "[["); i >= 0 {
		b.t.Errorf("%s %s: a text is missing: %.60s", method, path, text[i:])
	}
	doc, err := html.Parse(bytes.NewReader(text))
	if err != nil {
		b.t.Fatal(err)
	}
	return page{b.t, resp.StatusCode, resp.Header, string(text), doc}
}

func (b *browser) get(path string) page {
	b.t.Helper()
	return b.do(http.MethodGet, path, "", "")
}

func (b *browser) post(path string, fields url.Values) page {
	b.t.Helper()
	return b.do(http.MethodPost, path, "application/x-www-form-urlencoded", fields.Encode())
}

// follow opens where a 303 leads.
func (b *browser) follow(p page) page {
	b.t.Helper()
	p.is(http.StatusSeeOther)
	return b.get(p.header.Get("Location"))
}

// press sends the form of a page whose action ends so, with more fields set.
func (b *browser) press(p page, action string, more url.Values) page {
	b.t.Helper()
	path, fields := p.form(action)
	for name, values := range more {
		fields[name] = values
	}
	return b.post(path, fields)
}

// is fails the test unless the answer has the status.
func (p page) is(status int) page {
	p.t.Helper()
	if p.status != status {
		p.t.Fatalf("status %d, want %d:\n%s", p.status, status, p.text())
	}
	return p
}

func (p page) location() string { return p.header.Get("Location") }

// all gives the elements that have the attribute, with the value unless it is "".
func (p page) all(attr, value string) []*html.Node {
	var found []*html.Node
	for n := range p.doc.Descendants() {
		if n.Type == html.ElementNode {
			for _, a := range n.Attr {
				if a.Key == attr && (value == "" || a.Val == value) {
					found = append(found, n)
				}
			}
		}
	}
	return found
}

func (p page) has(attr, value string) bool { return len(p.all(attr, value)) > 0 }

// need fails the test unless an element has the attribute with the value.
func (p page) need(attr, value string) page {
	p.t.Helper()
	if !p.has(attr, value) {
		p.t.Fatalf("no element with %s=%q on the page (%d):\n%s", attr, value, p.status, p.text())
	}
	return p
}

// says fails the test unless the page's text has the words.
func (p page) says(words string) page {
	p.t.Helper()
	if !strings.Contains(p.text(), words) {
		p.t.Fatalf("the page does not say %q:\n%s", words, p.text())
	}
	return p
}

// text is what stands on the page.
func (p page) text() string {
	var b strings.Builder
	for n := range p.doc.Descendants() {
		if n.Type == html.TextNode && n.Parent.Data != "script" && n.Parent.Data != "style" {
			if words := strings.TrimSpace(n.Data); words != "" {
				b.WriteString(words + "\n")
			}
		}
	}
	return b.String()
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func hasAttr(n *html.Node, key string) bool {
	for _, a := range n.Attr {
		if a.Key == key {
			return true
		}
	}
	return false
}

// form is what a browser would send for the form whose action ends so.
func (p page) form(action string) (string, url.Values) {
	p.t.Helper()
	for n := range p.doc.Descendants() {
		if n.Type != html.ElementNode || n.Data != "form" || !goesTo(n, action) {
			continue
		}
		fields := url.Values{}
		for c := range n.Descendants() {
			if c.Type != html.ElementNode || attr(c, "name") == "" || hasAttr(c, "disabled") {
				continue
			}
			switch c.Data {
			case "input":
				if kind := attr(c, "type"); (kind == "radio" || kind == "checkbox") && !hasAttr(c, "checked") {
					continue
				}
				fields.Add(attr(c, "name"), attr(c, "value"))
			case "textarea":
				text := ""
				for d := range c.Descendants() {
					text += d.Data
				}
				fields.Add(attr(c, "name"), text)
			case "select":
				for o := range c.Descendants() {
					if o.Data == "option" && hasAttr(o, "selected") {
						fields.Set(attr(c, "name"), attr(o, "value"))
					}
				}
			}
		}
		return attr(n, "action"), fields
	}
	p.t.Fatalf("no form to %q on the page (%d):\n%s", action, p.status, p.text())
	return "", nil
}

func (p page) hasForm(action string) bool {
	for n := range p.doc.Descendants() {
		if n.Type == html.ElementNode && n.Data == "form" && goesTo(n, action) {
			return true
		}
	}
	return false
}

// goesTo reports whether a form posts to a path that ends so, whatever its address carries besides.
func goesTo(form *html.Node, action string) bool {
	to := attr(form, "action")
	path, _, _ := strings.Cut(to, "?")
	return strings.HasSuffix(to, action) || strings.HasSuffix(path, action)
}
