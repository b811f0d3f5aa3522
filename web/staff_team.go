package web

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/go-chi/chi/v5"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// roleWord is a role in words.
func roleWord(ctx context.Context, role store.Role) string {
	return i18n.T(ctx, i18n.Key("staff.role."+string(role)))
}

func roleOptions(ctx context.Context, chosen store.Role) []views.Option {
	var out []views.Option
	for _, role := range store.Roles {
		out = append(out, views.Option{Value: string(role), Text: roleWord(ctx, role), Selected: role == chosen})
	}
	return out
}

// inviteForm is whom to invite, as typed.
type inviteForm struct {
	email, lang string
	role        store.Role
	errs        formErrors
	problem     string // of another form of the page
}

func (s *Server) getTeam(w http.ResponseWriter, r *http.Request) error {
	return s.teamPage(w, r, http.StatusOK, inviteForm{})
}

func (s *Server) teamPage(w http.ResponseWriter, r *http.Request, status int, f inviteForm) error {
	ctx, t, c := r.Context(), venue(r), me(r)
	members, err := s.store.Team(ctx, t.ID)
	if err != nil {
		return err
	}
	invitations, err := s.store.Invitations(ctx, t.ID)
	if err != nil {
		return err
	}
	if f.role == "" {
		f.role = store.RoleDesk
	}
	if f.lang == "" {
		f.lang = t.Locale
	}
	now := s.now()
	v := views.StaffTeamPage{
		Problem: f.problem,
		Invite: views.StaffInviteForm{
			ActionURL: views.StaffTeamInviteURL(t.Slug), Email: f.email, Roles: roleOptions(ctx, f.role), Languages: languageOptions(f.lang), Errs: f.errs.in(ctx),
		},
	}
	owners := 0
	for _, m := range members {
		if m.Role == store.RoleOwner {
			owners++
		}
	}
	for _, m := range members {
		line := views.StaffTeamMember{
			ID: m.ID, Name: m.Name, Email: m.Email, Role: string(m.Role), You: m.ID == c.ID, SecondFactor: m.SecondFactor, SignedIn: i18n.T(ctx, "team.signed_in.never"),
		}
		if m.SignedInAt != nil {
			line.SignedIn = i18n.T(ctx, "team.signed_in", "time", momentAt(ctx, t, *m.SignedInAt, now))
		}
		if m.Role == store.RoleOwner && owners == 1 {
			line.Kept = i18n.T(ctx, "team.kept")
		} else {
			line.Roles, line.RoleURL, line.RemoveURL = roleOptions(ctx, m.Role), views.StaffTeamRoleURL(t.Slug, m.ID), views.StaffTeamRemoveURL(t.Slug, m.ID)
		}
		v.Members = append(v.Members, line)
	}
	for _, i := range invitations {
		line := views.StaffInvitation{
			ID: i.ID, Email: i.Email, Role: string(i.Role), Over: !i.Open, MailState: i.Mail,
			Sent:      i18n.T(ctx, "team.invitation.sent", "time", momentAt(ctx, t, i.CreatedAt, now)),
			Until:     i18n.T(ctx, "team.invitation.until", "time", i18n.In(ctx).DateTimeShort(i.ExpiresAt, t.Location())),
			ResendURL: views.StaffInvitationResendURL(t.Slug, i.ID), RevokeURL: views.StaffInvitationRevokeURL(t.Slug, i.ID),
		}
		if i.InvitedBy != "" {
			line.Sent = i18n.T(ctx, "team.invitation.sent.by", "time", momentAt(ctx, t, i.CreatedAt, now), "by", i.InvitedBy)
		}
		v.Invitations = append(v.Invitations, line)
	}
	for _, role := range store.Roles {
		v.Roles = append(v.Roles, views.StaffRoleText{Name: roleWord(ctx, role), Text: i18n.T(ctx, i18n.Key("team.may."+string(role)))})
	}
	if v.Page, v.Staff, err = s.staffPage(r, "settings", i18n.T(ctx, "team.title"), views.StaffTeamURL(t.Slug)); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffTeam(v))
}

// roleOf reads a role from a form.
func (f *form) role() store.Role {
	role := store.Role(f.text(views.FieldRole, 10))
	if !slices.Contains(store.Roles, role) {
		f.errs.fault(views.FieldRole, "team.err.role")
	}
	return role
}

// postInvite writes to somebody. The answer is the same whether they have an
// account or not; that they belong to this very team stands on the page anyway.
func (s *Server) postInvite(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	form := inviteForm{email: f.text(views.FieldEmail, longestEmail), role: f.role(), lang: f.text(views.FieldLang, 10), errs: f.errs}
	normal, err := store.NormalizeEmail(form.email)
	switch {
	case form.email == "":
		f.errs.fault(views.FieldEmail, "team.err.email")
	case err != nil:
		f.errs.fault(views.FieldEmail, "form.err.email")
	}
	if !i18n.Known(form.lang) {
		f.errs.fault(views.FieldLang, "team.err.lang")
	}
	if f.bad() {
		return s.teamPage(w, r, http.StatusUnprocessableEntity, form)
	}
	// An owner could fill a stranger's mailbox with our mail.
	retry, err := s.tries(r, "invite", t.ID+" "+store.PersonKey(normal))
	if err != nil {
		return err
	}
	if retry > 0 {
		form.problem = s.limited(w, r, retry)
		return s.teamPage(w, r, http.StatusTooManyRequests, form)
	}
	i, err := s.store.Invite(ctx, store.NewInvitation{TenantID: t.ID, Email: normal, Role: form.role, Locale: form.lang, InvitedBy: me(r).called()})
	switch {
	case err == nil && i.Generation > 1:
		return s.see(w, r, views.StaffTeamURL(t.Slug), "team.invite.again")
	case err == nil:
		return s.see(w, r, views.StaffTeamURL(t.Slug), "team.invite.done")
	case errors.Is(err, store.AlreadyInTeam):
		s.noteRefusal(r, store.AlreadyInTeam)
		f.errs.fault(views.FieldEmail, "staff.refused.already_in_team")
		return s.teamPage(w, r, http.StatusConflict, form)
	case errors.Is(err, store.Conflict): // pressed twice at once: the mail is on its way
		return s.see(w, r, views.StaffTeamURL(t.Slug), "team.invite.done")
	}
	return err
}

// memberParam reads the member of the path.
func (s *Server) memberParam(r *http.Request) (store.TeamMember, error) {
	id := chi.URLParam(r, "member")
	if !store.ValidID(id) {
		return store.TeamMember{}, store.NotFound
	}
	return s.store.TeamMember(r.Context(), venue(r).ID, id)
}

func (s *Server) postRole(w http.ResponseWriter, r *http.Request) error {
	t := venue(r)
	f, m, err := formFor(s, w, r, s.memberParam)
	if err != nil {
		return err
	}
	role := f.role()
	if f.bad() {
		return errBadRequest // a list of three, which only a broken page sends otherwise
	}
	switch err := s.store.SetRole(r.Context(), t.ID, m.ID, role); err {
	case nil:
	case store.LastOwner:
		s.noteRefusal(r, store.LastOwner)
		return s.teamPage(w, r, http.StatusConflict, inviteForm{problem: s.refusal(r, store.LastOwner)})
	default:
		return err
	}
	if m.ID == me(r).ID && role != store.RoleOwner {
		return s.see(w, r, views.StaffTodayURL(t.Slug), "team.role.done") // the team is theirs no more
	}
	return s.see(w, r, views.StaffTeamURL(t.Slug), "team.role.done")
}

func (s *Server) getRemoveMember(w http.ResponseWriter, r *http.Request) error {
	m, err := s.memberParam(r)
	if err != nil {
		return err
	}
	return s.removePage(w, r, http.StatusOK, m, "")
}

func (s *Server) removePage(w http.ResponseWriter, r *http.Request, status int, m store.TeamMember, problem string) error {
	ctx, t := r.Context(), venue(r)
	name := m.Name
	if name == "" {
		name = m.Email
	}
	v := views.StaffAskPage{
		Title: i18n.T(ctx, "team.remove.title", "name", name), About: m.Email, Problem: problem, Button: i18n.T(ctx, "team.remove.button"),
		ActionURL: views.StaffTeamRemoveURL(t.Slug, m.ID), BackURL: views.StaffTeamURL(t.Slug), BackText: i18n.T(ctx, "team.title"),
	}
	lines := []i18n.Key{"team.remove.effect.access", "team.remove.effect.kept", "team.remove.effect.elsewhere", "team.remove.effect.back"}
	if m.ID == me(r).ID {
		v.Title, lines = i18n.T(ctx, "team.remove.you"), []i18n.Key{"team.remove.effect.you", "team.remove.effect.kept"}
	}
	for i, key := range lines {
		kind := "kept"
		if i == 0 {
			kind = "warn"
		}
		v.Lines = append(v.Lines, views.StaffConsequence{Kind: kind, Text: i18n.T(ctx, key)})
	}
	var err error
	if v.Page, v.Staff, err = s.staffPage(r, "settings", v.Title, v.ActionURL); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffAsk(v))
}

func (s *Server) postRemoveMember(w http.ResponseWriter, r *http.Request) error {
	t := venue(r)
	m, err := s.memberParam(r)
	if err != nil {
		return err
	}
	if _, err := s.form(w, r); err != nil {
		return err
	}
	switch err := s.store.RemoveMember(r.Context(), t.ID, m.ID); err {
	case nil:
	case store.LastOwner:
		s.noteRefusal(r, store.LastOwner)
		return s.removePage(w, r, http.StatusConflict, m, s.refusal(r, store.LastOwner))
	default:
		return err
	}
	if m.ID == me(r).ID {
		return s.see(w, r, views.StaffURL(), "team.remove.done")
	}
	return s.see(w, r, views.StaffTeamURL(t.Slug), "team.remove.done")
}

// invitationParam reads the invitation of the path.
func (s *Server) invitationParam(r *http.Request) (store.Invitation, error) {
	id := chi.URLParam(r, "invitation")
	if !store.ValidID(id) {
		return store.Invitation{}, store.NotFound
	}
	return s.store.Invitation(r.Context(), venue(r).ID, id)
}

func (s *Server) postInvitationResend(w http.ResponseWriter, r *http.Request) error {
	t := venue(r)
	i, err := s.invitationParam(r)
	if err != nil {
		return err
	}
	if _, err := s.form(w, r); err != nil {
		return err
	}
	retry, err := s.tries(r, "invite", t.ID+" "+i.Email)
	if err != nil {
		return err
	}
	if retry > 0 {
		return s.teamPage(w, r, http.StatusTooManyRequests, inviteForm{problem: s.limited(w, r, retry)})
	}
	switch _, err := s.store.ResendInvitation(r.Context(), t.ID, i.ID); err {
	case nil:
		return s.see(w, r, views.StaffTeamURL(t.Slug), "team.resend.done")
	case store.Conflict:
		s.noteRefusal(r, store.Conflict)
		return s.teamPage(w, r, http.StatusConflict, inviteForm{problem: i18n.T(r.Context(), "team.resend.stale")})
	default:
		return err
	}
}

func (s *Server) postInvitationRevoke(w http.ResponseWriter, r *http.Request) error {
	t := venue(r)
	i, err := s.invitationParam(r)
	if err != nil {
		return err
	}
	if _, err := s.form(w, r); err != nil {
		return err
	}
	switch err := s.store.RevokeInvitation(r.Context(), t.ID, i.ID); err {
	case nil:
		return s.see(w, r, views.StaffTeamURL(t.Slug), "team.revoke.done")
	case store.Over:
		s.noteRefusal(r, store.Over)
		return s.teamPage(w, r, http.StatusConflict, inviteForm{problem: i18n.T(r.Context(), "team.revoke.used")})
	default:
		return err
	}
}
