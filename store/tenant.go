package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// Tenant is a business. Everything belongs to one.
type Tenant struct {
	ID         string
	Slug       string
	Name       string
	TimeZone   string // IANA
	Locale     string // "ja" or "en"
	Email      string
	Phone      string
	Address    string
	MapURL     string `db:"map_url"`
	PrivacyURL string `db:"privacy_url"`
	LegalURL   string `db:"legal_url"`
	// PrivacyVersion names the privacy notice in force; it stands with each consent.
	PrivacyVersion string `db:"privacy_version"`
	Overrides      []byte `db:"policies"` // what differs from DefaultPolicies, JSON
	// EmbedOrigins are the sites that may show the calendar in a frame.
	EmbedOrigins []string `db:"embed_origins"`
	// Version rises with each change that SaveVenue makes.
	Version int
}

// Location is the venue's time zone.
func (t Tenant) Location() *time.Location { return location(t.TimeZone) }

// location falls back to UTC for a zone that this machine does not know;
// AddTenant refuses such a zone, so only a moved database can have one.
func location(zone string) *time.Location {
	loc, err := time.LoadLocation(zone)
	if err != nil {
		return time.UTC
	}
	return loc
}

// Policies are the tenant's defaults for its services.
func (t Tenant) Policies() (Policies, error) { return DefaultPolicies().With(t.Overrides) }

// ReservedSlugs can't name a tenant: they are paths of the product.
var ReservedSlugs = []string{
	"staff", "api", "static", "healthz", "readyz", "metrics", "dev",
	"account", "invitations", "language", "reset", "sign-in", "sign-out", "signed-out", "venues",
} // under /staff

const tenantColumns = `id::text, slug, name, time_zone, locale, email, phone, address, map_url, privacy_url, legal_url, privacy_version, policies, embed_origins, version`

const addTenantSQL = `-- add tenant
INSERT INTO tenants (slug, name, time_zone, locale, email, phone, address, map_url, privacy_url, legal_url, privacy_version, policies, embed_origins, secret_fingerprint)
VALUES (@slug, @name, @time_zone, @locale, @email, @phone, @address, @map_url, @privacy_url, @legal_url, @privacy_version, @policies::jsonb, @embed_origins, @fingerprint)
RETURNING ` + tenantColumns

// AddTenant stores a new tenant. A reserved or taken slug, an unknown zone or
// locale is an error that says so.
func (s *Store) AddTenant(ctx context.Context, t Tenant) (Tenant, error) {
	if slices.Contains(ReservedSlugs, t.Slug) {
		return Tenant{}, fmt.Errorf("slug %q is reserved", t.Slug)
	}
	if !knownZone(t.TimeZone) {
		return Tenant{}, fmt.Errorf("unknown time zone %q", t.TimeZone)
	}
	if len(t.Overrides) == 0 {
		t.Overrides = []byte("{}")
	}
	if err := CheckOverrides(t.Overrides); err != nil {
		return Tenant{}, err
	}
	policies, err := t.Policies()
	if err != nil {
		return Tenant{}, err
	}
	if bad := policies.Problems(); len(bad) > 0 {
		return Tenant{}, fmt.Errorf("policies can't hold: %v", bad)
	}
	origins, err := normalizeOrigins(t.EmbedOrigins)
	if err != nil {
		return Tenant{}, err
	}
	rows, err := s.db.Query(ctx, addTenantSQL, pgx.StrictNamedArgs{
		"slug": t.Slug, "name": t.Name, "time_zone": t.TimeZone, "locale": t.Locale, "email": t.Email, "phone": t.Phone,
		"address": t.Address, "map_url": t.MapURL, "privacy_url": t.PrivacyURL, "legal_url": t.LegalURL, "privacy_version": t.PrivacyVersion,
		"policies": string(t.Overrides), "embed_origins": origins, "fingerprint": SecretFingerprint(s.secret),
	})
	if err != nil {
		return Tenant{}, fmt.Errorf("add tenant: %w", err)
	}
	added, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Tenant])
	if violated(err, "tenants_slug_key") {
		return Tenant{}, fmt.Errorf("slug %q is taken", t.Slug)
	}
	if err != nil {
		return Tenant{}, fmt.Errorf("add tenant: %w", err)
	}
	return added, nil
}

const tenantBySlugSQL = `-- tenant by slug
SELECT ` + tenantColumns + ` FROM tenants WHERE slug = @slug`

// TenantBySlug finds a tenant by the name in its paths; NotFound if there is none.
func (s *Store) TenantBySlug(ctx context.Context, slug string) (Tenant, error) {
	return one[Tenant](ctx, s.db, tenantBySlugSQL, pgx.StrictNamedArgs{"slug": slug})
}

const tenantByIDSQL = `-- tenant by id
SELECT ` + tenantColumns + ` FROM tenants WHERE id = @tenant`

// TenantByID finds a tenant by its id; NotFound if there is none.
func (s *Store) TenantByID(ctx context.Context, id string) (Tenant, error) {
	return one[Tenant](ctx, s.db, tenantByIDSQL, pgx.StrictNamedArgs{"tenant": id})
}

const fingerprintsSQL = `-- secret fingerprints
SELECT count(*) FROM tenants WHERE secret_fingerprint <> '' AND secret_fingerprint <> @fingerprint`

// Ready tells whether this instance can serve: the database answers, and the
// links of its tenants were made with this instance's secret.
func (s *Store) Ready(ctx context.Context) error {
	var others int
	if err := s.db.QueryRow(ctx, fingerprintsSQL, pgx.StrictNamedArgs{"fingerprint": SecretFingerprint(s.secret)}).Scan(&others); err != nil {
		return fmt.Errorf("ready: %w", err)
	}
	if others > 0 {
		return fmt.Errorf("the server secret differs from the one that made the links of %d tenants: set HOLDFAST_SECRET alike on all instances", others)
	}
	return nil
}

// Text is a text for customers in several languages, by locale.
type Text map[string]string

// In gives the text in the locale, else in any language that there is.
func (t Text) In(locale string) string {
	if text := t[locale]; text != "" {
		return text
	}
	for _, other := range []string{"ja", "en"} {
		if text := t[other]; text != "" {
			return text
		}
	}
	return ""
}

// Service is what is offered: a class, a fair, a consultation.
type Service struct {
	ID          string
	TenantID    string
	Slug        string
	Name        Text
	Description Text
	Price       Text
	Place       Text
	Bring       Text
	Duration    time.Duration
	Capacity    int
	Active      bool
	Questions   []Question   // asked in this order
	Overrides   []byte       `db:"policies"` // what differs from the tenant's policies, JSON
	Picture     *PictureInfo // nil: it has none
	PictureAlt  Text         `db:"picture_alt"` // what the picture shows; empty: the name says it
	// FormerQuestions are no longer asked; stored answers name them still.
	FormerQuestions []Question `db:"former_questions"`
	Position        int        // orders the services of a tenant; alike: the older one first
	Version         int        // rises with each change that staff make
}

// EverAsked are the questions in force and then those that were asked before:
// all that a stored answer can name.
func (sv Service) EverAsked() []Question { return slices.Concat(sv.Questions, sv.FormerQuestions) }

// Resource is who or what is occupied by a slot: a studio, a doctor.
type Resource struct {
	ID       string
	TenantID string
	Slug     string
	Name     Text
	Active   bool // false: retired, for no more slots
	Version  int  // rises with each change that staff make
}

const serviceColumns = `id::text, tenant_id::text, slug, name, description, price, place, bring, duration, capacity, active, questions, policies,
	(SELECT jsonb_build_object('hash', p.hash, 'width', p.width, 'height', p.height) FROM service_pictures p
		WHERE p.tenant_id = services.tenant_id AND p.service_id = services.id) AS picture,
	picture_alt, former_questions, position, version`

const addServiceSQL = `-- add service
INSERT INTO services (tenant_id, slug, name, description, price, place, bring, duration, capacity, active, questions, policies, position)
SELECT @tenant::uuid, @slug::text, @name::jsonb, @description::jsonb, @price::jsonb, @place::jsonb, @bring::jsonb, @duration::interval, @capacity::integer, @active::boolean,
	@questions::jsonb, @policies::jsonb, coalesce(max(position), 0) + 1
FROM services WHERE tenant_id = @tenant::uuid
RETURNING ` + serviceColumns

// AddService stores a new service of sv.TenantID.
func (s *Store) AddService(ctx context.Context, sv Service) (Service, error) {
	if len(sv.Overrides) == 0 {
		sv.Overrides = []byte("{}")
	}
	if err := CheckOverrides(sv.Overrides); err != nil {
		return Service{}, err
	}
	policies, err := s.policiesOf(ctx, sv)
	if err != nil {
		return Service{}, err
	}
	if bad := policies.Problems(); len(bad) > 0 {
		return Service{}, fmt.Errorf("policies can't hold: %v", bad)
	}
	if err := checkQuestions(sv.Questions); err != nil {
		return Service{}, err
	}
	questions, err := jsonQuestions(sv.Questions)
	if err != nil {
		return Service{}, err
	}
	return one[Service](ctx, s.db, addServiceSQL, pgx.StrictNamedArgs{
		"tenant": sv.TenantID, "slug": sv.Slug, "name": jsonText(sv.Name), "description": jsonText(sv.Description), "price": jsonText(sv.Price),
		"place": jsonText(sv.Place), "bring": jsonText(sv.Bring), "duration": sv.Duration, "capacity": sv.Capacity,
		"active": sv.Active, "questions": questions, "policies": string(sv.Overrides),
	})
}

func jsonText(t Text) string {
	if t == nil {
		return "{}"
	}
	b, err := json.Marshal(t)
	if err != nil {
		panic(err) // a map of strings always marshals
	}
	return string(b)
}

func (s *Store) policiesOf(ctx context.Context, sv Service) (Policies, error) {
	tenant, err := s.TenantByID(ctx, sv.TenantID)
	if err != nil {
		return Policies{}, err
	}
	return sv.Policies(tenant)
}

// Policies are those in force for the service: the product's defaults, changed
// by its tenant, changed by itself.
func (sv Service) Policies(tenant Tenant) (Policies, error) {
	base, err := tenant.Policies()
	if err != nil {
		return Policies{}, err
	}
	return base.With(sv.Overrides)
}

const servicesSQL = `-- services
SELECT ` + serviceColumns + ` FROM services WHERE tenant_id = @tenant ORDER BY position, created_at, id LIMIT 500`

// Services lists a tenant's services in their order, inactive ones too.
func (s *Store) Services(ctx context.Context, tenant string) ([]Service, error) {
	return list[Service](ctx, s.db, servicesSQL, pgx.StrictNamedArgs{"tenant": tenant})
}

const serviceSQL = `-- service
SELECT ` + serviceColumns + ` FROM services WHERE tenant_id = @tenant AND id = @service`

// Service finds one service; NotFound if there is none.
func (s *Store) Service(ctx context.Context, tenant, service string) (Service, error) {
	return one[Service](ctx, s.db, serviceSQL, pgx.StrictNamedArgs{"tenant": tenant, "service": service})
}

const resourceColumns = `id::text, tenant_id::text, slug, name, active, version`

const addResourceSQL = `-- add resource
INSERT INTO resources (tenant_id, slug, name) VALUES (@tenant, @slug, @name::jsonb) RETURNING ` + resourceColumns

// AddResource stores a new resource of r.TenantID.
func (s *Store) AddResource(ctx context.Context, r Resource) (Resource, error) {
	return one[Resource](ctx, s.db, addResourceSQL, pgx.StrictNamedArgs{"tenant": r.TenantID, "slug": r.Slug, "name": jsonText(r.Name)})
}

const resourcesSQL = `-- resources
SELECT ` + resourceColumns + ` FROM resources WHERE tenant_id = @tenant ORDER BY created_at, id LIMIT 500`

// Resources lists a tenant's resources, oldest first, retired ones too.
func (s *Store) Resources(ctx context.Context, tenant string) ([]Resource, error) {
	return list[Resource](ctx, s.db, resourcesSQL, pgx.StrictNamedArgs{"tenant": tenant})
}

// one runs a query that gives a row or none (NotFound).
func one[T any](ctx context.Context, db querier, sql string, args pgx.StrictNamedArgs) (T, error) {
	rows, err := db.Query(ctx, sql, args)
	if err == nil {
		var row T
		row, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[T])
		if err == nil {
			return row, nil
		}
	}
	var none T
	return none, readError(db, err)
}

// list runs a query that gives rows.
func list[T any](ctx context.Context, db querier, sql string, args pgx.StrictNamedArgs) ([]T, error) {
	rows, err := db.Query(ctx, sql, args)
	if err != nil {
		return nil, readError(db, err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[T])
	return found, readError(db, err)
}

// readError classifies what a read of its own met. Within a transaction a
// failure must stay one: an Outcome there would be committed.
func readError(db querier, err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return NotFound
	}
	if _, inside := db.(pgx.Tx); inside {
		return err
	}
	return classify(err)
}
