package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// A question keeps its id whatever becomes of its words, and its kind for ever:
// stored answers name the id, and are read by the kind. So a question that is
// removed goes to the former ones, and so does an option. Each question has a
// form of its own, and its rows of options come and go by buttons of that form,
// so it works without a script and stays small.

const (
	longestQuestion = 200
	longestOption   = 80
	// firstOptions is how many empty rows a new choice begins with.
	firstOptions = 2
)

var questionKinds = []store.QuestionKind{store.QuestionText, store.QuestionChoice, store.QuestionConsent}

func (s *Server) getQuestions(w http.ResponseWriter, r *http.Request) error {
	return s.questionsPage(w, r, http.StatusOK, "")
}

func (s *Server) questionsPage(w http.ResponseWriter, r *http.Request, status int, problem string) error {
	ctx, t := r.Context(), venue(r)
	sv, err := s.loadService(r)
	if err != nil {
		return err
	}
	name := sv.Name.In(i18n.Lang(ctx))
	v := views.StaffQuestionsPage{
		BackURL: views.StaffServiceURL(t.Slug, sv.ID), BackText: name, Title: i18n.T(ctx, "service.questions.of", "name", name), Problem: problem, Version: strconv.Itoa(sv.Version),
	}
	for i, q := range sv.Questions {
		row := questionRow(ctx, q)
		row.Rank, row.First, row.Final = i+1, i == 0, i == len(sv.Questions)-1
		row.URL, row.RemoveURL = views.StaffQuestionURL(t.Slug, sv.ID, q.ID), views.StaffQuestionRemoveURL(t.Slug, sv.ID, q.ID)
		if len(sv.Questions) > 1 {
			row.OrderURL = views.StaffQuestionOrderURL(t.Slug, sv.ID, q.ID)
		}
		v.Asked = append(v.Asked, row)
	}
	for _, q := range sv.FormerQuestions {
		row := questionRow(ctx, q)
		row.RestoreURL = views.StaffQuestionRestoreURL(t.Slug, sv.ID, q.ID)
		v.Former = append(v.Former, row)
	}
	if len(sv.Questions) < store.MostQuestions {
		v.NewURL = views.StaffNewQuestionURL(t.Slug, sv.ID)
	} else {
		v.Full = i18n.T(ctx, "service.questions.full", "n", store.MostQuestions)
	}
	if v.Last, err = s.lastChange(r, store.AreaService, sv.ID); err != nil {
		return err
	}
	if v.Page, v.Staff, err = s.staffPage(r, "settings", v.Title, views.StaffQuestionsURL(t.Slug, sv.ID)); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffQuestions(v))
}

func questionRow(ctx context.Context, q store.Question) views.StaffQuestionRow {
	other, _ := otherName(ctx, q.Label)
	row := views.StaffQuestionRow{Label: q.Label.In(i18n.Lang(ctx)), Other: other, Facts: []string{i18n.T(ctx, i18n.Key("service.kind."+string(q.Kind)))}}
	if q.Required {
		row.Facts = append(row.Facts, i18n.T(ctx, "service.question.required.short"))
	}
	if q.OnJoin {
		row.Facts = append(row.Facts, i18n.T(ctx, "service.question.on_join.short"))
	}
	if q.Kind == store.QuestionChoice {
		row.Facts = append(row.Facts, i18n.T(ctx, "service.question.options", "n", len(q.Options)))
	}
	return row
}

// typedOption is a row of the form.
type typedOption struct {
	id    string
	label store.Text
	typed typedText // label_ja, label_en
}

// typedQuestion is the form of a question as typed.
type typedQuestion struct {
	kind    store.QuestionKind
	typed   typedText
	on      map[string]bool // boxes
	options []typedOption
	label   store.Text
	hint    store.Text
}

func questionAsTyped(q store.Question) typedQuestion {
	out := typedQuestion{kind: q.Kind, typed: typedText{}, on: map[string]bool{views.FieldRequired: q.Required, views.FieldOnJoin: q.OnJoin}}
	out.typed.put(views.FieldLabel, q.Label)
	out.typed.put(views.FieldHint, q.Hint)
	if q.MaxLength > 0 {
		out.typed[views.FieldMaxLength] = strconv.Itoa(q.MaxLength)
	}
	for _, o := range q.Options {
		typed := typedText{}
		typed.put(views.FieldLabel, o.Label)
		out.options = append(out.options, typedOption{id: o.ID, typed: typed})
	}
	return out
}

// optionField names a field of a row of options.
func optionField(row int, part string) string {
	return fmt.Sprintf("%s_%d_%s", views.FieldOption, row, part)
}

// decodeQuestion reads the form; kind is that of the stored question, empty for a new one.
func decodeQuestion(f *form, kind store.QuestionKind) (typedQuestion, error) {
	out := typedQuestion{kind: kind, typed: typedText{}, on: map[string]bool{}}
	if kind == "" {
		out.kind = store.QuestionKind(f.text(views.FieldKind, 20))
		if !slices.Contains(questionKinds, out.kind) {
			return out, errBadRequest
		}
	}
	out.label = f.readText(out.typed, views.FieldLabel, longestQuestion, false)
	out.hint = f.readText(out.typed, views.FieldHint, longestQuestion, false)
	for _, box := range []string{views.FieldRequired, views.FieldOnJoin} {
		out.on[box] = f.text(box, 10) == "1"
	}
	out.typed[views.FieldMaxLength] = f.text(views.FieldMaxLength, 20)
	for row := 1; row <= store.MostQuestionOpts; row++ {
		if !f.values.Has(optionField(row, i18n.JA)) && !f.values.Has(optionField(row, i18n.EN)) {
			continue
		}
		o := typedOption{id: f.text(optionField(row, "id"), 40), typed: typedText{}, label: store.Text{}}
		for _, lang := range i18n.Languages {
			o.typed[views.FieldLabel+"_"+lang] = f.text(optionField(row, lang), longestOption)
			if text := store.NormalizeName(o.typed[views.FieldLabel+"_"+lang]); text != "" {
				o.label[lang] = text
			}
		}
		// Its number may differ from that of the row by now: the fault goes along.
		if at := len(out.options) + 1; at != row {
			for _, lang := range i18n.Languages {
				if fault, bad := f.errs[optionField(row, lang)]; bad {
					delete(f.errs, optionField(row, lang))
					f.errs[optionField(at, lang)] = fault
				}
			}
		}
		out.options = append(out.options, o)
	}
	return out, nil
}

// rows does what a button of the form asks for; false: it asks to save.
func (q *typedQuestion) rows(do string) (bool, error) {
	what, number, _ := strings.Cut(do, "_")
	at, err := strconv.Atoi(number)
	at--
	switch {
	case do == "" || do == "save":
		return false, nil
	case do == "add":
		if len(q.options) < store.MostQuestionOpts {
			q.options = append(q.options, typedOption{typed: typedText{}})
		}
		return true, nil
	case err != nil || at < 0 || at >= len(q.options):
		return true, errBadRequest
	case what == "remove":
		q.options = slices.Delete(q.options, at, at+1)
		return true, nil
	case what == "up":
		if at > 0 {
			q.options[at-1], q.options[at] = q.options[at], q.options[at-1]
		}
		return true, nil
	}
	return true, errBadRequest
}

// question makes what was typed into a question; faults stand beside their fields.
func (q typedQuestion) question(errs formErrors, was store.Question) store.Question {
	out := store.Question{ID: was.ID, Kind: q.kind, Label: q.label, Hint: q.hint, Required: q.on[views.FieldRequired], OnJoin: q.on[views.FieldOnJoin], Former: was.Former}
	if len(out.Hint) == 0 {
		out.Hint = nil
	}
	if q.label.In("") == "" {
		errs.fault(views.FieldLabel+"_"+i18n.JA, "service.err.label")
	}
	if text := store.NormalizeText(q.typed[views.FieldMaxLength]); text != "" && q.kind == store.QuestionText {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > store.LongestAnswer {
			errs.fault(views.FieldMaxLength, "service.err.max_length", "n", store.LongestAnswer)
		}
		out.MaxLength = n
	}
	if q.kind != store.QuestionChoice {
		return out
	}
	known := map[string]bool{}
	for _, o := range slices.Concat(was.Options, was.Former) {
		known[o.ID] = true
	}
	used := map[string]bool{}
	for i, o := range q.options {
		if o.label.In("") == "" {
			if o.id != "" {
				errs.fault(optionField(i+1, i18n.JA), "service.err.option")
			}
			continue // an empty row is none
		}
		id := o.id
		if !known[id] || used[id] {
			id = store.NewQuestionID()
		}
		used[id] = true
		out.Options = append(out.Options, store.QuestionOption{ID: id, Label: o.label})
	}
	if len(out.Options) < 2 {
		errs.fault(views.FieldOption, "service.err.options")
	}
	// What can't be chosen any more stays with its words, and what can again leaves them.
	out.Former = nil
	for _, o := range slices.Concat(was.Former, was.Options) {
		if !used[o.ID] {
			out.Former = append(out.Former, o)
		}
	}
	return out
}

// questionPress is what came of a press on the form of a question.
type questionPress struct {
	errs   formErrors
	stored *views.StaffStored
}

func (s *Server) questionPage(w http.ResponseWriter, r *http.Request, status int, sv store.Service, id string, q typedQuestion, p questionPress) error {
	ctx, t := r.Context(), venue(r)
	said := p.errs.in(ctx)
	v := views.StaffQuestionPage{
		StaffSettingPage: views.StaffSettingPage{
			BackURL: views.StaffQuestionsURL(t.Slug, sv.ID), BackText: i18n.T(ctx, "service.questions.of", "name", sv.Name.In(i18n.Lang(ctx))),
			Form: views.StaffSettingForm{Version: strconv.Itoa(sv.Version), Errs: said, Stored: p.stored, Submit: i18n.T(ctx, "service.save"), BackURL: views.StaffQuestionsURL(t.Slug, sv.ID)},
		},
	}
	kind := views.StaffFormField{Field: views.Field{Name: views.FieldKind, Label: fieldLabel(ctx, views.FieldKind)}}
	if id == "" {
		v.Title, v.Form.ActionURL = i18n.T(ctx, "service.question.add"), views.StaffNewQuestionURL(t.Slug, sv.ID)
		kind.Hint = i18n.T(ctx, "service.kind.hint")
		for _, k := range questionKinds {
			kind.Options = append(kind.Options, views.Option{Value: string(k), Text: i18n.T(ctx, i18n.Key("service.kind."+string(k))), Selected: k == q.kind})
		}
	} else {
		v.Title, v.Form.ActionURL, v.Lead = i18n.T(ctx, "service.question.title"), views.StaffQuestionURL(t.Slug, sv.ID, id), i18n.T(ctx, "service.question.lead")
		kind.Fixed, kind.Hint = i18n.T(ctx, i18n.Key("service.kind."+string(q.kind))), i18n.T(ctx, "service.kind.fixed")
	}
	words := views.StaffFormGroup{Title: i18n.T(ctx, "service.question.words"), Rows: [][]views.StaffFormField{
		{kind}, pair(ctx, t, q.typed, p.errs, views.FieldLabel, longestQuestion, false), pair(ctx, t, q.typed, p.errs, views.FieldHint, longestQuestion, false),
	}}
	box := func(field string) views.StaffFormField {
		return views.StaffFormField{Field: views.Field{
			Name: field, Label: i18n.T(ctx, i18n.Key("service.question."+field)), Hint: i18n.T(ctx, i18n.Key("service.question."+field+".hint")), Error: said[field],
		}, Check: true, Checked: q.on[field]}
	}
	answer := views.StaffFormGroup{Title: i18n.T(ctx, "service.question.answer"), Rows: [][]views.StaffFormField{{box(views.FieldRequired)}, {box(views.FieldOnJoin)}}}
	if q.kind == store.QuestionText || id == "" {
		answer.Rows = append(answer.Rows, []views.StaffFormField{{Field: views.Field{
			Name: views.FieldMaxLength, Label: fieldLabel(ctx, views.FieldMaxLength), Hint: i18n.T(ctx, "service.max_length.hint", "n", store.DefaultAnswer, "most", store.LongestAnswer), Type: "text",
			InputMode: "numeric", Value: q.typed[views.FieldMaxLength], Error: said[views.FieldMaxLength], Max: 4,
		}}})
	}
	v.Form.Groups = []views.StaffFormGroup{words, answer}
	v.ShowOptions, v.OptionsErr, v.More = q.kind == store.QuestionChoice || id == "", said[views.FieldOption], len(q.options) < store.MostQuestionOpts
	for i, o := range q.options {
		row := views.StaffOptionRow{Number: i + 1, ID: views.Hidden{Name: optionField(i+1, "id"), Value: o.id}, First: i == 0, Final: i == len(q.options)-1}
		for _, lang := range i18n.Languages {
			name := optionField(i+1, lang)
			f := views.Field{
				Name: name, Label: i18n.T(ctx, "service.label_in", "label", i18n.T(ctx, "service.option", "n", i+1), "lang", i18n.T(ctx, i18n.Key("service.lang."+lang))),
				Type: "text", Value: o.typed[views.FieldLabel+"_"+lang], Error: said[name], Max: longestOption, Lang: lang,
			}
			if lang == i18n.JA {
				row.JA = f
			} else {
				row.EN = f
			}
		}
		v.Options = append(v.Options, row)
	}
	var err error
	if v.Last, err = s.lastChange(r, store.AreaService, sv.ID); err != nil {
		return err
	}
	if v.Page, v.Staff, err = s.staffPage(r, "settings", v.Title, v.Form.ActionURL); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffQuestion(v))
}

func (s *Server) getNewQuestion(w http.ResponseWriter, r *http.Request) error {
	sv, err := s.loadService(r)
	if err != nil {
		return err
	}
	q := typedQuestion{kind: store.QuestionText, typed: typedText{}, on: map[string]bool{}}
	for range firstOptions {
		q.options = append(q.options, typedOption{typed: typedText{}})
	}
	return s.questionPage(w, r, http.StatusOK, sv, "", q, questionPress{})
}

func (s *Server) postNewQuestion(w http.ResponseWriter, r *http.Request) error {
	sv, err := s.loadService(r)
	if err != nil {
		return err
	}
	return s.takeQuestion(w, r, sv, store.Question{})
}

// loadQuestion finds the question of the path among those in force.
func (s *Server) loadQuestion(r *http.Request) (store.Service, store.Question, error) {
	sv, err := s.loadService(r)
	if err != nil {
		return sv, store.Question{}, err
	}
	id := chi.URLParam(r, "question")
	for _, q := range sv.Questions {
		if q.ID == id {
			return sv, q, nil
		}
	}
	return sv, store.Question{}, errNotFound
}

func (s *Server) getQuestion(w http.ResponseWriter, r *http.Request) error {
	sv, q, err := s.loadQuestion(r)
	if err != nil {
		return err
	}
	return s.questionPage(w, r, http.StatusOK, sv, q.ID, questionAsTyped(q), questionPress{})
}

func (s *Server) postQuestion(w http.ResponseWriter, r *http.Request) error {
	sv, q, err := s.loadQuestion(r)
	if err != nil {
		return err
	}
	return s.takeQuestion(w, r, sv, q)
}

// errNoRoom says that a service asks as many questions as it may.
var errNoRoom = errors.New("no room for another question")

// takeQuestion takes the form of a question; was has no id where it is a new one.
func (s *Server) takeQuestion(w http.ResponseWriter, r *http.Request, sv store.Service, was store.Question) error {
	ctx, t := r.Context(), venue(r)
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	typed, err := decodeQuestion(f, was.Kind)
	if err != nil {
		return err
	}
	again, err := typed.rows(f.text(views.FieldDo, 20))
	if err != nil {
		return err
	}
	if again {
		// Nothing is stored yet: the version of the form goes on with it.
		sv.Version = shownVersion(f)
		return s.questionPage(w, r, http.StatusOK, sv, was.ID, typed, questionPress{})
	}
	is := typed.question(f.errs, was)
	if f.bad() {
		return s.questionPage(w, r, http.StatusUnprocessableEntity, sv, was.ID, typed, questionPress{errs: f.errs})
	}
	_, err = s.store.ChangeQuestions(ctx, t.ID, sv.ID, shownVersion(f), me(r).ID, func(sv *store.Service) error {
		if was.ID == "" {
			if len(sv.Questions) >= store.MostQuestions {
				return errNoRoom
			}
			is.ID = store.NewQuestionID()
			sv.Questions = append(sv.Questions, is)
			return nil
		}
		at := slices.IndexFunc(sv.Questions, func(q store.Question) bool { return q.ID == was.ID })
		if at < 0 {
			return store.Conflict
		}
		sv.Questions[at] = is
		return nil
	})
	switch {
	case errors.Is(err, errNoRoom):
		return s.questionsPage(w, r, http.StatusUnprocessableEntity, i18n.T(ctx, "service.questions.full", "n", store.MostQuestions))
	case errors.Is(err, store.Conflict):
		s.noteRefusal(r, store.Conflict)
		now, err := s.loadService(r)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(now.Questions, func(q store.Question) bool { return q.ID == was.ID })
		if was.ID != "" && at < 0 {
			return s.questionsPage(w, r, http.StatusConflict, i18n.T(ctx, "service.question.gone"))
		}
		stored := &views.StaffStored{}
		if was.ID != "" {
			if stored, err = s.storedQuestion(r, now.ID, typed, questionAsTyped(now.Questions[at])); err != nil {
				return err
			}
		}
		return s.questionPage(w, r, http.StatusConflict, now, was.ID, typed, questionPress{stored: stored})
	case err != nil:
		return err
	}
	return s.see(w, r, views.StaffQuestionsURL(t.Slug, sv.ID), "service.question.saved")
}

// storedQuestion says where a question as it is stored differs from what was typed.
func (s *Server) storedQuestion(r *http.Request, service string, typed, now typedQuestion) (*views.StaffStored, error) {
	ctx := r.Context()
	flat := func(q typedQuestion) typedText {
		out := typedText{}
		for name, text := range q.typed {
			out[name] = text
		}
		for _, box := range []string{views.FieldRequired, views.FieldOnJoin} {
			out[box] = i18n.T(ctx, "details.no")
			if q.on[box] {
				out[box] = i18n.T(ctx, "details.yes")
			}
		}
		for _, lang := range i18n.Languages {
			var labels []string
			for _, o := range q.options {
				if label := o.typed[views.FieldLabel+"_"+lang]; label != "" {
					labels = append(labels, label)
				}
			}
			out["options_"+lang] = strings.Join(labels, " / ")
		}
		return out
	}
	fields := []string{"label_ja", "label_en", "hint_ja", "hint_en", views.FieldRequired, views.FieldOnJoin, views.FieldMaxLength, "options_ja", "options_en"}
	return s.storedNow(r, store.AreaService, service, fields, flat(typed), flat(now))
}

// pressQuestion makes a change of the list from a form that carries a version, and leads back to it.
func (s *Server) pressQuestion(w http.ResponseWriter, r *http.Request, sv store.Service, f *form, done i18n.Key, edit func(*store.Service) error) error {
	ctx, t := r.Context(), venue(r)
	_, err := s.store.ChangeQuestions(ctx, t.ID, sv.ID, shownVersion(f), me(r).ID, edit)
	switch {
	case errors.Is(err, errNoRoom):
		return s.questionsPage(w, r, http.StatusUnprocessableEntity, i18n.T(ctx, "service.questions.full", "n", store.MostQuestions))
	case errors.Is(err, store.Conflict):
		s.noteRefusal(r, store.Conflict)
		return s.questionsPage(w, r, http.StatusConflict, i18n.T(ctx, "service.stale.questions"))
	case err != nil:
		return err
	}
	return s.see(w, r, views.StaffQuestionsURL(t.Slug, sv.ID), done)
}

func (s *Server) postQuestionOrder(w http.ResponseWriter, r *http.Request) error {
	sv, was, err := s.loadQuestion(r)
	if err != nil {
		return err
	}
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	by, err := direction(f)
	if err != nil {
		return err
	}
	if f.bad() {
		return errBadRequest
	}
	return s.pressQuestion(w, r, sv, f, "service.question.moved", func(sv *store.Service) error {
		at := slices.IndexFunc(sv.Questions, func(q store.Question) bool { return q.ID == was.ID })
		if to := at + by; at >= 0 && to >= 0 && to < len(sv.Questions) {
			sv.Questions[at], sv.Questions[to] = sv.Questions[to], sv.Questions[at]
		}
		return nil
	})
}

func (s *Server) getQuestionRemove(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	sv, q, err := s.loadQuestion(r)
	if err != nil {
		return err
	}
	v := views.StaffRetirePage{
		BackURL: views.StaffQuestionsURL(t.Slug, sv.ID), BackText: i18n.T(ctx, "service.questions.of", "name", sv.Name.In(i18n.Lang(ctx))),
		Title: i18n.T(ctx, "service.question.remove.ask", "name", q.Label.In(i18n.Lang(ctx))), ActionURL: views.StaffQuestionRemoveURL(t.Slug, sv.ID, q.ID),
		Version: strconv.Itoa(sv.Version), Submit: i18n.T(ctx, "service.question.remove"), Danger: true,
		Consequence: []views.StaffConsequence{
			{Kind: "open", Text: i18n.T(ctx, "service.question.remove.asks")},
			{Kind: "kept", Text: i18n.T(ctx, "service.question.remove.kept")},
			{Kind: "open", Text: i18n.T(ctx, "service.question.remove.back")},
		},
	}
	if v.Page, v.Staff, err = s.staffPage(r, "settings", v.Title, v.ActionURL); err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, views.StaffRetire(v))
}

func (s *Server) postQuestionRemove(w http.ResponseWriter, r *http.Request) error {
	sv, was, err := s.loadQuestion(r)
	if err != nil {
		return err
	}
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	return s.pressQuestion(w, r, sv, f, "service.question.removed", func(sv *store.Service) error {
		at := slices.IndexFunc(sv.Questions, func(q store.Question) bool { return q.ID == was.ID })
		if at < 0 {
			return store.Conflict
		}
		sv.FormerQuestions = append(sv.FormerQuestions, sv.Questions[at])
		sv.Questions = slices.Delete(sv.Questions, at, at+1)
		return nil
	})
}

func (s *Server) postQuestionRestore(w http.ResponseWriter, r *http.Request) error {
	sv, err := s.loadService(r)
	if err != nil {
		return err
	}
	id := chi.URLParam(r, "question")
	if !slices.ContainsFunc(sv.EverAsked(), func(q store.Question) bool { return q.ID == id }) {
		return errNotFound
	}
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	return s.pressQuestion(w, r, sv, f, "service.question.restored", func(sv *store.Service) error {
		at := slices.IndexFunc(sv.FormerQuestions, func(q store.Question) bool { return q.ID == id })
		if at < 0 {
			return nil // it is asked already
		}
		if len(sv.Questions) >= store.MostQuestions {
			return errNoRoom
		}
		sv.Questions = append(sv.Questions, sv.FormerQuestions[at])
		sv.FormerQuestions = slices.Delete(sv.FormerQuestions, at, at+1)
		return nil
	})
}
