//go:build linux || darwin

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Compiling the tests of the store takes longer than most of them run, so all mutants are woven into one program,
// which is told by its environment which of them it is. Of each function that a mutant changes there is a copy with
// the change, and the function begins by asking whether it is to be that; statements in SQL, which are constants,
// become variables that are chosen at the start.

// which is how the woven program reads what it is.
const which = `package store

import "os"

var mutant = os.Getenv("` + mutantEnv + `")

func variant(plain string, of map[string]string) string {
	if broken, ok := of[mutant]; ok {
		return broken
	}
	return plain
}
`

const mutantEnv = "HOLDFAST_STORE_MUTANT"

// edit replaces the text from one offset to another.
type edit struct {
	from, to int
	text     string
}

// weave gives the files of the store, by path, in which all mutants are asleep.
func weave(store string, all []mutant) (map[string]string, error) {
	woven := map[string]string{filepath.Join(store, "zz_mutant.go"): which}
	paths, err := filepath.Glob(filepath.Join(store, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		changed, err := weaveFile(filepath.Base(path), string(text), all)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
		if changed != string(text) {
			woven[path] = changed
		}
	}
	return woven, nil
}

// weaveFile compares each declaration with what a mutant makes of it.
func weaveFile(name, text string, all []mutant) (string, error) {
	plain, err := parsed(name, text)
	if err != nil {
		return "", err
	}
	variants := make([]map[string]string, len(plain.decls)) // by declaration: number of the mutant and the broken text
	for i, m := range all {
		if m.file != name {
			continue
		}
		broken, err := m.apply(text)
		if err != nil {
			return "", fmt.Errorf("%s: %w", m.name, err)
		}
		mutated, err := parsed(name, broken)
		if err != nil {
			return "", fmt.Errorf("%s: %w", m.name, err)
		}
		if len(mutated.decls) != len(plain.decls) {
			return "", fmt.Errorf("%s: it changes the number of declarations", m.name)
		}
		for d := range plain.decls {
			if was, is := plain.text(d), mutated.text(d); was != is {
				if variants[d] == nil {
					variants[d] = map[string]string{}
				}
				variants[d][strconv.Itoa(i)] = is
			}
		}
	}
	var edits []edit
	copies := ""
	for d, decl := range plain.decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if variants[d] == nil {
				continue
			}
			ask, copied, err := dispatch(decl, plain, d, variants[d])
			if err != nil {
				return "", err
			}
			at := plain.offset(decl.Body.Lbrace) + 1
			edits = append(edits, edit{at, at, ask})
			copies += copied
		case *ast.GenDecl:
			e, err := choose(decl, plain, d, variants[d])
			if err != nil {
				return "", err
			}
			edits = append(edits, e...)
		}
	}
	slices.SortFunc(edits, func(a, b edit) int { return b.from - a.from })
	for _, e := range edits {
		text = text[:e.from] + e.text + text[e.to:]
	}
	return text + copies, nil
}

// source is a file as it was parsed.
type source struct {
	set   *token.FileSet
	raw   string
	decls []ast.Decl
}

func parsed(name, text string) (*source, error) {
	s := &source{set: token.NewFileSet(), raw: text}
	file, err := parser.ParseFile(s.set, name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	s.decls = file.Decls
	return s, nil
}

func (s *source) offset(p token.Pos) int { return s.set.Position(p).Offset }

// text of a declaration, without its comment.
func (s *source) text(d int) string {
	return s.raw[s.offset(s.decls[d].Pos()):s.offset(s.decls[d].End())]
}

// dispatch gives what the function begins with, and its broken copies.
func dispatch(f *ast.FuncDecl, s *source, d int, variants map[string]string) (ask, copies string, err error) {
	var args []string
	for _, field := range f.Type.Params.List {
		for _, name := range field.Names {
			arg := name.Name
			if _, variadic := field.Type.(*ast.Ellipsis); variadic {
				arg += "..."
			}
			args = append(args, arg)
		}
		if len(field.Names) == 0 {
			return "", "", fmt.Errorf("%s has a parameter without a name", f.Name.Name)
		}
	}
	on := ""
	if f.Recv != nil {
		if len(f.Recv.List[0].Names) == 0 {
			return "", "", fmt.Errorf("%s has a receiver without a name", f.Name.Name)
		}
		on = f.Recv.List[0].Names[0].Name + "."
	}
	ask = "\nswitch mutant {\n"
	name := s.offset(f.Name.Pos()) - s.offset(f.Pos())
	for number, broken := range variants {
		copied := f.Name.Name + "Mutant" + number
		call := on + copied + "(" + strings.Join(args, ", ") + ")"
		if f.Type.Results == nil {
			call += "; return"
		} else {
			call = "return " + call
		}
		ask += "case \"" + number + "\":\n" + call + "\n"
		if broken[name:name+len(f.Name.Name)] != f.Name.Name {
			return "", "", fmt.Errorf("%s: a mutant changes what it is called with", f.Name.Name)
		}
		copies += "\n" + broken[:name] + copied + broken[name+len(f.Name.Name):] + "\n"
	}
	return ask + "}\n", copies, nil
}

// choose makes a variable of a statement in SQL. All of them, since one may be made of another.
func choose(g *ast.GenDecl, s *source, d int, variants map[string]string) ([]edit, error) {
	isSQL := false
	if g.Tok == token.CONST && !g.Lparen.IsValid() {
		isSQL = strings.HasSuffix(g.Specs[0].(*ast.ValueSpec).Names[0].Name, "SQL")
	}
	switch {
	case !isSQL && variants != nil:
		return nil, fmt.Errorf("a mutant changes a declaration that is neither a function nor a statement: %s", s.text(d))
	case !isSQL:
		return nil, nil
	}
	edits := []edit{{s.offset(g.Pos()), s.offset(g.Pos()) + len("const"), "var"}}
	if variants == nil {
		return edits, nil
	}
	value := g.Specs[0].(*ast.ValueSpec).Values[0]
	prefix := s.offset(value.Pos()) - s.offset(g.Pos())
	of := ""
	for number, broken := range variants {
		of += "\"" + number + "\": " + broken[prefix:] + ", "
	}
	return append(edits,
		edit{s.offset(value.Pos()), s.offset(value.Pos()), "variant("},
		edit{s.offset(value.End()), s.offset(value.End()), ", map[string]string{" + of + "})"}), nil
}
