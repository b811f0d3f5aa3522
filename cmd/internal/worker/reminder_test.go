package worker

import (
	"context"
	"sync"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

// slowWay is a transport whose first conversation takes so long that something happens meanwhile.
type slowWay struct {
	mu        sync.Mutex
	meanwhile func()
	sent      []Mail
}

func (w *slowWay) Send(_ context.Context, m Mail) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.meanwhile != nil {
		w.meanwhile()
		w.meanwhile = nil
	}
	w.sent = append(w.sent, m)
	return nil
}

func (w *slowWay) Close() error { return nil }

// Between the sweep that writes reminders, the claim, and the moment when each
// goes out, bookings end and move: the state is looked at again just before.
func TestAReminderOfWhatHasChangedSinceItWasClaimedIsNotSent(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	now, err := s.Store.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const reader = "guest@example.com" // one reader: their messages go one after the other
	var booked []store.Reservation
	for i := range 5 {
		booked = append(booked, bookAs(t, s, s.SlotAt(t, 1, now.Add(time.Duration(10+2*i)*time.Hour).Truncate(time.Second)), reader))
	}
	later := s.SlotAt(t, 1, now.Add(72*time.Hour).Truncate(time.Second))
	s.Exec(t, "UPDATE outbox SET state = 'sent', sent_at = now()")
	// Booked before the reminders were due.
	s.Exec(t, "UPDATE reservations SET confirmed_at = now() - interval '10 days'")
	if _, err := s.Store.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	cancel := func(r store.Reservation, by store.Actor) {
		t.Helper()
		if _, err := s.Store.Cancel(t.Context(), store.CancelRequest{TenantID: r.TenantID, IDs: []string{r.ID}, Actor: by, Reason: "電話"}); err != nil {
			t.Error(err)
		}
	}
	cancel(booked[1], shop.Staff) // after the sweep, before the claim
	var first string
	way := &slowWay{meanwhile: func() {
		// All of the reader's are claimed; the first is on its way.
		for i, r := range booked {
			if m := messages(t, s)["reminder "+r.ID]; i != 1 && m.State != store.MessageSending {
				t.Errorf("reminder %d is %s", i, m.State)
			}
		}
		cancel(booked[2], shop.Staff)
		s.Exec(t, "UPDATE slots SET cancel_before = '0' WHERE tenant_id = $1", s.Tenant.ID)
		cancel(booked[3], shop.Customer)
		if _, err := s.Store.Move(t.Context(), store.MoveRequest{TenantID: s.Tenant.ID, ID: booked[4].ID, TargetSlot: later.ID, TargetTerms: later.TermsVersion, Actor: shop.Staff}); err != nil {
			t.Error(err)
		}
	}}
	s.Exec(t, "UPDATE outbox SET created_at = created_at - interval '1 minute' WHERE kind = 'reminder' AND subject_id = $1", booked[0].ID)
	s.Exec(t, "UPDATE outbox SET next_attempt_at = now() + interval '1 hour' WHERE kind <> 'reminder' AND state = 'pending'")
	round(t, dispatcherOf(t, s.Store, way))
	for i, r := range booked {
		want := store.MessageObsolete
		if i == 0 {
			want, first = store.MessageSent, r.Number
		}
		if m := messages(t, s)["reminder "+r.ID]; m.State != want {
			t.Errorf("reminder %d is %s (%s), want %s", i, m.State, m.LastError, want)
		}
	}
	if len(way.sent) != 1 || first == "" {
		t.Errorf("%d reminders went out", len(way.sent))
	}
}
