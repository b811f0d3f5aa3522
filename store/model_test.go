package store_test

import (
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"time"

	"holdfast/store"
)

// This file is the protocol once more, as simply as it can be said: a slot is
// a few numbers, a list of reservations and a queue; a step is a function that
// changes them, one after the other, without a database, locks or SQL. Sequences
// (sequence_test.go) walk it beside the store, one step at a time, and demand
// the same answer and the same state after each. Histories (history_test.go)
// are what many clients did at once; they hold if some order of the presses
// leads the model through the same answers.
//
// It says what a step does, not how it is done safely. An instant is an argument
// of each step; nothing here looks at a clock.

// act is a press: what somebody asks of a slot. Not every field has a meaning in every step.
type act struct {
	Do     string        `json:"do"`
	Slot   int           `json:"slot"`
	ID     string        `json:"id,omitempty"`  // the reservation or the entry that the press is about
	Key    string        `json:"key,omitempty"` // of what is made by the press; or of the row that ID names
	Owner  string        `json:"owner,omitempty"`
	Person string        `json:"person,omitempty"` // e-mail; empty: none
	Party  int           `json:"party,omitempty"`
	Staff  bool          `json:"staff,omitempty"`
	Extra  bool          `json:"extra,omitempty"`  // staff have a reason to add seats
	Untold bool          `json:"untold,omitempty"` // does not want to be told of vacancies
	Terms  int           `json:"terms,omitempty"`  // as the page showed them
	To     int           `json:"to,omitempty"`     // the slot moved to, or held with the first
	Both   int           `json:"both,omitempty"`   // the terms of the second of two slots
	Shift  time.Duration `json:"shift,omitempty"`  // of the start and the end against the first ones
	At     time.Time     `json:"at,omitzero"`

	// Of a press in a history: when it was made and answered, and what the
	// protocol leaves open to presses at the same moment.
	call, answered int64
	choice         choice
}

func (a act) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s slot %d", a.Do, a.Slot)
	for _, part := range []struct {
		name  string
		value any
		zero  bool
	}{
		{"id", a.ID, a.ID == ""},
		{"key", a.Key, a.Key == ""},
		{"owner", a.Owner, a.Owner == ""},
		{"person", a.Person, a.Person == ""},
		{"party", a.Party, a.Party == 0},
		{"staff", a.Staff, !a.Staff},
		{"extra", a.Extra, !a.Extra},
		{"untold", a.Untold, !a.Untold},
		{"terms", a.Terms, a.Terms == 0},
		{"both", a.Both, a.Both == 0},
		{"to", a.To, a.Do != "move" && a.Do != "hold two"},
		{"shift", a.Shift, a.Shift == 0},
	} {
		if !part.zero {
			fmt.Fprintf(&b, " %s=%v", part.name, part.value)
		}
	}
	return b.String()
}

// answer is what a press is told: a refusal, or the row that it is about.
type answer struct {
	Outcome store.Outcome `json:"outcome,omitempty"` // empty: done
	ID      string        `json:"id,omitempty"`      // of the reservation or the entry that the step gave
	State   string        `json:"state,omitempty"`   // the state that it gave it in
}

// reservationModel is a party's seats.
type reservationModel struct {
	ID, Key    string // ID is empty while nobody knows it: its making was never answered
	Owner      string
	Idem       string // idempotency key, while it counts
	Print      string // of the request that the key stands for
	Person     string // e-mail, from the contact
	PersonKey  string // one booking per person: the person that it counts for
	Named      bool   // has a contact
	Once       bool   // one booking per person was the rule when its terms were last written
	Party      int
	Extra      int
	State      store.ReservationState
	Shown      time.Time
	Expires    time.Time
	Terms      int
	TermsFirst int // when it was held
	Extended   bool
	Group      string
	GroupSize  int
	Mark       bool  // confirmed while its person has an entry here: the next sweep closes that
	Since      int64 // when its confirming was answered
}

// known gives the row its id, where its making was not answered but a repeated press is.
func (r *reservationModel) known(id string) *reservationModel {
	if r != nil && r.ID == "" {
		r.ID = id
	}
	return r
}

func (r *reservationModel) live() bool { return r.State == store.Held || r.State == store.Confirmed }

// entryModel is a party in the queue.
type entryModel struct {
	ID, Key string
	Join    string // idempotency key of the joining
	Person  string
	Party   int
	State   store.EntryState
	Shown   time.Time
	Expires time.Time
	Reason  string
	Booked  string // the reservation that it became
	Untold  bool
	Unsent  bool  // its last vacancy is still in the outbox
	Told    int   // vacancies
	Since   int64 // when its joining was answered
}

func (e *entryModel) known(id string) *entryModel {
	if e != nil && e.ID == "" {
		e.ID = id
	}
	return e
}

func (e *entryModel) live() bool { return e.State == store.Waiting || e.State == store.Offered }

// headModel is the slot's own row.
type headModel struct {
	Rules         store.Policies
	Starts, Ends  time.Time
	OrderUntil    time.Time // zero: order never rules
	Capacity      int
	Taken         int
	Terms         int
	Status        store.SlotStatus
	Paused        bool
	Kept          bool
	EntriesClosed bool  // it has begun, and the queue was sent home
	Passed        int64 // when time was last let pass
}

// slotModel is a slot with all that is in it.
type slotModel struct {
	headModel
	First        time.Time // the start that it was made with
	Reservations []reservationModel
	Entries      []entryModel // by position
}

func newSlotModel(rules store.Policies, capacity int, starts time.Time) *slotModel {
	m := &slotModel{First: starts, headModel: headModel{Rules: rules, Starts: starts, Ends: starts.Add(time.Hour), Capacity: capacity, Terms: 1, Status: store.SlotOpen}}
	m.setOrder()
	return m
}

func (m *slotModel) clone() *slotModel {
	c := *m
	c.Reservations, c.Entries = slices.Clone(m.Reservations), slices.Clone(m.Entries)
	return &c
}

func (m *slotModel) equal(o *slotModel) bool {
	return m.headModel == o.headModel && slices.Equal(m.Reservations, o.Reservations) && slices.Equal(m.Entries, o.Entries)
}

var modelSeed = maphash.MakeSeed()

func (m *slotModel) hash() uint64 {
	h := maphash.Comparable(modelSeed, m.headModel)
	for _, r := range m.Reservations {
		h = h*31 + maphash.Comparable(modelSeed, r)
	}
	for _, e := range m.Entries {
		h = h*31 + maphash.Comparable(modelSeed, e)
	}
	return h
}

func (m *slotModel) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d/%d", m.Status, m.Taken, m.Capacity)
	for name, on := range map[string]bool{" paused": m.Paused, " kept": m.Kept} {
		if on {
			b.WriteString(name)
		}
	}
	for _, r := range m.Reservations {
		if r.live() {
			fmt.Fprintf(&b, " [%s %s %d]", r.Key, r.State, r.Party)
		}
	}
	for _, e := range m.Entries {
		if e.live() {
			fmt.Fprintf(&b, " (%s %s %d)", e.Key, e.State, e.Party)
		}
	}
	return b.String()
}

func (m *headModel) opens() time.Time       { return m.Starts.Add(-m.Rules.BookingOpens.D()) }
func (m *headModel) closes() time.Time      { return m.Starts.Add(-m.Rules.BookingCloses.D()) }
func (m *headModel) cancelUntil() time.Time { return m.Starts.Add(-m.Rules.CancelBefore.D()) }
func (m *headModel) free() int              { return m.Capacity - m.Taken }

// setOrder: seats go by order until the earlier of the switch to broadcast and
// the last moment that leaves the least time for an answer.
func (m *headModel) setOrder() {
	m.OrderUntil = time.Time{}
	if m.Rules.WaitlistMode == store.Sequential {
		m.OrderUntil = m.Starts.Add(-m.Rules.BroadcastBefore.D())
		if least := m.closes().Add(-m.Rules.LeastAnswer.D()); least.Before(m.OrderUntil) {
			m.OrderUntil = least
		}
	}
}

func (m *headModel) orderRules(at time.Time) bool { return m.OrderUntil.After(at) }

// hasSeats: free ones, and not kept for somebody who waits.
func (m *headModel) hasSeats(n int, at time.Time) bool {
	return !(m.Kept && m.orderRules(at)) && n <= m.free()
}

// open: it takes new parties now.
func (m *headModel) open(at time.Time) error {
	switch {
	case m.Status != store.SlotOpen:
		return store.Closed
	case at.Before(m.opens()):
		return store.TooEarly
	case !at.Before(m.closes()):
		return store.TooLate
	}
	return nil
}

// passes: it gives out seats by itself now.
func (m *headModel) passes(at time.Time) bool {
	return m.Status == store.SlotOpen && !m.Paused && at.Before(m.closes())
}

// reservation finds a row that a press is about. Where its making was never
// answered, its key tells which it is, and from now on its id is known.
func (m *slotModel) reservation(id, key string) *reservationModel {
	for i := range m.Reservations {
		if r := &m.Reservations[i]; id != "" && r.ID == id {
			return r
		}
	}
	for i := range slices.Backward(m.Reservations) {
		if r := &m.Reservations[i]; r.ID == "" && r.Key == key {
			r.ID = id
			return r
		}
	}
	return nil
}

func (m *slotModel) entry(id, key string) *entryModel {
	for i := range m.Entries {
		if e := &m.Entries[i]; id != "" && e.ID == id {
			return e
		}
	}
	for i := range slices.Backward(m.Entries) {
		if e := &m.Entries[i]; e.ID == "" && e.Key == key {
			e.ID = id
			return e
		}
	}
	return nil
}

func (m *slotModel) add(r reservationModel) *reservationModel {
	r.Terms, r.TermsFirst, r.Once = m.Terms, m.Terms, m.Rules.OnePerPerson
	if r.State == store.Confirmed && r.Once {
		r.PersonKey = r.Person
	}
	at, _ := slices.BinarySearchFunc(m.Reservations, r, func(have, add reservationModel) int {
		return cmp.Or(cmp.Compare(have.Key, add.Key), -1) // behind its equals
	})
	m.Reservations = slices.Insert(m.Reservations, at, r)
	return &m.Reservations[at]
}

// bookedHere: the person has a booking here, and one is allowed.
func (t *stepModel) bookedHere(person string) bool {
	return t.Rules.OnePerPerson && t.booked(person)
}

func (t *stepModel) booked(person string) bool {
	return t.bookedAs(person, t.press.choice == blind, t.press)
}

// bookedAs: a booking counts for the person. Confirming needs no lock, so a step
// may not have seen one that was made at the same moment.
func (m *slotModel) bookedAs(person string, blind bool, a act) bool {
	return person != "" && slices.ContainsFunc(m.Reservations, func(r reservationModel) bool {
		return r.State == store.Confirmed && r.PersonKey == person && !(blind && r.Since >= a.call)
	})
}

func (m *slotModel) waitsHere(person string) bool {
	return person != "" && slices.ContainsFunc(m.Entries, func(e entryModel) bool { return e.live() && e.Person == person })
}

// stepModel is a slot under its lock: a step changes it, then passes on.
type stepModel struct {
	*slotModel
	at      time.Time
	press   act
	was     headModel
	exempt  map[string]bool
	ended   map[string]bool // entries that the sweep has ended
	offered map[string]bool // entries that were offered seats
	resized map[string]int
	changes int
}

func (m *slotModel) begin(a act) *stepModel {
	return &stepModel{
		slotModel: m, at: a.At, press: a, was: m.headModel, exempt: map[string]bool{}, ended: map[string]bool{}, offered: map[string]bool{}, resized: map[string]int{},
	}
}

// locked is a step under the lock. Refused or not, it ends with passing on.
func (m *slotModel) locked(a act, f func(t *stepModel) error) error {
	t := m.begin(a)
	err := f(t)
	t.passOn()
	return err
}

// sweepOnly closes what is past its enforced deadline, and the entries of people who have booked here.
func (t *stepModel) sweepOnly() {
	unseen := t.press.choice == blind || t.press.choice == blindSweep
	for i := range t.Reservations {
		r := &t.Reservations[i]
		if r.State == store.Held && !r.Expires.After(t.at) && !t.exempt[r.ID] {
			t.endSeats(r, store.ExpiredR)
		}
		r.Mark = r.Mark && unseen && r.Since >= t.press.call
	}
	for i := range t.Entries {
		e := &t.Entries[i]
		if e.State == store.Offered && !e.Expires.After(t.at) && !t.exempt[e.ID] {
			t.endEntry(e, store.Lapsed, "")
			t.ended[e.ID] = true
		}
	}
	for i := range t.Entries {
		if e := &t.Entries[i]; e.live() && t.bookedAs(e.Person, unseen, t.press) {
			t.endEntry(e, store.EntryClosed, "booked")
			t.ended[e.ID] = true
		}
	}
}

func (t *stepModel) sweep() {
	before := t.changes
	t.sweepOnly()
	if t.changes > before || (t.Kept && !t.orderRules(t.at)) {
		t.offerInOrder()
	}
}

// endSeats ends a reservation. Seats that were added for it go with it.
func (t *stepModel) endSeats(r *reservationModel, state store.ReservationState) {
	extra := min(r.Extra, r.Party)
	t.Capacity -= extra
	t.Taken -= r.Party
	r.State, r.PersonKey, r.Idem = state, "", ""
	t.changes++
}

func (t *stepModel) endEntry(e *entryModel, state store.EntryState, reason string) {
	if e.State == store.Offered {
		t.Taken -= e.Party
	}
	e.State, e.Reason = state, reason
	t.changes++
}

func (t *stepModel) offer(e *entryModel) {
	quiet := t.Rules.Quiet
	e.Shown = store.OfferDeadline(t.at, t.Rules.OfferShown.D(), quiet, tokyo, t.closes())
	e.Expires = e.Shown.Add(t.Rules.OfferGrace.D())
	e.State = store.Offered
	t.Taken += e.Party
	t.offered[e.ID] = true
	t.changes++
}

// next is the waiting entry whose turn it is.
func (t *stepModel) next() *entryModel {
	for i := range t.Entries {
		e := &t.Entries[i]
		room := t.free()
		if t.Rules.Fit == store.Strict {
			room = t.Capacity
		}
		if e.State == store.Waiting && e.Party <= room {
			return e
		}
	}
	return nil
}

// offerInOrder gives the free seats to those who wait, while order rules; what
// is left is kept if somebody who waits has a claim on it.
func (t *stepModel) offerInOrder() {
	t.Kept = false
	if !t.orderRules(t.at) || t.Status == store.SlotCancelled {
		return
	}
	for t.passes(t.at) && t.free() > 0 {
		e := t.next()
		if e == nil {
			break
		}
		if t.booked(e.Person) {
			t.endEntry(e, store.EntryClosed, "booked")
			t.ended[e.ID] = true
			continue
		}
		if e.Party > t.free() {
			break // strict: nobody passes the head
		}
		t.offer(e)
	}
	room := t.free()
	if t.Rules.Fit == store.Strict {
		room = t.Capacity
	}
	for _, e := range t.Entries {
		t.Kept = t.Kept || (e.State == store.Waiting && e.Party <= room)
	}
}

func (t *stepModel) passOn() {
	t.offerInOrder()
	if t.orderRules(t.at) || !t.passes(t.at) || t.free() <= 0 {
		return
	}
	before := t.was.free()
	if t.was.Kept || t.was.orderRules(t.at) || !t.was.passes(t.at) {
		before = 0
	}
	for i := range t.Entries {
		e := &t.Entries[i]
		was, resized := t.resized[e.ID]
		if !resized {
			was = e.Party
		}
		if e.State == store.Waiting && !e.Untold && !e.Unsent && e.Party <= t.free() && was > before {
			e.Unsent = e.Person != "" // a caller without an address has no message that could be on its way
			e.Told++
		}
	}
}

// holdDeadline: no shown deadline is set past the close of booking.
func (m *headModel) holdDeadline(at time.Time) time.Time {
	shown := at.Add(m.Rules.HoldShown.D())
	if closes := m.closes(); shown.After(closes) {
		shown = closes
	}
	return shown
}

func (m *slotModel) addHold(a act, id string) *reservationModel {
	shown := m.holdDeadline(a.At)
	m.Taken += a.Party
	return m.add(reservationModel{
		ID: id, Key: a.Key, Owner: a.Owner, Idem: a.Key, Print: fmt.Sprint(a.Owner, " ", a.Party), Party: a.Party, State: store.Held,
		Shown: shown, Expires: shown.Add(m.Rules.HoldGrace.D()),
	})
}

// judgeHold names the first condition that a hold fails.
func (m *headModel) judgeHold(a act, terms, party, holds int) error {
	if err := m.open(a.At); err != nil {
		return err
	}
	switch {
	case terms != m.Terms:
		return store.TermsChanged
	case party > m.Rules.PartyMax:
		return store.PartyTooLarge
	case holds >= m.Rules.HoldsPerVisitor:
		return store.TooManyHolds
	case !m.hasSeats(party, a.At):
		return store.SoldOut
	}
	return nil
}

// byKey is the live reservation that a key stands for, unless it is due.
func (m *slotModel) byKey(key, print string, at time.Time) (*reservationModel, error) {
	for i := range m.Reservations {
		r := &m.Reservations[i]
		if key == "" || r.Idem != key || !r.live() || (r.State == store.Held && !r.Expires.After(at)) {
			continue
		}
		if r.Print != print {
			return nil, store.KeyReused
		}
		return r, nil
	}
	return nil, nil
}

// due: there is something for the sweep.
func (m *slotModel) due(at time.Time) bool {
	for _, r := range m.Reservations {
		if (r.State == store.Held && !r.Expires.After(at)) || r.Mark {
			return true
		}
	}
	return m.offerDue(at)
}

func (m *slotModel) offerDue(at time.Time) bool {
	return slices.ContainsFunc(m.Entries, func(e entryModel) bool { return e.State == store.Offered && !e.Expires.After(at) })
}

func (m *slotModel) holdDue(at time.Time) bool {
	return slices.ContainsFunc(m.Reservations, func(r reservationModel) bool { return r.State == store.Held && !r.Expires.After(at) })
}

// hold: where nothing is due it is judged as the slot stands, and a refusal changes
// nothing. Else the slot is swept first. With blind, it has not seen what has just become due.
func (m *slotModel) hold(a act, id string, holds int) (*reservationModel, error) {
	blind := a.choice == unseen
	print := fmt.Sprint(a.Owner, " ", a.Party)
	if r, err := m.byKey(a.Key, print, a.At); r != nil || err != nil {
		return r, err
	}
	if blind || !(m.holdDue(a.At) || m.offerDue(a.At)) {
		refused := m.judgeHold(a, a.Terms, a.Party, holds)
		if refused == nil {
			return m.addHold(a, id), nil
		}
		if blind || !m.due(a.At) && !(m.Kept && !m.orderRules(a.At)) {
			return nil, refused
		}
	}
	var held *reservationModel
	err := m.locked(a, func(t *stepModel) error {
		t.sweep()
		refused := t.judgeHold(a, a.Terms, a.Party, holds)
		if refused == nil {
			held = t.addHold(a, id)
		}
		return refused
	})
	return held, err
}

// confirm is judged on the hold's own row, without the lock.
func (m *slotModel) confirm(r *reservationModel, a act) error {
	switch {
	case r.Owner != a.Owner:
		return store.NotOwner
	case r.State == store.Confirmed:
		return nil
	case r.State == store.ExpiredR || (r.State == store.Held && !r.Expires.After(a.At)):
		return store.Expired
	case r.State != store.Held:
		return store.Over
	case r.Terms != a.Terms:
		return store.TermsChanged
	case r.Once && m.bookedAs(a.Person, false, a):
		return store.AlreadyBooked
	}
	r.State, r.Person, r.Named, r.Since = store.Confirmed, a.Person, true, a.answered
	if r.Once {
		r.PersonKey = a.Person
		r.Mark = a.choice != unseen && m.waitsHere(a.Person)
	}
	return nil
}

func (t *stepModel) extend(r *reservationModel) error {
	switch {
	case r.State == store.ExpiredR || (r.State == store.Held && !r.Expires.After(t.at)):
		t.sweep()
		return store.Expired
	case r.State == store.Confirmed:
		return store.Conflict
	case r.State != store.Held:
		return store.Over
	case r.Extended:
		return store.NotExtendable
	}
	t.exempt[r.ID] = true
	t.sweep()
	if slices.ContainsFunc(t.Entries, func(e entryModel) bool { return e.live() }) {
		return store.NotExtendable
	}
	return nil
}

func (t *stepModel) extended(r *reservationModel) {
	if shown := t.holdDeadline(t.at); shown.After(r.Shown) {
		r.Shown = shown
	}
	r.Expires, r.Extended = r.Shown.Add(t.Rules.HoldGrace.D()), true
	t.changes++
}

func (t *stepModel) cancel(r *reservationModel, staff bool) error {
	switch {
	case r.State == store.Confirmed:
		if !staff && !t.at.Before(t.cancelUntil()) {
			return store.TooLate
		}
	case r.State == store.Held && staff:
		t.exempt[r.ID] = true
	case r.State == store.Cancelled:
		t.sweep()
		return nil
	default:
		return store.Over
	}
	t.sweep()
	if r.State == store.Held {
		t.endSeats(r, store.Released)
	} else {
		t.endSeats(r, store.Cancelled)
	}
	return nil
}

func (t *stepModel) party(r *reservationModel, n int, staff bool) error {
	switch {
	case r.State != store.Confirmed:
		return store.Over
	case n < 1:
		return store.PartyTooLarge
	}
	t.sweep()
	more := n - r.Party
	if more < 0 && !staff && !t.at.Before(t.cancelUntil()) {
		return store.TooLate
	}
	if more > 0 {
		err := t.open(t.at)
		switch {
		case err != nil && !staff:
			return err
		case n > t.Rules.PartyMax && !staff:
			return store.PartyTooLarge
		case t.Status == store.SlotCancelled:
			return store.Closed
		case !t.hasSeats(more, t.at):
			return store.SoldOut
		}
	}
	extra := min(r.Extra, max(0, -more)) // seats that were added for it go first
	r.Extra -= extra
	t.Capacity -= extra
	t.Taken += more
	r.Party = n
	return nil
}

// book is a booking by staff in one press.
func (m *slotModel) book(a act, id string) (*reservationModel, error) {
	a.Owner = "staff:" + a.Owner
	print := fmt.Sprint(a.Owner, " ", a.Party)
	var booked *reservationModel
	err := m.locked(a, func(t *stepModel) (err error) {
		if booked, err = t.byKey(a.Key, print, a.At); booked != nil || err != nil {
			return err
		}
		t.sweep()
		if t.Status == store.SlotClosed && !a.Extra {
			return store.Closed
		}
		booked, err = t.bookNow(a, id, print)
		return err
	})
	return booked, err
}

func (t *stepModel) bookNow(a act, id, print string) (*reservationModel, error) {
	switch {
	case t.Status == store.SlotCancelled:
		return nil, store.Closed
	case !t.at.Before(t.Ends):
		return nil, store.TooLate
	case a.Party < 1:
		return nil, store.PartyTooLarge
	case t.bookedHere(a.Person):
		return nil, store.AlreadyBooked
	}
	missing := 0
	if !t.hasSeats(a.Party, t.at) {
		missing = a.Party
		if !(t.Kept && t.orderRules(t.at)) {
			missing -= t.free()
		}
		if !a.Extra {
			return nil, store.SoldOut
		}
	}
	t.Capacity += missing
	t.Taken += a.Party
	at := t.add(reservationModel{
		ID: id, Key: a.Key, Owner: a.Owner, Idem: a.Key, Print: print, Person: a.Person, Named: true, Party: a.Party, Extra: missing, State: store.Confirmed,
	})
	t.changes++
	t.sweepOnly() // an entry of the same person has nothing more to wait for
	return at, nil
}

// rebook undoes a cancelling: the same party is booked again, once.
func (m *slotModel) rebook(r reservationModel, a act, id string) (*reservationModel, error) {
	again := a
	again.Key, again.Owner, again.Party, again.Person = "rebook "+r.ID, "rebook:"+r.ID, r.Party, r.Person
	print := fmt.Sprint(again.Owner, " ", again.Party)
	var booked *reservationModel
	err := m.locked(a, func(t *stepModel) (err error) {
		if booked, err = t.byKey(again.Key, print, a.At); booked != nil || err != nil {
			return err
		}
		if r.State != store.Cancelled || !r.Named {
			return store.Over
		}
		t.sweep()
		booked, err = t.bookNow(again, id, print)
		return err
	})
	return booked, err
}

func (m *slotModel) join(a act, id string) (*entryModel, error) {
	var joined *entryModel
	join := cmp.Or(a.Owner, a.Key) // for a rejoin, its own
	err := m.locked(a, func(t *stepModel) error {
		for i := range t.Entries {
			e := &t.Entries[i]
			if e.Join != join {
				continue
			}
			if e.Person != a.Person {
				return store.KeyReused
			}
			joined = e
			return nil
		}
		if err := t.open(a.At); err != nil {
			return err
		}
		t.sweep()
		waiting := 0
		for _, e := range t.Entries {
			if e.State == store.Waiting {
				waiting++
			}
		}
		switch {
		case t.Rules.WaitlistMode == store.WaitlistNone:
			return store.WaitlistOff
		case a.Party < 1 || a.Party > t.Capacity || (a.Party > t.Rules.PartyMax && !a.Staff):
			return store.PartyTooLarge
		case t.bookedHere(a.Person):
			return store.AlreadyBooked
		case t.waitsHere(a.Person):
			return store.AlreadyWaiting
		case t.hasSeats(a.Party, a.At):
			return store.SeatsFree
		case t.Rules.WaitlistMax != nil && waiting >= *t.Rules.WaitlistMax:
			return store.WaitlistFull
		}
		t.Entries = append(t.Entries, entryModel{ID: id, Key: a.Key, Join: join, Person: a.Person, Party: a.Party, State: store.Waiting, Untold: a.Untold, Since: a.answered})
		joined = &t.Entries[len(t.Entries)-1]
		t.changes++
		return nil
	})
	return joined, err
}

// rejoin puts somebody whose entry has ended at the end of the queue again.
func (m *slotModel) rejoin(e *entryModel, a act, id string) (*entryModel, error) {
	if e.live() && !(e.State == store.Offered && !e.Expires.After(a.At)) {
		return e, store.AlreadyWaiting
	}
	joins := a
	joins.Key, joins.Owner, joins.Person, joins.Party, joins.Untold, joins.Staff = e.Key, "rejoin "+e.ID, e.Person, e.Party, e.Untold, false
	again, err := m.join(joins, id)
	if err == nil && !again.live() && again.State != store.Accepted {
		return m.rejoin(again, a, id) // an old link: the entry that it led to has ended, too
	}
	return again, err
}

// bookEntry makes the booking of an entry, and ends it with that.
func (t *stepModel) bookEntry(e *entryModel, id string) *reservationModel {
	e.State, e.Booked = store.Accepted, id
	t.changes++
	return t.add(reservationModel{ID: id, Key: "entry:" + e.Key, Owner: "entry:" + e.ID, Person: e.Person, Named: true, Party: e.Party, State: store.Confirmed})
}

// accepted is the booking that the entry has become: a repeated press is shown it.
func (t *stepModel) accepted(e *entryModel, id string) (*reservationModel, error) {
	if e.Booked == "" {
		e.Booked = id
	}
	return t.reservation(e.Booked, "entry:"+e.Key), nil
}

func (t *stepModel) accept(e *entryModel, a act, id string) (*reservationModel, error) {
	switch {
	case e.State == store.Accepted:
		return t.accepted(e, id)
	case e.State == store.Lapsed || (e.State == store.Offered && !e.Expires.After(t.at)):
		t.sweep()
		return nil, store.Expired
	case e.State == store.EntryClosed && e.Reason == "booked":
		return nil, store.AlreadyBooked
	case e.State != store.Offered:
		return nil, store.Over
	case a.Terms != t.Terms:
		return nil, store.TermsChanged
	}
	t.exempt[e.ID] = true
	t.sweep()
	if t.ended[e.ID] {
		return nil, store.AlreadyBooked
	}
	return t.bookEntry(e, id), nil
}

func (t *stepModel) claim(e *entryModel, a act, id string) (*reservationModel, error) {
	switch {
	case e.State == store.Accepted:
		return t.accepted(e, id)
	case e.State == store.EntryClosed && e.Reason == "booked":
		return nil, store.AlreadyBooked
	case e.State != store.Waiting:
		return nil, store.Over
	}
	t.sweep()
	if t.ended[e.ID] {
		return nil, store.AlreadyBooked
	}
	if err := t.open(t.at); err != nil {
		return nil, err
	}
	switch {
	case t.orderRules(t.at):
		return nil, store.OrderRules
	case a.Terms != t.Terms:
		return nil, store.TermsChanged
	case !t.hasSeats(e.Party, t.at):
		return nil, store.SoldOut
	case t.bookedHere(e.Person):
		return nil, store.AlreadyBooked
	}
	t.Taken += e.Party
	return t.bookEntry(e, id), nil
}

// offerTo: staff choose, before anybody else.
func (t *stepModel) offerTo(e *entryModel) error {
	switch {
	case e.State == store.Offered:
		return nil
	case e.State != store.Waiting:
		return store.Over
	case t.Status != store.SlotOpen:
		return store.Closed
	case !t.at.Before(t.closes()):
		return store.TooLate
	}
	t.sweepOnly()
	switch {
	case t.ended[e.ID] || t.bookedHere(e.Person):
		return store.AlreadyBooked
	case e.Party > t.free():
		return store.SoldOut
	}
	t.offer(e)
	return nil
}

// takeOff: staff revoke an offer, or take a waiting party off the list.
func (t *stepModel) takeOff(e *entryModel, from store.EntryState) error {
	switch {
	case e.State == store.Withdrawn:
		return nil
	case e.State != from:
		return store.Over
	}
	t.exempt[e.ID] = true
	t.sweepOnly()
	if !t.ended[e.ID] {
		t.endEntry(e, store.Withdrawn, "")
	}
	return nil
}

// leave: a party withdraws, or declines what it is offered.
func (t *stepModel) leave(e *entryModel, decline bool) error {
	t.exempt[e.ID] = true
	if decline && e.State == store.Waiting {
		return store.Over
	}
	t.sweepOnly()
	switch {
	case !e.live() || t.ended[e.ID]:
	case e.State == store.Offered:
		t.endEntry(e, store.Declined, "")
	default:
		t.endEntry(e, store.Withdrawn, "")
	}
	return nil
}

func (t *stepModel) smaller(e *entryModel, n int) error {
	switch {
	case e.State != store.Waiting:
		return store.Over
	case n == e.Party:
		t.sweep()
		return nil
	case n < 1 || n > e.Party:
		return store.PartyTooLarge
	}
	t.sweep()
	switch {
	case t.ended[e.ID]:
		return store.AlreadyBooked
	case t.offered[e.ID]:
		return store.Over
	}
	t.resized[e.ID] = e.Party
	e.Party = n
	t.changes++
	return nil
}

func (t *stepModel) setCapacity(n int) error {
	t.sweepOnly()
	switch {
	case n < t.Taken:
		return store.BelowTaken
	case n == t.Capacity:
		return nil
	}
	for i := range t.Reservations {
		if r := &t.Reservations[i]; r.live() {
			r.Extra = 0 // they are ordinary seats now
		}
	}
	t.Capacity = n
	return nil
}

// turn: close, reopen, pause, resume.
func (t *stepModel) turn(set func()) error {
	if t.Status == store.SlotCancelled {
		return store.Closed
	}
	t.sweepOnly()
	set()
	return nil
}

func (t *stepModel) cancelSlot() error {
	if t.Status == store.SlotCancelled {
		return nil
	}
	t.sweepOnly()
	t.Status = store.SlotCancelled
	for i := range t.Reservations {
		if r := &t.Reservations[i]; r.live() {
			t.endSeats(r, store.Cancelled)
		}
	}
	for i := range t.Entries {
		if e := &t.Entries[i]; e.live() {
			t.endEntry(e, store.EntryClosed, "slot_cancelled")
		}
	}
	return nil
}

// changeTerms changes the time of the slot: who holds has to agree anew.
func (t *stepModel) changeTerms(starts, ends time.Time) error {
	if t.Status == store.SlotCancelled {
		return store.Closed
	}
	t.sweepOnly()
	if starts.Equal(t.Starts) && ends.Equal(t.Ends) {
		return nil
	}
	t.Starts, t.Ends = starts, ends
	t.setOrder()
	t.Terms++
	if starts.After(t.at) {
		t.EntriesClosed = false
	}
	for i := range t.Reservations {
		if r := &t.Reservations[i]; r.State == store.Held {
			r.Terms, r.Once = t.Terms, t.Rules.OnePerPerson
		}
	}
	t.changes++
	return nil
}

// sweepDue is the sweeper on this slot: what is due, and the end of waiting when it has begun.
func (m *slotModel) sweepDue(a act) {
	at := a.At
	if a.choice != plain || m.due(at) || (m.Kept && !m.orderRules(at) && !m.OrderUntil.IsZero()) {
		_ = m.locked(a, func(t *stepModel) error { t.sweep(); return nil }) // it refuses nothing
	}
	if !m.EntriesClosed && !m.Starts.After(at) {
		_ = m.locked(a, func(t *stepModel) error {
			t.sweepOnly()
			for i := range t.Entries {
				if e := &t.Entries[i]; e.State == store.Waiting {
					t.endEntry(e, store.EntryClosed, "begun")
				}
			}
			t.EntriesClosed = true
			return nil
		})
	}
}

// gives is the answer of a step that gives a reservation.
func gives(r *reservationModel, err error) answer {
	a := answered(err)
	if err == nil {
		a.ID, a.State = r.ID, string(r.State)
	}
	return a
}

func answered(err error) answer {
	var refused store.Outcome
	errors.As(err, &refused)
	return answer{Outcome: refused}
}

func queues(e *entryModel, err error) answer {
	a := answered(err)
	if err == nil {
		a.ID = e.ID
	}
	return a
}

// choice is what the protocol leaves open to presses at the same moment; none of it is open to one press alone.
type choice int

const (
	plain choice = iota
	// unseen: a one-statement hold has not seen what became due at this moment; a
	// confirm has not seen the entry that its person made at this moment; the sweeper passed by a slot that somebody had locked.
	unseen
	// always: the sweeper comes though nothing is due any more.
	always
	// blindSweep, blind: a step has not seen, in its sweep or to its end, what was
	// confirmed at this moment, because confirming needs no lock. The entry of somebody
	// who has booked so is closed by the next step.
	blindSweep
	blind
)

// choices lists what a press may do in a slot where others press at the same moment.
func (m *slotModel) choices(a act) []choice {
	all := []choice{plain}
	switch a.Do {
	case "look", "expire", "switch", "sent":
		return all
	case "confirm":
		if slices.ContainsFunc(m.Entries, func(e entryModel) bool { return e.Person == a.Person && e.Since >= a.call }) {
			all = append(all, unseen)
		}
		return all
	case "sweep":
		all = []choice{unseen, always}
	case "hold":
		if m.Passed >= a.call {
			all = append(all, unseen)
		}
	}
	if slices.ContainsFunc(m.Reservations, func(r reservationModel) bool { return r.State == store.Confirmed && r.Since >= a.call }) {
		all = append(all, blindSweep, blind)
	}
	return all
}

// do makes a press on one slot and gives its answer; what it makes gets the id.
func (m *slotModel) do(a act, id string, holds int) answer {
	switch a.Do {
	case "hold":
		r, err := m.hold(a, id, holds)
		return gives(r.known(id), err)
	case "book":
		r, err := m.book(a, id)
		return gives(r.known(id), err)
	case "join":
		e, err := m.join(a, id)
		return queues(e.known(id), err)
	case "sweep":
		if a.choice != unseen {
			m.sweepDue(a)
		}
		return answer{}
	case "expire": // time passes: whatever has a deadline is past it
		for i := range m.Reservations {
			if r := &m.Reservations[i]; r.State == store.Held {
				r.Shown, r.Expires = time.Time{}, time.Time{}
			}
		}
		for i := range m.Entries {
			if e := &m.Entries[i]; e.State == store.Offered {
				e.Shown, e.Expires = time.Time{}, time.Time{}
			}
		}
		m.Passed = a.answered
		return answer{}
	case "switch": // time passes: order rules no longer
		if m.orderRules(a.At) {
			m.OrderUntil = time.Time{}.Add(1)
		}
		return answer{}
	case "sent": // the dispatcher has sent all there was
		for i := range m.Entries {
			m.Entries[i].Unsent = false
		}
		return answer{}
	case "capacity":
		return answered(m.locked(a, func(t *stepModel) error { return t.setCapacity(a.Party) }))
	case "close":
		return answered(m.locked(a, func(t *stepModel) error { return t.turn(func() { t.Status = store.SlotClosed }) }))
	case "reopen":
		return answered(m.locked(a, func(t *stepModel) error { return t.turn(func() { t.Status = store.SlotOpen }) }))
	case "pause":
		return answered(m.locked(a, func(t *stepModel) error { return t.turn(func() { t.Paused = true }) }))
	case "resume":
		return answered(m.locked(a, func(t *stepModel) error { return t.turn(func() { t.Paused = false }) }))
	case "cancel slot":
		return answered(m.locked(a, func(t *stepModel) error { return t.cancelSlot() }))
	case "terms":
		starts, ends := a.times(m.First)
		return answered(m.locked(a, func(t *stepModel) error { return t.changeTerms(starts, ends) }))
	case "confirm", "extend", "release", "cancel", "party", "rebook":
		r := m.reservation(a.ID, a.Key)
		if r == nil {
			return answer{Outcome: store.NotFound}
		}
		return m.onReservation(r, a, id)
	default:
		e := m.entry(a.ID, a.Key)
		if e == nil {
			return answer{Outcome: store.NotFound}
		}
		return m.onEntry(e, a, id)
	}
}

// times are the start and the end that a change of terms asks for.
func (a act) times(first time.Time) (starts, ends time.Time) {
	starts = first.Add(a.Shift.Truncate(time.Hour))
	return starts, starts.Add(time.Hour).Add(a.Shift % time.Hour)
}

func (m *slotModel) onReservation(r *reservationModel, a act, id string) answer {
	switch a.Do {
	case "confirm":
		return gives(r, m.confirm(r, a))
	case "rebook":
		booked, err := m.rebook(*r, a, id)
		return gives(booked.known(id), err)
	}
	if (a.Do == "extend" || a.Do == "release") && r.Owner != a.Owner {
		return answer{Outcome: store.NotOwner}
	}
	return answered(m.locked(a, func(t *stepModel) error {
		switch a.Do {
		case "extend":
			if err := t.extend(r); err != nil {
				return err
			}
			t.extended(r)
			return nil
		case "release":
			return t.release(r)
		case "cancel":
			return t.cancel(r, a.Staff)
		}
		return t.party(r, a.Party, a.Staff)
	}))
}

func (t *stepModel) release(r *reservationModel) error {
	if r.State == store.Confirmed {
		return store.Conflict
	}
	t.exempt[r.ID] = true
	t.sweep()
	if r.State == store.Held {
		t.endSeats(r, store.Released)
	}
	return nil
}

func (m *slotModel) onEntry(e *entryModel, a act, id string) (out answer) {
	if a.Do == "rejoin" {
		again, err := m.rejoin(e, a, id)
		return queues(again.known(id), err)
	}
	err := m.locked(a, func(t *stepModel) (err error) {
		var r *reservationModel
		switch a.Do {
		case "accept":
			r, err = t.accept(e, a, id)
		case "claim":
			r, err = t.claim(e, a, id)
		case "offer":
			err = t.offerTo(e)
		case "revoke":
			err = t.takeOff(e, store.Offered)
		case "remove":
			err = t.takeOff(e, store.Waiting)
		case "withdraw", "decline":
			err = t.leave(e, a.Do == "decline")
		case "smaller":
			err = t.smaller(e, a.Party)
		default:
			panic("the model knows no " + a.Do)
		}
		if r != nil {
			out = gives(r.known(id), nil)
		}
		return err
	})
	out.Outcome = answered(err).Outcome
	return out
}

// shopModel is several slots, for the steps that touch more than one. Order is that of the slots' keys.
type shopModel []*slotModel

// holds counts what a visitor holds and is not due; what is held together counts as one.
func (m shopModel) holds(owner string, at time.Time) int {
	seen := map[string]bool{}
	for _, slot := range m {
		for _, r := range slot.Reservations {
			if r.State == store.Held && r.Owner == owner && r.Expires.After(at) {
				seen[cmp.Or(r.Group, r.ID)] = true
			}
		}
	}
	return len(seen)
}

// group is a reservation and those held with it, in the order of their slots.
func (m shopModel) group(slot int, r *reservationModel) (slots []*slotModel, rows []*reservationModel) {
	if r.Group == "" || r.State != store.Held {
		return []*slotModel{m[slot]}, []*reservationModel{r}
	}
	for _, s := range m {
		for i := range s.Reservations {
			if s.Reservations[i].Group == r.Group {
				slots, rows = append(slots, s), append(rows, &s.Reservations[i])
			}
		}
	}
	return slots, rows
}

// do makes a press. ids are what the store gave to what it made, by slot.
func (m shopModel) do(a act, ids map[int]string) answer {
	slot := m[a.Slot]
	switch a.Do {
	case "hold":
		return slot.do(a, ids[a.Slot], m.holds(a.Owner, a.At))
	case "hold two":
		return m.holdTwo(a, ids)
	case "sweep":
		for _, s := range m {
			s.do(a, "", 0)
		}
		return answer{}
	case "move":
		return m.move(a)
	case "confirm", "extend", "release":
		r := slot.reservation(a.ID, a.Key)
		if r == nil || r.Group == "" || r.State != store.Held || r.Owner != a.Owner {
			return slot.do(a, ids[a.Slot], 0)
		}
		return m.onGroup(a, r)
	}
	return slot.do(a, ids[a.Slot], 0)
}

func (m shopModel) holdTwo(a act, ids map[int]string) answer {
	if a.Slot == a.To {
		return answer{Outcome: store.Conflict}
	}
	at := []int{min(a.Slot, a.To), max(a.Slot, a.To)}
	steps := []*stepModel{m[at[0]].begin(a), m[at[1]].begin(a)}
	err := func() error {
		for _, t := range steps {
			t.sweep()
		}
		holds := m.holds(a.Owner, a.At)
		for i, t := range steps {
			terms := a.Terms
			if at[i] == a.To {
				terms = a.Both
			}
			if err := t.judgeHold(a, terms, a.Party, holds); err != nil {
				return err
			}
		}
		for i, t := range steps {
			r := t.addHold(a, ids[at[i]])
			r.Group, r.GroupSize = ids[at[0]], 2
		}
		return nil
	}()
	for _, t := range steps {
		t.passOn()
	}
	return answered(err)
}

func (m shopModel) onGroup(a act, r *reservationModel) answer {
	slots, rows := m.group(a.Slot, r)
	if a.Do == "confirm" {
		return gives(r, m.confirmGroup(a, r, slots, rows))
	}
	steps := make([]*stepModel, len(slots))
	for i, s := range slots {
		steps[i] = s.begin(a)
	}
	err := func() error {
		switch a.Do {
		case "release":
			for _, r := range rows {
				if r.State == store.Confirmed {
					return store.Conflict
				}
			}
			for i, r := range rows {
				if err := steps[i].release(r); err != nil {
					return err
				}
			}
		case "extend":
			for i, r := range rows {
				if err := steps[i].extend(r); err != nil {
					return err
				}
			}
			for i, r := range rows {
				steps[i].extended(r)
			}
		}
		return nil
	}()
	for _, t := range steps {
		t.passOn()
	}
	return answered(err)
}

// confirmGroup confirms all or none.
func (m shopModel) confirmGroup(a act, pressed *reservationModel, slots []*slotModel, rows []*reservationModel) error {
	live := 0
	for _, r := range rows {
		if r.State == store.Held && r.Expires.After(a.At) {
			live++
		}
	}
	if !pressed.Expires.After(a.At) {
		return store.Expired
	}
	if pressed.Terms != a.Terms {
		return store.TermsChanged
	}
	if live != pressed.GroupSize {
		return store.Expired
	}
	for i, r := range rows {
		if r != pressed && r.Terms != r.TermsFirst {
			return store.TermsChanged
		}
		if r.Once && slots[i].bookedAs(a.Person, false, a) {
			return store.AlreadyBooked
		}
	}
	for i, r := range rows {
		one := a
		one.Terms = r.Terms
		if err := slots[i].confirm(r, one); err != nil {
			panic(fmt.Sprint("a group that was judged is refused: ", err))
		}
	}
	return nil
}

// move takes a booking to another slot; its identity stays.
func (m shopModel) move(a act) answer {
	source, target := m[a.Slot], m[a.To]
	r := source.reservation(a.ID, a.Key)
	if r == nil {
		return answer{Outcome: store.NotFound}
	}
	if source == target {
		if r.State == store.Confirmed {
			return gives(r, nil)
		}
		return answered(source.locked(a, func(*stepModel) error { return store.Over }))
	}
	steps := map[*slotModel]*stepModel{source: source.begin(a), target: target.begin(a)}
	err := func() error {
		from, to := steps[source], steps[target]
		switch {
		case r.State != store.Confirmed:
			return store.Over
		case !a.Staff && !a.At.Before(source.cancelUntil()):
			return store.TooLate
		}
		from.sweep()
		to.sweep()
		party := r.Party
		if a.Staff {
			party = min(party, target.Rules.PartyMax)
		}
		if to.bookedHere(r.Person) {
			return store.AlreadyBooked
		}
		if err := to.judgeHold(a, a.Terms, party, 0); err != nil {
			return err
		}
		if !to.hasSeats(r.Party, a.At) {
			return store.SoldOut
		}
		source.Capacity -= min(r.Extra, r.Party)
		source.Taken -= r.Party
		moved := *r
		at := slices.IndexFunc(source.Reservations, func(o reservationModel) bool { return o.ID == moved.ID })
		source.Reservations = slices.Delete(source.Reservations, at, at+1)
		moved.Extra, moved.Idem, moved.PersonKey = 0, "", ""
		r = target.add(moved)
		target.Taken += r.Party
		to.changes++
		to.sweepOnly()
		return nil
	}()
	for _, s := range m {
		if t := steps[s]; t != nil {
			t.passOn()
		}
	}
	return gives(r, err)
}
