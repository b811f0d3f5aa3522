// Package mail turns finished values into the texts of messages, in the reader's
// language, complete enough to be the only thing that somebody has at hand on the
// way to the venue. Each message is written once, as paragraphs of words, rows and
// links; its plain text and its HTML are two ways to set the same paragraphs, so
// that neither can say what the other does not.
//
// Every text says what is so, what it means for the reader now, and what they
// can do. Every time stands with its weekday and its zone, because a mail is
// read anywhere; every deadline is the shown one. Links are absolute and are
// given by the caller. The package knows no clock and no store.
package mail

import (
	"cmp"
	"strings"
	"time"
	"unicode"

	"holdfast/views/i18n"
)

// Kind is what a message is about; the words are those of the outbox.
type Kind string

// The kinds of messages.
const (
	Confirmed     Kind = "confirmed"
	Cancelled     Kind = "cancelled"
	Moved         Kind = "moved"
	Changed       Kind = "changed"
	SlotCancelled Kind = "slot_cancelled"
	Joined        Kind = "joined"
	Offer         Kind = "offer"
	Lapsed        Kind = "lapsed"
	Revoked       Kind = "revoked"
	Vacancy       Kind = "vacancy"
	Reminder      Kind = "reminder"
	ConfirmEmail  Kind = "confirm_email" // to an address newly named for a booking
	EmailChanged  Kind = "email_changed" // to the address that it had
	MyBookings    Kind = "my_reservations"

	StaffInvite          Kind = "staff_invite"           // to whom a team asks to join
	StaffReset           Kind = "staff_reset"            // with the link for a new password
	StaffPasswordChanged Kind = "staff_password_changed" // to whose password it is
	Notice               Kind = "notice"                 // the venue's own words to the people of a slot
)

// Kinds lists every kind that has a text.
var Kinds = []Kind{
	Confirmed, Cancelled, Moved, Changed, SlotCancelled, Joined, Offer, Lapsed, Revoked, Vacancy, Reminder, ConfirmEmail, EmailChanged, MyBookings, Notice,
	StaffInvite, StaffReset, StaffPasswordChanged,
}

// Letter is all that a text speaks of. Texts are in the reader's language;
// times are instants and are written in Zone. What is empty is left out.
type Letter struct {
	Kind  Kind
	Lang  string // "ja" or "en"
	Zone  *time.Location
	Venue Venue
	Name  string // of the reader
	Slot  Slot   // zero for MyBookings
	Was   *Slot  // Moved, Changed: what applied before; nil if unknown
	Party int
	// Number is the booking number; empty for an entry.
	Number string
	// Link opens the booking, the waitlist entry or the offer; ConfirmEmail: the page with the button.
	Link string

	CancelUntil time.Time // customers may cancel before
	CancelOver  bool      // that moment has passed
	By          By        // Cancelled: who did it
	Reason      string    // why, as staff wrote it
	Until       time.Time // Offer, Lapsed, ConfirmEmail: the shown deadline

	Waitlist Waitlist // Joined
	OffList  bool     // Revoked: the entry left the list; false: its offer was taken back
	Again    bool     // Confirmed: it had been cancelled, and stands again under this number
	Won      bool     // Confirmed: the seats came from the waitlist, by an offer taken or a claim that was first
	Subject  string   // Notice: as the venue wrote it
	Words    string   // Notice: the text as the venue wrote it, with its line breaks
	Bookings []Booking
	Staff    Staff  // of the mails to staff
	Opening  string // what the venue says instead of our first sentence; empty: ours
	News     News   // StaffNotice, StaffDigest
	Line     bool   // it is read in LINE, and only its plain text
	Extra    string // what the venue adds to messages of this kind, plain text with line breaks; empty: nothing
}

// Staff is what the mails to the staff of a venue speak of.
type Staff struct {
	Role      string // "owner", "manager" or "desk": what the reader is invited as
	InvitedBy string // whoever invites; empty: not known
	Email     string // with which the reader signs in
	Reset     string // the page that asks for a new password
}

// By is who cancelled.
type By string

// The sides that can cancel a booking.
const (
	ByReader By = "reader"
	ByVenue  By = "venue"
)

// Venue is the sender and how to reach it. VenueLink and FindLink are pages:
// what can be booked, and the own bookings.
type Venue struct {
	Name     string
	Phone    string
	Email    string
	Address  string
	MapURL   string
	Link     string
	FindLink string
	From     string // the address from which mail comes
}

// Slot is what is booked or waited for.
type Slot struct {
	Service  string
	Resource string
	Start    time.Time
	End      time.Time
	Place    string
	Price    string
	Bring    string
	Others   string // the page with the other times of the service
}

// Waitlist is how the seats of a slot reach those who wait.
type Waitlist struct {
	Place      int       // 1 is next; 0: not waiting any more
	Of         int       // parties waiting
	Broadcast  bool      // everybody is told, first come, first served
	Strict     bool      // nobody passes the party in front
	OrderUntil time.Time // from then on first come, first served; zero: never
	Answer     time.Duration
}

// Booking is a line of MyBookings.
type Booking struct {
	Slot    Slot
	Party   int
	Number  string // empty for a waitlist entry
	Link    string
	Offered bool // a waitlist entry that has an offer open
}

// Text is a message as it is sent.
type Text struct {
	Subject string
	Body    string // plain text; lines end with \n
	HTML    string // a whole document that says the same
	Reader  string // the reader's name, where it may stand beside the address; else empty
}

// Render writes the text of a letter. An unknown kind gives an empty Text,
// which nobody may send.
func Render(l Letter) Text {
	if l.Zone == nil {
		l.Zone = time.UTC
	}
	w := &writer{c: i18n.For(l.Lang), l: l}
	subject := w.write()
	if subject == "" {
		return Text{}
	}
	if !l.toStaff() {
		w.words(l.Extra)
	}
	w.footer()
	subject = oneLine(subject)
	return Text{Subject: subject, Body: w.plain(), HTML: w.html(subject), Reader: l.reader()}
}

// line is a line of a paragraph: words, a row with its label, or a link.
type line struct {
	text   string
	label  string // of a row, whose value is text
	link   string // an address, which is all that the line says
	action string // what the button says, where the link is the one main action
	rule   bool   // a line between the message and who sent it
}

func (l line) empty() bool { return l.text == "" && l.link == "" }

// writer gathers the paragraphs of a message.
type writer struct {
	c      *i18n.Catalog
	l      Letter
	blocks [][]line
}

func (w *writer) add(lines ...line) {
	var kept []line
	for _, l := range lines {
		if !l.empty() {
			kept = append(kept, l)
		}
	}
	if len(kept) > 0 {
		w.blocks = append(w.blocks, kept)
	}
}

// say adds a paragraph.
func (w *writer) say(key i18n.Key, args ...any) {
	if w.l.Opening != "" && w.opens(key) {
		w.words(w.l.Opening)
		return
	}
	key, said := w.wording(key)
	if said {
		w.add(line{text: w.c.T(key, args...)})
	}
}

// follow adds a sentence with the link below it.
func (w *writer) follow(key i18n.Key, link string, args ...any) {
	if key, said := w.wording(key); said && link != "" {
		w.add(line{text: w.c.T(key, args...)}, line{link: link})
	}
}

// act is follow for the one thing that the reader is most likely to do now.
func (w *writer) act(key i18n.Key, link string, button i18n.Key) {
	if link != "" {
		w.add(line{text: w.c.T(key)}, line{link: link, action: w.c.T(button)})
	}
}

// plain sets the message as plain text.
func (w *writer) plain() string {
	var b strings.Builder
	for i, block := range w.blocks {
		if i > 0 {
			b.WriteString("\n")
		}
		for _, l := range block {
			switch {
			case l.link != "":
				b.WriteString(l.link)
			case l.label != "":
				b.WriteString(w.c.T("mail.row", "label", l.label, "value", i18n.Isolate(l.text)))
			default:
				b.WriteString(l.text)
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

func (w *writer) write() (subject string) {
	l := w.l
	w.greet()
	about := []any{"venue", oneLine(l.Venue.Name), "service", oneLine(l.Slot.Service), "date", w.moment(l.Slot.Start)}
	switch l.Kind {
	case Confirmed:
		subject := i18n.Key("mail.confirmed.subject")
		switch {
		case l.Again:
			w.say("mail.confirmed.again")
		case l.Won:
			subject = "mail.confirmed.subject.won"
			w.say("mail.confirmed.won")
			w.say("mail.confirmed.lead")
		default:
			w.say("mail.confirmed.lead")
		}
		w.booking()
		w.changes()
		return w.c.T(subject, about...)
	case Reminder:
		w.say("mail.reminder.lead")
		w.booking()
		w.changes()
		return w.c.T("mail.reminder.subject", about...)
	case Moved:
		w.say("mail.moved.lead")
		w.before()
		w.booking()
		w.reason()
		w.changes()
		return w.c.T("mail.moved.subject", about...)
	case Changed:
		w.say("mail.changed.lead")
		w.before()
		w.booking()
		w.reason()
		w.say("mail.changed.sorry")
		w.changes()
		return w.c.T("mail.changed.subject", about...)
	case Cancelled:
		if l.By == ByReader {
			w.say("mail.cancelled.lead.reader")
		} else {
			w.say("mail.cancelled.lead.venue")
		}
		w.reason()
		w.booking()
		w.act("mail.cancelled.again", cmp.Or(l.Slot.Others, l.Venue.Link), "mail.button.others")
		if l.By != ByReader {
			w.say("mail.cancelled.unexpected")
		}
		return w.c.T("mail.cancelled.subject", about...)
	case SlotCancelled:
		if l.Number != "" {
			w.say("mail.slot_cancelled.lead.booked")
		} else {
			w.say("mail.slot_cancelled.lead.waiting")
		}
		w.reason()
		w.booking()
		w.act("mail.slot_cancelled.again", cmp.Or(l.Slot.Others, l.Venue.Link), "mail.button.others")
		return w.c.T("mail.slot_cancelled.subject", about...)
	case Joined:
		w.say("mail.joined.lead")
		w.say("mail.joined.not_yet")
		w.booking()
		w.queue()
		w.act("mail.joined.link", l.Link, "mail.button.entry")
		return w.c.T("mail.joined.subject", about...)
	case Offer:
		until := w.at(l.Until)
		w.say("mail.offer.lead", "time", until)
		w.act("mail.offer.link", l.Link, "mail.button.offer")
		if l.Was != nil {
			w.say("mail.offer.changed")
			w.before()
			w.reason()
		}
		w.booking()
		w.say("mail.offer.next", "time", until)
		return w.c.T("mail.offer.subject", append(about, "time", w.moment(l.Until))...)
	case Lapsed:
		if l.Until.IsZero() {
			w.say("mail.lapsed.lead.unknown")
		} else {
			w.say("mail.lapsed.lead", "time", w.at(l.Until))
		}
		w.booking()
		w.act("mail.lapsed.again", l.Link, "mail.button.rejoin")
		return w.c.T("mail.lapsed.subject", about...)
	case Revoked:
		if l.OffList {
			w.say("mail.revoked.lead.entry")
		} else {
			w.say("mail.revoked.lead.offer")
		}
		w.reason()
		w.booking()
		w.act("mail.revoked.again", cmp.Or(l.Slot.Others, l.Venue.Link), "mail.button.others")
		return w.c.T("mail.revoked.subject", about...)
	case Vacancy:
		w.say("mail.vacancy.lead")
		w.act("mail.vacancy.link", l.Link, "mail.button.vacancy")
		w.booking()
		w.say("mail.vacancy.keeps")
		return w.c.T("mail.vacancy.subject", about...)
	case ConfirmEmail:
		w.say("mail.confirm_email.lead")
		w.act("mail.confirm_email.link", l.Link, "mail.button.confirm_email")
		w.say("mail.confirm_email.until", "time", w.at(l.Until))
		w.add(w.row("mail.row.service", l.Slot.Service), w.row("mail.row.when", w.span(l.Slot)))
		w.say("mail.confirm_email.unexpected")
		return w.c.T("mail.confirm_email.subject", about...)
	case EmailChanged:
		w.say("mail.email_changed.lead")
		w.add(w.row("mail.row.service", l.Slot.Service), w.row("mail.row.when", w.span(l.Slot)))
		w.say("mail.email_changed.unexpected")
		return w.c.T("mail.email_changed.subject", about...)
	case Notice:
		if oneLine(l.Subject) == "" {
			return ""
		}
		w.words(l.Words)
		w.say("mail.notice.about")
		w.booking()
		if l.Number != "" {
			w.changes()
		} else {
			w.act("mail.joined.link", l.Link, "mail.button.entry")
		}
		return w.c.T("mail.notice.subject", "venue", oneLine(l.Venue.Name), "subject", oneLine(l.Subject))
	case StaffNotice, StaffDigest:
		return w.news()
	case StaffInvite:
		if by := oneLine(l.Staff.InvitedBy); by != "" && !strings.Contains(by, "://") && !strings.Contains(strings.ToLower(by), "www.") {
			w.say("mail.staff_invite.lead", "by", i18n.Isolate(by), "venue", i18n.Isolate(oneLine(l.Venue.Name)), "role", w.c.T(i18n.Key("mail.staff_invite.role."+l.Staff.Role)))
		} else {
			w.say("mail.staff_invite.lead.unknown", "venue", i18n.Isolate(oneLine(l.Venue.Name)), "role", w.c.T(i18n.Key("mail.staff_invite.role."+l.Staff.Role)))
		}
		w.act("mail.staff_invite.link", l.Link, "mail.button.staff_invite")
		w.say("mail.staff_invite.until", "time", w.at(l.Until))
		w.say("mail.staff_invite.unexpected")
		return w.c.T("mail.staff_invite.subject", about...)
	case StaffReset:
		w.say("mail.staff_reset.lead", "email", l.Staff.Email)
		w.act("mail.staff_reset.link", l.Link, "mail.button.staff_reset")
		w.say("mail.staff_reset.until", "time", w.at(l.Until))
		w.say("mail.staff_reset.unexpected")
		return w.c.T("mail.staff_reset.subject")
	case StaffPasswordChanged:
		w.say("mail.staff_password_changed.lead", "email", l.Staff.Email)
		w.say("mail.staff_password_changed.ended")
		w.act("mail.staff_password_changed.unexpected", l.Staff.Reset, "mail.button.staff_reset")
		return w.c.T("mail.staff_password_changed.subject")
	case MyBookings:
		w.say("mail.mine.lead")
		for _, b := range l.Bookings {
			w.listed(b)
		}
		w.say("mail.mine.keep")
		return w.c.T("mail.mine.subject", about...)
	}
	return ""
}

// words adds a text as somebody wrote it, paragraph by paragraph. Its lines stay
// lines; what could pretend to be another part of the mail does not.
func (w *writer) words(text string) {
	var lines []line
	for typed := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		if typed = oneLine(typed); typed == "" {
			w.add(lines...)
			lines = nil
			continue
		}
		lines = append(lines, line{text: typed})
	}
	w.add(lines...)
}

// toStaff reports whether it is staff who read the letter, not customers.
func (l Letter) toStaff() bool {
	return l.Kind == StaffInvite || l.Kind == StaffReset || l.Kind == StaffPasswordChanged || l.Kind == StaffNotice || l.Kind == StaffDigest
}

func (w *writer) greet() {
	name := w.l.reader()
	if oneLine(w.l.Name) == "" && w.l.toStaff() {
		return // not a customer, and nobody we know yet
	}
	if name == "" {
		w.say("mail.greeting.none")
		return
	}
	w.say("mail.greeting", "name", i18n.Isolate(name))
}

// reader is the name of the reader. A form can be sent with somebody else's address
// and words of a stranger as the name: our mail must not carry a stranger's link to
// them, and no name of anybody to an address that is still to be confirmed.
func (l Letter) reader() string {
	name := oneLine(l.Name)
	if l.Kind == ConfirmEmail || strings.Contains(name, "://") || strings.Contains(strings.ToLower(name), "www.") {
		return ""
	}
	return name
}

// at writes an instant so that nobody can mistake it.
func (w *writer) at(t time.Time) string {
	return w.c.WithZone(w.c.DateTime(t, w.l.Zone), t, w.l.Zone)
}

// moment is at without the year, for a subject; nothing for no time.
func (w *writer) moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return w.c.WithZone(w.c.DateTimeShort(t, w.l.Zone), t, w.l.Zone)
}

// span writes the time of a slot with the long name of its zone.
func (w *writer) span(s Slot) string {
	return w.c.DateTimeRange(s.Start, s.End, w.l.Zone) + " " + w.c.ZoneLong(s.Start, w.l.Zone)
}

func (w *writer) row(key i18n.Key, value string) line {
	if value = oneLine(value); value == "" {
		return line{}
	}
	return line{label: w.c.T(key), text: value}
}

func (w *writer) party(n int) string {
	if n == 0 {
		return ""
	}
	return w.c.T("mail.party", "n", n)
}

// booking lists what is booked or waited for.
func (w *writer) booking() {
	l := w.l
	w.add(
		w.row("mail.row.service", l.Slot.Service),
		w.row("mail.row.when", w.span(l.Slot)),
		w.row("mail.row.resource", l.Slot.Resource),
		w.row("mail.row.party", w.party(l.Party)),
		w.toCome("mail.row.price", l.Slot.Price),
		w.toCome("mail.row.place", l.Slot.Place),
		w.toCome("mail.row.bring", l.Slot.Bring),
		w.row("mail.row.number", l.Number),
	)
}

// toCome is a row for those who come: nobody has to bring anything to what was cancelled.
func (w *writer) toCome(key i18n.Key, value string) line {
	switch w.l.Kind {
	case Cancelled, SlotCancelled, Lapsed, Revoked:
		return line{}
	}
	return w.row(key, value)
}

// before lists what applied until now, where that is known.
func (w *writer) before() {
	if w.l.Was == nil {
		return
	}
	was, now := *w.l.Was, w.l.Slot
	var lines []line
	if !was.Start.Equal(now.Start) || !was.End.Equal(now.End) {
		lines = append(lines, w.row("mail.row.was", w.span(was)))
	}
	if was.Service != now.Service {
		lines = append(lines, w.row("mail.row.service", was.Service))
	}
	if was.Resource != now.Resource {
		lines = append(lines, w.row("mail.row.resource", was.Resource))
	}
	w.add(lines...)
}

func (w *writer) reason() {
	if reason := oneLine(w.l.Reason); reason != "" {
		w.say("mail.reason", "reason", i18n.Isolate(reason))
	}
}

// changes says how to change or cancel, and until when.
func (w *writer) changes() {
	l := w.l
	w.act("mail.changes.link", l.Link, "mail.button.booking")
	switch {
	case l.CancelUntil.IsZero():
	case l.CancelOver:
		w.say("mail.changes.over", "time", w.at(l.CancelUntil))
	default:
		w.say("mail.changes.until", "time", w.at(l.CancelUntil))
	}
}

// queue says how the seats reach those who wait.
func (w *writer) queue() {
	q := w.l.Waitlist
	if q.Place > 0 {
		w.say("mail.queue.place", "place", w.c.Ordinal(q.Place), "n", q.Of)
	}
	if q.Broadcast {
		w.say("mail.queue.broadcast")
	} else {
		w.say("mail.queue.order", "answer", w.c.Duration(q.Answer))
		if q.Strict {
			w.say("mail.queue.strict")
		}
		if !q.OrderUntil.IsZero() {
			w.say("mail.queue.order_until", "time", w.at(q.OrderUntil))
		}
	}
	if w.l.Venue.From != "" {
		w.say("mail.queue.from", "address", w.l.Venue.From)
	}
}

// listed is one booking or entry of somebody's list.
func (w *writer) listed(b Booking) {
	state := w.c.T("mail.mine.booked")
	switch {
	case b.Offered:
		state = w.c.T("mail.mine.offered")
	case b.Number == "":
		state = w.c.T("mail.mine.waiting")
	}
	w.add(
		line{text: state},
		w.row("mail.row.service", b.Slot.Service),
		w.row("mail.row.when", w.span(b.Slot)),
		w.row("mail.row.party", w.party(b.Party)),
		w.row("mail.row.number", b.Number),
		line{link: b.Link},
	)
}

// footer says who writes and how to reach them.
func (w *writer) footer() {
	v := w.l.Venue
	w.add(
		line{text: w.c.T("mail.footer.line"), rule: true},
		line{text: i18n.Isolate(oneLine(v.Name))},
		line{text: i18n.Isolate(oneLine(v.Address))},
		line{link: oneLine(v.MapURL)},
		w.row("mail.row.phone", v.Phone),
		w.row("mail.row.email", v.Email),
		line{link: v.Link},
	)
	if w.l.Kind != MyBookings && !w.l.toStaff() && v.FindLink != "" {
		w.follow("mail.footer.find", v.FindLink)
	}
	if v.Email != "" {
		w.say("mail.footer.reply")
	} else {
		w.say("mail.footer.no_reply")
	}
}

// oneLine keeps what a person typed from making lines of its own.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) bool {
		return r == ' ' || unicode.IsControl(r) || r == '\u2028' || r == '\u2029'
	}), " ")
}
