package web

import (
	"net/http"
	"slices"

	"github.com/go-chi/chi/v5"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// keyForm is a key to be made, as typed.
type keyForm struct {
	name   string
	scopes []string
	errs   formErrors
	made   *views.StaffAPIKeyMade
}

func (s *Server) getAPIKeys(w http.ResponseWriter, r *http.Request) error {
	return s.keysPage(w, r, http.StatusOK, keyForm{scopes: []string{"read"}})
}

func (s *Server) keysPage(w http.ResponseWriter, r *http.Request, status int, f keyForm) error {
	ctx, t := r.Context(), venue(r)
	keys, err := s.store.APIKeys(ctx, t.ID)
	if err != nil {
		return err
	}
	v := views.StaffAPIKeysPage{Made: f.made, Form: views.StaffAPIKeyForm{ActionURL: views.StaffAPIKeysURL(t.Slug), Name: f.name, Errs: f.errs.in(ctx)}}
	word := func(scope string) string { return i18n.T(ctx, i18n.Key("apikeys.scope."+scope)) }
	for _, scope := range store.Scopes {
		v.Form.Scopes = append(v.Form.Scopes, views.StaffScope{
			Value: scope, Name: word(scope), Text: i18n.T(ctx, i18n.Key("apikeys.scope."+scope+".text")), Checked: slices.Contains(f.scopes, scope),
		})
	}
	now := s.now()
	for _, k := range keys {
		line := views.StaffAPIKey{
			ID: k.ID, Name: k.Name, Created: i18n.T(ctx, "apikeys.created", "time", momentAt(ctx, t, k.CreatedAt, now)), Used: i18n.T(ctx, "apikeys.used.never"),
		}
		for _, scope := range k.Scopes {
			line.Scopes = append(line.Scopes, word(scope))
		}
		if k.LastUsedAt != nil {
			line.Used = i18n.T(ctx, "apikeys.used", "time", momentAt(ctx, t, *k.LastUsedAt, now))
		}
		if k.RevokedAt != nil {
			line.Revoked = i18n.T(ctx, "apikeys.revoked", "time", momentAt(ctx, t, *k.RevokedAt, now))
		} else {
			line.RevokeURL = views.StaffAPIKeyRevokeURL(t.Slug, k.ID)
		}
		v.Keys = append(v.Keys, line)
	}
	if v.Page, v.Staff, err = s.staffPage(r, "settings", i18n.T(ctx, "apikeys.title"), views.StaffAPIKeysURL(t.Slug)); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffAPIKeys(v))
}

// postAPIKey makes a key and answers with the page that shows it, the only one
// that ever does: a key in the session or in an address could be read again.
func (s *Server) postAPIKey(w http.ResponseWriter, r *http.Request) error {
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	form := keyForm{name: f.text(views.FieldName, longestName), errs: f.errs}
	name := store.NormalizeName(form.name)
	if name == "" {
		f.errs.fault(views.FieldName, "apikeys.err.name")
	}
	for _, scope := range store.Scopes { // in their order, each once
		if slices.Contains(f.values[views.FieldScope], scope) {
			form.scopes = append(form.scopes, scope)
		}
	}
	unknown := slices.ContainsFunc(f.values[views.FieldScope], func(scope string) bool { return !slices.Contains(store.Scopes, scope) })
	if len(form.scopes) == 0 || unknown {
		f.errs.fault(views.FieldScope, "apikeys.err.scope")
	}
	if f.bad() {
		return s.keysPage(w, r, http.StatusUnprocessableEntity, form)
	}
	key, err := s.store.AddAPIKey(r.Context(), venue(r), name, form.scopes)
	if err != nil {
		return err
	}
	return s.keysPage(w, r, http.StatusOK, keyForm{scopes: []string{"read"}, made: &views.StaffAPIKeyMade{Name: name, Key: key}})
}

// keyParam reads the key of the path.
func (s *Server) keyParam(r *http.Request) (store.APIKeyInfo, error) {
	id := chi.URLParam(r, "key")
	if !store.ValidID(id) {
		return store.APIKeyInfo{}, store.NotFound
	}
	return s.store.APIKeyInfo(r.Context(), venue(r).ID, id)
}

func (s *Server) getRevokeAPIKey(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	k, err := s.keyParam(r)
	if err != nil {
		return err
	}
	if k.RevokedAt != nil {
		return s.see(w, r, views.StaffAPIKeysURL(t.Slug), "")
	}
	v := views.StaffAskPage{
		Title: i18n.T(ctx, "apikeys.revoke.title"), About: k.Name, Button: i18n.T(ctx, "apikeys.revoke.button"),
		ActionURL: views.StaffAPIKeyRevokeURL(t.Slug, k.ID), BackURL: views.StaffAPIKeysURL(t.Slug), BackText: i18n.T(ctx, "apikeys.title"),
		Lines: []views.StaffConsequence{
			{Kind: "warn", Text: i18n.T(ctx, "apikeys.revoke.effect.now")}, {Kind: "warn", Text: i18n.T(ctx, "apikeys.revoke.effect.final")},
		},
	}
	if v.Page, v.Staff, err = s.staffPage(r, "settings", v.Title, v.ActionURL); err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, views.StaffAsk(v))
}

func (s *Server) postRevokeAPIKey(w http.ResponseWriter, r *http.Request) error {
	k, err := s.keyParam(r)
	if err != nil {
		return err
	}
	if _, err := s.form(w, r); err != nil {
		return err
	}
	if err := s.store.RevokeAPIKey(r.Context(), venue(r).ID, k.ID); err != nil {
		return err
	}
	return s.see(w, r, views.StaffAPIKeysURL(venue(r).Slug), "apikeys.revoke.done")
}
