package web

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"holdfast/store"
	"holdfast/store/storetest/shop"
	"holdfast/views"
)

var update = flag.Bool("update", false, "accept what the program does as what it should do")

type route struct{ method, pattern string }

// routesOf lists what is answered, in order.
func (s *site) routesOf(t testing.TB) []route {
	t.Helper()
	var all []route
	err := chi.Walk(s.web.Handler().(chi.Routes), func(method, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		if len(pattern) > 1 {
			pattern = strings.TrimSuffix(pattern, "/")
		}
		all = append(all, route{method, pattern})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(all, func(a, b route) int { return strings.Compare(a.pattern+" "+a.method, b.pattern+" "+b.method) })
	return all
}

func TestTheRoutesAreThese(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	var b strings.Builder
	for _, r := range s.routesOf(t) {
		fmt.Fprintf(&b, "%-6s %s\n", r.method, r.pattern)
	}
	const golden = "testdata/routes.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("the routes have changed; if that is right, run with -update:\n%s", b.String())
	}
}

// life is a shop with something in every state, and the path of each route that
// customers have, made of what there is.
type life struct {
	slot, full             store.Slot
	held, booked, over     store.Reservation
	waiting, offered, left store.Entry
}

func live(t testing.TB, s *shop.Shop) life {
	t.Helper()
	l := life{slot: s.Slot(t, 4), full: s.Slot(t, 1)}
	l.held, l.booked = s.Hold(t, l.slot, 1), s.Book(t, l.slot, 1)
	asked, err := s.Store.CorrectContact(t.Context(), store.ContactRequest{TenantID: s.Tenant.ID, ID: l.booked.ID, Contact: s.Person(), Actor: shop.Customer})
	if err != nil {
		t.Fatal(err)
	}
	l.booked = asked
	first := s.Book(t, l.full, 1)
	l.offered, l.waiting, l.left = s.Join(t, l.full, 1), s.Join(t, l.full, 1), s.Join(t, l.full, 1)
	if _, err := s.Store.Withdraw(t.Context(), store.Press{TenantID: l.left.TenantID, ID: l.left.ID, Actor: shop.Customer}); err != nil {
		t.Fatal(err)
	}
	s.Cancel(t, first)
	l.over, l.offered = s.Reservation(t, first), s.Entry(t, l.offered)
	return l
}

// paths are the addresses that a pattern stands for in this life.
func (l life) paths(s *store.Store, tenant, pattern string) []string {
	var out []string
	add := func(values ...string) {
		for _, v := range values {
			p := strings.Replace(pattern, "{tenant}", tenant, 1)
			p = strings.Replace(p, "{slot}", v, 1)
			out = append(out, strings.Replace(p, "{token}", v, 1))
		}
	}
	switch {
	case strings.Contains(pattern, "{slot}"):
		add(l.slot.ID, l.full.ID)
	case strings.Contains(pattern, "/reservations/{token}"):
		add(s.ReservationToken(l.held), s.ReservationToken(l.booked), s.ReservationToken(l.over))
	case strings.Contains(pattern, "/email-changes/{token}"):
		add(s.EmailToken(l.booked))
	case strings.Contains(pattern, "/waitlist/{token}"):
		add(s.EntryToken(l.waiting), s.EntryToken(l.offered), s.EntryToken(l.left))
	case strings.Contains(pattern, "/offers/{token}"):
		add(s.OfferToken(l.offered))
	case strings.Contains(pattern, "/calendar/{token}"): // of nobody
		add(strings.Repeat("b", 32) + ".ics")
	default:
		add("")
	}
	return out
}

// fields are a form with which each press of a customer would be tried.
func (l life) fields() url.Values {
	return url.Values{
		views.FieldPartySize: {"1"}, views.FieldTermsVersion: {fmt.Sprint(l.slot.TermsVersion)}, views.FieldName: {"山田 花子"}, views.FieldEmail: {"hanako@example.com"},
		views.FieldTargetSlot: {l.full.ID}, views.FieldLang: {"en"},
	}
}

func ofCustomers(r route) bool { return strings.HasPrefix(r.pattern, "/{tenant}") }

// dump is everything that is stored, sessions apart.
func dump(t testing.TB, s *shop.Shop) string {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	rows, err := s.Pool.Query(ctx, "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN ('sessions', 'rate_limits') ORDER BY 1")
	if err != nil {
		t.Fatal(err)
	}
	var tables []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		tables = append(tables, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range tables {
		var text string
		if err := s.Pool.QueryRow(ctx, `SELECT coalesce(string_agg(x::text, E'\n' ORDER BY x::text), '') FROM "`+name+`" x`).Scan(&text); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&all, "%s:\n%s\n", name, text)
	}
	return all.String()
}

func TestGETAndHEADChangeNothing(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	l := live(t, s.Shop)
	before := dump(t, s.Shop)
	known := s.browser(t)
	known.get("/shop")
	for _, r := range s.routesOf(t) {
		if r.method != http.MethodGet || !ofCustomers(r) {
			continue
		}
		for _, path := range l.paths(s.Store, "shop", r.pattern) {
			for _, b := range []*browser{known, s.browser(t)} {
				b.header.Set("User-Agent", "LinkScanner/1.0")
				for _, tail := range []string{"", "?utm=x"} {
					got := b.get(path + tail)
					if got.status >= 500 {
						t.Errorf("GET %s: %d", r.pattern, got.status)
					}
					if p := b.do(http.MethodHead, path+tail, "", ""); p.status != got.status || p.body != "" {
						t.Errorf("HEAD %s: %d, %d bytes; GET: %d", r.pattern, p.status, len(p.body), got.status)
					}
				}
			}
		}
	}
	if after := dump(t, s.Shop); after != before {
		t.Errorf("something has changed:\n%s\nwas:\n%s", after, before)
	}
	var sessions int
	if err := s.Pool.QueryRow(t.Context(), "SELECT count(*) FROM sessions").Scan(&sessions); err != nil || sessions != 0 {
		t.Errorf("looking made %d sessions, %v", sessions, err)
	}
}

func TestEveryPressFromElsewhereIsRefused(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	l := live(t, s.Shop)
	before := dump(t, s.Shop)
	for _, r := range s.routesOf(t) {
		// The API takes a key and no cookie: a foreign page has nothing to send along.
		if r.method == http.MethodGet || strings.HasPrefix(r.pattern, "/api/") {
			continue
		}
		path := l.paths(s.Store, "shop", r.pattern)[0]
		for name, forged := range map[string]http.Header{
			"another site":     {"Origin": {"https://evil.example"}, "Sec-Fetch-Site": {"cross-site"}},
			"a sister site":    {"Origin": {"http://evil.booking.example"}, "Sec-Fetch-Site": {"same-site"}},
			"an older browser": {"Origin": {"https://evil.example"}},
			"a hidden frame":   {"Origin": {"null"}},
		} {
			b := s.browser(t)
			b.header = forged
			p := b.do(r.method, path, "application/x-www-form-urlencoded", l.fields().Encode())
			if p.status != http.StatusForbidden || !p.has("data-state", "origin") {
				t.Errorf("%s %s from %s: %d", r.method, r.pattern, name, p.status)
			}
		}
	}
	if after := dump(t, s.Shop); after != before {
		t.Error("a refused press has changed something")
	}
	// The same press from our own pages, and from a proxy that rewrites Host, is done.
	for _, own := range []http.Header{
		{"Origin": {s.addr}}, {"Origin": {"http://booking.example"}}, {"Sec-Fetch-Site": {"same-origin"}, "Origin": {"https://old.example"}}, {},
	} {
		b := s.browser(t)
		b.header = own
		b.post("/shop/language", url.Values{views.FieldLang: {"en"}}).is(http.StatusSeeOther)
	}
}

var changing = regexp.MustCompile(`nonce="[^"]*"`)

func TestWhatIsAnotherTenantsIsAsAbsentAsWhatIsNot(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	l := live(t, s.Shop)
	s.AddTenant(t, "other", nil)
	before := dump(t, s.Shop)
	b := s.browser(t)
	tried := 0
	for _, r := range s.routesOf(t) {
		if !ofCustomers(r) || !strings.Contains(r.pattern, "{slot}") && !strings.Contains(r.pattern, "{token}") {
			continue
		}
		send := func(path string) (int, string) {
			p := b.do(r.method, path, "application/x-www-form-urlencoded", l.fields().Encode())
			return p.status, changing.ReplaceAllString(p.body, "")
		}
		absent := strings.NewReplacer("{tenant}", "other", "{slot}", "00000000-0000-4000-8000-000000000000", "{token}", strings.Repeat("a", 32)).Replace(r.pattern)
		status, body := send(absent)
		if status != http.StatusNotFound {
			t.Errorf("%s %s of nothing: %d", r.method, r.pattern, status)
		}
		malformed := []string{}
		for _, path := range l.paths(s.Store, "other", r.pattern) {
			malformed = append(malformed, path)
			segments := strings.Split(path, "/")
			id := segments[3]
			for _, wrong := range []string{id[1:], strings.ToUpper(id), id + "a", "%00", "%ff", "..%2f..", "'", strings.Repeat("x", 3000)} {
				changed := slices.Clone(segments)
				changed[3] = wrong
				malformed = append(malformed, strings.Join(changed, "/"))
			}
		}
		for _, path := range malformed {
			if got, text := send(path); got != http.StatusNotFound || text != body {
				t.Errorf("%s %s: %d, or another page than for what is not there:\n%s", r.method, path, got, text)
			}
			tried++
		}
	}
	if tried < 100 {
		t.Errorf("tried only %d", tried)
	}
	// A token opens one thing only: not what another kind of link opens.
	entry := s.Store.EntryToken(l.offered)
	for _, path := range []string{"/shop/reservations/" + entry, "/shop/offers/" + entry, "/shop/waitlist/" + s.Store.OfferToken(l.offered)} {
		b.get(path).is(http.StatusNotFound)
	}
	if after := dump(t, s.Shop); after != before {
		t.Error("a press on what is another tenant's has changed something")
	}
}

func TestWhoKnowsNoVenueLearnsNothing(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := s.browser(t)
	first := b.get("/nobody").is(http.StatusNotFound)
	for _, path := range []string{
		"/nobody/slots/00000000-0000-4000-8000-000000000000", "/Shop", "/%00", "/shop%00", "/" + strings.Repeat("a", 200), "/favicon.ico", "/nobody/reservations/x/calendar.ics",
	} {
		if p := b.get(path).is(http.StatusNotFound); changing.ReplaceAllString(p.body, "") != changing.ReplaceAllString(first.body, "") {
			t.Errorf("%s gives another page:\n%s", path, p.text())
		}
	}
	b.get("/shop/nothing/here").is(http.StatusNotFound)
	b.post("/nobody/language", url.Values{views.FieldLang: {"en"}}).is(http.StatusNotFound)
	p := b.do(http.MethodDelete, "/shop/my-reservations", "", "").is(http.StatusMethodNotAllowed)
	if got := p.header.Get("Allow"); got != "GET, HEAD, POST" {
		t.Errorf("Allow: %q", got)
	}
	p = b.post("/shop", nil).is(http.StatusMethodNotAllowed)
	if got := p.header.Get("Allow"); got != "GET, HEAD" {
		t.Errorf("Allow: %q", got)
	}
}

// A form that came back leaves the address of its press in the address bar;
// opened there once more, or in a tab that the phone restores, it is a GET.
func TestTheAddressOfAPressLeadsToItsPage(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	l := live(t, s.Shop)
	b := s.browser(t)
	pages := map[string]bool{}
	for _, r := range s.routesOf(t) {
		pages[r.method+r.pattern] = true
	}
	tried := 0
	for _, r := range s.routesOf(t) {
		if r.method != http.MethodPost || !ofCustomers(r) || pages[http.MethodGet+r.pattern] {
			continue
		}
		for _, path := range l.paths(s.Store, "shop", r.pattern) {
			tried++
			page := path[:strings.LastIndexByte(path, '/')]
			if p := b.get(path); p.status != http.StatusSeeOther || p.location() != page {
				t.Errorf("GET %s: %d %q", r.pattern, p.status, p.location())
			}
			if p := b.do(http.MethodPut, path, "", ""); p.status != http.StatusMethodNotAllowed || p.header.Get("Allow") != http.MethodPost {
				t.Errorf("PUT %s: %d, allowed %q", r.pattern, p.status, p.header.Get("Allow"))
			}
		}
	}
	if tried == 0 {
		t.Fatal("there is no such address")
	}
}

// The most statements that each page may send, whatever is stored.
func TestPagesKeepToTheirBudgetOfStatements(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	for range 30 {
		s.Book(t, s.Slot(t, 2), 1)
	}
	l := live(t, s.Shop)
	b := s.browser(t)
	b.press(b.get(views.SlotURL("shop", l.slot.ID)), "/hold", nil).is(http.StatusSeeOther)
	for _, c := range []struct {
		path string
		most int
	}{
		// Tenant, services, resources, closed days, slots, and where the page is to
		// find a day by itself or the day has nothing, the first day that has.
		{"/shop", 7},
		{views.VenueFilterURL("shop", views.VenueFilter{Date: s.Start.Format("2006-01-02")}), 7},
		{views.VenueFilterURL("shop", views.VenueFilter{Month: s.Start.Format("2006-01")}), 7},
		{views.VenueEmbedURL("shop"), 7},
		{views.PosterURL("shop"), 2},
		{views.SlotURL("shop", l.slot.ID), 6},
		{views.SlotURL("shop", l.full.ID), 7},
		{views.ReservationURL("shop", s.Store.ReservationToken(l.held)), 7},
		{views.ReservationURL("shop", s.Store.ReservationToken(l.booked)), 7}, // whether messages come by LINE
		{views.ReservationURL("shop", s.Store.ReservationToken(l.over)), 7},
		{views.ReservationMoveURL("shop", s.Store.ReservationToken(l.booked)), 7},
		{views.ReservationCalendarURL("shop", s.Store.ReservationToken(l.booked)), 6},
		{views.WaitlistURL("shop", s.Store.EntryToken(l.waiting)), 8}, // what happened to the place, and whether messages come by LINE
		{views.WaitlistURL("shop", s.Store.EntryToken(l.left)), 7},
		{views.OfferURL("shop", s.Store.OfferToken(l.offered)), 6},
		{"/shop/my-reservations", 2},
		{"/healthz", 0},
	} {
		var got page
		if n := s.Count(func() { got = b.get(c.path) }); n > c.most || got.status != http.StatusOK {
			t.Errorf("%s: %d statements, at most %d (status %d)", c.path, n, c.most, got.status)
		}
	}
}
