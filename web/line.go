package web

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/skip2/go-qrcode"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

const (
	// lineBodyLimit is the largest body that LINE may send, in bytes.
	lineBodyLimit = 1 << 20
	// lineEventsMost is how many events of one body are looked at; LINE sends few.
	lineEventsMost = 200
	// lineReplyLimit bounds an answer in LINE, and lineReplies how many are on their way.
	lineReplyLimit = 10 * time.Second
	lineReplies    = 16
	// lineCodesPerMinute is how many codes one address may have made.
	lineCodesPerMinute = 10
)

// lineBox is what the page of a booking or an entry says about LINE; nil: nothing.
// One statement.
func (s *Server) lineBox(r *http.Request, sub store.LineSubject, v views.LineBox) (*views.LineBox, error) {
	ctx, t := r.Context(), venue(r)
	st, err := s.store.LineStatus(ctx, sub)
	if errors.Is(err, store.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v.Action, v.Stop, v.Self = keepProof(r, v.Action), keepProof(r, v.Stop), keepProof(r, v.Self)+"#line"
	v.Venue, v.Account, v.All = t.Name, st.BasicID, st.All
	v.More = st.Linked && sub.Proven && !st.All
	if !st.Linked {
		v.Stop = ""
	}
	if !st.Working {
		if v.Action = ""; !st.Linked {
			return nil, nil // nothing that could be begun now
		}
		return &v, nil
	}
	if st.Code != "" {
		v.Code, v.Until, v.OpenURL = st.Code, i18n.In(ctx).Time(st.Until, t.Location()), views.LineMessageURL(st.BasicID, st.Code)
		code, err := qrcode.New(v.OpenURL, qrcode.Medium)
		if err != nil {
			return nil, fmt.Errorf("qr code: %w", err)
		}
		code.DisableBorder = true
		v.QR = code.Bitmap()
	}
	return &v, nil
}

func (s *Server) reservationLine(r *http.Request, res store.Reservation) store.LineSubject {
	return store.LineSubject{TenantID: res.TenantID, ID: res.ID, Email: res.Email, Proven: s.store.ReservationProven(res, shownProof(r))}
}

func (s *Server) entryLine(r *http.Request, e store.Entry) store.LineSubject {
	return store.LineSubject{TenantID: e.TenantID, ID: e.ID, Email: e.Email, Proven: s.store.EntryProven(e, shownProof(r))}
}

func (s *Server) reservationLineBox(r *http.Request, res store.Reservation, token string) (*views.LineBox, error) {
	slug := venue(r).Slug
	return s.lineBox(r, s.reservationLine(r, res), views.LineBox{
		Action: views.ReservationLineURL(slug, token), Stop: views.ReservationLineStopURL(slug, token), Self: views.ReservationURL(slug, token),
	})
}

func (s *Server) entryLineBox(r *http.Request, e store.Entry, token string) (*views.LineBox, error) {
	slug := venue(r).Slug
	return s.lineBox(r, s.entryLine(r, e), views.LineBox{
		Action: views.WaitlistLineURL(slug, token), Stop: views.WaitlistLineStopURL(slug, token), Self: views.WaitlistURL(slug, token), Entry: true,
	})
}

// postReservationLine makes a code for a booking.
func (s *Server) postReservationLine(w http.ResponseWriter, r *http.Request) error {
	return s.onReservationLine(w, r, "", func(ctx context.Context, sub store.LineSubject, locale string) error {
		return s.store.MakeLineCode(ctx, sub, locale)
	})
}

// postReservationLineStop goes back to mail.
func (s *Server) postReservationLineStop(w http.ResponseWriter, r *http.Request) error {
	return s.onReservationLine(w, r, "line.box.stopped", func(ctx context.Context, sub store.LineSubject, _ string) error {
		return s.store.StopLine(ctx, sub)
	})
}

func (s *Server) onReservationLine(w http.ResponseWriter, r *http.Request, done i18n.Key, step func(context.Context, store.LineSubject, string) error) error {
	_, res, err := formFor(s, w, r, s.reservation)
	if err != nil {
		return err
	}
	if res.State != store.Confirmed {
		return s.reservationRefused(w, r, store.Over, contactForm{})
	}
	in := s.inLanguageOf(r, res.Locale)
	if err := step(r.Context(), s.reservationLine(r, res), i18n.Lang(in.Context())); err != nil {
		return s.reservationRefused(w, r, err, contactForm{})
	}
	return s.see(w, r, keepProof(r, views.ReservationURL(venue(r).Slug, chi.URLParam(r, "token")))+"#line", done)
}

// postEntryLine makes a code for a place on the waitlist.
func (s *Server) postEntryLine(w http.ResponseWriter, r *http.Request) error {
	return s.onEntryLine(w, r, "", func(ctx context.Context, sub store.LineSubject, locale string) error {
		return s.store.MakeLineCode(ctx, sub, locale)
	})
}

// postEntryLineStop goes back to mail.
func (s *Server) postEntryLineStop(w http.ResponseWriter, r *http.Request) error {
	return s.onEntryLine(w, r, "line.box.stopped", func(ctx context.Context, sub store.LineSubject, _ string) error {
		return s.store.StopLine(ctx, sub)
	})
}

func (s *Server) onEntryLine(w http.ResponseWriter, r *http.Request, done i18n.Key, step func(context.Context, store.LineSubject, string) error) error {
	_, e, err := s.entryPress(w, r)
	if err != nil {
		return err
	}
	if !e.Live() {
		return s.entryRefused(w, r, store.Over)
	}
	in := s.inLanguageOf(r, e.Locale)
	if err := step(r.Context(), s.entryLine(r, e), i18n.Lang(in.Context())); err != nil {
		return s.entryRefused(w, r, err)
	}
	return s.see(w, r, keepProof(r, views.WaitlistURL(venue(r).Slug, s.store.EntryToken(e)))+"#line", done)
}

// lineEvent is what we read of an event of LINE's webhook.
type lineEvent struct {
	Type       string `json:"type"`
	EventID    string `json:"webhookEventId"`
	Timestamp  int64  `json:"timestamp"` // Unix ms
	ReplyToken string `json:"replyToken"`
	Source     struct {
		Type   string `json:"type"`
		UserID string `json:"userId"`
	} `json:"source"`
	Message struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"message"`
}

// postLineWebhook takes what LINE tells about a venue's account: a code that
// somebody sent, and who has blocked it. Everything else is not ours.
//
// It stands outside sessions and the check of origins: the signature, an HMAC of
// the body under the channel secret, says who sends. Whatever is wrong before
// that is known (no such venue, no account, no signature, a wrong one) gets one
// answer. A signed body is answered with 200 whatever is in it, so that LINE goes
// on; only where our database could not take it, the answer is 503, and LINE may
// deliver it again. Events are harmless when they come again: a code is used once,
// by one event, and who has blocked the account is unlinked already.
func (s *Server) postLineWebhook(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, lineBodyLimit))
	if err != nil {
		if errors.As(err, new(*http.MaxBytesError)) {
			plain(w, http.StatusRequestEntityTooLarge, "too large")
			return
		}
		plain(w, http.StatusBadRequest, "not read")
		return
	}
	t, keys, err := s.lineKeys(ctx, chi.URLParam(r, "tenant"))
	if err != nil {
		s.log.ErrorContext(ctx, "failed", "request", middleware.GetReqID(ctx), "route", pattern(r), "error", err)
		plain(w, http.StatusServiceUnavailable, "please try again")
		return
	}
	if !lineSigned(keys.Secret, r.Header.Get("X-Line-Signature"), body) || keys.Secret == "" {
		plain(w, http.StatusUnauthorized, "unauthorized")
		return
	}
	var sent struct {
		Events []json.RawMessage `json:"events"`
	}
	if json.Unmarshal(body, &sent) != nil {
		plain(w, http.StatusOK, "ok") // signed, and yet nothing that we know
		return
	}
	for i, raw := range sent.Events {
		var e lineEvent
		if i == lineEventsMost || json.Unmarshal(raw, &e) != nil {
			continue
		}
		if err := s.lineEvent(ctx, t, keys, e); err != nil {
			s.log.ErrorContext(ctx, "failed", "request", middleware.GetReqID(ctx), "route", pattern(r), "error", err)
			plain(w, http.StatusServiceUnavailable, "please try again")
			return
		}
	}
	plain(w, http.StatusOK, "ok")
}

// lineKeys finds the account of a venue; empty keys for none.
func (s *Server) lineKeys(ctx context.Context, slug string) (store.Tenant, store.LineKeys, error) {
	if !validSlug(slug) {
		return store.Tenant{}, store.LineKeys{}, nil
	}
	t, err := s.store.TenantBySlug(ctx, slug)
	var keys store.LineKeys
	if err == nil {
		keys, err = s.store.LineKeys(ctx, t.ID)
	}
	if errors.Is(err, store.NotFound) {
		return store.Tenant{}, store.LineKeys{}, nil
	}
	return t, keys, err
}

// lineSigned reports whether LINE has signed the body: base64 of HMAC-SHA256.
func lineSigned(secret, signature string, body []byte) bool {
	given, err := base64.StdEncoding.DecodeString(signature)
	if err != nil {
		given = nil
	}
	m := hmac.New(sha256.New, []byte(secret))
	m.Write(body) // never fails
	return hmac.Equal(given, m.Sum(nil))
}

// longestLineUser is the longest id that is taken for one of LINE's; theirs have 33 signs.
const longestLineUser = 64

func (s *Server) lineEvent(ctx context.Context, t store.Tenant, keys store.LineKeys, e lineEvent) error {
	user := e.Source.UserID
	if e.Source.Type != "user" || user == "" || len(user) > longestLineUser || !isKey(user) {
		return nil
	}
	switch {
	case e.Type == "unfollow":
		return s.store.UnlinkLine(ctx, t.ID, user, time.UnixMilli(e.Timestamp))
	case e.Type == "message" && e.Message.Type == "text":
		code := store.LineCode(e.Message.Text)
		if code == "" {
			return nil
		}
		used, err := s.store.UseLineCode(ctx, store.LineUse{TenantID: t.ID, Code: code, User: user, EventID: e.EventID})
		say := i18n.Key("line.reply.linked")
		switch {
		case errors.Is(err, store.NotFound):
			return nil // something else that somebody wrote
		case errors.Is(err, store.Expired):
			say = "line.reply.expired"
		case err != nil:
			return err
		case used.Again:
			return nil
		case used.All:
			say = "line.reply.linked.all"
		}
		s.lineReply(ctx, keys, e.ReplyToken, i18n.For(used.Locale).T(say, "venue", i18n.Isolate(t.Name)))
	}
	return nil
}

// lineReply answers in LINE, beside the request, which LINE does not wait for
// longer than two seconds. An answer that is lost changes nothing: the customer's
// page says what is linked.
func (s *Server) lineReply(ctx context.Context, keys store.LineKeys, replyToken, text string) {
	if s.cfg.Line == nil || replyToken == "" {
		return
	}
	select {
	case s.lineReplying <- struct{}{}:
	default:
		s.log.WarnContext(ctx, "too many answers in LINE at once: one is left out")
		return
	}
	go func() {
		defer func() { <-s.lineReplying }()
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), lineReplyLimit)
		defer cancel()
		if err := s.cfg.Line.Reply(bounded, keys.Token, replyToken, text); err != nil {
			s.log.WarnContext(bounded, "an answer in LINE was not taken", "error", err)
		}
	}()
}
