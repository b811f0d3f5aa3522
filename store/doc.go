// Package store is the truth of Holdfast: the tables, the steps that change
// them, and the reads that pages are made of. It keeps three promises, on one
// Postgres and with any number of instances:
//
//  1. Never oversold. Two people pressing at the same instant never share a seat.
//  2. No seat lost. A seat that comes free is, in the same transaction, kept for
//     the next one who waits or open to everybody.
//  3. Nobody is cheated by a clock. People are shown a deadline that is earlier
//     than the enforced one, so whoever presses in time is served.
//
// # States
//
//	reservation:  held ──confirm──▶ confirmed ──cancel──▶ cancelled
//	               ├──release────▶ released
//	               ├──deadline───▶ expired
//	               └──slot cancelled, as confirmed ones ─▶ cancelled
//
//	entry:        waiting ──pass on, staff──▶ offered ──accept───▶ accepted
//	               ├──withdraw, removed──▶ withdrawn  ├──decline──▶ declined
//	               ├──claim──────────────▶ accepted   ├──deadline─▶ lapsed
//	               └──booked, slot begun or cancelled ┤──revoke───▶ withdrawn
//	                                     ▶ closed ◀───┘ booked or slot cancelled
//
//	slot:         open ◀──close, reopen──▶ closed;   both ──cancel──▶ cancelled
//
//	message:      pending ──claim──▶ sending ──▶ sent │ failed │ obsolete │ pending (again, later)
//
// An entry that lapsed, declined or withdrew is out; joining again makes a new
// one at the end of the queue.
//
// # The slot row is the lock
//
// Every change of seats first updates or locks its one row in slots, and only
// then touches reservations and entries. Judging and writing is one conditional
// statement, and success is the row that it returns: an earlier SELECT proves
// nothing. There are two shapes.
//
// One statement (hold, confirm): all conditions stand on the row that it
// changes, so Postgres judges the newest version of it, however long it had to
// wait. A condition on a joined row would be judged on the old version; that is
// why a change of terms rewrites terms_version of the held reservations. Confirm
// is the only step without the slot's lock: seats do not change. Two rules follow.
// Whoever goes through all reservations of a slot takes held and confirmed ones
// in one statement, or the held first, so that a confirm can't slip from one set
// into the other; and what confirm leaves behind for the slot (an entry of the
// same person) is marked, and closed by the next sweep.
//
// A slot transaction (everything else, see onSlot): the row is locked FOR NO KEY
// UPDATE, since FOR UPDATE would make each insert of a child row wait for its
// foreign key; then the clock is read, by a statement of its own, because a
// clock read in the locking statement can predate the wait; then the step runs;
// then passOn; then the slot, events and messages are written in one batch.
// Several slots are locked in the order of their keys. A queue's head is chosen
// only after the lock was had: locking and choosing in one statement chooses from
// the old snapshot, and of two cancellations one would strand its seat.
//
// A step judges before it writes. When it returns an Outcome the transaction
// commits all the same, so that the sweep made on the way stays; any other error
// rolls back.
//
// # Whose time
//
// The database's. A press is judged by when it reached the database
// (statement_timestamp() of a single statement, now() of a transaction), so that
// waiting for a lock makes nobody late; what is due, and new deadlines, by the
// clock read after the lock was had. A retry keeps the first instant. With At,
// tests put a fixed instant in the place of both.
//
// Promise 3 rests on the grace between shown and enforced deadline being at
// least LeastGrace, twice the LongestWait of one step; Policies.Problems refuses less.
//
// # Due means free
//
// What is past its enforced deadline blocks nobody, also while no sweeper runs.
// Steps that need seats sweep their slot on the way; the one-statement hold
// asks whether anything is due here, and takes the long way if so. Only where a
// slot has nothing due, and a plain read says why not, is a hold refused without
// the lock: a full slot under a rush must not make its visitors queue for a refusal.
//
// # Pass on
//
// While order rules (until order_until) passOn offers free seats to waiting
// entries by position; after that it leaves them open and tells those for whom
// they do now and did not before, if they want to be told. kept says that free seats are kept for
// somebody who waits (strict fit, a pause): then no hold may take them. It is
// set last in every slot transaction.
//
// # History
//
// Each numbered event raises the slot's version by one, in the same
// transaction, so a change without a trace shows as a gap. Events of steps
// without the lock, a customer's confirmed and refused_late, have no number. The kinds:
//
//	held              seats kept for a party (or taken at once, for a booking by staff)
//	confirmed         the party has given its contact: a booking; no number, but by staff
//	extended          both deadlines of a hold set anew
//	released          a hold given back
//	expired           a hold past its enforced deadline
//	cancelled         a booking ended, or with its slot a hold
//	joined            a party waits; its number is its place in the order
//	offered           seats kept for an entry whose turn it is
//	staff_offered     seats kept for an entry that staff chose; with a reason
//	accepted          an offer became a booking
//	declined          an offer was let pass
//	lapsed            an offer past its enforced deadline
//	withdrawn         an entry left the list, or staff took it off
//	revoked           staff took an offer back
//	entry_closed      an entry has nothing to wait for: booked, begun, slot cancelled
//	entry_changed     a waiting party became smaller, or wants to be told other things
//	claimed           open seats became the booking of an entry
//	vacancy_told      a waiting party was told of open seats
//	capacity_changed  the number of seats
//	party_changed     a booking became smaller or larger
//	contact_changed   name, kana, phone, note or answers of a booking were corrected
//	email_asked       another address was named; not used before it is confirmed
//	email_changed     the new address was confirmed, or staff have set it
//	moved_out         a booking left for another slot
//	moved_in          a booking came from another slot
//	closed, reopened  the slot takes no new parties, takes them again
//	paused, resumed   no offers by rule, offers again
//	terms_changed     time, resource or service
//	policy_changed    the slot's copy of the policies
//	slot_cancelled    the slot does not take place
//	notice_sent       staff wrote a message of their own to those who are booked, wait, or both
//	link_sent         staff had the link of a booking or an entry mailed again (no number)
//	message_given_up  staff ended the tries of a message that could not be sent (no number)
//	erased            the personal data of a booking or an entry went, on request
//	refused_late      a press was refused for its lateness; no number
//
// The sweep seals numbered events in order, each with a hash over the previous
// seal and itself; Check verifies the seals and replays the history.
//
// # Invariants
//
// Check computes these in one snapshot, at any time, also under load, and
// WatchInvariants those of the slots in which something happened:
//
//	I1   taken lies between 0 and capacity
//	I2   taken is the seats of held and confirmed reservations and of offered entries
//	I3   no idle seat: slot and window open, order rules, not paused: no waiting entry fits the free seats
//	I4   order: but for entries that staff chose, nobody was offered seats that an earlier one waited for
//	I5   an entry gets at most one offer, an offer at most one reservation
//	I6   one slot and idempotency key, at most one live reservation
//	I7   nobody who pressed by the shown deadline was refused for lateness
//	I8   each change that has a notification has exactly one message per recipient with an address, and the reverse
//	I9   no row refers across tenants
//	I10  the numbered events run from 1 to version without a gap, replayed they give taken, and the seals verify
//
// # Many requests, one commit
//
// Hold takes a request and gives an outcome and shows no transaction, so that
// later many requests may share one commit.
package store
