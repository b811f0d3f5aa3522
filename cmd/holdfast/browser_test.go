package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/mail"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/emersion/go-smtp"
	"github.com/jackc/pgx/v5"

	"holdfast/store"
	"holdfast/store/storetest"
	"holdfast/store/storetest/shop"
)

// product is the real program serving a test database, with a mail server that keeps what it gets.
type product struct {
	*shop.Shop
	base  string
	mails *mailServer
	log   *lockedBuffer
}

const staffPassword = "correct horse battery staple"

// serveProduct starts the program as an operator would: on DATABASE_URL, with an owner made by a command.
func serveProduct(t *testing.T, edit func(*store.Policies)) *product {
	t.Helper()
	p := &product{Shop: shop.New(t, edit, storetest.Conns(4)), mails: serveMail(t), log: &lockedBuffer{}}
	port := freePort(t)
	p.base = "http://localhost:" + port
	settings := map[string]string{
		"DATABASE_URL": p.DSN, "HOLDFAST_SECRET": string(shop.Secret), "HOLDFAST_DATA_DIR": t.TempDir(), "HOLDFAST_ADDR": "127.0.0.1:" + port,
		"HOLDFAST_PUBLIC_URL": p.base, "HOLDFAST_SMTP_URL": "smtp://" + p.mails.addr + "?starttls=never", "HOLDFAST_RATE_LIMIT": "off",
	}
	getenv := func(name string) string { return settings[name] }
	if code := Run(t.Context(), []string{"staff", "add", "--tenant", "shop", "--email", "owner@example.com", "--role", "owner", "--password-stdin"},
		getenv, strings.NewReader(staffPassword+"\n"), io.Discard, p.log); code != 0 {
		t.Fatalf("staff add: exit %d: %s", code, p.log)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan int, 1)
	go func() { done <- Run(ctx, []string{"serve"}, getenv, strings.NewReader(""), io.Discard, p.log) }()
	t.Cleanup(func() {
		stop()
		if code := <-done; code != 0 {
			t.Errorf("serve ended with %d", code)
		}
		if t.Failed() {
			t.Logf("the program's log:\n%s", p.log)
		}
	})
	p.Until(t, func() bool {
		answer, err := http.Get(p.base + "/readyz")
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	}, func() string { return "the program does not get ready: " + p.log.String() })
	return p
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
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

// mailServer is an SMTP server that keeps raw messages.
type mailServer struct {
	addr string
	mu   sync.Mutex
	got  []letter
}

type letter struct {
	to  string
	raw []byte
}

func serveMail(t *testing.T) *mailServer {
	t.Helper()
	m := &mailServer{}
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &mailSession{server: m}, nil }))
	server.Domain = "localhost"
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m.addr = l.Addr().String()
	go server.Serve(l) //nolint:errcheck // it ends with an error when the test closes it
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Log(err)
		}
	})
	return m
}

type mailSession struct {
	server *mailServer
	to     []string
}

func (s *mailSession) Mail(string, *smtp.MailOptions) error { return nil }
func (s *mailSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to = append(s.to, to)
	return nil
}

func (s *mailSession) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	for _, to := range s.to {
		s.server.got = append(s.server.got, letter{to, raw})
	}
	return nil
}
func (s *mailSession) Reset()        { s.to = nil }
func (s *mailSession) Logout() error { return nil }

// wait gives the first mail to an address whose text holds a word.
func (m *mailServer) wait(t *testing.T, p *product, to, word string) letter {
	t.Helper()
	var found letter
	p.Until(t, func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		for _, l := range m.got {
			if l.to == to && strings.Contains(l.text(t), word) {
				found = l
				return true
			}
		}
		return false
	}, func() string { return fmt.Sprintf("no mail to %s with %q came", to, word) })
	return found
}

// text is all readable parts of the mail.
func (l letter) text(t *testing.T) string {
	t.Helper()
	m, err := mail.ReadMessage(bytes.NewReader(l.raw))
	if err != nil {
		t.Fatal(err)
	}
	return partText(t, m.Header.Get("Content-Type"), m.Header.Get("Content-Transfer-Encoding"), m.Body)
}

func partText(t *testing.T, kind, encoding string, body io.Reader) string {
	t.Helper()
	media, params, err := mime.ParseMediaType(kind)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(media, "multipart/") {
		var all strings.Builder
		parts := multipart.NewReader(body, params["boundary"])
		for {
			part, err := parts.NextRawPart()
			if err == io.EOF {
				return all.String()
			}
			if err != nil {
				t.Fatal(err)
			}
			all.WriteString(partText(t, part.Header.Get("Content-Type"), part.Header.Get("Content-Transfer-Encoding"), part))
		}
	}
	switch strings.ToLower(encoding) {
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	if media == "text/calendar" || media == "application/ics" { // as a program that reads it sees it: lines unfolded, texts unescaped
		return strings.NewReplacer("\r\n ", "", "\n ", "", `\n`, "\n", `\,`, ",", `\;`, ";", `\\`, `\`).Replace(string(text))
	}
	return string(text)
}

var linkPattern = regexp.MustCompile(`https?://[^\s"'<>]+`)

func (l letter) links(t *testing.T) []string {
	t.Helper()
	return linkPattern.FindAllString(l.text(t), -1)
}

// link gives the one link of the mail whose path holds part.
func (l letter) link(t *testing.T, part string) string {
	t.Helper()
	for _, link := range l.links(t) {
		if strings.Contains(link, part) {
			return link
		}
	}
	t.Fatalf("no link with %s in\n%s", part, l.text(t))
	return ""
}

// visitor is a person with a browser of their own: cookies and all.
type visitor struct {
	t   *testing.T
	ctx context.Context
	p   *product
}

var chromium = sync.OnceValues(func() (context.Context, error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("lang", "ja"),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("hide-scrollbars", true))
	ctx, _ := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stop := chromedp.NewContext(ctx)
	stopBrowser = stop
	// The first call starts the browser; it must be alone and have no deadline.
	return ctx, chromedp.Do(ctx, chromedp.Navigate("about:blank"))
})

var stopBrowser = func() {}

type screenSize struct {
	name          string
	width, height int64
}

var (
	phone   = screenSize{"phone", 390, 844}
	desktop = screenSize{"desktop", 1440, 900}
)

func (p *product) visitor(t *testing.T, size screenSize, scripts bool) *visitor {
	t.Helper()
	parent, err := chromium()
	if err != nil {
		t.Fatalf("these tests need Chromium: %v", err)
	}
	ctx, closeTab := chromedp.NewContext(parent, chromedp.WithNewBrowserContext())
	t.Cleanup(closeTab)
	v := &visitor{t, ctx, p}
	// The first call makes the tab, and takes its context as the tab's life: no deadline.
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	call(v, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: size.width, Height: size.height, DeviceScaleFactor: 1, Mobile: size.width < 600})
	call(v, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Accept-Language": "ja"}})
	if !scripts {
		call(v, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	}
	return v
}

func call[P, R any](v *visitor, c cdp.Command[P, R], params P) R {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(v.ctx, 30*time.Second)
	defer cancel()
	r, err := chromedp.Call(ctx, c, params)
	if err != nil {
		v.t.Fatal(err)
	}
	return r
}

func (v *visitor) do(steps ...chromedp.Action[chromedp.Void]) {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(v.ctx, 30*time.Second)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		shown, _ := chromedp.Run(context.WithoutCancel(v.ctx), chromedp.Text(chromedp.CSS("body")))
		v.t.Fatalf("%v; the page shows:\n%s", err, shown)
	}
}

func ask[T any](v *visitor, js string) T {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(v.ctx, 30*time.Second)
	defer cancel()
	answer, err := chromedp.Run(ctx, chromedp.Evaluate[T](js))
	if err != nil {
		v.t.Fatalf("%s: %v", js, err)
	}
	return answer
}

func (v *visitor) open(url string) {
	v.t.Helper()
	if strings.HasPrefix(url, "/") {
		url = v.p.base + url
	}
	v.do(chromedp.Navigate(url))
}

// press clicks and waits for what must be there afterwards.
func (v *visitor) press(css, after string) {
	v.t.Helper()
	v.do(chromedp.Click(chromedp.CSS(css)), chromedp.WaitReady(chromedp.CSS(after)))
}

func (v *visitor) sees(css string) {
	v.t.Helper()
	v.do(chromedp.WaitReady(chromedp.CSS(css)))
}

func (v *visitor) fill(name, value string) {
	v.t.Helper()
	v.do(chromedp.SendKeys(chromedp.CSS(fmt.Sprintf(`#main form [name=%q]`, name)), value))
}

func (v *visitor) location() string {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(v.ctx, 30*time.Second)
	defer cancel()
	at, err := chromedp.Run(ctx, chromedp.Location())
	if err != nil {
		v.t.Fatal(err)
	}
	return at
}

func TestASeatChangesHands(t *testing.T) {
	t.Parallel()
	for _, scripts := range []bool{true, false} {
		name := "with JavaScript"
		if !scripts {
			name = "without JavaScript"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := serveProduct(t, nil)
			slot := p.Slot(t, 1)
			slotPath := "/shop/slots/" + slot.ID

			first := p.visitor(t, phone, scripts)
			first.open("/shop?date=" + slot.StartsAt.In(p.Tenant.Location()).Format("2006-01-02"))
			first.press(fmt.Sprintf(`a[href^=%q]`, slotPath), `form[action$="/hold"]`)
			first.press(`form[action$="/hold"] button[type=submit]`, `[data-state="held"]`)
			first.sees(`[data-seconds-left][data-shown-until]`)
			first.fill("name", "佐藤 花子")
			first.fill("email", " Hanako+yoga@example.com ")
			first.press(`form[action$="/confirm"] button[type=submit]`, `[data-state="confirmed"]`)
			bookingURL := first.location()
			if !strings.Contains(bookingURL, "/shop/reservations/") {
				t.Fatalf("booked at %s", bookingURL)
			}
			first.do(chromedp.Reload(), chromedp.WaitReady(chromedp.CSS(`[data-state="confirmed"]`)))
			p.mails.wait(t, p, "Hanako+yoga@example.com", "/shop/reservations/")

			second := p.visitor(t, phone, scripts)
			second.open(slotPath)
			second.fill("name", "鈴木 次郎")
			second.fill("email", "jiro@example.com")
			second.press(`form[action$="/waitlist"] button[type=submit]`, `[data-state="waiting"]`)
			second.sees(`[data-place="1"]`)
			p.mails.wait(t, p, "jiro@example.com", "/shop/waitlist/")

			staff := p.visitor(t, desktop, scripts)
			staff.signIn()
			staff.open("/staff/shop/slots/" + slot.ID)
			staff.do(chromedp.Click(chromedp.CSS(`input[name="reservation"]`)))
			staff.cancelChosen("お電話でのご依頼")

			offer := p.mails.wait(t, p, "jiro@example.com", "/shop/offers/").link(t, "/shop/offers/")
			second.open(offer)
			second.sees(`[data-state="offered"]`)
			second.press(`form[action*="/accept"] button[type=submit]`, `[data-state="confirmed"], [data-state="accepted"]`)
			p.mails.wait(t, p, "jiro@example.com", "/shop/reservations/")

			first.open(bookingURL)
			first.sees(`[data-state="cancelled"]`)
			p.mails.wait(t, p, "Hanako+yoga@example.com", "お電話でのご依頼")

			if read := p.Read(t, slot); read.Taken != 1 || read.Confirmed != 1 {
				t.Errorf("taken %d, confirmed %d", read.Taken, read.Confirmed)
			}
			p.followAllLinks(t)
			if noise := regexp.MustCompile(`level=ERROR.*`).FindAllString(p.log.String(), -1); len(noise) > 0 {
				t.Errorf("the log has errors: %q", noise)
			}
			for _, secret := range []string{"佐藤", "hanako", "Hanako", "jiro@", strings.Split(bookingURL, "/reservations/")[1]} {
				if strings.Contains(p.log.String(), secret) {
					t.Errorf("the log holds %q", secret)
				}
			}
		})
	}
}

func (v *visitor) signIn() {
	v.t.Helper()
	v.open("/staff/sign-in")
	v.fill("email", "owner@example.com")
	v.fill("password", staffPassword)
	v.press(`#main form button[type=submit]`, `form[action="/staff/sign-out"]`)
}

// cancelChosen presses through the page that tells the consequence.
func (v *visitor) cancelChosen(reason string) {
	v.t.Helper()
	v.press(`#cancel-form button[type=submit]`, `.staff-picked`)
	if text := ask[string](v, `document.querySelector("main").innerText`); !strings.Contains(text, "鈴木 次郎") {
		v.t.Errorf("the page before the press does not say who would be offered the seat:\n%s", text)
	}
	v.do(chromedp.SendKeys(chromedp.CSS("#cancel-reason"), reason))
	v.press(`form[action$="/cancel"] button[type=submit]`, `#roster`)
}

// followAllLinks opens each link of each mail as a mail scanner does, and holds that nothing has changed.
func (p *product) followAllLinks(t *testing.T) {
	t.Helper()
	before := p.dump(t)
	p.mails.mu.Lock()
	mails := append([]letter(nil), p.mails.got...)
	p.mails.mu.Unlock()
	seen := 0
	for _, l := range mails {
		for _, link := range l.links(t) {
			if !strings.HasPrefix(link, p.base) {
				continue
			}
			for _, method := range []string{http.MethodGet, http.MethodGet, http.MethodHead} {
				for _, suffix := range []string{"", "?utm=x"} {
					if strings.Contains(link, "?") {
						suffix = strings.Replace(suffix, "?", "&", 1)
					}
					request, err := http.NewRequestWithContext(t.Context(), method, link+suffix, nil)
					if err != nil {
						t.Fatal(err)
					}
					request.Header.Set("User-Agent", "LinkScanner/1.0")
					answer, err := http.DefaultClient.Do(request)
					if err != nil {
						t.Fatal(err)
					}
					answer.Body.Close()
					if answer.StatusCode >= 500 || answer.StatusCode == http.StatusNotFound {
						t.Errorf("%s of a link in a mail: %d %q", method, answer.StatusCode, link)
					}
					seen++
				}
			}
		}
	}
	if seen == 0 {
		t.Error("no link was found in any mail")
	}
	if after := p.dump(t); after != before {
		t.Errorf("following links changed rows:\n%s\n---\n%s", before, after)
	}
}

// dump gives all rows that a link could change.
func (p *product) dump(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, table := range []string{"slots", "reservations", "waitlist_entries", "outbox"} {
		columns := "*"
		rows, err := p.Pool.Query(t.Context(), "SELECT to_jsonb(t) - 'reminded_at' - 'entries_closed_at' FROM (SELECT "+columns+" FROM "+table+") t ORDER BY 1")
		if err != nil {
			t.Fatal(err)
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(table + "\n" + strings.Join(lines, "\n") + "\n")
	}
	return all.String()
}
