package main

import (
	"encoding/json"
	"strings"
	"testing"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

func TestExplainTellsTheJourneyOfASeatAndVerifiesTheSeals(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 1)
	booked := s.Book(t, slot, 1)
	s.Join(t, slot, 1)
	s.Cancel(t, booked)
	with := on(t, s.World)
	with.fine(t, "", "sweep")
	out := with.fine(t, "", "explain", slot.ID, "--tenant", "shop")
	for _, want := range []string{"4 numbered events, 4 sealed: the seals verify", "seat 1", "A: held (by customer)", "A: cancelled (by customer)", "B: offered (by system)"} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not say %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "客") || strings.Contains(out, "@") {
		t.Errorf("it names somebody:\n%s", out)
	}
	var told store.Explanation
	if err := json.Unmarshal([]byte(with.fine(t, "", "explain", slot.ID, "--tenant", "shop", "--json")), &told); err != nil || len(told.Seats) != 1 || !told.Seals.OK {
		t.Errorf("%v %+v", err, told)
	}

	s.Exec(t, "UPDATE events SET actor = 'system' WHERE slot_id = $1 AND number = 2", slot.ID)
	if r := with.run(t, "", "explain", slot.ID, "--tenant", "shop"); r.code != exitFailed || !strings.Contains(r.out, "DO NOT VERIFY, from event 2") {
		t.Errorf("exit %d:\n%s", r.code, r.out)
	}
	s.Exec(t, "UPDATE events SET actor = 'customer' WHERE slot_id = $1 AND number = 2", slot.ID)

	for _, c := range []struct {
		code int
		args []string
	}{
		{exitUsage, nil},
		{exitUsage, []string{slot.ID}},
		{exitUsage, []string{"--tenant", "shop"}},
		{exitFailed, []string{slot.ID, "--tenant", "nobody"}},
		{exitFailed, []string{"00000000-0000-4000-8000-000000000000", "--tenant", "shop"}},
		{exitUsage, []string{slot.ID, "--tenant", "shop", "more"}},
	} {
		if r := with.run(t, "", append([]string{"explain"}, c.args...)...); r.code != c.code {
			t.Errorf("%v: exit %d: %s", c.args, r.code, r.errors)
		}
	}
}
