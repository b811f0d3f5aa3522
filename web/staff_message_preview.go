package web

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
	"holdfast/views/mail"
)

// The languages in which messages are written.
var mailLanguages = []string{i18n.JA, i18n.EN}

// previewKinds are all kinds that have a text.
var previewKinds = append(slices.Clone(mail.Kinds), mail.StaffNotice, mail.StaffDigest)

// getPreviews shows what a kind of message looks like, with example data and
// the venue's own name and words. Nothing is sent.
func (s *Server) getPreviews(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	kind, lang := previewOf(r, t)
	v := views.StaffPreviewsPage{BackURL: views.StaffMailURL(t.Slug), When: i18n.T(ctx, i18n.Key("message.when."+string(kind)))}
	for _, k := range previewKinds {
		v.Kinds = append(v.Kinds, views.StaffFilter{Text: mailKind(ctx, store.MessageKind(k)), URL: views.StaffPreviewURL(t.Slug, string(k), lang), Current: string(k) == string(kind)})
	}
	for _, l := range mailLanguages {
		v.Languages = append(v.Languages, views.StaffFilter{Text: i18n.T(ctx, i18n.Key("message.lang."+l)), URL: views.StaffPreviewURL(t.Slug, string(kind), l), Current: l == lang})
	}
	own, err := s.store.MessageText(ctx, t.ID, kind, lang)
	if err != nil {
		return err
	}
	v.Letter = ownExample(t, s.exampleLetter(t, kind, lang), own)
	text := r.URL.Query().Get("part") == "text"
	v.Parts = []views.StaffFilter{
		{Text: i18n.T(ctx, "message.part.html"), URL: views.StaffPreviewURL(t.Slug, string(kind), lang), Current: !text},
		{Text: i18n.T(ctx, "message.part.text"), URL: views.StaffPreviewTextURL(t.Slug, string(kind), lang), Current: text},
	}
	if !text {
		v.FrameURL = views.StaffPreviewHTMLURL(t.Slug, string(kind), lang)
	}
	if me(r).can(setUp) && slices.Contains(mail.OwnKinds, mail.Kind(kind)) {
		v.TextURL = views.StaffTextURL(t.Slug, string(kind), lang)
	}
	if v.Page, v.Staff, err = s.staffPage(r, "messages", i18n.T(ctx, "message.previews.title"), r.URL.RequestURI()); err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, views.StaffPreviews(v))
}

// previewOf is the kind and the language that a preview is asked for; what there is not gives the usual.
func previewOf(r *http.Request, t store.Tenant) (store.MessageKind, string) {
	kind, lang := store.MessageKind(r.URL.Query().Get("kind")), r.URL.Query().Get("lang")
	if !slices.Contains(previewKinds, mail.Kind(kind)) {
		kind = store.KindConfirmed
	}
	if !i18n.Known(lang) {
		lang = t.Locale
	}
	return kind, lang
}

// getPreviewHTML is the HTML part of the example, as mail programs get it. It has
// styles of its own and words that the venue wrote: in a sandbox without an origin
// it can run nothing, send nothing, open nothing, and only our page may frame it.
func (s *Server) getPreviewHTML(w http.ResponseWriter, r *http.Request) error {
	t := venue(r)
	kind, lang := previewOf(r, t)
	own, err := s.store.MessageText(r.Context(), t.ID, kind, lang)
	if err != nil {
		return err
	}
	l := s.exampleLetter(t, kind, lang)
	l.Opening, l.Extra = mail.Fill(l, own.Opening), mail.Fill(l, own.Extra)
	// Links lead into a new window, which the sandbox does not have: so nowhere.
	body := strings.Replace(mail.Render(l).HTML, "<title>", "<base target=\"_blank\">\n<title>", 1)
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox")
	h.Set("X-Frame-Options", "SAMEORIGIN")
	h.Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write([]byte(body)) // the visitor may have left
	}
	return nil
}

// exampleAddress belongs to nobody (RFC 2606).
const exampleAddress = "hanako@example.com"

// exampleLetter has something for all that a kind speaks of. Its links lead
// nowhere: "…" stands where a secret would.
func (s *Server) exampleLetter(t store.Tenant, kind store.MessageKind, lang string) mail.Letter {
	say := func(key i18n.Key) string { return i18n.For(lang).T(key) }
	loc := t.Location()
	y, m, d := s.now().In(loc).AddDate(0, 0, 7).Date()
	start := time.Date(y, m, d, 18, 30, 0, 0, loc)
	link := func(path string) string { return s.cfg.PublicURL.Scheme + "://" + s.cfg.PublicURL.Host + path }
	secret := link(views.VenueURL(t.Slug) + "/…")
	telephone, _ := phone(t, t.Phone)
	slot := mail.Slot{
		Service: say("message.example.service"), Resource: say("message.example.resource"), Start: start, End: start.Add(time.Hour),
		Place: say("message.example.place"), Price: say("message.example.price"), Bring: say("message.example.bring"), Others: link(views.VenueURL(t.Slug)),
	}
	was := slot
	was.Start, was.End = slot.Start.AddDate(0, 0, -1), slot.End.AddDate(0, 0, -1)
	l := mail.Letter{
		Kind: mail.Kind(kind), Lang: lang, Zone: loc, Name: say("message.example.name"), Slot: slot, Party: 2, Link: secret,
		Venue: mail.Venue{
			Name: t.Name, Phone: telephone, Email: t.Email, Address: t.Address, MapURL: t.MapURL, Link: link(views.VenueURL(t.Slug)),
			FindLink: link(views.MyReservationsURL(t.Slug)), From: s.cfg.MailFrom,
		},
		CancelUntil: start.Add(-24 * time.Hour),
	}
	switch kind {
	case store.KindConfirmed, store.KindReminder:
		l.Number = exampleNumber
	case store.KindMoved, store.KindChanged:
		l.Number, l.Was = exampleNumber, &was
	case store.KindCancelled, store.KindSlotCancelled:
		l.Number, l.By, l.Reason = exampleNumber, mail.ByVenue, say("message.example.reason")
	case store.KindJoined:
		l.Waitlist = mail.Waitlist{Place: 3, Of: 7, OrderUntil: start.Add(-3 * time.Hour), Answer: 30 * time.Minute}
	case store.KindOffer, store.KindLapsed:
		l.Until = start.Add(-8 * time.Hour)
	case store.KindRevoked:
		l.Reason = say("message.example.reason")
	case store.KindConfirmEmail:
		l.Until = start.AddDate(0, 0, -5)
	case store.KindNotice:
		l.Number, l.Subject, l.Words = exampleNumber, say("message.example.notice_subject"), say("message.example.notice")
	case store.KindStaffInvite, store.KindStaffReset, store.KindStaffPasswordChanged:
		l.Until = s.now().AddDate(0, 0, 2)
		l.Staff = mail.Staff{Role: string(store.RoleDesk), InvitedBy: say("message.example.colleague"), Email: exampleAddress, Reset: link(views.StaffResetURL())}
	case store.KindStaffNotice:
		l.Number, l.Name = exampleNumber, say("message.example.colleague")
		l.News = mail.News{About: "booked", Customer: say("message.example.name"), Choose: link(views.StaffNoticesURL(t.Slug))}
	case store.KindStaffDigest:
		l.Name = say("message.example.colleague")
		l.News = mail.News{
			Date: start, Waiting: 3, Unsent: 1, Choose: link(views.StaffNoticesURL(t.Slug)),
			Day: []mail.NewsSlot{{Service: slot.Service, Start: slot.Start, End: slot.End, Booked: 7, Capacity: 8, Waiting: 3}},
		}
	case store.KindMyLinks:
		l.Bookings = []mail.Booking{
			{Slot: slot, Party: 2, Number: exampleNumber, Link: secret},
			{Slot: was, Party: 1, Link: secret, Offered: true},
		}
	}
	return l
}

// exampleNumber has the form of a booking number and is none.
const exampleNumber = "K7P2M4X"
