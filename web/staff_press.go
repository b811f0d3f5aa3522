package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// staffStep is a step of staff, as the texts name it.
type staffStep string

const (
	stepCancel     staffStep = "cancel"
	stepCancelSlot staffStep = "cancel_slot"
	stepCapacity   staffStep = "capacity"
	stepBook       staffStep = "book"
	stepJoin       staffStep = "join"
	stepClose      staffStep = "close"
	stepReopen     staffStep = "reopen"
	stepPause      staffStep = "pause"
	stepResume     staffStep = "resume"
	stepOffer      staffStep = "offer"
	stepRevoke     staffStep = "revoke"
	stepRemove     staffStep = "remove"
	stepAccept     staffStep = "accept"
	stepDecline    staffStep = "decline"
	stepClaim      staffStep = "claim"
	stepMove       staffStep = "move"
	stepParty      staffStep = "party"
	stepContact    staffStep = "contact"
	stepRebook     staffStep = "rebook"
	stepTerms      staffStep = "terms"
	stepMessage    staffStep = "message"
	stepEntryParty staffStep = "entry_party"
)

// staffSteps lists every step, for tests that demand words for each.
var staffSteps = []staffStep{
	stepCancel, stepCancelSlot, stepCapacity, stepBook, stepJoin, stepClose, stepReopen, stepPause, stepResume, stepOffer, stepRevoke, stepRemove,
	stepAccept, stepDecline, stepClaim, stepMove, stepParty, stepContact,
	stepRebook, stepTerms, stepMessage, stepEntryParty,
}

// takesAway are the steps whose button is one that destroys.
var takesAway = []staffStep{stepCancel, stepCancelSlot, stepRevoke, stepRemove}

// fieldAgain is "1" in the second press, after the page has said what changed.
const fieldAgain = "again"

// sessionDone is what a step did, told on the slot's page.
const sessionDone = "done"

// doneShown is how long that is told at most.
const doneShown = 5 * time.Minute

// staffDone is what a step did. It waits in the session for the slot's page and
// holds ids, no personal data: names are looked up when it is shown.
type staffDone struct {
	Step    staffStep   `json:"step"`
	Slot    string      `json:"slot"`
	At      time.Time   `json:"at"`
	Already bool        `json:"already,omitempty"` // it was so before the press
	IDs     []string    `json:"ids,omitempty"`     // of the reservations or the entry that it was about
	N       int         `json:"n,omitempty"`
	Target  string      `json:"target,omitempty"` // the other slot of a move
	Frees   bool        `json:"frees,omitempty"`  // it can have freed seats: say who has them
	Offered []seatsKept `json:"offered,omitempty"`
	Told    []string    `json:"told,omitempty"`
	Silent  bool        `json:"silent,omitempty"` // by choice, nobody was told
	Says    []i18n.Key  `json:"says,omitempty"`   // further sentences
}

// seatsKept is an offer that followed.
type seatsKept struct {
	Entry string    `json:"entry"`
	Until time.Time `json:"until"`
}

// with adds what followed a step.
func (d staffDone) with(change store.Change) staffDone {
	d.Frees = true
	for _, e := range change.Offered {
		kept := seatsKept{Entry: e.ID}
		if e.ShownUntil != nil {
			kept.Until = *e.ShownUntil
		}
		d.Offered = append(d.Offered, kept)
	}
	for _, e := range change.Told {
		d.Told = append(d.Told, e.ID)
	}
	return d
}

// staffPress is one press on a form of a slot.
type staffPress struct {
	step staffStep
	form *form
	// do makes the step; version is nil for the second press.
	do func(version *int64) (staffDone, error)
	// already reports whether the slot stands as was asked, so that a form sent
	// twice is a success and not a question. May be nil.
	already func(counter) bool
	// back shows the step's page again; nil: the slot's page.
	back func(status int, p slotPress) error
	// args are those of the sentence that says what was asked for.
	args []any
}

// press makes a step and answers: 303 to the slot, which says what followed;
// 409 with what changed, if the form is stale; or the page again with the
// refusal and all that was typed.
func (s *Server) press(w http.ResponseWriter, r *http.Request, p staffPress) error {
	version := p.form.version()
	if p.form.text(fieldAgain, 1) == "1" {
		version = nil
	}
	done, err := p.do(version)
	if err == nil {
		return s.doneSee(w, r, p.step, done)
	}
	var o store.Outcome
	if !errors.As(err, &o) || o == store.NotFound || o == store.Busy {
		return err
	}
	back := p.back
	if back == nil {
		back = func(status int, press slotPress) error { return s.staffSlotPage(w, r, status, press) }
	}
	if o == store.Conflict && version != nil {
		c, err := s.loadCounter(r)
		if err != nil {
			return err
		}
		if p.already != nil && p.already(c) {
			return s.doneSee(w, r, p.step, staffDone{Already: true})
		}
		s.noteRefusal(r, o)
		changed, err := s.changed(r, c, p, *version)
		if err != nil {
			return err
		}
		return back(http.StatusConflict, slotPress{changed: &changed})
	}
	s.noteRefusal(r, o)
	return back(answerFor(o).status, slotPress{problem: s.refusal(r, o), refused: o})
}

// refusal says an outcome to staff.
func (s *Server) refusal(r *http.Request, o store.Outcome) string {
	return i18n.T(r.Context(), i18n.Key("staff.refused."+string(o)))
}

// changed asks again: what happened since the form's page was made, and the
// same press with all its fields, now without a version.
func (s *Server) changed(r *http.Request, c counter, p staffPress, version int64) (views.StaffChanged, error) {
	ctx := r.Context()
	events, err := s.history(r, c, max(version, 0), eventsShown)
	if err != nil {
		return views.StaffChanged{}, err
	}
	slices.Reverse(events)
	v := views.StaffChanged{
		Events: events, Pressed: i18n.T(ctx, i18n.Key("staff.asked."+string(p.step)), p.args...), AgainURL: r.URL.EscapedPath(),
		AgainText: i18n.T(ctx, i18n.Key("staff.again."+string(p.step)), p.args...), Danger: slices.Contains(takesAway, p.step), BackURL: c.url(),
	}
	for name, values := range p.form.values {
		if name == views.FieldVersion || name == fieldAgain {
			continue
		}
		for _, value := range values {
			v.Fields = append(v.Fields, views.Hidden{Name: name, Value: strings.ToValidUTF8(value, "")})
		}
	}
	slices.SortStableFunc(v.Fields, func(a, b views.Hidden) int { return strings.Compare(a.Name, b.Name) })
	v.Fields = append(v.Fields, views.Hidden{Name: fieldAgain, Value: "1"})
	return v, nil
}

// doneSee leads to the slot's page, which tells what the step did.
func (s *Server) doneSee(w http.ResponseWriter, r *http.Request, step staffStep, d staffDone) error {
	slot := slotOfPath(r.URL.Path)
	d.Step, d.Slot, d.At = step, slot, s.now()
	text, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("what %s did: %w", step, err)
	}
	s.sessions.Put(r.Context(), sessionDone, string(text))
	return s.see(w, r, views.StaffSlotURL(venue(r).Slug, slot), "")
}

// popDone takes what the last step did to this slot; nil for none.
func (s *Server) popDone(r *http.Request, c counter) *staffDone {
	text := s.sessions.GetString(r.Context(), sessionDone)
	if text == "" {
		return nil
	}
	var d staffDone
	if err := json.Unmarshal([]byte(text), &d); err == nil && d.Slot != c.ID && s.now().Sub(d.At) < doneShown {
		return nil // it belongs to another tab
	}
	s.sessions.Remove(r.Context(), sessionDone)
	if d.Slot != c.ID || !slices.Contains(staffSteps, d.Step) || s.now().Sub(d.At) >= doneShown {
		return nil
	}
	return &d
}

// resultOf writes what the last step did to this slot; nil for none. Whoever is
// no longer in the slot is looked up: one statement, after a press only.
func (s *Server) resultOf(r *http.Request, c counter) (*views.StaffResult, error) {
	d := s.popDone(r, c)
	if d == nil {
		return nil, nil
	}
	var gone []string
	for _, id := range d.IDs {
		if name, email, number := c.person(id); name+email+number == "" {
			gone = append(gone, id)
		}
	}
	people, err := s.store.People(r.Context(), c.tenant.ID, gone)
	if err != nil {
		return nil, err
	}
	result := c.result(r.Context(), *d, people)
	return &result, nil
}

// result writes what a step did, with the names as they stand now.
func (c counter) result(ctx context.Context, d staffDone, others map[string]store.Person) views.StaffResult {
	if d.Already {
		return views.StaffResult{Title: i18n.T(ctx, "staff.did_already")}
	}
	args := []any{"n", d.N, "name", ""}
	if len(d.IDs) > 0 {
		name, _, _ := c.person(d.IDs[0])
		if name == "" {
			name = others[d.IDs[0]].Name
		}
		args[3] = called(ctx, name)
	}
	v := views.StaffResult{Title: i18n.T(ctx, i18n.Key("staff.did."+string(d.Step)), args...)}
	line := func(key i18n.Key, args ...any) {
		v.Lines = append(v.Lines, views.StaffResultLine{Text: i18n.T(ctx, key, args...)})
	}
	call := func(name, e164 string) {
		l := views.StaffResultLine{Text: i18n.T(ctx, "staff.call_them", "name", called(ctx, name)), Call: true}
		l.Phone, l.PhoneURL = phone(c.tenant, e164)
		v.Lines = append(v.Lines, l)
	}
	if d.Target != "" {
		v.Lines = append(v.Lines, views.StaffResultLine{Text: i18n.T(ctx, "staff.then.target"), URL: views.StaffSlotURL(c.tenant.Slug, d.Target)})
	}
	for _, o := range d.Offered {
		e, here := c.entry(o.Entry)
		if !here {
			continue
		}
		line("staff.then.offered", "name", called(ctx, e.Name), "n", e.PartySize, "time", c.moment(ctx, o.Until))
		if e.Email == "" {
			call(e.Name, e.Phone)
		}
	}
	if len(d.Told) > 0 {
		line("staff.then.told", "n", len(d.Told))
		for _, id := range d.Told {
			if e, here := c.entry(id); here && e.Email == "" {
				call(e.Name, e.Phone)
			}
		}
	}
	if d.Frees && c.Status != store.SlotCancelled {
		switch bar := staffBar(c.Slot); {
		case bar.Kept:
			line("staff.then.kept", "n", bar.Free)
		case c.Status == store.SlotClosed && bar.Free > 0:
			line("staff.then.free_closed", "n", bar.Free)
		case c.SeatsLeft > 0:
			line("staff.then.open", "n", c.SeatsLeft)
		}
	}
	for _, key := range d.Says {
		if i18n.Has(key) { // the session may be of another version
			line(key, "n", d.N)
		}
	}
	c.toldInto(ctx, d, line, call)
	v.Lines = append(v.Lines, c.undoLinks(ctx, d)...)
	return v
}

// tellsEach are the steps that write to each of those that they were about.
var tellsEach = []staffStep{stepCancel, stepCancelSlot, stepTerms, stepMessage, stepRebook, stepBook, stepRevoke, stepRemove}

// toldInto says how many were written to, and whom somebody has to call: whoever
// has no address learns of it by no other way.
func (c counter) toldInto(ctx context.Context, d staffDone, line func(i18n.Key, ...any), call func(name, e164 string)) {
	switch {
	case d.Silent:
		line("staff.then.silent")
		return
	case !slices.Contains(tellsEach, d.Step):
		return
	}
	mails := 0
	for _, id := range d.IDs {
		name, email, number := c.person(id)
		switch {
		case email != "":
			mails++
		case name != "" || number != "":
			call(name, number)
		}
	}
	if mails > 0 {
		line("staff.then.mails", "n", mails)
	}
}

// mostUndoLinks is how many bookings of one press lead straight to their undoing; the roster leads to the others.
const mostUndoLinks = 5

// undoLinks lead back from a wrong cancel, right where it is seen.
func (c counter) undoLinks(ctx context.Context, d staffDone) []views.StaffResultLine {
	if d.Step != stepCancel || c.over() {
		return nil
	}
	var out []views.StaffResultLine
	for _, id := range d.IDs[:min(len(d.IDs), mostUndoLinks)] {
		if r, here := c.reservation(id); here && r.State == store.Cancelled && r.Name != "" {
			out = append(out, views.StaffResultLine{
				Text: i18n.T(ctx, "staff.then.undo", "name", i18n.Isolate(r.Name)), URL: views.StaffReservationRebookURL(c.tenant.Slug, c.ID, r.ID),
			})
		}
	}
	return out
}

// person is who a reservation or an entry of the slot is for.
func (c counter) person(id string) (name, email, number string) {
	if r, here := c.reservation(id); here {
		return r.Name, r.Email, r.Phone
	}
	if e, here := c.entry(id); here {
		return e.Name, e.Email, e.Phone
	}
	return "", "", ""
}

// consequences say before the press what a step would do, from the step itself
// made and undone.
func (c counter) consequences(ctx context.Context, change store.Change) []views.StaffConsequence {
	return append(c.seatsFollow(ctx, change), c.farewells(ctx, change.Ended)...)
}

// seatsFollow says what becomes of the seats that a step frees.
func (c counter) seatsFollow(ctx context.Context, change store.Change) []views.StaffConsequence {
	var out []views.StaffConsequence
	add := func(kind string, key i18n.Key, args ...any) {
		out = append(out, views.StaffConsequence{Kind: kind, Text: i18n.T(ctx, key, args...)})
	}
	for _, e := range change.Offered {
		add("offer", "staff.would.offer", "name", called(ctx, e.Name), "n", e.PartySize, "time", c.moment(ctx, *e.ShownUntil))
		if e.Email == "" {
			add("call", "staff.call_them", "name", called(ctx, e.Name))
		}
	}
	if len(change.Told) > 0 {
		add("vacancy", "staff.would.tell", "n", len(change.Told))
		for _, e := range change.Told {
			if e.Email == "" {
				add("call", "staff.call_them", "name", called(ctx, e.Name))
			}
		}
	}
	switch {
	case c.Status == store.SlotClosed:
		add("kept", "staff.would.closed")
	case change.FreeSeats > 0:
		add("open", "staff.would.open", "n", change.FreeSeats)
	case len(change.Offered) == 0 && len(change.Told) == 0 && c.Paused:
		add("kept", "staff.would.paused")
	case len(change.Offered) == 0 && len(change.Told) == 0 && len(change.Ended) > 0:
		add("kept", "staff.would.keep")
	}
	// The mode, where the sentences above don't name it.
	switch {
	case change.Mode == "first_come" && len(change.Told) == 0:
		add("open", "staff.would.mode_first_come")
	case change.Mode == string(store.Strict):
		add("kept", "staff.would.mode_strict")
	case change.Mode == string(store.FirstFit) && len(change.Offered) > 0:
		add("offer", "staff.would.mode_first_fit")
	}
	return out
}

// farewells say who would be written to, and whom somebody has to call.
func (c counter) farewells(ctx context.Context, ended []store.Reservation) []views.StaffConsequence {
	var out []views.StaffConsequence
	mails := 0
	for _, r := range ended {
		if r.Email != "" {
			mails++
		}
	}
	if mails > 0 {
		out = append(out, views.StaffConsequence{Kind: "mail", Text: i18n.T(ctx, "staff.would.mail", "n", mails)})
	}
	for _, r := range ended {
		if r.Email == "" && r.Name != "" {
			out = append(out, views.StaffConsequence{Kind: "call", Text: i18n.T(ctx, "staff.call_them", "name", r.Name)})
		}
	}
	return out
}
