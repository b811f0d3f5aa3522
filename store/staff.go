package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Role is what a member of staff may do in a tenant.
type Role string

// The roles.
const (
	RoleOwner   Role = "owner"
	RoleManager Role = "manager"
	RoleDesk    Role = "desk"
)

// StaffMember is a person who signs in.
type StaffMember struct {
	ID           string
	Email        string
	Name         string
	Locale       string // "ja", "en", or empty: not chosen
	PasswordHash string // PHC string, argon2id
}

// Membership is a person's role in a tenant.
type Membership struct {
	TenantID string
	Slug     string
	Name     string // of the tenant
	Role     Role
}

// NewStaff is a person to be given a role in a tenant.
type NewStaff struct {
	TenantID     string
	Email        string
	Name         string
	Role         Role
	Locale       string
	PasswordHash string
}

const staffColumns = `id::text, email, name, locale, password_hash`

// A person who exists keeps name and password: another tenant's owner must not change them.
const addStaffSQL = `-- add staff
WITH person AS (
	INSERT INTO staff AS p (email, name, locale, password_hash) VALUES (@email, @name, @locale, @hash)
	ON CONFLICT (email) DO UPDATE SET email = p.email
	RETURNING id, email, name, locale, password_hash
), member AS (
	INSERT INTO memberships (tenant_id, staff_id, role) SELECT @tenant, id, @role FROM person
	ON CONFLICT (tenant_id, staff_id) DO UPDATE SET role = excluded.role
)
SELECT ` + staffColumns + ` FROM person`

// AddStaff gives a person a role in a tenant; one who is new is stored. The
// address is normalised here (ErrEmail).
func (s *Store) AddStaff(ctx context.Context, n NewStaff) (StaffMember, error) {
	email, err := NormalizeEmail(n.Email)
	if err != nil {
		return StaffMember{}, err
	}
	return one[StaffMember](ctx, s.db, addStaffSQL, pgx.StrictNamedArgs{
		"tenant": n.TenantID, "email": PersonKey(email), "name": n.Name, "locale": n.Locale, "role": n.Role, "hash": n.PasswordHash,
	})
}

const staffByEmailSQL = `-- staff by e-mail
SELECT ` + staffColumns + ` FROM staff WHERE email = @email`

// StaffByEmail finds a person by address, however it is typed; NotFound if none.
func (s *Store) StaffByEmail(ctx context.Context, typed string) (StaffMember, error) {
	email, err := NormalizeEmail(typed)
	if err != nil {
		return StaffMember{}, NotFound
	}
	return one[StaffMember](ctx, s.db, staffByEmailSQL, pgx.StrictNamedArgs{"email": PersonKey(email)})
}

const staffByIDSQL = `-- staff by id
SELECT ` + staffColumns + ` FROM staff WHERE id = @id`

// StaffByID finds a person by id; NotFound if none.
func (s *Store) StaffByID(ctx context.Context, id string) (StaffMember, error) {
	return one[StaffMember](ctx, s.db, staffByIDSQL, pgx.StrictNamedArgs{"id": id})
}

const setPasswordSQL = `-- set password
UPDATE staff SET password_hash = @hash WHERE id = @id`

// SetPasswordHash stores another password hash.
func (s *Store) SetPasswordHash(ctx context.Context, id, hash string) error {
	_, err := s.db.Exec(ctx, setPasswordSQL, pgx.StrictNamedArgs{"id": id, "hash": hash})
	return classify(err)
}

const setStaffLocaleSQL = `-- set language of staff
UPDATE staff SET locale = @locale WHERE id = @id`

// SetStaffLocale stores a person's language, "ja" or "en".
func (s *Store) SetStaffLocale(ctx context.Context, id, locale string) error {
	_, err := s.db.Exec(ctx, setStaffLocaleSQL, pgx.StrictNamedArgs{"id": id, "locale": locale})
	return classify(err)
}

const membershipsSQL = `-- memberships
SELECT m.tenant_id::text, t.slug, t.name, m.role FROM memberships m JOIN tenants t ON t.id = m.tenant_id WHERE m.staff_id = @staff ORDER BY t.name, t.slug`

// Memberships lists the tenants that a person works for.
func (s *Store) Memberships(ctx context.Context, staffID string) ([]Membership, error) {
	return list[Membership](ctx, s.db, membershipsSQL, pgx.StrictNamedArgs{"staff": staffID})
}

const membershipSQL = `-- membership
SELECT m.tenant_id::text, t.slug, t.name, m.role FROM memberships m JOIN tenants t ON t.id = m.tenant_id WHERE m.tenant_id = @tenant AND m.staff_id = @staff`

// Membership finds a person's role in a tenant; NotFound if they have none.
func (s *Store) Membership(ctx context.Context, tenant, staffID string) (Membership, error) {
	return one[Membership](ctx, s.db, membershipSQL, pgx.StrictNamedArgs{"tenant": tenant, "staff": staffID})
}

const hitSQL = `-- rate limit
INSERT INTO rate_limits AS l (key, opens_at, count) VALUES (@key, statement_timestamp(), 1)
ON CONFLICT (key) DO UPDATE SET
	count = CASE WHEN l.opens_at <= statement_timestamp() - @window::interval THEN 1 ELSE l.count + 1 END,
	opens_at = CASE WHEN l.opens_at <= statement_timestamp() - @window::interval THEN statement_timestamp() ELSE l.opens_at END
RETURNING count, opens_at + @window::interval - statement_timestamp()`

// Hit counts one try for the key, shared by all instances, and gives how long
// to wait when there were more than limit in the window; 0: go on. The key is
// stored as a hash: it may name an address or an e-mail.
func (s *Store) Hit(ctx context.Context, key string, limit int, window time.Duration) (time.Duration, error) {
	var count int
	var left time.Duration
	err := s.db.QueryRow(ctx, hitSQL, pgx.StrictNamedArgs{
		"key": tokenEncoding.EncodeToString(s.mac("limit", key)[:16]), "window": window,
	}).Scan(&count, &left)
	if err != nil {
		return 0, classify(err)
	}
	if count > limit {
		return max(left, time.Second), nil
	}
	return 0, nil
}

// Scopes are what an API key may do.
var Scopes = []string{"read", "book", "manage"}

const addAPIKeySQL = `-- add API key
INSERT INTO api_keys (tenant_id, name, hash, scopes) VALUES (@tenant, @name, @hash, @scopes)`

// AddAPIKey makes a key for a tenant and returns it, the only time that it can be read.
func (s *Store) AddAPIKey(ctx context.Context, tenant Tenant, name string, scopes []string) (string, error) {
	if strings.TrimSpace(name) == "" {
		return "", errors.New("an API key needs a name")
	}
	if len(scopes) == 0 {
		return "", fmt.Errorf("an API key needs a scope: %s", strings.Join(Scopes, ", "))
	}
	for _, scope := range scopes {
		if !slices.Contains(Scopes, scope) {
			return "", fmt.Errorf("unknown scope %q: only %s", scope, strings.Join(Scopes, ", "))
		}
	}
	key := "hf_" + tenant.Slug + "_" + rand.Text()
	sum := sha256.Sum256([]byte(key))
	_, err := s.db.Exec(ctx, addAPIKeySQL, pgx.StrictNamedArgs{"tenant": tenant.ID, "name": name, "hash": sum[:], "scopes": scopes})
	if err != nil {
		return "", classify(err)
	}
	return key, nil
}

// APIKey is a key in force.
type APIKey struct {
	ID       string
	TenantID string
	Scopes   []string
}

const apiKeySQL = `-- API key
UPDATE api_keys SET last_used_at = CASE WHEN last_used_at IS NULL OR last_used_at < statement_timestamp() - interval '1 minute' THEN statement_timestamp() ELSE last_used_at END
WHERE tenant_id = @tenant AND hash = @hash AND revoked_at IS NULL
RETURNING id::text, tenant_id::text, scopes`

// APIKeyByText finds the key of a tenant by its text; NotFound if there is
// none in force.
func (s *Store) APIKeyByText(ctx context.Context, tenant, key string) (APIKey, error) {
	sum := sha256.Sum256([]byte(key))
	return one[APIKey](ctx, s.db, apiKeySQL, pgx.StrictNamedArgs{"tenant": tenant, "hash": sum[:]})
}

func keepDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, text)
}

func escapeLike(text string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text)
}

const deleteTenantSQL = `-- delete tenant
DELETE FROM tenants WHERE id = @tenant`

// DeleteTenant deletes a tenant with all that is its own. Staff stay, without their role in it.
func (s *Store) DeleteTenant(ctx context.Context, tenant string) error {
	return pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		batch := &pgx.Batch{}
		batch.Queue("UPDATE waitlist_entries SET reservation_id = NULL, state = 'closed' WHERE tenant_id = $1 AND reservation_id IS NOT NULL", tenant)
		for _, table := range []string{"outbox", "events", "reservations", "waitlist_entries", "slots", "service_pictures", "services", "resources", "api_keys", "memberships", "closed_days"} {
			batch.Queue("DELETE FROM "+table+" WHERE tenant_id = $1", tenant)
		}
		if err := tx.SendBatch(ctx, batch).Close(); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, deleteTenantSQL, pgx.StrictNamedArgs{"tenant": tenant})
		return err
	})
}
