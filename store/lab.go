package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// The race lab can be started from a page of staff where the operator allows it.
// The page writes down that a run is wanted; a runner of any instance takes it
// up, one at a time over all instances and tenants, says how far it is, and
// keeps what it found. The lab itself works on tables of its own (package race):
// a run holds nothing of the tenant but that it asked.

// RaceState is how far a run has come.
type RaceState string

// The states of a run.
const (
	RaceAsked   RaceState = "asked"
	RaceRunning RaceState = "running"
	RaceDone    RaceState = "done"
	RaceFailed  RaceState = "failed" // it could not be run, or its runner ended
)

// RaceRun is one run that staff asked for.
type RaceRun struct {
	ID        string
	State     RaceState
	AskedAt   time.Time
	StartedAt *time.Time
	EndedAt   *time.Time
	Done      int // races that are through
	Total     int // 0 until it runs
	Results   []RaceResult
	Now       time.Time
}

// RaceResult is one race by one strategy.
type RaceResult struct {
	Scenario string `json:"scenario"`
	Strategy string `json:"strategy"`
	Rounds   int    `json:"rounds"`
	Broken   int    `json:"broken"` // rounds in which something broke
	// Violations by kind, as the lab names them.
	Violations map[string]int `json:"violations"`
	Errors     int            `json:"errors"` // answers that nobody should ever see
	// InTime are presses made by the deadline that people read, RefusedInTime those of them that were refused as late.
	InTime        int `json:"inTime"`
	RefusedInTime int `json:"refusedInTime"`
}

const (
	// raceSilence is how long a runner may be silent before its run counts as ended.
	raceSilence = time.Minute
	racesKept   = 10
)

const tenantStaleRacesSQL = `-- runs of a tenant whose runner is silent
UPDATE race_runs SET state = 'failed', ended_at = @now
WHERE tenant_id = @tenant AND state = 'running' AND beat_at < @now::timestamptz - @silence::interval`

const askRaceSQL = `-- ask for a run of the race lab
INSERT INTO race_runs (tenant_id, asked_at, asked_by) VALUES (@tenant, @now, @by)
ON CONFLICT (tenant_id) WHERE state IN ('asked', 'running') DO NOTHING`

const dropRacesSQL = `-- runs that are long past
DELETE FROM race_runs WHERE tenant_id = @tenant AND state IN ('done', 'failed')
	AND id NOT IN (SELECT r.id FROM race_runs r WHERE r.tenant_id = @tenant ORDER BY r.asked_at DESC LIMIT @kept)`

// AskRace asks for a run, by a staff member. While one of the tenant's is asked
// for or under way nothing happens: asked is false.
func (s *Store) AskRace(ctx context.Context, tenant, by string) (asked bool, err error) {
	now, err := s.Now(ctx)
	if err != nil {
		return false, err
	}
	err = pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, tenantStaleRacesSQL, pgx.StrictNamedArgs{"tenant": tenant, "now": now, "silence": raceSilence}); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, askRaceSQL, pgx.StrictNamedArgs{"tenant": tenant, "now": now, "by": by})
		if err != nil {
			return err
		}
		asked = tag.RowsAffected() == 1
		_, err = tx.Exec(ctx, dropRacesSQL, pgx.StrictNamedArgs{"tenant": tenant, "kept": racesKept})
		return err
	})
	return asked, classify(err)
}

// RaceClaim names the run that a runner has taken up.
type RaceClaim struct {
	Tenant string
	ID     string
}

const askedRacesSQL = `-- is a run wanted
SELECT EXISTS (SELECT 1 FROM race_runs WHERE state = 'asked')`

// The lock is that of the transaction, so that it works behind a pooler too. It
// stands in a statement of its own: the next one then sees what its last owner committed.
const lockRacesSQL = `-- lock the race lab
SELECT pg_advisory_xact_lock(hashtextextended('holdfast race lab', 0))`

const staleRacesSQL = `-- runs whose runner is silent
UPDATE race_runs SET state = 'failed', ended_at = @now WHERE state = 'running' AND beat_at < @now::timestamptz - @silence::interval`

const claimRaceSQL = `-- take up a run
UPDATE race_runs SET state = 'running', started_at = @now, beat_at = @now
WHERE state = 'asked' AND (tenant_id, id) = (SELECT r.tenant_id, r.id FROM race_runs r WHERE r.state = 'asked' ORDER BY r.asked_at, r.id LIMIT 1)
	AND NOT EXISTS (SELECT 1 FROM race_runs r WHERE r.state = 'running')
RETURNING tenant_id::text AS tenant, id::text AS id`

// ClaimRace takes up the run that waits longest, if no other one is under way
// anywhere; false: there is nothing to do. Whoever takes one up tells of itself by RaceBeat.
func (s *Store) ClaimRace(ctx context.Context) (claim RaceClaim, ok bool, err error) {
	var wanted bool
	if err := s.db.QueryRow(ctx, askedRacesSQL).Scan(&wanted); err != nil || !wanted {
		return claim, false, classify(err)
	}
	now, err := s.Now(ctx)
	if err != nil {
		return claim, false, err
	}
	err = pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lockRacesSQL); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, staleRacesSQL, pgx.StrictNamedArgs{"now": now, "silence": raceSilence}); err != nil {
			return err
		}
		claim, err = one[RaceClaim](ctx, tx, claimRaceSQL, pgx.StrictNamedArgs{"now": now})
		if errors.Is(err, NotFound) || errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		ok = err == nil
		return err
	})
	return claim, ok && err == nil, classify(err)
}

const beatRaceSQL = `-- how far a run is
UPDATE race_runs SET beat_at = (SELECT coalesce(@at::timestamptz, statement_timestamp())), done = @done, total = @total
WHERE tenant_id = @tenant AND id = @id AND state = 'running'`

// RaceBeat says that a run goes on and how far it is; false: it counts as ended, and its runner has to stop.
func (s *Store) RaceBeat(ctx context.Context, claim RaceClaim, done, total int) (bool, error) {
	tag, err := s.db.Exec(ctx, beatRaceSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": claim.Tenant, "id": claim.ID, "done": done, "total": total})
	return tag.RowsAffected() == 1, classify(err)
}

const endRaceSQL = `-- end of a run
UPDATE race_runs SET state = CASE WHEN @result::jsonb IS NULL THEN 'failed' ELSE 'done' END, result = @result::jsonb,
	ended_at = (SELECT coalesce(@at::timestamptz, statement_timestamp())), done = CASE WHEN @result::jsonb IS NULL THEN done ELSE total END
WHERE tenant_id = @tenant AND id = @id AND state = 'running'`

// EndRace keeps what a run found; nil: it failed.
func (s *Store) EndRace(ctx context.Context, claim RaceClaim, results []RaceResult) error {
	var result *string
	if results != nil {
		text, err := json.Marshal(results)
		if err != nil {
			return err
		}
		whole := string(text)
		result = &whole
	}
	_, err := s.db.Exec(ctx, endRaceSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": claim.Tenant, "id": claim.ID, "result": result})
	return classify(err)
}

const racesSQL = `-- newest runs of the race lab
WITH clock AS (SELECT coalesce(@at::timestamptz, statement_timestamp()) AS now)
SELECT r.id::text AS id, CASE WHEN r.state = 'running' AND r.beat_at < clock.now - @silence::interval THEN 'failed' ELSE r.state END AS state,
	r.asked_at, r.started_at, coalesce(r.ended_at, CASE WHEN r.state = 'running' AND r.beat_at < clock.now - @silence::interval THEN r.beat_at END) AS ended_at,
	r.done, r.total, coalesce(r.result, '[]') AS results, clock.now AS now
FROM race_runs r CROSS JOIN clock WHERE r.tenant_id = @tenant ORDER BY r.asked_at DESC, r.id LIMIT @limit`

// Races lists the newest runs that a tenant asked for, newest first.
func (s *Store) Races(ctx context.Context, tenant string, limit int) ([]RaceRun, error) {
	return list[RaceRun](ctx, s.db, racesSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "silence": raceSilence, "limit": limit})
}
