package web

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/http"
	"net/mail"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// How many messages a page shows at first, and at most.
const (
	messagesShown = 100
	messagesMost  = 500
)

// messageStates are the filters of the list, in the order in which they are shown.
var messageStates = []store.MessageState{"", store.MessageFailed, store.MessagePending, store.MessageSending, store.MessageSent, store.MessageObsolete}

func (s *Server) getMessages(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	state := store.MessageState(r.URL.Query().Get("state"))
	if !slices.Contains(messageStates, state) {
		state = ""
	}
	limit := messagesShown
	if r.URL.Query().Get("older") == "1" {
		limit = messagesMost
	}
	messages, err := s.store.Messages(ctx, store.MessageQuery{TenantID: t.ID, State: state, Limit: limit})
	if err != nil {
		return err
	}
	totals, err := s.store.MessageTotals(ctx, t.ID)
	if err != nil {
		return err
	}
	var v views.StaffMessagesPage
	for _, filter := range messageStates {
		f := views.StaffFilter{Text: i18n.T(ctx, "staff.messages.all"), URL: messagesURL(t, filter, false), Current: filter == state}
		if filter == "" {
			for _, n := range totals {
				f.Count += n
			}
		} else {
			f.Text, f.Count = i18n.T(ctx, i18n.Key("staff.state.mail_"+string(filter))), totals[filter]
		}
		v.Filters = append(v.Filters, f)
	}
	slots, err := s.slotsOf(r, messages)
	if err != nil {
		return err
	}
	if v.Items, err = s.messageViews(r, messages, slots); err != nil {
		return err
	}
	if limit == messagesShown && len(messages) == limit {
		v.OlderURL = messagesURL(t, state, true)
	}
	if s.cfg.MailDir != "" {
		v.MailboxURL = views.StaffMailboxURL(t.Slug)
	}
	if v.Page, v.Staff, err = s.staffPage(r, "messages", i18n.T(ctx, "staff.messages.title"), r.URL.RequestURI()); err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, views.StaffMessages(v))
}

func messagesURL(t store.Tenant, state store.MessageState, older bool) string {
	q := url.Values{}
	if state != "" {
		q.Set("state", string(state))
	}
	if older {
		q.Set("older", "1")
	}
	if len(q) == 0 {
		return views.StaffMailURL(t.Slug)
	}
	return views.StaffMailURL(t.Slug) + "?" + q.Encode()
}

// slotsOf reads the slots that messages speak of. Three statements.
func (s *Server) slotsOf(r *http.Request, messages []store.Message) (map[string]oneSlot, error) {
	ctx, t := r.Context(), venue(r)
	var ids []string
	for _, m := range messages {
		if m.SlotID != nil {
			ids = append(ids, *m.SlotID)
		}
	}
	found, err := s.store.SlotsByID(ctx, t.ID, slices.Compact(slices.Sorted(slices.Values(ids))))
	if err != nil {
		return nil, err
	}
	n, err := s.loadNames(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	slots := map[string]oneSlot{}
	for _, slot := range found {
		slots[slot.ID] = n.of(slot)
	}
	return slots, nil
}

// messageViews are the lines of a list of messages. One statement.
func (s *Server) messageViews(r *http.Request, messages []store.Message, slots map[string]oneSlot) ([]views.StaffMessage, error) {
	ctx, t, now := r.Context(), venue(r), s.now()
	var ids []string
	for _, m := range messages {
		if m.SubjectID != nil {
			ids = append(ids, *m.SubjectID)
		}
	}
	people, err := s.store.People(ctx, t.ID, ids)
	if err != nil {
		return nil, err
	}
	var out []views.StaffMessage
	for _, m := range messages {
		v := views.StaffMessage{
			ID: m.ID, URL: views.StaffMessageURL(t.Slug, m.ID), Kind: i18n.T(ctx, i18n.Key("staff.mail_kind."+string(m.Kind))), Address: m.Recipient,
			State: string(m.State), At: momentAt(ctx, t, m.CreatedAt, now), Attempts: m.Attempts, Error: m.LastError,
		}
		if m.SentAt != nil {
			v.At = momentAt(ctx, t, *m.SentAt, now)
		}
		if m.SubjectID != nil {
			p := people[*m.SubjectID]
			v.To = p.Name
			if m.State == store.MessageFailed {
				v.Phone, v.PhoneURL = phone(t, p.Phone)
			}
		}
		if v.To == "" {
			v.To = m.Recipient
			v.Address = ""
		}
		if m.SlotID != nil {
			if o, known := slots[*m.SlotID]; known {
				v.SlotText, v.SlotURL = slotText(ctx, t, o), views.StaffSlotURL(t.Slug, o.ID)
			}
		}
		if m.State == store.MessagePending && m.Attempts > 0 {
			v.NextAttempt = momentAt(ctx, t, m.NextAttemptAt, now)
		}
		if m.State == store.MessageFailed {
			v.RetryURL = views.StaffMessageRetryURL(t.Slug, m.ID)
		}
		out = append(out, v)
	}
	return out, nil
}

// messageParam reads the message of the path.
func (s *Server) messageParam(r *http.Request) (store.Message, error) {
	id := chi.URLParam(r, "message")
	if !store.ValidID(id) {
		return store.Message{}, store.NotFound
	}
	return s.store.Message(r.Context(), venue(r).ID, id)
}

func (s *Server) getMessage(w http.ResponseWriter, r *http.Request) error {
	t := venue(r)
	m, err := s.messageParam(r)
	if err != nil {
		return err
	}
	slots, err := s.slotsOf(r, []store.Message{m})
	if err != nil {
		return err
	}
	lines, err := s.messageViews(r, []store.Message{m}, slots)
	if err != nil {
		return err
	}
	lines[0].Address = m.Recipient
	v := views.StaffMessagePage{Message: lines[0], BackURL: views.StaffMailURL(t.Slug), Subject: m.SentSubject, From: s.cfg.MailFrom, Body: m.SentText}
	if v.Page, v.Staff, err = s.staffPage(r, "messages", lines[0].Kind, lines[0].URL); err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, views.StaffMessageText(v))
}

// postRetry puts a message that was given up back into the queue.
func (s *Server) postRetry(w http.ResponseWriter, r *http.Request) error {
	// A press without fields still has to be a form.
	if _, err := s.form(w, r); err != nil {
		return err
	}
	m, err := s.messageParam(r)
	if err != nil {
		return err
	}
	if err := s.store.RetryMessage(r.Context(), m.TenantID, m.ID); err != nil {
		return err
	}
	return s.see(w, r, views.StaffMessageURL(venue(r).Slug, m.ID), "staff.retried")
}

// mailFile is where the mail of a message stands while there is no mail server.
// Only a message that was found in the tenant may be asked for: the folder has
// the mails of all of them.
// What went to staff may open an account: its file is nobody's here.
func (s *Server) mailFile(m store.Message) string {
	if m.Kind.ToStaff() {
		return ""
	}
	return filepath.Join(s.cfg.MailDir, m.ID+".eml")
}

// getMailbox lists the mails of this venue that were written to files.
func (s *Server) getMailbox(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	if s.cfg.MailDir == "" {
		return errNotFound
	}
	messages, err := s.store.Messages(ctx, store.MessageQuery{TenantID: t.ID, State: store.MessageSent, Limit: messagesMost})
	if err != nil {
		return err
	}
	v := views.StaffMailboxPage{Folder: s.cfg.MailDir}
	for _, m := range messages {
		if len(v.Mails) == messagesShown {
			break
		}
		if _, err := os.Stat(s.mailFile(m)); errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return fmt.Errorf("mailbox: %w", err)
		}
		at := m.CreatedAt
		if m.SentAt != nil {
			at = *m.SentAt
		}
		v.Mails = append(v.Mails, views.StaffMail{
			URL: views.StaffMailboxMailURL(t.Slug, m.ID), To: m.Recipient, Subject: m.SentSubject, At: momentAt(ctx, t, at, s.now()),
		})
	}
	if v.Page, v.Staff, err = s.staffPage(r, "messages", i18n.T(ctx, "staff.mailbox.title"), views.StaffMailboxURL(t.Slug)); err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, views.StaffMailbox(v))
}

// getMail shows one mail of the folder, with links that can be followed.
func (s *Server) getMail(w http.ResponseWriter, r *http.Request) error {
	t := venue(r)
	if s.cfg.MailDir == "" {
		return errNotFound
	}
	m, err := s.messageParam(r)
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(s.mailFile(m))
	if errors.Is(err, fs.ErrNotExist) {
		return errNotFound
	}
	if err != nil {
		return fmt.Errorf("mailbox: %w", err)
	}
	letter, err := readMail(raw)
	if err != nil {
		return fmt.Errorf("mail %s: %w", m.ID, err)
	}
	v := views.StaffMailPage{
		BackURL: views.StaffMailboxURL(t.Slug), From: letter.from, To: letter.to, Subject: letter.subject, Body: views.MailParts(letter.text),
	}
	if !letter.at.IsZero() {
		v.At = i18n.In(r.Context()).DateTime(letter.at, t.Location())
	}
	if v.Page, v.Staff, err = s.staffPage(r, "messages", letter.subject, views.StaffMailboxMailURL(t.Slug, m.ID)); err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, views.StaffMailText(v))
}

// letter is a mail as people read it.
type letter struct {
	from, to, subject, text string
	at                      time.Time
}

// readMail reads a mail in the form in which it would be sent.
func readMail(raw []byte) (letter, error) {
	m, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return letter{}, err
	}
	word := func(name string) string {
		text, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get(name))
		if err != nil {
			return m.Header.Get(name) // shown as it stands
		}
		return text
	}
	l := letter{from: word("From"), to: word("To"), subject: word("Subject")}
	if at, err := m.Header.Date(); err == nil {
		l.at = at
	}
	l.text, err = mailText(m.Header.Get("Content-Type"), m.Header.Get("Content-Transfer-Encoding"), m.Body, 0)
	return l, err
}

// mailText finds the plain text of a mail or of one of its parts; empty if it has none.
func mailText(kind, encoding string, body io.Reader, depth int) (string, error) {
	media, params, err := mime.ParseMediaType(kind)
	if err != nil {
		media = "text/plain"
	}
	if strings.HasPrefix(media, "multipart/") && depth < 5 {
		parts := multipart.NewReader(body, params["boundary"])
		for {
			part, err := parts.NextRawPart()
			if errors.Is(err, io.EOF) {
				return "", nil
			}
			if err != nil {
				return "", err
			}
			text, err := mailText(part.Header.Get("Content-Type"), part.Header.Get("Content-Transfer-Encoding"), part, depth+1)
			if err != nil || text != "" {
				return text, err
			}
		}
	}
	if media != "text/plain" {
		return "", nil
	}
	switch strings.ToLower(encoding) {
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	}
	text, err := io.ReadAll(body)
	return strings.ToValidUTF8(strings.ReplaceAll(string(text), "\r\n", "\n"), "�"), err
}
