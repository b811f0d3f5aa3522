package store_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

func TestNormalizeEmail(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"taro@example.com":                       "taro@example.com",
		"taro+class@example.com":                 "taro+class@example.com",
		" taro@example.com ":                     "taro@example.com",
		"Taro@EXAMPLE.com":                       "Taro@example.com",
		"a.b-c_d@sub.example.com":                "a.b-c_d@sub.example.com",
		"taro＠example.com":                       "taro@example.com",
		"taro@example.com\u3000":                 "taro@example.com",
		"ｔａｒｏ@ｅｘａｍｐｌｅ．ｃｏｍ":                       "taro@example.com",
		"a..b@docomo.ne.jp":                      "a..b@docomo.ne.jp",
		"a.@ezweb.ne.jp":                         "a.@ezweb.ne.jp",
		"a..b.@au.com":                           "a..b.@au.com",
		"taro@日本語.jp":                            "taro@xn--wgv71a119e.jp",
		"o'neil@example.com":                     "o'neil@example.com",
		"":                                       "",
		"a@":                                     "",
		"@example.com":                           "",
		"a b@example.com":                        "",
		"a@example":                              "",
		"a..b@example.com":                       "",
		".a@docomo.ne.jp":                        "",
		"a@b@example.com":                        "",
		"a@exa mple.com":                         "",
		"a@[192.0.2.1]":                          "",
		"a\r\nBcc: x@example.com":                "",
		"a@example.com\r\nBcc: x@y.z":            "",
		`"a b"@example.com`:                      "",
		"Taro <a@example.com>":                   "",
		"a@example.com,b@example.com":            "",
		"太郎@example.com":                         "",
		strings.Repeat("a", 65) + "@example.com": "",
		"a@" + strings.Repeat("a.", 130) + "example.com": "",
	} {
		got, err := store.NormalizeEmail(typed)
		if got != want || (err != nil) != (want == "") || (err != nil && !errors.Is(err, store.ErrEmail)) {
			t.Errorf("%q: %q, %v; want %q", typed, got, err, want)
		}
		if err == nil {
			if again, err := store.NormalizeEmail(got); err != nil || again != got {
				t.Errorf("%q is not its own canonical form: %q %v", got, again, err)
			}
		}
	}
	if store.PersonKey("Taro@example.com") != store.PersonKey("taro@example.com") || store.PersonKey("taro+a@example.com") == store.PersonKey("taro@example.com") {
		t.Error("persons are not told apart by their address")
	}
}

func TestNormalizeNames(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"髙橋 𠮷郎 👩‍👩‍👧":       "髙橋 𠮷郎 👩‍👩‍👧",
		" 山田\u3000 太郎 ":     "山田 太郎",
		"Zoë <Z> & Co":      "Zoë <Z> & Co",
		"محمد O’Neil":       "محمد O’Neil",
		"a\tb\x00c\r\nd":    "a b c d",
		"\xff山":             "山",
		"=HYPERLINK(\"x\")": "=HYPERLINK(\"x\")",
		"e\u0301":           "é",
		" ":                 "",
		"\u202Egnp.exe":     "gnp.exe",
		"a\u2067b\u2069":    "ab",
		"\u200b \u2060":     "",
		"a\u2028b":          "a b",
	} {
		if got := store.NormalizeName(typed); got != want {
			t.Errorf("%q: %q, want %q", typed, got, want)
		}
	}
	for typed, want := range map[string]string{
		"ﾔﾏﾀﾞ ﾀﾛｳ": "ヤマダ タロウ",
		"やまだ たろう":  "ヤマダ タロウ",
		"ヤマダ　タロウ":  "ヤマダ タロウ",
		"ゔゞ":       "ヴヾ",
		"Yamada":   "Yamada",
	} {
		if got := store.NormalizeKana(typed); got != want {
			t.Errorf("%q: %q, want %q", typed, got, want)
		}
	}
	for typed, want := range map[string]string{
		"  ａｂｃ　１２３ ":      "abc 123",
		"one\r\ntwo\x07":  "one\ntwo",
		"\u202Eone\u202C": "one",
	} {
		if got := store.NormalizeText(typed); got != want {
			t.Errorf("%q: %q, want %q", typed, got, want)
		}
	}
}

func TestNormalizePhone(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"090-1234-5678": "+819012345678",
		"０９０　１２３４　５６７８":    "+819012345678",
		"+81 90 1234 5678": "+819012345678",
		"03-1234-5678":     "+81312345678",
		"+1 212 555 0123":  "+12125550123",
		"":                 "",
		"110":              "",
		"abc":              "",
	} {
		got, err := store.NormalizePhone(typed, "JP")
		if got != want || (err != nil) != (want == "") || (err != nil && !errors.Is(err, store.ErrPhone)) {
			t.Errorf("%q: %q, %v; want %q", typed, got, err, want)
		}
	}
	if got := store.FormatPhone("+819012345678", "JP"); got != "090-1234-5678" {
		t.Error(got)
	}
	if got := store.FormatPhone("+12125550123", "JP"); got != "+1 212-555-0123" {
		t.Error(got)
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot := s.Slot(t, 3)
	req := s.ConfirmRequest(s.Hold(t, slot, 1))
	req.Contact = store.Contact{Name: "100% 山田_太郎", Kana: "ヤマダ タロウ", Email: "Taro@example.com", Phone: "+819012345678", Locale: "ja"}
	r, err := s.Store.Confirm(s.ctx(), req)
	s.must(err)
	s.Book(t, slot, 1)
	for _, c := range []struct {
		text string
		want int
	}{
		{r.Number, 1},
		{strings.ToLower(r.Number), 1},
		{"taro@EXAMPLE.com", 1},
		{"山田", 1},
		{"やまだ", 1},
		{"ﾔﾏﾀﾞ", 1},
		{"5678", 2},
		{"100%", 1},
		{"田_太", 1},
		{"%", 0},
		{"_", 0},
		{"nobody", 0},
		{"", 0},
		{"   ", 0},
	} {
		got, err := s.Store.Search(s.ctx(), s.Tenant.ID, c.text)
		if err != nil || len(got) != c.want {
			t.Errorf("%q: %d found, %v; want %d", c.text, len(got), err, c.want)
		}
	}
	got, err := s.Store.Search(s.ctx(), s.AddTenant(t, "other", nil).ID, "山田")
	if err != nil || len(got) != 0 {
		t.Errorf("another tenant finds %v %v", got, err)
	}
}

func TestRosterOrder(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot := s.Slot(t, 4)
	s.Hold(t, slot, 1)
	for _, kana := range []string{"ワダ", "アベ", "サトウ"} {
		req := s.ConfirmRequest(s.Hold(t, slot, 1))
		req.Contact.Kana = kana
		_, err := s.Store.Confirm(s.ctx(), req)
		s.must(err)
	}
	roster, err := s.Store.Roster(s.ctx(), slot.TenantID, slot.ID)
	s.must(err)
	got := ""
	for _, r := range roster {
		got += r.Kana + " "
	}
	if strings.TrimSpace(got) != "アベ サトウ ワダ" || roster[3].State != store.Held {
		t.Fatalf("%q", got)
	}
}

func TestLinkTokens(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot := s.Slot(t, 1)
	r := s.Hold(t, slot, 1)
	token := s.Store.ReservationToken(r)
	if len(token) != 32 || token != s.Store.ReservationToken(s.Reservation(t, r)) {
		t.Fatal(token)
	}
	for name, bad := range map[string]string{
		"shortened": token[:31], "longer": token + "a", "in upper case": strings.ToUpper(token), "empty": "", "an id": r.ID,
		"changed in one sign": map[bool]string{true: "b", false: "a"}[token[0] == 'a'] + token[1:], "with another alphabet": strings.Repeat("1", 32), "with a null": "\x00" + token[1:],
	} {
		if _, err := s.Store.ReservationByToken(s.ctx(), slot.TenantID, bad); !errors.Is(err, store.NotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := s.Store.ReservationByToken(s.ctx(), s.AddTenant(t, "other", nil).ID, token)
	want(t, err, store.NotFound)
	// Raising the generation makes another link; the row keeps the hash of the valid one.
	raised := r
	raised.Generation++
	if s.Store.ReservationToken(raised) == token {
		t.Error("the generation does not change the link")
	}
	// Another server secret makes other links.
	other, err := store.New(s.Pool, []byte(strings.Repeat("another!", 4)), store.Watch{})
	s.must(err)
	if other.ReservationToken(r) == token {
		t.Error("the secret does not change the link")
	}
	if err := other.Ready(s.ctx()); err == nil {
		t.Error("an instance with another secret says that it is ready")
	}
	s.must(s.Store.Ready(s.ctx()))
	if _, err := store.New(s.Pool, []byte("short"), store.Watch{}); err == nil {
		t.Error("a short secret was taken")
	}
}

func TestValidID(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{
		"00000000-0000-4000-8000-00000000000a":  true,
		"00000000-0000-4000-8000-00000000000A":  false,
		"00000000-0000-4000-8000-0000000000":    false,
		"00000000x0000-4000-8000-00000000000a":  false,
		"00000000-0000-4000-8000-00000000000g":  false,
		"":                                      false,
		"{00000000-0000-4000-8000-00000000000}": false,
	} {
		if got := store.ValidID(id); got != want {
			t.Errorf("%q: %v", id, got)
		}
	}
	s := newStage(t, nil)
	r := s.Hold(t, s.Slot(t, 1), 1)
	if !store.ValidID(r.ID) || !store.ValidID(r.SlotID) || strings.Trim(r.Number, "23456789ABCDEFGHJKLMNPQRSTUVWXYZ") != "" {
		t.Errorf("%+v", r)
	}
}

func TestRateLimitsAreSharedAndKeepNoName(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	for i := range 5 {
		wait, err := s.Store.Hit(s.ctx(), "sign-in taro@example.com", 3, time.Minute)
		if err != nil || (wait > 0) != (i >= 3) || wait > time.Minute {
			t.Fatal(i, wait, err)
		}
	}
	if wait, err := s.Store.Hit(s.ctx(), "sign-in hanako@example.com", 3, time.Minute); err != nil || wait != 0 {
		t.Fatal(wait, err)
	}
	var named int
	s.must(s.Pool.QueryRow(s.ctx(), "SELECT count(*) FROM rate_limits WHERE key LIKE '%taro%'").Scan(&named))
	if named != 0 {
		t.Error("a key tells the address")
	}
}

func TestWatchIsToldHowStepsEnd(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	outcomes, zero, waits := map[string]int{}, map[string]int{}, 0
	st := shop.Open(t, s.World, store.Watch{
		Outcome:  func(step, outcome string) { outcomes[step+" "+outcome]++ },
		ZeroRows: func(step string) { zero[step]++ },
		LockWait: func(string, time.Duration) { waits++ },
	})
	slot := s.Slot(t, 1)
	req := s.HoldRequest(slot, 1)
	if _, err := st.Hold(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	_, err := st.Hold(t.Context(), s.HoldRequest(slot, 1))
	want(t, err, store.SoldOut)
	if _, err := st.Join(t.Context(), s.JoinRequest(slot, 1)); err != nil {
		t.Fatal(err)
	}
	if outcomes["hold ok"] != 1 || outcomes["hold sold_out"] != 1 || outcomes["join ok"] != 1 || zero["hold"] != 1 || waits != 1 {
		t.Fatalf("%v %v %d", outcomes, zero, waits)
	}
}
