package store_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

func TestAnAnswerIsJudgedByItsQuestion(t *testing.T) {
	t.Parallel()
	text := store.Question{ID: "diet", Kind: store.QuestionText, MaxLength: 5}
	must := store.Question{ID: "diet", Kind: store.QuestionText, Required: true}
	choice := store.Question{ID: "seat", Kind: store.QuestionChoice, Options: []store.QuestionOption{{ID: "window", Label: store.Text{"ja": "窓側"}}}}
	needed := choice
	needed.Required = true
	consent := store.Question{ID: "photo", Kind: store.QuestionConsent}
	terms := store.Question{ID: "terms", Kind: store.QuestionConsent, Required: true}
	for _, c := range []struct {
		name  string
		q     store.Question
		typed string
		want  string
		fault error
	}{
		{"a text is trimmed", text, "　egg ", "egg", nil},
		{"a text of just the length", text, "卵卵卵卵卵", "卵卵卵卵卵", nil},
		{"a text that is too long", text, "卵卵卵卵卵卵", "", store.ErrAnswerTooLong},
		{"a text may be left out", text, "", "", nil},
		{"a text of blanks is none", must, " 　", "", store.ErrAnswerMissing},
		{"a control character goes", text, "e\x00g", "eg", nil},
		{"one of the options", choice, "window", "window", nil},
		{"none of the options", choice, "roof", "", store.ErrAnswerUnknown},
		{"a choice may be left open", choice, "", "", nil},
		{"a choice that has to be made", needed, "", "", store.ErrAnswerMissing},
		{"a consent that is given", consent, "yes", store.AnswerYes, nil},
		{"a consent that is not given", consent, "", store.AnswerNo, nil},
		{"a consent in other words", consent, "on", "", store.ErrAnswerUnknown},
		{"a consent that is needed", terms, "", "", store.ErrAnswerMissing},
		{"a needed consent that is refused", terms, "no", "", store.ErrAnswerMissing},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := c.q.Answer(c.typed)
			if got != c.want || !errors.Is(err, c.fault) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

func TestAServiceAsksOnlyWhatAFormCanAsk(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	label := store.Text{"ja": "質問"}
	option := []store.QuestionOption{{ID: "a", Label: label}}
	for name, questions := range map[string][]store.Question{
		"no id":          {{Kind: store.QuestionText, Label: label}},
		"a strange id":   {{ID: `"><svg`, Kind: store.QuestionText, Label: label}},
		"twice":          {{ID: "a", Kind: store.QuestionText, Label: label}, {ID: "a", Kind: store.QuestionText, Label: label}},
		"no words":       {{ID: "a", Kind: store.QuestionText}},
		"no such kind":   {{ID: "a", Kind: "file", Label: label}},
		"no options":     {{ID: "a", Kind: store.QuestionChoice, Label: label}},
		"options":        {{ID: "a", Kind: store.QuestionText, Label: label, Options: option}},
		"options twice":  {{ID: "a", Kind: store.QuestionChoice, Label: label, Options: append(option, option...)}},
		"endless answer": {{ID: "a", Kind: store.QuestionText, Label: label, MaxLength: store.LongestAnswer + 1}},
	} {
		if _, err := s.Store.AddService(s.ctx(), store.Service{TenantID: s.Tenant.ID, Slug: "asks", Name: label, Duration: time.Hour, Capacity: 1, Questions: questions}); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	questions := []store.Question{{ID: "a", Kind: store.QuestionChoice, Label: label, Options: option, OnJoin: true, Required: true}}
	added, err := s.Store.AddService(s.ctx(), store.Service{TenantID: s.Tenant.ID, Slug: "asks", Name: label, Duration: time.Hour, Capacity: 1, Questions: questions})
	s.must(err)
	if len(added.Questions) != 1 || added.Questions[0].Options[0].Label["ja"] != "質問" || !added.Questions[0].OnJoin {
		t.Fatalf("%+v", added.Questions)
	}
}

// Answers go the way of the contact: from the waitlist into the booking, and out
// of the database with it.
func TestAnswersStayWithTheirContactAndAreErasedWithIt(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	const secret = "secret answer"
	slot := s.Slot(t, 2)
	confirm := s.ConfirmRequest(s.Hold(t, slot, 1))
	confirm.Contact.Answers = map[string]string{"diet": secret + " booked"}
	booked, err := s.Store.Confirm(s.ctx(), confirm)
	s.must(err)
	if booked.Answers["diet"] != secret+" booked" || s.Reservation(t, booked).Answers["diet"] != secret+" booked" {
		t.Fatalf("%+v", booked.Answers)
	}
	other := s.Book(t, slot, 1)
	join := s.JoinRequest(slot, 1)
	join.Contact.Answers = map[string]string{"diet": secret + " joined"}
	e, err := s.Store.Join(s.ctx(), join)
	s.must(err)
	waits := s.JoinRequest(slot, 1)
	waits.Contact.Answers = map[string]string{"diet": secret + " waiting"}
	_, err = s.Store.Join(s.ctx(), waits)
	s.must(err)
	s.Cancel(t, other)
	accepted, err := s.accept(e)
	s.must(err)
	if accepted.Answers["diet"] != secret+" joined" {
		t.Fatalf("%+v", accepted.Answers)
	}
	contact := s.Person()
	contact.Email = "secret-new@example.com"
	_, err = s.Store.CorrectContact(s.ctx(), store.ContactRequest{TenantID: booked.TenantID, ID: booked.ID, Contact: contact, Actor: shop.Customer})
	s.must(err)
	if got := s.Reservation(t, booked); got.Answers["diet"] != secret+" booked" || got.EmailNew != contact.Email {
		t.Fatalf("a correction that says nothing of answers changed them: %+v", got)
	}

	count := func() (n int) {
		t.Helper()
		s.must(s.Pool.QueryRow(s.ctx(), `SELECT (SELECT count(*) FROM reservations r WHERE r::text LIKE '%secret%') + (SELECT count(*) FROM waitlist_entries e WHERE e::text LIKE '%secret%')
			+ (SELECT count(*) FROM outbox o WHERE o::text LIKE '%secret%') + (SELECT count(*) FROM events v WHERE v::text LIKE '%secret%')`).Scan(&n))
		return n
	}
	if count() < 4 {
		t.Fatal("the answers are not where this test looks for them")
	}
	s.at(240*time.Hour + 401*24*time.Hour)
	s.sweep()
	if n := count(); n != 0 {
		t.Errorf("%d rows still have what was typed", n)
	}
}

func TestAnEmailIsChangedByItsNewOwner(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	slot := s.Slot(t, 2)
	r := s.Book(t, slot, 1)
	contact := s.Person()
	contact.Name, contact.Email = "髙橋 𠮷郎", "new@example.com"
	correct := func(c store.Contact) (store.Reservation, error) {
		return s.Store.CorrectContact(s.ctx(), store.ContactRequest{TenantID: r.TenantID, ID: r.ID, Contact: c, Actor: shop.Customer})
	}
	asked, err := correct(contact)
	s.must(err)
	if asked.Name != contact.Name || asked.Email != r.Email || asked.EmailNew != contact.Email || !asked.EmailUntil.Equal(s.now().Add(store.EmailChangeTime)) {
		t.Fatalf("%+v", asked)
	}
	sent := func(kind store.MessageKind) []string {
		t.Helper()
		all, err := s.Store.Messages(s.ctx(), store.MessageQuery{TenantID: r.TenantID, SubjectID: r.ID})
		s.must(err)
		var to []string
		for _, m := range all {
			if m.Kind == kind {
				to = append(to, m.Recipient)
			}
		}
		return to
	}
	if to := sent(store.KindConfirmEmail); len(to) != 1 || to[0] != contact.Email {
		t.Fatal(to)
	}
	// Reading changes nothing.
	token := s.Store.EmailToken(asked)
	read, err := s.Store.ReservationByEmailToken(s.ctx(), r.TenantID, token)
	if err != nil || read.Email != r.Email {
		t.Fatal(read, err)
	}
	// The token opens nothing else, and no other token opens this.
	_, err = s.Store.ReservationByToken(s.ctx(), r.TenantID, token)
	want(t, err, store.NotFound)
	_, err = s.Store.ConfirmEmail(s.ctx(), r.TenantID, s.Store.ReservationToken(r), shop.Customer)
	want(t, err, store.NotFound)
	foreign := s.AddTenant(t, "other", nil)
	_, err = s.Store.ConfirmEmail(s.ctx(), foreign.ID, token, shop.Customer)
	want(t, err, store.NotFound)

	// Another address named since: the first link is void.
	contact.Email = "newer@example.com"
	asked, err = correct(contact)
	s.must(err)
	_, err = s.Store.ConfirmEmail(s.ctx(), r.TenantID, token, shop.Customer)
	want(t, err, store.NotFound)

	done, err := s.Store.ConfirmEmail(s.ctx(), r.TenantID, s.Store.EmailToken(asked), shop.Customer)
	s.must(err)
	if done.Email != contact.Email || done.EmailNew != "" {
		t.Fatalf("%+v", done)
	}
	if to := sent(store.KindEmailChanged); len(to) != 1 || to[0] != r.Email {
		t.Fatalf("the old address is told once: %v", to)
	}
	// What has not gone out yet goes to the new one.
	if to := sent(store.KindConfirmed); len(to) != 1 || to[0] != contact.Email {
		t.Fatal(to)
	}
	again, err := s.Store.ConfirmEmail(s.ctx(), r.TenantID, s.Store.EmailToken(asked), shop.Customer)
	if err != nil || again.Email != contact.Email || len(sent(store.KindEmailChanged)) != 1 {
		t.Fatal(again, err)
	}
	// The one person of this slot is now the new address.
	req := s.ConfirmRequest(s.Hold(t, slot, 1))
	req.Contact.Email = "NEWER@example.com"
	_, err = s.Store.Confirm(s.ctx(), req)
	want(t, err, store.AlreadyBooked)
}

func TestAnEmailChangeThatIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		do   func(s *stage, r store.Reservation, to string)
		want store.Outcome
	}{
		{"pressed after its time", func(s *stage, _ store.Reservation, _ string) { s.at(store.EmailChangeTime + store.LeastGrace) }, store.Expired},
		{"of a booking that was cancelled", func(s *stage, r store.Reservation, _ string) { s.Cancel(s.t, r) }, store.Over},
		{"to somebody who has booked here", func(s *stage, r store.Reservation, to string) {
			req := s.ConfirmRequest(s.Hold(s.t, s.Read(s.t, store.Slot{TenantID: r.TenantID, ID: r.SlotID}), 1))
			req.Contact.Email = to
			_, err := s.Store.Confirm(s.ctx(), req)
			s.must(err)
		}, store.AlreadyBooked},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, nil)
			r := s.Book(t, s.Slot(t, 3), 1)
			contact := s.Person()
			asked, err := s.Store.CorrectContact(s.ctx(), store.ContactRequest{TenantID: r.TenantID, ID: r.ID, Contact: contact, Actor: shop.Customer})
			s.must(err)
			c.do(s, r, contact.Email)
			_, err = s.Store.ConfirmEmail(s.ctx(), r.TenantID, s.Store.EmailToken(asked), shop.Customer)
			want(t, err, c.want)
			if got := s.Reservation(t, r); got.Email != r.Email {
				t.Fatal("the address was changed")
			}
		})
	}
}

func TestWhoPressesByTheShownTimeOfAnEmailChangeIsServed(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	r := s.Book(t, s.Slot(t, 1), 1)
	asked, err := s.Store.CorrectContact(s.ctx(), store.ContactRequest{TenantID: r.TenantID, ID: r.ID, Contact: s.Person(), Actor: shop.Customer})
	s.must(err)
	s.until(*asked.EmailUntil)
	_, err = s.Store.ConfirmEmail(s.ctx(), r.TenantID, s.Store.EmailToken(asked), shop.Customer)
	s.must(err)
}

func TestNamingTheOldAddressTakesTheChangeBack(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	r := s.Book(t, s.Slot(t, 1), 1)
	contact := s.Person()
	correct := func(email string) (store.Reservation, error) {
		contact.Email = email
		return s.Store.CorrectContact(s.ctx(), store.ContactRequest{TenantID: r.TenantID, ID: r.ID, Contact: contact, Actor: shop.Customer})
	}
	asked, err := correct("new@example.com")
	s.must(err)
	back, err := correct(strings.ToUpper(r.Email[:1]) + r.Email[1:])
	s.must(err)
	if back.EmailNew != "" || !strings.EqualFold(back.Email, r.Email) {
		t.Fatalf("%+v", back)
	}
	done, err := s.Store.ConfirmEmail(s.ctx(), r.TenantID, s.Store.EmailToken(asked), shop.Customer)
	if err != nil || !strings.EqualFold(done.Email, r.Email) {
		t.Fatal("a change that was taken back was made", done.Email, err)
	}
	// Each new address is written to: there is an end to it.
	for range store.MostEmailChanges - 1 {
		_, err = correct(s.Person().Email)
		s.must(err)
	}
	_, err = correct(s.Person().Email)
	want(t, err, store.TooManyChanges)
	all, err := s.Store.Messages(s.ctx(), store.MessageQuery{TenantID: r.TenantID, SubjectID: r.ID, Limit: 100})
	s.must(err)
	pointless := 0
	for _, m := range all {
		if m.Kind != store.KindConfirmEmail {
			continue
		}
		l, err := s.Store.Letter(s.ctx(), m)
		s.must(err)
		if l.Pointless {
			pointless++
		}
	}
	if pointless != store.MostEmailChanges-1 {
		t.Errorf("%d letters about earlier addresses are pointless", pointless)
	}
}
