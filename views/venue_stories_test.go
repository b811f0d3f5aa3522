package views

import (
	"strconv"
	"time"

	"github.com/a-h/templ"
	"github.com/skip2/go-qrcode"

	"holdfast/views/i18n"
)

func (b bench) about() *ServiceAbout {
	return &ServiceAbout{
		Name:    b.pick("朝の ゆるヨガ", "Gentle morning yoga"),
		Details: b.pick("呼吸を整えながら、ゆっくり体をほぐす60分です。", "An hour of slow movement, led by the breath."),
		Place:   b.pick("凪ビル3階", "Nagi Building, 3rd floor"),
		Bring:   b.pick("動きやすい服、飲みもの", "Comfortable clothes and something to drink"),
	}
}

func (b bench) views(month bool) []Choice {
	return []Choice{
		{Text: i18n.For(b.lang).T("venue.view.days"), URL: "/nagi?date=2026-10-08", Current: !month},
		{Text: i18n.For(b.lang).T("venue.view.month"), URL: "/nagi?month=2026-10", Current: month},
	}
}

// month is September 2026: the 21st to the 23rd are holidays in a row.
func (b bench) month(empty bool) VenuePage {
	c := i18n.For(b.lang)
	v := b.venue(7)
	v.Strip, v.Days, v.PrevURL, v.NextURL, v.Views = nil, nil, "", "/nagi?month=2026-10", b.views(true)
	first := b.at(9, 1, 0, 0)
	m := &VenueMonth{Title: c.Month(first, b.loc)}
	v.Month, v.Grid = m.Title, m
	kind := func(d time.Weekday, holiday string) DayKind {
		switch {
		case d == time.Sunday || holiday != "":
			return DaySunday
		case d == time.Saturday:
			return DaySaturday
		default:
			return DayPlain
		}
	}
	for d := range 7 {
		m.Weekdays = append(m.Weekdays, VenueWeekday{Short: c.Weekday(time.Weekday(d)), Long: c.WeekdayLong(time.Weekday(d)), Kind: kind(time.Weekday(d), "")})
	}
	holidays := map[int]string{21: b.pick("敬老の日", "Respect for the Aged Day"), 22: b.pick("国民の休日", "Citizens' Holiday"), 23: b.pick("秋分の日", "Autumnal Equinox Day")}
	states := []SlotState{SlotFree, SlotFew, SlotWaitlist, SlotFull, "", SlotFree, SlotClosed, SlotCancelled}
	week := make([]VenueMonthDay, int(first.Weekday()))
	for day := 1; day <= 30; day++ {
		at := b.at(9, day, 0, 0)
		d := VenueMonthDay{
			Day: strconv.Itoa(day), Date: at.Format(time.DateOnly), Label: c.Date(at, b.loc), Today: day == 8, Holiday: holidays[day], Kind: kind(at.Weekday(), holidays[day]),
		}
		if d.Holiday != "" {
			m.Holidays = append(m.Holidays, c.DateShort(at, b.loc)+" "+d.Holiday)
		}
		if day >= 8 {
			d.URL = "/nagi?date=" + d.Date
			if !empty {
				d.State = states[day%len(states)]
			}
			switch {
			case day == 22:
				d.State, d.Closed, d.Note = "", true, b.pick("連休のため", "A long weekend")
			case empty:
			case day == 8:
				d.State, d.Phase = SlotOutside, PhaseOver
			case day > 26:
				d.State, d.Phase, d.Opens = SlotOutside, PhaseNotYet, c.T("venue.opens", "time", c.DateTimeShort(b.at(9, day-10, 10, 0), b.loc))
			}
		}
		if week = append(week, d); len(week) == 7 {
			m.Weeks, week = append(m.Weeks, week), nil
		}
	}
	if week != nil {
		m.Weeks = append(m.Weeks, append(week, make([]VenueMonthDay, 7-len(week))...))
	}
	if empty {
		m.Empty = c.T("venue.nothing_month")
		v.NextFree = &Link{c.T("venue.next_free", "date", c.DateShort(b.at(10, 9, 0, 0), b.loc)), "/nagi?date=2026-10-09"}
	}
	return v
}

func venueStories() []story {
	return []story{
		{"venue-month", func(b bench) templ.Component { return Venue(b.month(false)) }},
		{"venue-month-empty", func(b bench) templ.Component { return Venue(b.month(true)) }},
		{"venue-closed-day", func(b bench) templ.Component {
			v := b.venue(7)
			c := i18n.For(b.lang)
			v.Services[0].Current, v.About = false, nil
			for i := range v.Days {
				d := &v.Days[i]
				switch {
				case d.Current: // closed, and a slot stands all the same
					d.Closed, d.Note, d.Slots = true, b.pick("年末のため休業します", "Closed for the end of the year"), d.Slots[1:2]
				case d.Date == "2026-10-09":
					d.Closed, d.Note, d.Slots, d.Nothing = true, b.pick("設備の点検のため休業します", "Closed for maintenance"), nil, c.T("venue.nothing_closed")
				case d.Date == "2026-10-12":
					d.Holiday, d.Kind = b.pick("スポーツの日", "Sports Day"), DaySunday
				}
			}
			v.Strip[2].Closed = true
			v.Strip[3].Closed, v.Strip[3].State = true, ""
			v.Strip[6].Holiday, v.Strip[6].Kind = b.pick("スポーツの日", "Sports Day"), DaySunday
			return Venue(v)
		}},
		{"venue-not-yet", func(b bench) templ.Component {
			v := b.venue(7)
			c := i18n.For(b.lang)
			for i := range v.Days {
				if d := &v.Days[i]; d.Current {
					d.Slots = []SlotRow{b.row(1, 8, 7, 0, SlotOutside, 0), b.row(2, 8, 10, 0, SlotOutside, 0), b.row(3, 8, 18, 30, SlotOutside, 0)}
					d.Slots[0].Phase, d.Slots[1].Phase = PhasePast, PhaseOver
					d.Slots[2].Phase, d.Slots[2].Note = PhaseNotYet, c.T("venue.opens", "time", c.DateTimeShort(b.at(10, 7, 10, 0), b.loc))
				} else if len(d.Slots) == 0 {
					d.Nothing = c.T("venue.nothing_day")
				}
			}
			v.Strip[2].State, v.Strip[2].Phase = SlotOutside, PhaseNotYet
			v.NextFree = &Link{c.T("venue.next_free", "date", c.DateShort(b.at(10, 9, 0, 0), b.loc)), "/nagi?date=2026-10-09"}
			return Venue(v)
		}},
		{"venue-one-service", func(b bench) templ.Component {
			v := b.venue(7)
			v.Services = v.Services[:1]
			v.About.Price = b.pick("3,300円（税込・当日払い）", "3,300 yen, tax included, paid at the counter on the day")
			v.About.Duration = b.pick("60分", "60 min")
			return Venue(v)
		}},
		{"venue-long-prices", func(b bench) templ.Component {
			v := b.venue(7)
			v.Services[0].Price = b.pick("お一人 3,300円（税込・当日 受付にて現金またはカード払い）", "3,300 yen a person, tax included, in cash or by card at the counter on the day")
			v.Services[1].Name = b.pick("小さな結婚式 見学と試食と見積もりの会", "Small weddings: a look around, a tasting, and a talk about costs")
			return Venue(v)
		}},
		{"venue-filtered", func(b bench) templ.Component {
			v := b.venue(7)
			c := i18n.For(b.lang)
			v.FreeOnly.Current, v.Unfiltered = true, "/nagi?date=2026-10-08"
			for i := range v.Days {
				v.Days[i].Slots, v.Days[i].Nothing = nil, c.T("venue.nothing_filtered")
			}
			return Venue(v)
		}},
		{"venue-embed", func(b bench) templ.Component {
			v := b.venue(7)
			v.Page.LanguageAction, v.Page.Canonical = "", "https://yoyaku.example/nagi"
			for i := range v.Days {
				for j := range v.Days[i].Slots {
					v.Days[i].Slots[j].Top = true
				}
			}
			other := i18n.EN
			if b.lang == i18n.EN {
				other = i18n.JA
			}
			v.Languages = []LanguageLink{{other, i18n.For(other).T("chrome.language.own"), "/nagi/embed?lang=" + other}}
			return VenueEmbed(v)
		}},
		{"poster", func(b bench) templ.Component {
			q, err := qrcode.New("https://yoyaku.example/nagi", qrcode.Medium)
			if err != nil {
				panic(err)
			}
			q.DisableBorder = true
			return Poster(PosterPage{
				Page: b.page(), Address: "yoyaku.example/nagi", QR: q.Bitmap(),
				Snippet: `<iframe src="https://yoyaku.example/nagi/embed"></iframe>`, Origins: []string{"https://www.nagi.example"},
			})
		}},
	}
}
