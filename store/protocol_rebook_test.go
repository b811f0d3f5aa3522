package store_test

import (
	"errors"
	"maps"
	"sync"
	"testing"

	"holdfast/store"
	"holdfast/store/storetest"
	"holdfast/store/storetest/shop"
)

func byStaff(t *testing.T, s *shop.Shop, r store.Reservation) {
	t.Helper()
	_, err := s.Store.Cancel(t.Context(), store.CancelRequest{TenantID: r.TenantID, SlotID: r.SlotID, IDs: []string{r.ID}, Actor: shop.Staff})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAWrongCancelIsUndoneWithTheSameContact(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 2)
	req := s.ConfirmRequest(s.Hold(t, slot, 2))
	req.Contact.Note, req.Contact.Answers = "窓の近く", map[string]string{"diet": "none"}
	r, err := s.Store.Confirm(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Store.Rebook(t.Context(), store.RebookRequest{TenantID: r.TenantID, ID: r.ID, Actor: shop.Staff}); !errors.Is(err, store.Over) {
		t.Errorf("what is not cancelled: %v", err)
	}
	byStaff(t, s, r)
	token := s.Store.ReservationToken(r)
	again := store.RebookRequest{TenantID: r.TenantID, ID: r.ID, Actor: shop.Staff}
	stale := s.Read(t, slot).Version - 1
	again.Version = &stale
	if _, _, err := s.Store.Rebook(t.Context(), again); !errors.Is(err, store.Conflict) {
		t.Errorf("a stale form: %v", err)
	}
	again.Version = nil
	before := s.Read(t, slot).Version
	if preview, err := s.Store.PreviewRebook(t.Context(), again); err != nil || preview.FreeSeats != 0 || s.Read(t, slot).Version != before {
		t.Errorf("%+v, %v", preview, err)
	}
	booked, _, err := s.Store.Rebook(t.Context(), again)
	if err != nil {
		t.Fatal(err)
	}
	if booked.ID == r.ID || booked.Number == r.Number || booked.Name != r.Name || booked.Email != r.Email || booked.Phone != r.Phone || booked.Note != r.Note ||
		booked.PartySize != 2 || booked.State != store.Confirmed || !maps.Equal(booked.Answers, r.Answers) {
		t.Errorf("%+v", booked)
	}
	// The old link goes on saying that it was cancelled, and opens nothing else.
	if old, err := s.Store.ReservationByToken(t.Context(), r.TenantID, token); err != nil || old.ID != r.ID || old.State != store.Cancelled {
		t.Errorf("%+v, %v", old, err)
	}
	mails, err := s.Store.Messages(t.Context(), store.MessageQuery{TenantID: r.TenantID, SubjectID: booked.ID})
	if err != nil || len(mails) != 1 || mails[0].Kind != store.KindConfirmed || mails[0].Payload["again"] != true {
		t.Errorf("%v, %v", mails, err)
	}
	twice, _, err := s.Store.Rebook(t.Context(), again)
	if err != nil || twice.ID != booked.ID || s.Read(t, slot).Confirmed != 2 {
		t.Errorf("pressed twice: %s, %v", twice.ID, err)
	}
	byStaff(t, s, booked)
	third, _, err := s.Store.Rebook(t.Context(), again)
	if err != nil || third.ID == booked.ID {
		t.Errorf("cancelled once more, and undone: %v", err)
	}
}

// A seat that somebody else has, or that is kept for somebody, is not taken back.
func TestAnUndoTakesNobodysSeat(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 1)
	r := s.Book(t, slot, 1)
	waiting := s.Join(t, slot, 1)
	byStaff(t, s, r)
	req := store.RebookRequest{TenantID: r.TenantID, ID: r.ID, Actor: shop.Staff}
	if _, _, err := s.Store.Rebook(t.Context(), req); !errors.Is(err, store.SoldOut) {
		t.Errorf("offered to another: %v", err)
	}
	if got := s.Entry(t, waiting); got.State != store.Offered {
		t.Errorf("the offer is %s", got.State)
	}
	paused := s.Slot(t, 1)
	kept := s.Book(t, paused, 1)
	s.Join(t, paused, 1)
	if _, err := s.Store.PauseWaitlist(t.Context(), store.SlotRequest{TenantID: paused.TenantID, SlotID: paused.ID, Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	byStaff(t, s, kept)
	if _, _, err := s.Store.Rebook(t.Context(), store.RebookRequest{TenantID: kept.TenantID, ID: kept.ID, Actor: shop.Staff}); !errors.Is(err, store.SoldOut) {
		t.Errorf("kept for another: %v", err)
	}
	req.ExtraReason = "取り消しの間違い"
	booked, _, err := s.Store.Rebook(t.Context(), req)
	if err != nil || booked.ExtraSeats != 1 {
		t.Fatalf("%+v, %v", booked, err)
	}
	if got := s.Read(t, slot); got.Capacity != 2 || got.Taken != 2 {
		t.Errorf("capacity %d, taken %d", got.Capacity, got.Taken)
	}
}

func TestAnUndoRefusesWhatIsOver(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 2)
	r, kept := s.Book(t, slot, 1), s.Book(t, slot, 1)
	byStaff(t, s, r)
	req := store.RebookRequest{TenantID: r.TenantID, ID: r.ID, Actor: shop.Staff}
	if _, err := s.Store.CloseSlot(t.Context(), store.SlotRequest{TenantID: slot.TenantID, SlotID: slot.ID, Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	booked, _, err := s.Store.Rebook(t.Context(), req) // nobody new comes in
	if err != nil {
		t.Fatal(err)
	}
	byStaff(t, s, booked)
	person := store.BookRequest{TenantID: slot.TenantID, SlotID: slot.ID, PartySize: 1, Contact: store.Contact{Name: r.Name, Email: r.Email, Locale: "ja"}, ExtraReason: "電話", Actor: shop.Staff}
	if _, _, err := s.Store.Book(t.Context(), person); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Store.Rebook(t.Context(), req); !errors.Is(err, store.AlreadyBooked) {
		t.Errorf("who has booked anew: %v", err)
	}
	byStaff(t, s, kept)
	s.Exec(t, "UPDATE reservations SET name = '', email = '', phone = '', person_key = NULL, erased_at = now() WHERE id = $1", kept.ID)
	if _, _, err := s.Store.Rebook(t.Context(), store.RebookRequest{TenantID: kept.TenantID, ID: kept.ID, Actor: shop.Staff}); !errors.Is(err, store.Over) {
		t.Errorf("who was erased: %v", err)
	}
	if _, err := s.Store.CancelSlot(t.Context(), store.SlotRequest{TenantID: slot.TenantID, SlotID: slot.ID, Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Store.Rebook(t.Context(), req); !errors.Is(err, store.Closed) {
		t.Errorf("a slot that does not take place: %v", err)
	}
}

// Two undo the same cancel while a customer takes the seat.
func TestAnUndoRacesForTheSeat(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	for range 20 {
		slot := s.Slot(t, 1)
		r := s.Book(t, slot, 1)
		byStaff(t, s, r)
		barrier, wait := storetest.Barrier(3), sync.WaitGroup{}
		var made [2]store.Reservation
		var errs [2]error
		var holdErr error
		for i := range 2 {
			wait.Go(func() {
				barrier()
				made[i], _, errs[i] = s.Store.Rebook(t.Context(), store.RebookRequest{TenantID: r.TenantID, ID: r.ID, Actor: shop.Staff})
			})
		}
		wait.Go(func() {
			barrier()
			_, holdErr = s.Store.Hold(t.Context(), s.HoldRequest(slot, 1))
		})
		wait.Wait()
		switch {
		case errs[0] == nil && errs[1] == nil && made[0].ID == made[1].ID && errors.Is(holdErr, store.SoldOut):
		case errors.Is(errs[0], store.SoldOut) && errors.Is(errs[1], store.SoldOut) && holdErr == nil:
		default:
			t.Errorf("undone %s, %v and %s, %v; held %v", made[0].ID, errs[0], made[1].ID, errs[1], holdErr)
		}
		if got := s.Read(t, slot); got.Taken != 1 {
			t.Errorf("taken %d", got.Taken)
		}
	}
}

// What a preview tells is what the step then does, and a preview leaves nothing behind.
func TestAPreviewIsTheStepUndone(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := shop.New(t, nil)
	slot := s.Slot(t, 2)
	r := s.Book(t, slot, 2)
	e, next := s.Join(t, slot, 2), s.Join(t, slot, 1)
	press := store.EntryRequest{TenantID: e.TenantID, ID: e.ID, Reason: "理由", Actor: shop.Staff}
	whole := store.SlotRequest{TenantID: slot.TenantID, SlotID: slot.ID, Actor: shop.Staff}
	same := func(name string, preview func() (store.Change, error), step func() (store.Change, error)) {
		t.Helper()
		version := s.Read(t, slot).Version
		told, err := preview()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if s.Read(t, slot).Version != version {
			t.Fatalf("%s: the preview has changed something", name)
		}
		did, err := step()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(told.Offered) != len(did.Offered) || told.FreeSeats != did.FreeSeats || told.Mode != did.Mode || told.Version != did.Version {
			t.Errorf("%s: told %+v, did %+v", name, told, did)
		}
		for i := range told.Offered {
			if told.Offered[i].ID != did.Offered[i].ID {
				t.Errorf("%s: told an offer to another", name)
			}
		}
	}
	size := store.PartyRequest{TenantID: r.TenantID, ID: r.ID, PartySize: 1, Actor: shop.Staff}
	same("party", func() (store.Change, error) { return s.Store.PreviewParty(ctx, size) }, func() (store.Change, error) {
		_, change, err := s.Store.ChangeParty(ctx, size)
		return change, err
	})
	if s.Entry(t, next).State != store.Offered {
		t.Fatal("the smaller one behind was not offered the seat")
	}
	back := store.EntryRequest{TenantID: next.TenantID, ID: next.ID, Reason: "理由", Actor: shop.Staff}
	same("revoke", func() (store.Change, error) { return s.Store.PreviewRevoke(ctx, back) }, func() (store.Change, error) { return s.Store.Revoke(ctx, back) })
	small := store.EntryPartyRequest{TenantID: e.TenantID, ID: e.ID, PartySize: 1, Actor: shop.Staff}
	if _, err := s.Store.PauseWaitlist(ctx, whole); err != nil {
		t.Fatal(err)
	}
	same("entry party", func() (store.Change, error) { return s.Store.PreviewResizeEntry(ctx, small) }, func() (store.Change, error) { return s.Store.ResizeEntry(ctx, small) })
	same("offer", func() (store.Change, error) { return s.Store.PreviewOfferTo(ctx, press) }, func() (store.Change, error) { return s.Store.OfferTo(ctx, press) })
	last := s.Join(t, slot, 1)
	same("revoke while paused", func() (store.Change, error) { return s.Store.PreviewRevoke(ctx, press) }, func() (store.Change, error) { return s.Store.Revoke(ctx, press) })
	same("resume", func() (store.Change, error) { return s.Store.PreviewResume(ctx, whole) }, func() (store.Change, error) { return s.Store.ResumeWaitlist(ctx, whole) })
	if s.Entry(t, last).State != store.Offered {
		t.Fatal("resuming offered nothing")
	}
	if _, err := s.Store.CloseSlot(ctx, whole); err != nil {
		t.Fatal(err)
	}
	same("reopen", func() (store.Change, error) { return s.Store.PreviewReopen(ctx, whole) }, func() (store.Change, error) { return s.Store.ReopenSlot(ctx, whole) })
	gone := s.Join(t, slot, 2)
	off := store.EntryRequest{TenantID: gone.TenantID, ID: gone.ID, Reason: "理由", Actor: shop.Staff}
	same("remove", func() (store.Change, error) { return s.Store.PreviewRemoveEntry(ctx, off) }, func() (store.Change, error) { return s.Store.RemoveEntry(ctx, off) })
	terms := store.TermsRequest{TenantID: slot.TenantID, SlotID: slot.ID, StartsAt: slot.StartsAt.AddDate(0, 0, 3), EndsAt: slot.EndsAt.AddDate(0, 0, 3), Actor: shop.Staff}
	same("terms", func() (store.Change, error) { return s.Store.PreviewTerms(ctx, terms) }, func() (store.Change, error) { return s.Store.ChangeTerms(ctx, terms) })
}

func TestACorrectionOfAnOldContactIsRefused(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	r := s.Book(t, s.Slot(t, 1), 1)
	mark := s.Store.ContactMark(r)
	c := store.Contact{Name: r.Name, Kana: r.Kana, Email: r.Email, Phone: r.Phone, Note: "窓の近く", Locale: "ja"}
	if _, err := s.Store.CorrectContact(t.Context(), store.ContactRequest{TenantID: r.TenantID, ID: r.ID, Contact: c, Actor: shop.Customer}); err != nil {
		t.Fatal(err)
	}
	c.Note = "入口の近く"
	req := store.ContactRequest{TenantID: r.TenantID, ID: r.ID, Contact: c, Actor: shop.Staff, Seen: mark}
	if _, err := s.Store.CorrectContact(t.Context(), req); !errors.Is(err, store.Conflict) {
		t.Errorf("a form that showed an older contact: %v", err)
	}
	req.Seen = s.Store.ContactMark(s.Reservation(t, r))
	if got, err := s.Store.CorrectContact(t.Context(), req); err != nil || got.Note != "入口の近く" {
		t.Errorf("%q, %v", got.Note, err)
	}
}
