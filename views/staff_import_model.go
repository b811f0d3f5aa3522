package views

// Fields of the forms of an import. Its kind is FieldKind: "slots" or "bookings".
const (
	// FieldImportFile is the file.
	FieldImportFile = "file"
	// FieldImportText is the same as text: pasted, or as it was checked.
	FieldImportText = "sheet"
	// FieldImportLines names the lines to import, such as "2-40,42".
	FieldImportLines = "lines"
)

// StaffImportPage is the form that takes a file.
type StaffImportPage struct {
	Page      Page
	Staff     StaffFrame
	BackURL   string
	ActionURL string
	// Problem is what was wrong with the press as a whole; may be empty.
	Problem string
	Kinds   []StaffImportKind
	KindErr string
	// FileErr and TextErr stand beside the file and the text.
	FileErr string
	TextErr string
	Text    string
	// Most says how much a file may have, as a finished sentence.
	Most string
}

// StaffImportKind is a kind of file: what its lines may say.
type StaffImportKind struct {
	Value       string
	Title       string
	Text        string
	Checked     bool
	TemplateURL string
	Columns     []StaffImportColumn
}

// StaffImportColumn is a column of a file.
type StaffImportColumn struct {
	Name string
	Text string
}

// StaffImportCheckPage says what an import would do. Nothing is written yet.
type StaffImportCheckPage struct {
	Page    Page
	Staff   StaffFrame
	BackURL string
	Title   string
	// Read says how the file was understood: its coding, its separators, its lines.
	Read string
	// Before says that the very file was imported already; may be empty.
	Before string
	// Ignored names columns that are not looked at, as a finished sentence; may be empty.
	Ignored string
	Good    StaffImportCount
	There   StaffImportCount
	Bad     StaffImportCount
	// Problems are what stands in the way, by line and column.
	Problems []StaffImportProblem
	// Lines are the good ones with what each would do; the rest are there already.
	Lines []StaffImportLine
	Done  []StaffImportLine
	// Consequence is what follows from the press.
	Consequence []StaffConsequence
	// RunURL takes Fields and imports the good lines; empty where there are none.
	RunURL string
	Fields []Hidden
	Submit string
}

// StaffImportCount is how many lines there are of a sort.
type StaffImportCount struct {
	N    int
	Text string
}

// StaffImportProblem is one fault of a line.
type StaffImportProblem struct {
	Line string
	// Column is empty for a fault of the line as a whole.
	Column string
	// Value is what stands there, as typed; may be empty.
	Value string
	Text  string
}

// StaffImportLine is a line and what it does or did.
type StaffImportLine struct {
	Line string
	Text string
	// Notes say what one might not expect: a clock change, a closed day.
	Notes []string
	// URL leads to the slot; empty before it is there.
	URL string
}

// StaffImportDonePage says what an import did, line by line.
type StaffImportDonePage struct {
	Page    Page
	Staff   StaffFrame
	BackURL string
	Title   string
	// State is "done", or "partly" where lines that were to be imported were not.
	State string
	// Failed are lines that were good when they were checked and could not be imported.
	Failed []StaffImportProblem
	Made   []StaffImportLine
	There  []StaffImportLine
	// Again leads to another file.
	AgainURL string
}
