package main

import (
	"fmt"

	"github.com/alexedwards/argon2id"
)

// hashPassword makes what is stored of a password, as the sign-in page does.
func hashPassword(password string) (string, error) {
	hash, err := argon2id.CreateHash(password, &argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32})
	if err != nil {
		return "", fmt.Errorf("hash a password: %w", err)
	}
	return hash, nil
}

func matchesPassword(password, hash string) (bool, error) {
	same, err := argon2id.ComparePasswordAndHash(password, hash)
	if err != nil {
		return false, fmt.Errorf("compare a password: %w", err)
	}
	return same, nil
}
