package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"unicode/utf8"
)

// QuestionKind is how a question is answered.
type QuestionKind string

// The kinds of questions.
const (
	QuestionText    QuestionKind = "text"    // by words of one's own
	QuestionChoice  QuestionKind = "choice"  // by one of the options
	QuestionConsent QuestionKind = "consent" // by yes or no; where it is required, by yes only
)

// The answers to a question of consent.
const (
	AnswerYes = "yes"
	AnswerNo  = "no"
)

// Question is what a service asks besides the contact. Its id stands with each
// answer: to ask something else, give it another id.
type Question struct {
	ID        string           `json:"id"` // small letters, digits and _
	Kind      QuestionKind     `json:"kind"`
	Label     Text             `json:"label"`
	Hint      Text             `json:"hint,omitempty"`
	Options   []QuestionOption `json:"options,omitempty"` // of a choice
	Required  bool             `json:"required,omitempty"`
	MaxLength int              `json:"maxLength,omitempty"` // of a text, in characters; 0: DefaultAnswer
	OnJoin    bool             `json:"onJoin,omitempty"`    // is asked of those too who join the waitlist
	// Former are options that can't be chosen any more; stored answers name them still.
	Former []QuestionOption `json:"former,omitempty"`
}

// QuestionOption is one answer that can be chosen.
type QuestionOption struct {
	ID    string `json:"id"`
	Label Text   `json:"label"`
}

// How long an answer may be, in characters: where the question does not say,
// and at most; and how many questions a service may ask, with how many options.
const (
	DefaultAnswer    = 200
	LongestAnswer    = 1000
	MostQuestions    = 10
	MostQuestionOpts = 30
)

// The faults of an answer; callers compare them with errors.Is.
var (
	ErrAnswerMissing = errors.New("no answer")
	ErrAnswerTooLong = errors.New("the answer is too long")
	ErrAnswerUnknown = errors.New("not one of the answers that can be given")
)

// Longest is how long the answer may be, in characters.
func (q Question) Longest() int {
	switch {
	case q.Kind != QuestionText:
		return 40 // ids, yes and no
	case q.MaxLength <= 0:
		return DefaultAnswer
	default:
		return min(q.MaxLength, LongestAnswer)
	}
}

// Answer checks and normalises what was typed or chosen; empty for no answer.
// A consent that was not given is answered with no. Faults: ErrAnswerMissing,
// ErrAnswerTooLong, ErrAnswerUnknown.
func (q Question) Answer(typed string) (string, error) {
	answer := NormalizeText(typed)
	switch q.Kind {
	case QuestionConsent:
		switch answer {
		case AnswerYes:
			return AnswerYes, nil
		case "", AnswerNo:
			if q.Required {
				return "", ErrAnswerMissing
			}
			return AnswerNo, nil
		}
		return "", ErrAnswerUnknown
	case QuestionChoice:
		if answer == "" {
			break
		}
		for _, o := range q.Options {
			if o.ID == answer {
				return answer, nil
			}
		}
		return "", ErrAnswerUnknown
	case QuestionText:
		if utf8.RuneCountInString(answer) > q.Longest() {
			return "", ErrAnswerTooLong
		}
	}
	if answer == "" && q.Required {
		return "", ErrAnswerMissing
	}
	return answer, nil
}

// Say gives a stored answer to a text or a choice as people read it. One that
// names no option that there ever was is given as it stands.
func (q Question) Say(answer, locale string) string {
	for _, o := range slices.Concat(q.Options, q.Former) {
		if q.Kind == QuestionChoice && o.ID == answer {
			return o.Label.In(locale)
		}
	}
	return answer
}

var questionID = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

// checkQuestions says what is wrong with the questions of a service.
func checkQuestions(questions []Question) error {
	if len(questions) > MostQuestions {
		return fmt.Errorf("%d questions are more than the %d that a form can bear", len(questions), MostQuestions)
	}
	seen := map[string]bool{}
	for _, q := range questions {
		switch {
		case !questionID.MatchString(q.ID):
			return fmt.Errorf("question %q: an id has small letters, digits and _", q.ID)
		case seen[q.ID]:
			return fmt.Errorf("question %q stands twice", q.ID)
		case q.Label.In("") == "":
			return fmt.Errorf("question %q asks nothing", q.ID)
		case q.MaxLength < 0 || q.MaxLength > LongestAnswer:
			return fmt.Errorf("question %q: an answer has at most %d characters", q.ID, LongestAnswer)
		case (q.Kind == QuestionChoice) != (len(q.Options) > 0) || len(q.Options) > MostQuestionOpts:
			return fmt.Errorf("question %q: a choice, and only a choice, has options, at most %d", q.ID, MostQuestionOpts)
		}
		seen[q.ID] = true
		switch q.Kind {
		case QuestionText, QuestionChoice, QuestionConsent:
		default:
			return fmt.Errorf("question %q: unknown kind %q", q.ID, q.Kind)
		}
		options := map[string]bool{}
		for _, o := range q.Options {
			if !questionID.MatchString(o.ID) || options[o.ID] || o.Label.In("") == "" {
				return fmt.Errorf("question %q: option %q has no id of its own, or no label", q.ID, o.ID)
			}
			options[o.ID] = true
		}
	}
	return nil
}

func jsonQuestions(questions []Question) (string, error) {
	if len(questions) == 0 {
		return "[]", nil
	}
	b, err := json.Marshal(questions)
	return string(b), err
}

// jsonAnswers is how answers are stored: by the id of their question.
func jsonAnswers(answers map[string]string) string { return jsonText(answers) }
