package views

// The fields of the check-in and of the exports.
const (
	// FieldCheckinNumber is the number of a booking as typed.
	FieldCheckinNumber = "number"
	// FieldExportFrom and FieldExportTo are days at the venue, both included.
	FieldExportFrom     = "from"
	FieldExportTo       = "to"
	FieldExportService  = "service"
	FieldExportResource = "resource"
	FieldExportState    = "state"
)

// StaffCheckinPage takes the number of a booking.
type StaffCheckinPage struct {
	Page      Page
	Staff     StaffFrame
	ActionURL string
	Number    string // as typed
	Err       string
}

// StaffCheckedPage is the booking of a number, before and after the press.
type StaffCheckedPage struct {
	Page  Page
	Staff StaffFrame
	// State is "ready", "arrived", "done" (by this very press), "other_day", "cancelled", "slot_cancelled", "over" or "held".
	State string
	// Title and Text say what is so, and what to do.
	Title string
	Text  string

	Number   string
	Name     string
	Kana     string
	Party    int
	When     When
	Service  string
	Resource string
	Phone    string
	PhoneURL string
	Note     string
	Answers  []Answer

	// ActionURL takes the press; empty where there is nothing to press.
	ActionURL string
	// Others are this person's other bookings of today.
	Others []StaffCheckinOther
	// Arrived says how far the slot is; empty for none.
	Arrived string
	NextURL string // the next guest
	SlotURL string
}

// StaffCheckinOther is another booking of the same person.
type StaffCheckinOther struct {
	URL     string
	Time    string
	Service string
	Party   int
	Arrived bool
}

// StaffExportsPage chooses what is exported, and says how much that is.
type StaffExportsPage struct {
	Page      Page
	Staff     StaffFrame
	ActionURL string
	From      string // 2006-01-02, or as typed
	To        string
	Services  []Option
	Resources []Option
	States    []Option
	Errs      Errors
	// Range is the days in words; empty while the form has a fault.
	Range string
	Files []StaffExportFile
}

// StaffExportFile is one file that can be taken.
type StaffExportFile struct {
	Title string
	Text  string
	Count string // such as 132 lines
	Empty bool
	URL   string
	Name  string // reservations, waitlist or customers
}
