package store

import (
	"context"
	"maps"
	"time"

	"github.com/jackc/pgx/v5"
)

// EmailChangeTime is how long the link in a mail to a new address works.
const EmailChangeTime = 24 * time.Hour

// MostEmailChanges is how many new addresses may be named for one booking: each
// is written to, and may be a stranger's.
const MostEmailChanges = 10

// ContactRequest corrects who a booking is for.
type ContactRequest struct {
	TenantID string
	ID       string
	Contact  Contact // normalised; nil Answers are left as they are, and a customer's empty e-mail too
	Actor    Actor
	Seen     string // ContactMark of the booking as the form showed it; empty: not asked
}

// ContactMark changes with each field that a correction may change, so that a
// form which showed an older state does not undo what the customer, or a
// colleague, has corrected since. It says nothing of the fields themselves.
func (s *Store) ContactMark(r Reservation) string {
	return tokenEncoding.EncodeToString(s.mac("contact", r.TenantID, r.ID, r.Name, r.Kana, r.Email, r.Phone, r.Note, r.Locale, jsonAnswers(r.Answers), r.EmailNew)[:10])
}

const contactSQL = `-- correct contact
UPDATE reservations SET name = @name, kana = @kana, phone = @phone, note = @note, locale = @locale, answers = @answers::jsonb, email = @email,
	email_new = @email_new, email_until = @email_until, email_hash = CASE WHEN @email_new::text = '' THEN email_hash ELSE @email_hash::bytea END,
	email_generation = @email_generation, press_addr = @addr, press_agent = @agent
WHERE tenant_id = @tenant AND id = @id AND state = 'confirmed'`

// CorrectContact changes the contact of a booking, also in a full slot: seats
// are not asked for. Another e-mail that a customer gives is not used before its
// owner has pressed the link that is mailed there (ConfirmEmail); until then the
// old one stands, and naming that again takes the change back. Staff, who have
// heard the address, change it at once: the old link ends, and the new address
// gets a mail with the new one. Refusals:
// NotFound, Over, Conflict (stale mark), AlreadyBooked (staff: the new address has a booking here),
// TooManyChanges (customers).
func (s *Store) CorrectContact(ctx context.Context, req ContactRequest) (Reservation, error) {
	var corrected Reservation
	_, err := s.onReservation(ctx, "contact", Press{TenantID: req.TenantID, ID: req.ID, Actor: req.Actor}, func(ctx context.Context, t *slotTx, r Reservation) error {
		corrected = r
		switch {
		case r.State != Confirmed:
			return Over
		case req.Seen != "" && req.Seen != t.s.ContactMark(r):
			return Conflict
		}
		now, c, byStaff := r, req.Contact, t.actor.Kind == Staff
		now.Name, now.Kana, now.Phone, now.Note, now.Locale = c.Name, c.Kana, c.Phone, c.Note, c.Locale
		now.EmailNew, now.EmailUntil = "", nil
		if c.Answers != nil {
			now.Answers = c.Answers
		}
		other := PersonKey(c.Email) != PersonKey(r.Email) && (byStaff || c.Email != "")
		asked := other && !byStaff
		switch {
		case asked:
			if r.EmailGeneration >= MostEmailChanges {
				return TooManyChanges
			}
			until := t.now.Add(EmailChangeTime)
			now.EmailNew, now.EmailUntil, now.EmailGeneration = c.Email, &until, r.EmailGeneration+1
		case other:
			if err := t.newPerson(ctx, c.Email); err != nil {
				return err
			}
		case c.Email != "": // the same person, otherwise spelled
			now.Email = c.Email
		}
		err := t.exec(ctx, 1, contactSQL, pgx.StrictNamedArgs{
			"tenant": t.tenant, "id": r.ID, "name": now.Name, "kana": now.Kana, "phone": now.Phone, "note": now.Note, "locale": now.Locale,
			"answers": jsonAnswers(now.Answers), "email": now.Email, "email_new": now.EmailNew, "email_until": now.EmailUntil,
			"email_hash": tokenHash(t.s.EmailToken(now)), "email_generation": now.EmailGeneration, "addr": t.actor.Addr, "agent": t.actor.Agent,
		})
		if err != nil {
			return err
		}
		if fields := changedFields(r, now); len(fields) > 0 {
			t.event(EventContactChanged, r.ID, r.PartySize, 0, map[string]any{"fields": fields})
		}
		switch {
		case asked:
			number := t.event(EventEmailAsked, r.ID, r.PartySize, 0, nil)
			to := now
			to.Email = now.EmailNew
			t.toReservation(KindConfirmEmail, to, number, nil)
		case other:
			if err := t.changeEmail(ctx, &now, c.Email); err != nil {
				return err
			}
		}
		corrected = now
		return t.sweepOnly(ctx) // an entry of the same person has nothing more to wait for
	})
	return corrected, s.settle("contact", err)
}

// changedFields names what differs, for the history, which has no personal data.
func changedFields(was, now Reservation) []string {
	var fields []string
	for _, f := range []struct {
		name string
		same bool
	}{
		{"name", was.Name == now.Name},
		{"kana", was.Kana == now.Kana},
		{"phone", was.Phone == now.Phone},
		{"note", was.Note == now.Note},
		{"answers", maps.Equal(was.Answers, now.Answers)},
	} {
		if !f.same {
			fields = append(fields, f.name)
		}
	}
	return fields
}

// newPerson judges whether the booking may become that of an address.
func (t *slotTx) newPerson(ctx context.Context, email string) error {
	booked, err := t.bookedHere(ctx, email)
	if err == nil && booked {
		return AlreadyBooked
	}
	return err
}

const changeEmailSQL = `-- change e-mail
UPDATE reservations SET email = @email, email_new = '', email_until = NULL, person_key = CASE WHEN one_per_person THEN NULLIF(@person::text, '') END,
	press_addr = @addr, press_agent = @agent
WHERE tenant_id = @tenant AND id = @id AND state = 'confirmed'`

// What has not reached the old address goes to the new one, if there is one.
const readdressSQL = `-- readdress messages
UPDATE outbox SET recipient = @email
WHERE tenant_id = @tenant AND subject_id = @id AND state IN ('pending', 'failed') AND kind NOT IN ('confirm_email', 'email_changed') AND erased_at IS NULL`

// changeEmail makes email the address of the booking. When a customer does it
// the old address is told, so that nobody takes a booking over unseen.
func (t *slotTx) changeEmail(ctx context.Context, r *Reservation, email string) error {
	err := t.exec(ctx, 1, changeEmailSQL, pgx.StrictNamedArgs{
		"tenant": t.tenant, "id": r.ID, "email": email, "person": PersonKey(email), "addr": t.actor.Addr, "agent": t.actor.Agent,
	})
	if err != nil {
		return err
	}
	if email != "" {
		if _, err := t.tx.Exec(ctx, readdressSQL, pgx.StrictNamedArgs{"tenant": t.tenant, "id": r.ID, "email": email}); err != nil {
			return err
		}
	}
	number := t.event(EventEmailChanged, r.ID, r.PartySize, 0, noticeDetails("", t.actor.Kind == Staff))
	was := *r
	r.Email, r.EmailNew, r.EmailUntil = email, "", nil
	if t.actor.Kind != Staff {
		t.toReservation(KindEmailChanged, was, number, nil)
		return nil
	}
	return t.sendNewLink(ctx, r, number)
}

const newLinkSQL = `-- revoke link of a reservation
UPDATE reservations SET link_generation = @generation, link_hash = @hash WHERE tenant_id = @tenant AND id = @id`

// sendNewLink revokes the link of a booking whose address staff have corrected:
// whoever got the mails so far was not meant. The right address gets the new one.
func (t *slotTx) sendNewLink(ctx context.Context, r *Reservation, number int64) error {
	r.Generation++
	err := t.exec(ctx, 1, newLinkSQL, pgx.StrictNamedArgs{
		"tenant": t.tenant, "id": r.ID, "generation": r.Generation, "hash": tokenHash(t.s.ReservationToken(*r)),
	})
	if err == nil && r.Email != "" {
		t.toReservation(KindMyLinks, *r, number, nil)
	}
	return err
}

// EmailToken is the secret of the link that confirms the newest address named for a booking.
func (s *Store) EmailToken(r Reservation) string {
	return s.token(linkEmail, r.TenantID, r.ID, r.EmailGeneration)
}

const reservationByEmailSQL = `-- reservation by the link of an e-mail change
SELECT ` + reservationColumns + `, coalesce(@at::timestamptz, statement_timestamp()) AS now
FROM reservations r WHERE r.tenant_id = @tenant AND r.email_hash = @hash`

// ReservationByEmailToken finds the booking whose new address a link confirms,
// also when that is done (EmailNew is empty then); NotFound if none.
func (s *Store) ReservationByEmailToken(ctx context.Context, tenant, token string) (Reservation, error) {
	if !validToken(token) {
		return Reservation{}, NotFound
	}
	return one[Reservation](ctx, s.db, reservationByEmailSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "hash": tokenHash(token)})
}

// EmailChangeOver reports whether the time to confirm the new address is over.
// The time that people read is EmailUntil; as for every deadline, whoever presses by then is served.
func (r Reservation) EmailChangeOver(at time.Time) bool {
	return r.EmailUntil != nil && !at.Before(r.EmailUntil.Add(LeastGrace))
}

// ConfirmEmail makes the address that a token was mailed to that of the booking.
// Refusals: NotFound (another address was named since), Over (no booking any
// more, or the change was taken back), Expired, AlreadyBooked (that address has a
// booking here). Confirming what is done is answered with the booking.
func (s *Store) ConfirmEmail(ctx context.Context, tenant, token string, actor Actor) (Reservation, error) {
	read, err := s.ReservationByEmailToken(ctx, tenant, token)
	if err != nil {
		return Reservation{}, s.settle("email", err)
	}
	var confirmed Reservation
	_, err = s.onReservation(ctx, "email", Press{TenantID: tenant, ID: read.ID, Actor: actor}, func(ctx context.Context, t *slotTx, r Reservation) error {
		confirmed = r
		switch {
		case t.s.EmailToken(r) != token:
			return NotFound
		case r.State != Confirmed:
			return Over
		case r.EmailNew == "":
			return nil
		case r.EmailChangeOver(t.press):
			return Expired
		}
		if err := t.newPerson(ctx, r.EmailNew); err != nil {
			return err
		}
		if err := t.changeEmail(ctx, &confirmed, r.EmailNew); err != nil {
			return err
		}
		return t.sweepOnly(ctx)
	})
	return confirmed, s.settle("email", err)
}
