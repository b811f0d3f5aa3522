package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"holdfast/migrations"
)

// migrate brings the database up to date, or lists what it has.
func (p *program) migrate(ctx context.Context, args []string) error {
	var status bool
	if err := p.flags("migrate", args, func(f *flag.FlagSet) {
		f.BoolVar(&status, "status", false, "list the migrations and change nothing")
	}); err != nil {
		return err
	}
	c, err := p.configure()
	if err != nil {
		return err
	}
	direct := string(c.DirectURL)
	if direct != "" {
		return p.migrateOn(ctx, direct, status)
	}
	server, err := p.openPrivate(ctx, c)
	if err != nil {
		return err
	}
	return errors.Join(p.migrateOn(ctx, server.DSN(databaseName), status), stopPrivate(server))
}

func (p *program) migrateOn(ctx context.Context, direct string, status bool) error {
	pool, err := openPool(ctx, direct)
	if err != nil {
		return err
	}
	defer pool.Close()
	if !status {
		n, err := migrations.Up(ctx, direct)
		if err != nil {
			return err
		}
		fmt.Fprintf(p.stdout, "%d migrations applied\n", n)
		return nil
	}
	steps, err := migrations.Status(ctx, pool)
	if err != nil {
		return err
	}
	for _, s := range steps {
		state := "pending"
		if !s.AppliedAt.IsZero() {
			state = s.AppliedAt.UTC().Format(time.RFC3339)
		}
		fmt.Fprintf(p.stdout, "%-20s  %s\n", state, s.Name)
	}
	return nil
}
