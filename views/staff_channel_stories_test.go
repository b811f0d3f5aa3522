package views

import (
	"strings"

	"github.com/a-h/templ"
)

func init() { moreStaffStories = append(moreStaffStories, channelStaffStories) }

func channelTestGroups(say staffSay, chosen ...string) []StaffEventGroup {
	kind := func(value, text string) StaffEventKind {
		k := StaffEventKind{Value: value, Text: text}
		for _, c := range chosen {
			k.Checked = k.Checked || c == value
		}
		return k
	}
	return []StaffEventGroup{
		{Title: say("予約", "Bookings"), Kinds: []StaffEventKind{
			kind("held", say("席が確保された", "Seats held")), kind("confirmed", say("予約が確定した", "Booking confirmed")), kind("cancelled", say("予約がキャンセルされた", "Booking cancelled")),
			kind("party_changed", say("予約の人数が変わった", "Party changed")), kind("moved_in", say("予約が別の枠から移ってきた", "Booking moved in")),
		}},
		{Title: say("キャンセル待ち", "Waitlist"), Kinds: []StaffEventKind{
			kind("joined", say("キャンセル待ちに登録された", "Joined the waitlist")), kind("staff_offered", say("スタッフが選んで案内した", "Seats offered by staff")), kind("vacancy_told", say("空席を知らせた", "Told of open seats")),
		}},
		{Title: say("枠", "Slots"), Kinds: []StaffEventKind{
			kind("capacity_changed", say("席数が変わった", "Capacity changed")), kind("terms_changed", say("日時・場所・内容が変わった", "Time, place or service changed")), kind("slot_cancelled", say("枠が中止になった", "Slot cancelled")),
		}},
		{Title: say("連絡と記録", "Contacts and records"), Kinds: []StaffEventKind{
			kind("message_given_up", say("メールの送信を取りやめた", "Message given up")), kind("refused_late", say("時間切れで断った", "Refused as too late")),
		}},
	}
}

func channelTestForm(say staffSay) StaffWebhookForm {
	return StaffWebhookForm{
		ActionURL: StaffWebhooksURL("aozora"), Hint: say("https:// で始まる、インターネット上のアドレスです。", "An address on the internet that begins with https://"), Groups: channelTestGroups(say),
		Submit: say("追加する", "Add"),
	}
}

func channelTestPage(say staffSay) StaffWebhookPage {
	p := StaffWebhookPage{
		Page: staffTestPage(say, "crm.aozora.example"), Staff: staffTestFrame("settings"), BackURL: StaffWebhooksURL("aozora"), Host: "crm.aozora.example",
		Address: "https://crm.aozora.example/hooks/holdfast?venue=aozora", State: "active",
		Says:    []string{say("出来事が起きるとすぐに送ります。", "Each event is sent as soon as it happens."), say("すべての出来事", "All events"), say("最後に届いたのは14:31", "Last delivered 14:31")},
		TestURL: StaffWebhookTestURL("aozora", "1"), PauseURL: StaffWebhookPauseURL("aozora", "1"), SecretURL: StaffWebhookSecretURL("aozora", "1"), DeleteURL: StaffWebhookDeleteURL("aozora", "1"),
		Form: channelTestForm(say),
		Log: []StaffWebhookLine{
			{At: "14:31:07", What: say("予約が確定した", "Booking confirmed"), Kind: "confirmed", Good: true, Outcome: say("届きました（204）", "Delivered (204)"), Took: say("41ミリ秒", "41 ms")},
			{At: "14:30:12", What: say("席が確保された", "Seats held"), Kind: "held", Attempt: say("3回目", "attempt 3"), Good: true, Outcome: say("届きました（204）", "Delivered (204)"), Took: say("112ミリ秒", "112 ms")},
			{At: "14:29:38", What: say("席が確保された", "Seats held"), Kind: "held", Attempt: say("2回目", "attempt 2"), Outcome: say("受け付けられませんでした（503）", "Not accepted (503)"), Took: say("8ミリ秒", "8 ms")},
			{At: "14:29:20", What: say("席が確保された", "Seats held"), Kind: "held", Outcome: say("時間内に返事がありませんでした", "No answer in time"), Took: say("8,003ミリ秒", "8,003 ms")},
			{At: say("10月7日（水）18:40", "Wed 7 Oct, 18:40"), What: say("テスト", "Test"), Kind: "ping", Outcome: say("別のアドレスへ案内されました（301）。転送先には送りません。", "Sent on to another address (301), which is not followed"), Took: say("23ミリ秒", "23 ms")},
		},
	}
	p.Form.ActionURL, p.Form.Version, p.Form.Address, p.Form.Submit = StaffWebhookURL("aozora", "1"), "3", p.Address, say("保存する", "Save")
	return p
}

func channelStaffStories() []staffStory {
	list := func(say staffSay) StaffWebhooksPage {
		row := func(id, address, state string, facts ...string) StaffWebhookRow {
			return StaffWebhookRow{ID: id, URL: StaffWebhookURL("aozora", id), Address: address, State: state, Facts: facts}
		}
		all, some := say("すべての出来事", "All events"), say("3種類の出来事", "3 kinds of events")
		return StaffWebhooksPage{
			Page: staffTestPage(say, "Webhooks"), Staff: staffTestFrame("settings"), Form: channelTestForm(say),
			Webhooks: []StaffWebhookRow{
				row("1", "https://crm.aozora.example/hooks/holdfast?venue=aozora", "active", all, say("最後に届いたのは14:31", "Last delivered 14:31")),
				row("2", "https://xn--r8jz45g.jp/"+strings.Repeat("a-very-long-path-", 6), "trying", some, say("最後に届いたのは10月7日（水）18:40", "Last delivered Wed 7 Oct, 18:40")),
				row("3", "https://old.example/", "paused", all, say("まだ届いたものはありません", "Nothing delivered yet")),
				row("4", "https://sheet.example/in", "failing", some, say("最後に届いたのは10月1日（木）09:00", "Last delivered Thu 1 Oct, 09:00")),
			},
		}
	}
	var stories []staffStory
	add := func(name string, page func(staffSay) templ.Component) {
		stories = append(stories, staffStory{name, page})
	}
	add("webhooks", func(say staffSay) templ.Component { return StaffWebhooks(list(say)) })
	add("webhooks-none", func(say staffSay) templ.Component {
		p := list(say)
		p.Webhooks = nil
		p.Form.Address, p.Form.Some = "http://localhost/", true
		p.Form.Errs = Errors{
			FieldWebhookURL: say("このアドレスには送れません。インターネットから届くアドレスにしてください。", "Nothing can be sent there. Use an address that can be reached from the internet."),
			FieldEventKind:  say("出来事を1つ以上選んでください。", "Choose at least one event."),
		}
		return StaffWebhooks(p)
	})
	add("webhooks-full", func(say staffSay) templ.Component {
		p := list(say)
		p.Full = say("Webhookは10件までです。追加するには、使っていないものを削除してください。", "There can be 10 webhooks. Delete one that is not in use to add another.")
		return StaffWebhooks(p)
	})
	add("webhook", func(say staffSay) templ.Component {
		p := channelTestPage(say)
		p.Done = say("テストが届きました。返事は204、41ミリ秒でした。", "The test arrived. The answer was 204, after 41 ms.")
		return StaffWebhook(p)
	})
	add("webhook-made", func(say staffSay) templ.Component {
		p := channelTestPage(say)
		p.Secret, p.Log = "hfwh_"+strings.Repeat("K7P2M4XQ", 4)[:26], nil
		p.Old = say("前の鍵でも、10月9日（金）14:38までは署名します。", "The former secret signs too until Fri 9 Oct, 14:38.")
		return StaffWebhook(p)
	})
	add("webhook-trying", func(say staffSay) templ.Component {
		p := channelTestPage(say)
		p.State, p.Problem = "trying", say("テストは届きませんでした。受け付けられませんでした（503）", "The test did not arrive. Not accepted (503)")
		p.Says = []string{
			say("10月7日（水）18:40から届いていません（9回送りました）。次は15:20に送ります。", "Nothing has arrived since Wed 7 Oct, 18:40 (9 attempts). The next attempt is at 15:20."),
			say("順番を守るため、後の出来事も待っています。10月10日（土）18:40までに届かなければ停止します。", "To keep the order, later events wait too. If nothing arrives until Sat 10 Oct, 18:40, the webhook is paused."),
			say("すべての出来事", "All events"), say("最後に届いたのは10月7日（水）18:39", "Last delivered Wed 7 Oct, 18:39"),
		}
		p.Old = say("前の鍵でも、10月9日（金）14:38までは署名します。", "The former secret signs too until Fri 9 Oct, 14:38.")
		return StaffWebhook(p)
	})
	add("webhook-failing", func(say staffSay) templ.Component {
		p := channelTestPage(say)
		p.State, p.PauseURL, p.ResumeURL, p.Log = "failing", "", StaffWebhookResumeURL("aozora", "1"), p.Log[2:]
		p.Says = []string{say("3日間届かなかったため、10:05に停止しました。受け取る側を確かめてから再開してください。出来事は取ってあります。", "Paused 10:05, after three days in which nothing arrived. Check the receiver, then resume. The events are kept.")}
		p.Waiting = say("送らずに取ってある出来事が128件あります", "128 events have been kept and not sent")
		return StaffWebhook(p)
	})
	add("webhook-changed", func(say staffSay) templ.Component {
		p := channelTestPage(say)
		p.Form.Some, p.Form.Groups = true, channelTestGroups(say, "confirmed", "cancelled")
		p.Form.Stored = &StaffStored{By: say("14:35に青木 店長さんが変更しました。", "Changed at 14:35 by 青木 店長."), Lines: []StaffStoredLine{
			{say("送り先", "Address"), "https://new.aozora.example/hooks"}, {say("知らせる出来事", "Events"), say("すべて（今後増えるものも含む）", "All, also those that are added later")},
		}}
		return StaffWebhook(p)
	})
	add("webhook-secret", func(say staffSay) templ.Component {
		return StaffWebhookSecret(StaffWebhookSecretPage{
			Page: staffTestPage(say, "x"), Staff: staffTestFrame("settings"), Address: "https://crm.aozora.example/hooks/holdfast?venue=aozora",
			ActionURL: StaffWebhookSecretURL("aozora", "1"), BackURL: StaffWebhookURL("aozora", "1"),
			Lines: []StaffConsequence{
				{"kept", say("これから24時間は、新しい鍵と前の鍵の両方で署名します。その間に、受け取る側の鍵を入れ替えてください。", "For the next 24 hours both the new secret and the present one sign. Put the new one into the receiver in that time.")},
				{"kept", say("24時間たつと、新しい鍵だけで署名します。", "After 24 hours only the new one signs.")},
				{"warn", say("その前の鍵での署名は、すぐに終わります。", "The secret before the present one stops signing at once.")},
			},
		})
	})
	add("webhook-down", func(say staffSay) templ.Component {
		p := staffTestToday(say)
		text := say("sheet.example:8443へのWebhookが届かず、停止しています", "The webhook to sheet.example:8443 is paused: nothing arrived there")
		p.Attention = StaffAttention{Webhooks: []StaffWebhookDown{{ID: "4", Text: text, URL: StaffWebhookURL("aozora", "4")}, {ID: "5", Text: text}}}
		p.Slots = p.Slots[:2]
		return StaffToday(p)
	})
	return stories
}
