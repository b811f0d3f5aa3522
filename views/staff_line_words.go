package views

import (
	"context"

	"holdfast/views/i18n"
)

// lineMark is the sign beside the state of a LINE account, so that it is not known by its colour alone.
func lineMark(state string) string {
	switch state {
	case "working":
		return "✓"
	case "none", "unchecked":
		return "–"
	}
	return "!"
}

func lineIDHint(ctx context.Context, f StaffLineForm) string {
	if f.Warn {
		return i18n.T(ctx, "line.field.id.change")
	}
	return i18n.T(ctx, "line.field.id.hint")
}

func lineKeyHint(ctx context.Context, f StaffLineForm, fresh i18n.Key) string {
	if f.Kept {
		return i18n.T(ctx, "line.field.kept")
	}
	return i18n.T(ctx, fresh)
}
