package views

// StaffProofURL tells whether the venue's records add up, and shows the race lab.
func StaffProofURL(tenant string) string { return staffPath(tenant, "proof") }

// StaffProofRaceURL takes the POST that asks for a run of the race lab.
func StaffProofRaceURL(tenant string) string { return staffPath(tenant, "proof", "race") }
