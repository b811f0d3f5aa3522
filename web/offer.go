package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// offer finds the entry whose offer the link of this request opens.
func (s *Server) offer(r *http.Request) (store.Entry, error) {
	found, err := s.store.OfferByToken(r.Context(), venue(r).ID, chi.URLParam(r, "token"))
	if errors.Is(err, store.NotFound) {
		return found, errLink
	}
	return found, err
}

func (s *Server) getOffer(w http.ResponseWriter, r *http.Request) error {
	return s.offerPage(w, r, http.StatusOK, "")
}

func (s *Server) postAccept(w http.ResponseWriter, r *http.Request) error {
	f, e, err := formFor(s, w, r, s.offer)
	if err != nil {
		return err
	}
	t := venue(r)
	booked, err := s.store.Accept(r.Context(), store.AcceptRequest{TenantID: t.ID, ID: e.ID, TermsVersion: f.terms(), Actor: customer(r)})
	if err != nil {
		return s.offerRefused(w, r, err)
	}
	return s.see(w, r, s.bookedURL(r, e, booked), flashConfirmed)
}

func (s *Server) postDecline(w http.ResponseWriter, r *http.Request) error {
	if _, err := s.form(w, r); err != nil {
		return err
	}
	e, err := s.offer(r)
	if err != nil {
		return err
	}
	if _, err := s.store.Decline(r.Context(), press(r, e.ID)); err != nil {
		return s.offerRefused(w, r, err)
	}
	return s.see(w, r, keepProof(r, views.OfferURL(venue(r).Slug, chi.URLParam(r, "token"))), "")
}

// offerRefused shows the offer as it is now, with what became of the press.
func (s *Server) offerRefused(w http.ResponseWriter, r *http.Request, err error) error {
	var o store.Outcome
	if !errors.As(err, &o) {
		return err
	}
	if o == store.NotFound {
		return errLink
	}
	s.noteRefusal(r, o)
	askAgain(w, o)
	return s.offerPage(w, r, answerFor(o).status, o)
}

// offerPage is an open offer with its two choices, or what became of it.
func (s *Server) offerPage(w http.ResponseWriter, r *http.Request, status int, o store.Outcome) error {
	t := venue(r)
	e, err := s.offer(r)
	if err != nil {
		return err
	}
	r = s.inLanguageOf(r, e.Locale)
	ctx := r.Context()
	slot, n, err := s.loadSlot(ctx, t.ID, e.SlotID)
	if err != nil {
		return err
	}
	token := chi.URLParam(r, "token")
	page := s.pageAt(r, keepProof(r, views.OfferURL(t.Slug, token)))
	page.Secret = true
	state := entryState(e)
	if state == views.EntryOffered {
		v := views.OfferPage{
			Page: page, Slot: facts(ctx, t, slot, false), PartySize: e.PartySize, Deadline: deadlineOf(ctx, t, e.ShownUntil, e.Now, slot.OfferShown),
			AcceptURL: keepProof(r, views.OfferAcceptURL(t.Slug, token)), DeclineURL: keepProof(r, views.OfferDeclineURL(t.Slug, token)),
			TermsVersion: strconv.Itoa(slot.TermsVersion), CancelRule: cancelRule(ctx, t, slot.Slot), PrivacyURL: t.PrivacyURL,
		}
		if o != "" {
			v.Banner = s.banner(r, o)
		}
		return s.render(w, r, status, views.Offer(v))
	}
	entryToken := s.store.EntryToken(e)
	v := views.OfferEndedPage{
		Page: page, State: state, Slot: facts(ctx, t, slot, false), PartySize: e.PartySize,
		EntryURL: keepProof(r, views.WaitlistURL(t.Slug, entryToken)), VenueURL: views.VenueURL(t.Slug),
	}
	if e.ShownUntil != nil {
		v.Until = i18n.In(ctx).DateTime(*e.ShownUntil, t.Location())
	}
	switch state {
	case views.EntryAccepted:
		if v.BookingURL, err = s.bookingOf(r, t, e); err != nil {
			return err
		}
	case views.EntryWithdrawn:
		// A person who leaves gives no reason; staff who take an offer back must.
		v.ByShop, v.Reason = e.Reason != "", e.Reason
	case views.EntryLapsed, views.EntryDeclined:
		if slot.Joinable() && slot.SeatsLeft < e.PartySize {
			v.RejoinURL = keepProof(r, views.WaitlistRejoinURL(t.Slug, entryToken))
		}
	case views.EntryWaiting, views.EntryOffered, views.EntryClosed:
	}
	if state != views.EntryAccepted {
		if v.Nearest, err = s.nearestOrItself(r, t, n, slot, e.PartySize); err != nil {
			return err
		}
	}
	if o != "" && !(o == store.Expired && state == views.EntryLapsed) && o != store.Over {
		v.Banner = s.banner(r, o)
	}
	return s.render(w, r, status, views.OfferEnded(v))
}

// whyEntryClosed says why a waitlist is over; empty where the page's own words do.
func whyEntryClosed(ctx context.Context, slot store.Slot) string {
	switch {
	case slot.Status == store.SlotCancelled:
		return i18n.T(ctx, "entry.closed.cancelled")
	case !slot.Now.Before(slot.StartsAt):
		return i18n.T(ctx, "entry.closed.begun")
	default:
		return ""
	}
}
