package web

import (
	"fmt"
	"html"
	"net/http"
	"strings"

	"github.com/skip2/go-qrcode"

	"holdfast/views"
	"holdfast/views/i18n"
)

// getPoster shows a sheet for the counter, and how the calendar comes onto the
// shop's own site. Nothing on it is secret.
func (s *Server) getPoster(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	address := s.absolute(views.VenueURL(t.Slug))
	code, err := qrcode.New(address, qrcode.Medium)
	if err != nil {
		return fmt.Errorf("qr code: %w", err)
	}
	code.DisableBorder = true
	v := views.PosterPage{Page: s.page(r), Address: strings.TrimPrefix(strings.TrimPrefix(address, "https://"), "http://"), QR: code.Bitmap()}
	v.Page.Canonical = s.absolute(views.PosterURL(t.Slug))
	if len(t.EmbedOrigins) > 0 {
		v.Snippet, v.Origins = s.snippet(t.Name, views.VenueFilterURL(t.Slug, views.VenueFilter{Lang: i18n.Lang(ctx), Embed: true})), t.EmbedOrigins
	}
	return s.render(w, r, http.StatusOK, views.Poster(v))
}

// snippet is what a shop pastes into its own page: a frame as high as a week on
// a phone usually is.
func (s *Server) snippet(name, path string) string {
	return `<iframe src="` + html.EscapeString(s.absolute(path)) + `" title="` + html.EscapeString(name) +
		`" loading="lazy" style="width: 100%; height: 52rem; border: 0"></iframe>`
}
