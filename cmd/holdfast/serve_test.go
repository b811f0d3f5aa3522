package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"holdfast/store/storetest"
)

// patience is how long a test waits for a process.
const patience = time.Minute

// process is the program in a process of its own.
type process struct {
	cmd      *exec.Cmd
	said     map[string]string // the lines printed when ready: customer, staff, sign-in, database
	ended    chan struct{}
	mu       sync.Mutex
	log      strings.Builder
	reported error // set before ended is closed
}

func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.Write(b)
}

func (p *process) logged() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// dataDir is a folder that the user of the private Postgres can reach.
func dataDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "hf")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "data")
}

// start starts `holdfast serve` and waits until it says that it is ready.
func (s settings) start(t *testing.T) *process {
	t.Helper()
	p := s.launch(t)
	if len(p.said) == 0 {
		<-p.ended
		t.Fatalf("the program did not get ready: %v\n%s", p.reported, p.logged())
	}
	return p
}

// testProgram among the settings names another program to start than the one under test.
const testProgram = "HOLDFAST_TEST_PROGRAM"

// launch starts it, and waits until it is ready or has ended.
func (s settings) launch(t *testing.T) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.Command(cmp.Or(s[testProgram], self), "serve"), ended: make(chan struct{}), said: map[string]string{}}
	p.cmd.Env = []string{asProgram + "=1", "PATH=" + os.Getenv("PATH"), "HOLDFAST_PG_BIN=" + os.Getenv("HOLDFAST_PG_BIN"), "TZ=America/New_York"}
	for name, value := range s {
		p.cmd.Env = append(p.cmd.Env, name+"="+value)
	}
	p.cmd.Stderr = p
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make(chan struct{})
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			p.said[name] = value
			if name == "database" {
				close(ready)
				break
			}
		}
		_, err := io.Copy(io.Discard, out)
		p.reported = errors.Join(p.cmd.Wait(), err)
		close(p.ended)
	}()
	t.Cleanup(func() {
		select {
		case <-p.ended:
		default:
			p.signal(t, syscall.SIGKILL)
		}
	})
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-ready:
	case <-p.ended:
	case <-timer.C:
		t.Fatalf("the program neither gets ready nor ends:\n%s", p.logged())
	}
	return p
}

// signal sends a signal and waits for the end.
func (p *process) signal(t *testing.T, sig os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
		t.Fatalf("the program does not end:\n%s", p.logged())
	}
}

// stop stops it as an operator does; it must end well.
func (p *process) stop(t *testing.T, sig os.Signal) {
	t.Helper()
	p.signal(t, sig)
	if code := p.cmd.ProcessState.ExitCode(); code != exitFine {
		t.Errorf("after %v: exit %d\n%s", sig, code, p.logged())
	}
}

func (p *process) get(t *testing.T, path string) (status int, body string) {
	t.Helper()
	base := strings.TrimSuffix(p.said["staff"], "/staff")
	answer, err := http.Get(base + path)
	if err != nil {
		return 0, err.Error()
	}
	raw, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		return 0, err.Error()
	}
	return answer.StatusCode, string(raw)
}

func until(t *testing.T, met func() bool, words func() string) {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !met() {
		select {
		case <-deadline.C:
			t.Fatalf("waited in vain: %s", words())
		case <-tick.C:
		}
	}
}

func TestServeWithoutConfigurationStartsStopsAndFindsItsDataAgain(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	s := settings{"HOLDFAST_DATA_DIR": dir, "HOLDFAST_ADDR": "127.0.0.1:0"}
	first := s.start(t)
	base := strings.TrimSuffix(first.said["staff"], "/staff")
	if first.said["customer"] != base+"/demo" || !strings.HasPrefix(base, "http://localhost:") || !strings.HasPrefix(first.said["sign-in"], "owner@demo.example ") ||
		!strings.HasPrefix(first.said["database"], "postgres://") {
		t.Errorf("it said %v", first.said)
	}
	for path, want := range map[string]int{"/demo": http.StatusOK, "/readyz": http.StatusOK, "/healthz": http.StatusOK} {
		if status, body := first.get(t, path); status != want {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	_, metrics := first.get(t, "/metrics")
	for _, name := range []string{
		"holdfast_outcomes_total{", "holdfast_lock_wait_seconds_bucket{", "holdfast_lock_timeouts_total ", "holdfast_sweep_lag_seconds_bucket{",
		"holdfast_outbox_oldest_seconds ", `holdfast_outbox_messages{state="pending"}`, `holdfast_invariant_violations{invariant="I10"} 0`,
	} {
		until(t, func() bool { _, metrics = first.get(t, "/metrics"); return strings.Contains(metrics, "\n"+name) }, func() string { return name + " in\n" + metrics })
	}
	if strings.Contains(metrics, "tenant=") || strings.Contains(metrics, "slot=") || strings.Contains(metrics, "demo") {
		t.Error("a metric names a tenant or a slot")
	}
	// What was booked at the filling is told, into the mailbox.
	until(t, func() bool { found, err := filepath.Glob(dir + "/mail/*.eml"); return err == nil && len(found) > 3 }, func() string { return "mails in the mailbox" })

	// The port is taken: a clear line. Another port: the same database, together.
	_, port, _ := strings.Cut(strings.TrimPrefix(base, "http://"), ":")
	if r := s.with("HOLDFAST_ADDR", "127.0.0.1:"+port).run(t, "", "serve"); r.code != exitFailed || !strings.Contains(r.errors, "127.0.0.1:"+port+" is in use") {
		t.Errorf("exit %d: %s", r.code, r.errors)
	}
	second := s.start(t)
	if second.said["sign-in"] != first.said["sign-in"] || second.said["database"] != first.said["database"] || second.said["staff"] == first.said["staff"] {
		t.Errorf("the second said %v", second.said)
	}
	s.fine(t, "", "tenant", "add", "--slug", "salon", "--name", "Salon") // joins as well
	if status, _ := second.get(t, "/salon"); status != http.StatusOK {
		t.Errorf("the second does not see the new tenant: %d", status)
	}

	// The one that started the server leaves; the other takes over.
	first.stop(t, syscall.SIGTERM)
	var status int
	var body string
	until(t, func() bool { status, body = second.get(t, "/readyz"); return status == http.StatusOK },
		func() string { return "the second is not ready any more: " + body + "\n" + second.logged() })
	second.stop(t, syscall.SIGINT)

	third := s.start(t)
	if third.said["sign-in"] != first.said["sign-in"] {
		t.Errorf("another password: %v", third.said)
	}
	if status, _ := third.get(t, "/salon"); status != http.StatusOK {
		t.Errorf("its data are gone: %d", status)
	}
	third.stop(t, syscall.SIGTERM)
	if strings.Contains(first.logged()+second.logged()+third.logged(), "@example.com") {
		t.Error("an address stands in a log")
	}
}

func TestAKilledProgramRecoversByItself(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	s := settings{"HOLDFAST_DATA_DIR": dir, "HOLDFAST_ADDR": "127.0.0.1:0"}
	first := s.start(t)
	pidFile, err := os.ReadFile(dir + "/pg/data/postmaster.pid")
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(pidFile), "\n")
	pid, err := strconv.Atoi(line)
	if err != nil {
		t.Fatal(err)
	}
	s.fine(t, "", "tenant", "add", "--slug", "salon", "--name", "Salon")
	// Server and all, without a chance to say goodbye.
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	first.signal(t, syscall.SIGKILL)
	second := s.start(t)
	if second.said["sign-in"] != first.said["sign-in"] {
		t.Errorf("another password: %v", second.said)
	}
	if status, _ := second.get(t, "/salon"); status != http.StatusOK {
		t.Errorf("what was committed is gone: %d", status)
	}
	s.fine(t, "", "check")
	second.stop(t, syscall.SIGTERM)
}

func TestServeOnADatabaseOfTheOperators(t *testing.T) {
	t.Parallel()
	w := storetest.New(t)
	s := on(t, w).with("HOLDFAST_ADDR", "127.0.0.1:0", "HOLDFAST_PUBLIC_URL", "https://reserve.example.com")
	s.fine(t, "", "tenant", "add", "--slug", "salon", "--name", "Salon")
	p := s.start(t)
	if p.said["customer"] != "https://reserve.example.com/" || p.said["staff"] != "https://reserve.example.com/staff" || p.said["sign-in"] != "" {
		t.Errorf("it said %v", p.said)
	}
	p.stop(t, syscall.SIGTERM)
	if _, err := os.Stat(s["HOLDFAST_DATA_DIR"] + "/pg"); err == nil {
		t.Error("it started a private server as well")
	}
	s.fine(t, "", "demo")
	if p = s.start(t); !strings.HasPrefix(p.said["sign-in"], demoOwner+" ") || p.said["customer"] != "https://reserve.example.com/demo" {
		t.Errorf("with the demo it said %v", p.said)
	}
	p.stop(t, syscall.SIGTERM)
}

func TestPasswordsOfTheDatabaseAreNotPrinted(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"postgres://user:geheim@host/db", "postgres://host/db?password=geheim&user=u", "host=h password=geheim"} {
		if shown := dsn(address).shown(); strings.Contains(shown, "geheim") {
			t.Errorf("%s is shown as %s", address, shown)
		}
	}
}

func TestStoppingWhileStartingIsNoFailure(t *testing.T) {
	t.Parallel()
	s := on(t, storetest.New(t)).with("HOLDFAST_ADDR", "127.0.0.1:0")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var log strings.Builder
	if code := Run(ctx, []string{"serve"}, func(name string) string { return s[name] }, strings.NewReader(""), io.Discard, &log); code != exitFine {
		t.Errorf("exit %d: %s", code, log.String())
	}
}

func TestARequestThatWasBegunIsAnsweredWhileStopping(t *testing.T) {
	t.Parallel()
	s := on(t, storetest.New(t)).with("HOLDFAST_ADDR", "127.0.0.1:0", "HOLDFAST_SWEEP", "off", "HOLDFAST_DISPATCH", "off")
	s.fine(t, "", "tenant", "add", "--slug", "salon", "--name", "Salon")
	p := s.start(t)
	host := strings.TrimSuffix(strings.TrimPrefix(p.said["staff"], "http://"), "/staff")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const body = "email=guest%40example.com"
	send := func(text string) {
		t.Helper()
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatal(err)
		}
	}
	send("POST /salon/my-reservations HTTP/1.1\r\nHost: " + host + "\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: " +
		strconv.Itoa(len(body)) + "\r\nExpect: 100-continue\r\n\r\n")
	answers := bufio.NewReader(conn)
	// The server asks for the body: the request is in its handler now.
	if line, err := answers.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("%q %v", line, err)
	}
	if _, err := answers.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	until(t, func() bool { return strings.Contains(p.logged(), "stopping") }, p.logged)
	send(body)
	answer, err := http.ReadResponse(answers, nil)
	if err != nil {
		t.Fatalf("the request was cut off: %v\n%s", err, p.logged())
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 500 {
		t.Errorf("answered with %d", answer.StatusCode)
	}
	<-p.ended
	if code := p.cmd.ProcessState.ExitCode(); code != exitFine {
		t.Errorf("exit %d\n%s", code, p.logged())
	}
}

func TestBackgroundWorkCanBeLeftToOtherInstances(t *testing.T) {
	t.Parallel()
	d := &database{}
	for want, c := range map[int]config{2: {}, 3: {Sweep: true}, 4: {Sweep: true, Dispatch: true, PublicURL: publicURL{url: &url.URL{}}}} {
		if got := len((&program{}).loops(c, d, newMetrics(), nil, nil)); got != want {
			t.Errorf("%v: %d loops, want %d", c, got, want)
		}
	}
}
