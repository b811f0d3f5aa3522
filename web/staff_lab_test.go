package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"holdfast/store"
	"holdfast/store/storetest/shop"
	"holdfast/views"
)

func init() {
	forms["/staff/{tenant}/proof/race"] = badForm{owner: true, fresh: func(t *testing.T, s *site) (string, url.Values) {
		return views.StaffProofRaceURL("shop"), none()
	}}
}

func (s *site) watch(t *testing.T) {
	t.Helper()
	if _, err := s.Store.WatchInvariants(t.Context(), store.WatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestThePageOfTheSelfCheckSaysWhatIsSo(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	slot := s.Slot(t, 3)
	s.Book(t, slot, 1)
	other := s.AddTenant(t, "other", nil)
	s.hire(t, other, "other@example.com", store.RoleOwner)
	stranger := s.browser(t)
	stranger.follow(stranger.post("/staff/sign-in", signIn("other@example.com", staffPassword)))

	b.get("/staff/shop/proof").is(http.StatusOK).need("data-state", "unknown").says("これから点検します")
	s.watch(t)
	p := b.get("/staff/shop/proof").is(http.StatusOK).says("すべて合っています")
	for _, id := range store.InvariantIDs {
		p.need("data-invariant", id)
	}
	if p.has("data-state", "broken") || p.has("href", views.StaffSlotURL("shop", slot.ID)) {
		t.Error("what is well looks broken")
	}

	s.Exec(t, "UPDATE slots SET taken = 2 WHERE id = $1", slot.ID)
	s.watch(t)
	p = b.get("/staff/shop/proof").says("食い違いが2件あります") // I2 and I10
	p.need("data-state", "broken").need("href", views.StaffSlotURL("shop", slot.ID)).need("href", views.StaffSlotHistoryURL("shop", slot.ID, 0))
	if p := stranger.get("/staff/other/proof").is(http.StatusOK); p.has("data-state", "broken") || strings.Contains(p.body, slot.ID) {
		t.Error("another venue is told")
	}
	stranger.get("/staff/shop/proof").is(http.StatusNotFound)
	if n := s.Count(func() { b.get("/staff/shop/proof").is(http.StatusOK) }); n > 14 {
		t.Errorf("the page sends %d statements", n)
	}
	s.Exec(t, "UPDATE slots SET taken = 1 WHERE id = $1", slot.ID)
	s.watch(t)
	b.get("/staff/shop/proof").says("すべて合っています")
}

func TestTheRaceLabOnThePage(t *testing.T) {
	t.Parallel()
	woken := 0
	s := openSite(t, shop.New(t, nil), func(c *Config) { c.Race = func() { woken++ } })
	desk, owner := atTheDesk(t, s), asOwner(t, s)
	start := views.StaffProofRaceURL("shop")
	if desk.get("/staff/shop/proof").is(http.StatusOK).hasForm(start) {
		t.Error("the desk has the button")
	}
	desk.post(start, none()).is(http.StatusForbidden)

	owner.follow(owner.press(owner.get("/staff/shop/proof"), start, nil)).need("data-state", "running").need("href", views.StaffProofURL("shop")).says("まもなく始まります")
	if woken != 1 {
		t.Errorf("the runner was woken %d times", woken)
	}
	claim, ok, err := s.Store.ClaimRace(t.Context())
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if _, err := s.Store.RaceBeat(t.Context(), claim, 4, 11); err != nil {
		t.Fatal(err)
	}
	p := owner.get("/staff/shop/proof").need("value", "4").need("hx-trigger", "every 2s").says("11種目のうち4種目")
	if p.hasForm(start) {
		t.Error("a second one could be started")
	}
	owner.follow(owner.post(start, none()).is(http.StatusSeeOther)).says("すでに始まっています")
	results := []store.RaceResult{
		{Scenario: "last-seat-2", Strategy: "naive", Rounds: 10, Broken: 10, Violations: map[string]int{"oversold": 10}},
		{Scenario: "last-seat-2", Strategy: "conditional", Rounds: 10},
		{Scenario: "stale", Strategy: "naive", Rounds: 10},
		{Scenario: "stale", Strategy: "conditional", Rounds: 10},
		{Scenario: "deadline-grace", Strategy: "conditional", Rounds: 40, InTime: 31},
		{Scenario: "one-that-is-new", Strategy: "conditional", Rounds: 10},
	}
	if err := s.Store.EndRace(t.Context(), claim, results); err != nil {
		t.Fatal(err)
	}
	p = owner.get("/staff/shop/proof").says("どの取り合いでも、Holdfast の約束は守られました").says("10回のうち10回、同じ席を二人に売りました").says("断られた方は0人").says("今回は何も起きませんでした")
	if p.has("hx-trigger", "every 2s") || !p.hasForm(start) || p.has("data-scenario", "one-that-is-new") {
		t.Error("it looks as if it were still under way, or tells what it has no words for")
	}

	// A product that breaks is told as loudly; a run that came to no end keeps the last result below it.
	owner.press(p, start, nil)
	if claim, ok, err = s.Store.ClaimRace(t.Context()); err != nil || !ok {
		t.Fatal(ok, err)
	}
	results[1].Broken, results[1].Violations = 3, map[string]int{"oversold": 3}
	if err := s.Store.EndRace(t.Context(), claim, results); err != nil {
		t.Fatal(err)
	}
	desk.get("/staff/shop/proof").says("約束が守られない取り合いがありました").says("10回のうち3回")
	owner.post(start, none())
	if claim, ok, err = s.Store.ClaimRace(t.Context()); err != nil || !ok {
		t.Fatal(ok, err)
	}
	if err := s.Store.EndRace(t.Context(), claim, nil); err != nil {
		t.Fatal(err)
	}
	owner.get("/staff/shop/proof").need("data-state", "failed").need("data-scenario", "last-seat-2")
}

func TestTheRaceLabIsTheOperatorsToAllow(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	owner := asOwner(t, s)
	if p := owner.get("/staff/shop/proof").says("HOLDFAST_RACE"); p.hasForm(views.StaffProofRaceURL("shop")) {
		t.Error("there is a button")
	}
	owner.post(views.StaffProofRaceURL("shop"), none()).is(http.StatusSeeOther)
	if runs, err := s.Store.Races(t.Context(), s.Tenant.ID, 1); err != nil || len(runs) != 0 {
		t.Error(runs, err)
	}
}

// A party that is too large is a fault of one field: it is told beside it, and what was chosen stays.
func TestAPartyThatIsTooLargeIsToldBesideItsField(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, func(p *store.Policies) { p.PartyMax = 2 }))
	b := s.browser(t)
	slot := s.Slot(t, 5)
	form := b.get(views.SlotURL("shop", slot.ID))
	p := b.press(form, "/hold", url.Values{views.FieldPartySize: {"3"}}).is(http.StatusConflict)
	p.need("data-error", views.FieldPartySize).says("2名様まで")
	if p.has("data-outcome", "party_too_large") || !p.hasForm(views.SlotHoldURL("shop", slot.ID)) {
		t.Error("it is told on top, or the form is gone")
	}
	b.follow(b.press(p, "/hold", url.Values{views.FieldPartySize: {"2"}}).is(http.StatusSeeOther))
}

// Whoever has just made a month of slots wants to see the first of them.
func TestAScheduleLeadsToTheFirstDayThatItMade(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	c := s.scheduled(t)
	if c.Result == nil || c.Result.First == "" || c.Result.First < c.First {
		t.Fatalf("%+v", c.Result)
	}
	asOwner(t, s).get(views.StaffScheduleURL("shop", c.ID, nil)).is(http.StatusOK).need("href", views.StaffDayURL("shop", c.Result.First))
}
