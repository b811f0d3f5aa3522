package web

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// policyField is one policy as a form asks for it. Its texts are
// staff.policy.NAME.label, .text and .example…; the name is that in JSON.
type policyField struct {
	name   string
	group  string
	length func(*store.Policies) *store.Duration // a length of time, in one of units
	units  string                                // "s", "m", "h", "d"
	count  func(*store.Policies) *int
	flag   func(*store.Policies) *bool
}

// policyFields are all policies, in the order of the page. A test holds that
// none is missing.
var policyFields = []policyField{
	{name: "holdShown", group: "hold", units: "smh", length: func(p *store.Policies) *store.Duration { return &p.HoldShown }},
	{name: "holdGrace", group: "hold", units: "sm", length: func(p *store.Policies) *store.Duration { return &p.HoldGrace }},
	{name: "holdsPerVisitor", group: "hold", count: func(p *store.Policies) *int { return &p.HoldsPerVisitor }},
	{name: "waitlistMode", group: "waitlist"},
	{name: "offerShown", group: "waitlist", units: "mhd", length: func(p *store.Policies) *store.Duration { return &p.OfferShown }},
	{name: "offerGrace", group: "waitlist", units: "sm", length: func(p *store.Policies) *store.Duration { return &p.OfferGrace }},
	{name: "leastAnswer", group: "waitlist", units: "mh", length: func(p *store.Policies) *store.Duration { return &p.LeastAnswer }},
	{name: "quiet", group: "waitlist"},
	{name: "broadcastBefore", group: "waitlist", units: "mhd", length: func(p *store.Policies) *store.Duration { return &p.BroadcastBefore }},
	{name: "fit", group: "waitlist"},
	{name: "waitlistMax", group: "waitlist"},
	{name: "bookingOpens", group: "window", units: "hd", length: func(p *store.Policies) *store.Duration { return &p.BookingOpens }},
	{name: "bookingCloses", group: "window", units: "mhd", length: func(p *store.Policies) *store.Duration { return &p.BookingCloses }},
	{name: "cancelBefore", group: "cancel", units: "mhd", length: func(p *store.Policies) *store.Duration { return &p.CancelBefore }},
	{name: "partyMax", group: "limits", count: func(p *store.Policies) *int { return &p.PartyMax }},
	{name: "slotsTogether", group: "limits", count: func(p *store.Policies) *int { return &p.SlotsTogether }},
	{name: "onePerPerson", group: "limits", flag: func(p *store.Policies) *bool { return &p.OnePerPerson }},
	{name: "fewLeft", group: "limits", count: func(p *store.Policies) *int { return &p.FewLeft }},
	{name: "kanaRequired", group: "contact", flag: func(p *store.Policies) *bool { return &p.KanaRequired }},
	{name: "phoneRequired", group: "contact", flag: func(p *store.Policies) *bool { return &p.PhoneRequired }},
	{name: "reminderBefore", group: "keep", units: "mhd", length: func(p *store.Policies) *store.Duration { return &p.ReminderBefore }},
	{name: "eraseWaitlist", group: "keep", units: "hd", length: func(p *store.Policies) *store.Duration { return &p.EraseWaitlist }},
	{name: "eraseReservations", group: "keep", units: "hd", length: func(p *store.Policies) *store.Duration { return &p.EraseBookings }},
}

// policyChoices are the values of those policies that are a choice of a few.
var policyChoices = map[string][]string{
	"waitlistMode": {string(store.Sequential), string(store.Broadcast), string(store.WaitlistNone)},
	"fit":          {string(store.FirstFit), string(store.Strict)},
}

// policyUnits are the units of lengths, from the smallest.
var policyUnits = []struct {
	letter string
	length time.Duration
}{{"s", time.Second}, {"m", time.Minute}, {"h", time.Hour}, {"d", 24 * time.Hour}}

// longestCount is the largest number that a field of policies is read as: more
// days than that are no length that a clock can hold.
const longestCount = 100_000

// longestCallNote is the longest text about calls, in characters.
const longestCallNote = 500

// policyForm is a form of policies as it was typed, or as it would be typed to
// get the policies that there are.
type policyForm struct {
	fields []policyField
	// own is nil for a venue. For a service it says which policies are its own;
	// the others are those of base.
	own  map[string]bool
	base store.Policies
	// typed is each control's text by name.
	typed    map[string]string
	errs     formErrors
	policies store.Policies
}

// fieldsNamed chooses policies, in the order of the page.
func fieldsNamed(names ...string) []policyField {
	var out []policyField
	for _, f := range policyFields {
		if slices.Contains(names, f.name) {
			out = append(out, f)
		}
	}
	return out
}

// showPolicies is the form that says p.
func showPolicies(fields []policyField, p, base store.Policies, own map[string]bool) policyForm {
	f := policyForm{fields: fields, own: own, base: base, typed: map[string]string{}, errs: formErrors{}, policies: p}
	for _, field := range fields {
		switch {
		case field.length != nil:
			f.typed[field.name], f.typed[field.name+views.FieldUnit] = inUnit(field.length(&p).D(), field.units)
		case field.count != nil:
			f.typed[field.name] = strconv.Itoa(*field.count(&p))
		case field.flag != nil:
			f.typed[field.name] = flagText(*field.flag(&p))
		case field.name == "waitlistMax":
			if p.WaitlistMax != nil {
				f.typed[field.name] = strconv.Itoa(*p.WaitlistMax)
			}
		case field.name == "quiet":
			f.typed[field.name] = flagText(p.Quiet != nil)
			if p.Quiet != nil {
				f.typed[views.FieldQuietFrom], f.typed[views.FieldQuietUntil] = clockText(p.Quiet.From), clockText(p.Quiet.Until)
			}
		case field.name == "waitlistMode":
			f.typed[field.name] = string(p.WaitlistMode)
		case field.name == "fit":
			f.typed[field.name] = string(p.Fit)
		}
	}
	return f
}

func flagText(yes bool) string {
	if yes {
		return "1"
	}
	return ""
}

func clockText(minute int) string { return fmt.Sprintf("%02d:%02d", minute/60, minute%60) }

// inUnit writes a length in the largest of the units that leaves nothing over;
// a length that none of them can say is in seconds.
func inUnit(d time.Duration, units string) (number, unit string) {
	for _, u := range slices.Backward(policyUnits) {
		if !strings.Contains(units, u.letter) || d%u.length != 0 {
			continue
		}
		// "24 h" says more than "1 day" where what counts is hours.
		if u.letter == "d" && d < 3*u.length && strings.Contains(units, "h") || d == 0 && u.letter != "m" && strings.Contains(units, "m") {
			continue
		}
		return strconv.FormatInt(int64(d/u.length), 10), u.letter
	}
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10), "s"
}

// decodePolicies reads a form of policies. A choice that no page offers is no form: errBadRequest.
func decodePolicies(f *form, fields []policyField, present, base store.Policies, service bool) (policyForm, error) {
	out := policyForm{fields: fields, base: base, typed: map[string]string{}, errs: f.errs, policies: present}
	if service {
		out.own = map[string]bool{}
	}
	for _, field := range fields {
		own, err := f.box(views.FieldOwn + field.name)
		if err != nil {
			return out, err
		}
		if service {
			out.own[field.name] = own
		}
		into := out.policies
		if err := out.decode(f, field, &into, service && !own); err != nil {
			return out, err
		}
		if service && !own {
			into = out.policies
			field.copy(&into, base)
		}
		out.policies = into
	}
	stood, never := present.Contradictions(), out.policies.Problems()
	for name, key := range out.policies.Contradictions() {
		// What this form can't change and what stood so before is no fault of it,
		// as long as the steps can work with it.
		if stood[name] == key && never[name] == "" && !out.decides(name) {
			continue
		}
		out.contradict(name, key)
	}
	return out, nil
}

// box reads a box to be ticked.
func (f *form) box(name string) (bool, error) {
	all := f.values[name]
	if len(all) == 0 {
		return false, nil
	}
	if len(all) > 1 || all[0] != "" && all[0] != "1" {
		return false, errBadRequest
	}
	return all[0] == "1", nil
}

// choice reads one of a few values.
func (f *form) choice(name string, known []string) (string, error) {
	all := f.values[name]
	if len(all) != 1 || !slices.Contains(known, all[0]) {
		return "", errBadRequest
	}
	return all[0], nil
}

// decode reads one policy into p. What is not used is kept as it was typed, and not judged.
func (out *policyForm) decode(f *form, field policyField, p *store.Policies, unused bool) error {
	name := field.name
	text := func(name string) string {
		typed := f.text(name, 20)
		out.typed[name] = typed
		return store.NormalizeText(typed)
	}
	number := func() (int, bool) {
		n, err := strconv.Atoi(text(name))
		if err != nil || n < 0 || n > longestCount {
			if !unused {
				f.errs.fault(name, "staff.policy.bad.number")
			}
			return 0, false
		}
		return n, true
	}
	switch {
	case field.length != nil:
		n, ok := number()
		units := strings.Split(field.units+"s", "")
		unit, err := f.choice(name+views.FieldUnit, units)
		if err != nil && !unused {
			return err
		}
		out.typed[name+views.FieldUnit] = unit
		for _, u := range policyUnits {
			if ok && u.letter == unit {
				*field.length(p) = store.Duration(time.Duration(n) * u.length)
			}
		}
	case field.count != nil:
		if n, ok := number(); ok {
			*field.count(p) = n
		}
	case field.flag != nil:
		yes, err := f.box(name)
		if err != nil {
			return err
		}
		out.typed[name] = flagText(yes)
		*field.flag(p) = yes
	case name == "waitlistMax":
		p.WaitlistMax = nil
		if len(f.values[name]) > 0 && strings.TrimSpace(f.values[name][0]) != "" || len(f.values[name]) > 1 {
			if n, ok := number(); ok {
				p.WaitlistMax = &n
			}
		}
	case name == "quiet":
		yes, err := f.box(name)
		if err != nil {
			return err
		}
		out.typed[name] = flagText(yes)
		from, until := text(views.FieldQuietFrom), text(views.FieldQuietUntil)
		p.Quiet = nil
		if !yes {
			return nil
		}
		q := &store.QuietHours{}
		for _, c := range []struct {
			name, text string
			into       *int
		}{{views.FieldQuietFrom, from, &q.From}, {views.FieldQuietUntil, until, &q.Until}} {
			at, err := time.Parse("15:04", c.text)
			if err != nil {
				if !unused {
					f.errs.fault(c.name, "staff.policy.bad.clock")
				}
				return nil
			}
			*c.into = at.Hour()*60 + at.Minute()
		}
		p.Quiet = q
	default:
		chosen, err := f.choice(name, policyChoices[name])
		if err != nil && !unused {
			return err
		}
		out.typed[name] = chosen
		if name == "fit" {
			p.Fit = store.Fit(chosen)
		} else {
			p.WaitlistMode = store.WaitlistMode(chosen)
		}
	}
	return nil
}

// copy takes one policy over.
func (field policyField) copy(into *store.Policies, from store.Policies) {
	switch {
	case field.length != nil:
		*field.length(into) = *field.length(&from)
	case field.count != nil:
		*field.count(into) = *field.count(&from)
	case field.flag != nil:
		*field.flag(into) = *field.flag(&from)
	case field.name == "waitlistMax":
		into.WaitlistMax = from.WaitlistMax
	case field.name == "quiet":
		into.Quiet = from.Quiet
	case field.name == "waitlistMode":
		into.WaitlistMode = from.WaitlistMode
	case field.name == "fit":
		into.Fit = from.Fit
	}
}

// decides reports whether the form has a field for the policy that is used.
func (out *policyForm) decides(name string) bool {
	return slices.ContainsFunc(out.fields, func(f policyField) bool { return f.name == name && (out.own == nil || out.own[name]) })
}

// contradict notes what the store says against a policy. One that the form does
// not have, or that is the venue's on the form of a service, is told at the
// first field that the form can change.
func (out *policyForm) contradict(name, key string) {
	at := name
	if !out.decides(name) {
		at = ""
		for _, partner := range policyPartners[name] {
			if out.decides(partner) {
				at = partner
				break
			}
		}
	}
	if name == "quiet" && at == name {
		at = views.FieldQuietFrom
	}
	message := policyFault(name, key, out.policies)
	if at != name && at != views.FieldQuietFrom {
		message = i18n.Msg("staff.policy.bad.because", "policy", i18n.Msg(i18n.Key("staff.policy."+name+".label")), "fault", message)
	}
	if _, there := out.errs[at]; !there {
		out.errs[at] = message
	}
}

// policyPartners are those against which a policy is judged.
var policyPartners = map[string][]string{
	"bookingOpens": {"bookingCloses"}, "reminderBefore": {"bookingOpens"}, "broadcastBefore": {"bookingOpens", "bookingCloses", "waitlistMode"},
	"leastAnswer": {"offerShown", "waitlistMode"}, "offerGrace": {"offerShown"}, "holdGrace": {"holdShown"}, "waitlistMax": {"waitlistMode"},
}

// policyFault says what is wrong with a policy, with the numbers that it needs.
func policyFault(name, key string, p store.Policies) i18n.Message {
	least, most := store.LengthRange(name)
	fewest, largest := store.CountRange(name)
	shown := p.HoldShown.D()
	if name != "holdGrace" {
		shown = p.OfferShown.D()
	}
	return i18n.Msg(i18n.Key("staff.policy.bad."+strings.TrimPrefix(key, "policy.")),
		"least", lengthOf(least), "most", lengthOf(most), "fewest", fewest, "largest", largest,
		"opens", lengthOf(p.BookingOpens.D()), "closes", lengthOf(p.BookingCloses.D()), "shown", lengthOf(shown))
}

// lengthOf is a length that is written when its reader's language is known.
func lengthOf(d time.Duration) i18n.Message {
	for _, u := range slices.Backward(policyUnits) {
		if d%u.length == 0 && d >= u.length && (u.letter != "d" || d >= 3*u.length) {
			return i18n.Msg(i18n.Key("staff.policy.span."+u.letter), "n", int(d/u.length))
		}
	}
	if d == 0 {
		return i18n.Msg("staff.policy.span.m", "n", 0)
	}
	return i18n.Msg("staff.policy.span.s", "n", int(d/time.Second))
}

// overrides is what is to be stored: all policies of a venue, the own ones of a service.
func (out policyForm) overrides() ([]byte, error) {
	whole, err := json.Marshal(out.policies)
	if err != nil || out.own == nil {
		return whole, err
	}
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(whole, &all); err != nil {
		return nil, err
	}
	for name := range all {
		if !out.own[name] {
			delete(all, name)
		}
	}
	return json.Marshal(all)
}

// ownPolicies are the names that overrides change.
func ownPolicies(overrides []byte) (map[string]bool, error) {
	own := map[string]bool{}
	if len(overrides) == 0 {
		return own, nil
	}
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(overrides, &all); err != nil {
		return nil, fmt.Errorf("policies: %w", err)
	}
	for name := range all {
		own[name] = true
	}
	return own, nil
}

// hidden carries the whole form to the next press.
func (out policyForm) hidden() []views.Hidden {
	var fields []views.Hidden
	add := func(name string) {
		if value, there := out.typed[name]; there && value != "" {
			fields = append(fields, views.Hidden{Name: name, Value: value})
		}
	}
	for _, f := range out.fields {
		if out.own[f.name] {
			fields = append(fields, views.Hidden{Name: views.FieldOwn + f.name, Value: "1"})
		}
		add(f.name)
		add(f.name + views.FieldUnit)
		if f.name == "quiet" {
			add(views.FieldQuietFrom)
			add(views.FieldQuietUntil)
		}
	}
	return fields
}

// view shows the form with an example of each policy.
func (out policyForm) view(ctx context.Context, ex example) views.StaffPolicyForm {
	v := views.StaffPolicyForm{Errs: out.errs.in(ctx)}
	ex.p = out.policies
	for _, f := range out.fields {
		if len(v.Groups) == 0 || v.Groups[len(v.Groups)-1].Key != f.group {
			v.Groups = append(v.Groups, views.StaffPolicyGroup{Key: f.group, Title: i18n.T(ctx, i18n.Key("staff.policy.group."+f.group))})
		}
		g := &v.Groups[len(v.Groups)-1]
		row := out.row(ctx, f, ex)
		g.Fields = append(g.Fields, row)
		for _, name := range []string{f.name, views.FieldQuietFrom, views.FieldQuietUntil} {
			if v.Errs[name] != "" && (name == f.name || f.name == "quiet") {
				v.Faults = append(v.Faults, views.Field{Name: name})
			}
		}
	}
	return v
}

func (out policyForm) row(ctx context.Context, f policyField, ex example) views.StaffPolicyField {
	say := func(part string) string { return i18n.T(ctx, i18n.Key("staff.policy."+f.name+"."+part)) }
	errs := out.errs.in(ctx)
	row := views.StaffPolicyField{
		Name: f.name, Label: say("label"), Text: say("text"), Example: ex.of(f.name), Value: out.typed[f.name], Err: errs[f.name],
		CanOwn: out.own != nil, Own: out.own[f.name],
	}
	if row.CanOwn {
		row.Venue = policyValue(ctx, f, out.base)
	}
	switch {
	case f.length != nil:
		row.Kind, row.Max = "length", longestCount
		unit := out.typed[f.name+views.FieldUnit]
		for _, u := range policyUnits {
			if strings.Contains(f.units, u.letter) || u.letter == unit {
				row.Units = append(row.Units, views.Option{Value: u.letter, Text: i18n.T(ctx, i18n.Key("staff.policy.unit."+u.letter)), Selected: u.letter == unit})
			}
		}
		switch f.group {
		case "window", "cancel":
			row.After = i18n.T(ctx, "staff.policy.before_start")
		}
		switch f.name {
		case "broadcastBefore", "reminderBefore":
			row.After = i18n.T(ctx, "staff.policy.before_start")
		case "eraseWaitlist", "eraseReservations":
			row.After = i18n.T(ctx, "staff.policy.after_end")
		}
	case f.count != nil, f.name == "waitlistMax":
		row.Kind = "count"
		_, row.Max = store.CountRange(f.name)
		row.After = say("after")
	case f.flag != nil:
		row.Kind = "flag"
		row.After = say("tick")
	case f.name == "quiet":
		row.Kind = "quiet"
		row.After = say("tick")
		row.From, row.Until = out.typed[views.FieldQuietFrom], out.typed[views.FieldQuietUntil]
		row.FromErr, row.UntilErr = errs[views.FieldQuietFrom], errs[views.FieldQuietUntil]
	default:
		row.Kind = "choice"
		for _, value := range policyChoices[f.name] {
			row.Options = append(row.Options, views.Option{Value: value, Text: say("is_" + value), Selected: value == out.typed[f.name]})
		}
	}
	return row
}

// policyValue writes one policy in few words.
func policyValue(ctx context.Context, f policyField, p store.Policies) string {
	c := i18n.In(ctx)
	switch {
	case f.length != nil:
		return lengthOf(f.length(&p).D()).In(ctx)
	case f.count != nil:
		return c.Number(*f.count(&p))
	case f.flag != nil:
		if *f.flag(&p) {
			return c.T("staff.policy.yes")
		}
		return c.T("staff.policy.no")
	case f.name == "waitlistMax":
		if p.WaitlistMax == nil {
			return c.T("staff.policy.none")
		}
		return c.Number(*p.WaitlistMax)
	case f.name == "quiet":
		if p.Quiet == nil {
			return c.T("staff.policy.none")
		}
		return c.T("staff.policy.clocks", "from", clockText(p.Quiet.From), "until", clockText(p.Quiet.Until))
	case f.name == "waitlistMode":
		return c.T(i18n.Key("staff.policy.waitlistMode.is_" + string(p.WaitlistMode)))
	default:
		return c.T(i18n.Key("staff.policy.fit.is_" + string(p.Fit)))
	}
}

// policyChanges lists what differs between two sets of policies.
func policyChanges(ctx context.Context, from, to store.Policies) []views.StaffPolicyChange {
	var out []views.StaffPolicyChange
	for _, f := range policyFields {
		a, b := policyValue(ctx, f, from), policyValue(ctx, f, to)
		if a != b {
			out = append(out, views.StaffPolicyChange{Label: i18n.T(ctx, i18n.Key("staff.policy."+f.name+".label")), From: a, To: b})
		}
	}
	return out
}
