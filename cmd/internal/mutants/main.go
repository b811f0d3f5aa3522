//go:build linux || darwin

// Mutants breaks the protocol in package store in one place at a time and runs the store's tests: each break has to
// be seen. It prints a table of which test saw which break, and ends with 1 where one survived.
//
// Nothing in the tree is changed: files with the mutants in them take the place of the real ones by go build's
// -overlay (see weave.go). First all tests have to pass where nothing is broken. Then each mutant meets the tests that
// are most likely to see it, and if they don't, all of package store. Tests that hang have seen it, too: the table says so.
//
//	go run ./cmd/internal/mutants [-only REGEXP] [-limit 6m] [-trust] [-list]
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"holdfast/store/pgserver"
)

func main() {
	only := flag.String("only", "", "only mutants whose name matches")
	limit := flag.Duration("limit", 6*time.Minute, "how long the tests of one mutant may take")
	trust := flag.Bool("trust", false, "leave out the first run of all tests, in which nothing is broken")
	list := flag.Bool("list", false, "list the mutants and run nothing")
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	survivors, err := run(ctx, *only, *limit, *trust, *list)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
	if survivors > 0 {
		os.Exit(1)
	}
}

// perServer is how many mutants one Postgres serves: programs that are ended at the first failure leave their databases behind.
const perServer = 12

func run(ctx context.Context, only string, limit time.Duration, trust, list bool) (survivors int, err error) {
	chosen, err := regexp.Compile(only)
	if err != nil {
		return 0, err
	}
	root, err := moduleRoot(ctx)
	if err != nil {
		return 0, err
	}
	folder, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	r := &runner{root: root, folder: folder, limit: limit}
	defer func() { err = errors.Join(err, r.stopServer()) }()
	began := time.Now()
	if !list {
		if err := r.build(ctx); err != nil {
			return 0, err
		}
		// What fails where nothing is broken would see every mutant: it is left out, and the run has failed.
		if !trust {
			if err := r.plain(ctx); err != nil {
				return 0, err
			}
		}
		for _, name := range r.failing {
			fmt.Fprintln(os.Stderr, "mutants: it fails without any mutant, and is left out:", name)
		}
	}
	caught := 0
	fmt.Println("| break | seen by | seconds |")
	fmt.Println("|---|---|---:|")
	var alive []string
	for i, m := range mutants {
		if !chosen.MatchString(m.name) {
			continue
		}
		if list {
			fmt.Printf("| %s | | |\n", m.name)
			continue
		}
		at := time.Now()
		by, err := r.meet(ctx, i)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", m.name, err)
		}
		if by == "" {
			by = "**nobody**"
			alive = append(alive, m.name)
		} else {
			caught++
		}
		fmt.Printf("| %s | %s | %.0f |\n", m.name, by, time.Since(at).Seconds())
	}
	if list {
		return 0, nil
	}
	fmt.Printf("\n%d breaks, %d seen, in %s.\n", caught+len(alive), caught, time.Since(began).Round(time.Second))
	for _, name := range alive {
		fmt.Println("survived:", name)
	}
	return len(alive) + len(r.failing), nil
}

func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	return strings.TrimSpace(string(out)), err
}

// runner runs the tests of one mutant after the other, on a Postgres that it lends them.
type runner struct {
	root   string
	folder string
	limit  time.Duration
	server *pgserver.Server
	served int
	// failing are the tests that fail where nothing is broken.
	failing []string
}

func (r *runner) stopServer() error {
	if r.server == nil {
		return nil
	}
	err := r.server.Stop(context.Background())
	r.server = nil
	return err
}

func (r *runner) database(ctx context.Context) (string, error) {
	if r.served++; r.served > perServer {
		if err := r.stopServer(); err != nil {
			return "", err
		}
		r.served = 1
	}
	if r.server == nil {
		starting, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		s, err := pgserver.Start(starting, pgserver.Options{BinDir: os.Getenv("HOLDFAST_PG_BIN"), Test: true})
		if err != nil {
			return "", err
		}
		r.server = s
	}
	return r.server.DSN("postgres"), nil
}

// meet gives what saw a mutant; nothing if it survived.
func (r *runner) meet(ctx context.Context, number int) (string, error) {
	dsn, err := r.database(ctx)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, r.limit)
	defer cancel()
	for _, tests := range []string{mutants[number].tests, "."} {
		by, err := r.test(ctx, number, dsn, tests, "1")
		if err != nil {
			return "", err
		}
		if !strings.HasPrefix(by, "Test") {
			if by != "" {
				return by, nil
			}
			continue
		}
		// Once more, alone: what fails by chance on a machine that has much to do has seen nothing. What draws its
		// steps by chance need not draw them again.
		top, _, _ := strings.Cut(by, "/")
		if top == "TestSequences" || top == "TestHistories" {
			return by, nil
		}
		again, err := r.test(ctx, number, dsn, "^"+top+"$", "2")
		if err != nil || again != "" {
			return by, err
		}
		fmt.Fprintf(os.Stderr, "mutants: %s: %s failed once and not again\n", mutants[number].name, by)
	}
	return "", nil
}

// plain runs all tests where nothing is broken, and notes what fails.
func (r *runner) plain(ctx context.Context) error {
	dsn, err := r.database(ctx)
	if err != nil {
		return err
	}
	cmd := r.command(ctx, -1, dsn, ".", "1")
	out, err := cmd.Output()
	for line := range strings.Lines(string(out)) {
		if name, failed := failure(line); failed && !strings.Contains(name, "/") {
			r.failing = append(r.failing, name)
		}
	}
	if err != nil && len(r.failing) == 0 {
		return fmt.Errorf("without any mutant the tests end with %w:\n%s", err, out)
	}
	return nil
}

func (r *runner) command(ctx context.Context, number int, dsn, tests, times string) *exec.Cmd {
	args := []string{
		"-test.run", tests, "-test.count", times, "-test.shuffle=on", "-test.timeout", r.limit.String(),
		"-rapid.nofailfile", "-rapid.shrinktime=1s", "-history.folder", filepath.Join(r.folder, "history"),
	}
	if len(r.failing) > 0 {
		args = append(args, "-test.skip", "^("+strings.Join(r.failing, "|")+")$")
	}
	cmd := exec.CommandContext(ctx, r.program(), args...)
	cmd.Dir = filepath.Join(r.root, "store")
	cmd.Env = append(os.Environ(), "TEST_DATABASE_URL="+dsn, mutantEnv+"="+strconv.Itoa(number))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // with the programs that tests start
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// build compiles the tests of the store with all mutants woven in.
func (r *runner) build(ctx context.Context) error {
	files, err := weave(filepath.Join(r.root, "store"), mutants)
	if err != nil {
		return err
	}
	replace := map[string]string{}
	for path, text := range files {
		replace[path] = filepath.Join(r.folder, filepath.Base(path))
		if err := os.WriteFile(replace[path], []byte(text), 0o600); err != nil {
			return err
		}
	}
	paths, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		return err
	}
	overlay := filepath.Join(r.folder, "overlay.json")
	if err := os.WriteFile(overlay, paths, 0o600); err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", "test", "-c", "-overlay", overlay, "-o", r.program(), "./store")
	build.Dir = r.root
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("the mutants do not compile: %w\n%s", err, out)
	}
	return nil
}

func (r *runner) program() string { return filepath.Join(r.folder, "store.test") }

// test runs tests of the program until the first one fails, and gives its name; nothing if all pass.
func (r *runner) test(ctx context.Context, number int, dsn, tests, times string) (string, error) {
	// All tests are parallel, so -failfast would let those go on that have begun: the program is ended at the first failure.
	running, end := context.WithCancel(ctx)
	defer end()
	cmd := r.command(running, number, dsn, tests, times)
	var said bytes.Buffer
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return "", err
	}
	seen := ""
	lines := bufio.NewReader(io.TeeReader(out, &said))
	for {
		line, err := lines.ReadString('\n')
		if name, failed := failure(line); failed && seen == "" {
			seen = name
			end()
		}
		if err != nil {
			break
		}
	}
	err = cmd.Wait()
	switch {
	case seen != "":
		return seen, nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "a test that did not end", nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err == nil:
		return "", nil
	case bytes.Contains(said.Bytes(), []byte("panic: ")):
		return "a panic", nil
	}
	return "", fmt.Errorf("the tests ended with %w:\n%s", err, said.Bytes())
}

var failed = regexp.MustCompile(`^\s*--- FAIL: (\S+)`)

func failure(line string) (string, bool) {
	found := failed.FindStringSubmatch(line)
	if found == nil {
		return "", false
	}
	return found[1], true
}
