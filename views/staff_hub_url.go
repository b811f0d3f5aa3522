package views

// StaffSettingsURL leads to what is set up rarely.
func StaffSettingsURL(tenant string) string { return staffPath(tenant, "settings") }
