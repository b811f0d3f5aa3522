//go:build measure

package web

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// watcher sees which statements a page sends, with what arguments, and how long each takes.
type watcher struct {
	mu   sync.Mutex
	seen map[string]*sentSQL // by text
	sent int
}

// sentSQL is one statement: its name, the arguments of its longest run, and the time of all runs.
type sentSQL struct {
	name, sql string
	args      []any
	runs      int
	longest   time.Duration
	total     time.Duration
}

type sentKey struct{}

type sentRun struct {
	data  pgx.TraceQueryStartData
	start time.Time
}

func (w *watcher) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	return context.WithValue(ctx, sentKey{}, sentRun{data, time.Now()})
}

func (w *watcher) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) {
	run := ctx.Value(sentKey{}).(sentRun)
	w.add(run.data.SQL, run.data.Args, time.Since(run.start))
}

func (w *watcher) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (w *watcher) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	w.add(data.SQL, data.Args, 0)
}

func (w *watcher) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

func (w *watcher) add(sql string, args []any, took time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent++
	one := w.seen[sql]
	if one == nil {
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(sql), "-- "), "\n")
		one = &sentSQL{name: name, sql: sql}
		w.seen[sql] = one
	}
	one.runs++
	one.total += took
	if took >= one.longest {
		one.longest, one.args = took, args
	}
}

// take gives what was seen since the last time.
func (w *watcher) take() (map[string]*sentSQL, int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen, sent := w.seen, w.sent
	w.seen, w.sent = map[string]*sentSQL{}, 0
	return seen, sent
}

// bigTables grow with the years of a business; a page may read no whole one of them.
var bigTables = []string{"slots", "reservations", "waitlist_entries", "outbox", "events"}

// scans asks the planner which big tables a statement would read as a whole.
func (w *sentSQL) scans(ctx context.Context, conn *pgx.Conn) ([]string, error) {
	switch verb, _, _ := strings.Cut(strings.TrimSpace(withoutComments.ReplaceAllString(w.sql, "")), " "); strings.ToUpper(verb) {
	case "SELECT", "(SELECT", "WITH", "UPDATE", "INSERT", "DELETE":
	default: // BEGIN, COMMIT, SET
		return nil, nil
	}
	var plan []byte
	if err := conn.QueryRow(ctx, "EXPLAIN (FORMAT JSON) "+w.sql, w.args...).Scan(&plan); err != nil {
		return nil, fmt.Errorf("explain %s: %w", w.name, err)
	}
	var found []string
	for _, m := range wholeScan.FindAllSubmatch(plan, -1) {
		if name := string(m[1]); slices.Contains(bigTables, name) && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	return found, nil
}

var (
	withoutComments = regexp.MustCompile(`(?m)^\s*--.*$`)
	wholeScan       = regexp.MustCompile(`"Node Type": "Seq Scan"[^{}]*?"Relation Name": "([a-z_]+)"`)
)
