package store_test

import (
	"fmt"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest"
	"holdfast/store/storetest/shop"
)

// instances are so many programs on one database, at the stage's instant.
func (s *stage) instances(n int) []*store.Store {
	s.t.Helper()
	out := make([]*store.Store, n)
	for i := range out {
		one, err := store.New(s.Pool, shop.Secret, store.Watch{})
		s.must(err)
		out[i] = one.At(s.now())
	}
	return out
}

// sweepTogether lets all instances make a pass at the same instant, then one more
// each for what they passed by because another had it, and sums what they did.
func (s *stage) sweepTogether(instances []*store.Store) (sum store.SweepReport) {
	s.t.Helper()
	for range 2 {
		reports := make([]store.SweepReport, len(instances))
		answers := race(len(instances), func(i int) (err error) {
			reports[i], err = instances[i].Sweep(s.ctx())
			return err
		})
		for i, err := range answers {
			s.must(err)
			sum.Reminded += reports[i].Reminded
			sum.Erased += reports[i].Erased
			sum.Closed += reports[i].Closed
			sum.Expired += reports[i].Expired
			sum.Failed += reports[i].Failed
		}
	}
	return sum
}

// What comes due by itself is done once, however many instances look for it at
// the same moment: a reminder for each booking, the end of each wait, the erasing
// of each contact.
func TestWhatSeveralSweepersFindDueIsDoneOnce(t *testing.T) {
	t.Parallel()
	const programs, classes = 6, 8
	s := &stage{Shop: shop.New(t, nil, storetest.Conns(40)), t: t, begin: time.Date(2027, 3, 2, 1, 0, 0, 0, time.UTC)}
	s.live = s.Store
	s.Start = s.begin.Add(240 * time.Hour)
	s.at(0)
	t.Cleanup(s.inOrder)
	want := map[string]bool{} // who is to be reminded, of which slot
	var last store.Slot
	var begins, ends time.Time
	for range classes {
		room := s.AddResource(t, s.Tenant, fmt.Sprintf("room-%d", len(want)))
		made, err := s.Store.AddSlots(s.ctx(), s.Tenant.ID, []store.NewSlot{{ServiceID: s.Service.ID, ResourceID: room.ID, StartsAt: s.begin.Add(240 * time.Hour), Capacity: 4}})
		s.must(err)
		slot := made[0]
		stays, gone, moves, fourth := s.Book(t, slot, 1), s.Book(t, slot, 1), s.Book(t, slot, 1), s.Book(t, slot, 1)
		s.Join(t, slot, 3)
		s.Join(t, slot, 3)
		s.Cancel(t, gone)
		if last.ID != "" {
			// To a class where a seat is free.
			_, err := s.move(moves, last)
			s.must(err)
			want[moves.ID+" "+last.ID] = true
		} else {
			want[moves.ID+" "+slot.ID] = true
			last = s.SlotAt(t, 20, slot.StartsAt)
		}
		want[stays.ID+" "+slot.ID], want[fourth.ID+" "+slot.ID] = true, true
		begins, ends = slot.StartsAt, slot.EndsAt
	}
	reminders := func() map[string]int {
		t.Helper()
		rows, err := s.Pool.Query(s.ctx(), "SELECT subject_id || ' ' || slot_id FROM outbox WHERE kind = 'reminder'")
		s.must(err)
		defer rows.Close()
		got := map[string]int{}
		for rows.Next() {
			var one string
			s.must(rows.Scan(&one))
			got[one]++
		}
		s.must(rows.Err())
		return got
	}

	s.until(begins.Add(-24 * time.Hour))
	if sum := s.sweepTogether(s.instances(programs)); sum.Reminded != len(want) || sum.Failed != 0 {
		t.Errorf("%+v, want %d reminders", sum, len(want))
	}
	got := reminders()
	for who := range want {
		if got[who] != 1 {
			t.Errorf("%s is reminded %d times", who, got[who])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d reminders, want %d", len(got), len(want))
	}

	s.until(begins)
	if sum := s.sweepTogether(s.instances(programs)); sum.Closed != 2*classes || sum.Reminded != 0 {
		t.Errorf("%+v, want %d waits to end", sum, 2*classes)
	}
	var closed, most int
	s.must(s.Pool.QueryRow(s.ctx(), "SELECT count(*), max(n) FROM (SELECT count(*) AS n FROM events WHERE kind = 'entry_closed' GROUP BY subject_id) e").Scan(&closed, &most))
	if closed != 2*classes || most != 1 {
		t.Errorf("%d waits ended, one of them %d times", closed, most)
	}

	s.until(ends.Add(7 * 24 * time.Hour))
	if sum := s.sweepTogether(s.instances(programs)); sum.Erased != 2*classes {
		t.Errorf("%+v, want %d contacts of those who waited erased", sum, 2*classes)
	}
	s.until(ends.Add(400 * 24 * time.Hour))
	if sum := s.sweepTogether(s.instances(programs)); sum.Erased != 4*classes {
		t.Errorf("%+v, want %d contacts of bookings erased", sum, 4*classes)
	}
}
