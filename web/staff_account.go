package web

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// pathToken is the secret of the path.
func pathToken(r *http.Request) string { return chi.URLParam(r, "token") }

// device names the browser of a session by a short code, "browser/system". What
// browsers say about themselves is long, and more than a person has to read.
func device(agent string) string {
	browser, system := "", ""
	// In this order: most say that they are others too.
	for _, b := range [][2]string{
		{"Edg", "Edge"},
		{"OPR/", "Opera"},
		{"SamsungBrowser/", "Samsung Internet"},
		{"Firefox/", "Firefox"},
		{"FxiOS/", "Firefox"},
		{"CriOS/", "Chrome"},
		{"Chrome/", "Chrome"},
		{"Safari/", "Safari"},
	} {
		if strings.Contains(agent, b[0]) {
			browser = b[1]
			break
		}
	}
	for _, o := range [][2]string{
		{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Windows", "Windows"}, {"Macintosh", "Mac"}, {"CrOS", "Chromebook"}, {"Linux", "Linux"},
	} {
		if strings.Contains(agent, o[0]) {
			system = o[1]
			break
		}
	}
	if browser == "" || system == "" {
		return ""
	}
	return browser + "/" + system
}

func deviceWords(ctx context.Context, code string) string {
	browser, system, ok := strings.Cut(code, "/")
	if !ok {
		return i18n.T(ctx, "account.device.unknown")
	}
	return i18n.T(ctx, "account.device", "browser", browser, "system", system)
}

// languageOptions are the languages, each in its own words.
func languageOptions(chosen string) []views.Option {
	return []views.Option{{Value: i18n.JA, Text: "日本語", Selected: chosen == i18n.JA}, {Value: i18n.EN, Text: "English", Selected: chosen == i18n.EN}}
}

// zoneOf is where a person works first: times on their own pages are of there.
func (s *Server) zoneOf(ctx context.Context, memberships []store.Membership) (*time.Location, error) {
	if len(memberships) == 0 {
		return time.UTC, nil
	}
	t, err := s.store.TenantByID(ctx, memberships[0].TenantID)
	return t.Location(), err
}

func (s *Server) getAccount(w http.ResponseWriter, r *http.Request) error {
	c := me(r)
	return s.accountPage(w, r, http.StatusOK, c.Name, i18n.Lang(r.Context()), nil)
}

func (s *Server) accountPage(w http.ResponseWriter, r *http.Request, status int, name, lang string, errs formErrors) error {
	ctx, c := r.Context(), me(r)
	memberships, err := s.store.Memberships(ctx, c.ID)
	if err != nil {
		return err
	}
	sessions, err := s.store.StaffSessions(ctx, c.ID)
	if err != nil {
		return err
	}
	v := views.StaffAccountPage{
		Page: s.plainStaffPage(r, i18n.T(ctx, "account.title"), views.StaffAccountURL()), BackURL: views.StaffURL(), ActionURL: views.StaffAccountURL(),
		Name: name, Email: c.Email, Languages: languageOptions(lang), Errs: errs.in(ctx),
		PasswordURL: views.StaffPasswordURL(), SessionsURL: views.StaffSessionsURL(), Sessions: i18n.T(ctx, "account.sessions.n", "n", len(sessions)),
		FactorURL: views.StaffFactorURL(), FactorOn: c.SecondFactor, Factor: i18n.T(ctx, "account.factor.text.off"), SignOutURL: views.StaffSignOutURL(),
	}
	if c.SecondFactor {
		v.Factor = i18n.T(ctx, "account.factor.text.on")
	}
	for _, m := range memberships {
		v.Venues = append(v.Venues, views.StaffVenue{Name: m.Name, URL: views.StaffTodayURL(m.Slug), Role: string(m.Role)})
	}
	if s.mayAddVenue(memberships) {
		v.NewVenueURL = views.StaffNewVenueURL()
	}
	return s.render(w, r, status, views.StaffAccount(v))
}

func (s *Server) postAccount(w http.ResponseWriter, r *http.Request) error {
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	name, lang := f.text(views.FieldName, longestName), f.text(views.FieldLang, 10)
	if !i18n.Known(lang) {
		f.errs.fault(views.FieldLang, "account.err.lang")
	}
	if f.bad() {
		return s.accountPage(w, r, http.StatusUnprocessableEntity, name, lang, f.errs)
	}
	if err := s.store.SetStaffProfile(r.Context(), me(r).ID, store.NormalizeName(name), lang); err != nil {
		return err
	}
	s.sessions.Put(r.Context(), sessionLang, lang)
	return s.see(w, r, views.StaffAccountURL(), "account.saved")
}

func (s *Server) getSessions(w http.ResponseWriter, r *http.Request) error {
	ctx, c := r.Context(), me(r)
	memberships, err := s.store.Memberships(ctx, c.ID)
	if err != nil {
		return err
	}
	loc, err := s.zoneOf(ctx, memberships)
	if err != nil {
		return err
	}
	sessions, err := s.store.StaffSessions(ctx, c.ID)
	if err != nil {
		return err
	}
	words := i18n.In(ctx)
	moment := func(at time.Time) string { return words.WithZone(words.DateTimeShort(at, loc), at, loc) }
	v := views.StaffSessionsPage{
		Page: s.plainStaffPage(r, i18n.T(ctx, "account.sessions"), views.StaffSessionsURL()), BackURL: views.StaffAccountURL(), EndURL: views.StaffSessionEndURL(),
	}
	own := s.sessions.GetString(ctx, sessionHandle)
	for _, one := range sessions {
		line := views.StaffSessionLine{
			Handle: one.Handle, Device: deviceWords(ctx, one.Device), Current: one.Handle == own,
			Started: i18n.T(ctx, "account.sessions.started", "time", moment(one.StartedAt)), Seen: i18n.T(ctx, "account.sessions.seen", "time", moment(one.SeenAt)),
		}
		if line.Current || s.now().Sub(one.SeenAt) < 10*time.Minute {
			line.Seen = i18n.T(ctx, "account.sessions.seen.now") // it is written no finer
		}
		if !line.Current {
			v.EndOthersURL = views.StaffSessionsEndURL()
		}
		v.Sessions = append(v.Sessions, line)
	}
	return s.render(w, r, http.StatusOK, views.StaffSessions(v))
}

func (s *Server) postSessionEnd(w http.ResponseWriter, r *http.Request) error {
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	handle := f.text(views.FieldSession, 100)
	if f.bad() || handle == "" {
		return errBadRequest
	}
	if err := s.store.EndSession(r.Context(), me(r).ID, handle); err != nil {
		return err
	}
	return s.see(w, r, views.StaffSessionsURL(), "account.sessions.ended")
}

func (s *Server) postSessionsEnd(w http.ResponseWriter, r *http.Request) error {
	if _, err := s.form(w, r); err != nil {
		return err
	}
	own := s.sessions.GetString(r.Context(), sessionHandle)
	if own == "" {
		own = "none" // signed in before sessions had names: all that have one are others
	}
	n, err := s.store.EndSessions(r.Context(), me(r).ID, own)
	if err != nil {
		return err
	}
	return s.see(w, r, views.StaffSessionsURL(), "account.sessions.ended_others", "n", n)
}
