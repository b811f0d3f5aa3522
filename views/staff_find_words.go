package views

// checkinMark is the sign of what is so with a booking at the door.
func checkinMark(state string) string {
	switch state {
	case "ready":
		return "→"
	case "done", "arrived":
		return "✓"
	case "cancelled", "slot_cancelled":
		return "×"
	default:
		return "!"
	}
}
