package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
	"holdfast/views/i18n"
)

// A request that has waited as long as it may is busy. The page that says so is made after that moment, and must not
// fail because it has passed.
func TestAPageThatHasWaitedTooLongSaysThatItIsBusy(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	for name, fails := range map[string]error{"as an outcome": store.Busy, "as it is": context.DeadlineExceeded} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			ctx, cancel := context.WithDeadline(i18n.WithLang(t.Context(), "en"), time.Unix(0, 0))
			defer cancel()
			w := httptest.NewRecorder()
			s.web.handle(func(http.ResponseWriter, *http.Request) error { return fails })(w, httptest.NewRequestWithContext(ctx, method, "/shop", nil))
			if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "</html>") {
				t.Errorf("%s, %s: %d, Retry-After %q", name, method, w.Code, w.Header().Get("Retry-After"))
			}
		}
	}
}
