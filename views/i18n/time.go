package i18n

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The formats below take an instant and the zone in which it is to be read.
//
// An end at midnight belongs to the day that it ends. Japanese writes it as
// 24:00 (22:30〜24:00), which everybody in Japan reads without a second
// thought; English writes 00:00 and says whose: 22:30–00:00 (next day). An end
// on any other day is written with its date.

var (
	jaWeekdays = [7]string{"日", "月", "火", "水", "木", "金", "土"}
	enWeekdays = [7]string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}
	enLong     = [7]string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}
)

// Weekday is the short name of a day of the week: 木, Thu.
func (c *Catalog) Weekday(d time.Weekday) string {
	if c.lang == JA {
		return jaWeekdays[d]
	}
	return enWeekdays[d]
}

// WeekdayLong is the full name of a day of the week: 木曜日, Thursday.
func (c *Catalog) WeekdayLong(d time.Weekday) string {
	if c.lang == JA {
		return jaWeekdays[d] + "曜日"
	}
	return enLong[d]
}

// Month is a month with its year: 2026年10月, October 2026.
func (c *Catalog) Month(t time.Time, loc *time.Location) string {
	t = t.In(loc)
	if c.lang == JA {
		return fmt.Sprintf("%d年%d月", t.Year(), int(t.Month()))
	}
	return t.Format("January 2006")
}

// MonthShort is a month without its year: 10月, Oct.
func (c *Catalog) MonthShort(t time.Time, loc *time.Location) string {
	t = t.In(loc)
	if c.lang == JA {
		return fmt.Sprintf("%d月", int(t.Month()))
	}
	return t.Format("Jan")
}

// Date is a full date: 2026年10月8日（木）, Thu 8 Oct 2026.
func (c *Catalog) Date(t time.Time, loc *time.Location) string {
	t = t.In(loc)
	if c.lang == JA {
		return fmt.Sprintf("%d年%s", t.Year(), c.DateShort(t, loc))
	}
	return t.Format("Mon 2 Jan 2006")
}

// DateShort is a date without its year: 10月8日（木）, Thu 8 Oct.
func (c *Catalog) DateShort(t time.Time, loc *time.Location) string {
	t = t.In(loc)
	if c.lang == JA {
		return fmt.Sprintf("%d月%d日（%s）", int(t.Month()), t.Day(), jaWeekdays[t.Weekday()])
	}
	return t.Format("Mon 2 Jan")
}

// Time is a time of day: 18:30.
func (c *Catalog) Time(t time.Time, loc *time.Location) string { return t.In(loc).Format("15:04") }

// TimeSeconds is a time of day with seconds: 18:30:05.
func (c *Catalog) TimeSeconds(t time.Time, loc *time.Location) string {
	return t.In(loc).Format("15:04:05")
}

// DateTime is a date with a time: 2026年10月8日（木）18:30, Thu 8 Oct 2026, 18:30.
func (c *Catalog) DateTime(t time.Time, loc *time.Location) string {
	if c.lang == JA {
		return c.Date(t, loc) + c.Time(t, loc)
	}
	return c.Date(t, loc) + ", " + c.Time(t, loc)
}

// DateTimeShort is DateTime without the year.
func (c *Catalog) DateTimeShort(t time.Time, loc *time.Location) string {
	if c.lang == JA {
		return c.DateShort(t, loc) + c.Time(t, loc)
	}
	return c.DateShort(t, loc) + ", " + c.Time(t, loc)
}

// TimeRange is a range of time within a day, or with the end's date when it
// ends on another day: 18:30〜19:30, 22:30〜24:00, 18:30–19:30, 22:30–00:00
// (next day).
func (c *Catalog) TimeRange(start, end time.Time, loc *time.Location) string {
	from, to := start.In(loc), end.In(loc)
	midnight := time.Date(from.Year(), from.Month(), from.Day()+1, 0, 0, 0, 0, loc)
	switch {
	case sameDay(from, to) && c.lang == JA:
		return c.Time(from, loc) + "〜" + c.Time(to, loc)
	case sameDay(from, to):
		return c.Time(from, loc) + "–" + c.Time(to, loc)
	case to.Equal(midnight) && c.lang == JA:
		return c.Time(from, loc) + "〜24:00"
	case to.Equal(midnight):
		return c.Time(from, loc) + "–00:00 (next day)"
	case c.lang == JA:
		return c.Time(from, loc) + "〜" + c.DateTimeShort(to, loc)
	default:
		return c.Time(from, loc) + " – " + c.DateTimeShort(to, loc)
	}
}

// DateTimeRange is a date with a range: 2026年10月8日（木）18:30〜19:30,
// Thu 8 Oct 2026, 18:30–19:30.
func (c *Catalog) DateTimeRange(start, end time.Time, loc *time.Location) string {
	if c.lang == JA {
		return c.Date(start, loc) + c.TimeRange(start, end, loc)
	}
	return c.Date(start, loc) + ", " + c.TimeRange(start, end, loc)
}

// DateTimeRangeShort is DateTimeRange without the year.
func (c *Catalog) DateTimeRangeShort(start, end time.Time, loc *time.Location) string {
	if c.lang == JA {
		return c.DateShort(start, loc) + c.TimeRange(start, end, loc)
	}
	return c.DateShort(start, loc) + ", " + c.TimeRange(start, end, loc)
}

// Zone is the short name of the zone at that instant: JST, EDT, or UTC+5:30
// where a zone has no letters of its own.
func (c *Catalog) Zone(t time.Time, loc *time.Location) string {
	name, offset := t.In(loc).Zone()
	if name != "" && name[0] != '+' && name[0] != '-' {
		return name
	}
	return utcOffset(offset)
}

// ZoneLong names the zone so that nobody can mistake it: 日本時間（UTC+9）,
// Asia/Tokyo (UTC+9).
func (c *Catalog) ZoneLong(t time.Time, loc *time.Location) string {
	_, offset := t.In(loc).Zone()
	if c.lang == JA {
		name := loc.String()
		if name == "Asia/Tokyo" {
			name = "日本時間"
		}
		return name + "（" + utcOffset(offset) + "）"
	}
	return loc.String() + " (" + utcOffset(offset) + ")"
}

// WithZone puts the short name of the zone behind a written time.
func (c *Catalog) WithZone(written string, t time.Time, loc *time.Location) string {
	if c.lang == JA {
		return written + "（" + c.Zone(t, loc) + "）"
	}
	return written + " " + c.Zone(t, loc)
}

func utcOffset(seconds int) string {
	sign := "+"
	if seconds < 0 {
		sign, seconds = "-", -seconds
	}
	h, m := seconds/3600, seconds/60%60
	switch {
	case h == 0 && m == 0:
		return "UTC"
	case m == 0:
		return "UTC" + sign + strconv.Itoa(h)
	default:
		return fmt.Sprintf("UTC%s%d:%02d", sign, h, m)
	}
}

// Duration is a length of time in days, hours and minutes, seconds only below
// an hour: 1時間30分, 1 h 30 min; 4分12秒, 4 min 12 s; 2日, 2 days. Less than a
// second counts as nothing; nothing is 0分, 0 min.
func (c *Catalog) Duration(d time.Duration) string {
	total := int(d / time.Second)
	if total < 0 {
		total = 0
	}
	days, hours, minutes, seconds := total/86400, total/3600%24, total/60%60, total%60
	if total >= 3600 {
		seconds = 0
	}
	var out []string
	add := func(n int, ja, one, many string) {
		switch {
		case n == 0:
		case c.lang == JA:
			out = append(out, strconv.Itoa(n)+ja)
		case n == 1:
			out = append(out, "1 "+one)
		default:
			out = append(out, strconv.Itoa(n)+" "+many)
		}
	}
	add(days, "日", "day", "days")
	add(hours, "時間", "h", "h")
	add(minutes, "分", "min", "min")
	add(seconds, "秒", "s", "s")
	if len(out) == 0 {
		if c.lang == JA {
			return "0分"
		}
		return "0 min"
	}
	if c.lang == JA {
		return strings.Join(out, "")
	}
	return strings.Join(out, " ")
}

var enOrdinals = [...]string{
	"", "first", "second", "third", "fourth", "fifth", "sixth",
	"seventh", "eighth", "ninth", "tenth",
}

// Ordinal is a place in a row: 3番目, third; above ten 11th, 22nd.
func (c *Catalog) Ordinal(n int) string {
	if c.lang == JA {
		return strconv.Itoa(n) + "番目"
	}
	if n > 0 && n < len(enOrdinals) {
		return enOrdinals[n]
	}
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
}

func sameDay(a, b time.Time) bool {
	return a.Year() == b.Year() && a.YearDay() == b.YearDay()
}
