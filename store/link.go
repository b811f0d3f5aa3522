package store

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
)

// purpose is what a link token opens; each token has one.
type purpose string

const (
	linkReservation purpose = "reservation"
	linkEntry       purpose = "waitlist"
	linkOffer       purpose = "offer"
	linkEmail       purpose = "email"
	linkAddress     purpose = "address" // added to links in mails: the reader has the mailbox
	linkInvitation  purpose = "staff invitation"
	linkReset       purpose = "staff reset"
	linkJoin        purpose = "join" // not a link: names the entry that a form's key stands for
)

var tokenEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// tokenLength is that of 20 bytes (160 bits) in base32.
const tokenLength = 32

// token derives the secret of a link. It is not stored: the row keeps its hash
// and the generation, so that a later mail carries the same link, a raised
// generation revokes it, and a stolen table opens nothing.
func (s *Store) token(p purpose, tenant, id string, generation int) string {
	return tokenEncoding.EncodeToString(s.mac(string(p), tenant, id, fmt.Sprint(generation))[:20])
}

func (s *Store) mac(parts ...string) []byte {
	m := hmac.New(sha256.New, s.secret)
	for _, part := range parts {
		// The length in front keeps ("ab", "c") and ("a", "bc") apart.
		fmt.Fprintf(m, "%d:%s", len(part), part)
	}
	return m.Sum(nil)
}

func tokenHash(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// validToken keeps what can't be a token away from the database.
func validToken(token string) bool {
	return len(token) == tokenLength && strings.Trim(token, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

// ValidToken reports whether text has the form of a link token.
func ValidToken(text string) bool { return validToken(text) }

// SecretFingerprint tells two server secrets apart without telling either.
func SecretFingerprint(secret []byte) string {
	sum := sha256.Sum256(append([]byte("holdfast fingerprint\x00"), secret...))
	return hex.EncodeToString(sum[:8])
}

// newID makes a random UUID (RFC 9562, version 4). Made here and not by the
// database, because the hash of a row's link is stored with the row.
func newID() string {
	var b [16]byte
	if _, err := io.ReadFull(rand.Reader, b[:]); err != nil {
		panic(err) // the system's random source never fails on the systems that Go supports
	}
	return formatID(b)
}

func formatID(b [16]byte) string {
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// ValidID reports whether id has the form of an id. What comes from outside is
// asked first: a malformed id is as absent as an unknown one.
func ValidID(id string) bool {
	if len(id) != 36 {
		return false
	}
	for i, c := range []byte(id) {
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case (c < '0' || c > '9') && (c < 'a' || c > 'f'):
			return false
		}
	}
	return true
}

// numberAlphabet has no signs that are mistaken for each other on the phone.
const numberAlphabet = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"

// numberLength is how many signs a number has.
const numberLength = 7

// newNumber makes the short reservation number that people read to each other.
// 32^7 are enough that a clash, which the unique index turns into one more try, is rare.
func newNumber() string {
	b := make([]byte, numberLength)
	if _, err := io.ReadFull(rand.Reader, b); err != nil {
		panic(err)
	}
	for i := range b {
		b[i] = numberAlphabet[b[i]&31]
	}
	return string(b)
}
