package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// JoinRequest puts a party on the waitlist of a full slot. Contact is normalised.
type JoinRequest struct {
	TenantID       string
	SlotID         string
	PartySize      int
	Contact        Contact // a customer's must have an e-mail; staff may add a caller without one
	Key            string  // idempotency key of the form; empty: every press is a new request
	ConsentVersion string
	Untold         bool // does not want to be told of open seats
	Source         Source
	Actor          Actor
	Version        *int64 // of the slot, as the form showed it; nil: not asked
}

const insertEntrySQL = `-- join
INSERT INTO waitlist_entries AS e (tenant_id, id, slot_id, party_size, state, position, name, kana, email, phone, note, answers, locale, person_key, link_hash,
	source, consent_version, consented_at, press_addr, press_agent, tell_vacancies, joined_at)
VALUES (@tenant, @id, @slot, @party, 'waiting', @position, @name, @kana, @email, @phone, @note, @answers::jsonb, @locale, NULLIF(@person::text, ''), @hash,
	@source, @consent, CASE WHEN @consent::text <> '' THEN @press::timestamptz END, @addr, @agent, NOT @untold::boolean, @now)
RETURNING ` + entryColumns + `, 0 AS place, 0 AS of, @now::timestamptz AS now`

const waitingSQL = `-- entries that wait
SELECT count(*)::int FROM waitlist_entries WHERE tenant_id = @tenant AND slot_id = @slot AND state = 'waiting'`

const liveEntrySQL = `-- live entry of a person
SELECT EXISTS (SELECT 1 FROM waitlist_entries WHERE tenant_id = @tenant AND slot_id = @slot AND person_key = @person AND state IN ('waiting', 'offered'))`

// Join makes a waiting entry at the end of the queue. Refusals: NotFound,
// Closed, TooEarly, TooLate, WaitlistOff, PartyTooLarge, SeatsFree (a hold would
// succeed), AlreadyBooked, AlreadyWaiting, WaitlistFull. A repeated press with
// the same key gets the same entry, whatever has become of it.
func (s *Store) Join(ctx context.Context, req JoinRequest) (Entry, error) {
	var joined Entry
	_, err := s.onSlot(ctx, "join", req.TenantID, req.SlotID, req.Actor, func(ctx context.Context, t *slotTx) error {
		var err error
		joined, err = t.join(ctx, req)
		return err
	})
	if err == nil {
		// Read once more for the place in the queue.
		joined, err = s.Entry(ctx, req.TenantID, joined.ID)
	}
	return joined, s.settle("join", err)
}

func (t *slotTx) join(ctx context.Context, req JoinRequest) (Entry, error) {
	id := newID()
	if req.Key != "" {
		// The key names the entry, so that a repeated press finds it by its own id.
		id = formatID([16]byte(t.s.mac(string(linkJoin), t.tenant, t.slot.ID, req.Key)[:16]))
		made, err := t.s.entryIn(ctx, t.tx, t.tenant, id)
		switch {
		case err == nil && PersonKey(made.Email) == PersonKey(req.Contact.Email):
			return made, nil
		case err == nil:
			return Entry{}, KeyReused
		case !errors.Is(err, NotFound):
			return Entry{}, err
		}
	}
	if err := t.seen(req.Version); err != nil {
		return Entry{}, err
	}
	if err := t.open(); err != nil {
		return Entry{}, err
	}
	if err := t.sweep(ctx); err != nil {
		return Entry{}, err
	}
	if err := t.judgeJoin(ctx, req); err != nil {
		return Entry{}, err
	}
	// The position is the number of the joining event, which is written last.
	e, err := one[Entry](ctx, t.tx, insertEntrySQL, pgx.StrictNamedArgs{
		"tenant": t.tenant, "id": id, "slot": t.slot.ID, "party": req.PartySize, "position": t.slot.Version + 1, "name": req.Contact.Name,
		"kana": req.Contact.Kana, "email": req.Contact.Email, "phone": req.Contact.Phone, "note": req.Contact.Note, "answers": jsonAnswers(req.Contact.Answers), "locale": req.Contact.Locale,
		"person": PersonKey(req.Contact.Email), "hash": tokenHash(t.s.token(linkEntry, t.tenant, id, 0)), "source": req.Source,
		"consent": req.ConsentVersion, "press": t.press, "addr": t.actor.Addr, "agent": t.actor.Agent, "untold": req.Untold, "now": t.now,
	})
	if err != nil {
		return Entry{}, err
	}
	number := t.event(EventJoined, e.ID, e.PartySize, 0, nil)
	t.toEntry(KindJoined, e, number, nil)
	return e, nil
}

func (s *Store) entryIn(ctx context.Context, db querier, tenant, id string) (Entry, error) {
	return one[Entry](ctx, db, entrySQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "id": id})
}

func (t *slotTx) judgeJoin(ctx context.Context, req JoinRequest) error {
	switch {
	case t.slot.WaitlistMode == WaitlistNone:
		return WaitlistOff
	case req.PartySize < 1 || req.PartySize > t.slot.Capacity || (req.PartySize > t.slot.PartyMax && t.actor.Kind != Staff):
		return PartyTooLarge
	}
	if booked, err := t.bookedHere(ctx, req.Contact.Email); err != nil {
		return err
	} else if booked {
		return AlreadyBooked
	}
	if req.Contact.Email != "" {
		var waits bool
		err := t.tx.QueryRow(ctx, liveEntrySQL, pgx.StrictNamedArgs{"tenant": t.tenant, "slot": t.slot.ID, "person": PersonKey(req.Contact.Email)}).Scan(&waits)
		if err != nil {
			return err
		}
		if waits {
			return AlreadyWaiting
		}
	}
	if t.hasSeats(req.PartySize) {
		return SeatsFree
	}
	if t.slot.WaitlistMax != nil {
		var waiting int
		if err := t.tx.QueryRow(ctx, waitingSQL, pgx.StrictNamedArgs{"tenant": t.tenant, "slot": t.slot.ID}).Scan(&waiting); err != nil {
			return err
		}
		if waiting >= *t.slot.WaitlistMax {
			return WaitlistFull
		}
	}
	return nil
}

const lockEntrySQL = `-- lock entry
SELECT ` + entryColumns + `, 0 AS place, 0 AS of, @now::timestamptz AS now FROM waitlist_entries e WHERE e.tenant_id = @tenant AND e.id = @id FOR NO KEY UPDATE`

// onEntry locks the slot that the entry waits for (an entry never moves), then its row, and runs f.
func (s *Store) onEntry(ctx context.Context, step string, p Press, f func(context.Context, *slotTx, Entry) error) (Change, error) {
	read, err := s.Entry(ctx, p.TenantID, p.ID)
	if err != nil {
		return Change{}, err
	}
	return s.onSlot(ctx, step, p.TenantID, read.SlotID, p.Actor, func(ctx context.Context, t *slotTx) error {
		e, err := one[Entry](ctx, t.tx, lockEntrySQL, pgx.StrictNamedArgs{"tenant": t.tenant, "id": p.ID, "now": t.now})
		if err != nil {
			return err
		}
		return f(ctx, t, e)
	})
}

const endEntrySQL = `-- end entry
UPDATE waitlist_entries SET state = @state, ended_at = @now, reason = @reason, press_addr = @addr, press_agent = @agent
WHERE tenant_id = @tenant AND id = @id AND state IN ('waiting', 'offered')`

// endEntry ends a live entry by a press; seats that were kept for it come free.
func (t *slotTx) endEntry(ctx context.Context, e *Entry, state EntryState, kind EventKind, reason string) (int64, error) {
	err := t.exec(ctx, 1, endEntrySQL, pgx.StrictNamedArgs{
		"tenant": t.tenant, "id": e.ID, "state": state, "now": t.now, "reason": reason, "addr": t.actor.Addr, "agent": t.actor.Agent,
	})
	if err != nil {
		return 0, err
	}
	seats := 0
	if e.State == Offered {
		seats = -e.PartySize
	}
	number := t.event(kind, e.ID, e.PartySize, seats, noticeDetails(reason, false))
	e.State, e.EndedAt, e.Reason = state, &t.now, reason
	t.change.Closed = append(t.change.Closed, *e)
	return number, nil
}

// Withdraw takes a party off the list; one that is offered seats declines them.
// An entry that is over is answered as it is. Refusals: NotFound.
func (s *Store) Withdraw(ctx context.Context, p Press) (Entry, error) {
	return s.endByPerson(ctx, "withdraw", p)
}

// Decline lets an offer pass: its seats go on. An entry that is over is
// answered as it is; one that waits again has no offer to decline: Over. Refusals: NotFound.
func (s *Store) Decline(ctx context.Context, p Press) (Entry, error) {
	return s.endByPerson(ctx, "decline", p)
}

func (s *Store) endByPerson(ctx context.Context, step string, p Press) (Entry, error) {
	var ended Entry
	_, err := s.onEntry(ctx, step, p, func(ctx context.Context, t *slotTx, e Entry) error {
		ended = e
		if err := t.seen(p.Version); e.Live() && err != nil {
			return err
		}
		t.exempt = append(t.exempt, e.ID)
		if e.Live() && step == "decline" && e.State == Waiting {
			return Over
		}
		// What is due ends here and passes on at the end: to offer first to somebody who leaves would be a message for nothing.
		if err := t.sweepOnly(ctx); err != nil {
			return err
		}
		if !e.Live() || t.closedMeanwhile(e.ID) {
			return nil
		}
		state, kind := Withdrawn, EventWithdrawn
		if e.State == Offered {
			state, kind = Declined, EventDeclined
		}
		_, err := t.endEntry(ctx, &ended, state, kind, "")
		return err
	})
	return ended, s.settle(step, err)
}

// closedMeanwhile reports whether this transaction's sweep has closed the entry
// that the press is about, because its person has booked.
func (t *slotTx) closedMeanwhile(id string) bool {
	for _, e := range t.change.Closed {
		if e.ID == id {
			return true
		}
	}
	return false
}

// EntryPartyRequest changes the size of a waiting party.
type EntryPartyRequest struct {
	TenantID  string
	ID        string
	PartySize int
	Actor     Actor
	Version   *int64 // of the slot, as the form showed it; nil: not asked
}

const entryPartySQL = `-- change waiting party
UPDATE waitlist_entries SET party_size = @party, press_addr = @addr, press_agent = @agent WHERE tenant_id = @tenant AND id = @id AND state = 'waiting'`

// ChangeEntryParty makes a waiting party smaller; it keeps its place. A larger
// one would change who passes whom: it has to join anew. Refusals: NotFound,
// Over (no longer waiting), PartyTooLarge (not smaller), AlreadyBooked, Conflict.
func (s *Store) ChangeEntryParty(ctx context.Context, req EntryPartyRequest) (Entry, error) {
	_, err := s.ResizeEntry(ctx, req)
	if err != nil {
		return Entry{}, err
	}
	changed, err := s.Entry(ctx, req.TenantID, req.ID)
	return changed, classify(err)
}

// ResizeEntry is ChangeEntryParty that tells what followed instead.
func (s *Store) ResizeEntry(ctx context.Context, req EntryPartyRequest) (Change, error) {
	change, err := s.onEntry(ctx, "entry_party", Press{TenantID: req.TenantID, ID: req.ID, Actor: req.Actor}, func(ctx context.Context, t *slotTx, e Entry) error {
		if err := t.seen(req.Version); err != nil {
			return err
		}
		switch {
		case e.State != Waiting:
			return Over
		case req.PartySize == e.PartySize:
			return t.sweep(ctx)
		case req.PartySize < 1 || req.PartySize > e.PartySize:
			return PartyTooLarge
		}
		if err := t.sweep(ctx); err != nil {
			return err
		}
		if t.closedMeanwhile(e.ID) {
			return AlreadyBooked
		}
		if t.offeredMeanwhile(e.ID) {
			return Over
		}
		err := t.exec(ctx, 1, entryPartySQL, pgx.StrictNamedArgs{
			"tenant": t.tenant, "id": e.ID, "party": req.PartySize, "addr": t.actor.Addr, "agent": t.actor.Agent,
		})
		if err != nil {
			return err
		}
		t.resized[e.ID] = e.PartySize
		t.event(EventEntryChanged, e.ID, req.PartySize, 0, map[string]any{"from": e.PartySize})
		return nil
	})
	return change, s.settle("entry_party", err)
}

// offeredMeanwhile reports whether this transaction's sweep has offered seats to the entry.
func (t *slotTx) offeredMeanwhile(id string) bool {
	for _, e := range t.change.Offered {
		if e.ID == id {
			return true
		}
	}
	return false
}

// Rejoin makes a new entry at the end of the queue from one that lapsed, was
// declined or withdrawn: one press, nothing typed again. Refusals: NotFound,
// AlreadyWaiting (the entry itself lives), and those of Join. Pressed twice it
// is answered with the same new entry.
func (s *Store) Rejoin(ctx context.Context, p Press) (Entry, error) {
	old, err := s.Entry(ctx, p.TenantID, p.ID)
	if err != nil {
		return Entry{}, s.settle("rejoin", err)
	}
	if old.Live() && !(old.State == Offered && !old.ExpiresAt.After(old.Now)) {
		return old, s.settle("rejoin", AlreadyWaiting)
	}
	again, err := s.Join(ctx, JoinRequest{
		TenantID: old.TenantID, SlotID: old.SlotID, PartySize: old.PartySize,
		Contact: Contact{Name: old.Name, Kana: old.Kana, Email: old.Email, Phone: old.Phone, Note: old.Note, Locale: old.Locale, Answers: old.Answers},
		Key:     "rejoin " + old.ID, Source: old.Source, Actor: p.Actor, Untold: !old.TellVacancies,
	})
	if err == nil && !again.Live() && again.State != Accepted {
		// An old link, pressed once more after the entry that it led to had ended too.
		p.ID = again.ID
		return s.Rejoin(ctx, p)
	}
	return again, err
}
