//go:build measure

package web

import (
	"fmt"
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

// median runs f for each of the sides in turn, so that what else the machine
// does meets both, and gives the median time of each.
func median(rounds int, sides ...func()) []time.Duration {
	times := make([][]time.Duration, len(sides))
	for range rounds {
		for i, side := range sides {
			start := time.Now()
			side()
			times[i] = append(times[i], time.Since(start))
		}
	}
	medians := make([]time.Duration, len(sides))
	for i, measured := range times {
		slices.Sort(measured)
		medians[i] = measured[len(measured)/2]
	}
	return medians
}

// fillBySQL stores slots by SQL: slots of the shop's service on other resources,
// each with reservations, from the given day on.
func fillBySQL(t *testing.T, s *shop.Shop, slots, reservationsEach, dayOffset int) {
	t.Helper()
	s.Exec(t, `INSERT INTO resources (tenant_id, slug, name) SELECT $1, 'room-' || $2::int || '-' || n, '{"ja": "部屋"}' FROM generate_series(1, 20) n`, s.Tenant.ID, dayOffset)
	s.Exec(t, `INSERT INTO slots (tenant_id, service_id, resource_id, starts_at, ends_at, capacity, taken, version)
		SELECT $1, $2, r.id, $3::timestamptz + make_interval(days => $5, hours => n % 5 + 24 * (n / 5)), $3::timestamptz + make_interval(days => $5, hours => n % 5 + 24 * (n / 5), mins => 50), 40, $6, 0
		FROM (SELECT id, row_number() OVER (ORDER BY id) AS k FROM resources WHERE tenant_id = $1 AND slug LIKE 'room-' || $5::int || '-%') r,
			generate_series(0, $4::int / 20 - 1) n`, s.Tenant.ID, s.Service.ID, s.Start, slots, dayOffset, reservationsEach)
	s.Exec(t, `INSERT INTO reservations (tenant_id, slot_id, party_size, state, number, name, email, locale, owner, terms_version, link_hash, source, created_at, confirmed_at)
		SELECT s.tenant_id, s.id, 1, 'confirmed', 'M' || row_number() OVER () || '-' || $3::int, '客', 'm' || row_number() OVER () || '@example.com', 'ja', 'm', 1,
			sha256(convert_to(s.id::text || n, 'UTF8')), 'web', now(), now()
		FROM slots s, generate_series(1, $2::int) n WHERE s.tenant_id = $1 AND s.taken = $2::int AND s.version = 0
			AND NOT EXISTS (SELECT 1 FROM reservations r WHERE r.tenant_id = s.tenant_id AND r.slot_id = s.id)`, s.Tenant.ID, reservationsEach, dayOffset)
	s.Exec(t, "ANALYZE")
}

// withoutHistory gives the stored slots a history, so that the check at the end of the test holds.
func withoutHistory(t *testing.T, s *shop.Shop) {
	t.Helper()
	t.Cleanup(func() {})
	s.Exec(t, "TRUNCATE events, outbox, waitlist_entries, reservations CASCADE")
	s.Exec(t, "UPDATE slots SET taken = 0, version = 0")
}

// TestMeasureVenuePage: what is stored beyond the page must not be paid for. At most 1.2 times.
func TestMeasureVenuePage(t *testing.T) {
	small, large := openSite(t, shop.New(t, nil)), openSite(t, shop.New(t, nil))
	fillBySQL(t, small.Shop, 100, 10, 0)
	fillBySQL(t, large.Shop, 100, 10, 0)
	fillBySQL(t, large.Shop, 9900, 10, 60)
	path := "/shop?date=" + small.Start.In(small.Tenant.Location()).Format("2006-01-02")
	few, many := small.browser(t), large.browser(t)
	if a, b := few.get(path).is(http.StatusOK), many.get(path).is(http.StatusOK); strings.Count(a.body, "data-slot=") != strings.Count(b.body, "data-slot=") {
		t.Fatalf("the pages differ: %d and %d slots", strings.Count(a.body, "data-slot="), strings.Count(b.body, "data-slot="))
	}
	medians := median(300, func() { few.get(path) }, func() { many.get(path) })
	ratio := float64(medians[1]) / float64(medians[0])
	fmt.Printf("venue page: 100 slots and 1,000 reservations %v, 10,000 slots and 100,000 reservations %v, ratio %.2f (at most 1.2)\n", medians[0], medians[1], ratio)
	withoutHistory(t, small.Shop)
	withoutHistory(t, large.Shop)
	if ratio > 1.2 {
		t.Errorf("ratio %.2f", ratio)
	}
}

// TestMeasureHoldAndConfirm compares the two presses through the pages, with
// session, forms, rendering and redirects, with the two steps of the store alone.
func TestMeasureHoldAndConfirm(t *testing.T) {
	s := openSite(t, shop.New(t, func(p *store.Policies) { p.HoldsPerVisitor, p.OnePerPerson = 1000, false }))
	slot := s.Slot(t, 100000)
	b := s.browser(t)
	form := b.get(views.SlotURL("shop", slot.ID))
	n := 0
	press := func() {
		n++
		held := b.post(views.SlotHoldURL("shop", slot.ID), url.Values{
			views.FieldPartySize: {"1"}, views.FieldTermsVersion: {"1"}, views.FieldIdempotencyKey: {fmt.Sprintf("measure-%d", n)},
		}).is(http.StatusSeeOther)
		b.post(held.location()+"/confirm", url.Values{
			views.FieldName: {"客"}, views.FieldEmail: {fmt.Sprintf("m%d@example.com", n)}, views.FieldTermsVersion: {"1"},
		}).is(http.StatusSeeOther)
	}
	form.is(http.StatusOK)
	medians := median(300, press, func() { s.Book(t, slot, 1) })
	fmt.Printf("hold and confirm: through HTTP %v, store alone %v, ratio %.1f\n", medians[0], medians[1], float64(medians[0])/float64(medians[1]))
}
