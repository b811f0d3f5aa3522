package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"

	"holdfast/store"
	"holdfast/store/storetest/shop"
	"holdfast/views"
)

// fieldKind is what a field of a form is for, and so what may become of nonsense in it.
type fieldKind int

const (
	textField   fieldKind = iota // what a person types: the fault stands beside it
	numberField                  // a whole number that a person chooses
	choiceField                  // one of a few values, which only a broken page sends otherwise: 400, or beside it
	hiddenField                  // what the page gives along: the fault is the whole form's, or the state has changed
	idField                      // what the page names: absent where it is nonsense
	quietField                   // what falls back to the usual where it is nonsense
)

type badField struct {
	name    string
	kind    fieldKind
	longest int    // characters; 0: no limit of its own
	stored  string // column of reservations and waitlist_entries that keeps what is typed as it is
}

// badForm is a form with what it takes to send it well once.
type badForm struct {
	fields []badField
	staff  bool
	owner  bool // only an owner has the form
	// alert: the fault stands on top of the page, where there is no field to stand beside.
	alert bool
	// lenient: a body that is no form is not looked at.
	lenient bool
	// carried: taken, it answers with the form of the next press, filled in.
	carried bool
	// shown: taken, it answers with something that is shown once.
	shown bool
	fresh func(t *testing.T, s *site) (path string, values url.Values)
}

func hiddenFields(names ...string) []badField {
	var out []badField
	for _, name := range names {
		out = append(out, badField{name: name, kind: hiddenField})
	}
	return out
}

var (
	partyOf   = badField{name: views.FieldPartySize, kind: numberField}
	reasonOf  = badField{name: views.FieldReason, kind: textField, longest: longestReason}
	contactOf = []badField{
		{views.FieldName, textField, longestName, "name"},
		{views.FieldKana, textField, longestName, ""},
		{views.FieldEmail, textField, longestEmail, ""},
		{views.FieldPhone, textField, longestPhone, ""},
		{views.FieldNote, textField, longestNote, "note"},
	}
)

func typedContact(s *site) url.Values {
	who := s.Person()
	return url.Values{
		views.FieldName: {"山田 花子"}, views.FieldKana: {"ヤマダ ハナコ"}, views.FieldEmail: {who.Email}, views.FieldPhone: {"090-1234-5678"}, views.FieldNote: {"窓の近く"},
	}
}

func (s *site) reservationPath(r store.Reservation, step string) string {
	return views.ReservationURL("shop", s.Store.ReservationToken(r)) + step
}

func (s *site) entryPath(e store.Entry, step string) string {
	return views.WaitlistURL("shop", s.Store.EntryToken(e)) + step
}

// waits makes somebody wait, for two seats of a full slot.
func (s *site) waits(t *testing.T) store.Entry {
	slot := s.Slot(t, 2)
	s.Book(t, slot, 2)
	return s.Join(t, slot, 2)
}

// offered makes somebody a turn.
func (s *site) offered(t *testing.T) store.Entry {
	slot := s.Slot(t, 2)
	booked := s.Book(t, slot, 2)
	e := s.Join(t, slot, 2)
	s.Cancel(t, booked)
	return s.Entry(t, e)
}

func with(values url.Values, more ...string) url.Values {
	for i := 0; i < len(more); i += 2 {
		values.Set(more[i], more[i+1])
	}
	return values
}

func none() url.Values { return url.Values{} }

// onBooking is a form on the link of a booking.
func onBooking(step string, values ...string) func(*testing.T, *site) (string, url.Values) {
	return func(t *testing.T, s *site) (string, url.Values) {
		return s.reservationPath(s.Book(t, s.Slot(t, 4), 2), step), with(none(), values...)
	}
}

func onHold(step string) func(*testing.T, *site) (string, url.Values) {
	return func(t *testing.T, s *site) (string, url.Values) {
		return s.reservationPath(s.Hold(t, s.Slot(t, 4), 1), step), none()
	}
}

func onWaiting(step string, values ...string) func(*testing.T, *site) (string, url.Values) {
	return func(t *testing.T, s *site) (string, url.Values) {
		return s.entryPath(s.waits(t), step), with(none(), values...)
	}
}

func onOffer(step string, values ...string) func(*testing.T, *site) (string, url.Values) {
	return func(t *testing.T, s *site) (string, url.Values) {
		return views.OfferURL("shop", s.Store.OfferToken(s.offered(t))) + step, with(none(), values...)
	}
}

// onStaffSlot is a form of staff on a slot with a booking of two out of four.
func onStaffSlot(step string, values ...string) func(*testing.T, *site) (string, url.Values) {
	return func(t *testing.T, s *site) (string, url.Values) {
		slot := s.Slot(t, 4)
		booked := s.Book(t, slot, 2)
		path := strings.Replace(views.StaffSlotURL("shop", slot.ID)+step, "{reservation}", booked.ID, 1)
		v := with(none(), values...)
		v.Set(views.FieldVersion, fmt.Sprint(s.Read(t, slot).Version))
		for _, named := range v {
			if named[0] == "{reservation}" {
				named[0] = booked.ID
			}
		}
		return path, v
	}
}

func onStaffEntry(step string, find func(*site, *testing.T) store.Entry, values ...string) func(*testing.T, *site) (string, url.Values) {
	return func(t *testing.T, s *site) (string, url.Values) {
		e := find(s, t)
		slot := s.Read(t, store.Slot{ID: e.SlotID, TenantID: e.TenantID})
		return views.StaffSlotURL("shop", e.SlotID) + "/waitlist/" + e.ID + step, with(with(none(), values...), views.FieldVersion, fmt.Sprint(slot.Version))
	}
}

func waitingOf(s *site, t *testing.T) store.Entry { return s.waits(t) }
func offeredOf(s *site, t *testing.T) store.Entry { return s.offered(t) }

// claimableOf is somebody who waits for seats that are open.
func claimableOf(s *site, t *testing.T) store.Entry {
	e := s.waits(t)
	s.Exec(t, "UPDATE slots SET order_until = '-infinity', kept = false WHERE id = $1", e.SlotID)
	s.Exec(t, "UPDATE waitlist_entries SET tell_vacancies = false WHERE id = $1", e.ID)
	roster, err := s.Store.Roster(t.Context(), e.TenantID, e.SlotID)
	if err != nil {
		t.Fatal(err)
	}
	s.Cancel(t, roster[0])
	return e
}

// forms are all forms that post, by their route: a route without a form here fails.
var forms = map[string]badForm{
	"/{tenant}/language": {
		fields: []badField{{name: views.FieldLang, kind: choiceField}, {name: views.FieldReturn, kind: quietField}},
		fresh: func(*testing.T, *site) (string, url.Values) {
			return "/shop/language", url.Values{views.FieldLang: {"en"}, views.FieldReturn: {"/shop"}}
		},
	},
	"/{tenant}/my-reservations": {
		fields: []badField{{name: views.FieldEmail, kind: textField, longest: longestEmail}},
		fresh: func(_ *testing.T, s *site) (string, url.Values) {
			return "/shop/my-reservations", url.Values{views.FieldEmail: {s.Person().Email}}
		},
	},
	"/{tenant}/slots/{slot}/hold": {
		fields: slices.Concat([]badField{partyOf}, hiddenFields(views.FieldIdempotencyKey, views.FieldTermsVersion, views.FieldVersion, views.FieldTogether, views.FieldNextSlot)),
		fresh: func(t *testing.T, s *site) (string, url.Values) {
			return views.SlotHoldURL("shop", s.Slot(t, 4).ID), with(none(), views.FieldPartySize, "1", views.FieldTermsVersion, "1", views.FieldIdempotencyKey, "k", views.FieldVersion, "0")
		},
	},
	// What was typed before a hold ran out comes along with the press that tries again.
	"/{tenant}/slots/{slot}/hold#again": {
		fields: []badField{
			{name: views.FieldName, kind: quietField, longest: longestName},
			{name: views.FieldEmail, kind: quietField, longest: longestEmail},
			{name: views.FieldNote, kind: quietField, longest: longestNote},
			{name: views.FieldAnswer + "x", kind: quietField},
		},
		carried: true,
		fresh: func(t *testing.T, s *site) (string, url.Values) {
			return views.SlotHoldURL("shop", s.Slot(t, 4).ID), with(typedContact(s), views.FieldPartySize, "1", views.FieldTermsVersion, "1", views.FieldIdempotencyKey, "k")
		},
	},
	"/{tenant}/slots/{slot}/waitlist": {
		fields: slices.Concat([]badField{partyOf}, contactOf, hiddenFields(views.FieldIdempotencyKey)),
		fresh: func(t *testing.T, s *site) (string, url.Values) {
			slot := s.Slot(t, 2)
			s.Book(t, slot, 2)
			return views.SlotWaitlistURL("shop", slot.ID), with(typedContact(s), views.FieldPartySize, "2", views.FieldTermsVersion, "1", views.FieldIdempotencyKey, "k")
		},
	},
	"/{tenant}/reservations/{token}/confirm": {
		fields: slices.Concat(contactOf, hiddenFields(views.FieldTermsVersion)),
		fresh: func(t *testing.T, s *site) (string, url.Values) {
			return s.reservationPath(s.Hold(t, s.Slot(t, 4), 1), "/confirm"), with(typedContact(s), views.FieldTermsVersion, "1")
		},
	},
	"/{tenant}/reservations/{token}/release": {fresh: onHold("/release")},
	"/{tenant}/reservations/{token}/extend":  {fresh: onHold("/extend")},
	"/{tenant}/reservations/{token}/cancel":  {fresh: onBooking("/cancel")},
	"/{tenant}/reservations/{token}/move": {
		fields: slices.Concat([]badField{{name: views.FieldTargetSlot, kind: idField}}, hiddenFields(views.FieldTermsVersion)),
		fresh: func(t *testing.T, s *site) (string, url.Values) {
			return s.reservationPath(s.Book(t, s.Slot(t, 4), 1), "/move"), with(none(), views.FieldTargetSlot, s.Slot(t, 4).ID, views.FieldTermsVersion, "1")
		},
	},
	"/{tenant}/reservations/{token}/party": {fields: []badField{partyOf}, fresh: onBooking("/party", views.FieldPartySize, "1")},
	"/{tenant}/reservations/{token}/contact": {
		fields: contactOf,
		fresh: func(t *testing.T, s *site) (string, url.Values) {
			return s.reservationPath(s.Book(t, s.Slot(t, 4), 1), "/contact"), typedContact(s)
		},
	},
	"/{tenant}/reservations/{token}/waits": {fields: []badField{{name: views.FieldEntry, kind: quietField}}, fresh: onBooking("/waits")},
	"/{tenant}/email-changes/{token}": {fresh: func(t *testing.T, s *site) (string, url.Values) {
		asked, err := s.Store.CorrectContact(t.Context(), store.ContactRequest{TenantID: s.Tenant.ID, ID: s.Book(t, s.Slot(t, 4), 1).ID, Contact: s.Person(), Actor: shop.Customer})
		if err != nil {
			t.Fatal(err)
		}
		return views.EmailChangeURL("shop", s.Store.EmailToken(asked)), none()
	}},
	"/{tenant}/waitlist/{token}/withdraw": {fresh: onWaiting("/withdraw")},
	"/{tenant}/waitlist/{token}/claim": {fields: hiddenFields(views.FieldTermsVersion), fresh: func(t *testing.T, s *site) (string, url.Values) {
		return s.entryPath(claimableOf(s, t), "/claim"), with(none(), views.FieldTermsVersion, "1")
	}},
	"/{tenant}/waitlist/{token}/rejoin": {fresh: func(t *testing.T, s *site) (string, url.Values) {
		e := s.waits(t)
		if _, err := s.Store.Withdraw(t.Context(), store.Press{TenantID: e.TenantID, ID: e.ID, Actor: shop.Customer}); err != nil {
			t.Fatal(err)
		}
		return s.entryPath(e, "/rejoin"), none()
	}},
	"/{tenant}/waitlist/{token}/party": {fields: []badField{partyOf}, fresh: onWaiting("/party", views.FieldPartySize, "1")},
	"/{tenant}/waitlist/{token}/preferences": {
		fields: []badField{{name: views.FieldTellVacancies, kind: textField}}, fresh: onWaiting("/preferences", views.FieldTellVacancies, "no"),
	},
	"/{tenant}/offers/{token}/accept":  {fields: hiddenFields(views.FieldTermsVersion), fresh: onOffer("/accept", views.FieldTermsVersion, "1")},
	"/{tenant}/offers/{token}/decline": {fresh: onOffer("/decline")},

	"/staff/sign-in": {
		fields: []badField{{name: views.FieldEmail, kind: textField, longest: longestEmail}, {name: views.FieldPassword, kind: textField}, {name: views.FieldNext, kind: quietField}},
		alert:  true,
		fresh: func(*testing.T, *site) (string, url.Values) {
			return "/staff/sign-in", with(signIn("desk@example.com", staffPassword), views.FieldNext, "/staff/shop/today")
		},
	},
	"/staff/sign-out": {lenient: true, fresh: func(*testing.T, *site) (string, url.Values) { return "/staff/sign-out", none() }},
	"/staff/language": {
		fields: []badField{{name: views.FieldLang, kind: choiceField}, {name: views.FieldReturn, kind: quietField}}, staff: true,
		fresh: func(*testing.T, *site) (string, url.Values) {
			return "/staff/language", url.Values{views.FieldLang: {"ja"}, views.FieldReturn: {"/staff/shop/today"}}
		},
	},
	"/staff/{tenant}/search": {
		fields: []badField{{name: views.FieldQuery, kind: textField, longest: longestQuery}}, staff: true, alert: true,
		fresh: func(*testing.T, *site) (string, url.Values) {
			return "/staff/shop/search", url.Values{views.FieldQuery: {"山田"}}
		},
	},
	"/staff/{tenant}/messages/{message}/retry": {staff: true, fresh: func(t *testing.T, s *site) (string, url.Values) {
		s.Book(t, s.Slot(t, 1), 1)
		var id string
		s.Exec(t, "UPDATE outbox SET state = 'failed' WHERE state = 'pending'")
		if err := s.Pool.QueryRow(t.Context(), "SELECT id::text FROM outbox LIMIT 1").Scan(&id); err != nil {
			t.Fatal(err)
		}
		return views.StaffMessageURL("shop", id) + "/retry", none()
	}},
	"/staff/{tenant}/slots/{slot}/attendance": {
		fields: []badField{{name: views.FieldReservation, kind: idField}, {name: views.FieldAttendance, kind: choiceField}}, staff: true,
		fresh: onStaffSlot("/attendance", views.FieldReservation, "{reservation}", views.FieldAttendance, "arrived"),
	},
	"/staff/{tenant}/slots/{slot}/reservations/{reservation}/attendance": {
		fields: []badField{{name: views.FieldAttendance, kind: choiceField}}, staff: true,
		fresh: onStaffSlot("/reservations/{reservation}/attendance", views.FieldAttendance, "arrived"),
	},
	"/staff/{tenant}/slots/{slot}/book": {
		fields: slices.Concat([]badField{partyOf}, contactOf, []badField{
			reasonOf, {name: views.FieldBeyond, kind: quietField}, {name: views.FieldNoMail, kind: quietField}, {name: fieldAgain, kind: quietField},
		}, hiddenFields(views.FieldIdempotencyKey, views.FieldVersion)),
		staff: true,
		fresh: func(t *testing.T, s *site) (string, url.Values) {
			path, values := onStaffSlot("/book", views.FieldPartySize, "1", views.FieldIdempotencyKey, "k", views.FieldReason, "理由")(t, s)
			for name, v := range typedContact(s) {
				values[name] = v
			}
			return path, values
		},
	},
	"/staff/{tenant}/slots/{slot}/waitlist": {
		fields: slices.Concat([]badField{partyOf}, contactOf, hiddenFields(views.FieldIdempotencyKey, views.FieldVersion)), staff: true,
		fresh: func(t *testing.T, s *site) (string, url.Values) {
			slot := s.Slot(t, 2)
			s.Book(t, slot, 2)
			return views.StaffSlotJoinURL("shop", slot.ID), with(typedContact(s), views.FieldPartySize, "1", views.FieldIdempotencyKey, "k", views.FieldVersion, fmt.Sprint(s.Read(t, slot).Version))
		},
	},
	"/staff/{tenant}/slots/{slot}/cancel": {
		fields: slices.Concat([]badField{{name: views.FieldReservation, kind: idField}, reasonOf}, hiddenFields(views.FieldVersion)), staff: true,
		fresh: onStaffSlot("/cancel", views.FieldReservation, "{reservation}", views.FieldReason, "理由"),
	},
	"/staff/{tenant}/slots/{slot}/cancel-slot": {
		fields: slices.Concat([]badField{reasonOf}, hiddenFields(views.FieldVersion)), staff: true, fresh: onStaffSlot("/cancel-slot", views.FieldReason, "理由"),
	},
	"/staff/{tenant}/slots/{slot}/capacity": {
		fields: slices.Concat([]badField{{name: views.FieldCapacity, kind: numberField}}, hiddenFields(views.FieldVersion)), staff: true,
		fresh: onStaffSlot("/capacity", views.FieldCapacity, "5"),
	},
	"/staff/{tenant}/slots/{slot}/move": {
		fields: slices.Concat([]badField{{name: views.FieldReservation, kind: idField}, {name: views.FieldTargetSlot, kind: idField}, reasonOf}, hiddenFields(views.FieldTermsVersion, views.FieldVersion)),
		staff:  true, alert: true,
		fresh: func(t *testing.T, s *site) (string, url.Values) {
			path, values := onStaffSlot("/move", views.FieldReservation, "{reservation}", views.FieldReason, "理由", views.FieldTermsVersion, "1")(t, s)
			return path, with(values, views.FieldTargetSlot, s.Slot(t, 4).ID)
		},
	},
	"/staff/{tenant}/slots/{slot}/reservations/{reservation}/move": {
		fields: slices.Concat([]badField{{name: views.FieldTargetSlot, kind: idField}, reasonOf}, hiddenFields(views.FieldTermsVersion, views.FieldVersion)),
		staff:  true, alert: true,
		fresh: func(t *testing.T, s *site) (string, url.Values) {
			path, values := onStaffSlot("/reservations/{reservation}/move", views.FieldReason, "理由", views.FieldTermsVersion, "1")(t, s)
			return path, with(values, views.FieldTargetSlot, s.Slot(t, 4).ID)
		},
	},
	"/staff/{tenant}/slots/{slot}/party": {
		fields: slices.Concat([]badField{{name: views.FieldReservation, kind: idField}, partyOf}, hiddenFields(views.FieldVersion)), staff: true,
		fresh: onStaffSlot("/party", views.FieldReservation, "{reservation}", views.FieldPartySize, "1"),
	},
	"/staff/{tenant}/slots/{slot}/reservations/{reservation}/party": {
		fields: slices.Concat([]badField{partyOf}, hiddenFields(views.FieldVersion)), staff: true,
		fresh: onStaffSlot("/reservations/{reservation}/party", views.FieldPartySize, "1"),
	},
	"/staff/{tenant}/slots/{slot}/reservations/{reservation}/contact": {
		fields: contactOf, staff: true, alert: true,
		fresh: func(t *testing.T, s *site) (string, url.Values) {
			path, values := onStaffSlot("/reservations/{reservation}/contact")(t, s)
			for name, v := range typedContact(s) {
				values[name] = v
			}
			return path, values
		},
	},
	"/staff/{tenant}/slots/{slot}/close": {
		fields: slices.Concat([]badField{{name: views.FieldReason, kind: choiceField, longest: longestReason}}, hiddenFields(views.FieldVersion)), staff: true, fresh: onStaffSlot("/close"),
	},
	"/staff/{tenant}/slots/{slot}/reopen": {
		fields: slices.Concat([]badField{{name: views.FieldReason, kind: choiceField, longest: longestReason}}, hiddenFields(views.FieldVersion)), staff: true, fresh: onStaffSlot("/reopen"),
	},
	"/staff/{tenant}/slots/{slot}/pause": {
		fields: slices.Concat([]badField{{name: views.FieldReason, kind: choiceField, longest: longestReason}}, hiddenFields(views.FieldVersion)), staff: true, fresh: onStaffSlot("/pause"),
	},
	"/staff/{tenant}/slots/{slot}/resume": {
		fields: slices.Concat([]badField{{name: views.FieldReason, kind: choiceField, longest: longestReason}}, hiddenFields(views.FieldVersion)), staff: true, fresh: onStaffSlot("/resume"),
	},
	"/staff/{tenant}/slots/{slot}/waitlist/{entry}/accept": {
		fields: hiddenFields(views.FieldTermsVersion, views.FieldVersion), staff: true, fresh: onStaffEntry("/accept", offeredOf, views.FieldTermsVersion, "1"),
	},
	"/staff/{tenant}/slots/{slot}/waitlist/{entry}/claim": {
		fields: hiddenFields(views.FieldTermsVersion, views.FieldVersion), staff: true, fresh: onStaffEntry("/claim", claimableOf, views.FieldTermsVersion, "1"),
	},
	"/staff/{tenant}/slots/{slot}/waitlist/{entry}/decline": {fields: hiddenFields(views.FieldVersion), staff: true, fresh: onStaffEntry("/decline", offeredOf)},
	"/staff/{tenant}/slots/{slot}/waitlist/{entry}/offer": {
		fields: slices.Concat([]badField{reasonOf}, hiddenFields(views.FieldVersion)), staff: true,
		fresh: onStaffEntry("/offer", claimableOf, views.FieldReason, "理由"),
	},
	"/staff/{tenant}/slots/{slot}/waitlist/{entry}/remove": {
		fields: slices.Concat([]badField{reasonOf}, hiddenFields(views.FieldVersion)), staff: true, fresh: onStaffEntry("/remove", waitingOf, views.FieldReason, "理由"),
	},
	"/staff/{tenant}/slots/{slot}/waitlist/{entry}/revoke": {
		fields: slices.Concat([]badField{reasonOf}, hiddenFields(views.FieldVersion)), staff: true, fresh: onStaffEntry("/revoke", offeredOf, views.FieldReason, "理由"),
	},
}

// badValue is something that a field might be sent.
type badValue struct {
	name, value string
	garbled     bool   // no text at all: never taken
	kept        string // what has to be stored where the text is taken
	numeric     bool   // for number fields only
}

func badValuesFor(f badField) []badValue {
	values := []badValue{
		{name: "empty"},
		{name: "blanks", value: " \u3000\t "},
		{name: "NUL", value: "a\x00b", garbled: true},
		{name: "control characters", value: "a\x01\x1b[31m\x7fb", garbled: true},
		{name: "C1 controls", value: "a\u0085\u009bb", garbled: true},
		{name: "invalid UTF-8", value: "山\xff\xfe", garbled: true},
		{name: "a lone surrogate", value: "a\xed\xa0\x80b", garbled: true},
		{name: "Shift_JIS", value: "\x8e\x52\x93\x63", garbled: true},
		{name: "UTF-16", value: "a\x00b\x00", garbled: true},
		{name: "right to left", value: "שלום مرحبا", kept: "שלום مرحبا"},
		{name: "bidi controls", value: "山田\u202eadmin\u2066x", kept: "山田adminx"},
		{name: "emoji", value: "👨‍👩‍👧‍👦 山田 👍🏽", kept: "👨‍👩‍👧‍👦 山田 👍🏽"},
		{name: "an unseen name", value: "\u200b\u200d\ufeff"},
		{name: "markup", value: `<script>alert(1)</script>"'&amp;`, kept: `<script>alert(1)</script>"'&amp;`},
		{name: "SQL", value: `'; DROP TABLE slots; --`, kept: `'; DROP TABLE slots; --`},
		{name: "line breaks", value: "a\r\nBcc: everybody@example.com"},
		{name: "100 kB", value: strings.Repeat("x", 100_000)},
	}
	if f.longest > 0 {
		values = append(values, badValue{name: "the longest", value: strings.Repeat("あ", f.longest), kept: strings.Repeat("あ", f.longest)},
			badValue{name: "the longest in four bytes", value: strings.Repeat("𠮷", f.longest), kept: strings.Repeat("𠮷", f.longest)},
			badValue{name: "one too long", value: strings.Repeat("あ", f.longest+1), garbled: true})
	}
	if f.kind == numberField || f.kind == hiddenField {
		for _, n := range []string{"-1", "0", "2147483648", "99999999999999999999", "1.5", "1e1", "0x1", "NaN", "abc", "+", "１２３４５６７８９０"} {
			values = append(values, badValue{name: "the number " + n, value: n, numeric: true})
		}
	}
	return values
}

// trace changes with every row that is written.
func (s *site) trace(t *testing.T) string {
	t.Helper()
	var out string
	err := s.Pool.QueryRow(t.Context(), `SELECT concat_ws(' ', (SELECT concat(count(*), ':', max(xmin::text::bigint)) FROM slots), (SELECT concat(count(*), ':', max(xmin::text::bigint)) FROM reservations),
		(SELECT concat(count(*), ':', max(xmin::text::bigint)) FROM waitlist_entries), (SELECT concat(count(*), ':', max(xmin::text::bigint)) FROM outbox), (SELECT concat(count(*), ':', max(xmin::text::bigint)) FROM events))`).Scan(&out)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// kept reports whether a column of somebody's has exactly this text.
func (s *site) kept(t *testing.T, column, text string) bool {
	t.Helper()
	var found bool
	err := s.Pool.QueryRow(t.Context(), "SELECT EXISTS (SELECT 1 FROM reservations WHERE "+column+" = $1) OR EXISTS (SELECT 1 FROM waitlist_entries WHERE "+column+" = $1)", text).Scan(&found)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestNoFormIsBrokenByWhatIsSent(t *testing.T) {
	t.Parallel()
	plain := openSite(t, shop.New(t, nil))
	posts := map[string]bool{}
	for _, r := range plain.routesOf(t) {
		if r.method == http.MethodPost && !strings.HasPrefix(r.pattern, "/api/") {
			posts[r.pattern] = true
			if _, known := forms[r.pattern]; !known {
				t.Errorf("POST %s: no form in this test says which fields it has", r.pattern)
			}
		}
	}
	for pattern := range forms {
		if route, _, _ := strings.Cut(pattern, "#"); !posts[route] {
			t.Errorf("POST %s is not a route", pattern)
			continue
		}
		t.Run(strings.TrimPrefix(pattern, "/"), func(t *testing.T) {
			t.Parallel()
			tryForm(t, pattern, forms[pattern])
		})
	}
}

func tryForm(t *testing.T, pattern string, form badForm) {
	s := openSite(t, shop.New(t, func(p *store.Policies) { p.HoldsPerVisitor = 1000 }))
	s.hire(t, s.Tenant, "desk@example.com", store.RoleDesk)
	b := s.browser(t)
	if form.owner {
		s.hire(t, s.Tenant, "desk@example.com", store.RoleOwner)
	}
	if form.staff || form.owner {
		b.follow(b.post("/staff/sign-in", signIn("desk@example.com", staffPassword)))
	}
	path, values := form.fresh(t, s)
	before := s.trace(t)
	// sent judges an answer, and makes the form anew where it was taken.
	sent := func(what string, p page) {
		t.Helper()
		if p.status >= 500 {
			t.Errorf("%s: %d", what, p.status)
		}
		after := s.trace(t)
		if p.status != http.StatusSeeOther && p.status != http.StatusOK && after != before {
			t.Errorf("%s: refused with %d, and yet something is stored", what, p.status)
		}
		if p.status == http.StatusSeeOther || after != before {
			path, values = form.fresh(t, s)
			after = s.trace(t)
		}
		before = after
	}
	for _, f := range form.fields {
		for _, v := range badValuesFor(f) {
			what := fmt.Sprintf("%s with %s", f.name, v.name)
			send := url.Values{}
			for name, all := range values {
				send[name] = all
			}
			send[f.name] = []string{v.value}
			p := b.post(path, send)
			judgeField(t, what, form, f, v, p)
			if p.status == http.StatusUnprocessableEntity {
				judgeKept(t, what, path, f, send, p)
			}
			if form.carried && p.status == http.StatusOK {
				to, _ := p.form("/confirm")
				delete(send, views.FieldPartySize)
				judgeKept(t, what, to, f, send, p)
			}
			if p.status == http.StatusSeeOther && f.stored != "" && v.kept != "" && !s.kept(t, f.stored, v.kept) {
				t.Errorf("%s: taken, but not as it was typed", what)
			}
			sent(what, p)
		}
		// A field that comes twice is one too many, unless the form asks for several.
		if f.kind != idField && f.kind != quietField && f.name != views.FieldNextSlot {
			send := url.Values{}
			for name, all := range values {
				send[name] = all
			}
			send[f.name] = []string{send.Get(f.name), "2"}
			p := b.post(path, send)
			if !slices.Contains([]int{http.StatusUnprocessableEntity, http.StatusBadRequest, http.StatusConflict}, p.status) && f.name != views.FieldVersion {
				t.Errorf("%s twice: %d", f.name, p.status)
			}
			sent(f.name+" twice", p)
		}
	}
	good := values.Encode()
	for _, c := range []struct {
		what, kind, body string
		status           int
	}{
		{"JSON", "application/json", `{"name":"x"}`, http.StatusUnsupportedMediaType},
		{"plain text", "text/plain", good, http.StatusUnsupportedMediaType},
		{"several parts", "multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nx\r\n--x--\r\n", http.StatusUnsupportedMediaType},
		{"another charset", "application/x-www-form-urlencoded; charset=shift_jis", good, http.StatusUnsupportedMediaType},
		{"no type", "", "name=x", http.StatusUnsupportedMediaType},
		{"a broken type", "application/x-www-form-urlencoded;;=", good, http.StatusUnsupportedMediaType},
		{"a broken escape", "application/x-www-form-urlencoded", "name=%zz", http.StatusBadRequest},
		{"semicolons", "application/x-www-form-urlencoded", "name=a;email=b", http.StatusBadRequest},
		{"too much", "application/x-www-form-urlencoded", "x=" + strings.Repeat("y", bodyLimit), http.StatusRequestEntityTooLarge},
		{"ten thousand fields", "application/x-www-form-urlencoded", strings.Repeat("a=&", 10_000), 0},
		{"binary", "application/x-www-form-urlencoded", "\x1f\x8b\x08\x00\x00\x00\x00\x00\xff", 0},
		{"unknown fields", "application/x-www-form-urlencoded", good + "&unknown=1&%00=2&state=confirmed&tenant_id=x", http.StatusSeeOther},
	} {
		p := b.do(http.MethodPost, path, c.kind, c.body)
		if c.status == http.StatusSeeOther && (pattern == "/staff/{tenant}/search" || form.carried || form.shown) {
			c.status = http.StatusOK // it answers with what it found, or with what was typed
		}
		refused := c.status != http.StatusSeeOther && c.status != http.StatusOK
		if c.status != 0 && p.status != c.status && !(form.lenient && refused) {
			t.Errorf("%s: %d, want %d", c.what, p.status, c.status)
		}
		sent(c.what, p)
	}
}

// judgeField holds an answer against what may become of a value in a field.
func judgeField(t *testing.T, what string, form badForm, f badField, v badValue, p page) {
	t.Helper()
	done := p.status == http.StatusSeeOther || p.status == http.StatusOK
	if len(v.value) > bodyLimit {
		if p.status != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %d", what, p.status)
		}
		return
	}
	allowed := []int{http.StatusSeeOther, http.StatusUnprocessableEntity}
	if f.kind == quietField || form.shown {
		allowed = append(allowed, http.StatusOK)
	}
	switch f.kind {
	case textField:
		if form.alert {
			allowed = append(allowed, http.StatusOK) // a search
		}
	case numberField, hiddenField:
		allowed = append(allowed, http.StatusConflict)
	case choiceField:
		allowed = append(allowed, http.StatusBadRequest)
	case idField:
		allowed = append(allowed, http.StatusNotFound, http.StatusBadRequest, http.StatusConflict)
	case quietField:
	}
	if !slices.Contains(allowed, p.status) {
		t.Errorf("%s: %d", what, p.status)
		return
	}
	if v.garbled && done && (f.kind == textField || f.kind == numberField) {
		t.Errorf("%s: taken", what)
	}
	if p.status == http.StatusUnprocessableEntity {
		beside := p.has("data-error", f.name) || (f.kind == hiddenField || f.kind == quietField) && (p.has("data-error", "") || p.has("data-outcome", ""))
		if !beside && !(p.has("role", "alert") && (form.alert || f.kind == hiddenField || f.kind == quietField || f.kind == idField)) {
			t.Errorf("%s: the fault does not stand beside the field", what)
		}
	}
	// What was refused is not sent back as something that a page could be broken by.
	if !utf8.ValidString(p.body) || strings.ContainsRune(p.body, 0) {
		t.Errorf("%s: the answer is no text", what)
	}
	for n := range p.doc.Descendants() {
		if n.Type == html.ElementNode && n.Data == "script" && n.FirstChild != nil && strings.Contains(n.FirstChild.Data, "alert(1)") {
			t.Errorf("%s: the page runs it", what)
		}
	}
}

// judgeKept holds that a form that came back has what was typed into its other fields.
func judgeKept(t *testing.T, what, path string, bad badField, sent url.Values, p page) {
	t.Helper()
	if !p.hasForm(path) {
		return
	}
	_, fields := p.form(path)
	for _, name := range []string{views.FieldName, views.FieldKana, views.FieldEmail, views.FieldPhone, views.FieldNote, views.FieldReason, views.FieldPartySize} {
		if name == bad.name || !sent.Has(name) {
			continue
		}
		if got, there := fields[name]; there && got[0] != sent.Get(name) {
			t.Errorf("%s: %s came back as %q, was %q", what, name, got[0], sent.Get(name))
		} else if !there {
			t.Errorf("%s: %s is lost", what, name)
		}
	}
}
