package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"holdfast/store"
	"holdfast/store/storetest/shop"
	"holdfast/views"
)

// at is a local time at a venue.
func at(t testing.TB, loc *time.Location, local string) time.Time {
	t.Helper()
	start, err := time.ParseInLocation("2006-01-02 15:04", local, loc)
	if err != nil {
		t.Fatal(err)
	}
	return start
}

// calendarAt opens a venue of its own in a zone, whose pages and steps take the
// local time now for the present.
func calendarAt(t testing.TB, zone, locale, now string) (*site, store.Tenant, func(local string, capacity int, minutes ...int) store.Slot) {
	t.Helper()
	s := shop.New(t, nil)
	tenant, err := s.Store.AddTenant(t.Context(), store.Tenant{Slug: "here", Name: "Here", TimeZone: zone, Locale: locale})
	if err != nil {
		t.Fatal(err)
	}
	loc := tenant.Location()
	service, resource := s.AddService(t, tenant, "class", nil), s.AddResource(t, tenant, "room")
	present := at(t, loc, now)
	st := s.Store.At(present)
	site := openSite(t, s, func(c *Config) { c.Store, c.Now = st, func() time.Time { return present } })
	made := 0
	return site, tenant, func(local string, capacity int, minutes ...int) store.Slot {
		t.Helper()
		of := service
		if len(minutes) > 0 {
			var err error
			if of, err = st.AddService(t.Context(), store.Service{
				TenantID: tenant.ID, Slug: fmt.Sprintf("class-%d", made), Name: service.Name, Duration: time.Duration(minutes[0]) * time.Minute, Capacity: 3, Active: true,
			}); err != nil {
				t.Fatal(err)
			}
		}
		made++
		slots, err := st.AddSlots(t.Context(), tenant.ID, []store.NewSlot{{ServiceID: of.ID, ResourceID: resource.ID, StartsAt: at(t, loc, local), Capacity: capacity}})
		if err != nil {
			t.Fatal(err)
		}
		return slots[0]
	}
}

// cell is the day of the month overview.
func (p page) cell(date string) *html.Node {
	p.t.Helper()
	found := p.all("data-date", date)
	if len(found) != 1 {
		p.t.Fatalf("%d cells of %s:\n%s", len(found), date, p.text())
	}
	return found[0]
}

// heard is what an element says to those who hear it.
func heard(n *html.Node) string {
	var out []string
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		if attr(n, "aria-hidden") == "true" {
			return
		}
		if n.Type == html.TextNode {
			if words := strings.TrimSpace(n.Data); words != "" {
				out = append(out, words)
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(n)
	return strings.Join(out, " ")
}

func TestTheMonthSaysWhatEachDayHas(t *testing.T) {
	t.Parallel()
	s, tenant, slot := calendarAt(t, "Asia/Tokyo", "ja", "2026-12-10 12:00")
	st := s.web.store
	slot("2026-12-10 09:00", 4)  // over
	slot("2026-12-12 10:00", 10) // free
	few, full := slot("2026-12-13 10:00", 4), slot("2026-12-14 10:00", 1)
	shut, off := slot("2026-12-15 10:00", 4), slot("2026-12-16 10:00", 4)
	slot("2026-12-31 23:00", 4)           // the last of the month, closed that day
	slot("2027-01-01 00:00", 4)           // the first of the next
	early := slot("2027-02-20 10:00", 10) // sixty days before is 22 December
	book := func(o store.Slot, party int) {
		t.Helper()
		held, err := st.Hold(t.Context(), s.HoldRequest(o, party))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := st.Confirm(t.Context(), s.ConfirmRequest(held[0])); err != nil {
			t.Fatal(err)
		}
	}
	book(few, 2)
	book(full, 1)
	if _, err := st.CloseSlot(t.Context(), store.SlotRequest{TenantID: tenant.ID, SlotID: shut.ID, Reason: "x", Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	if _, err := st.CancelSlot(t.Context(), store.SlotRequest{TenantID: tenant.ID, SlotID: off.ID, Reason: "x", Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	for _, day := range []string{"2026-12-30", "2026-12-31"} {
		if _, err := st.AddClosedDay(t.Context(), store.ClosedDay{TenantID: tenant.ID, Day: day, Note: store.Text{"ja": "年末のため"}}); err != nil {
			t.Fatal(err)
		}
	}
	b := s.browser(t)
	p := b.get("/here?month=2026-12").is(http.StatusOK)
	for date, want := range map[string]string{
		"2026-12-10": "2026年12月10日（木） 受付終了 本日", "2026-12-11": "2026年12月11日（金） 受付中の枠はありません", "2026-12-12": "2026年12月12日（土） 空きあり",
		"2026-12-13": "2026年12月13日（日） 残りわずか", "2026-12-14": "2026年12月14日（月） キャンセル待ち", "2026-12-15": "2026年12月15日（火） 受付停止",
		"2026-12-16": "2026年12月16日（水） 中止", "2026-12-30": "2026年12月30日（水） 休業日 年末のため", "2026-12-31": "2026年12月31日（木） 休業日 空きあり 年末のため",
	} {
		n := p.cell(date)
		if got := heard(n); got != want {
			t.Errorf("%s: %q, want %q", date, got, want)
		}
		if n.Data != "a" || attr(n, "href") != "/here?date="+date {
			t.Errorf("%s leads to %q", date, attr(n, "href"))
		}
	}
	if n := p.cell("2026-12-09"); n.Data == "a" || attr(n, "data-state") != "" {
		t.Error("a day that has been can be opened")
	}
	if len(p.all("data-date", "")) != 31 || len(p.all("scope", "col")) != 7 {
		t.Error("the month has not its days")
	}
	// Each mark is the one of the day's own page.
	for _, date := range []string{"2026-12-12", "2026-12-13", "2026-12-14", "2026-12-15", "2026-12-16", "2026-12-31"} {
		state := attr(p.cell(date), "data-state")
		day := b.get("/here?date=" + date)
		if found := slotsOf(day, date); len(found) != 1 || attr(found[0], "data-state") != state {
			t.Errorf("%s is %s in the month, on its page %d slots", date, state, len(found))
		}
	}
	// The next month, its holiday, and what has not opened yet.
	p = b.get("/here?month=2027-01")
	if got := heard(p.cell("2027-01-01")); got != "2027年1月1日（金） 元日 空きあり" {
		t.Errorf("new year: %q", got)
	}
	if !strings.Contains(attr(p.cell("2027-01-01").Parent, "class"), "sun") || !strings.Contains(attr(p.cell("2027-01-11").Parent, "class"), "sun") {
		t.Error("a holiday has not the colour of Sundays")
	}
	p = b.get("/here?month=2027-02")
	if got := heard(p.cell("2027-02-20")); got != "2027年2月20日（土） 受付前 受付は 12月22日（火）10:00 から" || !early.OpensAt.Equal(at(t, tenant.Location(), "2026-12-22 10:00")) {
		t.Errorf("not open yet: %q", got)
	}
	// An English reader.
	b.header.Set("Accept-Language", "en")
	p = b.get("/here?month=2027-01")
	if got := heard(p.cell("2027-01-01")); got != "Fri 1 Jan 2027 New Year's Day Free" {
		t.Errorf("new year: %q", got)
	}
	p.says("January 2027")
}

// slotsOf are the slots under a day's heading.
func slotsOf(p page, date string) []*html.Node {
	p.t.Helper()
	var found []*html.Node
	for _, n := range p.all("datetime", date) {
		for c := range n.Parent.Parent.Descendants() {
			if attr(c, "data-slot") != "" {
				found = append(found, c)
			}
		}
	}
	return found
}

func TestTheMonthsAreTurnedAsFarAsTheDays(t *testing.T) {
	t.Parallel()
	s, _, slot := calendarAt(t, "Asia/Tokyo", "ja", "2026-12-10 12:00")
	slot("2026-12-12 10:00", 10)
	b := s.browser(t)
	rel := func(p page, rel string) string {
		for _, n := range p.all("rel", rel) {
			return attr(n, "href")
		}
		return ""
	}
	first := b.get("/here?month=2026-12")
	if rel(first, "prev") != "" || rel(first, "next") != "/here?month=2027-01" {
		t.Errorf("from the first month: %q, %q", rel(first, "prev"), rel(first, "next"))
	}
	last := b.get("/here?month=2028-01")
	if rel(last, "next") != "" || rel(last, "prev") != "/here?month=2027-12" {
		t.Errorf("from the last month: %q, %q", rel(last, "prev"), rel(last, "next"))
	}
	if n := last.cell("2028-01-14"); n.Data != "a" {
		t.Error("the last day can't be opened")
	}
	if n := last.cell("2028-01-15"); n.Data == "a" {
		t.Error("a day too far ahead can be opened")
	}
	for path, title := range map[string]string{
		"/here?month=2020-01": "2026年12月", "/here?month=9999-12": "2028年1月", "/here?month=2026-13": "", "/here?month=%00": "", "/here?month=x&date=2026-12-12": "", "/here?month=2027-02&date=2026-12-12": "2027年2月",
	} {
		p := b.get(path).is(http.StatusOK)
		if (len(p.all("data-month", "")) == 1) != (title != "") {
			t.Errorf("%s: month or not", path)
		}
		p.says(title)
	}
	// Nothing in a month: the next day that has something is named.
	p := b.get("/here?month=2027-03").says("この月に予約の枠はまだありません")
	if strings.Contains(p.text(), "次に空きのある日") {
		t.Error("a day before the month is the next one")
	}
	b.get("/here?month=2027-03&service=class").says("この条件に合う枠は、この月にはありません")
	b.get("/here").need("href", "/here?month=2026-12")
	b.get("/here?month=2027-03").need("href", "/here?date=2027-03-01")
}

func TestASlotSaysWhetherItsBookingIsStillToCome(t *testing.T) {
	t.Parallel()
	s, tenant, slot := calendarAt(t, "Asia/Tokyo", "ja", "2026-10-10 12:00")
	past, going, soon := slot("2026-10-10 09:00", 3), slot("2026-10-10 11:30", 3), slot("2026-10-10 18:00", 3)
	early, next := slot("2026-12-20 10:00", 3), slot("2027-03-05 09:30", 3)
	b := s.browser(t)
	says := func(p page, o store.Slot, want ...string) {
		t.Helper()
		rows := p.all("data-slot", o.ID)
		if len(rows) != 1 {
			t.Fatalf("%d rows", len(rows))
		}
		text := heard(rows[0])
		for _, words := range want {
			if !strings.Contains(text, words) {
				t.Errorf("%q does not say %q", text, words)
			}
		}
	}
	today := b.get("/here?date=2026-10-10")
	says(today, past, "終了")
	if strings.Contains(heard(today.all("data-slot", past.ID)[0]), "受付") {
		t.Error("what is over speaks of booking")
	}
	says(today, going, "受付終了")
	says(today, soon, "空きあり")
	says(b.get("/here?date=2026-12-20"), early, "受付前", "受付は 10月21日（水）10:00 から")
	says(b.get("/here?date=2027-03-05"), next, "受付前", "受付は 2027年1月4日（月）09:30 から")
	b.header.Set("Accept-Language", "en")
	says(b.get("/here?date=2026-12-20"), early, "Not open yet", "Booking opens Wed 21 Oct, 10:00")
	// The instant itself: what was told is what holds.
	b.header.Del("Accept-Language")
	opened := openSite(t, s.Shop, func(c *Config) {
		c.Store, c.Now = s.Store.At(early.OpensAt), func() time.Time { return early.OpensAt }
	}).browser(t)
	says(opened.get("/here?date=2026-12-20"), early, "空きあり")
	if !early.OpensAt.Equal(at(t, tenant.Location(), "2026-10-21 10:00")) {
		t.Errorf("opens at %s", early.OpensAt)
	}
}

func TestADayWithNothingSaysWhy(t *testing.T) {
	t.Parallel()
	s, tenant, slot := calendarAt(t, "Asia/Tokyo", "ja", "2026-12-20 12:00")
	st := s.web.store
	open := slot("2026-12-24 10:00", 3)
	slot("2026-12-29 10:00", 3)
	for day, note := range map[string]string{"2026-12-24": "設備の点検のため", "2026-12-30": "年末のため"} {
		if _, err := st.AddClosedDay(t.Context(), store.ClosedDay{TenantID: tenant.ID, Day: day, Note: store.Text{"ja": note}}); err != nil {
			t.Fatal(err)
		}
	}
	other := s.AddTenant(t, "other", nil)
	if _, err := st.AddClosedDay(t.Context(), store.ClosedDay{TenantID: other.ID, Day: "2026-12-22", Note: store.Text{"ja": "よその休み"}}); err != nil {
		t.Fatal(err)
	}
	b := s.browser(t)
	section := func(p page, date string) string {
		t.Helper()
		found := p.all("datetime", date)
		if len(found) == 0 {
			t.Fatalf("no %s", date)
		}
		return heard(found[0].Parent.Parent)
	}
	p := b.get("/here?date=2026-12-24").need("data-slot", open.ID)
	if got := section(p, "2026-12-24"); !strings.Contains(got, "休業日") || !strings.Contains(got, "設備の点検のため") || !strings.Contains(got, "空きあり") {
		t.Errorf("a closed day on which a slot stands: %q", got)
	}
	if got := section(p, "2026-12-22"); !strings.Contains(got, "この日に予約の枠はありません") || strings.Contains(got, "休業") || strings.Contains(p.body, "よその休み") {
		t.Errorf("a plain day: %q", got)
	}
	p = b.get("/here?date=2026-12-30")
	if got := section(p, "2026-12-30"); !strings.Contains(got, "休業日") || !strings.Contains(got, "年末のため") || !strings.Contains(got, "休業のため、予約の枠はありません") {
		t.Errorf("a closed day: %q", got)
	}
	p = b.get("/here?date=2027-01-01")
	if got := section(p, "2027-01-01"); !strings.Contains(got, "元日") || strings.Contains(got, "休業") {
		t.Errorf("a public holiday: %q", got)
	}
	p = b.get("/here?date=2026-12-21&free=1")
	if got := section(p, "2026-12-21"); !strings.Contains(got, "この条件に合う枠はありません") {
		t.Errorf("a filtered day: %q", got)
	}
	p.need("href", "/here?date=2026-12-21")
	// The strip says the same to those who hear it.
	spoken := map[string]bool{}
	for _, n := range b.get("/here?date=2027-01-01").all("href", "") {
		spoken[heard(n)] = true
	}
	if !spoken["2027年1月1日（金） 元日 受付中の枠はありません"] {
		t.Errorf("the strip does not name the holiday: %v", spoken)
	}
}

func TestHolidaysAreOfVenuesInJapan(t *testing.T) {
	t.Parallel()
	s, _, slot := calendarAt(t, "America/New_York", "en", "2026-12-20 12:00")
	slot("2027-01-01 10:00", 3)
	p := s.browser(t).get("/here?month=2027-01")
	if strings.Contains(p.body, "New Year") {
		t.Error("a holiday of Japan stands in New York")
	}
}

// C01: what begins or ends at midnight stands on the day that people say.
func TestTheLastSlotOfADayStandsOnItsDay(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"Asia/Tokyo", "America/New_York"} {
		t.Run(zone, func(t *testing.T) {
			t.Parallel()
			s, tenant, slot := calendarAt(t, zone, "ja", "2027-03-01 12:00")
			last := []store.Slot{slot("2027-03-10 22:30", 3, 30), slot("2027-03-10 23:00", 3, 30), slot("2027-03-10 23:30", 3, 30)}
			first := slot("2027-03-11 00:00", 3, 30)
			whole := slot("2027-03-12 00:00", 3, 24*60)
			over := slot("2027-03-13 23:00", 3, 180) // into the night in which New York's clocks go forward
			b := s.browser(t)
			p := b.get("/here?date=2027-03-10")
			if got := slotsOf(p, "2027-03-10"); len(got) != 3 || attr(got[2], "data-slot") != last[2].ID || !strings.Contains(heard(got[2]), "23:30〜24:00") {
				t.Errorf("the day ends with %v", got)
			}
			if got := slotsOf(p, "2027-03-11"); len(got) != 1 || attr(got[0], "data-slot") != first.ID || !strings.Contains(heard(got[0]), "00:00〜00:30") {
				t.Error("the next day does not begin at midnight")
			}
			if got := slotsOf(p, "2027-03-12"); len(got) != 1 || attr(got[0], "data-slot") != whole.ID || !strings.Contains(heard(got[0]), "00:00〜24:00") {
				t.Error("a whole day is none")
			}
			p = b.get("/here?date=2027-03-13")
			if got := slotsOf(p, "2027-03-13"); len(got) != 1 || attr(got[0], "data-slot") != over.ID {
				t.Error("what runs over midnight does not stand on the day on which it begins")
			}
			p = b.get("/here?month=2027-03")
			for _, date := range []string{"2027-03-10", "2027-03-11", "2027-03-12", "2027-03-13"} {
				if attr(p.cell(date), "data-state") != "free" {
					t.Errorf("the month has nothing on %s", date)
				}
			}
			for _, date := range []string{"2027-03-09", "2027-03-14"} {
				if attr(p.cell(date), "data-state") != "" {
					t.Errorf("the month has something on %s", date)
				}
			}
			// The first and the last can be held.
			for _, o := range []store.Slot{last[2], first, whole} {
				b := s.browser(t)
				b.press(b.get(views.SlotURL(tenant.Slug, o.ID)), "/hold", nil).is(http.StatusSeeOther)
			}
		})
	}
}

// C50: afternoons stay afternoons when the clocks change.
func TestTheClockChangeMovesNothingInTheCalendar(t *testing.T) {
	t.Parallel()
	s, _, slot := calendarAt(t, "America/New_York", "en", "2027-03-01 09:00")
	utc := map[string]string{"2027-03-07": "20:00", "2027-03-14": "19:00", "2027-03-21": "19:00"}
	slots := map[string]store.Slot{}
	for date, want := range utc {
		slots[date] = slot(date+" 15:00", 3, 90)
		if got := slots[date].StartsAt.UTC().Format("15:04"); got != want {
			t.Errorf("%s begins at %s UTC, want %s", date, got, want)
		}
	}
	b := s.browser(t)
	for _, language := range []string{"en", "ja"} {
		b.header.Set("Accept-Language", language)
		month := b.get("/here?month=2027-03")
		for date, o := range slots {
			p := b.get("/here?date=" + date)
			found := slotsOf(p, date)
			if len(found) != 1 || attr(found[0], "data-slot") != o.ID {
				t.Fatalf("%s has %d slots", date, len(found))
			}
			if text := heard(found[0]); !strings.Contains(text, "15:00–16:30") && !strings.Contains(text, "15:00〜16:30") {
				t.Errorf("%s: %q", date, text)
			}
			if attr(month.cell(date), "data-state") != "free" {
				t.Errorf("the month has nothing on %s", date)
			}
		}
	}
	// Every day of the strip over the change is there once, also from a page that is turned.
	seen := map[string]int{}
	for _, start := range []string{"2027-03-08", "2027-03-15"} {
		for _, n := range b.get("/here?date="+start).all("href", "") {
			if u, err := url.Parse(attr(n, "href")); err == nil && hasAttr(n, "aria-current") && u.Query().Get("date") != "" && strings.Contains(attr(n, "class"), "day-tab") {
				seen[u.Query().Get("date")]++
			}
		}
	}
	for day := 8; day <= 21; day++ {
		if date := fmt.Sprintf("2027-03-%02d", day); seen[date] != 1 {
			t.Errorf("%s stands %d times in the strips", date, seen[date])
		}
	}
	// Back in autumn: sixty days ahead is too far for booking, not for the calendar.
	later, _, slot := calendarAt(t, "America/New_York", "en", "2027-10-20 09:00")
	sunday, monday := slot("2027-11-07 15:00", 3, 90), slot("2027-11-08 09:00", 3)
	if sunday.StartsAt.UTC().Hour() != 20 || monday.StartsAt.UTC().Hour() != 14 {
		t.Errorf("%s, %s", sunday.StartsAt.UTC(), monday.StartsAt.UTC())
	}
	p := later.browser(t).get("/here?date=2027-11-07")
	if found := slotsOf(p, "2027-11-07"); len(found) != 1 || !strings.Contains(heard(found[0]), "15:00–16:30") {
		t.Error("the Sunday on which the clocks go back")
	}
	if found := slotsOf(p, "2027-11-08"); len(found) != 1 || !strings.Contains(heard(found[0]), "09:00–10:00") {
		t.Error("the Monday after")
	}
}

func TestFiltersSurviveEveryTurn(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	s.Slot(t, 5)
	s.AddService(t, s.Tenant, "dance", nil)
	s.AddResource(t, s.Tenant, "studio-b")
	b := s.browser(t)
	day := s.Start.In(s.Tenant.Location())
	for _, where := range []string{"date=" + day.Format(time.DateOnly), "month=" + day.Format("2006-01")} {
		for _, root := range []string{"/shop", "/shop/embed"} {
			p := b.get(root + "?service=class&resource=studio-a&free=1&lang=en&" + where).is(http.StatusOK)
			if p.header.Get("Content-Language") != "en" {
				t.Error("the address names the language")
			}
			checked := 0
			for _, n := range p.all("href", "") {
				class := strings.Fields(attr(n, "class"))
				isTurn := slices.ContainsFunc(class, func(c string) bool { return c == "turn" || c == "view" || c == "day-tab" || c == "month-day" })
				if n.Data != "a" || !isTurn {
					continue
				}
				u, err := url.Parse(attr(n, "href"))
				if err != nil {
					t.Fatal(err)
				}
				q := u.Query()
				if u.Path != root || q.Get("service") != "class" || q.Get("resource") != "studio-a" || q.Get("free") != "1" || q.Get("lang") != "en" {
					t.Errorf("%s loses something: %s", class, u)
				}
				checked++
			}
			if checked < 9 {
				t.Errorf("only %d links were seen on %s?%s", checked, root, where)
			}
			// A filter changes one thing and keeps the month or the day.
			name, value, _ := strings.Cut(where, "=")
			for _, n := range p.all("class", "filter") {
				u, err := url.Parse(attr(n, "href"))
				if err != nil {
					t.Fatal(err)
				}
				if u.Query().Get(name) != value || u.Path != root {
					t.Errorf("the filter %q goes elsewhere: %s", heard(n), u)
				}
			}
		}
	}
}

func TestAServiceTellsAboutItselfWhenChosen(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	s.Slot(t, 5)
	if _, err := s.Store.AddService(t.Context(), store.Service{
		TenantID: s.Tenant.ID, Slug: "dance", Name: store.Text{"ja": "ダンス", "en": "Dance"}, Description: store.Text{"ja": "はじめての方へ", "en": "For beginners"},
		Price: store.Text{"ja": "2,200円"}, Place: store.Text{"ja": "三階"}, Bring: store.Text{"ja": "上履き"}, Duration: time.Hour, Capacity: 5, Active: true,
	}); err != nil {
		t.Fatal(err)
	}
	b := s.browser(t)
	if p := b.get("/shop").says("2,200円"); strings.Contains(p.text(), "上履き") {
		t.Error("everything is told before a service is chosen")
	}
	p := b.get("/shop?service=dance").says("はじめての方へ").says("2,200円").says("三階").says("上履き")
	if title := p.title(); title != "ダンス | Studio shop" {
		t.Errorf("title %q", title)
	}
	if d := p.meta("description"); !strings.Contains(d, "ダンス") || !strings.Contains(d, "はじめての方へ") || !strings.Contains(d, "Studio shop") {
		t.Errorf("description %q", d)
	}
}

func (p page) title() string {
	for n := range p.doc.Descendants() {
		if n.Type == html.ElementNode && n.Data == "title" {
			return n.FirstChild.Data
		}
	}
	return ""
}

func (p page) meta(name string) string {
	for _, n := range p.all("name", name) {
		return attr(n, "content")
	}
	return ""
}

// links gives the addresses of <link> by rel and hreflang.
func (p page) links(rel string) map[string]string {
	found := map[string]string{}
	for _, n := range p.all("rel", rel) {
		if n.Data == "link" {
			found[attr(n, "hreflang")] = attr(n, "href")
		}
	}
	return found
}

func TestSearchEnginesFindOnePageInEachLanguage(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	slot := s.Slot(t, 5)
	b := s.browser(t)
	const base = "http://booking.example/shop"
	for path, want := range map[string]string{
		"/shop": base, "/shop?date=2030-01-01&free=1&resource=studio-a": base, "/shop?month=2027-01": base,
		"/shop?service=class&date=2030-01-01": base + "?service=class", "/shop?lang=en": base + "?lang=en", "/shop?service=nothing&lang=fr": base,
		"/shop/embed?lang=ja": base + "?lang=ja",
	} {
		p := b.get(path).is(http.StatusOK)
		if got := p.links("canonical")[""]; got != want {
			t.Errorf("%s: canonical %q, want %q", path, got, want)
		}
		if p.meta("robots") != "" || p.header.Get("X-Robots-Tag") != "" {
			t.Errorf("%s is hidden from search engines", path)
		}
	}
	p := b.get("/shop?service=class")
	alternates := p.links("alternate")
	for lang, want := range map[string]string{"ja": base + "?lang=ja&service=class", "en": base + "?lang=en&service=class", "x-default": base + "?service=class"} {
		if alternates[lang] != want {
			t.Errorf("hreflang %s: %q, want %q", lang, alternates[lang], want)
		}
	}
	for lang, other := range map[string]string{"ja": "en", "en": "ja"} {
		b.header.Set("Accept-Language", other)
		p := b.get("/shop?lang=" + lang)
		if found := p.all("lang", lang); len(found) == 0 || found[0].Data != "html" {
			t.Errorf("?lang=%s is not in %s", lang, lang)
		}
		// The calendar leads on in the language of its address.
		date := slot.StartsAt.In(s.Tenant.Location()).Format(time.DateOnly)
		p = b.get("/shop?lang=" + lang + "&date=" + date)
		row := p.all("data-slot", slot.ID)
		if len(row) != 1 || attr(row[0], "href") != views.SlotURL("shop", slot.ID)+"?lang="+lang {
			t.Fatalf("the slot's link: %v", row)
		}
		if p := b.get(attr(row[0], "href")); p.header.Get("Content-Language") != lang {
			t.Errorf("the slot is in %s", p.header.Get("Content-Language"))
		}
	}
	b.header.Set("Accept-Language", "en")
	p = b.get(views.SlotURL("shop", slot.ID))
	if got, want := p.links("canonical")[""], "http://booking.example"+views.SlotURL("shop", slot.ID); got != want || p.links("alternate")["ja"] != want+"?lang=ja" {
		t.Errorf("the slot: canonical %q, alternates %v", got, p.links("alternate"))
	}
	if title := p.title(); !strings.HasPrefix(title, "Morning yoga ") || !strings.HasSuffix(title, " | Studio shop") || !strings.Contains(p.meta("description"), "Morning yoga") {
		t.Errorf("the slot: title %q, description %q", title, p.meta("description"))
	}
	if p := b.get(views.ReservationURL("shop", s.Store.ReservationToken(s.Book(t, slot, 1)))); p.meta("robots") != "noindex" || len(p.links("canonical"))+len(p.links("alternate")) > 0 {
		t.Error("a secret page can be found")
	}
}

func TestTheLanguageOfAnAddressIsKeptByAPress(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	slot := s.Slot(t, 5)
	b := s.browser(t)
	b.header.Set("Accept-Language", "ja")
	at := views.SlotURL("shop", slot.ID) + "?lang=en"
	form := b.get(at)
	if form.header.Get("Set-Cookie") != "" {
		t.Error("looking sets a cookie")
	}
	b.header.Set("Referer", s.addr+at)
	held := b.press(form, "/hold", nil).is(http.StatusSeeOther)
	b.header.Del("Referer")
	if p := b.follow(held); p.header.Get("Content-Language") != "en" {
		t.Errorf("after the press it is %s", p.header.Get("Content-Language"))
	}
	// The switch leads back to the page without the language in its address.
	p := b.get("/shop?lang=en&free=1")
	b.header.Set("Referer", s.addr+"/shop?lang=en&free=1")
	switched := b.press(p, "/language", url.Values{views.FieldLang: {"ja"}}).is(http.StatusSeeOther)
	b.header.Del("Referer")
	if to := switched.location(); to != "/shop?free=1" {
		t.Errorf("back to %s", to)
	}
	if p := b.follow(switched); p.header.Get("Content-Language") != "ja" {
		t.Error("the switch does not switch")
	}
}

func TestTheCalendarInAFrame(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	slot := s.Slot(t, 5)
	b := s.browser(t)
	date := slot.StartsAt.In(s.Tenant.Location()).Format(time.DateOnly)
	refused := func(p page) {
		t.Helper()
		if csp := p.header.Get("Content-Security-Policy"); !strings.Contains(csp, "frame-ancestors 'none'") || p.header.Get("X-Frame-Options") != "DENY" {
			t.Errorf("it can be framed: %s", csp)
		}
	}
	refused(b.get("/shop/embed").is(http.StatusOK))
	if _, err := s.Store.SetEmbedOrigins(t.Context(), s.Tenant.ID, []string{"https://www.shop.example", "https://shop.example"}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/shop", "/shop/poster", views.SlotURL("shop", slot.ID), "/shop/my-reservations", "/staff/sign-in", "/nobody/embed"} {
		refused(b.get(path))
	}
	// A visitor with a session and something to be said: neither is touched.
	b.press(b.get(views.SlotURL("shop", slot.ID)), "/hold", nil).is(http.StatusSeeOther)
	p := b.get("/shop/embed?date=" + date).is(http.StatusOK)
	csp := p.header.Get("Content-Security-Policy")
	if !strings.HasSuffix(csp, "frame-ancestors https://www.shop.example https://shop.example") || p.header.Get("X-Frame-Options") != "" {
		t.Errorf("CSP %s, X-Frame-Options %q", csp, p.header.Get("X-Frame-Options"))
	}
	if p.header.Get("Set-Cookie") != "" {
		t.Error("a frame sets a cookie")
	}
	row := p.need("data-slot", slot.ID).all("data-slot", slot.ID)[0]
	if attr(row, "target") != "_top" || attr(row, "href") != views.SlotURL("shop", slot.ID) {
		t.Errorf("the slot opens at %q in %q", attr(row, "href"), attr(row, "target"))
	}
	for _, n := range p.all("href", "") {
		if href := attr(n, "href"); n.Data == "a" && attr(n, "target") == "" && !strings.HasPrefix(href, "/shop/embed") {
			t.Errorf("%s opens in the frame", href)
		}
	}
	for n := range p.doc.Descendants() {
		if n.Type == html.ElementNode && slices.Contains([]string{"form", "header", "footer"}, n.Data) {
			t.Errorf("a frame has a %s", n.Data)
		}
	}
	b.get("/shop/embed?month="+date[:7]).need("data-date", date)
	b.header.Set("Accept-Language", "en")
	if p := b.get("/shop/embed?lang=ja"); p.header.Get("Content-Language") != "ja" {
		t.Error("a Japanese site has an English calendar")
	}
	b.post("/shop/embed", nil).is(http.StatusMethodNotAllowed)
}

func TestThePosterLeadsToTheVenue(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := s.browser(t)
	p := b.get("/shop/poster").is(http.StatusOK).says("Studio shop").says("booking.example/shop")
	if strings.Contains(p.body, "iframe") {
		t.Error("a snippet is shown that would not work")
	}
	if _, err := s.Store.SetEmbedOrigins(t.Context(), s.Tenant.ID, []string{"https://www.shop.example"}); err != nil {
		t.Fatal(err)
	}
	p = b.get("/shop/poster").says(`<iframe src="http://booking.example/shop/embed?lang=ja" title="Studio shop"`).says("https://www.shop.example")
	if len(p.all("role", "img")) != 1 {
		t.Error("no QR")
	}
	// A name is a name, also inside an attribute.
	if got := s.web.snippet(`"><script>`, "/x/embed?lang=ja&a=b"); !strings.HasPrefix(got, `<iframe src="http://booking.example/x/embed?lang=ja&amp;a=b" title="&#34;&gt;&lt;script&gt;"`) {
		t.Errorf("%s", got)
	}
}
