package views

import "net/url"

// StaffCheckinURL is the form that takes the number of a booking, and its POST.
func StaffCheckinURL(tenant string) string { return staffPath(tenant, "checkin") }

// StaffCheckinNumberURL is the booking of a number, to be checked in by a press.
// The QR code of the booking's page leads here: it tells nothing but the number,
// and opens nothing for whoever is not signed in.
func StaffCheckinNumberURL(tenant, number string) string {
	return staffPath(tenant, "checkin", number)
}

// StaffSlotWaitlistCSVURL is the waitlist of a slot as a file.
func StaffSlotWaitlistCSVURL(tenant, slot string) string {
	return staffSlotPath(tenant, slot, "waitlist.csv")
}

// StaffExportsURL is the page on which the lines of an export are chosen.
func StaffExportsURL(tenant string) string { return staffPath(tenant, "exports") }

// StaffExport names a file of the exports.
type StaffExport string

// The files.
const (
	ExportReservations StaffExport = "reservations"
	ExportWaitlist     StaffExport = "waitlist"
	ExportCustomers    StaffExport = "customers"
)

// StaffExportURL is a file of what a filter chooses.
func StaffExportURL(tenant string, file StaffExport, filter url.Values) string {
	return staffPath(tenant, "exports", string(file)+".csv") + "?" + filter.Encode()
}
