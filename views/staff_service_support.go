package views

// settingFields are the fields of a form in their order, for the summary of its errors.
func settingFields(f StaffSettingForm) []Field {
	var out []Field
	for _, g := range f.Groups {
		for _, row := range g.Rows {
			for _, field := range row {
				out = append(out, field.Field)
			}
		}
	}
	return out
}

func questionSummary(p StaffQuestionPage) []Field {
	out := append(settingFields(p.Form), Field{Name: FieldOption, ID: "options"})
	for _, o := range p.Options {
		out = append(out, o.JA, o.EN)
	}
	return out
}

func pictureSummary(p StaffPicturePage) []Field {
	return append([]Field{{Name: FieldPicture}}, settingFields(p.Form)...)
}
