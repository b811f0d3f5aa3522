package worker

import (
	"cmp"
	"net/url"
	"strings"
	"time"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/calendar"
	"holdfast/views/mail"
)

// tokens makes the secrets of links; the store is one.
type tokens interface {
	ReservationToken(store.Reservation) string
	EntryToken(store.Entry) string
	OfferToken(store.Entry) string
	EmailToken(store.Reservation) string
	ReservationProof(store.Reservation) string
	EntryProof(store.Entry) string
}

// Writer turns what the store knows of a message into a mail. Every link is
// built from the configured public address.
type Writer struct {
	Tokens    tokens
	PublicURL *url.URL
	From      string // the sender's address
}

// Write gives the mail of a letter. False: there is no text for its kind.
func (w *Writer) Write(l store.Letter) (Mail, bool) {
	letter := w.letter(l)
	text := mail.Render(letter)
	if text.Subject == "" {
		return Mail{}, false
	}
	m := Mail{
		ID: l.Message.ID, Host: w.PublicURL.Hostname(), Lang: l.Message.Locale, From: w.From, FromName: l.Tenant.Name,
		ReplyTo: l.Tenant.Email, To: l.Message.Recipient, ToName: text.Reader, Subject: text.Subject, Text: text.Body, HTML: text.HTML,
	}
	if cal, some := w.calendar(l); some {
		m.Calendar, m.Method = cal.String(), cal.Method
	}
	if l.Message.Kind == store.KindVacancy {
		// The one kind that goes to many at once, whenever there is news, for as long as
		// somebody waits. The others answer what the reader did, or are about a booking
		// that they hold: nobody can be told less of those. The page asks before anything
		// ends, so that no mail program gives up a place (RFC 8058 is not promised).
		m.Unsubscribe = letter.Link
	}
	m.Line = w.line(l)
	return m, true
}

// calendar is what a message says to a calendar: that a booking stands as it is now,
// or that it is gone. Where a booking has moved on since the message was written
// (cancelled, then restored), only the message about the newest state says it, for
// the newest sequence wins whatever comes with it.
func (w *Writer) calendar(l store.Letter) (calendar.Calendar, bool) {
	lang := l.Message.Locale
	cal := calendar.Calendar{
		Lang: lang, Zone: l.Tenant.Location(), Organizer: calendar.Person{Name: l.Tenant.Name, Email: cmp.Or(l.Tenant.Email, w.From)},
	}
	if l.Message.Kind == store.KindMyLinks {
		// Several bookings at once can't be invitations: they are told of.
		cal.Method = calendar.Publish
		for _, b := range l.Bookings {
			if b.Reservation != nil {
				cal.Events = append(cal.Events, w.event(l.Tenant, lang, *b.Reservation, b.Slot, b.Service, changedAt(*b.Reservation)))
			}
		}
		return cal, len(cal.Events) > 0
	}
	if l.Reservation == nil || l.Slot == nil || l.Reservation.SlotID != l.Slot.ID {
		return calendar.Calendar{}, false
	}
	state := store.Confirmed
	switch l.Message.Kind {
	case store.KindConfirmed, store.KindMoved, store.KindChanged:
		cal.Method = calendar.Request
	case store.KindCancelled, store.KindSlotCancelled:
		cal.Method, state = calendar.Cancel, store.Cancelled
	}
	if cal.Method == calendar.NoMethod || l.Reservation.State != state {
		return calendar.Calendar{}, false
	}
	event := w.event(l.Tenant, lang, *l.Reservation, *l.Slot, l.Service, l.Message.CreatedAt)
	event.Attendee = calendar.Person{Name: l.Reservation.Name, Email: l.Message.Recipient}
	cal.Events = []calendar.Event{event}
	return cal, true
}

// event has a link without the proof of the address: calendars are shared.
func (w *Writer) event(t store.Tenant, lang string, r store.Reservation, s store.Slot, sv store.Service, stamp time.Time) calendar.Event {
	return calendar.Booking{
		ID: r.ID, Number: r.Number, Sequence: r.Sequence, Stamp: stamp, Start: s.StartsAt, End: s.EndsAt, Service: sv.Name.In(lang), Venue: t.Name,
		Where: cmp.Or(t.Address, sv.Place.In(lang)), Link: w.link(views.ReservationURL(t.Slug, w.Tokens.ReservationToken(r))), Cancelled: r.State == store.Cancelled,
	}.Event(lang)
}

// changedAt is the newest moment that a booking itself tells of.
func changedAt(r store.Reservation) time.Time {
	switch {
	case r.EndedAt != nil:
		return *r.EndedAt
	case r.ConfirmedAt != nil:
		return *r.ConfirmedAt
	}
	return r.CreatedAt
}

func (w *Writer) link(path string) string {
	return strings.TrimSuffix(w.PublicURL.String(), "/") + path
}

// reservationLink is the link of a reservation in a mail to recipient. To the
// address of the reservation itself it carries the proof of it.
func (w *Writer) reservationLink(slug, recipient string, r store.Reservation) string {
	page := views.ReservationURL(slug, w.Tokens.ReservationToken(r))
	if store.PersonKey(recipient) == store.PersonKey(r.Email) {
		page = views.Proven(page, w.Tokens.ReservationProof(r))
	}
	return w.link(page)
}

func (w *Writer) entryLink(recipient string, e store.Entry, page string) string {
	if store.PersonKey(recipient) == store.PersonKey(e.Email) {
		page = views.Proven(page, w.Tokens.EntryProof(e))
	}
	return w.link(page)
}

func (w *Writer) letter(l store.Letter) mail.Letter {
	m, lang, slug := l.Message, l.Message.Locale, l.Tenant.Slug
	out := mail.Letter{
		Kind: mail.Kind(m.Kind), Lang: lang, Zone: l.Tenant.Location(),
		Venue: mail.Venue{
			Name: l.Tenant.Name, Phone: phone(l.Tenant), Email: l.Tenant.Email, Address: l.Tenant.Address, MapURL: l.Tenant.MapURL,
			Link: w.link(views.VenueURL(slug)), FindLink: w.link(views.MyReservationsURL(slug)), From: w.From,
		},
		Reason: payloadText(m, "reason"),
	}
	if l.Slot != nil {
		out.Slot = slotText(*l.Slot, l.Service, lang)
		out.Slot.Resource = l.Resource.Name.In(lang)
		out.Slot.Others = w.link(views.VenueFilterURL(slug, views.VenueFilter{Service: l.Service.Slug}))
	}
	switch {
	case l.Reservation != nil:
		r := *l.Reservation
		out.Name, out.Party, out.Number = r.Name, r.PartySize, r.Number
		out.Link = w.reservationLink(slug, m.Recipient, r)
		out.CancelUntil, out.CancelOver = l.Slot.CancelUntil, !l.Slot.Now.Before(l.Slot.CancelUntil)
	case l.Entry != nil:
		e := *l.Entry
		out.Name, out.Party = e.Name, e.PartySize
		out.Link = w.entryLink(m.Recipient, e, views.WaitlistURL(slug, w.Tokens.EntryToken(e)))
		if e.ShownUntil != nil {
			out.Until = *e.ShownUntil
		}
	}
	if l.Staff != nil {
		out.Name, out.Until = l.Staff.Name, l.Staff.Until
		out.Staff = mail.Staff{Role: string(l.Staff.Role), InvitedBy: l.Staff.InvitedBy, Email: l.Staff.Email, Reset: w.link(views.StaffResetURL())}
	}
	switch m.Kind {
	case store.KindStaffInvite:
		if l.Staff != nil {
			out.Link = w.link(views.StaffInvitationURL(slug, l.Staff.Token))
		}
	case store.KindStaffReset:
		if l.Staff != nil {
			out.Link = w.link(views.StaffResetLinkURL(l.Staff.Token))
		}
	case store.KindOffer:
		if l.Entry != nil {
			out.Link = w.entryLink(m.Recipient, *l.Entry, views.OfferURL(slug, w.Tokens.OfferToken(*l.Entry)))
		}
		out.Was = before(out.Slot, m) // told again, because the slot has changed
	case store.KindJoined:
		if l.Entry != nil && l.Slot != nil {
			out.Waitlist = queueText(*l.Slot, *l.Entry)
		}
	case store.KindCancelled:
		out.By = mail.ByVenue
		if payloadText(m, "by") == string(store.Customer) {
			out.By = mail.ByReader
		}
	case store.KindConfirmed:
		out.Again, _ = m.Payload["again"].(bool)
		out.Won = l.Reservation != nil && l.Reservation.Source == store.SourceWaitlist
	case store.KindNotice:
		out.Subject, out.Words = payloadText(m, "subject"), payloadText(m, "text")
	case store.KindRevoked:
		offered, _ := m.Payload["offered"].(bool)
		out.OffList = !offered
	case store.KindConfirmEmail:
		if l.Reservation != nil && l.Reservation.EmailUntil != nil {
			out.Link = w.link(views.EmailChangeURL(slug, w.Tokens.EmailToken(*l.Reservation)))
			out.Until = *l.Reservation.EmailUntil
		}
	case store.KindMoved, store.KindChanged:
		out.Was = before(out.Slot, m)
	case store.KindMyLinks:
		for _, b := range l.Bookings {
			out.Bookings = append(out.Bookings, w.booking(slug, lang, m.Recipient, b))
		}
	}
	ownWords(l, &out)
	if l.News != nil {
		w.news(l, &out)
	}
	return out
}

func slotText(s store.Slot, sv store.Service, lang string) mail.Slot {
	return mail.Slot{
		Service: sv.Name.In(lang), Start: s.StartsAt, End: s.EndsAt,
		Place: sv.Place.In(lang), Price: sv.Price.In(lang), Bring: sv.Bring.In(lang),
	}
}

func queueText(s store.Slot, e store.Entry) mail.Waitlist {
	q := mail.Waitlist{
		Place: e.Place, Of: e.Of, Broadcast: !s.OrderRules, Strict: s.Fit == store.Strict, Answer: s.OfferShown,
	}
	if s.OrderRules && s.OrderUntil != nil {
		q.OrderUntil = *s.OrderUntil
	}
	return q
}

// before is the time that applied until the change that the message is about.
func before(now mail.Slot, m store.Message) *mail.Slot {
	start, startErr := time.Parse(time.RFC3339, payloadText(m, "from_starts_at"))
	end, endErr := time.Parse(time.RFC3339, payloadText(m, "from_ends_at"))
	if startErr != nil || endErr != nil {
		return nil // not told: the text then does without
	}
	was := now
	was.Start, was.End = start, end
	return &was
}

func (w *Writer) booking(slug, lang, recipient string, b store.Booking) mail.Booking {
	line := mail.Booking{Slot: slotText(b.Slot, b.Service, lang)}
	switch {
	case b.Reservation != nil:
		line.Party, line.Number = b.Reservation.PartySize, b.Reservation.Number
		line.Link = w.reservationLink(slug, recipient, *b.Reservation)
	case b.Entry != nil:
		line.Party, line.Offered = b.Entry.PartySize, b.Entry.State == store.Offered
		if line.Offered {
			line.Link = w.entryLink(recipient, *b.Entry, views.OfferURL(slug, w.Tokens.OfferToken(*b.Entry)))
		} else {
			line.Link = w.entryLink(recipient, *b.Entry, views.WaitlistURL(slug, w.Tokens.EntryToken(*b.Entry)))
		}
	}
	return line
}

func payloadText(m store.Message, name string) string {
	text, _ := m.Payload[name].(string)
	return text
}

// phone writes a venue's number as its customers dial it. A mail is read
// anywhere: only where nearly all readers are in the country is its code left out.
func phone(t store.Tenant) string {
	region := ""
	if t.TimeZone == "Asia/Tokyo" {
		region = "JP"
	}
	return store.FormatPhone(t.Phone, region)
}
