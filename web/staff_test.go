package web

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alexedwards/argon2id"

	"holdfast/store"
	"holdfast/store/storetest"
	"holdfast/store/storetest/shop"
	"holdfast/views"
	"holdfast/views/i18n"
)

const staffPassword = "正しい馬の電池"

var staffHash = sync.OnceValues(func() (string, error) { return argon2id.CreateHash(staffPassword, &hashParams) })

// hire gives somebody a role at a venue.
func (s *site) hire(t testing.TB, tenant store.Tenant, email string, role store.Role) store.StaffMember {
	t.Helper()
	hash, err := staffHash()
	if err != nil {
		t.Fatal(err)
	}
	member, err := s.Store.AddStaff(t.Context(), store.NewStaff{TenantID: tenant.ID, Email: email, Name: "受付 一郎", Role: role, Locale: i18n.JA, PasswordHash: hash})
	if err != nil {
		t.Fatal(err)
	}
	return member
}

func signIn(email, password string) url.Values {
	return url.Values{views.FieldEmail: {email}, views.FieldPassword: {password}}
}

// asOwner opens a shop's site with its owner signed in.
func asOwner(t testing.TB, s *site) *browser {
	t.Helper()
	s.hire(t, s.Tenant, "owner@example.com", store.RoleOwner)
	b := s.browser(t)
	b.follow(b.post("/staff/sign-in", signIn("owner@example.com", staffPassword)))
	return b
}

// atTheDesk opens a shop's site with somebody signed in at the counter.
func atTheDesk(t testing.TB, s *site) *browser {
	t.Helper()
	s.hire(t, s.Tenant, "desk@example.com", store.RoleDesk)
	b := s.browser(t)
	b.follow(b.post("/staff/sign-in", signIn("desk@example.com", staffPassword)))
	return b
}

func ofStaff(r route) bool { return strings.HasPrefix(r.pattern, "/staff/{tenant}") }

// staffPaths fills in a pattern of staff with what there is.
func (l life) staffPath(tenant, pattern string) string {
	path := strings.NewReplacer("{tenant}", tenant, "{slot}", l.full.ID, "{entry}", l.offered.ID, "{reservation}", l.booked.ID).Replace(pattern)
	return placeholder.ReplaceAllString(path, absentID)
}

// absentID is an id that stands for nothing.
const absentID = "00000000-0000-4000-8000-000000000000"

var placeholder = regexp.MustCompile(`\{[a-z]+\}`)

// staffFields are a form with which each press of staff would be tried.
func (l life) staffFields() url.Values {
	f := l.fields()
	f.Set(views.FieldReservation, l.booked.ID)
	f.Set(views.FieldReason, "理由")
	f.Set(views.FieldCapacity, "9")
	f.Set(views.FieldAttendance, "arrived")
	f.Set(views.FieldQuery, "山田")
	f.Set(views.FieldIdempotencyKey, "k")
	return f
}

func TestStaffRoutesSendWhoIsNotSignedInToTheDoor(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	l := live(t, s.Shop)
	before := dump(t, s.Shop)
	tried := 0
	for _, r := range s.routesOf(t) {
		if !ofStaff(r) {
			continue
		}
		tried++
		path := l.staffPath("shop", r.pattern)
		p := s.browser(t).do(r.method, path, "application/x-www-form-urlencoded", l.staffFields().Encode())
		if r.method == http.MethodPost && strings.HasPrefix(r.pattern, "/staff/{tenant}/slots/{slot}/") {
			// What was typed for a slot is kept in the answer; nothing else is in it.
			if p.status != http.StatusUnauthorized || !p.has("data-state", "signed_out_press") || strings.Contains(p.text(), "客 ") {
				t.Errorf("POST %s: %d\n%s", r.pattern, p.status, p.text())
			}
			continue
		}
		to, err := url.Parse(p.location())
		if err != nil || p.status != http.StatusSeeOther || to.Path != "/staff/sign-in" {
			t.Errorf("%s %s: %d to %q", r.method, r.pattern, p.status, p.location())
			continue
		}
		next := to.Query().Get("next")
		if r.method == http.MethodGet && next != path {
			t.Errorf("GET %s comes back to %q", path, next)
		}
		if r.method != http.MethodGet && next != views.StaffTodayURL("shop") && next != views.StaffSlotURL("shop", l.full.ID) {
			t.Errorf("%s %s comes back to %q", r.method, r.pattern, next)
		}
		// A session that nobody signed in with opens nothing, whatever it holds.
		if strings.Contains(p.text(), "山田") {
			t.Errorf("%s shows something", r.pattern)
		}
	}
	if tried < 30 {
		t.Errorf("tried only %d", tried)
	}
	if dump(t, s.Shop) != before {
		t.Error("somebody who is not signed in has changed something")
	}
}

func TestAnothersVenueIsAsAbsentAsNone(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	l := live(t, s.Shop)
	other := s.AddTenant(t, "other", nil)
	s.hire(t, other, "desk@example.com", store.RoleOwner)
	b := s.browser(t)
	b.post("/staff/sign-in", signIn("desk@example.com", staffPassword)).is(http.StatusSeeOther)
	before := dump(t, s.Shop)
	clean := func(p page) string { return changing.ReplaceAllString(p.body, "") }
	for _, r := range s.routesOf(t) {
		if !ofStaff(r) {
			continue
		}
		send := func(tenant string) page {
			return b.do(r.method, l.staffPath(tenant, r.pattern), "application/x-www-form-urlencoded", l.staffFields().Encode())
		}
		nobody, others := send("nobody"), send("shop")
		if nobody.status != http.StatusNotFound || others.status != http.StatusNotFound || clean(nobody) != clean(others) {
			t.Errorf("%s %s: %d for nobody's, %d for another's, or other words", r.method, r.pattern, nobody.status, others.status)
		}
		// And what is another's within the own venue.
		if !strings.Contains(strings.TrimPrefix(r.pattern, "/staff/{tenant}"), "{") {
			continue
		}
		if strings.HasSuffix(r.pattern, "/capacity") && r.method == http.MethodGet {
			continue // leads on to the slot's page, which is not there
		}
		if p := send("other"); p.status != http.StatusNotFound || strings.Contains(p.body, "客 ") {
			t.Errorf("%s %s within the own venue: %d", r.method, r.pattern, p.status)
		}
		malformed := strings.NewReplacer(l.full.ID, "x", absentID, "%ff").Replace(l.staffPath("other", r.pattern))
		if p := b.do(r.method, malformed, "application/x-www-form-urlencoded", l.staffFields().Encode()); p.status != http.StatusNotFound {
			t.Errorf("%s %s, malformed: %d", r.method, malformed, p.status)
		}
	}
	if dump(t, s.Shop) != before {
		t.Error("a press on another's venue has changed something")
	}
}

// The slot is one's own, but the entry or the reservation is of another slot.
func TestAnEntryOfAnotherSlotIsNotHere(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	l := live(t, s.Shop)
	b := atTheDesk(t, s)
	before := dump(t, s.Shop)
	for _, step := range []string{"offer", "revoke", "remove", "accept", "decline", "claim"} {
		b.post(views.StaffSlotURL("shop", l.slot.ID)+"/waitlist/"+l.offered.ID+"/"+step, l.staffFields()).is(http.StatusNotFound)
	}
	for _, step := range []string{"move", "party", "attendance", "contact"} {
		b.post(views.StaffSlotURL("shop", l.full.ID)+"/reservations/"+l.booked.ID+"/"+step, l.staffFields()).is(http.StatusConflict)
	}
	b.post(views.StaffSlotCancelURL("shop", l.full.ID), l.staffFields()).is(http.StatusConflict)
	if dump(t, s.Shop) != before {
		t.Error("something of another slot has changed")
	}
}

func TestStaffPressesFromElsewhereAreRefused(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	l := live(t, s.Shop)
	b := atTheDesk(t, s)
	before := dump(t, s.Shop)
	b.header = http.Header{"Origin": {"https://evil.example"}}
	for _, r := range s.routesOf(t) {
		if !strings.HasPrefix(r.pattern, "/staff") || r.method == http.MethodGet {
			continue
		}
		p := b.do(r.method, l.staffPath("shop", r.pattern), "application/x-www-form-urlencoded", l.staffFields().Encode())
		if p.status != http.StatusForbidden || !p.has("data-state", "origin") {
			t.Errorf("%s %s: %d", r.method, r.pattern, p.status)
		}
	}
	if dump(t, s.Shop) != before {
		t.Error("a refused press has changed something")
	}
	b.header = http.Header{}
	b.get("/staff/shop/today").is(http.StatusOK) // and nobody was signed out
}

func TestLookingAsStaffChangesNothing(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	l := live(t, s.Shop)
	b := asOwner(t, s)
	before := dump(t, s.Shop)
	for _, r := range s.routesOf(t) {
		if !strings.HasPrefix(r.pattern, "/staff") || r.method != http.MethodGet {
			continue
		}
		path := l.staffPath("shop", r.pattern)
		for _, query := range []string{"", "?reservation=" + l.booked.ID, "?reservation=x", "?date=2027-02-30&from=%ff&state='&history=all", "?date=0000-01-01&from=0000-01-01&older=1", "?date=9999-12-31&from=9999-12-31"} {
			if p := b.get(path + query); p.status >= 500 {
				t.Errorf("GET %s%s: %d", r.pattern, query, p.status)
			}
			b.do(http.MethodHead, path+query, "", "")
		}
	}
	b.get(views.StaffSlotCancelStepURL("shop", l.slot.ID, l.booked.ID)).is(http.StatusOK).need("data-reservation", l.booked.ID)
	b.get(views.StaffSlotCancelSlotURL("shop", l.slot.ID)).is(http.StatusOK)
	b.get(views.StaffSlotMoveStepURL("shop", l.slot.ID, l.booked.ID)).is(http.StatusOK)
	if after := dump(t, s.Shop); after != before {
		t.Errorf("something has changed:\n%s\nwas:\n%s", after, before)
	}
}

func TestStaffPagesSpeakEnglish(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	l := live(t, s.Shop)
	b := atTheDesk(t, s)
	b.post("/staff/language", url.Values{views.FieldLang: {"en"}}).is(http.StatusSeeOther)
	step := b.get(views.StaffSlotCancelStepURL("shop", l.slot.ID, l.booked.ID))
	day := l.slot.StartsAt.In(s.Tenant.Location()).Format(time.DateOnly)
	stale := url.Values{views.FieldVersion: {"0"}}
	pages := []page{
		step, b.follow(b.press(step, "/cancel", nil)), b.get(views.StaffDayURL("shop", day)), b.get(views.StaffSlotURL("shop", l.full.ID)), b.get("/staff/shop/messages"),
		b.get(views.StaffSlotCancelSlotURL("shop", l.full.ID)), b.press(b.get(views.StaffSlotURL("shop", l.full.ID)), "/close", stale).is(http.StatusConflict),
		b.press(b.get(views.StaffSlotURL("shop", l.full.ID)), "/capacity", url.Values{views.FieldCapacity: {"0"}}).is(http.StatusConflict),
		b.press(b.get(views.StaffSlotURL("shop", l.full.ID)), "/book", nil).is(http.StatusUnprocessableEntity),
		b.post("/staff/shop/search", nil), b.get("/staff/shop/nothing").is(http.StatusNotFound),
	}
	for i, p := range pages {
		if attr(p.all("lang", "")[0], "lang") != "en" {
			t.Errorf("page %d is in another language", i)
		}
		for _, word := range []string{"様", "席", "予約", "を", "名）", "月"} {
			if strings.Contains(p.text(), word) {
				t.Errorf("page %d says %q:\n%s", i, word, p.text())
			}
		}
	}
}

// staffForm is a form of staff and how its page is made.
type staffForm struct {
	name string
	page string // where the form stands
	form string // how its action ends
	more url.Values
}

// staleForms are all forms that carry a version, over a slot with somebody in each state.
func staleForms(l life) []staffForm {
	slot, full := views.StaffSlotURL("shop", l.slot.ID), views.StaffSlotURL("shop", l.full.ID)
	caller := url.Values{views.FieldName: {"電話 の人"}, views.FieldPhone: {"090-1234-5678"}}
	reason := url.Values{views.FieldReason: {"お客様のご希望"}}
	return []staffForm{
		{"cancel", views.StaffSlotCancelStepURL("shop", l.slot.ID, l.booked.ID), "/cancel", reason},
		{"cancel the slot", views.StaffSlotCancelSlotURL("shop", l.slot.ID), "/cancel-slot", reason},
		{"capacity", slot, "/capacity", url.Values{views.FieldCapacity: {"7"}}},
		{"book", slot, "/book", caller},
		{"close", slot, "/close", nil},
		{"pause", slot, "/pause", nil},
		{"party", slot, "/party", url.Values{views.FieldPartySize: {"2"}}},
		{"move", views.StaffSlotMoveStepURL("shop", l.slot.ID, l.booked.ID), "/move", nil},
		{"accept", full, "/accept", nil},
		{"decline", full, "/decline", nil},
		{"revoke", views.StaffEntryRevokeURL("shop", l.full.ID, l.offered.ID), "/revoke", reason},
		{"remove", views.StaffEntryRemoveURL("shop", l.full.ID, l.waiting.ID), "/remove", reason},
	}
}

func TestAStaleFormWritesNothingSaysWhatChangedAndAsksAgain(t *testing.T) {
	t.Parallel()
	for i := range staleForms(life{}) {
		t.Run(staleForms(life{})[i].name, func(t *testing.T) {
			t.Parallel()
			s := openSite(t, shop.New(t, nil))
			l := live(t, s.Shop)
			target := s.Slot(t, 5)
			b := atTheDesk(t, s)
			f := staleForms(l)[i]
			action, fields := "", url.Values(nil)
			shown := b.get(f.page).is(http.StatusOK)
			if f.form == "/move" {
				action, fields = moveForm(t, shown, target.ID)
			} else {
				action, fields = shown.form(f.form)
			}
			for name, values := range f.more {
				fields[name] = values
			}
			if fields.Get(views.FieldVersion) == "" {
				t.Fatal("the form carries no version")
			}
			// Somebody else does something in both slots meanwhile.
			s.Hold(t, l.slot, 1)
			joined := s.Join(t, l.full, 1)
			before := dump(t, s.Shop)

			stale := b.post(action, fields).is(http.StatusConflict).need("data-state", "changed")
			if after := dump(t, s.Shop); after != before {
				t.Fatalf("a stale form has written something:\n%s\nwas:\n%s", after, before)
			}
			if !stale.has("data-event", "held") && !(stale.has("data-event", "joined") && strings.Contains(stale.text(), joined.Name)) {
				t.Errorf("the page does not say what changed:\n%s", stale.text())
			}
			againAction, again := changedForm(t, stale)
			if again.Has(views.FieldVersion) || again.Get("again") != "1" {
				t.Errorf("the second form is judged by a version: %v", again)
			}
			for name := range fields {
				if name != views.FieldVersion && !slices.Equal(again[name], fields[name]) {
					t.Errorf("the second form has lost %s: %v, was %v", name, again[name], fields[name])
				}
			}
			b.follow(b.post(againAction, again)).is(http.StatusOK).need("data-state", "done")
			if dump(t, s.Shop) == before {
				t.Error("the second press did nothing")
			}
		})
	}
}

// changedForm is the form that asks again.
func changedForm(t testing.TB, p page) (string, url.Values) {
	t.Helper()
	for _, section := range p.all("id", "changed") {
		for n := range section.Descendants() {
			if n.Data != "form" {
				continue
			}
			fields := url.Values{}
			for c := range n.Descendants() {
				if c.Data == "input" {
					fields.Add(attr(c, "name"), attr(c, "value"))
				}
			}
			return attr(n, "action"), fields
		}
	}
	t.Fatalf("nothing asks again:\n%s", p.text())
	return "", nil
}

// moveForm is the form that moves to the target.
func moveForm(t testing.TB, p page, target string) (string, url.Values) {
	t.Helper()
	for _, row := range p.all("data-slot", target) {
		for n := range row.Descendants() {
			if n.Data != "form" {
				continue
			}
			fields := url.Values{}
			for c := range n.Descendants() {
				if c.Data == "input" {
					fields.Add(attr(c, "name"), attr(c, "value"))
				}
			}
			return attr(n, "action"), fields
		}
	}
	t.Fatalf("nothing leads to %s:\n%s", target, p.text())
	return "", nil
}

func TestThePreviewOfACancellationIsWhatThenHappens(t *testing.T) {
	t.Parallel()
	for _, several := range []int{1, 2} {
		t.Run(strconv.Itoa(several), func(t *testing.T) {
			t.Parallel()
			s := openSite(t, shop.New(t, nil))
			b := atTheDesk(t, s)
			slot := s.Slot(t, 2)
			booked := []store.Reservation{s.Book(t, slot, 1), s.Book(t, slot, 1)}[:several]
			entries := []store.Entry{s.Join(t, slot, 1), s.Join(t, slot, 1)}
			ids := url.Values{}
			for _, r := range booked {
				ids.Add(views.FieldReservation, r.ID)
			}
			preview := b.get(views.StaffSlotCancelURL("shop", slot.ID) + "?" + ids.Encode()).is(http.StatusOK)
			for i, e := range entries {
				if told := strings.Contains(preview.text(), e.Name+"様 に"); told != (i < several) {
					t.Errorf("the preview names entry %d: %v\n%s", i+1, told, preview.text())
				}
			}
			if got := s.Entry(t, entries[0]).State; got != store.Waiting {
				t.Fatalf("the preview has offered: %s", got)
			}
			done := b.follow(b.press(preview, "/cancel", url.Values{views.FieldReason: {"発熱のため"}})).is(http.StatusOK).need("data-state", "done")
			for i, e := range entries {
				now := s.Entry(t, e)
				if offered := now.State == store.Offered; offered != (i < several) {
					t.Errorf("entry %d is %s", i+1, now.State)
				}
				if i < several {
					done.says(e.Name + "様 に、" + now.ShownUntil.In(s.Tenant.Location()).Format("15:04"))
				}
			}
			for _, r := range booked {
				if now := s.Reservation(t, r); now.State != store.Cancelled || now.CancelledBy != "staff" || now.CancelReason != "発熱のため" {
					t.Errorf("%+v", now)
				}
			}
			// What was done is said once.
			if b.get(views.StaffSlotURL("shop", slot.ID)).has("id", "result") {
				t.Error("the result is said twice")
			}
		})
	}
}

func TestWhatIsOpenToEverybodyIsSaidToo(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	slot := s.Slot(t, 3)
	r := s.Book(t, slot, 2)
	preview := b.get(views.StaffSlotCancelStepURL("shop", slot.ID, r.ID)).says(ja("staff.would.open", "n", 3))
	b.follow(b.press(preview, "/cancel", nil)).says(ja("staff.then.open", "n", 3)).says(ja("staff.then.mails", "n", 1))
}

func TestAFormSentTwiceIsDoneOnce(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	slot := s.Slot(t, 2)
	r := s.Book(t, slot, 1)
	action, fields := b.get(views.StaffSlotCancelStepURL("shop", slot.ID, r.ID)).form("/cancel")
	b.post(action, fields).is(http.StatusSeeOther)
	b.follow(b.post(action, fields)).need("data-state", "done")

	action, fields = b.get(views.StaffSlotURL("shop", slot.ID)).form("/book")
	fields.Set(views.FieldName, "電話 の人")
	b.post(action, fields).is(http.StatusSeeOther)
	b.post(action, fields).is(http.StatusSeeOther)
	action, fields = b.get(views.StaffSlotURL("shop", slot.ID)).form("/close")
	b.post(action, fields).is(http.StatusSeeOther)
	b.follow(b.post(action, fields)).says(ja("staff.did_already"))
	roster, err := s.Store.Roster(t.Context(), slot.TenantID, slot.ID)
	if err != nil || len(roster) != 2 {
		t.Errorf("%d reservations, %v", len(roster), err)
	}
	mails, err := s.Store.Messages(t.Context(), store.MessageQuery{TenantID: slot.TenantID, SubjectID: r.ID})
	if err != nil || len(mails) != 2 { // confirmed, cancelled
		t.Errorf("%d mails, %v", len(mails), err)
	}
}

func TestCapacityCannotGoBelowWhatIsTaken(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	slot := s.Slot(t, 10)
	first := s.Book(t, slot, 3)
	s.Hold(t, slot, 2)
	url4 := url.Values{views.FieldCapacity: {"4"}}
	page := b.press(b.get(views.StaffSlotURL("shop", slot.ID)), "/capacity", url4).is(http.StatusConflict)
	page.says(ja("staff.refused.below_taken")).says(ja("staff.capacity.must_move")).says(first.Name)
	if attr(page.all("id", "capacity-value")[0], "value") != "4" {
		t.Error("what was typed is gone")
	}
	for _, nonsense := range []string{"", "-1", "四", "1.5", "2147483648", "99999999999999999999", "1e3"} {
		b.press(page, "/capacity", url.Values{views.FieldCapacity: {nonsense}}).is(http.StatusUnprocessableEntity).need("data-error", views.FieldCapacity)
	}
	if got := s.Read(t, slot).Capacity; got != 10 {
		t.Errorf("capacity is %d", got)
	}
	b.follow(b.press(page, "/capacity", url.Values{views.FieldCapacity: {"５"}})).says(ja("staff.did.capacity", "n", 5)) // full-width digits are digits
	if got := s.Read(t, slot).Capacity; got != 5 {
		t.Errorf("capacity is %d", got)
	}
}

func TestSomebodyWithoutAnAddressIsCalledAndAnswered(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	for _, answer := range []string{"accept", "decline"} {
		slot := s.Slot(t, 1)
		r := s.Book(t, slot, 1)
		page := b.get(views.StaffSlotURL("shop", slot.ID))
		_, fields := page.form("/book")
		fields.Set(views.FieldName, "電話 "+answer)
		fields.Set(views.FieldPhone, "090-1234-5678")
		b.follow(b.post(views.StaffSlotJoinURL("shop", slot.ID), fields)).is(http.StatusOK).need("data-state", "waiting")
		preview := b.get(views.StaffSlotCancelStepURL("shop", slot.ID, r.ID)).says(ja("staff.call_them", "name", "電話 "+answer))
		b.follow(b.press(preview, "/cancel", nil)).says(ja("staff.call_them", "name", "電話 "+answer)).says("090-1234-5678")

		today := b.get("/staff/shop/today").need("data-state", "call").says("電話 " + answer)
		b.follow(b.press(today, "/"+answer, nil)).is(http.StatusOK).says("電話 " + answer)
		entries, err := s.Store.Waitlist(t.Context(), slot.TenantID, slot.ID, true)
		if err != nil || len(entries) != 1 {
			t.Fatal(entries, err)
		}
		if want := map[string]store.EntryState{"accept": store.Accepted, "decline": store.Declined}[answer]; entries[0].State != want {
			t.Errorf("%s: %s", answer, entries[0].State)
		}
	}
}

// First come, first served: a caller is told by phone, and books or leaves from the list of things to do.
func TestACallerClaimsOpenSeats(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, func(p *store.Policies) { p.WaitlistMode = store.Broadcast }))
	b := atTheDesk(t, s)
	slot := s.Slot(t, 1)
	r := s.Book(t, slot, 1)
	page := b.get(views.StaffSlotURL("shop", slot.ID))
	_, fields := page.form("/book")
	fields.Set(views.FieldName, "電話 の人")
	b.post(views.StaffSlotJoinURL("shop", slot.ID), fields).is(http.StatusSeeOther)
	s.Cancel(t, r)
	b.follow(b.press(b.get("/staff/shop/today").need("data-state", "call"), "/claim", nil)).need("data-state", "done").says("電話 の人")
	if got := s.Read(t, slot); got.Confirmed != 1 {
		t.Errorf("%+v", got)
	}
}

func TestStaffBookMoveCheckInAndCorrect(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	slot, target := s.Slot(t, 2), s.Slot(t, 2)
	page := b.get(views.StaffSlotURL("shop", slot.ID))
	b.press(page, "/book", nil).is(http.StatusUnprocessableEntity).need("data-error", views.FieldName)
	b.press(page, "/book", url.Values{views.FieldName: {"髙橋 𠮷郎"}, views.FieldPartySize: {"3"}, views.FieldKana: {"たかはし"}}).is(http.StatusConflict).says(ja("staff.refused.sold_out"))
	over := url.Values{views.FieldName: {"髙橋 𠮷郎"}, views.FieldPartySize: {"3"}, views.FieldBeyond: {"1"}}
	b.press(page, "/book", over).is(http.StatusUnprocessableEntity).need("data-error", views.FieldReason)
	over.Set(views.FieldReason, "椅子を足す")
	b.follow(b.press(page, "/book", over)).is(http.StatusOK).says("髙橋 𠮷郎").says("椅子を足す")
	roster, err := s.Store.Roster(t.Context(), slot.TenantID, slot.ID)
	if err != nil || len(roster) != 1 || roster[0].ExtraSeats != 1 {
		t.Fatal(roster, err)
	}
	r := roster[0]
	b.follow(b.press(b.get(views.StaffSlotURL("shop", slot.ID)), "/party", url.Values{views.FieldPartySize: {"2"}})).says(ja("staff.did.party", "name", r.Name, "n", 2))

	action, fields := moveForm(t, b.get(views.StaffSlotMoveStepURL("shop", slot.ID, r.ID)), target.ID)
	b.follow(b.post(action, fields)).need("id", "result").says("髙橋 𠮷郎")
	b.post(action, fields).is(http.StatusSeeOther) // sent twice: it stands there
	if got := s.Reservation(t, r); got.SlotID != target.ID {
		t.Errorf("it is in %s", got.SlotID)
	}
	b.post(views.StaffSlotAttendanceURL("shop", slot.ID), url.Values{views.FieldReservation: {r.ID}, views.FieldAttendance: {"arrived"}}).is(http.StatusConflict).says(ja("staff.moved_away"))

	here := views.StaffSlotURL("shop", target.ID)
	for attendance, want := range map[string]string{"arrived": "arrived", "no_show": "no_show", "none": ""} {
		b.press(b.get(here), "/attendance", url.Values{views.FieldAttendance: {attendance}}).is(http.StatusSeeOther)
		if got := s.Reservation(t, r).Attendance; got != want {
			t.Errorf("%s: %q", attendance, got)
		}
	}
	b.press(b.get(here), "/attendance", url.Values{views.FieldAttendance: {"maybe"}}).is(http.StatusBadRequest)

	contact := here + "/reservations/" + r.ID + "/contact"
	b.post(contact, url.Values{views.FieldName: {"髙橋 よしろう"}, views.FieldEmail: {"a@"}}).is(http.StatusUnprocessableEntity)
	b.follow(b.post(contact, url.Values{views.FieldName: {"髙橋 よしろう"}, views.FieldEmail: {"Yoshiro+x@EXAMPLE.com"}})).says("髙橋 よしろう")
	if got := s.Reservation(t, r); got.Email != "Yoshiro+x@example.com" || got.Name != "髙橋 よしろう" {
		t.Errorf("%+v", got)
	}
}

func TestTheSwitchesAndTheWholeSlot(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	slot := s.Slot(t, 1)
	first := s.Book(t, slot, 1)
	one, two := s.Join(t, slot, 1), s.Join(t, slot, 1)
	here := views.StaffSlotURL("shop", slot.ID)
	b.follow(b.press(b.get(here), "/pause", nil)).says(ja("staff.did.pause"))
	s.Cancel(t, first)
	b.get(here).need("data-state", "paused").says(ja("staff.would.paused")[:6])
	offer := "/waitlist/" + two.ID + "/offer"
	page := b.get(here + offer).says(ja("staff.would.offer", "n", 1, "name", two.Name, "time", "")[:6])
	b.press(page, offer, nil).is(http.StatusUnprocessableEntity).need("data-error", views.FieldReason)
	b.follow(b.press(page, offer, url.Values{views.FieldReason: {"先約の方"}})).says(ja("staff.did.offer", "name", two.Name)).says("先約の方")
	if s.Entry(t, two).State != store.Offered || s.Entry(t, one).State != store.Waiting {
		t.Error("the chosen one is not the one with the offer")
	}
	b.follow(b.press(b.get(here+"/resume"), "/resume", nil)).says(ja("staff.did.resume"))
	b.follow(b.press(b.get(here), "/close", nil)).says(ja("staff.did.close"))
	b.follow(b.press(b.get(here+"/reopen"), "/reopen", nil)).says(ja("staff.did.reopen"))
	step := b.get(views.StaffSlotCancelSlotURL("shop", slot.ID)).says(ja("staff.would.close_waitlist", "n", 2))
	b.follow(b.press(step, "/cancel-slot", url.Values{views.FieldReason: {"講師の急病"}})).says(ja("staff.did.cancel_slot")).need("data-state", "cancelled")
	for _, path := range []string{here + "/cancel-slot", here + "/close", here + "/capacity"} {
		if p := b.post(path, url.Values{views.FieldCapacity: {"3"}}); p.status >= 500 {
			t.Errorf("%s of a cancelled slot: %d", path, p.status)
		}
	}
}

func TestSearchFindsByWhatPeopleSayAndLeavesNoTrace(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	slot := s.Slot(t, 1)
	r := s.Book(t, slot, 1)
	e := s.Join(t, slot, 1)
	for _, query := range []string{r.Name, r.Number, strings.ToLower(r.Number), "きゃく", r.Email, "5678", "090-1234-5678", "０９０ー１２３４ー５６７８", "+81 90 1234 5678"} {
		p := b.post("/staff/shop/search", url.Values{views.FieldQuery: {query}}).is(http.StatusOK)
		if !strings.Contains(p.text(), r.Number) {
			t.Errorf("%q does not find it:\n%s", query, p.text())
		}
		if p.location() != "" || strings.Contains(p.header.Get("Content-Location"), url.QueryEscape(query)) {
			t.Errorf("%q stands in an address", query)
		}
	}
	b.post("/staff/shop/search", url.Values{views.FieldQuery: {e.Name}}).says(e.Name).need("data-state", "waiting")
	b.post("/staff/shop/search", url.Values{views.FieldQuery: {"いない人"}}).need("data-state", "empty")
	b.post("/staff/shop/search", nil).is(http.StatusUnprocessableEntity)
	b.post("/staff/shop/search", url.Values{views.FieldQuery: {strings.Repeat("x", 200)}}).is(http.StatusUnprocessableEntity)
	b.get("/staff/shop/search").is(http.StatusSeeOther)
	for _, secret := range []string{r.Name, r.Email, e.Name, "5678", "desk@example.com", "キャク"} {
		if strings.Contains(s.logs.String(), secret) {
			t.Errorf("the log has %q", secret)
		}
	}
}

func TestWhatCustomersTypeIsShownAsText(t *testing.T) {
	t.Parallel()
	mails := t.TempDir()
	s := openSite(t, shop.New(t, nil), func(c *Config) { c.MailDir = mails })
	b := atTheDesk(t, s)
	const evil = `<img src=x onerror=alert(1)>"><svg onload=alert(1)>'-alert(1)-'javascript:alert(1)`
	slot := s.Slot(t, 1)
	held := s.Hold(t, slot, 1)
	c := store.Contact{Name: evil, Kana: evil, Email: "x'onload@example.com", Phone: "+819012345678", Note: evil, Locale: "ja"}
	req := s.ConfirmRequest(held)
	req.Contact = c
	r, err := s.Store.Confirm(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	join := s.JoinRequest(slot, 1)
	join.Contact = c
	join.Contact.Email = "y'onload@example.com"
	e, err := s.Store.Join(t.Context(), join)
	if err != nil {
		t.Fatal(err)
	}
	s.Exec(t, "UPDATE outbox SET state = 'failed', last_error = $1, sent_subject = $1, sent_text = $1", evil)
	var message string
	if err := s.Pool.QueryRow(t.Context(), "SELECT id::text FROM outbox LIMIT 1").Scan(&message); err != nil {
		t.Fatal(err)
	}
	day := slot.StartsAt.In(s.Tenant.Location()).Format(time.DateOnly)
	pages := []page{
		b.get(views.StaffSlotURL("shop", slot.ID)), b.get(views.StaffDayURL("shop", day)), b.get("/staff/shop/messages"), b.get(views.StaffMessageURL("shop", message)),
		b.get(views.StaffSlotCancelStepURL("shop", slot.ID, r.ID)), b.get(views.StaffSlotMoveStepURL("shop", slot.ID, r.ID)),
		b.post("/staff/shop/search", url.Values{views.FieldQuery: {evil[:20]}}), b.post("/staff/shop/search", url.Values{views.FieldQuery: {evil}}),
		b.press(b.get(views.StaffSlotURL("shop", slot.ID)), "/book", url.Values{views.FieldName: {evil}, views.FieldReason: {evil}, views.FieldPhone: {evil}, views.FieldEmail: {evil}}),
		b.press(b.get(views.StaffEntryRemoveURL("shop", slot.ID, e.ID)), "/remove", url.Values{views.FieldReason: {evil + strings.Repeat("x", 300)}}),
	}
	cancelled := b.press(b.get(views.StaffSlotCancelStepURL("shop", slot.ID, r.ID)), "/cancel", url.Values{views.FieldReason: {evil}})
	pages = append(pages, b.follow(cancelled))
	action, fields := b.get(views.StaffSlotURL("shop", slot.ID)).form("/decline")
	s.Hold(t, s.Slot(t, 1), 1)
	fields.Set(views.FieldVersion, "0")
	fields.Set(views.FieldNote, evil)
	pages = append(pages, b.post(action, fields).is(http.StatusConflict))
	for i, p := range pages {
		if p.status >= 500 {
			t.Errorf("page %d: %d", i, p.status)
		}
		for n := range p.doc.Descendants() {
			if n.Data == "img" && attr(n, "src") == "x" || n.Data == "svg" && hasAttr(n, "onload") {
				t.Errorf("page %d has an element that somebody typed", i)
			}
			for _, a := range n.Attr {
				if strings.HasPrefix(a.Key, "on") || ((a.Key == "href" || a.Key == "action" || a.Key == "src") && strings.HasPrefix(strings.ToLower(a.Val), "javascript:")) {
					t.Errorf("page %d: %s=%q", i, a.Key, a.Val)
				}
			}
		}
	}
	pages[0].says(evil)
	if got := s.Entry(t, e); got.Name != evil {
		t.Errorf("the name is not what was typed: %q", got.Name)
	}
}

// The statements of each page of staff don't grow with what it shows.
func TestStaffPagesKeepToTheirBudgetOfStatements(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	slot := s.Slot(t, 6)
	var first store.Reservation
	for range 3 {
		first = s.Book(t, slot, 2)
	}
	for range 5 {
		s.Join(t, slot, 2)
	}
	s.Cancel(t, first)
	for range 12 {
		other := s.Slot(t, 1)
		cancelled := s.Book(t, other, 1)
		for range 3 {
			s.Join(t, other, 1)
		}
		s.Cancel(t, cancelled)
		s.Book(t, s.Slot(t, 3), 1)
	}
	moved := s.Book(t, s.Slot(t, 2), 1)
	if _, err := s.Store.Move(t.Context(), store.MoveRequest{TenantID: moved.TenantID, ID: moved.ID, TargetSlot: s.Slot(t, 3).ID, TargetTerms: 1, Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	s.Exec(t, "UPDATE outbox SET state = 'failed', attempts = 8, last_error = 'no such user' WHERE kind = 'offer'")
	s.Exec(t, "UPDATE waitlist_entries SET shown_until = statement_timestamp() + interval '9 minutes' WHERE state = 'offered'")
	day := slot.StartsAt.In(s.Tenant.Location()).Format(time.DateOnly)
	roster, err := s.Store.Roster(t.Context(), slot.TenantID, slot.ID)
	if err != nil {
		t.Fatal(err)
	}
	live := roster[0]
	for _, c := range []struct {
		name string
		most int
		open func() page
	}{
		{"today", 16, func() page { return b.get(views.StaffDayURL("shop", day)) }},
		{"slot", 15, func() page { return b.get(views.StaffSlotURL("shop", slot.ID)) }},
		{"slot that somebody left", 16, func() page { return b.get(views.StaffSlotURL("shop", moved.SlotID)) }},
		// The step itself, made and undone, is among these.
		{"cancel", 27, func() page { return b.get(views.StaffSlotCancelStepURL("shop", slot.ID, live.ID)) }},
		{"cancel the slot", 10, func() page { return b.get(views.StaffSlotCancelSlotURL("shop", slot.ID)) }},
		// The step itself, made and undone, is among these too.
		{"move", 30, func() page { return b.get(views.StaffSlotMoveStepURL("shop", slot.ID, live.ID)) }},
		{"search", 10, func() page { return b.post("/staff/shop/search", url.Values{views.FieldQuery: {"客"}}) }},
		{"messages", 11, func() page { return b.get("/staff/shop/messages") }},
	} {
		var got page
		if n := s.Count(func() { got = c.open() }); n > c.most || got.status != http.StatusOK {
			t.Errorf("%s: %d statements, at most %d (status %d)", c.name, n, c.most, got.status)
		}
	}
	today := b.get(views.StaffDayURL("shop", day)).need("data-state", "failed").need("data-state", "lapsing")
	if len(today.all("data-slot", "")) < 3 {
		t.Errorf("few slots on the day:\n%s", today.text())
	}
}

func TestEveryWordOfStaffIsThere(t *testing.T) {
	t.Parallel()
	var keys []string
	for _, o := range store.Outcomes {
		keys = append(keys, "staff.refused."+string(o))
	}
	for _, step := range staffSteps {
		keys = append(keys, "staff.did."+string(step), "staff.asked."+string(step), "staff.again."+string(step))
	}
	for _, kind := range store.MessageKinds {
		keys = append(keys, "staff.mail_kind."+string(kind))
	}
	for _, state := range messageStates[1:] {
		keys = append(keys, "staff.state.mail_"+string(state))
	}
	for _, key := range keys {
		if !i18n.Has(i18n.Key(key)) {
			t.Errorf("%s has no words", key)
		}
	}
	for _, lang := range i18n.Languages {
		ctx := i18n.WithLang(context.Background(), lang)
		c := counter{tenant: store.Tenant{TimeZone: "Asia/Tokyo"}}
		for _, kind := range store.EventKinds {
			v := c.eventView(ctx, store.Event{Kind: kind, Actor: "staff:x"}, eventNames{})
			if v.Sentence == string(kind) || strings.Contains(v.Sentence, "[[") || strings.Contains(v.Sentence, "{") {
				t.Errorf("%s in %s: %q", kind, lang, v.Sentence)
			}
		}
		for _, actor := range []string{"customer", "api:x", "system"} {
			if name := actorName(ctx, actor, eventNames{}); strings.Contains(name, "[[") {
				t.Error(name)
			}
		}
	}
}

// Two colleagues cancel the same booking in the same instant, and one of them cancels another.
func TestTwoAtTheCounterPressAtOnce(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	other := s.browser(t)
	other.post("/staff/sign-in", signIn("desk@example.com", staffPassword)).is(http.StatusSeeOther)
	for range 5 {
		slot := s.Slot(t, 1)
		r := s.Book(t, slot, 1)
		one, two := s.Join(t, slot, 1), s.Join(t, slot, 1)
		step := views.StaffSlotCancelStepURL("shop", slot.ID, r.ID)
		action, fields := b.get(step).form("/cancel")
		barrier := storetest.Barrier(2)
		status := make(chan int, 2)
		for _, who := range []*browser{b, other} {
			go func() {
				barrier()
				status <- who.post(action, fields).status
			}()
		}
		for range 2 {
			if got := <-status; got != http.StatusSeeOther {
				t.Errorf("status %d", got)
			}
		}
		if s.Entry(t, one).State != store.Offered || s.Entry(t, two).State != store.Waiting {
			t.Error("one seat was not offered once")
		}
		mails, err := s.Store.Messages(t.Context(), store.MessageQuery{TenantID: slot.TenantID, SubjectID: r.ID})
		if err != nil || len(mails) != 2 {
			t.Errorf("%d mails, %v", len(mails), err)
		}
	}
}

func TestWhatARoleMayNotIsForbidden(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	guarded := s.web.session(s.web.may("nobody's work")(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was let through") })))
	r := httptest.NewRequestWithContext(context.WithValue(t.Context(), colleagueKey{}, colleague{role: store.RoleOwner}), http.MethodPost, "/staff/shop/slots/x/close", nil)
	w := httptest.NewRecorder()
	guarded.ServeHTTP(w, r)
	if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), `data-state="forbidden"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestTheTableOfRolesKnowsEveryRole(t *testing.T) {
	t.Parallel()
	for _, role := range []store.Role{store.RoleOwner, store.RoleManager, store.RoleDesk} {
		if len(permissions[role]) == 0 {
			t.Errorf("%s may do nothing", role)
		}
	}
	s := openSite(t, shop.New(t, nil))
	for _, role := range []store.Role{store.RoleOwner, store.RoleManager, store.RoleDesk} {
		email := fmt.Sprintf("%s@example.com", role)
		s.hire(t, s.Tenant, email, role)
		b := s.browser(t)
		b.post("/staff/sign-in", signIn(email, staffPassword)).is(http.StatusSeeOther)
		b.get("/staff/shop/today").is(http.StatusOK)
	}
}
