package store_test

import (
	"errors"
	"testing"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

func feed(t *testing.T, s *shop.Shop, after int64) []store.FeedEvent {
	t.Helper()
	events, err := s.Store.Feed(t.Context(), s.Tenant.ID, after, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return events
}

// What is committed late, with an id drawn early, comes behind what was read already.
func TestTheFeedPassesByNothingThatIsCommittedLate(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	early, late := s.Slot(t, 2), s.Slot(t, 2)
	r := newRival(t, s)
	r.exec("INSERT INTO events (tenant_id, slot_id, kind, actor, at) VALUES ($1, $2, 'refused_late', 'customer', now())", late.TenantID, late.ID)
	s.Book(t, early, 1)
	if _, err := s.Store.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	read := feed(t, s, 0)
	if len(read) != 2 || read[0].Kind != store.EventHeld || read[1].Kind != store.EventConfirmed {
		t.Fatalf("read %+v", read)
	}
	r.commit()
	if _, err := s.Store.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	more := feed(t, s, read[1].Feed)
	if len(more) != 1 || more[0].SlotID != late.ID || more[0].ID > read[0].ID || more[0].Feed != read[1].Feed+1 {
		t.Fatalf("after it: %+v", more)
	}
	s.Exec(t, "DELETE FROM events WHERE slot_id = $1", late.ID)
}

func TestManySweepersGiveEachEventOnePlace(t *testing.T) {
	t.Parallel()
	const n = 6
	s := shop.New(t, nil)
	other := s.AddTenant(t, "other", nil)
	for range 10 {
		s.Book(t, s.Slot(t, 2), 1)
	}
	tally(t, race(n, func(int) error { _, err := s.Store.Sweep(t.Context()); return err }))
	events := feed(t, s, 0)
	if len(events) != 20 {
		t.Fatalf("%d events", len(events))
	}
	for i, e := range events {
		if e.Feed != int64(i+1) {
			t.Fatalf("place %d is %d", i+1, e.Feed)
		}
	}
	if theirs, err := s.Store.Feed(t.Context(), other.ID, 0, 10); err != nil || len(theirs) != 0 {
		t.Errorf("another tenant reads %d events, %v", len(theirs), err)
	}
}

func TestAKeyOfTheAPIIsCarriedOutOnce(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	other := s.AddTenant(t, "other", nil)
	req := store.IdempotentRequest{TenantID: s.Tenant.ID, Route: "POST /slots", KeyHash: []byte("k"), Fingerprint: []byte("f")}
	const n = 8
	began := tally2(t, race(n, func(int) error {
		kept, err := s.Store.BeginIdempotent(t.Context(), req)
		if err == nil && kept != nil {
			return errors.New("an answer that nobody gave")
		}
		return err
	}), store.ErrInProgress)
	if began != 1 {
		t.Fatalf("%d began", began)
	}
	changed, elsewhere, route := req, req, req
	changed.Fingerprint, elsewhere.TenantID, route.Route = []byte("g"), other.ID, "POST /other"
	if _, err := s.Store.BeginIdempotent(t.Context(), changed); !errors.Is(err, store.KeyReused) {
		t.Errorf("another request with the key: %v", err)
	}
	for _, r := range []store.IdempotentRequest{elsewhere, route} {
		if kept, err := s.Store.BeginIdempotent(t.Context(), r); err != nil || kept != nil {
			t.Errorf("the key elsewhere: %v %v", kept, err)
		}
	}
	if err := s.Store.FinishIdempotent(t.Context(), req, &store.KeptAnswer{Status: 201, Body: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	if kept, err := s.Store.BeginIdempotent(t.Context(), req); err != nil || kept == nil || kept.Status != 201 || string(kept.Body) != "{}" {
		t.Fatalf("%v %v", kept, err)
	}
	// One that died in the middle may be made again, after a while; an answer is forgotten after a day.
	s.Exec(t, "UPDATE idempotency_answers SET begun_at = begun_at - interval '2 minutes' WHERE route = 'POST /other'")
	if kept, err := s.Store.BeginIdempotent(t.Context(), route); err != nil || kept != nil {
		t.Errorf("after its death: %v %v", kept, err)
	}
	s.Exec(t, "UPDATE idempotency_answers SET begun_at = begun_at - interval '25 hours'")
	if _, err := s.Store.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	var left int
	if err := s.Pool.QueryRow(t.Context(), "SELECT count(*) FROM idempotency_answers").Scan(&left); err != nil || left != 0 {
		t.Errorf("%d answers are left, %v", left, err)
	}
}

// tally2 counts successes among answers of which the others are one given error.
func tally2(t *testing.T, answers []error, loser error) (won int) {
	t.Helper()
	for _, err := range answers {
		switch {
		case err == nil:
			won++
		case !errors.Is(err, loser):
			t.Errorf("an answer is %v", err)
		}
	}
	return won
}
