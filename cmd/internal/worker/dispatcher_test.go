package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/store"
	"holdfast/store/storetest"
	"holdfast/store/storetest/shop"
	"holdfast/views"
)

func quietLog() *slog.Logger { return slog.New(slog.DiscardHandler) }

func writerOf(t *testing.T, s *store.Store) *Writer {
	t.Helper()
	u, err := url.Parse("https://reserve.example")
	if err != nil {
		t.Fatal(err)
	}
	return &Writer{Tokens: s, PublicURL: u, From: "mail@reserve.example"}
}

func dispatcherOf(t *testing.T, s *store.Store, way Transport) *Dispatcher {
	t.Helper()
	return &Dispatcher{Store: s, Write: writerOf(t, s).Write, Transport: way, Log: quietLog()}
}

// bookAs makes a booking with the address of a reader.
func bookAs(t *testing.T, s *shop.Shop, slot store.Slot, email string) store.Reservation {
	t.Helper()
	req := s.ConfirmRequest(s.Hold(t, slot, 1))
	req.Contact.Email = email
	r, err := s.Store.Confirm(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// messages lists the outbox of the shop by the subject they are about.
func messages(t *testing.T, s *shop.Shop) map[string]store.Message {
	t.Helper()
	all, err := s.Store.Messages(t.Context(), store.MessageQuery{TenantID: s.Tenant.ID, Limit: 500})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]store.Message{}
	for _, m := range all {
		found[string(m.Kind)+" "+*m.SubjectID] = m
	}
	return found
}

func round(t *testing.T, d *Dispatcher) {
	t.Helper()
	if _, err := d.round(t.Context()); err != nil && !errors.Is(err, errBlocked) {
		t.Fatal(err)
	}
}

func TestMessagesGoOutAndAreKeptAsSent(t *testing.T) {
	t.Parallel()
	s, server := shop.New(t, nil), startMail(t)
	r := s.Book(t, s.Slot(t, 1), 1)
	d := dispatcherOf(t, s.Store, server.transport(t))
	round(t, d)
	round(t, d)
	got := server.all()
	if len(got) != 1 || got[0].to != r.Email {
		t.Fatalf("%d mails", len(got))
	}
	m := messages(t, s)["confirmed "+r.ID]
	header, text := read(t, got[0].raw)
	if m.State != store.MessageSent || m.SentAt == nil || m.SentText != text || m.SentSubject != decoded(t, header.Get("Subject")) {
		t.Errorf("kept as %+v", m)
	}
	if header.Get("Message-Id") != "<"+m.ID+"@reserve.example>" {
		t.Errorf("message id %s", header.Get("Message-Id"))
	}
	link := "https://reserve.example" + views.Proven(views.ReservationURL("shop", s.Store.ReservationToken(r)), s.Store.ReservationProof(r))
	if !strings.Contains(text, "\n"+link+"\n") {
		t.Errorf("the link %s is not in\n%s", link, text)
	}
}

func TestARefusedMessageFailsAtOnceOrIsTriedAgain(t *testing.T) {
	t.Parallel()
	s, server := shop.New(t, nil), startMail(t)
	bounced := bookAs(t, s, s.Slot(t, 1), "bounce@example.com")
	later := bookAs(t, s, s.Slot(t, 1), "later@example.com")
	served := bookAs(t, s, s.Slot(t, 1), "guest@example.com")
	d := dispatcherOf(t, s.Store, server.transport(t))
	round(t, d)
	round(t, d)
	all := messages(t, s)
	if m := all["confirmed "+bounced.ID]; m.State != store.MessageFailed || m.Attempts != 1 || !strings.Contains(m.LastError, "550") || strings.Contains(m.LastError, "@") {
		t.Errorf("550: %+v", m)
	}
	m := all["confirmed "+later.ID]
	if m.State != store.MessagePending || m.Attempts != 1 || !strings.Contains(m.LastError, "451") || strings.Contains(m.LastError, "@") {
		t.Errorf("451: %+v", m)
	}
	now, err := s.Store.Now(t.Context())
	if err != nil || m.NextAttemptAt.Sub(now) < 5*time.Second || m.NextAttemptAt.Sub(now) > 30*time.Second {
		t.Errorf("tried again in %v (%v)", m.NextAttemptAt.Sub(now), err)
	}
	if all["confirmed "+served.ID].State != store.MessageSent || len(server.all()) != 1 {
		t.Error("the others waited for the refused")
	}
	// Staff correct the address; the same message then arrives.
	s.Exec(t, "UPDATE outbox SET recipient = 'right@example.com' WHERE tenant_id = $1 AND subject_id = $2", s.Tenant.ID, bounced.ID)
	if err := s.Store.RetryMessage(t.Context(), s.Tenant.ID, all["confirmed "+bounced.ID].ID); err != nil {
		t.Fatal(err)
	}
	round(t, d)
	if got := server.all(); len(got) != 2 || got[1].to != "right@example.com" {
		t.Errorf("after the retry %d mails", len(got))
	}
}

// A server that is away costs no message its place: after the repair all
// arrive, once each and in order, without anybody's doing.
func TestAfterAnOutageAllArriveOnceAndInOrder(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	l := listenTCP(t, "127.0.0.1:0")
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	way, err := ParseSMTP("smtp://"+addr+"?starttls=never", "")
	if err != nil {
		t.Fatal(err)
	}
	d := dispatcherOf(t, s.Store, way)
	var want []string
	for range 3 {
		for range 4 {
			r := bookAs(t, s, s.Slot(t, 1), "guest@example.com")
			want = append(want, s.Store.ReservationToken(r))
		}
		if _, err := d.round(t.Context()); !errors.Is(err, errBlocked) {
			t.Fatalf("a closed port gave %v", err)
		}
		d.blocked++
	}
	for subject, m := range messages(t, s) {
		if m.State != store.MessagePending {
			t.Errorf("%s is %s", subject, m.State)
		}
	}
	server := startMailOn(t, listenTCP(t, addr))
	for range 5 {
		round(t, d)
		d.blocked = 0
	}
	var got []string
	for _, mail := range server.all() {
		_, text := read(t, mail.raw)
		_, rest, _ := strings.Cut(text, "/shop/reservations/")
		token, _, _ := strings.Cut(rest, "?")
		got = append(got, token)
	}
	if !slices.Equal(got, want) {
		t.Errorf("arrived %d of %d, or in another order:\n%v\n%v", len(got), len(want), got, want)
	}
}

func TestTwoDispatchersNeverSendOneMessageTwice(t *testing.T) {
	t.Parallel()
	s, server := shop.New(t, nil), startMail(t)
	slot := s.Slot(t, 60)
	for i := range 60 {
		bookAs(t, s, slot, fmt.Sprintf("guest%d@example.com", i))
	}
	start := storetest.Barrier(3)
	var group sync.WaitGroup
	for range 3 {
		other, err := store.New(s.NewPool(t, 4), shop.Secret, store.Watch{})
		if err != nil {
			t.Fatal(err)
		}
		d := dispatcherOf(t, other, server.transport(t))
		group.Go(func() {
			start()
			for {
				some, err := d.round(t.Context())
				if err != nil {
					t.Error(err)
				}
				if !some {
					return
				}
			}
		})
	}
	group.Wait()
	times := map[string]int{}
	for _, mail := range server.all() {
		times[mail.to]++
	}
	for to, n := range times {
		if n != 1 {
			t.Errorf("%s got %d", to, n)
		}
	}
	if len(times) != 60 {
		t.Errorf("%d of 60 arrived", len(times))
	}
}

func TestALeaseIsTakenOverAfterACrash(t *testing.T) {
	t.Parallel()
	s, server := shop.New(t, nil), startMail(t)
	r := s.Book(t, s.Slot(t, 1), 1)
	claimed, err := s.Store.ClaimMessages(t.Context(), s.Tenant.ID, 10, lease)
	if err != nil || len(claimed) != 1 {
		t.Fatalf("claimed %d %v", len(claimed), err)
	}
	d := dispatcherOf(t, s.Store, server.transport(t))
	round(t, d)
	if len(server.all()) != 0 {
		t.Fatal("it sent what somebody else had claimed")
	}
	// The claimer dies; its lease runs out.
	s.Exec(t, "UPDATE outbox SET sending_until = now() - interval '1 second' WHERE tenant_id = $1", s.Tenant.ID)
	round(t, d)
	if len(server.all()) != 1 || messages(t, s)["confirmed "+r.ID].State != store.MessageSent {
		t.Error("nobody took over")
	}
	mine, err := s.Store.FinishMessage(t.Context(), claimed[0], store.MessageResult{State: store.MessageFailed})
	if err != nil || mine {
		t.Errorf("the late owner could still write: %v %v", mine, err)
	}
}

func TestWhatHasBecomePointlessIsNotSent(t *testing.T) {
	t.Parallel()
	s, server := shop.New(t, nil), startMail(t)
	slot := s.Slot(t, 1)
	first := s.Book(t, slot, 1)
	second := s.Join(t, slot, 1)
	s.Cancel(t, first)
	if _, err := s.Store.Decline(t.Context(), store.Press{TenantID: s.Tenant.ID, ID: second.ID, Actor: shop.Customer}); err != nil {
		t.Fatal(err)
	}
	round(t, dispatcherOf(t, s.Store, server.transport(t)))
	all := messages(t, s)
	for subject, want := range map[string]store.MessageState{
		"offer " + second.ID: store.MessageObsolete, "joined " + second.ID: store.MessageObsolete,
		"confirmed " + first.ID: store.MessageObsolete, "cancelled " + first.ID: store.MessageSent,
	} {
		if got := all[subject].State; got != want {
			t.Errorf("%s is %s, want %s", subject, got, want)
		}
	}
	if got := server.all(); len(got) != 1 {
		t.Errorf("%d mails went out", len(got))
	}
}

func TestAnOfferLeadsToItsPage(t *testing.T) {
	t.Parallel()
	s, server := shop.New(t, nil), startMail(t)
	slot := s.Slot(t, 1)
	first := s.Book(t, slot, 1)
	second := s.Join(t, slot, 1)
	s.Cancel(t, first)
	round(t, dispatcherOf(t, s.Store, server.transport(t)))
	offered := s.Entry(t, second)
	for _, mail := range server.all() {
		_, text := read(t, mail.raw)
		if link := "\nhttps://reserve.example" + views.Proven(views.OfferURL("shop", s.Store.OfferToken(offered)), s.Store.EntryProof(offered)) + "\n"; strings.Contains(text, link) {
			until := offered.ShownUntil.In(s.Tenant.Location()).Format("15:04（MST）")
			if !strings.Contains(text, until) || strings.Contains(text, offered.ExpiresAt.In(s.Tenant.Location()).Format("15:04（MST）")) {
				t.Errorf("the deadline is not the shown one, %s:\n%s", until, text)
			}
			return
		}
	}
	t.Error("no mail leads to the offer")
}

// A mail server that says nothing must not be felt by anybody who presses.
func TestASilentMailServerDoesNotSlowAPress(t *testing.T) {
	t.Parallel()
	s, server := shop.New(t, nil), startMail(t)
	bookAs(t, s, s.Slot(t, 1), "slow@example.com")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	way := server.transport(t)
	way.timeout = 10 * time.Second
	go func() { ended <- dispatcherOf(t, s.Store, way).Run(ctx) }()
	await(t, server.hanging, "the conversation that hangs")
	began := time.Now()
	slot := s.Slot(t, 1)
	s.Cancel(t, s.Book(t, slot, 1))
	s.Book(t, slot, 1)
	if took := time.Since(began); took > 8*time.Second { // before the conversation is given up, however busy the machine is
		t.Errorf("three presses took %v", took)
	}
	stop()
	if err := await(t, ended, "the dispatcher's end"); err != nil {
		t.Error(err)
	}
	for subject, m := range messages(t, s) {
		if m.State == store.MessageSending {
			t.Errorf("%s was left claimed", subject)
		}
	}
}

// counting is an outbox without a database, for what is about turns and time.
type counting struct {
	mu       sync.Mutex
	waiting  map[string]int // messages due per tenant
	claims   []string
	finished []store.MessageResult
	attempts int
	failures int // of finishing, before it works
	letter   func(store.Message) (store.Letter, error)
}

func (c *counting) TenantsToSend(context.Context) ([]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var tenants []string
	for tenant, n := range c.waiting {
		if n > 0 {
			tenants = append(tenants, tenant)
		}
	}
	slices.Sort(tenants)
	return tenants, nil
}

func (c *counting) ClaimMessages(_ context.Context, tenant string, limit int, lease time.Duration) ([]store.Message, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(limit, c.waiting[tenant])
	c.waiting[tenant] -= n
	c.claims = append(c.claims, fmt.Sprint(tenant, n))
	until := time.Now().Add(lease)
	var claimed []store.Message
	for i := range n {
		claimed = append(claimed, store.Message{
			ID: fmt.Sprint(tenant, c.waiting[tenant]+i), TenantID: tenant, Recipient: fmt.Sprint(i), Attempts: c.attempts, SendingUntil: &until,
			CreatedAt: until.Add(-lease), NextAttemptAt: until.Add(-lease),
		})
	}
	return claimed, nil
}

func (c *counting) Letter(_ context.Context, m store.Message) (store.Letter, error) {
	if c.letter != nil {
		return c.letter(m)
	}
	return store.Letter{Message: m}, nil
}

func (c *counting) FinishMessage(_ context.Context, _ store.Message, r store.MessageResult) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failures--; c.failures >= 0 {
		return false, errors.New("the database is away")
	}
	c.finished = append(c.finished, r)
	return true, nil
}

type way func(Mail) error

func (w way) Send(_ context.Context, m Mail) error { return w(m) }

func plain(l store.Letter) (Mail, bool) { return Mail{ID: l.Message.ID, Subject: "s", Text: "t"}, true }

func TestOneTenantsBacklogDoesNotStarveTheOthers(t *testing.T) {
	t.Parallel()
	c := &counting{waiting: map[string]int{"a": 100, "b": 1, "c": 30}}
	d := &Dispatcher{Store: c, Write: plain, Transport: way(func(Mail) error { return nil }), Log: quietLog()}
	round(t, d)
	if got := strings.Join(c.claims, " "); got != "a20 b1 c20" {
		t.Errorf("turns %s", got)
	}
	round(t, d)
	if got := strings.Join(c.claims[3:], " "); got != "a20 c10" {
		t.Errorf("turns %s", got)
	}
}

func TestAPanicInOneMessageEndsNothing(t *testing.T) {
	t.Parallel()
	c := &counting{waiting: map[string]int{"a": 5}}
	c.letter = func(m store.Message) (store.Letter, error) {
		if m.Recipient == "2" {
			panic("secret text of a person")
		}
		return store.Letter{Message: m}, nil
	}
	d := &Dispatcher{Store: c, Write: plain, Transport: way(func(Mail) error { return nil }), Log: quietLog()}
	round(t, d)
	states := map[store.MessageState]int{}
	for _, r := range c.finished {
		states[r.State]++
		if strings.Contains(r.Error, "secret") {
			t.Errorf("the error tells %q", r.Error)
		}
	}
	if states[store.MessageSent] != 4 || states[store.MessagePending] != 1 {
		t.Errorf("ended as %v", states)
	}
}

func TestAfterTheLastAttemptAMessageFails(t *testing.T) {
	t.Parallel()
	for attempts, want := range map[int]store.MessageState{1: store.MessagePending, maxAttempts - 1: store.MessagePending, maxAttempts: store.MessageFailed} {
		c := &counting{waiting: map[string]int{"a": 1}, attempts: attempts}
		d := &Dispatcher{Store: c, Write: plain, Transport: way(func(Mail) error { return &Refusal{Reason: "451"} }), Log: quietLog()}
		round(t, d)
		if got := c.finished[0].State; got != want {
			t.Errorf("after attempt %d it is %s", attempts, got)
		}
	}
}

func TestPausesGrowAndStayBounded(t *testing.T) {
	t.Parallel()
	for range 200 {
		for n, about := range map[int]time.Duration{0: 15 * time.Second, 1: 15 * time.Second, 2: 30 * time.Second, 5: 4 * time.Minute, 9: time.Hour, 1000: time.Hour} {
			if got := again(n); got < about*3/4 || got > about*5/4 {
				t.Fatalf("attempt %d: %v", n, got)
			}
		}
		for n, about := range map[int]time.Duration{1: 2 * time.Second, 3: 8 * time.Second, 6: time.Minute, 1000: time.Minute} {
			if got := rest(n); got < about*3/4 || got > about {
				t.Fatalf("outage %d: %v", n, got)
			}
		}
	}
}

// While the way is blocked one message is tried now and then; once it is free
// again everything goes.
func TestAnOutageIsWaitedOutWithSingleTries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &counting{waiting: map[string]int{"a": 500}}
		repaired := time.Now().Add(10 * time.Minute)
		tries := 0
		var mu sync.Mutex
		d := &Dispatcher{Store: c, Write: plain, Log: quietLog(), Transport: way(func(Mail) error {
			mu.Lock()
			defer mu.Unlock()
			tries++
			if time.Now().Before(repaired) {
				return errors.New("connection refused")
			}
			return nil
		})}
		ctx, cancel := context.WithTimeout(t.Context(), 12*time.Minute)
		defer cancel()
		if err := d.Run(ctx); err != nil {
			t.Error(err)
		}
		for i, claim := range c.claims[1:] {
			if i < 10 && claim != "a1" {
				t.Errorf("claim %d took %s", i+1, claim)
			}
		}
		if len(c.claims) > 60 || c.waiting["a"] != 0 {
			t.Errorf("%d claims, %d left", len(c.claims), c.waiting["a"])
		}
	})
}

func TestAStoreThatFailsIsAskedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		ctx, cancel := context.WithTimeout(t.Context(), 7*time.Second)
		defer cancel()
		d := &Dispatcher{Store: failing{&asked}, Log: quietLog()}
		if err := d.Run(ctx); err != nil || asked != 4 {
			t.Errorf("asked %d times, %v", asked, err)
		}
	})
}

type failing struct{ asked *int }

func (f failing) TenantsToSend(context.Context) ([]string, error) {
	*f.asked++
	return nil, errors.New("the database is away")
}

func (failing) ClaimMessages(context.Context, string, int, time.Duration) ([]store.Message, error) {
	return nil, nil
}

func (failing) Letter(context.Context, store.Message) (store.Letter, error) {
	return store.Letter{}, nil
}

func (failing) FinishMessage(context.Context, store.Message, store.MessageResult) (bool, error) {
	return false, nil
}

// A database that is away for a moment must not cause a second mail.
func TestThatAMessageWasSentIsWrittenDownInTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &counting{waiting: map[string]int{"a": 1}, failures: 8}
		d := &Dispatcher{Store: c, Write: plain, Transport: way(func(Mail) error { return nil }), Log: quietLog()}
		round(t, d)
		if len(c.finished) != 1 || c.finished[0].State != store.MessageSent {
			t.Errorf("ended as %v", c.finished)
		}
	})
}
