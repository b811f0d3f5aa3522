package web

import (
	"context"
	"strings"
	"time"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// fill says what the button does, and that some overlap.
func fill(ctx context.Context, v *views.StaffSchedulePreviewPage, plan store.Plan, possible, change bool) {
	overlaps := plan.Count(store.SkipOverlap) + plan.Count(store.SkipSelf)
	switch make := plan.Count(""); {
	case !possible:
	case change:
		v.Press = i18n.T(ctx, "schedule.press.change")
	case overlaps > 0:
		v.Press = i18n.T(ctx, "schedule.press.others", "n", make)
	default:
		v.Press = i18n.T(ctx, "schedule.press.make", "n", make)
	}
	if overlaps > 0 && v.Press != "" {
		v.Others = i18n.T(ctx, "schedule.others", "n", overlaps)
	}
}

// planView lists what would be made by month and day, and what not, with the reason.
func planView(ctx context.Context, t store.Tenant, n names, c store.Schedule, plan store.Plan) (views.StaffSchedulePlan, error) {
	v := planLines(ctx, t, n, plan)
	if c.Rule == "" {
		return v, nil
	}
	months, err := c.PassedMonths(c.First, plan.Through)
	if err != nil {
		return v, err
	}
	if len(months) > 0 {
		var texts []string
		for _, m := range months[:min(len(months), 12)] {
			at, err := time.Parse("2006-01", m)
			if err != nil {
				return v, err
			}
			texts = append(texts, i18n.In(ctx).MonthShort(at, time.UTC))
		}
		v.Notes = append(v.Notes, i18n.T(ctx, "schedule.note.months", "months", strings.Join(texts, i18n.T(ctx, "schedule.list"))))
	}
	if c.Until == "" {
		v.Notes = append(v.Notes, i18n.T(ctx, "schedule.note.open", "until", dateOf(ctx, plan.Through, false)))
	}
	return v, nil
}

// The reasons that are counted above the list, in order.
var skipReasons = []store.SkipReason{
	store.SkipOverlap, store.SkipSelf, store.SkipClosed, store.SkipHoliday, store.SkipPast, store.SkipClock, store.SkipThere,
}

func planLines(ctx context.Context, t store.Tenant, n names, plan store.Plan) views.StaffSchedulePlan {
	lang, cat, loc := i18n.Lang(ctx), i18n.In(ctx), t.Location()
	v := views.StaffSchedulePlan{N: plan.Count("")}
	v.Make = i18n.T(ctx, "schedule.make", "n", v.N)
	for _, why := range skipReasons {
		if n := plan.Count(why); n > 0 {
			v.Notes = append(v.Notes, i18n.T(ctx, i18n.Key("schedule.count."+string(why)), "n", n))
		}
	}
	var month *views.StaffScheduleMonth
	more, in := 0, 0
	closeMonth := func() {
		if month != nil {
			month.Count = i18n.T(ctx, "schedule.month.count", "n", in)
		}
	}
	var day string
	var slots []store.PlannedSlot
	closeDay := func() {
		if len(slots) == 0 {
			return
		}
		at, err := time.Parse(time.DateOnly, slots[0].Day)
		if err != nil {
			return
		}
		if heading := cat.Month(at, time.UTC); month == nil || month.Heading != heading {
			closeMonth()
			v.Months = append(v.Months, views.StaffScheduleMonth{Heading: heading})
			month, in = &v.Months[len(v.Months)-1], 0
		}
		in += len(slots)
		d := views.StaffScheduleDay{Date: cat.DateShort(at, time.UTC)}
		if len(slots) <= 3 {
			var times []string
			for _, slot := range slots {
				times = append(times, cat.TimeRange(slot.StartsAt, slot.EndsAt, loc))
			}
			d.Times = strings.Join(times, i18n.T(ctx, "schedule.list"))
		} else {
			last := slots[len(slots)-1]
			d.Times = i18n.T(ctx, "schedule.day.many", "first", cat.TimeRange(slots[0].StartsAt, slots[0].EndsAt, loc), "last", cat.TimeRange(last.StartsAt, last.EndsAt, loc), "n", len(slots))
		}
		for _, slot := range slots {
			if slot.Clock != store.ClockPlain {
				d.Note = i18n.T(ctx, i18n.Key("schedule.clock."+string(slot.Clock)), "time", store.ClockText(slot.Minute), "start", cat.Time(slot.StartsAt, loc))
				break
			}
		}
		month.Days = append(month.Days, d)
		slots = nil
	}
	for _, slot := range plan.Slots {
		if slot.Why == "" {
			if slot.Day != day {
				closeDay()
				day = slot.Day
			}
			slots = append(slots, slot)
			continue
		}
		if slot.Why == store.SkipThere {
			continue
		}
		if len(v.Skipped) == skipsListed {
			more++
			continue
		}
		skip := views.StaffScheduleSkip{When: dateOf(ctx, slot.Day, true) + " " + store.ClockText(slot.Minute)}
		switch note := slot.Note.In(lang); {
		case slot.With != nil:
			service, _ := n.serviceOf(slot.With.ServiceID)
			skip.Why = i18n.T(ctx, "schedule.why.overlap", "time", cat.DateTimeRangeShort(slot.With.StartsAt, slot.With.EndsAt, loc), "name", service.Name.In(lang))
			skip.URL = views.StaffSlotURL(t.Slug, slot.With.ID)
			if slot.With.ServiceID == "" { // a slot of this schedule, at its new time
				skip.Why, skip.URL = i18n.T(ctx, "schedule.why.self"), views.StaffSlotURL(t.Slug, slot.With.ID)
			}
		case note != "":
			skip.Why = i18n.T(ctx, i18n.Key("schedule.why."+string(slot.Why)+"_named"), "name", note)
		default:
			skip.Why = i18n.T(ctx, i18n.Key("schedule.why."+string(slot.Why)))
		}
		v.Skipped = append(v.Skipped, skip)
	}
	closeDay()
	closeMonth()
	if more > 0 {
		v.MoreSkipped = i18n.T(ctx, "schedule.more", "n", more)
	}
	return v
}
