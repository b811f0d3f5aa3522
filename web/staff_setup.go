package web

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// The first set-up asks what a shop has to decide before its first booking, in
// three steps: the kind of business, the questions with proposed values, and
// what saving would cause. It stores a venue's policies as the page of all
// policies does, and ends with the two sheets of rules.

// trade is a kind of business with what it usually wants. Its words are
// staff.setup.trade.NAME and staff.setup.trade.NAME.text.
type trade struct {
	name    string
	propose func(*store.Policies)
}

// trades are the kinds of business that values are proposed for. Each proposal
// starts from the product's defaults.
var trades = []trade{
	{"studio", func(*store.Policies) {}},
	{"clinic", func(p *store.Policies) {
		p.OfferShown, p.BroadcastBefore = long(time.Hour), long(24*time.Hour)
		p.BookingOpens, p.BookingCloses, p.PartyMax = long(90*24*time.Hour), long(time.Hour), 1
		p.Quiet, p.KanaRequired, p.PhoneRequired = &store.QuietHours{From: 20 * 60, Until: 9 * 60}, true, true
	}},
	{"fair", func(p *store.Policies) {
		p.OfferShown, p.BroadcastBefore, p.CancelBefore = long(3*time.Hour), long(24*time.Hour), long(48*time.Hour)
		p.BookingOpens, p.BookingCloses, p.PhoneRequired = long(90*24*time.Hour), long(18*time.Hour), true
		p.Quiet = &store.QuietHours{From: 21 * 60, Until: 9 * 60}
	}},
	{"briefing", func(p *store.Policies) {
		p.WaitlistMode, p.CancelBefore, p.PartyMax = store.Broadcast, 0, 2
		p.EraseBookings = long(90 * 24 * time.Hour)
	}},
	{"workshop", func(p *store.Policies) {
		p.OfferShown, p.BroadcastBefore, p.CancelBefore = long(2*time.Hour), long(12*time.Hour), long(72*time.Hour)
		p.BookingOpens = long(90 * 24 * time.Hour)
	}},
	{"counter", func(p *store.Policies) {
		p.OfferShown, p.BroadcastBefore, p.BookingOpens = long(15*time.Minute), long(2*time.Hour), long(30*24*time.Hour)
		p.BookingCloses, p.PartyMax, p.PhoneRequired = long(30*time.Minute), 6, true
		p.Quiet, p.EraseBookings = &store.QuietHours{From: 22 * 60, Until: 9 * 60}, long(180*24*time.Hour)
	}},
	{"else", func(*store.Policies) {}},
}

func long(d time.Duration) store.Duration { return store.Duration(d) }

// setupFields are the questions.
var setupFields = fieldsNamed("waitlistMode", "offerShown", "quiet", "broadcastBefore", "bookingOpens", "bookingCloses", "cancelBefore",
	"partyMax", "kanaRequired", "phoneRequired", "eraseWaitlist", "eraseReservations")

// proposal is the policies that a kind of business starts with; false for none that is known.
func proposal(name string) (store.Policies, bool) {
	p := store.DefaultPolicies()
	at := slices.IndexFunc(trades, func(t trade) bool { return t.name == name })
	if at < 0 {
		return p, false
	}
	trades[at].propose(&p)
	return p, true
}

// setupForm is the set-up as typed.
type setupForm struct {
	policyForm
	trade string
	call  store.CallRule
	note  string
}

func (s *Server) getSetup(w http.ResponseWriter, r *http.Request) error {
	b, err := s.ruleBook(r)
	if err != nil {
		return err
	}
	setup, err := s.store.SetupOf(r.Context(), b.t.ID)
	if err != nil {
		return err
	}
	name := r.URL.Query().Get(views.FieldTrade)
	p, known := proposal(name)
	if !known {
		return s.setupPage(w, r, http.StatusOK, b, setup, nil)
	}
	if setup.DoneAt != nil && setup.Trade == name {
		p = b.present // what was decided, not what was once proposed
	}
	return s.setupPage(w, r, http.StatusOK, b, setup, &setupForm{
		policyForm: showPolicies(setupFields, p, b.tenants, nil), trade: name, call: setup.CallRule, note: setup.CallNote,
	})
}

// setupPage shows the kinds of business (f is nil) or the questions.
func (s *Server) setupPage(w http.ResponseWriter, r *http.Request, status int, b ruleBook, setup store.Setup, f *setupForm) error {
	ctx, c := r.Context(), i18n.In(r.Context())
	self := views.StaffSetupURL(b.t.Slug)
	v := views.StaffSetupPage{
		Title: c.T("staff.setup.title"), Lead: c.T("staff.setup.lead"), Step: 1, BackURL: views.StaffSettingsURL(b.t.Slug),
		Steps: []string{c.T("staff.setup.step.trade"), c.T("staff.setup.step.questions"), c.T("staff.setup.step.check")},
	}
	if setup.DoneAt != nil {
		v.Lead = c.T("staff.setup.lead_again", "day", c.Date(*setup.DoneAt, b.t.Location()))
	}
	chosen := setup.Trade
	if f != nil {
		chosen = f.trade
	}
	for _, t := range trades {
		v.Trades = append(v.Trades, views.StaffTrade{
			Name: c.T(i18n.Key("staff.setup.trade." + t.name)), Text: c.T(i18n.Key("staff.setup.trade." + t.name + ".text")),
			URL: views.StaffSetupTradeURL(b.t.Slug, t.name), Current: t.name == chosen,
		})
	}
	if f != nil {
		ex, err := s.exampleOf(r, b.services, "")
		if err != nil {
			return err
		}
		v.Step, v.Example, v.BackURL = 2, ex.heading(), self
		v.Lead = c.T("staff.setup.lead_questions")
		if status == http.StatusOK && r.Method == http.MethodGet {
			self = views.StaffSetupTradeURL(b.t.Slug, f.trade)
		}
		form := f.view(ctx, ex)
		form.ActionURL = views.StaffSetupURL(b.t.Slug)
		form.Hidden = []views.Hidden{{Name: views.FieldVersion, Value: b.version()}, {Name: views.FieldTrade, Value: f.trade}}
		form.Call = f.callForm(c, form.Errs)
		for _, name := range []string{views.FieldCallRule, views.FieldCallNote} {
			if form.Errs[name] != "" {
				form.Faults = append(form.Faults, views.Field{Name: name})
			}
		}
		v.Form = &form
	}
	var err error
	if v.Page, v.Staff, err = s.staffPage(r, "settings", v.Title, self); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffSetup(v))
}

func (f setupForm) callForm(c *i18n.Catalog, errs views.Errors) *views.StaffCallForm {
	v := &views.StaffCallForm{
		Title: c.T("staff.setup.call.label"), Text: c.T("staff.setup.call.text"), Err: errs[views.FieldCallRule],
		Note: views.Field{
			Name: views.FieldCallNote, Label: c.T("staff.setup.note.label"), Hint: c.T("staff.setup.note.hint"), Type: "textarea", Value: f.note,
			Max: longestCallNote, Optional: true, Error: errs[views.FieldCallNote],
		},
	}
	for _, rule := range store.CallRules {
		v.Options = append(v.Options, views.StaffCallOption{
			Option: views.Option{Value: string(rule), Text: c.T(i18n.Key("staff.setup.call." + string(rule))), Selected: rule == f.call},
			Hint:   c.T(i18n.Key("staff.rules.call.is_" + string(rule))),
		})
	}
	return v
}

func (s *Server) postSetup(w http.ResponseWriter, r *http.Request) error {
	raw, b, err := formFor(s, w, r, s.ruleBook)
	if err != nil {
		return err
	}
	step, err := raw.choice(views.FieldStep, []string{views.StepExamples, views.StepCheck, views.StepSave})
	if err != nil {
		return err
	}
	var known, calls []string
	for _, t := range trades {
		known = append(known, t.name)
	}
	f := setupForm{}
	if f.trade, err = raw.choice(views.FieldTrade, known); err != nil {
		return err
	}
	setup, err := s.store.SetupOf(r.Context(), b.t.ID)
	if err != nil {
		return err
	}
	// What is not asked stays as it is.
	if f.policyForm, err = decodePolicies(raw, setupFields, b.present, b.tenants, false); err != nil {
		return err
	}
	for _, rule := range store.CallRules {
		calls = append(calls, string(rule))
	}
	if len(raw.values[views.FieldCallRule]) == 0 {
		raw.errs.fault(views.FieldCallRule, "staff.setup.call.missing")
	} else {
		call, err := raw.choice(views.FieldCallRule, calls)
		if err != nil {
			return err
		}
		f.call = store.CallRule(call)
	}
	f.note = raw.lines(views.FieldCallNote, longestCallNote)
	version := raw.text(views.FieldVersion, 40)
	s.againstServices(r, b, &f.policyForm)
	switch {
	case step == views.StepExamples && !onlyMissing(f.errs, views.FieldCallRule) || step != views.StepExamples && f.errs.bad():
		return s.setupPage(w, r, http.StatusUnprocessableEntity, b, setup, &f)
	case step == views.StepExamples:
		delete(f.errs, views.FieldCallRule) // not asked yet
		return s.setupPage(w, r, http.StatusOK, b, setup, &f)
	case version != b.version():
		s.noteRefusal(r, store.Conflict)
		return s.setupCheck(w, r, http.StatusConflict, b, f)
	case step == views.StepCheck:
		return s.setupCheck(w, r, http.StatusOK, b, f)
	}
	return s.saveSetup(w, r, b, f)
}

// onlyMissing reports whether nothing is wrong but one field.
func onlyMissing(e formErrors, field string) bool {
	_, there := e[field]
	return len(e) == 0 || there && len(e) == 1
}

// setupCheck says what saving would cause, before it is pressed.
func (s *Server) setupCheck(w http.ResponseWriter, r *http.Request, status int, b ruleBook, f setupForm) error {
	c := i18n.In(r.Context())
	v, err := s.check(r, b, f.policyForm)
	if err != nil {
		return err
	}
	self := views.StaffSetupURL(b.t.Slug)
	v.Stale = status == http.StatusConflict
	v.Title, v.Save = c.T("staff.setup.check.title"), c.T("staff.setup.save")
	v.ActionURL, v.BackURL, v.BackText = self, views.StaffSetupTradeURL(b.t.Slug, f.trade), c.T("staff.setup.title")
	v.Changes = append(v.Changes, views.StaffPolicyChange{Label: c.T("staff.setup.call.label"), To: c.T(i18n.Key("staff.setup.call." + string(f.call)))})
	v.Fields = append(v.Fields, views.Hidden{Name: views.FieldVersion, Value: b.version()}, views.Hidden{Name: views.FieldTrade, Value: f.trade},
		views.Hidden{Name: views.FieldCallRule, Value: string(f.call)}, views.Hidden{Name: views.FieldCallNote, Value: f.note})
	v.Fields = append(v.Fields, f.hidden()...)
	if v.Page, v.Staff, err = s.staffPage(r, "settings", v.Title, self); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffPolicyCheck(v))
}

func (s *Server) saveSetup(w http.ResponseWriter, r *http.Request, b ruleBook, f setupForm) error {
	change, err := b.change(r, f.policyForm)
	if err != nil {
		return err
	}
	change.Setup = &store.Setup{Trade: f.trade, CallRule: f.call, CallNote: f.note}
	result, err := s.store.SetPolicies(r.Context(), change)
	switch {
	case errors.Is(err, store.Conflict):
		now := b
		if now.t, err = s.store.TenantByID(r.Context(), b.t.ID); err != nil {
			return err
		}
		if now.tenants, err = now.t.Policies(); err != nil {
			return err
		}
		now.present = now.tenants
		s.noteRefusal(r, store.Conflict)
		return s.setupCheck(w, r, http.StatusConflict, now, f)
	case errors.Is(err, store.Busy):
	case err != nil:
		return err
	}
	done := rulesOf(result)
	done.Setup = true
	return s.seeRules(w, r, views.StaffRulesURL(b.t.Slug, ""), done)
}

// startHere is what a venue needs before its first booking, on top of the
// settings until all of it is there: the rules, a service, a resource, slots to
// come. Four statements.
func (s *Server) startHere(r *http.Request) ([]views.StaffHubGroup, error) {
	ctx, t := r.Context(), venue(r)
	if !me(r).can(setUp) {
		return nil, nil
	}
	setup, err := s.store.SetupOf(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	services, err := s.store.Services(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	resources, err := s.store.Resources(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	ahead, err := s.store.SlotsAhead(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	offers := slices.ContainsFunc(services, func(v store.Service) bool { return v.Active })
	places := slices.ContainsFunc(resources, func(v store.Resource) bool { return v.Active })
	g := views.StaffHubGroup{Title: i18n.T(ctx, "settings.group.start"), Steps: true}
	next := true
	for _, step := range []struct {
		key, url string
		done     bool
	}{
		{"setup", views.StaffSetupURL(t.Slug), setup.DoneAt != nil},
		{"service", views.StaffNewServiceURL(t.Slug), offers},
		{"resource", views.StaffNewResourceURL(t.Slug), places},
		{"slots", views.StaffSchedulesURL(t.Slug), ahead > 0},
	} {
		g.Links = append(g.Links, views.StaffHubLink{
			Title: i18n.T(ctx, i18n.Key("settings.start."+step.key)), URL: step.url, Done: step.done, Next: next && !step.done,
		})
		next = next && step.done
	}
	if next {
		return nil, nil
	}
	return []views.StaffHubGroup{g}, nil
}
