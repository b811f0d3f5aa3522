package views

// Fields of the forms of team, keys and account.
const (
	// FieldNewPassword is a password to be set.
	FieldNewPassword = "new_password"
	// FieldCode is a code of the second factor, or a recovery code.
	FieldCode = "code"
	// FieldRole is "owner", "manager" or "desk".
	FieldRole = "role"
	// FieldSession is the handle of a session.
	FieldSession = "session"
	// FieldScope is what an API key may do; it may repeat.
	FieldScope = "scope"
	// FieldZone is a time zone by its IANA name.
	FieldZone = "zone"
)

// StaffTeamPage is who works for a venue, and who is invited.
type StaffTeamPage struct {
	Page  Page
	Staff StaffFrame
	// Problem is a finished message of a refused press that belongs to no field.
	Problem     string
	Members     []StaffTeamMember
	Invitations []StaffInvitation
	Invite      StaffInviteForm
	// Roles say what each role may do.
	Roles []StaffRoleText
}

// StaffRoleText is a role with what it may do.
type StaffRoleText struct {
	Name string
	Text string
}

// StaffTeamMember is one person of the team.
type StaffTeamMember struct {
	ID    string
	Name  string // empty: none is known
	Email string
	// Role is "owner", "manager" or "desk".
	Role string
	You  bool
	// SignedIn says when they last signed in, or that they never did.
	SignedIn     string
	SecondFactor bool
	// Roles are the roles to choose from; empty where the role can't change.
	Roles     []Option
	RoleURL   string
	RemoveURL string
	// Kept says why neither role nor membership can change; may be empty.
	Kept string
}

// StaffInvitation is an invitation that nobody has used yet.
type StaffInvitation struct {
	ID    string
	Email string
	Role  string
	// Sent says when and by whom it was sent, Until when its link stops opening.
	Sent  string
	Until string
	// Over says that the link has run out.
	Over bool
	// MailState is the state of its mail, such as "failed"; may be empty.
	MailState string
	ResendURL string
	RevokeURL string
}

// StaffInviteForm asks whom to invite.
type StaffInviteForm struct {
	ActionURL string
	Email     string
	Roles     []Option
	Languages []Option
	Errs      Errors
}

// StaffAskPage says what a press will do, before it.
type StaffAskPage struct {
	Page  Page
	Staff StaffFrame
	Title string
	// About names what it is about, below the title.
	About     string
	Problem   string
	Lines     []StaffConsequence
	Button    string
	ActionURL string
	BackURL   string
	BackText  string
}

// StaffAPIKeysPage are the keys with which other programs reach a venue.
type StaffAPIKeysPage struct {
	Page  Page
	Staff StaffFrame
	// Made is the key that was just made, with its text, which is shown once.
	Made *StaffAPIKeyMade
	Keys []StaffAPIKey
	Form StaffAPIKeyForm
}

// StaffAPIKeyMade is a new key.
type StaffAPIKeyMade struct {
	Name string
	Key  string
}

// StaffAPIKey is one key, without its text.
type StaffAPIKey struct {
	ID      string
	Name    string
	Scopes  []string // finished words
	Created string
	Used    string
	// Revoked says since when it opens nothing; empty while it is in force.
	Revoked   string
	RevokeURL string
}

// StaffAPIKeyForm asks for a name and what the key may do.
type StaffAPIKeyForm struct {
	ActionURL string
	Name      string
	Scopes    []StaffScope
	Errs      Errors
}

// StaffScope is one thing that a key may be allowed.
type StaffScope struct {
	Value   string
	Name    string
	Text    string
	Checked bool
}
