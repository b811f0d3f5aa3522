package views

// StaffImportURL is the form of an import, and takes the file for the check before it.
func StaffImportURL(tenant string) string { return staffPath(tenant, "import") }

// StaffImportKindURL is the same form with one kind chosen: "slots" or "bookings".
func StaffImportKindURL(tenant, kind string) string {
	return StaffImportURL(tenant) + "?" + staffQuery(FieldKind, kind)
}

// StaffImportRunURL takes the POST that imports the lines that the check found good.
func StaffImportRunURL(tenant string) string { return staffPath(tenant, "import", "run") }

// StaffImportTemplateURL is a file to fill in; kind is "slots" or "bookings".
func StaffImportTemplateURL(tenant, kind string) string {
	return staffPath(tenant, "import", kind+".csv")
}
