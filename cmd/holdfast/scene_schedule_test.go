package main

import (
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
	"holdfast/views/i18n"
)

// A schedule on a resource of its own, with somebody in one of its slots.
func init() {
	moreScenes = append(moreScenes, func(t *testing.T, p *product) []screenPage {
		t.Helper()
		room, err := p.Store.AddResource(t.Context(), store.Resource{TenantID: p.Tenant.ID, Slug: "annex", Name: store.Text{i18n.JA: "別館", i18n.EN: "Annex"}})
		check(t, err)
		first := p.Start.In(p.Tenant.Location()).AddDate(0, 0, 14)
		c := store.Schedule{
			ID: "00000000-0000-4000-8000-00000000abcd", TenantID: p.Tenant.ID, ServiceID: p.Service.ID, ResourceID: room.ID, Capacity: 8, SkipClosed: true,
			Recurrence: store.Recurrence{Rule: "FREQ=WEEKLY;BYDAY=MO,FR", First: first.Format(time.DateOnly), Until: first.AddDate(0, 2, 0).Format(time.DateOnly), Starts: []int{600, 1140}},
		}
		plan, err := p.Store.PreviewSchedule(t.Context(), c)
		check(t, err)
		_, err = p.Store.CreateSchedule(t.Context(), store.NewSchedule{Schedule: c, Print: plan.Print})
		check(t, err)
		slots, err := p.Store.Slots(t.Context(), store.SlotQuery{TenantID: p.Tenant.ID, ResourceID: room.ID, From: p.Start, To: p.Start.AddDate(0, 6, 0)})
		check(t, err)
		_, _, err = p.Store.Book(t.Context(), store.BookRequest{TenantID: p.Tenant.ID, SlotID: slots[2].ID, PartySize: 2, Contact: p.Person(), Key: "scene-schedule", Actor: shop.Staff})
		check(t, err)
		day := first.Format(time.DateOnly)
		change := "/staff/shop/schedules/" + c.ID + "/change?from=" + day + "&resource=" + room.ID + "&capacity=8&freq=weekly&weekday=1&weekday=5&every=1&by=times&times=10:00,19:30&first=" + day + "&until=" + c.Until + "&skip_closed=1"
		return []screenPage{
			{"staff-schedules", "/staff/shop/schedules", true},
			{"staff-schedule-new", "/staff/shop/schedules/new", true},
			{"staff-schedule", "/staff/shop/schedules/" + c.ID, true},
			{"staff-schedule-change", change, true},
			{"staff-schedule-delete", "/staff/shop/schedules/" + c.ID + "/delete", true},
			{"staff-schedule-slot", "/staff/shop/schedules/slot", true},
			{"staff-schedule-copy", "/staff/shop/schedules/copy?week=" + day + "&into=" + first.AddDate(0, 3, 0).Format(time.DateOnly) + "&weeks=2", true},
			{"staff-schedule-seats", "/staff/shop/schedules/seats?first=" + day + "&until=" + c.Until + "&capacity=1", true},
		}
	})
}
