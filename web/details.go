package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// mostAnswers is how many fields of answers are looked at; more than any
// service asks, because what is carried along may be of another.
const mostAnswers = 2 * store.MostQuestions

// typedAnswers are answers as typed, by the id of their question, and what is
// wrong with them whatever was asked.
type typedAnswers struct {
	values map[string]string
	faults formErrors
}

// decodeAnswers reads the fields that answer questions. Which of them were asked
// is not known here: a fault counts only for those that were.
func decodeAnswers(f *form) typedAnswers {
	out := typedAnswers{values: map[string]string{}, faults: formErrors{}}
	var fields []string
	for field := range f.values {
		if strings.HasPrefix(field, views.FieldAnswer) && len(field) < 100 {
			fields = append(fields, field)
		}
	}
	slices.Sort(fields)
	quiet := &form{values: f.values, errs: out.faults}
	for _, field := range fields[:min(len(fields), mostAnswers)] {
		if value := quiet.lines(field, store.LongestAnswer); value != "" {
			out.values[strings.TrimPrefix(field, views.FieldAnswer)] = value
		}
	}
	return out
}

// asked gives the needs with the questions of a service; joining asks only some.
func (n needs) asked(questions []store.Question, joining bool) needs {
	for _, q := range questions {
		if !joining || q.OnJoin {
			n.questions = append(n.questions, q)
		}
	}
	return n
}

// check normalises the answers to what was asked.
func (a typedAnswers) check(errs formErrors, questions []store.Question) map[string]string {
	out := map[string]string{}
	for _, q := range questions {
		field := views.FieldAnswer + q.ID
		if fault, bad := a.faults[field]; bad {
			errs.fault(field, fault.Key, fault.Args...)
			continue
		}
		answer, err := q.Answer(a.values[q.ID])
		switch {
		case errors.Is(err, store.ErrAnswerTooLong):
			errs.fault(field, "form.err.too_long", "n", q.Longest())
		case errors.Is(err, store.ErrAnswerUnknown), err != nil && q.Kind == store.QuestionChoice:
			errs.fault(field, "form.err.answer_choice")
		case err != nil && q.Kind == store.QuestionConsent:
			errs.fault(field, "form.err.consent")
		case err != nil:
			errs.fault(field, "form.err.answer")
		case answer != "":
			out[q.ID] = answer
		}
	}
	return out
}

// view gives the questions with what was typed. Where nothing is asked here,
// what was typed is carried along as it is.
func (a typedAnswers) view(ctx context.Context, questions []store.Question) []views.Question {
	lang := i18n.Lang(ctx)
	var out []views.Question
	for _, q := range questions {
		v := views.Question{
			ID: q.ID, Kind: views.QuestionKind(q.Kind), Label: q.Label.In(lang), Hint: q.Hint.In(lang), Value: a.values[q.ID],
			Required: q.Required, Max: q.Longest(), Checked: a.values[q.ID] == store.AnswerYes,
		}
		for _, o := range q.Options {
			v.Options = append(v.Options, views.Option{Value: o.ID, Text: o.Label.In(lang), Selected: o.ID == a.values[q.ID]})
		}
		out = append(out, v)
	}
	return out
}

// carried is what was typed as answers, to be carried along in a form.
func (a typedAnswers) carried() []views.Question {
	var out []views.Question
	for id, value := range a.values {
		out = append(out, views.Question{ID: id, Value: value})
	}
	slices.SortFunc(out, func(a, b views.Question) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// answered writes what was answered, in the order of the questions; one that is
// no longer asked stands last, under its id.
func answered(ctx context.Context, questions []store.Question, given map[string]string) []views.Answer {
	lang := i18n.Lang(ctx)
	var out []views.Answer
	known := map[string]bool{}
	for _, q := range questions {
		known[q.ID] = true
		answer := given[q.ID]
		if answer == "" {
			continue
		}
		a := views.Answer{Question: q.Label.In(lang), Text: q.Say(answer, lang)}
		if q.Kind == store.QuestionConsent {
			a.Text = i18n.T(ctx, "details.no")
			if answer == store.AnswerYes {
				a.Text = i18n.T(ctx, "details.yes")
			}
		}
		out = append(out, a)
	}
	var rest []string
	for id := range given {
		if !known[id] {
			rest = append(rest, id)
		}
	}
	slices.Sort(rest)
	for _, id := range rest {
		out = append(out, views.Answer{Question: id, Text: given[id]})
	}
	return out
}

// unanswered reports whether a required question has no answer: whoever came by
// the waitlist or by telephone was not asked.
func unanswered(questions []store.Question, given map[string]string) bool {
	return slices.ContainsFunc(questions, func(q store.Question) bool { return q.Required && given[q.ID] == "" })
}

// typedOf is a stored contact as its form shows it.
func typedOf(t store.Tenant, res store.Reservation) contactForm {
	phone := res.Phone
	if phone != "" {
		phone = store.FormatPhone(phone, region(t))
	}
	return contactForm{
		Name: res.Name, Kana: res.Kana, Email: res.Email, Phone: phone, Note: res.Note,
		answers: typedAnswers{values: res.Answers},
	}
}

// correctNeeds is what a correction asks for. Where staff booked for somebody
// without an address, none is demanded now.
func correctNeeds(p store.Policies, t store.Tenant, slot oneSlot, res store.Reservation) needs {
	n := needsOf(p, t).asked(slot.service.Questions, false)
	n.email = res.Email != ""
	return n
}

// postCorrection corrects who comes. A new e-mail is not used before its owner has pressed.
func (s *Server) postCorrection(w http.ResponseWriter, r *http.Request) error {
	t, token := venue(r), chi.URLParam(r, "token")
	f, res, err := formFor(s, w, r, s.reservation)
	if err != nil {
		return err
	}
	if res.State != store.Confirmed {
		return s.reservationRefused(w, r, store.Over, contactForm{})
	}
	slot, _, err := s.loadSlot(r.Context(), t.ID, res.SlotID)
	if err != nil {
		return err
	}
	policies, err := slot.policies(t)
	if err != nil {
		return err
	}
	typed := decodeContact(f)
	contact := typed.contact(f.errs, correctNeeds(policies, t, slot, res), res.Locale)
	if f.bad() {
		typed.correcting = true
		return s.reservationPage(w, r, http.StatusUnprocessableEntity, token, "", typed, f.errs)
	}
	// What is answered and no longer asked stays.
	for id, answer := range res.Answers {
		if !slices.ContainsFunc(slot.service.Questions, func(q store.Question) bool { return q.ID == id }) {
			contact.Answers[id] = answer
		}
	}
	if _, err := s.store.CorrectContact(r.Context(), store.ContactRequest{TenantID: t.ID, ID: res.ID, Contact: contact, Actor: customer(r)}); err != nil {
		typed.correcting = true
		return s.reservationRefused(w, r, err, typed)
	}
	return s.toReservation(w, r, "flash.contact")
}

// correction is the form that corrects who comes, with what was typed into it
// where it came back.
func (s *Server) correction(ctx context.Context, t store.Tenant, p shownReservation, policies store.Policies) *views.CorrectForm {
	n := correctNeeds(policies, t, p.slot, p.res)
	form := &views.CorrectForm{Action: views.ReservationContactURL(t.Slug, p.token)}
	if p.typed.correcting {
		form.Contact, form.Open = p.typed.view(ctx, n, t, p.errs), true
		return form
	}
	form.Contact = typedOf(t, p.res).view(ctx, n, t, nil)
	if p.res.EmailNew != "" {
		form.Contact.Email = p.res.EmailNew // pressed again, it is mailed again
	}
	if unanswered(p.slot.service.Questions, p.res.Answers) {
		form.Missing = i18n.T(ctx, "details.missing")
	}
	return form
}

// pendingEmail is the address of a booking that waits for a press; nil for none.
func pendingEmail(ctx context.Context, t store.Tenant, res store.Reservation) *views.EmailPending {
	if res.EmailNew == "" || res.EmailUntil == nil || res.EmailChangeOver(res.Now) {
		return nil
	}
	return &views.EmailPending{Email: res.EmailNew, Until: i18n.In(ctx).DateTime(*res.EmailUntil, t.Location())}
}

// emailChange finds the booking whose new address the link of this request confirms.
func (s *Server) emailChange(r *http.Request) (store.Reservation, error) {
	res, err := s.store.ReservationByEmailToken(r.Context(), venue(r).ID, chi.URLParam(r, "token"))
	if errors.Is(err, store.NotFound) {
		return res, errLink
	}
	return res, err
}

func (s *Server) getEmailChange(w http.ResponseWriter, r *http.Request) error {
	return s.emailChangePage(w, r, http.StatusOK, "")
}

// postEmailChange is the press of the owner of the new address.
func (s *Server) postEmailChange(w http.ResponseWriter, r *http.Request) error {
	if _, err := s.form(w, r); err != nil {
		return err
	}
	t, token := venue(r), chi.URLParam(r, "token")
	_, err := s.store.ConfirmEmail(r.Context(), t.ID, token, customer(r))
	var o store.Outcome
	switch {
	case errors.As(err, &o) && o == store.NotFound:
		return errLink
	case errors.As(err, &o):
		s.noteRefusal(r, o)
		askAgain(w, o)
		return s.emailChangePage(w, r, answerFor(o).status, o)
	case err != nil:
		return err
	}
	return s.see(w, r, views.EmailChangeURL(t.Slug, token), "")
}

// emailChangePage is what the link in a mail to a new address opens. Before the
// press it says of the booking only what and when: the address may be a stranger's.
func (s *Server) emailChangePage(w http.ResponseWriter, r *http.Request, status int, o store.Outcome) error {
	t, token := venue(r), chi.URLParam(r, "token")
	res, err := s.emailChange(r)
	if err != nil {
		return err
	}
	r = s.inLanguageOf(r, res.Locale)
	ctx := r.Context()
	slot, _, err := s.loadSlot(ctx, t.ID, res.SlotID)
	if err != nil {
		return err
	}
	v := views.EmailChangePage{Page: s.pageAt(r, views.EmailChangeURL(t.Slug, token)), Slot: facts(ctx, t, slot, false)}
	switch {
	case res.State != store.Confirmed || res.EmailChangeOver(res.Now):
		v.Over = true
	case res.EmailNew == "":
		v.Done, v.BookingURL = true, views.ReservationURL(t.Slug, s.store.ReservationToken(res))
	default:
		v.Email, v.Action = res.EmailNew, views.EmailChangeURL(t.Slug, token)
		v.Until = i18n.In(ctx).DateTime(*res.EmailUntil, t.Location())
	}
	if o != "" && !v.Over {
		v.Banner = s.banner(r, o)
	}
	return s.render(w, r, status, views.EmailChange(v))
}

// calendarLinks add a booking to calendars on the web. They tell those no more
// than what, when and where: nothing about the person, and not the secret link.
func calendarLinks(ctx context.Context, t store.Tenant, o oneSlot) []views.Link {
	const stamp = "20060102T150405Z"
	lang := i18n.Lang(ctx)
	title := o.service.Name.In(lang) + " (" + t.Name + ")"
	where := mapPlace(o, t, lang)
	start, end := o.StartsAt.UTC(), o.EndsAt.UTC()
	google := url.Values{"action": {"TEMPLATE"}, "text": {title}, "dates": {start.Format(stamp) + "/" + end.Format(stamp)}}
	outlook := url.Values{
		"path": {"/calendar/action/compose"}, "rru": {"addevent"}, "subject": {title},
		"startdt": {start.Format(time.RFC3339)}, "enddt": {end.Format(time.RFC3339)},
	}
	if where != "" {
		google.Set("location", where)
		outlook.Set("location", where)
	}
	return []views.Link{
		{Text: i18n.T(ctx, "details.google"), URL: "https://calendar.google.com/calendar/render?" + google.Encode()},
		{Text: i18n.T(ctx, "details.outlook"), URL: "https://outlook.live.com/calendar/0/deeplink/compose?" + outlook.Encode()},
	}
}

// longestRow is how far ahead slots that follow each other are looked for.
const longestRow = 12 * time.Hour

// following are the slots that follow one without a gap, of the same service and
// resource, at most so many as the service allows in one hold.
func (s *Server) following(ctx context.Context, t store.Tenant, slot oneSlot, p store.Policies) ([]store.Slot, error) {
	if p.SlotsTogether <= 1 {
		return nil, nil
	}
	found, err := s.store.Slots(ctx, store.SlotQuery{
		TenantID: t.ID, ServiceID: slot.ServiceID, ResourceID: slot.ResourceID, From: slot.EndsAt, To: slot.EndsAt.Add(longestRow), Limit: 200,
	})
	if err != nil {
		return nil, err
	}
	var row []store.Slot
	end := slot.EndsAt
	for _, next := range found {
		if next.Status == store.SlotCancelled {
			continue
		}
		if len(row) == p.SlotsTogether-1 || !next.StartsAt.Equal(end) {
			break
		}
		row, end = append(row, next), next.EndsAt
	}
	return row, nil
}

// shownSlot is a following slot as the form sends it back: what was shown.
func shownSlot(slot store.Slot) string { return slot.ID + " " + strconv.Itoa(slot.TermsVersion) }

// offerTogether lets the form take several slots, where the service allows it
// and there are any that follow. One without seats ends the row.
func offerTogether(ctx context.Context, t store.Tenant, slot oneSlot, row []store.Slot, form slotForm, v *views.HoldForm) {
	if len(row) == 0 {
		return
	}
	chosen := max(form.together, 1)
	v.Together = []views.Option{{Value: "1", Text: i18n.T(ctx, "details.this_only"), Selected: chosen == 1}}
	short := false
	for i, next := range row {
		span := i18n.In(ctx).TimeRange(slot.StartsAt, next.EndsAt, t.Location())
		o := views.Option{Value: strconv.Itoa(i + 2), Text: i18n.T(ctx, "details.in_a_row", "n", i+2, "time", span), Selected: chosen == i+2}
		if short = short || !next.Bookable(); short {
			o.Text, o.Disabled = i18n.T(ctx, "details.row_short", "time", span), true
			if o.Selected {
				o.Selected, v.Together[0].Selected = false, true
			}
		}
		v.Together = append(v.Together, o)
		v.NextSlots = append(v.NextSlots, shownSlot(next))
	}
}

// togetherOf reads how many slots are wanted, and those that follow as shown.
func togetherOf(f *form) (int, []store.HoldSlot) {
	n := 1
	if len(f.values[views.FieldTogether]) > 0 {
		n = f.number(views.FieldTogether, 1, 100, "form.err.together")
	}
	var next []store.HoldSlot
	for _, text := range f.values[views.FieldNextSlot] {
		id, terms, _ := strings.Cut(text, " ")
		version, err := termsVersion(terms)
		if !utf8.ValidString(text) || !store.ValidID(id) || err != nil || len(next) == 100 {
			if n > 1 {
				f.errs.fault(views.FieldTogether, "form.err.together")
			}
			break
		}
		next = append(next, store.HoldSlot{ID: id, TermsVersion: version})
	}
	return n, next
}

// heldTogether are the slots of a hold: this one, and so many of those that follow as
// were chosen. They have to follow each other still, as the page showed them;
// Conflict if they do not, and where the service does not allow so many.
func (s *Server) heldTogether(ctx context.Context, t store.Tenant, slot string, form slotForm) ([]store.HoldSlot, error) {
	slots := []store.HoldSlot{{ID: slot, TermsVersion: form.terms, Version: form.version}}
	if form.together <= 1 {
		return slots, nil
	}
	o, _, err := s.loadSlot(ctx, t.ID, slot)
	if err != nil {
		return nil, err
	}
	policies, err := o.policies(t)
	if err != nil {
		return nil, err
	}
	row, err := s.following(ctx, t, o, policies)
	if err != nil {
		return nil, err
	}
	if form.together-1 > len(row) || form.together-1 > len(form.next) {
		return nil, store.Conflict
	}
	for i := range form.together - 1 {
		if row[i].ID != form.next[i].ID {
			return nil, store.Conflict
		}
		slots = append(slots, form.next[i])
	}
	return slots, nil
}

// shortOf finds the slot of a row that has too few seats for the party: nil
// where none has, or only this one was wanted.
func shortOf(slot oneSlot, row []store.Slot, form slotForm) *store.Slot {
	if form.together <= 1 || form.party < 1 {
		return nil
	}
	for _, one := range append([]store.Slot{slot.Slot}, row[:min(len(row), form.together-1)]...) {
		if !one.Bookable() || one.SeatsLeft < form.party {
			return &one
		}
	}
	return nil
}

// rowOf are the slots of a reservation that was made for several, by their
// start: what a hold of the same once more has to ask for. Nil for one of a single slot.
func (s *Server) rowOf(ctx context.Context, t store.Tenant, res store.Reservation) ([]store.Slot, error) {
	if res.GroupID == nil {
		return nil, nil
	}
	members, err := s.store.Group(ctx, t.ID, *res.GroupID)
	if err != nil {
		return nil, err
	}
	var row []store.Slot
	for _, m := range members {
		slot, err := s.store.Slot(ctx, t.ID, m.SlotID)
		if err != nil {
			return nil, err
		}
		row = append(row, slot)
	}
	slices.SortFunc(row, func(a, b store.Slot) int { return a.StartsAt.Compare(b.StartsAt) })
	return row, nil
}
