package main

import (
	"testing"

	"holdfast/store"
)

func init() {
	moreScenes = append(moreScenes, func(t *testing.T, p *product) []screenPage {
		t.Helper()
		ctx := t.Context()
		_, err := p.Store.AddStaff(ctx, store.NewStaff{TenantID: p.Tenant.ID, Email: "midori@example.com", Name: "佐々木 みどり", Role: store.RoleDesk, Locale: "ja", PasswordHash: "none"})
		check(t, err)
		invited, err := p.Store.Invite(ctx, store.NewInvitation{TenantID: p.Tenant.ID, Email: "hana@example.com", Role: store.RoleManager, Locale: "ja", InvitedBy: "店長"})
		check(t, err)
		_, err = p.Store.AddAPIKey(ctx, p.Tenant, "ホームページ", []string{"read", "book"})
		check(t, err)
		member, err := p.Store.StaffByEmail(ctx, "midori@example.com")
		check(t, err)
		return []screenPage{
			{"staff-team", "/staff/shop/team", true},
			{"staff-team-remove", "/staff/shop/team/" + member.ID + "/remove", true},
			{"staff-api-keys", "/staff/shop/api-keys", true},
			{"staff-account", "/staff/account", true},
			{"staff-password", "/staff/account/password", true},
			{"staff-sessions", "/staff/account/sessions", true},
			{"staff-second-factor", "/staff/account/second-factor", true},
			{"staff-venue-new", "/staff/venues/new", true},
			{"staff-reset", "/staff/reset", false},
			{"staff-reset-sent", "/staff/reset/sent", false},
			{"staff-invitation", "/staff/invitations/shop/" + p.Store.InvitationToken(invited), false},
		}
	})
}
