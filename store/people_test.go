package store_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest"
	"holdfast/store/storetest/shop"
)

// hanako is somebody whose traces are easy to find: every value is hers alone.
func hanako() store.Contact {
	return store.Contact{Name: "早乙女 花子", Kana: "サオトメ ハナコ", Email: "Hanako.Saotome@mail.example", Phone: "+819087654321", Note: "甲殻類アレルギー", Locale: "ja", Answers: map[string]string{"q1": "左利きです"}}
}

var hanakoPress = store.Actor{Kind: store.Customer, Addr: "203.0.113.77", Agent: "HanakoBrowser/1.0"}

var tracesOfHanako = []string{"早乙女", "サオトメ", "aotome", "AOTOME", "9087654321", "甲殻類", "左利き", "203.0.113.77", "HanakoBrowser"}

// everything is a dump of all tables.
func everything(t testing.TB, s *shop.Shop) string {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	var tables []string
	if err := s.Pool.QueryRow(ctx, "SELECT array_agg(tablename ORDER BY tablename) FROM pg_tables WHERE schemaname = 'public'").Scan(&tables); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range tables {
		var text string
		if err := s.Pool.QueryRow(ctx, `SELECT coalesce(string_agg(x::text, E'\n'), '') FROM "`+name+`" x`).Scan(&text); err != nil {
			t.Fatal(err)
		}
		all.WriteString(name + ":\n" + text + "\n")
	}
	return all.String()
}

func traces(dump string) []string {
	var found []string
	for _, trace := range tracesOfHanako {
		if strings.Contains(dump, trace) {
			found = append(found, trace)
		}
	}
	return found
}

func bookFor(t testing.TB, s *shop.Shop, slot store.Slot, party int, c store.Contact, actor store.Actor) store.Reservation {
	t.Helper()
	request := s.ConfirmRequest(s.Hold(t, slot, party))
	request.Contact, request.Actor, request.ConsentVersion = c, actor, "2026-04"
	r, err := s.Store.Confirm(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func joinFor(t testing.TB, s *shop.Shop, slot store.Slot, party int, c store.Contact, actor store.Actor) store.Entry {
	t.Helper()
	request := s.JoinRequest(slot, party)
	request.Contact, request.Actor = c, actor
	e, err := s.Store.Join(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// past puts a slot so many hours back, as if it had been.
func past(t testing.TB, s *shop.Shop, slot store.Slot, hours int) {
	t.Helper()
	s.Exec(t, "UPDATE slots SET starts_at = now() - make_interval(hours => $2), ends_at = now() - make_interval(hours => $2 - 1) WHERE id = $1", slot.ID, hours)
}

// lived is a customer with something in every state.
type lived struct {
	visited, missed, cancelled, ahead store.Reservation
	waiting, offered                  store.Entry
	next                              store.Entry // who waits behind her for the seat that she is offered
	behind                            store.Entry // who waits for the seat that she has booked
}

func live(t testing.TB, s *shop.Shop) lived {
	t.Helper()
	h := hanako()
	other := h
	other.Email, other.Phone = "hanako.SAOTOME@mail.example", ""
	var l lived
	first, second := s.Slot(t, 4), s.Slot(t, 4)
	l.visited, l.missed = bookFor(t, s, first, 2, h, hanakoPress), bookFor(t, s, second, 1, other, hanakoPress)
	for r, attendance := range map[string]string{l.visited.ID: "arrived", l.missed.ID: "no_show"} {
		if _, err := s.Store.SetAttendance(t.Context(), store.AttendanceRequest{TenantID: s.Tenant.ID, ID: r, Attendance: attendance, Actor: shop.Staff}); err != nil {
			t.Fatal(err)
		}
	}
	past(t, s, first, 50)
	past(t, s, second, 40)
	l.cancelled = bookFor(t, s, s.Slot(t, 4), 1, h, hanakoPress)
	if _, err := s.Store.Cancel(t.Context(), store.CancelRequest{TenantID: s.Tenant.ID, IDs: []string{l.cancelled.ID}, Actor: shop.Staff, Reason: "早乙女様より電話", Silent: true}); err == nil {
		// The reason is typed by staff and stands in the sealed history: this one is put right below, as no form can.
		s.Exec(t, "UPDATE events SET details = details - 'reason' WHERE details->>'reason' LIKE '早乙女%'")
	} else {
		t.Fatal(err)
	}
	full := s.Slot(t, 2)
	l.ahead = bookFor(t, s, full, 2, h, hanakoPress)
	l.behind = s.Join(t, full, 2)
	busy := s.Slot(t, 1)
	leaver := s.Book(t, busy, 1)
	l.offered = joinFor(t, s, busy, 1, h, hanakoPress)
	l.next = s.Join(t, busy, 1)
	s.Cancel(t, leaver)
	queue := s.Slot(t, 1)
	s.Book(t, queue, 1)
	l.waiting = joinFor(t, s, queue, 1, h, hanakoPress)
	// Her address was named for somebody else's booking too, and not confirmed.
	theirs := s.Book(t, s.Slot(t, 2), 1)
	named := s.Person()
	named.Email = h.Email
	if _, err := s.Store.CorrectContact(t.Context(), store.ContactRequest{TenantID: s.Tenant.ID, ID: theirs.ID, Contact: named, Actor: shop.Customer}); err != nil {
		t.Fatal(err)
	}
	if err := s.Store.SendMyLinks(t.Context(), s.Tenant.ID, h.Email, "ja"); err != nil {
		t.Fatal(err)
	}
	// What was sent has a text with her name.
	s.Exec(t, "UPDATE outbox SET state = 'sent', sent_at = now(), sent_subject = '早乙女様', sent_text = '早乙女 花子 様' WHERE lower(recipient) = 'hanako.saotome@mail.example' AND kind = 'confirmed'")
	return l
}

func TestAPersonIsOneAddressHoweverItIsSpelled(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	l := live(t, s)
	for _, id := range []string{l.visited.ID, l.missed.ID, l.waiting.ID, l.offered.ID} {
		p, err := s.Store.PersonOf(t.Context(), s.Tenant.ID, id)
		if err != nil {
			t.Fatal(err)
		}
		c, err := s.Store.PersonCounts(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		c.First = nil
		want := store.PersonCounts{Bookings: 4, Upcoming: 1, Visits: 1, NoShows: 1, ByVenue: 1, Waits: 2, LiveWaits: 2, Offers: 1}
		if c != want {
			t.Errorf("counts %+v, want %+v", c, want)
		}
		ahead, err := s.Store.PersonUpcoming(t.Context(), p, 10)
		if err != nil || len(ahead) != 3 || ahead[0].ID != l.ahead.ID {
			t.Errorf("ahead: %v %+v", err, ahead)
		}
		// The pages of the rest, one line each, are the whole.
		var seen []string
		after, afterID := time.Time{}, ""
		for {
			page, err := s.Store.PersonPast(t.Context(), p, after, afterID, 1)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			seen = append(seen, page[0].ID)
			after, afterID = page[0].StartsAt, page[0].ID
		}
		if len(seen) != 3 || seen[0] != l.cancelled.ID || seen[2] != l.visited.ID {
			t.Errorf("past: %v", seen)
		}
	}
	recent, err := s.Store.RecentPeople(t.Context(), s.Tenant.ID, time.Time{}, "", 50)
	if err != nil {
		t.Fatal(err)
	}
	hers := 0
	for _, p := range recent {
		if store.PersonKey(p.Email) == store.PersonKey(hanako().Email) {
			hers++
			if p.Bookings != 4 || p.NoShows != 1 || p.ID != l.ahead.ID {
				t.Errorf("in the list: %+v", p)
			}
		}
	}
	if hers != 1 {
		t.Errorf("stands in the list %d times", hers)
	}
	other := s.AddTenant(t, "other", nil)
	if _, err := s.Store.PersonOf(t.Context(), other.ID, l.visited.ID); !errors.Is(err, store.NotFound) {
		t.Errorf("another tenant finds her: %v", err)
	}
}

func TestErasingLeavesNoTraceAndKeepsTheCounts(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	l := live(t, s)
	if found := traces(everything(t, s)); len(found) < len(tracesOfHanako)-1 {
		t.Fatalf("the test sees only %v before", found)
	}
	request := store.EraseRequest{TenantID: s.Tenant.ID, ID: l.waiting.ID, Reason: "本人の依頼", Actor: shop.Staff}
	if _, err := s.Store.ErasePerson(t.Context(), request); !errors.Is(err, store.Conflict) {
		t.Fatalf("with a booking ahead: %v", err)
	}
	if found := traces(everything(t, s)); len(found) < len(tracesOfHanako)-1 {
		t.Fatal("a refusal has erased something")
	}
	her, err := s.Store.PersonOf(t.Context(), s.Tenant.ID, l.waiting.ID)
	noError(t, err)
	preview, more, err := s.Store.PreviewErase(t.Context(), her, shop.Staff, 10)
	if err != nil || more || preview.Cancelled != 1 || preview.Withdrawn != 2 || len(preview.Offered()) != 2 {
		t.Fatalf("preview: %v %v %+v", err, more, preview)
	}
	request.CancelUpcoming = true
	done, err := s.Store.ErasePerson(t.Context(), request)
	if err != nil || done.Reservations != 4 || done.Entries != 2 || done.Cancelled != 1 || done.Withdrawn != 2 || len(done.Offered()) != 2 {
		t.Fatalf("%v %+v", err, done)
	}
	if found := traces(everything(t, s)); len(found) > 0 {
		t.Errorf("still there: %v", found)
	}
	// The seats went on.
	if e := s.Entry(t, l.next); e.State != store.Offered {
		t.Errorf("behind her offer: %s", e.State)
	}
	if e := s.Entry(t, l.behind); e.State != store.Offered {
		t.Errorf("behind her booking: %s", e.State)
	}
	// The links open nothing.
	for _, token := range []string{s.Store.ReservationToken(l.visited), s.Store.ReservationToken(l.ahead)} {
		if _, err := s.Store.ReservationByToken(t.Context(), s.Tenant.ID, token); !errors.Is(err, store.NotFound) {
			t.Errorf("a link of a booking: %v", err)
		}
	}
	if _, err := s.Store.EntryByToken(t.Context(), s.Tenant.ID, s.Store.EntryToken(l.waiting)); !errors.Is(err, store.NotFound) {
		t.Errorf("a link of an entry: %v", err)
	}
	if _, err := s.Store.OfferByToken(t.Context(), s.Tenant.ID, s.Store.OfferToken(l.offered)); !errors.Is(err, store.NotFound) {
		t.Errorf("a link of an offer: %v", err)
	}
	// Counts stay: what was is as it was.
	if r := s.Reservation(t, l.visited); r.State != store.Confirmed || r.Attendance != "arrived" || r.PartySize != 2 {
		t.Errorf("the visit: %+v", r)
	}
	if r := s.Reservation(t, l.missed); r.Attendance != "no_show" {
		t.Errorf("the no-show: %+v", r)
	}
	var waiting int
	if err := s.Pool.QueryRow(t.Context(), "SELECT count(*) FROM outbox WHERE state IN ('pending', 'sending') AND recipient = ''").Scan(&waiting); err != nil || waiting != 0 {
		t.Errorf("%d messages wait to be sent to nobody: %v", waiting, err)
	}
	// Pressed again: nothing more, and nothing is said to have been done.
	versions := s.Read(t, store.Slot{TenantID: s.Tenant.ID, ID: l.visited.SlotID}).Version
	again, err := s.Store.ErasePerson(t.Context(), request)
	if err != nil || again.Reservations+again.Entries+again.Messages+again.Cancelled+again.Withdrawn != 0 {
		t.Errorf("again: %v %+v", err, again)
	}
	if now := s.Read(t, store.Slot{TenantID: s.Tenant.ID, ID: l.visited.SlotID}).Version; now != versions {
		t.Errorf("the second press wrote into the history: %d, %d", versions, now)
	}
}

// Somebody on the phone without an address: the one booking, and the wait that it came from.
func TestErasingSomebodyWithoutAnAddress(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	h := hanako()
	h.Email = ""
	caller := store.Actor{Kind: store.Staff, ID: shop.Staff.ID, Addr: hanakoPress.Addr, Agent: hanakoPress.Agent}
	slot := s.Slot(t, 1)
	leaver := s.Book(t, slot, 1)
	request := s.JoinRequest(slot, 1)
	request.Contact, request.Actor, request.Source = h, caller, store.SourceStaff
	e, err := s.Store.Join(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	s.Cancel(t, leaver)
	r, err := s.Store.Accept(t.Context(), store.AcceptRequest{TenantID: s.Tenant.ID, ID: e.ID, TermsVersion: 1, Actor: caller})
	if err != nil {
		t.Fatal(err)
	}
	other := s.Book(t, s.Slot(t, 2), 1)
	past(t, s, slot, 5)
	done, err := s.Store.ErasePerson(t.Context(), store.EraseRequest{TenantID: s.Tenant.ID, ID: r.ID, Reason: "依頼", Actor: shop.Staff})
	if err != nil || done.Reservations != 1 || done.Entries != 1 || done.Cancelled != 0 {
		t.Fatalf("%v %+v", err, done)
	}
	for _, trace := range traces(everything(t, s)) {
		t.Errorf("still there: %s", trace)
	}
	if s.Reservation(t, other).Name == "" {
		t.Error("somebody else was erased too")
	}
}

// Whichever of the two comes first, afterwards there is either a whole booking
// that was made after the request, or nothing of the person.
func TestErasingAgainstAnAcceptAtTheSameMoment(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil, storetest.Conns(16))
	for range 12 {
		slot := s.Slot(t, 1)
		leaver := s.Book(t, slot, 1)
		e := joinFor(t, s, slot, 1, hanako(), hanakoPress)
		s.Cancel(t, leaver)
		gate := storetest.Barrier(2)
		accepted, erased := make(chan error, 1), make(chan error, 1)
		go func() {
			gate()
			_, err := s.Store.Accept(t.Context(), store.AcceptRequest{TenantID: s.Tenant.ID, ID: e.ID, TermsVersion: 1, Actor: hanakoPress})
			accepted <- err
		}()
		go func() {
			gate()
			_, err := s.Store.ErasePerson(t.Context(), store.EraseRequest{TenantID: s.Tenant.ID, ID: e.ID, Reason: "依頼", CancelUpcoming: true, Actor: shop.Staff})
			erased <- err
		}()
		errA, errE := <-accepted, <-erased
		if errE != nil {
			t.Fatalf("erase: %v", errE)
		}
		if errA != nil && !errors.Is(errA, store.Over) {
			t.Fatalf("accept: %v", errA)
		}
		if found := traces(everything(t, s)); len(found) > 0 {
			t.Fatalf("accept said %v; still there: %v", errA, found)
		}
		if read := s.Read(t, slot); read.Taken != 0 {
			t.Fatalf("accept said %v; taken is %d", errA, read.Taken)
		}
	}
}

func TestErasingAgainstAConfirmAtTheSameMoment(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil, storetest.Conns(16))
	for range 12 {
		before, slot := s.Slot(t, 4), s.Slot(t, 4)
		known := bookFor(t, s, before, 1, hanako(), hanakoPress)
		confirm := s.ConfirmRequest(s.Hold(t, slot, 1))
		confirm.Contact, confirm.Actor = hanako(), hanakoPress
		gate := storetest.Barrier(2)
		confirmed, erased := make(chan error, 1), make(chan error, 1)
		go func() {
			gate()
			_, err := s.Store.Confirm(t.Context(), confirm)
			confirmed <- err
		}()
		go func() {
			gate()
			_, err := s.Store.ErasePerson(t.Context(), store.EraseRequest{TenantID: s.Tenant.ID, ID: known.ID, Reason: "依頼", CancelUpcoming: true, Actor: shop.Staff})
			erased <- err
		}()
		if err := <-confirmed; err != nil {
			t.Fatalf("confirm: %v", err)
		}
		if err := <-erased; err != nil {
			t.Fatalf("erase: %v", err)
		}
		if r := s.Reservation(t, known); r.Name != "" || r.State != store.Cancelled {
			t.Fatalf("the booking that was known: %+v", r)
		}
		switch r := s.Reservation(t, store.Reservation{TenantID: s.Tenant.ID, ID: confirm.ID}); {
		case r.State == store.Confirmed && r.Name == hanako().Name: // made after the request
		case r.State == store.Cancelled && r.Name == "":
		default:
			t.Fatalf("half a booking: %+v", r)
		}
		if _, err := s.Store.ErasePerson(t.Context(), store.EraseRequest{TenantID: s.Tenant.ID, ID: confirm.ID, Reason: "依頼", CancelUpcoming: true, Actor: shop.Staff}); err != nil {
			t.Fatal(err)
		}
		if found := traces(everything(t, s)); len(found) > 0 {
			t.Fatalf("still there: %v", found)
		}
	}
}

func TestTheExportHasAllButSecrets(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	l := live(t, s)
	p, err := s.Store.PersonOf(t.Context(), s.Tenant.ID, l.ahead.ID)
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Store.ExportPerson(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Reservations) != 4 || len(out.Entries) != 2 || out.Cut {
		t.Errorf("%d reservations, %d entries", len(out.Reservations), len(out.Entries))
	}
	if r := out.Reservations[0]; r.ConsentVersion != "2026-04" || r.ConsentedAt == nil || r.PressAddr != hanakoPress.Addr || r.PressAgent != hanakoPress.Agent || r.Answers["q1"] == "" || r.Note == "" {
		t.Errorf("the first: %+v", r)
	}
	texts := 0
	for _, m := range out.Messages {
		if m.Text != "" {
			texts++
		}
	}
	// Four confirmations, the joinings, the offer, the mail with links, and the one that was named for another's booking.
	if texts != 4 || len(out.Messages) < 8 {
		t.Errorf("%d messages, %d with a text", len(out.Messages), texts)
	}
	if len(out.Events) < 12 {
		t.Errorf("%d events", len(out.Events))
	}
}
