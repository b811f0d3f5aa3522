package views

import "github.com/a-h/templ"

func init() { moreStaffStories = append(moreStaffStories, policyStaffStories) }

func policyTestUnits(say staffSay, selected string) []Option {
	return []Option{
		{Value: "m", Text: say("分", "minutes"), Selected: selected == "m"},
		{Value: "h", Text: say("時間", "hours"), Selected: selected == "h"},
		{Value: "d", Text: say("日", "days"), Selected: selected == "d"},
	}
}

func policyTestForm(say staffSay, service bool) StaffPolicyForm {
	offer := StaffPolicyField{
		Name: "offerShown", Label: say("返事をいただく時間", "Time to answer"), Kind: "length", Value: "30", Units: policyTestUnits(say, "m"),
		Text:    say("席を案内した方に、この時間だけ席を取っておきます。", "How long the seats are kept for the person who is offered them."),
		Example: say("12月10日（木）14:00 に取り消されたら、案内は 14:30 まで。", "When somebody cancels on Thu 10 Dec, 14:00, the offer runs to 14:30."),
		CanOwn:  service, Venue: say("30分", "30 minutes"),
	}
	cancel := StaffPolicyField{
		Name: "cancelBefore", Label: say("お客様が取り消せる期限", "Customers may cancel"), Kind: "length", Value: "48", Units: policyTestUnits(say, "h"), After: say("（開始の前）", "before the start"),
		Text:    say("開始のどれだけ前まで、お客様がご自分で取り消しや変更をできるかです。そのあとはお電話をお願いします。", "Until how long before the start customers can cancel or move by themselves. After that they are asked to call."),
		Example: say("12月11日（金）18:30 の予約は、12月9日（水）18:30 までご自分で取り消せます。", "A booking for Fri 11 Dec, 18:30 can be cancelled online until Wed 9 Dec, 18:30."),
		CanOwn:  service, Own: service, Venue: say("24時間", "24 hours"),
	}
	mode := StaffPolicyField{
		Name: "waitlistMode", Label: say("キャンセル待ち", "Waitlist"), Kind: "choice",
		Text: say("満席のときにお待ちいただけるか、空いた席を誰に渡すかを決めます。", "Whether people can wait for a full slot, and who gets a seat that comes free."),
		Options: []Option{
			{Value: "sequential", Text: say("順番に案内する（先頭の方から、期限を付けて）", "Offer in turn: the first in line, with a deadline"), Selected: true},
			{Value: "broadcast", Text: say("全員に知らせる（先着順）", "Tell everybody: first come, first served")},
			{Value: "off", Text: say("受け付けない", "No waitlist")},
		},
		Example: say("12月10日（木）14:00 に取り消されたら、先頭の方のために 14:30 まで席を取っておきます。12月11日（金）15:30 からは先着順です。", "When somebody cancels on Thu 10 Dec, 14:00, the seat is kept for the first in line until 14:30. From Fri 11 Dec, 15:30 it is first come, first served."),
		CanOwn:  service, Venue: say("順番に案内する（先頭の方から、期限を付けて）", "Offer in turn: the first in line, with a deadline"),
	}
	quiet := StaffPolicyField{
		Name: "quiet", Label: say("案内の期限にしない時間帯", "Quiet hours"), Kind: "quiet", Value: "1", From: "21:00", Until: "08:00", After: say("この時間帯を設ける", "Have quiet hours"),
		Text:    say("夜中など、この時間帯に案内の期限が来ないようにします。", "No offer runs out in these hours."),
		Example: say("12月10日（木）21:40 に空いたら、案内は 12月11日（金）08:30 まで。", "When a seat comes free on Thu 10 Dec, 21:40, the offer runs to Fri 11 Dec, 08:30."),
		CanOwn:  service, Own: service, Venue: say("21:00〜08:00", "21:00–08:00"),
	}
	party := StaffPolicyField{
		Name: "partyMax", Label: say("1回の予約の人数", "Party size"), Kind: "count", Value: "4", After: say("名まで", "at most"),
		Text:    say("お客様が1回に予約できる人数です。", "How many people one booking may be for."),
		Example: say("4名まで、ご自分で予約できます。5名からはお電話をお願いします。", "Customers can book for 4 people by themselves; for 5 or more they are asked to call."),
		CanOwn:  service, Venue: "4",
	}
	one := StaffPolicyField{
		Name: "onePerPerson", Label: say("お一人1件まで", "One booking per person"), Kind: "flag", Value: "1", After: say("同じ枠はお一人1件まで", "One booking per person and slot"),
		Text:    say("同じメールアドレスの方は、同じ枠を1件だけ予約できます。", "One e-mail address can have one booking in a slot."),
		Example: say("12月11日（金）18:30 を予約した方がもう一度予約しようとすると、今の予約をお見せします。", "Whoever has booked Fri 11 Dec, 18:30 and tries again is shown the booking they have."),
		CanOwn:  service, Venue: say("はい", "yes"),
	}
	return StaffPolicyForm{
		ActionURL: StaffPoliciesURL("aozora"), Hidden: []Hidden{{FieldVersion, "0a1b"}},
		Groups: []StaffPolicyGroup{
			{Key: "waitlist", Title: say("キャンセル待ちとご案内", "Waitlist and offers"), Fields: []StaffPolicyField{mode, offer, quiet}},
			{Key: "cancel", Title: say("取り消し", "Cancelling"), Fields: []StaffPolicyField{cancel}},
			{Key: "limits", Title: say("人数と件数", "How many"), Fields: []StaffPolicyField{party, one}},
		},
	}
}

func policyTestPage(say staffSay) StaffPolicyPage {
	title := say("予約のルール", "Booking rules")
	return StaffPolicyPage{
		Page: staffTestPage(say, title), Staff: staffTestFrame("settings"), Title: title, BackURL: StaffSettingsURL("aozora"), BackText: say("設定", "Settings"),
		Lead:    say("お店のどの予約にも当てはまるルールです。予約の種類ごとに変えることもできます。", "These rules hold for everything you offer. Each service may have rules of its own."),
		Example: say("例は、実際の枠「朝ヨガ」12月11日（金）18:30〜19:30 で計算しています。", "The examples use a real slot: Morning yoga, Fri 11 Dec, 18:30–19:30."),
		Services: []StaffPolicyService{
			{say("朝ヨガ", "Morning yoga"), StaffServicePoliciesURL("aozora", "1"), say("この予約だけのルール：0項目", "0 rules of its own")},
			{say("とても長い名前の入会説明会とスタジオ見学", "A briefing for new members with quite a long name"), StaffServicePoliciesURL("aozora", "2"), say("この予約だけのルール：3項目", "3 rules of its own")},
		},
		CompleteURL: StaffPoliciesCompleteURL("aozora"), Form: policyTestForm(say, false),
	}
}

func policyTestCheck(say staffSay) StaffPolicyCheckPage {
	title := say("保存する前に", "Before you save")
	return StaffPolicyCheckPage{
		Page: staffTestPage(say, title), Staff: staffTestFrame("settings"), Title: title, BackURL: StaffPoliciesURL("aozora"), BackText: say("予約のルール", "Booking rules"),
		Changes: []StaffPolicyChange{
			{say("席が足りない組", "Parties that do not fit"), say("先頭の組を待つ（誰も追い越さない）", "Wait for the first: nobody passes it"), say("入れる組に先に案内する（先頭の順番は残る）", "Offer to the next that fits; the first keeps its place")},
			{say("返事をいただく時間", "Time to answer"), say("30分", "30 minutes"), say("1時間", "1 hour")},
		},
		Consequence: []StaffConsequence{
			{"open", say("これからの枠128件に、このルールが使われます。", "128 coming slots will go by these rules.")},
			{"offer", say("少なくともお待ちの1組に、すぐ席が案内されます。", "At least 1 waiting party will be offered seats at once.")},
			{"offer", say("田中 次郎様（2名）に、12月10日（木）15:00 まで", "田中 次郎 (2), until Thu 10 Dec, 15:00")},
		},
		Never:     say("すでにお客様に示した期限は、変わりません。", "A deadline that a customer has been shown never changes."),
		ActionURL: StaffPoliciesURL("aozora"), Fields: []Hidden{{FieldVersion, "0a1b"}, {"fit", "first_fit"}}, Save: say("このルールを保存する", "Save these rules"), Edit: say("書き直す", "Back to the form"),
	}
}

func policyTestSetup(say staffSay) StaffSetupPage {
	title := say("はじめの設定", "First set-up")
	trade := func(name, ja, en, jaText, enText string) StaffTrade {
		return StaffTrade{Name: say(ja, en), Text: say(jaText, enText), URL: StaffSetupTradeURL("aozora", name), Current: name == "studio"}
	}
	return StaffSetupPage{
		Page: staffTestPage(say, title), Staff: staffTestFrame("settings"), Title: title, Step: 1, BackURL: StaffSettingsURL("aozora"),
		Lead:  say("お店に近いものを選んでください。よく使われる値を入れておくので、次の画面で直せます。", "Choose what is closest to your business. You can change every proposed value on the next page."),
		Steps: []string{say("お店の種類", "Kind of business"), say("決めること", "Questions"), say("確かめる", "Check and save")},
		Trades: []StaffTrade{
			trade("studio", "スタジオ・教室", "Studio or class", "順番に案内し、前日まで取り消せます", "Seats offered in turn, cancelling until the day before"),
			trade("clinic", "クリニック・相談", "Clinic or consultation", "お一人ずつ。ふりがなと電話番号を伺います", "One person at a time, with a telephone number"),
			trade("fair", "ブライダルフェア・見学", "Wedding fair or viewing", "返事に余裕を持たせます", "More time to answer"),
		},
	}
}

func policyTestRules(say staffSay) StaffRulesPage {
	title := say("予約のルール：青空スタジオ", "Booking rules: 青空スタジオ")
	return StaffRulesPage{
		Page: staffTestPage(say, title), Staff: staffTestFrame("settings"), Lang: say("ja", "en"), Title: title, BackURL: StaffSettingsURL("aozora"),
		Asof:    say("2026年11月30日（月） 現在の設定から作りました。", "Made from the settings of Mon 30 Nov 2026."),
		Example: say("例は、12月11日（金）18:30〜19:30 に枠があるものとして計算しています。", "The examples imagine a slot on Fri 11 Dec, 18:30–19:30."),
		Parts: []StaffRulesPart{
			{say("予約", "Booking"), []StaffRule{{Text: say("1回の予約は4名まで。", "One booking is for up to 4.")}, {Text: say("受付は、開始の60日前から、始まるまでです。", "Booking is open from 60 days before the start, until it starts."), Example: say("12月11日（金）18:30 の枠：10月12日（月）18:30 から", "Slot of Fri 11 Dec, 18:30: from Mon 12 Oct, 18:30")}}},
			{say("電話を受けたとき", "When somebody calls"), []StaffRule{{Text: say("空席があれば、その場で予約を取ります。", "If a seat is free, book it on the spot.")}, {Text: "折り返しの電話は <b>18時</b> まで\n03-1234-5678"}}},
			{say("満席のとき", "When it is full"), []StaffRule{{Text: say("「キャンセル待ちは、まだご予約ではありません。」", "“Being on the waitlist is not a booking yet.”"), Say: true}}},
		},
		OwnTitle: say("予約の種類ごとに違うこと", "Different by service"),
		Own:      []StaffRulesPart{{say("入会説明会", "Briefing"), []StaffRule{{Text: say("1回の予約は2名まで。", "One booking is for up to 2.")}}}},
		Others: []StaffFilter{
			{Text: say("日本語", "English"), URL: StaffRulesURL("aozora", say("ja", "en")), Current: true},
			{Text: say("英語", "Japanese"), URL: StaffRulesURL("aozora", say("en", "ja"))},
			{Text: say("お客様向けの文章", "Text for customers"), URL: StaffRulesCustomersURL("aozora")},
		},
	}
}

func policyStaffStories() []staffStory {
	return []staffStory{
		{"policies", func(say staffSay) templ.Component {
			p := policyTestPage(say)
			p.Result = &StaffResult{Title: say("ルールを保存しました", "The rules are saved"), Lines: []StaffResultLine{{Text: say("これからの枠300件に反映しました。", "300 coming slots now go by them.")}}}
			p.Left = say("これからの枠のうち12件が、まだ前のルールのままです。", "12 coming slots still have older rules.")
			return StaffPolicies(p)
		}},
		{"policies-service-bad", func(say staffSay) templ.Component {
			p := policyTestPage(say)
			p.Title, p.Services, p.Form = say("朝ヨガのルール", "Rules for Morning yoga"), nil, policyTestForm(say, true)
			cancel := &p.Form.Groups[1].Fields[0]
			cancel.Value, cancel.Err = "1.5", say("0以上の整数を入力してください。", "Type a whole number, 0 or more.")
			quiet := &p.Form.Groups[0].Fields[2]
			quiet.Until, quiet.FromErr = "21:00", say("始まりと終わりを、別の時刻にしてください。", "The beginning and the end must be different times.")
			p.Form.Errs = Errors{"cancelBefore": cancel.Err, FieldQuietFrom: quiet.FromErr}
			p.Form.Faults = []Field{{Name: FieldQuietFrom}, {Name: "cancelBefore"}}
			return StaffPolicies(p)
		}},
		{"policies-check", func(say staffSay) templ.Component { return StaffPolicyCheck(policyTestCheck(say)) }},
		{"policies-stale", func(say staffSay) templ.Component {
			p := policyTestCheck(say)
			p.Stale = true
			return StaffPolicyCheck(p)
		}},
		{"setup", func(say staffSay) templ.Component { return StaffSetup(policyTestSetup(say)) }},
		{"setup-questions", func(say staffSay) templ.Component {
			p := policyTestSetup(say)
			form := policyTestForm(say, false)
			missing := say("電話を受けたときにどうするかを選んでください。", "Choose what the counter does with a call.")
			form.Errs, form.Faults = Errors{FieldCallRule: missing}, []Field{{Name: FieldCallRule}}
			form.Call = &StaffCallForm{
				Title: say("満席の枠に電話があったら", "When somebody calls about a full slot"), Text: say("決めて紙に刷っておきます。", "Decided once and printed on the sheet."), Err: missing,
				Options: []StaffCallOption{
					{Option{Value: "waitlist", Text: say("キャンセル待ちに入れる", "Put the caller on the waitlist")}, say("メールのない方には、順番が来たら電話をします。", "Whoever has no e-mail is called when it is their turn.")},
					{Option{Value: "extra", Text: say("席を足してよい", "May add a seat")}, say("理由を書けば受けられます。", "With a reason.")},
				},
				Note: Field{Name: FieldCallNote, Label: say("そのほか、カウンターで伝えること", "Anything else the counter should say"), Type: "textarea", Max: 500, Optional: true},
			}
			p.Step, p.Form, p.Example = 2, &form, say("例は、12月11日（金）18:30〜19:30 に枠があるものとして計算しています。", "The examples imagine a slot on Fri 11 Dec, 18:30–19:30.")
			return StaffSetup(p)
		}},
		{"rules", func(say staffSay) templ.Component {
			p := policyTestRules(say)
			p.SetupURL = StaffSetupURL("aozora")
			return StaffRules(p)
		}},
		{"rules-customers", func(say staffSay) templ.Component {
			title := say("お客様向けの文章", "Text for customers")
			return StaffRulesText(StaffRulesTextPage{
				Page: staffTestPage(say, title), Staff: staffTestFrame("settings"), Title: title, Lead: say("枠の中を全部選んでコピーします。", "Select all in a box and copy it."), BackURL: StaffRulesURL("aozora", ""),
				Texts: []StaffRulesInLang{
					{Lang: "ja", Label: say("日本語", "Japanese"), Text: "青空スタジオ　ご予約について\n\n■ 予約\n・1回のご予約は4名様までです。\n", Rows: 10},
					{Lang: "en", Label: say("英語", "English"), Text: "Booking at 青空スタジオ\n\nBooking\n- One booking is for up to 4.\n", Rows: 10},
				},
			})
		}},
	}
}
