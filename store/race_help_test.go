package store_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"holdfast/store"
	"holdfast/store/storetest"
	"holdfast/store/storetest/shop"
)

// race runs do n times at the same instant and gives what each was answered.
func race(n int, do func(i int) error) []error {
	barrier, answers := storetest.Barrier(n), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			barrier()
			answers[i] = do(i)
		})
	}
	wg.Wait()
	return answers
}

// tally counts successes and fails the test for each answer that is neither a
// success nor one of the refusals that a loser may be given.
func tally(t *testing.T, answers []error, losers ...store.Outcome) (won int) {
	t.Helper()
next:
	for _, err := range answers {
		if err == nil {
			won++
			continue
		}
		for _, loser := range losers {
			if errors.Is(err, loser) {
				continue next
			}
		}
		t.Errorf("an answer is %v, want success or one of %v", err, losers)
	}
	if t.Failed() {
		t.FailNow()
	}
	return won
}

// seatsOf counts the seats of live reservations, which is what people were told.
func seatsOf(t *testing.T, s *shop.Shop, slot store.Slot) int {
	t.Helper()
	var seats int
	err := s.Pool.QueryRow(t.Context(), "SELECT coalesce(sum(party_size), 0) FROM reservations WHERE slot_id = $1 AND state IN ('held', 'confirmed')", slot.ID).Scan(&seats)
	if err != nil {
		t.Fatal(err)
	}
	return seats
}

// violations gives how often an invariant is violated now.
func violations(t *testing.T, s *shop.Shop, id string) int {
	t.Helper()
	report, err := s.Store.Check(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, invariant := range report.Invariants {
		if invariant.ID == id {
			return invariant.Violations
		}
	}
	t.Fatalf("there is no invariant %s", id)
	return 0
}

// broken makes a shop for a strategy that breaks the invariants on purpose: what
// it has done is taken away before they are computed at the end.
func broken(t *testing.T, edit func(*store.Policies), opts ...storetest.Option) *shop.Shop {
	t.Helper()
	s := shop.New(t, edit, opts...)
	t.Cleanup(func() {
		for _, sql := range []string{
			"DELETE FROM outbox", "DELETE FROM events", "UPDATE waitlist_entries SET reservation_id = NULL, state = 'closed', ended_at = now()",
			"DELETE FROM reservations", "DELETE FROM waitlist_entries", "UPDATE slots SET taken = 0, version = 0, kept = false, capacity = greatest(capacity, 1)",
		} {
			if _, err := s.Pool.Exec(context.WithoutCancel(t.Context()), sql); err != nil {
				t.Errorf("%s: %v", sql, err)
			}
		}
	})
	return s
}
