package views

import (
	"context"
	"strings"

	"holdfast/views/i18n"
)

func phaseWord(ctx context.Context, p SlotPhase) string {
	return i18n.T(ctx, i18n.Key("phase."+string(p)))
}

// monthWord is the mark of a day in one short word, since a month on a phone
// leaves some fifty pixels a day.
func monthWord(ctx context.Context, d VenueMonthDay) string {
	switch {
	case d.State == "" && d.Closed:
		return i18n.T(ctx, "month.closed_day")
	case d.State == "":
		return ""
	case d.Phase != "":
		return i18n.T(ctx, i18n.Key("month.phase."+string(d.Phase)))
	default:
		return i18n.T(ctx, i18n.Key("month."+string(d.State)))
	}
}

// monthLabel is a day of the month as it is heard.
func monthLabel(ctx context.Context, d VenueMonthDay) string {
	said := []string{dayLabel(ctx, DayTab{Label: d.Label, State: d.State, Phase: d.Phase, Holiday: d.Holiday, Closed: d.Closed})}
	if d.Today {
		said = append(said, i18n.T(ctx, "venue.today"))
	}
	for _, more := range []string{d.Note, d.Opens} {
		if more != "" {
			said = append(said, more)
		}
	}
	return strings.Join(said, " ")
}

// monthTitle is what a mouse learns about a day beyond its mark.
func monthTitle(d VenueMonthDay) string {
	var more []string
	for _, text := range []string{d.Holiday, d.Note, d.Opens} {
		if text != "" {
			more = append(more, text)
		}
	}
	return strings.Join(more, " ")
}

func turnWord(ctx context.Context, month, forward bool) string {
	switch {
	case month && forward:
		return i18n.T(ctx, "venue.next_month")
	case month:
		return i18n.T(ctx, "venue.last_month")
	case forward:
		return i18n.T(ctx, "venue.later")
	default:
		return i18n.T(ctx, "venue.earlier")
	}
}
