package web

import (
	"context"
	"net/http"
	"strings"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// changesShown is how many changes of settings a page lists.
const changesShown = 50

// getChanges lists who changed what in the settings.
func (s *Server) getChanges(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	c := i18n.In(ctx)
	before := r.URL.Query().Get("before")
	if !store.ValidID(before) {
		before = ""
	}
	changes, err := s.store.SettingChanges(ctx, t.ID, before, changesShown+1)
	if err != nil {
		return err
	}
	n, err := s.loadNames(ctx, t.ID)
	if err != nil {
		return err
	}
	var v views.StaffChangesPage
	if len(changes) > changesShown {
		changes = changes[:changesShown]
		v.OlderURL = views.StaffChangesBeforeURL(t.Slug, changes[changesShown-1].ID)
	}
	for _, change := range changes {
		what, to := changedWhat(ctx, t, n, change)
		v.Changes = append(v.Changes, views.StaffChangeRow{
			At: c.DateTime(change.At, t.Location()), Who: changedBy(ctx, change), What: what, URL: to, Fields: changedFields(ctx, change.Fields),
		})
	}
	self := views.StaffChangesURL(t.Slug)
	if before != "" {
		self = views.StaffChangesBeforeURL(t.Slug, before)
	}
	if v.Page, v.Staff, err = s.staffPage(r, "settings", i18n.T(ctx, "changes.title"), self); err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, views.StaffChanges(v))
}

// changedWhat names what was changed, with the page where it stands.
func changedWhat(ctx context.Context, t store.Tenant, n names, change store.SettingChange) (what, to string) {
	area := change.Area
	if key := i18n.Key("changes.area." + change.Area); i18n.Has(key) {
		area = i18n.T(ctx, key)
	}
	name := ""
	switch change.Area {
	case store.AreaService:
		for _, sv := range n.services {
			if sv.ID == change.Subject {
				name, to = sv.Name.In(i18n.Lang(ctx)), views.StaffServiceURL(t.Slug, sv.ID)
			}
		}
	case store.AreaResource:
		for _, res := range n.resources {
			if res.ID == change.Subject {
				name, to = res.Name.In(i18n.Lang(ctx)), views.StaffResourceURL(t.Slug, res.ID)
			}
		}
	case store.AreaClosed:
		name = strings.ReplaceAll(change.Subject, "/", " – ")
		if len(change.Subject) >= 4 {
			to = views.StaffClosedYearURL(t.Slug, change.Subject[:4])
		}
	}
	if name == "" {
		return area, to
	}
	return i18n.T(ctx, "changes.what", "area", area, "name", name), to
}

func changedFields(ctx context.Context, fields []string) string {
	var words []string
	for _, field := range fields {
		words = append(words, fieldLabel(ctx, field))
	}
	return strings.Join(words, i18n.T(ctx, "changes.and"))
}
