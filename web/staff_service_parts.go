package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// The forms of settings carry the version of what they show. One that is stale
// writes nothing: 409, what is stored now beside what was typed, and the same
// form once more with the version of now. So the second press is somebody's
// decision, and overwrites nothing that they have not seen.

// langs are the languages of a text, the one of the venue first.
func langs(t store.Tenant) []string {
	if t.Locale == i18n.EN {
		return []string{i18n.EN, i18n.JA}
	}
	return []string{i18n.JA, i18n.EN}
}

// fieldLabel names a field of the settings; one that is named name_ja is called
// the name, in Japanese. A field that has no words is called as it is.
func fieldLabel(ctx context.Context, field string) string {
	for _, lang := range i18n.Languages {
		if base, in := strings.CutSuffix(field, "_"+lang); in {
			return i18n.T(ctx, "service.label_in", "label", fieldLabel(ctx, base), "lang", i18n.T(ctx, i18n.Key("service.lang."+lang)))
		}
	}
	if key := i18n.Key("changes.field." + field); i18n.Has(key) {
		return i18n.T(ctx, key)
	}
	return field
}

// typedText is a text in two languages as typed, by field.
type typedText map[string]string

// readText reads the fields of a text in each language, and normalises them.
func (f *form) readText(typed typedText, base string, longest int, several bool) store.Text {
	out := store.Text{}
	for _, lang := range i18n.Languages {
		field := base + "_" + lang
		var text string
		if several {
			typed[field] = f.lines(field, longest)
			text = store.NormalizeLines(typed[field])
		} else {
			typed[field] = f.text(field, longest)
			text = store.NormalizeName(typed[field])
		}
		if text != "" {
			out[lang] = text
		}
	}
	return out
}

// put fills in what is stored.
func (t typedText) put(base string, text store.Text) {
	for _, lang := range i18n.Languages {
		t[base+"_"+lang] = text[lang]
	}
}

// pair is a text in two languages, side by side; each says which other stands
// in for it where it is empty.
func pair(ctx context.Context, t store.Tenant, typed typedText, errs formErrors, base string, longest int, several bool) []views.StaffFormField {
	var row []views.StaffFormField
	said := errs.in(ctx)
	for _, lang := range langs(t) {
		field := base + "_" + lang
		other := i18n.JA
		if lang == i18n.JA {
			other = i18n.EN
		}
		f := views.Field{
			Name: field, Label: fieldLabel(ctx, field), Type: "text", Value: typed[field], Error: said[field], Max: longest, Lang: lang,
		}
		if typed[field] == "" && typed[base+"_"+other] != "" {
			f.Hint = i18n.T(ctx, "service.falls_back", "lang", i18n.T(ctx, i18n.Key("service.lang."+other)))
		}
		if several {
			f.Type = "textarea"
		}
		row = append(row, views.StaffFormField{Field: f})
	}
	return row
}

// shownVersion is the version that a form of settings carries; none that there
// is where it carries no number.
func shownVersion(f *form) int {
	v := f.version()
	if v == nil || *v < 0 || *v > 1<<31-1 {
		return -1
	}
	return int(*v)
}

// storedNow lists where what is stored differs from what was typed.
func (s *Server) storedNow(r *http.Request, area, subject string, fields []string, typed, now typedText) (*views.StaffStored, error) {
	ctx := r.Context()
	out := &views.StaffStored{}
	for _, field := range fields {
		if sameText(typed[field], now[field]) {
			continue
		}
		out.Lines = append(out.Lines, views.StaffStoredLine{Label: fieldLabel(ctx, field), Now: now[field]})
	}
	last, err := s.lastChange(r, area, subject)
	if err != nil {
		return nil, err
	}
	out.By = last.Text
	return out, nil
}

// sameText compares what browsers send with what is stored.
func sameText(a, b string) bool {
	return strings.ReplaceAll(a, "\r\n", "\n") == strings.ReplaceAll(b, "\r\n", "\n")
}

// lastChange says when something was last changed, and by whom. One statement.
func (s *Server) lastChange(r *http.Request, area, subject string) (views.StaffLastChange, error) {
	ctx, t := r.Context(), venue(r)
	out := views.StaffLastChange{}
	if me(r).can(setUp) {
		out.URL = views.StaffChangesURL(t.Slug)
	}
	last, err := s.store.LastSettingChange(ctx, t.ID, area, subject)
	if errors.Is(err, store.NotFound) {
		return out, nil
	}
	if err != nil {
		return out, err
	}
	out.Text = i18n.T(ctx, "service.changes.last", "when", i18n.In(ctx).DateTime(last.At, t.Location()), "who", changedBy(ctx, last))
	return out, nil
}

func changedBy(ctx context.Context, c store.SettingChange) string {
	switch {
	case c.Who != "":
		return c.Who
	case c.StaffID == "":
		return i18n.T(ctx, "changes.nobody")
	default:
		return i18n.T(ctx, "changes.gone")
	}
}

// settingFault puts a fault of the store beside its field; false for what is none.
func settingFault(errs formErrors, err error) bool {
	switch {
	case errors.Is(err, store.ErrSlug):
		errs.fault(views.FieldSlug, "service.err.slug")
	case errors.Is(err, store.ErrSlugTaken):
		errs.fault(views.FieldSlug, "service.err.slug_taken")
	case errors.Is(err, store.ErrSlugFixed):
		errs.fault(views.FieldSlug, "service.err.slug_fixed")
	case errors.Is(err, store.ErrNoName):
		errs.fault(views.FieldName+"_"+i18n.JA, "service.err.name")
	case errors.Is(err, store.ErrCatalogFull):
		errs.fault("", "service.err.full")
	default:
		return false
	}
	return true
}

// otherName is a name in the language that the reader does not read, and what
// is missing where there is only one.
func otherName(ctx context.Context, name store.Text) (other, missing string) {
	lang := i18n.Lang(ctx)
	for _, l := range i18n.Languages {
		if name[l] == "" {
			missing = i18n.T(ctx, "service.missing", "lang", i18n.T(ctx, i18n.Key("service.lang."+l)))
		} else if l != lang && name[l] != name.In(lang) {
			other = name[l]
		}
	}
	return other, missing
}

// plainAddress is an address of ours as people read it.
func (s *Server) plainAddress(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(s.absolute(path), "https://"), "http://")
}

// freeSlug is a slug for a name that none of the taken ones is.
func freeSlug(name store.Text, base string, taken map[string]bool) string {
	slug := store.ProposeSlug(name[i18n.EN])
	if slug == "" {
		slug = store.ProposeSlug(name[i18n.JA])
	}
	if slug != "" && !taken[slug] {
		return slug
	}
	if slug != "" {
		base = slug
	}
	for n := 2; ; n++ {
		if numbered := base + "-" + strconv.Itoa(n); !taken[numbered] {
			return numbered
		}
	}
}
