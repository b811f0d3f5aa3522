package store_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"holdfast/store"
)

// constantsOf lists the values of the package's string constants of a type, by parsing it.
func constantsOf(t *testing.T, file, typeName string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	for _, decl := range parsed.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			constant := spec.(*ast.ValueSpec)
			if name, ok := constant.Type.(*ast.Ident); !ok || name.Name != typeName {
				continue
			}
			value, err := strconv.Unquote(constant.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, value)
		}
	}
	if len(values) == 0 {
		t.Fatalf("%s has no constants of type %s", file, typeName)
	}
	slices.Sort(values)
	return values
}

func listed[T ~string](values []T) []string {
	list := make([]string, 0, len(values))
	for _, v := range values {
		list = append(list, string(v))
	}
	slices.Sort(list)
	return list
}

func TestEveryConstantIsListed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, typeName string
		listed         []string
	}{
		{"outcome.go", "Outcome", listed(store.Outcomes)},
		{"event.go", "EventKind", listed(store.EventKinds)},
		{"outbox.go", "MessageKind", listed(store.MessageKinds)},
	} {
		if want := constantsOf(t, c.file, c.typeName); !slices.Equal(want, c.listed) {
			t.Errorf("%s: the list has %q, the constants are %q", c.typeName, c.listed, want)
		}
	}
}

func TestOutcomesAreDistinctSnakeCaseErrors(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, o := range store.Outcomes {
		if seen[string(o)] {
			t.Errorf("%q is listed twice", o)
		}
		seen[string(o)] = true
		if o.Error() != string(o) || o == "" || strings.Trim(string(o), "abcdefghijklmnopqrstuvwxyz_") != "" {
			t.Errorf("%q is not a reason in snake case", o)
		}
	}
}
