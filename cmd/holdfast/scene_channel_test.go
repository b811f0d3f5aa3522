package main

import (
	"testing"
	"time"

	"holdfast/store"
)

func init() {
	moreScenes = append(moreScenes, func(t *testing.T, p *product) []screenPage {
		t.Helper()
		ctx := t.Context()
		// To a name that leads nowhere, and paused: the program has nothing to send.
		id, _, err := p.Store.AddWebhook(ctx, store.WebhookChange{TenantID: p.Tenant.ID, URL: "https://hooks.invalid/holdfast", Kinds: []string{"confirmed", "cancelled"}})
		check(t, err)
		check(t, p.Store.PauseWebhook(ctx, p.Tenant.ID, id, ""))
		_, err = p.Store.LogWebhookTest(ctx, p.Tenant.ID, id, store.WebhookResult{Kind: store.WebhookPing, Delivery: id + "-ping-1", Outcome: store.WebhookDelivered, Status: 204, Took: 38 * time.Millisecond})
		check(t, err)
		_, err = p.Store.LogWebhookTest(ctx, p.Tenant.ID, id, store.WebhookResult{Kind: store.WebhookPing, Delivery: id + "-ping-2", Outcome: store.WebhookTimeout, Took: 7 * time.Second})
		check(t, err)
		return []screenPage{
			{"staff-webhooks", "/staff/shop/webhooks", true},
			{"staff-webhook", "/staff/shop/webhooks/" + id, true},
			{"staff-webhook-secret", "/staff/shop/webhooks/" + id + "/secret", true},
			{"staff-webhook-delete", "/staff/shop/webhooks/" + id + "/delete", true},
		}
	})
}
