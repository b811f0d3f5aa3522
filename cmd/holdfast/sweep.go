package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"time"

	"holdfast/store"
)

// swept is what one pass of a sweeper did.
type swept struct {
	store.SweepReport
	Made int `json:"made"` // slots, by schedules without an end
}

// sweep makes one pass over all that is due, as the sweeper of serve does, for
// installations that run it from a timer of their own.
func (p *program) sweep(ctx context.Context, args []string) error {
	var asJSON bool
	if err := p.flags("sweep", args, func(f *flag.FlagSet) {
		f.BoolVar(&asJSON, "json", false, "print JSON")
	}); err != nil {
		return err
	}
	return p.work(ctx, func(ctx context.Context, _ config, d *database) error {
		// Where some slots failed, the report tells of the others.
		var report swept
		var failed, unmade error
		report.SweepReport, failed = d.store.Sweep(ctx)
		report.Made, unmade = d.store.ExtendSchedules(ctx)
		failed = errors.Join(failed, unmade)
		if asJSON {
			return errors.Join(json.NewEncoder(p.stdout).Encode(report), failed)
		}
		fmt.Fprintf(p.stdout, "slots swept: %d, holds expired: %d, entries ended: %d, offers made: %d, vacancies told: %d\n",
			report.Slots, report.Expired, report.Closed, report.Offered, report.Told)
		fmt.Fprintf(p.stdout, "events sealed: %d, reminders: %d, contacts erased: %d, slots made: %d, failed: %d\n",
			report.Sealed, report.Reminded, report.Erased, report.Made, report.Failed)
		if report.Next != nil {
			fmt.Fprintf(p.stdout, "next deadline: %s\n", report.Next.UTC().Format(time.RFC3339))
		}
		return failed
	})
}
