package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"holdfast/cmd/internal/race"
)

// errRace ends a run of the race lab that did not show what it is to show; the report says why.
var errRace = errors.New("the race lab found a fault")

const (
	mostRounds = 1_000_000
	mostProcs  = 32
)

// race runs the race lab in a schema of its own on the database. Without
// DATABASE_URL that is the private server, made if it is not there yet.
func (p *program) race(ctx context.Context, args []string) error {
	var rounds, procs int
	var scenario, strategy string
	var asJSON, asMarkdown, asWorker bool
	if err := p.flags("race", args, func(f *flag.FlagSet) {
		f.IntVar(&rounds, "rounds", 50, "rounds of each race")
		f.IntVar(&procs, "procs", 4, "worker processes")
		f.StringVar(&scenario, "scenario", "", "only this one")
		f.StringVar(&strategy, "strategy", "", "only this one")
		f.BoolVar(&asJSON, "json", false, "print JSON")
		f.BoolVar(&asMarkdown, "markdown", false, "print Markdown")
		f.BoolVar(&asWorker, "worker", false, "be a worker of the lab")
	}); err != nil {
		return err
	}
	if asWorker {
		return race.Work(ctx, p.stdin, p.stdout)
	}
	if asJSON && asMarkdown {
		return misused("race: --json or --markdown, not both")
	}
	if rounds < 1 || rounds > mostRounds {
		return misused("race: --rounds is 1 to %d", mostRounds)
	}
	if procs < 1 || procs > mostProcs {
		return misused("race: --procs is 1 to %d", mostProcs)
	}
	if err := race.Known(scenario, strategy); err != nil {
		return misused("race: %v", err)
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the program: %w", err)
	}
	o := race.Options{Rounds: rounds, Procs: procs, Progress: p.raceProgress(), Worker: func(ctx context.Context) *exec.Cmd {
		cmd := exec.CommandContext(ctx, self, "race", "--worker")
		cmd.Stderr = p.stderr
		return cmd
	}}
	if scenario != "" {
		o.Scenarios = []string{scenario}
	}
	if strategy != "" {
		o.Strategies = []string{strategy}
	}
	return p.onServer(ctx, func(ctx context.Context, dsn string) error {
		o.DSN = dsn
		report, err := race.Run(ctx, o)
		if err != nil {
			return err
		}
		switch {
		case asJSON:
			err = json.NewEncoder(p.stdout).Encode(report)
		case asMarkdown:
			err = report.WriteMarkdown(p.stdout)
		default:
			err = report.WriteText(p.stdout)
		}
		if err == nil && !report.OK {
			err = errRace
		}
		return err
	})
}

// raceProgress is one line that is written over, where somebody watches.
func (p *program) raceProgress() func(scenario, strategy string, done, of int) {
	file, isFile := p.stderr.(*os.File)
	if !isFile {
		return nil
	}
	if info, err := file.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return func(scenario, strategy string, done, of int) {
		fmt.Fprintf(file, "\r\x1b[K%s, %s: %d of %d\r", scenario, strategy, done, of)
	}
}

// onServer does something with a database that need not have the product's
// schema: the direct address of the configured one, else the private server's.
func (p *program) onServer(ctx context.Context, do func(context.Context, string) error) error {
	c, err := p.configure()
	if err != nil {
		return err
	}
	switch {
	case c.DirectURL != "":
		return do(ctx, string(c.DirectURL))
	case c.DatabaseURL != "":
		return do(ctx, string(c.DatabaseURL))
	}
	if err := os.MkdirAll(filepath.Dir(c.DataDir), 0o755); err != nil {
		return err
	}
	server, err := p.openPrivate(ctx, c)
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, server.DSN(databaseName)), stopPrivate(server))
}
