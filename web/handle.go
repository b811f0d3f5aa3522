package web

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"holdfast/static"
	"holdfast/store"
	"holdfast/views"
)

// handlerFunc answers a request, or returns why it could not: an outcome of the
// store, a problem, or a fault of ours. Nothing may be written before an error
// is returned.
type handlerFunc func(http.ResponseWriter, *http.Request) error

// handle is the one place where an error of a handler becomes an answer.
func (s *Server) handle(fn handlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := fn(w, r); err != nil {
			s.fail(w, r, err)
		}
	}
}

// problem is a request that can't be understood or may not be made. It is the
// visitor's browser that is at fault, or somebody else's program.
type problem struct {
	status int
	kind   views.ErrorKind
}

func (p problem) Error() string { return http.StatusText(p.status) + ": " + string(p.kind) }

// The kinds of error pages that only this package needs. Their words are
// error.<kind>.title and error.<kind>.text, as for the others.
const (
	errorBadRequest views.ErrorKind = "bad_request" // 400
	errorMedia      views.ErrorKind = "media"       // 415
	errorBusyLook   views.ErrorKind = "busy_look"   // 503, to somebody who pressed nothing
)

var (
	errBadRequest = problem{http.StatusBadRequest, errorBadRequest}
	errTooLarge   = problem{http.StatusRequestEntityTooLarge, views.ErrorTooLarge}
	errMedia      = problem{http.StatusUnsupportedMediaType, errorMedia}
	errOrigin     = problem{http.StatusForbidden, views.ErrorOrigin}
	errForbidden  = problem{http.StatusForbidden, views.ErrorForbidden}
	errNotFound   = problem{http.StatusNotFound, views.ErrorNotFound}
	errLink       = problem{http.StatusNotFound, views.ErrorLink}
)

// statusLeft is what the log says about a visitor who left before the answer:
// neither an error nor a refusal.
const statusLeft = 499

// fail answers an error and logs what deserves it.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(context.Cause(r.Context()), context.Canceled) {
		markLeft(w)
		return
	}
	// The deadline bounds what a request may wait for, and it may be why this one failed: the page that says so waits for
	// nothing, and must not fail because of it as well.
	r = r.WithContext(context.WithoutCancel(r.Context()))
	var outcome store.Outcome
	var bad problem
	switch {
	case errors.As(err, &outcome):
		s.noteRefusal(r, outcome)
		err = s.refused(w, r, outcome)
	case errors.As(err, &bad):
		err = s.errorPage(w, r, bad.status, bad.kind)
	case errors.Is(err, context.DeadlineExceeded):
		s.log.WarnContext(r.Context(), "too slow", "request", middleware.GetReqID(r.Context()), "route", pattern(r))
		err = s.refused(w, r, store.Busy)
	}
	if err != nil {
		s.log.ErrorContext(r.Context(), "failed", "request", middleware.GetReqID(r.Context()), "route", pattern(r), "error", err)
		s.writeBroken(w, r)
	}
}

// noteRefusal writes a refusal to the log.
func (s *Server) noteRefusal(r *http.Request, o store.Outcome) {
	s.log.InfoContext(r.Context(), "refused", "request", middleware.GetReqID(r.Context()), "route", pattern(r), "outcome", string(o))
}

// pattern is the route of a request, as the log may name it: never the path,
// which may hold a secret.
func pattern(r *http.Request) string {
	if c := chi.RouteContext(r.Context()); c != nil {
		if p := c.RoutePattern(); p != "" {
			return p
		}
	}
	return "-"
}

// answer remembers what was written, for the log.
type answer struct {
	http.ResponseWriter
	status int
	bytes  int
}

func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(b []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	n, err := a.ResponseWriter.Write(b)
	a.bytes += n
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

func markLeft(w http.ResponseWriter) {
	for {
		switch inner := w.(type) {
		case *answer:
			inner.status = statusLeft
			return
		case interface{ Unwrap() http.ResponseWriter }:
			w = inner.Unwrap()
		default:
			return
		}
	}
}

// record writes one line per request and keeps a panic from ending more than
// its own request. The line has the route's pattern and no address, path,
// query, name or token.
func (s *Server) record(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		a := &answer{ResponseWriter: w}
		defer func() {
			fault := recover()
			if fault == http.ErrAbortHandler {
				panic(fault)
			}
			if fault != nil {
				s.log.ErrorContext(r.Context(), "panic", "request", middleware.GetReqID(r.Context()), "route", pattern(r), "panic", fault, "stack", string(debug.Stack()))
				if a.status == 0 {
					s.writeBroken(a, r)
				}
			}
			level := slog.LevelInfo
			if route := pattern(r); a.status < 400 && (strings.HasPrefix(route, static.Prefix) || route == "/healthz" || route == "/readyz" || route == "/metrics") {
				level = slog.LevelDebug // files and probes would drown the rest
			}
			if a.status >= 500 && a.status != http.StatusServiceUnavailable {
				level = slog.LevelError
			}
			s.log.Log(r.Context(), level, "request", "request", middleware.GetReqID(r.Context()), "method", r.Method, "route", pattern(r),
				"status", a.status, "bytes", a.bytes, "took", time.Since(start).Round(10*time.Microsecond))
		}()
		next.ServeHTTP(a, r)
	})
}
