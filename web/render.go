package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/a-h/templ"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// render writes a page: first into a buffer, then its headers, then once to the
// visitor, so that a failing component gives a clean page for our own faults.
func (s *Server) render(w http.ResponseWriter, r *http.Request, status int, page templ.Component) error {
	var body bytes.Buffer
	if err := page.Render(r.Context(), &body); err != nil {
		return fmt.Errorf("render: %w", err)
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Language", i18n.Lang(r.Context()))
	// A page with a secret is sent as it is: how well it packs would tell about it.
	if h.Get("Cache-Control") == cachePrivate {
		h.Add("Vary", "Accept-Encoding")
		if acceptsGzip(r) {
			packed, err := pack(body.Bytes())
			if err != nil {
				return err
			}
			h.Set("Content-Encoding", "gzip")
			body = *packed
		}
	}
	h.Set("Content-Length", strconv.Itoa(body.Len()))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		// The visitor may have left; there is nobody to tell.
		_, _ = w.Write(body.Bytes())
	}
	return nil
}

func acceptsGzip(r *http.Request) bool {
	for _, coding := range strings.Split(r.Header.Get("Accept-Encoding"), ",") {
		name, quality, _ := strings.Cut(strings.TrimSpace(coding), ";")
		if strings.TrimSpace(name) == "gzip" && !strings.HasPrefix(strings.ReplaceAll(quality, " ", "")+"$", "q=0$") {
			return true
		}
	}
	return false
}

var packers = sync.Pool{New: func() any { return gzip.NewWriter(io.Discard) }}

func pack(plain []byte) (*bytes.Buffer, error) {
	var out bytes.Buffer
	zip := packers.Get().(*gzip.Writer)
	defer packers.Put(zip)
	zip.Reset(&out)
	if _, err := zip.Write(plain); err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	if err := zip.Close(); err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	return &out, nil
}

// see leads to another page of ours (303). The flash, a key of the texts with
// its arguments, is said there once; an empty key says nothing. Arguments must
// not be personal data: the flash is kept in the session until it is shown.
func (s *Server) see(w http.ResponseWriter, r *http.Request, url string, flash i18n.Key, args ...any) error {
	if flash != "" {
		if err := s.putFlash(r, flash, args...); err != nil {
			return err
		}
	}
	w.Header().Set("Location", url)
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// storedFlash is a flash on its way to the next page.
type storedFlash struct {
	Key  i18n.Key `json:"k"`
	Args []any    `json:"a,omitempty"`
}

func (s *Server) putFlash(r *http.Request, key i18n.Key, args ...any) error {
	text, err := json.Marshal(storedFlash{key, args})
	if err != nil {
		return fmt.Errorf("flash %s: %w", key, err)
	}
	s.sessions.Put(r.Context(), sessionFlash, string(text))
	return nil
}

// popFlash takes the flash that waits for this visitor; nil for none.
func (s *Server) popFlash(r *http.Request) *views.Flash {
	text := s.sessions.GetString(r.Context(), sessionFlash)
	if text == "" {
		return nil
	}
	s.sessions.Remove(r.Context(), sessionFlash)
	var stored storedFlash
	if err := json.Unmarshal([]byte(text), &stored); err != nil || !i18n.Has(stored.Key) {
		return nil // written by another version of the program
	}
	for i, arg := range stored.Args {
		if n, ok := arg.(float64); ok {
			stored.Args[i] = int(n)
		}
	}
	return &views.Flash{Kind: views.FlashDone, Text: i18n.T(r.Context(), stored.Key, stored.Args...)}
}

// The flashes that a page says in its own heading.
const (
	flashConfirmed i18n.Key = "flash.confirmed"
	flashJoined    i18n.Key = "flash.joined"
)

// page is what every page of a venue has. Its flash is taken from the session:
// call it once per answer, before render.
func (s *Server) page(r *http.Request) views.Page {
	return s.pageAt(r, r.URL.RequestURI())
}

// pageAt is page for an answer that has an address of its own only after
// another GET: the language switch comes back to self.
func (s *Server) pageAt(r *http.Request, self string) views.Page {
	p := views.Page{Flash: s.popFlash(r)}
	if t, ok := tenant(r); ok {
		p.Tenant = s.tenantView(r, t)
		p.LanguageAction = views.LanguageURL(t.Slug)
		p.Return = withoutLang(self)
	}
	return p
}

// tenantView maps a tenant to what the chrome shows.
func (s *Server) tenantView(r *http.Request, t store.Tenant) views.Tenant {
	phone := t.Phone
	if phone != "" {
		phone = store.FormatPhone(phone, region(t))
	}
	return views.Tenant{
		Name: t.Name, Slug: t.Slug, URL: views.InLanguage(views.VenueURL(t.Slug), addressLang(r)), Phone: phone, Email: t.Email, Address: t.Address,
		MapURL: t.MapURL, PrivacyURL: t.PrivacyURL, LegalURL: t.LegalURL,
		Zone: i18n.In(r.Context()).ZoneLong(s.now(), t.Location()),
	}
}

// errorPage answers with a page that stands for itself. Its body depends on
// nothing but tenant, language and kind, so that what is absent and what is
// somebody else's can't be told apart.
func (s *Server) errorPage(w http.ResponseWriter, r *http.Request, status int, kind views.ErrorKind) error {
	v := views.ErrorPage{Kind: kind}
	if t, ok := tenant(r); ok {
		v.Page.Tenant = s.tenantView(r, t)
		v.Links = []views.Link{{Text: i18n.T(r.Context(), "outcome.link.venue"), URL: views.VenueURL(t.Slug)}}
		if kind == views.ErrorLink {
			v.Links = append([]views.Link{{Text: i18n.T(r.Context(), "error.link.find"), URL: views.MyReservationsURL(t.Slug)}}, v.Links...)
		}
	}
	if seconds, err := strconv.Atoi(w.Header().Get("Retry-After")); err == nil {
		v.Retry = i18n.In(r.Context()).Duration(seconds2duration(seconds))
	}
	if status >= 400 && w.Header().Get("Cache-Control") == cachePrivate {
		w.Header().Set("Cache-Control", cacheNever)
	}
	return s.render(w, r, status, views.Error(v))
}

// prebuilt renders the page for our own faults, one per language, without
// anything that a request could bring. It has no script: there is no nonce.
func prebuilt() (map[string][]byte, error) {
	pages := map[string][]byte{}
	for _, lang := range i18n.Languages {
		var body bytes.Buffer
		ctx := i18n.WithLang(context.Background(), lang)
		if err := views.Error(views.ErrorPage{Kind: views.ErrorInternal}).Render(ctx, &body); err != nil {
			return nil, fmt.Errorf("the page for our own faults: %w", err)
		}
		pages[lang] = body.Bytes()
	}
	return pages, nil
}

// writeBroken answers with the prebuilt page.
func (s *Server) writeBroken(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	body := s.broken[i18n.Lang(r.Context())]
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", cacheNever)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Del("Location")
	w.WriteHeader(http.StatusInternalServerError)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the visitor may have left
	}
}
