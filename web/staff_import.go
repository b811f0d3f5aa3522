package web

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-chi/chi/v5/middleware"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// An import has two presses. The first one reads a file and says what each of
// its lines would do; nothing is written, and the file is kept nowhere: it
// travels in the second form, as text, with the lines that were found good. The
// second press does those lines and no other, each by the step that a form
// would take, and answers with what came of each: a reload does nothing twice,
// since each line is made at most once.

const (
	// mostImportBody is more than a file and a text of the largest size in one form.
	mostImportBody = 2*mostImportBytes + 2<<20
	// importLimit is the longest that the lines of one press may take.
	importLimit = 2 * time.Minute
)

var importKinds = []string{importSlots, importBookings}

// importForm reads a form with a file or a long text; file is nil where none was chosen.
func (s *Server) importForm(w http.ResponseWriter, r *http.Request) (f *form, file []byte, err error) {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "multipart/form-data" {
		f, err := s.form(w, r)
		return f, nil, err
	}
	f = &form{values: url.Values{}, errs: formErrors{}}
	r.Body = http.MaxBytesReader(w, r.Body, mostImportBody)
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, nil, errMedia
	}
	for n := 0; ; n++ {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return f, file, nil
		}
		if err != nil || n > 20 {
			return nil, nil, uploadProblem(r, err)
		}
		limit := int64(bodyLimit)
		if name := part.FormName(); name == views.FieldImportFile || name == views.FieldImportText {
			limit = mostImportBytes + 1
		}
		content, err := io.ReadAll(io.LimitReader(part, limit))
		if err == nil {
			_, err = io.Copy(io.Discard, part)
		}
		if err != nil {
			return nil, nil, uploadProblem(r, err)
		}
		switch {
		case part.FormName() != views.FieldImportFile:
			f.values.Add(part.FormName(), string(content))
		case part.FileName() != "" && file != nil:
			f.errs.fault(views.FieldImportFile, "form.err.repeated")
		case part.FileName() != "":
			file = content
		}
	}
}

// sheetText reads the text of a form, tabs and all, with line breaks as \n.
func (f *form) sheetText() string {
	all := f.values[views.FieldImportText]
	if len(all) == 0 {
		return ""
	}
	if len(all) > 1 {
		f.errs.fault(views.FieldImportText, "form.err.repeated")
	}
	text := all[0]
	if len(text) > mostImportBytes {
		f.errs.fault(views.FieldImportText, "import.file.too_large", "most", mostImportBytes>>20)
		text = ""
	}
	if !utf8.ValidString(text) || strings.ContainsFunc(text, notText) {
		f.errs.fault(views.FieldImportText, "form.err.characters")
		text = strings.Map(func(c rune) rune {
			if notText(c) || c == utf8.RuneError {
				return -1
			}
			return c
		}, strings.ToValidUTF8(text, ""))
	}
	text = strings.TrimPrefix(text, "\ufeff")
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
}

// importKind reads the kind of a form; one that only a broken page sends is a bad request.
func (f *form) importKind() (string, error) {
	kind := f.text(views.FieldKind, 20)
	_, bad := f.errs[views.FieldKind]
	if bad || !slices.Contains(importKinds, kind) {
		return "", errBadRequest
	}
	return kind, nil
}

// importPress is what came of a press on the form.
type importPress struct {
	kind, text string
	errs       formErrors
	problem    string
}

func (s *Server) getImport(w http.ResponseWriter, r *http.Request) error {
	kind := r.URL.Query().Get(views.FieldKind)
	if !slices.Contains(importKinds, kind) {
		kind = importSlots
	}
	return s.importPage(w, r, http.StatusOK, importPress{kind: kind})
}

func (s *Server) importPage(w http.ResponseWriter, r *http.Request, status int, p importPress) error {
	ctx, t := r.Context(), venue(r)
	said := p.errs.in(ctx)
	v := views.StaffImportPage{
		BackURL: views.StaffSettingsURL(t.Slug), ActionURL: views.StaffImportURL(t.Slug), Problem: p.problem, Text: p.text,
		FileErr: said[views.FieldImportFile], TextErr: said[views.FieldImportText],
		Most: i18n.T(ctx, "import.file.hint", "most", mostImportBytes>>20, "n", store.MostImportLines),
	}
	for _, kind := range importKinds {
		k := views.StaffImportKind{
			Value: kind, Title: i18n.T(ctx, i18n.Key("import.kind."+kind)), Text: i18n.T(ctx, i18n.Key("import.about."+kind)), Checked: kind == p.kind,
			TemplateURL: views.StaffImportTemplateURL(t.Slug, kind),
		}
		for _, col := range importColumns[kind] {
			k.Columns = append(k.Columns, views.StaffImportColumn{Name: i18n.T(ctx, i18n.Key("import.col."+col)), Text: i18n.T(ctx, i18n.Key("import.hint."+kind+"."+col))})
		}
		v.Kinds = append(v.Kinds, k)
	}
	var err error
	if v.Page, v.Staff, err = s.staffPage(r, "settings", i18n.T(ctx, "import.title"), views.StaffImportURL(t.Slug)); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffImport(v))
}

// postImport checks a file. Nothing is written.
func (s *Server) postImport(w http.ResponseWriter, r *http.Request) error {
	f, file, err := s.importForm(w, r)
	if err != nil {
		return err
	}
	kind, err := f.importKind()
	if err != nil {
		return err
	}
	text, coding := f.sheetText(), textCoding("")
	p := importPress{kind: kind, text: text, errs: f.errs}
	from := views.FieldImportText
	switch {
	case f.bad():
	case file == nil && strings.TrimSpace(text) == "":
		f.errs.fault(views.FieldImportFile, i18n.Key("import.file."+fileNothing))
		if f.values.Has(views.FieldImportText) && r.Header.Get("Content-Type") == "application/x-www-form-urlencoded" {
			f.errs.fault(views.FieldImportText, i18n.Key("import.file."+fileNothing))
		}
	case file != nil && strings.TrimSpace(text) != "":
		f.errs.fault(views.FieldImportFile, i18n.Key("import.file."+fileBoth))
	case len(file) > mostImportBytes:
		f.errs.fault(views.FieldImportFile, i18n.Key("import.file."+fileTooLarge), "most", mostImportBytes>>20)
	case file != nil:
		from = views.FieldImportFile
		var ok bool
		if text, coding, ok = decodeText(file); !ok {
			f.errs.fault(from, i18n.Key("import.file."+fileNoText))
		}
	}
	if f.bad() {
		return s.importPage(w, r, http.StatusUnprocessableEntity, p)
	}
	plan, fault, err := s.planImport(r.Context(), venue(r), kind, text)
	if err != nil {
		return err
	}
	if fault != nil {
		s.faultOf(r.Context(), f.errs, from, fault)
		return s.importPage(w, r, http.StatusUnprocessableEntity, p)
	}
	return s.importCheckPage(w, r, plan, text, coding)
}

// faultOf says beside a field what is wrong with a file as a whole.
func (s *Server) faultOf(ctx context.Context, errs formErrors, field string, fault *sheetFault) {
	var names []string
	for _, col := range fault.names {
		names = append(names, i18n.T(ctx, i18n.Key("import.col."+col)))
	}
	errs.fault(field, i18n.Key("import.file."+fault.kind), "names", strings.Join(names, i18n.T(ctx, "import.and")), "n", store.MostImportLines)
}

func (s *Server) importCheckPage(w http.ResponseWriter, r *http.Request, plan importPlan, text string, coding textCoding) error {
	ctx, t := r.Context(), venue(r)
	good, there := plan.count(lineGood), plan.count(lineThere)
	bad := len(plan.lines) - good - there
	v := views.StaffImportCheckPage{
		BackURL: views.StaffImportKindURL(t.Slug, plan.kind), Title: i18n.T(ctx, i18n.Key("import.checked."+plan.kind), "n", len(plan.lines)),
		Good:     views.StaffImportCount{N: good, Text: i18n.T(ctx, "import.n.good", "n", good)},
		There:    views.StaffImportCount{N: there, Text: i18n.T(ctx, "import.n.there", "n", there)},
		Bad:      views.StaffImportCount{N: bad, Text: i18n.T(ctx, "import.n.bad", "n", bad)},
		Problems: importProblems(ctx, plan),
	}
	comma := map[rune]string{',': "comma", ';': "semicolon", '\t': "tab"}[plan.sheet.comma]
	v.Read = i18n.T(ctx, "import.read", "coding", string(coding), "comma", i18n.T(ctx, i18n.Key("import.comma."+comma)))
	if coding == "" {
		v.Read = i18n.T(ctx, "import.read.pasted", "comma", i18n.T(ctx, i18n.Key("import.comma."+comma)))
	}
	if len(plan.sheet.ignored) > 0 {
		var names []string
		for _, name := range plan.sheet.ignored[:min(20, len(plan.sheet.ignored))] {
			names = append(names, shortened(name))
		}
		v.Ignored = i18n.T(ctx, "import.ignored", "names", strings.Join(names, i18n.T(ctx, "import.and")))
	}
	if plan.before != nil {
		v.Before = i18n.T(ctx, "import.before", "time", i18n.In(ctx).DateTime(plan.before.At, t.Location()))
	}
	mails, silent := 0, 0
	var lines []int
	for _, l := range plan.lines {
		switch {
		case l.state == lineGood:
			v.Lines = append(v.Lines, importLineView(ctx, t, plan.kind, l))
			lines = append(lines, l.no)
			if l.notify {
				mails++
			} else {
				silent++
			}
		case l.state == lineThere:
			v.Done = append(v.Done, importLineView(ctx, t, plan.kind, l))
		}
	}
	if good > 0 {
		v.RunURL, v.Submit = views.StaffImportRunURL(t.Slug), i18n.T(ctx, "import.press", "n", good)
		v.Fields = []views.Hidden{{Name: views.FieldKind, Value: plan.kind}, {Name: views.FieldImportLines, Value: writeLines(lines)}, {Name: views.FieldImportText, Value: text}}
		add := func(kind string, key i18n.Key, args ...any) {
			v.Consequence = append(v.Consequence, views.StaffConsequence{Kind: kind, Text: i18n.T(ctx, key, args...)})
		}
		if plan.kind == importSlots {
			add("open", "import.would.slots", "n", good)
		} else {
			if mails > 0 {
				add("mail", "import.would.mail", "n", mails)
			}
			if silent > 0 {
				add("kept", "import.would.silent", "n", silent)
			}
		}
		if bad > 0 {
			add("warn", "import.would.skip", "n", bad)
		}
	}
	var err error
	if v.Page, v.Staff, err = s.staffPage(r, "settings", v.Title, v.BackURL); err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, views.StaffImportCheck(v))
}

// importProblems lists each fault by its line and column.
func importProblems(ctx context.Context, plan importPlan) []views.StaffImportProblem {
	var out []views.StaffImportProblem
	for _, l := range plan.lines {
		for _, f := range l.faults {
			out = append(out, problemView(ctx, l.no, f))
		}
	}
	return out
}

func problemView(ctx context.Context, no int, f importFault) views.StaffImportProblem {
	p := views.StaffImportProblem{Line: strconv.Itoa(no), Value: shortened(f.value), Text: f.why.In(ctx)}
	if f.col != "" {
		p.Column = i18n.T(ctx, i18n.Key("import.col."+f.col))
	}
	return p
}

// importLineView says what a line does.
func importLineView(ctx context.Context, t store.Tenant, kind string, l importLine) views.StaffImportLine {
	c, lang := i18n.In(ctx), i18n.Lang(ctx)
	v := views.StaffImportLine{Line: strconv.Itoa(l.no)}
	if kind == importSlots {
		v.Text = i18n.T(ctx, "import.does.slot", "when", c.DateTimeRange(l.slot.StartsAt, l.slot.EndsAt, t.Location()), "service", l.service.Name.In(lang), "resource", l.where.Name.In(lang), "n", l.slot.Capacity)
	} else {
		v.Text = i18n.T(ctx, "import.does.booking", "name", l.contact.Name, "n", l.party, "when", c.DateTimeRange(l.target.StartsAt, l.target.EndsAt, t.Location()), "service", l.service.Name.In(lang))
		if l.notify {
			v.Notes = append(v.Notes, i18n.T(ctx, "import.does.mail", "email", l.contact.Email))
		}
	}
	for _, n := range l.notes {
		v.Notes = append(v.Notes, n.In(ctx))
	}
	if l.at != "" {
		v.URL = views.StaffSlotURL(t.Slug, l.at)
	}
	return v
}

// writeLines writes line numbers in order as "2-40,42".
func writeLines(lines []int) string {
	var b strings.Builder
	for at := 0; at < len(lines); {
		end := at
		for end+1 < len(lines) && lines[end+1] == lines[end]+1 {
			end++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(lines[at]))
		if end > at {
			b.WriteString("-" + strconv.Itoa(lines[end]))
		}
		at = end + 1
	}
	return b.String()
}

// readLines reads what writeLines wrote; false for anything else.
func readLines(text string) (map[int]bool, bool) {
	out := map[int]bool{}
	for part := range strings.SplitSeq(text, ",") {
		first, last, span := strings.Cut(part, "-")
		from, err := strconv.Atoi(first)
		to := from
		if err == nil && span {
			to, err = strconv.Atoi(last)
		}
		if err != nil || from < 1 || to < from || to-from >= store.MostImportLines || len(out) > store.MostImportLines {
			return nil, false
		}
		for no := from; no <= to; no++ {
			out[no] = true
		}
	}
	return out, true
}

// longestLines is more than the longest list of a thousand lines has.
const longestLines = 20_000

// postImportRun does the lines that the check found good.
func (s *Server) postImportRun(w http.ResponseWriter, r *http.Request) error {
	f, _, err := s.importForm(w, r)
	if err != nil {
		return err
	}
	kind, err := f.importKind()
	if err != nil {
		return err
	}
	text := f.sheetText()
	chosen, ok := readLines(f.text(views.FieldImportLines, longestLines))
	if !ok {
		f.errs.fault(views.FieldImportLines, "import.err.lines")
	}
	p := importPress{kind: kind, text: text, errs: f.errs}
	if f.bad() {
		p.problem = f.errs.in(r.Context())[views.FieldImportLines]
		return s.importPage(w, r, http.StatusUnprocessableEntity, p)
	}
	// The deadline of usual requests is not one for a thousand lines; the visitor who leaves is.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), importLimit)
	defer cancel()
	stop := context.AfterFunc(whole(r), cancel)
	defer stop()
	deadlines := http.NewResponseController(w)
	if err := errors.Join(deadlines.SetReadDeadline(time.Time{}), deadlines.SetWriteDeadline(time.Now().Add(importLimit+writeLimit))); err != nil {
		return fmt.Errorf("import: %w", err)
	}
	r = r.WithContext(ctx)
	plan, fault, err := s.planImport(ctx, venue(r), kind, text)
	if err != nil {
		return err
	}
	if fault != nil {
		s.faultOf(ctx, f.errs, views.FieldImportText, fault)
		return s.importPage(w, r, http.StatusUnprocessableEntity, p)
	}
	plan.lines = slices.DeleteFunc(plan.lines, func(l importLine) bool { return !chosen[l.no] })
	if len(plan.lines) == 0 {
		p.problem = i18n.T(ctx, "import.err.lines")
		return s.importPage(w, r, http.StatusUnprocessableEntity, p)
	}
	if kind == importSlots {
		err = s.runSlots(r, &plan)
	} else {
		err = s.runBookings(r, &plan)
	}
	if err != nil {
		return err
	}
	return s.importDonePage(w, r, plan)
}

// made marks the lines that were done by this press.
const lineMade importState = 3

func (s *Server) runSlots(r *http.Request, plan *importPlan) error {
	var slots []store.ImportSlot
	for _, l := range plan.lines {
		if l.state == lineGood {
			slots = append(slots, l.slot)
		}
	}
	if len(slots) == 0 {
		return nil
	}
	made, err := s.store.ImportSlots(r.Context(), venue(r).ID, plan.print, me(r).ID, slots)
	if err != nil {
		return err
	}
	for at := range plan.lines {
		l := &plan.lines[at]
		if l.state != lineGood {
			continue
		}
		if id, ok := made[l.no]; ok {
			l.state, l.at = lineMade, id
		} else {
			l.fault(colStart, store.ClockText(minuteOf(l.slot.StartsAt.In(venue(r).Location()))), "import.err.overlap_since")
		}
	}
	return nil
}

func minuteOf(at time.Time) int { return at.Hour()*60 + at.Minute() }

// runBookings books each line by the step of the form for a caller: one slot at
// a time is locked, and a line that is refused stops no other.
func (s *Server) runBookings(r *http.Request, plan *importPlan) error {
	ctx, t, staff := r.Context(), venue(r), me(r)
	made := 0
	for at := range plan.lines {
		l := &plan.lines[at]
		if l.state != lineGood {
			continue
		}
		_, _, err := s.store.Book(ctx, store.BookRequest{
			TenantID: t.ID, SlotID: l.at, PartySize: l.party, Contact: l.contact, Key: store.ImportKey(plan.print, l.no), Silent: !l.notify, Actor: staff.actor(r),
		})
		var o store.Outcome
		switch {
		case err == nil:
			l.state = lineMade
			made++
		case errors.As(err, &o):
			s.noteRefusal(r, o)
			l.fault("", "", i18n.Key("staff.refused."+string(o)))
		default:
			return err
		}
	}
	if made == 0 {
		return nil
	}
	return s.store.RecordSettingChange(ctx, store.SettingChange{TenantID: t.ID, StaffID: staff.ID, Area: store.AreaImport, Subject: plan.print, Fields: []string{importBookings}})
}

func (s *Server) importDonePage(w http.ResponseWriter, r *http.Request, plan importPlan) error {
	ctx, t := r.Context(), venue(r)
	made := plan.count(lineMade)
	v := views.StaffImportDonePage{
		BackURL: views.StaffSettingsURL(t.Slug), AgainURL: views.StaffImportKindURL(t.Slug, plan.kind), Title: i18n.T(ctx, i18n.Key("import.done."+plan.kind), "n", made),
		State: "done", Failed: importProblems(ctx, plan),
	}
	for _, l := range plan.lines {
		switch l.state {
		case lineMade:
			v.Made = append(v.Made, importLineView(ctx, t, plan.kind, l))
		case lineThere:
			v.There = append(v.There, importLineView(ctx, t, plan.kind, l))
		case lineGood, lineBad:
		}
	}
	if len(v.Failed) > 0 {
		v.State = "partly"
	}
	s.log.InfoContext(ctx, "imported", "request", middleware.GetReqID(ctx), "tenant", t.ID, "staff", me(r).ID, "what", plan.kind, "rows", made, "failed", plan.count(lineBad))
	var err error
	if v.Page, v.Staff, err = s.staffPage(r, "settings", v.Title, v.AgainURL); err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, views.StaffImportDone(v))
}

// getImportTemplate is a file to fill in, with one line as an example.
func (s *Server) getImportTemplate(kind string) handlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		ctx, t := r.Context(), venue(r)
		lang := i18n.Lang(ctx)
		n, err := s.loadNames(ctx, t.ID)
		if err != nil {
			return err
		}
		example := map[string]string{
			colDate: midnight(s.now().In(t.Location())).AddDate(0, 0, 14).Format(time.DateOnly), colStart: "10:00", colEnd: "11:00", colCapacity: "8",
			colService: i18n.T(ctx, "import.example.service"), colResource: i18n.T(ctx, "import.example.resource"), colName: i18n.T(ctx, "import.example.name"),
			colKana: i18n.T(ctx, "import.example.kana"), colEmail: "hanako@example.com", colPhone: "090-1234-5678", colParty: "2", colNote: i18n.T(ctx, "import.example.note"),
			colLanguage: lang, colNotify: i18n.T(ctx, "import.example.notify"),
		}
		if at := slices.IndexFunc(n.services, func(sv store.Service) bool { return sv.Active }); at >= 0 {
			sv := n.services[at]
			example[colService], example[colCapacity] = sv.Name.In(lang), strconv.Itoa(sv.Capacity)
			if end := 10*time.Hour + sv.Duration; end <= 24*time.Hour {
				example[colEnd] = store.ClockText(int(end / time.Minute))
			}
		}
		if at := slices.IndexFunc(n.resources, func(res store.Resource) bool { return res.Active }); at >= 0 {
			example[colResource] = n.resources[at].Name.In(lang)
		}
		var head, line []string
		for _, col := range importColumns[kind] {
			head, line = append(head, i18n.T(ctx, i18n.Key("import.col."+col))), append(line, textCell(example[col]).text)
		}
		var out bytes.Buffer
		out.WriteString("\ufeff") // so that Excel reads it as what it is
		file := csv.NewWriter(&out)
		file.UseCRLF = true
		if err := file.WriteAll([][]string{head, line}); err != nil {
			return fmt.Errorf("template: %w", err)
		}
		h := w.Header()
		h.Set("Content-Type", "text/csv; charset=utf-8; header=present")
		h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s.csv"; filename*=UTF-8''%s.csv`, kind, url.PathEscape(i18n.T(ctx, i18n.Key("import.template.name."+kind)))))
		h.Set("Cache-Control", cacheNever)
		if _, err := w.Write(out.Bytes()); err != nil {
			s.log.DebugContext(ctx, "the visitor left", "error", err)
		}
		return nil
	}
}
