package store

import "time"

// SlotTimes are the instants that policies give to a slot, computed by what the
// slot itself goes by.
type SlotTimes struct {
	OpensAt     time.Time
	ClosesAt    time.Time
	CancelUntil time.Time
	// OrderUntil is when seats stop going by order; nil: they never do.
	OrderUntil      *time.Time
	RemindAt        *time.Time // nil: nobody is reminded
	EraseWaitlistAt time.Time
	EraseBookingsAt time.Time
}

// Times gives the instants of a slot from start to end under these policies.
func (p Policies) Times(start, end time.Time) SlotTimes {
	l := lockedSlot{StartsAt: start, EndsAt: end}
	l.take(p)
	l.setOrderUntil()
	times := SlotTimes{
		OpensAt: l.opensAt(), ClosesAt: l.closesAt(), CancelUntil: l.cancelUntil(),
		EraseWaitlistAt: end.Add(p.EraseWaitlist.D()), EraseBookingsAt: end.Add(p.EraseBookings.D()),
	}
	if l.WaitlistMode == Sequential {
		times.OrderUntil = &l.OrderUntil.Time
	}
	if l.ReminderBefore > 0 {
		at := start.Add(-l.ReminderBefore)
		times.RemindAt = &at
	}
	return times
}

// OfferUntil is the shown deadline of an offer that is made at an instant for a
// slot that starts at start.
func (p Policies) OfferUntil(at, start time.Time, venue *time.Location) time.Time {
	return OfferDeadline(at, p.OfferShown.D(), p.Quiet, venue, start.Add(-p.BookingCloses.D()))
}

// QuietAt reports whether an instant falls into the quiet hours at the venue, and when they end.
func (p Policies) QuietAt(at time.Time, venue *time.Location) (time.Time, bool) {
	return quietEnd(at, p.Quiet, venue)
}

// lengthRanges and countRanges are what a form takes, by JSON name.
var (
	lengthRanges = map[string][2]time.Duration{
		"holdShown": {30 * time.Second, time.Hour}, "holdGrace": {LeastGrace, 10 * time.Minute},
		"offerShown": {time.Minute, 7 * policyDay}, "offerGrace": {LeastGrace, time.Hour}, "leastAnswer": {time.Minute, policyDay},
		"broadcastBefore": {0, 30 * policyDay}, "bookingOpens": {time.Minute, 730 * policyDay}, "bookingCloses": {0, 30 * policyDay},
		"cancelBefore": {0, 365 * policyDay}, "reminderBefore": {0, 30 * policyDay}, // the sweeper looks no further ahead
		"eraseWaitlist": {0, 3650 * policyDay}, "eraseReservations": {0, 3650 * policyDay},
	}
	countRanges = map[string][2]int{
		"partyMax": {1, 1000}, "waitlistMax": {0, 10000}, "fewLeft": {0, 10000}, "holdsPerVisitor": {1, 1000}, "slotsTogether": {1, 24},
	}
)

const policyDay = 24 * time.Hour

// LengthRange is from how little to how much a policy that is a length of time
// may be set by a person; zero for any other name. The name is that in JSON.
func LengthRange(name string) (least, most time.Duration) {
	r := lengthRanges[name]
	return r[0], r[1]
}

// CountRange is LengthRange for policies that are numbers.
func CountRange(name string) (least, most int) {
	r := countRanges[name]
	return r[0], r[1]
}

// Contradictions names each policy that works against another one or is out of
// all proportion, with a key for the reader's language: what a person who sets
// them surely does not mean, although the steps could work with it. Problems are among them.
func (p Policies) Contradictions() map[string]string {
	bad := p.Problems()
	note := func(name string, wrong bool, key string) {
		if _, there := bad[name]; wrong && !there {
			bad[name] = key
		}
	}
	for name, value := range map[string]Duration{
		"holdShown": p.HoldShown, "holdGrace": p.HoldGrace, "offerShown": p.OfferShown, "offerGrace": p.OfferGrace, "leastAnswer": p.LeastAnswer,
		"broadcastBefore": p.BroadcastBefore, "bookingOpens": p.BookingOpens, "bookingCloses": p.BookingCloses, "cancelBefore": p.CancelBefore,
		"reminderBefore": p.ReminderBefore, "eraseWaitlist": p.EraseWaitlist, "eraseReservations": p.EraseBookings,
	} {
		note(name, value.D() < lengthRanges[name][0], "policy.too_short")
		note(name, value.D() > lengthRanges[name][1], "policy.too_long")
	}
	most := 0
	if p.WaitlistMax != nil {
		most = *p.WaitlistMax
	}
	for name, value := range map[string]int{
		"partyMax": p.PartyMax, "waitlistMax": most, "fewLeft": p.FewLeft, "holdsPerVisitor": p.HoldsPerVisitor, "slotsTogether": p.SlotsTogether,
	} {
		note(name, value > countRanges[name][1], "policy.too_many")
	}
	note("holdGrace", p.HoldGrace > p.HoldShown, "policy.grace_longer")
	note("offerGrace", p.OfferGrace > p.OfferShown, "policy.grace_longer")
	note("waitlistMax", p.WaitlistMax != nil && most == 0 && p.WaitlistMode != WaitlistNone, "policy.no_room_to_wait")
	note("reminderBefore", p.ReminderBefore > p.BookingOpens, "policy.before_opening")
	if p.WaitlistMode == Sequential {
		note("leastAnswer", p.LeastAnswer > p.OfferShown, "policy.least_longer")
		note("broadcastBefore", p.BroadcastBefore >= p.BookingOpens, "policy.before_opening")
		note("broadcastBefore", p.BroadcastBefore > 0 && p.BroadcastBefore < p.BookingCloses, "policy.after_close")
	}
	return bad
}
