package worker

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

// script is a store that does what the test says, pass by pass.
type script struct {
	began   time.Time
	sweeps  []time.Duration // when, since began
	pass    func(n int) (store.SweepReport, error)
	nextDue func(n int) *time.Time
}

func (s *script) Sweep(context.Context) (store.SweepReport, error) {
	s.sweeps = append(s.sweeps, time.Since(s.began))
	return s.pass(len(s.sweeps))
}

func (s *script) ExtendSchedules(context.Context) (int, error) { return 0, nil }

func (s *script) NextDue(context.Context) (*time.Time, time.Time, error) {
	return s.nextDue(len(s.sweeps)), time.Now(), nil
}

func runSweeper(t *testing.T, s *script, until time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), until)
	defer cancel()
	s.began = time.Now()
	if err := (&Sweeper{Store: s, Log: slog.New(slog.DiscardHandler)}).Run(ctx); err != nil {
		t.Errorf("the loop ended with %v", err)
	}
}

func quiet(int) (store.SweepReport, error) { return store.SweepReport{}, nil }

func nothing(int) *time.Time { return nil }

func TestTheSweeperLooksAgainAtLeastEveryTwoSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &script{pass: quiet, nextDue: nothing}
		runSweeper(t, s, 7*time.Second)
		if len(s.sweeps) != 4 || s.sweeps[3] != 6*time.Second {
			t.Errorf("it swept at %v", s.sweeps)
		}
	})
}

func TestTheSweeperWakesAtTheNextDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &script{pass: quiet}
		s.nextDue = func(n int) *time.Time {
			if n > 1 {
				return nil
			}
			due := s.began.Add(700 * time.Millisecond)
			return &due
		}
		runSweeper(t, s, 2*time.Second)
		if len(s.sweeps) != 2 || s.sweeps[1] != 700*time.Millisecond {
			t.Errorf("it swept at %v", s.sweeps)
		}
	})
}

func TestAFailingPassDoesNotEndTheLoop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &script{nextDue: nothing}
		s.pass = func(n int) (store.SweepReport, error) {
			if n == 1 {
				return store.SweepReport{}, errors.New("the database is away")
			}
			if n == 2 {
				panic("a bug")
			}
			return store.SweepReport{}, nil
		}
		runSweeper(t, s, 5*time.Second)
		if len(s.sweeps) != 3 {
			t.Errorf("it swept at %v", s.sweeps)
		}
	})
}

func TestASlotThatCannotBeSweptDoesNotKeepTheLoopSpinning(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &script{pass: func(int) (store.SweepReport, error) { return store.SweepReport{Failed: 1}, errors.New("one slot") }}
		s.nextDue = func(int) *time.Time { return &s.began } // overdue for ever
		runSweeper(t, s, 900*time.Millisecond)
		if len(s.sweeps) != 4 {
			t.Errorf("it swept at %v", s.sweeps)
		}
	})
}

func TestTheSameFailureIsNotToldAgainAndAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s := &script{pass: func(int) (store.SweepReport, error) { return store.SweepReport{}, errors.New("away") }, nextDue: nothing, began: time.Now()}
		ctx, cancel := context.WithTimeout(t.Context(), 119*time.Second)
		defer cancel()
		if err := (&Sweeper{Store: s, Log: slog.New(slog.NewTextHandler(&log, nil))}).Run(ctx); err != nil {
			t.Error(err)
		}
		if told := strings.Count(log.String(), "away"); told != 2 || len(s.sweeps) < 50 {
			t.Errorf("told %d times in %d passes", told, len(s.sweeps))
		}
	})
}

func TestRunStopsAllLoopsWhenOneFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		err := Run(t.Context(),
			func(context.Context) error { return broken },
			func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		if !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := Run(ctx, func(ctx context.Context) error { return ctx.Err() }); err != nil {
			t.Errorf("stopping is an error: %v", err)
		}
	})
}

// The alarm rings on a real database, also for a deadline that was brought
// forward behind the sweeper's back.
func TestADeadlineIsMetSoonAlsoWhenItWasChangedByHand(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 1)
	held := s.Hold(t, slot, 1)
	waiting := s.Join(t, slot, 1)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- (&Sweeper{Store: s.Store, Log: quietLog()}).Run(ctx) }()
	s.Exec(t, "UPDATE reservations SET shown_until = now() - interval '1 minute', expires_at = now() + interval '300 milliseconds' WHERE tenant_id = $1 AND id = $2", held.TenantID, held.ID)
	began := time.Now()
	s.Until(t, func() bool { return s.Entry(t, waiting).State == store.Offered }, func() string { return "an offer to the one who waits" })
	if took := time.Since(began); took > LongestPause+3*time.Second {
		t.Errorf("the seat was passed on after %v", took)
	}
	stop()
	if err := await(t, ended, "the sweeper's end"); err != nil {
		t.Error(err)
	}
}
