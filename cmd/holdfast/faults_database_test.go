package main

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"holdfast/store"
	"holdfast/store/pgserver"
	"holdfast/store/storetest"
	"holdfast/store/storetest/shop"
)

// postmaster is the number of the server's first process.
func postmaster(t *testing.T, dir string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "pg", "data", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(line)
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// restarted waits until another server answers in the place of the one that was killed.
func restarted(t *testing.T, dsn, dir string, before int) {
	t.Helper()
	until(t, func() bool {
		conn, err := pgx.Connect(t.Context(), dsn)
		if err != nil {
			return false
		}
		if err := conn.Close(t.Context()); err != nil {
			return false
		}
		return postmaster(t, dir) != before
	}, func() string { return "the server does not come back" })
}

// durable gives a server that keeps what it has acknowledged, as those of the other tests need not.
func durable(t *testing.T, dir string, test bool) *pgserver.Server {
	t.Helper()
	s, err := pgserver.Start(t.Context(), pgserver.Options{Dir: dir, BinDir: os.Getenv("HOLDFAST_PG_BIN"), Test: test})
	if err != nil {
		t.Fatalf("this test needs PostgreSQL: %v", err)
	}
	t.Cleanup(func() {
		if err := stopPrivate(s); err != nil {
			t.Error(err)
		}
	})
	if err := s.EnsureDatabase(t.Context(), databaseName); err != nil {
		t.Fatal(err)
	}
	return s
}

// The server that an operator runs dies and is started again by whoever watches over it.
func faultKilledPostmaster(t *testing.T) *trial {
	dir := dataDir(t)
	server := durable(t, dir, false)
	env := settings{"DATABASE_URL": server.DSN(databaseName), "HOLDFAST_SECRET": string(shop.Secret), "HOLDFAST_DATA_DIR": t.TempDir()}
	env.fine(t, "", "migrate")
	w := openTrial(t, shopAt(t, env["DATABASE_URL"]), env, 2)
	return w.under(t, 8, func() {
		pid := postmaster(t, dir)
		w.strike(t, func() { kill(t, pid) }, w.apps...)
		restarted(t, w.DSN, dir, pid)
	})
}

// parent is the number of the process that has started another.
func parent(t *testing.T, pid int) int {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "ps", "-o", "ppid=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Three instances share the private server that the first of them has started. The server is killed, and one of them
// starts it again, whoever comes first; then this one is killed, the server ends with it, and another starts it.
func faultKilledPrivate(t *testing.T) *trial {
	dir := dataDir(t)
	env := settings{"HOLDFAST_DATA_DIR": dir, "HOLDFAST_SECRET": string(shop.Secret), "HOLDFAST_ADDR": "127.0.0.1:0", "HOLDFAST_DISPATCH": "off"}
	first := env.start(t)
	w := openTrial(t, shopAt(t, first.said["database"]), env, 0, "HOLDFAST_DISPATCH", "on")
	instances := []*process{first, w.serve(t), w.serve(t)}
	load := w.begin(t, 8)
	load.press(t, "before the fault")
	killed := postmaster(t, dir)
	w.strike(t, func() { kill(t, killed) }, w.apps...)
	restarted(t, w.DSN, dir, killed)
	load.press(t, "after the server was killed")
	killed = postmaster(t, dir)
	owner := parent(t, killed)
	for _, p := range instances {
		if p.cmd.Process.Pid == owner {
			kill(t, owner)
			<-p.ended
			w.leave(p)
			owner = 0
		}
	}
	if owner != 0 {
		t.Fatalf("the server was started by process %d, which is none of ours", owner)
	}
	restarted(t, w.DSN, dir, killed)
	load.press(t, "after its owner was killed")
	load.end(t)
	w.verify(t)
	return w
}

// Connections to the database end in the moment of a commit: half of them before the server got it, half after it has
// carried it out, and the program can't know which.
func faultCutConnections(t *testing.T) *trial {
	w := newTrial(t, 0)
	cut := cutBetween(t, w.DSN)
	w.env = w.env.with("DATABASE_URL", cut.dsn)
	w.serve(t)
	w.serve(t)
	w.under(t, 8, func() {
		cut.begin()
		until(t, func() bool {
			n := cut.byName()
			return n["-- hold"] >= 6 && n["-- confirm"] >= 4 && n["commit"] >= 4
		}, func() string { return fmt.Sprintf("few connections were cut: %v", cut.byName()) })
		cut.end()
	})
	t.Logf("cut: %d before the server got it, %d after it was carried out; by statement %v", cut.before.Load(), cut.after.Load(), cut.byName())
	return w
}

// with sets settings of the database, as its operator may; connections made from now on have them.
func (w *trial) with(t *testing.T, pairs ...string) {
	t.Helper()
	var name string
	if err := w.Pool.QueryRow(t.Context(), "SELECT current_database()").Scan(&name); err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		w.Exec(t, "ALTER DATABASE "+pgx.Identifier{name}.Sanitize()+" SET "+pgx.Identifier{pairs[i]}.Sanitize()+" = '"+pairs[i+1]+"'")
	}
}

// through gives the address with a parameter.
func through(t *testing.T, dsn, name, value string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = q.Encode()
	return u.String()
}

// The size of the pool stands in DATABASE_URL, and so in the address of the connections that are made beside it.
func TestAnAddressForOneConnectionSaysNothingOfAPool(t *testing.T) {
	t.Parallel()
	for address, want := range map[dsn]dsn{
		"postgres://u:p@h/db": "postgres://u:p@h/db", "postgres://u@h/db?sslmode=disable&pool_max_conns=3": "postgres://u@h/db?sslmode=disable",
		"postgres://u@a:1,b:2/db?pool_max_conns=3&pool_min_conns=1&sslmode=disable": "postgres://u@a:1,b:2/db?sslmode=disable",
		"host=h  password='a  b' pool_max_conns=3 user=u":                           "host=h  password='a  b' user=u", "host=h user=u": "host=h user=u",
	} {
		if got := address.single(); got != want {
			t.Errorf("%s became %s", address, got)
		}
	}
	w := storetest.New(t, storetest.Unmigrated())
	s := on(t, w).with("DATABASE_URL", through(t, w.DSN, "pool_max_conns", "3"))
	s.fine(t, "", "migrate")
	s.fine(t, "", "check")
}

// All connections of the pool hang in statements; whoever comes later waits for one as long as a request may, and is told
// that it is busy: on pages, forms and by the API.
func faultExhaustedPool(t *testing.T) *trial {
	w := newTrial(t, 0)
	w.with(t, "lock_timeout", "1min", "statement_timeout", "1min")
	w.env = w.env.with("DATABASE_URL", through(t, w.DSN, "pool_max_conns", "2"))
	w.serve(t)
	return w.under(t, 10, func() {
		release := w.lock(t, "LOCK TABLE slots IN ACCESS EXCLUSIVE MODE")
		w.Waiting(t, 2)
		from := time.Now()
		look := w.look(t, 4)
		until(t, func() bool { return look.toldBusy.Load() >= 2 && w.busy.Load() >= 4 }, func() string {
			return "nobody is told that it is busy, though all connections hang"
		})
		if took := time.Since(from); took < store.LongestWait-time.Second {
			t.Errorf("told to be busy after %v: somebody did not wait for a connection", took)
		}
		release()
		seen := look.seen.Load()
		until(t, func() bool { return look.seen.Load() > seen }, func() string { return "pages do not come back" })
		look.end()
	})
}

// Somebody keeps a slot's row for longer than lock_timeout. Presses there are told that it is busy, none is
// acknowledged, and the other slots go on.
func faultLockTimeout(t *testing.T) *trial {
	w := newTrial(t, 2)
	slot := w.slots[0].ID
	var from, to time.Time
	w.under(t, 8, func() {
		busy := w.busy.Load()
		release := w.lock(t, lockRow, w.Tenant.ID, slot)
		from = time.Now()
		until(t, func() bool { return w.busy.Load() >= busy+4 }, func() string { return "nobody is told that the slot is busy" })
		to = time.Now()
		release()
	})
	elsewhere := 0
	for _, a := range w.acksOf(from, to) {
		switch {
		case a.slot != slot:
			elsewhere++
		case a.step != "confirm": // the one step that needs no lock
			t.Errorf("%s was acknowledged after %v while the slot was locked", a.step, a.ended.Sub(a.began))
		}
	}
	if elsewhere == 0 {
		t.Error("no press in another slot was acknowledged meanwhile")
	}
	return w
}

// Statements take longer than statement_timeout allows: pages and presses are told that it is busy.
func faultStatementTimeout(t *testing.T) *trial {
	w := newTrial(t, 0)
	w.with(t, "statement_timeout", "400ms", "lock_timeout", "1min")
	w.serve(t)
	w.serve(t)
	return w.under(t, 8, func() {
		release := w.lock(t, "LOCK TABLE reservations IN ACCESS EXCLUSIVE MODE")
		busy := w.busy.Load()
		look := w.look(t, 2)
		until(t, func() bool { return w.busy.Load() >= busy+10 }, func() string { return "nobody is told that it is busy" })
		release()
		look.end()
	})
}

// The server has no connection left for the program, as where somebody else uses them up.
func faultTooManyConnections(t *testing.T) *trial {
	w := newTrial(t, 0)
	role := "few_" + strings.ToLower(t.Name()[len(t.Name())-4:]) + strconv.Itoa(os.Getpid())
	quoted := pgx.Identifier{role}.Sanitize()
	w.Exec(t, "CREATE ROLE "+quoted+" LOGIN")
	t.Cleanup(func() {
		for _, sql := range []string{"DROP OWNED BY " + quoted, "DROP ROLE " + quoted} {
			w.afterwards(t, sql)
		}
	})
	w.Exec(t, "GRANT ALL ON ALL TABLES IN SCHEMA public TO "+quoted)
	w.Exec(t, "GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO "+quoted)
	u, err := url.Parse(w.DSN)
	if err != nil {
		t.Fatal(err)
	}
	address := through(t, w.DSN, "user", role)
	if u.User != nil {
		u.User = url.User(role)
		address = u.String()
	}
	w.env = w.env.with("DATABASE_URL", address)
	w.serve(t)
	w.serve(t)
	return w.under(t, 8, func() {
		w.Exec(t, "ALTER ROLE "+quoted+" CONNECTION LIMIT 0")
		w.Exec(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1", role)
		busy := w.busy.Load()
		look := w.look(t, 2)
		until(t, func() bool { return w.busy.Load() >= busy+20 && look.toldBusy.Load() > 0 }, func() string { return "nobody is told that it is busy" })
		w.Exec(t, "ALTER ROLE "+quoted+" CONNECTION LIMIT -1")
		look.end()
	})
}
