package views

// StaffProofPage tells whether the records of a venue add up.
type StaffProofPage struct {
	Page   Page
	Staff  StaffFrame
	State  ProofState
	Head   string // the answer, in a few words
	Looked string // when it was looked at last
	About  string // how it is looked at
	Groups []StaffProofGroup
	Race   StaffRace
}

// ProofState is the answer of a check.
type ProofState string

// The answers.
const (
	ProofWell    ProofState = "well"
	ProofBroken  ProofState = "broken"
	ProofUnknown ProofState = "unknown" // nothing was looked at yet
)

// Mark is the sign of the answer.
func (s ProofState) Mark() string {
	switch s {
	case ProofWell:
		return "✓"
	case ProofBroken:
		return "！"
	}
	return "…"
}

// StaffProofGroup is what belongs to one promise.
type StaffProofGroup struct {
	Title string
	Items []StaffProofItem
}

// StaffProofItem is one thing that has to be so.
type StaffProofItem struct {
	ID     string // of the invariant
	State  ProofState
	Title  string
	Text   string // what it means for customers
	Found  string // how often it is not so; empty where it is
	Advice string // what to do now
	Slots  []StaffProofSlot
	More   string // of further ones
}

// StaffProofSlot is a slot in which it is not so.
type StaffProofSlot struct {
	Text       string
	URL        string
	HistoryURL string
}

// StaffRace is the race lab as staff see it.
type StaffRace struct {
	Closed  string // why nobody can start a run; empty where the operator allows it
	Action  string // where the button posts; empty: no button
	SelfURL string
	Running bool
	Wait    string // what is happening, while a run was asked for or is under way
	Done    int
	Total   int // 0: it has not begun
	Failed  string
	When    string // of the result
	Summary string
	State   ProofState // of the result
	Stories []StaffRaceStory
}

// StaffRaceStory is one race, told.
type StaffRaceStory struct {
	ID    string
	Title string
	Text  string
	Naive StaffRaceSide
	Ours  StaffRaceSide
}

// StaffRaceSide is what one way of booking did in a race; without Text it was not tried.
type StaffRaceSide struct {
	Text  string
	Broke bool
	Luck  bool // it did not break, and nothing keeps it from breaking
}
