package web

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// mayAddVenue says whether a person may add a venue: an owner of one, where the
// operator leaves it to owners.
func (s *Server) mayAddVenue(memberships []store.Membership) bool {
	return !s.cfg.OperatorAddsVenues && slices.ContainsFunc(memberships, func(m store.Membership) bool { return m.Role == store.RoleOwner })
}

// usualZones are proposed; any zone that the system knows is taken.
var usualZones = []string{
	"Asia/Tokyo", "Asia/Seoul", "Asia/Shanghai", "Asia/Taipei", "Asia/Hong_Kong", "Asia/Singapore", "Asia/Bangkok", "Asia/Kolkata", "Australia/Sydney", "Pacific/Auckland",
	"Pacific/Honolulu", "America/Los_Angeles", "America/Denver", "America/Chicago", "America/New_York", "America/Toronto", "America/Sao_Paulo",
	"Europe/London", "Europe/Dublin", "Europe/Lisbon", "Europe/Paris", "Europe/Berlin", "Europe/Madrid", "Europe/Rome", "Europe/Amsterdam", "Europe/Zurich", "Europe/Vienna",
	"Europe/Stockholm", "Europe/Helsinki", "Europe/Warsaw", "UTC",
}

type venueForm struct {
	name, slug, zone, lang string
	errs                   formErrors
}

func (s *Server) venueMemberships(r *http.Request) ([]store.Membership, error) {
	memberships, err := s.store.Memberships(r.Context(), me(r).ID)
	if err == nil && !s.mayAddVenue(memberships) {
		err = errForbidden
	}
	return memberships, err
}

func (s *Server) getNewVenue(w http.ResponseWriter, r *http.Request) error {
	memberships, err := s.venueMemberships(r)
	if err != nil {
		return err
	}
	loc, err := s.zoneOf(r.Context(), memberships)
	if err != nil {
		return err
	}
	return s.newVenuePage(w, r, http.StatusOK, venueForm{zone: loc.String(), lang: i18n.Lang(r.Context())})
}

func (s *Server) newVenuePage(w http.ResponseWriter, r *http.Request, status int, f venueForm) error {
	return s.render(w, r, status, views.StaffNewVenue(views.StaffNewVenuePage{
		Page:    s.plainStaffPage(r, i18n.T(r.Context(), "venue.new.title"), views.StaffNewVenueURL()),
		BackURL: views.StaffAccountURL(), ActionURL: views.StaffNewVenueURL(), Name: f.name, Slug: f.slug, Zone: f.zone, Zones: usualZones,
		Languages: languageOptions(f.lang), Prefix: s.cfg.PublicURL.Scheme + "://" + s.cfg.PublicURL.Host + "/", Errs: f.errs.in(r.Context()),
	}))
}

func (s *Server) postNewVenue(w http.ResponseWriter, r *http.Request) error {
	if _, err := s.venueMemberships(r); err != nil {
		return err
	}
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	v := venueForm{
		name: f.text(views.FieldName, longestName), slug: strings.ToLower(store.NormalizeText(f.text(views.FieldSlug, 63))),
		zone: f.text(views.FieldZone, 64), lang: f.text(views.FieldLang, 10), errs: f.errs,
	}
	name := store.NormalizeName(v.name)
	if name == "" {
		f.errs.fault(views.FieldName, "venue.new.err.name")
	}
	switch {
	case !validSlug(v.slug) || strings.HasPrefix(v.slug, "-") || strings.HasSuffix(v.slug, "-"):
		f.errs.fault(views.FieldSlug, "venue.new.err.slug")
	case slices.Contains(store.ReservedSlugs, v.slug):
		f.errs.fault(views.FieldSlug, "venue.new.err.slug.reserved")
	}
	if _, err := time.LoadLocation(v.zone); err != nil || v.zone == "" || v.zone == "Local" {
		f.errs.fault(views.FieldZone, "venue.new.err.zone")
	}
	if !i18n.Known(v.lang) {
		f.errs.fault(views.FieldLang, "venue.new.err.lang")
	}
	if f.bad() {
		return s.newVenuePage(w, r, http.StatusUnprocessableEntity, v)
	}
	t, err := s.store.AddVenue(r.Context(), store.Tenant{Slug: v.slug, Name: name, TimeZone: v.zone, Locale: v.lang, Email: me(r).Email}, me(r).ID)
	switch err {
	case nil:
		return s.see(w, r, views.StaffSettingsURL(t.Slug), "venue.new.done")
	case store.Conflict:
		s.noteRefusal(r, store.Conflict)
		f.errs.fault(views.FieldSlug, "venue.new.err.slug.taken")
		return s.newVenuePage(w, r, http.StatusConflict, v)
	case store.NotOwner:
		return errForbidden
	}
	return err
}
