package views

// FieldCancelUpcoming is "1" where erasing may cancel the bookings that have not begun.
const FieldCancelUpcoming = "cancel_upcoming"

// StaffPeoplePage lists customers: the newest ones, or those that were searched for.
type StaffPeoplePage struct {
	Page      Page
	Staff     StaffFrame
	ActionURL string
	// Query is what was typed; it is in no address, since the answer to the POST is the page.
	Query string
	// Problem is a finished message at the field; empty for none.
	Problem string
	// Searched says that the list is the result of a search.
	Searched bool
	People   []StaffPersonItem
	// OlderURL pages on; may be empty.
	OlderURL string
	// More says that the search found more than is shown.
	More bool
}

// StaffPersonItem is one customer in a list.
type StaffPersonItem struct {
	URL   string
	Name  string
	Kana  string
	Email string
	Phone string
	// Facts are finished texts, such as the number of bookings and when the last one was made.
	Facts []string
	// NoShows is a finished text; empty where there was none.
	NoShows string
}

// StaffPersonPage is one customer.
type StaffPersonPage struct {
	Page    Page
	Staff   StaffFrame
	BackURL string

	Name     string
	Kana     string
	Email    string
	Phone    string
	PhoneURL string
	Language string
	// Others are further contacts that were used, each a finished text, the newest first.
	Others []string
	// Alone says that there is no e-mail: only this one booking is known to be theirs.
	Alone bool
	// Erased is a finished sentence where the personal data has gone; empty where it has not.
	Erased string

	Counts   []StaffPersonCount
	Upcoming []StaffPersonLine
	Past     []StaffPersonLine
	OlderURL string
	// NewerURL leads back to the first page of the history; empty there.
	NewerURL string

	// The addresses of what can be done; empty where it cannot, or not by this person.
	LinksURL  string
	ExportURL string
	EraseURL  string
}

// StaffPersonCount is one number of a history: what it counts, and a finished remark, which may be empty.
type StaffPersonCount struct {
	Label string
	Value string
	Note  string
	// Warn marks a number that somebody should know before they promise something.
	Warn bool
}

// StaffPersonLine is one booking or one wait.
type StaffPersonLine struct {
	ID      string
	URL     string
	When    string
	Service string
	Party   int
	Number  string // empty for a wait
	// State is that of a reservation or an entry.
	State string
	// Attendance is "", "arrived" or "no_show".
	Attendance string
	// Text says what became of it: who cancelled and how long before; may be empty.
	Text string
	Note string
}

// StaffErasePage says what erasing a customer would do, before the press.
type StaffErasePage struct {
	Page      Page
	Staff     StaffFrame
	BackURL   string
	ActionURL string
	Name      string
	Kana      string
	// Upcoming are the bookings and waits that would end.
	Upcoming []StaffPersonLine
	// Bookings is the number of bookings among them: with any, CancelUpcoming has to be chosen.
	Bookings    int
	Consequence []StaffConsequence
	// Goes and Stays are finished sentences.
	Goes           []string
	Stays          []string
	Reason         StaffReasonForm
	CancelUpcoming bool
	CancelErr      string
	Problem        string
}

// StaffPersonExportPage is all that is stored about a customer, to read and to print.
type StaffPersonExportPage struct {
	Page    Page
	Staff   StaffFrame
	BackURL string
	FileURL string
	// Made says when and for whom this was made.
	Made   string
	Groups []StaffExportGroup
	// Cut is a finished sentence where not all rows are shown; empty where all are.
	Cut string
}

// StaffExportGroup is a kind of data: bookings, waits, messages, history.
type StaffExportGroup struct {
	Title   string
	Records []StaffExportRecord
}

// StaffExportRecord is one row with its fields that are not empty.
type StaffExportRecord struct {
	Title  string
	Fields []StaffExportField
	// Body is the text of a message.
	Body string
}

// StaffExportField is one field.
type StaffExportField struct {
	Name  string
	Value string
}
