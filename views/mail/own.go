package mail

import (
	"regexp"
	"slices"
	"strings"

	"holdfast/views/i18n"
)

// A venue may say things in its own words: a sentence in place of our first
// one, and one more paragraph at the end. In both, a name in braces stands for
// what differs from reader to reader. Only names that exist for the kind are
// taken, and a first sentence that has to say something (until when an offer
// stands) has to have its name: such a text is refused when it is saved, so that
// none is found wanting when a mail is due.

// openings are the kinds whose first sentence can be replaced, with the key of
// ours. The others say something that depends on what happened.
var openings = map[Kind]i18n.Key{
	Confirmed: "mail.confirmed.lead", Reminder: "mail.reminder.lead", Moved: "mail.moved.lead", Changed: "mail.changed.lead",
	Joined: "mail.joined.lead", Offer: "mail.offer.lead", Lapsed: "mail.lapsed.lead", Vacancy: "mail.vacancy.lead", MyBookings: "mail.mine.lead",
}

// OwnKinds lists the kinds that take a venue's own words, in the order in which
// a customer may meet them.
var OwnKinds = []Kind{Confirmed, Reminder, Moved, Changed, Cancelled, SlotCancelled, Joined, Offer, Lapsed, Revoked, Vacancy, MyBookings}

// HasOpening reports whether the first sentence of the kind can be replaced.
func HasOpening(k Kind) bool {
	_, has := openings[k]
	return has
}

// Placeholders lists the names that may stand in braces in a text of the kind.
func Placeholders(k Kind) []string {
	names := []string{"name", "venue"}
	if k == MyBookings {
		return names
	}
	names = append(names, "service", "when", "party")
	switch k {
	case Confirmed, Reminder, Moved, Changed, Cancelled:
		names = append(names, "number")
	case Offer, Lapsed:
		names = append(names, "time")
	}
	return names
}

// Required lists those that a first sentence of the kind can't do without.
func Required(k Kind) []string {
	if k == Offer || k == Lapsed {
		return []string{"time"}
	}
	return nil
}

var inBraces = regexp.MustCompile(`[{｛]([^{}｛｝]*)[}｝]`)

// CheckOwn reads a text of the kind: names in braces that there are not, braces
// that stand alone ("{" or "}"), and, for a first sentence, what is missing.
func CheckOwn(k Kind, text string, opening bool) (unknown, missing []string) {
	known, used := Placeholders(k), map[string]bool{}
	for _, m := range inBraces.FindAllStringSubmatch(text, -1) {
		name := strings.TrimSpace(m[1])
		if !slices.Contains(known, name) && !slices.Contains(unknown, name) {
			unknown = append(unknown, name)
		}
		used[name] = true
	}
	rest := inBraces.ReplaceAllString(text, "")
	for _, brace := range []string{"{", "}"} {
		if strings.Contains(rest, brace) {
			unknown = append(unknown, brace)
		}
	}
	if opening && text != "" {
		for _, name := range Required(k) {
			if !used[name] {
				missing = append(missing, name)
			}
		}
	}
	return unknown, missing
}

// Fill puts the values of the letter in place of the names in braces. Where a
// value that the text needs is not known, it answers empty: our own words do then.
func Fill(l Letter, text string) string {
	if text == "" {
		return ""
	}
	whole := true
	out := inBraces.ReplaceAllStringFunc(text, func(m string) string {
		value := Value(l, strings.TrimSpace(inBraces.FindStringSubmatch(m)[1]))
		whole = whole && value != ""
		return value
	})
	if !whole {
		return ""
	}
	return out
}

// Value is what a name in braces stands for in the letter; empty if nothing is known of it.
func Value(l Letter, name string) string {
	w := &writer{c: i18n.For(l.Lang), l: l}
	switch name {
	case "name":
		name := oneLine(l.Name)
		if name == "" || strings.Contains(name, "://") || strings.Contains(strings.ToLower(name), "www.") {
			return w.c.T("mail.own.customer") // as in the greeting: no link of a stranger's
		}
		return i18n.Isolate(name)
	case "venue":
		return i18n.Isolate(oneLine(l.Venue.Name))
	case "service":
		return i18n.Isolate(oneLine(l.Slot.Service))
	case "when":
		if !l.Slot.Start.IsZero() {
			return w.span(l.Slot)
		}
	case "party":
		return w.party(l.Party)
	case "number":
		return l.Number
	case "time":
		if !l.Until.IsZero() {
			return w.at(l.Until)
		}
	}
	return ""
}

// opens reports whether the key is that of the first sentence of this kind.
func (w *writer) opens(key i18n.Key) bool {
	ours, has := openings[w.l.Kind]
	return has && key == ours
}

// OurOpening is the first sentence that we bring for the letter; empty where it can't be replaced.
func OurOpening(l Letter) string {
	w := &writer{c: i18n.For(l.Lang), l: l}
	key, has := openings[l.Kind]
	if !has {
		return ""
	}
	return w.c.T(key, "time", w.at(l.Until))
}
