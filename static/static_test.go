package static

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

func get(t *testing.T, method, path, encoding string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, path, nil)
	if encoding != "" {
		r.Header.Set("Accept-Encoding", encoding)
	}
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, r)
	return w.Result()
}

func TestFilesAreServedUnderTheirHashForEver(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]string{
		"app.css": "text/css; charset=utf-8", "staff.css": "text/css; charset=utf-8",
		"app.js": "text/javascript; charset=utf-8", "htmx.min.js": "text/javascript; charset=utf-8", "mark.svg": "image/svg+xml",
	} {
		url := URL(name)
		if !regexp.MustCompile(`^/static/[a-z.]+\.[0-9a-f]{12}\.[a-z]+$`).MatchString(url) {
			t.Errorf("%s has the address %s", name, url)
		}
		plain, packed := get(t, "GET", url, ""), get(t, "GET", url, "br, gzip")
		for _, res := range []*http.Response{plain, packed} {
			if res.StatusCode != 200 || res.Header.Get("Content-Type") != kind || !strings.Contains(res.Header.Get("Cache-Control"), "immutable") || res.Header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s: %d %v", url, res.StatusCode, res.Header)
			}
		}
		want, err := io.ReadAll(plain.Body)
		if err != nil {
			t.Fatal(err)
		}
		zip, err := gzip.NewReader(packed.Body)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(zip)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("%s differs when compressed", name)
		}
	}
}

func TestOtherNamesAreNotThere(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/static/", "/static/app.css", "/static/app.000000000000.css", "/static/../go.mod", "/static/static.go"} {
		res := get(t, "GET", path, "")
		if res.StatusCode != 404 || res.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v", path, res.StatusCode, res.Header)
		}
	}
	if res := get(t, "POST", URL("app.css"), ""); res.StatusCode != 405 {
		t.Errorf("POST: %d", res.StatusCode)
	}
	res := get(t, "HEAD", URL("app.css"), "")
	if body, err := io.ReadAll(res.Body); err != nil || len(body) != 0 || res.StatusCode != 200 {
		t.Errorf("HEAD: %d, %d bytes, %v", res.StatusCode, len(body), err)
	}
}

func TestAnUnknownNamePanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	URL("nothing.css")
}
