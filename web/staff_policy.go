package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/go-chi/chi/v5"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// The policies of a venue and of its services.
//
// One form, three presses: new examples, what saving would cause, and saving.
// The first two answer with a page and write nothing; saving always acts, so
// that nothing depends on which page it came from. The form carries a version
// of what is stored; where something else is stored by now, nothing is written
// and the page says what that is and asks again.

// mostSlotsAtOnce is how many slots one press changes, well within the time
// that an answer may take. The page says what is left and goes on at a press.
const mostSlotsAtOnce = 300

// sessionRules is what saving the policies did, told on the next page.
const sessionRules = "rules_done"

// rulesDone is what saving did. It waits in the session, and holds no personal data.
type rulesDone struct {
	At      time.Time `json:"at"`
	Path    string    `json:"path"`
	Slots   int       `json:"slots,omitempty"`
	Left    int       `json:"left,omitempty"`
	Offered int       `json:"offered,omitempty"`
	Told    int       `json:"told,omitempty"`
	Setup   bool      `json:"setup,omitempty"`
}

// ruleBook is what a page of policies is about: those of a venue, or of one of its services.
type ruleBook struct {
	t        store.Tenant
	services []store.Service
	service  *store.Service // nil: the venue
	tenants  store.Policies // the venue's
	present  store.Policies // those in force here
	own      map[string]bool
}

// ruleBook reads what the page of the request is about.
func (s *Server) ruleBook(r *http.Request) (ruleBook, error) {
	t := venue(r)
	b := ruleBook{t: t}
	id := chi.URLParam(r, "service")
	if id != "" && !store.ValidID(id) {
		return b, store.NotFound
	}
	var err error
	if b.services, err = s.store.Services(r.Context(), t.ID); err != nil {
		return b, err
	}
	if b.tenants, err = t.Policies(); err != nil {
		return b, err
	}
	b.present = b.tenants
	if id == "" {
		return b, nil
	}
	at := slices.IndexFunc(b.services, func(sv store.Service) bool { return sv.ID == id })
	if at < 0 {
		return b, store.NotFound
	}
	b.service = &b.services[at]
	if b.present, err = b.service.Policies(t); err != nil {
		return b, err
	}
	b.own, err = ownPolicies(b.service.Overrides)
	return b, err
}

func (b ruleBook) url() string {
	if b.service != nil {
		return views.StaffServicePoliciesURL(b.t.Slug, b.service.ID)
	}
	return views.StaffPoliciesURL(b.t.Slug)
}

func (b ruleBook) serviceID() string {
	if b.service == nil {
		return ""
	}
	return b.service.ID
}

// stored is what the form was made of.
func (b ruleBook) stored() *store.StoredPolicies {
	was := &store.StoredPolicies{Tenant: b.t.Overrides}
	if b.service != nil {
		was.Service = b.service.Overrides
	}
	return was
}

// version names what is stored, so that a form knows whether it still is.
func (b ruleBook) version() string {
	was := b.stored()
	sum := sha256.Sum256(append(append(slices.Clone(was.Tenant), 0), was.Service...))
	return hex.EncodeToString(sum[:12])
}

// title names the page.
func (b ruleBook) title(c *i18n.Catalog) string {
	if b.service != nil {
		return c.T("staff.policy.title.service", "service", b.service.Name.In(c.Lang()))
	}
	return c.T("staff.policy.title.venue")
}

// getPolicies shows the policies with their sentences and examples.
func (s *Server) getPolicies(w http.ResponseWriter, r *http.Request) error {
	b, err := s.ruleBook(r)
	if err != nil {
		return err
	}
	return s.policyPage(w, r, http.StatusOK, b, showPolicies(policyFields, b.present, b.tenants, b.own))
}

func (s *Server) policyPage(w http.ResponseWriter, r *http.Request, status int, b ruleBook, f policyForm) error {
	ctx, c := r.Context(), i18n.In(r.Context())
	ex, err := s.exampleOf(r, b.services, b.serviceID())
	if err != nil {
		return err
	}
	v := views.StaffPolicyPage{
		Title: b.title(c), Lead: c.T("staff.policy.lead.venue"), BackURL: views.StaffSettingsURL(b.t.Slug), BackText: c.T("staff.nav.settings"),
		Example: ex.heading(), Form: f.view(ctx, ex), CompleteURL: views.StaffPoliciesCompleteURL(b.t.Slug),
	}
	v.Form.ActionURL = b.url()
	v.Form.Hidden = []views.Hidden{{Name: views.FieldVersion, Value: b.version()}}
	if b.service != nil {
		v.Lead, v.BackURL, v.BackText = c.T("staff.policy.lead.service"), views.StaffPoliciesURL(b.t.Slug), c.T("staff.policy.title.venue")
	} else {
		for _, sv := range b.services {
			own, err := ownPolicies(sv.Overrides)
			if err != nil {
				return err
			}
			v.Services = append(v.Services, views.StaffPolicyService{
				Name: sv.Name.In(c.Lang()), URL: views.StaffServicePoliciesURL(b.t.Slug, sv.ID), Text: c.T("staff.policy.own_count", "n", len(own)),
			})
		}
	}
	left, err := s.store.PoliciesLeft(ctx, b.t, b.services)
	if err != nil {
		return err
	}
	if left > 0 {
		v.Left = c.T("staff.policy.left", "n", left)
	}
	if done := s.popRules(r); done != nil {
		v.Result = done.view(c)
	}
	if v.Page, v.Staff, err = s.staffPage(r, "settings", v.Title, b.url()); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffPolicies(v))
}

// postPolicies takes the form.
func (s *Server) postPolicies(w http.ResponseWriter, r *http.Request) error {
	raw, b, err := formFor(s, w, r, s.ruleBook)
	if err != nil {
		return err
	}
	step, err := raw.choice(views.FieldStep, []string{views.StepExamples, views.StepCheck, views.StepSave})
	if err != nil {
		return err
	}
	f, err := decodePolicies(raw, policyFields, b.present, b.tenants, b.service != nil)
	if err != nil {
		return err
	}
	version := raw.text(views.FieldVersion, 40)
	s.againstServices(r, b, &f)
	switch {
	case f.errs.bad() && step != views.StepExamples:
		return s.policyPage(w, r, http.StatusUnprocessableEntity, b, f)
	case step == views.StepExamples:
		status := http.StatusOK
		if f.errs.bad() {
			status = http.StatusUnprocessableEntity
		}
		return s.policyPage(w, r, status, b, f)
	case version != b.version():
		return s.stalePolicies(w, r, b, f)
	case step == views.StepCheck:
		return s.checkPage(w, r, http.StatusOK, b, f)
	}
	return s.savePolicies(w, r, b, f)
}

// bad reports whether something is wrong.
func (e formErrors) bad() bool { return len(e) > 0 }

// againstServices notes where a service's own policies contradict the venue's as they would be.
func (s *Server) againstServices(r *http.Request, b ruleBook, f *policyForm) {
	if b.service != nil || f.errs.bad() {
		return
	}
	overrides, err := f.overrides()
	if err != nil {
		return // saving says so
	}
	t := b.t
	t.Overrides = overrides
	for _, sv := range b.services {
		p, err := sv.Policies(t)
		if err != nil {
			continue
		}
		own, err := ownPolicies(sv.Overrides)
		if err != nil {
			continue
		}
		for name, key := range p.Problems() {
			at := name
			for _, partner := range policyPartners[name] {
				if own[at] && !own[partner] {
					at = partner
				}
			}
			if _, there := f.errs[at]; !there {
				f.errs[at] = i18n.Msg("staff.policy.bad.in_service", "service", sv.Name.In(i18n.Lang(r.Context())), "fault", policyFault(name, key, p))
			}
		}
	}
}

func (s *Server) stalePolicies(w http.ResponseWriter, r *http.Request, b ruleBook, f policyForm) error {
	s.noteRefusal(r, store.Conflict)
	return s.checkPage(w, r, http.StatusConflict, b, f)
}

func (b ruleBook) change(r *http.Request, f policyForm) (store.PolicyChange, error) {
	overrides, err := f.overrides()
	return store.PolicyChange{
		TenantID: b.t.ID, ServiceID: b.serviceID(), Overrides: overrides, Was: b.stored(), Actor: me(r).actor(r), Most: mostSlotsAtOnce,
	}, err
}

// checkPage says what saving would cause. Nothing is changed.
func (s *Server) checkPage(w http.ResponseWriter, r *http.Request, status int, b ruleBook, f policyForm) error {
	c := i18n.In(r.Context())
	v, err := s.check(r, b, f)
	if err != nil {
		return err
	}
	v.Stale = status == http.StatusConflict
	v.ActionURL, v.BackURL, v.BackText = b.url(), b.url(), b.title(c)
	v.Fields = append(v.Fields, views.Hidden{Name: views.FieldVersion, Value: b.version()})
	v.Fields = append(v.Fields, f.hidden()...)
	if v.Page, v.Staff, err = s.staffPage(r, "settings", v.Title, b.url()); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffPolicyCheck(v))
}

// check is what every page that asks before saving says.
func (s *Server) check(r *http.Request, b ruleBook, f policyForm) (views.StaffPolicyCheckPage, error) {
	ctx, c := r.Context(), i18n.In(r.Context())
	v := views.StaffPolicyCheckPage{
		Title: c.T("staff.policy.check.title"), Never: c.T("staff.policy.check.never"), Save: c.T("staff.policy.save"), Edit: c.T("staff.policy.edit"),
		Changes: policyChanges(ctx, b.present, f.policies),
	}
	if b.service != nil {
		for _, field := range policyFields {
			if was, is := b.own[field.name], f.own[field.name]; was != is {
				v.Changes = append(v.Changes, views.StaffPolicyChange{
					Label: c.T(i18n.Key("staff.policy." + field.name + ".label")), From: goesBy(c, was), To: goesBy(c, is),
				})
			}
		}
	}
	change, err := b.change(r, f)
	if err != nil {
		return v, err
	}
	would, err := s.store.PreviewPolicies(ctx, change)
	if err != nil {
		return v, err
	}
	v.Consequence = policyConsequences(ctx, b, would)
	return v, nil
}

func goesBy(c *i18n.Catalog, own bool) string {
	if own {
		return c.T("staff.policy.own_way")
	}
	return c.T("staff.policy.venue_way")
}

// policyConsequences say what saving would do to the slots.
func policyConsequences(ctx context.Context, b ruleBook, would store.PolicyResult) []views.StaffConsequence {
	c := i18n.In(ctx)
	out := []views.StaffConsequence{{Kind: "open", Text: c.T("staff.policy.would.none")}}
	if would.Slots > 0 {
		out[0] = views.StaffConsequence{Kind: "open", Text: c.T("staff.policy.would.slots", "n", would.Slots)}
	}
	suffix := ""
	if would.AtLeast {
		suffix = "_at_least"
	}
	switch {
	case would.Offered > 0:
		out = append(out, views.StaffConsequence{Kind: "offer", Text: c.T(i18n.Key("staff.policy.would.offers"+suffix), "n", would.Offered)})
		for _, e := range would.First {
			if e.ShownUntil != nil {
				out = append(out, views.StaffConsequence{Kind: "offer", Text: c.T("staff.policy.would.offer", "name", called(ctx, e.Name), "n", e.PartySize, "until", c.DateTimeShort(*e.ShownUntil, b.t.Location()))})
			}
		}
	case would.Slots > 0:
		out = append(out, views.StaffConsequence{Kind: "kept", Text: c.T(i18n.Key("staff.policy.would.no_offers" + suffix))})
	}
	if would.Told > 0 {
		out = append(out, views.StaffConsequence{Kind: "vacancy", Text: c.T(i18n.Key("staff.policy.would.told"+suffix), "n", would.Told)})
	}
	return out
}

// savePolicies writes, and leads to the page that says what followed.
func (s *Server) savePolicies(w http.ResponseWriter, r *http.Request, b ruleBook, f policyForm) error {
	change, err := b.change(r, f)
	if err != nil {
		return err
	}
	result, err := s.store.SetPolicies(r.Context(), change)
	switch {
	case errors.Is(err, store.Conflict):
		// Somebody saved between our read and our write.
		t, err := s.store.TenantByID(r.Context(), b.t.ID)
		if err != nil {
			return err
		}
		now := b
		now.t = t
		if now.tenants, err = t.Policies(); err != nil {
			return err
		}
		now.present = now.tenants
		if b.service != nil {
			sv, err := s.store.Service(r.Context(), t.ID, b.service.ID)
			if err != nil {
				return err
			}
			now.service = &sv
			if now.present, err = sv.Policies(t); err != nil {
				return err
			}
			if now.own, err = ownPolicies(sv.Overrides); err != nil {
				return err
			}
			for _, field := range f.fields {
				if !f.own[field.name] {
					field.copy(&f.policies, now.tenants)
				}
			}
		}
		return s.stalePolicies(w, r, now, f)
	case errors.Is(err, store.Busy):
		// Stored; the page says what is left.
	case err != nil:
		return err
	}
	return s.seeRules(w, r, b.url(), rulesOf(result))
}

func rulesOf(result store.PolicyResult) rulesDone {
	return rulesDone{Slots: result.Slots, Left: result.Left, Offered: result.Offered, Told: result.Told}
}

// seeRules leads to a page that says what was done.
func (s *Server) seeRules(w http.ResponseWriter, r *http.Request, path string, done rulesDone) error {
	done.At, done.Path = s.now(), path
	text, err := json.Marshal(done)
	if err != nil {
		return fmt.Errorf("what saving the policies did: %w", err)
	}
	s.sessions.Put(r.Context(), sessionRules, string(text))
	return s.see(w, r, path, "")
}

// popRules takes what saving did, for its page; nil for none.
func (s *Server) popRules(r *http.Request) *rulesDone {
	text := s.sessions.GetString(r.Context(), sessionRules)
	if text == "" || r.Method == http.MethodPost {
		return nil
	}
	var done rulesDone
	err := json.Unmarshal([]byte(text), &done)
	if err == nil && done.Path != r.URL.Path && s.now().Sub(done.At) < doneShown {
		return nil // it belongs to another page
	}
	s.sessions.Remove(r.Context(), sessionRules)
	if err != nil || s.now().Sub(done.At) >= doneShown {
		return nil
	}
	return &done
}

// view says what saving did.
func (d rulesDone) view(c *i18n.Catalog) *views.StaffResult {
	v := &views.StaffResult{Title: c.T("staff.policy.did.title")}
	if d.Setup {
		v.Title = c.T("staff.setup.did")
	}
	line := func(key i18n.Key, args ...any) {
		v.Lines = append(v.Lines, views.StaffResultLine{Text: c.T(key, args...)})
	}
	if d.Slots > 0 {
		line("staff.policy.did.slots", "n", d.Slots)
	}
	if d.Offered > 0 {
		line("staff.policy.did.offers", "n", d.Offered)
	}
	if d.Told > 0 {
		line("staff.policy.did.told", "n", d.Told)
	}
	if d.Left > 0 {
		line("staff.policy.did.left", "n", d.Left)
	}
	return v
}

// getCompletePolicies leads to the page that has the button.
func (s *Server) getCompletePolicies(w http.ResponseWriter, r *http.Request) error {
	return s.see(w, r, views.StaffPoliciesURL(venue(r).Slug), "")
}

// postCompletePolicies takes the stored policies into the slots that still have
// others. It names no version: whatever is stored when it runs is what counts.
func (s *Server) postCompletePolicies(w http.ResponseWriter, r *http.Request) error {
	if _, err := s.form(w, r); err != nil {
		return err
	}
	t := venue(r)
	result, err := s.store.CompletePolicies(r.Context(), t.ID, me(r).actor(r), mostSlotsAtOnce)
	if err != nil && !errors.Is(err, store.Busy) {
		return err
	}
	return s.seeRules(w, r, views.StaffPoliciesURL(t.Slug), rulesOf(result))
}
