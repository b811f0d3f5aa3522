package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
	"holdfast/views"
)

func init() {
	for k, v := range map[string]badForm{
		"/staff/{tenant}/calendar-feed": {staff: true, fresh: func(*testing.T, *site) (string, url.Values) { return views.StaffFeedURL("shop"), none() }},
		"/staff/{tenant}/calendar-feed/off": {staff: true, fresh: func(t *testing.T, s *site) (string, url.Values) {
			if member, err := s.Store.StaffByEmail(t.Context(), "desk@example.com"); err == nil {
				if _, err := s.Store.NewCalendarFeed(t.Context(), s.Tenant.ID, member.ID); err != nil {
					t.Fatal(err)
				}
			}
			return views.StaffFeedOffURL("shop"), none()
		}},
	} {
		forms[k] = v
	}
}

// events are the events of a calendar, by UID, each as name → value; parameters are left out.
func events(t *testing.T, file string) map[string]map[string]string {
	t.Helper()
	out := map[string]map[string]string{}
	for i, part := range strings.Split(strings.ReplaceAll(file, "\r\n ", ""), "BEGIN:VEVENT\r\n") {
		if i == 0 {
			continue
		}
		body, _, ended := strings.Cut(part, "END:VEVENT")
		if !ended {
			t.Fatalf("an event does not end:\n%s", file)
		}
		e := map[string]string{}
		for line := range strings.SplitSeq(strings.TrimSuffix(body, "\r\n"), "\r\n") {
			name, value, _ := strings.Cut(line, ":")
			name, _, _ = strings.Cut(name, ";")
			e[name] = value
		}
		if out[e["UID"]] != nil {
			t.Errorf("%s stands twice", e["UID"])
		}
		out[e["UID"]] = e
	}
	return out
}

// addressOn is the path of the secret address that the page shows.
func addressOn(t *testing.T, p page) string {
	t.Helper()
	found := p.all("data-address", "")
	if len(found) != 1 {
		t.Fatalf("%d addresses on\n%s", len(found), p.text())
	}
	path, ours := strings.CutPrefix(attr(found[0], "value"), "http://booking.example")
	if !ours {
		t.Errorf("the address is %q", attr(found[0], "value"))
	}
	return path
}

func TestAMembersCalendarFeedTellsHowFullSlotsAreAndNothingOfWhoComes(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	front := b.get(views.StaffFeedURL("shop")).is(http.StatusOK)
	if front.has("data-address", "") {
		t.Error("there is an address before anybody asked for one")
	}
	path := addressOn(t, b.follow(b.press(front, "/calendar-feed", nil)).says(ja("feed.made")))

	open, full, off := s.Slot(t, 4), s.Slot(t, 1), s.Slot(t, 2)
	booked := s.Book(t, open, 2)
	s.Book(t, full, 1)
	s.Join(t, full, 1)
	program := s.browser(t) // somebody else's: no cookie, no language
	first := program.get(path).is(http.StatusOK)
	for name, want := range map[string]string{"Content-Type": "text/calendar; charset=utf-8", "Cache-Control": "private, no-cache", "X-Robots-Tag": "noindex"} {
		if got := first.header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for _, line := range []string{
		"METHOD:PUBLISH\r\n", "X-WR-CALNAME:Studio shopの枠\r\n", "REFRESH-INTERVAL;VALUE=DURATION:PT15M\r\n", "BEGIN:VTIMEZONE\r\nTZID:Asia/Tokyo\r\n",
	} {
		if !strings.Contains(first.body, line) {
			t.Errorf("no %q in\n%s", line, first.body)
		}
	}
	var people []string
	rows, err := s.Pool.Query(t.Context(), "SELECT unnest(ARRAY[name, kana, email, phone, number]) FROM reservations UNION SELECT unnest(ARRAY[name, kana, email, phone]) FROM waitlist_entries")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var one string
		if err := rows.Scan(&one); err != nil {
			t.Fatal(err)
		}
		people = append(people, one)
	}
	if err := rows.Err(); err != nil || len(people) < 8 {
		t.Fatal(people, err)
	}
	for _, one := range people {
		if one != "" && strings.Contains(strings.ReplaceAll(first.body, "\r\n ", ""), one) {
			t.Errorf("the feed tells %q", one)
		}
	}
	event := func(p page, slot store.Slot) map[string]string {
		t.Helper()
		e := events(t, p.body)[slot.ID+"@holdfast"]
		if e == nil {
			t.Fatalf("%s is not in\n%s", slot.ID, p.body)
		}
		return e
	}
	loc := s.Tenant.Location()
	was := event(first, open)
	for name, want := range map[string]string{
		"SUMMARY": "朝のヨガ 2/4", "DTSTART": open.StartsAt.In(loc).Format("20060102T150405"), "DTEND": open.EndsAt.In(loc).Format("20060102T150405"), "STATUS": "CONFIRMED", "TRANSP": "TRANSPARENT",
		"URL": "http://booking.example" + views.StaffSlotURL("shop", open.ID),
	} {
		if was[name] != want {
			t.Errorf("%s: %q, want %q", name, was[name], want)
		}
	}

	// The same state is the same file, and needs not be sent again.
	tag := first.header.Get("ETag")
	again := func(tag string) page {
		return program.do(http.MethodGet, path, "", "", func(r *http.Request) { r.Header.Set("If-None-Match", tag) })
	}
	if p := again(tag); p.status != http.StatusNotModified || p.body != "" || p.header.Get("ETag") != tag {
		t.Errorf("what is known already: %d, %d bytes", p.status, len(p.body))
	}
	s.Cancel(t, booked)
	if _, err := s.Store.CancelSlot(t.Context(), store.SlotRequest{TenantID: off.TenantID, SlotID: off.ID, Reason: "台風", Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	next := again(tag).is(http.StatusOK)
	now := event(next, open)
	if now["SUMMARY"] != "朝のヨガ 0/4" || now["SEQUENCE"] <= was["SEQUENCE"] || now["LAST-MODIFIED"] < was["LAST-MODIFIED"] {
		t.Errorf("after a cancellation %v, before %v", now, was)
	}
	if e := event(next, full); e["SEQUENCE"] != event(first, full)["SEQUENCE"] || !strings.Contains(e["DESCRIPTION"], "満席です。") {
		t.Errorf("what has not changed reads %v", e)
	}
	if e := event(next, off); e["STATUS"] != "CANCELLED" || e["SUMMARY"] != "中止：朝のヨガ" || strings.Contains(next.body, "台風") {
		t.Errorf("a cancelled slot reads %v", e)
	}
	if n := s.Count(func() { program.get(path) }); n > 5 {
		t.Errorf("%d statements", n)
	}
	if got := s.logs.String(); strings.Contains(got, strings.TrimSuffix(strings.TrimPrefix(path, "/shop/calendar/"), ".ics")) || !strings.Contains(got, "/{tenant}/calendar/{token}") {
		t.Error("the log has the secret, or not the route")
	}
}

func TestAMembersCalendarFeedListsAStretchOfTimeAndWhatWasChosen(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	member := s.hire(t, s.Tenant, "desk@example.com", store.RoleDesk)
	token, err := s.Store.NewCalendarFeed(t.Context(), s.Tenant.ID, member.ID)
	if err != nil {
		t.Fatal(err)
	}
	room, other := s.AddResource(t, s.Tenant, "studio-b"), s.AddService(t, s.Tenant, "talk", nil)
	today := time.Now().In(s.Tenant.Location())
	at := func(days int) time.Time {
		return time.Date(today.Year(), today.Month(), today.Day()+days, 12, 0, 0, 0, today.Location())
	}
	made := map[string]string{}
	for name, slot := range map[string]store.NewSlot{
		"before": {StartsAt: at(-feedBack - 1)}, "first": {StartsAt: at(-feedBack)}, "now": {StartsAt: at(1)}, "last": {StartsAt: at(feedAhead)}, "after": {StartsAt: at(feedAhead + 1)},
		"room": {StartsAt: at(2), ResourceID: room.ID}, "talk": {StartsAt: at(3), ServiceID: other.ID},
	} {
		slot.Capacity = 1
		if slot.ResourceID == "" {
			slot.ResourceID = s.Resource.ID
		}
		if slot.ServiceID == "" {
			slot.ServiceID = s.Service.ID
		}
		added, err := s.Store.AddSlots(t.Context(), s.Tenant.ID, []store.NewSlot{slot})
		if err != nil {
			t.Fatal(err)
		}
		made[added[0].ID+"@holdfast"] = name
	}
	b := s.browser(t)
	for _, c := range []struct{ service, resource, want string }{
		{"", "", "first last now room talk"}, {"talk", "", "talk"}, {"", "studio-b", "room"}, {"class", "studio-a", "first last now"}, {"talk", "studio-b", ""},
	} {
		var got []string
		for uid := range events(t, b.get(views.CalendarFeedURL("shop", token, c.service, c.resource)).is(http.StatusOK).body) {
			got = append(got, made[uid])
		}
		slices.Sort(got)
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q %q: %v, want %s", c.service, c.resource, got, c.want)
		}
	}
	b.get(views.CalendarFeedURL("shop", token, "nothing", "")).is(http.StatusNotFound)
	b.get(views.CalendarFeedURL("shop", token, "", "%00")).is(http.StatusNotFound)
	if p := b.do(http.MethodHead, views.CalendarFeedURL("shop", token, "", ""), "", ""); p.status != http.StatusOK || p.body != "" || p.header.Get("ETag") == "" {
		t.Errorf("HEAD: %d, %d bytes", p.status, len(p.body))
	}

	// The page gives the address of what is chosen, and of all where nobody has that.
	desk := s.browser(t)
	desk.follow(desk.post("/staff/sign-in", signIn("desk@example.com", staffPassword)))
	if got := addressOn(t, desk.get(views.StaffFeedURL("shop")+"?service=talk&resource=studio-b")); got != views.CalendarFeedURL("shop", token, "talk", "studio-b") {
		t.Errorf("chosen, the address is %s", got)
	}
	if got := addressOn(t, desk.get(views.StaffFeedURL("shop")+"?service=nothing")); got != views.CalendarFeedURL("shop", token, "", "") {
		t.Errorf("of nothing, the address is %s", got)
	}
}

// What ends an address ends it at once, and what never was one looks the same.
func TestAnEndedCalendarFeedOpensNothingAnyMore(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	program := s.browser(t)
	absent := changing.ReplaceAllString(program.get(views.CalendarFeedURL("shop", strings.Repeat("a", 32), "", "")).is(http.StatusNotFound).body, "")
	gone := func(why, path string) {
		t.Helper()
		if p := program.get(path); p.status != http.StatusNotFound || changing.ReplaceAllString(p.body, "") != absent {
			t.Errorf("%s: %d, or another page than for what never was", why, p.status)
		}
	}
	var paths []string
	renew := func() string {
		t.Helper()
		path := addressOn(t, b.follow(b.post(views.StaffFeedURL("shop"), nil)))
		for _, old := range paths {
			if old == path {
				t.Errorf("an address came back: %v", paths)
			}
			gone("an address before", old)
		}
		paths = append(paths, path)
		program.get(path).is(http.StatusOK)
		return path
	}
	renew()
	path := renew()
	s.AddTenant(t, "other", nil)
	program.get(strings.Replace(path, "/shop/", "/other/", 1)).is(http.StatusNotFound)
	gone("without its ending", strings.TrimSuffix(path, ".ics"))
	gone("in capitals", "/shop/calendar/"+strings.ToUpper(strings.TrimSuffix(strings.TrimPrefix(path, "/shop/calendar/"), ".ics"))+".ics")
	b.follow(b.press(b.get(views.StaffFeedURL("shop")), "/off", nil)).says(ja("feed.ended"))
	gone("switched off", path)
	b.post(views.StaffFeedOffURL("shop"), nil).is(http.StatusSeeOther) // pressed twice
	path = renew()

	// Who leaves, and even who comes back, has none.
	member, err := s.Store.StaffByEmail(t.Context(), "desk@example.com")
	if err != nil {
		t.Fatal(err)
	}
	s.Exec(t, "DELETE FROM memberships WHERE staff_id = $1", member.ID)
	gone("the membership has ended", path)
	if _, err := s.Store.NewCalendarFeed(t.Context(), s.Tenant.ID, member.ID); err != store.NotFound {
		t.Errorf("who is no member gets an address: %v", err)
	}
	s.hire(t, s.Tenant, "desk@example.com", store.RoleDesk)
	gone("a new membership", path)
	renew()
}

// The HTML of a mail is shown as it is, and can do nothing.
func TestAMailIsShownAsItLooksInAFrameThatCanDoNothing(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	for _, kind := range previewKinds {
		for _, lang := range mailLanguages {
			front := b.get(views.StaffPreviewURL("shop", string(kind), lang)).is(http.StatusOK)
			frames := front.all("sandbox", "")
			if len(frames) != 1 || attr(frames[0], "src") != views.StaffPreviewHTMLURL("shop", string(kind), lang) || !strings.Contains(front.header.Get("Content-Security-Policy"), "frame-src 'self'") {
				t.Fatalf("%s %s: %d frames", kind, lang, len(frames))
			}
			p := b.get(attr(frames[0], "src")).is(http.StatusOK)
			csp := p.header.Get("Content-Security-Policy")
			if !strings.HasSuffix(csp, "; sandbox") || !strings.Contains(csp, "frame-ancestors 'self'") || strings.Contains(csp, "script-src") || p.header.Get("X-Frame-Options") != "SAMEORIGIN" || p.header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s: %s, %v", kind, csp, p.header)
			}
			if !strings.Contains(p.body, `<base target="_blank">`) || !strings.HasPrefix(p.body, "<!DOCTYPE html>") || strings.Contains(p.text(), "[[") {
				t.Errorf("%s %s:\n%s", kind, lang, p.body)
			}
			if text := b.get(views.StaffPreviewTextURL("shop", string(kind), lang)).is(http.StatusOK); len(text.all("sandbox", "")) != 0 {
				t.Errorf("the text of %s is in a frame", kind)
			}
		}
	}
	// The venue's own words are in it, and are text.
	member, err := s.Store.StaffByEmail(t.Context(), "desk@example.com")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Store.SaveMessageText(t.Context(), s.Tenant.ID, member.ID, store.MessageText{Kind: store.KindConfirmed, Locale: "ja", Extra: "<script>alert(1)</script>"}); err != nil {
		t.Fatal(err)
	}
	if p := b.get(views.StaffPreviewHTMLURL("shop", "confirmed", "ja")); !strings.Contains(p.body, "&lt;script&gt;alert(1)") || strings.Contains(p.body, "<script") {
		t.Errorf("the venue's words:\n%s", p.body)
	}
	b.get(views.StaffPreviewHTMLURL("shop", "nothing", "xx")).is(http.StatusOK)
	s.browser(t).get(views.StaffPreviewHTMLURL("shop", "confirmed", "ja")).is(http.StatusSeeOther)
}
