package pgserver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const (
	temporary = "holdfast-test-"
	memory    = "/dev/shm"
	// enoughMemory is what a run of the tests needs at most, with its write-ahead log; containers often give 64 MB.
	enoughMemory = 2 << 30
)

// InMemory says whether a path lies in the folder that Linux keeps in memory.
func InMemory(path string) bool {
	return path == memory || filepath.Dir(path) != path && InMemory(filepath.Dir(path))
}

// makePrivate makes a folder that this process alone uses, and removes those that killed processes left.
func (s *Server) makePrivate() (string, error) {
	base := os.TempDir()
	if free, ok := freeBytes(memory); ok && free >= enoughMemory {
		base = memory
	}
	if err := removeLeftOver(base); err != nil {
		s.log.Warn("left-over test folders stay", "error", err)
	}
	dir, err := os.MkdirTemp(base, temporary)
	if err != nil && base == memory {
		dir, err = os.MkdirTemp("", temporary)
	}
	if err != nil {
		return "", err
	}
	s.private = dir
	if s.claim, err = tryLock(filepath.Join(dir, "owner")); err != nil {
		return "", fmt.Errorf("mark %s as in use: %w", dir, err)
	}
	return dir, nil
}

func (s *Server) removePrivate() error {
	if s.private == "" {
		return nil
	}
	err := os.RemoveAll(s.private)
	if s.claim != nil {
		err = errors.Join(err, s.claim.Close())
	}
	s.private, s.claim = "", nil
	return err
}

// removeLeftOver removes our own folders whose owner is gone: they lie in memory.
func removeLeftOver(base string) error {
	found, err := filepath.Glob(filepath.Join(base, temporary+"*"))
	if err != nil {
		return err
	}
	for _, dir := range found {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < time.Minute {
			continue // gone already, or so new that its owner may not have marked it yet
		}
		if uid, ok := ownerOf(info); !ok || uid != os.Geteuid() {
			continue
		}
		claim, err := tryLock(filepath.Join(dir, "owner"))
		if errors.Is(err, errLocked) {
			continue
		}
		if err != nil {
			return err
		}
		// An orphaned server is about to end by itself; while it lives its files are in use.
		if st, err := (&Server{folder: filepath.Join(dir, "pg")}).look(); err == nil && !st.alive {
			err = os.RemoveAll(dir)
			if err != nil {
				return errors.Join(err, claim.Close())
			}
		}
		if err := claim.Close(); err != nil {
			return err
		}
	}
	return nil
}
