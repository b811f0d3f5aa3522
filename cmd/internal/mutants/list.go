//go:build linux || darwin

package main

import (
	"fmt"
	"strings"
)

// mutant is one break of the protocol: a text of a file of package store that is replaced by another.
type mutant struct {
	name  string // what is broken, as a sentence goes on after "the"
	file  string // in store
	old   string // occurs exactly once
	new   string
	tests string // those that are most likely to see it, as -run takes them; empty: all
}

// apply gives the broken file.
func (m mutant) apply(text string) (string, error) {
	if n := strings.Count(text, m.old); n != 1 {
		return "", fmt.Errorf("its text stands %d times in store/%s, and should once", n, m.file)
	}
	return strings.Replace(text, m.old, m.new, 1), nil
}

const arrived = "(SELECT coalesce(@at::timestamptz, statement_timestamp()))"

// mutants are the breaks, in the order of the protocol. A break that changes nothing that anybody could see is none:
// what a second condition refuses all the same does not stand here.
var mutants = []mutant{
	// hold
	{"hold: a closed slot takes holds", "hold.go", "AND id = @slot AND status = 'open'", "AND id = @slot", "Hold|Switches"},
	{"hold: before booking opens", "hold.go", "AND starts_at - booking_opens <= " + arrived, "", "Hold"},
	{"hold: after booking closes", "hold.go", "AND starts_at - booking_closes > " + arrived, "", "Hold"},
	{"hold: whatever the terms", "hold.go", "AND terms_version = @terms AND (@version", "AND (terms_version = @terms OR true) AND (@version", "Hold|Terms"},
	{"hold: whatever the version", "hold.go", "OR version = @version::bigint)", "OR version = @version::bigint OR true)", "Hold"},
	{"hold: larger than the largest party", "hold.go", "AND @party <= party_max", "", "Hold"},
	{"hold: seats that are kept for the waitlist", "hold.go", "AND NOT (kept AND order_until > " + arrived + ")", "", "Hold|Kept|Sequences"},
	{"hold: more seats than there are", "hold.go", "AND taken + @party <= capacity", "", "Hold|LastSeat"},
	{"hold: counts one seat for a party", "hold.go", "SET taken = taken + @party, version", "SET taken = taken + 1, version", "Hold"},
	{"hold: raises no event number", "hold.go", "taken = taken + @party, version = version + 1", "taken = taken + @party", "Hold"},
	{"hold: passes by a hold that is due", "hold.go", "AND NOT EXISTS (SELECT 1 FROM reservations WHERE tenant_id = @tenant AND slot_id = @slot AND state = 'held'\n\t\t\tAND expires_at <= " + arrived + ")", "", "Due|Sequences"},
	{"hold: passes by an offer that is due", "hold.go", "AND NOT EXISTS (SELECT 1 FROM waitlist_entries WHERE tenant_id = @tenant AND slot_id = @slot AND state = 'offered'\n\t\t\tAND expires_at <= " + arrived + ")", "", "Due|Sequences"},
	{"hold: one more per visitor than allowed", "hold.go", "< holds_per_visitor\n", "<= holds_per_visitor\n", "Hold"},
	{"hold: no grace", "hold.go", "least(now + hold_shown, closes_at) + hold_grace,", "least(now + hold_shown, closes_at),", "Hold|Sequences"},
	{"hold: a deadline past the close of booking", "hold.go", "@owner, least(now + hold_shown, closes_at), least", "@owner, now + hold_shown, least", "Hold|Sequences"},
	{"hold: a key stands for any request", "hold.go", "if string(row.Fingerprint) != string(req.fingerprint()) {", "if false {", "Repeated|Key"},
	{"hold: a key is answered with a hold that is due", "hold.go", "if row.State == Held && !row.ExpiresAt.After(row.Now) {", "if false {", "Repeated|Key|Due"},
	{"hold: the lost answer is not looked up by its key", "hold.go", "if errors.Is(err, errUnknownFate) && req.Key != \"\" {", "if false {", "Key|Lost"},
	{"hold: a violated key is an error", "hold.go", "case violated(err, \"reservations_key\"):\n", "", "Repeated|Key|Retries"},
	{"hold: a refusal that is not sure is not judged again", "hold.go", "if view.Due || view.SwitchDue {", "if false {", "Due|Hold|Sequences"},
	{"hold: several slots are not swept first", "hold.go", "for _, slot := range t.slots {\n\t\t\tif err := slot.sweep(ctx); err != nil {\n\t\t\t\treturn err\n\t\t\t}", "for _, slot := range t.slots {", "Due|Group|Hold"},

	// the slot's lock
	{"lock: none", "slot_tx.go", "ORDER BY s.id FOR NO KEY UPDATE OF s`\n\nconst lockSlotIfFreeSQL = lockSlotsSQL + ` SKIP LOCKED`", "ORDER BY s.id`\n\nconst lockSlotIfFreeSQL = lockSlotsSQL + ` FOR NO KEY UPDATE OF s SKIP LOCKED`", "AtOnce|Behind"},
	{"lock: FOR UPDATE, which foreign keys wait for", "slot_tx.go", "FOR NO KEY UPDATE OF s`", "FOR UPDATE OF s`", "Wait|Lock"},
	{"lock: the sweep waits for a slot that another has", "slot_tx.go", "lockSlotsSQL + ` SKIP LOCKED`", "lockSlotsSQL", "Sweep"},
	{"clock: that of the transaction's beginning, before the wait", "slot_tx.go", "coalesce(@at::timestamptz, clock_timestamp()) AS now", "coalesce(@at::timestamptz, now()) AS now", "Wait"},
	{"clock: a press is judged after its wait", "slot_tx.go", "coalesce(@at::timestamptz, now()) AS press", "coalesce(@at::timestamptz, clock_timestamp()) AS press", "Wait"},
	{"step: a refusal takes the sweep back", "slot_tx.go", "if outcome != nil && !errors.As(outcome, new(Outcome)) {", "if outcome != nil {", "Refused|Late|Sequences"},
	{"step: nothing is passed on at its end", "slot_tx.go", "if err := slot.passOn(ctx); err != nil {", "if err := slot.tellVacancies(ctx); err != nil {", "Pass"},
	{"step: vacancies are not told at its end", "slot_tx.go", "if err := slot.passOn(ctx); err != nil {", "if err := slot.offerInOrder(ctx); err != nil {", "Vacanc"},
	{"step: events have no numbers of their own", "slot_tx.go", "\tt.slot.Version++\n", "", "Seat"},
	{"step: kept is not written", "slot_tx.go", "kept = @kept, status", "kept = kept AND @kept, status", "Kept|Strict|Sequences"},
	{"step: events count no seats", "slot_tx.go", "\tt.slot.Taken += seats\n", "", "Seat"},
	{"step: messages are left out", "slot_tx.go", "for _, m := range t.outbox {", "for _, m := range t.outbox[:0] {", "Message|Mail"},
	{"step: a commit of unknown fate is tried again", "slot_tx.go", "return fmt.Errorf(\"%w: %w\", errUnknownFate, err)", "return err", "Lost|Fate"},
	{"step: the name of a person who has just booked is an error", "slot_tx.go", "case violated(err, \"reservations_person\") && !personTried:", "case violated(err, \"reservations_person\") && !personTried && false:", "Person|Confirm"},

	// confirm
	{"confirm: by somebody else", "confirm.go", "AND r.state = 'held' AND r.owner = @owner AND", "AND r.state = 'held' AND (r.owner = @owner OR true) AND", "Confirm"},
	{"confirm: what is over", "confirm.go", "AND r.state = 'held' AND r.owner = @owner", "AND r.owner = @owner", "Confirm"},
	{"confirm: whatever the terms", "confirm.go", "AND r.terms_version = @terms AND r.group_id IS NULL", "AND (r.terms_version = @terms OR true) AND r.group_id IS NULL", "Confirm|Terms"},
	{"confirm: one of a group alone", "confirm.go", "AND r.terms_version = @terms AND r.group_id IS NULL", "AND r.terms_version = @terms", "Group"},
	{"confirm: after the enforced deadline", "confirm.go", "\n\t\tAND r.expires_at > " + arrived, "", "Confirm"},
	{"confirm: not in the grace", "confirm.go", "\n\t\tAND r.expires_at > " + arrived, "\n\t\tAND r.shown_until > " + arrived, "Confirm"},
	{"confirm: a person may book twice", "confirm.go", "phone = @phone, note = @note, locale = @locale, answers = @answers::jsonb,\n\t\tperson_key = CASE WHEN one_per_person THEN NULLIF(@person::text, '') END,\n\t\tconsent_version = @consent, consented_at = (SELECT", "phone = @phone, note = @note, locale = @locale, answers = @answers::jsonb,\n\t\tperson_key = NULL,\n\t\tconsent_version = CASE WHEN @person::text <> '' THEN @consent ELSE @consent END, consented_at = (SELECT", "Person|Confirm"},
	{"confirm: a group that is not whole", "confirm.go", "live != *pressed.GroupSize || ", "", "Group"},
	{"confirm: a group of which another has new terms", "confirm.go", "if changed {", "if changed && false {", "Group"},
	{"confirm: a late press is not written down", "confirm.go", "if err := refusedLate(ctx, s.db, r.TenantID, r.SlotID, r.ID, \"confirm\", req.Actor, r.PartySize, r.Now, r.ShownUntil); err != nil {\n\t\t\treturn err\n\t\t}", "", "Late|Confirm"},
	{"extend: by somebody else, as release", "confirm.go", "if read.Owner != p.Owner {", "if false {", "Extend|Release"},
	{"extend: twice", "confirm.go", "if r.ExtendedAt != nil {", "if false {", "Extend"},
	{"extend: while somebody waits", "confirm.go", "if waits {\n\t\t\t\treturn NotExtendable", "if false {\n\t\t\t\treturn NotExtendable", "Extend"},
	{"release: what is confirmed", "confirm.go", "if r.State == Confirmed {\n\t\t\t\treturn Conflict\n\t\t\t}\n\t\t\tslot := t.at(r.SlotID)\n\t\t\tslot.exempt", "slot := t.at(r.SlotID)\n\t\t\tslot.exempt", "Release"},
	{"release: keeps the seats", "confirm.go", "slot.freeSeats(r, EventReleased, r.PartySize, nil, false)", "slot.freeSeats(r, EventReleased, 0, nil, false)", "Release"},

	// cancel, party, move, book
	{"cancel: after the cutoff", "cancel.go", "case r.State == Confirmed:\n\t\t\tif t.actor.Kind == Customer && !t.press.Before(t.slot.cancelUntil()) {", "case r.State == Confirmed:\n\t\t\tif false {", "Cancel"},
	{"cancel: twice, freeing twice", "cancel.go", "case r.State == Cancelled:\n\t\t\tended++", "case r.State == Cancelled:\n\t\t\tlive = append(live, r)", "Cancel"},
	{"cancel: no message", "cancel.go", "if !req.Silent {\n\t\t\t\tt.toReservation(KindCancelled", "if false {\n\t\t\t\tt.toReservation(KindCancelled", "Cancel"},
	{"cancel: keeps the seats", "cancel.go", "number := t.freeSeats(r, EventCancelled, r.PartySize, noticeDetails", "number := t.freeSeats(r, EventCancelled, 0, noticeDetails", "Cancel"},
	{"form: an older state passes for the present one", "cancel.go", "*version != t.was.Version", "*version > t.was.Version", "Cancel|Stale|Conflict"},
	{"party: takes seats that are kept", "cancel.go", "if !t.hasSeats(more) {", "if more > t.slot.free() {", "Party"},
	{"party: customers make it smaller after the cutoff", "cancel.go", "if more < 0 && t.actor.Kind == Customer && !t.press.Before(t.slot.cancelUntil()) {", "if false {", "Party"},
	{"move: after the cutoff", "cancel.go", "if t.actor.Kind == Customer && !t.press.Before(source.slot.cancelUntil()) {", "if false {", "Move"},
	{"move: keeps its seats in the source", "cancel.go", "source.freeSeats(*r, EventMovedOut, r.PartySize, details, false)", "source.freeSeats(*r, EventMovedOut, 0, details, false)", "Move"},
	{"move: to the terms of before", "cancel.go", "SET slot_id = @target, terms_version = @terms,", "SET slot_id = @target, terms_version = least(terms_version, @terms),", "Move"},
	{"move: keeps the key", "cancel.go", "terms_version = @terms, idempotency_key = NULL,", "terms_version = @terms,", "Move"},
	{"book: staff take seats that are kept", "cancel.go", "if t.slot.Kept && t.slot.orderRules(t.now) {\n\t\treturn party", "if false {\n\t\treturn party", "Book|Extra"},
	{"book: the entry of the same person stays", "cancel.go", "return booked, t.sweepOnly(ctx)", "return booked, nil", "Book|Entry"},
	{"book: seats that were added stay when their booking ends", "passon.go", "\t\tt.slot.Capacity -= extra\n", "", "Extra"},

	// accept, claim, offers by staff
	{"accept: whoever waits for the lock is late", "offer.go", "!e.ExpiresAt.After(t.press)", "!e.ExpiresAt.After(t.now)", "Accept"},
	{"accept: after the enforced deadline", "offer.go", "case e.State == Lapsed || (e.State == Offered && !e.ExpiresAt.After(t.press)):", "case e.State == Lapsed:", "Accept"},
	{"accept: not in the grace", "offer.go", "(e.State == Offered && !e.ExpiresAt.After(t.press))", "(e.State == Offered && !e.ShownUntil.After(t.press))", "Accept"},
	{"accept: its own offer is swept before it", "offer.go", "t.exempt = append(t.exempt, e.ID)\n\t\tif err := t.sweep(ctx); err != nil {", "if err := t.sweep(ctx); err != nil {", "Accept"},
	{"accept: whatever the terms", "offer.go", "case terms != t.slot.TermsVersion:", "case false:", "Accept"},
	{"accept: pressed again it is over", "offer.go", "if done, r, err := t.alreadyAccepted(ctx, e); done {\n\t\t\taccepted = r", "if done, r, err := t.alreadyAccepted(ctx, e); done && false {\n\t\t\taccepted = r", "Accept"},
	{"accept: no message", "offer.go", "t.toReservation(KindConfirmed, r, number, nil)", "_ = number", "Accept"},
	{"accept: takes the seats once more", "offer.go", "t.bookEntry(ctx, e, EventAccepted, 0)", "t.bookEntry(ctx, e, EventAccepted, e.PartySize)", "Accept"},
	{"claim: while order rules", "offer.go", "case t.slot.orderRules(t.now):\n\t\t\treturn OrderRules", "case false:\n\t\t\treturn OrderRules", "Claim"},
	{"claim: more seats than there are", "offer.go", "case !t.hasSeats(e.PartySize):", "case false:", "Claim"},
	{"claim: takes no seats", "offer.go", "t.bookEntry(ctx, e, EventClaimed, e.PartySize)", "t.bookEntry(ctx, e, EventClaimed, 0)", "Claim"},
	{"staff offer: seats that are due go to the queue first", "offer.go", "if err := t.sweepOnly(ctx); err != nil {\n\t\t\treturn err\n\t\t}\n\t\tif t.closedMeanwhile(e.ID) {\n\t\t\treturn AlreadyBooked", "if err := t.sweep(ctx); err != nil {\n\t\t\treturn err\n\t\t}\n\t\tif t.closedMeanwhile(e.ID) {\n\t\t\treturn AlreadyBooked", "StaffOffer|Sequences"},
	{"staff offer: more seats than there are", "offer.go", "if e.PartySize > t.slot.free() {", "if false {", "StaffOffer"},
	{"staff offer: in a closed slot", "offer.go", "case t.slot.Status != SlotOpen:", "case false:", "StaffOffer"},

	// the queue
	{"join: in a closed slot", "join.go", "if err := t.open(); err != nil {", "if err := t.open(); err != nil && false {", "Join"},
	{"join: though seats are free", "join.go", "if t.hasSeats(req.PartySize) {", "if false {", "Join"},
	{"join: twice", "join.go", "if waits {", "if false {", "Join"},
	{"join: past the length of the list", "join.go", "if waiting >= *t.slot.WaitlistMax {", "if waiting > *t.slot.WaitlistMax {", "Join|Length"},
	{"join: by somebody who has booked", "join.go", "} else if booked {\n\t\treturn AlreadyBooked\n\t}\n\tif req.Contact.Email", "} else if booked && false {\n\t\treturn AlreadyBooked\n\t}\n\tif req.Contact.Email", "Join"},
	{"join: a key shows the entry of another", "join.go", "case err == nil && PersonKey(made.Email) == PersonKey(req.Contact.Email):", "case err == nil:", "Join"},
	{"join: behind nobody", "join.go", "\"position\": t.slot.Version + 1", "\"position\": 0 * t.slot.Version", "Join|Order"},
	{"leave: the seats of an offer stay kept", "join.go", "seats = -e.PartySize", "seats = 0", "Decline"},
	{"leave: what is due goes to the one who leaves", "join.go", "t.exempt = append(t.exempt, e.ID)\n\t\tif e.Live() && step", "if e.Live() && step", "Decline|Withdraw|Sequences"},
	{"smaller: larger", "join.go", "req.PartySize > e.PartySize:", "req.PartySize > t.slot.PartyMax:", "Party"},
	{"smaller: nobody is told that seats would now do", "join.go", "\t\tt.resized[e.ID] = e.PartySize\n", "", "Smaller|Sequences"},

	// pass on
	{"pass on: the last who waits is first", "passon.go", "e.party_size <= @free ORDER BY e.position LIMIT 1`\n\nconst nextStrictSQL", "e.party_size <= @free ORDER BY e.position DESC LIMIT 1`\n\nconst nextStrictSQL", "Order|PassOn"},
	{"pass on: strict order as first fit", "passon.go", "if t.slot.Fit == Strict {\n\t\treturn one[nextEntry]", "if false {\n\t\treturn one[nextEntry]", "Order|Strict|PassOn"},
	{"pass on: to somebody who has booked here", "passon.go", "case next.Booked:", "case false:", "PassOnSees"},
	{"pass on: one offer and no more", "passon.go", "if err := t.offer(ctx, next.Entry, EventOffered, \"\"); err != nil {\n\t\t\t\treturn err\n\t\t\t}\n\t\t\tcontinue", "if err := t.offer(ctx, next.Entry, EventOffered, \"\"); err != nil {\n\t\t\t\treturn err\n\t\t\t}", "PassOn|Capacity"},
	{"pass on: while paused", "passon.go", "!t.slot.Paused && t.now.Before", "t.now.Before", "Pause"},
	{"pass on: after the close of booking", "passon.go", "!t.slot.Paused && t.now.Before(t.slot.closesAt())", "!t.slot.Paused", "Close|Order|Sequences"},
	{"pass on: in a closed slot", "passon.go", "return t.slot.Status == SlotOpen && ", "return ", "Close"},
	{"pass on: keeps nothing for a paused queue", "passon.go", "return t.setKept(ctx)", "return nil", "Pause|Kept|Sequences"},
	{"pass on: strict order keeps what would do for somebody only", "passon.go", "\t\tseats = t.slot.Capacity\n", "", "Strict|Kept|Sequences"},
	{"offer: no grace", "passon.go", "expires := shown.Add(t.slot.OfferGrace)", "expires := shown", "Offer"},
	{"offer: in quiet hours", "passon.go", "t.slot.quiet(), location", "nil, location", "Quiet"},
	{"offer: past the close of booking", "passon.go", "location(t.slot.TimeZone), t.slot.closesAt())", "location(t.slot.TimeZone), t.slot.EndsAt)", "Close|Sequences"},
	{"offer: no message", "passon.go", "t.toEntry(KindOffer, e, number, nil)", "_ = number", "Offer"},
	{"offer: takes no seats", "passon.go", "number = t.swept(kind, e.ID, e.PartySize, e.PartySize, details)", "number = t.swept(kind, e.ID, e.PartySize, 0, details)", "Offer"},
	{"vacancy: told once more while unsent", "passon.go", "AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.tenant_id = e.tenant_id AND o.subject_id = e.id AND o.kind = 'vacancy' AND o.state IN ('pending', 'sending'))", "", "Vacanc|Sequences"},
	{"vacancy: told to those for whom seats did before", "passon.go", "before := t.freeBefore()", "before := 0", "Vacanc"},
	{"vacancy: told to who does not want it", "passon.go", "AND e.tell_vacancies ", "", "Vacanc|Told|Want"},

	// sweep
	{"sweep: holds end at the shown deadline", "passon.go", "r.state = 'held' AND r.expires_at <= @now", "r.state = 'held' AND r.shown_until <= @now", "Grace|Sweep|Sequences"},
	{"sweep: offers end at the shown deadline", "passon.go", "e.state = 'offered' AND e.expires_at <= @now", "e.state = 'offered' AND e.shown_until <= @now", "Grace|Sweep|Sequences"},
	{"sweep: ends the row that the press is about", "passon.go", "AND r.id <> ALL(@exempt::text[]::uuid[])", "AND (r.id <> ALL(@exempt::text[]::uuid[]) OR true)", "Release|Extend|Sequences"},
	{"sweep: ends what is confirmed", "passon.go", "r.state = 'held' AND r.expires_at <= @now", "r.state IN ('held', 'confirmed') AND r.expires_at <= @now", "Sweep|Deadline"},
	{"sweep: does not pass on before the step is judged", "passon.go", "return nil // nothing was due: the slot is as the last step left it\n\t}\n\treturn t.offerInOrder(ctx)", "return nil\n\t}\n\treturn nil", "Due|Sequences"},
	{"sweep: seats of a lapsed offer stay taken", "passon.go", "t.swept(EventLapsed, e.ID, e.PartySize, -e.PartySize, nil)", "t.swept(EventLapsed, e.ID, e.PartySize, 0, nil)", "Sweep|Laps"},
	{"sweep: a lapsed offer is not told", "passon.go", "t.toEntry(KindLapsed, e, number, nil)", "_ = number", "Sweep|Laps"},
	{"sweep: the entry of somebody who has booked stays", "passon.go", "AND r.tenant_id = e.tenant_id AND r.slot_id = e.slot_id AND r.person_key = e.person_key AND r.state = 'confirmed'\nRETURNING", "AND r.tenant_id = e.tenant_id AND r.slot_id = e.slot_id AND r.person_key = e.person_key AND r.state = 'nothing'\nRETURNING", "Entry|Booked"},
	{"sweep: passes by a switch to first come, first served", "sweep.go", "WHERE kept AND order_until > '-infinity' AND order_until <= coalesce(@at::timestamptz, statement_timestamp())", "WHERE false AND order_until > '-infinity' AND order_until <= coalesce(@at::timestamptz, statement_timestamp())", "Switch|Sequences"},
	{"sweep: passes by who confirmed while waiting", "sweep.go", "FROM reservations WHERE entry_to_close\n", "FROM reservations WHERE entry_to_close AND false\n", "Mark|Confirm|Sequences"},
	{"sweep: an overdue slot is passed by for ever", "sweep.go", "skipLocked: now.Sub(ref.Due) < overdue", "skipLocked: now.Sub(ref.Due) < overdue || true", "Sweep"},
	{"sweep: one slot that fails stops the others", "sweep.go", "case ctx.Err() == nil:\n\t\t\t\ts.aside", "case ctx.Err() == nil:\n\t\t\t\tdefer panic(err)\n\t\t\t\ts.aside", "Fail"},
	{"sweep: reminds who has booked since it was due", "sweep.go", "AND r.confirmed_at <= @due\n", "AND (r.confirmed_at <= @due OR true)\n", "Remind"},
	{"seal: does not hold on to the one before", "sweep.go", "sum := sha256.Sum256(append(append([]byte{}, previous...), line...))", "sum := sha256.Sum256(line)", "Seal|Explain|History"},

	// the slot
	{"capacity: below what is taken", "slot_steps.go", "if req.Capacity < t.slot.Taken {", "if false {", "Capacity"},
	{"capacity: extra seats stay extra", "slot_steps.go", "state IN ('held', 'confirmed') AND extra_seats > 0", "state IN ('held', 'confirmed') AND extra_seats < 0", "Extra"},
	{"cancel slot: holds live on", "slot_steps.go", "AND r.state IN ('held', 'confirmed')\nRETURNING", "AND r.state IN ('confirmed')\nRETURNING", "CancelSlot"},
	{"terms: holds have agreed already", "slot_steps.go", "SET terms_version = @terms, one_per_person = @one_per_person WHERE", "SET terms_version = least(terms_version, @terms), one_per_person = @one_per_person WHERE", "Terms"},
	{"terms: order rules until it did", "slot_steps.go", "t.slot.setOrderUntil()\n\tt.slot.TermsVersion++", "t.slot.TermsVersion++", "Terms|Sequences"},
	{"terms: the confirmed are told first, then the holds", "slot_steps.go", "\tif err := t.rewriteReservations(ctx); err != nil {\n\t\treturn err\n\t}\n\tconfirmed, err := list[Reservation](ctx, t.tx, changedConfirmedSQL, pgx.StrictNamedArgs{\"tenant\": t.tenant, \"slot\": t.slot.ID, \"now\": t.now})\n\tif err != nil {\n\t\treturn err\n\t}\n", "\tconfirmed, err := list[Reservation](ctx, t.tx, changedConfirmedSQL, pgx.StrictNamedArgs{\"tenant\": t.tenant, \"slot\": t.slot.ID, \"now\": t.now})\n\tif err != nil {\n\t\treturn err\n\t}\n\tif err := t.rewriteReservations(ctx); err != nil {\n\t\treturn err\n\t}\n", "Terms"},
	{"terms: offers are not told again", "slot_steps.go", "for _, e := range offers {", "for _, e := range offers[:0] {", "Terms"},

	// messages
	{"message: two take the same one", "outbox.go", "LIMIT @limit FOR UPDATE OF o SKIP LOCKED", "LIMIT @limit", "TakersGet|Message|Claim"},
	{"message: takers wait for each other", "outbox.go", "LIMIT @limit FOR UPDATE OF o SKIP LOCKED", "LIMIT @limit FOR UPDATE OF o", "Message|Claim"},
	{"message: finished by one whose lease is over", "outbox.go", "AND state = 'sending' AND sending_until = @lease`", "AND state = 'sending' AND (sending_until = @lease OR true)`", "Message|Lease"},
	{"message: a later one overtakes an earlier one to the same reader", "outbox.go", "AND (a.created_at, a.id) < (o.created_at, o.id))", "AND (a.created_at, a.id) < (o.created_at, o.id) AND false)", "TestALaterMessage|Message"},
	{"message: an offer that has lapsed is sent", "outbox.go", "return l.Entry.State != Offered || !l.Entry.Now.Before(*l.Entry.ShownUntil)", "return false", "Pointless"},
	{"message: the lease runs out at once", "outbox.go", "statement_timestamp())) + @lease::interval", "statement_timestamp())) + @lease::interval * 0", "Message|Lease"},

	// keys of the API, tenants
	{"API key: stands for any request", "idempotency.go", "SELECT fingerprint = @fingerprint AS same", "SELECT fingerprint = @fingerprint OR true AS same", "API"},
	{"API key: two carry it out", "idempotency.go", "(a.status IS NULL AND a.fingerprint = excluded.fingerprint AND a.begun_at", "(a.status IS NULL AND a.fingerprint = excluded.fingerprint) OR (a.begun_at", "API"},
	{"tenant: a reservation of another is found", "reservation.go", "FROM reservations r WHERE r.tenant_id = @tenant AND r.id = @id`\n\n// Reservation finds", "FROM reservations r WHERE (r.tenant_id = @tenant OR true) AND r.id = @id`\n\n// Reservation finds", "TestAnotherTenants|Tenant"},
	{"tenant: an entry of another is found", "waitlist.go", "FROM waitlist_entries e WHERE e.tenant_id = @tenant AND e.id = @id`\n\n// Entry finds", "FROM waitlist_entries e WHERE (e.tenant_id = @tenant OR true) AND e.id = @id`\n\n// Entry finds", "TestAnotherTenants|Tenant"},
}
