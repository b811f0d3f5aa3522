package store_test

import (
	"testing"

	"holdfast/store/storetest/shop"
)

// Each seal holds on to the one before: who changes a line of the history would
// have to seal anew all that came after it.
func TestAChangedLineBreaksAllSealsAfterIt(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 1)
	booked := s.Book(t, slot, 1)
	s.Join(t, slot, 1)
	s.Join(t, slot, 1)
	s.Cancel(t, booked)
	if _, err := s.Store.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	var after int
	if err := s.Pool.QueryRow(t.Context(), "SELECT count(*) FROM events WHERE slot_id = $1 AND number >= 2 AND seal IS NOT NULL", slot.ID).Scan(&after); err != nil {
		t.Fatal(err)
	}
	s.Exec(t, "UPDATE events SET actor = actor || ' or not' WHERE slot_id = $1 AND number = 2", slot.ID)
	if n := violations(t, s, "I10"); after < 3 || n != after {
		t.Errorf("%d of %d seals do not verify", n, after)
	}
	s.Exec(t, "UPDATE events SET actor = replace(actor, ' or not', '') WHERE slot_id = $1 AND number = 2", slot.ID)
}
