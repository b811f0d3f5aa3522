package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"holdfast/store"
)

// errSeals ends an explanation whose seals do not verify; it was printed.
var errSeals = errors.New("a seal does not verify")

// explain prints the history of a slot: who freed a seat by which channel, who
// was offered it, when that lapsed, who took it. People are pseudonyms.
func (p *program) explain(ctx context.Context, args []string) error {
	var tenant string
	var asJSON bool
	slot := ""
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		slot, args = args[0], args[1:]
	}
	if err := p.flags("explain", args, func(f *flag.FlagSet) {
		f.StringVar(&tenant, "tenant", "", "slug of the tenant")
		f.BoolVar(&asJSON, "json", false, "print JSON")
	}); err != nil {
		return err
	}
	if slot == "" {
		return misused("explain: which slot? `holdfast explain SLOT --tenant SLUG`")
	}
	if err := needed("explain", "tenant", tenant); err != nil {
		return err
	}
	return p.look(ctx, func(ctx context.Context, _ config, d *database) error {
		t, err := tenantOf(ctx, d, tenant)
		if err != nil {
			return err
		}
		told, err := d.store.Explain(ctx, t, slot)
		if err != nil {
			return outcome(err, "slot "+slot)
		}
		if asJSON {
			err = json.NewEncoder(p.stdout).Encode(told)
		} else {
			err = writeExplanation(p.stdout, told, t.Location())
		}
		if err == nil && !told.Seals.OK {
			err = errSeals
		}
		return err
	})
}

const explainedAt = "2006-01-02 15:04:05.000 -07:00"

func writeExplanation(w io.Writer, x store.Explanation, zone *time.Location) error {
	fmt.Fprintf(w, "slot %s, %s, capacity %d, taken %d\n", x.Slot, x.StartsAt.In(zone).Format("2006-01-02 15:04 -07:00"), x.Capacity, x.Taken)
	verdict := "the seals verify"
	if !x.Seals.OK {
		verdict = fmt.Sprintf("THE SEALS DO NOT VERIFY, from event %d on", *x.Seals.BrokenAt)
	}
	fmt.Fprintf(w, "%d numbered events, %d sealed: %s; head %s\n\n", x.Seals.Numbered, x.Seals.Sealed, verdict, cmp.Or(x.Seals.Head, "none"))
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, e := range x.Events {
		number := "-"
		if e.Number != nil {
			number = fmt.Sprint(*e.Number)
		}
		var more []string
		if e.Seats != 0 {
			more = append(more, fmt.Sprintf("%+d seats, taken %d", e.Seats, e.Taken))
		}
		if e.Until != nil {
			more = append(more, "until "+e.Until.In(zone).Format("15:04:05"))
		}
		if e.Mode != "" && e.Seats > 0 {
			more = append(more, strings.ReplaceAll(e.Mode, "_", " "))
		}
		if e.Reason != "" {
			more = append(more, fmt.Sprintf("%q", e.Reason))
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\tby %s\t%s\n", number, e.At.In(zone).Format(explainedAt), strings.ReplaceAll(string(e.Kind), "_", " "), e.Who, e.By, strings.Join(more, "; "))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, j := range x.Seats {
		fmt.Fprintf(w, "\nseat %d\n", j.Seat)
		for _, s := range j.Steps {
			if _, err := fmt.Fprintf(w, "  %s  %s: %s (by %s)\n", s.At.In(zone).Format(explainedAt), s.Who, strings.ReplaceAll(string(s.Kind), "_", " "), s.By); err != nil {
				return err
			}
		}
	}
	return nil
}
