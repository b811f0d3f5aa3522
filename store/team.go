package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// Roles lists every role, the one that may do most first.
var Roles = []Role{RoleOwner, RoleManager, RoleDesk}

// TeamMember is a person of a tenant's team.
type TeamMember struct {
	ID           string
	Email        string
	Name         string
	Role         Role
	SignedInAt   *time.Time // last; nil: never
	SecondFactor bool
}

const teamSQL = `-- team
SELECT p.id::text, p.email, p.name, m.role, p.signed_in_at, p.totp_secret IS NOT NULL AS second_factor
FROM memberships m JOIN staff p ON p.id = m.staff_id
WHERE m.tenant_id = @tenant AND (@staff::text = '' OR m.staff_id = NULLIF(@staff, '')::uuid)
ORDER BY array_position(ARRAY['owner', 'manager', 'desk'], m.role), p.name, p.email LIMIT 500`

// Team lists who works for a tenant, owners first, at most 500.
func (s *Store) Team(ctx context.Context, tenant string) ([]TeamMember, error) {
	return list[TeamMember](ctx, s.db, teamSQL, pgx.StrictNamedArgs{"tenant": tenant, "staff": ""})
}

// TeamMember finds one of a tenant's team; NotFound if there is none.
func (s *Store) TeamMember(ctx context.Context, tenant, staffID string) (TeamMember, error) {
	return one[TeamMember](ctx, s.db, teamSQL, pgx.StrictNamedArgs{"tenant": tenant, "staff": staffID})
}

// A tenant always has an owner. Counting the owners does not do: two owners who
// remove each other at once would each count the other. So the owners' rows are
// locked, in one order; whoever comes second waits, and what it then gets are the
// owners that are left. A condition that is read again after the wait, such as
// the role, is asked inside of that list, never beside it.
const lockedOwners = `WITH owners AS MATERIALIZED (
	SELECT staff_id FROM memberships WHERE tenant_id = @tenant AND role = 'owner' ORDER BY staff_id FOR UPDATE
)`

const setRoleSQL = `-- set role
` + lockedOwners + `
UPDATE memberships m SET role = @role
WHERE m.tenant_id = @tenant AND m.staff_id = @staff AND (@role = 'owner' OR EXISTS (SELECT 1 FROM owners o WHERE o.staff_id <> @staff))`

const removeMemberSQL = `-- remove from the team
` + lockedOwners + `
DELETE FROM memberships m WHERE m.tenant_id = @tenant AND m.staff_id = @staff AND EXISTS (SELECT 1 FROM owners o WHERE o.staff_id <> @staff)`

// SetRole gives somebody of the team another role. Refusals: NotFound; LastOwner,
// who stays one.
func (s *Store) SetRole(ctx context.Context, tenant, staffID string, role Role) error {
	tag, err := s.db.Exec(ctx, setRoleSQL, pgx.StrictNamedArgs{"tenant": tenant, "staff": staffID, "role": role})
	return s.settle("team_role", s.whyNot(ctx, tag.RowsAffected(), err, tenant, staffID))
}

// RemoveMember takes somebody off the team. Their access to the tenant ends at
// once; where it was their last one, their sessions end too. Refusals: NotFound;
// LastOwner, who stays.
func (s *Store) RemoveMember(ctx context.Context, tenant, staffID string) error {
	tag, err := s.db.Exec(ctx, removeMemberSQL, pgx.StrictNamedArgs{"tenant": tenant, "staff": staffID})
	if err = s.whyNot(ctx, tag.RowsAffected(), err, tenant, staffID); err == nil {
		_, err = s.db.Exec(ctx, endIdleSessionsSQL, pgx.StrictNamedArgs{"staff": staffID})
	}
	return s.settle("team_remove", err)
}

const endIdleSessionsSQL = `-- end the sessions of somebody without a tenant
DELETE FROM sessions WHERE staff_id = @staff AND NOT EXISTS (SELECT 1 FROM memberships m WHERE m.staff_id = @staff)`

func (s *Store) whyNot(ctx context.Context, changed int64, err error, tenant, staffID string) error {
	if err != nil || changed > 0 {
		return err
	}
	if _, err := s.Membership(ctx, tenant, staffID); err != nil {
		return err
	}
	return LastOwner
}

// InvitationValid is how long the link of an invitation opens.
const InvitationValid = 7 * 24 * time.Hour

// Invitation asks somebody to join a tenant's team.
type Invitation struct {
	ID         string
	TenantID   string
	Email      string // as PersonKey has it
	Role       Role
	Locale     string
	InvitedBy  string // name of who asked, as it was then
	Generation int
	CreatedAt  time.Time // when the last mail was written
	ExpiresAt  time.Time
	Mail       string // state of the last mail: a MessageState, or empty
	Open       bool   // neither used nor revoked nor over
}

const invitationColumns = `i.id::text, i.tenant_id::text, i.email, i.role, i.locale, i.invited_by, i.generation, i.created_at, i.expires_at,
	i.accepted_at IS NULL AND i.revoked_at IS NULL AND i.expires_at > coalesce(@at::timestamptz, statement_timestamp()) AS open`

const invitationMail = `, coalesce((SELECT o.state FROM outbox o WHERE o.tenant_id = i.tenant_id AND o.dedupe_key = 'staff_invite/' || i.id || '/' || i.generation), '') AS mail`

// NewInvitation asks for an invitation.
type NewInvitation struct {
	TenantID  string
	Email     string
	Role      Role
	Locale    string // of the mail: "ja" or "en"
	InvitedBy string
}

// Whoever is invited again gets a new link; the old one opens nothing any more.
const inviteSQL = `-- invite
INSERT INTO staff_invitations AS i (tenant_id, id, email, role, locale, invited_by, link_hash, generation, created_at, expires_at)
SELECT @tenant, @id, @email, @role, @locale, @by, @hash, 1, n.now, n.now + @valid::interval FROM (SELECT coalesce(@at::timestamptz, statement_timestamp()) AS now) n
WHERE NOT EXISTS (SELECT 1 FROM memberships m JOIN staff p ON p.id = m.staff_id WHERE m.tenant_id = @tenant AND p.email = @email)
RETURNING ` + invitationColumns + invitationMail

const renewInvitationSQL = `-- renew an invitation
UPDATE staff_invitations i SET generation = i.generation + 1, link_hash = @hash, role = coalesce(NULLIF(@role, ''), i.role), locale = coalesce(NULLIF(@locale, ''), i.locale),
	created_at = (SELECT coalesce(@at::timestamptz, statement_timestamp())), expires_at = (SELECT coalesce(@at::timestamptz, statement_timestamp())) + @valid::interval
WHERE i.tenant_id = @tenant AND i.id = @id AND i.generation = @generation AND i.accepted_at IS NULL AND i.revoked_at IS NULL
RETURNING ` + invitationColumns + invitationMail

const openInvitationSQL = `-- open invitation of an address
SELECT ` + invitationColumns + invitationMail + ` FROM staff_invitations i
WHERE i.tenant_id = @tenant AND i.email = @email AND i.accepted_at IS NULL AND i.revoked_at IS NULL`

// Invite asks somebody to join, by mail. It does the same work whether the
// address belongs to somebody already or not. Somebody with an invitation gets a
// new link. AlreadyInTeam for who is in this team, ErrEmail for what is no address.
func (s *Store) Invite(ctx context.Context, n NewInvitation) (Invitation, error) {
	email, err := NormalizeEmail(n.Email)
	if err != nil {
		return Invitation{}, err
	}
	var out Invitation
	err = pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		pending, err := one[Invitation](ctx, tx, openInvitationSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": n.TenantID, "email": PersonKey(email)})
		if err == nil {
			out, err = s.renewInvitation(ctx, tx, pending, n.Role, n.Locale)
			return err
		}
		if !errors.Is(err, NotFound) {
			return err
		}
		id := newID()
		out, err = one[Invitation](ctx, tx, inviteSQL, pgx.StrictNamedArgs{
			"at": s.at, "tenant": n.TenantID, "id": id, "email": PersonKey(email), "role": n.Role, "locale": n.Locale, "by": n.InvitedBy,
			"hash": tokenHash(s.token(linkInvitation, n.TenantID, id, 1)), "valid": InvitationValid,
		})
		switch {
		case errors.Is(err, NotFound):
			return AlreadyInTeam
		case violated(err, "staff_invitations_open"):
			return Conflict // invited twice at once: the other one stands
		case err != nil:
			return err
		}
		return s.mailInvitation(ctx, tx, out)
	})
	return out, s.settle("invite", err)
}

func (s *Store) renewInvitation(ctx context.Context, tx pgx.Tx, i Invitation, role Role, locale string) (Invitation, error) {
	next, err := one[Invitation](ctx, tx, renewInvitationSQL, pgx.StrictNamedArgs{
		"at": s.at, "tenant": i.TenantID, "id": i.ID, "generation": i.Generation, "role": role, "locale": locale, "valid": InvitationValid,
		"hash": tokenHash(s.token(linkInvitation, i.TenantID, i.ID, i.Generation+1)),
	})
	if errors.Is(err, NotFound) {
		return Invitation{}, Conflict
	}
	if err != nil {
		return Invitation{}, err
	}
	return next, s.mailInvitation(ctx, tx, next)
}

func (s *Store) mailInvitation(ctx context.Context, tx pgx.Tx, i Invitation) error {
	return s.mailStaff(ctx, tx, i.TenantID, KindStaffInvite, i.Email, i.Locale, fmt.Sprintf("%s/%d", i.ID, i.Generation),
		map[string]any{"invitation": i.ID, "generation": i.Generation})
}

const invitationSQL = `-- invitation
SELECT ` + invitationColumns + invitationMail + ` FROM staff_invitations i WHERE i.tenant_id = @tenant AND i.id = @id`

// Invitation finds one invitation; NotFound if there is none.
func (s *Store) Invitation(ctx context.Context, tenant, id string) (Invitation, error) {
	return one[Invitation](ctx, s.db, invitationSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "id": id})
}

const invitationsSQL = `-- invitations
SELECT ` + invitationColumns + invitationMail + ` FROM staff_invitations i
WHERE i.tenant_id = @tenant AND i.accepted_at IS NULL AND i.revoked_at IS NULL ORDER BY i.created_at DESC, i.id LIMIT 200`

// Invitations lists those that were neither used nor revoked, newest first, at
// most 200, also those whose link is over.
func (s *Store) Invitations(ctx context.Context, tenant string) ([]Invitation, error) {
	return list[Invitation](ctx, s.db, invitationsSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant})
}

// ResendInvitation sends a new link; the old one opens nothing any more.
// NotFound; Over: used or revoked; Conflict: sent again at the same moment.
func (s *Store) ResendInvitation(ctx context.Context, tenant, id string) (Invitation, error) {
	var out Invitation
	err := pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		i, err := one[Invitation](ctx, tx, invitationSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "id": id})
		if err != nil {
			return err
		}
		out, err = s.renewInvitation(ctx, tx, i, "", "")
		return err
	})
	return out, s.settle("invite_again", err)
}

// The address is of no use any more: it goes.
const revokeInvitationSQL = `-- revoke an invitation
UPDATE staff_invitations SET revoked_at = (SELECT coalesce(@at::timestamptz, statement_timestamp())), email = '' WHERE tenant_id = @tenant AND id = @id AND accepted_at IS NULL AND revoked_at IS NULL`

// RevokeInvitation takes an invitation back; its link opens nothing any more.
// Pressing twice changes nothing more. NotFound; Over: it was used already.
func (s *Store) RevokeInvitation(ctx context.Context, tenant, id string) error {
	tag, err := s.db.Exec(ctx, revokeInvitationSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "id": id})
	if err == nil && tag.RowsAffected() == 0 {
		var accepted bool
		if accepted, err = s.invitationUsed(ctx, tenant, id); err == nil && accepted {
			err = Over
		}
	}
	return s.settle("invite_revoke", err)
}

const invitationUsedSQL = `-- whether an invitation was used
SELECT accepted_at IS NOT NULL FROM staff_invitations WHERE tenant_id = @tenant AND id = @id`

func (s *Store) invitationUsed(ctx context.Context, tenant, id string) (bool, error) {
	var used bool
	err := s.db.QueryRow(ctx, invitationUsedSQL, pgx.StrictNamedArgs{"tenant": tenant, "id": id}).Scan(&used)
	return used, classify(err)
}

const invitationByTokenSQL = `-- invitation by its link
SELECT ` + invitationColumns + invitationMail + ` FROM staff_invitations i WHERE i.tenant_id = @tenant AND i.link_hash = @hash`

// InvitationByToken finds the invitation that a link opens; NotFound if none.
// One that is not Open is found too, so that its page can say so.
func (s *Store) InvitationByToken(ctx context.Context, tenant, token string) (Invitation, error) {
	if !validToken(token) {
		return Invitation{}, NotFound
	}
	return one[Invitation](ctx, s.db, invitationByTokenSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "hash": tokenHash(token)})
}

// InvitationToken is the secret of an invitation's link.
func (s *Store) InvitationToken(i Invitation) string {
	return s.token(linkInvitation, i.TenantID, i.ID, i.Generation)
}

// Used up first, and by its own condition: of two presses at once the second
// waits for the row, and finds it used.
const acceptInvitationSQL = `-- accept an invitation
UPDATE staff_invitations i SET accepted_at = (SELECT coalesce(@at::timestamptz, statement_timestamp())), email = ''
FROM (SELECT email FROM staff_invitations WHERE tenant_id = @tenant AND link_hash = @hash) was
WHERE i.tenant_id = @tenant AND i.link_hash = @hash AND i.accepted_at IS NULL AND i.revoked_at IS NULL AND i.expires_at > (SELECT coalesce(@at::timestamptz, statement_timestamp()))
RETURNING was.email, i.role`

const joinTeamSQL = `-- join a team
INSERT INTO memberships (tenant_id, staff_id, role) VALUES (@tenant, @staff, @role) ON CONFLICT (tenant_id, staff_id) DO NOTHING`

const newPersonSQL = `-- new person
INSERT INTO staff (email, name, locale, password_hash) VALUES (@email, @name, @locale, @hash) ON CONFLICT (email) DO NOTHING RETURNING ` + staffColumns

// AcceptInvitation joins a person who has an account to the team that a link
// invites them to. The invitation has to be to their address. Refusals: NotFound;
// Over: used, revoked or past its time; NotOwner: to somebody else.
func (s *Store) AcceptInvitation(ctx context.Context, tenant, token string, who StaffMember) error {
	err := s.accept(ctx, tenant, token, func(tx pgx.Tx, email string, role Role) error {
		if email != who.Email {
			return NotOwner
		}
		_, err := tx.Exec(ctx, joinTeamSQL, pgx.StrictNamedArgs{"tenant": tenant, "staff": who.ID, "role": role})
		return err
	})
	return s.settle("invite_accept", err)
}

// AcceptAsNew makes an account for the invited address and joins it to the team.
// The name may be empty. Refusals as AcceptInvitation; Conflict: the address has
// an account meanwhile, whose owner has to sign in.
func (s *Store) AcceptAsNew(ctx context.Context, tenant, token, name, locale, hash string) (StaffMember, error) {
	var added StaffMember
	err := s.accept(ctx, tenant, token, func(tx pgx.Tx, email string, role Role) error {
		var err error
		added, err = one[StaffMember](ctx, tx, newPersonSQL, pgx.StrictNamedArgs{"email": email, "name": name, "locale": locale, "hash": hash})
		if errors.Is(err, NotFound) {
			return Conflict
		}
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, joinTeamSQL, pgx.StrictNamedArgs{"tenant": tenant, "staff": added.ID, "role": role})
		return err
	})
	return added, s.settle("invite_accept", err)
}

func (s *Store) accept(ctx context.Context, tenant, token string, join func(tx pgx.Tx, email string, role Role) error) error {
	if !validToken(token) {
		return NotFound
	}
	return pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		var email string
		var role Role
		err := tx.QueryRow(ctx, acceptInvitationSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "hash": tokenHash(token)}).Scan(&email, &role)
		if errors.Is(err, pgx.ErrNoRows) {
			_, err = one[Invitation](ctx, tx, invitationByTokenSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "hash": tokenHash(token)})
			if err == nil {
				err = Over
			}
			return err
		}
		if err != nil {
			return err
		}
		return join(tx, email, role)
	})
}

const staffMailSQL = `-- queue a mail to staff
INSERT INTO outbox (tenant_id, id, kind, recipient, locale, payload, next_attempt_at, dedupe_key, created_at)
SELECT @tenant, @id, @kind, @email, @locale, @payload::jsonb, n.now, @key, n.now
FROM (SELECT coalesce(@at::timestamptz, statement_timestamp()) AS now) n`

// mailStaff queues a mail to somebody of a team. It is the tenant's, as every
// message is; cause makes it one of its kind.
func (s *Store) mailStaff(ctx context.Context, tx pgx.Tx, tenant string, kind MessageKind, email, locale, cause string, payload map[string]any) error {
	text, err := json.Marshal(payload)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, staffMailSQL, pgx.StrictNamedArgs{
		"at": s.at, "tenant": tenant, "id": newID(), "kind": kind, "email": email, "locale": locale, "payload": string(text), "key": string(kind) + "/" + cause,
	})
	return err
}

// StaffLetter is what a mail to staff speaks of.
type StaffLetter struct {
	Name      string // of the reader; empty: unknown
	Email     string
	Role      Role      // KindStaffInvite
	InvitedBy string    // KindStaffInvite
	Token     string    // of the link; empty: there is none
	Until     time.Time // of the link
}

// ToStaff reports whether messages of the kind go to somebody of a team and may
// carry a link that opens an account. Nobody else may read such a link: the text
// that is kept is without it, and the pages of a venue do not show its file.
func (k MessageKind) ToStaff() bool {
	return slices.Contains([]MessageKind{KindStaffInvite, KindStaffReset, KindStaffPasswordChanged}, k)
}

// linkSecret is a token as it stands in the text of a mail.
var linkSecret = regexp.MustCompile(fmt.Sprintf(`\b[a-z2-7]{%d}\b`, tokenLength))

// textToKeep is the text of a sent message as it may be stored.
func (m Message) textToKeep(text string) string {
	if m.Kind.ToStaff() {
		return linkSecret.ReplaceAllString(text, "…")
	}
	return text
}

// staffLetter reads what a mail to staff speaks of, as late as possible.
func (s *Store) staffLetter(ctx context.Context, m Message) (*StaffLetter, bool, error) {
	text := func(name string) string { v, _ := m.Payload[name].(string); return v }
	generation, _ := m.Payload["generation"].(float64)
	if m.Kind == KindStaffInvite {
		i, err := s.Invitation(ctx, m.TenantID, text("invitation"))
		if err != nil {
			return nil, errors.Is(err, NotFound), ignoreNotFound(err)
		}
		return &StaffLetter{Email: i.Email, Role: i.Role, InvitedBy: i.InvitedBy, Token: s.InvitationToken(i), Until: i.ExpiresAt}, !i.Open || i.Generation != int(generation), nil
	}
	p, err := s.StaffByID(ctx, text("staff"))
	if err != nil {
		return nil, errors.Is(err, NotFound), ignoreNotFound(err)
	}
	l := &StaffLetter{Name: p.Name, Email: p.Email}
	if m.Kind != KindStaffReset {
		return l, false, nil
	}
	l.Token = s.token(linkReset, "", p.ID, int(generation))
	var known StaffMember
	if known, l.Until, err = s.resetByToken(ctx, l.Token); err != nil {
		return l, errors.Is(err, NotFound), ignoreNotFound(err)
	}
	return l, known.ID != p.ID, nil
}

func ignoreNotFound(err error) error {
	if errors.Is(err, NotFound) {
		return nil
	}
	return err
}

const addVenueSQL = `-- add a venue with its owner
WITH added AS (
	INSERT INTO tenants (slug, name, time_zone, locale, email, secret_fingerprint) VALUES (@slug, @name, @zone, @locale, @email, @fingerprint) RETURNING ` + tenantColumns + `
), owner AS (
	INSERT INTO memberships (tenant_id, staff_id, role) SELECT a.id::uuid, o.staff_id, 'owner' FROM added a, (SELECT DISTINCT staff_id FROM memberships WHERE staff_id = @staff AND role = 'owner') o RETURNING tenant_id
)
SELECT added.* FROM added, owner`

// AddVenue stores a new tenant with its first owner, who has to be an owner
// somewhere (NotOwner). Conflict: its slug is taken. The caller has checked slug,
// zone and language; a reserved slug or an unknown zone is an error.
func (s *Store) AddVenue(ctx context.Context, t Tenant, owner string) (Tenant, error) {
	if slices.Contains(ReservedSlugs, t.Slug) {
		return Tenant{}, fmt.Errorf("slug %q is reserved", t.Slug)
	}
	if _, err := time.LoadLocation(t.TimeZone); err != nil || t.TimeZone == "" {
		return Tenant{}, fmt.Errorf("unknown time zone %q", t.TimeZone)
	}
	var added Tenant
	err := pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		var err error
		added, err = one[Tenant](ctx, tx, addVenueSQL, pgx.StrictNamedArgs{
			"slug": t.Slug, "name": t.Name, "zone": t.TimeZone, "locale": t.Locale, "email": t.Email, "staff": owner, "fingerprint": SecretFingerprint(s.secret),
		})
		switch {
		case violated(err, "tenants_slug_key"):
			return Conflict
		case errors.Is(err, NotFound):
			return NotOwner // and the tenant goes with the transaction
		}
		return err
	})
	return added, s.settle("add_venue", err)
}

// APIKeyInfo is a key as a tenant's owners see it; the key itself can't be read again.
type APIKeyInfo struct {
	ID         string
	Name       string
	Scopes     []string
	CreatedAt  time.Time
	LastUsedAt *time.Time // to the minute
	RevokedAt  *time.Time
}

const apiKeysSQL = `-- API keys
SELECT id::text, name, scopes, created_at, last_used_at, revoked_at FROM api_keys
WHERE tenant_id = @tenant AND (@id::text = '' OR id = NULLIF(@id, '')::uuid) ORDER BY revoked_at IS NOT NULL, created_at DESC, id LIMIT 200`

// APIKeys lists a tenant's keys, those in force first, newest first, at most 200.
func (s *Store) APIKeys(ctx context.Context, tenant string) ([]APIKeyInfo, error) {
	return list[APIKeyInfo](ctx, s.db, apiKeysSQL, pgx.StrictNamedArgs{"tenant": tenant, "id": ""})
}

// APIKeyInfo finds one key of a tenant; NotFound if there is none.
func (s *Store) APIKeyInfo(ctx context.Context, tenant, id string) (APIKeyInfo, error) {
	return one[APIKeyInfo](ctx, s.db, apiKeysSQL, pgx.StrictNamedArgs{"tenant": tenant, "id": id})
}

const revokeAPIKeySQL = `-- revoke an API key
UPDATE api_keys SET revoked_at = coalesce(revoked_at, statement_timestamp()) WHERE tenant_id = @tenant AND id = @id`

// RevokeAPIKey ends a key at once; pressing twice changes nothing more. NotFound if there is none.
func (s *Store) RevokeAPIKey(ctx context.Context, tenant, id string) error {
	tag, err := s.db.Exec(ctx, revokeAPIKeySQL, pgx.StrictNamedArgs{"tenant": tenant, "id": id})
	if err == nil && tag.RowsAffected() == 0 {
		err = NotFound
	}
	return s.settle("api_key_revoke", err)
}
