package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"holdfast/store"
)

// Mailbox is where mails go while no mail server is configured: a folder with a
// file per message, holding the bytes that would have been sent. It is for
// development, and lets a newcomer follow the links.
type Mailbox struct {
	dir string
}

// NewMailbox uses the folder mail in the data directory.
func NewMailbox(dataDir string) *Mailbox { return &Mailbox{dir: filepath.Join(dataDir, "mail")} }

// Send writes the mail as a file that is there as a whole or not at all. A
// second sending of the same message replaces the first.
func (b *Mailbox) Send(_ context.Context, m Mail) (err error) {
	if !store.ValidID(m.ID) {
		return &Refusal{Permanent: true, Reason: "the message has no id that could name a file"}
	}
	raw, err := m.raw()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return fmt.Errorf("mailbox: %w", err)
	}
	file, err := os.CreateTemp(b.dir, ".new-*") // 0600
	if err != nil {
		return fmt.Errorf("mailbox: %w", err)
	}
	_, err = file.Write(raw)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), b.path(m.ID))
	}
	if err != nil {
		return fmt.Errorf("mailbox: %w", errors.Join(err, os.Remove(file.Name())))
	}
	return nil
}

func (b *Mailbox) path(id string) string { return filepath.Join(b.dir, id+".eml") }
