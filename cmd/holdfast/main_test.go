package main

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest"
	"holdfast/store/storetest/shop"
)

// asProgram, set to anything, makes the test binary behave as the program, so
// that tests can start, kill and signal real processes.
const asProgram = "HOLDFAST_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	storetest.Main(m)
}

// ran is how a command ended.
type ran struct {
	code        int
	out, errors string
}

type settings map[string]string

// with gives the settings changed by pairs of name and value.
func (s settings) with(pairs ...string) settings {
	changed := maps.Clone(s)
	for i := 0; i+1 < len(pairs); i += 2 {
		changed[pairs[i]] = pairs[i+1]
	}
	return changed
}

// run runs a command in this process.
func (s settings) run(t *testing.T, stdin string, args ...string) ran {
	t.Helper()
	var out, errors bytes.Buffer
	code := Run(t.Context(), args, func(name string) string { return s[name] }, strings.NewReader(stdin), &out, &errors)
	return ran{code, out.String(), errors.String()}
}

// fine runs a command that must work, and gives what it printed.
func (s settings) fine(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	r := s.run(t, stdin, args...)
	if r.code != exitFine {
		t.Fatalf("%v: exit %d: %s", args, r.code, r.errors)
	}
	return r.out
}

func on(t *testing.T, w *storetest.World) settings {
	t.Helper()
	return settings{"DATABASE_URL": w.DSN, "HOLDFAST_SECRET": string(shop.Secret), "HOLDFAST_DATA_DIR": t.TempDir()}
}

func TestAMisuseIsToldAndEndsWith2(t *testing.T) {
	t.Parallel()
	nowhere := settings{"DATABASE_URL": "postgres://user:geheim@127.0.0.1:1/none", "HOLDFAST_DATA_DIR": t.TempDir()}
	for _, c := range []struct {
		name string
		args []string
		says string
	}{
		{"no command", nil, "help"},
		{"an unknown command", []string{"dance"}, "dance"},
		{"half of a command", []string{"tenant"}, "tenant"},
		{"an unknown flag", []string{"check", "--fast"}, "fast"},
		{"an argument too many", []string{"sweep", "now"}, "now"},
		{"a tenant without a name", []string{"tenant", "add", "--slug", "a"}, "--name"},
		{"a slug that is none", []string{"tenant", "add", "--slug", "Ä", "--name", "A"}, "a-z"},
		{"a language that is none", []string{"tenant", "add", "--slug", "a", "--name", "A", "--locale", "fr"}, "ja or en"},
		{"a role that is none", []string{"staff", "add", "--tenant", "a", "--email", "a@example.com", "--role", "king"}, "owner, manager or desk"},
		{"an address that is none", []string{"staff", "add", "--tenant", "a", "--email", "a@", "--role", "desk"}, "a@"},
		{"a password too short", []string{"staff", "add", "--tenant", "a", "--email", "a@example.com", "--role", "desk", "--password-stdin"}, "8 characters"},
		{"a scope that is none", []string{"apikey", "add", "--tenant", "a", "--name", "b", "--scopes", "read,fly"}, "fly"},
		{"a key for nobody", []string{"apikey", "add"}, "--tenant, --name, --scopes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := nowhere.run(t, "short\n", c.args...)
			if r.code != exitUsage || !strings.Contains(r.errors, c.says) || r.out != "" {
				t.Errorf("exit %d, printed %q, said %q", r.code, r.out, r.errors)
			}
		})
	}
}

func TestHelpAndVersionNeedNothing(t *testing.T) {
	t.Parallel()
	help := (settings{}).fine(t, "", "help")
	for _, c := range commands() {
		if !strings.Contains(help, "holdfast "+c.name) {
			t.Errorf("help does not know %s", c.name)
		}
	}
	for _, name := range []string{
		"DATABASE_URL", "HOLDFAST_ADDR", "HOLDFAST_PUBLIC_URL", "HOLDFAST_DATA_DIR", "HOLDFAST_SECRET", "HOLDFAST_SMTP_URL", "HOLDFAST_MAIL_FROM",
		"HOLDFAST_TRUSTED_PROXIES", "HOLDFAST_PG_BIN", "DIRECT_DATABASE_URL", "HOLDFAST_SWEEP", "HOLDFAST_DISPATCH", "HOLDFAST_RATE_LIMIT", "HOLDFAST_METRICS_TOKEN",
	} {
		if !strings.Contains(help, " "+name+" ") {
			t.Errorf("help does not know %s", name)
		}
	}
	if (settings{}).fine(t, "", "check", "-h") == "" || (settings{}).fine(t, "", "--help") != help {
		t.Error("help is not where people look for it")
	}
	if out := (settings{}).fine(t, "", "version"); !strings.HasPrefix(out, "holdfast ") {
		t.Errorf("version is %q", out)
	}
}

func TestAllMistakesInTheSettingsAreNamedAtOnceAndNoSecretIs(t *testing.T) {
	t.Parallel()
	wrong := settings{
		"DATABASE_URL": "postgres://user:geheim@host:port/x", "DIRECT_DATABASE_URL": "postgres://u:geheim@%zz", "HOLDFAST_ADDR": "8080",
		"HOLDFAST_PUBLIC_URL": "reserve.example.com", "HOLDFAST_SECRET": "geheim", "HOLDFAST_SMTP_URL": "smtp://me:geheim@host:x", "HOLDFAST_MAIL_FROM": "me",
		"HOLDFAST_TRUSTED_PROXIES": "10.0.0.0/8,inside", "HOLDFAST_SWEEP": "yes", "HOLDFAST_DISPATCH": "1", "HOLDFAST_RATE_LIMIT": "no",
	}
	for _, command := range []string{"serve", "check", "migrate", "demo"} {
		r := wrong.run(t, "", command)
		if r.code != exitUsage {
			t.Errorf("%s: exit %d", command, r.code)
		}
		for name := range wrong {
			if !strings.Contains(r.errors, name+":") {
				t.Errorf("%s does not name %s:\n%s", command, name, r.errors)
			}
		}
		if strings.Contains(r.errors, "geheim") {
			t.Errorf("%s tells a secret:\n%s", command, r.errors)
		}
	}
}

func TestThePublicAddressFollowsTheOneToListenOn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ addr, public, want string }{
		{"", "", "http://localhost:8080"},
		{"127.0.0.1:9000", "", "http://localhost:9000"},
		{":9000", "", "http://localhost:9000"},
		{"[::1]:9000", "", "http://localhost:9000"},
		{"0.0.0.0:9000", "", "http://localhost:9000"},
		{"192.0.2.1:80", "", "http://192.0.2.1:80"},
		{"127.0.0.1:9000", "https://reserve.example.com/", "https://reserve.example.com"},
	} {
		s := settings{"HOLDFAST_ADDR": c.addr, "HOLDFAST_PUBLIC_URL": c.public, "HOME": "/home/somebody"}
		p := &program{getenv: func(name string) string { return s[name] }}
		got, err := p.configure()
		if err != nil || got.PublicURL.url.String() != c.want {
			t.Errorf("%+v: %v %v", c, got.PublicURL.url, err)
		}
	}
}

func TestADatabaseThatCannotBeReachedEndsWith3(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"serve", "check", "sweep", "migrate", "demo"} {
		s := settings{
			"DATABASE_URL": "postgres://user:geheim@127.0.0.1:1/none?sslmode=disable", "HOLDFAST_DATA_DIR": t.TempDir(), "HOLDFAST_ADDR": "127.0.0.1:0",
		}
		r := s.run(t, "", command)
		if r.code != exitUnreachable || !strings.Contains(r.errors, "can't be reached") || strings.Contains(r.errors, "geheim") {
			t.Errorf("%s: exit %d: %s", command, r.code, r.errors)
		}
	}
}

func TestWithoutADatabaseNoneIsMadeBehindAnOperatorsBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := settings{"HOLDFAST_DATA_DIR": dir}
	for _, command := range [][]string{{"check"}, {"sweep"}, {"tenant", "add", "--slug", "a", "--name", "A"}} {
		if r := s.run(t, "", command...); r.code != exitUsage || !strings.Contains(r.errors, "DATABASE_URL") {
			t.Errorf("%v: exit %d: %s", command, r.code, r.errors)
		}
	}
	if _, err := os.Stat(dir + "/pg"); err == nil {
		t.Error("a database was made")
	}
}

func TestPendingMigrationsAreAskedForAndNeverRunUnasked(t *testing.T) {
	t.Parallel()
	s := on(t, storetest.New(t, storetest.Unmigrated())).with("HOLDFAST_ADDR", "127.0.0.1:0")
	for _, command := range []string{"serve", "check", "sweep", "demo"} {
		if r := s.run(t, "", command); r.code != exitFailed || !strings.Contains(r.errors, "holdfast migrate") {
			t.Errorf("%s: exit %d: %s", command, r.code, r.errors)
		}
	}
	if out := s.fine(t, "", "migrate", "--status"); !strings.Contains(out, "pending") || !strings.Contains(out, "00001_tenants.sql") {
		t.Errorf("status before:\n%s", out)
	}
	if out := s.fine(t, "", "migrate"); strings.HasPrefix(out, "0 ") {
		t.Errorf("migrate: %s", out)
	}
	if out := s.fine(t, "", "migrate"); out != "0 migrations applied\n" {
		t.Errorf("migrate again: %s", out)
	}
	if out := s.fine(t, "", "migrate", "--status"); strings.Contains(out, "pending") {
		t.Errorf("status after:\n%s", out)
	}
	s.fine(t, "", "check")
}

func TestAnInstallationIsMadeUsableByCommands(t *testing.T) {
	t.Parallel()
	w := storetest.New(t)
	s := on(t, w)
	s.fine(t, "", "tenant", "add", "--slug", "salon", "--name", "サロン 花", "--zone", "Europe/Paris", "--locale", "en", "--email", "ＨＥＬＬＯ@salon.example", "--phone", "+33 1 23 45 67 89")
	st := shop.Open(t, w, store.Watch{})
	tenant, err := st.TenantBySlug(t.Context(), "salon")
	if err != nil || tenant.Name != "サロン 花" || tenant.TimeZone != "Europe/Paris" || tenant.Locale != "en" || tenant.Email != "HELLO@salon.example" || tenant.Phone != "+33123456789" {
		t.Fatalf("%+v %v", tenant, err)
	}
	for _, wrong := range [][]string{{"--slug", "salon", "--name", "X"}, {"--slug", "staff", "--name", "X"}, {"--slug", "x", "--name", "X", "--zone", "Mars/Base"}} {
		if r := s.run(t, "", append([]string{"tenant", "add"}, wrong...)...); r.code != exitFailed || r.errors == "" {
			t.Errorf("%v: exit %d: %s", wrong, r.code, r.errors)
		}
	}

	if r := s.run(t, "", "staff", "add", "--tenant", "salon", "--email", "Owner@Example.com", "--role", "owner"); r.code != exitUsage || !strings.Contains(r.errors, "--password-stdin") {
		t.Errorf("somebody new without a password: exit %d: %s", r.code, r.errors)
	}
	s.fine(t, "correct horse\n", "staff", "add", "--tenant", "salon", "--email", "Owner@Example.com", "--role", "owner", "--password-stdin")
	owner, err := st.StaffByEmail(t.Context(), "owner@example.com")
	if err != nil {
		t.Fatal(err)
	}
	if same, err := matchesPassword("correct horse", owner.PasswordHash); err != nil || !same {
		t.Errorf("the password does not fit: %v", err)
	}
	if m, err := st.Membership(t.Context(), tenant.ID, owner.ID); err != nil || m.Role != store.RoleOwner {
		t.Errorf("%+v %v", m, err)
	}
	// Known already: another role, the same password; then another password.
	s.fine(t, "", "staff", "add", "--tenant", "salon", "--email", "owner@example.com", "--role", "manager")
	s.fine(t, "battery staple", "staff", "add", "--tenant", "salon", "--email", "owner@example.com", "--role", "manager", "--password-stdin")
	if owner, err = st.StaffByEmail(t.Context(), "owner@example.com"); err != nil {
		t.Fatal(err)
	}
	if same, err := matchesPassword("battery staple", owner.PasswordHash); err != nil || !same {
		t.Errorf("the new password does not fit: %v", err)
	}
	if r := s.run(t, "long enough\n", "staff", "add", "--tenant", "nobody", "--email", "a@example.com", "--role", "desk", "--password-stdin"); r.code != exitFailed || !strings.Contains(r.errors, "no tenant nobody") {
		t.Errorf("exit %d: %s", r.code, r.errors)
	}

	key := s.fine(t, "", "apikey", "add", "--tenant", "salon", "--name", "till", "--scopes", "read, book")
	if !strings.HasPrefix(key, "hf_salon_") || strings.Count(key, "\n") != 1 || !strings.HasSuffix(key, "\n") {
		t.Errorf("printed %q", key)
	}
	found, err := st.APIKeyByText(t.Context(), tenant.ID, strings.TrimSpace(key))
	if err != nil || len(found.Scopes) != 2 {
		t.Errorf("%+v %v", found, err)
	}
}

func TestAnotherSecretThanTheLinksWereMadeWithIsRefused(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	other := on(t, s.World).with("HOLDFAST_SECRET", strings.Repeat("another", 6))
	if r := other.run(t, "", "sweep"); r.code != exitFailed || !strings.Contains(r.errors, "HOLDFAST_SECRET") {
		t.Errorf("exit %d: %s", r.code, r.errors)
	}
	other.fine(t, "", "check") // reads only
}

func TestCheckPrintsEachInvariantAndEndsWith1OnAViolation(t *testing.T) {
	t.Parallel()
	w := storetest.New(t)
	s := on(t, w)
	s.fine(t, "", "tenant", "add", "--slug", "salon", "--name", "Salon")
	type report struct {
		At         time.Time `json:"at"`
		OK         bool      `json:"ok"`
		Invariants []struct {
			ID         string   `json:"id"`
			Violations *int     `json:"violations"`
			Examples   []string `json:"examples"`
		} `json:"invariants"`
	}
	read := func(r ran) report {
		var got report
		dec := json.NewDecoder(strings.NewReader(r.out))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&got); err != nil {
			t.Fatalf("%v in %q", err, r.out)
		}
		return got
	}
	r := s.run(t, "", "check", "--json")
	if got := read(r); r.code != exitFine || !got.OK || len(got.Invariants) != 10 || !strings.Contains(r.out, `{"id":"I1","violations":0,"examples":[]}`) || !strings.Contains(r.out, `Z","ok":true,`) {
		t.Errorf("exit %d: %s", r.code, r.out)
	}
	if out := s.fine(t, "", "check", "--tenant", "salon"); strings.Count(out, " 0 violations\n") != 10 {
		t.Errorf("printed\n%s", out)
	}
	if r := s.run(t, "", "check", "--tenant", "nobody"); r.code != exitFailed || !strings.Contains(r.errors, "no tenant nobody") {
		t.Errorf("exit %d: %s", r.code, r.errors)
	}

	st := shop.Open(t, w, store.Watch{})
	tenant, err := st.TenantBySlug(t.Context(), "salon")
	if err != nil {
		t.Fatal(err)
	}
	service, err := st.AddService(t.Context(), store.Service{TenantID: tenant.ID, Slug: "cut", Name: store.Text{"en": "Cut"}, Duration: time.Hour, Capacity: 2, Active: true})
	if err != nil {
		t.Fatal(err)
	}
	chair, err := st.AddResource(t.Context(), store.Resource{TenantID: tenant.ID, Slug: "chair", Name: store.Text{"en": "Chair"}})
	if err != nil {
		t.Fatal(err)
	}
	slots, err := st.AddSlots(t.Context(), tenant.ID, []store.NewSlot{{ServiceID: service.ID, ResourceID: chair.ID, StartsAt: time.Now().Add(48 * time.Hour)}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Pool.Exec(t.Context(), "UPDATE slots SET taken = 1 WHERE tenant_id = $1 AND id = $2", tenant.ID, slots[0].ID); err != nil {
		t.Fatal(err)
	}
	r = s.run(t, "", "check", "--json")
	got := read(r)
	if r.code != exitFailed || got.OK || *got.Invariants[1].Violations != 1 || len(got.Invariants[1].Examples) != 1 {
		t.Errorf("exit %d: %s", r.code, r.out)
	}
	if r := s.run(t, "", "check"); r.code != exitFailed || !strings.Contains(r.out, "I2   1 violations: ") {
		t.Errorf("exit %d: %s", r.code, r.out)
	}
}

func TestSweepMakesOnePass(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	r := s.Hold(t, s.Slot(t, 1), 1)
	s.Exec(t, "UPDATE reservations SET shown_until = now() - interval '2 minutes', expires_at = now() - interval '1 minute' WHERE tenant_id = $1 AND id = $2", r.TenantID, r.ID)
	command := on(t, s.World)
	var report store.SweepReport
	if err := json.Unmarshal([]byte(command.fine(t, "", "sweep", "--json")), &report); err != nil || report.Expired != 1 {
		t.Errorf("%+v %v", report, err)
	}
	if got := s.Reservation(t, r); got.State != store.ExpiredR {
		t.Errorf("the hold is %s", got.State)
	}
	if out := command.fine(t, "", "sweep"); !strings.Contains(out, "holds expired: 0") || !strings.Contains(out, "slots made: 0") {
		t.Errorf("printed %s", out)
	}
}

// One pass does all that a sweeper does: also a schedule without an end goes on.
func TestSweepMakesTheSlotsOfSchedulesWithoutAnEnd(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	first := time.Now().In(s.Tenant.Location()).AddDate(0, 0, 1).Format(time.DateOnly)
	c := store.Schedule{
		ID: "00000000-0000-4000-8000-000000000007", TenantID: s.Tenant.ID, ServiceID: s.Service.ID, ResourceID: s.Resource.ID, Capacity: 8,
		Recurrence: store.Recurrence{Rule: "FREQ=DAILY", First: first, Starts: []int{600}},
	}
	plan, err := s.Store.PreviewSchedule(t.Context(), c)
	check(t, err)
	_, err = s.Store.CreateSchedule(t.Context(), store.NewSchedule{Schedule: c, Print: plan.Print})
	check(t, err)
	count := func() (n int) {
		check(t, s.Pool.QueryRow(t.Context(), "SELECT count(*) FROM slots").Scan(&n))
		return n
	}
	before := count()
	s.Exec(t, "UPDATE schedules SET made_until = made_until - 30, extend_at = now() - interval '1 minute'")
	s.Exec(t, "DELETE FROM slots WHERE starts_at > (SELECT made_until FROM schedules)")
	if count() == before {
		t.Fatal("there is nothing to make")
	}
	var report struct{ Made int }
	if err := json.Unmarshal([]byte(on(t, s.World).fine(t, "", "sweep", "--json")), &report); err != nil || report.Made == 0 || count() != before {
		t.Errorf("%d made, %d of %d slots, %v", report.Made, count(), before, err)
	}
}

func TestTheDemoShowsEveryKindOfSlot(t *testing.T) {
	t.Parallel()
	w := storetest.New(t)
	s := on(t, w)
	out := s.fine(t, "", "demo")
	st := shop.Open(t, w, store.Watch{})
	demo, err := st.TenantBySlug(t.Context(), demoSlug)
	if err != nil || demo.TimeZone != "Asia/Tokyo" || demo.Locale != "ja" {
		t.Fatalf("%+v %v", demo, err)
	}
	if setup, err := st.SetupOf(t.Context(), demo.ID); err != nil || setup.DoneAt == nil || setup.CallRule == "" {
		t.Errorf("it asks for its set-up: %+v %v", setup, err)
	}
	policies, err := demo.Policies()
	if err != nil || policies.Quiet != nil {
		t.Errorf("quiet hours %v %v", policies.Quiet, err)
	}
	resources, err := st.Resources(t.Context(), demo.ID)
	if err != nil {
		t.Fatal(err)
	}
	studio := ""
	for _, r := range resources {
		if r.Slug == "studio-a" {
			studio = r.ID
		}
	}
	now := time.Now()
	slots, err := st.Slots(t.Context(), store.SlotQuery{TenantID: demo.ID, From: now.Add(-96 * time.Hour), To: now.Add(30 * 24 * time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, slot := range slots {
		future := slot.StartsAt.After(now)
		full := slot.Taken == slot.Capacity
		for what, is := range map[string]bool{
			"past":                         !future && slot.Taken > 0,
			"one seat, full, nobody waits": future && slot.Capacity == 1 && full && slot.Waiting == 0 && slot.ResourceID == studio && now.Before(slot.CancelUntil),
			"full, three wait":             future && full && slot.Waiting == 3,
			"almost full":                  future && slot.SeatsLeft == 1 && slot.Capacity > 3,
			"empty":                        future && slot.Taken == 0 && slot.Bookable(),
			"first come, somebody waits":   future && full && slot.Waiting == 1 && !slot.OrderRules,
			"closed":                       slot.Status == store.SlotClosed,
			"cancelled":                    slot.Status == store.SlotCancelled,
			"opens later":                  slot.OpensAt.After(now),
		} {
			if is {
				seen[what]++
			}
		}
	}
	for _, what := range []string{
		"past", "one seat, full, nobody waits", "full, three wait", "almost full", "empty", "first come, somebody waits", "closed", "cancelled", "opens later",
	} {
		if seen[what] == 0 {
			t.Errorf("no slot is: %s (of %d)", what, len(slots))
		}
	}
	shut, err := st.ClosedDays(t.Context(), demo.ID, now.Format(time.DateOnly), now.Add(30*24*time.Hour).Format(time.DateOnly))
	if err != nil || len(shut) != 1 || shut[0].Note["ja"] == "" || shut[0].Note["en"] == "" {
		t.Errorf("closed days: %v, %v", shut, err)
	}
	if r := s.run(t, "", "check"); r.code != exitFine {
		t.Errorf("check: exit %d\n%s", r.code, r.out)
	}

	// The printed password opens it, now and after another filling.
	signIn := func(out string) string {
		_, rest, _ := strings.Cut(out, "sign-in: "+demoOwner+" ")
		password, _, _ := strings.Cut(rest, "\n")
		owner, err := st.StaffByEmail(t.Context(), demoOwner)
		if err != nil {
			t.Fatal(err)
		}
		if same, err := matchesPassword(password, owner.PasswordHash); err != nil || !same || password == "" {
			t.Errorf("%q does not open the demo: %v", password, err)
		}
		return password
	}
	first := signIn(out)
	s.fine(t, "", "tenant", "add", "--slug", "salon", "--name", "Salon")
	if again := signIn(s.fine(t, "", "demo")); again != first {
		t.Errorf("another password: %s, then %s", first, again)
	}
	if same, err := st.TenantBySlug(t.Context(), demoSlug); err != nil || same.ID != demo.ID {
		t.Errorf("the demo was made anew unasked: %v", err)
	}
	signIn(s.fine(t, "", "demo", "--reset"))
	if anew, err := st.TenantBySlug(t.Context(), demoSlug); err != nil || anew.ID == demo.ID {
		t.Errorf("the demo was not made anew: %v", err)
	}
	if _, err := st.TenantBySlug(t.Context(), "salon"); err != nil {
		t.Errorf("the reset touched another tenant: %v", err)
	}
	s.fine(t, "", "check")
	// The file was lost: a new password, and it opens.
	signIn(s.with("HOLDFAST_DATA_DIR", t.TempDir()).fine(t, "", "demo"))
}

func TestADemoThatWasLeftHalfMadeIsMadeAnew(t *testing.T) {
	t.Parallel()
	w := storetest.New(t)
	st := shop.Open(t, w, store.Watch{})
	half, err := st.AddTenant(t.Context(), store.Tenant{Slug: demoSlug, Name: "half", TimeZone: "Asia/Tokyo", Locale: "ja"})
	if err != nil {
		t.Fatal(err)
	}
	on(t, w).fine(t, "", "demo")
	if whole, err := st.TenantBySlug(t.Context(), demoSlug); err != nil || whole.ID == half.ID {
		t.Errorf("%+v %v", whole, err)
	}
}

func TestWhatIsKeptIsTheSameForAllWhoAskAndForNobodyElse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/new"
	const n = 8
	start, texts := storetest.Barrier(n), make(chan string, n)
	for range n {
		go func() {
			start()
			text, err := keep(dir, "secret")
			if err != nil {
				t.Error(err)
			}
			texts <- text
		}()
	}
	first := <-texts
	for range n - 1 {
		if text := <-texts; text != first || len(text) < 32 {
			t.Errorf("%q and %q", first, text)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Errorf("left over: %v %v", files, err)
	}
	if info, err := os.Stat(dir + "/secret"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if err := os.WriteFile(dir+"/secret", []byte("cut"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := keep(dir, "secret"); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged file: %v", err)
	}
}

func TestInstantsAreUTCAndThePoolSizeIsTheOperatorsIfNamed(t *testing.T) {
	t.Parallel()
	w := storetest.New(t)
	named, err := url.Parse(w.DSN)
	if err != nil {
		t.Fatal(err)
	}
	query := named.Query()
	query.Set("pool_max_conns", "3")
	named.RawQuery = query.Encode()
	for address, want := range map[string]int32{w.DSN: connections(), named.String(): 3} {
		pool, err := openPool(context.WithoutCancel(t.Context()), address)
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		var at time.Time
		if err := pool.QueryRow(t.Context(), "SELECT now()").Scan(&at); err != nil || at.Location() != time.UTC {
			t.Errorf("%v %v", at.Location(), err)
		}
		if got := pool.Config().MaxConns; got != want {
			t.Errorf("%d connections, want %d", got, want)
		}
	}
}

// Behind pgbouncer in transaction mode prepared statements are not to be had;
// the operator then says so in the address, and all steps must work that way.
func TestTheWayOfSendingStatementsIsTheOperatorsChoice(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"cache_describe", "describe_exec", "exec"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := on(t, storetest.New(t))
			address, err := url.Parse(s["DATABASE_URL"])
			if err != nil {
				t.Fatal(err)
			}
			query := address.Query()
			query.Set("default_query_exec_mode", mode)
			address.RawQuery = query.Encode()
			s["DATABASE_URL"] = address.String()
			s.fine(t, "", "demo")
			s.fine(t, "", "sweep")
			s.fine(t, "", "check")
		})
	}
}
