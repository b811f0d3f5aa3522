package views

import "net/url"

// CalendarFeedURL is the secret address of a member's calendar of the venue. The
// slugs choose one service or one resource; empty: all.
func CalendarFeedURL(tenant, token, service, resource string) string {
	q := url.Values{}
	if service != "" {
		q.Set("service", service)
	}
	if resource != "" {
		q.Set("resource", resource)
	}
	to := path(tenant, "calendar", token+".ics")
	if len(q) == 0 {
		return to
	}
	return to + "?" + q.Encode()
}

// StaffFeedURL shows a member the address of their calendar, and takes the POST that makes a new one.
func StaffFeedURL(tenant string) string { return staffPath(tenant, "calendar-feed") }

// StaffFeedOffURL takes the POST that ends the address.
func StaffFeedOffURL(tenant string) string { return staffPath(tenant, "calendar-feed", "off") }
