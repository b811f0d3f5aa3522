package worker

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net"
	netmail "net/mail"
	"net/textproto"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

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
	arrived chan struct{} // told of each message

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
	return startMailWith(t, l, func(*smtp.Server) {})
}

func startMailWith(t *testing.T, l net.Listener, edit func(*smtp.Server)) *mailServer {
	t.Helper()
	m := &mailServer{addr: l.Addr().String(), release: make(chan struct{}), hanging: make(chan struct{}, 100), arrived: make(chan struct{}, 1000)}
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &mailSession{m: m}, nil }))
	server.Domain, server.AllowInsecureAuth, server.ErrorLog = "mail.example", true, silent{}
	edit(server)
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
		s.m.arrived <- struct{}{}
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

// part is a leaf of a mail.
type part struct {
	kind   string // media type
	params map[string]string
	file   string // of an attachment
	body   string
}

// take reads a raw mail by the letter of the standards, and gives its leaves in order.
func take(t *testing.T, raw []byte) (netmail.Header, []part) {
	t.Helper()
	if !bytes.HasSuffix(raw, []byte("\r\n")) {
		t.Error("the last line has no end")
	}
	for i, line := range bytes.Split(raw, []byte("\r\n")) {
		if len(line) > 998 {
			t.Errorf("line %d has %d bytes", i+1, len(line))
		}
		for _, c := range line {
			if c < ' ' && c != '\t' || c > 126 {
				t.Fatalf("line %d holds the byte %d: %q", i+1, c, line)
			}
		}
	}
	msg, err := netmail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range msg.Header {
		if len(values) != 1 {
			t.Errorf("%s stands %d times", name, len(values))
		}
	}
	for _, name := range []string{"From", "To", "Subject", "Date", "Message-Id", "Mime-Version", "Content-Type", "Auto-Submitted"} {
		if msg.Header.Get(name) == "" {
			t.Errorf("there is no %s", name)
		}
	}
	leaves := takePart(t, textproto.MIMEHeader(msg.Header), msg.Body)
	return msg.Header, leaves
}

func takePart(t *testing.T, header textproto.MIMEHeader, body io.Reader) []part {
	t.Helper()
	kind, params, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(kind, "multipart/") {
		var leaves []part
		parts := multipart.NewReader(body, params["boundary"])
		for {
			p, err := parts.NextRawPart()
			if errors.Is(err, io.EOF) {
				return leaves
			}
			if err != nil {
				t.Fatal(err)
			}
			leaves = append(leaves, takePart(t, p.Header, p)...)
		}
	}
	if got := header.Get("Content-Transfer-Encoding"); got != "base64" {
		t.Errorf("%s is sent as %q", kind, got)
	}
	text, err := io.ReadAll(base64.NewDecoder(base64.StdEncoding, body))
	if err != nil {
		t.Fatal(err)
	}
	leaf := part{kind: kind, params: params, body: string(text)}
	if shown := header.Get("Content-Disposition"); shown != "" {
		how, params, err := mime.ParseMediaType(shown)
		if err != nil || how != "attachment" {
			t.Errorf("%s %v", shown, err)
		}
		leaf.file = params["filename"]
	} else if !strings.EqualFold(params["charset"], "utf-8") {
		t.Errorf("%s in %q", kind, params["charset"])
	}
	if !utf8.ValidString(leaf.body) || strings.Contains(strings.ReplaceAll(leaf.body, "\r\n", ""), "\n") || strings.Contains(strings.ReplaceAll(leaf.body, "\r\n", ""), "\r") {
		t.Errorf("%s is not text with whole lines", kind)
	}
	return []part{leaf}
}

// read gives the headers and the plain text of a raw mail.
func read(t *testing.T, raw []byte) (netmail.Header, string) {
	t.Helper()
	header, parts := take(t, raw)
	if parts[0].kind != "text/plain" {
		t.Errorf("the first part is %s", parts[0].kind)
	}
	return header, strings.ReplaceAll(parts[0].body, "\r\n", "\n")
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
