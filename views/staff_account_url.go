package views

// StaffSignInCodeURL asks for the code of the second factor.
func StaffSignInCodeURL() string { return path("staff", "sign-in", "code") }

// StaffResetURL asks for a link for a new password.
func StaffResetURL() string { return path("staff", "reset") }

// StaffResetSentURL says that the link is on its way, if it is.
func StaffResetSentURL() string { return path("staff", "reset", "sent") }

// StaffResetLinkURL is the secret link that sets a new password; GET asks, POST sets.
func StaffResetLinkURL(token string) string { return path("staff", "reset", token) }

// StaffInvitationURL is the secret link of an invitation; GET asks, POST joins.
func StaffInvitationURL(tenant, token string) string {
	return path("staff", "invitations", tenant, token)
}

// StaffAccountURL is a person's own page; its POST stores name and language.
func StaffAccountURL() string { return path("staff", "account") }

// StaffPasswordURL changes the own password.
func StaffPasswordURL() string { return path("staff", "account", "password") }

// StaffSessionsURL lists where one is signed in.
func StaffSessionsURL() string { return path("staff", "account", "sessions") }

// StaffSessionEndURL takes the POST that ends one session.
func StaffSessionEndURL() string { return path("staff", "account", "sessions", "end") }

// StaffSessionsEndURL takes the POST that ends all others.
func StaffSessionsEndURL() string { return path("staff", "account", "sessions", "end-others") }

// StaffFactorURL is the page of the own second factor.
func StaffFactorURL() string { return path("staff", "account", "second-factor") }

// StaffFactorStartURL takes the POST that makes a secret to be scanned.
func StaffFactorStartURL() string { return path("staff", "account", "second-factor", "start") }

// StaffFactorConfirmURL takes the POST with the first code of the app.
func StaffFactorConfirmURL() string { return path("staff", "account", "second-factor", "confirm") }

// StaffFactorRecoveryURL takes the POST that makes new recovery codes.
func StaffFactorRecoveryURL() string { return path("staff", "account", "second-factor", "recovery") }

// StaffFactorOffURL takes the POST that turns the second factor off.
func StaffFactorOffURL() string { return path("staff", "account", "second-factor", "off") }

// StaffNewVenueURL adds a venue.
func StaffNewVenueURL() string { return path("staff", "venues", "new") }
