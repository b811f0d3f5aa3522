package web

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/go-chi/httprate"

	"holdfast/store"
)

// Config is what the pages need from outside. Store, Sessions and PublicURL
// are required, everything else has a working default.
type Config struct {
	Store    *store.Store
	Sessions scs.CtxStore
	// PublicURL is the address under which people reach the program: scheme and
	// host. Absolute links are made from it, never from a request's headers.
	PublicURL *url.URL
	// TrustedProxies may name the visitor's address in X-Forwarded-For; nobody else.
	TrustedProxies []netip.Prefix
	// RateLimit limits the POSTs of one address, per instance.
	RateLimit bool
	// OperatorAddsVenues keeps owners from adding further venues by themselves.
	OperatorAddsVenues bool
	Log                *slog.Logger
	// Now is the clock for "today" in calendars and for sessions, nothing else:
	// deadlines are the database's. Default: time.Now.
	Now func() time.Time
	// MetricsHandler serves /metrics; nil: there is none.
	MetricsHandler http.Handler
	// MetricsToken opens /metrics to peers that are not on this machine; empty: to none.
	MetricsToken string
	// Ready tells whether this instance can serve. Default: Store.Ready.
	Ready func(context.Context) error
	// MailDir is the mailbox folder that the staff pages show while there is no
	// mail server; empty: there is none.
	MailDir string
	// Home is the path to which / leads; empty: a small page of its own.
	Home string
	// MailFrom is the address that messages come from, told to those who wait for one.
	MailFrom string
	// Alarms is what the checks of the invariants found at a venue, by its id, and
	// have not seen mended; its day tells of it. It must answer at once. nil: nothing is told.
	Alarms func(tenant string) []store.Finding
	// Race tells the runner of the race lab that a run was asked for; nil: the
	// operator allows none from the pages of staff.
	Race func()
	// Line talks to LINE; nil: it is as if LINE did not answer.
	Line LineBot
	// WebhookPrivate lets webhooks have addresses on private networks, and http.
	WebhookPrivate bool
	// TestWebhook sends a test to a webhook, as asked by an actor, and gives its
	// number in the webhook's log; nil: none can be sent.
	TestWebhook func(ctx context.Context, tenant, id, actor string) (int64, error)
}

// Server answers the requests of customers and staff. It may be used by many
// goroutines.
type Server struct {
	cfg      Config
	store    *store.Store
	sessions *scs.SessionManager
	log      *slog.Logger
	now      func() time.Time
	secure   bool              // the public address is https
	broken   map[string][]byte // the page for our own faults, by language
	patterns map[string]bool   // every route, as "METHOD /pattern"
	handler  http.Handler
	// lineReplying bounds the answers in LINE that are on their way.
	lineReplying chan struct{}
	live         *hub
	apiRate      *httprate.RateLimiter
}

// New makes a server. Everything that can fail in it fails here: the page for
// our own faults is rendered now, so that it can't fail when it is needed.
func New(cfg Config) (*Server, error) {
	switch {
	case cfg.Store == nil:
		return nil, errors.New("web: no store")
	case cfg.Sessions == nil:
		return nil, errors.New("web: no session store")
	case cfg.PublicURL == nil || cfg.PublicURL.Host == "" || (cfg.PublicURL.Scheme != "http" && cfg.PublicURL.Scheme != "https"):
		return nil, errors.New("web: the public address must be an http or https URL")
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Ready == nil {
		cfg.Ready = cfg.Store.Ready
	}
	s := &Server{cfg: cfg, store: cfg.Store, log: cfg.Log, now: cfg.Now, secure: cfg.PublicURL.Scheme == "https"}
	s.sessions = s.newSessions(cfg.Sessions)
	perAddress := streamsPerAddress
	if !cfg.RateLimit {
		perAddress = 0
	}
	s.live = newHub(cfg.Store, cfg.Log, perAddress)
	s.apiRate = newAPIRate()
	s.lineReplying = make(chan struct{}, lineReplies)
	var err error
	if s.broken, err = prebuilt(); err != nil {
		return nil, err
	}
	if s.handler, err = s.routes(); err != nil {
		return nil, err
	}
	return s, nil
}

// Handler is the whole program as one handler.
func (s *Server) Handler() http.Handler { return s.handler }
