package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

// walk is a shop in which steps are taken at random, one after the other, while time moves.
type walk struct {
	*stage
	r      *rand.Rand
	slots  []store.Slot
	people []store.Contact
	trace  []string
}

func pick[T any](w *walk, from []T) T { return from[w.r.IntN(len(from))] }

func (w *walk) actor() store.Actor { return pick(w, []store.Actor{shop.Customer, shop.Staff}) }

func (w *walk) slot() store.Slot { return w.Read(w.t, pick(w, w.slots)) }

// reservation picks one in any state, more often a live one.
func (w *walk) reservation() (store.Reservation, bool) {
	roster, err := w.Store.Roster(w.ctx(), w.Tenant.ID, pick(w, w.slots).ID)
	w.must(err)
	if len(roster) == 0 {
		return store.Reservation{}, false
	}
	return roster[min(w.r.IntN(len(roster)), w.r.IntN(len(roster)))], true
}

func (w *walk) entry() (store.Entry, bool) {
	entries, err := w.Store.Waitlist(w.ctx(), w.Tenant.ID, pick(w, w.slots).ID, w.r.IntN(4) == 0)
	w.must(err)
	if len(entries) == 0 {
		return store.Entry{}, false
	}
	return pick(w, entries), true
}

func (w *walk) terms(id string) int {
	return w.Read(w.t, store.Slot{TenantID: w.Tenant.ID, ID: id}).TermsVersion
}

func onReservation(do func(*walk, store.Reservation) error) func(*walk) error {
	return func(w *walk) error {
		r, ok := w.reservation()
		if !ok {
			return nil
		}
		return do(w, r)
	}
}

func onEntry(do func(*walk, store.Entry) error) func(*walk) error {
	return func(w *walk) error {
		e, ok := w.entry()
		if !ok {
			return nil
		}
		return do(w, e)
	}
}

func onSlot(do func(*walk, store.SlotRequest) (store.Change, error)) func(*walk) error {
	return func(w *walk) error {
		_, err := do(w, w.slotRequest(w.slot()))
		return err
	}
}

var walkSteps = []struct {
	name   string
	weight int
	do     func(*walk) error
}{
	{"hold", 14, func(w *walk) error { return w.hold(w.slot(), 1+w.r.IntN(3)) }},
	{"hold two", 3, func(w *walk) error {
		_, err := w.Store.Hold(w.ctx(), groupRequest(w.stage, 1+w.r.IntN(2), w.Read(w.t, w.slots[0]), w.Read(w.t, w.slots[1])))
		return err
	}},
	{"confirm", 12, onReservation(func(w *walk, r store.Reservation) error {
		req := w.ConfirmRequest(r)
		req.Contact = pick(w, w.people)
		_, err := w.Store.Confirm(w.ctx(), req)
		return err
	})},
	{"extend", 2, onReservation(func(w *walk, r store.Reservation) error { _, err := w.Store.Extend(w.ctx(), w.press(r)); return err })},
	{"release", 4, onReservation(func(w *walk, r store.Reservation) error { _, err := w.Store.Release(w.ctx(), w.press(r)); return err })},
	{"cancel", 7, onReservation(func(w *walk, r store.Reservation) error { _, err := w.cancelBy(r, w.actor()); return err })},
	{"party", 4, onReservation(func(w *walk, r store.Reservation) error { _, err := w.party(r, 1+w.r.IntN(4), w.actor()); return err })},
	{"move", 4, onReservation(func(w *walk, r store.Reservation) error { _, err := w.move(r, w.slot()); return err })},
	{"contact", 2, onReservation(func(w *walk, r store.Reservation) error {
		_, err := w.Store.CorrectContact(w.ctx(), store.ContactRequest{TenantID: r.TenantID, ID: r.ID, Contact: pick(w, w.people), Actor: shop.Staff})
		return err
	})},
	{"book", 3, func(w *walk) error {
		slot := w.slot()
		req := store.BookRequest{TenantID: slot.TenantID, SlotID: slot.ID, PartySize: 1 + w.r.IntN(3), Contact: pick(w, w.people), Actor: shop.Staff}
		if w.r.IntN(3) == 0 {
			req.ExtraReason = "a regular"
		}
		_, _, err := w.Store.Book(w.ctx(), req)
		return err
	}},
	{"join", 16, func(w *walk) error {
		req := w.JoinRequest(w.slot(), 1+w.r.IntN(3))
		req.Contact = pick(w, w.people)
		_, err := w.Store.Join(w.ctx(), req)
		return err
	}},
	{"withdraw", 3, onEntry(func(w *walk, e store.Entry) error { _, err := w.Store.Withdraw(w.ctx(), w.entryPress(e)); return err })},
	{"decline", 3, onEntry(func(w *walk, e store.Entry) error { _, err := w.Store.Decline(w.ctx(), w.entryPress(e)); return err })},
	{"rejoin", 2, onEntry(func(w *walk, e store.Entry) error { _, err := w.Store.Rejoin(w.ctx(), w.entryPress(e)); return err })},
	{"smaller entry", 2, onEntry(func(w *walk, e store.Entry) error { _, err := w.entryParty(e, e.PartySize-1); return err })},
	{"accept", 6, onEntry(func(w *walk, e store.Entry) error {
		_, err := w.Store.Accept(w.ctx(), store.AcceptRequest{TenantID: e.TenantID, ID: e.ID, TermsVersion: w.terms(e.SlotID), Actor: shop.Customer})
		return err
	})},
	{"claim", 4, onEntry(func(w *walk, e store.Entry) error {
		_, err := w.Store.Claim(w.ctx(), store.AcceptRequest{TenantID: e.TenantID, ID: e.ID, TermsVersion: w.terms(e.SlotID), Actor: shop.Customer})
		return err
	})},
	{"staff offer", 3, onEntry(func(w *walk, e store.Entry) error { _, err := w.Store.OfferTo(w.ctx(), w.entryRequest(e)); return err })},
	{"revoke", 2, onEntry(func(w *walk, e store.Entry) error { _, err := w.Store.Revoke(w.ctx(), w.entryRequest(e)); return err })},
	{"remove", 2, onEntry(func(w *walk, e store.Entry) error {
		_, err := w.Store.RemoveEntry(w.ctx(), w.entryRequest(e))
		return err
	})},
	{"capacity", 3, func(w *walk) error { _, err := w.capacity(w.slot(), w.r.IntN(7)); return err }},
	{"close", 1, onSlot(func(w *walk, r store.SlotRequest) (store.Change, error) { return w.Store.CloseSlot(w.ctx(), r) })},
	{"reopen", 7, onSlot(func(w *walk, r store.SlotRequest) (store.Change, error) { return w.Store.ReopenSlot(w.ctx(), r) })},
	{"pause", 2, onSlot(func(w *walk, r store.SlotRequest) (store.Change, error) { return w.Store.PauseWaitlist(w.ctx(), r) })},
	{"resume", 4, onSlot(func(w *walk, r store.SlotRequest) (store.Change, error) { return w.Store.ResumeWaitlist(w.ctx(), r) })},
	{"terms", 2, func(w *walk) error {
		slot := w.slot()
		shift := time.Duration(w.r.IntN(7)-3) * time.Hour
		_, err := w.Store.ChangeTerms(w.ctx(), store.TermsRequest{
			TenantID: slot.TenantID, SlotID: slot.ID, StartsAt: slot.StartsAt.Add(shift), EndsAt: slot.EndsAt.Add(shift), Actor: shop.Staff,
		})
		return err
	}},
	{"policies", 1, func(w *walk) error {
		_, err := w.Store.ChangePolicies(w.ctx(), w.Tenant.ID, w.Service.ID, []byte(pick(w, []string{
			`{"fit":"strict"}`, `{"fit":"first_fit"}`, `{"waitlistMode":"broadcast"}`, `{"waitlistMode":"sequential"}`, `{"onePerPerson":false}`, `{"bookingCloses":"2h0m0s"}`, `{}`,
		})), shop.Staff)
		return err
	}},
	{"sweep", 4, func(w *walk) error { _, err := w.Store.Sweep(w.ctx()); return err }},
	{"time passes", 8, func(w *walk) error {
		w.until(w.now().Add(pick(w, []time.Duration{time.Second, 3 * time.Minute, 6 * time.Minute, 31 * time.Minute, 36 * time.Minute, 3 * time.Hour})))
		return nil
	}},
}

func (w *walk) step(total int) error {
	n := w.r.IntN(total)
	for _, step := range walkSteps {
		if n -= step.weight; n >= 0 {
			continue
		}
		err := step.do(w)
		w.trace = append(w.trace, fmt.Sprintf("%s: %v", step.name, err))
		var refused store.Outcome
		if errors.As(err, &refused) {
			return nil
		}
		return err
	}
	return nil
}

// Whatever is done in whatever order, every invariant holds after every single
// step, nothing is answered with an error, and no seat is left between two chairs.
func TestARandomWalkKeepsEveryInvariantAtEveryStep(t *testing.T) {
	t.Parallel()
	total := 0
	for _, step := range walkSteps {
		total += step.weight
	}
	for seed, edit := range []func(*store.Policies){
		nil,
		func(p *store.Policies) { p.Fit = store.Strict },
		inBroadcast,
		func(p *store.Policies) { p.OnePerPerson = false },
		func(p *store.Policies) {
			p.Fit, p.Quiet = store.Strict, &store.QuietHours{From: 21 * 60, Until: 8 * 60}
		},
		func(p *store.Policies) { p.BookingCloses, p.BroadcastBefore = store.Duration(time.Hour), 0 },
	} {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			w := &walk{stage: newStage(t, edit), r: rand.New(rand.NewPCG(uint64(seed), 1))}
			w.Start = w.begin.Add(26 * time.Hour) // so that the walk passes the switch, the close and the start
			w.slots = []store.Slot{w.Slot(t, 3), w.SlotAt(t, 2, w.Start.Add(30*time.Hour))}
			for range 9 {
				w.people = append(w.people, w.Person())
			}
			w.people[0].Email = "" // a caller without an address
			for range 150 {
				err := w.step(total)
				if err == nil {
					w.Check(t)
					w.inOrder()
				}
				if err != nil || t.Failed() {
					for _, line := range w.trace {
						t.Log(line)
					}
					t.Fatal(err)
				}
			}
		})
	}
}
