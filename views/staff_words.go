package views

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"holdfast/views/i18n"
)

// staffSign is a state as it is shown: its code, a mark and a word, so that no state is known by its colour alone.
type staffSign struct {
	State string
	Mark  string
	Word  i18n.Key
}

var staffPaused = staffSign{"paused", "‖", "staff.state.paused"}

func staffSlotSign(state string) staffSign {
	switch state {
	case "free":
		return staffSign{state, "○", "staff.state.free"}
	case "few":
		return staffSign{state, "△", "staff.state.few"}
	case "full":
		return staffSign{state, "×", "staff.state.full"}
	case "waitlist":
		return staffSign{state, "×", "staff.state.waitlist"}
	case "cancelled":
		return staffSign{state, "–", "staff.state.slot_cancelled"}
	case "over":
		return staffSign{state, "–", "staff.state.over"}
	default:
		return staffSign{state, "–", "staff.state.closed"}
	}
}

func staffReservationSign(state string) staffSign {
	switch state {
	case "held":
		return staffSign{state, "◔", "staff.state.held"}
	case "confirmed":
		return staffSign{state, "●", "staff.state.confirmed"}
	case "released":
		return staffSign{state, "–", "staff.state.released"}
	case "expired":
		return staffSign{state, "–", "staff.state.expired"}
	default:
		return staffSign{state, "×", "staff.state.cancelled"}
	}
}

func staffEntrySign(state string) staffSign {
	switch state {
	case "waiting":
		return staffSign{state, "…", "staff.state.waiting"}
	case "offered":
		return staffSign{state, "◎", "staff.state.offered"}
	case "accepted":
		return staffSign{state, "✓", "staff.state.accepted"}
	case "lapsed":
		return staffSign{state, "–", "staff.state.lapsed"}
	case "declined":
		return staffSign{state, "–", "staff.state.declined"}
	case "withdrawn":
		return staffSign{state, "–", "staff.state.withdrawn"}
	default:
		return staffSign{state, "–", "staff.state.entry_closed"}
	}
}

// staffFoundSign tells reservations from entries by their number: entries have none.
func staffFoundSign(number, state string) staffSign {
	if number == "" {
		return staffEntrySign(state)
	}
	return staffReservationSign(state)
}

func staffMessageSign(state string) staffSign {
	switch state {
	case "sent":
		return staffSign{state, "✓", "staff.state.mail_sent"}
	case "sending":
		return staffSign{state, "…", "staff.state.mail_sending"}
	case "failed":
		return staffSign{state, "!", "staff.state.mail_failed"}
	case "obsolete":
		return staffSign{state, "–", "staff.state.mail_obsolete"}
	default:
		return staffSign{state, "…", "staff.state.mail_pending"}
	}
}

func staffRoleWord(ctx context.Context, role string) string {
	switch role {
	case "owner":
		return i18n.T(ctx, "staff.role.owner")
	case "manager":
		return i18n.T(ctx, "staff.role.manager")
	default:
		return i18n.T(ctx, "staff.role.desk")
	}
}

func staffSourceWord(ctx context.Context, source string) string {
	if source == "waitlist" {
		return i18n.T(ctx, "staff.source.waitlist")
	}
	return i18n.T(ctx, "staff.source.staff")
}

func staffConsequenceMark(kind string) string {
	switch kind {
	case "offer":
		return "→"
	case "vacancy":
		return "⇉"
	case "open":
		return "○"
	case "kept":
		return "◎"
	case "call":
		return "☎"
	case "warn":
		return "!"
	default:
		return "✉"
	}
}

func staffErrorState(status int) string {
	if status == 403 {
		return "forbidden"
	}
	return "absent"
}

// staffLeft is the time that is left, in whole minutes while there are some: the counter needs no seconds. app.js
// writes it in the same words.
func staffLeft(ctx context.Context, seconds int) string {
	switch {
	case seconds <= 0:
		return i18n.T(ctx, "staff.left.over")
	case seconds < 60:
		return i18n.T(ctx, "staff.left.seconds", "s", seconds)
	default:
		return i18n.T(ctx, "staff.left.minutes", "m", seconds/60)
	}
}

// staffMaxCells is the largest capacity that is drawn seat by seat.
const staffMaxCells = 24

type staffCell struct {
	Part     string
	X, Width string
}

func staffBarBox(b StaffBar) string {
	gap := 0.0
	if b.Capacity <= staffMaxCells {
		gap = staffGap(b.Capacity) // the outermost cells end where the text below them ends
	}
	return fmt.Sprintf("%.1f 0 %.1f 10", gap, 10*float64(max(b.Capacity, 1))-2*gap)
}

// staffBarCells are the seats of a slot from left to right; a large slot has one cell per part.
func staffBarCells(b StaffBar) []staffCell {
	free := "free"
	if b.Kept {
		free = "kept"
	}
	var cells []staffCell
	at := 0
	add := func(part string, n int) {
		if n <= 0 {
			return
		}
		if b.Capacity > staffMaxCells {
			cells = append(cells, staffCell{part, strconv.Itoa(10 * at), strconv.Itoa(10 * n)})
			at += n
			return
		}
		for range n {
			// The gap is a part of the cell, so that a slot of one seat is still one broad cell.
			cells = append(cells, staffCell{part, fmt.Sprintf("%.1f", 10*float64(at)+staffGap(b.Capacity)), fmt.Sprintf("%.1f", 10-2*staffGap(b.Capacity))})
			at++
		}
	}
	add("booked", b.Booked)
	add("held", b.Held)
	add("offered", b.Offered)
	add(free, b.Free)
	return cells
}

func staffGap(capacity int) float64 {
	switch {
	case capacity <= 4:
		return 0.1
	case capacity <= 12:
		return 0.3
	default:
		return 0.5
	}
}

// staffBarWords is the bar for those who hear the page.
func staffBarWords(ctx context.Context, b StaffBar) string {
	key := i18n.Key("staff.bar.words")
	if b.Kept {
		key = "staff.bar.words_kept"
	}
	return i18n.T(ctx, key, "capacity", b.Capacity, "booked", b.Booked, "held", b.Held, "offered", b.Offered, "free", b.Free)
}

// MailParts splits the text of a mail at its http and https addresses, so that they can be followed. Everything
// else, other schemes included, stays text.
func MailParts(body string) []MailPart {
	var parts []MailPart
	text := func(s string) {
		if s != "" {
			parts = append(parts, MailPart{Text: s})
		}
	}
	for {
		at := staffLinkStart(body)
		if at < 0 {
			text(body)
			return parts
		}
		text(body[:at])
		body = body[at:]
		end := strings.IndexFunc(body, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`<>"'`, r) })
		if end < 0 {
			end = len(body)
		}
		link := strings.TrimRight(body[:end], ".,;:!?)")
		parts = append(parts, MailPart{Text: link, URL: link})
		body = body[len(link):]
	}
}

func staffLinkStart(s string) int {
	plain, secure := strings.Index(s, "http://"), strings.Index(s, "https://")
	if plain < 0 || (secure >= 0 && secure < plain) {
		return secure
	}
	return plain
}

// staffMailBody writes the parts with not a blank more than the mail has: its lines are shown as they stand.
func staffMailBody(parts []MailPart) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		b.WriteString(`<p class="staff-letter-body">`)
		for _, p := range parts {
			if p.URL == "" {
				b.WriteString(templ.EscapeString(p.Text))
				continue
			}
			b.WriteString(`<a href="` + templ.EscapeString(string(templ.URL(p.URL))) + `">` + templ.EscapeString(p.Text) + `</a>`)
		}
		b.WriteString(`</p>`)
		_, err := io.WriteString(w, b.String())
		return err
	})
}

// StaffEventFacts are what an event's sentence is made of.
type StaffEventFacts struct {
	// Kind is the kind of event, such as "cancelled".
	Kind string
	// Actor is who did it, as text: a member of staff, the customer, the system. Never empty.
	Actor string
	// Who is the party's name, or its number where the name was erased; empty for events of the whole slot.
	Who   string
	Party int
	// Until is the shown deadline of an offer or a hold at the venue, as text.
	Until string
	// Other is the other slot of a move, with date and time.
	Other string
	// From and To are the sizes before and after: of the capacity, of a party.
	From int
	To   int
}

// StaffEventSentence says in the language of ctx what happened. A kind that it does not know is given back as it is,
// which a test of all kinds keeps from reaching a page.
func StaffEventSentence(ctx context.Context, f StaffEventFacts) string {
	key, ok := staffEventKeys[f.Kind]
	if !ok {
		return f.Kind
	}
	return i18n.T(ctx, key, "actor", f.Actor, "who", f.Who, "n", f.Party, "until", f.Until, "other", f.Other, "from", f.From, "to", f.To)
}

var staffEventKeys = map[string]i18n.Key{
	"held":             "staff.event.held",
	"confirmed":        "staff.event.confirmed",
	"extended":         "staff.event.extended",
	"released":         "staff.event.released",
	"expired":          "staff.event.expired",
	"cancelled":        "staff.event.cancelled",
	"joined":           "staff.event.joined",
	"offered":          "staff.event.offered",
	"staff_offered":    "staff.event.staff_offered",
	"accepted":         "staff.event.accepted",
	"declined":         "staff.event.declined",
	"lapsed":           "staff.event.lapsed",
	"withdrawn":        "staff.event.withdrawn",
	"revoked":          "staff.event.revoked",
	"entry_closed":     "staff.event.entry_closed",
	"entry_changed":    "staff.event.entry_changed",
	"claimed":          "staff.event.claimed",
	"vacancy_told":     "staff.event.vacancy_told",
	"capacity_changed": "staff.event.capacity_changed",
	"party_changed":    "staff.event.party_changed",
	"contact_changed":  "staff.event.contact_changed",
	"email_asked":      "staff.event.email_asked",
	"email_changed":    "staff.event.email_changed",
	"moved_out":        "staff.event.moved_out",
	"moved_in":         "staff.event.moved_in",
	"closed":           "staff.event.closed",
	"reopened":         "staff.event.reopened",
	"paused":           "staff.event.paused",
	"resumed":          "staff.event.resumed",
	"terms_changed":    "staff.event.terms_changed",
	"policy_changed":   "staff.event.policy_changed",
	"slot_cancelled":   "staff.event.slot_cancelled",
	"notice_sent":      "staff.event.notice_sent",
	"erased":           "staff.event.erased",
	"link_sent":        "staff.event.link_sent",
	"message_given_up": "staff.event.message_given_up",
	"refused_late":     "staff.event.refused_late",
}

func staffKind(danger bool) ButtonKind {
	if danger {
		return ButtonDanger
	}
	return ButtonPrimary
}

// staffInput is a text field of a staff form. Browsers at a counter must not offer the last caller's name again.
func staffInput(id, name, label, value, problem string) Field {
	return Field{ID: id, Name: name, Label: label, Type: "text", Value: value, Error: problem, Autocomplete: "off", Max: 200}
}

func staffPartyField(ctx context.Context, r StaffReservation) Field {
	f := staffInput("party-"+r.ID, FieldPartySize, i18n.T(ctx, "staff.field.party"), r.PartyTyped, r.PartyErr)
	f.InputMode, f.Max = "numeric", 4
	if f.Value == "" {
		f.Value = strconv.Itoa(r.Party)
	}
	return f
}

// staffSlotErrors gathers what is wrong with the one form of the slot page that was sent, for the list on top: the
// form itself may be far below.
func staffSlotErrors(p StaffSlotPage) (Errors, []Field) {
	errs := Errors{}
	var order []Field
	add := func(id, name, text string) {
		if text != "" {
			errs[name] = text
			order = append(order, Field{ID: id, Name: name})
		}
	}
	for _, r := range p.Roster {
		add("party-"+r.ID, FieldPartySize, r.PartyErr)
	}
	add("book-name", FieldName, p.Book.Errs[FieldName])
	add("book-party", FieldPartySize, p.Book.Errs[FieldPartySize])
	add("book-phone", FieldPhone, p.Book.Errs[FieldPhone])
	add("book-kana", FieldKana, p.Book.Errs[FieldKana])
	add("book-email", FieldEmail, p.Book.Errs[FieldEmail])
	add("book-note", FieldNote, p.Book.Errs[FieldNote])
	add("book-reason", FieldReason, p.Book.Errs[FieldReason])
	for _, q := range p.Book.Questions {
		add(FieldAnswer+q.ID, FieldAnswer+q.ID, p.Book.Errs[FieldAnswer+q.ID])
	}
	add("capacity-value", FieldCapacity, p.Capacity.Err)
	return errs, order
}
