package web

import (
	"encoding/json"
	"net/http"
	"regexp"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

// A start is any RFC 3339 time with an offset, and nothing else; what is taken is
// one instant, and comes back as it was meant.
func FuzzStarts(f *testing.F) {
	for _, seed := range []string{
		"2027-03-14T10:00:00+09:00", "2027-03-14T01:00:00Z", "2027-03-14t01:00:00z", "2027-03-14T01:00:00", "2027-03-14 01:00:00Z", "2027-03-14T01:00:00.123456789-23:59",
		"2027-02-29T00:00:00Z", "2028-02-29T24:00:00Z", "2016-12-31T23:59:60Z", "9999-12-31T23:59:59-12:00", "0000-01-01T00:00:00+12:00", "2027-03-14T01:00:00+24:00", "2027-03-14T01:00:00,5Z",
		"２０２７-03-14T01:00:00Z", "", "Z",
	} {
		f.Add(seed)
	}
	offset := regexp.MustCompile(`([Zz]|[+-]\d{2}:\d{2})$`)
	// Go reads a comma and an hour of one digit as well, which RFC 3339 does not have.
	shape := regexp.MustCompile(`^[\d-]{10}[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$`)
	f.Fuzz(func(t *testing.T, text string) {
		at, ok := parseStart(text)
		if !ok {
			// What Go reads is refused only where it leaves the years that can be written.
			read, err := time.Parse(time.RFC3339, text)
			if err == nil && shape.MatchString(text) && read.UTC().Year() >= 1 && read.UTC().Year() <= 9999 {
				t.Errorf("%q is refused", text)
			}
			return
		}
		if !offset.MatchString(text) {
			t.Errorf("%q has no offset, and is taken as %v", text, at)
		}
		if at.Location() != time.UTC {
			t.Errorf("%q is in %v", text, at.Location())
		}
		written, err := apiTime(at).MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		again, ok := parseStart(string(written))
		if !ok || !again.Equal(at.Truncate(time.Millisecond)) {
			t.Errorf("%q is written as %s, which is %v", text, written, again)
		}
	})
}

// Whatever a body holds, a schedule's rule is taken or refused, in bounded time.
func FuzzScheduleRules(f *testing.F) {
	for _, seed := range []string{"FREQ=DAILY", "FREQ=WEEKLY;BYDAY=MO,TH", "FREQ=MONTHLY;BYDAY=+2FR", "FREQ=MONTHLY;BYMONTHDAY=31;INTERVAL=12", "FREQ=DAILY;INTERVAL=0", "FREQ=YEARLY;BYWEEKNO=60", "RRULE:FREQ=DAILY", "DTSTART:20270101T000000Z\nRRULE:FREQ=DAILY", ";=", "FREQ=WEEKLY;BYDAY=+9999999999MO"} {
		f.Add(seed, "10:00", "2027-03-14", "2029-03-14")
	}
	f.Add("FREQ=DAILY", "24:00", "2027-02-30", "0001-01-01")
	s := openSite(f, shop.New(f, nil))
	p := s.program(f)
	f.Fuzz(func(t *testing.T, rule, start, first, last string) {
		q := *p
		q.t = t
		body, err := json.Marshal(object{"rule": object{"service": "class", "resource": "studio-a", "rrule": rule, "starts": []string{start}, "firstDay": first, "lastDay": last}})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		got := q.send(http.MethodPost, "/schedules/preview", string(body))
		if got.status >= 500 || time.Since(began) > store.LongestWait {
			t.Errorf("%s: %d after %v", body, got.status, time.Since(began))
		}
	})
}
