package store

import (
	"context"
	"errors"
	"io"
	"net"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Outcome is a refusal: a normal answer of a step, neither a bug nor an outage.
// It is an error so that success stays the nil error; compare it with
// errors.Is or errors.As. Package web maps each to a status, words and a next step.
type Outcome string

func (o Outcome) Error() string { return string(o) }

// The refusals. A step names the first that applies, its own row before the slot.
const (
	NotFound       Outcome = "not_found"        // absent, or another tenant's: the two can't be told apart
	NotOwner       Outcome = "not_owner"        // the hold is somebody else's
	Expired        Outcome = "expired"          // the enforced deadline of a hold or an offer has passed
	Over           Outcome = "over"             // released, cancelled, declined or withdrawn: nothing left to act on
	TooLate        Outcome = "too_late"         // booking or cancelling has closed
	TooEarly       Outcome = "too_early"        // booking has not opened
	Closed         Outcome = "closed"           // the slot is closed or cancelled
	SoldOut        Outcome = "sold_out"         // not enough seats, or the free ones are kept for the waitlist
	TermsChanged   Outcome = "terms_changed"    // time, resource or service are no longer what the page showed
	Conflict       Outcome = "conflict"         // the state is no longer what the page showed
	KeyReused      Outcome = "key_reused"       // the idempotency key stands for another request
	AlreadyBooked  Outcome = "already_booked"   // this person has a booking in this slot
	AlreadyWaiting Outcome = "already_waiting"  // this person has a live entry in this slot
	TooManyHolds   Outcome = "too_many_holds"   // this visitor holds as many reservations as allowed
	PartyTooLarge  Outcome = "party_too_large"  // more people than one reservation, or the slot, may have
	SeatsFree      Outcome = "seats_free"       // no need to wait: a hold would succeed
	WaitlistOff    Outcome = "waitlist_off"     // the slot has no waitlist
	WaitlistFull   Outcome = "waitlist_full"    // the waitlist is at its length
	OrderRules     Outcome = "order_rules"      // seats go by order still: a claim is too early
	NotExtendable  Outcome = "not_extendable"   // extended already, or somebody waits
	BelowTaken     Outcome = "below_taken"      // the capacity can't be lower than the seats taken
	Overlaps       Outcome = "overlaps"         // the resource is in another slot at that time
	TooManyChanges Outcome = "too_many_changes" // as many new addresses were named for this booking as may be
	LastOwner      Outcome = "last_owner"       // a team keeps an owner
	AlreadyInTeam  Outcome = "already_in_team"  // who is invited belongs to the team
	Busy           Outcome = "busy"             // a lock or the database could not be had in time; nothing is known to have happened
)

// Outcomes lists every refusal, for tests that demand words for each.
var Outcomes = []Outcome{
	NotFound, NotOwner, Expired, Over, TooLate, TooEarly, Closed, SoldOut, TermsChanged, Conflict, KeyReused,
	AlreadyBooked, AlreadyWaiting, TooManyHolds, PartyTooLarge, SeatsFree, WaitlistOff, WaitlistFull, OrderRules,
	NotExtendable, BelowTaken, Overlaps, TooManyChanges, LastOwner, AlreadyInTeam, Busy,
}

// violated reports whether err is a violation of the named unique or exclusion constraint.
func violated(err error, constraint string) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "23505" || pg.Code == "23P01") && pg.ConstraintName == constraint
}

func code(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}

// retryable reports whether nothing of the failed attempt can have been
// committed and another attempt may succeed.
func retryable(err error) bool {
	// The driver calls a commit safe to retry although only its answer was lost (seen).
	if errors.Is(err, errUnknownFate) {
		return false
	}
	switch code(err) {
	case "40001", "40P01":
		return true
	case "":
		return pgconn.SafeToRetry(err)
	}
	return false
}

// classify turns what the database says into an outcome where it is one:
// a wait that took too long is Busy, everything else stays an error.
func classify(err error) error {
	var outcome Outcome
	switch {
	case err == nil, errors.As(err, &outcome):
		return err
	case errors.Is(err, pgx.ErrNoRows):
		return NotFound
	case errors.Is(err, context.DeadlineExceeded):
		return Busy
	}
	switch code(err) {
	case "55P03", "57014", "40001", "40P01", "53300", "57P01", "57P02", "57P03":
		// lock_timeout, statement_timeout, serialization, deadlock, too many
		// connections, a server that stops or starts.
		return Busy
	}
	if shortage(err) {
		return Busy
	}
	if errors.Is(err, errUnknownFate) || connectionLost(err) {
		return Busy
	}
	return err
}

// shortage reports whether the server has run out of something that its operator has to give it: room on the disk,
// memory. Whoever pressed can only come back later; the operator has to hear of it (Watch.Shortage).
func shortage(err error) bool {
	switch code(err) {
	case "53000", "53100", "53200", "53400":
		return true
	}
	return false
}

// connectionLost reports whether the server could not be reached, or went away
// in the middle.
func connectionLost(err error) bool {
	var connect *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &connect) || errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || pgconn.SafeToRetry(err)
}

// errUnknownFate marks a commit whose answer was lost: it may have happened.
var errUnknownFate = errors.New("the fate of the commit is unknown")
