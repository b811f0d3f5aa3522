//go:build linux || darwin

// Lendpostgres starts a Postgres for tests, runs a command that finds its address in TEST_DATABASE_URL, and stops the
// server again. It ends as the command ended, or with 1 when the command took longer than -limit. So the packages of
// one `go test` share a server.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"holdfast/store/pgserver"
)

func main() {
	limit := flag.Duration("limit", time.Hour, "how long the command may take")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: lendpostgres [-limit 14m] COMMAND [ARGUMENT…]")
		os.Exit(2)
	}
	code, err := run(*limit, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "lendpostgres:", err)
		os.Exit(1)
	}
	os.Exit(code)
}

func run(limit time.Duration, command []string) (code int, err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	starting, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	s, err := pgserver.Start(starting, pgserver.Options{
		BinDir: os.Getenv("HOLDFAST_PG_BIN"), Test: true,
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Stop(context.Background())) }()
	fmt.Printf("PostgreSQL %d from %s lent to the tests, data in %s\n", s.Major, s.Bin, s.Dir)

	bounded, done := context.WithTimeout(ctx, limit)
	defer done()
	cmd := exec.CommandContext(bounded, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "TEST_DATABASE_URL="+s.DSN("postgres"))
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	// A group of its own, signalled as a whole: `go test` does not pass a signal on to the tests that it runs.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = 10 * time.Second
	err = cmd.Run()
	if bounded.Err() != nil {
		// Whoever ignored the first signal; when nobody is left there is no group to signal.
		if e := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); e != nil && !errors.Is(e, syscall.ESRCH) {
			err = errors.Join(err, e)
		}
		if ctx.Err() == nil {
			err = fmt.Errorf("the command took longer than %v and was ended: %w", limit, err)
		}
		return 1, err
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return max(exit.ExitCode(), 1), nil
	}
	return 0, err
}
