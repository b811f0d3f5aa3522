package views

import "net/url"

// Fields of the pages about messages.
const (
	FieldOpening  = "opening"
	FieldExtra    = "extra"
	FieldBookings = "bookings"
	FieldCancels  = "cancels"
	FieldFailures = "failures"
	FieldDigest   = "digest"
	FieldDigestAt = "digest_at"
)

// StaffMessageGiveUpURL asks whether a message is given up, and takes its POST.
func StaffMessageGiveUpURL(tenant, message string) string {
	return staffPath(tenant, "messages", message, "give-up")
}

// StaffMessagesRetryAllURL takes the POST that sends what has failed again.
func StaffMessagesRetryAllURL(tenant string) string {
	return staffPath(tenant, "messages", "retry-failed")
}

// StaffMessagesOfSlotURL lists the messages about one slot.
func StaffMessagesOfSlotURL(tenant, slot string) string {
	return StaffMailURL(tenant) + "?" + staffQuery("slot", slot)
}

// StaffMessageLinkURL takes the POST that mails the link of a booking or an entry again.
func StaffMessageLinkURL(tenant, subject string) string {
	return staffPath(tenant, "messages", "links", subject)
}

// StaffPreviewsURL shows every kind of message; StaffPreviewURL one of them in one language.
func StaffPreviewsURL(tenant string) string { return staffPath(tenant, "messages", "previews") }

// StaffPreviewURL is one kind of message with example data.
func StaffPreviewURL(tenant, kind, lang string) string {
	return StaffPreviewsURL(tenant) + "?" + url.Values{"kind": {kind}, "lang": {lang}}.Encode()
}

// StaffPreviewTextURL is the plain text of one kind.
func StaffPreviewTextURL(tenant, kind, lang string) string {
	return StaffPreviewsURL(tenant) + "?" + url.Values{"kind": {kind}, "lang": {lang}, "part": {"text"}}.Encode()
}

// StaffPreviewHTMLURL is the HTML part of one kind by itself.
func StaffPreviewHTMLURL(tenant, kind, lang string) string {
	return staffPath(tenant, "messages", "previews", "html") + "?" + url.Values{"kind": {kind}, "lang": {lang}}.Encode()
}

// StaffTextsURL lists the messages whose words can be changed.
func StaffTextsURL(tenant string) string { return staffPath(tenant, "messages", "texts") }

// StaffTextURL has the words of one kind in one language, and takes the POST that saves them.
func StaffTextURL(tenant, kind, lang string) string {
	return staffPath(tenant, "messages", "texts", kind, lang)
}

// StaffTextPreviewURL takes the POST that shows words before they are saved.
func StaffTextPreviewURL(tenant, kind, lang string) string {
	return staffPath(tenant, "messages", "texts", kind, lang, "preview")
}

// StaffTextDefaultURL takes the POST that puts the words back that we bring.
func StaffTextDefaultURL(tenant, kind, lang string) string {
	return staffPath(tenant, "messages", "texts", kind, lang, "default")
}

// StaffNoticesURL has what a member is told of, and takes its POST.
func StaffNoticesURL(tenant string) string { return staffPath(tenant, "messages", "notices") }
