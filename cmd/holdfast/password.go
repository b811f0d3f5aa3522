package main

import (
	"fmt"

	"github.com/alexedwards/argon2id"
)

// matchesPassword reports whether a stored hash was made of the password.
func matchesPassword(password, hash string) (bool, error) {
	same, err := argon2id.ComparePasswordAndHash(password, hash)
	if err != nil {
		return false, fmt.Errorf("compare a password: %w", err)
	}
	return same, nil
}
