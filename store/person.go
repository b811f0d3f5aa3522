package store

import (
	"errors"
	"net/mail"
	"strings"
	"unicode"

	"github.com/nyaruka/phonenumbers"
	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// Contact is what a customer tells about themselves. All of it is personal
// data: it stands in reservations, waitlist entries and the outbox, nowhere else.
type Contact struct {
	Name   string
	Kana   string
	Email  string // canonical, see NormalizeEmail; empty: nobody to write to
	Phone  string // E.164; empty: unknown
	Note   string
	Locale string // "ja" or "en"
	// Answers to the service's questions, by their id; see Question.Answer.
	Answers map[string]string
}

// The faults of typed text; callers compare them with errors.Is.
var (
	ErrEmail = errors.New("not an e-mail address")
	ErrPhone = errors.New("not a telephone number")
)

// NormalizeText folds width variants (NFKC), trims, and takes out control characters.
func NormalizeText(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' || turns(r) {
			return -1
		}
		return r
	}, strings.ReplaceAll(norm.NFKC.String(text), "\r\n", "\n"))
	return strings.TrimSpace(text)
}

// NormalizeName trims a name and takes out control characters, but keeps its
// characters as typed: people's names are not to be spelled otherwise. A name
// that nobody could see is none.
func NormalizeName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r):
			return ' '
		case turns(r):
			return -1
		default:
			return r
		}
	}, norm.NFC.String(strings.ToValidUTF8(name, "")))
	if strings.IndexFunc(name, func(r rune) bool { return !unicode.IsSpace(r) && !unicode.Is(unicode.Cf, r) }) < 0 {
		return ""
	}
	return strings.Join(strings.Fields(name), " ")
}

// turns reports the characters that force a direction upon what follows, also
// upon what is not theirs. Names written from right to left need none of them.
func turns(r rune) bool { return r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' }

// NormalizeKana gives full-width katakana, whatever width or kana was typed.
func NormalizeKana(kana string) string {
	return strings.Map(func(r rune) rune {
		if (r >= 'ぁ' && r <= 'ゖ') || r == 'ゝ' || r == 'ゞ' {
			return r + 0x60
		}
		return r
	}, NormalizeName(norm.NFKC.String(kana)))
}

// dotsAllowed are the carriers that gave out addresses with dots where RFC 5322
// allows none ("a..b", "a."); these exist and receive mail.
var dotsAllowed = map[string]bool{"docomo.ne.jp": true, "ezweb.ne.jp": true, "au.com": true}

// NormalizeEmail gives the one form in which an address is stored and compared:
// half-width, trimmed, the domain in lower case and ASCII. The local part keeps
// its case for sending; compare people with PersonKey. ErrEmail if it is none.
func NormalizeEmail(typed string) (string, error) {
	address := strings.TrimSpace(norm.NFKC.String(typed))
	at := strings.LastIndexByte(address, '@')
	if at < 1 || len(address) > 254 {
		return "", ErrEmail
	}
	local, domain := address[:at], strings.ToLower(address[at+1:])
	domain, err := idna.Lookup.ToASCII(domain)
	if err != nil || !strings.Contains(domain, ".") || strings.ContainsAny(domain, "[]:") || len(local) > 64 {
		return "", ErrEmail
	}
	judged := local
	if dotsAllowed[domain] {
		if strings.HasPrefix(local, ".") {
			return "", ErrEmail
		}
		judged = strings.Join(strings.FieldsFunc(local, func(r rune) bool { return r == '.' }), ".")
	}
	for _, r := range local {
		if r > unicode.MaxASCII || unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(`"(),:;<>[]\`, r) {
			return "", ErrEmail
		}
	}
	parsed, err := mail.ParseAddress(judged + "@" + domain)
	if err != nil || parsed.Address != judged+"@"+domain {
		return "", ErrEmail
	}
	return local + "@" + domain, nil
}

// PersonKey tells persons apart: the canonical address in lower case. Empty for no address.
func PersonKey(email string) string { return strings.ToLower(email) }

// NormalizePhone gives E.164. A number without a country is one of region (ISO 3166, "JP").
// ErrPhone if it is none that could be dialled.
func NormalizePhone(typed, region string) (string, error) {
	number, err := phonenumbers.Parse(typed, region)
	if err != nil || !phonenumbers.IsValidNumber(number) {
		return "", ErrPhone
	}
	return phonenumbers.Format(number, phonenumbers.E164), nil
}

// FormatPhone shows an E.164 number as people at the venue dial it.
func FormatPhone(e164, region string) string {
	number, err := phonenumbers.Parse(e164, region)
	if err != nil {
		return e164
	}
	if phonenumbers.GetRegionCodeForNumber(number) == region {
		return phonenumbers.Format(number, phonenumbers.NATIONAL)
	}
	return phonenumbers.Format(number, phonenumbers.INTERNATIONAL)
}
