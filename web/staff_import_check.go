package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// importState is what would become of a line.
type importState int

const (
	lineGood importState = iota
	lineThere
	lineBad
)

// importFault is what is wrong with one cell; col is empty for the whole line.
type importFault struct {
	col, value string
	why        i18n.Message
}

// importLine is a line as checked. What it would write is in its normal form.
type importLine struct {
	no      int
	state   importState
	faults  []importFault
	notes   []i18n.Message
	at      string // id of the slot that it books in, or that is there already
	service store.Service
	where   store.Resource

	slot store.ImportSlot // of slots

	target  store.Slot // of bookings
	party   int
	contact store.Contact
	notify  bool
}

func (l *importLine) fault(col, value string, key i18n.Key, args ...any) {
	l.state = lineBad
	l.faults = append(l.faults, importFault{col, value, i18n.Msg(key, args...)})
}

// importPlan is a file as checked against what the venue has.
type importPlan struct {
	kind   string
	print  string // of kind and text: the same file is the same import
	sheet  sheet
	lines  []importLine
	before *store.SettingChange // the same file was imported then; nil: it was not
}

func (p importPlan) count(state importState) int {
	n := 0
	for _, l := range p.lines {
		if l.state == state {
			n++
		}
	}
	return n
}

// importPrint is the same for the same lines. Line breaks are normal by then.
func importPrint(kind, text string) string {
	sum := sha256.Sum256([]byte(kind + "\n" + text))
	return hex.EncodeToString(sum[:12])
}

// importer checks the lines of one file.
type importer struct {
	t      store.Tenant
	n      names
	now    time.Time
	shut   map[string]bool // closed days
	c      *i18n.Catalog
	sheet  sheet
	byName map[string]map[string][]int // column → squeezed name → positions in n
}

// planImport checks a text. Its statements don't grow with its lines.
func (s *Server) planImport(ctx context.Context, t store.Tenant, kind, text string) (importPlan, *sheetFault, error) {
	plan := importPlan{kind: kind, print: importPrint(kind, text)}
	var fault *sheetFault
	if plan.sheet, fault = readSheet(text, kind); fault != nil {
		return plan, fault, nil
	}
	n, err := s.loadNames(ctx, t.ID)
	if err != nil {
		return plan, nil, err
	}
	i := importer{t: t, n: n, now: s.now(), c: i18n.In(ctx), sheet: plan.sheet, byName: map[string]map[string][]int{colService: {}, colResource: {}}}
	learn := func(col string, at int, slug string, name store.Text) {
		known := map[string]bool{}
		for _, word := range []string{slug, name[i18n.JA], name[i18n.EN]} {
			if word = squeezed(word); word != "" && !known[word] {
				known[word] = true
				i.byName[col][word] = append(i.byName[col][word], at)
			}
		}
	}
	for at, sv := range n.services {
		learn(colService, at, sv.Slug, sv.Name)
	}
	for at, res := range n.resources {
		learn(colResource, at, res.Slug, res.Name)
	}
	if kind == importSlots {
		// Of a venue with several, the file has to say which.
		var missing []string
		for col, several := range map[string]bool{colService: i.activeServices() != 1, colResource: i.activeResources() != 1} {
			if several && !slices.Contains(plan.sheet.columns, col) {
				missing = append(missing, col)
			}
		}
		if slices.Sort(missing); len(missing) > 0 {
			slices.Reverse(missing) // as in the template
			return plan, &sheetFault{kind: fileMissing, names: missing}, nil
		}
		err = s.planSlots(ctx, &plan, i)
	} else {
		err = s.planBookings(ctx, &plan, i)
	}
	if err != nil {
		return plan, nil, err
	}
	last, err := s.store.LastSettingChange(ctx, t.ID, store.AreaImport, plan.print)
	switch {
	case err == nil:
		plan.before = &last
	case !errors.Is(err, store.NotFound):
		return plan, nil, err
	}
	return plan, nil, nil
}

func (i importer) activeServices() int {
	n := 0
	for _, sv := range i.n.services {
		if sv.Active {
			n++
		}
	}
	return n
}

func (i importer) activeResources() int {
	n := 0
	for _, res := range i.n.resources {
		if res.Active {
			n++
		}
	}
	return n
}

// find gives the position of what a cell names among those that count. An empty
// cell is the only one there is; -1 where that is not so, or where the line is at fault.
func (i importer) find(l *importLine, row sheetRow, col string, total int, active func(int) bool, needed bool) int {
	typed := row.cells[col]
	if typed == "" {
		only := -1
		for at := range total {
			if active(at) {
				if only >= 0 {
					only = -1
					break
				}
				only = at
			}
		}
		if needed && only < 0 {
			l.fault(col, "", "import.err.empty")
		}
		if !needed {
			return -1
		}
		return only
	}
	found := i.byName[col][squeezed(typed)]
	var live []int
	for _, at := range found {
		if active(at) {
			live = append(live, at)
		}
	}
	switch {
	case len(live) == 1:
		return live[0]
	case len(live) > 1:
		l.fault(col, typed, "import.err.ambiguous")
	case len(found) == 1 && !needed:
		return found[0] // a booking may be in a slot of what is offered no more
	case len(found) > 0:
		l.fault(col, typed, "import.err.retired")
	default:
		l.fault(col, typed, i18n.Key("import.unknown."+col))
	}
	return -1
}

// start reads day and time of a line; false where it is at fault.
func (i importer) start(l *importLine, row sheetRow) (day string, at time.Time, ok bool) {
	day, dayOK := importDay(row.cells[colDate])
	switch {
	case row.cells[colDate] == "":
		l.fault(colDate, "", "import.err.empty")
	case !dayOK:
		l.fault(colDate, row.cells[colDate], "import.err.date")
	}
	minute, clockOK := importClock(row.cells[colStart])
	switch {
	case row.cells[colStart] == "":
		l.fault(colStart, "", "import.err.empty")
	case !clockOK:
		l.fault(colStart, row.cells[colStart], "import.err.time")
	}
	if !dayOK || !clockOK {
		return day, time.Time{}, false
	}
	at, clock, err := store.OnTheWall(day, minute, i.t.Location())
	if err != nil {
		l.fault(colDate, row.cells[colDate], "import.err.date")
		return day, time.Time{}, false
	}
	switch clock {
	case store.ClockGap:
		l.notes = append(l.notes, i18n.Msg("import.note.gap", "typed", store.ClockText(minute), "time", at.In(i.t.Location()).Format("15:04")))
	case store.ClockRepeat:
		l.notes = append(l.notes, i18n.Msg("import.note.repeat", "typed", store.ClockText(minute)))
	case store.ClockPlain:
	}
	return day, at, true
}

// number reads a whole number of people or seats; an empty cell is the given one.
func (i importer) number(l *importLine, row sheetRow, col string, empty, most int) int {
	typed := row.cells[col]
	if typed == "" {
		return empty
	}
	text := store.NormalizeText(typed)
	for _, unit := range []string{"名", "席", "人"} {
		if cut := len(text) - len(unit); cut > 0 && text[cut:] == unit {
			text = text[:cut]
			break
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		l.fault(col, typed, "import.err.number", "most", most)
		return 0
	}
	return n
}

// begin makes the line of a row, with what is wrong with it as a whole.
func (i importer) begin(row sheetRow) importLine {
	l := importLine{no: row.line}
	if row.fault != "" {
		l.fault("", row.excess, i18n.Key("import.line."+row.fault))
	}
	return l
}

// mostAhead is how far ahead a slot may lie: what is later is a slip of the finger.
const mostAhead = store.LongestSchedule * 24 * time.Hour

func (s *Server) planSlots(ctx context.Context, plan *importPlan, i importer) error {
	var days []string
	for _, row := range i.sheet.rows {
		if day, ok := importDay(row.cells[colDate]); ok {
			days = append(days, day)
		}
	}
	if len(days) > 0 {
		closed, err := s.store.ClosedDays(ctx, i.t.ID, slices.Min(days), slices.Max(days))
		if err != nil {
			return err
		}
		i.shut = map[string]bool{}
		for _, d := range closed {
			i.shut[d.Day] = true
		}
	}
	var asked []store.ImportSlot
	for _, row := range i.sheet.rows {
		l := i.begin(row)
		if row.fault == "" {
			i.slotLine(&l, row)
		}
		if l.state == lineGood {
			asked = append(asked, l.slot)
		}
		plan.lines = append(plan.lines, l)
	}
	met, err := s.store.ImportInTheWay(ctx, i.t.ID, plan.print, asked)
	if err != nil {
		return err
	}
	type span struct {
		from, to time.Time
		line     int
	}
	taken := map[string][]span{}
	for at := range plan.lines {
		l := &plan.lines[at]
		if l.state != lineGood {
			continue
		}
		o, meets := met[l.no]
		switch {
		case meets && (o.Mine || o.ServiceID == l.slot.ServiceID && o.StartsAt.Equal(l.slot.StartsAt) && o.EndsAt.Equal(l.slot.EndsAt)):
			l.state, l.at = lineThere, o.ID
			if o.Capacity != l.slot.Capacity && !o.Mine {
				l.notes = append(l.notes, i18n.Msg("import.note.capacity", "n", o.Capacity))
			}
			continue
		case meets:
			l.fault(colStart, i.row(l.no).cells[colStart], "import.err.overlap", "time", i.c.TimeRange(o.StartsAt, o.EndsAt, i.t.Location()))
			continue
		}
		for _, other := range taken[l.slot.ResourceID] {
			if l.slot.StartsAt.Before(other.to) && other.from.Before(l.slot.EndsAt) {
				l.fault(colStart, i.row(l.no).cells[colStart], "import.err.overlap_line", "line", strconv.Itoa(other.line))
				break
			}
		}
		if l.state == lineGood {
			taken[l.slot.ResourceID] = append(taken[l.slot.ResourceID], span{l.slot.StartsAt, l.slot.EndsAt, l.no})
		}
	}
	return nil
}

func (i importer) row(no int) sheetRow {
	at, _ := slices.BinarySearchFunc(i.sheet.rows, no, func(r sheetRow, no int) int { return r.line - no })
	return i.sheet.rows[at]
}

func (i importer) slotLine(l *importLine, row sheetRow) {
	sv := i.find(l, row, colService, len(i.n.services), func(at int) bool { return i.n.services[at].Active }, true)
	res := i.find(l, row, colResource, len(i.n.resources), func(at int) bool { return i.n.resources[at].Active }, true)
	day, from, ok := i.start(l, row)
	least := 0
	if sv >= 0 {
		l.service, least = i.n.services[sv], i.n.services[sv].Capacity
	}
	capacity := i.number(l, row, colCapacity, least, mostSeats)
	to := from.Add(l.service.Duration)
	if typed := row.cells[colEnd]; typed != "" {
		minute, clockOK := importClock(typed)
		if !clockOK {
			l.fault(colEnd, typed, "import.err.time")
			ok = false
		} else if ok {
			var err error
			if to, _, err = store.OnTheWall(day, minute, i.t.Location()); err != nil || !to.After(from) {
				l.fault(colEnd, typed, "import.err.end")
				ok = false
			}
		}
	}
	if ok {
		switch {
		case !from.After(i.now):
			l.fault(colDate, row.cells[colDate], "import.err.past")
		case from.Sub(i.now) > mostAhead:
			l.fault(colDate, row.cells[colDate], "import.err.far")
		}
		if i.shut[day] {
			l.notes = append(l.notes, i18n.Msg("import.note.closed"))
		}
	}
	if l.state != lineGood {
		return
	}
	l.where = i.n.resources[res]
	l.slot = store.ImportSlot{Line: l.no, ServiceID: l.service.ID, ResourceID: l.where.ID, StartsAt: from, EndsAt: to, Capacity: capacity}
}

// importLongest are the longest texts of a cell, in characters, as in the forms.
var importLongest = map[string]int{colName: longestName, colKana: longestName, colEmail: longestEmail, colPhone: longestPhone, colNote: mostImportCell}

// importFields name the columns of a contact as its form does.
var importFields = map[string]string{
	views.FieldName: colName, views.FieldKana: colKana, views.FieldEmail: colEmail, views.FieldPhone: colPhone, views.FieldNote: colNote,
}

func (s *Server) planBookings(ctx context.Context, plan *importPlan, i importer) error {
	type parsed struct {
		at      time.Time
		ok      bool
		sv, res int
	}
	read := make([]parsed, 0, len(i.sheet.rows))
	var starts []time.Time
	for _, row := range i.sheet.rows {
		l := i.begin(row)
		p := parsed{sv: -1, res: -1}
		if row.fault == "" {
			p.sv = i.find(&l, row, colService, len(i.n.services), func(at int) bool { return i.n.services[at].Active }, false)
			p.res = i.find(&l, row, colResource, len(i.n.resources), func(at int) bool { return i.n.resources[at].Active }, false)
			if _, p.at, p.ok = i.start(&l, row); p.ok {
				starts = append(starts, p.at)
			}
			i.bookingLine(&l, row)
		}
		plan.lines = append(plan.lines, l)
		read = append(read, p)
	}
	slots, err := s.store.ImportTargets(ctx, i.t.ID, starts)
	if err != nil {
		return err
	}
	var ids, keys, emails, called []string
	for at := range plan.lines {
		l, p, row := &plan.lines[at], read[at], i.sheet.rows[at]
		unnamed := p.sv < 0 && row.cells[colService] != "" || p.res < 0 && row.cells[colResource] != ""
		if !p.ok || unnamed {
			continue // it is at fault already
		}
		var fits []store.Slot
		for _, slot := range slots {
			if slot.StartsAt.Equal(p.at) && (p.sv < 0 || slot.ServiceID == i.n.services[p.sv].ID) && (p.res < 0 || slot.ResourceID == i.n.resources[p.res].ID) {
				fits = append(fits, slot)
			}
		}
		switch {
		case len(fits) == 0:
			l.fault(colStart, row.cells[colStart], "import.err.no_slot")
			continue
		case len(fits) > 1:
			l.fault(colResource, row.cells[colResource], "import.err.several_slots")
			continue
		}
		l.target, l.at = fits[0], fits[0].ID
		o := i.n.of(l.target)
		l.service, l.where = o.service, o.resource
		if l.state == lineGood {
			ids, keys, called = append(ids, l.at), append(keys, store.ImportKey(plan.print, l.no)), append(called, l.contact.Name)
			if l.contact.Email != "" {
				emails = append(emails, l.contact.Email)
			}
		}
	}
	known, err := s.store.ImportedBookings(ctx, i.t.ID, slices.Compact(slices.Sorted(slices.Values(ids))), keys, emails, called)
	if err != nil {
		return err
	}
	free := map[string]int{}
	for _, slot := range slots {
		free[slot.ID] = slot.SeatsLeft
	}
	type person struct{ slot, key string }
	here := map[person]int{}
	for at := range plan.lines {
		if l := &plan.lines[at]; l.state == lineGood {
			i.judge(l, i.sheet.rows[at], plan.print, known)
			if l.state != lineGood {
				continue
			}
			if l.target.OnePerPerson && l.contact.Email != "" {
				who := person{l.at, store.PersonKey(l.contact.Email)}
				if other, twice := here[who]; twice {
					l.fault(colEmail, l.contact.Email, "import.err.same_line", "line", strconv.Itoa(other))
					continue
				}
				here[who] = l.no
			}
			if l.party > free[l.at] {
				l.fault(colParty, i.sheet.rows[at].cells[colParty], "import.err.seats", "n", max(0, free[l.at]))
				continue
			}
			free[l.at] -= l.party
		}
	}
	return nil
}

// judge holds a line against what is booked, and the slot as it is.
func (i importer) judge(l *importLine, row sheetRow, file string, known []store.ImportedBooking) {
	key, of := store.ImportKey(file, l.no), strings.TrimSuffix(store.ImportKey(file, 0), "0")
	for _, k := range known {
		if k.SlotID != l.at {
			continue
		}
		switch {
		case k.Key == key:
			l.state = lineThere
			return
		case k.Name != l.contact.Name || k.Email != l.contact.Email || k.Phone != l.contact.Phone:
		case k.Moved:
			l.state = lineThere
			l.notes = append(l.notes, i18n.Msg("import.note.moved"))
			return
		case strings.HasPrefix(k.Key, of):
			// Another line of this file: two of one name may come.
		default:
			// Booked by hand, or by the file before it was mended.
			l.state = lineThere
			l.notes = append(l.notes, i18n.Msg("import.note.same"))
			return
		}
	}
	for _, k := range known {
		if k.SlotID == l.at && !k.Moved && l.target.OnePerPerson && l.contact.Email != "" && store.PersonKey(k.Email) == store.PersonKey(l.contact.Email) {
			l.fault(colEmail, row.cells[colEmail], "import.err.already")
			return
		}
	}
	switch {
	case !i.now.Before(l.target.EndsAt):
		l.fault(colDate, row.cells[colDate], "import.err.over")
	case l.target.Status == store.SlotClosed:
		l.fault(colStart, row.cells[colStart], "import.err.closed")
	}
}

// bookingLine reads who comes, as the form for a caller would.
func (i importer) bookingLine(l *importLine, row sheetRow) {
	for _, col := range importColumns[importBookings] {
		if most := importLongest[col]; most > 0 && utf8.RuneCountInString(row.cells[col]) > most {
			l.fault(col, shortened(row.cells[col]), "form.err.too_long", "n", most)
		}
	}
	l.party = i.number(l, row, colParty, 1, mostParty)
	lang, ok := importLanguage(row.cells[colLanguage], i.t.Locale)
	if !ok {
		l.fault(colLanguage, row.cells[colLanguage], "import.err.language")
	}
	if l.notify, ok = importYes(row.cells[colNotify]); !ok {
		l.fault(colNotify, row.cells[colNotify], "import.err.notify")
	}
	errs := formErrors{}
	typed := contactForm{Name: row.cells[colName], Kana: row.cells[colKana], Email: row.cells[colEmail], Phone: row.cells[colPhone], Note: row.cells[colNote]}
	l.contact = typed.contact(errs, needs{region: region(i.t)}, lang)
	for _, field := range []string{views.FieldName, views.FieldKana, views.FieldEmail, views.FieldPhone, views.FieldNote} {
		if why, bad := errs[field]; bad {
			col := importFields[field]
			l.state = lineBad
			l.faults = append(l.faults, importFault{col, shortened(row.cells[col]), why})
		}
	}
	if _, bad := errs[views.FieldEmail]; l.notify && l.contact.Email == "" && !bad {
		l.fault(colNotify, row.cells[colNotify], "import.err.no_address")
	}
}

// shortened is what a page shows of a long cell.
func shortened(value string) string {
	if runes := []rune(value); len(runes) > 60 {
		return string(runes[:60]) + "…"
	}
	return value
}
