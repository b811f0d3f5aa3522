package worker

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

// What a dispatcher in a process of its own is told.
const (
	processDSN  = "WORKER_TEST_DSN"
	processMail = "WORKER_TEST_MAIL"
)

// dispatcherProcess is a whole program that only dispatches, until it is asked to stop.
func dispatcherProcess() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	err := func() error {
		pool, err := pgxpool.New(ctx, os.Getenv(processDSN))
		if err != nil {
			return err
		}
		defer pool.Close()
		s, err := store.New(pool, shop.Secret, store.Watch{})
		if err != nil {
			return err
		}
		way, err := ParseSMTP("smtp://"+os.Getenv(processMail)+"?starttls=never", "reserve.example")
		if err != nil {
			return err
		}
		public, err := url.Parse("https://reserve.example")
		if err != nil {
			return err
		}
		w := &Writer{Tokens: s, PublicURL: public, From: "mail@reserve.example"}
		d := &Dispatcher{Store: s, Write: w.Write, Transport: way, Log: quietLog(), Poll: 50 * time.Millisecond}
		return d.Run(ctx)
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// saidBuffer keeps what a process says while others read it.
type saidBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *saidBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *saidBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

type process struct {
	cmd   *exec.Cmd
	ended chan error
	said  *saidBuffer
}

func startDispatcher(t *testing.T, s *shop.Shop, server *mailServer) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.CommandContext(context.WithoutCancel(t.Context()), self), ended: make(chan error, 1), said: &saidBuffer{}}
	p.cmd.Env = append(os.Environ(), processDSN+"="+s.Pool.Config().ConnString(), processMail+"="+server.addr)
	p.cmd.Stdout, p.cmd.Stderr = p.said, p.said
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.ended <- p.cmd.Wait() }()
	t.Cleanup(func() { _ = p.cmd.Process.Kill() }) // most often gone already
	return p
}

// Several programs send; one is killed in the middle. Nothing is sent twice, nothing
// is lost, and each reader gets what is theirs in the order in which it happened.
func TestAProcessThatIsKilledLosesNothingAndDoublesNothing(t *testing.T) {
	t.Parallel()
	s, server := shop.New(t, nil), startMail(t)
	want := map[string][]string{}
	book := func(to string) {
		t.Helper()
		r := bookAs(t, s, s.Slot(t, 1), to)
		to = strings.ReplaceAll(to, "slow", "guest-s")
		want[to] = append(want[to], s.Store.ReservationToken(r))
	}
	for i := range 8 {
		book(fmt.Sprintf("guest%d@example.com", i%4))
	}
	for i := range concurrent {
		book(fmt.Sprintf("slow%d@example.com", i)) // in these all its hands are kept
	}
	for i := range 16 {
		book(fmt.Sprintf("guest%d@example.com", i%4))
	}
	killed := startDispatcher(t, s, server)
	for range concurrent {
		await(t, server.hanging, "the conversations that hang: "+killed.said.String())
	}
	// What it sent it has settled by now; the rest it has claimed, or is about to.
	if err := killed.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-killed.ended
	before := len(server.all())
	if before == 0 || before >= 24 {
		t.Fatalf("%d messages were sent before the end", before)
	}
	s.Exec(t, "UPDATE outbox SET recipient = replace(recipient, 'slow', 'guest-s'), sending_until = CASE WHEN state = 'sending' THEN now() - interval '1 second' END WHERE tenant_id = $1", s.Tenant.ID)
	others := []*process{startDispatcher(t, s, server), startDispatcher(t, s, server)}
	for range 24 + concurrent {
		await(t, server.arrived, "the messages: "+others[0].said.String()+others[1].said.String())
	}
	for _, p := range others {
		if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := await(t, p.ended, "the end of a dispatcher"); err != nil {
			t.Errorf("%v: %s", err, p.said)
		}
	}
	got := map[string][]string{}
	for _, mail := range server.all() {
		_, text := read(t, mail.raw)
		_, rest, _ := strings.Cut(text, "/shop/reservations/")
		token, _, _ := strings.Cut(strings.ReplaceAll(rest, "\n", "?"), "?")
		got[mail.to] = append(got[mail.to], token)
	}
	for to, tokens := range want {
		if !slices.Equal(got[to], tokens) {
			t.Errorf("%s got %v, and should have got %v", to, got[to], tokens)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d readers of %d", len(got), len(want))
	}
	for subject, m := range messages(t, s) {
		if m.State != store.MessageSent {
			t.Errorf("%s is %s", subject, m.State)
		}
	}
}
