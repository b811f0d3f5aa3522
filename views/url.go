package views

import "net/url"

// Every path of the program stands here. Arguments are path segments (a slug,
// a number, a token); they are escaped.

func path(segments ...string) string {
	out := ""
	for _, s := range segments {
		out += "/" + url.PathEscape(s)
	}
	return out
}

// VenueURL is a tenant's page: services and calendar.
func VenueURL(tenant string) string { return path(tenant) }

// VenueFilter narrows the venue page; empty fields do not narrow.
type VenueFilter struct {
	Date     string // 2006-01-02 in the tenant's zone
	Service  string // slug
	Resource string // slug
	Free     bool   // only what can be booked now
	Month    string // 2006-01: the overview of that month instead of a day
	Lang     string // where the address names a language; empty: the reader's own
	Embed    bool   // the variant for frames on other sites
}

// VenueFilterURL is the venue page narrowed to a day, a service, a resource.
func VenueFilterURL(tenant string, f VenueFilter) string {
	q := url.Values{}
	if f.Date != "" {
		q.Set("date", f.Date)
	}
	if f.Service != "" {
		q.Set("service", f.Service)
	}
	if f.Resource != "" {
		q.Set("resource", f.Resource)
	}
	if f.Free {
		q.Set("free", "1")
	}
	if f.Month != "" {
		q.Set("month", f.Month)
	}
	if f.Lang != "" {
		q.Set(FieldLang, f.Lang)
	}
	to := VenueURL(tenant)
	if f.Embed {
		to = VenueEmbedURL(tenant)
	}
	if len(q) == 0 {
		return to
	}
	return to + "?" + q.Encode()
}

// VenueEmbedURL is the venue page without its frame, for the shop's own site.
func VenueEmbedURL(tenant string) string { return path(tenant, "embed") }

// PosterURL is a page to be printed for the counter, with a QR of the venue page.
func PosterURL(tenant string) string { return path(tenant, "poster") }

// InLanguage is a path with the language that its page is to have.
func InLanguage(to, lang string) string {
	if lang == "" {
		return to
	}
	return to + "?" + url.Values{FieldLang: {lang}}.Encode()
}

// LanguageURL takes the POST that changes a customer's language.
func LanguageURL(tenant string) string { return path(tenant, "language") }

// SlotURL is one slot, for customers.
func SlotURL(tenant, slot string) string { return path(tenant, "slots", slot) }

// SlotHoldURL takes the POST that holds seats.
func SlotHoldURL(tenant, slot string) string { return path(tenant, "slots", slot, "hold") }

// SlotWaitlistURL takes the POST that joins the waitlist.
func SlotWaitlistURL(tenant, slot string) string { return path(tenant, "slots", slot, "waitlist") }

// ReservationURL is the one secret link of a hold and of the booking it becomes.
func ReservationURL(tenant, token string) string { return path(tenant, "reservations", token) }

// ReservationConfirmURL takes the POST that confirms a hold.
func ReservationConfirmURL(tenant, token string) string {
	return path(tenant, "reservations", token, "confirm")
}

// ReservationReleaseURL takes the POST by which a customer backs out of a hold.
func ReservationReleaseURL(tenant, token string) string {
	return path(tenant, "reservations", token, "release")
}

// ReservationExtendURL takes the POST that extends a hold, once.
func ReservationExtendURL(tenant, token string) string {
	return path(tenant, "reservations", token, "extend")
}

// ReservationCancelURL takes the POST that cancels a booking.
func ReservationCancelURL(tenant, token string) string {
	return path(tenant, "reservations", token, "cancel")
}

// ReservationMoveURL takes the POST that moves a booking to target_slot; GET
// shows the slots to choose from.
func ReservationMoveURL(tenant, token string) string {
	return path(tenant, "reservations", token, "move")
}

// ReservationPartyURL takes the POST that changes the size of a party.
func ReservationPartyURL(tenant, token string) string {
	return path(tenant, "reservations", token, "party")
}

// ReservationContactURL takes the POST that corrects who comes.
func ReservationContactURL(tenant, token string) string {
	return path(tenant, "reservations", token, "contact")
}

// EmailChangeURL is the secret link in the mail to an address newly named for a
// booking; GET asks, POST changes.
func EmailChangeURL(tenant, token string) string { return path(tenant, "email-changes", token) }

// ReservationCalendarURL is a booking as an .ics file.
func ReservationCalendarURL(tenant, token string) string {
	return path(tenant, "reservations", token, "calendar.ics")
}

// WaitlistURL is the secret link of a waitlist entry.
func WaitlistURL(tenant, token string) string { return path(tenant, "waitlist", token) }

// WaitlistWithdrawURL takes the POST that leaves the waitlist.
func WaitlistWithdrawURL(tenant, token string) string {
	return path(tenant, "waitlist", token, "withdraw")
}

// WaitlistClaimURL takes the POST that claims open seats, first come, first served.
func WaitlistClaimURL(tenant, token string) string { return path(tenant, "waitlist", token, "claim") }

// WaitlistRejoinURL takes the POST that makes a new entry at the end.
func WaitlistRejoinURL(tenant, token string) string { return path(tenant, "waitlist", token, "rejoin") }

// WaitlistPartyURL takes the POST that makes a waiting party smaller.
func WaitlistPartyURL(tenant, token string) string { return path(tenant, "waitlist", token, "party") }

// WaitlistPreferencesURL takes the POST that says what a waiting party wants to be told.
func WaitlistPreferencesURL(tenant, token string) string {
	return path(tenant, "waitlist", token, "preferences")
}

// PictureURL is the picture of a service; the hash names the very picture.
func PictureURL(tenant, service, hash string) string {
	return path(tenant, "services", service, "picture") + "?" + url.Values{"v": {hash}}.Encode()
}

// OfferURL is the secret link of an offer.
func OfferURL(tenant, token string) string { return path(tenant, "offers", token) }

// OfferAcceptURL takes the POST that accepts an offer.
func OfferAcceptURL(tenant, token string) string { return path(tenant, "offers", token, "accept") }

// OfferDeclineURL takes the POST that lets an offer pass.
func OfferDeclineURL(tenant, token string) string { return path(tenant, "offers", token, "decline") }

// MyReservationsURL is the form that mails somebody the own links; GET and POST.
func MyReservationsURL(tenant string) string { return path(tenant, "my-reservations") }

// StaffURL is the door of the staff pages; it leads on to today or to sign-in.
func StaffURL() string { return "/staff" }

// StaffSignInURL is the sign-in page and takes its POST.
func StaffSignInURL() string { return "/staff/sign-in" }

// StaffSignOutURL takes the POST that signs out.
func StaffSignOutURL() string { return "/staff/sign-out" }

// StaffLanguageURL takes the POST that changes the language of the staff pages.
func StaffLanguageURL() string { return "/staff/language" }

func staffPath(tenant string, segments ...string) string {
	return path(append([]string{"staff", tenant}, segments...)...)
}

// StaffTodayURL is the day at a venue.
func StaffTodayURL(tenant string) string { return staffPath(tenant, "today") }

// StaffDayURL is another day on the same page; date is 2006-01-02 in the
// tenant's zone.
func StaffDayURL(tenant, date string) string {
	return StaffTodayURL(tenant) + "?" + url.Values{"date": {date}}.Encode()
}

// StaffSearchURL takes the POST that searches; names never stand in a URL.
func StaffSearchURL(tenant string) string { return staffPath(tenant, "search") }

// StaffMailURL shows the messages, the mailbox folder among them.
func StaffMailURL(tenant string) string { return staffPath(tenant, "messages") }

// StaffMessageURL is one message as it was or will be sent.
func StaffMessageURL(tenant, message string) string { return staffPath(tenant, "messages", message) }

// StaffMessageRetryURL takes the POST that sends a failed message again.
func StaffMessageRetryURL(tenant, message string) string {
	return staffPath(tenant, "messages", message, "retry")
}

// StaffSlotURL is a slot with its roster and waitlist.
func StaffSlotURL(tenant, slot string) string { return staffPath(tenant, "slots", slot) }

func staffSlotPath(tenant, slot string, segments ...string) string {
	return staffPath(tenant, append([]string{"slots", slot}, segments...)...)
}

// StaffSlotCancelURL takes the POST that cancels bookings (field reservation,
// may repeat).
func StaffSlotCancelURL(tenant, slot string) string { return staffSlotPath(tenant, slot, "cancel") }

// StaffSlotCapacityURL takes the POST that changes the capacity.
func StaffSlotCapacityURL(tenant, slot string) string { return staffSlotPath(tenant, slot, "capacity") }

// StaffSlotBookURL takes the POST that books for a caller.
func StaffSlotBookURL(tenant, slot string) string { return staffSlotPath(tenant, slot, "book") }

// StaffSlotJoinURL takes the POST that puts a caller on the waitlist.
func StaffSlotJoinURL(tenant, slot string) string { return staffSlotPath(tenant, slot, "waitlist") }

// StaffSlotMoveURL takes the POST that moves a booking to target_slot.
func StaffSlotMoveURL(tenant, slot string) string { return staffSlotPath(tenant, slot, "move") }

// StaffSlotPartyURL takes the POST that changes the size of a booked party.
func StaffSlotPartyURL(tenant, slot string) string { return staffSlotPath(tenant, slot, "party") }

// StaffSlotAttendanceURL takes the POST that checks in or marks a no-show.
func StaffSlotAttendanceURL(tenant, slot string) string {
	return staffSlotPath(tenant, slot, "attendance")
}

// StaffSlotTermsURL takes the POST that changes time, resource or service.
func StaffSlotTermsURL(tenant, slot string) string { return staffSlotPath(tenant, slot, "terms") }

// StaffSlotCloseURL takes the POST that closes a slot for booking.
func StaffSlotCloseURL(tenant, slot string) string { return staffSlotPath(tenant, slot, "close") }

// StaffSlotReopenURL takes the POST that opens a closed slot again.
func StaffSlotReopenURL(tenant, slot string) string { return staffSlotPath(tenant, slot, "reopen") }

// StaffSlotPauseURL takes the POST that pauses the waitlist of a slot.
func StaffSlotPauseURL(tenant, slot string) string { return staffSlotPath(tenant, slot, "pause") }

// StaffSlotResumeURL takes the POST that lets the waitlist go on.
func StaffSlotResumeURL(tenant, slot string) string { return staffSlotPath(tenant, slot, "resume") }

// StaffSlotCancelSlotURL takes the POST that cancels the slot itself.
func StaffSlotCancelSlotURL(tenant, slot string) string {
	return staffSlotPath(tenant, slot, "cancel-slot")
}

// StaffEntryOfferURL takes the POST that offers seats to a chosen entry.
func StaffEntryOfferURL(tenant, slot, entry string) string {
	return staffSlotPath(tenant, slot, "waitlist", entry, "offer")
}

// StaffEntryRevokeURL takes the POST that takes an offer back.
func StaffEntryRevokeURL(tenant, slot, entry string) string {
	return staffSlotPath(tenant, slot, "waitlist", entry, "revoke")
}

// StaffEntryRemoveURL takes the POST that takes an entry off the waitlist.
func StaffEntryRemoveURL(tenant, slot, entry string) string {
	return staffSlotPath(tenant, slot, "waitlist", entry, "remove")
}

// StaffEntryAcceptURL takes the POST that accepts an offer for a caller.
func StaffEntryAcceptURL(tenant, slot, entry string) string {
	return staffSlotPath(tenant, slot, "waitlist", entry, "accept")
}

// StaffEntryDeclineURL takes the POST that declines an offer for a caller.
func StaffEntryDeclineURL(tenant, slot, entry string) string {
	return staffSlotPath(tenant, slot, "waitlist", entry, "decline")
}

// StaffEntryClaimURL takes the POST that claims open seats for a caller.
func StaffEntryClaimURL(tenant, slot, entry string) string {
	return staffSlotPath(tenant, slot, "waitlist", entry, "claim")
}
