package worker

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/textproto"
	"net/url"
	"regexp"
	"strconv"
	"sync"
	"time"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"
)

// Transport takes mails to their readers. Its errors are a *Refusal where the
// message itself was refused, and anything else where the way is blocked for all.
type Transport interface {
	Send(ctx context.Context, m Mail) error
}

// Refusal says that the message, and not the way, is the trouble. It holds no
// personal data.
type Refusal struct {
	Permanent bool
	Reason    string
}

func (r *Refusal) Error() string { return r.Reason }

// SMTP sends mails through a server. A connection that worked serves several
// mails, one after the other; Close ends those that wait for more.
type SMTP struct {
	host     string
	port     int
	implicit bool // TLS from the first byte
	policy   gomail.TLSPolicy
	user     string
	password string
	helo     string
	timeout  time.Duration // of each step
	settle   time.Duration // of the answer to a whole message
	tls      *tls.Config

	mu   sync.Mutex
	idle []*session
}

const (
	// smtpTimeout bounds connecting with the greeting and the sign-in, and each
	// command after it.
	smtpTimeout = 10 * time.Second
	// smtpSettle bounds the answer to a message that was handed over as a whole.
	// Servers look for spam before they answer: who hangs up too early sends twice.
	smtpSettle = time.Minute
	// A connection is used again while it is younger than most servers' patience,
	// and not for ever, so that a change behind a name is noticed.
	idleLimit   = 10 * time.Second
	mostPerConn = 50
	mostIdle    = concurrent
)

// ParseSMTP reads smtp[s]://user:pass@host:port?starttls=auto|always|never.
// Without a port it is 587, for smtps 465. Helo is how we present ourselves.
// Errors hold no secret.
func ParseSMTP(text, helo string) (*SMTP, error) {
	u, err := url.Parse(text)
	if err != nil {
		// The error of url.Parse would repeat the password.
		return nil, errors.New("not a URL; it looks like smtp://user:password@host:587?starttls=always")
	}
	s := &SMTP{host: u.Hostname(), helo: helo, timeout: smtpTimeout, settle: smtpSettle, user: u.User.Username()}
	s.password, _ = u.User.Password()
	switch u.Scheme {
	case "smtp":
		s.port = 587
	case "smtps":
		s.port, s.implicit = 465, true
	default:
		return nil, fmt.Errorf("scheme %q is neither smtp nor smtps", u.Scheme)
	}
	if s.host == "" {
		return nil, errors.New("it names no host")
	}
	if port := u.Port(); port != "" {
		if s.port, err = strconv.Atoi(port); err != nil || s.port < 1 || s.port > 65535 {
			return nil, errors.New("its port is not one")
		}
	}
	if u.Path != "" && u.Path != "/" {
		return nil, errors.New("it has a path")
	}
	for name := range u.Query() {
		if name != "starttls" {
			return nil, fmt.Errorf("unknown option %q", name)
		}
	}
	switch u.Query().Get("starttls") {
	case "", "auto":
		s.policy = gomail.TLSOpportunistic
	case "always":
		s.policy = gomail.TLSMandatory
	case "never":
		s.policy = gomail.NoTLS
	default:
		return nil, errors.New("starttls is auto, always or never")
	}
	if s.helo == "" {
		s.helo = "localhost"
	}
	s.tls = &tls.Config{ServerName: s.host, MinVersion: tls.VersionTLS12}
	return s, nil
}

// session is a conversation that is past its greeting.
type session struct {
	client *smtp.Client
	conn   net.Conn
	sent   int
	since  time.Time // when it was put aside
}

// errStale says that a connection had ended while it waited: nothing was begun on it.
var errStale = errors.New("the connection had ended")

// Send hands one message over. Where the server had closed a connection that waited
// for more, a new one is made; once a recipient was named, nothing is begun again here.
func (s *SMTP) Send(ctx context.Context, m Mail) error {
	raw, err := m.raw()
	if err != nil {
		return err
	}
	from, to, err := m.envelope()
	if err != nil {
		return err
	}
	for c := s.take(); c != nil; c = s.take() {
		if err := s.deliver(ctx, c, from, to, raw); !errors.Is(err, errStale) {
			return err
		}
	}
	c, err := s.connect(ctx)
	if err != nil {
		return errors.New("the mail server can't be used: " + withoutPersons(err.Error()))
	}
	err = s.deliver(ctx, c, from, to, raw)
	if errors.Is(err, errStale) {
		return errors.New(gomail.ErrSMTPMailFrom.String() + ": the conversation broke off")
	}
	return err
}

// take gives a connection that waits for more, or nil.
func (s *SMTP) take() *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.idle) > 0 {
		last := len(s.idle) - 1
		c := s.idle[last]
		s.idle = s.idle[:last]
		if time.Since(c.since) < idleLimit {
			return c
		}
		c.drop()
	}
	return nil
}

// put keeps a connection for the next message, for a while.
func (s *SMTP) put(c *session) {
	if c.sent++; c.sent >= mostPerConn {
		c.leave()
		return
	}
	c.since = time.Now()
	s.mu.Lock()
	full := len(s.idle) >= mostIdle
	if !full {
		s.idle = append(s.idle, c)
	}
	s.mu.Unlock()
	if full {
		c.leave()
		return
	}
	time.AfterFunc(idleLimit, func() {
		if s.forget(c) {
			c.leave()
		}
	})
}

// forget reports whether a connection was still waiting, since it was put aside last.
func (s *SMTP) forget(c *session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, waiting := range s.idle {
		if waiting == c && time.Since(c.since) >= idleLimit {
			s.idle = append(s.idle[:i], s.idle[i+1:]...)
			return true
		}
	}
	return false
}

// Close says goodbye on the connections that wait for more.
func (s *SMTP) Close() error {
	s.mu.Lock()
	idle := s.idle
	s.idle = nil
	s.mu.Unlock()
	for _, c := range idle {
		c.leave()
	}
	return nil
}

// leave says goodbye; how the server takes it changes nothing, for what was sent is settled.
func (c *session) leave() {
	if c.client.UpdateDeadline(time.Second) == nil {
		_ = c.client.Quit()
	}
	c.drop()
}

// drop hangs up.
func (c *session) drop() { _ = c.conn.Close() } // most often closed already

// connect goes as far as a server that is ready for a message.
func (s *SMTP) connect(ctx context.Context) (*session, error) {
	// The library leaves its connection open where signing in fails.
	var conn net.Conn
	ready := false
	defer func() {
		if conn != nil && !ready {
			_ = conn.Close()
		}
	}()
	options := []gomail.Option{
		gomail.WithPort(s.port), gomail.WithTimeout(within(ctx, s.timeout)), gomail.WithHELO(s.helo), gomail.WithTLSConfig(s.tls),
		gomail.WithDialContextFunc(func(ctx context.Context, network, addr string) (net.Conn, error) {
			var err error
			if s.implicit {
				conn, err = (&tls.Dialer{Config: s.tls}).DialContext(ctx, network, addr)
			} else {
				conn, err = (&net.Dialer{}).DialContext(ctx, network, addr)
			}
			return conn, err
		}),
	}
	if s.implicit {
		options = append(options, gomail.WithSSL())
	} else {
		options = append(options, gomail.WithTLSPolicy(s.policy))
	}
	if s.user != "" {
		options = append(options, gomail.WithUsername(s.user), gomail.WithPassword(s.password))
		if s.policy == gomail.NoTLS && !s.implicit {
			// The operator has said so: a relay on the same network.
			options = append(options, gomail.WithSMTPAuth(gomail.SMTPAuthPlainNoEnc))
		} else {
			options = append(options, gomail.WithOpportunisticSMTPAuth(gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthSCRAMSHA1, gomail.SMTPAuthPlain, gomail.SMTPAuthLogin))
		}
	}
	client, err := gomail.NewClient(s.host, options...)
	if err != nil {
		return nil, err
	}
	made, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return nil, err
	}
	// All that we send is ASCII: addresses are in their ASCII form, and words are encoded.
	made.SkipSMTPUTF8(true)
	ready = true
	return &session{client: made, conn: conn}, nil
}

// deliver sends a message on a connection, and then keeps or ends the connection.
func (s *SMTP) deliver(ctx context.Context, c *session, from, to string, raw []byte) error {
	used := c.sent > 0
	step, err := s.converse(ctx, c, from, to, raw)
	if err == nil {
		s.put(c)
		return nil
	}
	var said *textproto.Error
	if !errors.As(err, &said) || said.Code == 421 {
		c.drop()
		if used && step == gomail.ErrSMTPMailFrom {
			return errStale
		}
		return refusal(step, err)
	}
	// The message was refused, and the conversation goes on.
	if c.client.UpdateDeadline(within(ctx, s.timeout)) == nil && c.client.Reset() == nil {
		s.put(c)
	} else {
		c.drop()
	}
	return refusal(step, err)
}

// converse gives the step at which it failed.
func (s *SMTP) converse(ctx context.Context, c *session, from, to string, raw []byte) (gomail.SendErrReason, error) {
	bounded := func(limit time.Duration, step func() error) error {
		if err := c.client.UpdateDeadline(within(ctx, limit)); err != nil {
			return err
		}
		return step()
	}
	if err := bounded(s.timeout, func() error { return c.client.Mail("<" + from + ">") }); err != nil {
		return gomail.ErrSMTPMailFrom, err
	}
	if err := bounded(s.timeout, func() error { return c.client.Rcpt("<" + to + ">") }); err != nil {
		return gomail.ErrSMTPRcptTo, err
	}
	err := bounded(s.timeout, func() error {
		data, err := c.client.Data()
		if err != nil {
			return err
		}
		if err := c.client.UpdateDeadline(within(ctx, s.timeout)); err != nil {
			return err
		}
		if _, err := data.Write(raw); err != nil {
			return err
		}
		return bounded(s.settle, data.Close)
	})
	return gomail.ErrSMTPData, err
}

// within is a limit that does not outlast the context.
func within(ctx context.Context, limit time.Duration) time.Duration {
	if ends, bounded := ctx.Deadline(); bounded {
		return max(time.Millisecond, min(limit, time.Until(ends)))
	}
	return limit
}

var relaying = regexp.MustCompile(`(?i)\brelay`)

// refusal tells whose trouble an error of the conversation is.
func refusal(step gomail.SendErrReason, err error) error {
	reason, code := step.String(), 0
	var said *textproto.Error
	if errors.As(err, &said) {
		code = said.Code
		reason += ": " + withoutPersons(strconv.Itoa(code)+" "+said.Msg)
	} else {
		reason += ": the conversation broke off"
	}
	switch {
	case step == gomail.ErrSMTPMailFrom:
		// The sender is the same for all messages: not this one's fault.
		return errors.New(reason)
	case code == 421, code == 530, code == 535:
		return errors.New(reason) // the server is closing, or wants us to sign in first
	case code >= 500 && relaying.MatchString(said.Msg):
		// It takes mail for nobody there: how the server is set up, and not this address.
		return &Refusal{Reason: reason}
	case code >= 500 && code < 600:
		return &Refusal{Permanent: true, Reason: reason}
	}
	return &Refusal{Reason: reason}
}

var persons = regexp.MustCompile(`"[^"]*"@\S+|\S*@\S*`)

// withoutPersons takes addresses out of what a mail server says: errors are
// kept and shown, and the outbox is erased by other rules than logs.
func withoutPersons(text string) string {
	text = persons.ReplaceAllString(headerText(text), "…")
	if r := []rune(text); len(r) > 200 {
		text = string(r[:200]) + "…"
	}
	return text
}
