package store_test

import (
	"sync"
	"testing"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

// queue reads the messages of the shop by state.
func queue(t *testing.T, s *shop.Shop, state store.MessageState) []store.Message {
	t.Helper()
	messages, err := s.Store.Messages(t.Context(), store.MessageQuery{TenantID: s.Tenant.ID, State: state, Limit: 500})
	if err != nil {
		t.Fatal(err)
	}
	return messages
}

func TestFailedMessagesAreRetriedTogetherAndOnce(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	other := s.AddTenant(t, "other", nil)
	slot := s.Slot(t, 9)
	for range 7 {
		s.Book(t, slot, 1)
	}
	s.Exec(t, "UPDATE outbox SET state = 'failed', attempts = 8, last_error = '550'")
	if n, err := s.Store.RetryFailedMessages(t.Context(), other.ID); n != 0 || err != nil {
		t.Errorf("another venue's press took %d, %v", n, err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	sum := 0
	for range 4 {
		wg.Go(func() {
			n, err := s.Store.RetryFailedMessages(t.Context(), s.Tenant.ID)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			sum += n
			mu.Unlock()
		})
	}
	wg.Wait()
	if sum != 7 || len(queue(t, s, store.MessagePending)) != 7 || len(queue(t, s, store.MessageFailed)) != 0 {
		t.Errorf("%d were retried", sum)
	}
}

func TestAMessageIsGivenUpOnceAndNotWhileItIsSent(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 4)
	s.Book(t, slot, 1)
	m := queue(t, s, store.MessagePending)[0]
	other := s.AddTenant(t, "other", nil)
	if err := s.Store.GiveUpMessage(t.Context(), other.ID, m.ID, shop.Staff); err != store.NotFound {
		t.Errorf("another venue's: %v", err)
	}
	claimed, err := s.Store.ClaimMessages(t.Context(), s.Tenant.ID, 10, 1e9)
	if err != nil || len(claimed) != 1 {
		t.Fatal(claimed, err)
	}
	if err := s.Store.GiveUpMessage(t.Context(), s.Tenant.ID, m.ID, shop.Staff); err != store.Conflict {
		t.Errorf("while it is being sent: %v", err)
	}
	if _, err := s.Store.FinishMessage(t.Context(), claimed[0], store.MessageResult{State: store.MessageFailed, Error: "550 no such user"}); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := s.Store.GiveUpMessage(t.Context(), s.Tenant.ID, m.ID, shop.Staff); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	m, err = s.Store.Message(t.Context(), s.Tenant.ID, m.ID)
	if err != nil || m.State != store.MessageObsolete || m.GivenUpAt == nil || m.GivenUpBy == "" {
		t.Errorf("%+v %v", m, err)
	}
	if n := events(t, s, slot, store.EventMessageGivenUp); n != 1 {
		t.Errorf("%d lines in the history", n)
	}
	// What was given up is not sent, nor retried with the others.
	if err := s.Store.RetryMessage(t.Context(), s.Tenant.ID, m.ID); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Store.RetryFailedMessages(t.Context(), s.Tenant.ID); n != 0 || err != nil {
		t.Errorf("%d %v", n, err)
	}
}

// events counts the lines of a kind in the history of a slot.
func events(t *testing.T, s *shop.Shop, slot store.Slot, kind store.EventKind) int {
	t.Helper()
	history, err := s.Store.History(t.Context(), slot.TenantID, slot.ID, 0, 500)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range history {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

func TestALostLinkIsMailedAgainOnceAtATime(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 1)
	r := s.Book(t, slot, 1)
	e := s.Join(t, slot, 1)
	links := func() int {
		n := 0
		for _, m := range queue(t, s, "") {
			if m.Kind == store.KindMyLinks {
				n++
			}
		}
		return n
	}
	for i, id := range []string{r.ID, e.ID} {
		var wg sync.WaitGroup
		var mu sync.Mutex
		sent := 0
		for range 6 {
			wg.Go(func() {
				ok, err := s.Store.ResendLink(t.Context(), s.Tenant.ID, id, shop.Staff)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				if ok {
					sent++
				}
			})
		}
		wg.Wait()
		if sent != 1 || links() != i+1 {
			t.Errorf("%d presses say that they sent it, %d mails", sent, links())
		}
	}
	if n := events(t, s, slot, store.EventLinkSent); n != 2 {
		t.Errorf("%d lines in the history", n)
	}
	on, err := s.Store.LinkOnFile(t.Context(), s.Tenant.ID, r.ID)
	if err != nil || on.MayResend() || on.Sent != 1 || on.Email != r.Email || on.IsEntry {
		t.Errorf("%+v %v", on, err)
	}
	// Ten minutes later it may be, three times a day.
	for want, back := range []string{"11 minutes", "11 minutes", "11 minutes"} {
		s.Exec(t, "UPDATE outbox SET created_at = created_at - $1::interval WHERE kind = 'my_reservations'", back)
		ok, err := s.Store.ResendLink(t.Context(), s.Tenant.ID, r.ID, shop.Staff)
		if err != nil || ok != (want < 2) {
			t.Errorf("press %d: %v %v", want+2, ok, err)
		}
	}
	// Not another venue's, not what is over, not to nobody.
	other := s.AddTenant(t, "other", nil)
	if ok, err := s.Store.ResendLink(t.Context(), other.ID, r.ID, shop.Staff); ok || err != nil {
		t.Errorf("another venue's: %v %v", ok, err)
	}
	if _, err := s.Store.LinkOnFile(t.Context(), other.ID, r.ID); err != store.NotFound {
		t.Errorf("another venue's: %v", err)
	}
	s.Exec(t, "UPDATE outbox SET created_at = created_at - interval '2 days' WHERE kind = 'my_reservations'")
	s.Cancel(t, r)
	if ok, err := s.Store.ResendLink(t.Context(), s.Tenant.ID, r.ID, shop.Staff); ok || err != nil {
		t.Errorf("what is over: %v %v", ok, err)
	}
}

func TestTheTallyCountsByStateAndKindAndTellsWhatIsLate(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 1)
	r := s.Book(t, slot, 1)
	s.Join(t, slot, 1)
	s.Exec(t, "UPDATE outbox SET created_at = now() - interval '20 minutes', last_error = 'dial tcp: no' WHERE kind = 'confirmed'")
	tally, err := s.Store.MessageTally(t.Context(), s.Tenant.ID, "", "")
	if err != nil || len(tally) != 2 {
		t.Fatalf("%+v %v", tally, err)
	}
	if c := tally[0]; c.Kind != store.KindConfirmed || c.Count != 1 || c.Late != 1 || c.Since == nil || c.Error != "dial tcp: no" {
		t.Errorf("%+v", c)
	}
	if c := tally[1]; c.Kind != store.KindJoined || c.Count != 1 || c.Late != 0 || c.Since != nil {
		t.Errorf("%+v", c)
	}
	if of, err := s.Store.MessageTally(t.Context(), s.Tenant.ID, r.ID, ""); err != nil || len(of) != 1 || of[0].Kind != store.KindConfirmed {
		t.Errorf("%+v %v", of, err)
	}
}

func TestTheListGoesOnAfterItsLastMessage(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 9)
	for range 9 {
		s.Book(t, slot, 1)
	}
	s.Exec(t, "UPDATE outbox SET created_at = date_trunc('hour', now())") // one instant: the id decides
	seen := map[string]bool{}
	q := store.MessageQuery{TenantID: s.Tenant.ID, Kind: store.KindConfirmed, Limit: 4}
	for range 3 {
		page, err := s.Store.Messages(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range page {
			if seen[m.ID] {
				t.Error("listed twice")
			}
			seen[m.ID] = true
			q.Before, q.BeforeID = m.CreatedAt, m.ID
		}
	}
	if len(seen) != 9 {
		t.Errorf("%d of 9", len(seen))
	}
	if none, err := s.Store.Messages(t.Context(), store.MessageQuery{TenantID: s.Tenant.ID, Kind: store.KindOffer}); len(none) != 0 || err != nil {
		t.Errorf("%d %v", len(none), err)
	}
}
