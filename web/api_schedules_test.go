package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

// ruleOf is a rule for the shop's class, daily at 10:00 and 14:00 in a week that has nothing else.
func ruleOf(s *site, weeks int) object {
	first := s.Start.In(s.Tenant.Location()).AddDate(0, 0, 100+7*weeks)
	return object{
		"service": "class", "resource": "studio-a", "rrule": "FREQ=DAILY", "starts": []string{"10:00", "14:00"}, "capacity": 3,
		"firstDay": first.Format(time.DateOnly), "lastDay": first.AddDate(0, 0, 2).Format(time.DateOnly), "exceptDays": []string{first.AddDate(0, 0, 1).Format(time.DateOnly)},
	}
}

func scheduleBodyOf(s *site, operation string) object {
	rule := ruleOf(s, 50)
	switch operation {
	case "previewSchedule":
		return object{"rule": rule}
	case "previewScheduleChange":
		return object{"rule": rule, "from": rule["firstDay"]}
	case "changeSchedule":
		return object{"rule": rule, "from": rule["firstDay"], "print": "x", "choice": "move"}
	case "endSchedule":
		return object{"print": "x", "choice": "keep"}
	}
	return object{"rule": rule, "print": "x"}
}

// schedules goes through the life of a schedule by the API, and gives one that lives on.
func (p *program) schedules(s *site) string {
	t := p.t
	t.Helper()
	is := func(what string, got, want any) {
		t.Helper()
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	slots := func(id, where string) (n int) {
		t.Helper()
		if err := s.Pool.QueryRow(t.Context(), "SELECT count(*) FROM slots WHERE schedule_id = $1 AND "+where, id).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}

	// Plan, then make what was planned, or nothing.
	rule := ruleOf(s, 0)
	plan := p.send("POST", "/schedules/preview", object{"rule": rule}).is(200, "")
	is("planned", plan.body["make"], 4)
	is("one of them", plan.body["slots"].([]any)[0].(object)["skipped"], "")
	p.send("POST", "/schedules", object{"rule": rule, "print": "another"}).is(409, "conflict")
	body := object{"rule": rule, "print": plan.str("print")}
	made := p.send("POST", "/schedules", body, "Idempotency-Key", "schedule").is(201, "")
	id := made.str("id")
	is("made", slots(id, "true"), 4)
	is("the answer", made.body["result"].(object)["made"], 4)
	if again := p.send("POST", "/schedules", body, "Idempotency-Key", "schedule").is(201, ""); again.raw != made.raw {
		t.Errorf("the repeated request gives %s", again.raw)
	}
	is("made by the repeated request", slots(id, "true"), 4)
	over := p.send("POST", "/schedules/preview", object{"rule": rule}).is(200, "")
	is("planned again", over.body["make"], 0)
	first := over.body["slots"].([]any)[0].(object)
	if first["skipped"] != "overlap" || first["with"] == nil {
		t.Errorf("what overlaps is planned as %v", first)
	}
	p.send("POST", "/schedules", object{"rule": rule, "print": over.str("print")}).is(409, "overlaps")

	// Another time, with somebody in one of the slots.
	of := "/schedules/" + id
	read := p.send("GET", of, nil).is(200, "")
	if read.header.Get("ETag") != `"1"` || read.body["coming"] != float64(4) || read.body["rule"].(object)["service"] != "class" {
		t.Errorf("a schedule reads %v %s", read.header, read.raw)
	}
	var booked string
	if err := s.Pool.QueryRow(t.Context(), "SELECT id FROM slots WHERE schedule_id = $1 ORDER BY starts_at LIMIT 1", id).Scan(&booked); err != nil {
		t.Fatal(err)
	}
	s.Exec(t, "UPDATE slots SET booking_opens = '9000 hours' WHERE schedule_id = $1", id)
	slot, err := s.Store.Slot(t.Context(), s.Tenant.ID, booked)
	if err != nil {
		t.Fatal(err)
	}
	guest := s.Book(t, slot, 1)
	later := ruleOf(s, 0)
	later["starts"] = []string{"10:30", "14:00"}
	change := object{"rule": later, "from": rule["firstDay"]}
	p.send("POST", of+"/preview", object{"rule": object{}, "from": "x"}).is(400, "bad_request")
	asked := p.send("POST", of+"/preview", change).is(200, "")
	is("touched", asked.body["touched"], 1)
	is("changed", len(asked.body["changes"].([]any)), 2)
	change["print"], change["choice"], change["reason"] = asked.str("print"), "move", "講師の都合"
	p.send("POST", of+"/change", change).is(428, "if_match_required")
	p.send("POST", of+"/change", change, "If-Match", `"9"`).is(412, "conflict")
	moved := p.send("POST", of+"/change", change, "If-Match", `"1"`).is(200, "")
	is("moved", moved.body["result"].(object)["moved"], 2)
	is("told", moved.body["result"].(object)["told"], 1)
	is("unfinished", moved.body["unfinished"], false)
	var told int
	if err := s.Pool.QueryRow(t.Context(), "SELECT count(*) FROM outbox WHERE kind = 'changed' AND subject_id = $1", guest.ID).Scan(&told); err != nil || told != 1 {
		t.Errorf("the guest is told %d times, %v", told, err)
	}
	p.send("POST", of+"/change", change, "If-Match", `"1"`).is(412, "conflict")
	p.send("POST", of+"/continue", nil).is(200, "")

	// The end: what would go, and then it goes.
	going := p.send("GET", of+"/end", nil).is(200, "")
	is("going", len(going.body["changes"].([]any)), 4)
	p.send("POST", of+"/end", object{"print": going.str("print"), "choice": "cancel"}).is(428, "if_match_required")
	p.send("POST", of+"/end", object{"print": "another", "choice": "cancel"}, "If-Match", "*").is(412, "conflict")
	p.send("POST", of+"/end", object{"choice": "move", "print": "x"}, "If-Match", "*").is(400, "bad_request")
	ended := p.send("POST", of+"/end", object{"print": going.str("print"), "choice": "cancel", "reason": "閉講"}, "If-Match", "*").is(200, "")
	if ended.str("state") != "ended" || ended.body["result"].(object)["cancelled"] != float64(4) {
		t.Errorf("an ended schedule reads %s", ended.raw)
	}
	if r := s.Reservation(t, guest); r.State != store.Cancelled || r.CancelReason != "閉講" {
		t.Errorf("the guest's booking is %s, %q", r.State, r.CancelReason)
	}
	is("listed", len(p.send("GET", "/schedules", nil).is(200, "").items()), 0)

	// One that lives on, and makes no more.
	rule = ruleOf(s, 3)
	delete(rule, "capacity")
	plan = p.send("POST", "/schedules/preview", object{"rule": rule}).is(200, "")
	id = p.send("POST", "/schedules", object{"rule": rule, "print": plan.str("print")}).is(201, "").str("id")
	stopped := p.send("POST", "/schedules/"+id+"/end", object{"stop": true}, "If-Match", "*").is(200, "")
	if stopped.str("state") != "stopped" || slots(id, "status = 'open'") != 4 {
		t.Errorf("a stopped schedule reads %s", stopped.raw)
	}
	is("listed", len(p.send("GET", "/schedules", nil).is(200, "").items()), 1)
	return id
}

func TestARuleOfAScheduleIsCheckedBeforeAnythingIsMade(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	p := s.program(t, "manage")
	before := dump(t, s.Shop)
	for name, c := range map[string]struct {
		change object
		field  string
	}{
		"no service":           {object{"service": ""}, "rule.service"},
		"another's service":    {object{"service": "nothing"}, "rule.service"},
		"no such resource":     {object{"resource": "nothing"}, "rule.resource"},
		"no rule":              {object{"rrule": ""}, "rule.rrule"},
		"a rule with a count":  {object{"rrule": "FREQ=DAILY;COUNT=3"}, "rule.rrule"},
		"every second":         {object{"rrule": "FREQ=SECONDLY"}, "rule.rrule"},
		"no rule at all":       {object{"rrule": "every day"}, "rule.rrule"},
		"no times":             {object{"starts": []string{}}, "rule.starts"},
		"a time of no clock":   {object{"starts": []string{"25:00"}}, "rule.starts[0]"},
		"midnight as 24:00":    {object{"starts": []string{"24:00"}}, "rule.starts[0]"},
		"too close":            {object{"starts": []string{"10:00", "10:05"}}, "rule.starts"},
		"no first day":         {object{"firstDay": ""}, "rule.firstDay"},
		"no such day":          {object{"firstDay": "2027-02-30"}, "rule.firstDay"},
		"ends before it began": {object{"lastDay": "2020-01-01"}, "rule.lastDay"},
		"ends much too late":   {object{"lastDay": "2199-01-01"}, "rule.lastDay"},
		"no day to leave out":  {object{"exceptDays": []string{"tomorrow"}}, "rule.exceptDays[0]"},
		"less than nothing":    {object{"capacity": -1}, "rule.capacity"},
	} {
		rule := ruleOf(s, 0)
		for field, value := range c.change {
			rule[field] = value
		}
		for path, body := range map[string]object{"/schedules/preview": {"rule": rule}, "/schedules": {"rule": rule, "print": "x"}} {
			if got := p.send(http.MethodPost, path, body).is(400, "bad_request"); !strings.Contains(got.raw, `"field":"`+c.field+`"`) {
				t.Errorf("%s: %s, want a fault of %s", name, got.raw, c.field)
			}
		}
	}
	lastUsed := func(text string) string { return lastUse.ReplaceAllString(text, "") }
	if lastUsed(dump(t, s.Shop)) != lastUsed(before) {
		t.Error("something is written")
	}
}

// Who cancels by the API tells the people as much as who presses: each once, in
// their own language, with the reason and a way to book again; a cancellation
// that nobody is told of is recorded as such.
func TestWhatTheAPICancelsIsToldToEachPersonOnce(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	p := s.program(t)
	slot := s.Slot(t, 5)
	var booked []store.Reservation
	for i := range 5 {
		request := s.ConfirmRequest(s.Hold(t, slot, 1))
		request.Contact.Locale = []string{"en", "ja"}[i%2]
		r, err := s.Store.Confirm(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		booked = append(booked, r)
	}
	waits := s.Join(t, slot, 1)
	s.Exec(t, "UPDATE slots SET waitlist_paused = true WHERE id = $1", slot.ID)
	for range 2 {
		if got := p.send("POST", "/reservations/"+booked[0].ID+"/cancel", object{"reason": "器材の故障"}).is(200, ""); got.str("cancelReason") != "器材の故障" {
			t.Errorf("a cancelled booking reads %s", got.raw)
		}
	}
	p.send("POST", "/reservations/"+booked[1].ID+"/cancel", object{"reason": "ご本人と電話で", "notify": false}).is(200, "")
	for range 2 {
		p.send("POST", "/slots/"+slot.ID+"/cancel", object{"reason": "台風"}).is(200, "")
	}
	told := map[string]string{}
	rows, err := s.Pool.Query(t.Context(), "SELECT subject_id::text, kind || ' ' || locale || ' ' || (payload->>'reason') FROM outbox WHERE kind IN ('cancelled', 'slot_cancelled')")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var subject, what string
		if err := rows.Scan(&subject, &what); err != nil {
			t.Fatal(err)
		}
		if told[subject] != "" {
			t.Errorf("%s is told twice", subject)
		}
		told[subject] = what
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		booked[0].ID: "cancelled en 器材の故障", booked[2].ID: "slot_cancelled en 台風", booked[3].ID: "slot_cancelled ja 台風", booked[4].ID: "slot_cancelled en 台風", waits.ID: "slot_cancelled ja 台風",
	}
	if fmt.Sprint(told) != fmt.Sprint(want) {
		t.Errorf("told %v, want %v", told, want)
	}
	var silent string
	if err := s.Pool.QueryRow(t.Context(), "SELECT details::text FROM events WHERE kind = 'cancelled' AND subject_id = $1", booked[1].ID).Scan(&silent); err != nil || !strings.Contains(silent, `"notice": "none"`) {
		t.Errorf("a cancellation without a word is recorded as %s, %v", silent, err)
	}
}
