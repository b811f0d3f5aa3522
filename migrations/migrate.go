// Package migrations holds the schema as numbered SQL files and brings a database up to it.
//
// The files are numbered without gaps, have an Up and a Down part and run in a transaction each. They run one process
// at a time, under a session lock, so they need a connection of their own: the direct address of the server, not the
// one of a pooler.
package migrations

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed sql/*.sql
var embedded embed.FS

// Step is one migration and whether a database has it.
type Step struct {
	// Version is the number of the file, from 1.
	Version int64
	// Name is the name of the file.
	Name string
	// AppliedAt is when it ran, in UTC; zero while it is pending.
	AppliedAt time.Time
}

// Querier is a connection, a pool or a transaction that reads.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Execer is a connection, a pool or a transaction that writes.
type Execer interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// Up applies what is pending and answers how many files that were. With nothing pending it takes no lock. It waits up
// to a minute for another process that migrates. It also sets the timeouts of the database, see SetTimeouts.
func Up(ctx context.Context, directDSN string) (applied int, err error) {
	err = withDB(ctx, directDSN, func(db *sql.DB, conn *pgx.Conn) error {
		if applied, err = up(ctx, db, conn); err != nil {
			return err
		}
		return SetTimeouts(ctx, conn)
	})
	return applied, err
}

// UpSchema makes the tables in the schema that the search path of the address names, and sets nothing on the database
// itself: for a place that is dropped again.
func UpSchema(ctx context.Context, directDSN string) error {
	return withDB(ctx, directDSN, func(db *sql.DB, conn *pgx.Conn) error {
		_, err := up(ctx, db, conn)
		return err
	})
}

func up(ctx context.Context, db *sql.DB, conn *pgx.Conn) (applied int, err error) {
	pending, err := HasPending(ctx, conn)
	if err != nil || !pending {
		return 0, err
	}
	p, err := provider(db)
	if err != nil {
		return 0, err
	}
	done, err := p.Up(ctx)
	if err != nil {
		return len(done), fmt.Errorf("migrate: %w", err)
	}
	return len(done), nil
}

// DownTo takes back the migrations after version, the newest first; 0 takes back all. It answers how many.
func DownTo(ctx context.Context, directDSN string, version int64) (reverted int, err error) {
	err = withDB(ctx, directDSN, func(db *sql.DB, _ *pgx.Conn) error {
		p, err := provider(db)
		if err != nil {
			return err
		}
		done, err := p.DownTo(ctx, version)
		reverted = len(done)
		if err != nil {
			return fmt.Errorf("migrate down: %w", err)
		}
		return nil
	})
	return reverted, err
}

// Status lists all migrations in order.
func Status(ctx context.Context, q Querier) ([]Step, error) {
	steps, err := files()
	if err != nil {
		return nil, err
	}
	at, err := appliedAt(ctx, q)
	if err != nil {
		return nil, err
	}
	for i := range steps {
		steps[i].AppliedAt = at[steps[i].Version]
	}
	return steps, nil
}

// HasPending says whether the database lacks a migration of this program. One that is ahead of the program lacks
// none: an older program may run beside a newer one. It locks and writes nothing.
func HasPending(ctx context.Context, q Querier) (bool, error) {
	steps, err := Status(ctx, q)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(steps, func(s Step) bool { return s.AppliedAt.IsZero() }), nil
}

// Hash names the content of all files: two programs with the same hash make the same schema.
func Hash() (string, error) {
	steps, err := files()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, s := range steps {
		text, err := embedded.ReadFile(path.Join("sql", s.Name))
		if err != nil {
			return "", fmt.Errorf("read migration %s: %w", s.Name, err)
		}
		fmt.Fprintf(h, "%s %d\n%s", s.Name, len(text), text)
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// The advisory lock keeps starters at the same moment from changing the same catalog row.
const setTimeoutsSQL = `
-- set timeouts
DO $$
DECLARE
    want record;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('holdfast timeouts'));
    FOR want IN
        SELECT v.name, v.value
        FROM (VALUES ('lock_timeout', '3s'),
                     ('statement_timeout', '10s'),
                     ('jit', 'off'),
                     ('idle_in_transaction_session_timeout', '15s')) AS v (name, value)
        WHERE NOT EXISTS (
            SELECT 1
            FROM pg_db_role_setting s
            JOIN pg_database d ON d.oid = s.setdatabase AND d.datname = current_database()
            CROSS JOIN unnest(s.setconfig) AS c (setting)
            WHERE s.setrole = 0 AND split_part(c.setting, '=', 1) = v.name)
    LOOP
        EXECUTE format('ALTER DATABASE %I SET %I = %L', current_database(), want.name, want.value);
    END LOOP;
END
$$`

// SetTimeouts bounds how long later connections to this database wait for a lock (3 s), run a statement (10 s) and sit
// idle in a transaction (15 s), and turns compilation of statements off: for reads of some milliseconds it costs
// seconds (seen). They stand on the database because a pooler forgets what a session sets. A value that
// the operator has put on the database stays. A copy of a template database does not inherit them.
func SetTimeouts(ctx context.Context, db Execer) error {
	_, err := db.Exec(ctx, setTimeoutsSQL)
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "42501" {
		return fmt.Errorf("set the timeouts of the database: only its owner may; migrate as the owner: %w", err)
	}
	if err != nil {
		return fmt.Errorf("set the timeouts of the database: %w", err)
	}
	return nil
}

// withDB opens the same address twice, as goose speaks database/sql and our own statements speak pgx.
func withDB(ctx context.Context, dsn string, do func(*sql.DB, *pgx.Conn) error) (err error) {
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	// Building an index may take long, and goose's lock session idles meanwhile. lock_timeout stays: a migration that
	// waits for a lock makes everybody behind it wait too.
	patient := func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0", pgx.QueryExecModeSimpleProtocol)
		return err
	}
	if err := patient(ctx, conn); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	db := stdlib.OpenDB(*cfg, stdlib.OptionAfterConnect(patient))
	defer func() { err = errors.Join(err, db.Close()) }()
	return do(db, conn)
}

func provider(db *sql.DB) (*goose.Provider, error) {
	sqls, err := fs.Sub(embedded, "sql")
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	l, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 60))
	if err != nil {
		return nil, fmt.Errorf("lock migrations: %w", err)
	}
	p, err := goose.NewProvider(goose.DialectPostgres, db, sqls, goose.WithSessionLocker(l),
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	return p, nil
}

func files() ([]Step, error) {
	entries, err := embedded.ReadDir("sql") // sorted by name, and the numbers have leading zeros
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	steps := make([]Step, 0, len(entries))
	for _, e := range entries {
		number, _, _ := strings.Cut(e.Name(), "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("migration %s has no number: %w", e.Name(), err)
		}
		steps = append(steps, Step{Version: version, Name: e.Name()})
	}
	return steps, nil
}

const appliedSQL = `
-- applied migrations
SELECT version_id, tstamp AT TIME ZONE 'UTC' FROM goose_db_version WHERE is_applied AND version_id > 0`

func appliedAt(ctx context.Context, q Querier) (map[int64]time.Time, error) {
	at := map[int64]time.Time{}
	rows, err := q.Query(ctx, appliedSQL)
	if err == nil {
		var (
			version int64
			when    time.Time
		)
		_, err = pgx.ForEachRow(rows, []any{&version, &when}, func() error {
			at[version] = when.UTC()
			return nil
		})
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "42P01" {
		return at, nil // never migrated
	}
	if err != nil {
		return nil, fmt.Errorf("read applied migrations: %w", err)
	}
	return at, nil
}
