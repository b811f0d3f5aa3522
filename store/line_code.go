package store

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// LineCodeTime is how long a code works.
	LineCodeTime = 30 * time.Minute
	// lineCodeLength is how many signs a code has: 32^8 are 40 bits.
	lineCodeLength = 8
	// lineSkew is how far LINE's clock may be from the database's.
	lineSkew = time.Minute
)

// LineSubject is a booking or a waitlist entry whose page somebody has.
type LineSubject struct {
	TenantID string
	ID       string
	Email    string
	Proven   bool // the page was opened from a mail to the address
}

// LineStatus is what a customer's page says about LINE.
type LineStatus struct {
	BasicID string // of the venue's account
	Working bool   // messages can go there now
	Linked  bool   // messages about this booking or entry do
	All     bool   // and those about all else of the address
	Code    string // to be sent to the account; empty: none that works
	Until   time.Time
}

// Only where the address is proven is anything said of what is linked for it:
// whoever books with somebody's address is not to learn that.
const lineStatusSQL = `-- line on a customer's page
SELECT c.basic_id, c.broken_at IS NULL, coalesce(l.line_user <> '' AND (@proven::boolean OR NOT l.line_proven), false), coalesce(l.line_proven AND @proven::boolean, false), k.made_at, k.expires_at
FROM line_channels c
LEFT JOIN LATERAL (` + lineLink + `) l ON true
LEFT JOIN line_codes k ON k.tenant_id = @tenant AND k.subject_id = @id AND k.used_at IS NULL AND k.proven = @proven AND k.expires_at > coalesce(@at::timestamptz, statement_timestamp())
WHERE c.tenant_id = @tenant`

// LineStatus reads what the page of a booking or an entry says about LINE;
// NotFound: nothing, since the venue has no account or nobody is written to.
func (s *Store) LineStatus(ctx context.Context, sub LineSubject) (LineStatus, error) {
	if sub.Email == "" {
		return LineStatus{}, NotFound
	}
	person := ""
	if sub.Proven {
		person = PersonKey(sub.Email)
	}
	var st LineStatus
	var made, until *time.Time
	err := s.db.QueryRow(ctx, lineStatusSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": sub.TenantID, "id": sub.ID, "person": person, "proven": sub.Proven}).
		Scan(&st.BasicID, &st.Working, &st.Linked, &st.All, &made, &until)
	if err != nil {
		return LineStatus{}, classify(err)
	}
	if made != nil {
		st.Code, st.Until = s.lineCode(sub.TenantID, sub.ID, *made), *until
	}
	return st, nil
}

// lineCode is derived and not stored, as the secrets of links are: the row has
// only a hash under the server secret, and the page can show the code again.
func (s *Store) lineCode(tenant, subject string, made time.Time) string {
	b := s.mac("line code", tenant, subject, made.UTC().Format(time.RFC3339Nano))[:lineCodeLength]
	for i := range b {
		b[i] = numberAlphabet[b[i]&31]
	}
	return string(b)
}

func (s *Store) lineCodeHash(tenant, code string) []byte {
	return s.mac("line code hash", tenant, code)
}

const makeLineCodeSQL = `-- make line code
WITH old AS (
	DELETE FROM line_codes WHERE tenant_id = @tenant AND expires_at < @now::timestamptz - interval '24 hours' AND subject_id <> @id
)
INSERT INTO line_codes (tenant_id, subject_id, code_hash, proven, locale, made_at, expires_at)
SELECT @tenant, @id, @hash, @proven, @locale, @now, @now::timestamptz + @time::interval FROM line_channels c WHERE c.tenant_id = @tenant
ON CONFLICT (tenant_id, subject_id) DO UPDATE SET code_hash = EXCLUDED.code_hash, proven = EXCLUDED.proven, locale = EXCLUDED.locale,
	made_at = EXCLUDED.made_at, expires_at = EXCLUDED.expires_at, used_at = NULL, used_event = NULL`

// MakeLineCode makes the code that links LINE, in place of an earlier one of the
// same booking or entry. Locale is the language in which LINE will answer.
// NotFound: the venue has no account, or nobody is written to.
func (s *Store) MakeLineCode(ctx context.Context, sub LineSubject, locale string) error {
	if sub.Email == "" {
		return NotFound
	}
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	now = now.Truncate(time.Microsecond) // as it is stored
	tag, err := s.db.Exec(ctx, makeLineCodeSQL, pgx.StrictNamedArgs{
		"tenant": sub.TenantID, "id": sub.ID, "hash": s.lineCodeHash(sub.TenantID, s.lineCode(sub.TenantID, sub.ID, now)), "proven": sub.Proven,
		"locale": locale, "now": now, "time": LineCodeTime,
	})
	if err == nil && tag.RowsAffected() == 0 {
		return NotFound
	}
	return classify(err)
}

// LineCode finds a code in what somebody wrote; empty: there is none.
func LineCode(text string) string {
	if len(text) > 100 {
		return ""
	}
	code := strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' {
			return -1
		}
		return r
	}, strings.ToUpper(NormalizeText(text)))
	if len(code) != lineCodeLength || strings.Trim(code, numberAlphabet) != "" {
		return ""
	}
	return code
}

// LineUse is a code that came through LINE.
type LineUse struct {
	TenantID string
	Code     string // see LineCode
	User     string // LINE's id of who sent it
	EventID  string // LINE's id of the event, the same where it is delivered again
}

// LineUsed tells what became of it.
type LineUsed struct {
	Locale string // in which to answer
	All    bool   // linked for all of the address
	// Again: the same event had come before; it needs no second answer.
	Again bool
}

const useLineCodeSQL = `-- use line code
UPDATE line_codes SET used_at = (SELECT coalesce(@at::timestamptz, statement_timestamp())), used_event = @event
WHERE tenant_id = @tenant AND code_hash = @hash AND used_at IS NULL AND expires_at > (SELECT coalesce(@at::timestamptz, statement_timestamp()))
RETURNING subject_id::text, proven, locale, used_at`

const spentLineCodeSQL = `-- spent line code
SELECT proven, locale, coalesce(used_event = @event, false) FROM line_codes WHERE tenant_id = @tenant AND code_hash = @hash`

const addressOfSubjectSQL = `-- address of a booking or an entry
SELECT lower(r.email) FROM reservations r WHERE r.tenant_id = @tenant AND r.id = @id AND r.email <> '' AND r.erased_at IS NULL
UNION ALL
SELECT lower(e.email) FROM waitlist_entries e WHERE e.tenant_id = @tenant AND e.id = @id AND e.email <> '' AND e.erased_at IS NULL`

const linkReservationsSQL = `-- link reservations to line
WITH mine AS MATERIALIZED (
	SELECT id FROM reservations
	WHERE tenant_id = @tenant AND email <> '' AND lower(email) = @person AND erased_at IS NULL AND (id = @id OR @proven::boolean AND state IN ('held', 'confirmed'))
	ORDER BY slot_id, id FOR NO KEY UPDATE
)
UPDATE reservations r SET line_user = @user, line_address = @person, line_proven = @proven, line_at = @now FROM mine WHERE r.tenant_id = @tenant AND r.id = mine.id`

const linkEntriesSQL = `-- link entries to line
WITH mine AS MATERIALIZED (
	SELECT id FROM waitlist_entries
	WHERE tenant_id = @tenant AND email <> '' AND lower(email) = @person AND erased_at IS NULL AND (id = @id OR @proven::boolean AND state IN ('waiting', 'offered'))
	ORDER BY slot_id, id FOR NO KEY UPDATE
)
UPDATE waitlist_entries e SET line_user = @user, line_address = @person, line_proven = @proven, line_at = @now FROM mine WHERE e.tenant_id = @tenant AND e.id = mine.id`

// UseLineCode links whoever sent the code, once. Refusals: NotFound (no code of
// this tenant), Expired (its time is over, it was used, or what it was made for
// is gone; the language is told).
func (s *Store) UseLineCode(ctx context.Context, use LineUse) (LineUsed, error) {
	var used LineUsed
	err := s.lineStep(ctx, func(tx pgx.Tx) error {
		used = LineUsed{}
		args := pgx.StrictNamedArgs{"at": s.at, "tenant": use.TenantID, "hash": s.lineCodeHash(use.TenantID, use.Code), "event": s.mac("line event", use.TenantID, use.EventID)}
		var subject string
		var now time.Time
		err := tx.QueryRow(ctx, useLineCodeSQL, args).Scan(&subject, &used.All, &used.Locale, &now)
		if errors.Is(err, pgx.ErrNoRows) {
			delete(args, "at")
			switch err := tx.QueryRow(ctx, spentLineCodeSQL, args).Scan(&used.All, &used.Locale, &used.Again); {
			case errors.Is(err, pgx.ErrNoRows):
				return NotFound
			case err != nil || used.Again:
				return err
			}
			return Expired
		}
		if err != nil {
			return err
		}
		var person string
		err = tx.QueryRow(ctx, addressOfSubjectSQL, pgx.StrictNamedArgs{"tenant": use.TenantID, "id": subject}).Scan(&person)
		if errors.Is(err, pgx.ErrNoRows) {
			return Expired
		}
		if err != nil {
			return err
		}
		link := pgx.StrictNamedArgs{"tenant": use.TenantID, "id": subject, "person": person, "proven": used.All, "user": use.User, "now": now}
		for _, sql := range []string{linkReservationsSQL, linkEntriesSQL} {
			if _, err := tx.Exec(ctx, sql, link); err != nil {
				return err
			}
		}
		return nil
	})
	return used, s.settle("line_link", err)
}

const unlinkReservationsSQL = `-- unlink reservations of a line user
WITH mine AS MATERIALIZED (
	SELECT id FROM reservations WHERE tenant_id = @tenant AND line_user = @user AND line_user <> '' AND line_at <= @before ORDER BY slot_id, id FOR NO KEY UPDATE
)
UPDATE reservations r SET line_user = '', line_address = '', line_proven = false, line_at = NULL FROM mine WHERE r.tenant_id = @tenant AND r.id = mine.id`

const unlinkEntriesSQL = `-- unlink entries of a line user
WITH mine AS MATERIALIZED (
	SELECT id FROM waitlist_entries WHERE tenant_id = @tenant AND line_user = @user AND line_user <> '' AND line_at <= @before ORDER BY slot_id, id FOR NO KEY UPDATE
)
UPDATE waitlist_entries e SET line_user = '', line_address = '', line_proven = false, line_at = NULL FROM mine WHERE e.tenant_id = @tenant AND e.id = mine.id`

// UnlinkLine ends the links of somebody who has blocked the account: mail it is
// again. At is when that was, by LINE's clock; a link that was made later stays,
// since such news can be delivered late, and again.
func (s *Store) UnlinkLine(ctx context.Context, tenant, user string, at time.Time) error {
	err := s.lineStep(ctx, func(tx pgx.Tx) error {
		for _, sql := range []string{unlinkReservationsSQL, unlinkEntriesSQL} {
			if _, err := tx.Exec(ctx, sql, pgx.StrictNamedArgs{"tenant": tenant, "user": user, "before": at.Add(lineSkew)}); err != nil {
				return err
			}
		}
		return nil
	})
	return s.settle("line_unlink", err)
}

// Of an address that is proven every link ends, else those that were not proven
// either, of whoever is linked for this one row.
const stopLine = `tenant_id = @tenant AND email <> '' AND lower(email) = @person AND line_user <> '' AND (@proven::boolean OR NOT line_proven AND line_user IN (
		SELECT r.line_user FROM reservations r WHERE r.tenant_id = @tenant AND r.id = @id UNION ALL SELECT e.line_user FROM waitlist_entries e WHERE e.tenant_id = @tenant AND e.id = @id
		UNION ALL SELECT e.line_user FROM reservations r JOIN waitlist_entries e ON e.tenant_id = r.tenant_id AND e.id = r.entry_id WHERE r.tenant_id = @tenant AND r.id = @id))`

const linkedReservationsSQL = `-- linked reservations to be stopped
SELECT id::text FROM reservations WHERE ` + stopLine + ` ORDER BY slot_id, id FOR NO KEY UPDATE`

const linkedEntriesSQL = `-- linked entries to be stopped
SELECT id::text FROM waitlist_entries WHERE ` + stopLine + ` ORDER BY slot_id, id FOR NO KEY UPDATE`

const stopReservationsSQL = `-- stop line for reservations
UPDATE reservations SET line_user = '', line_address = '', line_proven = false, line_at = NULL WHERE tenant_id = @tenant AND id = ANY(@rows::text[]::uuid[])`

const stopEntriesSQL = `-- stop line for entries
UPDATE waitlist_entries SET line_user = '', line_address = '', line_proven = false, line_at = NULL WHERE tenant_id = @tenant AND id = ANY(@rows::text[]::uuid[])`

// StopLine goes back to mail, for this booking or entry and for all that is
// linked with it. Where nothing is linked, nothing is done.
func (s *Store) StopLine(ctx context.Context, sub LineSubject) error {
	err := s.lineStep(ctx, func(tx pgx.Tx) error {
		// Both are chosen before either changes: they are found by each other.
		args := pgx.StrictNamedArgs{"tenant": sub.TenantID, "id": sub.ID, "person": PersonKey(sub.Email), "proven": sub.Proven}
		chosen := map[string][]string{}
		for _, sql := range []string{linkedReservationsSQL, linkedEntriesSQL} {
			rows, err := tx.Query(ctx, sql, args)
			if err != nil {
				return err
			}
			if chosen[sql], err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
				return err
			}
		}
		for _, pair := range [][2]string{{linkedReservationsSQL, stopReservationsSQL}, {linkedEntriesSQL, stopEntriesSQL}} {
			if _, err := tx.Exec(ctx, pair[1], pgx.StrictNamedArgs{"tenant": sub.TenantID, "rows": chosen[pair[0]]}); err != nil {
				return err
			}
		}
		return nil
	})
	return s.settle("line_stop", err)
}
