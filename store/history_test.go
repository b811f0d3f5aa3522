package store_test

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"golang.org/x/sys/unix"

	"holdfast/store"
	"holdfast/store/storetest"
	"holdfast/store/storetest/shop"
	"holdfast/store/strategy"
)

// A history is what clients in several programs asked and were answered, with
// the instants of asking and answering. It is linearizable if the presses can be
// put into one order, in which each stands between its two instants, so that the
// model of one slot (model_test.go), pressed in that order, gives the same answers.
// Presses that overlap may stand in either order, and nothing else is forgiven.
//
// Time moves by presses, too: what has a deadline is put past it by an
// operator's SQL, at an instant that all see. Where an answer was lost, because a
// connection was cut or a program killed, the press may have happened or not: the
// model goes on with both. A history that could not be decided in time has failed.

// In the model a history has one instant: deadlines are ahead, until an operator puts them into the past.
var historyTime = time.Date(2027, 3, 2, 1, 0, 0, 0, time.UTC)

// pressed is one press of a history.
type pressed struct {
	Client int       `json:"client"`
	Act    act       `json:"act"`
	Answer answer    `json:"answer,omitzero"`
	Look   *slotView `json:"look,omitempty"` // what a look saw
	// Unknown: the answer was lost. Error is what the client saw instead of one.
	Unknown bool   `json:"unknown,omitempty"`
	Error   string `json:"error,omitempty"`
	// Instants of the machine's monotonic clock, in nanoseconds, so that they can be compared between processes.
	Call   int64 `json:"call"`
	Return int64 `json:"return"`
}

// ticks reads the clock that all processes of a machine share and nobody sets.
func ticks() int64 {
	var at unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &at); err != nil {
		panic(err)
	}
	return at.Nano()
}

// looked reports whether the state may be what a look has seen, and gives the
// state in which rows that nobody knew the id of have one.
func (m *slotModel) looked(saw slotView) (*slotModel, bool) {
	c := m.clone()
	for _, row := range saw.Reservations {
		if c.reservation(row.ID, row.Key) == nil {
			return nil, false
		}
	}
	for _, row := range saw.Entries {
		e := c.entry(row.ID, row.Key)
		if e == nil {
			return nil, false
		}
		if e.Booked == "" {
			e.Booked = row.Booked
		}
	}
	return c, c.view().public().differs(saw.public()) == ""
}

// public leaves away what is the protocol's own affair: exact instants, and marks for the sweep.
func (v slotView) public() slotView {
	v.Head.Starts, v.Head.Order = 0, 0
	v.Reservations, v.Entries = slices.Clone(v.Reservations), slices.Clone(v.Entries)
	for i := range v.Reservations {
		r := &v.Reservations[i]
		r.Key, r.Mark, r.Shown, r.Expires = "", false, 0, 0
	}
	for i := range v.Entries {
		e := &v.Entries[i]
		e.Shown, e.Expires = 0, 0
	}
	return v
}

// slotHistoryModel is the model of one slot as porcupine asks for it.
func slotHistoryModel(begin *slotModel) porcupine.Model {
	model := porcupine.NondeterministicModel{
		Init: func() []any { return []any{begin} },
		Step: func(state, in, out any) []any {
			m, p := state.(*slotModel), out.(pressed)
			if p.Act.Do == "look" {
				if seen, ok := m.looked(*p.Look); ok {
					return []any{seen}
				}
				return nil
			}
			var next []any
			if p.Unknown {
				next = append(next, m)
			}
			a := in.(act)
			for _, a.choice = range m.choices(a) {
				n := m.clone()
				if got := n.do(a, p.Answer.ID, 0); p.Unknown || got == p.Answer {
					next = append(next, n)
				}
			}
			return next
		},
		Equal: func(a, b any) bool { return a.(*slotModel).equal(b.(*slotModel)) },
		Hash:  func(state any) uint64 { return state.(*slotModel).hash() },
		DescribeOperation: func(_, out any) string {
			p := out.(pressed)
			switch {
			case p.Unknown:
				return p.Act.String() + " → ?"
			case p.Look != nil:
				return "look → " + p.Look.String()
			case p.Answer.Outcome != "":
				return p.Act.String() + " → " + string(p.Answer.Outcome)
			}
			return p.Act.String() + " → done " + p.Answer.ID
		},
		DescribeState: func(state any) string { return state.(*slotModel).String() },
	}
	return model.ToModel()
}

// history is what happened in one venue.
type history struct {
	Venue   venue        `json:"venue"`
	Begin   []*slotModel `json:"begin"`
	Presses []pressed    `json:"presses"`
}

// ofSlot are the presses on a slot; the sweeper comes to each.
func (h *history) ofSlot(slot int) []porcupine.Operation {
	var ops []porcupine.Operation
	for _, p := range h.Presses {
		if p.Act.Slot == slot || p.Act.Do == "sweep" {
			p.Act.At, p.Act.call, p.Act.answered = historyTime, p.Call, p.Return
			ops = append(ops, porcupine.Operation{ClientId: p.Client, Input: p.Act, Output: p, Call: p.Call, Return: p.Return})
		}
	}
	return ops
}

// undecidedAfter bounds the search for an order in one slot.
const undecidedAfter = 2 * time.Minute

// judge looks for an order of the presses on each slot.
func (h *history) judge() (porcupine.CheckResult, int, porcupine.LinearizationInfo) {
	for slot, begin := range h.Begin {
		if result, info := porcupine.CheckOperationsVerbose(slotHistoryModel(begin), h.ofSlot(slot), undecidedAfter); result != porcupine.Ok {
			return result, slot, info
		}
	}
	return porcupine.Ok, 0, porcupine.LinearizationInfo{}
}

var (
	historyRounds = flag.Int("history.rounds", 8, "how many histories TestHistories makes")
	historyFor    = flag.Duration("history.for", 0, "make histories for so long, however many; 0: as many as -history.rounds says")
	historySeed   = flag.Uint64("history.seed", 0, "seed of the clients of TestHistories; 0: a new one")
	historySaved  = flag.String("history.saved", "", "a saved history to judge instead of making some")
	historyFolder = flag.String("history.folder", "", "where histories that fail are saved and drawn; empty: a new folder for temporary files")
)

// demand fails the test where the history has no order, with the history and a drawing of it on disk.
func (h *history) demand(t *testing.T) {
	t.Helper()
	result, slot, info := h.judge()
	if result == porcupine.Ok {
		return
	}
	folder := *historyFolder
	var err error
	if folder == "" {
		folder, err = os.MkdirTemp("", "history-")
	} else {
		err = os.MkdirAll(folder, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.MarshalIndent(h, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "history.json"), raw, 0o644); err != nil {
		t.Fatal(err)
	}
	drawing := filepath.Join(folder, fmt.Sprintf("slot-%d.html", slot))
	if err := porcupine.VisualizePath(slotHistoryModel(h.Begin[slot]), info, drawing); err != nil {
		t.Fatal(err)
	}
	t.Fatalf("no order of the presses on slot %d explains their answers (%s); the history and a drawing are in %s\n%s", slot, result, folder, stuck(h.ofSlot(slot), info))
}

// stuck tells where the longest order ends, and which presses could not come next.
func stuck(all []porcupine.Operation, info porcupine.LinearizationInfo) string {
	var longest []porcupine.Operation
	for _, partition := range info.PartialLinearizationsOperations() {
		for _, order := range partition {
			if len(order) > len(longest) {
				longest = order
			}
		}
	}
	type key struct {
		client int
		call   int64
	}
	placed := map[key]bool{}
	for _, op := range longest {
		placed[key{op.ClientId, op.Call}] = true
	}
	rest := slices.DeleteFunc(slices.Clone(all), func(op porcupine.Operation) bool { return placed[key{op.ClientId, op.Call}] })
	slices.SortFunc(rest, func(a, b porcupine.Operation) int { return cmp.Compare(a.Return, b.Return) })
	var b strings.Builder
	model := slotHistoryModel(nil)
	line := func(op porcupine.Operation) {
		fmt.Fprintf(&b, "  client %d, %d to %d: %s\n", op.ClientId, op.Call, op.Return, model.DescribeOperation(op.Input, op.Output))
	}
	fmt.Fprintf(&b, "the longest order has %d of %d presses and ends with\n", len(longest), len(all))
	for _, op := range longest[max(0, len(longest)-6):] {
		line(op)
	}
	b.WriteString("and then there are\n")
	for _, op := range rest[:min(8, len(rest))] {
		line(op)
	}
	return b.String()
}

// A history that was saved can be judged again, after the model or the protocol has changed.
func judgeSaved(t *testing.T, file string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var h history
	if err := json.Unmarshal(raw, &h); err != nil {
		t.Fatal(err)
	}
	h.demand(t)
}

// historyVenue opens a tenant with two small slots.
func historyVenue(t *testing.T, s *shop.Shop, slug string, capacities []int, edit func(*store.Policies)) *history {
	t.Helper()
	var rules store.Policies
	tenant := s.AddTenant(t, slug, func(p *store.Policies) {
		p.HoldsPerVisitor = 1000 // a courtesy that reads other slots
		if edit != nil {
			edit(p)
		}
		rules = *p
	})
	service, resource := s.AddService(t, tenant, "class", nil), s.AddResource(t, tenant, "studio-a")
	h := &history{Venue: venue{Tenant: tenant.ID}}
	for i, capacity := range capacities {
		made, err := s.Store.AddSlots(t.Context(), tenant.ID, []store.NewSlot{
			{ServiceID: service.ID, ResourceID: resource.ID, StartsAt: s.Start.Add(time.Duration(i) * 24 * time.Hour), Capacity: capacity},
		})
		if err != nil {
			t.Fatal(err)
		}
		h.Venue.Slots = append(h.Venue.Slots, made[0].ID)
		h.Venue.First = append(h.Venue.First, made[0].StartsAt)
		h.Begin = append(h.Begin, newSlotModel(rules, capacity, historyTime.Add(240*time.Hour)))
	}
	return h
}

// historyClient presses what comes to its mind, on what it has last seen.
type historyClient struct {
	number int
	venue  venue
	r      *rand.Rand
	seen   map[int]*slotView
	last   act // its last hold
	serial int
}

func draw[T any](r *rand.Rand, from []T) (T, bool) {
	if len(from) == 0 {
		var none T
		return none, false
	}
	return from[r.IntN(len(from))], true
}

// historySteps are the presses of a client and how often each is made.
var historySteps = []struct {
	do     string
	weight int
	on     []string // the states of the row that it is about; nil: none
}{
	{"hold", 12, nil},
	{"hold again", 2, nil},
	{"confirm", 12, []string{"held"}},
	{"extend", 2, []string{"held"}},
	{"release", 3, []string{"held"}},
	{"cancel", 8, []string{"confirmed", "held"}},
	{"party", 4, []string{"confirmed"}},
	{"book", 4, nil},
	{"rebook", 1, []string{"cancelled"}},
	{"join", 12, nil},
	{"rejoin", 1, []string{"lapsed", "declined", "withdrawn"}},
	{"withdraw", 2, []string{"waiting", "offered"}},
	{"decline", 3, []string{"offered"}},
	{"accept", 8, []string{"offered"}},
	{"claim", 4, []string{"waiting"}},
	{"offer", 2, []string{"waiting"}},
	{"revoke", 1, []string{"offered"}},
	{"remove", 1, []string{"waiting"}},
	{"smaller", 1, []string{"waiting"}},
	{"capacity", 3, nil},
	{"close", 1, nil},
	{"reopen", 4, nil},
	{"pause", 1, nil},
	{"resume", 4, nil},
	{"terms", 1, nil},
	{"sweep", 3, nil},
	{"expire", 3, nil},
	{"switch", 1, nil},
	{"sent", 1, nil},
}

// next is the client's next press.
func (c *historyClient) next() act {
	a := act{Slot: c.r.IntN(len(c.venue.Slots)), Do: "look"}
	seen := c.seen[a.Slot]
	if seen == nil || c.r.IntN(10) == 0 {
		return a
	}
	total := 0
	for _, step := range historySteps {
		total += step.weight
	}
	n := c.r.IntN(total)
	i := 0
	for ; n >= historySteps[i].weight; i++ {
		n -= historySteps[i].weight
	}
	step := historySteps[i]
	a.Do, a.Terms = step.do, seen.Head.Terms
	if c.r.IntN(30) == 0 {
		a.Terms--
	}
	a.Staff = c.r.IntN(2) == 0
	a.Party = 1 + c.r.IntN(2)
	person := fmt.Sprintf("p%d@example.com", 1+c.r.IntN(9))
	c.serial++
	key := fmt.Sprintf("c%d-%d", c.number, c.serial)
	if step.on != nil {
		var rows, entries []int
		for i, r := range seen.Reservations {
			if slices.Contains(step.on, r.State) {
				rows = append(rows, i)
			}
		}
		for i, e := range seen.Entries {
			if slices.Contains(step.on, e.State) {
				entries = append(entries, i)
			}
		}
		row, found := draw(c.r, rows)
		entry, waits := draw(c.r, entries)
		switch {
		case found:
			r := seen.Reservations[row]
			a.ID, a.Key, a.Owner = r.ID, r.Key, r.Owner
		case waits:
			e := seen.Entries[entry]
			a.ID, a.Key = e.ID, e.Key
		default: // nothing to press on: it looks again
			return act{Slot: a.Slot, Do: "look"}
		}
	}
	switch step.do {
	case "hold":
		a.Key, a.Owner = key, key
		c.last = a
	case "hold again":
		if c.last.Do == "" {
			return act{Slot: a.Slot, Do: "look"}
		}
		return c.last
	case "confirm":
		a.Person = person
	case "book":
		a.Key, a.Owner, a.Person, a.Extra = key, key, person, c.r.IntN(4) == 0
	case "rebook":
		a.Extra = c.r.IntN(2) == 0
	case "join":
		a.Key, a.Person, a.Untold = key, person, c.r.IntN(6) == 0
	case "capacity":
		a.Party = 1 + c.r.IntN(4)
	case "party":
		a.Party = 1 + c.r.IntN(3)
	case "smaller":
		a.Party = 1
	case "terms":
		a.Shift = time.Duration(1+c.r.IntN(50)) * time.Minute
	case "sweep":
		a.Slot = 0
	}
	return a
}

func idOfKey(t *testing.T, s *shop.Shop, key string) string {
	var id string
	if err := s.Pool.QueryRow(t.Context(), "SELECT id::text FROM reservations WHERE idempotency_key = $1 ORDER BY created_at DESC LIMIT 1", key).Scan(&id); err != nil {
		t.Error(err)
	}
	return id
}

// A program reads, decides and writes; two at once sell one seat twice. The
// histories of the ways that are broken have no order, those of the sound ones have:
// so the judge can say no, and says it for the right reason.
func TestTheNaiveWayHasNoOrder(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	t.Cleanup(func() { // what was broken on purpose is taken away before the invariants are computed
		for _, sql := range []string{"DELETE FROM reservations", "UPDATE slots SET taken = 0, version = 0"} {
			if _, err := s.Pool.Exec(context.WithoutCancel(t.Context()), sql); err != nil {
				t.Error(err)
			}
		}
	})
	for _, way := range strategy.Holds {
		t.Run(way.Name, func(t *testing.T) {
			h := historyVenue(t, s, "way-"+way.Name, []int{2}, nil)
			seats := 1
			if way.Name != "ignore-conflict" {
				seats = 2 // one party of two, or the other
			}
			var mu sync.Mutex
			note := func(p pressed) {
				mu.Lock()
				defer mu.Unlock()
				p.Return = ticks()
				h.Presses = append(h.Presses, p)
			}
			barrier := storetest.Barrier(2)
			var wg sync.WaitGroup
			for client := range 2 {
				wg.Go(func() {
					key := fmt.Sprint(way.Name, client)
					if way.Name == "ignore-conflict" {
						key = way.Name
					}
					p := pressed{Client: client, Act: act{Do: "hold", Key: key, Owner: "strategy", Party: seats, Terms: 1}, Call: ticks()}
					held, err := way.Hold(t.Context(), s.Pool, strategy.Request{TenantID: h.Venue.Tenant, SlotID: h.Venue.Slots[0], Party: seats, Key: key}, barrier)
					switch {
					case err == strategy.ErrStale || (err == nil && !held): //nolint:errorlint // exactly this
						p.Answer.Outcome = store.SoldOut
					case err != nil:
						t.Error(err)
					default:
						p.Answer.State = string(store.Held)
						p.Answer.ID = idOfKey(t, s, key)
					}
					note(p)
				})
			}
			wg.Wait()
			saw, err := h.Venue.look(t.Context(), s.Pool, 0)
			if err != nil {
				t.Fatal(err)
			}
			note(pressed{Act: act{Do: "look"}, Look: &saw, Call: ticks()})
			result, _, _ := h.judge()
			if sound := result == porcupine.Ok; sound != way.Sound {
				t.Fatalf("%s: %s\n%+v", way.Name, result, h.Presses)
			}
		})
	}
}
