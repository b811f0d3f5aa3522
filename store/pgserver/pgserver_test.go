package pgserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// The test program is also the process that owns a server, so that it can be killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("PGSERVER_TEST_OWNER"); dir != "" {
		os.Exit(owner(dir))
	}
	os.Exit(m.Run())
}

type report struct {
	Owned bool
	DSN   string
	PID   int
	Err   string
}

func owner(dir string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	s, err := Start(ctx, Options{Dir: dir, BinDir: os.Getenv("HOLDFAST_PG_BIN"), Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	r := report{}
	if err != nil {
		r.Err = err.Error()
	} else {
		r = report{Owned: s.Owned(), DSN: s.DSN("postgres")}
		if s.Owned() {
			r.PID = s.process.cmd.Process.Pid
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil || r.Err != "" {
		return 1
	}
	<-ctx.Done()
	if err := s.Stop(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

type ownerProcess struct {
	report
	cmd  *exec.Cmd
	done chan error
}

func startOwner(t *testing.T, dir string) *ownerProcess {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := &ownerProcess{cmd: exec.Command(exe), done: make(chan error, 1)}
	o.cmd.Env = append(os.Environ(), "PGSERVER_TEST_OWNER="+dir)
	o.cmd.Stderr = t.Output()
	out, err := o.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := o.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	go func() { o.done <- o.cmd.Wait() }()
	t.Cleanup(func() { _ = o.cmd.Process.Kill() }) // ended already in every test that passes
	if err != nil {
		t.Fatalf("the owner said nothing: %v", err)
	}
	if err := json.Unmarshal(line, &o.report); err != nil {
		t.Fatal(err)
	}
	if o.Err != "" {
		t.Fatalf("start: %s", o.Err)
	}
	return o
}

func (o *ownerProcess) end(t *testing.T, sig os.Signal) {
	t.Helper()
	if err := o.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-o.done:
		if sig == syscall.SIGTERM && err != nil {
			t.Fatalf("the owner did not end cleanly: %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the owner does not end")
	}
}

// dataDir is a data directory that the user of Postgres can reach, with a short path.
func dataDir(t *testing.T) string {
	t.Helper()
	base, err := os.MkdirTemp("", "hf")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(base, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(base); err != nil {
			t.Error(err)
		}
	})
	return filepath.Join(base, "d")
}

func start(t *testing.T, opts Options) *Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	opts.Log = slog.New(slog.NewTextHandler(t.Output(), nil))
	opts.BinDir = os.Getenv("HOLDFAST_PG_BIN")
	s, err := Start(ctx, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, s) })
	return s
}

func stop(t *testing.T, s *Server) {
	t.Helper()
	if err := s.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

func query(t *testing.T, dsn, sql string) string {
	t.Helper()
	got, err := tryQuery(t.Context(), dsn, sql)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func tryQuery(ctx context.Context, dsn, sql string) (string, error) {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return "", err
	}
	var got string
	err = conn.QueryRow(ctx, sql).Scan(&got)
	return got, errors.Join(err, conn.Close(ctx))
}

// await waits for a condition that another process brings about.
func await(t *testing.T, what string, met func() bool) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !met() {
		select {
		case <-deadline:
			t.Fatalf("waited in vain: %s", what)
		case <-tick.C:
		}
	}
}

func TestServerKeepsDataBetweenStarts(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	s := start(t, Options{Dir: dir})
	if !s.Owned() {
		t.Fatal("the first start does not own the server")
	}
	for range 2 {
		if err := s.EnsureDatabase(t.Context(), `hold"fast`); err != nil {
			t.Fatal(err)
		}
	}
	dsn := s.DSN(`hold"fast`)
	for setting, want := range map[string]string{
		"listen_addresses": "", "fsync": "on", "synchronous_commit": "on", "TimeZone": "UTC",
		"server_encoding": "UTF8", "log_error_verbosity": "terse",
	} {
		if got := query(t, dsn, "SELECT current_setting('"+setting+"')"); got != want {
			t.Errorf("%s = %q, want %q", setting, got, want)
		}
	}
	if _, err := tryQuery(t.Context(), dsn, "CREATE TABLE kept AS SELECT 'still here' AS word"); !errors.Is(err, pgx.ErrNoRows) {
		t.Fatal(err)
	}
	stop(t, s)
	if _, err := tryQuery(t.Context(), dsn, "SELECT 'x'"); err == nil {
		t.Error("the server answers after Stop")
	}
	s = start(t, Options{Dir: dir})
	if got := query(t, s.DSN(`hold"fast`), "SELECT word FROM kept"); got != "still here" {
		t.Errorf("found %q", got)
	}
	info, err := os.Stat(filepath.Join(dir, "pg"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o700 {
		t.Errorf("the folder of the server has mode %o", info.Mode().Perm())
	}
}

func TestFourStartersShareOneServer(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	got := make(chan *Server, 4)
	for range 4 {
		go func() {
			s, err := Start(t.Context(), Options{Dir: dir, BinDir: os.Getenv("HOLDFAST_PG_BIN"), Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
			if err != nil {
				t.Error(err)
			}
			got <- s
		}()
	}
	var owner *Server
	var joined []*Server
	for range 4 {
		switch s := <-got; {
		case s == nil:
		case s.Owned() && owner != nil:
			t.Error("two starters own the server")
		case s.Owned():
			owner = s
		default:
			joined = append(joined, s)
		}
	}
	if owner == nil || len(joined) != 3 {
		t.Fatalf("owner %v, %d joined", owner, len(joined))
	}
	stop(t, joined[0])
	if got := query(t, joined[1].DSN("postgres"), "SELECT 'answers'"); got != "answers" {
		t.Errorf("after one that joined had stopped: %q", got)
	}
	stop(t, owner)
	select {
	case <-joined[1].Gone():
	case <-time.After(20 * time.Second):
		t.Error("one that joined does not notice that the server is gone")
	}
	if joined[1].Err() == nil {
		t.Error("no reason is given")
	}
	stop(t, joined[1])
	stop(t, joined[2])
}

func TestProcessesJoinAndTheOwnerStops(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	first := startOwner(t, dir)
	second := startOwner(t, dir)
	if !first.Owned || second.Owned {
		t.Fatalf("owned: first %v, second %v", first.Owned, second.Owned)
	}
	second.end(t, syscall.SIGTERM)
	if got := query(t, first.DSN, "SELECT 'answers'"); got != "answers" {
		t.Errorf("after the second had ended: %q", got)
	}
	first.end(t, syscall.SIGTERM)
	if _, err := os.Stat(filepath.Join(dir, "pg", "data", "postmaster.pid")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the server was not stopped: %v", err)
	}
}

func TestKilledOwnerIsFollowedAtOnce(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	first := startOwner(t, dir)
	if _, err := tryQuery(t.Context(), first.DSN, "CREATE TABLE kept AS SELECT 'committed' AS word"); !errors.Is(err, pgx.ErrNoRows) {
		t.Fatal(err)
	}
	first.end(t, syscall.SIGKILL)
	s := start(t, Options{Dir: dir})
	if got := query(t, s.DSN("postgres"), "SELECT word FROM kept"); got != "committed" {
		t.Errorf("found %q", got)
	}
	if runtime.GOOS == "linux" && !s.Owned() {
		t.Error("the server outlived the process that owned it")
	}
}

func TestKilledOwnerAndServerRecover(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	first := startOwner(t, dir)
	if _, err := tryQuery(t.Context(), first.DSN, "CREATE TABLE kept AS SELECT 'committed' AS word"); !errors.Is(err, pgx.ErrNoRows) {
		t.Fatal(err)
	}
	// The owner is frozen first, so that it can't start the server again.
	if err := first.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(first.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	first.end(t, syscall.SIGKILL)
	if _, err := os.Stat(filepath.Join(dir, "pg", "data", "postmaster.pid")); err != nil {
		t.Fatalf("the test is about a left-over file: %v", err)
	}
	s := start(t, Options{Dir: dir})
	if got := query(t, s.DSN("postgres"), "SELECT word FROM kept"); got != "committed" {
		t.Errorf("found %q", got)
	}
}

func TestStalePidOfAStrangerIsIgnored(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	s := start(t, Options{Dir: dir})
	name := filepath.Join(dir, "pg", "data", "postmaster.pid")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	stop(t, s)
	// A process of the same user that is no server, as after a restart of a container, where numbers repeat.
	stranger := exec.Command("sleep", "600")
	stranger.Dir = "/"
	runAs(stranger, s.account)
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(stranger.Process.Kill(), stranger.Wait()) })
	lines := strings.Split(string(text), "\n")
	lines[0] = strconv.Itoa(stranger.Process.Pid)
	for _, stale := range []string{name, filepath.Join(dir, "pg", ".s.PGSQL."+port+".lock")} {
		if err := os.WriteFile(stale, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := s.account.own(stale); err != nil {
			t.Fatal(err)
		}
	}
	s = start(t, Options{Dir: dir})
	if !s.Owned() || query(t, s.DSN("postgres"), "SELECT 'answers'") != "answers" {
		t.Error("the stranger was taken for a server")
	}
}

func TestServerThatDiesIsStartedAgain(t *testing.T) {
	t.Parallel()
	s := start(t, Options{Dir: dataDir(t)})
	if _, err := tryQuery(t.Context(), s.DSN("postgres"), "CREATE TABLE kept AS SELECT 'committed' AS word"); !errors.Is(err, pgx.ErrNoRows) {
		t.Fatal(err)
	}
	for range 2 {
		s.mu.Lock()
		pid := s.process.cmd.Process.Pid
		s.mu.Unlock()
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		await(t, "a new server", func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.process.cmd.Process.Pid != pid
		})
		if got := query(t, s.DSN("postgres"), "SELECT word FROM kept"); got != "committed" {
			t.Errorf("found %q", got)
		}
	}
	select {
	case <-s.Gone():
		t.Error("given up although the restarts worked")
	default:
	}
}

func TestHalfMadeClusterIsMadeAnew(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	fresh := filepath.Join(dir, "pg", "data.new", "base")
	if err := os.MkdirAll(fresh, 0o700); err != nil {
		t.Fatal(err)
	}
	s := start(t, Options{Dir: dir})
	if got := query(t, s.DSN("postgres"), "SELECT 'answers'"); got != "answers" {
		t.Error(got)
	}
}

func TestDataOfAnotherMajorAreRefused(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	cluster := filepath.Join(dir, "pg", "data")
	if err := os.MkdirAll(cluster, 0o700); err != nil {
		t.Fatal(err)
	}
	version := filepath.Join(cluster, "PG_VERSION")
	if err := os.WriteFile(version, []byte("9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Start(t.Context(), Options{Dir: dir})
	if err == nil || !strings.Contains(err.Error(), "PostgreSQL 9") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error: %v", err)
	}
	if text, err := os.ReadFile(version); err != nil || string(text) != "9\n" {
		t.Errorf("the data were touched: %q, %v", text, err)
	}
}

func TestFolderWithoutVersionIsNotOverwritten(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	mine := filepath.Join(dir, "pg", "data", "mine")
	if err := os.MkdirAll(mine, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(t.Context(), Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "PG_VERSION") {
		t.Errorf("error: %v", err)
	}
	if _, err := os.Stat(mine); err != nil {
		t.Error(err)
	}
}

func TestLongPathGetsAShortSocket(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(dataDir(t), strings.Repeat("long/", 20))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s := start(t, Options{Dir: dir, Test: true})
	if s.socket == s.folder || query(t, s.DSN("postgres"), "SELECT 'answers'") != "answers" {
		t.Errorf("socket in %s", s.socket)
	}
	joined := start(t, Options{Dir: dir, Test: true})
	if joined.Owned() || query(t, joined.DSN("postgres"), "SELECT 'answers'") != "answers" {
		t.Error("the second does not find the socket")
	}
	stop(t, joined)
	stop(t, s)
	if _, err := os.Stat(s.socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder of the socket stays: %v", err)
	}
}

func TestRootNamesTheFolderThatIsClosed(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	closed := filepath.Join(filepath.Dir(dir), "closed")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := Start(t.Context(), Options{Dir: filepath.Join(closed, "d"), Test: true})
	if os.Geteuid() != 0 {
		t.Log("not root: Postgres runs as we do, and the folder is ours")
		if err != nil {
			t.Error(err)
		}
		return
	}
	if err == nil || !strings.Contains(err.Error(), "can't enter "+closed) {
		t.Errorf("error: %v", err)
	}
}

func TestTemporaryFolderIsRemoved(t *testing.T) {
	t.Parallel()
	s := start(t, Options{Test: true})
	if got := query(t, s.DSN("postgres"), "SELECT current_setting('fsync')"); got != "off" {
		t.Errorf("fsync is %s", got)
	}
	stop(t, s)
	if _, err := os.Stat(s.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s stays: %v", s.Dir, err)
	}
}

func TestMissingProgramsAreNamed(t *testing.T) {
	t.Parallel()
	empty := t.TempDir()
	_, err := Start(t.Context(), Options{Dir: dataDir(t), BinDir: empty})
	if err == nil || !strings.Contains(err.Error(), "HOLDFAST_PG_BIN") || !strings.Contains(err.Error(), empty) {
		t.Errorf("error: %v", err)
	}
}

func TestInstallLine(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, system, release string
		root                  bool
		major                 int
		want                  string
	}{
		{"Debian as a user", "linux", "ID=debian\n", false, 0, "sudo apt-get install -y postgresql"},
		{"a relative of Ubuntu as root", "linux", "ID=mint\nID_LIKE=\"ubuntu debian\"\n", true, 0, "apt-get install -y postgresql"},
		{"a version on Debian", "linux", "ID=debian\n", true, 15, "apt-get install -y postgresql-15"},
		{"Fedora", "linux", "ID=fedora\n", false, 0, "sudo dnf install -y postgresql-server postgresql-contrib"},
		{"Arch", "linux", "ID=arch\n", false, 0, "sudo pacman -S --noconfirm postgresql"},
		{"Alpine", "linux", "ID=alpine\n", true, 0, "apk add postgresql postgresql-client postgresql-contrib"},
		{"macOS", "darwin", "", false, 0, "brew install postgresql@17"},
		{"anything else", "linux", "ID=plan\n", false, 0, "make postgres"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := installLineFor(tt.system, tt.release, tt.root, tt.major); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
