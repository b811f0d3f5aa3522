package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/skip2/go-qrcode"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// The longest texts of the venue's own details, in characters.
const (
	longestURL            = 500
	longestAddress        = 300
	longestPrivacyVersion = 40
	longestOrigins        = 2000
	mostOrigins           = 10
	longestZone           = 60
)

// zonesProposed are those that the browser proposes; any other of the time zone
// database can be typed.
var zonesProposed = []string{
	"Asia/Tokyo", "Asia/Seoul", "Asia/Taipei", "Asia/Shanghai", "Asia/Hong_Kong", "Asia/Singapore", "Asia/Bangkok", "Asia/Kolkata", "Australia/Sydney", "Pacific/Auckland",
	"Pacific/Honolulu", "America/Los_Angeles", "America/Denver", "America/Chicago", "America/New_York", "America/Sao_Paulo", "Europe/London", "Europe/Paris", "Europe/Berlin",
	"Europe/Madrid", "Europe/Rome", "Europe/Amsterdam", "Europe/Zurich", "UTC",
}

// venueFields are the fields of the form in order.
var venueFields = []string{
	views.FieldName, views.FieldLocale, views.FieldTimeZone, views.FieldEmail, views.FieldPhone, views.FieldAddress, views.FieldMapURL, views.FieldPrivacyURL,
	views.FieldPrivacy, views.FieldLegalURL, views.FieldOrigins,
}

func typedVenue(t store.Tenant) typedText {
	typed := typedText{
		views.FieldName: t.Name, views.FieldLocale: t.Locale, views.FieldTimeZone: t.TimeZone, views.FieldEmail: t.Email, views.FieldPhone: "", views.FieldAddress: t.Address,
		views.FieldMapURL: t.MapURL, views.FieldPrivacyURL: t.PrivacyURL, views.FieldPrivacy: t.PrivacyVersion, views.FieldLegalURL: t.LegalURL,
		views.FieldOrigins: strings.Join(t.EmbedOrigins, "\n"),
	}
	if t.Phone != "" {
		typed[views.FieldPhone] = store.FormatPhone(t.Phone, region(t))
	}
	return typed
}

// decodeVenueDetails reads the form into what the venue is to be; was is what it
// is, and zoneKnown whether the time zone of the form is one.
func decodeVenueDetails(f *form, was store.Tenant, zoneKnown bool) (store.Tenant, typedText) {
	is, typed := was, typedText{}
	line := func(field string, longest int) string {
		typed[field] = f.text(field, longest)
		return store.NormalizeName(typed[field])
	}
	if is.Name = line(views.FieldName, longestLabel); is.Name == "" {
		f.errs.fault(views.FieldName, "venue_set.err.name")
	}
	if is.Locale = line(views.FieldLocale, 10); !i18n.Known(is.Locale) {
		f.errs.fault(views.FieldLocale, "venue_set.err.locale")
	}
	if is.TimeZone = line(views.FieldTimeZone, longestZone); !zoneKnown {
		f.errs.fault(views.FieldTimeZone, "venue_set.err.zone")
		is.TimeZone = was.TimeZone
	}
	var err error
	is.Email = ""
	if text := line(views.FieldEmail, longestEmail); text != "" {
		if is.Email, err = store.NormalizeEmail(text); err != nil {
			f.errs.fault(views.FieldEmail, "form.err.email")
		}
	}
	// As it is shown the number lacks its country, which goes by the zone: one that
	// was left as it is must not become another when the zone changes.
	if text := line(views.FieldPhone, longestPhone); text == "" {
		is.Phone = ""
	} else if text != typedVenue(was)[views.FieldPhone] {
		if is.Phone, err = store.NormalizePhone(text, region(is)); err != nil {
			f.errs.fault(views.FieldPhone, "form.err.phone")
		}
	}
	typed[views.FieldAddress] = f.lines(views.FieldAddress, longestAddress)
	is.Address = store.NormalizeLines(typed[views.FieldAddress])
	for _, u := range []struct {
		field string
		into  *string
	}{{views.FieldMapURL, &is.MapURL}, {views.FieldPrivacyURL, &is.PrivacyURL}, {views.FieldLegalURL, &is.LegalURL}} {
		if *u.into, err = store.NormalizeURL(line(u.field, longestURL)); err != nil {
			f.errs.fault(u.field, "venue_set.err.url")
		}
	}
	is.PrivacyVersion = line(views.FieldPrivacy, longestPrivacyVersion)
	typed[views.FieldOrigins] = f.lines(views.FieldOrigins, longestOrigins)
	is.EmbedOrigins = []string{}
	for _, origin := range strings.Fields(typed[views.FieldOrigins]) {
		normal, err := store.NormalizeOrigin(origin)
		if err != nil {
			f.errs.fault(views.FieldOrigins, "venue_set.err.origin")
			continue
		}
		is.EmbedOrigins = append(is.EmbedOrigins, normal)
	}
	if len(is.EmbedOrigins) > mostOrigins {
		f.errs.fault(views.FieldOrigins, "venue_set.err.origins", "n", mostOrigins)
	}
	return is, typed
}

func (s *Server) getVenueDetails(w http.ResponseWriter, r *http.Request) error {
	return s.venueDetailsPage(w, r, http.StatusOK, venue(r), servicePress{})
}

func (s *Server) venueDetailsPage(w http.ResponseWriter, r *http.Request, status int, t store.Tenant, p servicePress) error {
	ctx := r.Context()
	if p.typed == nil {
		p.typed = typedVenue(t)
	}
	ahead, err := s.store.SlotsAhead(ctx, t.ID)
	if err != nil {
		return err
	}
	code, err := qrcode.New(s.absolute(views.VenueURL(t.Slug)), qrcode.Medium)
	if err != nil {
		return fmt.Errorf("qr code: %w", err)
	}
	code.DisableBorder = true
	v := views.StaffVenuePage{
		StaffSettingPage: views.StaffSettingPage{
			BackURL: views.StaffSettingsURL(t.Slug), BackText: i18n.T(ctx, "staff.nav.settings"), Title: i18n.T(ctx, "venue_set.title"), Lead: i18n.T(ctx, "venue_set.lead"),
			Form: views.StaffSettingForm{
				ActionURL: views.StaffVenueURL(t.Slug), Version: strconv.Itoa(t.Version), Stored: p.stored, Errs: p.errs.in(ctx), Submit: i18n.T(ctx, "service.save"),
				BackURL: views.StaffSettingsURL(t.Slug), Groups: venueGroups(ctx, t, p.typed, p.errs, ahead),
			},
		},
		PublicURL: views.VenueURL(t.Slug), Public: s.plainAddress(views.VenueURL(t.Slug)), PosterURL: views.PosterURL(t.Slug), QR: code.Bitmap(),
	}
	if len(t.EmbedOrigins) > 0 {
		v.Snippet = s.snippet(t.Name, views.VenueFilterURL(t.Slug, views.VenueFilter{Lang: t.Locale, Embed: true}))
	}
	if v.Last, err = s.lastChange(r, store.AreaVenue, ""); err != nil {
		return err
	}
	if v.Page, v.Staff, err = s.staffPage(r, "settings", v.Title, views.StaffVenueURL(t.Slug)); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffVenueDetails(v))
}

func venueGroups(ctx context.Context, t store.Tenant, typed typedText, errs formErrors, ahead int) []views.StaffFormGroup {
	said := errs.in(ctx)
	text := func(field, kind string, longest int, hint i18n.Key, args ...any) views.StaffFormField {
		f := views.StaffFormField{Field: views.Field{Name: field, Label: fieldLabel(ctx, field), Type: kind, Value: typed[field], Error: said[field], Max: longest}}
		if hint != "" {
			f.Hint = i18n.T(ctx, hint, args...)
		}
		return f
	}
	name := text(views.FieldName, "text", longestLabel, "")
	name.Label, name.Required = i18n.T(ctx, "venue_set.name"), true
	locale := text(views.FieldLocale, "", 0, "venue_set.locale.hint")
	for _, lang := range i18n.Languages {
		locale.Options = append(locale.Options, views.Option{Value: lang, Text: i18n.T(ctx, i18n.Key("service.lang."+lang)), Selected: lang == typed[views.FieldLocale]})
	}
	zone := text(views.FieldTimeZone, "text", longestZone, "venue_set.zone.hint")
	if zone.Suggest = zonesProposed; ahead > 0 {
		zone.Hint = i18n.T(ctx, "venue_set.zone.fixed", "n", ahead)
	}
	return []views.StaffFormGroup{
		{Title: i18n.T(ctx, "venue_set.group.who"), Rows: [][]views.StaffFormField{{name}, {locale, zone}}},
		{Title: i18n.T(ctx, "venue_set.group.contact"), Text: i18n.T(ctx, "venue_set.group.contact.text"), Rows: [][]views.StaffFormField{
			{text(views.FieldPhone, "tel", longestPhone, "venue_set.phone.hint"), text(views.FieldEmail, "email", longestEmail, "venue_set.email.hint")},
			{text(views.FieldAddress, "textarea", longestAddress, "")},
			{text(views.FieldMapURL, "url", longestURL, "venue_set.map.hint")},
		}},
		{Title: i18n.T(ctx, "venue_set.group.law"), Text: i18n.T(ctx, "venue_set.group.law.text"), Rows: [][]views.StaffFormField{
			{text(views.FieldPrivacyURL, "url", longestURL, ""), text(views.FieldPrivacy, "text", longestPrivacyVersion, "venue_set.privacy.hint")},
			{text(views.FieldLegalURL, "url", longestURL, "venue_set.legal.hint")},
		}},
		{Title: i18n.T(ctx, "venue_set.group.site"), Text: i18n.T(ctx, "venue_set.group.site.text"), Rows: [][]views.StaffFormField{
			{text(views.FieldOrigins, "textarea", longestOrigins, "venue_set.origins.hint")},
		}},
	}
}

func (s *Server) postVenueDetails(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	zoneKnown, err := s.store.KnownZone(ctx, strings.TrimSpace(f.values.Get(views.FieldTimeZone)))
	if err != nil {
		return err
	}
	is, typed := decodeVenueDetails(f, t, zoneKnown)
	if f.bad() {
		return s.venueDetailsPage(w, r, http.StatusUnprocessableEntity, t, servicePress{typed: typed, errs: f.errs})
	}
	_, err = s.store.SaveVenue(ctx, store.VenueChange{Tenant: is, Version: shownVersion(f), Staff: me(r).ID})
	switch {
	case err == nil:
		return s.see(w, r, views.StaffVenueURL(t.Slug), "venue_set.saved")
	case errors.Is(err, store.Conflict):
		s.noteRefusal(r, store.Conflict)
		now, err := s.store.TenantByID(ctx, t.ID)
		if err != nil {
			return err
		}
		stored, err := s.storedNow(r, store.AreaVenue, "", venueFields, typed, typedVenue(now))
		if err != nil {
			return err
		}
		return s.venueDetailsPage(w, r, http.StatusConflict, now, servicePress{typed: typed, stored: stored})
	case errors.Is(err, store.ErrZone):
		f.errs.fault(views.FieldTimeZone, "venue_set.err.zone")
	case errors.Is(err, store.ErrZoneFixed):
		f.errs.fault(views.FieldTimeZone, "venue_set.err.zone_fixed")
	default:
		return err
	}
	return s.venueDetailsPage(w, r, http.StatusUnprocessableEntity, t, servicePress{typed: typed, errs: f.errs})
}
