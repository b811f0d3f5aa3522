package main

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// bend is in the environment of a program with a bent clock: by how many seconds it is wrong.
const bend = "HOLDFAST_TEST_CLOCK"

// bentClock goes into package time, where nothing but syscall is to be had.
const bentClock = `package time

import "syscall"

var bent = func() int64 {
	text, _ := syscall.Getenv("` + bend + `")
	n, sign := int64(0), int64(1)
	for _, c := range text {
		if c == '-' {
			sign = -1
		} else {
			n = n*10 + int64(c-'0')
		}
	}
	return n * sign
}()
`

// buildBent builds the program with a clock that can be bent: time.Now of the standard library is another one, for
// this build alone, and nothing in the program knows of it. What is measured between two instants stays right, as on a
// machine whose clock is wrong.
func buildBent(t *testing.T) string {
	t.Helper()
	goroot, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	library := filepath.Join(strings.TrimSpace(string(goroot)), "src", "time")
	source, err := os.ReadFile(filepath.Join(library, "time.go"))
	if err != nil {
		t.Fatal(err)
	}
	const reading = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	if strings.Count(string(source), reading) != 1 {
		t.Fatal("time.Now of this Go reads the clock in another way: bend it here")
	}
	dir := t.TempDir()
	overlay := map[string]string{}
	for name, text := range map[string]string{"time.go": strings.Replace(string(source), reading, reading+"\tsec += bent\n", 1), "bent.go": bentClock} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		overlay[filepath.Join(library, name)] = file
	}
	list, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		t.Fatal(err)
	}
	file, program := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "holdfast")
	if err := os.WriteFile(file, list, 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-overlay", file, "-o", program, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// Beside a right instance one runs whose clock is an hour fast, and one whose clock is an hour slow. Deadlines,
// sweeps and messages are the database's, so nobody loses a seat and nobody keeps one too long.
func faultWrongClock(t *testing.T) *trial {
	program := buildBent(t)
	w := newTrial(t, 1)
	right := w.env
	for _, wrong := range []string{"3600", "-3600"} {
		w.env = right.with(testProgram, program, bend, wrong)
		p := w.serve(t)
		offset := time.Hour
		if wrong[0] == '-' {
			offset = -offset
		}
		// The log is the one place where it tells the time as it sees it.
		if status, body := p.get(t, "/shop"); status != http.StatusOK {
			t.Fatalf("%d %s", status, body)
		}
		until(t, func() bool { return strings.Contains(p.logged(), "msg=request ") }, p.logged)
		_, rest, _ := strings.Cut(p.logged(), "time=")
		text, _, _ := strings.Cut(rest, " ")
		at, err := time.Parse(time.RFC3339, text)
		if off := time.Until(at) - offset; err != nil || off.Abs() > time.Minute {
			t.Fatalf("the clock of this instance was to be wrong by %v and says %s (%v)", offset, text, err)
		}
	}
	w.env = right
	w.under(t, 9, func() {
		// Holds by each instance, whose deadlines are those that the policy says, by the database's clock.
		rows, err := w.Pool.Query(t.Context(), "SELECT shown_until - created_at, created_at - clock_timestamp() FROM reservations WHERE tenant_id = $1 AND source <> 'waitlist' AND shown_until IS NOT NULL", w.Tenant.ID)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		n := 0
		for rows.Next() {
			var shown, age time.Duration
			if err := rows.Scan(&shown, &age); err != nil {
				t.Fatal(err)
			}
			if n++; shown != 5*time.Minute || age > 0 || age < -5*time.Minute {
				t.Errorf("a hold of %v made %v ago", shown, -age)
			}
		}
		if err := rows.Err(); err != nil || n == 0 {
			t.Errorf("%d holds, %v", n, err)
		}
	})
	return w
}

// machineClocks may look at this machine's clock in the rooms that answer and work; why stands beside. Deciding who
// gets or keeps a seat, or what is due, is none of the reasons.
var machineClocks = map[string]string{
	"web/server.go New":                          "the default of Config.Now: today in calendars, the ages of notes in a session",
	"web/handle.go record":                       "measures how long a request took, for the log",
	"web/live.go send":                           "how long a write to a connection may take",
	"web/csv.go flush":                           "how long a write to a connection may take",
	"web/staff_import.go postImportRun":          "how long a file may take to arrive",
	"cmd/internal/worker/dispatcher.go turn":     "measures how much of a lease is left, from when it was claimed",
	"cmd/internal/worker/dispatcher.go giveBack": "measures how long a message was held",
}

func TestNobodysTurnHangsOnThisMachinesClock(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, s := range sources(t) {
		if s.test || !within(s.name, "web") && s.name != "cmd/internal/worker/dispatcher.go" && s.name != "cmd/internal/worker/letter.go" && s.name != "cmd/internal/worker/loop.go" {
			continue
		}
		for around, at := range s.calls("time", "Now", "Since", "Until") {
			used[s.name+" "+around] = true
			if machineClocks[s.name+" "+around] == "" {
				t.Errorf("%s:%d: %s looks at this machine's clock: ask the database, or say why in faults_clock_test.go", s.name, at.Line, around)
			}
		}
	}
	for place := range machineClocks {
		if !used[place] {
			t.Errorf("%s needs no exception any more", place)
		}
	}
}
