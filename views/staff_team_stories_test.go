package views

import (
	"strings"

	"github.com/a-h/templ"
)

func init() { moreStaffStories = append(moreStaffStories, teamStaffStories) }

// teamQR is a pattern that looks like a code, and is none.
func teamQR() [][]bool {
	bits := make([][]bool, 33)
	for y := range bits {
		bits[y] = make([]bool, 33)
		for x := range bits[y] {
			bits[y][x] = (x*7+y*5+x*y)%3 == 0
		}
	}
	return bits
}

func teamTestRoles(say staffSay, chosen string) []Option {
	return []Option{
		{Value: "owner", Text: say("オーナー", "Owner"), Selected: chosen == "owner"},
		{Value: "manager", Text: say("マネージャー", "Manager"), Selected: chosen == "manager"},
		{Value: "desk", Text: say("受付", "Front desk"), Selected: chosen == "desk"},
	}
}

func teamTestLanguages(say staffSay) []Option {
	return []Option{{Value: "ja", Text: "日本語", Selected: say("1", "") == "1"}, {Value: "en", Text: "English", Selected: say("", "1") == "1"}}
}

func teamTestPage(say staffSay) StaffTeamPage {
	member := func(id, name, email, role, at string, on bool) StaffTeamMember {
		return StaffTeamMember{
			ID: id, Name: name, Email: email, Role: role, SignedIn: at, SecondFactor: on, Roles: teamTestRoles(say, role),
			RoleURL: StaffTeamRoleURL("aozora", id), RemoveURL: StaffTeamRemoveURL("aozora", id),
		}
	}
	today, never := say("最後のサインイン: 09:12", "Last signed in 09:12"), say("まだサインインしていません", "Has not signed in yet")
	me := member("1", "青木 店長", "owner@aozora.example", "owner", today, true)
	me.You = true
	return StaffTeamPage{
		Page: staffTestPage(say, say("スタッフ", "Team")), Staff: staffTestFrame("settings"),
		Members: []StaffTeamMember{
			me, member("2", "佐々木 みどり", "midori@aozora.example", "manager", say("最後のサインイン: 10月7日（水）18:40", "Last signed in Wed 7 Oct, 18:40"), false),
			member("3", "", "a-very-long-address-of-somebody@reception.aozora-studio.example", "desk", never, false),
		},
		Invitations: []StaffInvitation{
			{ID: "7", Email: "hana@aozora.example", Role: "desk", Sent: say("10:05に青木 店長さんが招待", "Invited 10:05 by 青木 店長"), Until: say("10月15日（木）10:05まで有効", "Open until Thu 15 Oct, 10:05"), MailState: "failed", ResendURL: StaffInvitationResendURL("aozora", "7"), RevokeURL: StaffInvitationRevokeURL("aozora", "7")},
			{ID: "8", Email: "zoe@aozora.example", Role: "manager", Sent: say("9月1日（火）10:05に送信", "Sent Tue 1 Sep, 10:05"), Over: true, MailState: "sent", ResendURL: StaffInvitationResendURL("aozora", "8"), RevokeURL: StaffInvitationRevokeURL("aozora", "8")},
		},
		Invite: StaffInviteForm{ActionURL: StaffTeamInviteURL("aozora"), Roles: teamTestRoles(say, "desk"), Languages: teamTestLanguages(say)},
		Roles: []StaffRoleText{
			{say("オーナー", "Owner"), say("すべて。スタッフの招待、APIキー、店舗の追加もできます。", "Everything, including the team, API keys and further venues.")},
			{say("マネージャー", "Manager"), say("予約の対応に加えて、サービス・スケジュール・ルールの設定ができます。", "All front-desk work, and services, schedules and rules.")},
			{say("受付", "Front desk"), say("予約・キャンセル・受付の対応ができます。", "Bookings, cancellations and check-in.")},
		},
	}
}

func teamStaffStories() []staffStory {
	plain := func(say staffSay, ja, en string) Page {
		return Page{Title: say(ja, en), Staff: true, LanguageAction: "/staff/language", Return: StaffAccountURL()}
	}
	limited := func(say staffSay) string {
		return say("続けて何度も試されたため、8分ほどお待ちください。", "Too many attempts. Please wait 8 minutes and try again.")
	}
	factor := func(say staffSay, state string) StaffFactorPage {
		return StaffFactorPage{
			Page: plain(say, "2段階認証", "Two-step sign-in"), BackURL: StaffAccountURL(), Email: "owner@aozora.example", State: state, QR: teamQR(), Secret: "JBSW Y3DP EHPK 3PXP JBSW Y3DP EHPK 3PXP",
			Codes: say("使える復旧コードは残り2個です。", "You have 2 recovery codes left."), Few: true,
			StartURL: StaffFactorStartURL(), ConfirmURL: StaffFactorConfirmURL(), RecoveryURL: StaffFactorRecoveryURL(), OffURL: StaffFactorOffURL(),
		}
	}
	invite := func(say staffSay, state string) StaffInvitePage {
		return StaffInvitePage{
			Page: plain(say, "青空スタジオのスタッフへの招待", "Join the team of 青空スタジオ"), Venue: "青空スタジオ", Email: "hana@aozora.example", State: state, Member: "花",
			Lead:      say("青木 店長さんから「受付」として招待されています。", "青木 店長 invites you as: Front desk."),
			Until:     say("この招待は2026年10月15日（木）10:05（日本時間）まで有効です。", "This invitation is open until Thu 15 Oct 2026, 10:05 (Tokyo)."),
			ActionURL: StaffInvitationURL("aozora", "token"), SignInURL: StaffSignInURL(), SignOutURL: StaffSignOutURL(),
		}
	}
	venue := func(say staffSay) StaffNewVenuePage {
		return StaffNewVenuePage{
			Page: plain(say, "店舗を追加する", "Add a venue"), BackURL: StaffAccountURL(), ActionURL: StaffNewVenueURL(), Name: "青空スタジオ 二号店", Slug: "account", Zone: "Asia/Tokyo",
			Zones: []string{"Asia/Tokyo", "Europe/Paris"}, Languages: teamTestLanguages(say), Prefix: "https://reserve.aozora.example/",
		}
	}
	var stories []staffStory
	add := func(name string, page func(staffSay) templ.Component) {
		stories = append(stories, staffStory{name, page})
	}
	add("team", func(say staffSay) templ.Component { return StaffTeam(teamTestPage(say)) })
	add("team-alone", func(say staffSay) templ.Component {
		p := teamTestPage(say)
		p.Members, p.Invitations = p.Members[:1], nil
		p.Members[0].Roles, p.Members[0].RemoveURL = nil, ""
		p.Members[0].Kept = say("ただひとりのオーナーです。役割を変えたり外したりするには、先にほかの方をオーナーにしてください。", "The only owner. Before this role can change or end, somebody else has to become an owner.")
		p.Invite.Email, p.Invite.Errs = "hana@", Errors{FieldEmail: say("メールアドレスの形が正しくありません。", "This is not an e-mail address.")}
		return StaffTeam(p)
	})
	add("team-remove", func(say staffSay) templ.Component {
		return StaffAsk(StaffAskPage{
			Page: staffTestPage(say, "x"), Staff: staffTestFrame("settings"), Title: say("佐々木 みどりさんをスタッフから外しますか", "Remove 佐々木 みどり from the team?"), About: "midori@aozora.example",
			Problem: say("オーナーはほかにいません。", "There is no other owner."),
			Lines:   []StaffConsequence{{"warn", say("この店舗のページは、すぐに開けなくなります。", "The pages of this venue close to them at once.")}, {"kept", say("これまでの操作の記録は残ります。", "What they did stays in the history.")}},
			Button:  say("スタッフから外す", "Remove"), ActionURL: StaffTeamRemoveURL("aozora", "2"), BackURL: StaffTeamURL("aozora"), BackText: say("スタッフ", "Team"),
		})
	})
	keys := func(say staffSay) StaffAPIKeysPage {
		return StaffAPIKeysPage{
			Page: staffTestPage(say, say("APIキー", "API keys")), Staff: staffTestFrame("settings"),
			Keys: []StaffAPIKey{
				{ID: "1", Name: say("ホームページ", "Website"), Scopes: []string{say("見る", "Read"), say("予約する", "Book")}, Created: say("9月1日（火）10:05に作成", "Made Tue 1 Sep, 10:05"), Used: say("最後に使われたのは14:31", "Last used 14:31"), RevokeURL: StaffAPIKeyRevokeURL("aozora", "1")},
				{ID: "2", Name: "POS <old> & Co", Scopes: []string{say("管理する", "Manage")}, Created: say("5月1日（金）10:05に作成", "Made Fri 1 May, 10:05"), Used: say("まだ使われていません", "Never used"), Revoked: say("9月2日（水）11:00に無効にしました", "Revoked Wed 2 Sep, 11:00")},
			},
			Form: StaffAPIKeyForm{ActionURL: StaffAPIKeysURL("aozora"), Scopes: []StaffScope{
				{"read", say("見る", "Read"), say("枠と空きを調べる", "Look up slots and free seats"), true},
				{"book", say("予約する", "Book"), say("席の確保、予約、キャンセル、キャンセル待ち", "Hold, confirm, cancel and wait for seats"), false},
				{"manage", say("管理する", "Manage"), say("枠、席数、名簿", "Slots, seats and rosters"), false},
			}},
		}
	}
	add("api-keys", func(say staffSay) templ.Component {
		p := keys(say)
		p.Made = &StaffAPIKeyMade{Name: say("ホームページ", "Website"), Key: "hf_aozora_" + strings.Repeat("K7P2M4XQ", 4)[:26]}
		return StaffAPIKeys(p)
	})
	add("api-keys-errors", func(say staffSay) templ.Component {
		p := keys(say)
		p.Keys = nil
		p.Form.Errs = Errors{FieldName: say("名前を入力してください。", "Enter a name."), FieldScope: say("できることを1つ以上選んでください。", "Choose at least one.")}
		return StaffAPIKeys(p)
	})
	add("account", func(say staffSay) templ.Component {
		return StaffAccount(StaffAccountPage{
			Page: plain(say, "アカウントの設定", "My account"), BackURL: StaffURL(), ActionURL: StaffAccountURL(), Name: "青木 店長", Email: "owner@aozora.example", Languages: teamTestLanguages(say),
			PasswordURL: StaffPasswordURL(), SessionsURL: StaffSessionsURL(), Sessions: say("2か所でサインインしています。", "Signed in in 2 places."), FactorURL: StaffFactorURL(), FactorOn: true, Factor: say("使っています。", "On."),
			Venues:      []StaffVenue{{Name: "青空スタジオ", URL: StaffTodayURL("aozora"), Role: "owner"}, {Name: "Studio Minamo", URL: StaffTodayURL("minamo"), Role: "desk"}},
			NewVenueURL: StaffNewVenueURL(), SignOutURL: StaffSignOutURL(),
		})
	})
	add("account-password", func(say staffSay) templ.Component {
		return StaffPassword(StaffPasswordPage{
			Page: plain(say, "パスワードの変更", "Change password"), BackURL: StaffAccountURL(), ActionURL: StaffPasswordURL(), Email: "owner@aozora.example",
			Errs: Errors{FieldNewPassword: say("パスワードは8文字以上にしてください。", "Use at least 8 characters.")},
		})
	})
	add("account-sessions", func(say staffSay) templ.Component {
		return StaffSessions(StaffSessionsPage{
			Page: plain(say, "サインイン中の端末", "Where you are signed in"), BackURL: StaffAccountURL(), EndURL: StaffSessionEndURL(), EndOthersURL: StaffSessionsEndURL(),
			Sessions: []StaffSessionLine{
				{Handle: "a", Device: say("WindowsのChrome", "Chrome on Windows"), Started: say("10月8日（木）09:12から", "Since Thu 8 Oct, 09:12"), Seen: say("最後の操作: 10分以内", "Last seen in the last 10 minutes"), Current: true},
				{Handle: "b", Device: say("iPhoneのSafari", "Safari on iPhone"), Started: say("10月8日（木）08:30から", "Since Thu 8 Oct, 08:30"), Seen: say("最後の操作: 10月8日（木）08:41", "Last seen Thu 8 Oct, 08:41")},
			},
		})
	})
	for _, state := range []string{"off", "pending", "on"} {
		add("account-factor-"+state, func(say staffSay) templ.Component { return StaffFactor(factor(say, state)) })
	}
	add("account-factor-refused", func(say staffSay) templ.Component {
		p := factor(say, "on")
		p.Open, p.Errs = "off", Errors{FieldCode: say("コードが違います。", "This code is not right."), FieldPassword: say("パスワードが違います。", "This is not your present password.")}
		return StaffFactor(p)
	})
	add("account-codes", func(say staffSay) templ.Component {
		return StaffCodes(StaffCodesPage{Page: Page{Title: "x", Staff: true}, Title: say("2段階認証を使い始めました", "Two-step sign-in is on"), Codes: []string{"K7P2M-4XQRT", "9WBZ3-HJ6NV", "C5DFG-8AYSE", "2LU4P-MK7XQ"}, BackURL: StaffFactorURL()})
	})
	add("signin-code", func(say staffSay) templ.Component {
		return StaffCode(StaffCodePage{Page: plain(say, "コードの入力", "Enter your code"), ActionURL: StaffSignInCodeURL(), BackURL: StaffSignInURL(), Errs: Errors{FieldCode: say("コードが違います。", "This code is not right.")}})
	})
	add("signin-code-limited", func(say staffSay) templ.Component {
		return StaffCode(StaffCodePage{Page: plain(say, "コードの入力", "Enter your code"), ActionURL: StaffSignInCodeURL(), BackURL: StaffSignInURL(), RetryAfter: limited(say)})
	})
	add("reset", func(say staffSay) templ.Component {
		return StaffReset(StaffResetPage{Page: plain(say, "パスワードを忘れたとき", "Forgotten your password?"), ActionURL: StaffResetURL(), SignInURL: StaffSignInURL()})
	})
	add("reset-link", func(say staffSay) templ.Component {
		return StaffNewPassword(StaffNewPasswordPage{Page: plain(say, "新しいパスワードを決める", "Set a new password"), ActionURL: StaffResetLinkURL("token"), Email: "owner@aozora.example"})
	})
	add("reset-sent", func(say staffSay) templ.Component {
		return StaffNote(StaffNotePage{
			Page: plain(say, "メールをご確認ください", "Check your mail"), State: "reset_sent", Title: say("メールをご確認ください", "Check your mail"),
			Texts: []string{say("そのアドレスの方がスタッフとして登録されていれば、リンクを送りました。", "If this address belongs to somebody on a team, a link is on its way.")}, Link: Link{say("サインインに戻る", "Back to sign-in"), StaffSignInURL()},
		})
	})
	for _, state := range []string{"new", "join", "sign_in", "other"} {
		add("invite-"+strings.ReplaceAll(state, "_", "-"), func(say staffSay) templ.Component { return StaffInvite(invite(say, state)) })
	}
	add("venue-new", func(say staffSay) templ.Component {
		p := venue(say)
		p.Errs = Errors{FieldSlug: say("この名前は使えません。ほかの名前にしてください。", "This name can’t be used. Choose another.")}
		return StaffNewVenue(p)
	})
	return stories
}
