package mail

import (
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/views/i18n"
)

func TestOwnWordsAreCheckedBeforeAMailIsDue(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind             Kind
		text             string
		opening          bool
		unknown, missing []string
	}{
		"plain":                      {Confirmed, "こんにちは。", true, nil, nil},
		"known names":                {Confirmed, "{name} {service} {when} {number}", true, nil, nil},
		"wide braces":                {Confirmed, "｛name｝", true, nil, nil},
		"a name of another kind":     {Confirmed, "{time}", false, []string{"time"}, nil},
		"a slip":                     {Confirmed, "{nmae} {nmae} {}", false, []string{"nmae", ""}, nil},
		"a brace alone":              {Confirmed, "{name", false, []string{"{"}, nil},
		"a deadline is missing":      {Offer, "お席が空きました。", true, nil, []string{"time"}},
		"a paragraph needs none":     {Offer, "お席が空きました。", false, nil, nil},
		"none of one's own is whole": {Offer, "", true, nil, nil},
	} {
		unknown, missing := CheckOwn(c.kind, c.text, c.opening)
		if !slices.Equal(unknown, c.unknown) || !slices.Equal(missing, c.missing) {
			t.Errorf("%s: unknown %q, missing %q", name, unknown, missing)
		}
	}
}

func TestOwnWordsStandInBothPartsWithTheirValues(t *testing.T) {
	t.Parallel()
	for _, kind := range OwnKinds {
		for _, lang := range []string{i18n.JA, i18n.EN} {
			l := letter(t, kind, lang)
			ours := Render(l).Body
			l.Number, l.Until = "K7P2M4X", l.Slot.Start.Add(-time.Hour)
			var all []string
			for _, name := range Placeholders(kind) {
				all = append(all, "{"+name+"}")
				if Value(l, name) == "" {
					t.Errorf("%s: %s stands for nothing", kind, name)
				}
			}
			l.Opening, l.Extra = Fill(l, "OPEN "+strings.Join(all, " ")), Fill(l, "EXTRA <b> "+strings.Join(all, " "))
			text := Render(l)
			if HasOpening(kind) != strings.Contains(text.Body, "OPEN ") || !strings.Contains(text.Body, "EXTRA <b> ") || strings.Contains(text.Body, "{") {
				t.Errorf("%s %s:\n%s", kind, lang, text.Body)
			}
			if !strings.Contains(text.HTML, "EXTRA &lt;b&gt; ") || HasOpening(kind) != strings.Contains(text.HTML, "OPEN ") {
				t.Errorf("%s %s: the two parts differ", kind, lang)
			}
			if first := OurOpening(letter(t, kind, lang)); HasOpening(kind) && !strings.Contains(ours, first) {
				t.Errorf("%s: ours is not %q", kind, first)
			}
		}
	}
}

func TestOwnWordsGiveWayWhereAValueIsMissingAndCarryNoStrangersLink(t *testing.T) {
	t.Parallel()
	l := letter(t, Lapsed, i18n.JA)
	l.Until = time.Time{}
	if got := Fill(l, "{time} まで"); got != "" {
		t.Errorf("%q", got)
	}
	l.Name = "見て http://evil.example"
	if got := Fill(l, "{name} 様"); strings.Contains(got, "evil") || got == "" {
		t.Errorf("%q", got)
	}
	l.Name = "{time}"
	if got := Fill(l, "{name} 様"); !strings.Contains(got, "{time}") {
		t.Errorf("a value is read as a text: %q", got)
	}
}

func TestNewsForStaffSayWhatHappened(t *testing.T) {
	t.Parallel()
	for _, lang := range []string{i18n.JA, i18n.EN} {
		for _, about := range []string{"booked", "cancelled", "failed"} {
			l := letter(t, StaffNotice, lang)
			l.Number, l.Link, l.Name = "K7P2M4X", "https://holdfast.example/staff/minamo/slots/1", "鈴木"
			l.News = News{About: about, Customer: "佐藤 花子", Phone: "090-1234-5678", Choose: "https://holdfast.example/staff/minamo/messages/notices"}
			if about == "failed" {
				l.News.Failed, l.News.Why = "予約の確認", "550 no such user"
			}
			text := Render(l)
			for _, want := range []string{"佐藤 花子", "090-1234-5678", l.Slot.Service, l.Link, l.News.Choose, l.News.Why} {
				if !strings.Contains(text.Body, want) {
					t.Errorf("%s %s lacks %q:\n%s", about, lang, want, text.Body)
				}
			}
			if text.Subject == "" || strings.Contains(text.Subject+text.Body, "mail.") || strings.Contains(text.Body, l.Venue.FindLink) {
				t.Errorf("%s %s: %q\n%s", about, lang, text.Subject, text.Body)
			}
		}
		l := letter(t, StaffDigest, lang)
		l.Link = "https://holdfast.example/staff/minamo/today"
		l.News = News{Date: l.Slot.Start, Unsent: 2, Day: []NewsSlot{{Service: l.Slot.Service, Start: l.Slot.Start, End: l.Slot.End, Booked: 7, Capacity: 8, Waiting: 3}}}
		text := Render(l)
		for _, want := range []string{l.Slot.Service, "18:30", "7", "8", "3", l.Link} {
			if !strings.Contains(text.Body, want) {
				t.Errorf("the digest in %s lacks %q:\n%s", lang, want, text.Body)
			}
		}
		l.News = News{Date: l.Slot.Start}
		if none := Render(l); none.Subject == "" || strings.Contains(none.Body, "mail.") {
			t.Errorf("%s", none.Body)
		}
	}
}
