package store_test

import (
	"sync"
	"testing"
	"time"

	"holdfast/store"
)

func TestOneRunOfTheLabAtATimeOverAllInstances(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	other := s.AddTenant(t, "other", nil)
	by := "00000000-0000-4000-8000-000000000001"
	ask := func(tenant string) bool {
		t.Helper()
		asked, err := s.Store.AskRace(s.ctx(), tenant, by)
		s.must(err)
		return asked
	}
	claim := func() (store.RaceClaim, bool) {
		t.Helper()
		c, ok, err := s.Store.ClaimRace(s.ctx())
		s.must(err)
		return c, ok
	}
	newest := func(tenant string) store.RaceRun {
		t.Helper()
		runs, err := s.Store.Races(s.ctx(), tenant, 5)
		s.must(err)
		if len(runs) == 0 {
			t.Fatal("there is no run")
		}
		return runs[0]
	}
	if _, ok := claim(); ok {
		t.Fatal("nobody asked")
	}
	if !ask(s.Tenant.ID) || ask(s.Tenant.ID) {
		t.Fatal("one of a tenant can be asked for, and not two")
	}
	s.at(time.Second)
	if !ask(other.ID) {
		t.Fatal("another tenant may ask as well")
	}

	// Many runners at once: one gets it, and it is the one that waits longest.
	const runners = 8
	got := make([]bool, runners)
	claims := make([]store.RaceClaim, runners)
	errs := make([]error, runners)
	var wg sync.WaitGroup
	for i := range runners {
		wg.Go(func() { claims[i], got[i], errs[i] = s.Store.ClaimRace(s.ctx()) })
	}
	wg.Wait()
	var mine store.RaceClaim
	n := 0
	for i := range runners {
		s.must(errs[i])
		if got[i] {
			mine, n = claims[i], n+1
		}
	}
	if n != 1 || mine.Tenant != s.Tenant.ID {
		t.Fatalf("%d runners took up a run: %+v", n, mine)
	}
	if on, err := s.Store.RaceBeat(s.ctx(), mine, 3, 11); err != nil || !on {
		t.Fatal(on, err)
	}
	if r := newest(s.Tenant.ID); r.State != store.RaceRunning || r.Done != 3 || r.Total != 11 || r.StartedAt == nil {
		t.Fatalf("%+v", r)
	}
	if r := newest(other.ID); r.State != store.RaceAsked {
		t.Fatalf("%+v", r)
	}
	s.must(s.Store.EndRace(s.ctx(), mine, []store.RaceResult{{Scenario: "stale", Strategy: "naive", Rounds: 10, Broken: 9, Violations: map[string]int{"lost_update": 9}}}))
	if r := newest(s.Tenant.ID); r.State != store.RaceDone || r.Done != 11 || len(r.Results) != 1 || r.Results[0].Violations["lost_update"] != 9 || r.EndedAt == nil {
		t.Fatalf("%+v", r)
	}

	// A runner that ends without a word: its run counts as failed after a while, and the next one can begin.
	theirs, ok := claim()
	if !ok || theirs.Tenant != other.ID || !ask(s.Tenant.ID) {
		t.Fatal("the next one has its turn")
	}
	if _, ok := claim(); ok {
		t.Fatal("two at once")
	}
	s.at(3 * time.Minute)
	if r := newest(other.ID); r.State != store.RaceFailed || r.EndedAt == nil {
		t.Fatalf("%+v", r)
	}
	if c, ok := claim(); !ok || c.Tenant != s.Tenant.ID {
		t.Fatal("the silent one stands in the way")
	}
	if on, err := s.Store.RaceBeat(s.ctx(), theirs, 4, 11); err != nil || on {
		t.Fatal("it is not told that it counts as ended", on, err)
	}
	if !ask(other.ID) {
		t.Fatal("one that failed keeps from asking again")
	}
	s.must(s.Store.DeleteTenant(s.ctx(), other.ID))
}

func TestOldRunsOfTheLabAreDropped(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	for i := range 14 {
		s.at(time.Duration(i) * time.Second)
		asked, err := s.Store.AskRace(s.ctx(), s.Tenant.ID, "00000000-0000-4000-8000-000000000001")
		s.must(err)
		c, ok, err := s.Store.ClaimRace(s.ctx())
		s.must(err)
		if !asked || !ok {
			t.Fatal(i, asked, ok)
		}
		s.must(s.Store.EndRace(s.ctx(), c, nil))
	}
	runs, err := s.Store.Races(s.ctx(), s.Tenant.ID, 100)
	s.must(err)
	if len(runs) != 10 || runs[0].State != store.RaceFailed {
		t.Fatalf("%d runs are kept", len(runs))
	}
}
