package views

import "net/url"

// Customers are addressed by the id of one of their bookings or waits: an e-mail address stands in no URL.

// StaffPeopleURL lists customers, and takes the POST that searches them.
func StaffPeopleURL(tenant string) string { return staffPath(tenant, "people") }

// StaffPeopleOlderURL goes on in the list after the customer whose last booking was at (RFC 3339).
func StaffPeopleOlderURL(tenant, at, id string) string {
	return StaffPeopleURL(tenant) + "?" + url.Values{"before": {at}, "id": {id}}.Encode()
}

// StaffPersonURL is one customer with their history.
func StaffPersonURL(tenant, person string) string { return staffPath(tenant, "people", person) }

// StaffPersonOlderURL goes on in the history after a line whose slot starts at (RFC 3339).
func StaffPersonOlderURL(tenant, person, at, id string) string {
	return StaffPersonURL(tenant, person) + "?" + url.Values{"before": {at}, "id": {id}}.Encode()
}

// StaffPersonLinksURL takes the POST that mails customers the links of their bookings.
func StaffPersonLinksURL(tenant, person string) string {
	return staffPath(tenant, "people", person, "links")
}

// StaffPersonExportURL is all that is stored about a customer, as a page to print.
func StaffPersonExportURL(tenant, person string) string {
	return staffPath(tenant, "people", person, "export")
}

// StaffPersonExportFileURL is the same as a file of JSON.
func StaffPersonExportFileURL(tenant, person string) string {
	return staffPath(tenant, "people", person, "export.json")
}

// StaffPersonEraseURL says what erasing would do, and takes the POST that does it.
func StaffPersonEraseURL(tenant, person string) string {
	return staffPath(tenant, "people", person, "erase")
}
