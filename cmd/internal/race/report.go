package race

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"holdfast/store"
	"holdfast/store/strategy"
)

// Report is what a run of the lab found.
type Report struct {
	Run       string    `json:"run"`
	At        time.Time `json:"at"` // UTC
	OK        bool      `json:"ok"`
	Postgres  string    `json:"postgres"`
	Isolation string    `json:"isolation"`
	Rounds    int       `json:"rounds"`
	Procs     int       `json:"procs"`
	PIDs      []uint32  `json:"backendPids"`
	Results   []Result  `json:"results"`
	// Faults says in words why OK is false.
	Faults []string `json:"faults"`
}

// Result is one scenario by one strategy.
type Result struct {
	Scenario  string `json:"scenario"`
	Text      string `json:"text"`
	Strategy  string `json:"strategy"`
	MustBreak bool   `json:"mustBreak"` // the naive one, where the race has to show
	Rounds    int    `json:"rounds"`
	Broken    int    `json:"brokenRounds"`
	Presses   int    `json:"presses"`
	Yes       int    `json:"yes"`
	// Refused counts the refusals by outcome; Errors are answers that nobody should ever see.
	Refused map[string]int `json:"refused"`
	Errors  int            `json:"errors"`
	Error   string         `json:"error,omitempty"` // an example
	// Violations by kind: oversold, seat_idle, told_otherwise…, and the invariants by name.
	Violations map[string]int `json:"violations"`
	// InTime counts the presses made by the deadline that people read, RefusedInTime those that were refused as late.
	InTime        int     `json:"inTime,omitempty"`
	RefusedInTime int     `json:"refusedInTime,omitempty"`
	PerSecond     float64 `json:"pressesPerSecond"` // while presses were under way
	// P50 and P95 of a press, in milliseconds.
	P50 float64 `json:"p50ms"`
	P95 float64 `json:"p95ms"`
	// Slot is one that was contended for, a broken one if there is one.
	Slot string `json:"slot,omitempty"`
	// Wait is a session that was seen waiting, and for whom.
	Wait *strategy.Wait `json:"wait,omitempty"`
}

// tally counts while a scenario runs.
type tally struct {
	Result
	took     []time.Duration
	busy     time.Duration // presses under way
	broken   map[string]bool
	progress func()
}

func (t *tally) saw(waiting []strategy.Wait) {
	for i := range waiting {
		if t.Wait == nil && len(waiting[i].BlockedBy) > 0 {
			t.Wait = &waiting[i]
		}
	}
}

func (t *tally) round(slot store.Slot, presses []press, answers []answer, took time.Duration) {
	t.Rounds++
	t.busy += took
	if t.Slot == "" {
		t.Slot = slot.ID
	}
	for i, a := range answers {
		if a.Error != "" {
			t.Errors++
			t.Error = a.Error
		}
		if presses[i].Do == "sweep" || presses[i].Do == "lapse" {
			continue // nobody pressed that
		}
		t.Presses++
		t.took = append(t.took, a.Took)
		switch {
		case a.Error != "":
		case a.Yes:
			t.Yes++
		default:
			t.Refused[a.Outcome]++
		}
	}
	t.progress()
}

// violated notes what broke in a slot.
func (t *tally) violated(kind string, slot store.Slot) {
	t.Violations[kind]++
	if t.broken == nil {
		t.broken = map[string]bool{}
		t.Slot = slot.ID
	}
	if !t.broken[slot.ID] {
		t.broken[slot.ID] = true
		t.Broken++
	}
}

// judgeSeats compares what people were told with what is there.
func (t *tally) judgeSeats(ctx context.Context, l *lab, slot store.Slot, answers []answer, seats int) error {
	taken, given, err := l.seats(ctx, slot)
	if err != nil {
		return err
	}
	told, stale := 0, 0
	for _, a := range answers {
		if a.Yes {
			told++
		}
		if a.Outcome == "stale" {
			stale++
		}
	}
	switch {
	case given > seats || told > seats:
		t.violated("oversold", slot)
	case told == 0 && stale < len(answers):
		t.violated("seat_idle", slot)
	case told != given:
		t.violated("told_otherwise", slot)
	case taken != given:
		t.violated("taken_wrong", slot)
	}
	return nil
}

// judgeTaken compares what the slot counts with who has its seats.
func (t *tally) judgeTaken(ctx context.Context, l *lab, slot store.Slot) error {
	taken, given, offered, err := strategy.SeatsOf(ctx, l.pool, slot.TenantID, slot.ID)
	if err == nil && taken != given+offered {
		t.violated("taken_wrong", slot)
	}
	return err
}

func (t *tally) finish() Result {
	slices.Sort(t.took)
	ms := func(q float64) float64 {
		if len(t.took) == 0 {
			return 0
		}
		return float64(t.took[int(q*float64(len(t.took)-1))].Microseconds()) / 1000
	}
	t.P50, t.P95 = ms(.5), ms(.95)
	if t.busy > 0 {
		t.PerSecond = float64(int(float64(t.Presses)/t.busy.Seconds()*10)) / 10
	}
	return t.Result
}

// judge says whether the run shows what it is to show: the product holds, the
// naive way breaks, and nobody was shown an error.
func (r *Report) judge() {
	r.Faults = []string{}
	for _, x := range r.Results {
		switch {
		case x.Strategy == Product && (len(x.Violations) > 0 || x.Errors > 0):
			r.Faults = append(r.Faults, fmt.Sprintf("%s: the product's strategy broke: %s", x.Scenario, x.verdict()))
		case x.MustBreak && len(x.Violations) == 0:
			r.Faults = append(r.Faults, x.Scenario+": the naive strategy did not break: the race was not provoked")
		case len(x.Violations) == 0 && x.Errors > 0:
			r.Faults = append(r.Faults, fmt.Sprintf("%s, %s: %d errors: %s", x.Scenario, x.Strategy, x.Errors, x.Error))
		}
	}
	r.OK = len(r.Faults) == 0 && len(r.Results) > 0
}

func counts(m map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, m[name]))
	}
	return strings.Join(parts, ", ")
}

// verdict is "holds", or what broke in how many rounds.
func (x Result) verdict() string {
	switch {
	case len(x.Violations) > 0:
		return fmt.Sprintf("BROKEN in %d: %s", x.Broken, counts(x.Violations))
	case x.Errors > 0:
		return fmt.Sprintf("%d errors", x.Errors)
	}
	return "holds"
}

// late says how many who pressed in time were refused; empty where there is no deadline.
func (x Result) late() string {
	if x.InTime == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", x.RefusedInTime, x.InTime)
}

func (x Result) cells() []string {
	return []string{
		x.Scenario, x.Strategy, x.verdict(), fmt.Sprint(x.Rounds), fmt.Sprint(x.Yes), counts(x.Refused), x.late(),
		fmt.Sprintf("%.0f", x.PerSecond), fmt.Sprintf("%.1f / %.1f", x.P50, x.P95),
	}
}

var columns = []string{"scenario", "strategy", "verdict", "rounds", "yes", "refused", "refused in time", "presses/s", "p50 / p95 ms"}

func (r Report) head() string {
	return fmt.Sprintf("run %s, %s, PostgreSQL %s, %s, %d rounds, %d processes, backends %s",
		r.Run, r.At.Format(time.RFC3339), r.Postgres, r.Isolation, r.Rounds, r.Procs, strings.Trim(fmt.Sprint(r.PIDs), "[]"))
}

// waits says who was seen waiting for whom, where somebody was.
func (r Report) waits() []string {
	var lines []string
	for _, x := range r.Results {
		if x.Wait != nil {
			lines = append(lines, fmt.Sprintf("%s, %s: in slot %s backend %d waited (%s) for %s",
				x.Scenario, x.Strategy, x.Slot, x.Wait.PID, x.Wait.Event, strings.Trim(fmt.Sprint(x.Wait.BlockedBy), "[]")))
		}
	}
	return lines
}

// WriteText writes the report as a table for a terminal.
func (r Report) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "%s\n\n", r.head())
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, strings.Join(columns, "\t"))
	for _, x := range r.Results {
		fmt.Fprintln(table, strings.Join(x.cells(), "\t"))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, line := range r.waits() {
		fmt.Fprintln(w, line)
	}
	return r.end(w)
}

// WriteMarkdown writes it as a table for a document.
func (r Report) WriteMarkdown(w io.Writer) error {
	fmt.Fprintf(w, "%s\n\n| %s |\n|%s\n", r.head(), strings.Join(columns, " | "), strings.Repeat(" --- |", len(columns)))
	for _, x := range r.Results {
		fmt.Fprintf(w, "| %s |\n", strings.Join(x.cells(), " | "))
	}
	return r.end(w)
}

func (r Report) end(w io.Writer) error {
	fmt.Fprintln(w)
	for _, fault := range r.Faults {
		fmt.Fprintln(w, "FAULT:", fault)
	}
	last := "The product's strategy held in every race, and the naive one broke wherever it has to."
	switch {
	case !r.OK:
		last = "The run does not show what it is to show."
	case !slices.ContainsFunc(r.Results, func(x Result) bool { return x.MustBreak }):
		last = "It held." // nothing to compare with was run
	}
	_, err := fmt.Fprintln(w, last)
	return err
}
