package store_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

const (
	lineUser    = "U00112233445566778899aabbccddeeff"
	lineOther   = "Uffeeddccbbaa99887766554433221100"
	lineSecret  = "0123456789abcdef0123456789abcdef"
	lineToken   = "channel-access-token-of-the-shop"
	lineAccount = "@012abcde"
)

// withLine gives a tenant a LINE account.
func withLine(t testing.TB, s *store.Store, tenant store.Tenant) store.LineChannel {
	t.Helper()
	if err := s.SaveLineChannel(t.Context(), store.LineSettings{TenantID: tenant.ID, BasicID: lineAccount, Secret: lineSecret, Token: lineToken}); err != nil {
		t.Fatal(err)
	}
	return channel(t, s, tenant)
}

func channel(t testing.TB, s *store.Store, tenant store.Tenant) store.LineChannel {
	t.Helper()
	c, err := s.LineChannel(t.Context(), tenant.ID)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func ofBooking(r store.Reservation, proven bool) store.LineSubject {
	return store.LineSubject{TenantID: r.TenantID, ID: r.ID, Email: r.Email, Proven: proven}
}

func ofEntry(e store.Entry, proven bool) store.LineSubject {
	return store.LineSubject{TenantID: e.TenantID, ID: e.ID, Email: e.Email, Proven: proven}
}

// lineCode makes a code and reads it as the page does.
func lineCode(t testing.TB, s *store.Store, sub store.LineSubject) string {
	t.Helper()
	if err := s.MakeLineCode(t.Context(), sub, "ja"); err != nil {
		t.Fatal(err)
	}
	st := lineStatus(t, s, sub)
	if store.LineCode(" "+strings.ToLower(st.Code[:4])+"-"+st.Code[4:]+"\n") != st.Code {
		t.Fatalf("%q is no code", st.Code)
	}
	return st.Code
}

func lineStatus(t testing.TB, s *store.Store, sub store.LineSubject) store.LineStatus {
	t.Helper()
	st, err := s.LineStatus(t.Context(), sub)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func linkLine(t testing.TB, s *store.Store, sub store.LineSubject, user string) {
	t.Helper()
	if _, err := s.UseLineCode(t.Context(), store.LineUse{TenantID: sub.TenantID, Code: lineCode(t, s, sub), User: user, EventID: "event " + sub.ID}); err != nil {
		t.Fatal(err)
	}
}

// lineOf is to whom a message about a booking would go by LINE now.
func lineOf(t testing.TB, s *shop.Shop, subject string) (user string, proven bool) {
	t.Helper()
	messages, err := s.Store.Messages(t.Context(), store.MessageQuery{TenantID: s.Tenant.ID, SubjectID: subject, Limit: 1})
	if err != nil || len(messages) == 0 {
		t.Fatal(len(messages), err)
	}
	letter, err := s.Store.Letter(t.Context(), messages[0])
	if err != nil || letter.Line == nil {
		t.Fatalf("%+v %v", letter.Line, err)
	}
	return letter.Line.User, letter.Line.Proven
}

func bookedBy(t testing.TB, s *shop.Shop, email string) store.Reservation {
	t.Helper()
	c := s.Person()
	c.Email = email
	return bookFor(t, s, s.Slot(t, 1), 1, c, shop.Customer)
}

// Whoever books with somebody's address and links LINE gets what is about that
// booking, and nothing else of the address.
func TestALinkCountsForTheAddressOnlyWhereItIsProven(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	withLine(t, s.Store, s.Tenant)
	first, second := bookedBy(t, s, "guest@example.com"), bookedBy(t, s, "Guest@example.com")
	linkLine(t, s.Store, ofBooking(first, false), lineOther)
	if user, proven := lineOf(t, s, first.ID); user != lineOther || proven {
		t.Errorf("the booking that was linked goes to %q %v", user, proven)
	}
	if user, _ := lineOf(t, s, second.ID); user != "" {
		t.Errorf("another booking of the address goes to %q", user)
	}
	if st := lineStatus(t, s.Store, ofBooking(second, false)); st.Linked {
		t.Errorf("the other booking's page tells of it: %+v", st)
	}

	linkLine(t, s.Store, ofBooking(second, true), lineUser)
	later := bookedBy(t, s, "guest@example.com")
	slot := s.Slot(t, 1)
	s.Book(t, slot, 1)
	join := s.JoinRequest(slot, 1)
	join.Contact.Email = "guest@example.com"
	waits, err := s.Store.Join(t.Context(), join)
	if err != nil {
		t.Fatal(err)
	}
	for name, id := range map[string]string{"the booking itself": second.ID, "an earlier one": first.ID, "a later one": later.ID, "a later wait": waits.ID} {
		if user, proven := lineOf(t, s, id); user != lineUser || !proven {
			t.Errorf("%s goes to %q %v", name, user, proven)
		}
	}
	stranger := bookedBy(t, s, "stranger@example.com")
	if user, _ := lineOf(t, s, stranger.ID); user != "" {
		t.Errorf("a stranger's goes to %q", user)
	}
	// What is known of the address is told to whoever proves to have it, only.
	if st := lineStatus(t, s.Store, ofBooking(later, false)); st.Linked || st.All {
		t.Errorf("a page without proof tells that the address is linked: %+v", st)
	}
	if st := lineStatus(t, s.Store, ofBooking(later, true)); !st.Linked || !st.All {
		t.Errorf("the page from the mail: %+v", st)
	}
	if c := channel(t, s.Store, s.Tenant); c.Linked != 1 {
		t.Errorf("%d people are linked", c.Linked)
	}

	// Stopping without proof ends nothing of the address; with it, everything.
	if err := s.Store.StopLine(t.Context(), ofBooking(later, false)); err != nil {
		t.Fatal(err)
	}
	if user, _ := lineOf(t, s, later.ID); user != lineUser {
		t.Error("a page without proof has stopped it")
	}
	if err := s.Store.StopLine(t.Context(), ofBooking(later, true)); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{first.ID, second.ID, later.ID, waits.ID} {
		if user, _ := lineOf(t, s, id); user != "" {
			t.Errorf("after the stop it still goes to %q", user)
		}
	}
}

func TestALinkOfAnEntryGoesOnWithItsBooking(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	withLine(t, s.Store, s.Tenant)
	slot := s.Slot(t, 1)
	booked := s.Book(t, slot, 1)
	e := s.Join(t, slot, 1)
	linkLine(t, s.Store, ofEntry(e, false), lineUser)
	s.Cancel(t, booked)
	accepted, err := s.Store.Accept(t.Context(), store.AcceptRequest{TenantID: e.TenantID, ID: e.ID, TermsVersion: slot.TermsVersion, Actor: shop.Customer})
	if err != nil {
		t.Fatal(err)
	}
	if user, proven := lineOf(t, s, accepted.ID); user != lineUser || proven {
		t.Errorf("the booking goes to %q %v", user, proven)
	}
	if err := s.Store.StopLine(t.Context(), ofBooking(accepted, false)); err != nil {
		t.Fatal(err)
	}
	if user, _ := lineOf(t, s, accepted.ID); user != "" {
		t.Error("stopped on the booking's page, it goes on")
	}
}

// A booking that gets another address is another person's.
func TestAnotherAddressEndsTheLink(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	withLine(t, s.Store, s.Tenant)
	r := bookedBy(t, s, "wrong@example.com")
	linkLine(t, s.Store, ofBooking(r, true), lineUser)
	right := s.Person()
	if _, err := s.Store.CorrectContact(t.Context(), store.ContactRequest{TenantID: r.TenantID, ID: r.ID, Contact: right, Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	now := s.Reservation(t, r)
	var confirmed store.Message
	messages, err := s.Store.Messages(t.Context(), store.MessageQuery{TenantID: s.Tenant.ID, SubjectID: r.ID, Kind: store.KindConfirmed})
	if err != nil || len(messages) != 1 || messages[0].Recipient != right.Email {
		t.Fatal(messages, err)
	}
	confirmed = messages[0]
	letter, err := s.Store.Letter(t.Context(), confirmed)
	if err != nil || letter.Line == nil || letter.Line.User != "" {
		t.Errorf("%+v %v", letter.Line, err)
	}
	if st := lineStatus(t, s.Store, ofBooking(now, true)); st.Linked {
		t.Errorf("the page says %+v", st)
	}
}

func TestACodeWorksOnceForAWhileAndForItsTenant(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	withLine(t, s.Store, s.Tenant)
	other := s.AddTenant(t, "other", nil)
	withLine(t, s.Store, other)
	r := s.Book(t, s.Slot(t, 1), 1)
	use := func(st *store.Store, tenant store.Tenant, code, user, event string) (store.LineUsed, error) {
		return st.UseLineCode(t.Context(), store.LineUse{TenantID: tenant.ID, Code: code, User: user, EventID: event})
	}
	old := lineCode(t, s.Store, ofBooking(r, true))
	code := lineCode(t, s.Store, ofBooking(r, true))
	if code == old {
		t.Error("the same code twice")
	}
	if strings.Contains(everything(t, s), code) {
		t.Error("the code is stored as it is")
	}
	for name, c := range map[string]struct {
		st     *store.Store
		tenant store.Tenant
		code   string
		want   error
	}{
		"another tenant's":        {s.Store, other, code, store.NotFound},
		"one that was made anew":  {s.Store, s.Tenant, old, store.NotFound},
		"one that was never made": {s.Store, s.Tenant, "ABCDEFGH", store.NotFound},
		"one whose time is over":  {s.Store.At(time.Now().Add(store.LineCodeTime + time.Minute)), s.Tenant, code, store.Expired},
		"one of the day before":   {s.Store.At(time.Now().Add(40 * time.Hour)), s.Tenant, code, store.Expired},
	} {
		if _, err := use(c.st, c.tenant, c.code, lineOther, "e0"); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if user, _ := lineOf(t, s, r.ID); user != "" {
		t.Fatalf("a refused code has linked %q", user)
	}
	if used, err := use(s.Store, s.Tenant, code, lineUser, "e1"); err != nil || !used.All || used.Again || used.Locale != "ja" {
		t.Errorf("%+v %v", used, err)
	}
	if used, err := use(s.Store, s.Tenant, code, lineUser, "e1"); err != nil || !used.Again {
		t.Errorf("the same event again: %+v %v", used, err)
	}
	if _, err := use(s.Store, s.Tenant, code, lineOther, "e2"); !errors.Is(err, store.Expired) {
		t.Errorf("used again by somebody else: %v", err)
	}
	if user, _ := lineOf(t, s, r.ID); user != lineUser {
		t.Errorf("linked is %q", user)
	}
	if st := lineStatus(t, s.Store, ofBooking(r, true)); st.Code != "" || !st.Linked {
		t.Errorf("the page shows %+v", st)
	}
}

// The news that somebody has blocked the account can come late, and again.
func TestBlockingEndsTheLinkAndOldNewsDoesNot(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	withLine(t, s.Store, s.Tenant)
	other := s.AddTenant(t, "other", nil)
	r, second := bookedBy(t, s, "guest@example.com"), bookedBy(t, s, "other@example.com")
	linkLine(t, s.Store, ofBooking(r, true), lineUser)
	linkLine(t, s.Store, ofBooking(second, true), lineOther)
	now, err := s.Store.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		tenant string
		at     time.Time
		want   string
	}{
		{"an hour before the link was made", s.Tenant.ID, now.Add(-time.Hour), lineUser},
		{"at another venue", other.ID, now.Add(time.Second), lineUser},
		{"now, by a clock that is a little behind", s.Tenant.ID, now.Add(-2 * time.Second), ""},
		{"again", s.Tenant.ID, now.Add(-2 * time.Second), ""},
	} {
		if err := s.Store.UnlinkLine(t.Context(), c.tenant, lineUser, c.at); err != nil {
			t.Fatal(err)
		}
		if user, _ := lineOf(t, s, r.ID); user != c.want {
			t.Errorf("%s: %q, want %q", c.name, user, c.want)
		}
	}
	if user, _ := lineOf(t, s, second.ID); user != lineOther {
		t.Error("somebody else was unlinked")
	}
}

func TestErasingTakesTheLineUserOut(t *testing.T) {
	t.Parallel()
	for name, erase := range map[string]func(*shop.Shop, store.Reservation, store.Entry) error{
		"on request": func(s *shop.Shop, r store.Reservation, _ store.Entry) error {
			_, err := s.Store.ErasePerson(context.WithoutCancel(t.Context()), store.EraseRequest{TenantID: r.TenantID, ID: r.ID, Reason: "依頼", CancelUpcoming: true, Actor: shop.Staff})
			return err
		},
		"by time": func(s *shop.Shop, r store.Reservation, _ store.Entry) error {
			_, err := s.Store.At(s.Start.AddDate(2, 0, 0)).Sweep(context.WithoutCancel(t.Context()))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shop.New(t, nil)
			withLine(t, s.Store, s.Tenant)
			who := hanako()
			r := bookFor(t, s, s.Slot(t, 1), 1, who, hanakoPress)
			slot := s.Slot(t, 1)
			s.Book(t, slot, 1)
			join := s.JoinRequest(slot, 1)
			join.Contact = who
			e, err := s.Store.Join(t.Context(), join)
			if err != nil {
				t.Fatal(err)
			}
			linkLine(t, s.Store, ofBooking(r, true), lineUser)
			if n := strings.Count(everything(t, s), lineUser); n != 2 {
				t.Fatalf("the id stands in %d places", n)
			}
			export, err := s.Store.ExportPerson(t.Context(), store.PersonRef{TenantID: s.Tenant.ID, ID: r.ID, Key: store.PersonKey(who.Email)})
			if err != nil || len(export.Reservations) != 1 || export.Reservations[0].LineUser != lineUser || export.Entries[0].LineUser != lineUser {
				t.Errorf("the person's own data: %+v %v", export, err)
			}
			if err := erase(s, r, e); err != nil {
				t.Fatal(err)
			}
			if dump := everything(t, s); strings.Contains(dump, lineUser) {
				t.Errorf("the id is still stored:\n%s", dump)
			}
		})
	}
}

func TestTheKeysOfALineAccountAreKeptEncrypted(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	withLine(t, s.Store, s.Tenant)
	if dump := everything(t, s); strings.Contains(dump, lineToken) || strings.Contains(dump, lineSecret) {
		t.Error("a key is stored as it is")
	}
	keys, err := s.Store.LineKeys(t.Context(), s.Tenant.ID)
	if err != nil || keys.Secret != lineSecret || keys.Token != lineToken {
		t.Errorf("%+v %v", keys, err)
	}
	// One can't be put in the place of the other, nor into another tenant's row.
	other := s.AddTenant(t, "other", nil)
	withLine(t, s.Store, other)
	s.Exec(t, "UPDATE line_channels SET secret = token WHERE tenant_id = $1", s.Tenant.ID)
	if _, err := s.Store.LineKeys(t.Context(), s.Tenant.ID); err == nil {
		t.Error("the token passes for the secret")
	}
	s.Exec(t, "UPDATE line_channels SET secret = (SELECT secret FROM line_channels WHERE tenant_id = $2) WHERE tenant_id = $1", s.Tenant.ID, other.ID)
	if _, err := s.Store.LineKeys(t.Context(), s.Tenant.ID); err == nil {
		t.Error("another tenant's secret passes for this one's")
	}
	// A server with another secret sends mail.
	r := s.Book(t, s.Slot(t, 1), 1)
	messages, err := s.Store.Messages(t.Context(), store.MessageQuery{TenantID: s.Tenant.ID, SubjectID: r.ID})
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := store.New(s.Pool, bytes.Repeat([]byte("another"), 8), store.Watch{})
	if err != nil {
		t.Fatal(err)
	}
	if letter, err := stranger.Letter(t.Context(), messages[0]); err != nil || letter.Line == nil || letter.Line.Token != "" {
		t.Errorf("%+v %v", letter.Line, err)
	}
}

func TestChangingTheAccountAsksForTheVersionAndAnotherIDEndsTheLinks(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	set := store.LineSettings{TenantID: s.Tenant.ID, BasicID: lineAccount, Token: lineToken}
	if err := s.Store.SaveLineChannel(t.Context(), set); !errors.Is(err, store.NotFound) {
		t.Errorf("without a secret: %v", err)
	}
	c := withLine(t, s.Store, s.Tenant)
	r := s.Book(t, s.Slot(t, 1), 1)
	linkLine(t, s.Store, ofBooking(r, true), lineUser)
	set.Version, set.Secret = c.Version-1, lineSecret
	if err := s.Store.SaveLineChannel(t.Context(), set); !errors.Is(err, store.Conflict) {
		t.Errorf("a stale version: %v", err)
	}
	// The account's trouble ends with a new token; what is said of the old one counts no more.
	for _, trouble := range []store.LineTrouble{store.LineBroken, store.LineQuota} {
		if err := s.Store.LineInTrouble(t.Context(), s.Tenant.ID, c.Version, trouble); err != nil {
			t.Fatal(err)
		}
	}
	if now := channel(t, s.Store, s.Tenant); now.BrokenAt == nil || !now.Paused() {
		t.Fatalf("%+v", now)
	}
	if err := s.Store.SaveLineChannel(t.Context(), store.LineSettings{TenantID: s.Tenant.ID, BasicID: lineAccount, Token: "another-channel-access-token", Version: c.Version}); err != nil {
		t.Fatal(err)
	}
	now := channel(t, s.Store, s.Tenant)
	if now.Version != c.Version+1 || now.BrokenAt != nil || now.Paused() || now.Linked != 1 {
		t.Errorf("%+v", now)
	}
	if err := s.Store.LineInTrouble(t.Context(), s.Tenant.ID, c.Version, store.LineBroken); err != nil {
		t.Fatal(err)
	}
	if err := s.Store.LineChecked(t.Context(), s.Tenant.ID, c.Version, "old", lineAccount); err != nil {
		t.Fatal(err)
	}
	if late := channel(t, s.Store, s.Tenant); late.BrokenAt != nil || late.CheckedAt != nil {
		t.Errorf("late news of the old token: %+v", late)
	}
	keys, err := s.Store.LineKeys(t.Context(), s.Tenant.ID)
	if err != nil || keys.Secret != lineSecret || keys.Token != "another-channel-access-token" {
		t.Errorf("%+v %v", keys, err)
	}
	if err := s.Store.SaveLineChannel(t.Context(), store.LineSettings{TenantID: s.Tenant.ID, BasicID: "@999zzzzz", Version: now.Version}); err != nil {
		t.Fatal(err)
	}
	if now := channel(t, s.Store, s.Tenant); now.Linked != 0 || strings.Contains(everything(t, s), lineUser) {
		t.Errorf("another account, and people are still linked: %+v", now)
	}
	linkLine(t, s.Store, ofBooking(r, true), lineUser)
	for range 2 {
		if err := s.Store.RemoveLineChannel(t.Context(), s.Tenant.ID); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Contains(everything(t, s), lineUser) {
		t.Error("the account is gone, and somebody is linked")
	}
}

// The quota is the month's, by the calendar of the venue.
func TestAQuotaThatIsUsedUpPausesUntilTheNextMonth(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	c := withLine(t, s.Store, s.Tenant)
	tokyo := s.Tenant.Location()
	for at, want := range map[time.Time]time.Time{
		time.Date(2026, 12, 10, 12, 0, 0, 0, tokyo):    time.Date(2027, 1, 1, 0, 0, 0, 0, tokyo),
		time.Date(2026, 11, 30, 23, 59, 0, 0, tokyo):   time.Date(2026, 12, 1, 0, 0, 0, 0, tokyo),
		time.Date(2026, 11, 30, 16, 0, 0, 0, time.UTC): time.Date(2027, 1, 1, 0, 0, 0, 0, tokyo), // the first of December there
	} {
		if err := s.Store.At(at).LineInTrouble(t.Context(), s.Tenant.ID, c.Version, store.LineQuota); err != nil {
			t.Fatal(err)
		}
		now, err := s.Store.At(at).LineChannel(t.Context(), s.Tenant.ID)
		if err != nil || !now.Paused() || !now.PausedUntil.Equal(want) {
			t.Errorf("at %v: until %v, %v", at, now.PausedUntil, err)
		}
		if after, err := s.Store.At(want).LineChannel(t.Context(), s.Tenant.ID); err != nil || after.Paused() {
			t.Errorf("at %v it is still paused, %v", want, err)
		}
	}
}

func TestIDsOfLineAccounts(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"@012abcde": "@012abcde", " 012ABCDE ": "@012abcde", "＠０１２ａｂｃｄｅ": "@012abcde", "@my-shop_1.x": "@my-shop_1.x",
		"": "", "@": "", "@.x": "", "@a b": "", "@お店": "", "https://line.me/@x": "", "@" + strings.Repeat("a", 41): "",
	} {
		if got := store.NormalizeLineID(typed); got != want {
			t.Errorf("%q gives %q, want %q", typed, got, want)
		}
	}
}
