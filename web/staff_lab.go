package web

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

const (
	// examplesShown is how many slots stand below one invariant.
	examplesShown = 8
	// racesLookedAt reaches back to the last run that came to its end.
	racesLookedAt = 5
)

// proofGroups are the invariants by the promise that they belong to.
var proofGroups = []struct {
	key string
	ids []string
}{
	{"seats", []string{"I1", "I2", "I6"}},
	{"turn", []string{"I3", "I4", "I5"}},
	{"time", []string{"I7"}},
	{"trace", []string{"I8", "I9", "I10"}},
}

// getProof tells whether the venue's records add up. Its statements do not grow with what was found.
func (s *Server) getProof(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	self := views.StaffProofURL(t.Slug)
	check, err := s.store.SelfCheckOf(ctx, t.ID, examplesShown)
	if err != nil {
		return err
	}
	v := views.StaffProofPage{State: views.ProofWell, Head: i18n.T(ctx, "proof.head.well"), About: i18n.T(ctx, "proof.about")}
	broken := 0
	for _, n := range check.Counts {
		broken += n
	}
	switch {
	case broken > 0:
		v.State, v.Head = views.ProofBroken, i18n.T(ctx, "proof.head.broken", "n", broken)
	case check.FullAt == nil:
		v.State, v.Head = views.ProofUnknown, i18n.T(ctx, "proof.head.unknown")
	}
	moment := func(at time.Time) string { return i18n.In(ctx).DateTimeShort(at, t.Location()) }
	switch {
	case check.LookedAt == nil:
	case check.FullAt == nil:
		v.Looked = i18n.T(ctx, "proof.looked", "time", moment(*check.LookedAt))
	default:
		v.Looked = i18n.T(ctx, "proof.looked.full", "time", moment(*check.LookedAt), "full", moment(*check.FullAt))
	}
	slots, err := s.slotsOfFindings(r, check.Open)
	if err != nil {
		return err
	}
	for _, g := range proofGroups {
		group := views.StaffProofGroup{Title: i18n.T(ctx, i18n.Key("proof.group."+g.key))}
		for _, id := range g.ids {
			group.Items = append(group.Items, proofItem(ctx, t, id, check, slots))
		}
		v.Groups = append(v.Groups, group)
	}
	if v.Race, err = s.raceView(r, self); err != nil {
		return err
	}
	if v.Page, v.Staff, err = s.staffPage(r, "settings", i18n.T(ctx, "proof.title"), self); err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, views.StaffProof(v))
}

// slotsOfFindings reads the slots of this venue that findings name; one that does not exist is left out.
func (s *Server) slotsOfFindings(r *http.Request, findings []store.Finding) (map[string]oneSlot, error) {
	ctx, t := r.Context(), venue(r)
	var ids []string
	for _, f := range findings {
		if f.SlotID != nil {
			ids = append(ids, *f.SlotID)
		}
	}
	slots := map[string]oneSlot{}
	if len(ids) == 0 {
		return slots, nil
	}
	slices.Sort(ids)
	found, err := s.store.SlotsByID(ctx, t.ID, slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	n, err := s.loadNames(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	for _, slot := range found {
		slots[slot.ID] = n.of(slot)
	}
	return slots, nil
}

func proofItem(ctx context.Context, t store.Tenant, id string, check store.SelfCheck, slots map[string]oneSlot) views.StaffProofItem {
	key := "proof." + strings.ToLower(id)
	v := views.StaffProofItem{ID: id, State: views.ProofWell, Title: i18n.T(ctx, i18n.Key(key+".title")), Text: i18n.T(ctx, i18n.Key(key+".text"))}
	n := check.Counts[id]
	switch {
	case n > 0:
		v.State, v.Found, v.Advice = views.ProofBroken, i18n.T(ctx, "proof.found", "n", n), i18n.T(ctx, i18n.Key(key+".advice"))
	case check.FullAt == nil:
		v.State = views.ProofUnknown
	}
	shown := 0
	told := map[string]bool{}
	for _, f := range check.Open {
		if f.Invariant != id || f.SlotID == nil {
			continue
		}
		o, ours := slots[*f.SlotID]
		if !ours {
			continue
		}
		shown += f.N
		if !told[o.ID] {
			told[o.ID] = true
			v.Slots = append(v.Slots, views.StaffProofSlot{Text: slotText(ctx, t, o), URL: views.StaffSlotURL(t.Slug, o.ID), HistoryURL: views.StaffSlotHistoryURL(t.Slug, o.ID, 0)})
		}
	}
	if len(v.Slots) > 0 && n > shown {
		v.More = i18n.T(ctx, "proof.more", "n", n-shown)
	}
	return v
}

// raceView is the lab: what is under way, and the last run that came to its end.
func (s *Server) raceView(r *http.Request, self string) (views.StaffRace, error) {
	ctx, t := r.Context(), venue(r)
	v := views.StaffRace{SelfURL: self}
	switch {
	case s.cfg.Race == nil:
		v.Closed = i18n.T(ctx, "proof.race.closed")
	case !me(r).can(runVenue):
		v.Closed = i18n.T(ctx, "proof.race.owner")
	default:
		v.Action = views.StaffProofRaceURL(t.Slug)
	}
	runs, err := s.store.Races(ctx, t.ID, racesLookedAt)
	if err != nil {
		return v, err
	}
	for i, run := range runs {
		when := i18n.In(ctx).DateTimeShort(run.AskedAt, t.Location())
		switch run.State {
		case store.RaceAsked:
			v.Running, v.Wait = s.cfg.Race != nil, i18n.T(ctx, "proof.race.asked")
		case store.RaceRunning:
			v.Running, v.Done, v.Total, v.Wait = true, run.Done, run.Total, i18n.T(ctx, "proof.race.asked")
			if run.Total > 0 {
				v.Wait = i18n.T(ctx, "proof.race.running", "done", run.Done, "total", run.Total)
			}
		case store.RaceFailed:
			if i == 0 {
				v.Failed = i18n.T(ctx, "proof.race.failed", "time", when)
			}
		case store.RaceDone:
			v.When = i18n.T(ctx, "proof.race.when", "time", when)
			v.State, v.Summary = views.ProofWell, i18n.T(ctx, "proof.race.summary.well")
			if raceBroke(run.Results) {
				v.State, v.Summary = views.ProofBroken, i18n.T(ctx, "proof.race.summary.broken")
			}
			v.Stories = raceStories(ctx, run.Results)
			return v, nil
		}
	}
	return v, nil
}

// The strategies by the names that results carry.
const (
	raceNaive   = "naive"
	raceProduct = "conditional"
)

func raceBroke(results []store.RaceResult) bool {
	return slices.ContainsFunc(results, func(x store.RaceResult) bool { return x.Strategy == raceProduct && brokeIn(x) > 0 })
}

// brokeIn is in how many rounds something broke.
func brokeIn(x store.RaceResult) int {
	if x.Broken == 0 && (len(x.Violations) > 0 || x.Errors > 0) {
		return 1
	}
	return x.Broken
}

// raceStories tells the races in the order in which they were run. One that this
// program has no words for is left out.
func raceStories(ctx context.Context, results []store.RaceResult) []views.StaffRaceStory {
	var out []views.StaffRaceStory
	for _, x := range results {
		key := "proof.race." + strings.ReplaceAll(x.Scenario, "-", "_")
		if !i18n.Has(i18n.Key(key + ".title")) {
			continue
		}
		i := slices.IndexFunc(out, func(s views.StaffRaceStory) bool { return s.ID == x.Scenario })
		if i < 0 {
			i = len(out)
			out = append(out, views.StaffRaceStory{ID: x.Scenario, Title: i18n.T(ctx, i18n.Key(key+".title")), Text: i18n.T(ctx, i18n.Key(key+".text"))})
		}
		n := brokeIn(x)
		switch {
		case x.Strategy == raceNaive && !i18n.Has(i18n.Key(key+".naive")): // there is no naive way to do it
		case x.Strategy == raceNaive && n > 0:
			out[i].Naive = views.StaffRaceSide{Broke: true, Text: i18n.T(ctx, i18n.Key(key+".naive"), "n", n, "rounds", x.Rounds)}
		case x.Strategy == raceNaive:
			out[i].Naive = views.StaffRaceSide{Luck: true, Text: i18n.T(ctx, "proof.race.naive.held")}
		case x.Strategy == raceProduct && n > 0:
			out[i].Ours = views.StaffRaceSide{Broke: true, Text: i18n.T(ctx, "proof.race.ours.broke", "n", n, "rounds", x.Rounds)}
		case x.Strategy == raceProduct:
			out[i].Ours = views.StaffRaceSide{Text: i18n.T(ctx, i18n.Key(key+".held"), "rounds", x.Rounds, "in_time", x.InTime, "refused", x.RefusedInTime)}
		}
	}
	return out
}

// postRace asks for a run. It answers at once; the runner takes it up.
func (s *Server) postRace(w http.ResponseWriter, r *http.Request) error {
	if _, err := s.form(w, r); err != nil {
		return err
	}
	t := venue(r)
	if s.cfg.Race == nil { // the page is older than the operator's decision
		return s.see(w, r, views.StaffProofURL(t.Slug), "proof.race.closed")
	}
	asked, err := s.store.AskRace(r.Context(), t.ID, me(r).ID)
	if err != nil {
		return err
	}
	s.cfg.Race()
	flash := i18n.Key("proof.race.asked_flash")
	if !asked {
		flash = "proof.race.already_flash"
	}
	return s.see(w, r, views.StaffProofURL(t.Slug), flash)
}
