package web

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
	"holdfast/views"
)

func TestACalendarFileKeepsItsIdentity(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	slot, other := s.Slot(t, 2), s.Slot(t, 2)
	b := s.browser(t)
	booked, second := s.Book(t, slot, 1), s.Book(t, slot, 1)
	file := func(r store.Reservation) string {
		t.Helper()
		p := b.get(views.ReservationCalendarURL("shop", s.Store.ReservationToken(r))).is(http.StatusOK)
		if kind := p.header.Get("Content-Type"); kind != "text/calendar; charset=utf-8" || p.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s, %s", kind, p.header.Get("Cache-Control"))
		}
		for _, line := range strings.Split(strings.TrimSuffix(p.body, "\r\n"), "\r\n") {
			if len(line) > 75 || strings.Contains(line, "\n") {
				t.Errorf("the line %q is too long or broken", line)
			}
		}
		return strings.ReplaceAll(p.body, "\r\n ", "")
	}
	value := func(text, name string) string {
		t.Helper()
		_, text, _ = strings.Cut(text, "BEGIN:VEVENT")
		found := regexp.MustCompile(`(?m)^`+name+`[^:\r\n]*:([^\r\n]*)`).FindAllStringSubmatch(text, -1)
		if len(found) != 1 {
			t.Fatalf("%d times %s in\n%s", len(found), name, text)
		}
		return found[0][1]
	}
	first := file(booked)
	if again := file(booked); again != first {
		t.Errorf("two downloads of one booking differ:\n%s\n%s", first, again)
	}
	const utc, clock = "20060102T150405Z", "20060102T150405"
	loc := s.Tenant.Location()
	for name, want := range map[string]string{
		"DTSTART;TZID=Asia/Tokyo": slot.StartsAt.In(loc).Format(clock), "DTEND;TZID=Asia/Tokyo": slot.EndsAt.In(loc).Format(clock), "SEQUENCE": "0", "STATUS": "CONFIRMED", "SUMMARY": "朝のヨガ (Studio shop)",
	} {
		if got := value(first, name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if _, err := time.Parse(utc, value(first, "DTSTAMP")); err != nil {
		t.Error(err)
	}
	if strings.Contains(first, "METHOD:") || value(first, "UID") == value(file(second), "UID") {
		t.Errorf("a method, or two bookings with one identity:\n%s", first)
	}
	move := store.MoveRequest{TenantID: slot.TenantID, ID: booked.ID, TargetSlot: other.ID, TargetTerms: other.TermsVersion, Actor: shop.Customer}
	if _, err := s.Store.Move(t.Context(), move); err != nil {
		t.Fatal(err)
	}
	moved := file(booked)
	if value(moved, "UID") != value(first, "UID") || value(moved, "SEQUENCE") == "0" || value(moved, "DTSTART") != other.StartsAt.In(loc).Format(clock) {
		t.Errorf("after the move:\n%s", moved)
	}
	s.Cancel(t, booked)
	if cancelled := file(booked); value(cancelled, "STATUS") != "CANCELLED" || value(cancelled, "UID") != value(first, "UID") || value(cancelled, "SEQUENCE") <= value(moved, "SEQUENCE") {
		t.Errorf("after the cancellation:\n%s", cancelled)
	}
	held := s.Hold(t, other, 1)
	b.get(views.ReservationCalendarURL("shop", s.Store.ReservationToken(held))).is(http.StatusNotFound)
}

func TestTheCalendarShowsDaysAsTheVenueHasThem(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	zone := "America/New_York"
	tenant, err := s.Store.AddTenant(t.Context(), store.Tenant{Slug: "ny", Name: "Studio NY", TimeZone: zone, Locale: "en"})
	if err != nil {
		t.Fatal(err)
	}
	loc := tenant.Location()
	service, resource := s.AddService(t, tenant, "class", nil), s.AddResource(t, tenant, "room")
	slots := map[string]store.Slot{}
	for _, local := range []string{"2027-03-13 23:00", "2027-03-14 00:00", "2027-03-14 15:00", "2027-03-14 23:00", "2027-03-15 00:00", "2027-03-21 15:00"} {
		start, err := time.ParseInLocation("2006-01-02 15:04", local, loc)
		if err != nil {
			t.Fatal(err)
		}
		made, err := s.Store.AddSlots(t.Context(), tenant.ID, []store.NewSlot{{ServiceID: service.ID, ResourceID: resource.ID, StartsAt: start, Capacity: 3}})
		if err != nil {
			t.Fatal(err)
		}
		slots[local] = made[0]
	}
	b := openSite(t, s, func(c *Config) {
		c.Now = func() time.Time { return time.Date(2027, 3, 10, 3, 30, 0, 0, time.UTC) } // the evening of the 9th there
	}).browser(t)
	day := func(path, date string) []string {
		t.Helper()
		var found []string
		for _, n := range b.get(path).is(http.StatusOK).all("datetime", date) {
			section := n.Parent.Parent
			for c := range section.Descendants() {
				if id := attr(c, "data-slot"); id != "" {
					found = append(found, id)
				}
			}
		}
		return found
	}
	got := day("/ny?date=2027-03-14", "2027-03-14")
	want := []string{slots["2027-03-14 00:00"].ID, slots["2027-03-14 15:00"].ID, slots["2027-03-14 23:00"].ID}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("the day of the clock change has %v, want %v", got, want)
	}
	page := b.get("/ny?date=2027-03-14").says("15:00–16:00").says("23:00–00:00 (next day)")
	if days := page.all("aria-current", "date"); len(days) != 1 || !strings.Contains(attr(days[0], "href"), "2027-03-14") {
		t.Error("not one day is the current one")
	}
	b.get("/ny?date=2027-03-21").says("15:00–16:00")
	for path, date := range map[string]string{
		"/ny?date=2020-01-01": "2027-03-09", "/ny?date=9999-12-31": "2028-04-12", "/ny?date=2027-02-30": "", "/ny?date=%00": "", "/ny?service=none&resource=%27": "", "/ny?date=2027-03-14&date=x": "2027-03-14",
	} {
		p := b.get(path).is(http.StatusOK)
		current := p.all("aria-current", "date")
		if len(current) != 1 || date != "" && !strings.Contains(attr(current[0], "href"), date) {
			t.Errorf("%s does not open on %s", path, date)
		}
	}
}

func TestTheCalendarIsNarrowedByLinks(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	full, later := s.Slot(t, 1), s.SlotAt(t, 2, s.Start.Add(9*24*time.Hour))
	s.Book(t, full, 1)
	yoga := s.AddService(t, s.Tenant, "dance", nil)
	room := s.AddResource(t, s.Tenant, "studio-b")
	made, err := s.Store.AddSlots(t.Context(), s.Tenant.ID, []store.NewSlot{{ServiceID: yoga.ID, ResourceID: room.ID, StartsAt: later.StartsAt, Capacity: 3}})
	if err != nil {
		t.Fatal(err)
	}
	dance := made[0]
	b := s.browser(t)
	b.get("/shop").need("data-slot", later.ID).need("data-slot", dance.ID)
	if p := b.get("/shop?service=dance").need("data-slot", dance.ID); p.has("data-slot", later.ID) {
		t.Error("narrowed to a service, another stands there")
	}
	if p := b.get("/shop?resource=studio-a").need("data-slot", later.ID); p.has("data-slot", dance.ID) {
		t.Error("narrowed to a resource, another stands there")
	}
	day := full.StartsAt.In(s.Tenant.Location()).Format(time.DateOnly)
	p := b.get("/shop?date="+day).need("data-slot", full.ID).need("data-state", "waitlist")
	if !strings.Contains(p.body, later.StartsAt.In(s.Tenant.Location()).Format(time.DateOnly)) {
		t.Error("a day with nothing to book does not lead to the next that has")
	}
	if p := b.get("/shop?free=1&date=" + day); p.has("data-slot", full.ID) {
		t.Error("narrowed to the free ones, a full one stands there")
	}
	// Every link of the page opens.
	for _, a := range b.get("/shop?date="+day).all("href", "") {
		if path := attr(a, "href"); strings.HasPrefix(path, "/") && a.Data == "a" {
			b.get(path).is(http.StatusOK)
		}
	}
}

func TestWhatACustomerCanDoWithASlot(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 10, 1, 9, 0, 0, 0, time.UTC)
	open := store.Slot{
		Capacity: 10, SeatsLeft: 10, Status: store.SlotOpen, WaitlistMode: store.Sequential, FewLeft: 3, Now: now, OpensAt: now.Add(-time.Hour), ClosesAt: now.Add(time.Hour),
	}
	for name, c := range map[string]struct {
		edit func(*store.Slot)
		want views.SlotState
	}{
		"all seats are free":                        {func(*store.Slot) {}, views.SlotFree},
		"as many are left as count as few":          {func(s *store.Slot) { s.SeatsLeft = 3 }, views.SlotFew},
		"one more is left":                          {func(s *store.Slot) { s.SeatsLeft = 4 }, views.SlotFree},
		"a small slot is empty":                     {func(s *store.Slot) { s.Capacity, s.SeatsLeft = 3, 3 }, views.SlotFree},
		"it is full and people can wait":            {func(s *store.Slot) { s.SeatsLeft = 0 }, views.SlotWaitlist},
		"it is full and has no waitlist":            {func(s *store.Slot) { s.SeatsLeft, s.WaitlistMode = 0, store.WaitlistNone }, views.SlotFull},
		"booking closes this moment":                {func(s *store.Slot) { s.ClosesAt = now }, views.SlotOutside},
		"booking opens this moment":                 {func(s *store.Slot) { s.OpensAt = now }, views.SlotFree},
		"booking has not opened":                    {func(s *store.Slot) { s.OpensAt = now.Add(time.Second) }, views.SlotOutside},
		"it is closed, though seats are free":       {func(s *store.Slot) { s.Status = store.SlotClosed }, views.SlotClosed},
		"it is cancelled, though the window is too": {func(s *store.Slot) { s.Status, s.ClosesAt = store.SlotCancelled, now }, views.SlotCancelled},
	} {
		slot := open
		c.edit(&slot)
		if got := slotState(slot); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestClosedSlotsSayWhy(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, func(p *store.Policies) { p.BookingOpens = store.Duration(20 * 24 * time.Hour) }))
	closed, cancelled, early := s.Slot(t, 2), s.Slot(t, 2), s.SlotAt(t, 2, s.Start.Add(30*24*time.Hour))
	if _, err := s.Store.CloseSlot(t.Context(), store.SlotRequest{TenantID: closed.TenantID, SlotID: closed.ID, Reason: "x", Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Store.CancelSlot(t.Context(), store.SlotRequest{TenantID: closed.TenantID, SlotID: cancelled.ID, Reason: "x", Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	b := s.browser(t)
	b.header.Set("Accept-Language", "en")
	for state, slot := range map[string]store.Slot{"closed": closed, "cancelled": cancelled, "outside": early} {
		p := b.get(views.SlotURL("shop", slot.ID)).is(http.StatusOK).need("data-state", state).need("class", "closed-note")
		if p.hasForm("/hold") || p.hasForm("/waitlist") {
			t.Errorf("%s: there is a form", state)
		}
		fields := contact("A", "a@example.com")
		fields.Set(views.FieldPartySize, "1")
		fields.Set(views.FieldTermsVersion, "1")
		for _, to := range []string{views.SlotHoldURL("shop", slot.ID), views.SlotWaitlistURL("shop", slot.ID)} {
			if p := b.post(to, fields).is(http.StatusConflict); !p.has("data-outcome", "") {
				t.Errorf("%s: nothing is said", state)
			}
		}
	}
}

func TestWhatIsBusyCanBePressedAgain(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	slot := s.Slot(t, 2)
	b := s.browser(t)
	page := b.get(views.SlotURL("shop", slot.ID))
	_, sent := page.form("/hold")
	other := s.Conn(t)
	tx, err := other.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT 1 FROM slots FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	busy := b.press(page, "/hold", nil).is(http.StatusServiceUnavailable).need("data-outcome", "busy")
	if busy.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	_, again := busy.form("/hold")
	if again.Get(views.FieldIdempotencyKey) != sent.Get(views.FieldIdempotencyKey) {
		t.Error("the press that may have been done would be done again under another key")
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.follow(b.press(busy, "/hold", nil)).need("data-state", "held")
	if got := s.Read(t, slot).Taken; got != 1 {
		t.Errorf("taken %d", got)
	}
}

func TestLinksAreMailedAndTheAnswerTellsNothing(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	booked := s.Book(t, s.Slot(t, 2), 1)
	b := s.browser(t)
	b.press(b.get("/shop/my-reservations"), "/my-reservations", url.Values{views.FieldEmail: {"nobody@"}}).is(http.StatusUnprocessableEntity).need("data-error", views.FieldEmail)
	answers := map[string]bool{}
	for _, address := range []string{booked.Email, strings.ToUpper(booked.Email), "stranger@example.com"} {
		for range 4 {
			done := b.press(b.get("/shop/my-reservations"), "/my-reservations", url.Values{views.FieldEmail: {address}})
			answers[done.location()+changing.ReplaceAllString(b.follow(done).body, "")] = true
		}
	}
	if len(answers) != 1 {
		t.Errorf("%d different answers", len(answers))
	}
	// One an hour; the test may run over the turn of one.
	var mails int
	if err := s.Pool.QueryRow(t.Context(), "SELECT count(*) FROM outbox WHERE kind = 'my_reservations'").Scan(&mails); err != nil || mails < 1 || mails > 2 {
		t.Errorf("%d mails, %v", mails, err)
	}
}

func TestOnlyPagesWithoutSecretsArePacked(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]bool{"": false, "gzip": true, "br, gzip;q=0.5": true, "gzip;q=0": false, "gzip; q=0": false, "gzip;q=0.1": true, "identity": false, "gzipped": false} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept-Encoding", header)
		if acceptsGzip(r) != want {
			t.Errorf("%q: %v", header, !want)
		}
	}
	s := openSite(t, shop.New(t, nil))
	booked := s.Book(t, s.Slot(t, 2), 1)
	for path, want := range map[string]string{"/shop": "gzip", views.ReservationURL("shop", s.Store.ReservationToken(booked)): ""} {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("Accept-Encoding", "gzip")
		w := httptest.NewRecorder()
		s.web.Handler().ServeHTTP(w, r)
		if got := w.Header().Get("Content-Encoding"); got != want || w.Code != http.StatusOK {
			t.Errorf("%s: %q", path, got)
		}
	}
}
