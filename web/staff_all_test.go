package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
	"holdfast/views"
)

// What holds on every route of staff, whoever made it. The forms are those of
// TestNoFormIsBrokenByWhatIsSent, so that a new route is in these tests too.

// staffForms are the presses at a venue, by route, without those on a slot,
// which TestNoStalePressOnASlotWritesAnything goes through.
func staffForms() map[string]badForm {
	out := map[string]badForm{}
	for pattern, form := range forms {
		route, _, _ := strings.Cut(pattern, "#")
		if strings.HasPrefix(route, "/staff/{tenant}/") {
			out[pattern] = form
		}
	}
	return out
}

// unversioned are the presses that show no state which somebody else could have
// changed: they add, are judged by their own row alone, or are the same whoever
// presses them first.
var unversioned = regexp.MustCompile(`^/staff/\{tenant\}/(` + strings.Join([]string{
	`search`, `checkin(/.*)?`, `people(/.*)?`, // looking, attendance, links and erasing of one person
	`messages/.*`,                                                                               // the row of a message
	`services/new`, `resources/new`, `closed-days(/.*)?`, `policies/complete`, `schedules/slot`, // adding
	`schedules/\{schedule\}/(run|continue)`, // what the schedule says, at most once
	`services/\{service\}/order`,            // it names the place that it saw: see TestTheOrderOfServicesIsTheVenuePagesOrder
	`calendar-feed(/.*)?`,                   // the presser's own address
	`proof/race`,                            // asking for a run: one at a time, whoever asks
	`team/.*`, `api-keys(/.*)?`, `line/(check|remove)`, `webhooks(/.*)?`, `notices(/.*)?`,
	`import(/.*)?`, // each line is judged anew, and made once
}, "|") + `)$`)

// A stale form writes nothing, on every route that carries a version or the
// print of a preview.
func TestNoStaleFormOfStaffWritesAnything(t *testing.T) {
	t.Parallel()
	tried := 0
	for pattern, form := range staffForms() {
		if strings.HasPrefix(pattern, "/staff/{tenant}/slots/{slot}") || unversioned.MatchString(pattern) {
			continue
		}
		tried++
		t.Run(strings.TrimPrefix(pattern, "/staff/{tenant}/"), func(t *testing.T) {
			t.Parallel()
			s := openSite(t, shop.New(t, nil))
			s.hire(t, s.Tenant, "desk@example.com", store.RoleOwner)
			b := s.browser(t)
			b.follow(b.post("/staff/sign-in", signIn("desk@example.com", staffPassword)))
			stale := 0
			for _, field := range []string{views.FieldVersion, views.FieldSchedulePlan} {
				path, values := form.fresh(t, s)
				was := values.Get(field)
				if was == "" {
					continue
				}
				stale++
				old := "0"
				if n, err := strconv.Atoi(was); err == nil {
					old = strconv.Itoa(n - 1)
				} else if len(was) > 4 {
					old = strings.Repeat("0", len(was)) // a print
				}
				before := dump(t, s.Shop)
				p := b.post(path, with(clone(values), field, old))
				if p.status != http.StatusConflict {
					t.Errorf("a stale %s: %d, want %d\n%s", field, p.status, http.StatusConflict, p.text())
				}
				if !p.has("role", "alert") && !p.has("data-state", "changed") {
					t.Errorf("a stale %s: the page does not say so:\n%s", field, p.text())
				}
				if dump(t, s.Shop) != before {
					t.Errorf("a stale %s: something is written", field)
				}
				// And the press itself is a good one: it is the version that was wrong.
				nothing := strings.HasSuffix(pattern, "/picture") // its form here takes away a picture that is not there
				if p := b.post(path, values); p.status != http.StatusSeeOther && p.status != http.StatusOK || dump(t, s.Shop) == before && !nothing {
					t.Errorf("the fresh press does nothing: %d\n%s", p.status, p.text())
				}
			}
			if stale == 0 {
				t.Error("the form carries neither a version nor the print of a preview, and is not among those that need none")
			}
		})
	}
	if tried < 15 {
		t.Errorf("tried only %d", tried)
	}
}

// ofTenant is everything that is stored of one tenant.
func ofTenant(t testing.TB, s *shop.Shop, tenant store.Tenant) string {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	rows, err := s.Pool.Query(ctx, `SELECT c.table_name FROM information_schema.columns c JOIN information_schema.tables b USING (table_schema, table_name)
		WHERE c.table_schema = 'public' AND c.column_name = 'tenant_id' AND b.table_type = 'BASE TABLE' ORDER BY 1`)
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
	if err := rows.Err(); err != nil || len(tables) < 10 {
		t.Fatal(tables, err)
	}
	var all strings.Builder
	for _, name := range tables {
		var text string
		if err := s.Pool.QueryRow(ctx, `SELECT coalesce(string_agg(x::text, E'\n' ORDER BY x::text), '') FROM "`+name+`" x WHERE tenant_id = $1`, tenant.ID).Scan(&text); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&all, "%s:\n%s\n", name, text)
	}
	var own string
	if err := s.Pool.QueryRow(ctx, "SELECT x::text FROM tenants x WHERE id = $1", tenant.ID).Scan(&own); err != nil {
		t.Fatal(err)
	}
	return all.String() + own
}

// ofNoVenue are the parts of a path that are the same at every venue.
var ofNoVenue = regexp.MustCompile(`\{(kind|lang|table)\}`)

// The owner of another venue presses each form with all that it needs, ids in
// its path and in its fields being those of this one: what is not theirs is
// absent, nothing of this venue changes, and nothing of theirs points here.
func TestNothingOfAnotherVenueCanBePressed(t *testing.T) {
	t.Parallel()
	looks := map[string]bool{} // the routes that can be looked at
	for _, r := range openSite(t, shop.New(t, nil)).routesOf(t) {
		looks[r.pattern] = looks[r.pattern] || r.method == http.MethodGet
	}
	for pattern, form := range staffForms() {
		t.Run(strings.TrimPrefix(pattern, "/staff/{tenant}/"), func(t *testing.T) {
			t.Parallel()
			s := openSite(t, shop.New(t, nil))
			s.hire(t, s.Tenant, "desk@example.com", store.RoleOwner)
			other := s.AddTenant(t, "other", nil)
			s.AddService(t, other, "class", nil)
			s.AddResource(t, other, "studio-a")
			s.hire(t, other, "stranger@example.com", store.RoleOwner)
			stranger := s.browser(t)
			stranger.follow(stranger.post("/staff/sign-in", signIn("stranger@example.com", staffPassword)))
			path, values := form.fresh(t, s)
			theirs := strings.Replace(path, "/staff/shop/", "/staff/other/", 1)
			if theirs == path {
				t.Fatalf("%s is at no venue", path)
			}
			before := ofTenant(t, s.Shop, s.Tenant)
			route, _, _ := strings.Cut(pattern, "#")
			named := placeholder.MatchString(ofNoVenue.ReplaceAllString(strings.TrimPrefix(route, "/staff/{tenant}/"), ""))
			for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodHead} {
				body, kind := "", ""
				if method == http.MethodPost {
					body, kind = values.Encode(), "application/x-www-form-urlencoded"
				}
				// The venue that is not theirs, and their own one with what is not theirs.
				if p := stranger.do(method, path, kind, body); p.status != http.StatusNotFound {
					t.Errorf("%s %s: %d", method, path, p.status)
				}
				p := stranger.do(method, theirs, kind, body)
				if named && (method == http.MethodPost || looks[route]) && p.status != http.StatusNotFound && !strings.HasSuffix(theirs, "/capacity") {
					t.Errorf("%s %s: %d\n%s", method, theirs, p.status, p.text())
				}
				if p.status >= 500 {
					t.Errorf("%s %s: %d", method, theirs, p.status)
				}
				if strings.Contains(p.text(), "客 ") || strings.Contains(p.text(), "guest") {
					t.Errorf("%s %s shows somebody of another venue:\n%s", method, theirs, p.text())
				}
			}
			if after := ofTenant(t, s.Shop, s.Tenant); after != before {
				t.Errorf("a press of another venue's owner has changed something:\n%s\nwas:\n%s", after, before)
			}
			var pointing int
			if err := s.Pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM slots WHERE tenant_id = $1 AND (service_id = ANY($2::uuid[]) OR resource_id = ANY($2::uuid[])))
				+ (SELECT count(*) FROM schedules WHERE tenant_id = $1 AND (service_id = ANY($2::uuid[]) OR resource_id = ANY($2::uuid[])))
				+ (SELECT count(*) FROM memberships m WHERE m.tenant_id = $1 AND m.staff_id IN (SELECT staff_id FROM memberships WHERE tenant_id = $3))`,
				other.ID, []string{s.Service.ID, s.Resource.ID}, s.Tenant.ID).Scan(&pointing); err != nil || pointing != 0 {
				t.Errorf("%d rows of the other venue point here, %v", pointing, err)
			}
		})
	}
}

// parts fills in what the patterns of a venue's pages name.
func (s *site) parts(t *testing.T, l life) (*strings.Replacer, store.Schedule) {
	t.Helper()
	sv := s.asks(t)
	schedule := s.scheduled(t)
	colleague := s.hire(t, s.Tenant, "colleague@example.com", store.RoleDesk)
	key := s.apiKey(t)
	invitation := s.invite(t, "new@example.com", store.RoleDesk)
	mails, err := s.Store.Messages(t.Context(), store.MessageQuery{TenantID: s.Tenant.ID, SubjectID: l.booked.ID})
	if err != nil || len(mails) == 0 {
		t.Fatal(mails, err)
	}
	return strings.NewReplacer(
		"{tenant}", "shop", "{slot}", l.full.ID, "{entry}", l.offered.ID, "{reservation}", l.booked.ID, "{service}", sv.ID, "{question}", "mat", "{resource}", s.Resource.ID,
		"{schedule}", schedule.ID, "{member}", colleague.ID, "{key}", key.ID, "{invitation}", invitation.ID, "{message}", mails[0].ID, "{person}", l.booked.ID, "{subject}", l.booked.ID,
		"{number}", l.booked.Number, "{table}", "occupancy", "{kind}", "confirmed", "{lang}", "ja",
	), schedule
}

// mostStatements is what a page of staff may ask of the database, its session and its frame included.
const mostStatements = 30

// Every page of a venue asks the database a bounded number of times, and not more, however
// much there is to show.
func TestEveryPageOfStaffNeedsAsFewStatementsForManyRows(t *testing.T) {
	t.Parallel()
	mails := t.TempDir()
	s := openSite(t, shop.New(t, nil), func(c *Config) { c.MailDir = mails })
	b := asOwner(t, s)
	l := live(t, s.Shop)
	s.Exec(t, "UPDATE outbox SET state = 'failed', attempts = 8, last_error = 'no such user' WHERE kind = 'offer'")
	fill, schedule := s.parts(t, l)
	rule := typedSchedule(schedule).values()
	change := clone(rule)
	change.Del(views.FieldScheduleService)
	change.Set(views.FieldScheduleFrom, schedule.First)
	s.Start = s.Start.AddDate(0, 0, 7) // past the slots of the schedule
	later := l.slot.StartsAt.In(s.Tenant.Location()).AddDate(0, 0, 40).Format(time.DateOnly)
	terms := url.Values{views.FieldDate: {later}, views.FieldStart: {"10:00"}, views.FieldEnd: {"11:00"}, views.FieldService: {s.Service.ID}, views.FieldResource: {s.Resource.ID}}
	s.Exec(t, "INSERT INTO closed_days (tenant_id, day, note) VALUES ($1, current_date + 3, '{\"ja\":\"休み\"}') ON CONFLICT DO NOTHING", s.Tenant.ID)
	day := l.slot.StartsAt.In(s.Tenant.Location()).Format(time.DateOnly)
	var pages []string
	for _, r := range s.routesOf(t) {
		if r.method != http.MethodGet || !ofStaff(r) || strings.HasSuffix(r.pattern, "/live") {
			continue
		}
		path := fill.Replace(r.pattern)
		if strings.Contains(path, "{") {
			continue // of a part that is not set up here: it answers 404, in few statements
		}
		// A day with something on it; and the reservation that a step is about.
		query := url.Values{"date": {day}, "reservation": {l.booked.ID}, "from": {day}}
		if strings.Contains(r.pattern, "/slots/{slot}") && !strings.Contains(r.pattern, "{entry}") {
			path = strings.Replace(path, l.full.ID, l.slot.ID, 1)
		}
		switch {
		case strings.HasSuffix(r.pattern, "/mailbox/{message}"):
			continue // no mail is in the folder
		case strings.HasSuffix(r.pattern, "/schedules/preview"):
			query = rule
		case strings.HasSuffix(r.pattern, "{schedule}/change"):
			query = change
		case strings.Contains(r.pattern, "{schedule}"):
			query = nil
		case strings.HasSuffix(r.pattern, "/terms"):
			query = terms
		}
		pages = append(pages, path+"?"+query.Encode())
	}
	if len(pages) < 60 {
		t.Errorf("only %d pages", len(pages))
	}
	count := func() map[string]int {
		out := map[string]int{}
		for _, page := range pages {
			var got int
			out[page] = s.Count(func() { got = b.get(page).status })
			if got >= 400 {
				t.Errorf("%s: %d", page, got)
			}
		}
		return out
	}
	count() // what is read once and kept
	few := count()
	for i := range 12 {
		slot := s.Slot(t, 1)
		r := s.Book(t, slot, 1)
		s.Join(t, slot, 1)
		s.Join(t, slot, 1)
		s.Cancel(t, r)
		s.Book(t, l.slotWithRoom(t, s), 1)
		s.Join(t, l.full, 1)
		s.AddService(t, s.Tenant, fmt.Sprintf("more-%d", i), nil)
		s.AddResource(t, s.Tenant, fmt.Sprintf("more-%d", i))
		s.hire(t, s.Tenant, fmt.Sprintf("more-%d@example.com", i), store.RoleDesk)
	}
	s.Exec(t, "UPDATE outbox SET state = 'failed', attempts = 8, last_error = 'no such user' WHERE kind = 'offer'")
	s.Exec(t, "INSERT INTO closed_days (tenant_id, day, note) SELECT $1, current_date + n, '{\"ja\":\"休み\"}' FROM generate_series(4, 16) n ON CONFLICT DO NOTHING", s.Tenant.ID)
	for range 3 {
		s.scheduled(t)
	}
	many := count()
	for _, page := range slices.Sorted(func(yield func(string) bool) {
		for page := range few {
			if !yield(page) {
				return
			}
		}
	}) {
		most := mostStatements
		if strings.Contains(page, "/erase?") {
			most = 36 // the cancelling of what lies ahead, made and undone, is among these
		}
		if max(few[page], many[page]) > most {
			t.Errorf("%s: %d statements with few rows, %d with many, at most %d", page, few[page], many[page], most)
		}
		if many[page] > few[page] {
			t.Errorf("%s: %d statements with few rows, %d with many", page, few[page], many[page])
		}
	}
}

// slotWithRoom gives the slot of a life, with one seat more.
func (l life) slotWithRoom(t *testing.T, s *site) store.Slot {
	t.Helper()
	read := s.Read(t, l.slot)
	if _, err := s.Store.ChangeCapacity(t.Context(), store.CapacityRequest{TenantID: read.TenantID, SlotID: read.ID, Capacity: read.Capacity + 1, Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	return s.Read(t, l.slot)
}
