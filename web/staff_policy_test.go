package web

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
	"holdfast/views"
	"holdfast/views/i18n"
)

var updateRules = flag.Bool("update-rules", false, "accept the sheets of rules as they are written now")

func init() {
	policies := func(path func(s *site) string) func(*testing.T, *site) (string, url.Values) {
		return func(t *testing.T, s *site) (string, url.Values) {
			b := s.browser(t)
			b.follow(b.post("/staff/sign-in", signIn("desk@example.com", staffPassword)))
			_, values := b.get(path(s)).form("/policies")
			values.Set(views.FieldStep, views.StepSave)
			values.Set("quiet", "1")
			values.Set(views.FieldQuietFrom, "21:00")
			values.Set(views.FieldQuietUntil, "08:00")
			values.Set("waitlistMax", "9")
			return path(s), values
		}
	}
	fields := func(names []policyField) []badField {
		out := []badField{{name: views.FieldStep, kind: choiceField}, {name: views.FieldVersion, kind: hiddenField}}
		for _, f := range names {
			switch {
			case f.length != nil:
				out = append(out, badField{name: f.name, kind: numberField}, badField{name: f.name + views.FieldUnit, kind: choiceField})
			case f.count != nil:
				out = append(out, badField{name: f.name, kind: numberField})
			case f.name == "waitlistMax":
				out = append(out, badField{name: f.name, kind: numberField})
			case f.name == "quiet":
				out = append(out, badField{name: f.name, kind: choiceField}, badField{name: views.FieldQuietFrom, kind: textField}, badField{name: views.FieldQuietUntil, kind: textField})
			default:
				out = append(out, badField{name: f.name, kind: choiceField})
			}
		}
		return out
	}
	ownFields := []badField{{name: views.FieldStep, kind: choiceField}, {name: views.FieldOwn + "partyMax", kind: choiceField}, {name: "partyMax", kind: numberField}, {name: views.FieldVersion, kind: hiddenField}}
	setup := append(fields(fieldsNamed("offerShown", "quiet", "waitlistMode")), badField{name: views.FieldTrade, kind: choiceField}, badField{name: views.FieldCallRule, kind: choiceField},
		badField{name: views.FieldCallNote, kind: textField, longest: longestCallNote})
	for pattern, form := range map[string]badForm{
		"/staff/{tenant}/policies": {
			fields: fields(policyFields), owner: true,
			fresh: policies(func(*site) string { return views.StaffPoliciesURL("shop") }),
		},
		"/staff/{tenant}/services/{service}/policies": {
			fields: ownFields, owner: true,
			fresh: func(t *testing.T, s *site) (string, url.Values) {
				path, values := policies(func(s *site) string { return views.StaffServicePoliciesURL("shop", s.Service.ID) })(t, s)
				values.Set(views.FieldOwn+"partyMax", "1")
				return path, values
			},
		},
		"/staff/{tenant}/policies/complete": {owner: true, fresh: func(*testing.T, *site) (string, url.Values) { return views.StaffPoliciesCompleteURL("shop"), none() }},
		"/staff/{tenant}/setup": {
			fields: setup, owner: true,
			fresh: func(t *testing.T, s *site) (string, url.Values) {
				b := s.browser(t)
				b.follow(b.post("/staff/sign-in", signIn("desk@example.com", staffPassword)))
				_, values := b.get(views.StaffSetupTradeURL("shop", "studio")).form("/setup")
				values.Set(views.FieldStep, views.StepSave)
				values.Set(views.FieldCallRule, string(store.CallExtra))
				values.Set(views.FieldCallNote, "折り返します")
				return views.StaffSetupURL("shop"), values
			},
		},
	} {
		forms[pattern] = form
	}
}

// Every policy has a field that shows and takes it, a sentence, and an example, in both languages.
func TestEveryPolicyHasItsFieldItsSentenceAndItsExample(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for field := range reflect.TypeFor[store.Policies]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names[name] = true
	}
	for _, f := range policyFields {
		if !names[f.name] {
			t.Errorf("%s is no policy, or stands twice", f.name)
		}
		delete(names, f.name)
	}
	for name := range names {
		t.Errorf("the policy %s has no field", name)
	}
	tokyo := zone(t, "Asia/Tokyo")
	now := time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC)
	nine := 9
	for _, lang := range i18n.Languages {
		ctx := i18n.WithLang(t.Context(), lang)
		for _, edit := range []func(*store.Policies){
			func(*store.Policies) {},
			func(p *store.Policies) {
				p.WaitlistMode, p.Quiet, p.WaitlistMax, p.SlotsTogether = store.Broadcast, nil, &nine, 3
			},
			func(p *store.Policies) {
				p.WaitlistMode, p.Fit, p.OnePerPerson, p.KanaRequired, p.PhoneRequired = store.WaitlistNone, store.Strict, false, true, true
				p.CancelBefore, p.ReminderBefore, p.FewLeft = 0, 0, 0
			},
			func(p *store.Policies) {
				p.Fit, p.CancelBefore, p.BookingCloses = store.Strict, p.BookingOpens, store.Duration(time.Hour)
			},
		} {
			p := store.DefaultPolicies()
			edit(&p)
			view := showPolicies(policyFields, p, p, nil).view(ctx, inventedExample(i18n.For(lang), tokyo, now, time.Hour, 10))
			shown := 0
			for _, g := range view.Groups {
				for _, f := range g.Fields {
					shown++
					for what, text := range map[string]string{"label": f.Label, "sentence": f.Text, "example": f.Example, "group": g.Title, "value": policyValue(ctx, fieldsNamed(f.Name)[0], p)} {
						if text == "" || strings.Contains(text, "[[") || strings.Contains(text, "{") {
							t.Errorf("%s in %s has no good %s: %q", f.Name, lang, what, text)
						}
					}
				}
			}
			if shown != len(policyFields) {
				t.Errorf("%d fields are shown", shown)
			}
		}
	}
}

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

// A form that says some policies is read as the same ones.
func TestAFormOfPoliciesSaysWhatItShows(t *testing.T) {
	t.Parallel()
	zero := 0
	odd := store.DefaultPolicies()
	odd.HoldShown, odd.CancelBefore, odd.BookingOpens = store.Duration(90*time.Second), store.Duration(90*time.Minute), store.Duration(36*time.Hour)
	odd.BookingCloses, odd.WaitlistMax, odd.Quiet, odd.WaitlistMode = store.Duration(45*time.Second), &zero, nil, store.WaitlistNone
	for i, p := range []store.Policies{store.DefaultPolicies(), odd} {
		shown := showPolicies(policyFields, p, p, nil)
		values := url.Values{}
		for name, text := range shown.typed {
			if text != "" {
				values.Set(name, text)
			}
		}
		read, err := decodePolicies(&form{values: values, errs: formErrors{}}, policyFields, store.DefaultPolicies(), store.DefaultPolicies(), false)
		if err != nil || read.errs.bad() {
			t.Fatal(i, err, read.errs)
		}
		if !reflect.DeepEqual(read.policies, p) {
			t.Errorf("%d: %+v was read as %+v", i, p, read.policies)
		}
	}
}

// The examples are what the store would do, also on the night of a clock change.
func TestExamplesAcrossAClockChange(t *testing.T) {
	t.Parallel()
	newYork := zone(t, "America/New_York")
	c := i18n.For(i18n.EN)
	p := store.DefaultPolicies()
	// On Sunday, 8 March 2026 the hour from 2 to 3 is skipped; on 1 November 1 to 2 comes twice.
	spring := example{c: c, loc: newYork, p: p, start: time.Date(2026, 3, 8, 18, 30, 0, 0, newYork), end: time.Date(2026, 3, 8, 19, 30, 0, 0, newYork), capacity: 10}
	autumn := spring
	autumn.start, autumn.end = time.Date(2026, 11, 1, 18, 30, 0, 0, newYork), time.Date(2026, 11, 1, 19, 30, 0, 0, newYork)
	for _, example := range []struct {
		ex   example
		name string
		want string
	}{
		{spring, "cancelBefore", "A booking for Sun 8 Mar, 18:30 can be cancelled online until Sat 7 Mar, 17:30."},
		{autumn, "cancelBefore", "A booking for Sun 1 Nov, 18:30 can be cancelled online until Sat 31 Oct, 19:30."},
		{spring, "quiet", "When a seat comes free on Sat 7 Mar, 21:40, the offer runs to Sun 8 Mar, 08:30."},
		{autumn, "quiet", "When a seat comes free on Sat 31 Oct, 21:40, the offer runs to Sun 1 Nov, 08:30."},
		{spring, "broadcastBefore", "In the slot of Sun 8 Mar, 18:30, seats are offered in turn until Sun 8 Mar, 15:30; then it is first come, first served."},
		{spring, "bookingOpens", "The slot of Sun 8 Mar, 18:30 can be booked from Wed 7 Jan 2026, 17:30."},
		{spring, "offerShown", "When somebody cancels on Sat 7 Mar, 14:00, the offer runs to 14:30."},
	} {
		if got := example.ex.of(example.name); got != example.want {
			t.Errorf("%s: %q, want %q", example.name, got, example.want)
		}
	}
	// An early switch on the night itself: three hours before 05:00 is 01:00.
	early := spring
	early.start, early.end = time.Date(2026, 3, 8, 5, 0, 0, 0, newYork), time.Date(2026, 3, 8, 6, 0, 0, 0, newYork)
	if got := early.of("broadcastBefore"); !strings.Contains(got, "until Sun 8 Mar, 01:00;") {
		t.Error(got)
	}
}

// The sheets as a shop gets them.
func TestTheSheetsOfRules(t *testing.T) {
	t.Parallel()
	tokyo := zone(t, "Asia/Tokyo")
	tenant := store.Tenant{ID: absentID, Slug: "aozora", Name: "青空スタジオ", TimeZone: "Asia/Tokyo", Locale: i18n.JA, Phone: "+81312345678"}
	services := []store.Service{
		{Name: store.Text{"ja": "朝ヨガ", "en": "Morning yoga"}, Active: true},
		{Name: store.Text{"ja": "入会説明会", "en": "Briefing"}, Active: true, Overrides: []byte(`{"waitlistMode":"broadcast","partyMax":2,"cancelBefore":"0s"}`)},
		{Name: store.Text{"ja": "昔の講座", "en": "Old course"}, Overrides: []byte(`{"partyMax":9}`)},
	}
	setup := store.Setup{Trade: "studio", CallRule: store.CallWaitlist, CallNote: "折り返しの電話は18時までに。"}
	for _, lang := range i18n.Languages {
		ex := inventedExample(i18n.For(lang), tokyo, time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC), time.Hour, 10)
		ex.p = store.DefaultPolicies()
		sheet, err := counterSheet(ex, tenant, services, setup)
		if err != nil {
			t.Fatal(err)
		}
		var counter strings.Builder
		fmt.Fprintf(&counter, "%s\n%s\n", sheet.Title, sheet.Example)
		for _, part := range append(sheet.Parts, sheet.Own...) {
			fmt.Fprintf(&counter, "\n%s\n", part.Title)
			for _, r := range part.Rules {
				fmt.Fprintf(&counter, "- %s\n", r.Text)
				if r.Example != "" {
					fmt.Fprintf(&counter, "  %s\n", r.Example)
				}
			}
		}
		customers, err := customersText(ex, tenant, services)
		if err != nil {
			t.Fatal(err)
		}
		for name, got := range map[string]string{"counter": counter.String(), "customers": customers} {
			if strings.Contains(got, "[[") || strings.Contains(got, "{") || strings.Contains(got, "昔の講座") || strings.Contains(got, "Old course") {
				t.Errorf("%s in %s:\n%s", name, lang, got)
			}
			file := filepath.Join("testdata", "rules_"+name+"."+lang+".golden")
			if *updateRules {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s differs from %s (accept with -update-rules):\n%s", name, file, got)
			}
		}
	}
}

// policySite is a shop with its owner at the page of policies, and the form as it stands.
func policySite(t *testing.T, path func(s *site) string) (*site, *browser, string, url.Values) {
	t.Helper()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	_, values := b.get(path(s)).is(http.StatusOK).form("/policies")
	return s, b, path(s), values
}

func ofVenue(*site) string     { return views.StaffPoliciesURL("shop") }
func ofService(s *site) string { return views.StaffServicePoliciesURL("shop", s.Service.ID) }

func TestNonsenseInPoliciesIsRefusedBesideTheField(t *testing.T) {
	t.Parallel()
	s, b, path, fresh := policySite(t, ofVenue)
	s.Slot(t, 2)
	before := dump(t, s.Shop)
	for _, c := range []struct {
		values  []string
		at, say string
	}{
		{[]string{"holdGrace", "19", "holdGrace_unit", "s"}, "holdGrace", "20秒以上"},
		{[]string{"offerGrace", "0"}, "offerGrace", "20秒以上"},
		{[]string{"holdGrace", "6"}, "holdGrace", "5分"},
		{[]string{"holdShown", "61"}, "holdShown", "1時間まで"},
		{[]string{"offerShown", "8", "offerShown_unit", "d"}, "offerShown", "7日まで"},
		{[]string{"offerShown", "0"}, "offerShown", "1分以上"},
		{[]string{"leastAnswer", "31"}, "leastAnswer", "30分"},
		{[]string{"broadcastBefore", "60", "broadcastBefore_unit", "d"}, "broadcastBefore", "30日まで"},
		{[]string{"bookingCloses", "4", "bookingCloses_unit", "h"}, "broadcastBefore", "4時間前"},
		{[]string{"bookingOpens", "2", "bookingOpens_unit", "h"}, "broadcastBefore", "2時間前"},
		{[]string{"bookingOpens", "0"}, "bookingOpens", "より早く"},
		{[]string{"bookingOpens", "1", "bookingOpens_unit", "h", "bookingCloses", "2", "bookingCloses_unit", "h"}, "bookingOpens", "2時間前"},
		{[]string{"reminderBefore", "31", "reminderBefore_unit", "d"}, "reminderBefore", "30日まで"},
		{[]string{"cancelBefore", "-1"}, "cancelBefore", "0以上"},
		{[]string{"cancelBefore", "1.5"}, "cancelBefore", "整数"},
		{[]string{"cancelBefore", ""}, "cancelBefore", "整数"},
		{[]string{"eraseWaitlist", "99999999999999999999"}, "eraseWaitlist", "整数"},
		{[]string{"eraseReservations", "100000"}, "eraseReservations", "3,650日まで"},
		{[]string{"partyMax", "0"}, "partyMax", "1以上"},
		{[]string{"partyMax", "1001"}, "partyMax", "1,000まで"},
		{[]string{"waitlistMax", "0"}, "waitlistMax", "誰も待てません"},
		{[]string{"waitlistMax", "x"}, "waitlistMax", "整数"},
		{[]string{"holdsPerVisitor", "0"}, "holdsPerVisitor", "1以上"},
		{[]string{"holdsPerVisitor", "1001"}, "holdsPerVisitor", "1,000まで"},
		{[]string{"slotsTogether", "25"}, "slotsTogether", "24まで"},
		{[]string{"fewLeft", "10001"}, "fewLeft", "10,000まで"},
		{[]string{"quiet", "1", "quiet_from", "21:00", "quiet_until", "21:00"}, "quiet_from", "別の時刻"},
		{[]string{"quiet", "1", "quiet_from", "25:00", "quiet_until", "21:00"}, "quiet_from", "21:00 のように"},
		{[]string{"quiet", "1", "quiet_from", "21:00", "quiet_until", ""}, "quiet_until", "21:00 のように"},
	} {
		for _, step := range []string{views.StepSave, views.StepCheck, views.StepExamples} {
			values := with(clone(fresh), append(c.values, views.FieldStep, step)...)
			p := b.post(path, values).is(http.StatusUnprocessableEntity)
			beside := p.all("data-error", c.at)
			if len(beside) == 0 {
				t.Errorf("%v: nothing stands beside %s", c.values, c.at)
				continue
			}
			if !strings.Contains(p.text(), c.say) {
				t.Errorf("%v: it does not say %q", c.values, c.say)
			}
			// What was typed is kept.
			_, kept := p.form("/policies")
			for i := 0; i < len(c.values); i += 2 {
				if kept.Get(c.values[i]) != c.values[i+1] {
					t.Errorf("%v: %s came back as %q", c.values, c.values[i], kept.Get(c.values[i]))
				}
			}
		}
	}
	if dump(t, s.Shop) != before {
		t.Error("refused, and yet something is stored")
	}
}

func clone(v url.Values) url.Values {
	out := url.Values{}
	for name, all := range v {
		out[name] = slices.Clone(all)
	}
	return out
}

func TestPoliciesAreLookedAtThenSavedAndTheyReachTheSlots(t *testing.T) {
	t.Parallel()
	s, b, path, values := policySite(t, ofVenue)
	slot := s.Slot(t, 2)
	values = with(values, "offerShown", "45", "partyMax", "2", "waitlistMax", "5")
	before := dump(t, s.Shop)

	examples := b.post(path, with(clone(values), views.FieldStep, views.StepExamples)).is(http.StatusOK)
	examples.says("14:45 まで").says("5組がお待ちなら")
	check := b.post(path, with(clone(values), views.FieldStep, views.StepCheck)).is(http.StatusOK)
	check.says("30分").says("45分").says("これからの枠1件に").says("すでにお客様に示した期限は、変わりません")
	if dump(t, s.Shop) != before {
		t.Fatal("something is stored before it was saved")
	}
	done := b.follow(b.press(check, "/policies", url.Values{views.FieldStep: {views.StepSave}}).is(http.StatusSeeOther))
	done.need("data-state", "done").says("これからの枠1件に反映しました")
	if got := s.Read(t, slot); got.PartyMax != 2 || got.OfferShown != 45*time.Minute {
		t.Errorf("the slot has %d and %s", got.PartyMax, got.OfferShown)
	}
	tenant, err := s.Store.TenantByID(t.Context(), s.Tenant.ID)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := tenant.Policies(); err != nil || p.PartyMax != 2 || p.WaitlistMax == nil || *p.WaitlistMax != 5 {
		t.Errorf("%+v %v", p, err)
	}
	// Told once.
	if b.get(path).has("data-state", "done") {
		t.Error("told again")
	}
}

func TestAServiceGoesItsOwnWayWhereItIsTicked(t *testing.T) {
	t.Parallel()
	s, b, path, values := policySite(t, ofService)
	slot := s.Slot(t, 2)
	// What is not ticked is not used, whatever is typed.
	values = with(values, views.FieldOwn+"partyMax", "1", "partyMax", "3", "fewLeft", "9", views.FieldStep, views.StepSave)
	b.follow(b.post(path, values).is(http.StatusSeeOther)).need("data-state", "done")
	service, err := s.Store.Service(t.Context(), s.Tenant.ID, s.Service.ID)
	if err != nil {
		t.Fatal(err)
	}
	if string(service.Overrides) != `{"partyMax": 3}` || s.Read(t, slot).FewLeft != 3 || s.Read(t, slot).PartyMax != 3 {
		t.Errorf("stored: %s", service.Overrides)
	}
	// The venue's own change reaches what it does not decide itself.
	_, venue := b.get(ofVenue(s)).says("この予約だけのルール：1項目").form("/policies")
	b.follow(b.post(ofVenue(s), with(venue, "fewLeft", "1", "partyMax", "6", views.FieldStep, views.StepSave)).is(http.StatusSeeOther))
	if got := s.Read(t, slot); got.FewLeft != 1 || got.PartyMax != 3 {
		t.Errorf("the slot has △ at %d and parties of %d", got.FewLeft, got.PartyMax)
	}
	// A venue's policy that a service's own one contradicts is refused, and says which service.
	_, values = b.get(path).form("/policies")
	b.post(path, with(values, views.FieldOwn+"bookingCloses", "1", "bookingCloses", "2", "bookingCloses_unit", "h", views.FieldStep, views.StepSave)).is(http.StatusSeeOther)
	_, venue = b.get(ofVenue(s)).form("/policies")
	refused := b.post(ofVenue(s), with(venue, "bookingOpens", "1", "bookingOpens_unit", "h", "broadcastBefore", "0", "reminderBefore", "0", views.FieldStep, views.StepSave)).is(http.StatusUnprocessableEntity)
	refused.need("data-error", "bookingOpens").says("朝のヨガ")
}

func TestAStaleFormOfPoliciesWritesNothingAndAsksAgain(t *testing.T) {
	t.Parallel()
	for _, path := range []func(*site) string{ofVenue, ofService} {
		s, b, self, values := policySite(t, path)
		slot := s.Slot(t, 2)
		values = with(values, views.FieldOwn+"fewLeft", "1", "fewLeft", "7")
		// Meanwhile somebody else saves something else.
		other := s.Tenant
		p, err := other.Policies()
		if err != nil {
			t.Fatal(err)
		}
		p.PartyMax = 2
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Store.SetPolicies(t.Context(), store.PolicyChange{TenantID: other.ID, Overrides: text, Actor: shop.Staff}); err != nil {
			t.Fatal(err)
		}
		before := dump(t, s.Shop)
		for _, step := range []string{views.StepCheck, views.StepSave} {
			stale := b.post(self, with(clone(values), views.FieldStep, step)).is(http.StatusConflict).need("data-state", "changed")
			if dump(t, s.Shop) != before {
				t.Fatal("a stale form has written something")
			}
			if step == views.StepSave {
				stale.says("△").says("3").says("7")
				b.follow(b.press(stale, "/policies", url.Values{views.FieldStep: {views.StepSave}}).is(http.StatusSeeOther)).need("data-state", "done")
			}
		}
		if got := s.Read(t, slot); got.FewLeft != 7 {
			t.Errorf("△ at %d", got.FewLeft)
		}
	}
}

func TestSlotsThatAreLeftAreCompletedByAPress(t *testing.T) {
	t.Parallel()
	s, b, path, _ := policySite(t, ofVenue)
	for range 3 {
		s.Slot(t, 2)
	}
	// As an interruption leaves it: stored, and not yet in the slots.
	s.Exec(t, `UPDATE tenants SET policies = policies || '{"partyMax": 2}' WHERE id = $1`, s.Tenant.ID)
	left := b.get(path).need("data-state", "left").says("3件")
	after := b.follow(b.press(left, "/complete", nil).is(http.StatusSeeOther)).says("枠3件に反映しました")
	if after.has("data-state", "left") {
		t.Error("still something left")
	}
	if b.get(views.StaffPoliciesCompleteURL("shop")).location() != path {
		t.Error("the address of the press leads nowhere")
	}
}

func TestTheFirstSetUpEndsWithTheSheets(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	slot := s.Slot(t, 2)
	hub := b.get(views.StaffSettingsURL("shop")).says("まず、ここから")
	if !strings.Contains(hub.body, views.StaffSetupURL("shop")) {
		t.Error("the settings don't lead to the set-up")
	}
	b.get(views.StaffRulesURL("shop", "")).is(http.StatusOK).says("まだ決まっていません")
	for _, trade := range trades {
		_, values := b.get(views.StaffSetupTradeURL("shop", trade.name)).is(http.StatusOK).form("/setup")
		// What is proposed is good as it is.
		p := b.post(views.StaffSetupURL("shop"), with(values, views.FieldStep, views.StepCheck)).is(http.StatusUnprocessableEntity)
		if got := len(p.all("data-error", "")); got != 1 || !p.has("data-error", views.FieldCallRule) {
			t.Errorf("%s: %d faults:\n%s", trade.name, got, p.text())
		}
		b.post(views.StaffSetupURL("shop"), with(values, views.FieldStep, views.StepExamples)).is(http.StatusOK)
		b.post(views.StaffSetupURL("shop"), with(values, views.FieldStep, views.StepCheck, views.FieldCallRule, "extra")).is(http.StatusOK)
	}
	before := dump(t, s.Shop)
	_, values := b.get(views.StaffSetupTradeURL("shop", "clinic")).form("/setup")
	values = with(values, views.FieldCallRule, "online", views.FieldCallNote, "受付は17時まで\n折り返します", "cancelBefore", "36")
	check := b.post(views.StaffSetupURL("shop"), with(values, views.FieldStep, views.StepCheck)).is(http.StatusOK).says("36時間").says("枠1件に")
	if dump(t, s.Shop) != before {
		t.Fatal("something is stored before it was saved")
	}
	sheet := b.follow(b.press(check, "/setup", url.Values{views.FieldStep: {views.StepSave}}).is(http.StatusSeeOther)).need("data-state", "done")
	sheet.says("予約ページからキャンセル待ちに登録していただく").says("受付は17時まで").says("開始の36時間前までです").says("1回の予約は1名まで")
	if got := s.Read(t, slot); got.PartyMax != 1 {
		t.Errorf("the slot takes %d", got.PartyMax)
	}
	b.get(views.StaffRulesURL("shop", "en")).says("Customers can cancel online until 36 hours before the start.")
	b.get(views.StaffRulesCustomersURL("shop")).says("開始の36時間前まで").says("until 36 hours before the start")
	if strings.Contains(b.get(views.StaffSettingsURL("shop")).text(), "まず、ここから") {
		t.Error("the settings still lead to the set-up first")
	}
	// Once more, it shows what was decided.
	again := b.get(views.StaffSetupTradeURL("shop", "clinic"))
	if _, values := again.form("/setup"); values.Get("cancelBefore") != "36" || values.Get(views.FieldCallRule) != "online" {
		t.Errorf("%v", values)
	}
}

// A stale set-up writes nothing either.
func TestAStaleSetUpAsksAgain(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	_, values := b.get(views.StaffSetupTradeURL("shop", "fair")).form("/setup")
	s.Exec(t, `UPDATE tenants SET policies = policies || '{"partyMax": 2}' WHERE id = $1`, s.Tenant.ID)
	before := dump(t, s.Shop)
	stale := b.post(views.StaffSetupURL("shop"), with(values, views.FieldStep, views.StepSave, views.FieldCallRule, "extra")).is(http.StatusConflict).need("data-state", "changed")
	if dump(t, s.Shop) != before {
		t.Fatal("a stale form has written something")
	}
	b.follow(b.press(stale, "/setup", url.Values{views.FieldStep: {views.StepSave}}).is(http.StatusSeeOther)).need("data-state", "done")
}

func TestTheDeskReadsTheRulesAndChangesNone(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	b.get(views.StaffRulesURL("shop", "")).is(http.StatusOK)
	b.get(views.StaffRulesCustomersURL("shop")).is(http.StatusOK)
	for _, path := range []string{ofVenue(s), ofService(s), views.StaffSetupURL("shop")} {
		b.get(path).is(http.StatusForbidden)
		b.post(path, url.Values{views.FieldStep: {views.StepSave}}).is(http.StatusForbidden)
	}
	b.post(views.StaffPoliciesCompleteURL("shop"), nil).is(http.StatusForbidden)
}

// The statements of these pages don't grow with the services or the slots.
func TestPolicyPagesKeepToTheirBudgetOfStatements(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	for i := range 8 {
		s.AddService(t, s.Tenant, fmt.Sprintf("class-%d", i), []byte(`{"partyMax":2}`))
		s.Slot(t, 3)
	}
	for _, c := range []struct {
		path string
		most int
	}{
		{ofVenue(s), 14},
		{ofService(s), 14},
		{views.StaffSetupURL("shop"), 12},
		{views.StaffSetupTradeURL("shop", "fair"), 13},
		{views.StaffRulesURL("shop", ""), 13},
		{views.StaffRulesCustomersURL("shop"), 13},
		{views.StaffSettingsURL("shop"), 12},
	} {
		if n := s.Count(func() { b.get(c.path).is(http.StatusOK) }); n > c.most {
			t.Errorf("%s: %d statements, at most %d", c.path, n, c.most)
		}
	}
}
