package views

import (
	"strconv"

	"github.com/a-h/templ"

	"holdfast/static"
	"holdfast/views/i18n"
)

func init() { moreStaffStories = append(moreStaffStories, serviceStaffStories) }

const storyService = "11111111-1111-4111-8111-111111111111"

func storyLast(say staffSay) StaffLastChange {
	return StaffLastChange{Text: say("最終更新 2026年10月7日（水）18:02（山口 玲奈）", "Last changed Wed 7 Oct 2026, 18:02 by 山口 玲奈"), URL: StaffChangesURL("aozora")}
}

func storyText(say staffSay, name, ja, en string) []StaffFormField {
	lang := func(in, ja, en string) string { return say(ja, en) + say("（", " (") + in + say("）", ")") }
	f := map[string][2]string{"name": {"名前", "Name"}, "description": {"説明", "Description"}, "price": {"料金", "Price"}, "note": {"お客様へのひとこと", "Note for customers"}, "label": {"質問文", "Question"}, "hint": {"補足", "Explanation"}, "alt": {"写真の説明", "What the picture shows"}}[name]
	pair := []StaffFormField{
		{Field: Field{Name: name + "_ja", Label: lang(say("日本語", "Japanese"), f[0], f[1]), Type: "text", Value: ja, Max: 100, Lang: i18n.JA}},
		{Field: Field{Name: name + "_en", Label: lang(say("英語", "English"), f[0], f[1]), Type: "text", Value: en, Max: 100, Lang: i18n.EN}},
	}
	if name == "description" {
		pair[0].Type, pair[1].Type = "textarea", "textarea"
	}
	if en == "" && ja != "" {
		pair[1].Hint = say("空欄のときは、日本語の内容をそのまま表示します。", "While this is empty, the Japanese text is shown.")
	}
	return pair
}

func storyServiceForm(say staffSay) StaffSettingForm {
	return StaffSettingForm{
		ActionURL: StaffServiceURL("aozora", storyService), Version: "3", Submit: say("保存する", "Save"), BackURL: StaffServicesURL("aozora"),
		Groups: []StaffFormGroup{
			{
				Title: say("お客様が読む内容", "What customers read"), Text: say("日本語と英語のどちらかだけでもかまいません。空欄の言語には、もう一方をそのまま表示します。", "One language is enough: where the other is empty, the same text is shown."),
				Rows: [][]StaffFormField{
					storyText(say, "name", "朝ヨガ", "Morning yoga"), storyText(say, "description", "一日のはじめに、ゆっくり体を伸ばします。\n初めての方もどうぞ。", ""), storyText(say, "price", "2,500円（税込）", "¥2,500"),
				},
			},
			{
				Title: say("枠の目安", "For new slots"), Text: say("新しく作る枠の初期値です。作成済みの枠は変わりません。", "These are the starting values of new slots. Slots that exist stay as they are."),
				Rows: [][]StaffFormField{
					{
						{Field: Field{Name: FieldMinutes, Label: say("所要時間（分）", "Duration (minutes)"), Type: "text", Value: "60", Hint: say("1回の長さ。例: 60", "Length of one slot, such as 60.")}},
						{Field: Field{Name: FieldCapacity, Label: say("定員", "Seats"), Type: "text", Value: "10", Hint: say("1回に受け付ける人数。", "How many people one slot takes.")}},
					},
					{{Field: Field{Name: FieldSlug, Label: say("アドレスに使う名前", "Name in addresses"), Hint: say("枠があるため変更できません。", "It can’t be changed because slots exist.")}, Fixed: "morning-yoga"}},
				},
			},
		},
	}
}

func storyServicePage(say staffSay) StaffServicePage {
	return StaffServicePage{
		StaffSettingPage: StaffSettingPage{
			Page: staffTestPage(say, say("朝ヨガ", "Morning yoga")), Staff: staffTestFrame("settings"), BackURL: StaffServicesURL("aozora"), BackText: say("サービス", "Services"),
			Title: say("朝ヨガ", "Morning yoga"), Lead: say("これからの枠 12・予約済み 48席", "12 slots ahead, seats taken: 48"), Form: storyServiceForm(say), Last: storyLast(say),
		},
		PictureURL: StaffServicePictureURL("aozora", storyService), QuestionsURL: StaffQuestionsURL("aozora", storyService),
		Questions: []string{say("ヨガの経験を教えてください", "How experienced are you?"), say("マットは必要ですか", "Do you need a mat?")}, PoliciesURL: StaffServicePoliciesURL("aozora", storyService),
		PublicURL: "/aozora?service=morning-yoga", Public: "booking.example/aozora?service=morning-yoga", RetireURL: StaffServiceRetireURL("aozora", storyService),
	}
}

func storyServices(say staffSay) StaffServicesPage {
	row := func(id, ja, en, price string, rank int) StaffServiceRow {
		r := StaffServiceRow{
			ID: id, Name: say(ja, en), Other: say(en, ja), Facts: []string{say("1時間", "1 h"), say("定員10名", "10 seats"), price}, Ahead: say("これからの枠 12・予約済み 48席", "12 slots ahead, seats taken: 48"),
			URL: StaffServiceURL("aozora", id), PublicURL: "/aozora?service=" + id, OrderURL: StaffServiceOrderURL("aozora", id), Version: "1", Rank: rank,
		}
		return r
	}
	first, last := row("yoga", "朝ヨガ", "Morning yoga", "2,500円", 1), row("briefing", "入会説明会", "Briefing for new members", say("無料", "free"), 3)
	first.First, last.Final = true, true
	first.Picture = &Picture{URL: static.URL("mark.svg"), Alt: "", Width: 96, Height: 64}
	middle := row("pilates", "ピラティス入門", "Pilates for beginners", "3,000円", 2)
	middle.Missing = say("英語の名前がありません。もう一方の名前を表示します。", "No name in English: the other one is shown.")
	gone := row("gone", "夏の特別講座", "Summer special", "5,000円", 4)
	gone.OrderURL, gone.PublicURL, gone.RestoreURL, gone.Ahead = "", "", StaffServiceRestoreURL("aozora", "gone"), say("これからの枠はありません", "No slots ahead")
	return StaffServicesPage{
		Page: staffTestPage(say, say("サービス", "Services")), Staff: staffTestFrame("settings"), NewURL: StaffNewServiceURL("aozora"),
		Services: []StaffServiceRow{first, middle, last}, Retired: []StaffServiceRow{gone}, Last: storyLast(say),
	}
}

func storyClosed(say staffSay) StaffClosedPage {
	day := func(day, ja, en, holidayJA, holidayEN string, closed bool, note string) StaffClosedDay {
		d := StaffClosedDay{Day: day, Date: say(ja, en), Closed: closed, Note: note}
		if holidayJA != "" {
			d.Holiday = say(holidayJA, holidayEN)
		}
		return d
	}
	slots := day("2026-10-12", "2026年10月12日（月）", "Mon 12 Oct 2026", "スポーツの日", "Sports Day", true, "")
	slots.Slots, slots.SlotsURL = say("枠が2件残っています（予約 5席）", "2 slots still stand (seats taken: 5)"), StaffDayURL("aozora", "2026-10-12")
	note := day("2026-12-29", "2026年12月29日（火）", "Tue 29 Dec 2026", "", "", true, say("年末年始のお休みをいただきます", "Closed over the New Year"))
	note.Other = say("Closed over the New Year", "年末年始のお休みをいただきます")
	form := StaffSettingForm{ActionURL: StaffClosedURL("aozora"), Submit: say("休業日にする", "Add closed days"), Groups: []StaffFormGroup{{
		Title: say("休業日を追加", "Add closed days"), Text: say("すでに休業日の日は、ひとことだけが新しくなります。", "A day that is closed already gets the new note."),
		Rows: [][]StaffFormField{
			{{Field: Field{Name: FieldFrom, Label: say("いつ（最初の日）", "Day (or first day)"), Type: "date"}}},
			{{Field: Field{Name: FieldUntil, Label: say("いつまで", "Last day"), Type: "date", Optional: true, Hint: say("続けて休むときだけ。一度に62日まで。", "For several days in a row, at most 62 at once.")}}},
		},
	}}}
	for _, f := range storyText(say, "note", "", "") {
		f.Optional = true
		form.Groups[0].Rows = append(form.Groups[0].Rows, []StaffFormField{f})
	}
	return StaffClosedPage{
		Page: staffTestPage(say, say("2026年の休業日", "Closed days 2026")), Staff: staffTestFrame("settings"), Title: say("2026年の休業日", "Closed days 2026"), Year: "2026",
		PrevYear: "2025", PrevURL: StaffClosedYearURL("aozora", "2025"), NextYear: "2027", NextURL: StaffClosedYearURL("aozora", "2027"), RemoveURL: StaffClosedRemoveURL("aozora"),
		HolidaysURL: StaffHolidaysYearURL("aozora", "2026"), HolidayText: say("2026年の祝日のうち、2日がまだ休業日になっていません。", "2 public holidays of 2026 are not closed days."),
		Months: []StaffClosedMonth{
			{Title: say("2026年10月", "October 2026"), Days: []StaffClosedDay{slots}},
			{Title: say("2026年11月", "November 2026"), Days: []StaffClosedDay{day("2026-11-03", "2026年11月3日（火）", "Tue 3 Nov 2026", "文化の日", "Culture Day", false, "")}},
			{Title: say("2026年12月", "December 2026"), Days: []StaffClosedDay{note}},
		},
		Form: form, Last: storyLast(say),
	}
}

func storyQuestion(say staffSay) StaffQuestionPage {
	p := StaffQuestionPage{
		StaffSettingPage: StaffSettingPage{
			Page: staffTestPage(say, say("質問を編集", "Edit the question")), Staff: staffTestFrame("settings"), BackURL: StaffQuestionsURL("aozora", storyService),
			BackText: say("「朝ヨガ」の質問", "Questions of “Morning yoga”"), Title: say("質問を編集", "Edit the question"), Last: storyLast(say),
			Form: StaffSettingForm{ActionURL: StaffQuestionURL("aozora", storyService, "mat"), Version: "4", Submit: say("保存する", "Save"), BackURL: StaffQuestionsURL("aozora", storyService), Groups: []StaffFormGroup{
				{Title: say("質問", "The question"), Rows: [][]StaffFormField{
					{{Field: Field{Name: FieldKind, Label: say("答え方", "How it is answered"), Hint: say("答え方は変えられません。", "Fixed.")}, Fixed: say("選択肢から選ぶ", "By choosing one answer")}},
					storyText(say, "label", "マットは必要ですか", "Do you need a mat?"), storyText(say, "hint", "", ""),
				}},
				{Title: say("答え", "The answer"), Rows: [][]StaffFormField{
					{{Field: Field{Name: FieldRequired, Label: say("回答を必須にする", "It must be answered")}, Check: true, Checked: true}},
					{{Field: Field{Name: FieldOnJoin, Label: say("キャンセル待ちのときにも聞く", "Also ask those who join the waitlist"), Hint: say("空席の案内を受けた方は、そのまま確定できます。", "Whoever is offered a seat can accept at once.")}, Check: true}},
				}},
			}},
		},
		ShowOptions: true, More: true,
	}
	for i, o := range [][2]string{{"持参する", "I bring my own"}, {"借りる（200円）", "I rent one (¥200)"}, {"", ""}} {
		n := strconv.Itoa(i + 1)
		p.Options = append(p.Options, StaffOptionRow{
			Number: i + 1, ID: Hidden{"option_" + n + "_id", "q" + n}, First: i == 0, Final: i == 2,
			JA: Field{Name: "option_" + n + "_ja", Label: say("選択肢"+n+"（日本語）", "Answer "+n+" (Japanese)"), Type: "text", Value: o[0], Lang: i18n.JA},
			EN: Field{Name: "option_" + n + "_en", Label: say("選択肢"+n+"（英語）", "Answer "+n+" (English)"), Type: "text", Value: o[1], Lang: i18n.EN},
		})
	}
	return p
}

func storyVenue(say staffSay) StaffVenuePage {
	text := func(name, ja, en, kind, value string) StaffFormField {
		return StaffFormField{Field: Field{Name: name, Label: say(ja, en), Type: kind, Value: value}}
	}
	locale := text(FieldLocale, "おもな言語", "Main language", "", "")
	locale.Options = []Option{{Value: "ja", Text: say("日本語", "Japanese"), Selected: true}, {Value: "en", Text: say("英語", "English")}}
	zone := text(FieldTimeZone, "時間帯", "Time zone", "text", "Asia/Tokyo")
	zone.Suggest, zone.Hint = []string{"Asia/Tokyo", "Europe/Paris"}, say("これからの枠が12件あるため、変更できません。", "It can’t be changed while 12 slots lie ahead.")
	return StaffVenuePage{
		StaffSettingPage: StaffSettingPage{
			Page: staffTestPage(say, say("店舗情報", "The venue")), Staff: staffTestFrame("settings"), BackURL: StaffSettingsURL("aozora"), BackText: say("設定", "Settings"), Title: say("店舗情報", "The venue"),
			Lead: say("お客様のページ、メール、カレンダーに表示されます。", "Shown on the customers’ pages, in mails and in calendars."), Last: storyLast(say),
			Form: StaffSettingForm{ActionURL: StaffVenueURL("aozora"), Version: "2", Submit: say("保存する", "Save"), BackURL: StaffSettingsURL("aozora"), Groups: []StaffFormGroup{
				{Title: say("基本", "Basics"), Rows: [][]StaffFormField{{text("name", "店舗の名前", "Name of the venue", "text", "青空スタジオ")}, {locale, zone}}},
				{Title: say("連絡先", "Contact"), Text: say("「お電話ください」と案内するときの番号と、メールの返信先です。", "The number that customers are asked to call, and where their replies go."), Rows: [][]StaffFormField{
					{text("phone", "電話番号", "Phone", "tel", "03-1234-5678"), text("email", "メールアドレス", "E-mail", "email", "hello@aozora.example")},
					{text("address", "住所", "Address", "textarea", "東京都渋谷区1-2-3")},
				}},
				{Title: say("自分のサイトに表示", "On your own site"), Rows: [][]StaffFormField{{text("embed_origins", "カレンダーを表示してよいサイト", "Sites that may show the calendar", "textarea", "https://www.aozora.example")}}},
			}},
		},
		PublicURL: "/aozora", Public: "booking.example/aozora", PosterURL: PosterURL("aozora"), QR: [][]bool{{true, false, true}, {false, true, false}, {true, true, true}},
		Snippet: `<iframe src="https://booking.example/aozora/embed?lang=ja" title="青空スタジオ" loading="lazy" style="width: 100%; height: 52rem; border: 0"></iframe>`,
	}
}

func serviceStaffStories() []staffStory {
	return []staffStory{
		{"settings-services", func(say staffSay) templ.Component { return StaffServices(storyServices(say)) }},
		{"settings-services-desk", func(say staffSay) templ.Component {
			p := storyServices(say)
			p.NewURL, p.Last, p.Retired = "", StaffLastChange{}, nil
			for i := range p.Services {
				p.Services[i].URL, p.Services[i].OrderURL, p.Services[i].Missing = "", "", ""
			}
			return StaffServices(p)
		}},
		{"settings-services-none", func(say staffSay) templ.Component {
			return StaffServices(StaffServicesPage{Page: staffTestPage(say, say("サービス", "Services")), Staff: staffTestFrame("settings"), NewURL: StaffNewServiceURL("aozora")})
		}},
		{"settings-service", func(say staffSay) templ.Component { return StaffService(storyServicePage(say)) }},
		{"settings-service-stale", func(say staffSay) templ.Component {
			p := storyServicePage(say)
			p.Form.Stored = &StaffStored{By: storyLast(say).Text + say("。", "."), Lines: []StaffStoredLine{
				{Label: say("料金（日本語）", "Price (Japanese)"), Now: "5,500円"}, {Label: say("説明（英語）", "Description (English)"), Now: ""},
			}}
			p.Retired, p.RestoreURL, p.RetireURL = say("このサービスは使用を終了しています。", "This service is retired."), StaffServiceRestoreURL("aozora", storyService), ""
			p.Picture, p.Questions = &Picture{URL: static.URL("mark.svg"), Alt: say("朝の光", "Morning light"), Width: 600, Height: 200}, nil
			return StaffService(p)
		}},
		{"settings-service-wrong", func(say staffSay) templ.Component {
			p := storyServicePage(say).StaffSettingPage
			p.Title, p.Form.ActionURL, p.Form.Version = say("サービスを追加", "Add a service"), StaffNewServiceURL("aozora"), ""
			p.Form.Groups[0].Rows[0][0].Value, p.Form.Groups[0].Rows[0][1].Value = "", ""
			p.Form.Groups[0].Rows[0][0].Error = say("名前を、どちらかの言語で入力してください。", "Type a name in at least one language.")
			p.Form.Groups[1].Rows[0][0].Error = say("1〜10080の数字で入力してください（分）。", "Type a number of minutes from 1 to 10080.")
			p.Form.Errs = Errors{"name_ja": p.Form.Groups[0].Rows[0][0].Error, FieldMinutes: p.Form.Groups[1].Rows[0][0].Error}
			return StaffSetting(p)
		}},
		{"settings-service-retire", func(say staffSay) templ.Component {
			return StaffRetire(StaffRetirePage{
				Page: staffTestPage(say, say("朝ヨガ", "Morning yoga")), Staff: staffTestFrame("settings"), BackURL: StaffServiceURL("aozora", storyService), BackText: say("朝ヨガ", "Morning yoga"),
				Title: say("「朝ヨガ」の使用を終了しますか", "Retire “Morning yoga”?"), ActionURL: StaffServiceRetireURL("aozora", storyService), Version: "3", Submit: say("使用を終了する", "Retire it"), Danger: true,
				Consequence: []StaffConsequence{
					{Kind: "open", Text: say("お客様のページのサービス一覧に表示されなくなります。", "Customers no longer see it among the services.")},
					{Kind: "kept", Text: say("これからの枠2件はそのまま残り、引き続き予約もできます。", "2 slots ahead stay and can still be booked.")},
					{Kind: "warn", Text: say("動いているスケジュールが1件あり、枠を作り続けます。", "1 running schedule keeps making slots.")},
				},
				Slots: []Link{{Text: say("2026年10月9日（金）18:30〜19:30（予約 6席）", "Fri 9 Oct 2026, 18:30–19:30 (seats taken: 6)"), URL: StaffSlotURL("aozora", "4")}, {Text: say("2026年10月10日（土）10:00〜11:00（予約 0席）", "Sat 10 Oct 2026, 10:00–11:00 (seats taken: 0)"), URL: StaffSlotURL("aozora", "5")}},
			})
		}},
		{"settings-questions", func(say staffSay) templ.Component {
			row := func(id, label, other string, facts ...string) StaffQuestionRow {
				return StaffQuestionRow{
					Label: label, Other: other, Facts: facts, URL: StaffQuestionURL("aozora", storyService, id), OrderURL: StaffQuestionOrderURL("aozora", storyService, id),
					RemoveURL: StaffQuestionRemoveURL("aozora", storyService, id),
				}
			}
			first, last := row("level", say("ヨガの経験を教えてください", "How experienced are you?"), "", say("自由に書く", "In their own words"), say("必須", "required")), row("mat", say("マットは必要ですか", "Do you need a mat?"), "", say("選択肢から選ぶ", "By choosing one answer"), say("選択肢2個", "2 answers to choose from"))
			first.First, last.Final = true, true
			former := row("old", say("以前の質問", "A former question"), "", say("自由に書く", "In their own words"))
			former.URL, former.OrderURL, former.RemoveURL, former.RestoreURL = "", "", "", StaffQuestionRestoreURL("aozora", storyService, "old")
			return StaffQuestions(StaffQuestionsPage{
				Page: staffTestPage(say, say("質問", "Questions")), Staff: staffTestFrame("settings"), BackURL: StaffServiceURL("aozora", storyService), BackText: say("朝ヨガ", "Morning yoga"),
				Title: say("「朝ヨガ」の質問", "Questions of “Morning yoga”"), NewURL: StaffNewQuestionURL("aozora", storyService), Version: "3", Asked: []StaffQuestionRow{first, last}, Former: []StaffQuestionRow{former}, Last: storyLast(say),
			})
		}},
		{"settings-question", func(say staffSay) templ.Component { return StaffQuestion(storyQuestion(say)) }},
		{"settings-question-wrong", func(say staffSay) templ.Component {
			p := storyQuestion(say)
			p.OptionsErr = say("選択肢を2つ以上入力してください。", "Type at least two answers.")
			p.Form.Errs = Errors{FieldOption: p.OptionsErr}
			p.Options = p.Options[:1]
			return StaffQuestion(p)
		}},
		{"settings-picture", func(say staffSay) templ.Component {
			return StaffPicture(StaffPicturePage{
				StaffSettingPage: StaffSettingPage{
					Page: staffTestPage(say, say("写真", "Picture")), Staff: staffTestFrame("settings"), BackURL: StaffServiceURL("aozora", storyService), BackText: say("朝ヨガ", "Morning yoga"),
					Title: say("「朝ヨガ」の写真", "Picture of “Morning yoga”"), Last: storyLast(say),
					Form: StaffSettingForm{
						ActionURL: StaffServicePictureURL("aozora", storyService), Version: "3", Submit: say("保存する", "Save"), BackURL: StaffServiceURL("aozora", storyService),
						Errs: Errors{FieldPicture: say("ファイルが大きすぎます（400kBまで）。", "The file is too large (up to 400 kB).")},
						Groups: []StaffFormGroup{{
							Title: say("写真が見えない方への説明", "For those who can’t see it"), Text: say("何が写っているかを短い文で。", "Say in a few words what it shows."), Rows: [][]StaffFormField{storyText(say, "alt", "朝の光", "")},
						}},
					},
				},
				Picture: &Picture{URL: static.URL("mark.svg"), Alt: say("朝の光", "Morning light"), Width: 600, Height: 200}, Err: say("ファイルが大きすぎます（400kBまで）。", "The file is too large (up to 400 kB)."),
				RemoveURL: StaffServicePictureURL("aozora", storyService),
			})
		}},
		{"settings-resources", func(say staffSay) templ.Component {
			return StaffResources(StaffResourcesPage{
				Page: staffTestPage(say, say("場所・担当", "Resources")), Staff: staffTestFrame("settings"), NewURL: StaffNewResourceURL("aozora"), Last: storyLast(say),
				InUse: []StaffResourceRow{
					{Name: say("スタジオA", "Studio A"), Other: say("Studio A", "スタジオA"), Ahead: say("これからの枠 12・予約済み 48席", "12 slots ahead, seats taken: 48"), URL: StaffResourceURL("aozora", "a"), RetireURL: StaffResourceRetireURL("aozora", "a")},
					{Name: "محمد 先生", Missing: say("英語の名前がありません。もう一方の名前を表示します。", "No name in English: the other one is shown."), Ahead: say("これからの枠はありません", "No slots ahead"), URL: StaffResourceURL("aozora", "b"), RetireURL: StaffResourceRetireURL("aozora", "b")},
				},
				Retired: []StaffResourceRow{{Name: say("旧館ホール", "Old hall"), Ahead: say("これからの枠はありません", "No slots ahead"), URL: StaffResourceURL("aozora", "c"), RestoreURL: StaffResourceRestoreURL("aozora", "c"), Version: "2"}},
			})
		}},
		{"settings-closed", func(say staffSay) templ.Component { return StaffClosed(storyClosed(say)) }},
		{"settings-holidays", func(say staffSay) templ.Component {
			p := storyClosed(say)
			days := []StaffClosedDay{p.Months[1].Days[0], p.Months[0].Days[0]}
			days[1].Closed = false
			return StaffHolidays(StaffHolidaysPage{
				Page: staffTestPage(say, say("祝日", "Public holidays")), Staff: staffTestFrame("settings"), BackURL: StaffClosedURL("aozora"), BackText: say("2026年の休業日", "Closed days 2026"),
				Title: say("2026年の祝日を休業日にしますか", "Close on the public holidays of 2026?"), Lead: say("次の日を休業日にします。枠は中止されません。", "These days become closed days. No slot is cancelled."), Days: days,
				ActionURL: StaffHolidaysURL("aozora"), Year: "2026", Submit: say("2日を休業日にする", "Close 2 days"),
			})
		}},
		{"settings-venue", func(say staffSay) templ.Component { return StaffVenueDetails(storyVenue(say)) }},
		{"settings-changes", func(say staffSay) templ.Component {
			return StaffChanges(StaffChangesPage{
				Page: staffTestPage(say, say("変更の記録", "Changes to settings")), Staff: staffTestFrame("settings"), OlderURL: StaffChangesBeforeURL("aozora", storyService),
				Changes: []StaffChangeRow{
					{At: say("2026年10月7日（水）18:02", "Wed 7 Oct 2026, 18:02"), Who: "山口 玲奈", What: say("サービス「朝ヨガ」", "Service “Morning yoga”"), URL: StaffServiceURL("aozora", storyService), Fields: say("料金（日本語）・所要時間（分）", "Price (Japanese), Duration (minutes)")},
					{At: say("2026年10月6日（火）09:10", "Tue 6 Oct 2026, 09:10"), Who: say("システム", "the system"), What: say("店舗情報", "The venue"), Fields: say("電話番号", "Phone")},
				},
			})
		}},
	}
}
