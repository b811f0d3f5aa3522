package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

// atOnce runs the calls from behind one barrier and gives their errors in order.
func atOnce(calls ...func() error) []error {
	errs := make([]error, len(calls))
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i, call := range calls {
		wg.Go(func() {
			<-start
			errs[i] = call()
		})
	}
	close(start)
	wg.Wait()
	return errs
}

func succeeded(errs []error) int {
	n := 0
	for _, err := range errs {
		if err == nil {
			n++
		}
	}
	return n
}

func addStaff(t *testing.T, s *shop.Shop, tenant store.Tenant, email string, role store.Role) store.StaffMember {
	t.Helper()
	m, err := s.Store.AddStaff(t.Context(), store.NewStaff{TenantID: tenant.ID, Email: email, Role: role, Locale: "ja", PasswordHash: "hash of " + email})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func owners(t *testing.T, s *shop.Shop, tenant string) int {
	t.Helper()
	team, err := s.Store.Team(context.WithoutCancel(t.Context()), tenant)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, m := range team {
		if m.Role == store.RoleOwner {
			n++
		}
	}
	return n
}

func TestTheLastOwnerStays(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	ctx, tenant := t.Context(), s.Tenant.ID
	a := addStaff(t, s, s.Tenant, "a@example.com", store.RoleOwner)
	desk := addStaff(t, s, s.Tenant, "d@example.com", store.RoleDesk)
	for what, err := range map[string]error{
		"removed": s.Store.RemoveMember(ctx, tenant, a.ID), "made a manager": s.Store.SetRole(ctx, tenant, a.ID, store.RoleManager),
	} {
		if err != store.LastOwner {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := s.Store.SetRole(ctx, tenant, a.ID, store.RoleOwner); err != nil {
		t.Errorf("an owner made an owner: %v", err)
	}
	if err := s.Store.SetRole(ctx, tenant, desk.ID, store.RoleOwner); err != nil {
		t.Fatal(err)
	}
	if err := s.Store.RemoveMember(ctx, tenant, a.ID); err != nil {
		t.Errorf("one of two owners: %v", err)
	}
	if err := s.Store.RemoveMember(ctx, tenant, a.ID); err != store.NotFound {
		t.Errorf("twice: %v", err)
	}
	other := s.AddTenant(t, "other", nil)
	addStaff(t, s, other, "o@example.com", store.RoleOwner)
	if err := s.Store.SetRole(ctx, other.ID, desk.ID, store.RoleDesk); err != store.NotFound {
		t.Errorf("of another tenant: %v", err)
	}
	if owners(t, s, tenant) != 1 {
		t.Error("the owner is gone")
	}
}

// Two owners who remove each other, or step back, at one time.
func TestOwnersCanNotRemoveEachOtherAtOnce(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	ctx, tenant := t.Context(), s.Tenant.ID
	for round := range 30 {
		var people []store.StaffMember
		for i := range 3 {
			people = append(people, addStaff(t, s, s.Tenant, fmt.Sprintf("o%d@example.com", i), store.RoleOwner))
		}
		var calls []func() error
		for i, p := range people {
			calls = append(calls, func() error {
				if (i+round)%2 == 0 {
					return s.Store.SetRole(ctx, tenant, p.ID, store.RoleDesk)
				}
				return s.Store.RemoveMember(ctx, tenant, p.ID)
			})
		}
		errs := atOnce(calls...)
		if n := owners(t, s, tenant); n != 1 || succeeded(errs) != 2 {
			t.Fatalf("round %d: %d owners are left; %v", round, n, errs)
		}
		for _, err := range errs {
			if err != nil && err != store.LastOwner {
				t.Errorf("round %d: %v", round, err)
			}
		}
		for _, p := range people {
			s.Exec(t, "DELETE FROM memberships WHERE tenant_id = $1 AND staff_id = $2", tenant, p.ID)
		}
	}
}

func invite(t *testing.T, s *shop.Shop, email string, role store.Role) store.Invitation {
	t.Helper()
	i, err := s.Store.Invite(t.Context(), store.NewInvitation{TenantID: s.Tenant.ID, Email: email, Role: role, Locale: "en", InvitedBy: "Boss"})
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// mails lists the mails to staff, oldest first.
func mails(t *testing.T, s *shop.Shop, tenant string, kind store.MessageKind) []store.Message {
	t.Helper()
	all, err := s.Store.Messages(t.Context(), store.MessageQuery{TenantID: tenant})
	if err != nil {
		t.Fatal(err)
	}
	var out []store.Message
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Kind == kind {
			out = append(out, all[i])
		}
	}
	return out
}

func TestAnInvitationIsForOneUse(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	ctx, tenant := t.Context(), s.Tenant.ID
	first := invite(t, s, "New.Person@Example.com", store.RoleDesk)
	again := invite(t, s, "new.person@example.com", store.RoleManager)
	if again.ID != first.ID || again.Generation != 2 || again.Role != store.RoleManager {
		t.Fatalf("invited twice: %+v", again)
	}
	if open, err := s.Store.Invitations(ctx, tenant); err != nil || len(open) != 1 || open[0].Mail != "pending" || !open[0].Open {
		t.Errorf("%+v %v", open, err)
	}
	if _, err := s.Store.InvitationByToken(ctx, tenant, s.Store.InvitationToken(first)); err != store.NotFound {
		t.Errorf("the earlier link: %v", err)
	}
	token := s.Store.InvitationToken(again)
	letters := mails(t, s, tenant, store.KindStaffInvite)
	if len(letters) != 2 {
		t.Fatalf("%d mails", len(letters))
	}
	for i, m := range letters {
		l, err := s.Store.Letter(ctx, m)
		if err != nil || l.Pointless != (i == 0) || l.Staff.Token != token {
			t.Errorf("mail %d: %+v %v", i, l.Staff, err)
		}
	}
	if _, err := s.Store.InvitationByToken(ctx, s.AddTenant(t, "other", nil).ID, token); err != store.NotFound {
		t.Errorf("at another tenant: %v", err)
	}
	// Of many presses at once one makes the account.
	var calls []func() error
	for i := range 6 {
		calls = append(calls, func() error {
			_, err := s.Store.AcceptAsNew(ctx, tenant, token, fmt.Sprint("N", i), "en", "hash")
			return err
		})
	}
	errs := atOnce(calls...)
	if succeeded(errs) != 1 {
		t.Fatalf("%v", errs)
	}
	for _, err := range errs {
		if err != nil && err != store.Over {
			t.Errorf("%v", err)
		}
	}
	m, err := s.Store.StaffByEmail(ctx, "new.person@example.com")
	if err != nil {
		t.Fatal(err)
	}
	if member, err := s.Store.Membership(ctx, tenant, m.ID); err != nil || member.Role != store.RoleManager {
		t.Errorf("%+v %v", member, err)
	}
	if err := s.Store.RevokeInvitation(ctx, tenant, again.ID); err != store.Over {
		t.Errorf("revoked after its use: %v", err)
	}
	if _, err := s.Store.ResendInvitation(ctx, tenant, again.ID); err != store.Conflict {
		t.Errorf("sent again after its use: %v", err)
	}
	if _, err := s.Store.Invite(ctx, store.NewInvitation{TenantID: tenant, Email: "NEW.person@example.com", Role: store.RoleDesk, Locale: "ja"}); err != store.AlreadyInTeam {
		t.Errorf("somebody of the team: %v", err)
	}
	var left int
	if err := s.Pool.QueryRow(ctx, "SELECT count(*) FROM staff_invitations WHERE email <> ''").Scan(&left); err != nil || left != 0 {
		t.Errorf("%d addresses are kept, %v", left, err)
	}
}

func TestAnInvitationIsForItsAddressAndItsTime(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	ctx, tenant := t.Context(), s.Tenant.ID
	other := s.AddTenant(t, "other", nil)
	known, stranger := addStaff(t, s, other, "known@example.com", store.RoleOwner), addStaff(t, s, other, "else@example.com", store.RoleDesk)
	i := invite(t, s, "known@example.com", store.RoleDesk)
	token := s.Store.InvitationToken(i)
	if err := s.Store.AcceptInvitation(ctx, tenant, token, stranger); err != store.NotOwner {
		t.Errorf("somebody else: %v", err)
	}
	if _, err := s.Store.AcceptAsNew(ctx, tenant, token, "X", "ja", "hash"); err != store.Conflict {
		t.Errorf("a second account for one address: %v", err)
	}
	if p, err := s.Store.StaffByID(ctx, known.ID); err != nil || p.PasswordHash != known.PasswordHash {
		t.Errorf("the password was changed: %v", err)
	}
	late := s.Store.At(time.Now().Add(store.InvitationValid + time.Minute))
	if err := late.AcceptInvitation(ctx, tenant, token, known); err != store.Over {
		t.Errorf("past its time: %v", err)
	}
	errs := atOnce(
		func() error { return s.Store.AcceptInvitation(ctx, tenant, token, known) },
		func() error { return s.Store.RevokeInvitation(ctx, tenant, i.ID) },
	)
	if succeeded(errs) != 1 {
		t.Errorf("used and revoked at once: %v", errs)
	}
	for _, bad := range []string{"", "x", strings.Repeat("a", 32), strings.Repeat("\x00", 32), strings.Repeat("あ", 32)} {
		if err := s.Store.AcceptInvitation(ctx, tenant, bad, known); err != store.NotFound {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err := s.Store.RevokeInvitation(ctx, other.ID, i.ID); err != store.NotFound {
		t.Errorf("another tenant's: %v", err)
	}
}

func TestAResetWorksOnceAndTellsNothing(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	ctx, tenant := t.Context(), s.Tenant.ID
	p := addStaff(t, s, s.Tenant, "desk@example.com", store.RoleDesk)
	for _, email := range []string{"nobody@example.com", "DESK@example.com", "desk@example.com"} {
		if err := s.Store.RequestReset(ctx, email, "en"); err != nil {
			t.Fatal(err)
		}
	}
	letters := mails(t, s, tenant, store.KindStaffReset)
	if len(letters) != 2 || letters[1].Recipient != "desk@example.com" || letters[1].Locale != "ja" {
		t.Fatalf("%+v", letters)
	}
	old, err := s.Store.Letter(ctx, letters[0])
	if err != nil || !old.Pointless {
		t.Errorf("the earlier mail: %v", err)
	}
	l, err := s.Store.Letter(ctx, letters[1])
	if err != nil || l.Pointless || l.Staff.Token == "" {
		t.Fatalf("%+v %v", l.Staff, err)
	}
	if _, err := s.Store.At(time.Now().Add(store.ResetValid+time.Minute)).ResetByToken(ctx, l.Staff.Token); err != store.NotFound {
		t.Errorf("past its time: %v", err)
	}
	var calls []func() error
	for i := range 6 {
		calls = append(calls, func() error {
			_, err := s.Store.ResetPassword(ctx, l.Staff.Token, fmt.Sprint("new ", i), "en")
			return err
		})
	}
	if errs := atOnce(calls...); succeeded(errs) != 1 {
		t.Errorf("at once: %v", errs)
	}
	if n := len(mails(t, s, tenant, store.KindStaffPasswordChanged)); n != 1 {
		t.Errorf("%d notices", n)
	}
	// More than a few an hour are not sent, and nobody is told.
	for range 10 {
		if err := s.Store.RequestReset(ctx, "desk@example.com", "en"); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(mails(t, s, tenant, store.KindStaffReset)); n != 5 {
		t.Errorf("%d mails", n)
	}
	// What was sent is kept without its secret.
	s.Exec(t, "UPDATE outbox SET state = 'sending', sending_until = now() + interval '1 minute' WHERE id = $1", letters[1].ID)
	m, err := s.Store.Message(ctx, tenant, letters[1].ID)
	if err != nil {
		t.Fatal(err)
	}
	if done, err := s.Store.FinishMessage(ctx, m, store.MessageResult{State: store.MessageSent, Text: "open https://x.example/staff/reset/" + l.Staff.Token + " now"}); err != nil || !done {
		t.Fatal(done, err)
	}
	if m, err = s.Store.Message(ctx, tenant, m.ID); err != nil || m.SentText != "open https://x.example/staff/reset/… now" {
		t.Errorf("%q %v", m.SentText, err)
	}
	// Somebody without a tenant gets no mail: there is nobody in whose name.
	s.Exec(t, "DELETE FROM memberships WHERE staff_id = $1", p.ID)
	if err := s.Store.RequestReset(ctx, "desk@example.com", "en"); err != nil {
		t.Error(err)
	}
}

func TestAChangedPasswordEndsSessions(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	ctx := t.Context()
	p := addStaff(t, s, s.Tenant, "desk@example.com", store.RoleDesk)
	sessions := s.Store.Sessions()
	open := func(token, handle string) {
		t.Helper()
		noted := store.NoteSession(ctx, store.SessionNote{StaffID: p.ID, Handle: handle, Device: "Firefox/Linux"})
		if err := sessions.CommitCtx(noted, token, []byte("data"), time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	open("t1", "h1")
	open("t2", "h2")
	open("t3", "h3")
	if err := s.Store.ChangePassword(ctx, store.PasswordChange{StaffID: p.ID, Was: "wrong", Hash: "new", Locale: "ja"}); err != store.Conflict {
		t.Errorf("from another password: %v", err)
	}
	if err := s.Store.EndSession(ctx, p.ID, "h3"); err != nil {
		t.Fatal(err)
	}
	if list, err := s.Store.StaffSessions(ctx, p.ID); err != nil || len(list) != 2 {
		t.Errorf("%+v %v", list, err)
	}
	if err := s.Store.ChangePassword(ctx, store.PasswordChange{StaffID: p.ID, Was: p.PasswordHash, Hash: "new", Keep: "h1", Locale: "ja"}); err != nil {
		t.Fatal(err)
	}
	if list, err := s.Store.StaffSessions(ctx, p.ID); err != nil || len(list) != 1 || list[0].Handle != "h1" || list[0].Device != "Firefox/Linux" {
		t.Errorf("%+v %v", list, err)
	}
	// A request that was under way writes its session at its end; it stays ended.
	late := store.NoteSession(ctx, store.SessionNote{Loaded: true, StaffID: p.ID, Handle: "h2"})
	if err := sessions.CommitCtx(late, "t2", []byte("data"), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, found, err := sessions.FindCtx(ctx, "t2"); err != nil || found {
		t.Errorf("an ended session is back: %v", err)
	}
	// Last seen is written once in a while.
	s.Exec(t, "UPDATE sessions SET seen_at = now() - interval '9 minutes'")
	find := func() time.Time {
		t.Helper()
		if _, found, err := sessions.FindCtx(ctx, "t1"); err != nil || !found {
			t.Fatal(found, err)
		}
		list, err := s.Store.StaffSessions(ctx, p.ID)
		if err != nil {
			t.Fatal(err)
		}
		return list[0].SeenAt
	}
	if time.Since(find()) < 8*time.Minute {
		t.Error("written too often")
	}
	s.Exec(t, "UPDATE sessions SET seen_at = now() - interval '11 minutes'")
	if time.Since(find()) > time.Minute {
		t.Error("not written")
	}
	if err := s.Store.RemoveMember(ctx, s.Tenant.ID, p.ID); err != store.LastOwner && err != nil {
		t.Fatal(err)
	}
}

func TestWhoWorksNowhereIsSignedOut(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	ctx := t.Context()
	other := s.AddTenant(t, "other", nil)
	addStaff(t, s, s.Tenant, "owner@example.com", store.RoleOwner)
	addStaff(t, s, other, "owner@example.com", store.RoleOwner)
	p := addStaff(t, s, s.Tenant, "desk@example.com", store.RoleDesk)
	addStaff(t, s, other, "desk@example.com", store.RoleDesk)
	noted := store.NoteSession(ctx, store.SessionNote{StaffID: p.ID, Handle: "h"})
	if err := s.Store.Sessions().CommitCtx(noted, "t", []byte("data"), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	for i, tenant := range []store.Tenant{s.Tenant, other} {
		if err := s.Store.RemoveMember(ctx, tenant.ID, p.ID); err != nil {
			t.Fatal(err)
		}
		if list, err := s.Store.StaffSessions(ctx, p.ID); err != nil || len(list) != 1-i {
			t.Errorf("after %d: %d sessions, %v", i, len(list), err)
		}
	}
}

func TestASecondFactorTakesEachCodeOnce(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	ctx := t.Context()
	p, q := addStaff(t, s, s.Tenant, "a@example.com", store.RoleOwner), addStaff(t, s, s.Tenant, "b@example.com", store.RoleDesk)
	const secret = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
	if err := s.Store.StartSecondFactor(ctx, p.ID, secret); err != nil {
		t.Fatal(err)
	}
	if f, err := s.Store.SecondFactor(ctx, p.ID); err != nil || f.On || f.Pending != secret {
		t.Fatalf("%+v %v", f, err)
	}
	if _, err := s.Store.ConfirmSecondFactor(ctx, p.ID, "another", 5); !errors.Is(err, store.Over) {
		t.Errorf("another secret: %v", err)
	}
	errs := make([]error, 4)
	sets := make([][]string, 4)
	var calls []func() error
	for i := range sets {
		calls = append(calls, func() error { sets[i], errs[i] = s.Store.ConfirmSecondFactor(ctx, p.ID, secret, 1000); return errs[i] })
	}
	if got := atOnce(calls...); succeeded(got) != 1 {
		t.Fatalf("confirmed at once: %v", got)
	}
	var codes []string
	for i := range sets {
		if errs[i] == nil {
			codes = sets[i]
		}
	}
	if len(codes) != store.RecoveryCodes {
		t.Fatalf("%v", codes)
	}
	f, err := s.Store.SecondFactor(ctx, p.ID)
	if err != nil || !f.On || f.Secret != secret || f.Pending != "" || f.Codes != store.RecoveryCodes {
		t.Errorf("%+v %v", f, err)
	}
	if err := s.Store.StartSecondFactor(ctx, p.ID, secret); err != store.Over {
		t.Errorf("started while on: %v", err)
	}
	if m, err := s.Store.StaffByID(ctx, p.ID); err != nil || !m.SecondFactor {
		t.Errorf("%+v %v", m, err)
	}
	// The code that turned it on is used; a later one is taken by one of many.
	if err := s.Store.UseCode(ctx, p.ID, 1000); err != store.Over {
		t.Errorf("the first code again: %v", err)
	}
	use := func() error { return s.Store.UseCode(ctx, p.ID, 1001) }
	if got := atOnce(use, use, use, use); succeeded(got) != 1 {
		t.Errorf("one code at once: %v", got)
	}
	if err := s.Store.UseCode(ctx, p.ID, 999); err != store.Over {
		t.Errorf("an earlier code: %v", err)
	}
	recover := func() error {
		_, err := s.Store.UseRecoveryCode(ctx, p.ID, " "+strings.ToLower(strings.ReplaceAll(codes[0], "-", " ")))
		return err
	}
	if got := atOnce(recover, recover, recover, recover); succeeded(got) != 1 {
		t.Errorf("one recovery code at once: %v", got)
	}
	for _, bad := range []string{codes[0], "", "-", "AAAAA-AAAAA", codes[1] + "2", "\x00"} {
		if _, err := s.Store.UseRecoveryCode(ctx, p.ID, bad); err != store.Over {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := s.Store.UseRecoveryCode(ctx, q.ID, codes[1]); err != store.Over {
		t.Errorf("somebody else's: %v", err)
	}
	if left, err := s.Store.UseRecoveryCode(ctx, p.ID, codes[1]); err != nil || left != store.RecoveryCodes-2 {
		t.Errorf("%d left, %v", left, err)
	}
	if _, err := s.Store.RenewRecoveryCodes(ctx, p.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Store.UseRecoveryCode(ctx, p.ID, codes[2]); err != store.Over {
		t.Errorf("one from before the renewal: %v", err)
	}
	// What is stored tells nothing, and is bound to its person and to the secret of the server.
	var stored string
	if err := s.Pool.QueryRow(ctx, "SELECT concat(encode(totp_secret, 'escape'), recovery::text) FROM staff WHERE id = $1", p.ID).Scan(&stored); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(stored, secret) || strings.Contains(stored, strings.ReplaceAll(codes[3], "-", "")) {
		t.Error("the secret can be read in the table")
	}
	s.Exec(t, "UPDATE staff SET totp_secret = (SELECT totp_secret FROM staff WHERE id = $1) WHERE id = $2", p.ID, q.ID)
	if _, err := s.Store.SecondFactor(ctx, q.ID); err == nil {
		t.Error("somebody else's secret was read")
	}
	if err := s.Store.EndSecondFactor(ctx, p.ID); err != nil {
		t.Fatal(err)
	}
	if f, err := s.Store.SecondFactor(ctx, p.ID); err != nil || f.On || f.Codes != 0 {
		t.Errorf("%+v %v", f, err)
	}
	if _, err := s.Store.RenewRecoveryCodes(ctx, p.ID); err != store.Over {
		t.Errorf("codes without a factor: %v", err)
	}
}

func TestAVenueIsAddedByAnOwner(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	ctx := t.Context()
	owner, desk := addStaff(t, s, s.Tenant, "o@example.com", store.RoleOwner), addStaff(t, s, s.Tenant, "d@example.com", store.RoleDesk)
	venue := store.Tenant{Slug: "second", Name: "Second", TimeZone: "Europe/Paris", Locale: "en"}
	if _, err := s.Store.AddVenue(ctx, venue, desk.ID); err != store.NotOwner {
		t.Errorf("by the desk: %v", err)
	}
	var calls []func() error
	for range 4 {
		calls = append(calls, func() error { _, err := s.Store.AddVenue(ctx, venue, owner.ID); return err })
	}
	errs := atOnce(calls...)
	if succeeded(errs) != 1 {
		t.Fatalf("%v", errs)
	}
	for _, err := range errs {
		if err != nil && err != store.Conflict {
			t.Errorf("%v", err)
		}
	}
	added, err := s.Store.TenantBySlug(ctx, "second")
	if err != nil {
		t.Fatal(err)
	}
	if m, err := s.Store.Membership(ctx, added.ID, owner.ID); err != nil || m.Role != store.RoleOwner {
		t.Errorf("%+v %v", m, err)
	}
	for _, slug := range []string{"account", "venues", "reset", "invitations", "sign-in", "staff"} {
		venue.Slug = slug
		if _, err := s.Store.AddVenue(ctx, venue, owner.ID); err == nil {
			t.Errorf("%s was taken", slug)
		}
	}
	if err := s.Store.Ready(ctx); err != nil {
		t.Error(err)
	}
	if err := s.Store.DeleteTenant(ctx, added.ID); err != nil {
		t.Error(err)
	}
}

func TestAPIKeysAreListedAndRevoked(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	ctx, tenant := t.Context(), s.Tenant.ID
	other := s.AddTenant(t, "other", nil)
	text, err := s.Store.AddAPIKey(ctx, s.Tenant, "Website", []string{"read", "book"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Store.APIKeyByText(ctx, tenant, text); err != nil {
		t.Fatal(err)
	}
	keys, err := s.Store.APIKeys(ctx, tenant)
	if err != nil || len(keys) != 1 || keys[0].LastUsedAt == nil || keys[0].RevokedAt != nil {
		t.Fatalf("%+v %v", keys, err)
	}
	if err := s.Store.RevokeAPIKey(ctx, other.ID, keys[0].ID); err != store.NotFound {
		t.Errorf("another tenant's: %v", err)
	}
	for range 2 {
		if err := s.Store.RevokeAPIKey(ctx, tenant, keys[0].ID); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.Store.APIKeyByText(ctx, tenant, text); err != store.NotFound {
		t.Errorf("a revoked key: %v", err)
	}
}

// The first press has written and not committed when the second arrives: it
// waits, and then counts the owners that are left.
func TestTheSecondOwnerToGoWaitsForTheFirst(t *testing.T) {
	t.Parallel()
	for _, first := range []string{
		"DELETE FROM memberships WHERE tenant_id = $1 AND staff_id = $2",
		"UPDATE memberships SET role = 'desk' WHERE tenant_id = $1 AND staff_id = $2",
	} {
		for what, second := range map[string]func(*store.Store, context.Context, string, string) error{
			"removed": (*store.Store).RemoveMember,
			"made a manager": func(s *store.Store, ctx context.Context, tenant, id string) error {
				return s.SetRole(ctx, tenant, id, store.RoleManager)
			},
		} {
			for _, commits := range []bool{true, false} {
				s := shop.New(t, nil)
				ctx, tenant := t.Context(), s.Tenant.ID
				a, b := addStaff(t, s, s.Tenant, "a@example.com", store.RoleOwner), addStaff(t, s, s.Tenant, "b@example.com", store.RoleOwner)
				tx, err := s.Conn(t).Begin(ctx)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := tx.Exec(ctx, first, tenant, a.ID); err != nil {
					t.Fatal(err)
				}
				done := make(chan error, 1)
				go func() { done <- second(s.Store, ctx, tenant, b.ID) }()
				s.Waiting(t, 1)
				var want error
				if commits {
					want, err = store.LastOwner, tx.Commit(ctx)
				} else {
					err = tx.Rollback(ctx)
				}
				if err != nil {
					t.Fatal(err)
				}
				if err := <-done; err != want {
					t.Errorf("%.6s, commits %v, then %s: %v", first, commits, what, err)
				}
				if owners(t, s, tenant) != 1 {
					t.Errorf("%d owners", owners(t, s, tenant))
				}
			}
		}
	}
}

// The page of a team asks as much for forty people as for one.
func TestATeamIsReadInOneStatement(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	count := func() int {
		return s.Count(func() {
			if _, err := s.Store.Team(t.Context(), s.Tenant.ID); err != nil {
				t.Error(err)
			}
			if _, err := s.Store.Invitations(t.Context(), s.Tenant.ID); err != nil {
				t.Error(err)
			}
		})
	}
	before := count()
	for i := range 40 {
		addStaff(t, s, s.Tenant, fmt.Sprintf("p%d@example.com", i), store.RoleDesk)
		invite(t, s, fmt.Sprintf("i%d@example.com", i), store.RoleDesk)
	}
	if after := count(); after != before || after != 2 {
		t.Errorf("%d statements, then %d", before, after)
	}
}
