package web

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// names are a tenant's services and resources, oldest first.
type names struct {
	services  []store.Service
	resources []store.Resource
}

// oneSlot is a slot with everything that a page says about it.
type oneSlot struct {
	store.Slot
	service  store.Service
	resource store.Resource
}

// loadNames reads the catalog of the tenant.
func (s *Server) loadNames(ctx context.Context, tenant string) (names, error) {
	services, err := s.store.Services(ctx, tenant)
	if err != nil {
		return names{}, err
	}
	resources, err := s.store.Resources(ctx, tenant)
	return names{services, resources}, err
}

// loadSlot reads a slot by its id, which may come from outside.
func (s *Server) loadSlot(ctx context.Context, tenant, id string) (oneSlot, names, error) {
	if !store.ValidID(id) {
		return oneSlot{}, names{}, store.NotFound
	}
	slot, err := s.store.Slot(ctx, tenant, id)
	if err != nil {
		return oneSlot{}, names{}, err
	}
	n, err := s.loadNames(ctx, tenant)
	if err != nil {
		return oneSlot{}, names{}, err
	}
	return n.of(slot), n, nil
}

func (n names) of(slot store.Slot) oneSlot {
	o := oneSlot{Slot: slot}
	for _, sv := range n.services {
		if sv.ID == slot.ServiceID {
			o.service = sv
		}
	}
	for _, r := range n.resources {
		if r.ID == slot.ResourceID {
			o.resource = r
		}
	}
	return o
}

// policies are those of the slot's service: what its forms ask for.
func (o oneSlot) policies(t store.Tenant) (store.Policies, error) { return o.service.Policies(t) }

// slotState is what a customer can do with a slot now.
func slotState(s store.Slot) views.SlotState {
	switch {
	case s.Status == store.SlotCancelled:
		return views.SlotCancelled
	case s.Status == store.SlotClosed:
		return views.SlotClosed
	case !s.WindowOpen():
		return views.SlotOutside
	case s.SeatsLeft > 0 && s.SeatsLeft <= s.FewLeft && s.SeatsLeft < s.Capacity:
		return views.SlotFew
	case s.SeatsLeft > 0:
		return views.SlotFree
	case s.Joinable():
		return views.SlotWaitlist
	default:
		return views.SlotFull
	}
}

// facts is what, when and where of a slot, in the reader's language.
func facts(ctx context.Context, t store.Tenant, o oneSlot, link bool) views.SlotFacts {
	lang := i18n.Lang(ctx)
	f := views.SlotFacts{
		ID: o.ID, Service: o.service.Name.In(lang), Resource: o.resource.Name.In(lang),
		When:  views.WhenRange(lang, o.StartsAt, o.EndsAt, t.Location(), lang != t.Locale),
		Price: o.service.Price.In(lang), Place: o.service.Place.In(lang), Bring: o.service.Bring.In(lang),
	}
	if link {
		f.URL = views.SlotURL(t.Slug, o.ID)
	}
	return f
}

// row is a slot in a list.
func row(ctx context.Context, t store.Tenant, o oneSlot) views.SlotRow {
	lang := i18n.Lang(ctx)
	left := o.SeatsLeft
	if !o.Bookable() {
		left = 0
	}
	return views.SlotRow{
		ID: o.ID, URL: views.SlotURL(t.Slug, o.ID), Service: o.service.Name.In(lang), Resource: o.resource.Name.In(lang),
		When: views.WhenRange(lang, o.StartsAt, o.EndsAt, t.Location(), false), Price: o.service.Price.In(lang),
		State: slotState(o.Slot), SeatsLeft: left,
	}
}

// nearestShown is how many other slots a page offers.
const nearestShown = 3

// nearest lists other slots of the service that have seats for the party.
func (s *Server) nearest(r *http.Request, t store.Tenant, n names, slot string, party int) ([]views.SlotRow, error) {
	free, err := s.store.NearestFree(r.Context(), t.ID, slot, party, nearestShown)
	if err != nil {
		return nil, err
	}
	return rowsOf(r.Context(), t, n, free), nil
}

// nearestOrItself is nearest, led by the slot itself if that has seats: for
// pages of what is over, on which it can't be taken.
func (s *Server) nearestOrItself(r *http.Request, t store.Tenant, n names, slot oneSlot, party int) ([]views.SlotRow, error) {
	others, err := s.nearest(r, t, n, slot.ID, party)
	if err != nil {
		return nil, err
	}
	if slot.Bookable() && slot.SeatsLeft >= party {
		others = append(rowsOf(r.Context(), t, n, []store.Slot{slot.Slot}), others...)
	}
	return others, nil
}

func rowsOf(ctx context.Context, t store.Tenant, n names, slots []store.Slot) []views.SlotRow {
	var rows []views.SlotRow
	for _, f := range slots {
		rows = append(rows, row(ctx, t, n.of(f)))
	}
	return rows
}

// deadlineOf writes a shown deadline. The time left is counted from the
// database's clock at the read.
func deadlineOf(ctx context.Context, t store.Tenant, shown *time.Time, now time.Time, whole time.Duration) views.Deadline {
	if shown == nil {
		return views.Deadline{}
	}
	c, loc := i18n.In(ctx), t.Location()
	d := views.Deadline{Text: c.Time(*shown, loc), At: shown.UTC().Format(time.RFC3339), Total: int(whole / time.Second)}
	if y, m, day := shown.In(loc).Date(); !sameDate(now.In(loc), y, m, day) {
		d.Text = c.DateTimeShort(*shown, loc)
	}
	// Rounded up: with half a second left there is time left.
	if left := shown.Sub(now); left > 0 {
		d.SecondsLeft = int((left + time.Second - 1) / time.Second)
	}
	d.Total = max(d.Total, d.SecondsLeft)
	return d
}

func sameDate(at time.Time, y int, m time.Month, d int) bool {
	ay, am, ad := at.Date()
	return ay == y && am == m && ad == d
}

// cancelRule says until when this slot can be cancelled by whoever books it, as
// an exact time.
func cancelRule(ctx context.Context, t store.Tenant, s store.Slot) string {
	if s.CancelUntil.After(s.Now) {
		return i18n.T(ctx, "rule.cancel_until", "time", i18n.In(ctx).DateTime(s.CancelUntil, t.Location()))
	}
	return i18n.T(ctx, "rule.cancel_not")
}

// largest is the largest party that one reservation of the slot may have.
func largest(s store.Slot) int { return min(s.PartyMax, s.Capacity) }

// parties are the options from least to most, chosen among them selected.
func parties(ctx context.Context, least, most, selected int) []views.Option {
	var out []views.Option
	for n := least; n <= most; n++ {
		out = append(out, views.Option{Value: strconv.Itoa(n), Text: i18n.T(ctx, "party", "n", n), Selected: n == selected})
	}
	return out
}
