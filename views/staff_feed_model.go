package views

// StaffFeedPage is a member's calendar of the venue, for programs of others.
type StaffFeedPage struct {
	Page  Page
	Staff StaffFrame
	// Address is the whole secret address of what is chosen; empty while there is none.
	Address string
	// OpenURL is the same for programs that subscribe by a press (webcal).
	OpenURL string
	// Services and Resources choose what the address shows; the first of each is all.
	Services  []Option
	Resources []Option
	// Range says from when until when slots are listed.
	Range     string
	ActionURL string
	OffURL    string
	// Guides say how a program takes the address.
	Guides []StaffFeedGuide
}

// StaffFeedGuide is how one program takes the address, step by step.
type StaffFeedGuide struct {
	Name  string
	Steps []string
}
