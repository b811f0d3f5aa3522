package web

import (
	"net/http"
	"strconv"
	"strings"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// feedGuides are the programs whose way to subscribe is told, each in so many steps.
var feedGuides = []struct {
	key   string
	steps int
}{{"google", 3}, {"apple", 3}, {"outlook", 3}}

// getFeed shows the address of somebody's calendar, narrowed as its query says.
// The page stands behind the sign-in and is kept by nobody, as all of staff.
func (s *Server) getFeed(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	token, err := s.store.CalendarFeed(ctx, t.ID, me(r).ID)
	if err != nil {
		return err
	}
	v := views.StaffFeedPage{ActionURL: views.StaffFeedURL(t.Slug), OffURL: views.StaffFeedOffURL(t.Slug)}
	if token != "" {
		n, err := s.loadNames(ctx, t.ID)
		if err != nil {
			return err
		}
		lang := i18n.Lang(ctx)
		service, resource := "", "" // slugs of what is chosen; what nobody has chooses all
		v.Services = []views.Option{{Text: i18n.T(ctx, "feed.all.services")}}
		for _, sv := range n.services {
			chosen := sv.Slug == r.URL.Query().Get("service")
			if chosen {
				service = sv.Slug
			}
			if sv.Active || chosen {
				v.Services = append(v.Services, views.Option{Value: sv.Slug, Text: sv.Name.In(lang), Selected: chosen})
			}
		}
		v.Resources = []views.Option{{Text: i18n.T(ctx, "feed.all.resources")}}
		for _, one := range n.resources {
			chosen := one.Slug == r.URL.Query().Get("resource")
			if chosen {
				resource = one.Slug
			}
			if one.Active || chosen {
				v.Resources = append(v.Resources, views.Option{Value: one.Slug, Text: one.Name.In(lang), Selected: chosen})
			}
		}
		address := views.CalendarFeedURL(t.Slug, token, service, resource)
		v.Address = s.absolute(address)
		v.OpenURL = "webcal://" + s.cfg.PublicURL.Host + address
		v.Range = i18n.T(ctx, "feed.range", "back", feedBack, "ahead", feedAhead, "most", strconv.Itoa(store.MostFeedSlots))
		for _, g := range feedGuides {
			key := "feed.guide." + g.key
			guide := views.StaffFeedGuide{Name: i18n.T(ctx, i18n.Key(key))}
			for i := range g.steps {
				guide.Steps = append(guide.Steps, i18n.T(ctx, i18n.Key(key+"."+strconv.Itoa(i+1))))
			}
			v.Guides = append(v.Guides, guide)
		}
	}
	self := v.ActionURL
	if q := r.URL.RawQuery; q != "" && token != "" {
		self = strings.Join([]string{self, q}, "?")
	}
	if v.Page, v.Staff, err = s.staffPage(r, "settings", i18n.T(ctx, "feed.title"), self); err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, views.StaffFeed(v))
}

// postFeed makes an address; the one before ends with it.
func (s *Server) postFeed(w http.ResponseWriter, r *http.Request) error {
	if _, err := s.form(w, r); err != nil {
		return err
	}
	if _, err := s.store.NewCalendarFeed(r.Context(), venue(r).ID, me(r).ID); err != nil {
		return err
	}
	return s.see(w, r, views.StaffFeedURL(venue(r).Slug), "feed.made")
}

func (s *Server) postFeedOff(w http.ResponseWriter, r *http.Request) error {
	if _, err := s.form(w, r); err != nil {
		return err
	}
	if err := s.store.EndCalendarFeed(r.Context(), venue(r).ID, me(r).ID); err != nil {
		return err
	}
	return s.see(w, r, views.StaffFeedURL(venue(r).Slug), "feed.ended")
}
