package web

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/skip2/go-qrcode"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// reservation finds what the link of this request opens.
func (s *Server) reservation(r *http.Request) (store.Reservation, error) {
	found, err := s.store.ReservationByToken(r.Context(), venue(r).ID, chi.URLParam(r, "token"))
	if errors.Is(err, store.NotFound) {
		return found, errLink
	}
	return found, err
}

func (s *Server) getReservation(w http.ResponseWriter, r *http.Request) error {
	return s.reservationPage(w, r, http.StatusOK, chi.URLParam(r, "token"), "", contactForm{}, nil)
}

func (s *Server) postConfirm(w http.ResponseWriter, r *http.Request) error {
	t := venue(r)
	f, held, err := formFor(s, w, r, s.reservation)
	if err != nil {
		return err
	}
	typed, terms := decodeContact(f), f.terms()
	f.errs.hidden(views.FieldTermsVersion)
	if held.State == store.Confirmed {
		// Pressed twice: the booking is the answer, whatever stands in the form now.
		return s.toReservation(w, r, flashConfirmed)
	}
	slot, _, err := s.loadSlot(r.Context(), t.ID, held.SlotID)
	if err != nil {
		return err
	}
	policies, err := slot.policies(t)
	if err != nil {
		return err
	}
	contact := typed.contact(f.errs, needsOf(policies, t).asked(slot.service.Questions, false), i18n.Lang(r.Context()))
	if f.bad() {
		return s.reservationPage(w, r, http.StatusUnprocessableEntity, chi.URLParam(r, "token"), "", typed, f.errs)
	}
	_, err = s.store.Confirm(r.Context(), store.ConfirmRequest{
		TenantID: t.ID, ID: held.ID, Owner: held.Owner, TermsVersion: terms, Contact: contact, ConsentVersion: consentVersion(t), Actor: customer(r),
	})
	if err != nil {
		return s.reservationRefused(w, r, err, typed)
	}
	return s.toReservation(w, r, flashConfirmed)
}

func (s *Server) postRelease(w http.ResponseWriter, r *http.Request) error {
	return s.onReservation(w, r, func(res store.Reservation) (i18n.Key, error) {
		_, err := s.store.Release(r.Context(), store.OwnerPress{Press: press(r, res.ID), Owner: res.Owner})
		return "", err
	})
}

func (s *Server) postExtend(w http.ResponseWriter, r *http.Request) error {
	return s.onReservation(w, r, func(res store.Reservation) (i18n.Key, error) {
		_, err := s.store.Extend(r.Context(), store.OwnerPress{Press: press(r, res.ID), Owner: res.Owner})
		return "flash.extended", err
	})
}

func (s *Server) postCancel(w http.ResponseWriter, r *http.Request) error {
	return s.onReservation(w, r, func(res store.Reservation) (i18n.Key, error) {
		_, err := s.store.Cancel(r.Context(), store.CancelRequest{TenantID: res.TenantID, IDs: []string{res.ID}, Actor: customer(r)})
		return "", err
	})
}

func (s *Server) postParty(w http.ResponseWriter, r *http.Request) error {
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	size := f.number(views.FieldPartySize, 1, 1000, "form.err.party")
	if f.bad() {
		return s.reservationPage(w, r, http.StatusUnprocessableEntity, chi.URLParam(r, "token"), "", contactForm{}, f.errs)
	}
	return s.onReservation(w, r, func(res store.Reservation) (i18n.Key, error) {
		_, _, err := s.store.ChangeParty(r.Context(), store.PartyRequest{TenantID: res.TenantID, ID: res.ID, PartySize: size, Actor: customer(r)})
		return "flash.party", err
	})
}

// press is a customer's press about a reservation or an entry.
func press(r *http.Request, id string) store.Press {
	return store.Press{TenantID: venue(r).ID, ID: id, Actor: customer(r)}
}

// onReservation does one step with what the link opens, and leads back to it.
func (s *Server) onReservation(w http.ResponseWriter, r *http.Request, step func(store.Reservation) (i18n.Key, error)) error {
	// A press without fields still has to be a form.
	if _, err := s.form(w, r); err != nil {
		return err
	}
	res, err := s.reservation(r)
	if err != nil {
		return err
	}
	done, err := step(res)
	if err != nil {
		return s.reservationRefused(w, r, err, contactForm{})
	}
	return s.toReservation(w, r, done)
}

func (s *Server) toReservation(w http.ResponseWriter, r *http.Request, flash i18n.Key) error {
	return s.see(w, r, keepProof(r, views.ReservationURL(venue(r).Slug, chi.URLParam(r, "token"))), flash)
}

// reservationRefused shows the reservation as it is now, with what became of the press.
func (s *Server) reservationRefused(w http.ResponseWriter, r *http.Request, err error, typed contactForm) error {
	var o store.Outcome
	if !errors.As(err, &o) {
		return err
	}
	if o == store.NotFound {
		return errLink
	}
	s.noteRefusal(r, o)
	askAgain(w, o)
	return s.reservationPage(w, r, answerFor(o).status, chi.URLParam(r, "token"), o, typed, nil)
}

// reservationPage is what a reservation's link opens, by its present state. It
// answers GET, and POSTs that were not carried out, with what was typed.
func (s *Server) reservationPage(w http.ResponseWriter, r *http.Request, status int, token string, o store.Outcome, typed contactForm, errs formErrors) error {
	t := venue(r)
	res, err := s.store.ReservationByToken(r.Context(), t.ID, token)
	if errors.Is(err, store.NotFound) {
		return errLink
	}
	if err != nil {
		return err
	}
	r = s.inLanguageOf(r, res.Locale)
	slot, n, err := s.loadSlot(r.Context(), t.ID, res.SlotID)
	if err != nil {
		return err
	}
	more, err := s.restOfGroup(r, t, n, res)
	if err != nil {
		return err
	}
	p := shownReservation{res: res, slot: slot, names: n, more: more, token: token, outcome: o, typed: typed, errs: errs, status: status}
	switch {
	case res.State == store.Confirmed:
		return s.bookedPage(w, r, p)
	case res.State == store.Held && res.ExpiresAt.After(res.Now):
		return s.holdPage(w, r, p)
	default:
		return s.endedPage(w, r, p)
	}
}

// shownReservation is a reservation with what its pages say about it.
type shownReservation struct {
	res     store.Reservation
	slot    oneSlot
	names   names
	more    []views.SlotFacts
	token   string
	outcome store.Outcome
	typed   contactForm
	errs    formErrors
	status  int
}

// restOfGroup are the other slots of a reservation that was made for several.
func (s *Server) restOfGroup(r *http.Request, t store.Tenant, n names, res store.Reservation) ([]views.SlotFacts, error) {
	if res.GroupID == nil {
		return nil, nil
	}
	members, err := s.store.Group(r.Context(), t.ID, *res.GroupID)
	if err != nil {
		return nil, err
	}
	type other struct {
		starts time.Time
		facts  views.SlotFacts
	}
	var others []other
	for _, m := range members {
		if m.ID == res.ID || m.State != res.State {
			continue // what has ended is no longer part of it
		}
		slot, err := s.store.Slot(r.Context(), t.ID, m.SlotID)
		if err != nil {
			return nil, err
		}
		f := facts(r.Context(), t, n.of(slot), false)
		if m.State == store.Confirmed { // each is cancelled on its own page
			f.URL = views.ReservationURL(t.Slug, s.store.ReservationToken(m))
		}
		others = append(others, other{slot.StartsAt, f})
	}
	slices.SortFunc(others, func(a, b other) int { return a.starts.Compare(b.starts) })
	var more []views.SlotFacts
	for _, o := range others {
		more = append(more, o.facts)
	}
	return more, nil
}

func (s *Server) holdPage(w http.ResponseWriter, r *http.Request, p shownReservation) error {
	ctx, t := r.Context(), venue(r)
	policies, err := p.slot.policies(t)
	if err != nil {
		return err
	}
	canExtend, err := s.store.CanExtend(ctx, t.ID, p.res.ID)
	if err != nil && !errors.As(err, new(store.Outcome)) {
		return err
	}
	v := views.HoldPage{
		Page: s.pageAt(r, views.ReservationURL(t.Slug, p.token)), Number: p.res.Number,
		Slot: facts(ctx, t, p.slot, false), More: p.more, PartySize: p.res.PartySize,
		Deadline:   deadlineOf(ctx, t, p.res.ShownUntil, p.res.Now, p.slot.HoldShown),
		Contact:    p.typed.view(ctx, needsOf(policies, t).asked(p.slot.service.Questions, false), t, p.errs),
		ConfirmURL: views.ReservationConfirmURL(t.Slug, p.token), ReleaseURL: views.ReservationReleaseURL(t.Slug, p.token),
		TermsVersion: strconv.Itoa(p.res.TermsVersion), CancelRule: cancelRule(ctx, t, p.slot.Slot), PrivacyURL: t.PrivacyURL,
	}
	v.Page.Secret = true
	if canExtend {
		v.ExtendURL = views.ReservationExtendURL(t.Slug, p.token)
	}
	if p.outcome != "" {
		v.Banner = s.banner(r, p.outcome)
		v.Banner.Links = s.nextLinks(r, callOnly(answerFor(p.outcome).next), "")
	}
	return s.render(w, r, p.status, views.Hold(v))
}

func (s *Server) bookedPage(w http.ResponseWriter, r *http.Request, p shownReservation) error {
	ctx, t := r.Context(), venue(r)
	c, loc := i18n.In(ctx), t.Location()
	// Read with any camera at the counter it opens the check-in; to everybody else it is a closed door.
	code, err := qrcode.New(s.cfg.PublicURL.JoinPath(views.StaffCheckinNumberURL(t.Slug, p.res.Number)).String(), qrcode.Medium)
	if err != nil {
		return fmt.Errorf("qr code: %w", err)
	}
	code.DisableBorder = true
	self := keepProof(r, views.ReservationURL(t.Slug, p.token))
	v := views.BookedPage{
		Page: s.pageAt(r, self), Number: p.res.Number, Slot: facts(ctx, t, p.slot, false), More: p.more, PartySize: p.res.PartySize,
		Name: p.res.Name, MailTo: p.res.Email, CalendarURL: views.ReservationCalendarURL(t.Slug, p.token), QR: code.Bitmap(),
		Calendars: calendarLinks(ctx, t, p.slot), Answers: answered(ctx, p.slot.service.EverAsked(), p.res.Answers), Pending: pendingEmail(ctx, t, p.res),
	}
	v.Page.Secret = true
	v.Just = v.Page.Flash != nil && v.Page.Flash.Text == i18n.T(ctx, flashConfirmed)
	if v.Just {
		v.Page.Flash = nil // the heading says it
	}
	begun := !p.slot.Now.Before(p.slot.StartsAt)
	if p.slot.CancelUntil.After(p.slot.Now) && !begun {
		v.Cancel = &views.CancelForm{
			Action: keepProof(r, views.ReservationCancelURL(t.Slug, p.token)), Until: c.DateTime(p.slot.CancelUntil, loc), At: p.slot.CancelUntil.UTC().Format("2006-01-02T15:04:05Z07:00"),
		}
		v.MoveURL = keepProof(r, views.ReservationMoveURL(t.Slug, p.token))
	} else {
		v.CancelRule = i18n.T(ctx, "rule.cancel_over", "time", c.DateTime(p.slot.CancelUntil, loc))
	}
	if !begun && p.res.GroupID == nil {
		least, most := 1, p.res.PartySize
		if !p.slot.CancelUntil.After(p.slot.Now) {
			least = p.res.PartySize // fewer people is a part of cancelling
		}
		if p.slot.Bookable() {
			most = max(most, min(largest(p.slot.Slot), p.res.PartySize+p.slot.SeatsLeft))
		}
		if most > least || len(p.errs) > 0 && !p.typed.correcting {
			v.Party = &views.PartyForm{
				Action: keepProof(r, views.ReservationPartyURL(t.Slug, p.token)), Options: parties(ctx, least, most, p.res.PartySize),
			}
			if !p.typed.correcting {
				v.Party.Errs = p.errs.in(ctx)
			}
		}
	}
	policies, err := p.slot.policies(t)
	if err != nil {
		return err
	}
	if p.slot.Now.Before(p.slot.EndsAt) {
		v.Correct = s.correction(ctx, t, p, policies)
	}
	if v.Line, err = s.reservationLineBox(r, p.res, p.token); err != nil {
		return err
	}
	if at := p.slot.StartsAt.Add(-policies.ReminderBefore.D()); p.res.Email != "" && policies.ReminderBefore > 0 && at.After(p.slot.Now) {
		v.Reminder = i18n.T(ctx, "booked.reminder", "time", c.DateTime(at, loc))
		if v.Line != nil && v.Line.Stop != "" {
			v.Reminder = i18n.T(ctx, "line.box.reminder", "time", c.DateTime(at, loc))
		}
	}
	if v.Clash, err = s.clash(r, t, p.names, store.OverlapQuery{Email: p.res.Email, SlotID: p.slot.ID, All: s.store.ReservationProven(p.res, shownProof(r))}, keepProof(r, views.ReservationWaitsURL(t.Slug, p.token))); err != nil {
		return err
	}
	if p.outcome != "" {
		v.Banner = s.banner(r, p.outcome)
		if p.outcome == store.SoldOut { // nobody was faster: the seats for a larger party are not there
			v.Banner.Title = i18n.T(ctx, "details.no_more.title")
			v.Banner.Text = i18n.T(ctx, "details.no_more.text", "party", i18n.T(ctx, "party", "n", p.res.PartySize))
		}
		if answerFor(p.outcome).next == nextCall {
			v.Banner.Links = s.nextLinks(r, nextCall, "")
		}
	}
	return s.render(w, r, p.status, views.Booked(v))
}

func (s *Server) endedPage(w http.ResponseWriter, r *http.Request, p shownReservation) error {
	ctx, t := r.Context(), venue(r)
	c, loc := i18n.In(ctx), t.Location()
	v := views.EndedPage{
		Page: s.pageAt(r, views.ReservationURL(t.Slug, p.token)), Number: p.res.Number, Slot: facts(ctx, t, p.slot, false), PartySize: p.res.PartySize,
		SlotURL: views.SlotURL(t.Slug, p.slot.ID), VenueURL: views.VenueURL(t.Slug),
	}
	v.Page.Secret = true
	if p.res.EndedAt != nil {
		v.At = c.DateTime(*p.res.EndedAt, loc)
	}
	switch p.res.State {
	case store.Cancelled:
		v.Kind, v.ByShop, v.Reason = views.EndedCancelled, p.res.CancelledBy == "staff", p.res.CancelReason
		if p.slot.Status == store.SlotCancelled {
			v.Kind = views.EndedSlotCancelled
		}
		if !v.ByShop {
			v.Reason = ""
		}
	case store.Released:
		v.Kind, v.Number = views.EndedReleased, ""
	case store.Held, store.ExpiredR:
		// Due is over, whether or not it has been swept; the deadline that was shown is the one that is named.
		v.Kind, v.Number = views.EndedExpired, ""
		if p.res.ShownUntil != nil {
			v.At = c.DateTime(*p.res.ShownUntil, loc)
		}
	case store.Confirmed:
		return fmt.Errorf("reservation %s is not over", p.res.ID)
	}
	if v.Kind == views.EndedExpired || v.Kind == views.EndedReleased {
		row, err := s.rowOf(ctx, t, p.res)
		if err != nil {
			return err
		}
		if len(row) == 0 {
			row = []store.Slot{p.slot.Slot}
		}
		if !slices.ContainsFunc(row, func(one store.Slot) bool { return !one.Bookable() || one.SeatsLeft < p.res.PartySize }) {
			typed := p.typed.view(ctx, needs{}, t, nil)
			typed.Questions = p.typed.answers.carried()
			v.Again = &views.AgainForm{
				Action: views.SlotHoldURL(t.Slug, row[0].ID), PartySize: p.res.PartySize, IdempotencyKey: rand.Text(),
				TermsVersion: strconv.Itoa(row[0].TermsVersion), Typed: typed,
			}
			for _, next := range row[1:] {
				v.Again.NextSlots = append(v.Again.NextSlots, shownSlot(next))
			}
		} else if most := largest(p.slot.Slot); len(row) == 1 && p.slot.Joinable() && p.res.PartySize <= most {
			// Somebody else has the seats now. What was typed is good for waiting, too.
			policies, err := p.slot.policies(t)
			if err != nil {
				return err
			}
			asked := p.typed.view(ctx, needsOf(policies, t).asked(p.slot.service.Questions, true), t, nil)
			v.Join = s.joinForm(ctx, t, p.slot, parties(ctx, p.slot.SeatsLeft+1, most, p.res.PartySize), asked)
		}
	}
	if v.Again == nil {
		var err error
		if v.Nearest, err = s.nearest(r, t, p.names, p.slot.ID, p.res.PartySize); err != nil {
			return err
		}
	}
	if p.outcome != "" && !(p.outcome == store.Expired && v.Kind == views.EndedExpired) {
		v.Banner = s.banner(r, p.outcome)
	}
	return s.render(w, r, p.status, views.Ended(v))
}
