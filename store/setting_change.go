package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// SettingChange is one line of who changed what in the settings. It names
// fields, never what stood in them: no personal data.
type SettingChange struct {
	ID       string
	TenantID string
	At       time.Time
	StaffID  string // empty: not a person
	Area     string // small letters and _: "service", "venue", …
	Subject  string // the id of what was changed within the area; empty: the whole
	Fields   []string
	// Who is the name, else the address, of the person while they work for the tenant; only read.
	Who string
}

// The areas of this file.
const (
	AreaService  = "service"
	AreaResource = "resource"
	AreaClosed   = "closed_days"
	AreaVenue    = "venue"
)

const recordSettingChangeSQL = `-- record setting change
INSERT INTO setting_changes (tenant_id, at, staff_id, area, subject, fields)
VALUES (@tenant, (SELECT coalesce(@at::timestamptz, statement_timestamp())), NULLIF(@staff::text, '')::uuid, @area, @subject, @fields::text[])`

// RecordSettingChange notes a change that was made elsewhere. Without fields
// there is nothing to note.
func (s *Store) RecordSettingChange(ctx context.Context, c SettingChange) error {
	return classify(s.recordSettingChange(ctx, s.db, c))
}

// recordSettingChange is for steps that make the change in the same transaction.
func (s *Store) recordSettingChange(ctx context.Context, db querier, c SettingChange) error {
	if len(c.Fields) == 0 {
		return nil
	}
	_, err := db.Exec(ctx, recordSettingChangeSQL, pgx.StrictNamedArgs{
		"tenant": c.TenantID, "at": s.at, "staff": c.StaffID, "area": c.Area, "subject": c.Subject, "fields": c.Fields,
	})
	return err
}

const settingChangeSelect = `SELECT c.id::text, c.tenant_id::text, c.at, coalesce(c.staff_id::text, '') AS staff_id, c.area, c.subject, c.fields,
	coalesce((SELECT coalesce(NULLIF(p.name, ''), p.email) FROM memberships m JOIN staff p ON p.id = m.staff_id
		WHERE m.tenant_id = c.tenant_id AND m.staff_id = c.staff_id), '') AS who
FROM setting_changes c
WHERE c.tenant_id = @tenant`

const settingChangesSQL = `-- setting changes
` + settingChangeSelect + ` AND (@before::text = '' OR (c.at, c.id) < (SELECT b.at, b.id FROM setting_changes b WHERE b.tenant_id = @tenant AND b.id = NULLIF(@before, '')::uuid))
ORDER BY c.at DESC, c.id DESC LIMIT @limit`

// SettingChanges lists the changes of a tenant's settings, newest first; before
// is the id of the last one already seen, or empty.
func (s *Store) SettingChanges(ctx context.Context, tenant, before string, limit int) ([]SettingChange, error) {
	if before != "" && !ValidID(before) {
		return nil, NotFound
	}
	return list[SettingChange](ctx, s.db, settingChangesSQL, pgx.StrictNamedArgs{"tenant": tenant, "before": before, "limit": limit})
}

const lastSettingChangeSQL = `-- last setting change
` + settingChangeSelect + ` AND c.area = @area AND (@subject::text = '' OR c.subject = @subject) ORDER BY c.at DESC, c.id DESC LIMIT 1`

// LastSettingChange is the newest change of an area, and of a subject in it if
// one is named; NotFound if there is none.
func (s *Store) LastSettingChange(ctx context.Context, tenant, area, subject string) (SettingChange, error) {
	return one[SettingChange](ctx, s.db, lastSettingChangeSQL, pgx.StrictNamedArgs{"tenant": tenant, "area": area, "subject": subject})
}

// changeSetting runs f in a transaction, notes the fields that it returns, and
// gives a refusal its form. Nothing is noted where nothing changed.
func (s *Store) changeSetting(ctx context.Context, step string, c SettingChange, f func(context.Context, pgx.Tx) (subject string, fields []string, err error)) error {
	ctx, cancel := context.WithTimeout(ctx, LongestWait)
	defer cancel()
	err := pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		subject, fields, err := f(ctx, tx)
		if err != nil {
			return err
		}
		c.Subject, c.Fields = subject, fields
		return s.recordSettingChange(ctx, tx, c)
	})
	var outcome Outcome
	if err = classify(err); err == nil || errors.As(err, &outcome) {
		return err
	}
	return fmt.Errorf("%s: %w", step, err)
}

// fieldList are the names of the fields that a press changes.
type fieldList []string

func (c *fieldList) text(name string, was, is Text) {
	for _, lang := range []string{"ja", "en"} {
		if was[lang] != is[lang] {
			*c = append(*c, name+"_"+lang)
		}
	}
}

func noteIf[T comparable](c *fieldList, name string, was, is T) {
	if was != is {
		*c = append(*c, name)
	}
}
