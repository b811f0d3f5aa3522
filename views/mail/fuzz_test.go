package mail

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"holdfast/views/i18n"
)

// Whatever a venue writes as its own words: what is taken leaves no brace behind,
// makes no second subject, and both parts of the mail say it alike.
func FuzzOwnWords(f *testing.F) {
	for _, seed := range []string{
		"{name} 様、{time} までお席をお取りしています。", "｛name｝様", "{ name }", "{name", "}{", "{{name}}", "{nothing}", "<b>&amp;</b>\r\n\r\n{venue}", "\u2068open", "\u202eevil", "--\n", "a\x00b", "\xff", "{\n}", "https://evil.example\n{number}",
		"―――――", "\u2028\u2029\u0085", "{time}{when}{party}{service}",
	} {
		for kind := range OwnKinds {
			f.Add(uint(kind), seed, true)
		}
	}
	f.Fuzz(func(t *testing.T, which uint, text string, opening bool) {
		kind := OwnKinds[which%uint(len(OwnKinds))]
		unknown, missing := CheckOwn(kind, text, opening)
		for _, lang := range i18n.Languages {
			l := letter(t, kind, lang)
			filled := Fill(l, text)
			if len(unknown)+len(missing) == 0 && strings.ContainsAny(filled, "{}") {
				t.Errorf("%s takes %q, and says %q", kind, text, filled)
			}
			plain := Render(l)
			if opening {
				l.Opening = filled
			} else {
				l.Extra = filled
			}
			got := Render(l)
			if got.Subject != plain.Subject {
				t.Errorf("%q changes the subject to %q", text, got.Subject)
			}
			if l.Link != "" && !strings.Contains(got.Body, "\n"+l.Link+"\n") {
				t.Errorf("%q takes the link away:\n%s", text, got.Body)
			}
			if diff := cmp.Diff(words(got.Body), words(said(document(t, got.HTML)))); diff != "" {
				t.Errorf("%q: the text (-) and the HTML (+) differ:\n%s", text, diff)
			}
			if strings.Contains(got.HTML, "<script") || strings.ContainsRune(got.Body, 0) {
				t.Errorf("%q stands as it is in\n%s", text, got.HTML)
			}
		}
	})
}
