package views

import "github.com/a-h/templ"

func init() { moreStaffStories = append(moreStaffStories, slotStepStories) }

func staffTestWho() *StaffStepWho {
	return &StaffStepWho{Name: "鈴木 三郎", Kana: "すずき さぶろう", Party: 2, Number: "A1042", Phone: "090-3333-4444", PhoneURL: "tel:09033334444"}
}

func staffTestStep(say staffSay, kind, title string) StaffStepPage {
	return StaffStepPage{
		Page: staffTestPage(say, title), Staff: staffTestFrame(""), Slot: staffTestHead(say), Kind: kind, Title: title,
		Then: say("押すと、次のようになります", "What the press does"), KeepText: say("やめて枠に戻る", "Back, change nothing"),
	}
}

func staffTestContact() ContactForm {
	return ContactForm{Name: "青木 さくら", Kana: "アオキ サクラ", Email: "sakura@example.com", Phone: "090-2222-1042", Note: "窓の近く", Questions: []Question{
		{ID: "diet", Kind: QuestionText, Label: "食べられないもの", Value: "卵", Max: 200},
	}}
}

func staffTestTerms(say staffSay) StaffTermsPage {
	return StaffTermsPage{
		Page: staffTestPage(say, say("日時・場所・内容を変えます", "Change time, place or service")), Staff: staffTestFrame(""), Slot: staffTestHead(say), ActionURL: StaffSlotTermsURL("aozora", "4"),
		Date: "2026-10-08", Start: "18:30", End: "24:00", Zone: say("日本時間", "Japan Standard Time"),
		Services:  []Option{{Value: "1", Text: say("朝ヨガ", "Morning yoga"), Selected: true}, {Value: "2", Text: say("ピラティス入門", "Pilates for beginners")}},
		Resources: []Option{{Value: "1", Text: say("スタジオA", "Studio A")}, {Value: "2", Text: say("スタジオB", "Studio B"), Selected: true}},
	}
}

func staffTestNotice(say staffSay) StaffNoticePage {
	return StaffNoticePage{
		Page: staffTestPage(say, say("この枠の全員にメールを送ります", "Write to everybody of this slot")), Staff: staffTestFrame(""), Slot: staffTestHead(say),
		ActionURL: StaffSlotMessageURL("aozora", "4"), IdempotencyKey: "K",
		Booked:  StaffCheck{ID: "to-booked", Name: FieldToBooked, Text: say("予約の方（5組）", "Who is booked (5 parties)"), Checked: true},
		Waiting: StaffCheck{ID: "to-waiting", Name: FieldToWaiting, Text: say("お待ちの方（3組）", "Who waits (3 parties)")},
		Texts: []StaffNoticeText{
			{Lang: "ja", Title: say("日本語", "Japanese"), Subject: "駐車場について", Text: "当日は工事のため、駐車場をご利用いただけません。\n電車でお越しください。", Hint: say("この言語で読む方 4組。書かないときは、もう一方の文面が届きます。", "4 parties read this language. Left empty, they get the other text.")},
			{Lang: "en", Title: say("英語", "English"), Hint: say("この言語で読む方 1組。書かないときは、もう一方の文面が届きます。", "1 party reads this language. Left empty, they get the other text.")},
		},
	}
}

func slotStepStories() []staffStory {
	return []staffStory{
		{"slot_step_offer", func(say staffSay) templ.Component {
			p := staffTestStep(say, "offer", say("鈴木 三郎様 に席を案内します", "Offer seats to 鈴木 三郎"))
			p.Who = staffTestWho()
			p.Who.Facts = []string{say("いま 2番目、10月6日（火）21:40 からお待ち", "Number 2 in the queue, waiting since Tue 6 Oct, 21:40")}
			p.Consequence = append(staffTestConsequences(say), StaffConsequence{Kind: "warn", Text: say("田中 次郎様（2名）より先に案内することになります。", "This passes over 田中 次郎 (2).")})
			p.Forms = []StaffStepForm{{
				ActionURL: StaffEntryOfferURL("aozora", "4", "32"), Text: say("この方に案内する", "Offer to this party"),
				Fields: []Field{{ID: "offer-reason", Name: FieldReason, Label: say("理由", "Reason"), Type: "text", Required: true, Error: say("理由を入力してください。", "Type a reason.")}},
			}}
			return StaffStep(p)
		}},
		{"slot_step_capacity", func(say staffSay) templ.Component {
			p := staffTestStep(say, "capacity", say("定員を変えます", "Change the number of seats"))
			p.Lead, p.Consequence = say("いまの定員は10です。", "There are 10 seats now."), staffTestConsequences(say)[:2]
			p.Asks = &StaffStepAsk{ActionURL: StaffSlotCapacityURL("aozora", "4"), Text: say("確かめる", "Look first"), Field: Field{ID: "capacity-value", Name: FieldCapacity, Label: say("席数", "Seats"), Type: "text", Value: "12", InputMode: "numeric"}}
			p.Forms = []StaffStepForm{{ActionURL: StaffSlotCapacityURL("aozora", "4"), Hidden: []Hidden{{FieldCapacity, "12"}}, Text: say("定員を12にする", "Set it to 12")}}
			return StaffStep(p)
		}},
		{"slot_step_below", func(say staffSay) templ.Component {
			p := staffTestStep(say, "capacity", say("定員を変えます", "Change the number of seats"))
			p.Lead, p.Then = say("いまの定員は10です。", "There are 10 seats now."), ""
			p.Problem = say("いま埋まっている席より少なくはできません。何も変えていません。", "It cannot be fewer than the seats taken. Nothing was changed.")
			p.Asks = &StaffStepAsk{ActionURL: StaffSlotCapacityURL("aozora", "4"), Text: say("確かめる", "Look first"), Field: Field{ID: "capacity-value", Name: FieldCapacity, Label: say("席数", "Seats"), Type: "text", Value: "4", InputMode: "numeric"}}
			p.MustMoveTitle = say("先に移っていただく必要がある方:", "Who would have to move first:")
			p.MustMove = []StaffMustMove{
				{Text: say("佐々木 みどり様（1名）", "佐々木 みどり (1)"), URL: StaffSlotMoveStepURL("aozora", "4", "13")},
				{Text: say("田中 次郎様にご案内中（2名、14:42 まで）", "Offer to 田中 次郎 (2, until 14:42)")},
			}
			return StaffStep(p)
		}},
		{"slot_step_rebook", func(say staffSay) templ.Component {
			p := staffTestStep(say, "rebook", say("鈴木 三郎様 の予約を取り直します", "Book 鈴木 三郎 again"))
			p.Who, p.Then = staffTestWho(), ""
			p.Who.Facts = []string{say("14:12 スタッフが取り消し", "cancelled at 14:12 by staff")}
			p.MustMoveTitle = say("いまは2席がそろいません。席は次のようになっています:", "2 seats are not free now. The seats are with:")
			p.MustMove = []StaffMustMove{{Text: say("田中 次郎様（2名）にご案内中（14:42 まで）", "Offer to 田中 次郎 (2, until 14:42)")}}
			url := StaffReservationRebookURL("aozora", "4", "11")
			p.Forms = []StaffStepForm{
				{ActionURL: url, Title: say("キャンセル待ちに入れる", "Put them on the waitlist"), Hidden: []Hidden{{FieldHow, "wait"}}, Text: say("最後尾でお待ちいただく", "Wait at the end of the queue")},
				{
					ActionURL: url, Title: say("席を足して予約し直す", "Add seats and book again"), Hidden: []Hidden{{FieldHow, "beyond"}}, Text: say("席を足して予約し直す", "Add seats and book again"), Plain: true,
					Fields: []Field{{ID: "rebook-reason", Name: FieldReason, Label: say("理由", "Reason"), Type: "text", Required: true}},
				},
			}
			return StaffStep(p)
		}},
		{"slot_contact", func(say staffSay) templ.Component {
			return StaffContact(StaffContactPage{
				Page: staffTestPage(say, say("連絡先", "Contact")), Staff: staffTestFrame(""), Slot: staffTestHead(say), Number: "A1042", Title: say("青木 さくら様 の連絡先を直します", "Correct the contact of 青木 さくら"),
				ActionURL: StaffReservationContactURL("aozora", "4", "11"), Seen: "x", Contact: staffTestContact(), Consequence: []StaffConsequence{
					{Kind: "kept", Text: say("席はそのままです。満席でも直せます。", "The seats stay as they are, also in a full slot.")},
					{Kind: "warn", Text: say("メールアドレスを変えると、これまでのリンクは使えなくなります。", "With another address the present link ends.")},
				},
			})
		}},
		{"slot_contact_stale", func(say staffSay) templ.Component {
			c := staffTestContact()
			c.Email, c.Errs = "a@", Errors{FieldEmail: say("メールアドレスの形をご確認ください。", "Check the e-mail address.")}
			return StaffContact(StaffContactPage{
				Page: staffTestPage(say, say("連絡先", "Contact")), Staff: staffTestFrame(""), Slot: staffTestHead(say), Title: say("青木 さくら様 の連絡先を直します", "Correct the contact of 青木 さくら"),
				ActionURL: StaffReservationContactURL("aozora", "4", "11"), Contact: c, Consequence: staffTestConsequences(say)[2:],
				Problem: say("ご覧になった後に、この方の連絡先が直されました。", "This contact was corrected after you opened it."), Now: []Answer{{say("お名前", "Name"), "青木 さくら"}, {say("メモ", "Note"), "入口の近く"}},
			})
		}},
		{"slot_terms", func(say staffSay) templ.Component { return StaffTerms(staffTestTerms(say)) }},
		{"slot_terms_ready", func(say staffSay) templ.Component {
			p := staffTestTerms(say)
			p.Ready, p.Consequence = true, staffTestConsequences(say)
			p.Summary = []string{say("日時: 2026年10月8日（木）18:30〜19:30 → 2026年10月8日（木）18:30〜24:00", "Time: Thu 8 Oct 2026, 18:30–19:30 → Thu 8 Oct 2026, 18:30–24:00"), say("場所・担当: スタジオA → スタジオB", "Place or person: Studio A → Studio B")}
			return StaffTerms(p)
		}},
		{"slot_terms_errors", func(say staffSay) templ.Component {
			p := staffTestTerms(say)
			p.End, p.Errs = "25:00", Errors{FieldStart: say("その時間には、同じ場所に別の枠があります。", "The place has another slot at that time."), FieldEnd: say("時刻を 19:30 のように入力してください。", "Type a time such as 19:30.")}
			return StaffTerms(p)
		}},
		{"slot_notice", func(say staffSay) templ.Component { return StaffNotice(staffTestNotice(say)) }},
		{"slot_notice_errors", func(say staffSay) templ.Component {
			p := staffTestNotice(say)
			p.Booked.Checked, p.Booked.Err = false, say("送る相手を選んでください。", "Choose to whom it goes.")
			p.Texts[1].Subject = "Parking"
			p.Errs = Errors{FieldToBooked: p.Booked.Err, FieldText("en"): say("本文を入力してください。", "Type the message.")}
			return StaffNotice(p)
		}},
		{"slot_notice_preview", func(say staffSay) templ.Component {
			p := staffTestNotice(say)
			p.Preview = &StaffNoticePreview{
				Consequence: []StaffConsequence{{Kind: "mail", Text: say("メールを5通送ります。1つのアドレスに1通です。", "5 mails are sent, one to each address.")}},
				Letters:     []StaffNoticeLetter{{Title: say("日本語のメールを5通送ります。", "5 mails in Japanese."), Lang: "ja", Subject: "駐車場について", Text: "当日は工事のため、駐車場をご利用いただけません。\n電車でお越しください。"}},
				Callers:     []StaffStepWho{*staffTestWho()}, Fields: []Hidden{{FieldToBooked, "1"}}, SendTo: say("5通を送る", "Send 5 mails"),
			}
			return StaffNotice(p)
		}},
		{"slot_history", func(say staffSay) templ.Component {
			p := StaffHistoryPage{Page: staffTestPage(say, say("できごと", "History")), Staff: staffTestFrame(""), Slot: staffTestHead(say), Events: staffTestEvents(say), OlderURL: StaffSlotHistoryURL("aozora", "4", 7)}
			p.Events[1].Seats, p.Events[2].Seats = say("2席 使用", "2 seats taken"), say("2席 空き", "2 seats freed")
			p.Events[2].Notes = []string{say("お客様には知らせていません", "The customer was not told, by choice")}
			return StaffHistory(p)
		}},
		{"slot_print", func(say staffSay) templ.Component {
			return StaffPrint(StaffPrintPage{
				Page: staffTestPage(say, say("名簿の印刷", "Roster for print")), Staff: staffTestFrame(""), Slot: staffTestHead(say), Counts: say("4組 6名（定員10）", "4 parties, 6 of 10 seats"),
				Roster: staffTestRoster(say)[:4], Waiting: staffTestEntries(say), Printed: say("2026年10月8日（木）14:38 現在", "As of Thu 8 Oct 2026, 14:38"), BackURL: StaffSlotURL("aozora", "4"),
			})
		}},
		{"slot_kept", func(say staffSay) templ.Component {
			return StaffKept(StaffKeptPage{
				Page: staffTestPage(say, say("サインインの時間が切れました", "You have been signed out")), SignInURL: StaffSignInURL(), ActionURL: StaffSlotBookURL("aozora", "4"),
				Fields: []Hidden{{FieldVersion, "12"}, {FieldName, "渡辺 葵"}, {FieldPhone, "090-7777-8888"}}, Typed: []Answer{{say("お名前", "Name"), "渡辺 葵"}, {say("電話番号", "Phone"), "090-7777-8888"}},
			})
		}},
	}
}
