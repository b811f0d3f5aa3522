package store

import (
	"maps"
	"slices"
	"sync"
)

// setAside keeps the slots that a sweep could not do from being tried in each
// pass, where they would take the place of others. It counts in passes, not in
// time: after the n-th failure in a row a slot is left out of 2^n - 1 passes, at most 63.
type setAside struct {
	mu    sync.Mutex
	slots map[string]waitingOut
}

type waitingOut struct {
	failures int
	passes   int // still to be left out of
}

// pass begins a pass and gives the slots that it leaves out.
func (a *setAside) pass() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := []string{}
	for _, slot := range slices.Collect(maps.Keys(a.slots)) {
		w := a.slots[slot]
		if w.passes == 0 {
			continue
		}
		w.passes--
		a.slots[slot] = w
		out = append(out, slot)
	}
	return out
}

func (a *setAside) failed(slot string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.slots == nil {
		a.slots = map[string]waitingOut{}
	}
	failures := min(a.slots[slot].failures+1, 6)
	a.slots[slot] = waitingOut{failures, 1<<failures - 1}
}

func (a *setAside) done(slot string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.slots, slot)
}
