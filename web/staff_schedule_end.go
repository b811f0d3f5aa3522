package web

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

func (s *Server) postScheduleRun(w http.ResponseWriter, r *http.Request) error {
	if _, err := s.form(w, r); err != nil {
		return err
	}
	c, err := s.scheduleParam(r)
	if err != nil {
		return err
	}
	_, err = s.store.RunSchedule(r.Context(), venue(r).ID, c.ID)
	var o store.Outcome
	if errors.As(err, &o) && (o == store.Closed || o == store.Conflict) {
		s.noteRefusal(r, o) // the page says how it stands
		err = nil
	}
	if err != nil {
		return err
	}
	return s.see(w, r, views.StaffScheduleURL(venue(r).Slug, c.ID, nil), "")
}

func (s *Server) postScheduleContinue(w http.ResponseWriter, r *http.Request) error {
	if _, err := s.form(w, r); err != nil {
		return err
	}
	c, err := s.scheduleParam(r)
	if err != nil {
		return err
	}
	if _, err := s.store.ContinueSchedule(r.Context(), venue(r).ID, c.ID, me(r).actor(r)); err != nil {
		return err
	}
	return s.see(w, r, views.StaffScheduleURL(venue(r).Slug, c.ID, nil), "")
}

// The ways to end a schedule; stop only makes no new slots.
const endStop = "stop"

var endChoices = []string{endStop, string(store.ChoiceKeep), string(store.ChoiceCancel)}

func (s *Server) getScheduleDelete(w http.ResponseWriter, r *http.Request) error {
	c, err := s.scheduleParam(r)
	if err != nil {
		return err
	}
	return s.scheduleDeletePage(w, r, http.StatusOK, c, changePress{})
}

func (s *Server) scheduleDeletePage(w http.ResponseWriter, r *http.Request, status int, c store.ListedSchedule, press changePress) error {
	ctx, t := r.Context(), venue(r)
	if c.Pending != nil || c.State == store.ScheduleEnded {
		return s.see(w, r, views.StaffScheduleURL(t.Slug, c.ID, nil), "")
	}
	n, err := s.loadNames(ctx, t.ID)
	if err != nil {
		return err
	}
	plan, err := s.store.PreviewEndSchedule(ctx, t.ID, c.ID)
	if err != nil {
		return err
	}
	v := views.StaffSchedulePreviewPage{
		Tabs: s.scheduleTabs(ctx, t, ""), Title: i18n.T(ctx, "schedule.delete.title"), Item: scheduleItem(ctx, t, n, c), Problem: press.problem,
		BackURL: views.StaffScheduleURL(t.Slug, c.ID, nil), ActionURL: views.StaffScheduleDeleteURL(t.Slug, c.ID), Danger: true,
		Press: i18n.T(ctx, "schedule.press.delete"),
	}
	empty, full := plan.Count(store.EffectRemove, false), plan.Count(store.EffectRemove, true)
	v.Effects = []views.StaffConsequence{{Kind: "warn", Text: i18n.T(ctx, "schedule.effect.coming", "n", empty+full)}}
	if full > 0 {
		v.Effects = append(v.Effects, views.StaffConsequence{Kind: "mail", Text: i18n.T(ctx, "schedule.effect.full", "n", full)})
	}
	if err := s.peopleOf(ctx, t, plan, &v); err != nil {
		return err
	}
	for i := range v.Slots {
		v.Slots[i].What = ""
	}
	for _, choice := range endChoices {
		v.Choices = append(v.Choices, views.Option{Value: choice, Text: i18n.T(ctx, i18n.Key("schedule.end."+choice)), Selected: press.choice == choice})
	}
	faults := press.errs.in(ctx)
	v.ChoiceErr, v.Reason = faults[views.FieldScheduleChoice], views.StaffReasonForm{Reason: press.reason, Err: faults[views.FieldReason]}
	v.Hidden = hiddenOf(url.Values{views.FieldSchedulePlan: {plan.Plan.Print}, views.FieldVersion: {strconv.Itoa(c.Version)}})
	if v.Page, v.Staff, err = s.staffPage(r, "settings", v.Title, v.BackURL); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffSchedulePreview(v))
}

func (s *Server) postScheduleDelete(w http.ResponseWriter, r *http.Request) error {
	body, c, err := formFor(s, w, r, s.scheduleParam)
	if err != nil {
		return err
	}
	press := changePress{choice: body.text(views.FieldScheduleChoice, 20), reason: body.text(views.FieldReason, longestReason), errs: body.errs}
	print, version := body.text(views.FieldSchedulePlan, 80), body.version()
	if !slices.Contains(endChoices, press.choice) {
		body.errs.fault(views.FieldScheduleChoice, "schedule.err.choice")
	}
	if len(body.errs) > 0 {
		body.errs.hidden(views.FieldSchedulePlan, views.FieldVersion)
		if fault, bad := body.errs[""]; bad {
			press.problem = fault.In(r.Context())
		}
		return s.scheduleDeletePage(w, r, http.StatusUnprocessableEntity, c, press)
	}
	req := store.EndRequest{
		TenantID: venue(r).ID, ID: c.ID, Version: -1, Stop: press.choice == endStop, Choice: store.ChangeChoice(press.choice), Reason: press.reason,
		Print: print, Actor: me(r).actor(r),
	}
	if version != nil && *version >= 0 {
		req.Version = int(*version)
	}
	_, err = s.store.EndSchedule(r.Context(), req)
	if problem, status := s.planRefusal(r, err); problem != "" {
		if c, err = s.scheduleParam(r); err != nil {
			return err
		}
		press.problem = problem
		return s.scheduleDeletePage(w, r, status, c, press)
	}
	if err != nil {
		return err
	}
	return s.see(w, r, views.StaffScheduleURL(venue(r).Slug, c.ID, nil), "")
}
