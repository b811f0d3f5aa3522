package views

import "github.com/a-h/templ"

func init() { moreStaffStories = append(moreStaffStories, insightStaffStories) }

func storyHeat(say staffSay) *StaffHeat {
	h := &StaffHeat{Desc: say("もっとも埋まるのは土曜日 10:00（98%）。", "Fullest: Saturday at 10:00, 98%.")}
	h.Columns = append(h.Columns, "08:00", "09:00", "10:00", "11:00", "12:00", "13:00", "14:00", "15:00", "16:00", "17:00", "18:00", "19:00", "20:00")
	texts := []string{"0%", "14%", "33%", "52%", "75%", "98%"}
	ja, en := []string{"月", "火", "水", "木", "金", "土", "日"}, []string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}
	for i := range 7 {
		row := StaffHeatRow{Label: say(ja[i], en[i])}
		for j := range h.Columns {
			level := (i*5 + j*3) % 7
			if level == 6 {
				row.Cells = append(row.Cells, StaffHeatCell{Level: -1})
				continue
			}
			row.Cells = append(row.Cells, StaffHeatCell{Text: texts[level], Level: level})
		}
		h.Rows = append(h.Rows, row)
	}
	return h
}

func storyInsight(say staffSay) StaffInsightPage {
	table := StaffTable{
		Head:    []string{say("結果", "Outcome"), say("席", "Seats"), say("空いた席に対して（%）", "Of freed (%)")},
		Rows:    [][]string{{say("順番の案内で予約", "Booked by an offer"), "18", "60%"}, {say("空いたまま", "Stayed empty"), "3", "10%"}},
		FileURL: StaffInsightFileURL("aozora", "freed", StaffInsightFilter{From: "2026-09-11", To: "2026-10-08"}),
	}
	return StaffInsightPage{
		Page: staffTestPage(say, say("集計", "Insight")), Staff: staffTestFrame("insight"), ActionURL: StaffInsightURL("aozora"), From: "2026-09-11", To: "2026-10-08",
		Presets:  []StaffInsightPreset{{say("直近7日", "Last 7 days"), StaffInsightURL("aozora") + "?a=1", false}, {say("直近28日", "Last 28 days"), StaffInsightURL("aozora") + "?a=2", true}, {say("直近90日", "Last 90 days"), StaffInsightURL("aozora") + "?a=3", false}, {say("これから28日", "Next 28 days"), StaffInsightURL("aozora") + "?a=4", false}},
		Services: []Option{{Text: say("すべてのサービス", "All services"), Selected: true}, {Value: "yoga", Text: say("朝ヨガ", "Morning yoga")}, {Value: "pilates", Text: say("ピラティス入門", "Pilates for beginners")}},
		Period:   say("2026年9月11日（金）〜2026年10月8日（木）", "Fri 11 Sep 2026 – Thu 8 Oct 2026"),
		Figures: []StaffFigure{
			{say("稼働率", "Occupancy"), "78%", say("予約された席 1,240 ÷ 定員 1,590。", "1,240 seats booked of a capacity of 1,590.")},
			{say("来店なしの割合", "No-show rate"), "3%", say("来店なし 12組 ÷ 来店の有無が記入された 402組。記入のない 31組は、来たかどうか分からないため含みません。", "12 no-shows of 402 parties with a mark. 31 have none: whether they came cannot be known, so they are left out.")},
			{say("空いた席の再予約", "Seats filled again"), "90%", say("手放された後に再び予約された 27席 ÷ 結果の出た 30席。", "27 seats booked again of 30 given back.")},
			{say("再予約までの時間", "Time to refill"), say("24分", "24 min"), say("席が手放されてから次の予約が決まるまでの中央値。", "Median from a seat given back to its next booking.")},
		},
		Sections: []StaffInsightSection{
			{ID: "occupancy", Title: say("曜日と時刻ごとの稼働率", "Occupancy by weekday and hour"), Define: say("枠の開始時刻ごとに、予約された席 ÷ 定員。", "Seats booked of the capacity, by the hour in which a slot begins."), Heat: storyHeat(say), Table: table},
			{ID: "freed", Title: say("空いた席のゆくえ", "What became of freed seats"), Define: say("キャンセル、ほかの枠への変更、人数の減少で手放された席。", "Seats given back by a cancellation, a move or a smaller party."), Bars: []StaffBarRow{
				{say("順番の案内で予約", "Booked by an offer"), "18（60%）", 1, "good"},
				{say("お待ちの方が先着で予約", "Claimed by who waited"), "4（13%）", 0.22, "good"},
				{say("ほかの方が予約", "Booked by others"), "5（17%）", 0.28, "good"},
				{say("まだ空いている（開始前）", "Open still, slot ahead"), "2（7%）", 0.11, "open"},
				{say("空いたまま", "Stayed empty"), "0", 0, "lost"},
			}, Table: table},
			{ID: "refill", Title: say("再予約までの時間", "Time to refill"), Define: say("手放されてから次の予約が決まるまで。", "From a seat given back to its next booking."), Note: say("ファイルでは分で書き出します。", "In the file the times are in minutes."), Table: table},
		},
	}
}

func insightStaffStories() []staffStory {
	return []staffStory{
		{"insight", func(say staffSay) templ.Component { return StaffInsight(storyInsight(say)) }},
		{"insight-nothing", func(say staffSay) templ.Component {
			p := storyInsight(say)
			p.Nothing = true
			return StaffInsight(p)
		}},
		{"insight-problem", func(say staffSay) templ.Component {
			p := storyInsight(say)
			p.Period, p.From, p.To = "", "2026-10-08", "2020-01-01"
			p.Errs = Errors{"to": say("終了日は、開始日と同じかそれより後にしてください。", "The last day must not be before the first.")}
			return StaffInsight(p)
		}},
		{"insight-few", func(say staffSay) templ.Component {
			p := storyInsight(say)
			table := p.Sections[0].Table
			table.Rows = nil
			p.Sections = []StaffInsightSection{
				{ID: "none", Title: "A", Heat: &StaffHeat{Desc: say("枠がありません。", "There is no slot.")}, Table: table},
				{ID: "one", Title: "B", Heat: &StaffHeat{Desc: "–", Columns: []string{"09:00"}, Rows: []StaffHeatRow{{say("月", "Mon"), []StaffHeatCell{{"100%", 5}}}}}, Table: table},
				{ID: "one-bar", Title: "C", Bars: []StaffBarRow{{"<a>", "1", 1, ""}}, Table: table},
				{ID: "no-bar", Title: "D", Bars: []StaffBarRow{{"a", "0", 0, "good"}, {"b", "0", 0, "open"}}, Table: table},
			}
			return StaffInsight(p)
		}},
	}
}
