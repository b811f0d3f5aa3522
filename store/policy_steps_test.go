package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

// tenantOverrides are the tenant's policies, all of them, changed by edit.
func (s *stage) tenantOverrides(edit func(*store.Policies)) []byte {
	s.t.Helper()
	t, err := s.Store.TenantByID(s.ctx(), s.Tenant.ID)
	s.must(err)
	p, err := t.Policies()
	s.must(err)
	edit(&p)
	text, err := json.Marshal(p)
	s.must(err)
	return text
}

func (s *stage) left() int {
	s.t.Helper()
	t, err := s.Store.TenantByID(s.ctx(), s.Tenant.ID)
	s.must(err)
	services, err := s.Store.Services(s.ctx(), t.ID)
	s.must(err)
	n, err := s.Store.PoliciesLeft(s.ctx(), t, services)
	s.must(err)
	return n
}

func TestAPreviewOfPoliciesIsWhatThenHappens(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		edit func(*store.Policies)
		want store.PolicyResult
	}{
		{"a smaller party is let past", func(p *store.Policies) { p.Fit = store.FirstFit }, store.PolicyResult{Slots: 3, Offered: 2}},
		{"everybody is told", func(p *store.Policies) { p.WaitlistMode = store.Broadcast }, store.PolicyResult{Slots: 3, Told: 2}},
		{"nothing but a number", func(p *store.Policies) { p.FewLeft = 1 }, store.PolicyResult{Slots: 3}},
		{"nothing at all", func(*store.Policies) {}, store.PolicyResult{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, func(p *store.Policies) { p.Fit = store.Strict })
			for range 2 {
				slot, booked := s.full(2)
				s.Join(t, slot, 2)
				s.Join(t, slot, 1)
				s.Cancel(t, booked[0])
			}
			s.Slot(t, 4)
			change := store.PolicyChange{TenantID: s.Tenant.ID, Overrides: s.tenantOverrides(c.edit), Actor: shop.Staff}
			before := s.versions()
			would, err := s.Store.PreviewPolicies(s.ctx(), change)
			s.must(err)
			if s.versions() != before {
				t.Fatal("the preview has changed something")
			}
			did, err := s.Store.SetPolicies(s.ctx(), change)
			s.must(err)
			for _, r := range []store.PolicyResult{would, did} {
				if r.Slots != c.want.Slots || r.Offered != c.want.Offered || r.Told != c.want.Told || r.Left != 0 || r.AtLeast {
					t.Errorf("%+v, want %+v", r, c.want)
				}
			}
			for i := range would.First {
				if would.First[i].ID != did.First[i].ID || !would.First[i].ShownUntil.Equal(*did.First[i].ShownUntil) {
					t.Errorf("would offer %+v, offered %+v", would.First[i], did.First[i])
				}
			}
			if s.left() != 0 {
				t.Error("some slots have other policies")
			}
			again, err := s.Store.SetPolicies(s.ctx(), change)
			if err != nil || again.Slots != 0 || again.Offered != 0 {
				t.Errorf("again: %+v %v", again, err)
			}
		})
	}
}

// versions changes with every event.
func (s *stage) versions() string {
	s.t.Helper()
	var text string
	s.must(s.Pool.QueryRow(s.ctx(), "SELECT concat(sum(version), ' ', (SELECT count(*) FROM events), ' ', (SELECT policies FROM tenants WHERE id = $1)) FROM slots", s.Tenant.ID).Scan(&text))
	return text
}

func TestPoliciesOfATenantReachTheServicesThatHaveNoneOfTheirOwn(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	own := s.AddService(t, s.Tenant, "own", []byte(`{"fewLeft":9}`))
	other := s.AddResource(t, s.Tenant, "studio-b")
	made, err := s.Store.AddSlots(s.ctx(), s.Tenant.ID, []store.NewSlot{{ServiceID: own.ID, ResourceID: other.ID, StartsAt: s.Start}})
	s.must(err)
	shared := s.Slot(t, 1)
	result, err := s.Store.SetPolicies(s.ctx(), store.PolicyChange{TenantID: s.Tenant.ID, Overrides: s.tenantOverrides(func(p *store.Policies) { p.FewLeft = 1 }), Actor: shop.Staff})
	s.must(err)
	if result.Slots != 1 || s.Read(t, shared).FewLeft != 1 || s.Read(t, made[0]).FewLeft != 9 {
		t.Errorf("%+v: shared has %d, own has %d", result, s.Read(t, shared).FewLeft, s.Read(t, made[0]).FewLeft)
	}
	// What would contradict a service's own is refused.
	if _, err := s.Store.SetPolicies(s.ctx(), store.PolicyChange{TenantID: s.Tenant.ID, ServiceID: own.ID, Overrides: []byte(`{"bookingCloses":"48h0m0s"}`), Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	before := s.versions()
	if _, err := s.Store.SetPolicies(s.ctx(), store.PolicyChange{TenantID: s.Tenant.ID, Overrides: s.tenantOverrides(func(p *store.Policies) { p.BookingOpens = store.Duration(24 * time.Hour) }), Actor: shop.Staff}); err == nil {
		t.Error("taken, although a service closes before that")
	}
	if s.versions() != before {
		t.Error("refused, and yet something is stored")
	}
}

func TestStalePoliciesWriteNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	s.Slot(t, 1)
	tenant, err := s.Store.TenantByID(s.ctx(), s.Tenant.ID)
	s.must(err)
	service, err := s.Store.Service(s.ctx(), s.Tenant.ID, s.Service.ID)
	s.must(err)
	change := func(service string, overrides []byte, was store.StoredPolicies) error {
		_, err := s.Store.SetPolicies(s.ctx(), store.PolicyChange{TenantID: s.Tenant.ID, ServiceID: service, Overrides: overrides, Was: &was, Actor: shop.Staff})
		return err
	}
	was := store.StoredPolicies{Tenant: tenant.Overrides, Service: service.Overrides}
	s.must(change(s.Service.ID, []byte(`{"fewLeft":2}`), was))
	before := s.versions()
	want(t, change(s.Service.ID, []byte(`{"fewLeft":3}`), was), store.Conflict)
	now, err := s.Store.Service(s.ctx(), s.Tenant.ID, s.Service.ID)
	s.must(err)
	if s.versions() != before || string(now.Overrides) != `{"fewLeft": 2}` {
		t.Errorf("stored: %s", now.Overrides)
	}
	s.must(change("", s.tenantOverrides(func(p *store.Policies) { p.PartyMax = 7 }), was))
	want(t, change("", s.tenantOverrides(func(p *store.Policies) { p.PartyMax = 8 }), was), store.Conflict)
	// Who changed what is noted, with what was changed.
	noted, err := s.Store.SettingChanges(s.ctx(), s.Tenant.ID, "", 10)
	s.must(err)
	// Both at one instant: the clock of these tests stands still.
	slices.SortFunc(noted, func(a, b store.SettingChange) int { return strings.Compare(a.Subject, b.Subject) })
	if len(noted) != 2 || noted[0].Area != store.AreaPolicies || noted[0].Subject != "" || !slices.Equal(noted[0].Fields, []string{"partyMax"}) ||
		noted[1].Subject != s.Service.ID || !slices.Equal(noted[1].Fields, []string{"fewLeft"}) || noted[1].StaffID != shop.Staff.ID {
		t.Errorf("noted: %+v", noted)
	}
	// A service's form shows the tenant's policies too.
	was.Service = now.Overrides
	want(t, change(s.Service.ID, []byte(`{}`), was), store.Conflict)
	want(t, change("00000000-0000-4000-8000-000000000000", []byte(`{}`), was), store.NotFound)
}

func TestAnInterruptedChangeOfPoliciesIsCompletedByPressingAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	for range 5 {
		s.Slot(t, 2)
	}
	change := store.PolicyChange{TenantID: s.Tenant.ID, Overrides: s.tenantOverrides(func(p *store.Policies) { p.PartyMax = 2 }), Actor: shop.Staff, Most: 2}
	result, err := s.Store.SetPolicies(s.ctx(), change)
	if err != nil || result.Slots != 2 || result.Left != 3 || s.left() != 3 {
		t.Fatalf("%+v %v, left %d", result, err, s.left())
	}
	result, err = s.Store.CompletePolicies(s.ctx(), s.Tenant.ID, shop.Staff, 2)
	if err != nil || result.Slots != 2 || result.Left != 1 {
		t.Fatalf("%+v %v", result, err)
	}
	result, err = s.Store.SetPolicies(s.ctx(), change)
	if err != nil || result.Slots != 1 || result.Left != 0 || s.left() != 0 {
		t.Fatalf("%+v %v", result, err)
	}
	var events int
	s.must(s.Pool.QueryRow(s.ctx(), "SELECT count(*) FROM events WHERE kind = 'policy_changed'").Scan(&events))
	if events != 5 {
		t.Errorf("%d events for 5 slots", events)
	}
}

// Whatever statement of the press fails, pressing again ends with every slot changed, each once.
func TestAChangeOfPoliciesThatFailsAnywhereCanBePressedAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(p *store.Policies) { p.Fit = store.Strict })
	for range 2 {
		slot, booked := s.full(2)
		s.Join(t, slot, 2)
		s.Join(t, slot, 1)
		s.Cancel(t, booked[0])
	}
	failed := 0
	for k := 1; k < 200; k++ {
		change := store.PolicyChange{TenantID: s.Tenant.ID, Overrides: s.tenantOverrides(func(p *store.Policies) { p.Fit, p.PartyMax = store.FirstFit, k+1 }), Actor: shop.Staff}
		s.FailAt(k)
		_, err := s.Store.SetPolicies(s.ctx(), change)
		if !s.Failed() {
			break
		}
		if err == nil {
			t.Fatalf("a failure at statement %d was swallowed", k)
		}
		failed++
		if _, err := s.Store.SetPolicies(s.ctx(), change); err != nil {
			t.Fatalf("after a failure at statement %d: %v", k, err)
		}
		if n := s.left(); n != 0 {
			t.Fatalf("after a failure at statement %d: %d slots left", k, n)
		}
	}
	if failed < 8 {
		t.Errorf("failed only %d times", failed)
	}
}

// Of two people who change the policies at once, one wins everywhere.
func TestTwoChangesOfPoliciesAtOnceEndWithOne(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	for range 6 {
		s.Slot(t, 2)
	}
	for round := range 15 {
		var wg sync.WaitGroup
		errs := make([]error, 2)
		for i := range 2 {
			overrides := []byte(fmt.Sprintf(`{"fewLeft":%d}`, 1+i))
			wg.Go(func() {
				_, errs[i] = s.live.SetPolicies(context.WithoutCancel(s.ctx()), store.PolicyChange{TenantID: s.Tenant.ID, ServiceID: s.Service.ID, Overrides: overrides, Actor: shop.Staff})
			})
		}
		wg.Wait()
		if slices.ContainsFunc(errs, func(err error) bool { return err != nil && !errors.Is(err, store.Busy) }) {
			t.Fatal(errs)
		}
		if n := s.left(); n != 0 {
			t.Fatalf("round %d: %d slots have other policies than their service", round, n)
		}
	}
}

func TestSetupIsStoredWithThePolicies(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	before, err := s.Store.SetupOf(s.ctx(), s.Tenant.ID)
	s.must(err)
	if before.DoneAt != nil || before.CallRule != "" || !before.Services {
		t.Fatalf("%+v", before)
	}
	setup := store.Setup{Trade: "studio", CallRule: store.CallExtra, CallNote: "折り返します"}
	_, err = s.Store.SetPolicies(s.ctx(), store.PolicyChange{TenantID: s.Tenant.ID, Overrides: s.tenantOverrides(func(p *store.Policies) { p.PartyMax = 7 }), Setup: &setup, Actor: shop.Staff})
	s.must(err)
	after, err := s.Store.SetupOf(s.ctx(), s.Tenant.ID)
	s.must(err)
	if after.DoneAt == nil || !after.DoneAt.Equal(s.begin) || after.Trade != "studio" || after.CallRule != store.CallExtra || after.CallNote != "折り返します" {
		t.Fatalf("%+v", after)
	}
	if _, err := s.Store.SetupOf(s.ctx(), "00000000-0000-4000-8000-000000000000"); err != store.NotFound {
		t.Error(err)
	}
}

func TestContradictions(t *testing.T) {
	t.Parallel()
	if bad := store.DefaultPolicies().Contradictions(); len(bad) > 0 {
		t.Fatalf("the defaults contradict themselves: %v", bad)
	}
	none := 0
	d := func(d time.Duration) store.Duration { return store.Duration(d) }
	for _, c := range []struct {
		edit      func(*store.Policies)
		name, key string
	}{
		{func(p *store.Policies) { p.HoldGrace = d(19 * time.Second) }, "holdGrace", "policy.grace_too_short"},
		{func(p *store.Policies) { p.OfferGrace = d(time.Second) }, "offerGrace", "policy.grace_too_short"},
		{func(p *store.Policies) { p.HoldGrace = d(6 * time.Minute) }, "holdGrace", "policy.grace_longer"},
		{func(p *store.Policies) { p.LeastAnswer = d(time.Hour) }, "leastAnswer", "policy.least_longer"},
		{func(p *store.Policies) { p.BookingCloses = d(4 * time.Hour) }, "broadcastBefore", "policy.after_close"},
		{func(p *store.Policies) { p.BookingOpens = d(2 * time.Hour) }, "broadcastBefore", "policy.before_opening"},
		{func(p *store.Policies) { p.BookingOpens = d(2 * time.Hour) }, "reminderBefore", "policy.before_opening"},
		{func(p *store.Policies) { p.BookingOpens = 0 }, "bookingOpens", "policy.opens_after_close"},
		{func(p *store.Policies) { p.ReminderBefore = d(31 * 24 * time.Hour) }, "reminderBefore", "policy.too_long"},
		{func(p *store.Policies) { p.Quiet = &store.QuietHours{From: 60, Until: 60} }, "quiet", "policy.quiet"},
		{func(p *store.Policies) { p.PartyMax = 0 }, "partyMax", "policy.too_few"},
		{func(p *store.Policies) { p.PartyMax = 1001 }, "partyMax", "policy.too_many"},
		{func(p *store.Policies) { p.WaitlistMax = &none }, "waitlistMax", "policy.no_room_to_wait"},
		{func(p *store.Policies) { p.CancelBefore = d(-time.Second) }, "cancelBefore", "policy.negative"},
	} {
		p := store.DefaultPolicies()
		c.edit(&p)
		if got := p.Contradictions()[c.name]; got != c.key {
			t.Errorf("%s: %q, want %q", c.name, got, c.key)
		}
	}
}
