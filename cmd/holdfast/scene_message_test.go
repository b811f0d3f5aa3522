package main

import (
	"testing"

	"holdfast/store"
)

func init() {
	moreScenes = append(moreScenes, func(t *testing.T, p *product) []screenPage {
		t.Helper()
		ctx := t.Context()
		slot := p.Slot(t, 2)
		booked, other := p.Book(t, slot, 1), p.Book(t, slot, 1)
		p.Exec(t, "UPDATE outbox SET state = 'failed', attempts = 8, last_error = '550 5.1.1 no such user' WHERE subject_id = $1", booked.ID)
		p.Exec(t, "UPDATE outbox SET attempts = 2, last_error = 'dial tcp 192.0.2.1:587: connect: connection refused', created_at = now() - interval '40 minutes' WHERE subject_id = $1 AND state = 'pending'", other.ID)
		failed, err := p.Store.Messages(ctx, store.MessageQuery{TenantID: p.Tenant.ID, SubjectID: booked.ID})
		check(t, err)
		if len(failed) == 0 {
			t.Fatal("there is no message")
		}
		message := "/staff/shop/messages/" + failed[0].ID
		return []screenPage{
			{"staff-messages-slot", "/staff/shop/messages?slot=" + slot.ID, true},
			{"staff-message", message, true},
			{"staff-message-give-up", message + "/give-up", true},
			{"staff-message-preview", "/staff/shop/messages/previews?kind=offer&lang=ja", true},
			{"staff-message-preview-text", "/staff/shop/messages/previews?kind=offer&lang=ja&part=text", true},
			{"staff-message-texts", "/staff/shop/messages/texts", true},
			{"staff-message-text", "/staff/shop/messages/texts/offer/ja", true},
			{"staff-message-notices", "/staff/shop/messages/notices", true},
		}
	})
}
