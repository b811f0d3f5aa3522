package views

import "github.com/a-h/templ"

func init() { moreStaffStories = append(moreStaffStories, messageStaffStories) }

func storyFailed(say staffSay) StaffMessage {
	return StaffMessage{
		ID: "77", URL: StaffMessageURL("aozora", "77"), Kind: say("予約の確認", "Booking confirmed"), To: "髙橋 𠮷郎", Address: "yoshiro@nowhere.example", State: "failed", At: "14:02", Attempts: 8,
		Error: "client sending SMTP RCPT TO command: 550 5.1.1 no such user", SlotText: say("10月8日（木）16:00 ピラティス入門", "Thu 8 Oct, 16:00 Pilates for beginners"), SlotURL: StaffSlotURL("aozora", "3"),
		Phone: "03-1234-5678", PhoneURL: "tel:0312345678", RetryURL: StaffMessageRetryURL("aozora", "77"),
		Queue: StaffQueued{Age: say("2時間", "2 h"), Why: say("宛先のアドレスが見つかりません。お客様に正しいアドレスを確かめてください。", "There is no such address. Ask the customer for the right one."), GiveUpURL: StaffMessageGiveUpURL("aozora", "77")},
	}
}

func storyLetter(say staffSay) StaffLetterView {
	return StaffLetterView{
		Lang: say("ja", "en"), From: "青空スタジオ", To: "hanako@example.com", Subject: say("【予約確定】朝のヨガ 10月8日（木）", "Booked: Morning yoga, Thu 8 Oct"),
		Body: say("山田 花子 様\n\nご予約を承りました。\n\n内容：朝のヨガ\n日時：2026年10月8日（木）18:30〜19:30 日本時間（UTC+9）\n\nhttps://holdfast.example/aozora/…\n", "Dear Hanako Yamada\n\nYour booking stands.\n\nWhat: Morning yoga\nWhen: Thu 8 Oct 2026, 18:30–19:30 Japan time (UTC+9)\n\nhttps://holdfast.example/aozora/…\n"),
	}
}

func storyQueue(say staffSay) StaffMessagesPage {
	return StaffMessagesPage{
		Page: staffTestPage(say, say("メール", "Messages")), Staff: staffTestFrame("messages"), OlderURL: StaffMailURL("aozora") + "?before=2026-10-08T05%3A02%3A00Z&id=77",
		Filters: []StaffFilter{
			{Text: say("すべて", "All"), URL: StaffMailURL("aozora"), Count: 1204, Current: true},
			{Text: say("送れませんでした", "Could not be sent"), URL: StaffMailURL("aozora") + "?state=failed", Count: 2},
			{Text: say("送信待ち", "To be sent"), URL: StaffMailURL("aozora") + "?state=pending", Count: 3},
		},
		Items: []StaffMessage{storyFailed(say), {
			ID: "75", URL: StaffMessageURL("aozora", "75"), Kind: say("取り消しのお知らせ", "Booking cancelled"), To: "小林 薫", Address: "kaoru@example.com", State: "pending", At: "14:12", Attempts: 2, NextAttempt: "14:40", Error: "dial tcp 192.0.2.1:587: connect: connection refused",
			Queue: StaffQueued{Age: say("30分", "30 min"), Why: say("メールサーバーから応答がありません。自動で送り直します。", "The mail server does not answer. It is tried again by itself."), GiveUpURL: StaffMessageGiveUpURL("aozora", "75")},
		}},
		Queue: StaffQueue{
			Kinds: []StaffFilter{{Text: say("すべての種類", "All kinds"), URL: StaffMailURL("aozora"), Count: 1204, Current: true}, {Text: say("予約の確認", "Booking confirmed"), URL: StaffMailURL("aozora") + "?kind=confirmed", Count: 800}},
			Late:  say("3件のメールが 14:12 から送れずに待っています。", "3 messages have been waiting since 14:12."), LateWhy: say("メールサーバーから応答がありません。自動で送り直します。メールは失われていません。", "The mail server does not answer. It is tried again by itself. Nothing is lost."),
			Failed: 2, RetryAllURL: StaffMessagesRetryAllURL("aozora"), NewestURL: StaffMailURL("aozora"),
			PreviewsURL: StaffPreviewsURL("aozora"), TextsURL: StaffTextsURL("aozora"), NoticesURL: StaffNoticesURL("aozora"),
		},
	}
}

func storyOwnWords(say staffSay) StaffTextPage {
	return StaffTextPage{
		Page: staffTestPage(say, say("「席のご案内」の文面（日本語）", "Words of “Offer of seats” (English)")), Staff: staffTestFrame("messages"), BackURL: StaffTextsURL("aozora"),
		ActionURL: StaffTextURL("aozora", "offer", "ja"), PreviewURL: StaffTextPreviewURL("aozora", "offer", "ja"), DefaultURL: StaffTextDefaultURL("aozora", "offer", "ja"), Version: "2", Lang: say("ja", "en"),
		HasOpening: true, Opening: say("{name} 様、{time} までお席をお取りしています。", "Dear {name}, a seat is yours until {time}."), Default: say("お席をご用意できました。10月8日（木）15:10 までにお返事ください。", "Seats are free. Please answer by Thu 8 Oct, 15:10."),
		Extra:        say("駐車場は建物の裏手です。", "Please park behind the building."),
		Placeholders: []StaffPlaceholder{{Name: "{name}", Example: say("山田 花子", "Hanako Yamada")}, {Name: "{time}", Example: say("2026年10月8日（木）15:10（日本時間）", "Thu 8 Oct 2026, 15:10 (Japan time)"), Required: true}},
		Letter:       storyLetter(say),
	}
}

func messageStaffStories() []staffStory {
	return []staffStory{
		{"message-queue", func(say staffSay) templ.Component { return StaffMessages(storyQueue(say)) }},
		{"message-booking", func(say staffSay) templ.Component {
			p := storyQueue(say)
			p.OlderURL, p.Items = "", p.Items[:1]
			p.Queue = StaffQueue{
				AllURL: StaffMailURL("aozora"), About: say("髙橋 𠮷郎 様へのメール", "Messages to 髙橋 𠮷郎"), AboutURL: StaffSlotURL("aozora", "3") + "#reservation-1",
				Link: &StaffLinkAgain{ActionURL: StaffMessageLinkURL("aozora", "1"), Text: say("yoshiro@nowhere.example に、この方の予約とキャンセル待ちのリンクを送ります。", "A mail with the links to their bookings and waits goes to yoshiro@nowhere.example.")},
			}
			return StaffMessages(p)
		}},
		{"message-give-up", func(say staffSay) templ.Component {
			m := storyFailed(say)
			m.RetryURL, m.Queue.GiveUpURL = "", ""
			return StaffGiveUp(StaffGiveUpPage{
				Page: staffTestPage(say, say("このメールの送信をやめますか", "Give up this message?")), Staff: staffTestFrame("messages"), Message: m, BackURL: m.URL, ActionURL: StaffMessageGiveUpURL("aozora", "77"),
				Consequence: []StaffConsequence{{Kind: "warn", Text: say("髙橋 𠮷郎 様に、このメールはもう送られません。", "This message is never sent to 髙橋 𠮷郎.")}, {Kind: "call", Text: say("必要なら、電話で伝えてください。", "If it matters, tell them by phone.")}},
			})
		}},
		{"message-previews", func(say staffSay) templ.Component {
			return StaffPreviews(StaffPreviewsPage{
				Page: staffTestPage(say, say("メールの見本", "Previews")), Staff: staffTestFrame("messages"), BackURL: StaffMailURL("aozora"), When: say("予約が確定したとき、お客様に送られます。", "Sent when a booking stands."),
				Kinds:     []StaffFilter{{Text: say("予約の確認", "Booking confirmed"), URL: StaffPreviewURL("aozora", "confirmed", "ja"), Current: true}, {Text: say("取り消しのお知らせ", "Booking cancelled"), URL: StaffPreviewURL("aozora", "cancelled", "ja")}},
				Languages: []StaffFilter{{Text: say("日本語", "Japanese"), URL: StaffPreviewURL("aozora", "confirmed", "ja"), Current: true}, {Text: say("英語", "English"), URL: StaffPreviewURL("aozora", "confirmed", "en")}},
				TextURL:   StaffTextURL("aozora", "confirmed", "ja"), Letter: storyLetter(say),
				Parts: []StaffFilter{{Text: say("見た目", "As it looks"), URL: StaffPreviewURL("aozora", "confirmed", "ja")}, {Text: say("テキスト", "Plain text"), URL: StaffPreviewTextURL("aozora", "confirmed", "ja"), Current: true}},
			})
		}},
		{"message-texts", func(say staffSay) templ.Component {
			item := func(kind, name string, own bool) StaffTextItem {
				return StaffTextItem{Kind: name, Languages: []StaffTextLanguage{{Text: say("日本語", "Japanese"), URL: StaffTextURL("aozora", kind, "ja"), Own: own}, {Text: say("英語", "English"), URL: StaffTextURL("aozora", kind, "en")}}}
			}
			return StaffTexts(StaffTextsPage{
				Page: staffTestPage(say, say("メールの文面", "Words of messages")), Staff: staffTestFrame("messages"), BackURL: StaffMailURL("aozora"), PreviewsURL: StaffPreviewsURL("aozora"),
				Items: []StaffTextItem{item("confirmed", say("予約の確認", "Booking confirmed"), false), item("offer", say("席のご案内", "Offer of seats"), true)},
			})
		}},
		{"message-text", func(say staffSay) templ.Component { return StaffText(storyOwnWords(say)) }},
		{"message-text-errors", func(say staffSay) templ.Component {
			p := storyOwnWords(say)
			p.Opening, p.Unsaved, p.Errs = say("お席が空きました。", "A seat is free."), true, Errors{FieldOpening: say("最初の文には、この差し込みが必要です：{time}", "The first sentence needs this: {time}")}
			return StaffText(p)
		}},
		{"message-notices", func(say staffSay) templ.Component {
			return StaffNotices(StaffNoticesPage{
				Page: staffTestPage(say, say("自分へのお知らせ", "Notices to me")), Staff: staffTestFrame("messages"), BackURL: StaffMailURL("aozora"), ActionURL: StaffNoticesURL("aozora"), Address: "owner@demo.example",
				Bookings: true, Digest: true, DigestAt: "25:00", Zone: say("日本時間（UTC+9）", "Japan time (UTC+9)"), Errs: Errors{FieldDigestAt: say("時刻は 08:00 のように入力してください。", "Give the time as 08:00.")},
			})
		}},
	}
}
