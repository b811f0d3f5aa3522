package web

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"holdfast/static"
	"holdfast/views"
	"holdfast/views/i18n"
)

// routes is the list of everything that is answered.
func (s *Server) routes() (http.Handler, error) {
	sameOrigin, err := s.sameOrigin()
	if err != nil {
		return nil, err
	}
	root := chi.NewRouter()
	root.Use(requestID, s.record, s.headers, headAsGet)
	root.Method(http.MethodGet, static.Prefix+"*", static.Handler())
	root.Get("/healthz", s.healthz)
	root.Get("/readyz", s.readyz)
	root.Get("/metrics", s.metrics)
	s.apiRoutes(root)

	root.Group(func(r chi.Router) {
		r.Use(deadline, s.clientAddress(), s.session, s.withLanguage, sameOrigin, s.limit(postsPerMinute))
		r.Get("/", s.handle(s.getHome))
		s.staffRoutes(r)
		r.Route("/{tenant}", func(r chi.Router) {
			r.Use(s.withTenant)
			s.customerRoutes(r)
			r.NotFound(s.handle(s.notFound))
			r.MethodNotAllowed(s.methodNotAllowed(root))
		})
		// What no route matches still gets headers, language and a page.
		r.NotFound(s.handle(s.notFound))
		r.MethodNotAllowed(s.methodNotAllowed(root))
	})
	s.patterns = map[string]bool{}
	err = chi.Walk(root, func(method, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		s.patterns[method+" "+strings.TrimSuffix(pattern, "/")] = true
		return nil
	})
	return root, err
}

func (s *Server) customerRoutes(r chi.Router) {
	r.Get("/", s.handle(s.getVenue))
	r.Post("/language", s.handle(s.postLanguage))
	r.Get("/embed", s.handle(s.getEmbed))
	r.Get("/poster", s.handle(s.getPoster))
	r.Get("/slots/{slot}", s.handle(s.getSlot))
	r.Post("/slots/{slot}/hold", s.handle(s.postHold))
	r.Post("/slots/{slot}/waitlist", s.handle(s.postJoin))
	r.Get("/slots/{slot}/live", s.handle(s.getSlotLive))
	r.Get("/services/{service}/picture", s.handle(s.getPicture))
	r.Get("/my-reservations", s.handle(s.getFind))
	r.With(s.limit(linkMailsPerMinute)).Post("/my-reservations", s.handle(s.postFind))
	r.Route("/reservations/{token}", func(r chi.Router) {
		r.Use(secretPath)
		r.Get("/", s.handle(s.getReservation))
		r.Post("/confirm", s.handle(s.postConfirm))
		r.Post("/release", s.handle(s.postRelease))
		r.Post("/extend", s.handle(s.postExtend))
		r.Post("/cancel", s.handle(s.postCancel))
		r.Get("/move", s.handle(s.getMove))
		r.Post("/move", s.handle(s.postMove))
		r.Post("/party", s.handle(s.postParty))
		r.With(s.limit(linkMailsPerMinute)).Post("/contact", s.handle(s.postCorrection))
		r.Get("/calendar.ics", s.handle(s.getCalendar))
		r.Post("/waits", s.handle(s.postLeaveWaits))
		r.With(s.limit(lineCodesPerMinute)).Post("/line", s.handle(s.postReservationLine))
		r.Post("/line-stop", s.handle(s.postReservationLineStop))
	})
	r.With(secretPath).Get("/calendar/{token}", s.handle(s.getFeedICS))
	r.Route("/email-changes/{token}", func(r chi.Router) {
		r.Use(secretPath)
		r.Get("/", s.handle(s.getEmailChange))
		r.Post("/", s.handle(s.postEmailChange))
	})
	r.Route("/waitlist/{token}", func(r chi.Router) {
		r.Use(secretPath)
		r.Get("/", s.handle(s.getEntry))
		r.Get("/live", s.handle(s.getEntryLive))
		r.Post("/withdraw", s.handle(s.postWithdraw))
		r.Post("/claim", s.handle(s.postClaim))
		r.Post("/rejoin", s.handle(s.postRejoin))
		r.Post("/party", s.handle(s.postEntryParty))
		r.Post("/preferences", s.handle(s.postPreferences))
		r.With(s.limit(lineCodesPerMinute)).Post("/line", s.handle(s.postEntryLine))
		r.Post("/line-stop", s.handle(s.postEntryLineStop))
	})
	r.Route("/offers/{token}", func(r chi.Router) {
		r.Use(secretPath)
		r.Get("/", s.handle(s.getOffer))
		r.Post("/accept", s.handle(s.postAccept))
		r.Post("/decline", s.handle(s.postDecline))
	})
}

// requestID names the request in the log. What a client sends under that name
// is not taken: it would stand in our log.
func requestID(next http.Handler) http.Handler {
	named := middleware.RequestID(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del(middleware.RequestIDHeader)
		named.ServeHTTP(w, r)
	})
}

// headAsGet sends HEAD the way of GET; no route is for HEAD alone. chi's own
// middleware looks ahead, and takes the front page of a subrouter for a route
// that has every method.
func headAsGet(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			chi.RouteContext(r.Context()).RouteMethod = http.MethodGet
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) notFound(http.ResponseWriter, *http.Request) error { return errNotFound }

var methods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// methodNotAllowed says which methods a path has. Somebody who opens the address
// of a press, which stands in the address bar where a form came back with a
// fault, is led to the page that the press belongs to.
func (s *Server) methodNotAllowed(routes chi.Routes) http.HandlerFunc {
	return s.handle(func(w http.ResponseWriter, r *http.Request) error {
		page := r.URL.EscapedPath()
		page = page[:strings.LastIndexByte(page, '/')]
		if (r.Method == http.MethodGet || r.Method == http.MethodHead) && s.answers(routes, http.MethodGet, page) {
			return s.see(w, r, page, "")
		}
		var allowed []string
		for _, method := range methods {
			if s.answers(routes, method, r.URL.EscapedPath()) {
				allowed = append(allowed, method)
				if method == http.MethodGet {
					allowed = append(allowed, http.MethodHead)
				}
			}
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		return problem{http.StatusMethodNotAllowed, views.ErrorMethod}
	})
}

// answers reports whether a path has a route of the method. What the router
// finds is looked up in the list of all routes: for a path that it knows only up
// to a point it names that point, and for one that it does not know, nothing.
func (s *Server) answers(routes chi.Routes, method, path string) bool {
	found := routes.Find(chi.NewRouteContext(), method, path)
	return found != "" && s.patterns[method+" "+strings.TrimSuffix(found, "/")]
}

func (s *Server) getHome(w http.ResponseWriter, r *http.Request) error {
	if s.cfg.Home != "" {
		return s.see(w, r, s.cfg.Home, "")
	}
	ctx := r.Context()
	return s.render(w, r, http.StatusOK, views.Refused(views.RefusedPage{
		Page:   views.Page{},
		Banner: views.Banner{Kind: views.FlashInfo, Title: i18n.T(ctx, "home.title"), Text: i18n.T(ctx, "home.text")},
		Links:  []views.Link{{Text: i18n.T(ctx, "home.staff"), URL: views.StaffURL()}},
	}))
}

func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) { plain(w, http.StatusOK, "ok") }

// readyz asks whether this instance can serve. Why it can't is in the log: the
// answer goes to whoever asks.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	if err := s.cfg.Ready(ctx); err != nil {
		s.log.WarnContext(ctx, "not ready", "error", err)
		plain(w, http.StatusServiceUnavailable, "not ready")
		return
	}
	plain(w, http.StatusOK, "ready")
}

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", cacheNever)
	w.WriteHeader(status)
	// The prober may have left; there is nobody to tell.
	_, _ = w.Write([]byte(text + "\n"))
}
