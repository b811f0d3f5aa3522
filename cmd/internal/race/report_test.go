package race

import (
	"bytes"
	"strings"
	"testing"
)

func TestTheReportFailsWhereTheProductBreaksOrNothingWasProvoked(t *testing.T) {
	t.Parallel()
	held := Result{Scenario: "last-seat-2", Strategy: Product, Rounds: 5, Yes: 5, Refused: map[string]int{"sold_out": 5}}
	broke := Result{Scenario: "last-seat-2", Strategy: Naive, MustBreak: true, Rounds: 5, Broken: 5, Violations: map[string]int{"oversold": 5}}
	with := func(r Result, change func(*Result)) Result {
		change(&r)
		return r
	}
	for name, c := range map[string]struct {
		results []Result
		fault   string
	}{
		"all as it should be":                {[]Result{held, broke}, ""},
		"nothing was run":                    {nil, "-"},
		"the product oversold":               {[]Result{with(held, func(r *Result) { r.Violations = map[string]int{"oversold": 1} }), broke}, "the product's strategy broke"},
		"the product answered with an error": {[]Result{with(held, func(r *Result) { r.Errors = 1 }), broke}, "the product's strategy broke"},
		"the naive one held":                 {[]Result{held, with(broke, func(r *Result) { r.Violations = nil })}, "not provoked"},
		"a sound one answered with an error": {[]Result{held, with(held, func(r *Result) { r.Strategy, r.Errors, r.Error = Advisory, 2, "broken pipe" })}, "broken pipe"},
		"a sound one broke, which is told":   {[]Result{held, with(held, func(r *Result) { r.Strategy, r.Violations = Advisory, map[string]int{"oversold": 1} })}, ""},
	} {
		r := Report{Results: c.results}
		r.judge()
		var text, markdown bytes.Buffer
		if err := r.WriteText(&text); err != nil {
			t.Fatal(err)
		}
		if err := r.WriteMarkdown(&markdown); err != nil {
			t.Fatal(err)
		}
		if r.OK != (c.fault == "") {
			t.Errorf("%s: ok is %v: %v", name, r.OK, r.Faults)
		}
		if c.fault != "" && c.fault != "-" && (!strings.Contains(text.String(), c.fault) || !strings.Contains(markdown.String(), c.fault)) {
			t.Errorf("%s: the report does not say %q:\n%s", name, c.fault, text.String())
		}
	}
}

func TestParametersAreAddedToEitherFormOfAnAddress(t *testing.T) {
	t.Parallel()
	more := map[string]string{"search_path": "lab", "lock_timeout": "400"}
	for dsn, want := range map[string]string{
		"postgres:///holdfast?host=/run/pg&user=app": "postgres:///holdfast?host=%2Frun%2Fpg&lock_timeout=400&search_path=lab&user=app",
		"postgres://u:p@db/holdfast":                 "postgres://u:p@db/holdfast?lock_timeout=400&search_path=lab",
		"host=db dbname=holdfast":                    "host=db dbname=holdfast lock_timeout='400' search_path='lab'",
	} {
		if got := withParameters(dsn, more); got != want {
			t.Errorf("%s becomes %s", dsn, got)
		}
	}
}
