// Package storetest gives each test a database of its own on a real Postgres, and the tools to look at what the code
// under test does there: how many statements it sends, who waits for a lock, what happens when one statement fails.
//
// A test program starts one server, on first use, or takes the one that TEST_DATABASE_URL lends (the address, as a
// URL, of a database whose user may create others). The migrated schema is made once per server and copied for each
// test, so tests run in parallel and need no cleaning up. A missing Postgres is a failure, never a skip.
//
// It must not import store, whose tests import it.
package storetest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"holdfast/migrations"
	"holdfast/store/pgserver"
)

// patience is how long a test waits for a condition before it fails.
const patience = 20 * time.Second

// World is the database of one test.
type World struct {
	// Pool is the pool for the code under test; its statements are counted and can be made to fail.
	Pool *pgxpool.Pool
	// DSN is the address of the database.
	DSN string

	tracer *tracer
	watch  *pgxpool.Pool
	name   string
}

// Option changes what New gives.
type Option func(*options)

type options struct {
	conns int32
	empty bool
}

// Conns sets how many connections Pool may open; 8 unless said otherwise.
func Conns(n int) Option { return func(o *options) { o.conns = int32(n) } }

// Unmigrated gives a database without the schema.
func Unmigrated() Option { return func(o *options) { o.empty = true } }

// Main runs the tests of a package and then stops the server that they used. Call it from TestMain.
func Main(m *testing.M) {
	code := m.Run()
	if err := shared.stop(); err != nil {
		fmt.Fprintln(os.Stderr, "storetest:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// New gives the test a database of its own, dropped when the test ends.
func New(t testing.TB, opts ...Option) *World {
	t.Helper()
	o := options{conns: 8}
	for _, opt := range opts {
		opt(&o)
	}
	ctx := t.Context()
	srv, err := shared.get()
	if err != nil {
		t.Fatalf("these tests need PostgreSQL: %v", err)
	}
	template := srv.template
	if o.empty {
		template = "template0"
	}
	w := &World{name: "t_" + strings.ToLower(rand.Text()), tracer: &tracer{}, watch: srv.admin}
	w.DSN = srv.dsn(w.name)
	if _, err := srv.admin.Exec(ctx, fmt.Sprintf("CREATE DATABASE %s TEMPLATE %s STRATEGY %s", w.name, template, srv.strategy)); err != nil {
		t.Fatalf("create a database: %v", err)
	}
	t.Cleanup(func() {
		// On a disk dropping costs more than the copy; the whole folder goes at the end.
		if srv.strategy == onDisk && srv.own != nil {
			return
		}
		if _, err := srv.admin.Exec(context.WithoutCancel(ctx), "DROP DATABASE "+w.name+" WITH (FORCE)"); err != nil {
			t.Errorf("drop the database: %v", err)
		}
	})
	if !o.empty {
		conn, err := pgx.Connect(ctx, w.DSN)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(migrations.SetTimeouts(ctx, conn), conn.Close(ctx)); err != nil {
			t.Fatal(err)
		}
	}
	w.Pool = w.NewPool(t, int(o.conns))
	return w
}

// NewPool opens one more pool of up to conns connections, counted like Pool: another instance of the program. It is
// closed when the test ends.
func (w *World) NewPool(t testing.TB, conns int) *pgxpool.Pool {
	t.Helper()
	cfg, err := pgxpool.ParseConfig(w.DSN)
	if err != nil {
		t.Fatal(err)
	}
	cfg.MaxConns = int32(conns)
	cfg.ConnConfig.Tracer = w.tracer
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// Conn opens a connection outside the pool, neither counted nor made to fail: the other session of an interleaving.
// It is closed when the test ends.
func (w *World) Conn(t testing.TB) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), w.DSN)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("close a connection: %v", err)
		}
	})
	return conn
}

const waitingSQL = `
-- waiting
SELECT count(*) FROM pg_stat_activity
WHERE datname = $1 AND backend_type = 'client backend' AND state = 'active' AND wait_event_type = 'Lock'`

// Waiting returns as soon as at least n sessions of this database are seen waiting for a lock, and fails the test if
// that does not come.
func (w *World) Waiting(t testing.TB, n int) {
	t.Helper()
	var seen int
	w.Until(t, func() bool {
		if err := w.watch.QueryRow(t.Context(), waitingSQL, w.name).Scan(&seen); err != nil {
			t.Fatal(err)
		}
		return seen >= n
	}, func() string { return fmt.Sprintf("%d sessions wait for a lock, expected %d", seen, n) })
}

// Until returns as soon as the condition holds, and fails the test with the words if that does not come.
func (w *World) Until(t testing.TB, met func() bool, words func() string) {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !met() {
		select {
		case <-deadline.C:
			t.Fatalf("waited in vain: %s", words())
		case <-t.Context().Done():
			t.Fatalf("the test ended while waiting: %s", words())
		case <-tick.C:
		}
	}
}

// Barrier gives a function that blocks until n goroutines have called it, and then lets all go at once. It can be used
// again for the next round.
func Barrier(n int) func() {
	var mu sync.Mutex
	arrived, gate := 0, make(chan struct{})
	return func() {
		mu.Lock()
		mine := gate
		if arrived++; arrived == n {
			arrived, gate = 0, make(chan struct{})
			close(mine)
		}
		mu.Unlock()
		<-mine
	}
}

const (
	inMemory = "FILE_COPY"
	onDisk   = "WAL_LOG"
)

// server is the Postgres of this test program.
type server struct {
	own      *pgserver.Server // nil: lent
	base     string           // a database to connect to first
	admin    *pgxpool.Pool
	template string
	strategy string
}

// lazily starts the server on first use.
type lazily struct {
	once sync.Once
	srv  *server
	err  error
}

var shared lazily

func (l *lazily) get() (*server, error) {
	l.once.Do(func() { l.srv, l.err = startServer() })
	return l.srv, l.err
}

func (l *lazily) stop() error {
	l.once.Do(func() { l.err = errors.New("the tests are over") })
	if l.srv == nil {
		return nil // never started, or the tests have said why not
	}
	l.srv.admin.Close()
	if l.srv.own == nil {
		return nil
	}
	return l.srv.own.Stop(context.Background())
}

func startServer() (_ *server, err error) {
	// Not the context of the test that happens to be first: the others use the server too.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s := &server{base: os.Getenv("TEST_DATABASE_URL")}
	defer func() {
		if err == nil {
			return
		}
		if s.admin != nil {
			s.admin.Close()
		}
		if s.own != nil {
			err = errors.Join(err, s.own.Stop(ctx))
		}
	}()
	if s.base == "" {
		if s.own, err = pgserver.Start(ctx, pgserver.Options{BinDir: os.Getenv("HOLDFAST_PG_BIN"), Test: true}); err != nil {
			return nil, err
		}
		s.base = s.own.DSN("postgres")
	} else if u, err := url.Parse(s.base); err != nil || u.Scheme == "" {
		return nil, errors.New("TEST_DATABASE_URL must be a URL, such as postgres:///postgres?host=/run/postgresql")
	}
	cfg, err := pgxpool.ParseConfig(s.base)
	if err != nil {
		return nil, fmt.Errorf("TEST_DATABASE_URL: %w", err)
	}
	cfg.MaxConns = 6
	if s.admin, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return nil, err
	}
	var folder string
	if err := s.admin.QueryRow(ctx, "SELECT current_setting('data_directory')").Scan(&folder); err != nil {
		return nil, err
	}
	s.strategy = onDisk
	if pgserver.InMemory(folder) {
		s.strategy = inMemory
	}
	return s, s.makeTemplate(ctx)
}

func (s *server) dsn(database string) string {
	u, err := url.Parse(s.base)
	if err != nil {
		panic(err) // startServer has parsed it
	}
	u.Path = "/" + database
	return u.String()
}

// makeTemplate makes the migrated database unless another test program on the same server has. It gets its final name
// only when it is whole, and then refuses connections, which would make copies fail.
func (s *server) makeTemplate(ctx context.Context) (err error) {
	hash, err := migrations.Hash()
	if err != nil {
		return err
	}
	s.template = "template_" + hash[:16]
	conn, err := s.admin.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(hashtext($1))", s.template); err != nil {
		return err
	}
	defer func() {
		_, e := conn.Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock(hashtext($1))", s.template)
		err = errors.Join(err, e)
	}()
	var there bool
	if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)", s.template).Scan(&there); err != nil || there {
		return err
	}
	fresh := s.template + "_new"
	for _, sql := range []string{"DROP DATABASE IF EXISTS " + fresh + " WITH (FORCE)", "CREATE DATABASE " + fresh + " TEMPLATE template0"} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	if _, err := migrations.Up(ctx, s.dsn(fresh)); err != nil {
		return err
	}
	for _, sql := range []string{
		"ALTER DATABASE " + fresh + " ALLOW_CONNECTIONS false",
		"ALTER DATABASE " + fresh + " RENAME TO " + s.template,
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}
