package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// EventKind is what happened, in the past tense of the step.
type EventKind string

// The kinds of events (listed with their meaning in the package comment).
const (
	EventHeld            EventKind = "held"
	EventConfirmed       EventKind = "confirmed"
	EventExtended        EventKind = "extended"
	EventReleased        EventKind = "released"
	EventExpired         EventKind = "expired"
	EventCancelled       EventKind = "cancelled"
	EventJoined          EventKind = "joined"
	EventOffered         EventKind = "offered"
	EventStaffOffered    EventKind = "staff_offered"
	EventAccepted        EventKind = "accepted"
	EventDeclined        EventKind = "declined"
	EventLapsed          EventKind = "lapsed"
	EventWithdrawn       EventKind = "withdrawn"
	EventRevoked         EventKind = "revoked"
	EventEntryClosed     EventKind = "entry_closed"
	EventEntryChanged    EventKind = "entry_changed"
	EventClaimed         EventKind = "claimed"
	EventVacancyTold     EventKind = "vacancy_told"
	EventCapacityChanged EventKind = "capacity_changed"
	EventPartyChanged    EventKind = "party_changed"
	EventContactChanged  EventKind = "contact_changed"
	EventEmailAsked      EventKind = "email_asked"
	EventEmailChanged    EventKind = "email_changed"
	EventMovedOut        EventKind = "moved_out"
	EventMovedIn         EventKind = "moved_in"
	EventClosed          EventKind = "closed"
	EventReopened        EventKind = "reopened"
	EventPaused          EventKind = "paused"
	EventResumed         EventKind = "resumed"
	EventTermsChanged    EventKind = "terms_changed"
	EventPolicyChanged   EventKind = "policy_changed"
	EventSlotCancelled   EventKind = "slot_cancelled"
	EventNoticeSent      EventKind = "notice_sent"
	EventErased          EventKind = "erased"
	EventLinkSent        EventKind = "link_sent"
	EventMessageGivenUp  EventKind = "message_given_up"
	EventRefusedLate     EventKind = "refused_late"
)

// EventKinds lists every kind, for tests that demand words for each.
var EventKinds = []EventKind{
	EventHeld, EventConfirmed, EventExtended, EventReleased, EventExpired, EventCancelled, EventJoined, EventOffered, EventStaffOffered,
	EventAccepted, EventDeclined, EventLapsed, EventWithdrawn, EventRevoked, EventEntryClosed, EventEntryChanged, EventClaimed,
	EventVacancyTold, EventCapacityChanged, EventPartyChanged, EventContactChanged, EventEmailAsked, EventEmailChanged, EventMovedOut, EventMovedIn, EventClosed, EventReopened, EventPaused,
	EventResumed, EventTermsChanged, EventPolicyChanged, EventSlotCancelled, EventNoticeSent, EventErased, EventLinkSent, EventMessageGivenUp, EventRefusedLate,
}

// event is a line to be written.
type event struct {
	slot     string
	number   *int64
	kind     EventKind
	actor    string
	party    int
	seats    int
	capacity *int
	mode     string
	subject  string
	at       time.Time
	details  map[string]any
}

// Event is one line of the append-only history of a slot. It holds no personal data.
type Event struct {
	ID        int64
	SlotID    string
	Number    *int64 // its place in the slot's order; nil for what happens without the slot's lock
	Kind      EventKind
	Actor     string // "customer", "staff:ID", "api:ID", "system"
	PartySize int
	Seats     int // by how much taken changed
	Capacity  *int
	Mode      string // "first_fit", "strict" or "first_come"
	SubjectID *string
	At        time.Time
	Details   map[string]any
}

const eventColumns = `id, slot_id::text, number, kind, actor, party_size, seats, capacity, mode, subject_id::text, at, details`

const historySQL = `-- history of a slot
SELECT ` + eventColumns + ` FROM events WHERE tenant_id = @tenant AND slot_id = @slot AND (number > @after OR (number IS NULL AND @after = 0))
ORDER BY id DESC LIMIT @limit`

// History lists the newest events of a slot, newest first; with after > 0 only
// the numbered ones past that version: what changed since somebody looked.
func (s *Store) History(ctx context.Context, tenant, slot string, after int64, limit int) ([]Event, error) {
	return list[Event](ctx, s.db, historySQL, pgx.StrictNamedArgs{"tenant": tenant, "slot": slot, "after": after, "limit": limit})
}

// refusedLate records that a press was refused for its lateness, so that
// invariant I7 can be watched. It stands outside the slot's order.
const refusedLateSQL = `-- refused late
INSERT INTO events (tenant_id, slot_id, kind, actor, party_size, subject_id, at, details)
VALUES (@tenant, @slot, 'refused_late', @actor, @party, @subject, @press,
	jsonb_build_object('step', @step::text, 'press', @press::timestamptz, 'shown_until', @shown::timestamptz))`

func refusedLate(ctx context.Context, db querier, tenant, slot, subject, step string, actor Actor, party int, press time.Time, shown *time.Time) error {
	_, err := db.Exec(ctx, refusedLateSQL, pgx.StrictNamedArgs{
		"tenant": tenant, "slot": slot, "actor": actor.label(), "party": party, "subject": subject, "step": step, "press": press, "shown": shown,
	})
	return err
}
