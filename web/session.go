package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"golang.org/x/text/language"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// What the session of a browser holds. It is small: the whole of it is written
// at each change, and the last writer wins.
const (
	sessionVisitor = "visitor" // random, owns the holds of this browser
	sessionLang    = "lang"    // chosen by press
	sessionFlash   = "flash"   // said on the next page
	sessionSeen    = "seen"    // unix seconds of the last extension
	sessionWaits   = "waits"   // ids of the waitlist entries that this browser has made
	sessionStaff   = "staff"   // id of the member of staff who is signed in
	sessionHandle  = "handle"  // names this session to that person; opens nothing
	sessionHalf    = "half"    // who has given a password and not yet the code
)

// sessionLifetime is how long a browser is known after its last press.
const sessionLifetime = 30 * 24 * time.Hour

// sessionRefresh is how old an extension must be before a press makes another,
// so that most requests write nothing.
const sessionRefresh = 24 * time.Hour

func (s *Server) newSessions(ctxStore scs.CtxStore) *scs.SessionManager {
	m := scs.New()
	m.Store = ctxStore
	m.HashTokenInStore = true
	m.Lifetime = sessionLifetime
	m.Cookie.Name = "holdfast"
	m.Cookie.HttpOnly = true
	m.Cookie.SameSite = http.SameSiteLaxMode
	if s.secure {
		m.Cookie.Name = "__Host-holdfast"
		m.Cookie.Secure = true
	}
	return m
}

// session loads the browser's session and saves it with the first byte of the
// answer if it has changed. A session that can't be saved does not undo what
// the press did: the answer goes out without its cookie, and the log says so.
func (s *Server) session(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Cookie")
		value := ""
		if cookie, err := r.Cookie(s.sessions.Cookie.Name); err == nil {
			value = cookie.Value
		}
		ctx, err := s.sessions.Load(r.Context(), value)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		r = r.WithContext(ctx)
		s.refresh(r)
		sw := &sessionWriter{ResponseWriter: w, s: s, r: r, loaded: s.sessions.Token(ctx)}
		next.ServeHTTP(sw, r)
		sw.save()
	})
}

// refresh extends the session of a visitor at a press, once in a while. GETs
// write nothing. A session of staff has its own rule, set when they sign in.
func (s *Server) refresh(r *http.Request) {
	ctx := r.Context()
	if r.Method == http.MethodGet || r.Method == http.MethodHead || s.sessions.GetString(ctx, sessionVisitor) == "" || s.sessions.Exists(ctx, sessionStaff) {
		return
	}
	now := s.now()
	if now.Sub(time.Unix(s.sessions.GetInt64(ctx, sessionSeen), 0)) < sessionRefresh {
		return
	}
	s.sessions.Put(ctx, sessionSeen, now.Unix())
	s.sessions.SetDeadline(ctx, now.Add(sessionLifetime).UTC())
}

type sessionWriter struct {
	http.ResponseWriter
	s     *Server
	r     *http.Request
	saved bool
	// loaded is the token that the request came with, if it stood for a session.
	loaded string
}

func (w *sessionWriter) WriteHeader(status int) {
	w.save()
	w.ResponseWriter.WriteHeader(status)
}

func (w *sessionWriter) Write(b []byte) (int, error) {
	w.save()
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *sessionWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *sessionWriter) save() {
	if w.saved {
		return
	}
	w.saved = true
	ctx := w.r.Context()
	switch m := w.s.sessions; m.Status(ctx) {
	case scs.Modified:
		// What a press did stands even if its visitor has left or was slow.
		saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
		defer cancel()
		token, expiry, err := m.Commit(w.note(saving))
		if err != nil {
			w.s.log.ErrorContext(ctx, "session not saved", "request", middleware.GetReqID(ctx), "error", err)
			return
		}
		m.WriteSessionCookie(ctx, w.ResponseWriter, token, expiry)
	case scs.Destroyed:
		m.WriteSessionCookie(ctx, w.ResponseWriter, "", time.Time{})
	case scs.Unmodified:
	}
}

// note says about the session what its table keeps besides the data.
func (w *sessionWriter) note(ctx context.Context) context.Context {
	m := w.s.sessions
	n := store.SessionNote{Loaded: w.loaded != "" && m.Token(ctx) == w.loaded, StaffID: m.GetString(ctx, sessionStaff), Handle: m.GetString(ctx, sessionHandle)}
	if n.StaffID != "" {
		n.Device = device(w.r.UserAgent())
	}
	return store.NoteSession(ctx, n)
}

// visitor is the owner of this browser's holds; it is made at the first press.
// A form pressed twice by a browser that has no session yet comes twice without
// one, so the id is made of the form's key: both are the same visitor, and the
// second press gets the hold of the first instead of a refusal.
func (s *Server) visitor(r *http.Request, key string) string {
	if id := s.knownVisitor(r); id != "" {
		return id
	}
	id := rand.Text()
	if len(key) >= len(id) {
		id = oneWay("visitor", key)
	}
	s.sessions.Put(r.Context(), sessionVisitor, id)
	s.sessions.Put(r.Context(), sessionSeen, s.now().Unix())
	return id
}

// oneWay is what is stored of a secret that a form carries: neither the other
// values made of it nor the secret itself can be told from it.
func oneWay(purpose, secret string) string {
	if secret == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(purpose + "\x00" + secret))
	return hex.EncodeToString(sum[:16])
}

// knownVisitor is the visitor's id, empty before the first press.
func (s *Server) knownVisitor(r *http.Request) string {
	return s.sessions.GetString(r.Context(), sessionVisitor)
}

// customer is the actor of a press by link or by visitor.
func customer(r *http.Request) store.Actor {
	agent := strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return -1
		}
		return c
	}, strings.ToValidUTF8(r.UserAgent(), ""))
	if cut := []rune(agent); len(cut) > 200 {
		agent = string(cut[:200])
	}
	return store.Actor{Kind: store.Customer, Addr: middleware.GetClientIP(r.Context()), Agent: agent}
}

type tenantKey struct{}

// tenant is the venue whose path this is; false on pages of no venue.
func tenant(r *http.Request) (store.Tenant, bool) {
	t, ok := r.Context().Value(tenantKey{}).(store.Tenant)
	return t, ok
}

// venue is the tenant of a route behind withTenant.
func venue(r *http.Request) store.Tenant {
	t, ok := tenant(r)
	if !ok {
		panic("web: a page of a venue outside withTenant")
	}
	return t
}

// withTenant brings the tenant that the path names. Whoever names none gets the
// same page as for anything else that is absent.
func (s *Server) withTenant(next http.Handler) http.Handler {
	return s.handle(func(w http.ResponseWriter, r *http.Request) error {
		slug := chi.URLParam(r, "tenant")
		if !validSlug(slug) {
			return errNotFound
		}
		t, err := s.store.TenantBySlug(r.Context(), slug)
		if err != nil {
			return err
		}
		ctx := context.WithValue(r.Context(), tenantKey{}, t)
		r = r.WithContext(ctx)
		s.keepLanguage(r)
		next.ServeHTTP(w, r.WithContext(i18n.WithLang(ctx, s.language(r, t.Locale))))
		return nil
	})
}

func validSlug(slug string) bool {
	if slug == "" || len(slug) > 63 {
		return false
	}
	for _, c := range []byte(slug) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}

var languages = language.NewMatcher([]language.Tag{language.Japanese, language.English})

// addressLang is the language that the address names (?lang=), as search engines
// and a frame on a Japanese or English site do; at a press, that of the page with
// the form. Empty for none.
func addressLang(r *http.Request) string {
	at := r.URL
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		page, err := url.Parse(r.Referer())
		if err != nil {
			return ""
		}
		at = page
	}
	if lang := at.Query().Get(views.FieldLang); i18n.Known(lang) {
		return lang
	}
	return ""
}

// keepLanguage remembers at a press the language that the page had by its
// address: what follows, mails too, is in the language in which it was read.
func (s *Server) keepLanguage(r *http.Request) {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return
	}
	if lang := addressLang(r); lang != "" && s.sessions.GetString(r.Context(), sessionLang) != lang {
		s.sessions.Put(r.Context(), sessionLang, lang)
	}
}

// withoutLang is a path with query that names no language: where the switch
// comes back to, another one rules.
func withoutLang(path string) string {
	u, err := url.Parse(path)
	if err != nil || !u.Query().Has(views.FieldLang) {
		return path
	}
	q := u.Query()
	q.Del(views.FieldLang)
	u.RawQuery = q.Encode()
	return u.RequestURI()
}

// language chooses: what the address names, what was pressed, else what the
// browser prefers, else usual.
func (s *Server) language(r *http.Request, usual string) string {
	if lang := addressLang(r); lang != "" {
		return lang
	}
	if lang := s.sessions.GetString(r.Context(), sessionLang); i18n.Known(lang) {
		return lang
	}
	if lang := accepted(r); lang != "" {
		return lang
	}
	return usual
}

// accepted is the best language of Accept-Language; empty where the browser
// names none that we speak.
func accepted(r *http.Request) string {
	header := r.Header.Get("Accept-Language")
	if header == "" || len(header) > 500 {
		return ""
	}
	tags, _, err := language.ParseAcceptLanguage(header)
	if err != nil || len(tags) == 0 {
		return ""
	}
	_, index, confidence := languages.Match(tags...)
	if confidence == language.No {
		return ""
	}
	return i18n.Languages[index]
}

// inLanguageOf gives the request the language of the person whose page it is,
// unless another was chosen by press: a link in a mail opens in the language
// of the mail.
func (s *Server) inLanguageOf(r *http.Request, locale string) *http.Request {
	if i18n.Known(s.sessions.GetString(r.Context(), sessionLang)) || !i18n.Known(locale) {
		return r
	}
	return r.WithContext(i18n.WithLang(r.Context(), locale))
}

// withLanguage gives pages of no venue a language.
func (s *Server) withLanguage(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Accept-Language")
		next.ServeHTTP(w, r.WithContext(i18n.WithLang(r.Context(), s.language(r, i18n.JA))))
	})
}

// postLanguage keeps the chosen language and goes back to the page it was
// pressed on.
func (s *Server) postLanguage(w http.ResponseWriter, r *http.Request) error {
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	lang := f.text(views.FieldLang, 10)
	if f.bad() || !i18n.Known(lang) {
		return errBadRequest
	}
	t := venue(r)
	s.sessions.Put(r.Context(), sessionLang, lang)
	return s.see(w, r, localPath(f.text(views.FieldReturn, 2000), views.VenueURL(t.Slug)), "")
}
