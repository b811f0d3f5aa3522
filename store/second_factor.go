package store

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"strings"

	"github.com/jackc/pgx/v5"
)

// A second factor is a secret that the person's app shares with us, and from
// which both work out a code for each half minute (RFC 6238). The secret has to
// be readable to us, so it can't be hashed: it is encrypted by AES-256-GCM with
// a key derived from the server secret, bound to the person. This protects
// against a database that was copied or a backup that was lost, and against
// swapping secrets between rows. It does not protect against somebody who has
// the server secret as well, and a server with another secret can't read it.
//
// Recovery codes stand in for the app, each once. They are kept as HMAC of the
// person and the code under the server secret.

// SecondFactor is how far a person has come with it.
type SecondFactor struct {
	On      bool
	Secret  string // base32, of the app in use; empty where it is off
	Pending string // base32, shown to be scanned and not yet confirmed
	Step    int64  // of the last code that was taken, in half minutes since 1970
	Codes   int    // recovery codes that are left
}

// RecoveryCodes is how many recovery codes are made at a time.
const RecoveryCodes = 10

const factorKey = "second factor key"

func (s *Store) sealFactor(staffID, secret string) ([]byte, error) {
	return s.encrypt(factorKey, []byte(staffID), secret)
}

// openFactor gives the secret, empty where there is none.
func (s *Store) openFactor(staffID string, sealed []byte) (string, error) {
	if len(sealed) == 0 {
		return "", nil
	}
	return s.decrypt(factorKey, []byte(staffID), sealed)
}

const secondFactorSQL = `-- second factor
SELECT totp_secret, totp_pending, totp_step, cardinality(recovery) FROM staff WHERE id = @staff`

// SecondFactor reads the second factor of a person; NotFound if there is no such person.
func (s *Store) SecondFactor(ctx context.Context, staffID string) (SecondFactor, error) {
	var f SecondFactor
	var secret, pending []byte
	err := s.db.QueryRow(ctx, secondFactorSQL, pgx.StrictNamedArgs{"staff": staffID}).Scan(&secret, &pending, &f.Step, &f.Codes)
	if err != nil {
		return SecondFactor{}, classify(err)
	}
	f.On = len(secret) > 0
	if f.Secret, err = s.openFactor(staffID, secret); err != nil {
		return SecondFactor{}, err
	}
	f.Pending, err = s.openFactor(staffID, pending)
	return f, err
}

const startFactorSQL = `-- start a second factor
UPDATE staff SET totp_pending = @sealed WHERE id = @staff AND totp_secret IS NULL`

// StartSecondFactor keeps a secret until ConfirmSecondFactor. Over: it is on already.
func (s *Store) StartSecondFactor(ctx context.Context, staffID, secret string) error {
	sealed, err := s.sealFactor(staffID, secret)
	if err != nil {
		return err
	}
	return s.changeStaff(ctx, startFactorSQL, pgx.StrictNamedArgs{"staff": staffID, "sealed": sealed})
}

// The pending secret is compared as it is stored: a start in another window
// makes a new one, and a code of the old one must not turn the new one on.
const confirmFactorSQL = `-- confirm a second factor
UPDATE staff SET totp_secret = totp_pending, totp_pending = NULL, totp_step = @step, recovery = @recovery
WHERE id = @staff AND totp_secret IS NULL AND totp_pending = @sealed`

const pendingFactorSQL = `-- pending second factor
SELECT totp_pending FROM staff WHERE id = @staff`

// ConfirmSecondFactor turns the second factor on: the app has shown a code of
// the pending secret, that of the step. It gives the recovery codes, the only
// time that they can be read. Over: it is on already, or another secret is pending.
func (s *Store) ConfirmSecondFactor(ctx context.Context, staffID, pending string, step int64) ([]string, error) {
	var sealed []byte
	if err := s.db.QueryRow(ctx, pendingFactorSQL, pgx.StrictNamedArgs{"staff": staffID}).Scan(&sealed); err != nil {
		return nil, classify(err)
	}
	if now, err := s.openFactor(staffID, sealed); err != nil || now == "" || now != pending {
		return nil, errors.Join(err, Over)
	}
	codes, hashes := s.newRecoveryCodes(staffID)
	err := s.changeStaff(ctx, confirmFactorSQL, pgx.StrictNamedArgs{"staff": staffID, "step": step, "recovery": hashes, "sealed": sealed})
	if err != nil {
		return nil, err
	}
	return codes, nil
}

const useCodeSQL = `-- use a code of the second factor
UPDATE staff SET totp_step = @step WHERE id = @staff AND totp_secret IS NOT NULL AND totp_step < @step`

// UseCode takes the code of a step, once. Over: it, or a later one, was taken already.
func (s *Store) UseCode(ctx context.Context, staffID string, step int64) error {
	return s.changeStaff(ctx, useCodeSQL, pgx.StrictNamedArgs{"staff": staffID, "step": step})
}

const useRecoverySQL = `-- use a recovery code
UPDATE staff SET recovery = array_remove(recovery, @hash) WHERE id = @staff AND @hash = ANY(recovery) RETURNING cardinality(recovery)`

// UseRecoveryCode takes a recovery code, once, however it is typed, and tells how
// many are left. Over: it is none, or was used.
func (s *Store) UseRecoveryCode(ctx context.Context, staffID, code string) (int, error) {
	var left int
	err := s.db.QueryRow(ctx, useRecoverySQL, pgx.StrictNamedArgs{"staff": staffID, "hash": s.recoveryHash(staffID, code)}).Scan(&left)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, Over
	}
	return left, classify(err)
}

const renewRecoverySQL = `-- renew recovery codes
UPDATE staff SET recovery = @recovery WHERE id = @staff AND totp_secret IS NOT NULL`

// RenewRecoveryCodes makes new recovery codes and ends the old ones. Over: the second factor is off.
func (s *Store) RenewRecoveryCodes(ctx context.Context, staffID string) ([]string, error) {
	codes, hashes := s.newRecoveryCodes(staffID)
	if err := s.changeStaff(ctx, renewRecoverySQL, pgx.StrictNamedArgs{"staff": staffID, "recovery": hashes}); err != nil {
		return nil, err
	}
	return codes, nil
}

const endFactorSQL = `-- end a second factor
UPDATE staff SET totp_secret = NULL, totp_pending = NULL, recovery = '{}' WHERE id = @staff`

// EndSecondFactor turns the second factor off. The last step stays: a code that
// was used is not taken again should the same secret come back from a backup.
func (s *Store) EndSecondFactor(ctx context.Context, staffID string) error {
	return s.changeStaff(ctx, endFactorSQL, pgx.StrictNamedArgs{"staff": staffID})
}

// changeStaff runs a statement that changes one person or is refused: Over.
func (s *Store) changeStaff(ctx context.Context, sql string, args pgx.StrictNamedArgs) error {
	tag, err := s.db.Exec(ctx, sql, args)
	if err == nil && tag.RowsAffected() == 0 {
		return Over
	}
	return classify(err)
}

// recoveryLength is how many signs a recovery code has: 32^10 are 50 bits.
const recoveryLength = 10

func (s *Store) newRecoveryCodes(staffID string) (codes []string, hashes [][]byte) {
	for range RecoveryCodes {
		b := make([]byte, recoveryLength)
		if _, err := io.ReadFull(rand.Reader, b); err != nil {
			panic(err) // the system's random source never fails on the systems that Go supports
		}
		for i := range b {
			b[i] = numberAlphabet[b[i]&31]
		}
		code := string(b[:recoveryLength/2]) + "-" + string(b[recoveryLength/2:])
		codes, hashes = append(codes, code), append(hashes, s.recoveryHash(staffID, code))
	}
	return codes, hashes
}

func (s *Store) recoveryHash(staffID, code string) []byte {
	plain := strings.Map(func(r rune) rune {
		if strings.ContainsRune(numberAlphabet, r) {
			return r
		}
		return -1
	}, strings.ToUpper(NormalizeText(code)))
	return s.mac("recovery", staffID, plain)
}
