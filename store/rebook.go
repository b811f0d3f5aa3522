package store

import "context"

// RebookRequest undoes a cancelling: the same person is booked again.
type RebookRequest struct {
	TenantID    string
	ID          string // of the cancelled reservation
	ExtraReason string // not empty: seats may be added beyond the capacity, for this reason
	Silent      bool   // no confirmation mail; recorded in the event
	Actor       Actor
	Version     *int64 // of the slot, as the form showed it; nil: not asked
}

// Rebook books the party of a cancelled reservation again, with the same
// contact: a new reservation, with a new number and a new link, because the old
// one stays cancelled and its link goes on saying so. It takes seats as Book does:
// free ones that are not kept for the waitlist, or, with a reason, ones that are
// added. A closed slot does not refuse it: nobody new comes in. Pressed twice
// it is answered with the same booking as long as that lives. Refusals:
// NotFound, Conflict, Over (not cancelled, or its contact is erased), Closed (the
// slot is cancelled), TooLate (it is over), SoldOut, AlreadyBooked.
func (s *Store) Rebook(ctx context.Context, req RebookRequest) (Reservation, Change, error) {
	var booked Reservation
	change, err := s.onReservation(ctx, "rebook", Press{TenantID: req.TenantID, ID: req.ID, Actor: req.Actor}, func(ctx context.Context, t *slotTx, r Reservation) error {
		// The key is the cancelled reservation's own: whoever presses, it is undone once.
		hold := HoldRequest{
			TenantID: req.TenantID, Slots: []HoldSlot{{ID: r.SlotID}}, PartySize: r.PartySize, Owner: "rebook:" + r.ID, Key: "rebook " + r.ID,
		}
		made, err := lookUpKey(ctx, t.tx, hold, &t.now)
		if err != nil || len(made) > 0 {
			if len(made) > 0 {
				booked = made[0]
			}
			return err
		}
		if err := t.seen(req.Version); err != nil {
			return err
		}
		if r.State != Cancelled || r.Name == "" {
			return Over
		}
		if err := t.sweep(ctx); err != nil {
			return err
		}
		booked, err = t.bookForStaff(ctx, hold, staffBooking{
			contact: Contact{Name: r.Name, Kana: r.Kana, Email: r.Email, Phone: r.Phone, Note: r.Note, Locale: r.Locale, Answers: r.Answers},
			reason:  req.ExtraReason, silent: req.Silent, undoes: r.ID,
		})
		return err
	})
	return booked, change, s.settle("rebook", err)
}
