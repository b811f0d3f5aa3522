package storetest

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"holdfast/migrations"
)

func TestMain(m *testing.M) { Main(m) }

func TestNewGivesTheMigratedSchemaWithTimeouts(t *testing.T) {
	t.Parallel()
	w := New(t)
	if pending, err := migrations.HasPending(t.Context(), w.Pool); err != nil || pending {
		t.Errorf("pending %v, error %v", pending, err)
	}
	for setting, want := range map[string]string{
		"lock_timeout": "3s", "statement_timeout": "10s", "idle_in_transaction_session_timeout": "15s",
	} {
		var got string
		if err := w.Pool.QueryRow(t.Context(), "SELECT current_setting($1)", setting).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%s = %s, want %s", setting, got, want)
		}
	}
}

func TestWorldsAreApart(t *testing.T) {
	t.Parallel()
	a, b := New(t, Unmigrated()), New(t, Unmigrated())
	exec(t, a, "CREATE TABLE only_here (n int)")
	if _, err := b.Pool.Exec(t.Context(), "SELECT n FROM only_here"); err == nil {
		t.Error("one test sees the tables of another")
	}
}

func TestCountCountsEachStatement(t *testing.T) {
	t.Parallel()
	w := New(t, Unmigrated())
	got := w.Count(func() {
		err := pgx.BeginFunc(t.Context(), w.Pool, func(tx pgx.Tx) error {
			b := &pgx.Batch{}
			b.Queue("SELECT 1")
			b.Queue("SELECT 2")
			if err := tx.SendBatch(t.Context(), b).Close(); err != nil {
				return err
			}
			_, err := tx.Exec(t.Context(), "SELECT 3")
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
	if got != 5 { // begin, 1, 2, 3, commit
		t.Errorf("counted %d", got)
	}
}

func TestFailAtUndoesTheTransactionAtEachStep(t *testing.T) {
	t.Parallel()
	w := New(t, Unmigrated())
	exec(t, w, "CREATE TABLE marks (n int)")
	write := func() error {
		return pgx.BeginFunc(t.Context(), w.Pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(t.Context(), "INSERT INTO marks VALUES (1)"); err != nil {
				return err
			}
			b := &pgx.Batch{}
			b.Queue("INSERT INTO marks VALUES ($1)", 2)
			b.Queue("INSERT INTO marks VALUES ($1)", 3)
			return tx.SendBatch(t.Context(), b).Close()
		})
	}
	count := func() (n int) {
		if err := w.Pool.QueryRow(t.Context(), "SELECT count(*) FROM marks").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	steps := 0
	for k := 1; ; k++ {
		w.FailAt(k)
		err := write()
		if !w.Failed() {
			if err != nil {
				t.Errorf("nothing failed: %v", err)
			}
			break
		}
		steps++
		var pg *pgconn.PgError
		switch {
		case err == nil:
			t.Errorf("step %d failed and nobody noticed", k)
		case !errors.As(err, &pg) && !errors.Is(err, pgx.ErrTxCommitRollback), pgconn.SafeToRetry(err):
			t.Errorf("step %d: %v", k, err)
		}
		if n := count(); n != 0 {
			t.Errorf("after step %d failed: %d rows", k, n)
		}
	}
	if n := count(); steps != 5 || n != 3 {
		t.Errorf("%d steps failed, %d rows at last", steps, n)
	}
}

func TestFailAtReachesAStatementWithoutTransaction(t *testing.T) {
	t.Parallel()
	w := New(t, Unmigrated())
	exec(t, w, "CREATE TABLE marks (n int)")
	w.FailAt(2)
	exec(t, w, "INSERT INTO marks VALUES (1)")
	_, err := w.Pool.Exec(t.Context(), "INSERT INTO marks VALUES (2)")
	if err == nil || pgconn.SafeToRetry(err) || !w.Failed() {
		t.Errorf("error: %v", err)
	}
	exec(t, w, "INSERT INTO marks VALUES (3)")
	var got []int32
	if err := w.Pool.QueryRow(t.Context(), "SELECT array_agg(n ORDER BY n) FROM marks").Scan(&got); err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0] != 1 || got[1] != 3 {
		t.Errorf("rows: %v", got)
	}
}

func TestWaitingSeesTheSessionThatWaits(t *testing.T) {
	t.Parallel()
	w := New(t, Unmigrated())
	exec(t, w, "CREATE TABLE marks (n int PRIMARY KEY)")
	exec(t, w, "INSERT INTO marks VALUES (1)")
	a := w.Conn(t)
	tx, err := a.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "UPDATE marks SET n = 2"); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := w.Pool.Exec(t.Context(), "UPDATE marks SET n = 3 WHERE n = 1")
		done <- err
	}()
	w.Waiting(t, 1)
	select {
	case err := <-done:
		t.Fatalf("it did not wait: %v", err)
	default:
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestBarrierLetsAllGoTogetherInEachRound(t *testing.T) {
	t.Parallel()
	const n = 8
	wait := Barrier(n)
	var arrived atomic.Int32
	done := make(chan int32, n)
	for range n {
		go func() {
			least := int32(1 << 30)
			for round := range int32(50) {
				arrived.Add(1)
				wait()
				least = min(least, arrived.Load()-n*(round+1))
				wait()
			}
			done <- least
		}()
	}
	for range n {
		if least := <-done; least != 0 {
			t.Errorf("somebody went when %d were missing", -least)
		}
	}
}

func TestLentServerMustBeAURL(t *testing.T) {
	t.Setenv("TEST_DATABASE_URL", "host=/nowhere dbname=x")
	if _, err := startServer(); err == nil || !strings.Contains(err.Error(), "TEST_DATABASE_URL") {
		t.Errorf("error: %v", err)
	}
}

func exec(t *testing.T, w *World, sql string) {
	t.Helper()
	if _, err := w.Pool.Exec(context.WithoutCancel(t.Context()), sql); err != nil {
		t.Fatal(err)
	}
}
