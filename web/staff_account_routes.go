package web

import (
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"

	"holdfast/views"
)

// accountRoutes are a person's own sign-in: password, sessions, second factor,
// invitations, further venues. They stand beside /staff/{tenant}; the router
// takes its fixed paths first, so a tenant that has one of these names from
// before they were reserved keeps its customer pages and loses these of staff.
func (s *Server) accountRoutes(r chi.Router) {
	r.Get("/sign-in/code", s.staff(s.getCode))
	r.Post("/sign-in/code", s.staff(s.postCode))
	r.Get("/reset", s.staff(s.getReset))
	r.With(s.limit(linkMailsPerMinute)).Post("/reset", s.staff(s.postReset))
	r.Get("/reset/sent", s.staff(s.getResetSent))
	r.Get("/reset/{token}", s.staff(s.getResetLink))
	r.Post("/reset/{token}", s.staff(s.postResetLink))
	r.Get("/invitations/{tenant}/{token}", s.staff(s.getInvitation))
	r.Post("/invitations/{tenant}/{token}", s.staff(s.postInvitation))
	r.Group(func(r chi.Router) {
		r.Use(s.withPerson)
		r.Get("/account", s.staff(s.getAccount))
		r.Post("/account", s.staff(s.postAccount))
		r.Get("/account/password", s.staff(s.getPassword))
		r.Post("/account/password", s.staff(s.postPassword))
		r.Get("/account/sessions", s.staff(s.getSessions))
		r.Post("/account/sessions/end", s.staff(s.postSessionEnd))
		r.Post("/account/sessions/end-others", s.staff(s.postSessionsEnd))
		r.Get("/account/second-factor", s.staff(s.getFactor))
		r.Post("/account/second-factor/start", s.staff(s.postFactorStart))
		r.Post("/account/second-factor/confirm", s.staff(s.postFactorConfirm))
		r.Post("/account/second-factor/recovery", s.staff(s.postFactorRecovery))
		r.Post("/account/second-factor/off", s.staff(s.postFactorOff))
		r.Get("/venues/new", s.staff(s.getNewVenue))
		r.Post("/venues/new", s.staff(s.postNewVenue))
	})
}

// withPerson lets only those in who are signed in, wherever they work.
func (s *Server) withPerson(next http.Handler) http.Handler {
	return s.staff(func(w http.ResponseWriter, r *http.Request) error {
		if _, ok := signedIn(r); ok {
			next.ServeHTTP(w, r)
			return nil
		}
		back := views.StaffAccountURL()
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			back = r.URL.RequestURI()
		}
		return s.see(w, r, views.StaffSignInURL()+"?"+url.Values{views.FieldNext: {back}}.Encode(), "")
	})
}
