package mail

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"holdfast/views/i18n"
)

func document(t *testing.T, text string) *html.Node {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// said is what somebody reads in a document, line by line: not the preheader, and
// not what stands on the button, which is its link once more.
func said(n *html.Node) string {
	var b strings.Builder
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		style := attribute(n, "style")
		switch {
		case n.Type == html.TextNode:
			b.WriteString(strings.ReplaceAll(n.Data, "\n", ""))
			return
		case n.Data == "head" || style == styleHidden:
			return
		case style == styleButton:
			return
		case n.Data == "br":
			b.WriteString("\n")
		}
		for c := range n.ChildNodes() {
			walk(c)
		}
		if n.Data == "p" {
			b.WriteString("\n\n")
		}
	}
	walk(n)
	return b.String()
}

// words is a text without the lines between its paragraphs and the signs around names.
func words(text string) []string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.NewReplacer("\u2066", "", "\u2067", "", "\u2068", "", "\u2069", "").Replace(line)
		if line != "" && line != "--" && strings.Trim(line, "―") != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

func TestTheHTMLSaysWhatTheTextSays(t *testing.T) {
	t.Parallel()
	for _, kind := range allKinds {
		for _, lang := range i18n.Languages {
			for name, edit := range map[string]func(*Letter){
				"plain": func(*Letter) {},
				"names": func(l *Letter) {
					l.Name, l.Slot.Service, l.Venue.Name = "Zoë <Z> & Co", `日本語講座：入門 🎌 & "Q"/A`, "محمد O’Neil"
					l.Reason, l.Words, l.Extra = "<b>&amp;</b>", "1 < 2\n\n\u2068open", "Tom & Jerry's\n\n\u202eevil"
				},
			} {
				l := letter(t, kind, lang)
				edit(&l)
				text := Render(l)
				if diff := cmp.Diff(words(text.Body), words(said(document(t, text.HTML)))); diff != "" {
					t.Errorf("%s in %s, %s: the text (-) and the HTML (+) differ:\n%s", kind, lang, name, diff)
				}
			}
		}
	}
}

func TestTheHTMLIsQuiet(t *testing.T) {
	t.Parallel()
	allowed := []string{"html", "head", "meta", "title", "body", "div", "p", "br", "span", "a", "bdi"}
	for _, kind := range allKinds {
		for _, lang := range i18n.Languages {
			l := letter(t, kind, lang)
			text := Render(l)
			path := filepath.Join("testdata", string(kind)+"."+lang+".html.golden")
			if *update {
				if err := os.WriteFile(path, []byte(text.HTML), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatalf("%v (accept new texts with -update)", err)
			}
			if diff := cmp.Diff(string(want), text.HTML); diff != "" {
				t.Errorf("%s in %s has changed (-was +is):\n%s", kind, lang, diff)
			}
			buttons := 0
			for n := range document(t, text.HTML).Descendants() {
				if n.Type != html.ElementNode {
					continue
				}
				if !slices.Contains(allowed, n.Data) {
					t.Errorf("%s: <%s> stands in a mail", kind, n.Data)
				}
				if n.Data == "html" && attribute(n, "lang") != lang {
					t.Errorf("%s: the language is %q", kind, attribute(n, "lang"))
				}
				if attribute(n, "style") == styleButton {
					buttons++
					if l.Link != "" && attribute(n, "href") != l.Link {
						t.Errorf("%s: the button leads to %s", kind, attribute(n, "href"))
					}
				}
				for _, a := range n.Attr {
					if !slices.Contains([]string{"lang", "dir", "style", "href", "charset", "name", "content"}, a.Key) || strings.Contains(a.Val, "url(") {
						t.Errorf("%s: %s=%q stands in a mail", kind, a.Key, a.Val)
					}
					if a.Key == "href" && !strings.HasPrefix(a.Val, "https://") {
						t.Errorf("%s: a link to %s", kind, a.Val)
					}
				}
			}
			if buttons > 1 || buttons == 0 && kind != EmailChanged && kind != MyBookings {
				t.Errorf("%s has %d buttons", kind, buttons)
			}
			for _, link := range regexp.MustCompile(`(?m)^https://\S+$`).FindAllString(text.Body, -1) {
				if !strings.Contains(text.HTML, `">`+html.EscapeString(link)+"</a>") {
					t.Errorf("%s: %s can't be pressed", kind, link)
				}
			}
			if lines := strings.Split(text.HTML, "\n"); len(lines) < 20 {
				t.Errorf("%s is one heap", kind)
			}
		}
	}
}

func TestNamesAreEscapedOnceAndKeptApart(t *testing.T) {
	t.Parallel()
	l := letter(t, Confirmed, i18n.EN)
	l.Name, l.Slot.Service, l.Slot.Resource = "Zoë <Z> & Co", `<img src=x onerror=alert(1)>`, "محمد O’Neil"
	text := Render(l)
	for _, want := range []string{"Dear Zoë &lt;Z&gt; &amp; Co,", "<bdi>&lt;img src=x onerror=alert(1)&gt;</bdi>", "<bdi>محمد O’Neil</bdi>"} {
		if !strings.Contains(text.HTML, want) {
			t.Errorf("%s is not in\n%s", want, text.HTML)
		}
	}
	if strings.Contains(text.HTML, "&amp;lt;") || strings.Contains(text.HTML, "&amp;amp;") || strings.Contains(text.Body, "&amp;") {
		t.Error("escaped twice, or escaped in plain text")
	}
	l.Name = "محمد"
	if text := Render(l); !strings.Contains(text.HTML, "Dear <bdi>محمد</bdi>,") {
		t.Error("the greeting does not keep a name from right to left apart")
	}
	// Signs that somebody typed open nothing that stays open.
	l.Name, l.Reason, l.Extra = "a\u2069\u2069b", "", "\u2067\u2067x"
	if page := Render(l).HTML; strings.Count(page, "<bdi>") != strings.Count(page, "</bdi>") {
		t.Error("an element stays open")
	}
	l.Venue.MapURL = "javascript:alert(1)"
	if page := Render(l).HTML; strings.Contains(page, `href="javascript`) {
		t.Error("a script can be pressed")
	}
}

func TestWhatTheVenueAddsStandsBeforeItsName(t *testing.T) {
	t.Parallel()
	l := letter(t, Reminder, i18n.EN)
	l.Extra = "Please use the back door.\r\nRing twice.\r\n\r\nDogs are welcome."
	if text := Render(l); !strings.Contains(text.Body, "\n\nPlease use the back door.\nRing twice.\n\nDogs are welcome.\n\n--\n") {
		t.Errorf("what the venue adds is not there as it was written:\n%s", text.Body)
	}
	l = letter(t, StaffReset, i18n.EN)
	l.Extra = "Please use the back door."
	if text := Render(l); strings.Contains(text.Body, "back door") {
		t.Error("it stands in a mail to staff")
	}
}
