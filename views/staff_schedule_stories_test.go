package views

import "github.com/a-h/templ"

func init() { moreStaffStories = append(moreStaffStories, scheduleStaffStories) }

func scheduleTestTabs(say staffSay, current int) []StaffScheduleTab {
	tabs := []StaffScheduleTab{
		{Text: say("一覧", "All"), URL: StaffSchedulesURL("aozora")},
		{Text: say("くり返しを作る", "New schedule"), URL: StaffScheduleNewURL("aozora", nil)},
		{Text: say("1枠だけ追加", "Add one slot"), URL: StaffScheduleSlotURL("aozora", "")},
		{Text: say("週をコピー", "Copy a week"), URL: StaffScheduleCopyURL("aozora", nil)},
		{Text: say("定員をまとめて変更", "Change seats"), URL: StaffScheduleSeatsURL("aozora", nil)},
	}
	if current >= 0 {
		tabs[current].Current = true
	}
	return tabs
}

func scheduleTestItem(say staffSay) StaffScheduleItem {
	return StaffScheduleItem{
		ID: "a1", URL: StaffScheduleURL("aozora", "a1", nil), Service: say("朝ヨガ", "Morning yoga"), Resource: say("スタジオA", "Studio A"),
		Rule: say("毎週 月・金曜日", "Every Mon, Fri"), Times: say("10:00、19:00", "10:00, 19:00"),
		Span:   say("2027年4月2日（金）〜2027年4月30日（金） 定員8名", "Fri 2 Apr 2027 to Fri 30 Apr 2027 8 seats"),
		Coming: say("これからの枠 17件、次は4月2日（金）10:00", "17 slots ahead, next Fri 2 Apr, 10:00"), State: "active",
	}
}

func scheduleTestForm(say staffSay, errs Errors) StaffScheduleForm {
	var days, long []Option
	for i, d := range []string{say("月", "Mon"), say("火", "Tue"), say("水", "Wed"), say("木", "Thu"), say("金", "Fri"), say("土", "Sat"), say("日", "Sun")} {
		days = append(days, Option{Value: string(rune('0' + (i+1)%7)), Text: d, Selected: i == 0 || i == 4})
		long = append(long, Option{Value: string(rune('0' + (i+1)%7)), Text: d})
	}
	return StaffScheduleForm{
		ActionURL: StaffSchedulePreviewURL("aozora"), Services: []Option{{Value: "s", Text: say("朝ヨガ（1時間）", "Morning yoga (1 hour)"), Selected: true}},
		Resources: []Option{{Value: "r", Text: say("スタジオA", "Studio A"), Selected: true}},
		Freqs: []Option{
			{Value: "weekly", Text: say("毎週", "Weekly"), Selected: true},
			{Value: "daily", Text: say("毎日", "Daily")},
			{Value: "monthly_day", Text: say("毎月（日にち）", "Monthly, by date")},
			{Value: "monthly_nth", Text: say("毎月（第何曜日）", "Monthly, by weekday")},
		},
		Every: "1", Weekdays: days, Nths: []Option{{Value: "5", Text: say("第5", "fifth")}}, NthDays: long,
		Bys:   []Option{{Value: "times", Text: say("開始時刻を並べる", "Start times"), Selected: true}, {Value: "hours", Text: say("営業時間から割り出す", "From opening hours")}},
		Times: "10:00, 19:00", First: "2027-04-02", Until: "2027-04-30", Capacity: "8", Closed: true, HasHolidays: true, Errs: errs,
	}
}

func scheduleTestPlan(say staffSay) StaffSchedulePlan {
	return StaffSchedulePlan{
		Make: say("4件の枠を作ります", "4 slots will be made"), N: 4,
		Notes: []string{
			say("ほかの枠と重なる 1件は作れません。", "1 overlaps another slot and cannot be made."), say("祝日のため除く 1件", "1 falls on a public holiday."),
		},
		Skipped: []StaffScheduleSkip{
			{When: say("4月9日（金） 19:00", "Fri 9 Apr 19:00"), Why: say("4月9日（金）18:30〜19:30 ピラティス入門と重なります", "overlaps Pilates for beginners, Fri 9 Apr, 18:30–19:30"), URL: StaffSlotURL("aozora", "4")},
			{When: say("4月29日（木） 19:00", "Thu 29 Apr 19:00"), Why: say("祝日（昭和の日）", "public holiday: Showa Day")},
		},
		Months: []StaffScheduleMonth{{Heading: say("2027年4月", "April 2027"), Count: say("4件", "4 slots"), Days: []StaffScheduleDay{
			{Date: say("4月2日（金）", "Fri 2 Apr"), Times: say("19:00〜20:00", "19:00–20:00")},
			{Date: say("4月16日（金）", "Fri 16 Apr"), Times: say("19:00〜20:00", "19:00–20:00")},
			{Date: say("4月23日（金）", "Fri 23 Apr"), Times: say("23:00〜24:00", "23:00–00:00 (next day)")},
			{Date: say("4月30日（金）", "Fri 30 Apr"), Times: say("19:00〜20:00", "19:00–20:00"), Note: say("時計が進む日です。", "The clock goes forward.")},
		}}},
	}
}

func scheduleTestPreview(say staffSay) StaffSchedulePreviewPage {
	return StaffSchedulePreviewPage{
		Page: staffTestPage(say, say("作る枠の確認", "Preview")), Staff: staffTestFrame("settings"), Tabs: scheduleTestTabs(say, 1), Title: say("作る枠の確認", "Preview"),
		Item: scheduleTestItem(say), Plan: scheduleTestPlan(say), ActionURL: StaffSchedulesURL("aozora"), Hidden: []Hidden{{FieldSchedulePlan, "p"}},
		Press: say("重ならない4件だけ作る", "Make the other 4"), BackURL: StaffScheduleNewURL("aozora", nil),
		Others: say("重なる1件は作らず、残りだけを作ります。", "1 that overlaps is left out; only the others are made."),
	}
}

func scheduleStaffStories() []staffStory {
	return []staffStory{
		{"schedules", func(say staffSay) templ.Component {
			stopped := scheduleTestItem(say)
			stopped.ID, stopped.State, stopped.StateText, stopped.Unfinished = "a2", "stopped", say("停止中", "Stopped"), true
			return StaffSchedules(StaffSchedulesPage{
				Page: staffTestPage(say, say("スケジュール", "Schedules")), Staff: staffTestFrame("settings"), Tabs: scheduleTestTabs(say, 0),
				Items: []StaffScheduleItem{scheduleTestItem(say), stopped}, NewURL: StaffScheduleNewURL("aozora", nil),
			})
		}},
		{"schedules-none", func(say staffSay) templ.Component {
			return StaffSchedules(StaffSchedulesPage{
				Page: staffTestPage(say, say("スケジュール", "Schedules")), Staff: staffTestFrame("settings"), Tabs: scheduleTestTabs(say, 0), NewURL: StaffScheduleNewURL("aozora", nil),
			})
		}},
		{"schedule-new-bad", func(say staffSay) templ.Component {
			form := scheduleTestForm(say, Errors{FieldScheduleWeekday: say("曜日を選んでください。", "Choose a weekday."), FieldScheduleTimes: say("時刻は 18:30 のように入れてください。", "Enter a time such as 18:30.")})
			return StaffSchedule(StaffSchedulePage{
				Page: staffTestPage(say, say("くり返しを作る", "New schedule")), Staff: staffTestFrame("settings"), Tabs: scheduleTestTabs(say, 1), Title: say("くり返しを作る", "New schedule"), Form: &form,
			})
		}},
		{"schedule-done", func(say staffSay) templ.Component {
			form, item := scheduleTestForm(say, nil), scheduleTestItem(say)
			form.Editing, form.From, form.ActionURL = true, "2027-04-01", StaffScheduleChangeURL("aozora", "a1")
			return StaffSchedule(StaffSchedulePage{
				Page: staffTestPage(say, say("朝ヨガ", "Morning yoga")), Staff: staffTestFrame("settings"), Tabs: scheduleTestTabs(say, -1), Title: say("朝ヨガ", "Morning yoga"), Item: &item, Form: &form,
				Result: &StaffResult{Title: say("3月1日（月）12:00に行ったこと", "Done on Mon 1 Mar, 12:00"), Lines: []StaffResultLine{{Text: say("17件の枠を作りました", "17 slots were made")}}}, Fresh: true,
				Missing: say("このスケジュールの枠のうち、1件がまだありません。", "1 slot of this schedule is not there."), Skipped: scheduleTestPlan(say).Skipped[:1], RunURL: StaffScheduleRunURL("aozora", "a1"),
				DeleteURL: StaffScheduleDeleteURL("aozora", "a1"),
			})
		}},
		{"schedule-unfinished", func(say staffSay) templ.Component {
			item := scheduleTestItem(say)
			item.Unfinished = true
			return StaffSchedule(StaffSchedulePage{
				Page: staffTestPage(say, say("朝ヨガ", "Morning yoga")), Staff: staffTestFrame("settings"), Tabs: scheduleTestTabs(say, -1), Title: say("朝ヨガ", "Morning yoga"), Item: &item,
				ContinueURL: StaffScheduleContinueURL("aozora", "a1"), Left: say("あと12件の枠が残っています。", "12 slots are left."),
				Result: &StaffResult{Title: say("3月1日（月）12:00に行ったこと", "Done on Mon 1 Mar, 12:00"), Lines: []StaffResultLine{{Text: say("400件の枠を移しました", "400 slots were moved")}}},
			})
		}},
		{"schedule-preview", func(say staffSay) templ.Component { return StaffSchedulePreview(scheduleTestPreview(say)) }},
		{"schedule-change", func(say staffSay) templ.Component {
			p := scheduleTestPreview(say)
			p.Title, p.Others, p.Press = say("2027年4月16日（金）からの変更の確認", "Change from Fri 16 Apr 2027 on"), "", say("この内容で変更する", "Make this change")
			p.Split = say("2027年4月16日（金）より前はこれまでのスケジュールのまま残し、この日からを新しいスケジュールに分けます。", "Before Fri 16 Apr 2027 the schedule stays as it was; from this day on a new one takes over.")
			p.Effects = []StaffConsequence{{"offer", say("予約のない3件の枠は、新しい時刻・場所に変わります。", "3 slots without bookings move to their new time or resource.")}, {"mail", say("お客様のいる1件の枠に影響します。どうするかを選んでください。", "1 slot with people in it is concerned. Choose what becomes of it.")}}
			p.Slots = []StaffScheduleSlot{{URL: StaffSlotURL("aozora", "4"), When: say("4月23日（金）19:00〜20:00", "Fri 23 Apr, 19:00–20:00"), What: say("→ 4月23日（金）19:30〜20:30", "→ Fri 23 Apr, 19:30–20:30"), Who: say("佐藤 はな 2名、田中 次郎 1名（キャンセル待ち）", "佐藤 はな (2), 田中 次郎 (1, waiting)")}}
			p.Choices = []Option{{Value: "move", Text: say("新しい時刻に移し、全員にお知らせする", "Move them to the new time and tell everybody")}, {Value: "cancel", Text: say("中止し、全員にお知らせする", "Cancel them and tell everybody")}, {Value: "keep", Text: say("いまのまま残す", "Leave them as they are")}}
			p.ChoiceErr = say("どうするかを選んでください。", "Choose what becomes of them.")
			return StaffSchedulePreview(p)
		}},
		{"schedule-slot", func(say staffSay) templ.Component {
			f := scheduleTestForm(say, nil)
			return StaffScheduleOne(StaffScheduleSlotPage{
				Page: staffTestPage(say, say("1枠だけ追加", "Add one slot")), Staff: staffTestFrame("settings"), Tabs: scheduleTestTabs(say, 2), ActionURL: StaffScheduleSlotURL("aozora", ""), Key: "k",
				Services: f.Services, Resources: f.Resources, Day: "2027-04-02", Time: "19:00", Capacity: "8",
				Problem: say("その時間には、同じ場所・担当に別の枠があります。追加していません。", "The resource has another slot at that time. Nothing was added."), InTheWay: scheduleTestPlan(say).Skipped[:1],
			})
		}},
		{"schedule-copy", func(say staffSay) templ.Component {
			f, plan := scheduleTestForm(say, nil), scheduleTestPlan(say)
			return StaffScheduleCopy(StaffScheduleCopyPage{
				Page: staffTestPage(say, say("週をコピー", "Copy a week")), Staff: staffTestFrame("settings"), Tabs: scheduleTestTabs(say, 3), ActionURL: StaffScheduleCopyURL("aozora", nil),
				Week: "2027-03-29", Into: "2027-04-05", Weeks: "2", Services: f.Services, Resources: f.Resources, Closed: true, HasHolidays: true, Plan: &plan,
				Source: say("3月29日（月）からの週には3件の枠があります。", "The week from Mon 29 Mar has 3 slots."), Press: say("4件をコピーする", "Copy 4 slots"), PressURL: StaffScheduleCopyURL("aozora", nil),
			})
		}},
		{"schedule-seats", func(say staffSay) templ.Component {
			f := scheduleTestForm(say, nil)
			return StaffScheduleSeats(StaffScheduleSeatsPage{
				Page: staffTestPage(say, say("定員をまとめて変更", "Change the seats of many slots")), Staff: staffTestFrame("settings"), Tabs: scheduleTestTabs(say, 4), ActionURL: StaffScheduleSeatsURL("aozora", nil),
				Services: f.Services, Resources: f.Resources, First: "2027-04-01", Until: "2027-04-30", Weekdays: f.Weekdays, Capacity: "10", Shown: true,
				Summary: []string{say("2件の枠の定員が変わります。", "2 slots change."), say("1件は変わりません。", "1 stays as it is.")},
				Effects: []StaffConsequence{{"offer", say("4月2日（金）19:00の席は 鈴木 三郎 様（2名）に、4月1日（木）15:10まで案内されます", "Fri 2 Apr, 19:00: 鈴木 三郎 (2) would be offered the seats until Thu 1 Apr, 15:10")}},
				Slots: []StaffScheduleSlot{
					{URL: StaffSlotURL("aozora", "4"), When: say("4月2日（金）19:00〜20:00", "Fri 2 Apr, 19:00–20:00"), What: say("朝ヨガ 定員 8 → 10", "Morning yoga: 8 → 10 seats")},
					{URL: StaffSlotURL("aozora", "5"), When: say("4月9日（金）19:00〜20:00", "Fri 9 Apr, 19:00–20:00"), What: say("朝ヨガ は12席が埋まっているため変わりません", "Morning yoga: stays, 12 seats are taken"), Who: say("佐藤 はな 2名、ほか9組", "佐藤 はな (2), and 9 more parties")},
				},
				Press: say("2件の定員を変更する", "Change 2 slots"), PressURL: StaffScheduleSeatsURL("aozora", nil),
			})
		}},
	}
}
