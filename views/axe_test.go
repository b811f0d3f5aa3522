package views

import (
	"context"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"holdfast/views/i18n"
)

// TestNothingSeriousIsFoundByAxe runs axe-core over every story, of customers in
// both languages, of staff in one by turns: WCAG 2.2 AA, serious and critical
// findings. The colours are judged in light in Japanese and in dark in English.
func TestNothingSeriousIsFoundByAxe(t *testing.T) {
	t.Parallel()
	axe, err := os.ReadFile("../cmd/holdfast/testdata/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	for _, s := range staffStories() {
		for _, lang := range i18n.Languages {
			page := staffRender(t, lang, s.page(staffSayIn(lang)))
			mux.HandleFunc("/"+lang+"/"+s.name, func(w http.ResponseWriter, _ *http.Request) { staffWrite(t, w, http.StatusOK, page) })
		}
	}
	staff := staffServe(t, mux)
	customers := serveStories(t).URL
	type view struct{ page, mode string }
	modes := map[string]string{i18n.JA: "light", i18n.EN: "dark"}
	var views []view
	for _, lang := range i18n.Languages {
		for _, s := range stories() {
			views = append(views, view{customers + "/" + lang + "/" + s.name, modes[lang]})
		}
	}
	for i, s := range staffStories() {
		lang := i18n.Languages[i%len(i18n.Languages)]
		views = append(views, view{staff + "/" + lang + "/" + s.name, modes[lang]})
	}
	ctx := browser(t)
	for _, v := range views {
		screen(t, ctx, 390, 844, v.mode)
		visit(t, ctx, v.page)
		ask[bool](t, ctx, string(axe)+"; true")
		for _, found := range audit(t, ctx) {
			t.Errorf("%s in %s: %s", v.page, v.mode, found)
		}
	}
}

func audit(t *testing.T, ctx context.Context) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	found, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](`axe.run({runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}).then(r => r.violations
		.filter(v => v.impact === "serious" || v.impact === "critical")
		.flatMap(v => v.nodes.map(n => v.id + ": " + n.html.slice(0, 160))))`, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	return found
}
