package views

// Fields of the form of the LINE account.
const (
	// FieldLineID is the basic id of the account, with @.
	FieldLineID = "line_id"
	// FieldLineSecret is the channel secret; empty: as it is.
	FieldLineSecret = "line_secret"
	// FieldLineToken is the channel access token; empty: as it is.
	FieldLineToken = "line_token"
)

// StaffLinePage is the LINE account of a venue.
type StaffLinePage struct {
	Page  Page
	Staff StaffFrame
	// Problem is a finished message of a refused press that belongs to no field.
	Problem string
	// State is "none", "unchecked", "working", "paused", "broken" or "mismatch".
	State string
	// StateText says what that means; a finished sentence.
	StateText string
	// Linked is how many customers get messages there.
	Linked int
	// CheckURL is empty where there is nothing to check.
	CheckURL  string
	RemoveURL string
	// Webhook is what LINE has to be told; Insecure: it is not https, which LINE does not take.
	Webhook  string
	Insecure bool
	Form     StaffLineForm
}

// StaffLineForm asks for the account and its keys, which are never shown.
type StaffLineForm struct {
	ActionURL string
	Version   string
	ID        string
	// Kept: there are keys, which stay where the fields are left empty.
	Kept bool
	// Warn: customers are linked, and another id would end that.
	Warn bool
	Errs Errors
}

func lineFields() []Field {
	return []Field{{Name: FieldLineID}, {Name: FieldLineSecret}, {Name: FieldLineToken}}
}
