package store

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
)

// NoticeRequest is a message of staff's own words to the people of a slot.
type NoticeRequest struct {
	TenantID string
	SlotID   string
	Booked   bool                  // to those who have a booking
	Waiting  bool                  // to those who wait or are offered seats
	Texts    map[string]NoticeText // by language ("ja", "en"); at least one
	Fallback string                // the language of Texts for those whose own is not among them
	Key      string                // of the form: the same key with the same words is one message
	Actor    Actor
	Version  *int64 // of the slot, as the form showed it; nil: not asked
}

// NoticeText is a message in one language.
type NoticeText struct {
	Subject string `json:"subject"`
	Text    string `json:"text"`
}

// NoticeSent tells to whom a notice went.
type NoticeSent struct {
	Told    int      // messages written: one per address
	Callers []string // ids of reservations and entries without an address: somebody has to call them
	Already bool     // it was sent before, by the same press
}

const noticeSentSQL = `-- was this notice sent
SELECT EXISTS (SELECT 1 FROM events WHERE tenant_id = @tenant AND slot_id = @slot AND kind = 'notice_sent' AND details->>'key' = @key)`

const noticeBookedSQL = `-- confirmed ones of a slot
SELECT ` + reservationColumns + `, @now::timestamptz AS now FROM reservations r
WHERE r.tenant_id = @tenant AND r.slot_id = @slot AND r.state = 'confirmed' ORDER BY r.confirmed_at, r.id`

const noticeWaitingSQL = `-- live entries of a slot
SELECT ` + entryColumns + `, 0 AS place, 0 AS of, @now::timestamptz AS now FROM waitlist_entries e
WHERE e.tenant_id = @tenant AND e.slot_id = @slot AND e.state IN ('waiting', 'offered') ORDER BY e.position`

// SendNotice writes one message to each address among the people of a slot, in
// their own language where there is a text in it. The event says to how many, not
// what. What is booked or ends between the press and the sending is judged again
// before it is sent. Refusals: NotFound, Conflict, Closed (the slot is cancelled:
// all have been told), TooLate (it is over).
func (s *Store) SendNotice(ctx context.Context, req NoticeRequest) (NoticeSent, error) {
	if len(req.Texts) == 0 || (!req.Booked && !req.Waiting) {
		return NoticeSent{}, errors.New("a notice needs a text and somebody to go to")
	}
	if _, there := req.Texts[req.Fallback]; !there {
		return NoticeSent{}, errors.New("a notice needs a text in its language to fall back to")
	}
	var sent NoticeSent
	_, err := s.onSlot(ctx, "notice", req.TenantID, req.SlotID, req.Actor, func(ctx context.Context, t *slotTx) error {
		sent = NoticeSent{} // of this attempt
		key := t.s.noticeKey(req)
		err := t.tx.QueryRow(ctx, noticeSentSQL, pgx.StrictNamedArgs{"tenant": t.tenant, "slot": t.slot.ID, "key": key}).Scan(&sent.Already)
		if err != nil || sent.Already {
			return err
		}
		switch err := t.seen(req.Version); {
		case err != nil:
			return err
		case t.slot.Status == SlotCancelled:
			return Closed
		case !t.press.Before(t.slot.EndsAt):
			return TooLate
		}
		if err := t.sweep(ctx); err != nil {
			return err
		}
		return t.sendNotice(ctx, req, key, &sent)
	})
	return sent, s.settle("notice", err)
}

// noticeKey names a notice in the history: the form's key, and what was to be said to whom.
func (s *Store) noticeKey(req NoticeRequest) string {
	parts := []string{"notice", req.TenantID, req.SlotID, req.Key, boolText(req.Booked), boolText(req.Waiting)}
	for _, lang := range slices.Sorted(maps.Keys(req.Texts)) {
		parts = append(parts, lang, req.Texts[lang].Subject, req.Texts[lang].Text)
	}
	return tokenEncoding.EncodeToString(s.mac(parts...)[:15])
}

func boolText(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

func (t *slotTx) sendNotice(ctx context.Context, req NoticeRequest, key string, sent *NoticeSent) error {
	args := pgx.StrictNamedArgs{"tenant": t.tenant, "slot": t.slot.ID, "now": t.now}
	var booked []Reservation
	var waiting []Entry
	var err error
	if req.Booked {
		if booked, err = list[Reservation](ctx, t.tx, noticeBookedSQL, args); err != nil {
			return err
		}
	}
	if req.Waiting {
		if waiting, err = list[Entry](ctx, t.tx, noticeWaitingSQL, args); err != nil {
			return err
		}
	}
	details := map[string]any{"key": key, "booked": req.Booked, "waiting": req.Waiting}
	number := t.event(EventNoticeSent, "", 0, 0, details)
	payload := func(locale string) map[string]any {
		text, own := req.Texts[locale]
		if !own {
			text = req.Texts[req.Fallback]
		}
		return map[string]any{"subject": text.Subject, "text": text.Text}
	}
	// One message per address: who has booked twice is told once.
	written := map[string]bool{}
	first := func(id, email string) bool {
		switch person := PersonKey(email); {
		case email == "":
			sent.Callers = append(sent.Callers, id)
			return false
		case written[person]:
			return false
		default:
			written[person] = true
			return true
		}
	}
	for _, r := range booked {
		if first(r.ID, r.Email) {
			t.toReservation(KindNotice, r, number, payload(r.Locale))
		}
	}
	for _, e := range waiting {
		if first(e.ID, e.Email) {
			t.toEntry(KindNotice, e, number, payload(e.Locale))
		}
	}
	sent.Told = len(written)
	details["told"], details["callers"] = sent.Told, len(sent.Callers)
	return nil
}

// noticeMissed reports whether the party of a notice is no longer concerned.
func (l Letter) noticeMissed() bool {
	switch {
	case l.Slot.Status == SlotCancelled:
		return true // they are told that, by a message of its own
	case l.Reservation != nil:
		return l.Reservation.State != Confirmed || l.Reservation.SlotID != l.Slot.ID
	case l.Entry != nil:
		return !l.Entry.Live() && l.Entry.State != Accepted // who has accepted comes
	}
	return true
}

const historyBeforeSQL = `-- history of a slot before an event
SELECT ` + eventColumns + ` FROM events WHERE tenant_id = @tenant AND slot_id = @slot AND (@before::bigint = 0 OR id < @before::bigint)
ORDER BY id DESC LIMIT @limit`

// HistoryBefore pages through the events of a slot, newest first: those before
// an event's ID, or the newest with 0.
func (s *Store) HistoryBefore(ctx context.Context, tenant, slot string, before int64, limit int) ([]Event, error) {
	return list[Event](ctx, s.db, historyBeforeSQL, pgx.StrictNamedArgs{"tenant": tenant, "slot": slot, "before": before, "limit": limit})
}
