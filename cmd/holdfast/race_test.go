package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"holdfast/cmd/internal/race"
	"holdfast/store/storetest/shop"
)

// inProcess runs a command in a process of its own, whose workers are further ones.
func (s settings) inProcess(t *testing.T, args ...string) ran {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out, said bytes.Buffer
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = []string{asProgram + "=1", "PATH=" + os.Getenv("PATH"), "HOLDFAST_PG_BIN=" + os.Getenv("HOLDFAST_PG_BIN")}
	for name, value := range s {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Stdout, cmd.Stderr = &out, &said
	err = cmd.Run()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return ran{cmd.ProcessState.ExitCode(), out.String(), said.String()}
}

// everything is what a database holds, row by row.
func everything(t *testing.T, s *shop.Shop) string {
	t.Helper()
	var all strings.Builder
	for _, table := range []string{"tenants", "slots", "reservations", "waitlist_entries", "events", "outbox"} {
		var text string
		if err := s.Pool.QueryRow(t.Context(), "SELECT coalesce(string_agg(x::text, E'\n' ORDER BY x::text), '') FROM "+table+" x").Scan(&text); err != nil {
			t.Fatal(err)
		}
		all.WriteString(text)
	}
	return all.String()
}

func TestTheRaceLabShowsThatTheProductHoldsAndTheNaiveWayBreaks(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	s.Book(t, s.Slot(t, 2), 1)
	before := everything(t, s)
	lab := on(t, s.World)
	ran := lab.inProcess(t, "race", "--rounds", "4", "--procs", "2", "--json")
	var report race.Report
	if err := json.Unmarshal([]byte(ran.out), &report); err != nil {
		t.Fatalf("%v: exit %d: %s\n%s", err, ran.code, ran.out, ran.errors)
	}
	if ran.code != exitFine || !report.OK {
		t.Fatalf("exit %d: %v", ran.code, report.Faults)
	}
	ranWith := map[string]map[string]race.Result{}
	for _, x := range report.Results {
		if ranWith[x.Scenario] == nil {
			ranWith[x.Scenario] = map[string]race.Result{}
		}
		ranWith[x.Scenario][x.Strategy] = x
	}
	waited := false
	for _, scenario := range race.Scenarios() {
		product, ok := ranWith[scenario][race.Product]
		if !ok || product.Presses == 0 || len(product.Violations) > 0 {
			t.Errorf("%s by the product's strategy: %+v", scenario, product)
		}
		waited = waited || product.Wait != nil
	}
	if !waited {
		t.Error("nobody was seen waiting in any race")
	}
	for _, name := range []string{"last-seat-2", "last-seat-50", "claims", "stale", "same-key", "rollback"} {
		if x := ranWith[name][race.Naive]; x.Broken == 0 || !x.MustBreak {
			t.Errorf("%s by the naive strategy: %+v", name, x)
		}
	}
	if x := ranWith["deadline-grace"][race.Product]; x.InTime == 0 || x.RefusedInTime != 0 {
		t.Errorf("of %d who pressed in time %d were refused", x.InTime, x.RefusedInTime)
	}
	if len(report.PIDs) == 0 || report.Postgres == "" || report.Isolation != "read committed" || report.Run == "" {
		t.Errorf("the report does not say where it ran: %+v", report)
	}
	if everything(t, s) != before {
		t.Error("the lab has touched live data")
	}
	var left int
	if err := s.Pool.QueryRow(t.Context(), "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'holdfast_race_%'").Scan(&left); err != nil || left != 0 {
		t.Errorf("%d schemas are left, %v", left, err)
	}
}

func TestTheRaceLabSaysWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	nowhere := settings{"DATABASE_URL": "postgres://user@127.0.0.1:1/none", "HOLDFAST_DATA_DIR": t.TempDir()}
	for name, args := range map[string][]string{
		"an unknown scenario": {"--scenario", "chess"}, "an unknown strategy": {"--strategy", "prayer"}, "no rounds": {"--rounds", "0"},
		"too many processes": {"--procs", "1000"}, "two forms": {"--json", "--markdown"},
	} {
		if r := nowhere.run(t, "", append([]string{"race"}, args...)...); r.code != exitUsage || r.errors == "" {
			t.Errorf("%s: exit %d: %s", name, r.code, r.errors)
		}
	}
	if r := nowhere.run(t, "", "race"); r.code != exitUnreachable {
		t.Errorf("without a database: exit %d: %s", r.code, r.errors)
	}
}
