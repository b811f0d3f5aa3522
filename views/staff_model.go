package views

// The structs of the staff's pages. They carry finished text (dates, names, sentences in the reader's language),
// numbers, addresses and booleans; the components only lay them out. Codes such as State choose words and marks,
// and stand in the page as data-state.

// Fields that only staff forms have.
const (
	// FieldAttendance is "arrived", "no_show" or "none".
	FieldAttendance = "attendance"
	// FieldBeyond is "1" where a booking may go beyond the capacity; it needs a reason.
	FieldBeyond = "beyond"
	// FieldNoMail is "1" where a booking is told to nobody.
	FieldNoMail = "no_mail"
	// FieldNext is the path to open after signing in.
	FieldNext = "next"
)

// StaffFrame is what surrounds every page of a signed-in member of staff.
type StaffFrame struct {
	// Venue is the name of the business whose path this is: two tabs may show two venues.
	Venue string
	// Member is the name or address of who is signed in. Empty: nobody is, and no navigation is shown.
	Member string
	// Section is the page family that is open: "today", "messages", the Section of a link of Nav, or "".
	Section string

	TodayURL    string
	MessagesURL string
	// Nav leads to what this person may open besides: calendar, customers, numbers, settings.
	Nav        []StaffNavLink
	SearchURL  string
	SignOutURL string
	// VenuesURL leads to the choice of venue; empty for somebody with one venue.
	VenuesURL string
	// AccountURL leads to the person's own page; may be empty.
	AccountURL string
	// FailedMessages is the number of messages that were given up, shown at the link to the messages.
	FailedMessages int
	// SearchText refills the search box on the page of its results. It never stands in an address.
	SearchText string
}

// StaffNavLink leads to a page family: "calendar", "people", "insight" or "settings".
type StaffNavLink struct {
	Section string
	URL     string
}

// StaffHubPage is a page that only leads to others, in groups.
type StaffHubPage struct {
	Page   Page
	Staff  StaffFrame
	Title  string
	Groups []StaffHubGroup
}

// StaffHubGroup is what belongs together on it.
type StaffHubGroup struct {
	Title string
	Links []StaffHubLink
	// Steps are done in this order; Next is the first that is not done.
	Steps bool
}

// StaffHubLink leads to a page and says what is done there.
type StaffHubLink struct {
	Title string
	Text  string
	URL   string
	Done  bool
	Next  bool
}

// StaffSignInPage is the form of address and password.
type StaffSignInPage struct {
	Page      Page
	ActionURL string
	// Next is the path to open after signing in, chosen by the server.
	Next  string
	Email string
	// Errs are finished messages by field name: "email", "password".
	Errs Errors
	// ResetURL leads to a new password for somebody who has forgotten theirs.
	ResetURL string
	// Problem is said above the fields where no single field is at fault, such as a wrong pair.
	Problem string
	// RetryAfter is a finished sentence with the time of the next attempt; empty unless limited.
	RetryAfter string
}

// StaffSignedOutPage says that the session has ended.
type StaffSignedOutPage struct {
	Page      Page
	SignInURL string
}

// StaffVenuesPage lets somebody who works for several businesses choose one.
type StaffVenuesPage struct {
	Page   Page
	Staff  StaffFrame
	Venues []StaffVenue
}

// StaffVenue is one business in the choice.
type StaffVenue struct {
	Name string
	URL  string
	// Role is "owner", "manager" or "desk".
	Role string
	// Today is a finished sentence about the day ahead; may be empty.
	Today string
}

// StaffBar shows what a slot's seats are doing. The four parts add up to Capacity.
type StaffBar struct {
	Capacity int
	Booked   int
	Held     int
	// Offered seats are kept for open offers.
	Offered int
	Free    int
	// Kept says that the free seats are kept for people who wait, so the public cannot take them.
	Kept bool
}

// StaffDay is one link of the strip of days on the today page.
type StaffDay struct {
	URL     string
	Weekday string
	Day     string
	// Label is the whole date for screen readers.
	Label string
	// Note is a short finished text such as the number of bookings; may be empty.
	Note    string
	Current bool
	Today   bool
}

// StaffTodayPage is one day of the venue: what needs attention, then the slots in order of time.
type StaffTodayPage struct {
	Page  Page
	Staff StaffFrame
	// Heading is the date in words with weekday.
	Heading string
	// Date is the day as YYYY-MM-DD in the venue's zone, for the field that jumps to a day.
	Date string
	// IsToday says that the day shown is today at the venue.
	IsToday bool
	// SelfURL is this page's own path with its date, for the form that jumps and for the update.
	SelfURL  string
	PathURL  string
	PrevURL  string
	NextURL  string
	TodayURL string
	Days     []StaffDay
	// UpdatedAt is the venue's time of this rendering, as text.
	UpdatedAt string
	LiveURL   string // streams that something has changed

	// Views are the day, the week and the month.
	Views []StaffChoice
	// Choosers narrow the slots to a service or a resource; Keep holds that for the form that jumps.
	Choosers []StaffChooser
	Keep     []Hidden
	// AddURL is where a slot of this day is made; empty for those who may not.
	AddURL string
	// StartURL is the first set-up, where nothing has been set up and the member may do so.
	StartURL string
	// Holiday names a public holiday; Closed is a finished sentence where the venue is closed. Both may be empty.
	Holiday string
	Closed  string

	Counts    StaffCounts
	Attention StaffAttention
	Slots     []StaffTodaySlot
}

// StaffCounts are the sums of the day: seats, and for Waiting parties.
type StaffCounts struct {
	Booked  int
	Arrived int
	Held    int
	Offered int
	Waiting int
	Free    int
}

// StaffAttention is what somebody should do or know now, most urgent first. Empty lists show nothing.
type StaffAttention struct {
	Alarms   []StaffAlarm
	Calls    []StaffCall
	Messages []StaffMessage
	Lapsing  []StaffLapsing
	Webhooks []StaffWebhookDown
}

// Count is the number of things that wait for somebody.
func (a StaffAttention) Count() int {
	return len(a.Alarms) + len(a.Calls) + len(a.Messages) + len(a.Lapsing) + len(a.Webhooks)
}

// StaffAlarm is an invariant that does not hold: the data contradict themselves.
type StaffAlarm struct {
	// Slot is its id, Invariant its name, "I1" to "I10".
	Slot      string
	Invariant string
	// Text is a finished sentence.
	Text string
	// URL leads to the slot concerned; may be empty.
	URL string
}

// StaffCall is an open offer to somebody without an e-mail address: nobody else will tell them.
type StaffCall struct {
	Entry    string
	Name     string
	Kana     string
	Party    int
	Phone    string
	PhoneURL string
	// SlotText says which slot, with date and time.
	SlotText string
	SlotURL  string
	// Until is the shown deadline; zero where nothing runs out.
	Until        Deadline
	AcceptURL    string
	DeclineURL   string
	Version      string
	TermsVersion string
}

// StaffLapsing is an open offer whose shown deadline is near.
type StaffLapsing struct {
	Entry    string
	Name     string
	Party    int
	SlotText string
	SlotURL  string
	Phone    string
	PhoneURL string
	// Until is the shown deadline; zero where nothing runs out.
	Until Deadline
}

// StaffTodaySlot is one row of the day.
type StaffTodaySlot struct {
	ID  string
	URL string
	// Starts and Ends are times of day at the venue, Ends with its date where it is another day.
	// Before says that it began on an earlier day.
	Before   bool
	Starts   string
	Ends     string
	Service  string
	Resource string
	// State is "free", "few", "full", "waitlist", "closed", "cancelled" or "over".
	State string
	// Paused says that the waitlist makes no offers by itself.
	Paused bool
	// Running says that it has begun and not ended; Next marks the one that begins next.
	Running bool
	Next    bool
	// Soon is a finished text such as the minutes until the start; shown at Next.
	Soon string
	Bar  StaffBar
	// Arrived counts the people who were checked in.
	Arrived int
	Waiting int
	// First is who would be offered seats next; empty when nobody waits.
	First      string
	FirstParty int
	Offers     []StaffLapsing
}

// StaffSearchPage shows what was found. It is the answer to a POST, so that names stand in no address.
type StaffSearchPage struct {
	Page  Page
	Staff StaffFrame
	Query string
	// Problem is a finished message where the search text cannot be used, such as when it is too short.
	Problem string
	Found   []StaffFound
	// More says that there were more than are shown.
	More bool
}

// StaffFound is a reservation or a waitlist entry that matches.
type StaffFound struct {
	URL string
	// Number is the reservation's short number; empty for a waitlist entry.
	Number string
	Name   string
	Kana   string
	Party  int
	// State is that of a reservation or an entry.
	State    string
	When     string
	Service  string
	Phone    string
	PhoneURL string
	// CancelURL and MoveURL open the step before the press; empty where the state does not allow it.
	CancelURL string
	MoveURL   string
	// Past greys what is over.
	Past bool
}

// StaffSlotHead is the top of the slot page and of its steps.
type StaffSlotHead struct {
	ID      string
	URL     string
	LiveURL string // streams that something has changed
	// When is date and time at the venue, with the zone where the reader's differs.
	When     When
	Service  string
	Resource string
	State    string
	Paused   bool
	Bar      StaffBar
	Waiting  int
	Arrived  int
	// Rule is a finished sentence about who gets freed seats now, and when that switches.
	Rule string
	// BackURL leads to the day of the slot, BackText names the day.
	BackURL  string
	BackText string
	// Version is the slot's version that this page shows; every form carries it.
	Version string
	// TermsVersion is what a customer would agree to.
	TermsVersion string
}

// StaffSlotPage is one slot with its people, its history and everything that can be done to it.
type StaffSlotPage struct {
	Page  Page
	Staff StaffFrame
	Slot  StaffSlotHead

	// Changed is set when the last press was not carried out because the state had changed.
	Changed *StaffChanged
	// Result is set after a press was carried out.
	Result *StaffResult
	// Problem is a finished message of a refused press that belongs to no field.
	Problem string

	Roster []StaffReservation
	// Gone are the reservations that ended: cancelled, released, expired.
	Gone      []StaffReservation
	Waitlist  []StaffEntry
	WaitGone  []StaffEntry
	History   []StaffEvent
	OlderURL  string
	Capacity  StaffCapacityForm
	Book      StaffBookForm
	CancelURL string
	// PrintURL is the roster alone, CSVURL the same as a file; either may be empty.
	PrintURL string
	CSVURL   string
	// WaitCSVURL is the waitlist as a file; may be empty.
	WaitCSVURL string
	// Shows are the parts of the roster that can be shown alone; SelectAllURL ticks every box.
	Shows        []StaffFilter
	SelectAllURL string
	// TermsURL and MessageURL open steps; empty where the role or the state forbids them.
	TermsURL   string
	MessageURL string

	// The addresses of the four switches; one that would change nothing is empty.
	CloseURL  string
	ReopenURL string
	PauseURL  string
	ResumeURL string
	// CancelSlotURL opens the step before cancelling the slot; empty where the role or the state forbids it.
	CancelSlotURL string
}

// StaffReservation is one party of the roster, or one that has ended.
type StaffReservation struct {
	ID     string
	Number string
	Name   string
	Kana   string
	Party  int
	// State is "held", "confirmed", "cancelled", "released" or "expired".
	State string
	// Attendance is "", "arrived" or "no_show".
	Attendance string
	Phone      string
	PhoneURL   string
	Email      string
	Note       string
	Answers    []Answer // to the questions of the service
	// Source is "web", "staff", "api" or "waitlist".
	Source string
	// Extra is the number of seats beyond the capacity.
	Extra int
	// Until is the shown deadline; zero where nothing runs out.
	Until Deadline
	// Ended says when and by whom it ended, and why; for those that have ended.
	Ended string
	// Told says what was sent to them and when, such as "mail sent at 14:12"; may be empty.
	Told string
	// Selected ticks the box.
	Selected bool

	// AttendanceURL takes the field attendance ("arrived", "no_show" or "none").
	AttendanceURL string
	CancelURL     string
	MoveURL       string
	// PartyURL takes a new size (field party_size); PartyTyped and PartyErr are those of a refused press.
	PartyURL   string
	PartyTyped string
	PartyErr   string
	// ContactURL opens the correction, MessagesURL what was sent to them, RebookURL the undoing of a cancel; may be empty.
	ContactURL  string
	MessagesURL string
	RebookURL   string
}

// StaffEntry is one party of the waitlist.
type StaffEntry struct {
	ID string
	// Position in the queue, from 1; 0 for those that are out.
	Position int
	Name     string
	Kana     string
	Party    int
	// State is "waiting", "offered", "accepted", "lapsed", "declined", "withdrawn" or "closed".
	State    string
	Phone    string
	PhoneURL string
	Email    string
	Note     string
	Answers  []Answer // to the questions of the service
	// Joined is when, as text. Told is what was sent and when; empty when nothing.
	Joined string
	Told   string
	// CannotFit is a finished sentence for a party larger than the capacity; else empty.
	CannotFit string
	// Until is the shown deadline; zero where nothing runs out.
	Until Deadline

	// The addresses of what can be done now; empty where it cannot.
	OfferURL   string
	RevokeURL  string
	RemoveURL  string
	AcceptURL  string
	DeclineURL string
	ClaimURL   string
	// PartyURL opens the step that makes the party smaller, MessagesURL what was sent to them.
	PartyURL    string
	MessagesURL string
	// Ended says why an entry is over; may be empty.
	Ended string
	// OfferAhead says whom an offer would pass over, as a finished sentence; empty at the head.
	OfferAhead string
}

// StaffEvent is one line of the history.
type StaffEvent struct {
	// Number is the place in the history; empty for events without one.
	Number string
	At     string
	// Kind is the kind of event.
	Kind string
	// Sentence says what happened, in words.
	Sentence string
	Reason   string
	// Seats says how the seats changed, such as "−2 seats"; empty where they did not.
	Seats string
	// Notes are further sentences: who was not told, and why.
	Notes []string
}

// StaffCapacityForm changes the number of seats.
type StaffCapacityForm struct {
	ActionURL string
	Value     string
	// Least is the number of seats that nobody else can have.
	Least int
	Err   string
}

// StaffMustMove is somebody who stands in the way of a smaller capacity.
type StaffMustMove struct {
	Text string
	// URL opens the move; empty for a hold or an offer, which end by themselves.
	URL string
}

// StaffBookForm books for somebody on the phone.
type StaffBookForm struct {
	ActionURL      string
	IdempotencyKey string
	PartySize      string
	Name           string
	Kana           string
	Email          string
	Phone          string
	Note           string
	// Beyond ticks the box for seats beyond the capacity; Reason says why.
	Beyond bool
	Reason string
	// NoMail ticks the box for a booking that is told to nobody.
	NoMail bool
	// Room is the number of seats that can be booked without going beyond the capacity.
	Room int
	// Hint says who is passed over or that seats are kept, as a finished sentence; may be empty.
	Hint string
	// JoinURL takes the same fields and puts the caller on the waitlist instead; empty while seats can be booked.
	JoinURL string
	// Questions are those of the service; a caller need not answer them.
	Questions []Question
	Errs      Errors
}

// StaffReasonForm is a reason as typed, with its error.
type StaffReasonForm struct {
	Reason string
	Err    string
}

// StaffChanged says that nothing was written because the slot had changed since the page was shown.
type StaffChanged struct {
	// Events are what happened meanwhile, oldest first.
	Events []StaffEvent
	// Pressed says what was asked for, as a finished sentence.
	Pressed string
	// AgainURL takes the same press once more, with Fields as it was sent and the new version.
	AgainURL string
	Fields   []Hidden
	// AgainText is the button's verb.
	AgainText string
	// Danger marks a press that takes something away.
	Danger  bool
	BackURL string
}

// StaffResult says what a press did.
type StaffResult struct {
	// Title is the short answer.
	Title string
	// Lines are what followed, each a finished sentence.
	Lines []StaffResultLine
}

// StaffResultLine is one consequence.
type StaffResultLine struct {
	Text string
	// URL leads to what the line speaks of; may be empty.
	URL string
	// Call marks somebody who has to be told by phone.
	Call     bool
	Phone    string
	PhoneURL string
}

// StaffCancelPage says what cancelling would do, before the press.
type StaffCancelPage struct {
	Page  Page
	Staff StaffFrame
	Slot  StaffSlotHead
	// Selected are the reservations that would be cancelled.
	Selected []StaffReservation
	// Seats that would come free.
	Seats int
	// Consequence is who would be offered the seats, until when and in which mode, or that the seats open to everybody.
	Consequence []StaffConsequence
	ActionURL   string
	Reason      StaffReasonForm
	// Silent ticks the box for a cancelling that is told to nobody.
	Silent bool
	// Problem is a finished message, such as when nothing was selected.
	Problem string
	Changed *StaffChanged
}

// StaffConsequence is one sentence of what would follow.
type StaffConsequence struct {
	// Kind is "offer", "vacancy", "open", "kept", "mail", "call" or "warn": it chooses the mark.
	Kind string
	Text string
}

// StaffCancelSlotPage says what cancelling the whole slot would do, before the press.
type StaffCancelSlotPage struct {
	Page        Page
	Staff       StaffFrame
	Slot        StaffSlotHead
	Consequence []StaffConsequence
	ActionURL   string
	Reason      StaffReasonForm
	Problem     string
	Changed     *StaffChanged
}

// StaffMovePage chooses the slot to which a reservation moves.
type StaffMovePage struct {
	Page        Page
	Staff       StaffFrame
	Slot        StaffSlotHead
	Who         StaffReservation
	Consequence []StaffConsequence
	ActionURL   string
	// Days are the targets by day.
	Days    []StaffMoveDay
	Problem string
	Changed *StaffChanged
	// EarlierURL and LaterURL page through the days; may be empty.
	EarlierURL string
	LaterURL   string
}

// StaffMoveDay is one day of targets.
type StaffMoveDay struct {
	Heading string
	Targets []StaffTarget
}

// StaffTarget is a slot to move to.
type StaffTarget struct {
	ID           string
	TermsVersion string
	Time         string
	// Label is date and time together, for the button's name.
	Label    string
	Service  string
	Resource string
	State    string
	Free     int
	// Why says why it cannot be chosen; empty where it can.
	Why string
}

// StaffMessagesPage lists the outbox.
type StaffMessagesPage struct {
	Page    Page
	Staff   StaffFrame
	Filters []StaffFilter
	Items   []StaffMessage
	// OlderURL pages on; may be empty.
	OlderURL string
	// MailboxURL leads to the folder of mails; empty where mail is really sent.
	MailboxURL string
	Queue      StaffQueue
}

// StaffFilter is one choice above a list.
type StaffFilter struct {
	Text    string
	URL     string
	Count   int
	Current bool
}

// StaffMessage is one message of the outbox.
type StaffMessage struct {
	ID  string
	URL string
	// Kind is the kind of message in words.
	Kind string
	// To is the recipient's name, Address the address.
	To      string
	Address string
	// State is "pending", "sending", "sent", "failed" or "obsolete".
	State string
	// At is when it was written or sent, as text.
	At       string
	Attempts int
	// NextAttempt is when it is tried again, as text; empty unless pending after a failure.
	NextAttempt string
	// Error is the last error in the words of the mail server.
	Error    string
	SlotText string
	SlotURL  string
	Phone    string
	PhoneURL string
	// RetryURL is empty unless it may be tried again by hand.
	RetryURL string
	Queue    StaffQueued
}

// StaffMessagePage shows one message as it was sent.
type StaffMessagePage struct {
	Page    Page
	Staff   StaffFrame
	Message StaffMessage
	BackURL string
	Subject string
	From    string
	// Body is the text as sent; its links are shown without being clickable, since they belong to the customer.
	Body string
}

// StaffMailboxPage lists the mails that were written to files because no mail server is configured.
type StaffMailboxPage struct {
	Page  Page
	Staff StaffFrame
	Mails []StaffMail
	// Folder is where the files are.
	Folder string
}

// StaffMail is one mail of the mailbox.
type StaffMail struct {
	URL     string
	To      string
	Subject string
	At      string
}

// StaffMailPage shows one mail of the mailbox with links that can be followed.
type StaffMailPage struct {
	Page    Page
	Staff   StaffFrame
	BackURL string
	From    string
	To      string
	Subject string
	At      string
	Body    []MailPart
}

// MailPart is a piece of a mail's text; with a URL it is a link.
type MailPart struct {
	Text string
	URL  string
}

// StaffErrorPage says that a page is not for this person, or not there.
type StaffErrorPage struct {
	Page  Page
	Staff StaffFrame
	// Status is 403 or 404; everything else is said as 404.
	Status  int
	HomeURL string
}
