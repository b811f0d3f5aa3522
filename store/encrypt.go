package store

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"fmt"
	"io"
)

// Secrets that have to be readable to us stand encrypted in the tables: by
// AES-256-GCM, under a key derived from the server secret for each use, and bound
// to the row that they belong to, so that one copied into another row opens nothing.

func (s *Store) cipher(key string) (cipher.AEAD, error) {
	block, err := aes.NewCipher(s.mac(key))
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// encrypt hides a text. The nonce, which is random, stands before it.
func (s *Store) encrypt(key string, bound []byte, text string) ([]byte, error) {
	aead, err := s.cipher(key)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, aead.NonceSize())
	if _, err := io.ReadFull(rand.Reader, nonce); err != nil {
		return nil, err
	}
	return aead.Seal(nonce, nonce, []byte(text), bound), nil
}

// decrypt gives the text back; it fails under another server secret and for another row.
func (s *Store) decrypt(key string, bound, sealed []byte) (string, error) {
	aead, err := s.cipher(key)
	if err != nil {
		return "", err
	}
	if len(sealed) < aead.NonceSize() {
		return "", fmt.Errorf("%s: what is stored is too short", key)
	}
	plain, err := aead.Open(nil, sealed[:aead.NonceSize()], sealed[aead.NonceSize():], bound)
	if err != nil {
		return "", fmt.Errorf("%s: not readable with this server's secret: %w", key, err)
	}
	return string(plain), nil
}
