package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A weekly schedule made by hand, in a browser, across the day on which the
// clocks change in New York; in Tokyo they never do.
func TestAScheduleAcrossAClockChange(t *testing.T) {
	for _, c := range []struct {
		zone string
		want []string // the instants of 02:30 and 15:00 on three Sundays
		note bool
	}{
		{"America/New_York", []string{"2027-03-07T07:30", "2027-03-07T20:00", "2027-03-14T07:30", "2027-03-14T19:00", "2027-03-21T06:30", "2027-03-21T19:00"}, true},
		{"Asia/Tokyo", []string{"2027-03-06T17:30", "2027-03-07T06:00", "2027-03-13T17:30", "2027-03-14T06:00", "2027-03-20T17:30", "2027-03-21T06:00"}, false},
	} {
		t.Run(c.zone, func(t *testing.T) {
			t.Parallel()
			p := serveProduct(t, nil)
			p.Exec(t, "UPDATE tenants SET time_zone = $1", c.zone)
			v := p.visitor(t, desktop, true)
			v.signIn()
			v.open("/staff/shop/schedules")
			v.press(`a[href$="/schedules/new"]`, `#freq-weekly`)
			v.press(`label:has([name=weekday][value="0"])`, `[name=weekday][value="0"]:checked`)
			v.fill("times", "2:30, 15:00")
			ask[bool](v, `(document.querySelector('[name=first]').value = '2027-03-07', document.querySelector('[name=until]').value = '2027-03-21', true)`)
			v.press(`.schedule-form button[type=submit]`, `.schedule-plan`)
			shown := ask[string](v, `document.querySelector("main").innerText`)
			if n := strings.Count(shown, "15:00"); n < 3 || !strings.Contains(shown, "6件の枠を作ります") {
				t.Errorf("the preview says:\n%s", shown)
			}
			if strings.Contains(shown, "02:30は存在しない") != c.note {
				t.Errorf("of the clock change it says:\n%s", shown)
			}
			v.press(`form.schedule-press button[type=submit]`, `[data-state="done"]`)
			rows, err := p.Pool.Query(t.Context(), `SELECT to_char(starts_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI') || ' ' || extract(epoch FROM ends_at - starts_at)::int FROM slots ORDER BY starts_at`)
			check(t, err)
			var got []string
			for rows.Next() {
				var at string
				check(t, rows.Scan(&at))
				start, long, _ := strings.Cut(at, " ")
				if long != fmt.Sprint(int(time.Hour/time.Second)) {
					t.Errorf("%s is %s seconds long", start, long)
				}
				got = append(got, start)
			}
			check(t, rows.Err())
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("made %v, want %v", got, c.want)
			}
			v.open("/staff/shop/today?date=2027-03-14")
			if day := ask[string](v, `document.querySelector("main").innerText`); !strings.Contains(day, "15:00") {
				t.Errorf("the day shows:\n%s", day)
			}
		})
	}
}
