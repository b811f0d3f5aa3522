package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

// stage is a shop whose clock the test moves. Every step and read happens at
// the chosen instant, so deadlines are exact and nothing has to be waited for.
type stage struct {
	*shop.Shop
	t     *testing.T
	live  *store.Store // on the database's own clock
	begin time.Time
	due   bool // slots of holdWith begin with a hold that is due: then the slot is locked, swept and judged again
}

// newStage opens a shop at a fixed instant: Tuesday, 2 March 2027, 10:00 in Tokyo.
func newStage(t *testing.T, edit func(*store.Policies)) *stage {
	t.Helper()
	s := &stage{Shop: shop.New(t, edit), t: t, begin: time.Date(2027, 3, 2, 1, 0, 0, 0, time.UTC)}
	s.live = s.Store
	s.Start = s.begin.Add(240 * time.Hour)
	s.at(0)
	t.Cleanup(s.inOrder)
	return s
}

// What the invariants don't ask, and every slot transaction has to leave so. Cancelled slots have nothing to keep.
const inOrderSQL = `
SELECT 'slot ' || s.id || ' kept ' || s.kept FROM slots s
WHERE s.order_until > $1 AND s.status <> 'cancelled' AND s.kept <> EXISTS (
	SELECT 1 FROM waitlist_entries e WHERE e.slot_id = s.id AND e.state = 'waiting'
		AND e.party_size <= CASE s.fit WHEN 'strict' THEN s.capacity ELSE s.capacity - s.taken END)
UNION ALL
SELECT 'entry ' || e.id || ' at ' || e.position FROM waitlist_entries e
WHERE NOT EXISTS (SELECT 1 FROM events v WHERE v.slot_id = e.slot_id AND v.subject_id = e.id AND v.kind = 'joined' AND v.number = e.position)
UNION ALL
SELECT 'extra seats of ' || r.id FROM reservations r
WHERE r.extra_seats > r.party_size OR (r.extra_seats > 0 AND r.state = 'held')
UNION ALL
SELECT 'event ' || v.id || ' of kind ' || v.kind FROM events v
WHERE (v.number IS NULL) <> (v.kind = 'refused_late' OR (v.kind = 'confirmed' AND v.actor NOT LIKE 'staff%')) OR (v.number IS NULL AND v.seats <> 0)
UNION ALL
SELECT 'message ' || o.id || ' has the cause of another' FROM outbox o
WHERE o.event_number IS NOT NULL AND NOT EXISTS (SELECT 1 FROM events v WHERE v.slot_id = o.slot_id AND v.number = o.event_number)`

func (s *stage) inOrder() {
	rows, err := s.Pool.Query(s.ctx(), inOrderSQL, s.now())
	s.must(err)
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	s.must(err)
	for _, line := range found {
		s.t.Error(line)
	}
}

func (s *stage) now() time.Time {
	s.t.Helper()
	now, err := s.Store.Now(s.ctx())
	s.must(err)
	return now
}

// at moves the clock to so long after the beginning.
func (s *stage) at(d time.Duration) { s.until(s.begin.Add(d)) }

// until moves the clock to an instant.
func (s *stage) until(instant time.Time) { s.Store = s.live.At(instant) }

func (s *stage) ctx() context.Context { return context.WithoutCancel(s.t.Context()) }

func (s *stage) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) press(r store.Reservation) store.OwnerPress {
	return store.OwnerPress{Press: store.Press{TenantID: r.TenantID, ID: r.ID, Actor: shop.Customer}, Owner: r.Owner}
}

func (s *stage) entryPress(e store.Entry) store.Press {
	return store.Press{TenantID: e.TenantID, ID: e.ID, Actor: shop.Customer}
}

func (s *stage) hold(slot store.Slot, party int) error {
	_, err := s.Store.Hold(s.ctx(), s.HoldRequest(slot, party))
	return err
}

func (s *stage) accept(e store.Entry) (store.Reservation, error) {
	return s.Store.Accept(s.ctx(), store.AcceptRequest{TenantID: e.TenantID, ID: e.ID, TermsVersion: 1, Actor: shop.Customer})
}

func (s *stage) claim(e store.Entry) (store.Reservation, error) {
	return s.Store.Claim(s.ctx(), store.AcceptRequest{TenantID: e.TenantID, ID: e.ID, TermsVersion: 1, Actor: shop.Customer})
}

func (s *stage) entryRequest(e store.Entry) store.EntryRequest {
	return store.EntryRequest{TenantID: e.TenantID, ID: e.ID, Reason: "asked by phone", Actor: shop.Staff}
}

func (s *stage) slotRequest(slot store.Slot) store.SlotRequest {
	return store.SlotRequest{TenantID: slot.TenantID, SlotID: slot.ID, Reason: "a reason", Actor: shop.Staff}
}

func (s *stage) capacity(slot store.Slot, n int) (store.Change, error) {
	return s.Store.ChangeCapacity(s.ctx(), store.CapacityRequest{TenantID: slot.TenantID, SlotID: slot.ID, Capacity: n, Actor: shop.Staff})
}

func (s *stage) move(r store.Reservation, target store.Slot) (store.Reservation, error) {
	return s.Store.Move(s.ctx(), store.MoveRequest{TenantID: r.TenantID, ID: r.ID, TargetSlot: target.ID, TargetTerms: target.TermsVersion, Actor: shop.Customer})
}

func (s *stage) party(r store.Reservation, n int, actor store.Actor) (store.Reservation, error) {
	changed, _, err := s.Store.ChangeParty(s.ctx(), store.PartyRequest{TenantID: r.TenantID, ID: r.ID, PartySize: n, Actor: actor})
	return changed, err
}

func (s *stage) cancelBy(r store.Reservation, actor store.Actor) (store.Change, error) {
	return s.Store.Cancel(s.ctx(), store.CancelRequest{TenantID: r.TenantID, IDs: []string{r.ID}, Actor: actor})
}

func (s *stage) sweep() store.SweepReport {
	s.t.Helper()
	report, err := s.Store.Sweep(s.ctx())
	s.must(err)
	return report
}

func (s *stage) pause(slot store.Slot) {
	s.t.Helper()
	_, err := s.Store.PauseWaitlist(s.ctx(), s.slotRequest(slot))
	s.must(err)
}

func (s *stage) close(slot store.Slot) {
	s.t.Helper()
	_, err := s.Store.CloseSlot(s.ctx(), s.slotRequest(slot))
	s.must(err)
}

// full makes a slot that is booked out by parties of one, and gives the bookings.
func (s *stage) full(capacity int) (store.Slot, []store.Reservation) {
	s.t.Helper()
	slot := s.Slot(s.t, capacity)
	var booked []store.Reservation
	for range capacity {
		booked = append(booked, s.Book(s.t, slot, 1))
	}
	return slot, booked
}

// offered makes a full slot of one whose booking is cancelled while somebody waits: the entry is offered the seat.
func (s *stage) offered() (store.Slot, store.Entry) {
	s.t.Helper()
	slot, booked := s.full(1)
	e := s.Join(s.t, slot, 1)
	s.Cancel(s.t, booked[0])
	return slot, s.Entry(s.t, e)
}

func (s *stage) entryState(e store.Entry, state store.EntryState) store.Entry {
	s.t.Helper()
	got := s.Entry(s.t, e)
	if got.State != state {
		s.t.Fatalf("the entry is %s, not %s", got.State, state)
	}
	return got
}

func (s *stage) reservationState(r store.Reservation, state store.ReservationState) store.Reservation {
	s.t.Helper()
	got := s.Reservation(s.t, r)
	if got.State != state {
		s.t.Fatalf("the reservation is %s, not %s", got.State, state)
	}
	return got
}

func (s *stage) taken(slot store.Slot, n int) store.Slot {
	s.t.Helper()
	got := s.Read(s.t, slot)
	if got.Taken != n {
		s.t.Fatalf("taken is %d, not %d", got.Taken, n)
	}
	return got
}

func (s *stage) kept(slot store.Slot) bool {
	s.t.Helper()
	var kept bool
	s.must(s.Pool.QueryRow(s.ctx(), "SELECT kept FROM slots WHERE id = $1", slot.ID).Scan(&kept))
	return kept
}

// mark remembers where history and outbox of a slot stand.
type mark struct {
	s        *stage
	slot     store.Slot
	event    int64
	messages map[string]bool
}

func (s *stage) mark(slot store.Slot) *mark {
	s.t.Helper()
	m := &mark{s: s, slot: slot, messages: map[string]bool{}}
	s.must(s.Pool.QueryRow(s.ctx(), "SELECT coalesce(max(id), 0) FROM events").Scan(&m.event))
	for _, message := range s.mails(slot) {
		m.messages[message.ID] = true
	}
	return m
}

func (s *stage) mails(slot store.Slot) []store.Message {
	s.t.Helper()
	messages, err := s.Store.Messages(s.ctx(), store.MessageQuery{TenantID: slot.TenantID, SlotID: slot.ID, Limit: 500})
	s.must(err)
	return messages
}

// newEvents lists what happened since the mark, oldest first, as "kind seats actor"; "~" is before those without a number.
func (m *mark) newEvents() []string {
	m.s.t.Helper()
	history, err := m.s.Store.History(m.s.ctx(), m.slot.TenantID, m.slot.ID, 0, 1000)
	m.s.must(err)
	slices.Reverse(history)
	lines := []string{}
	for _, e := range history {
		if e.ID <= m.event {
			continue
		}
		actor, _, _ := strings.Cut(e.Actor, ":")
		line := fmt.Sprintf("%s %+d %s", e.Kind, e.Seats, actor)
		if e.Number == nil {
			line = "~" + line
		}
		lines = append(lines, line)
	}
	return lines
}

// events demands exactly these new events, in order.
func (m *mark) events(want ...string) {
	m.s.t.Helper()
	if got := m.newEvents(); !slices.Equal(got, want) {
		m.s.t.Fatalf("events\n got %q\nwant %q", got, want)
	}
}

// mail demands exactly these new outbox rows, each as "kind recipient", in any order.
func (m *mark) mail(want ...string) {
	m.s.t.Helper()
	got := []string{}
	for _, message := range m.s.mails(m.slot) {
		if !m.messages[message.ID] {
			got = append(got, string(message.Kind)+" "+message.Recipient)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		m.s.t.Fatalf("messages\n got %q\nwant %q", got, want)
	}
}

// nothing demands that neither history nor outbox has grown.
func (m *mark) nothing() {
	m.s.t.Helper()
	m.events()
	m.mail()
}

// refusal is a case of a table: what is prepared, what is then refused.
type refusal struct {
	name string
	want store.Outcome
	edit func(*store.Policies)
	step func(s *stage) error
}

// refusals runs the cases, each in a shop of its own. That no invariant suffers is checked at the end of each.
func refusals(t *testing.T, cases []refusal) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, c.edit)
			if err := c.step(s); !errors.Is(err, c.want) {
				t.Fatalf("got %v, want %v", err, c.want)
			}
		})
	}
}
