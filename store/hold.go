package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// HoldRequest asks for seats while the customer fills in the form.
type HoldRequest struct {
	TenantID  string
	Slots     []HoldSlot // one; or several, held together or not at all
	PartySize int
	Owner     string // the visitor or API user: who may confirm, and whose holds are counted
	Key       string // idempotency key; empty: every press is a new request
	Source    Source
	Locale    string
	Actor     Actor
}

// HoldSlot is a slot as the page showed it.
type HoldSlot struct {
	ID           string
	TermsVersion int
	Version      *int64 // nil: any
}

// Hold keeps seats for the owner until a deadline. With one slot it is a single
// statement as long as nothing in the slot is due; refusals: NotFound, Closed,
// TooEarly, TooLate, TermsChanged, Conflict, PartyTooLarge, TooManyHolds,
// SoldOut, KeyReused, Busy. A repeated press with the same key gets the same
// reservation as long as it lives.
func (s *Store) Hold(ctx context.Context, req HoldRequest) ([]Reservation, error) {
	req.Slots = slices.SortedFunc(slices.Values(req.Slots), func(a, b HoldSlot) int { return strings.Compare(a.ID, b.ID) })
	held, err := s.hold(ctx, req)
	if errors.Is(err, errUnknownFate) && req.Key != "" {
		// The answer was lost on the way. The key tells whether the hold was made.
		if made, lookup := s.byKey(ctx, req); lookup == nil && len(made) > 0 {
			held, err = made, nil
		}
	}
	return held, s.settle("hold", err)
}

func (s *Store) hold(ctx context.Context, req HoldRequest) ([]Reservation, error) {
	if len(req.Slots) == 0 || req.PartySize < 1 {
		return nil, fmt.Errorf("a hold needs a slot and a party of at least 1")
	}
	if len(req.Slots) > 1 {
		return s.holdSlots(ctx, req)
	}
	held, err := s.holdOne(ctx, req)
	switch {
	case err == nil:
		s.changed(req.TenantID, held.SlotID)
		return []Reservation{held}, nil
	case errors.Is(err, pgx.ErrNoRows):
		s.zeroRows("hold")
	case violated(err, "reservations_key"):
	default:
		return nil, err
	}
	// Refused. A read names the reason, and only where something is due, or
	// the state has changed in the meantime, the slot is locked and judged again:
	// a full slot under a rush must not make its visitors queue for a refusal.
	switch found, err := s.whyNotHeld(ctx, req); {
	case err == nil && len(found) > 0:
		return found, nil
	case err != nil && !errors.Is(err, errJudgeAgain):
		return nil, err
	}
	return s.holdSlots(ctx, req)
}

// fingerprint tells requests apart that use the same key.
func (req HoldRequest) fingerprint() []byte {
	sum := sha256.New()
	fmt.Fprintf(sum, "%d:%s %d", len(req.Owner), req.Owner, req.PartySize)
	for _, slot := range req.Slots {
		fmt.Fprintf(sum, " %s", slot.ID)
	}
	return sum.Sum(nil)
}

// Judging and writing is this one statement; success is the row that it
// returns. All conditions stand on the slot's own row, which the update locks,
// but for two that read the statement's snapshot: what is due here (then the slot
// is swept first) and the visitor's number of holds, a courtesy.
const holdSQL = `-- hold
WITH slot AS (
	UPDATE slots SET taken = taken + @party, version = version + 1
	WHERE tenant_id = @tenant AND id = @slot AND status = 'open'
		AND starts_at - booking_opens <= (SELECT coalesce(@at::timestamptz, statement_timestamp()))
		AND starts_at - booking_closes > (SELECT coalesce(@at::timestamptz, statement_timestamp()))
		AND terms_version = @terms AND (@version::bigint IS NULL OR version = @version::bigint)
		AND @party <= party_max
		AND NOT (kept AND order_until > (SELECT coalesce(@at::timestamptz, statement_timestamp())))
		AND taken + @party <= capacity
		AND NOT EXISTS (SELECT 1 FROM reservations WHERE tenant_id = @tenant AND slot_id = @slot AND state = 'held'
			AND expires_at <= (SELECT coalesce(@at::timestamptz, statement_timestamp())))
		AND NOT EXISTS (SELECT 1 FROM waitlist_entries WHERE tenant_id = @tenant AND slot_id = @slot AND state = 'offered'
			AND expires_at <= (SELECT coalesce(@at::timestamptz, statement_timestamp())))
		AND (SELECT count(DISTINCT coalesce(group_id, id)) FROM reservations WHERE tenant_id = @tenant AND owner = @owner AND state = 'held'
			AND expires_at > (SELECT coalesce(@at::timestamptz, statement_timestamp()))) < holds_per_visitor
	RETURNING tenant_id, id, version, capacity, terms_version, one_per_person, hold_shown, hold_grace, starts_at - booking_closes AS closes_at,
		fit, order_until, (SELECT coalesce(@at::timestamptz, statement_timestamp())) AS now
), r AS (
	INSERT INTO reservations AS r (tenant_id, id, slot_id, party_size, state, number, locale, owner, shown_until, expires_at, terms_version,
		one_per_person, idempotency_key, fingerprint, link_hash, source, press_addr, press_agent, created_at)
	SELECT tenant_id, @id, id, @party, 'held', @number, @locale, @owner, least(now + hold_shown, closes_at), least(now + hold_shown, closes_at) + hold_grace,
		terms_version, one_per_person, @key, @fingerprint, @hash, @source, @addr, @agent, now
	FROM slot
	RETURNING ` + reservationColumns + `, r.created_at AS now
), e AS (
	INSERT INTO events (tenant_id, slot_id, number, kind, actor, party_size, seats, capacity, mode, subject_id, at, details)
	SELECT tenant_id, id, version, 'held', @actor, @party, @party, capacity, CASE WHEN order_until > now THEN fit ELSE 'first_come' END, @id, now,
		jsonb_build_object('shown_until', least(now + hold_shown, closes_at))
	FROM slot
)
SELECT * FROM r`

func (s *Store) holdOne(ctx context.Context, req HoldRequest) (Reservation, error) {
	ctx, cancel := context.WithTimeout(ctx, LongestWait)
	defer cancel()
	for attempt := 1; ; attempt++ {
		held, err := s.tryHoldOne(ctx, req)
		switch {
		case err == nil || errors.Is(err, pgx.ErrNoRows):
			return held, err
		case violated(err, "reservations_number") || (retryable(err) && attempt < 4):
			if wait(ctx, backoff(attempt)) == nil {
				continue
			}
		case code(err) == "":
			// A statement is its own transaction: when the connection broke, it may have committed.
			return held, fmt.Errorf("%w: %w", errUnknownFate, err)
		}
		return held, err
	}
}

func (s *Store) tryHoldOne(ctx context.Context, req HoldRequest) (Reservation, error) {
	id := newID()
	slot := req.Slots[0]
	rows, err := s.db.Query(ctx, holdSQL, pgx.StrictNamedArgs{
		"at": s.at, "tenant": req.TenantID, "slot": slot.ID, "terms": slot.TermsVersion, "version": slot.Version, "party": req.PartySize, "id": id,
		"number": newNumber(), "locale": req.Locale, "owner": req.Owner, "key": nullable(req.Key), "fingerprint": req.fingerprint(),
		"hash": tokenHash(s.token(linkReservation, req.TenantID, id, 0)), "source": req.Source, "actor": req.Actor.label(),
		"addr": req.Actor.Addr, "agent": req.Actor.Agent,
	})
	if err != nil {
		return Reservation{}, err
	}
	return pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Reservation])
}

func nullable(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// errJudgeAgain says that reading found no reason to refuse: the slot has to be locked.
var errJudgeAgain = errors.New("judge again under the lock")

type keyed struct {
	Reservation
	Fingerprint []byte
}

const byKeySQL = `-- reservation of a key
SELECT ` + reservationColumns + `, r.fingerprint, coalesce(@at::timestamptz, statement_timestamp()) AS now
FROM reservations r
WHERE r.tenant_id = @tenant AND r.slot_id = ANY(@slots::text[]::uuid[]) AND r.idempotency_key = @key AND r.state IN ('held', 'confirmed')
ORDER BY r.slot_id`

// byKey answers a repeated press: the live reservations that the key stands
// for. None if it is free, or stands for something due. KeyReused if for another request.
func (s *Store) byKey(ctx context.Context, req HoldRequest) ([]Reservation, error) {
	return lookUpKey(ctx, s.db, req, s.at)
}

// lookUpKey is byKey. Under the slot's lock at is the instant of the step: what
// it finds due the sweep has to find due too, or the key would clash.
func lookUpKey(ctx context.Context, db querier, req HoldRequest, at *time.Time) ([]Reservation, error) {
	if req.Key == "" {
		return nil, nil
	}
	ids := make([]string, 0, len(req.Slots))
	for _, slot := range req.Slots {
		ids = append(ids, slot.ID)
	}
	rows, err := list[keyed](ctx, db, byKeySQL, pgx.StrictNamedArgs{"at": at, "tenant": req.TenantID, "slots": ids, "key": req.Key})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	var made []Reservation
	for _, row := range rows {
		if row.State == Held && !row.ExpiresAt.After(row.Now) {
			continue // due: it is swept first, and the press starts anew
		}
		if string(row.Fingerprint) != string(req.fingerprint()) {
			return nil, KeyReused
		}
		made = append(made, row.Reservation)
	}
	return made, nil
}

const whyNotHeldSQL = `-- why not held
SELECT s.status, s.starts_at - s.booking_opens AS opens_at, s.starts_at - s.booking_closes AS closes_at, s.terms_version, s.version, s.party_max,
	s.kept AND s.order_until > n.now AS kept, s.kept AND s.order_until <= n.now AS switch_due, s.capacity - s.taken AS free, n.now, s.holds_per_visitor,
	(SELECT count(DISTINCT coalesce(r.group_id, r.id)) FROM reservations r WHERE r.tenant_id = s.tenant_id AND r.owner = @owner AND r.state = 'held' AND r.expires_at > n.now)::int AS holds,
	EXISTS (SELECT 1 FROM reservations r WHERE r.tenant_id = s.tenant_id AND r.slot_id = s.id AND r.state = 'held' AND r.expires_at <= n.now)
		OR EXISTS (SELECT 1 FROM waitlist_entries e WHERE e.tenant_id = s.tenant_id AND e.slot_id = s.id AND e.state = 'offered' AND e.expires_at <= n.now)
		OR EXISTS (SELECT 1 FROM reservations r WHERE r.tenant_id = s.tenant_id AND r.slot_id = s.id AND r.entry_to_close) AS due
FROM (SELECT coalesce(@at::timestamptz, statement_timestamp()) AS now) n, slots s
WHERE s.tenant_id = @tenant AND s.id = @slot`

// holdView is what judging a hold looks at.
type holdView struct {
	Status          SlotStatus
	OpensAt         time.Time
	ClosesAt        time.Time
	TermsVersion    int
	Version         int64
	PartyMax        int
	Kept            bool
	SwitchDue       bool
	Free            int
	Now             time.Time
	HoldsPerVisitor int
	Holds           int
	Due             bool
}

// refusal names the first condition that a hold of one slot fails; nil: none.
// at is when the press arrived.
func (v holdView) refusal(slot HoldSlot, party int, at time.Time) error {
	switch {
	case v.Status != SlotOpen:
		return Closed
	case at.Before(v.OpensAt):
		return TooEarly
	case !at.Before(v.ClosesAt):
		return TooLate
	case slot.TermsVersion != v.TermsVersion:
		return TermsChanged
	case slot.Version != nil && *slot.Version != v.Version:
		return Conflict
	case party > v.PartyMax:
		return PartyTooLarge
	case v.Holds >= v.HoldsPerVisitor:
		return TooManyHolds
	case v.Kept || party > v.Free:
		return SoldOut
	}
	return nil
}

func (s *Store) whyNotHeld(ctx context.Context, req HoldRequest) ([]Reservation, error) {
	if made, err := s.byKey(ctx, req); err != nil || len(made) > 0 {
		return made, err
	}
	view, err := one[holdView](ctx, s.db, whyNotHeldSQL, pgx.StrictNamedArgs{
		"at": s.at, "tenant": req.TenantID, "slot": req.Slots[0].ID, "owner": req.Owner,
	})
	if err != nil {
		return nil, err
	}
	if view.Due || view.SwitchDue {
		return nil, errJudgeAgain
	}
	if refused := view.refusal(req.Slots[0], req.PartySize, view.Now); refused != nil {
		return nil, refused
	}
	return nil, errJudgeAgain
}

const countHoldsSQL = `-- live holds of a visitor
SELECT count(DISTINCT coalesce(group_id, id))::int FROM reservations WHERE tenant_id = @tenant AND owner = @owner AND state = 'held' AND expires_at > @now`

// holdSlots holds under the locks of all slots: swept first, then all judged, then all written.
func (s *Store) holdSlots(ctx context.Context, req HoldRequest) ([]Reservation, error) {
	if len(slices.CompactFunc(slices.Clone(req.Slots), func(a, b HoldSlot) bool { return a.ID == b.ID })) != len(req.Slots) {
		return nil, Conflict
	}
	ids := make([]string, 0, len(req.Slots))
	for _, slot := range req.Slots {
		ids = append(ids, slot.ID)
	}
	var held []Reservation
	_, err := s.onSlots(ctx, "hold", req.TenantID, ids, req.Actor, stepOptions{}, func(ctx context.Context, t *stepTx) error {
		held = nil
		made, err := lookUpKey(ctx, t.tx, req, &t.now)
		if err != nil {
			return err
		}
		if len(made) == len(req.Slots) || slices.ContainsFunc(made, func(r Reservation) bool { return r.State == Confirmed }) {
			held = made
			return nil
		}
		// Of a group that is no longer whole nobody can confirm the rest: it makes room for the new one.
		for _, r := range made {
			slot := t.at(r.SlotID)
			if err := slot.endReservation(ctx, &r, Released, ""); err != nil {
				return err
			}
			slot.freeSeats(r, EventReleased, r.PartySize, nil, false)
		}
		for _, slot := range t.slots {
			if err := slot.sweep(ctx); err != nil {
				return err
			}
			if len(made) > 0 {
				if err := slot.offerInOrder(ctx); err != nil {
					return err
				}
			}
		}
		var holds int
		if err := t.tx.QueryRow(ctx, countHoldsSQL, pgx.StrictNamedArgs{"tenant": req.TenantID, "owner": req.Owner, "now": t.press}).Scan(&holds); err != nil {
			return err
		}
		for i, slot := range t.slots {
			if err := slot.judgeHold(req.Slots[i], req.PartySize, holds); err != nil {
				return err
			}
		}
		for _, slot := range t.slots {
			r, err := slot.writeHold(ctx, req)
			if err != nil {
				return err
			}
			held = append(held, r)
		}
		return groupTogether(ctx, t, held)
	})
	if err != nil {
		return nil, err
	}
	return held, nil
}

// judgeHold judges the slot as it stands after its sweep. A group counts as one hold of the visitor.
func (t *slotTx) judgeHold(slot HoldSlot, party, holds int) error {
	view := holdView{
		Status: t.slot.Status, OpensAt: t.slot.opensAt(), ClosesAt: t.slot.closesAt(), TermsVersion: t.slot.TermsVersion, Version: t.was.Version,
		PartyMax: t.slot.PartyMax, Free: t.slot.free(), Kept: t.slot.Kept && t.slot.orderRules(t.now), HoldsPerVisitor: t.slot.HoldsPerVisitor, Holds: holds,
	}
	return view.refusal(slot, party, t.press)
}

// hasSeats is "seats" of the protocol: free ones, and not kept for the waitlist.
func (t *slotTx) hasSeats(n int) bool {
	return !(t.slot.Kept && t.slot.orderRules(t.now)) && n <= t.slot.free()
}

// open is "open" of the protocol, judged by the press.
func (t *slotTx) open() error {
	switch {
	case t.slot.Status != SlotOpen:
		return Closed
	case t.press.Before(t.slot.opensAt()):
		return TooEarly
	case !t.press.Before(t.slot.closesAt()):
		return TooLate
	}
	return nil
}

// Who waited has consented when joining.
const insertReservationSQL = `-- write reservation
INSERT INTO reservations AS r (tenant_id, id, slot_id, party_size, state, number, name, kana, email, phone, note, answers, locale, owner, shown_until, expires_at,
	terms_version, one_per_person, extra_seats, idempotency_key, fingerprint, link_hash, source, entry_id, consent_version, consented_at, press_addr, press_agent,
	person_key, created_at, confirmed_at)
VALUES (@tenant, @id, @slot, @party, @state, @number, @name, @kana, @email, @phone, @note, @answers::jsonb, @locale, @owner, @shown, @expires,
	@terms, @one_per_person, @extra, @key, @fingerprint, @hash, @source, @entry,
	coalesce((SELECT e.consent_version FROM waitlist_entries e WHERE e.tenant_id = @tenant AND e.id = @entry), ''),
	(SELECT e.consented_at FROM waitlist_entries e WHERE e.tenant_id = @tenant AND e.id = @entry), @addr, @agent,
	NULLIF(@person::text, ''), @now, CASE WHEN @state = 'confirmed' THEN @now::timestamptz END)
RETURNING ` + reservationColumns + `, @now::timestamptz AS now`

// newReservation is what differs between the doors through which one comes.
type newReservation struct {
	state       ReservationState
	party       int
	extra       int
	contact     Contact
	owner       string
	shown       *time.Time
	expires     *time.Time
	key         string
	fingerprint []byte
	source      Source
	entry       *string
}

func (t *slotTx) insertReservation(ctx context.Context, n newReservation) (Reservation, error) {
	id, person := newID(), ""
	if n.state == Confirmed && t.slot.OnePerPerson {
		person = PersonKey(n.contact.Email)
	}
	return one[Reservation](ctx, t.tx, insertReservationSQL, pgx.StrictNamedArgs{
		"tenant": t.tenant, "id": id, "slot": t.slot.ID, "party": n.party, "state": n.state, "number": newNumber(), "name": n.contact.Name,
		"kana": n.contact.Kana, "email": n.contact.Email, "phone": n.contact.Phone, "note": n.contact.Note, "answers": jsonAnswers(n.contact.Answers), "locale": n.contact.Locale, "owner": n.owner,
		"shown": n.shown, "expires": n.expires, "terms": t.slot.TermsVersion, "one_per_person": t.slot.OnePerPerson, "extra": n.extra,
		"key": nullable(n.key), "fingerprint": n.fingerprint, "hash": tokenHash(t.s.token(linkReservation, t.tenant, id, 0)), "source": n.source,
		"entry": n.entry, "addr": t.actor.Addr, "agent": t.actor.Agent, "person": person, "now": t.now,
	})
}

func (t *slotTx) holdDeadline() time.Time {
	shown := t.now.Add(t.slot.HoldShown)
	if closes := t.slot.closesAt(); shown.After(closes) {
		shown = closes
	}
	return shown
}

func (t *slotTx) writeHold(ctx context.Context, req HoldRequest) (Reservation, error) {
	shown := t.holdDeadline()
	expires := shown.Add(t.slot.HoldGrace)
	r, err := t.insertReservation(ctx, newReservation{
		state: Held, party: req.PartySize, contact: Contact{Locale: req.Locale}, owner: req.Owner, shown: &shown, expires: &expires,
		key: req.Key, fingerprint: req.fingerprint(), source: req.Source,
	})
	if err != nil {
		return Reservation{}, err
	}
	t.event(EventHeld, r.ID, r.PartySize, r.PartySize, map[string]any{"shown_until": shown})
	return r, nil
}

const groupTogetherSQL = `-- group reservations
UPDATE reservations SET group_id = @group, group_size = @size WHERE tenant_id = @tenant AND id = ANY(@ids::text[]::uuid[])`

func groupTogether(ctx context.Context, t *stepTx, held []Reservation) error {
	if len(held) < 2 {
		return nil
	}
	group, size := newID(), len(held)
	ids := make([]string, 0, size)
	for i := range held {
		held[i].GroupID, held[i].GroupSize = &group, &size
		ids = append(ids, held[i].ID)
	}
	return t.exec(ctx, int64(size), groupTogetherSQL, pgx.StrictNamedArgs{"tenant": t.tenant, "group": group, "size": size, "ids": ids})
}
