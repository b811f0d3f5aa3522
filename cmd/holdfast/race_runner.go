package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"sync/atomic"
	"time"

	"holdfast/cmd/internal/race"
	"holdfast/store"
)

const (
	// raceLooks is how often a runner looks whether a run was asked for at another instance.
	raceLooks = 2 * time.Second
	// raceBeats is how often it says how far it is.
	raceBeats = 500 * time.Millisecond
	// raceLimit bounds a run.
	raceLimit = 5 * time.Minute
	// smallRounds, smallProcs and smallConns keep a run beside the customers small.
	smallRounds = 10
	smallProcs  = 2
	smallConns  = 12
)

// smallRaces are those of a run that staff started: one of each kind that a shop knows.
var smallRaces = []string{"last-seat-2", "claims", "two-cancels", "stale", "same-key", "deadline-grace"}

var smallStrategies = []string{race.Naive, race.Product}

// raceRunner runs the race lab when staff asked for it, one run at a time over
// all instances.
type raceRunner struct {
	store  *store.Store
	log    *slog.Logger
	dsn    string // past a pooler
	wake   chan struct{}
	worker func(context.Context) *exec.Cmd
	run    func(context.Context, race.Options) (race.Report, error)
}

func newRaceRunner(s *store.Store, log *slog.Logger, dsn string) (*raceRunner, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the program: %w", err)
	}
	return &raceRunner{
		store: s, log: log, dsn: dsn, wake: make(chan struct{}, 1), run: race.Run,
		worker: func(ctx context.Context) *exec.Cmd { return exec.CommandContext(ctx, self, "race", "--worker") },
	}, nil
}

// asked wakes the runner: a run was asked for here.
func (r *raceRunner) asked() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// loop takes up what was asked for until ctx ends.
func (r *raceRunner) loop(ctx context.Context) error {
	ticker := time.NewTicker(raceLooks)
	defer ticker.Stop()
	for {
		claim, ok, err := r.store.ClaimRace(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			r.log.ErrorContext(ctx, "the race lab's runner failed", "error", err)
		case ok:
			r.one(ctx, claim)
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		case <-r.wake:
		}
	}
}

// one runs the lab once and keeps what it found.
func (r *raceRunner) one(ctx context.Context, claim store.RaceClaim) {
	results, err := r.race(ctx, claim)
	if err != nil {
		r.log.ErrorContext(ctx, "the race lab failed", "error", err)
		results = nil
	}
	// It ends also when the program does: the page says so at once.
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := r.store.EndRace(ending, claim, results); err != nil {
		r.log.ErrorContext(ctx, "the race lab's result was not kept", "error", err)
	}
}

var errRaceTaken = errors.New("the run counts as ended")

func (r *raceRunner) race(ctx context.Context, claim store.RaceClaim) ([]store.RaceResult, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	ctx, cancel := context.WithTimeout(ctx, raceLimit)
	defer cancel()

	total := len(smallRaces)*len(smallStrategies) - 1 // the one with two deadlines is the product's alone
	var begun atomic.Int64
	last := ""
	beaten := make(chan struct{})
	go func() {
		defer close(beaten)
		ticker := time.NewTicker(raceBeats)
		defer ticker.Stop()
		for {
			on, err := r.store.RaceBeat(ctx, claim, int(max(0, begun.Load()-1)), total)
			if err == nil && !on {
				stop(errRaceTaken)
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
	}()
	report, err := r.run(ctx, race.Options{
		DSN: r.dsn, Rounds: smallRounds, Procs: smallProcs, Conns: smallConns, Scenarios: smallRaces, Strategies: smallStrategies,
		Worker: r.worker,
		Progress: func(scenario, strategy string, _, _ int) {
			if now := scenario + " " + strategy; now != last {
				last = now
				begun.Add(1)
			}
		},
	})
	if err == nil {
		err = context.Cause(ctx)
	}
	cancel()
	<-beaten
	if err != nil {
		return nil, err
	}
	results := []store.RaceResult{}
	for _, x := range report.Results {
		results = append(results, store.RaceResult{
			Scenario: x.Scenario, Strategy: x.Strategy, Rounds: x.Rounds, Broken: x.Broken, Violations: x.Violations, Errors: x.Errors,
			InTime: x.InTime, RefusedInTime: x.RefusedInTime,
		})
	}
	return results, nil
}
