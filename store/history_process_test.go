package store_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

// What a process with clients is told when it starts; all else it reads.
const (
	historyDSN  = "STORE_TEST_HISTORY_DSN"
	historyName = "STORE_TEST_HISTORY_NAME"
)

// clientOrder is a line that a process of clients reads: press so often in this venue.
type clientOrder struct {
	Venue   venue  `json:"venue"`
	Clients []int  `json:"clients"` // their numbers, never used before
	Presses int    `json:"presses"` // each
	Seed    uint64 `json:"seed"`
	Lossy   bool   `json:"lossy"` // now and then the answer to a commit is lost
}

// clientLine is a line that it writes: a press begins, or ends, or all are done.
type clientLine struct {
	Begins bool    `json:"begins,omitempty"`
	Done   bool    `json:"done,omitempty"`
	Press  pressed `json:"press,omitzero"`
}

// historyProcess is a program of its own with a pool of its own, until its input ends.
func historyProcess(dsn string) int {
	err := func() error {
		ctx := context.Background()
		cfg, err := pgxpool.ParseConfig(dsn)
		if err != nil {
			return err
		}
		w, dial := &wire{}, cfg.ConnConfig.DialFunc
		cfg.MaxConns = historyClients + 1
		cfg.ConnConfig.RuntimeParams["application_name"] = os.Getenv(historyName)
		cfg.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dial(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return &lossyConn{Conn: conn, wire: w}, nil
		}
		pool, err := pgxpool.NewWithConfig(ctx, cfg)
		if err != nil {
			return err
		}
		defer pool.Close()
		st, err := store.New(pool, shop.Secret, store.Watch{})
		if err != nil {
			return err
		}
		out := &clientLines{to: json.NewEncoder(os.Stdout)}
		in := json.NewDecoder(bufio.NewReader(os.Stdin))
		for {
			var o clientOrder
			if err := in.Decode(&o); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
			var clients sync.WaitGroup
			for _, number := range o.Clients {
				clients.Go(func() {
					c := &historyClient{number: number, venue: o.Venue, r: rand.New(rand.NewPCG(o.Seed, uint64(number))), seen: map[int]*slotView{}}
					for range o.Presses {
						c.press(ctx, st, pool, w, o.Lossy, out)
					}
				})
			}
			clients.Wait()
			out.write(clientLine{Done: true})
		}
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// clientLines writes each line at once, so that nothing of it is lost with the process.
type clientLines struct {
	mu sync.Mutex
	to *json.Encoder
}

func (l *clientLines) write(line clientLine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.to.Encode(line); err != nil {
		panic(err) // nobody reads any more
	}
}

// press makes one press and says so before and after it.
func (c *historyClient) press(ctx context.Context, st *store.Store, pool *pgxpool.Pool, w *wire, lossy bool, out *clientLines) {
	p := pressed{Client: c.number, Act: c.next(), Call: ticks()}
	out.write(clientLine{Begins: true, Press: p})
	if lossy && c.r.IntN(25) == 0 {
		w.loseAnswerTo("commit")
	}
	if p.Act.Do == "look" {
		saw, err := c.venue.look(ctx, pool, p.Act.Slot)
		if err != nil {
			p.Unknown = true
		} else {
			p.Look = &saw
			c.seen[p.Act.Slot] = &saw
		}
	} else {
		a := p.Act
		var err error
		p.Answer, _, err = c.venue.press(ctx, st, pool, a)
		switch {
		case err == nil && p.Answer.Outcome == store.Busy:
			p.Answer, p.Unknown = answer{}, true
		case err != nil:
			p.Unknown, p.Error = true, err.Error()
		}
		if c.r.IntN(3) == 0 { // else it goes on with what it saw, which is older now
			delete(c.seen, a.Slot)
		}
	}
	p.Return = ticks()
	if p.Unknown && p.Return-p.Call > int64(time.Second) {
		p.Return = math.MaxInt64 // whoever gave up waiting does not know when the server does
	}
	out.write(clientLine{Press: p})
}

// clientProcess is such a process as the test has it.
type clientProcess struct {
	name  string
	cmd   *exec.Cmd
	in    *json.Encoder
	out   *json.Decoder
	said  *strings.Builder
	close func() error
}

func startClients(t *testing.T, dsn, name string) *clientProcess {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &clientProcess{name: name, cmd: exec.CommandContext(context.WithoutCancel(t.Context()), self), said: &strings.Builder{}}
	p.cmd.Env = append(os.Environ(), historyDSN+"="+dsn, historyName+"="+name)
	p.cmd.Stderr = p.said
	in, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() }) // most often gone already
	p.in, p.out, p.close = json.NewEncoder(in), json.NewDecoder(bufio.NewReader(out)), in.Close
	return p
}

// historyRun is one history being made by several processes.
type historyRun struct {
	t       *testing.T
	s       *shop.Shop
	h       *history
	mu      sync.Mutex
	pending map[int]pressed // by client
	lines   int
	at      map[int]func() // what happens when so many lines were read
	gone    map[string]bool
}

func (r *historyRun) took(line clientLine) {
	r.mu.Lock()
	r.lines++
	do := r.at[r.lines]
	if line.Begins {
		r.pending[line.Press.Client] = line.Press
	} else {
		delete(r.pending, line.Press.Client)
		r.keep(line.Press)
	}
	r.mu.Unlock()
	if do != nil {
		do()
	}
}

// keep takes a press into the history. A look that saw nothing tells nothing.
func (r *historyRun) keep(p pressed) {
	if p.Act.Do == "look" && p.Unknown {
		return
	}
	if p.Error != "" && p.Act.Do != "sweep" && operateSQL[p.Act.Do] == nil {
		r.t.Errorf("%s was answered with an error: %s", p.Act, p.Error)
	}
	r.h.Presses = append(r.h.Presses, p)
}

// read takes all lines of a process until it is done, or gone.
func (r *historyRun) read(p *clientProcess) {
	for {
		var line clientLine
		if err := p.out.Decode(&line); err != nil {
			r.mu.Lock()
			defer r.mu.Unlock()
			if !r.gone[p.name] {
				r.t.Errorf("%s ended: %v: %s", p.name, err, p.said)
			}
			return
		}
		if line.Done {
			return
		}
		r.took(line)
	}
}

// kill ends a process as the kernel would. What it was about may still happen
// until the server has noticed.
func (r *historyRun) kill(p *clientProcess) {
	r.mu.Lock()
	r.gone[p.name] = true
	r.mu.Unlock()
	if err := p.cmd.Process.Kill(); err != nil {
		r.t.Error(err)
	}
}

const historySessionsSQL = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1`

// bury waits until the server has ended the sessions of a killed process: from then on nothing of it can happen any more.
func (r *historyRun) bury(p *clientProcess, clients []int) {
	_ = p.cmd.Wait() // it was killed
	r.s.Until(r.t, func() bool {
		var n int
		if err := r.s.Pool.QueryRow(context.WithoutCancel(r.t.Context()), historySessionsSQL, p.name).Scan(&n); err != nil {
			r.t.Fatal(err)
		}
		return n == 0
	}, func() string { return "the sessions of a killed process stay" })
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, client := range clients {
		if press, open := r.pending[client]; open {
			press.Unknown, press.Return = true, ticks()
			r.keep(press)
			delete(r.pending, client)
		}
	}
}

// cut ends one session of the clients in whatever it is doing.
func (r *historyRun) cut() {
	_, err := r.s.Pool.Exec(context.WithoutCancel(r.t.Context()), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE datname = current_database() AND application_name LIKE 'history-%' AND state <> 'idle' ORDER BY random() LIMIT 1`)
	if err != nil {
		r.t.Error(err)
	}
}

const (
	historyProcesses = 3
	historyClients   = 3  // in each process
	historyPresses   = 60 // of each client
)

// Clients in several programs press what they like, on two small slots, while
// time moves, connections are cut and programs are killed. For each slot there is an
// order of the presses that explains every answer, and every invariant holds. More of it:
// go test ./store -run TestHistories -history.for 10m -timeout 0 -v
func TestHistories(t *testing.T) {
	t.Parallel()
	if *historySaved != "" {
		judgeSaved(t, *historySaved)
		return
	}
	s := shop.New(t, nil)
	seed := *historySeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-history.seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	processes := make([]*clientProcess, historyProcesses)
	started, client, presses, unknown, kills := 0, 0, 0, 0, 0
	outcomes := map[string]int{}
	began, rounds := ticks(), 0
	for round := 0; round < *historyRounds || *historyFor > 0; round++ {
		if *historyFor > 0 && ticks()-began > int64(*historyFor) {
			break
		}
		rounds++
		fit, mode := store.FirstFit, store.Sequential
		if r.IntN(3) == 0 {
			fit = store.Strict
		}
		if r.IntN(5) == 0 {
			mode = store.Broadcast
		}
		h := historyVenue(t, s, fmt.Sprint("round-", round), []int{1 + r.IntN(3), 1 + r.IntN(2)}, func(p *store.Policies) { p.Fit, p.WaitlistMode = fit, mode })
		run := &historyRun{t: t, s: s, h: h, pending: map[int]pressed{}, at: map[int]func(){}, gone: map[string]bool{}}
		for i := range processes {
			if processes[i] == nil {
				started++
				processes[i] = startClients(t, s.DSN, fmt.Sprint("history-", started))
			}
		}
		lines := 2 * historyProcesses * historyClients * historyPresses
		if round%3 == 1 {
			run.at[lines/4+r.IntN(lines/3)] = func() { run.kill(processes[0]) }
			kills++
		}
		for range r.IntN(3) {
			run.at[lines/8+r.IntN(lines/2)] = run.cut
		}
		numbers := make([][]int, len(processes))
		var readers sync.WaitGroup
		for i, p := range processes {
			for range historyClients {
				client++
				numbers[i] = append(numbers[i], client)
			}
			if err := p.in.Encode(clientOrder{Venue: h.Venue, Clients: numbers[i], Presses: historyPresses, Seed: r.Uint64(), Lossy: round%2 == 0}); err != nil {
				t.Fatal(err)
			}
			readers.Go(func() { run.read(p) })
		}
		readers.Wait()
		if t.Failed() {
			return
		}
		for i, p := range processes {
			if run.gone[p.name] {
				run.bury(p, numbers[i])
				processes[i] = nil
			}
		}
		for slot := range h.Begin {
			p := pressed{Act: act{Do: "look", Slot: slot}, Call: ticks()}
			saw, err := h.Venue.look(t.Context(), s.Pool, slot)
			if err != nil {
				t.Fatal(err)
			}
			p.Look, p.Return = &saw, ticks()
			h.Presses = append(h.Presses, p)
		}
		h.demand(t)
		s.Check(t)
		for _, p := range h.Presses {
			presses++
			if p.Unknown {
				unknown++
			}
			outcomes[p.Act.Do+" "+string(p.Answer.Outcome)]++
		}
	}
	for _, p := range processes {
		if p == nil {
			continue
		}
		if err := errors.Join(p.close(), p.cmd.Wait()); err != nil {
			t.Errorf("%s: %v: %s", p.name, err, p.said)
		}
	}
	t.Logf("%d histories by %d processes of %d clients: %d presses, %d without an answer, %d processes killed, in %s", rounds, historyProcesses, historyClients, presses, unknown, kills,
		time.Duration(ticks()-began).Round(time.Second))
	t.Log(outcomes)
	if rounds > 6 && unknown == 0 {
		t.Error("no answer was lost, so nothing was shown about lost ones")
	}
}
