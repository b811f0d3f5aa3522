package worker

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest"
	"holdfast/store/storetest/shop"
)

// told is a delivery as a receiver got it.
type told struct {
	id     string
	feed   int64
	kind   string
	header http.Header
	body   []byte
}

// receiver is somebody's server that checks signatures as our page says they are to be checked.
type receiver struct {
	*httptest.Server
	t       testing.TB
	arrived chan told
	// answer answers in place of 204; nil: as usual.
	answer atomic.Pointer[func(http.ResponseWriter, *http.Request, told)]

	mu      sync.Mutex
	secrets []string
	all     []told
}

func startReceiver(t testing.TB) *receiver {
	t.Helper()
	r := &receiver{t: t, arrived: make(chan told, 1000)}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		r.t.Errorf("the body of a delivery: %v", err)
	}
	if req.Method != http.MethodPost || req.Header.Get("Content-Type") != "application/json" || !strings.HasPrefix(req.UserAgent(), "Holdfast-Webhook/") {
		r.t.Errorf("%s %v", req.Method, req.Header)
	}
	var event struct {
		Feed int64
		Kind string
	}
	if err := json.Unmarshal(body, &event); err != nil {
		r.t.Errorf("%s: %v", body, err)
	}
	one := told{req.Header.Get(WebhookDelivery), event.Feed, event.Kind, req.Header, body}
	r.mu.Lock()
	for _, secret := range r.secrets {
		if !signedBy(secret, req.Header.Get(WebhookSignature), body) {
			r.t.Errorf("%s is not signed by %s", req.Header.Get(WebhookSignature), secret)
		}
	}
	r.all = append(r.all, one)
	r.mu.Unlock()
	if answer := r.answer.Load(); answer != nil {
		(*answer)(w, req, one)
	} else {
		w.WriteHeader(http.StatusNoContent)
	}
	r.arrived <- one
}

func (r *receiver) answers(f func(http.ResponseWriter, *http.Request, told)) { r.answer.Store(&f) }

func (r *receiver) got() []told {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all)
}

// signedBy checks a signature, written apart from the code that makes it.
func signedBy(secret, header string, body []byte) bool {
	var t string
	for part := range strings.SplitSeq(header, ",") {
		name, value, _ := strings.Cut(part, "=")
		if name == "t" {
			t = value
			at, err := strconv.ParseInt(t, 10, 64)
			if err != nil || time.Since(time.Unix(at, 0)).Abs() > time.Minute {
				return false
			}
		}
		if name != "v1" {
			continue
		}
		m := hmac.New(sha256.New, []byte(secret))
		fmt.Fprintf(m, "%s.%s", t, body)
		if given, err := hex.DecodeString(value); err == nil && hmac.Equal(given, m.Sum(nil)) {
			return true
		}
	}
	return false
}

func (r *receiver) hook(t testing.TB, s *shop.Shop, tenant store.Tenant, kinds ...string) string {
	t.Helper()
	id, secret, err := s.Store.AddWebhook(t.Context(), store.WebhookChange{TenantID: tenant.ID, URL: r.URL + "/hook", Kinds: kinds})
	if err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	r.secrets = []string{secret}
	r.mu.Unlock()
	return id
}

func bodyOf(e store.FeedEvent) ([]byte, error) {
	return json.Marshal(map[string]any{"feed": e.Feed, "kind": e.Kind})
}

func hooksOf(s webhooks) *Webhooks {
	return &Webhooks{Store: s, Write: bodyOf, Client: NewWebhookClient(true), Log: quietLog(), Poll: 5 * time.Millisecond}
}

// deliver runs deliverers until the test ends, or until stop.
func deliver(t testing.TB, hooks ...*Webhooks) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for _, h := range hooks {
		group.Go(func() {
			if err := h.Run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	stop = sync.OnceFunc(func() { cancel(); group.Wait() })
	t.Cleanup(stop)
	return stop
}

// happen makes n events of a tenant's feed: holds, of which each is released.
func happen(t testing.TB, s *shop.Shop, n int) {
	t.Helper()
	slot := s.Slot(t, 2)
	for i := 0; i < n; i += 2 {
		held := s.Hold(t, slot, 1)
		if i+1 < n {
			if _, err := s.Store.Release(t.Context(), store.OwnerPress{Press: store.Press{TenantID: held.TenantID, ID: held.ID, Actor: shop.Customer}, Owner: held.Owner}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := s.Store.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func feeds(all []told) (out []int64) {
	for _, one := range all {
		out = append(out, one.feed)
	}
	return out
}

func upTo(n int64) (out []int64) {
	for i := range n {
		out = append(out, i+1)
	}
	return out
}

func webhookOf(t testing.TB, s *shop.Shop, id string) store.Webhook {
	t.Helper()
	w, err := s.Store.Webhook(t.Context(), s.Tenant.ID, id)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func logOf(t testing.TB, s *shop.Shop, id string) []store.WebhookDelivery {
	t.Helper()
	log, err := s.Store.WebhookDeliveries(t.Context(), s.Tenant.ID, id)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func TestAWebhookGetsEachEventSignedAndInOrder(t *testing.T) {
	t.Parallel()
	s, r := shop.New(t, nil), startReceiver(t)
	happen(t, s, 2) // before: not told
	id := r.hook(t, s, s.Tenant)
	happen(t, s, 7)
	deliver(t, hooksOf(s.Store))
	for range 7 {
		await(t, r.arrived, "an event")
	}
	s.Until(t, func() bool { w := webhookOf(t, s, id); return w.Cursor == w.Head }, func() string { return "the cursor stays behind" })
	all := r.got()
	if got := feeds(all); !slices.Equal(got, upTo(9)[2:]) {
		t.Fatalf("got %v", got)
	}
	for _, one := range all {
		if want := fmt.Sprintf("%s-%d", id, one.feed); one.id != want {
			t.Errorf("delivery %s, want %s", one.id, want)
		}
	}
	log := logOf(t, s, id)
	if len(log) != 7 || log[0].Outcome != store.WebhookDelivered || log[0].Status != http.StatusNoContent || log[0].Attempt != 1 || log[0].Kind != store.EventHeld || log[0].Delivery != all[6].id {
		t.Errorf("%d %+v", len(log), log[0])
	}
	if w := webhookOf(t, s, id); w.DeliveredAt == nil || w.Attempts != 0 {
		t.Errorf("%+v", w)
	}
}

func TestAWebhookIsToldOnlyWhatItWants(t *testing.T) {
	t.Parallel()
	s, r := shop.New(t, nil), startReceiver(t)
	id := r.hook(t, s, s.Tenant, "released")
	happen(t, s, 5)
	deliver(t, hooksOf(s.Store))
	s.Until(t, func() bool { return webhookOf(t, s, id).Cursor == 5 }, func() string { return "what is not wanted is not passed by" })
	if got := feeds(r.got()); !slices.Equal(got, []int64{2, 4}) {
		t.Errorf("got %v", got)
	}
}

func TestBothSecretsSignWhileOneReplacesTheOther(t *testing.T) {
	t.Parallel()
	s, r := shop.New(t, nil), startReceiver(t)
	id := r.hook(t, s, s.Tenant)
	secret, err := s.Store.RotateWebhook(t.Context(), s.Tenant.ID, id, "", false)
	if err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	r.secrets = append(r.secrets, secret) // both are demanded
	r.mu.Unlock()
	happen(t, s, 1)
	deliver(t, hooksOf(s.Store))
	one := await(t, r.arrived, "the event")
	if n := strings.Count(one.header.Get(WebhookSignature), ",v1="); n != 2 {
		t.Errorf("%d signatures", n)
	}
}

// The order holds: what was not taken is sent again, with the same id, before anything that followed.
func TestWhatIsNotTakenIsSentAgainBeforeTheRest(t *testing.T) {
	t.Parallel()
	s, r := shop.New(t, nil), startReceiver(t)
	id := r.hook(t, s, s.Tenant)
	refused := 0
	r.answers(func(w http.ResponseWriter, _ *http.Request, one told) {
		if one.feed == 2 && refused < 2 {
			refused++
			w.Header().Set("Retry-After", "1800")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	})
	happen(t, s, 4)
	deliver(t, hooksOf(s.Store))
	for n := 1; n <= 2; n++ {
		s.Until(t, func() bool { return webhookOf(t, s, id).Attempts == n }, func() string { return "no attempt" })
		w := webhookOf(t, s, id)
		if wait := w.NextAt.Sub(w.Now); wait < 25*time.Minute || wait > 34*time.Minute {
			t.Errorf("asked to wait for half an hour, it waits for %s", wait)
		}
		if n == 1 && w.FailingSince == nil {
			t.Error("since when is not known")
		}
		s.Exec(t, "UPDATE webhook_endpoints SET next_at = now() WHERE id = $1", id)
	}
	s.Until(t, func() bool { return webhookOf(t, s, id).Cursor == 4 }, func() string { return "it does not go on" })
	all := r.got()
	if got := feeds(all); !slices.Equal(got, []int64{1, 2, 2, 2, 3, 4}) || all[1].id != all[2].id || all[2].id != all[3].id || all[3].id == all[4].id {
		t.Errorf("got %v", all)
	}
	log := logOf(t, s, id)
	if len(log) != 6 || log[3].Outcome != store.WebhookStatus || log[3].Status != http.StatusTooManyRequests || log[3].Attempt != 2 || log[2].Attempt != 3 || log[1].Attempt != 1 {
		t.Errorf("%+v", log)
	}
}

// stalled is a store whose deliverer stops before it can write down how a delivery ended.
type stalled struct {
	webhooks
	at      int64
	reached chan struct{}
	wake    chan struct{}
	late    chan bool // whether the finish after all was taken
}

func (s *stalled) FinishWebhook(ctx context.Context, c store.WebhookClaim, r store.WebhookResult, lease time.Duration) (store.WebhookClaim, bool, error) {
	if r.Feed != s.at {
		return s.webhooks.FinishWebhook(ctx, c, r, lease)
	}
	s.reached <- struct{}{}
	<-s.wake
	now, mine, err := s.webhooks.FinishWebhook(ctx, c, r, lease)
	s.late <- mine
	return now, mine, err
}

func TestOneWhoStopsInTheMiddleLosesTheEndpointAndNothingIsLost(t *testing.T) {
	t.Parallel()
	s, r := shop.New(t, nil), startReceiver(t)
	id := r.hook(t, s, s.Tenant)
	happen(t, s, 6)
	dead := &stalled{webhooks: s.Store, at: 3, reached: make(chan struct{}), wake: make(chan struct{}), late: make(chan bool, 1)}
	deliver(t, hooksOf(dead))
	await(t, dead.reached, "the one that stops")
	// While the lease lasts nobody else delivers.
	if due, err := s.Store.DueWebhooks(t.Context(), 10); err != nil || len(due) != 0 {
		t.Fatalf("%+v %v", due, err)
	}
	s.Exec(t, "UPDATE webhook_endpoints SET leased_until = now() WHERE id = $1", id)
	deliver(t, hooksOf(s.Store))
	s.Until(t, func() bool { return webhookOf(t, s, id).Cursor == 6 }, func() string { return "nobody takes over" })
	close(dead.wake)
	if await(t, dead.late, "the late one") {
		t.Error("the one that comes back writes what is another's")
	}
	all := r.got()
	if got := feeds(all); !slices.Equal(got, []int64{1, 2, 3, 3, 4, 5, 6}) || all[2].id != all[3].id {
		t.Errorf("got %v", all)
	}
	if w := webhookOf(t, s, id); w.Cursor != 6 || w.Attempts != 0 {
		t.Errorf("%+v", w)
	}
}

func TestSeveralInstancesShareTheEndpointsAndKeepTheirOrder(t *testing.T) {
	t.Parallel()
	const n = 30
	s := shop.New(t, nil, storetest.Conns(16))
	var all []*receiver
	for range 4 {
		r := startReceiver(t)
		r.hook(t, s, s.Tenant)
		all = append(all, r)
	}
	deliver(t, hooksOf(s.Store), hooksOf(s.Store), hooksOf(s.Store))
	for range n / 6 {
		happen(t, s, 6)
	}
	for _, r := range all {
		for range n {
			await(t, r.arrived, "an event")
		}
		if got := feeds(r.got()); !slices.Equal(got, upTo(n)) {
			t.Errorf("got %v", got)
		}
	}
}

func TestASlowEndpointDelaysNobodyElse(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slow, quick, elsewhere := startReceiver(t), startReceiver(t), startReceiver(t)
	gate, hangs := make(chan struct{}), make(chan struct{}, 10)
	open := sync.OnceFunc(func() { close(gate) })
	t.Cleanup(open)
	slow.answers(func(http.ResponseWriter, *http.Request, told) { hangs <- struct{}{}; <-gate })
	id := slow.hook(t, s, s.Tenant)
	quick.hook(t, s, s.Tenant)
	other := s.AddTenant(t, "other", nil)
	elsewhere.hook(t, s, other)
	s.Exec(t, "UPDATE webhook_endpoints SET next_at = now() - interval '1 hour' WHERE id = $1", id) // it is the first in line
	h := hooksOf(s.Store)
	h.Client.limit = 10 * time.Minute // longer than this test waits for the others
	deliver(t, h)
	happen(t, s, 1)
	await(t, hangs, "the slow one")
	happen(t, s, 5)
	theirs, err := s.Store.AddSlots(t.Context(), other.ID, []store.NewSlot{{
		ServiceID: s.AddService(t, other, "class", nil).ID, ResourceID: s.AddResource(t, other, "studio").ID, StartsAt: s.Start, Capacity: 2,
	}})
	if err != nil {
		t.Fatal(err)
	}
	s.Hold(t, theirs[0], 1)
	if _, err := s.Store.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 6 {
		await(t, quick.arrived, "an event of the quick one")
	}
	await(t, elsewhere.arrived, "the event of another tenant")
	if w := webhookOf(t, s, id); w.Cursor != 0 || w.Attempts != 0 {
		t.Errorf("the slow one is at %d already", w.Cursor)
	}
	open()
	s.Until(t, func() bool { return webhookOf(t, s, id).Cursor == 6 }, func() string { return "the slow one stays behind" })
}

func TestWhatIsUnderWayIsFinishedOnTheWayOut(t *testing.T) {
	t.Parallel()
	s, r := shop.New(t, nil), startReceiver(t)
	id := r.hook(t, s, s.Tenant)
	gate, reached := make(chan struct{}), make(chan struct{}, 1)
	r.answers(func(http.ResponseWriter, *http.Request, told) { reached <- struct{}{}; <-gate })
	happen(t, s, 3)
	stop := deliver(t, hooksOf(s.Store))
	await(t, reached, "the delivery")
	ended := make(chan struct{})
	go func() { stop(); close(ended) }()
	close(gate)
	await(t, ended, "the end")
	if w := webhookOf(t, s, id); w.Cursor != 1 {
		t.Errorf("the cursor is %d", w.Cursor)
	}
	// And the endpoint was let go: the next one need not wait for the lease.
	if due, err := s.Store.DueWebhooks(t.Context(), 10); err != nil || len(due) != 1 {
		t.Errorf("%+v %v", due, err)
	}
}

func TestATestIsSignedAndLogged(t *testing.T) {
	t.Parallel()
	s, r := shop.New(t, nil), startReceiver(t)
	id := r.hook(t, s, s.Tenant)
	if err := s.Store.PauseWebhook(t.Context(), s.Tenant.ID, id, ""); err != nil {
		t.Fatal(err)
	}
	h := hooksOf(s.Store)
	number, err := h.Test(t.Context(), s.Tenant.ID, id, "staff:x")
	if err != nil {
		t.Fatal(err)
	}
	one := await(t, r.arrived, "the test")
	log := logOf(t, s, id)
	if one.kind != "ping" || len(log) != 1 || log[0].Number != number || log[0].Outcome != store.WebhookDelivered || log[0].Kind != store.WebhookPing || log[0].Delivery != one.id || !strings.HasPrefix(one.id, id+"-ping-") {
		t.Errorf("%+v %+v", one, log)
	}
	if _, err := h.Test(t.Context(), s.AddTenant(t, "other", nil).ID, id, "staff:x"); err != store.NotFound {
		t.Errorf("another tenant's: %v", err)
	}
	h.Client = NewWebhookClient(false)
	if _, err := h.Test(t.Context(), s.Tenant.ID, id, "staff:x"); err != nil {
		t.Fatal(err)
	}
	if log := logOf(t, s, id); log[0].Outcome != store.WebhookAddress || log[0].Status != 0 || len(r.got()) != 1 {
		t.Errorf("to this machine: %+v", log[0])
	}
}

func TestPlacesAreSharedOut(t *testing.T) {
	t.Parallel()
	h := &Webhooks{running: map[string]store.DueWebhook{}}
	enter := func(tenant, id string, attempts int) bool {
		return h.enter(store.DueWebhook{TenantID: tenant, ID: id, Attempts: attempts})
	}
	for i := range webhookOfTenant {
		if !enter("greedy", fmt.Sprint("g", i), 0) {
			t.Fatal("no place")
		}
	}
	if enter("greedy", "more", 0) {
		t.Error("one tenant takes more than its places")
	}
	if enter("other", "g0", 0) {
		t.Error("one is delivered to twice at a time")
	}
	for i := range webhookOfFailing {
		if !enter(fmt.Sprint("dead", i), fmt.Sprint("d", i), 3) {
			t.Fatal("no place for one that fails")
		}
	}
	if enter("dead", "d", 1) {
		t.Error("those that fail take more than their places")
	}
	free := 0
	for enter(fmt.Sprint("well", free), fmt.Sprint("w", free), 0) {
		free++
	}
	if free != webhookPlaces-webhookOfTenant-webhookOfFailing {
		t.Errorf("%d places are left for those that do well", free)
	}
	h.leave(store.DueWebhook{ID: "w0"})
	if !enter("well", "again", 0) {
		t.Error("a place that was left stays taken")
	}
}

// call is one attempt to an address.
func call(t testing.TB, c *WebhookClient, address string) store.WebhookResult {
	t.Helper()
	return c.Send(t.Context(), WebhookCall{URL: address, Secrets: []string{"s"}, Delivery: "d", Body: []byte(`{"feed":1,"kind":"held"}`), At: time.Now()})
}

// rawServer answers each connection by hand.
func rawServer(t testing.TB, answer func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	group.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			group.Go(func() {
				defer conn.Close()
				answer(conn)
			})
		}
	})
	t.Cleanup(func() { _ = l.Close(); group.Wait() })
	return "http://" + l.Addr().String() + "/"
}

func TestReceiversThatMisbehave(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	readRequest := func(conn net.Conn) {
		req, err := http.ReadRequest(bufio.NewReader(conn))
		if err == nil {
			_, _ = io.Copy(io.Discard, req.Body)
		}
	}
	var followed atomic.Bool
	var sent atomic.Int64
	plain := func(handler http.HandlerFunc) string {
		server := httptest.NewServer(handler)
		t.Cleanup(server.Close)
		return server.URL
	}
	encrypted := httptest.NewTLSServer(http.NotFoundHandler())
	encrypted.Config.ErrorLog = nil
	t.Cleanup(encrypted.Close)
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		address string
		outcome store.WebhookOutcome
		status  int
	}{
		"it is silent":          {rawServer(t, func(net.Conn) { <-over }), store.WebhookTimeout, 0},
		"it reads, and no more": {rawServer(t, func(conn net.Conn) { readRequest(conn); <-over }), store.WebhookTimeout, 0},
		"it drips headers":      {rawServer(t, func(conn net.Conn) { readRequest(conn); fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nX: "); <-over }), store.WebhookTimeout, 0},
		"it hangs up at once":   {rawServer(t, func(net.Conn) {}), store.WebhookBroken, 0},
		"it ends in the middle": {rawServer(t, func(conn net.Conn) { readRequest(conn); fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Le") }), store.WebhookBroken, 0},
		"it speaks something":   {rawServer(t, func(conn net.Conn) { fmt.Fprint(conn, "220 mail.example ESMTP\r\n"); readRequest(conn) }), store.WebhookBroken, 0},
		"its headers never end": {rawServer(t, func(conn net.Conn) {
			readRequest(conn)
			flood(conn, "HTTP/1.1 200 OK\r\n", "X-Y: "+strings.Repeat("z", 1000)+"\r\n", &sent)
		}), store.WebhookBroken, 0},
		"its answer never ends": {rawServer(t, func(conn net.Conn) {
			readRequest(conn)
			flood(conn, "HTTP/1.1 200 OK\r\n\r\n", strings.Repeat("z", 1000), &sent)
		}), store.WebhookDelivered, 200},
		"its answer breaks off": {rawServer(t, func(conn net.Conn) {
			readRequest(conn)
			fmt.Fprint(conn, "HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\nab")
		}), store.WebhookDelivered, 201},
		"its answer drips": {rawServer(t, func(conn net.Conn) {
			readRequest(conn)
			fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\na")
			<-over
		}), store.WebhookDelivered, 200},
		"it fails":                {plain(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }), store.WebhookStatus, 500},
		"it is gone":              {plain(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(410) }), store.WebhookStatus, 410},
		"nobody listens":          {"http://" + gone.Addr().String() + "/", store.WebhookConnection, 0},
		"its certificate is none": {encrypted.URL, store.WebhookCertificate, 0},
		"it sends us elsewhere": {plain(func(w http.ResponseWriter, req *http.Request) {
			if req.URL.Path == "/" {
				http.Redirect(w, req, "/next", http.StatusTemporaryRedirect)
				return
			}
			followed.Store(true)
		}), store.WebhookRedirect, 307},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := NewWebhookClient(true)
			client.limit = 700 * time.Millisecond
			got := call(t, client, c.address)
			if got.Outcome != c.outcome || got.Status != c.status || got.Took > 3*time.Second {
				t.Errorf("%+v, want %s %d", got, c.outcome, c.status)
			}
		})
	}
	t.Cleanup(func() {
		if followed.Load() {
			t.Error("a redirect was followed")
		}
		// What lies in the buffers of the sockets on the way is not read by us.
		if n := sent.Load(); n == 0 || n > 16<<20 {
			t.Errorf("%d bytes were taken", n)
		}
	})
	t.Cleanup(func() { close(over) }) // before the servers wait for their answers to end
}

// flood writes without end, and counts.
func flood(conn net.Conn, head, more string, sent *atomic.Int64) {
	if _, err := io.WriteString(conn, head); err != nil {
		return
	}
	for {
		n, err := io.WriteString(conn, more)
		if sent.Add(int64(n)); err != nil {
			return
		}
	}
}

func TestNothingIsSentToAddressesOfOurOwn(t *testing.T) {
	t.Parallel()
	var hit atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hit.Store(true) }))
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(server.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	client := NewWebhookClient(false)
	if client.http.Transport.(*http.Transport).Proxy != nil {
		t.Error("a proxy would connect in our place")
	}
	// By name too: what counts is where the connection goes.
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "127.1.2.3", "169.254.169.254", "10.0.0.1", "[64:ff9b::7f00:1]"} {
		if got := call(t, client, "http://"+host+":"+port+"/"); got.Outcome != store.WebhookAddress {
			t.Errorf("%s: %+v", host, got)
		}
	}
	if hit.Load() {
		t.Error("it was reached")
	}
	if got := call(t, NewWebhookClient(true), server.URL); got.Outcome != store.WebhookDelivered || !hit.Load() {
		t.Errorf("where it is allowed: %+v", got)
	}
}

func TestWhatKeptAnAttempt(t *testing.T) {
	t.Parallel()
	for want, err := range map[store.WebhookOutcome]error{
		store.WebhookName:    &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", IsNotFound: true}},
		store.WebhookTimeout: &net.OpError{Op: "dial", Err: &net.DNSError{Err: "i/o timeout", IsTimeout: true}},
		store.WebhookBroken:  io.ErrUnexpectedEOF,
		store.WebhookAddress: &net.OpError{Op: "dial", Err: errNotPublic},
	} {
		if got := whyNot(err); got != want {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"": 0, "soon": 0, "-5": 0, "0": time.Second, "120": 2 * time.Minute, "3600": time.Hour, "99999999": time.Hour, "99999999999999999999": 0,
		"Sun, 14 Mar 2027 01:05:00 GMT": 5 * time.Minute, "Sun, 14 Mar 2027 00:00:00 GMT": time.Second, "Mon, 15 Mar 2027 01:00:00 GMT": time.Hour,
	} {
		h := http.Header{"Retry-After": {text}, "Date": {"Sun, 14 Mar 2027 01:00:00 GMT"}}
		if got := retryAfter(h); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	for range 100 {
		if got := later(3, 100*time.Second); got < 100*time.Second || got > 111*time.Second {
			t.Fatalf("asked for 100 s: %s", got)
		}
		if got := later(1, 0); got < 11*time.Second || got > 19*time.Second {
			t.Fatalf("after the first: %s", got)
		}
		if got := later(40, 0); got < 45*time.Minute || got > 75*time.Minute {
			t.Fatalf("after the fortieth: %s", got)
		}
	}
}

// The check that the README shows takes what we sign, and nothing else.
func TestTheREADMEChecksSignatures(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(raw), "### Webhooks\n")
	_, script, found := strings.Cut(section, "```sh\n")
	script, _, closed := strings.Cut(script, "```")
	if !found || !closed {
		t.Fatal("the README shows no check")
	}
	body := []byte(`{"cursor":"17","kind":"held","名":"x"}`)
	file := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(file, body, 0o600); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for name, c := range map[string]struct {
		header string
		taken  bool
	}{
		"as it was sent":          {SignWebhook([]string{"hfwh_A"}, now, body), true},
		"by the former secret":    {SignWebhook([]string{"hfwh_B", "hfwh_A"}, now, body), true},
		"while it still signs":    {SignWebhook([]string{"hfwh_A", "hfwh_B"}, now, body), true},
		"by another":              {SignWebhook([]string{"hfwh_B"}, now, body), false},
		"of another body":         {SignWebhook([]string{"hfwh_A"}, now, []byte(`{}`)), false},
		"of an hour ago":          {SignWebhook([]string{"hfwh_A"}, now.Add(-time.Hour), body), false},
		"with nothing but time":   {fmt.Sprintf("t=%d", now.Unix()), false},
		"with another time":       {strings.Replace(SignWebhook([]string{"hfwh_A"}, now, body), "t=", "t=1", 1), false},
		"with an empty signature": {fmt.Sprintf("t=%d,v1=", now.Unix()), false},
	} {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", script+"\nverify \"$FILE\" \"$HEADER\"")
		cmd.Env = append(os.Environ(), "SECRET=hfwh_A", "FILE="+file, "HEADER="+c.header)
		out, err := cmd.CombinedOutput()
		if taken := err == nil; taken != c.taken {
			t.Errorf("%s: %v %s", name, err, out)
		}
	}
}
