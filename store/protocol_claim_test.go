package store_test

import (
	"sync"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

// Dispatchers take messages at the same time: each message goes to one of them.
func TestManyTakersGetEachMessageOnce(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	for range 24 {
		s.Book(t, s.Slot(t, 1), 1)
	}
	var mu sync.Mutex
	takers := map[string]int{}
	take := func() (int, error) {
		messages, err := s.Store.ClaimMessages(t.Context(), s.Tenant.ID, 3, time.Minute)
		mu.Lock()
		defer mu.Unlock()
		for _, m := range messages {
			takers[m.ID]++
		}
		return len(messages), err
	}
	for range 3 {
		tally(t, race(6, func(int) error { _, err := take(); return err }))
	}
	for { // what all have left to each other
		n, err := take()
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			break
		}
	}
	for id, n := range takers {
		if n > 1 {
			t.Errorf("%s was taken %d times", id, n)
		}
	}
	if len(takers) != 24 {
		t.Errorf("%d of 24 messages were taken", len(takers))
	}
}

// Somebody takes a message at this moment. The others do not wait to see how that ends: they take the rest.
func TestAMessageThatSomebodyIsTakingKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	s.Book(t, s.Slot(t, 1), 1)
	s.Book(t, s.Slot(t, 1), 1)
	other, err := s.Conn(t).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var taken string
	err = other.QueryRow(t.Context(), "SELECT id::text FROM outbox WHERE tenant_id = $1 ORDER BY created_at LIMIT 1 FOR UPDATE", s.Tenant.ID).Scan(&taken)
	if err != nil {
		t.Fatal(err)
	}
	rest, err := s.Store.ClaimMessages(t.Context(), s.Tenant.ID, 10, time.Minute)
	if err != nil || len(rest) != 1 || rest[0].ID == taken {
		t.Fatalf("%d messages, %v", len(rest), err)
	}
	if err := other.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// What one reader is told keeps its order, also where several send: the later message waits until the earlier one is sent.
func TestALaterMessageWaitsForTheEarlierOneToItsReader(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	reader := s.Person()
	for range 2 {
		req := s.ConfirmRequest(s.Hold(t, s.Slot(t, 1), 1))
		req.Contact = reader
		if _, err := s.Store.Confirm(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	claim := func(want int) []store.Message {
		t.Helper()
		got, err := s.Store.ClaimMessages(t.Context(), s.Tenant.ID, 1, time.Minute)
		if err != nil || len(got) != want {
			t.Fatalf("%d messages, %v", len(got), err)
		}
		return got
	}
	first := claim(1)[0]
	claim(0)
	if done, err := s.Store.FinishMessage(t.Context(), first, store.MessageResult{State: store.MessageSent}); err != nil || !done {
		t.Fatal(done, err)
	}
	if second := claim(1)[0]; second.ID == first.ID || second.CreatedAt.Before(first.CreatedAt) {
		t.Fatalf("%s after %s", second.ID, first.ID)
	}
}
