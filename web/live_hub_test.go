package web

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/store"
)

// script is a database that answers as it is told, and counts its statements.
type script struct {
	mu     sync.Mutex
	slots  map[string]store.Slot
	queue  []int64
	pulse  int64
	broken bool
	reads  int // of slots
	asked  int // slots asked for, in the last of them
	queues int
}

var errBroken = errors.New("broken")

func (s *script) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *script) count() (reads, queues int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reads, s.queues
}

func (s *script) SlotsOf(_ context.Context, refs []store.SlotRef) ([]store.Slot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	s.asked = len(refs)
	if s.broken {
		return nil, errBroken
	}
	var found []store.Slot
	for _, ref := range refs {
		if slot, ok := s.slots[ref.SlotID]; ok {
			slot.TenantID, slot.ID = ref.TenantID, ref.SlotID
			found = append(found, slot)
		}
	}
	return found, nil
}

func (s *script) Queues(_ context.Context, refs []store.SlotRef) ([]store.Queue, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queues++
	var all []store.Queue
	for _, ref := range refs {
		all = append(all, store.Queue{TenantID: ref.TenantID, SlotID: ref.SlotID, Positions: s.queue})
	}
	return all, nil
}

func (s *script) Moments(context.Context, []store.SlotRef) ([]store.Moment, error) { return nil, nil }

func (s *script) WatchedDays(_ context.Context, refs []store.DayRef) ([]store.WatchedDay, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []store.WatchedDay
	for _, ref := range refs {
		all = append(all, store.WatchedDay{TenantID: ref.TenantID, FromAt: ref.From, ToAt: ref.To, Pulse: s.pulse, Slots: []string{"a", "b"}})
	}
	return all, nil
}

func scripted(t *testing.T) (*script, *hub) {
	t.Helper()
	s := &script{slots: map[string]store.Slot{"a": {Version: 1, SeatsLeft: 2}, "b": {Version: 1, SeatsLeft: 2}}}
	h := newHub(s, slog.New(slog.DiscardHandler), 0)
	t.Cleanup(func() {
		h.close()
		synctest.Wait()
	})
	return s, h
}

// pass lets time go by in the bubble of a test.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

var (
	slotA = topic{tenant: "t", slot: "a"}
	slotB = topic{tenant: "t", slot: "b"}
	today = topic{tenant: "t", from: 0, to: 86400}
)

func open(t *testing.T, h *hub, on topic, queue bool) *viewer {
	t.Helper()
	v, err := h.watch(on, "192.0.2.1", queue)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// told reports whether the viewer has news, and takes them.
func (v *viewer) told() bool {
	select {
	case <-v.signal:
		return true
	default:
		return false
	}
}

func TestManyViewersCostWhatOneCosts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, h := scripted(t)
		var all []*viewer
		for i := range 1000 {
			on := slotA
			if i%2 == 1 {
				on = slotB
			}
			all = append(all, open(t, h, on, false))
		}
		pass(3 * pollLeast)
		if reads, _ := s.count(); reads > 2 || s.asked != 2 {
			t.Errorf("%d reads of %d slots to begin with", reads, s.asked)
		}
		for _, v := range all {
			if state := v.state(); !v.told() || state == nil || state.slot.SeatsLeft != 2 {
				t.Fatal("a viewer was not told of the first state")
			}
		}
		pass(pollLeast)
		before, _ := s.count()
		pass(10 * pollEvery)
		if reads, _ := s.count(); reads-before != 10 {
			t.Errorf("%d reads in ten polls", reads-before)
		}
		for _, v := range all {
			if v.told() {
				t.Fatal("a viewer was told of nothing new")
			}
			v.leave()
		}
		synctest.Wait()
		before, _ = s.count()
		pass(10 * pollEvery)
		h.changed([]store.SlotRef{slotA.slotRef()})
		pass(time.Second)
		if reads, _ := s.count(); reads != before || h.running || len(h.topics) != 0 || len(h.addresses) != 0 {
			t.Errorf("read %d times for nobody", reads-before)
		}
	})
}

func TestANotificationIsQuickAndAPollIsSure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, h := scripted(t)
		a, b := open(t, h, slotA, false), open(t, h, slotB, false)
		pass(time.Second)
		a.told()
		b.told()
		s.set(func() { s.slots["a"] = store.Slot{Version: 2} })
		h.changed([]store.SlotRef{slotA.slotRef(), {TenantID: "t", SlotID: "nobody looks"}})
		pass(pollLeast)
		if !a.told() || b.told() || a.state().slot.Version != 2 || a.state().since != a.state().slot.Now {
			t.Error("a notification did not reach the viewer of its slot alone")
		}
		// Nobody tells of this one.
		s.set(func() { s.slots["b"] = store.Slot{Version: 2} })
		pass(pollEvery + pollLeast)
		if !b.told() || a.told() {
			t.Error("the poll did not find what changed")
		}
		// A rush is read a few times a second.
		before, _ := s.count()
		for i := range 1000 {
			s.set(func() { s.slots["a"] = store.Slot{Version: int64(3 + i)} })
			h.changed([]store.SlotRef{slotA.slotRef()})
			pass(time.Millisecond)
		}
		synctest.Wait()
		if reads, _ := s.count(); reads-before > 7 {
			t.Errorf("%d reads in a second of changes", reads-before)
		}
		a.leave()
		b.leave()
	})
}

func TestAQueueIsReadOnlyWhereItChanged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, h := scripted(t)
		s.queue = []int64{3, 5}
		plain, waiting := open(t, h, slotA, false), open(t, h, slotA, true)
		pass(10 * pollEvery)
		if _, queues := s.count(); queues != 1 {
			t.Errorf("the queue was read %d times", queues)
		}
		if state := waiting.state(); state == nil || len(state.queue) != 2 {
			t.Fatalf("state %v", state)
		}
		s.set(func() { s.queue, s.slots["a"] = []int64{5}, store.Slot{Version: 2, SeatsLeft: 2} })
		pass(2 * pollEvery)
		if _, queues := s.count(); queues != 2 || len(waiting.state().queue) != 1 {
			t.Errorf("read %d times: %v", queues, waiting.state().queue)
		}
		plain.leave()
		waiting.leave()
	})
}

func TestADayTicksForItsSlotsOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, h := scripted(t)
		v := open(t, h, today, false)
		pass(time.Second)
		if !v.told() || v.state() == nil {
			t.Fatal("no first state")
		}
		h.changed([]store.SlotRef{{TenantID: "t", SlotID: "another day's"}, {TenantID: "other", SlotID: "a"}})
		pass(time.Second)
		if v.told() {
			t.Error("told of another day")
		}
		// A booking confirmed changes no version: the notification alone tells of it.
		h.changed([]store.SlotRef{{TenantID: "t", SlotID: "b"}})
		pass(time.Second)
		if !v.told() {
			t.Error("not told of its own slot")
		}
		s.set(func() { s.pulse++ })
		pass(pollEvery + pollLeast)
		if !v.told() {
			t.Error("the poll did not find a new slot")
		}
		v.leave()
	})
}

func TestAReadThatFailsIsMadeUpFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, h := scripted(t)
		s.broken = true
		v := open(t, h, slotA, false)
		pass(3 * pollEvery)
		if v.told() || v.state() != nil {
			t.Error("told of what could not be read")
		}
		s.set(func() { s.broken = false })
		pass(pollEvery + pollLeast)
		if !v.told() || v.state() == nil {
			t.Error("not told afterwards")
		}
		v.leave()
	})
}

func TestStreamsAreLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, h := scripted(t)
		h.perAddress, h.inAll = 2, 3
		one, two := open(t, h, slotA, false), open(t, h, slotA, false)
		if _, err := h.watch(slotA, "192.0.2.1", false); !errors.Is(err, errTooManyStreams) {
			t.Errorf("a third of one address: %v", err)
		}
		other, err := h.watch(slotA, "192.0.2.2", false)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.watch(slotA, "192.0.2.3", false); !errors.Is(err, errTooManyStreams) {
			t.Errorf("a fourth in all: %v", err)
		}
		one.leave()
		one.leave() // leaving twice gives no second place
		again := open(t, h, slotA, false)
		if _, err := h.watch(slotA, "192.0.2.1", false); !errors.Is(err, errTooManyStreams) {
			t.Errorf("a third once more: %v", err)
		}
		h.close()
		if _, err := h.watch(slotA, "192.0.2.4", false); !errors.Is(err, errHubEnded) {
			t.Errorf("after the end: %v", err)
		}
		for _, v := range []*viewer{two, other, again} {
			v.leave()
		}
	})
}
