package views

import (
	"net/url"
	"strconv"
)

// StaffSlotRosterCSVURL is the roster as a file.
func StaffSlotRosterCSVURL(tenant, slot string) string {
	return staffSlotPath(tenant, slot, "roster.csv")
}

// StaffSlotPrintURL is the roster and the waitlist on one sheet.
func StaffSlotPrintURL(tenant, slot string) string { return staffSlotPath(tenant, slot, "print") }

// StaffSlotHistoryURL is everything that happened to a slot, page by page; before
// is the event that ended the page above, 0 for the newest.
func StaffSlotHistoryURL(tenant, slot string, before int64) string {
	u := staffSlotPath(tenant, slot, "history")
	if before > 0 {
		u += "?" + staffQuery(FieldBefore, strconv.FormatInt(before, 10))
	}
	return u
}

// StaffSlotMessageURL is the form of a message to everybody, and takes its POST.
func StaffSlotMessageURL(tenant, slot string) string { return staffSlotPath(tenant, slot, "message") }

// StaffSlotShowURL is the slot with some of its roster, or with boxes ticked.
func StaffSlotShowURL(tenant, slot, show string, all bool) string {
	q := url.Values{}
	if show != "" {
		q.Set(FieldShow, show)
	}
	if all {
		q.Set(FieldSelect, "all")
	}
	u := StaffSlotURL(tenant, slot)
	if len(q) > 0 {
		u += "?" + q.Encode()
	}
	return u + "#roster"
}

// StaffReservationContactURL is the form that corrects who a booking is for, and takes its POST.
func StaffReservationContactURL(tenant, slot, reservation string) string {
	return staffSlotPath(tenant, slot, "reservations", reservation, "contact")
}

// StaffReservationRebookURL says what booking again after a wrong cancel would do, and takes its POST.
func StaffReservationRebookURL(tenant, slot, reservation string) string {
	return staffSlotPath(tenant, slot, "reservations", reservation, "rebook")
}

// StaffEntryPartyURL says what a smaller waiting party would change, and takes its POST.
func StaffEntryPartyURL(tenant, slot, entry string) string {
	return staffSlotPath(tenant, slot, "waitlist", entry, "party")
}

// StaffMessagesOfURL lists the messages about one reservation or entry.
func StaffMessagesOfURL(tenant, subject string) string {
	return StaffMailURL(tenant) + "?" + staffQuery("subject", subject)
}
