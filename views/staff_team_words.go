package views

// teamName is how a member is called where a button names them.
func teamName(m StaffTeamMember) string {
	if m.Name != "" {
		return m.Name
	}
	return m.Email
}

// accountErr is what is wrong with a field of the form that came back; the other form of the page has the same field.
func accountErr(p StaffFactorPage, form, field string) string {
	if p.Open == form {
		return p.Errs[field]
	}
	return ""
}
