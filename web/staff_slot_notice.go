package web

import (
	"context"
	"crypto/rand"
	"net/http"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// The longest message of staff's own words, in characters.
const (
	longestSubject = 200
	longestText    = 4000
)

// noticeForm is a message to everybody as typed. Its text stands in no address:
// looking at it first is a POST that answers with the page.
type noticeForm struct {
	booked, waiting bool
	texts           map[string]store.NoticeText // as typed, by language
	key             string
	errs            formErrors
}

func decodeNotice(f *form) noticeForm {
	n := noticeForm{
		booked: f.text(views.FieldToBooked, 1) == "1", waiting: f.text(views.FieldToWaiting, 1) == "1", texts: map[string]store.NoticeText{},
		key: f.text(views.FieldIdempotencyKey, longestKey), errs: f.errs,
	}
	written := false
	for _, lang := range i18n.Languages {
		subject, text := views.FieldSubject(lang), views.FieldText(lang)
		typed := store.NoticeText{Subject: f.text(subject, longestSubject), Text: f.lines(text, longestText)}
		n.texts[lang] = typed
		switch {
		case typed.Subject == "" && typed.Text == "":
			continue
		case typed.Subject == "":
			f.errs.fault(subject, "staff.err.notice_subject")
		case typed.Text == "":
			f.errs.fault(text, "staff.err.notice_text")
		}
		written = true
	}
	if !written && !f.bad() {
		first := i18n.Languages[0]
		f.errs.fault(views.FieldSubject(first), "staff.err.notice_subject")
		f.errs.fault(views.FieldText(first), "staff.err.notice_text")
	}
	if !n.booked && !n.waiting {
		f.errs.fault(views.FieldToBooked, "staff.err.notice_to")
	}
	f.errs.hidden(views.FieldIdempotencyKey, views.FieldVersion)
	return n
}

// given are the texts that were written, and the language for those whose own is not among them.
func (n noticeForm) given(t store.Tenant) (map[string]store.NoticeText, string) {
	given, fallback := map[string]store.NoticeText{}, ""
	for _, lang := range append([]string{t.Locale}, i18n.Languages...) {
		if typed := n.texts[lang]; typed.Subject != "" && typed.Text != "" {
			given[lang] = typed
			if fallback == "" {
				fallback = lang
			}
		}
	}
	return given, fallback
}

func (s *Server) getNotice(w http.ResponseWriter, r *http.Request) error {
	return s.noticePage(w, r, http.StatusOK, slotPress{}, noticeForm{booked: true}, false)
}

// noticePage is the form, and with look what would be sent and to whom.
func (s *Server) noticePage(w http.ResponseWriter, r *http.Request, status int, press slotPress, n noticeForm, look bool) error {
	ctx := r.Context()
	c, err := s.loadCounter(r)
	if err != nil {
		return err
	}
	if c.over() && status == http.StatusOK {
		return s.see(w, r, c.url(), "") // there is nobody to write to any more
	}
	if n.key == "" {
		n.key = rand.Text()
	}
	self := views.StaffSlotMessageURL(c.tenant.Slug, c.ID)
	v := views.StaffNoticePage{Slot: c.head(ctx), ActionURL: self, IdempotencyKey: n.key, Errs: n.errs.in(ctx), Problem: press.problem, Changed: press.changed}
	if fault, bad := n.errs[""]; bad {
		v.Problem = fault.In(ctx) // of what nobody types
	}
	booked, waiting := c.noticePeople()
	v.Booked = views.StaffCheck{ID: "to-booked", Name: views.FieldToBooked, Checked: n.booked, Text: i18n.T(ctx, "staff.notice.to_booked", "n", len(booked)), Err: v.Errs[views.FieldToBooked]}
	v.Waiting = views.StaffCheck{ID: "to-waiting", Name: views.FieldToWaiting, Checked: n.waiting, Text: i18n.T(ctx, "staff.notice.to_waiting", "n", len(waiting))}
	readers := map[string]int{}
	for _, p := range append(append([]store.Reservation{}, booked...), waiting...) {
		readers[p.Locale]++
	}
	for _, lang := range i18n.Languages {
		v.Texts = append(v.Texts, views.StaffNoticeText{
			Lang: lang, Title: i18n.T(ctx, i18n.Key("staff.notice.in."+lang)), Subject: n.texts[lang].Subject, Text: n.texts[lang].Text,
			Hint: i18n.T(ctx, "staff.notice.readers", "n", readers[lang]), Folded: readers[lang] == 0 && lang != c.tenant.Locale && n.texts[lang] == store.NoticeText{} && len(n.errs) == 0,
		})
	}
	if look {
		v.Preview = c.noticePreview(ctx, n, booked, waiting)
	}
	if v.Page, v.Staff, err = s.staffPage(r, "", i18n.T(ctx, "staff.notice.title"), self); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffNotice(v))
}

// noticePeople are those who are booked and those who wait, as far as a message asks about them.
func (c counter) noticePeople() (booked, waiting []store.Reservation) {
	for _, r := range c.roster {
		if r.State == store.Confirmed {
			booked = append(booked, r)
		}
	}
	for _, e := range c.entries {
		if e.Live() {
			waiting = append(waiting, store.Reservation{ID: e.ID, Name: e.Name, Kana: e.Kana, Email: e.Email, Phone: e.Phone, Locale: e.Locale, PartySize: e.PartySize})
		}
	}
	return booked, waiting
}

// noticePreview is what would be sent, to whom, and whom somebody has to call.
func (c counter) noticePreview(ctx context.Context, n noticeForm, booked, waiting []store.Reservation) *views.StaffNoticePreview {
	var people []store.Reservation
	if n.booked {
		people = append(people, booked...)
	}
	if n.waiting {
		people = append(people, waiting...)
	}
	given, fallback := n.given(c.tenant)
	p := &views.StaffNoticePreview{}
	seen, count, mails := map[string]bool{}, map[string]int{}, 0
	for _, who := range people {
		person := store.PersonKey(who.Email)
		switch {
		case who.Email == "":
			call := views.StaffStepWho{Name: called(ctx, who.Name), Kana: who.Kana, Party: who.PartySize}
			call.Phone, call.PhoneURL = phone(c.tenant, who.Phone)
			p.Callers = append(p.Callers, call)
		case !seen[person]:
			seen[person] = true
			lang := who.Locale
			if _, own := given[lang]; !own {
				lang = fallback
			}
			count[lang]++
			mails++
		}
	}
	for _, lang := range i18n.Languages {
		text, there := given[lang]
		if !there {
			continue
		}
		p.Letters = append(p.Letters, views.StaffNoticeLetter{
			Lang: lang, Subject: text.Subject, Text: text.Text, Title: i18n.T(ctx, i18n.Key("staff.would.mails."+lang), "n", count[lang]),
		})
		p.Fields = append(p.Fields, views.Hidden{Name: views.FieldSubject(lang), Value: text.Subject}, views.Hidden{Name: views.FieldText(lang), Value: text.Text})
	}
	p.Consequence = append(p.Consequence, consequence(ctx, "mail", "staff.would.notice", "n", mails), consequence(ctx, "kept", "staff.would.notice_obsolete"))
	p.Fields = append(p.Fields, views.Hidden{Name: views.FieldIdempotencyKey, Value: n.key})
	for name, on := range map[string]bool{views.FieldToBooked: n.booked, views.FieldToWaiting: n.waiting} {
		if on {
			p.Fields = append(p.Fields, views.Hidden{Name: name, Value: "1"})
		}
	}
	p.SendTo = i18n.T(ctx, "staff.notice.send", "n", mails)
	return p
}

// postNotice shows what would be sent; with send, it sends.
func (s *Server) postNotice(w http.ResponseWriter, r *http.Request) error {
	f, slot, err := formFor(s, w, r, slotParam)
	if err != nil {
		return err
	}
	t, n := venue(r), decodeNotice(f)
	send := f.text(views.FieldSend, 1) == "1"
	delete(f.errs, views.FieldSend) // nonsense sends nothing
	if f.bad() {
		return s.noticePage(w, r, http.StatusUnprocessableEntity, slotPress{}, n, false)
	}
	if !send {
		return s.noticePage(w, r, http.StatusOK, slotPress{}, n, true)
	}
	back := func(status int, press slotPress) error {
		return s.noticePage(w, r, status, press, n, press.changed != nil)
	}
	return s.press(w, r, staffPress{
		step: stepMessage, form: f, back: back,
		do: func(version *int64) (staffDone, error) {
			given, fallback := n.given(t)
			sent, err := s.store.SendNotice(r.Context(), store.NoticeRequest{
				TenantID: t.ID, SlotID: slot, Booked: n.booked, Waiting: n.waiting, Texts: given, Fallback: fallback, Key: n.key, Actor: me(r).actor(r), Version: version,
			})
			done := staffDone{N: sent.Told, IDs: sent.Callers, Already: sent.Already}
			if sent.Told > 0 {
				done.Says = []i18n.Key{"staff.then.mails"}
			}
			return done, err
		},
	})
}
