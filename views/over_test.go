package views

import (
	"strings"
	"testing"

	"holdfast/views/i18n"
)

// A deadline that has passed is not told as one that is still to come.
func TestAPastDeadlineIsToldAsPast(t *testing.T) {
	t.Parallel()
	for _, lang := range i18n.Languages {
		ctx := i18n.WithLang(t.Context(), lang)
		for _, key := range []i18n.Key{"hold.until", "offer.until"} {
			for _, c := range []struct {
				left int
				key  i18n.Key
			}{{1, key}, {0, "over." + key}, {-30, "over." + key}} {
				var page strings.Builder
				if err := countdown(Deadline{Text: "14:35", At: "2026-10-06T14:35:00+09:00", SecondsLeft: c.left, Total: 300}, key, "").Render(ctx, &page); err != nil {
					t.Fatal(err)
				}
				begin, end, _ := strings.Cut(i18n.T(ctx, c.key, "time", "14:35"), "14:35")
				if !strings.Contains(page.String(), begin+"<time") || !strings.Contains(page.String(), "</time>"+end) {
					t.Errorf("%s, %d s left: not the words of %s:\n%s", lang, c.left, c.key, page.String())
				}
			}
		}
	}
}
