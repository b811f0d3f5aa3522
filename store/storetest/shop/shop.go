// Package shop gives tests a small business to act in: a tenant with a service
// and a resource on a database of its own, and short forms of the steps that
// most tests begin with. When a test ends, the invariants of package store are
// computed over its database, so each test that uses it also tests those.
package shop

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest"
)

// Secret is the server secret of all test shops.
var Secret = bytes.Repeat([]byte("secret"), 8)

// Shop is a tenant "shop" in Asia/Tokyo (ja) without quiet hours.
type Shop struct {
	*storetest.World
	Store    *store.Store
	Tenant   store.Tenant
	Service  store.Service
	Resource store.Resource
	// Start is a whole hour ten days after the shop was made: slots made by Slot begin then or later.
	Start time.Time

	people atomic.Int64
}

// New opens a shop for the test. Its tenant's policies are the defaults, changed by edit.
func New(t testing.TB, edit func(*store.Policies), opts ...storetest.Option) *Shop {
	t.Helper()
	w := storetest.New(t, opts...)
	s := &Shop{World: w, Store: Open(t, w, store.Watch{})}
	t.Cleanup(func() { s.Check(t) })
	now, err := s.Store.Now(t.Context())
	must(t, err)
	s.Start = now.Truncate(time.Hour).Add(240 * time.Hour)
	s.Tenant = s.AddTenant(t, "shop", edit)
	s.Service, s.Resource = s.AddService(t, s.Tenant, "class", nil), s.AddResource(t, s.Tenant, "studio-a")
	return s
}

// Open makes a store on the world's pool.
func Open(t testing.TB, w *storetest.World, watch store.Watch) *store.Store {
	t.Helper()
	st, err := store.New(w.Pool, Secret, watch)
	must(t, err)
	return st
}

// AddTenant makes one more tenant.
func (s *Shop) AddTenant(t testing.TB, slug string, edit func(*store.Policies)) store.Tenant {
	t.Helper()
	policies := store.DefaultPolicies()
	policies.Quiet = nil
	if edit != nil {
		edit(&policies)
	}
	tenant, err := s.Store.AddTenant(t.Context(), store.Tenant{
		Slug: slug, Name: "Studio " + slug, TimeZone: "Asia/Tokyo", Locale: "ja", Email: slug + "@example.com", Phone: "+81312345678", Overrides: marshal(t, policies),
	})
	must(t, err)
	return tenant
}

// AddService makes a service of one hour for ten; overrides are its policies in JSON, or nil.
func (s *Shop) AddService(t testing.TB, tenant store.Tenant, slug string, overrides []byte) store.Service {
	t.Helper()
	service, err := s.Store.AddService(t.Context(), store.Service{
		TenantID: tenant.ID, Slug: slug, Name: store.Text{"ja": "朝のヨガ", "en": "Morning yoga"}, Duration: time.Hour, Capacity: 10, Active: true, Overrides: overrides,
	})
	must(t, err)
	return service
}

// AddResource makes a resource.
func (s *Shop) AddResource(t testing.TB, tenant store.Tenant, slug string) store.Resource {
	t.Helper()
	resource, err := s.Store.AddResource(t.Context(), store.Resource{TenantID: tenant.ID, Slug: slug, Name: store.Text{"ja": "スタジオ" + slug, "en": "Studio " + slug}})
	must(t, err)
	return resource
}

// Slot makes a slot at the next free hour from Start on.
func (s *Shop) Slot(t testing.TB, capacity int) store.Slot {
	t.Helper()
	s.Start = s.Start.Add(time.Hour)
	return s.SlotAt(t, capacity, s.Start)
}

// SlotAt makes a slot of the shop's service and resource at a start.
func (s *Shop) SlotAt(t testing.TB, capacity int, start time.Time) store.Slot {
	t.Helper()
	slots, err := s.Store.AddSlots(t.Context(), s.Tenant.ID, []store.NewSlot{{ServiceID: s.Service.ID, ResourceID: s.Resource.ID, StartsAt: start, Capacity: capacity}})
	must(t, err)
	return slots[0]
}

// Read reads a slot again.
func (s *Shop) Read(t testing.TB, slot store.Slot) store.Slot {
	t.Helper()
	read, err := s.Store.Slot(context.WithoutCancel(t.Context()), slot.TenantID, slot.ID)
	must(t, err)
	return read
}

// Person gives the contact of somebody new.
func (s *Shop) Person() store.Contact {
	n := s.people.Add(1)
	return store.Contact{Name: fmt.Sprintf("客 %d", n), Kana: "キャク", Email: fmt.Sprintf("guest%d@example.com", n), Phone: "+819012345678", Locale: "ja"}
}

// Customer is the actor of presses by customers.
var Customer = store.Actor{Kind: store.Customer, Addr: "192.0.2.1", Agent: "test"}

// Staff is the actor of presses by staff.
var Staff = store.Actor{Kind: store.Staff, ID: "00000000-0000-4000-8000-000000000001"}

// HoldRequest asks for seats in a slot as its page shows it, by a new visitor.
func (s *Shop) HoldRequest(slot store.Slot, party int) store.HoldRequest {
	n := s.people.Add(1)
	return store.HoldRequest{
		TenantID: slot.TenantID, Slots: []store.HoldSlot{{ID: slot.ID, TermsVersion: slot.TermsVersion}}, PartySize: party,
		Owner: fmt.Sprintf("visitor-%d", n), Key: fmt.Sprintf("key-%d", n), Source: store.SourceWeb, Locale: "ja", Actor: Customer,
	}
}

// Hold holds seats for a new visitor.
func (s *Shop) Hold(t testing.TB, slot store.Slot, party int) store.Reservation {
	t.Helper()
	held, err := s.Store.Hold(t.Context(), s.HoldRequest(slot, party))
	must(t, err)
	return held[0]
}

// ConfirmRequest confirms a hold for a new person.
func (s *Shop) ConfirmRequest(r store.Reservation) store.ConfirmRequest {
	return store.ConfirmRequest{TenantID: r.TenantID, ID: r.ID, Owner: r.Owner, TermsVersion: r.TermsVersion, Contact: s.Person(), Actor: Customer}
}

// Book makes a booking of a new person by hold and confirm.
func (s *Shop) Book(t testing.TB, slot store.Slot, party int) store.Reservation {
	t.Helper()
	r, err := s.Store.Confirm(t.Context(), s.ConfirmRequest(s.Hold(t, slot, party)))
	must(t, err)
	return r
}

// JoinRequest puts a new person's party on the waitlist.
func (s *Shop) JoinRequest(slot store.Slot, party int) store.JoinRequest {
	return store.JoinRequest{
		TenantID: slot.TenantID, SlotID: slot.ID, PartySize: party, Contact: s.Person(), Key: fmt.Sprintf("join-%d", s.people.Add(1)), Source: store.SourceWeb, Actor: Customer,
	}
}

// Join makes a new person's party wait.
func (s *Shop) Join(t testing.TB, slot store.Slot, party int) store.Entry {
	t.Helper()
	e, err := s.Store.Join(t.Context(), s.JoinRequest(slot, party))
	must(t, err)
	return e
}

// Cancel cancels a booking as its customer.
func (s *Shop) Cancel(t testing.TB, r store.Reservation) store.Change {
	t.Helper()
	change, err := s.Store.Cancel(t.Context(), store.CancelRequest{TenantID: r.TenantID, IDs: []string{r.ID}, Actor: Customer})
	must(t, err)
	return change
}

// Entry reads an entry again.
func (s *Shop) Entry(t testing.TB, e store.Entry) store.Entry {
	t.Helper()
	read, err := s.Store.Entry(t.Context(), e.TenantID, e.ID)
	must(t, err)
	return read
}

// Reservation reads a reservation again.
func (s *Shop) Reservation(t testing.TB, r store.Reservation) store.Reservation {
	t.Helper()
	read, err := s.Store.Reservation(t.Context(), r.TenantID, r.ID)
	must(t, err)
	return read
}

// Exec runs SQL as an operator at the psql prompt would.
func (s *Shop) Exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	_, err := s.Pool.Exec(t.Context(), sql, args...)
	must(t, err)
}

// Check computes the invariants and fails the test for each that does not hold.
func (s *Shop) Check(t testing.TB) {
	t.Helper()
	report, err := s.Store.Check(context.WithoutCancel(t.Context()), "")
	must(t, err)
	for _, invariant := range report.Invariants {
		if invariant.Violations > 0 {
			t.Errorf("%s is violated %d times: %v", invariant.ID, invariant.Violations, invariant.Examples)
		}
	}
}

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	must(t, err)
	return b
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
