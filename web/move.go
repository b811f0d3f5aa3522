package web

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// moveChoices is how many slots the page offers to move to.
const moveChoices = 40

func (s *Server) getMove(w http.ResponseWriter, r *http.Request) error {
	target := r.URL.Query().Get(views.FieldTargetSlot)
	if !store.ValidID(target) {
		target = ""
	}
	return s.movePage(w, r, http.StatusOK, "", target)
}

func (s *Server) postMove(w http.ResponseWriter, r *http.Request) error {
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	target, terms := f.text(views.FieldTargetSlot, 36), f.terms()
	res, err := s.reservation(r)
	if err != nil {
		return err
	}
	if _, bad := f.errs[views.FieldTargetSlot]; bad || !store.ValidID(target) {
		return store.NotFound
	}
	_, err = s.store.Move(r.Context(), store.MoveRequest{TenantID: res.TenantID, ID: res.ID, TargetSlot: target, TargetTerms: terms, Actor: customer(r)})
	if err == nil {
		return s.toReservation(w, r, "flash.moved")
	}
	var o store.Outcome
	if !errors.As(err, &o) || o == store.NotFound {
		return err
	}
	s.noteRefusal(r, o)
	askAgain(w, o)
	if o == store.TermsChanged || o == store.Busy {
		return s.movePage(w, r, answerFor(o).status, o, target)
	}
	return s.movePage(w, r, answerFor(o).status, o, "")
}

// movePage chooses another slot for a booking; with a target it asks once more.
// A booking that can't be moved is shown as it is.
func (s *Server) movePage(w http.ResponseWriter, r *http.Request, status int, o store.Outcome, target string) error {
	t, token := venue(r), chi.URLParam(r, "token")
	res, err := s.reservation(r)
	if err != nil {
		return err
	}
	r = s.inLanguageOf(r, res.Locale)
	ctx := r.Context()
	slot, n, err := s.loadSlot(ctx, t.ID, res.SlotID)
	if err != nil {
		return err
	}
	if res.State != store.Confirmed || !slot.CancelUntil.After(slot.Now) {
		if o == "" {
			return s.toReservation(w, r, "")
		}
		return s.reservationPage(w, r, status, token, o, contactForm{}, nil)
	}
	self := keepProof(r, views.ReservationMoveURL(t.Slug, token))
	v := views.MovePage{
		Page: s.pageAt(r, self), Number: res.Number, From: facts(ctx, t, slot, false), PartySize: res.PartySize, BackURL: keepProof(r, views.ReservationURL(t.Slug, token)),
	}
	v.Page.Secret = true
	if o != "" {
		v.Banner = s.banner(r, o)
	}
	if target != "" {
		to, err := s.store.Slot(ctx, t.ID, target)
		if err != nil {
			return err
		}
		v.Page.Return = moveTo(self, target)
		v.Target = &views.MoveTarget{
			Slot: facts(ctx, t, n.of(to), false), Action: self, TermsVersion: strconv.Itoa(to.TermsVersion),
			CancelRule: cancelRule(ctx, t, to), OthersURL: self,
		}
		return s.render(w, r, status, views.Move(v))
	}
	free, err := s.store.NearestFree(ctx, t.ID, slot.ID, res.PartySize, moveChoices)
	if err != nil {
		return err
	}
	c, loc := i18n.In(ctx), t.Location()
	for _, f := range free {
		date := f.StartsAt.In(loc).Format(time.DateOnly)
		if len(v.Days) == 0 || v.Days[len(v.Days)-1].Date != date {
			v.Days = append(v.Days, views.VenueDay{
				Date: date, Title: c.DateShort(f.StartsAt, loc), Long: c.Date(f.StartsAt, loc), Kind: dayKind(f.StartsAt.In(loc).Weekday()), Current: true,
			})
		}
		one := row(ctx, t, n.of(f))
		one.URL = moveTo(self, f.ID)
		day := &v.Days[len(v.Days)-1]
		day.Slots = append(day.Slots, one)
	}
	return s.render(w, r, status, views.Move(v))
}

func moveTo(self, slot string) string {
	mark := "?"
	if strings.Contains(self, "?") {
		mark = "&"
	}
	return self + mark + url.Values{views.FieldTargetSlot: {slot}}.Encode()
}
