package views

import (
	"context"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"holdfast/views/i18n"
)

func title(p Page) string {
	switch {
	case p.Tenant.Name == "":
		return p.Title
	case p.Title == "":
		return p.Tenant.Name
	default:
		return p.Title + " | " + p.Tenant.Name
	}
}

// dial keeps what a telephone can dial.
func dial(phone string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r == '+' {
			return r
		}
		return -1
	}, phone)
}

// rangeParts is a range; one that ends on another day may go on in a second line behind its dash, and nowhere else.
func rangeParts(text string) templ.Component {
	for _, dash := range []string{"〜", " – "} {
		if from, to, ok := strings.Cut(text, dash); ok && strings.ContainsAny(to, "月 ") {
			return templ.Raw(templ.EscapeString(from+dash) + "<wbr>" + templ.EscapeString(to))
		}
	}
	return templ.Raw(templ.EscapeString(text))
}

func fieldID(f Field) string {
	if f.ID != "" {
		return f.ID
	}
	return f.Name
}

func describedBy(id, hint, problem string) templ.Attributes {
	var ids []string
	if hint != "" {
		ids = append(ids, id+"-hint")
	}
	if problem != "" {
		ids = append(ids, id+"-error")
	}
	if len(ids) == 0 {
		return nil
	}
	return templ.Attributes{"aria-describedby": strings.Join(ids, " ")}
}

func fieldAttributes(f Field) templ.Attributes {
	id := fieldID(f)
	a := templ.Attributes{"id": id, "name": f.Name}
	for name, value := range describedBy(id, f.Hint, f.Error) {
		a[name] = value
	}
	text := func(name, value string) {
		if value != "" {
			a[name] = value
		}
	}
	text("autocomplete", f.Autocomplete)
	text("inputmode", f.InputMode)
	text("enterkeyhint", f.EnterKeyHint)
	text("lang", f.Lang)
	if f.Type == "email" || f.Type == "tel" {
		a["autocapitalize"] = "none"
		a["spellcheck"] = "false"
		// An address that a phone ends with a blank is trimmed by the server; the
		// direction stays left to right in every language.
		a["dir"] = "ltr"
	}
	if f.Required {
		a["required"] = true
	}
	if f.Autofocus {
		a["autofocus"] = true
	}
	if f.Error != "" {
		a["aria-invalid"] = "true"
	}
	if f.Max > 0 {
		a["maxlength"] = strconv.Itoa(f.Max)
	}
	if f.Type == "number" {
		a["min"] = strconv.Itoa(f.MinNumber)
		if f.MaxNumber > 0 {
			a["max"] = strconv.Itoa(f.MaxNumber)
		}
		a["step"] = "1"
	}
	return a
}

func buttonAttributes(b Button) templ.Attributes {
	if b.Name == "" {
		return nil
	}
	return templ.Attributes{"name": b.Name, "value": b.Value}
}

func working(ctx context.Context, b Button) string {
	if b.Working != "" {
		return b.Working
	}
	return i18n.T(ctx, "form.working")
}
