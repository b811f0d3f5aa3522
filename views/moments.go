package views

// Picture is a picture of a service, whose size is known before it is there.
type Picture struct {
	URL    string
	Alt    string
	Width  int // in pixels, of the file
	Height int
}

// FieldTellVacancies says whether a waiting party is told of open seats: yes or no.
const FieldTellVacancies = "tell_vacancies"

// Preference is what a waiting party can choose to be told.
type Preference struct {
	Action string
	Tells  bool   // of open seats, as it is now
	Text   string // what that means here; a finished sentence
	Error  string // finished sentence, empty for none
}
