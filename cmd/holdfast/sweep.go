package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"time"
)

// sweep makes one pass over all that is due, for installations that run it from
// a timer of their own.
func (p *program) sweep(ctx context.Context, args []string) error {
	var asJSON bool
	if err := p.flags("sweep", args, func(f *flag.FlagSet) {
		f.BoolVar(&asJSON, "json", false, "print JSON")
	}); err != nil {
		return err
	}
	return p.work(ctx, func(ctx context.Context, _ config, d *database) error {
		// Where some slots failed, the report tells of the others.
		report, failed := d.store.Sweep(ctx)
		if asJSON {
			return errors.Join(json.NewEncoder(p.stdout).Encode(report), failed)
		}
		fmt.Fprintf(p.stdout, "slots swept: %d, holds expired: %d, entries ended: %d, offers made: %d, vacancies told: %d\n",
			report.Slots, report.Expired, report.Closed, report.Offered, report.Told)
		fmt.Fprintf(p.stdout, "events sealed: %d, reminders: %d, contacts erased: %d, failed: %d\n", report.Sealed, report.Reminded, report.Erased, report.Failed)
		if report.Next != nil {
			fmt.Fprintf(p.stdout, "next deadline: %s\n", report.Next.UTC().Format(time.RFC3339))
		}
		return failed
	})
}
