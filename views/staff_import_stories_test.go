package views

import "github.com/a-h/templ"

func init() { moreStaffStories = append(moreStaffStories, importStaffStories) }

func importTestPage(say staffSay) StaffImportPage {
	return StaffImportPage{
		Page: staffTestPage(say, say("枠・予約の取り込み", "Import slots or bookings")), Staff: staffTestFrame("settings"), BackURL: StaffSettingsURL("aozora"), ActionURL: StaffImportURL("aozora"),
		Most: say("5MBまで、1,000行まで。", "Up to 5 MB and 1,000 lines."),
		Kinds: []StaffImportKind{
			{
				Value: "slots", Title: say("枠", "Slots"), Text: say("日時・場所・定員の一覧から、新しい枠を作ります。", "A list of times, resources and seats becomes new slots."), Checked: true, TemplateURL: StaffImportTemplateURL("aozora", "slots"),
				Columns: []StaffImportColumn{{say("日付", "Date"), say("必須。2027-03-14、2027/3/14、2027年3月14日", "Needed. 2027-03-14 or 2027/3/14")}, {say("開始", "Start"), say("必須。9:00、09:00、24:00", "Needed. 9:00, 09:00 or 24:00")}},
			},
			{
				Value: "bookings", Title: say("予約", "Bookings"), Text: say("すでにある枠に、お客様の予約を入れます。", "Your customers are booked into slots that exist."), TemplateURL: StaffImportTemplateURL("aozora", "bookings"),
				Columns: []StaffImportColumn{{say("名前", "Name"), say("必須。お客様の名前", "Needed. The customer’s name.")}, {say("メールアドレス", "E-mail"), say("ないお客様には、メールは届きません。", "Without one, nobody is written to.")}},
			},
		},
	}
}

func importTestLines(say staffSay, url bool) []StaffImportLine {
	lines := []StaffImportLine{
		{Line: "2", Text: say("2027年3月12日（金）19:00〜20:00 朝ヨガ／スタジオA 定員8名", "Fri 12 Mar 2027, 19:00–20:00, Morning yoga, Studio A: 8 seats")},
		{Line: "3", Text: say("2027年3月14日（日）03:30〜04:30 朝ヨガ／スタジオA 定員8名", "Sun 14 Mar 2027, 03:30–04:30, Morning yoga, Studio A: 8 seats"), Notes: []string{say("この日は時計が進み、02:30がありません。03:30に始まります。", "The clock leaves out 02:30 that day: it starts at 03:30."), say("休業日です。", "A closed day.")}},
	}
	for i := range lines {
		if url {
			lines[i].URL = StaffSlotURL("aozora", lines[i].Line)
		}
	}
	return lines
}

func importTestProblems(say staffSay) []StaffImportProblem {
	return []StaffImportProblem{
		{Line: "4", Column: say("日付", "Date"), Value: "2027-02-30", Text: say("日付として読めません（例：2027-03-14、2027年3月14日）。", "Not a date such as 2027-03-14.")},
		{Line: "5", Text: say("引用符（\"）の対応が合っていません。", "A quotation mark (\") is not closed, or stands in the middle.")},
		{Line: "1,001", Column: say("メールアドレス", "E-mail"), Value: "=HYPERLINK(\"https://a.very.long.address.that.goes.on.and.on.example/…", Text: say("メールアドレスの形をご確認ください（例：hanako@example.jp）。", "Please check the e-mail address.")},
	}
}

func importStaffStories() []staffStory {
	return []staffStory{
		{"import", func(say staffSay) templ.Component { return StaffImport(importTestPage(say)) }},
		{"import-errors", func(say staffSay) templ.Component {
			p := importTestPage(say)
			p.FileErr, p.TextErr = say("文字を読み取れませんでした。CSV形式（コンマ区切り）で保存し直してください。", "This can’t be read as text. Save it as CSV and try again."), say("1行目に列の名前がありません。見本ファイルと見比べてください。", "The first line doesn’t name the columns. Compare it with the template.")
			p.Text, p.Problem = "a\tb\n<b>\t2\n", say("取り込む行がわかりませんでした。もう一度、内容を確認してください。", "It is not clear which lines to import. Please check the file again.")
			return StaffImport(p)
		}},
		{"import-check", func(say staffSay) templ.Component {
			return StaffImportCheck(StaffImportCheckPage{
				Page: staffTestPage(say, say("枠5行を確認しました", "5 lines of slots checked")), Staff: staffTestFrame("settings"), BackURL: StaffImportKindURL("aozora", "slots"), Title: say("枠5行を確認しました", "5 lines of slots checked"),
				Read:    say("まだ何も登録していません。文字コードはShift_JIS、区切りはコンマとして読みました。", "Nothing has been written yet. Read as Shift_JIS, separated by commas."),
				Before:  say("このファイルは2027年3月1日（月）12:00に取り込まれています。そのとき登録された行は、もう一度登録されることはありません。", "This very file was imported on Mon 1 Mar 2027, 12:00. What was made then is not made again."),
				Ignored: say("次の列は使いません：ひとこと", "These columns are not used: Remark"),
				Good:    StaffImportCount{2, say("行を取り込めます", "lines can be imported")}, There: StaffImportCount{1, say("行は登録済みです", "line is there already")}, Bad: StaffImportCount{3, say("行に直すところがあります", "lines need mending")},
				Problems: importTestProblems(say), Lines: importTestLines(say, false), Done: importTestLines(say, true)[:1],
				Consequence: []StaffConsequence{{"open", say("新しい枠を2件作ります。受付期間に入っている枠は、すぐに予約できるようになります。", "2 new slots. Those within the booking window can be booked at once.")}, {"warn", say("直すところのある3行は取り込みません。", "3 lines that need mending are left out.")}},
				RunURL:      StaffImportRunURL("aozora"), Fields: []Hidden{{FieldKind, "slots"}, {FieldImportLines, "2-3"}, {FieldImportText, "a,b\n\"1\",<b>\n"}}, Submit: say("2行を取り込む", "Import the 2 good lines"),
			})
		}},
		{"import-nothing", func(say staffSay) templ.Component {
			return StaffImportCheck(StaffImportCheckPage{
				Page: staffTestPage(say, say("予約3行を確認しました", "3 lines of bookings checked")), Staff: staffTestFrame("settings"), BackURL: StaffImportKindURL("aozora", "bookings"), Title: say("予約3行を確認しました", "3 lines of bookings checked"),
				Read: say("まだ何も登録していません。区切りはタブとして読みました。", "Nothing has been written yet. Read as separated by tabs."),
				Good: StaffImportCount{0, say("行を取り込めます", "lines can be imported")}, Bad: StaffImportCount{3, say("行に直すところがあります", "lines need mending")}, Problems: importTestProblems(say),
			})
		}},
		{"import-done", func(say staffSay) templ.Component {
			return StaffImportDone(StaffImportDonePage{
				Page: staffTestPage(say, say("枠を2件作りました", "2 slots were made")), Staff: staffTestFrame("settings"), BackURL: StaffSettingsURL("aozora"), Title: say("枠を2件作りました", "2 slots were made"),
				State: "done", Made: importTestLines(say, true), There: importTestLines(say, true)[:1], AgainURL: StaffImportKindURL("aozora", "slots"),
			})
		}},
		{"import-partly", func(say staffSay) templ.Component {
			return StaffImportDone(StaffImportDonePage{
				Page: staffTestPage(say, say("予約を2件登録しました", "2 bookings were made")), Staff: staffTestFrame("settings"), BackURL: StaffSettingsURL("aozora"), Title: say("予約を2件登録しました", "2 bookings were made"),
				State: "partly", Failed: []StaffImportProblem{{Line: "7", Column: say("人数", "Party"), Value: "2", Text: say("席が足りません（空きは1席）。", "Not enough seats: 1 is free.")}},
				Made: importTestLines(say, true), AgainURL: StaffImportKindURL("aozora", "bookings"),
			})
		}},
	}
}
