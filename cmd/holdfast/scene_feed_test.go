package main

import "testing"

func init() {
	moreScenes = append(moreScenes, func(t *testing.T, p *product) []screenPage {
		t.Helper()
		members, err := p.Store.Members(t.Context(), p.Tenant.ID)
		check(t, err)
		for _, m := range members {
			if _, err := p.Store.NewCalendarFeed(t.Context(), p.Tenant.ID, m.ID); err != nil {
				t.Fatal(err)
			}
		}
		return []screenPage{{"staff-feed", "/staff/shop/calendar-feed", true}}
	})
}
