package web

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/alexedwards/argon2id"

	"holdfast/store"
	"holdfast/store/storetest/shop"
	"holdfast/views"
	"holdfast/views/i18n"
)

func sessionCookie(t testing.TB, b *browser) string {
	t.Helper()
	at, err := url.Parse(b.site.addr)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range b.client.Jar.Cookies(at) {
		if c.Name == "holdfast" {
			return c.Value
		}
	}
	return ""
}

func TestSignInLeadsBackToWhatWasWanted(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	s.hire(t, s.Tenant, "desk@example.com", store.RoleDesk)
	slot := s.Slot(t, 1)
	wanted := views.StaffSlotURL("shop", slot.ID) + "?history=all"
	b := s.browser(t)
	door := b.follow(b.get(wanted)).is(http.StatusOK)
	signed := b.press(door, "/sign-in", signIn("Desk@EXAMPLE.com ", staffPassword)).is(http.StatusSeeOther)
	if signed.location() != wanted {
		t.Errorf("leads to %q", signed.location())
	}
	b.follow(signed).is(http.StatusOK)
	if p := b.get("/staff").is(http.StatusSeeOther); p.location() != "/staff/shop/today" {
		t.Errorf("one venue: %q", p.location())
	}
	b.get("/staff/sign-in").is(http.StatusSeeOther)
	// Elsewhere is nowhere to come back to.
	for _, next := range []string{"https://evil.example/staff/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "/shop", "/staffs", "/staff/../shop", "%00"} {
		p := s.browser(t).post("/staff/sign-in", url.Values{"next": {next}, views.FieldEmail: {"desk@example.com"}, views.FieldPassword: {staffPassword}}).is(http.StatusSeeOther)
		if to := p.location(); to != "/staff" && next != "/staff/../shop" {
			t.Errorf("next=%q leads to %q", next, to)
		}
	}
}

func TestUnknownAndWrongAreAnsweredAlike(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	s.hire(t, s.Tenant, "desk@example.com", store.RoleDesk)
	b := s.browser(t)
	clean := func(p page, email string) string {
		return changing.ReplaceAllString(strings.ReplaceAll(p.body, email, "X"), "")
	}
	wrong := b.post("/staff/sign-in", signIn("desk@example.com", "falsch")).is(http.StatusUnprocessableEntity).says(ja("staff.signin.wrong"))
	for _, email := range []string{"nobody@example.com", "kein Mensch"} {
		if p := b.post("/staff/sign-in", signIn(email, "falsch")).is(http.StatusUnprocessableEntity); clean(p, email) != clean(wrong, "desk@example.com") {
			t.Errorf("%s is answered differently:\n%s", email, p.text())
		}
	}
	b.post("/staff/sign-in", signIn("desk@example.com", strings.Repeat("長", 2000))).is(http.StatusUnprocessableEntity)
	b.post("/staff/sign-in", signIn("", "")).is(http.StatusUnprocessableEntity).need("data-error", "email").need("data-error", "password")
	if strings.Contains(s.logs.String(), "desk@example.com") || strings.Contains(s.logs.String(), "falsch") {
		t.Error("the log has an address or a password")
	}
	// Both sides compute a hash of the same cost.
	params, _, _, err := argon2id.DecodeHash(nobodysHash)
	if err != nil || *params != hashParams {
		t.Errorf("%+v %v", params, err)
	}
	for _, password := range []string{"", "nobody"} {
		if match, _, err := checkPassword(t.Context(), password, ""); match || err != nil {
			t.Errorf("the password of nobody opens something: %v", err)
		}
	}
}

func TestSigningInRenewsTheSessionAndSigningOutEndsIt(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	s.hire(t, s.Tenant, "desk@example.com", store.RoleDesk)
	b := s.browser(t)
	b.post("/staff/language", url.Values{views.FieldLang: {"en"}}).is(http.StatusSeeOther) // makes a session
	planted := sessionCookie(t, b)
	b.post("/staff/sign-in", signIn("desk@example.com", staffPassword)).is(http.StatusSeeOther)
	signed := sessionCookie(t, b)
	if planted == "" || signed == "" || planted == signed {
		t.Fatal("the session was not renewed")
	}
	with := func(cookie string) page {
		return s.browser(t).do(http.MethodGet, "/staff/shop/today", "", "", func(r *http.Request) { r.AddCookie(&http.Cookie{Name: "holdfast", Value: cookie}) })
	}
	with(planted).is(http.StatusSeeOther)
	with(signed).is(http.StatusOK)
	var expires float64
	if err := s.Pool.QueryRow(t.Context(), "SELECT max(extract(epoch FROM expiry - now())) FROM sessions").Scan(&expires); err != nil || expires > staffSession.Seconds()+5 {
		t.Errorf("the session lives %v s, %v", expires, err)
	}
	out := b.press(b.get("/staff/shop/today"), "/sign-out", nil)
	b.follow(out).is(http.StatusOK).need("data-state", "signed_out")
	with(signed).is(http.StatusSeeOther)
	b.get("/staff/shop/today").is(http.StatusSeeOther)
}

func TestAnEndedMembershipEndsAccessAtOnce(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	other := s.AddTenant(t, "other", nil)
	member := s.hire(t, s.Tenant, "desk@example.com", store.RoleDesk)
	s.hire(t, other, "desk@example.com", store.RoleOwner)
	b := s.browser(t)
	b.post("/staff/sign-in", signIn("desk@example.com", staffPassword)).is(http.StatusSeeOther)
	b.get("/staff").is(http.StatusOK).says("Studio shop").says("Studio other").says(ja("staff.role.owner"))
	b.get("/staff/shop/today").is(http.StatusOK)
	s.Exec(t, "DELETE FROM memberships WHERE staff_id = $1 AND tenant_id = $2", member.ID, s.Tenant.ID)
	b.get("/staff/shop/today").is(http.StatusNotFound)
	b.get("/staff/other/today").is(http.StatusOK)
	s.Exec(t, "DELETE FROM memberships WHERE staff_id = $1", member.ID)
	b.get("/staff").is(http.StatusOK).need("data-state", "no_venue")
	s.Exec(t, "DELETE FROM staff WHERE id = $1", member.ID)
	b.get("/staff").is(http.StatusSeeOther)
}

func TestAnOldHashIsMadeAnewAtSignIn(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	cheap, err := argon2id.CreateHash(staffPassword, &argon2id.Params{Memory: 8 * 1024, Iterations: 1, Parallelism: 1, SaltLength: 16, KeyLength: 32})
	if err != nil {
		t.Fatal(err)
	}
	member, err := s.Store.AddStaff(t.Context(), store.NewStaff{TenantID: s.Tenant.ID, Email: "old@example.com", Name: "O", Role: store.RoleDesk, Locale: i18n.EN, PasswordHash: cheap})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s.browser(t).post("/staff/sign-in", signIn("old@example.com", staffPassword)).is(http.StatusSeeOther)
	}
	now, err := s.Store.StaffByID(t.Context(), member.ID)
	if err != nil {
		t.Fatal(err)
	}
	params, _, _, err := argon2id.DecodeHash(now.PasswordHash)
	if err != nil || *params != hashParams {
		t.Errorf("%+v %v", params, err)
	}
}

func TestSignInIsThrottledByAccountAndByAddress(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil), func(c *Config) { c.RateLimit = true })
	s.hire(t, s.Tenant, "desk@example.com", store.RoleDesk)
	s.hire(t, s.Tenant, "colleague@example.com", store.RoleDesk)
	b := s.browser(t)
	for i := range triesPerAccount {
		// Another way of writing the address is the same account.
		b.post("/staff/sign-in", signIn([]string{"desk@example.com", "DESK@example.com ", "ｄesk@example.com"}[i%3], "falsch")).is(http.StatusUnprocessableEntity)
	}
	p := b.post("/staff/sign-in", signIn("desk@example.com", staffPassword)).is(http.StatusTooManyRequests)
	if n, err := strconv.Atoi(p.header.Get("Retry-After")); err != nil || n < 1 || n > int(triesWindow.Seconds()) {
		t.Errorf("Retry-After %q", p.header.Get("Retry-After"))
	}
	p.need("data-error", "limit")
	b.post("/staff/sign-in", signIn("colleague@example.com", staffPassword)).is(http.StatusSeeOther)
	for i := triesPerAccount + 2; i < triesPerAddress; i++ {
		s.browser(t).post("/staff/sign-in", signIn(strconv.Itoa(i)+"@example.com", "falsch")).is(http.StatusUnprocessableEntity)
	}
	s.browser(t).post("/staff/sign-in", signIn("colleague@example.com", staffPassword)).is(http.StatusTooManyRequests)
}

func TestTheLanguageOfStaffIsTheirOwn(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	b.header.Set("Accept-Language", "en")
	page := b.get("/staff/shop/today").says(ja("staff.attention.none"))
	p := b.press(page, "/staff/language", url.Values{views.FieldLang: {"en"}})
	if !strings.HasPrefix(p.location(), "/staff/shop/today") {
		t.Errorf("leads to %q", p.location())
	}
	english := i18n.For(i18n.EN).T("staff.attention.none")
	b.follow(p).says(english)
	again := s.browser(t)
	again.post("/staff/sign-in", signIn("desk@example.com", staffPassword)).is(http.StatusSeeOther)
	again.get("/staff/shop/today").says(english)
	b.post("/staff/language", url.Values{views.FieldLang: {"fr"}}).is(http.StatusBadRequest)
}
