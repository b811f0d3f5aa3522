package web

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// mailKind is a kind of message in words.
func mailKind(ctx context.Context, kind store.MessageKind) string {
	return i18n.T(ctx, i18n.Key("staff.mail_kind."+string(kind)))
}

// stateFilters choose by state. Their counts are those of the chosen kind.
func stateFilters(ctx context.Context, t store.Tenant, now messageFilter, tally []store.MessageCount) []views.StaffFilter {
	var out []views.StaffFilter
	for _, state := range messageStates {
		to := now
		to.state = state
		f := views.StaffFilter{Text: i18n.T(ctx, "staff.messages.all"), URL: to.url(t, time.Time{}, ""), Current: state == now.state}
		if state != "" {
			f.Text = i18n.T(ctx, i18n.Key("staff.state.mail_"+string(state)))
		}
		for _, c := range tally {
			if (state == "" || c.State == state) && (now.kind == "" || c.Kind == now.kind) {
				f.Count += c.Count
			}
		}
		out = append(out, f)
	}
	return out
}

// kindFilters choose by kind, of those that there are; none where there is nothing to choose.
func kindFilters(ctx context.Context, t store.Tenant, now messageFilter, tally []store.MessageCount) []views.StaffFilter {
	counts := map[store.MessageKind]int{}
	all := 0
	for _, c := range tally {
		n := 0
		if now.state == "" || c.State == now.state {
			n = c.Count
		}
		counts[c.Kind] += n
		all += n
	}
	if len(counts) < 2 && now.kind == "" {
		return nil
	}
	to := now
	to.kind = ""
	out := []views.StaffFilter{{Text: i18n.T(ctx, "message.kind.all"), URL: to.url(t, time.Time{}, ""), Count: all, Current: now.kind == ""}}
	for _, kind := range everyKind {
		if _, there := counts[kind]; there || kind == now.kind {
			to.kind = kind
			out = append(out, views.StaffFilter{Text: mailKind(ctx, kind), URL: to.url(t, time.Time{}, ""), Count: counts[kind], Current: kind == now.kind})
		}
	}
	return out
}

// everyKind is every kind of message, those to staff last.
var everyKind = append(slices.DeleteFunc(slices.Clone(store.MessageKinds), store.MessageKind.ToStaff),
	store.KindStaffNotice, store.KindStaffDigest, store.KindStaffInvite, store.KindStaffReset, store.KindStaffPasswordChanged)

// aboutQueue is what stands around all messages: whether they leave, and what can be done for all.
func (s *Server) aboutQueue(r *http.Request, tally []store.MessageCount, v *views.StaffMessagesPage) {
	ctx, t, now := r.Context(), venue(r), s.now()
	late, failed := 0, 0
	var since time.Time
	reason := ""
	for _, c := range tally {
		if c.State == store.MessageFailed {
			failed += c.Count
		}
		late += c.Late
		if c.Since != nil && (since.IsZero() || c.Since.Before(since)) {
			since = *c.Since
			if c.Error != "" {
				reason = c.Error
			}
		}
		if reason == "" {
			reason = c.Error
		}
	}
	if late > 0 {
		v.Queue.Late = i18n.T(ctx, "message.late", "n", late, "time", momentAt(ctx, t, since, now))
		v.Queue.LateWhy = i18n.T(ctx, "message.late.unknown")
		if reason != "" {
			v.Queue.LateWhy = i18n.T(ctx, troubleOf(reason).key()) + i18n.T(ctx, "message.late.kept")
		}
	}
	c := me(r)
	if failed > 0 && c.can(serveCustomers) {
		v.Queue.Failed, v.Queue.RetryAllURL = failed, views.StaffMessagesRetryAllURL(t.Slug)
	}
	v.Queue.PreviewsURL, v.Queue.NoticesURL = views.StaffPreviewsURL(t.Slug), views.StaffNoticesURL(t.Slug)
	if c.can(setUp) {
		v.Queue.TextsURL = views.StaffTextsURL(t.Slug)
	}
	if s.cfg.MailDir != "" {
		v.MailboxURL = views.StaffMailboxURL(t.Slug)
	}
}

// queued is what more there is to say about a message of a list.
func queued(r *http.Request, m store.Message, now time.Time) views.StaffQueued {
	ctx, t := r.Context(), venue(r)
	var v views.StaffQueued
	v.Way = messageWay(ctx, m)
	open := m.State == store.MessagePending || m.State == store.MessageFailed
	if open || m.State == store.MessageSending {
		if age := now.Sub(m.CreatedAt); age >= time.Minute {
			v.Age = i18n.In(ctx).Duration(age.Truncate(time.Minute))
		}
	}
	if m.LastError != "" && m.State != store.MessageSent {
		v.Why = i18n.T(ctx, troubleOf(m.LastError).key())
	}
	if m.GivenUpAt != nil {
		v.GivenUp = i18n.T(ctx, "message.given_up", "time", momentAt(ctx, t, *m.GivenUpAt, now))
	}
	if open && me(r).can(serveCustomers) {
		v.GiveUpURL = views.StaffMessageGiveUpURL(t.Slug, m.ID)
	}
	return v
}

// givenUp says who ended the tries of a message; empty for nobody.
func (s *Server) givenUp(r *http.Request, m store.Message) (string, error) {
	if m.GivenUpAt == nil {
		return "", nil
	}
	ctx := r.Context()
	at := momentAt(ctx, venue(r), *m.GivenUpAt, s.now())
	who, err := s.store.StaffByID(ctx, strings.TrimPrefix(m.GivenUpBy, string(store.Staff)+":"))
	if errors.Is(err, store.NotFound) {
		return i18n.T(ctx, "message.given_up", "time", at), nil
	}
	if err != nil {
		return "", err
	}
	return i18n.T(ctx, "message.given_up_by", "time", at, "who", i18n.Isolate(colleague{StaffMember: who}.called())), nil
}

// trouble is why a message did not leave, as far as a shop can do something about it.
type trouble string

const (
	troubleAddress trouble = "address" // there is no such mailbox
	troubleFull    trouble = "full"    // it takes nothing now
	troubleRefused trouble = "refused" // the receiving side takes no mail from us, or not this one
	troubleLater   trouble = "later"   // the receiving side asks to come back
	troubleSignIn  trouble = "sign_in" // our mail server does not know us
	troubleSender  trouble = "sender"  // our address is not taken
	troubleAway    trouble = "away"    // our mail server does not answer
	troubleText    trouble = "text"    // the mail could not be written
	troubleGone    trouble = "gone"    // there is nothing to write about any more
	troubleUnknown trouble = "unknown"
)

// troubles lists every trouble, for tests that demand words for each.
var troubles = []trouble{
	troubleAddress, troubleFull, troubleRefused, troubleLater, troubleSignIn, troubleSender, troubleAway, troubleText, troubleGone, troubleUnknown,
}

func (t trouble) key() i18n.Key { return i18n.Key("message.trouble." + string(t)) }

// What mail servers say: the code of RFC 5321, and the finer one of RFC 3463 behind it.
var (
	saidFine = regexp.MustCompile(`\b([45])\.(\d{1,3})\.(\d{1,3})\b`)
	saidCode = regexp.MustCompile(`\b([45])\d\d\b`)
)

// troubleOf reads what the last try met. The words are the dispatcher's own or
// a mail server's, which writes as it likes: the code decides where there is one.
func troubleOf(said string) trouble {
	lower := strings.ToLower(said)
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(lower, w) })
	}
	switch {
	case has("what it was about is gone"):
		return troubleGone
	case has("the text could not be made", "no text for this kind"):
		return troubleText
	case has("recipient's address can't be used"):
		return troubleAddress
	case has("sender's address"), has("mail from"):
		return troubleSender
	case has("535", "534", "5.7.8", "smtp auth", "authentication"):
		return troubleSignIn
	case has("can't be used:", "dial ", "i/o timeout", "connection ", "broke off", "eof", "421", "no such host", "deadline exceeded", "certificate", "tls"):
		return troubleAway
	}
	if fine := saidFine.FindStringSubmatch(said); fine != nil {
		switch class := fine[2] + "." + fine[3]; {
		case class == "2.2":
			return troubleFull
		case fine[2] == "7":
			return troubleRefused
		case fine[1] == "5" && (fine[2] == "1" || class == "2.1"):
			return troubleAddress
		}
	}
	code := saidCode.FindString(said)
	switch {
	case code == "550" || code == "551" || code == "553" || code == "501" || has("no such user", "unknown user", "user unknown"):
		return troubleAddress
	case code == "552" || code == "452" || has("quota", "mailbox full"):
		return troubleFull
	case strings.HasPrefix(code, "5"):
		return troubleRefused
	case strings.HasPrefix(code, "4"):
		return troubleLater
	}
	return troubleUnknown
}

// linkInMail is an address with a secret: whoever holds it may act for the customer.
var linkInMail = regexp.MustCompile(`https?://[^\s<>"]*[a-z2-7]{32}[^\s<>"]*`)

// withoutLinks is the text of a mail as staff may read it: what opens a
// customer's booking is the customer's.
func withoutLinks(ctx context.Context, text string) string {
	return linkInMail.ReplaceAllLiteralString(text, i18n.T(ctx, "message.link_hidden"))
}

// postRetryFailed puts everything that has failed back into the queue, as far as one press reaches.
func (s *Server) postRetryFailed(w http.ResponseWriter, r *http.Request) error {
	if _, err := s.form(w, r); err != nil {
		return err
	}
	n, err := s.store.RetryFailedMessages(r.Context(), venue(r).ID)
	if err != nil {
		return err
	}
	to := views.StaffMailURL(venue(r).Slug)
	if n == 0 {
		return s.see(w, r, to, "message.retried_none")
	}
	return s.see(w, r, to, "message.retried_all", "n", n)
}

// getGiveUp asks once more, and says what follows. Nothing is changed.
func (s *Server) getGiveUp(w http.ResponseWriter, r *http.Request) error {
	return s.giveUpPage(w, r, http.StatusOK, "")
}

func (s *Server) giveUpPage(w http.ResponseWriter, r *http.Request, status int, problem string) error {
	ctx, t := r.Context(), venue(r)
	m, err := s.messageParam(r)
	if err != nil {
		return err
	}
	open := m.State == store.MessagePending || m.State == store.MessageFailed
	if !open && status == http.StatusOK {
		return s.see(w, r, views.StaffMessageURL(t.Slug, m.ID), "")
	}
	slots, err := s.slotsOf(r, []store.Message{m})
	if err != nil {
		return err
	}
	lines, err := s.messageViews(r, []store.Message{m}, slots)
	if err != nil {
		return err
	}
	line := lines[0]
	line.RetryURL, line.Queue.GiveUpURL = "", ""
	v := views.StaffGiveUpPage{Message: line, BackURL: views.StaffMessageURL(t.Slug, m.ID), Problem: problem}
	if open {
		v.ActionURL = views.StaffMessageGiveUpURL(t.Slug, m.ID)
		v.Consequence = []views.StaffConsequence{{Kind: "warn", Text: i18n.T(ctx, "message.give_up.never", "who", i18n.Isolate(line.To))}}
		if m.State == store.MessagePending {
			v.Consequence = append(v.Consequence, views.StaffConsequence{Kind: "warn", Text: i18n.T(ctx, "message.give_up.waiting")})
		}
		v.Consequence = append(v.Consequence, views.StaffConsequence{Kind: "call", Text: i18n.T(ctx, "message.give_up.call")})
	}
	if v.Page, v.Staff, err = s.staffPage(r, "messages", i18n.T(ctx, "message.give_up.title"), v.BackURL); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffGiveUp(v))
}

func (s *Server) postGiveUp(w http.ResponseWriter, r *http.Request) error {
	if _, err := s.form(w, r); err != nil {
		return err
	}
	m, err := s.messageParam(r)
	if err != nil {
		return err
	}
	err = s.store.GiveUpMessage(r.Context(), m.TenantID, m.ID, me(r).actor(r))
	if errors.Is(err, store.Conflict) {
		s.noteRefusal(r, store.Conflict)
		return s.giveUpPage(w, r, http.StatusConflict, i18n.T(r.Context(), "message.give_up.conflict"))
	}
	if err != nil {
		return err
	}
	return s.see(w, r, views.StaffMessageURL(venue(r).Slug, m.ID), "message.given_up.done")
}

// aboutSubject is the head of the messages of one booking or entry: whose it is, and its link.
func (s *Server) aboutSubject(r *http.Request, subject string, v *views.StaffMessagesPage) error {
	ctx, t := r.Context(), venue(r)
	v.Queue.AllURL = views.StaffMailURL(t.Slug)
	l, err := s.store.LinkOnFile(ctx, t.ID, subject)
	if errors.Is(err, store.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	part := "#reservation-"
	if l.IsEntry {
		part = "#entry-"
	}
	v.Queue.About, v.Queue.AboutURL = i18n.T(ctx, "message.about", "name", called(ctx, l.Name)), views.StaffSlotURL(t.Slug, l.SlotID)+part+l.ID
	if !me(r).can(serveCustomers) {
		return nil
	}
	link := views.StaffLinkAgain{Text: i18n.T(ctx, linkReason(l))}
	switch {
	case l.MayResend():
		link.ActionURL, link.Text = views.StaffMessageLinkURL(t.Slug, l.ID), i18n.T(ctx, "message.link.text", "address", i18n.Isolate(l.Email))
	case l.LastSent != nil && l.Live && l.Email != "":
		link.Text = i18n.T(ctx, linkReason(l), "time", momentAt(ctx, t, *l.LastSent, s.now()))
	}
	v.Queue.Link = &link
	return nil
}

// linkReason says why the link may not be sent again.
func linkReason(l store.LinkOnFile) i18n.Key {
	switch {
	case !l.Live:
		return "message.link.over"
	case l.Email == "":
		return "message.link.no_address"
	}
	return "message.link.just_sent"
}

// postLinkAgain mails the link of a booking or an entry to the address on file.
func (s *Server) postLinkAgain(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	if _, err := s.form(w, r); err != nil {
		return err
	}
	id := chi.URLParam(r, "subject")
	if !store.ValidID(id) {
		return store.NotFound
	}
	l, err := s.store.LinkOnFile(ctx, t.ID, id)
	if err != nil {
		return err
	}
	sent, err := s.store.ResendLink(ctx, t.ID, l.ID, me(r).actor(r))
	if err != nil {
		return err
	}
	to := views.StaffMessagesOfURL(t.Slug, l.ID)
	switch {
	case sent:
		return s.see(w, r, to, "message.link.sent")
	case !l.Live:
		return s.see(w, r, to, "message.link.over")
	case l.Email == "":
		return s.see(w, r, to, "message.link.no_address")
	}
	return s.see(w, r, to, "message.link.again_later")
}
