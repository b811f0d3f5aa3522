package race

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"holdfast/store"
	"holdfast/store/strategy"
)

// order is the first line that a worker reads: where to work.
type order struct {
	DSN    string `json:"dsn"` // with the lab's schema as its search path
	Secret string `json:"secret"`
	Conns  int32  `json:"conns"`
}

// greeting is the first line that a worker writes.
type greeting struct {
	PIDs []uint32 `json:"pids"` // its backends
}

// press is one thing that somebody does, by one strategy.
type press struct {
	Do       string `json:"do"` // hold, claim, accept, lapse, sweep, cancel, capacity
	Strategy string `json:"strategy"`
	Tenant   string `json:"tenant"`
	Slot     string `json:"slot,omitempty"`
	ID       string `json:"id,omitempty"` // of the entry or the reservation
	Key      string `json:"key,omitempty"`
	Version  int64  `json:"version,omitempty"`
	Capacity int    `json:"capacity,omitempty"`
	// At is when the person presses, by the database's clock; zero: at the signal.
	At time.Time `json:"at,omitzero"`
	// Way is how long the press is under way before it reaches the database, and
	// Pause how long a strategy thinks between reading and writing.
	Way   time.Duration `json:"way,omitempty"`
	Pause time.Duration `json:"pause,omitempty"`
	// Until repeats a sweep until then, by the database's clock.
	Until time.Time `json:"until,omitzero"`
}

// answer is what came of a press.
type answer struct {
	Yes     bool          `json:"yes,omitempty"`
	Outcome string        `json:"outcome,omitempty"` // of a refusal
	Error   string        `json:"error,omitempty"`   // of a failure, which nobody should ever see
	ID      string        `json:"id,omitempty"`      // of what was made or chosen
	Pressed time.Time     `json:"pressed,omitzero"`  // by the database's clock
	Took    time.Duration `json:"took"`
}

// Work is a worker process: it reads rounds, makes their presses at the signal,
// all at once and each on a connection of its own, and writes the answers.
func Work(ctx context.Context, in io.Reader, out io.Writer) error {
	lines := bufio.NewReaderSize(in, 1<<20)
	send := json.NewEncoder(out)
	var o order
	if err := read(lines, &o); err != nil {
		return fmt.Errorf("order: %w", err)
	}
	secret, err := hex.DecodeString(o.Secret)
	if err != nil {
		return fmt.Errorf("order: %w", err)
	}
	w, err := newWorker(ctx, o, secret)
	if err != nil {
		return err
	}
	defer w.pool.Close()
	pids, err := w.greet(ctx, int(o.Conns))
	if err != nil {
		return err
	}
	if err := send.Encode(greeting{pids}); err != nil {
		return err
	}
	for {
		var presses []press
		if err := read(lines, &presses); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("round: %w", err)
		}
		start := make(chan struct{})
		answers := make([]answer, len(presses))
		var ready, done sync.WaitGroup
		for i, p := range presses {
			ready.Add(1)
			done.Go(func() {
				ready.Done()
				<-start
				answers[i] = w.make(ctx, p)
			})
		}
		ready.Wait()
		if err := send.Encode("ready"); err != nil {
			return err
		}
		var signal string
		if err := read(lines, &signal); err != nil {
			return fmt.Errorf("signal: %w", err)
		}
		close(start)
		done.Wait()
		if err := send.Encode(answers); err != nil {
			return err
		}
	}
}

func read(lines *bufio.Reader, v any) error {
	line, err := lines.ReadBytes('\n')
	if err != nil {
		return err
	}
	return json.Unmarshal(line, v)
}

type worker struct {
	pool   *pgxpool.Pool
	store  *store.Store
	behind time.Duration // what this process's clock lacks to the database's
}

func newWorker(ctx context.Context, o order, secret []byte) (*worker, error) {
	cfg, err := pgxpool.ParseConfig(o.DSN)
	if err != nil {
		return nil, err
	}
	cfg.MaxConns = o.Conns
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, err
	}
	st, err := store.New(pool, secret, store.Watch{})
	if err != nil {
		pool.Close()
		return nil, err
	}
	return &worker{pool: pool, store: st}, nil
}

// greet opens every connection, so that no press has to, and compares the clocks:
// the middle of the quickest of a few questions is taken for the moment of its answer.
func (w *worker) greet(ctx context.Context, conns int) ([]uint32, error) {
	var pids []uint32
	var opened []*pgxpool.Conn
	defer func() {
		for _, c := range opened {
			c.Release()
		}
	}()
	for range conns {
		c, err := w.pool.Acquire(ctx)
		if err != nil {
			return nil, err
		}
		opened = append(opened, c)
		pids = append(pids, c.Conn().PgConn().PID())
	}
	best := time.Hour
	for range 5 {
		asked := time.Now()
		var at time.Time
		if err := opened[0].QueryRow(ctx, "SELECT clock_timestamp()").Scan(&at); err != nil {
			return nil, err
		}
		if took := time.Since(asked); took < best {
			best, w.behind = took, at.Sub(asked.Add(took/2))
		}
	}
	return pids, nil
}

// now is the database's clock, as this process knows it.
func (w *worker) now() time.Time { return time.Now().Add(w.behind) }

func rest(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (w *worker) make(ctx context.Context, p press) answer {
	if !p.At.IsZero() {
		rest(ctx, p.At.Sub(w.now()))
	}
	pressed := w.now()
	rest(ctx, p.Way)
	began := time.Now()
	a, err := w.do(ctx, p)
	a.Pressed, a.Took = pressed, time.Since(began)
	var refused store.Outcome
	var pg *pgconn.PgError
	switch {
	case err == nil:
	case errors.As(err, &refused):
		a.Outcome = string(refused)
	case errors.Is(err, strategy.ErrStale):
		a.Outcome = "stale"
	case errors.As(err, &pg) && pg.Code == "55P03":
		a.Outcome = string(store.Busy)
	default:
		a.Error = err.Error()
	}
	return a
}

var visitors = store.Actor{Kind: store.Customer}

// do makes the press, by the product's own code where that is the strategy.
func (w *worker) do(ctx context.Context, p press) (answer, error) {
	pause := func() { rest(ctx, p.Pause) }
	if p.Strategy == Product {
		return w.product(ctx, p)
	}
	switch p.Do {
	case "hold":
		yes, err := holdBy(p.Strategy)(ctx, w.pool, strategy.Request{TenantID: p.Tenant, SlotID: p.Slot, Party: 1, Key: p.Key}, pause)
		return said(yes, err)
	case "accept", "lapse":
		step, lapse := offerBy(p.Strategy)
		if p.Do == "lapse" {
			step = lapse
		}
		yes, err := step(ctx, w.pool, strategy.Offer{TenantID: p.Tenant, SlotID: p.Slot, EntryID: p.ID}, pause)
		return said(yes, err)
	case "cancel":
		cancel := cancelBy(p.Strategy)
		for {
			head, err := cancel(ctx, w.pool, p.Tenant, p.Slot, p.ID, pause)
			if errors.Is(err, strategy.ErrStale) && ctx.Err() == nil {
				// Whoever cancels is not asked to try again: the strategy does, after a moment of its own.
				rest(ctx, time.Duration(rand.Int64N(int64(2*time.Millisecond))))
				continue
			}
			return answer{Yes: err == nil, ID: head}, err
		}
	case "capacity":
		yes, err := editBy(p.Strategy)(ctx, w.pool, p.Tenant, p.Slot, p.Version, p.Capacity, pause)
		if err == nil && !yes {
			err = strategy.ErrStale
		}
		return said(yes, err)
	}
	return answer{}, fmt.Errorf("race: no press %q", p.Do)
}

// said is the answer of a strategy that says yes or no; no is for want of seats.
func said(yes bool, err error) (answer, error) {
	if err == nil && !yes {
		err = store.SoldOut
	}
	return answer{Yes: yes && err == nil}, err
}

func (w *worker) product(ctx context.Context, p press) (answer, error) {
	done := func(id string, err error) (answer, error) { return answer{Yes: err == nil, ID: id}, err }
	switch p.Do {
	case "hold":
		held, err := w.store.Hold(ctx, store.HoldRequest{
			TenantID: p.Tenant, Slots: []store.HoldSlot{{ID: p.Slot, TermsVersion: 1}}, PartySize: 1, Owner: "visitor " + p.Key, Key: p.Key,
			Source: store.SourceWeb, Locale: "en", Actor: visitors,
		})
		if err != nil {
			return done("", err)
		}
		return done(held[0].ID, nil)
	case "claim":
		r, err := w.store.Claim(ctx, store.AcceptRequest{TenantID: p.Tenant, ID: p.ID, TermsVersion: 1, Actor: visitors})
		return done(r.ID, err)
	case "accept":
		r, err := w.store.Accept(ctx, store.AcceptRequest{TenantID: p.Tenant, ID: p.ID, TermsVersion: 1, Actor: visitors})
		return done(r.ID, err)
	case "sweep":
		for {
			if _, err := w.store.Sweep(ctx); err != nil {
				return done("", err)
			}
			if !w.now().Before(p.Until) {
				return done("", nil)
			}
			rest(ctx, time.Millisecond)
		}
	case "cancel":
		change, err := w.store.Cancel(ctx, store.CancelRequest{TenantID: p.Tenant, IDs: []string{p.ID}, Actor: visitors})
		var offered []string
		for _, e := range change.Offered {
			offered = append(offered, e.ID)
		}
		return done(strings.Join(offered, " "), err)
	case "capacity":
		_, err := w.store.ChangeCapacity(ctx, store.CapacityRequest{TenantID: p.Tenant, SlotID: p.Slot, Capacity: p.Capacity, Version: &p.Version, Actor: store.Actor{Kind: store.Staff}})
		return done("", err)
	}
	return answer{}, fmt.Errorf("race: the product has no press %q", p.Do)
}

// inSchema gives an address whose connections see the lab's schema and nothing else.
func inSchema(dsn, schema, application string, timeout time.Duration) (string, error) {
	if _, err := pgx.ParseConfig(dsn); err != nil {
		return "", errors.New("not an address of a Postgres database")
	}
	more := map[string]string{"search_path": schema, "application_name": application, "lock_timeout": fmt.Sprint(timeout.Milliseconds())}
	return withParameters(dsn, more), nil
}
