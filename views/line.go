package views

import "net/url"

// LineBox is how a customer gets messages by LINE, on the page of a booking or of a
// place on the waitlist.
type LineBox struct {
	Action  string // takes the POST that makes a code
	Stop    string // takes the POST that goes back to mail; empty where nothing is linked
	Self    string // the page itself, to be opened again
	Venue   string
	Account string // of the venue, with @
	Entry   bool   // it is a place on the waitlist
	All     bool   // linked for all of the address, not for this one alone
	More    bool   // linked for this one, and it can be for all
	Code    string // to be sent; empty for none
	Until   string // until when the code works
	OpenURL string // opens LINE with the code already typed
	QR      [][]bool
}

// ReservationLineURL takes the POST that makes a code by which LINE is linked.
func ReservationLineURL(tenant, token string) string {
	return path(tenant, "reservations", token, "line")
}

// ReservationLineStopURL takes the POST that goes back to mail.
func ReservationLineStopURL(tenant, token string) string {
	return path(tenant, "reservations", token, "line-stop")
}

// WaitlistLineURL takes the POST that makes a code by which LINE is linked.
func WaitlistLineURL(tenant, token string) string { return path(tenant, "waitlist", token, "line") }

// WaitlistLineStopURL takes the POST that goes back to mail.
func WaitlistLineStopURL(tenant, token string) string {
	return path(tenant, "waitlist", token, "line-stop")
}

// LineWebhookURL takes what LINE tells about a venue's account.
func LineWebhookURL(tenant string) string { return path("api", "line", tenant) }

// LineMessageURL opens LINE, on the talk with an account, with a text already
// typed. If the account is no friend yet LINE asks to add it first.
func LineMessageURL(account, text string) string {
	return "https://line.me/R/oaMessage/" + url.QueryEscape(account) + "/?" + url.PathEscape(text)
}
