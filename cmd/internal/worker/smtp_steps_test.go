package worker

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

// wireServer is a mail server that follows a plan to the letter, on the wire: at a step
// it answers with a line, says nothing (silence), or hangs up (hangup). Whatever is
// not in its plan goes well.
type wireServer struct {
	addr string
	plan map[string]string // step to answer

	mu    sync.Mutex
	conns int
	steps []string // in the order in which they came
	whole int      // messages that were handed over to the last byte
	ends  chan struct{}
}

const (
	silence = "silence"
	hangup  = "hangup"
	trickle = "trickle" // one byte of an answer now and then, and never its end
)

func startWire(t *testing.T, plan map[string]string) *wireServer {
	t.Helper()
	l := listenTCP(t, "127.0.0.1:0")
	s := &wireServer{addr: l.Addr().String(), plan: plan, ends: make(chan struct{})}
	var group sync.WaitGroup
	group.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // the test is over
			}
			s.mu.Lock()
			s.conns++
			s.mu.Unlock()
			group.Go(func() { s.talk(conn) })
		}
	})
	t.Cleanup(func() {
		close(s.ends)
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		group.Wait()
	})
	return s
}

// talk ends where the client hangs up, or the test does; both are fine.
func (s *wireServer) talk(conn net.Conn) {
	closed := make(chan struct{})
	defer close(closed)
	go func() {
		select {
		case <-s.ends:
		case <-closed:
		}
		_ = conn.Close()
	}()
	in := bufio.NewReader(conn)
	answer := func(step, well string) bool {
		s.mu.Lock()
		s.steps = append(s.steps, step)
		said, planned := s.plan[step]
		s.mu.Unlock()
		if !planned {
			said = well
		}
		switch said {
		case silence:
			<-s.ends
			return false
		case hangup:
			return false
		case trickle:
			for tick := time.NewTicker(20 * time.Millisecond); ; {
				select {
				case <-s.ends:
					return false
				case <-tick.C:
					if _, err := conn.Write([]byte("2")); err != nil {
						return false
					}
				}
			}
		}
		_, err := conn.Write([]byte(said + "\r\n"))
		return err == nil
	}
	if !answer("GREETING", "220 mail.example ready") {
		return
	}
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		command := strings.ToUpper(strings.Fields(line + " .")[0])
		well := "250 fine"
		switch command {
		case "EHLO":
			well = "250-mail.example\r\n250 AUTH PLAIN"
		case "AUTH":
			well = "235 welcome"
		case "DATA":
			well = "354 go on"
		case "QUIT":
			well = "221 bye"
		}
		if !answer(command, well) {
			return
		}
		s.mu.Lock()
		said := s.plan[command]
		s.mu.Unlock()
		if command != "DATA" || said != "" {
			if command == "QUIT" {
				return
			}
			continue
		}
		for {
			text, err := in.ReadString('\n')
			if err != nil {
				return
			}
			s.mu.Lock()
			middle := s.plan["MIDDLE"]
			s.mu.Unlock()
			if middle == hangup {
				return
			}
			if text == ".\r\n" {
				break
			}
		}
		s.mu.Lock()
		s.whole++
		s.mu.Unlock()
		if !answer("END", "250 taken") {
			return
		}
	}
}

func (s *wireServer) set(step, answer string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if answer == "" {
		delete(s.plan, step)
		return
	}
	s.plan[step] = answer
}

func (s *wireServer) seen() (steps []string, conns, whole int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.steps), s.conns, s.whole
}

func (s *wireServer) transport(t *testing.T) *SMTP {
	t.Helper()
	way, err := ParseSMTP("smtp://u:p@"+s.addr+"?starttls=never", "reserve.example")
	if err != nil {
		t.Fatal(err)
	}
	way.timeout, way.settle = 300*time.Millisecond, 300*time.Millisecond
	t.Cleanup(func() {
		if err := way.Close(); err != nil {
			t.Error(err)
		}
	})
	return way
}

// At each step, each way of going wrong: how it ends, and whose trouble it is.
func TestEveryStepOfAConversationCanGoWrong(t *testing.T) {
	t.Parallel()
	const (
		blocked = "blocked" // for all: the message keeps its place
		later   = "later"   // this message is tried again
		never   = "never"   // this message is parked
		sent    = "sent"
	)
	cases := []struct{ step, answer, want string }{
		{"GREETING", "554 go away", blocked},
		{"GREETING", "421 too busy", blocked},
		{"EHLO", "421 closing", blocked},
		{"AUTH", "535 wrong password", blocked},
		{"AUTH", "454 later", blocked},
		{"MAIL", "451 later", blocked},
		{"MAIL", "550 not you", blocked},
		{"MAIL", "421 closing", blocked},
		{"RCPT", "450 mailbox busy", later},
		{"RCPT", "451 greylisted", later},
		{"RCPT", "452 full", later},
		{"RCPT", "550 5.1.1 unknown", never},
		{"RCPT", "553 not allowed", never},
		{"RCPT", "421 closing", blocked},
		{"RCPT", "530 5.7.0 sign in first", blocked},
		{"RCPT", "554 5.7.1 Relay access denied", later},
		{"RCPT", "550-two\r\n550 lines", never},
		{"DATA", "451 later", later},
		{"DATA", "554 no valid recipients", never},
		{"DATA", "421 closing", blocked},
		{"END", "452 disk full", later},
		{"END", "554 looks like spam", never},
		{"END", "421 closing", blocked},
		{"MIDDLE", hangup, later},
		{"QUIT", "500 no", sent},
		{"RSET", "500 no", sent},
		{"RCPT", "nonsense", later},
		{"RCPT", "999 what", later},
	}
	for _, step := range []string{"GREETING", "EHLO", "AUTH", "MAIL"} {
		for _, how := range []string{silence, hangup, trickle} {
			cases = append(cases, struct{ step, answer, want string }{step, how, blocked})
		}
	}
	for _, step := range []string{"RCPT", "DATA", "END"} {
		for _, how := range []string{silence, hangup, trickle} {
			cases = append(cases, struct{ step, answer, want string }{step, how, later})
		}
	}
	for _, c := range cases {
		t.Run(c.step+" "+c.answer, func(t *testing.T) {
			t.Parallel()
			server := startWire(t, map[string]string{c.step: c.answer})
			err := server.transport(t).Send(t.Context(), sample("guest@example.com"))
			var refused *Refusal
			got := blocked
			switch {
			case err == nil:
				got = sent
			case errors.As(err, &refused) && refused.Permanent:
				got = never
			case errors.As(err, &refused):
				got = later
			}
			if got != c.want {
				t.Errorf("%s: %v", got, err)
			}
			if err != nil && strings.Contains(err.Error(), "@") {
				t.Errorf("an address stands in the error: %v", err)
			}
			if _, conns, whole := server.seen(); conns != 1 || c.step != "END" && c.want != sent && whole != 0 {
				t.Errorf("%d connections, %d whole messages", conns, whole)
			}
		})
	}
}

func TestOneConnectionServesSeveralMessages(t *testing.T) {
	t.Parallel()
	server := startWire(t, map[string]string{})
	way := server.transport(t)
	for i := range 3 {
		if err := way.Send(t.Context(), sample(fmt.Sprintf("guest%d@example.com", i))); err != nil {
			t.Fatal(err)
		}
	}
	if _, conns, whole := server.seen(); conns != 1 || whole != 3 {
		t.Errorf("%d connections for %d messages", conns, whole)
	}
	// Somebody whose address is refused does not end it for the next.
	server.set("RCPT", "550 unknown")
	var refused *Refusal
	if err := way.Send(t.Context(), sample("bounce@example.com")); !errors.As(err, &refused) || !refused.Permanent {
		t.Errorf("refused: %v", err)
	}
	server.set("RCPT", "")
	if err := way.Send(t.Context(), sample("next@example.com")); err != nil {
		t.Fatal(err)
	}
	if steps, conns, whole := server.seen(); conns != 1 || whole != 4 || !slices.Contains(steps, "RSET") {
		t.Errorf("%d connections for %d messages: %v", conns, whole, steps)
	}
	if err := way.Close(); err != nil {
		t.Fatal(err)
	}
	if steps, _, _ := server.seen(); steps[len(steps)-1] != "QUIT" {
		t.Errorf("left without a goodbye: %v", steps)
	}
	// After many messages a new one is made.
	for range mostPerConn + 1 {
		if err := way.Send(t.Context(), sample("guest@example.com")); err != nil {
			t.Fatal(err)
		}
	}
	if _, conns, _ := server.seen(); conns != 3 {
		t.Errorf("%d connections", conns)
	}
}

// A server that hangs up on a connection that waits costs no message anything.
func TestAConnectionThatEndedWhileItWaitedIsMadeAnew(t *testing.T) {
	t.Parallel()
	for _, how := range []string{hangup, "421 idle for too long"} {
		server := startWire(t, map[string]string{})
		way := server.transport(t)
		if err := way.Send(t.Context(), sample("first@example.com")); err != nil {
			t.Fatal(err)
		}
		server.set("MAIL", how)
		// The fresh connection meets the same plan: it is the server's trouble then.
		if err := way.Send(t.Context(), sample("second@example.com")); err == nil {
			t.Fatal("sent by a server that hangs up")
		}
		if _, conns, whole := server.seen(); conns != 2 || whole != 1 {
			t.Errorf("%s: %d connections, %d messages", how, conns, whole)
		}
		server.set("MAIL", "")
		if err := way.Send(t.Context(), sample("third@example.com")); err != nil {
			t.Error(err)
		}
		if _, _, whole := server.seen(); whole != 2 {
			t.Errorf("%s: %d messages", how, whole)
		}
	}
}

// A recipient who was named on a connection is never named again on another by the
// same call: what became of the first is not known.
func TestAMessageIsNotBegunAgainByItself(t *testing.T) {
	t.Parallel()
	server := startWire(t, map[string]string{})
	way := server.transport(t)
	if err := way.Send(t.Context(), sample("first@example.com")); err != nil {
		t.Fatal(err)
	}
	server.set("END", hangup)
	var refused *Refusal
	if err := way.Send(t.Context(), sample("second@example.com")); !errors.As(err, &refused) || refused.Permanent {
		t.Errorf("%v", err)
	}
	if _, conns, whole := server.seen(); conns != 1 || whole != 2 {
		t.Errorf("%d connections, %d handed over", conns, whole)
	}
}

func TestTheWholeSendingIsBounded(t *testing.T) {
	t.Parallel()
	server := startWire(t, map[string]string{"END": silence})
	way := server.transport(t)
	way.timeout, way.settle = time.Minute, time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	if err := way.Send(ctx, sample("guest@example.com")); err == nil || time.Since(began) > 20*time.Second {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
}

// certificate is one that only its own pool trusts.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	from := time.Now().Add(-time.Hour)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "mail.example"}, NotBefore: from, NotAfter: from.Add(48 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// startTLSMail is the server of the other tests behind TLS: from the first byte, or by STARTTLS.
func startTLSMail(t *testing.T, implicit bool) (*mailServer, *x509.CertPool) {
	t.Helper()
	cert, pool := certificate(t)
	config := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	l := listenTCP(t, "127.0.0.1:0")
	addr := l.Addr().String()
	if implicit {
		l = tls.NewListener(l, config)
	}
	m := startMailWith(t, l, func(s *smtp.Server) {
		s.AllowInsecureAuth = false
		if !implicit {
			s.TLSConfig = config
		}
	})
	m.addr = addr
	return m, pool
}

func TestTLSAndSigningInOverIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		url      string
		implicit bool
	}{
		"TLS": {"smtps://me:p%40ss@%s", true}, "STARTTLS": {"smtp://me:p%40ss@%s?starttls=always", false}, "STARTTLS where it is offered": {"smtp://me:p%40ss@%s", false},
	} {
		server, pool := startTLSMail(t, c.implicit)
		way, err := ParseSMTP(strings.Replace(c.url, "%s", server.addr, 1), "reserve.example")
		if err != nil {
			t.Fatal(err)
		}
		// A certificate that nobody vouches for is refused before the password is told.
		var refused *Refusal
		if err := way.Send(t.Context(), sample("guest@example.com")); err == nil || errors.As(err, &refused) || server.user != "" {
			t.Errorf("%s: an unknown certificate: %v", name, err)
		}
		way.tls.RootCAs = pool
		for range 2 {
			if err := way.Send(t.Context(), sample("guest@example.com")); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := way.Close(); err != nil {
			t.Error(err)
		}
		if server.user != "me" || server.password != "p@ss" || len(server.all()) != 2 {
			t.Errorf("%s: %d mails as %s", name, len(server.all()), server.user)
		}
	}
}

// What one reader is told keeps its order also when the first is refused for now.
func TestLaterMessagesToAReaderWaitForTheFirst(t *testing.T) {
	t.Parallel()
	s, server := shop.New(t, nil), startMail(t)
	first := bookAs(t, s, s.Slot(t, 1), "later@example.com")
	second := bookAs(t, s, s.Slot(t, 1), "Later@example.com")
	other := bookAs(t, s, s.Slot(t, 1), "guest@example.com")
	d := dispatcherOf(t, s.Store, server.transport(t))
	for range 3 {
		round(t, d)
	}
	all := messages(t, s)
	if a, b := all["confirmed "+first.ID], all["confirmed "+second.ID]; a.Attempts != 1 || b.State != store.MessagePending || b.LastError != "" {
		t.Errorf("the first %+v, the second %+v", a, b)
	}
	if all["confirmed "+other.ID].State != store.MessageSent {
		t.Error("somebody else waited too")
	}
	// It is put right, and both arrive as they were written.
	s.Exec(t, "UPDATE outbox SET recipient = 'right@example.com', next_attempt_at = CASE WHEN attempts = 1 AND last_error <> '' THEN now() ELSE next_attempt_at END WHERE tenant_id = $1 AND lower(recipient) = 'later@example.com'", s.Tenant.ID)
	round(t, d)
	got := server.all()
	if len(got) != 3 {
		t.Fatalf("%d mails", len(got))
	}
	for i, r := range []store.Reservation{first, second} {
		if _, text := read(t, got[1+i].raw); !strings.Contains(text, s.Store.ReservationToken(r)) {
			t.Errorf("mail %d is not the one of booking %d", 1+i, i)
		}
	}
}

// One that is refused again and again does not keep the others from a reader for ever.
func TestAMessageThatIsRefusedAgainAndAgainHoldsNobody(t *testing.T) {
	t.Parallel()
	s, server := shop.New(t, nil), startMail(t)
	first := bookAs(t, s, s.Slot(t, 1), "guest@example.com")
	second := bookAs(t, s, s.Slot(t, 1), "guest@example.com")
	s.Exec(t, "UPDATE outbox SET attempts = $3, next_attempt_at = now() + interval '1 hour' WHERE tenant_id = $1 AND subject_id = $2", s.Tenant.ID, first.ID, store.HoldsOrder+1)
	round(t, dispatcherOf(t, s.Store, server.transport(t)))
	if all := messages(t, s); all["confirmed "+second.ID].State != store.MessageSent || all["confirmed "+first.ID].State != store.MessagePending {
		t.Errorf("%v", all)
	}
}

// While one dispatcher has a message to a reader, another gets none to the same.
func TestTwoDispatchersKeepTheOrderOfAReader(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	for range 3 {
		bookAs(t, s, s.Slot(t, 1), "guest@example.com")
	}
	claim := func(limit int) []store.Message {
		got, err := s.Store.ClaimMessages(t.Context(), s.Tenant.ID, limit, lease)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if first := claim(1); len(first) != 1 {
		t.Fatalf("claimed %d", len(first))
	}
	if second := claim(10); len(second) != 0 {
		t.Errorf("another has %d to the same reader", len(second))
	}
	// Somebody is claiming the oldest at this moment: it can't be seen, and still holds the others.
	s.Exec(t, "UPDATE outbox SET state = 'pending', sending_until = NULL WHERE tenant_id = $1", s.Tenant.ID)
	tx, err := s.Conn(t).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT 1 FROM outbox WHERE tenant_id = $1 ORDER BY created_at, id LIMIT 1 FOR UPDATE", s.Tenant.ID); err != nil {
		t.Fatal(err)
	}
	if got := claim(10); len(got) != 0 {
		t.Errorf("%d passed the one that is being claimed", len(got))
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := claim(10); len(got) != 3 {
		t.Errorf("claimed %d of 3", len(got))
	}
}
