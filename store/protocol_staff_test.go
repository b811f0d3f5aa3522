package store_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/store"
)

func TestStaffAndTheirRoles(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	other := s.AddTenant(t, "other", nil)
	first, err := s.Store.AddStaff(s.ctx(), store.NewStaff{TenantID: s.Tenant.ID, Email: " Hana@Example.com", Name: "Hana", Role: store.RoleOwner, Locale: "ja", PasswordHash: "hash"})
	if err != nil || first.Email != "hana@example.com" {
		t.Fatal(first, err)
	}
	// Another tenant's owner gives a role, and changes neither name nor password.
	again, err := s.Store.AddStaff(s.ctx(), store.NewStaff{TenantID: other.ID, Email: "hana@example.com", Name: "Mallory", Role: store.RoleDesk, PasswordHash: "other"})
	if err != nil || again.ID != first.ID || again.PasswordHash != "hash" || again.Name != "Hana" {
		t.Fatal(again, err)
	}
	found, err := s.Store.StaffByEmail(s.ctx(), "HANA@example.com")
	if err != nil || found.ID != first.ID {
		t.Fatal(found, err)
	}
	for _, email := range []string{"nobody@example.com", "not an address"} {
		_, err = s.Store.StaffByEmail(s.ctx(), email)
		want(t, err, store.NotFound)
	}
	role, err := s.Store.Membership(s.ctx(), other.ID, first.ID)
	if err != nil || role.Role != store.RoleDesk {
		t.Fatal(role, err)
	}
	all, err := s.Store.Memberships(s.ctx(), first.ID)
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	_, err = s.Store.AddStaff(s.ctx(), store.NewStaff{TenantID: other.ID, Email: "hana@example.com", Role: store.RoleManager})
	s.must(err)
	if role, err = s.Store.Membership(s.ctx(), other.ID, first.ID); err != nil || role.Role != store.RoleManager {
		t.Fatal(role, err)
	}
	s.must(s.Store.SetPasswordHash(s.ctx(), first.ID, "new"))
	s.must(s.Store.SetStaffLocale(s.ctx(), first.ID, "en"))
	if got, err := s.Store.StaffByID(s.ctx(), first.ID); err != nil || got.PasswordHash != "new" || got.Locale != "en" {
		t.Fatal(got, err)
	}
	_, err = s.Store.Membership(s.ctx(), other.ID, "00000000-0000-4000-8000-000000000000")
	want(t, err, store.NotFound)
}

func TestAPIKeys(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	key, err := s.Store.AddAPIKey(s.ctx(), s.Tenant, "till", []string{"read", "book"})
	if err != nil || !strings.HasPrefix(key, "hf_shop_") || len(key) < 30 {
		t.Fatal(key, err)
	}
	got, err := s.Store.APIKeyByText(s.ctx(), s.Tenant.ID, key)
	if err != nil || got.TenantID != s.Tenant.ID || !slices.Equal(got.Scopes, []string{"read", "book"}) {
		t.Fatal(got, err)
	}
	_, err = s.Store.APIKeyByText(s.ctx(), s.AddTenant(t, "other", nil).ID, key)
	want(t, err, store.NotFound)
	_, err = s.Store.APIKeyByText(s.ctx(), s.Tenant.ID, key+"x")
	want(t, err, store.NotFound)
	var stored int
	s.must(s.Pool.QueryRow(s.ctx(), "SELECT count(*) FROM api_keys WHERE api_keys::text LIKE '%' || $1 || '%'", key[8:]).Scan(&stored))
	if stored != 0 {
		t.Fatal("the key itself is stored")
	}
	s.Exec(t, "UPDATE api_keys SET revoked_at = now()")
	_, err = s.Store.APIKeyByText(s.ctx(), s.Tenant.ID, key)
	want(t, err, store.NotFound)
	for _, bad := range []struct {
		name   string
		scopes []string
	}{{"", []string{"read"}}, {"x", nil}, {"x", []string{"root"}}} {
		if _, err := s.Store.AddAPIKey(s.ctx(), s.Tenant, bad.name, bad.scopes); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
}

func TestSessionsEndByTime(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	sessions := s.Store.Sessions()
	now, err := s.live.Now(s.ctx())
	s.must(err)
	s.must(sessions.CommitCtx(s.ctx(), "live", []byte("data"), now.Add(time.Hour)))
	s.must(sessions.CommitCtx(s.ctx(), "ended", []byte("data"), now.Add(-time.Second)))
	s.must(sessions.CommitCtx(s.ctx(), "live", []byte("newer"), now.Add(time.Hour)))
	data, found, err := sessions.FindCtx(s.ctx(), "live")
	if err != nil || !found || string(data) != "newer" {
		t.Fatal(string(data), found, err)
	}
	if _, found, err = sessions.FindCtx(s.ctx(), "ended"); err != nil || found {
		t.Fatal(found, err)
	}
	s.sweep()
	var left int
	s.must(s.Pool.QueryRow(s.ctx(), "SELECT count(*) FROM sessions").Scan(&left))
	if left != 1 {
		t.Fatalf("%d sessions are left", left)
	}
	s.must(sessions.DeleteCtx(s.ctx(), "live"))
	if _, found, err = sessions.FindCtx(s.ctx(), "live"); err != nil || found {
		t.Fatal(found, err)
	}
}

func TestDeletingATenantTakesAllOfItAndNothingElse(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot, e := s.offered()
	_, err := s.accept(e)
	s.must(err)
	s.Join(t, slot, 1)
	_, err = s.Store.AddStaff(s.ctx(), store.NewStaff{TenantID: s.Tenant.ID, Email: "hana@example.com", Role: store.RoleOwner})
	s.must(err)
	_, err = s.Store.AddAPIKey(s.ctx(), s.Tenant, "till", []string{"read"})
	s.must(err)
	other := s.AddTenant(t, "other", nil)
	s.AddService(t, other, "class", nil)
	s.must(s.Store.DeleteTenant(s.ctx(), s.Tenant.ID))
	for _, table := range []string{"slots", "reservations", "waitlist_entries", "outbox", "events", "resources", "api_keys", "memberships"} {
		var left int
		s.must(s.Pool.QueryRow(s.ctx(), "SELECT count(*) FROM "+table).Scan(&left))
		if left != 0 {
			t.Errorf("%d rows are left in %s", left, table)
		}
	}
	if services, err := s.Store.Services(s.ctx(), other.ID); err != nil || len(services) != 1 {
		t.Fatal(services, err)
	}
	if _, err := s.Store.StaffByEmail(s.ctx(), "hana@example.com"); err != nil {
		t.Fatal(err)
	}
}

func TestTextsFallBackToAnotherLanguage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text   store.Text
		locale string
		want   string
	}{
		{store.Text{"ja": "朝", "en": "morning"}, "en", "morning"},
		{store.Text{"ja": "朝"}, "en", "朝"},
		{store.Text{"en": "morning", "ja": ""}, "ja", "morning"},
		{nil, "ja", ""},
	} {
		if got := c.text.In(c.locale); got != c.want {
			t.Errorf("%v in %s: %q", c.text, c.locale, got)
		}
	}
}

func TestReadsOfTheStaffPages(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot := s.Slot(t, 2)
	first, second := s.Book(t, slot, 1), s.Book(t, slot, 1)
	e, waiting := s.Join(t, slot, 1), s.Join(t, slot, 1)
	s.Cancel(t, first)
	_, err := s.Store.SetAttendance(s.ctx(), store.AttendanceRequest{TenantID: slot.TenantID, ID: second.ID, Attendance: "arrived"})
	s.must(err)
	other := s.AddTenant(t, "other", nil)
	for _, tenant := range []store.Tenant{s.Tenant, other} {
		mine := tenant.ID == s.Tenant.ID
		slots, err := s.Store.SlotsByID(s.ctx(), tenant.ID, []string{slot.ID})
		if err != nil || (len(slots) == 1) != mine {
			t.Error(slots, err)
		}
		offers, err := s.Store.OpenOffers(s.ctx(), tenant.ID, 10)
		if err != nil || (len(offers) == 1 && offers[0].ID == e.ID) != mine {
			t.Error(offers, err)
		}
		found, err := s.Store.SearchEntries(s.ctx(), tenant.ID, strings.ToUpper(waiting.Email))
		if err != nil || (len(found) == 1) != mine {
			t.Error(found, err)
		}
		people, err := s.Store.People(s.ctx(), tenant.ID, []string{second.ID, e.ID})
		if err != nil || (len(people) == 2 && people[e.ID].Name == e.Name && people[second.ID].Phone == second.Phone) != mine {
			t.Error(people, err)
		}
		counts, err := s.Store.MessageCounts(s.ctx(), tenant.ID)
		if err != nil || (counts[store.MessagePending] == 6) != mine {
			t.Error(counts, err)
		}
		arrived, err := s.Store.Arrived(s.ctx(), tenant.ID, []string{slot.ID})
		if err != nil || (arrived[slot.ID] == 1) != mine {
			t.Error(arrived, err)
		}
		queues, err := s.Store.Waitlists(s.ctx(), tenant.ID, []string{slot.ID})
		if err != nil || (len(queues[slot.ID]) == 2 && queues[slot.ID][1].Place == 1) != mine {
			t.Error(queues, err)
		}
		roster, err := s.Store.Roster(s.ctx(), tenant.ID, slot.ID)
		if err != nil || (len(roster) == 2) != mine {
			t.Error(roster, err)
		}
		history, err := s.Store.History(s.ctx(), tenant.ID, slot.ID, 0, 10)
		if err != nil || (len(history) > 0) != mine {
			t.Error(history, err)
		}
	}
	s.until(*s.Entry(t, e).ExpiresAt)
	if offers, err := s.Store.OpenOffers(s.ctx(), s.Tenant.ID, 10); err != nil || len(offers) != 0 {
		t.Error(offers, err)
	}
}
