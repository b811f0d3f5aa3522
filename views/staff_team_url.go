package views

// StaffTeamURL is the team of a venue.
func StaffTeamURL(tenant string) string { return staffPath(tenant, "team") }

// StaffTeamInviteURL takes the POST that invites somebody by mail.
func StaffTeamInviteURL(tenant string) string { return staffPath(tenant, "team", "invite") }

// StaffTeamRoleURL takes the POST that gives a member another role.
func StaffTeamRoleURL(tenant, member string) string { return staffPath(tenant, "team", member, "role") }

// StaffTeamRemoveURL says what removing a member does; its POST removes.
func StaffTeamRemoveURL(tenant, member string) string {
	return staffPath(tenant, "team", member, "remove")
}

// StaffInvitationResendURL takes the POST that sends an invitation again.
func StaffInvitationResendURL(tenant, invitation string) string {
	return staffPath(tenant, "team", "invitations", invitation, "resend")
}

// StaffInvitationRevokeURL takes the POST that takes an invitation back.
func StaffInvitationRevokeURL(tenant, invitation string) string {
	return staffPath(tenant, "team", "invitations", invitation, "revoke")
}

// StaffAPIKeysURL are the API keys of a venue; its POST makes one.
func StaffAPIKeysURL(tenant string) string { return staffPath(tenant, "api-keys") }

// StaffAPIKeyRevokeURL says what revoking a key does; its POST revokes.
func StaffAPIKeyRevokeURL(tenant, key string) string {
	return staffPath(tenant, "api-keys", key, "revoke")
}
