package worker

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	netmail "net/mail"
	"net/textproto"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	gomail "github.com/wneessen/go-mail"
)

// Mail is a message ready to be sent.
type Mail struct {
	ID       string // of the outbox message; the Message-ID follows from it
	Host     string // the public host, the other half of the Message-ID
	At       time.Time
	From     string // address
	FromName string
	ReplyTo  string // address; empty for none
	To       string // address
	Subject  string
	Text     string
}

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

// message builds what goes over the wire. A fault in it is a permanent refusal.
func (m Mail) message() (*gomail.Msg, error) {
	to, err := address(m.To)
	if err != nil {
		return nil, &Refusal{Permanent: true, Reason: "the recipient's address can't be used"}
	}
	from, err := address(m.From)
	if err != nil {
		return nil, &Refusal{Permanent: true, Reason: "the sender's address (HOLDFAST_MAIL_FROM) can't be used"}
	}
	from.Name = headerText(m.FromName)
	msg := gomail.NewMsg(gomail.WithEncoding(gomail.EncodingB64), gomail.WithNoDefaultUserAgent())
	msg.FromMailAddress(from)
	msg.ToMailAddress(to)
	if m.ReplyTo != "" {
		// A venue whose own address is broken still sends its mails.
		if reply, err := address(m.ReplyTo); err == nil {
			reply.Name = from.Name
			msg.ReplyToMailAddress(reply)
		}
	}
	msg.Subject(headerText(m.Subject))
	msg.SetMessageIDWithValue(m.ID + "@" + m.Host)
	msg.SetDateWithValue(m.At)
	// Keeps holiday notices and the like from answering (RFC 3834).
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	msg.SetBodyString(gomail.TypeTextPlain, m.Text)
	return msg, nil
}

// address makes a mail.Address without judging the local part by RFC 5322: some
// carriers gave out addresses such as a..b@docomo.ne.jp, which are then sent in
// quotes. What could break out of a header or a command is refused.
func address(text string) (*netmail.Address, error) {
	at := strings.LastIndexByte(text, '@')
	if at < 1 || at == len(text)-1 {
		return nil, errors.New("no address")
	}
	for _, r := range text {
		if r > unicode.MaxASCII || unicode.IsControl(r) || unicode.IsSpace(r) || strings.ContainsRune(`<>"\`, r) {
			return nil, errors.New("no address")
		}
	}
	return &netmail.Address{Address: text}, nil
}

// headerText keeps a header on its own line.
func headerText(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) || r == ' ' || r == '\u2028' || r == '\u2029'
	}), " ")
}

// SMTP sends mails through a server.
type SMTP struct {
	host     string
	port     int
	implicit bool // TLS from the first byte
	policy   gomail.TLSPolicy
	user     string
	password string
	helo     string
	timeout  time.Duration
	tls      *tls.Config
}

// smtpTimeout bounds the greeting with its sign-in, and again the message: a
// server that says nothing costs twice this at most.
const smtpTimeout = 10 * time.Second

// ParseSMTP reads smtp[s]://user:pass@host:port?starttls=auto|always|never.
// Without a port it is 587, for smtps 465. Helo is how we present ourselves.
// Errors hold no secret.
func ParseSMTP(text, helo string) (*SMTP, error) {
	u, err := url.Parse(text)
	if err != nil {
		// The error of url.Parse would repeat the password.
		return nil, errors.New("not a URL; it looks like smtp://user:password@host:587?starttls=always")
	}
	s := &SMTP{host: u.Hostname(), helo: helo, timeout: smtpTimeout, user: u.User.Username()}
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

// Send holds one conversation with the server.
func (s *SMTP) Send(ctx context.Context, m Mail) error {
	msg, err := m.message()
	if err != nil {
		return err
	}
	// The library leaves its connection open where signing in fails.
	var conn net.Conn
	defer func() {
		if conn != nil {
			_ = conn.Close() // most often closed already, and what was sent is settled
		}
	}()
	options := []gomail.Option{
		gomail.WithPort(s.port), gomail.WithTimeout(s.timeout), gomail.WithHELO(s.helo), gomail.WithTLSConfig(s.tls),
		gomail.WithoutNoop(), gomail.WithoutRset(),
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
		return err
	}
	session, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return errors.New("the mail server can't be used: " + withoutPersons(err.Error()))
	}
	if err := client.SendWithSMTPClient(session, msg); err != nil && !msg.IsDelivered() {
		return refusal(err)
	}
	// It has the message; how it says goodbye changes nothing.
	_ = client.CloseWithSMTPClient(session)
	return nil
}

// refusal tells whose trouble an error of the conversation is.
func refusal(err error) error {
	reason := withoutPersons(err.Error())
	var send *gomail.SendError
	if !errors.As(err, &send) {
		return errors.New(reason)
	}
	code := send.ErrorCode()
	reason = send.Reason.String()
	if said := serverSaid(err); said != "" {
		reason += ": " + said
	} else if code != 0 {
		reason += ": " + strconv.Itoa(code)
	} else {
		reason += ": the conversation broke off"
	}
	switch {
	case send.Reason == gomail.ErrSMTPMailFrom:
		// The sender is the same for all messages: not this one's fault.
		return errors.New(reason)
	case code == 421:
		return errors.New(reason) // the server is closing
	case code >= 500:
		return &Refusal{Permanent: true, Reason: reason}
	}
	return &Refusal{Reason: reason}
}

var reply = regexp.MustCompile(`\b[45]\d\d[ -].*`)

// serverSaid is the answer of the server, without addresses.
func serverSaid(err error) string {
	var proto *textproto.Error
	if errors.As(err, &proto) {
		return withoutPersons(strconv.Itoa(proto.Code) + " " + proto.Msg)
	}
	text := err.Error()
	if cut := strings.Index(text, ", affected recipient"); cut >= 0 {
		text = text[:cut]
	}
	return withoutPersons(reply.FindString(text))
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
