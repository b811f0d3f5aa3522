package web

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// termsForm is a new time, service and resource as typed.
type termsForm struct {
	date, start, end, service, resource, reason string
	looked                                      bool // it came from the form, not from the slot as it is
	errs                                        formErrors
}

func decodeTerms(f *form) termsForm {
	return termsForm{
		date: f.text(views.FieldDate, 20), start: f.text(views.FieldStart, 10), end: f.text(views.FieldEnd, 10), service: f.text(views.FieldService, 40),
		resource: f.text(views.FieldResource, 40), reason: f.text(views.FieldReason, longestReason), looked: true, errs: f.errs,
	}
}

// termsAsItIs is the form as the slot stands.
func (c counter) termsAsItIs() termsForm {
	loc := c.tenant.Location()
	start, end := c.StartsAt.In(loc), c.EndsAt.In(loc)
	form := termsForm{date: start.Format(time.DateOnly), start: start.Format("15:04"), end: end.Format("15:04"), service: c.ServiceID, resource: c.ResourceID, errs: formErrors{}}
	if form.end == "00:00" {
		form.end = "24:00" // the day that it belongs to
	}
	return form
}

var timeOfDay = regexp.MustCompile(`^(\d{1,2}):(\d{2})$`)

// minutes reads a time of day, 0:00 to 24:00; false for anything else.
func minutes(text string) (int, bool) {
	found := timeOfDay.FindStringSubmatch(store.NormalizeText(text))
	if found == nil {
		return 0, false
	}
	// Two digits each: neither can fail.
	h, errHour := strconv.Atoi(found[1])
	m, errMinute := strconv.Atoi(found[2])
	n := h*60 + m
	return n, errHour == nil && errMinute == nil && m < 60 && n <= 24*60
}

// instantOf is the instant of a time of day at the venue. Where the clocks go
// forward some times do not exist: none is given. Where they go back some come
// twice: the first of the two is meant, unless it is the one that stands now.
func instantOf(day time.Time, minute int, now time.Time) (time.Time, bool) {
	loc := day.Location()
	y, m, d := day.Date()
	wall := time.Date(y, m, d, 0, minute, 0, 0, time.UTC)
	var found []time.Time
	for _, near := range []time.Time{wall.Add(-26 * time.Hour), wall.Add(26 * time.Hour)} {
		_, offset := near.In(loc).Zone()
		at := wall.Add(-time.Duration(offset) * time.Second)
		if back := at.In(loc); back.Format(time.DateTime) == wall.Format(time.DateTime) && !slices.Contains(found, at) {
			found = append(found, at)
		}
	}
	if len(found) == 0 {
		return time.Time{}, false
	}
	for _, at := range found {
		if at.Equal(now) {
			return at, true
		}
	}
	return slices.MinFunc(found, time.Time.Compare), true
}

// request reads what was typed. What can't be stands beside its field.
func (form termsForm) request(c counter) store.TermsRequest {
	req := store.TermsRequest{TenantID: c.tenant.ID, SlotID: c.ID, ServiceID: form.service, ResourceID: form.resource, Reason: form.reason}
	loc := c.tenant.Location()
	day, err := time.ParseInLocation(time.DateOnly, store.NormalizeText(form.date), loc)
	if err != nil || day.Year() < 2000 || day.Year() > 2200 {
		form.errs.fault(views.FieldDate, "staff.err.date")
	}
	start, ok := minutes(form.start)
	if !ok || start == 24*60 {
		form.errs.fault(views.FieldStart, "staff.err.time")
	}
	end, ok := minutes(form.end)
	switch {
	case !ok:
		form.errs.fault(views.FieldEnd, "staff.err.time_end")
	case end == start:
		form.errs.fault(views.FieldEnd, "staff.err.time_same")
	}
	if !slices.ContainsFunc(c.names.services, func(sv store.Service) bool { return sv.ID == form.service }) {
		form.errs.fault(views.FieldService, "staff.err.choose")
	}
	if !slices.ContainsFunc(c.names.resources, func(rs store.Resource) bool { return rs.ID == form.resource }) {
		form.errs.fault(views.FieldResource, "staff.err.choose")
	}
	if len(form.errs) > 0 {
		return req
	}
	if end < start {
		end += 24 * 60 // it ends on the next day
	}
	if req.StartsAt, ok = instantOf(day, start, c.StartsAt); !ok {
		form.errs.fault(views.FieldStart, "staff.err.time_gap", "time", form.start)
	}
	if req.EndsAt, ok = instantOf(day, end, c.EndsAt); !ok {
		form.errs.fault(views.FieldEnd, "staff.err.time_gap", "time", form.end)
	}
	switch {
	case len(form.errs) > 0:
	case !req.EndsAt.After(req.StartsAt): // the clocks go back in between
		form.errs.fault(views.FieldEnd, "staff.err.time_same")
	case !req.StartsAt.Equal(c.StartsAt) && !req.StartsAt.After(c.Now):
		form.errs.fault(views.FieldStart, "staff.err.time_past")
	}
	return req
}

// sameTerms reports whether a request changes nothing.
func (c counter) sameTerms(req store.TermsRequest) bool {
	return req.StartsAt.Equal(c.StartsAt) && req.EndsAt.Equal(c.EndsAt) && req.ServiceID == c.ServiceID && req.ResourceID == c.ResourceID
}

// getTerms is the form of time, service and resource, and says what would follow from what was typed.
func (s *Server) getTerms(w http.ResponseWriter, r *http.Request) error {
	if _, typed := asked(r, views.FieldDate); !typed {
		return s.termsPage(w, r, http.StatusOK, slotPress{}, nil)
	}
	f, _ := asked(r, views.FieldDate)
	form := decodeTerms(f)
	return s.termsPage(w, r, http.StatusOK, slotPress{}, &form)
}

func (s *Server) termsPage(w http.ResponseWriter, r *http.Request, status int, press slotPress, form *termsForm) error {
	ctx := r.Context()
	c, err := s.loadCounter(r)
	if err != nil {
		return err
	}
	if c.Status == store.SlotCancelled && status == http.StatusOK {
		return s.see(w, r, c.url(), "")
	}
	if form == nil {
		now := c.termsAsItIs()
		form = &now
	}
	self := views.StaffSlotTermsURL(c.tenant.Slug, c.ID)
	v := views.StaffTermsPage{
		Slot: c.head(ctx), ActionURL: self, Date: form.date, Start: form.start, End: form.end, Reason: form.reason, Problem: press.problem, Changed: press.changed,
		Zone: i18n.In(ctx).ZoneLong(c.StartsAt, c.tenant.Location()),
	}
	lang := i18n.Lang(ctx)
	for _, sv := range c.names.services {
		v.Services = append(v.Services, views.Option{Value: sv.ID, Text: sv.Name.In(lang), Selected: sv.ID == form.service})
	}
	for _, rs := range c.names.resources {
		v.Resources = append(v.Resources, views.Option{Value: rs.ID, Text: rs.Name.In(lang), Selected: rs.ID == form.resource})
	}
	if form.looked {
		if err := s.foreseeTerms(r, c, *form, &v, press); err != nil {
			return err
		}
		v.Posted = r.Method == http.MethodPost && !v.Ready && press.changed == nil
		if v.Errs = form.errs.in(ctx); len(v.Errs) > 0 && status == http.StatusOK {
			status = http.StatusUnprocessableEntity
		}
	}
	if status == http.StatusOK && r.Method == http.MethodGet {
		self = r.URL.RequestURI()
	}
	if v.Page, v.Staff, err = s.staffPage(r, "", i18n.T(ctx, "staff.terms.title"), self); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffTerms(v))
}

// foreseeTerms says what the typed terms would change, and for whom.
func (s *Server) foreseeTerms(r *http.Request, c counter, form termsForm, v *views.StaffTermsPage, press slotPress) error {
	ctx := r.Context()
	req := form.request(c)
	if len(form.errs) > 0 {
		return nil
	}
	if c.sameTerms(req) {
		if press.changed == nil {
			v.Summary = []string{i18n.T(ctx, "staff.terms.same")}
		}
		return nil
	}
	req.Actor = me(r).actor(r)
	change, err := s.store.PreviewTerms(ctx, req)
	var o store.Outcome
	switch {
	case err == nil:
	case errors.As(err, &o) && o == store.Overlaps:
		form.errs.fault(views.FieldStart, "staff.refused.overlaps")
		v.Problem = ""
		return nil
	case errors.As(err, &o) && o != store.Busy:
		v.Problem = s.refusal(r, o)
		return nil
	default:
		return err
	}
	v.Ready = press.changed == nil // the page that asks again has its own button
	v.Summary, v.Consequence = c.termsSummary(ctx, req), c.termsFollow(ctx, req, change)
	return nil
}

func (c counter) termsSummary(ctx context.Context, req store.TermsRequest) []string {
	lang, cat, loc := i18n.Lang(ctx), i18n.In(ctx), c.tenant.Location()
	var out []string
	if !req.StartsAt.Equal(c.StartsAt) || !req.EndsAt.Equal(c.EndsAt) {
		out = append(out, i18n.T(ctx, "staff.terms.time", "from", cat.DateTimeRange(c.StartsAt, c.EndsAt, loc), "to", cat.DateTimeRange(req.StartsAt, req.EndsAt, loc)))
	}
	then := c.names.of(store.Slot{ServiceID: req.ServiceID, ResourceID: req.ResourceID})
	if req.ServiceID != c.ServiceID {
		out = append(out, i18n.T(ctx, "staff.terms.what", "from", c.service.Name.In(lang), "to", then.service.Name.In(lang)))
	}
	if req.ResourceID != c.ResourceID {
		out = append(out, i18n.T(ctx, "staff.terms.where", "from", c.resource.Name.In(lang), "to", then.resource.Name.In(lang)))
	}
	return out
}

// termsFollow says who is told, who has to agree anew, and whom somebody has to call.
func (c counter) termsFollow(ctx context.Context, req store.TermsRequest, change store.Change) []views.StaffConsequence {
	var booked, offered []store.Reservation
	holds := 0
	for _, r := range c.roster {
		switch r.State {
		case store.Confirmed:
			booked = append(booked, r)
		case store.Held:
			holds++
		}
	}
	for _, e := range c.entries {
		if e.State == store.Offered {
			offered = append(offered, store.Reservation{Name: e.Name, Email: e.Email, Locale: e.Locale})
		}
	}
	out := c.mailsByLanguage(ctx, append(slices.Clone(booked), offered...))
	if holds > 0 {
		out = append(out, consequence(ctx, "warn", "staff.terms.holds", "n", holds))
	}
	if len(offered) > 0 {
		out = append(out, consequence(ctx, "offer", "staff.terms.offers", "n", len(offered)))
	}
	if req.ServiceID != c.ServiceID {
		out = append(out, consequence(ctx, "warn", "staff.terms.policies"))
	}
	out = append(out, c.offersFollow(ctx, change)...)
	if len(out) == 0 {
		out = append(out, consequence(ctx, "kept", "staff.terms.nobody"))
	}
	return out
}

// mailsByLanguage says how many would be written to, by language, and names
// whoever has no address: somebody has to call them.
func (c counter) mailsByLanguage(ctx context.Context, people []store.Reservation) []views.StaffConsequence {
	var out []views.StaffConsequence
	count := map[string]int{}
	for _, p := range people {
		if p.Email != "" {
			count[p.Locale]++
		}
	}
	for _, lang := range i18n.Languages {
		if n := count[lang]; n > 0 {
			out = append(out, consequence(ctx, "mail", i18n.Key("staff.would.mails."+lang), "n", n))
		}
		delete(count, lang)
	}
	for _, n := range count {
		out = append(out, consequence(ctx, "mail", "staff.would.mail", "n", n))
	}
	for _, p := range people {
		if p.Email == "" && p.Name != "" {
			out = append(out, consequence(ctx, "call", "staff.call_them", "name", p.Name))
		}
	}
	return out
}

func (s *Server) postTerms(w http.ResponseWriter, r *http.Request) error {
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	form := decodeTerms(f)
	c, err := s.loadCounter(r)
	if err != nil {
		return err
	}
	req := form.request(c)
	back := func(status int, press slotPress) error {
		if press.refused == store.Overlaps {
			press.problem = "" // it stands beside the field
			form.errs.fault(views.FieldStart, "staff.refused.overlaps")
		}
		return s.termsPage(w, r, status, press, &form)
	}
	look := f.text(views.FieldLook, 1) == "1"
	delete(f.errs, views.FieldLook)
	if f.bad() {
		return back(http.StatusUnprocessableEntity, slotPress{})
	}
	if look {
		return back(http.StatusOK, slotPress{})
	}
	if c.sameTerms(req) {
		return s.doneSee(w, r, stepTerms, staffDone{Already: true})
	}
	return s.press(w, r, staffPress{
		step: stepTerms, form: f, back: back,
		do: func(version *int64) (staffDone, error) {
			req.Actor, req.Version = me(r).actor(r), version
			change, err := s.store.ChangeTerms(r.Context(), req)
			done := staffDone{}.with(change)
			done.Frees = false
			for _, res := range c.roster {
				if res.State == store.Confirmed {
					done.IDs = append(done.IDs, res.ID)
				}
			}
			for _, e := range c.entries {
				if e.State == store.Offered {
					done.IDs = append(done.IDs, e.ID)
				}
			}
			return done, err
		},
		already: func(now counter) bool { return now.sameTerms(req) },
	})
}
