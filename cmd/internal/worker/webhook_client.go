package worker

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"

	"holdfast/store"
)

// The headers of a delivery.
const (
	// WebhookSignature has the time of the attempt in seconds since 1970 and, for
	// each secret in force, the HMAC-SHA256 in hex of time, dot and body.
	WebhookSignature = "Holdfast-Signature"
	// WebhookDelivery names the delivery: the same at each attempt.
	WebhookDelivery = "Holdfast-Delivery"
)

const (
	// How long the steps of an attempt may take, and all of them together.
	webhookConnect = 3 * time.Second
	webhookAnswer  = 8 * time.Second
	webhookLimit   = 10 * time.Second
	// webhookDrain is how long an answer is read for its connection to be used again.
	webhookDrain = time.Second
	// webhookRead is how much of an answer is read, in bytes; nothing of it is kept.
	webhookRead = 64 << 10
	// How long a receiver may ask us to wait.
	leastRetryAfter, mostRetryAfter = time.Second, time.Hour
)

var errNotPublic = errors.New("not an address on the public internet")

// WebhookClient sends deliveries. It goes to addresses on the public internet
// only, judged when the connection is made, so that a name that leads elsewhere
// a moment later is no way around; follows no redirect; and asks no proxy, which
// would connect in our place and judge nothing.
type WebhookClient struct {
	http  *http.Client
	agent string
	limit time.Duration // of an attempt
}

// NewWebhookClient makes a client. With private it goes to any address.
func NewWebhookClient(private bool) *WebhookClient {
	dialer := &net.Dialer{Timeout: webhookConnect, KeepAlive: 15 * time.Second}
	if !private {
		dialer.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err != nil || !store.PublicAddress(to.Addr()) {
				return errNotPublic
			}
			return nil
		}
	}
	return &WebhookClient{
		agent: "Holdfast-Webhook/1", limit: webhookLimit,
		http: &http.Client{
			Transport: &http.Transport{
				Proxy: nil, DialContext: dialer.DialContext, TLSHandshakeTimeout: webhookConnect, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
				ResponseHeaderTimeout: webhookAnswer, ExpectContinueTimeout: time.Second, MaxResponseHeaderBytes: webhookRead, DisableCompression: true,
				MaxIdleConns: 64, MaxIdleConnsPerHost: 2, IdleConnTimeout: 30 * time.Second,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// WebhookCall is one attempt of a delivery.
type WebhookCall struct {
	URL      string
	Secrets  []string // each signs
	Delivery string
	Body     []byte
	At       time.Time // told to the receiver, who refuses what is old
}

// SignWebhook is the value of the header that proves that a body is ours and new.
func SignWebhook(secrets []string, at time.Time, body []byte) string {
	t := strconv.FormatInt(at.Unix(), 10)
	var b strings.Builder
	b.WriteString("t=" + t)
	for _, secret := range secrets {
		m := hmac.New(sha256.New, []byte(secret))
		m.Write([]byte(t + "."))
		m.Write(body)
		b.WriteString(",v1=" + hex.EncodeToString(m.Sum(nil)))
	}
	return b.String()
}

// Send makes one attempt. The result tells what happened in a word, without what
// was answered or where: an address may have a secret in it. Again is how long
// the receiver asked to wait, if it did.
func (c *WebhookClient) Send(ctx context.Context, call WebhookCall) store.WebhookResult {
	began := time.Now()
	result := store.WebhookResult{Delivery: call.Delivery}
	ctx, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, call.URL, bytes.NewReader(call.Body))
	if err != nil {
		result.Outcome = store.WebhookBroken
		return result
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", c.agent)
	req.Header.Set(WebhookSignature, SignWebhook(call.Secrets, call.At, call.Body))
	req.Header.Set(WebhookDelivery, call.Delivery)
	// Not sent: it lets the transport try anew where a connection kept from
	// before turns out to be closed. A receiver knows repetitions by the id.
	req.Header["Idempotency-Key"] = nil
	answer, err := c.http.Do(req)
	if err != nil {
		result.Outcome, result.Took = whyNot(err), time.Since(began)
		return result
	}
	result.Status, result.Took = answer.StatusCode, time.Since(began)
	switch {
	case answer.StatusCode >= 200 && answer.StatusCode < 300:
		result.Outcome = store.WebhookDelivered
	case answer.StatusCode >= 300 && answer.StatusCode < 400:
		result.Outcome = store.WebhookRedirect
	default:
		result.Outcome = store.WebhookStatus
		result.Again = retryAfter(answer.Header)
	}
	// The status says it all; a broken end of the answer changes nothing.
	stop := time.AfterFunc(webhookDrain, cancel)
	_, _ = io.CopyN(io.Discard, answer.Body, webhookRead)
	stop.Stop()
	_ = answer.Body.Close()
	return result
}

// whyNot names what kept an attempt from being answered.
func whyNot(err error) store.WebhookOutcome {
	var timeout interface{ Timeout() bool }
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	var alert tls.AlertError
	var record tls.RecordHeaderError
	var op *net.OpError
	switch {
	case errors.Is(err, errNotPublic):
		return store.WebhookAddress
	case errors.As(err, &timeout) && timeout.Timeout():
		return store.WebhookTimeout
	case errors.As(err, &name):
		return store.WebhookName
	case errors.As(err, &certificate), errors.As(err, &alert), errors.As(err, &record):
		return store.WebhookCertificate
	case errors.As(err, &op) && op.Op == "dial":
		return store.WebhookConnection
	}
	return store.WebhookBroken
}

// retryAfter reads how long a receiver asks to wait, in seconds or as a date,
// within bounds; 0: it does not.
func retryAfter(h http.Header) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if text == "" {
		return 0
	}
	wait := mostRetryAfter
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil {
		if seconds < 0 {
			return 0
		}
		if seconds < int64(mostRetryAfter/time.Second) {
			wait = time.Duration(seconds) * time.Second
		}
	} else {
		until, err := http.ParseTime(text)
		if err != nil {
			return 0
		}
		// By the receiver's own clock, where it tells it.
		now, err := http.ParseTime(h.Get("Date"))
		if err != nil {
			now = time.Now()
		}
		wait = until.Sub(now)
	}
	return min(max(wait, leastRetryAfter), mostRetryAfter)
}
