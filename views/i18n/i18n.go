// Package i18n holds every sentence that people read, in Japanese and in
// English, and the formats of dates, times and lengths of time.
//
// Texts stand in JSON files next to this one, a pair (ja, en) per area: plain
// pages, staff pages, messages. The files of a language are merged when the
// program starts; a key that stands twice, or a file that cannot be read, is a
// programming mistake and panics at once.
//
// A text may hold named placeholders, {name}; arguments are given as pairs of
// name and value. A text that depends on a count has the keys key.one and
// key.other and is asked for as key, with the count as argument "n". Japanese
// has only key.other.
package i18n

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"sort"
	"strconv"
	"strings"
)

// The languages that Holdfast speaks.
const (
	JA = "ja"
	EN = "en"
)

// Languages lists the languages in the order in which they are offered.
var Languages = []string{JA, EN}

// Key names one text.
type Key string

//go:embed *.json
var files embed.FS

// Catalog is one language: its texts and its formats. It is never changed
// after the program has started, so it may be used from many goroutines.
type Catalog struct {
	lang  string
	texts map[string]string
}

var catalogs = load()

func load() map[string]*Catalog {
	all := make(map[string]*Catalog, len(Languages))
	for _, lang := range Languages {
		c := &Catalog{lang: lang, texts: make(map[string]string)}
		names, err := fs.Glob(files, lang+"*.json")
		if err != nil {
			panic("i18n: " + err.Error())
		}
		for _, name := range names {
			raw, err := files.ReadFile(name)
			if err != nil {
				panic("i18n: " + err.Error())
			}
			if err := c.merge(name, raw); err != nil {
				panic("i18n: " + err.Error())
			}
		}
		all[lang] = c
	}
	return all
}

// merge reads token by token, because decoding into a map would hide a key
// that stands twice in one file.
func (c *Catalog) merge(name string, raw []byte) error {
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	start, err := dec.Token()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if start != json.Delim('{') {
		return fmt.Errorf("%s: not an object", name)
	}
	for dec.More() {
		k, err := dec.Token()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		key, _ := k.(string) // the decoder guarantees a string here
		var text string
		if err := dec.Decode(&text); err != nil {
			return fmt.Errorf("%s: %s: %w", name, key, err)
		}
		if _, twice := c.texts[key]; twice {
			return fmt.Errorf("%s: key %s stands twice", name, key)
		}
		c.texts[key] = text
	}
	if _, err := dec.Token(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// For returns the catalog of a language; for one that Holdfast does not speak,
// the Japanese one.
func For(lang string) *Catalog {
	if c, ok := catalogs[lang]; ok {
		return c
	}
	return catalogs[JA]
}

// Known tells whether lang is one of [Languages].
func Known(lang string) bool {
	_, ok := catalogs[lang]
	return ok
}

type langKey struct{}

// WithLang returns a context in which texts are in lang.
func WithLang(ctx context.Context, lang string) context.Context {
	return context.WithValue(ctx, langKey{}, For(lang).lang)
}

// Lang returns the language of the context, Japanese where none was set.
func Lang(ctx context.Context) string {
	if lang, ok := ctx.Value(langKey{}).(string); ok {
		return lang
	}
	return JA
}

// In returns the catalog of the context's language.
func In(ctx context.Context) *Catalog { return For(Lang(ctx)) }

// T returns the text of key in the context's language. Arguments are pairs of
// placeholder name and value.
func T(ctx context.Context, key Key, args ...any) string { return In(ctx).T(key, args...) }

// Has tells whether key stands in the catalogs, as it is or as a plural.
func Has(key Key) bool {
	c := catalogs[JA]
	if _, ok := c.texts[string(key)]; ok {
		return true
	}
	_, ok := c.texts[string(key)+".other"]
	return ok
}

// Lang returns the language of the catalog: "ja" or "en".
func (c *Catalog) Lang() string { return c.lang }

// Keys returns all keys of the catalog, sorted.
func (c *Catalog) Keys() []string {
	keys := make([]string, 0, len(c.texts))
	for k := range c.texts {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// Raw returns the text of a key with its placeholders, for tests.
func (c *Catalog) Raw(key string) string { return c.texts[key] }

// T returns the text of key with its placeholders filled. An unknown key comes
// back in double square brackets, so that a page still stands; the tests of
// this package keep that from happening.
func (c *Catalog) T(key Key, args ...any) string {
	text, ok := c.texts[string(key)]
	if !ok {
		form := "other"
		if c.lang == EN && count(args) == 1 {
			form = "one"
		}
		text, ok = c.texts[string(key)+"."+form]
	}
	if !ok {
		return "[[" + string(key) + "]]"
	}
	if len(args) < 2 {
		return text
	}
	pairs := make([]string, 0, len(args))
	for i := 0; i+1 < len(args); i += 2 {
		pairs = append(pairs, "{"+fmt.Sprint(args[i])+"}", c.value(args[i+1]))
	}
	// One pass: what a person typed is never itself searched for placeholders.
	return strings.NewReplacer(pairs...).Replace(text)
}

func (c *Catalog) value(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case int:
		return c.Number(v)
	case Message:
		return c.T(v.Key, v.Args...)
	default:
		return fmt.Sprint(v)
	}
}

func count(args []any) int {
	for i := 0; i+1 < len(args); i += 2 {
		if args[i] == "n" {
			if n, ok := args[i+1].(int); ok {
				return n
			}
		}
	}
	return -1
}

// Number writes a whole number with separators: 1,234.
func (c *Catalog) Number(n int) string {
	s := strconv.Itoa(n)
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// Message is a text that is not yet in a language: a key and its arguments.
// Forms and flashes keep messages, which are translated when a page is made.
type Message struct {
	Key  Key
	Args []any
}

// Msg makes a [Message].
func Msg(key Key, args ...any) Message { return Message{Key: key, Args: args} }

// In returns the message in the context's language; nothing for the zero
// Message.
func (m Message) In(ctx context.Context) string {
	if m.Key == "" {
		return ""
	}
	return T(ctx, m.Key, m.Args...)
}

// Match returns the best language for an Accept-Language header, or "" if it
// names none that Holdfast speaks: the caller then takes the tenant's.
func Match(acceptLanguage string) string {
	best, bestQ := "", 0.0
	for part := range strings.SplitSeq(acceptLanguage, ",") {
		tag, params, _ := strings.Cut(part, ";")
		tag = strings.ToLower(strings.TrimSpace(tag))
		q := 1.0
		if _, v, ok := strings.Cut(params, "q="); ok {
			parsed, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
			if err != nil {
				continue
			}
			q = parsed
		}
		primary, _, _ := strings.Cut(tag, "-")
		if Known(primary) && q > bestQ {
			best, bestQ = primary, q
		}
	}
	return best
}
