package calendar

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"
	"unicode/utf8"

	ics "github.com/arran4/golang-ical"
	"github.com/google/go-cmp/cmp"

	"holdfast/views/i18n"
)

var update = flag.Bool("update", false, "accept the calendars as they are now")

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

// component is a part of a calendar as the strict reader below understands it.
type component struct {
	name  string
	props []property
	parts []component
}

type property struct {
	name   string
	params map[string]string
	value  string // as it stands in the file
}

func (c component) all(name string) []property {
	var found []property
	for _, p := range c.props {
		if p.name == name {
			found = append(found, p)
		}
	}
	return found
}

func (c component) get(name string) property {
	for _, p := range c.props {
		if p.name == name {
			return p
		}
	}
	return property{}
}

// parse reads a calendar by the letter of RFC 5545 and takes nothing else.
func parse(file string) (component, error) {
	if !utf8.ValidString(file) {
		return component{}, fmt.Errorf("not UTF-8")
	}
	if !strings.HasSuffix(file, "\r\n") {
		return component{}, fmt.Errorf("the last line has no end")
	}
	var lines []string
	for i, line := range strings.Split(strings.TrimSuffix(file, "\r\n"), "\r\n") {
		if len(line) > 75 {
			return component{}, fmt.Errorf("line %d has %d bytes", i+1, len(line))
		}
		if line == "" || !utf8.ValidString(line) {
			return component{}, fmt.Errorf("line %d is empty or cuts a character", i+1)
		}
		for _, r := range line {
			if r < ' ' && r != '\t' || r == 127 {
				return component{}, fmt.Errorf("line %d has the control character %U", i+1, r)
			}
		}
		if rest, folded := strings.CutPrefix(line, " "); folded {
			if len(lines) == 0 || rest == "" {
				return component{}, fmt.Errorf("line %d goes on with nothing", i+1)
			}
			lines[len(lines)-1] += rest
			continue
		}
		lines = append(lines, line)
	}
	root := component{}
	stack := []*component{&root}
	for _, line := range lines {
		p, err := parseLine(line)
		if err != nil {
			return component{}, fmt.Errorf("%q: %w", line, err)
		}
		top := stack[len(stack)-1]
		switch p.name {
		case "BEGIN":
			stack = append(stack, &component{name: p.value})
		case "END":
			if top.name != p.value || len(stack) == 1 {
				return component{}, fmt.Errorf("%s ends %s", p.value, top.name)
			}
			stack = stack[:len(stack)-1]
			above := stack[len(stack)-1]
			above.parts = append(above.parts, *top)
		default:
			if len(stack) == 1 {
				return component{}, fmt.Errorf("%s stands outside", p.name)
			}
			top.props = append(top.props, p)
		}
	}
	if len(stack) != 1 || len(root.parts) != 1 || root.parts[0].name != "VCALENDAR" {
		return component{}, fmt.Errorf("not one whole calendar")
	}
	cal := root.parts[0]
	return cal, check(cal)
}

func parseLine(line string) (property, error) {
	i := strings.IndexFunc(line, func(r rune) bool {
		return !(r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-')
	})
	if i < 1 {
		return property{}, fmt.Errorf("no name")
	}
	p := property{name: line[:i], params: map[string]string{}}
	rest := line[i:]
	for strings.HasPrefix(rest, ";") {
		name, after, found := strings.Cut(rest[1:], "=")
		if !found || name == "" || strings.ToUpper(name) != name {
			return property{}, fmt.Errorf("a parameter without a value")
		}
		value := ""
		if quoted, is := strings.CutPrefix(after, `"`); is {
			if value, rest, found = strings.Cut(quoted, `"`); !found {
				return property{}, fmt.Errorf("a quote stays open")
			}
		} else {
			end := strings.IndexAny(after, `:;,"`)
			if end < 0 || after[end] == '"' || after[end] == ',' {
				return property{}, fmt.Errorf("the value of %s needs quotes", name)
			}
			value, rest = after[:end], after[end:]
		}
		if _, twice := p.params[name]; twice {
			return property{}, fmt.Errorf("%s stands twice", name)
		}
		p.params[name] = strings.NewReplacer("^^", "^", "^'", `"`, "^n", "\n").Replace(value)
	}
	value, found := strings.CutPrefix(rest, ":")
	if !found {
		return property{}, fmt.Errorf("no value")
	}
	p.value = value
	return p, nil
}

// unescape reads a TEXT; a sign that should have been escaped is an error.
func unescape(value string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		switch c := value[i]; c {
		case '\\':
			if i++; i == len(value) {
				return "", fmt.Errorf("it ends in the middle of an escape")
			}
			switch value[i] {
			case '\\', ';', ',':
				b.WriteByte(value[i])
			case 'n', 'N':
				b.WriteByte('\n')
			default:
				return "", fmt.Errorf("unknown escape \\%c", value[i])
			}
		case ';', ',':
			return "", fmt.Errorf("%c is not escaped", c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), nil
}

// check holds what RFC 5545 and 5546 demand of a calendar of events.
func check(cal component) error {
	once := func(c component, names ...string) error {
		for _, name := range names {
			if n := len(c.all(name)); n != 1 {
				return fmt.Errorf("%s has %d times %s", c.name, n, name)
			}
		}
		return nil
	}
	if err := once(cal, "VERSION", "PRODID"); err != nil {
		return err
	}
	if cal.get("VERSION").value != "2.0" {
		return fmt.Errorf("version %s", cal.get("VERSION").value)
	}
	zones, uids := map[string]bool{}, map[string]bool{}
	method := cal.get("METHOD").value
	for _, part := range cal.parts {
		switch part.name {
		case "VTIMEZONE":
			if err := once(part, "TZID"); err != nil {
				return err
			}
			zones[part.get("TZID").value] = true
			if len(part.parts) == 0 {
				return fmt.Errorf("a zone without rules")
			}
			for _, rule := range part.parts {
				if rule.name != "STANDARD" && rule.name != "DAYLIGHT" {
					return fmt.Errorf("a zone with %s", rule.name)
				}
				if err := once(rule, "DTSTART", "TZOFFSETFROM", "TZOFFSETTO"); err != nil {
					return err
				}
				if _, err := time.Parse(local, rule.get("DTSTART").value); err != nil {
					return err
				}
			}
		case "VEVENT":
			if err := once(part, "UID", "DTSTAMP", "DTSTART", "DTEND", "SUMMARY", "SEQUENCE", "STATUS", "TRANSP"); err != nil {
				return err
			}
			if uids[part.get("UID").value] {
				return fmt.Errorf("%s stands twice", part.get("UID").value)
			}
			uids[part.get("UID").value] = true
			for _, p := range part.props {
				if slices.Contains([]string{"SUMMARY", "LOCATION", "DESCRIPTION", "UID"}, p.name) {
					if _, err := unescape(p.value); err != nil {
						return fmt.Errorf("%s: %w", p.name, err)
					}
				}
				if slices.Contains([]string{"URL", "LOCATION", "DESCRIPTION", "ORGANIZER", "LAST-MODIFIED"}, p.name) && len(part.all(p.name)) > 1 {
					return fmt.Errorf("%s more than once", p.name)
				}
			}
			for _, name := range []string{"DTSTART", "DTEND"} {
				p := part.get(name)
				if id, zoned := p.params["TZID"]; zoned {
					if !zones[id] {
						return fmt.Errorf("the zone %s has no rules", id)
					}
					if _, err := time.Parse(local, p.value); err != nil {
						return err
					}
				} else if _, err := time.Parse(local+"Z", p.value); err != nil {
					return err
				}
			}
			if _, err := strconv.Atoi(part.get("SEQUENCE").value); err != nil {
				return err
			}
			organizers, attendees := len(part.all("ORGANIZER")), len(part.all("ATTENDEE"))
			switch method {
			case "":
			case "PUBLISH":
				if organizers != 1 || attendees != 0 {
					return fmt.Errorf("published with %d organizers and %d attendees", organizers, attendees)
				}
			case "REQUEST", "CANCEL":
				if organizers != 1 || attendees != 1 {
					return fmt.Errorf("%s with %d organizers and %d attendees", method, organizers, attendees)
				}
				if (method == "CANCEL") != (part.get("STATUS").value == "CANCELLED") {
					return fmt.Errorf("%s of what is %s", method, part.get("STATUS").value)
				}
			default:
				return fmt.Errorf("unknown method %s", method)
			}
			for _, p := range append(part.all("ORGANIZER"), part.all("ATTENDEE")...) {
				if !strings.HasPrefix(p.value, "mailto:") || strings.ContainsAny(p.value, " \"<>") {
					return fmt.Errorf("%s is %s", p.name, p.value)
				}
			}
		default:
			return fmt.Errorf("%s in a calendar", part.name)
		}
	}
	if (method == "REQUEST" || method == "CANCEL") && len(uids) != 1 {
		return fmt.Errorf("%s of %d bookings", method, len(uids))
	}
	return nil
}

// instant reads a time with the rules that stand in the file, and only them.
func instant(t *testing.T, cal component, p property) time.Time {
	t.Helper()
	id, zoned := p.params["TZID"]
	if !zoned {
		at, err := time.Parse(local+"Z", p.value)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	clock, err := time.Parse(local, p.value)
	if err != nil {
		t.Fatal(err)
	}
	seconds := func(text string) int {
		n, err := strconv.Atoi(text[1:3] + "")
		m, err2 := strconv.Atoi(text[3:5])
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		n = n*3600 + m*60
		if text[0] == '-' {
			n = -n
		}
		return n
	}
	for _, z := range cal.parts {
		if z.name != "VTIMEZONE" || z.get("TZID").value != id {
			continue
		}
		best, to := time.Time{}, 0
		for _, rule := range z.parts {
			begins, err := time.Parse(local, rule.get("DTSTART").value)
			if err != nil {
				t.Fatal(err)
			}
			if !begins.After(clock) && !begins.Before(best) {
				best, to = begins, seconds(rule.get("TZOFFSETTO").value)
			}
		}
		if best.IsZero() {
			t.Fatalf("no rule of %s applies at %s", id, p.value)
		}
		return clock.Add(-time.Duration(to) * time.Second)
	}
	t.Fatalf("no zone %s", id)
	return time.Time{}
}

func sample(t testing.TB, lang string) Calendar {
	loc := zone(t, "Asia/Tokyo")
	start := time.Date(2026, 10, 8, 18, 30, 0, 0, loc)
	b := Booking{
		ID: "11111111-2222-4333-8444-555555555555", Number: "K7P2M4X", Sequence: 2, Stamp: time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC), Start: start, End: start.Add(time.Hour),
		Service: `日本語講座：入門 🎌 & "Q"/A; B, C\D`, Venue: "スタジオ みなも", Where: "東京都港区1-2-3, ビル; 2階", Link: "https://holdfast.example/minamo/reservations/token",
	}
	c := Calendar{Method: Request, Lang: lang, Zone: loc, Organizer: Person{`スタジオ; "みなも", 本店: A`, "hello@minamo.example"}, Events: []Event{b.Event(lang)}}
	c.Events[0].Attendee = Person{`髙橋 𠮷郎 👩‍👩‍👧 "Q"; <Z>, ^`, "guest+1@example.com"}
	return c
}

func TestACalendarIsReadBackAsItWasMeant(t *testing.T) {
	t.Parallel()
	for _, lang := range i18n.Languages {
		for _, method := range []Method{NoMethod, Request, Cancel, Publish} {
			c := sample(t, lang)
			c.Method = method
			file := c.String()
			golden(t, fmt.Sprintf("%s.%s.golden", strings.ToLower(string(method)+"file"), lang), file)
			cal, err := parse(file)
			if err != nil {
				t.Fatalf("%v in\n%s", err, file)
			}
			event := cal.parts[1]
			e := c.Events[0]
			for name, want := range map[string]string{"SUMMARY": e.Summary, "LOCATION": e.Location, "DESCRIPTION": e.Notes, "UID": e.UID} {
				if got, err := unescape(event.get(name).value); err != nil || got != want {
					t.Errorf("%s is %q (%v), want %q", name, got, err, want)
				}
			}
			if start := event.get("DTSTART"); start.params["TZID"] != "Asia/Tokyo" || !instant(t, cal, start).Equal(e.Start) || !instant(t, cal, event.get("DTEND")).Equal(e.End) {
				t.Errorf("from %v", start)
			}
			if method == Request || method == Cancel {
				if got := event.get("ATTENDEE"); got.params["CN"] != e.Attendee.Name || got.value != "mailto:guest+1@example.com" || got.params["PARTSTAT"] != "ACCEPTED" {
					t.Errorf("invited %v", got)
				}
				if got := event.get("ORGANIZER"); got.params["CN"] != c.Organizer.Name {
					t.Errorf("invited by %v", got)
				}
			}
			// Another reader, which is used by others, understands it too.
			read, err := ics.ParseCalendar(strings.NewReader(file))
			if err != nil || len(read.Events()) != 1 {
				t.Fatalf("%v", err)
			}
			if at, err := read.Events()[0].GetStartAt(); err != nil || !at.Equal(e.Start) {
				t.Errorf("read as %v %v", at, err)
			}
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (accept new calendars with -update)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s has changed (-was +is):\n%s", name, diff)
	}
}

// The rules in the file alone give the right instant, on both sides of every change.
func TestTheRulesOfTheZoneMatchAroundTheDate(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"Asia/Tokyo", "America/New_York", "Europe/London", "Europe/Dublin", "Australia/Lord_Howe", "Asia/Kathmandu", "America/St_Johns", "Africa/Casablanca", "Asia/Kolkata", "Pacific/Apia", "UTC",
	} {
		loc := zone(t, name)
		for day := time.Date(2026, 12, 20, 9, 45, 0, 0, time.UTC); day.Year() < 2029; day = day.Add(67 * time.Hour) {
			c := Calendar{Zone: loc, Events: []Event{{UID: "a", Summary: "s", Stamp: day, Start: day, End: day.Add(90 * time.Minute)}}}
			hold(t, name, c)
		}
		// Minute by minute around the changes of two years.
		at := time.Date(2027, 1, 1, 0, 0, 0, 0, loc)
		for range 4 {
			_, change := at.ZoneBounds()
			if change.IsZero() {
				break
			}
			for minute := -130; minute < 130; minute += 10 {
				start := change.Add(time.Duration(minute) * time.Minute)
				hold(t, name, Calendar{Zone: loc, Events: []Event{{UID: "a", Summary: "s", Stamp: start, Start: start, End: start.Add(time.Hour)}}})
			}
			at = change.In(loc)
		}
	}
	// A feed over a year has all of them.
	loc := zone(t, "America/New_York")
	var events []Event
	for day := range 400 {
		start := time.Date(2027, 1, 1+day, 10, 0, 0, 0, loc)
		events = append(events, Event{UID: fmt.Sprint(day), Summary: "s", Stamp: start, Start: start, End: start.Add(time.Hour)})
	}
	hold(t, "a feed", Calendar{Zone: loc, Name: "Slots", Refresh: time.Hour, Events: events})
}

func hold(t *testing.T, name string, c Calendar) {
	t.Helper()
	cal, err := parse(c.String())
	if err != nil {
		t.Fatalf("%s: %v in\n%s", name, err, c.String())
	}
	i := 0
	for _, part := range cal.parts {
		if part.name != "VEVENT" {
			continue
		}
		e := c.Events[i]
		i++
		if start, end := instant(t, cal, part.get("DTSTART")), instant(t, cal, part.get("DTEND")); !start.Equal(e.Start) || !end.Equal(e.End) {
			t.Fatalf("%s: %v to %v is read as %v to %v from\n%s", name, e.Start, e.End, start, end, c.String())
		}
	}
	if i != len(c.Events) {
		t.Errorf("%s: %d of %d events", name, i, len(c.Events))
	}
}

func TestNothingThatWasTypedBreaksACalendar(t *testing.T) {
	t.Parallel()
	for _, typed := range []string{
		"", " ", "a\r\nMETHOD:CANCEL", "a\nb\rc\x00d\x07e", "\u2028x", strings.Repeat("髙", 200), strings.Repeat("👩‍👩‍👧", 60), "\xff\xfe", `a\b;c,d"e^f:g`, "END:VEVENT", strings.Repeat("x", 1000), "محمد O’Neil",
	} {
		c := sample(t, i18n.JA)
		c.Name, c.Organizer.Name = typed, typed
		c.Events[0].Summary, c.Events[0].Location, c.Events[0].Notes, c.Events[0].Link, c.Events[0].Attendee.Name = typed, typed, typed, "https://x.example/"+typed, typed
		c.Events[0].UID = "u" + typed
		cal, err := parse(c.String())
		if err != nil {
			t.Errorf("%q: %v in\n%s", typed, err, c.String())
			continue
		}
		if len(cal.parts) != 2 || cal.get("METHOD").value != "REQUEST" || len(cal.all("METHOD")) != 1 {
			t.Errorf("%q became more than a text", typed)
		}
	}
	for address, want := range map[string]string{`"a..b"@docomo.ne.jp`: "mailto:%22a..b%22@docomo.ne.jp", "a b\r\n@x.example": "mailto:a%20b%0D%0A@x.example", "a+b@x.example": "mailto:a+b@x.example"} {
		if got := mailto(address); got != want {
			t.Errorf("%q is %s", address, got)
		}
	}
}

func TestTheStrictReaderRefusesWhatIsWrong(t *testing.T) {
	t.Parallel()
	good := sample(t, i18n.EN).String()
	if _, err := parse(good); err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{
		"bare line feeds":       strings.ReplaceAll(good, "\r\n", "\n"),
		"no end":                strings.TrimSuffix(good, "\r\n"),
		"a long line":           strings.Replace(good, "SEQUENCE:2", "SEQUENCE:2\r\nX-A:"+strings.Repeat("x", 80), 1),
		"no zone":               strings.Replace(good, "TZID:Asia/Tokyo", "TZID:Asia/Seoul", 1),
		"no organizer":          strings.Replace(good, "ORGANIZER", "X-ORGANIZER", 1),
		"an open semicolon":     strings.Replace(good, `\;`, ";", 1),
		"two identities":        strings.Replace(good, "SEQUENCE:2", "SEQUENCE:2\r\nUID:b", 1),
		"cancelled and invited": strings.Replace(good, "METHOD:REQUEST", "METHOD:CANCEL", 1),
		"a cut character":       strings.Replace(good, "\xe8", "\xe8\r\n ", 1),
	} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func FuzzACalendarStaysWhole(f *testing.F) {
	f.Add("朝のヨガ", "a@example.com", int64(1_800_000_000))
	f.Add("a;b,c\"d^e\r\nX:y", "\"a b\"@example.com", int64(0))
	loc := zone(f, "America/New_York")
	f.Fuzz(func(t *testing.T, typed, address string, at int64) {
		start := time.Unix(at%4_000_000_000, 0)
		if start.Year() < 1971 || start.Year() > 2090 {
			return
		}
		c := Calendar{Method: Request, Zone: loc, Name: typed, Organizer: Person{typed, "o@example.com"}, Events: []Event{{
			UID: "u", Summary: typed, Location: typed, Notes: typed, Start: start, End: start.Add(time.Hour), Stamp: start, Attendee: Person{typed, "x" + address},
		}}}
		cal, err := parse(c.String())
		if err != nil {
			t.Fatalf("%v in\n%s", err, c.String())
		}
		event := cal.parts[1]
		if !instant(t, cal, event.get("DTSTART")).Equal(start) {
			t.Fatalf("%v is read as %v", start, instant(t, cal, event.get("DTSTART")))
		}
		if names := slices.Sorted(maps.Keys(event.get("ATTENDEE").params)); len(names) < 4 {
			t.Fatalf("invited with %v", names)
		}
	})
}
