package web

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

func (s *Server) getScheduleChange(w http.ResponseWriter, r *http.Request) error {
	c, err := s.scheduleParam(r)
	if err != nil {
		return err
	}
	return s.scheduleChangePage(w, r, http.StatusOK, c, decodeSchedule(queryForm(r)), changePress{})
}

// changePress is what came with the press on a preview.
type changePress struct {
	problem, choice, reason, key string
	errs                         formErrors
}

func (f scheduleForm) change(t store.Tenant, n names, c store.ListedSchedule) store.ScheduleChange {
	f.service = c.ServiceID
	req := store.ScheduleChange{Schedule: f.check(t, n), From: f.errs.day(views.FieldScheduleFrom, f.from, "schedule.err.day")}
	req.ID, req.Version = c.ID, c.Version
	return req
}

func (s *Server) scheduleChangePage(w http.ResponseWriter, r *http.Request, status int, c store.ListedSchedule, f scheduleForm, press changePress) error {
	ctx, t := r.Context(), venue(r)
	n, err := s.loadNames(ctx, t.ID)
	if err != nil {
		return err
	}
	if c.Pending != nil || c.State == store.ScheduleEnded {
		return s.see(w, r, views.StaffScheduleURL(t.Slug, c.ID, nil), "")
	}
	req := f.change(t, n, c)
	var plan store.ChangePlan
	if len(f.errs) == 0 {
		if plan, err = s.store.PreviewScheduleChange(ctx, req); err != nil && !tooMany(err, f.errs) {
			return err
		}
	}
	if len(f.errs) > 0 {
		return s.schedulePage(w, r, http.StatusUnprocessableEntity, c, f)
	}
	typed := f.values()
	typed.Del(views.FieldScheduleService)
	v := views.StaffSchedulePreviewPage{
		Tabs: s.scheduleTabs(ctx, t, ""), Title: i18n.T(ctx, "schedule.change.title", "day", dateOf(ctx, req.From, false)),
		Item: scheduleItem(ctx, t, n, store.ListedSchedule{Schedule: req.Schedule}), Problem: press.problem, BackURL: views.StaffScheduleURL(t.Slug, c.ID, typed),
	}
	v.Item.Service = scheduleItem(ctx, t, n, c).Service
	if plan.Split {
		v.Split = i18n.T(ctx, "schedule.change.split", "day", dateOf(ctx, req.From, false))
	}
	if v.Plan, err = planView(ctx, t, n, req.Schedule, plan.Plan); err != nil {
		return err
	}
	v.Effects = effects(ctx, plan)
	if err := s.peopleOf(ctx, t, plan, &v); err != nil {
		return err
	}
	if plan.Touched() > 0 || len(press.errs) > 0 {
		for _, choice := range store.ChangeChoices {
			v.Choices = append(v.Choices, views.Option{Value: string(choice), Text: i18n.T(ctx, i18n.Key("schedule.choice."+string(choice))), Selected: press.choice == string(choice)})
		}
	}
	faults := press.errs.in(ctx)
	v.ChoiceErr, v.Reason = faults[views.FieldScheduleChoice], views.StaffReasonForm{Reason: press.reason, Err: faults[views.FieldReason]}
	fill(ctx, &v, plan.Plan, true, true)
	v.ActionURL = views.StaffScheduleChangeURL(t.Slug, c.ID)
	if press.key == "" {
		press.key = newKey()
	}
	typed.Set(views.FieldIdempotencyKey, press.key)
	typed.Set(views.FieldSchedulePlan, plan.Plan.Print)
	typed.Set(views.FieldVersion, strconv.Itoa(c.Version))
	if v.Others != "" {
		typed.Set(views.FieldScheduleOthers, "1")
	}
	v.Hidden = hiddenOf(typed)
	if v.Page, v.Staff, err = s.staffPage(r, "settings", v.Title, v.BackURL); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffSchedulePreview(v))
}

// effects say what a change does to the slots that are there.
func effects(ctx context.Context, plan store.ChangePlan) []views.StaffConsequence {
	var out []views.StaffConsequence
	add := func(kind string, key i18n.Key, n int) {
		if n > 0 {
			out = append(out, views.StaffConsequence{Kind: kind, Text: i18n.T(ctx, key, "n", n)})
		}
	}
	add("offer", "schedule.effect.move", plan.Count(store.EffectMove, false))
	add("offer", "schedule.effect.resize", plan.Count(store.EffectResize, false)+plan.Count(store.EffectResize, true))
	add("warn", "schedule.effect.remove", plan.Count(store.EffectRemove, false))
	add("mail", "schedule.effect.people", plan.Touched())
	return out
}

// peopleOf lists the slots with people whose time changes or ends, with the first names of each.
func (s *Server) peopleOf(ctx context.Context, t store.Tenant, plan store.ChangePlan, v *views.StaffSchedulePreviewPage) error {
	cat, loc := i18n.In(ctx), t.Location()
	var ids []string
	for _, slot := range plan.Slots {
		if slot.People() && slot.Effect != store.EffectResize && len(ids) < busyShown {
			ids = append(ids, slot.ID)
		}
	}
	who, err := s.store.WhoIsIn(ctx, t.ID, ids, namesShown)
	if err != nil {
		return err
	}
	for _, slot := range plan.Slots {
		if !slices.Contains(ids, slot.ID) {
			continue
		}
		line := views.StaffScheduleSlot{
			URL: views.StaffSlotURL(t.Slug, slot.ID), When: cat.DateTimeRangeShort(slot.StartsAt, slot.EndsAt, loc), Who: whoText(ctx, who[slot.ID]),
			What: i18n.T(ctx, "schedule.to.none"),
		}
		if slot.Effect == store.EffectMove {
			line.What = i18n.T(ctx, "schedule.to", "time", cat.DateTimeRangeShort(slot.To.StartsAt, slot.ToEnds, loc))
		}
		v.Slots = append(v.Slots, line)
	}
	if more := plan.Touched() - len(v.Slots); more > 0 {
		v.MoreSlots = i18n.T(ctx, "schedule.more", "n", more)
	}
	return nil
}

// whoText names the first parties of a slot and says how many more there are.
func whoText(ctx context.Context, who []store.InSlot) string {
	if len(who) == 0 {
		return ""
	}
	var out []string
	for _, w := range who {
		key := i18n.Key("schedule.who")
		if w.Waiting {
			key = "schedule.who.waiting"
		}
		out = append(out, i18n.T(ctx, key, "name", called(ctx, w.Name), "n", w.PartySize))
	}
	text := strings.Join(out, i18n.T(ctx, "schedule.list"))
	if more := who[0].Total - len(who); more > 0 {
		text += " " + i18n.T(ctx, "schedule.who.more", "n", more)
	}
	return text
}

func (s *Server) postScheduleChange(w http.ResponseWriter, r *http.Request) error {
	body, c, err := formFor(s, w, r, s.scheduleParam)
	if err != nil {
		return err
	}
	ctx, t := r.Context(), venue(r)
	n, err := s.loadNames(ctx, t.ID)
	if err != nil {
		return err
	}
	f := decodeSchedule(body)
	// What is typed into the preview itself stands beside its own field there;
	// what it gave along and is none of its own is another preview than this one.
	typed, along := form{values: body.values, errs: formErrors{}}, form{values: body.values, errs: formErrors{}}
	press := changePress{choice: typed.text(views.FieldScheduleChoice, 20), reason: typed.text(views.FieldReason, longestReason), errs: typed.errs}
	press.key = strings.ToLower(along.text(views.FieldIdempotencyKey, longestKey))
	print, others, version := along.text(views.FieldSchedulePlan, 80), along.text(views.FieldScheduleOthers, 1) == "1", along.version()
	req := f.change(t, n, c)
	if len(f.errs) > 0 {
		return errBadRequest // the preview gave the rule along as it was read; only a broken page sends another
	}
	req.Choice, req.Reason, req.Print, req.Others, req.NewID, req.Actor = store.ChangeChoice(press.choice), press.reason, print, others, press.key, me(r).actor(r)
	plan, err := s.store.PreviewScheduleChange(ctx, req)
	if tooMany(err, f.errs) {
		return errBadRequest
	}
	if err != nil {
		return err
	}
	switch {
	case slices.Contains(store.ChangeChoices, req.Choice):
	case plan.Touched() > 0 || req.Choice != "":
		press.errs.fault(views.FieldScheduleChoice, "schedule.err.choice")
	default:
		req.Choice = store.ChoiceKeep // nobody is concerned; who comes meanwhile stays
	}
	if len(press.errs) > 0 {
		return s.scheduleChangePage(w, r, http.StatusUnprocessableEntity, c, f, press)
	}
	req.Version = -1 // none that a schedule has
	switch {
	case !store.ValidID(req.NewID):
		press.key = ""
	case version != nil && len(along.errs) == 0:
		req.Version = int(*version)
	}
	changed, err := s.store.ChangeSchedule(ctx, req)
	if problem, status := s.planRefusal(r, err); problem != "" {
		// The same press once more finds the schedule that it made.
		if again, err := s.store.Schedule(ctx, t.ID, press.key); store.ValidID(press.key) && err == nil {
			return s.see(w, r, views.StaffScheduleURL(t.Slug, again.ID, nil), "")
		}
		if c, err = s.scheduleParam(r); err != nil {
			return err
		}
		press.problem, press.key = problem, ""
		return s.scheduleChangePage(w, r, status, c, f, press)
	}
	if err != nil {
		return err
	}
	return s.see(w, r, views.StaffScheduleURL(t.Slug, changed.ID, nil), "")
}
