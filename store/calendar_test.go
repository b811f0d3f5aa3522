package store_test

import (
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

func TestClosedDaysAreTheTenantsOwn(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	other := s.AddTenant(t, "other", nil)
	add := func(tenant store.Tenant, day, note string) {
		t.Helper()
		if _, err := s.Store.AddClosedDay(t.Context(), store.ClosedDay{TenantID: tenant.ID, Day: day, Note: store.Text{"ja": note}}); err != nil {
			t.Fatal(err)
		}
	}
	add(s.Tenant, "2026-12-30", "年末")
	add(s.Tenant, "2026-12-31", "年末")
	add(s.Tenant, "2026-12-31", "大晦日")
	add(s.Tenant, "2027-01-02", "年始")
	add(other, "2026-12-31", "よそ")
	found, err := s.Store.ClosedDays(t.Context(), s.Tenant.ID, "2026-12-31", "2027-01-01")
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || found[0].Day != "2026-12-31" || found[0].Note.In("en") != "大晦日" || found[0].TenantID != s.Tenant.ID {
		t.Errorf("%+v", found)
	}
	for _, day := range []string{"", "2026-02-30", "tomorrow", "2026-12-31T00:00:00Z"} {
		if _, err := s.Store.AddClosedDay(t.Context(), store.ClosedDay{TenantID: s.Tenant.ID, Day: day}); err == nil {
			t.Errorf("%q is taken for a day", day)
		}
	}
}

func TestDaysAreSummedUpAsTheVenueHasThem(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	loc := s.Tenant.Location()
	y, m, d := s.Start.In(loc).Date()
	at := func(day, hour, minute int) time.Time { return time.Date(y, m, d+day, hour, minute, 0, 0, loc) }
	// The last slot of a day, and the first of the next.
	s.SlotAt(t, 10, at(0, 23, 0))
	few := s.SlotAt(t, 4, at(1, 0, 0))
	full := s.SlotAt(t, 1, at(1, 12, 0))
	closed, cancelled := s.SlotAt(t, 1, at(1, 14, 0)), s.SlotAt(t, 1, at(1, 16, 0))
	early := s.SlotAt(t, 1, at(80, 9, 0))
	s.Book(t, few, 2)
	s.Book(t, full, 1)
	if _, err := s.Store.CloseSlot(t.Context(), store.SlotRequest{TenantID: s.Tenant.ID, SlotID: closed.ID, Reason: "x", Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Store.CancelSlot(t.Context(), store.SlotRequest{TenantID: s.Tenant.ID, SlotID: cancelled.ID, Reason: "x", Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	days, err := s.Store.Days(t.Context(), store.SlotQuery{TenantID: s.Tenant.ID, From: at(0, 0, 0), To: at(100, 0, 0)}, loc)
	if err != nil {
		t.Fatal(err)
	}
	name := func(day int) string { return at(day, 0, 0).Format(time.DateOnly) }
	if len(days) != 3 {
		t.Fatalf("%+v", days)
	}
	if got := days[0]; got != (store.DaySummary{Day: name(0), Free: 1}) {
		t.Errorf("%+v", got)
	}
	if got := days[1]; got != (store.DaySummary{Day: name(1), Few: 1, Joinable: 1, Closed: 1, Cancelled: 1}) {
		t.Errorf("%+v", got)
	}
	if got := days[2]; got.NotYet != 1 || got.OpensAt == nil || !got.OpensAt.Equal(early.OpensAt) {
		t.Errorf("%+v", got)
	}
	later := s.Store.At(at(1, 12, 0))
	if days, err = later.Days(t.Context(), store.SlotQuery{TenantID: s.Tenant.ID, From: at(1, 0, 0), To: at(2, 0, 0)}, loc); err != nil {
		t.Fatal(err)
	}
	if len(days) != 1 || days[0].Over != 2 || days[0].Closed != 1 {
		t.Errorf("when both have begun: %+v", days)
	}
}

func TestOriginsStandAsBrowsersWriteThem(t *testing.T) {
	t.Parallel()
	for origin, want := range map[string]string{
		"https://www.example.com": "https://www.example.com", " HTTPS://Www.Example.Com/ ": "https://www.example.com", "https://example.com:443": "https://example.com",
		"https://example.com:8443": "https://example.com:8443", "http://localhost:3000": "http://localhost:3000", "http://127.0.0.1": "http://127.0.0.1",
		"http://example.com": "", "https://*.example.com": "", "*": "", "": "", "'self'": "", "example.com": "", "https://example.com/shop": "", "https://a@example.com": "",
		"https://example.com;script-src *": "", "https://example.com https://other.example": "", "javascript:alert(1)": "", "data:,": "", "https://": "", "https://example.com:": "",
		"https://example.com\r\nX: y": "", "https://例え.jp": "",
	} {
		got, err := store.NormalizeOrigin(origin)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", origin, got, err, want)
		}
	}
	s := shop.New(t, nil)
	changed, err := s.Store.SetEmbedOrigins(t.Context(), s.Tenant.ID, []string{"https://a.example", "https://A.example/", "https://b.example"})
	if err != nil || len(changed.EmbedOrigins) != 2 || changed.EmbedOrigins[0] != "https://a.example" {
		t.Errorf("%v, %v", changed.EmbedOrigins, err)
	}
	if _, err := s.Store.SetEmbedOrigins(t.Context(), s.Tenant.ID, []string{"*"}); err == nil {
		t.Error("any site may show it")
	}
	if changed, err = s.Store.SetEmbedOrigins(t.Context(), s.Tenant.ID, nil); err != nil || len(changed.EmbedOrigins) != 0 {
		t.Errorf("%v, %v", changed.EmbedOrigins, err)
	}
}
