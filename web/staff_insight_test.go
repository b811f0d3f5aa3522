package web

import (
	"encoding/csv"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
	"holdfast/views"
)

// ahead is the period of the slots that tests make.
func (s *site) ahead() views.StaffInsightFilter {
	loc := s.Tenant.Location()
	return views.StaffInsightFilter{From: s.Start.Add(-48 * time.Hour).In(loc).Format(time.DateOnly), To: s.Start.Add(480 * time.Hour).In(loc).Format(time.DateOnly)}
}

func TestTheNumbersOfAPeriod(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	slot := s.Slot(t, 4)
	s.Book(t, slot, 1)
	gone := s.Book(t, slot, 3)
	e := s.Join(t, slot, 2)
	s.Cancel(t, gone)
	if _, err := s.Store.Accept(t.Context(), store.AcceptRequest{TenantID: e.TenantID, ID: e.ID, TermsVersion: 1, Actor: shop.Customer}); err != nil {
		t.Fatal(err)
	}
	p := b.get(views.StaffInsightOfURL("shop", s.ahead())).is(http.StatusOK)
	p.says("75%").says("予約された席 3 ÷ 定員 4。").says("案内を受けて予約した 1組 ÷ 返事が決まった 1組（予約・期限切れ・辞退）。").says("再び予約された 2席 ÷ 結果の出た 2席")
	for _, key := range insightTables {
		p.need("id", key)
	}
	// The map is an image with words of its own; a bar stands beside its label and its number.
	if maps, bars := p.all("role", "img"), p.all("class", "chart-line"); len(maps) < 1 || len(bars) < 5 {
		t.Errorf("%d maps, %d bars", len(maps), len(bars))
	}
	for _, svg := range p.all("role", "img") {
		for id := range strings.FieldsSeq(attr(svg, "aria-labelledby")) {
			p.need("id", id)
		}
	}
	// The usual period has no slot.
	b.get(views.StaffInsightURL("shop")).is(http.StatusOK).need("data-state", "empty")
	// Only of another service: none.
	other := s.AddService(t, s.Tenant, "other-class", nil)
	f := s.ahead()
	f.Service = other.Slug
	b.get(views.StaffInsightOfURL("shop", f)).is(http.StatusOK).need("data-state", "empty")
}

func TestAPeriodThatMakesNoSense(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	for _, c := range []struct{ query, field string }{
		{"from=nonsense", "from"},
		{"to=2026-02-30", "to"},
		{"from=2026-10-08&to=2026-10-07", "to"},
		{"from=2020-01-01&to=2026-10-07", "to"},
		{"from=2025-10-07&to=2026-10-08", "to"},
		{"from=0000-00-00", "from"},
		{"from=%ff", "from"},
	} {
		b.get(views.StaffInsightURL("shop")+"?"+c.query).is(http.StatusUnprocessableEntity).need("data-error", c.field)
		b.get(views.StaffInsightFileURL("shop", "freed", views.StaffInsightFilter{}) + "?" + c.query).is(http.StatusBadRequest)
	}
	b.get(views.StaffInsightURL("shop") + "?from=2025-10-08&to=2026-10-08").is(http.StatusOK)
	b.get(views.StaffInsightFileURL("shop", "nothing", views.StaffInsightFilter{})).is(http.StatusNotFound)
}

// A year with a clock change has its days by the wall.
func TestThePeriodIsByTheVenuesClock(t *testing.T) {
	t.Parallel()
	ny, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	q := decodeInsight(url.Values{"from": {"2026-11-01"}, "to": {"2026-11-01"}}, names{}, time.Date(2026, 11, 20, 0, 0, 0, 0, ny))
	of := q.of(store.Tenant{TimeZone: "America/New_York"})
	if of.To.Sub(of.From) != 25*time.Hour || len(q.errs) != 0 {
		t.Errorf("the day of 25 hours has %v, %v", of.To.Sub(of.From), q.errs)
	}
}

func TestTheTablesAsFiles(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	slot := s.Slot(t, 4)
	gone := s.Book(t, slot, 3)
	s.Cancel(t, gone)
	s.Book(t, slot, 1)
	page := b.get(views.StaffInsightOfURL("shop", s.ahead())).is(http.StatusOK)
	for _, key := range insightTables {
		file := views.StaffInsightFileURL("shop", key, s.ahead())
		if !page.has("href", file) {
			t.Errorf("no link to %s", key)
		}
		p := b.get(file).is(http.StatusOK)
		if kind := p.header.Get("Content-Type"); !strings.HasPrefix(kind, "text/csv") || !strings.HasPrefix(p.body, "\ufeff") {
			t.Errorf("%s: %q, begins %q", key, kind, p.body[:min(len(p.body), 8)])
		}
		rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(p.body, "\ufeff"))).ReadAll()
		if err != nil || len(rows) < 2 {
			t.Errorf("%s: %v %v", key, err, rows)
			continue
		}
		for _, row := range rows {
			for _, cell := range row {
				if strings.IndexAny(cell, "=+-@") == 0 {
					t.Errorf("%s: a cell begins like a formula: %q", key, cell)
				}
			}
		}
	}
	if p := b.get(views.StaffInsightFileURL("shop", "freed", s.ahead())); !strings.Contains(p.body, ",1,33.3") {
		t.Errorf("freed: %s", p.body)
	}
}

func TestNumbersAreNotForTheCounter(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	b.get(views.StaffInsightURL("shop")).is(http.StatusForbidden)
	b.get(views.StaffInsightFileURL("shop", "freed", views.StaffInsightFilter{})).is(http.StatusForbidden)
	if p := b.get(views.StaffTodayURL("shop")); strings.Contains(p.body, views.StaffInsightURL("shop")) || !strings.Contains(p.body, views.StaffPeopleURL("shop")) {
		t.Error("the menu of the counter is not what it may open")
	}
}

func TestInsightKeepsToItsBudgetOfStatements(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	for range 10 {
		slot := s.Slot(t, 2)
		s.Cancel(t, s.Book(t, slot, 2))
		s.Book(t, slot, 1)
	}
	var got page
	if n := s.Count(func() { got = b.get(views.StaffInsightOfURL("shop", s.ahead())) }); n > 12 || got.status != http.StatusOK {
		t.Errorf("%d statements (status %d)", n, got.status)
	}
}
