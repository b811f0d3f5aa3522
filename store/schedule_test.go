package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

func init() {
	allTenants["schedulesToExtendSQL"] = "looks for work over all tenants, without locks"
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// storeAt gives the shop as of an instant.
func storeAt(t testing.TB, s *shop.Shop, instant string) *store.Store {
	t.Helper()
	when, err := time.Parse(time.RFC3339, instant)
	noError(t, err)
	return s.Store.At(when)
}

func moveTo(t testing.TB, s *shop.Shop, zone string) {
	t.Helper()
	s.Exec(t, "UPDATE tenants SET time_zone = $1 WHERE id = $2", zone, s.Tenant.ID)
	tenant, err := s.Store.TenantByID(t.Context(), s.Tenant.ID)
	noError(t, err)
	s.Tenant = tenant
}

var scheduleKeys struct {
	sync.Mutex
	n int
}

func freshKey() string {
	scheduleKeys.Lock()
	defer scheduleKeys.Unlock()
	scheduleKeys.n++
	return fmt.Sprintf("00000000-0000-4000-8000-%012d", scheduleKeys.n)
}

func weekly(s *shop.Shop, days, first, until string, starts ...int) store.Schedule {
	return store.Schedule{
		ID: freshKey(), TenantID: s.Tenant.ID, ServiceID: s.Service.ID, ResourceID: s.Resource.ID, Capacity: 8, SkipClosed: true,
		Recurrence: store.Recurrence{Rule: "FREQ=WEEKLY;BYDAY=" + days, First: first, Until: until, Starts: starts},
	}
}

func createSchedule(t testing.TB, st *store.Store, c store.Schedule) store.Schedule {
	t.Helper()
	plan, err := st.PreviewSchedule(t.Context(), c)
	noError(t, err)
	made, err := st.CreateSchedule(t.Context(), store.NewSchedule{Schedule: c, Print: plan.Print})
	noError(t, err)
	if made.Result == nil || made.Result.Made != plan.Count("") {
		t.Fatalf("the preview said %d, made were %+v", plan.Count(""), made.Result)
	}
	return made
}

// liveStarts lists the live slots of the tenant, on the wall.
func liveStarts(t testing.TB, s *shop.Shop) []string {
	t.Helper()
	slots, err := s.Store.Slots(context.WithoutCancel(t.Context()), store.SlotQuery{TenantID: s.Tenant.ID, From: time.Unix(0, 0), To: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)})
	noError(t, err)
	var out []string
	for _, slot := range slots {
		if slot.Status != store.SlotCancelled {
			out = append(out, slot.StartsAt.In(s.Tenant.Location()).Format("2006-01-02 15:04"))
		}
	}
	return out
}

func TestAScheduleIncludesItsLastDay(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"Asia/Tokyo", "America/New_York"} {
		for _, start := range []int{19 * 60, 0, 23*60 + 30} {
			t.Run(fmt.Sprint(zone, start), func(t *testing.T) {
				t.Parallel()
				s := shop.New(t, nil)
				moveTo(t, s, zone)
				st := storeAt(t, s, "2027-03-01T00:00:00Z")
				c := createSchedule(t, st, weekly(s, "FR", "2027-04-02", "2027-04-30", start))
				want := []string{}
				for _, day := range []string{"2027-04-02", "2027-04-09", "2027-04-16", "2027-04-23", "2027-04-30"} {
					want = append(want, day+" "+store.ClockText(start))
				}
				if got := liveStarts(t, s); !slices.Equal(got, want) {
					t.Fatalf("made %v", got)
				}
				read, err := st.Schedule(t.Context(), s.Tenant.ID, c.ID)
				noError(t, err)
				if read.Until != "2027-04-30" {
					t.Errorf("the last day is %s", read.Until)
				}
				for range 3 {
					result, err := st.RunSchedule(t.Context(), s.Tenant.ID, c.ID)
					noError(t, err)
					if result.Made != 0 {
						t.Errorf("another run made %d", result.Made)
					}
				}
				longer := changeSchedule(t, st, read, "2027-03-01", func(c *store.Schedule) { c.Until = "2027-05-07" }, store.ChoiceKeep)
				if longer.Result.Made != 1 || longer.ID != c.ID || longer.Pending != nil {
					t.Errorf("a week more made %+v", longer.Result)
				}
				if got := liveStarts(t, s); !slices.Equal(got, append(want, "2027-05-07 "+store.ClockText(start))) {
					t.Errorf("now %v", got)
				}
				// And back, and once more.
				shorter := changeSchedule(t, st, longer, "2027-03-01", func(c *store.Schedule) { c.Until = "2027-04-30" }, store.ChoiceCancel)
				if got := liveStarts(t, s); !slices.Equal(got, want) {
					t.Errorf("shortened to %v", got)
				}
				again := changeSchedule(t, st, shorter, "2027-03-01", func(c *store.Schedule) { c.Until = "2027-05-07" }, store.ChoiceCancel)
				if again.Result.Made != 1 {
					t.Errorf("made longer once more: %+v", again.Result)
				}
			})
		}
	}
}

func changeSchedule(t testing.TB, st *store.Store, c store.Schedule, from string, edit func(*store.Schedule), choice store.ChangeChoice) store.Schedule {
	t.Helper()
	req := store.ScheduleChange{Schedule: c, From: from, NewID: freshKey(), Choice: choice, Reason: "講師の都合", Actor: shop.Staff}
	edit(&req.Schedule)
	plan, err := st.PreviewScheduleChange(t.Context(), req)
	noError(t, err)
	req.Print = plan.Plan.Print
	changed, err := st.ChangeSchedule(t.Context(), req)
	noError(t, err)
	return changed
}

func TestASeriesOfOneDay(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	createSchedule(t, storeAt(t, s, "2027-03-01T00:00:00Z"), weekly(s, "FR", "2027-04-30", "2027-04-30", 19*60))
	if got := liveStarts(t, s); !slices.Equal(got, []string{"2027-04-30 19:00"}) {
		t.Error(got)
	}
}

func TestAScheduleKeepsWallTimeAcrossClockChanges(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	moveTo(t, s, "America/New_York")
	s.Exec(t, "UPDATE services SET duration = '90 minutes'")
	st := storeAt(t, s, "2027-02-20T00:00:00Z")
	createSchedule(t, st, weekly(s, "SU", "2027-03-01", "2027-11-30", 15*60))
	s.Exec(t, "UPDATE services SET duration = '60 minutes'")
	hours := weekly(s, "MO,TU,WE,TH,FR", "2027-03-01", "2027-11-30", store.EveryMinutes(9*60, 17*60, 60, time.Hour)...)
	createSchedule(t, st, hours)
	for start, long := range map[string]time.Duration{
		"2027-03-07T20:00:00Z": 90 * time.Minute, "2027-03-14T19:00:00Z": 90 * time.Minute, "2027-03-21T19:00:00Z": 90 * time.Minute,
		"2027-11-07T20:00:00Z": 90 * time.Minute, "2027-11-08T14:00:00Z": time.Hour,
	} {
		when, err := time.Parse(time.RFC3339, start)
		noError(t, err)
		slot, err := st.SlotAt(t.Context(), s.Tenant.ID, s.Resource.Slug, when)
		if err != nil || slot.EndsAt.Sub(slot.StartsAt) != long {
			t.Errorf("%s: %v, %v long", start, err, slot.EndsAt.Sub(slot.StartsAt))
			continue
		}
		// What is offered can be booked, once its window is open.
		there := s.Store.At(when.Add(-72 * time.Hour))
		held, err := there.Hold(t.Context(), s.HoldRequest(slot, 1))
		noError(t, err)
		_, err = there.Confirm(t.Context(), s.ConfirmRequest(held[0]))
		noError(t, err)
	}
	for _, start := range liveStarts(t, s) {
		day, err := time.Parse("2006-01-02 15:04", start)
		noError(t, err)
		sunday := day.Weekday() == time.Sunday
		if sunday && start[11:] != "15:00" || !sunday && (day.Weekday() == time.Saturday || start[11:] < "09:00" || start[11:] > "16:00") {
			t.Errorf("%s is outside the hours", start)
		}
	}
}

func TestTheClockPushesNoSlotOntoAnother(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	moveTo(t, s, "America/New_York")
	st := storeAt(t, s, "2027-03-01T00:00:00Z")
	c := weekly(s, "SU", "2027-03-14", "2027-03-14", store.EveryMinutes(0, 1440, 60, time.Hour)...)
	plan, err := st.PreviewSchedule(t.Context(), c)
	noError(t, err)
	if plan.Count("") != 23 || plan.Count(store.SkipClock) != 1 {
		t.Errorf("%d made, %d pushed", plan.Count(""), plan.Count(store.SkipClock))
	}
	createSchedule(t, st, c)
}

func TestAPreviewSaysWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	st := storeAt(t, s, "2027-04-26T03:00:00Z") // Monday, 12:00
	_, err := st.AddClosedDay(t.Context(), store.ClosedDay{TenantID: s.Tenant.ID, Day: "2027-04-28", Note: store.Text{"ja": "棚卸し"}})
	noError(t, err)
	in30, _, err := store.OnTheWall("2027-04-30", 9*60+30, s.Tenant.Location())
	noError(t, err)
	other := s.SlotAt(t, 3, in30)
	c := weekly(s, "MO,TU,WE,TH,FR", "2027-04-26", "2027-04-30", 9*60)
	c.SkipHolidays = true
	plan, err := st.PreviewSchedule(t.Context(), c)
	noError(t, err)
	want := []store.SkipReason{store.SkipPast, "", store.SkipClosed, store.SkipHoliday, store.SkipOverlap}
	for i, slot := range plan.Slots {
		if slot.Why != want[i] {
			t.Errorf("%s: %q, want %q", slot.Local(), slot.Why, want[i])
		}
	}
	if with := plan.Slots[4].With; with == nil || with.ID != other.ID {
		t.Errorf("in the way: %+v", with)
	}
	// All or none, but by choice.
	_, err = st.CreateSchedule(t.Context(), store.NewSchedule{Schedule: c, Print: plan.Print})
	if !errors.Is(err, store.Overlaps) {
		t.Errorf("an overlap: %v", err)
	}
	if got := liveStarts(t, s); len(got) != 1 {
		t.Errorf("made in spite of it: %v", got)
	}
	_, err = st.CreateSchedule(t.Context(), store.NewSchedule{Schedule: c, Print: "other", Others: true})
	if !errors.Is(err, store.Conflict) {
		t.Errorf("another plan: %v", err)
	}
	made, err := st.CreateSchedule(t.Context(), store.NewSchedule{Schedule: c, Print: plan.Print, Others: true})
	noError(t, err)
	if made.Result.Made != 1 || !slices.Equal(made.Result.Overlaps, []string{"2027-04-30 09:00"}) {
		t.Errorf("made %+v", made.Result)
	}
}

func TestAMovedOrCancelledSlotIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	st := storeAt(t, s, "2027-03-01T00:00:00Z")
	c := createSchedule(t, st, weekly(s, "FR", "2027-04-02", "2027-04-30", 19*60))
	slots, err := st.Slots(t.Context(), store.SlotQuery{TenantID: s.Tenant.ID, From: s.Start.AddDate(-50, 0, 0), To: s.Start.AddDate(50, 0, 0)})
	noError(t, err)
	_, err = st.CancelSlot(t.Context(), store.SlotRequest{TenantID: s.Tenant.ID, SlotID: slots[0].ID, Actor: shop.Staff})
	noError(t, err)
	_, err = st.ChangeTerms(t.Context(), store.TermsRequest{TenantID: s.Tenant.ID, SlotID: slots[1].ID, StartsAt: slots[1].StartsAt.Add(24 * time.Hour), EndsAt: slots[1].EndsAt.Add(24 * time.Hour), Actor: shop.Staff})
	noError(t, err)
	result, err := st.RunSchedule(t.Context(), s.Tenant.ID, c.ID)
	noError(t, err)
	if result.Made != 0 || len(liveStarts(t, s)) != 4 {
		t.Errorf("made %d: %v", result.Made, liveStarts(t, s))
	}
	// Nor at its new time, when the schedule changes.
	changeSchedule(t, st, c, "2027-03-01", func(c *store.Schedule) { c.Starts = []int{20 * 60} }, store.ChoiceMove)
	want := []string{"2027-04-09 20:00", "2027-04-16 20:00", "2027-04-23 20:00", "2027-04-30 20:00"}
	if got := liveStarts(t, s); !slices.Equal(got, want) {
		t.Errorf("moved to %v", got)
	}
}

func TestManyPressesMakeNothingTwice(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	st := storeAt(t, s, "2027-03-01T00:00:00Z")
	c := weekly(s, "MO,TU,WE,TH,FR", "2027-04-01", "2027-05-31", store.EveryMinutes(9*60, 17*60, 60, time.Hour)...)
	plan, err := st.PreviewSchedule(t.Context(), c)
	noError(t, err)
	var wg sync.WaitGroup
	errs := make([]error, 24)
	for i := range errs {
		wg.Go(func() {
			mine := c
			if i%3 == 1 { // another tab, with a form of its own
				mine.ID = freshKey()
			}
			if i%3 == 2 {
				_, errs[i] = st.RunSchedule(t.Context(), s.Tenant.ID, c.ID)
				return
			}
			_, errs[i] = st.CreateSchedule(t.Context(), store.NewSchedule{Schedule: mine, Print: plan.Print, Others: true})
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil && !errors.Is(err, store.Conflict) && !errors.Is(err, store.Overlaps) && !errors.Is(err, store.NotFound) {
			t.Error(err)
		}
	}
	got := liveStarts(t, s)
	if len(got) != plan.Count("") || len(slices.Compact(slices.Clone(got))) != len(got) {
		t.Errorf("%d slots, the preview said %d", len(got), plan.Count(""))
	}
	schedules, err := st.Schedules(t.Context(), s.Tenant.ID)
	noError(t, err)
	if len(schedules) != 1 {
		t.Errorf("%d schedules", len(schedules))
	}
}

func TestAYearOfShortSlotsIsQuick(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	s.Exec(t, "UPDATE services SET duration = '20 minutes'")
	st := storeAt(t, s, "2027-03-01T00:00:00Z")
	c := weekly(s, "MO,TU,WE,TH,FR,SA,SU", "2027-04-01", "2028-03-31", store.EveryMinutes(9*60, 16*60+45, 20, 20*time.Minute)...)
	began := time.Now()
	made := createSchedule(t, st, c)
	if made.Result.Made != 366*23 {
		t.Errorf("made %d", made.Result.Made)
	}
	t.Logf("%d slots previewed and made in %v", made.Result.Made, time.Since(began))
}

func TestAScheduleWithoutEndGoesOn(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil) // bookings open 60 days before: 88 days are made
	st := storeAt(t, s, "2027-03-01T00:00:00Z")
	c := createSchedule(t, st, weekly(s, "FR", "2027-03-05", "", 19*60))
	if c.MadeUntil != "2027-05-28" || c.Result.Made != 13 {
		t.Fatalf("made %d until %s", c.Result.Made, c.MadeUntil)
	}
	made, err := st.ExtendSchedules(t.Context())
	noError(t, err)
	later := storeAt(t, s, "2027-03-08T00:00:00Z")
	var wg sync.WaitGroup
	total := make([]int, 8)
	for i := range total {
		wg.Go(func() {
			var err error
			if total[i], err = later.ExtendSchedules(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, n := range total {
		made += n
	}
	if made != 1 || len(liveStarts(t, s)) != 14 {
		t.Errorf("a week later %d more, %d in all", made, len(liveStarts(t, s)))
	}
	stopped, err := later.EndSchedule(t.Context(), store.EndRequest{TenantID: s.Tenant.ID, ID: c.ID, Version: c.Version, Stop: true, Actor: shop.Staff})
	noError(t, err)
	if stopped.State != store.ScheduleStopped {
		t.Error(stopped.State)
	}
	if made, err := storeAt(t, s, "2027-06-01T00:00:00Z").ExtendSchedules(t.Context()); err != nil || made != 0 {
		t.Errorf("a stopped one made %d: %v", made, err)
	}
}

// bookAt makes a booking in the slot at a time on the wall.
func bookAt(t testing.TB, s *shop.Shop, st *store.Store, local string) store.Reservation {
	t.Helper()
	when, err := time.ParseInLocation("2006-01-02 15:04", local, s.Tenant.Location())
	noError(t, err)
	slot, err := st.SlotAt(t.Context(), s.Tenant.ID, s.Resource.Slug, when)
	noError(t, err)
	r, _, err := st.Book(t.Context(), store.BookRequest{TenantID: s.Tenant.ID, SlotID: slot.ID, PartySize: 1, Contact: s.Person(), Key: local, Actor: shop.Staff})
	noError(t, err)
	return r
}

func TestChangingAScheduleFromADayOn(t *testing.T) {
	t.Parallel()
	for choice, want := range map[store.ChangeChoice][]string{
		store.ChoiceMove:   {"2027-04-02 19:00", "2027-04-09 19:00", "2027-04-16 19:30", "2027-04-23 19:30", "2027-04-30 19:30"},
		store.ChoiceCancel: {"2027-04-02 19:00", "2027-04-09 19:00", "2027-04-16 19:30", "2027-04-23 19:30", "2027-04-30 19:30"},
		store.ChoiceKeep:   {"2027-04-02 19:00", "2027-04-09 19:00", "2027-04-16 19:30", "2027-04-23 19:00", "2027-04-30 19:30"},
	} {
		t.Run(string(choice), func(t *testing.T) {
			t.Parallel()
			s := shop.New(t, nil)
			st := storeAt(t, s, "2027-03-10T00:00:00Z")
			c := createSchedule(t, st, weekly(s, "FR", "2027-04-02", "2027-04-30", 19*60))
			r := bookAt(t, s, st, "2027-04-23 19:00")
			req := store.ScheduleChange{Schedule: c, From: "2027-04-16", NewID: freshKey(), Choice: choice, Reason: "講師の都合", Actor: shop.Staff}
			req.Starts = []int{19*60 + 30}
			plan, err := st.PreviewScheduleChange(t.Context(), req)
			noError(t, err)
			if !plan.Split || plan.Count(store.EffectMove, true) != 1 || plan.Count(store.EffectMove, false) != 2 || plan.Plan.Count("") != 0 {
				t.Fatalf("the preview: %+v", plan)
			}
			req.Print = plan.Plan.Print
			// Several presses at once are one.
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					if _, err := st.ChangeSchedule(t.Context(), req); err != nil && !errors.Is(err, store.Conflict) {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			after, err := st.ContinueSchedule(t.Context(), s.Tenant.ID, req.NewID, shop.Staff)
			noError(t, err)
			if got := liveStarts(t, s); !slices.Equal(got, want) {
				t.Errorf("now %v, %+v", got, after.Result)
			}
			was, err := st.Schedule(t.Context(), s.Tenant.ID, c.ID)
			noError(t, err)
			if was.Until != "2027-04-15" || after.First != "2027-04-16" || after.Pending != nil {
				t.Errorf("the old one ends on %s, the new one begins on %s, pending %+v", was.Until, after.First, after.Pending)
			}
			for _, id := range []string{was.ID, after.ID} {
				if result, err := st.RunSchedule(t.Context(), s.Tenant.ID, id); err != nil || choice != store.ChoiceKeep && result.Made != 0 {
					t.Errorf("another run made %d: %v", result.Made, err)
				}
			}
			now := s.Reservation(t, r)
			if wantState := map[store.ChangeChoice]store.ReservationState{store.ChoiceMove: store.Confirmed, store.ChoiceCancel: store.Cancelled, store.ChoiceKeep: store.Confirmed}[choice]; now.State != wantState {
				t.Errorf("the booking is %s", now.State)
			}
			var kinds string
			noError(t, s.Pool.QueryRow(t.Context(), "SELECT string_agg(kind, ' ' ORDER BY kind) FROM outbox WHERE tenant_id = $1 AND kind <> 'confirmed'", s.Tenant.ID).Scan(&ptr{&kinds}))
			if wantKinds := map[store.ChangeChoice]string{store.ChoiceMove: "changed", store.ChoiceCancel: "slot_cancelled"}[choice]; kinds != wantKinds {
				t.Errorf("told: %q", kinds)
			}
		})
	}
}

// ptr scans a text that may be null.
type ptr struct{ to *string }

func (p *ptr) Scan(v any) error {
	*p.to = ""
	if text, ok := v.(string); ok {
		*p.to = text
	}
	return nil
}

func TestAChangedDayOfTheWeekMovesWithinTheWeek(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	st := storeAt(t, s, "2027-03-10T00:00:00Z")
	c := createSchedule(t, st, weekly(s, "FR", "2027-04-02", "2027-04-30", 19*60))
	r := bookAt(t, s, st, "2027-04-23 19:00")
	after := changeSchedule(t, st, c, "2027-03-10", func(c *store.Schedule) { c.Rule = "FREQ=WEEKLY;BYDAY=TH" }, store.ChoiceMove)
	// The Friday of the last week has its Thursday too; that of the first lies before the first day.
	want := []string{"2027-04-08 19:00", "2027-04-15 19:00", "2027-04-22 19:00", "2027-04-29 19:00"}
	if got := liveStarts(t, s); !slices.Equal(got, want) {
		t.Errorf("now %v: %+v", got, after.Result)
	}
	slot, err := st.Slot(t.Context(), s.Tenant.ID, s.Reservation(t, r).SlotID)
	noError(t, err)
	if got := slot.StartsAt.In(s.Tenant.Location()).Format("2006-01-02 15:04"); got != "2027-04-22 19:00" || after.Result.Told != 1 {
		t.Errorf("the booking is on %s, told %d", got, after.Result.Told)
	}
}

func TestAWholeDayMovesAlong(t *testing.T) {
	t.Parallel()
	for _, by := range []int{30, -30, 60} {
		s := shop.New(t, nil)
		st := storeAt(t, s, "2027-03-10T00:00:00Z")
		hours := store.EveryMinutes(9*60, 17*60, 60, time.Hour)
		c := createSchedule(t, st, weekly(s, "FR", "2027-04-02", "2027-04-09", hours...))
		bookAt(t, s, st, "2027-04-02 10:00")
		after := changeSchedule(t, st, c, "2027-03-10", func(c *store.Schedule) {
			c.Starts = nil
			for _, h := range hours {
				c.Starts = append(c.Starts, h+by)
			}
		}, store.ChoiceMove)
		if len(after.Result.Failed)+len(after.Result.Overlaps) > 0 || len(liveStarts(t, s)) != 16 || liveStarts(t, s)[0] != "2027-04-02 "+store.ClockText(9*60+by) {
			t.Errorf("by %d: %+v, now %v", by, after.Result, liveStarts(t, s))
		}
	}
}

func TestAChangeThatWasInterruptedGoesOn(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	st := storeAt(t, s, "2027-03-10T00:00:00Z")
	c := createSchedule(t, st, weekly(s, "FR", "2027-04-02", "2027-04-30", 19*60))
	bookAt(t, s, st, "2027-04-23 19:00")
	// As if the power had failed right after the decision, and after one step.
	s.Exec(t, `UPDATE schedules SET result = NULL, starts = '{1200}', version = version + 1, pending = '{"from":"2027-03-10","choice":"move","reason":"r"}' WHERE id = $1`, c.ID)
	when, err := time.ParseInLocation("2006-01-02 15:04", "2027-04-09 19:00", s.Tenant.Location())
	noError(t, err)
	slot, err := st.SlotAt(t.Context(), s.Tenant.ID, s.Resource.Slug, when)
	noError(t, err)
	_, err = st.ChangeTerms(t.Context(), store.TermsRequest{TenantID: s.Tenant.ID, SlotID: slot.ID, StartsAt: slot.StartsAt.Add(time.Hour), EndsAt: slot.EndsAt.Add(time.Hour), Actor: shop.Staff})
	noError(t, err)
	if _, err := st.RunSchedule(t.Context(), s.Tenant.ID, c.ID); !errors.Is(err, store.Conflict) {
		t.Errorf("run in the middle of a change: %v", err)
	}
	after, err := st.ContinueSchedule(t.Context(), s.Tenant.ID, c.ID, shop.Staff)
	noError(t, err)
	want := []string{"2027-04-02 20:00", "2027-04-09 20:00", "2027-04-16 20:00", "2027-04-23 20:00", "2027-04-30 20:00"}
	if got := liveStarts(t, s); !slices.Equal(got, want) || after.Pending != nil || after.Result.Made != 0 {
		t.Errorf("now %v, %+v", got, after.Result)
	}
}

func TestDeletingAScheduleCancelsAndInforms(t *testing.T) {
	t.Parallel()
	for choice, left := range map[store.ChangeChoice]int{store.ChoiceCancel: 0, store.ChoiceKeep: 1} {
		s := shop.New(t, nil)
		st := storeAt(t, s, "2027-03-10T00:00:00Z")
		c := createSchedule(t, st, weekly(s, "FR", "2027-04-02", "2027-04-30", 19*60))
		bookAt(t, s, st, "2027-04-23 19:00")
		plan, err := st.PreviewEndSchedule(t.Context(), s.Tenant.ID, c.ID)
		noError(t, err)
		if plan.Count(store.EffectRemove, true) != 1 || plan.Count(store.EffectRemove, false) != 4 {
			t.Fatalf("the preview: %+v", plan)
		}
		req := store.EndRequest{TenantID: s.Tenant.ID, ID: c.ID, Version: c.Version, Choice: choice, Reason: "終了", Print: "x", Actor: shop.Staff}
		if _, err := st.EndSchedule(t.Context(), req); !errors.Is(err, store.Conflict) {
			t.Errorf("another plan: %v", err)
		}
		req.Print = plan.Plan.Print
		for range 2 {
			ended, err := st.EndSchedule(t.Context(), req)
			noError(t, err)
			if ended.State != store.ScheduleEnded || ended.Pending != nil || ended.Result.Cancelled != 5-left || ended.Result.Told != 1-left {
				t.Errorf("%s: %+v", choice, ended.Result)
			}
		}
		if got := liveStarts(t, s); len(got) != left {
			t.Errorf("%s leaves %v", choice, got)
		}
	}
}

func TestCopyingAWeekKeepsWallTime(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	moveTo(t, s, "America/New_York")
	st := storeAt(t, s, "2027-03-01T12:00:00Z")
	createSchedule(t, st, weekly(s, "MO,SU", "2027-03-01", "2027-03-07", 15*60))
	req := store.CopyRequest{TenantID: s.Tenant.ID, From: "2027-03-01", To: "2027-03-08", Weeks: 2, SkipClosed: true, Key: "k"}
	_, err := st.AddClosedDay(t.Context(), store.ClosedDay{TenantID: s.Tenant.ID, Day: "2027-03-15"})
	noError(t, err)
	plan, err := st.PreviewCopy(t.Context(), req)
	noError(t, err)
	req.Print = plan.Print
	if plan.Sources != 2 || plan.Count("") != 3 || plan.Count(store.SkipClosed) != 1 {
		t.Fatalf("the preview: %+v", plan)
	}
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			if n, err := st.CopyWeek(t.Context(), req); err != nil || n != 3 {
				t.Errorf("copied %d: %v", n, err)
			}
		})
	}
	wg.Wait()
	want := []string{"2027-03-01 15:00", "2027-03-07 15:00", "2027-03-08 15:00", "2027-03-14 15:00", "2027-03-21 15:00"}
	if got := liveStarts(t, s); !slices.Equal(got, want) {
		t.Errorf("now %v", got)
	}
	other := req
	other.Key = "another tab"
	if _, err := st.CopyWeek(t.Context(), other); !errors.Is(err, store.Conflict) {
		t.Errorf("another tab: %v", err)
	}
}

func TestOneSlotByHand(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	st := storeAt(t, s, "2027-03-01T00:00:00Z")
	one := store.SingleSlot{TenantID: s.Tenant.ID, ServiceID: s.Service.ID, ResourceID: s.Resource.ID, Day: "2027-03-05", Minute: 23 * 60, Capacity: 3, Key: "k"}
	first, err := st.AddSlot(t.Context(), one)
	noError(t, err)
	again, err := st.AddSlot(t.Context(), one)
	if err != nil || again != first {
		t.Errorf("the same press: %s %v", again, err)
	}
	one.Key, one.Minute = "l", 23*60+30
	if _, err := st.AddSlot(t.Context(), one); !errors.Is(err, store.Overlaps) {
		t.Errorf("an overlap: %v", err)
	}
	one.Day = "2027-02-28"
	if _, err := st.AddSlot(t.Context(), one); !errors.Is(err, store.TooLate) {
		t.Errorf("in the past: %v", err)
	}
	one.Day, one.ResourceID = "2027-03-06", freshKey()
	if _, err := st.AddSlot(t.Context(), one); !errors.Is(err, store.NotFound) {
		t.Errorf("no such resource: %v", err)
	}
}

func TestResizingMany(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	st := storeAt(t, s, "2027-04-01T00:00:00Z")
	createSchedule(t, st, weekly(s, "FR", "2027-04-02", "2027-04-30", 19*60))
	s.Exec(t, "UPDATE slots SET capacity = 1")
	bookAt(t, s, st, "2027-04-09 19:00")
	r := bookAt(t, s, st, "2027-04-16 19:00")
	slot, err := st.Slot(t.Context(), s.Tenant.ID, r.SlotID)
	noError(t, err)
	_, err = st.Join(t.Context(), s.JoinRequest(slot, 1))
	noError(t, err)
	q := store.ResizeQuery{TenantID: s.Tenant.ID, First: "2027-04-01", Last: "2027-04-29", Weekdays: []time.Weekday{time.Friday}}
	less, err := st.PreviewResize(t.Context(), q, 0, shop.Staff)
	noError(t, err)
	var refused []string
	for _, slot := range less.Slots {
		if slot.Why != "" {
			refused = append(refused, string(slot.Why))
		}
	}
	if len(less.Slots) != 4 || strings.Join(refused, " ") != "below_taken below_taken" {
		t.Errorf("none at all: %d, refused %v", len(less.Slots), refused)
	}
	plan, err := st.PreviewResize(t.Context(), q, 2, shop.Staff)
	noError(t, err)
	offers := 0
	for _, slot := range plan.Slots {
		offers += len(slot.Change.Offered)
	}
	if offers != 1 {
		t.Errorf("%d offers", offers)
	}
	if _, err := st.Resize(t.Context(), q, 2, "x", shop.Staff); !errors.Is(err, store.Conflict) {
		t.Errorf("other slots: %v", err)
	}
	for _, n := range []int{4, 0} { // the second press finds nothing to do
		done, err := st.Resize(t.Context(), q, 2, plan.Print, shop.Staff)
		noError(t, err)
		if len(done.Slots) != n || done.Same != 4-n {
			t.Errorf("%d changed, %d the same", len(done.Slots), done.Same)
		}
	}
}
