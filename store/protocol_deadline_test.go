package store_test

import (
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

func TestOfferDeadline(t *testing.T) {
	t.Parallel()
	tokyo, york := zone(t, "Asia/Tokyo"), zone(t, "America/New_York")
	night := &store.QuietHours{From: 21 * 60, Until: 8 * 60}
	noon := &store.QuietHours{From: 12 * 60, Until: 13 * 60}
	parse := func(t *testing.T, text string, venue *time.Location) time.Time {
		t.Helper()
		at, err := time.ParseInLocation("2006-01-02 15:04:05", text, venue)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	for _, c := range []struct {
		name   string
		venue  *time.Location
		quiet  *store.QuietHours
		now    string
		answer time.Duration
		closes string // empty: far away
		want   string
	}{
		{"is now plus the usual time for an answer", tokyo, nil, "2027-03-02 23:50:00", 30 * time.Minute, "", "2027-03-03 00:20:00"},
		{"is left alone outside quiet hours", tokyo, night, "2027-03-02 20:00:00", 30 * time.Minute, "", "2027-03-02 20:30:00"},
		{"an instant before quiet hours is outside", tokyo, night, "2027-03-02 20:29:59", 30 * time.Minute, "", "2027-03-02 20:59:59"},
		{"moves when it would be their beginning", tokyo, night, "2027-03-02 20:30:00", 30 * time.Minute, "", "2027-03-03 08:30:00"},
		{"moves from the evening to the morning plus the usual time", tokyo, night, "2027-03-02 22:00:00", 30 * time.Minute, "", "2027-03-03 08:30:00"},
		{"moves from after midnight to the same morning", tokyo, night, "2027-03-03 03:00:00", 30 * time.Minute, "", "2027-03-03 08:30:00"},
		{"is left alone at their end, which is outside", tokyo, night, "2027-03-03 07:30:00", 30 * time.Minute, "", "2027-03-03 08:00:00"},
		{"moves within a day", tokyo, noon, "2027-03-03 12:10:00", 30 * time.Minute, "", "2027-03-03 13:30:00"},
		{"that falls inside again after moving is the next end", tokyo, night, "2027-03-02 22:00:00", 14 * time.Hour, "", "2027-03-03 12:00:00"},
		{"that falls inside, moves, and falls inside again is the next end", tokyo, night, "2027-03-02 08:30:00", 13 * time.Hour, "", "2027-03-04 08:00:00"},
		{"is never past the close of booking", tokyo, nil, "2027-03-02 10:00:00", 30 * time.Minute, "2027-03-02 10:12:00", "2027-03-02 10:12:00"},
		{"is not moved past the close of booking", tokyo, night, "2027-03-02 22:00:00", 30 * time.Minute, "2027-03-02 23:00:00", "2027-03-02 23:00:00"},
		{"is not moved a second time past the close of booking", tokyo, night, "2027-03-02 08:30:00", 13 * time.Hour, "2027-03-03 22:00:00", "2027-03-03 21:00:00"},
		{"moves by venue time over the night when clocks go forward", york, night, "2027-03-13 22:00:00", 30 * time.Minute, "", "2027-03-14 08:30:00"},
		{"moves by venue time over the night when clocks go back", york, night, "2027-11-06 22:00:00", 30 * time.Minute, "", "2027-11-07 08:30:00"},
		{"is judged by venue time after clocks went forward", york, night, "2027-03-14 20:45:00", 30 * time.Minute, "", "2027-03-15 08:30:00"},
		{"moves on where their end is a time that the clocks skip", york, &store.QuietHours{From: 22 * 60, Until: 2*60 + 30}, "2027-03-13 23:00:00", 30 * time.Minute, "", "2027-03-14 04:00:00"},
		{"is not moved by quiet hours of no length", tokyo, &store.QuietHours{From: 600, Until: 600}, "2027-03-02 09:45:00", 15 * time.Minute, "", "2027-03-02 10:00:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			closes := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
			if c.closes != "" {
				closes = parse(t, c.closes, c.venue)
			}
			want := parse(t, c.want, c.venue)
			if c.name == "is not moved a second time past the close of booking" {
				want = closes // the next end would be the day after
			}
			got := store.OfferDeadline(parse(t, c.now, c.venue), c.answer, c.quiet, c.venue, closes)
			if !got.Equal(want) {
				t.Fatalf("%v, not %v", got.In(c.venue), want)
			}
		})
	}
}

// Whatever the hour, the zone and the clock change: not before now, not past
// the close, and outside quiet hours unless the close is inside or it was moved once already.
func TestOfferDeadlineAtEveryMinuteOfAClockChange(t *testing.T) {
	t.Parallel()
	york := zone(t, "America/New_York")
	closes := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, quiet := range []store.QuietHours{{From: 21 * 60, Until: 8 * 60}, {From: 60, Until: 90}, {From: 23 * 60, Until: 90}, {From: 90, Until: 150}, {From: 22 * 60, Until: 150}} {
		for _, from := range []time.Time{time.Date(2027, 3, 13, 18, 0, 0, 0, york), time.Date(2027, 11, 6, 18, 0, 0, 0, york)} {
			for minute := range 18 * 60 {
				now := from.Add(time.Duration(minute) * time.Minute)
				got := store.OfferDeadline(now, 30*time.Minute, &quiet, york, closes)
				local := got.In(york)
				at := local.Hour()*60 + local.Minute()
				inside := at >= quiet.From && at < quiet.Until
				if quiet.From > quiet.Until {
					inside = at >= quiet.From || at < quiet.Until
				}
				if got.Before(now.Add(30*time.Minute)) || inside {
					t.Fatalf("quiet %v, now %v: %v", quiet, now, local)
				}
			}
		}
	}
}

func TestOffersInQuietHoursStateTheResultingTime(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(p *store.Policies) { p.Quiet = &store.QuietHours{From: 21 * 60, Until: 8 * 60} })
	slot, booked := s.full(1)
	e := s.Join(t, slot, 1)
	s.at(13 * time.Hour) // 23:00 in Tokyo
	change := s.Cancel(t, booked[0])
	want := s.begin.Add(22*time.Hour + 30*time.Minute) // 08:30 the next day
	got := s.entryState(e, store.Offered)
	if !got.ShownUntil.Equal(want) || !got.ExpiresAt.Equal(want.Add(5*time.Minute)) || !change.Offered[0].ShownUntil.Equal(want) {
		t.Fatalf("shown %v enforced %v", got.ShownUntil, got.ExpiresAt)
	}
}

func TestAnOffersShownDeadlineIsNeverPastTheClose(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(p *store.Policies) {
		p.BroadcastBefore, p.BookingCloses, p.CancelBefore = 0, store.Duration(time.Hour), 0
	})
	slot, booked := s.full(1)
	e := s.Join(t, slot, 1)
	closes := slot.StartsAt.Add(-time.Hour)
	s.until(closes.Add(-11 * time.Minute)) // order rules for one minute more
	s.Cancel(t, booked[0])
	got := s.entryState(e, store.Offered)
	if !got.ShownUntil.Equal(closes) || !got.ExpiresAt.Equal(closes.Add(5*time.Minute)) {
		t.Fatalf("shown %v enforced %v", got.ShownUntil, got.ExpiresAt)
	}
	s.until(closes.Add(4 * time.Minute)) // accept does not look at the window
	_, err := s.accept(e)
	s.must(err)
}

func TestDeadlinesSetByHandCount(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot := s.Slot(t, 1)
	r := s.Hold(t, slot, 1)
	s.Exec(t, "UPDATE reservations SET shown_until = $2, expires_at = $2 WHERE id = $1", r.ID, s.begin.Add(-time.Hour))
	s.Hold(t, slot, 1)
	s.reservationState(r, store.ExpiredR)
}

func TestPolicyProblems(t *testing.T) {
	t.Parallel()
	negative := -1
	for _, c := range []struct {
		field string
		edit  func(*store.Policies)
	}{
		{"holdGrace", func(p *store.Policies) { p.HoldGrace = store.Duration(store.LeastGrace - time.Second) }},
		{"offerGrace", func(p *store.Policies) { p.OfferGrace = 0 }},
		{"holdShown", func(p *store.Policies) { p.HoldShown = 0 }},
		{"offerShown", func(p *store.Policies) { p.OfferShown = 0 }},
		{"leastAnswer", func(p *store.Policies) { p.LeastAnswer = 0 }},
		{"bookingOpens", func(p *store.Policies) { p.BookingOpens = 0 }},
		{"bookingCloses", func(p *store.Policies) { p.BookingCloses = -1 }},
		{"broadcastBefore", func(p *store.Policies) { p.BroadcastBefore = -1 }},
		{"cancelBefore", func(p *store.Policies) { p.CancelBefore = -1 }},
		{"reminderBefore", func(p *store.Policies) { p.ReminderBefore = -1 }},
		{"eraseWaitlist", func(p *store.Policies) { p.EraseWaitlist = -1 }},
		{"eraseReservations", func(p *store.Policies) { p.EraseBookings = -1 }},
		{"partyMax", func(p *store.Policies) { p.PartyMax = 0 }},
		{"holdsPerVisitor", func(p *store.Policies) { p.HoldsPerVisitor = 0 }},
		{"fewLeft", func(p *store.Policies) { p.FewLeft = -1 }},
		{"waitlistMax", func(p *store.Policies) { p.WaitlistMax = &negative }},
		{"waitlistMode", func(p *store.Policies) { p.WaitlistMode = "lottery" }},
		{"fit", func(p *store.Policies) { p.Fit = "" }},
		{"quiet", func(p *store.Policies) { p.Quiet = &store.QuietHours{From: 1440, Until: 0} }},
		{"quiet", func(p *store.Policies) { p.Quiet = &store.QuietHours{From: 60, Until: 60} }},
	} {
		p := store.DefaultPolicies()
		c.edit(&p)
		if bad := p.Problems(); len(bad) != 1 || bad[c.field] == "" {
			t.Errorf("%s: %v", c.field, bad)
		}
	}
	if bad := store.DefaultPolicies().Problems(); len(bad) != 0 {
		t.Errorf("the defaults: %v", bad)
	}
	if store.LeastGrace < 2*store.LongestWait {
		t.Error("a press by the shown deadline may be late")
	}
}

func TestPoliciesAreInherited(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(p *store.Policies) { p.PartyMax, p.Fit = 7, store.Strict })
	service := s.AddService(t, s.Tenant, "fair", []byte(`{"partyMax":2}`))
	got, err := service.Policies(s.Tenant)
	if err != nil || got.PartyMax != 2 || got.Fit != store.Strict || got.OfferShown.D() != 30*time.Minute {
		t.Fatalf("%+v %v", got, err)
	}
	if _, err := store.DefaultPolicies().With([]byte(`{"holdShown":"soon"}`)); err == nil {
		t.Error("an unreadable duration was taken")
	}
	if got, err := store.DefaultPolicies().With([]byte(`{"quiet":null}`)); err != nil || got.Quiet != nil {
		t.Errorf("%+v %v", got.Quiet, err)
	}
	for _, bad := range []store.Tenant{
		{Slug: "staff", Name: "x", TimeZone: "Asia/Tokyo", Locale: "ja"},
		{Slug: "shop", Name: "x", TimeZone: "Asia/Tokyo", Locale: "ja"},
		{Slug: "b", Name: "x", TimeZone: "Mars/Base", Locale: "ja"},
		{Slug: "b", Name: "x", TimeZone: "", Locale: "ja"},
		{Slug: "Not a slug", Name: "x", TimeZone: "Asia/Tokyo", Locale: "ja"},
		{Slug: "b", Name: "x", TimeZone: "Asia/Tokyo", Locale: "fr"},
		{Slug: "b", Name: "x", TimeZone: "Asia/Tokyo", Locale: "ja", Overrides: []byte(`{"fit":"x"}`)},
	} {
		if _, err := s.Store.AddTenant(s.ctx(), bad); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
	if _, err := s.Store.AddService(s.ctx(), store.Service{TenantID: s.Tenant.ID, Slug: "x", Name: store.Text{"ja": "x"}, Duration: time.Hour, Capacity: 1, Overrides: []byte(`{"fit":"x"}`)}); err == nil {
		t.Error("a service whose policies can't hold was taken")
	}
}

func TestAPolicyOfASlotIsItsOwnCopy(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot := s.Slot(t, 5)
	s.Exec(t, `UPDATE services SET policies = '{"partyMax":1}'`)
	s.Exec(t, `UPDATE tenants SET policies = '{}'`)
	s.Hold(t, slot, 4)
	_, _, err := s.Store.ChangeParty(s.ctx(), store.PartyRequest{TenantID: slot.TenantID, ID: s.Book(t, slot, 1).ID, PartySize: 1, Actor: shop.Customer})
	s.must(err)
}
