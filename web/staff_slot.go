package web

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// counter is a slot with its people: what every page and step of staff about a
// slot reads, in a fixed number of statements.
type counter struct {
	oneSlot
	tenant  store.Tenant
	names   names
	roster  []store.Reservation
	entries []store.Entry // ended ones too
}

func (s *Server) loadCounter(r *http.Request) (counter, error) {
	ctx, t := r.Context(), venue(r)
	o, n, err := s.loadSlot(ctx, t.ID, chi.URLParam(r, "slot"))
	if err != nil {
		return counter{}, err
	}
	c := counter{oneSlot: o, tenant: t, names: n}
	if c.roster, err = s.store.Roster(ctx, t.ID, o.ID); err != nil {
		return counter{}, err
	}
	c.entries, err = s.store.Waitlist(ctx, t.ID, o.ID, true)
	return c, err
}

// reservation finds a reservation of the slot; false if it is not here.
func (c counter) reservation(id string) (store.Reservation, bool) {
	at := slices.IndexFunc(c.roster, func(r store.Reservation) bool { return r.ID == id })
	if at < 0 {
		return store.Reservation{}, false
	}
	return c.roster[at], true
}

// entry finds an entry of the slot's waitlist; false if it is not here.
func (c counter) entry(id string) (store.Entry, bool) {
	at := slices.IndexFunc(c.entries, func(e store.Entry) bool { return e.ID == id })
	if at < 0 {
		return store.Entry{}, false
	}
	return c.entries[at], true
}

func (c counter) url() string { return views.StaffSlotURL(c.tenant.Slug, c.ID) }

// over reports whether nothing can be booked into the slot any more.
func (c counter) over() bool {
	return c.Status == store.SlotCancelled || !c.Now.Before(c.EndsAt)
}

// staffState is a slot's state in the words of staff.
func staffState(s store.Slot) string {
	switch {
	case s.Status == store.SlotCancelled:
		return "cancelled"
	case !s.Now.Before(s.StartsAt):
		return "over"
	case s.Status == store.SlotClosed || !s.Now.Before(s.ClosesAt):
		return "closed"
	case s.SeatsLeft > 0 && s.SeatsLeft <= s.FewLeft && s.SeatsLeft < s.Capacity:
		return "few"
	case s.SeatsLeft > 0:
		return "free"
	case s.WaitlistMode != store.WaitlistNone:
		return "waitlist"
	default:
		return "full"
	}
}

// staffBar is what the slot's seats are doing. Seats that are due count as free.
func staffBar(s store.Slot) views.StaffBar {
	free := max(0, s.Capacity-s.Confirmed-s.Held-s.Offered)
	return views.StaffBar{Capacity: s.Capacity, Booked: s.Confirmed, Held: s.Held, Offered: s.Offered, Free: free, Kept: free > 0 && s.SeatsLeft == 0}
}

// arrived counts the people who are checked in.
func (c counter) arrived() int {
	n := 0
	for _, r := range c.roster {
		if r.State == store.Confirmed && r.Attendance == "arrived" {
			n += r.PartySize
		}
	}
	return n
}

// head is the top of the slot's pages.
func (c counter) head(ctx context.Context) views.StaffSlotHead {
	lang, cat, loc := i18n.Lang(ctx), i18n.In(ctx), c.tenant.Location()
	return views.StaffSlotHead{
		ID: c.ID, URL: c.url(), LiveURL: views.StaffLiveSlotURL(c.tenant.Slug, c.ID), When: views.WhenRange(lang, c.StartsAt, c.EndsAt, loc, false), Service: c.service.Name.In(lang), Resource: c.resource.Name.In(lang),
		State: staffState(c.Slot), Paused: c.Paused, Bar: staffBar(c.Slot), Waiting: c.Waiting, Arrived: c.arrived(), Rule: c.rule(ctx),
		BackURL:  views.StaffDayURL(c.tenant.Slug, c.StartsAt.In(loc).Format(time.DateOnly)),
		BackText: cat.DateShort(c.StartsAt, loc), Version: strconv.FormatInt(c.Version, 10), TermsVersion: strconv.Itoa(c.TermsVersion),
	}
}

// rule says who gets a seat that comes free, and when that changes, as an exact time.
func (c counter) rule(ctx context.Context) string {
	switch {
	case c.over():
		return ""
	case c.WaitlistMode == store.WaitlistNone:
		return i18n.T(ctx, "staff.rule.none")
	case c.Paused:
		return i18n.T(ctx, "staff.rule.paused")
	case c.OrderRules && c.OrderUntil != nil:
		return i18n.T(ctx, "staff.rule.order_until", "time", i18n.In(ctx).DateTime(*c.OrderUntil, c.tenant.Location()))
	case c.OrderRules:
		return i18n.T(ctx, "staff.rule.order")
	default:
		return i18n.T(ctx, "staff.rule.first_come")
	}
}

// called is how staff call somebody who may not have given a name yet.
func called(ctx context.Context, name string) string {
	if name == "" {
		return i18n.T(ctx, "staff.unnamed")
	}
	return name
}

// reservationView is one line of the roster.
func (c counter) reservationView(ctx context.Context, r store.Reservation) views.StaffReservation {
	slug := c.tenant.Slug
	v := views.StaffReservation{
		ID: r.ID, Number: r.Number, Name: called(ctx, r.Name), Kana: r.Kana, Party: r.PartySize, State: string(r.State), Attendance: r.Attendance,
		Email: r.Email, Note: r.Note, Source: string(r.Source), Extra: r.ExtraSeats,
	}
	v.Phone, v.PhoneURL = phone(c.tenant, r.Phone)
	v.Answers = answered(ctx, c.service.EverAsked(), r.Answers)
	if r.State == store.Held {
		if r.Name == "" {
			v.Name = i18n.T(ctx, "staff.filling_in")
		}
		v.Until = deadlineOf(ctx, c.tenant, r.ShownUntil, r.Now, c.HoldShown)
	}
	if r.Live() {
		v.CancelURL = views.StaffSlotCancelStepURL(slug, c.ID, r.ID)
	}
	if r.State == store.Confirmed {
		v.AttendanceURL = views.StaffSlotAttendanceURL(slug, c.ID)
		v.PartyURL = views.StaffSlotPartyURL(slug, c.ID)
		v.MoveURL = views.StaffSlotMoveStepURL(slug, c.ID, r.ID)
	}
	if r.State == store.Confirmed || r.State == store.Cancelled {
		v.MessagesURL = views.StaffMessagesOfURL(slug, r.ID)
	}
	if r.State == store.Confirmed {
		v.ContactURL = views.StaffReservationContactURL(slug, c.ID, r.ID)
	}
	if r.State == store.Cancelled && r.Name != "" && !c.over() {
		v.RebookURL = views.StaffReservationRebookURL(slug, c.ID, r.ID)
	}
	if r.EndedAt != nil {
		v.Ended = c.ended(ctx, r)
	}
	return v
}

// ended says when, by whom and why a reservation ended.
func (c counter) ended(ctx context.Context, r store.Reservation) string {
	args := []any{"time", c.moment(ctx, *r.EndedAt)}
	var text string
	switch {
	case r.State == store.ExpiredR:
		text = i18n.T(ctx, "staff.ended.expired", args...)
	case r.State == store.Released:
		text = i18n.T(ctx, "staff.ended.released", args...)
	case r.CancelledBy == string(store.Customer):
		text = i18n.T(ctx, "staff.ended.by_customer", args...)
	case r.CancelledBy == string(store.API):
		text = i18n.T(ctx, "staff.ended.by_api", args...)
	default:
		text = i18n.T(ctx, "staff.ended.by_staff", args...)
	}
	if r.CancelReason != "" {
		text += " " + i18n.T(ctx, "staff.event.reason", "reason", r.CancelReason)
	}
	return text
}

// moment is a time of day at the venue, with the date where it is not that of the reading.
func (c counter) moment(ctx context.Context, at time.Time) string {
	return momentAt(ctx, c.tenant, at, c.Now)
}

func momentAt(ctx context.Context, t store.Tenant, at, now time.Time) string {
	loc := t.Location()
	if y, m, d := now.In(loc).Date(); sameDate(at.In(loc), y, m, d) {
		return i18n.In(ctx).Time(at, loc)
	}
	return i18n.In(ctx).DateTimeShort(at, loc)
}

// entryView is one line of the waitlist; place counts the live ones from 1.
func (c counter) entryView(ctx context.Context, e store.Entry, place int, ahead []store.Entry) views.StaffEntry {
	slug, bar := c.tenant.Slug, staffBar(c.Slot)
	v := views.StaffEntry{
		ID: e.ID, Position: place, Name: called(ctx, e.Name), Kana: e.Kana, Party: e.PartySize, State: string(e.State), Email: e.Email, Note: e.Note,
		Joined: c.moment(ctx, e.JoinedAt),
	}
	v.Phone, v.PhoneURL = phone(c.tenant, e.Phone)
	v.Answers = answered(ctx, c.service.EverAsked(), e.Answers)
	v.MessagesURL = views.StaffMessagesOfURL(slug, e.ID)
	if e.EndedAt != nil {
		v.Ended = c.moment(ctx, *e.EndedAt)
		if e.State == store.Withdrawn && e.Reason != "" { // typed by staff; a code of ours where an entry was closed
			v.Ended += " " + i18n.T(ctx, "staff.event.reason", "reason", e.Reason)
		}
	}
	open := c.Status == store.SlotOpen && c.Now.Before(c.ClosesAt)
	switch e.State {
	case store.Offered:
		v.Until = deadlineOf(ctx, c.tenant, e.ShownUntil, e.Now, c.OfferShown)
		v.AcceptURL, v.DeclineURL = views.StaffEntryAcceptURL(slug, c.ID, e.ID), views.StaffEntryDeclineURL(slug, c.ID, e.ID)
		v.RevokeURL = views.StaffEntryRevokeURL(slug, c.ID, e.ID)
	case store.Waiting:
		v.RemoveURL = views.StaffEntryRemoveURL(slug, c.ID, e.ID)
		if e.PartySize > 1 {
			v.PartyURL = views.StaffEntryPartyURL(slug, c.ID, e.ID)
		}
		if e.PartySize > c.Capacity {
			v.CannotFit = i18n.T(ctx, "staff.cannot_fit", "n", e.PartySize, "capacity", c.Capacity)
		}
		if open && e.PartySize <= bar.Free {
			v.OfferURL = views.StaffEntryOfferURL(slug, c.ID, e.ID)
			switch len(ahead) {
			case 0:
			case 1:
				v.OfferAhead = i18n.T(ctx, "staff.offer_ahead.one_party", "name", called(ctx, ahead[0].Name), "n", ahead[0].PartySize)
			default:
				v.OfferAhead = i18n.T(ctx, "staff.offer_ahead.parties", "n", len(ahead))
			}
		}
		if open && c.WindowOpen() && !c.OrderRules && e.PartySize <= c.SeatsLeft {
			v.ClaimURL = views.StaffEntryClaimURL(slug, c.ID, e.ID)
		}
	}
	return v
}

// bookForm is the form for a caller, as typed.
type bookForm struct {
	party  string
	typed  contactForm
	beyond bool
	noMail bool
	reason string
	key    string
	errs   formErrors
}

// slotPress is what a refused press leaves on the slot's page; the zero value is a plain look.
type slotPress struct {
	changed *views.StaffChanged
	problem string
	refused store.Outcome // why; "" for a plain look, and where the form was stale
	book    *bookForm
}

// How many events a page shows at first, and at most.
const (
	eventsShown = 30
	eventsMost  = 500
)

func (s *Server) getStaffSlot(w http.ResponseWriter, r *http.Request) error {
	return s.staffSlotPage(w, r, http.StatusOK, slotPress{})
}

// staffSlotPage is a slot as it is now. It answers GET, and POSTs that were not carried out.
func (s *Server) staffSlotPage(w http.ResponseWriter, r *http.Request, status int, press slotPress) error {
	ctx, t := r.Context(), venue(r)
	c, err := s.loadCounter(r)
	if err != nil {
		return err
	}
	v := views.StaffSlotPage{Slot: c.head(ctx), Changed: press.changed, Problem: press.problem}
	if v.Page, v.Staff, err = s.staffPage(r, "", c.service.Name.In(i18n.Lang(ctx)), c.url()); err != nil {
		return err
	}
	if status == http.StatusOK && r.Method == http.MethodGet {
		if v.Result, err = s.resultOf(r, c); err != nil {
			return err
		}
	}
	told, err := s.toldBySubject(r, c)
	if err != nil {
		return err
	}
	if v.History, err = s.history(r, c, 0, eventsShown); err != nil {
		return err
	}
	if len(v.History) == eventsShown {
		v.OlderURL = views.StaffSlotHistoryURL(t.Slug, c.ID, 0)
	}
	c.rosterInto(ctx, &v, told, r.URL.Query())
	c.waitlistInto(ctx, &v, told)
	if !c.over() {
		v.Book = c.bookView(ctx, press.book)
		v.Capacity = views.StaffCapacityForm{
			ActionURL: views.StaffSlotCapacityURL(t.Slug, c.ID), Value: strconv.Itoa(c.Capacity), Least: c.Capacity - staffBar(c.Slot).Free,
		}
	}
	v.CancelURL = views.StaffSlotCancelURL(t.Slug, c.ID)
	v.PrintURL = views.StaffSlotPrintURL(t.Slug, c.ID)
	if me(r).can(takeData) {
		v.CSVURL, v.WaitCSVURL = views.StaffSlotRosterCSVURL(t.Slug, c.ID), views.StaffSlotWaitlistCSVURL(t.Slug, c.ID)
	}
	c.switchesInto(&v)
	return s.render(w, r, status, views.StaffSlot(v))
}

// The parts of the roster that can be shown alone.
const (
	showArrived  = "arrived"
	showExpected = "expected"
	showNoShow   = "no_show"
)

// shown reports whether a live reservation belongs to a part of the roster.
func shown(r store.Reservation, part string) bool {
	switch part {
	case showArrived, showNoShow:
		return r.State == store.Confirmed && r.Attendance == part
	case showExpected:
		return r.State == store.Confirmed && r.Attendance == ""
	default:
		return true
	}
}

// rosterInto fills in the roster, or the part of it that the address asks for,
// with every box ticked where it says so.
func (c counter) rosterInto(ctx context.Context, v *views.StaffSlotPage, told map[string]string, q url.Values) {
	part, all := q.Get(views.FieldShow), q.Get(views.FieldSelect) == "all"
	if !slices.Contains([]string{showArrived, showExpected, showNoShow}, part) {
		part = ""
	}
	counts := map[string]int{}
	for _, res := range c.roster {
		line := c.reservationView(ctx, res)
		line.Told = told[res.ID]
		switch {
		case res.Live():
			for _, p := range []string{"", showExpected, showArrived, showNoShow} {
				if shown(res, p) {
					counts[p]++
				}
			}
			if shown(res, part) {
				line.Selected = all
				v.Roster = append(v.Roster, line)
			}
		case res.State == store.Cancelled || res.Name != "": // a hold that was given up has no name; the history tells of it
			v.Gone = append(v.Gone, line)
		}
	}
	if counts[""] > 1 || part != "" {
		for _, p := range []struct {
			part string
			word i18n.Key
		}{{"", "staff.roster.show_all"}, {showExpected, "staff.roster.show_expected"}, {showArrived, "staff.roster.show_arrived"}, {showNoShow, "staff.roster.show_no_show"}} {
			v.Shows = append(v.Shows, views.StaffFilter{
				Text: i18n.T(ctx, p.word), Count: counts[p.part], Current: p.part == part, URL: views.StaffSlotShowURL(c.tenant.Slug, c.ID, p.part, false),
			})
		}
	}
	if len(v.Roster) > 1 && !all {
		v.SelectAllURL = views.StaffSlotShowURL(c.tenant.Slug, c.ID, part, true)
	}
}

// waitlistInto fills in the waitlist: the live ones in order, the others apart.
func (c counter) waitlistInto(ctx context.Context, v *views.StaffSlotPage, told map[string]string) {
	var ahead []store.Entry
	place := 0
	for _, e := range c.entries {
		if !e.Live() {
			line := c.entryView(ctx, e, 0, nil)
			line.Told = told[e.ID]
			v.WaitGone = append(v.WaitGone, line)
			continue
		}
		place++
		line := c.entryView(ctx, e, place, ahead)
		line.Told = told[e.ID]
		if e.State == store.Waiting {
			ahead = append(ahead, e)
		}
		v.Waitlist = append(v.Waitlist, line)
	}
}

func (c counter) switchesInto(v *views.StaffSlotPage) {
	slug := c.tenant.Slug
	if c.over() {
		return
	}
	if c.Status == store.SlotOpen {
		v.CloseURL = views.StaffSlotCloseURL(slug, c.ID)
	} else {
		v.ReopenURL = views.StaffSlotReopenURL(slug, c.ID)
	}
	switch {
	case c.Paused:
		v.ResumeURL = views.StaffSlotResumeURL(slug, c.ID)
	case c.WaitlistMode != store.WaitlistNone:
		v.PauseURL = views.StaffSlotPauseURL(slug, c.ID)
	}
	v.CancelSlotURL = views.StaffSlotCancelSlotURL(slug, c.ID)
	v.TermsURL = views.StaffSlotTermsURL(slug, c.ID)
	v.MessageURL = views.StaffSlotMessageURL(slug, c.ID)
}

// bookView is the form for a caller, empty or as it was typed.
func (c counter) bookView(ctx context.Context, typed *bookForm) views.StaffBookForm {
	slug := c.tenant.Slug
	bar := staffBar(c.Slot)
	v := views.StaffBookForm{
		ActionURL: views.StaffSlotBookURL(slug, c.ID), IdempotencyKey: rand.Text(), PartySize: "1", Room: c.SeatsLeft,
	}
	answers := typedAnswers{}
	if typed != nil {
		answers = typed.typed.answers
	}
	v.Questions = answers.view(ctx, optional(c.service.Questions))
	if c.Status != store.SlotOpen {
		v.Room = 0
	}
	switch {
	case c.Status == store.SlotClosed:
		v.Hint = i18n.T(ctx, "staff.book.hint_closed")
	case bar.Kept:
		v.Hint = i18n.T(ctx, "staff.book.hint_kept", "n", bar.Free)
	case v.Room == 0:
		v.Hint = i18n.T(ctx, "staff.book.hint_full")
	}
	if c.Joinable() && v.Room < c.PartyMax {
		if v.Room == 0 || typed != nil {
			v.JoinURL = views.StaffSlotJoinURL(slug, c.ID)
		}
	}
	if typed != nil {
		v.PartySize, v.Name, v.Kana, v.Email, v.Phone, v.Note = typed.party, typed.typed.Name, typed.typed.Kana, typed.typed.Email, typed.typed.Phone, typed.typed.Note
		v.Beyond, v.NoMail, v.Reason, v.Errs = typed.beyond, typed.noMail, typed.reason, typed.errs.in(ctx)
		if typed.key != "" {
			v.IdempotencyKey = typed.key
		}
	}
	return v
}

// mustMove names who stands in the way of a capacity below the seats taken.
func (c counter) mustMove(ctx context.Context) []views.StaffMustMove {
	var out []views.StaffMustMove
	for _, r := range c.roster {
		if !r.Live() {
			continue
		}
		m := views.StaffMustMove{Text: i18n.T(ctx, "staff.must_move.booked", "name", called(ctx, r.Name), "n", r.PartySize)}
		if r.State == store.Held {
			m.Text = i18n.T(ctx, "staff.must_move.held", "n", r.PartySize, "time", c.moment(ctx, *r.ShownUntil))
		} else {
			m.URL = views.StaffSlotMoveStepURL(c.tenant.Slug, c.ID, r.ID)
		}
		out = append(out, m)
	}
	for _, e := range c.entries {
		if e.State == store.Offered {
			out = append(out, views.StaffMustMove{
				Text: i18n.T(ctx, "staff.must_move.offered", "name", called(ctx, e.Name), "n", e.PartySize, "time", c.moment(ctx, *e.ShownUntil)),
			})
		}
	}
	return out
}

// toldBySubject says what the newest message to each party of the slot was and
// what became of it. One statement.
func (s *Server) toldBySubject(r *http.Request, c counter) (map[string]string, error) {
	messages, err := s.store.Messages(r.Context(), store.MessageQuery{TenantID: c.tenant.ID, SlotID: c.ID, Limit: eventsMost})
	if err != nil {
		return nil, err
	}
	told := map[string]string{}
	for _, m := range messages {
		if m.SubjectID == nil || told[*m.SubjectID] != "" || m.State == store.MessageObsolete {
			continue
		}
		told[*m.SubjectID] = toldText(r.Context(), c.tenant, m, c.Now)
	}
	return told, nil
}

func toldText(ctx context.Context, t store.Tenant, m store.Message, now time.Time) string {
	kind := i18n.T(ctx, i18n.Key("staff.mail_kind."+string(m.Kind)))
	switch {
	case m.State == store.MessageSent && m.SentAt != nil:
		return i18n.T(ctx, "staff.told.sent", "kind", kind, "time", momentAt(ctx, t, *m.SentAt, now))
	case m.State == store.MessageFailed:
		return i18n.T(ctx, "staff.told.failed", "kind", kind)
	default:
		return i18n.T(ctx, "staff.told.pending", "kind", kind)
	}
}

// history writes the newest events of the slot, newest first; with after > 0
// only what changed since that version. At most four statements.
func (s *Server) history(r *http.Request, c counter, after int64, limit int) ([]views.StaffEvent, error) {
	events, err := s.store.History(r.Context(), c.tenant.ID, c.ID, after, limit)
	if err != nil {
		return nil, err
	}
	return s.sentences(r, c, events)
}

// sentences writes events as sentences, in their order.
func (s *Server) sentences(r *http.Request, c counter, events []store.Event) ([]views.StaffEvent, error) {
	known, err := s.loadEventNames(r, c, events)
	if err != nil {
		return nil, err
	}
	out := make([]views.StaffEvent, 0, len(events))
	for _, e := range events {
		out = append(out, c.eventView(r.Context(), e, known))
	}
	return out, nil
}

// eventNames are what events name by id.
type eventNames struct {
	staff  map[string]string
	people map[string]string
	slots  map[string]string
}

func (s *Server) loadEventNames(r *http.Request, c counter, events []store.Event) (eventNames, error) {
	ctx, t := r.Context(), c.tenant
	n := eventNames{staff: map[string]string{}, people: map[string]string{}, slots: map[string]string{}}
	members, err := s.store.Members(ctx, t.ID)
	if err != nil {
		return n, err
	}
	for _, m := range members {
		n.staff[m.ID] = colleague{StaffMember: m}.called()
	}
	for _, res := range c.roster {
		n.people[res.ID] = i18n.Isolate(called(ctx, res.Name))
		if res.Name == "" {
			n.people[res.ID] = res.Number
		}
	}
	for _, e := range c.entries {
		n.people[e.ID] = i18n.Isolate(called(ctx, e.Name))
	}
	var others, slots []string
	for _, e := range events {
		if e.SubjectID != nil && n.people[*e.SubjectID] == "" {
			others = append(others, *e.SubjectID)
		}
		if id := movedBetween(e); id != "" {
			slots = append(slots, id)
		}
	}
	people, err := s.store.People(ctx, t.ID, others)
	if err != nil {
		return n, err
	}
	for id, p := range people {
		n.people[id] = i18n.Isolate(called(ctx, p.Name))
	}
	found, err := s.store.SlotsByID(ctx, t.ID, slots)
	if err != nil {
		return n, err
	}
	for _, slot := range found {
		n.slots[slot.ID] = i18n.In(ctx).DateTimeShort(slot.StartsAt, t.Location())
	}
	return n, nil
}

// movedBetween is the other slot of a move.
func movedBetween(e store.Event) string {
	switch e.Kind {
	case store.EventMovedOut:
		return detail(e, "to")
	case store.EventMovedIn:
		return detail(e, "from")
	}
	return ""
}

// detail is a text among the details of an event.
func detail(e store.Event, name string) string {
	text, _ := e.Details[name].(string) // absent, or another type: no text
	return text
}

// numberIn is a number among the details of an event.
func numberIn(e store.Event, name string) int {
	n, _ := e.Details[name].(float64) // as JSON reads numbers; absent: 0
	return int(n)
}

func (c counter) eventView(ctx context.Context, e store.Event, n eventNames) views.StaffEvent {
	f := views.StaffEventFacts{Kind: string(e.Kind), Actor: actorName(ctx, e.Actor, n), Party: e.PartySize, To: e.PartySize, From: numberIn(e, "from")}
	if e.SubjectID != nil {
		f.Who = n.people[*e.SubjectID]
	}
	if f.Who == "" {
		f.Who = i18n.T(ctx, "staff.unnamed")
	}
	if e.Kind == store.EventCapacityChanged {
		f.To = numberIn(e, "to")
	}
	if until, err := time.Parse(time.RFC3339, detail(e, "shown_until")); err == nil {
		f.Until = c.moment(ctx, until)
	}
	f.Other = n.slots[movedBetween(e)]
	v := views.StaffEvent{At: momentAt(ctx, c.tenant, e.At, c.Now), Kind: string(e.Kind), Sentence: views.StaffEventSentence(ctx, f)}
	if e.Number != nil {
		v.Number = strconv.FormatInt(*e.Number, 10)
	}
	if sentence := c.toldOtherwise(ctx, e, f); sentence != "" {
		v.Sentence = sentence
	}
	v.Seats, v.Notes = seatsChanged(ctx, e), eventNotes(ctx, e)
	// The reason of an ended entry is a code of ours, not what somebody typed.
	if e.Kind != store.EventEntryClosed {
		v.Reason = detail(e, "reason")
	}
	return v
}

func actorName(ctx context.Context, actor string, n eventNames) string {
	kind, id, _ := strings.Cut(actor, ":")
	switch store.ActorKind(kind) {
	case store.Staff:
		if name := n.staff[id]; name != "" {
			return name
		}
		return i18n.T(ctx, "staff.actor.staff")
	case store.Customer:
		return i18n.T(ctx, "staff.actor.customer")
	case store.API:
		return i18n.T(ctx, "staff.actor.api")
	default:
		return i18n.T(ctx, "staff.actor.system")
	}
}
