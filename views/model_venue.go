package views

// SlotPhase says why a slot is outside its booking window.
type SlotPhase string

// The phases outside the window.
const (
	PhaseNotYet SlotPhase = "not_yet" // booking has not opened
	PhaseOver   SlotPhase = "over"    // booking is over, the slot is still to come or going on
	PhasePast   SlotPhase = "past"    // the slot itself is over
)

// VenueMonth is the overview of one month. Weeks begin on Sunday, as wall
// calendars in Japan do.
type VenueMonth struct {
	Title    string // 2026年12月
	Weekdays []VenueWeekday
	Weeks    [][]VenueMonthDay // of seven days each
	Holidays []string          // "12月23日（水） 天皇誕生日", for phones, where a day has no room for a name
	Empty    string            // why nothing at all stands in this month; a finished sentence
}

// VenueWeekday heads a column of the month.
type VenueWeekday struct {
	Short string // 木, Thu
	Long  string // 木曜日, Thursday
	Kind  DayKind
}

// VenueMonthDay is one day of the overview; the zero one is of another month.
type VenueMonthDay struct {
	Day     string // 8
	Date    string // 2006-01-02
	Label   string // the whole date, for those who hear it
	URL     string // empty: it has been, or is too far ahead
	Today   bool
	Kind    DayKind
	Holiday string
	Closed  bool
	Note    string    // why it is closed
	State   SlotState // the best that the day has; empty: no slots at all
	Phase   SlotPhase // of the best, where that is outside its booking window
	Opens   string    // when booking of it begins; a finished sentence
}

// ServiceAbout is everything that a shop says about a service.
type ServiceAbout struct {
	Name     string
	Details  string
	Price    string
	Duration string
	Place    string
	Bring    string
	Picture  *Picture // nil for none
}

// LanguageLink leads to the same page in another language.
type LanguageLink struct {
	Lang string
	Text string // the language's own name
	URL  string
}

// PosterPage is to be printed and put on the counter.
type PosterPage struct {
	Page    Page
	Address string   // the public address of the venue page as people type it, without https://
	QR      [][]bool // of that address; rows of dark modules without a quiet border
	// Snippet shows the calendar on the shop's own site; empty where no site may.
	Snippet string
	Origins []string // the sites that may
}
