package web

import (
	"context"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// insightMost is the longest period that is worked out, in days; insightDays the usual one.
const (
	insightMost = 366
	insightDays = 28
)

// insightQuery is the period and the choice, read from the address.
type insightQuery struct {
	from, to          time.Time // first and last day, at midnight of the venue
	typed             views.StaffInsightFilter
	service, resource string // ids
	errs              formErrors
}

func decodeInsight(q url.Values, n names, today time.Time) insightQuery {
	out := insightQuery{errs: formErrors{}, from: addDays(today, 1-insightDays), to: today}
	out.typed = views.StaffInsightFilter{From: q.Get("from"), To: q.Get("to")}
	day := func(typed, field string, usual time.Time) time.Time {
		if typed == "" {
			return usual
		}
		at, err := time.ParseInLocation(time.DateOnly, typed, today.Location())
		if err != nil || at.Year() < 1990 || at.Year() > 2200 {
			out.errs.fault(field, "insight.err.day")
			return usual
		}
		return at
	}
	out.to = day(out.typed.To, "to", out.to)
	if out.typed.From == "" && out.typed.To != "" {
		out.from = addDays(out.to, 1-insightDays)
	}
	out.from = day(out.typed.From, "from", out.from)
	if out.typed.To == "" && out.from.After(out.to) { // a start ahead without an end
		out.to = addDays(out.from, insightDays-1)
	}
	switch {
	case len(out.errs) > 0:
	case out.to.Before(out.from):
		out.errs.fault("to", "insight.err.order")
	case daysBetween(out.from, out.to) >= insightMost:
		out.errs.fault("to", "insight.err.long", "n", insightMost)
	}
	for _, sv := range n.services {
		if sv.Slug == q.Get("service") {
			out.service, out.typed.Service = sv.ID, sv.Slug
		}
	}
	for _, rs := range n.resources {
		if rs.Slug == q.Get("resource") {
			out.resource, out.typed.Resource = rs.ID, rs.Slug
		}
	}
	return out
}

// filter is the query with its days written out, for links that mean the same tomorrow.
func (q insightQuery) filter() views.StaffInsightFilter {
	f := q.typed
	f.From, f.To = q.from.Format(time.DateOnly), q.to.Format(time.DateOnly)
	return f
}

func (q insightQuery) of(t store.Tenant) store.InsightQuery {
	return store.InsightQuery{TenantID: t.ID, Zone: t.Location().String(), From: q.from, To: addDays(q.to, 1), ServiceID: q.service, ResourceID: q.resource}
}

// numbers is all that was counted. Four statements.
type numbers struct {
	occupancy []store.Occupancy
	all       store.Occupancy
	funnel    store.Funnel
	freed     map[string]store.FreedSeats
	leads     []store.Lead
}

func (s *Server) loadNumbers(ctx context.Context, q store.InsightQuery) (numbers, error) {
	var out numbers
	var err error
	if out.occupancy, err = s.store.Occupancy(ctx, q); err != nil {
		return out, err
	}
	for _, o := range out.occupancy {
		if o.Of == "all" {
			out.all = o
		}
	}
	if out.funnel, err = s.store.Funnel(ctx, q); err != nil {
		return out, err
	}
	freed, err := s.store.FreedSeats(ctx, q)
	if err != nil {
		return out, err
	}
	out.freed = map[string]store.FreedSeats{}
	for _, f := range freed {
		out.freed[f.Outcome] = f
	}
	out.leads, err = s.store.Leads(ctx, q)
	return out, err
}

// insightTable is a table of plain values: text, int, percent, or hours. A page shows
// them in the reader's way, a file as a spreadsheet reads them.
type insightTable struct {
	key  string
	head []string
	rows [][]any
}

// insightPercent is a share of a hundred; NaN where there is nothing to share.
type insightPercent float64

func shareOf(part, whole int) insightPercent {
	if whole == 0 {
		return insightPercent(math.NaN())
	}
	return insightPercent(100 * float64(part) / float64(whole))
}

// insightSpan is a span; negative where there is none.
type insightSpan float64

// shownValue writes a value for people.
func shownValue(ctx context.Context, v any) string {
	c := i18n.In(ctx)
	switch v := v.(type) {
	case string:
		return v
	case int:
		return c.Number(v)
	case insightPercent:
		if math.IsNaN(float64(v)) {
			return "–"
		}
		return strconv.Itoa(int(math.Round(float64(v)))) + "%"
	case insightSpan:
		if v < 0 {
			return "–"
		}
		return roundedSpan(ctx, float64(v))
	default:
		return "–"
	}
}

// fileCell writes a value for a spreadsheet: shares as numbers of a hundred, times as minutes.
func fileCell(v any) cell {
	switch v := v.(type) {
	case string:
		return textCell(v)
	case int:
		return countCell(v)
	case insightPercent:
		if math.IsNaN(float64(v)) {
			return textCell("")
		}
		return cell{strconv.FormatFloat(float64(v), 'f', 1, 64), true}
	case insightSpan:
		if v < 0 {
			return textCell("")
		}
		return cell{strconv.FormatFloat(float64(v)/60, 'f', 1, 64), true}
	default:
		return textCell("")
	}
}

// roundedSpan writes a time as people round it.
func roundedSpan(ctx context.Context, s float64) string {
	d := time.Duration(s * float64(time.Second))
	switch {
	case d < time.Minute:
		return i18n.T(ctx, "insight.under_minute")
	case d >= 48*time.Hour:
		return i18n.T(ctx, "insight.days", "n", int(math.Round(d.Hours()/24)))
	case d >= 3*time.Hour:
		return i18n.In(ctx).Duration(d.Round(time.Hour))
	default:
		return i18n.In(ctx).Duration(d.Truncate(time.Minute))
	}
}

// insightTables are the keys of the tables, as they stand in addresses.
var insightTables = []string{"occupancy", "weeks", "waitlist", "freed", "refill", "booked-ahead", "cancelled"}

// makeTable works out one table.
func (n numbers) makeTable(ctx context.Context, key string, loc *time.Location) insightTable {
	head := func(keys ...string) []string {
		out := make([]string, len(keys))
		for i, k := range keys {
			out[i] = i18n.T(ctx, i18n.Key("insight.head."+k))
		}
		return out
	}
	c := i18n.In(ctx)
	t := insightTable{key: key}
	switch key {
	case "occupancy":
		t.head = head("weekday", "hour", "slots", "capacity", "booked", "occupancy")
		for _, o := range n.occupancy {
			if o.Of == "hour" {
				t.rows = append(t.rows, []any{c.WeekdayLong(time.Weekday(o.Weekday % 7)), hourText(o.Hour), o.Slots, o.Capacity, o.Booked, shareOf(o.Booked, o.Capacity)})
			}
		}
	case "weeks":
		t.head = head("week", "slots", "capacity", "booked", "occupancy", "arrived")
		for _, o := range n.occupancy {
			if o.Of == "week" {
				t.rows = append(t.rows, []any{weekText(c, o.Week, loc), o.Slots, o.Capacity, o.Booked, shareOf(o.Booked, o.Capacity), o.Arrived})
			}
		}
	case "waitlist":
		t.head = head("outcome", "parties", "of_joined")
		f := n.funnel
		for _, row := range []struct {
			key string
			n   int
		}{
			{"joined", f.Joined},
			{"offered", f.Offered},
			{"accepted", f.Accepted},
			{"lapsed", f.Lapsed},
			{"declined", f.Declined},
			{"revoked", f.Revoked},
			{"claimed", f.Claimed},
			{"withdrawn", f.Withdrawn},
			{"booked", f.Booked},
			{"unserved", f.Unserved},
			{"waiting", f.Waiting},
			{"open", f.Open},
		} {
			t.rows = append(t.rows, []any{i18n.T(ctx, i18n.Key("insight.wait."+row.key)), row.n, shareOf(row.n, f.Joined)})
		}
	case "freed":
		t.head = head("outcome", "seats", "of_freed")
		for _, key := range freedOutcomes {
			t.rows = append(t.rows, []any{i18n.T(ctx, i18n.Key("insight.freed."+key)), n.freed[key].Seats, shareOf(n.freed[key].Seats, n.freed["all"].Seats)})
		}
	case "refill":
		t.head = head("outcome", "seats", "quickest", "median", "slowest")
		for _, key := range []string{"offer", "claim", "booking", "all"} {
			f, q := n.freed[key], []any{insightSpan(-1), insightSpan(-1), insightSpan(-1)}
			for i := range f.Quartiles {
				q[i] = insightSpan(f.Quartiles[i])
			}
			count, label := f.Seats, i18n.T(ctx, i18n.Key("insight.freed."+key))
			if key == "all" {
				count, label = n.refilled(), i18n.T(ctx, "insight.together")
			}
			t.rows = append(t.rows, append([]any{label, count}, q...))
		}
	case "booked-ahead":
		t.head = head("ahead", "parties", "seats", "of_booked")
		var parties, seats [8]int
		total := 0
		for _, l := range n.leads {
			if l.What == "booked" && l.Class >= 0 && l.Class < len(parties) {
				parties[l.Class] += l.Parties
				seats[l.Class] += l.Seats
				total += l.Parties
			}
		}
		for class := range parties {
			t.rows = append(t.rows, []any{classText(ctx, class), parties[class], seats[class], shareOf(parties[class], total)})
		}
	case "cancelled":
		t.head = head("ahead", "by_customer", "by_staff", "by_api", "together")
		var parties [8][3]int
		for _, l := range n.leads {
			if l.What == "cancelled" && l.Class >= 0 && l.Class < len(parties) {
				switch store.ActorKind(l.Channel) {
				case store.Customer:
					parties[l.Class][0] += l.Parties
				case store.API:
					parties[l.Class][2] += l.Parties
				default:
					parties[l.Class][1] += l.Parties
				}
			}
		}
		for class, p := range parties {
			t.rows = append(t.rows, []any{classText(ctx, class), p[0], p[1], p[2], p[0] + p[1] + p[2]})
		}
	}
	return t
}

// freedOutcomes are what became of freed seats, from good to lost.
var freedOutcomes = []string{"offer", "claim", "booking", "ahead", "empty"}

// refilled counts the freed seats that were booked again.
func (n numbers) refilled() int {
	return n.freed["offer"].Seats + n.freed["claim"].Seats + n.freed["booking"].Seats
}

func classText(ctx context.Context, class int) string {
	return i18n.T(ctx, i18n.Key("insight.class."+strconv.Itoa(class)))
}

func hourText(hour int) string {
	if hour < 10 {
		return "0" + strconv.Itoa(hour) + ":00"
	}
	return strconv.Itoa(hour) + ":00"
}

// weekText names a week by its Monday at the venue.
func weekText(c *i18n.Catalog, monday string, loc *time.Location) string {
	at, err := time.ParseInLocation(time.DateOnly, monday, loc)
	if err != nil {
		return monday
	}
	return c.DateShort(noon(at), loc)
}

func (s *Server) getInsight(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	n, err := s.loadNames(ctx, t.ID)
	if err != nil {
		return err
	}
	loc := t.Location()
	today := midnight(s.now().In(loc))
	q := decodeInsight(r.URL.Query(), n, today)
	lang := i18n.Lang(ctx)
	v := views.StaffInsightPage{
		ActionURL: views.StaffInsightURL(t.Slug), Errs: q.errs.in(ctx), From: q.typed.From, To: q.typed.To, Presets: insightPresets(ctx, t, q, today),
		Services:  []views.Option{{Text: i18n.T(ctx, "insight.all_services"), Selected: q.service == ""}},
		Resources: []views.Option{{Text: i18n.T(ctx, "insight.all_resources"), Selected: q.resource == ""}},
	}
	for _, sv := range n.services {
		v.Services = append(v.Services, views.Option{Value: sv.Slug, Text: sv.Name.In(lang), Selected: sv.ID == q.service})
	}
	for _, rs := range n.resources {
		v.Resources = append(v.Resources, views.Option{Value: rs.Slug, Text: rs.Name.In(lang), Selected: rs.ID == q.resource})
	}
	status, self := http.StatusOK, views.StaffInsightOfURL(t.Slug, q.typed)
	if len(q.errs) > 0 {
		status = http.StatusUnprocessableEntity
	} else {
		f := q.filter()
		v.From, v.To = f.From, f.To
		v.Period = i18n.T(ctx, "insight.period", "from", i18n.In(ctx).Date(noon(q.from), loc), "to", i18n.In(ctx).Date(noon(q.to), loc))
		counted, err := s.loadNumbers(ctx, q.of(t))
		if err != nil {
			return err
		}
		v.Nothing = counted.all.Slots == 0
		v.Figures, v.Sections = counted.figures(ctx), counted.sections(ctx, t, f)
	}
	if v.Page, v.Staff, err = s.staffPage(r, "insight", i18n.T(ctx, "insight.title"), self); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffInsight(v))
}

func insightPresets(ctx context.Context, t store.Tenant, q insightQuery, today time.Time) []views.StaffInsightPreset {
	var out []views.StaffInsightPreset
	for _, p := range []struct {
		key         i18n.Key
		first, last int // days from today
	}{
		{"insight.last_7", -6, 0}, {"insight.last_28", 1 - insightDays, 0}, {"insight.last_90", -89, 0}, {"insight.last_365", -364, 0}, {"insight.next_28", 1, insightDays},
	} {
		f := q.typed
		from, to := addDays(today, p.first), addDays(today, p.last)
		f.From, f.To = from.Format(time.DateOnly), to.Format(time.DateOnly)
		out = append(out, views.StaffInsightPreset{
			Text: i18n.T(ctx, p.key), URL: views.StaffInsightOfURL(t.Slug, f), Current: len(q.errs) == 0 && from.Equal(q.from) && to.Equal(q.to),
		})
	}
	return out
}

// figures are the numbers on top, each with the sentence that defines it.
func (n numbers) figures(ctx context.Context) []views.StaffFigure {
	a, f := n.all, n.funnel
	marked := a.PartiesArrived + a.PartiesNoShow
	figure := func(key string, value any, args ...any) views.StaffFigure {
		return views.StaffFigure{Label: i18n.T(ctx, i18n.Key("insight.figure."+key)), Value: shownValue(ctx, value), Define: i18n.T(ctx, i18n.Key("insight.define."+key), args...)}
	}
	var median any = insightSpan(-1)
	if q := n.freed["all"].Quartiles; len(q) == 3 {
		median = insightSpan(q[1])
	}
	out := []views.StaffFigure{
		figure("occupancy", shareOf(a.Booked, a.Capacity), "booked", a.Booked, "capacity", a.Capacity),
		figure("slots", a.Slots, "cancelled", a.SlotsCancelled),
		figure("arrived", shareOf(a.Arrived, a.Past), "arrived", a.Arrived, "past", a.Past),
		figure("no_show", shareOf(a.PartiesNoShow, marked), "absent", a.PartiesNoShow, "marked", marked, "unmarked", a.PartiesUnmarked),
		figure("accepted", shareOf(f.Accepted, f.Accepted+f.Lapsed+f.Declined), "accepted", f.Accepted, "answered", f.Accepted+f.Lapsed+f.Declined),
		figure("refilled", shareOf(n.refilled(), n.refilled()+n.freed["empty"].Seats), "again", n.refilled(), "known", n.refilled()+n.freed["empty"].Seats),
		figure("refill_time", median),
	}
	return out
}

// sections are the charts with the tables behind them.
func (n numbers) sections(ctx context.Context, t store.Tenant, f views.StaffInsightFilter) []views.StaffInsightSection {
	var out []views.StaffInsightSection
	for _, key := range insightTables {
		data := n.makeTable(ctx, key, t.Location())
		s := views.StaffInsightSection{
			ID: key, Title: i18n.T(ctx, i18n.Key("insight.section."+key)), Define: i18n.T(ctx, i18n.Key("insight.about."+key)),
			Table: views.StaffTable{Head: data.head, FileURL: views.StaffInsightFileURL(t.Slug, key, f)},
		}
		for _, row := range data.rows {
			shown := make([]string, len(row))
			for i, value := range row {
				shown[i] = shownValue(ctx, value)
			}
			s.Table.Rows = append(s.Table.Rows, shown)
		}
		switch key {
		case "occupancy":
			s.Heat = n.heat(ctx)
		case "weeks":
			for _, row := range data.rows {
				occupied := row[4].(insightPercent)
				s.Bars = append(s.Bars, views.StaffBarRow{
					Label: row[0].(string), Value: i18n.T(ctx, "insight.bar_of", "share", shownValue(ctx, occupied), "n", row[3].(int), "of", row[2].(int)), Share: fraction(occupied),
				})
			}
		case "waitlist":
			s.Bars = insightBars(ctx, data, 1, func(i int) string {
				return []string{"", "", "good", "lost", "lost", "", "good", "", "", "lost", "open", "open"}[i]
			})
			s.Note = i18n.T(ctx, "insight.note.waitlist")
		case "freed":
			s.Bars = insightBars(ctx, data, 1, func(i int) string { return []string{"good", "good", "good", "open", "lost"}[i] })
		case "refill":
			s.Note = i18n.T(ctx, "insight.note.refill")
		case "booked-ahead":
			s.Bars = insightBars(ctx, data, 1, func(int) string { return "" })
		case "cancelled":
			s.Bars = insightBars(ctx, data, 4, func(int) string { return "" })
		}
		out = append(out, s)
	}
	return out
}

func fraction(p insightPercent) float64 {
	if math.IsNaN(float64(p)) {
		return 0
	}
	return float64(p) / 100
}

// insightBars draws a column of counts, the longest as long as there is room.
func insightBars(ctx context.Context, t insightTable, column int, kind func(row int) string) []views.StaffBarRow {
	most := 0
	for _, row := range t.rows {
		most = max(most, row[column].(int))
	}
	var out []views.StaffBarRow
	for i, row := range t.rows {
		n := row[column].(int)
		v := views.StaffBarRow{Label: row[0].(string), Value: shownValue(ctx, n), Kind: kind(i)}
		if most > 0 {
			v.Share = float64(n) / float64(most)
		}
		if p, ok := row[len(row)-1].(insightPercent); ok && n > 0 {
			v.Value = i18n.T(ctx, "insight.bar_share", "n", n, "share", shownValue(ctx, p))
		}
		out = append(out, v)
	}
	return out
}

// heat is the grid of weekdays and hours, from the first hour that has slots to the last.
func (n numbers) heat(ctx context.Context) *views.StaffHeat {
	c := i18n.In(ctx)
	first, last := 24, -1
	at := map[[2]int]store.Occupancy{}
	var best store.Occupancy
	for _, o := range n.occupancy {
		if o.Of != "hour" {
			continue
		}
		first, last = min(first, o.Hour), max(last, o.Hour)
		at[[2]int{o.Weekday, o.Hour}] = o
		if o.Capacity > 0 && (best.Capacity == 0 || o.Booked*best.Capacity > best.Booked*o.Capacity) {
			best = o
		}
	}
	h := &views.StaffHeat{Desc: i18n.T(ctx, "insight.heat.none")}
	if best.Capacity > 0 {
		h.Desc = i18n.T(ctx, "insight.heat.desc", "weekday", c.WeekdayLong(time.Weekday(best.Weekday%7)), "hour", hourText(best.Hour), "share", shownValue(ctx, shareOf(best.Booked, best.Capacity)))
	}
	for hour := first; hour <= last; hour++ {
		h.Columns = append(h.Columns, hourText(hour))
	}
	for weekday := 1; weekday <= 7; weekday++ {
		row := views.StaffHeatRow{Label: c.Weekday(time.Weekday(weekday % 7))}
		for hour := first; hour <= last; hour++ {
			cell := views.StaffHeatCell{Level: -1}
			if o, there := at[[2]int{weekday, hour}]; there {
				occupied := shareOf(o.Booked, o.Capacity)
				cell = views.StaffHeatCell{Text: shownValue(ctx, occupied), Level: int(math.Ceil(fraction(occupied) * 5))}
			}
			row.Cells = append(row.Cells, cell)
		}
		h.Rows = append(h.Rows, row)
	}
	return h
}

// getInsightFile is one table of the numbers as a file for a spreadsheet: the
// same rows as on the page, with times in minutes.
func (s *Server) getInsightFile(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	key := chi.URLParam(r, "table")
	if !slices.Contains(insightTables, key) {
		return errNotFound
	}
	n, err := s.loadNames(ctx, t.ID)
	if err != nil {
		return err
	}
	q := decodeInsight(r.URL.Query(), n, midnight(s.now().In(t.Location())))
	if len(q.errs) > 0 {
		return errBadRequest
	}
	counted, err := s.loadNumbers(ctx, q.of(t))
	if err != nil {
		return err
	}
	data, f := counted.makeTable(ctx, key, t.Location()), q.filter()
	days := "-" + f.From + "-" + f.To
	about := csvAbout{what: "insight " + key, name: i18n.T(ctx, i18n.Key("insight.section."+key)) + days, plain: key + days, head: data.head}
	return s.sendCSV(w, r, about, func(_ context.Context, out *csvFile) error {
		for _, row := range data.rows {
			cells := make([]cell, len(row))
			for i, value := range row {
				cells[i] = fileCell(value)
			}
			if err := out.row(cells...); err != nil {
				return err
			}
		}
		return nil
	})
}
