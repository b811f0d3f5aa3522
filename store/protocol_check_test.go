package store_test

import (
	"fmt"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest"
	"holdfast/store/storetest/shop"
)

// brokenStage is a stage whose database may end broken: nothing is checked when the test ends.
func brokenStage(t *testing.T, edit func(*store.Policies)) *stage {
	t.Helper()
	w := storetest.New(t)
	s := &stage{Shop: &shop.Shop{World: w, Store: shop.Open(t, w, store.Watch{})}, t: t, begin: time.Date(2027, 3, 2, 1, 0, 0, 0, time.UTC)}
	s.live = s.Store
	s.Start = s.begin.Add(240 * time.Hour)
	s.at(0)
	s.Tenant = s.AddTenant(t, "shop", edit)
	s.Service, s.Resource = s.AddService(t, s.Tenant, "class", nil), s.AddResource(t, s.Tenant, "studio-a")
	return s
}

// violated gives the invariants that don't hold, with the number of violations.
func (s *stage) violated(slug string) map[string]int {
	s.t.Helper()
	report, err := s.Store.Check(s.ctx(), slug)
	s.must(err)
	if len(report.Invariants) != 10 || report.At.Location() != time.UTC {
		s.t.Fatalf("%+v", report)
	}
	found := map[string]int{}
	for _, i := range report.Invariants {
		if i.Violations > 0 {
			found[i.ID] = i.Violations
		}
		if i.Examples == nil || len(i.Examples) > 10 || (i.Violations > 0) != (len(i.Examples) > 0) {
			s.t.Fatalf("%+v", i)
		}
	}
	if report.OK != (len(found) == 0) {
		s.t.Fatalf("%+v", report)
	}
	return found
}

const free = "ALTER TABLE %s DISABLE TRIGGER ALL" // foreign keys

// breaks are ways to break each invariant by SQL.
var breaks = []struct {
	id, name string
	edit     func(*store.Policies)
	prepare  func(s *stage) store.Slot
	sql      []string // $1 is the slot
	also     []string // what breaks with it
}{
	{
		"I1", "taken is above the capacity", nil, func(s *stage) store.Slot { slot, _ := s.full(1); return slot },
		[]string{"ALTER TABLE slots DROP CONSTRAINT slots_seats", "UPDATE slots SET capacity = 0 WHERE id = $1"},
		nil,
	},
	{
		"I1", "taken is below nothing", nil, func(s *stage) store.Slot { return s.Slot(s.t, 1) },
		[]string{"ALTER TABLE slots DROP CONSTRAINT slots_seats", "UPDATE slots SET taken = -1 WHERE id = $1"},
		[]string{"I2", "I10"},
	},
	{
		"I2", "a seat is taken by nobody", nil, func(s *stage) store.Slot { return s.Slot(s.t, 1) },
		[]string{"UPDATE slots SET taken = 1 WHERE id = $1"},
		[]string{"I10"},
	},
	{
		"I2", "a hold ended and kept its seat", nil, func(s *stage) store.Slot { slot := s.Slot(s.t, 1); s.Hold(s.t, slot, 1); return slot },
		[]string{"UPDATE reservations SET state = 'expired', ended_at = now() WHERE slot_id = $1"},
		nil,
	},
	{
		"I2", "an offer ended and kept its seat", nil, func(s *stage) store.Slot { slot, _ := s.offered(); return slot },
		[]string{"UPDATE waitlist_entries SET state = 'lapsed', ended_at = now() WHERE slot_id = $1"},
		nil,
	},
	{
		"I3", "a seat is idle while somebody waits", nil, func(s *stage) store.Slot { slot, _ := s.full(1); s.Join(s.t, slot, 1); return slot },
		[]string{"UPDATE slots SET capacity = 2 WHERE id = $1"},
		nil,
	},
	{"I3", "a seat is idle while the strict head would fit", func(p *store.Policies) { p.Fit = store.Strict }, func(s *stage) store.Slot {
		slot, _ := s.full(1)
		s.Join(s.t, slot, 1)
		return slot
	}, []string{"UPDATE slots SET capacity = 2 WHERE id = $1"}, nil},
	{"I4", "an earlier party that would fit was passed over", nil, func(s *stage) store.Slot {
		slot, booked := s.full(1)
		s.Join(s.t, slot, 1)
		s.Join(s.t, slot, 1)
		s.Cancel(s.t, booked[0])
		return slot
	}, []string{`UPDATE events SET subject_id = (SELECT id FROM waitlist_entries WHERE slot_id = $1 ORDER BY position DESC LIMIT 1) WHERE slot_id = $1 AND kind = 'offered'`}, []string{"I8"}},
	{"I4", "the strict head was passed over", nil, func(s *stage) store.Slot {
		slot, booked := s.full(2)
		s.Join(s.t, slot, 2)
		s.Join(s.t, slot, 1)
		s.Cancel(s.t, booked[0])
		return slot
	}, []string{"UPDATE events SET mode = 'strict' WHERE slot_id = $1 AND kind = 'offered'"}, nil},
	{
		"I4", "somebody was offered who was not waiting", nil, func(s *stage) store.Slot { slot, _ := s.offered(); return slot },
		[]string{"UPDATE events SET kind = 'extended' WHERE slot_id = $1 AND kind = 'joined'"},
		[]string{"I8"},
	},
	{
		"I5", "an entry got two offers", nil, func(s *stage) store.Slot { slot, _ := s.offered(); return slot },
		[]string{
			`INSERT INTO events (tenant_id, slot_id, number, kind, actor, party_size, subject_id, at, details)
			SELECT tenant_id, slot_id, 6, 'staff_offered', 'staff', 1, subject_id, at, '{"notice":"none"}' FROM events WHERE slot_id = $1 AND kind = 'offered'`,
			"UPDATE slots SET version = 6 WHERE id = $1",
		},
		[]string{"I10"},
	},
	{"I5", "an offer became two bookings", nil, func(s *stage) store.Slot {
		slot, e := s.offered()
		_, err := s.accept(e)
		s.must(err)
		return slot
	}, []string{"DROP INDEX reservations_entry", "UPDATE reservations SET entry_id = (SELECT id FROM waitlist_entries WHERE slot_id = $1) WHERE slot_id = $1"}, nil},
	{"I6", "a key has two live reservations", nil, func(s *stage) store.Slot {
		slot := s.Slot(s.t, 2)
		s.Hold(s.t, slot, 1)
		s.Hold(s.t, slot, 1)
		return slot
	}, []string{"DROP INDEX reservations_key", "UPDATE reservations SET idempotency_key = 'same' WHERE slot_id = $1"}, nil},
	{"I7", "a press in time was refused as late", nil, func(s *stage) store.Slot {
		slot := s.Slot(s.t, 1)
		r := s.Hold(s.t, slot, 1)
		s.until(*r.ExpiresAt)
		_, err := s.Store.Confirm(s.ctx(), s.ConfirmRequest(r))
		want(s.t, err, store.Expired)
		return slot
	}, []string{`UPDATE events SET details = jsonb_set(details, '{press}', details->'shown_until') WHERE slot_id = $1 AND kind = 'refused_late'`}, nil},
	{
		"I8", "a message is missing", nil, func(s *stage) store.Slot { slot, _ := s.full(1); return slot },
		[]string{"DELETE FROM outbox WHERE slot_id = $1"},
		nil,
	},
	{
		"I8", "a message was written twice", nil, func(s *stage) store.Slot { slot, _ := s.full(1); return slot },
		[]string{`INSERT INTO outbox (tenant_id, kind, slot_id, subject_id, event_number, recipient, locale, next_attempt_at, dedupe_key, created_at)
			SELECT tenant_id, kind, slot_id, subject_id, event_number, recipient, locale, next_attempt_at, 'another', created_at FROM outbox WHERE slot_id = $1`},
		nil,
	},
	{
		"I8", "a message has no cause", nil, func(s *stage) store.Slot { slot, _ := s.full(1); return slot },
		[]string{"UPDATE outbox SET kind = 'lapsed' WHERE slot_id = $1"},
		nil,
	},
	{
		"I8", "a vacancy was told to nobody", inBroadcast, func(s *stage) store.Slot { slot, _, _ := broadcastSlot(s); return slot },
		[]string{"DELETE FROM outbox WHERE slot_id = $1 AND kind = 'vacancy'"},
		nil,
	},
	{"I8", "a change of terms was not told", nil, func(s *stage) store.Slot {
		slot, _ := s.full(1)
		_, err := s.Store.ChangeTerms(s.ctx(), store.TermsRequest{TenantID: slot.TenantID, SlotID: slot.ID, EndsAt: slot.EndsAt.Add(-time.Minute), Actor: shop.Staff})
		s.must(err)
		return slot
	}, []string{"DELETE FROM outbox WHERE slot_id = $1 AND kind = 'changed'"}, nil},
	{
		"I8", "a change was told that did not happen", nil,
		func(s *stage) store.Slot { slot, _ := s.full(1); return slot },
		[]string{`INSERT INTO outbox (tenant_id, kind, slot_id, subject_id, event_number, recipient, locale, next_attempt_at, dedupe_key, created_at)
			SELECT tenant_id, 'changed', slot_id, subject_id, 1, recipient, locale, next_attempt_at, 'another', created_at FROM outbox WHERE slot_id = $1`},
		nil,
	},
	{
		"I9", "a reservation refers to another tenant's slot", nil, func(s *stage) store.Slot { slot, _ := s.full(1); s.AddTenant(s.t, "other", nil); return slot },
		[]string{fmt.Sprintf(free, "reservations"), fmt.Sprintf(free, "waitlist_entries"), "UPDATE reservations SET tenant_id = (SELECT id FROM tenants WHERE slug = 'other') WHERE slot_id = $1"},
		[]string{"I2", "I8"},
	},
	{
		"I9", "a hold went to another tenant", nil, func(s *stage) store.Slot {
			slot := s.Slot(s.t, 1)
			s.Hold(s.t, slot, 1)
			s.AddTenant(s.t, "other", nil)
			return slot
		},
		[]string{fmt.Sprintf(free, "reservations"), "UPDATE reservations SET tenant_id = (SELECT id FROM tenants WHERE slug = 'other') WHERE slot_id = $1"},
		[]string{"I2"},
	},
	{
		"I10", "an event is missing", nil, func(s *stage) store.Slot { slot, _ := s.full(2); return slot },
		[]string{"DELETE FROM events WHERE slot_id = $1 AND number = 1"},
		nil,
	},
	{
		"I10", "the last event is missing", nil, func(s *stage) store.Slot { slot, _ := s.full(2); return slot },
		[]string{"DELETE FROM events WHERE slot_id = $1 AND number = 2"},
		nil,
	},
	{
		"I10", "all events are missing", nil, func(s *stage) store.Slot { slot := s.Slot(s.t, 1); s.Hold(s.t, slot, 1); return slot },
		[]string{"DELETE FROM events WHERE slot_id = $1"},
		nil,
	},
	{
		"I10", "a change left no trace", nil, func(s *stage) store.Slot { slot := s.Slot(s.t, 2); s.Hold(s.t, slot, 1); return slot },
		[]string{"UPDATE slots SET version = version + 1 WHERE id = $1"},
		nil,
	},
	{
		"I10", "the history gives other seats", nil, func(s *stage) store.Slot { slot := s.Slot(s.t, 2); s.Hold(s.t, slot, 1); return slot },
		[]string{"UPDATE events SET seats = 2 WHERE slot_id = $1"},
		nil,
	},
	{
		"I10", "a sealed event was changed", nil, func(s *stage) store.Slot { slot, _ := s.full(2); s.sweep(); return slot },
		[]string{"UPDATE events SET actor = 'staff:somebody' WHERE slot_id = $1 AND number = 1"},
		nil,
	},
	{
		"I10", "the details of a sealed event were changed", nil, func(s *stage) store.Slot { slot, _ := s.full(2); s.sweep(); return slot },
		[]string{`UPDATE events SET details = '{"reason": "another"}' WHERE slot_id = $1 AND number = 1`},
		nil,
	},
	{
		"I10", "a seal was taken off", nil, func(s *stage) store.Slot { slot, _ := s.full(2); s.sweep(); return slot },
		[]string{"UPDATE events SET seal = NULL WHERE slot_id = $1 AND number = 1"},
		nil,
	},
}

// breakBy sends the statements of one of the breaks.
func (s *stage) breakBy(id string, statements []string, slot store.Slot) {
	s.t.Helper()
	for i, sql := range statements {
		if i == len(statements)-1 || id == "I5" && sql[0] == 'I' {
			s.Exec(s.t, sql, slot.ID)
		} else {
			s.Exec(s.t, sql)
		}
	}
}

// A check that can't fail proves nothing: each invariant is broken here by SQL, and found.
func TestEachInvariantIsSeenToBreak(t *testing.T) {
	t.Parallel()
	for _, c := range breaks {
		t.Run(c.id+": "+c.name, func(t *testing.T) {
			t.Parallel()
			s := brokenStage(t, c.edit)
			slot := c.prepare(s)
			s.full(1) // another slot, which is in order
			if found := s.violated(""); len(found) != 0 {
				t.Fatalf("before: %v", found)
			}
			s.breakBy(c.id, c.sql, slot)
			found := s.violated("")
			if found[c.id] == 0 {
				t.Fatalf("not found: %v", found)
			}
			delete(found, c.id)
			for _, id := range c.also {
				delete(found, id)
			}
			if len(found) != 0 {
				t.Fatalf("also found: %v", found)
			}
		})
	}
}

func TestCheckOfOneTenant(t *testing.T) {
	t.Parallel()
	s := brokenStage(t, nil)
	slot := s.Slot(t, 1)
	s.AddTenant(t, "other", nil)
	s.Exec(t, "UPDATE slots SET taken = 1 WHERE id = $1", slot.ID)
	if found := s.violated("other"); len(found) != 0 {
		t.Fatalf("%v", found)
	}
	if found := s.violated("shop"); found["I2"] != 1 || found["I10"] != 1 {
		t.Fatalf("%v", found)
	}
	_, err := s.Store.Check(s.ctx(), "nobody")
	want(t, err, store.NotFound)
}

func TestCheckGivesAtMostTenExamples(t *testing.T) {
	t.Parallel()
	s := brokenStage(t, nil)
	for range 12 {
		s.Slot(t, 1)
	}
	s.Exec(t, "UPDATE slots SET taken = 1")
	if found := s.violated(""); found["I2"] != 12 {
		t.Fatalf("%v", found)
	}
}

func TestSeatsThatAreNotIdle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		edit func(*store.Policies)
		make func(*stage)
	}{
		{"while the waitlist is paused", nil, func(s *stage) {
			slot, booked := s.full(1)
			s.Join(s.t, slot, 1)
			s.pause(slot)
			s.Cancel(s.t, booked[0])
		}},
		{"while the slot is closed", nil, func(s *stage) {
			slot, booked := s.full(1)
			s.Join(s.t, slot, 1)
			s.close(slot)
			s.Cancel(s.t, booked[0])
		}},
		{"while the strict head waits for more", func(p *store.Policies) { p.Fit = store.Strict }, func(s *stage) {
			slot, booked := s.full(2)
			s.Join(s.t, slot, 2)
			s.Join(s.t, slot, 1)
			s.Cancel(s.t, booked[0])
		}},
		{"when they are open to everybody", inBroadcast, func(s *stage) { broadcastSlot(s) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, c.edit)
			c.make(s)
			s.Check(t)
		})
	}
}

func TestTheDatabaseItselfRefusesAnOversell(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot, _ := s.full(1)
	if _, err := s.Pool.Exec(s.ctx(), "UPDATE slots SET taken = 2 WHERE id = $1", slot.ID); err == nil {
		t.Fatal("two seats of one are taken")
	}
}
