package store_test

import (
	"bytes"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

func addHook(t *testing.T, s *shop.Shop, kinds ...string) (store.Webhook, string) {
	t.Helper()
	id, secret, err := s.Store.AddWebhook(t.Context(), store.WebhookChange{TenantID: s.Tenant.ID, URL: "https://hooks.example/x", Kinds: kinds, Staff: shop.Staff.ID})
	if err != nil {
		t.Fatal(err)
	}
	return hook(t, s.Store, s, id), secret
}

func hook(t *testing.T, st *store.Store, s *shop.Shop, id string) store.Webhook {
	t.Helper()
	w, err := st.Webhook(t.Context(), s.Tenant.ID, id)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// happens makes n events of the shop's feed.
func happens(t *testing.T, s *shop.Shop, n int) {
	t.Helper()
	for range n {
		s.Hold(t, s.Slot(t, 2), 1)
	}
	if _, err := s.Store.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func claim(t *testing.T, st *store.Store, w store.Webhook) (store.WebhookClaim, bool) {
	t.Helper()
	c, mine, err := st.ClaimWebhook(t.Context(), w.TenantID, w.ID, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return c, mine
}

func finish(t *testing.T, st *store.Store, c store.WebhookClaim, feed int64, outcome store.WebhookOutcome) (store.WebhookClaim, bool) {
	t.Helper()
	r := store.WebhookResult{Feed: feed, Kind: store.EventHeld, Delivery: c.Delivery(feed), Outcome: outcome, Status: 200, Took: 12 * time.Millisecond, Again: time.Minute}
	next, mine, err := st.FinishWebhook(t.Context(), c, r, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return next, mine
}

func dueHooks(t *testing.T, st *store.Store) []store.DueWebhook {
	t.Helper()
	due, err := st.DueWebhooks(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	return due
}

func TestAWebhookBeginsWhereTheFeedStands(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	happens(t, s, 3)
	w, _ := addHook(t, s)
	if w.Cursor != 3 || w.Head != 3 || w.Paused() || len(dueHooks(t, s.Store)) != 0 {
		t.Fatalf("%+v", w)
	}
	happens(t, s, 1)
	if due := dueHooks(t, s.Store); len(due) != 1 || due[0].ID != w.ID {
		t.Fatalf("due: %+v", due)
	}
}

func TestOnlyOneDeliversAndADeadOnesLeaseEnds(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	w, _ := addHook(t, s)
	happens(t, s, 2)
	now, err := s.Store.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	won := tally2(t, race(8, func(int) error {
		_, mine, err := s.Store.ClaimWebhook(t.Context(), w.TenantID, w.ID, time.Minute)
		if err == nil && !mine {
			err = store.Over
		}
		return err
	}), store.Over)
	if won != 1 || len(dueHooks(t, s.Store)) != 0 {
		t.Fatalf("%d have it, due %+v", won, dueHooks(t, s.Store))
	}
	later := s.Store.At(now.Add(2 * time.Minute))
	if len(dueHooks(t, later)) != 1 {
		t.Fatal("the lease does not end")
	}
	first := store.WebhookClaim{TenantID: w.TenantID, ID: w.ID, Term: 1}
	second, mine := claim(t, later, w)
	if !mine || second.Term != 2 || second.Cursor != 0 {
		t.Fatalf("%+v %v", second, mine)
	}
	// Who comes back late writes nothing, neither success nor failure nor the end of another's turn.
	for _, outcome := range []store.WebhookOutcome{store.WebhookDelivered, store.WebhookTimeout} {
		if _, mine := finish(t, later, first, 1, outcome); mine {
			t.Errorf("the first writes that it %s", outcome)
		}
	}
	if err := later.ReleaseWebhook(t.Context(), first, 2); err != nil {
		t.Fatal(err)
	}
	if _, mine := claim(t, later, w); mine {
		t.Error("the first let go what is the second's")
	}
	if second, mine = finish(t, later, second, 1, store.WebhookDelivered); !mine || second.Cursor != 1 {
		t.Errorf("the second: %+v %v", second, mine)
	}
}

func TestAWebhookIsTriedAgainAndPausedAfterThreeDays(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	w, _ := addHook(t, s)
	happens(t, s, 2)
	start, err := s.Store.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := func(after time.Duration) *store.Store { return s.Store.At(start.Add(after)) }
	c, _ := claim(t, at(0), w)
	if c, _ = finish(t, at(0), c, 1, store.WebhookDelivered); c.Cursor != 1 {
		t.Fatalf("%+v", c)
	}
	c, _ = finish(t, at(0), c, 2, store.WebhookStatus)
	if c.Attempts != 1 || c.Cursor != 1 || c.Paused {
		t.Fatalf("after a failure: %+v", c)
	}
	if due := dueHooks(t, at(30*time.Second)); len(due) != 0 {
		t.Error("it is tried again before its time")
	}
	due := dueHooks(t, at(2*time.Minute))
	if len(due) != 1 || due[0].Attempts != 1 {
		t.Fatalf("due: %+v", due)
	}
	last := store.WebhookPatience + time.Minute
	for _, after := range []time.Duration{time.Hour, store.WebhookPatience - time.Minute} {
		c, mine := claim(t, at(after), w)
		if c, _ = finish(t, at(after), c, 2, store.WebhookTimeout); !mine || c.Paused {
			t.Fatalf("paused after %s: %+v", after, c)
		}
	}
	c, _ = claim(t, at(last), w)
	if c, _ = finish(t, at(last), c, 2, store.WebhookTimeout); !c.Paused {
		t.Fatal("never paused")
	}
	failing, err := s.Store.FailingWebhooks(t.Context(), s.Tenant.ID)
	if err != nil || len(failing) != 1 || failing[0].PausedWhy != store.WebhookPausedFailing || failing[0].Head-failing[0].Cursor != 1 {
		t.Fatalf("%+v %v", failing, err)
	}
	if _, mine := claim(t, at(last+time.Hour), w); mine {
		t.Error("a paused one is delivered to")
	}
	// Resumed, what has waited comes first, with new patience.
	if err := at(last+time.Hour).ResumeWebhook(t.Context(), w.TenantID, w.ID, shop.Staff.ID, false); err != nil {
		t.Fatal(err)
	}
	c, mine := claim(t, at(last+time.Hour), w)
	if !mine || c.Cursor != 1 || c.Attempts != 0 {
		t.Errorf("resumed: %+v %v", c, mine)
	}
}

func TestSkippingOnResumeAndPausingInTheMiddle(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	w, _ := addHook(t, s)
	happens(t, s, 4)
	c, _ := claim(t, s.Store, w)
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(s.Store.PauseWebhook(t.Context(), w.TenantID, w.ID, shop.Staff.ID))
	c, mine := finish(t, s.Store, c, 1, store.WebhookDelivered)
	if !mine || !c.Paused || c.Cursor != 1 {
		t.Fatalf("%+v", c)
	}
	check(s.Store.ResumeWebhook(t.Context(), w.TenantID, w.ID, shop.Staff.ID, true))
	// The one under way ends in vain: nobody waits for it any more.
	c, mine = finish(t, s.Store, c, 2, store.WebhookTimeout)
	if got := hook(t, s.Store, s, w.ID); !mine || got.Cursor != 4 || got.Attempts != 0 || got.Paused() || c.Cursor != 4 {
		t.Errorf("%+v %+v", c, got)
	}
	check(s.Store.DeleteWebhook(t.Context(), w.TenantID, w.ID, shop.Staff.ID))
	if _, mine = finish(t, s.Store, c, 5, store.WebhookDelivered); mine {
		t.Error("a deleted one is written to")
	}
	var noted string
	check(s.Pool.QueryRow(t.Context(), "SELECT string_agg(fields[1], ' ' ORDER BY at, id) FROM setting_changes WHERE area = 'webhook'").Scan(&noted))
	if noted != "added webhook_paused webhook_resumed removed" {
		t.Errorf("noted: %s", noted)
	}
}

func TestTheLogOfAWebhookKeepsTheLast(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	w, _ := addHook(t, s)
	happens(t, s, 1)
	c, _ := claim(t, s.Store, w)
	for range store.WebhookLog + 7 {
		if c, _ = finish(t, s.Store, c, 1, store.WebhookDelivered); c.ID == "" {
			t.Fatal("lost")
		}
	}
	n, err := s.Store.LogWebhookTest(t.Context(), w.TenantID, w.ID, store.WebhookResult{Kind: store.WebhookPing, Delivery: "ping", Outcome: store.WebhookName})
	if err != nil || n != store.WebhookLog+8 {
		t.Fatalf("%d %v", n, err)
	}
	log, err := s.Store.WebhookDeliveries(t.Context(), w.TenantID, w.ID)
	if err != nil || len(log) != store.WebhookLog || log[0].Kind != store.WebhookPing || log[0].Number != n || log[1].Took != 12*time.Millisecond || log[1].Attempt != 1 {
		t.Fatalf("%d %+v %v", len(log), log[:2], err)
	}
	var rows int
	if err := s.Pool.QueryRow(t.Context(), "SELECT count(*) FROM webhook_deliveries").Scan(&rows); err != nil || rows != store.WebhookLog {
		t.Errorf("%d rows, %v", rows, err)
	}
}

func TestSecretsOfWebhooksAreKeptEncryptedAndTurnOver(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	w, first := addHook(t, s)
	start, err := s.Store.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	secrets := func(after time.Duration) []string {
		t.Helper()
		c, err := s.Store.At(start.Add(after)).OpenWebhook(t.Context(), w.TenantID, w.ID)
		if err != nil {
			t.Fatal(err)
		}
		return c.Secrets
	}
	turn := func(atOnce bool) string {
		t.Helper()
		secret, err := s.Store.At(start).RotateWebhook(t.Context(), w.TenantID, w.ID, shop.Staff.ID, atOnce)
		if err != nil {
			t.Fatal(err)
		}
		return secret
	}
	if got := secrets(0); !slices.Equal(got, []string{first}) || !strings.HasPrefix(first, "hfwh_") || len(first) < 30 {
		t.Fatalf("%v", got)
	}
	second := turn(false)
	if got := secrets(0); !slices.Equal(got, []string{second, first}) {
		t.Errorf("both should sign: %v", got)
	}
	if got := secrets(store.WebhookOverlap); !slices.Equal(got, []string{second}) {
		t.Errorf("a day later: %v", got)
	}
	var sealed, old []byte
	if err := s.Pool.QueryRow(t.Context(), "SELECT secret, old_secret FROM webhook_endpoints").Scan(&sealed, &old); err != nil || bytes.Contains(sealed, []byte(second)) || bytes.Contains(old, []byte(first)) {
		t.Fatalf("it stands there as it is, %v", err)
	}
	// In another row it can't be read, nor by a server with another secret.
	other, _ := addHook(t, s)
	s.Exec(t, "UPDATE webhook_endpoints SET secret = $1 WHERE id = $2", sealed, other.ID)
	if _, err := s.Store.OpenWebhook(t.Context(), w.TenantID, other.ID); err == nil {
		t.Error("a secret opens in another row")
	}
	stranger, err := store.New(s.Pool, bytes.Repeat([]byte("x"), 32), store.Watch{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stranger.OpenWebhook(t.Context(), w.TenantID, w.ID); err == nil {
		t.Error("another server reads it")
	}
	third := turn(true)
	if got := secrets(0); !slices.Equal(got, []string{third}) {
		t.Errorf("at once: %v", got)
	}
	// What is over goes with the next claim.
	turn(false)
	happens(t, s, 1)
	if c, mine := claim(t, s.Store.At(start.Add(25*time.Hour)), w); !mine || len(c.Secrets) != 1 {
		t.Fatalf("%+v %v", c, mine)
	}
	if err := s.Pool.QueryRow(t.Context(), "SELECT old_secret FROM webhook_endpoints WHERE id = $1", w.ID).Scan(&old); err != nil || old != nil {
		t.Errorf("the old secret stays, %v", err)
	}
}

func TestWebhooksAreOneTenants(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	w, _ := addHook(t, s)
	other := s.AddTenant(t, "other", nil)
	ctx := t.Context()
	for name, err := range map[string]error{
		"read":   second(s.Store.Webhook(ctx, other.ID, w.ID)),
		"open":   second(s.Store.OpenWebhook(ctx, other.ID, w.ID)),
		"save":   s.Store.SaveWebhook(ctx, store.WebhookChange{TenantID: other.ID, ID: w.ID, URL: "https://evil.example/", Version: 1}),
		"rotate": second(s.Store.RotateWebhook(ctx, other.ID, w.ID, "", true)),
		"pause":  s.Store.PauseWebhook(ctx, other.ID, w.ID, ""),
		"resume": s.Store.ResumeWebhook(ctx, other.ID, w.ID, "", true),
		"delete": s.Store.DeleteWebhook(ctx, other.ID, w.ID, ""),
		"log":    second(s.Store.LogWebhookTest(ctx, other.ID, w.ID, store.WebhookResult{Kind: "ping", Outcome: store.WebhookName})),
	} {
		if !errors.Is(err, store.NotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	happens(t, s, 1)
	if _, mine, err := s.Store.ClaimWebhook(ctx, other.ID, w.ID, time.Minute); mine || err != nil {
		t.Errorf("claimed: %v %v", mine, err)
	}
	if got := hook(t, s.Store, s, w.ID); got.Version != 1 || got.URL != w.URL {
		t.Errorf("changed: %+v", got)
	}
	change := store.WebhookChange{TenantID: s.Tenant.ID, ID: w.ID, URL: "https://new.example/", Kinds: []string{"held", "cancelled"}, Version: 0}
	if err := s.Store.SaveWebhook(ctx, change); !errors.Is(err, store.Conflict) {
		t.Errorf("a stale form: %v", err)
	}
	change.Version = 1
	if err := s.Store.SaveWebhook(ctx, change); err != nil {
		t.Fatal(err)
	}
	if got := hook(t, s.Store, s, w.ID); got.URL != change.URL || !slices.Equal(got.Kinds, []string{"cancelled", "held"}) || got.Version != 2 {
		t.Errorf("%+v", got)
	}
	for range store.MostWebhooks - 1 {
		addHook(t, s)
	}
	if _, _, err := s.Store.AddWebhook(ctx, store.WebhookChange{TenantID: s.Tenant.ID, URL: "https://x.example/"}); !errors.Is(err, store.ErrCatalogFull) {
		t.Errorf("one too many: %v", err)
	}
	if err := s.Store.DeleteTenant(ctx, other.ID); err != nil {
		t.Error(err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestPublicAddresses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"127.0.0.1", "127.9.9.9", "0.0.0.0", "0.1.2.3", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1", "100.127.255.254",
		"100.100.100.200", "192.0.0.192", "192.0.2.1", "198.18.0.1", "198.51.100.7", "203.0.113.7", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255",
		"::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:0:127.0.0.1", "fe80::1", "fe80::1%eth0", "febf::1", "fec0::1", "fc00::1",
		"fd00:ec2::254", "ff02::1", "ff0e::1", "64:ff9b::127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "64:ff9b:1::8.8.8.8", "2002:7f00:1::", "2002:a00:1::1",
		"2002:a9fe:a9fe::1", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:db8::1", "2001:10::1", "100::1", "3fff::1", "5f00::1", "4000::1", "2000::1%1",
	} {
		if store.PublicAddress(netip.MustParseAddr(text)) {
			t.Errorf("%s passes for public", text)
		}
	}
	for _, text := range []string{
		"8.8.8.8", "1.1.1.1", "172.15.0.1", "172.32.0.1", "100.63.255.255", "100.128.0.1", "192.0.1.1", "223.255.255.255", "::ffff:8.8.8.8", "2001:4860:4860::8888", "2a00:1450::1",
		"64:ff9b::8.8.8.8", "2002:808:808::1", "2606:4700::1111",
	} {
		if !store.PublicAddress(netip.MustParseAddr(text)) {
			t.Errorf("%s passes for private", text)
		}
	}
	if store.PublicAddress(netip.Addr{}) {
		t.Error("no address passes for public")
	}
}

func TestAddressesOfWebhooks(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		" https://Hooks.Example.com/a?b=c#d ": "https://hooks.example.com/a?b=c", "HTTPS://例え.jp": "https://xn--r8jz45g.jp/", "https://x.example:443/": "https://x.example/",
		"https://x.example:8443/p": "https://x.example:8443/p", "https://8.8.8.8/": "https://8.8.8.8/", "https://[2001:4860:4860::8888]:8443/x": "https://[2001:4860:4860::8888]:8443/x",
	} {
		if got, err := store.NormalizeWebhookURL(typed, false); err != nil || got != want {
			t.Errorf("%q: %q, %v", typed, got, err)
		}
	}
	for typed, want := range map[string]error{
		"": store.ErrWebhookURL, "x": store.ErrWebhookURL, "ftp://x.example/": store.ErrWebhookURL, "https://": store.ErrWebhookURL, "https:///x": store.ErrWebhookURL,
		"https://u:p@x.example/": store.ErrWebhookURL, "https://x.example:0/": store.ErrWebhookURL, "https://x.example:99999/": store.ErrWebhookURL, "https://x.example:/": store.ErrWebhookURL,
		"https://a b.example/": store.ErrWebhookURL, "https://x.example/\\..": store.ErrWebhookURL, "javascript:alert(1)": store.ErrWebhookURL, "//x.example/": store.ErrWebhookURL,
		"https://[fe80::1%25eth0]/": store.ErrWebhookURL, "https://x.example/" + strings.Repeat("a", store.LongestWebhookURL): store.ErrWebhookURL, "https://x.example/" + strings.Repeat("あ", 300): store.ErrWebhookURL,
		"http://x.example/": store.ErrWebhookPlain, "https://localhost/": store.ErrWebhookPrivate, "https://localhost./": store.ErrWebhookPrivate, "https://intranet/": store.ErrWebhookPrivate,
		"https://printer.local/": store.ErrWebhookPrivate, "https://127.0.0.1/": store.ErrWebhookPrivate, "https://[::1]/": store.ErrWebhookPrivate, "https://[::ffff:10.0.0.1]/": store.ErrWebhookPrivate,
		"https://127.1/": store.ErrWebhookPrivate, "https://2130706433/": store.ErrWebhookPrivate, "https://0x7f.0x0.0x0.0x1/": store.ErrWebhookPrivate, "https://0177.0.0.1/": store.ErrWebhookPrivate,
		"https://metadata.google.internal/": store.ErrWebhookPrivate,
	} {
		if got, err := store.NormalizeWebhookURL(typed, false); !errors.Is(err, want) {
			t.Errorf("%q: %q, %v, want %v", typed, got, err, want)
		}
	}
	for _, typed := range []string{"http://localhost:8080/x", "http://127.0.0.1:9/", "https://intranet/", "http://[::1]/"} {
		if _, err := store.NormalizeWebhookURL(typed, true); err != nil {
			t.Errorf("%q where it is allowed: %v", typed, err)
		}
	}
}
