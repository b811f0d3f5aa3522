package web

import (
	"net/http"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

func (s *Server) getFind(w http.ResponseWriter, r *http.Request) error {
	return s.findPage(w, r, http.StatusOK, "", nil)
}

func (s *Server) postFind(w http.ResponseWriter, r *http.Request) error {
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	typed := f.text(views.FieldEmail, longestEmail)
	address, err := store.NormalizeEmail(typed)
	switch {
	case typed == "":
		f.errs.fault(views.FieldEmail, "form.err.email_missing")
	case err != nil:
		f.errs.fault(views.FieldEmail, "form.err.email")
	}
	if f.bad() {
		return s.findPage(w, r, http.StatusUnprocessableEntity, typed, f.errs)
	}
	t := venue(r)
	// The store sends an address one such mail an hour, however often it is asked for.
	if err := s.store.SendMyLinks(r.Context(), t.ID, address, i18n.Lang(r.Context())); err != nil {
		return err
	}
	return s.see(w, r, views.MyReservationsURL(t.Slug)+"?sent=1", "")
}

func (s *Server) findPage(w http.ResponseWriter, r *http.Request, status int, typed string, errs formErrors) error {
	t := venue(r)
	self := views.MyReservationsURL(t.Slug)
	v := views.FindPage{
		Action: self, Email: typed, Errs: errs.in(r.Context()), MailFrom: s.cfg.MailFrom, VenueURL: views.VenueURL(t.Slug),
		Sent: errs == nil && r.URL.Query().Get("sent") == "1",
	}
	if v.Sent {
		self += "?sent=1"
	}
	v.Page = s.pageAt(r, self)
	return s.render(w, r, status, views.Find(v))
}
