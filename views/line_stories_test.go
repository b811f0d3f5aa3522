package views

import "github.com/a-h/templ"

func (b bench) lineBox() *LineBox {
	return &LineBox{
		Action: ReservationLineURL("nagi", "t"), Self: ReservationURL("nagi", "t") + "#line", Venue: b.page().Tenant.Name, Account: "@012abcde",
	}
}

func lineStories() []story {
	return []story{
		{"booked-line-off", func(b bench) templ.Component {
			v := b.booked()
			v.Line = b.lineBox()
			return Booked(v)
		}},
		{"booked-line-code", func(b bench) templ.Component {
			v := b.booked()
			v.Line = b.lineBox()
			v.Line.Code, v.Line.Until, v.Line.QR = "7K4MQ2XP", "15:04", v.QR
			v.Line.OpenURL = LineMessageURL("@012abcde", v.Line.Code)
			return Booked(v)
		}},
		{"booked-line-linked", func(b bench) templ.Component {
			v := b.booked()
			v.Line = b.lineBox()
			v.Line.Stop, v.Line.More = ReservationLineStopURL("nagi", "t"), true
			return Booked(v)
		}},
		{"entry-line-linked", func(b bench) templ.Component {
			v := b.entry(EntryWaiting)
			v.Line = b.lineBox()
			v.Line.Action, v.Line.Stop, v.Line.Entry, v.Line.All = WaitlistLineURL("nagi", "t"), WaitlistLineStopURL("nagi", "t"), true, true
			return Entry(v)
		}},
	}
}
