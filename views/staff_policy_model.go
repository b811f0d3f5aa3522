package views

// Fields of the forms of policies. A policy's own field has its name in JSON;
// beside it stand, by name, the unit of a length of time and the choice of a
// service to go its own way.
const (
	// FieldStep is what the press asks for: StepExamples, StepCheck or StepSave.
	FieldStep = "step"
	// FieldTrade is the kind of business that values are proposed for.
	FieldTrade = "trade"
	// FieldCallRule and FieldCallNote say what the counter does with a call.
	FieldCallRule = "call_rule"
	FieldCallNote = "call_note"
	// FieldUnit ends the name of the unit of a length: "s", "m", "h" or "d".
	FieldUnit = "_unit"
	// FieldOwn begins the name of the box that gives a service a value of its own.
	FieldOwn = "own_"
	// FieldQuietFrom and FieldQuietUntil are times of day at the venue.
	FieldQuietFrom  = "quiet_from"
	FieldQuietUntil = "quiet_until"
)

// The values of FieldStep.
const (
	StepExamples = "examples" // the same form with new examples
	StepCheck    = "check"    // what saving would cause
	StepSave     = "save"
)

// StaffPolicyPage is the form of all policies, of a venue or of one service.
type StaffPolicyPage struct {
	Page  Page
	Staff StaffFrame
	Title string
	Lead  string
	// BackURL leads to where the page belongs.
	BackURL  string
	BackText string
	// Example says which slot the examples are about.
	Example string
	// Result says what saving did; Left what is not done yet, with the address that goes on.
	Result      *StaffResult
	Left        string
	CompleteURL string
	// Services lead to the policies of each service; empty on the page of a service.
	Services []StaffPolicyService
	Form     StaffPolicyForm
}

// StaffPolicyService is one service and how far it goes its own way.
type StaffPolicyService struct {
	Name string
	URL  string
	Text string
}

// StaffPolicyForm is a form of policies.
type StaffPolicyForm struct {
	ActionURL string
	Hidden    []Hidden
	Groups    []StaffPolicyGroup
	// Errs are finished messages by field; Faults those fields in the order of the page.
	Errs   Errors
	Faults []Field
	// Call is asked for by the set-up only.
	Call *StaffCallForm
}

// StaffPolicyGroup is what belongs together on the form.
type StaffPolicyGroup struct {
	Key    string
	Title  string
	Fields []StaffPolicyField
}

// StaffPolicyField is one policy: its control, its sentence, its example.
type StaffPolicyField struct {
	Name  string
	Label string
	// Kind is "length", "count", "choice", "flag" or "quiet".
	Kind string
	// Text says what the policy does, Example what that means in exact times.
	Text    string
	Example string
	// Value is as typed; of a flag "1" or "".
	Value   string
	Max     int // the largest number that the control takes
	After   string
	Units   []Option
	Options []Option
	From    string // quiet hours
	Until   string
	Err     string
	// FromErr and UntilErr stand beside the two times.
	FromErr  string
	UntilErr string
	// CanOwn: this is the form of a service. Own: it goes its own way here. Venue is what the venue's policy says.
	CanOwn bool
	Own    bool
	Venue  string
}

// StaffCallForm asks what the counter does with a call.
type StaffCallForm struct {
	Title   string
	Text    string
	Options []StaffCallOption
	Note    Field
	Err     string
}

// StaffCallOption is one answer, with what it means.
type StaffCallOption struct {
	Option
	Hint string
}

// StaffPolicyCheckPage says what saving would cause, before it is pressed.
type StaffPolicyCheckPage struct {
	Page  Page
	Staff StaffFrame
	Title string
	// Stale says that the policies have changed since the form was made: nothing was written.
	Stale    bool
	BackURL  string
	BackText string
	Changes  []StaffPolicyChange
	// Consequence is what would happen to the slots; Never what stays in any case.
	Consequence []StaffConsequence
	Never       string
	ActionURL   string
	// Fields are the whole form as it was sent, with the version of now.
	Fields []Hidden
	Save   string
	Edit   string
}

// StaffPolicyChange is one policy as it is stored and as it would be.
type StaffPolicyChange struct {
	Label string
	From  string
	To    string
}

// StaffSetupPage is the first set-up: the kind of business, then the questions.
type StaffSetupPage struct {
	Page  Page
	Staff StaffFrame
	Title string
	Lead  string
	// Steps are the names of the steps, Step the present one from 1.
	Steps  []string
	Step   int
	Trades []StaffTrade
	// Example says which slot the examples are about.
	Example string
	// Form is nil while the kind of business is not chosen.
	Form    *StaffPolicyForm
	BackURL string
}

// StaffTrade is a kind of business.
type StaffTrade struct {
	Name    string
	Text    string
	URL     string
	Current bool
}

// StaffRulesPage is the sheet for the counter.
type StaffRulesPage struct {
	Page  Page
	Staff StaffFrame
	// Lang is the language of the sheet, which may be another than the reader's.
	Lang  string
	Title string
	// Asof says when it was computed, and that it follows the settings.
	Asof    string
	Example string
	Parts   []StaffRulesPart
	// Own are the services that differ, each with the rules that do.
	OwnTitle string
	Own      []StaffRulesPart
	// Others are the same sheet in the other language and the text for customers.
	Others  []StaffFilter
	BackURL string
	// Result says what the set-up did, just before.
	Result *StaffResult
	// SetupURL is set while nobody has decided what the counter does with a call.
	SetupURL string
}

// StaffRulesPart is a heading with its rules.
type StaffRulesPart struct {
	Title string
	Rules []StaffRule
}

// StaffRule is one short sentence, and an example in exact times, which may be empty.
type StaffRule struct {
	Text    string
	Example string
	// Say marks words to be said to a customer.
	Say bool
}

// StaffRulesTextPage is the text for customers, in each language, ready to be copied.
type StaffRulesTextPage struct {
	Page    Page
	Staff   StaffFrame
	Title   string
	Lead    string
	BackURL string
	Texts   []StaffRulesInLang
}

// StaffRulesInLang is the text in one language.
type StaffRulesInLang struct {
	Lang  string
	Label string
	Text  string
	Rows  int
}
