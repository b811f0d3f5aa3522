package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// MessageText is what a venue says in its own words in messages of one kind and
// language. It may have placeholders in braces; package views/mail knows them.
type MessageText struct {
	Kind    MessageKind
	Locale  string
	Opening string // for the first sentence; empty: ours
	Extra   string // one more paragraph at the end; empty: none
	Version int    // goes up with each change; 0: the venue has no words of its own
}

// LongestMessageText is the most that either part may have, in characters.
const LongestMessageText = 1000

const messageTextColumns = `kind, locale, opening, extra, version`

const messageTextsSQL = `-- own words of a tenant
SELECT ` + messageTextColumns + ` FROM message_texts WHERE tenant_id = @tenant ORDER BY kind, locale LIMIT 200`

// MessageTexts lists the own words of a tenant.
func (s *Store) MessageTexts(ctx context.Context, tenant string) ([]MessageText, error) {
	return list[MessageText](ctx, s.db, messageTextsSQL, pgx.StrictNamedArgs{"tenant": tenant})
}

const messageTextSQL = `-- own words of a kind
SELECT ` + messageTextColumns + ` FROM message_texts WHERE tenant_id = @tenant AND kind = @kind AND locale = @locale`

// MessageText reads the own words of a tenant for one kind and language; Version 0 where it has none.
func (s *Store) MessageText(ctx context.Context, tenant string, kind MessageKind, locale string) (MessageText, error) {
	m, err := one[MessageText](ctx, s.db, messageTextSQL, pgx.StrictNamedArgs{"tenant": tenant, "kind": kind, "locale": locale})
	if errors.Is(err, NotFound) {
		return MessageText{Kind: kind, Locale: locale}, nil
	}
	return m, err
}

const addMessageTextSQL = `-- first own words
INSERT INTO message_texts (tenant_id, kind, locale, opening, extra, changed_at, changed_by)
VALUES (@tenant, @kind, @locale, @opening, @extra, (SELECT coalesce(@at::timestamptz, statement_timestamp())), @staff)
ON CONFLICT (tenant_id, kind, locale) DO NOTHING`

const changeMessageTextSQL = `-- change own words
UPDATE message_texts SET opening = @opening, extra = @extra, version = version + 1, changed_at = (SELECT coalesce(@at::timestamptz, statement_timestamp())), changed_by = @staff
WHERE tenant_id = @tenant AND kind = @kind AND locale = @locale AND version = @version`

const dropMessageTextSQL = `-- back to the words that we bring
DELETE FROM message_texts WHERE tenant_id = @tenant AND kind = @kind AND locale = @locale AND version = @version`

// SaveMessageText keeps a venue's own words, m.Version being what the form
// showed; both parts empty takes them back. Refusal: Conflict, where they are no
// longer what the form showed, unless they are what was asked for.
func (s *Store) SaveMessageText(ctx context.Context, tenant, staffID string, m MessageText) error {
	m.Opening, m.Extra = strings.TrimSpace(m.Opening), strings.TrimSpace(m.Extra)
	args := pgx.StrictNamedArgs{"tenant": tenant, "kind": m.Kind, "locale": m.Locale}
	sql := changeMessageTextSQL
	switch {
	case m.Opening == "" && m.Extra == "":
		sql, args["version"] = dropMessageTextSQL, m.Version
	default:
		args["opening"], args["extra"], args["at"], args["staff"] = m.Opening, m.Extra, s.at, staffID
		if m.Version == 0 {
			sql = addMessageTextSQL
		} else {
			args["version"] = m.Version
		}
	}
	tag, err := s.db.Exec(ctx, sql, args)
	if err != nil {
		return fmt.Errorf("save words of %s: %w", m.Kind, classify(err))
	}
	if tag.RowsAffected() > 0 {
		return nil
	}
	now, err := s.MessageText(ctx, tenant, m.Kind, m.Locale)
	if err == nil && (now.Opening != m.Opening || now.Extra != m.Extra) {
		err = Conflict
	}
	return s.settle("save_message_text", err)
}
