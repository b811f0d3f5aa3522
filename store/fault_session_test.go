package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

// Every page reads its session first. While the database restarts that read may
// be refused as busy, and is never a fault of ours.
func TestASessionIsBusyWhereTheServerWentAway(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	ctx := t.Context()
	sessions := s.Store.Sessions()
	if err := sessions.CommitCtx(ctx, "known", []byte("data"), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	var open []*pgxpool.Conn
	for range 3 {
		conn, err := s.Pool.Acquire(ctx)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, conn)
	}
	if _, err := open[0].Exec(ctx, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"); err != nil {
		t.Fatal(err)
	}
	for _, conn := range open {
		conn.Release()
	}
	refused := 0
	for range 6 {
		data, found, err := sessions.FindCtx(ctx, "known")
		switch {
		case errors.Is(err, store.Busy):
			refused++
		case err != nil:
			t.Errorf("%v; want Busy", err)
			refused++
		case !found || string(data) != "data":
			t.Errorf("%q, %v", data, found)
		}
	}
	if refused == 0 {
		t.Fatal("no read met a lost connection")
	}
}
