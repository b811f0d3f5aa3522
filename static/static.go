// Package static holds the files that browsers load: the styles, the two
// scripts and the mark. Each is served under a name that holds a hash of its
// content, so that it may be cached for ever.
package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
)

//go:embed *.css *.js *.svg
var files embed.FS

// Prefix is the path under which [Handler] serves.
const Prefix = "/static/"

type asset struct {
	url     string
	kind    string
	plain   []byte
	gzipped []byte
}

var (
	byName = make(map[string]*asset)
	byURL  = make(map[string]*asset)
)

func init() {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic("static: " + err.Error())
	}
	for _, e := range entries {
		if isPart(e.Name()) {
			continue
		}
		raw, err := files.ReadFile(e.Name())
		if err == nil && e.Name() == "staff.css" {
			raw, err = withParts(raw, entries)
		}
		if err == nil {
			err = add(e.Name(), raw)
		}
		if err != nil {
			panic("static: " + err.Error())
		}
	}
}

// isPart reports whether a file is one page family's part of the staff's
// styles: they are written apart and served as one.
func isPart(name string) bool {
	return strings.HasPrefix(name, "staff-") && strings.HasSuffix(name, ".css")
}

func withParts(raw []byte, entries []fs.DirEntry) ([]byte, error) {
	for _, e := range entries {
		if !isPart(e.Name()) {
			continue
		}
		part, err := files.ReadFile(e.Name())
		if err != nil {
			return nil, err
		}
		raw = slices.Concat(raw, []byte("\n"), part)
	}
	return raw, nil
}

func add(name string, raw []byte) error {
	var packed bytes.Buffer
	zip, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := zip.Write(raw); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := zip.Close(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	sum := sha256.Sum256(raw)
	ext := path.Ext(name)
	a := &asset{
		url:     Prefix + strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:6]) + ext,
		kind:    mime.TypeByExtension(ext),
		plain:   raw,
		gzipped: packed.Bytes(),
	}
	// The system's table may lack a type or name an old one.
	switch ext {
	case ".css":
		a.kind = "text/css; charset=utf-8"
	case ".js":
		a.kind = "text/javascript; charset=utf-8"
	case ".svg":
		a.kind = "image/svg+xml"
	}
	byName[name] = a
	byURL[a.url] = a
	return nil
}

// URL returns the path of a file: URL("app.css") is /static/app.<hash>.css. It
// panics for a name that is not embedded, which is a programming mistake.
func URL(name string) string {
	a, ok := byName[name]
	if !ok {
		panic("static: no file " + name)
	}
	return a.url
}

// Size returns how many bytes a file costs on the wire, compressed.
func Size(name string) int {
	a, ok := byName[name]
	if !ok {
		panic("static: no file " + name)
	}
	return len(a.gzipped)
}

// Handler serves the files under their hashed names, to be cached for ever.
// Any other name is a 404 that is not cached.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, ok := byURL[r.URL.Path]
		if !ok {
			w.Header().Set("Cache-Control", "no-store")
			http.NotFound(w, r)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, http.StatusText(http.StatusMethodNotAllowed), http.StatusMethodNotAllowed)
			return
		}
		h := w.Header()
		h.Set("Content-Type", a.kind)
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Vary", "Accept-Encoding")
		body := a.plain
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			h.Set("Content-Encoding", "gzip")
			body = a.gzipped
		}
		h.Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(http.StatusOK)
		if r.Method == http.MethodHead {
			return
		}
		// The visitor may have left; there is nobody to tell.
		_, _ = w.Write(body)
	})
}
