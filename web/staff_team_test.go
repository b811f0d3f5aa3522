package web

import (
	"context"
	"encoding/base32"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"holdfast/store"
	"holdfast/store/storetest/shop"
	"holdfast/views"
	"holdfast/views/i18n"
)

const anotherPassword = "青い鳥と 七つの海"

func init() {
	email := badField{name: views.FieldEmail, kind: textField, longest: longestEmail}
	code := badField{name: views.FieldCode, kind: textField}
	newPassword := badField{name: views.FieldNewPassword, kind: textField}
	for route, form := range map[string]badForm{
		"/staff/reset": {fields: []badField{email}, alert: true, fresh: func(*testing.T, *site) (string, url.Values) {
			return views.StaffResetURL(), url.Values{views.FieldEmail: {"nobody@example.com"}}
		}},
		"/staff/reset/{token}": {fields: []badField{newPassword}, fresh: func(t *testing.T, s *site) (string, url.Values) {
			return views.StaffResetLinkURL(s.resetToken(t, "desk@example.com")), url.Values{views.FieldNewPassword: {anotherPassword}}
		}},
		"/staff/invitations/{tenant}/{token}": {
			fields: []badField{{name: views.FieldName, kind: textField, longest: longestName}, newPassword},
			fresh: func(t *testing.T, s *site) (string, url.Values) {
				s.Exec(t, "DELETE FROM sessions") // who has joined is signed in
				i := s.invite(t, s.Person().Email, store.RoleDesk)
				return views.StaffInvitationURL("shop", s.Store.InvitationToken(i)), url.Values{views.FieldName: {"新人 花子"}, views.FieldNewPassword: {anotherPassword}}
			},
		},
		"/staff/sign-in/code": {fields: []badField{{name: views.FieldCode, kind: quietField}}, fresh: func(*testing.T, *site) (string, url.Values) {
			return views.StaffSignInCodeURL(), url.Values{views.FieldCode: {"123456"}}
		}},
		"/staff/account": {
			fields: []badField{{name: views.FieldName, kind: textField, longest: longestName}, {name: views.FieldLang, kind: choiceField}}, staff: true,
			fresh: func(*testing.T, *site) (string, url.Values) {
				return views.StaffAccountURL(), url.Values{views.FieldName: {"受付 一郎"}, views.FieldLang: {"ja"}}
			},
		},
		"/staff/account/password": {
			fields: []badField{{name: views.FieldPassword, kind: textField}, newPassword}, staff: true,
			fresh: func(t *testing.T, s *site) (string, url.Values) {
				hash, err := staffHash()
				if err != nil {
					t.Fatal(err)
				}
				s.Exec(t, "UPDATE staff SET password_hash = $1", hash)
				return views.StaffPasswordURL(), url.Values{views.FieldPassword: {staffPassword}, views.FieldNewPassword: {anotherPassword}}
			},
		},
		"/staff/account/sessions/end": {fields: []badField{{name: views.FieldSession, kind: idField}}, staff: true, fresh: func(*testing.T, *site) (string, url.Values) {
			return views.StaffSessionEndURL(), url.Values{views.FieldSession: {"another"}}
		}},
		"/staff/account/sessions/end-others":    {staff: true, fresh: func(*testing.T, *site) (string, url.Values) { return views.StaffSessionsEndURL(), none() }},
		"/staff/account/second-factor/start":    {staff: true, fresh: func(*testing.T, *site) (string, url.Values) { return views.StaffFactorStartURL(), none() }},
		"/staff/account/second-factor/confirm":  {fields: []badField{code}, staff: true, shown: true, fresh: confirmForm},
		"/staff/account/second-factor/recovery": {fields: []badField{code}, staff: true, shown: true, fresh: onFactor(views.StaffFactorRecoveryURL())},
		"/staff/account/second-factor/off": {
			fields: []badField{{name: views.FieldPassword, kind: textField}, code}, staff: true,
			fresh: func(t *testing.T, s *site) (string, url.Values) {
				path, values := onFactor(views.StaffFactorOffURL())(t, s)
				return path, with(values, views.FieldPassword, staffPassword)
			},
		},
		"/staff/venues/new": {
			fields: []badField{
				{name: views.FieldName, kind: textField, longest: longestName},
				{name: views.FieldSlug, kind: textField},
				{name: views.FieldZone, kind: textField},
				{name: views.FieldLang, kind: choiceField},
			}, owner: true,
			fresh: func(_ *testing.T, s *site) (string, url.Values) {
				name, _, _ := strings.Cut(s.Person().Email, "@")
				return views.StaffNewVenueURL(), url.Values{views.FieldName: {"二号店"}, views.FieldSlug: {name}, views.FieldZone: {"Asia/Tokyo"}, views.FieldLang: {"ja"}}
			},
		},
		"/staff/{tenant}/team/invite": {
			fields: []badField{email, {name: views.FieldRole, kind: choiceField}, {name: views.FieldLang, kind: choiceField}}, owner: true,
			fresh: func(_ *testing.T, s *site) (string, url.Values) {
				return views.StaffTeamInviteURL("shop"), url.Values{views.FieldEmail: {s.Person().Email}, views.FieldRole: {"desk"}, views.FieldLang: {"en"}}
			},
		},
		"/staff/{tenant}/team/{member}/role": {fields: []badField{{name: views.FieldRole, kind: choiceField}}, owner: true, fresh: func(t *testing.T, s *site) (string, url.Values) {
			return views.StaffTeamRoleURL("shop", s.hire(t, s.Tenant, "colleague@example.com", store.RoleDesk).ID), url.Values{views.FieldRole: {"manager"}}
		}},
		"/staff/{tenant}/team/{member}/remove": {owner: true, fresh: func(t *testing.T, s *site) (string, url.Values) {
			return views.StaffTeamRemoveURL("shop", s.hire(t, s.Tenant, "colleague@example.com", store.RoleDesk).ID), none()
		}},
		"/staff/{tenant}/team/invitations/{invitation}/resend": {owner: true, fresh: func(t *testing.T, s *site) (string, url.Values) {
			return views.StaffInvitationResendURL("shop", s.invite(t, "new@example.com", store.RoleDesk).ID), none()
		}},
		"/staff/{tenant}/team/invitations/{invitation}/revoke": {owner: true, fresh: func(t *testing.T, s *site) (string, url.Values) {
			return views.StaffInvitationRevokeURL("shop", s.invite(t, "new@example.com", store.RoleDesk).ID), none()
		}},
		"/staff/{tenant}/api-keys": {
			fields: []badField{{name: views.FieldName, kind: textField, longest: longestName}, {name: views.FieldScope, kind: choiceField}}, owner: true, shown: true,
			fresh: func(*testing.T, *site) (string, url.Values) {
				return views.StaffAPIKeysURL("shop"), url.Values{views.FieldName: {"ホームページ"}, views.FieldScope: {"read"}}
			},
		},
		"/staff/{tenant}/api-keys/{key}/revoke": {owner: true, fresh: func(t *testing.T, s *site) (string, url.Values) {
			return views.StaffAPIKeyRevokeURL("shop", s.apiKey(t).ID), none()
		}},
	} {
		forms[route] = form
	}
}

func (s *site) invite(t *testing.T, email string, role store.Role) store.Invitation {
	t.Helper()
	i, err := s.Store.Invite(t.Context(), store.NewInvitation{TenantID: s.Tenant.ID, Email: email, Role: role, Locale: i18n.JA, InvitedBy: "店長"})
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func (s *site) apiKey(t *testing.T) store.APIKeyInfo {
	t.Helper()
	if _, err := s.Store.AddAPIKey(t.Context(), s.Tenant, "ホームページ", []string{"read"}); err != nil {
		t.Fatal(err)
	}
	keys, err := s.Store.APIKeys(t.Context(), s.Tenant.ID)
	if err != nil {
		t.Fatal(err)
	}
	return keys[0]
}

// lastMail is the newest message of a kind, as its dispatcher reads it.
func (s *site) lastMail(t *testing.T, kind store.MessageKind) store.Letter {
	t.Helper()
	all, err := s.Store.Messages(t.Context(), store.MessageQuery{TenantID: s.Tenant.ID})
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(all, func(m store.Message) bool { return m.Kind == kind })
	if at < 0 {
		t.Fatalf("no mail %s", kind)
	}
	l, err := s.Store.Letter(t.Context(), all[at])
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (s *site) resetToken(t *testing.T, email string) string {
	t.Helper()
	s.Exec(t, "DELETE FROM rate_limits")
	if err := s.Store.RequestReset(t.Context(), email, i18n.JA); err != nil {
		t.Fatal(err)
	}
	return s.lastMail(t, store.KindStaffReset).Staff.Token
}

// factorKey is a secret as apps hold it.
var factorKey = base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString([]byte("twenty bytes of it!!"))

// codeAt is what an app shows for the secret, some steps from now.
func (s *site) codeAt(t *testing.T, secret string, steps int) string {
	t.Helper()
	now, err := s.Store.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	code, err := totp.GenerateCode(secret, now.Add(time.Duration(steps)*codeStepSeconds*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// withFactor turns somebody's second factor on and gives the recovery codes.
func (s *site) withFactor(t *testing.T, email string) (store.StaffMember, []string) {
	t.Helper()
	m, err := s.Store.StaffByEmail(t.Context(), email)
	if err != nil {
		t.Fatal(err)
	}
	s.Exec(t, "UPDATE staff SET totp_secret = NULL, totp_pending = NULL, totp_step = 0, recovery = '{}' WHERE id = $1", m.ID)
	if err := s.Store.StartSecondFactor(t.Context(), m.ID, factorKey); err != nil {
		t.Fatal(err)
	}
	codes, err := s.Store.ConfirmSecondFactor(t.Context(), m.ID, factorKey, 1)
	if err != nil {
		t.Fatal(err)
	}
	return m, codes
}

func confirmForm(t *testing.T, s *site) (string, url.Values) {
	m, err := s.Store.StaffByEmail(t.Context(), "desk@example.com")
	if err != nil {
		t.Fatal(err)
	}
	s.Exec(t, "UPDATE staff SET totp_secret = NULL, recovery = '{}' WHERE id = $1", m.ID)
	if err := s.Store.StartSecondFactor(t.Context(), m.ID, factorKey); err != nil {
		t.Fatal(err)
	}
	return views.StaffFactorConfirmURL(), url.Values{views.FieldCode: {s.codeAt(t, factorKey, 0)}}
}

func onFactor(path string) func(*testing.T, *site) (string, url.Values) {
	return func(t *testing.T, s *site) (string, url.Values) {
		s.withFactor(t, "desk@example.com")
		return path, url.Values{views.FieldCode: {s.codeAt(t, factorKey, 0)}}
	}
}

func TestAnInvitedPersonJoins(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	team := b.get(views.StaffTeamURL("shop")).is(http.StatusOK).says(ja("team.kept"))
	done := b.press(team, "/invite", url.Values{views.FieldEmail: {"New@Example.com"}, views.FieldRole: {"manager"}, views.FieldLang: {"en"}})
	team = b.follow(done).is(http.StatusOK).says(ja("team.invite.done")).says("new@example.com")
	// Somebody who is known elsewhere is invited with the very same answer.
	s.hire(t, s.AddTenant(t, "other", nil), "known@example.com", store.RoleOwner)
	known := b.follow(b.press(team, "/invite", url.Values{views.FieldEmail: {"known@example.com"}})).says(ja("team.invite.done"))
	if strings.Contains(known.text(), "受付 一郎\nknown@example.com") {
		t.Error("the page knows the name of somebody invited")
	}
	b.press(known, "/invite", url.Values{views.FieldEmail: {"owner@example.com"}}).is(http.StatusConflict).need("data-error", views.FieldEmail)

	all, err := s.Store.Messages(t.Context(), store.MessageQuery{TenantID: s.Tenant.ID})
	if err != nil || len(all) != 2 {
		t.Fatalf("%d mails, %v", len(all), err)
	}
	link := func(i int) string {
		l, err := s.Store.Letter(t.Context(), all[i])
		if err != nil {
			t.Fatal(err)
		}
		return views.StaffInvitationURL("shop", l.Staff.Token)
	}
	toKnown, toNew := link(0), link(1)

	// A scanner opens the link as often as it likes.
	before := dump(t, s.Shop)
	scanner := s.browser(t)
	for range 3 {
		scanner.get(toNew).is(http.StatusOK).need("data-state", "invite_new")
		scanner.do(http.MethodHead, toNew, "", "")
	}
	if dump(t, s.Shop) != before {
		t.Error("opening the link has changed something")
	}
	guest := s.browser(t)
	page := guest.get(toNew).says("Studio shop")
	if got := page.header.Get("Content-Language"); got != "en" {
		t.Errorf("the page is in %s, the mail was in en", got)
	}
	guest.press(page, toNew, url.Values{views.FieldName: {"Ann"}, views.FieldNewPassword: {"12345678"}}).is(http.StatusUnprocessableEntity).need("data-error", views.FieldNewPassword)
	in := guest.press(page, toNew, url.Values{views.FieldName: {"Ann"}, views.FieldNewPassword: {anotherPassword}}).is(http.StatusSeeOther)
	guest.follow(in).is(http.StatusOK).says("You have joined the team.")
	guest.get(views.StaffTeamURL("shop")).is(http.StatusForbidden) // a manager
	guest.get(toNew).is(http.StatusNotFound).need("data-state", "invite_dead")
	s.browser(t).post(toNew, url.Values{views.FieldNewPassword: {anotherPassword}}).is(http.StatusNotFound)
	s.browser(t).post("/staff/sign-in", signIn("new@example.com", anotherPassword)).is(http.StatusSeeOther)

	// Somebody else can't use it, and who has an account signs in first.
	b.get(toKnown).is(http.StatusOK).need("data-state", "invite_other")
	b.post(toKnown, nil).is(http.StatusConflict)
	k := s.browser(t)
	door := k.get(toKnown).is(http.StatusOK).need("data-state", "invite_sign_in")
	k.post(toKnown, url.Values{views.FieldNewPassword: {anotherPassword}}).is(http.StatusConflict)
	var to string
	for _, n := range door.all("href", "") {
		if strings.HasPrefix(attr(n, "href"), "/staff/sign-in?") {
			to = attr(n, "href")
		}
	}
	back := k.press(k.get(to), "/sign-in", signIn("known@example.com", staffPassword))
	if back.location() != toKnown {
		t.Fatalf("leads to %q", back.location())
	}
	k.follow(k.press(k.follow(back).need("data-state", "invite_join"), toKnown, nil)).is(http.StatusOK)
	k.get("/staff/shop/today").is(http.StatusOK)
	for _, bad := range []string{"/staff/invitations/shop/x", "/staff/invitations/%00/" + strings.Repeat("a", 32), "/staff/invitations/other" + strings.TrimPrefix(toKnown, "/staff/invitations/shop")} {
		s.browser(t).get(bad).is(http.StatusNotFound).need("data-state", "invite_dead")
	}
}

func TestOwnersRunTheTeam(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	desk := s.hire(t, s.Tenant, "desk@example.com", store.RoleDesk)
	colleague := s.browser(t)
	colleague.follow(colleague.post("/staff/sign-in", signIn("desk@example.com", staffPassword)))
	team := b.get(views.StaffTeamURL("shop")).says("desk@example.com")
	b.follow(b.press(team, desk.ID+"/role", url.Values{views.FieldRole: {"manager"}})).says(ja("team.role.done"))
	ask := b.get(views.StaffTeamRemoveURL("shop", desk.ID)).is(http.StatusOK).says(ja("team.remove.effect.access"))
	colleague.get("/staff/shop/today").is(http.StatusOK) // asking has changed nothing
	b.follow(b.press(ask, "/remove", nil)).says(ja("team.remove.done"))
	colleague.get("/staff/shop/today").is(http.StatusSeeOther) // works nowhere: signed out
	b.press(ask, "/remove", nil).is(http.StatusNotFound)

	me, err := s.Store.StaffByEmail(t.Context(), "owner@example.com")
	if err != nil {
		t.Fatal(err)
	}
	b.press(b.get(views.StaffTeamRemoveURL("shop", me.ID)), "/remove", nil).is(http.StatusConflict).says(ja("staff.refused.last_owner"))
	b.post(views.StaffTeamRoleURL("shop", me.ID), url.Values{views.FieldRole: {"desk"}}).is(http.StatusConflict).says(ja("staff.refused.last_owner"))

	s.invite(t, "late@example.com", store.RoleDesk)
	page := b.get(views.StaffTeamURL("shop")).says("late@example.com")
	b.follow(b.press(page, "/resend", nil)).says(ja("team.resend.done"))
	s.Exec(t, "UPDATE staff_invitations SET expires_at = now() - interval '1 minute'")
	page = b.get(views.StaffTeamURL("shop")).says(ja("team.invitation.over"))
	if page = b.follow(b.press(page, "/revoke", nil)).says(ja("team.revoke.done")); strings.Contains(page.text(), "late@example.com") {
		t.Error("an invitation that was taken back is shown")
	}
}

func TestAPIKeysAreShownOnce(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	page := b.get(views.StaffAPIKeysURL("shop")).is(http.StatusOK).says(ja("apikeys.none"))
	b.press(page, "/api-keys", url.Values{views.FieldName: {""}, views.FieldScope: {"everything"}}).is(http.StatusUnprocessableEntity).
		need("data-error", views.FieldName).need("data-error", views.FieldScope)
	made := b.press(page, "/api-keys", url.Values{views.FieldName: {"Website"}, views.FieldScope: {"read", "manage"}}).is(http.StatusOK).need("data-api-key", "")
	key := made.all("data-api-key", "")[0].FirstChild.Data
	found, err := s.Store.APIKeyByText(t.Context(), s.Tenant.ID, key)
	if err != nil || !slices.Equal(found.Scopes, []string{"read", "manage"}) {
		t.Fatalf("%q: %+v %v", key, found, err)
	}
	if made.header.Get("Cache-Control") != cacheNever || strings.Contains(s.logs.String(), key) {
		t.Error("the key is kept")
	}
	if page = b.get(views.StaffAPIKeysURL("shop")); strings.Contains(page.body, key) || page.has("data-api-key", "") {
		t.Error("the key is shown again")
	}
	var kept string
	if err := s.Pool.QueryRow(t.Context(), "SELECT string_agg(encode(data, 'escape'), ' ') FROM sessions").Scan(&kept); err != nil || strings.Contains(kept, key) {
		t.Errorf("the session has the key, %v", err)
	}
	ask := b.get(views.StaffAPIKeyRevokeURL("shop", found.ID)).is(http.StatusOK)
	b.follow(b.press(ask, "/revoke", nil)).says(ja("apikeys.revoke.done"))
	if _, err := s.Store.APIKeyByText(t.Context(), s.Tenant.ID, key); err != store.NotFound {
		t.Errorf("%v", err)
	}
	b.get(views.StaffAPIKeyRevokeURL("shop", found.ID)).is(http.StatusSeeOther)
}

func TestPasswordsAreNoneThatEverybodyTries(t *testing.T) {
	t.Parallel()
	for password, want := range map[string]i18n.Key{
		"": "account.err.password.missing", "short": "account.err.password.short", "       a       ": "account.err.password.short",
		"password": "account.err.password.common", "PassWord1": "account.err.password.common", "ｐａｓｓｗｏｒｄ": "account.err.password.common", "zzzzzzzzzz": "account.err.password.common",
		"hanako.s@example.com": "account.err.password.you", "Hanako.S": "account.err.password.you", "佐藤花子佐藤花子": "account.err.password.you",
		"a\x00bcdefgh": "form.err.characters", "\xff\xfe12345678": "form.err.characters", strings.Repeat("長", 334): "account.err.password.long",
		strings.Repeat("長い", 100): "", "合言葉は山と川": "account.err.password.short", "合言葉は山と川です": "", "correct horse": "",
	} {
		if got := passwordFault(password, "hanako.s@example.com", "佐藤花子佐藤花子"); got != want {
			t.Errorf("%.30q: %q, want %q", password, got, want)
		}
	}
	for _, p := range commonPasswords {
		if len(p) < shortestPassword-1 || p != strings.ToLower(p) {
			t.Errorf("%q can't be met", p)
		}
	}
}

func TestAPasswordIsChanged(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b, elsewhere := atTheDesk(t, s), s.browser(t)
	elsewhere.post("/staff/sign-in", signIn("desk@example.com", staffPassword)).is(http.StatusSeeOther)
	page := b.get(views.StaffPasswordURL()).is(http.StatusOK)
	change := func(old, password string) page2 {
		return page2{b.press(page, "/password", url.Values{views.FieldPassword: {old}, views.FieldNewPassword: {password}})}
	}
	change("falsch", anotherPassword).is(http.StatusUnprocessableEntity).need("data-error", views.FieldPassword)
	change(staffPassword, "desk@example.com").is(http.StatusUnprocessableEntity).need("data-error", views.FieldNewPassword)
	elsewhere.get("/staff/shop/today").is(http.StatusOK)
	b.follow(change(staffPassword, anotherPassword).page).is(http.StatusOK).says(ja("account.password.done"))
	elsewhere.get("/staff/shop/today").is(http.StatusSeeOther)
	b.get("/staff/shop/today").is(http.StatusOK)
	s.browser(t).post("/staff/sign-in", signIn("desk@example.com", staffPassword)).is(http.StatusUnprocessableEntity)
	s.browser(t).post("/staff/sign-in", signIn("desk@example.com", anotherPassword)).is(http.StatusSeeOther)
	if l := s.lastMail(t, store.KindStaffPasswordChanged); l.Message.Recipient != "desk@example.com" || l.Pointless {
		t.Errorf("%+v", l)
	}
	if strings.Contains(s.logs.String(), anotherPassword) {
		t.Error("the log has a password")
	}
}

type page2 struct{ page }

func TestAForgottenPasswordIsReset(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	signed := atTheDesk(t, s)
	b := s.browser(t)
	door := b.get("/staff/sign-in")
	if !door.has("href", views.StaffResetURL()) {
		t.Error("the way to a new password is missing")
	}
	clean := func(p page) string { return changing.ReplaceAllString(p.body, "") }
	answers := map[string]string{}
	for _, email := range []string{"desk@example.com", "nobody@example.com"} {
		sent := s.browser(t).post(views.StaffResetURL(), url.Values{views.FieldEmail: {email}}).is(http.StatusSeeOther)
		answers[email] = sent.location() + clean(s.browser(t).follow(sent).is(http.StatusOK).need("data-state", "reset_sent"))
	}
	if answers["desk@example.com"] != answers["nobody@example.com"] {
		t.Error("somebody known is answered differently")
	}
	b.post(views.StaffResetURL(), url.Values{views.FieldEmail: {"kein Mensch"}}).is(http.StatusUnprocessableEntity).need("data-error", views.FieldEmail)
	link := views.StaffResetLinkURL(s.lastMail(t, store.KindStaffReset).Staff.Token)
	before := dump(t, s.Shop)
	page := b.get(link).is(http.StatusOK).need("data-state", "new_password")
	b.do(http.MethodHead, link, "", "")
	if dump(t, s.Shop) != before {
		t.Error("opening the link has changed something")
	}
	b.press(page, link, url.Values{views.FieldNewPassword: {"qwertyuiop"}}).is(http.StatusUnprocessableEntity).need("data-error", views.FieldNewPassword)
	var wg sync.WaitGroup
	statuses := make([]int, 4)
	for i := range statuses {
		own := s.browser(t)
		wg.Go(func() {
			statuses[i] = own.post(link, url.Values{views.FieldNewPassword: {fmt.Sprint(anotherPassword, i)}}).status
		})
	}
	wg.Wait()
	if n := len(slices.DeleteFunc(slices.Clone(statuses), func(s int) bool { return s != http.StatusSeeOther })); n != 1 {
		t.Errorf("used %d times at once: %v", n, statuses)
	}
	signed.get("/staff/shop/today").is(http.StatusSeeOther) // every session has ended
	b.get(link).is(http.StatusNotFound).need("data-state", "reset_dead")
	winner := fmt.Sprint(anotherPassword, slices.Index(statuses, http.StatusSeeOther))
	s.browser(t).post("/staff/sign-in", signIn("desk@example.com", winner)).is(http.StatusSeeOther)
	for _, bad := range []string{"x", strings.Repeat("a", 32), "%00", strings.Repeat("あ", 32)} {
		b.get("/staff/reset/" + bad).is(http.StatusNotFound)
		b.post("/staff/reset/"+bad, url.Values{views.FieldNewPassword: {anotherPassword}}).is(http.StatusNotFound)
	}
}

func TestResetAndCodeAreThrottled(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil), func(c *Config) { c.RateLimit = true })
	s.hire(t, s.Tenant, "desk@example.com", store.RoleDesk)
	for _, email := range []string{"desk@example.com", "nobody@example.com"} {
		s.Exec(t, "DELETE FROM rate_limits")
		statuses := map[int]int{}
		for range triesPerAccount + 1 {
			// The limit of one instance counts minutes; here it is that of the account that is asked.
			p := s.browser(t).post(views.StaffResetURL(), url.Values{views.FieldEmail: {email}})
			statuses[p.status]++
			if p.status == http.StatusTooManyRequests && p.header.Get("Retry-After") == "" {
				t.Error("nobody says how long to wait")
			}
		}
		if statuses[http.StatusTooManyRequests] < 1 || statuses[http.StatusSeeOther]+statuses[http.StatusTooManyRequests] != triesPerAccount+1 {
			t.Errorf("%s: %v", email, statuses)
		}
	}
	s.Exec(t, "DELETE FROM rate_limits")
	s.withFactor(t, "desk@example.com")
	b := s.browser(t)
	page := b.follow(b.post("/staff/sign-in", signIn("desk@example.com", staffPassword))).need("data-state", "code")
	wrong := s.codeAt(t, factorKey, 100)
	for range triesPerAccount {
		b.press(page, "/code", url.Values{views.FieldCode: {wrong}}).is(http.StatusUnprocessableEntity)
	}
	b.press(page, "/code", url.Values{views.FieldCode: {s.codeAt(t, factorKey, 0)}}).is(http.StatusTooManyRequests).need("data-error", "limit")
}

func TestASecondFactorIsSetUpAndAskedFor(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	off := b.get(views.StaffFactorURL()).is(http.StatusOK).need("data-state", "factor_off")
	pending := b.follow(b.press(off, "/start", nil)).need("data-state", "factor_pending")
	secret := strings.ReplaceAll(pending.all("data-secret", "")[0].FirstChild.Data, " ", "")
	b.press(pending, "/confirm", url.Values{views.FieldCode: {s.codeAt(t, secret, 50)}}).is(http.StatusUnprocessableEntity).need("data-error", views.FieldCode)
	first := s.codeAt(t, secret, -1)
	made := b.press(pending, "/confirm", url.Values{views.FieldCode: {first[:3] + " " + first[3:]}}).is(http.StatusOK).need("data-state", "recovery_codes")
	var codes []string
	for _, n := range made.all("data-recovery-code", "") {
		codes = append(codes, n.FirstChild.Data)
	}
	if len(codes) != store.RecoveryCodes || made.header.Get("Cache-Control") != cacheNever {
		t.Fatalf("%v", codes)
	}
	on := b.get(views.StaffFactorURL()).need("data-state", "factor_on")
	if strings.Contains(on.body, codes[0]) || strings.Contains(on.body, secret) {
		t.Error("what is shown once is shown again")
	}

	enter := func(code string) (*browser, page) {
		t.Helper()
		n := s.browser(t)
		n.get("/staff/shop/today").is(http.StatusSeeOther)
		half := n.post("/staff/sign-in", url.Values{views.FieldEmail: {"desk@example.com"}, views.FieldPassword: {staffPassword}, views.FieldNext: {"/staff/shop/messages"}})
		asked := n.follow(half).need("data-state", "code")
		n.get("/staff/shop/today").is(http.StatusSeeOther) // half is nothing
		n.get(views.StaffAccountURL()).is(http.StatusSeeOther)
		return n, n.press(asked, "/code", url.Values{views.FieldCode: {code}})
	}
	_, again := enter(first) // the code that turned it on
	again.is(http.StatusUnprocessableEntity).need("data-error", views.FieldCode)
	code := s.codeAt(t, secret, 0)
	n, in := enter(code)
	if in.is(http.StatusSeeOther).location() != "/staff/shop/messages" {
		t.Errorf("leads to %q", in.location())
	}
	n.follow(in).is(http.StatusOK)
	_, replay := enter(code)
	replay.is(http.StatusUnprocessableEntity)
	_, early := enter(s.codeAt(t, secret, 4))
	early.is(http.StatusUnprocessableEntity)

	n, in = enter(codes[0])
	n.follow(in.is(http.StatusSeeOther)).says(i18n.For(i18n.JA).T("account.recovery.used", "n", store.RecoveryCodes-1))
	_, again = enter(codes[0])
	again.is(http.StatusUnprocessableEntity)

	// A reset does not go round it, and a new password ends what is half done.
	half := s.browser(t)
	asked := half.follow(half.post("/staff/sign-in", signIn("desk@example.com", staffPassword)))
	half.post(views.StaffResetLinkURL(s.resetToken(t, "desk@example.com")), url.Values{views.FieldNewPassword: {anotherPassword}}).is(http.StatusSeeOther)
	p := half.press(asked, "/code", url.Values{views.FieldCode: {codes[1]}}).is(http.StatusSeeOther)
	if p.location() != views.StaffSignInURL() {
		t.Errorf("leads to %q", p.location())
	}
	after := s.browser(t)
	asked = after.follow(after.post("/staff/sign-in", signIn("desk@example.com", anotherPassword))).need("data-state", "code")
	after.follow(after.press(asked, "/code", url.Values{views.FieldCode: {codes[1]}})).is(http.StatusOK)

	on = after.get(views.StaffFactorURL())
	after.press(on, "/off", url.Values{views.FieldPassword: {"falsch"}, views.FieldCode: {codes[2]}}).is(http.StatusUnprocessableEntity).need("data-error", views.FieldPassword)
	after.press(on, "/off", url.Values{views.FieldPassword: {anotherPassword}, views.FieldCode: {codes[0]}}).is(http.StatusUnprocessableEntity).need("data-error", views.FieldCode)
	after.press(on, "/recovery", url.Values{views.FieldCode: {codes[3]}}).is(http.StatusUnprocessableEntity) // asks for the app
	after.follow(after.press(on, "/off", url.Values{views.FieldPassword: {anotherPassword}, views.FieldCode: {codes[2]}})).says(ja("account.factor.off.done")).need("data-state", "factor_off")
}

func TestACodeOfTheSecondFactorIsOfItsTime(t *testing.T) {
	t.Parallel()
	// RFC 6238, appendix B, SHA-1: the last six of its eight digits.
	secret := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString([]byte("12345678901234567890"))
	for at, code := range map[int64]string{1111111109: "081804", 1234567890: "005924", 20000000000: "353130"} {
		for skew, want := range map[int64]bool{-2: false, -1: true, 0: true, 1: true, 2: false} {
			step, ok, err := codeStep(secret, code, time.Unix(at+skew*codeStepSeconds, 0))
			if err != nil || ok != want || ok && step != at/codeStepSeconds {
				t.Errorf("%s at %d%+d: %v %d %v", code, at, skew, ok, step, err)
			}
		}
	}
	if _, _, err := codeStep("not base32!", "000000", time.Now()); err == nil {
		t.Error("a secret that is none")
	}
	address, err := factorURL(secret, "a:b/c?d@example.com")
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "otpauth" || u.Query().Get("secret") != secret || u.Query().Get("issuer") != factorIssuer {
		t.Errorf("%s %v", address, err)
	}
}

func TestSessionsAreListedAndEnded(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b, phone, other := atTheDesk(t, s), s.browser(t), s.browser(t)
	phone.header.Set("User-Agent", "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1")
	for _, n := range []*browser{phone, other} {
		n.post("/staff/sign-in", signIn("desk@example.com", staffPassword)).is(http.StatusSeeOther)
	}
	stranger := asOwner(t, s)
	page := b.get(views.StaffSessionsURL()).is(http.StatusOK).says("iPhoneのSafari").says(ja("account.sessions.this"))
	if n := len(page.all("data-session", "")); n != 3 {
		t.Fatalf("%d sessions", n)
	}
	var handle string
	for _, n := range page.all("data-session", "") {
		for d := range n.Descendants() {
			if strings.Contains(d.Data, "iPhone") {
				handle = attr(n, "data-session")
			}
		}
	}
	// Another person's session is not theirs to end.
	stranger.post(views.StaffSessionEndURL(), url.Values{views.FieldSession: {handle}}).is(http.StatusSeeOther)
	phone.get("/staff/shop/today").is(http.StatusOK)
	b.follow(b.post(views.StaffSessionEndURL(), url.Values{views.FieldSession: {handle}})).says(ja("account.sessions.ended"))
	phone.get("/staff/shop/today").is(http.StatusSeeOther)
	other.get("/staff/shop/today").is(http.StatusOK)
	page = b.follow(b.press(b.get(views.StaffSessionsURL()), "/end-others", nil)).is(http.StatusOK)
	if len(page.all("data-session", "")) != 1 {
		t.Error("there are others")
	}
	other.get("/staff/shop/today").is(http.StatusSeeOther)
	b.get("/staff/shop/today").is(http.StatusOK)
	stranger.get("/staff/shop/today").is(http.StatusOK)
	for agent, want := range map[string]string{
		"": "", "curl/8.0": "", "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0": "Edge/Windows",
		"Mozilla/5.0 (iPad; CPU OS 17) CriOS/120 Mobile Safari/604.1": "Chrome/iPad", "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0": "Firefox/Linux",
		"<script>Chrome/ Windows": "Chrome/Windows",
	} {
		if got := device(agent); got != want {
			t.Errorf("%q: %q", agent, got)
		}
	}
}

func TestOwnersAddVenues(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b, desk := asOwner(t, s), atTheDesk(t, s)
	desk.get(views.StaffNewVenueURL()).is(http.StatusForbidden)
	desk.post(views.StaffNewVenueURL(), nil).is(http.StatusForbidden)
	if !b.get(views.StaffAccountURL()).has("href", views.StaffNewVenueURL()) || desk.get(views.StaffAccountURL()).has("href", views.StaffNewVenueURL()) {
		t.Error("the link is not where it should be")
	}
	page := b.get(views.StaffNewVenueURL()).is(http.StatusOK)
	add := func(slug, zone string) page2 {
		return page2{b.press(page, "/venues/new", url.Values{views.FieldName: {"二号店"}, views.FieldSlug: {slug}, views.FieldZone: {zone}})}
	}
	for _, slug := range []string{"", "-a", "a-", "a b", "é", "account", "venues", "staff", strings.Repeat("a", 64)} {
		add(slug, "Asia/Tokyo").is(http.StatusUnprocessableEntity).need("data-error", views.FieldSlug)
	}
	for _, zone := range []string{"", "Local", "Asia/Nowhere", "../../etc/passwd", "/etc/localtime"} {
		add("second", zone).is(http.StatusUnprocessableEntity).need("data-error", views.FieldZone)
	}
	add("shop", "Asia/Tokyo").is(http.StatusConflict).need("data-error", views.FieldSlug).need("value", "二号店")
	b.follow(add("second", "Europe/Paris").page).is(http.StatusOK).says("二号店")
	b.get("/staff").is(http.StatusOK).says("Studio shop").says("二号店")

	closed := openSite(t, shop.New(t, nil), func(c *Config) { c.OperatorAddsVenues = true })
	n := asOwner(t, closed)
	n.get(views.StaffNewVenueURL()).is(http.StatusForbidden)
	n.post(views.StaffNewVenueURL(), url.Values{views.FieldSlug: {"x"}}).is(http.StatusForbidden)
}

// What staff are sent may open an account: nobody at the counter reads it.
func TestMailsToStaffAreNotShown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openSite(t, shop.New(t, nil), func(c *Config) { c.MailDir = dir })
	b := asOwner(t, s)
	s.resetToken(t, "owner@example.com")
	m := s.lastMail(t, store.KindStaffReset).Message
	if err := os.WriteFile(dir+"/"+m.ID+".eml", []byte("Subject: x\r\n\r\nhttps://booking.example/staff/reset/secret\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Exec(t, "UPDATE outbox SET state = 'sent', sent_at = now()")
	b.get(views.StaffMailboxMailURL("shop", m.ID)).is(http.StatusNotFound)
	if p := b.get(views.StaffMailboxURL("shop")).is(http.StatusOK); strings.Contains(p.body, m.ID) {
		t.Error("the mailbox lists it")
	}
}

var updateRoles = flag.Bool("update-roles", false, "accept who may do what as it is now")

var anyID = regexp.MustCompile(`\{[a-z]+\}`)

// Every route of staff, with who gets past its door. Only the door is asked: the
// ids are nobody's, and a press has no form.
func TestWhoMayDoWhat(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	people := []struct {
		name  string
		email string
	}{{"nobody", ""}, {"desk", "desk@example.com"}, {"manager", "manager@example.com"}, {"owner", "owner@example.com"}}
	browsers := map[string]*browser{}
	for _, who := range people {
		browsers[who.name] = s.browser(t)
		if who.email == "" {
			continue
		}
		s.hire(t, s.Tenant, who.email, store.Role(who.name))
		browsers[who.name].follow(browsers[who.name].post("/staff/sign-in", signIn(who.email, staffPassword)))
	}
	var lines strings.Builder
	for _, r := range s.routesOf(t) {
		if !strings.HasPrefix(r.pattern, "/staff") {
			continue
		}
		path := anyID.ReplaceAllString(strings.Replace(r.pattern, "{tenant}", "shop", 1), absentID)
		var may []string
		for _, who := range people {
			b := browsers[who.name]
			status, to := door(t, b, r.method, path)
			// A press of somebody signed out is kept until they have signed in (401), if it is a form.
			kept := who.email == "" && strings.HasPrefix(r.pattern, "/staff/{tenant}") && status >= 400
			turnedAway := kept || status == http.StatusForbidden || status == http.StatusSeeOther && strings.HasPrefix(to, views.StaffSignInURL()+"?")
			if !turnedAway {
				may = append(may, who.name)
			}
			if who.email != "" && strings.HasSuffix(r.pattern, "/sign-out") {
				b.follow(b.post("/staff/sign-in", signIn(who.email, staffPassword)))
			}
		}
		fmt.Fprintf(&lines, "%-6s %-75s %s\n", r.method, r.pattern, strings.Join(may, " "))
	}
	const golden = "testdata/roles.golden"
	if *update || *updateRoles {
		if err := os.WriteFile(golden, []byte(lines.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if lines.String() != string(want) {
		t.Errorf("who may do what has changed; if that is right, run with -update:\n%s", lines.String())
	}
	// Nobody who is not signed in gets past any door of a venue.
	for line := range strings.Lines(lines.String()) {
		if strings.Contains(line, "/staff/{tenant}") && strings.Contains(line, "nobody") {
			t.Errorf("open to everybody: %s", line)
		}
	}
}

// door asks a route and looks at the head of its answer only: some never end.
func door(t *testing.T, b *browser, method, path string) (status int, location string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, b.site.addr+path, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if method != http.MethodGet {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := b.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header.Get("Location")
}
