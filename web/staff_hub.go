package web

import (
	"net/http"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// navLink leads to a page family of the staff's menu, for those who may open it.
type navLink struct {
	section string
	url     func(tenant string) string
	needs   permission
}

// navLinks is the menu besides the day and the messages, in order.
var navLinks = []navLink{
	{"calendar", views.StaffCalendarURL, lookAtTheDay},
	{"checkin", views.StaffCheckinURL, serveCustomers},
	{"people", views.StaffPeopleURL, lookAtTheDay},
	{"insight", views.StaffInsightURL, seeNumbers},
	{"settings", views.StaffSettingsURL, lookAtTheDay},
}

func (s *Server) staffNav(t store.Tenant, c colleague) []views.StaffNavLink {
	var out []views.StaffNavLink
	for _, l := range navLinks {
		if c.can(l.needs) {
			out = append(out, views.StaffNavLink{Section: l.section, URL: l.url(t.Slug)})
		}
	}
	return out
}

// hubLink leads from the settings to one page; its texts are the keys
// settings.KEY.title and settings.KEY.text.
type hubLink struct {
	key   string
	url   func(tenant string) string
	needs permission
}

// settings is what stands on the settings page: groups, by the key settings.group.KEY.
var settings = []struct {
	key   string
	links []hubLink
}{
	{"offer", []hubLink{
		{"services", views.StaffServicesURL, lookAtTheDay},
		{"resources", views.StaffResourcesURL, setUp},
		{"closed", views.StaffClosedURL, setUp},
		{"schedules", views.StaffSchedulesURL, setUp},
	}},
	{"rules", []hubLink{
		{"policies", views.StaffPoliciesURL, setUp},
		{"rules", func(tenant string) string { return views.StaffRulesURL(tenant, "") }, lookAtTheDay},
		{"rules_customers", views.StaffRulesCustomersURL, lookAtTheDay},
		{"setup", views.StaffSetupURL, setUp},
	}},
	{"venue", []hubLink{
		{"venue", views.StaffVenueURL, runVenue},
		{"team", views.StaffTeamURL, runVenue},
		{"api-keys", views.StaffAPIKeysURL, runVenue},
		{"line", views.StaffLineURL, runVenue},
		{"webhooks", views.StaffWebhooksURL, runVenue},
		{"changes", views.StaffChangesURL, setUp},
		{"proof", views.StaffProofURL, lookAtTheDay},
	}},
	{"data", []hubLink{
		{"exports", views.StaffExportsURL, takeData},
		{"import", views.StaffImportURL, setUp},
		{"feed", views.StaffFeedURL, lookAtTheDay},
	}},
}

// getSettings leads to what is set up rarely, as far as this person may do it.
func (s *Server) getSettings(w http.ResponseWriter, r *http.Request) error {
	ctx, t, c := r.Context(), venue(r), me(r)
	v := views.StaffHubPage{Title: i18n.T(ctx, "staff.nav.settings")}
	var err error
	if v.Groups, err = s.startHere(r); err != nil {
		return err
	}
	starting := len(v.Groups) > 0
	for _, group := range settings {
		g := views.StaffHubGroup{Title: i18n.T(ctx, i18n.Key("settings.group."+group.key))}
		for _, l := range group.links {
			if c.can(l.needs) && !(starting && l.key == "setup") {
				g.Links = append(g.Links, views.StaffHubLink{
					Title: i18n.T(ctx, i18n.Key("settings."+l.key+".title")), Text: i18n.T(ctx, i18n.Key("settings."+l.key+".text")), URL: l.url(t.Slug),
				})
			}
		}
		if len(g.Links) > 0 {
			v.Groups = append(v.Groups, g)
		}
	}
	if v.Page, v.Staff, err = s.staffPage(r, "settings", v.Title, views.StaffSettingsURL(t.Slug)); err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, views.StaffHub(v))
}
