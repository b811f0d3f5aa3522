package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/go-chi/httprate"

	"holdfast/store"
)

// The API under /api/v1 is the protocol of package store for programs. It takes
// a key of a tenant and nothing else: no cookie, so a foreign page has nothing to
// send along. A refusal is application/problem+json with a stable reason, that of
// the table of outcomes. Times are RFC 3339 in UTC with milliseconds.

// The scopes of a key.
const (
	scopeRead   = "read"   // slots, availability, states without contacts
	scopeBook   = "book"   // hold, confirm, release, cancel, move, wait, answer
	scopeManage = "manage" // slots and their seats, rosters with contacts, events
)

const (
	// apiBodyLimit is the largest body of a request, in bytes.
	apiBodyLimit = 1 << 20
	// keepLimit bounds how long an answer waits to be kept for its key.
	keepLimit = 3 * time.Second
	// apiPerMinute is how many requests a key may make, per instance.
	apiPerMinute = 600
	// Pages of lists.
	apiPage, apiPageMost = 100, 500
)

// apiOperation is a route of the API. The OpenAPI document is made of the same list.
type apiOperation struct {
	method, path string
	scopes       []string // one of them is needed
	do           func(*Server, *apiRequest) (any, error)
	status       int // of success
	// kept: its answer is kept by its idempotency key, since its own state does not make it idempotent.
	kept bool
	doc  apiDoc
}

func (s *Server) apiV1Routes(r chi.Router) {
	r.Route("/v1", func(r chi.Router) {
		r.NotFound(s.api(nil, func(*Server, *apiRequest) (any, error) { return nil, store.NotFound }))
		r.MethodNotAllowed(s.api(nil, func(*Server, *apiRequest) (any, error) {
			return nil, apiProblem{Status: http.StatusMethodNotAllowed, Reason: "method_not_allowed"}
		}))
		r.Get("/openapi.json", s.getOpenAPI)
		r.Get("/", s.getAPIPages)
		for i := range apiOperations {
			op := &apiOperations[i]
			r.Method(op.method, op.path, s.api(op, op.do))
		}
	})
}

// apiProblem is a refusal as RFC 9457 has it.
type apiProblem struct {
	Type   string     `json:"type"`
	Title  string     `json:"title"`
	Status int        `json:"status"`
	Reason string     `json:"reason"`
	Detail string     `json:"detail,omitempty"`
	Errors []apiFault `json:"errors,omitempty"`
}

func (p apiProblem) Error() string { return p.Reason }

// apiFault is a field that can't be taken.
type apiFault struct {
	Field  string `json:"field"`
	Reason string `json:"reason"` // required, invalid, too_long, unknown
}

func badRequest(detail string, faults ...apiFault) apiProblem {
	return apiProblem{Status: http.StatusBadRequest, Reason: "bad_request", Detail: detail, Errors: faults}
}

// apiRequest is a request of a program.
type apiRequest struct {
	*http.Request
	w      http.ResponseWriter
	caller apiCaller
	op     *apiOperation
	faults []apiFault
	etag   string // of the answer
}

func (q *apiRequest) actor() store.Actor { return q.caller.actor(q.Request) }
func (q *apiRequest) tenant() string     { return q.caller.tenant.ID }
func (q *apiRequest) may(scope string) bool {
	return slices.Contains(q.caller.key.Scopes, scope)
}

// id is an id of the path. What can't be one is as absent as what is not there.
func (q *apiRequest) id(name string) (string, error) {
	id := chi.URLParam(q.Request, name)
	if !store.ValidID(id) {
		return "", store.NotFound
	}
	return id, nil
}

func (q *apiRequest) fault(field, reason string) {
	q.faults = append(q.faults, apiFault{field, reason})
}

// ok is nil, or the refusal of the faults that were found.
func (q *apiRequest) ok() error {
	if len(q.faults) == 0 {
		return nil
	}
	return badRequest("", q.faults...)
}

// api answers a request of a program and puts every error into a problem.
func (s *Server) api(op *apiOperation, do func(*Server, *apiRequest) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q := &apiRequest{Request: r, w: w, op: op}
		status, body, err := s.answerAPI(q, do)
		if err != nil {
			if errors.Is(context.Cause(r.Context()), context.Canceled) {
				markLeft(w)
				return
			}
			p := s.problemOf(q, err)
			if op == nil && p.Status == http.StatusMethodNotAllowed {
				w.Header().Set("Allow", s.apiAllowed(r))
			}
			status, body = p.Status, marshalAPI(p)
		}
		writeAPI(q, status, body)
	}
}

func (s *Server) apiAllowed(r *http.Request) string {
	var allowed []string
	for _, op := range apiOperations {
		if s.patterns[op.method+" /api/v1"+op.path] && apiMatches(op.path, strings.TrimPrefix(r.URL.Path, "/api/v1")) {
			allowed = append(allowed, op.method)
		}
	}
	return strings.Join(allowed, ", ")
}

// apiMatches reports whether a path is one of a pattern.
func apiMatches(pattern, path string) bool {
	a, b := strings.Split(pattern, "/"), strings.Split(path, "/")
	return len(a) == len(b) && !slices.ContainsFunc(a, func(part string) bool {
		i := slices.Index(a, part)
		return !strings.HasPrefix(part, "{") && part != b[i]
	})
}

func writeAPI(q *apiRequest, status int, body []byte) {
	h := q.w.Header()
	kind := "application/json"
	if status >= 400 {
		kind = "application/problem+json"
	}
	h.Set("Content-Type", kind)
	if q.etag != "" && status < 300 {
		h.Set("ETag", q.etag)
	}
	switch status {
	case http.StatusServiceUnavailable:
		h.Set("Retry-After", strconv.Itoa(retryAfterBusy))
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", "Bearer")
	}
	q.w.WriteHeader(status)
	_, _ = q.w.Write(body) // the caller may have left
}

func marshalAPI(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // our own structs of plain fields always marshal
	}
	return append(text, '\n')
}

// problemOf puts an error into a problem, and logs what deserves it.
func (s *Server) problemOf(q *apiRequest, err error) apiProblem {
	var o store.Outcome
	var p apiProblem
	var refused callRefused
	switch {
	case errors.As(err, &o):
		s.noteRefusal(q.Request, o)
		a := answerFor(o)
		p = apiProblem{Status: a.status, Reason: a.reason}
		if o == store.Conflict && q.Header.Get("If-Match") != "" {
			p.Status = http.StatusPreconditionFailed
		}
	case errors.As(err, &p):
	case errors.As(err, &refused): // of the key
		p = apiProblem{Status: refused.status, Reason: strings.ToLower(refused.reason)}
	case errors.Is(err, store.ErrInProgress):
		q.w.Header().Set("Retry-After", "1")
		p = apiProblem{Status: http.StatusConflict, Reason: "in_progress"}
	case errors.Is(err, context.DeadlineExceeded):
		p = apiProblem{Status: http.StatusServiceUnavailable, Reason: "busy"}
	default:
		s.log.ErrorContext(q.Context(), "failed", "request", middleware.GetReqID(q.Context()), "route", pattern(q.Request), "error", err)
		p = apiProblem{Status: http.StatusInternalServerError, Reason: "internal"}
	}
	p.Type = "about:blank"
	if p.Title == "" {
		p.Title = http.StatusText(p.Status)
	}
	return p
}

func (s *Server) answerAPI(q *apiRequest, do func(*Server, *apiRequest) (any, error)) (int, []byte, error) {
	var err error
	if q.caller, err = s.apiCaller(q.Request); err != nil {
		return 0, nil, err
	}
	if err := s.apiLimited(q); err != nil {
		return 0, nil, err
	}
	if q.op == nil {
		_, err := do(s, q)
		return 0, nil, err
	}
	if !slices.ContainsFunc(q.op.scopes, q.may) {
		return 0, nil, apiProblem{Status: http.StatusForbidden, Reason: "forbidden", Detail: "the key needs the scope " + strings.Join(q.op.scopes, " or ")}
	}
	if q.op.kept && q.Header.Get("Idempotency-Key") != "" {
		return s.answerOnce(q, do)
	}
	return s.answerNow(q, do)
}

func (s *Server) answerNow(q *apiRequest, do func(*Server, *apiRequest) (any, error)) (int, []byte, error) {
	answer, err := do(s, q)
	if err != nil {
		return 0, nil, err
	}
	return q.op.status, marshalAPI(answer), nil
}

// answerOnce carries out a request with an idempotency key, or gives the answer
// that it was given before. What may go otherwise in the next try is not kept.
func (s *Server) answerOnce(q *apiRequest, do func(*Server, *apiRequest) (any, error)) (int, []byte, error) {
	key, err := q.idempotencyKey()
	if err != nil {
		return 0, nil, err
	}
	body, err := q.body()
	if err != nil {
		return 0, nil, err
	}
	sum := sha256.Sum256(slices.Concat([]byte(q.Method+" "+q.URL.RequestURI()+"\n"+q.Header.Get("If-Match")+"\n"), body))
	name := sha256.Sum256([]byte(key))
	req := store.IdempotentRequest{TenantID: q.tenant(), Route: q.Method + " " + q.op.path, KeyHash: name[:], Fingerprint: sum[:]}
	kept, err := s.store.BeginIdempotent(q.Context(), req)
	if err != nil {
		return 0, nil, err
	}
	if kept != nil {
		q.w.Header().Set("Idempotent-Replayed", "true")
		return kept.Status, kept.Body, nil
	}
	status, answer, err := s.answerNow(q, do)
	var keep *store.KeptAnswer
	if err == nil {
		keep = &store.KeptAnswer{Status: status, Body: answer}
	} else if p := s.problemOf(q, err); p.Status < 500 && p.Status != http.StatusConflict && p.Status != http.StatusTooManyRequests {
		keep = &store.KeptAnswer{Status: p.Status, Body: marshalAPI(p)}
	}
	// The answer goes out whether or not it could be kept, also to somebody who has left, and does not wait long for it.
	keeping, cancel := context.WithTimeout(context.WithoutCancel(q.Context()), keepLimit)
	defer cancel()
	if err := s.store.FinishIdempotent(keeping, req, keep); err != nil {
		s.log.WarnContext(q.Context(), "answer not kept", "request", middleware.GetReqID(q.Context()), "error", err)
	}
	return status, answer, err
}

// idempotencyKey is the key of the header, as it is or as a quoted string; empty for none.
func (q *apiRequest) idempotencyKey() (string, error) {
	key := q.Header.Get("Idempotency-Key")
	if len(key) >= 2 && key[0] == '"' && key[len(key)-1] == '"' {
		key = key[1 : len(key)-1]
	}
	if len(key) > longestKey || !utf8.ValidString(key) || strings.ContainsFunc(key, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		return "", badRequest("", apiFault{"Idempotency-Key", "invalid"})
	}
	return key, nil
}

// apiLimited counts a request of a key, and says what is left.
func (s *Server) apiLimited(q *apiRequest) error {
	if !s.cfg.RateLimit {
		return nil
	}
	limited := s.apiRate.OnLimit(headless{q.w}, q.Request, q.caller.key.ID)
	_, rate, err := s.apiRate.Status(q.caller.key.ID)
	if err != nil {
		return err
	}
	reset := int(time.Minute/time.Second) - s.now().Second()
	h := q.w.Header()
	h.Set("RateLimit-Limit", strconv.Itoa(apiPerMinute))
	h.Set("RateLimit-Remaining", strconv.Itoa(max(0, apiPerMinute-int(rate))))
	h.Set("RateLimit-Reset", strconv.Itoa(reset))
	h.Set("RateLimit-Policy", fmt.Sprintf("%d;w=60", apiPerMinute))
	if limited {
		h.Set("Retry-After", strconv.Itoa(reset))
		return apiProblem{Status: http.StatusTooManyRequests, Reason: "too_many_requests"}
	}
	return nil
}

// headless keeps the limiter's own headers away from the answer.
type headless struct{ http.ResponseWriter }

func (headless) Header() http.Header { return http.Header{} }

func newAPIRate() *httprate.RateLimiter { return httprate.NewRateLimiter(apiPerMinute, time.Minute) }

// body reads the body, whole, and puts it back for who decodes it.
func (q *apiRequest) body() ([]byte, error) {
	raw, err := io.ReadAll(http.MaxBytesReader(q.w, q.Body, apiBodyLimit))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, apiProblem{Status: http.StatusRequestEntityTooLarge, Reason: "too_large"}
	case err != nil && q.Context().Err() != nil:
		return nil, q.Context().Err()
	case err != nil:
		return nil, badRequest("the body could not be read")
	}
	q.Body = io.NopCloser(bytes.NewReader(raw))
	return raw, nil
}

// decode reads a JSON object. Fields that are not ours are refused: a name
// written wrongly must not pass for one that was left out. An empty body is an empty object.
func (q *apiRequest) decode(into any) error {
	raw, err := q.body()
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = []byte("{}")
	} else if kind, _, err := mime.ParseMediaType(q.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return apiProblem{Status: http.StatusUnsupportedMediaType, Reason: "media_type"}
	}
	if !utf8.Valid(raw) {
		return badRequest("the body is not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	var wrong *json.UnmarshalTypeError
	err = dec.Decode(into)
	switch {
	case errors.As(err, &wrong):
		return badRequest("", apiFault{wrong.Field, "invalid"})
	case err != nil && strings.HasPrefix(err.Error(), "json: unknown field "):
		return badRequest("", apiFault{strings.Trim(strings.TrimPrefix(err.Error(), "json: unknown field "), `"`), "unknown"})
	case err != nil:
		return badRequest("the body is not one JSON object")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return badRequest("the body is not one JSON object")
	}
	return noNUL(reflect.ValueOf(into))
}

// noNUL refuses texts that the database can't keep.
func noNUL(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return noNUL(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if err := noNUL(v.Field(i)); err != nil {
				return err
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if err := noNUL(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			if err := noNUL(v.MapIndex(key)); err != nil {
				return err
			}
			if err := noNUL(key); err != nil {
				return err
			}
		}
	case reflect.String:
		if strings.ContainsRune(v.String(), 0) {
			return badRequest("a text contains NUL")
		}
	}
	return nil
}

// text gives a text of the body that may have so many characters.
func (q *apiRequest) text(field, value string, longest int, required bool) string {
	value = strings.TrimSpace(value)
	switch n := utf8.RuneCountInString(value); {
	case n == 0 && required:
		q.fault(field, "required")
	case n > longest:
		q.fault(field, "too_long")
	}
	return value
}

// version is the slot's version that the caller names in If-Match; nil for none or any.
func (q *apiRequest) version() (*int64, error) {
	tag := q.Header.Get("If-Match")
	if tag == "" || tag == "*" {
		return nil, nil
	}
	quoted, ok := strings.CutPrefix(tag, `"`)
	number, ok2 := strings.CutSuffix(quoted, `"`)
	n, err := strconv.ParseInt(number, 10, 64)
	if !ok || !ok2 || err != nil {
		// A tag that is none of ours can match nothing.
		return nil, apiProblem{Status: http.StatusPreconditionFailed, Reason: "conflict"}
	}
	return &n, nil
}

func etagOf(version int64) string { return `"` + strconv.FormatInt(version, 10) + `"` }

// apiTime is an instant as the API writes it.
type apiTime time.Time

// MarshalText writes UTC with milliseconds.
func (t apiTime) MarshalText() ([]byte, error) {
	return []byte(time.Time(t).UTC().Format("2006-01-02T15:04:05.000Z")), nil
}

func apiTimeOf(t *time.Time) *apiTime {
	if t == nil {
		return nil
	}
	at := apiTime(*t)
	return &at
}

// apiList is a page of a list; Next is the cursor of the next page, null at the end.
type apiList[T any] struct {
	Items []T     `json:"items"`
	Next  *string `json:"next"`
}

// instant reads a time of the query or the body; zero for none.
func (q *apiRequest) instant(field, text string) time.Time {
	if text == "" {
		return time.Time{}
	}
	at, ok := parseStart(text)
	if !ok {
		q.fault(field, "invalid")
	}
	return at
}

func (q *apiRequest) limit() int {
	text := q.URL.Query().Get("limit")
	if text == "" {
		return apiPage
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > apiPageMost {
		q.fault("limit", "invalid")
	}
	return n
}

// query refuses parameters that the operation does not have, and repeated ones.
func (q *apiRequest) query(known ...string) {
	for name, values := range q.URL.Query() {
		switch {
		case !slices.Contains(known, name):
			q.fault(name, "unknown")
		case len(values) > 1:
			q.fault(name, "invalid")
		}
	}
}
