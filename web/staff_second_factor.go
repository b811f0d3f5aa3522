package web

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"
	"github.com/pquerna/otp/totp"
	"github.com/skip2/go-qrcode"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// The second factor is a code of six digits that an app works out of a shared
// secret and the half minute (RFC 6238, SHA-1, as every app has it).
const (
	codeStepSeconds = 30
	codeDigits      = 6
	codeSkew        = 1  // steps that a telephone's clock may be off, before and after
	factorSecret    = 20 // bytes, as long as the hash (RFC 4226, section 4)
)

// factorIssuer is how apps name us.
const factorIssuer = "Holdfast"

var factorText = base32.StdEncoding.WithPadding(base32.NoPadding)

// codeStep finds the step whose code this is, around the instant. It works all
// of them out and compares each in constant time, so that how long it takes
// tells nothing.
func codeStep(secret, code string, now time.Time) (step int64, ok bool, err error) {
	for skew := int64(-codeSkew); skew <= codeSkew; skew++ {
		at := now.Unix()/codeStepSeconds + skew
		want, err := hotp.GenerateCodeCustom(secret, uint64(at), hotp.ValidateOpts{Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
		if err != nil {
			return 0, false, fmt.Errorf("second factor: %w", err)
		}
		if subtle.ConstantTimeCompare([]byte(want), []byte(code)) == 1 {
			step, ok = at, true
		}
	}
	return step, ok, nil
}

// factorURL is what an app scans.
func factorURL(secret, email string) (string, error) {
	raw, err := factorText.DecodeString(secret)
	if err != nil {
		return "", fmt.Errorf("second factor: %w", err)
	}
	key, err := totp.Generate(totp.GenerateOpts{Issuer: factorIssuer, AccountName: email, Secret: raw, Period: codeStepSeconds, Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
	if err != nil {
		return "", fmt.Errorf("second factor: %w", err)
	}
	return key.URL(), nil
}

// asCode gives the six digits of a typed code; empty where it is none.
func asCode(typed string) string {
	code := strings.ReplaceAll(store.NormalizeText(typed), " ", "")
	if len(code) != codeDigits || strings.Trim(code, "0123456789") != "" {
		return ""
	}
	return code
}

// errCode is a code that does not open: wrong, used, or of another time.
var errCode = errors.New("the code does not open")

// takeCode takes a code of the app, once.
func (s *Server) takeCode(ctx context.Context, staffID, code string) error {
	f, err := s.store.SecondFactor(ctx, staffID)
	if err != nil {
		return err
	}
	if !f.On {
		return errCode
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return err
	}
	step, ok, err := codeStep(f.Secret, code, now)
	if err != nil {
		return err
	}
	if !ok {
		return errCode
	}
	if err := s.store.UseCode(ctx, staffID, step); err == store.Over {
		return errCode // a second time, perhaps by who looked over a shoulder
	} else if err != nil {
		return err
	}
	return nil
}

// takeCodeOrRecovery takes what was typed for a code, or else for a recovery code;
// left is how many of those there are after one was used, and -1 after a code.
func (s *Server) takeCodeOrRecovery(ctx context.Context, staffID, typed string) (left int, err error) {
	if code := asCode(typed); code != "" {
		return -1, s.takeCode(ctx, staffID, code)
	}
	left, err = s.store.UseRecoveryCode(ctx, staffID, typed)
	if err == store.Over {
		return 0, errCode
	}
	return left, err
}

// half is somebody who has given the right password and not yet the code. It
// opens nothing but the page that asks for it.
type half struct {
	Staff string    `json:"s"`
	Mark  string    `json:"m"` // of the password: a new one asks for all again
	Until time.Time `json:"u"`
	Next  string    `json:"n,omitempty"`
}

// halfFor is how long the code may take.
const halfFor = 10 * time.Minute

// askCode leads to the page that asks for the code.
func (s *Server) askCode(w http.ResponseWriter, r *http.Request, member store.StaffMember, next string) error {
	ctx := r.Context()
	text, err := json.Marshal(half{member.ID, oneWay("password", member.PasswordHash), s.now().Add(halfFor), next})
	if err != nil {
		return err
	}
	if err := s.sessions.RenewToken(ctx); err != nil {
		return fmt.Errorf("renew session: %w", err)
	}
	s.sessions.Put(ctx, sessionHalf, string(text))
	return s.see(w, r, views.StaffSignInCodeURL(), "")
}

// halfSignedIn is who has given a password; NotFound for nobody, or too long ago.
func (s *Server) halfSignedIn(r *http.Request) (store.StaffMember, half, error) {
	var h half
	if err := json.Unmarshal([]byte(s.sessions.GetString(r.Context(), sessionHalf)), &h); err != nil || !s.now().Before(h.Until) {
		return store.StaffMember{}, h, store.NotFound
	}
	member, err := s.store.StaffByID(r.Context(), h.Staff)
	if err == nil && (oneWay("password", member.PasswordHash) != h.Mark || !member.SecondFactor) {
		err = store.NotFound
	}
	return member, h, err
}

func (s *Server) getCode(w http.ResponseWriter, r *http.Request) error {
	if _, _, err := s.halfSignedIn(r); err == store.NotFound {
		return s.see(w, r, views.StaffSignInURL(), "")
	} else if err != nil {
		return err
	}
	return s.codePage(w, r, http.StatusOK, nil, "")
}

func (s *Server) codePage(w http.ResponseWriter, r *http.Request, status int, errs formErrors, retry string) error {
	return s.render(w, r, status, views.StaffCode(views.StaffCodePage{
		Page:      s.plainStaffPage(r, i18n.T(r.Context(), "account.code.title"), views.StaffSignInCodeURL()),
		ActionURL: views.StaffSignInCodeURL(), Errs: errs.in(r.Context()), RetryAfter: retry, BackURL: views.StaffSignInURL(),
	}))
}

func (s *Server) postCode(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	member, h, err := s.halfSignedIn(r)
	if err == store.NotFound {
		s.sessions.Remove(ctx, sessionHalf)
		return s.see(w, r, views.StaffSignInURL(), "account.code.over")
	}
	if err != nil {
		return err
	}
	typed := f.code()
	if f.bad() {
		return s.codePage(w, r, http.StatusUnprocessableEntity, f.errs, "")
	}
	retry, err := s.tries(r, "code", member.ID)
	if err != nil {
		return err
	}
	if retry > 0 {
		return s.codePage(w, r, http.StatusTooManyRequests, nil, s.limited(w, r, retry))
	}
	left, err := s.takeCodeOrRecovery(ctx, member.ID, typed)
	if err == errCode {
		f.errs.fault(views.FieldCode, "account.err.code")
		return s.codePage(w, r, http.StatusUnprocessableEntity, f.errs, "")
	}
	if err != nil {
		return err
	}
	if left < 0 {
		return s.enter(w, r, member, h.Next)
	}
	if err := s.putFlash(r, "account.recovery.used", "n", left); err != nil {
		return err
	}
	return s.enter(w, r, member, views.StaffFactorURL()) // where new ones are made
}

// code reads a code as it was typed.
func (f *form) code() string {
	typed := f.text(views.FieldCode, 40)
	if typed == "" {
		f.errs.fault(views.FieldCode, "account.err.code.missing")
	}
	return typed
}

// factorForm is a form of the page of the second factor that came back.
type factorForm struct {
	open  string
	errs  formErrors
	retry string
}

func (s *Server) getFactor(w http.ResponseWriter, r *http.Request) error {
	return s.factorPage(w, r, http.StatusOK, factorForm{})
}

func (s *Server) factorPage(w http.ResponseWriter, r *http.Request, status int, form factorForm) error {
	ctx, c := r.Context(), me(r)
	f, err := s.store.SecondFactor(ctx, c.ID)
	if err != nil {
		return err
	}
	v := views.StaffFactorPage{
		Page: s.plainStaffPage(r, i18n.T(ctx, "account.factor"), views.StaffFactorURL()), BackURL: views.StaffAccountURL(), Email: c.Email, State: "off",
		StartURL: views.StaffFactorStartURL(), ConfirmURL: views.StaffFactorConfirmURL(), RecoveryURL: views.StaffFactorRecoveryURL(), OffURL: views.StaffFactorOffURL(),
		Open: form.open, Errs: form.errs.in(ctx), RetryAfter: form.retry,
	}
	switch {
	case f.On:
		v.State, v.Codes, v.Few = "on", i18n.T(ctx, "account.factor.codes", "n", f.Codes), f.Codes <= 3
	case f.Pending != "":
		v.State, v.Secret = "pending", inGroups(f.Pending)
		address, err := factorURL(f.Pending, c.Email)
		if err != nil {
			return err
		}
		code, err := qrcode.New(address, qrcode.Medium)
		if err != nil {
			return fmt.Errorf("qr code: %w", err)
		}
		code.DisableBorder = true
		v.QR = code.Bitmap()
	}
	return s.render(w, r, status, views.StaffFactor(v))
}

// inGroups writes a secret so that it can be typed.
func inGroups(text string) string {
	var b strings.Builder
	for i, c := range text {
		if i > 0 && i%4 == 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// postFactorStart makes a secret and shows it. A GET would make one each time
// somebody looks.
func (s *Server) postFactorStart(w http.ResponseWriter, r *http.Request) error {
	if _, err := s.form(w, r); err != nil {
		return err
	}
	raw := make([]byte, factorSecret)
	if _, err := io.ReadFull(rand.Reader, raw); err != nil {
		return err
	}
	err := s.store.StartSecondFactor(r.Context(), me(r).ID, factorText.EncodeToString(raw))
	if err != nil && err != store.Over { // it is on: the page says so
		return err
	}
	return s.see(w, r, views.StaffFactorURL(), "")
}

func (s *Server) postFactorConfirm(w http.ResponseWriter, r *http.Request) error {
	ctx, c := r.Context(), me(r)
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	typed := f.code()
	if f.bad() {
		return s.factorPage(w, r, http.StatusUnprocessableEntity, factorForm{open: "confirm", errs: f.errs})
	}
	if done, err := s.factorLimited(w, r, "confirm"); done || err != nil {
		return err
	}
	factor, err := s.store.SecondFactor(ctx, c.ID)
	if err != nil {
		return err
	}
	if factor.Pending == "" || factor.On {
		return s.see(w, r, views.StaffFactorURL(), "account.factor.again")
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return err
	}
	step, ok, err := codeStep(factor.Pending, asCode(typed), now)
	if err != nil {
		return err
	}
	if !ok {
		f.errs.fault(views.FieldCode, "account.err.code")
		return s.factorPage(w, r, http.StatusUnprocessableEntity, factorForm{open: "confirm", errs: f.errs})
	}
	codes, err := s.store.ConfirmSecondFactor(ctx, c.ID, factor.Pending, step)
	if err == store.Over {
		return s.see(w, r, views.StaffFactorURL(), "account.factor.again")
	}
	if err != nil {
		return err
	}
	return s.codesPage(w, r, "account.codes.on", codes)
}

// codesPage answers a press with recovery codes. They are kept nowhere that they
// could be read again: not in the session, and no page has them.
func (s *Server) codesPage(w http.ResponseWriter, r *http.Request, title i18n.Key, codes []string) error {
	page := s.plainStaffPage(r, i18n.T(r.Context(), title), views.StaffFactorURL())
	page.LanguageAction = "" // it would lead away from what can't be shown again
	return s.render(w, r, http.StatusOK, views.StaffCodes(views.StaffCodesPage{Page: page, Title: page.Title, Codes: codes, BackURL: views.StaffFactorURL()}))
}

// factorLimited counts a try of who is signed in, and answers where there were too many.
func (s *Server) factorLimited(w http.ResponseWriter, r *http.Request, open string) (bool, error) {
	retry, err := s.tries(r, "code", me(r).ID)
	if err != nil || retry == 0 {
		return false, err
	}
	return true, s.factorPage(w, r, http.StatusTooManyRequests, factorForm{open: open, retry: s.limited(w, r, retry)})
}

// postFactorRecovery makes new recovery codes for who has the app at hand.
func (s *Server) postFactorRecovery(w http.ResponseWriter, r *http.Request) error {
	ctx, c := r.Context(), me(r)
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	typed := f.code()
	if f.bad() {
		return s.factorPage(w, r, http.StatusUnprocessableEntity, factorForm{open: "recovery", errs: f.errs})
	}
	if done, err := s.factorLimited(w, r, "recovery"); done || err != nil {
		return err
	}
	if err := s.takeCode(ctx, c.ID, asCode(typed)); err == errCode {
		f.errs.fault(views.FieldCode, "account.err.code")
		return s.factorPage(w, r, http.StatusUnprocessableEntity, factorForm{open: "recovery", errs: f.errs})
	} else if err != nil {
		return err
	}
	codes, err := s.store.RenewRecoveryCodes(ctx, c.ID)
	if err == store.Over {
		return s.see(w, r, views.StaffFactorURL(), "account.factor.again")
	}
	if err != nil {
		return err
	}
	return s.codesPage(w, r, "account.codes.title", codes)
}

// postFactorOff asks for both factors: neither a tablet that was left signed in
// nor a telephone that was found turns it off.
func (s *Server) postFactorOff(w http.ResponseWriter, r *http.Request) error {
	ctx, c := r.Context(), me(r)
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	password, typed := f.secret(views.FieldPassword), f.code()
	if password == "" {
		f.errs.fault(views.FieldPassword, "staff.signin.err.password")
	}
	back := factorForm{open: "off", errs: f.errs}
	if f.bad() {
		return s.factorPage(w, r, http.StatusUnprocessableEntity, back)
	}
	if done, err := s.factorLimited(w, r, "off"); done || err != nil {
		return err
	}
	if ok, err := s.knowsPassword(r, password); err != nil {
		return err
	} else if !ok {
		f.errs.fault(views.FieldPassword, "account.err.password.wrong")
		return s.factorPage(w, r, http.StatusUnprocessableEntity, back)
	}
	if _, err := s.takeCodeOrRecovery(ctx, c.ID, typed); err == errCode {
		f.errs.fault(views.FieldCode, "account.err.code")
		return s.factorPage(w, r, http.StatusUnprocessableEntity, back)
	} else if err != nil {
		return err
	}
	if err := s.store.EndSecondFactor(ctx, c.ID); err != nil {
		return err
	}
	return s.see(w, r, views.StaffFactorURL(), "account.factor.off.done")
}
