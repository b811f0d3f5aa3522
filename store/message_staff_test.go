package store_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

// colleague hires somebody who wants to be told.
func colleague(t *testing.T, s *shop.Shop, email string, n store.StaffNotices) store.StaffMember {
	t.Helper()
	p, err := s.Store.AddStaff(t.Context(), store.NewStaff{TenantID: s.Tenant.ID, Email: email, Role: store.RoleDesk, PasswordHash: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Store.SaveStaffNotices(t.Context(), s.Tenant.ID, p.ID, n); err != nil {
		t.Fatal(err)
	}
	return p
}

// told counts the notices of a member, by what they are about.
func told(t *testing.T, s *shop.Shop, email string) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, m := range queue(t, s, "") {
		if m.Recipient == email && m.Kind.TellsStaff() {
			about, _ := m.Payload["about"].(string)
			out[about]++
		}
	}
	return out
}

// sweepAll lets several instances sweep at once, as often as it takes.
func sweepAll(t *testing.T, s *shop.Shop) {
	t.Helper()
	for range 2 {
		s.Exec(t, "UPDATE staff_notice_cursors SET looked_at = looked_at - interval '1 minute'")
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if _, err := s.Store.Sweep(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
}

func TestMembersAreToldOfWhatTheyChoseOnceEach(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 9)
	before := s.Book(t, slot, 1) // before anybody wanted to know
	both := colleague(t, s, "both@example.com", store.StaffNotices{Bookings: true, Cancels: true})
	colleague(t, s, "cancels@example.com", store.StaffNotices{Cancels: true})
	colleague(t, s, "failures@example.com", store.StaffNotices{Failures: true})
	colleague(t, s, "nothing@example.com", store.StaffNotices{})
	a := s.Book(t, slot, 2)
	s.Book(t, slot, 1)
	s.Cancel(t, a)
	// What somebody did themselves they know.
	if _, err := s.Store.Cancel(t.Context(), store.CancelRequest{TenantID: s.Tenant.ID, SlotID: slot.ID, IDs: []string{before.ID}, Actor: store.Actor{Kind: store.Staff, ID: both.ID}}); err != nil {
		t.Fatal(err)
	}
	s.Exec(t, "UPDATE outbox SET state = 'failed', last_error = '550 no' WHERE kind = 'cancelled'")
	sweepAll(t, s)
	for email, want := range map[string]map[string]int{
		"both@example.com": {"booked": 2, "cancelled": 1}, "cancels@example.com": {"cancelled": 2}, "failures@example.com": {"failed": 2}, "nothing@example.com": {},
	} {
		if got := told(t, s, email); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, not %v", email, got, want)
		}
	}
	// A notice that fails is not told of: that would never end.
	s.Exec(t, "UPDATE outbox SET state = 'failed' WHERE kind = 'staff_notice'")
	sweepAll(t, s)
	if got := told(t, s, "failures@example.com"); got["failed"] != 2 {
		t.Errorf("notices of notices: %v", got)
	}
	// Each letter can be written; who has left is told nothing.
	for _, m := range queue(t, s, "") {
		if !m.Kind.TellsStaff() {
			continue
		}
		l, err := s.Store.Letter(t.Context(), m)
		if err != nil || l.Pointless || l.News == nil || l.Slot == nil {
			t.Errorf("%+v %v", l, err)
		}
	}
	s.Exec(t, "DELETE FROM memberships WHERE staff_id = $1", both.ID)
	for _, m := range queue(t, s, "") {
		if m.Recipient == "both@example.com" {
			if l, err := s.Store.Letter(t.Context(), m); err != nil || !l.Pointless {
				t.Errorf("%+v %v", l, err)
			}
		}
	}
}

func TestABookingThatIsCommittedLateIsToldToo(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 9)
	colleague(t, s, "a@example.com", store.StaffNotices{Bookings: true})
	first := s.Book(t, slot, 1)
	second := s.Book(t, slot, 1)
	// The later of the two ids is read first: as if the other were not committed yet.
	s.Exec(t, "UPDATE events SET kind = 'confirmed_later' WHERE subject_id = $1 AND kind = 'confirmed'", first.ID)
	sweepAll(t, s)
	if got := told(t, s, "a@example.com"); got["booked"] != 1 {
		t.Fatalf("%v of %s", got, second.ID)
	}
	s.Exec(t, "UPDATE events SET kind = 'confirmed' WHERE kind = 'confirmed_later'")
	sweepAll(t, s)
	if got := told(t, s, "a@example.com"); got["booked"] != 2 {
		t.Errorf("%v", got)
	}
}

func TestTheDigestIsWrittenOnceADayAtItsTime(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	now, err := s.Store.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	local := now.In(s.Tenant.Location())
	minute := func(d time.Duration) *int {
		at := local.Add(d)
		m := at.Hour()*60 + at.Minute()
		return &m
	}
	colleague(t, s, "due@example.com", store.StaffNotices{DigestAt: minute(-time.Minute)})
	colleague(t, s, "later@example.com", store.StaffNotices{DigestAt: minute(2 * time.Hour)})
	colleague(t, s, "long.ago@example.com", store.StaffNotices{DigestAt: minute(-5 * time.Hour)})
	colleague(t, s, "just.now@example.com", store.StaffNotices{DigestAt: minute(-time.Minute)})
	s.Exec(t, "UPDATE staff_notices n SET since = now() - interval '1 day' FROM staff s WHERE s.id = n.staff_id AND s.email <> 'just.now@example.com'")
	sweepAll(t, s)
	due := 1
	if local.Hour() == 0 && local.Minute() == 0 {
		due = 0 // a minute ago was yesterday
	}
	for email, want := range map[string]int{"due@example.com": due, "later@example.com": 0, "long.ago@example.com": 0, "just.now@example.com": 0} {
		if got := told(t, s, email)[""]; got != want {
			t.Errorf("%s: %d, not %d", email, got, want)
		}
	}
	for _, m := range queue(t, s, "") {
		if l, err := s.Store.Letter(t.Context(), m); err != nil || l.Pointless || l.News == nil || l.News.Date.IsZero() {
			t.Errorf("%+v %v", l, err)
		}
	}
}

func TestOwnWordsAreKeptByVersion(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	other := s.AddTenant(t, "other", nil)
	me := colleague(t, s, "me@example.com", store.StaffNotices{})
	words := func(tenant string) store.MessageText {
		m, err := s.Store.MessageText(t.Context(), tenant, store.KindConfirmed, "ja")
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	save := func(version int, extra string) error {
		return s.Store.SaveMessageText(t.Context(), s.Tenant.ID, me.ID, store.MessageText{Kind: store.KindConfirmed, Locale: "ja", Extra: extra, Version: version})
	}
	for _, step := range []struct {
		version int
		extra   string
		want    error
	}{
		{0, "一", nil},
		{0, "一", nil},
		{0, "二", store.Conflict},
		{1, "二", nil},
		{1, "二", nil},
		{1, "三", store.Conflict},
		{1, "", store.Conflict},
		{2, "", nil},
		{2, "", nil},
		{2, "四", store.Conflict},
		{0, "五", nil},
	} {
		if err := save(step.version, step.extra); err != step.want {
			t.Errorf("%+v: %v", step, err)
		}
	}
	if m := words(s.Tenant.ID); m.Extra != "五" || m.Version != 1 {
		t.Errorf("%+v", m)
	}
	if m := words(other.ID); m.Extra != "" || m.Version != 0 {
		t.Errorf("another venue has them: %+v", m)
	}
	s.Book(t, s.Slot(t, 1), 1)
	l, err := s.Store.Letter(t.Context(), queue(t, s, store.MessagePending)[0])
	if err != nil || l.Text.Extra != "五" {
		t.Errorf("%+v %v", l.Text, err)
	}
}
