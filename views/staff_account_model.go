package views

// StaffAccountPage is a person's own page, over all venues.
type StaffAccountPage struct {
	Page      Page
	BackURL   string
	ActionURL string
	Name      string
	Email     string
	Languages []Option
	Errs      Errors

	PasswordURL string
	SessionsURL string
	// Sessions says in how many places they are signed in.
	Sessions  string
	FactorURL string
	FactorOn  bool
	// Factor says how the second factor stands.
	Factor string

	Venues []StaffVenue
	// NewVenueURL adds a venue; empty for those who may not.
	NewVenueURL string
	SignOutURL  string
}

// StaffPasswordPage changes the own password.
type StaffPasswordPage struct {
	Page       Page
	BackURL    string
	ActionURL  string
	Email      string // for password managers
	Errs       Errors
	RetryAfter string // a finished sentence; empty unless limited
}

// StaffSessionsPage lists where a person is signed in.
type StaffSessionsPage struct {
	Page     Page
	BackURL  string
	Sessions []StaffSessionLine
	EndURL   string
	// EndOthersURL ends all but this one; empty where there is no other.
	EndOthersURL string
}

// StaffSessionLine is one browser.
type StaffSessionLine struct {
	Handle  string
	Device  string
	Started string
	Seen    string
	Current bool
}

// StaffFactorPage turns the second factor on and off.
type StaffFactorPage struct {
	Page    Page
	BackURL string
	Email   string
	// State is "off", "pending" (shown to be scanned) or "on".
	State string
	// QR is the address of the secret as dark modules, Secret the same to be typed, in groups.
	QR     [][]bool
	Secret string
	// Codes says how many recovery codes are left; Few, that it is time for new ones.
	Codes string
	Few   bool

	StartURL    string
	ConfirmURL  string
	RecoveryURL string
	OffURL      string
	// Open is the form that came back: "confirm", "recovery" or "off".
	Open       string
	Errs       Errors
	RetryAfter string
}

// StaffCodesPage shows recovery codes, once.
type StaffCodesPage struct {
	Page    Page
	Title   string
	Codes   []string
	BackURL string
}

// StaffCodePage asks for the code of the second factor while signing in.
type StaffCodePage struct {
	Page       Page
	ActionURL  string
	Errs       Errors
	RetryAfter string
	BackURL    string
}

// StaffResetPage asks for the address that the link for a new password goes to.
type StaffResetPage struct {
	Page       Page
	ActionURL  string
	Email      string
	Errs       Errors
	RetryAfter string
	SignInURL  string
}

// StaffNewPasswordPage sets a new password by a link.
type StaffNewPasswordPage struct {
	Page      Page
	ActionURL string
	Email     string
	Errs      Errors
}

// StaffNotePage says how something stands, with one way on.
type StaffNotePage struct {
	Page Page
	// State names it in the page, such as "reset_sent".
	State string
	Title string
	Texts []string
	Link  Link
}

// StaffInvitePage is what the link of an invitation opens.
type StaffInvitePage struct {
	Page  Page
	Venue string
	// Lead says who invites as what; Until, when the link stops opening.
	Lead  string
	Until string
	Email string
	// State is "new" (an account is made), "join" (signed in), "sign_in" (has an
	// account) or "other" (somebody else is signed in).
	State      string
	ActionURL  string
	SignInURL  string
	SignOutURL string
	Member     string // who is signed in
	Name       string
	Errs       Errors
}

// StaffNewVenuePage adds a venue.
type StaffNewVenuePage struct {
	Page      Page
	BackURL   string
	ActionURL string
	Name      string
	Slug      string
	Zone      string
	Zones     []string
	Languages []Option
	// Prefix is the public address before the slug.
	Prefix string
	Errs   Errors
}
