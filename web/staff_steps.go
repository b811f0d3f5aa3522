package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// The longest reason, in characters, and the most reservations of one press.
const (
	longestReason = 300
	mostSelected  = 500
)

// The largest numbers that a form of staff takes; what is larger is a slip of the finger.
const (
	mostSeats = 10000
	mostParty = 1000
)

// slotParam is the slot of the path; NotFound where it can't be one.
func slotParam(r *http.Request) (string, error) {
	id := chi.URLParam(r, "slot")
	if !store.ValidID(id) {
		return "", store.NotFound
	}
	return id, nil
}

// selected are the reservations that a form or an address names.
func selected(values []string) ([]string, error) {
	if len(values) > mostSelected {
		return nil, errBadRequest
	}
	for _, id := range values {
		if !store.ValidID(id) {
			return nil, store.NotFound
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(values))), nil
}

// getStaffCancel says what cancelling would do. Nothing is changed.
func (s *Server) getStaffCancel(w http.ResponseWriter, r *http.Request) error {
	ids, err := selected(r.URL.Query()[views.FieldReservation])
	if err != nil {
		return err
	}
	return s.cancelPage(w, r, http.StatusOK, ids, slotPress{}, views.StaffReasonForm{}, false)
}

func (s *Server) cancelPage(w http.ResponseWriter, r *http.Request, status int, ids []string, press slotPress, reason views.StaffReasonForm, silent bool) error {
	ctx, t := r.Context(), venue(r)
	c, err := s.loadCounter(r)
	if err != nil {
		return err
	}
	v := views.StaffCancelPage{
		Slot: c.head(ctx), ActionURL: views.StaffSlotCancelURL(t.Slug, c.ID), Reason: reason, Silent: silent, Problem: press.problem, Changed: press.changed,
	}
	var live []string
	for _, id := range ids {
		res, here := c.reservation(id)
		switch {
		case !here && status == http.StatusOK:
			return store.NotFound
		case here && res.Live():
			live = append(live, id)
			v.Selected = append(v.Selected, c.reservationView(ctx, res))
			v.Seats += res.PartySize
		}
	}
	if len(live) > 0 {
		change, err := s.store.PreviewCancel(ctx, store.CancelRequest{TenantID: t.ID, SlotID: c.ID, IDs: live, Actor: me(r).actor(r)})
		var o store.Outcome
		switch {
		case err == nil:
			v.Consequence = c.consequences(ctx, change)
		case errors.As(err, &o) && o != store.Busy:
			v.Problem = s.refusal(r, o)
		default:
			return err
		}
	}
	self := c.url()
	if status == http.StatusOK {
		self = r.URL.RequestURI()
	}
	if v.Page, v.Staff, err = s.staffPage(r, "", i18n.T(ctx, "staff.cancel.title", "n", len(v.Selected)), self); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffCancel(v))
}

func (s *Server) postStaffCancel(w http.ResponseWriter, r *http.Request) error {
	f, slot, err := formFor(s, w, r, slotParam)
	if err != nil {
		return err
	}
	ids, err := selected(f.values[views.FieldReservation])
	if err != nil {
		return err
	}
	reason := f.text(views.FieldReason, longestReason)
	form := views.StaffReasonForm{Reason: reason, Err: f.errs.in(r.Context())[views.FieldReason]}
	// Not to tell somebody takes an explicit choice, and the history says it.
	silent := f.text(views.FieldSilent, 1) == "1"
	back := func(status int, press slotPress) error { return s.cancelPage(w, r, status, ids, press, form, silent) }
	if len(ids) == 0 || form.Err != "" {
		return back(http.StatusUnprocessableEntity, slotPress{})
	}
	return s.press(w, r, staffPress{
		step: stepCancel, form: f, back: back, args: []any{"n", len(ids)},
		do: func(version *int64) (staffDone, error) {
			change, err := s.store.Cancel(r.Context(), store.CancelRequest{
				TenantID: venue(r).ID, SlotID: slot, IDs: ids, Actor: me(r).actor(r), Reason: reason, Version: version, Silent: silent,
			})
			return staffDone{IDs: ids, N: len(ids), Silent: silent}.with(change), err
		},
		already: func(c counter) bool {
			return !slices.ContainsFunc(ids, func(id string) bool {
				res, here := c.reservation(id)
				return !here || res.State != store.Cancelled
			})
		},
	})
}

// getCancelSlot says what cancelling the whole slot would do.
func (s *Server) getCancelSlot(w http.ResponseWriter, r *http.Request) error {
	return s.cancelSlotPage(w, r, http.StatusOK, slotPress{}, views.StaffReasonForm{})
}

func (s *Server) cancelSlotPage(w http.ResponseWriter, r *http.Request, status int, press slotPress, reason views.StaffReasonForm) error {
	ctx := r.Context()
	c, err := s.loadCounter(r)
	if err != nil {
		return err
	}
	if c.Status == store.SlotCancelled {
		return s.see(w, r, c.url(), "")
	}
	self := views.StaffSlotCancelSlotURL(c.tenant.Slug, c.ID)
	v := views.StaffCancelSlotPage{
		Slot: c.head(ctx), ActionURL: self, Reason: reason, Problem: press.problem, Changed: press.changed,
	}
	var ended []store.Reservation
	booked, waiting := 0, 0
	for _, res := range c.roster {
		if res.Live() {
			ended = append(ended, res)
			booked += res.PartySize
		}
	}
	for _, e := range c.entries {
		if e.Live() {
			ended = append(ended, store.Reservation{Name: e.Name, Email: e.Email, Locale: e.Locale, Phone: e.Phone})
			waiting++
		}
	}
	v.Consequence = append(v.Consequence, views.StaffConsequence{Kind: "warn", Text: i18n.T(ctx, "staff.would.cancel_slot", "n", booked)})
	if waiting > 0 {
		v.Consequence = append(v.Consequence, views.StaffConsequence{Kind: "warn", Text: i18n.T(ctx, "staff.would.close_waitlist", "n", waiting)})
	}
	v.Consequence = append(v.Consequence, c.mailsByLanguage(ctx, ended)...)
	if v.Page, v.Staff, err = s.staffPage(r, "", i18n.T(ctx, "staff.cancel_slot.title"), self); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffCancelSlot(v))
}

func (s *Server) postCancelSlot(w http.ResponseWriter, r *http.Request) error {
	f, slot, err := formFor(s, w, r, slotParam)
	if err != nil {
		return err
	}
	reason := f.text(views.FieldReason, longestReason)
	form := views.StaffReasonForm{Reason: reason, Err: f.errs.in(r.Context())[views.FieldReason]}
	back := func(status int, press slotPress) error { return s.cancelSlotPage(w, r, status, press, form) }
	if form.Err != "" {
		return back(http.StatusUnprocessableEntity, slotPress{})
	}
	return s.press(w, r, staffPress{
		step: stepCancelSlot, form: f, back: back,
		do: func(version *int64) (staffDone, error) {
			change, err := s.store.CancelSlot(r.Context(), s.slotRequest(r, slot, reason, version))
			done := staffDone{N: len(change.Ended)}
			for _, res := range change.Ended {
				done.IDs = append(done.IDs, res.ID)
			}
			for _, e := range change.Closed {
				done.IDs = append(done.IDs, e.ID)
			}
			return done, err
		},
	})
}

func (s *Server) slotRequest(r *http.Request, slot, reason string, version *int64) store.SlotRequest {
	return store.SlotRequest{TenantID: venue(r).ID, SlotID: slot, Reason: reason, Actor: me(r).actor(r), Version: version}
}

// postSwitch closes, reopens, pauses or resumes.
func (s *Server) postSwitch(step staffStep) handlerFunc {
	do := map[staffStep]func(context.Context, store.SlotRequest) (store.Change, error){
		stepClose: s.store.CloseSlot, stepReopen: s.store.ReopenSlot, stepPause: s.store.PauseWaitlist, stepResume: s.store.ResumeWaitlist,
	}[step]
	already := map[staffStep]func(counter) bool{
		stepClose: func(c counter) bool { return c.Status == store.SlotClosed }, stepReopen: func(c counter) bool { return c.Status == store.SlotOpen },
		stepPause: func(c counter) bool { return c.Paused }, stepResume: func(c counter) bool { return !c.Paused },
	}[step]
	return func(w http.ResponseWriter, r *http.Request) error {
		f, slot, err := formFor(s, w, r, slotParam)
		if err != nil {
			return err
		}
		reason := f.text(views.FieldReason, longestReason)
		back := func(status int, press slotPress) error {
			return s.switchPage(w, r, step, status, press, views.StaffReasonForm{Reason: reason, Err: f.errs.in(r.Context())[views.FieldReason]})
		}
		if f.bad() && (step == stepClose || step == stepPause) {
			return errBadRequest // their forms have no such field
		}
		if f.bad() {
			return back(http.StatusUnprocessableEntity, slotPress{})
		}
		return s.press(w, r, staffPress{step: step, form: f, already: already, back: back, do: func(version *int64) (staffDone, error) {
			change, err := do(r.Context(), s.slotRequest(r, slot, reason, version))
			return staffDone{}.with(change), err
		}})
	}
}

func (s *Server) postCapacity(w http.ResponseWriter, r *http.Request) error {
	f, slot, err := formFor(s, w, r, slotParam)
	if err != nil {
		return err
	}
	form := capacityOf(f)
	capacity := form.capacity
	back := func(status int, press slotPress) error { return s.capacityPage(w, r, status, press, form) }
	if f.bad() {
		return back(http.StatusUnprocessableEntity, slotPress{})
	}
	return s.press(w, r, staffPress{
		step: stepCapacity, form: f, back: back, args: []any{"n", capacity},
		do: func(version *int64) (staffDone, error) {
			change, err := s.store.ChangeCapacity(r.Context(), store.CapacityRequest{
				TenantID: venue(r).ID, SlotID: slot, Capacity: capacity, Actor: me(r).actor(r), Version: version,
			})
			return staffDone{N: capacity}.with(change), err
		},
		already: func(c counter) bool { return c.Capacity == capacity },
	})
}

// decodeBook reads the form for a caller: what was typed, and the contact of it.
func decodeBook(f *form, t store.Tenant, asked []store.Question) (bookForm, int, store.Contact) {
	b := bookForm{
		party: f.text(views.FieldPartySize, 20), typed: decodeContact(f), beyond: f.text(views.FieldBeyond, 1) == "1", noMail: f.text(views.FieldNoMail, 1) == "1",
		reason: f.text(views.FieldReason, longestReason), key: f.text(views.FieldIdempotencyKey, longestKey), errs: f.errs,
	}
	party := f.number(views.FieldPartySize, 1, mostParty, "staff.err.party")
	contact := b.typed.contact(f.errs, needs{region: region(t), questions: optional(asked)}, t.Locale)
	f.errs.hidden(views.FieldIdempotencyKey, views.FieldVersion)
	return b, party, contact
}

func (s *Server) postBook(w http.ResponseWriter, r *http.Request) error {
	f, slot, err := formFor(s, w, r, slotParam)
	if err != nil {
		return err
	}
	t := venue(r)
	questions, err := s.questionsOf(r, slot)
	if err != nil {
		return err
	}
	b, party, contact := decodeBook(f, t, questions)
	if b.beyond && b.reason == "" {
		f.errs.fault(views.FieldReason, "staff.err.reason_beyond")
	}
	back := s.bookAgain(w, r, b)
	if f.bad() {
		return back(http.StatusUnprocessableEntity, slotPress{})
	}
	extra := ""
	if b.beyond {
		extra = b.reason
	}
	return s.press(w, r, staffPress{
		step: stepBook, form: f, back: back, args: []any{"name", contact.Name, "n", party},
		do: func(version *int64) (staffDone, error) {
			booked, change, err := s.store.Book(r.Context(), store.BookRequest{
				TenantID: t.ID, SlotID: slot, PartySize: party, Contact: contact, Key: b.key, ExtraReason: extra, Silent: b.noMail,
				Actor: me(r).actor(r), Version: version,
			})
			done := staffDone{IDs: []string{booked.ID}, N: party, Silent: b.noMail}.with(change)
			done.Frees = false
			return done, err
		},
	})
}

// questionsOf are the questions of the slot's service.
func (s *Server) questionsOf(r *http.Request, slot string) ([]store.Question, error) {
	o, err := s.store.Slot(r.Context(), venue(r).ID, slot)
	if err != nil {
		return nil, err
	}
	sv, err := s.store.Service(r.Context(), venue(r).ID, o.ServiceID)
	return sv.Questions, err
}

// optional gives questions that need not be answered: whoever is on the
// telephone is asked what there is time for, and the page of the booking asks for the rest.
func optional(questions []store.Question) []store.Question {
	out := slices.Clone(questions)
	for i := range out {
		out[i].Required = false
	}
	return out
}

// bookAgain shows the slot with the form for a caller as it was typed. A key
// that stands for something else is not kept: it could never succeed.
func (s *Server) bookAgain(w http.ResponseWriter, r *http.Request, b bookForm) func(int, slotPress) error {
	return func(status int, press slotPress) error {
		if press.problem != "" && status == http.StatusUnprocessableEntity {
			b.key = ""
		}
		b.errs.hidden(views.FieldBeyond, views.FieldNoMail, views.FieldIdempotencyKey)
		if fault, bad := b.errs[""]; bad {
			press.problem = fault.In(r.Context()) // of what nobody types
		}
		press.book = &b
		return s.staffSlotPage(w, r, status, press)
	}
}

// postStaffJoin puts a caller on the waitlist.
func (s *Server) postStaffJoin(w http.ResponseWriter, r *http.Request) error {
	f, slot, err := formFor(s, w, r, slotParam)
	if err != nil {
		return err
	}
	t := venue(r)
	questions, err := s.questionsOf(r, slot)
	if err != nil {
		return err
	}
	b, party, contact := decodeBook(f, t, questions)
	back := s.bookAgain(w, r, b)
	if f.bad() {
		return back(http.StatusUnprocessableEntity, slotPress{})
	}
	return s.press(w, r, staffPress{
		step: stepJoin, form: f, back: back, args: []any{"name", contact.Name, "n", party},
		do: func(version *int64) (staffDone, error) {
			joined, err := s.store.Join(r.Context(), store.JoinRequest{
				TenantID: t.ID, SlotID: slot, PartySize: party, Contact: contact, Key: b.key, Source: store.SourceStaff, Actor: me(r).actor(r),
				Version: version,
			})
			return staffDone{IDs: []string{joined.ID}, N: joined.Place}, err
		},
	})
}

// postAnswer is an answer that somebody gave by phone.
func (s *Server) postAnswer(w http.ResponseWriter, r *http.Request, step staffStep, do func(ctx context.Context, e store.Entry, terms int, version *int64) error) error {
	f, e, err := formFor(s, w, r, s.entryOf)
	if err != nil {
		return err
	}
	terms := f.terms()
	return s.press(w, r, staffPress{
		step: step, form: f, args: []any{"name", called(r.Context(), e.Name), "n", e.PartySize},
		do: func(version *int64) (staffDone, error) {
			return staffDone{IDs: []string{e.ID}, N: e.PartySize, Frees: step == stepDecline}, do(r.Context(), e, terms, version)
		},
	})
}

func (s *Server) postStaffAccept(w http.ResponseWriter, r *http.Request) error {
	return s.postAnswer(w, r, stepAccept, func(ctx context.Context, e store.Entry, terms int, version *int64) error {
		_, err := s.store.Accept(ctx, store.AcceptRequest{TenantID: e.TenantID, ID: e.ID, TermsVersion: terms, Actor: me(r).actor(r), Version: version})
		return err
	})
}

func (s *Server) postStaffClaim(w http.ResponseWriter, r *http.Request) error {
	return s.postAnswer(w, r, stepClaim, func(ctx context.Context, e store.Entry, terms int, version *int64) error {
		_, err := s.store.Claim(ctx, store.AcceptRequest{TenantID: e.TenantID, ID: e.ID, TermsVersion: terms, Actor: me(r).actor(r), Version: version})
		return err
	})
}

// postStaffDecline lets an offer pass. Whoever was called about open seats and
// wants none leaves the list: nobody is to call again.
func (s *Server) postStaffDecline(w http.ResponseWriter, r *http.Request) error {
	return s.postAnswer(w, r, stepDecline, func(ctx context.Context, e store.Entry, _ int, version *int64) error {
		end := s.store.Decline
		if e.State == store.Waiting {
			end = s.store.Withdraw
		}
		ended, err := end(ctx, store.Press{TenantID: e.TenantID, ID: e.ID, Actor: me(r).actor(r), Version: version})
		if err == nil && ended.State != store.Declined && ended.State != store.Withdrawn {
			return store.Over // they have booked in the meantime, or their time had run out
		}
		return err
	})
}

// reservationOf reads the reservation that the path or the form names. One that
// is not in the slot of the path any more has moved: the page was of another state.
func (s *Server) reservationOf(r *http.Request, named string) (store.Reservation, error) {
	slot, err := slotParam(r)
	if err != nil {
		return store.Reservation{}, err
	}
	if id := chi.URLParam(r, "reservation"); id != "" {
		named = id
	}
	if !store.ValidID(named) {
		return store.Reservation{}, store.NotFound
	}
	res, err := s.store.Reservation(r.Context(), venue(r).ID, named)
	if err == nil && res.SlotID != slot {
		err = store.Conflict
	}
	return res, err
}

// lostSight answers a press on a reservation that is no longer in the slot.
func (s *Server) lostSight(w http.ResponseWriter, r *http.Request, err error) error {
	if !errors.Is(err, store.Conflict) {
		return err
	}
	s.noteRefusal(r, store.Conflict)
	return s.staffSlotPage(w, r, http.StatusConflict, slotPress{problem: i18n.T(r.Context(), "staff.moved_away")})
}

func (s *Server) postStaffParty(w http.ResponseWriter, r *http.Request) error {
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	res, err := s.reservationOf(r, f.text(views.FieldReservation, 40))
	if err != nil {
		return s.lostSight(w, r, err)
	}
	size := sizeOf(f)
	party := size.party
	back := func(status int, press slotPress) error { return s.staffPartyPage(w, r, status, res.ID, press, size) }
	if f.bad() {
		return back(http.StatusUnprocessableEntity, slotPress{})
	}
	return s.press(w, r, staffPress{
		step: stepParty, form: f, back: back, args: []any{"name", called(r.Context(), res.Name), "n", party},
		do: func(version *int64) (staffDone, error) {
			_, change, err := s.store.ChangeParty(r.Context(), store.PartyRequest{
				TenantID: res.TenantID, ID: res.ID, PartySize: party, Actor: me(r).actor(r), Version: version,
			})
			return staffDone{IDs: []string{res.ID}, N: party}.with(change), err
		},
		already: func(c counter) bool {
			now, here := c.reservation(res.ID)
			return here && now.State == store.Confirmed && now.PartySize == party
		},
	})
}

// postAttendance notes that a party came or did not. It says nothing more: the
// row shows it.
func (s *Server) postAttendance(w http.ResponseWriter, r *http.Request) error {
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	res, err := s.reservationOf(r, f.text(views.FieldReservation, 40))
	if err != nil {
		return s.lostSight(w, r, err)
	}
	attendance := f.text(views.FieldAttendance, 20)
	if _, bad := f.errs[views.FieldAttendance]; bad {
		return errBadRequest
	}
	switch attendance {
	case "arrived", "no_show":
	case "none":
		attendance = ""
	default:
		return errBadRequest
	}
	if res.State != store.Confirmed {
		s.noteRefusal(r, store.Over)
		return s.staffSlotPage(w, r, answerFor(store.Over).status, slotPress{problem: s.refusal(r, store.Over)})
	}
	_, err = s.store.SetAttendance(r.Context(), store.AttendanceRequest{TenantID: res.TenantID, ID: res.ID, Attendance: attendance, Actor: me(r).actor(r)})
	if err != nil {
		return err
	}
	return s.see(w, r, views.StaffSlotURL(venue(r).Slug, res.SlotID)+"#reservation-"+res.ID, "")
}

// moveDays is how many days of targets a page shows.
const moveDays = 7

// fieldFrom is the first day of targets, YYYY-MM-DD at the venue.
const fieldFrom = "from"

func (s *Server) getStaffMove(w http.ResponseWriter, r *http.Request) error {
	res, err := s.reservationOf(r, r.URL.Query().Get(views.FieldReservation))
	if err != nil {
		return s.lostSight(w, r, err)
	}
	return s.staffMovePage(w, r, http.StatusOK, res.ID, slotPress{})
}

// staffMovePage shows the slots to which a reservation can move.
func (s *Server) staffMovePage(w http.ResponseWriter, r *http.Request, status int, id string, press slotPress) error {
	ctx, t := r.Context(), venue(r)
	c, err := s.loadCounter(r)
	if err != nil {
		return err
	}
	res, here := c.reservation(id)
	if !here {
		return s.lostSight(w, r, store.Conflict)
	}
	if res.State != store.Confirmed {
		s.noteRefusal(r, store.Over)
		return s.staffSlotPage(w, r, answerFor(store.Over).status, slotPress{problem: s.refusal(r, store.Over)})
	}
	loc := t.Location()
	first := startOfDay(later(c.StartsAt, c.Now), loc)
	asked, err := time.ParseInLocation(time.DateOnly, r.URL.Query().Get(fieldFrom), loc)
	if err == nil {
		first = asked
	}
	y, m, d := first.Date()
	end := time.Date(y, m, d+moveDays, 0, 0, 0, 0, loc)
	slots, err := s.store.Slots(ctx, store.SlotQuery{TenantID: t.ID, From: later(first, c.Now), To: end, Limit: 500})
	if err != nil {
		return err
	}
	self := views.StaffSlotMoveStepURL(t.Slug, c.ID, res.ID)
	from := func(day time.Time) string {
		return self + "&" + url.Values{fieldFrom: {day.Format(time.DateOnly)}}.Encode()
	}
	v := views.StaffMovePage{
		Slot: c.head(ctx), Who: c.reservationView(ctx, res), ActionURL: views.StaffSlotMoveURL(t.Slug, c.ID), Problem: press.problem, Changed: press.changed,
		LaterURL: from(end),
	}
	if earlier := time.Date(y, m, d-moveDays, 0, 0, 0, 0, loc); first.After(startOfDay(c.Now, loc)) {
		v.EarlierURL = from(later(earlier, startOfDay(c.Now, loc)))
	}
	// The seats of a booking that moves away go where those of a cancelled one go.
	change, err := s.store.PreviewCancel(ctx, store.CancelRequest{TenantID: t.ID, SlotID: c.ID, IDs: []string{res.ID}, Actor: me(r).actor(r)})
	var o store.Outcome
	switch {
	case err == nil:
		v.Consequence = c.seatsFollow(ctx, change)
	case !errors.As(err, &o) || o == store.Busy:
		return err
	}
	if res.Email != "" {
		v.Consequence = append(v.Consequence, views.StaffConsequence{Kind: "mail", Text: i18n.T(ctx, "staff.would.mail_move", "name", called(ctx, res.Name))})
	} else {
		v.Consequence = append(v.Consequence, views.StaffConsequence{Kind: "call", Text: i18n.T(ctx, "staff.call_them", "name", called(ctx, res.Name))})
	}
	for _, target := range slots {
		if target.ID == c.ID || target.Status == store.SlotCancelled {
			continue
		}
		heading := i18n.In(ctx).Date(target.StartsAt, loc)
		if len(v.Days) == 0 || v.Days[len(v.Days)-1].Heading != heading {
			v.Days = append(v.Days, views.StaffMoveDay{Heading: heading})
		}
		day := &v.Days[len(v.Days)-1]
		day.Targets = append(day.Targets, targetView(ctx, t, c.names.of(target), res.PartySize))
	}
	if v.Page, v.Staff, err = s.staffPage(r, "", i18n.T(ctx, "staff.move.title", "name", called(ctx, res.Name)), self); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffMove(v))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func startOfDay(at time.Time, loc *time.Location) time.Time {
	y, m, d := at.In(loc).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, loc)
}

// targetView is a slot to move to, with the reason where a party can't.
func targetView(ctx context.Context, t store.Tenant, o oneSlot, party int) views.StaffTarget {
	lang, c, loc := i18n.Lang(ctx), i18n.In(ctx), t.Location()
	v := views.StaffTarget{
		ID: o.ID, TermsVersion: strconv.Itoa(o.TermsVersion), Time: c.TimeRange(o.StartsAt, o.EndsAt, loc), Label: c.DateTimeShort(o.StartsAt, loc),
		Service: o.service.Name.In(lang), Resource: o.resource.Name.In(lang), State: staffState(o.Slot), Free: o.SeatsLeft,
	}
	switch {
	case o.Status != store.SlotOpen || !o.WindowOpen():
		v.Why = i18n.T(ctx, "staff.target.closed")
	case o.SeatsLeft < party:
		v.Why = i18n.T(ctx, "staff.target.full", "n", o.SeatsLeft)
	}
	return v
}

func (s *Server) postStaffMove(w http.ResponseWriter, r *http.Request) error {
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	target, terms, reason := f.text(views.FieldTargetSlot, 40), f.terms(), f.text(views.FieldReason, longestReason)
	res, err := s.reservationOf(r, f.text(views.FieldReservation, 40))
	if errors.Is(err, store.Conflict) && target == res.SlotID {
		// The form was sent twice: it stands where it was to go.
		return s.doneSee(w, r, stepMove, staffDone{Already: true})
	}
	if err != nil {
		return s.lostSight(w, r, err)
	}
	if !store.ValidID(target) {
		return store.NotFound
	}
	if fault, bad := f.errs[views.FieldReason]; bad {
		return s.staffMovePage(w, r, http.StatusUnprocessableEntity, res.ID, slotPress{problem: fault.In(r.Context())})
	}
	return s.press(w, r, staffPress{
		step: stepMove, form: f, args: []any{"name", called(r.Context(), res.Name), "n", res.PartySize},
		back: func(status int, press slotPress) error { return s.staffMovePage(w, r, status, res.ID, press) },
		do: func(version *int64) (staffDone, error) {
			_, err := s.store.Move(r.Context(), store.MoveRequest{
				TenantID: res.TenantID, ID: res.ID, TargetSlot: target, TargetTerms: terms, Actor: me(r).actor(r), Reason: reason, Version: version,
			})
			return staffDone{IDs: []string{res.ID}, N: res.PartySize, Target: target, Frees: true}, err
		},
	})
}
