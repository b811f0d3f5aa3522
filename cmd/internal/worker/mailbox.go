package worker

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	netmail "net/mail"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

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
	msg, err := m.message()
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
	_, err = msg.WriteTo(file)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), b.path(m.ID))
	}
	if err != nil {
		return fmt.Errorf("mailbox: %w", errors.Join(err, os.Remove(file.Name())))
	}
	return nil
}

func (b *Mailbox) path(id string) string { return filepath.Join(b.dir, id+".eml") }

// MailboxEntry is a mail as a reader of the mailbox sees it.
type MailboxEntry struct {
	ID      string // of the outbox message
	At      time.Time
	From    string
	To      string
	Subject string
	Text    string
}

// List reads the newest mails, at most limit, the newest first. A mailbox that
// was never written to is empty.
func (b *Mailbox) List(limit int) ([]MailboxEntry, error) {
	files, err := os.ReadDir(b.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("mailbox: %w", err)
	}
	type found struct {
		id string
		at time.Time
	}
	var all []found
	for _, f := range files {
		id, isMail := strings.CutSuffix(f.Name(), ".eml")
		if !isMail || !store.ValidID(id) {
			continue
		}
		info, err := f.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed by hand meanwhile
		}
		if err != nil {
			return nil, fmt.Errorf("mailbox: %w", err)
		}
		all = append(all, found{id, info.ModTime()})
	}
	slices.SortFunc(all, func(a, b found) int {
		if c := b.at.Compare(a.at); c != 0 {
			return c
		}
		return strings.Compare(a.id, b.id)
	})
	var entries []MailboxEntry
	for _, f := range all[:min(limit, len(all))] {
		entry, err := b.Read(f.id)
		if errors.Is(err, store.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry)
	}
	return entries, nil
}

// Read reads one mail by the id of its outbox message; store.NotFound if it is not there.
func (b *Mailbox) Read(id string) (MailboxEntry, error) {
	if !store.ValidID(id) {
		return MailboxEntry{}, store.NotFound
	}
	raw, err := os.ReadFile(b.path(id))
	if errors.Is(err, fs.ErrNotExist) {
		return MailboxEntry{}, store.NotFound
	}
	if err != nil {
		return MailboxEntry{}, fmt.Errorf("mailbox: %w", err)
	}
	msg, err := netmail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return MailboxEntry{}, fmt.Errorf("mailbox: %s: %w", id, err)
	}
	var words mime.WordDecoder
	entry := MailboxEntry{ID: id}
	for _, header := range []struct {
		name string
		into *string
	}{{"From", &entry.From}, {"To", &entry.To}, {"Subject", &entry.Subject}} {
		if *header.into, err = words.DecodeHeader(msg.Header.Get(header.name)); err != nil {
			return MailboxEntry{}, fmt.Errorf("mailbox: %s: %w", id, err)
		}
	}
	if entry.At, err = msg.Header.Date(); err != nil {
		return MailboxEntry{}, fmt.Errorf("mailbox: %s: %w", id, err)
	}
	body := msg.Body
	if strings.EqualFold(msg.Header.Get("Content-Transfer-Encoding"), "base64") {
		body = base64.NewDecoder(base64.StdEncoding, msg.Body)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return MailboxEntry{}, fmt.Errorf("mailbox: %s: %w", id, err)
	}
	entry.Text = strings.ReplaceAll(string(text), "\r\n", "\n")
	return entry, nil
}
