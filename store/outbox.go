package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// MessageKind is what a message is about.
type MessageKind string

// The kinds of messages. Each is written in the transaction that causes it.
const (
	KindConfirmed     MessageKind = "confirmed"      // a booking stands: confirmed, accepted, claimed or booked by staff
	KindCancelled     MessageKind = "cancelled"      // a booking was cancelled
	KindMoved         MessageKind = "moved"          // a booking is now in another slot
	KindChanged       MessageKind = "changed"        // time, resource or service of the slot changed
	KindSlotCancelled MessageKind = "slot_cancelled" // the slot does not take place
	KindJoined        MessageKind = "joined"         // waiting
	KindOffer         MessageKind = "offer"          // seats are kept until a deadline
	KindLapsed        MessageKind = "lapsed"         // the offer was not answered in time
	KindRevoked       MessageKind = "revoked"        // staff took the offer back or the entry off the list
	KindVacancy       MessageKind = "vacancy"        // seats are open, first come, first served
	KindReminder      MessageKind = "reminder"
	KindConfirmEmail  MessageKind = "confirm_email"   // to an address newly named for a booking: its owner is to press the link
	KindEmailChanged  MessageKind = "email_changed"   // to the old address
	KindMyLinks       MessageKind = "my_reservations" // the links of one address

	KindStaffInvite          MessageKind = "staff_invite"           // somebody is asked to join a team
	KindStaffReset           MessageKind = "staff_reset"            // a link for a new password
	KindStaffPasswordChanged MessageKind = "staff_password_changed" // to whose it is
	KindNotice               MessageKind = "notice"                 // what staff wrote to the people of a slot
)

// MessageKinds lists every kind, for tests that demand a text for each.
var MessageKinds = []MessageKind{
	KindConfirmed, KindCancelled, KindMoved, KindChanged, KindSlotCancelled, KindJoined, KindOffer, KindLapsed, KindRevoked,
	KindVacancy, KindReminder, KindConfirmEmail, KindEmailChanged, KindMyLinks, KindNotice,
	KindStaffInvite, KindStaffReset, KindStaffPasswordChanged,
}

// message is an outbox row to be written.
type message struct {
	kind      MessageKind
	slot      *string
	subject   *string
	number    *int64
	cause     string // of the dedupe key: number of the causing event, or the terms version
	recipient string
	locale    string
	payload   map[string]any
}

// The slot is part of it, because a booking can move and numbers are a slot's own.
func (m message) dedupe() string {
	return fmt.Sprintf("%s/%s/%s/%s", m.kind, *m.subject, *m.slot, m.cause)
}

// toEntry writes to the party of an entry; without an address there is nobody to write to.
func (t *slotTx) toEntry(kind MessageKind, e Entry, number int64, payload map[string]any) {
	if e.Email == "" {
		t.unreached(number)
		return
	}
	t.outbox = append(t.outbox, message{
		kind: kind, slot: &t.slot.ID, subject: &e.ID, number: &number, cause: fmt.Sprint(number), recipient: e.Email, locale: e.Locale, payload: payload,
	})
}

// toReservation writes to the party of a reservation.
func (t *slotTx) toReservation(kind MessageKind, r Reservation, number int64, payload map[string]any) {
	if r.Email == "" {
		t.unreached(number)
		return
	}
	t.outbox = append(t.outbox, message{
		kind: kind, slot: &t.slot.ID, subject: &r.ID, number: &number, cause: fmt.Sprint(number), recipient: r.Email, locale: r.Locale, payload: payload,
	})
}

// noAddress stands in an event whose message had nobody to go to. Without it, an
// address that is added later would seem to be owed what happened before.
const noAddress = "no_address"

func (t *slotTx) unreached(number int64) {
	for i := range t.events {
		e := &t.events[i]
		if e.slot != t.slot.ID || e.number == nil || *e.number != number || e.kind == EventTermsChanged || e.kind == EventNoticeSent { // which have many recipients, counted
			continue
		}
		if e.details == nil {
			e.details = map[string]any{}
		}
		e.details["notice"] = noAddress
	}
}

// MessageState is where an outbox message stands.
type MessageState string

// The states of a message.
const (
	MessagePending  MessageState = "pending"
	MessageSending  MessageState = "sending"
	MessageSent     MessageState = "sent"
	MessageFailed   MessageState = "failed"
	MessageObsolete MessageState = "obsolete"
)

// Message is an outbox row.
type Message struct {
	ID            string
	TenantID      string
	Kind          MessageKind
	SlotID        *string
	SubjectID     *string
	Recipient     string
	Locale        string
	Payload       map[string]any
	SentSubject   string // as sent
	SentText      string // as sent
	State         MessageState
	Attempts      int
	NextAttemptAt time.Time
	SendingUntil  *time.Time // the lease; it names this claim
	SentAt        *time.Time
	LastError     string
	CreatedAt     time.Time
	GivenUpAt     *time.Time  // by somebody at the venue: it is not sent any more
	GivenUpBy     string      // "staff:ID"
	Channel       string      // the way that it went: ChannelMail, ChannelLine; empty: not sent, or before there were two
	LineTries     int         // how often LINE gave no clear answer
	LineOver      LineTrouble // why it is not tried by LINE (any more); empty: it may be
}

const messageColumns = `o.id::text, o.tenant_id::text, o.kind, o.slot_id::text, o.subject_id::text, o.recipient, o.locale, o.payload, o.sent_subject, o.sent_text,
	o.state, o.attempts, o.next_attempt_at, o.sending_until, o.sent_at, o.last_error, o.created_at, o.given_up_at, o.given_up_by,
	o.channel, o.line_tries, o.line_over`

const tenantsToSendSQL = `-- tenants with messages due
SELECT id::text FROM tenants t
WHERE EXISTS (SELECT 1 FROM outbox o WHERE o.tenant_id = t.id AND o.state = 'pending' AND o.next_attempt_at <= coalesce(@at::timestamptz, statement_timestamp()))
	OR EXISTS (SELECT 1 FROM outbox o WHERE o.tenant_id = t.id AND o.state = 'sending' AND o.sending_until <= coalesce(@at::timestamptz, statement_timestamp()))
ORDER BY id`

// TenantsToSend lists the tenants that have messages due, without locking anything.
func (s *Store) TenantsToSend(ctx context.Context) ([]string, error) {
	rows, err := s.db.Query(ctx, tenantsToSendSQL, pgx.StrictNamedArgs{"at": s.at})
	if err != nil {
		return nil, classify(err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return ids, classify(err)
}

// HoldsOrder is after how many attempts a message that is refused for now stops
// holding back later ones to the same reader: some four minutes. Longer, and one that
// a server dislikes would keep an offer with a deadline from somebody.
const HoldsOrder = 4

// A message whose lease has run out is claimed again: its dispatcher died, or
// hangs and can no longer finish, because finishing names the lease.
// Choosing is a CTE, which is worked out once: as a subquery the planner may put
// it on the inner side of a join, and run it again for each row, past its limit.
// What one reader is told keeps its order, also with several dispatchers: behind an
// earlier message that somebody is sending, or that is to be tried again soon, later
// ones wait. Those are few, and are read first; then the oldest that are due, so that
// all that a message could have to wait for is among them, of which somebody may be
// claiming some at this moment. Each step is bounded whatever the planner knows: with
// one condition over all rows, a backlog that it had not heard of took it 10 s.
const claimMessagesSQL = `-- claim messages
WITH ahead AS MATERIALIZED (
	SELECT lower(recipient) AS reader, created_at, id FROM outbox
	WHERE tenant_id = @tenant AND state = 'sending' AND sending_until > (SELECT coalesce(@at::timestamptz, statement_timestamp()))
	UNION ALL
	SELECT lower(recipient), created_at, id FROM outbox
	WHERE tenant_id = @tenant AND state = 'pending' AND next_attempt_at > (SELECT coalesce(@at::timestamptz, statement_timestamp())) AND attempts BETWEEN 1 AND @order::int
), due AS MATERIALIZED (
	SELECT o.id, o.created_at, lower(o.recipient) AS reader FROM outbox o
	WHERE o.tenant_id = @tenant AND o.state IN ('pending', 'sending') AND CASE o.state WHEN 'pending' THEN o.next_attempt_at ELSE o.sending_until END <= (SELECT coalesce(@at::timestamptz, statement_timestamp()))
		AND NOT EXISTS (SELECT 1 FROM ahead a WHERE a.reader = lower(o.recipient) AND (a.created_at, a.id) < (o.created_at, o.id))
	ORDER BY o.created_at, o.id LIMIT @limit::int * 5
), locked AS MATERIALIZED (
	SELECT o.id FROM due d JOIN outbox o ON o.tenant_id = @tenant AND o.id = d.id
	WHERE o.state IN ('pending', 'sending') AND CASE o.state WHEN 'pending' THEN o.next_attempt_at ELSE o.sending_until END <= (SELECT coalesce(@at::timestamptz, statement_timestamp()))
	ORDER BY d.created_at, d.id LIMIT @limit FOR UPDATE OF o SKIP LOCKED
), mine AS MATERIALIZED (
	SELECT d.id FROM due d JOIN locked l ON l.id = d.id
	WHERE NOT EXISTS (SELECT 1 FROM due e WHERE e.reader = d.reader AND (e.created_at, e.id) < (d.created_at, d.id) AND NOT EXISTS (SELECT 1 FROM locked m WHERE m.id = e.id))
)
UPDATE outbox o SET state = 'sending', attempts = o.attempts + 1, sending_until = (SELECT coalesce(@at::timestamptz, statement_timestamp())) + @lease::interval
FROM mine
WHERE o.tenant_id = @tenant AND o.id = mine.id
RETURNING ` + messageColumns

// ClaimMessages takes up to limit due messages of a tenant for sending, for the
// time of the lease. Several dispatchers never get the same one, nor two that one
// reader should get one after the other.
func (s *Store) ClaimMessages(ctx context.Context, tenant string, limit int, lease time.Duration) ([]Message, error) {
	return list[Message](ctx, s.db, claimMessagesSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "limit": limit, "lease": lease, "order": HoldsOrder})
}

const finishMessageSQL = `-- finish message
UPDATE outbox SET state = @state, sending_until = NULL, last_error = @error,
	sent_at = CASE WHEN @state = 'sent' THEN (SELECT coalesce(@at::timestamptz, statement_timestamp())) END,
	sent_subject = @subject, sent_text = @text, channel = @channel, line_tries = line_tries + @line_tries::int,
	next_attempt_at = CASE WHEN @state = 'pending' THEN (SELECT coalesce(@at::timestamptz, statement_timestamp())) + @again::interval ELSE next_attempt_at END
WHERE tenant_id = @tenant AND id = @id AND state = 'sending' AND sending_until = @lease`

// MessageResult is how sending a claimed message ended.
type MessageResult struct {
	State   MessageState  // sent, failed, obsolete; or pending: try again after Again
	Again   time.Duration // pending only
	Subject string        // as sent
	Text    string        // as sent
	Error   string        // the last error, without personal data
	// Channel is the way that it went, of what is sent.
	Channel string
	// LineTries counts what LINE gave no clear answer to.
	LineTries int
}

// FinishMessage ends the claim. False: the lease had run out and somebody else
// has the message, or it was erased.
func (s *Store) FinishMessage(ctx context.Context, m Message, r MessageResult) (bool, error) {
	tag, err := s.db.Exec(ctx, finishMessageSQL, pgx.StrictNamedArgs{
		"at": s.at, "tenant": m.TenantID, "id": m.ID, "state": r.State, "error": r.Error, "subject": r.Subject, "text": m.textToKeep(r.Text),
		"again": r.Again, "lease": m.SendingUntil, "channel": r.Channel, "line_tries": r.LineTries,
	})
	if err != nil {
		return false, fmt.Errorf("finish message %s: %w", m.ID, classify(err))
	}
	return tag.RowsAffected() == 1, nil
}

// Letter is a message with the present state of all that its text speaks of.
// Service and Resource are those of the slot; Slot is nil for KindMyLinks.
type Letter struct {
	Message     Message
	Tenant      Tenant
	Slot        *Slot
	Service     Service
	Resource    Resource
	Reservation *Reservation // of a reservation's message
	Entry       *Entry       // of an entry's message
	// Pointless: the state has moved on and the text would be wrong now.
	Pointless bool
	Bookings  []Booking // KindMyLinks: live reservations and entries of the address
	Staff     *StaffLetter
	News      *StaffNews  // of what tells staff
	Text      MessageText // the venue's own words; of messages to customers
	Line      *LineWay    // nil: it goes by mail, whatever is linked
}

// Booking is a line of "my reservations": one of the two is set.
type Booking struct {
	Slot        Slot
	Service     Service
	Reservation *Reservation
	Entry       *Entry
}

// Letter reads what a message speaks of, as late as possible: what became
// pointless since it was written is not sent.
func (s *Store) Letter(ctx context.Context, m Message) (Letter, error) {
	l := Letter{Message: m}
	var err error
	if l.Tenant, err = s.TenantByID(ctx, m.TenantID); err != nil {
		return Letter{}, err
	}
	if m.Kind.ToStaff() {
		l.Staff, l.Pointless, err = s.staffLetter(ctx, m)
		return l, err
	}
	if m.Kind.TellsStaff() {
		err = s.staffNews(ctx, &l)
		return l, err
	}
	if l.Text, err = s.MessageText(ctx, m.TenantID, m.Kind, m.Locale); err != nil {
		return Letter{}, err
	}
	if m.Kind == KindMyLinks {
		l.Bookings, err = s.bookingsOf(ctx, m.TenantID, m.Recipient)
		l.Pointless = err == nil && len(l.Bookings) == 0
		return l, err
	}
	slot, err := s.Slot(ctx, m.TenantID, *m.SlotID)
	if err != nil {
		return Letter{}, err
	}
	l.Slot = &slot
	if l.Service, err = s.Service(ctx, m.TenantID, slot.ServiceID); err != nil {
		return Letter{}, err
	}
	if l.Resource, err = s.resource(ctx, m.TenantID, slot.ResourceID); err != nil {
		return Letter{}, err
	}
	entry, err := s.Entry(ctx, m.TenantID, *m.SubjectID)
	switch err {
	case nil:
		l.Entry = &entry
	case NotFound:
		r, err := s.Reservation(ctx, m.TenantID, *m.SubjectID)
		if err != nil {
			return Letter{}, err
		}
		l.Reservation = &r
	default:
		return Letter{}, err
	}
	if l.Pointless = l.pointless(); l.Pointless {
		return l, nil
	}
	l.Line, err = s.lineWay(ctx, l)
	return l, err
}

func (l Letter) pointless() bool {
	over := !l.Slot.Now.Before(l.Slot.EndsAt)
	switch l.Message.Kind {
	case KindOffer:
		return l.Entry.State != Offered || !l.Entry.Now.Before(*l.Entry.ShownUntil)
	case KindVacancy:
		return l.Entry.State != Waiting || !l.Slot.WindowOpen() || l.Slot.Status != SlotOpen
	case KindJoined:
		return !l.Entry.Live() && l.Entry.State != Accepted
	case KindReminder:
		return l.Reservation.State != Confirmed || l.Reservation.SlotID != l.Slot.ID || l.Slot.Status == SlotCancelled || !l.Slot.Now.Before(l.Slot.StartsAt)
	case KindConfirmed, KindMoved, KindChanged:
		// A booking that has moved on since is told about by a later message.
		return l.Reservation.State != Confirmed || l.Reservation.SlotID != l.Slot.ID || over
	case KindConfirmEmail:
		return l.Reservation.State != Confirmed || l.Reservation.EmailNew != l.Message.Recipient || l.Reservation.EmailChangeOver(l.Reservation.Now)
	case KindLapsed:
		return over
	case KindNotice:
		return over || l.noticeMissed()
	}
	return false
}

const resourceSQL = `-- resource
SELECT ` + resourceColumns + ` FROM resources WHERE tenant_id = @tenant AND id = @resource`

func (s *Store) resource(ctx context.Context, tenant, resource string) (Resource, error) {
	return one[Resource](ctx, s.db, resourceSQL, pgx.StrictNamedArgs{"tenant": tenant, "resource": resource})
}

const reservationsOfSQL = `-- reservations of an address
SELECT ` + reservationColumns + `, statement_timestamp() AS now
FROM reservations r JOIN slots s ON s.tenant_id = r.tenant_id AND s.id = r.slot_id
WHERE r.tenant_id = @tenant AND lower(r.email) = @person AND r.email <> '' AND r.state = 'confirmed' AND s.ends_at > coalesce(@at::timestamptz, statement_timestamp())
ORDER BY s.starts_at LIMIT 50`

const entriesOfSQL = `-- entries of an address
SELECT ` + entryColumns + entryPlace + `
FROM waitlist_entries e JOIN slots s ON s.tenant_id = e.tenant_id AND s.id = e.slot_id
WHERE e.tenant_id = @tenant AND lower(e.email) = @person AND e.email <> '' AND e.state IN ('waiting', 'offered') AND s.starts_at > coalesce(@at::timestamptz, statement_timestamp())
ORDER BY s.starts_at LIMIT 50`

func (s *Store) bookingsOf(ctx context.Context, tenant, email string) ([]Booking, error) {
	args := pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "person": PersonKey(email)}
	reservations, err := list[Reservation](ctx, s.db, reservationsOfSQL, args)
	if err != nil {
		return nil, err
	}
	entries, err := list[Entry](ctx, s.db, entriesOfSQL, args)
	if err != nil {
		return nil, err
	}
	var bookings []Booking
	for i := range reservations {
		bookings = append(bookings, Booking{Reservation: &reservations[i]})
	}
	for i := range entries {
		bookings = append(bookings, Booking{Entry: &entries[i]})
	}
	for i := range bookings {
		slot := ""
		if r := bookings[i].Reservation; r != nil {
			slot = r.SlotID
		} else {
			slot = bookings[i].Entry.SlotID
		}
		if bookings[i].Slot, err = s.Slot(ctx, tenant, slot); err != nil {
			return nil, err
		}
		if bookings[i].Service, err = s.Service(ctx, tenant, bookings[i].Slot.ServiceID); err != nil {
			return nil, err
		}
	}
	return bookings, nil
}

// At most one such mail an hour and address, whoever asks.
const sendMyLinksSQL = `-- send my links
INSERT INTO outbox (tenant_id, id, kind, recipient, locale, next_attempt_at, dedupe_key, created_at)
SELECT @tenant, @id, 'my_reservations', @email, @locale, n.now, 'my_reservations/' || @person_hash || '/' || to_char(n.now AT TIME ZONE 'UTC', 'YYYYMMDDHH24'), n.now
FROM (SELECT coalesce(@at::timestamptz, statement_timestamp()) AS now) n
WHERE EXISTS (SELECT 1 FROM reservations WHERE tenant_id = @tenant AND lower(email) = @person AND email <> '' AND state = 'confirmed')
	OR EXISTS (SELECT 1 FROM waitlist_entries WHERE tenant_id = @tenant AND lower(email) = @person AND email <> '' AND state IN ('waiting', 'offered'))
ON CONFLICT (tenant_id, dedupe_key) DO NOTHING`

// SendMyLinks queues a mail with the links of an address. It tells nobody
// whether the address is known.
func (s *Store) SendMyLinks(ctx context.Context, tenant, email, locale string) error {
	_, err := s.db.Exec(ctx, sendMyLinksSQL, pgx.StrictNamedArgs{
		"at": s.at, "tenant": tenant, "id": newID(), "email": email, "locale": locale, "person": PersonKey(email),
		"person_hash": tokenEncoding.EncodeToString(s.mac("address", tenant, PersonKey(email))[:10]),
	})
	return classify(err)
}

const messagesSQL = `-- messages
SELECT ` + messageColumns + ` FROM outbox o
WHERE o.tenant_id = @tenant AND (@state::text = '' OR o.state = @state) AND (@kind::text = '' OR o.kind = @kind)
	AND (@before::timestamptz IS NULL OR (o.created_at, o.id) < (@before, NULLIF(@before_id::text, '')::uuid))
	AND (@subject::text = '' OR o.subject_id = NULLIF(@subject, '')::uuid)
	AND (@slot::text = '' OR o.slot_id = NULLIF(@slot, '')::uuid)
ORDER BY o.created_at DESC, o.id DESC LIMIT @limit`

// MessageQuery chooses messages of a tenant; empty fields choose all. Newest
// first, at most Limit. Before and BeforeID are the CreatedAt and ID of the last
// message of the page above; zero and empty for the newest.
type MessageQuery struct {
	TenantID  string
	State     MessageState
	Kind      MessageKind
	SubjectID string
	SlotID    string
	Before    time.Time
	BeforeID  string
	Limit     int
}

// Messages lists outbox messages.
func (s *Store) Messages(ctx context.Context, q MessageQuery) ([]Message, error) {
	if q.Limit <= 0 || q.Limit > 500 {
		q.Limit = 100
	}
	var before *time.Time
	if q.BeforeID != "" {
		before = &q.Before
	}
	return list[Message](ctx, s.db, messagesSQL, pgx.StrictNamedArgs{
		"tenant": q.TenantID, "state": q.State, "kind": q.Kind, "subject": q.SubjectID, "slot": q.SlotID, "before": before, "before_id": q.BeforeID, "limit": q.Limit,
	})
}

const messageSQL = `-- message
SELECT ` + messageColumns + ` FROM outbox o WHERE o.tenant_id = @tenant AND o.id = @id`

// Message finds one outbox message; NotFound if none.
func (s *Store) Message(ctx context.Context, tenant, id string) (Message, error) {
	return one[Message](ctx, s.db, messageSQL, pgx.StrictNamedArgs{"tenant": tenant, "id": id})
}

const retryMessageSQL = `-- retry message
UPDATE outbox SET state = 'pending', attempts = 0, next_attempt_at = (SELECT coalesce(@at::timestamptz, statement_timestamp()))
WHERE tenant_id = @tenant AND id = @id AND state = 'failed' AND erased_at IS NULL`

// RetryMessage puts a failed message back into the queue; pressing twice changes nothing more.
func (s *Store) RetryMessage(ctx context.Context, tenant, id string) error {
	_, err := s.db.Exec(ctx, retryMessageSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "id": id})
	return classify(err)
}

// OutboxStats are the counts of messages by state, over all tenants, and the
// age of the oldest one that is due and unsent.
type OutboxStats struct {
	ByState map[MessageState]int
	Oldest  time.Duration
}

const outboxStatsSQL = `-- outbox statistics
SELECT state, count(*)::int AS count, coalesce(extract(epoch FROM max(statement_timestamp() - created_at)), 0)::float8 AS oldest
FROM outbox WHERE state IN ('pending', 'sending', 'failed') GROUP BY state`

// OutboxStats counts what is not yet sent; sent messages are not counted, they only grow.
func (s *Store) OutboxStats(ctx context.Context) (OutboxStats, error) {
	rows, err := s.db.Query(ctx, outboxStatsSQL)
	if err != nil {
		return OutboxStats{}, classify(err)
	}
	stats := OutboxStats{ByState: map[MessageState]int{MessagePending: 0, MessageSending: 0, MessageFailed: 0}}
	var state MessageState
	var count int
	var oldest float64
	_, err = pgx.ForEachRow(rows, []any{&state, &count, &oldest}, func() error {
		stats.ByState[state] = count
		if age := time.Duration(oldest * float64(time.Second)); state != MessageFailed && age > stats.Oldest {
			stats.Oldest = age
		}
		return nil
	})
	return stats, classify(err)
}
