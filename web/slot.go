package web

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// slotForm is what the forms of a slot's page send: the one that holds and the
// one that joins the waitlist.
type slotForm struct {
	join    bool
	party   int // 0: not yet chosen, or nonsense
	key     string
	terms   int
	version *int64
	typed   contactForm
	// How many slots in a row, and those that follow this one as the page showed them.
	together int
	next     []store.HoldSlot
	errs     formErrors
}

// decodeSlotForm reads either form. The hold form brings a contact only where
// an earlier hold has run out and what was typed is carried along.
func (s *Server) decodeSlotForm(w http.ResponseWriter, r *http.Request) (slotForm, error) {
	f, err := s.form(w, r)
	if err != nil {
		return slotForm{}, err
	}
	together, next := togetherOf(f)
	return slotForm{
		together: together, next: next,
		party: f.number(views.FieldPartySize, 1, 1000, "form.err.party"), key: f.text(views.FieldIdempotencyKey, longestKey),
		terms: f.terms(), version: f.version(), typed: decodeContact(f), errs: f.errs,
	}, nil
}

// Bad reports whether the form has to come back.
func (f slotForm) Bad() bool { return len(f.errs) > 0 }

// hidden moves the faults of fields that nobody sees to the whole form.
func (e formErrors) hidden(fields ...string) {
	for _, field := range fields {
		if message, bad := e[field]; bad {
			delete(e, field)
			e.fault("", message.Key, message.Args...)
		}
	}
}

func (s *Server) getSlot(w http.ResponseWriter, r *http.Request) error {
	return s.slotPage(w, r, http.StatusOK, "", slotForm{party: 1})
}

func (s *Server) postHold(w http.ResponseWriter, r *http.Request) error {
	form, err := s.decodeSlotForm(w, r)
	if err != nil {
		return err
	}
	// What was typed into an earlier hold is only carried along: it is judged when it is sent to be confirmed.
	for _, carried := range []string{views.FieldName, views.FieldKana, views.FieldEmail, views.FieldPhone, views.FieldNote} {
		delete(form.errs, carried)
	}
	form.errs.hidden(views.FieldIdempotencyKey, views.FieldTermsVersion, views.FieldVersion)
	if form.Bad() {
		return s.slotPage(w, r, http.StatusUnprocessableEntity, "", form)
	}
	slot := chi.URLParam(r, "slot")
	if !store.ValidID(slot) {
		return store.NotFound
	}
	t := venue(r)
	slots, err := s.heldTogether(r.Context(), t, slot, form)
	if err != nil {
		return s.slotRefused(w, r, err, form)
	}
	held, err := s.store.Hold(r.Context(), store.HoldRequest{
		TenantID: t.ID, Slots: slots, PartySize: form.party,
		Owner: s.visitor(r, form.key), Key: oneWay("key", form.key), Source: store.SourceWeb, Locale: i18n.Lang(r.Context()), Actor: customer(r),
	})
	if err != nil {
		return s.slotRefused(w, r, err, form)
	}
	token := s.store.ReservationToken(held[0])
	for _, one := range held {
		if one.SlotID == slot { // of several, the one that was pressed on
			token = s.store.ReservationToken(one)
		}
	}
	if !form.typed.empty() {
		// What was typed before must not stand in a URL and not in the session, so
		// the page answers at once. Reloading it repeats the press with its key,
		// which gives the same hold.
		w.Header().Set("Content-Location", views.ReservationURL(t.Slug, token))
		w.Header().Set("Cache-Control", cacheNever)
		return s.reservationPage(w, r, http.StatusOK, token, "", form.typed, nil)
	}
	return s.see(w, r, views.ReservationURL(t.Slug, token), "")
}

func (s *Server) postJoin(w http.ResponseWriter, r *http.Request) error {
	form, err := s.decodeSlotForm(w, r)
	if err != nil {
		return err
	}
	form.join = true
	form.errs.hidden(views.FieldIdempotencyKey, views.FieldTermsVersion, views.FieldVersion)
	t := venue(r)
	o, _, err := s.loadSlot(r.Context(), t.ID, chi.URLParam(r, "slot"))
	if err != nil {
		return err
	}
	policies, err := o.policies(t)
	if err != nil {
		return err
	}
	contact := form.typed.contact(form.errs, needsOf(policies, t).asked(o.service.Questions, true), i18n.Lang(r.Context()))
	if form.Bad() {
		return s.slotPage(w, r, http.StatusUnprocessableEntity, "", form)
	}
	entry, err := s.store.Join(r.Context(), store.JoinRequest{
		TenantID: t.ID, SlotID: o.ID, PartySize: form.party, Contact: contact, Key: form.key, ConsentVersion: consentVersion(t),
		Source: store.SourceWeb, Actor: customer(r),
	})
	if err != nil {
		return s.slotRefused(w, r, err, form)
	}
	s.rememberWait(r, entry)
	return s.see(w, r, views.WaitlistURL(t.Slug, s.store.EntryToken(entry)), flashJoined)
}

// consentVersion names what a customer agrees to by sending contact details: the
// version of the venue's privacy notice, or its address where the venue names no
// version; nothing where it has no notice. The press is the consent, as the
// sentence above the button and the button itself say.
func consentVersion(t store.Tenant) string {
	if t.PrivacyURL == "" || t.PrivacyVersion == "" {
		return t.PrivacyURL
	}
	return t.PrivacyVersion
}

// slotRefused shows the slot as it is now, with what became of the press.
func (s *Server) slotRefused(w http.ResponseWriter, r *http.Request, err error, form slotForm) error {
	var o store.Outcome
	if !errors.As(err, &o) || o == store.NotFound {
		return err
	}
	s.noteRefusal(r, o)
	askAgain(w, o)
	return s.slotPage(w, r, answerFor(o).status, o, form)
}

// joinForm is the form that puts a party on the waitlist, with a key of its own.
func (s *Server) joinForm(ctx context.Context, t store.Tenant, slot oneSlot, sizes []views.Option, asked views.ContactForm) *views.JoinForm {
	c := i18n.In(ctx)
	f := &views.JoinForm{
		Action: views.SlotWaitlistURL(t.Slug, slot.ID), Parties: sizes, Contact: asked, IdempotencyKey: rand.Text(),
		TermsVersion: strconv.Itoa(slot.TermsVersion), Waiting: slot.Waiting, AnswerTime: c.Duration(slot.OfferShown), Broadcast: !slot.OrderRules,
		MailFrom: s.cfg.MailFrom, PrivacyURL: t.PrivacyURL,
	}
	if slot.OrderRules && slot.OrderUntil != nil {
		f.OrderUntil = c.DateTime(*slot.OrderUntil, t.Location())
	}
	return f
}

// slotPage is a slot as it is now, with the forms that can be sent and what is
// wrong with the one that was. It answers GET, and POSTs that were not carried out.
func (s *Server) slotPage(w http.ResponseWriter, r *http.Request, status int, o store.Outcome, form slotForm) error {
	ctx, t := r.Context(), venue(r)
	slot, n, err := s.loadSlot(ctx, t.ID, chi.URLParam(r, "slot"))
	if err != nil {
		return err
	}
	policies, err := slot.policies(t)
	if err != nil {
		return err
	}
	lang, c, loc := i18n.Lang(ctx), i18n.In(ctx), t.Location()
	self := views.SlotURL(t.Slug, slot.ID)
	v := views.SlotPage{
		Page:      s.pageAt(r, self),
		BackURL:   views.VenueFilterURL(t.Slug, views.VenueFilter{Date: slot.StartsAt.In(loc).Format(time.DateOnly), Lang: addressLang(r)}),
		Slot:      facts(ctx, t, slot, false),
		State:     slotState(slot.Slot),
		SeatsLeft: slot.SeatsLeft, Capacity: slot.Capacity,
	}
	s.describeSlot(r, &v.Page, slot)
	v.Slot.Details, v.Picture = slot.service.Description.In(lang), picture(t, slot.service, lang)
	if !slot.Bookable() {
		v.SeatsLeft = 0
	}
	if o != "" {
		v.Banner = s.banner(r, o)
		v.Banner.Links = s.nextLinks(r, callOnly(answerFor(o).next), "")
	}
	if v.Own, err = s.ownHold(r, t, slot); err != nil {
		return err
	}
	if v.Own != nil {
		w.Header().Set("Cache-Control", cacheNever) // its link is a secret
	}
	row, err := s.following(ctx, t, slot, policies)
	if err != nil {
		return err
	}
	var short *store.Slot
	if o == store.SoldOut {
		short = shortOf(slot, row, form)
	}
	most, party := largest(slot.Slot), max(form.party, 1)
	terms := strconv.Itoa(slot.TermsVersion)
	waits := slot.Joinable() && slot.SeatsLeft < most
	if o == store.PartyTooLarge && (slot.Bookable() && !form.join || waits && form.join) {
		form.errs.fault(views.FieldPartySize, "slot.party_most", "n", most)
		v.Banner = nil // it stands beside the field
	}
	if slot.Bookable() {
		v.Hold = &views.HoldForm{
			Action: views.SlotHoldURL(t.Slug, slot.ID), Parties: parties(ctx, 1, min(slot.SeatsLeft, most), min(party, slot.SeatsLeft)),
			IdempotencyKey: keyAgain(o, form, false), TermsVersion: terms,
			Minutes: c.Duration(slot.HoldShown), CancelRule: cancelRule(ctx, t, slot.Slot),
		}
		if waits {
			// A larger party learns here already that it would have to wait.
			for size := slot.SeatsLeft + 1; size <= most; size++ {
				v.Hold.Parties = append(v.Hold.Parties, views.Option{
					Value: strconv.Itoa(size), Text: i18n.T(ctx, "slot.party_waits", "party", i18n.T(ctx, "party", "n", size)), Selected: size == party,
				})
			}
		}
		if !form.join {
			if len(row) == 0 {
				form.errs.hidden(views.FieldTogether)
			}
			v.Hold.Errs = form.errs.in(ctx)
			v.Hold.Typed = form.typed.view(ctx, needs{}, t, nil)
			v.Hold.Typed.Questions = form.typed.answers.carried()
		}
		offerTogether(ctx, t, slot, row, form, v.Hold)
	}
	// The waitlist is for those whom the free seats would not do for; without any,
	// for everybody. A form that came back stays, so that nothing typed is lost.
	if waits && (slot.SeatsLeft == 0 || form.join || o == store.SoldOut && short == nil) {
		least := slot.SeatsLeft + 1
		errs := form.errs
		if !form.join && v.Hold != nil {
			errs = nil // they stand at the other form
		}
		asked := form.typed.view(ctx, needsOf(policies, t).asked(slot.service.Questions, true), t, errs)
		v.Join = s.joinForm(ctx, t, slot, parties(ctx, least, most, min(max(party, least), most)), asked)
		v.Join.IdempotencyKey = keyAgain(o, form, true)
	}
	if o == store.SoldOut && v.Hold != nil && v.Join != nil {
		// Nobody was faster: the party is larger than what is left.
		v.Banner.Title = i18n.T(ctx, "outcome.sold_out.some.title", "n", slot.SeatsLeft)
		v.Banner.Text = i18n.T(ctx, "outcome.sold_out.some.text")
	}
	if short != nil {
		v.Banner.Title = i18n.T(ctx, "details.short.title", "time", c.TimeRange(short.StartsAt, short.EndsAt, loc))
		v.Banner.Text = i18n.T(ctx, "details.short.text")
	}
	if v.Hold == nil && v.Join == nil {
		v.Closed = s.whyClosed(r, t, slot.Slot)
	}
	v.Queue, v.LiveURL = slot.Waiting, views.SlotLiveURL(t.Slug, slot.ID, lang, showing(v), slot.TermsVersion)
	if o == store.SoldOut && slot.SeatsLeft == 0 {
		then := i18n.Key("live.lost.elsewhere")
		if v.Join != nil {
			then = "live.lost.wait"
		}
		if err := s.lostAt(r, t, slot.Slot, v.Banner, then); err != nil {
			return err
		}
	}
	if (v.Hold == nil || o != "") && o != store.Busy {
		if v.Nearest, err = s.nearest(r, t, n, slot.ID, party); err != nil {
			return err
		}
	}
	return s.render(w, r, status, views.Slot(v))
}

// callOnly leaves out the next steps that the slot's own page already is.
func callOnly(n next) next {
	if n == nextSlot || n == nextAgain {
		return nextNone
	}
	return n
}

// keyAgain is the key of a form that is rendered: the one that was sent where
// only a fault of the form kept the press from being carried out, or where
// nobody knows whether it was; else a new one.
func keyAgain(o store.Outcome, form slotForm, join bool) string {
	same := o == store.Busy || o == "" && form.Bad() && form.errs[""].Key == ""
	if same && form.key != "" && form.join == join {
		return form.key
	}
	return rand.Text()
}

// ownHold finds this browser's live hold in the slot.
func (s *Server) ownHold(r *http.Request, t store.Tenant, slot oneSlot) (*views.OwnHold, error) {
	visitor := s.knownVisitor(r)
	if visitor == "" {
		return nil, nil
	}
	held, err := s.store.OwnHold(r.Context(), t.ID, slot.ID, visitor)
	if errors.Is(err, store.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &views.OwnHold{
		URL: views.ReservationURL(t.Slug, s.store.ReservationToken(held)), PartySize: held.PartySize,
		Deadline: deadlineOf(r.Context(), t, held.ShownUntil, held.Now, slot.HoldShown),
	}, nil
}

// whyClosed says why a slot can be neither held nor waited for.
func (s *Server) whyClosed(r *http.Request, t store.Tenant, slot store.Slot) string {
	ctx, loc := r.Context(), t.Location()
	c := i18n.In(ctx)
	switch {
	case slot.Status == store.SlotCancelled:
		return i18n.T(ctx, "slot.closed.cancelled")
	case slot.Status == store.SlotClosed:
		return i18n.T(ctx, "slot.closed.closed")
	case slot.Now.Before(slot.OpensAt):
		return i18n.T(ctx, "slot.closed.early", "time", c.DateTime(slot.OpensAt, loc))
	case !slot.Now.Before(slot.ClosesAt):
		return i18n.T(ctx, "slot.closed.late", "time", c.DateTime(slot.ClosesAt, loc))
	default:
		return i18n.T(ctx, "slot.closed.full")
	}
}
