package web

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// example is a slot on which policies are explained in exact times. Every time
// comes from the store's own functions.
type example struct {
	c          *i18n.Catalog
	loc        *time.Location
	p          store.Policies
	start, end time.Time
	capacity   int
	real       bool       // it stands in the calendar
	name       store.Text // of its service, if it is real
}

// exampleAhead is how far ahead an example lies at least, so that something can happen before it.
const exampleAhead = 3 * 24 * time.Hour

// exampleOf finds the slot that policies are explained on: the first one of the
// service (or of the venue) that starts in a while, else one that might. One statement.
func (s *Server) exampleOf(r *http.Request, services []store.Service, service string) (example, error) {
	ctx, t := r.Context(), venue(r)
	now := s.now()
	slots, err := s.store.Slots(ctx, store.SlotQuery{TenantID: t.ID, From: now.Add(exampleAhead), To: now.Add(60 * 24 * time.Hour), ServiceID: service, Limit: 20})
	if err != nil {
		return example{}, err
	}
	for _, slot := range slots {
		if slot.Status != store.SlotOpen {
			continue
		}
		ex := example{c: i18n.In(ctx), loc: t.Location(), start: slot.StartsAt, end: slot.EndsAt, capacity: slot.Capacity, real: true}
		for _, sv := range services {
			if sv.ID == slot.ServiceID {
				ex.name = sv.Name
			}
		}
		return ex, nil
	}
	length, capacity := time.Hour, 10
	for _, sv := range services {
		if service == "" || sv.ID == service {
			length, capacity = sv.Duration, sv.Capacity
			break
		}
	}
	return inventedExample(i18n.In(ctx), t.Location(), now, length, capacity), nil
}

// inventedExample is a Friday evening in the week after next.
func inventedExample(c *i18n.Catalog, loc *time.Location, now time.Time, length time.Duration, capacity int) example {
	y, m, d := now.In(loc).Date()
	days := (int(time.Friday)-int(time.Date(y, m, d, 12, 0, 0, 0, loc).Weekday())+7)%7 + 7
	start := time.Date(y, m, d+days, 18, 30, 0, 0, loc)
	return example{c: c, loc: loc, start: start, end: start.Add(length), capacity: capacity}
}

// in is the example in another language.
func (ex example) in(lang string) example {
	ex.c = i18n.For(lang)
	return ex
}

// heading says which slot the examples are about.
func (ex example) heading() string {
	if ex.real {
		return ex.c.T("staff.policy.example.real", "slot", ex.c.DateTimeRangeShort(ex.start, ex.end, ex.loc), "service", ex.name.In(ex.c.Lang()))
	}
	return ex.c.T("staff.policy.example.invented", "slot", ex.c.DateTimeRangeShort(ex.start, ex.end, ex.loc))
}

// slot is the slot of the examples, in short.
func (ex example) slot() string { return ex.c.DateTimeShort(ex.start, ex.loc) }

// at writes an instant with its day.
func (ex example) at(t time.Time) string { return ex.c.DateTimeShort(t, ex.loc) }

// clock writes a time of day, with seconds where they count.
func (ex example) clock(t time.Time) string {
	if t.In(ex.loc).Second() != 0 {
		return ex.c.TimeSeconds(t, ex.loc)
	}
	return ex.c.Time(t, ex.loc)
}

// until writes a deadline beside the instant that it counts from: the day too where it is another.
func (ex example) until(from, t time.Time) string {
	if y, m, d := from.In(ex.loc).Date(); sameDate(t.In(ex.loc), y, m, d) {
		return ex.clock(t)
	}
	return ex.at(t)
}

// afternoon is two o'clock on a day before an instant at which a seat might come free.
func (ex example) afternoon(before time.Time) time.Time {
	y, m, d := before.In(ex.loc).Date()
	return time.Date(y, m, d-1, 14, 0, 0, 0, ex.loc)
}

// freed is when the seat of the examples comes free: in the afternoon before
// the switch, while seats still go by order.
func (ex example) freed() time.Time {
	times := ex.p.Times(ex.start, ex.end)
	before := ex.start
	if times.OrderUntil != nil && times.OrderUntil.Before(before) {
		before = *times.OrderUntil
	}
	return ex.afternoon(before)
}

// evening is an instant in the quiet hours: forty minutes after they begin, or in their middle.
func (ex example) evening() time.Time {
	q := ex.p.Quiet
	length := (q.Until - q.From + 1440) % 1440
	minute := q.From + min(40, length/2)
	y, m, d := ex.freed().In(ex.loc).Date()
	return time.Date(y, m, d, minute/60, minute%60, 0, 0, ex.loc)
}

// of writes the example of one policy.
func (ex example) of(name string) string {
	c, p, times := ex.c, ex.p, ex.p.Times(ex.start, ex.end)
	key := func(part string) i18n.Key { return i18n.Key("staff.policy." + name + ".example" + part) }
	freed := ex.freed()
	pressed := ex.afternoon(ex.start)
	order := ""
	if times.OrderUntil != nil {
		order = ex.at(*times.OrderUntil)
	}
	switch name {
	case "holdShown":
		return c.T(key(""), "at", ex.at(pressed), "until", ex.until(pressed, pressed.Add(p.HoldShown.D())))
	case "holdGrace":
		shown := pressed.Add(p.HoldShown.D())
		return c.T(key(""), "shown", ex.clock(shown), "enforced", ex.clock(shown.Add(p.HoldGrace.D())))
	case "holdsPerVisitor", "partyMax":
		n := *fieldsNamed(name)[0].count(&p)
		return c.T(key(""), "n", n, "more", n+1)
	case "waitlistMode":
		return c.T(key("_"+string(p.WaitlistMode)), "at", ex.at(freed), "until", ex.until(freed, p.OfferUntil(freed, ex.start, ex.loc)), "order", order)
	case "offerShown":
		return ex.ordered(name, "at", ex.at(freed), "until", ex.until(freed, p.OfferUntil(freed, ex.start, ex.loc)))
	case "offerGrace":
		shown := p.OfferUntil(freed, ex.start, ex.loc)
		return ex.ordered(name, "shown", ex.at(shown), "enforced", ex.until(shown, shown.Add(p.OfferGrace.D())))
	case "leastAnswer":
		return ex.ordered(name, "closes", ex.at(times.ClosesAt), "last", ex.until(times.ClosesAt, times.ClosesAt.Add(-p.LeastAnswer.D())))
	case "quiet":
		if p.Quiet == nil {
			return c.T(key("_off"))
		}
		night := ex.evening()
		return ex.ordered(name, "at", ex.at(night), "until", ex.until(night, p.OfferUntil(night, ex.start, ex.loc)))
	case "broadcastBefore":
		return ex.ordered(name, "slot", ex.slot(), "order", order)
	case "fit":
		return ex.ordered(name + ".of_" + string(p.Fit))
	case "waitlistMax":
		if p.WaitlistMax == nil {
			return c.T(key("_none"))
		}
		return c.T(key(""), "n", *p.WaitlistMax)
	case "bookingOpens":
		return c.T(key(""), "slot", ex.slot(), "time", c.DateTime(times.OpensAt, ex.loc))
	case "bookingCloses":
		if p.BookingCloses == 0 {
			return c.T(key("_start"), "slot", ex.slot())
		}
		return c.T(key(""), "slot", ex.slot(), "time", ex.until(ex.start, times.ClosesAt))
	case "cancelBefore":
		switch {
		case p.CancelBefore >= p.BookingOpens:
			return c.T(key("_never"), "slot", ex.slot())
		case p.CancelBefore == 0:
			return c.T(key("_start"), "slot", ex.slot())
		}
		return c.T(key(""), "slot", ex.slot(), "time", ex.until(ex.start, times.CancelUntil))
	case "slotsTogether":
		if p.SlotsTogether == 1 {
			return c.T(key("_one"))
		}
		last := ex.start.Add(time.Duration(p.SlotsTogether) * ex.end.Sub(ex.start))
		return c.T(key(""), "range", c.DateTimeRangeShort(ex.start, last, ex.loc), "n", p.SlotsTogether)
	case "onePerPerson", "kanaRequired", "phoneRequired":
		part := "_off"
		if *fieldsNamed(name)[0].flag(&p) {
			part = "_on"
		}
		return c.T(key(part), "slot", ex.slot())
	case "fewLeft":
		few := min(p.FewLeft, ex.capacity-1)
		if few <= 0 {
			return c.T(key("_none"))
		}
		return c.T(key(""), "capacity", ex.capacity, "n", few)
	case "reminderBefore":
		if times.RemindAt == nil {
			return c.T(key("_none"))
		}
		return c.T(key(""), "slot", ex.slot(), "time", ex.until(ex.start, *times.RemindAt))
	case "eraseWaitlist":
		return c.T(key(""), "slot", ex.slot(), "time", c.DateTime(times.EraseWaitlistAt, ex.loc))
	case "eraseReservations":
		return c.T(key(""), "slot", ex.slot(), "time", c.DateTime(times.EraseBookingsAt, ex.loc))
	}
	return ""
}

// ordered is the example of a policy that only counts while seats go by order.
func (ex example) ordered(name string, args ...any) string {
	if ex.p.WaitlistMode != store.Sequential {
		return ex.c.T("staff.policy.only_sequential")
	}
	return ex.c.T(i18n.Key("staff.policy."+name+".example"), args...)
}

// rule is one rule of a sheet.
type rule struct {
	part string // "book", "full", "cancel" or "data"
	text string
	// example is the rule in exact times; may be empty.
	example string
	say     bool // words to be said to a customer
}

// The two sheets.
const (
	forCounter   = "counter"
	forCustomers = "customers"
)

// rules writes the policies as short sentences for the counter or for customers.
func (ex example) rules(t store.Tenant, audience string) []rule {
	c, p, times := ex.c, ex.p, ex.p.Times(ex.start, ex.end)
	var out []rule
	part := "book"
	// add writes the sentence KEY and, where there is one, its example, KEY.example.
	add := func(key string, args ...any) {
		whole := i18n.Key("staff.rules." + audience + "." + key)
		if !i18n.Has(whole) {
			return // not for this audience
		}
		r := rule{part: part, text: c.T(whole, args...)}
		if i18n.Has(whole + ".example") {
			r.example = c.T(whole+".example", args...)
		}
		out = append(out, r)
	}
	length := func(d store.Duration) i18n.Message { return lengthOf(d.D()) }

	closes := i18n.Msg("staff.rules.to_start")
	if p.BookingCloses > 0 {
		closes = i18n.Msg("staff.rules.to_before", "length", length(p.BookingCloses))
	}
	add("window", "opens", length(p.BookingOpens), "closes", closes, "slot", ex.slot(), "from", c.DateTime(times.OpensAt, ex.loc), "until", ex.at(times.ClosesAt))
	add("party", "n", p.PartyMax)
	if p.SlotsTogether > 1 {
		add("together", "n", p.SlotsTogether)
	}
	add("hold", "length", length(p.HoldShown))
	needs := []string{c.T("staff.rules.need.name"), c.T("staff.rules.need.email")}
	if p.KanaRequired {
		needs = append(needs, c.T("staff.rules.need.kana"))
	}
	if p.PhoneRequired {
		needs = append(needs, c.T("staff.rules.need.phone"))
	}
	add("needs", "list", strings.Join(needs, c.T("staff.rules.and")))
	if p.OnePerPerson {
		add("each")
	}

	part = "full"
	freed := ex.freed()
	until := p.OfferUntil(freed, ex.start, ex.loc)
	switch p.WaitlistMode {
	case store.WaitlistNone:
		add("off")
	case store.Broadcast:
		add("broadcast", "at", ex.at(freed))
	case store.Sequential:
		order := *times.OrderUntil
		add("sequential")
		add("answer", "length", length(p.OfferShown), "at", ex.at(freed), "until", ex.until(freed, until),
			"enforced", ex.until(freed, until.Add(p.OfferGrace.D())))
		if p.Quiet != nil {
			night := ex.evening()
			add("quiet", "from", clockText(p.Quiet.From), "to", clockText(p.Quiet.Until), "at", ex.at(night), "until", ex.until(night, p.OfferUntil(night, ex.start, ex.loc)))
		}
		add("switch", "length", lengthOf(ex.start.Sub(order)), "slot", ex.slot(), "order", ex.at(order))
		add("fit_" + string(p.Fit))
	}
	if p.WaitlistMode != store.WaitlistNone {
		if p.WaitlistMax != nil {
			add("length", "n", *p.WaitlistMax)
		}
		add("notyet")
		out[len(out)-1].say = audience == forCounter
	}

	part = "cancel"
	phoneText, _ := phone(t, t.Phone)
	call := i18n.Msg("staff.rules.call_us")
	if phoneText != "" {
		call = i18n.Msg("staff.rules.call", "phone", phoneText)
	}
	switch {
	case p.CancelBefore >= p.BookingOpens:
		add("cancel_never", "call", call)
	case p.CancelBefore == 0:
		add("cancel_start")
	default:
		add("cancel", "length", length(p.CancelBefore), "slot", ex.slot(), "until", ex.at(times.CancelUntil), "call", call)
	}
	if times.RemindAt != nil {
		add("remind", "length", length(p.ReminderBefore), "slot", ex.slot(), "time", ex.at(*times.RemindAt))
	}

	part = "data"
	add("erase", "bookings", length(p.EraseBookings), "waitlist", length(p.EraseWaitlist), "slot", ex.slot(),
		"bookings_at", c.Date(times.EraseBookingsAt, ex.loc), "waitlist_at", c.Date(times.EraseWaitlistAt, ex.loc))
	return out
}

// ruleParts are the parts of a sheet, in order.
var ruleParts = []string{"book", "full", "cancel", "data"}

// sheetParts groups rules under their headings.
func sheetParts(c *i18n.Catalog, rules []rule) []views.StaffRulesPart {
	var parts []views.StaffRulesPart
	for _, part := range ruleParts {
		v := views.StaffRulesPart{Title: c.T(i18n.Key("staff.rules.part." + part))}
		for _, r := range rules {
			if r.part == part {
				v.Rules = append(v.Rules, views.StaffRule{Text: r.text, Example: r.example, Say: r.say})
			}
		}
		if len(v.Rules) > 0 {
			parts = append(parts, v)
		}
	}
	return parts
}

// differing are the rules of a service that the venue does not share.
func differing(own, shared []rule) []rule {
	var out []rule
	for _, r := range own {
		if !slices.Contains(shared, r) {
			out = append(out, r)
		}
	}
	return out
}

// ownRules are the services that differ from the venue, each with the rules that do.
func ownRules(ex example, t store.Tenant, services []store.Service, audience string, shared []rule) ([]views.StaffRulesPart, error) {
	var out []views.StaffRulesPart
	for _, sv := range services {
		if !sv.Active {
			continue
		}
		p, err := sv.Policies(t)
		if err != nil {
			return nil, err
		}
		ex.p = p
		v := views.StaffRulesPart{Title: sv.Name.In(ex.c.Lang())}
		for _, r := range differing(ex.rules(t, audience), shared) {
			v.Rules = append(v.Rules, views.StaffRule{Text: r.text, Example: r.example, Say: r.say})
		}
		if len(v.Rules) > 0 {
			out = append(out, v)
		}
	}
	return out, nil
}

// counterSheet writes the sheet for the counter.
func counterSheet(ex example, t store.Tenant, services []store.Service, setup store.Setup) (views.StaffRulesPage, error) {
	c := ex.c
	v := views.StaffRulesPage{
		Lang: c.Lang(), Title: c.T("staff.rules.counter.title", "venue", t.Name), Example: ex.heading(), OwnTitle: c.T("staff.rules.own"),
	}
	shared := ex.rules(t, forCounter)
	v.Parts = sheetParts(c, shared)
	call := views.StaffRulesPart{Title: c.T("staff.rules.part.call")}
	call.Rules = append(call.Rules, views.StaffRule{Text: c.T("staff.rules.call.free")})
	if setup.CallRule != "" {
		key := i18n.Key("staff.rules.call.is_" + string(setup.CallRule))
		if setup.CallRule != store.CallExtra && ex.p.WaitlistMode == store.WaitlistNone {
			key = "staff.rules.call.no_waitlist"
		}
		call.Rules = append(call.Rules, views.StaffRule{Text: c.T(key)})
	}
	if setup.CallNote != "" {
		call.Rules = append(call.Rules, views.StaffRule{Text: setup.CallNote})
	}
	v.Parts = slices.Insert(v.Parts, 1, call)
	own, err := ownRules(ex, t, services, forCounter, shared)
	v.Own = own
	return v, err
}

// customersText writes the rules as plain text for a shop's own site.
func customersText(ex example, t store.Tenant, services []store.Service) (string, error) {
	c := ex.c
	var b strings.Builder
	b.WriteString(c.T("staff.rules.customers.title", "venue", t.Name) + "\n")
	shared := ex.rules(t, forCustomers)
	write := func(part views.StaffRulesPart) {
		b.WriteString("\n" + c.T("staff.rules.heading", "title", part.Title) + "\n")
		for _, r := range part.Rules {
			b.WriteString(c.T("staff.rules.bullet", "text", r.Text) + "\n")
			if r.Example != "" {
				b.WriteString(c.T("staff.rules.bullet_example", "text", r.Example) + "\n")
			}
		}
	}
	for _, part := range sheetParts(c, shared) {
		write(part)
	}
	own, err := ownRules(ex, t, services, forCustomers, shared)
	if err != nil {
		return "", err
	}
	for _, part := range own {
		write(part)
	}
	return b.String(), nil
}

// languagesFrom lists the languages, that of the reader first.
func languagesFrom(ctx context.Context) []string {
	first := i18n.Lang(ctx)
	return append([]string{first}, slices.DeleteFunc(slices.Clone(i18n.Languages), func(l string) bool { return l == first })...)
}
