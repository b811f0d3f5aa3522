package i18n

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// base is a key without its plural form.
func base(key string) string {
	key = strings.TrimSuffix(key, ".one")
	return strings.TrimSuffix(key, ".other")
}

func bases(c *Catalog) []string {
	var out []string
	for _, k := range c.Keys() {
		out = append(out, base(k))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

var placeholder = regexp.MustCompile(`\{[a-z_]+\}`)

func placeholders(c *Catalog, key string) []string {
	text := c.Raw(key)
	if text == "" {
		text = c.Raw(key + ".other")
	}
	found := placeholder.FindAllString(text, -1)
	slices.Sort(found)
	return slices.Compact(found)
}

func TestBothLanguagesSayTheSameThings(t *testing.T) {
	t.Parallel()
	ja, en := bases(For(JA)), bases(For(EN))
	for _, k := range ja {
		if !slices.Contains(en, k) {
			t.Errorf("%s is only there in Japanese", k)
		}
	}
	for _, k := range en {
		if !slices.Contains(ja, k) {
			t.Errorf("%s is only there in English", k)
		}
	}
	for _, k := range ja {
		a, b := placeholders(For(JA), k), placeholders(For(EN), k)
		if !slices.Equal(a, b) {
			t.Errorf("%s has the placeholders %v in Japanese, %v in English", k, a, b)
		}
	}
}

func TestPluralsAreWhole(t *testing.T) {
	t.Parallel()
	for _, lang := range Languages {
		c := For(lang)
		for _, k := range c.Keys() {
			if strings.HasSuffix(k, ".one") {
				if lang == JA {
					t.Errorf("%s: Japanese has no such form", k)
				}
				if c.Raw(base(k)+".other") == "" {
					t.Errorf("%s: %s has no form for many", lang, base(k))
				}
			}
			if strings.HasSuffix(k, ".other") && lang == EN && c.Raw(base(k)+".one") == "" {
				t.Errorf("%s has no form for one", base(k))
			}
			if c.Raw(base(k)) != "" && base(k) != k {
				t.Errorf("%s: %s stands with and without a plural", lang, base(k))
			}
			if c.Raw(k) == "" && k != "booked.name.after" {
				t.Errorf("%s: %s is empty", lang, k)
			}
		}
	}
}

var kana = regexp.MustCompile(`[\p{Hiragana}\p{Katakana}\p{Han}]`)

func TestNoLanguageSpeaksTheOther(t *testing.T) {
	t.Parallel()
	for _, k := range For(EN).Keys() {
		if kana.MatchString(For(EN).Raw(k)) {
			t.Errorf("%s is Japanese in English", k)
		}
	}
	for _, k := range For(JA).Keys() {
		text := placeholder.ReplaceAllString(For(JA).Raw(k), "")
		if regexp.MustCompile(`[A-Za-z]{4,}`).MatchString(text) && !kana.MatchString(text) && k != "chrome.product" {
			t.Errorf("%s is English in Japanese: %s", k, text)
		}
	}
}

// sources reads every program text of the project that may name a key.
func sources(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, room := range []string{"../../views", "../../web", "../../cmd"} {
		err := filepath.WalkDir(room, func(path string, d os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() || strings.HasSuffix(path, "_templ.go") || strings.HasSuffix(path, "_test.go") || (!strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, ".templ")) {
				return nil
			}
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			all.Write(raw)
			return nil
		})
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	return all.String()
}

var (
	// A key that is asked for: T(ctx, "key"), .T("key"), Msg("key"), Key("key").
	asked = regexp.MustCompile(`(?:\bT\(ctx, |\.T\(|\bT\(|\bMsg\(|\bKey\()"([a-z0-9_.]+)"\s*([+,)])`)
	// A key, or the beginning of keys, anywhere as a literal.
	literal  = regexp.MustCompile(`"([a-z0-9_]+(?:[.:][a-z0-9_]+)*)"`)
	beginner = regexp.MustCompile(`"([a-z0-9_.]+\.)"\s*\+`)
)

func TestEveryKeyThatIsAskedForIsThere(t *testing.T) {
	t.Parallel()
	for _, m := range asked.FindAllStringSubmatch(sources(t), -1) {
		if m[2] == "+" {
			prefix := m[1]
			if !slices.ContainsFunc(bases(For(JA)), func(k string) bool { return strings.HasPrefix(k, prefix) }) {
				t.Errorf("no key begins with %s", prefix)
			}
			continue
		}
		if !Has(Key(m[1])) {
			t.Errorf("the key %s is asked for, and is not there", m[1])
		}
	}
}

func TestEveryKeyIsUsed(t *testing.T) {
	t.Parallel()
	text := sources(t)
	used := make(map[string]bool)
	for _, m := range literal.FindAllStringSubmatch(text, -1) {
		used[m[1]] = true
	}
	var prefixes []string
	for _, m := range beginner.FindAllStringSubmatch(text, -1) {
		prefixes = append(prefixes, m[1])
	}
	for _, k := range bases(For(JA)) {
		if !used[k] && !slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(k, p) }) {
			t.Errorf("nobody uses %s", k)
		}
	}
}

func TestACountChoosesTheForm(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0 people", 1: "1 person", 2: "2 people", 21: "21 people", 1200: "1,200 people"} {
		if got := For(EN).T("party", "n", n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
	if got := For(JA).T("party", "n", 1); got != "1名" {
		t.Errorf("one is %q", got)
	}
}

func TestWhatAPersonTypedIsNotAPlaceholder(t *testing.T) {
	t.Parallel()
	got := For(EN).T("join.mail", "address", "{address}{n}")
	if want := "Our mail comes from {address}{n}."; got != want {
		t.Errorf("got %q", got)
	}
}

func TestAMissingKeyIsSeenAndNothingBreaks(t *testing.T) {
	t.Parallel()
	if got := For(EN).T(Key("no.such." + "key")); got != "[[no.such.key]]" {
		t.Errorf("got %q", got)
	}
}

func TestAKeyThatStandsTwiceIsRefused(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]string{
		"twice in one file": `{"a":"1","a":"2"}`,
		"twice in two":      `{"b":"2"}`,
		"no object":         `["a"]`,
		"no text":           `{"a":1}`,
		"cut off":           `{"a":"1"`,
	} {
		c := &Catalog{lang: EN, texts: map[string]string{"b": "1"}}
		if err := c.merge("x.json", []byte(raw)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestLanguageOfAContext(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	if Lang(ctx) != JA || Lang(WithLang(ctx, "en")) != EN || Lang(WithLang(ctx, "fr")) != JA {
		t.Error("the language of a context is wrong")
	}
	if got := Msg("party", "n", 2).In(WithLang(ctx, EN)); got != "2 people" {
		t.Errorf("a message says %q", got)
	}
	if got := (Message{}).In(ctx); got != "" {
		t.Errorf("no message says %q", got)
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"":                            "",
		"ja":                          JA,
		"ja-JP,en;q=0.8":              JA,
		"en-GB, ja;q=0.9":             EN,
		"fr, de;q=0.9":                "",
		"fr, en;q=0.3, ja;q=0.4":      JA,
		"en;q=0, ja;q=0.1":            JA,
		"en;q=nonsense,ja;q=0.1":      JA,
		"zh-Hans,JA-jp;q=0.5,*;q=0.1": JA,
	} {
		if got := Match(header); got != want {
			t.Errorf("%q gives %q, want %q", header, got, want)
		}
	}
}
