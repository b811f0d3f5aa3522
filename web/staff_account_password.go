package web

import (
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// How long a password is. NIST SP 800-63B (5.1.1.2): at least eight characters,
// long ones allowed, no rules of composition, none of those that everybody tries.
const (
	shortestPassword = 8    // characters
	longestPassword  = 1000 // bytes; what is longer is not hashed
)

// commonPasswords are among the most used of at least eight characters, in lower
// case, with ours for company. The longer lists in use hold mostly variations.
var commonPasswords = strings.Fields(`
12345678 123456789 1234567890 12345678910 123123123 1234554321 87654321 987654321 9876543210 11111111 00000000 88888888 66666666 77777777
12341234 11223344 123456789a 1q2w3e4r 1q2w3e4r5t 1qaz2wsx 1qazxsw2 q1w2e3r4 q1w2e3r4t5 qwer1234 qwerty12 qwerty123 qwertyui qwertyuiop
qwerty1234 asdfghjk asdfghjkl asdf1234 zxcvbnm1 zaq12wsx abcd1234 abc12345 abc123456 abcdefgh aa123456 a1234567 a12345678 a123456789
password password1 password12 password123 password! passw0rd p@ssw0rd p@ssword pass1234 password1234 passwort passwort1 motdepasse
iloveyou iloveyou1 sunshine princess football baseball superman starwars whatever trustno1 welcome1 welcome123 computer internet
michelle jennifer charlie1 corvette mercedes michael1 jordan23 liverpool chelsea1 samsung1 pokemon1 dragon12 monkey123 letmein1
letmein123 admin123 admin1234 administrator adminadmin changeme changeme1 default1 secret123 test1234 testtest guest123 master123
holdfast holdfast1 holdfast123 reservation yoyaku123 yoyaku1234 pasuwado himitsu1 sakura123 nippon123 tokyo2020 tokyo2024 konnichiwa arigatou
`)

// passwordFault is what is wrong with a new password of somebody; empty for
// nothing. About are the person's address and name, which it must not be.
func passwordFault(password string, about ...string) i18n.Key {
	folded := strings.ToLower(store.NormalizeText(password))
	switch {
	case password == "":
		return "account.err.password.missing"
	case !utf8.ValidString(password) || strings.ContainsFunc(password, unicode.IsControl):
		return "form.err.characters"
	case len(password) > longestPassword:
		return "account.err.password.long"
	case utf8.RuneCountInString(strings.TrimSpace(folded)) < shortestPassword:
		return "account.err.password.short"
	case slices.Contains(commonPasswords, folded), strings.Count(folded, string([]rune(folded)[0])) == utf8.RuneCountInString(folded):
		return "account.err.password.common"
	}
	for _, own := range about {
		name, _, _ := strings.Cut(own, "@")
		for _, part := range []string{own, name} {
			if part != "" && folded == strings.ToLower(store.NormalizeText(part)) {
				return "account.err.password.you"
			}
		}
	}
	return ""
}

// PasswordFault says in English what is wrong with a new password of somebody;
// empty for nothing. About are their address and name.
func PasswordFault(password string, about ...string) string {
	key := passwordFault(password, about...)
	if key == "" {
		return ""
	}
	return i18n.For(i18n.EN).T(key)
}

// secret reads a password: as it was typed, once.
func (f *form) secret(field string) string {
	if len(f.values[field]) > 1 {
		f.errs.fault(field, "form.err.repeated")
	}
	return f.values.Get(field)
}

// newPassword reads a password to be set.
func (f *form) newPassword(about ...string) string {
	password := f.secret(views.FieldNewPassword)
	if key := passwordFault(password, about...); key != "" {
		f.errs.fault(views.FieldNewPassword, key)
	}
	return password
}

func (s *Server) getPassword(w http.ResponseWriter, r *http.Request) error {
	return s.passwordPage(w, r, http.StatusOK, nil, "")
}

func (s *Server) passwordPage(w http.ResponseWriter, r *http.Request, status int, errs formErrors, retry string) error {
	return s.render(w, r, status, views.StaffPassword(views.StaffPasswordPage{
		Page:    s.plainStaffPage(r, i18n.T(r.Context(), "account.password"), views.StaffPasswordURL()),
		BackURL: views.StaffAccountURL(), ActionURL: views.StaffPasswordURL(), Email: me(r).Email, Errs: errs.in(r.Context()), RetryAfter: retry,
	}))
}

// postPassword changes the own password: who found a tablet signed in must know
// the old one, and whoever else is signed in as this person is signed in no more.
func (s *Server) postPassword(w http.ResponseWriter, r *http.Request) error {
	ctx, c := r.Context(), me(r)
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	old := f.secret(views.FieldPassword)
	if old == "" {
		f.errs.fault(views.FieldPassword, "staff.signin.err.password")
	}
	password := f.newPassword(c.Email, c.Name)
	if f.bad() {
		return s.passwordPage(w, r, http.StatusUnprocessableEntity, f.errs, "")
	}
	if retry, err := s.tries(r, "password", c.ID); err != nil || retry > 0 {
		if err != nil {
			return err
		}
		return s.passwordPage(w, r, http.StatusTooManyRequests, nil, s.limited(w, r, retry))
	}
	if ok, err := s.knowsPassword(r, old); err != nil {
		return err
	} else if !ok {
		f.errs.fault(views.FieldPassword, "account.err.password.wrong")
		return s.passwordPage(w, r, http.StatusUnprocessableEntity, f.errs, "")
	}
	hash, err := HashPassword(ctx, password)
	if err != nil {
		return err
	}
	err = s.store.ChangePassword(ctx, store.PasswordChange{
		StaffID: c.ID, Was: c.PasswordHash, Hash: hash, Keep: s.sessions.GetString(ctx, sessionHandle), Locale: i18n.Lang(ctx),
	})
	if err == store.Conflict {
		s.noteRefusal(r, store.Conflict)
		f.errs.fault(views.FieldPassword, "account.err.password.stale")
		return s.passwordPage(w, r, http.StatusConflict, f.errs, "")
	}
	if err != nil {
		return err
	}
	return s.see(w, r, views.StaffAccountURL(), "account.password.done")
}

// knowsPassword compares what was typed with the password of who is signed in.
func (s *Server) knowsPassword(r *http.Request, typed string) (bool, error) {
	if len(typed) > longestPassword {
		return false, nil
	}
	match, _, err := checkPassword(r.Context(), typed, me(r).PasswordHash)
	return match, err
}

func (s *Server) getReset(w http.ResponseWriter, r *http.Request) error {
	return s.resetPage(w, r, http.StatusOK, "", nil, "")
}

func (s *Server) resetPage(w http.ResponseWriter, r *http.Request, status int, email string, errs formErrors, retry string) error {
	return s.render(w, r, status, views.StaffReset(views.StaffResetPage{
		Page:      s.plainStaffPage(r, i18n.T(r.Context(), "account.reset.title"), views.StaffResetURL()),
		ActionURL: views.StaffResetURL(), Email: email, Errs: errs.in(r.Context()), RetryAfter: retry, SignInURL: views.StaffSignInURL(),
	}))
}

// postReset gives one answer to everybody: whether an address is known is told
// to its mailbox alone. Tries are counted whether it is known or not.
func (s *Server) postReset(w http.ResponseWriter, r *http.Request) error {
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	email := f.text(views.FieldEmail, longestEmail)
	normal, err := store.NormalizeEmail(email)
	switch {
	case email == "":
		f.errs.fault(views.FieldEmail, "staff.signin.err.email")
	case err != nil:
		f.errs.fault(views.FieldEmail, "form.err.email")
	}
	if f.bad() {
		return s.resetPage(w, r, http.StatusUnprocessableEntity, email, f.errs, "")
	}
	retry, err := s.tries(r, "reset", store.PersonKey(normal))
	if err != nil {
		return err
	}
	if retry > 0 {
		return s.resetPage(w, r, http.StatusTooManyRequests, email, nil, s.limited(w, r, retry))
	}
	if err := s.store.RequestReset(r.Context(), normal, i18n.Lang(r.Context())); err != nil {
		return err
	}
	return s.see(w, r, views.StaffResetSentURL(), "")
}

func (s *Server) getResetSent(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	return s.notePage(w, r, http.StatusOK, views.StaffNotePage{
		State: "reset_sent", Title: i18n.T(ctx, "account.reset.sent"), Texts: []string{i18n.T(ctx, "account.reset.sent.if"), i18n.T(ctx, "account.reset.sent.none")},
		Link: views.Link{Text: i18n.T(ctx, "account.reset.back"), URL: views.StaffSignInURL()},
	}, views.StaffResetSentURL())
}

// notePage shows a page that only says how something stands.
func (s *Server) notePage(w http.ResponseWriter, r *http.Request, status int, v views.StaffNotePage, self string) error {
	v.Page = s.plainStaffPage(r, v.Title, self)
	v.Page.Secret = true
	return s.render(w, r, status, views.StaffNote(v))
}

func (s *Server) deadReset(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	s.noteRefusal(r, store.NotFound)
	return s.notePage(w, r, http.StatusNotFound, views.StaffNotePage{
		State: "reset_dead", Title: i18n.T(ctx, "account.reset.dead"), Texts: []string{i18n.T(ctx, "account.reset.dead.text")},
		Link: views.Link{Text: i18n.T(ctx, "account.reset.dead.again"), URL: views.StaffResetURL()},
	}, views.StaffResetURL())
}

// getResetLink only shows the form: scanners of mail open every link.
func (s *Server) getResetLink(w http.ResponseWriter, r *http.Request) error {
	return s.resetLinkPage(w, r, http.StatusOK, nil)
}

func (s *Server) resetLinkPage(w http.ResponseWriter, r *http.Request, status int, errs formErrors) error {
	token := pathToken(r)
	p, err := s.store.ResetByToken(r.Context(), token)
	if err == store.NotFound {
		return s.deadReset(w, r)
	}
	if err != nil {
		return err
	}
	page := s.plainStaffPage(r, i18n.T(r.Context(), "account.reset.new"), views.StaffResetLinkURL(token))
	page.Secret = true
	return s.render(w, r, status, views.StaffNewPassword(views.StaffNewPasswordPage{
		Page: page, ActionURL: views.StaffResetLinkURL(token), Email: p.Email, Errs: errs.in(r.Context()),
	}))
}

func (s *Server) postResetLink(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	token := pathToken(r)
	p, err := s.store.ResetByToken(ctx, token)
	if err == store.NotFound {
		return s.deadReset(w, r)
	}
	if err != nil {
		return err
	}
	password := f.newPassword(p.Email, p.Name)
	if f.bad() {
		return s.resetLinkPage(w, r, http.StatusUnprocessableEntity, f.errs)
	}
	hash, err := HashPassword(ctx, password)
	if err != nil {
		return err
	}
	_, err = s.store.ResetPassword(ctx, token, hash, i18n.Lang(ctx))
	if err == store.NotFound {
		return s.deadReset(w, r)
	}
	if err != nil {
		return err
	}
	return s.see(w, r, views.StaffSignInURL(), "account.reset.done")
}
