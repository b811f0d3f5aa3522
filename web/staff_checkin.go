package web

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/go-chi/chi/v5"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// flashCheckedIn waits for the page of the booking that was just checked in,
// whose heading says it.
const flashCheckedIn i18n.Key = "find.checkin.done.text"

// getCheckin asks for a number.
func (s *Server) getCheckin(w http.ResponseWriter, r *http.Request) error {
	return s.checkinPage(w, r, http.StatusOK, "", "")
}

func (s *Server) checkinPage(w http.ResponseWriter, r *http.Request, status int, typed, fault string) error {
	ctx, t := r.Context(), venue(r)
	v := views.StaffCheckinPage{ActionURL: views.StaffCheckinURL(t.Slug), Number: typed, Err: fault}
	var err error
	if v.Page, v.Staff, err = s.staffPage(r, "checkin", i18n.T(ctx, "find.checkin.title"), views.StaffCheckinURL(t.Slug)); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffCheckin(v))
}

// postCheckin leads to the booking of a number. Nothing is changed by it.
func (s *Server) postCheckin(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	typed := f.text(views.FieldCheckinNumber, longestPhone)
	again := func(key i18n.Key) error {
		f.errs.fault(views.FieldCheckinNumber, key)
		return s.checkinPage(w, r, http.StatusUnprocessableEntity, typed, f.errs.in(ctx)[views.FieldCheckinNumber])
	}
	switch {
	case f.bad():
		return again("form.err.characters") // the first fault stays
	case typed == "":
		return again("find.checkin.missing")
	}
	res, err := s.store.ReservationByNumber(ctx, t.ID, typed)
	if errors.Is(err, store.NotFound) {
		return again("find.checkin.unknown")
	}
	if err != nil {
		return err
	}
	return s.see(w, r, views.StaffCheckinNumberURL(t.Slug, res.Number), "")
}

// arrival is a booking at the door.
type arrival struct {
	oneSlot
	tenant store.Tenant
	res    store.Reservation
	names  names
}

// loadArrival reads the booking that the path names; NotFound if there is none.
func (s *Server) loadArrival(r *http.Request) (arrival, error) {
	ctx, t := r.Context(), venue(r)
	res, err := s.store.ReservationByNumber(ctx, t.ID, chi.URLParam(r, "number"))
	if err != nil {
		return arrival{}, err
	}
	o, n, err := s.loadSlot(ctx, t.ID, res.SlotID)
	return arrival{oneSlot: o, tenant: t, res: res, names: n}, err
}

// today reports whether somebody who stands at the door can have come for it: it
// begins today, or it runs.
func (a arrival) today() bool {
	loc := a.tenant.Location()
	y, m, d := a.Now.In(loc).Date()
	return sameDate(a.StartsAt.In(loc), y, m, d) || (!a.Now.Before(a.StartsAt) && a.Now.Before(a.EndsAt))
}

// state is what is so with the booking, as the page's data-state.
func (a arrival) state() string {
	switch {
	case a.Status == store.SlotCancelled && a.res.State == store.Cancelled:
		return "slot_cancelled"
	case a.res.State == store.Cancelled:
		return "cancelled"
	case a.res.State == store.Held && a.res.ExpiresAt != nil && a.res.ExpiresAt.After(a.res.Now):
		return "held"
	case a.res.State != store.Confirmed:
		return "over"
	case a.res.Attendance == "arrived":
		return "arrived"
	case !a.today():
		return "other_day"
	default:
		return "ready"
	}
}

// getCheckinNumber is where the QR code of a booking leads. It changes nothing.
func (s *Server) getCheckinNumber(w http.ResponseWriter, r *http.Request) error {
	a, err := s.loadArrival(r)
	if errors.Is(err, store.NotFound) {
		s.noteRefusal(r, store.NotFound)
		return s.checkinPage(w, r, http.StatusNotFound, "", i18n.T(r.Context(), "find.checkin.unknown"))
	}
	if err != nil {
		return err
	}
	return s.arrivalPage(w, r, http.StatusOK, a)
}

// postCheckinNumber notes that the party has come. What has changed since the
// page was shown is said and nothing is noted.
func (s *Server) postCheckinNumber(w http.ResponseWriter, r *http.Request) error {
	if _, err := s.form(w, r); err != nil {
		return err
	}
	a, err := s.loadArrival(r)
	if err != nil {
		return err
	}
	self := views.StaffCheckinNumberURL(a.tenant.Slug, a.res.Number)
	switch a.state() {
	case "arrived": // pressed twice: the first press is the answer
		return s.see(w, r, self, "")
	case "ready":
	default:
		s.noteRefusal(r, store.Conflict)
		return s.arrivalPage(w, r, http.StatusConflict, a)
	}
	_, err = s.store.SetAttendance(r.Context(), store.AttendanceRequest{TenantID: a.res.TenantID, ID: a.res.ID, Attendance: "arrived", Actor: me(r).actor(r)})
	if errors.Is(err, store.NotFound) { // cancelled at this moment
		if a, err = s.loadArrival(r); err != nil {
			return err
		}
		s.noteRefusal(r, store.Conflict)
		return s.arrivalPage(w, r, http.StatusConflict, a)
	}
	if err != nil {
		return err
	}
	return s.see(w, r, self, flashCheckedIn)
}

func (s *Server) arrivalPage(w http.ResponseWriter, r *http.Request, status int, a arrival) error {
	ctx, t := r.Context(), a.tenant
	lang, c, loc := i18n.Lang(ctx), i18n.In(ctx), t.Location()
	state := a.state()
	v := views.StaffCheckedPage{
		State: state, Number: a.res.Number, Name: called(ctx, a.res.Name), Kana: a.res.Kana, Party: a.res.PartySize, When: views.WhenRange(lang, a.StartsAt, a.EndsAt, loc, false),
		Service: a.service.Name.In(lang), Resource: a.resource.Name.In(lang), Note: a.res.Note, Answers: answered(ctx, a.service.Questions, a.res.Answers),
		NextURL: views.StaffCheckinURL(t.Slug), SlotURL: views.StaffSlotURL(t.Slug, a.ID) + "#reservation-" + a.res.ID,
	}
	v.Phone, v.PhoneURL = phone(t, a.res.Phone)
	self := views.StaffCheckinNumberURL(t.Slug, a.res.Number)
	title := i18n.T(ctx, i18n.Key("find.checkin."+state+".title"))
	var err error
	if v.Page, v.Staff, err = s.staffPage(r, "checkin", title, self); err != nil {
		return err
	}
	if v.Page.Flash != nil && v.Page.Flash.Text == i18n.T(ctx, flashCheckedIn) {
		v.Page.Flash = nil // the heading says it
		if state == "arrived" {
			state = "done"
			v.State, title = state, i18n.T(ctx, "find.checkin.done.title", "name", called(ctx, a.res.Name))
		}
	}
	v.Title = title
	if a.res.State == store.Held && a.res.Name == "" {
		v.Name = i18n.T(ctx, "staff.filling_in")
	}
	switch state {
	case "ready":
		v.ActionURL, v.Text = self, i18n.T(ctx, "find.checkin.ready.text")
		if a.res.Attendance == "no_show" {
			v.Text = i18n.T(ctx, "find.checkin.ready.no_show")
		}
	case "other_day":
		v.Text = i18n.T(ctx, "find.checkin.other_day.text", "date", c.Date(a.StartsAt, loc))
	case "cancelled":
		v.Text = i18n.T(ctx, "find.checkin.cancelled.text", "time", momentAt(ctx, t, *a.res.EndedAt, a.Now))
	default:
		v.Text = i18n.T(ctx, i18n.Key("find.checkin."+state+".text"))
	}
	if status == http.StatusConflict {
		v.Text = i18n.T(ctx, "find.checkin.changed")
	}
	if state == "ready" || state == "done" || state == "arrived" {
		arrived, err := s.store.Arrived(ctx, t.ID, []string{a.ID})
		if err != nil {
			return err
		}
		v.Arrived = i18n.T(ctx, "find.checkin.slot_arrived", "arrived", arrived[a.ID], "booked", a.Confirmed)
	}
	if v.Others, err = s.othersOf(r, a); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffChecked(v))
}

// othersOf are this person's other bookings of today. At most two statements.
func (s *Server) othersOf(r *http.Request, a arrival) ([]views.StaffCheckinOther, error) {
	ctx, t := r.Context(), a.tenant
	loc := t.Location()
	y, m, d := a.Now.In(loc).Date()
	others, err := s.store.OthersOf(ctx, a.res, time.Date(y, m, d, 0, 0, 0, 0, loc), time.Date(y, m, d+1, 0, 0, 0, 0, loc))
	if err != nil || len(others) == 0 {
		return nil, err
	}
	var ids []string
	for _, res := range others {
		ids = append(ids, res.SlotID)
	}
	slots, err := s.store.SlotsByID(ctx, t.ID, slices.Compact(slices.Sorted(slices.Values(ids))))
	if err != nil {
		return nil, err
	}
	var out []views.StaffCheckinOther
	for _, res := range others {
		at := slices.IndexFunc(slots, func(slot store.Slot) bool { return slot.ID == res.SlotID })
		if at < 0 {
			continue
		}
		o := a.names.of(slots[at])
		out = append(out, views.StaffCheckinOther{
			URL: views.StaffCheckinNumberURL(t.Slug, res.Number), Time: i18n.In(ctx).TimeRange(o.StartsAt, o.EndsAt, loc), Service: o.service.Name.In(i18n.Lang(ctx)),
			Party: res.PartySize, Arrived: res.Attendance == "arrived",
		})
	}
	return out, nil
}
