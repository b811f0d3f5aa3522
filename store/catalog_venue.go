package store

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
)

// VenueChange is what staff want the venue's own details to be. Policies and
// slug of Tenant don't count here.
type VenueChange struct {
	Tenant  Tenant
	Version int // that the form showed
	Staff   string
}

const lockTenantSQL = `-- lock tenant
SELECT ` + tenantColumns + ` FROM tenants WHERE id = @tenant FOR NO KEY UPDATE`

const slotsAheadSQL = `-- slots ahead
SELECT count(*)::int FROM slots WHERE tenant_id = @tenant AND status <> 'cancelled'
	AND starts_at > (SELECT coalesce(@at::timestamptz, statement_timestamp())) - interval '2 days' AND ends_at > (SELECT coalesce(@at::timestamptz, statement_timestamp()))`

// SlotsAhead counts a tenant's slots that are neither over nor cancelled.
func (s *Store) SlotsAhead(ctx context.Context, tenant string) (int, error) {
	return s.slotsAhead(ctx, s.db, tenant)
}

func (s *Store) slotsAhead(ctx context.Context, db querier, tenant string) (int, error) {
	var n int
	err := db.QueryRow(ctx, slotsAheadSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant}).Scan(&n)
	return n, readError(db, err)
}

const zoneHereSQL = `-- zone here
SELECT (now() AT TIME ZONE @zone::text) IS NOT NULL`

// KnownZone tells whether a time zone is known to this program and to the
// database, which both reckon with it.
func (s *Store) KnownZone(ctx context.Context, zone string) (bool, error) {
	if !knownZone(zone) {
		return false, nil
	}
	var known bool
	err := s.db.QueryRow(ctx, zoneHereSQL, pgx.StrictNamedArgs{"zone": zone}).Scan(&known)
	if code(err) == "22023" { // invalid_parameter_value
		return false, nil
	}
	return known, classify(err)
}

const saveVenueSQL = `-- save venue
UPDATE tenants SET name = @name, time_zone = @time_zone, locale = @locale, email = @email, phone = @phone, address = @address, map_url = @map_url,
	privacy_url = @privacy_url, legal_url = @legal_url, privacy_version = @privacy_version, embed_origins = @embed_origins, version = version + 1
WHERE id = @tenant RETURNING ` + tenantColumns

// SaveVenue changes a venue's own details. URLs are checked here once more,
// since they will stand in links. Errors: NotFound, Conflict, ErrNoName, ErrURL,
// ErrZone, ErrZoneFixed.
func (s *Store) SaveVenue(ctx context.Context, c VenueChange) (Tenant, error) {
	is := c.Tenant
	if is.Name == "" {
		return Tenant{}, ErrNoName
	}
	if is.Locale != "ja" && is.Locale != "en" {
		return Tenant{}, errNoLanguage
	}
	for _, u := range []string{is.MapURL, is.PrivacyURL, is.LegalURL} {
		if clean, err := NormalizeURL(u); err != nil || clean != u {
			return Tenant{}, ErrURL
		}
	}
	origins, err := normalizeOrigins(is.EmbedOrigins)
	if err != nil {
		return Tenant{}, err
	}
	known, err := s.KnownZone(ctx, is.TimeZone)
	if err != nil {
		return Tenant{}, err
	}
	if !known {
		return Tenant{}, ErrZone
	}
	var saved Tenant
	err = s.changeSetting(ctx, "save venue", SettingChange{TenantID: is.ID, StaffID: c.Staff, Area: AreaVenue}, func(ctx context.Context, tx pgx.Tx) (string, []string, error) {
		was, err := one[Tenant](ctx, tx, lockTenantSQL, pgx.StrictNamedArgs{"tenant": is.ID})
		if err != nil {
			return "", nil, err
		}
		if was.Version != c.Version {
			return "", nil, Conflict
		}
		var fields fieldList
		noteIf(&fields, "name", was.Name, is.Name)
		noteIf(&fields, "time_zone", was.TimeZone, is.TimeZone)
		noteIf(&fields, "locale", was.Locale, is.Locale)
		noteIf(&fields, "email", was.Email, is.Email)
		noteIf(&fields, "phone", was.Phone, is.Phone)
		noteIf(&fields, "address", was.Address, is.Address)
		noteIf(&fields, "map_url", was.MapURL, is.MapURL)
		noteIf(&fields, "privacy_url", was.PrivacyURL, is.PrivacyURL)
		noteIf(&fields, "legal_url", was.LegalURL, is.LegalURL)
		noteIf(&fields, "privacy_version", was.PrivacyVersion, is.PrivacyVersion)
		if !slices.Equal(was.EmbedOrigins, origins) {
			fields = append(fields, "embed_origins")
		}
		if saved = was; len(fields) == 0 {
			return "", nil, nil
		}
		if was.TimeZone != is.TimeZone {
			ahead, err := s.slotsAhead(ctx, tx, is.ID)
			if err != nil {
				return "", nil, err
			}
			if ahead > 0 {
				return "", nil, ErrZoneFixed
			}
		}
		saved, err = one[Tenant](ctx, tx, saveVenueSQL, pgx.StrictNamedArgs{
			"tenant": is.ID, "name": is.Name, "time_zone": is.TimeZone, "locale": is.Locale, "email": is.Email, "phone": is.Phone, "address": is.Address,
			"map_url": is.MapURL, "privacy_url": is.PrivacyURL, "legal_url": is.LegalURL, "privacy_version": is.PrivacyVersion, "embed_origins": origins,
		})
		return "", fields, err
	})
	return saved, err
}
