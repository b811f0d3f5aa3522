package store_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"holdfast/store"
	"holdfast/store/storetest"
	"holdfast/store/storetest/shop"
)

func noticeTo(slot store.Slot, key string) store.NoticeRequest {
	return store.NoticeRequest{
		TenantID: slot.TenantID, SlotID: slot.ID, Booked: true, Waiting: true, Fallback: "ja", Key: key, Actor: shop.Staff,
		Texts: map[string]store.NoticeText{"ja": {Subject: "駐車場", Text: "使えません。"}, "en": {Subject: "Parking", Text: "There is none."}},
	}
}

func notices(t *testing.T, s *shop.Shop, slot store.Slot) []store.Message {
	t.Helper()
	all, err := s.Store.Messages(t.Context(), store.MessageQuery{TenantID: slot.TenantID, SlotID: slot.ID, Limit: 500})
	if err != nil {
		t.Fatal(err)
	}
	var out []store.Message
	for _, m := range all {
		if m.Kind == store.KindNotice {
			out = append(out, m)
		}
	}
	return out
}

func TestANoticeGoesOnceToEachAddressInItsLanguage(t *testing.T) {
	t.Parallel()
	s := shop.New(t, func(p *store.Policies) { p.OnePerPerson = false })
	slot := s.Slot(t, 5)
	first := s.Book(t, slot, 1)
	second := s.Hold(t, slot, 1) // of the same person
	again := s.ConfirmRequest(second)
	again.Contact.Email = first.Email
	if _, err := s.Store.Confirm(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	english := s.ConfirmRequest(s.Hold(t, slot, 1))
	english.Contact.Locale = "en"
	reader, err := s.Store.Confirm(t.Context(), english)
	if err != nil {
		t.Fatal(err)
	}
	caller, _, err := s.Store.Book(t.Context(), store.BookRequest{TenantID: slot.TenantID, SlotID: slot.ID, PartySize: 1, Contact: store.Contact{Name: "電話 の人", Locale: "ja"}, Actor: shop.Staff})
	if err != nil {
		t.Fatal(err)
	}
	s.Hold(t, slot, 1) // nobody yet
	waiting := s.Join(t, slot, 1)
	version := s.Read(t, slot).Version

	sent, err := s.Store.SendNotice(t.Context(), noticeTo(slot, "one"))
	if err != nil || sent.Told != 3 || len(sent.Callers) != 1 || sent.Callers[0] != caller.ID || sent.Already {
		t.Fatalf("%+v, %v", sent, err)
	}
	to := map[string]string{}
	for _, m := range notices(t, s, slot) {
		to[m.Recipient] = fmt.Sprint(m.Payload["subject"])
	}
	if len(to) != 3 || to[first.Email] != "駐車場" || to[reader.Email] != "Parking" || to[waiting.Email] != "駐車場" {
		t.Errorf("%v", to)
	}
	if got := s.Read(t, slot); got.Version != version+1 || got.Taken != 5 {
		t.Errorf("version %d after %d, taken %d", got.Version, version, got.Taken)
	}
	history, err := s.Store.History(t.Context(), slot.TenantID, slot.ID, version, 10)
	if err != nil || len(history) != 1 || history[0].Kind != store.EventNoticeSent {
		t.Fatal(history, err)
	}
	for name := range history[0].Details {
		switch name {
		case "key", "booked", "waiting", "told", "callers":
		default:
			t.Errorf("the event says %s", name)
		}
	}

	// The same press once more is the same message; other words are another.
	if sent, err = s.Store.SendNotice(t.Context(), noticeTo(slot, "one")); err != nil || !sent.Already || len(notices(t, s, slot)) != 3 {
		t.Errorf("%+v, %v, %d notices", sent, err, len(notices(t, s, slot)))
	}
	other := noticeTo(slot, "one")
	other.Texts = map[string]store.NoticeText{"ja": {Subject: "訂正", Text: "使えます。"}}
	other.Waiting = false
	if sent, err = s.Store.SendNotice(t.Context(), other); err != nil || sent.Already || sent.Told != 2 {
		t.Errorf("%+v, %v", sent, err)
	}
	stale := noticeTo(slot, "two")
	stale.Version = &version
	if _, err = s.Store.SendNotice(t.Context(), stale); !errors.Is(err, store.Conflict) {
		t.Errorf("a stale form is answered with %v", err)
	}
}

func TestANoticePressedTwiceAtOnceIsSentOnce(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	for range 10 {
		slot := s.Slot(t, 2)
		s.Book(t, slot, 1)
		barrier, wait := storetest.Barrier(4), sync.WaitGroup{}
		fresh := make(chan bool, 4)
		for range 4 {
			wait.Go(func() {
				barrier()
				sent, err := s.Store.SendNotice(t.Context(), noticeTo(slot, "k"))
				if err != nil {
					t.Error(err)
				}
				fresh <- !sent.Already
			})
		}
		wait.Wait()
		close(fresh)
		n := 0
		for f := range fresh {
			if f {
				n++
			}
		}
		if n != 1 || len(notices(t, s, slot)) != 1 {
			t.Errorf("%d presses sent %d notices", n, len(notices(t, s, slot)))
		}
	}
}

func TestANoticeToWhoHasLeftIsNotSent(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot, other := s.Slot(t, 4), s.Slot(t, 4)
	stays, leaves, moves := s.Book(t, slot, 1), s.Book(t, slot, 1), s.Book(t, slot, 1)
	if _, err := s.Store.SendNotice(t.Context(), noticeTo(slot, "k")); err != nil {
		t.Fatal(err)
	}
	s.Cancel(t, leaves)
	if _, err := s.Store.Move(t.Context(), store.MoveRequest{TenantID: moves.TenantID, ID: moves.ID, TargetSlot: other.ID, TargetTerms: other.TermsVersion, Actor: shop.Customer}); err != nil {
		t.Fatal(err)
	}
	for _, m := range notices(t, s, slot) {
		l, err := s.Store.Letter(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		if want := m.Recipient != stays.Email; l.Pointless != want {
			t.Errorf("to %s: pointless %v", *m.SubjectID, l.Pointless)
		}
	}
	if _, err := s.Store.CancelSlot(t.Context(), store.SlotRequest{TenantID: slot.TenantID, SlotID: slot.ID, Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	for _, m := range notices(t, s, slot) {
		if l, err := s.Store.Letter(t.Context(), m); err != nil || !l.Pointless {
			t.Errorf("the slot is cancelled, and the notice is still sent (%v)", err)
		}
	}
	if _, err := s.Store.SendNotice(t.Context(), noticeTo(slot, "later")); !errors.Is(err, store.Closed) {
		t.Errorf("a notice in a cancelled slot: %v", err)
	}
}
