package web

import (
	"net/http"
	"strings"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// The two sheets are computed from the policies that are in force when they are
// opened: nothing is stored that could be out of date.

// getRules is the sheet for the counter.
func (s *Server) getRules(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	b, ex, setup, err := s.sheet(r)
	if err != nil {
		return err
	}
	lang := r.URL.Query().Get(views.FieldLang)
	if !i18n.Known(lang) {
		lang = i18n.Lang(ctx)
	}
	ex = ex.in(lang)
	v, err := counterSheet(ex, b.t, b.services, setup)
	if err != nil {
		return err
	}
	v.Asof = ex.c.T("staff.rules.asof", "day", ex.c.Date(s.now(), ex.loc))
	v.BackURL = views.StaffSettingsURL(b.t.Slug)
	for _, l := range languagesFrom(ctx) {
		v.Others = append(v.Others, views.StaffFilter{Text: i18n.T(ctx, i18n.Key("staff.rules.in_"+l)), URL: views.StaffRulesURL(b.t.Slug, l), Current: l == lang})
	}
	v.Others = append(v.Others, views.StaffFilter{Text: i18n.T(ctx, "staff.rules.for_customers"), URL: views.StaffRulesCustomersURL(b.t.Slug)})
	if setup.CallRule == "" && me(r).can(setUp) {
		v.SetupURL = views.StaffSetupURL(b.t.Slug)
	}
	if done := s.popRules(r); done != nil {
		v.Result = done.view(i18n.In(ctx))
	}
	if v.Page, v.Staff, err = s.staffPage(r, "settings", v.Title, views.StaffRulesURL(b.t.Slug, "")); err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, views.StaffRules(v))
}

func (s *Server) sheet(r *http.Request) (ruleBook, example, store.Setup, error) {
	b, err := s.ruleBook(r)
	if err != nil {
		return b, example{}, store.Setup{}, err
	}
	ex, err := s.exampleOf(r, b.services, "")
	if err != nil {
		return b, example{}, store.Setup{}, err
	}
	ex.p = b.present
	setup, err := s.store.SetupOf(r.Context(), b.t.ID)
	return b, ex, setup, err
}

// getRulesCustomers is the text for customers, in both languages.
func (s *Server) getRulesCustomers(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	b, ex, _, err := s.sheet(r)
	if err != nil {
		return err
	}
	v := views.StaffRulesTextPage{
		Title: i18n.T(ctx, "staff.rules.customers.page"), Lead: i18n.T(ctx, "staff.rules.customers.lead"), BackURL: views.StaffRulesURL(b.t.Slug, ""),
	}
	for _, l := range languagesFrom(ctx) {
		text, err := customersText(ex.in(l), b.t, b.services)
		if err != nil {
			return err
		}
		v.Texts = append(v.Texts, views.StaffRulesInLang{
			Lang: l, Label: i18n.T(ctx, i18n.Key("staff.rules.in_"+l)), Text: text, Rows: strings.Count(text, "\n") + 8,
		})
	}
	if v.Page, v.Staff, err = s.staffPage(r, "settings", v.Title, views.StaffRulesCustomersURL(b.t.Slug)); err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, views.StaffRulesText(v))
}
