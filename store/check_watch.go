package store

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// The invariants are watched all the time, at a cost that grows with what
// happens and not with what is stored. A pass looks at the slots of a tenant
// whose history has grown since the last one, by their place in the feed, which
// is given in the order of the commits; at those with something due; and at
// those that broke an invariant when they were last looked at, so that a
// violation stays until it is seen to be mended. A row that changed without a
// trace, in a slot where nothing else happens, is seen when its slot has its
// turn (each pass takes some more slots, in the order of their keys) or by the
// full pass, which looks at all there is, now and then, also at rows that belong
// to no slot. All judge by the same statements, each pass in one snapshot, and
// write what they found where every instance reads it.
//
// Instances share the work: a tenant's row in self_checks is the lock of its
// pass, and one that was looked at a moment ago is left alone.

// Finding is a row that breaks an invariant, seen and not yet seen to be mended.
type Finding struct {
	TenantID  string
	Invariant string
	Example   string  // the row, by its id
	SlotID    *string // the slot that it is about, which need not exist; nil where it belongs to none
	N         int     // how many violations it stands for
	FoundAt   time.Time
}

// WatchOptions say how often to look.
type WatchOptions struct {
	Every time.Duration // a tenant's changes, at most this often
	Full  time.Duration // all there is of a tenant, this often
	Turn  int           // so many slots besides, in turn, in each pass
	// Budget bounds the time that full passes take in one call, and a tenth of it
	// that of tenants where nothing happens, counted when one begins; what is left
	// waits for the next call. Zero: no bound.
	Budget time.Duration
}

// WatchPass is one pass over one tenant.
type WatchPass struct {
	TenantID string
	Full     bool
	Slots    int       // looked at; 0 for a full pass
	Broken   []Finding // seen for the first time
	Mended   []Finding
}

// WatchReport tells what one call looked at, and how all tenants stand now.
type WatchReport struct {
	At     time.Time
	Passes []WatchPass
	// Counts are the violations by invariant, all of InvariantIDs.
	Counts map[string]int
	// Open are the violations themselves, at most ten of each invariant and tenant.
	Open []Finding
	// FullSince is the oldest of the tenants' last full passes: since then
	// everything was looked at. Nil before the first.
	FullSince *time.Time
}

const (
	// eventsPerPass bounds how much of the history one pass takes; the next goes on from there.
	eventsPerPass = 20_000
	// slotsAtOnce bounds the arguments of one statement.
	slotsAtOnce = 500
	// mostFindings is how many rows of one invariant and tenant are kept.
	mostFindings = 1000
)

const watchTenantsSQL = `-- tenants to check
WITH clock AS (SELECT coalesce(@at::timestamptz, statement_timestamp()) AS now)
SELECT tenant, "full", quiet, looked_at FROM (
	SELECT t.id::text AS tenant, c.tenant_id IS NULL OR c.full_at IS NULL OR c.full_at <= clock.now - @full::interval
		OR (c.full_at <= clock.now - @full::interval / 6 AND EXISTS (SELECT 1 FROM self_check_findings f WHERE f.tenant_id = t.id AND f.slot_id IS NULL)) AS "full",
		NOT coalesce(t.feed_head > c.feed OR t.id = ANY(@due::text[]::uuid[])
			OR EXISTS (SELECT 1 FROM events e WHERE e.tenant_id = t.id AND e.feed IS NULL)
			OR EXISTS (SELECT 1 FROM self_check_findings f WHERE f.tenant_id = t.id), false) AS quiet,
		c.looked_at
	FROM tenants t CROSS JOIN clock LEFT JOIN self_checks c ON c.tenant_id = t.id
	WHERE c.looked_at IS NULL OR c.looked_at <= clock.now - @every::interval OR c.full_at IS NULL OR c.full_at <= clock.now - @full::interval
) candidates
ORDER BY "full", quiet, looked_at NULLS FIRST, tenant`

const addSelfCheckSQL = `-- begin to check a tenant
INSERT INTO self_checks (tenant_id, feed) SELECT @tenant, 0 WHERE EXISTS (SELECT 1 FROM tenants WHERE id = @tenant) ON CONFLICT DO NOTHING`

// A pass takes its time: the timeout for steps does not fit. A plan that is made
// for all slots would read all of them for a few; and a pass in the background
// shall not take the other cores.
const watchSettingsSQL = `-- settings of a check
SELECT set_config('statement_timeout', '0', true), set_config('plan_cache_mode', 'force_custom_plan', true),
	set_config('max_parallel_workers_per_gather', '0', true), set_config('jit', 'off', true)`

const lockSelfCheckSQL = `-- lock the check of a tenant
SELECT c.feed, t.feed_head AS head, c.turn::text, coalesce(@at::timestamptz, now()) AS now
FROM self_checks c JOIN tenants t ON t.id = c.tenant_id WHERE c.tenant_id = @tenant FOR NO KEY UPDATE OF c SKIP LOCKED`

// What has no place in the feed yet is looked at once more when it has.
const changedSlotsSQL = `-- slots that changed
SELECT slot_id::text AS slot, coalesce(max(feed), 0) AS feed FROM (
	(SELECT slot_id, feed FROM events WHERE tenant_id = @tenant AND feed > @after ORDER BY feed LIMIT @limit)
	UNION ALL
	(SELECT slot_id, NULL FROM events WHERE tenant_id = @tenant AND feed IS NULL ORDER BY id LIMIT @limit)
	UNION ALL
	SELECT slot_id, NULL FROM self_check_findings WHERE tenant_id = @tenant AND slot_id IS NOT NULL
) changed GROUP BY slot_id`

const turnSQL = `-- slots whose turn it is
SELECT id::text FROM slots WHERE tenant_id = @tenant AND id > @after ORDER BY id LIMIT @limit`

const findingsSQL = `-- findings about slots
SELECT tenant_id::text, invariant, example, slot_id::text, n, found_at FROM self_check_findings
WHERE tenant_id = @tenant AND (@slots::text[] IS NULL OR slot_id = ANY(@slots::text[]::uuid[]))`

const mendedSQL = `-- findings that are mended
DELETE FROM self_check_findings WHERE tenant_id = @tenant
	AND (invariant, example) IN (SELECT i, e FROM unnest(@invariants::text[], @examples::text[]) AS gone (i, e))`

const brokenSQL = `-- findings
INSERT INTO self_check_findings (tenant_id, invariant, example, slot_id, n, found_at)
SELECT @tenant, i, e, s, c, @now::timestamptz
FROM unnest(@invariants::text[], @examples::text[], @slots::text[]::uuid[], @counts::int[]) AS found (i, e, s, c)
ON CONFLICT (tenant_id, invariant, example) DO UPDATE SET n = excluded.n, slot_id = excluded.slot_id`

const selfCheckedSQL = `-- a tenant was checked
UPDATE self_checks SET feed = greatest(feed, @feed), turn = @turn, looked_at = @now, full_at = CASE WHEN @full::boolean THEN @now ELSE full_at END
WHERE tenant_id = @tenant`

// The places of the window are counted per tenant and invariant.
const openFindingsSQL = `-- open findings of all tenants
SELECT tenant_id::text, invariant, example, slot_id::text, n, found_at, total FROM (
	SELECT tenant_id, invariant, example, slot_id, n, found_at, (sum(n) OVER of_one)::int AS total, row_number() OVER (of_one ORDER BY found_at, example) AS place
	FROM self_check_findings WINDOW of_one AS (PARTITION BY tenant_id, invariant)
) f WHERE place <= 10 ORDER BY tenant_id, invariant, place`

const fullSinceSQL = `-- the oldest full check
SELECT min(coalesce(c.full_at, '-infinity')) = '-infinity' AS unfinished, min(c.full_at) AS at, coalesce(@at::timestamptz, statement_timestamp()) AS now
FROM tenants t LEFT JOIN self_checks c ON c.tenant_id = t.id`

// WatchInvariants looks at what has changed since the last call of any instance,
// and at all there is of the tenants whose full pass is due. A tenant that
// fails does not stop the others; the report tells of these.
func (s *Store) WatchInvariants(ctx context.Context, o WatchOptions) (WatchReport, error) {
	var report WatchReport
	var failed []error
	due := map[string][]string{}
	refs, err := s.refs(ctx, dueSlotsSQL, []string{})
	if err != nil {
		return report, classify(err)
	}
	dueTenants := []string{}
	for _, ref := range refs {
		if due[ref.Tenant] == nil {
			dueTenants = append(dueTenants, ref.Tenant)
		}
		due[ref.Tenant] = append(due[ref.Tenant], ref.Slot)
	}
	type candidate struct {
		Tenant   string
		Full     bool
		Quiet    bool // nothing has happened there
		LookedAt *time.Time
	}
	found, err := list[candidate](ctx, s.db, watchTenantsSQL, pgx.StrictNamedArgs{"at": s.at, "full": o.Full, "every": o.Every, "due": dueTenants})
	if err != nil {
		return report, classify(err)
	}
	var spent, quiet time.Duration
	for _, c := range found {
		full := c.Full
		if full && o.Budget > 0 && spent >= o.Budget {
			full = false // its turn comes; what changed is looked at now
		}
		if !full && c.Quiet && o.Budget > 0 && quiet > 0 && quiet >= o.Budget/10 {
			continue // those that were looked at longest ago come first
		}
		start := time.Now()
		pass, err := s.watchTenant(ctx, c.Tenant, o, full, due[c.Tenant])
		switch took := time.Since(start); {
		case full:
			spent += took
		case c.Quiet:
			quiet += took
		}
		switch {
		case ctx.Err() != nil:
			return report, ctx.Err()
		case code(err) == "40001" || errors.Is(err, errSkipped): // another instance has just done it
		case err != nil:
			failed = append(failed, err)
		default:
			report.Passes = append(report.Passes, pass)
		}
	}
	if err := s.openFindings(ctx, &report); err != nil {
		failed = append(failed, err)
	}
	return report, errors.Join(failed...)
}

func (s *Store) openFindings(ctx context.Context, report *WatchReport) error {
	type open struct {
		Finding
		Total int
	}
	rows, err := list[open](ctx, s.db, openFindingsSQL, pgx.StrictNamedArgs{})
	if err != nil {
		return classify(err)
	}
	report.Counts = map[string]int{}
	for _, id := range InvariantIDs {
		report.Counts[id] = 0
	}
	tenant, invariant := "", ""
	for _, r := range rows {
		if r.TenantID != tenant || r.Invariant != invariant {
			tenant, invariant = r.TenantID, r.Invariant
			report.Counts[invariant] += r.Total
		}
		report.Open = append(report.Open, r.Finding)
	}
	var unfinished *bool
	err = s.db.QueryRow(ctx, fullSinceSQL, pgx.StrictNamedArgs{"at": s.at}).Scan(&unfinished, &report.FullSince, &report.At)
	if unfinished == nil || *unfinished {
		report.FullSince = nil
	}
	report.At = report.At.UTC()
	return classify(err)
}

// watchTenant is one pass over one tenant, in one snapshot.
func (s *Store) watchTenant(ctx context.Context, tenant string, o WatchOptions, full bool, due []string) (WatchPass, error) {
	pass := WatchPass{TenantID: tenant, Full: full}
	if _, err := s.db.Exec(ctx, addSelfCheckSQL, pgx.StrictNamedArgs{"tenant": tenant}); err != nil {
		return pass, err
	}
	err := pgx.BeginTxFunc(ctx, s.db, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, watchSettingsSQL, pgx.StrictNamedArgs{}); err != nil {
			return err
		}
		var feed, head int64
		var turn string
		var now time.Time
		err := tx.QueryRow(ctx, lockSelfCheckSQL, pgx.StrictNamedArgs{"tenant": tenant, "at": s.at}).Scan(&feed, &head, &turn, &now)
		if errors.Is(err, pgx.ErrNoRows) {
			return errSkipped
		}
		if err != nil {
			return err
		}
		found := violations{}
		var slots []string
		if full {
			feed = head
			if found, err = checkIn(ctx, tx, tenant, nil, now); err != nil {
				return err
			}
		} else {
			slots = append([]string{}, due...)
			type changed struct {
				Slot string
				Feed int64
			}
			rows, err := list[changed](ctx, tx, changedSlotsSQL, pgx.StrictNamedArgs{"tenant": tenant, "after": feed, "limit": eventsPerPass})
			if err != nil {
				return err
			}
			for _, r := range rows {
				slots, feed = append(slots, r.Slot), max(feed, r.Feed)
			}
			if o.Turn > 0 {
				var besides []string
				if besides, turn, err = slotsInTurn(ctx, tx, tenant, turn, o.Turn); err != nil {
					return err
				}
				slots = append(slots, besides...)
			}
			slices.Sort(slots)
			slots = slices.Compact(slots)
			pass.Slots = len(slots)
			for some := range slices.Chunk(slots, slotsAtOnce) {
				part, err := checkIn(ctx, tx, tenant, some, now)
				if err != nil {
					return err
				}
				for id, rows := range part {
					found[id] = append(found[id], rows...)
				}
			}
		}
		if full || len(slots) > 0 {
			if err := pass.note(ctx, tx, slots, found, now); err != nil {
				return err
			}
		}
		_, err = tx.Exec(ctx, selfCheckedSQL, pgx.StrictNamedArgs{"tenant": tenant, "feed": feed, "turn": turn, "now": now, "full": full})
		return err
	})
	return pass, err
}

// slotsInTurn are the n slots after the one that was last; after the end it begins anew.
func slotsInTurn(ctx context.Context, tx pgx.Tx, tenant, last string, n int) (slots []string, next string, err error) {
	rows, err := tx.Query(ctx, turnSQL, pgx.StrictNamedArgs{"tenant": tenant, "after": last, "limit": n})
	if err != nil {
		return nil, "", err
	}
	if slots, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
		return nil, "", err
	}
	if len(slots) < n {
		return slots, "00000000-0000-0000-0000-000000000000", nil
	}
	return slots, slots[n-1], nil
}

// note keeps what was found about the slots, nil for all, in the place of what was known about them.
func (p *WatchPass) note(ctx context.Context, tx pgx.Tx, slots []string, found violations, now time.Time) error {
	type key struct{ invariant, example string }
	before := map[key]Finding{}
	rows, err := list[Finding](ctx, tx, findingsSQL, pgx.StrictNamedArgs{"tenant": p.TenantID, "slots": slots})
	if err != nil {
		return err
	}
	for _, f := range rows {
		before[key{f.Invariant, f.Example}] = f
	}
	var invariants, examples []string
	var of []*string
	var counts []int
	for _, id := range InvariantIDs {
		at := map[string]int{}
		for _, v := range found[id] {
			if i, again := at[v.Example]; again {
				counts[i]++
				continue
			}
			if len(at) == mostFindings {
				break
			}
			at[v.Example] = len(counts)
			invariants, examples, of, counts = append(invariants, id), append(examples, v.Example), append(of, v.Slot), append(counts, 1)
		}
	}
	for i, example := range examples {
		k := key{invariants[i], example}
		if _, known := before[k]; !known {
			p.Broken = append(p.Broken, Finding{TenantID: p.TenantID, Invariant: k.invariant, Example: example, SlotID: of[i], N: counts[i], FoundAt: now})
		}
		delete(before, k)
	}
	var goneIDs, goneExamples []string
	for k, f := range before {
		goneIDs, goneExamples = append(goneIDs, k.invariant), append(goneExamples, k.example)
		p.Mended = append(p.Mended, f)
	}
	batch := &pgx.Batch{}
	if len(goneIDs) > 0 {
		batch.Queue(mendedSQL, pgx.StrictNamedArgs{"tenant": p.TenantID, "invariants": goneIDs, "examples": goneExamples})
	}
	if len(examples) > 0 {
		batch.Queue(brokenSQL, pgx.StrictNamedArgs{"tenant": p.TenantID, "invariants": invariants, "examples": examples, "slots": of, "counts": counts, "now": now})
	}
	if batch.Len() == 0 {
		return nil
	}
	return tx.SendBatch(ctx, batch).Close()
}

// SelfCheck is how the watch over one tenant stands.
type SelfCheck struct {
	LookedAt *time.Time // at what has changed; nil before the first pass
	FullAt   *time.Time // at all there is
	Open     []Finding  // oldest first, at most some of each invariant
	Counts   map[string]int
}

const selfCheckSQL = `-- check of a tenant
SELECT looked_at, full_at FROM self_checks WHERE tenant_id = @tenant`

const tenantFindingsSQL = `-- open findings of a tenant
SELECT tenant_id::text, invariant, example, slot_id::text, n, found_at, total FROM (
	SELECT tenant_id, invariant, example, slot_id, n, found_at, (sum(n) OVER of_one)::int AS total, row_number() OVER (of_one ORDER BY found_at, example) AS place
	FROM self_check_findings WHERE tenant_id = @tenant WINDOW of_one AS (PARTITION BY invariant)
) f WHERE place <= @most ORDER BY found_at, invariant, place`

// SelfCheckOf tells how the invariants of one tenant stand, with at most so many
// examples of each. Two statements.
func (s *Store) SelfCheckOf(ctx context.Context, tenant string, examples int) (SelfCheck, error) {
	out := SelfCheck{Counts: map[string]int{}}
	err := s.db.QueryRow(ctx, selfCheckSQL, pgx.StrictNamedArgs{"tenant": tenant}).Scan(&out.LookedAt, &out.FullAt)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return out, classify(err)
	}
	type open struct {
		Finding
		Total int
	}
	rows, err := list[open](ctx, s.db, tenantFindingsSQL, pgx.StrictNamedArgs{"tenant": tenant, "most": examples})
	if err != nil {
		return out, classify(err)
	}
	for _, r := range rows {
		out.Open = append(out.Open, r.Finding)
		out.Counts[r.Invariant] = r.Total
	}
	return out, nil
}
