package views

import (
	"context"

	"holdfast/views/i18n"
)

func staffStepKind(f StaffStepForm) ButtonKind {
	switch {
	case f.Danger:
		return ButtonDanger
	case f.Plain:
		return ButtonPlain
	default:
		return ButtonPrimary
	}
}

func staffSelected(options []Option) string {
	for _, o := range options {
		if o.Selected {
			return o.Value
		}
	}
	return ""
}

// staffContactFields are the fields of a correction. Browsers at a counter must
// not offer the last caller's name again.
func staffContactFields(ctx context.Context, c ContactForm) []Field {
	fields := []Field{
		staffInput("contact-name", FieldName, i18n.T(ctx, "staff.field.name"), c.Name, c.Errs[FieldName]),
		staffInput("contact-kana", FieldKana, i18n.T(ctx, "staff.field.kana"), c.Kana, c.Errs[FieldKana]),
		{ID: "contact-email", Name: FieldEmail, Label: i18n.T(ctx, "staff.field.email"), Type: "email", Value: c.Email, Error: c.Errs[FieldEmail], Autocomplete: "off", InputMode: "email"},
		{ID: "contact-phone", Name: FieldPhone, Label: i18n.T(ctx, "staff.field.phone"), Type: "tel", Value: c.Phone, Error: c.Errs[FieldPhone], Autocomplete: "off", InputMode: "tel"},
		{ID: "contact-note", Name: FieldNote, Label: i18n.T(ctx, "staff.field.note"), Type: "textarea", Value: c.Note, Error: c.Errs[FieldNote], Autocomplete: "off"},
	}
	fields[0].Required = true
	return fields
}

func staffNoticeSubject(ctx context.Context, t StaffNoticeText, errs Errors) Field {
	name := FieldSubject(t.Lang)
	return Field{ID: name, Name: name, Label: i18n.T(ctx, "staff.notice.subject"), Type: "text", Value: t.Subject, Error: errs[name], Autocomplete: "off", Lang: t.Lang, Max: 200}
}

func staffNoticeText(ctx context.Context, t StaffNoticeText, errs Errors) Field {
	name := FieldText(t.Lang)
	return Field{ID: name, Name: name, Label: i18n.T(ctx, "staff.notice.text"), Type: "textarea", Value: t.Text, Error: errs[name], Autocomplete: "off", Lang: t.Lang}
}

// staffNoticeFields are the fields in their order, for the list of what is wrong.
func staffNoticeFields(ctx context.Context, p StaffNoticePage) []Field {
	fields := []Field{{ID: p.Booked.ID, Name: FieldToBooked}, {ID: p.Waiting.ID, Name: FieldToWaiting}}
	for _, t := range p.Texts {
		fields = append(fields, staffNoticeSubject(ctx, t, p.Errs), staffNoticeText(ctx, t, p.Errs))
	}
	return fields
}

func staffNoticeLook(ctx context.Context, again bool) string {
	if again {
		return i18n.T(ctx, "staff.notice.look_again")
	}
	return i18n.T(ctx, "staff.notice.look")
}

func staffNoticeLookKind(again bool) ButtonKind {
	if again {
		return ButtonPlain
	}
	return ButtonPrimary
}

// staffBox is the box of the sheet: empty, or as it was at the counter.
func staffBox(attendance string) string {
	switch attendance {
	case "arrived":
		return "☑"
	case "no_show":
		return "☒"
	default:
		return "☐"
	}
}

func staffBoxWord(ctx context.Context, attendance string) string {
	switch attendance {
	case "arrived":
		return i18n.T(ctx, "staff.roster.arrived")
	case "no_show":
		return i18n.T(ctx, "staff.roster.no_show")
	default:
		return i18n.T(ctx, "staff.print.open")
	}
}

// staffTermsMethod is how the form is looked at: by its address, unless it carries a reason.
func staffTermsMethod(p StaffTermsPage) string {
	if p.Posted {
		return "post"
	}
	return "get"
}

// staffRosterEmpty says that nobody is on the roster, or in the part of it that is shown.
func staffRosterEmpty(ctx context.Context, p StaffSlotPage) string {
	if len(p.Shows) > 0 && !p.Shows[0].Current {
		return i18n.T(ctx, "staff.roster.none_here")
	}
	return i18n.T(ctx, "staff.roster.none")
}
