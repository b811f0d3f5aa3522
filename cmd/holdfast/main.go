// Command holdfast is the whole program: the web server with its background
// work, and the commands of an operator. Run `holdfast help` for the list.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	// For machines without time zones of their own.
	_ "time/tzdata"

	"github.com/jackc/pgx/v5/pgconn"

	"holdfast/store"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the program at once.
	context.AfterFunc(ctx, stop)
	code := Run(ctx, os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr)
	os.Exit(code)
}

// The exit codes.
const (
	exitFine        = 0
	exitFailed      = 1 // a violation or a failure
	exitUsage       = 2 // usage or configuration
	exitUnreachable = 3 // the database can't be reached
)

// usageError is a mistake in how the program was called or configured.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text }

func misused(format string, args ...any) error { return usageError{fmt.Sprintf(format, args...)} }

// unreachableError says that the database can't be reached.
type unreachableError struct{ cause error }

func (e unreachableError) Error() string { return "the database can't be reached: " + e.cause.Error() }
func (e unreachableError) Unwrap() error { return e.cause }

// errViolated ends a check that found something; what it found was printed.
var errViolated = errors.New("an invariant is violated")

// program is one run: its surroundings, so that tests start the real thing.
type program struct {
	getenv         func(string) string
	stdin          io.Reader
	stdout, stderr io.Writer
	log            *slog.Logger
	level          slog.LevelVar
}

type command struct {
	name  string // one word or two
	usage string // its arguments
	text  string
	run   func(*program, context.Context, []string) error
}

func commands() []command {
	return []command{
		{"serve", "", "run the web server, the sweeper and the dispatcher of messages", (*program).serve},
		{"migrate", "[--status]", "bring the database up to date, or list the migrations", (*program).migrate},
		{"check", "[--tenant SLUG] [--json]", "compute the invariants; exit 1 if one is violated", (*program).check},
		{"sweep", "[--json]", "one pass over all that is due", (*program).sweep},
		{"tenant add", "--slug SLUG --name NAME [--zone ZONE] [--locale ja|en] [--email ADDRESS] [--phone NUMBER] [--address TEXT]", "add a business", (*program).tenantAdd},
		{"tenant embed", "--tenant SLUG [--origin ORIGIN]...", "say which sites may show the calendar in a frame", (*program).tenantEmbed},
		{"staff add", "--tenant SLUG --email ADDRESS --role owner|manager|desk [--name NAME] [--password-stdin]", "give somebody a role in a tenant", (*program).staffAdd},
		{"apikey add", "--tenant SLUG --name NAME --scopes read,book,manage", "make an API key and print it, once", (*program).apikeyAdd},
		{"demo", "[--reset]", "fill the demo tenant, or delete and fill it anew", (*program).demo},
		{"explain", "SLOT --tenant SLUG [--json]", "tell the history of a slot's seats, people as pseudonyms, and verify its seals", (*program).explain},
		{"race", "[--rounds N] [--procs N] [--scenario NAME] [--strategy NAME] [--json|--markdown]", "run the race lab: the product's strategy and broken ones, on this database, in a schema of its own", (*program).race},
		{"version", "", "print the version", (*program).version},
		{"help", "", "print this", (*program).help},
	}
}

// Run runs one command and answers its exit code. Everything that the program
// knows of its surroundings comes in here.
func Run(ctx context.Context, args []string, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &program{getenv: getenv, stdin: stdin, stdout: stdout, stderr: stderr}
	// One-time commands say what went wrong; serve tells more.
	p.level.Set(slog.LevelWarn)
	p.log = slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: &p.level}))
	err := p.dispatch(ctx, args)
	var usage usageError
	var unreachable unreachableError
	var connect *pgconn.ConnectError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitFine
	case errors.Is(err, errViolated), errors.Is(err, errRace), errors.Is(err, errSeals):
		return exitFailed
	}
	fmt.Fprintln(stderr, "holdfast:", err)
	switch {
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &unreachable), errors.As(err, &connect):
		return exitUnreachable
	}
	return exitFailed
}

func (p *program) dispatch(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return misused("no command was given; `holdfast help` lists them")
	}
	switch args[0] {
	case "-h", "-help", "--help":
		return p.help(ctx, nil)
	case "-version", "--version":
		return p.version(ctx, nil)
	}
	for _, c := range commands() {
		words := strings.Fields(c.name)
		if len(args) < len(words) || strings.Join(args[:len(words)], " ") != c.name {
			continue
		}
		return c.run(p, ctx, args[len(words):])
	}
	return misused("unknown command %q; `holdfast help` lists them", strings.Join(args[:min(2, len(args))], " "))
}

// flags parses the arguments of a command. Whatever is left over is a mistake.
func (p *program) flags(name string, args []string, define func(*flag.FlagSet)) error {
	set := flag.NewFlagSet(name, flag.ContinueOnError)
	set.SetOutput(io.Discard) // errors are printed once, by Run
	define(set)
	err := set.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		p.usage(name)
		return err
	}
	if err != nil {
		return misused("%s: %v", name, err)
	}
	if set.NArg() > 0 {
		return misused("%s: unexpected argument %q", name, set.Arg(0))
	}
	return nil
}

// needed names every flag that was left empty.
func needed(name string, flags ...string) error {
	var missing []string
	for i := 0; i+1 < len(flags); i += 2 {
		if strings.TrimSpace(flags[i+1]) == "" {
			missing = append(missing, "--"+flags[i])
		}
	}
	if len(missing) > 0 {
		return misused("%s: missing %s", name, strings.Join(missing, ", "))
	}
	return nil
}

func (p *program) usage(name string) {
	for _, c := range commands() {
		if c.name == name {
			fmt.Fprintf(p.stdout, "holdfast %s\n    %s\n", strings.TrimSpace(c.name+" "+c.usage), c.text)
		}
	}
}

func (p *program) help(context.Context, []string) error {
	fmt.Fprintln(p.stdout, "Holdfast takes reservations for places where seats run out.")
	fmt.Fprintln(p.stdout)
	for _, c := range commands() {
		p.usage(c.name)
	}
	fmt.Fprintln(p.stdout, "\nSettings are read from the environment; all have defaults that work:")
	for _, v := range variables() {
		fmt.Fprintf(p.stdout, "    %-24s %s\n", v.name, v.text)
	}
	fmt.Fprintln(p.stdout, "\nExit codes: 0 fine, 1 violation or failure, 2 usage or configuration, 3 database unreachable.")
	return nil
}

func (p *program) version(context.Context, []string) error {
	version, revision := "unknown", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" {
			version = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = " " + s.Value
			}
		}
	}
	fmt.Fprintf(p.stdout, "holdfast %s%s\n", version, revision)
	return nil
}

// outcome gives refusals of the store words that an operator understands.
func outcome(err error, what string) error {
	switch {
	case errors.Is(err, store.NotFound):
		return fmt.Errorf("there is no %s", what)
	case errors.Is(err, store.Busy):
		return errors.New("the database did not answer in time")
	}
	return err
}
