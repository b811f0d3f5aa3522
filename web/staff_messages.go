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

// How many messages a page shows, and how many mails the trial mailbox is chosen from.
const (
	messagesShown = 50
	mailboxMost   = 500
)

// messageStates are the filters of the list, in the order in which they are shown.
var messageStates = []store.MessageState{"", store.MessageFailed, store.MessagePending, store.MessageSending, store.MessageSent, store.MessageObsolete}

// messageFilter is what the address of the list chooses.
type messageFilter struct {
	state   store.MessageState
	kind    store.MessageKind
	subject string
	slot    string
}

// filterOf reads the filter; what can't be one chooses all. An id of another
// venue's chooses nothing, like one that there is not.
func filterOf(q url.Values) messageFilter {
	f := messageFilter{state: store.MessageState(q.Get("state")), kind: store.MessageKind(q.Get("kind")), subject: q.Get("subject"), slot: q.Get("slot")}
	if !slices.Contains(messageStates, f.state) {
		f.state = ""
	}
	if !slices.Contains(everyKind, f.kind) {
		f.kind = ""
	}
	if !store.ValidID(f.subject) {
		f.subject = ""
	}
	if !store.ValidID(f.slot) {
		f.slot = ""
	}
	return f
}

// url is the list with the filter, from the place on; zero: the newest.
func (f messageFilter) url(t store.Tenant, before time.Time, id string) string {
	q := url.Values{}
	for name, value := range map[string]string{"state": string(f.state), "kind": string(f.kind), "subject": f.subject, "slot": f.slot, fieldBeforeID: id} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if id != "" {
		q.Set(fieldBefore, placeText(before))
	}
	if len(q) == 0 {
		return views.StaffMailURL(t.Slug)
	}
	return views.StaffMailURL(t.Slug) + "?" + q.Encode()
}

func (s *Server) getMessages(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	filter := filterOf(r.URL.Query())
	before, beforeID := placeOf(r.URL.Query())
	messages, err := s.store.Messages(ctx, store.MessageQuery{
		TenantID: t.ID, State: filter.state, Kind: filter.kind, SubjectID: filter.subject, SlotID: filter.slot, Before: before, BeforeID: beforeID, Limit: messagesShown + 1,
	})
	if err != nil {
		return err
	}
	tally, err := s.store.MessageTally(ctx, t.ID, filter.subject, filter.slot)
	if err != nil {
		return err
	}
	v := views.StaffMessagesPage{Filters: stateFilters(ctx, t, filter, tally), Queue: views.StaffQueue{Kinds: kindFilters(ctx, t, filter, tally)}}
	if len(messages) > messagesShown {
		messages = messages[:messagesShown]
		last := messages[messagesShown-1]
		v.OlderURL = filter.url(t, last.CreatedAt, last.ID)
	}
	if beforeID != "" {
		v.Queue.NewestURL = filter.url(t, time.Time{}, "")
	}
	if filter.kind != "" {
		v.Queue.KindText = mailKind(ctx, filter.kind)
	}
	about := messages
	if filter.slot != "" && len(messages) == 0 {
		about = []store.Message{{SlotID: &filter.slot}} // for the heading
	}
	slots, err := s.slotsOf(r, about)
	if err != nil {
		return err
	}
	if v.Items, err = s.messageViews(r, messages, slots); err != nil {
		return err
	}
	switch {
	case filter.subject != "":
		err = s.aboutSubject(r, filter.subject, &v)
	case filter.slot != "":
		v.Queue.AllURL = views.StaffMailURL(t.Slug)
		if o, known := slots[filter.slot]; known {
			v.Queue.About, v.Queue.AboutURL = slotText(ctx, t, o), views.StaffSlotURL(t.Slug, o.ID)
		}
	default:
		s.aboutQueue(r, tally, &v)
	}
	if err != nil {
		return err
	}
	if v.Page, v.Staff, err = s.staffPage(r, "messages", i18n.T(ctx, "staff.messages.title"), r.URL.RequestURI()); err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, views.StaffMessages(v))
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
			ID: m.ID, URL: views.StaffMessageURL(t.Slug, m.ID), Kind: mailKind(ctx, m.Kind), Address: m.Recipient,
			State: string(m.State), At: momentAt(ctx, t, m.CreatedAt, now), Attempts: m.Attempts, Error: m.LastError,
		}
		if m.SentAt != nil {
			v.At = momentAt(ctx, t, *m.SentAt, now)
		}
		if m.SubjectID != nil && !m.Kind.TellsStaff() {
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
		if m.State == store.MessageFailed && me(r).can(serveCustomers) {
			v.RetryURL = views.StaffMessageRetryURL(t.Slug, m.ID)
		}
		v.Queue = queued(r, m, now)
		if v.Queue.Why == "" {
			v.Error = ""
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
	if m.SubjectID != nil {
		lines[0].Queue.MoreURL = views.StaffMessagesOfURL(t.Slug, *m.SubjectID)
	}
	if lines[0].Queue.GivenUp, err = s.givenUp(r, m); err != nil {
		return err
	}
	v := views.StaffMessagePage{Message: lines[0], BackURL: views.StaffMailURL(t.Slug), Subject: m.SentSubject, From: s.cfg.MailFrom, Body: withoutLinks(r.Context(), m.SentText)}
	if m.Channel == store.ChannelLine { // which has neither a sender's address nor a reader's
		v.From, v.Message.Address = "", ""
	}
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
	messages, err := s.store.Messages(ctx, store.MessageQuery{TenantID: t.ID, State: store.MessageSent, Limit: mailboxMost})
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
