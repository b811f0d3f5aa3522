package views

import (
	"fmt"

	"github.com/a-h/templ"
)

func init() { moreStaffStories = append(moreStaffStories, dayStaffStories) }

func staffTestViews(say staffSay, at int) []StaffChoice {
	all := []StaffChoice{
		{Text: say("日", "Day"), URL: StaffDayURL("aozora", "2026-10-08")},
		{Text: say("週", "Week"), URL: StaffFilteredCalendarURL("aozora", StaffDayFilter{Week: "2026-10-04"})},
		{Text: say("月", "Month"), URL: StaffFilteredCalendarURL("aozora", StaffDayFilter{Month: "2026-10"})},
	}
	all[at].Current = true
	return all
}

func staffTestChoosers(say staffSay) []StaffChooser {
	to := func(service string) string {
		return StaffFilteredCalendarURL("aozora", StaffDayFilter{Week: "2026-10-04", Service: service})
	}
	return []StaffChooser{
		{Name: say("サービス", "Service"), Chosen: say("朝ヨガ", "Morning yoga"), Narrowed: true, Choices: []StaffChoice{
			{Text: say("すべて", "All"), URL: to("")}, {Text: say("朝ヨガ", "Morning yoga"), URL: to("yoga"), Current: true}, {Text: say("ピラティス入門", "Pilates for beginners"), URL: to("pilates")},
		}},
		{Name: say("場所・担当", "Resource"), Chosen: say("すべて", "All"), Choices: []StaffChoice{{Text: say("すべて", "All"), URL: to(""), Current: true}, {Text: say("スタジオA", "Studio A"), URL: to("")}}},
	}
}

func staffTestCalendar(say staffSay) StaffCalendarPage {
	return StaffCalendarPage{
		Page: staffTestPage(say, say("カレンダー", "Calendar")), Staff: staffTestFrame("calendar"), Views: staffTestViews(say, 1),
		Heading: say("2026年10月4日（日）〜10月10日（土）", "Sun 4 Oct 2026 – Sat 10 Oct"), PrevURL: "/staff/aozora/calendar?week=2026-09-27", PrevText: say("前の週", "Previous week"),
		NextURL: "/staff/aozora/calendar?week=2026-10-11", NextText: say("次の週", "Next week"), NowURL: "/staff/aozora/calendar?week=2026-10-04", NowText: say("今週", "This week"), IsNow: true,
		PathURL: StaffCalendarURL("aozora"), JumpKind: "date", JumpName: "week", JumpText: say("この日を含む週", "Week with this day"), JumpValue: "2026-10-04",
		Keep: []Hidden{{"service", "yoga"}}, Choosers: staffTestChoosers(say), AddURL: StaffAddSlotsURL("aozora"), SelfURL: "/staff/aozora/calendar?week=2026-10-04",
		UpdatedAt: "14:38",
	}
}

func staffTestWeek(say staffSay) StaffCalendarPage {
	p := staffTestCalendar(say)
	yoga, pilates, briefing := say("朝ヨガ", "Morning yoga"), say("ピラティス入門", "Pilates for beginners"), say("夜の説明会", "Night briefing")
	a, b := say("スタジオA", "Studio A"), say("スタジオB", "Studio B")
	p.Colours = []StaffChoice{{Text: a, URL: "/staff/aozora/calendar?resource=a&week=2026-10-04", Hue: 1}, {Text: b, URL: "/staff/aozora/calendar?resource=b&week=2026-10-04", Hue: 2}}
	at := func(m int) string { return fmt.Sprintf("%d:%02d", m/60, m%60) }
	slot := func(id string, from, until, lane, of int, service, resource string, hue int, state string, bar StaffBar, waiting int) StaffWeekSlot {
		return StaffWeekSlot{
			ID: id, URL: StaffSlotURL("aozora", id), Time: at(from) + say("〜", "–") + at(until), Start: at(from), From: from, Until: until, Lane: lane, Of: of,
			Service: service, Resource: resource, Hue: hue, State: state, Bar: bar, Waiting: waiting,
		}
	}
	week := &StaffWeek{From: 9, Until: 24, Zoom: 1}
	ja := []string{"日", "月", "火", "水", "木", "金", "土"}
	en := []string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}
	for i := range 7 {
		no := fmt.Sprint(4 + i)
		d := StaffWeekDay{
			Date: fmt.Sprintf("2026-10-%02d", 4+i), Weekday: say(ja[i], en[i]), Day: no, Label: say("10月"+no+"日（"+ja[i]+"）", en[i]+" "+no+" Oct"),
			URL: StaffDayURL("aozora", fmt.Sprintf("2026-10-%02d", 4+i)), Today: i == 4, Past: i < 4, Lanes: 1, Now: -1,
		}
		switch i {
		case 0:
			d.Kind = "sun"
			d.Slots = []StaffWeekSlot{slot("40", 600, 660, 0, 1, yoga, a, 1, "over", StaffBar{Capacity: 10, Booked: 9, Free: 1}, 0)}
		case 2:
			d.Closed, d.Note = true, say("棚卸し", "stocktaking")
		case 3:
			d.Slots = []StaffWeekSlot{
				slot("41", 600, 660, 0, 2, yoga, a, 1, "over", StaffBar{Capacity: 10, Booked: 10}, 0),
				slot("42", 630, 705, 1, 2, pilates, b, 2, "over", StaffBar{Capacity: 8, Booked: 3, Free: 5}, 0),
			}
			d.Lanes = 2
		case 4:
			d.Now = 878
			d.Slots = []StaffWeekSlot{
				slot("1", 600, 660, 0, 1, yoga, a, 1, "over", StaffBar{Capacity: 10, Booked: 9, Free: 1}, 0),
				slot("3", 960, 1020, 0, 1, pilates, b, 2, "few", StaffBar{Capacity: 8, Booked: 5, Held: 1, Free: 2}, 0),
				slot("4", 1110, 1170, 0, 2, yoga, a, 1, "waitlist", StaffBar{Capacity: 10, Booked: 6, Held: 1, Offered: 3}, 3),
				slot("5", 1140, 1200, 1, 2, briefing, b, 2, "free", StaffBar{Capacity: 40, Booked: 6, Free: 34, Kept: true}, 2),
				slot("6", 1260, 1320, 0, 1, yoga, a, 1, "cancelled", StaffBar{Capacity: 10, Free: 10}, 0),
			}
			d.Slots[3].Paused = true
			d.Lanes = 2
		case 5:
			s := slot("7", 1320, 1440, 0, 1, briefing, b, 2, "free", StaffBar{Capacity: 20, Booked: 4, Free: 16}, 0)
			s.Time = say("22:00〜翌01:00", "22:00–01:00 (next day)")
			d.Slots = []StaffWeekSlot{slot("8", 540, 570, 0, 1, yoga, a, 1, "closed", StaffBar{Capacity: 4, Booked: 1, Free: 3}, 0), s}
		case 6:
			d.Kind, d.Holiday = "sat", say("スポーツの日", "Sports Day")
			d.Clock = say("時計が戻る日（02:00→01:00）", "Clocks go back (02:00 → 01:00)")
			d.Slots = []StaffWeekSlot{slot("9", 1380, 1440, 0, 1, yoga, a, 1, "full", StaffBar{Capacity: 6, Booked: 6}, 0)}
			d.Slots[0].Time = say("23:00〜24:00", "23:00–00:00 (next day)")
		}
		week.Days = append(week.Days, d)
	}
	p.Week = week
	return p
}

func staffTestMonth(say staffSay) StaffCalendarPage {
	p := staffTestCalendar(say)
	p.Views, p.Heading = staffTestViews(say, 2), say("2026年10月", "October 2026")
	p.PrevText, p.NextText, p.NowText = say("前の月", "Previous month"), say("次の月", "Next month"), say("今月", "This month")
	p.JumpKind, p.JumpName, p.JumpText, p.JumpValue = "month", "month", say("月", "Month"), "2026-10"
	m := &StaffMonth{Holidays: []string{say("10月12日（月） スポーツの日", "Mon 12 Oct Sports Day")}}
	ja := []string{"日", "月", "火", "水", "木", "金", "土"}
	en := []string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}
	kind := func(i int) string { return map[int]string{0: "sun", 6: "sat"}[i%7] }
	for i := range 7 {
		m.Weekdays = append(m.Weekdays, StaffMonthWeekday{Text: say(ja[i], en[i]), Kind: kind(i)})
	}
	for i := range 35 {
		no, month, in := i-3, 10, true
		switch {
		case no < 1:
			no, month, in = no+30, 9, false
		case no > 31:
			no, month, in = no-31, 11, false
		}
		d := StaffMonthDay{
			Date: fmt.Sprintf("2026-%02d-%02d", month, no), Day: fmt.Sprint(no), Label: say(fmt.Sprintf("%d月%d日（%s）", month, no, ja[i%7]), fmt.Sprintf("%s %d/%d", en[i%7], no, month)),
			URL: StaffDayURL("aozora", fmt.Sprintf("2026-%02d-%02d", month, no)), Today: in && no == 8, Past: month == 9 || in && no < 8, Other: !in, Kind: kind(i),
		}
		if in && i%7 != 0 {
			d.Slots, d.Bar = 6, StaffBar{Capacity: 62, Booked: 20 + no, Offered: 4, Free: 38 - no}
		}
		if in && no == 8 {
			d.Calls, d.Offers, d.Waiting, d.Full, d.Cancelled = 1, 2, 5, 1, 1
		}
		if in && no == 12 {
			d.Kind, d.Holiday = "sun", say("スポーツの日", "Sports Day")
		}
		if in && no == 13 {
			d.Closed, d.Note, d.Slots, d.Bar, d.Shut = true, say("棚卸し", "stocktaking"), 1, StaffBar{Capacity: 8, Free: 8}, 1
		}
		m.Days = append(m.Days, d)
	}
	p.Month = m
	return p
}

func dayStaffStories() []staffStory {
	return []staffStory{
		{"day_filtered", func(say staffSay) templ.Component {
			p := staffTestToday(say)
			p.Attention, p.IsToday, p.Views, p.Choosers, p.AddURL = StaffAttention{}, false, staffTestViews(say, 0), staffTestChoosers(say), StaffAddSlotsURL("aozora")
			p.Keep, p.Holiday, p.Closed = []Hidden{{"service", "yoga"}}, say("スポーツの日", "Sports Day"), say("休業日（棚卸し）", "Closed day (stocktaking)")
			p.Slots = p.Slots[2:4]
			p.Slots[0].Before, p.Slots[0].Next, p.Slots[0].Soon, p.Slots[0].Ends = true, false, "", say("24:00", "00:00 (next day)")
			return StaffToday(p)
		}},
		{"calendar_week", func(say staffSay) templ.Component { return StaffCalendar(staffTestWeek(say)) }},
		{"calendar_week_empty", func(say staffSay) templ.Component {
			p := staffTestWeek(say)
			p.IsNow, p.Choosers, p.AddURL, p.Colours, p.Keep = false, nil, "", nil, nil
			p.Week.From, p.Week.Until = 9, 18
			for i := range p.Week.Days {
				p.Week.Days[i].Slots, p.Week.Days[i].Lanes, p.Week.Days[i].Now = nil, 1, -1
			}
			return StaffCalendar(p)
		}},
		{"calendar_week_cut", func(say staffSay) templ.Component {
			p := staffTestWeek(say)
			p.Cut = say("枠が多いため、はじめの1000件だけを表示しています。", "There are too many slots for one page: these are the first 1000.")
			d := &p.Week.Days[4]
			d.Slots, d.Lanes = nil, 5
			for i := range 5 {
				s := p.Week.Days[0].Slots[0]
				s.ID, s.Lane, s.Of, s.Hue, s.State = fmt.Sprint(60+i), i, 5, i+1, "free"
				d.Slots = append(d.Slots, s)
			}
			return StaffCalendar(p)
		}},
		{"calendar_month", func(say staffSay) templ.Component { return StaffCalendar(staffTestMonth(say)) }},
		{"keys", func(say staffSay) templ.Component {
			return StaffKeys(StaffKeysPage{Page: staffTestPage(say, say("キーボード操作", "Keyboard shortcuts")), Staff: staffTestFrame("")})
		}},
	}
}
