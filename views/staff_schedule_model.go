package views

// Fields of the forms for schedules. Days are 2006-01-02, times of day 15:04, on the wall at the venue.
const (
	FieldScheduleService  = "service"
	FieldScheduleResource = "resource"
	// FieldScheduleFreq is "daily", "weekly", "monthly_day" or "monthly_nth".
	FieldScheduleFreq  = "freq"
	FieldScheduleEvery = "every"
	// FieldScheduleWeekday may repeat: 0 is Sunday.
	FieldScheduleWeekday  = "weekday"
	FieldScheduleMonthDay = "month_day"
	FieldScheduleNth      = "nth"
	FieldScheduleNthDay   = "nth_day"
	// FieldScheduleBy is "times" or "hours".
	FieldScheduleBy       = "by"
	FieldScheduleTimes    = "times"
	FieldScheduleOpens    = "opens"
	FieldScheduleCloses   = "closes"
	FieldScheduleStep     = "step"
	FieldScheduleFirst    = "first"
	FieldScheduleUntil    = "until"
	FieldScheduleExcept   = "except"
	FieldScheduleClosed   = "skip_closed"
	FieldScheduleHolidays = "skip_holidays"
	// FieldScheduleFrom is the day from which a change counts.
	FieldScheduleFrom = "from"
	// FieldScheduleDay and FieldScheduleTime say when one slot is.
	FieldScheduleDay  = "day"
	FieldScheduleTime = "time"
	// FieldScheduleWeek is a day of the week to copy, FieldScheduleInto one of the first week to fill.
	FieldScheduleWeek  = "week"
	FieldScheduleInto  = "into"
	FieldScheduleWeeks = "weeks"
	// FieldSchedulePlan stands for the preview that was shown.
	FieldSchedulePlan = "plan"
	// FieldScheduleOthers is "1" where the others are to be made although some overlap.
	FieldScheduleOthers = "others"
	// FieldScheduleChoice is "move", "cancel" or "keep"; deleting has "stop" too.
	FieldScheduleChoice = "choice"
)

// StaffScheduleTab leads to one of the pages of the family.
type StaffScheduleTab struct {
	Text    string
	URL     string
	Current bool
}

// StaffSchedulesPage lists the schedules.
type StaffSchedulesPage struct {
	Page  Page
	Staff StaffFrame
	Tabs  []StaffScheduleTab
	Items []StaffScheduleItem
	// Missing says that there is no service or no resource yet.
	Missing string
	NewURL  string
}

// StaffScheduleItem is one schedule in a line. All texts are finished.
type StaffScheduleItem struct {
	ID       string
	URL      string
	Service  string
	Resource string
	// Rule says which days, Times at what time, Span from when until when.
	Rule  string
	Times string
	Span  string
	// Coming says how many slots lie ahead, and when the next one is.
	Coming string
	// State is "active", "stopped" or "ended"; StateText its word.
	State     string
	StateText string
	// Unfinished: a change of its slots is not through.
	Unfinished bool
}

// StaffScheduleForm is the rule as typed.
type StaffScheduleForm struct {
	// ActionURL takes the fields by GET and shows the preview.
	ActionURL string
	// ClockChanges: the venue's clocks go forward and back, which has to be explained.
	ClockChanges bool
	// From is the day from which a change counts; Editing shows it, and fixes the service.
	Editing     bool
	From        string
	Services    []Option
	Resources   []Option
	Freqs       []Option
	Every       string
	Weekdays    []Option
	MonthDay    string
	Nths        []Option
	NthDays     []Option
	Bys         []Option
	Times       string
	Opens       string
	Closes      string
	Step        string
	First       string
	Until       string
	Except      string
	Capacity    string
	Closed      bool
	Holidays    bool
	HasHolidays bool // the venue is in Japan
	Errs        Errors
}

// StaffSchedulePage is the form of a new schedule, or a stored one with the form that changes it.
type StaffSchedulePage struct {
	Page  Page
	Staff StaffFrame
	Tabs  []StaffScheduleTab
	Title string
	// Item is nil for a new one.
	Item *StaffScheduleItem
	// Result is what the last press did; nil for none. Fresh: it was just now.
	Result *StaffResult
	Fresh  bool
	// ContinueURL goes on with a change that is not through; Left says how much there is. Empty: none.
	ContinueURL string
	Left        string
	// Missing says how many occurrences are not made, and why; RunURL makes those that can be. May be empty.
	Missing   string
	Skipped   []StaffScheduleSkip
	RunURL    string
	DeleteURL string
	// Form is nil for a deleted schedule.
	Form *StaffScheduleForm
}

// StaffScheduleSkip is an occurrence that is not made.
type StaffScheduleSkip struct {
	When string
	Why  string
	// URL leads to the slot in the way; may be empty.
	URL string
}

// StaffScheduleMonth is a month of a preview.
type StaffScheduleMonth struct {
	Heading string
	// Count says how many slots.
	Count string
	Days  []StaffScheduleDay
}

// StaffScheduleDay is one day of it.
type StaffScheduleDay struct {
	Date  string
	Times string
	// Note says what a clock change does; may be empty.
	Note string
}

// StaffSchedulePlan is what a press would make.
type StaffSchedulePlan struct {
	// Make says how many, as a finished sentence; N is the number.
	Make string
	N    int
	// Notes are finished sentences: how many are left out and why, months passed over, clock changes.
	Notes   []string
	Months  []StaffScheduleMonth
	Skipped []StaffScheduleSkip
	// MoreSkipped says how many more there are; may be empty.
	MoreSkipped string
}

// StaffSchedulePreviewPage says what a press would do, before it.
type StaffSchedulePreviewPage struct {
	Page  Page
	Staff StaffFrame
	Tabs  []StaffScheduleTab
	Title string
	Item  StaffScheduleItem
	// Problem says why nothing was made, after a press.
	Problem string
	Plan    StaffSchedulePlan
	// Split says that the schedule is divided; may be empty.
	Split string
	// Effects are finished sentences about the slots that are there.
	Effects []StaffConsequence
	// Slots are those with people whose time changes or ends.
	Slots     []StaffScheduleSlot
	MoreSlots string
	// Choices say what becomes of them; empty: nobody is concerned.
	Choices   []Option
	ChoiceErr string
	Reason    StaffReasonForm
	// ActionURL takes Hidden; empty: there is nothing to do.
	ActionURL string
	Hidden    []Hidden
	Press     string
	Danger    bool
	// Others says that some overlap and that the press makes the others; may be empty.
	Others  string
	BackURL string
}

// StaffScheduleSlot is a slot with people in it.
type StaffScheduleSlot struct {
	URL  string
	When string
	// What says what the new rule means for it.
	What string
	// Who names the first of them, and how many there are.
	Who string
}

// StaffScheduleSlotPage is the form of one slot.
type StaffScheduleSlotPage struct {
	Page      Page
	Staff     StaffFrame
	Tabs      []StaffScheduleTab
	ActionURL string
	Key       string
	Services  []Option
	Resources []Option
	Day       string
	Time      string
	Capacity  string
	Problem   string
	InTheWay  []StaffScheduleSkip
	Errs      Errors
}

// StaffScheduleCopyPage chooses a week to copy, and says what would be made.
type StaffScheduleCopyPage struct {
	Page      Page
	Staff     StaffFrame
	Tabs      []StaffScheduleTab
	ActionURL string
	Week      string
	Into      string
	Weeks     string
	Services  []Option
	Resources []Option
	Closed    bool
	Holidays  bool
	// HasHolidays: the venue is in Japan.
	HasHolidays bool
	Errs        Errors
	Problem     string
	// Plan is nil before the form was sent.
	Plan *StaffSchedulePlan
	// Source says what the week has.
	Source   string
	Hidden   []Hidden
	Press    string
	Others   string
	PressURL string
}

// StaffScheduleSeatsPage changes the seats of many slots.
type StaffScheduleSeatsPage struct {
	Page      Page
	Staff     StaffFrame
	Tabs      []StaffScheduleTab
	ActionURL string
	Services  []Option
	Resources []Option
	First     string
	Until     string
	Weekdays  []Option
	Capacity  string
	Errs      Errors
	Problem   string
	// Result is what the last press did; nil for none.
	Result *StaffResult
	// Shown: the form was sent, and this is what would follow.
	Shown    bool
	Summary  []string
	Effects  []StaffConsequence
	Slots    []StaffScheduleSlot
	Hidden   []Hidden
	Press    string
	PressURL string
}
