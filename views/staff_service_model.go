package views

// Fields of the settings' forms. A text in two languages has two fields: the name and "_ja" or "_en".
const (
	FieldSlug        = "slug"
	FieldDescription = "description"
	FieldPrice       = "price"
	FieldPlace       = "place"
	FieldBring       = "bring"
	FieldMinutes     = "minutes"
	FieldRank        = "rank"    // a place in an order, from 1, as the page showed it
	FieldBy          = "by"      // "up" or "down"
	FieldPicture     = "picture" // a file
	FieldAlt         = "alt"
	FieldDo          = "do" // what a button of a form with several does
	FieldKind        = "kind"
	FieldLabel       = "label"
	FieldHint        = "hint"
	FieldRequired    = "required"
	FieldOnJoin      = "on_join"
	FieldMaxLength   = "max_length"
	FieldOption      = "option" // then _1_ja, _1_en and _1_id
	FieldYear        = "year"
	FieldFrom        = "from"
	FieldUntil       = "until"
	FieldDay         = "day"
	FieldTimeZone    = "time_zone"
	FieldLocale      = "locale"
	FieldAddress     = "address"
	FieldMapURL      = "map_url"
	FieldPrivacyURL  = "privacy_url"
	FieldLegalURL    = "legal_url"
	FieldPrivacy     = "privacy_version"
	FieldOrigins     = "embed_origins"
)

// StaffLastChange says when something was last changed and by whom.
type StaffLastChange struct {
	// Text is a finished sentence; empty where nothing was changed yet.
	Text string
	// URL lists all changes.
	URL string
}

// StaffSettingForm is a form of settings: groups of rows of fields.
type StaffSettingForm struct {
	ActionURL string
	Version   string // that the page shows
	// Stored is set when nothing was written because somebody else has changed it meanwhile.
	Stored  *StaffStored
	Problem string // a finished message that belongs to no field
	Errs    Errors
	Groups  []StaffFormGroup
	Submit  string
	BackURL string
}

// StaffStored is what is stored now, where that differs from what was typed.
type StaffStored struct {
	// By says who changed it and when; may be empty.
	By    string
	Lines []StaffStoredLine
}

// StaffStoredLine is a field with what is stored in it.
type StaffStoredLine struct {
	Label string
	Now   string // empty: nothing
}

// StaffFormGroup is what belongs together in a form.
type StaffFormGroup struct {
	Title string
	Text  string
	// Danger marks a text that warns.
	Danger bool
	Rows   [][]StaffFormField
}

// StaffFormField is a field, or a choice of one, or a box to tick.
type StaffFormField struct {
	Field
	Options []Option // of a choice of one
	Check   bool
	Checked bool
	// Fixed stands in the place of a control that can't be changed.
	Fixed string
	// Suggest are values that the browser proposes.
	Suggest []string
}

// StaffSettingPage is a page with one form of settings.
type StaffSettingPage struct {
	Page     Page
	Staff    StaffFrame
	BackURL  string
	BackText string
	Title    string
	Lead     string // may be empty
	Form     StaffSettingForm
	Last     StaffLastChange
}

// StaffServicesPage lists the services.
type StaffServicesPage struct {
	Page  Page
	Staff StaffFrame
	// NewURL is empty for those who only look.
	NewURL string
	// Full says that there are as many as there may be; a finished sentence.
	Full     string
	Problem  string
	Services []StaffServiceRow
	Retired  []StaffServiceRow
	Last     StaffLastChange
}

// StaffServiceRow is one service in the list.
type StaffServiceRow struct {
	ID   string
	Name string
	// Other is the name in the other language; empty where there is none or it is the same.
	Other   string
	Missing string // says which language is missing; may be empty
	Picture *Picture
	// Facts are finished words: duration, default capacity, price.
	Facts []string
	// Ahead says how many slots lie ahead and with how many seats taken.
	Ahead string
	// URL is the form, PublicURL the page for customers; URL is empty for those who only look.
	URL       string
	PublicURL string
	// OrderURL takes rank and by; empty where the order can't be changed.
	OrderURL   string
	RestoreURL string
	Version    string
	Rank       int
	First      bool
	Final      bool
}

// StaffServicePage is the form of one service with what else belongs to it.
type StaffServicePage struct {
	StaffSettingPage
	Picture      *Picture
	PictureURL   string
	QuestionsURL string
	// Questions are the labels of those in force.
	Questions   []string
	PoliciesURL string
	PublicURL   string
	Public      string // the address as people read it
	// Retired says that it is not in use. RetireURL opens the step; RestoreURL takes the press.
	Retired    string
	RetireURL  string
	RestoreURL string
}

// StaffRetirePage says what a press would do, before it.
type StaffRetirePage struct {
	Page     Page
	Staff    StaffFrame
	BackURL  string
	BackText string
	Title    string
	// Consequence is what follows; where ActionURL is empty, why it can't be done.
	Consequence []StaffConsequence
	// Slots are those that it is about, some of them.
	Slots     []Link
	SlotsMore string
	ActionURL string
	Version   string
	Submit    string
	Danger    bool
	Problem   string
	Fields    []Hidden
}

// StaffQuestionsPage lists what a service asks.
type StaffQuestionsPage struct {
	Page     Page
	Staff    StaffFrame
	BackURL  string
	BackText string
	Title    string
	Problem  string
	NewURL   string // empty: as many as there may be, and Full says so
	Full     string
	Version  string
	Asked    []StaffQuestionRow
	Former   []StaffQuestionRow
	Last     StaffLastChange
}

// StaffQuestionRow is one question in the list.
type StaffQuestionRow struct {
	Label    string
	Other    string
	Facts    []string
	URL      string
	OrderURL string
	// RemoveURL opens the step; RestoreURL takes the press.
	RemoveURL  string
	RestoreURL string
	Rank       int
	First      bool
	Final      bool
}

// StaffQuestionPage is the form of one question.
type StaffQuestionPage struct {
	StaffSettingPage
	// Options are the rows of a choice; ShowOptions says that this question is one.
	ShowOptions bool
	Options     []StaffOptionRow
	OptionsErr  string
	More        bool // there may be more options
}

// StaffOptionRow is one answer that can be chosen.
type StaffOptionRow struct {
	Number int
	ID     Hidden
	JA, EN Field
	First  bool
	Final  bool
}

// StaffPicturePage is the form of the picture of a service.
type StaffPicturePage struct {
	StaffSettingPage
	Picture   *Picture
	Err       string // beside the file
	RemoveURL string
}

// StaffResourcesPage lists the resources.
type StaffResourcesPage struct {
	Page    Page
	Staff   StaffFrame
	NewURL  string
	Full    string
	Problem string
	InUse   []StaffResourceRow
	Retired []StaffResourceRow
	Last    StaffLastChange
}

// StaffResourceRow is one resource in the list.
type StaffResourceRow struct {
	Name       string
	Other      string
	Missing    string
	Slug       string
	Ahead      string
	URL        string
	RetireURL  string
	RestoreURL string
	Version    string
}

// StaffClosedPage lists the closed days of a year beside its public holidays.
type StaffClosedPage struct {
	Page     Page
	Staff    StaffFrame
	Title    string
	Year     string
	PrevURL  string
	NextURL  string
	PrevYear string
	NextYear string
	Problem  string
	Months   []StaffClosedMonth
	// HolidaysURL opens the step that takes the year's public holidays; empty where none is left to take.
	HolidaysURL string
	HolidayText string
	Form        StaffSettingForm
	RemoveURL   string
	Last        StaffLastChange
}

// StaffClosedMonth is a month with its days.
type StaffClosedMonth struct {
	Title string
	Days  []StaffClosedDay
}

// StaffClosedDay is a closed day, a public holiday, or both.
type StaffClosedDay struct {
	Day     string // 2006-01-02
	Date    string // as people read it
	Holiday string
	Closed  bool
	Note    string
	Other   string // the note in the other language
	// Slots says what stands on the day nevertheless, SlotsURL leads there.
	Slots    string
	SlotsURL string
}

// StaffHolidaysPage shows which public holidays would become closed days.
type StaffHolidaysPage struct {
	Page      Page
	Staff     StaffFrame
	BackURL   string
	BackText  string
	Title     string
	Lead      string
	Days      []StaffClosedDay
	ActionURL string
	Year      string
	Submit    string
	Problem   string
}

// StaffChangesPage lists who changed what.
type StaffChangesPage struct {
	Page     Page
	Staff    StaffFrame
	Changes  []StaffChangeRow
	OlderURL string
}

// StaffChangeRow is one change.
type StaffChangeRow struct {
	At   string
	Who  string
	What string // the area, and what in it
	URL  string // may be empty
	// Fields are finished words.
	Fields string
}
