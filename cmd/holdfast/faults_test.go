package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"holdfast/store"
	"holdfast/store/storetest"
	"holdfast/store/storetest/shop"
)

// faultLoad is how long clients press before a fault, and again after it.
var faultLoad = flag.Duration("faults", time.Second, "how long clients press before each fault and after it")

// leastPresses is how many presses must have been acknowledged before a fault, and again after it: on a slow machine
// the load goes on until they were.
const leastPresses = 25

// faults are what happens to the program while clients press. Each ends with the same questions, see verify.
var faults = []struct {
	name string
	run  func(*testing.T) *trial
}{
	{"kill -9 of one of three app processes", faultKilledApp},
	{"kill -9 of the postmaster, which starts again", faultKilledPostmaster},
	{"kill -9 of the private postmaster, then of the process that owned it", faultKilledPrivate},
	{"connections cut before and after commits, whose fate nobody knows then", faultCutConnections},
	{"pool exhausted by statements that hang", faultExhaustedPool},
	{"a slot's row locked for longer than anybody waits", faultLockTimeout},
	{"statement timeout", faultStatementTimeout},
	{"no connections left on the server", faultTooManyConnections},
	{"SIGTERM in the middle of requests", faultTerminated},
	{"clocks of two of three app processes wrong by an hour", faultWrongClock},
	{"disk full for Postgres, then for its write-ahead log", faultFullDisk},
}

// onDemand are faults that need what not every run has: a flag asks for them.
var onDemand = map[string]*bool{
	"kill -9 of the postmaster, which starts again":         flag.Bool("faults-postmaster", false, "also kill a server that is not the private one, which is always killed"),
	"clocks of two of three app processes wrong by an hour": flag.Bool("faults-clock", false, "also run instances whose clocks are wrong; building them takes minutes"),
	"disk full for Postgres, then for its write-ahead log":  flag.Bool("faults-disk", false, "also fill the disk of a server, which has to be mounted for that"),
}

// TestFaultsUnderLoad hurts the program while clients book, confirm, join, accept and cancel at real processes, by the
// API with keys and by the customers' forms. Whatever happens: the invariants hold, whatever was acknowledged stands,
// no seat and no message is lost, and an answer that nobody got is settled by pressing once more.
//
//	go test ./cmd/holdfast -run TestFaultsUnderLoad -v -faults 10s
func TestFaultsUnderLoad(t *testing.T) {
	t.Parallel()
	rows := make([]string, len(faults))
	t.Cleanup(func() {
		head := "| fault | requests | acknowledged | refused | unknown, then settled | lost | mails, twice |\n| --- | --- | --- | --- | --- | --- | --- |"
		t.Logf("\n%s\n%s", head, strings.Join(slices.DeleteFunc(rows, func(row string) bool { return row == "" }), "\n"))
	})
	for i, fault := range faults {
		if asked := onDemand[fault.name]; asked != nil && !*asked {
			continue
		}
		t.Run(fault.name, func(t *testing.T) {
			t.Parallel()
			rows[i] = "| " + fault.name + fault.run(t).row()
		})
	}
}

// trial is a business whose program is hurt under load.
type trial struct {
	*shop.Shop
	env   settings
	post  *post
	slots []store.Slot
	key   string // of the API

	mu      sync.Mutex
	apps    []string // the instances that presses are sent to
	acks    []ack
	at      func(ack) // called in the moment of an acknowledgement
	parties []*party
	answers map[string]int64 // by instance
	doubled map[string]bool  // messages that may have been sent twice: they were being sent when the fault came
	mails   int
	twice   int

	requests, acknowledged, refused, unknown, settled, busy, lost atomic.Int64
}

// ack is a press that was acknowledged.
type ack struct {
	step, slot, app string
	began, ended    time.Time
}

// newTrial gives a business on a database of the shared server, with so few seats that some people wait for them.
// Changes are settings in pairs; DATABASE_URL may be one of them.
func newTrial(t *testing.T, apps int, changes ...string) *trial {
	t.Helper()
	s := shop.New(t, nil, storetest.Conns(4))
	return openTrial(t, s, on(t, s.World), apps, changes...)
}

// openTrial is newTrial for a business that is there.
func openTrial(t *testing.T, s *shop.Shop, env settings, apps int, changes ...string) *trial {
	t.Helper()
	w := &trial{Shop: s, post: servePost(t), doubled: map[string]bool{}, answers: map[string]int64{}}
	w.key = strings.TrimSpace(env.fine(t, "", "apikey", "add", "--tenant", "shop", "--name", "clients", "--scopes", "read,book"))
	w.env = env.with("HOLDFAST_ADDR", "127.0.0.1:0", "HOLDFAST_RATE_LIMIT", "off", "HOLDFAST_SMTP_URL", "smtp://"+w.post.addr+"?starttls=never").with(changes...)
	for range 10 {
		w.slots = append(w.slots, s.Slot(t, 2))
	}
	for range apps {
		w.serve(t)
	}
	return w
}

// shopAt opens a business on a database elsewhere.
func shopAt(t *testing.T, dsn string) *shop.Shop {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	s := &shop.Shop{World: &storetest.World{Pool: pool, DSN: dsn}, Start: time.Now().Truncate(time.Hour).Add(240 * time.Hour)}
	s.Store = shop.Open(t, s.World, store.Watch{})
	s.Tenant = s.AddTenant(t, "shop", nil)
	s.Service, s.Resource = s.AddService(t, s.Tenant, "class", nil), s.AddResource(t, s.Tenant, "studio-a")
	return s
}

// serve starts one more instance.
func (w *trial) serve(t *testing.T) *process {
	t.Helper()
	p := w.env.start(t)
	w.join(p)
	return p
}

func (w *trial) join(p *process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.apps = append(w.apps, address(p))
}

// leave takes an instance from those that presses are sent to, as a load balancer does.
func (w *trial) leave(p *process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.apps = slices.DeleteFunc(w.apps, func(app string) bool { return app == address(p) })
}

// address is where an instance listens.
func address(p *process) string {
	return strings.Replace(strings.TrimSuffix(p.said["staff"], "/staff"), "localhost", "127.0.0.1", 1)
}

// under runs n clients, hurts the program among them, and asks afterwards what became of everything. They press for a
// while before and after; only when hurt has returned does "after" begin.
func (w *trial) under(t *testing.T, n int, hurt func()) *trial {
	t.Helper()
	load := w.begin(t, n)
	load.press(t, "before the fault")
	hurt()
	load.press(t, "after the fault")
	load.end(t)
	w.verify(t)
	return w
}

// crowd is clients that press.
type crowd struct {
	*trial
	stop    chan struct{}
	clients []*client
	all     sync.WaitGroup
}

func (w *trial) begin(t *testing.T, n int) *crowd {
	c := &crowd{trial: w, stop: make(chan struct{})}
	for i := range n {
		one := newClient(t, w, i)
		c.clients = append(c.clients, one)
		c.all.Go(func() { one.run(c.stop) })
	}
	return c
}

// press lets the clients press for a while.
func (c *crowd) press(t *testing.T, when string) {
	t.Helper()
	from, began := c.acknowledged.Load(), time.Now()
	until(t, func() bool { return time.Since(began) >= *faultLoad && c.acknowledged.Load() >= from+leastPresses }, func() string {
		return fmt.Sprintf("%s only %d presses were acknowledged", when, c.acknowledged.Load()-from)
	})
}

// end lets each client end what it has begun: every press gets its answer, if need be by being repeated with its key.
func (c *crowd) end(t *testing.T) {
	t.Helper()
	close(c.stop)
	c.all.Wait()
	// A request of the API that a dead process had begun belongs to it for a minute, which is over now.
	c.Exec(t, "UPDATE idempotency_answers SET begun_at = begun_at - interval '61 seconds' WHERE status IS NULL")
	for _, one := range c.clients {
		one.settle()
	}
}

// verify asks what became of everything that clients were told.
func (w *trial) verify(t *testing.T) {
	t.Helper()
	w.delivered(t)
	checked := w.env.with("DATABASE_URL", w.DSN).run(t, "", "check")
	if checked.code != exitFine {
		t.Errorf("check: exit %d\n%s%s", checked.code, checked.out, checked.errors)
	}
	if w.unknown.Load() != w.settled.Load() {
		t.Errorf("of %d unknown answers %d were settled", w.unknown.Load(), w.settled.Load())
	}
	w.standing(t)
	w.told(t)
	if t.Failed() {
		t.Logf("this is what clients saw: %s", w.row())
	}
}

func (w *trial) row() string {
	return fmt.Sprintf(" | %d | %d | %d | %d, %d | %d | %d, %d |", w.requests.Load(), w.acknowledged.Load(), w.refused.Load(),
		w.unknown.Load(), w.settled.Load(), w.lost.Load(), w.mails, w.twice)
}

// lose says that something acknowledged is not there.
func (w *trial) lose(t *testing.T, format string, args ...any) {
	t.Helper()
	w.lost.Add(1)
	t.Errorf("lost: "+format, args...)
}

// standing compares what each party was told last with what stands in the database: no less, and nothing beside it.
func (w *trial) standing(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	known := map[string]bool{}
	reservation := func(p *party, want ...store.ReservationState) {
		r, err := w.reservationOf(ctx, p)
		switch {
		case err != nil:
			w.lose(t, "%s was told %s: %v", p.name, p.told, err)
		case !slices.Contains(want, r.State):
			w.lose(t, "%s was told %s, and the reservation is %s", p.name, p.told, r.State)
		case r.Email != "" && r.Email != p.email:
			t.Errorf("%s has a booking of %s", p.name, r.Email)
		}
		known[r.ID] = true
	}
	entry := func(p *party, want ...store.EntryState) {
		e, err := w.entryOf(ctx, p)
		switch {
		case err != nil:
			w.lose(t, "%s was told %s: %v", p.name, p.told, err)
		case !slices.Contains(want, e.State):
			w.lose(t, "%s was told %s, and the entry is %s", p.name, p.told, e.State)
		}
		known[e.ID] = true
	}
	for _, p := range w.parties {
		if p.entry != "" {
			if p.reservation != "" {
				entry(p, store.Accepted)
			} else {
				entry(p, map[string][]store.EntryState{
					"waiting": {store.Waiting, store.Offered}, "declined": {store.Declined}, "withdrawn": {store.Withdrawn},
				}[p.told]...)
			}
		}
		if p.reservation != "" {
			reservation(p, store.ReservationState(p.told))
		}
	}
	rows, err := w.Pool.Query(ctx, `SELECT id::text FROM reservations WHERE tenant_id = $1 UNION ALL SELECT id::text FROM waitlist_entries WHERE tenant_id = $1`, w.Tenant.ID)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range stored {
		if !known[id] {
			t.Errorf("nobody was told of %s: one press has had two results", id)
		}
	}
}

func (w *trial) reservationOf(ctx context.Context, p *party) (store.Reservation, error) {
	if p.api {
		return w.Store.Reservation(ctx, w.Tenant.ID, p.reservation)
	}
	return w.Store.ReservationByToken(ctx, w.Tenant.ID, p.reservation)
}

func (w *trial) entryOf(ctx context.Context, p *party) (store.Entry, error) {
	if p.api {
		return w.Store.Entry(ctx, w.Tenant.ID, p.entry)
	}
	return w.Store.EntryByToken(ctx, w.Tenant.ID, p.entry)
}

// delivered waits until the outbox is empty. Where nothing moves any more, the lease of a dispatcher that died and the
// pause before another attempt are made to be over: minutes that nobody here has.
func (w *trial) delivered(t *testing.T) {
	t.Helper()
	w.post.open()
	const stillness = 1500 * time.Millisecond
	last, moved := -1, time.Now()
	until(t, func() bool {
		open := w.counts(t, "SELECT count(*) FROM outbox WHERE tenant_id = $1 AND state IN ('pending', 'sending')", w.Tenant.ID)
		if open != last {
			last, moved = open, time.Now()
		}
		if open > 0 && time.Since(moved) > stillness {
			moved = time.Now()
			rows, err := w.Pool.Query(t.Context(), `UPDATE outbox SET sending_until = CASE WHEN state = 'sending' THEN now() - interval '1 second' END, next_attempt_at = now()
				WHERE tenant_id = $1 AND state IN ('pending', 'sending') RETURNING id::text`, w.Tenant.ID)
			if err != nil {
				t.Fatal(err)
			}
			ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range ids {
				w.doubled[id] = true
			}
		}
		return open == 0
	}, func() string { return fmt.Sprintf("%d messages are not sent", last) })
}

// told compares the outbox, what arrived, and what each party must have been told by mail.
func (w *trial) told(t *testing.T) {
	t.Helper()
	type message struct {
		ID, Kind, State, Recipient, Subject, Error string
	}
	rows, err := w.Pool.Query(t.Context(), "SELECT id::text, kind, state, recipient, coalesce(subject_id::text, '') AS subject, last_error AS error FROM outbox WHERE tenant_id = $1", w.Tenant.ID)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByName[message])
	if err != nil {
		t.Fatal(err)
	}
	arrived := w.post.byID(t)
	owed := map[string]int{} // by reader and kind
	sent := map[string]int{}
	for _, m := range all {
		owed[m.Recipient+" "+m.Kind]++
		got := arrived[m.ID]
		delete(arrived, m.ID)
		for _, to := range got {
			if to != m.Recipient {
				t.Errorf("a message to %s went to %s", m.Recipient, to)
			}
		}
		w.mails += len(got)
		w.twice += max(0, len(got)-1)
		switch {
		case m.State == "sent" && len(got) == 0:
			w.lose(t, "the message %s to %s counts as sent and never came", m.Kind, m.Recipient)
		case m.State == "sent":
			sent[m.Recipient+" "+m.Kind]++
		case m.State != "obsolete":
			w.lose(t, "the message %s to %s is %s: %s", m.Kind, m.Recipient, m.State, m.Error)
		}
		if len(got) > 1 && !w.doubled[m.ID] {
			t.Errorf("the message %s to %s came %d times", m.Kind, m.Recipient, len(got))
		}
	}
	for id, to := range arrived {
		if strings.HasSuffix(to[0], clientHost) {
			t.Errorf("a mail to %s is in no outbox: %s", to[0], id)
		}
	}
	for _, p := range w.parties {
		need := map[string]int{}
		switch p.told {
		case "confirmed", "cancelled":
			need["confirmed"] = 1
		}
		if p.told == "cancelled" {
			need["cancelled"] = 1
		}
		if p.entry != "" {
			need["joined"] = 1
		}
		for kind, n := range need {
			if got := owed[p.email+" "+kind]; got != n {
				w.lose(t, "%s was told %s; there are %d messages %s", p.name, p.told, got, kind)
			}
		}
		if p.told == "confirmed" && sent[p.email+" confirmed"] != 1 {
			w.lose(t, "%s has a booking, and %d mails say so", p.name, sent[p.email+" confirmed"])
		}
	}
}

// acksOf gives the acknowledged presses that began at or after an instant and ended before another.
func (w *trial) acksOf(from, to time.Time) []ack {
	w.mu.Lock()
	defer w.mu.Unlock()
	var found []ack
	for _, a := range w.acks {
		if !a.began.Before(from) && a.ended.Before(to) {
			found = append(found, a)
		}
	}
	return found
}

// strike does something, once, in the moment in which a confirmation is acknowledged by one of the instances: where an
// answer goes out before what it says is safe, this is too early.
func (w *trial) strike(t *testing.T, do func(), apps ...string) {
	t.Helper()
	struck := make(chan struct{})
	once := sync.OnceFunc(func() {
		do()
		close(struck)
	})
	w.when(func(a ack) {
		if a.step == "confirm" && slices.Contains(apps, a.app) {
			once()
		}
	})
	until(t, func() bool {
		select {
		case <-struck:
			return true
		default:
			return false
		}
	}, func() string { return "nobody confirms" })
	w.when(nil)
}

func (w *trial) when(do func(ack)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = do
}

// lock holds rows, as somebody with a psql prompt might, until the function that it gives is called.
func (w *trial) lock(t *testing.T, sql string, args ...any) (release func()) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), w.DSN)
	if err != nil {
		t.Fatal(err)
	}
	once := sync.OnceFunc(func() {
		if err := conn.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(once)
	if _, err := conn.Exec(t.Context(), "SET statement_timeout = 0; SET lock_timeout = 0; SET idle_in_transaction_session_timeout = 0; BEGIN"); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
	return once
}

const (
	lockRow  = "SELECT 1 FROM slots WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE"
	lockRows = "SELECT 1 FROM slots WHERE tenant_id = $1 FOR NO KEY UPDATE"
)

// pass lets some time go by while the load goes on.
func pass(t *testing.T, d time.Duration) {
	t.Helper()
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
}

// lookers are people who only look: a page may be there or busy, and never broken.
type lookers struct {
	stop      chan struct{}
	all       sync.WaitGroup
	seen      atomic.Int64
	toldBusy  atomic.Int64
	faultsMet atomic.Int64
}

func (w *trial) look(t *testing.T, n int) *lookers {
	l := &lookers{stop: make(chan struct{})}
	for i := range n {
		l.all.Go(func() {
			client := &http.Client{Timeout: patience}
			paths := []string{"/shop", "/shop/slots/" + w.slots[i%len(w.slots)].ID, "/shop/my-reservations", "/staff/sign-in"}
			for round := i; ; round++ {
				select {
				case <-l.stop:
					return
				default:
				}
				path := paths[round%len(paths)]
				answer, err := client.Get(w.app(round) + path)
				if err != nil {
					if l.faultsMet.Add(1) == 1 {
						t.Errorf("GET %s: %v", path, err)
					}
					return
				}
				body := bodyOf(answer)
				switch {
				case answer.StatusCode == http.StatusOK:
					l.seen.Add(1)
				case answer.StatusCode == http.StatusServiceUnavailable && answer.Header.Get("Retry-After") != "" && strings.Contains(body, "</html>"):
					l.toldBusy.Add(1)
				default:
					if l.faultsMet.Add(1) == 1 {
						t.Errorf("GET %s: %d, Retry-After %q: %s", path, answer.StatusCode, answer.Header.Get("Retry-After"), brief(body))
					}
				}
			}
		})
	}
	return l
}

func (l *lookers) end() {
	close(l.stop)
	l.all.Wait()
}

// app chooses an instance.
func (w *trial) app(n int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.apps[n%len(w.apps)]
}

// counts asks for a number.
func (w *trial) counts(t *testing.T, sql string, args ...any) int {
	t.Helper()
	var n int
	if err := w.Pool.QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// afterwards runs SQL when the test is over already.
func (w *trial) afterwards(t *testing.T, sql string) {
	t.Helper()
	if _, err := w.Pool.Exec(context.WithoutCancel(t.Context()), sql); err != nil {
		t.Error(err)
	}
}

// kill ends a process by its number, without a chance to say goodbye.
func kill(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
}

func marshalled(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps of plain values always marshal
	}
	return string(text)
}
