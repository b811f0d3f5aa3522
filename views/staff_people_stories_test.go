package views

import "github.com/a-h/templ"

func init() { moreStaffStories = append(moreStaffStories, peopleStaffStories) }

func storyPeople(say staffSay) StaffPeoplePage {
	return StaffPeoplePage{
		Page: staffTestPage(say, say("お客様", "Customers")), Staff: staffTestFrame("people"), ActionURL: StaffPeopleURL("aozora"),
		People: []StaffPersonItem{
			{URL: StaffPersonURL("aozora", "1"), Name: "佐藤 はな", Kana: "サトウ ハナ", Email: "hana@nowhere.example", Phone: "090-1234-5678", Facts: []string{say("予約 12件", "12 bookings"), say("10月8日（木） に予約", "last booked Thu 8 Oct")}, NoShows: say("来店なし 2回", "2 no-shows")},
			{URL: StaffPersonURL("aozora", "2"), Name: "Zoë <Z> & Co", Email: "a.very.long.address.that.goes.on.and.on@department.of.bookings.nowhere.example", Facts: []string{say("予約 1件", "1 booking"), say("10月8日（木） に予約", "last booked Thu 8 Oct")}},
			{URL: StaffPersonURL("aozora", "3"), Name: "髙橋 𠮷郎", Kana: "タカハシ ヨシロウ", Email: "yoshiro@nowhere.example", Phone: "03-1234-5678", Facts: []string{say("予約 3件", "3 bookings"), say("10月7日（水） に予約", "last booked Wed 7 Oct")}},
		},
		OlderURL: StaffPeopleOlderURL("aozora", "2026-10-07T00:00:00Z", "3"),
	}
}

func storyPersonLines(say staffSay) (ahead, past []StaffPersonLine) {
	yoga := say("朝ヨガ", "Morning yoga")
	ahead = []StaffPersonLine{
		{ID: "1", URL: StaffSlotURL("aozora", "4") + "#reservation-1", When: say("2026年10月10日（土）10:00〜11:00", "Sat 10 Oct 2026, 10:00–11:00"), Service: yoga, Party: 2, Number: "K7M2Q9F", State: "confirmed", Note: say("窓側を希望", "A place at the window, please")},
		{ID: "2", URL: StaffSlotURL("aozora", "5") + "#entry-2", When: say("2026年10月12日（月）18:30〜19:30", "Mon 12 Oct 2026, 18:30–19:30"), Service: yoga, Party: 1, State: "offered"},
	}
	past = []StaffPersonLine{
		{ID: "3", URL: StaffSlotURL("aozora", "6"), When: say("2026年10月1日（木）10:00〜11:00", "Thu 1 Oct 2026, 10:00–11:00"), Service: yoga, Party: 2, Number: "A2B3C4D", State: "confirmed", Attendance: "arrived"},
		{ID: "4", URL: StaffSlotURL("aozora", "7"), When: say("2026年9月24日（木）10:00〜11:00", "Thu 24 Sep 2026, 10:00–11:00"), Service: yoga, Party: 1, Number: "E5F6G7H", State: "confirmed", Attendance: "no_show"},
		{ID: "5", URL: StaffSlotURL("aozora", "8"), When: say("2026年9月17日（木）10:00〜11:00", "Thu 17 Sep 2026, 10:00–11:00"), Service: yoga, Party: 4, Number: "J8K9L2M", State: "cancelled", Text: say("ご本人がキャンセル（開始の3時間20分前）", "Cancelled by the customer, 3 h 20 min before the start")},
		{ID: "6", URL: StaffSlotURL("aozora", "9"), When: say("2026年9月10日（木）10:00〜11:00", "Thu 10 Sep 2026, 10:00–11:00"), Service: yoga, Party: 1, State: "lapsed", Text: say("期限までに返事がありませんでした", "Did not answer in time")},
	}
	return ahead, past
}

func storyPerson(say staffSay) StaffPersonPage {
	ahead, past := storyPersonLines(say)
	return StaffPersonPage{
		Page: staffTestPage(say, "佐藤 はな"), Staff: staffTestFrame("people"), BackURL: StaffPeopleURL("aozora"), Name: "佐藤 はな", Kana: "サトウ ハナ", Email: "hana@nowhere.example",
		Phone: "090-1234-5678", PhoneURL: "tel:+819012345678", Language: say("日本語", "Japanese"), Others: []string{say("佐藤 花・03-1234-5678（9月10日（木））", "佐藤 花, 03-1234-5678 (Thu 10 Sep)")},
		Counts: []StaffPersonCount{
			{Label: say("予約", "Bookings"), Value: "12", Note: say("うち これから 1件", "1 ahead")},
			{Label: say("来店", "Visits"), Value: "8", Note: say("未記入 1件", "1 not noted")},
			{Label: say("来店なし", "No-shows"), Value: "1", Warn: true},
			{Label: say("本人のキャンセル", "Cancelled by them"), Value: "2", Note: say("うち 直前 2件", "2 of them late"), Warn: true},
			{Label: say("お店のキャンセル", "Cancelled by us"), Value: "0"},
			{Label: say("キャンセル待ち", "Waits"), Value: "3", Note: say("うち 案内 2件", "2 offers")},
			{Label: say("案内に返事なし", "Offers unanswered"), Value: "1"},
		},
		Upcoming: ahead, Past: past, OlderURL: StaffPersonOlderURL("aozora", "1", "2026-09-10T01:00:00Z", "6"),
		LinksURL: StaffPersonLinksURL("aozora", "1"), ExportURL: StaffPersonExportURL("aozora", "1"), EraseURL: StaffPersonEraseURL("aozora", "1"),
	}
}

func storyErase(say staffSay) StaffErasePage {
	ahead, _ := storyPersonLines(say)
	return StaffErasePage{
		Page: staffTestPage(say, say("佐藤 はな 様の個人情報を消去", "Erase the personal data of 佐藤 はな")), Staff: staffTestFrame("people"), BackURL: StaffPersonURL("aozora", "1"), ActionURL: StaffPersonEraseURL("aozora", "1"),
		Name: "佐藤 はな", Kana: "サトウ ハナ", Upcoming: ahead, Bookings: 1,
		Consequence: []StaffConsequence{
			{Kind: "offer", Text: say("田中 次郎 様に 2席が、10月8日（木）15:10 まで案内されます。", "2 seats are offered to 田中 次郎 until Thu 8 Oct, 15:10.")},
			{Kind: "warn", Text: say("消去するご本人には、何も送られません。必要なら先に伝えてください。", "Nothing is sent to the customer. If they ought to know, tell them first.")},
		},
		Goes:  []string{say("予約とキャンセル待ち 15件のお名前・ふりがな・メール・電話・メモ・質問への回答", "Name, reading, e-mail, phone, notes and answers, in 15 bookings and waits"), say("送ったメールの宛先と本文", "Address and text of the mails to them")},
		Stays: []string{say("人数・日時・来店の有無・キャンセルの記録", "Sizes, times, attendance and cancellations")},
	}
}

func peopleStaffStories() []staffStory {
	return []staffStory{
		{"people", func(say staffSay) templ.Component { return StaffPeople(storyPeople(say)) }},
		{"people-none", func(say staffSay) templ.Component {
			p := storyPeople(say)
			p.People, p.OlderURL = nil, ""
			return StaffPeople(p)
		}},
		{"people-found", func(say staffSay) templ.Component {
			p := storyPeople(say)
			p.Searched, p.Query, p.OlderURL, p.More = true, `"佐藤" <b>`, "", true
			return StaffPeople(p)
		}},
		{"people-problem", func(say staffSay) templ.Component {
			p := storyPeople(say)
			p.Problem, p.People, p.OlderURL = say("探す言葉を入力してください。", "Type what to look for."), nil, ""
			return StaffPeople(p)
		}},
		{"person", func(say staffSay) templ.Component { return StaffPerson(storyPerson(say)) }},
		{"person-alone", func(say staffSay) templ.Component {
			p := storyPerson(say)
			p.Email, p.Alone, p.Others, p.LinksURL, p.Past, p.OlderURL, p.EraseURL, p.ExportURL = "", true, nil, "", nil, "", "", ""
			p.Upcoming = p.Upcoming[:1]
			return StaffPerson(p)
		}},
		{"person-erased", func(say staffSay) templ.Component {
			p := storyPerson(say)
			p.Name, p.Kana, p.Email, p.Phone, p.Language, p.Others = say("（消去されたお客様）", "(erased customer)"), "", "", "", "", nil
			p.Erased = say("2026年10月8日（木） に個人情報を消去しました。件数と記録だけが残っています。", "The personal data was erased on Thu 8 Oct 2026. Only counts and history remain.")
			p.Upcoming, p.LinksURL, p.ExportURL, p.EraseURL, p.OlderURL = nil, "", "", "", ""
			return StaffPerson(p)
		}},
		{"person-erase", func(say staffSay) templ.Component { return StaffErase(storyErase(say)) }},
		{"person-erase-refused", func(say staffSay) templ.Component {
			p := storyErase(say)
			p.CancelErr = say("これからの予約があります。先にキャンセルするか、ここにチェックを入れてください。", "There are bookings ahead. Cancel them first, or tick this box.")
			p.Reason = StaffReasonForm{Reason: "<依頼>", Err: say("理由を入力してください。", "Enter a reason.")}
			return StaffErase(p)
		}},
		{"person-export", func(say staffSay) templ.Component {
			return StaffPersonExport(StaffPersonExportPage{
				Page: staffTestPage(say, say("保存しているお客様の情報", "What is stored about this customer")), Staff: staffTestFrame("people"), BackURL: StaffPersonURL("aozora", "1"),
				FileURL: StaffPersonExportFileURL("aozora", "1"), Made: say("青空スタジオ（2026年10月8日（木）14:38 現在）", "青空スタジオ, as of Thu 8 Oct 2026, 14:38"),
				Groups: []StaffExportGroup{
					{Title: say("予約", "Bookings"), Records: []StaffExportRecord{{Title: say("2026年10月10日（土）10:00〜11:00 朝ヨガ", "Sat 10 Oct 2026, 10:00–11:00 Morning yoga"), Fields: []StaffExportField{
						{say("予約番号", "Number"), "K7M2Q9F"},
						{say("お名前", "Name"), "佐藤 はな"},
						{say("メール", "E-mail"), "hana@nowhere.example"},
						{say("メモ", "Note"), "<b>窓側</b>"},
						{say("最後の操作のアドレス", "Address of the last press"), "2001:db8:85a3::8a2e:370:7334"},
						{say("そのブラウザ", "Its browser"), "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1"},
					}}}},
					{Title: say("キャンセル待ち", "Waits")},
					{Title: say("送ったメール", "Messages"), Records: []StaffExportRecord{{Title: say("予約の確認", "Booking confirmed"), Fields: []StaffExportField{{say("宛先", "To"), "hana@nowhere.example"}}, Body: "佐藤 はな 様\n\nhttps://booking.example/aozora/reservations/…"}}},
				},
			})
		}},
	}
}
