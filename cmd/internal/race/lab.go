// Package race is the race lab: it runs the classic races of reservations on a
// real Postgres, over several operating-system processes, by several strategies,
// and tells which of them held.
//
// It works in a schema of its own, which is made for the run and dropped after
// it; live data is never touched. The product's strategy is the product's own
// code. The others stand in package strategy: one is broken on purpose, since a
// race that nobody loses proves nothing. If the broken one holds, the race was
// not provoked, and the run fails as well.
//
// A round is prepared by the lab, sent to the workers, started at one signal, and
// judged from the tables and from what everybody was told.
package race

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"holdfast/migrations"
	"holdfast/store"
	"holdfast/store/strategy"
)

// Options say what to run.
type Options struct {
	// DSN is the database's own address, past a pooler: the search path must last.
	DSN    string
	Rounds int // of each race
	Procs  int // worker processes
	// Scenarios and Strategies to run; empty: all.
	Scenarios, Strategies []string
	// Conns is how many connections the workers have together; 0: as many as press
	// at once in the largest race. With fewer some presses of a round wait for others.
	Conns int
	// Worker makes the command of a worker process: a program that calls Work.
	Worker func(ctx context.Context) *exec.Cmd
	// Progress is told of each round that was judged; nil: nobody.
	Progress func(scenario, strategy string, done, of int)
}

// application is what the lab's sessions call themselves, before the run's id.
const application = "holdfast-race-"

const (
	// most is how many press at once in the largest race, and so how many
	// connections the workers need together.
	most = 50
	// patience is the lock timeout of the lab: nobody waits longer.
	patience = 400 * time.Millisecond
	// provocations is how often the rounds are run until the naive strategy breaks.
	provocations = 5
	// stopping bounds how long the lab cleans up.
	stopping = 30 * time.Second
)

// Known reports whether there is such a scenario and such a strategy; empty names are.
func Known(scenario, strategy string) error {
	if scenario != "" && !slices.Contains(Scenarios(), scenario) {
		return fmt.Errorf("there is no scenario %q: %s", scenario, strings.Join(Scenarios(), ", "))
	}
	if strategy != "" && !slices.Contains(Strategies, strategy) {
		return fmt.Errorf("there is no strategy %q: %s", strategy, strings.Join(Strategies, ", "))
	}
	return nil
}

// A scenario that asks for a strategy that is not there is a mistake of ours.
func unknown(name string) { panic("race: no strategy " + name) }

func holdBy(name string) strategy.Hold {
	for _, s := range strategy.Holds {
		if s.Name == name {
			return s.Hold
		}
	}
	unknown(name)
	return nil
}

func offerBy(name string) (accept, lapse strategy.Step) {
	for _, s := range strategy.Deadlines {
		if s.Name == name {
			return s.Accept, s.Lapse
		}
	}
	unknown(name)
	return nil, nil
}

func cancelBy(name string) strategy.Cancellation {
	for _, s := range strategy.Cancellations {
		if s.Name == name {
			return s.Cancel
		}
	}
	unknown(name)
	return nil
}

func editBy(name string) strategy.Edit {
	for _, s := range strategy.Edits {
		if s.Name == name {
			return s.Edit
		}
	}
	unknown(name)
	return nil
}

type lab struct {
	id     string
	schema string
	opts   Options
	pool   *pgxpool.Pool
	store  *store.Store
	procs  []*process

	venues map[bool]*venue // of the product, and of the other strategies, which leave no events
	*venue
	keys atomic.Int64
}

// venue is a tenant with what its slots need.
type venue struct {
	tenant                store.Tenant
	sequential, broadcast store.Service
	resource              store.Resource
	first, next           time.Time
}

// Run runs the races and gives what happened. The error is about the run itself;
// whether something broke stands in the report.
func Run(ctx context.Context, o Options) (report Report, err error) {
	l := &lab{id: strings.ToLower(rand.Text()[:10]), opts: o, venues: map[bool]*venue{}}
	l.schema = "holdfast_race_" + l.id
	if err := l.open(ctx); err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, l.close(context.WithoutCancel(ctx))) }()
	report = Report{Run: l.id, At: time.Now().UTC(), Rounds: o.Rounds, Procs: o.Procs}
	for _, p := range l.procs {
		report.PIDs = append(report.PIDs, p.pids...)
	}
	if err := l.pool.QueryRow(ctx, "SELECT current_setting('server_version'), current_setting('transaction_isolation')").Scan(&report.Postgres, &report.Isolation); err != nil {
		return report, err
	}
	for _, sc := range scenarios {
		if len(o.Scenarios) > 0 && !slices.Contains(o.Scenarios, sc.name) {
			continue
		}
		for _, strat := range Strategies {
			if len(o.Strategies) > 0 && !slices.Contains(o.Strategies, strat) || sc.strategies != nil && !slices.Contains(sc.strategies, strat) {
				continue
			}
			result, err := l.race(ctx, sc, strat)
			if err != nil {
				return report, fmt.Errorf("%s, %s: %w", sc.name, strat, err)
			}
			report.Results = append(report.Results, result)
		}
	}
	report.judge()
	return report, nil
}

func (l *lab) race(ctx context.Context, sc scenario, strat string) (Result, error) {
	l.venue = l.venues[strat == Product]
	t := &tally{Result: Result{Scenario: sc.name, Text: sc.text, Strategy: strat, MustBreak: sc.broken && strat == Naive, Refused: map[string]int{}, Violations: map[string]int{}}}
	t.progress = func() {
		if l.opts.Progress != nil {
			l.opts.Progress(sc.name, strat, t.Rounds, l.opts.Rounds)
		}
	}
	// A machine that is busy with other things may not have the race in the first rounds.
	for try := 0; try == 0 || try < provocations && t.MustBreak && len(t.Violations) == 0; try++ {
		if err := sc.rounds(ctx, l, strat, l.opts.Rounds, t); err != nil {
			return t.Result, err
		}
	}
	if strat == Product {
		checked, err := l.store.Check(ctx, l.tenant.Slug)
		if err != nil {
			return t.Result, err
		}
		for _, i := range checked.Invariants {
			if i.Violations > 0 {
				t.Violations[i.ID] += i.Violations
				t.Broken++
			}
		}
	}
	return t.finish(), nil
}

// open makes the schema with the product's own tables in it, the venues and the workers.
func (l *lab) open(ctx context.Context) (err error) {
	plain, err := pgx.Connect(ctx, l.opts.DSN)
	if err != nil {
		return err
	}
	// The extension is left where others would look for it: in the lab's schema it
	// would be dropped with it, and with it the constraints of whoever uses it by then.
	for _, sql := range []string{"CREATE EXTENSION IF NOT EXISTS btree_gist WITH SCHEMA public", "CREATE SCHEMA " + l.schema} {
		if _, err = plain.Exec(ctx, sql); err != nil {
			return errors.Join(fmt.Errorf("make the lab's schema: %w", err), plain.Close(ctx))
		}
	}
	if err := plain.Close(ctx); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.close(context.WithoutCancel(ctx)))
		}
	}()
	dsn, err := inSchema(l.opts.DSN, l.schema, application+l.id, patience)
	if err != nil {
		return err
	}
	if err := migrations.UpSchema(ctx, dsn); err != nil {
		return err
	}
	var secret [32]byte
	if _, err := rand.Read(secret[:]); err != nil {
		return err
	}
	if l.pool, err = pgxpool.New(ctx, dsn); err != nil {
		return err
	}
	if l.store, err = store.New(l.pool, secret[:], store.Watch{}); err != nil {
		return err
	}
	for _, product := range []bool{true, false} {
		if l.venues[product], err = l.addVenue(ctx, map[bool]string{true: "product", false: "others"}[product]); err != nil {
			return err
		}
	}
	conns := cmp.Or(l.opts.Conns, most)
	each := int32((conns + l.opts.Procs - 1) / l.opts.Procs)
	for range l.opts.Procs {
		p, err := startProcess(ctx, l.opts.Worker(ctx), order{DSN: dsn, Secret: hex.EncodeToString(secret[:]), Conns: each + 1})
		if err != nil {
			return err
		}
		l.procs = append(l.procs, p)
	}
	return nil
}

func (l *lab) addVenue(ctx context.Context, slug string) (*venue, error) {
	policies := store.DefaultPolicies()
	policies.Quiet, policies.HoldsPerVisitor = nil, 1000
	overrides, err := json.Marshal(policies)
	if err != nil {
		return nil, err
	}
	v := &venue{}
	if v.tenant, err = l.store.AddTenant(ctx, store.Tenant{Slug: slug, Name: slug, TimeZone: "UTC", Locale: "en", Overrides: overrides}); err != nil {
		return nil, err
	}
	service := func(slug, policies string) (store.Service, error) {
		return l.store.AddService(ctx, store.Service{
			TenantID: v.tenant.ID, Slug: slug, Name: store.Text{"en": slug}, Duration: time.Minute, Capacity: 1, Active: true, Overrides: []byte(policies),
		})
	}
	if v.sequential, err = service("in-turn", `{}`); err != nil {
		return nil, err
	}
	if v.broadcast, err = service("first-come", `{"waitlistMode":"broadcast"}`); err != nil {
		return nil, err
	}
	now, err := l.store.Now(ctx)
	v.first = now.Truncate(time.Hour).Add(48 * time.Hour)
	return v, err
}

func (l *lab) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopping)
	defer cancel()
	var errs []error
	for _, p := range l.procs {
		errs = append(errs, p.stop())
	}
	if l.pool != nil {
		l.pool.Close()
	}
	conn, err := pgx.Connect(ctx, l.opts.DSN)
	if err != nil {
		return errors.Join(append(errs, fmt.Errorf("drop the lab's schema %s: %w", l.schema, err))...)
	}
	if _, err := conn.Exec(ctx, "DROP SCHEMA IF EXISTS "+l.schema+" CASCADE"); err != nil {
		errs = append(errs, fmt.Errorf("drop the lab's schema %s: %w", l.schema, err))
	}
	return errors.Join(append(errs, conn.Close(ctx))...)
}

func (l *lab) key() string {
	return fmt.Sprintf("%s-%d", l.id, l.keys.Add(1))
}

// furthest is how far ahead the lab's slots begin: within the booking window.
const furthest = 30 * 24 * time.Hour

// slots makes n slots of a service.
func (l *lab) slots(ctx context.Context, service store.Service, n, capacity int) ([]store.Slot, error) {
	var made []store.Slot
	for len(made) < n {
		if l.resource.ID == "" || l.next.Sub(l.first) > furthest {
			name := "room-" + l.key()
			r, err := l.store.AddResource(ctx, store.Resource{TenantID: l.tenant.ID, Slug: name, Name: store.Text{"en": name}})
			if err != nil {
				return nil, err
			}
			l.resource, l.next = r, l.first
		}
		var batch []store.NewSlot
		for range min(500, n-len(made)) {
			batch = append(batch, store.NewSlot{ServiceID: service.ID, ResourceID: l.resource.ID, StartsAt: l.next, Capacity: capacity})
			l.next = l.next.Add(time.Minute)
		}
		slots, err := l.store.AddSlots(ctx, l.tenant.ID, batch)
		if err != nil {
			return nil, err
		}
		made = append(made, slots...)
	}
	return made, nil
}

func (l *lab) hold(ctx context.Context, slot store.Slot) (store.Reservation, error) {
	key := l.key()
	held, err := l.store.Hold(ctx, store.HoldRequest{
		TenantID: slot.TenantID, Slots: []store.HoldSlot{{ID: slot.ID, TermsVersion: slot.TermsVersion}}, PartySize: 1, Owner: key, Key: key,
		Source: store.SourceWeb, Locale: "en", Actor: visitors,
	})
	if err != nil {
		return store.Reservation{}, err
	}
	return held[0], nil
}

func (l *lab) somebody() store.Contact {
	key := l.key()
	return store.Contact{Name: key, Email: key + "@example.com", Locale: "en"}
}

func (l *lab) book(ctx context.Context, slot store.Slot) (store.Reservation, error) {
	r, err := l.hold(ctx, slot)
	if err != nil {
		return r, err
	}
	return l.store.Confirm(ctx, store.ConfirmRequest{TenantID: r.TenantID, ID: r.ID, Owner: r.Owner, TermsVersion: r.TermsVersion, Contact: l.somebody(), Actor: visitors})
}

func (l *lab) join(ctx context.Context, slot store.Slot) (store.Entry, error) {
	return l.store.Join(ctx, store.JoinRequest{TenantID: slot.TenantID, SlotID: slot.ID, PartySize: 1, Contact: l.somebody(), Source: store.SourceWeb, Actor: visitors})
}

// seats gives what the slot counts and what live reservations have.
func (l *lab) seats(ctx context.Context, slot store.Slot) (taken, given int, err error) {
	taken, given, _, err = strategy.SeatsOf(ctx, l.pool, slot.TenantID, slot.ID)
	return taken, given, err
}

// round deals the presses out to the processes, lets them go at one signal, and
// gives the answers in the order of the presses. Meanwhile it looks who waits for whom.
func (l *lab) round(ctx context.Context, t *tally, slot store.Slot, presses []press, during func() error) ([]answer, error) {
	dealt := make([][]press, len(l.procs))
	for i := range presses {
		presses[i].Tenant = l.tenant.ID
		dealt[i%len(l.procs)] = append(dealt[i%len(l.procs)], presses[i])
	}
	for i, p := range l.procs {
		if err := p.send(slices.Concat([]press{}, dealt[i])); err != nil {
			return nil, err
		}
	}
	for _, p := range l.procs {
		var ready string
		if err := p.receive(&ready); err != nil {
			return nil, err
		}
	}
	began := time.Now()
	for _, p := range l.procs {
		if err := p.send("go"); err != nil {
			return nil, err
		}
	}
	if during == nil {
		during = func() error { return l.look(ctx, t) }
	}
	failed := during()
	answers := make([]answer, len(presses))
	for i, p := range l.procs {
		var got []answer
		if err := p.receive(&got); err != nil {
			return nil, errors.Join(failed, err)
		}
		for j, a := range got {
			answers[j*len(l.procs)+i] = a
		}
	}
	if failed != nil {
		return nil, failed
	}
	t.round(slot, presses, answers, time.Since(began))
	return answers, nil
}

// waiters are the lab's sessions that wait for a lock now.
func (l *lab) waiters(ctx context.Context) ([]strategy.Wait, error) {
	return strategy.Waits(ctx, l.pool, application+l.id)
}

// looks is how often a round is looked at, until somebody was seen waiting.
const looks = 20

func (l *lab) look(ctx context.Context, t *tally) error {
	for range looks {
		if t.Wait != nil {
			return nil
		}
		waiting, err := l.waiters(ctx)
		if err != nil {
			return err
		}
		t.saw(waiting)
	}
	return nil
}

// untilWaiting returns when so many wait, or when they could have.
func (l *lab) untilWaiting(ctx context.Context, t *tally, n int) error {
	for give := time.Now().Add(patience); time.Now().Before(give); {
		waiting, err := l.waiters(ctx)
		if err != nil {
			return err
		}
		t.saw(waiting)
		if len(waiting) >= n {
			return nil
		}
		rest(ctx, time.Millisecond)
	}
	return ctx.Err()
}

// process is a worker process, with its two ends.
type process struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	pids []uint32
}

func startProcess(ctx context.Context, cmd *exec.Cmd, o order) (*process, error) {
	p := &process{cmd: cmd}
	var err error
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReaderSize(out, 1<<20)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a worker: %w", err)
	}
	if err := p.send(o); err != nil {
		return nil, errors.Join(err, p.stop())
	}
	var hello greeting
	if err := p.receive(&hello); err != nil {
		return nil, errors.Join(fmt.Errorf("a worker does not begin: %w", err), p.stop(), ctx.Err())
	}
	p.pids = hello.PIDs
	return p, nil
}

func (p *process) send(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = p.in.Write(append(line, '\n'))
	return err
}

func (p *process) receive(v any) error { return read(p.out, v) }

// stop lets the worker read the end of its input, upon which it ends.
func (p *process) stop() error {
	return errors.Join(p.in.Close(), p.cmd.Wait())
}

// withParameters adds settings of the session to an address, in either of its two forms.
func withParameters(dsn string, more map[string]string) string {
	if strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://") {
		base, query, _ := strings.Cut(dsn, "?")
		values, err := url.ParseQuery(query)
		if err != nil {
			values = url.Values{}
		}
		for name, value := range more {
			values.Set(name, value)
		}
		return base + "?" + values.Encode()
	}
	for _, name := range slices.Sorted(maps.Keys(more)) {
		dsn += fmt.Sprintf(" %s='%s'", name, strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(more[name]))
	}
	return dsn
}
