package web

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/alexedwards/argon2id"
	"github.com/go-chi/chi/v5/middleware"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// staffSession is how long a person stays signed in: a long day at the counter.
const staffSession = 12 * time.Hour

// How often may be tried to sign in, over all instances. The limit of an account
// keeps guessing away from one person, that of an address from all of them.
const (
	triesPerAccount = 10
	triesPerAddress = 30
	triesWindow     = 10 * time.Minute
)

// hashParams are the cost of a password hash: about 40 ms and 19 MiB.
var hashParams = argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// hashing bounds how many hashes are computed at one time, so that sign-ins
// can't take memory and processors from everything else.
var hashing = make(chan struct{}, 2)

func whileHashing(ctx context.Context, do func() error) error {
	select {
	case hashing <- struct{}{}:
		defer func() { <-hashing }()
		return do()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// HashPassword makes the hash that store.AddStaff stores.
func HashPassword(ctx context.Context, password string) (string, error) {
	if password == "" || len(password) > longestPassword {
		return "", fmt.Errorf("a password has 1 to %d bytes", longestPassword)
	}
	var hash string
	err := whileHashing(ctx, func() (err error) {
		hash, err = argon2id.CreateHash(password, &hashParams)
		return err
	})
	return hash, err
}

// nobodysHash is what the password of somebody unknown is compared with, so
// that the answer takes the same time. It has the cost of hashParams, and what
// it is the hash of nobody knows.
const nobodysHash = "$argon2id$v=19$m=19456,t=2,p=1$B7J5PPndJZLeJHjuQrlLuA$ImRXcKp4X+QlTGHbz2GYHr+u0eAvUPV5qRKQOQeOmuw"

// checkPassword compares, and tells whether the stored hash has another cost
// than a new one would. An empty hash is nobody's.
func checkPassword(ctx context.Context, password, hash string) (match, outdated bool, err error) {
	err = whileHashing(ctx, func() error {
		known := hash != ""
		if !known {
			hash = nobodysHash
		}
		ok, params, err := argon2id.CheckHash(password, hash)
		if err != nil {
			return fmt.Errorf("password hash: %w", err)
		}
		match, outdated = ok && known, *params != hashParams
		return nil
	})
	return match, outdated, err
}

type signInForm struct {
	email    string
	next     string
	problem  string
	retry    string
	errs     formErrors
	password string
}

func (s *Server) getStaffHome(w http.ResponseWriter, r *http.Request) error {
	c, ok := signedIn(r)
	if !ok {
		return s.see(w, r, views.StaffSignInURL(), "")
	}
	memberships, err := s.store.Memberships(r.Context(), c.ID)
	if err != nil {
		return err
	}
	if len(memberships) == 1 {
		return s.see(w, r, views.StaffTodayURL(memberships[0].Slug), "")
	}
	v := views.StaffVenuesPage{
		Page:  s.plainStaffPage(r, i18n.T(r.Context(), "staff.venues.title"), views.StaffURL()),
		Staff: views.StaffFrame{SignOutURL: views.StaffSignOutURL()},
	}
	for _, m := range memberships {
		v.Venues = append(v.Venues, views.StaffVenue{Name: m.Name, URL: views.StaffTodayURL(m.Slug), Role: string(m.Role)})
	}
	return s.render(w, r, http.StatusOK, views.StaffVenues(v))
}

func (s *Server) getVenueDoor(w http.ResponseWriter, r *http.Request) error {
	return s.see(w, r, views.StaffTodayURL(venue(r).Slug), "")
}

func (s *Server) getSignIn(w http.ResponseWriter, r *http.Request) error {
	next := staffPathOnly(r.URL.Query().Get(views.FieldNext))
	if _, ok := signedIn(r); ok {
		if next == "" {
			next = views.StaffURL()
		}
		return s.see(w, r, next, "")
	}
	return s.signInPage(w, r, http.StatusOK, signInForm{next: next})
}

// staffPathOnly takes a path under /staff; everything else becomes empty.
func staffPathOnly(path string) string {
	if local := localPath(path, ""); local == views.StaffURL() || strings.HasPrefix(local, views.StaffURL()+"/") {
		return local
	}
	return ""
}

func (s *Server) signInPage(w http.ResponseWriter, r *http.Request, status int, f signInForm) error {
	self := views.StaffSignInURL()
	if f.next != "" {
		self += "?" + url.Values{views.FieldNext: {f.next}}.Encode()
	}
	return s.render(w, r, status, views.StaffSignIn(views.StaffSignInPage{
		Page: s.plainStaffPage(r, i18n.T(r.Context(), "staff.signin.title"), self), ActionURL: views.StaffSignInURL(), Next: f.next, Email: f.email,
		Errs: f.errs.in(r.Context()), Problem: f.problem, RetryAfter: f.retry, ResetURL: views.StaffResetURL(),
	}))
}

// postSignIn answers somebody unknown and a wrong password alike, in words and in time.
func (s *Server) postSignIn(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	form := signInForm{
		email: f.text(views.FieldEmail, longestEmail), next: staffPathOnly(f.text(views.FieldNext, 2000)),
		password: f.values.Get(views.FieldPassword), errs: f.errs,
	}
	delete(form.errs, views.FieldNext) // where it is nonsense, the usual page comes next
	if len(f.values[views.FieldPassword]) > 1 {
		form.errs.fault(views.FieldPassword, "form.err.repeated")
	}
	if form.email == "" {
		form.errs.fault(views.FieldEmail, "staff.signin.err.email")
	}
	if form.password == "" {
		form.errs.fault(views.FieldPassword, "staff.signin.err.password")
	}
	if f.bad() {
		return s.signInPage(w, r, http.StatusUnprocessableEntity, form)
	}
	retry, err := s.signInTries(r, form.email)
	if err != nil {
		return err
	}
	if retry > 0 {
		form.retry = s.limited(w, r, retry)
		return s.signInPage(w, r, http.StatusTooManyRequests, form)
	}
	member, err := s.store.StaffByEmail(ctx, form.email)
	if err != nil && !errors.Is(err, store.NotFound) {
		return err
	}
	match, outdated := false, false
	if len(form.password) <= longestPassword {
		if match, outdated, err = checkPassword(ctx, form.password, member.PasswordHash); err != nil {
			return err
		}
	}
	if !match {
		form.problem = i18n.T(ctx, "staff.signin.wrong")
		return s.signInPage(w, r, http.StatusUnprocessableEntity, form)
	}
	if outdated {
		hash, err := HashPassword(ctx, form.password)
		if err != nil {
			return err
		}
		if err := s.store.UpgradePasswordHash(ctx, member.ID, member.PasswordHash, hash); err != nil {
			return err
		}
		member.PasswordHash = hash
	}
	if member.SecondFactor {
		return s.askCode(w, r, member, form.next)
	}
	return s.enter(w, r, member, form.next)
}

// enter signs a person in and leads to where they wanted to be.
func (s *Server) enter(w http.ResponseWriter, r *http.Request, member store.StaffMember, next string) error {
	ctx := r.Context()
	if err := s.store.SignedIn(ctx, member.ID); err != nil {
		return err
	}
	// A token that was known before somebody signed in is worth nothing after.
	if err := s.sessions.RenewToken(ctx); err != nil {
		return fmt.Errorf("renew session: %w", err)
	}
	s.sessions.Remove(ctx, sessionHalf)
	s.sessions.Put(ctx, sessionStaff, member.ID)
	s.sessions.Put(ctx, sessionHandle, rand.Text())
	s.sessions.SetDeadline(ctx, s.now().Add(staffSession).UTC())
	if next == "" {
		next = views.StaffURL()
	}
	return s.see(w, r, next, "")
}

// signInTries counts a try to sign in and gives how long to wait; 0: go on.
func (s *Server) signInTries(r *http.Request, email string) (time.Duration, error) {
	account := email
	if normal, err := store.NormalizeEmail(email); err == nil {
		account = normal
	}
	return s.tries(r, "sign-in", store.PersonKey(account))
}

// tries counts a try for the account and for the address, over all instances,
// and gives how long to wait; 0: go on. A try that is refused for its account is
// counted for its address too.
func (s *Server) tries(r *http.Request, what, account string) (time.Duration, error) {
	if !s.cfg.RateLimit {
		return 0, nil
	}
	byAddress, err := s.store.Hit(r.Context(), what+" address "+middleware.GetClientIP(r.Context()), triesPerAddress, triesWindow)
	if err != nil {
		return 0, err
	}
	byAccount, err := s.store.Hit(r.Context(), what+" account "+account, triesPerAccount, triesWindow)
	return max(byAddress, byAccount), err
}

// limited says how long to wait after too many tries.
func (s *Server) limited(w http.ResponseWriter, r *http.Request, retry time.Duration) string {
	w.Header().Set("Retry-After", strconv.Itoa(int((retry+time.Second-1)/time.Second)))
	return i18n.T(r.Context(), "staff.signin.limited", "time", i18n.In(r.Context()).Duration(retry.Round(time.Second)))
}

func (s *Server) postSignOut(w http.ResponseWriter, r *http.Request) error {
	if err := s.sessions.Destroy(r.Context()); err != nil {
		return fmt.Errorf("end session: %w", err)
	}
	return s.see(w, r, signedOutURL, "")
}

// signedOutURL is the page behind signing out.
const signedOutURL = "/staff/signed-out"

func (s *Server) getSignedOut(w http.ResponseWriter, r *http.Request) error {
	if _, ok := signedIn(r); ok {
		return s.see(w, r, views.StaffURL(), "")
	}
	return s.render(w, r, http.StatusOK, views.StaffSignedOut(views.StaffSignedOutPage{
		Page: s.plainStaffPage(r, i18n.T(r.Context(), "staff.signed_out.title"), signedOutURL), SignInURL: views.StaffSignInURL(),
	}))
}

// postStaffLanguage keeps the chosen language with the person, else with the browser.
func (s *Server) postStaffLanguage(w http.ResponseWriter, r *http.Request) error {
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	lang := f.text(views.FieldLang, 10)
	if f.bad() || !i18n.Known(lang) {
		return errBadRequest
	}
	if c, ok := signedIn(r); ok {
		if err := s.store.SetStaffLocale(r.Context(), c.ID, lang); err != nil {
			return err
		}
	}
	s.sessions.Put(r.Context(), sessionLang, lang)
	back := staffPathOnly(f.text(views.FieldReturn, 2000))
	if back == "" {
		back = views.StaffURL()
	}
	return s.see(w, r, back, "")
}
