package views

import (
	"time"

	"holdfast/views/i18n"
)

// Page is what every page has, whatever stands on it. The language and the
// script nonce come from the context (i18n.WithLang, templ.WithNonce).
type Page struct {
	Title  string // without the venue's name, which the layout adds
	Tenant Tenant
	Flash  *Flash // said once, above the page; nil for none

	// LanguageAction takes the POST (fields lang, return) that changes the
	// language; empty hides the switch.
	LanguageAction string
	// Return is the path, with query, to which the language switch comes back.
	Return string

	// Staff says that this is a page for staff: their styles are loaded, and it
	// is not indexed. Their head is part of the staff components.
	Staff bool
	// Class, if set, is put on <main>.
	Class string
	// Secret says that the path holds a token: not indexed, no referrer.
	Secret bool

	// Description says what the page is about, for search engines and previews.
	Description string
	// Canonical is the one absolute address of this page, whatever filters it
	// was asked for with; empty on pages that are nobody else's.
	Canonical string
	// Alternates are the absolute addresses of the same page in each language.
	Alternates []Alternate
}

// Alternate is the same page in another language.
type Alternate struct {
	Lang string // of hreflang: ja, en, x-default
	URL  string // absolute
}

// Tenant is what the chrome shows of a venue. The zero Tenant is a page of no
// venue (sign-in, an address that nobody has).
type Tenant struct {
	Name       string
	Slug       string
	URL        string // VenueURL
	Phone      string // as people write it
	Email      string
	Address    string
	MapURL     string
	PrivacyURL string
	LegalURL   string
	Zone       string // "日本時間（UTC+9）", shown in the footer
}

// FlashKind is the tone of a flash or of a banner.
type FlashKind string

// The tones. Refused is for a lost race and for a step that is no longer
// possible: calm, never red. Bad is for real errors.
const (
	FlashDone    FlashKind = "done"
	FlashInfo    FlashKind = "info"
	FlashRefused FlashKind = "refused"
	FlashBad     FlashKind = "bad"
)

// Flash is a finished sentence about what has just happened.
type Flash struct {
	Kind FlashKind
	Text string
}

// Link is a text with a path.
type Link struct {
	Text string
	URL  string
}

// When is a written time, in pieces that never break inside.
type When struct {
	Date  string // 2026年10月8日（木）
	Time  string // 18:30〜19:30
	Zone  string // 日本時間（UTC+9）; empty where the reader's zone is the venue's
	Start string // RFC 3339, for <time datetime>
}

// WhenRange writes the time of a slot. withZone adds the name of the zone.
func WhenRange(lang string, start, end time.Time, loc *time.Location, withZone bool) When {
	c := i18n.For(lang)
	w := When{
		Date:  c.Date(start, loc),
		Time:  c.TimeRange(start, end, loc),
		Start: start.In(loc).Format(time.RFC3339),
	}
	if withZone {
		w.Zone = c.ZoneLong(start, loc)
	}
	return w
}

// WhenShort is WhenRange without the year, for lists of the near future.
func WhenShort(lang string, start, end time.Time, loc *time.Location) When {
	w := WhenRange(lang, start, end, loc, false)
	w.Date = i18n.For(lang).DateShort(start, loc)
	return w
}

// Deadline is a time until which somebody may act: absolute, and as seconds
// left when the page was made, so that the visitor's clock plays no part.
type Deadline struct {
	Text        string // 14:35, or with the date where that is another day
	At          string // RFC 3339, goes into data-shown-until
	SecondsLeft int    // 0 or less: over
	Total       int    // seconds of the whole time, for the bar; 0 hides the bar
}

// Fields of forms. The names are part of the interface.
const (
	FieldPartySize      = "party_size"
	FieldName           = "name"
	FieldKana           = "kana"
	FieldEmail          = "email"
	FieldPhone          = "phone"
	FieldNote           = "note"
	FieldIdempotencyKey = "idempotency_key"
	FieldVersion        = "version"
	FieldTermsVersion   = "terms_version"
	FieldCapacity       = "capacity"
	FieldReason         = "reason"
	FieldTargetSlot     = "target_slot"
	FieldPassword       = "password"
	FieldLang           = "lang"
	FieldReturn         = "return"
	FieldReservation    = "reservation"
	FieldQuery          = "q"
)

// Errors are finished sentences by field name; the empty name is an error of
// the whole form.
type Errors map[string]string

// Field is one labelled control of a form.
type Field struct {
	ID       string // unique on the page; empty: the name
	Name     string
	Label    string
	Type     string // text, email, tel, number, password, search; textarea
	Value    string
	Error    string // finished sentence, empty for none
	Hint     string
	Required bool
	Optional bool // says so beside the label

	Autocomplete string
	InputMode    string
	EnterKeyHint string
	Lang         string
	Max          int // maxlength in characters; 0 for none
	MinNumber    int // of a number field
	MaxNumber    int
	Autofocus    bool
}

// Option is one choice of a select.
type Option struct {
	Value    string
	Text     string
	Selected bool
	Disabled bool
}

// Hidden is one hidden field.
type Hidden struct {
	Name  string
	Value string
}

// Button is the button that sends a form.
type Button struct {
	Text    string
	Working string // what it says while it works; empty: the usual words
	Kind    ButtonKind
	Name    string // of the button; empty for none
	Value   string
	Wide    bool
}

// ButtonKind is how loud a button is.
type ButtonKind string

// The kinds: one Primary a page; Equal for two choices of the same weight;
// Danger destroys.
const (
	ButtonPrimary ButtonKind = "primary"
	ButtonPlain   ButtonKind = "plain"
	ButtonEqual   ButtonKind = "equal"
	ButtonQuiet   ButtonKind = "quiet"
	ButtonDanger  ButtonKind = "danger"
)
