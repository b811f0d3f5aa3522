package store_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest"
	"holdfast/store/storetest/shop"
)

// changes gathers what a store tells of.
type changes struct {
	mu   sync.Mutex
	told []string
}

func (c *changes) note(_, slot string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told = append(c.told, slot)
}

func (c *changes) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	told := c.told
	c.told = nil
	return told
}

func TestEachCommittedChangeIsToldAndNoOther(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	var c changes
	s.Store = shop.Open(t, s.World, store.Watch{Changed: c.note})
	slot := s.Slot(t, 1)
	told := func(what string, want ...string) {
		t.Helper()
		if got := c.take(); !slices.Equal(got, want) {
			t.Errorf("%s told of %v, want %v", what, got, want)
		}
	}
	told("a new slot")
	held := s.Hold(t, slot, 1)
	told("a hold", slot.ID)
	if _, err := s.Store.Hold(t.Context(), s.HoldRequest(slot, 1)); err != store.SoldOut {
		t.Fatal(err)
	}
	told("a refusal")
	booked, err := s.Store.Confirm(t.Context(), s.ConfirmRequest(held))
	if err != nil {
		t.Fatal(err)
	}
	told("a confirmation", slot.ID)
	if _, err := s.Store.SetAttendance(t.Context(), store.AttendanceRequest{TenantID: slot.TenantID, ID: booked.ID, Attendance: "arrived"}); err != nil {
		t.Fatal(err)
	}
	told("an arrival", slot.ID)
	entry := s.Join(t, slot, 1)
	told("joining", slot.ID)
	if _, err := s.Store.PreviewCancel(t.Context(), store.CancelRequest{TenantID: slot.TenantID, IDs: []string{booked.ID}, Actor: shop.Customer}); err != nil {
		t.Fatal(err)
	}
	told("a preview")
	s.Cancel(t, booked)
	told("a cancellation", slot.ID)
	s.Exec(t, `UPDATE waitlist_entries SET shown_until = now() - interval '1 hour', expires_at = now() - interval '1 hour' WHERE id = $1`, entry.ID)
	if _, err := s.Store.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	told("a sweep", slot.ID)
	if _, err := s.Store.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	told("a sweep of nothing")
}

func TestChangesTravelAsIDsInSmallPieces(t *testing.T) {
	t.Parallel()
	w := storetest.New(t, storetest.Unmigrated())
	from, to := w.Conn(t), w.Conn(t)
	if _, err := to.Exec(t.Context(), "LISTEN "+store.ChangesChannel); err != nil {
		t.Fatal(err)
	}
	var refs []store.SlotRef
	for _, tenant := range []string{"00000000-0000-4000-8000-00000000000", "10000000-0000-4000-8000-00000000000"} {
		for i := range 300 {
			n := string("0123456789abcdef"[i%16])
			refs = append(refs, store.SlotRef{TenantID: tenant + "a", SlotID: strings.Replace("20000000-0000-4000-8000-000000000xyz", "xyz", string("0123456789abcdef"[i/256])+string("0123456789abcdef"[i/16%16])+n, 1)})
		}
	}
	if err := store.PublishChanges(t.Context(), from, append(refs, refs[0])); err != nil {
		t.Fatal(err)
	}
	var got []store.SlotRef
	for len(got) < len(refs) {
		n, err := to.WaitForNotification(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(n.Payload) >= 8000 {
			t.Errorf("a payload of %d bytes", len(n.Payload))
		}
		got = append(got, store.ReadChanges(n.Payload)...)
	}
	if !slices.Equal(got, refs) {
		t.Errorf("%d slots came of %d", len(got), len(refs))
	}
	if err := store.PublishChanges(t.Context(), from, nil); err != nil {
		t.Error(err)
	}
	for _, foreign := range []string{"", "x", "x y", refs[0].TenantID, refs[0].TenantID + " ", refs[0].TenantID + " '; DROP", strings.Repeat(" ", 7000)} {
		if read := store.ReadChanges(foreign); len(read) != 0 {
			t.Errorf("%q was read as %v", foreign, read)
		}
	}
}

func TestWhatIsWatchedIsReadInOneStatement(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	other := s.AddTenant(t, "other", nil)
	var refs []store.SlotRef
	for range 5 {
		slot := s.Slot(t, 2)
		s.Book(t, slot, 1)
		refs = append(refs, store.SlotRef{TenantID: slot.TenantID, SlotID: slot.ID})
	}
	full := s.Slot(t, 1)
	s.Book(t, full, 1)
	first, second := s.Join(t, full, 1), s.Join(t, full, 1)
	at := store.SlotRef{TenantID: full.TenantID, SlotID: full.ID}
	refs = append(refs, at, store.SlotRef{TenantID: other.ID, SlotID: full.ID}) // not the other's
	var slots []store.Slot
	n := s.Count(func() {
		var err error
		if slots, err = s.Store.SlotsOf(t.Context(), refs); err != nil {
			t.Error(err)
		}
	})
	if n != 1 || len(slots) != 6 {
		t.Errorf("%d statements, %d slots", n, len(slots))
	}
	queues, err := s.Store.Queues(t.Context(), refs)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range queues {
		if want := q.SlotID == full.ID && q.TenantID == full.TenantID; want != slices.Equal(q.Positions, []int64{first.Position, second.Position}) || !want && len(q.Positions) > 0 {
			t.Errorf("queue %+v", q)
		}
	}
	day := store.DayRef{TenantID: full.TenantID, From: full.StartsAt.Truncate(time.Hour), To: full.StartsAt.Add(time.Hour)}
	read := func() store.WatchedDay {
		t.Helper()
		days, err := s.Store.WatchedDays(t.Context(), []store.DayRef{day, {TenantID: other.ID, From: day.From, To: day.To}})
		if err != nil || len(days) != 2 {
			t.Fatal(days, err)
		}
		for _, d := range days {
			if d.TenantID == other.ID && len(d.Slots) > 0 {
				t.Error("a day has another tenant's slots")
			}
		}
		return days[slices.IndexFunc(days, func(d store.WatchedDay) bool { return d.TenantID == full.TenantID })]
	}
	before := read()
	if !slices.Contains(before.Slots, full.ID) || !before.FromAt.Equal(day.From) || !before.ToAt.Equal(day.To) {
		t.Errorf("day %+v", before)
	}
	s.Join(t, full, 1)
	if after := read(); after.Pulse == before.Pulse {
		t.Error("the pulse of a day does not change with its slots")
	}
}

func TestMomentsNameNobody(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 1)
	booked := s.Book(t, slot, 1)
	if at, err := s.Store.FilledAt(t.Context(), slot.TenantID, slot.ID); err != nil || at.After(booked.Now) || booked.Now.Sub(at) > time.Minute {
		t.Errorf("filled at %v: %v", at, err)
	}
	first, second := s.Join(t, slot, 1), s.Join(t, slot, 1)
	if _, err := s.Store.Withdraw(t.Context(), store.Press{TenantID: first.TenantID, ID: first.ID, Actor: shop.Customer}); err != nil {
		t.Fatal(err)
	}
	s.Cancel(t, booked)
	moments, err := s.Store.Moments(t.Context(), []store.SlotRef{{TenantID: slot.TenantID, SlotID: slot.ID}})
	if err != nil {
		t.Fatal(err)
	}
	var kinds []store.EventKind
	var positions []int64
	for _, m := range moments {
		kinds, positions = append(kinds, m.Kind), append(positions, m.Position)
		if m.Offered != 1 {
			t.Errorf("%d offered", m.Offered)
		}
	}
	if !slices.Equal(kinds, []store.EventKind{store.EventOffered, store.EventWithdrawn, store.EventJoined, store.EventJoined}) ||
		!slices.Equal(positions, []int64{second.Position, first.Position, second.Position, first.Position}) {
		t.Errorf("%v about %v", kinds, positions)
	}
	if _, err := s.Store.FilledAt(t.Context(), slot.TenantID, s.Slot(t, 1).ID); err != store.NotFound {
		t.Errorf("of a slot that nobody has taken: %v", err)
	}
}
