package web

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// entry finds what the waitlist link of this request opens.
func (s *Server) entry(r *http.Request) (store.Entry, error) {
	found, err := s.store.EntryByToken(r.Context(), venue(r).ID, chi.URLParam(r, "token"))
	if errors.Is(err, store.NotFound) {
		return found, errLink
	}
	return found, err
}

func (s *Server) getEntry(w http.ResponseWriter, r *http.Request) error {
	return s.entryPage(w, r, http.StatusOK, "", nil)
}

func (s *Server) postWithdraw(w http.ResponseWriter, r *http.Request) error {
	_, e, err := s.entryPress(w, r)
	if err != nil {
		return err
	}
	if _, err := s.store.Withdraw(r.Context(), press(r, e.ID)); err != nil {
		return s.entryRefused(w, r, err)
	}
	return s.toEntry(w, r, e, "")
}

func (s *Server) postClaim(w http.ResponseWriter, r *http.Request) error {
	f, e, err := s.entryPress(w, r)
	if err != nil {
		return err
	}
	t := venue(r)
	booked, err := s.store.Claim(r.Context(), store.AcceptRequest{TenantID: t.ID, ID: e.ID, TermsVersion: f.terms(), Actor: customer(r)})
	if err != nil {
		return s.entryRefused(w, r, err)
	}
	return s.see(w, r, s.bookedURL(r, e, booked), flashConfirmed)
}

func (s *Server) postRejoin(w http.ResponseWriter, r *http.Request) error {
	_, e, err := s.entryPress(w, r)
	if err != nil {
		return err
	}
	again, err := s.store.Rejoin(r.Context(), press(r, e.ID))
	if err != nil {
		return s.entryRefused(w, r, err)
	}
	s.rememberWait(r, again)
	url := views.WaitlistURL(venue(r).Slug, s.store.EntryToken(again))
	if s.store.EntryProven(e, shownProof(r)) {
		url = views.Proven(url, s.store.EntryProof(again))
	}
	return s.see(w, r, url, flashJoined)
}

func (s *Server) postEntryParty(w http.ResponseWriter, r *http.Request) error {
	f, e, err := s.entryPress(w, r)
	if err != nil {
		return err
	}
	size := f.number(views.FieldPartySize, 1, 1000, "form.err.party")
	if f.bad() {
		return s.entryPage(w, r, http.StatusUnprocessableEntity, "", f.errs)
	}
	changed, err := s.store.ChangeEntryParty(r.Context(), store.EntryPartyRequest{TenantID: e.TenantID, ID: e.ID, PartySize: size, Actor: customer(r)})
	if err != nil {
		return s.entryRefused(w, r, err)
	}
	return s.toEntry(w, r, changed, "flash.party")
}

// entryPress is what every press on a waitlist page begins with.
func (s *Server) entryPress(w http.ResponseWriter, r *http.Request) (*form, store.Entry, error) {
	f, err := s.form(w, r)
	if err != nil {
		return nil, store.Entry{}, err
	}
	e, err := s.entry(r)
	return f, e, err
}

func (s *Server) toEntry(w http.ResponseWriter, r *http.Request, e store.Entry, flash i18n.Key) error {
	return s.see(w, r, keepProof(r, views.WaitlistURL(venue(r).Slug, s.store.EntryToken(e))), flash)
}

// entryRefused shows the place in the waitlist as it is now, with what became of the press.
func (s *Server) entryRefused(w http.ResponseWriter, r *http.Request, err error) error {
	var o store.Outcome
	if !errors.As(err, &o) {
		return err
	}
	if o == store.NotFound {
		return errLink
	}
	s.noteRefusal(r, o)
	askAgain(w, o)
	return s.entryPage(w, r, answerFor(o).status, o, nil)
}

// entryState is what people are told about an entry: one that is past its
// deadline has lapsed, whether or not it has been swept.
func entryState(e store.Entry) views.EntryState {
	if e.State == store.Offered && !e.ExpiresAt.After(e.Now) {
		return views.EntryLapsed
	}
	return views.EntryState(e.State)
}

// entryPage is a place in the waitlist, or what became of it.
func (s *Server) entryPage(w http.ResponseWriter, r *http.Request, status int, o store.Outcome, errs formErrors) error {
	t := venue(r)
	e, err := s.entry(r)
	if err != nil {
		return err
	}
	r = s.inLanguageOf(r, e.Locale)
	ctx := r.Context()
	slot, n, err := s.loadSlot(ctx, t.ID, e.SlotID)
	if err != nil {
		return err
	}
	c, loc, token := i18n.In(ctx), t.Location(), s.store.EntryToken(e)
	v := views.EntryPage{
		Page: s.pageAt(r, keepProof(r, views.WaitlistURL(t.Slug, token))), State: entryState(e), Slot: facts(ctx, t, slot, false), PartySize: e.PartySize,
		Place: e.Place, Of: e.Of, Paused: slot.Paused, AnswerTime: c.Duration(slot.OfferShown), Broadcast: !slot.OrderRules,
		MailTo: e.Email, MailFrom: s.cfg.MailFrom, VenueURL: views.VenueURL(t.Slug),
	}
	v.Page.Secret = true
	v.Just = v.Page.Flash != nil && v.Page.Flash.Text == i18n.T(ctx, flashJoined)
	if v.Just {
		v.Page.Flash = nil // the heading says it
	}
	if slot.OrderRules && slot.OrderUntil != nil {
		v.OrderUntil = c.DateTime(*slot.OrderUntil, loc)
	}
	switch v.State {
	case views.EntryWaiting:
		if err := s.waitingNow(r, t, n, e, slot.Slot, &v); err != nil {
			return err
		}
		v.WithdrawURL = keepProof(r, views.WaitlistWithdrawURL(t.Slug, token))
		v.Prefer = preference(ctx, e, slot.Slot, v.OrderUntil, keepProof(r, views.WaitlistPreferencesURL(t.Slug, token)), errs)
		if v.Line, err = s.entryLineBox(r, e, token); err != nil {
			return err
		}
		if e.PartySize > 1 {
			v.Party = &views.PartyForm{
				Action: keepProof(r, views.WaitlistPartyURL(t.Slug, token)), Options: parties(ctx, 1, e.PartySize-1, e.PartySize-1), Errs: errs.only("", views.FieldPartySize).in(ctx),
			}
		}
		if claimable(slot.Slot, e.PartySize) {
			v.Claim = &views.ClaimForm{Action: keepProof(r, views.WaitlistClaimURL(t.Slug, token)), TermsVersion: strconv.Itoa(slot.TermsVersion), SeatsLeft: slot.SeatsLeft}
		}
	case views.EntryOffered:
		v.OfferURL = keepProof(r, views.OfferURL(t.Slug, s.store.OfferToken(e)))
		d := deadlineOf(ctx, t, e.ShownUntil, e.Now, slot.OfferShown)
		v.Deadline = &d
	case views.EntryAccepted:
		if v.BookingURL, err = s.bookingOf(r, t, e); err != nil {
			return err
		}
	case views.EntryLapsed, views.EntryDeclined, views.EntryWithdrawn:
		if slot.Joinable() && slot.SeatsLeft < e.PartySize {
			v.RejoinURL = keepProof(r, views.WaitlistRejoinURL(t.Slug, token))
		}
	case views.EntryClosed:
		v.ClosedText = whyEntryClosed(ctx, slot.Slot)
	}
	if v.State != views.EntryWaiting && v.State != views.EntryOffered && v.State != views.EntryAccepted || o != "" {
		if v.Nearest, err = s.nearestOrItself(r, t, n, slot, e.PartySize); err != nil {
			return err
		}
	}
	if o != "" {
		v.Banner = s.banner(r, o)
		v.Banner.Links = s.nextLinks(r, answerFor(o).next, slot.ID)
		if o == store.SoldOut && v.State == views.EntryWaiting {
			if err := s.lostAt(r, t, slot.Slot, v.Banner, "live.lost.claim"); err != nil {
				return err
			}
		}
	}
	return s.render(w, r, status, views.Entry(v))
}

// bookingOf is the link of the booking that an entry became; empty where its
// row is gone.
func (s *Server) bookingOf(r *http.Request, t store.Tenant, e store.Entry) (string, error) {
	if e.ReservationID == nil {
		return "", nil
	}
	booked, err := s.store.Reservation(r.Context(), t.ID, *e.ReservationID)
	if errors.Is(err, store.NotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return s.bookedURL(r, e, booked), nil
}
