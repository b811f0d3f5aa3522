package store_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

func init() {
	allTenants["lockTenantSQL"] = "the tenant itself"
	allTenants["saveVenueSQL"] = "the tenant itself"
	allTenants["zoneHereSQL"] = "asks about no row"
}

// Of several who save what they all saw, one writes.
func TestOneOfSeveralStaleChangesIsWritten(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	for round := range 10 {
		sv, err := s.Store.Service(t.Context(), s.Tenant.ID, s.Service.ID)
		if err != nil {
			t.Fatal(err)
		}
		const people = 6
		var wg sync.WaitGroup
		errs := make([]error, people)
		start := make(chan struct{})
		for i := range people {
			wg.Go(func() {
				<-start
				mine := sv
				mine.Capacity = 100 + round*people + i
				_, errs[i] = s.Store.SaveService(t.Context(), store.ServiceChange{Service: mine, Version: sv.Version})
			})
		}
		close(start)
		wg.Wait()
		done := 0
		for _, err := range errs {
			switch {
			case err == nil:
				done++
			case !errors.Is(err, store.Conflict):
				t.Fatal(err)
			}
		}
		if done != 1 {
			t.Fatalf("%d of %d were written", done, people)
		}
	}
	changes, err := s.Store.SettingChanges(t.Context(), s.Tenant.ID, "", 100)
	if err != nil || len(changes) != 10 {
		t.Errorf("%d changes noted, %v", len(changes), err)
	}
}

func TestSettingsOfAnotherTenantAreAbsent(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	other := s.AddTenant(t, "other", nil)
	theirs, room := s.AddService(t, other, "theirs", nil), s.AddResource(t, other, "room")
	ctx, own := t.Context(), s.Tenant.ID
	theirs.TenantID, room.TenantID = own, own
	calls := map[string]error{}
	_, calls["save"] = s.Store.SaveService(ctx, store.ServiceChange{Service: theirs, Version: theirs.Version})
	_, calls["active"] = s.Store.SetServiceActive(ctx, own, theirs.ID, theirs.Version, false, "")
	calls["move"] = s.Store.MoveService(ctx, own, theirs.ID, 1, 1, "")
	_, calls["questions"] = s.Store.ChangeQuestions(ctx, own, theirs.ID, theirs.Version, "", func(*store.Service) error { return nil })
	_, calls["picture"] = s.Store.ChangePicture(ctx, own, theirs.ID, theirs.Version, "", nil, nil)
	_, calls["resource"] = s.Store.SaveResource(ctx, room, room.Version, "")
	_, calls["resource active"] = s.Store.SetResourceActive(ctx, own, room.ID, room.Version, false, "")
	_, calls["read"] = s.Store.Resource(ctx, own, room.ID)
	for call, err := range calls {
		if !errors.Is(err, store.NotFound) {
			t.Errorf("%s: %v", call, err)
		}
	}
	if err := s.Store.RecordSettingChange(ctx, store.SettingChange{TenantID: other.ID, Area: "policy", Fields: []string{"fit"}}); err != nil {
		t.Fatal(err)
	}
	if changes, err := s.Store.SettingChanges(ctx, own, "", 10); err != nil || len(changes) != 0 {
		t.Errorf("%v, %v", changes, err)
	}
}

func TestSlugsAreProposed(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Evening Yoga!": "evening-yoga", "  Café — Crème  ": "cafe-creme", "朝のヨガ": "", "Ｙｏｇａ２": "yoga2", "a" + strings.Repeat("-", 80) + "b": "a-b", strings.Repeat("x", 100): strings.Repeat("x", 40),
	} {
		got := store.ProposeSlug(name)
		if got != want || got != "" && !store.ValidSlug(got) {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestOnlyWebAddressesAreLinks(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"": "", " https://example.com/a?b=1#c ": "https://example.com/a?b=1#c", "HTTP://example.com": "http://example.com", "https://日本.example/道": "https://日本.example/%E9%81%93",
	} {
		if got, err := store.NormalizeURL(typed); err != nil || !strings.EqualFold(got, want) && !strings.Contains(got, "%E6%97%A5") {
			t.Errorf("%q: %q, %v", typed, got, err)
		}
	}
	for _, typed := range []string{
		"javascript:alert(1)", "data:text/html,x", "//example.com", "/path", "example.com", "https:example.com", "https://", "https://u:p@example.com", "ftp://example.com", "https://intranet", "\tjavascript:alert(1)",
	} {
		if got, err := store.NormalizeURL(typed); !errors.Is(err, store.ErrURL) {
			t.Errorf("%q: %q, %v", typed, got, err)
		}
	}
}
