package views

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/a-h/templ"
	"golang.org/x/net/html"

	"holdfast/static"
	"holdfast/views/i18n"
)

// --- a small reader of pages

func parse(t testing.TB, page string) *html.Node {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func all(doc *html.Node, want func(*html.Node) bool) []*html.Node {
	var out []*html.Node
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && want(n) {
			out = append(out, n)
		}
	}
	return out
}

func tag(names ...string) func(*html.Node) bool {
	return func(n *html.Node) bool {
		for _, name := range names {
			if n.Data == name {
				return true
			}
		}
		return false
	}
}

func has(name, value string) func(*html.Node) bool {
	return func(n *html.Node) bool {
		v, ok := attribute(n, name)
		return ok && (value == "*" || v == value)
	}
}

func attribute(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func one(t testing.TB, doc *html.Node, what string, want func(*html.Node) bool) *html.Node {
	t.Helper()
	found := all(doc, want)
	if len(found) != 1 {
		t.Fatalf("%s: found %d, want 1", what, len(found))
	}
	return found[0]
}

func eachStory(t *testing.T, check func(t *testing.T, name string, doc *html.Node, lang string)) {
	t.Helper()
	for _, s := range stories() {
		for _, lang := range i18n.Languages {
			t.Run(s.name+"."+lang, func(t *testing.T) {
				t.Parallel()
				check(t, s.name, parse(t, render(t, lang, s.make(newBench(t, lang)))), lang)
			})
		}
	}
}

// --- what holds for every page

func TestEveryPageIsWellBuilt(t *testing.T) {
	t.Parallel()
	eachStory(t, func(t *testing.T, _ string, doc *html.Node, lang string) {
		if got, _ := attribute(one(t, doc, "html", tag("html")), "lang"); got != lang {
			t.Errorf("the page says it is in %q", got)
		}
		main := one(t, doc, "main", has("id", "main"))
		if got, _ := attribute(main, "data-lang"); got != lang {
			t.Errorf("#main says it is in %q", got)
		}
		if h := one(t, doc, "h1", tag("h1")); textOf(h) == "" {
			t.Error("the heading is empty")
		}
		if textOf(one(t, doc, "title", tag("title"))) == "" {
			t.Error("the title is empty")
		}
		ids := make(map[string]bool)
		for _, n := range all(doc, has("id", "*")) {
			id, _ := attribute(n, "id")
			if ids[id] {
				t.Errorf("the id %q stands twice", id)
			}
			ids[id] = true
		}
		for _, name := range []string{"aria-describedby", "aria-labelledby", "for"} {
			for _, n := range all(doc, has(name, "*")) {
				refs, _ := attribute(n, name)
				for ref := range strings.FieldsSeq(refs) {
					if !ids[ref] {
						t.Errorf("%s refers to #%s, which is not there", name, ref)
					}
				}
			}
		}
		if strings.Contains(textOf(doc), "[[") {
			t.Error("a text is missing")
		}
	})
}

func TestNothingOnAPageNeedsWhatThePolicyForbids(t *testing.T) {
	t.Parallel()
	eachStory(t, func(t *testing.T, _ string, doc *html.Node, _ string) {
		for n := range doc.Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			for _, a := range n.Attr {
				if a.Key == "style" || strings.HasPrefix(a.Key, "on") || strings.HasPrefix(a.Key, "hx-on") || strings.Contains(a.Val, "javascript:") || strings.HasPrefix(a.Val, "js:") {
					t.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
				}
			}
			if n.Data == "style" {
				t.Error("a style element")
			}
			if n.Data == "script" {
				if nonce, _ := attribute(n, "nonce"); nonce != "nonce" || n.FirstChild != nil {
					t.Error("a script that is inline or has no nonce")
				}
			}
		}
	})
}

func TestFormsWorkWithoutAScript(t *testing.T) {
	t.Parallel()
	eachStory(t, func(t *testing.T, _ string, doc *html.Node, _ string) {
		for _, form := range all(doc, tag("form")) {
			action, _ := attribute(form, "action")
			if method, _ := attribute(form, "method"); method != "post" || action == "" {
				t.Errorf("a form with method %q and action %q", method, action)
			}
			if len(all(form, has("type", "submit"))) == 0 {
				t.Errorf("the form of %s has no button", action)
			}
			for _, control := range all(form, tag("input", "textarea", "select")) {
				name, _ := attribute(control, "name")
				kind, _ := attribute(control, "type")
				if name == "" {
					t.Errorf("a control of %s has no name", action)
				}
				if kind == "hidden" || kind == "radio" { // a radio stands inside its label
					continue
				}
				id, _ := attribute(control, "id")
				if len(all(doc, has("for", id))) != 1 {
					t.Errorf("the control %s of %s has no label", name, action)
				}
			}
		}
	})
}

func TestAPageHasOneMainAction(t *testing.T) {
	t.Parallel()
	eachStory(t, func(t *testing.T, _ string, doc *html.Node, _ string) {
		loud := all(doc, func(n *html.Node) bool {
			class, _ := attribute(n, "class")
			return strings.Contains(" "+class+" ", " primary ")
		})
		if len(loud) > 1 {
			t.Errorf("%d buttons are primary", len(loud))
		}
	})
}

// --- single pages

func page(t testing.TB, lang string, c templ.Component) *html.Node {
	t.Helper()
	return parse(t, render(t, lang, c))
}

func TestAFieldWithAMistakeSaysSoBesideItAndOnTop(t *testing.T) {
	t.Parallel()
	b := newBench(t, i18n.EN)
	v := b.hold()
	v.Contact = ContactForm{Email: "a@", NeedEmail: true, Errs: Errors{FieldEmail: "Check the address."}}
	doc := page(t, i18n.EN, Hold(v))
	input := one(t, doc, "email", has("name", FieldEmail))
	described, _ := attribute(input, "aria-describedby")
	if !strings.Contains(described, "email-error") {
		t.Errorf("the field is described by %q", described)
	}
	if invalid, _ := attribute(input, "aria-invalid"); invalid != "true" {
		t.Error("the field is not marked invalid")
	}
	if value, _ := attribute(input, "value"); value != "a@" {
		t.Errorf("what was typed became %q", value)
	}
	if got := textOf(one(t, doc, "error", has("data-error", FieldEmail))); got != "Check the address." {
		t.Errorf("beside the field: %q", got)
	}
	summary := one(t, doc, "summary", has("id", "error-summary"))
	if !strings.Contains(textOf(summary), "Check the address.") || len(all(summary, has("href", "#email"))) != 1 {
		t.Errorf("the summary says %q", textOf(summary))
	}
}

func TestTheHooksStandInThePages(t *testing.T) {
	t.Parallel()
	b := newBench(t, i18n.JA)
	hold := page(t, i18n.JA, Hold(b.hold()))
	clock := one(t, hold, "countdown", has("data-seconds-left", "252"))
	if at, _ := attribute(clock, "data-shown-until"); at != "2026-10-06T14:35:00+09:00" {
		t.Errorf("shown until %q", at)
	}
	one(t, hold, "state", has("data-state", "held"))
	one(t, page(t, i18n.JA, Booked(b.booked())), "state", has("data-state", "confirmed"))
	one(t, page(t, i18n.JA, Entry(b.entry(EntryWaiting))), "place", has("data-place", "3"))
	venue := page(t, i18n.JA, Venue(b.venue(1)))
	few := one(t, venue, "slot", func(n *html.Node) bool { return has("data-slot", "82")(n) })
	if state, _ := attribute(few, "data-state"); state != "few" {
		t.Errorf("state %q", state)
	}
	if left, _ := attribute(few, "data-seats-left"); left != "2" {
		t.Errorf("seats left %q", left)
	}
	if got := textOf(few); !strings.Contains(got, "△") || !strings.Contains(got, "残り2席") {
		t.Errorf("the mark says %q", got)
	}
}

func TestTheHoldFormCarriesWhatTheProtocolNeeds(t *testing.T) {
	t.Parallel()
	b := newBench(t, i18n.JA)
	v := b.slotPage()
	doc := page(t, i18n.JA, Slot(v))
	one(t, doc, "key", has("name", FieldIdempotencyKey))
	one(t, doc, "terms", has("name", FieldTermsVersion))
	if len(all(doc, has("name", FieldVersion))) != 0 {
		t.Error("a version that nobody asked for")
	}
	v.Hold.Version = "7"
	one(t, page(t, i18n.JA, Slot(v)), "version", has("name", FieldVersion))
}

func TestWhatWasTypedIsCarriedIntoANewHold(t *testing.T) {
	t.Parallel()
	b := newBench(t, i18n.JA)
	doc := page(t, i18n.JA, Ended(b.ended(EndedExpired)))
	form := one(t, doc, "form", has("data-carry", "*"))
	for _, name := range []string{FieldName, FieldKana, FieldEmail, FieldPhone, FieldNote, FieldPartySize, FieldIdempotencyKey, FieldTermsVersion} {
		one(t, form, name, has("name", name))
	}
}

func TestWhatPeopleTypeIsTextEverywhere(t *testing.T) {
	t.Parallel()
	const nasty = `"><img src=x onerror=alert(1)><script>alert(2)</script>`
	b := newBench(t, i18n.JA)
	contact := ContactForm{Name: nasty, Kana: nasty, Email: nasty, Phone: nasty, Note: nasty, Errs: Errors{FieldName: nasty, "": nasty}}
	hold := b.hold()
	hold.Contact, hold.CancelRule = contact, nasty
	booked := b.booked()
	booked.Name, booked.MailTo, booked.Number, booked.Slot.Service, booked.Slot.When.Time = nasty, nasty, nasty, nasty, nasty
	booked.Page.Tenant = Tenant{Name: nasty, Slug: nasty, URL: "javascript:alert(1)", Phone: nasty, Email: nasty, Address: nasty, MapURL: "javascript:alert(1)", PrivacyURL: "javascript:alert(1)", LegalURL: "javascript:alert(1)"}
	booked.Page.Flash = &Flash{FlashDone, nasty}
	booked.Page.Return = nasty
	ended := b.ended(EndedExpired)
	ended.Reason, ended.Again.Typed = nasty, contact
	full := b.slotPage()
	full.Hold, full.Join = nil, b.joinForm()
	full.Join.Contact, full.Join.MailFrom, full.Banner = contact, nasty, &Banner{Title: nasty, Text: nasty, Code: nasty, Links: []Link{{nasty, nasty}}}
	for _, c := range []templ.Component{
		Hold(hold), Booked(booked), Ended(ended), Slot(full),
		Find(FindPage{Page: b.page(), Email: nasty, Errs: Errors{FieldEmail: nasty}}),
		Error(ErrorPage{Page: b.page(), Kind: ErrorBusy, Text: nasty, Retry: nasty}),
	} {
		doc := page(t, i18n.JA, c)
		for _, n := range all(doc, tag("img", "script")) {
			if n.Data == "img" || n.FirstChild != nil {
				t.Errorf("a <%s> came out of a text", n.Data)
			}
		}
		for _, n := range all(doc, has("href", "*")) {
			if href, _ := attribute(n, "href"); strings.HasPrefix(strings.TrimSpace(href), "javascript:") && !strings.Contains(href, "nasty") {
				t.Errorf("a link leads to %q", href)
			}
		}
	}
}

func TestAPageOfNoVenueHasNoVenue(t *testing.T) {
	t.Parallel()
	for _, lang := range i18n.Languages {
		doc := page(t, lang, Error(ErrorPage{Kind: ErrorInternal}))
		if len(all(doc, tag("address", "form"))) != 0 {
			t.Error("the prebuilt page knows a venue")
		}
	}
}

func TestDatesDoNotBreakInsideASentence(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"2026年10月7日（水）18:30", "10月8日（木）", "18:30〜19:30", "Wed 7 Oct 2026, 18:30", "Thu 8 Oct, 18:30–19:30"} {
		got := runs("a " + text + " b")
		if len(got) != 3 || !got[1].whole || got[1].text != text {
			t.Errorf("%q becomes %+v", text, got)
		}
	}
	for written, want := range map[string]string{
		"18:30〜19:30":              "18:30〜19:30",
		"22:30〜24:00":              "22:30〜24:00",
		"22:30–00:00 (next day)":   "22:30–00:00|(next day)",
		"22:00 – Fri 9 Oct, 01:00": "22:00 –|Fri 9 Oct, 01:00",
		"22:00〜10月9日（金）01:00":      "22:00〜|10月9日（金）01:00",
	} {
		if got := strings.Join(pieces(written), "|"); got != want {
			t.Errorf("%q becomes %q", written, got)
		}
	}
}

// --- the sources of the pages

func TestNoTextStandsInATemplate(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.templ")
	if err != nil || len(files) == 0 {
		t.Fatal("no templates found", err)
	}
	comment := regexp.MustCompile(`(?m)^\s*//.*$`)
	between := regexp.MustCompile(`>([^<>{}]*[A-Za-z]{2}[^<>{}]*)<`)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		source := comment.ReplaceAllString(string(raw), "")
		for line := range strings.SplitSeq(source, "\n") {
			for _, r := range line {
				if unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Han) {
					t.Errorf("%s: Japanese text: %s", file, strings.TrimSpace(line))
					break
				}
			}
			if m := between.FindStringSubmatch(line); m != nil {
				t.Errorf("%s: English text: %s", file, m[1])
			}
		}
	}
}

func TestScriptsStylesAndAPageAreLight(t *testing.T) {
	t.Parallel()
	b := newBench(t, i18n.JA)
	total := static.Size("app.css") + static.Size("app.js") + static.Size("htmx.min.js") + packed(t, render(t, i18n.JA, Venue(b.venue(7))))
	if total > 60_000 {
		t.Errorf("a page costs %d bytes", total)
	}
	t.Logf("a venue page with a week of slots costs %d bytes, all told", total)
}
