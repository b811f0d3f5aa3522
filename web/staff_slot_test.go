package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"holdfast/store"
	"holdfast/store/storetest/shop"
	"holdfast/views"
)

func init() {
	silent := badField{name: views.FieldSilent, kind: quietField}
	cancelled := func(t *testing.T, s *site) (store.Slot, store.Reservation) {
		slot := s.Slot(t, 4)
		r := s.Book(t, slot, 2)
		s.Cancel(t, r)
		return s.Read(t, slot), r
	}
	notice := func(values url.Values) url.Values {
		return with(values, views.FieldToBooked, "1", views.FieldSubject("ja"), "駐車場", views.FieldText("ja"), "使えません。", views.FieldSend, "1", views.FieldIdempotencyKey, "k")
	}
	for pattern, form := range map[string]badForm{
		"/staff/{tenant}/slots/{slot}/cancel#silent": {
			fields: []badField{silent}, staff: true, fresh: onStaffSlot("/cancel", views.FieldReservation, "{reservation}", views.FieldSilent, "1"),
		},
		"/staff/{tenant}/slots/{slot}/message": {
			fields: slices.Concat([]badField{
				{name: views.FieldSubject("ja"), kind: textField, longest: longestSubject},
				{name: views.FieldText("ja"), kind: textField, longest: longestText},
				{name: views.FieldToBooked, kind: quietField},
				{name: views.FieldToWaiting, kind: quietField},
				{name: views.FieldSend, kind: quietField},
			}, hiddenFields(views.FieldIdempotencyKey, views.FieldVersion)),
			staff: true,
			fresh: func(t *testing.T, s *site) (string, url.Values) {
				path, values := onStaffSlot("/message")(t, s)
				return path, notice(values)
			},
		},
		"/staff/{tenant}/slots/{slot}/terms": {
			fields: slices.Concat([]badField{
				{name: views.FieldDate, kind: textField},
				{name: views.FieldStart, kind: textField},
				{name: views.FieldEnd, kind: textField},
				{name: views.FieldService, kind: textField},
				{name: views.FieldResource, kind: textField},
				reasonOf,
			}, hiddenFields(views.FieldVersion)),
			staff: true,
			fresh: func(t *testing.T, s *site) (string, url.Values) {
				slot := s.Slot(t, 4)
				to := s.Start.In(s.Tenant.Location()).AddDate(0, 0, 15)
				s.Start = s.Start.Add(30 * 24 * time.Hour) // no other comes to be there
				return views.StaffSlotTermsURL("shop", slot.ID), with(none(), views.FieldDate, to.Format(time.DateOnly), views.FieldStart, "10:00", views.FieldEnd, "11:00",
					views.FieldService, s.Service.ID, views.FieldResource, s.Resource.ID, views.FieldReason, "理由", views.FieldVersion, fmt.Sprint(slot.Version))
			},
		},
		"/staff/{tenant}/slots/{slot}/reservations/{reservation}/rebook": {
			fields: slices.Concat([]badField{{name: views.FieldHow, kind: choiceField}}, hiddenFields(views.FieldVersion)), staff: true,
			fresh: func(t *testing.T, s *site) (string, url.Values) {
				slot, r := cancelled(t, s)
				return views.StaffReservationRebookURL("shop", slot.ID, r.ID), with(none(), views.FieldHow, howSeat, views.FieldVersion, fmt.Sprint(slot.Version))
			},
		},
		"/staff/{tenant}/slots/{slot}/reservations/{reservation}/rebook#beyond": {
			fields: []badField{reasonOf}, staff: true,
			fresh: func(t *testing.T, s *site) (string, url.Values) {
				slot, r := cancelled(t, s)
				s.Exec(t, "UPDATE slots SET capacity = 1, taken = 0 WHERE id = $1", slot.ID)
				return views.StaffReservationRebookURL("shop", slot.ID, r.ID), with(none(), views.FieldHow, howBeyond, views.FieldReason, "理由", views.FieldVersion, fmt.Sprint(slot.Version))
			},
		},
		"/staff/{tenant}/slots/{slot}/waitlist/{entry}/party": {
			fields: slices.Concat([]badField{partyOf}, hiddenFields(views.FieldVersion)), staff: true, fresh: onStaffEntry("/party", waitingOf, views.FieldPartySize, "1"),
		},
	} {
		forms[pattern] = form
	}
	contact := forms["/staff/{tenant}/slots/{slot}/reservations/{reservation}/contact"]
	contact.alert = false // each fault stands beside its field
	forms["/staff/{tenant}/slots/{slot}/reservations/{reservation}/contact"] = contact
}

// staffStale is a press of staff on a slot, and the page that has its form.
type staffStale struct {
	page string
	form string // how its action ends
	more url.Values
}

// staffStales are, by route, all presses of staff on a slot that carry a version.
// Those that are judged by their own row alone carry none: see the next list.
func staffStales(t *testing.T, s *site, l life) map[string]staffStale {
	t.Helper()
	slot, full := views.StaffSlotURL("shop", l.slot.ID), views.StaffSlotURL("shop", l.full.ID)
	gone := s.Book(t, l.slot, 1)
	s.Cancel(t, gone)
	pair := s.Slot(t, 2) // somebody waits with two, so that there can be fewer
	s.Book(t, pair, 2)
	two := s.Join(t, pair, 2)
	paused := s.Slot(t, 2)
	if _, err := s.Store.PauseWaitlist(t.Context(), store.SlotRequest{TenantID: paused.TenantID, SlotID: paused.ID, Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	closed := s.Slot(t, 2)
	if _, err := s.Store.CloseSlot(t.Context(), store.SlotRequest{TenantID: closed.TenantID, SlotID: closed.ID, Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	open := claimableOf(s, t)
	reason := url.Values{views.FieldReason: {"お客様のご希望"}}
	caller := url.Values{views.FieldName: {"電話 の人"}, views.FieldPhone: {"090-1234-5678"}}
	later := l.slot.StartsAt.In(s.Tenant.Location()).AddDate(0, 0, 40).Format(time.DateOnly)
	terms := url.Values{views.FieldDate: {later}, views.FieldStart: {"10:00"}, views.FieldEnd: {"24:00"}, views.FieldService: {s.Service.ID}, views.FieldResource: {s.Resource.ID}}
	return map[string]staffStale{
		"/cancel":                            {views.StaffSlotCancelStepURL("shop", l.slot.ID, l.booked.ID), "/cancel", reason},
		"/cancel-slot":                       {views.StaffSlotCancelSlotURL("shop", l.slot.ID), "/cancel-slot", reason},
		"/capacity":                          {slot + "/capacity?capacity=7", "/capacity", url.Values{views.FieldCapacity: {"7"}}},
		"/book":                              {slot, "/book", caller},
		"/waitlist":                          {full, "/book", caller},
		"/close":                             {slot, "/close", nil},
		"/pause":                             {slot, "/pause", nil},
		"/reopen":                            {views.StaffSlotReopenURL("shop", closed.ID), "/reopen", nil},
		"/resume":                            {views.StaffSlotResumeURL("shop", paused.ID), "/resume", nil},
		"/terms":                             {slot + "/terms?" + terms.Encode(), "/terms", terms},
		"/message":                           {slot + "/message", "/message", url.Values{views.FieldSubject("ja"): {"駐車場"}, views.FieldText("ja"): {"使えません。"}, views.FieldSend: {"1"}}},
		"/move":                              {views.StaffSlotMoveStepURL("shop", l.slot.ID, l.booked.ID), "/move", nil},
		"/party":                             {slot + "/party?reservation=" + l.booked.ID + "&party_size=2", "/party", url.Values{views.FieldPartySize: {"2"}}},
		"/reservations/{reservation}/move":   {views.StaffSlotMoveStepURL("shop", l.slot.ID, l.booked.ID), "/move", nil},
		"/reservations/{reservation}/party":  {slot + "/party?reservation=" + l.booked.ID + "&party_size=2", "/party", url.Values{views.FieldPartySize: {"2"}}},
		"/reservations/{reservation}/rebook": {views.StaffReservationRebookURL("shop", l.slot.ID, gone.ID), "/rebook", nil},
		"/waitlist/{entry}/offer":            {views.StaffEntryOfferURL("shop", open.SlotID, open.ID), "/offer", reason},
		"/waitlist/{entry}/revoke":           {views.StaffEntryRevokeURL("shop", l.full.ID, l.offered.ID), "/revoke", reason},
		"/waitlist/{entry}/remove":           {views.StaffEntryRemoveURL("shop", l.full.ID, l.waiting.ID), "/remove", reason},
		"/waitlist/{entry}/party":            {views.StaffEntryPartyURL("shop", pair.ID, two.ID) + "?party_size=1", "/party", url.Values{views.FieldPartySize: {"1"}}},
		"/waitlist/{entry}/accept":           {full, "/accept", nil},
		"/waitlist/{entry}/decline":          {full, "/decline", nil},
		"/waitlist/{entry}/claim":            {views.StaffSlotURL("shop", open.SlotID), "/claim", nil},
	}
}

// ofTheirOwnRow are the presses that no change elsewhere in the slot concerns.
var ofTheirOwnRow = []string{"/attendance", "/reservations/{reservation}/attendance", "/reservations/{reservation}/contact"}

// Every press on a slot that carries a version: a stale one writes nothing, says
// what has changed and asks again, and the second press is judged by the step's own condition.
func TestNoStalePressOnASlotWritesAnything(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	var routes []string
	for _, r := range s.routesOf(t) {
		if path, of := strings.CutPrefix(r.pattern, "/staff/{tenant}/slots/{slot}/"); of && r.method == http.MethodPost {
			routes = append(routes, "/"+path)
		}
	}
	if len(routes) < 20 {
		t.Fatalf("only %d routes", len(routes))
	}
	for _, route := range routes {
		if slices.Contains(ofTheirOwnRow, route) {
			continue
		}
		t.Run(strings.ReplaceAll(strings.Trim(route, "/"), "/", " "), func(t *testing.T) {
			t.Parallel()
			stalePress(t, route)
		})
	}
}

func stalePress(t *testing.T, route string) {
	s := openSite(t, shop.New(t, nil))
	l := live(t, s.Shop)
	target := s.Slot(t, 5)
	b := atTheDesk(t, s)
	f, known := staffStales(t, s, l)[route]
	if !known {
		t.Fatal("no form in this test says how it is pressed")
	}
	shown := b.get(f.page).is(http.StatusOK)
	action, fields := "", url.Values(nil)
	switch f.form {
	case "/move":
		action, fields = moveForm(t, shown, target.ID)
	case "/terms":
		action, fields = postForm(t, shown, f.form)
	default:
		action, fields = shown.form(f.form)
	}
	if route == "/waitlist" {
		action = views.StaffSlotJoinURL("shop", l.full.ID)
	}
	if strings.HasPrefix(route, "/reservations/{reservation}/") && f.form != "/rebook" {
		action = views.StaffSlotURL("shop", l.slot.ID) + strings.Replace(route, "{reservation}", l.booked.ID, 1)
	}
	for name, values := range f.more {
		fields[name] = values
	}
	if fields.Get(views.FieldVersion) == "" {
		t.Fatalf("the form carries no version: %v", fields)
	}
	// A colleague does something in the slot meanwhile that does not stand in the way of the press.
	id := strings.Split(action, "/")[4]
	if _, err := s.Store.SendNotice(t.Context(), store.NoticeRequest{
		TenantID: s.Tenant.ID, SlotID: id, Waiting: true, Fallback: "ja", Key: "k", Actor: shop.Staff, Texts: map[string]store.NoticeText{"ja": {Subject: "x", Text: "y"}},
	}); err != nil {
		t.Fatal(err)
	}
	before := dump(t, s.Shop)
	stale := b.post(action, fields).is(http.StatusConflict).need("data-state", "changed").need("data-event", "notice_sent")
	if after := dump(t, s.Shop); after != before {
		t.Fatalf("a stale press has written something:\n%s\nwas:\n%s", after, before)
	}
	againAction, again := changedForm(t, stale)
	if again.Has(views.FieldVersion) || again.Get(fieldAgain) != "1" {
		t.Errorf("the second press is judged by a version: %v", again)
	}
	for name := range fields {
		if name != views.FieldVersion && !slices.Equal(again[name], fields[name]) {
			t.Errorf("the second press has lost %s: %v, was %v", name, again[name], fields[name])
		}
	}
	b.follow(b.post(againAction, again).is(http.StatusSeeOther)).is(http.StatusOK).need("data-state", "done")
	if dump(t, s.Shop) == before {
		t.Error("the second press did nothing")
	}
	// Judged by the step's own condition: where that no longer holds, the second press is refused too.
	if _, err := s.Store.CancelSlot(t.Context(), store.SlotRequest{TenantID: s.Tenant.ID, SlotID: id, Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	after := dump(t, s.Shop)
	if p := b.post(againAction, again); p.status >= 500 || dump(t, s.Shop) != after {
		t.Errorf("in a cancelled slot: %d, or something was written", p.status)
	}
}

func TestAWrongCancelIsUndoneFromWhereItIsSeen(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	slot := s.Slot(t, 2)
	r := s.Book(t, slot, 2)
	done := b.follow(b.press(b.get(views.StaffSlotCancelStepURL("shop", slot.ID, r.ID)), "/cancel", nil))
	here := views.StaffReservationRebookURL("shop", slot.ID, r.ID)
	if len(done.all("href", here)) < 2 {
		t.Errorf("the result and the list of what ended do not lead back:\n%s", done.text())
	}
	step := b.get(here).is(http.StatusOK).says(ja("staff.rebook.again", "n", 2)).says(ja("staff.rebook.mail", "name", r.Name))
	b.follow(b.press(step, "/rebook", nil)).need("data-state", "done").says(ja("staff.did.rebook", "name", r.Name, "n", 2)).says(ja("staff.then.new_number"))
	b.follow(b.press(step, "/rebook", nil)).need("data-state", "done") // sent twice
	if got := s.Read(t, slot); got.Confirmed != 2 {
		t.Errorf("%d seats are booked", got.Confirmed)
	}
}

func TestAnUndoSaysWhoHasTheSeatNow(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	slot := s.Slot(t, 1)
	r := s.Book(t, slot, 1)
	waits := s.Join(t, slot, 1)
	b.press(b.get(views.StaffSlotCancelStepURL("shop", slot.ID, r.ID)), "/cancel", nil).is(http.StatusSeeOther)
	here := views.StaffReservationRebookURL("shop", slot.ID, r.ID)
	until := s.Entry(t, waits).ShownUntil.In(s.Tenant.Location()).Format("15:04")
	page := b.get(here).is(http.StatusOK).says(waits.Name).says(until).says(ja("staff.rebook.wait")).says(ja("staff.rebook.beyond"))
	_, fields := page.form("/rebook")
	with(fields, views.FieldHow, howBeyond)
	b.post(here, fields).is(http.StatusUnprocessableEntity).need("data-error", views.FieldReason)
	with(fields, views.FieldHow, howSeat)
	b.post(here, fields).is(http.StatusConflict).says(waits.Name)
	with(fields, views.FieldHow, howWait)
	b.follow(b.post(here, fields)).need("data-state", "done").says(ja("staff.did.join", "name", r.Name, "n", 1))
	b.follow(b.post(here, fields)) // sent twice: one place
	if list, err := s.Store.Waitlist(t.Context(), slot.TenantID, slot.ID, false); err != nil || len(list) != 2 || list[1].Email != r.Email {
		t.Errorf("%v, %v", list, err)
	}
	accepted, err := s.Store.Accept(t.Context(), store.AcceptRequest{TenantID: waits.TenantID, ID: waits.ID, TermsVersion: 1, Actor: shop.Customer})
	if err != nil {
		t.Fatal(err)
	}
	b.get(here).says(ja("staff.rebook.booked_since", "name", accepted.Name, "n", 1, "time", "")[:10])
	action, fields := "", url.Values(nil)
	for _, n := range b.get(here).all("name", views.FieldHow) {
		if attr(n, "value") == howBeyond {
			action, fields = here, url.Values{views.FieldHow: {howBeyond}, views.FieldReason: {"取り消しの間違い"}, views.FieldVersion: {fmt.Sprint(s.Read(t, slot).Version)}}
		}
	}
	b.follow(b.post(action, fields)).need("data-state", "done").says("取り消しの間違い")
	if got := s.Read(t, slot); got.Capacity != 2 || got.Confirmed != 2 {
		t.Errorf("%+v", got)
	}
}

func TestNotTellingSomebodyIsAChoiceThatIsRecorded(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	slot := s.Slot(t, 2)
	told, untold := s.Book(t, slot, 1), s.Book(t, slot, 1)
	b.follow(b.press(b.get(views.StaffSlotCancelStepURL("shop", slot.ID, told.ID)), "/cancel", nil)).says(ja("staff.then.mails", "n", 1))
	silent := b.follow(b.press(b.get(views.StaffSlotCancelStepURL("shop", slot.ID, untold.ID)), "/cancel", url.Values{views.FieldSilent: {"1"}}))
	silent.says(ja("staff.then.silent")).says(ja("staff.event.silent"))
	for _, c := range []struct {
		r    store.Reservation
		want int
	}{{told, 2}, {untold, 1}} {
		if mails, err := s.Store.Messages(t.Context(), store.MessageQuery{TenantID: c.r.TenantID, SubjectID: c.r.ID}); err != nil || len(mails) != c.want {
			t.Errorf("%d mails, %v", len(mails), err)
		}
	}
}

func TestWhatWasTypedForACallerOutlivesTheSession(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	slot := s.Slot(t, 2)
	action, fields := b.get(views.StaffSlotURL("shop", slot.ID)).form("/book")
	with(fields, views.FieldName, "髙橋 \"𠮷郎\" <b>", views.FieldPhone, "090-1234-5678", views.FieldNote, "窓の近く", views.FieldPartySize, "2")
	b.post("/staff/sign-out", nil).is(http.StatusSeeOther)
	before := dump(t, s.Shop)
	kept := b.post(action, fields).is(http.StatusUnauthorized).need("data-state", "signed_out_press").says("髙橋 \"𠮷郎\" <b>").says("090-1234-5678")
	if dump(t, s.Shop) != before {
		t.Error("a press by nobody has written something")
	}
	if strings.Contains(kept.location(), url.QueryEscape("髙橋")) || strings.Contains(s.logs.String(), "髙橋") {
		t.Error("what was typed stands in an address or a log")
	}
	if kept.header.Get("Cache-Control") != "no-store" {
		t.Errorf("the page may be stored: %q", kept.header.Get("Cache-Control"))
	}
	// Pressed before signing in: it is still there.
	again := b.press(kept, "/book", nil).is(http.StatusUnauthorized).says("窓の近く")
	// Signed in, in another tab: the same press is made, once.
	b.follow(b.post("/staff/sign-in", signIn("desk@example.com", staffPassword)))
	b.follow(b.press(again, "/book", nil)).need("data-state", "done").says("髙橋 \"𠮷郎\" <b>")
	b.press(kept, "/book", nil).is(http.StatusSeeOther)
	roster, err := s.Store.Roster(t.Context(), slot.TenantID, slot.ID)
	if err != nil || len(roster) != 1 || roster[0].Name != "髙橋 \"𠮷郎\" <b>" || roster[0].PartySize != 2 || roster[0].Note != "窓の近く" {
		t.Errorf("%+v, %v", roster, err)
	}
	// Whoever signs in elsewhere may not.
	other := s.AddTenant(t, "other", nil)
	s.hire(t, other, "stranger@example.com", store.RoleOwner)
	stranger := s.browser(t)
	stranger.follow(stranger.post("/staff/sign-in", signIn("stranger@example.com", staffPassword)))
	stranger.post(action, fields).is(http.StatusNotFound)
}

func TestAContactIsCorrectedWithItsErrorsBesideTheFields(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	slot := s.Slot(t, 1)
	r := s.Book(t, slot, 1) // a full slot
	here := views.StaffReservationContactURL("shop", slot.ID, r.ID)
	if len(b.get(views.StaffSlotURL("shop", slot.ID)).all("href", here)) != 1 {
		t.Error("nothing leads to the form")
	}
	page := b.get(here).is(http.StatusOK).says(ja("staff.contact.link_ends"))
	for field, wrong := range map[string]string{views.FieldName: "", views.FieldEmail: "a@", views.FieldPhone: "12", views.FieldKana: "漢字"} {
		bad := b.press(page, "/contact", url.Values{field: {wrong}}).is(http.StatusUnprocessableEntity).need("data-error", field)
		if field != views.FieldName {
			if _, kept := bad.form("/contact"); kept.Get(views.FieldName) != r.Name {
				t.Errorf("%s: the name is gone: %v", field, kept)
			}
		}
	}
	old := s.Store.ReservationToken(r)
	done := b.follow(b.press(page, "/contact", url.Values{views.FieldEmail: {"new@example.com"}})).need("data-state", "done")
	done.says(ja("staff.then.link_ended")).says(ja("staff.then.link_mailed"))
	if _, err := s.Store.ReservationByToken(t.Context(), r.TenantID, old); err == nil {
		t.Error("the old link still opens")
	}
	// The form of before showed an older contact: nothing is overwritten.
	stale := b.press(page, "/contact", url.Values{views.FieldNote: {"窓の近く"}}).is(http.StatusConflict).need("data-state", "changed").says("new@example.com")
	if got := s.Reservation(t, r); got.Note != r.Note || got.Email != "new@example.com" {
		t.Errorf("%+v", got)
	}
	b.follow(b.press(stale, "/contact", url.Values{views.FieldEmail: {"new@example.com"}})).need("data-state", "done")
	if got := s.Reservation(t, r); got.Note != "窓の近く" {
		t.Errorf("%+v", got)
	}
}

func TestAMessageIsLookedAtBeforeItIsSent(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	slot := s.Slot(t, 2)
	r := s.Book(t, slot, 1)
	b.press(b.get(views.StaffSlotURL("shop", slot.ID)), "/book", url.Values{views.FieldName: {"電話 の人"}, views.FieldPhone: {"090-1234-5678"}}).is(http.StatusSeeOther)
	waits := s.Join(t, slot, 1)
	here := views.StaffSlotMessageURL("shop", slot.ID)
	form := b.get(here).is(http.StatusOK)
	b.press(form, "/message", nil).is(http.StatusUnprocessableEntity).need("data-error", views.FieldSubject("ja"))
	b.press(form, "/message", url.Values{views.FieldToBooked: nil, views.FieldSubject("ja"): {"x"}, views.FieldText("ja"): {"y"}}).is(http.StatusUnprocessableEntity).need("data-error", views.FieldToBooked)
	text := url.Values{views.FieldSubject("ja"): {"駐車場"}, views.FieldText("ja"): {"当日は使えません。\r\n電車でお越しください。"}, views.FieldToWaiting: {"1"}}
	preview := b.press(form, "/message", text).is(http.StatusOK).need("data-state", "preview").says("電車でお越しください。").says("090-1234-5678").says(ja("staff.notice.send", "n", 2))
	if mails, err := s.Store.Messages(t.Context(), store.MessageQuery{TenantID: slot.TenantID, SlotID: slot.ID}); err != nil || slices.ContainsFunc(mails, func(m store.Message) bool { return m.Kind == store.KindNotice }) {
		t.Fatalf("looking has sent something, %v", err)
	}
	for range 2 { // pressed twice
		b.follow(b.press(preview, "/message", nil)).need("data-state", "done")
	}
	mails, err := s.Store.Messages(t.Context(), store.MessageQuery{TenantID: slot.TenantID, SlotID: slot.ID})
	if err != nil {
		t.Fatal(err)
	}
	var to []string
	for _, m := range mails {
		if m.Kind == store.KindNotice {
			to = append(to, m.Recipient)
		}
	}
	slices.Sort(to)
	if want := []string{r.Email, waits.Email}; !slices.Equal(to, want) {
		t.Errorf("sent to %v, want %v", to, want)
	}
	b.get(views.StaffSlotHistoryURL("shop", slot.ID, 0)).need("data-event", "notice_sent").says(ja("staff.event.told", "n", 2)).says(ja("staff.event.callers", "n", 1))
}

func TestTimePlaceAndServiceAreLookedAtBeforeTheyChange(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	slot := s.Slot(t, 2)
	r := s.Book(t, slot, 1)
	other := s.Slot(t, 2)
	room := s.AddResource(t, s.Tenant, "studio-b")
	here := views.StaffSlotTermsURL("shop", slot.ID)
	as := func(at time.Time, end string, resource string) url.Values {
		local := at.In(s.Tenant.Location())
		return url.Values{
			views.FieldDate: {local.Format(time.DateOnly)}, views.FieldStart: {local.Format("15:04")}, views.FieldEnd: {end},
			views.FieldService: {s.Service.ID}, views.FieldResource: {resource},
		}
	}
	b.get(here).is(http.StatusOK)
	before := dump(t, s.Shop)
	// Where another slot stands it is refused beside the field, before the press and at it.
	taken := as(other.StartsAt, other.EndsAt.In(s.Tenant.Location()).Format("15:04"), s.Resource.ID)
	b.get(here+"?"+taken.Encode()).is(http.StatusUnprocessableEntity).need("data-error", views.FieldStart)
	b.post(here, taken).is(http.StatusConflict).need("data-error", views.FieldStart)
	for field, wrong := range map[string]string{views.FieldStart: "25:00", views.FieldEnd: "24:01", views.FieldDate: "2027-02-30", views.FieldResource: absentID, views.FieldService: ""} {
		bad := as(slot.StartsAt.Add(48*time.Hour), "24:00", room.ID)
		bad.Set(field, wrong)
		b.post(here, bad).is(http.StatusUnprocessableEntity).need("data-error", field)
		b.get(here+"?"+bad.Encode()).is(http.StatusUnprocessableEntity).need("data-error", field)
	}
	past := as(s.Read(t, slot).Now.Add(-48*time.Hour), "24:00", room.ID)
	b.post(here, past).is(http.StatusUnprocessableEntity).need("data-error", views.FieldStart)
	if dump(t, s.Shop) != before {
		t.Fatal("a refused change has written something")
	}
	// To the end of the day, in another room.
	to := as(slot.StartsAt.Add(48*time.Hour), "24:00", room.ID)
	preview := b.get(here + "?" + to.Encode()).is(http.StatusOK).says(ja("staff.would.mails.ja", "n", 1))
	_, fields := postForm(t, preview, "/terms")
	b.follow(b.post(here, with(fields, views.FieldReason, "工事のため"))).need("data-state", "done").says(ja("staff.did.terms")).says("工事のため")
	got := s.Read(t, slot)
	if !got.StartsAt.Equal(slot.StartsAt.Add(48*time.Hour)) || got.ResourceID != room.ID || got.EndsAt.In(s.Tenant.Location()).Format("15:04") != "00:00" {
		t.Errorf("%s to %s in %s", got.StartsAt, got.EndsAt, got.ResourceID)
	}
	if page := b.get(here); attr(page.all("id", "terms-end")[0], "value") != "24:00" {
		t.Error("the end of the day is shown as another day's beginning")
	}
	if mails, err := s.Store.Messages(t.Context(), store.MessageQuery{TenantID: r.TenantID, SubjectID: r.ID}); err != nil || mails[0].Kind != store.KindChanged {
		t.Errorf("%v, %v", mails, err)
	}
	b.follow(b.post(here, with(fields, views.FieldReason, "工事のため"))).says(ja("staff.did_already"))
}

// postForm is the form that posts, where one that only looks has the same address.
func postForm(t testing.TB, p page, action string) (string, url.Values) {
	t.Helper()
	for n := range p.doc.Descendants() {
		if n.Data == "form" && attr(n, "method") == "post" && strings.HasSuffix(attr(n, "action"), action) {
			fields := url.Values{}
			for c := range n.Descendants() {
				if c.Type == html.ElementNode && c.Data == "input" {
					fields.Add(attr(c, "name"), attr(c, "value"))
				}
			}
			return attr(n, "action"), fields
		}
	}
	t.Fatalf("nothing posts to %s:\n%s", action, p.text())
	return "", nil
}

func TestTimesOfTheVenueOnTheDaysThatTheClocksChange(t *testing.T) {
	t.Parallel()
	york, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, day, at, now, want string
	}{
		{"before the clocks go forward", "2027-03-14", "1:30", "", "2027-03-14T06:30:00Z"},
		{"a time that is skipped", "2027-03-14", "2:30", "", ""},
		{"after the clocks go forward", "2027-03-14", "15:00", "", "2027-03-14T19:00:00Z"},
		{"the end of a short day", "2027-03-14", "24:00", "", "2027-03-15T04:00:00Z"},
		{"a time that comes twice is the first", "2027-11-07", "1:30", "", "2027-11-07T05:30:00Z"},
		{"unless the second is what stands", "2027-11-07", "1:30", "2027-11-07T06:30:00Z", "2027-11-07T06:30:00Z"},
		{"after the clocks go back", "2027-11-07", "15:00", "", "2027-11-07T20:00:00Z"},
		{"the end of a long day", "2027-11-07", "24:00", "", "2027-11-08T05:00:00Z"},
	} {
		day, err := time.ParseInLocation(time.DateOnly, c.day, york)
		if err != nil {
			t.Fatal(err)
		}
		minute, ok := minutes(c.at)
		if !ok {
			t.Fatalf("%s is no time", c.at)
		}
		var now time.Time
		if c.now != "" {
			if now, err = time.Parse(time.RFC3339, c.now); err != nil {
				t.Fatal(err)
			}
		}
		got, exists := instantOf(day, minute, now)
		if exists != (c.want != "") || exists && got.UTC().Format(time.RFC3339) != c.want {
			t.Errorf("%s: %s, %v, want %s", c.name, got.UTC().Format(time.RFC3339), exists, c.want)
		}
	}
	for _, nonsense := range []string{"", "24:01", "25:00", "7", "7:5", "7:60", "-1:00", "１２：００x"} {
		if n, ok := minutes(nonsense); ok {
			t.Errorf("%q is minute %d", nonsense, n)
		}
	}
	if n, ok := minutes("１８：３０"); !ok || n != 18*60+30 {
		t.Errorf("full-width digits are digits: %d, %v", n, ok)
	}
}

func TestTheRosterIsFilteredPrintedAndTickedAtOnce(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	slot := s.Slot(t, 6)
	names := map[string]string{"ワタナベ": "渡辺", "アオキ": "青木", "カトウ": "加藤"}
	ids := map[string]string{}
	for kana, name := range names {
		req := s.ConfirmRequest(s.Hold(t, slot, 1))
		req.Contact.Name, req.Contact.Kana = name, kana
		r, err := s.Store.Confirm(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		ids[name] = r.ID
	}
	if _, err := s.Store.SetAttendance(t.Context(), store.AttendanceRequest{TenantID: slot.TenantID, ID: ids["加藤"], Attendance: "arrived", Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	order := func(p page) string {
		var out []string
		for _, n := range p.all("data-reservation", "") {
			for name, id := range ids {
				if attr(n, "data-reservation") == id {
					out = append(out, name)
				}
			}
		}
		return strings.Join(out, " ")
	}
	here := views.StaffSlotURL("shop", slot.ID)
	for query, want := range map[string]string{"": "青木 加藤 渡辺", "?show=arrived": "加藤", "?show=expected": "青木 渡辺", "?show=no_show": "", "?show=x": "青木 加藤 渡辺"} {
		if got := order(b.get(here + query)); got != want {
			t.Errorf("%s shows %q, want %q", query, got, want)
		}
	}
	sheet := b.get(views.StaffSlotPrintURL("shop", slot.ID)).is(http.StatusOK)
	if got := order(sheet); got != "青木 加藤 渡辺" {
		t.Errorf("the sheet has %q", got)
	}
	_, fields := b.get(here + "?select=all").form("/cancel")
	_ = fields
	ticked := 0
	for _, n := range b.get(here+"?select=all").all("name", views.FieldReservation) {
		if attr(n, "form") == "cancel-form" && hasAttr(n, "checked") {
			ticked++
		}
	}
	if ticked != 3 {
		t.Errorf("%d boxes are ticked", ticked)
	}
}

func TestACallerIsAskedWhatTheServiceAsks(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	s.Exec(t, `UPDATE services SET questions = '[{"id":"diet","kind":"text","label":{"ja":"食事の制限","en":"Diet"},"required":true},
		{"id":"size","kind":"choice","label":{"ja":"サイズ","en":"Size"},"options":[{"id":"s","label":{"ja":"小","en":"S"}},{"id":"l","label":{"ja":"大","en":"L"}}],"required":true}]'`)
	slot := s.Slot(t, 3)
	here := b.get(views.StaffSlotURL("shop", slot.ID)).says("食事の制限")
	b.press(here, "/book", url.Values{views.FieldName: {"省いた人"}}).is(http.StatusSeeOther) // they need not be answered
	here = b.get(views.StaffSlotURL("shop", slot.ID))
	bad := b.press(here, "/book", url.Values{views.FieldName: {"電話 の人"}, views.FieldAnswer + "diet": {"卵"}, views.FieldAnswer + "size": {"x"}}).is(http.StatusUnprocessableEntity).need("data-error", views.FieldAnswer+"size")
	if _, fields := bad.form("/book"); fields.Get(views.FieldAnswer+"diet") != "卵" {
		t.Errorf("what was answered is gone: %v", fields)
	}
	b.follow(b.press(bad, "/book", url.Values{views.FieldAnswer + "size": {"l"}})).says("卵").says("大")
	roster, err := s.Store.Roster(t.Context(), slot.TenantID, slot.ID)
	if err != nil || len(roster) != 2 {
		t.Fatal(roster, err)
	}
	at := slices.IndexFunc(roster, func(r store.Reservation) bool { return r.Name == "電話 の人" })
	if got := roster[at].Answers; got["diet"] != "卵" || got["size"] != "l" {
		t.Errorf("%v", got)
	}
	contact := b.get(views.StaffReservationContactURL("shop", slot.ID, roster[at].ID)).says("食事の制限")
	b.follow(b.press(contact, "/contact", url.Values{views.FieldAnswer + "diet": {"そば"}})).says("そば")
}

func TestACapacityIsLookedAtFirst(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	slot := s.Slot(t, 2)
	s.Book(t, slot, 2)
	first, second, third := s.Join(t, slot, 1), s.Join(t, slot, 1), s.Join(t, slot, 1)
	page := b.get(views.StaffSlotCapacityURL("shop", slot.ID) + "?capacity=4").is(http.StatusOK).says(first.Name).says(second.Name)
	if strings.Contains(page.text(), third.Name) {
		t.Errorf("it names somebody for whom there is no seat:\n%s", page.text())
	}
	if s.Entry(t, first).State != store.Waiting {
		t.Fatal("looking has offered")
	}
	action, fields := postForm(t, page, "/capacity")
	b.follow(b.post(action, fields)).need("data-state", "done").says(first.Name + "様 に、")
	if s.Entry(t, second).State != store.Offered || s.Entry(t, third).State != store.Waiting || s.Read(t, slot).Capacity != 4 {
		t.Error("it is not what was said")
	}
	b.get(views.StaffSlotCapacityURL("shop", slot.ID) + "?capacity=1").says(ja("staff.capacity.must_move"))
	b.get(views.StaffSlotCapacityURL("shop", slot.ID)+"?capacity=x").is(http.StatusUnprocessableEntity).need("data-error", views.FieldCapacity)
}

func TestTheHistoryIsPagedToItsBeginning(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	slot := s.Slot(t, 10)
	for range 45 {
		s.Cancel(t, s.Book(t, slot, 1))
	}
	seen := map[string]bool{}
	next, pages := views.StaffSlotHistoryURL("shop", slot.ID, 0), 0
	for next != "" && pages < 10 {
		var p page
		if n := s.Count(func() { p = b.get(next).is(http.StatusOK) }); n > 16 {
			t.Errorf("%d statements", n)
		}
		pages++
		for _, li := range p.all("data-event", "") {
			for c := range li.Descendants() {
				if strings.Contains(attr(c, "class"), "staff-event-no") && c.FirstChild != nil {
					if seen[c.FirstChild.Data] {
						t.Errorf("event %s is shown twice", c.FirstChild.Data)
					}
					seen[c.FirstChild.Data] = true
				}
			}
		}
		next = ""
		for _, a := range p.all("rel", "next") {
			next = attr(a, "href")
		}
	}
	if version := s.Read(t, slot).Version; len(seen) != int(version) || pages < 3 {
		t.Errorf("%d events on %d pages, version %d", len(seen), pages, version)
	}
	for i := range seen {
		if _, err := strconv.Atoi(i); err != nil {
			t.Error(err)
		}
	}
}

// The statements of each step don't grow with what it shows. Each makes the step itself and undoes it: about twelve.
func TestStaffStepsKeepToTheirBudgetOfStatements(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	slot := s.Slot(t, 30)
	var r store.Reservation
	for range 15 {
		r = s.Book(t, slot, 2)
	}
	var e store.Entry
	for range 12 {
		e = s.Join(t, slot, 2)
	}
	gone := s.Book(t, s.Slot(t, 5), 1)
	s.Cancel(t, gone)
	later := url.Values{
		views.FieldDate: {slot.StartsAt.AddDate(0, 1, 0).In(s.Tenant.Location()).Format(time.DateOnly)}, views.FieldStart: {"10:00"}, views.FieldEnd: {"11:00"},
		views.FieldService: {s.Service.ID}, views.FieldResource: {s.Resource.ID},
	}
	for _, c := range []struct {
		name string
		most int
		path string
	}{
		{"history", 16, views.StaffSlotHistoryURL("shop", slot.ID, 0)},
		{"print", 12, views.StaffSlotPrintURL("shop", slot.ID)},
		{"message", 12, views.StaffSlotMessageURL("shop", slot.ID)},
		{"contact", 14, views.StaffReservationContactURL("shop", slot.ID, r.ID)},
		{"remove", 28, views.StaffEntryRemoveURL("shop", slot.ID, e.ID)},
		{"entry party", 28, views.StaffEntryPartyURL("shop", slot.ID, e.ID) + "?party_size=1"},
		{"rebook", 36, views.StaffReservationRebookURL("shop", gone.SlotID, gone.ID)},
		{"terms", 30, views.StaffSlotTermsURL("shop", slot.ID) + "?" + later.Encode()},
		{"capacity", 28, views.StaffSlotCapacityURL("shop", slot.ID) + "?capacity=31"},
		{"party", 30, views.StaffSlotPartyURL("shop", slot.ID) + "?reservation=" + r.ID + "&party_size=1"},
	} {
		var got page
		if n := s.Count(func() { got = b.get(c.path) }); n > c.most || got.status != http.StatusOK {
			t.Errorf("%s: %d statements, at most %d (status %d)", c.name, n, c.most, got.status)
		} else {
			t.Logf("%s: %d", c.name, n)
		}
	}
}
