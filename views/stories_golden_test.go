package views

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"

	"holdfast/views/i18n"
)

var update = flag.Bool("update", false, "accept what the components render now")

func newBench(t testing.TB, lang string) bench {
	t.Helper()
	loc, err := time.LoadLocation("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	return bench{lang: lang, loc: loc}
}

func render(t testing.TB, lang string, c templ.Component) string {
	t.Helper()
	ctx := templ.WithNonce(i18n.WithLang(context.Background(), lang), "nonce")
	var out bytes.Buffer
	if err := c.Render(ctx, &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

var (
	hashes = regexp.MustCompile(`(/static/[a-z.]+)\.[0-9a-f]{12}\.`)
	tags   = regexp.MustCompile(`<(/?[a-z!])`)
)

// readable puts every tag on its own line and takes the content hashes out, so
// that a golden file shows what changed and only that.
func readable(page string) string {
	page = hashes.ReplaceAllString(page, "$1.HASH.")
	return strings.TrimSpace(tags.ReplaceAllString(page, "\n<$1")) + "\n"
}

func TestEveryStoryLooksAsAccepted(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for _, s := range stories() {
		if seen[s.name] {
			t.Fatalf("two stories are called %s", s.name)
		}
		seen[s.name] = true
		for _, lang := range i18n.Languages {
			name := s.name + "." + lang
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				got := readable(render(t, lang, s.make(newBench(t, lang))))
				file := filepath.Join("testdata", name+".golden")
				if *update {
					if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
					return
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatalf("%v (accept with -update)", err)
				}
				if got != string(want) {
					t.Errorf("%s is not what was accepted (look, then accept with -update): %s", file, firstDifference(got, string(want)))
				}
			})
		}
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return "\n  now  " + g[i] + "\n  then " + w[i]
		}
	}
	return "one is longer than the other"
}
