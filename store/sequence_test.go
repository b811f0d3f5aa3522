package store_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

// sequence is one random walk through the protocol: the store and the model
// make the same steps side by side, while time moves.
type sequence struct {
	t      *testing.T
	rt     *rapid.T
	shop   *shop.Shop
	live   *store.Store
	slug   string
	venue  venue
	model  shopModel
	now    time.Time
	serial int
}

var sequences atomic.Int64

// between draws a number, each as often as another: rapid itself prefers small
// ones, which would make most sequences alike. It still shrinks towards the first.
func between(rt *rapid.T, least, most int, what string) int {
	n := 0
	for _, bit := range rapid.SliceOfN(rapid.Bool(), 10, 10).Draw(rt, what) {
		n *= 2
		if bit {
			n++
		}
	}
	return least + n*(most-least+1)/1024
}

func oneOf[T any](rt *rapid.T, what string, from []T) T {
	return from[between(rt, 0, len(from)-1, what)]
}

// newSequence opens a tenant of its own with random policies and two slots a
// day apart. The first is soon enough that the sequence may pass the switch to
// first come, first served, the close of booking and the start.
func newSequence(t *testing.T, rt *rapid.T, s *shop.Shop) *sequence {
	q := &sequence{t: t, rt: rt, shop: s, live: s.Store, now: time.Date(2027, 3, 2, 1, 0, 0, 0, time.UTC)}
	rules := store.DefaultPolicies()
	rules.Quiet = oneOf(rt, "quiet hours", []*store.QuietHours{nil, {From: 21 * 60, Until: 8 * 60}})
	rules.Fit = oneOf(rt, "fit", []store.Fit{store.FirstFit, store.FirstFit, store.Strict})
	rules.WaitlistMode = oneOf(rt, "mode", []store.WaitlistMode{store.Sequential, store.Sequential, store.Sequential, store.Sequential, store.Sequential, store.Broadcast, store.WaitlistNone})
	rules.OnePerPerson = between(rt, 0, 4, "several bookings per person") > 0
	rules.PartyMax = between(rt, 2, 4, "largest party")
	rules.HoldsPerVisitor = between(rt, 1, 3, "holds of a visitor")
	two := 2
	rules.WaitlistMax = oneOf(rt, "length of the list", []*int{nil, nil, nil, &two})
	rules.BookingCloses = oneOf(rt, "close of booking", []store.Duration{0, store.Duration(time.Hour)})
	rules.BroadcastBefore = oneOf(rt, "switch", []store.Duration{store.Duration(3 * time.Hour), 0})
	rules.CancelBefore = oneOf(rt, "cancel until", []store.Duration{store.Duration(24 * time.Hour), 0})

	q.slug = fmt.Sprintf("sequence-%d", sequences.Add(1))
	tenant := s.AddTenant(t, q.slug, func(p *store.Policies) { *p = rules })
	q.venue.Tenant = tenant.ID
	service, resource := s.AddService(t, tenant, "class", nil), s.AddResource(t, tenant, "studio-a")
	first := q.now.Add(oneOf(rt, "first start", []time.Duration{240 * time.Hour, 50 * time.Hour, 26 * time.Hour, 5 * time.Hour}))
	made, err := s.Store.AddSlots(t.Context(), tenant.ID, []store.NewSlot{
		{ServiceID: service.ID, ResourceID: resource.ID, StartsAt: first, Capacity: between(rt, 1, 4, "capacity")},
		{ServiceID: service.ID, ResourceID: resource.ID, StartsAt: first.Add(24 * time.Hour), Capacity: between(rt, 1, 3, "capacity")},
	})
	q.must(err)
	slices.SortFunc(made, func(a, b store.Slot) int { return strings.Compare(a.ID, b.ID) })
	for _, slot := range made {
		q.venue.Slots = append(q.venue.Slots, slot.ID)
		q.venue.First = append(q.venue.First, slot.StartsAt)
		q.model = append(q.model, newSlotModel(rules, slot.Capacity, slot.StartsAt))
	}
	return q
}

func (q *sequence) ctx() context.Context { return context.WithoutCancel(q.t.Context()) }

func (q *sequence) must(err error) {
	if err != nil {
		q.rt.Fatal(err)
	}
}

// do makes a step on both sides and demands the same answer.
func (q *sequence) do(a act) {
	a.At = q.now
	got, ids, err := q.venue.press(q.ctx(), q.live.At(q.now), q.shop.Pool, a)
	if err != nil {
		q.rt.Fatalf("%s: %v", a, err)
	}
	want := q.model.do(a, ids)
	if got != want {
		q.rt.Fatalf("%s at %s\nwas answered %+v,\nand should be %+v", a, q.now.Format(time.DateTime), got, want)
	}
	outcome := "done"
	if got.Outcome != "" {
		outcome = string(got.Outcome)
	}
	q.rt.Logf("%s: %s", a, outcome)
	seenSteps.note(a.Do, outcome)
}

// check demands the same state on both sides, and every invariant.
func (q *sequence) check(*rapid.T) {
	for i, m := range q.model {
		got, err := q.venue.look(q.ctx(), q.shop.Pool, i)
		q.must(err)
		if diff := got.anonymous().differs(m.view().anonymous()); diff != "" {
			q.rt.Fatalf("in slot %d %s", i, diff)
		}
	}
	report, err := q.live.At(q.now).Check(q.ctx(), q.slug)
	q.must(err)
	for _, invariant := range report.Invariants {
		if invariant.Violations > 0 {
			q.rt.Fatalf("%s is violated %d times: %v", invariant.ID, invariant.Violations, invariant.Examples)
		}
	}
}

func (q *sequence) key(kind string) string {
	q.serial++
	return fmt.Sprintf("%s%d", kind, q.serial)
}

func (q *sequence) slot() int { return between(q.rt, 0, len(q.model)-1, "slot") }

func (q *sequence) person() string {
	n := between(q.rt, 0, 6, "person")
	if n == 0 {
		return "" // a caller without an address
	}
	return fmt.Sprintf("p%d@example.com", n)
}

func (q *sequence) visitor() string {
	return fmt.Sprintf("visitor%d", between(q.rt, 1, 4, "visitor"))
}

func (q *sequence) staff() bool { return rapid.Bool().Draw(q.rt, "staff") }

func (q *sequence) chance(of int, what string) bool {
	return between(q.rt, 1, of, what) == of
}

// stale is the version of the terms that the page shows, most often the present one.
func (q *sequence) stale(terms int) int {
	if q.chance(12, "stale") {
		return terms - 1
	}
	return terms
}

// reservation picks a row: a live one in wanted states, if there is one and not otherwise decided.
func (q *sequence) reservation(wanted ...store.ReservationState) (slot int, r reservationModel, ok bool) {
	type found struct {
		slot int
		row  reservationModel
	}
	var all, good []found
	for i, m := range q.model {
		for _, r := range m.Reservations {
			all = append(all, found{i, r})
			if slices.Contains(wanted, r.State) {
				good = append(good, found{i, r})
			}
		}
	}
	if !q.chance(8, "any") {
		all = good
	}
	if len(all) == 0 {
		return 0, r, false
	}
	// Rows are drawn by their place, so that a saved failure can be made again.
	slices.SortStableFunc(all, func(a, b found) int { return strings.Compare(a.row.Key, b.row.Key) })
	f := oneOf(q.rt, "reservation", all)
	return f.slot, f.row, true
}

func (q *sequence) entry(wanted ...store.EntryState) (slot int, e entryModel, ok bool) {
	type found struct {
		slot int
		row  entryModel
	}
	var all, good []found
	for i, m := range q.model {
		for _, e := range m.Entries {
			all = append(all, found{i, e})
			if slices.Contains(wanted, e.State) {
				good = append(good, found{i, e})
			}
		}
	}
	if !q.chance(8, "any") {
		all = good
	}
	if len(all) == 0 {
		return 0, e, false
	}
	f := oneOf(q.rt, "entry", all)
	return f.slot, f.row, true
}

func (q *sequence) onEntry(do string, wanted ...store.EntryState) func() {
	return func() {
		slot, e, ok := q.entry(wanted...)
		if !ok {
			return
		}
		q.do(act{Do: do, Slot: slot, ID: e.ID, Key: e.Key, Terms: q.stale(q.model[slot].Terms)})
	}
}

func (q *sequence) onSlot(do string) func() {
	return func() { q.do(act{Do: do, Slot: q.slot()}) }
}

// crowd makes the slots full, with people waiting: where the protocol has something to decide.
func (q *sequence) crowd() {
	for i, m := range q.model {
		booked := m.Capacity
		if i == 1 || q.chance(4, "seats left") {
			booked = between(q.rt, 0, m.Capacity-1, "booked")
		}
		for range booked {
			q.do(act{Do: "book", Slot: i, Key: q.key("b"), Owner: "desk", Person: q.key("booked") + "@example.com", Party: 1})
		}
		for range between(q.rt, 0, 3, "waiting") {
			q.do(act{Do: "join", Slot: i, Key: q.key("e"), Person: q.key("waits") + "@example.com", Party: between(q.rt, 1, 2, "party")})
		}
	}
}

// steps are all that may happen next; the number is how often each is drawn.
// One for which nothing is there to press on does nothing.
func (q *sequence) steps() []func() {
	var all []func()
	for _, step := range []struct {
		name   string
		weight int
		do     func()
	}{
		{"hold", 5, func() {
			slot := q.slot()
			q.do(act{Do: "hold", Slot: slot, Key: q.key("h"), Owner: q.visitor(), Party: between(q.rt, 1, 4, "party"), Terms: q.stale(q.model[slot].Terms)})
		}},
		{"hold again", 1, func() {
			slot, r, ok := q.reservation(store.Held)
			if !ok {
				return
			}
			if r.Group != "" || r.Idem == "" || strings.HasPrefix(r.Idem, "b") {
				return // not by a single hold
			}
			q.do(act{Do: "hold", Slot: slot, Key: r.Idem, Owner: r.Owner, Party: r.Party, Terms: q.model[slot].Terms})
		}},
		{"hold two", 1, func() {
			q.do(act{
				Do: "hold two", Slot: 0, To: 1, Key: q.key("g"), Owner: q.visitor(), Party: between(q.rt, 1, 2, "party"),
				Terms: q.stale(q.model[0].Terms), Both: q.stale(q.model[1].Terms),
			})
		}},
		{"confirm", 5, func() {
			slot, r, ok := q.reservation(store.Held)
			if !ok {
				return
			}
			owner := r.Owner
			if q.chance(12, "not the owner") {
				owner = "somebody"
			}
			q.do(act{Do: "confirm", Slot: slot, ID: r.ID, Key: r.Key, Owner: owner, Person: q.person(), Terms: q.stale(r.Terms)})
		}},
		{"extend", 1, func() {
			slot, r, ok := q.reservation(store.Held)
			if !ok {
				return
			}
			q.do(act{Do: "extend", Slot: slot, ID: r.ID, Owner: r.Owner})
		}},
		{"release", 1, func() {
			slot, r, ok := q.reservation(store.Held)
			if !ok {
				return
			}
			q.do(act{Do: "release", Slot: slot, ID: r.ID, Owner: r.Owner})
		}},
		{"cancel", 5, func() {
			slot, r, ok := q.reservation(store.Confirmed)
			if !ok {
				return
			}
			q.do(act{Do: "cancel", Slot: slot, ID: r.ID, Staff: q.staff()})
		}},
		{"party", 2, func() {
			slot, r, ok := q.reservation(store.Confirmed)
			if !ok {
				return
			}
			q.do(act{Do: "party", Slot: slot, ID: r.ID, Party: between(q.rt, 0, 5, "party"), Staff: q.staff()})
		}},
		{"move", 2, func() {
			slot, r, ok := q.reservation(store.Confirmed)
			if !ok {
				return
			}
			to := q.slot()
			q.do(act{Do: "move", Slot: slot, To: to, ID: r.ID, Terms: q.stale(q.model[to].Terms), Staff: q.staff()})
		}},
		{"book", 2, func() {
			q.do(act{Do: "book", Slot: q.slot(), Key: q.key("b"), Owner: "desk", Person: q.person(), Party: between(q.rt, 1, 3, "party"), Extra: q.chance(3, "extra")})
		}},
		{"rebook", 1, func() {
			slot, r, ok := q.reservation(store.Cancelled)
			if !ok {
				return
			}
			q.do(act{Do: "rebook", Slot: slot, ID: r.ID, Extra: q.staff()})
		}},
		{"join", 5, func() {
			q.do(act{
				Do: "join", Slot: q.slot(), Key: q.key("e"), Person: q.person(), Party: between(q.rt, 1, 3, "party"),
				Staff: q.staff(), Untold: q.chance(5, "untold"),
			})
		}},
		{"join again", 1, func() {
			slot, e, ok := q.entry(store.Waiting)
			if !ok {
				return
			}
			if strings.HasPrefix(e.Join, "rejoin") {
				return // not by a form
			}
			q.do(act{Do: "join", Slot: slot, Key: e.Join, Person: oneOf(q.rt, "person", []string{e.Person, "other@example.com"}), Party: e.Party})
		}},
		{"rejoin", 1, q.onEntry("rejoin", store.Lapsed, store.Declined, store.Withdrawn)},
		{"withdraw", 1, q.onEntry("withdraw", store.Waiting, store.Offered)},
		{"decline", 2, q.onEntry("decline", store.Offered)},
		{"smaller", 1, func() {
			slot, e, ok := q.entry(store.Waiting)
			if !ok {
				return
			}
			q.do(act{Do: "smaller", Slot: slot, ID: e.ID, Party: between(q.rt, 0, e.Party, "party")})
		}},
		{"accept", 4, q.onEntry("accept", store.Offered)},
		{"claim", 3, q.onEntry("claim", store.Waiting)},
		{"offer", 1, q.onEntry("offer", store.Waiting)},
		{"revoke", 1, q.onEntry("revoke", store.Offered)},
		{"remove", 1, q.onEntry("remove", store.Waiting)},
		{"capacity", 2, func() {
			q.do(act{Do: "capacity", Slot: q.slot(), Party: between(q.rt, 0, 6, "capacity")})
		}},
		{"close", 1, q.onSlot("close")},
		{"reopen", 3, q.onSlot("reopen")},
		{"pause", 1, q.onSlot("pause")},
		{"resume", 2, q.onSlot("resume")},
		{"cancel slot", 1, func() {
			if !q.chance(4, "really") {
				return // too final to be done often
			}
			q.do(act{Do: "cancel slot", Slot: q.slot()})
		}},
		{"terms", 1, func() {
			shift := time.Duration(between(q.rt, -3, 3, "hours")) * time.Hour
			q.do(act{Do: "terms", Slot: q.slot(), Shift: shift})
		}},
		{"sweep", 2, func() { q.do(act{Do: "sweep"}) }},
		{"sent", 1, q.onSlot("sent")},
		{"time passes", 4, func() {
			q.now = q.now.Add(oneOf(q.rt, "so long", []time.Duration{
				time.Second, 3 * time.Minute, 6 * time.Minute, 31 * time.Minute, 36 * time.Minute, 2 * time.Hour,
			}))
		}},
		{"a deadline comes", 2, func() {
			due := q.deadlines()
			if len(due) == 0 || q.chance(6, "of the slot") {
				due = q.switches()
			}
			if len(due) == 0 {
				return // there is no deadline
			}
			q.now = oneOf(q.rt, "deadline", due).Add(oneOf(q.rt, "just", []time.Duration{0, -time.Microsecond}))
		}},
	} {
		for range step.weight {
			all = append(all, step.do)
		}
	}
	return all
}

// switches are the instants ahead at which a slot changes by itself: the earliest of each.
func (q *sequence) switches() []time.Time {
	var all []time.Time
	for _, m := range q.model {
		next := q.ahead([]time.Time{m.OrderUntil, m.closes(), m.cancelUntil(), m.Starts, m.Ends})
		all = append(all, next[:min(1, len(next))]...)
	}
	return all
}

// deadlines are the instants ahead at which a hold or an offer ends.
func (q *sequence) deadlines() []time.Time {
	var all []time.Time
	for _, m := range q.model {
		for _, r := range m.Reservations {
			if r.State == store.Held {
				all = append(all, r.Expires, r.Shown)
			}
		}
		for _, e := range m.Entries {
			if e.State == store.Offered {
				all = append(all, e.Expires, e.Shown)
			}
		}
	}
	return q.ahead(all)
}

func (q *sequence) ahead(all []time.Time) []time.Time {
	all = slices.DeleteFunc(all, func(at time.Time) bool { return !at.After(q.now.Add(time.Microsecond)) })
	slices.SortFunc(all, time.Time.Compare)
	return all
}

// Whatever is done in whatever order, at whatever time, by whatever policies: the
// store answers as the model does, stands as the model stands, and every invariant
// holds after every step. A failure is made as small as it can be and saved
// below testdata/rapid, from where it runs each time. More of it:
// go test ./store -run TestSequences -rapid.checks=10000
func TestSequences(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	rapid.Check(t, func(rt *rapid.T) {
		if between(rt, 1, 3, "walk") > 1 {
			return // rapid makes a hundred by default, which is meant for cheaper things: one in three is walked
		}
		q := newSequence(t, rt, s)
		defer func() {
			if err := s.Store.DeleteTenant(q.ctx(), q.venue.Tenant); err != nil {
				t.Error(err)
			}
		}()
		q.crowd()
		steps := q.steps()
		rt.Repeat(map[string]func(*rapid.T){"": q.check, "step": func(*rapid.T) { oneOf(rt, "step", steps)() }})
	})
	t.Log(seenSteps.String())
}

// stepTally counts what sequences have met.
type stepTally struct {
	mu   sync.Mutex
	seen map[string]int
}

var seenSteps = stepTally{seen: map[string]int{}}

func (s *stepTally) note(step, outcome string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[step+": "+outcome]++
}

func (s *stepTally) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, step := range slices.Sorted(maps.Keys(s.seen)) {
		fmt.Fprintf(&b, "%s: %d; ", step, s.seen[step])
	}
	return b.String()
}
