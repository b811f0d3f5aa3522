package views

// Fields of the forms of webhooks.
const (
	// FieldWebhookURL is the address to which events are sent.
	FieldWebhookURL = "webhook_url"
	// FieldEvents is "all", or "some": those of FieldEventKind.
	FieldEvents = "events"
	// FieldEventKind is a kind of event; it may repeat.
	FieldEventKind = "event_kind"
	// FieldResumeFrom is "kept" to deliver what has piled up, or "now".
	FieldResumeFrom = "resume_from"
	// FieldAtOnce is "1" where the former secret is to end at once.
	FieldAtOnce = "at_once"
	// FieldTested is the number of a test in the log, whose result the page tells.
	FieldTested = "tested"
)

// StaffWebhooksPage are the webhooks of a venue, and a form for one more.
type StaffWebhooksPage struct {
	Page     Page
	Staff    StaffFrame
	Webhooks []StaffWebhookRow
	// Full says that there can be no more; empty where there can.
	Full string
	Form StaffWebhookForm
}

// StaffWebhookRow is one webhook in the list.
type StaffWebhookRow struct {
	ID      string
	URL     string // of its page
	Address string // to which events go
	// State is "active", "trying", "paused" or "failing".
	State string
	Facts []string // finished sentences
}

// StaffWebhookForm asks for an address and the events that it is to be told.
type StaffWebhookForm struct {
	ActionURL string
	Version   string // empty where one is to be made
	Address   string
	Hint      string
	// Some says that only chosen kinds are sent.
	Some   bool
	Groups []StaffEventGroup
	Stored *StaffStored
	Errs   Errors
	Submit string
}

// StaffEventGroup are kinds of events that belong together.
type StaffEventGroup struct {
	Title string
	Kinds []StaffEventKind
}

// StaffEventKind is a kind of event to be chosen.
type StaffEventKind struct {
	Value   string // as it stands in what is sent
	Text    string
	Checked bool
}

// StaffWebhookPage is one webhook with its log.
type StaffWebhookPage struct {
	Page    Page
	Staff   StaffFrame
	BackURL string
	// Host is the heading, Address the whole.
	Host    string
	Address string
	State   string // as of StaffWebhookRow
	// Says are finished sentences about the state.
	Says []string
	// Secret was made just now and is shown once; Old says until when the former
	// one signs too, and may be empty.
	Secret string
	Old    string
	// Done and Problem tell how a test or another press went; may be empty.
	Done    string
	Problem string

	TestURL   string // empty: no test can be sent
	PauseURL  string // empty: it is paused
	ResumeURL string // empty: it is not
	// Waiting says how many events wait for a paused one; empty: none.
	Waiting   string
	SecretURL string
	DeleteURL string
	Form      StaffWebhookForm
	Log       []StaffWebhookLine
}

// StaffWebhookLine is one attempt in the log.
type StaffWebhookLine struct {
	At      string
	What    string // the kind of the event
	Kind    string // as it stands in what is sent
	Attempt string // empty: the first
	Good    bool
	Outcome string
	Took    string
}

// StaffWebhookSecretPage says what a new secret does, before it.
type StaffWebhookSecretPage struct {
	Page      Page
	Staff     StaffFrame
	Address   string
	Lines     []StaffConsequence
	ActionURL string
	BackURL   string
	Errs      Errors
}

// StaffWebhookDown is a webhook that was paused because nothing was taken there.
type StaffWebhookDown struct {
	ID   string
	Text string
	// URL leads to its page; empty for those who may not open it.
	URL string
}
