package views

func staffWebhookSign(state string) staffSign {
	switch state {
	case "trying":
		return staffSign{"trying", "↻", "channel.state.trying"}
	case "paused":
		return staffSign{"paused", "‖", "channel.state.paused"}
	case "failing":
		return staffSign{"failing", "!", "channel.state.failing"}
	default:
		return staffSign{"active", "✓", "channel.state.active"}
	}
}

// One main action a page: for a paused webhook that is to go on.
func staffWebhookTestKind(p StaffWebhookPage) ButtonKind {
	if p.ResumeURL != "" {
		return "plain"
	}
	return ButtonPrimary
}

// staffWebhookExample are the headers of a delivery, for whoever writes the receiver.
const staffWebhookExample = "Holdfast-Signature: t=1773450000,v1=5f2c…\nHoldfast-Delivery: 1c9d…-4711\n\nv1 = hex(HMAC-SHA256(secret, t + \".\" + body))"
