package views

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/a-h/templ"
	"golang.org/x/net/html"

	"holdfast/views/i18n"
)

// staffStoriesOut, if set, is a folder into which the stories are written as pages that a browser can open. It is
// asked for by whoever takes screenshots of them.
var staffStoriesOut = flag.String("staff-stories", "", "write the staff pages into this folder")

func staffRender(t *testing.T, lang string, c templ.Component) string {
	t.Helper()
	var b bytes.Buffer
	if err := c.Render(templ.WithNonce(i18n.WithLang(context.Background(), lang), "test-nonce"), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func staffSayIn(lang string) staffSay {
	return func(ja, en string) string {
		if lang == i18n.EN {
			return en
		}
		return ja
	}
}

// staffHashed is the part of a file's name that changes with its content; the pages do not depend on it.
var staffHashed = regexp.MustCompile(`(/static/[a-z.]+)\.[0-9a-f]{12}\.`)

// TestStaffGolden compares the <body> of each page in each state and language with the accepted one.
func TestStaffGolden(t *testing.T) {
	t.Parallel()
	wanted := make(map[string]bool)
	for _, s := range staffStories() {
		for _, lang := range i18n.Languages {
			name := s.name + "." + lang + ".golden"
			wanted[name] = true
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				whole := staffRender(t, lang, s.page(staffSayIn(lang)))
				if *staffStoriesOut != "" {
					out := staffHashed.ReplaceAllString(whole, "$1.")
					out = strings.ReplaceAll(out, `="/static/`, `="static/`)
					if err := os.WriteFile(filepath.Join(*staffStoriesOut, s.name+"."+lang+".html"), []byte(out), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				// The head is the layout's own business.
				_, body, ok := strings.Cut(whole, "<body")
				if !ok {
					t.Fatal("no body")
				}
				got := staffLines(body)
				file := filepath.Join("testdata", "staff", name)
				if *update {
					if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
					return
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if got != string(want) {
					t.Errorf("differs from %s (accept with -update)\n%s", file, staffFirstDifference(string(want), got))
				}
			})
		}
	}
	if *update {
		return
	}
	files, err := os.ReadDir(filepath.Join("testdata", "staff"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !wanted[f.Name()] {
			t.Errorf("%s belongs to no story", f.Name())
		}
	}
}

// staffLines breaks a page before each tag, so that differences can be read.
func staffLines(page string) string {
	return strings.ReplaceAll(page, "<", "\n<") + "\n"
}

func staffFirstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return "- " + w[i] + "\n+ " + g[i]
		}
	}
	return "one is longer"
}

func staffParse(t *testing.T, page string) *html.Node {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func staffAttr(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

func staffAll(doc *html.Node, match func(*html.Node) bool) []*html.Node {
	var found []*html.Node
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && match(n) {
			found = append(found, n)
		}
	}
	return found
}

func staffTag(names ...string) func(*html.Node) bool {
	return func(n *html.Node) bool { return slices.Contains(names, n.Data) }
}

// TestStaffStructure holds what every staff page promises, whatever stands on it.
func TestStaffStructure(t *testing.T) {
	t.Parallel()
	for _, s := range staffStories() {
		for _, lang := range i18n.Languages {
			t.Run(s.name+"."+lang, func(t *testing.T) {
				t.Parallel()
				page := staffRender(t, lang, s.page(staffSayIn(lang)))
				if strings.Contains(page, "[[") {
					t.Errorf("a text without translation: %s", page[strings.Index(page, "[["):][:60])
				}
				doc := staffParse(t, page)
				if n := len(staffAll(doc, staffTag("h1"))); n != 1 {
					t.Errorf("%d h1, want one", n)
				}
				if n := len(staffAll(doc, staffTag("main"))); n != 1 {
					t.Errorf("%d main, want one", n)
				}
				ids := make(map[string]bool)
				for _, n := range staffAll(doc, func(*html.Node) bool { return true }) {
					for _, a := range n.Attr {
						if a.Key == "style" || strings.HasPrefix(a.Key, "on") || strings.HasPrefix(a.Key, "hx-on") || strings.HasPrefix(a.Val, "js:") {
							t.Errorf("<%s %s=%q> would be refused by the content security policy", n.Data, a.Key, a.Val)
						}
					}
					if id, ok := staffAttr(n, "id"); ok {
						if ids[id] {
							t.Errorf("id %s stands twice", id)
						}
						ids[id] = true
					}
				}
				for _, n := range staffAll(doc, func(*html.Node) bool { return true }) {
					for _, name := range []string{"for", "form", "aria-labelledby", "aria-describedby"} {
						refs, _ := staffAttr(n, name)
						for ref := range strings.FieldsSeq(refs) {
							if !ids[ref] {
								t.Errorf("<%s %s=%q> points nowhere", n.Data, name, ref)
							}
						}
					}
				}
				for _, n := range staffAll(doc, staffTag("input", "select", "textarea")) {
					kind, _ := staffAttr(n, "type")
					id, _ := staffAttr(n, "id")
					said, _ := staffAttr(n, "aria-label")
					by, _ := staffAttr(n, "aria-labelledby")
					labelled := kind == "hidden" || said != "" || ids[by] || len(staffAll(doc, func(l *html.Node) bool {
						to, ok := staffAttr(l, "for")
						return l.Data == "label" && ok && to == id
					})) > 0
					for p := n.Parent; p != nil; p = p.Parent {
						labelled = labelled || p.Data == "label"
					}
					if !labelled {
						name, _ := staffAttr(n, "name")
						t.Errorf("field %s has no label", name)
					}
				}
				for _, f := range staffAll(doc, staffTag("form")) {
					action, ok := staffAttr(f, "action")
					if !ok || !strings.HasPrefix(action, "/") {
						t.Errorf("a form without a path: %q", action)
					}
					if len(staffAll(f, staffTag("button"))) == 0 {
						t.Errorf("form %s has no button", action)
					}
					method, _ := staffAttr(f, "method")
					if method == "post" && strings.Contains(action, "/slots/") && len(staffAll(f, func(n *html.Node) bool {
						name, _ := staffAttr(n, "name")
						return n.Data == "input" && (name == FieldVersion || name == FieldSeen)
					})) != 1 {
						t.Errorf("form %s does not carry the version that the page shows", action)
					}
				}
			})
		}
	}
}

// TestStaffEscapes puts markup into every text of the busiest pages.
func TestStaffEscapes(t *testing.T) {
	t.Parallel()
	const bad = `"><img src=x onerror=alert(1)>'&`
	say := func(string, string) string { return bad }
	for _, s := range staffStories() {
		page := staffRender(t, i18n.JA, s.page(say))
		doc := staffParse(t, page)
		if n := len(staffAll(doc, func(n *html.Node) bool { _, bad := staffAttr(n, "onerror"); return bad })); n != 0 {
			t.Errorf("%s: %d texts became markup", s.name, n)
		}
	}
	today := staffTestToday(staffSayIn(i18n.JA))
	today.Attention.Calls[0].PhoneURL = "javascript:alert(1)"
	today.Attention.Calls[0].Name = bad
	page := staffRender(t, i18n.JA, StaffToday(today))
	if strings.Contains(page, "javascript:") {
		t.Error("a phone number became a script")
	}
	if !strings.Contains(page, "&lt;img src=x onerror=alert(1)&gt;") {
		t.Error("the name is not shown as it was typed")
	}
}

// TestStaffToday holds the hooks that the journey tests and the scripts look for.
func TestStaffTodayHooks(t *testing.T) {
	t.Parallel()
	doc := staffParse(t, staffRender(t, i18n.JA, StaffToday(staffTestToday(staffSayIn(i18n.JA)))))
	slots := staffAll(doc, func(n *html.Node) bool { _, ok := staffAttr(n, "data-slot"); return ok })
	if len(slots) != 6 {
		t.Fatalf("%d slots, want 6", len(slots))
	}
	if left, _ := staffAttr(slots[2], "data-seats-left"); left != "2" {
		t.Errorf("seats left %q, want 2", left)
	}
	if state, _ := staffAttr(slots[3], "data-state"); state != "waitlist" {
		t.Errorf("state %q, want waitlist", state)
	}
	offers := staffAll(slots[3], func(n *html.Node) bool { _, ok := staffAttr(n, "data-seconds-left"); return ok })
	if len(offers) != 2 {
		t.Errorf("%d countdowns, want 2", len(offers))
	}
	search := staffAll(doc, func(n *html.Node) bool { _, ok := staffAttr(n, "data-search"); return ok })
	if len(search) != 1 {
		t.Errorf("%d search boxes, want 1", len(search))
	}
}

func TestStaffBarAddsUp(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		bar   StaffBar
		cells int
	}{
		{"a slot of one seat is one cell", StaffBar{Capacity: 1, Booked: 1}, 1},
		{"each seat of a small slot is a cell", StaffBar{Capacity: 10, Booked: 6, Held: 1, Offered: 2, Free: 1}, 10},
		{"a large slot has one cell per part", StaffBar{Capacity: 40, Booked: 6, Free: 34}, 2},
		{"an empty slot of no seats is drawn as nothing", StaffBar{}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := len(staffBarCells(tt.bar)); got != tt.cells {
				t.Errorf("%d cells, want %d", got, tt.cells)
			}
		})
	}
}

func TestMailParts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body string
		links      []string
	}{
		{"a mail without links is one text", "hello\n", nil},
		{"an address ends at the line", "see\nhttps://a.example/x?y=1&z\nbye", []string{"https://a.example/x?y=1&z"}},
		{"a stop is not part of the address", "(http://a.example/x).", []string{"http://a.example/x"}},
		{"Japanese text ends an address", "http://a.example/xをご覧ください", []string{"http://a.example/x"}},
		{"two schemes", "http://a https://b", []string{"http://a", "https://b"}},
		{"another scheme stays text", "javascript:alert(1)", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var links []string
			whole := ""
			for _, p := range MailParts(tt.body) {
				whole += p.Text
				if p.URL != "" {
					links = append(links, p.URL)
				}
			}
			if whole != tt.body {
				t.Errorf("text %q, want %q", whole, tt.body)
			}
			if !slices.Equal(links, tt.links) {
				t.Errorf("links %q, want %q", links, tt.links)
			}
		})
	}
}

// TestStaffEventSentences wants a sentence for each kind of event, with all its placeholders filled.
func TestStaffEventSentences(t *testing.T) {
	t.Parallel()
	kinds := strings.Fields(`held confirmed extended released expired cancelled joined offered staff_offered accepted declined lapsed withdrawn
		revoked entry_closed entry_changed claimed vacancy_told capacity_changed party_changed contact_changed email_asked email_changed moved_out moved_in closed reopened paused resumed
		terms_changed policy_changed slot_cancelled refused_late notice_sent erased link_sent message_given_up`)
	if len(kinds) != len(staffEventKeys) {
		t.Errorf("%d kinds have sentences, want %d", len(staffEventKeys), len(kinds))
	}
	for _, lang := range i18n.Languages {
		for _, kind := range kinds {
			got := StaffEventSentence(i18n.WithLang(context.Background(), lang), StaffEventFacts{Kind: kind, Actor: "A", Who: "W", Party: 2, Until: "U", Other: "O", From: 3, To: 4})
			if got == kind || strings.ContainsAny(got, "{}[]") {
				t.Errorf("%s %s: %q", lang, kind, got)
			}
		}
	}
}
