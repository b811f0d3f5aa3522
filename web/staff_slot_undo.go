package web

import (
	"context"
	"net/http"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// How a cancelled booking comes back.
const (
	howSeat   = "seat"   // into free seats
	howBeyond = "beyond" // with seats that are added on purpose; needs a reason
	howWait   = "wait"   // at the end of the waitlist
)

// getRebook says what undoing a wrong cancel would do: if seats are free the
// same person is booked again, else who has the seats now, and what can be done.
func (s *Server) getRebook(w http.ResponseWriter, r *http.Request) error {
	res, err := s.reservationOf(r, "")
	if err != nil {
		return s.lostSight(w, r, err)
	}
	return s.rebookPage(w, r, http.StatusOK, res.ID, slotPress{}, views.StaffReasonForm{})
}

func (s *Server) rebookPage(w http.ResponseWriter, r *http.Request, status int, id string, press slotPress, reason views.StaffReasonForm) error {
	ctx := r.Context()
	c, err := s.loadCounter(r)
	if err != nil {
		return err
	}
	res, here := c.reservation(id)
	if !here {
		return s.lostSight(w, r, store.Conflict)
	}
	url := views.StaffReservationRebookURL(c.tenant.Slug, c.ID, res.ID)
	v := views.StaffStepPage{Kind: string(stepRebook), Title: i18n.T(ctx, "staff.step.rebook", "name", called(ctx, res.Name)), Who: c.bookedWho(ctx, res)}
	if res.EndedAt != nil {
		v.Who.Facts = append(v.Who.Facts, c.ended(ctx, res))
	}
	if res.State != store.Cancelled || res.Name == "" {
		v.Problem = s.refusal(r, store.Over)
		return s.stepPage(w, r, status, c, press, v)
	}
	req := store.RebookRequest{TenantID: res.TenantID, ID: res.ID, Actor: me(r).actor(r)}
	v.Then = i18n.T(ctx, "staff.step.then")
	v.Forms = []views.StaffStepForm{{ActionURL: url, Hidden: []views.Hidden{{Name: views.FieldHow, Value: howSeat}}, Text: i18n.T(ctx, "staff.rebook.press")}}
	follows := func(ctx context.Context, change store.Change) []views.StaffConsequence {
		return c.rebookFollows(ctx, res)
	}
	change, err := s.store.PreviewRebook(ctx, req)
	refused, err := s.foreseen(r, c, &v, change, err, follows)
	if err != nil {
		return err
	}
	if refused != store.SoldOut {
		if refused != "" {
			v.Then = ""
		}
		return s.stepPage(w, r, status, c, press, v)
	}
	// Somebody else has the seats: who, and what can be done about it.
	v.Problem, v.Then = "", ""
	v.MustMoveTitle, v.MustMove = i18n.T(ctx, "staff.rebook.taken", "n", res.PartySize), c.seatsSince(ctx, res)
	if c.Joinable() {
		v.Forms = append(v.Forms, views.StaffStepForm{
			ActionURL: url, Title: i18n.T(ctx, "staff.rebook.wait"), Hidden: []views.Hidden{{Name: views.FieldHow, Value: howWait}}, Text: i18n.T(ctx, "staff.rebook.wait_press"),
		})
	}
	// Seats are all that is missing, so adding them is always a way.
	v.Forms = append(v.Forms, views.StaffStepForm{
		ActionURL: url, Title: i18n.T(ctx, "staff.rebook.beyond"), Hidden: []views.Hidden{{Name: views.FieldHow, Value: howBeyond}},
		Fields: []views.Field{reasonField(ctx, "rebook", reason, true)}, Text: i18n.T(ctx, "staff.rebook.beyond_press"), Plain: len(v.Forms) > 0,
	})
	return s.stepPage(w, r, status, c, press, v)
}

// rebookFollows says what booking again does, and what it does not bring back.
func (c counter) rebookFollows(ctx context.Context, res store.Reservation) []views.StaffConsequence {
	out := []views.StaffConsequence{consequence(ctx, "open", "staff.rebook.again", "n", res.PartySize), consequence(ctx, "kept", "staff.rebook.new_number")}
	return append(out, written(ctx, res.Name, res.Email, "staff.rebook.mail"))
}

// seatsSince says who has the seats that a cancelled booking gave back.
func (c counter) seatsSince(ctx context.Context, res store.Reservation) []views.StaffMustMove {
	var out []views.StaffMustMove
	add := func(key i18n.Key, url string, args ...any) {
		out = append(out, views.StaffMustMove{Text: i18n.T(ctx, key, args...), URL: url})
	}
	for _, e := range c.entries {
		if e.State == store.Offered {
			add("staff.must_move.offered", "", "name", called(ctx, e.Name), "n", e.PartySize, "time", c.moment(ctx, *e.ShownUntil))
		}
	}
	for _, r := range c.roster {
		switch {
		case res.EndedAt == nil:
		case r.State == store.Confirmed && r.ConfirmedAt != nil && !r.ConfirmedAt.Before(*res.EndedAt):
			add("staff.rebook.booked_since", views.StaffSlotMoveStepURL(c.tenant.Slug, c.ID, r.ID), "name", called(ctx, r.Name), "n", r.PartySize, "time", c.moment(ctx, *r.ConfirmedAt))
		case r.State == store.Held && !r.CreatedAt.Before(*res.EndedAt):
			add("staff.must_move.held", "", "n", r.PartySize, "time", c.moment(ctx, *r.ShownUntil))
		}
	}
	switch bar := staffBar(c.Slot); {
	case bar.Kept:
		add("staff.rebook.kept", "", "n", bar.Free)
	case len(out) == 0:
		add("staff.rebook.too_few", "", "n", bar.Free)
	}
	return out
}

func (s *Server) postRebook(w http.ResponseWriter, r *http.Request) error {
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	res, err := s.reservationOf(r, "")
	if err != nil {
		return s.lostSight(w, r, err)
	}
	how, reason := f.text(views.FieldHow, 20), f.text(views.FieldReason, longestReason)
	if _, bad := f.errs[views.FieldHow]; bad {
		return errBadRequest
	}
	back := func(status int, press slotPress) error {
		return s.rebookPage(w, r, status, res.ID, press, views.StaffReasonForm{Reason: reason, Err: f.errs.in(r.Context())[views.FieldReason]})
	}
	switch how {
	case howSeat, "", howWait:
		delete(f.errs, views.FieldReason) // not asked
		reason = ""
	case howBeyond:
		if reason == "" {
			f.errs.fault(views.FieldReason, "staff.err.reason_beyond")
		}
	default:
		return errBadRequest
	}
	if f.bad() {
		return back(http.StatusUnprocessableEntity, slotPress{})
	}
	if how == howWait {
		return s.rejoin(w, r, f, res, back)
	}
	return s.press(w, r, staffPress{
		step: stepRebook, form: f, back: back, args: []any{"name", called(r.Context(), res.Name), "n", res.PartySize},
		do: func(version *int64) (staffDone, error) {
			booked, change, err := s.store.Rebook(r.Context(), store.RebookRequest{TenantID: res.TenantID, ID: res.ID, ExtraReason: reason, Actor: me(r).actor(r), Version: version})
			done := staffDone{IDs: []string{booked.ID}, N: booked.PartySize, Says: []i18n.Key{"staff.then.new_number"}}.with(change)
			done.Frees = false
			return done, err
		},
	})
}

// rejoin puts whoever was cancelled by mistake on the waitlist, with the contact of the booking.
func (s *Server) rejoin(w http.ResponseWriter, r *http.Request, f *form, res store.Reservation, back func(int, slotPress) error) error {
	if res.State != store.Cancelled || res.Name == "" {
		s.noteRefusal(r, store.Over)
		return back(answerFor(store.Over).status, slotPress{})
	}
	return s.press(w, r, staffPress{
		step: stepJoin, form: f, back: back, args: []any{"name", called(r.Context(), res.Name), "n", res.PartySize},
		do: func(version *int64) (staffDone, error) {
			joined, err := s.store.Join(r.Context(), store.JoinRequest{
				TenantID: res.TenantID, SlotID: res.SlotID, PartySize: res.PartySize, Key: "rebook " + res.ID, Source: store.SourceStaff, Actor: me(r).actor(r), Version: version,
				Contact: store.Contact{Name: res.Name, Kana: res.Kana, Email: res.Email, Phone: res.Phone, Note: res.Note, Locale: res.Locale, Answers: res.Answers},
			})
			return staffDone{IDs: []string{joined.ID}, N: joined.Place}, err
		},
	})
}
