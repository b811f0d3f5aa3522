package views

import (
	"context"

	"holdfast/views/i18n"
)

// scheduleField is a field of the forms for schedules, with its label, hint and fault.
func scheduleField(ctx context.Context, errs Errors, name string, label, hint i18n.Key, kind, value string) Field {
	f := Field{ID: name, Name: name, Label: i18n.T(ctx, label), Type: kind, Value: value, Error: errs[name], Autocomplete: "off", Max: 200}
	if hint != "" {
		f.Hint = i18n.T(ctx, hint)
	}
	switch name {
	case FieldScheduleExcept:
		f.Max, f.Optional = 4000, true
	case FieldScheduleTimes:
		f.Max = 2000
	case FieldScheduleEvery, FieldScheduleMonthDay, FieldScheduleStep, FieldScheduleWeeks, FieldCapacity:
		f.InputMode, f.Max = "numeric", 5
	}
	if kind == "date" {
		f.Max = 0
	}
	return f
}

// scheduleOrder lists the fields as they stand on the pages, for the list of faults.
func scheduleOrder() []Field {
	var out []Field
	for _, name := range []string{
		FieldScheduleFrom, FieldScheduleService, FieldScheduleResource, FieldCapacity, FieldScheduleFreq, FieldScheduleWeekday, FieldScheduleMonthDay,
		FieldScheduleNth, FieldScheduleNthDay, FieldScheduleEvery, FieldScheduleBy, FieldScheduleTimes, FieldScheduleOpens, FieldScheduleCloses, FieldScheduleStep,
		FieldScheduleFirst, FieldScheduleUntil, FieldScheduleExcept, FieldScheduleDay, FieldScheduleTime, FieldScheduleWeek, FieldScheduleInto, FieldScheduleWeeks,
	} {
		out = append(out, Field{Name: name})
	}
	return out
}

// previewKind makes the preview the main action until there is something to press after it.
func previewKind(press string) ButtonKind {
	if press != "" {
		return ButtonPlain
	}
	return ButtonPrimary
}
