package views

import (
	"net/url"

	"github.com/a-h/templ"
)

func init() { moreStaffStories = append(moreStaffStories, findStaffStories) }

func findTestChecked(say staffSay, state, title, text string) StaffCheckedPage {
	f := staffTestFrame("checkin")
	return StaffCheckedPage{
		Page: staffTestPage(say, title), Staff: f, State: state, Title: title, Text: text, Number: "K7WQ2PD", Name: "佐々木 みどり", Kana: "ササキ ミドリ", Party: 2,
		When:    When{Date: say("2026年10月8日（木）", "Thu 8 Oct 2026"), Time: say("18:30〜19:30", "18:30–19:30"), Start: "2026-10-08T18:30:00+09:00"},
		Service: say("朝ヨガ", "Morning yoga"), Resource: say("スタジオA", "Studio A"), Phone: "090-1234-5678", PhoneURL: "tel:+819012345678",
		NextURL: StaffCheckinURL("aozora"), SlotURL: StaffSlotURL("aozora", "4"),
	}
}

func findTestExports(say staffSay) StaffExportsPage {
	filter := url.Values{FieldExportFrom: {"2026-10-01"}, FieldExportTo: {"2026-10-31"}}
	return StaffExportsPage{
		Page: staffTestPage(say, say("CSVで書き出す", "Export as CSV")), Staff: staffTestFrame("settings"), ActionURL: StaffExportsURL("aozora"), From: "2026-10-01", To: "2026-10-31",
		Services:  []Option{{Text: say("すべてのサービス", "All services")}, {Value: "1", Text: say("朝ヨガ", "Morning yoga")}},
		Resources: []Option{{Text: say("すべて", "All")}, {Value: "1", Text: say("スタジオA", "Studio A")}},
		States:    []Option{{Text: say("予約と取消のすべて", "Booked and cancelled")}, {Value: "confirmed", Text: say("予約（取消を除く）", "Booked, not cancelled")}},
		Range:     say("2026年10月1日（木）〜2026年10月31日（土）", "Thu 1 Oct 2026 – Sat 31 Oct 2026"),
		Files: []StaffExportFile{
			{Name: "reservations", Title: say("予約", "Bookings"), Count: say("1,132行", "1,132 lines"), Text: say("1行に1件。お名前・連絡先・状態・来店・質問への回答。", "A line each: name, contact, state, attendance, answers to your questions."), URL: StaffExportURL("aozora", ExportReservations, filter)},
			{Name: "waitlist", Title: say("キャンセル待ち", "Waitlist"), Count: say("0行", "0 lines"), Text: say("1行に1組。終わったものも含みます。「予約の状態」の条件は使いません。", "A line for each party, past ones too. The state of bookings is not applied."), Empty: true},
			{Name: "customers", Title: say("お客様", "Customers"), Count: say("604行", "604 lines"), Text: say("1行にお一人。この条件の予約がある方の、回数・来店・来店なし。", "A line for each person with such a booking: how often they booked, came and did not come."), URL: StaffExportURL("aozora", ExportCustomers, filter)},
		},
	}
}

func findStaffStories() []staffStory {
	other := StaffCheckinOther{URL: StaffCheckinNumberURL("aozora", "M3RT8XA"), Time: "16:00〜17:00", Service: "ピラティス入門", Party: 2, Arrived: true}
	return []staffStory{
		{"checkin", func(say staffSay) templ.Component {
			return StaffCheckin(StaffCheckinPage{Page: staffTestPage(say, say("来店受付", "Check-in")), Staff: staffTestFrame("checkin"), ActionURL: StaffCheckinURL("aozora")})
		}},
		{"checkin_unknown", func(say staffSay) templ.Component {
			return StaffCheckin(StaffCheckinPage{
				Page: staffTestPage(say, say("来店受付", "Check-in")), Staff: staffTestFrame("checkin"), ActionURL: StaffCheckinURL("aozora"), Number: "k7wq2p",
				Err: say("この番号の予約は見つかりません。番号をもう一度ご確認いただくか、上の検索でお名前からお探しください。", "No booking has this number. Check it once more, or look for the name in the search above."),
			})
		}},
		{"checkin_ready", func(say staffSay) templ.Component {
			v := findTestChecked(say, "ready", say("本日のご予約です", "Booked for today"), say("お名前と人数をご確認のうえ、下のボタンを押してください。", "Check the name and how many they are, then press the button."))
			v.ActionURL, v.Note = StaffCheckinNumberURL("aozora", v.Number), say("膝に不安があるので、椅子を使いたい", "A weak knee: would like a chair")
			v.Answers = []Answer{{Question: say("マットのレンタル", "Rent a mat"), Text: say("はい", "Yes")}}
			v.Others, v.Arrived = []StaffCheckinOther{other}, say("この枠の来店：4名／予約 9名", "Arrived for this slot: 4 of 9")
			return StaffChecked(v)
		}},
		{"checkin_done", func(say staffSay) templ.Component {
			v := findTestChecked(say, "done", say("佐々木 みどり様の来店を記録しました", "佐々木 みどり is checked in"), say("名簿にも反映されています。", "The roster shows it too."))
			v.Arrived = say("この枠の来店：6名／予約 9名", "Arrived for this slot: 6 of 9")
			return StaffChecked(v)
		}},
		{"checkin_arrived", func(say staffSay) templ.Component {
			return StaffChecked(findTestChecked(say, "arrived", say("すでに来店済みです", "Already checked in"), say("この予約は受付が済んでいます。取り消す場合は名簿から直せます。", "This booking has been checked in before. The roster is where to take that back.")))
		}},
		{"checkin_other_day", func(say staffSay) templ.Component {
			v := findTestChecked(say, "other_day", say("本日のご予約ではありません", "Not for today"), say("予約日は2026年10月8日（木）です。来店は記録していません。", "This booking is for Thu 8 Oct 2026. Nobody was checked in."))
			o := other
			o.Arrived = false
			v.Others = []StaffCheckinOther{o}
			return StaffChecked(v)
		}},
		{"checkin_cancelled", func(say staffSay) templ.Component {
			return StaffChecked(findTestChecked(say, "cancelled", say("この予約は取り消されています", "This booking was cancelled"), say("10月6日（火）14:12に取り消されました。空きがあれば、枠の画面から改めてお取りできます。", "That was at Tue 6 Oct, 14:12. If there is room, book again on the page of the slot.")))
		}},
		{"checkin_held", func(say staffSay) templ.Component {
			v := findTestChecked(say, "held", say("予約はまだ確定していません", "Not confirmed yet"), say("お客様がお申し込みの途中です。確定のボタンまで進んでいただくと受付できます。", "The guest is still filling in the form. Once they have confirmed, they can be checked in."))
			v.Name, v.Kana, v.Phone = say("（入力中）", "(being filled in)"), "", ""
			return StaffChecked(v)
		}},
		{"exports", func(say staffSay) templ.Component { return StaffExports(findTestExports(say)) }},
		{"exports_bad", func(say staffSay) templ.Component {
			v := findTestExports(say)
			v.To, v.Range, v.Files = "2026-09-01", "", nil
			v.Errs = Errors{FieldExportTo: say("終了日は開始日と同じか、後の日にしてください。", "The last day must not come before the first.")}
			return StaffExports(v)
		}},
	}
}
