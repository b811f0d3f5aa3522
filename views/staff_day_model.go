package views

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"holdfast/views/i18n"
)

// staffMenu is the menu of a staff page in its order: the day, the calendar and the messages first, since a phone
// shows only the beginning of the line and what could not be sent has to be seen.
func staffMenu(f StaffFrame) []StaffNavLink {
	menu := []StaffNavLink{{"today", f.TodayURL}}
	rest := slices.Clone(f.Nav)
	if at := slices.IndexFunc(rest, func(l StaffNavLink) bool { return l.Section == "calendar" }); at >= 0 {
		menu = append(menu, rest[at])
		rest = slices.Delete(rest, at, at+1)
	}
	return append(append(menu, StaffNavLink{"messages", f.MessagesURL}), rest...)
}

// StaffChoice is one of several links of which one is where we are.
type StaffChoice struct {
	Text    string
	URL     string
	Current bool
	// Hue is the number of the colour that tells a resource apart in the calendar, from 1; 0: none.
	Hue int
}

// StaffChooser is a filter: what is chosen, and the links that choose.
type StaffChooser struct {
	// Name says what is chosen: the service, the resource.
	Name string
	// Chosen is the text of the current choice.
	Chosen string
	// Narrowed says that something is left out.
	Narrowed bool
	Choices  []StaffChoice
}

// StaffCalendarPage is a week or a month of the venue.
type StaffCalendarPage struct {
	Page  Page
	Staff StaffFrame
	// Heading names the week or the month.
	Heading string
	// Views are the day, the week and the month.
	Views []StaffChoice
	// PrevURL and NextURL are a week or a month away, with their words.
	PrevURL, PrevText string
	NextURL, NextText string
	// NowURL leads to the week or month of today, NowText says so; IsNow: this is it.
	NowURL, NowText string
	IsNow           bool
	// The form that jumps: its path, the kind and name of its field ("week" or "month"), and what else it keeps.
	PathURL   string
	JumpKind  string
	JumpName  string
	JumpText  string
	JumpValue string
	Keep      []Hidden
	Choosers  []StaffChooser
	// Colours names the resources by their colours; empty where there is only one.
	Colours []StaffChoice
	// AddURL is where slots are made; empty for those who may not.
	AddURL    string
	SelfURL   string
	LiveURL   string // streams that something has changed; empty for a month
	UpdatedAt string
	// Cut is a finished sentence where there are more slots than are shown; else empty.
	Cut string
	// One of the two is set.
	Week  *StaffWeek
	Month *StaffMonth
}

// StaffWeek is seven days beside each other, with the hours down.
type StaffWeek struct {
	// From and Until are the first hour and the end of the last one, 0 to 24.
	From, Until int
	// Zoom is 1 to 3: how high an hour is, so that the shortest slot can be read.
	Zoom int
	Days []StaffWeekDay
}

// StaffWeekDay is one day of the week.
type StaffWeekDay struct {
	Date    string // 2006-01-02
	Weekday string
	Day     string
	// Label is the whole date.
	Label string
	URL   string
	Today bool
	Past  bool
	// Kind is "", "sat" or "sun"; a public holiday is "sun".
	Kind    string
	Holiday string
	Closed  bool
	// Note says why it is closed; may be empty.
	Note string
	// Clock is a finished sentence on a day on which the clocks change; else empty.
	Clock string
	// Lanes is the number of slots that stand beside each other at most, at least 1.
	Lanes int
	Slots []StaffWeekSlot
	// Now is the minute of the day it is now, where this is today; else -1.
	Now int
}

// StaffWeekSlot is a slot, or the part of it that lies on its day.
type StaffWeekSlot struct {
	ID  string
	URL string
	// Time is its range as text, Start its start.
	Time  string
	Start string
	// From and Until are minutes of the wall clock of the day, 0 to 1440, Until the greater.
	From, Until int
	// Lane is the column within the day, from 0, of Of columns.
	Lane, Of int
	Service  string
	Resource string
	Hue      int
	State    string
	Paused   bool
	Bar      StaffBar
	Waiting  int
	// Before says that it began on an earlier day.
	Before bool
}

// StaffMonth is a month in weeks of seven days, those of its neighbours included.
type StaffMonth struct {
	Weekdays []StaffMonthWeekday
	Days     []StaffMonthDay
	Holidays []string
}

// StaffMonthWeekday heads a column.
type StaffMonthWeekday struct {
	Text string
	Kind string // "", "sat" or "sun"
}

// StaffMonthDay is one day with its sums.
type StaffMonthDay struct {
	Date    string
	Day     string
	Label   string
	URL     string
	Today   bool
	Past    bool
	Other   bool // of the month before or after
	Kind    string
	Holiday string
	Closed  bool
	Note    string

	Slots     int
	Full      int
	Cancelled int
	Shut      int // slots that are closed for booking
	Bar       StaffBar
	Waiting   int
	Offers    int
	Calls     int
}

// StaffKeysPage lists the keys.
type StaffKeysPage struct {
	Page  Page
	Staff StaffFrame
}

type staffKey struct {
	keys []string
	does i18n.Key
}

var staffKeys = []staffKey{
	{[]string{"/"}, "staff.keys.search"},
	{[]string{"↑", "↓", "k", "j"}, "staff.keys.move"},
	{[]string{"Enter"}, "staff.keys.open"},
	{[]string{"←", "→"}, "staff.keys.turn"},
	{[]string{"t"}, "staff.keys.today"},
	{[]string{"?"}, "staff.keys.help"},
}

// staffAt are the classes that place something on the wall clock: hours and minutes of its start and its end.
func staffAt(from, until int) string {
	return fmt.Sprintf("at-h%d at-m%d to-h%d to-m%d", from/60, from%60, until/60, until%60)
}

func (w StaffWeek) classes() string {
	return fmt.Sprintf("staff-week zoom-%d day-from-%d day-to-%d", min(max(w.Zoom, 1), 3), w.From, w.Until)
}

// hours are the lines of the day.
func (w StaffWeek) hours() []int {
	var all []int
	for h := w.From; h < w.Until; h++ {
		all = append(all, h)
	}
	return all
}

// staffMaxLanes is how many lanes the styles know.
const staffMaxLanes = 12

func (d StaffWeekDay) lanes() string {
	return "lanes-" + strconv.Itoa(min(max(d.Lanes, 1), staffMaxLanes))
}

func (s StaffWeekSlot) classes() string {
	of := min(max(s.Of, 1), staffMaxLanes)
	return fmt.Sprintf("%s lane-%d of-%d hue-%d", staffAt(s.From, s.Until), min(s.Lane, of-1), of, s.Hue)
}

// words says a slot of the week to those who hear it.
func (s StaffWeekSlot) words(ctx context.Context) string {
	text := staffBarWords(ctx, s.Bar)
	if s.State == "cancelled" {
		text = ""
	}
	if s.Waiting > 0 {
		text += i18n.T(ctx, "staff.calendar.and_waiting", "n", s.Waiting)
	}
	return text
}

// staffCalendarFill is a bar in four lengths, however many seats there are.
func staffCalendarFill(b StaffBar) []staffCell {
	free := "free"
	if b.Kept {
		free = "kept"
	}
	var cells []staffCell
	at := 0
	for _, part := range []staffPart{{"booked", b.Booked}, {"held", b.Held}, {"offered", b.Offered}, {free, b.Free}} {
		if part.n > 0 {
			cells = append(cells, staffCell{part.name, strconv.Itoa(10 * at), strconv.Itoa(10 * part.n)})
			at += part.n
		}
	}
	return cells
}

type staffPart struct {
	name string
	n    int
}

// staffPolls is how a calendar asks again: quickly where it is told of changes, else seldom.
func staffPolls(live string) string {
	if live == "" {
		return "every 60s"
	}
	return "every 15s, live"
}
