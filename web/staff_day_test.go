package web

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
	"holdfast/views"
	"holdfast/views/i18n"
)

// slotFor makes a slot that is as long as asked.
func slotFor(t *testing.T, s *site, v store.Tenant, service store.Service, resource store.Resource, start time.Time, long time.Duration) store.Slot {
	t.Helper()
	made, err := s.Store.AddSlots(t.Context(), v.ID, []store.NewSlot{{ServiceID: service.ID, ResourceID: resource.ID, StartsAt: start, Capacity: 4}})
	if err != nil {
		t.Fatal(err)
	}
	s.Exec(t, "UPDATE slots SET ends_at = $3 WHERE tenant_id = $1 AND id = $2", v.ID, made[0].ID, start.Add(long))
	return made[0]
}

// blockClasses are the classes of a slot's block on a day of the calendar.
func blockClasses(t *testing.T, p page, slot store.Slot, day string) []string {
	t.Helper()
	for _, n := range p.all("id", "slot-"+slot.ID+"-"+day) {
		return strings.Fields(attr(n, "class"))
	}
	t.Errorf("the slot does not stand on %s", day)
	return nil
}

func standsAt(t *testing.T, p page, slot store.Slot, day, classes string) {
	t.Helper()
	got := blockClasses(t, p, slot, day)
	for _, want := range strings.Fields(classes) {
		if !slices.Contains(got, want) {
			t.Errorf("on %s the slot has %q, want %q", day, got, classes)
		}
	}
}

// tokyo is a time in October 2054 at the venue: the 8th is a Thursday, as in 2026. It is to come for as long as these
// tests are run, since sessions end by the clock that they are given.
func tokyo(day, hour, minute int) time.Time {
	return time.Date(2054, 10, day, hour, minute, 0, 0, time.FixedZone("JST", 9*3600))
}

func TestTheCalendarShowsASlotWhereTheWallClockHasIt(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil), func(c *Config) { c.Now = func() time.Time { return tokyo(8, 12, 0) } })
	b := atTheDesk(t, s)
	last := slotFor(t, s, s.Tenant, s.Service, s.Resource, tokyo(8, 23, 30), 30*time.Minute)
	night := slotFor(t, s, s.Tenant, s.Service, s.Resource, tokyo(9, 22, 0), 3*time.Hour)
	first := slotFor(t, s, s.Tenant, s.Service, s.Resource, tokyo(8, 0, 0), time.Hour)
	out := slotFor(t, s, s.Tenant, s.Service, s.Resource, tokyo(10, 23, 0), 2*time.Hour)
	week := b.get("/staff/shop/calendar?week=2054-10-08").is(http.StatusOK)
	standsAt(t, week, last, "2054-10-08", "at-h23 at-m30 to-h24 to-m0")
	week.says("23:30〜24:00")
	standsAt(t, week, night, "2054-10-09", "at-h22 at-m0 to-h24 to-m0")
	standsAt(t, week, night, "2054-10-10", "at-h0 at-m0 to-h1 to-m0")
	week.says("22:00〜翌01:00").says(ja("staff.calendar.before"))
	standsAt(t, week, first, "2054-10-08", "at-h0 at-m0 to-h1 to-m0")
	standsAt(t, week, out, "2054-10-10", "at-h23 to-h24")
	if n := len(week.all("data-slot", first.ID)); n != 1 {
		t.Errorf("a slot that ends within its day stands %d times", n)
	}
	// What goes on past the Saturday is there on the Sunday of the next week, and on the day's page.
	standsAt(t, b.get("/staff/shop/calendar?week=2054-10-11").is(http.StatusOK), out, "2054-10-11", "at-h0 to-h1")
	b.get(views.StaffDayURL("shop", "2054-10-10")).need("data-slot", night.ID).need("data-slot", out.ID)
	b.get(views.StaffDayURL("shop", "2054-10-08")).need("data-slot", last.ID).says("〜24:00")
	if day := b.get(views.StaffDayURL("shop", "2054-10-09")); day.has("data-slot", last.ID) {
		t.Error("a slot that ends at 24:00 is not the next day's")
	}
	// The numbers of browsers' week fields, and addresses that ask for nothing that can be.
	b.get("/staff/shop/calendar?week=2054-W41").need("data-slot", last.ID)
	for _, odd := range []string{"?week=2054-W54", "?week=x-Wy", "?week=2054-02-30", "?month=2054-13", "?month=", "?week=0000-01-01", "?month=9999-12", "?service=nothing&resource=nobody", "?week=%00"} {
		b.get("/staff/shop/calendar" + odd).is(http.StatusOK)
		b.get("/staff/shop/today" + strings.Replace(odd, "week", "date", 1)).is(http.StatusOK)
	}
	month := b.get("/staff/shop/calendar?month=2054-10").is(http.StatusOK).need("data-date", "2054-10-08")
	if text := month.text(); !strings.Contains(text, "2枠") {
		t.Errorf("no sum of the two slots of 8 October:\n%s", text)
	}
}

func TestTheCalendarTellsResourcesApartAndNarrows(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil), func(c *Config) { c.Now = func() time.Time { return tokyo(8, 9, 0) } })
	b := atTheDesk(t, s)
	other, err := s.Store.AddResource(t.Context(), store.Resource{TenantID: s.Tenant.ID, Slug: "room-b", Name: store.Text{i18n.JA: "和室", i18n.EN: "Tatami room"}})
	if err != nil {
		t.Fatal(err)
	}
	one := slotFor(t, s, s.Tenant, s.Service, s.Resource, tokyo(8, 10, 0), time.Hour)
	two := slotFor(t, s, s.Tenant, s.Service, other, tokyo(8, 10, 30), time.Hour)
	three := slotFor(t, s, s.Tenant, s.Service, s.Resource, tokyo(8, 11, 0), time.Hour)
	week := b.get("/staff/shop/calendar?week=2054-10-08").is(http.StatusOK)
	standsAt(t, week, one, "2054-10-08", "lane-0 of-2 hue-1")
	standsAt(t, week, two, "2054-10-08", "lane-1 of-2 hue-2")
	standsAt(t, week, three, "2054-10-08", "lane-0 of-2 hue-1")
	week.says("和室")
	for _, path := range []string{"/staff/shop/calendar?week=2054-10-08", "/staff/shop/today?date=2054-10-08"} {
		only := b.get(path+"&resource=room-b").is(http.StatusOK).need("data-slot", two.ID)
		if only.has("data-slot", one.ID) {
			t.Errorf("%s: the other room is shown too", path)
		}
	}
	// The filters go along to the other views and days.
	if !b.get("/staff/shop/calendar?month=2054-10&resource=room-b").is(http.StatusOK).has("href", "/staff/shop/today?date=2054-10-08&resource=room-b") {
		t.Error("the day of the month forgets the filter")
	}
}

func TestTheCalendarOnDaysWhenClocksChange(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil), func(c *Config) { c.Now = func() time.Time { return time.Date(2055, 3, 1, 12, 0, 0, 0, time.UTC) } })
	v := s.AddTenant(t, "yoga-ny", nil)
	s.Exec(t, "UPDATE tenants SET time_zone = 'America/New_York', locale = 'en' WHERE id = $1", v.ID)
	v, err := s.Store.TenantByID(t.Context(), v.ID)
	if err != nil {
		t.Fatal(err)
	}
	loc := v.Location()
	class, studio := s.AddService(t, v, "class", nil), s.AddResource(t, v, "studio")
	s.hire(t, v, "ny@example.com", store.RoleDesk)
	s.Exec(t, "UPDATE staff SET locale = 'en' WHERE email = 'ny@example.com'")
	b := s.browser(t)
	b.follow(b.post("/staff/sign-in", signIn("ny@example.com", staffPassword)))
	on := func(month, day, hour, minute int) time.Time {
		return time.Date(2055, time.Month(month), day, hour, minute, 0, 0, loc)
	}
	for _, day := range []struct{ month, day int }{{3, 7}, {3, 14}, {3, 21}, {11, 7}} {
		slot := slotFor(t, s, v, class, studio, on(day.month, day.day, 15, 0), 90*time.Minute)
		date := fmt.Sprintf("2055-%02d-%02d", day.month, day.day)
		standsAt(t, b.get("/staff/yoga-ny/calendar?week="+date).is(http.StatusOK), slot, date, "at-h15 at-m0 to-h16 to-m30")
		b.get("/staff/yoga-ny/today?date="+date).need("data-slot", slot.ID).says("15:00").says("16:30")
	}
	// Half past one comes twice on 7 November, an hour apart; both are there, each with its zone, beside each other.
	once := slotFor(t, s, v, class, studio, time.Date(2055, 11, 7, 5, 30, 0, 0, time.UTC), time.Hour)
	again := slotFor(t, s, v, class, studio, time.Date(2055, 11, 7, 6, 30, 0, 0, time.UTC), time.Hour)
	back := b.get("/staff/yoga-ny/calendar?week=2055-11-07").is(http.StatusOK)
	standsAt(t, back, once, "2055-11-07", "at-h1 at-m30 to-h2 to-m30 lane-0 of-2") // it reads 1:30 to 1:30
	standsAt(t, back, again, "2055-11-07", "at-h1 at-m30 to-h2 to-m30 lane-1 of-2")
	back.says("EDT").says("EST").says("Clocks go back (02:00 → 01:00)")
	// On 14 March there is no half past two: one hour from half past one ends at half past three.
	over := slotFor(t, s, v, class, studio, on(3, 14, 1, 30), time.Hour)
	forward := b.get("/staff/yoga-ny/calendar?week=2055-03-14").is(http.StatusOK).says("Clocks go forward (02:00 → 03:00)")
	standsAt(t, forward, over, "2055-03-14", "at-h1 at-m30 to-h3 to-m30")
	if strings.Contains(forward.text(), "EST") {
		t.Error("a zone is named where the clock shows each time once")
	}
	// No Japanese holiday in New York.
	if b.get("/staff/yoga-ny/calendar?month=2055-11"); strings.Contains(b.get("/staff/yoga-ny/calendar?month=2055-11").body, "staff-holiday") {
		t.Error("a holiday of Japan in New York")
	}
}

func TestTheCalendarShowsHolidaysAndClosedDays(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil), func(c *Config) { c.Now = func() time.Time { return tokyo(8, 9, 0) } })
	b := atTheDesk(t, s)
	if _, err := s.Store.AddClosedDay(t.Context(), store.ClosedDay{TenantID: s.Tenant.ID, Day: "2054-10-13", Note: store.Text{i18n.JA: "棚卸し"}}); err != nil {
		t.Fatal(err)
	}
	slot := slotFor(t, s, s.Tenant, s.Service, s.Resource, tokyo(13, 10, 0), time.Hour)
	for _, path := range []string{"/staff/shop/calendar?week=2054-10-12", "/staff/shop/calendar?month=2054-10"} {
		b.get(path).is(http.StatusOK).says("スポーツの日").says(ja("staff.calendar.shut")).says("棚卸し")
	}
	b.get("/staff/shop/today?date=2054-10-13").says("棚卸し").need("data-slot", slot.ID)
	b.get("/staff/shop/today?date=2054-10-12").says("スポーツの日")
}

// The statements of the calendar are as many for a full week as for an empty one.
func TestTheCalendarKeepsToItsBudgetOfStatements(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	paths := []string{"/staff/shop/calendar?week=%s", "/staff/shop/calendar?month=%.7s", "/staff/shop/today?date=%s", "/staff/shop/keys"}
	count := func(path string) int {
		if strings.Contains(path, "%") {
			path = fmt.Sprintf(path, s.Start.In(s.Tenant.Location()).Format(time.DateOnly))
		}
		return s.Count(func() { b.get(path).is(http.StatusOK) })
	}
	var empty []int
	for _, path := range paths {
		empty = append(empty, count(path))
	}
	for range 12 {
		slot := s.Slot(t, 1)
		r := s.Book(t, slot, 1)
		for range 3 {
			s.Join(t, slot, 1)
		}
		s.Cancel(t, r)
	}
	for i, path := range paths {
		// A day that has something also reads the slots that its list of things to do speaks of.
		if n := count(path); n > empty[i]+1 || n > 15 {
			t.Errorf("%s: %d statements, %d for an empty one, 15 at most", path, n, empty[i])
		}
	}
}

func TestTheMonthSumsUpItsDays(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	slot := s.Slot(t, 2)
	first := s.Book(t, slot, 2)
	s.Join(t, slot, 1)
	s.Join(t, slot, 1)
	s.Join(t, slot, 1)
	loc := s.Tenant.Location()
	day := slot.StartsAt.In(loc)
	from := time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, loc)
	q := store.SlotQuery{TenantID: s.Tenant.ID, From: from, To: from.AddDate(0, 0, 1)}
	want := store.DayLoad{Day: day.Format(time.DateOnly), Slots: 1, Full: 1, Capacity: 2, Booked: 2, Waiting: 3}
	sums := func() store.DayLoad {
		t.Helper()
		loads, err := s.Store.DayLoads(t.Context(), q, loc)
		if err != nil || len(loads) != 1 {
			t.Fatal(loads, err)
		}
		return loads[0]
	}
	if got := sums(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	s.Exec(t, "UPDATE waitlist_entries SET email = '' WHERE state = 'waiting' AND position = (SELECT min(position) FROM waitlist_entries)")
	s.Cancel(t, first)
	want.Booked, want.Kept, want.Waiting, want.Offers, want.Calls = 0, 2, 1, 1, 1
	if got := sums(); got != want {
		t.Errorf("after the cancelling %+v, want %+v", got, want)
	}
}

func TestAlarmsOfTheCheckStandOnTheDayOfTheirVenue(t *testing.T) {
	t.Parallel()
	found := map[string][]store.Finding{}
	s := openSite(t, shop.New(t, nil), func(c *Config) { c.Alarms = func(tenant string) []store.Finding { return found[tenant] } })
	b := atTheDesk(t, s)
	slot := s.Slot(t, 3)
	other := s.AddTenant(t, "other", nil)
	s.hire(t, other, "other@example.com", store.RoleOwner)
	stranger := s.browser(t)
	stranger.follow(stranger.post("/staff/sign-in", signIn("other@example.com", staffPassword)))
	found[s.Tenant.ID] = []store.Finding{
		{Invariant: "I2", Example: "slot " + slot.ID + " taken 1 counted 0", SlotID: &slot.ID, N: 1},
		{Invariant: "I10", Example: "slot " + slot.ID + " event 1: follows number 1", SlotID: &slot.ID, N: 1},
		{Invariant: "I10", Example: "slot " + slot.ID + " event 3: follows number 1", SlotID: &slot.ID, N: 1},
		{Invariant: "I8", Example: "message x without a cause", N: 1},
	}
	p := b.get("/staff/shop/today").need("data-invariant", "I2").need("href", views.StaffSlotURL("shop", slot.ID))
	p.need("data-invariant", "I8").need("href", views.StaffProofURL("shop"))
	if n := strings.Count(p.body, `data-invariant="I10"`); n != 1 {
		t.Errorf("the history of one slot is told %d times", n)
	}
	if p := stranger.get("/staff/other/today").is(http.StatusOK); p.has("data-state", "alarm") {
		t.Error("another venue is told")
	}
}
