package store_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"holdfast/store"
)

func TestATimeOnTheWallIsOneInstant(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, zone, day string
		minute          int
		want            string
		clock           store.Clock
	}{
		{"a usual day", "Asia/Tokyo", "2027-04-30", 19 * 60, "2027-04-30T10:00:00Z", store.ClockPlain},
		{"midnight", "Asia/Tokyo", "2027-04-30", 0, "2027-04-29T15:00:00Z", store.ClockPlain},
		{"24:00 is midnight of the next day", "Asia/Tokyo", "2027-04-30", 1440, "2027-04-30T15:00:00Z", store.ClockPlain},
		{"a time that the clock leaves out comes later by the jump", "America/New_York", "2027-03-14", 150, "2027-03-14T07:30:00Z", store.ClockGap},
		{"the first instant of the gap", "America/New_York", "2027-03-14", 120, "2027-03-14T07:00:00Z", store.ClockGap},
		{"the first instant after the gap", "America/New_York", "2027-03-14", 180, "2027-03-14T07:00:00Z", store.ClockPlain},
		{"of a time that comes twice the first", "America/New_York", "2027-11-07", 90, "2027-11-07T05:30:00Z", store.ClockRepeat},
		{"after the repetition", "America/New_York", "2027-11-07", 120, "2027-11-07T07:00:00Z", store.ClockPlain},
		{"a gap of half an hour", "Australia/Lord_Howe", "2027-10-03", 135, "2027-10-02T15:45:00Z", store.ClockGap},
		{"midnight does not exist", "America/Santiago", "2027-09-05", 0, "2027-09-05T04:00:00Z", store.ClockGap},
		{"a day that was left out", "Pacific/Apia", "2011-12-30", 600, "2011-12-30T20:00:00Z", store.ClockGap},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, clock, err := store.OnTheWall(c.day, c.minute, zone(t, c.zone))
			if err != nil || got.UTC().Format(time.RFC3339) != c.want || clock != c.clock {
				t.Errorf("%s %d in %s: %s %q %v, want %s %q", c.day, c.minute, c.zone, got.UTC().Format(time.RFC3339), clock, err, c.want, c.clock)
			}
		})
	}
}

func TestNothingRunsOverTheEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, until string
		every       int
		first, last string
		n           int
	}{
		{"09:00", "16:45", 20, "09:00", "16:20", 23},
		{"22:30", "24:00", 30, "22:30", "23:30", 3},
		{"09:00", "17:00", 60, "09:00", "16:00", 8},
		{"00:00", "24:00", 60, "00:00", "23:00", 24},
		{"00:00", "24:00", 20, "00:00", "23:40", 72},
	} {
		from, _ := store.ParseClock(c.from)
		until, ok := store.ParseClock(c.until)
		if !ok {
			t.Fatalf("%s can't be entered", c.until)
		}
		got := store.EveryMinutes(from, until, c.every, time.Duration(c.every)*time.Minute)
		if len(got) != c.n || store.ClockText(got[0]) != c.first || store.ClockText(got[len(got)-1]) != c.last {
			t.Errorf("%s to %s every %d: %v", c.from, c.until, c.every, got)
		}
	}
	for text, want := range map[string]int{"9:05": 545, "０９：３０": 570, "2400": 1440, "24:00": 1440, "0:00": 0, "900": 540} {
		if got, ok := store.ParseClock(text); !ok || got != want {
			t.Errorf("%q: %d %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "24:01", "25:00", "12:60", "9", "9:5", "1:2:3", "-1:00", "12:000", "noon"} {
		if got, ok := store.ParseClock(text); ok {
			t.Errorf("%q is read as %d", text, got)
		}
	}
}

func TestDaysOfARule(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, rule, first, until string
		except                   []string
		want                     []string
	}{
		{"until is included", "FREQ=WEEKLY;BYDAY=FR", "2027-04-02", "2027-04-30", nil, []string{"2027-04-02", "2027-04-09", "2027-04-16", "2027-04-23", "2027-04-30"}},
		{"one day", "FREQ=DAILY", "2027-04-30", "2027-04-30", nil, []string{"2027-04-30"}},
		{"months without a 31st are passed over", "FREQ=MONTHLY;BYMONTHDAY=31", "2027-01-01", "2027-08-31", nil, []string{"2027-01-31", "2027-03-31", "2027-05-31", "2027-07-31", "2027-08-31"}},
		{"months without a fifth Friday too", "FREQ=MONTHLY;BYDAY=+5FR", "2027-01-01", "2027-07-31", nil, []string{"2027-01-29", "2027-04-30", "2027-07-30"}},
		{"the last Friday", "FREQ=MONTHLY;BYDAY=-1FR", "2027-01-01", "2027-03-31", nil, []string{"2027-01-29", "2027-02-26", "2027-03-26"}},
		{"every other week", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR", "2027-04-02", "2027-04-18", nil, []string{"2027-04-02", "2027-04-12", "2027-04-16"}},
		{"exceptions", "FREQ=WEEKLY;BYDAY=FR", "2027-04-02", "2027-04-16", []string{"2027-04-09"}, []string{"2027-04-02", "2027-04-16"}},
		{"a leap day", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", "2027-01-01", "2028-12-31", nil, []string{"2028-02-29"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := store.Recurrence{Rule: c.rule, First: c.first, Until: c.until, Starts: []int{0}, Except: c.except}.Days(c.first, "9000-01-01")
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%v %v, want %v", got, err, c.want)
			}
		})
	}
	for _, rule := range []string{"", "x", "FREQ=HOURLY", "FREQ=DAILY;COUNT=3", "FREQ=DAILY;UNTIL=20270101T000000Z", "FREQ=DAILY;BYHOUR=3", "FREQ=WEEKLY;BYDAY=XX"} {
		if days, err := (store.Recurrence{Rule: rule, First: "2027-01-01", Starts: []int{0}}).Occurrences("2027-01-01", "2027-02-01", time.UTC); err == nil {
			t.Errorf("%q is taken: %v", rule, days)
		}
	}
	_, err := store.Recurrence{Rule: "FREQ=DAILY", First: "2027-01-01", Until: "2028-12-31", Starts: store.EveryMinutes(0, 1440, 20, 20*time.Minute)}.Occurrences("2027-01-01", "2028-12-31", time.UTC)
	if err == nil {
		t.Error("more than the most are taken")
	}
}

// Whatever the rule: no occurrence twice, none outside the window or on an
// exception, and the clock at the venue shows the time that was asked for.
func TestOccurrencesKeepToTheirRule(t *testing.T) {
	t.Parallel()
	zones := []string{"Asia/Tokyo", "America/New_York", "Europe/London", "Australia/Lord_Howe", "America/Santiago", "Africa/Cairo", "Pacific/Apia", "UTC"}
	rapid.Check(t, func(t *rapid.T) {
		loc, err := time.LoadLocation(rapid.SampledFrom(zones).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}
		first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, rapid.IntRange(0, 800).Draw(t, "first"))
		until := first.AddDate(0, 0, rapid.IntRange(0, 300).Draw(t, "days"))
		rule := rapid.SampledFrom([]string{
			"FREQ=DAILY", "FREQ=DAILY;INTERVAL=3", "FREQ=WEEKLY;BYDAY=SU", "FREQ=WEEKLY;BYDAY=MO,WE,SU;INTERVAL=2", "FREQ=MONTHLY;BYMONTHDAY=31", "FREQ=MONTHLY;BYDAY=+5FR", "FREQ=MONTHLY;BYDAY=-1SU",
		}).Draw(t, "rule")
		r := store.Recurrence{
			Rule: rule, First: first.Format(time.DateOnly), Until: until.Format(time.DateOnly),
			Starts: rapid.SliceOfN(rapid.IntRange(0, 1439), 1, 4).Draw(t, "starts"), Except: []string{first.AddDate(0, 0, 7).Format(time.DateOnly)},
		}
		occurrences, err := r.Occurrences(r.First, "9999-12-31", loc)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, o := range occurrences {
			if seen[o.Local()] {
				t.Fatalf("%s twice", o.Local())
			}
			seen[o.Local()] = true
			if o.Day < r.First || o.Day > r.Until || slices.Contains(r.Except, o.Day) {
				t.Fatalf("%s is outside", o.Local())
			}
			shown := o.StartsAt.In(loc).Format("2006-01-02 15:04")
			if (shown == o.Local()) == (o.Clock == store.ClockGap) {
				t.Fatalf("the clock shows %s for %s (%q)", shown, o.Local(), o.Clock)
			}
			if o.Clock == store.ClockGap && o.StartsAt.Add(-48*time.Hour).In(loc).Format("15:04") == shown[11:] {
				t.Fatalf("%s is no gap", o.Local())
			}
			if o.Clock == store.ClockRepeat && o.StartsAt.Add(2*time.Hour).In(loc).Format("2006-01-02 15:04") < o.Local() {
				t.Fatalf("%s is not the first", o.Local())
			}
		}
		days, err := r.Days(r.First, r.Until)
		if err != nil || len(occurrences) != len(days)*len(slices.Compact(slices.Sorted(slices.Values(r.Starts)))) {
			t.Fatalf("%d occurrences of %d days: %v", len(occurrences), len(days), err)
		}
	})
}

func TestARuleIsReadBackAsItWasAskedFor(t *testing.T) {
	t.Parallel()
	for _, p := range []store.RuleParts{
		{Frequency: store.Daily, Every: 1},
		{Frequency: store.Daily, Every: 3},
		{Frequency: store.Weekly, Every: 1, Weekdays: []time.Weekday{time.Friday}},
		{Frequency: store.Weekly, Every: 2, Weekdays: []time.Weekday{time.Monday, time.Sunday}},
		{Frequency: store.MonthlyDay, Every: 1, MonthDay: 31},
		{Frequency: store.MonthlyNth, Every: 1, Nth: 5, Weekdays: []time.Weekday{time.Friday}},
		{Frequency: store.MonthlyNth, Every: 3, Nth: -1, Weekdays: []time.Weekday{time.Sunday}},
	} {
		got, ok := store.PartsOf(p.RRule())
		if !ok || got.RRule() != p.RRule() || got.Frequency != p.Frequency || got.Every != p.Every || !slices.Equal(got.Weekdays, p.Weekdays) {
			t.Errorf("%s is read as %+v", p.RRule(), got)
		}
	}
	if _, ok := store.PartsOf("FREQ=YEARLY;BYMONTH=2"); ok {
		t.Error("a rule that no form asks for is read")
	}
	for rule, want := range map[string][]string{
		"FREQ=MONTHLY;BYMONTHDAY=31": {"2027-02", "2027-04"},
		"FREQ=MONTHLY;BYDAY=+5FR":    {"2027-02", "2027-03"},
		"FREQ=MONTHLY;BYDAY=-1FR":    nil,
		"FREQ=DAILY":                 nil,
	} {
		got, err := store.Recurrence{Rule: rule, First: "2027-01-15", Starts: []int{0}}.PassedMonths("2027-01-15", "2027-05-30")
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s passes over %v %v, want %v", rule, got, err, want)
		}
	}
}
