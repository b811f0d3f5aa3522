package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// A venue may have a LINE account (LINE's Messaging API), through which those of
// its customers who have linked it get their messages instead of by mail.
//
// The channel secret, with which LINE signs, and the channel access token, with
// which we sign in there, have to be readable to us: they are encrypted by
// AES-256-GCM under a key derived from the server secret and bound to tenant and
// use, as the secrets of second factors are.
//
// LINE's id of a person is personal data. It stands on reservations and waitlist
// entries and is erased with them. A link is made by a code that was shown on the
// page of one booking or entry and then came through LINE. Whoever has that page
// may say where messages about it go; to say it for the address, the page must
// have been opened from a mail to it (see ReservationProof), else a stranger who
// books with somebody's address would read what that person is told. So a link is
//
//	proven      it counts for all that the address has booked or waits for, now
//	            and later: the newest proven link of the address is used where a
//	            row has none of its own;
//	not proven  it counts for the one row, and for the booking that an entry becomes.
//
// A link is to an address, too: a booking that gets another one is linked no more.

// LineTrouble is why a message did not go by LINE. It names nobody.
type LineTrouble string

// The troubles. After all but LineUnclear it is certain that LINE did not take the message.
const (
	LineUnlinked LineTrouble = "unlinked" // the reader gets mail: LINE is not linked, or no more
	LineRefused  LineTrouble = "refused"  // LINE takes no such message, or not for this reader
	LineRate     LineTrouble = "rate"     // too many at once
	LineQuota    LineTrouble = "quota"    // the account's messages of this month are used up
	LineBroken   LineTrouble = "broken"   // LINE does not take the channel access token
	LineAway     LineTrouble = "away"     // LINE can't be reached: nothing was handed over
	LineUnclear  LineTrouble = "unclear"  // no clear answer: the message may have arrived
)

// LineTroubles lists every trouble, for tests that demand words for each.
var LineTroubles = []LineTrouble{LineUnlinked, LineRefused, LineRate, LineQuota, LineBroken, LineAway, LineUnclear}

func (t LineTrouble) Error() string { return "LINE: " + string(t) }

// The ways that a message can have gone.
const (
	ChannelMail = "mail"
	ChannelLine = "line"
)

// ByLine reports whether messages of the kind may go by LINE: those about one
// booking or one entry. What proves a mailbox, what tells one that it is no more
// asked, and the list of links that somebody has asked for by mail, go by mail.
func (k MessageKind) ByLine() bool {
	switch k {
	case KindConfirmed, KindCancelled, KindMoved, KindChanged, KindSlotCancelled, KindJoined, KindOffer, KindLapsed, KindRevoked, KindVacancy, KindReminder, KindNotice:
		return true
	}
	return false
}

const lineKey = "line channel key"

func (s *Store) sealLine(tenant, use, text string) ([]byte, error) {
	return s.encrypt(lineKey, []byte(tenant+" "+use), text)
}

func (s *Store) openLine(tenant, use string, sealed []byte) (string, error) {
	return s.decrypt(lineKey, []byte(tenant+" "+use), sealed)
}

const (
	lineSecret = "secret"
	lineToken  = "token"
)

// LineChannel is a venue's LINE account, without its secrets.
type LineChannel struct {
	TenantID    string
	BasicID     string // with @
	BotName     string // as LINE last said; empty: never asked
	BotBasicID  string // likewise
	CheckedAt   *time.Time
	BrokenAt    *time.Time // since when LINE does not take the token
	PausedUntil *time.Time // until when the month's messages are used up; may be past
	Version     int
	ChangedAt   time.Time
	Linked      int // people whose messages go there
	Now         time.Time
}

// Paused reports whether the month's messages are used up.
func (c LineChannel) Paused() bool { return c.PausedUntil != nil && c.PausedUntil.After(c.Now) }

const lineChannelSQL = `-- line channel
SELECT c.tenant_id::text, c.basic_id, c.bot_name, c.bot_basic_id, c.checked_at, c.broken_at, c.paused_until, c.version, c.changed_at,
	(SELECT count(*) FROM (
		SELECT r.line_user FROM reservations r WHERE r.tenant_id = @tenant AND r.line_user <> ''
		UNION SELECT e.line_user FROM waitlist_entries e WHERE e.tenant_id = @tenant AND e.line_user <> '') u)::int AS linked,
	coalesce(@at::timestamptz, statement_timestamp()) AS now
FROM line_channels c WHERE c.tenant_id = @tenant`

// LineChannel reads a venue's LINE account; NotFound if it has none.
func (s *Store) LineChannel(ctx context.Context, tenant string) (LineChannel, error) {
	return one[LineChannel](ctx, s.db, lineChannelSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant})
}

// LineKeys are the secrets of a channel.
type LineKeys struct {
	Secret  string
	Token   string
	Version int
}

const lineKeysSQL = `-- secrets of a line channel
SELECT secret, token, version FROM line_channels WHERE tenant_id = @tenant`

// LineKeys reads the secrets of a venue's channel; NotFound if it has none.
func (s *Store) LineKeys(ctx context.Context, tenant string) (LineKeys, error) {
	var k LineKeys
	var secret, token []byte
	err := s.db.QueryRow(ctx, lineKeysSQL, pgx.StrictNamedArgs{"tenant": tenant}).Scan(&secret, &token, &k.Version)
	if err != nil {
		return LineKeys{}, classify(err)
	}
	if k.Secret, err = s.openLine(tenant, lineSecret, secret); err != nil {
		return LineKeys{}, err
	}
	k.Token, err = s.openLine(tenant, lineToken, token)
	return k, err
}

// LineSettings are what a venue says of its LINE account.
type LineSettings struct {
	TenantID string
	BasicID  string // see NormalizeLineID
	Secret   string // empty: as it is
	Token    string // empty: as it is
	Version  int    // that the form showed; 0: there was none
}

// NormalizeLineID gives the basic or premium id of an account as LINE writes it,
// with @ and in lower case; empty if it can't be one.
func NormalizeLineID(typed string) string {
	id := strings.ToLower(NormalizeText(typed))
	id = "@" + strings.TrimPrefix(id, "@")
	if len(id) < 2 || len(id) > 41 || strings.Trim(id[1:], "abcdefghijklmnopqrstuvwxyz0123456789._-") != "" || strings.ContainsRune("._-", rune(id[1])) {
		return ""
	}
	return id
}

const lockLineChannelSQL = `-- lock line channel
SELECT basic_id, version FROM line_channels WHERE tenant_id = @tenant FOR UPDATE`

const addLineChannelSQL = `-- add line channel
INSERT INTO line_channels (tenant_id, basic_id, secret, token, changed_at)
VALUES (@tenant, @basic_id, @secret, @token, (SELECT coalesce(@at::timestamptz, statement_timestamp())))
ON CONFLICT (tenant_id) DO NOTHING`

// New secrets have not been refused yet, and are those of an account that has not been asked.
const changeLineChannelSQL = `-- change line channel
UPDATE line_channels SET basic_id = @basic_id, secret = coalesce(@secret, secret), token = coalesce(@token, token), version = version + 1,
	changed_at = (SELECT coalesce(@at::timestamptz, statement_timestamp())), bot_name = '', bot_basic_id = '', checked_at = NULL,
	broken_at = CASE WHEN @token::bytea IS NULL AND basic_id = @basic_id THEN broken_at END,
	paused_until = CASE WHEN @token::bytea IS NULL AND basic_id = @basic_id THEN paused_until END
WHERE tenant_id = @tenant`

// SaveLineChannel adds or changes a venue's LINE account. LINE's ids of people
// are those of one account: where the id changes, all links end and mail it is.
// Conflict: somebody has changed it since; NotFound: one is to be added and
// secret or token are missing.
func (s *Store) SaveLineChannel(ctx context.Context, set LineSettings) error {
	sealed := map[string][]byte{}
	for use, text := range map[string]string{lineSecret: set.Secret, lineToken: set.Token} {
		if text == "" {
			continue
		}
		var err error
		if sealed[use], err = s.sealLine(set.TenantID, use, text); err != nil {
			return err
		}
	}
	args := pgx.StrictNamedArgs{"at": s.at, "tenant": set.TenantID, "basic_id": set.BasicID, "secret": sealed[lineSecret], "token": sealed[lineToken]}
	return s.lineStep(ctx, func(tx pgx.Tx) error {
		var was string
		var version int
		err := tx.QueryRow(ctx, lockLineChannelSQL, pgx.StrictNamedArgs{"tenant": set.TenantID}).Scan(&was, &version)
		switch {
		case errors.Is(err, pgx.ErrNoRows) && set.Version == 0:
			if set.Secret == "" || set.Token == "" {
				return NotFound
			}
			tag, err := tx.Exec(ctx, addLineChannelSQL, args)
			if err == nil && tag.RowsAffected() == 0 {
				return Conflict
			}
			return err
		case errors.Is(err, pgx.ErrNoRows) || err == nil && version != set.Version:
			return Conflict
		case err != nil:
			return err
		}
		if _, err := tx.Exec(ctx, changeLineChannelSQL, args); err != nil || was == set.BasicID {
			return err
		}
		return endLineLinks(ctx, tx, set.TenantID)
	})
}

const removeLineCodesSQL = `-- remove line codes
DELETE FROM line_codes WHERE tenant_id = @tenant`

const removeLineChannelSQL = `-- remove line channel
DELETE FROM line_channels WHERE tenant_id = @tenant`

// RemoveLineChannel takes a venue's LINE account away, with all links. Pressed
// twice it is done.
func (s *Store) RemoveLineChannel(ctx context.Context, tenant string) error {
	return s.lineStep(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, removeLineChannelSQL, pgx.StrictNamedArgs{"tenant": tenant}); err != nil {
			return err
		}
		return endLineLinks(ctx, tx, tenant)
	})
}

// The rows are locked in one order before they change. Steps on a slot lock
// theirs in orders of their own; where two meet, one of them is run again.
const endReservationLinksSQL = `-- end line links of reservations
WITH mine AS MATERIALIZED (
	SELECT id FROM reservations WHERE tenant_id = @tenant AND line_user <> '' ORDER BY slot_id, id FOR NO KEY UPDATE
)
UPDATE reservations r SET line_user = '', line_address = '', line_proven = false, line_at = NULL FROM mine WHERE r.tenant_id = @tenant AND r.id = mine.id`

const endEntryLinksSQL = `-- end line links of entries
WITH mine AS MATERIALIZED (
	SELECT id FROM waitlist_entries WHERE tenant_id = @tenant AND line_user <> '' ORDER BY slot_id, id FOR NO KEY UPDATE
)
UPDATE waitlist_entries e SET line_user = '', line_address = '', line_proven = false, line_at = NULL FROM mine WHERE e.tenant_id = @tenant AND e.id = mine.id`

func endLineLinks(ctx context.Context, tx pgx.Tx, tenant string) error {
	for _, sql := range []string{removeLineCodesSQL, endReservationLinksSQL, endEntryLinksSQL} {
		if _, err := tx.Exec(ctx, sql, pgx.StrictNamedArgs{"tenant": tenant}); err != nil {
			return err
		}
	}
	return nil
}

// lineStep runs a change of links in a transaction, once more where it met
// another one. It changes no seat, and so takes no slot's lock.
func (s *Store) lineStep(ctx context.Context, f func(pgx.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, LongestWait)
	defer cancel()
	for attempt := 1; ; attempt++ {
		err := pgx.BeginFunc(ctx, s.db, f)
		if err == nil || errors.As(err, new(Outcome)) || !retryable(err) || attempt == 4 || wait(ctx, backoff(attempt)) != nil {
			return classify(err)
		}
	}
}

const lineCheckedSQL = `-- line has answered
UPDATE line_channels SET bot_name = @name, bot_basic_id = @basic_id, checked_at = (SELECT coalesce(@at::timestamptz, statement_timestamp())),
	broken_at = NULL, paused_until = NULL
WHERE tenant_id = @tenant AND version = @version`

// LineChecked writes down what LINE said of the account; messages go there
// (again). What was asked of an older version says nothing.
func (s *Store) LineChecked(ctx context.Context, tenant string, version int, name, basicID string) error {
	if r := []rune(NormalizeName(name)); len(r) > 100 {
		name = string(r[:100])
	} else {
		name = string(r)
	}
	_, err := s.db.Exec(ctx, lineCheckedSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "version": version, "name": name, "basic_id": NormalizeLineID(basicID)})
	return classify(err)
}

// The month is that of the venue, whose account counts by its country's calendar.
const lineTroubleSQL = `-- line channel in trouble
UPDATE line_channels c SET
	broken_at = CASE WHEN @trouble::text = 'broken' THEN coalesce(c.broken_at, n.now) ELSE c.broken_at END,
	paused_until = CASE WHEN @trouble::text = 'quota' THEN (date_trunc('month', n.now AT TIME ZONE t.time_zone) + interval '1 month') AT TIME ZONE t.time_zone ELSE c.paused_until END
FROM tenants t, (SELECT coalesce(@at::timestamptz, statement_timestamp()) AS now) n
WHERE c.tenant_id = @tenant AND t.id = c.tenant_id AND c.version = @version`

// LineInTrouble writes down that LINE does not take the token (LineBroken: until
// it is checked or replaced) or no more messages this month (LineQuota). Other
// troubles are those of one message.
func (s *Store) LineInTrouble(ctx context.Context, tenant string, version int, trouble LineTrouble) error {
	if trouble != LineBroken && trouble != LineQuota {
		return nil
	}
	_, err := s.db.Exec(ctx, lineTroubleSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "version": version, "trouble": trouble})
	return classify(err)
}

// lineLink finds who gets the messages about the row @id, which has the address
// @person: its own link, that of the entry it came from, or the newest proven one
// of the address.
const lineLink = `SELECT x.line_user, x.line_proven FROM (
	SELECT r.line_user, r.line_proven, 0 AS rank, r.line_at FROM reservations r
	WHERE r.tenant_id = @tenant AND r.id = @id AND r.line_user <> '' AND r.line_address = lower(r.email)
	UNION ALL
	SELECT e.line_user, e.line_proven, 0, e.line_at FROM waitlist_entries e
	WHERE e.tenant_id = @tenant AND e.id = @id AND e.line_user <> '' AND e.line_address = lower(e.email)
	UNION ALL
	SELECT e.line_user, e.line_proven, 1, e.line_at FROM reservations r JOIN waitlist_entries e ON e.tenant_id = r.tenant_id AND e.id = r.entry_id
	WHERE r.tenant_id = @tenant AND r.id = @id AND e.line_user <> '' AND e.line_address = lower(r.email)
	UNION ALL
	SELECT r.line_user, true, 2, r.line_at FROM reservations r
	WHERE r.tenant_id = @tenant AND r.email <> '' AND lower(r.email) = @person AND r.line_proven AND r.line_address = @person
	UNION ALL
	SELECT e.line_user, true, 2, e.line_at FROM waitlist_entries e
	WHERE e.tenant_id = @tenant AND e.email <> '' AND lower(e.email) = @person AND e.line_proven AND e.line_address = @person
) x ORDER BY x.rank, x.line_at DESC LIMIT 1`

// LineWay is the way by LINE of one message: whether there is one, and to whom.
type LineWay struct {
	User    string // LINE's id of the reader; empty: not linked
	Proven  bool   // the reader has the mailbox of the address, too
	Token   string // empty: not readable with this server's secret
	Version int    // of the channel
	Broken  bool
	Paused  bool
}

const lineWaySQL = `-- way of a message by line
SELECT coalesce(l.line_user, ''), coalesce(l.line_proven, false), c.token, c.version, c.broken_at IS NOT NULL,
	coalesce(c.paused_until > coalesce(@at::timestamptz, statement_timestamp()), false)
FROM line_channels c LEFT JOIN LATERAL (` + lineLink + `) l ON true
WHERE c.tenant_id = @tenant`

// lineWay reads the way of a message by LINE; nil: it goes by mail whatever is
// linked, because the venue has no account, the message is not of such a kind, or
// it has gone on to mail already.
func (s *Store) lineWay(ctx context.Context, l Letter) (*LineWay, error) {
	if !l.Message.Kind.ByLine() || l.Message.LineOver != "" {
		return nil, nil
	}
	email := ""
	switch {
	case l.Reservation != nil:
		email = l.Reservation.Email
	case l.Entry != nil:
		email = l.Entry.Email
	}
	person := PersonKey(email)
	if email == "" || person != PersonKey(l.Message.Recipient) {
		person = "" // written to somebody else than who has it now
	}
	var w LineWay
	var token []byte
	err := s.db.QueryRow(ctx, lineWaySQL, pgx.StrictNamedArgs{"at": s.at, "tenant": l.Message.TenantID, "id": l.Message.SubjectID, "person": person}).
		Scan(&w.User, &w.Proven, &token, &w.Version, &w.Broken, &w.Paused)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, classify(err)
	}
	if person == "" {
		w.User, w.Proven = "", false
	}
	if w.Token, err = s.openLine(l.Message.TenantID, lineToken, token); err != nil {
		w.Token = "" // told by whoever is to use it: the message still goes by mail
	}
	return &w, nil
}

const leaveLineSQL = `-- leave line for mail
UPDATE outbox SET line_over = @why WHERE tenant_id = @tenant AND id = @id AND state = 'sending' AND sending_until = @lease`

// LeaveLine writes down, before a claimed message is handed to the mail server,
// that it is not tried by LINE any more. False: the claim has ended.
func (s *Store) LeaveLine(ctx context.Context, m Message, why LineTrouble) (bool, error) {
	tag, err := s.db.Exec(ctx, leaveLineSQL, pgx.StrictNamedArgs{"tenant": m.TenantID, "id": m.ID, "lease": m.SendingUntil, "why": string(why)})
	if err != nil {
		return false, fmt.Errorf("leave line for mail %s: %w", m.ID, classify(err))
	}
	return tag.RowsAffected() == 1, nil
}
