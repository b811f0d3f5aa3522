package web

import (
	"net/http"
	"regexp"
	"testing"

	"holdfast/store"
	"holdfast/views/i18n"
)

func TestEachOutcomeHasItsAnswerInBothLanguages(t *testing.T) {
	t.Parallel()
	reasons := map[string]store.Outcome{}
	for _, o := range store.Outcomes {
		a, ok := answers[o]
		if !ok {
			t.Errorf("%s has no row", o)
			continue
		}
		if a.status < 400 || a.status > 599 || http.StatusText(a.status) == "" || a.tone == "" {
			t.Errorf("%s: %+v", o, a)
		}
		if !regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`).MatchString(a.reason) || reasons[a.reason] != "" {
			t.Errorf("%s: the reason %q is no name of its own", o, a.reason)
		}
		reasons[a.reason] = o
		for _, lang := range i18n.Languages {
			for _, part := range []string{"title", "text"} {
				if i18n.For(lang).Raw("outcome."+string(o)+"."+part) == "" {
					t.Errorf("%s has no %s in %s", o, part, lang)
				}
			}
		}
	}
	if len(answers) != len(store.Outcomes) {
		t.Errorf("%d rows for %d outcomes", len(answers), len(store.Outcomes))
	}
}
