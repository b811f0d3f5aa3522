package web

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// getContact is the form that corrects who a booking is for.
func (s *Server) getContact(w http.ResponseWriter, r *http.Request) error {
	res, err := s.reservationOf(r, "")
	if err != nil {
		return s.lostSight(w, r, err)
	}
	return s.contactPage(w, r, http.StatusOK, res.ID, correctionForm{})
}

// correctionForm is a correction as typed.
type correctionForm struct {
	typed   *contactForm // nil: as it is stored
	errs    formErrors
	seen    string
	problem string
	stale   bool // somebody else has corrected it meanwhile
}

func (s *Server) contactPage(w http.ResponseWriter, r *http.Request, status int, id string, form correctionForm) error {
	ctx, t := r.Context(), venue(r)
	c, err := s.loadCounter(r)
	if err != nil {
		return err
	}
	res, here := c.reservation(id)
	if !here {
		return s.lostSight(w, r, store.Conflict)
	}
	if res.State != store.Confirmed {
		s.noteRefusal(r, store.Over)
		return s.staffSlotPage(w, r, answerFor(store.Over).status, slotPress{problem: s.refusal(r, store.Over)})
	}
	stored := typedOf(t, res)
	typed := stored
	if form.typed != nil {
		typed = *form.typed
	}
	self := views.StaffReservationContactURL(t.Slug, c.ID, res.ID)
	v := views.StaffContactPage{
		Slot: c.head(ctx), Number: res.Number, Title: i18n.T(ctx, "staff.contact.title", "name", called(ctx, res.Name)), ActionURL: self, Seen: form.seen,
		Contact: typed.view(ctx, c.contactNeeds(), t, form.errs), Consequence: contactFollows(ctx, res), Problem: form.problem,
	}
	if form.typed == nil || form.stale {
		v.Seen = s.store.ContactMark(res) // a second press has seen what is shown now
	}
	if form.stale {
		v.Now = contactNow(ctx, c, stored, res)
	}
	if v.Page, v.Staff, err = s.staffPage(r, "", v.Title, self); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffContact(v))
}

// contactNeeds is what a correction by staff asks for: nothing but a name must be there.
func (c counter) contactNeeds() needs {
	return needs{region: region(c.tenant), questions: optional(c.service.Questions)}
}

// contactFollows says before the press what another address does.
func contactFollows(ctx context.Context, res store.Reservation) []views.StaffConsequence {
	out := []views.StaffConsequence{consequence(ctx, "kept", "staff.contact.seats_stay"), consequence(ctx, "warn", "staff.contact.link_ends")}
	if res.Email != "" {
		out = append(out, consequence(ctx, "mail", "staff.contact.mail_new", "email", res.Email))
	} else {
		out = append(out, consequence(ctx, "mail", "staff.contact.mail_first"))
	}
	return out
}

// contactNow is what a booking says now.
func contactNow(ctx context.Context, c counter, stored contactForm, res store.Reservation) []views.Answer {
	var out []views.Answer
	for _, row := range []struct {
		label i18n.Key
		text  string
	}{
		{"staff.field.name", stored.Name},
		{"staff.field.kana", stored.Kana},
		{"staff.field.email", stored.Email},
		{"staff.field.phone", stored.Phone},
		{"staff.field.note", stored.Note},
	} {
		if row.text != "" {
			out = append(out, views.Answer{Question: i18n.T(ctx, row.label), Text: row.text})
		}
	}
	return append(out, answered(ctx, c.service.Questions, res.Answers)...)
}

// postContact corrects who a booking is for, also in a full slot. It is judged
// by the contact alone: no seat changes, and what happens elsewhere in the slot
// is no reason to ask again.
func (s *Server) postContact(w http.ResponseWriter, r *http.Request) error {
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	res, err := s.reservationOf(r, "")
	if err != nil {
		return s.lostSight(w, r, err)
	}
	questions, err := s.questionsOf(r, res.SlotID)
	if err != nil {
		return err
	}
	t, typed := venue(r), decodeContact(f)
	seen := f.text(views.FieldSeen, longestKey)
	contact := typed.contact(f.errs, needs{region: region(t), questions: optional(questions)}, res.Locale)
	f.errs.hidden(views.FieldSeen)
	form := correctionForm{typed: &typed, errs: f.errs, seen: seen}
	if f.bad() {
		if fault, bad := f.errs[""]; bad {
			form.problem = fault.In(r.Context())
		}
		return s.contactPage(w, r, http.StatusUnprocessableEntity, res.ID, form)
	}
	// A form that asks nothing, or asks what is no longer asked, takes no answer away.
	for id, answer := range res.Answers {
		if !slices.ContainsFunc(questions, func(q store.Question) bool { return q.ID == id }) {
			contact.Answers[id] = answer
		}
	}
	corrected, err := s.store.CorrectContact(r.Context(), store.ContactRequest{TenantID: t.ID, ID: res.ID, Contact: contact, Actor: me(r).actor(r), Seen: seen})
	var o store.Outcome
	switch {
	case err == nil:
		done := staffDone{IDs: []string{res.ID}}
		if store.PersonKey(corrected.Email) != store.PersonKey(res.Email) {
			done.Says = []i18n.Key{"staff.then.link_ended"}
			if corrected.Email != "" {
				done.Says = append(done.Says, "staff.then.link_mailed")
			}
		}
		return s.doneSee(w, r, stepContact, done)
	case errors.As(err, &o) && o != store.NotFound && o != store.Busy:
		s.noteRefusal(r, o)
		form.problem = s.refusal(r, o)
		if o == store.Conflict {
			form.problem, form.stale = i18n.T(r.Context(), "staff.contact.stale"), true
		}
		if o == store.AlreadyBooked {
			form.errs.fault(views.FieldEmail, "staff.refused.already_booked")
		}
		return s.contactPage(w, r, answerFor(o).status, res.ID, form)
	default:
		return err
	}
}
