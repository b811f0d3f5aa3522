package views

import (
	"github.com/a-h/templ"

	"holdfast/views/i18n"
)

func (b bench) questions() []Question {
	return []Question{
		{ID: "guests", Kind: QuestionChoice, Label: b.pick("お考えの人数", "How many guests do you have in mind?"), Required: true, Options: []Option{
			{Value: "up_to_10", Text: b.pick("10名まで", "Up to 10")}, {Value: "up_to_30", Text: b.pick("11〜30名", "11 to 30"), Selected: true},
		}},
		{ID: "diet", Kind: QuestionText, Label: b.pick("食べられないもの", "What you cannot eat"), Value: b.pick("えび", "Shrimps"), Max: 60},
		{ID: "wishes", Kind: QuestionText, Label: b.pick("当日 ご覧になりたいところ", "What you would like to see"), Max: 400},
		{
			ID: "photographs", Kind: QuestionConsent, Label: b.pick("当日の写真に写ってもかまいません", "I may be seen in photographs of the day"), Checked: true,
			Hint: b.pick("お店の紹介に使うことがあります。", "We may use them to present the venue."),
		},
		{ID: "terms", Kind: QuestionConsent, Label: b.pick("会場の利用規約を読みました", "I have read the rules of the venue"), Required: true},
	}
}

func (b bench) emailChange() EmailChangePage {
	return EmailChangePage{
		Page: b.page(), Slot: b.slot(), Email: "yoshiro.takahashi+class@mail.example", Action: EmailChangeURL("nagi", "t"), Until: b.dateTime(7, 14, 35),
	}
}

func (b bench) together(form *HoldForm) {
	c := i18n.For(b.lang)
	form.Together = []Option{
		{Value: "1", Text: c.T("details.this_only"), Selected: true},
		{Value: "2", Text: c.T("details.in_a_row", "n", 2, "time", c.TimeRange(b.at(10, 8, 18, 30), b.at(10, 8, 20, 30), b.loc))},
		{Value: "3", Text: c.T("details.row_short", "time", c.TimeRange(b.at(10, 8, 18, 30), b.at(10, 8, 21, 30), b.loc)), Disabled: true},
	}
	form.NextSlots = []string{"42 1", "43 1"}
}

func detailsStories() []story {
	return []story{
		{"slot-together", func(b bench) templ.Component {
			v := b.slotPage()
			b.together(v.Hold)
			return Slot(v)
		}},
		{"slot-together-short", func(b bench) templ.Component {
			v := b.slotPage()
			b.together(v.Hold)
			v.Hold.Together[0].Selected, v.Hold.Together[1].Selected = false, true
			v.Hold.Errs = Errors{FieldTogether: b.pick("枠の数を選び直してください。", "Please choose again how many slots you want.")}
			c := i18n.For(b.lang)
			span := c.TimeRange(b.at(10, 8, 19, 30), b.at(10, 8, 20, 30), b.loc)
			v.Banner = &Banner{Kind: FlashRefused, Code: "sold_out", Title: c.T("details.short.title", "time", span), Text: c.T("details.short.text")}
			return Slot(v)
		}},
		{"slot-full-questions", func(b bench) templ.Component {
			v := b.slotPage()
			v.State, v.SeatsLeft, v.Hold, v.Join = SlotWaitlist, 0, nil, b.joinForm()
			v.Join.Contact.Questions = b.questions()[:1]
			return Slot(v)
		}},
		{"hold-questions", func(b bench) templ.Component {
			v := b.hold()
			v.Contact.Questions = b.questions()
			v.More = []SlotFacts{b.other()}
			return Hold(v)
		}},
		{"hold-questions-errors", func(b bench) templ.Component {
			v := b.hold()
			v.Contact = b.contact()
			v.Contact.Questions = b.questions()
			c := i18n.For(b.lang)
			v.Contact.Errs = Errors{
				FieldAnswer + "guests": c.T("form.err.answer_choice"), FieldAnswer + "diet": c.T("form.err.too_long", "n", 60),
				FieldAnswer + "wishes": c.T("form.err.answer"), FieldAnswer + "terms": c.T("form.err.consent"),
			}
			return Hold(v)
		}},
		{"booked-details", func(b bench) templ.Component {
			v := b.booked()
			other := b.other()
			other.URL = ReservationURL("nagi", "u")
			v.More = []SlotFacts{other}
			v.Calendars = []Link{
				{i18n.For(b.lang).T("details.google"), "https://calendar.google.com/calendar/render?action=TEMPLATE"},
				{i18n.For(b.lang).T("details.outlook"), "https://outlook.live.com/calendar/0/deeplink/compose?rru=addevent"},
			}
			v.Answers = []Answer{
				{b.pick("お考えの人数", "How many guests do you have in mind?"), b.pick("11〜30名", "11 to 30")},
				{b.pick("当日の写真に写ってもかまいません", "I may be seen in photographs of the day"), i18n.For(b.lang).T("details.no")},
			}
			v.Pending = &EmailPending{"yoshiro.takahashi+class@mail.example", b.dateTime(7, 14, 35)}
			v.Correct = &CorrectForm{Action: ReservationContactURL("nagi", "t"), Contact: b.contact()}
			return Booked(v)
		}},
		{"booked-correct", func(b bench) templ.Component {
			v := b.booked()
			c := b.contact()
			c.Questions = b.questions()[:2]
			c.Email = "a@"
			c.Errs = Errors{FieldEmail: i18n.For(b.lang).T("form.err.email"), FieldAnswer + "guests": i18n.For(b.lang).T("form.err.answer_choice")}
			v.Correct = &CorrectForm{Action: ReservationContactURL("nagi", "t"), Contact: c, Open: true, Missing: i18n.For(b.lang).T("details.missing")}
			return Booked(v)
		}},
		{"email-change", func(b bench) templ.Component { return EmailChange(b.emailChange()) }},
		{"email-change-refused", func(b bench) templ.Component {
			v := b.emailChange()
			v.Banner = &Banner{Kind: FlashInfo, Code: "already_booked", Title: i18n.For(b.lang).T("outcome.already_booked.title"), Text: i18n.For(b.lang).T("outcome.already_booked.text")}
			return EmailChange(v)
		}},
		{"email-change-done", func(b bench) templ.Component {
			v := b.emailChange()
			v.Action, v.Email, v.Done, v.BookingURL = "", "", true, ReservationURL("nagi", "t")
			return EmailChange(v)
		}},
		{"email-change-over", func(b bench) templ.Component {
			v := b.emailChange()
			v.Action, v.Email, v.Over = "", "", true
			return EmailChange(v)
		}},
	}
}
