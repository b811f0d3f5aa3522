package views

import (
	"github.com/a-h/templ"
)

// A staffStory is one page in one state, in both languages. The people are invented.
type staffStory struct {
	name string
	page func(say staffSay) templ.Component
}

// staffSay chooses the text of the language.
type staffSay func(ja, en string) string

func staffTestPage(say staffSay, title string) Page {
	return Page{
		Title: title, Staff: true,
		Tenant:         Tenant{Name: "青空スタジオ", Slug: "aozora", URL: "/aozora", Zone: say("日本時間（UTC+9）", "Asia/Tokyo (UTC+9)")},
		LanguageAction: "/staff/language", Return: "/staff/aozora/today",
	}
}

func staffTestFrame(section string) StaffFrame {
	return StaffFrame{
		Venue: "青空スタジオ", Member: "owner@demo.example", Section: section, Nav: []StaffNavLink{
			{"calendar", "/staff/aozora/calendar"}, {"people", "/staff/aozora/people"}, {"insight", "/staff/aozora/insight"}, {"settings", StaffSettingsURL("aozora")},
		},
		TodayURL: StaffTodayURL("aozora"), MessagesURL: StaffMailURL("aozora"), SearchURL: StaffSearchURL("aozora"),
		SignOutURL: StaffSignOutURL(), VenuesURL: StaffURL(), FailedMessages: 1,
	}
}

func staffTestDays(say staffSay) []StaffDay {
	ja := []string{"月", "火", "水", "木", "金", "土", "日"}
	en := []string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}
	var days []StaffDay
	for i, no := range []string{"5", "6", "7", "8", "9", "10", "11"} {
		days = append(days, StaffDay{
			URL: StaffDayURL("aozora", "2026-10-"+no), Weekday: say(ja[i], en[i]), Day: no,
			Label: say("10月"+no+"日（"+ja[i]+"）", en[i]+" "+no+" Oct"), Current: i == 3, Today: i == 3,
		})
	}
	return days
}

func staffTestToday(say staffSay) StaffTodayPage {
	yoga, pilates, briefing := say("朝ヨガ", "Morning yoga"), say("ピラティス入門", "Pilates for beginners"), say("入会説明会", "Briefing for new members")
	a, b := say("スタジオA", "Studio A"), say("スタジオB", "Studio B")
	return StaffTodayPage{
		Page: staffTestPage(say, say("予約状況", "Schedule")), Staff: staffTestFrame("today"),
		Heading: say("2026年10月8日（木）", "Thu 8 Oct 2026"), Date: "2026-10-08", IsToday: true,
		SelfURL: StaffDayURL("aozora", "2026-10-08"), PathURL: StaffTodayURL("aozora"),
		PrevURL: StaffDayURL("aozora", "2026-10-07"), NextURL: StaffDayURL("aozora", "2026-10-09"), TodayURL: StaffTodayURL("aozora"),
		Days: staffTestDays(say), UpdatedAt: "14:38",
		Counts: StaffCounts{Booked: 31, Arrived: 13, Held: 2, Offered: 3, Waiting: 5, Free: 12},
		Attention: StaffAttention{
			Alarms: []StaffAlarm{{Invariant: "I3", Slot: "9", Text: say("10月9日（金）10:00の枠で、お待ちの方がいるのに席が1つ空いたままです。", "In the slot of Fri 9 Oct, 10:00 a seat is idle although somebody waits."), URL: StaffSlotURL("aozora", "9")}},
			Calls: []StaffCall{{
				Entry: "31", Name: "佐藤 はな", Kana: "さとう はな", Party: 1, Phone: "090-1234-5678", PhoneURL: "tel:09012345678",
				SlotText: say("今日 18:30 朝ヨガ", "today 18:30 Morning yoga"), SlotURL: StaffSlotURL("aozora", "4"),
				Until: Deadline{Text: "15:10", At: "2026-10-08T15:10:00+09:00", SecondsLeft: 1930, Total: 1800}, Version: "12", TermsVersion: "1",
				AcceptURL: StaffEntryAcceptURL("aozora", "4", "31"), DeclineURL: StaffEntryDeclineURL("aozora", "4", "31"),
			}},
			Messages: []StaffMessage{{
				ID: "77", Kind: say("予約の確認", "Booking confirmed"), To: "髙橋 𠮷郎", Address: "yoshiro@nowhere.example", State: "failed", Error: "550 5.1.1 no such user",
				SlotText: say("今日 16:00 ピラティス入門", "today 16:00 Pilates for beginners"), SlotURL: StaffSlotURL("aozora", "3"), Phone: "03-1234-5678", PhoneURL: "tel:0312345678",
				RetryURL: StaffMessageRetryURL("aozora", "77"),
			}},
			Lapsing: []StaffLapsing{{
				Name: "田中 次郎", Party: 2, SlotText: say("今日 18:30 朝ヨガ", "today 18:30 Morning yoga"), SlotURL: StaffSlotURL("aozora", "4"), Phone: "080-0000-1111", PhoneURL: "tel:08000001111",
				Until: Deadline{Text: "14:42", At: "2026-10-08T14:42:00+09:00", SecondsLeft: 250, Total: 1800},
			}},
		},
		Slots: []StaffTodaySlot{
			{ID: "1", URL: StaffSlotURL("aozora", "1"), Starts: "10:00", Ends: "11:00", Service: yoga, Resource: a, State: "over", Bar: StaffBar{Capacity: 10, Booked: 9, Free: 1}, Arrived: 9},
			{ID: "2", URL: StaffSlotURL("aozora", "2"), Starts: "14:00", Ends: "15:00", Service: pilates, Resource: b, State: "over", Running: true, Bar: StaffBar{Capacity: 6, Booked: 5, Free: 1}, Arrived: 4},
			{ID: "3", URL: StaffSlotURL("aozora", "3"), Starts: "16:00", Ends: "17:00", Service: pilates, Resource: b, State: "few", Next: true, Soon: say("あと1時間22分", "in 1 h 22 min"), Bar: StaffBar{Capacity: 8, Booked: 5, Held: 1, Free: 2}},
			{ID: "4", URL: StaffSlotURL("aozora", "4"), Starts: "18:30", Ends: "19:30", Service: yoga, Resource: a, State: "waitlist", Bar: StaffBar{Capacity: 10, Booked: 6, Held: 1, Offered: 3}, Waiting: 3, First: "鈴木 三郎", FirstParty: 2, Offers: []StaffLapsing{
				{Name: "田中 次郎", Party: 2, Until: Deadline{Text: "14:42", At: "2026-10-08T14:42:00+09:00", SecondsLeft: 250, Total: 1800}},
				{Name: "佐藤 はな", Party: 1, Until: Deadline{Text: "15:10", At: "2026-10-08T15:10:00+09:00", SecondsLeft: 1930, Total: 1800}},
			}},
			{ID: "5", URL: StaffSlotURL("aozora", "5"), Starts: "19:00", Ends: "20:00", Service: briefing, Resource: b, State: "free", Paused: true, Bar: StaffBar{Capacity: 40, Booked: 6, Free: 34, Kept: true}, Waiting: 2, First: "Zoë <Z> & Co", FirstParty: 40},
			{ID: "6", URL: StaffSlotURL("aozora", "6"), Starts: "21:00", Ends: "22:00", Service: yoga, Resource: a, State: "cancelled", Bar: StaffBar{Capacity: 10, Free: 10}},
		},
	}
}

func staffTestHead(say staffSay) StaffSlotHead {
	return StaffSlotHead{
		ID: "4", URL: StaffSlotURL("aozora", "4"), When: When{Date: say("2026年10月8日（木）", "Thu 8 Oct 2026"), Time: say("18:30〜19:30", "18:30–19:30"), Start: "2026-10-08T18:30:00+09:00"},
		Service: say("朝ヨガ", "Morning yoga"), Resource: say("スタジオA", "Studio A"), State: "waitlist",
		Bar: StaffBar{Capacity: 10, Booked: 6, Held: 1, Offered: 3}, Waiting: 2, Arrived: 2,
		Rule:    say("15:30 までは、空いた席は待っている順に案内されます。それから先は先着順です。", "Until 15:30 freed seats are offered in order; from then on it is first come, first served."),
		BackURL: StaffDayURL("aozora", "2026-10-08"), BackText: say("10月8日（木）", "Thu 8 Oct"), Version: "12", TermsVersion: "1",
	}
}

func staffTestRoster(say staffSay) []StaffReservation {
	row := func(id, number, name, kana string, party int) StaffReservation {
		return StaffReservation{
			ID: id, Number: number, Name: name, Kana: kana, Party: party, State: "confirmed", Phone: "090-2222-" + number[1:], PhoneURL: "tel:0902222" + number[1:], Source: "web", Email: "guest" + id + "@example.com",
			AttendanceURL: StaffSlotAttendanceURL("aozora", "4"), CancelURL: StaffSlotCancelStepURL("aozora", "4", id), MoveURL: StaffSlotMoveStepURL("aozora", "4", id), PartyURL: StaffSlotPartyURL("aozora", "4"),
			ContactURL: StaffReservationContactURL("aozora", "4", id), MessagesURL: StaffMessagesOfURL("aozora", id),
		}
	}
	aoki := row("11", "A1042", "青木 さくら", "あおき さくら", 2)
	aoki.Attendance = "arrived"
	ito := row("12", "A1038", "伊藤 健", "いとう けん", 1)
	ito.Attendance, ito.Note = "no_show", say("膝に不安があるので、椅子を使いたい", "A weak knee: would like a chair")
	sasaki := row("13", "A1051", "佐々木 みどり", "ささき みどり", 1)
	sasaki.Source = "waitlist"
	o := row("14", "A1060", "محمد O’Neil", "", 2)
	o.Source, o.Extra, o.Selected = "staff", 1, true
	held := StaffReservation{ID: "15", Number: "A1066", Name: say("（入力中）", "(being filled in)"), Party: 1, State: "held", Until: Deadline{Text: "14:41", At: "2026-10-08T14:41:00+09:00", SecondsLeft: 190, Total: 300}, Source: "web"}
	return []StaffReservation{aoki, ito, sasaki, o, held}
}

func staffTestEntries(say staffSay) []StaffEntry {
	return []StaffEntry{
		{
			ID: "30", Position: 1, Name: "田中 次郎", Kana: "たなか じろう", Party: 2, State: "offered", Phone: "080-0000-1111", PhoneURL: "tel:08000001111", Email: "jiro@example.com", Joined: say("10月6日（火）09:12", "Tue 6 Oct, 09:12"),
			Told: say("14:12 にメール送信済み", "mail sent at 14:12"), Until: Deadline{Text: "14:42", At: "2026-10-08T14:42:00+09:00", SecondsLeft: 250, Total: 1800},
			AcceptURL: StaffEntryAcceptURL("aozora", "4", "30"), DeclineURL: StaffEntryDeclineURL("aozora", "4", "30"), RevokeURL: StaffEntryRevokeURL("aozora", "4", "30"),
		},
		{
			ID: "32", Position: 2, Name: "鈴木 三郎", Kana: "すずき さぶろう", Party: 2, State: "waiting", Phone: "090-3333-4444", PhoneURL: "tel:09033334444", Joined: say("10月6日（火）21:40", "Tue 6 Oct, 21:40"),
			OfferURL: StaffEntryOfferURL("aozora", "4", "32"), RemoveURL: StaffEntryRemoveURL("aozora", "4", "32"), Note: say("少し遅れるかもしれません", "May be a little late"),
		},
		{
			ID: "33", Position: 3, Name: "山本 一家", Kana: "やまもと いっか", Party: 12, State: "waiting", Joined: say("10月7日（水）08:01", "Wed 7 Oct, 08:01"),
			CannotFit: say("12名は定員10より多いので、案内されません。", "A party of 12 is larger than the capacity of 10: it cannot be offered seats."),
			OfferURL:  StaffEntryOfferURL("aozora", "4", "33"), OfferAhead: say("鈴木 三郎様（2名）より先に案内することになります。", "This passes over 鈴木 三郎 (2)."), RemoveURL: StaffEntryRemoveURL("aozora", "4", "33"),
			PartyURL: StaffEntryPartyURL("aozora", "4", "33"), MessagesURL: StaffMessagesOfURL("aozora", "33"),
		},
	}
}

func staffTestEvents(say staffSay) []StaffEvent {
	return []StaffEvent{
		{Number: "12", At: "14:36", Kind: "held", Sentence: say("お客様が1席を確保（14:41 まで）", "The customer held 1 seat (until 14:41)")},
		{Number: "11", At: "14:12", Kind: "offered", Sentence: say("田中 次郎（2名）に順番が回り、席を案内（14:42 まで）", "It was the turn of 田中 次郎 (2): offered until 14:42")},
		{Number: "10", At: "14:12", Kind: "cancelled", Sentence: say("owner@demo.exampleが小林 薫（2名）の予約を取り消した", "owner@demo.example cancelled the booking of 小林 薫 (2)"), Reason: say("発熱のためとお電話", "called: a fever")},
		{At: "13:50", Kind: "confirmed", Sentence: say("青木 さくら（2名）の予約が確定", "Booking of 青木 さくら confirmed (2)")},
	}
}

func staffTestSlot(say staffSay) StaffSlotPage {
	gone := StaffReservation{ID: "10", Number: "A1029", Name: "小林 薫", Kana: "こばやし かおる", Party: 2, State: "cancelled", Ended: say("14:12 スタッフが取り消し", "14:12 by staff")}
	closed := StaffEntry{ID: "29", Name: "木村 薫", Kana: "きむら かおる", Party: 1, State: "closed", Told: say("開始したため", "the slot had begun")}
	return StaffSlotPage{
		Page: staffTestPage(say, say("朝ヨガ", "Morning yoga")), Staff: staffTestFrame(""), Slot: staffTestHead(say),
		Roster: staffTestRoster(say), Gone: []StaffReservation{gone}, Waitlist: staffTestEntries(say), WaitGone: []StaffEntry{closed}, History: staffTestEvents(say),
		Capacity:  StaffCapacityForm{ActionURL: StaffSlotCapacityURL("aozora", "4"), Value: "10", Least: 10},
		Book:      StaffBookForm{ActionURL: StaffSlotBookURL("aozora", "4"), IdempotencyKey: "k-1", PartySize: "1", JoinURL: StaffSlotJoinURL("aozora", "4"), Hint: say("いまは満席です。キャンセル待ちに入れるか、席を足して受けられます。", "It is full now. You can put the caller on the waitlist, or add seats.")},
		CancelURL: StaffSlotCancelURL("aozora", "4"), CloseURL: StaffSlotCloseURL("aozora", "4"), PauseURL: StaffSlotPauseURL("aozora", "4"),
		CancelSlotURL: StaffSlotCancelSlotURL("aozora", "4"), PrintURL: StaffSlotPrintURL("aozora", "4"), CSVURL: StaffSlotRosterCSVURL("aozora", "4"),
		TermsURL: StaffSlotTermsURL("aozora", "4"), MessageURL: StaffSlotMessageURL("aozora", "4"), SelectAllURL: StaffSlotShowURL("aozora", "4", "", true),
		Shows: []StaffFilter{
			{say("すべて", "All"), StaffSlotShowURL("aozora", "4", "", false), 5, true},
			{say("これから", "Expected"), StaffSlotShowURL("aozora", "4", "expected", false), 2, false},
			{say("来店済み", "Arrived"), StaffSlotShowURL("aozora", "4", "arrived", false), 1, false},
			{say("来店なし", "No-show"), StaffSlotShowURL("aozora", "4", "no_show", false), 1, false},
		},
	}
}

func staffTestConsequences(say staffSay) []StaffConsequence {
	return []StaffConsequence{
		{Kind: "offer", Text: say("2席は 鈴木 三郎様（2名）に、15:10 まで案内されます。", "2 seats are offered to 鈴木 三郎 (2) until 15:10.")},
		{Kind: "call", Text: say("鈴木 三郎様にはメールアドレスがありません。お電話が必要です。", "鈴木 三郎 has no e-mail: somebody has to call.")},
		{Kind: "mail", Text: say("青木 さくら様に、取り消しのメールが送られます。", "青木 さくら gets a mail about the cancellation.")},
	}
}

// moreStaffStories are those of further page families, each in a file of its own.
var moreStaffStories []func() []staffStory

func staffStories() []staffStory {
	all := slotStaffStories()
	for _, more := range moreStaffStories {
		all = append(all, more()...)
	}
	return all
}

func slotStaffStories() []staffStory {
	return []staffStory{
		{"signin", func(say staffSay) templ.Component {
			return StaffSignIn(StaffSignInPage{Page: staffTestPage(say, say("サインイン", "Sign in")), ActionURL: StaffSignInURL(), Next: "/staff/aozora/today"})
		}},
		{"signin_wrong", func(say staffSay) templ.Component {
			return StaffSignIn(StaffSignInPage{
				Page: staffTestPage(say, say("サインイン", "Sign in")), ActionURL: StaffSignInURL(), Email: "owner@demo",
				Errs:    Errors{"email": say("メールアドレスの形をご確認ください。", "Check the e-mail address."), "password": say("パスワードを入力してください。", "Type the password.")},
				Problem: say("メールアドレスかパスワードが違います。", "The address or the password is wrong."),
			})
		}},
		{"signin_limited", func(say staffSay) templ.Component {
			return StaffSignIn(StaffSignInPage{Page: staffTestPage(say, say("サインイン", "Sign in")), ActionURL: StaffSignInURL(), Email: "owner@demo.example", RetryAfter: say("続けて間違えたため、15:42 までお待ちください。", "Too many wrong attempts. Please wait until 15:42.")})
		}},
		{"signed_out", func(say staffSay) templ.Component {
			return StaffSignedOut(StaffSignedOutPage{Page: staffTestPage(say, say("サインアウト", "Signed out")), SignInURL: StaffSignInURL()})
		}},
		{"venues", func(say staffSay) templ.Component {
			return StaffVenues(StaffVenuesPage{Page: staffTestPage(say, say("店舗", "Venues")), Staff: StaffFrame{SignOutURL: StaffSignOutURL()}, Venues: []StaffVenue{
				{Name: "青空スタジオ", URL: StaffTodayURL("aozora"), Role: "owner", Today: say("今日 6枠・予約31名", "today 6 slots, 31 people")},
				{Name: "みなとクリニック", URL: StaffTodayURL("minato"), Role: "desk"},
			}})
		}},
		{"venues_none", func(say staffSay) templ.Component {
			return StaffVenues(StaffVenuesPage{Page: staffTestPage(say, say("店舗", "Venues")), Staff: StaffFrame{SignOutURL: StaffSignOutURL()}})
		}},
		{"today", func(say staffSay) templ.Component { return StaffToday(staffTestToday(say)) }},
		{"today_calm", func(say staffSay) templ.Component {
			p := staffTestToday(say)
			p.Attention = StaffAttention{}
			p.Page.Flash = &Flash{Kind: FlashDone, Text: say("受付を再開しました。", "The slot is open again.")}
			return StaffToday(p)
		}},
		{"today_empty", func(say staffSay) templ.Component {
			p := staffTestToday(say)
			p.Attention, p.Slots, p.Counts, p.IsToday = StaffAttention{}, nil, StaffCounts{}, false
			return StaffToday(p)
		}},
		{"search", func(say staffSay) templ.Component {
			f := staffTestFrame("")
			f.SearchText = "さとう"
			return StaffSearch(StaffSearchPage{Page: staffTestPage(say, say("検索", "Search")), Staff: f, Query: "さとう", More: true, Found: []StaffFound{
				{URL: StaffSlotURL("aozora", "4") + "#reservation-11", Number: "A1042", Name: "佐藤 はるか", Kana: "さとう はるか", Party: 2, State: "confirmed", When: say("10月8日（木）18:30〜19:30", "Thu 8 Oct, 18:30–19:30"), Service: say("朝ヨガ", "Morning yoga"), Phone: "090-1111-2222", PhoneURL: "tel:09011112222", CancelURL: StaffSlotCancelStepURL("aozora", "4", "11"), MoveURL: StaffSlotMoveStepURL("aozora", "4", "11")},
				{URL: StaffSlotURL("aozora", "4") + "#entry-31", Name: "佐藤 はな", Kana: "さとう はな", Party: 1, State: "offered", When: say("10月8日（木）18:30〜19:30", "Thu 8 Oct, 18:30–19:30"), Service: say("朝ヨガ", "Morning yoga"), Phone: "090-1234-5678", PhoneURL: "tel:09012345678"},
				{URL: StaffSlotURL("aozora", "1") + "#reservation-2", Number: "A0911", Name: "佐藤 <b>太</b>", Kana: "さとう ふとし", Party: 1, State: "cancelled", When: say("9月30日（水）10:00〜11:00", "Wed 30 Sep, 10:00–11:00"), Service: say("朝ヨガ", "Morning yoga"), Past: true},
			}})
		}},
		{"search_none", func(say staffSay) templ.Component {
			return StaffSearch(StaffSearchPage{Page: staffTestPage(say, say("検索", "Search")), Staff: staffTestFrame(""), Query: "0000"})
		}},
		{"slot", func(say staffSay) templ.Component {
			p := staffTestSlot(say)
			return StaffSlot(p)
		}},
		{"slot_cancelled", func(say staffSay) templ.Component {
			p := staffTestSlot(say)
			p.Slot.State, p.Slot.Bar, p.Slot.Waiting, p.Slot.Arrived, p.Slot.Rule = "cancelled", StaffBar{Capacity: 10, Free: 10}, 0, 0, ""
			p.Roster, p.Waitlist = nil, nil
			p.Book.ActionURL, p.Capacity.ActionURL, p.CloseURL, p.PauseURL, p.CancelSlotURL = "", "", "", "", ""
			return StaffSlot(p)
		}},
		{"slot_result", func(say staffSay) templ.Component {
			p := staffTestSlot(say)
			p.Result = &StaffResult{Title: say("青木 さくら様の予約を取り消しました", "The booking of 青木 さくら is cancelled"), Lines: []StaffResultLine{
				{Text: say("2席を 鈴木 三郎様（2名）に 15:10 まで案内しました。", "2 seats were offered to 鈴木 三郎 (2) until 15:10."), URL: "#entry-32"},
				{Text: say("メールアドレスがないため、お電話が必要です。", "There is no e-mail address: somebody has to call."), Call: true, Phone: "090-3333-4444", PhoneURL: "tel:09033334444"},
			}}
			return StaffSlot(p)
		}},
		{"slot_changed", func(say staffSay) templ.Component {
			p := staffTestSlot(say)
			p.Book.Name, p.Book.Phone, p.Book.Note = "渡辺 葵", "090-7777-8888", say("初めて", "First time")
			p.Changed = &StaffChanged{
				Events: staffTestEvents(say)[:2], Pressed: say("渡辺 葵様（1名）の予約を、いまの状態で受けますか。", "Book 渡辺 葵 (1) as things stand now?"),
				AgainURL: StaffSlotBookURL("aozora", "4"), AgainText: say("それでも予約する", "Book all the same"), BackURL: StaffSlotURL("aozora", "4"),
				Fields: []Hidden{{FieldVersion, "13"}, {FieldTermsVersion, "1"}, {FieldName, "渡辺 葵"}, {FieldPhone, "090-7777-8888"}, {FieldPartySize, "1"}},
			}
			return StaffSlot(p)
		}},
		{"slot_errors", func(say staffSay) templ.Component {
			p := staffTestSlot(say)
			p.Problem = say("この枠の席が足りません。", "There are not enough seats in this slot.")
			p.Book.Name, p.Book.PartySize, p.Book.Email = "", "99", "a@"
			p.Book.Errs = Errors{"name": say("お名前を入力してください。", "Type the name."), "party_size": say("1〜4名で入力してください。", "Between 1 and 4."), "email": say("メールアドレスの形をご確認ください。", "Check the e-mail address."), "reason": say("理由を入力してください。", "Type a reason.")}
			p.Book.Beyond = true
			return StaffSlot(p)
		}},
		{"slot_empty", func(say staffSay) templ.Component {
			p := staffTestSlot(say)
			p.Slot.State, p.Slot.Paused, p.Slot.Bar, p.Slot.Arrived, p.Slot.Waiting = "closed", true, StaffBar{Capacity: 1, Free: 1, Kept: true}, 0, 0
			p.Roster, p.Gone, p.Waitlist, p.WaitGone, p.History = nil, nil, nil, nil, nil
			p.CloseURL, p.PauseURL, p.ReopenURL, p.ResumeURL = "", "", StaffSlotReopenURL("aozora", "4"), StaffSlotResumeURL("aozora", "4")
			p.Book.Hint, p.Book.Room, p.Book.JoinURL = "", 1, ""
			p.Capacity.Value, p.Capacity.Least = "1", 0
			return StaffSlot(p)
		}},
		{"slot_claim", func(say staffSay) templ.Component {
			p := staffTestSlot(say)
			p.Slot.State, p.Slot.Bar = "few", StaffBar{Capacity: 10, Booked: 8, Free: 2}
			for i := range p.Waitlist {
				e := &p.Waitlist[i]
				e.State, e.Until, e.AcceptURL, e.DeclineURL, e.RevokeURL = "waiting", Deadline{}, "", "", ""
				e.ClaimURL = StaffEntryClaimURL("aozora", "4", e.ID)
			}
			return StaffSlot(p)
		}},
		{"cancel", func(say staffSay) templ.Component {
			return StaffCancel(StaffCancelPage{Page: staffTestPage(say, say("予約の取り消し", "Cancel")), Staff: staffTestFrame(""), Slot: staffTestHead(say), Selected: staffTestRoster(say)[:1], Seats: 2, Consequence: staffTestConsequences(say), ActionURL: StaffSlotCancelURL("aozora", "4")})
		}},
		{"cancel_several", func(say staffSay) templ.Component {
			return StaffCancel(StaffCancelPage{Page: staffTestPage(say, say("予約の取り消し", "Cancel")), Staff: staffTestFrame(""), Slot: staffTestHead(say), Selected: staffTestRoster(say)[:3], Seats: 4, ActionURL: StaffSlotCancelURL("aozora", "4"), Consequence: []StaffConsequence{
				{Kind: "open", Text: say("お待ちの方はいないので、4席はすぐにどなたでも予約できるようになります。", "Nobody waits: the 4 seats are open to everybody at once.")},
			}, Reason: StaffReasonForm{Reason: "x", Err: say("200字までで入力してください。", "At most 200 characters.")}})
		}},
		{"cancel_none", func(say staffSay) templ.Component {
			return StaffCancel(StaffCancelPage{Page: staffTestPage(say, say("予約の取り消し", "Cancel")), Staff: staffTestFrame(""), Slot: staffTestHead(say)})
		}},
		{"cancel_slot", func(say staffSay) templ.Component {
			return StaffCancelSlot(StaffCancelSlotPage{Page: staffTestPage(say, say("枠の中止", "Cancel the slot")), Staff: staffTestFrame(""), Slot: staffTestHead(say), ActionURL: StaffSlotCancelSlotURL("aozora", "4"), Consequence: []StaffConsequence{
				{Kind: "warn", Text: say("予約6名とキャンセル待ち3組が、すべて取り消されます。元には戻せません。", "6 people booked and 3 parties waiting are all cancelled. This cannot be undone.")},
				{Kind: "mail", Text: say("7名にメールで知らせます。", "7 people are told by mail.")},
				{Kind: "call", Text: say("鈴木 三郎様（090-3333-4444）にはお電話が必要です。", "鈴木 三郎 (090-3333-4444) has to be called.")},
			}})
		}},
		{"move", func(say staffSay) templ.Component {
			return StaffMove(StaffMovePage{Page: staffTestPage(say, say("予約の移動", "Move")), Staff: staffTestFrame(""), Slot: staffTestHead(say), Who: staffTestRoster(say)[0], Consequence: staffTestConsequences(say)[:1], ActionURL: StaffSlotMoveURL("aozora", "4"), LaterURL: StaffSlotMoveStepURL("aozora", "4", "11") + "&date=2026-10-15", Days: []StaffMoveDay{
				{Heading: say("10月9日（金）", "Fri 9 Oct"), Targets: []StaffTarget{
					{ID: "20", TermsVersion: "1", Time: "10:00", Label: say("10月9日（金）10:00", "Fri 9 Oct, 10:00"), Service: say("朝ヨガ", "Morning yoga"), Resource: say("スタジオA", "Studio A"), State: "free", Free: 6},
					{ID: "21", TermsVersion: "1", Time: "18:30", Label: say("10月9日（金）18:30", "Fri 9 Oct, 18:30"), Service: say("朝ヨガ", "Morning yoga"), Resource: say("スタジオA", "Studio A"), State: "few", Free: 1, Why: say("2名には足りません", "Not enough for 2")},
				}},
				{Heading: say("10月10日（土）", "Sat 10 Oct"), Targets: []StaffTarget{
					{ID: "22", TermsVersion: "2", Time: "9:00", Label: say("10月10日（土）9:00", "Sat 10 Oct, 9:00"), Service: say("ピラティス入門", "Pilates for beginners"), Resource: say("スタジオB", "Studio B"), State: "few", Free: 2},
				}},
			}})
		}},
		{"move_none", func(say staffSay) templ.Component {
			return StaffMove(StaffMovePage{Page: staffTestPage(say, say("予約の移動", "Move")), Staff: staffTestFrame(""), Slot: staffTestHead(say), Who: staffTestRoster(say)[0], Problem: say("その枠はちょうど満席になりました。予約は元の枠のままです。", "That slot has just filled up. The booking stays where it was.")})
		}},
		{"messages", func(say staffSay) templ.Component {
			return StaffMessages(StaffMessagesPage{
				Page: staffTestPage(say, say("メール", "Messages")), Staff: staffTestFrame("messages"), MailboxURL: StaffMailboxURL("aozora"), OlderURL: StaffMailURL("aozora") + "?before=70",
				Filters: []StaffFilter{{Text: say("すべて", "All"), URL: StaffMailURL("aozora"), Count: 1204, Current: true}, {Text: say("送れなかった", "Failed"), URL: StaffMailURL("aozora") + "?state=failed", Count: 1}, {Text: say("送信待ち", "To be sent"), URL: StaffMailURL("aozora") + "?state=pending", Count: 3}},
				Items: []StaffMessage{
					{ID: "77", URL: StaffMessageURL("aozora", "77"), Kind: say("予約の確認", "Booking confirmed"), To: "髙橋 𠮷郎", Address: "yoshiro@nowhere.example", State: "failed", At: "14:02", Attempts: 8, Error: "550 5.1.1 no such user", SlotText: say("10月8日（木）16:00 ピラティス入門", "Thu 8 Oct, 16:00 Pilates for beginners"), SlotURL: StaffSlotURL("aozora", "3"), Phone: "03-1234-5678", PhoneURL: "tel:0312345678", RetryURL: StaffMessageRetryURL("aozora", "77")},
					{ID: "76", URL: StaffMessageURL("aozora", "76"), Kind: say("席のご案内", "Offer"), To: "田中 次郎", Address: "jiro@example.com", State: "sent", At: "14:12", Attempts: 1, SlotText: say("10月8日（木）18:30 朝ヨガ", "Thu 8 Oct, 18:30 Morning yoga"), SlotURL: StaffSlotURL("aozora", "4")},
					{ID: "75", URL: StaffMessageURL("aozora", "75"), Kind: say("キャンセルの確認", "Cancelled"), To: "小林 薫", Address: "kaoru@example.com", State: "pending", At: "14:12", Attempts: 2, NextAttempt: "14:40", Error: "421 try again later"},
					{ID: "74", URL: StaffMessageURL("aozora", "74"), Kind: say("席のご案内", "Offer"), To: "木村 薫", Address: "kimura@example.com", State: "obsolete", At: "13:00"},
				},
			})
		}},
		{"messages_none", func(say staffSay) templ.Component {
			return StaffMessages(StaffMessagesPage{Page: staffTestPage(say, say("メール", "Messages")), Staff: staffTestFrame("messages"), Filters: []StaffFilter{{Text: say("すべて", "All"), URL: StaffMailURL("aozora"), Current: true}}})
		}},
		{"message", func(say staffSay) templ.Component {
			return StaffMessageText(StaffMessagePage{Page: staffTestPage(say, say("メール", "Messages")), Staff: staffTestFrame("messages"), BackURL: StaffMailURL("aozora"), From: "yoyaku@aozora.example", Subject: say("席のご案内", "A seat for you"), Message: StaffMessage{ID: "76", URL: StaffMessageURL("aozora", "76"), Kind: say("席のご案内", "Offer"), To: "田中 次郎", Address: "jiro@example.com", State: "sent", At: "14:12", Attempts: 1}, Body: say("田中 次郎様\n\nお席をご用意できます。\n  14:42 までにお返事ください。\n\nhttp://localhost:8080/aozora/offers/token", "Dear 田中 次郎\n\nA seat is yours.\n  Please answer by 14:42.\n\nhttp://localhost:8080/aozora/offers/token")})
		}},
		{"message_unwritten", func(say staffSay) templ.Component {
			return StaffMessageText(StaffMessagePage{Page: staffTestPage(say, say("メール", "Messages")), Staff: staffTestFrame("messages"), BackURL: StaffMailURL("aozora"), Message: StaffMessage{ID: "78", URL: StaffMessageURL("aozora", "78"), Kind: say("席のご案内", "Offer"), To: "田中 次郎", Address: "jiro@example.com", State: "sending", At: "14:12"}})
		}},
		{"mailbox", func(say staffSay) templ.Component {
			return StaffMailbox(StaffMailboxPage{Page: staffTestPage(say, say("受信箱", "Mailbox")), Staff: staffTestFrame("messages"), Folder: "data/mail", Mails: []StaffMail{
				{URL: StaffMailboxMailURL("aozora", "76"), To: "jiro@example.com", Subject: say("席のご案内（14:42 まで）", "A seat for you (until 14:42)"), At: "14:12"},
				{URL: StaffMailboxMailURL("aozora", "70"), To: "sakura@example.com", Subject: say("ご予約を承りました", "You are booked"), At: "13:50"},
			}})
		}},
		{"mailbox_none", func(say staffSay) templ.Component {
			return StaffMailbox(StaffMailboxPage{Page: staffTestPage(say, say("受信箱", "Mailbox")), Staff: staffTestFrame("messages"), Folder: "data/mail"})
		}},
		{"mail", func(say staffSay) templ.Component {
			return StaffMailText(StaffMailPage{Page: staffTestPage(say, say("受信箱", "Mailbox")), Staff: staffTestFrame("messages"), BackURL: StaffMailboxURL("aozora"), From: "yoyaku@aozora.example", To: "jiro@example.com", Subject: say("席のご案内", "A seat for you"), At: say("10月8日（木）14:12", "Thu 8 Oct, 14:12"), Body: MailParts(say("田中 次郎様\n\nお席をご用意できます。14:42 までにお返事ください:\nhttp://localhost:8080/aozora/offers/token\n\n青空スタジオ", "Dear 田中 次郎\n\nA seat is yours. Please answer by 14:42:\nhttp://localhost:8080/aozora/offers/token\n\n青空スタジオ"))})
		}},
		{"forbidden", func(say staffSay) templ.Component {
			return StaffError(StaffErrorPage{Page: staffTestPage(say, say("できません", "Not allowed")), Staff: staffTestFrame(""), Status: 403, HomeURL: StaffTodayURL("aozora")})
		}},
		{"absent", func(say staffSay) templ.Component {
			return StaffError(StaffErrorPage{Page: staffTestPage(say, say("ありません", "Not found")), Status: 404, HomeURL: StaffURL()})
		}},
	}
}
