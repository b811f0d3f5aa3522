package views

// Fields of the forms of a slot.
const (
	// FieldSilent is "1" where a cancelling is told to nobody; it is recorded.
	FieldSilent = "silent"
	// FieldHow is how a cancelled booking comes back: "seat", "beyond" or "wait".
	FieldHow = "how"
	// FieldSeen is the mark of the contact that a form showed.
	FieldSeen = "seen"
	// FieldBefore is the event that ended the page of history above.
	FieldBefore = "before"
	// FieldShow is which part of the roster is shown: "arrived", "expected" or "no_show".
	FieldShow = "show"
	// FieldSelect is "all" where every box of the roster is ticked.
	FieldSelect = "select"
	// FieldDate, FieldStart and FieldEnd are a day (2006-01-02) and two times of day (15:04, the end up to 24:00) at the venue.
	FieldDate  = "date"
	FieldStart = "start"
	FieldEnd   = "end"
	// FieldService and FieldResource are ids.
	FieldService  = "service"
	FieldResource = "resource"
	// FieldToBooked and FieldToWaiting are "1" where a message goes to them.
	FieldToBooked  = "to_booked"
	FieldToWaiting = "to_waiting"
	// FieldLook is "1" where a press of terms only asks to see them once more.
	FieldLook = "look"
	// FieldSend is "1" in the second form of a message, which sends it.
	FieldSend = "send"
)

// FieldSubject and FieldText are the message in a language.
func FieldSubject(lang string) string { return "subject_" + lang }

// FieldText is the text of the message in a language.
func FieldText(lang string) string { return "text_" + lang }

// StaffStepPage says what a step would do, before the press. It is the page of
// every step that needs no form of its own.
type StaffStepPage struct {
	Page  Page
	Staff StaffFrame
	Slot  StaffSlotHead
	// Kind names the step, such as "close": it stands in the page as data-step.
	Kind  string
	Title string
	// Lead is a finished sentence below the title; may be empty.
	Lead string
	// Who is the party that the step is about; nil for the slot itself.
	Who *StaffStepWho
	// Then heads the consequences.
	Then        string
	Consequence []StaffConsequence
	// Asks is a form that is sent with GET and shows this page again for what was typed: a number to be looked at first.
	Asks *StaffStepAsk
	// MustMove names who would have to move first, MustMoveTitle says so.
	MustMove      []StaffMustMove
	MustMoveTitle string
	// Forms are the presses, the likely one first. Empty: it can't be done now.
	Forms    []StaffStepForm
	KeepText string
	Problem  string
	Changed  *StaffChanged
}

// StaffStepWho is a party as the pages of steps show it.
type StaffStepWho struct {
	Name     string
	Kana     string
	Party    int
	Number   string
	Phone    string
	PhoneURL string
	// Facts are further lines, finished.
	Facts []string
}

// StaffStepAsk is a number to be looked at before it is pressed.
type StaffStepAsk struct {
	ActionURL string
	Hidden    []Hidden
	Field     Field
	Text      string // of the button
}

// StaffStepForm is one press of a step.
type StaffStepForm struct {
	ActionURL string
	// Title heads the form where there are several.
	Title  string
	Hidden []Hidden
	Fields []Field
	// Text is the verb of the button.
	Text   string
	Danger bool
	Plain  bool
}

// StaffCheck is a box to tick.
type StaffCheck struct {
	ID      string
	Name    string
	Text    string
	Checked bool
	// Note says more, below; may be empty.
	Note string
	Err  string
}

// StaffContactPage corrects who a booking is for.
type StaffContactPage struct {
	Page      Page
	Staff     StaffFrame
	Slot      StaffSlotHead
	Number    string
	Title     string
	ActionURL string
	// Seen is the mark of what the form shows.
	Seen        string
	Contact     ContactForm
	Consequence []StaffConsequence
	Problem     string
	// Now is what the booking says now, where somebody else has corrected it meanwhile; the form has what was typed.
	Now []Answer
}

// StaffTermsPage changes time, resource or service of a slot.
type StaffTermsPage struct {
	Page      Page
	Staff     StaffFrame
	Slot      StaffSlotHead
	ActionURL string
	Date      string
	Start     string
	End       string
	Reason    string
	Services  []Option
	Resources []Option
	Zone      string
	Errs      Errors
	// Summary says what would change, line by line; empty before it was looked at.
	Summary     []string
	Consequence []StaffConsequence
	// Ready shows the button that carries it out: what stands in the form was looked at.
	Ready bool
	// Posted keeps the reason of a press that was refused: a reason stands in no address.
	Posted  bool
	Problem string
	Changed *StaffChanged
}

// StaffNoticePage writes to everybody of a slot.
type StaffNoticePage struct {
	Page           Page
	Staff          StaffFrame
	Slot           StaffSlotHead
	ActionURL      string
	IdempotencyKey string
	Booked         StaffCheck
	Waiting        StaffCheck
	Texts          []StaffNoticeText
	Errs           Errors
	Problem        string
	Changed        *StaffChanged
	// Preview is set once the text can be sent.
	Preview *StaffNoticePreview
}

// StaffNoticeText is the form of one language.
type StaffNoticeText struct {
	Lang    string
	Title   string
	Subject string
	Text    string
	// Hint says how many read this language.
	Hint string
	// Folded puts a language away that nobody reads.
	Folded bool
}

// StaffNoticePreview is what would be sent, and to whom.
type StaffNoticePreview struct {
	Consequence []StaffConsequence
	Letters     []StaffNoticeLetter
	// Callers have no address; they have to be called.
	Callers []StaffStepWho
	Fields  []Hidden
	SendTo  string // the button: how many messages
}

// StaffNoticeLetter is the message as those of a language would read it.
type StaffNoticeLetter struct {
	Title   string
	Lang    string
	Subject string
	Text    string
}

// StaffHistoryPage is everything that happened to a slot.
type StaffHistoryPage struct {
	Page      Page
	Staff     StaffFrame
	Slot      StaffSlotHead
	Events    []StaffEvent
	NewestURL string
	OlderURL  string
}

// StaffPrintPage is one sheet: who comes, in kana order, and who waits.
type StaffPrintPage struct {
	Page    Page
	Staff   StaffFrame
	Slot    StaffSlotHead
	Counts  string
	Roster  []StaffReservation
	Waiting []StaffEntry
	// Printed says when the sheet was made.
	Printed string
	BackURL string
}

// StaffKeptPage is the answer to a press of somebody whose session is over:
// nothing was done, and what was typed is still there.
type StaffKeptPage struct {
	Page      Page
	SignInURL string
	ActionURL string
	Fields    []Hidden
	// Typed is what a person typed, to be read.
	Typed []Answer
}
