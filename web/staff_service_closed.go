package web

import (
	"net/http"
	"strconv"
	"time"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// longestClosedNote is how long the reason of a closed day may be, in characters.
const longestClosedNote = 100

// How far from today days can be closed, in years.
const (
	closedYearsBack  = 1
	closedYearsAhead = 5
)

// yearAsked is the year of an address or a form; this year where it names none
// that can be shown.
func (s *Server) yearAsked(t store.Tenant, text string) int {
	now := s.now().In(t.Location()).Year()
	year, err := strconv.Atoi(text)
	if err != nil || year < now-closedYearsBack || year > now+closedYearsAhead {
		return now
	}
	return year
}

// publicHolidays are the public holidays of a year where the venue has such, in order.
func publicHolidays(t store.Tenant, year int) []store.ClosedDay {
	if region(t) != "JP" {
		return nil
	}
	var out []store.ClosedDay
	for day := time.Date(year, time.January, 1, 0, 0, 0, 0, time.UTC); day.Year() == year; day = day.AddDate(0, 0, 1) {
		if name := store.JapaneseHoliday(day); name != nil {
			out = append(out, store.ClosedDay{TenantID: t.ID, Day: day.Format(time.DateOnly), Note: name})
		}
	}
	return out
}

// closedYear is what a year has: closed days and public holidays, in order.
type closedYear struct {
	days     []views.StaffClosedDay
	missing  []store.ClosedDay // public holidays that are not closed
	holidays int
}

func (s *Server) loadClosedYear(r *http.Request, year int) (closedYear, error) {
	ctx, t := r.Context(), venue(r)
	c, loc := i18n.In(ctx), t.Location()
	first, last := strconv.Itoa(year)+"-01-01", strconv.Itoa(year)+"-12-31"
	closed, err := s.store.ClosedDays(ctx, t.ID, first, last)
	if err != nil {
		return closedYear{}, err
	}
	notes, names := map[string]store.ClosedDay{}, map[string]store.Text{}
	for _, d := range closed {
		notes[d.Day] = d
	}
	var out closedYear
	for _, h := range publicHolidays(t, year) {
		names[h.Day] = h.Note
		out.holidays++
		if _, shut := notes[h.Day]; !shut {
			out.missing = append(out.missing, h)
		}
	}
	var days []string
	for day := time.Date(year, time.January, 1, 0, 0, 0, 0, time.UTC); day.Year() == year; day = day.AddDate(0, 0, 1) {
		text := day.Format(time.DateOnly)
		if _, shut := notes[text]; shut || names[text] != nil {
			days = append(days, text)
		}
	}
	use, err := s.store.DaysInUse(ctx, t.ID, days, loc)
	if err != nil {
		return closedYear{}, err
	}
	for _, text := range days {
		at, err := time.ParseInLocation(time.DateOnly, text, loc)
		if err != nil {
			return closedYear{}, err
		}
		note, shut := notes[text]
		d := views.StaffClosedDay{Day: text, Date: c.Date(at, loc), Holiday: names[text].In(c.Lang()), Closed: shut, Note: note.Note.In(c.Lang())}
		for _, lang := range i18n.Languages {
			if lang != c.Lang() && note.Note[lang] != "" && note.Note[lang] != d.Note {
				d.Other = note.Note[lang]
			}
		}
		if d.Note == d.Holiday {
			d.Note, d.Other = "", ""
		}
		if u := use[text]; u.Slots > 0 && shut {
			d.Slots, d.SlotsURL = i18n.T(ctx, "closed.slots", "n", u.Slots, "seats", u.Seats), views.StaffDayURL(t.Slug, text)
		}
		out.days = append(out.days, d)
	}
	return out, nil
}

// closedPress is what came of a press on the page of closed days.
type closedPress struct {
	typed   typedText
	errs    formErrors
	problem string
	year    int
}

func (s *Server) getClosedDays(w http.ResponseWriter, r *http.Request) error {
	return s.closedPage(w, r, http.StatusOK, closedPress{typed: typedText{}, year: s.yearAsked(venue(r), r.URL.Query().Get(views.FieldYear))})
}

func (s *Server) closedPage(w http.ResponseWriter, r *http.Request, status int, p closedPress) error {
	ctx, t := r.Context(), venue(r)
	c, loc := i18n.In(ctx), t.Location()
	year, err := s.loadClosedYear(r, p.year)
	if err != nil {
		return err
	}
	text := strconv.Itoa(p.year)
	self := views.StaffClosedYearURL(t.Slug, text)
	said := p.errs.in(ctx)
	v := views.StaffClosedPage{Title: i18n.T(ctx, "closed.title", "year", text), Year: text, Problem: p.problem, RemoveURL: views.StaffClosedRemoveURL(t.Slug)}
	if before := p.year - 1; s.yearAsked(t, strconv.Itoa(before)) == before {
		v.PrevYear, v.PrevURL = strconv.Itoa(before), views.StaffClosedYearURL(t.Slug, strconv.Itoa(before))
	}
	if after := p.year + 1; s.yearAsked(t, strconv.Itoa(after)) == after {
		v.NextYear, v.NextURL = strconv.Itoa(after), views.StaffClosedYearURL(t.Slug, strconv.Itoa(after))
	}
	for _, d := range year.days {
		at, err := time.ParseInLocation(time.DateOnly, d.Day, loc)
		if err != nil {
			return err
		}
		if title := c.Month(at, loc); len(v.Months) == 0 || v.Months[len(v.Months)-1].Title != title {
			v.Months = append(v.Months, views.StaffClosedMonth{Title: title})
		}
		month := &v.Months[len(v.Months)-1]
		month.Days = append(month.Days, d)
	}
	switch {
	case year.holidays == 0:
		v.HolidayText = i18n.T(ctx, "closed.holidays.not_here")
	case len(year.missing) == 0:
		v.HolidayText = i18n.T(ctx, "closed.holidays.all", "year", text)
	default:
		v.HolidayText, v.HolidaysURL = i18n.T(ctx, "closed.holidays.some", "n", len(year.missing), "year", text), views.StaffHolidaysYearURL(t.Slug, text)
	}
	date := func(field string, optional bool) views.StaffFormField {
		f := views.Field{Name: field, Label: i18n.T(ctx, i18n.Key("closed."+field)), Type: "date", Value: p.typed[field], Error: said[field], Optional: optional}
		if optional {
			f.Hint = i18n.T(ctx, "closed.until.hint", "n", store.MostClosedSpan)
		}
		return views.StaffFormField{Field: f}
	}
	v.Form = views.StaffSettingForm{
		ActionURL: views.StaffClosedURL(t.Slug), Errs: said, Submit: i18n.T(ctx, "closed.add"),
		Groups: []views.StaffFormGroup{{
			Title: i18n.T(ctx, "closed.add.title"), Text: i18n.T(ctx, "closed.add.text"),
			Rows: [][]views.StaffFormField{{date(views.FieldFrom, false)}, {date(views.FieldUntil, true)}},
		}},
	}
	for _, f := range pair(ctx, t, p.typed, p.errs, views.FieldNote, longestClosedNote, false) {
		f.Optional = true
		v.Form.Groups[0].Rows = append(v.Form.Groups[0].Rows, []views.StaffFormField{f})
	}
	if v.Last, err = s.lastChange(r, store.AreaClosed, ""); err != nil {
		return err
	}
	if v.Page, v.Staff, err = s.staffPage(r, "settings", v.Title, self); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffClosed(v))
}

// postClosedDays closes a day or a span.
func (s *Server) postClosedDays(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	typed, today := typedText{}, midnight(s.now().In(t.Location()))
	note := f.readText(typed, views.FieldNote, longestClosedNote, false)
	day := func(field string) (time.Time, bool) {
		typed[field] = f.text(field, 20)
		at, err := time.Parse(time.DateOnly, store.NormalizeText(typed[field]))
		return at, err == nil
	}
	from, ok := day(views.FieldFrom)
	if !ok {
		f.errs.fault(views.FieldFrom, "closed.err.day")
	} else if years := from.Year() - today.Year(); years < -closedYearsBack || years > closedYearsAhead {
		f.errs.fault(views.FieldFrom, "closed.err.far", "n", closedYearsAhead)
	}
	until, ok := day(views.FieldUntil)
	switch {
	case typed[views.FieldUntil] == "":
		until = from
	case !ok:
		f.errs.fault(views.FieldUntil, "closed.err.day")
	case until.Before(from):
		f.errs.fault(views.FieldUntil, "closed.err.order")
	case daysBetween(from, until) >= store.MostClosedSpan:
		f.errs.fault(views.FieldUntil, "closed.err.long", "n", store.MostClosedSpan)
	}
	if f.bad() {
		return s.closedPage(w, r, http.StatusUnprocessableEntity, closedPress{typed: typed, errs: f.errs, year: s.yearAsked(t, from.Format("2006"))})
	}
	var days []store.ClosedDay
	for at := from; !at.After(until); at = at.AddDate(0, 0, 1) {
		days = append(days, store.ClosedDay{Day: at.Format(time.DateOnly), Note: note})
	}
	if err := s.store.CloseDays(ctx, t.ID, days, me(r).ID); err != nil {
		return err
	}
	return s.see(w, r, views.StaffClosedYearURL(t.Slug, from.Format("2006")), "closed.added", "n", len(days))
}

func (s *Server) postClosedRemove(w http.ResponseWriter, r *http.Request) error {
	t := venue(r)
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	day := f.text(views.FieldDay, 20)
	at, err := time.Parse(time.DateOnly, day)
	if err != nil || f.bad() {
		return errBadRequest
	}
	if err := s.store.OpenDay(r.Context(), t.ID, day, me(r).ID); err != nil {
		return err
	}
	return s.see(w, r, views.StaffClosedYearURL(t.Slug, at.Format("2006")), "closed.removed")
}

// getHolidays shows which days one press would close.
func (s *Server) getHolidays(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	year := s.yearAsked(t, r.URL.Query().Get(views.FieldYear))
	text := strconv.Itoa(year)
	back := views.StaffClosedYearURL(t.Slug, text)
	c, loc := i18n.In(ctx), t.Location()
	found, err := s.loadClosedYear(r, year)
	if err != nil {
		return err
	}
	v := views.StaffHolidaysPage{
		BackURL: back, BackText: i18n.T(ctx, "closed.title", "year", text), Title: i18n.T(ctx, "closed.holidays.ask", "year", text), Year: text, Lead: i18n.T(ctx, "closed.holidays.lead"),
	}
	var days []string
	for _, h := range found.missing {
		days = append(days, h.Day)
	}
	use, err := s.store.DaysInUse(ctx, t.ID, days, loc)
	if err != nil {
		return err
	}
	for _, h := range found.missing {
		at, err := time.ParseInLocation(time.DateOnly, h.Day, loc)
		if err != nil {
			return err
		}
		d := views.StaffClosedDay{Day: h.Day, Date: c.Date(at, loc), Holiday: h.Note.In(c.Lang())}
		if u := use[h.Day]; u.Slots > 0 {
			d.Slots, d.SlotsURL = i18n.T(ctx, "closed.slots", "n", u.Slots, "seats", u.Seats), views.StaffDayURL(t.Slug, h.Day)
		}
		v.Days = append(v.Days, d)
	}
	if len(v.Days) == 0 {
		v.Lead = i18n.T(ctx, "closed.holidays.all", "year", text)
		if found.holidays == 0 {
			v.Lead = i18n.T(ctx, "closed.holidays.not_here")
		}
	} else {
		v.ActionURL, v.Submit = views.StaffHolidaysURL(t.Slug), i18n.T(ctx, "closed.holidays.take", "n", len(v.Days))
	}
	if v.Page, v.Staff, err = s.staffPage(r, "settings", v.Title, views.StaffHolidaysYearURL(t.Slug, text)); err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, views.StaffHolidays(v))
}

func (s *Server) postHolidays(w http.ResponseWriter, r *http.Request) error {
	t := venue(r)
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	text := f.text(views.FieldYear, 4)
	year := s.yearAsked(t, text)
	if f.bad() || strconv.Itoa(year) != text {
		return errBadRequest
	}
	found, err := s.loadClosedYear(r, year)
	if err != nil {
		return err
	}
	if len(found.missing) > 0 {
		if err := s.store.CloseDays(r.Context(), t.ID, found.missing, me(r).ID); err != nil {
			return err
		}
	}
	return s.see(w, r, views.StaffClosedYearURL(t.Slug, text), "closed.added", "n", len(found.missing))
}
