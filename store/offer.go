package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// AcceptRequest takes the seats that are kept for an entry, or claims open ones.
type AcceptRequest struct {
	TenantID     string
	ID           string // of the entry
	TermsVersion int    // as the page showed them
	Actor        Actor
	Version      *int64 // of the slot, as the form showed it; nil: not asked
}

const acceptSQL = `-- accept
UPDATE waitlist_entries SET state = 'accepted', ended_at = @now, reservation_id = @reservation, press_addr = @addr, press_agent = @agent
WHERE tenant_id = @tenant AND id = @id AND state IN ('waiting', 'offered')`

// Accept turns an offer into a booking. The seats were kept, so taken does not
// change. Who presses by the enforced deadline is served, however long the
// press waits for the lock. Refusals: NotFound, Expired, Over (declined,
// withdrawn or closed, or not offered), TermsChanged, AlreadyBooked. Accepting
// what is accepted is answered with the booking.
func (s *Store) Accept(ctx context.Context, req AcceptRequest) (Reservation, error) {
	var accepted Reservation
	_, err := s.onEntry(ctx, "accept", Press{TenantID: req.TenantID, ID: req.ID, Actor: req.Actor}, func(ctx context.Context, t *slotTx, e Entry) error {
		if done, r, err := t.alreadyAccepted(ctx, e); done {
			accepted = r
			return err
		}
		if err := t.seen(req.Version); err != nil {
			return err
		}
		if err := t.judgeOffer(ctx, e, req.TermsVersion); err != nil {
			return err
		}
		t.exempt = append(t.exempt, e.ID)
		if err := t.sweep(ctx); err != nil {
			return err
		}
		if t.closedMeanwhile(e.ID) {
			return AlreadyBooked
		}
		var err error
		accepted, err = t.bookEntry(ctx, e, EventAccepted, 0)
		return err
	})
	return accepted, s.settle("accept", err)
}

func (t *slotTx) alreadyAccepted(ctx context.Context, e Entry) (bool, Reservation, error) {
	if e.State != Accepted {
		return false, Reservation{}, nil
	}
	r, err := one[Reservation](ctx, t.tx, reservationSQL, pgx.StrictNamedArgs{"at": t.s.at, "tenant": t.tenant, "id": *e.ReservationID})
	if errors.Is(err, NotFound) {
		err = Over
	}
	return true, r, err
}

// judgeOffer judges the press on the person's own offer.
func (t *slotTx) judgeOffer(ctx context.Context, e Entry, terms int) error {
	switch {
	case e.State == Lapsed || (e.State == Offered && !e.ExpiresAt.After(t.press)):
		if err := refusedLate(ctx, t.tx, t.tenant, t.slot.ID, e.ID, "accept", t.actor, e.PartySize, t.press, e.ShownUntil); err != nil {
			return err
		}
		if err := t.sweep(ctx); err != nil {
			return err
		}
		return Expired
	case e.State == EntryClosed && e.Reason == "booked":
		return AlreadyBooked
	case e.State != Offered:
		return Over
	case terms != t.slot.TermsVersion:
		return TermsChanged
	}
	return nil
}

// bookEntry makes the booking of an entry whose seats are counted, or are now
// taken, and ends the entry with it.
func (t *slotTx) bookEntry(ctx context.Context, e Entry, kind EventKind, seats int) (Reservation, error) {
	r, err := t.insertReservation(ctx, newReservation{
		state: Confirmed, party: e.PartySize, owner: "entry:" + e.ID, source: SourceWaitlist, entry: &e.ID,
		contact: Contact{Name: e.Name, Kana: e.Kana, Email: e.Email, Phone: e.Phone, Note: e.Note, Locale: e.Locale, Answers: e.Answers},
	})
	if err != nil {
		return Reservation{}, err
	}
	err = t.exec(ctx, 1, acceptSQL, pgx.StrictNamedArgs{
		"tenant": t.tenant, "id": e.ID, "now": t.now, "reservation": r.ID, "addr": t.actor.Addr, "agent": t.actor.Agent,
	})
	if err != nil {
		return Reservation{}, err
	}
	number := t.event(kind, e.ID, e.PartySize, seats, map[string]any{"reservation": r.ID})
	t.toReservation(KindConfirmed, r, number, nil)
	return r, nil
}

// Claim takes open seats for a waiting entry, once order no longer rules: first
// come, first served. The loser keeps waiting. Refusals: NotFound, Over,
// OrderRules, Closed, TooEarly, TooLate, TermsChanged, SoldOut, AlreadyBooked. Claiming
// again after a success is answered with the booking.
func (s *Store) Claim(ctx context.Context, req AcceptRequest) (Reservation, error) {
	var claimed Reservation
	_, err := s.onEntry(ctx, "claim", Press{TenantID: req.TenantID, ID: req.ID, Actor: req.Actor}, func(ctx context.Context, t *slotTx, e Entry) error {
		if done, r, err := t.alreadyAccepted(ctx, e); done {
			claimed = r
			return err
		}
		if err := t.seen(req.Version); err != nil {
			return err
		}
		switch {
		case e.State == EntryClosed && e.Reason == "booked":
			return AlreadyBooked
		case e.State != Waiting:
			return Over
		}
		if err := t.sweep(ctx); err != nil {
			return err
		}
		if t.closedMeanwhile(e.ID) {
			return AlreadyBooked
		}
		if err := t.open(); err != nil {
			return err
		}
		switch {
		case t.slot.orderRules(t.now):
			return OrderRules
		case req.TermsVersion != t.slot.TermsVersion:
			return TermsChanged
		case !t.hasSeats(e.PartySize):
			return SoldOut
		}
		if booked, err := t.bookedHere(ctx, e.Email); err != nil {
			return err
		} else if booked {
			return AlreadyBooked
		}
		var err error
		claimed, err = t.bookEntry(ctx, e, EventClaimed, e.PartySize)
		return err
	})
	return claimed, s.settle("claim", err)
}

// EntryRequest is a step of staff on one entry.
type EntryRequest struct {
	TenantID string
	ID       string
	Reason   string
	Actor    Actor
	Version  *int64
}

// OfferTo offers seats to an entry that staff have chosen, before anybody else
// and also while the list is paused or seats are open to everybody. Refusals:
// NotFound, Over (not waiting), Closed, TooLate, SoldOut, AlreadyBooked, Conflict.
func (s *Store) OfferTo(ctx context.Context, req EntryRequest) (Change, error) {
	change, err := s.onEntry(ctx, "staff_offer", Press{TenantID: req.TenantID, ID: req.ID, Actor: req.Actor}, func(ctx context.Context, t *slotTx, e Entry) error {
		if err := t.seen(req.Version); err != nil {
			return err
		}
		switch {
		case e.State == Offered:
			return nil // pressed twice, or by rule in the meantime: the offer is there
		case e.State != Waiting:
			return Over
		case t.slot.Status != SlotOpen:
			return Closed
		case !t.press.Before(t.slot.closesAt()):
			return TooLate
		}
		// Seats that are due go to the chosen one, too, before anybody else:
		// so what is due ends here, and passing on waits for the end of the step.
		if err := t.sweepOnly(ctx); err != nil {
			return err
		}
		if t.closedMeanwhile(e.ID) {
			return AlreadyBooked
		}
		if booked, err := t.bookedHere(ctx, e.Email); err != nil {
			return err
		} else if booked {
			return AlreadyBooked
		}
		if e.PartySize > t.slot.free() {
			return SoldOut
		}
		return t.offer(ctx, e, EventStaffOffered, req.Reason)
	})
	return change, s.settle("staff_offer", err)
}

// Revoke takes an offer back, with a reason; its seats pass on. Refusals:
// NotFound, Conflict, Over (not offered).
func (s *Store) Revoke(ctx context.Context, req EntryRequest) (Change, error) {
	return s.endByStaff(ctx, "revoke", req, EventRevoked, Offered)
}

// RemoveEntry takes a waiting party off the list, with a reason. Refusals:
// NotFound, Conflict, Over (not waiting).
func (s *Store) RemoveEntry(ctx context.Context, req EntryRequest) (Change, error) {
	return s.endByStaff(ctx, "remove", req, EventWithdrawn, Waiting)
}

func (s *Store) endByStaff(ctx context.Context, step string, req EntryRequest, kind EventKind, from EntryState) (Change, error) {
	change, err := s.onEntry(ctx, step, Press{TenantID: req.TenantID, ID: req.ID, Actor: req.Actor}, func(ctx context.Context, t *slotTx, e Entry) error {
		if err := t.seen(req.Version); err != nil {
			return err
		}
		if e.State == Withdrawn {
			return nil // pressed twice
		}
		if e.State != from {
			return Over
		}
		t.exempt = append(t.exempt, e.ID)
		if err := t.sweepOnly(ctx); err != nil {
			return err
		}
		if t.closedMeanwhile(e.ID) {
			return nil
		}
		number, err := t.endEntry(ctx, &e, Withdrawn, kind, req.Reason)
		if err != nil {
			return err
		}
		if kind == EventWithdrawn { // the party did not go by itself, and is told
			t.events[len(t.events)-1].details["removed"] = true
		}
		t.toEntry(KindRevoked, e, number, map[string]any{"reason": req.Reason, "offered": from == Offered})
		return nil
	})
	return change, s.settle(step, err)
}
