package storetest

import (
	"context"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
)

// Count runs do and answers how many statements were sent meanwhile on this world's pools, begin and commit included,
// and each statement of a batch. Run nothing else beside it.
func (w *World) Count(do func()) int {
	before := w.tracer.sent.Load()
	do()
	return int(w.tracer.sent.Load() - before)
}

// FailAt makes the k-th statement from now fail (1 is the next one; begin, commit and each statement of a batch
// count), on whichever connection of this world's pools it comes. Postgres refuses it with an error that no retry
// cures: its transaction is broken and can only roll back. A commit that is hit rolls back too.
func (w *World) FailAt(k int) {
	w.tracer.hit.Store(false)
	w.tracer.failAt.Store(w.tracer.sent.Load() + int64(k))
}

// Failed says whether the statement that FailAt chose was reached, and lets all later ones pass. A loop over k ends at
// the first k that was not.
func (w *World) Failed() bool {
	w.tracer.failAt.Store(0)
	return w.tracer.hit.Swap(false)
}

// tracer sees each statement before pgx sends it.
type tracer struct {
	sent   atomic.Int64
	failAt atomic.Int64 // the number of the statement to fail; 0 is none
	hit    atomic.Bool
}

var (
	_ pgx.QueryTracer = (*tracer)(nil)
	_ pgx.BatchTracer = (*tracer)(nil)
)

func (t *tracer) TraceQueryStart(ctx context.Context, conn *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	if n := t.sent.Add(1); n == t.failAt.Load() {
		t.hit.Store(true)
		breakTransaction(ctx, conn)
	}
	return ctx
}

func (t *tracer) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (t *tracer) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	queued := data.Batch.QueuedQueries
	last := t.sent.Add(int64(len(queued)))
	if i := t.failAt.Load() - (last - int64(len(queued))) - 1; 0 <= i && i < int64(len(queued)) {
		t.hit.Store(true)
		queued[i].SQL, queued[i].Arguments = "SELECT 1/0", nil
	}
	return ctx
}

func (t *tracer) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (t *tracer) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// breakTransaction leaves the connection in a failed transaction, in which Postgres refuses everything but rollback;
// the pool then throws a connection away that was in none before.
func breakTransaction(ctx context.Context, conn *pgx.Conn) {
	sql := "SELECT 1/0"
	if conn.PgConn().TxStatus() == 'I' {
		sql = "BEGIN; " + sql
	}
	// The error is the purpose; should there be none, the statement succeeds and the test that wanted a failure fails.
	_, _ = conn.PgConn().Exec(ctx, sql).ReadAll()
}
