package worker

import (
	"strings"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
	"holdfast/views/mail"
)

// ownWords puts in what the venue says in its own words.
func ownWords(l store.Letter, out *mail.Letter) {
	out.Opening, out.Extra = mail.Fill(*out, l.Text.Opening), mail.Fill(*out, l.Text.Extra)
}

// line is the message as it goes by LINE; nil where it can't. To somebody who
// has not proved to have the mailbox its link carries no proof of the address.
func (w *Writer) line(l store.Letter) *LineLetter {
	if l.Line == nil {
		return nil
	}
	out := &LineLetter{Message: l.Message, Way: *l.Line}
	if l.Line.User == "" {
		return out
	}
	if !l.Line.Proven {
		l.Message.Recipient = "" // nobody's: see reservationLink
	}
	letter := w.letter(l)
	letter.Line = true
	text := mail.Render(letter)
	out.Text = cutLine(text.Subject+"\n\n"+strings.TrimRight(text.Body, "\n"), letter.Link)
	return out
}

// news fills in what tells a member of a team. The links are those of the
// staff's pages: they open nothing without signing in.
func (w *Writer) news(l store.Letter, out *mail.Letter) {
	n, lang, slug := l.News, l.Message.Locale, l.Tenant.Slug
	out.Name = n.Name
	out.News = mail.News{About: n.About, Date: n.Date, Waiting: n.Waiting, Unsent: n.Unsent, Choose: w.link(views.StaffNoticesURL(slug))}
	region := ""
	if l.Tenant.TimeZone == "Asia/Tokyo" {
		region = "JP"
	}
	switch {
	case l.Reservation != nil:
		out.News.Customer, out.News.Phone = l.Reservation.Name, store.FormatPhone(l.Reservation.Phone, region)
	case l.Entry != nil:
		out.News.Customer, out.News.Phone = l.Entry.Name, store.FormatPhone(l.Entry.Phone, region)
	}
	for _, s := range n.Day {
		out.News.Day = append(out.News.Day, mail.NewsSlot{
			Service: s.Service.In(lang), Start: s.StartsAt, End: s.EndsAt, Booked: s.Booked, Capacity: s.Capacity, Waiting: s.Waiting,
		})
	}
	switch n.About {
	case "":
		out.Link = w.link(views.StaffTodayURL(slug))
	case "failed":
		out.News.Failed = i18n.For(lang).T(i18n.Key("staff.mail_kind." + string(n.Failed.Kind)))
		out.News.Why = n.Failed.LastError
		out.Link = w.link(views.StaffMessageURL(slug, n.Failed.ID))
	default:
		out.Link = w.link(views.StaffSlotURL(slug, l.Slot.ID))
	}
}
