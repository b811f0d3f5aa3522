package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// exportDays is the longest time whose lists are taken at once.
const exportDays = 2*366 + 1

// exportFilter is what the exports page and its files are asked for, as typed.
type exportFilter struct {
	values url.Values
	query  store.ExportQuery
	last   time.Time // the last day, as its beginning at the venue
	errs   formErrors
}

// decodeExport reads the filter of an address. Without days it is the month of now.
func (s *Server) decodeExport(r *http.Request, n names) exportFilter {
	t, given := venue(r), r.URL.Query()
	loc := t.Location()
	f := exportFilter{values: url.Values{}, query: store.ExportQuery{TenantID: t.ID}, errs: formErrors{}}
	today := s.now().In(loc)
	usual := map[string]string{
		views.FieldExportFrom: time.Date(today.Year(), today.Month(), 1, 0, 0, 0, 0, loc).Format(time.DateOnly),
		views.FieldExportTo:   time.Date(today.Year(), today.Month()+1, 0, 0, 0, 0, 0, loc).Format(time.DateOnly),
	}
	for _, name := range []string{views.FieldExportFrom, views.FieldExportTo, views.FieldExportService, views.FieldExportResource, views.FieldExportState} {
		value := usual[name]
		if given.Has(name) {
			value = store.NormalizeText(strings.ToValidUTF8(given.Get(name), ""))
		}
		f.values.Set(name, value)
	}
	day := func(name string) time.Time {
		at, err := time.ParseInLocation(time.DateOnly, f.values.Get(name), loc)
		if err != nil || at.Year() < 1970 || at.Year() > 9000 {
			f.errs.fault(name, "find.export.err.day")
		}
		return at
	}
	f.query.From, f.last = day(views.FieldExportFrom), day(views.FieldExportTo)
	f.query.To = f.last.AddDate(0, 0, 1)
	if len(f.errs) == 0 {
		switch {
		case f.last.Before(f.query.From):
			f.errs.fault(views.FieldExportTo, "find.export.err.order")
		case f.query.To.After(f.query.From.AddDate(0, 0, exportDays)):
			f.errs.fault(views.FieldExportTo, "find.export.err.long")
		}
	}
	f.query.ServiceID, f.query.ResourceID, f.query.State = f.values.Get(views.FieldExportService), f.values.Get(views.FieldExportResource), f.values.Get(views.FieldExportState)
	if f.query.ServiceID != "" && !slices.ContainsFunc(n.services, func(sv store.Service) bool { return sv.ID == f.query.ServiceID }) {
		f.errs.fault(views.FieldExportService, "find.export.err.choice")
	}
	if f.query.ResourceID != "" && !slices.ContainsFunc(n.resources, func(res store.Resource) bool { return res.ID == f.query.ResourceID }) {
		f.errs.fault(views.FieldExportResource, "find.export.err.choice")
	}
	if !slices.Contains(store.ExportStates, f.query.State) {
		f.errs.fault(views.FieldExportState, "find.export.err.choice")
	}
	return f
}

// getExports chooses what the files hold, and says how many lines that is.
func (s *Server) getExports(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	n, err := s.loadNames(ctx, t.ID)
	if err != nil {
		return err
	}
	f := s.decodeExport(r, n)
	lang, c := i18n.Lang(ctx), i18n.In(ctx)
	v := views.StaffExportsPage{
		ActionURL: views.StaffExportsURL(t.Slug), From: f.values.Get(views.FieldExportFrom), To: f.values.Get(views.FieldExportTo), Errs: f.errs.in(ctx),
		Services:  []views.Option{{Text: i18n.T(ctx, "find.export.all_services")}},
		Resources: []views.Option{{Text: i18n.T(ctx, "find.export.all_resources")}},
	}
	for _, sv := range n.services {
		v.Services = append(v.Services, views.Option{Value: sv.ID, Text: sv.Name.In(lang), Selected: sv.ID == f.query.ServiceID})
	}
	for _, res := range n.resources {
		v.Resources = append(v.Resources, views.Option{Value: res.ID, Text: res.Name.In(lang), Selected: res.ID == f.query.ResourceID})
	}
	for _, state := range store.ExportStates {
		key := state
		if key == "" {
			key = "all"
		}
		v.States = append(v.States, views.Option{Value: state, Text: i18n.T(ctx, i18n.Key("find.export.states."+key)), Selected: state == f.query.State})
	}
	status := http.StatusUnprocessableEntity
	if len(f.errs) == 0 {
		status = http.StatusOK
		counts, err := s.store.CountExport(ctx, f.query)
		if err != nil {
			return err
		}
		loc := t.Location()
		v.Range = i18n.T(ctx, "find.export.range", "from", c.Date(f.query.From, loc), "to", c.Date(f.last, loc))
		file := func(name views.StaffExport, lines int, title, text i18n.Key) {
			v.Files = append(v.Files, views.StaffExportFile{
				Name: string(name), Title: i18n.T(ctx, title), Text: i18n.T(ctx, text), Count: i18n.T(ctx, "find.export.count", "n", lines), Empty: lines == 0,
				URL: views.StaffExportURL(t.Slug, name, f.values),
			})
		}
		file(views.ExportReservations, counts.Reservations, "find.export.reservations.title", "find.export.reservations.text")
		file(views.ExportWaitlist, counts.Entries, "find.export.waitlist.title", "find.export.waitlist.text")
		file(views.ExportCustomers, counts.Customers, "find.export.customers.title", "find.export.customers.text")
	}
	self := views.StaffExportsURL(t.Slug) + "?" + f.values.Encode()
	if v.Page, v.Staff, err = s.staffPage(r, "settings", i18n.T(ctx, "find.export.title"), self); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffExports(v))
}

// getExport is one of the files of the exports page; a filter with a fault has none.
func (s *Server) getExport(file views.StaffExport) handlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		ctx, t := r.Context(), venue(r)
		n, err := s.loadNames(ctx, t.ID)
		if err != nil {
			return err
		}
		f := s.decodeExport(r, n)
		if len(f.errs) > 0 {
			return errBadRequest
		}
		days := f.query.From.Format(time.DateOnly) + "_" + f.last.Format(time.DateOnly)
		about := csvAbout{
			what: string(file), plain: string(file) + "_" + days,
			log: []any{"from", f.query.From.Format(time.DateOnly), "to", f.last.Format(time.DateOnly), "service", f.query.ServiceID, "resource", f.query.ResourceID, "state", f.query.State},
		}
		switch file {
		case views.ExportReservations:
			about.name = i18n.T(ctx, "find.export.reservations.file") + "_" + days
			about.head = csvColumns(ctx, "number", "date", "start", "end", "service", "resource", "party", "name", "kana", "email", "phone", "state", "attendance", "note", "answers", "source", "made", "ended", "reason")
			return s.sendCSV(w, r, about, func(read context.Context, out *csvFile) error {
				return s.store.ExportReservations(read, f.query, func(res store.ExportedReservation) error {
					o := n.of(store.Slot{ServiceID: res.ServiceID, ResourceID: res.ResourceID})
					return out.row(slices.Concat([]cell{numberCell(res.Number)}, slotCells(ctx, t, o, res.StartsAt, res.EndsAt), []cell{
						countCell(res.PartySize), textCell(res.Name), textCell(res.Kana), textCell(res.Email), phoneCell(t, res.Phone), reservationStateCell(ctx, res.State), attendanceCell(ctx, res.Attendance),
						textCell(res.Note), answersCell(ctx, o.service.Questions, res.Answers), sourceCell(ctx, res.Source), momentCell(t, &res.CreatedAt), momentCell(t, res.EndedAt), textCell(res.CancelReason),
					})...)
				})
			})
		case views.ExportWaitlist:
			about.name = i18n.T(ctx, "find.export.waitlist.file") + "_" + days
			about.head = csvColumns(ctx, "date", "start", "end", "service", "resource", "party", "name", "kana", "email", "phone", "state", "until", "note", "answers", "source", "made", "ended")
			return s.sendCSV(w, r, about, func(read context.Context, out *csvFile) error {
				return s.store.ExportEntries(read, f.query, func(e store.ExportedEntry) error {
					o := n.of(store.Slot{ServiceID: e.ServiceID, ResourceID: e.ResourceID})
					return out.row(slices.Concat(slotCells(ctx, t, o, e.StartsAt, e.EndsAt), []cell{
						countCell(e.PartySize), textCell(e.Name), textCell(e.Kana), textCell(e.Email), phoneCell(t, e.Phone), entryStateCell(ctx, e.State), momentCell(t, e.ShownUntil),
						textCell(e.Note), answersCell(ctx, o.service.Questions, e.Answers), sourceCell(ctx, e.Source), momentCell(t, &e.JoinedAt), momentCell(t, e.EndedAt),
					})...)
				})
			})
		default:
			about.name = i18n.T(ctx, "find.export.customers.file") + "_" + days
			about.head = csvColumns(ctx, "name", "kana", "email", "phone", "booked", "arrived", "no_show", "cancelled", "people", "first", "last")
			return s.sendCSV(w, r, about, func(read context.Context, out *csvFile) error {
				return s.store.ExportCustomers(read, f.query, func(c store.ExportedCustomer) error {
					return out.row(textCell(c.Name), textCell(c.Kana), textCell(c.Email), phoneCell(t, c.Phone), countCell(c.Booked), countCell(c.Arrived), countCell(c.NoShows), countCell(c.Cancelled),
						countCell(c.People), dayCell(t, c.First), dayCell(t, c.Last))
				})
			})
		}
	}
}

// getRosterCSV is the roster of a slot as its page shows it: who holds a seat.
func (s *Server) getRosterCSV(w http.ResponseWriter, r *http.Request) error {
	return s.slotCSV(w, r, "roster", "find.export.roster.file", []string{"number", "name", "kana", "party", "phone", "email", "state", "attendance", "note"}, []string{"source", "made"},
		func(ctx context.Context, c counter, out *csvFile) error {
			roster, err := s.store.Roster(ctx, c.tenant.ID, c.ID)
			if err != nil {
				return err
			}
			for _, res := range roster {
				if !res.Live() {
					continue
				}
				line := []cell{
					numberCell(res.Number), textCell(res.Name), textCell(res.Kana), countCell(res.PartySize), phoneCell(c.tenant, res.Phone), textCell(res.Email),
					reservationStateCell(ctx, res.State), attendanceCell(ctx, res.Attendance), textCell(res.Note),
				}
				line = append(line, answerCells(ctx, c.service.Questions, res.Answers)...)
				if err := out.row(append(line, sourceCell(ctx, res.Source), momentCell(c.tenant, &res.CreatedAt))...); err != nil {
					return err
				}
			}
			return nil
		})
}

// getWaitlistCSV is who waits for a slot, in order, as its page shows it.
func (s *Server) getWaitlistCSV(w http.ResponseWriter, r *http.Request) error {
	return s.slotCSV(w, r, "slot_waitlist", "find.export.waitlist.file", []string{"place", "name", "kana", "party", "phone", "email", "state", "until", "note"}, []string{"source", "made"},
		func(ctx context.Context, c counter, out *csvFile) error {
			entries, err := s.store.Waitlist(ctx, c.tenant.ID, c.ID, false)
			if err != nil {
				return err
			}
			for i, e := range entries {
				line := []cell{
					countCell(i + 1), textCell(e.Name), textCell(e.Kana), countCell(e.PartySize), phoneCell(c.tenant, e.Phone), textCell(e.Email), entryStateCell(ctx, e.State),
					momentCell(c.tenant, e.ShownUntil), textCell(e.Note),
				}
				line = append(line, answerCells(ctx, c.service.Questions, e.Answers)...)
				if err := out.row(append(line, sourceCell(ctx, e.Source), momentCell(c.tenant, &e.JoinedAt))...); err != nil {
					return err
				}
			}
			return nil
		})
}

// slotCSV is a list of one slot. What its service asks has a column each.
func (s *Server) slotCSV(w http.ResponseWriter, r *http.Request, what string, name i18n.Key, first, last []string, write func(context.Context, counter, *csvFile) error) error {
	ctx, t := r.Context(), venue(r)
	slot, err := slotParam(r)
	if err != nil {
		return err
	}
	o, n, err := s.loadSlot(ctx, t.ID, slot)
	if err != nil {
		return err
	}
	c := counter{oneSlot: o, tenant: t, names: n}
	head := csvColumns(ctx, first...)
	for _, q := range c.service.Questions {
		head = append(head, q.Label.In(i18n.Lang(ctx)))
	}
	at := c.StartsAt.In(t.Location()).Format("2006-01-02_1504")
	about := csvAbout{what: what, name: i18n.T(ctx, name) + "_" + at, plain: what + "_" + at, head: append(head, csvColumns(ctx, last...)...), log: []any{"slot", c.ID}}
	return s.sendCSV(w, r, about, func(_ context.Context, out *csvFile) error { return write(ctx, c, out) })
}

// slotCells say which slot a line is about.
func slotCells(ctx context.Context, t store.Tenant, o oneSlot, starts, ends time.Time) []cell {
	lang := i18n.Lang(ctx)
	return []cell{dayCell(t, starts), timeCell(t, starts), timeCell(t, ends), textCell(o.service.Name.In(lang)), textCell(o.resource.Name.In(lang))}
}

func reservationStateCell(ctx context.Context, state store.ReservationState) cell {
	return codeCell(ctx, string(state), i18n.Key("find.state."+string(state)))
}

func entryStateCell(ctx context.Context, state store.EntryState) cell {
	return codeCell(ctx, string(state), i18n.Key("find.state."+string(state)))
}

func attendanceCell(ctx context.Context, attendance string) cell {
	return codeCell(ctx, attendance, i18n.Key("find.attendance."+attendance))
}

func sourceCell(ctx context.Context, source store.Source) cell {
	return codeCell(ctx, string(source), i18n.Key("find.source."+string(source)))
}

// answersCell has all answers in one cell, a line each: services ask different things.
func answersCell(ctx context.Context, questions []store.Question, given map[string]string) cell {
	var lines []string
	for _, a := range answered(ctx, questions, given) {
		lines = append(lines, a.Question+": "+a.Text)
	}
	return textCell(strings.Join(lines, "\n"))
}

// answerCells have a cell for each question.
func answerCells(ctx context.Context, questions []store.Question, given map[string]string) []cell {
	out := make([]cell, len(questions))
	for i := range questions {
		out[i] = textCell("")
		if a := answered(ctx, questions[i:i+1], map[string]string{questions[i].ID: given[questions[i].ID]}); len(a) > 0 {
			out[i] = textCell(a[0].Text)
		}
	}
	return out
}
