package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// keep gives the secret text of a file in the data directory and makes it on
// first use: readable by its owner only, there as a whole or not at all, and
// the same for processes that start at the same moment.
func keep(dataDir, name string) (string, error) {
	path := filepath.Join(dataDir, name)
	text, err := readKept(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return text, err
	}
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return "", fmt.Errorf("make the data directory: %w", err)
	}
	file, err := os.CreateTemp(dataDir, "."+name+"-*") // 0600
	if err != nil {
		return "", fmt.Errorf("keep %s: %w", name, err)
	}
	_, err = file.WriteString(rand.Text() + rand.Text() + "\n")
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		// A link, unlike a rename, fails where somebody else was first.
		if err = os.Link(file.Name(), path); errors.Is(err, fs.ErrExist) {
			err = nil
		}
	}
	if err = errors.Join(err, os.Remove(file.Name())); err != nil {
		return "", fmt.Errorf("keep %s: %w", name, err)
	}
	return readKept(path)
}

func readKept(path string) (string, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(string(raw))
	if len(text) < 32 {
		return "", fmt.Errorf("%s is damaged: put the old content back, or delete it to have it made anew (without the old secret, the links that it made end)", path)
	}
	return text, nil
}

// secretBytes is what makes the links: the setting, else the kept file.
func (c config) secretBytes() ([]byte, error) {
	if c.Secret != "" {
		return []byte(string(c.Secret)), nil
	}
	text, err := keep(c.DataDir, "secret")
	return []byte(text), err
}

const demoPasswordFile = "demo-password"

// demoPassword is random per installation and kept, so that each start can print it.
func (c config) demoPassword() (string, error) {
	text, err := keep(c.DataDir, demoPasswordFile)
	return typable(text), err
}

// keptDemoPassword is demoPassword where it is kept already, else empty.
func (c config) keptDemoPassword() (string, error) {
	text, err := readKept(filepath.Join(c.DataDir, demoPasswordFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return typable(text), err
}

// typable makes a password short enough to type and long enough (80 bits)
// never to be guessed.
func typable(text string) string {
	if len(text) < 16 {
		return ""
	}
	text = strings.ToLower(text)
	return text[:4] + "-" + text[4:8] + "-" + text[8:12] + "-" + text[12:16]
}
