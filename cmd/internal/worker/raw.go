package worker

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	netmail "net/mail"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	gomail "github.com/wneessen/go-mail"
	"golang.org/x/net/idna"

	"holdfast/views/calendar"
)

// Mail is a message ready to be sent.
type Mail struct {
	ID       string // of the outbox message; the Message-ID follows from it
	Host     string // the public host, the other half of the Message-ID
	At       time.Time
	Lang     string // of the texts; empty: not said
	From     string // address
	FromName string
	ReplyTo  string // address; empty for none
	To       string // address
	ToName   string
	Subject  string
	Text     string
	HTML     string // says what Text says; empty for none
	// Calendar goes along as a file; with the methods REQUEST and CANCEL it is also
	// a part that mail programs act on. Empty for none.
	Calendar string
	Method   calendar.Method
	// Unsubscribe is the page where the reader can end messages of this kind; empty for none.
	Unsubscribe string
	// Line is how the message reaches the reader by LINE, which is then tried first; nil: by mail only.
	Line *LineLetter
}

// raw is what goes over the wire: the same bytes each time, so that a message which
// was sent twice can be recognized as one. A fault in it is a permanent refusal.
//
// The text comes first, then what says the same better (RFC 2046, 5.1.4):
//
//	mixed: alternative: text/plain, text/html, text/calendar; invite.ics
func (m Mail) raw() ([]byte, error) {
	from, to, err := m.addresses()
	if err != nil {
		return nil, err
	}
	from.Name, to.Name = headerText(m.FromName), headerText(m.ToName)
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
	if m.Lang != "" {
		msg.SetGenHeader("Content-Language", headerText(m.Lang))
	}
	if m.Unsubscribe != "" {
		msg.SetGenHeader("List-Unsubscribe", "<"+m.Unsubscribe+">")
	}
	msg.SetBodyString(gomail.TypeTextPlain, lineEnds(m.Text))
	if m.HTML != "" {
		msg.AddAlternativeString(gomail.TypeTextHTML, lineEnds(m.HTML))
	}
	if m.Calendar != "" {
		if m.Method == calendar.Request || m.Method == calendar.Cancel {
			msg.AddAlternativeString(gomail.ContentType("text/calendar; method="+string(m.Method)), m.Calendar)
		}
		file := gomail.WithFileContentType("application/ics")
		if err := msg.AttachReader("invite.ics", strings.NewReader(m.Calendar), file); err != nil {
			return nil, err
		}
	}
	var out bytes.Buffer
	if _, err := msg.WriteTo(&out); err != nil {
		return nil, err
	}
	return withBoundaries(out.Bytes(), m.ID), nil
}

var boundary = regexp.MustCompile(`(?m)^ boundary=([0-9a-f]{60})\r$`)

// withBoundaries gives the parts of a message boundaries that follow from its id,
// in place of the library's, which are new each time. Nothing else holds their
// signs: texts are encoded in base64, which has no hyphen.
func withBoundaries(raw []byte, id string) []byte {
	sum := sha256.Sum256([]byte(id))
	for i, found := range boundary.FindAllSubmatch(raw, -1) {
		raw = bytes.ReplaceAll(raw, found[1], []byte("part-"+strconv.Itoa(i+1)+"-"+hex.EncodeToString(sum[:12])))
	}
	return raw
}

// lineEnds gives lines the end that texts have in mails, also inside of base64.
func lineEnds(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
}

// addresses are the sender's and the reader's, without names.
func (m Mail) addresses() (from, to *netmail.Address, err error) {
	if to, err = address(m.To); err != nil {
		return nil, nil, &Refusal{Permanent: true, Reason: "the recipient's address can't be used"}
	}
	if from, err = address(m.From); err != nil {
		return nil, nil, &Refusal{Permanent: true, Reason: "the sender's address (HOLDFAST_MAIL_FROM) can't be used"}
	}
	return from, to, nil
}

// envelope gives the addresses as the commands of SMTP have them.
func (m Mail) envelope() (from, to string, err error) {
	sender, reader, err := m.addresses()
	if err != nil {
		return "", "", err
	}
	bare := func(a *netmail.Address) string { return strings.Trim(a.String(), "<>") }
	return bare(sender), bare(reader), nil
}

// address makes a mail.Address without judging the local part by RFC 5322: some
// carriers gave out addresses such as a..b@docomo.ne.jp, which are then sent in
// quotes. What could break out of a header or a command is refused. A domain in
// other letters is given its ASCII form, which every server knows.
func address(text string) (*netmail.Address, error) {
	at := strings.LastIndexByte(text, '@')
	if at < 1 || at == len(text)-1 {
		return nil, errors.New("no address")
	}
	local, domain := text[:at], text[at+1:]
	for _, r := range domain {
		if r > unicode.MaxASCII {
			ascii, err := idna.Lookup.ToASCII(domain)
			if err != nil {
				return nil, errors.New("no address")
			}
			domain = ascii
			break
		}
	}
	for _, r := range local + domain {
		if r > unicode.MaxASCII || unicode.IsControl(r) || unicode.IsSpace(r) || strings.ContainsRune(`<>"\`, r) {
			return nil, errors.New("no address")
		}
	}
	return &netmail.Address{Address: local + "@" + domain}, nil
}

// longestHeader is in characters. A word that can't be broken stays within the 998
// bytes that a line may have (RFC 5322, 2.1.1).
const longestHeader = 400

// headerText keeps a header on its own line, and short enough for one.
func headerText(text string) string {
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) bool {
		return unicode.IsControl(r) || r == ' ' || r == '\u2028' || r == '\u2029'
	}), " ")
	if r := []rune(text); len(r) > longestHeader {
		text = strings.TrimSpace(string(r[:longestHeader])) + "…"
	}
	return text
}
