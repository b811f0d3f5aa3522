package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// MostClosedSpan is how many days can be closed in one press.
const MostClosedSpan = 62

// CloseDays closes each of the days, as 2006-01-02, with one note; days that
// are closed already get it too. It decides nothing about seats. Errors:
// ErrDayRange for no day, too many of them, or what is no day.
func (s *Store) CloseDays(ctx context.Context, tenant string, days []ClosedDay, staff string) error {
	if len(days) == 0 || len(days) > MostClosedSpan {
		return ErrDayRange
	}
	var names, notes []string
	for _, d := range days {
		if _, err := time.Parse(time.DateOnly, d.Day); err != nil {
			return ErrDayRange
		}
		names, notes = append(names, d.Day), append(notes, jsonText(d.Note))
	}
	return s.changeSetting(ctx, "close days", SettingChange{TenantID: tenant, StaffID: staff, Area: AreaClosed}, func(ctx context.Context, tx pgx.Tx) (string, []string, error) {
		tag, err := tx.Exec(ctx, closeDaysSQL, pgx.StrictNamedArgs{"tenant": tenant, "days": names, "notes": notes})
		if err != nil || tag.RowsAffected() == 0 {
			return "", nil, err
		}
		subject := names[0]
		if len(names) > 1 {
			subject += "/" + names[len(names)-1]
		}
		return subject, []string{"added"}, nil
	})
}

const closeDaysSQL = `-- close days
INSERT INTO closed_days AS c (tenant_id, day, note) SELECT @tenant, d.day::date, d.note::jsonb FROM unnest(@days::text[], @notes::text[]) d(day, note)
ON CONFLICT (tenant_id, day) DO UPDATE SET note = excluded.note WHERE c.note IS DISTINCT FROM excluded.note`

const openDaySQL = `-- open day
DELETE FROM closed_days WHERE tenant_id = @tenant AND day = @day::date`

// OpenDay takes a closed day off the list, if it is there. ErrDayRange for what
// is no day.
func (s *Store) OpenDay(ctx context.Context, tenant, day, staff string) error {
	if _, err := time.Parse(time.DateOnly, day); err != nil {
		return ErrDayRange
	}
	return s.changeSetting(ctx, "open day", SettingChange{TenantID: tenant, StaffID: staff, Area: AreaClosed}, func(ctx context.Context, tx pgx.Tx) (string, []string, error) {
		tag, err := tx.Exec(ctx, openDaySQL, pgx.StrictNamedArgs{"tenant": tenant, "day": day})
		if err != nil || tag.RowsAffected() == 0 {
			return "", nil, err
		}
		return day, []string{"removed"}, nil
	})
}

// DayUse is what stands on a day.
type DayUse struct {
	Day   string // 2006-01-02 at the venue
	Slots int    // not cancelled
	Seats int    // taken in them
}

const dayUseSQL = `-- slots of days
SELECT to_char(d.day, 'YYYY-MM-DD') AS day, count(s.id)::int AS slots, coalesce(sum(s.taken), 0)::int AS seats
FROM unnest(@days::text[]::date[]) d(day)
JOIN slots s ON s.tenant_id = @tenant AND s.status <> 'cancelled'
	AND s.starts_at >= (d.day::timestamp AT TIME ZONE @zone::text) AND s.starts_at < ((d.day + 1)::timestamp AT TIME ZONE @zone::text)
GROUP BY 1 ORDER BY 1`

// DaysInUse tells which of the days, as 2006-01-02 in the zone loc, have slots
// that are not cancelled. At most 400 days are looked at.
func (s *Store) DaysInUse(ctx context.Context, tenant string, days []string, loc *time.Location) (map[string]DayUse, error) {
	found, err := list[DayUse](ctx, s.db, dayUseSQL, pgx.StrictNamedArgs{"tenant": tenant, "days": days[:min(len(days), 400)], "zone": loc.String()})
	if err != nil {
		return nil, err
	}
	use := make(map[string]DayUse, len(found))
	for _, d := range found {
		use[d.Day] = d
	}
	return use, nil
}
