package worker

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"holdfast/store"
	"holdfast/store/storetest"
)

// audience keeps what an instance's viewers are told.
type audience struct {
	mu   sync.Mutex
	told []store.SlotRef
}

func (a *audience) tell(refs []store.SlotRef) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.told = append(a.told, refs...)
}

func (a *audience) heard(ref store.SlotRef) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Contains(a.told, ref)
}

func slotNumber(n byte) store.SlotRef {
	id := []byte("00000000-0000-4000-8000-000000000000")
	id[35] = '0' + n
	return store.SlotRef{TenantID: string(id[:35]) + "f", SlotID: string(id)}
}

func TestNewsReachesAllInstancesAlsoAfterALostConnection(t *testing.T) {
	t.Parallel()
	w := storetest.New(t, storetest.Unmigrated())
	connect := func(ctx context.Context) (*pgx.Conn, error) { return pgx.Connect(ctx, w.DSN) }
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var audiences [2]audience
	var instances [2]*Live
	done := make(chan error, len(instances))
	for i := range instances {
		instances[i] = &Live{Connect: connect, Tell: audiences[i].tell, Log: slog.New(slog.DiscardHandler)}
		go func() { done <- Run(ctx, instances[i].Publish, instances[i].Listen) }()
	}
	t.Cleanup(func() {
		stop()
		for range instances {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
	// What is told before an instance listens is lost to it; so it is told until it is heard.
	reach := func(ref store.SlotRef) {
		t.Helper()
		w.Until(t, func() bool {
			instances[0].Changed(ref.TenantID, ref.SlotID)
			return audiences[0].heard(ref) && audiences[1].heard(ref)
		}, func() string { return "not all have heard" })
	}
	reach(slotNumber(1))
	var lost int
	if err := w.Pool.QueryRow(t.Context(), `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid() AND (query ILIKE 'listen %' OR query LIKE '-- tell of changes%')`).Scan(&lost); err != nil {
		t.Fatal(err)
	}
	if lost != 3 {
		t.Errorf("%d connections: want one that tells and two that listen", lost)
	}
	reach(slotNumber(2))
}

func TestWhereTheDatabaseCannotBeToldTheOwnViewersAre(t *testing.T) {
	t.Parallel()
	var heard audience
	var tried atomic.Int32
	l := &Live{Tell: heard.tell, Log: slog.New(slog.DiscardHandler), Connect: func(context.Context) (*pgx.Conn, error) {
		tried.Add(1)
		return nil, errors.New("no database")
	}}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- Run(ctx, l.Publish, l.Listen) }()
	ref := slotNumber(1)
	l.Changed(ref.TenantID, ref.SlotID)
	limit := time.NewTimer(20 * time.Second)
	defer limit.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !heard.heard(ref) || tried.Load() < 3 {
		select {
		case <-limit.C:
			t.Fatal("the own viewers were not told")
		case <-tick.C:
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestWhatIsPendingHasABound(t *testing.T) {
	t.Parallel()
	l := &Live{}
	for i := range 2 * mostPending {
		l.Changed("tenant", string(rune(i)))
	}
	if refs := l.take(); len(refs) != mostPending {
		t.Errorf("%d pending", len(refs))
	}
	if refs := l.take(); len(refs) != 0 {
		t.Errorf("%d left", len(refs))
	}
}
