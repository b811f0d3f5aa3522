package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"holdfast/cmd/internal/race"
	"holdfast/store"
	"holdfast/store/storetest/shop"
)

// spoken gathers what is logged.
type spoken struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *spoken) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *spoken) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.b.Reset()
	return s.b.String()
}

// askFor asks for a run and lets the runner work until it has ended.
func askFor(t *testing.T, s *shop.Shop, r *raceRunner) store.RaceRun {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.loop(ctx) }()
	asked, err := s.Store.AskRace(t.Context(), s.Tenant.ID, "00000000-0000-4000-8000-000000000001")
	check(t, err)
	if !asked {
		t.Fatal("another run is under way")
	}
	r.asked()
	var run store.RaceRun
	until(t, func() bool {
		runs, err := s.Store.Races(t.Context(), s.Tenant.ID, 1)
		check(t, err)
		run = runs[0]
		return run.EndedAt != nil
	}, func() string { return "the end of a run" })
	cancel()
	check(t, <-ended)
	return run
}

func TestARunOfTheLabThatStaffAskedFor(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	s.Book(t, s.Slot(t, 2), 1)
	before := everything(t, s)
	var said spoken
	r, err := newRaceRunner(s.Store, slog.New(slog.NewTextHandler(&said, nil)), s.DSN)
	check(t, err)
	self, err := os.Executable()
	check(t, err)
	r.worker = func(ctx context.Context) *exec.Cmd {
		cmd := exec.CommandContext(ctx, self, "race", "--worker")
		cmd.Env = []string{asProgram + "=1"}
		return cmd
	}
	run := askFor(t, s, r)
	if run.State != store.RaceDone || run.Done != run.Total || run.Total != len(run.Results) || run.Total == 0 {
		t.Fatalf("%+v\n%s", run, said.take())
	}
	for _, scenario := range smallRaces {
		i := slices.IndexFunc(run.Results, func(x store.RaceResult) bool { return x.Scenario == scenario && x.Strategy == race.Product })
		if i < 0 || run.Results[i].Rounds == 0 || run.Results[i].Broken+len(run.Results[i].Violations)+run.Results[i].Errors > 0 {
			t.Errorf("%s by the product's strategy: %+v", scenario, run.Results)
		}
	}
	for _, x := range run.Results {
		if x.Scenario == "last-seat-2" && x.Strategy == race.Naive && x.Broken == 0 {
			t.Errorf("the naive way held: %+v", x)
		}
	}
	if everything(t, s) != before {
		t.Error("the lab has touched live data")
	}
}

func TestARunOfTheLabThatComesToNoEnd(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	var said spoken
	r, err := newRaceRunner(s.Store, slog.New(slog.NewTextHandler(&said, nil)), s.DSN)
	check(t, err)
	r.run = func(context.Context, race.Options) (race.Report, error) {
		return race.Report{}, errors.New("no such schema")
	}
	if run := askFor(t, s, r); run.State != store.RaceFailed || !strings.Contains(said.take(), "no such schema") {
		t.Fatalf("%+v", run)
	}

	// The program stops in the middle: the page says so at once, and the next run can begin.
	ctx, stop := context.WithCancel(t.Context())
	r.run = func(ctx context.Context, _ race.Options) (race.Report, error) {
		stop()
		<-ctx.Done()
		return race.Report{}, ctx.Err()
	}
	_, err = s.Store.AskRace(t.Context(), s.Tenant.ID, "00000000-0000-4000-8000-000000000001")
	check(t, err)
	check(t, r.loop(ctx))
	runs, err := s.Store.Races(t.Context(), s.Tenant.ID, 5)
	check(t, err)
	if len(runs) != 2 || runs[0].State != store.RaceFailed {
		t.Fatalf("%+v", runs)
	}
}

// What breaks is said once, however often it is seen, and so is its mending; the
// metric and the pages have it as long as it is so.
func TestABreakIsToldOnceAndSoIsItsMending(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	m := newMetrics()
	var said spoken
	log := slog.New(slog.NewTextHandler(&said, nil))
	look := func() string {
		report, err := s.Store.WatchInvariants(t.Context(), store.WatchOptions{Turn: 10, Full: 1 << 50})
		check(t, err)
		m.note(t.Context(), log, report)
		return said.take()
	}
	shows := func(metric string) bool {
		answer := httptest.NewRecorder()
		m.handler().ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
		return strings.Contains(answer.Body.String(), "\n"+metric)
	}
	gauge := func(id string, n int) bool {
		return shows(fmt.Sprintf("holdfast_invariant_violations{invariant=%q} %d\n", id, n))
	}
	slot := s.Slot(t, 3)
	if out := look(); out != "" || !gauge("I2", 0) || len(m.alarms(s.Tenant.ID)) != 0 || !shows(`holdfast_invariant_check_timestamp_seconds{pass="full"} 1.`) || !shows(`holdfast_invariant_check_timestamp_seconds{pass="changes"} 1.`) {
		t.Fatal(out)
	}
	s.Exec(t, "UPDATE slots SET taken = 1 WHERE id = $1", slot.ID)
	if out := look(); strings.Count(out, "an invariant is violated") != 2 || !strings.Contains(out, "invariant=I2 violations=1") || !strings.Contains(out, slot.ID) {
		t.Fatal(out)
	}
	if out := look(); out != "" || !gauge("I2", 1) || !gauge("I10", 1) {
		t.Fatal("it is said again, or not counted any more:", out)
	}
	found := m.alarms(s.Tenant.ID)
	if len(found) != 2 || found[0].SlotID == nil || *found[0].SlotID != slot.ID || len(m.alarms("another")) != 0 {
		t.Fatalf("%+v", found)
	}
	s.Exec(t, "UPDATE slots SET taken = 0 WHERE id = $1", slot.ID)
	if out := look(); strings.Count(out, "an invariant holds again") != 2 || !gauge("I2", 0) || len(m.alarms(s.Tenant.ID)) != 0 {
		t.Fatal(out)
	}
	if out := look(); out != "" {
		t.Fatal(out)
	}
}
