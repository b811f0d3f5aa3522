//go:build linux || darwin

package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"testing"
)

// A break of code that has changed breaks nothing any more: each still has its one place, and leaves a Go file.
func TestEachBreakHasItsPlace(t *testing.T) {
	t.Parallel()
	if len(mutants) < 30 {
		t.Errorf("%d breaks", len(mutants))
	}
	names := map[string]bool{}
	for _, m := range mutants {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "store", m.file))
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
			continue
		}
		broken, err := m.apply(string(text))
		switch {
		case err != nil:
			t.Errorf("%s: %v", m.name, err)
		case broken == string(text):
			t.Errorf("%s changes nothing", m.name)
		case names[m.name]:
			t.Errorf("%s stands twice", m.name)
		default:
			if _, err := parser.ParseFile(token.NewFileSet(), m.file, broken, parser.SkipObjectResolution); err != nil {
				t.Errorf("%s: %v", m.name, err)
			}
		}
		names[m.name] = true
	}
}

func TestAFailureIsReadFromWhatTestsSay(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"--- FAIL: TestA (0.01s)\n":       "TestA",
		"    --- FAIL: TestA/b (0.01s)\n": "TestA/b",
		"--- PASS: TestA (0.01s)\n":       "",
		"FAIL\n":                          "",
	} {
		if got, _ := failure(line); got != want {
			t.Errorf("%q: %q, not %q", line, got, want)
		}
	}
}

// Of a function there is a broken copy, of a statement a broken variant; both are asleep.
func TestWeaving(t *testing.T) {
	t.Parallel()
	const text = "package store\n\nconst oneSQL = `a AND b`\n\nconst twoSQL = oneSQL + `c`\n\nfunc (s *Store) f(x int, y ...string) (int, error) {\n\treturn g(x)\n}\n"
	got, err := weaveFile("x.go", text, []mutant{
		{name: "another file", file: "y.go", old: "a", new: "b"},
		{name: "statement", file: "x.go", old: "a AND b", new: "a"},
		{name: "function", file: "x.go", old: "g(x)", new: "g(0)"},
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = "package store\n\nvar oneSQL = variant(`a AND b`, map[string]string{\"1\": `a`, })\n\nvar twoSQL = oneSQL + `c`\n\n" +
		"func (s *Store) f(x int, y ...string) (int, error) {\nswitch mutant {\ncase \"2\":\nreturn s.fMutant2(x, y...)\n}\n\n\treturn g(x)\n}\n" +
		"\nfunc (s *Store) fMutant2(x int, y ...string) (int, error) {\n\treturn g(0)\n}\n"
	if got != want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
	if _, err := weaveFile("x.go", text, []mutant{{name: "gone", file: "x.go", old: "not there", new: "x"}}); err == nil {
		t.Error("a text that is not there is woven")
	}
}
