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
	SecondFactor bool   // a code is asked for too
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

const staffColumns = `id::text, email, name, locale, password_hash, totp_secret IS NOT NULL AS second_factor`

// A person who exists keeps name and password: another tenant's owner must not change them.
const addStaffSQL = `-- add staff
WITH person AS (
	INSERT INTO staff AS p (email, name, locale, password_hash) VALUES (@email, @name, @locale, @hash)
	ON CONFLICT (email) DO UPDATE SET email = p.email
	RETURNING id, email, name, locale, password_hash, totp_secret
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

const upgradePasswordSQL = `-- upgrade password hash
UPDATE staff SET password_hash = @hash WHERE id = @id AND password_hash = @was`

// UpgradePasswordHash stores another hash of the same password, unless it has
// been changed since it was read.
func (s *Store) UpgradePasswordHash(ctx context.Context, id, was, hash string) error {
	_, err := s.db.Exec(ctx, upgradePasswordSQL, pgx.StrictNamedArgs{"id": id, "was": was, "hash": hash})
	return classify(err)
}

const signedInSQL = `-- signed in
UPDATE staff SET signed_in_at = (SELECT coalesce(@at::timestamptz, statement_timestamp())) WHERE id = @id`

// SignedIn notes that a person has signed in.
func (s *Store) SignedIn(ctx context.Context, id string) error {
	_, err := s.db.Exec(ctx, signedInSQL, pgx.StrictNamedArgs{"at": s.at, "id": id})
	return classify(err)
}

const setProfileSQL = `-- set name and language of staff
UPDATE staff SET name = @name, locale = @locale WHERE id = @id`

// SetStaffProfile stores a person's name, which may be empty, and language ("ja" or "en").
func (s *Store) SetStaffProfile(ctx context.Context, id, name, locale string) error {
	_, err := s.db.Exec(ctx, setProfileSQL, pgx.StrictNamedArgs{"id": id, "name": name, "locale": locale})
	return classify(err)
}

const changePasswordSQL = `-- change password
UPDATE staff SET password_hash = @hash, reset_hash = NULL, reset_until = NULL WHERE id = @id AND password_hash = @was
RETURNING ` + staffColumns + `, statement_timestamp() AS now`

// PasswordChange is a new password of somebody who is signed in.
type PasswordChange struct {
	StaffID string
	Was     string // the hash that the old password was compared with
	Hash    string
	Keep    string // handle of the session that goes on; all others end
	Locale  string // of the mail where the person has chosen no language
}

// ChangePassword stores a new password, ends the other sessions and an open link
// for a reset, and writes to the person. Conflict: it was changed meanwhile.
func (s *Store) ChangePassword(ctx context.Context, c PasswordChange) error {
	err := pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		p, err := one[passwordOwner](ctx, tx, changePasswordSQL, pgx.StrictNamedArgs{"id": c.StaffID, "was": c.Was, "hash": c.Hash})
		if errors.Is(err, NotFound) {
			return Conflict
		}
		if err != nil {
			return err
		}
		return s.passwordChanged(ctx, tx, p, c.Keep, c.Locale)
	})
	return s.settle("password_change", err)
}

// passwordOwner is whose password was changed.
type passwordOwner struct {
	StaffMember
	Now time.Time
}

func (s *Store) passwordChanged(ctx context.Context, tx pgx.Tx, p passwordOwner, keep, locale string) error {
	if _, err := endSessions(ctx, tx, p.ID, keep); err != nil {
		return err
	}
	memberships, err := list[Membership](ctx, tx, firstMembershipSQL, pgx.StrictNamedArgs{"staff": p.ID})
	if err != nil || len(memberships) == 0 {
		return err // nobody's mail: a message belongs to a tenant
	}
	if p.Locale != "" {
		locale = p.Locale
	}
	return s.mailStaff(ctx, tx, memberships[0].TenantID, KindStaffPasswordChanged, p.Email, locale, p.ID+"/"+newID(), map[string]any{"staff": p.ID})
}

const firstMembershipSQL = `-- first membership
SELECT m.tenant_id::text, t.slug, t.name, m.role FROM memberships m JOIN tenants t ON t.id = m.tenant_id WHERE m.staff_id = @staff ORDER BY m.created_at, m.tenant_id LIMIT 1`

// How long a link for a new password opens, and how many are sent to one person in that time.
const (
	ResetValid = time.Hour
	mostResets = 5
)

const resetPersonSQL = `-- whose password is to be reset
SELECT p.id::text, p.locale, p.reset_generation, m.tenant_id::text FROM staff p
CROSS JOIN LATERAL (SELECT tenant_id FROM memberships WHERE staff_id = p.id ORDER BY created_at, tenant_id LIMIT 1) m
WHERE p.email = @email`

const resetSQL = `-- send a link for a new password
WITH person AS (
	UPDATE staff SET reset_generation = @generation::int, reset_hash = @hash, reset_until = (SELECT coalesce(@at::timestamptz, statement_timestamp())) + @valid::interval
	WHERE id = @staff::text::uuid AND reset_generation = @generation::int - 1
	RETURNING email, reset_until - @valid::interval AS now
)
INSERT INTO outbox (tenant_id, id, kind, recipient, locale, payload, next_attempt_at, dedupe_key, created_at)
SELECT @tenant, @id, @kind, person.email, @locale, jsonb_build_object('staff', @staff::text, 'generation', @generation::int), person.now, @key, person.now FROM person`

// nobody is an id that no row has.
const nobody = "00000000-0000-0000-0000-000000000000"

// RequestReset sends a link for a new password to a person who works somewhere.
// It says nothing about whether there is one, and does the same work: for
// somebody unknown the same statements run, one of them writes in any case, and
// what a commit costs is paid by both. A newer link ends the older one. Too many
// for one address are left out in silence. ErrEmail for what is no address.
func (s *Store) RequestReset(ctx context.Context, typed, locale string) error {
	email, err := NormalizeEmail(typed)
	if err != nil {
		return err
	}
	key := PersonKey(email)
	err = pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		wait, err := s.hit(ctx, tx, "reset of "+key, mostResets, ResetValid)
		if err != nil {
			return err
		}
		id, chosen, generation, tenant := nobody, "", 0, nobody
		err = tx.QueryRow(ctx, resetPersonSQL, pgx.StrictNamedArgs{"email": key}).Scan(&id, &chosen, &generation, &tenant)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		if wait > 0 {
			id, tenant = nobody, nobody
		}
		if chosen != "" {
			locale = chosen
		}
		generation++
		_, err = tx.Exec(ctx, resetSQL, pgx.StrictNamedArgs{
			"at": s.at, "tenant": tenant, "staff": id, "generation": generation, "hash": tokenHash(s.token(linkReset, "", id, generation)), "valid": ResetValid,
			"id": newID(), "kind": KindStaffReset, "locale": locale, "key": fmt.Sprintf("%s/%s/%d", KindStaffReset, id, generation),
		})
		return err
	})
	return s.settle("reset_request", err)
}

const resetByTokenSQL = `-- whose password a link sets
SELECT ` + staffColumns + `, reset_until FROM staff WHERE reset_hash = @hash AND reset_until > coalesce(@at::timestamptz, statement_timestamp())`

// ResetByToken finds whose password a link sets anew; NotFound if it opens nothing (any more).
func (s *Store) ResetByToken(ctx context.Context, token string) (StaffMember, error) {
	p, _, err := s.resetByToken(ctx, token)
	return p, err
}

func (s *Store) resetByToken(ctx context.Context, token string) (StaffMember, time.Time, error) {
	if !validToken(token) {
		return StaffMember{}, time.Time{}, NotFound
	}
	type found struct {
		StaffMember
		ResetUntil time.Time
	}
	p, err := one[found](ctx, s.db, resetByTokenSQL, pgx.StrictNamedArgs{"at": s.at, "hash": tokenHash(token)})
	return p.StaffMember, p.ResetUntil, err
}

// The link is used up by the same statement that sets the password: of two
// presses at once the second finds none.
const resetPasswordSQL = `-- reset password
UPDATE staff SET password_hash = @new, reset_hash = NULL, reset_until = NULL
WHERE reset_hash = @hash AND reset_until > (SELECT coalesce(@at::timestamptz, statement_timestamp()))
RETURNING ` + staffColumns + `, statement_timestamp() AS now`

// ResetPassword sets a new password by a link, once, ends all sessions and
// writes to the person. Whoever has a second factor is still asked for it when
// they sign in. NotFound: the link opens nothing (any more).
func (s *Store) ResetPassword(ctx context.Context, token, hash, locale string) (StaffMember, error) {
	if !validToken(token) {
		return StaffMember{}, NotFound
	}
	var p passwordOwner
	err := pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		var err error
		p, err = one[passwordOwner](ctx, tx, resetPasswordSQL, pgx.StrictNamedArgs{"at": s.at, "hash": tokenHash(token), "new": hash})
		if err != nil {
			return err
		}
		return s.passwordChanged(ctx, tx, p, "", locale)
	})
	return p.StaffMember, s.settle("password_reset", err)
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
	return s.hit(ctx, s.db, key, limit, window)
}

func (s *Store) hit(ctx context.Context, db querier, key string, limit int, window time.Duration) (time.Duration, error) {
	var count int
	var left time.Duration
	err := db.QueryRow(ctx, hitSQL, pgx.StrictNamedArgs{
		"key": tokenEncoding.EncodeToString(s.mac("limit", key)[:16]), "window": window,
	}).Scan(&count, &left)
	if err != nil {
		return 0, readError(db, err)
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

const deleteTenantSQL = `-- delete tenant
DELETE FROM tenants WHERE id = @tenant`

// DeleteTenant deletes a tenant with all that is its own. Staff stay, without their role in it.
func (s *Store) DeleteTenant(ctx context.Context, tenant string) error {
	return pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		batch := &pgx.Batch{}
		batch.Queue("UPDATE waitlist_entries SET reservation_id = NULL, state = 'closed' WHERE tenant_id = $1 AND reservation_id IS NOT NULL", tenant)
		for _, table := range []string{"webhook_deliveries", "webhook_endpoints", "race_runs", "self_check_findings", "self_checks", "line_codes", "line_channels", "idempotency_answers", "outbox", "events", "reservations", "waitlist_entries", "slots", "schedules", "service_pictures", "services", "resources", "api_keys", "staff_invitations", "message_texts", "staff_notices", "staff_notice_cursors", "memberships", "closed_days", "setting_changes"} {
			batch.Queue("DELETE FROM "+table+" WHERE tenant_id = $1", tenant)
		}
		if err := tx.SendBatch(ctx, batch).Close(); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, deleteTenantSQL, pgx.StrictNamedArgs{"tenant": tenant})
		return err
	})
}
