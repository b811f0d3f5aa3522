package main

import (
	"strings"
	"testing"

	"holdfast/store"
)

func init() {
	moreScenes = append(moreScenes, func(t *testing.T, p *product) []screenPage {
		t.Helper()
		check(t, p.Store.SaveLineChannel(t.Context(), store.LineSettings{
			TenantID: p.Tenant.ID, BasicID: "@012abcde", Secret: strings.Repeat("0", 32), Token: strings.Repeat("token", 10),
		}))
		return []screenPage{
			{"staff-line", "/staff/shop/line", true},
			{"staff-line-remove", "/staff/shop/line/remove", true},
		}
	})
}
