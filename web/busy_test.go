package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"holdfast/store"
	"holdfast/store/storetest/shop"
	"holdfast/views"
	"holdfast/views/i18n"
)

// Whoever only looks has no step whose fate could be unknown.
func TestBusyIsToldByWhatWasAsked(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	for method, kind := range map[string]views.ErrorKind{
		http.MethodGet: errorBusyLook, http.MethodHead: errorBusyLook, http.MethodPost: views.ErrorBusy,
	} {
		for _, lang := range i18n.Languages {
			w := httptest.NewRecorder()
			r := httptest.NewRequest(method, "/shop", nil)
			r = r.WithContext(i18n.WithLang(r.Context(), lang))
			if err := s.web.refused(w, r, store.Busy); err != nil {
				t.Fatal(err)
			}
			if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
				t.Errorf("%s: %d, Retry-After %q", method, w.Code, w.Header().Get("Retry-After"))
			}
			want := i18n.T(r.Context(), i18n.Key("error."+string(kind)+".text"))
			if method != http.MethodHead && !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s %s: the page does not say %q", method, lang, want)
			}
		}
	}
}
