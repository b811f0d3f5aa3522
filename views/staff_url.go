package views

import "net/url"

// StaffSlotCancelStepURL is the page that says what cancelling these reservations would do. It changes nothing.
func StaffSlotCancelStepURL(tenant, slot, reservation string) string {
	return StaffSlotCancelURL(tenant, slot) + "?" + staffQuery(FieldReservation, reservation)
}

// StaffSlotMoveStepURL is the page that chooses where a reservation moves. It changes nothing.
func StaffSlotMoveStepURL(tenant, slot, reservation string) string {
	return StaffSlotMoveURL(tenant, slot) + "?" + staffQuery(FieldReservation, reservation)
}

// StaffMailboxURL lists the mails that were written to files.
func StaffMailboxURL(tenant string) string { return staffPath(tenant, "mailbox") }

// StaffMailboxMailURL is one mail of the mailbox; mail is the number of its message.
func StaffMailboxMailURL(tenant, mail string) string { return staffPath(tenant, "mailbox", mail) }

func staffQuery(name, value string) string { return url.Values{name: {value}}.Encode() }
