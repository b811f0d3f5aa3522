package worker

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"holdfast/store"
)

// sweeping is what the sweeper needs of the store.
type sweeping interface {
	Sweep(ctx context.Context) (store.SweepReport, error)
	NextDue(ctx context.Context) (next *time.Time, now time.Time, err error)
	ExtendSchedules(ctx context.Context) (made int, err error)
}

const (
	// sweepAtMost bounds one pass, so that a database that hangs is tried again.
	sweepAtMost = time.Minute
	// shortestPause keeps a slot that is due and can't be swept from keeping the loop spinning.
	shortestPause = 10 * time.Millisecond
	// failedPause is for a pass in which something went wrong.
	failedPause = 250 * time.Millisecond
	// complainAgain is when the log hears of the same failure again.
	complainAgain = time.Minute
)

// Sweeper closes what is past its enforced deadline and passes the seats on.
type Sweeper struct {
	Store sweeping
	Log   *slog.Logger

	lastError string
	lastTold  time.Time
}

// Run sweeps until ctx ends: like an alarm at the next deadline, and at least
// every LongestPause, because a deadline may have been set since.
func (s *Sweeper) Run(ctx context.Context) error {
	for {
		wait := s.pass(ctx)
		if !pause(ctx, wait) {
			return nil
		}
	}
}

// pass sweeps once and answers how long to sleep.
func (s *Sweeper) pass(ctx context.Context) time.Duration {
	wait := LongestPause
	err := guard(ctx, s.Log, "sweep", func() error {
		bounded, cancel := context.WithTimeout(ctx, sweepAtMost)
		defer cancel()
		shortest := shortestPause
		report, failed := s.Store.Sweep(bounded)
		if _, err := s.Store.ExtendSchedules(bounded); err != nil {
			failed = errors.Join(failed, err)
		}
		if failed != nil || report.Failed > 0 {
			shortest = failedPause // and the others' deadlines are met nevertheless
		}
		// Both instants are the database's: the difference is right whatever this machine's clock says.
		next, now, err := s.Store.NextDue(bounded)
		if err == nil && next != nil {
			wait = min(wait, max(shortest, next.Sub(now)))
		}
		return errors.Join(failed, err)
	})
	if err != nil && ctx.Err() == nil {
		s.complain(ctx, err)
	}
	return wait
}

// complain logs an error, and the same one again only after a while: a slot
// that can't be swept is tried several times a second.
func (s *Sweeper) complain(ctx context.Context, err error) {
	if text := err.Error(); text != s.lastError || time.Since(s.lastTold) > complainAgain {
		s.lastError, s.lastTold = text, time.Now()
		s.Log.ErrorContext(ctx, "sweep failed", "error", err)
	}
}
