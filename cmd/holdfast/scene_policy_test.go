package main

import (
	"testing"

	"holdfast/store"
)

func init() {
	moreScenes = append(moreScenes, func(t *testing.T, p *product) []screenPage {
		own := p.AddService(t, p.Tenant, "briefing", []byte(`{"waitlistMode":"broadcast","partyMax":2}`))
		setup := store.Setup{Trade: "studio", CallRule: store.CallWaitlist, CallNote: "折り返しの電話は18時までに。"}
		_, err := p.Store.SetPolicies(t.Context(), store.PolicyChange{TenantID: p.Tenant.ID, Overrides: p.Tenant.Overrides, Setup: &setup})
		check(t, err)
		return []screenPage{
			{"staff-policies", "/staff/shop/policies", true},
			{"staff-policies-service", "/staff/shop/services/" + own.ID + "/policies", true},
			{"staff-setup", "/staff/shop/setup", true},
			{"staff-setup-questions", "/staff/shop/setup?trade=clinic", true},
			{"staff-rules", "/staff/shop/rules", true},
			{"staff-rules-customers", "/staff/shop/rules/customers", true},
		}
	})
}
