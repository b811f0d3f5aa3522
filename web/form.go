package web

import (
	"context"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// form is what was sent, raw, with what is wrong with it so far. A handler
// reads its fields once, through text, lines and number, and then asks bad.
type form struct {
	values url.Values
	errs   formErrors
}

// formErrors are messages by field; the empty field is the whole form.
type formErrors map[string]i18n.Message

// form reads the body of a POST. What is no form at all is a problem: 400, 413
// or 415. What is wrong with a field stands beside the field later.
func (s *Server) form(w http.ResponseWriter, r *http.Request) (*form, error) {
	kind := r.Header.Get("Content-Type")
	if kind == "" && r.ContentLength == 0 {
		return &form{values: url.Values{}, errs: formErrors{}}, nil
	}
	media, params, err := mime.ParseMediaType(kind)
	if err != nil || media != "application/x-www-form-urlencoded" {
		return nil, errMedia
	}
	if set := params["charset"]; set != "" && !strings.EqualFold(set, "utf-8") {
		return nil, errMedia
	}
	r.Body = http.MaxBytesReader(w, r.Body, bodyLimit)
	if err := r.ParseForm(); err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			return nil, errTooLarge
		}
		if ctxErr := r.Context().Err(); ctxErr != nil {
			return nil, ctxErr
		}
		return nil, errBadRequest
	}
	return &form{values: r.PostForm, errs: formErrors{}}, nil
}

// formFor reads what a press is about and then its form: whoever may not see the
// subject learns nothing of what its form would want.
func formFor[T any](s *Server, w http.ResponseWriter, r *http.Request, subject func(*http.Request) (T, error)) (*form, T, error) {
	about, err := subject(r)
	if err != nil {
		return nil, about, err
	}
	f, err := s.form(w, r)
	return f, about, err
}

// bad reports whether a field was wrong.
func (f *form) bad() bool { return len(f.errs) > 0 }

// fault notes what is wrong with a field; the first fault of a field stays.
func (e formErrors) fault(field string, key i18n.Key, args ...any) {
	if _, there := e[field]; !there {
		e[field] = i18n.Msg(key, args...)
	}
}

// text reads a field of one line, trimmed, of at most longest characters.
func (f *form) text(field string, longest int) string { return f.read(field, longest, false) }

// lines reads a field of several lines.
func (f *form) lines(field string, longest int) string { return f.read(field, longest, true) }

func (f *form) read(field string, longest int, multiline bool) string {
	all := f.values[field]
	if len(all) == 0 {
		return ""
	}
	if len(all) > 1 {
		f.errs.fault(field, "form.err.repeated")
	}
	value := all[0]
	if !utf8.ValidString(value) {
		f.errs.fault(field, "form.err.characters")
		value = strings.ToValidUTF8(value, "")
	}
	clean := strings.Map(func(c rune) rune {
		switch {
		case multiline && (c == '\n' || c == '\r'):
			return c
		case c == '\t':
			return ' '
		case unicode.IsControl(c):
			return -1
		default:
			return c
		}
	}, value)
	if utf8.RuneCountInString(clean) != utf8.RuneCountInString(value) {
		f.errs.fault(field, "form.err.characters")
	}
	clean = strings.TrimSpace(clean)
	// Browsers count a line break as one character and send two.
	if n := utf8.RuneCountInString(strings.ReplaceAll(clean, "\r\n", "\n")); n > longest {
		f.errs.fault(field, "form.err.too_long", "n", longest)
	}
	return clean
}

// number reads a whole number from least to most. An empty or wrong one is a
// fault of the field with the given text; its value is then least-1.
func (f *form) number(field string, least, most int, fault i18n.Key) int {
	text := store.NormalizeText(f.text(field, 20))
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		f.errs.fault(field, fault)
		return least - 1
	}
	return n
}

// terms reads the version of the terms as the page showed it. One that is
// missing, sent twice or no number is no version that a slot ever has: the step
// then says that the terms are not what was shown.
func (f *form) terms() int {
	n, err := termsVersion(f.text(views.FieldTermsVersion, 40))
	if _, bad := f.errs[views.FieldTermsVersion]; bad || err != nil {
		return -1
	}
	return n
}

// termsVersion reads a version of terms, within what the database can compare.
func termsVersion(text string) (int, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	return int(n), err
}

// version reads the version of a slot as the page showed it; nil where the form
// names none, and one that no slot has where it is no number.
func (f *form) version() *int64 {
	text := f.text(views.FieldVersion, 40)
	if text == "" {
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		n = -1
	}
	return &n
}

// in gives the errors as finished sentences.
func (e formErrors) in(ctx context.Context) views.Errors {
	if len(e) == 0 {
		return nil
	}
	out := views.Errors{}
	for field, message := range e {
		out[field] = message.In(ctx)
	}
	return out
}

// The longest texts of a contact, in characters; the forms say the same to the browser.
const (
	longestName  = 100
	longestEmail = 254
	longestPhone = 40
	longestNote  = 1000
	longestKey   = 200
)

// contactForm is who comes, as typed.
type contactForm struct {
	Name, Kana, Email, Phone, Note string
	answers                        typedAnswers
	correcting                     bool // into the form of a booking, which has one already
}

// empty reports whether nothing was typed.
func (c contactForm) empty() bool {
	return c.Name == "" && c.Kana == "" && c.Email == "" && c.Phone == "" && c.Note == "" && len(c.answers.values) == 0
}

func decodeContact(f *form) contactForm {
	return contactForm{
		Name: f.text(views.FieldName, longestName), Kana: f.text(views.FieldKana, longestName), Email: f.text(views.FieldEmail, longestEmail),
		Phone: f.text(views.FieldPhone, longestPhone), Note: f.lines(views.FieldNote, longestNote),
		answers: decodeAnswers(f),
	}
}

// needs is what a contact must have.
type needs struct {
	email, kana, phone bool
	region             string // of a telephone number without a country
	questions          []store.Question
}

func needsOf(p store.Policies, t store.Tenant) needs {
	return needs{email: true, kana: p.KanaRequired, phone: p.PhoneRequired, region: region(t)}
}

// contact checks and normalises what was typed.
func (c contactForm) contact(errs formErrors, n needs, locale string) store.Contact {
	out := store.Contact{
		Name: store.NormalizeName(c.Name), Kana: store.NormalizeKana(c.Kana), Note: store.NormalizeText(c.Note), Locale: locale,
	}
	if out.Name == "" {
		errs.fault(views.FieldName, "form.err.name")
	}
	switch {
	case out.Kana == "" && n.kana:
		errs.fault(views.FieldKana, "form.err.kana_missing")
	case !isKana(out.Kana):
		errs.fault(views.FieldKana, "form.err.kana")
	}
	var err error
	switch {
	case c.Email == "" && n.email:
		errs.fault(views.FieldEmail, "form.err.email_missing")
	case c.Email != "":
		if out.Email, err = store.NormalizeEmail(c.Email); err != nil {
			errs.fault(views.FieldEmail, "form.err.email")
		}
	}
	switch {
	case c.Phone == "" && n.phone:
		errs.fault(views.FieldPhone, "form.err.phone_missing")
	case c.Phone != "":
		if out.Phone, err = store.NormalizePhone(c.Phone, n.region); err != nil {
			errs.fault(views.FieldPhone, "form.err.phone")
		}
	}
	out.Answers = c.answers.check(errs, n.questions)
	return out
}

// isKana reports whether a normalised reading has only katakana and what stands
// between the parts of a name. Latin letters are allowed: not everybody has a
// reading in kana, and the roster sorts them too.
func isKana(reading string) bool {
	for _, c := range reading {
		if !unicode.In(c, unicode.Katakana, unicode.Latin) && !strings.ContainsRune(" 　・ー-'.’＝゠", c) {
			return false
		}
	}
	return true
}

// view gives the form back as it was typed.
func (c contactForm) view(ctx context.Context, n needs, t store.Tenant, errs formErrors) views.ContactForm {
	return views.ContactForm{
		Name: c.Name, Kana: c.Kana, Email: c.Email, Phone: c.Phone, Note: c.Note,
		NeedKana: n.kana, NeedPhone: n.phone, NeedEmail: n.email,
		HideKana: t.TimeZone != "Asia/Tokyo" && !n.kana, Questions: c.answers.view(ctx, n.questions),
		Errs: errs.in(ctx),
	}
}

// region is the country of a telephone number that names none.
func region(t store.Tenant) string {
	switch zone := t.TimeZone; {
	case zone == "Asia/Tokyo", zone == "Japan":
		return "JP"
	case strings.HasPrefix(zone, "America/"), strings.HasPrefix(zone, "US/"):
		return "US"
	case strings.HasPrefix(zone, "Australia/"):
		return "AU"
	default:
		if country, ok := zoneRegions[zone]; ok {
			return country
		}
		return "GB"
	}
}

var zoneRegions = map[string]string{
	"Europe/Paris": "FR", "Europe/Berlin": "DE", "Europe/Madrid": "ES", "Europe/Rome": "IT", "Europe/Amsterdam": "NL", "Europe/Zurich": "CH",
	"Europe/Vienna": "AT", "Europe/Brussels": "BE", "Europe/Lisbon": "PT", "Europe/Dublin": "IE", "Europe/Stockholm": "SE", "Europe/Oslo": "NO",
	"Europe/Copenhagen": "DK", "Europe/Helsinki": "FI", "Europe/Warsaw": "PL", "Asia/Seoul": "KR", "Asia/Taipei": "TW", "Asia/Shanghai": "CN",
	"Asia/Hong_Kong": "HK", "Asia/Singapore": "SG", "Asia/Bangkok": "TH", "Asia/Kolkata": "IN", "Pacific/Auckland": "NZ", "Pacific/Honolulu": "US",
}
