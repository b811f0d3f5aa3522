package store

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Explanation is the history of a slot as it may be shown to anybody who asks
// why somebody has a seat: people and staff are pseudonyms, and the seals say
// whether a line was changed since.
type Explanation struct {
	Slot     string    `json:"slot"`
	StartsAt time.Time `json:"startsAt"` // UTC
	Zone     string    `json:"zone"`     // of the venue
	Capacity int       `json:"capacity"`
	Taken    int       `json:"taken"`
	Seals    Seals     `json:"seals"`
	// Events are all of the slot, the oldest first.
	Events []ExplainedEvent `json:"events"`
	// Seats are the journeys of the single seats. Which of several free seats a
	// party has is nobody's choice: the one with the lowest number is taken for it.
	Seats []SeatJourney `json:"seats"`
}

// Seals tells how far the history is sealed, and whether the seals hold.
type Seals struct {
	Numbered int    `json:"numbered"` // events that have a place in the order
	Sealed   int    `json:"sealed"`
	OK       bool   `json:"ok"`
	BrokenAt *int64 `json:"brokenAt"` // number of the first event that its seal does not fit; nil: none
	Head     string `json:"head"`     // the last seal, in hex: who keeps it can tell later whether the history before it was changed

	head []byte
}

// ExplainedEvent is a line of it.
type ExplainedEvent struct {
	Number *int64    `json:"number"` // nil: it happened without the slot's lock
	At     time.Time `json:"at"`     // UTC
	Kind   EventKind `json:"kind"`
	// By is "customer", "staff 1", "api 1" or "system"; Who the party that it is about: A, B, C…
	By       string     `json:"by"`
	Who      string     `json:"who,omitempty"`
	Party    int        `json:"party,omitempty"`
	Seats    int        `json:"seats"` // by how much taken changed
	Taken    int        `json:"taken"` // after it
	Capacity *int       `json:"capacity,omitempty"`
	Mode     string     `json:"mode,omitempty"`
	Reason   string     `json:"reason,omitempty"`
	Until    *time.Time `json:"until,omitempty"` // the deadline that was shown, UTC
	// Of are the numbers of the seats that it is about.
	Of []int `json:"of,omitempty"`
}

// SeatJourney is what happened to one seat.
type SeatJourney struct {
	Seat  int        `json:"seat"` // from 1
	Steps []SeatStep `json:"steps"`
}

// SeatStep is one change of who has the seat.
type SeatStep struct {
	At   time.Time `json:"at"` // UTC
	Kind EventKind `json:"kind"`
	By   string    `json:"by"`
	Who  string    `json:"who"`
}

const slotEventsSQL = `-- events of a slot in order
SELECT id, slot_id::text AS slot, coalesce(number, 0) AS number, kind, actor, party_size, seats, capacity, mode, subject_id::text AS subject, at,
	details::text AS details, seal
FROM events WHERE tenant_id = @tenant AND slot_id = @slot ORDER BY id`

// Who is one person: the same address, or a booking and the entry that became it.
const slotPeopleSQL = `-- identities in a slot
SELECT v.subject AS id, coalesce(nullif(lower(v.email), ''), v.entry, v.subject) AS person, coalesce(v.entry, '') AS entry FROM (
	SELECT r.id::text AS subject, r.email, r.entry_id::text AS entry FROM reservations r
	WHERE r.tenant_id = @tenant AND r.id IN (SELECT x.subject_id FROM events x WHERE x.tenant_id = @tenant AND x.slot_id = @slot)
	UNION ALL
	SELECT e.id::text, e.email, NULL FROM waitlist_entries e WHERE e.tenant_id = @tenant AND e.slot_id = @slot
) v`

// Explain tells the history of a slot, with the seals verified. NotFound if
// there is no such slot.
func (s *Store) Explain(ctx context.Context, tenant Tenant, slot string) (Explanation, error) {
	if !ValidID(slot) {
		return Explanation{}, NotFound
	}
	var out Explanation
	// One snapshot, so that the lines are those of the seats.
	err := pgx.BeginTxFunc(ctx, s.db, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		args := pgx.StrictNamedArgs{"tenant": tenant.ID, "slot": slot}
		seats, err := one[seatsOfSlot](ctx, tx, seatsOfSlotSQL, args)
		if err != nil {
			return err
		}
		events, err := list[sealedEvent](ctx, tx, slotEventsSQL, args)
		if err != nil {
			return err
		}
		people, err := list[identity](ctx, tx, slotPeopleSQL, args)
		if err != nil {
			return err
		}
		out = Explanation{Slot: slot, StartsAt: seats.StartsAt.UTC(), Zone: tenant.TimeZone, Capacity: seats.Capacity, Taken: seats.Taken}
		return out.tell(events, people)
	})
	return out, classify(err)
}

const seatsOfSlotSQL = `-- seats of a slot
SELECT starts_at, capacity, taken FROM slots WHERE tenant_id = @tenant AND id = @slot`

type seatsOfSlot struct {
	StartsAt        time.Time
	Capacity, Taken int
}

type identity struct{ ID, Person, Entry string }

// names gives pseudonyms in the order in which they are asked for.
type names struct {
	same  map[string]string // subject → person
	given map[string]string
	used  map[string]int
}

func newNames(people []identity) *names {
	n := &names{same: map[string]string{}, given: map[string]string{}, used: map[string]int{}}
	for _, p := range people {
		n.same[p.ID] = p.Person
	}
	for _, p := range people { // a booking whose contact is erased is still that of its entry
		if entry, known := n.same[p.Entry]; known {
			n.same[p.ID] = entry
		}
	}
	return n
}

func (n *names) party(subject *string) string {
	if subject == nil {
		return ""
	}
	person, known := n.same[*subject]
	if !known {
		person = *subject
	}
	return n.name("party", person, letters)
}

func (n *names) actor(label string) string {
	kind, id, has := strings.Cut(label, ":")
	if !has {
		return kind
	}
	return n.name(kind, id, func(i int) string { return fmt.Sprintf("%s %d", kind, i+1) })
}

func (n *names) name(kind, id string, as func(int) string) string {
	key := kind + " " + id
	if n.given[key] == "" {
		n.given[key] = as(n.used[kind])
		n.used[kind]++
	}
	return n.given[key]
}

// letters counts A, B, … Z, AA, AB, …
func letters(i int) string {
	var text []byte
	for i++; i > 0; i = (i - 1) / 26 {
		text = append(text, byte('A'+(i-1)%26))
	}
	slices.Reverse(text)
	return string(text)
}

// explained are the details of an event that an explanation tells.
type explained struct {
	Reason      string     `json:"reason"`
	ShownUntil  *time.Time `json:"shown_until"`
	Reservation string     `json:"reservation"`
}

func (x *Explanation) tell(events []sealedEvent, people []identity) error {
	x.Seals.OK = true
	called := newNames(people)
	seats := seating{}
	var seal []byte
	for _, e := range events {
		if e.Number > 0 {
			if err := x.Seals.verify(e, &seal); err != nil {
				return err
			}
		}
		var d explained
		if err := json.Unmarshal([]byte(e.Details), &d); err != nil {
			return fmt.Errorf("details of event %d: %w", e.ID, err)
		}
		line := ExplainedEvent{
			At: e.At.UTC(), Kind: EventKind(e.Kind), By: called.actor(e.Actor), Who: called.party(e.Subject), Party: e.PartySize, Seats: e.Seats,
			Capacity: e.Capacity, Mode: e.Mode, Reason: d.Reason,
		}
		if e.Number > 0 {
			line.Number = &e.Number
		}
		if d.ShownUntil != nil {
			until := d.ShownUntil.UTC()
			line.Until = &until
		}
		subject := ""
		if e.Subject != nil {
			subject = *e.Subject
		}
		line.Of = seats.change(subject, e.Seats)
		if d.Reservation != "" { // what was the entry's is the booking's
			seats[d.Reservation] = append(seats[d.Reservation], seats[subject]...)
			if line.Of = slices.Clone(seats[subject]); d.Reservation != subject {
				delete(seats, subject)
			}
		}
		if len(line.Of) == 0 && subject != "" && !line.waits() {
			line.Of = slices.Clone(seats[subject])
		}
		x.Events = append(x.Events, line)
		if n := len(x.Events); n > 1 {
			x.Events[n-1].Taken = x.Events[n-2].Taken
		}
		x.Events[len(x.Events)-1].Taken += e.Seats
		for _, seat := range line.Of {
			x.step(seat, line)
		}
	}
	x.Seals.Head = hex.EncodeToString(x.Seals.head)
	return nil
}

// waits: an event that is about nobody's seat.
func (e ExplainedEvent) waits() bool {
	switch e.Kind {
	case EventConfirmed, EventExtended, EventContactChanged, EventEmailAsked, EventEmailChanged:
		return false
	}
	return true
}

func (x *Explanation) step(seat int, e ExplainedEvent) {
	for len(x.Seats) < seat {
		x.Seats = append(x.Seats, SeatJourney{Seat: len(x.Seats) + 1})
	}
	switch e.Kind {
	case EventContactChanged, EventEmailAsked, EventEmailChanged: // nothing of it concerns the seat
		return
	}
	j := &x.Seats[seat-1]
	j.Steps = append(j.Steps, SeatStep{At: e.At, Kind: e.Kind, By: e.By, Who: e.Who})
}

// seating says which seats a reservation or an entry has.
type seating map[string][]int

// change takes the lowest free seats, or gives back the last that were taken.
func (s seating) change(subject string, by int) []int {
	var moved []int
	switch {
	case by > 0:
		used := map[int]bool{}
		for _, seats := range s {
			for _, seat := range seats {
				used[seat] = true
			}
		}
		for seat := 1; len(moved) < by; seat++ {
			if !used[seat] {
				moved = append(moved, seat)
			}
		}
		s[subject] = append(s[subject], moved...)
	case by < 0:
		has := s[subject]
		keep := max(0, len(has)+by)
		moved = slices.Clone(has[keep:])
		if s[subject] = has[:keep]; keep == 0 {
			delete(s, subject)
		}
	}
	return moved
}

func (s *Seals) verify(e sealedEvent, previous *[]byte) error {
	want, err := e.seal(*previous)
	if err != nil {
		return err
	}
	*previous = want
	s.Numbered++
	broken := e.Number != int64(s.Numbered)
	if len(e.Seal) > 0 {
		broken = broken || s.Sealed != s.Numbered-1 || !bytes.Equal(e.Seal, want)
		s.Sealed++
		s.head = e.Seal
	}
	if broken && s.OK {
		number := e.Number
		s.OK, s.BrokenAt = false, &number
	}
	return nil
}
