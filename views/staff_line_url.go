package views

// StaffLineURL is the venue's LINE account; its POST saves it.
func StaffLineURL(tenant string) string { return staffPath(tenant, "line") }

// StaffLineCheckURL takes the POST that asks LINE whether the token works.
func StaffLineCheckURL(tenant string) string { return staffPath(tenant, "line", "check") }

// StaffLineRemoveURL says what removing the account does; its POST removes.
func StaffLineRemoveURL(tenant string) string { return staffPath(tenant, "line", "remove") }
