package views

import (
	"strconv"
	"time"

	"github.com/a-h/templ"
	qrcode "github.com/skip2/go-qrcode"

	"holdfast/static"
	"holdfast/views/i18n"
)

// A story is one component in one state. Every story is rendered in both
// languages and kept as a golden file; with -shots it is also photographed.
type story struct {
	name string
	make func(b bench) templ.Component
}

// bench is what stories are made with: a language and its words.
type bench struct {
	lang string
	loc  *time.Location
}

func (b bench) pick(ja, en string) string {
	if b.lang == i18n.JA {
		return ja
	}
	return en
}

func (b bench) at(month, day, hour, minute int) time.Time {
	return time.Date(2026, time.Month(month), day, hour, minute, 0, 0, b.loc)
}

func (b bench) when(day, hour, minute int) When {
	start := b.at(10, day, hour, minute)
	return WhenRange(b.lang, start, start.Add(time.Hour), b.loc, false)
}

func (b bench) dateTime(day, hour, minute int) string {
	return i18n.For(b.lang).DateTime(b.at(10, day, hour, minute), b.loc)
}

func (b bench) page() Page {
	return Page{
		Tenant: Tenant{
			Name: b.pick("ヨガスタジオ 凪", "Nagi Yoga Studio"), Slug: "nagi", URL: VenueURL("nagi"),
			Phone: "03-1234-5678", Email: "hello@nagi.example",
			Address: b.pick("東京都世田谷区北沢2-1-1 凪ビル3階", "Nagi Building 3F, 2-1-1 Kitazawa, Setagaya, Tokyo"),
			MapURL:  "https://maps.example/nagi", PrivacyURL: "https://nagi.example/privacy", LegalURL: "https://nagi.example/legal",
			Zone: i18n.For(b.lang).ZoneLong(b.at(10, 8, 0, 0), b.loc),
		},
		LanguageAction: LanguageURL("nagi"),
		Return:         "/nagi?date=2026-10-08",
	}
}

func (b bench) slot() SlotFacts {
	return SlotFacts{
		ID: "41", Service: b.pick("朝の ゆるヨガ", "Gentle morning yoga"), Resource: b.pick("スタジオA（森下先生）", "Studio A, with Ms Morishita"),
		When: b.when(8, 18, 30), Price: b.pick("3,300円（税込・当日 受付にてお支払い）", "¥3,300 incl. tax, paid at the desk on the day"),
		Place: b.pick("凪ビル3階", "Nagi Building, 3rd floor"), Bring: b.pick("動きやすい服、飲みもの", "Comfortable clothes and something to drink"),
	}
}

func (b bench) other() SlotFacts {
	s := b.slot()
	s.ID, s.When = "47", b.when(9, 19, 0)
	return s
}

func (b bench) row(id, day, hour, minute int, state SlotState, left int) SlotRow {
	start := b.at(10, day, hour, minute)
	return SlotRow{
		ID: strconv.Itoa(id), URL: SlotURL("nagi", strconv.Itoa(id)), When: WhenShort(b.lang, start, start.Add(time.Hour), b.loc),
		Service: b.pick("朝の ゆるヨガ", "Gentle morning yoga"), Resource: b.pick("スタジオA", "Studio A"), State: state, SeatsLeft: left,
	}
}

func (b bench) near() []SlotRow {
	return []SlotRow{b.row(42, 8, 20, 0, SlotFew, 2), b.row(43, 9, 18, 30, SlotFree, 8), b.row(44, 10, 10, 0, SlotFree, 10)}
}

func (b bench) parties(selected, most int) []Option {
	var out []Option
	for n := 1; n <= 4; n++ {
		out = append(out, Option{
			Value: strconv.Itoa(n), Text: i18n.For(b.lang).T("party", "n", n),
			Selected: n == selected, Disabled: n > most,
		})
	}
	return out
}

func (b bench) deadline(left, total int) Deadline {
	return Deadline{Text: "14:35", At: "2026-10-06T14:35:00+09:00", SecondsLeft: left, Total: total}
}

func (b bench) contact() ContactForm {
	return ContactForm{
		Name: "髙橋 𠮷郎", Kana: "たかはし よしろう", Email: "yoshiro.takahashi@mail.example", Phone: "090-1234-5678",
		Note: b.pick("初めて参加します。", "It is my first time."), NeedEmail: true,
	}
}

func (b bench) cancelRule() string {
	return b.pick("10月7日（水）18:30 まで、キャンセルできます。", "You can cancel until Wed 7 Oct, 18:30.")
}

func (b bench) strip() []DayTab {
	c := i18n.For(b.lang)
	states := []SlotState{SlotFull, "", SlotFew, SlotFree, SlotFree, SlotFree, SlotWaitlist, SlotFree, "", SlotFree, SlotFree, SlotFree, SlotFree, SlotOutside}
	var out []DayTab
	for i, state := range states {
		t := b.at(10, 6+i, 12, 0)
		tab := DayTab{
			Weekday: c.Weekday(t.Weekday()), Day: strconv.Itoa(t.Day()), Label: c.Date(t, b.loc),
			URL:     VenueFilterURL("nagi", VenueFilter{Date: t.Format("2006-01-02")}),
			Current: i == 2, Today: i == 0, State: state,
		}
		if i == 0 {
			tab.Month = c.MonthShort(t, b.loc)
		}
		switch t.Weekday() {
		case time.Saturday:
			tab.Kind = DaySaturday
		case time.Sunday:
			tab.Kind = DaySunday
		}
		out = append(out, tab)
	}
	return out
}

func (b bench) days(n int) []VenueDay {
	c := i18n.For(b.lang)
	var out []VenueDay
	for i := range n {
		day := 6 + i
		if n == 1 {
			day = 8
		}
		t := b.at(10, day, 12, 0)
		d := VenueDay{
			Date: t.Format("2006-01-02"), Title: c.DateShort(t, b.loc), Long: c.Date(t, b.loc), At: t.Format(time.RFC3339),
			Current: day == 8, Today: day == 6,
		}
		switch t.Weekday() {
		case time.Saturday:
			d.Kind = DaySaturday
		case time.Sunday:
			d.Kind = DaySunday
		}
		if day != 7 {
			d.Slots = []SlotRow{
				b.row(day*10, day, 7, 0, SlotOutside, 0),
				b.row(day*10+1, day, 10, 0, SlotFree, 12),
				b.row(day*10+2, day, 13, 0, SlotFew, 2),
				b.row(day*10+3, day, 18, 30, SlotWaitlist, 0),
				b.row(day*10+4, day, 20, 0, SlotFull, 0),
			}
			if day == 9 {
				d.Slots = append(d.Slots, b.row(99, day, 21, 30, SlotClosed, 0), b.row(100, day, 22, 0, SlotCancelled, 0))
			}
		}
		out = append(out, d)
	}
	return out
}

func (b bench) venue(days int) VenuePage {
	return VenuePage{
		Page:  b.page(),
		Intro: b.pick("下北沢の小さなヨガスタジオです。はじめての方も、お気軽にお越しください。", "A small yoga studio in Shimokitazawa. Beginners are welcome."),
		Services: []ServiceCard{
			{Name: b.pick("朝の ゆるヨガ", "Gentle morning yoga"), Price: b.pick("3,300円", "¥3,300"), Duration: b.pick("60分", "60 min"), URL: "/nagi?service=gentle", Current: true},
			{Name: b.pick("体験レッスン", "Trial lesson"), Price: b.pick("1,100円", "¥1,100"), Duration: b.pick("45分", "45 min"), URL: "/nagi?service=trial"},
		},
		Resources: []Choice{{Text: b.pick("すべて", "All"), URL: "/nagi", Current: true}, {Text: b.pick("スタジオA", "Studio A"), URL: "/nagi?resource=studio-a"}, {Text: b.pick("スタジオB", "Studio B"), URL: "/nagi?resource=studio-b"}},
		FreeOnly:  Choice{Text: b.pick("空きのみ", "Free only"), URL: "/nagi?free=1"},
		Month:     i18n.For(b.lang).Month(b.at(10, 8, 0, 0), b.loc),
		Strip:     b.strip(),
		NextURL:   "/nagi?date=2026-10-20",
		Days:      b.days(days),

		Views: b.views(false), About: b.about(), ZoneName: "Asia/Tokyo", Zone: i18n.For(b.lang).ZoneLong(b.at(10, 8, 0, 0), b.loc),
	}
}

func (b bench) holdForm() *HoldForm {
	return &HoldForm{
		Action: SlotHoldURL("nagi", "41"), Parties: b.parties(1, 4), IdempotencyKey: "key", TermsVersion: "1",
		Minutes: b.pick("5分", "5 min"), CancelRule: b.cancelRule(),
	}
}

func (b bench) joinForm() *JoinForm {
	return &JoinForm{
		Action: SlotWaitlistURL("nagi", "41"), Parties: b.parties(1, 4), Contact: ContactForm{NeedEmail: true},
		Waiting: 2, AnswerTime: b.pick("30分", "30 min"), OrderUntil: b.dateTime(8, 15, 30),
		MailFrom: "yoyaku@nagi.example", PrivacyURL: "https://nagi.example/privacy",
	}
}

func (b bench) slotPage() SlotPage {
	return SlotPage{Page: b.page(), BackURL: "/nagi?date=2026-10-08", Slot: b.slot(), State: SlotFew, SeatsLeft: 3, Capacity: 12, Hold: b.holdForm()}
}

func (b bench) hold() HoldPage {
	return HoldPage{
		Page: b.page(), Number: "K7M2Q", Slot: b.slot(), PartySize: 2, Deadline: b.deadline(252, 300),
		Contact: ContactForm{NeedEmail: true}, ConfirmURL: ReservationConfirmURL("nagi", "t"), ReleaseURL: ReservationReleaseURL("nagi", "t"),
		TermsVersion: "1", CancelRule: b.cancelRule(), PrivacyURL: "https://nagi.example/privacy",
	}
}

func (b bench) booked() BookedPage {
	q, err := qrcode.New("https://yoyaku.example/nagi/reservations/t", qrcode.Medium)
	if err != nil {
		panic(err)
	}
	q.DisableBorder = true
	return BookedPage{
		Page: b.page(), Number: "K7M2Q", Slot: b.slot(), PartySize: 2, Name: "髙橋 𠮷郎", MailTo: "yoshiro.takahashi@mail.example",
		CalendarURL: ReservationCalendarURL("nagi", "t"), QR: q.Bitmap(), MoveURL: ReservationMoveURL("nagi", "t"),
		Cancel:   &CancelForm{Action: ReservationCancelURL("nagi", "t"), Until: b.dateTime(7, 18, 30), At: "2026-10-07T18:30:00+09:00"},
		Party:    &PartyForm{Action: ReservationPartyURL("nagi", "t"), Options: b.parties(2, 3)},
		Reminder: b.pick("前日の 10月7日（水）18:30 ごろ、メールでもお知らせします。", "We send a reminder around Wed 7 Oct, 18:30."),
	}
}

func (b bench) ended(kind EndedKind) EndedPage {
	v := EndedPage{Page: b.page(), Kind: kind, Number: "K7M2Q", Slot: b.slot(), PartySize: 2, At: b.dateTime(6, 14, 35), SlotURL: SlotURL("nagi", "41"), VenueURL: VenueURL("nagi")}
	if kind == EndedExpired {
		v.Again = &AgainForm{Action: SlotHoldURL("nagi", "41"), PartySize: 2, IdempotencyKey: "key", TermsVersion: "1", Typed: b.contact()}
	}
	if kind == EndedSlotCancelled {
		v.Reason = b.pick("講師の体調不良のため", "Our teacher has fallen ill.")
		v.Nearest = b.near()
	}
	return v
}

func (b bench) entry(state EntryState) EntryPage {
	v := EntryPage{
		Page: b.page(), State: state, Slot: b.slot(), PartySize: 2, Place: 3, Of: 7,
		AnswerTime: b.pick("30分", "30 min"), OrderUntil: b.dateTime(8, 15, 30), MailTo: "yoshiro.takahashi@mail.example", MailFrom: "yoyaku@nagi.example",
		VenueURL: VenueURL("nagi"),
	}
	switch state {
	case EntryWaiting:
		v.WithdrawURL = WaitlistWithdrawURL("nagi", "t")
		v.Prefer = &Preference{Action: WaitlistPreferencesURL("nagi", "t"), Tells: true, Text: i18n.For(b.lang).T("prefer.text.order", "time", v.OrderUntil)}
		v.Party = &PartyForm{Action: WaitlistPartyURL("nagi", "t"), Options: b.parties(2, 2)}
		v.Nearest = b.near()
	case EntryOffered:
		d := b.deadline(1500, 1800)
		v.Deadline, v.OfferURL = &d, OfferURL("nagi", "t")
	case EntryAccepted:
		v.BookingURL = ReservationURL("nagi", "t")
	case EntryLapsed, EntryDeclined, EntryWithdrawn:
		v.RejoinURL = WaitlistRejoinURL("nagi", "t")
		v.Nearest = b.near()
	case EntryClosed:
	}
	return v
}

func (b bench) offer() OfferPage {
	return OfferPage{
		Page: b.page(), Slot: b.slot(), PartySize: 2, Deadline: b.deadline(1500, 1800), AcceptURL: OfferAcceptURL("nagi", "t"), DeclineURL: OfferDeclineURL("nagi", "t"),
		TermsVersion: "1", CancelRule: b.cancelRule(), PrivacyURL: "https://nagi.example/privacy",
	}
}

func (b bench) offerEnded(state EntryState) OfferEndedPage {
	v := OfferEndedPage{Page: b.page(), State: state, Slot: b.slot(), PartySize: 2, Until: "14:35", VenueURL: VenueURL("nagi")}
	switch state {
	case EntryAccepted:
		v.BookingURL = ReservationURL("nagi", "t")
	case EntryLapsed, EntryDeclined:
		v.RejoinURL = WaitlistRejoinURL("nagi", "t")
		v.Nearest = b.near()
	case EntryWaiting, EntryOffered, EntryWithdrawn, EntryClosed:
	}
	return v
}

func (b bench) lost() *Banner {
	return &Banner{
		Kind: FlashRefused, Code: "sold_out",
		Title: b.pick("ひと足先に、別の方が予約されました", "Somebody was faster"),
		Text:  b.pick("いま空いているのは 1席です。人数を変えるか、近い日時をお選びください。", "One seat is left. Choose fewer people, or another time below."),
		Links: []Link{{Text: b.pick("キャンセル待ちに登録する", "Join the waitlist"), URL: "#join-title"}},
	}
}

func stories() []story {
	list := []story{
		{"venue", func(b bench) templ.Component { return Venue(b.venue(1)) }},
		{"venue-week", func(b bench) templ.Component { return Venue(b.venue(7)) }},
		{"venue-empty-day", func(b bench) templ.Component {
			v := b.venue(1)
			v.Services, v.Resources = v.Services[:1], nil
			v.FreeOnly.Current = true
			v.Days[0].Slots, v.Days[0].Nothing = nil, b.pick("この日に予約の枠はありません", "Nothing takes place on this day")
			v.PrevURL = "/nagi?date=2026-10-05"
			v.NextFree = &Link{b.pick("次に空きのある日：10月9日（金）", "Next day with seats: Fri 9 Oct"), "/nagi?date=2026-10-09"}
			v.Page.Flash = &Flash{FlashDone, b.pick("お席をお返しいただきました。", "You gave your seats back.")}
			return Venue(v)
		}},
		{"slot", func(b bench) templ.Component { return Slot(b.slotPage()) }},
		{"slot-free", func(b bench) templ.Component {
			v := b.slotPage()
			v.State, v.SeatsLeft = SlotFree, 12
			v.Slot.Details = b.pick("呼吸を整えながら、ゆっくり体をほぐす60分です。", "An hour of slow movement, led by the breath.")
			v.Hold.Version = "7"
			v.Picture = &Picture{URL: static.URL("mark.svg"), Alt: v.Slot.Service, Width: 960, Height: 540}
			return Slot(v)
		}},
		{"slot-lost", func(b bench) templ.Component {
			v := b.slotPage()
			v.SeatsLeft = 1
			v.Hold.Parties = b.parties(1, 1)
			v.Banner = b.lost()
			v.Nearest = b.near()
			return Slot(v)
		}},
		{"slot-form-error", func(b bench) templ.Component {
			v := b.slotPage()
			v.Hold.Errs = Errors{FieldPartySize: b.pick("人数をお選びください。", "Choose how many people are coming.")}
			return Slot(v)
		}},
		{"slot-own-hold", func(b bench) templ.Component {
			v := b.slotPage()
			v.Hold = nil
			v.Own = &OwnHold{ReservationURL("nagi", "t"), 2, b.deadline(252, 300)}
			return Slot(v)
		}},
		{"slot-full", func(b bench) templ.Component {
			v := b.slotPage()
			v.State, v.SeatsLeft, v.Hold, v.Join, v.Nearest = SlotWaitlist, 0, nil, b.joinForm(), b.near()
			return Slot(v)
		}},
		{"slot-full-errors", func(b bench) templ.Component {
			v := b.slotPage()
			v.State, v.SeatsLeft, v.Hold, v.Join = SlotWaitlist, 0, nil, b.joinForm()
			v.Join.Waiting, v.Join.OrderUntil, v.Join.IdempotencyKey, v.Join.TermsVersion = 0, "", "key", "1"
			v.Join.Contact = b.contact()
			v.Join.Contact.Name, v.Join.Contact.Email = "", "a@"
			v.Join.Contact.Errs = Errors{
				FieldName:  b.pick("お名前をご入力ください。", "Enter your name."),
				FieldEmail: b.pick("メールアドレスの形をご確認ください（例 hanako@example.jp）。", "Check the address: it should look like hanako@example.com."),
			}
			return Slot(v)
		}},
		{"slot-many-parties", func(b bench) templ.Component {
			v := b.slotPage()
			v.State, v.SeatsLeft, v.Hold.Parties = SlotFree, 12, nil
			for n := 1; n <= 12; n++ {
				v.Hold.Parties = append(v.Hold.Parties, Option{Value: strconv.Itoa(n), Text: i18n.For(b.lang).T("party", "n", n), Selected: n == 2})
			}
			v.Hold.Errs = Errors{FieldPartySize: b.pick("人数をお選びください。", "Choose how many people are coming.")}
			return Slot(v)
		}},
		{"slot-hold-or-wait", func(b bench) templ.Component {
			v := b.slotPage()
			v.SeatsLeft = 1
			v.Hold.Parties = b.parties(1, 4)
			for i := 1; i < 4; i++ {
				v.Hold.Parties[i].Text = i18n.For(b.lang).T("slot.party_waits", "party", v.Hold.Parties[i].Text)
			}
			v.Join = b.joinForm()
			return Slot(v)
		}},
		{"slot-broadcast", func(b bench) templ.Component {
			v := b.slotPage()
			v.State, v.SeatsLeft, v.Hold, v.Join = SlotWaitlist, 0, nil, b.joinForm()
			v.Join.Broadcast = true
			return Slot(v)
		}},
		{"slot-waiting", func(b bench) templ.Component {
			v := b.slotPage()
			v.State, v.SeatsLeft, v.Hold = SlotWaitlist, 0, nil
			v.Waiting = &Link{b.pick("順番を見る（3番目）", "See my place (third)"), WaitlistURL("nagi", "t")}
			return Slot(v)
		}},
		{"slot-closed", func(b bench) templ.Component {
			v := b.slotPage()
			v.State, v.SeatsLeft, v.Hold = SlotOutside, 0, nil
			v.Closed = b.pick("受付は 10月8日（木）17:30 に終わりました。お急ぎの方は、お電話ください。", "Booking closed on Thu 8 Oct, 17:30. Please call us if it is urgent.")
			v.Nearest = b.near()
			return Slot(v)
		}},
		{"hold", func(b bench) templ.Component { return Hold(b.hold()) }},
		{"hold-extend", func(b bench) templ.Component {
			v := b.hold()
			v.Deadline.SecondsLeft = 48
			v.ExtendURL = ReservationExtendURL("nagi", "t")
			v.More = []SlotFacts{b.other()}
			v.Contact = b.contact()
			return Hold(v)
		}},
		{"hold-errors", func(b bench) templ.Component {
			v := b.hold()
			v.Contact = b.contact()
			v.Contact.Email, v.Contact.NeedKana, v.Contact.NeedPhone = "a b@example.com", true, true
			v.Contact.Errs = Errors{
				"":         b.pick("内容が変わりました。もう一度ご確認ください。", "The session has changed. Please read it again."),
				FieldEmail: b.pick("メールアドレスに空白が入っています。", "The address has a space in it."),
				FieldPhone: b.pick("電話番号は数字でご入力ください。", "Enter the number in digits."),
			}
			return Hold(v)
		}},
		{"booked-just", func(b bench) templ.Component {
			v := b.booked()
			v.Just = true
			return Booked(v)
		}},
		{"booked", func(b bench) templ.Component {
			v := b.booked()
			v.Cancel.Open = true
			v.Slot.When = WhenRange(b.lang, b.at(10, 8, 23, 0), b.at(10, 9, 0, 0), b.loc, true)
			v.Page.Flash = &Flash{FlashDone, b.pick("日時を変更しました。", "Your booking has been moved.")}
			return Booked(v)
		}},
		{"booked-cutoff", func(b bench) templ.Component {
			v := b.booked()
			v.Cancel, v.Party, v.MoveURL, v.QR, v.Reminder = nil, nil, "", nil, ""
			v.More = []SlotFacts{b.other()}
			v.CancelRule = b.pick("この画面から取り消せるのは 2026年10月7日（水）18:30 まででした。お手数ですが、お電話ください。", "You could cancel here until Wed 7 Oct 2026, 18:30. Please call us now.")
			return Booked(v)
		}},
		{"move-choose", func(b bench) templ.Component {
			days := b.days(4)
			for i := range days {
				if len(days[i].Slots) > 2 {
					days[i].Slots = days[i].Slots[1:3]
				}
			}
			return Move(MovePage{Page: b.page(), Number: "K7M2Q", From: b.slot(), PartySize: 2, BackURL: ReservationURL("nagi", "t"), Days: days[2:]})
		}},
		{"move-nothing", func(b bench) templ.Component {
			return Move(MovePage{Page: b.page(), Number: "K7M2Q", From: b.slot(), PartySize: 2, BackURL: ReservationURL("nagi", "t")})
		}},
		{"move-ask", func(b bench) templ.Component {
			return Move(MovePage{
				Page: b.page(), Number: "K7M2Q", From: b.slot(), PartySize: 2, BackURL: ReservationURL("nagi", "t"),
				Target: &MoveTarget{b.other(), ReservationMoveURL("nagi", "t"), "1", b.cancelRule(), ReservationMoveURL("nagi", "t")},
			})
		}},
		{"entry-just", func(b bench) templ.Component {
			v := b.entry(EntryWaiting)
			v.Just = true
			return Entry(v)
		}},
		{"entry-paused", func(b bench) templ.Component {
			v := b.entry(EntryWaiting)
			v.Paused, v.Place, v.Of, v.Nearest = true, 1, 1, nil
			return Entry(v)
		}},
		{"entry-broadcast", func(b bench) templ.Component {
			v := b.entry(EntryWaiting)
			v.Broadcast = true
			v.Prefer.Tells, v.Prefer.Text = false, i18n.For(b.lang).T("prefer.text.open")
			return Entry(v)
		}},
		{"entry-claim", func(b bench) templ.Component {
			v := b.entry(EntryWaiting)
			v.Broadcast, v.Claim, v.Nearest = true, &ClaimForm{WaitlistClaimURL("nagi", "t"), "1", 2}, nil
			return Entry(v)
		}},
		{"entry-claim-lost", func(b bench) templ.Component {
			v := b.entry(EntryWaiting)
			v.Broadcast = true
			v.Banner = &Banner{Kind: FlashRefused, Code: "sold_out", Title: b.pick("ひと足先に、別の方が予約されました", "Somebody was faster"), Text: b.pick("キャンセル待ちの登録はそのままです。また空きが出たら、すぐにお知らせします。", "You are still on the waitlist. We tell you at once when another seat comes free.")}
			return Entry(v)
		}},
		{"offer", func(b bench) templ.Component { return Offer(b.offer()) }},
		{"offer-ended-revoked", func(b bench) templ.Component {
			v := b.offerEnded(EntryWithdrawn)
			v.ByShop, v.Reason = true, b.pick("座席の数え間違いがありました", "We had counted the seats wrongly.")
			return OfferEnded(v)
		}},
		{"ended-cancelled-shop", func(b bench) templ.Component {
			v := b.ended(EndedCancelled)
			v.ByShop, v.Reason = true, b.pick("設備点検のため", "The room has to be inspected.")
			return Ended(v)
		}},
		{"refused", func(b bench) templ.Component {
			s := b.slot()
			return Refused(RefusedPage{Page: b.page(), Banner: *b.lost(), Slot: &s, Kept: b.pick("キャンセル待ちの順番は、そのままです。", "You keep your place in the queue."), Nearest: b.near(), Links: []Link{{b.pick("ほかの日時を見る", "See other times"), "/nagi"}}})
		}},
		{"find", func(b bench) templ.Component {
			return Find(FindPage{Page: b.page(), Action: MyReservationsURL("nagi")})
		}},
		{"find-error", func(b bench) templ.Component {
			return Find(FindPage{Page: b.page(), Action: MyReservationsURL("nagi"), Email: "a@", Errs: Errors{FieldEmail: b.pick("メールアドレスの形をご確認ください。", "Check the address.")}})
		}},
		{"find-sent", func(b bench) templ.Component {
			return Find(FindPage{Page: b.page(), Sent: true, MailFrom: "yoyaku@nagi.example", VenueURL: VenueURL("nagi")})
		}},
		{"ended-expired-full", func(b bench) templ.Component {
			v := b.ended(EndedExpired)
			v.Again, v.Join, v.Nearest = nil, b.joinForm(), b.near()
			v.Join.Contact = b.contact()
			return Ended(v)
		}},
		{"error-staff", func(b bench) templ.Component {
			return Error(ErrorPage{Page: Page{Staff: true}, Kind: ErrorForbidden})
		}},
	}
	for _, kind := range []EndedKind{EndedCancelled, EndedSlotCancelled, EndedExpired, EndedReleased} {
		list = append(list, story{"ended-" + string(kind), func(b bench) templ.Component { return Ended(b.ended(kind)) }})
	}
	for _, state := range []EntryState{EntryWaiting, EntryOffered, EntryAccepted, EntryLapsed, EntryDeclined, EntryWithdrawn, EntryClosed} {
		list = append(list, story{"entry-" + string(state), func(b bench) templ.Component { return Entry(b.entry(state)) }})
	}
	for _, state := range []EntryState{EntryWaiting, EntryAccepted, EntryLapsed, EntryDeclined, EntryWithdrawn, EntryClosed} {
		list = append(list, story{"offer-ended-" + string(state), func(b bench) templ.Component { return OfferEnded(b.offerEnded(state)) }})
	}
	for _, kind := range []ErrorKind{ErrorNotFound, ErrorLink, ErrorForbidden, ErrorOrigin, ErrorGone, ErrorMethod, ErrorTooLarge, ErrorTooMany, ErrorInternal, ErrorBusy} {
		list = append(list, story{"error-" + string(kind), func(b bench) templ.Component {
			v := ErrorPage{Page: b.page(), Kind: kind, Links: []Link{{b.pick("お店のページへ", "To the shop's page"), "/nagi"}}}
			switch kind {
			case ErrorTooMany, ErrorBusy:
				v.Retry = i18n.For(b.lang).Duration(30 * time.Second)
			case ErrorInternal:
				v.Page, v.Links = Page{}, nil // made before there is a request
			}
			return Error(v)
		}})
	}
	return append(append(list, venueStories()...), append(append(detailsStories(), liveStories()...), lineStories()...)...)
}
