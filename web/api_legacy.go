package web

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"holdfast/store"
)

// The two calls POST /api/reservations/hold and /confirm: a party of one, a
// slot named by tenant, resource and start, answers of a few fixed words.
// They take a key and nothing else: no session, no cookie, so a foreign page
// has nothing to send along.
func (s *Server) apiRoutes(r chi.Router) {
	r.Route("/api", func(r chi.Router) {
		r.Use(deadline, s.clientAddress(), secretPath)
		r.Post("/reservations/hold", s.call(s.callHold))
		r.Post("/reservations/confirm", s.call(s.callConfirm))
		r.Post("/line/{tenant}", s.postLineWebhook)
		s.apiV1Routes(r)
		r.NotFound(func(w http.ResponseWriter, _ *http.Request) { refuseCall(w, http.StatusNotFound, reasonNotFound) })
		r.MethodNotAllowed(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Allow", http.MethodPost)
			refuseCall(w, http.StatusMethodNotAllowed, reasonBadRequest)
		})
	})
}

// The reasons of the two calls.
const (
	reasonTaken        = "ALREADY_HELD_OR_BOOKED"
	reasonNotFound     = "NOT_FOUND"
	reasonNotOwner     = "NOT_OWNER"
	reasonExpired      = "EXPIRED"
	reasonBadRequest   = "BAD_REQUEST"
	reasonUnauthorized = "UNAUTHORIZED"
	reasonForbidden    = "FORBIDDEN"
	reasonKeyReused    = "KEY_REUSED"
	reasonBusy         = "BUSY"
	reasonInternal     = "INTERNAL"
)

// callAnswer is what both calls answer.
type callAnswer struct {
	OK            bool   `json:"ok"`
	Reason        string `json:"reason,omitempty"`
	ReservationID string `json:"reservationId,omitempty"`
	// ExpiresAt is the shown deadline in Unix milliseconds.
	ExpiresAt int64 `json:"expiresAt,omitempty"`
}

// callRefused is a refusal of a call that the store knows nothing of.
type callRefused struct {
	status int
	reason string
}

func (c callRefused) Error() string { return c.reason }

var (
	errCallMalformed    = callRefused{http.StatusBadRequest, reasonBadRequest}
	errCallUnauthorized = callRefused{http.StatusUnauthorized, reasonUnauthorized}
	errCallForbidden    = callRefused{http.StatusForbidden, reasonForbidden}
)

// callOutcome is how an outcome is told by the two calls. What is not in their
// vocabulary means that the seat is not to be had.
func callOutcome(o store.Outcome) callRefused {
	switch o {
	case store.NotFound:
		return callRefused{http.StatusConflict, reasonNotFound}
	case store.NotOwner:
		return callRefused{http.StatusConflict, reasonNotOwner}
	case store.Expired, store.Over:
		return callRefused{http.StatusConflict, reasonExpired}
	case store.KeyReused:
		return callRefused{http.StatusUnprocessableEntity, reasonKeyReused}
	case store.Busy:
		return callRefused{http.StatusServiceUnavailable, reasonBusy}
	default:
		return callRefused{http.StatusConflict, reasonTaken}
	}
}

func refuseCall(w http.ResponseWriter, status int, reason string) {
	writeCall(w, status, callAnswer{Reason: reason})
}

func writeCall(w http.ResponseWriter, status int, a callAnswer) {
	text, err := json.Marshal(a)
	if err != nil {
		panic(err) // a struct of three plain fields always marshals
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // the caller may have left
}

// call answers one of the two calls and puts every error into their words.
func (s *Server) call(fn func(*http.Request, apiCaller, callRequest) (callAnswer, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		answer, err := s.answerCall(w, r, fn)
		if err == nil {
			writeCall(w, http.StatusOK, answer)
			return
		}
		if errors.Is(context.Cause(r.Context()), context.Canceled) {
			markLeft(w)
			return
		}
		var o store.Outcome
		var refused callRefused
		switch {
		case errors.As(err, &o):
			s.noteRefusal(r, o)
			refused = callOutcome(o)
		case errors.As(err, &refused):
		case errors.Is(err, context.DeadlineExceeded):
			refused = callOutcome(store.Busy)
		default:
			s.log.ErrorContext(r.Context(), "failed", "request", middleware.GetReqID(r.Context()), "route", pattern(r), "error", err)
			refused = callRefused{http.StatusInternalServerError, reasonInternal}
		}
		switch refused.status {
		case http.StatusServiceUnavailable:
			w.Header().Set("Retry-After", strconv.Itoa(retryAfterBusy))
		case http.StatusUnauthorized:
			w.Header().Set("WWW-Authenticate", "Bearer")
		}
		refuseCall(w, refused.status, refused.reason)
	}
}

func (s *Server) answerCall(w http.ResponseWriter, r *http.Request, fn func(*http.Request, apiCaller, callRequest) (callAnswer, error)) (callAnswer, error) {
	caller, err := s.apiCaller(r)
	if err != nil {
		return callAnswer{}, err
	}
	if !slices.Contains(caller.key.Scopes, "book") {
		return callAnswer{}, errCallForbidden
	}
	req, err := decodeCall(w, r)
	if err != nil {
		return callAnswer{}, err
	}
	// Somebody else's tenant is as absent as one that does not exist.
	if req.tenant != caller.tenant.Slug {
		return callAnswer{}, store.NotFound
	}
	return fn(r, caller, req)
}

// apiCaller is the program that calls, by its key.
type apiCaller struct {
	tenant store.Tenant
	key    store.APIKey
}

func (c apiCaller) actor(r *http.Request) store.Actor {
	a := customer(r)
	a.Kind, a.ID = store.API, c.key.ID
	return a
}

// apiCaller judges the key of a request. A key names its tenant, so that it is
// looked up there and nowhere else.
func (s *Server) apiCaller(r *http.Request) (apiCaller, error) {
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	key = strings.TrimSpace(key)
	named, ok := strings.CutPrefix(key, "hf_")
	slug, secret, split := strings.Cut(named, "_")
	if !strings.EqualFold(scheme, "Bearer") || !ok || !split || secret == "" || len(key) > 200 || !validSlug(slug) {
		return apiCaller{}, errCallUnauthorized
	}
	t, err := s.store.TenantBySlug(r.Context(), slug)
	if errors.Is(err, store.NotFound) {
		return apiCaller{}, errCallUnauthorized
	}
	if err != nil {
		return apiCaller{}, err
	}
	k, err := s.store.APIKeyByText(r.Context(), t.ID, key)
	if errors.Is(err, store.NotFound) {
		return apiCaller{}, errCallUnauthorized
	}
	return apiCaller{t, k}, err
}

// callRequest is what both calls are given.
type callRequest struct {
	tenant, resource string
	start            time.Time // UTC
	owner            string    // who may confirm: the user of the caller, apart from visitors of the pages
	key              string
	reservation      string
}

// decodeCall reads the body. Fields that are not ours are ignored: callers of
// other systems send more.
func decodeCall(w http.ResponseWriter, r *http.Request) (callRequest, error) {
	var body struct {
		TenantID       *string `json:"tenantId"`
		ResourceID     *string `json:"resourceId"`
		SlotStartISO   *string `json:"slotStartIso"`
		UserID         *string `json:"userId"`
		IdempotencyKey *string `json:"idempotencyKey"`
		ReservationID  *string `json:"reservationId"`
	}
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, bodyLimit))
	if err := dec.Decode(&body); err != nil {
		if ctxErr := r.Context().Err(); ctxErr != nil {
			return callRequest{}, ctxErr
		}
		return callRequest{}, errCallMalformed
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return callRequest{}, errCallMalformed
	}
	bad := false
	text := func(p *string, required bool) string {
		switch {
		case p == nil || *p == "":
			bad = bad || required
			return ""
		case len(*p) > longestKey || !utf8.ValidString(*p) || strings.ContainsRune(*p, 0):
			bad = true
		}
		return *p
	}
	req := callRequest{
		tenant: text(body.TenantID, true), resource: text(body.ResourceID, true), owner: "user:" + text(body.UserID, true),
		key: text(body.IdempotencyKey, false), reservation: text(body.ReservationID, false),
	}
	start := text(body.SlotStartISO, true)
	if header := r.Header.Get("Idempotency-Key"); header != "" {
		if req.key != "" && req.key != header {
			return callRequest{}, errCallMalformed
		}
		req.key = text(&header, true)
	}
	if bad {
		return callRequest{}, errCallMalformed
	}
	var ok bool
	if req.start, ok = parseStart(start); !ok {
		return callRequest{}, errCallMalformed
	}
	return req, nil
}

// rfc3339 is stricter than time.Parse, which takes a comma and single digits.
var rfc3339 = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$`)

// parseStart reads a start with an offset and gives it in UTC, so that
// 10:00+09:00 and 01:00Z are one start. A time without an offset is none.
func parseStart(text string) (time.Time, bool) {
	if !rfc3339.MatchString(text) {
		return time.Time{}, false
	}
	at, err := time.Parse(time.RFC3339Nano, strings.ToUpper(text))
	at = at.UTC()
	// The offset may lead out of the years that RFC 3339 can write.
	return at, err == nil && at.Year() >= 1 && at.Year() <= 9999
}

// termsTries is how often a call is made again because the terms changed
// between reading the slot and holding it: the caller has seen none.
const termsTries = 3

func (s *Server) callHold(r *http.Request, caller apiCaller, req callRequest) (callAnswer, error) {
	ctx := r.Context()
	for try := 1; ; try++ {
		slot, err := s.store.SlotAt(ctx, caller.tenant.ID, req.resource, req.start)
		if err != nil {
			return callAnswer{}, err
		}
		held, err := s.store.Hold(ctx, store.HoldRequest{
			TenantID: caller.tenant.ID, Slots: []store.HoldSlot{{ID: slot.ID, TermsVersion: slot.TermsVersion}}, PartySize: 1,
			Owner: req.owner, Key: req.key, Source: store.SourceAPI, Locale: caller.tenant.Locale, Actor: caller.actor(r),
		})
		if errors.Is(err, store.TermsChanged) && try < termsTries {
			continue
		}
		if err != nil {
			return callAnswer{}, err
		}
		return callDone(held[0]), nil
	}
}

// callDone is the answer of a call that was done.
func callDone(res store.Reservation) callAnswer {
	a := callAnswer{OK: true, ReservationID: res.ID}
	if res.ShownUntil != nil {
		a.ExpiresAt = res.ShownUntil.UnixMilli()
	}
	return a
}

func (s *Server) callConfirm(r *http.Request, caller apiCaller, req callRequest) (callAnswer, error) {
	ctx := r.Context()
	if req.reservation == "" {
		return callAnswer{}, errCallMalformed
	}
	if !store.ValidID(req.reservation) {
		return callAnswer{}, store.NotFound
	}
	for try := 1; ; try++ {
		res, err := s.store.Reservation(ctx, caller.tenant.ID, req.reservation)
		if err != nil {
			return callAnswer{}, err
		}
		if err := s.isInSlot(ctx, res, req); err != nil {
			return callAnswer{}, err
		}
		confirmed, err := s.store.Confirm(ctx, store.ConfirmRequest{
			TenantID: caller.tenant.ID, ID: res.ID, Owner: req.owner, TermsVersion: res.TermsVersion,
			Contact: store.Contact{Locale: caller.tenant.Locale}, Actor: caller.actor(r),
		})
		if errors.Is(err, store.TermsChanged) && try < termsTries {
			continue
		}
		if err != nil {
			return callAnswer{}, err
		}
		return callDone(confirmed), nil
	}
}

// isInSlot refuses a reservation that is not in the slot which the call names.
func (s *Server) isInSlot(ctx context.Context, res store.Reservation, req callRequest) error {
	slot, err := s.store.Slot(ctx, res.TenantID, res.SlotID)
	if err != nil {
		return err
	}
	resources, err := s.store.Resources(ctx, res.TenantID)
	if err != nil {
		return err
	}
	here := slices.ContainsFunc(resources, func(o store.Resource) bool { return o.ID == slot.ResourceID && o.Slug == req.resource })
	if !here || !slot.StartsAt.Equal(req.start) {
		return store.NotFound
	}
	return nil
}
