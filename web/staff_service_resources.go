package web

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

func (s *Server) getResources(w http.ResponseWriter, r *http.Request) error {
	return s.resourcesPage(w, r, http.StatusOK, "")
}

func (s *Server) resourcesPage(w http.ResponseWriter, r *http.Request, status int, problem string) error {
	ctx, t := r.Context(), venue(r)
	resources, err := s.store.Resources(ctx, t.ID)
	if err != nil {
		return err
	}
	use, err := s.store.ResourceUse(ctx, t.ID)
	if err != nil {
		return err
	}
	v := views.StaffResourcesPage{Problem: problem, NewURL: views.StaffNewResourceURL(t.Slug)}
	if len(resources) >= store.MostResources {
		v.NewURL, v.Full = "", i18n.T(ctx, "service.err.full")
	}
	for _, res := range resources {
		other, missing := otherName(ctx, res.Name)
		row := views.StaffResourceRow{
			Name: res.Name.In(i18n.Lang(ctx)), Other: other, Missing: missing, Slug: res.Slug, Ahead: aheadWords(ctx, use[res.ID]), URL: views.StaffResourceURL(t.Slug, res.ID),
			Version: strconv.Itoa(res.Version),
		}
		if res.Active {
			row.RetireURL = views.StaffResourceRetireURL(t.Slug, res.ID)
			v.InUse = append(v.InUse, row)
		} else {
			row.RestoreURL = views.StaffResourceRestoreURL(t.Slug, res.ID)
			v.Retired = append(v.Retired, row)
		}
	}
	if v.Last, err = s.lastChange(r, store.AreaResource, ""); err != nil {
		return err
	}
	if v.Page, v.Staff, err = s.staffPage(r, "settings", i18n.T(ctx, "resource.list.title"), views.StaffResourcesURL(t.Slug)); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffResources(v))
}

func typedResource(res store.Resource) typedText {
	typed := typedText{views.FieldSlug: res.Slug}
	typed.put(views.FieldName, res.Name)
	return typed
}

var resourceFields = []string{"name_ja", "name_en", views.FieldSlug}

func decodeResource(f *form, taken map[string]bool) (store.Resource, typedText) {
	typed := typedText{}
	res := store.Resource{Name: f.readText(typed, views.FieldName, longestLabel, false)}
	if res.Name.In("") == "" {
		f.errs.fault(views.FieldName+"_"+i18n.JA, "service.err.name")
	}
	typed[views.FieldSlug] = f.text(views.FieldSlug, longestSlug)
	if res.Slug = typed[views.FieldSlug]; res.Slug == "" {
		res.Slug = freeSlug(res.Name, "resource", taken)
	}
	if !store.ValidSlug(res.Slug) {
		f.errs.fault(views.FieldSlug, "service.err.slug")
	}
	return res, typed
}

func (s *Server) takenResourceSlugs(r *http.Request) (map[string]bool, error) {
	resources, err := s.store.Resources(r.Context(), venue(r).ID)
	taken := map[string]bool{"new": true}
	for _, res := range resources {
		taken[res.Slug] = true
	}
	return taken, err
}

// resourcePage is the form of a resource; one without an id is new.
func (s *Server) resourcePage(w http.ResponseWriter, r *http.Request, status int, res store.Resource, p servicePress) error {
	ctx, t := r.Context(), venue(r)
	said := p.errs.in(ctx)
	if p.typed == nil {
		p.typed = typedResource(res)
	}
	slug := views.StaffFormField{Field: views.Field{
		Name: views.FieldSlug, Label: fieldLabel(ctx, views.FieldSlug), Hint: i18n.T(ctx, "resource.slug.hint"), Type: "text", Value: p.typed[views.FieldSlug], Error: said[views.FieldSlug],
		Max: longestSlug, Lang: i18n.EN, Optional: res.ID == "",
	}}
	v := views.StaffSettingPage{
		BackURL: views.StaffResourcesURL(t.Slug), BackText: i18n.T(ctx, "resource.list.title"), Title: i18n.T(ctx, "resource.add"),
		Form: views.StaffSettingForm{ActionURL: views.StaffNewResourceURL(t.Slug), Errs: said, Submit: i18n.T(ctx, "resource.add.submit"), BackURL: views.StaffResourcesURL(t.Slug), Stored: p.stored},
	}
	if res.ID != "" {
		use, err := s.store.ResourceUse(ctx, t.ID)
		if err != nil {
			return err
		}
		v.Title, v.Lead = res.Name.In(i18n.Lang(ctx)), aheadWords(ctx, use[res.ID])
		v.Form.ActionURL, v.Form.Submit, v.Form.Version = views.StaffResourceURL(t.Slug, res.ID), i18n.T(ctx, "service.save"), strconv.Itoa(res.Version)
		if use[res.ID].Ever {
			slug.Fixed, slug.Hint = res.Slug, i18n.T(ctx, "service.slug.fixed")
		}
		if v.Last, err = s.lastChange(r, store.AreaResource, res.ID); err != nil {
			return err
		}
	}
	v.Form.Groups = []views.StaffFormGroup{{
		Title: i18n.T(ctx, "resource.group"), Text: i18n.T(ctx, "resource.group.text"),
		Rows: [][]views.StaffFormField{pair(ctx, t, p.typed, p.errs, views.FieldName, longestLabel, false), {slug}},
	}}
	var err error
	if v.Page, v.Staff, err = s.staffPage(r, "settings", v.Title, v.Form.ActionURL); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffSetting(v))
}

func (s *Server) getNewResource(w http.ResponseWriter, r *http.Request) error {
	return s.resourcePage(w, r, http.StatusOK, store.Resource{}, servicePress{})
}

func (s *Server) postNewResource(w http.ResponseWriter, r *http.Request) error {
	t := venue(r)
	f, taken, err := formFor(s, w, r, s.takenResourceSlugs)
	if err != nil {
		return err
	}
	res, typed := decodeResource(f, taken)
	if !f.bad() {
		res.TenantID = t.ID
		_, err := s.store.AddNamedResource(r.Context(), res, me(r).ID)
		if err == nil {
			return s.see(w, r, views.StaffResourcesURL(t.Slug), "resource.added")
		}
		if !settingFault(f.errs, err) {
			return err
		}
	}
	return s.resourcePage(w, r, http.StatusUnprocessableEntity, store.Resource{}, servicePress{typed: typed, errs: f.errs})
}

func (s *Server) loadResource(r *http.Request) (store.Resource, error) {
	return s.store.Resource(r.Context(), venue(r).ID, chi.URLParam(r, "resource"))
}

func (s *Server) getResource(w http.ResponseWriter, r *http.Request) error {
	res, err := s.loadResource(r)
	if err != nil {
		return err
	}
	return s.resourcePage(w, r, http.StatusOK, res, servicePress{})
}

func (s *Server) postResource(w http.ResponseWriter, r *http.Request) error {
	t := venue(r)
	f, was, err := formFor(s, w, r, s.loadResource)
	if err != nil {
		return err
	}
	if !f.values.Has(views.FieldSlug) {
		f.values.Set(views.FieldSlug, was.Slug) // it stands there as text, once it is in use
	}
	taken, err := s.takenResourceSlugs(r)
	if err != nil {
		return err
	}
	res, typed := decodeResource(f, taken)
	if f.bad() {
		return s.resourcePage(w, r, http.StatusUnprocessableEntity, was, servicePress{typed: typed, errs: f.errs})
	}
	res.ID, res.TenantID = was.ID, t.ID
	_, err = s.store.SaveResource(r.Context(), res, shownVersion(f), me(r).ID)
	switch {
	case err == nil:
		return s.see(w, r, views.StaffResourcesURL(t.Slug), "service.saved")
	case errors.Is(err, store.Conflict):
		s.noteRefusal(r, store.Conflict)
		now, err := s.loadResource(r)
		if err != nil {
			return err
		}
		stored, err := s.storedNow(r, store.AreaResource, now.ID, resourceFields, typed, typedResource(now))
		if err != nil {
			return err
		}
		return s.resourcePage(w, r, http.StatusConflict, now, servicePress{typed: typed, stored: stored})
	case settingFault(f.errs, err):
		return s.resourcePage(w, r, http.StatusUnprocessableEntity, was, servicePress{typed: typed, errs: f.errs})
	}
	return err
}

func (s *Server) getResourceRetire(w http.ResponseWriter, r *http.Request) error {
	return s.resourceRetirePage(w, r, http.StatusOK, "")
}

func (s *Server) resourceRetirePage(w http.ResponseWriter, r *http.Request, status int, problem string) error {
	ctx, t := r.Context(), venue(r)
	res, err := s.loadResource(r)
	if err != nil {
		return err
	}
	use, err := s.store.ResourceUse(ctx, t.ID)
	if err != nil {
		return err
	}
	name := res.Name.In(i18n.Lang(ctx))
	v := views.StaffRetirePage{
		BackURL: views.StaffResourcesURL(t.Slug), BackText: i18n.T(ctx, "resource.list.title"), Title: i18n.T(ctx, "resource.retire.ask", "name", name),
		Version: strconv.Itoa(res.Version), Problem: problem, Submit: i18n.T(ctx, "resource.retire.submit"), Danger: true,
	}
	say := func(kind string, key i18n.Key, args ...any) {
		v.Consequence = append(v.Consequence, views.StaffConsequence{Kind: kind, Text: i18n.T(ctx, key, args...)})
	}
	u := use[res.ID]
	if u.Slots > 0 {
		say("warn", "resource.retire.slots", "n", u.Slots)
	}
	if u.Schedules > 0 {
		say("warn", "resource.retire.schedules", "n", u.Schedules)
	}
	switch {
	case !res.Active:
		v.Consequence = []views.StaffConsequence{{Kind: "open", Text: i18n.T(ctx, "resource.is_retired")}}
	case u.Slots == 0 && u.Schedules == 0:
		v.ActionURL = views.StaffResourceRetireURL(t.Slug, res.ID)
		say("open", "resource.retire.gone")
		say("kept", "resource.retire.past")
		say("open", "service.retire.back")
	}
	if v.Slots, v.SlotsMore, err = s.slotsAhead(r, "", res.ID); err != nil {
		return err
	}
	if v.Page, v.Staff, err = s.staffPage(r, "settings", v.Title, views.StaffResourceRetireURL(t.Slug, res.ID)); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffRetire(v))
}

func (s *Server) postResourceRetire(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	f, res, err := formFor(s, w, r, s.loadResource)
	if err != nil {
		return err
	}
	_, err = s.store.SetResourceActive(ctx, t.ID, res.ID, shownVersion(f), false, me(r).ID)
	switch {
	case errors.Is(err, store.Conflict):
		s.noteRefusal(r, store.Conflict)
		return s.resourceRetirePage(w, r, http.StatusConflict, i18n.T(ctx, "service.stale.retire"))
	case errors.Is(err, store.ErrInUse):
		return s.resourceRetirePage(w, r, http.StatusConflict, i18n.T(ctx, "resource.retire.in_use"))
	case err != nil:
		return err
	}
	return s.see(w, r, views.StaffResourcesURL(t.Slug), "resource.retired")
}

func (s *Server) postResourceRestore(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	f, res, err := formFor(s, w, r, s.loadResource)
	if err != nil {
		return err
	}
	_, err = s.store.SetResourceActive(ctx, t.ID, res.ID, shownVersion(f), true, me(r).ID)
	if errors.Is(err, store.Conflict) {
		s.noteRefusal(r, store.Conflict)
		return s.resourcesPage(w, r, http.StatusConflict, i18n.T(ctx, "service.stale.restore"))
	}
	if err != nil {
		return err
	}
	return s.see(w, r, views.StaffResourcesURL(t.Slug), "resource.restored")
}
