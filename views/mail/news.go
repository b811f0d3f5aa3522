package mail

import (
	"time"

	"holdfast/views/i18n"
)

// The kinds that tell a member of a team what happens at their venue.
const (
	StaffNotice Kind = "staff_notice"
	StaffDigest Kind = "staff_digest"
)

// News is what they speak of. Slot, Party and Number of the letter are those of
// the booking, Name is the member's, Link opens the page of the staff.
type News struct {
	About    string // "booked", "cancelled" or "failed"; empty for the digest
	Customer string
	Phone    string
	Failed   string // "failed": the kind of message, in words
	Why      string // "failed": what the mail server said
	Date     time.Time
	Day      []NewsSlot
	Waiting  int    // parties that wait that day
	Unsent   int    // messages that could not be sent
	Choose   string // the page on which the member chooses what they are told
}

// NewsSlot is a line of the digest.
type NewsSlot struct {
	Service  string
	Start    time.Time
	End      time.Time
	Booked   int
	Capacity int
	Waiting  int
}

// news writes both kinds.
func (w *writer) news() (subject string) {
	l, n := w.l, w.l.News
	venue := oneLine(l.Venue.Name)
	if l.Kind == StaffDigest {
		date := w.c.DateShort(n.Date, l.Zone)
		if len(n.Day) == 0 {
			w.say("mail.staff_digest.none", "date", date)
		} else {
			w.say("mail.staff_digest.lead", "date", date, "zone", w.c.ZoneLong(n.Date, l.Zone))
			var lines []line
			for _, s := range n.Day {
				text := w.c.T("mail.staff_digest.slot", "time", w.c.TimeRange(s.Start, s.End, l.Zone), "service", i18n.Isolate(oneLine(s.Service)), "n", s.Booked, "capacity", s.Capacity)
				if s.Waiting > 0 {
					text += w.c.T("mail.staff_digest.waiting", "n", s.Waiting)
				}
				lines = append(lines, line{text: text})
			}
			w.add(lines...)
		}
		if n.Unsent > 0 {
			w.say("mail.staff_digest.unsent", "n", n.Unsent)
		}
		w.act("mail.staff_digest.link", l.Link, "mail.button.staff_digest")
		w.follow("mail.staff_notice.choose", n.Choose)
		return w.c.T("mail.staff_digest.subject", "venue", venue, "date", date)
	}
	w.say(i18n.Key("mail.staff_notice.lead." + n.About))
	if n.About == "failed" {
		w.add(w.row("mail.staff_notice.kind", n.Failed), w.row("mail.staff_notice.why", n.Why))
	}
	w.add(w.row("mail.staff_notice.customer", n.Customer), w.row("mail.row.phone", n.Phone))
	if !l.Slot.Start.IsZero() {
		w.add(
			w.row("mail.row.service", l.Slot.Service), w.row("mail.row.when", w.span(l.Slot)), w.row("mail.row.resource", l.Slot.Resource),
			w.row("mail.row.party", w.party(l.Party)), w.row("mail.row.number", l.Number),
		)
	}
	w.reason()
	w.act("mail.staff_notice.link", l.Link, "mail.button.staff_notice")
	w.follow("mail.staff_notice.choose", n.Choose)
	return w.c.T(i18n.Key("mail.staff_notice.subject."+n.About), "venue", venue, "service", oneLine(l.Slot.Service), "date", w.moment(l.Slot.Start))
}
