// Package calendar writes bookings in the form that calendar programs read:
// iCalendar (RFC 5545), and its scheduling methods (RFC 5546). The pages and the
// mails use this one builder, so that a file, an invitation and a feed name a
// booking in the same way and a newer one replaces an older one.
//
// Times are written in the venue's zone, with the rules of that zone around them:
// a program that doesn't know the zone, or knows old rules, still shows the right
// hour. The package knows no clock and no store: the same facts give the same bytes.
package calendar

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"holdfast/views/i18n"
)

// Method is what a program should do with a calendar.
type Method string

// The methods. A file that somebody downloads has none.
const (
	NoMethod Method = ""
	Request  Method = "REQUEST" // enter it, or put it where it is now
	Cancel   Method = "CANCEL"  // take it out
	Publish  Method = "PUBLISH" // take note; several bookings at once
)

// Calendar is a list of events, as a file or a part of a mail.
type Calendar struct {
	Method Method
	Lang   string         // "ja" or "en"
	Zone   *time.Location // of the venue; nil: UTC
	Name   string         // of a feed, as programs show it; empty for none
	// Refresh is how often a program should look at a feed again; 0: it may choose.
	Refresh time.Duration
	// Organizer invites: RFC 5546 demands one wherever there is a method.
	Organizer Person
	Events    []Event
}

// Person is an organizer or somebody invited.
type Person struct {
	Name  string
	Email string
}

// Event is an entry of a calendar. What is empty is left out.
type Event struct {
	UID       string
	Sequence  int       // rises with each change
	Stamp     time.Time // of the newest change, not of the writing
	Start     time.Time
	End       time.Time
	Summary   string
	Location  string
	Notes     string
	Link      string
	Cancelled bool
	// Free: the time is not blocked in the reader's calendar. Feeds of staff, say.
	Free     bool
	Attendee Person // with a method REQUEST or CANCEL
}

// Booking is what an event says of a booking; texts are in the reader's language.
type Booking struct {
	ID        string // of the reservation
	Number    string
	Sequence  int
	Stamp     time.Time // of the newest change
	Start     time.Time
	End       time.Time
	Service   string
	Venue     string
	Where     string // an address that a map understands
	Link      string // its page
	Cancelled bool
}

// UID names a booking in calendars, for its whole life, in every file and mail about it.
func UID(reservation string) string { return reservation + "@holdfast" }

// Event gives the entry of a booking.
func (b Booking) Event(lang string) Event {
	return Event{
		UID: UID(b.ID), Sequence: b.Sequence, Stamp: b.Stamp, Start: b.Start, End: b.End, Summary: b.Service + " (" + b.Venue + ")", Location: b.Where,
		Notes: i18n.For(lang).T("booked.number") + " " + b.Number, Link: b.Link, Cancelled: b.Cancelled,
	}
}

// String writes the calendar: lines of 75 bytes at most, ending with CR LF.
func (c Calendar) String() string {
	w := &writer{}
	zone := c.Zone
	if zone == nil || zone.String() == "" || zone.String() == "Local" {
		zone = time.UTC
	}
	w.line("BEGIN", nil, "VCALENDAR")
	w.line("VERSION", nil, "2.0")
	w.line("PRODID", nil, text("-//Holdfast//Reservations//"+strings.ToUpper(cmp.Or(c.Lang, i18n.EN))))
	w.line("CALSCALE", nil, "GREGORIAN")
	if c.Method != NoMethod {
		w.line("METHOD", nil, string(c.Method))
	}
	if c.Name != "" {
		w.line("NAME", nil, text(c.Name)) // RFC 7986, and what programs knew before it
		w.line("X-WR-CALNAME", nil, text(c.Name))
	}
	if c.Refresh > 0 {
		every := "PT" + strconv.Itoa(max(1, int(c.Refresh/time.Minute))) + "M"
		w.line("REFRESH-INTERVAL", params{{"VALUE", "DURATION"}}, every)
		w.line("X-PUBLISHED-TTL", nil, every)
	}
	if zone != time.UTC && len(c.Events) > 0 {
		w.zone(zone, c.Events)
	}
	for _, e := range c.Events {
		w.event(c, e, zone)
	}
	w.line("END", nil, "VCALENDAR")
	return w.b.String()
}

func (w *writer) event(c Calendar, e Event, zone *time.Location) {
	w.line("BEGIN", nil, "VEVENT")
	w.line("UID", nil, text(e.UID))
	w.line("DTSTAMP", nil, utc(e.Stamp))
	w.line("LAST-MODIFIED", nil, utc(e.Stamp))
	w.line("SEQUENCE", nil, strconv.Itoa(e.Sequence))
	w.at("DTSTART", e.Start, zone)
	w.at("DTEND", e.End, zone)
	w.line("SUMMARY", nil, text(e.Summary))
	for _, p := range []struct{ name, value string }{{"LOCATION", e.Location}, {"DESCRIPTION", e.Notes}} {
		if p.value != "" {
			w.line(p.name, nil, text(p.value))
		}
	}
	if e.Link != "" {
		w.line("URL", nil, uri(e.Link))
	}
	if e.Cancelled || c.Method == Cancel {
		w.line("STATUS", nil, "CANCELLED")
	} else {
		w.line("STATUS", nil, "CONFIRMED")
	}
	if e.Free {
		w.line("TRANSP", nil, "TRANSPARENT")
	} else {
		w.line("TRANSP", nil, "OPAQUE")
	}
	if c.Method != NoMethod && c.Organizer.Email != "" {
		w.line("ORGANIZER", named(c.Organizer), mailto(c.Organizer.Email))
	}
	if (c.Method == Request || c.Method == Cancel) && e.Attendee.Email != "" {
		// The booking stands already: nobody is asked whether they will come.
		role := params{{"CUTYPE", "INDIVIDUAL"}, {"ROLE", "REQ-PARTICIPANT"}, {"PARTSTAT", "ACCEPTED"}, {"RSVP", "FALSE"}}
		w.line("ATTENDEE", append(role, named(e.Attendee)...), mailto(e.Attendee.Email))
	}
	w.line("END", nil, "VEVENT")
}

// at writes an instant as the clock of the zone shows it. Where the clock goes back,
// one reading is two instants and a reader takes the first (RFC 5545, 3.3.5): the
// second is then written in UTC, which can't be mistaken.
func (w *writer) at(name string, t time.Time, zone *time.Location) {
	if zone == time.UTC || secondReading(t, zone) {
		w.line(name, nil, utc(t))
		return
	}
	w.line(name, params{{"TZID", zone.String()}}, t.In(zone).Format(local))
}

// secondReading reports whether the clock of the zone had shown the same before.
func secondReading(t time.Time, zone *time.Location) bool {
	began, _ := t.In(zone).ZoneBounds()
	if began.IsZero() {
		return false
	}
	_, now := t.In(zone).Zone()
	_, was := began.Add(-time.Second).In(zone).Zone()
	return was > now && t.Sub(began) < time.Duration(was-now)*time.Second
}

const (
	local = "20060102T150405"
	// oldest is where calendars begin for most programs.
	oldest = "19700101T000000"
)

func utc(t time.Time) string { return t.UTC().Format(local + "Z") }

// zone writes the rules that apply around the events: each stretch between two
// changes of the clock that an event touches, with the ones before and after, so
// that there is summer time and standard time wherever a zone has both.
func (w *writer) zone(zone *time.Location, events []Event) {
	first, last := events[0].Start, events[0].End
	for _, e := range events {
		if e.Start.Before(first) {
			first = e.Start
		}
		if e.End.After(last) {
			last = e.End
		}
	}
	w.line("BEGIN", nil, "VTIMEZONE")
	w.line("TZID", nil, text(zone.String()))
	at := first.In(zone)
	if began, _ := at.ZoneBounds(); !began.IsZero() && began.Year() >= 1970 {
		at = began.Add(-time.Second)
	}
	beyond := false
	for range 200 { // a feed is a year or two; no zone changes more often than this
		began, ends := at.ZoneBounds()
		w.stretch(at, began)
		if ends.IsZero() || beyond {
			break
		}
		at = ends.In(zone)
		beyond = ends.After(last)
	}
	w.line("END", nil, "VTIMEZONE")
}

// stretch writes the rule that applies at an instant, and since it began.
func (w *writer) stretch(at, began time.Time) {
	kind := "STANDARD"
	if at.IsDST() {
		kind = "DAYLIGHT"
	}
	name, to := at.Zone()
	from, start := to, oldest
	if !began.IsZero() && began.Year() >= 1970 {
		_, from = began.Add(-time.Second).In(at.Location()).Zone()
		start = began.UTC().Add(time.Duration(from) * time.Second).Format(local) // as the clock stood until then
	}
	w.line("BEGIN", nil, kind)
	w.line("DTSTART", nil, start)
	w.line("TZOFFSETFROM", nil, offset(from))
	w.line("TZOFFSETTO", nil, offset(to))
	w.line("TZNAME", nil, text(name))
	w.line("END", nil, kind)
}

func offset(seconds int) string {
	sign := "+"
	if seconds < 0 {
		sign, seconds = "-", -seconds
	}
	two := func(n int) string {
		if n < 10 {
			return "0" + strconv.Itoa(n)
		}
		return strconv.Itoa(n)
	}
	out := sign + two(seconds/3600) + two(seconds/60%60)
	if rest := seconds % 60; rest != 0 {
		out += two(rest)
	}
	return out
}

// params are the parameters of a property, in order.
type params [][2]string

func named(p Person) params {
	if p.Name == "" {
		return nil
	}
	return params{{"CN", p.Name}}
}

type writer struct{ b strings.Builder }

// line writes a property. The value is given as it stands in the file; values of
// parameters are plain.
func (w *writer) line(name string, with params, value string) {
	var b strings.Builder
	b.WriteString(name)
	for _, p := range with {
		b.WriteString(";" + p[0] + "=" + paramValue(p[1]))
	}
	b.WriteString(":" + value)
	w.fold(b.String())
}

// widest is how many bytes a line may have, without its end (RFC 5545, 3.1).
const widest = 75

// fold breaks a line between characters, and not inside of one.
func (w *writer) fold(line string) {
	room := widest
	for len(line) > room {
		cut := room
		for !utf8.RuneStart(line[cut]) {
			cut--
		}
		w.b.WriteString(line[:cut] + "\r\n ")
		line, room = line[cut:], widest-1 // the space counts
	}
	w.b.WriteString(line + "\r\n")
}

// text escapes a value of type TEXT. Signs that no calendar may hold are left out.
func text(value string) string {
	value = strings.ReplaceAll(strings.ToValidUTF8(value, "\uFFFD"), "\r\n", "\n")
	var b strings.Builder
	for _, r := range value {
		switch {
		case r == '\\' || r == ';' || r == ',':
			b.WriteRune('\\')
			b.WriteRune(r)
		case r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029':
			b.WriteString(`\n`)
		case unicode.IsControl(r) && r != '\t':
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// paramValue writes the value of a parameter, in quotes where it needs them. A
// quote itself can't stand in one; RFC 6868 gives it another form.
func paramValue(value string) string {
	var b strings.Builder
	quoted := false
	for _, r := range strings.ToValidUTF8(value, "\uFFFD") {
		switch {
		case r == '^':
			b.WriteString("^^")
		case r == '"':
			b.WriteString("^'")
		case r == '\n':
			b.WriteString("^n")
		case unicode.IsControl(r) && r != '\t':
		default:
			quoted = quoted || slices.Contains([]rune{':', ';', ','}, r)
			b.WriteRune(r)
		}
	}
	if quoted {
		return `"` + b.String() + `"`
	}
	return b.String()
}

// uri keeps an address on its line.
func uri(link string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.IsSpace(r) {
			return -1
		}
		return r
	}, link)
}

// mailto is an address as a calendar has it (RFC 6068).
func mailto(address string) string {
	var b strings.Builder
	b.WriteString("mailto:")
	for _, c := range []byte(address) {
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("-._~!$'*+@", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		const hex = "0123456789ABCDEF"
		b.WriteString("%" + string(hex[c>>4]) + string(hex[c&15]))
	}
	return b.String()
}
