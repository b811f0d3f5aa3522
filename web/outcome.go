package web

import (
	"net/http"
	"strconv"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// next is the step that a page offers after a refusal.
type next string

// The next steps.
const (
	nextNone  next = ""      // nothing but the page itself
	nextSlot  next = "slot"  // the slot as it is now
	nextOther next = "other" // other times of the venue
	nextCall  next = "call"  // the venue's telephone
	nextAgain next = "again" // the same press once more
	nextFind  next = "find"  // the own links, by mail
)

// answerTo is how an outcome is told.
type answerTo struct {
	status int
	next   next
	tone   views.FlashKind
	reason string // of the API
}

// answers is the one table of refusals. The words are outcome.<outcome>.title
// and outcome.<outcome>.text. 409: lost or stale; 410: over; 404: absent or not
// yours; 422: the request itself; 503: not known to have happened.
var answers = map[store.Outcome]answerTo{
	store.NotFound:       {http.StatusNotFound, nextOther, views.FlashInfo, "not_found"},
	store.NotOwner:       {http.StatusNotFound, nextOther, views.FlashInfo, "not_owner"},
	store.Expired:        {http.StatusGone, nextSlot, views.FlashRefused, "expired"},
	store.Over:           {http.StatusConflict, nextSlot, views.FlashRefused, "over"},
	store.TooLate:        {http.StatusConflict, nextCall, views.FlashRefused, "too_late"},
	store.TooEarly:       {http.StatusConflict, nextOther, views.FlashRefused, "too_early"},
	store.Closed:         {http.StatusConflict, nextOther, views.FlashRefused, "closed"},
	store.SoldOut:        {http.StatusConflict, nextOther, views.FlashRefused, "sold_out"},
	store.TermsChanged:   {http.StatusConflict, nextSlot, views.FlashRefused, "terms_changed"},
	store.Conflict:       {http.StatusConflict, nextAgain, views.FlashRefused, "conflict"},
	store.KeyReused:      {http.StatusUnprocessableEntity, nextSlot, views.FlashRefused, "key_reused"},
	store.AlreadyBooked:  {http.StatusConflict, nextFind, views.FlashInfo, "already_booked"},
	store.AlreadyWaiting: {http.StatusConflict, nextFind, views.FlashInfo, "already_waiting"},
	store.TooManyHolds:   {http.StatusConflict, nextOther, views.FlashRefused, "too_many_holds"},
	store.PartyTooLarge:  {http.StatusConflict, nextCall, views.FlashRefused, "party_too_large"},
	store.SeatsFree:      {http.StatusConflict, nextSlot, views.FlashInfo, "seats_free"},
	store.WaitlistOff:    {http.StatusConflict, nextOther, views.FlashRefused, "waitlist_off"},
	store.WaitlistFull:   {http.StatusConflict, nextOther, views.FlashRefused, "waitlist_full"},
	store.OrderRules:     {http.StatusConflict, nextNone, views.FlashInfo, "order_rules"},
	store.NotExtendable:  {http.StatusConflict, nextNone, views.FlashInfo, "not_extendable"},
	store.BelowTaken:     {http.StatusConflict, nextNone, views.FlashRefused, "below_taken"},
	store.Overlaps:       {http.StatusConflict, nextNone, views.FlashRefused, "overlaps"},
	store.TooManyChanges: {http.StatusConflict, nextCall, views.FlashRefused, "too_many_changes"},
	store.LastOwner:      {http.StatusConflict, nextNone, views.FlashRefused, "last_owner"},
	store.AlreadyInTeam:  {http.StatusConflict, nextNone, views.FlashInfo, "already_in_team"},
	store.Busy:           {http.StatusServiceUnavailable, nextAgain, views.FlashRefused, "busy"},
}

// retryAfterBusy is after how many seconds a busy answer asks to come again.
const retryAfterBusy = 2

// askAgain says when to come back to what is busy. Whatever page stands below,
// the press may not have been carried out.
func askAgain(w http.ResponseWriter, o store.Outcome) {
	if o == store.Busy {
		w.Header().Set("Retry-After", strconv.Itoa(retryAfterBusy))
	}
}

// answerFor is the row of an outcome. One without a row is a fault of ours,
// which a test keeps from happening.
func answerFor(o store.Outcome) answerTo {
	if a, ok := answers[o]; ok {
		return a
	}
	return answerTo{http.StatusConflict, nextNone, views.FlashRefused, string(o)}
}

// OutcomeReason is how the API names an outcome.
func OutcomeReason(o store.Outcome) string { return answerFor(o).reason }

// OutcomeStatus is the HTTP status of an outcome.
func OutcomeStatus(o store.Outcome) int { return answerFor(o).status }

// banner says an outcome in the reader's language.
func (s *Server) banner(r *http.Request, o store.Outcome) *views.Banner {
	ctx := r.Context()
	return &views.Banner{
		Kind: answerFor(o).tone, Code: string(o),
		Title: i18n.T(ctx, i18n.Key("outcome."+string(o)+".title")),
		Text:  i18n.T(ctx, i18n.Key("outcome."+string(o)+".text")),
	}
}

// nextLinks are the next steps of an outcome; slot may be empty.
func (s *Server) nextLinks(r *http.Request, n next, slot string) []views.Link {
	t, ok := tenant(r)
	if !ok {
		return nil
	}
	ctx := r.Context()
	var out []views.Link
	switch n {
	case nextSlot:
		if slot != "" {
			out = append(out, views.Link{Text: i18n.T(ctx, "outcome.link.slot"), URL: views.SlotURL(t.Slug, slot)})
		}
	case nextCall:
		if v := s.tenantView(r, t); v.Phone != "" {
			out = append(out, views.Link{Text: i18n.T(ctx, "outcome.link.call", "phone", v.Phone), URL: "tel:" + t.Phone})
		}
	case nextFind:
		out = append(out, views.Link{Text: i18n.T(ctx, "chrome.my_reservations"), URL: views.MyReservationsURL(t.Slug)})
	case nextNone, nextOther, nextAgain:
	}
	return append(out, views.Link{Text: i18n.T(ctx, "outcome.link.venue"), URL: views.VenueURL(t.Slug)})
}

// refused answers an outcome that the handler has no better page for.
func (s *Server) refused(w http.ResponseWriter, r *http.Request, o store.Outcome) error {
	a := answerFor(o)
	askAgain(w, o)
	switch o {
	case store.Busy:
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			return s.errorPage(w, r, a.status, errorBusyLook)
		}
		return s.errorPage(w, r, a.status, views.ErrorBusy)
	case store.NotFound, store.NotOwner:
		return s.errorPage(w, r, a.status, views.ErrorNotFound)
	}
	if _, ok := tenant(r); !ok {
		return s.errorPage(w, r, a.status, views.ErrorNotFound)
	}
	b := s.banner(r, o)
	v := views.RefusedPage{Page: s.pageAt(r, ""), Banner: *b, Links: s.nextLinks(r, a.next, "")}
	v.Page.LanguageAction = ""
	w.Header().Set("Cache-Control", cacheNever)
	return s.render(w, r, a.status, views.Refused(v))
}
