package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/mail"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"holdfast/store"
)

const clientHost = "@guests.example"

// party is one party's way through the program, and what it was told last.
type party struct {
	name, email string
	api         bool // by the API; else by the forms
	keyed       bool // its later presses carry keys, too
	slot        store.Slot
	jar         http.CookieJar
	reservation string // its id; of the forms, the token of its link
	entry       string
	offer       string // the token of the offer's link
	told        string // the state that was acknowledged last
}

// client is somebody with several parties: a program with an API key, or people with browsers.
type client struct {
	*trial
	t       *testing.T
	n       int
	made    int
	random  *rand.Rand
	http    *http.Transport
	booked  []*party
	waiting []*party
	aside   []func() bool // presses that another process is said to be carrying out still
}

func newClient(t *testing.T, w *trial, n int) *client {
	c := &client{trial: w, t: t, n: n, random: rand.New(rand.NewPCG(uint64(n), 7)), http: &http.Transport{MaxIdleConnsPerHost: 2}}
	t.Cleanup(c.http.CloseIdleConnections)
	return c
}

// run presses until it is told to stop.
func (c *client) run(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		switch {
		case len(c.booked) > 1 || len(c.booked) > 0 && c.random.IntN(4) == 0:
			p := c.booked[0]
			c.booked = c.booked[1:]
			c.do(func() bool { return c.cancel(p) })
		case len(c.waiting) > 1 || len(c.waiting) > 0 && c.random.IntN(2) == 0:
			p := c.waiting[0]
			c.waiting = c.waiting[1:]
			c.do(func() bool { return c.look(p) })
		default:
			c.arrive()
		}
	}
}

// do does something; what can't be ended yet is put aside.
func (c *client) do(step func() bool) {
	if !step() {
		c.aside = append(c.aside, step)
	}
}

// settle ends what was put aside.
func (c *client) settle() {
	for _, step := range c.aside {
		if !step() {
			c.t.Error("a press that a dead process had begun is said to be under way for ever")
		}
	}
}

// arrive brings a new party: it holds a seat and confirms, backs out, or waits where there is no seat.
func (c *client) arrive() {
	c.made++
	p := &party{name: fmt.Sprintf("client-%d-party-%d-of-the-crowd", c.n, c.made), api: c.n%2 == 0, keyed: c.made%2 == 0, slot: c.slots[c.random.IntN(len(c.slots))]}
	p.email = fmt.Sprintf("c%dp%d%s", c.n, c.made, clientHost)
	jar, err := cookiejar.New(nil)
	if err != nil {
		c.t.Error(err)
		return
	}
	p.jar = jar
	c.trial.mu.Lock()
	c.parties = append(c.parties, p)
	c.trial.mu.Unlock()
	c.do(func() bool { return c.hold(p) })
}

func (c *client) hold(p *party) bool {
	a := c.press(p, "hold", "/slots/"+p.slot.ID+"/hold", url.Values{"party_size": {"1"}, "terms_version": {"1"}, "idempotency_key": {p.name}},
		"/holds", map[string]any{"slots": []string{p.slot.ID}, "partySize": 1, "userId": p.name})
	switch {
	case a.pending:
		return false
	case !a.done && a.status == http.StatusConflict:
		c.do(func() bool { return c.wait(p) })
		return true
	case !a.done:
		return true
	}
	p.told, p.reservation = "held", a.token("reservations")
	if p.api {
		var list struct {
			Items []struct {
				ID string `json:"id"`
			} `json:"items"`
		}
		if err := json.Unmarshal([]byte(a.body), &list); err != nil || len(list.Items) != 1 {
			c.t.Errorf("hold: %v in %s", err, a.body)
			return true
		}
		p.reservation = list.Items[0].ID
	}
	if c.random.IntN(6) == 0 {
		c.do(func() bool { return c.release(p) })
	} else {
		c.do(func() bool { return c.confirm(p) })
	}
	return true
}

func (c *client) confirm(p *party) bool {
	a := c.must(p, "confirm", "/reservations/"+p.reservation+"/confirm", url.Values{"name": {"客"}, "email": {p.email}, "terms_version": {"1"}},
		"/reservations/"+p.reservation+"/confirm", map[string]any{"userId": p.name, "contact": map[string]string{"name": "客", "email": p.email}})
	if a.done {
		p.told = "confirmed"
		c.booked = append(c.booked, p)
	}
	return !a.pending
}

func (c *client) release(p *party) bool {
	a := c.must(p, "release", "/reservations/"+p.reservation+"/release", nil, "/reservations/"+p.reservation+"/release", map[string]any{"userId": p.name})
	if a.done {
		p.told = "released"
	}
	return !a.pending
}

func (c *client) cancel(p *party) bool {
	a := c.must(p, "cancel", "/reservations/"+p.reservation+"/cancel", nil, "/reservations/"+p.reservation+"/cancel", map[string]any{})
	if a.done {
		p.told = "cancelled"
	}
	return !a.pending
}

func (c *client) wait(p *party) bool {
	a := c.press(p, "join", "/slots/"+p.slot.ID+"/waitlist", url.Values{
		"party_size": {"1"}, "terms_version": {"1"}, "idempotency_key": {p.name + "-waits"}, "name": {"客"}, "email": {p.email},
	}, "/slots/"+p.slot.ID+"/waitlist", map[string]any{"partySize": 1, "contact": map[string]string{"name": "客", "email": p.email}})
	if a.done {
		p.told, p.entry = "waiting", a.token("waitlist")
		if p.api {
			p.entry = a.id(c.t)
		}
		c.waiting = append(c.waiting, p)
	}
	return !a.pending
}

var offerLink = regexp.MustCompile(`href="[^"]*/offers/([A-Za-z0-9]+)`)

// look asks whether the turn has come, and answers the offer.
func (c *client) look(p *party) bool {
	a := c.ask(p, "look", http.MethodGet, "/waitlist/"+p.entry, nil, "/waitlist/"+p.entry, nil)
	if a.status != http.StatusOK {
		c.t.Errorf("the place of %s: %d", p.name, a.status)
		return true
	}
	offered := strings.Contains(a.body, `"state":"offered"`)
	if !p.api {
		link := offerLink.FindStringSubmatch(a.body)
		if offered = link != nil; offered {
			p.offer = link[1]
		}
	}
	switch {
	case offered && c.random.IntN(4) == 0:
		c.do(func() bool { return c.answer(p, "decline", "declined") })
	case offered:
		c.do(func() bool { return c.answer(p, "accept", "confirmed") })
	case c.random.IntN(8) == 0:
		c.do(func() bool { return c.withdraw(p) })
	default:
		c.waiting = append(c.waiting, p)
	}
	return true
}

func (c *client) answer(p *party, step, told string) bool {
	a := c.must(p, step, "/offers/"+p.offer+"/"+step, url.Values{"terms_version": {"1"}}, "/waitlist/"+p.entry+"/"+step, map[string]any{})
	if a.done {
		p.told = told
		if step == "accept" {
			p.reservation = a.token("reservations")
			if p.api {
				p.reservation = a.id(c.t)
			}
			c.booked = append(c.booked, p)
		}
	}
	return !a.pending
}

// withdraw gives the place up. The turn may come in the same moment; leaving then declines it.
func (c *client) withdraw(p *party) bool {
	a := c.press(p, "withdraw", "/waitlist/"+p.entry+"/withdraw", nil, "/waitlist/"+p.entry+"/withdraw", map[string]any{})
	if a.pending {
		return false
	}
	e, err := c.entryOf(c.t.Context(), p)
	for try := 1; err != nil && try < 400; try++ { // the database may be away
		pass(c.t, 50*time.Millisecond)
		e, err = c.entryOf(c.t.Context(), p)
	}
	switch {
	case err != nil:
		c.t.Errorf("the entry of %s: %v", p.name, err)
	case a.done && e.State != store.Withdrawn && e.State != store.Declined:
		c.lose(c.t, "%s has left, and the entry is %s", p.name, e.State)
	case a.done:
		p.told = string(e.State)
	default:
		c.t.Errorf("%s may not leave: %d", p.name, a.status)
	}
	return true
}

// answered is what a press was answered at last.
type answered struct {
	status   int
	body     string
	location string
	done     bool // acknowledged
	pending  bool // another process is said to be at it
}

// token is the secret of a link.
func (a answered) token(kind string) string {
	_, rest, _ := strings.Cut(a.location, "/"+kind+"/")
	token, _, _ := strings.Cut(rest, "?")
	return token
}

func (a answered) id(t *testing.T) string {
	var one struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal([]byte(a.body), &one); err != nil || one.ID == "" {
		t.Errorf("%v in %s", err, a.body)
	}
	return one.ID
}

// must is press where a refusal would take away what was acknowledged before.
func (c *client) must(p *party, step, form string, fields url.Values, path string, body map[string]any) answered {
	a := c.press(p, step, form, fields, path, body)
	if !a.done && !a.pending {
		c.lose(c.t, "%s was told %s, and %s is refused: %d %s", p.name, p.told, step, a.status, brief(a.body))
	}
	return a
}

func (c *client) press(p *party, step, form string, fields url.Values, path string, body map[string]any) answered {
	return c.ask(p, step, http.MethodPost, form, fields, path, body)
}

// ask sends a request until its answer is known. No answer, and busy, are none: the same request goes out again, with
// the same key, to any instance.
func (c *client) ask(p *party, step, method, form string, fields url.Values, path string, body map[string]any) answered {
	began, open := time.Now(), false
	for try := 0; ; try++ {
		app := c.app(c.random.IntN(1 << 20))
		sent := time.Now()
		a, err := c.send(p, step, method, app, form, fields, path, body)
		c.requests.Add(1)
		if err == nil {
			c.trial.mu.Lock()
			c.answers[app]++
			c.trial.mu.Unlock()
		}
		switch {
		case err == nil && a.status == http.StatusServiceUnavailable:
			c.busy.Add(1)
		case err == nil && a.status == http.StatusConflict && strings.Contains(a.body, `"reason":"in_progress"`):
			a.pending = true
		case err == nil && a.status >= 500:
			c.t.Errorf("%s by %s: %d %s", step, p.name, a.status, brief(a.body))
		}
		if err != nil || a.status >= 500 || a.pending {
			if !open && method == http.MethodPost {
				open = true
				c.unknown.Add(1)
			}
			if a.pending {
				c.settled.Add(1) // counted again when it is asked again
				return a
			}
			if time.Since(began) > patience {
				c.t.Errorf("%s by %s gets no answer for %v: %d %v", step, p.name, patience, a.status, err)
				return a
			}
			pass(c.t, min(time.Duration(try+1)*10*time.Millisecond, 200*time.Millisecond))
			continue
		}
		if open {
			c.settled.Add(1)
		}
		switch {
		case method == http.MethodGet:
		case a.status == http.StatusSeeOther && !p.api, p.api && (a.status == http.StatusOK || a.status == http.StatusCreated):
			a.done = true
			c.acknowledged.Add(1)
			c.trial.mu.Lock()
			c.acks = append(c.acks, ack{step, p.slot.ID, app, sent, time.Now()})
			at := c.at
			c.trial.mu.Unlock()
			if at != nil {
				at(ack{step: step, app: app})
			}
		case a.status == http.StatusConflict || a.status == http.StatusGone:
			c.refused.Add(1)
		default:
			c.t.Errorf("%s by %s: %d %s", step, p.name, a.status, brief(a.body))
		}
		return a
	}
}

func (c *client) send(p *party, step, method, app, form string, fields url.Values, path string, body map[string]any) (answered, error) {
	address, content, kind := app+"/shop"+form, fields.Encode(), "application/x-www-form-urlencoded"
	if p.api {
		address, content, kind = app+"/api/v1"+path, marshalled(body), "application/json"
	}
	if method == http.MethodGet {
		content = ""
	}
	request, err := http.NewRequestWithContext(c.t.Context(), method, address, strings.NewReader(content))
	if err != nil {
		return answered{}, err
	}
	request.GetBody = nil // the transport must not send it twice behind our back
	if method == http.MethodPost {
		request.Header.Set("Content-Type", kind)
	}
	if p.api {
		request.Header.Set("Authorization", "Bearer "+c.key)
		if step == "hold" || step == "join" || p.keyed && method == http.MethodPost {
			request.Header.Set("Idempotency-Key", p.name+"-"+step)
		}
	}
	browser := &http.Client{
		Transport: c.http, Jar: p.jar, Timeout: patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	answer, err := browser.Do(request)
	if err != nil {
		return answered{}, err
	}
	text, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		return answered{}, err
	}
	if answer.StatusCode == http.StatusServiceUnavailable && answer.Header.Get("Retry-After") == "" {
		c.t.Errorf("%s: busy, and nothing says when to come again", step)
	}
	return answered{status: answer.StatusCode, body: string(text), location: answer.Header.Get("Location")}, nil
}

var titleOf = regexp.MustCompile(`<title>([^<]*)</title>`)

// brief is what an answer says, in a line.
func brief(body string) string {
	if title := titleOf.FindStringSubmatch(body); title != nil {
		return title[1]
	}
	return fmt.Sprintf("%.200s", body)
}

func bodyOf(answer *http.Response) string {
	text, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		return err.Error()
	}
	return string(text)
}

// post is a mail server that can keep conversations hanging: half of them before it has read the message, half after it
// has taken it and before it says so, where nobody who is cut off can know.
type post struct {
	addr string

	mu      sync.Mutex
	closed  chan struct{} // not nil: conversations hang until it is closed
	hanging int
	talks   int
	got     []letter
}

func servePost(t *testing.T) *post {
	t.Helper()
	m := &post{}
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &postSession{post: m}, nil }))
	server.Domain, server.ErrorLog = "localhost", quiet{}
	l := listening(t)
	m.addr = l.Addr().String()
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	t.Cleanup(func() {
		m.open()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != nil && !errors.Is(err, smtp.ErrServerClosed) {
			t.Error(err)
		}
	})
	return m
}

func listening(t *testing.T) net.Listener {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}
func (quiet) Println(...any)        {}

// hold keeps conversations hanging.
func (m *post) hold() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed == nil {
		m.closed = make(chan struct{})
	}
}

// open lets them go on.
func (m *post) open() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed != nil {
		close(m.closed)
		m.closed = nil
	}
}

// hangs is how many conversations hang.
func (m *post) hangs() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.hanging
}

func (m *post) hang(closed chan struct{}) {
	if closed == nil {
		return
	}
	m.mu.Lock()
	m.hanging++
	m.mu.Unlock()
	<-closed
	m.mu.Lock()
	m.hanging--
	m.mu.Unlock()
}

// byID gives the readers of the mails that came, by the id of the outbox message that is in each Message-ID.
func (m *post) byID(t *testing.T) map[string][]string {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	found := map[string][]string{}
	for _, l := range m.got {
		read, err := mail.ReadMessage(strings.NewReader(string(l.raw)))
		if err != nil {
			t.Fatal(err)
		}
		id, _, _ := strings.Cut(strings.Trim(read.Header.Get("Message-Id"), "<>"), "@")
		found[id] = append(found[id], l.to)
	}
	return found
}

type postSession struct {
	post        *post
	to          []string
	early, late chan struct{} // not nil: hangs there until it is closed
}

func (s *postSession) Mail(string, *smtp.MailOptions) error { return nil }

func (s *postSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to = append(s.to, to)
	s.post.mu.Lock()
	s.post.talks++
	s.early, s.late = nil, nil
	if s.post.talks%2 == 0 {
		s.late = s.post.closed
	} else {
		s.early = s.post.closed
	}
	s.post.mu.Unlock()
	s.post.hang(s.early)
	return nil
}

func (s *postSession) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.post.mu.Lock()
	for _, to := range s.to {
		s.post.got = append(s.post.got, letter{to, raw})
	}
	s.post.mu.Unlock()
	s.post.hang(s.late)
	return nil
}

func (s *postSession) Reset()        { s.to = nil }
func (s *postSession) Logout() error { return nil }
