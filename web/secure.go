package web

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/go-chi/httprate"

	"holdfast/store"
	"holdfast/views"
)

const (
	cachePrivate = "private, no-cache"
	cacheNever   = "no-store"
)

// bodyLimit is more than the longest form with every field full of four-byte
// characters, percent-encoded.
const bodyLimit = 64 << 10

// headers sets what every page has, and the nonce of its scripts.
func (s *Server) headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		nonce := rand.Text()
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'nonce-"+nonce+"' 'strict-dynamic'; style-src 'self'; img-src 'self' data:; "+
			"connect-src 'self'; frame-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
		// Not no-referrer: it would turn the Origin of a form into "null".
		h.Set("Referrer-Policy", "same-origin")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=()")
		h.Set("Cache-Control", cachePrivate)
		if s.secure {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		next.ServeHTTP(w, r.WithContext(templ.WithNonce(r.Context(), nonce)))
	})
}

// secretPath marks the pages that have a token in their path: nothing keeps them.
func secretPath(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", cacheNever)
		w.Header().Set("X-Robots-Tag", "noindex")
		next.ServeHTTP(w, r)
	})
}

// deadline bounds what a request may wait for. It is a deadline of its context
// and not a handler that writes an answer beside the handler's.
func deadline(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(context.WithValue(r.Context(), wholeKey{}, r.Context()), store.LongestWait)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// clientAddress finds out who asks: the peer itself, or what a trusted proxy
// says about it.
func (s *Server) clientAddress() func(http.Handler) http.Handler {
	if len(s.cfg.TrustedProxies) == 0 {
		return middleware.ClientIPFromRemoteAddr
	}
	prefixes := make([]string, len(s.cfg.TrustedProxies))
	for i, p := range s.cfg.TrustedProxies {
		prefixes[i] = p.String()
	}
	return middleware.ClientIPFromXFF(prefixes...)
}

// sameOrigin refuses forms that come from other sites.
func (s *Server) sameOrigin() (func(http.Handler) http.Handler, error) {
	p := http.NewCrossOriginProtection()
	// A proxy that rewrites Host would otherwise make our own pages foreign to
	// browsers that send Origin alone.
	if err := p.AddTrustedOrigin(s.cfg.PublicURL.Scheme + "://" + s.cfg.PublicURL.Host); err != nil {
		return nil, err
	}
	p.SetDenyHandler(s.handle(func(http.ResponseWriter, *http.Request) error { return errOrigin }))
	return p.Handler, nil
}

// What one address may send per minute. Many people can share an address (a
// fair, a company), so these keep a program away, not a crowd.
const (
	postsPerMinute     = 600
	linkMailsPerMinute = 10
)

// limit bounds the POSTs of one address per minute. Each limit counts by itself.
func (s *Server) limit(perMinute int) func(http.Handler) http.Handler {
	if !s.cfg.RateLimit {
		return func(next http.Handler) http.Handler { return next }
	}
	tooMany := s.handle(func(w http.ResponseWriter, r *http.Request) error {
		return s.errorPage(w, r, http.StatusTooManyRequests, views.ErrorTooMany)
	})
	limited := httprate.LimitBy(perMinute, time.Minute, func(r *http.Request) (string, error) {
		if addr := middleware.GetClientIP(r.Context()); addr != "" {
			return httprate.CanonicalizeIP(addr), nil
		}
		return r.RemoteAddr, nil
	}, httprate.WithLimitHandler(tooMany))
	return func(next http.Handler) http.Handler {
		counted := limited(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet || r.Method == http.MethodHead {
				next.ServeHTTP(w, r)
				return
			}
			counted.ServeHTTP(w, r)
		})
	}
}

// metrics lets programs on this machine and holders of the token in. It judges
// the peer of the connection, and takes a request that somebody passed on for
// what it is: one from elsewhere.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) {
	if s.cfg.MetricsHandler == nil {
		http.NotFound(w, r)
		return
	}
	if !s.mayReadMetrics(r) {
		http.Error(w, http.StatusText(http.StatusForbidden), http.StatusForbidden)
		return
	}
	s.cfg.MetricsHandler.ServeHTTP(w, r)
}

func (s *Server) mayReadMetrics(r *http.Request) bool {
	if given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok && s.cfg.MetricsToken != "" {
		return subtle.ConstantTimeCompare([]byte(given), []byte(s.cfg.MetricsToken)) == 1
	}
	if r.Header.Get("X-Forwarded-For") != "" || r.Header.Get("Forwarded") != "" {
		return false
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// localPath takes a path of ours from a form; anything else becomes usual.
func localPath(path, usual string) string {
	// Browsers take a backslash for a slash and leave out tabs and line breaks.
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.ContainsAny(path, "\\\r\n\t") {
		return usual
	}
	u, err := url.Parse(path)
	if err != nil {
		return usual
	}
	return u.RequestURI()
}

func seconds2duration(seconds int) time.Duration { return time.Duration(seconds) * time.Second }
