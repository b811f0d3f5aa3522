package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"holdfast/store"
	"holdfast/store/storetest"
)

// rarely makes no full pass but the first, and passes over changes as often as it is called.
var rarely = store.WatchOptions{Full: 1000 * time.Hour}

func (s *stage) watch(o store.WatchOptions) store.WatchReport {
	s.t.Helper()
	report, err := s.Store.WatchInvariants(s.ctx(), o)
	s.must(err)
	return report
}

// passOver is the pass of the report over a tenant, which has to be there.
func passOver(t *testing.T, r store.WatchReport, tenant string) store.WatchPass {
	t.Helper()
	i := slices.IndexFunc(r.Passes, func(p store.WatchPass) bool { return p.TenantID == tenant })
	if i < 0 {
		t.Fatalf("nobody looked at %s: %+v", tenant, r)
	}
	return r.Passes[i]
}

func ofInvariant(findings []store.Finding, id string) (n int) {
	for _, f := range findings {
		if f.Invariant == id {
			n += f.N
		}
	}
	return n
}

// keptTables are those whose rows the breaks change.
var keptTables = []string{"slots", "waitlist_entries", "reservations", "events", "outbox"}

// keep remembers all rows, and gives what brings them back.
func (s *stage) keep() (mend func()) {
	for _, table := range keptTables {
		s.Exec(s.t, "CREATE TABLE kept_"+table+" AS TABLE "+table)
	}
	return func() {
		sql := "SET session_replication_role = replica;"
		for _, table := range keptTables {
			sql += fmt.Sprintf("DELETE FROM %s; INSERT INTO %[1]s OVERRIDING SYSTEM VALUE SELECT * FROM kept_%[1]s;", table)
		}
		s.Exec(s.t, sql+"SET session_replication_role = DEFAULT")
	}
}

// What breaks in a slot where something has happened is found by the very next
// pass over the changes, stays while it is so, and is gone with the pass after it was mended.
func TestAPassOverTheChangesFindsEachBreakAndItsMending(t *testing.T) {
	t.Parallel()
	for _, c := range breaks {
		t.Run(c.id+": "+c.name, func(t *testing.T) {
			t.Parallel()
			s := brokenStage(t, c.edit)
			s.full(1)
			first := s.watch(rarely)
			if p := passOver(t, first, s.Tenant.ID); !p.Full || len(first.Open) != 0 || first.FullSince == nil {
				t.Fatalf("%+v", first)
			}
			slot := c.prepare(s)
			mend := s.keep()
			s.breakBy(c.id, c.sql, slot)
			o := rarely
			if events, err := s.Store.History(s.ctx(), slot.TenantID, slot.ID, 0, 1); err != nil {
				t.Fatal(err)
			} else if len(events) == 0 {
				o.Turn = 10 // there is no trace: its turn comes
			}
			seen := s.watch(o)
			p := passOver(t, seen, s.Tenant.ID)
			if p.Full || ofInvariant(p.Broken, c.id) == 0 || seen.Counts[c.id] == 0 {
				t.Fatalf("not found: %+v", seen)
			}
			for _, f := range p.Broken {
				if f.Invariant != c.id && !slices.Contains(c.also, f.Invariant) {
					t.Errorf("also found: %+v", f)
				}
				if f.SlotID == nil || *f.SlotID != slot.ID {
					t.Errorf("the slot is not named: %+v", f)
				}
			}
			// Nothing happens, nothing is mended: it stays, and is no news.
			again := s.watch(rarely)
			if p := passOver(t, again, s.Tenant.ID); len(p.Broken)+len(p.Mended) != 0 || again.Counts[c.id] != seen.Counts[c.id] {
				t.Fatalf("%+v after %+v", again, seen)
			}
			mend()
			well := s.watch(rarely)
			if p := passOver(t, well, s.Tenant.ID); ofInvariant(p.Mended, c.id) == 0 || len(p.Broken) != 0 || ofInvariant(well.Open, c.id) != 0 || well.Counts[c.id] != 0 {
				t.Fatalf("not seen to be mended: %+v", well)
			}
		})
	}
}

// The cursor is a place in the feed: what has none yet is looked at now and once
// more when it has one, and then no more.
func TestAPassTakesUpWhereTheLastOneEnded(t *testing.T) {
	t.Parallel()
	s := brokenStage(t, nil)
	quiet, busy := s.Slot(t, 3), s.Slot(t, 3)
	s.Hold(t, quiet, 1)
	s.watch(rarely)
	s.sweep() // gives the event its place
	if p := passOver(t, s.watch(rarely), s.Tenant.ID); p.Slots != 1 {
		t.Fatalf("%+v", p)
	}
	if r := s.watch(store.WatchOptions{Full: time.Hour, Every: time.Minute}); len(r.Passes) != 0 {
		t.Fatalf("nothing has happened: %+v", r)
	}
	s.Hold(t, busy, 1)
	if r := s.watch(store.WatchOptions{Full: time.Hour, Every: time.Minute}); len(r.Passes) != 0 {
		t.Fatalf("it has just been looked at: %+v", r)
	}
	// A change without a trace where nothing happens is seen in its turn, or by the full pass.
	s.Exec(t, "UPDATE slots SET taken = 3 WHERE id = $1", quiet.ID)
	if p := passOver(t, s.watch(rarely), s.Tenant.ID); p.Slots != 1 || len(p.Broken) != 0 {
		t.Fatalf("%+v", p)
	}
	full := s.watch(store.WatchOptions{})
	if p := passOver(t, full, s.Tenant.ID); !p.Full || ofInvariant(p.Broken, "I2") != 1 || full.Counts["I2"] != 1 {
		t.Fatalf("%+v", full)
	}
	// And from then on the slot is looked at in each pass.
	s.Exec(t, "UPDATE slots SET taken = 1 WHERE id = $1", quiet.ID)
	if r := s.watch(rarely); r.Counts["I2"] != 0 {
		t.Fatalf("%+v", r)
	}
	check, err := s.Store.SelfCheckOf(s.ctx(), s.Tenant.ID, 5)
	s.must(err)
	if check.LookedAt == nil || check.FullAt == nil || len(check.Open) != 0 {
		t.Fatalf("%+v", check)
	}
}

// Whatever is broken, and wherever, is seen after as many passes as it takes to go through all slots.
func TestEachSlotHasItsTurn(t *testing.T) {
	t.Parallel()
	s := brokenStage(t, nil)
	for range 5 {
		s.Slot(t, 1)
	}
	o := store.WatchOptions{Full: 1000 * time.Hour, Turn: 2}
	s.watch(o)
	s.Exec(t, "UPDATE slots SET taken = 1")
	for i, want := range []int{2, 4, 5, 5} {
		if r := s.watch(o); r.Counts["I2"] != want {
			t.Fatalf("after %d passes: %+v", i+1, r.Counts)
		}
	}
	s.Exec(t, "UPDATE slots SET taken = 0")
	if r := s.watch(o); len(r.Open) != 0 {
		t.Fatalf("%+v", r)
	}
}

func TestFindingsOfOneTenantAreNotAnothers(t *testing.T) {
	t.Parallel()
	s := brokenStage(t, nil)
	other := s.AddTenant(t, "other", nil)
	for range 12 {
		s.Slot(t, 1)
	}
	s.Exec(t, "UPDATE slots SET taken = 1")
	r := s.watch(store.WatchOptions{Full: time.Hour})
	if r.Counts["I2"] != 12 || ofInvariant(r.Open, "I2") != 10 {
		t.Fatalf("%+v", r.Counts)
	}
	mine, err := s.Store.SelfCheckOf(s.ctx(), s.Tenant.ID, 3)
	s.must(err)
	if mine.Counts["I2"] != 12 || ofInvariant(mine.Open, "I2") != 3 {
		t.Fatalf("%+v", mine)
	}
	theirs, err := s.Store.SelfCheckOf(s.ctx(), other.ID, 3)
	s.must(err)
	if theirs.FullAt == nil || len(theirs.Open)+len(theirs.Counts) != 0 {
		t.Fatalf("%+v", theirs)
	}
}

// A budget leaves full passes for the next call, and what changed is looked at all the same.
func TestFullPassesWaitForTheirTurn(t *testing.T) {
	t.Parallel()
	s := brokenStage(t, nil)
	s.AddTenant(t, "other", nil)
	count := func(r store.WatchReport) (full, part int) {
		for _, p := range r.Passes {
			if p.Full {
				full++
			} else {
				part++
			}
		}
		return full, part
	}
	o := store.WatchOptions{Full: time.Hour, Budget: 1}
	r := s.watch(o)
	if full, part := count(r); full != 1 || part != 1 || r.FullSince != nil {
		t.Fatalf("%+v", r)
	}
	r = s.watch(o)
	if full, _ := count(r); full != 1 || r.FullSince == nil {
		t.Fatalf("%+v", r)
	}
}

// Two instances that look at the same moment: one has the tenant, the other passes by it.
func TestInstancesShareTheWatch(t *testing.T) {
	t.Parallel()
	s := brokenStage(t, nil)
	s.watch(rarely)
	s.Hold(t, s.Slot(t, 1), 1)
	conn := s.Conn(t)
	tx, err := conn.Begin(t.Context())
	s.must(err)
	_, err = tx.Exec(t.Context(), "SELECT 1 FROM self_checks FOR NO KEY UPDATE")
	s.must(err)
	if r := s.watch(rarely); len(r.Passes) != 0 {
		t.Fatalf("%+v", r)
	}
	s.must(tx.Rollback(t.Context()))
	if r := s.watch(rarely); len(r.Passes) != 1 {
		t.Fatalf("%+v", r)
	}
}

// storedSlots stores slots with three bookings each and their histories, all in the same way.
const storedSlots = `
WITH made AS (
	INSERT INTO slots (tenant_id, service_id, resource_id, starts_at, ends_at, capacity, taken, version)
	SELECT @tenant, @service, @resource, at, at + interval '1 minute', 6, 3, 6
	FROM (SELECT timestamptz '2028-01-01 00:00Z' + n * interval '2 minutes' AS at FROM generate_series(1, @n::int) AS n) x
	RETURNING tenant_id, id
), booked AS (
	INSERT INTO reservations (tenant_id, slot_id, party_size, state, number, locale, owner, terms_version, link_hash, source, created_at, confirmed_at)
	SELECT m.tenant_id, m.id, 1, 'confirmed', 'N' || row_number() OVER (), 'en', 'x', 1, sha256((m.id::text || i)::bytea), 'web', now(), now()
	FROM made m CROSS JOIN generate_series(1, 3) AS i
	RETURNING tenant_id, slot_id, id
)
INSERT INTO events (tenant_id, slot_id, number, kind, actor, party_size, seats, capacity, subject_id, at, feed)
SELECT b.tenant_id, b.slot_id, row_number() OVER (PARTITION BY b.slot_id), k.kind, 'customer', 1, k.seats, 6, b.id, now(), row_number() OVER ()
FROM booked b CROSS JOIN (VALUES ('held', 1), ('extended', 0)) AS k (kind, seats)`

// The cost of a pass grows with what has changed: the rows that it reads, as the
// database counts them, are few among many.
func TestAPassReadsInProportionToWhatChanged(t *testing.T) {
	t.Parallel()
	s := brokenStage(t, nil)
	const stored = 4000
	_, err := s.Pool.Exec(s.ctx(), storedSlots, pgx.StrictNamedArgs{"tenant": s.Tenant.ID, "service": s.Service.ID, "resource": s.Resource.ID, "n": stored})
	s.must(err)
	s.Exec(t, "UPDATE tenants SET feed_head = (SELECT max(feed) FROM events)")
	s.Exec(t, "ANALYZE")
	var changed []store.Slot
	for range 3 {
		slot, _ := s.full(2)
		s.Join(t, slot, 1)
		changed = append(changed, slot)
	}
	s.Exec(t, "INSERT INTO self_checks (tenant_id, feed, looked_at, full_at) SELECT id, feed_head, now(), '2027-03-02' FROM tenants")

	pool := s.NewPool(t, 1)
	one, err := store.New(pool, make([]byte, 32), store.Watch{})
	s.must(err)
	rowsRead := func(do func()) int {
		read := func() (n int) {
			_, err := pool.Exec(s.ctx(), "SELECT pg_stat_force_next_flush()")
			s.must(err)
			s.must(s.Conn(t).QueryRow(s.ctx(), "SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) FROM pg_stat_user_tables").Scan(&n))
			return n
		}
		before := read()
		do()
		return read() - before
	}
	var report store.WatchReport
	read := rowsRead(func() {
		report, err = one.At(s.begin).WatchInvariants(s.ctx(), rarely)
		s.must(err)
	})
	if p := passOver(t, report, s.Tenant.ID); p.Full || p.Slots != len(changed) {
		t.Fatalf("%+v", p)
	}
	full := rowsRead(func() {
		report, err = one.At(s.begin).WatchInvariants(s.ctx(), store.WatchOptions{})
		s.must(err)
	})
	if p := passOver(t, report, s.Tenant.ID); !p.Full {
		t.Fatalf("%+v", p)
	}
	t.Logf("%d rows were read for %d of %d slots, %d for all", read, len(changed), stored, full)
	if read > 400*len(changed) || full < stored*10 {
		t.Errorf("%d rows were read for %d of %d slots, %d for all", read, len(changed), stored, full)
	}
}

// No statement of the check reads a table for a few slots: not what it is told of by an index.
func TestTheCheckFindsItsSlotsByIndex(t *testing.T) {
	t.Parallel()
	w := storetest.New(t)
	conn := w.Conn(t)
	ctx := context.Background()
	// Few rows, and a planner that would rather not read them all.
	if _, err := conn.Exec(ctx, "SET enable_seqscan = off; SET plan_cache_mode = force_custom_plan"); err != nil {
		t.Fatal(err)
	}
	id := "00000000-0000-4000-8000-000000000001"
	found := statements(t)
	for _, name := range []string{"checkI1SQL", "checkI2SQL", "checkI3SQL", "checkI5SQL", "checkI6SQL", "checkI7SQL", "checkI8SQL", "checkI9SQL", "numberedEventsSQL", "slotStatesSQL", "changedSlotsSQL", "turnSQL"} {
		args := pgx.NamedArgs{"tenant": id, "slots": []string{id}, "now": time.Now(), "after": 1, "limit": 10}
		if name == "turnSQL" {
			args["after"] = id
		}
		rows, err := conn.Query(ctx, "EXPLAIN "+found[name], args)
		if err != nil {
			t.Fatal(name, err)
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(name, err)
		}
		if plan := strings.Join(lines, "\n"); strings.Contains(plan, "Seq Scan on") {
			t.Errorf("%s:\n%s", name, plan)
		}
	}
}
