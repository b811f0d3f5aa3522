package main

import (
	"testing"
	"time"

	"holdfast/store"
	"holdfast/views/i18n"
)

// The calendar with two rooms, a slot over midnight, and one that ends at 24:00.
func init() {
	moreScenes = append(moreScenes, func(t *testing.T, p *product) []screenPage {
		t.Helper()
		room, err := p.Store.AddResource(t.Context(), store.Resource{TenantID: p.Tenant.ID, Slug: "tatami", Name: store.Text{i18n.JA: "和室", i18n.EN: "Tatami room"}})
		check(t, err)
		local := p.Start.In(p.Tenant.Location())
		night := time.Date(local.Year(), local.Month(), local.Day()+3, 22, 0, 0, 0, local.Location())
		made, err := p.Store.AddSlots(t.Context(), p.Tenant.ID, []store.NewSlot{
			{ServiceID: p.Service.ID, ResourceID: room.ID, StartsAt: night, Capacity: 8},
			{ServiceID: p.Service.ID, ResourceID: room.ID, StartsAt: night.Add(24 * time.Hour), Capacity: 4},
		})
		check(t, err)
		p.Exec(t, "UPDATE slots SET ends_at = starts_at + interval '3 hours' WHERE id = $1", made[0].ID)
		p.Exec(t, "UPDATE slots SET ends_at = starts_at + interval '2 hours' WHERE id = $1", made[1].ID)
		day := night.Format("2006-01-02")
		return []screenPage{
			{"staff-calendar-week", "/staff/shop/calendar?week=" + day, true},
			{"staff-calendar-month", "/staff/shop/calendar?month=" + day[:7], true},
			{"staff-keys", "/staff/shop/keys", true},
		}
	})
}
