package views

// StaffQueue is what stands around the list of messages.
type StaffQueue struct {
	// Kinds are the filters by kind of message; none where there is one kind at most.
	Kinds []StaffFilter
	// KindText is the kind that is chosen, in words; empty for all.
	KindText string
	// About says whose messages the list has, where it is one booking's or one slot's; AboutURL leads there, AllURL to all messages.
	About    string
	AboutURL string
	AllURL   string
	// Late says since when mails wait, LateWhy why, as finished sentences; empty while all is well.
	Late    string
	LateWhy string
	// Failed is how many can be sent again by RetryAllURL; the address is empty where there are none or the role forbids it.
	Failed      int
	RetryAllURL string
	// NewestURL leads back to the first page; empty on it.
	NewestURL string
	// The pages beside the list; empty where the role forbids them.
	PreviewsURL string
	TextsURL    string
	NoticesURL  string
	Link        *StaffLinkAgain
}

// StaffLinkAgain lets a lost link be mailed again.
type StaffLinkAgain struct {
	// ActionURL is empty where it may not be sent now; Text then says why, else where it goes.
	ActionURL string
	Text      string
}

// StaffQueued is what more there is to say about a message.
type StaffQueued struct {
	// Age is how long it has waited, as text; empty for what has ended.
	Age string
	// Way is the way that it went, or goes, and why where that is another one than was wanted; may be empty.
	Way string
	// Why is the last error in words that a shop understands; empty where there was none.
	Why string
	// GivenUp says who ended its tries, and when; may be empty.
	GivenUp string
	// GiveUpURL opens the question; empty where there is nothing to give up or the role forbids it.
	GiveUpURL string
	// MoreURL leads to all messages about the same booking or entry; may be empty.
	MoreURL string
}

// StaffGiveUpPage asks once more before a message is given up.
type StaffGiveUpPage struct {
	Page      Page
	Staff     StaffFrame
	Message   StaffMessage
	BackURL   string
	ActionURL string
	// Consequence says what follows.
	Consequence []StaffConsequence
	// Problem is a finished message of a refused press.
	Problem string
}

// StaffPreviewsPage shows what each kind of message looks like, with example data.
type StaffPreviewsPage struct {
	Page    Page
	Staff   StaffFrame
	BackURL string
	// Kinds and Languages are links; one of each is current.
	Kinds     []StaffFilter
	Languages []StaffFilter
	// When says when messages of the kind are sent.
	When string
	// TextURL leads to the venue's own words for this kind; empty where it has none or the role forbids it.
	TextURL string
	Letter  StaffLetterView
	// Parts are links to the two parts of the mail; one is current.
	Parts []StaffFilter
	// FrameURL is the HTML part, in a frame where nothing of it can act; empty: the text is shown.
	FrameURL string
}

// StaffLetterView is a mail as text.
type StaffLetterView struct {
	Lang    string
	From    string
	To      string
	Subject string
	// Body is shown with its line breaks; links in it lead nowhere.
	Body string
}

// StaffTextsPage lists the messages whose words can be the venue's own.
type StaffTextsPage struct {
	Page        Page
	Staff       StaffFrame
	BackURL     string
	PreviewsURL string
	Items       []StaffTextItem
}

// StaffTextItem is one kind of message in the list.
type StaffTextItem struct {
	Kind string
	// Languages lead to the words in each; Own marks those that were changed.
	Languages []StaffTextLanguage
}

// StaffTextLanguage leads to the words of one kind in one language.
type StaffTextLanguage struct {
	Text string
	URL  string
	Own  bool
}

// StaffTextPage changes the words of one kind in one language.
type StaffTextPage struct {
	Page      Page
	Staff     StaffFrame
	BackURL   string
	ActionURL string
	// PreviewURL shows the mail with the words as typed and saves nothing.
	PreviewURL string
	// DefaultURL puts our words back; empty while they apply.
	DefaultURL string
	Version    string
	Lang       string // of the mail
	// HasOpening: the first sentence can be replaced; Default is the one that we bring.
	HasOpening bool
	Opening    string
	Default    string
	Extra      string
	// Placeholders are what may stand in braces, with what each becomes in the example.
	Placeholders []StaffPlaceholder
	Errs         Errors
	// Problem is a finished message where somebody else has changed the words meanwhile.
	Problem string
	// Letter is the mail with the words as they stand in the fields.
	Letter StaffLetterView
	// Unsaved: what is shown was typed and is not saved.
	Unsaved bool
}

// StaffPlaceholder is a name in braces and what becomes of it.
type StaffPlaceholder struct {
	Name     string
	Example  string
	Required bool // in the first sentence
}

// StaffNoticesPage lets a member choose what they are told of.
type StaffNoticesPage struct {
	Page      Page
	Staff     StaffFrame
	BackURL   string
	ActionURL string
	// Address is where the notices go.
	Address  string
	Bookings bool
	Cancels  bool
	Failures bool
	Digest   bool
	// DigestAt is the time of day as "08:00".
	DigestAt string
	// Zone is the long name of the venue's time zone.
	Zone string
	Errs Errors
}

func staffTextFields(p StaffTextPage) []Field {
	if !p.HasOpening {
		return []Field{{Name: FieldExtra}}
	}
	return []Field{{Name: FieldOpening}, {Name: FieldExtra}}
}

func staffMemberNoticeFields() []Field {
	return []Field{{Name: FieldBookings}, {Name: FieldCancels}, {Name: FieldFailures}, {Name: FieldDigest}, {Name: FieldDigestAt}}
}
