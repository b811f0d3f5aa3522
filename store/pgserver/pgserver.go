// Package pgserver runs a private Postgres: the database of a Holdfast that was given none, and of the tests.
//
// It never listens on a network port. The cluster, its socket, its lock and its log live in one folder, `pg` inside
// the data directory, which only the user that runs Postgres may enter; that is why connections need no password.
//
//	DIR/                  the data directory of Holdfast; 0700, or 0711 when root started it
//	DIR/pg/               owned by the user that runs Postgres, 0700
//	DIR/pg/data           the cluster; it gets this name only when it is whole
//	DIR/pg/data.new       a cluster being made; left over only where somebody was killed
//	DIR/pg/lock           held with flock while somebody starts a server
//	DIR/pg/log            what Postgres prints: its starts and stops, no statements and no row values
//	DIR/pg/.s.PGSQL.5432  the socket (in a private temporary folder where this path would be too long)
//
// Several processes may start on one folder at once: one starts the server and owns it, the others join it. Only the
// owner stops it. On Linux the server also ends when its owner is killed; elsewhere the next start joins the survivor.
// A server that dies while its owner lives is started again, and recovers what had been committed.
//
// An existing cluster is never made anew, deleted or given to another major version of Postgres.
package pgserver

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	superuser = "app"
	// port only names the socket file: nothing listens on it.
	port = "5432"
	// maxSocketPath leaves room below the limits of the kernels (107 bytes on Linux, 103 on macOS).
	maxSocketPath = 100
	lookEvery     = 10 * time.Millisecond
	fastStop      = 20 * time.Second
	quickStop     = 10 * time.Second
	maxLog        = 8 << 20
)

// Options says where the server keeps its data and how careful it is with them.
type Options struct {
	// Dir is the data directory of Holdfast; the server uses the folder pg in it. Both are created. It may be empty
	// only with Test: then it is a temporary folder, in memory where there is room, removed by Stop.
	Dir string
	// BinDir is the folder with initdb and postgres. Empty: they are looked for, see Find.
	BinDir string
	// Log hears of starts, stops and deaths. Nil: nobody does.
	Log *slog.Logger
	// Test trades durability for speed. Never for data that anybody wants to keep.
	Test bool
}

// Server is a running Postgres, started or joined.
type Server struct {
	// Dir is the data directory that was asked for, absolute.
	Dir string
	// Bin is the folder with the programs of this server.
	Bin string
	// Major is the major version of the server, for example 15.
	Major int

	folder  string
	socket  string
	account *account
	log     *slog.Logger
	test    bool
	private string   // temporary folder to remove in Stop
	claim   *os.File // marks that folder as in use
	owned   bool

	stopping chan struct{}
	stopCtx  context.Context // set before stopping is closed: how long Stop may take
	ended    chan struct{}
	endErr   error // set before ended is closed
	gone     chan struct{}
	stopOnce sync.Once
	stopErr  error

	mu      sync.Mutex
	process *process
	goneErr error
}

// process is one run of the postmaster.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{}
	err    error // set before exited is closed
}

// Start gives a server that answers: it joins the one that runs in the folder, or makes the cluster if there is none
// and starts it. Its errors are one line for a person, and name what to type where something can be typed. ctx bounds
// the start only; recovery after a crash may take long, so give it a minute or more.
func Start(ctx context.Context, opts Options) (_ *Server, err error) {
	s := &Server{
		log:      opts.Log,
		test:     opts.Test,
		stopping: make(chan struct{}),
		ended:    make(chan struct{}),
		gone:     make(chan struct{}),
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.removePrivate())
		}
	}()
	dir := opts.Dir
	if dir == "" {
		if !opts.Test {
			return nil, errors.New("start postgres: no data directory was named")
		}
		if dir, err = s.makePrivate(); err != nil {
			return nil, fmt.Errorf("start postgres: %w", err)
		}
	}
	if s.Dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("start postgres: %w", err)
	}
	s.folder = filepath.Join(s.Dir, "pg")
	if s.account, err = accountFor(s.folder); err != nil {
		return nil, err
	}
	if err := s.makeFolders(); err != nil {
		return nil, err
	}
	unlock, err := lock(ctx, filepath.Join(s.folder, "lock"))
	if errors.Is(err, ctx.Err()) && ctx.Err() != nil {
		return nil, fmt.Errorf("another start in %s did not finish: %w", s.folder, err)
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", s.folder, err)
	}
	defer unlock()
	// So that the same data can later be started by that user itself.
	if err := s.account.own(filepath.Join(s.folder, "lock")); err != nil {
		return nil, err
	}

	bin, err := find(ctx, search{bin: opts.BinDir, cluster: s.cluster(), account: s.account})
	if err != nil {
		return nil, err
	}
	s.Bin, s.Major = bin.Dir, bin.Major
	if err := s.makeCluster(ctx); err != nil {
		return nil, err
	}
	if s.socket, err = s.socketFolder(); err != nil {
		return nil, err
	}
	if err := s.bringUp(ctx); err != nil {
		return nil, err
	}
	if s.owned {
		s.log.Info("postgres started", "major", s.Major, "folder", s.folder)
		go s.supervise()
	} else {
		s.log.Info("joined the postgres that another process started", "folder", s.folder)
		go s.watch()
	}
	return s, nil
}

// Owned says whether this process started the server. Only then does Stop stop it.
func (s *Server) Owned() bool { return s.owned }

// Gone is closed when the server is lost for good: a joined one ended, or our own could not be started again. Err then
// says which. It stays open through Stop and through restarts that worked.
func (s *Server) Gone() <-chan struct{} { return s.gone }

// Err says why Gone was closed; nil before.
func (s *Server) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.goneErr
}

// DSN is the address of a database on this server, for pgx and for psql. It holds no secret.
func (s *Server) DSN(database string) string {
	q := url.Values{"host": {s.socket}, "port": {port}, "user": {superuser}, "sslmode": {"disable"}}
	return (&url.URL{Scheme: "postgres", Path: "/" + database, RawQuery: q.Encode()}).String()
}

// EnsureDatabase creates the database unless it exists.
func (s *Server) EnsureDatabase(ctx context.Context, name string) (err error) {
	conn, err := pgx.Connect(ctx, s.DSN("postgres"))
	if err != nil {
		return fmt.Errorf("ensure database %s: %w", name, err)
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	var there bool
	if err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)`, name).Scan(&there); err != nil {
		return fmt.Errorf("ensure database %s: %w", name, err)
	}
	if there {
		return nil
	}
	_, err = conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize())
	// Two starters may ask at once: the second is refused by the name itself or by the index under it.
	var pg *pgconn.PgError
	if errors.As(err, &pg) && (pg.Code == "42P04" || pg.Code == "23505") {
		return nil
	}
	if err != nil {
		return fmt.Errorf("ensure database %s: %w", name, err)
	}
	return nil
}

// Stop ends the server if this process owns it: connections are closed at once, what was committed stays. It first
// asks with a fast shutdown; after 20 seconds, or when ctx ends, with an immediate one, from which the next start
// recovers. A joined server is left alone. Stop may be called again and then answers the same.
func (s *Server) Stop(ctx context.Context) error {
	s.stopOnce.Do(func() { s.stopErr = s.stop(ctx) })
	return s.stopErr
}

func (s *Server) stop(ctx context.Context) error {
	s.stopCtx = ctx
	close(s.stopping)
	<-s.ended
	if s.endErr != nil || !s.owned {
		return s.endErr
	}
	s.log.Info("postgres stopped", "folder", s.folder)
	var err error
	if s.socket != s.folder {
		err = os.RemoveAll(s.socket)
	}
	return errors.Join(err, s.removePrivate())
}

func (p *process) stop(ctx context.Context) error {
	for _, step := range []struct {
		signal os.Signal
		wait   time.Duration
	}{{syscall.SIGINT, fastStop}, {syscall.SIGQUIT, quickStop}} {
		if err := p.cmd.Process.Signal(step.signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return fmt.Errorf("stop postgres: %w", err)
		}
		timeout := time.NewTimer(step.wait)
		early := ctx.Done()
		if step.signal == syscall.SIGQUIT {
			early = nil // the caller's patience is over already; an immediate shutdown is worth its short wait
		}
		select {
		case <-p.exited:
			timeout.Stop()
			return nil
		case <-early:
			timeout.Stop()
		case <-timeout.C:
		}
	}
	return fmt.Errorf("postgres (process %d) does not stop", p.cmd.Process.Pid)
}

func (s *Server) cluster() string { return filepath.Join(s.folder, "data") }

func (s *Server) makeFolders() error {
	mode := fs.FileMode(0o700)
	if s.account != nil {
		mode = 0o711 // the other user passes through, and can list nothing
	}
	if err := os.MkdirAll(s.Dir, mode); err != nil {
		return fmt.Errorf("make the data directory: %w", err)
	}
	if s.account != nil {
		info, err := os.Stat(s.Dir)
		if err != nil {
			return fmt.Errorf("make the data directory: %w", err)
		}
		if !s.account.mayEnter(info) {
			if err := os.Chmod(s.Dir, info.Mode().Perm()|0o011); err != nil {
				return fmt.Errorf("open the data directory to the user %s: %w", s.account.name, err)
			}
		}
		if err := s.account.reaches(s.Dir, "set HOLDFAST_DATA_DIR to another folder, such as /var/lib/holdfast"); err != nil {
			return err
		}
	}
	if err := os.Mkdir(s.folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make the folder for postgres: %w", err)
	}
	// Lstat and Lchown: the folder belongs to a lesser user, who must not lead root elsewhere.
	info, err := os.Lstat(s.folder)
	if err != nil {
		return fmt.Errorf("make the folder for postgres: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is in the way: it is not a folder", s.folder)
	}
	return s.account.own(s.folder)
}

func (s *Server) makeCluster(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(s.cluster(), "PG_VERSION")); err == nil {
		return nil
	}
	if _, err := os.Lstat(s.cluster()); err == nil {
		return fmt.Errorf("%s is not a database folder (no PG_VERSION in it); move it away, it is not overwritten", s.cluster())
	}
	fresh := filepath.Join(s.folder, "data.new")
	// A process of a killed initdb may write for another moment.
	for attempt := 1; ; attempt++ {
		err := os.RemoveAll(fresh)
		if err == nil {
			break
		}
		if attempt == 20 {
			return fmt.Errorf("remove a half-made cluster: %w", err)
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return fmt.Errorf("remove a half-made cluster: %w", err)
		}
	}
	args := []string{
		"-D", fresh, "-U", superuser, "-A", "trust", "--encoding=UTF8", "--locale=C", "--no-instructions",
	}
	if s.test {
		args = append(args, "--no-sync")
	}
	s.log.Info("making a database cluster", "folder", s.cluster())
	cmd := exec.CommandContext(ctx, filepath.Join(s.Bin, "initdb"), args...)
	s.dress(cmd)
	// A killed starter must not leave an initdb writing where the next one begins.
	dieWithUs(cmd, syscall.SIGKILL)
	runtime.LockOSThread()
	out, err := cmd.CombinedOutput()
	runtime.UnlockOSThread()
	if err != nil {
		return fmt.Errorf("initdb failed: %w: %s", err, lastLine(string(out)))
	}
	if err := os.Rename(fresh, s.cluster()); err != nil {
		return fmt.Errorf("name the new cluster: %w", err)
	}
	if s.test {
		return nil
	}
	return syncFolder(s.folder)
}

func syncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("sync %s: %w", path, err)
	}
	return errors.Join(f.Sync(), f.Close())
}

// socketFolder is the folder itself, or where the path would be too long a private one whose name follows from it, so
// that whoever comes after a crash finds and uses the same.
func (s *Server) socketFolder() (string, error) {
	if len(s.folder)+len("/.s.PGSQL.")+len(port) <= maxSocketPath {
		return s.folder, nil
	}
	sum := sha256.Sum256([]byte(s.folder))
	base := os.TempDir()
	if len(base) > 50 {
		base = "/tmp"
	}
	short := filepath.Join(base, fmt.Sprintf("holdfast-%x", sum[:8]))
	if err := s.account.reaches(base, "set TMPDIR to another folder, such as /tmp"); err != nil {
		return "", err
	}
	switch err := os.Mkdir(short, 0o700); {
	case err == nil:
		return short, s.account.own(short)
	case !errors.Is(err, fs.ErrExist):
		return "", fmt.Errorf("make a folder for the socket: %w", err)
	}
	info, err := os.Lstat(short)
	if err != nil {
		return "", fmt.Errorf("make a folder for the socket: %w", err)
	}
	if uid, ok := ownerOf(info); !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !ok || !s.account.is(uid) {
		return "", fmt.Errorf("the path of %s is too long for a socket, and %s belongs to somebody else; choose a shorter HOLDFAST_DATA_DIR", s.folder, short)
	}
	return short, nil
}

// bringUp joins a server that runs in the folder, or starts one. The caller holds the lock.
func (s *Server) bringUp(ctx context.Context) error {
	const attempts = 14 // 5 seconds
	told := time.Now()
	for attempt := 1; ; {
		st, err := s.look()
		if err != nil {
			return err
		}
		if st.ready {
			if s.socket != st.socket { // a restart must not write what DSN reads
				s.socket = st.socket
			}
			return nil
		}
		if st.alive {
			// Somebody's server is starting, recovering or stopping: the one thing to do is to wait.
			if time.Since(told) > 5*time.Second {
				told = time.Now()
				s.log.Info("waiting for a postgres that is starting or stopping", "folder", s.folder)
			}
			if err := pause(ctx, lookEvery); err != nil {
				return fmt.Errorf("postgres in %s neither starts nor stops: %w", s.folder, err)
			}
			continue
		}
		// The socket has a file of its own with the number of its server. No server runs in this cluster and the folder
		// is for no other, so the file is stale; left there, a stranger with that number, or a dead server that nobody
		// has collected, would keep Postgres from starting.
		for _, stale := range []string{".s.PGSQL." + port + ".lock", ".s.PGSQL." + port} {
			if err := os.Remove(filepath.Join(s.socket, stale)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("remove what a dead server left: %w", err)
			}
		}
		p, err := s.launch()
		if err != nil {
			return fmt.Errorf("start postgres: %w", err)
		}
		err = s.await(ctx, p)
		if err == nil {
			s.mu.Lock()
			s.process, s.owned = p, true
			s.mu.Unlock()
			return nil
		}
		// After a kill the last processes of the old server may need a moment to notice; Postgres refuses until then.
		if ctx.Err() != nil || attempt == attempts {
			return err
		}
		s.log.Info("trying again", "error", err)
		if err := pause(ctx, min(50*time.Millisecond<<(attempt-1), 400*time.Millisecond)); err != nil {
			return err
		}
		attempt++
	}
}

// await waits until the process answers, or says why it ended.
func (s *Server) await(ctx context.Context, p *process) error {
	told := time.Now()
	for {
		st, err := s.look()
		if err == nil && st.ready && st.pid == p.cmd.Process.Pid {
			return nil
		}
		if err == nil && time.Since(told) > 5*time.Second {
			told = time.Now()
			s.log.Info("waiting for postgres to start", "folder", s.folder)
		}
		timer := time.NewTimer(lookEvery)
		select {
		case <-p.exited:
			timer.Stop()
			return fmt.Errorf("postgres did not start (%w): %s", cmp.Or(p.err, errors.New("it stopped")), s.lastWords())
		case <-s.stopping:
			timer.Stop()
			return errors.Join(errors.New("stopped while postgres was starting"), p.stop(ctx))
		case <-ctx.Done():
			timer.Stop()
			return errors.Join(fmt.Errorf("postgres did not become ready: %w", ctx.Err()), p.stop(ctx))
		case <-timer.C:
		}
	}
}

func (s *Server) launch() (*process, error) {
	name := filepath.Join(s.folder, "log")
	if info, err := os.Lstat(name); err == nil && info.Size() > maxLog {
		if err := os.Rename(name, name+".old"); err != nil {
			return nil, fmt.Errorf("put the old log away: %w", err)
		}
	}
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE|noFollow, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	defer out.Close()
	if err := s.account.own(name); err != nil {
		return nil, err
	}
	args := []string{"-D", s.cluster(), "-k", s.socket, "-p", port}
	for _, set := range s.settings() {
		args = append(args, "-c", set)
	}
	p := &process{cmd: exec.Command(filepath.Join(s.Bin, "postgres"), args...), exited: make(chan struct{})}
	s.dress(p.cmd)
	p.cmd.Stdout, p.cmd.Stderr = out, out
	dieWithUs(p.cmd, syscall.SIGINT)
	started := make(chan error, 1)
	go func() {
		// Linux sends the death signal when the thread that forked ends, not the process: this one stays until the
		// server has gone, and ends with the goroutine because it is never unlocked.
		runtime.LockOSThread()
		err := p.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.err = p.cmd.Wait()
		close(p.exited)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

func (s *Server) settings() []string {
	set := []string{
		"listen_addresses=", "unix_socket_permissions=0700", "timezone=UTC", "log_timezone=UTC",
		// Errors carry row values, and those can be personal data: they go to the client only.
		"logging_collector=off", "log_destination=stderr", "log_min_messages=log", "log_min_error_statement=panic", "log_error_verbosity=terse",
	}
	if s.test {
		set = append(
			set, "fsync=off", "synchronous_commit=off", "full_page_writes=off", "wal_level=minimal", "max_wal_senders=0",
			"autovacuum=off", "max_wal_size=4GB", "checkpoint_timeout=1h", "max_connections=400",
		)
	}
	return set
}

// dress gives a program of Postgres a folder that it can read, an environment without settings of other clients and,
// where we are root, another user.
func (s *Server) dress(cmd *exec.Cmd) {
	cmd.Dir = "/"
	cmd.Env = environment()
	// A group of its own: Ctrl-C in the terminal reaches only us, so that we can finish our work before it stops.
	runAs(cmd, s.account)
}

func environment() []string {
	var env []string
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "PG") && !strings.HasPrefix(e, "LC_") && !strings.HasPrefix(e, "LANG") && !strings.HasPrefix(e, "HOLDFAST_") {
			env = append(env, e)
		}
	}
	return append(env, "LC_ALL=C")
}

// supervise starts the server again when it ends without being asked to.
func (s *Server) supervise() {
	defer close(s.ended)
	const tries = 8
	wait, failed := 100*time.Millisecond, 0
	began := time.Now()
	for {
		s.mu.Lock()
		p := s.process
		s.mu.Unlock()
		select {
		case <-p.exited:
		case <-s.stopping:
			s.endErr = p.stop(s.stopCtx)
			return
		}
		if time.Since(began) > time.Minute {
			wait, failed = 100*time.Millisecond, 0
		}
		s.log.Error("postgres ended by itself; starting it again", "error", p.err, "folder", s.folder)
		for {
			err := s.restart(wait)
			if err == nil {
				break
			}
			select {
			case <-s.stopping:
				return
			default:
			}
			failed++
			s.log.Error("postgres could not be started again", "error", err, "try", failed, "of", tries)
			if failed == tries {
				s.lose(fmt.Errorf("postgres ended and could not be started again: %w", err))
				return
			}
			wait = min(2*wait, 10*time.Second)
		}
		failed++
		wait = min(2*wait, 10*time.Second)
		if failed > tries {
			s.lose(errors.New("postgres ends again and again; see " + filepath.Join(s.folder, "log")))
			s.mu.Lock()
			p := s.process
			s.mu.Unlock()
			if err := p.stop(context.Background()); err != nil {
				s.log.Error("stop postgres", "error", err)
			}
			return
		}
		began = time.Now()
		s.log.Info("postgres runs again", "folder", s.folder)
	}
}

func (s *Server) restart(wait time.Duration) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-s.stopping:
			cancel()
		case <-ctx.Done():
		}
	}()
	if err := pause(ctx, wait); err != nil {
		return err
	}
	unlock, err := lock(ctx, filepath.Join(s.folder, "lock"))
	if err != nil {
		return err
	}
	defer unlock()
	s.mu.Lock()
	before := s.process
	s.mu.Unlock()
	if err := s.bringUp(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == before {
		return errors.New("another process has started a server in the same folder meanwhile")
	}
	return nil
}

// watch notices that a server of somebody else has ended.
func (s *Server) watch() {
	defer close(s.ended)
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-s.stopping:
			return
		case <-tick.C:
			if st, err := s.look(); err == nil && !st.alive {
				s.lose(errors.New("the process that had started this postgres ended, and the server with it; start again"))
				return
			}
		}
	}
}

func (s *Server) lose(err error) {
	s.mu.Lock()
	s.goneErr = err
	s.mu.Unlock()
	close(s.gone)
}

// state is what the folder says about a running server.
type state struct {
	pid    int
	socket string
	alive  bool // a postmaster runs in this cluster
	ready  bool // and answers
}

// look reads postmaster.pid. A file that a dead server left is ignored; one whose number now belongs to a stranger is
// removed, since Postgres would take the stranger for its predecessor.
func (s *Server) look() (state, error) {
	name := filepath.Join(s.cluster(), "postmaster.pid")
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return state{}, nil
	}
	if err != nil {
		return state{}, fmt.Errorf("read the state of postgres: %w", err)
	}
	lines := strings.Split(string(text), "\n")
	var st state
	if _, err := fmt.Sscan(lines[0], &st.pid); err != nil || st.pid <= 1 {
		return state{}, nil // being written, or torn by a crash; Postgres judges it
	}
	if !processExists(st.pid) {
		return st, nil
	}
	if !isPostmaster(st.pid, s.cluster()) {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return state{}, fmt.Errorf("remove a stale %s: %w", name, err)
		}
		return state{}, nil
	}
	st.alive = true
	if len(lines) < 8 || strings.TrimSpace(lines[7]) != "ready" {
		return st, nil
	}
	st.socket = lines[4]
	c, err := net.DialTimeout("unix", filepath.Join(st.socket, ".s.PGSQL."+port), time.Second)
	if err != nil {
		return st, nil //nolint:nilerr // not ready is an answer, not a failure
	}
	st.ready = true
	return st, c.Close()
}

// lastWords is the last line of the server's log that explains an end.
func (s *Server) lastWords() string {
	name := filepath.Join(s.folder, "log")
	f, err := os.OpenFile(name, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > 4096 {
		if _, err := f.Seek(-4096, io.SeekEnd); err != nil {
			return err.Error()
		}
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if strings.Contains(lines[i], "FATAL:") || strings.Contains(lines[i], "PANIC:") {
			return lines[i]
		}
	}
	return lines[len(lines)-1] + " (" + name + ")"
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if strings.Contains(lines[i], "error:") || strings.Contains(lines[i], "FATAL:") {
			return lines[i]
		}
	}
	return lines[len(lines)-1]
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
