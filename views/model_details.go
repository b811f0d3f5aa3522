package views

import (
	"context"
	"strconv"

	"holdfast/views/i18n"
)

// FieldAnswer is the beginning of the name of a field that answers a question;
// the question's id follows.
const FieldAnswer = "q_"

// Fields of the hold form for several slots, and of the details.
const (
	FieldTogether = "slots"     // how many slots in a row, from this one on
	FieldNextSlot = "next_slot" // a slot that follows, with its terms as shown; one field each, in order
)

// QuestionKind is how a question is answered.
type QuestionKind string

// The kinds of questions.
const (
	QuestionText    QuestionKind = "text"
	QuestionChoice  QuestionKind = "choice"
	QuestionConsent QuestionKind = "consent"
)

// Question is a question of the service, in a form. The value is as typed.
type Question struct {
	ID       string // without FieldAnswer
	Kind     QuestionKind
	Label    string
	Hint     string
	Value    string
	Checked  bool // of a consent
	Options  []Option
	Required bool
	Max      int // of a text, in characters
}

// Answer is an answered question, as it is read.
type Answer struct {
	Question string
	Text     string
}

// CorrectForm corrects who comes.
type CorrectForm struct {
	Action  string
	Contact ContactForm
	Open    bool   // it came back, or something is still to be answered
	Missing string // what is still to be answered; a finished sentence, empty for nothing
}

// EmailPending is an address that waits for its owner's press.
type EmailPending struct {
	Email string
	Until string // written
}

// EmailChangePage is what the link in a mail to a new address opens.
type EmailChangePage struct {
	Page       Page
	Email      string // the new address; empty once it is over
	Slot       SlotFacts
	Action     string // takes the press; empty once it is done or over
	Until      string
	Done       bool
	Over       bool   // the time has passed, or there is no booking any more
	BookingURL string // done: the booking
	Banner     *Banner
}

// longLine is from how many characters on an answer has several lines.
const longLine = 100

func questionField(q Question, errs Errors) Field {
	f := Field{
		Name: FieldAnswer + q.ID, Label: q.Label, Type: "text", Value: q.Value, Hint: q.Hint, Error: errs[FieldAnswer+q.ID],
		Required: q.Required, Optional: !q.Required, Max: q.Max, Autocomplete: "off",
	}
	switch {
	case q.Kind == QuestionText && q.Max > longLine:
		f.Type = "textarea"
	case q.Kind == QuestionConsent:
		f.Type, f.Optional, f.Max, f.Autocomplete = "checkbox", false, 0, ""
	case q.Kind == QuestionChoice:
		f.Max = 0
	}
	return f
}

func questionFieldList(c ContactForm) []Field {
	var fields []Field
	for _, q := range c.Questions {
		fields = append(fields, questionField(q, c.Errs))
	}
	return fields
}

// confirmText is what the last button says: where there is a privacy notice, the
// press is the consent to it.
func confirmText(ctx context.Context, privacy string) string {
	if privacy != "" {
		return i18n.T(ctx, "details.confirm.consent")
	}
	return i18n.T(ctx, "hold.confirm")
}

// slotsInAll is the number of slots of a booking that was made for several.
func slotsInAll(more []SlotFacts) string { return strconv.Itoa(len(more) + 1) }
