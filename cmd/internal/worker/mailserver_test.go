package worker

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"net"
	netmail "net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// mailServer is a real SMTP server that answers by the first word of the
// recipient: bounce… is unknown, later… is to be tried again, slow… gets no
// answer until the test ends, anybody else is served.
type mailServer struct {
	addr    string
	release chan struct{} // closed when the test ends
	hanging chan struct{} // told of each conversation that hangs

	mu       sync.Mutex
	received []received
	user     string
	password string
}

type received struct {
	to  string
	raw []byte
}

func listenTCP(t *testing.T, addr string) net.Listener {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func startMail(t *testing.T) *mailServer {
	t.Helper()
	return startMailOn(t, listenTCP(t, "127.0.0.1:0"))
}

func startMailOn(t *testing.T, l net.Listener) *mailServer {
	t.Helper()
	m := &mailServer{addr: l.Addr().String(), release: make(chan struct{}), hanging: make(chan struct{}, 100)}
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &mailSession{m: m}, nil }))
	server.Domain, server.AllowInsecureAuth, server.ErrorLog = "mail.example", true, silent{}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	t.Cleanup(func() {
		close(m.release)
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != nil && !errors.Is(err, smtp.ErrServerClosed) {
			t.Error(err)
		}
	})
	return m
}

type silent struct{}

func (silent) Printf(string, ...any) {}
func (silent) Println(...any)        {}

type mailSession struct {
	m  *mailServer
	to []string
}

func (s *mailSession) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *mailSession) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		s.m.mu.Lock()
		defer s.m.mu.Unlock()
		s.m.user, s.m.password = user, password
		if password == "wrong" {
			return &smtp.SMTPError{Code: 535, EnhancedCode: smtp.EnhancedCode{5, 7, 8}, Message: "no"}
		}
		return nil
	}), nil
}

func (s *mailSession) Mail(string, *smtp.MailOptions) error { return nil }

func (s *mailSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	switch {
	case strings.HasPrefix(to, "bounce"):
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "<" + to + ">: user unknown"}
	case strings.HasPrefix(to, "later"):
		return &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 7, 1}, Message: to + " is greylisted"}
	case strings.HasPrefix(to, "slow"):
		s.m.hanging <- struct{}{}
		<-s.m.release
	}
	s.to = append(s.to, to)
	return nil
}

func (s *mailSession) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	for _, to := range s.to {
		s.m.received = append(s.m.received, received{to, raw})
	}
	return nil
}

func (s *mailSession) Reset()        { s.to = nil }
func (s *mailSession) Logout() error { return nil }

func (m *mailServer) all() []received {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]received(nil), m.received...)
}

func (m *mailServer) transport(t *testing.T) *SMTP {
	t.Helper()
	s, err := ParseSMTP("smtp://"+m.addr+"?starttls=never", "reserve.example")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// read takes a raw mail apart.
func read(t *testing.T, raw []byte) (netmail.Header, string) {
	t.Helper()
	msg, err := netmail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if got := msg.Header.Get("Content-Transfer-Encoding"); got != "base64" {
		t.Errorf("the text is sent as %q", got)
	}
	kind, params, err := mime.ParseMediaType(msg.Header.Get("Content-Type"))
	if err != nil || kind != "text/plain" || !strings.EqualFold(params["charset"], "utf-8") {
		t.Errorf("the text is %s %v %v", kind, params, err)
	}
	text, err := io.ReadAll(base64.NewDecoder(base64.StdEncoding, msg.Body))
	if err != nil {
		t.Fatal(err)
	}
	return msg.Header, strings.ReplaceAll(string(text), "\r\n", "\n")
}

func decoded(t *testing.T, header string) string {
	t.Helper()
	text, err := new(mime.WordDecoder).DecodeHeader(header)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

const patience = 20 * time.Second

// await fails the test when nothing comes.
func await[T any](t *testing.T, c <-chan T, what string) T {
	t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case v := <-c:
		return v
	case <-timer.C:
		t.Fatalf("waited in vain for %s", what)
	}
	panic("unreachable")
}
