package web

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// cacheForEver is for what has its content's hash in its address.
const cacheForEver = "public, max-age=31536000, immutable"

// getPicture serves the picture of a service under the hash of its bytes, to be
// kept for ever. Under any other there is none: a page that still names the
// picture before is not to show another in its place.
func (s *Server) getPicture(w http.ResponseWriter, r *http.Request) error {
	service, hash := chi.URLParam(r, "service"), r.URL.Query().Get("v")
	if store.NormalizeText(service+hash) != service+hash {
		return errNotFound // no text that a database takes
	}
	p, err := s.store.Picture(r.Context(), venue(r).ID, service, hash)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", p.MediaType)
	h.Set("Cache-Control", cacheForEver)
	h.Set("ETag", `"`+p.Hash+`"`)
	h.Del("Vary") // the same for everybody, in every language
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(p.Bytes))
	return nil
}

// picture is that of a service for a page; nil where it has none.
func picture(t store.Tenant, sv store.Service, lang string) *views.Picture {
	if sv.Picture == nil {
		return nil
	}
	alt := sv.PictureAlt.In(lang)
	if alt == "" {
		alt = sv.Name.In(lang)
	}
	return &views.Picture{
		URL: views.PictureURL(t.Slug, sv.Slug, sv.Picture.Hash), Alt: alt, Width: sv.Picture.Width, Height: sv.Picture.Height,
	}
}

// postPreferences takes what a waiting party wants to be told.
func (s *Server) postPreferences(w http.ResponseWriter, r *http.Request) error {
	f, e, err := s.entryPress(w, r)
	if err != nil {
		return err
	}
	tell := f.text(views.FieldTellVacancies, 10)
	if tell != "yes" && tell != "no" {
		f.errs.fault(views.FieldTellVacancies, "prefer.err")
	}
	if f.bad() {
		return s.entryPage(w, r, http.StatusUnprocessableEntity, "", f.errs)
	}
	changed, err := s.store.SetPreference(r.Context(), store.PreferenceRequest{TenantID: e.TenantID, ID: e.ID, TellVacancies: tell == "yes", Actor: customer(r)})
	if err != nil {
		return s.entryRefused(w, r, err)
	}
	if tell == "yes" {
		return s.toEntry(w, r, changed, "flash.prefer.on")
	}
	return s.toEntry(w, r, changed, "flash.prefer.off")
}

// preference is the choice of a waiting party, with what it means for this slot
// now; nil for somebody who gets no mail.
func preference(ctx context.Context, e store.Entry, slot store.Slot, orderUntil, action string, errs formErrors) *views.Preference {
	if e.Email == "" {
		return nil
	}
	p := &views.Preference{Action: action, Tells: e.TellVacancies, Error: errs.in(ctx)[views.FieldTellVacancies]}
	switch {
	case !slot.OrderRules:
		p.Text = i18n.T(ctx, "prefer.text.open")
	case orderUntil != "":
		p.Text = i18n.T(ctx, "prefer.text.order", "time", orderUntil)
	default:
		p.Text = i18n.T(ctx, "prefer.text.turn")
	}
	return p
}

// only are the faults of some fields: those of one form among several on a page.
func (e formErrors) only(fields ...string) formErrors {
	out := formErrors{}
	for _, field := range fields {
		if message, bad := e[field]; bad {
			out[field] = message
		}
	}
	return out
}
