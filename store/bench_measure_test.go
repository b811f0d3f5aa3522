//go:build measure

package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"holdfast/migrations"
	"holdfast/store"
	"holdfast/store/pgserver"
	"holdfast/store/storetest/shop"
)

// A measure is not a test: it takes a durable server and a quiet machine, and is
// built only with the tag. It fails where the ratio is below what was promised.
const (
	measureSlots   = 1000
	measureClients = 8
	measureFor     = 6 * time.Second
	measurePairs   = 5
	leastRatio     = 0.8
)

// capture keeps the statement of a hold, as the driver sends it.
type capture struct {
	mu  sync.Mutex
	sql string
	arg pgx.StrictNamedArgs
}

func (c *capture) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if strings.HasPrefix(data.SQL, "-- hold\n") {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.sql, c.arg = data.SQL, data.Args[0].(pgx.StrictNamedArgs)
	}
	return ctx
}

func (c *capture) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

var named = regexp.MustCompile(`@([a-z_]+)`)

// script is the same statement for pgbench: what differs from press to press is
// drawn by pgbench, what stays the same stands in the text.
func (c *capture) script(t *testing.T, slots int) string {
	t.Helper()
	drawn := map[string]string{
		"slot": "lpad(to_hex(:slot::bigint), 32, '0')::uuid", "id": "(lpad(to_hex(:hi::bigint), 16, '0') || lpad(to_hex(:lo::bigint), 16, '0'))::uuid",
		"number": "(:hi::text)", "owner": "(:lo::text)", "key": "(:hi::text)", "hash": "sha256((:hi::text)::bytea)",
	}
	body := named.ReplaceAllStringFunc(c.sql, func(name string) string {
		name = name[1:]
		if expr, found := drawn[name]; found {
			return expr
		}
		switch v := c.arg[name].(type) {
		case *time.Time, *int64, *string:
			return "NULL"
		case int:
			return strconv.Itoa(v)
		case []byte:
			return fmt.Sprintf(`'\x%x'`, v)
		default:
			return "'" + strings.ReplaceAll(fmt.Sprint(v), "'", "''") + "'"
		}
	})
	body = strings.TrimPrefix(body, "-- hold\n")
	return fmt.Sprintf("\\set slot random(1, %d)\n\\set hi random(1, 4611686018427387903)\n\\set lo random(1, 4611686018427387903)\n%s;\n", slots, body)
}

var tps = regexp.MustCompile(`tps = ([0-9.]+)`)

func pgbench(t *testing.T, bin, dsn, script string) float64 {
	t.Helper()
	program := filepath.Join(bin, "pgbench")
	if _, err := os.Stat(program); err != nil {
		if program, err = exec.LookPath("pgbench"); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.CommandContext(t.Context(), program, "-n", "-M", "prepared", "-c", strconv.Itoa(measureClients), "-j", "2",
		"-T", strconv.Itoa(int(measureFor.Seconds())), "-f", script, dsn).CombinedOutput()
	found := tps.FindSubmatch(out)
	if err != nil || found == nil || strings.Contains(string(out), "ERROR") {
		t.Fatalf("pgbench: %v\n%s", err, out)
	}
	rate, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return rate
}

// throughStore gives the holds in a second that the store makes.
func throughStore(t *testing.T, s *shop.Shop, slots []store.Slot) float64 {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), measureFor)
	defer stop()
	counts, began := make([]int, measureClients), time.Now()
	var wg sync.WaitGroup
	for i := range measureClients {
		wg.Go(func() {
			for n := i; ctx.Err() == nil; n += 7919 {
				_, err := s.Store.Hold(t.Context(), s.HoldRequest(slots[n%len(slots)], 1))
				if err != nil {
					t.Error(err)
					return
				}
				counts[i]++
			}
		})
	}
	wg.Wait()
	took, sum := time.Since(began).Seconds(), 0
	for _, n := range counts {
		sum += n
	}
	return float64(sum) / took
}

func median(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}

func TestMeasureHoldAgainstPgbench(t *testing.T) {
	ctx := t.Context()
	// Not t.TempDir: when root runs this, the account that Postgres runs under could not enter it.
	dir, err := os.MkdirTemp("", "holdfast-measure-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	srv, err := pgserver.Start(ctx, pgserver.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := srv.Stop(context.WithoutCancel(ctx)); err != nil {
			t.Error(err)
		}
	})
	dsn := srv.DSN("postgres")
	if _, err := migrations.Up(ctx, dsn); err != nil {
		t.Fatal(err)
	}
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	seen := &capture{}
	cfg.MaxConns = measureClients
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	cfg.ConnConfig.Tracer = seen
	traced, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer traced.Close()
	var fsync string
	if err := pool.QueryRow(ctx, "SHOW fsync").Scan(&fsync); err != nil || fsync != "on" {
		t.Fatalf("fsync is %q, %v: nothing durable would be measured", fsync, err)
	}
	plain, err := store.New(pool, shop.Secret, store.Watch{})
	if err != nil {
		t.Fatal(err)
	}
	s := &shop.Shop{Store: plain, Start: time.Now().Truncate(time.Hour).Add(240 * time.Hour)}
	s.Tenant = s.AddTenant(t, "shop", nil)
	s.Service, s.Resource = s.AddService(t, s.Tenant, "class", nil), s.AddResource(t, s.Tenant, "studio-a")
	model := s.Slot(t, 100_000_000)
	// Slots whose ids pgbench can draw.
	if _, err := pool.Exec(ctx, `INSERT INTO slots (tenant_id, id, service_id, resource_id, starts_at, ends_at, capacity, order_until, quiet_from, quiet_until)
		SELECT tenant_id, lpad(to_hex(n), 32, '0')::uuid, service_id, resource_id, starts_at + n * interval '1 hour', ends_at + n * interval '1 hour', capacity,
			order_until + n * interval '1 hour', quiet_from, quiet_until
		FROM slots, generate_series(1, $1::int) n WHERE id = $2`, measureSlots, model.ID); err != nil {
		t.Fatal(err)
	}
	slots := make([]store.Slot, measureSlots)
	for i := range slots {
		slots[i] = model
		slots[i].ID = fmt.Sprintf("00000000-0000-0000-0000-%012x", i+1)
	}
	st, err := store.New(traced, shop.Secret, store.Watch{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.Hold(ctx, s.HoldRequest(slots[0], 1)); err != nil {
		t.Fatal(err)
	}
	if seen.sql == "" {
		t.Fatal(errors.New("the statement of a hold was not seen"))
	}
	for _, m := range []struct {
		name  string
		slots int
	}{{"spread over 1,000 slots", measureSlots}, {"one hot slot", 1}} {
		script := filepath.Join(t.TempDir(), "hold.sql")
		if err := os.WriteFile(script, []byte(seen.script(t, m.slots)), 0o600); err != nil {
			t.Fatal(err)
		}
		pgbench(t, srv.Bin, dsn, script) // warm
		throughStore(t, s, slots[:m.slots])
		var ours, theirs, ratios []float64
		for range measurePairs {
			theirs = append(theirs, pgbench(t, srv.Bin, dsn, script))
			ours = append(ours, throughStore(t, s, slots[:m.slots]))
			ratios = append(ratios, ours[len(ours)-1]/theirs[len(theirs)-1])
		}
		ratio := median(ratios)
		t.Logf("hold, %s: store %.0f/s, pgbench %.0f/s, ratio %.2f (median of %d pairs)", m.name, median(ours), median(theirs), ratio, measurePairs)
		if m.slots > 1 && ratio < leastRatio {
			t.Errorf("the ratio is %.2f, at least %.2f was promised", ratio, leastRatio)
		}
	}
}
