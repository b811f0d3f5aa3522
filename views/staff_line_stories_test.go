package views

import "github.com/a-h/templ"

func init() { moreStaffStories = append(moreStaffStories, lineStaffStories) }

func lineStaffStories() []staffStory {
	none := func(say staffSay) StaffLinePage {
		return StaffLinePage{
			Page: staffTestPage(say, say("LINEでのお知らせ", "Messages by LINE")), Staff: staffTestFrame("settings"),
			State: "none", StateText: say("下の手順でつなぐと、お客さまのページに「LINEで受け取る」が現れます。", "Once you have followed the steps below, customers find “Get it by LINE” on their pages."),
			Webhook: "https://reserve.aozora.example" + LineWebhookURL("aozora"),
			Form:    StaffLineForm{ActionURL: StaffLineURL("aozora"), Version: "0"},
		}
	}
	connected := func(say staffSay, state, text string) StaffLinePage {
		p := none(say)
		p.State, p.StateText, p.Linked = state, text, 128
		p.CheckURL, p.RemoveURL = StaffLineCheckURL("aozora"), StaffLineRemoveURL("aozora")
		p.Form.ID, p.Form.Version, p.Form.Kept, p.Form.Warn = "@012abcde", "3", true, true
		return p
	}
	return []staffStory{
		{"line-none", func(say staffSay) templ.Component {
			p := none(say)
			p.Insecure = true
			return StaffLine(p)
		}},
		{"line-working", func(say staffSay) templ.Component {
			return StaffLine(connected(say, "working", say("10:05に確認しました。LINEでの名前は「青空スタジオ」です。", "Checked 10:05. LINE calls the account “青空スタジオ”.")))
		}},
		{"line-paused", func(say staffSay) templ.Component {
			return StaffLine(connected(say, "paused", say("2026年11月1日（日）0:00まで、お知らせはメールでお送りします。", "Until Sun 1 Nov 2026, 00:00 messages go by mail.")))
		}},
		{"line-broken", func(say staffSay) templ.Component {
			p := connected(say, "broken", say("9:12から、LINEがチャネルアクセストークンを受け付けません。", "Since 09:12 LINE has refused the channel access token."))
			p.Problem = say("LINEがチャネルアクセストークンを受け付けませんでした。", "LINE did not take the channel access token.")
			return StaffLine(p)
		}},
		{"line-errors", func(say staffSay) templ.Component {
			p := none(say)
			p.Form.ID = "お店"
			p.Form.Errs = Errors{
				FieldLineID:     say("@から始まるIDを、英数字で入力してください。", "Enter the ID that begins with @, in letters and digits."),
				FieldLineSecret: say("チャネルシークレットは32文字の英数字です。", "A channel secret has 32 letters and digits."),
			}
			return StaffLine(p)
		}},
	}
}
