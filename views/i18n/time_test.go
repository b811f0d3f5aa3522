package i18n

import (
	"testing"
	"time"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

func TestTimesAreWrittenInOneWay(t *testing.T) {
	t.Parallel()
	tokyo, york, kolkata := zone(t, "Asia/Tokyo"), zone(t, "America/New_York"), zone(t, "Asia/Kolkata")
	at := func(day, hour, minute int) time.Time {
		return time.Date(2026, 10, day, hour, minute, 0, 0, tokyo)
	}
	ja, en := For(JA), For(EN)
	for _, c := range []struct{ name, got, want string }{
		{"a slot in Japanese", ja.DateTimeRange(at(8, 18, 30), at(8, 19, 30), tokyo), "2026年10月8日（木）18:30〜19:30"},
		{"a slot in English", en.DateTimeRange(at(8, 18, 30), at(8, 19, 30), tokyo), "Thu 8 Oct 2026, 18:30–19:30"},
		{"a slot without the year", ja.DateTimeRangeShort(at(8, 9, 0), at(8, 9, 45), tokyo), "10月8日（木）09:00〜09:45"},
		{"the same in English", en.DateTimeRangeShort(at(8, 9, 0), at(8, 9, 45), tokyo), "Thu 8 Oct, 09:00–09:45"},
		{"an end at midnight in Japanese", ja.DateTimeRange(at(8, 22, 30), at(9, 0, 0), tokyo), "2026年10月8日（木）22:30〜24:00"},
		{"an end at midnight in English", en.DateTimeRange(at(8, 22, 30), at(9, 0, 0), tokyo), "Thu 8 Oct 2026, 22:30–00:00 (next day)"},
		{"a whole day", ja.TimeRange(at(8, 0, 0), at(9, 0, 0), tokyo), "00:00〜24:00"},
		{"past midnight in Japanese", ja.TimeRange(at(8, 22, 0), at(9, 1, 0), tokyo), "22:00〜10月9日（金）01:00"},
		{"past midnight in English", en.TimeRange(at(8, 22, 0), at(9, 1, 0), tokyo), "22:00 – Fri 9 Oct, 01:00"},
		{"another zone, another day", en.DateTime(at(8, 9, 0), york), "Wed 7 Oct 2026, 20:00"},
		{"a deadline", ja.DateTime(at(7, 18, 30), tokyo), "2026年10月7日（水）18:30"},
		{"a short deadline", en.DateTimeShort(at(7, 18, 30), tokyo), "Wed 7 Oct, 18:30"},
		{"a month", ja.Month(at(8, 0, 0), tokyo), "2026年10月"},
		{"a month in English", en.Month(at(8, 0, 0), tokyo), "October 2026"},
		{"a short month", ja.MonthShort(at(8, 0, 0), tokyo) + en.MonthShort(at(8, 0, 0), tokyo), "10月Oct"},
		{"weekdays", ja.Weekday(time.Sunday) + ja.WeekdayLong(time.Thursday) + en.Weekday(time.Sunday) + en.WeekdayLong(time.Thursday), "日木曜日SunThursday"},
		{"seconds", ja.TimeSeconds(at(8, 9, 0), tokyo), "09:00:00"},
		{"a zone", ja.Zone(at(8, 0, 0), tokyo), "JST"},
		{"a zone in summer", en.Zone(at(8, 0, 0), york), "EDT"},
		{"a zone in winter", en.Zone(time.Date(2026, 12, 1, 0, 0, 0, 0, york), york), "EST"},
		{"a zone in full", ja.ZoneLong(at(8, 0, 0), tokyo), "日本時間（UTC+9）"},
		{"a zone in full, in English", en.ZoneLong(at(8, 0, 0), york), "America/New_York (UTC-4)"},
		{"half an hour off", en.ZoneLong(at(8, 0, 0), kolkata), "Asia/Kolkata (UTC+5:30)"},
		{"universal time", en.ZoneLong(at(8, 0, 0), time.UTC), "UTC (UTC)"},
		{"a zone behind a time", ja.WithZone("18:30", at(8, 0, 0), tokyo) + en.WithZone("18:30", at(8, 0, 0), tokyo), "18:30（JST）18:30 JST"},
		{"an hour", ja.Duration(time.Hour) + en.Duration(time.Hour), "1時間1 h"},
		{"ninety minutes", ja.Duration(90*time.Minute) + en.Duration(90*time.Minute), "1時間30分1 h 30 min"},
		{"a day", ja.Duration(24*time.Hour) + en.Duration(24*time.Hour), "1日1 day"},
		{"two days", en.Duration(48 * time.Hour), "2 days"},
		{"minutes and seconds", ja.Duration(252*time.Second) + en.Duration(252*time.Second), "4分12秒4 min 12 s"},
		{"nothing", ja.Duration(0) + en.Duration(-time.Second), "0分0 min"},
		{"places", ja.Ordinal(3) + en.Ordinal(3) + en.Ordinal(11) + en.Ordinal(22) + en.Ordinal(113), "3番目third11th22nd113th"},
		{"numbers", ja.Number(1234567) + " " + en.Number(-1000) + " " + en.Number(999), "1,234,567 -1,000 999"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
}

func TestMidnightOnTheDaysWhenClocksChange(t *testing.T) {
	t.Parallel()
	york := zone(t, "America/New_York")
	for _, day := range []int{1, 8} { // 1 November 2026: clocks back
		start := time.Date(2026, 11, day, 22, 0, 0, 0, york)
		end := time.Date(2026, 11, day+1, 0, 0, 0, 0, york)
		if got := For(JA).TimeRange(start, end, york); got != "22:00〜24:00" {
			t.Errorf("on the %d.: %q", day, got)
		}
	}
}
