package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"holdfast/migrations"
	"holdfast/store"
	"holdfast/store/pgserver"
)

const (
	// reachLimit is how long a database may take to answer at the start.
	reachLimit = 10 * time.Second
	// startLimit leaves room for the recovery of a private server that was killed.
	startLimit   = 3 * time.Minute
	stopLimit    = 30 * time.Second
	databaseName = "holdfast"
)

// database is what a command works on.
type database struct {
	pool    *pgxpool.Pool
	store   *store.Store
	dsn     string
	shown   string           // without a password
	private *pgserver.Server // nil: DATABASE_URL
}

func (d *database) close() error {
	d.pool.Close()
	return stopPrivate(d.private)
}

// stopPrivate stops the private server, if this process started it.
func stopPrivate(s *pgserver.Server) error {
	if s == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	return s.Stop(ctx)
}

// openPrivate starts or joins the private server and makes its database.
func (p *program) openPrivate(ctx context.Context, c config) (*pgserver.Server, error) {
	bounded, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	server, err := pgserver.Start(bounded, pgserver.Options{Dir: c.DataDir, BinDir: c.PGBin, Log: p.log})
	if err != nil {
		return nil, err
	}
	if err := server.EnsureDatabase(bounded, databaseName); err != nil {
		return nil, errors.Join(err, stopPrivate(server))
	}
	return server, nil
}

// errPending says that the program is newer than the schema.
var errPending = errors.New("the database lacks migrations of this program: run `holdfast migrate` first")

// errNoDatabase is for commands that have nothing to work on yet.
var errNoDatabase = misused("there is no database yet: set DATABASE_URL, or run `holdfast serve` or `holdfast migrate` first")

// open gives the database of a command that works on what is there. Without
// DATABASE_URL that is the private one, joined where it runs already.
func (p *program) open(ctx context.Context, c config, secret []byte) (*database, error) {
	d := &database{dsn: string(c.DatabaseURL), shown: c.DatabaseURL.shown()}
	if d.dsn == "" {
		if _, err := os.Stat(filepath.Join(c.DataDir, "pg", "data")); errors.Is(err, fs.ErrNotExist) {
			return nil, errNoDatabase
		}
		var err error
		if d.private, err = p.openPrivate(ctx, c); err != nil {
			return nil, err
		}
		d.dsn = d.private.DSN(databaseName)
		d.shown = d.dsn
	}
	if err := d.connect(ctx, secret, store.Watch{}); err != nil {
		return nil, errors.Join(err, stopPrivate(d.private))
	}
	return d, nil
}

// connect opens the pool and demands that the schema is there.
func (d *database) connect(ctx context.Context, secret []byte, watch store.Watch) (err error) {
	if d.pool, err = openPool(ctx, d.dsn); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			d.pool.Close()
		}
	}()
	pending, err := migrations.HasPending(ctx, d.pool)
	if err != nil {
		return err
	}
	if pending {
		return errPending
	}
	d.store, err = store.New(d.pool, secret, watch)
	return err
}

// direct opens single connections to the server itself, past a pooler.
func (d *database) direct(c config) func(context.Context) (*pgx.Conn, error) {
	address := string(c.DirectURL)
	if address == "" {
		address = d.dsn
	}
	return func(ctx context.Context) (*pgx.Conn, error) { return pgx.Connect(ctx, address) }
}

// openPool opens a pool on an address and waits until it answers. The address
// is used as it is: how statements are sent (default_query_exec_mode) is for
// the operator to say, who knows whether a pooler stands in between.
func openPool(ctx context.Context, address string) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, misused("DATABASE_URL: not an address of a Postgres database")
	}
	if !strings.Contains(address, "pool_max_conns") {
		cfg.MaxConns = connections()
	}
	if !strings.Contains(address, "connect_timeout") {
		cfg.ConnConfig.ConnectTimeout = 5 * time.Second
	}
	// After a failover a pool should not stay with the server that it knew.
	cfg.MaxConnLifetime, cfg.MaxConnLifetimeJitter = 30*time.Minute, 5*time.Minute
	cfg.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
		// Instants are UTC, whatever TZ this machine has.
		conn.TypeMap().RegisterType(&pgtype.Type{
			Name: "timestamptz", OID: pgtype.TimestamptzOID, Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC},
		})
		return nil
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	bounded, cancel := context.WithTimeout(ctx, reachLimit)
	defer cancel()
	if err := pool.Ping(bounded); err != nil {
		pool.Close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, unreachableError{err}
	}
	return pool, nil
}

// work opens the database of a one-time command, does the work and closes it.
// It refuses where the links of the database were made with another secret:
// what the work mails could not be opened.
func (p *program) work(ctx context.Context, do func(context.Context, config, *database) error) error {
	c, err := p.configure()
	if err != nil {
		return err
	}
	secret, err := c.secretBytes()
	if err != nil {
		return err
	}
	return p.on(ctx, c, secret, func(ctx context.Context, c config, d *database) error {
		if err := d.store.Ready(ctx); err != nil {
			return outcome(err, "")
		}
		return do(ctx, c, d)
	})
}

// look is work that only reads, and needs no secret.
func (p *program) look(ctx context.Context, do func(context.Context, config, *database) error) error {
	c, err := p.configure()
	if err != nil {
		return err
	}
	return p.on(ctx, c, make([]byte, 32), do)
}

func (p *program) on(ctx context.Context, c config, secret []byte, do func(context.Context, config, *database) error) error {
	d, err := p.open(ctx, c, secret)
	if err != nil {
		return err
	}
	err = do(ctx, c, d)
	return errors.Join(err, d.close())
}
