package views

import (
	"regexp"

	"github.com/a-h/templ"
)

// dateBit is a piece of a sentence; a whole one must not be broken.
type dateBit struct {
	text  string
	whole bool
}

// writtenDate is a date with its time, as package i18n writes them, or a capacity.
var writtenDate = regexp.MustCompile(`定員\d+名|(?:\d{4}年)?\d{1,2}月\d{1,2}日（.）(?: ?\d{1,2}:\d{2}(?:〜\d{1,2}:\d{2})?)?|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d{1,2} [A-Z][a-z]{2}(?: \d{4})?(?:, \d{1,2}:\d{2}(?:–\d{1,2}:\d{2})?)?`)

// dateBits cuts a sentence around its dates.
func dateBits(text string) []dateBit {
	var out []dateBit
	at := 0
	for _, m := range writtenDate.FindAllStringIndex(text, -1) {
		if m[0] > at {
			out = append(out, dateBit{text: text[at:m[0]]})
		}
		out = append(out, dateBit{text[m[0]:m[1]], true})
		at = m[1]
	}
	if at < len(text) {
		out = append(out, dateBit{text: text[at:]})
	}
	return out
}

func staffPolicyInput(f StaffPolicyField) templ.Attributes {
	a := templ.Attributes{"id": f.Name, "name": f.Name, "aria-labelledby": f.Name + "-label", "autocomplete": "off"}
	a["aria-describedby"] = f.Name + "-text"
	if f.Err != "" {
		a["aria-describedby"] = f.Name + "-text " + f.Name + "-error"
		a["aria-invalid"] = "true"
	}
	return a
}

func staffClockInput(name, problem string) templ.Attributes {
	a := templ.Attributes{"id": name, "name": name}
	if problem != "" {
		a["aria-describedby"] = name + "-error"
		a["aria-invalid"] = "true"
	}
	return a
}
