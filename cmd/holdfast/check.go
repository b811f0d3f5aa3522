package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"strings"
)

// check computes the invariants in one snapshot and prints each with its count.
func (p *program) check(ctx context.Context, args []string) error {
	var tenant string
	var asJSON bool
	if err := p.flags("check", args, func(f *flag.FlagSet) {
		f.StringVar(&tenant, "tenant", "", "slug of one tenant; all unless named")
		f.BoolVar(&asJSON, "json", false, "print JSON")
	}); err != nil {
		return err
	}
	return p.look(ctx, func(ctx context.Context, _ config, d *database) error {
		report, err := d.store.Check(ctx, tenant)
		if err != nil {
			return outcome(err, "tenant "+tenant)
		}
		if asJSON {
			// Encode ends with a newline, so that it can be read line by line.
			if err := json.NewEncoder(p.stdout).Encode(report); err != nil {
				return err
			}
		} else {
			for _, i := range report.Invariants {
				line := fmt.Sprintf("%-4s %d violations", i.ID, i.Violations)
				if len(i.Examples) > 0 {
					line += ": " + strings.Join(i.Examples, " ")
				}
				fmt.Fprintln(p.stdout, line)
			}
		}
		if !report.OK {
			return errViolated
		}
		return nil
	})
}
