package worker

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

const (
	goodToken = "channel-access-token-of-the-shop"
	lineID    = "@012abcde"
)

// lineServer speaks LINE's protocol as far as we use it, and misbehaves by the
// first word of LINE's id of the reader: Urefuse, Uforbidden, Urate, Uquota, Udown,
// Ulost (takes the message and hangs up), Usilent (takes it and says nothing), Ucut
// (breaks off in its answer), Uredirect, Uconflict (409 that names nothing), Uhuge.
// A message whose retry key was accepted before is refused with 409, as LINE does.
type lineServer struct {
	t       *testing.T
	addr    *url.URL
	release chan struct{} // closed when the test ends

	mu       sync.Mutex
	asked    []pushed          // every request to push
	got      []pushed          // what readers have got
	accepted map[string]string // request id by retry key
	well     bool              // nothing misbehaves any more
}

type pushed struct{ to, key, text string }

var lineKey = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

func startLine(t *testing.T) *lineServer {
	t.Helper()
	l := &lineServer{t: t, release: make(chan struct{}), accepted: map[string]string{}}
	server := httptest.NewUnstartedServer(l)
	server.Config.ErrorLog = nil
	server.Start()
	var err error
	if l.addr, err = url.Parse(server.URL); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		close(l.release)
		server.CloseClientConnections()
		server.Close()
	})
	return l
}

// way is the way to this server, whose silence is not waited for long.
func (l *lineServer) way(t *testing.T, s *store.Store) *Line {
	t.Helper()
	way := NewLine(s, l.addr, quietLog())
	way.client.Timeout = 500 * time.Millisecond
	t.Cleanup(way.client.CloseIdleConnections)
	return way
}

func (l *lineServer) say(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Line-Request-Id", "r-now")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body) // the caller may have left
}

func (l *lineServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Header.Get("Authorization") != "Bearer "+goodToken:
		l.say(w, http.StatusUnauthorized, `{"message":"Authentication failed. Confirm that the access token in the authorization header is valid."}`)
	case r.Method == http.MethodGet && r.URL.Path == "/v2/bot/info":
		l.say(w, http.StatusOK, `{"userId":"U0","basicId":"`+lineID+`","displayName":"お店","chatMode":"bot","markAsReadMode":"auto"}`)
	case r.Method == http.MethodPost && r.URL.Path == "/v2/bot/message/push":
		l.push(w, r)
	default:
		l.say(w, http.StatusNotFound, `{"message":"Not found"}`)
	}
}

func (l *lineServer) push(w http.ResponseWriter, r *http.Request) {
	var sent struct {
		To       string `json:"to"`
		Messages []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"messages"`
	}
	err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&sent)
	key := r.Header.Get("X-Line-Retry-Key")
	if err != nil || len(sent.Messages) != 1 || sent.Messages[0].Type != "text" || sent.Messages[0].Text == "" || !lineKey.MatchString(key) ||
		len(utf16.Encode([]rune(sent.Messages[0].Text))) > 5000 || r.Header.Get("Content-Type") != "application/json" {
		l.t.Errorf("not a request that LINE would take: %v %q %+v", err, key, sent)
		l.say(w, http.StatusBadRequest, `{"message":"The request body has 1 error(s)"}`)
		return
	}
	p := pushed{sent.To, key, sent.Messages[0].Text}
	l.mu.Lock()
	l.asked = append(l.asked, p)
	first, well := l.accepted[key], l.well
	kind := strings.TrimRight(strings.TrimPrefix(p.to, "U"), "0123456789")
	takes := func() {
		l.got = append(l.got, p)
		l.accepted[key] = fmt.Sprintf("r-%d", len(l.asked))
	}
	if first == "" && (well || kind == "" || kind == "lost" || kind == "silent" || kind == "cut" || kind == "huge") {
		takes()
	}
	l.mu.Unlock()
	const done = `{"sentMessages":[{"id":"1","quoteToken":"q"}]}`
	switch {
	case first != "":
		w.Header().Set("X-Line-Accepted-Request-Id", first)
		l.say(w, http.StatusConflict, `{"message":"The retry key is already accepted","sentMessages":[{"id":"1"}]}`)
	case well || kind == "":
		l.say(w, http.StatusOK, done)
	case kind == "refuse":
		l.say(w, http.StatusBadRequest, `{"message":"Failed to send messages"}`)
	case kind == "forbidden":
		l.say(w, http.StatusForbidden, `{"message":"Access to this API is not available for your account"}`)
	case kind == "rate":
		l.say(w, http.StatusTooManyRequests, `{"message":"The API rate limit has been exceeded. Try again later."}`)
	case kind == "quota":
		l.say(w, http.StatusTooManyRequests, `{"message":"You have reached your monthly limit."}`)
	case kind == "down":
		l.say(w, http.StatusInternalServerError, `{"message":"Internal Server Error"}`)
	case kind == "conflict":
		l.say(w, http.StatusConflict, `{}`)
	case kind == "redirect":
		w.Header().Set("Location", "https://elsewhere.example/")
		l.say(w, http.StatusTemporaryRedirect, "")
	case kind == "lost", kind == "cut":
		l.hangUp(w, kind == "cut")
	case kind == "silent":
		select {
		case <-l.release:
		case <-r.Context().Done():
		}
	case kind == "huge":
		w.WriteHeader(http.StatusOK)
		for range 1000 {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	default:
		l.t.Errorf("nobody knows how to treat %q", p.to)
	}
}

func (l *lineServer) hangUp(w http.ResponseWriter, begun bool) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		l.t.Error(err)
		return
	}
	if begun {
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Le")
	}
	_ = conn.(*net.TCPConn).SetLinger(0)
	_ = conn.Close()
}

func (l *lineServer) mended() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.well = true
}

func (l *lineServer) all() (asked, got []pushed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]pushed(nil), l.asked...), append([]pushed(nil), l.got...)
}

// lineShop is a shop with a LINE account, a mail server, and a dispatcher for both.
type lineShop struct {
	*shop.Shop
	line  *lineServer
	mails *mailServer
	d     *Dispatcher
}

func openLine(t *testing.T) *lineShop {
	t.Helper()
	s := &lineShop{Shop: shop.New(t, nil), line: startLine(t), mails: startMail(t)}
	s.account(t, goodToken)
	s.d = dispatcherOf(t, s.Store, s.mails.transport(t))
	s.d.Line = s.line.way(t, s.Store)
	return s
}

func (s *lineShop) account(t *testing.T, token string) {
	t.Helper()
	set := store.LineSettings{TenantID: s.Tenant.ID, BasicID: lineID, Secret: strings.Repeat("0", 32), Token: token}
	if c, err := s.Store.LineChannel(t.Context(), s.Tenant.ID); err == nil {
		set.Version = c.Version
	}
	if err := s.Store.SaveLineChannel(t.Context(), set); err != nil {
		t.Fatal(err)
	}
}

// linked books for somebody whose LINE is linked.
func (s *lineShop) linked(t *testing.T, email, user string, proven bool) store.Reservation {
	t.Helper()
	r := bookAs(t, s.Shop, s.Slot(t, 1), email)
	s.link(t, r, user, proven)
	return r
}

func (s *lineShop) link(t *testing.T, r store.Reservation, user string, proven bool) {
	t.Helper()
	sub := store.LineSubject{TenantID: r.TenantID, ID: r.ID, Email: r.Email, Proven: proven}
	if err := s.Store.MakeLineCode(t.Context(), sub, "ja"); err != nil {
		t.Fatal(err)
	}
	st, err := s.Store.LineStatus(t.Context(), sub)
	if err == nil {
		_, err = s.Store.UseLineCode(t.Context(), store.LineUse{TenantID: r.TenantID, Code: st.Code, User: user, EventID: r.ID})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (s *lineShop) message(t *testing.T, r store.Reservation) store.Message {
	t.Helper()
	return messages(t, s.Shop)["confirmed "+r.ID]
}

// due lets what waits be tried now.
func (s *lineShop) due(t *testing.T) {
	t.Helper()
	s.Exec(t, "UPDATE outbox SET next_attempt_at = now() - interval '1 second' WHERE tenant_id = $1 AND state = 'pending'", s.Tenant.ID)
}
