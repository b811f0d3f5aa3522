package main

import (
	"testing"

	"holdfast/views"
)

func init() {
	moreScenes = append(moreScenes, func(t *testing.T, p *product) []screenPage {
		slot := p.Slot(t, 4)
		today, later := p.Book(t, slot, 2), p.Book(t, p.Slot(t, 4), 1)
		room := p.AddResource(t, p.Tenant, "door")
		p.Exec(t, "UPDATE slots SET resource_id = $2, starts_at = now() - interval '5 minutes', ends_at = now() + interval '55 minutes' WHERE id = $1", slot.ID, room.ID)
		return []screenPage{
			{"staff-checkin", views.StaffCheckinURL("shop"), true},
			{"staff-checkin-other-day", views.StaffCheckinNumberURL("shop", later.Number), true},
			{"staff-checkin-ready", views.StaffCheckinNumberURL("shop", today.Number), true},
			{"staff-exports", views.StaffExportsURL("shop"), true},
		}
	})
}
