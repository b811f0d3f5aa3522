package main

import (
	"testing"

	"holdfast/store"
)

func init() {
	moreScenes = append(moreScenes, func(t *testing.T, p *product) []screenPage {
		_, err := p.Store.AskRace(t.Context(), p.Tenant.ID, "00000000-0000-4000-8000-000000000001")
		check(t, err)
		claim, ok, err := p.Store.ClaimRace(t.Context())
		check(t, err)
		if !ok {
			t.Fatal("another run is under way")
		}
		var results []store.RaceResult
		for _, scenario := range smallRaces {
			results = append(results, store.RaceResult{Scenario: scenario, Strategy: "naive", Rounds: 10, Broken: 9})
			results = append(results, store.RaceResult{Scenario: scenario, Strategy: "conditional", Rounds: 10, InTime: 8})
		}
		check(t, p.Store.EndRace(t.Context(), claim, results))
		return []screenPage{{"staff-proof", "/staff/shop/proof", true}}
	})
}
