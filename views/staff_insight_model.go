package views

// StaffInsightPage shows what happened in the slots of a period: figures, charts, and a table behind each.
type StaffInsightPage struct {
	Page      Page
	Staff     StaffFrame
	ActionURL string
	// From and To are days as typed; Service and Resource the choices.
	From      string
	To        string
	Errs      Errors
	Services  []Option
	Resources []Option
	Presets   []StaffInsightPreset
	// Period says which days are shown; empty where they could not be read.
	Period string
	// Nothing says that no slot begins in the period.
	Nothing  bool
	Figures  []StaffFigure
	Sections []StaffInsightSection
}

// StaffInsightPreset is a period that can be chosen by one press.
type StaffInsightPreset struct {
	Text    string
	URL     string
	Current bool
}

// StaffFigure is one number with the sentence that defines it.
type StaffFigure struct {
	Label  string
	Value  string // "–" where there is none
	Define string
}

// StaffInsightSection is a chart, what it shows, and the table behind it.
type StaffInsightSection struct {
	// ID names it within the page.
	ID     string
	Title  string
	Define string
	// Note is a further sentence, such as what cannot be known; may be empty.
	Note string
	// One of the two, or none: then the table stands in the open.
	Heat  *StaffHeat
	Bars  []StaffBarRow
	Table StaffTable
}

// StaffTable is a table of finished texts; the first cell of a row is its head.
type StaffTable struct {
	Head    []string
	Rows    [][]string
	FileURL string
}

// StaffHeat is a grid of shares by row and column.
type StaffHeat struct {
	Columns []string
	Rows    []StaffHeatRow
	// Desc says in a sentence what the grid shows, for those who hear the page.
	Desc string
}

// StaffHeatRow is a row of the grid.
type StaffHeatRow struct {
	Label string
	Cells []StaffHeatCell
}

// StaffHeatCell is one cell: its text, and how deep its colour is. Level is 0 (nothing) to 5; -1: no such cell.
type StaffHeatCell struct {
	Text  string
	Level int
}

// StaffBarRow is one bar: a label, a finished value, and the share of the width that it has, from 0 to 1.
type StaffBarRow struct {
	Label string
	Value string
	Share float64
	// Kind chooses the colour and the pattern: "", "good", "lost" or "open".
	Kind string
}
