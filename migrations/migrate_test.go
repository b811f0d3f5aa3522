package migrations_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"holdfast/migrations"
	"holdfast/store/pgserver"
	"holdfast/store/storetest"
)

var update = flag.Bool("update", false, "write schema.sql")

func TestMain(m *testing.M) { storetest.Main(m) }

func TestFilesAreNumberedWithoutGaps(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("sql/*")
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		t.Fatal("no migrations")
	}
	for i, name := range names {
		if want := fmt.Sprintf("%05d_", i+1); !strings.HasPrefix(filepath.Base(name), want) || filepath.Ext(name) != ".sql" {
			t.Errorf("%s: the name should start with %s and end with .sql", name, want)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(text, []byte("-- +goose Down\n")) {
			t.Errorf("%s has no Down part", name)
		}
	}
}

func TestUpDownAndUpAgainGiveTheSameSchema(t *testing.T) {
	t.Parallel()
	w := storetest.New(t, storetest.Unmigrated())
	all := up(t, w)
	first := dump(t, w)
	if n := up(t, w); n != 0 {
		t.Errorf("a second Up applied %d", n)
	}
	n, err := migrations.DownTo(t.Context(), w.DSN, 0)
	if err != nil {
		t.Fatal(err)
	}
	if n != all {
		t.Errorf("%d of %d were taken back", n, all)
	}
	if left := objects(t, w); len(left) > 0 {
		t.Errorf("after taking everything back there is still: %s", strings.Join(left, ", "))
	}
	if pending, err := migrations.HasPending(t.Context(), w.Pool); err != nil || !pending {
		t.Errorf("pending %v, error %v", pending, err)
	}
	if n := up(t, w); n != all {
		t.Errorf("the second time %d of %d were applied", n, all)
	}
	if diff := cmp.Diff(first, dump(t, w)); diff != "" {
		t.Errorf("another schema the second time (-first +second):\n%s", diff)
	}
}

// What a Down part leaves behind, its Up part would trip over.
func TestEachStepDownCanBeRepeated(t *testing.T) {
	t.Parallel()
	w := storetest.New(t)
	steps, err := migrations.Status(t.Context(), w.Pool)
	if err != nil {
		t.Fatal(err)
	}
	whole := objects(t, w)
	for _, step := range steps {
		if step.AppliedAt.IsZero() {
			t.Fatalf("%s is pending", step.Name)
		}
		if _, err := migrations.DownTo(t.Context(), w.DSN, step.Version-1); err != nil {
			t.Fatalf("%s: %v", step.Name, err)
		}
		up(t, w)
		if diff := cmp.Diff(whole, objects(t, w)); diff != "" {
			t.Errorf("down to before %s and up again (-before +after):\n%s", step.Name, diff)
		}
	}
}

func TestStartersAtOnceMigrateOnce(t *testing.T) {
	t.Parallel()
	w := storetest.New(t, storetest.Unmigrated())
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		total int
		once  = storetest.Barrier(4)
	)
	for range 4 {
		wg.Go(func() {
			once()
			n, err := migrations.Up(t.Context(), w.DSN)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			total += n
			mu.Unlock()
		})
	}
	wg.Wait()
	steps, err := migrations.Status(t.Context(), w.Pool)
	if err != nil {
		t.Fatal(err)
	}
	if total != len(steps) {
		t.Errorf("%d migrations were applied %d times", len(steps), total)
	}
}

func TestTimeoutsOfTheOperatorStay(t *testing.T) {
	t.Parallel()
	w := storetest.New(t, storetest.Unmigrated())
	if _, err := w.Pool.Exec(t.Context(), `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET lock_timeout = %L', current_database(), '7s'); END $$`); err != nil {
		t.Fatal(err)
	}
	up(t, w)
	conn := w.Conn(t)
	for setting, want := range map[string]string{"lock_timeout": "7s", "statement_timeout": "10s"} {
		var got string
		if err := conn.QueryRow(t.Context(), "SELECT current_setting($1)", setting).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%s = %s, want %s", setting, got, want)
		}
	}
}

// schema.sql is for reviewers: one place to read what all migrations together make. `make schema` writes it.
func TestSchemaFileIsFresh(t *testing.T) {
	t.Parallel()
	got := "-- What the migrations make, for reading; written by `make schema`.\n" + dump(t, storetest.New(t))
	if *update {
		if err := os.WriteFile("schema.sql", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("schema.sql")
	if err != nil {
		t.Fatalf("%v; type: make schema", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("schema.sql is not what the migrations make; type: make schema (-file +made):\n%s", diff)
	}
}

// What the isolation between tenants and the way to several machines rest on.
func TestCatalogKeepsTenantsApart(t *testing.T) {
	t.Parallel()
	w := storetest.New(t)
	rules := []struct{ rule, sql string }{
		{"a primary key that starts with tenant_id", `
			SELECT c.relname::text FROM bound c
			WHERE NOT EXISTS (
			    SELECT 1 FROM pg_index i JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
			    WHERE i.indrelid = c.oid AND i.indisprimary AND a.attname = 'tenant_id')`},
		{"tenant_id never null", `
			SELECT c.relname::text FROM bound c
			WHERE NOT EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id' AND a.attnotnull)`},
		{"foreign keys that pair tenant_id with tenant_id", `
			SELECT k.conrelid::regclass || '.' || k.conname FROM pg_constraint k
			WHERE k.contype = 'f' AND k.conrelid IN (SELECT oid FROM bound) AND k.confrelid IN (SELECT oid FROM bound)
			  AND NOT EXISTS (
			    SELECT 1 FROM unnest(k.conkey, k.confkey) AS p (mine, theirs)
			    JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = p.mine
			    JOIN pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = p.theirs
			    WHERE a.attname = 'tenant_id' AND b.attname = 'tenant_id')`},
		{"no reference from a shared table to one of a tenant", `
			SELECT k.conrelid::regclass || '.' || k.conname FROM pg_constraint k
			WHERE k.contype = 'f' AND k.confrelid IN (SELECT oid FROM bound) AND k.conrelid NOT IN (SELECT oid FROM bound)`},
		{"unique indexes and exclusions that hold tenant_id", `
			SELECT i.indexrelid::regclass::text FROM pg_index i JOIN bound c ON c.oid = i.indrelid
			WHERE (i.indisunique OR i.indisexclusion)
			  AND NOT EXISTS (
			    SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id' AND a.attnum = ANY (i.indkey))`},
		{"no triggers", `
			SELECT t.tgrelid::regclass || '.' || t.tgname FROM pg_trigger t WHERE NOT t.tgisinternal`},
		{"no rules", `
			SELECT r.ev_class::regclass || '.' || r.rulename FROM pg_rewrite r JOIN bound c ON c.oid = r.ev_class`},
		{"no timetz, which Go can't read", `
			SELECT a.attrelid::regclass || '.' || a.attname FROM pg_attribute a JOIN bound c ON c.oid = a.attrelid
			WHERE a.atttypid = 'timetz'::regtype AND NOT a.attisdropped`},
		{"instants with a zone", `
			SELECT a.attrelid::regclass || '.' || a.attname FROM pg_attribute a JOIN bound c ON c.oid = a.attrelid
			WHERE a.atttypid = 'timestamp'::regtype AND NOT a.attisdropped
			  -- The wall time of a schedule that a slot stands for: no instant.
			  AND (a.attrelid::regclass::text, a.attname) <> ('slots', 'schedule_start')`},
		// An update of a column in a whole unique index takes FOR UPDATE, for which the foreign keys of children wait.
		{"unique indexes of slots partial, but on the key that never changes", `
			SELECT i.indexrelid::regclass::text FROM pg_index i
			WHERE i.indrelid = 'slots'::regclass AND i.indisunique AND NOT i.indisexclusion
			  AND i.indpred IS NULL AND i.indexprs IS NULL
			  AND EXISTS (
			    SELECT 1 FROM pg_attribute a
			    WHERE a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey) AND a.attname NOT IN ('tenant_id', 'id'))`},
	}
	const bound = `
		WITH bound AS (
		    SELECT c.oid, c.relname FROM pg_class c
		    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
		      AND c.relname NOT IN ('tenants', 'staff', 'sessions', 'rate_limits', 'goose_db_version'))`
	var tables int
	if err := w.Pool.QueryRow(t.Context(), bound+"SELECT count(*) FROM bound").Scan(&tables); err != nil {
		t.Fatal(err)
	}
	if tables < 8 {
		t.Errorf("only %d tables of tenants are seen", tables)
	}
	for _, r := range rules {
		breaches, err := list(t, w, bound+r.sql)
		if err != nil {
			t.Fatalf("%s: %v", r.rule, err)
		}
		if len(breaches) > 0 {
			t.Errorf("wanted: %s; not so: %s", r.rule, strings.Join(breaches, ", "))
		}
	}
}

func up(t *testing.T, w *storetest.World) int {
	t.Helper()
	n, err := migrations.Up(t.Context(), w.DSN)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func list(t *testing.T, w *storetest.World, sql string) ([]string, error) {
	t.Helper()
	rows, err := w.Pool.Query(t.Context(), sql)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// objects lists what is in the schema, without goose's own table.
func objects(t *testing.T, w *storetest.World) []string {
	t.Helper()
	got, err := list(t, w, `
		SELECT what FROM (
		    SELECT CASE relkind WHEN 'r' THEN 'table ' WHEN 'i' THEN 'index ' ELSE relkind::text || ' ' END || relname AS what
		    FROM pg_class WHERE relnamespace = 'public'::regnamespace
		    UNION ALL
		    SELECT 'function ' || p.proname FROM pg_proc p
		    WHERE p.pronamespace = 'public'::regnamespace
		      AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
		    UNION ALL
		    SELECT 'constraint ' || conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid)
		    FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND conrelid <> 0
		    UNION ALL
		    SELECT 'column ' || attrelid::regclass || '.' || attname || ' ' || format_type(atttypid, atttypmod)
		    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
		    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
		) x
		WHERE what NOT LIKE '%goose_db_version%'
		ORDER BY what COLLATE "C"`)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

var (
	// Versions, session settings and the random key of newer pg_dumps say nothing about the schema.
	noise = regexp.MustCompile(`(?m)^(--.*|SET .*|SELECT pg_catalog\.set_config\(.*|\\restrict .*|\\unrestrict .*)\n`)
	blank = regexp.MustCompile(`\n{3,}`)
)

func dump(t *testing.T, w *storetest.World) string {
	t.Helper()
	program, err := pgDump(t)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program,
		"--schema-only", "--no-owner", "--no-privileges", "--exclude-table=goose_db_version*", "--dbname="+w.DSN)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.Bytes())
	}
	text := blank.ReplaceAllString(noise.ReplaceAllString(string(out), ""), "\n\n")
	return strings.TrimSpace(text) + "\n"
}

// pgDump is the program beside the server's own, or the one on PATH.
func pgDump(t *testing.T) (string, error) {
	bin, err := pgserver.Find(t.Context(), "", os.Getenv("HOLDFAST_PG_BIN"))
	if err != nil {
		return "", err
	}
	beside := filepath.Join(bin.Dir, "pg_dump")
	if _, err := os.Stat(beside); err == nil {
		return beside, nil
	}
	onPath, err := exec.LookPath("pg_dump")
	if err != nil {
		return "", errors.New("pg_dump is needed to compare schemas and is neither in " + bin.Dir + " nor on PATH; install the PostgreSQL client package, such as postgresql-client")
	}
	return onPath, nil
}
