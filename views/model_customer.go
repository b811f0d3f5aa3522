package views

// SlotState is what a customer can do with a slot; it stands in the page as
// data-state, and the components give it a mark and a word.
type SlotState string

// The states of a slot, from the freest to the most closed.
const (
	SlotFree      SlotState = "free"      // ○
	SlotFew       SlotState = "few"       // △, with the number of seats left
	SlotWaitlist  SlotState = "waitlist"  // full; the waitlist can be joined
	SlotFull      SlotState = "full"      // ×, and no waitlist
	SlotOutside   SlotState = "outside"   // booking not open yet, or over
	SlotClosed    SlotState = "closed"    // closed by the shop
	SlotCancelled SlotState = "cancelled" // does not take place
)

// SlotFacts is what, when and where of a slot.
type SlotFacts struct {
	ID       string
	URL      string // SlotURL; empty where it is not to be a link
	Service  string
	Resource string
	When     When
	Price    string
	Place    string
	Bring    string
	Details  string // description of the service
}

// SlotRow is a slot in a list.
type SlotRow struct {
	ID        string
	URL       string
	When      When
	Service   string
	Resource  string
	Price     string
	State     SlotState
	SeatsLeft int
	Phase     SlotPhase // why it is outside its booking window
	Note      string    // when booking opens; a finished sentence
	Top       bool      // the link leaves the frame that the page stands in
}

// Choice is a filter: a link that narrows the list.
type Choice struct {
	Text    string
	URL     string
	Current bool
}

// DayTab is one day in the strip of days.
type DayTab struct {
	Weekday string // 木, Thu
	Day     string // 8
	Month   string // 10月, Oct; empty except where the month begins or the strip does
	Label   string // the whole date, for those who hear it
	URL     string
	Current bool
	Today   bool
	State   SlotState // the best that the day has; empty: no slots at all
	Phase   SlotPhase // of the best, where that is outside its booking window
	Kind    DayKind
	Holiday string // the name of the public holiday
	Closed  bool   // the venue is closed
}

// DayKind colours a day as Japanese calendars do.
type DayKind string

// The kinds of days.
const (
	DayPlain    DayKind = ""
	DaySaturday DayKind = "sat"
	DaySunday   DayKind = "sun" // and public holidays
)

// VenueDay is a day with its slots.
type VenueDay struct {
	Date    string // 2006-01-02
	Title   string // 10月8日（木）
	Long    string // with the year
	Kind    DayKind
	Current bool // shown on a phone; the others only where there is room for a week
	Today   bool
	Slots   []SlotRow
	Holiday string // the name of the public holiday
	Closed  bool   // the venue is closed; slots that stand all the same are as they are
	Note    string // why it is closed
	Nothing string // why there are no slots; a finished sentence
	At      string // RFC 3339: an instant of the day, by which clocks are compared
}

// VenuePage is a tenant's page.
type VenuePage struct {
	Page      Page
	Intro     string
	Services  []ServiceCard
	Resources []Choice // empty where there is but one
	FreeOnly  Choice   // only what can be booked; a toggle
	Month     string   // 2026年10月
	Strip     []DayTab
	PrevURL   string // the days before; empty for none
	NextURL   string
	Days      []VenueDay // one, or the week
	NextFree  *Link      // where the day has nothing to book: the next that has
	Banner    *Banner

	Views      []Choice       // days, month
	Grid       *VenueMonth    // the month instead of days; nil for days
	About      *ServiceAbout  // the service that was chosen, or the only one
	Unfiltered string         // the same without filters; empty where none is set
	ZoneName   string         // IANA, of the venue's clock
	Zone       string         // 日本時間（UTC+9）
	Languages  []LanguageLink // in a frame: the other languages, as links
}

// ServiceCard is a service on the venue page. Choosing it narrows the slots.
type ServiceCard struct {
	Name     string
	Price    string
	Duration string
	URL      string
	Current  bool
}

// Banner says what has happened with a press, what it means, and what can be
// done next.
type Banner struct {
	Kind  FlashKind
	Title string
	Text  string
	Links []Link
	Code  string // of the outcome; stands as data-outcome
}

// SlotPage is one slot: to be held, or to be waited for.
type SlotPage struct {
	Page      Page
	BackURL   string // the venue on that day
	Slot      SlotFacts
	Picture   *Picture // of the service; nil for none
	State     SlotState
	SeatsLeft int
	Capacity  int
	Queue     int    // parties waiting
	LiveURL   string // streams how it stands; empty: the page does not follow
	Banner    *Banner
	Own       *OwnHold  // this visitor's live hold here
	Waiting   *Link     // this visitor's live entry here
	Hold      *HoldForm // nil where it cannot be held
	Join      *JoinForm // nil where it cannot be joined
	Closed    string    // why neither is possible; a finished sentence
	Nearest   []SlotRow
}

// OwnHold leads back to a hold.
type OwnHold struct {
	URL       string
	PartySize int
	Deadline  Deadline
}

// HoldForm holds seats.
type HoldForm struct {
	Action         string
	Parties        []Option // party sizes that would do
	IdempotencyKey string
	TermsVersion   string
	Version        string      // only where the caller is to name the version that it saw
	Together       []Option    // how many slots in a row; empty where there is no choice
	NextSlots      []string    // the slots that follow, with their terms, in order
	Typed          ContactForm // into an earlier hold, to be carried along
	Minutes        string      // for how long: 5分
	CancelRule     string      // until when it can be cancelled; a finished sentence
	Errs           Errors
}

// ContactForm is who comes. The values are as typed.
type ContactForm struct {
	Name, Kana, Email, Phone, Note string
	NeedKana, NeedPhone            bool // otherwise optional
	NeedEmail                      bool
	HideKana                       bool       // for places whose customers have no use for it
	Questions                      []Question // of the service
	Errs                           Errors
}

// JoinForm joins the waitlist of a slot.
type JoinForm struct {
	Action         string
	Parties        []Option
	Contact        ContactForm
	IdempotencyKey string
	TermsVersion   string
	Waiting        int    // parties before this one
	AnswerTime     string // for how long an offer is usually open: 30分
	OrderUntil     string // when first come, first served begins; empty for never
	Broadcast      bool   // first come, first served rules already
	MailFrom       string // the address that mails come from
	PrivacyURL     string
}

// HoldPage is a held reservation: the form that makes it a booking.
type HoldPage struct {
	Page         Page
	Number       string
	Slot         SlotFacts
	More         []SlotFacts // the other slots of a group
	PartySize    int
	Deadline     Deadline
	Contact      ContactForm
	ConfirmURL   string
	ReleaseURL   string
	ExtendURL    string // empty where it may not be extended
	TermsVersion string
	CancelRule   string
	PrivacyURL   string
	Banner       *Banner
}

// BookedPage is a confirmed reservation.
type BookedPage struct {
	Page        Page
	Just        bool // confirmed a moment ago: the last of the three steps
	Number      string
	Slot        SlotFacts
	More        []SlotFacts
	PartySize   int
	Name        string
	MailTo      string // where the confirmation goes; empty where there is no address
	CalendarURL string
	Calendars   []Link // the same, in calendars on the web
	Answers     []Answer
	Correct     *CorrectForm
	Pending     *EmailPending
	QR          [][]bool // rows of dark modules without a quiet border; nil for none
	Cancel      *CancelForm
	CancelRule  string // where it cannot be cancelled here any more: the exact time that has passed, and whom to call
	MoveURL     string // empty where it cannot be moved
	Party       *PartyForm
	Reminder    string   // a finished sentence; empty for none
	Line        *LineBox // nil where messages can't come by LINE
	Clash       *Clash   // waitlists that this person may want to leave now
	Banner      *Banner
}

// CancelForm cancels a booking. The consequence is said before the press.
type CancelForm struct {
	Action string
	Until  string // exact, with weekday
	At     string // RFC 3339
	Open   bool   // show it opened (the link in a mail leads there)
}

// PartyForm changes the size of a party.
type PartyForm struct {
	Action  string
	Options []Option
	Hint    string
	Errs    Errors
}

// EndedKind is how a reservation ended.
type EndedKind string

// The ends of a reservation.
const (
	EndedCancelled     EndedKind = "cancelled"
	EndedSlotCancelled EndedKind = "slot_cancelled"
	EndedExpired       EndedKind = "expired"
	EndedReleased      EndedKind = "released"
)

// EndedPage is a reservation that is over.
type EndedPage struct {
	Page      Page
	Kind      EndedKind
	Number    string
	Slot      SlotFacts
	PartySize int
	At        string // when it ended, written
	ByShop    bool   // cancelled by staff
	Reason    string
	Again     *AgainForm // holds the same once more, keeping what was typed
	Join      *JoinForm  // where the seats are gone: the waitlist, keeping what was typed
	SlotURL   string     // where Again is nil: the slot as it is now
	VenueURL  string
	Nearest   []SlotRow
	Banner    *Banner
}

// AgainForm starts a new hold like the one that ran out. What was typed is
// carried along.
type AgainForm struct {
	Action         string
	PartySize      int
	IdempotencyKey string
	TermsVersion   string
	NextSlots      []string // of a hold for several, in order
	Typed          ContactForm
}

// MovePage chooses another slot for a booking, and then asks once more.
type MovePage struct {
	Page      Page
	Number    string
	From      SlotFacts
	PartySize int
	BackURL   string // the booking
	Days      []VenueDay
	Target    *MoveTarget // chosen: the page asks for the press
	Banner    *Banner
}

// MoveTarget is the slot that was chosen.
type MoveTarget struct {
	Slot         SlotFacts
	Action       string
	TermsVersion string
	CancelRule   string
	OthersURL    string // back to the choice
}

// EntryState is where a waitlist entry stands; it is the page's data-state.
type EntryState string

// The states of an entry.
const (
	EntryWaiting   EntryState = "waiting"
	EntryOffered   EntryState = "offered"
	EntryAccepted  EntryState = "accepted"
	EntryLapsed    EntryState = "lapsed"
	EntryDeclined  EntryState = "declined"
	EntryWithdrawn EntryState = "withdrawn"
	EntryClosed    EntryState = "closed"
)

// EntryPage is a place in the waitlist.
type EntryPage struct {
	Page        Page
	Just        bool // joined a moment ago
	State       EntryState
	Slot        SlotFacts
	PartySize   int
	Place       int // 1 is next
	Of          int
	Paused      bool
	AnswerTime  string
	OrderUntil  string // when first come, first served begins; empty for never
	Broadcast   bool   // it has begun
	MailTo      string
	MailFrom    string
	LiveURL     string      // streams the place; empty: the page does not follow
	Story       []StoryLine // what happened to the place, newest first
	Odds        []string    // how likely a seat is; finished sentences
	Clash       *Clash      // where else this person waits at the same time
	Claim       *ClaimForm
	Party       *PartyForm
	Prefer      *Preference // nil where there is nothing to choose
	Line        *LineBox    // nil where messages can't come by LINE
	WithdrawURL string
	RejoinURL   string // empty where a new entry is not possible
	OfferURL    string
	Deadline    *Deadline // of the offer
	BookingURL  string
	ClosedText  string // why it was closed; a finished sentence
	VenueURL    string
	Nearest     []SlotRow
	Banner      *Banner
}

// ClaimForm takes open seats, first come, first served.
type ClaimForm struct {
	Action       string
	TermsVersion string
	SeatsLeft    int
}

// OfferPage is an open offer: two choices of equal weight.
type OfferPage struct {
	Page         Page
	Slot         SlotFacts
	PartySize    int
	Deadline     Deadline
	AcceptURL    string
	DeclineURL   string
	TermsVersion string
	CancelRule   string
	PrivacyURL   string
	Banner       *Banner
}

// OfferEndedPage is an offer that is over: accepted, lapsed, declined,
// withdrawn or closed.
type OfferEndedPage struct {
	Page       Page
	State      EntryState
	Slot       SlotFacts
	PartySize  int
	Until      string // the shown deadline that has passed; for lapsed
	ByShop     bool   // withdrawn by staff
	Reason     string
	BookingURL string
	RejoinURL  string
	EntryURL   string
	VenueURL   string
	Nearest    []SlotRow
	Banner     *Banner
}

// RefusedPage is a step that was refused and has no better page to say it on.
type RefusedPage struct {
	Page    Page
	Banner  Banner
	Slot    *SlotFacts
	Kept    string // what the person still has: "お待ちの順番は そのままです"
	Nearest []SlotRow
	Links   []Link
}

// FindPage asks for an address, to which the own links are mailed.
type FindPage struct {
	Page   Page
	Action string
	Email  string
	Errs   Errors
	// Sent shows the answer, which is the same for every address.
	Sent     bool
	MailFrom string
	VenueURL string
}

// ErrorKind is a page that stands for itself.
type ErrorKind string

// The kinds of error pages.
const (
	ErrorNotFound  ErrorKind = "not_found" // 404: no such page, or not yours
	ErrorLink      ErrorKind = "link"      // 404: a secret link that opens nothing
	ErrorForbidden ErrorKind = "forbidden" // 403
	ErrorOrigin    ErrorKind = "origin"    // 403: a form that came from elsewhere
	ErrorGone      ErrorKind = "gone"      // 410
	ErrorMethod    ErrorKind = "method"    // 405
	ErrorTooLarge  ErrorKind = "too_large" // 413
	ErrorTooMany   ErrorKind = "too_many"  // 429
	ErrorInternal  ErrorKind = "internal"  // 500
	ErrorBusy      ErrorKind = "busy"      // 503
)

// ErrorPage says what is so and what can be done.
type ErrorPage struct {
	Page  Page
	Kind  ErrorKind
	Text  string // instead of the usual sentence; a finished one
	Retry string // 30秒; when it makes sense to try again
	Links []Link
}
