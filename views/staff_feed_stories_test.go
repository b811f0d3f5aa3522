package views

import (
	"strings"

	"github.com/a-h/templ"
)

func init() { moreStaffStories = append(moreStaffStories, feedStaffStories) }

func feedStaffStories() []staffStory {
	none := func(say staffSay) StaffFeedPage {
		return StaffFeedPage{
			Page: staffTestPage(say, say("カレンダーで見る", "In your calendar")), Staff: staffTestFrame("settings"),
			ActionURL: StaffFeedURL("aozora"), OffURL: StaffFeedOffURL("aozora"),
		}
	}
	return []staffStory{
		{"feed-none", func(say staffSay) templ.Component { return StaffFeed(none(say)) }},
		{"feed", func(say staffSay) templ.Component {
			p := none(say)
			address := CalendarFeedURL("aozora", strings.Repeat("k7p2m4xq", 4), "", "studio-a")
			p.Address, p.OpenURL = "https://reserve.aozora.example"+address, "webcal://reserve.aozora.example"+address
			p.Services = []Option{{Text: say("すべてのサービス", "All services")}, {Value: "yoga", Text: say("朝のヨガ", "Morning yoga")}, {Value: "talk", Text: say("はじめての方のための個別相談と体験レッスン", "A talk and a trial lesson for beginners")}}
			p.Resources = []Option{{Text: say("すべての担当・会場", "All resources")}, {Value: "studio-a", Text: say("スタジオA", "Studio A"), Selected: true}, {Value: "studio-b", Text: say("スタジオB", "Studio B")}}
			p.Range = say("30日前から180日先までの枠を、4,000件まで表示します。", "It lists slots from 30 days ago to 180 days ahead, up to 4,000 of them.")
			p.Guides = []StaffFeedGuide{
				{"Google", []string{say("上のアドレスをコピーします。", "Copy the address above."), say("「他のカレンダー」の横の「＋」から「URLで追加」を選びます。", "Press + beside “Other calendars” and choose “From URL”."), say("アドレスを貼り付けて「カレンダーを追加」を押します。", "Paste the address and press “Add calendar”.")}},
				{"iPhone, iPad, Mac", []string{say("「カレンダーアプリで開く」を押します。", "Press “Open in a calendar app”.")}},
				{"Outlook", []string{say("「予定表を追加」から「Webから購読」を選びます。", "Choose “Add calendar” and then “Subscribe from web”.")}},
			}
			return StaffFeed(p)
		}},
	}
}
