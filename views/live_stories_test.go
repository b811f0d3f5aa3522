package views

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/a-h/templ"

	"holdfast/views/i18n"
)

// liveStories are the pages that follow what happens, after something has.
func liveStories() []story {
	return []story{
		{"slot-went-full", func(b bench) templ.Component {
			v := b.slotPage()
			v.State, v.SeatsLeft = SlotWaitlist, 0
			return liveSlotStory(v, "slot.heading.full", &LiveNote{
				Kind: "full", Text: b.say("live.full.at", "time", "14:03", "then", b.say("live.full.wait")), Link: Link{b.say("live.full.join"), SlotURL("nagi", v.Slot.ID)},
			})
		}},
		{"slot-came-free", func(b bench) templ.Component {
			v := b.slotPage()
			v.Hold, v.Join, v.State, v.SeatsLeft = nil, b.joinForm(), SlotFew, 1
			return liveSlotStory(v, "live.heading.free", &LiveNote{Kind: "free", Text: b.say("live.free.at", "time", "14:05"), Link: Link{b.say("live.free.go"), SlotURL("nagi", v.Slot.ID)}})
		}},
		{"entry-waiting-story", func(b bench) templ.Component {
			v := b.entry(EntryWaiting)
			ordinal := i18n.For(b.lang).Ordinal
			v.Place, v.Of = 2, 5
			v.Story = []StoryLine{
				{"14:03", "2026-10-05T05:03:00Z", b.say("live.story.left", "place", ordinal(2))},
				{b.pick("10月4日（日）9:12", "Sun 4 Oct, 09:12"), "2026-10-04T00:12:00Z", b.say("live.story.offered", "place", ordinal(3))},
				{b.pick("10月4日（日）8:40", "Sun 4 Oct, 08:40"), "2026-10-03T23:40:00Z", b.say("live.story.passed")},
				{b.pick("10月3日（土）21:30", "Sat 3 Oct, 21:30"), "2026-10-03T12:30:00Z", b.say("live.story.joined", "place", ordinal(4))},
			}
			v.Odds = []string{b.say("live.odds.so_far", "n", 2), b.say("live.odds.until", "time", b.dateTime(7, 18, 30)), b.say("live.odds.no_promise")}
			v.Clash = b.clash("")
			return Entry(v)
		}},
		{"booked-clash", func(b bench) templ.Component {
			v := b.booked()
			v.Clash = b.clash(ReservationWaitsURL("nagi", "t"))
			return Booked(v)
		}},
	}
}

func (b bench) say(key i18n.Key, args ...any) string { return i18n.For(b.lang).T(key, args...) }

func (b bench) clash(action string) *Clash {
	return &Clash{Action: action, Rows: []ClashRow{
		{Entry: "a", URL: WaitlistURL("nagi", "a"), Service: b.pick("やさしい陰ヨガ", "Gentle yin yoga"), When: b.when(8, 19, 0), State: EntryWaiting},
		{Entry: "b", URL: WaitlistURL("nagi", "b"), Service: b.pick("個別相談", "One-to-one consultation"), When: b.when(8, 18, 0), State: EntryOffered},
	}}
}

// liveSlotStory is a slot's page after its stream has sent how the slot stands
// now: the forms are those of the page as it was made.
func liveSlotStory(now SlotPage, heading i18n.Key, note *LiveNote) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		made := now
		fresh := now.slotNow(ctx)
		fresh.Note, fresh.Heading = note, i18n.T(ctx, heading)
		var page, was, is strings.Builder
		for out, part := range map[*strings.Builder]templ.Component{&page: Slot(made), &was: LiveSlot(made.slotNow(ctx)), &is: LiveSlot(fresh)} {
			if err := part.Render(ctx, out); err != nil {
				return err
			}
		}
		if strings.Count(page.String(), was.String()) != 1 {
			return errors.New("the page does not hold what its stream replaces")
		}
		text := strings.Replace(page.String(), was.String(), is.String(), 1)
		_, err := io.WriteString(w, strings.Replace(text, `data-live-text="heading">`+slotHeading(ctx, made), `data-live-text="heading">`+fresh.Heading, 1))
		return err
	})
}
