package web

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// What the list of things to do shows at most, and how near the end of an offer is near.
const (
	failedShown = 20
	offersShown = 200
	lapsesSoon  = 15 * time.Minute
)

// getToday is one day of the venue. Its statements don't grow with the day.
func (s *Server) getToday(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	c, loc := i18n.In(ctx), t.Location()
	today := startOfDay(s.now(), loc)
	day := today
	if asked, err := time.ParseInLocation(time.DateOnly, r.URL.Query().Get("date"), loc); err == nil && isDay(asked) {
		day = asked
	}
	y, m, d := day.Date()
	n, err := s.loadNames(ctx, t.ID)
	if err != nil {
		return err
	}
	f := decodeDayFilter(r, n)
	dayURL := func(offset int) string {
		return views.StaffFilteredDayURL(t.Slug, f.on(views.StaffDayFilter{Date: time.Date(y, m, d+offset, 0, 0, 0, 0, loc).Format(time.DateOnly)}))
	}
	// One that began yesterday and goes on past midnight is today's too.
	slots, err := s.store.SlotsOver(ctx, f.slots(t.ID, day, addDays(day, 1)))
	if err != nil {
		return err
	}
	shut, err := s.closedDays(ctx, t, day, day)
	if err != nil {
		return err
	}
	ids := make([]string, 0, len(slots))
	for _, slot := range slots {
		ids = append(ids, slot.ID)
	}
	waitlists, err := s.store.Waitlists(ctx, t.ID, ids)
	if err != nil {
		return err
	}
	arrived, err := s.store.Arrived(ctx, t.ID, ids)
	if err != nil {
		return err
	}
	v := views.StaffTodayPage{
		Heading: c.Date(day, loc), Date: day.Format(time.DateOnly), IsToday: day.Equal(today), SelfURL: dayURL(0), PathURL: views.StaffTodayURL(t.Slug),
		PrevURL: dayURL(-1), NextURL: dayURL(1), TodayURL: views.StaffFilteredDayURL(t.Slug, f.on(views.StaffDayFilter{})), UpdatedAt: c.Time(s.now(), loc),
		LiveURL: views.StaffLiveDayURL(t.Slug, day.Format(time.DateOnly)), Keep: f.hidden(), Holiday: holiday(c, t, day),
	}
	if note, closed := shut[v.Date]; closed {
		v.Closed = c.T("staff.calendar.shut")
		if why := note.In(c.Lang()); why != "" {
			v.Closed += c.T("staff.calendar.shut_why", "note", why)
		}
	}
	v.Views = []views.StaffChoice{
		{Text: c.T("staff.calendar.day"), URL: dayURL(0), Current: true},
		{Text: c.T("staff.calendar.week"), URL: views.StaffFilteredCalendarURL(t.Slug, f.on(views.StaffDayFilter{Week: startOfWeek(day).Format(time.DateOnly)}))},
		{Text: c.T("staff.calendar.month"), URL: views.StaffFilteredCalendarURL(t.Slug, f.on(views.StaffDayFilter{Month: day.Format(monthForm)}))},
	}
	v.Choosers = f.choosers(ctx, n, func(other dayFilter) string {
		return views.StaffFilteredDayURL(t.Slug, other.on(views.StaffDayFilter{Date: v.Date}))
	})
	if me(r).can(setUp) {
		v.AddURL = views.StaffScheduleSlotURL(t.Slug, v.Date)
		if len(n.services) == 0 {
			setup, err := s.store.SetupOf(ctx, t.ID)
			if err != nil {
				return err
			}
			if setup.DoneAt == nil {
				v.StartURL = views.StaffSetupURL(t.Slug)
			}
		}
	}
	for offset := -3; offset <= 3; offset++ {
		at := time.Date(y, m, d+offset, 0, 0, 0, 0, loc)
		v.Days = append(v.Days, views.StaffDay{
			URL: dayURL(offset), Weekday: c.Weekday(at.Weekday()), Day: strconv.Itoa(at.Day()), Label: c.DateShort(at, loc), Current: offset == 0, Today: at.Equal(today),
		})
	}
	next := slices.IndexFunc(slots, func(slot store.Slot) bool { return slot.Status != store.SlotCancelled && slot.StartsAt.After(slot.Now) })
	for i, slot := range slots {
		line := todaySlot(ctx, t, n.of(slot), waitlists[slot.ID], arrived[slot.ID])
		line.Before = slot.StartsAt.Before(day)
		if i == next && v.IsToday {
			line.Next, line.Soon = true, i18n.T(ctx, "staff.soon", "time", c.Duration(slot.StartsAt.Sub(slot.Now).Round(time.Minute)))
		}
		v.Slots = append(v.Slots, line)
		if slot.Status == store.SlotCancelled {
			continue
		}
		v.Counts.Booked += line.Bar.Booked
		v.Counts.Held += line.Bar.Held
		v.Counts.Offered += line.Bar.Offered
		v.Counts.Free += line.Bar.Free
		v.Counts.Waiting += line.Waiting
		v.Counts.Arrived += line.Arrived
	}
	if v.Attention, err = s.attention(r, n); err != nil {
		return err
	}
	if v.Page, v.Staff, err = s.staffPage(r, "today", i18n.T(ctx, "staff.nav.today"), v.SelfURL); err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, views.StaffToday(v))
}

// todaySlot is one row of the day.
func todaySlot(ctx context.Context, t store.Tenant, o oneSlot, waitlist []store.Entry, arrived int) views.StaffTodaySlot {
	lang, c, loc := i18n.Lang(ctx), i18n.In(ctx), t.Location()
	v := views.StaffTodaySlot{
		ID: o.ID, URL: views.StaffSlotURL(t.Slug, o.ID), Starts: c.Time(o.StartsAt, loc), Ends: endOf(c, o.Slot, loc), Service: o.service.Name.In(lang),
		Resource: o.resource.Name.In(lang), State: staffState(o.Slot), Paused: o.Paused && o.Status != store.SlotCancelled,
		Running: o.Status != store.SlotCancelled && !o.Now.Before(o.StartsAt) && o.Now.Before(o.EndsAt), Bar: staffBar(o.Slot), Arrived: arrived, Waiting: o.Waiting,
	}
	for _, e := range waitlist {
		switch {
		case e.State == store.Offered:
			v.Offers = append(v.Offers, lapsing(ctx, t, o, e))
		case v.First == "":
			v.First, v.FirstParty = called(ctx, e.Name), e.PartySize
		}
	}
	return v
}

// endOf is the end of a slot as the range says it: 24:00 at midnight, with its date on another day.
func endOf(c *i18n.Catalog, slot store.Slot, loc *time.Location) string {
	return strings.TrimLeft(strings.TrimPrefix(c.TimeRange(slot.StartsAt, slot.EndsAt, loc), c.Time(slot.StartsAt, loc)), " 〜–")
}

// lapsing is an open offer.
func lapsing(ctx context.Context, t store.Tenant, o oneSlot, e store.Entry) views.StaffLapsing {
	v := views.StaffLapsing{
		Entry: e.ID, Name: called(ctx, e.Name), Party: e.PartySize, SlotText: slotText(ctx, t, o), SlotURL: views.StaffSlotURL(t.Slug, o.ID),
		Until: deadlineOf(ctx, t, e.ShownUntil, e.Now, o.OfferShown),
	}
	v.Phone, v.PhoneURL = phone(t, e.Phone)
	return v
}

// slotText names a slot in a few words: date, time, service.
func slotText(ctx context.Context, t store.Tenant, o oneSlot) string {
	return i18n.In(ctx).DateTimeShort(o.StartsAt, t.Location()) + " " + o.service.Name.In(i18n.Lang(ctx))
}

// attention is what somebody should do, over all days: whom to call because
// nobody else tells them, what could not be sent, and whose answer is about to
// be too late. Five statements at most.
func (s *Server) attention(r *http.Request, n names) (views.StaffAttention, error) {
	ctx, t := r.Context(), venue(r)
	var v views.StaffAttention
	failed, err := s.store.UndeliveredMessages(ctx, t.ID, failedShown)
	if err != nil {
		return v, err
	}
	// First come, first served: whoever has no address learns of open seats from a call only.
	offers, vacancies, err := s.store.OffersAndCalls(ctx, t.ID, offersShown)
	if err != nil {
		return v, err
	}
	ids := s.alarmed(t.ID)
	for _, e := range slices.Concat(offers, vacancies) {
		ids = append(ids, e.SlotID)
	}
	for _, m := range failed {
		if m.SlotID != nil {
			ids = append(ids, *m.SlotID)
		}
	}
	found, err := s.store.SlotsByID(ctx, t.ID, slices.Compact(slices.Sorted(slices.Values(ids))))
	if err != nil {
		return v, err
	}
	slots := map[string]oneSlot{}
	for _, slot := range found {
		slots[slot.ID] = n.of(slot)
	}
	v.Alarms = s.alarms(r, slots)
	for _, e := range offers {
		o := slots[e.SlotID]
		switch {
		case e.Email == "":
			v.Calls = append(v.Calls, offerCall(ctx, t, o, e))
		case e.ShownUntil.Sub(e.Now) <= lapsesSoon:
			v.Lapsing = append(v.Lapsing, lapsing(ctx, t, o, e))
		}
	}
	slices.SortStableFunc(vacancies, func(a, b store.Entry) int { return slots[a.SlotID].StartsAt.Compare(slots[b.SlotID].StartsAt) })
	for _, e := range vacancies {
		o := slots[e.SlotID]
		call := offerCall(ctx, t, o, e)
		call.AcceptURL = views.StaffEntryClaimURL(t.Slug, o.ID, e.ID)
		call.Until = views.Deadline{Text: momentAt(ctx, t, o.ClosesAt, o.Now)}
		v.Calls = append(v.Calls, call)
	}
	if v.Webhooks, err = s.webhooksDown(r); err != nil {
		return v, err
	}
	v.Messages, err = s.messageViews(r, failed, slots)
	return v, err
}

// violated are the invariants that do not hold at a venue, as far as the last check saw.
func (s *Server) violated(tenant string) []store.Finding {
	if s.cfg.Alarms == nil {
		return nil
	}
	return s.cfg.Alarms(tenant)
}

// alarmed are the slots that violations are about.
func (s *Server) alarmed(tenant string) []string {
	var ids []string
	for _, f := range s.violated(tenant) {
		if f.SlotID != nil {
			ids = append(ids, *f.SlotID)
		}
	}
	return ids
}

// alarms are the violations, one for each slot and invariant; those that name no
// slot, or one that is not there, are told as one about the venue.
func (s *Server) alarms(r *http.Request, slots map[string]oneSlot) []views.StaffAlarm {
	ctx, t := r.Context(), venue(r)
	var out []views.StaffAlarm
	told := map[[2]string]bool{}
	for _, f := range s.violated(t.ID) {
		v := views.StaffAlarm{Invariant: f.Invariant, URL: views.StaffProofURL(t.Slug), Text: i18n.T(ctx, "staff.alarm.venue", "name", f.Invariant)}
		if f.SlotID != nil {
			if o, ours := slots[*f.SlotID]; ours {
				v.Slot, v.URL, v.Text = o.ID, views.StaffSlotURL(t.Slug, o.ID), i18n.T(ctx, "staff.alarm", "slot", slotText(ctx, t, o), "name", f.Invariant)
			}
		}
		if key := [2]string{v.Slot, v.Invariant}; !told[key] {
			told[key] = true
			out = append(out, v)
		}
	}
	return out
}

// offerCall is somebody to call about the seats that are kept for them.
func offerCall(ctx context.Context, t store.Tenant, o oneSlot, e store.Entry) views.StaffCall {
	v := views.StaffCall{
		Entry: e.ID, Name: called(ctx, e.Name), Kana: e.Kana, Party: e.PartySize, SlotText: slotText(ctx, t, o), SlotURL: views.StaffSlotURL(t.Slug, o.ID),
		Until:     deadlineOf(ctx, t, e.ShownUntil, e.Now, o.OfferShown),
		AcceptURL: views.StaffEntryAcceptURL(t.Slug, o.ID, e.ID), DeclineURL: views.StaffEntryDeclineURL(t.Slug, o.ID, e.ID),
		Version: strconv.FormatInt(o.Version, 10), TermsVersion: strconv.Itoa(o.TermsVersion),
	}
	v.Phone, v.PhoneURL = phone(t, e.Phone)
	return v
}
