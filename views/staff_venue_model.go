package views

// StaffVenuePage is the form of the venue's own details with what is for its customers.
type StaffVenuePage struct {
	StaffSettingPage
	// PublicURL is the venue's page, Public its address as people read it.
	PublicURL string
	Public    string
	PosterURL string
	QR        [][]bool
	// Snippet is what a site that may show the calendar pastes; empty where none may.
	Snippet string
}
