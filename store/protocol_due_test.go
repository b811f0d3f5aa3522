package store_test

import (
	"errors"
	"testing"
	"time"

	"holdfast/store"
)

// A seat is free and another is due; together they would do for a party that
// waits. A newcomer for whom the free one would do alone does not come between:
// due means free, and free seats go by order.
func TestAFreeSeatBesideADueOneGoesWithItToWhoeverWaits(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(s *stage) (store.Slot, store.Entry){
		"a hold is due": func(s *stage) (store.Slot, store.Entry) {
			slot := s.Slot(s.t, 2)
			s.Hold(s.t, slot, 1)
			return slot, s.Join(s.t, slot, 2)
		},
		"an offer is due": func(s *stage) (store.Slot, store.Entry) {
			slot, booked := s.full(2)
			s.Join(s.t, slot, 1)
			waits := s.Join(s.t, slot, 2)
			s.Cancel(s.t, booked[0])
			s.Cancel(s.t, booked[1])
			return slot, waits
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, nil)
			slot, waits := prepare(s)
			s.taken(slot, 1)
			s.at(2 * time.Hour)
			if err := s.hold(slot, 1); !errors.Is(err, store.SoldOut) {
				t.Errorf("the newcomer was answered %v", err)
			}
			s.entryState(waits, store.Offered)
			s.taken(slot, 2)
		})
	}
}

// At the switch to first come, first served, seats that strict order has kept for
// the head are open to everybody. Nobody presses at that moment: the sweeper tells those for whom they do.
func TestTheSweeperTellsOfKeptSeatsAtTheSwitch(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(p *store.Policies) { p.Fit, p.ReminderBefore = store.Strict, 0 })
	slot, booked := s.full(2)
	s.Join(t, slot, 2)
	second := s.Join(t, slot, 1)
	s.Cancel(t, booked[0])
	if !s.kept(slot) {
		t.Fatal("the seat is not kept for the head")
	}
	s.until(slot.StartsAt.Add(-2 * time.Hour))
	before := s.mark(slot)
	s.sweep()
	before.mail("vacancy " + second.Email)
	if s.kept(slot) {
		t.Error("the seat is still kept")
	}
}
