package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Store is the truth of Holdfast on one Postgres. Its exported methods are
// whole transitions or reads; it may be used by many goroutines.
type Store struct {
	db     *pgxpool.Pool
	secret []byte
	at     *time.Time
	watch  Watch
	aside  *setAside // of this instance's sweeps
	undo   bool      // steps on slots are made and undone (see undone)
}

// Watch is told what happened, for metrics. It must be quick and safe for
// concurrent use; nil functions are left out.
type Watch struct {
	Outcome     func(step, outcome string)            // "ok", a refusal, "error"
	LockWait    func(step string, wait time.Duration) // from asking for the slot's lock to having it
	LockTimeout func(step string)
	ZeroRows    func(step string) // a conditional statement changed nothing
	SweepLag    func(lag time.Duration)
	Changed     func(tenant, slot string) // something about a slot was committed
	Shortage    func(step, code string)   // the server has run out of room or memory: an SQLSTATE of class 53
}

// querier is what a read needs: the pool, or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// New makes a store on an open pool. Secret, at least 32 bytes, makes the links.
func New(db *pgxpool.Pool, secret []byte, watch Watch) (*Store, error) {
	if len(secret) < 32 {
		return nil, fmt.Errorf("the server secret has %d bytes, at least 32 are needed", len(secret))
	}
	return &Store{db: db, secret: secret, watch: watch, aside: &setAside{}}, nil
}

// At gives the store as of an instant: its steps and reads take t for the
// database's clock. For tests; in production the database's own clock decides.
func (s *Store) At(t time.Time) *Store {
	moved := *s
	moved.at = &t
	return &moved
}

// Now asks the database's clock.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	var now time.Time
	err := s.db.QueryRow(ctx, nowSQL, pgx.StrictNamedArgs{"at": s.at}).Scan(&now)
	return now, classify(err)
}

const nowSQL = `-- now
SELECT coalesce(@at::timestamptz, statement_timestamp())`

// settle counts how a step ended and gives the error its final form.
func (s *Store) settle(step string, err error) error {
	if err == nil {
		s.count(step, "ok")
		return nil
	}
	if code(err) == "55P03" && s.watch.LockTimeout != nil {
		s.watch.LockTimeout(step)
	}
	if shortage(err) && s.watch.Shortage != nil {
		s.watch.Shortage(step, code(err))
	}
	err = classify(err)
	if outcome, refused := err.(Outcome); refused {
		s.count(step, string(outcome))
		return outcome
	}
	s.count(step, "error")
	return fmt.Errorf("%s: %w", step, err)
}

func (s *Store) count(step, outcome string) {
	if s.watch.Outcome != nil {
		s.watch.Outcome(step, outcome)
	}
}

func (s *Store) zeroRows(step string) {
	if s.watch.ZeroRows != nil {
		s.watch.ZeroRows(step)
	}
}
