package web

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"holdfast/store"
	"holdfast/store/storetest/seed"
	"holdfast/store/storetest/shop"
	"holdfast/views"
)

func init() {
	for pattern, form := range map[string]badForm{
		"/staff/{tenant}/checkin": {
			staff: true, fields: []badField{{name: views.FieldCheckinNumber, kind: textField, longest: longestPhone}},
			fresh: func(t *testing.T, s *site) (string, url.Values) {
				return views.StaffCheckinURL("shop"), url.Values{views.FieldCheckinNumber: {s.Book(t, s.Slot(t, 4), 1).Number}}
			},
		},
		"/staff/{tenant}/checkin/{number}": {
			staff: true,
			fresh: func(t *testing.T, s *site) (string, url.Values) {
				r := s.Book(t, s.Slot(t, 4), 1)
				s.toToday(t, r)
				return views.StaffCheckinNumberURL("shop", r.Number), none()
			},
		},
	} {
		forms[pattern] = form
	}
}

// toToday moves the slot of a booking to an hour of its own that runs now, on a resource of its own.
func (s *site) toToday(t testing.TB, r store.Reservation) {
	t.Helper()
	resource := s.AddResource(t, s.Tenant, "door-"+strings.ToLower(r.Number))
	s.Exec(t, "UPDATE slots SET resource_id = $2, starts_at = now() - interval '5 minutes', ends_at = now() + interval '55 minutes' WHERE id = $1", r.SlotID, resource.ID)
}

func TestCheckInByNumber(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	r := s.Book(t, s.Slot(t, 4), 2)
	s.toToday(t, r)
	ask := views.StaffCheckinURL("shop")
	b.get(ask).is(http.StatusOK).need("data-state", "ask").need("autofocus", "")
	self := views.StaffCheckinNumberURL("shop", r.Number)
	for _, typed := range []string{r.Number, strings.ToLower(r.Number), " " + r.Number[:3] + " - " + r.Number[3:] + " ", wide(r.Number), "#" + r.Number} {
		if got := b.post(ask, url.Values{views.FieldCheckinNumber: {typed}}).is(http.StatusSeeOther).location(); got != self {
			t.Errorf("%q leads to %q", typed, got)
		}
	}
	for range 2 { // looking changes nothing
		b.get(self).is(http.StatusOK).need("data-state", "ready").says(r.Name)
	}
	if got := s.Reservation(t, r); got.Attendance != "" {
		t.Fatalf("looking has noted %q", got.Attendance)
	}
	done := b.follow(b.post(self, nil)).is(http.StatusOK).need("data-state", "done").says(r.Name + "様の来店を記録しました")
	if len(done.all("action", self)) > 0 {
		t.Error("what is done can be pressed again")
	}
	if got := s.Reservation(t, r); got.Attendance != "arrived" {
		t.Fatalf("attendance is %q", got.Attendance)
	}
	b.get(self).need("data-state", "arrived")
	b.follow(b.post(self, nil)).need("data-state", "arrived")
	for typed, status := range map[string]int{"": 422, "ABCDEFG": 422, "名前": 422, strings.Repeat("2", 60): 422} {
		b.post(ask, url.Values{views.FieldCheckinNumber: {typed}}).is(status).need("data-error", views.FieldCheckinNumber)
	}
	b.get(views.StaffCheckinNumberURL("shop", "ZZZZZZZ")).is(http.StatusNotFound).need("data-error", views.FieldCheckinNumber)
	b.post(views.StaffCheckinNumberURL("shop", "ZZZZZZZ"), nil).is(http.StatusNotFound)
	if strings.Contains(s.logs.String(), r.Number) {
		t.Error("the log has the number")
	}
}

func wide(number string) string {
	return strings.Map(func(c rune) rune { return c - '!' + '！' }, number)
}

func TestCheckInSaysWhyNot(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, func(p *store.Policies) { p.OnePerPerson = false }))
	b := atTheDesk(t, s)
	person := s.Person()
	book := func() store.Reservation {
		req := s.ConfirmRequest(s.Hold(t, s.Slot(t, 4), 1))
		req.Contact = person
		r, err := s.Store.Confirm(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	today, other := book(), book()
	s.toToday(t, today)
	url := func(r store.Reservation) string { return views.StaffCheckinNumberURL("shop", r.Number) }
	// The wrong day leads to what the same person has booked for today.
	p := b.get(url(other)).is(http.StatusOK).need("data-state", "other_day").need("href", url(today))
	if len(p.all("action", url(other))) > 0 {
		t.Error("the wrong day can be pressed")
	}
	b.post(url(other), nil).is(http.StatusConflict).need("data-state", "other_day")
	gone := book()
	s.toToday(t, gone)
	s.Exec(t, "UPDATE slots SET cancel_before = '0' WHERE id = $1", gone.SlotID)
	if _, err := s.Store.Cancel(t.Context(), store.CancelRequest{TenantID: gone.TenantID, IDs: []string{gone.ID}, Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	b.get(url(gone)).need("data-state", "cancelled")
	b.post(url(gone), nil).is(http.StatusConflict)
	held := s.Hold(t, s.Slot(t, 4), 1)
	b.get(url(held)).need("data-state", "held")
	b.post(url(held), nil).is(http.StatusConflict)
	s.Exec(t, "UPDATE reservations SET shown_until = now() - interval '1 hour', expires_at = now() - interval '1 hour' WHERE id = $1", held.ID)
	b.get(url(held)).need("data-state", "over")
	closed := book()
	if _, err := s.Store.CancelSlot(t.Context(), store.SlotRequest{TenantID: closed.TenantID, SlotID: closed.SlotID, Reason: "停電", Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	b.get(url(closed)).need("data-state", "slot_cancelled")
	if got := s.Reservation(t, today); got.Attendance != "" {
		t.Error("somebody was checked in")
	}
}

func TestTheBookingsQRCodeLeadsToTheCheckInAndToSignIn(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	r := s.Book(t, s.Slot(t, 4), 1)
	s.toToday(t, r)
	self := views.StaffCheckinNumberURL("shop", r.Number)
	s.hire(t, s.Tenant, "desk@example.com", store.RoleDesk)
	b := s.browser(t)
	door := b.get(self).is(http.StatusSeeOther).location()
	to, err := url.Parse(door)
	if err != nil || to.Path != views.StaffSignInURL() || to.Query().Get(views.FieldNext) != self {
		t.Fatalf("who is not signed in is led to %q", door)
	}
	signed := b.post(views.StaffSignInURL(), with(signIn("desk@example.com", staffPassword), views.FieldNext, self))
	if signed.location() != self {
		t.Errorf("after signing in: %q", signed.location())
	}
	b.follow(signed).need("data-state", "ready")
}

// taken reads a file as a strict program would.
func taken(t *testing.T, p page) (head []string, rows [][]string) {
	t.Helper()
	p.is(http.StatusOK)
	if got := p.header.Get("Content-Type"); !strings.HasPrefix(got, "text/csv; charset=utf-8") {
		t.Errorf("content type %q", got)
	}
	if got := p.header.Get("Content-Disposition"); !strings.HasPrefix(got, "attachment; ") || !strings.Contains(got, "filename*=UTF-8''") {
		t.Errorf("disposition %q", got)
	}
	if got := p.header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("cache control %q", got)
	}
	body, marked := strings.CutPrefix(p.body, "\ufeff")
	if !marked {
		t.Error("without the mark Excel reads no Japanese")
	}
	if strings.Count(body, "\r\n") == 0 || !strings.HasSuffix(body, "\r\n") {
		t.Errorf("lines end otherwise than in CRLF: %q", body)
	}
	all, err := csv.NewReader(strings.NewReader(body)).ReadAll()
	if err != nil {
		t.Fatalf("%v\n%s", err, body)
	}
	return all[0], all[1:]
}

// column is the number of a column by its title.
func column(t *testing.T, head []string, title string) int {
	t.Helper()
	for i, h := range head {
		if h == title {
			return i
		}
	}
	t.Fatalf("no column %q in %q", title, head)
	return 0
}

var evilNames = []string{
	`=HYPERLINK("http://example.org","x")`, "+1+1", "-2+3", "@SUM(1)", "|cmd", "　=1", "＝1+1", "＋1", "－1", "＠x", " =1", "\u200b=1", "ふつうの, \"名前\"", `x";=1`,
}

func TestFilesAreNeutralToSpreadsheetsAndComplete(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	slot := s.Slot(t, len(evilNames)+1)
	for i, name := range evilNames {
		r := s.Book(t, slot, 1)
		// As an import might leave it: the forms take some of these away.
		s.Exec(t, "UPDATE reservations SET name = $2, note = E'=1\\n二行目', phone = $3 WHERE id = $1", r.ID, name, []string{"+819012345678", "+12125550123", ""}[i%3])
	}
	s.Hold(t, slot, 1)
	full := s.Slot(t, 1)
	s.Book(t, full, 1)
	e := s.Join(t, full, 1)
	s.Exec(t, "UPDATE waitlist_entries SET name = '=1' WHERE id = $1", e.ID)
	gone := s.Book(t, s.Slot(t, 1), 1)
	s.Cancel(t, gone)
	filter := "?from=" + s.Start.AddDate(0, 0, -2).Format(time.DateOnly) + "&to=" + s.Start.AddDate(0, 0, 2).Format(time.DateOnly)
	tokens, err := s.Store.Roster(t.Context(), slot.TenantID, slot.ID)
	if err != nil {
		t.Fatal(err)
	}
	secrets := []string{s.Store.ReservationToken(tokens[0]), s.Store.EntryToken(e), "/reservations/", "/waitlist/"}
	page := b.get(views.StaffExportsURL("shop") + filter).is(http.StatusOK)
	for name, want := range map[string]int{"reservations": len(evilNames) + 2, "waitlist": 1, "customers": len(evilNames) + 2} {
		path := views.StaffExportsURL("shop") + "/" + name + ".csv" + filter
		p := b.get(path)
		head, rows := taken(t, p)
		if len(rows) != want {
			t.Errorf("%s has %d lines, want %d", name, len(rows), want)
		}
		if !strings.Contains(page.text(), fmt.Sprintf("%d行", want)) {
			t.Errorf("the page does not say %d lines of %s:\n%s", want, name, page.text())
		}
		neutral(t, name, head, rows)
		for _, secret := range secrets {
			if strings.Contains(p.body, secret) {
				t.Errorf("%s has a secret link", name)
			}
		}
	}
	roster := b.get(views.StaffSlotURL("shop", slot.ID) + "/roster.csv")
	head, rows := taken(t, roster)
	if len(rows) != len(evilNames)+1 {
		t.Errorf("the roster has %d lines", len(rows))
	}
	neutral(t, "roster", head, rows)
	phones := column(t, head, "電話")
	written := map[string]int{}
	for _, row := range rows {
		written[row[phones]]++
	}
	if written["090-1234-5678"] == 0 || written["(+1) 212-555-0123"] == 0 {
		t.Errorf("telephone numbers are written as %v", written)
	}
	head, rows = taken(t, b.get(views.StaffSlotWaitlistCSVURL("shop", full.ID)))
	if len(rows) != 1 || rows[0][column(t, head, "お名前")] != "'=1" {
		t.Errorf("the waitlist has %q", rows)
	}
	logs := s.logs.String()
	if strings.Count(logs, `"msg":"exported"`) != 5 || !strings.Contains(logs, `"what":"customers"`) {
		t.Errorf("the log does not tell who took what:\n%s", logs)
	}
	for _, secret := range append(evilNames[1:5], "HYPERLINK", "guest1@", "5678") {
		if strings.Contains(logs, `"`+secret) {
			t.Errorf("the log has %q", secret)
		}
	}
}

// neutral holds that no cell is a formula to a spreadsheet.
func neutral(t *testing.T, name string, head []string, rows [][]string) {
	t.Helper()
	for _, row := range append([][]string{head}, rows...) {
		for _, c := range row {
			first := strings.TrimLeft(c, " 　\u200b")
			if strings.IndexAny(first, "=+-@|＝＋－＠\t\r\n") == 0 {
				t.Errorf("%s: a spreadsheet runs %q", name, c)
			}
		}
	}
}

func TestCellsStayWhatTheyAre(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"山田": "山田", "": "", "=1": "'=1", "\t=1": "'\t=1", "\rx": "'\nx", "a=b": "a=b", "2+3": "2+3", "1-2": "1-2", "−1": "−1", "a\x00b": "ab", "x\r\ny": "x\ny", "\xff=1": "'=1",
	} {
		if got := textCell(typed).text; got != want && !(typed == "\rx" && got == "'\rx") {
			t.Errorf("%q: %q, want %q", typed, got, want)
		}
	}
	for number, want := range map[string]string{"ABC2345": "ABC2345", "23E4567": "#23E4567", "2345678": "2345678", "MAR2345": "#MAR2345", "23MAR45": "#23MAR45", "E234567": "E234567"} {
		if got := numberCell(number).text; got != want {
			t.Errorf("number %s: %q, want %q", number, got, want)
		}
	}
}

func TestExportsAskForASensibleTime(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	base := views.StaffExportsURL("shop")
	b.get(base).is(http.StatusOK)
	for query, field := range map[string]string{
		"?from=x": "from", "?from=2026-02-30&to=2026-03-01": "from", "?from=2026-03-02&to=2026-03-01": "to", "?from=2020-01-01&to=2026-01-01": "to", "?service=x": "service",
		"?resource=" + absentID: "resource", "?state=x": "state", "?from=%ff": "from",
	} {
		b.get(base+query).is(http.StatusUnprocessableEntity).need("data-error", field)
		for _, file := range []string{"reservations", "waitlist", "customers"} {
			b.get(base + "/" + file + ".csv" + query).is(http.StatusBadRequest)
		}
	}
	b.get(base + "?from=２０２６-０３-０１&to=2026-03-31").is(http.StatusOK)
	desk := atTheDesk(t, s)
	for _, path := range []string{base, base + "/reservations.csv", base + "/waitlist.csv", base + "/customers.csv"} {
		desk.get(path).is(http.StatusForbidden)
	}
}

// TestFilesHaveAsManyLinesAsThePageSays compares them for each filter, on enough
// that several pages are read.
func TestFilesHaveAsManyLinesAsThePageSays(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	seed.Fill(t, s.Shop, seed.Small, time.Now())
	b := asOwner(t, s)
	resources, err := s.Store.Resources(t.Context(), s.Tenant.ID)
	if err != nil {
		t.Fatal(err)
	}
	base := views.StaffExportsURL("shop")
	now := time.Now()
	days := "?from=" + now.AddDate(0, 0, -5).Format(time.DateOnly) + "&to=" + now.AddDate(0, 0, 5).Format(time.DateOnly)
	for _, filter := range []string{days, days + "&state=confirmed", days + "&state=arrived", days + "&state=no_show", days + "&state=cancelled", days + "&resource=" + resources[len(resources)-1].ID, days + "&service=" + s.Service.ID} {
		p := b.get(base + filter).is(http.StatusOK)
		for _, name := range []string{"reservations", "waitlist", "customers"} {
			_, rows := taken(t, b.get(base+"/"+name+".csv"+filter))
			said := p.all("data-export", name)
			if len(said) != 1 || !strings.Contains(strings.ReplaceAll(innerText(said[0]), ",", ""), fmt.Sprintf("%d行", len(rows))) {
				t.Errorf("%s%s has %d lines; the page says %q", name, filter, len(rows), innerText(said[0]))
			}
			seen := map[string]bool{}
			for _, row := range rows {
				if key := strings.Join(row, "\x00"); name != "waitlist" && seen[key] {
					t.Fatalf("%s%s tells %q twice", name, filter, row)
				} else {
					seen[key] = true
				}
			}
		}
	}
	// What is read grows in statements by the page, not by the line.
	if n := s.Count(func() { taken(t, b.get(base+"/reservations.csv"+days)) }); n > 20 {
		t.Errorf("%d statements", n)
	}
}

// innerText is the text of a part of a page.
func innerText(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	var all strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		all.WriteString(innerText(c) + " ")
	}
	return all.String()
}

// TestPagesCostTheSameHoweverMuchIsStored counts the statements of the pages
// that read lists, on a shop with a little and on one with thousands of lines.
func TestPagesCostTheSameHoweverMuchIsStored(t *testing.T) {
	t.Parallel()
	now := time.Now()
	few, many := openSite(t, shop.New(t, nil)), openSite(t, shop.New(t, nil))
	seed.Fill(t, few.Shop, seed.Size{Resources: 2, Slots: 40, PerDay: 1, Bookings: 60, Entries: 4, Sent: 20}, now)
	seed.Fill(t, many.Shop, seed.Small, now)
	counts := map[string][2]int{}
	for i, s := range []*site{few, many} {
		b := asOwner(t, s)
		day := now.In(s.Tenant.Location()).Format(time.DateOnly)
		slots, err := s.Store.Slots(t.Context(), store.SlotQuery{TenantID: s.Tenant.ID, From: now.Add(-48 * time.Hour), To: now.Add(96 * time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		full := slots[0]
		for _, slot := range slots {
			if slot.Waiting > full.Waiting || (slot.Waiting == full.Waiting && slot.Confirmed > full.Confirmed) {
				full = slot
			}
		}
		roster, err := s.Store.Roster(t.Context(), full.TenantID, full.ID)
		if err != nil || len(roster) == 0 {
			t.Fatal(len(roster), err)
		}
		search := func(text string) func() page {
			return func() page { return b.post(views.StaffSearchURL("shop"), url.Values{views.FieldQuery: {text}}) }
		}
		for name, open := range map[string]func() page{
			"venue":           func() page { return b.get("/shop?date=" + day) },
			"month":           func() page { return b.get("/shop?month=" + day[:7]) },
			"day":             func() page { return b.get(views.StaffDayURL("shop", day)) },
			"slot":            func() page { return b.get(views.StaffSlotURL("shop", full.ID)) },
			"search, a name":  search(roster[0].Name),
			"search, digits":  search(roster[0].Phone[len(roster[0].Phone)-4:]),
			"search, a piece": search("サトウ"),
			"check-in":        func() page { return b.get(views.StaffCheckinNumberURL("shop", roster[0].Number)) },
			"exports":         func() page { return b.get(views.StaffExportsURL("shop")) },
			"roster":          func() page { return b.get(views.StaffSlotURL("shop", full.ID) + "/roster.csv") },
			"waitlist":        func() page { return b.get(views.StaffSlotWaitlistCSVURL("shop", full.ID)) },
		} {
			open() // what is kept in memory is there
			n := counts[name]
			n[i] = s.Count(func() { open().is(http.StatusOK) })
			counts[name] = n
		}
	}
	for name, n := range counts {
		// A page may leave out a statement where there is nothing to ask for.
		if n[1] > n[0]+2 || n[1] > 30 {
			t.Errorf("%s: %d statements with a little stored, %d with much", name, n[0], n[1])
		}
	}
}
