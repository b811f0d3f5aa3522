// Package worker does what nobody presses a button for: it sweeps what is due
// and sends the messages of the outbox. Any number of instances may do so on
// one database; they share the work and never do it twice at the same time.
//
// Loops run until their context ends. A pass that fails is logged and the loop
// goes on: the next pass finds what was left. On the way out, what was begun is
// finished and what was only claimed is given back; what a killed process had
// claimed comes back by itself, when its lease runs out.
package worker

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"golang.org/x/sync/errgroup"
)

// LongestPause bounds how long a loop may sleep without looking at the tables
// again: what another instance or a hand at the database has changed is seen by then.
const LongestPause = 2 * time.Second

// Run runs the loops until ctx ends or one of them fails, and waits for all.
// An ended context is how loops stop, not an error.
func Run(ctx context.Context, loops ...func(context.Context) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, loop := range loops {
		group.Go(func() error {
			if err := loop(ctx); err != nil && ctx.Err() == nil {
				return err
			}
			return nil
		})
	}
	return group.Wait()
}

// pause waits, and reports false when ctx ended meanwhile.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// guard turns a panic into an error, so that one bad row can't end a loop. The
// value is not told: it may hold what a person typed.
func guard(ctx context.Context, log *slog.Logger, what string, do func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			log.ErrorContext(ctx, "panic", "in", what, "type", fmt.Sprintf("%T", value), "stack", string(debug.Stack()))
			err = fmt.Errorf("%s: panic", what)
		}
	}()
	return do()
}
