package worker

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf16"

	"holdfast/store"
)

// LineAPI is where LINE's Messaging API answers.
const LineAPI = "https://api.line.me"

const (
	// lineTimeout bounds a whole request, its steps have less.
	lineTimeout = 10 * time.Second
	lineStep    = 5 * time.Second
	// lineAnswer is how much of an answer is read, in bytes.
	lineAnswer = 64 << 10
	// lineText is the longest text message, in UTF-16 code units as LINE counts.
	lineText = 5000
	// lineTries is how often a message is tried where LINE gives no clear answer.
	lineTries = 2
)

// LineLetter is what the way by LINE needs to know of a message.
type LineLetter struct {
	Message store.Message
	Way     store.LineWay
	Text    string // subject, text and link, as LINE shows them
}

// lineBook is what the way by LINE writes down.
type lineBook interface {
	LeaveLine(ctx context.Context, m store.Message, why store.LineTrouble) (bool, error)
	LineInTrouble(ctx context.Context, tenant string, version int, trouble store.LineTrouble) error
}

// Line is the way by LINE: a Transport for mails that have a LineLetter. It
// decides which way such a message goes:
//
//   - Where LINE has taken it, or says that it had taken it before (409 for the
//     same retry key), it is sent.
//   - Where it is certain that LINE has not taken it (not linked, refused, over
//     quota, the token not taken, nothing handed over), it goes by mail, in the
//     same turn.
//   - Where the answer is not clear (5xx, silence, a connection that broke off),
//     it is tried once more with the same retry key, so that LINE itself keeps it
//     from arriving twice. After two tries without a clear answer it goes by mail.
//
// So one message goes through both ways only where its fate at LINE is unknown.
// That it goes by mail is written on its row before the mail server hears of it,
// and from then on it is not tried by LINE: a dispatcher that dies between mail
// and row can't make the next one begin again with LINE. The retry key is made of
// the outbox id, so whoever takes over has the same; LINE knows it for 24 hours.
//
// Somebody who has blocked the account can't be told from somebody who reads:
// LINE takes the message. What tells is LINE's unfollow event (see package web).
type Line struct {
	Store lineBook
	Log   *slog.Logger

	base   string
	client *http.Client
}

// NewLine makes the way by LINE; base is LineAPI or the address of a server that
// speaks like it, in front of which no path stands.
func NewLine(book lineBook, base *url.URL, log *slog.Logger) *Line {
	return &Line{
		Store: book, Log: log, base: strings.TrimSuffix(base.String(), "/"),
		client: &http.Client{
			Timeout:       lineTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Transport: &http.Transport{
				Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: lineStep}).DialContext, TLSHandshakeTimeout: lineStep,
				ResponseHeaderTimeout: lineTimeout - time.Second, MaxResponseHeaderBytes: 32 << 10, MaxIdleConnsPerHost: concurrent, IdleConnTimeout: time.Minute,
				ForceAttemptHTTP2: true,
			},
		},
	}
}

// Elsewhere says that a message is to go by mail now: it is written on its row.
type Elsewhere struct{ Why store.LineTrouble }

func (e *Elsewhere) Error() string { return "by mail: " + e.Why.Error() }

// errUnclear says that a message is to be tried by LINE once more.
var errUnclear = errors.New("LINE gave no clear answer")

// Send pushes a message to its reader. Its errors are an *Elsewhere; errUnclear;
// or that the row could not be written, after which nothing was handed to anybody else.
func (l *Line) Send(ctx context.Context, m Mail) error {
	letter := m.Line
	why := hindrance(letter)
	if why == "" {
		why = l.push(ctx, letter)
	}
	switch why {
	case "":
		return nil
	case store.LineUnclear:
		if letter.Message.LineTries+1 < lineTries && letter.Message.Attempts < maxAttempts {
			return errUnclear
		}
	case store.LineBroken, store.LineQuota:
		if err := l.Store.LineInTrouble(ctx, letter.Message.TenantID, letter.Way.Version, why); err != nil {
			return err
		}
		l.Log.WarnContext(ctx, "a LINE account takes no messages", "tenant", letter.Message.TenantID, "why", string(why))
	}
	mine, err := l.Store.LeaveLine(ctx, letter.Message, why)
	switch {
	case err != nil:
		return err
	case !mine:
		return errors.New("the message was taken over or erased")
	}
	return &Elsewhere{why}
}

// hindrance is why LINE is not asked at all.
func hindrance(letter *LineLetter) store.LineTrouble {
	switch way := letter.Way; {
	case letter.Message.LineTries >= lineTries:
		return store.LineUnclear
	case way.User == "":
		return store.LineUnlinked
	case way.Broken || way.Token == "":
		return store.LineBroken
	case way.Paused:
		return store.LineQuota
	}
	return ""
}

type lineMessage struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// push gives "" where LINE has the message.
func (l *Line) push(ctx context.Context, letter *LineLetter) store.LineTrouble {
	a, trouble := l.ask(ctx, http.MethodPost, "/v2/bot/message/push", letter.Way.Token, lineRetryKey(letter.Message.ID), struct {
		To       string        `json:"to"`
		Messages []lineMessage `json:"messages"`
	}{letter.Way.User, []lineMessage{{"text", letter.Text}}})
	switch {
	case trouble != "":
		return trouble
	case a.status >= 200 && a.status < 300:
		return ""
	case a.status == http.StatusConflict && a.accepted:
		return "" // by an earlier try
	case a.status == http.StatusConflict:
		return store.LineUnclear
	}
	return a.trouble()
}

// lineRetryKey is a UUID of the outbox id: the same whoever sends the message, and when.
func lineRetryKey(id string) string {
	sum := sha256.Sum256([]byte("holdfast line retry " + id))
	b := sum[:16]
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80 // version 8: made by ourselves (RFC 9562)
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// lineAnswered is an answer of LINE.
type lineAnswered struct {
	status   int
	accepted bool // it names the earlier request that was accepted
	body     []byte
}

// trouble is what an answer that is no success means.
func (a lineAnswered) trouble() store.LineTrouble {
	switch {
	case a.status == http.StatusUnauthorized || a.status == http.StatusForbidden:
		return store.LineBroken
	case a.status == http.StatusTooManyRequests:
		var said struct {
			Message string `json:"message"`
		}
		// Either may be over, the rate or the month. What can't be read is taken for the shorter one.
		if json.Unmarshal(a.body, &said) == nil && strings.Contains(strings.ToLower(said.Message), "monthly limit") {
			return store.LineQuota
		}
		return store.LineRate
	case a.status >= 300 && a.status < 500:
		return store.LineRefused
	}
	return store.LineUnclear
}

// ask sends one request. Without an answer it gives LineAway where nothing was
// handed over, else LineUnclear.
func (l *Line) ask(ctx context.Context, method, path, token, retryKey string, body any) (lineAnswered, store.LineTrouble) {
	var sent io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return lineAnswered{}, store.LineAway
		}
		sent = bytes.NewReader(raw)
	}
	var handed atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { handed.Store(true) }})
	failed := func() store.LineTrouble {
		if handed.Load() {
			return store.LineUnclear
		}
		return store.LineAway
	}
	req, err := http.NewRequestWithContext(ctx, method, l.base+path, sent)
	if err != nil {
		return lineAnswered{}, failed()
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("User-Agent", "Holdfast")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if retryKey != "" {
		req.Header.Set("X-Line-Retry-Key", retryKey)
	}
	resp, err := l.client.Do(req)
	if err != nil {
		return lineAnswered{}, failed()
	}
	a := lineAnswered{status: resp.StatusCode, accepted: resp.Header.Get("X-Line-Accepted-Request-Id") != ""}
	// The status decides; of a body that breaks off or never ends the beginning will do.
	a.body, err = io.ReadAll(io.LimitReader(resp.Body, lineAnswer))
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		l.Log.DebugContext(ctx, "an answer of LINE did not end well", "status", a.status)
	}
	return a, ""
}

// Info asks LINE whose token it is. Errors are of store.LineTrouble.
func (l *Line) Info(ctx context.Context, token string) (name, basicID string, err error) {
	a, trouble := l.ask(ctx, http.MethodGet, "/v2/bot/info", token, "", nil)
	var said struct {
		DisplayName string `json:"displayName"`
		BasicID     string `json:"basicId"`
	}
	switch {
	case trouble != "":
		return "", "", trouble
	case a.status != http.StatusOK:
		return "", "", a.trouble()
	case json.Unmarshal(a.body, &said) != nil || said.BasicID == "":
		return "", "", store.LineUnclear
	}
	return said.DisplayName, said.BasicID, nil
}

// Reply answers what somebody wrote to the account. Errors are of store.LineTrouble.
func (l *Line) Reply(ctx context.Context, token, replyToken, text string) error {
	a, trouble := l.ask(ctx, http.MethodPost, "/v2/bot/message/reply", token, "", struct {
		ReplyToken string        `json:"replyToken"`
		Messages   []lineMessage `json:"messages"`
	}{replyToken, []lineMessage{{"text", cutLine(text, "")}}})
	switch {
	case trouble != "":
		return trouble
	case a.status < 200 || a.status >= 300:
		return a.trouble()
	}
	return nil
}

// cutLine shortens a text to what LINE takes, at a whole character; where
// something is cut off, the link that it is about stays at the end.
func cutLine(text, link string) string {
	if lineUnits(text) <= lineText {
		return text
	}
	end := "…"
	if link != "" {
		end += "\n\n" + link
	}
	left := lineText - lineUnits(end)
	for i, r := range text {
		if left -= utf16.RuneLen(r); left < 0 {
			return strings.TrimRight(text[:i], "\n ") + end
		}
	}
	return text
}

func lineUnits(text string) int {
	n := 0
	for _, r := range text {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}
