package web

import (
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// invited is the invitation that the path opens, with its tenant. NotFound for
// what is no invitation; one that is over is found.
func (s *Server) invited(r *http.Request) (store.Tenant, store.Invitation, error) {
	slug := chi.URLParam(r, "tenant")
	if !validSlug(slug) {
		return store.Tenant{}, store.Invitation{}, store.NotFound
	}
	t, err := s.store.TenantBySlug(r.Context(), slug)
	if err != nil {
		return t, store.Invitation{}, err
	}
	i, err := s.store.InvitationByToken(r.Context(), t.ID, pathToken(r))
	return t, i, err
}

func (s *Server) deadInvitation(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	s.noteRefusal(r, store.NotFound)
	return s.notePage(w, r, http.StatusNotFound, views.StaffNotePage{
		State: "invite_dead", Title: i18n.T(ctx, "invite.dead"), Texts: []string{i18n.T(ctx, "invite.dead.text")},
		Link: views.Link{Text: i18n.T(ctx, "invite.dead.signin"), URL: views.StaffURL()},
	}, views.StaffSignInURL())
}

// getInvitation only shows what the link is for: scanners of mail open every link.
func (s *Server) getInvitation(w http.ResponseWriter, r *http.Request) error {
	return s.invitationPage(w, r, http.StatusOK, "", nil)
}

func (s *Server) invitationPage(w http.ResponseWriter, r *http.Request, status int, name string, errs formErrors) error {
	t, i, err := s.invited(r)
	if err == store.NotFound || err == nil && !i.Open {
		return s.deadInvitation(w, r)
	}
	if err != nil {
		return err
	}
	c, in := signedIn(r)
	if !in {
		r = s.inLanguageOf(r, i.Locale)
	}
	ctx := r.Context()
	_, err = s.store.StaffByEmail(ctx, i.Email)
	if err != nil && err != store.NotFound {
		return err
	}
	self := views.StaffInvitationURL(t.Slug, pathToken(r))
	v := views.StaffInvitePage{
		Page: s.plainStaffPage(r, i18n.T(ctx, "invite.title", "venue", t.Name), self), Venue: t.Name, Email: i.Email, Name: name, Errs: errs.in(ctx), ActionURL: self,
		SignInURL: views.StaffSignInURL() + "?" + url.Values{views.FieldNext: {self}}.Encode(), SignOutURL: views.StaffSignOutURL(),
		Until: i18n.T(ctx, "invite.until", "time", i18n.In(ctx).WithZone(i18n.In(ctx).DateTime(i.ExpiresAt, t.Location()), i.ExpiresAt, t.Location())),
	}
	v.Page.Secret = true
	role := roleWord(ctx, i.Role)
	if i.InvitedBy != "" {
		v.Lead = i18n.T(ctx, "invite.lead.by", "by", i.InvitedBy, "role", role)
	} else {
		v.Lead = i18n.T(ctx, "invite.lead", "role", role)
	}
	switch {
	case in && c.Email == i.Email:
		v.State, v.Member = "join", c.called()
	case in:
		v.State, v.Member = "other", c.called()
	case err == nil:
		v.State = "sign_in"
	default:
		v.State = "new"
	}
	return s.render(w, r, status, views.StaffInvite(v))
}

// postInvitation joins whoever is signed in and invited, or makes an account for
// somebody new. The link is used up by it.
func (s *Server) postInvitation(w http.ResponseWriter, r *http.Request) error {
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	t, i, err := s.invited(r)
	if err == store.NotFound || err == nil && !i.Open {
		return s.deadInvitation(w, r)
	}
	if err != nil {
		return err
	}
	c, in := signedIn(r)
	if !in {
		r = s.inLanguageOf(r, i.Locale)
	}
	ctx := r.Context()
	if in {
		err = s.store.AcceptInvitation(ctx, t.ID, pathToken(r), c.StaffMember)
	} else {
		return s.newColleague(w, r, t, i, f)
	}
	switch err {
	case nil:
		return s.see(w, r, views.StaffTodayURL(t.Slug), "invite.joined")
	case store.NotOwner:
		s.noteRefusal(r, store.NotOwner)
		return s.invitationPage(w, r, http.StatusConflict, "", nil)
	case store.NotFound, store.Over:
		return s.deadInvitation(w, r)
	}
	return err
}

func (s *Server) newColleague(w http.ResponseWriter, r *http.Request, t store.Tenant, i store.Invitation, f *form) error {
	ctx := r.Context()
	if _, err := s.store.StaffByEmail(ctx, i.Email); err != store.NotFound {
		if err != nil {
			return err
		}
		return s.invitationPage(w, r, http.StatusConflict, "", nil) // which asks to sign in
	}
	name := f.text(views.FieldName, longestName)
	password := f.newPassword(i.Email, name)
	if f.bad() {
		return s.invitationPage(w, r, http.StatusUnprocessableEntity, name, f.errs)
	}
	hash, err := HashPassword(ctx, password)
	if err != nil {
		return err
	}
	member, err := s.store.AcceptAsNew(ctx, t.ID, pathToken(r), store.NormalizeName(name), i18n.Lang(ctx), hash)
	switch err {
	case nil:
		if err := s.putFlash(r, "invite.joined"); err != nil {
			return err
		}
		return s.enter(w, r, member, views.StaffTodayURL(t.Slug))
	case store.Conflict:
		s.noteRefusal(r, store.Conflict)
		return s.invitationPage(w, r, http.StatusConflict, "", nil)
	case store.NotFound, store.Over:
		return s.deadInvitation(w, r)
	}
	return err
}
