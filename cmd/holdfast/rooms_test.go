package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The rooms of the house and their doors. A room is a folder with all below it,
// unless a deeper one has rules of its own. may lists prefixes of import paths
// beyond the standard library; never forbids packages, and wins.
var rooms = []struct {
	name  string
	may   []string
	never map[string]string // import path and why
}{
	{
		"store",
		[]string{"github.com/jackc/pgx/v5", "golang.org/x/text", "golang.org/x/net/idna", "github.com/nyaruka/phonenumbers", "github.com/teambition/rrule-go"},
		map[string]string{"net/http": "the truth knows no requests", "html/template": "it makes no markup"},
	},
	{"store/strategy", []string{"holdfast/store", "github.com/jackc/pgx/v5"}, map[string]string{"net/http": "it is for races in the database"}},
	{"store/pgserver", []string{"github.com/jackc/pgx/v5", "golang.org/x/sys"}, map[string]string{"holdfast/store": "the server does not know what is kept in it"}},
	{
		"store/storetest",
		[]string{"holdfast/migrations", "holdfast/store/pgserver", "github.com/jackc/pgx/v5"},
		map[string]string{"holdfast/store": "the store's own tests import it"},
	},
	{"store/storetest/shop", []string{"holdfast/store", "holdfast/store/storetest", "github.com/jackc/pgx/v5"}, nil},
	{
		// From static they take the names of the files, which change with their content.
		"views",
		[]string{"github.com/a-h/templ", "holdfast/views/i18n", "holdfast/static"},
		map[string]string{"net/http": "a page knows no request", "holdfast/store": "a page takes finished values"},
	},
	{"views/i18n", []string{"golang.org/x/text"}, map[string]string{"net/http": "words know no request"}},
	// Pages and mails name a booking in calendars alike, so both take this one.
	{"views/calendar", []string{"holdfast/views/i18n"}, map[string]string{"net/http": "a calendar knows no request", "holdfast/store": "a calendar takes finished values"}},
	{"views/mail", []string{"holdfast/views/i18n"}, map[string]string{"net/http": "a text knows no request", "holdfast/store": "a text takes finished values"}},
	{
		"web",
		[]string{
			"github.com/go-chi/chi/v5", "github.com/go-chi/httprate", "github.com/alexedwards/scs/v2", "github.com/alexedwards/argon2id", "github.com/skip2/go-qrcode",
			"github.com/pquerna/otp", // codes of the second factor (RFC 6238)
			"github.com/a-h/templ", "golang.org/x/text", "holdfast/store", "holdfast/views", "holdfast/static",
			"holdfast/views/mail", // examples on the staff's pages; the dispatcher alone writes what is sent
		},
		map[string]string{
			"net/smtp": "mails leave through the outbox", "holdfast/store/strategy": "broken on purpose", "holdfast/store/pgserver": "where the database runs is not its business",
			"holdfast/store/storetest": "only tests test", "holdfast/store/storetest/shop": "only tests test",
		},
	},
	{"migrations", []string{"github.com/pressly/goose/v3", "github.com/jackc/pgx/v5"}, map[string]string{"net/http": "the schema knows no requests"}},
	{"static", nil, nil},
	{
		"cmd",
		[]string{""},
		map[string]string{
			"database/sql": "SQL stands in the store", "github.com/a-h/templ": "markup stands in the views", "holdfast/store/storetest": "only tests test",
			"holdfast/store/storetest/shop": "only tests test",
		},
	},
}

const module = "holdfast"

type listed struct {
	ImportPath string
	Dir        string
	Standard   bool
	Imports    []string
}

func goList(t *testing.T) []listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=ImportPath,Dir,Imports", "./...")
	cmd.Dir = root(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func within(importPath, folder string) bool {
	return folder == "" || importPath == folder || strings.HasPrefix(importPath, folder+"/")
}

// standard reports whether a path is of the standard library: these have no dot in their first part.
func standard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return first != module && !strings.Contains(first, ".")
}

func TestNobodyLeavesTheirRoom(t *testing.T) {
	t.Parallel()
	packages := goList(t)
	if len(packages) < 8 {
		t.Fatalf("only %d packages were found", len(packages))
	}
	for _, p := range packages {
		for _, word := range []string{"util", "utils", "common", "models", "services", "helpers"} {
			if path.Base(p.ImportPath) == word {
				t.Errorf("%s: a package is named after what it is about, not %q", p.ImportPath, word)
			}
		}
		inner := strings.TrimPrefix(p.ImportPath, module+"/")
		found := -1
		for i, r := range rooms {
			if within(inner, r.name) && (found < 0 || len(r.name) > len(rooms[found].name)) {
				found = i
			}
		}
		if found < 0 {
			t.Errorf("%s is in no room: give it one in rooms_test.go", p.ImportPath)
			continue
		}
		room := rooms[found]
		for _, imported := range p.Imports {
			if why, forbidden := room.never[imported]; forbidden {
				t.Errorf("%s imports %s: %s", p.ImportPath, imported, why)
				continue
			}
			allowed := standard(imported) || within(imported, module+"/"+room.name) && room.name != "store"
			for _, may := range room.may {
				allowed = allowed || within(imported, may)
			}
			if !allowed {
				t.Errorf("%s imports %s, which the room %s may not", p.ImportPath, imported, room.name)
			}
		}
	}
}

// source is a Go file of ours that people wrote.
type source struct {
	name string // from the root, with slashes
	test bool
	file *ast.File
	set  *token.FileSet
}

func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	base := root(t)
	err := filepath.WalkDir(base, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(base, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if entry.IsDir() {
			if base := entry.Name(); rel != "." && (strings.HasPrefix(base, ".") || base == "testdata" || base == "node_modules") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_templ.go") {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		test := strings.HasSuffix(rel, "_test.go") || strings.HasPrefix(rel, "store/storetest/")
		all = append(all, source{rel, test, file, set})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// calls finds the calls of pkg.name and gives the functions around them.
func (s source) calls(pkg string, names ...string) map[string]token.Position {
	found := map[string]token.Position{}
	for _, decl := range s.file.Decls {
		around := ""
		if f, ok := decl.(*ast.FuncDecl); ok {
			around = f.Name.Name
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if id, ok := selector.X.(*ast.Ident); ok && id.Name == pkg && slices.Contains(names, selector.Sel.Name) {
				found[around] = s.set.Position(selector.Pos())
			}
			return true
		})
	}
	return found
}

func TestTestsWaitForConditionsAndNotForTime(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if !s.test {
			continue
		}
		for _, at := range s.calls("time", "Sleep") {
			t.Errorf("%s:%d: time.Sleep in a test: wait for a signal or a condition", s.name, at.Line)
		}
	}
}

// clocks may look at this machine's clock in a room whose time is the database's; why stands beside.
var clocks = map[string]string{
	"store/slot_tx.go lock":                      "measures how long a lock took, for a metric",
	"store/check_watch.go WatchInvariants":       "measures how long a pass took, against its budget",
	"store/pgserver/pgserver.go bringUp":         "tells an operator that it still waits",
	"store/pgserver/pgserver.go await":           "tells an operator that it still waits",
	"store/pgserver/pgserver.go supervise":       "measures how long a server lived, against restarting in a circle",
	"store/pgserver/temporary.go removeLeftOver": "the age of a folder that a killed test left",
}

func TestTimeIsTheDatabases(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, s := range sources(t) {
		if s.test || !within(s.name, "store") && !within(s.name, "views") && !within(s.name, "migrations") {
			continue
		}
		for around, at := range s.calls("time", "Now", "Since", "Until", "Sleep") {
			used[s.name+" "+around] = true
			if clocks[s.name+" "+around] == "" {
				t.Errorf("%s:%d: %s looks at this machine's clock: ask the database, or say why in rooms_test.go", s.name, at.Line, around)
			}
		}
	}
	for place := range clocks {
		if !used[place] {
			t.Errorf("%s needs no exception any more", place)
		}
	}
}

// surroundings may look at the environment outside of cmd; why stands beside.
var surroundings = map[string]string{
	"store/pgserver/pgserver.go": "gives its own surroundings on to initdb and postgres",
}

func TestOnlyCmdReadsTheEnvironment(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if s.test || within(s.name, "cmd") || surroundings[s.name] != "" {
			continue
		}
		for _, at := range s.calls("os", "Getenv", "LookupEnv", "Environ", "ExpandEnv") {
			t.Errorf("%s:%d: the environment is read in cmd alone", s.name, at.Line)
		}
		for _, at := range s.calls("flag", "String", "Bool", "Int", "Duration", "Parse") {
			t.Errorf("%s:%d: flags are read in cmd alone", s.name, at.Line)
		}
	}
}

var looksLikeSQL = regexp.MustCompile(`(?is)^\s*(--[^\n]*\n\s*)?(select\b.+\bfrom|insert\s+into|update\s+\w+\s+set|delete\s+from|with\s+\w+\s+as\s*\()\b?`)

func TestNoSQLOutsideTheStore(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if s.test || within(s.name, "store") || within(s.name, "migrations") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && looksLikeSQL.MatchString(strings.Trim(lit.Value, "`\"")) {
				t.Errorf("%s:%d: SQL outside of the store", s.name, s.set.Position(lit.Pos()).Line)
			}
			return true
		})
	}
}

func TestTheToolThatWritesThePagesIsTheOneThatTheyUse(t *testing.T) {
	t.Parallel()
	version := func(file string) string {
		raw, err := os.ReadFile(filepath.Join(root(t), file))
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(`(?m)github\.com/a-h/templ (v\S+)`).FindSubmatch(raw)
		if found == nil {
			t.Fatalf("%s names no templ", file)
		}
		return string(found[1])
	}
	if used, tool := version("go.mod"), version(".tools/go.mod"); used != tool {
		t.Errorf("the pages use templ %s and are written by templ %s", used, tool)
	}
}
