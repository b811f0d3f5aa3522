package store_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest"
	"holdfast/store/storetest/shop"
)

// The server of the benchmarks is that of the tests: it does not wait for the
// disk. The numbers compare one version of the code with another; what a durable
// server gives is measured by TestMeasureHoldAgainstPgbench.

// manySlots makes n slots of a capacity, an hour each, side by side.
func manySlots(b *testing.B, s *shop.Shop, n, capacity int) []store.Slot {
	b.Helper()
	asked := make([]store.NewSlot, n)
	for i := range asked {
		s.Start = s.Start.Add(time.Hour)
		asked[i] = store.NewSlot{ServiceID: s.Service.ID, ResourceID: s.Resource.ID, StartsAt: s.Start, Capacity: capacity}
	}
	slots, err := s.Store.AddSlots(b.Context(), s.Tenant.ID, asked)
	if err != nil {
		b.Fatal(err)
	}
	return slots
}

// storedHolds puts holds into each slot as if they had been made one by one.
func storedHolds(b *testing.B, s *shop.Shop, perSlot int) {
	b.Helper()
	s.Exec(b, `WITH made AS (
		INSERT INTO reservations (tenant_id, slot_id, party_size, state, number, locale, owner, shown_until, expires_at, terms_version, link_hash, source, created_at)
		SELECT s.tenant_id, s.id, 1, 'held', left(md5(s.id::text || n), 16), 'ja', 'stored-' || n, now() + interval '5 hours', now() + interval '6 hours', s.terms_version,
			sha256((s.id::text || n)::bytea), 'web', now()
		FROM slots s, generate_series(1, $1) n
		RETURNING tenant_id, id, slot_id
	), numbered AS (
		SELECT *, row_number() OVER (PARTITION BY slot_id) AS number FROM made
	), told AS (
		INSERT INTO events (tenant_id, slot_id, number, kind, actor, party_size, seats, capacity, mode, subject_id, at)
		SELECT n.tenant_id, n.slot_id, n.number, 'held', 'customer', 1, 1, s.capacity, 'first_fit', n.id, now()
		FROM numbered n JOIN slots s ON s.tenant_id = n.tenant_id AND s.id = n.slot_id
	)
	UPDATE slots SET taken = $1, version = $1`, perSlot)
	s.Exec(b, "ANALYZE")
	for { // the seals of what was stored are not what is measured
		report, err := s.Store.Sweep(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if report.Sealed == 0 {
			return
		}
	}
}

func benchmarkHold(b *testing.B, slots, capacity int) {
	s := shop.New(b, nil, storetest.Conns(8))
	all := manySlots(b, s, slots, capacity)
	var next atomic.Int64
	b.SetParallelism(4)
	b.ResetTimer()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			if _, err := s.Store.Hold(b.Context(), s.HoldRequest(all[next.Add(1)%int64(slots)], 1)); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

func BenchmarkHoldHotSlot(b *testing.B) { benchmarkHold(b, 1, 1_000_000_000) }

func BenchmarkHoldSpreadOver1000Slots(b *testing.B) { benchmarkHold(b, 1000, 1_000_000) }

func BenchmarkHoldAndConfirm(b *testing.B) {
	s := shop.New(b, nil, storetest.Conns(8))
	all := manySlots(b, s, 1000, 1_000_000)
	var next atomic.Int64
	b.SetParallelism(4)
	b.ResetTimer()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			held, err := s.Store.Hold(b.Context(), s.HoldRequest(all[next.Add(1)%1000], 1))
			if err == nil {
				_, err = s.Store.Confirm(b.Context(), s.ConfirmRequest(held[0]))
			}
			if err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// BenchmarkRefusalInAFullSlot is what a rush costs those who come too late.
func BenchmarkRefusalInAFullSlot(b *testing.B) {
	s := shop.New(b, nil, storetest.Conns(8))
	slot := manySlots(b, s, 1, 1)[0]
	if _, err := s.Store.Hold(b.Context(), s.HoldRequest(slot, 1)); err != nil {
		b.Fatal(err)
	}
	b.SetParallelism(4)
	b.ResetTimer()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			if _, err := s.Store.Hold(b.Context(), s.HoldRequest(slot, 1)); err != store.SoldOut { //nolint:errorlint // exactly the refusal
				b.Error(err)
				return
			}
		}
	})
}

// BenchmarkPassOnWithAQueueOf1000 cancels one booking, whose seat goes to the head of the queue.
func BenchmarkPassOnWithAQueueOf1000(b *testing.B) {
	s := shop.New(b, nil)
	slot := manySlots(b, s, 1, 1)[0]
	booked := s.Book(b, slot, 1)
	for range 1000 {
		s.Join(b, slot, 1)
	}
	for b.Loop() {
		change := s.Cancel(b, booked)
		b.StopTimer()
		if len(change.Offered) != 1 {
			b.Fatalf("offered to %d", len(change.Offered))
		}
		var err error
		booked, err = s.Store.Accept(b.Context(), store.AcceptRequest{TenantID: slot.TenantID, ID: change.Offered[0].ID, TermsVersion: slot.TermsVersion, Actor: shop.Customer})
		if err != nil {
			b.Fatal(err)
		}
		s.Join(b, slot, 1)
		b.StartTimer()
	}
}

// BenchmarkSweepOf100DueAmong20000 measures one pass; its work has to grow with what is due.
func BenchmarkSweepOf100DueAmong20000(b *testing.B) { benchmarkSweep(b, 200, 100) }

// BenchmarkSweepOf100DueAmong400 is what the last is compared with.
func BenchmarkSweepOf100DueAmong400(b *testing.B) { benchmarkSweep(b, 200, 2) }

func benchmarkSweep(b *testing.B, slots, perSlot int) {
	s := shop.New(b, nil)
	all := manySlots(b, s, slots, 1_000_000)
	storedHolds(b, s, perSlot)
	for b.Loop() {
		b.StopTimer()
		for _, slot := range all[:100] {
			held, err := s.Store.Hold(b.Context(), s.HoldRequest(slot, 1))
			if err != nil {
				b.Fatal(err)
			}
			s.Exec(b, "UPDATE reservations SET shown_until = now() - interval '1 hour', expires_at = now() - interval '1 minute' WHERE id = $1", held[0].ID)
		}
		b.StartTimer()
		if report, err := s.Store.Sweep(b.Context()); err != nil || report.Expired != 100 {
			b.Fatalf("%+v %v", report, err)
		}
	}
}

// The page of 100 slots among few and among many stored: the two should cost the same.
func BenchmarkSlotsPage(b *testing.B) {
	for _, stored := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("stored=%d", stored), func(b *testing.B) {
			s := shop.New(b, nil)
			from := s.Start
			manySlots(b, s, stored, 100)
			storedHolds(b, s, 3)
			query := store.SlotQuery{TenantID: s.Tenant.ID, From: from, To: from.Add(101 * time.Hour)}
			for b.Loop() {
				if page, err := s.Store.Slots(b.Context(), query); err != nil || len(page) != 100 {
					b.Fatal(len(page), err)
				}
			}
		})
	}
}
