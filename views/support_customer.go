package views

import (
	"context"
	"regexp"
	"strconv"
	"strings"

	"holdfast/views/i18n"
)

// dressed fills in what a component knows about its own page.
func dressed(p Page, title, class string) Page {
	if p.Title == "" {
		p.Title = title
	}
	if p.Class == "" {
		p.Class = class
	}
	return p
}

func secret(p Page) Page {
	p.Secret = true
	return p
}

var stepKeys = [...]i18n.Key{"steps.slot", "steps.details", "steps.done"}

func stepClass(n, at int) string {
	switch {
	case n < at:
		return "past-step"
	case n == at:
		return "this-step"
	default:
		return "next-step"
	}
}

func stepCurrent(n, at int) string {
	if n == at {
		return "step"
	}
	return "false"
}

func dayCurrent(current bool) string {
	if current {
		return "date"
	}
	return "false"
}

func dayLabel(ctx context.Context, d DayTab) string {
	label := d.Label
	if d.Holiday != "" {
		label += " " + d.Holiday
	}
	if d.Closed {
		label += " " + i18n.T(ctx, "venue.closed_day")
	}
	switch {
	case d.State == "" && d.Closed:
		return label
	case d.State == "":
		return label + " " + i18n.T(ctx, "venue.nothing")
	case d.Phase != "":
		return label + " " + phaseWord(ctx, d.Phase)
	default:
		return label + " " + legendWord(ctx, d.State)
	}
}

var legendStates = []SlotState{SlotFree, SlotFew, SlotWaitlist, SlotFull, SlotOutside}

func markSign(s SlotState) string {
	switch s {
	case SlotFree:
		return "○"
	case SlotFew:
		return "△"
	case SlotWaitlist, SlotFull:
		return "×"
	case SlotOutside, SlotClosed, SlotCancelled:
		return "－"
	default:
		return ""
	}
}

func markWord(ctx context.Context, s SlotState, left int) string {
	if s == SlotFew {
		return i18n.T(ctx, "mark.few", "n", left)
	}
	return legendWord(ctx, s)
}

func legendWord(ctx context.Context, s SlotState) string {
	if s == SlotFew {
		return i18n.T(ctx, "mark.few_left")
	}
	return i18n.T(ctx, i18n.Key("mark."+string(s)))
}

func slotHeading(ctx context.Context, v SlotPage) string {
	switch {
	case v.Hold != nil:
		return i18n.T(ctx, "slot.heading.hold")
	case v.Join != nil:
		return i18n.T(ctx, "slot.heading.full")
	default:
		return i18n.T(ctx, "slot.heading")
	}
}

func before(whole, part string) string {
	if i := strings.Index(whole, part); i >= 0 && part != "" {
		return whole[:i]
	}
	return whole
}

func after(whole, part string) string {
	if i := strings.Index(whole, part); i >= 0 && part != "" {
		return whole[i+len(part):]
	}
	return ""
}

func emailField(ctx context.Context, value, hint string, errs Errors, required bool) Field {
	return Field{
		Name: FieldEmail, Label: i18n.T(ctx, "form.email"), Type: "email", Value: value,
		Hint: hint, Error: errs[FieldEmail], Required: required, Optional: !required,
		Autocomplete: "email", InputMode: "email", EnterKeyHint: "next", Max: 254,
	}
}

func contactFieldList(ctx context.Context, c ContactForm, mailHint bool) []Field {
	fields := []Field{{
		Name: FieldName, Label: i18n.T(ctx, "form.name"), Type: "text", Value: c.Name,
		Error: c.Errs[FieldName], Required: true, Autocomplete: "name", EnterKeyHint: "next", Max: 100,
	}}
	if !c.HideKana {
		fields = append(fields, Field{
			Name: FieldKana, Label: i18n.T(ctx, "form.kana"), Type: "text", Value: c.Kana,
			Hint: i18n.T(ctx, "form.kana.hint"), Error: c.Errs[FieldKana], Required: c.NeedKana, Optional: !c.NeedKana,
			// There is no autofill token for a reading; a browser that guesses fills in the name again.
			Autocomplete: "off", EnterKeyHint: "next", Lang: i18n.JA, Max: 100,
		})
	}
	hint := ""
	if mailHint {
		hint = i18n.T(ctx, "form.email.hint")
	}
	return append(fields,
		emailField(ctx, c.Email, hint, c.Errs, c.NeedEmail),
		Field{
			Name: FieldPhone, Label: i18n.T(ctx, "form.phone"), Type: "tel", Value: c.Phone,
			Error: c.Errs[FieldPhone], Required: c.NeedPhone, Optional: !c.NeedPhone,
			Autocomplete: "tel", InputMode: "tel", EnterKeyHint: "next", Max: 40,
		},
		Field{
			Name: FieldNote, Label: i18n.T(ctx, "form.note"), Type: "textarea", Value: c.Note,
			Error: c.Errs[FieldNote], Optional: true, Max: 1000,
		},
	)
}

// contactFieldOrder is the order of a form's errors in its summary.
func contactFieldOrder(ctx context.Context, c ContactForm, prefix string) []Field {
	order := append([]Field{{ID: prefix + FieldPartySize + "-0", Name: FieldPartySize}}, contactFieldList(ctx, c, false)...)
	return append(order, questionFieldList(c)...)
}

// typed is what was typed, to be carried along in a form.
func typed(c ContactForm) []Hidden {
	var out []Hidden
	for _, h := range []Hidden{
		{FieldName, c.Name},
		{FieldKana, c.Kana},
		{FieldEmail, c.Email},
		{FieldPhone, c.Phone},
		{FieldNote, c.Note},
	} {
		if h.Value != "" {
			out = append(out, h)
		}
	}
	for _, q := range c.Questions {
		if q.Value != "" {
			out = append(out, Hidden{FieldAnswer + q.ID, q.Value})
		}
	}
	return out
}

func decimal(n int) string { return strconv.Itoa(n) }

func endedText(ctx context.Context, v EndedPage) string {
	key := "ended." + string(v.Kind) + ".text"
	if v.Kind == EndedCancelled && v.ByShop {
		key = "ended.cancelled.text_shop"
	}
	return i18n.T(ctx, i18n.Key(key), "time", v.At)
}

func offerEnd(v OfferEndedPage) string {
	if v.State == EntryWithdrawn && v.ByShop {
		return "revoked"
	}
	return string(v.State)
}

// placeBig is a place in the queue as it is written large.
func placeBig(ctx context.Context, place int) string {
	if i18n.Lang(ctx) == i18n.JA {
		return i18n.In(ctx).Number(place)
	}
	return i18n.In(ctx).Ordinal(place)
}

// A QR code needs four modules of quiet paper around it.
const qrMargin = 4

func qrSize(bits [][]bool) string { return strconv.Itoa(len(bits) + 2*qrMargin) }

func qrBox(bits [][]bool) string {
	n := qrSize(bits)
	return "0 0 " + n + " " + n
}

// qrPath draws each run of dark modules in a row as one rectangle.
func qrPath(bits [][]bool) string {
	var b strings.Builder
	for y, row := range bits {
		for x := 0; x < len(row); x++ {
			if !row[x] {
				continue
			}
			start := x
			for x < len(row) && row[x] {
				x++
			}
			run := strconv.Itoa(x - start)
			b.WriteString("M" + strconv.Itoa(start+qrMargin) + " " + strconv.Itoa(y+qrMargin) + "h" + run + "v1h-" + run + "z")
		}
	}
	return b.String()
}

// pieces cuts a written range of time where a line may end: what is said about
// an end on another day comes as a second piece, which is written smaller.
func pieces(written string) []string {
	if from, to, two := strings.Cut(written, "〜"); two && strings.Contains(to, "月") {
		return []string{from + "〜", to}
	}
	if from, to, two := strings.Cut(written, " – "); two {
		return []string{from + " –", to}
	}
	if hours, day, two := strings.Cut(written, " ("); two {
		return []string{hours, "(" + day}
	}
	return []string{written}
}

// dates finds dates and times as package i18n writes them.
var dates = regexp.MustCompile(`(?:\d+年)?\d+月\d+日（.）(?:\d+:\d+(?:〜\d+:\d+)?)?|\d+:\d+〜\d+:\d+` +
	`|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d+ [A-Z][a-z]{2}(?: \d{4})?(?:, \d+:\d+(?:–\d+:\d+)?)?`)

type run struct {
	text  string
	whole bool // not to be broken
}

func runs(text string) []run {
	var out []run
	end := 0
	for _, at := range dates.FindAllStringIndex(text, -1) {
		if at[0] > end {
			out = append(out, run{text[end:at[0]], false})
		}
		out = append(out, run{text[at[0]:at[1]], true})
		end = at[1]
	}
	if end < len(text) {
		out = append(out, run{text[end:], false})
	}
	return out
}

// joinButton is quieter where the page's main action is to hold what is free.
func joinButton(v SlotPage) ButtonKind {
	if v.Hold != nil {
		return ButtonPlain
	}
	return ButtonPrimary
}
