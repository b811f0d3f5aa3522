package store

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/teambition/rrule-go"
)

// The bounds of a schedule: a slip of the finger must not make a slot for each
// minute of a century.
const (
	MostOccurrences = 10_000               // of one schedule or one press
	LongestSchedule = 3 * 366              // days from the first to the last
	MostStarts      = 300                  // of one day
	dayMinutes      = 24 * 60              // on the wall
	farEnough       = 400 * 24 * time.Hour // a schedule without end is made no further ahead
)

// Clock says what a clock change does to a time on the wall.
type Clock string

// What can become of a time on the wall.
const (
	ClockPlain  Clock = ""       // it comes once
	ClockGap    Clock = "gap"    // it is left out that day: the slot starts later, by what the clock jumps
	ClockRepeat Clock = "repeat" // it comes twice that day: the slot starts the first time
)

// OnTheWall gives the instant at which the clock of a venue shows a day and a
// time: a day as 2006-01-02, minutes after midnight (1440 is 24:00).
//
// The rule for clock changes is that of RFC 5545, section 3.3.5: a time that
// the clock leaves out is read with the offset before the change, so it comes
// as much later as the clock jumps (02:30 becomes 03:30); of a time that comes
// twice, the first counts. The duration of a slot is always elapsed time.
func OnTheWall(day string, minute int, loc *time.Location) (time.Time, Clock, error) {
	date, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return time.Time{}, ClockPlain, fmt.Errorf("day %q: not as 2006-01-02", day)
	}
	wall := date.Add(time.Duration(minute) * time.Minute) // labelled UTC
	// A clock changes at most once within the two days around: one offset
	// before, one after, and the instant is right with one of them, with both or with none.
	_, before := wall.Add(-24 * time.Hour).In(loc).Zone()
	_, after := wall.Add(24 * time.Hour).In(loc).Zone()
	shows := func(offset int) (time.Time, bool) {
		at := wall.Add(-time.Duration(offset) * time.Second)
		_, real := at.In(loc).Zone()
		return at, real == offset
	}
	first, right := shows(before)
	second, alsoRight := shows(after)
	switch {
	case right && alsoRight && !first.Equal(second):
		if second.Before(first) {
			first = second
		}
		return first, ClockRepeat, nil
	case right:
		return first, ClockPlain, nil
	case alsoRight:
		return second, ClockPlain, nil
	default:
		return first, ClockGap, nil
	}
}

// EveryMinutes gives the starts of a day, in minutes after midnight, from
// opening on, each every minutes after the last, as long as a slot of the given
// duration is over by closing (1440: midnight). Nothing runs over the end: from
// 09:00 to 16:45 in 20 minutes the last one starts at 16:20.
func EveryMinutes(opening, closing, every int, duration time.Duration) []int {
	var out []int
	if every <= 0 || duration <= 0 {
		return nil
	}
	for start := opening; start < dayMinutes && len(out) < MostStarts; start += every {
		if time.Duration(start)*time.Minute+duration > time.Duration(closing)*time.Minute {
			break
		}
		out = append(out, start)
	}
	return out
}

// Recurrence is a rule for days at a venue, and the times of each of them.
type Recurrence struct {
	Rule   string   // RFC 5545 RRULE without COUNT and UNTIL, such as FREQ=WEEKLY;BYDAY=FR
	First  string   // 2006-01-02, from which on the rule counts
	Until  string   // 2006-01-02, itself included; empty: without end
	Starts []int    // minutes after midnight on the wall, 0 to 1439
	Except []string // days left out, 2006-01-02
}

// Occurrence is one day and time of a recurrence.
type Occurrence struct {
	Day      string // 2006-01-02 at the venue
	Minute   int    // after midnight on the wall
	StartsAt time.Time
	Clock    Clock
}

// Local is the day and time on the wall, as 2006-01-02 15:04.
func (o Occurrence) Local() string { return o.Day + " " + ClockText(o.Minute) }

// ClockText writes minutes after midnight as 15:04; 1440 is 24:00.
func ClockText(minute int) string { return fmt.Sprintf("%02d:%02d", minute/60, minute%60) }

// ParseClock reads 9:05, 09:05, 905 or 24:00 as minutes after midnight, in any
// width of its digits.
func ParseClock(text string) (int, bool) {
	text = strings.ReplaceAll(NormalizeText(text), "：", ":")
	digits := strings.ReplaceAll(text, ":", "")
	if strings.Trim(digits, "0123456789") != "" || len(digits) < 3 || len(digits) > 4 || strings.Count(text, ":") > 1 {
		return 0, false
	}
	if at := strings.Index(text, ":"); at >= 0 && len(text)-at != 3 {
		return 0, false
	}
	var hour, minute int
	if _, err := fmt.Sscanf(digits[:len(digits)-2]+" "+digits[len(digits)-2:], "%d %d", &hour, &minute); err != nil {
		return 0, false
	}
	if minute > 59 || hour > 24 || hour == 24 && minute > 0 {
		return 0, false
	}
	return hour*60 + minute, true
}

// check names what is wrong with a recurrence: a field, or nothing.
func (r Recurrence) check() error {
	first, err := time.Parse(time.DateOnly, r.First)
	if err != nil {
		return fmt.Errorf("first day %q: not as 2006-01-02", r.First)
	}
	if r.Until != "" {
		until, err := time.Parse(time.DateOnly, r.Until)
		if err != nil || until.Before(first) || until.Sub(first) > LongestSchedule*24*time.Hour {
			return fmt.Errorf("last day %q: not as 2006-01-02, before the first, or more than %d days after it", r.Until, LongestSchedule)
		}
	}
	if len(r.Starts) == 0 || len(r.Starts) > MostStarts {
		return fmt.Errorf("%d starts a day: 1 to %d are possible", len(r.Starts), MostStarts)
	}
	for _, minute := range r.Starts {
		if minute < 0 || minute >= dayMinutes {
			return fmt.Errorf("start %d: not within a day", minute)
		}
	}
	_, err = r.option()
	return err
}

func (r Recurrence) option() (*rrule.ROption, error) {
	option, err := rrule.StrToROption(r.Rule)
	if err != nil {
		return nil, fmt.Errorf("rule: %w", err)
	}
	if option.Count != 0 || !option.Until.IsZero() || len(option.Byhour)+len(option.Byminute)+len(option.Bysecond) > 0 || option.Freq > rrule.DAILY {
		return nil, fmt.Errorf("rule %q: it says which days, the rest stands elsewhere", r.Rule)
	}
	return option, nil
}

// Days gives the days of the rule from first to last, both as 2006-01-02 and
// included, in order, without the days left out. A month that has no 31st, or no
// fifth Friday, is passed over, as RFC 5545 has it.
func (r Recurrence) Days(first, last string) ([]string, error) {
	option, err := r.option()
	if err != nil {
		return nil, err
	}
	from, err := time.Parse(time.DateOnly, max(first, r.First))
	if err != nil {
		return nil, fmt.Errorf("first day: %w", err)
	}
	if r.Until != "" {
		last = min(last, r.Until)
	}
	to, err := time.Parse(time.DateOnly, last)
	if err != nil {
		return nil, fmt.Errorf("last day: %w", err)
	}
	// Days are counted as midnights of UTC, which has no clock changes; the
	// library itself goes back an hour in a gap.
	if option.Dtstart, err = time.Parse(time.DateOnly, r.First); err != nil {
		return nil, fmt.Errorf("first day: %w", err)
	}
	option.Until = to
	rule, err := rrule.NewRRule(*option)
	if err != nil {
		return nil, fmt.Errorf("rule: %w", err)
	}
	var out []string
	for _, at := range rule.Between(from, to, true) {
		if day := at.Format(time.DateOnly); !slices.Contains(r.Except, day) {
			out = append(out, day)
		}
	}
	return out, nil
}

// ErrTooManyOccurrences says that a rule has more occurrences than MostOccurrences.
var ErrTooManyOccurrences = fmt.Errorf("more than %d occurrences", MostOccurrences)

// Occurrences gives the days and times from first to last, both included, in
// the order of their instants. A start that a clock change pushes onto another
// one of the same recurrence is given too: the plan leaves it out.
func (r Recurrence) Occurrences(first, last string, loc *time.Location) ([]Occurrence, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	days, err := r.Days(first, last)
	if err != nil {
		return nil, err
	}
	if len(days)*len(r.Starts) > MostOccurrences {
		return nil, ErrTooManyOccurrences
	}
	starts := slices.Compact(slices.Sorted(slices.Values(r.Starts)))
	out := make([]Occurrence, 0, len(days)*len(starts))
	for _, day := range days {
		for _, minute := range starts {
			at, clock, err := OnTheWall(day, minute, loc)
			if err != nil {
				return nil, err
			}
			out = append(out, Occurrence{Day: day, Minute: minute, StartsAt: at, Clock: clock})
		}
	}
	slices.SortStableFunc(out, func(a, b Occurrence) int { return a.StartsAt.Compare(b.StartsAt) })
	return out, nil
}

// Frequency is a kind of rule that a form can ask for.
type Frequency string

// The kinds.
const (
	Daily      Frequency = "daily"
	Weekly     Frequency = "weekly"
	MonthlyDay Frequency = "monthly_day" // by the day of the month
	MonthlyNth Frequency = "monthly_nth" // by the how-manieth weekday of the month
)

// RuleParts are the parts of a rule that a form asks for.
type RuleParts struct {
	Frequency Frequency
	Every     int            // days, weeks or months
	Weekdays  []time.Weekday // of Weekly; of MonthlyNth the one
	MonthDay  int            // of MonthlyDay, 1 to 31
	Nth       int            // of MonthlyNth, 1 to 5, or -1: the last
}

var byDay = []string{"SU", "MO", "TU", "WE", "TH", "FR", "SA"}

// RRule writes the parts as RFC 5545 does. A week begins on Monday.
func (p RuleParts) RRule() string {
	every := ""
	if p.Every > 1 {
		every = fmt.Sprintf(";INTERVAL=%d", p.Every)
	}
	switch p.Frequency {
	case Weekly:
		var days []string
		for _, d := range p.Weekdays {
			days = append(days, byDay[d])
		}
		return "FREQ=WEEKLY" + every + ";BYDAY=" + strings.Join(days, ",")
	case MonthlyDay:
		return fmt.Sprintf("FREQ=MONTHLY%s;BYMONTHDAY=%d", every, p.MonthDay)
	case MonthlyNth:
		return fmt.Sprintf("FREQ=MONTHLY%s;BYDAY=%+d%s", every, p.Nth, byDay[p.Weekdays[0]])
	default:
		return "FREQ=DAILY" + every
	}
}

// PartsOf reads a rule back; false for one that no form can ask for.
func PartsOf(rule string) (RuleParts, bool) {
	option, err := rrule.StrToROption(rule)
	if err != nil {
		return RuleParts{}, false
	}
	p := RuleParts{Every: max(1, option.Interval)}
	for _, d := range option.Byweekday {
		p.Weekdays, p.Nth = append(p.Weekdays, time.Weekday((d.Day()+1)%7)), d.N()
	}
	switch {
	case option.Freq == rrule.DAILY && len(p.Weekdays) == 0:
		p.Frequency = Daily
	case option.Freq == rrule.WEEKLY && len(p.Weekdays) > 0:
		p.Frequency = Weekly
	case option.Freq == rrule.MONTHLY && len(option.Bymonthday) == 1:
		p.Frequency, p.MonthDay = MonthlyDay, option.Bymonthday[0]
	case option.Freq == rrule.MONTHLY && len(p.Weekdays) == 1 && p.Nth != 0:
		p.Frequency = MonthlyNth
	default:
		return p, false
	}
	return p, p.RRule() == rule
}

// PassedMonths lists the months, as 2006-01, from first to last that a monthly
// rule passes over because they have no such day. Months of which the days
// before first or after last would have been meant are not among them.
func (r Recurrence) PassedMonths(first, last string) ([]string, error) {
	parts, ok := PartsOf(r.Rule)
	if !ok || parts.Frequency != MonthlyDay && parts.Frequency != MonthlyNth {
		return nil, nil
	}
	begin, err := time.Parse(time.DateOnly, r.First)
	if err != nil {
		return nil, err
	}
	whole := r
	whole.First, whole.Until, whole.Except = begin.AddDate(0, 0, 1-begin.Day()).Format(time.DateOnly), "", nil
	var out []string
	for month := begin.AddDate(0, 0, 1-begin.Day()); ; month = month.AddDate(0, parts.Every, 0) {
		end := month.AddDate(0, 1, -1).Format(time.DateOnly)
		if end > last {
			return out, nil
		}
		days, err := whole.Days(month.Format(time.DateOnly), end)
		if err != nil {
			return nil, err
		}
		if len(days) == 0 && end >= first {
			out = append(out, month.Format("2006-01"))
		}
	}
}
