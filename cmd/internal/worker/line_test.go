package worker

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"holdfast/store"
	"holdfast/store/storetest"
	"holdfast/store/storetest/shop"
	"holdfast/views"
)

func TestWhoLinkedLINEGetsTheMessageThereAndNoMail(t *testing.T) {
	t.Parallel()
	s := openLine(t)
	r := s.linked(t, "guest@example.com", "U1", true)
	stranger := s.linked(t, "victim@example.com", "U2", false)
	round(t, s.d)
	asked, got := s.line.all()
	if len(asked) != 2 || len(got) != 2 || len(s.mails.all()) != 0 {
		t.Fatalf("%d pushes, %d mails", len(asked), len(s.mails.all()))
	}
	m := s.message(t, r)
	at := slices.IndexFunc(got, func(p pushed) bool { return p.to == "U1" })
	if m.State != store.MessageSent || m.Channel != store.ChannelLine || m.LineOver != "" || m.SentText != got[at].text || !strings.HasPrefix(m.SentText, m.SentSubject+"\n\n") {
		t.Errorf("kept as %+v", m)
	}
	page := "https://reserve.example" + views.ReservationURL("shop", s.Store.ReservationToken(r))
	if link := views.Proven(page, s.Store.ReservationProof(r)); !strings.Contains(got[at].text, "\n"+link+"\n") {
		t.Errorf("the link %s is not in\n%s", link, got[at].text)
	}
	for _, word := range []string{"このメール", "迷惑メール", "返信"} {
		if strings.Contains(got[at].text, word) {
			t.Errorf("it speaks of a mail: %s", got[at].text)
		}
	}
	// To somebody who booked with an address and did not prove to have it, no link
	// proves it: what else the address has is not theirs to see.
	at = 1 - at
	bare := "https://reserve.example" + views.ReservationURL("shop", s.Store.ReservationToken(stranger))
	if !strings.Contains(got[at].text, "\n"+bare+"\n") || strings.Contains(got[at].text, s.Store.ReservationProof(stranger)) {
		t.Errorf("to a stranger:\n%s", got[at].text)
	}
}

// Whatever LINE does about a message, the reader gets it once.
func TestWhateverLINEDoesTheMessageArrives(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		user    string
		rounds  int // until it is settled
		asked   int
		byLine  bool
		over    store.LineTrouble
		trouble string // of the account
	}{
		{user: "U1", rounds: 1, asked: 1, byLine: true},
		{user: "Urefuse1", rounds: 1, asked: 1, over: store.LineRefused},
		{user: "Uredirect1", rounds: 1, asked: 1, over: store.LineRefused},
		{user: "Urate1", rounds: 1, asked: 1, over: store.LineRate},
		{user: "Uquota1", rounds: 1, asked: 1, over: store.LineQuota, trouble: "paused"},
		{user: "Uforbidden1", rounds: 1, asked: 1, over: store.LineBroken, trouble: "broken"},
		{user: "Udown1", rounds: 2, asked: 2, over: store.LineUnclear},
		{user: "Uconflict1", rounds: 2, asked: 2, over: store.LineUnclear},
		// It had taken the message, and at the second try says so.
		{user: "Ulost1", rounds: 2, asked: 2, byLine: true},
		{user: "Ucut1", rounds: 2, asked: 2, byLine: true},
		{user: "Usilent1", rounds: 2, asked: 2, byLine: true},
		{user: "Uhuge1", rounds: 1, asked: 1, byLine: true},
	} {
		t.Run(c.user, func(t *testing.T) {
			t.Parallel()
			s := openLine(t)
			r := s.linked(t, "guest@example.com", c.user, true)
			for i := range c.rounds {
				if i > 0 {
					m := s.message(t, r)
					if m.State != store.MessagePending || m.LineTries != i || m.LineOver != "" || len(s.mails.all()) != 0 {
						t.Errorf("after %d tries: %+v, %d mails", i, m, len(s.mails.all()))
					}
					s.due(t)
				}
				round(t, s.d)
			}
			m := s.message(t, r)
			asked, got := s.line.all()
			mails := len(s.mails.all())
			want := store.ChannelMail
			if c.byLine {
				want = store.ChannelLine
			}
			if m.State != store.MessageSent || m.Channel != want || m.LineOver != c.over {
				t.Errorf("%s by %q, over %q: %s", m.State, m.Channel, m.LineOver, m.LastError)
			}
			if len(asked) != c.asked || len(got)+mails != 1 {
				t.Errorf("LINE was asked %d times and has %d, mails %d", len(asked), len(got), mails)
			}
			for _, p := range asked {
				if p.key != asked[0].key || p.text != asked[0].text {
					t.Error("the second try is another request")
				}
			}
			now, err := s.Store.LineChannel(t.Context(), s.Tenant.ID)
			if err != nil || (now.BrokenAt != nil) != (c.trouble == "broken") || now.Paused() != (c.trouble == "paused") {
				t.Errorf("the account: %+v %v", now, err)
			}
			if c.trouble == "" {
				return
			}
			// The account takes nothing now: it is not even asked, until it is checked.
			s.line.mended()
			next := s.linked(t, "next@example.com", "U9", true)
			round(t, s.d)
			if asked, _ := s.line.all(); len(asked) != c.asked || s.message(t, next).LineOver != c.over || s.message(t, next).Channel != store.ChannelMail {
				t.Errorf("%d were asked; %+v", len(asked), s.message(t, next))
			}
			name, id, err := s.d.Line.(*Line).Info(t.Context(), goodToken)
			if err != nil || name != "お店" || id != lineID {
				t.Fatal(name, id, err)
			}
			if err := s.Store.LineChecked(t.Context(), s.Tenant.ID, now.Version, name, id); err != nil {
				t.Fatal(err)
			}
			last := s.linked(t, "last@example.com", "U8", true)
			round(t, s.d)
			if m := s.message(t, last); m.Channel != store.ChannelLine {
				t.Errorf("after the check: %+v", m)
			}
		})
	}
}

func TestALINEThatIsAwayOrKnowsAnotherTokenHoldsNothingUp(t *testing.T) {
	t.Parallel()
	s := openLine(t)
	away := listenTCP(t, "127.0.0.1:0")
	nobody := &url.URL{Scheme: "http", Host: away.Addr().String()}
	if err := away.Close(); err != nil {
		t.Fatal(err)
	}
	r := s.linked(t, "guest@example.com", "U1", true)
	there := s.d.Line
	s.d.Line = NewLine(s.Store, nobody, quietLog())
	round(t, s.d)
	if m := s.message(t, r); m.Channel != store.ChannelMail || m.LineOver != store.LineAway || len(s.mails.all()) != 1 {
		t.Errorf("away: %+v", m)
	}
	s.d.Line = there
	s.account(t, "another-token-that-LINE-does-not-know")
	r = s.linked(t, "other@example.com", "U2", true)
	round(t, s.d)
	if m := s.message(t, r); m.Channel != store.ChannelMail || m.LineOver != store.LineBroken {
		t.Errorf("another token: %+v", m)
	}
	if c, err := s.Store.LineChannel(t.Context(), s.Tenant.ID); err != nil || c.BrokenAt == nil {
		t.Errorf("%+v %v", c, err)
	}
}

// What has gone on to mail stays there, however long the mail server is away: not
// even a dispatcher that dies between the mail and its row makes a second way of it.
func TestWhatHasGoneOnToMailIsNotTriedByLINEAgain(t *testing.T) {
	t.Parallel()
	s := openLine(t)
	r := s.linked(t, "guest@example.com", "Urefuse1", true)
	mail := s.d.Transport
	closed, err := ParseSMTP("smtp://"+s.line.addr.Host+"?starttls=never", "") // speaks no SMTP
	if err != nil {
		t.Fatal(err)
	}
	closed.timeout = 200 * time.Millisecond
	s.d.Transport = closed
	for range 2 {
		round(t, s.d)
		s.due(t)
	}
	if m := s.message(t, r); m.State != store.MessagePending || m.LineOver != store.LineRefused {
		t.Fatalf("%+v", m)
	}
	s.line.mended()
	s.d.Transport = mail
	round(t, s.d)
	if asked, got := s.line.all(); len(asked) != 1 || len(got) != 0 || len(s.mails.all()) != 1 {
		t.Errorf("LINE was asked %d times, %d mails", len(asked), len(s.mails.all()))
	}

	// Not linked, mailed, and the dispatcher dies before it has written that down. Then LINE is linked.
	plain := bookAs(t, s.Shop, s.Slot(t, 1), "plain@example.com")
	claimed, err := s.Store.ClaimMessages(t.Context(), s.Tenant.ID, 10, lease)
	if err != nil || len(claimed) != 1 {
		t.Fatal(len(claimed), err)
	}
	if result, err := s.d.send(t.Context(), claimed[0]); err != nil || result.State != store.MessageSent {
		t.Fatalf("%+v %v", result, err)
	}
	s.link(t, plain, "U5", true)
	s.Exec(t, "UPDATE outbox SET sending_until = now() - interval '1 second' WHERE state = 'sending'")
	round(t, s.d)
	if _, got := s.line.all(); len(got) != 0 || s.message(t, plain).Channel != store.ChannelMail {
		t.Errorf("LINE has it too: %v, %+v", got, s.message(t, plain))
	}
	// The mail came twice, as ever when a dispatcher dies there, under one Message-ID.
	if n := len(s.mails.all()); n != 3 {
		t.Errorf("%d mails", n)
	}
}

// A dispatcher dies after LINE has taken a message. Whoever takes over sends it
// with the same retry key, and LINE says that it has it.
func TestTakenOverAfterACrashAMessageIsInLINEOnce(t *testing.T) {
	t.Parallel()
	s := openLine(t)
	r := s.linked(t, "guest@example.com", "U1", true)
	claimed, err := s.Store.ClaimMessages(t.Context(), s.Tenant.ID, 10, lease)
	if err != nil || len(claimed) != 1 {
		t.Fatal(len(claimed), err)
	}
	if result, err := s.d.send(t.Context(), claimed[0]); err != nil || result.Channel != store.ChannelLine {
		t.Fatalf("%+v %v", result, err)
	}
	round(t, s.d)
	if asked, _ := s.line.all(); len(asked) != 1 {
		t.Fatal("somebody sent what was claimed")
	}
	s.Exec(t, "UPDATE outbox SET sending_until = now() - interval '1 second' WHERE state = 'sending'")
	round(t, s.d)
	asked, got := s.line.all()
	if len(asked) != 2 || len(got) != 1 || len(s.mails.all()) != 0 {
		t.Errorf("asked %d times, arrived %d times, %d mails", len(asked), len(got), len(s.mails.all()))
	}
	if m := s.message(t, r); m.State != store.MessageSent || m.Channel != store.ChannelLine {
		t.Errorf("%+v", m)
	}
}

func TestTwoDispatchersPushEachMessageOnceAndInOrder(t *testing.T) {
	t.Parallel()
	s := openLine(t)
	const people, each = 6, 5
	order := map[string][]string{}
	for i := range people * each {
		n := i % people
		user := fmt.Sprintf("U%d", n)
		if n == 0 {
			user = "Ulost0" // whose messages are all tried twice
		}
		r := bookAs(t, s.Shop, s.Slot(t, 1), fmt.Sprintf("guest%d@example.com", n))
		if i < people {
			s.link(t, r, user, true)
		}
		order[user] = append(order[user], s.Store.ReservationToken(r))
	}
	start := storetest.Barrier(3)
	var group sync.WaitGroup
	for range 3 {
		other, err := store.New(s.NewPool(t, 4), shop.Secret, store.Watch{})
		if err != nil {
			t.Fatal(err)
		}
		d := dispatcherOf(t, other, s.mails.transport(t))
		d.Line = s.line.way(t, other)
		group.Go(func() {
			start()
			for {
				some, err := d.round(t.Context())
				if err != nil {
					t.Error(err)
				}
				if some {
					continue
				}
				var waiting int
				if err := s.Pool.QueryRow(t.Context(), "SELECT count(*) FROM outbox WHERE state IN ('pending', 'sending')").Scan(&waiting); err != nil || waiting == 0 {
					return
				}
				s.due(t)
			}
		})
	}
	group.Wait()
	_, got := s.line.all()
	arrived := map[string][]string{}
	for _, p := range got {
		_, rest, _ := strings.Cut(p.text, "/shop/reservations/")
		token, _, _ := strings.Cut(rest, "?")
		arrived[p.to] = append(arrived[p.to], token)
	}
	for user, want := range order {
		if !slices.Equal(arrived[user], want) {
			t.Errorf("%s got %d of %d, or in another order", user, len(arrived[user]), len(want))
		}
	}
	if n := len(s.mails.all()); n != 0 {
		t.Errorf("%d mails", n)
	}
}

// What proves a mailbox, and what somebody asked for by mail, goes by mail.
func TestWhatConcernsTheAddressItselfGoesByMail(t *testing.T) {
	t.Parallel()
	s := openLine(t)
	r := s.linked(t, "guest@example.com", "U1", true)
	if err := s.Store.SendMyLinks(t.Context(), s.Tenant.ID, r.Email, "ja"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Store.CorrectContact(t.Context(), store.ContactRequest{TenantID: r.TenantID, ID: r.ID, Contact: s.Person(), Actor: shop.Customer}); err != nil {
		t.Fatal(err)
	}
	round(t, s.d)
	round(t, s.d)
	_, got := s.line.all()
	if len(got) != 1 || len(s.mails.all()) != 2 {
		t.Errorf("%d by LINE, %d by mail", len(got), len(s.mails.all()))
	}
}

func TestATextForLINEIsCutAtAWholeCharacterAndKeepsItsLink(t *testing.T) {
	t.Parallel()
	const link = "https://reserve.example/shop/reservations/x"
	for name, text := range map[string]string{
		"short": "件名\n\n本文", "just so": strings.Repeat("あ", lineText), "long": strings.Repeat("あ", lineText+1), "pairs": strings.Repeat("👩‍👩‍👧", lineText/2), "odd": "a" + strings.Repeat("𠮷", lineText),
	} {
		got := cutLine(text, link)
		if lineUnits(got) > lineText || !utf8.ValidString(got) {
			t.Errorf("%s: %d units", name, lineUnits(got))
		}
		if whole := lineUnits(text) <= lineText; whole != (got == text) || !whole && (!strings.HasSuffix(got, "…\n\n"+link) || lineUnits(got) < lineText-2) {
			t.Errorf("%s: ends in %q", name, got[max(0, len(got)-80):])
		}
	}
}

func TestARetryKeyIsTheMessagesOwn(t *testing.T) {
	t.Parallel()
	const a, b = "7e0a8a43-9b1c-4d7e-8f00-000000000001", "7e0a8a43-9b1c-4d7e-8f00-000000000002"
	if key := lineRetryKey(a); !lineKey.MatchString(key) || key != lineRetryKey(a) || key == lineRetryKey(b) || key == a {
		t.Errorf("%s", key)
	}
}
