package main

import (
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

// peopleScene is a customer with a history, and the numbers of the weeks around it.
func init() {
	moreScenes = append(moreScenes, func(t *testing.T, p *product) []screenPage {
		t.Helper()
		who := p.Person()
		who.Name, who.Kana, who.Note = "清水 美月", "シミズ ミツキ", "窓側を希望"
		book := func(slot store.Slot, party int) store.Reservation {
			request := p.ConfirmRequest(p.Hold(t, slot, party))
			request.Contact = who
			r, err := p.Store.Confirm(t.Context(), request)
			check(t, err)
			return r
		}
		visited, missed, ahead := p.Slot(t, 8), p.Slot(t, 8), p.Slot(t, 2)
		for slot, attendance := range map[store.Slot]string{visited: "arrived", missed: "no_show"} {
			r := book(slot, 2)
			_, err := p.Store.SetAttendance(t.Context(), store.AttendanceRequest{TenantID: r.TenantID, ID: r.ID, Attendance: attendance, Actor: shop.Staff})
			check(t, err)
			p.Book(t, slot, 3)
		}
		p.Exec(t, "UPDATE slots SET starts_at = starts_at - interval '17 days', ends_at = ends_at - interval '17 days' WHERE id = $1", visited.ID)
		p.Exec(t, "UPDATE slots SET starts_at = starts_at - interval '14 days', ends_at = ends_at - interval '14 days' WHERE id = $1", missed.ID)
		now := book(ahead, 2)
		p.Join(t, ahead, 2)
		loc := p.Tenant.Location()
		from, to := time.Now().In(loc).AddDate(0, 0, -20).Format(time.DateOnly), ahead.StartsAt.In(loc).AddDate(0, 0, 1).Format(time.DateOnly)
		person := "/staff/shop/people/" + now.ID
		return []screenPage{
			{"staff-people", "/staff/shop/people", true},
			{"staff-person", person, true},
			{"staff-person-erase", person + "/erase", true},
			{"staff-person-export", person + "/export", true},
			{"staff-insight", "/staff/shop/insight?from=" + from + "&to=" + to, true},
		}
	})
}
