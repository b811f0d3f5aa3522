package views

import (
	"strings"

	"github.com/a-h/templ"

	"holdfast/views/i18n"
)

func init() { moreStaffStories = append(moreStaffStories, labStaffStories) }

func storyProof(say staffSay) StaffProofPage {
	c := i18n.For(say("ja", "en"))
	p := StaffProofPage{
		Page: staffTestPage(say, c.T("proof.title")), Staff: staffTestFrame("settings"), State: ProofWell, Head: c.T("proof.head.well"), About: c.T("proof.about"),
		Looked: c.T("proof.looked.full", "time", say("10月8日（木）14:31", "Thu 8 Oct, 14:31"), "full", say("10月8日（木）12:02", "Thu 8 Oct, 12:02")),
		Race:   StaffRace{SelfURL: StaffProofURL("aozora"), Action: StaffProofRaceURL("aozora")},
	}
	for _, g := range []struct {
		key string
		ids []string
	}{{"seats", []string{"I1", "I2", "I6"}}, {"turn", []string{"I3", "I4", "I5"}}, {"time", []string{"I7"}}, {"trace", []string{"I8", "I9", "I10"}}} {
		group := StaffProofGroup{Title: c.T(i18n.Key("proof.group." + g.key))}
		for _, id := range g.ids {
			key := "proof." + strings.ToLower(id)
			group.Items = append(group.Items, StaffProofItem{ID: id, State: ProofWell, Title: c.T(i18n.Key(key + ".title")), Text: c.T(i18n.Key(key + ".text"))})
		}
		p.Groups = append(p.Groups, group)
	}
	return p
}

func storyProofBroken(say staffSay) StaffProofPage {
	c := i18n.For(say("ja", "en"))
	p := storyProof(say)
	p.State, p.Head = ProofBroken, c.T("proof.head.broken", "n", 13)
	slot := func(id, text string) StaffProofSlot {
		return StaffProofSlot{Text: text, URL: StaffSlotURL("aozora", id), HistoryURL: StaffSlotHistoryURL("aozora", id, 0)}
	}
	x := &p.Groups[1].Items[0]
	x.State, x.Found, x.Advice = ProofBroken, c.T("proof.found", "n", 1), c.T("proof.i3.advice")
	x.Slots = []StaffProofSlot{slot("9", say("10月9日（金）10:00 朝ヨガ", "Fri 9 Oct, 10:00 Morning yoga"))}
	x = &p.Groups[3].Items[2]
	x.State, x.Found, x.Advice = ProofBroken, c.T("proof.found", "n", 12), c.T("proof.i10.advice")
	x.Slots = []StaffProofSlot{slot("9", say("10月9日（金）10:00 朝ヨガ", "Fri 9 Oct, 10:00 Morning yoga")), slot("4", say("10月10日（土）18:30 ピラティス入門", "Sat 10 Oct, 18:30 Pilates for beginners"))}
	x.More = c.T("proof.more", "n", 9)
	p.Race = StaffRace{SelfURL: StaffProofURL("aozora"), Closed: c.T("proof.race.closed")}
	return p
}

func storyRaced(say staffSay) StaffProofPage {
	c := i18n.For(say("ja", "en"))
	p := storyProof(say)
	p.Race.State, p.Race.Summary = ProofWell, c.T("proof.race.summary.well")
	p.Race.When = c.T("proof.race.when", "time", say("10月8日（木）14:20", "Thu 8 Oct, 14:20"))
	for i, id := range []string{"last-seat-2", "claims", "two-cancels", "stale", "same-key", "deadline-grace"} {
		key := "proof.race." + strings.ReplaceAll(id, "-", "_")
		story := StaffRaceStory{
			ID: id, Title: c.T(i18n.Key(key + ".title")), Text: c.T(i18n.Key(key + ".text")),
			Naive: StaffRaceSide{Text: c.T(i18n.Key(key+".naive"), "n", 10-i, "rounds", 10), Broke: true},
			Ours:  StaffRaceSide{Text: c.T(i18n.Key(key+".held"), "rounds", 10, "in_time", 31, "refused", 0)},
		}
		switch id {
		case "stale":
			story.Naive = StaffRaceSide{Luck: true, Text: c.T("proof.race.naive.held")}
		case "deadline-grace":
			story.Naive = StaffRaceSide{}
		}
		p.Race.Stories = append(p.Race.Stories, story)
	}
	return p
}

func labStaffStories() []staffStory {
	return []staffStory{
		{"proof", func(say staffSay) templ.Component { return StaffProof(storyProof(say)) }},
		{"proof-broken", func(say staffSay) templ.Component { return StaffProof(storyProofBroken(say)) }},
		{"proof-first", func(say staffSay) templ.Component {
			c := i18n.For(say("ja", "en"))
			p := storyProof(say)
			p.State, p.Head, p.Looked = ProofUnknown, c.T("proof.head.unknown"), ""
			for i := range p.Groups {
				for j := range p.Groups[i].Items {
					p.Groups[i].Items[j].State = ProofUnknown
				}
			}
			p.Race = StaffRace{SelfURL: StaffProofURL("aozora"), Closed: c.T("proof.race.owner"), Failed: c.T("proof.race.failed", "time", say("10月8日（木）14:20", "Thu 8 Oct, 14:20"))}
			return StaffProof(p)
		}},
		{"proof-running", func(say staffSay) templ.Component {
			c := i18n.For(say("ja", "en"))
			p := storyProof(say)
			p.Race.Running, p.Race.Done, p.Race.Total, p.Race.Wait = true, 4, 11, c.T("proof.race.running", "done", 4, "total", 11)
			return StaffProof(p)
		}},
		{"proof-raced", func(say staffSay) templ.Component { return StaffProof(storyRaced(say)) }},
	}
}
