package mail

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/google/go-cmp/cmp"

	"holdfast/views/i18n"
)

var update = flag.Bool("update", false, "accept the texts as they are now")

func tokyo(t *testing.T) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

// letter fills everything that any kind speaks of.
func letter(t *testing.T, kind Kind, lang string) Letter {
	loc := tokyo(t)
	text := func(ja, en string) string {
		if lang == i18n.JA {
			return ja
		}
		return en
	}
	slot := Slot{
		Service:  text("朝のヨガ", "Morning yoga"),
		Resource: text("スタジオA", "Studio A"),
		Start:    time.Date(2026, 10, 8, 18, 30, 0, 0, loc),
		End:      time.Date(2026, 10, 8, 19, 30, 0, 0, loc),
		Place:    text("本館2階", "Main building, 2nd floor"),
		Price:    text("2,000円（税込）", "2,000 yen, tax included"),
		Bring:    text("動きやすい服", "Clothes you can move in"),
		Others:   "https://holdfast.example/minamo?service=yoga",
	}
	was := slot
	was.Start, was.End = slot.Start.Add(-24*time.Hour), slot.End.Add(-24*time.Hour)
	was.Resource = text("スタジオB", "Studio B")
	l := Letter{
		Kind: kind, Lang: lang, Zone: loc, Name: text("佐藤 花子", "Hanako Sato"), Slot: slot, Party: 2,
		Venue: Venue{
			Name: text("スタジオ みなも", "Studio Minamo"), Phone: "03-5555-0100", Email: "hello@minamo.example",
			Address: text("東京都港区1-2-3", "1-2-3 Minato-ku, Tokyo"), MapURL: "https://map.example/minamo",
			Link: "https://holdfast.example/minamo", FindLink: "https://holdfast.example/minamo/my-reservations", From: "mail@holdfast.example",
		},
		CancelUntil: slot.Start.Add(-24 * time.Hour),
	}
	switch kind {
	case Confirmed, Reminder:
		l.Number, l.Link = "K7P2M4X", "https://holdfast.example/minamo/reservations/token"
	case Moved, Changed:
		l.Number, l.Link, l.Was = "K7P2M4X", "https://holdfast.example/minamo/reservations/token", &was
	case Cancelled, SlotCancelled:
		l.Number, l.By, l.Reason = "K7P2M4X", ByVenue, text("講師の急病のため", "The teacher is ill")
	case Joined:
		l.Link = "https://holdfast.example/minamo/waitlist/token"
		l.Waitlist = Waitlist{Place: 3, Of: 7, Strict: true, OrderUntil: slot.Start.Add(-3 * time.Hour), Answer: 30 * time.Minute}
	case Offer:
		l.Link, l.Until = "https://holdfast.example/minamo/offers/token", slot.Start.Add(-8*time.Hour)
	case Lapsed:
		l.Link, l.Until = "https://holdfast.example/minamo/waitlist/token", slot.Start.Add(-8*time.Hour)
	case Revoked:
		l.Reason = text("設備の点検のため", "The room is being inspected")
	case Vacancy:
		l.Link = "https://holdfast.example/minamo/waitlist/token"
	case ConfirmEmail:
		l.Link, l.Until = "https://holdfast.example/minamo/email-changes/token", slot.Start.Add(-48*time.Hour)
	case Notice:
		l.Number, l.Link = "K7P2M4X", "https://holdfast.example/minamo/reservations/token"
		l.Subject = text("駐車場が使えません", "No parking that day")
		l.Words = text("当日は工事のため、駐車場をご利用いただけません。\r\n公共の交通機関でお越しください。\r\n\r\nご不便をおかけします。", "Works close our car park on that day.\nPlease come by public transport.\n\nWe are sorry for the trouble.")
	case StaffNotice:
		l.Name, l.Number, l.Link = text("青木 店長", "Aoki"), "K7P2M4X", "https://holdfast.example/staff/minamo/slots/1"
		l.News = News{About: "cancelled", Customer: text("佐藤 花子", "Hanako Sato"), Phone: "090-5555-0100", Choose: "https://holdfast.example/staff/minamo/messages/notices"}
		l.Reason = text("都合が悪くなったため", "Cannot come")
	case StaffDigest:
		l.Name, l.Slot, l.Party, l.Link = text("青木 店長", "Aoki"), slot, 0, "https://holdfast.example/staff/minamo/today"
		l.News = News{
			Date: slot.Start, Waiting: 3, Unsent: 1, Choose: "https://holdfast.example/staff/minamo/messages/notices",
			Day: []NewsSlot{{Service: slot.Service, Start: slot.Start, End: slot.End, Booked: 7, Capacity: 8, Waiting: 3}, {Service: slot.Service, Start: slot.End, End: slot.End.Add(time.Hour), Booked: 0, Capacity: 8}},
		}
	case StaffInvite:
		l.Name, l.Slot, l.Party = "", Slot{}, 0
		l.Staff = Staff{Role: "manager", InvitedBy: text("青木 店長", "Aoki"), Email: "hana@minamo.example"}
		l.Link, l.Until = "https://holdfast.example/staff/invitations/minamo/token", slot.Start
	case StaffReset, StaffPasswordChanged:
		l.Slot, l.Party = Slot{}, 0
		l.Staff = Staff{Email: "hana@minamo.example", Reset: "https://holdfast.example/staff/reset"}
		if kind == StaffReset {
			l.Link, l.Until = "https://holdfast.example/staff/reset/token", slot.Start
		}
	case MyBookings:
		l.Slot = Slot{}
		l.Bookings = []Booking{
			{Slot: slot, Party: 2, Number: "K7P2M4X", Link: "https://holdfast.example/minamo/reservations/token"},
			{Slot: was, Party: 1, Link: "https://holdfast.example/minamo/waitlist/token"},
			{Slot: was, Party: 1, Link: "https://holdfast.example/minamo/offers/token", Offered: true},
		}
	}
	return l
}

// allKinds are those to customers and to staff.
var allKinds = append(slices.Clone(Kinds), StaffNotice, StaffDigest)

func TestEachKindHasAWholeTextInEachLanguage(t *testing.T) {
	t.Parallel()
	for _, kind := range allKinds {
		for _, lang := range i18n.Languages {
			t.Run(string(kind)+"."+lang, func(t *testing.T) {
				t.Parallel()
				l := letter(t, kind, lang)
				text := Render(l)
				golden(t, string(kind)+"."+lang, text)
				whole := text.Subject + "\n" + text.Body
				for _, hole := range []string{"[[", "{", "}"} {
					if strings.Contains(whole, hole) {
						t.Errorf("the text has a hole (%s)", hole)
					}
				}
				if l.Link != "" && !strings.Contains(text.Body, "\n"+l.Link+"\n") {
					t.Error("the link does not stand on a line of its own")
				}
				if text.Subject == "" || !strings.Contains(text.Body, l.Venue.Phone) || !strings.Contains(text.Body, l.Venue.Name) {
					t.Error("the text does not say whose it is, or how to reach them")
				}
			})
		}
	}
}

func golden(t *testing.T, name string, text Text) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	got := "Subject: " + text.Subject + "\n\n" + text.Body
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
		t.Fatalf("%v (accept new texts with -update)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the text has changed (-was +is):\n%s", diff)
	}
}

var clock = regexp.MustCompile(`\d{1,2}:\d{2}`)

func TestNoTimeStandsWithoutItsZone(t *testing.T) {
	t.Parallel()
	for _, kind := range allKinds {
		for _, lang := range i18n.Languages {
			text := Render(letter(t, kind, lang))
			if kind == StaffDigest {
				// The times of one day: the day and the zone stand once, above them.
				if above, _, _ := strings.Cut(text.Body, "18:30"); !strings.Contains(above, "UTC+9") {
					t.Errorf("the digest in %s names no zone:\n%s", lang, text.Body)
				}
				continue
			}
			for _, line := range strings.Split(text.Subject+"\n"+text.Body, "\n") {
				if !clock.MatchString(line) {
					continue
				}
				if !strings.Contains(line, "JST") && !strings.Contains(line, "UTC+9") {
					t.Errorf("%s in %s: a time without its zone: %s", kind, lang, line)
				}
				if lang == i18n.JA && !regexp.MustCompile(`（[日月火水木金土]）`).MatchString(line) ||
					lang == i18n.EN && !regexp.MustCompile(`(Mon|Tue|Wed|Thu|Fri|Sat|Sun) `).MatchString(line) {
					t.Errorf("%s in %s: a time without its day of the week: %s", kind, lang, line)
				}
			}
		}
	}
}

func TestTimesAreThoseOfTheVenueWhateverZoneTheyCameIn(t *testing.T) {
	t.Parallel()
	for _, kind := range Kinds {
		l := letter(t, kind, i18n.EN)
		want := Render(l)
		l.Slot.Start, l.Slot.End = l.Slot.Start.UTC(), l.Slot.End.UTC()
		if !l.Until.IsZero() {
			l.Until = l.Until.UTC()
		}
		l.CancelUntil = l.CancelUntil.UTC()
		if diff := cmp.Diff(want, Render(l)); diff != "" {
			t.Errorf("%s: the zone of the instant shows:\n%s", kind, diff)
		}
	}
}

func TestNamesSurviveAsTheyWereTyped(t *testing.T) {
	t.Parallel()
	for _, name := range []string{`日本語講座：入門 🎌 & "Q"/A`, "髙橋 𠮷郎 👩‍👩‍👧", "Zoë <Z> & Co", "O’Neil {name}"} {
		l := letter(t, Confirmed, i18n.EN)
		l.Name, l.Slot.Service = name, name
		text := Render(l)
		if !strings.Contains(text.Body, "Dear "+name+",") || !strings.Contains(text.Body, "What: "+name+"\n") || !strings.Contains(text.Subject, name) {
			t.Errorf("%s came out otherwise:\n%s\n%s", name, text.Subject, text.Body)
		}
	}
	l := letter(t, Confirmed, i18n.JA)
	l.Name = "محمد O’Neil"
	if body := Render(l).Body; !strings.HasPrefix(body, "\u2068محمد O’Neil\u2069 様\n") {
		t.Errorf("a name from right to left is not kept apart from its neighbours: %q", body[:60])
	}
}

func TestWhatWasTypedMakesNoLinesAndNoLinks(t *testing.T) {
	t.Parallel()
	l := letter(t, Cancelled, i18n.EN)
	l.Name = "You won\r\nhttp://evil.example"
	l.Slot.Service = "Yoga\r\nBcc: someone@example.com"
	l.Reason = "Ill\n\nWhen: never"
	text := Render(l)
	if strings.Contains(text.Body, "evil.example") || !strings.HasPrefix(text.Body, "Hello,\n") {
		t.Errorf("a stranger's link stands in our mail:\n%s", text.Body)
	}
	if strings.ContainsAny(text.Subject, "\r\n") || strings.Contains(text.Body, "\nBcc:") || strings.Contains(text.Body, "\nWhen: never") {
		t.Errorf("typed text made a line of its own:\n%s", text.Body)
	}
}

func TestWhatIsUnknownIsLeftOut(t *testing.T) {
	t.Parallel()
	for _, kind := range Kinds {
		for _, lang := range i18n.Languages {
			full := letter(t, kind, lang)
			text := Render(Letter{
				Kind: kind, Lang: lang, Zone: full.Zone, Venue: Venue{Name: full.Venue.Name}, Slot: Slot{Service: full.Slot.Service, Start: full.Slot.Start, End: full.Slot.End},
				Until: full.Until, Waitlist: Waitlist{Broadcast: true}, Bookings: full.Bookings,
			})
			for _, line := range strings.Split(text.Body, "\n") {
				if strings.HasSuffix(line, ": ") || strings.HasSuffix(line, "：") || strings.Contains(line, "0001") {
					t.Errorf("%s in %s: an empty line stands there: %q", kind, lang, line)
				}
			}
		}
	}
}

// A list of mails has to tell two bookings of a day apart, and what has become of each.
func TestASubjectSaysTheStateAndWhenItIs(t *testing.T) {
	t.Parallel()
	subjects := map[string]string{}
	for _, kind := range Kinds {
		for _, lang := range i18n.Languages {
			l := letter(t, kind, lang)
			if l.Slot.Start.IsZero() || kind == Notice {
				continue // about no slot, or in the venue's own words
			}
			subject := Render(l).Subject
			when := map[string]string{i18n.JA: "10月8日（木）18:30（JST）", i18n.EN: "Thu 8 Oct, 18:30 JST"}[lang]
			if !strings.Contains(subject, when) || !strings.Contains(subject, l.Slot.Service) || !strings.Contains(subject, l.Venue.Name) {
				t.Errorf("%s in %s: the subject is %q", kind, lang, subject)
			}
			if was, same := subjects[subject]; same {
				t.Errorf("%s and %s have the subject %q", was, kind, subject)
			}
			subjects[subject] = string(kind)
		}
	}
}

// Who waited is told that the wait is over, in the venue's own first words too.
func TestWhoGotASeatFromTheWaitlistIsToldSo(t *testing.T) {
	t.Parallel()
	for _, lang := range i18n.Languages {
		l := letter(t, Confirmed, lang)
		l.Won = true
		golden(t, "confirmed_won."+lang, Render(l))
		l.Opening = "OPENING"
		if body := Render(l).Body; !strings.Contains(body, "\nOPENING\n") || !strings.Contains(body, i18n.For(lang).T("mail.confirmed.won")) {
			t.Errorf("with the venue's own words it is\n%s", body)
		}
		l.Again = true
		if body := Render(l).Body; strings.Contains(body, i18n.For(lang).T("mail.confirmed.won")) {
			t.Errorf("restored, it is\n%s", body)
		}
	}
}

func TestAnUnknownKindHasNoText(t *testing.T) {
	t.Parallel()
	if text := Render(Letter{Kind: "spam"}); text != (Text{}) {
		t.Errorf("got %v", text)
	}
}
