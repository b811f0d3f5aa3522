package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// LongestWait bounds one step from the caller's side: waiting for a
// connection, for the slot's lock, and all retries together. A press is judged
// by when it reached the database, so whatever the wait, it is not late; but a
// press whose answer takes longer than this is given up as Busy.
const LongestWait = 10 * time.Second

// LeastGrace is the least time between a shown and an enforced deadline.
// Twice the longest wait: whoever presses by the shown deadline reaches the
// database before the enforced one.
const LeastGrace = 2 * LongestWait

// Duration is a time.Duration that reads and writes as text in JSON: "30m0s".
type Duration time.Duration

// D is the plain duration.
func (d Duration) D() time.Duration { return time.Duration(d) }

// MarshalText writes the form of time.Duration.String.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads the forms of time.ParseDuration.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}

// WaitlistMode says how freed seats reach those who wait.
type WaitlistMode string

// The modes of a waitlist.
const (
	WaitlistNone WaitlistMode = "off"        // nobody can wait
	Sequential   WaitlistMode = "sequential" // one offer after the other, in order
	Broadcast    WaitlistMode = "broadcast"  // everybody is told, first come, first served
)

// Fit says what happens to a party that is larger than the free seats.
type Fit string

// The two rules of fit.
const (
	FirstFit Fit = "first_fit" // it is passed over and keeps its place
	Strict   Fit = "strict"    // nobody passes it
)

// QuietHours are hours at the venue in which no shown deadline of an offer
// falls. Both are minutes after local midnight; From may be later than Until.
type QuietHours struct {
	From  int `json:"from"`
	Until int `json:"until"`
}

// Policies are the rules of a service, with defaults per tenant. A slot keeps its
// own copy of those that decide who gets a seat.
type Policies struct {
	HoldShown       Duration     `json:"holdShown"`
	HoldGrace       Duration     `json:"holdGrace"`
	OfferShown      Duration     `json:"offerShown"`
	OfferGrace      Duration     `json:"offerGrace"`
	WaitlistMode    WaitlistMode `json:"waitlistMode"`
	BroadcastBefore Duration     `json:"broadcastBefore"` // before the start
	Fit             Fit          `json:"fit"`
	PartyMax        int          `json:"partyMax"`
	WaitlistMax     *int         `json:"waitlistMax"`   // nil: no limit
	BookingOpens    Duration     `json:"bookingOpens"`  // before the start
	BookingCloses   Duration     `json:"bookingCloses"` // before the start; 0: until it starts
	CancelBefore    Duration     `json:"cancelBefore"`  // customers may cancel until so long before the start
	ReminderBefore  Duration     `json:"reminderBefore"`
	EraseWaitlist   Duration     `json:"eraseWaitlist"`     // after the end
	EraseBookings   Duration     `json:"eraseReservations"` // after the end
	OnePerPerson    bool         `json:"onePerPerson"`
	Quiet           *QuietHours  `json:"quiet"` // nil: none
	LeastAnswer     Duration     `json:"leastAnswer"`
	FewLeft         int          `json:"fewLeft"`
	HoldsPerVisitor int          `json:"holdsPerVisitor"`
	SlotsTogether   int          `json:"slotsTogether"` // so many consecutive slots in one hold; read from the service
	KanaRequired    bool         `json:"kanaRequired"`
	PhoneRequired   bool         `json:"phoneRequired"`
}

// DefaultPolicies are the rules of a tenant that has chosen none.
func DefaultPolicies() Policies {
	const day = Duration(24 * time.Hour)
	return Policies{
		HoldShown: Duration(5 * time.Minute), HoldGrace: Duration(time.Minute),
		OfferShown: Duration(30 * time.Minute), OfferGrace: Duration(5 * time.Minute),
		WaitlistMode: Sequential, BroadcastBefore: Duration(3 * time.Hour), Fit: FirstFit,
		PartyMax: 4, BookingOpens: 60 * day, CancelBefore: day, ReminderBefore: day,
		EraseWaitlist: 7 * day, EraseBookings: 400 * day, OnePerPerson: true,
		Quiet: &QuietHours{From: 21 * 60, Until: 8 * 60}, LeastAnswer: Duration(10 * time.Minute),
		FewLeft: 3, HoldsPerVisitor: 3, SlotsTogether: 1,
	}
}

// With returns p changed by an override in JSON, as tenants and services store it.
func (p Policies) With(override []byte) (Policies, error) {
	if len(override) == 0 {
		return p, nil
	}
	if err := json.Unmarshal(override, &p); err != nil {
		return p, fmt.Errorf("policies: %w", err)
	}
	return p, nil
}

// CheckOverrides refuses an override in JSON that names something which is no
// policy: a misspelt rule would be stored and never hold. Reading (With) passes
// by what it does not know, so that an older program can read what a newer one stored.
func CheckOverrides(override []byte) error {
	if len(override) == 0 {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(override))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(new(Policies)); err != nil {
		return fmt.Errorf("policies: %w", err)
	}
	return nil
}

// Problems names each policy that can't hold, by its JSON name, with a key for
// the reader's language. An empty map means that the policies may be used.
func (p Policies) Problems() map[string]string {
	bad := map[string]string{}
	atLeast := func(name string, value Duration, least time.Duration, key string) {
		if value.D() < least {
			bad[name] = key
		}
	}
	atLeast("holdGrace", p.HoldGrace, LeastGrace, "policy.grace_too_short")
	atLeast("offerGrace", p.OfferGrace, LeastGrace, "policy.grace_too_short")
	atLeast("holdShown", p.HoldShown, 30*time.Second, "policy.too_short")
	atLeast("offerShown", p.OfferShown, time.Minute, "policy.too_short")
	atLeast("leastAnswer", p.LeastAnswer, time.Minute, "policy.too_short")
	atLeast("bookingOpens", p.BookingOpens, p.BookingCloses.D()+time.Minute, "policy.opens_after_close")
	for name, value := range map[string]Duration{
		"broadcastBefore": p.BroadcastBefore, "bookingCloses": p.BookingCloses, "cancelBefore": p.CancelBefore,
		"reminderBefore": p.ReminderBefore, "eraseWaitlist": p.EraseWaitlist, "eraseReservations": p.EraseBookings,
	} {
		atLeast(name, value, 0, "policy.negative")
	}
	if p.PartyMax < 1 {
		bad["partyMax"] = "policy.too_few"
	}
	if p.HoldsPerVisitor < 1 {
		bad["holdsPerVisitor"] = "policy.too_few"
	}
	if p.SlotsTogether < 1 {
		bad["slotsTogether"] = "policy.too_few"
	}
	if p.FewLeft < 0 {
		bad["fewLeft"] = "policy.negative"
	}
	if p.WaitlistMax != nil && *p.WaitlistMax < 0 {
		bad["waitlistMax"] = "policy.negative"
	}
	switch p.WaitlistMode {
	case WaitlistNone, Sequential, Broadcast:
	default:
		bad["waitlistMode"] = "policy.unknown"
	}
	switch p.Fit {
	case FirstFit, Strict:
	default:
		bad["fit"] = "policy.unknown"
	}
	if q := p.Quiet; q != nil && (q.From < 0 || q.From > 1439 || q.Until < 0 || q.Until > 1439 || q.From == q.Until) {
		bad["quiet"] = "policy.quiet"
	}
	return bad
}

// OfferDeadline is the shown deadline of an offer made at now for a slot whose
// booking closes at closes: now plus the usual time for an answer; where that
// falls into quiet hours at the venue, their end plus the usual time instead
// (inside again: the next end); never past the close of booking.
func OfferDeadline(now time.Time, answer time.Duration, quiet *QuietHours, venue *time.Location, closes time.Time) time.Time {
	shown := now.Add(answer)
	if end, inside := quietEnd(shown, quiet, venue); inside {
		shown = end.Add(answer)
		if next, again := quietEnd(shown, quiet, venue); again {
			shown = next
		}
	}
	if shown.After(closes) {
		shown = closes
	}
	return shown
}

// quietEnd reports whether at falls into quiet hours, and when they end.
// The end itself is outside, the beginning inside.
func quietEnd(at time.Time, quiet *QuietHours, venue *time.Location) (time.Time, bool) {
	if quiet == nil || quiet.From == quiet.Until {
		return time.Time{}, false
	}
	local := at.In(venue)
	minute := local.Hour()*60 + local.Minute()
	y, m, d := local.Date()
	end := func(day int) time.Time {
		end := time.Date(y, m, day, quiet.Until/60, quiet.Until%60, 0, 0, venue)
		if early := quiet.Until - end.Hour()*60 - end.Minute(); early > 0 { // a wall time that a clock change skips: on, not back
			end = end.Add(time.Duration(early) * time.Minute)
		}
		if !end.After(at) { // a wall time that comes twice: the first has gone by
			end = end.Add(time.Hour)
		}
		return end
	}
	switch {
	case quiet.From < quiet.Until && minute >= quiet.From && minute < quiet.Until:
		return end(d), true
	case quiet.From > quiet.Until && minute >= quiet.From:
		return end(d + 1), true
	case quiet.From > quiet.Until && minute < quiet.Until:
		return end(d), true
	}
	return time.Time{}, false
}
