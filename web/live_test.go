package web

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
	"holdfast/views"
)

// told is one event of a stream.
type told struct{ event, data string }

// stream is an open stream of events, as a browser follows it.
type stream struct {
	t      testing.TB
	status int
	header http.Header
	events chan told // closed when the stream has ended
	close  func()
}

// listen opens a stream.
func (b *browser) listen(path string) *stream {
	b.t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(b.t.Context()))
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.site.addr+path, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	for name, values := range b.header {
		req.Header[name] = values
	}
	req.Header.Set("Accept", "text/event-stream")
	resp, err := b.client.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	st := &stream{t: b.t, status: resp.StatusCode, header: resp.Header, events: make(chan told, 100), close: cancel}
	go func() {
		defer close(st.events)
		defer resp.Body.Close()
		var e told
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			switch name, value, _ := strings.Cut(lines.Text(), ": "); name {
			case "event":
				e.event = value
			case "data":
				e.data += value + "\n"
			case "":
				if e.event != "" {
					st.events <- e
				}
				e = told{}
			}
		}
	}()
	b.t.Cleanup(cancel)
	return st
}

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// next waits for the next event.
func (st *stream) next(event string) string {
	st.t.Helper()
	select {
	case e, ok := <-st.events:
		if !ok || e.event != event {
			st.t.Fatalf("event %+v (open: %v), want %s", e, ok, event)
		}
		return e.data
	case <-time.After(patience):
		st.t.Fatalf("no event %s", event)
	}
	return ""
}

// until waits for an event whose data has the words.
func (st *stream) until(event, words string) string {
	st.t.Helper()
	for {
		if data := st.next(event); strings.Contains(data, words) {
			return data
		}
	}
}

// ended waits for the end of the stream.
func (st *stream) ended() {
	st.t.Helper()
	for {
		select {
		case _, ok := <-st.events:
			if !ok {
				return
			}
		case <-time.After(patience):
			st.t.Fatal("the stream goes on")
		}
	}
}

// liveURL is the stream that the page names.
func (p page) liveURL() string {
	p.t.Helper()
	found := p.all("data-live", "")
	if len(found) != 1 || attr(found[0], "data-live") == "" {
		p.t.Fatalf("the page names %d streams", len(found))
	}
	return attr(found[0], "data-live")
}

// openLive is a site whose store tells it of changes, as the program's loops do.
func openLive(t testing.TB, s *shop.Shop) *site {
	t.Helper()
	var live *site
	s.Store = shop.Open(t, s.World, store.Watch{Changed: func(tenant, slot string) {
		live.web.SlotsChanged([]store.SlotRef{{TenantID: tenant, SlotID: slot}})
	}})
	live = openSite(t, s)
	t.Cleanup(live.web.EndStreams)
	return live
}

func TestASlotPageFollowsWhatHappens(t *testing.T) {
	t.Parallel()
	s := openLive(t, shop.New(t, func(p *store.Policies) { p.FewLeft = 1 }))
	slot := s.Slot(t, 3)
	b := s.browser(t)
	page := b.get(views.SlotURL("shop", slot.ID)).is(http.StatusOK)
	st := b.listen(page.liveURL())
	if st.status != http.StatusOK || st.header.Get("Content-Type") != "text/event-stream; charset=utf-8" || st.header.Get("X-Accel-Buffering") != "no" ||
		st.header.Get("Cache-Control") != "no-store" || st.header.Get("Content-Encoding") != "" {
		t.Errorf("%d %v", st.status, st.header)
	}
	first := st.next("now")
	if !strings.Contains(page.body, strings.TrimSpace(first)) {
		t.Errorf("a stream begins with what the page shows; it sent\n%s", first)
	}
	s.Book(t, slot, 1)
	st.until("now", `data-seats-left="2"`)
	s.Hold(t, slot, 1)
	st.until("now", `data-state="few" data-seats-left="1"`)
	last := s.Book(t, slot, 1)
	full := st.until("now", `data-state="waitlist" data-seats-left="0"`)
	if !strings.Contains(full, "うまりました") || !strings.Contains(full, `href="`+views.SlotURL("shop", slot.ID)+`"`) || !strings.Contains(full, "キャンセル待ちに登録する") {
		t.Errorf("a full slot is told as\n%s", full)
	}
	// The page of somebody who came to a full slot learns of a seat.
	late := s.browser(t)
	late.header.Set("Accept-Language", "en")
	waits := late.listen(late.get(views.SlotURL("shop", slot.ID)).liveURL())
	waits.until("now", `data-state="waitlist"`)
	s.Cancel(t, last)
	if free := waits.until("now", `data-seats-left="1"`); !strings.Contains(free, "A seat came free at ") || !strings.Contains(free, "Hold my seats") {
		t.Errorf("a free seat is told as\n%s", free)
	}
	if _, err := s.Store.CloseSlot(t.Context(), store.SlotRequest{TenantID: slot.TenantID, SlotID: slot.ID, Reason: "x", Actor: shop.Customer}); err != nil {
		t.Fatal(err)
	}
	st.until("now", `data-state="closed"`)

	// A stream is for one language, that of its page.
	english := s.browser(t)
	english.post("/shop/language", url.Values{views.FieldLang: {"en"}})
	if data := english.listen(english.get(views.SlotURL("shop", slot.ID)).liveURL()).next("now"); !strings.Contains(data, "Not") && strings.Contains(data, "受付") {
		t.Errorf("in English: %s", data)
	}
	// Who follows no streams gets what is so now.
	b.get(page.liveURL()).is(http.StatusOK).need("data-state", "closed")
	b.get("/shop/slots/00000000-0000-4000-8000-000000000000/live").is(http.StatusNotFound)
}

func TestViewersCostNoStatementsOfTheirOwn(t *testing.T) {
	t.Parallel()
	s := openLive(t, shop.New(t, nil))
	slot := s.Slot(t, 50)
	b := s.browser(t)
	path := b.get(views.SlotURL("shop", slot.ID)).liveURL()
	measure := func(viewers int) int {
		var streams []*stream
		for range viewers {
			st := s.browser(t).listen(path)
			st.next("now")
			streams = append(streams, st)
		}
		n := s.Count(func() {
			left := s.Read(t, slot).SeatsLeft
			s.Hold(t, slot, 1)
			var all sync.WaitGroup
			for _, st := range streams {
				all.Go(func() { st.until("now", fmt.Sprintf(`data-seats-left="%d"`, left-1)) })
			}
			all.Wait()
		})
		for _, st := range streams {
			st.close()
			st.ended()
		}
		return n
	}
	// A poll may fall into either.
	if one, many := measure(1), measure(60); many > one+2 {
		t.Errorf("one viewer costs %d statements, sixty cost %d", one, many)
	}
}

func TestAPlaceInTheQueueIsFollowed(t *testing.T) {
	t.Parallel()
	s := openLive(t, shop.New(t, nil))
	slot := s.Slot(t, 1)
	booked := s.Book(t, slot, 1)
	first, second, third := s.Join(t, slot, 1), s.Join(t, slot, 1), s.Join(t, slot, 1)
	b := s.browser(t)
	page := b.get(views.WaitlistURL("shop", s.Store.EntryToken(third))).is(http.StatusOK).need("data-place", "3")
	page.says("キャンセル待ちに登録しました（3番目）").says("まだどなたにも席をご案内していません").says("ご自分で取り消せるのは")
	st := b.listen(page.liveURL())
	st.until("now", `data-place="3"`)
	if _, err := s.Store.Withdraw(t.Context(), store.Press{TenantID: first.TenantID, ID: first.ID, Actor: shop.Customer}); err != nil {
		t.Fatal(err)
	}
	moved := st.until("now", `data-place="2"`)
	if !strings.Contains(moved, "前の方がお待ちをやめたため、2番目になりました") || strings.Contains(moved, first.Name) {
		t.Errorf("told as\n%s", moved)
	}
	s.Cancel(t, booked)
	if moved = st.until("now", `data-place="1"`); !strings.Contains(moved, "前の方に席をご案内したため、1番目になりました") {
		t.Errorf("told as\n%s", moved)
	}
	b.get(views.WaitlistURL("shop", s.Store.EntryToken(third))).says("これまでにお待ちの1組に席をご案内しました").says("（3番目）")
	// Its own turn is another page: it is fetched.
	if _, err := s.Store.Decline(t.Context(), store.Press{TenantID: second.TenantID, ID: second.ID, Actor: shop.Customer}); err != nil {
		t.Fatal(err)
	}
	st.until("reload", "-")
	st.ended()
	b.get(views.WaitlistURL("shop", s.Store.EntryToken(third))).need("data-state", "offered")
}

func TestStreamsEndWithTheProgramAndHaveLimits(t *testing.T) {
	t.Parallel()
	s := openLive(t, shop.New(t, nil))
	s.web.live.perAddress = 2
	slot := s.Slot(t, 2)
	b := s.browser(t)
	path := b.get(views.SlotURL("shop", slot.ID)).liveURL()
	one, two := b.listen(path), b.listen(path)
	one.next("now")
	two.next("now")
	if refused := b.listen(path); refused.status != http.StatusTooManyRequests || refused.header.Get("Retry-After") == "" {
		t.Errorf("a third: %d", refused.status)
	}
	one.close()
	s.Until(t, func() bool {
		three := b.listen(path)
		defer three.close()
		return three.status == http.StatusOK
	}, func() string { return "a viewer who has left keeps a place" })
	s.web.EndStreams()
	two.ended()
	if after := b.listen(path); after.status != http.StatusServiceUnavailable {
		t.Errorf("after the end: %d", after.status)
	}
}

func TestLosingARaceSaysWhenTheSeatWent(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, func(p *store.Policies) { p.WaitlistMode = store.Broadcast }))
	slot, other := s.Slot(t, 1), s.Slot(t, 1)
	b := s.browser(t)
	form := b.get(views.SlotURL("shop", slot.ID))
	booked := s.Book(t, slot, 1)
	at := booked.Now.In(s.Tenant.Location()).Format("15:04")
	lost := b.press(form, "/hold", nil).is(http.StatusConflict).need("data-outcome", "sold_out")
	if !strings.Contains(lost.text(), "に うまりました") || !strings.Contains(lost.text(), ":"+at[3:]) && !strings.Contains(lost.text(), at[:3]) {
		t.Errorf("it does not say when (%s):\n%s", at, lost.text())
	}
	lost.need("data-slot", other.ID)

	// Two wait, one seat comes free, one is faster: the other keeps the place.
	fast, slow := s.Join(t, slot, 1), s.Join(t, slot, 1)
	s.Cancel(t, booked)
	page := b.get(views.WaitlistURL("shop", s.Store.EntryToken(slow)))
	claim, fields := page.form("/claim")
	if _, err := s.Store.Claim(t.Context(), store.AcceptRequest{TenantID: fast.TenantID, ID: fast.ID, TermsVersion: slot.TermsVersion, Actor: shop.Customer}); err != nil {
		t.Fatal(err)
	}
	lost = b.post(claim, fields).is(http.StatusConflict).need("data-state", "waiting").need("data-slot", other.ID)
	lost.says("に うまりました。お待ちの順番は、そのままです")
}

func TestWaitsThatClashAreToldAndLeftInOnePress(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	room := s.AddResource(t, s.Tenant, "studio-b")
	a := s.Slot(t, 1)
	made, err := s.Store.AddSlots(t.Context(), s.Tenant.ID, []store.NewSlot{
		{ServiceID: s.Service.ID, ResourceID: room.ID, StartsAt: a.StartsAt.Add(30 * time.Minute), Capacity: 1},
		{ServiceID: s.Service.ID, ResourceID: room.ID, StartsAt: a.StartsAt.Add(30 * time.Hour), Capacity: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	overlapping, later := made[0], made[1]
	booked := s.Book(t, a, 1)
	for _, slot := range made {
		s.Book(t, slot, 1)
	}
	person := url.Values{views.FieldName: {"山田 花子"}, views.FieldEmail: {"Hanako@example.com"}}
	b := s.browser(t)
	join := func(slot store.Slot) string {
		return b.press(b.get(views.SlotURL("shop", slot.ID)), "/waitlist", person).is(http.StatusSeeOther).location()
	}
	first := join(a)
	b.get(first).says("順番の動き")
	second, third := join(overlapping), join(later)
	page := b.get(first).says("同じ時間帯に、ほかの回もお待ちです").need("href", second)
	if page.has("href", third) || page.hasForm("/waits") {
		t.Error("a wait at another time is told, or something is to be pressed before a win")
	}
	// Whoever only types the same address learns nothing.
	stranger := s.browser(t)
	stranger.header.Set("Accept-Language", "ja")
	if p := stranger.get(first); p.has("href", second) {
		t.Error("another browser learns of the other wait")
	}

	s.Cancel(t, booked)
	offer := b.get(first).need("data-state", "offered")
	link := ""
	for _, n := range offer.all("href", "") {
		if strings.Contains(attr(n, "href"), "/offers/") {
			link = attr(n, "href")
		}
	}
	won := b.press(b.get(link), "/accept", nil).is(http.StatusSeeOther).location()
	page = b.get(won).need("data-state", "confirmed").says("同じ時間帯のキャンセル待ちが残っています")
	if p := stranger.get(won); p.hasForm("/waits") {
		t.Error("another browser may leave the other wait")
	}
	action, fields := page.form("/waits")
	stranger.post(action, fields).is(http.StatusSeeOther)
	b.get(second).need("data-state", "waiting")
	// Only what the page listed is left.
	fields.Add(views.FieldEntry, "00000000-0000-4000-8000-000000000000")
	fields.Add(views.FieldEntry, "nonsense\x00")
	left := b.post(action, fields).is(http.StatusSeeOther)
	if p := b.follow(left).says("1件のキャンセル待ちをやめました"); p.hasForm("/waits") {
		t.Error("the waits are still listed")
	}
	b.get(second).need("data-state", "withdrawn")
	b.get(third).need("data-state", "waiting")
	b.post(action, fields).is(http.StatusSeeOther)
}

// Whoever opens the offer from its mail, in a browser that never was here, has
// shown to have the address: the other waits are told and left there, too. The
// same links without what only the mail has tell nothing.
func TestALinkFromAMailTellsOfTheOtherWaitsInAnyBrowser(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	room := s.AddResource(t, s.Tenant, "studio-b")
	a := s.Slot(t, 1)
	made, err := s.Store.AddSlots(t.Context(), s.Tenant.ID, []store.NewSlot{{ServiceID: s.Service.ID, ResourceID: room.ID, StartsAt: a.StartsAt, Capacity: 1}})
	if err != nil {
		t.Fatal(err)
	}
	booked := s.Book(t, a, 1)
	s.Book(t, made[0], 1)
	who := s.Person()
	join := func(slot store.Slot) store.Entry {
		q := s.JoinRequest(slot, 1)
		q.Contact = who
		e, err := s.Store.Join(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	first, second := join(a), join(made[0])
	other := s.Join(t, made[0], 1)
	mailed := func(e store.Entry, page string) string { return views.Proven(page, s.Store.EntryProof(e)) }
	waitsAt := views.WaitlistURL("shop", s.Store.EntryToken(second))

	b := s.browser(t)
	b.header.Set("Accept-Language", "ja")
	firstPage := views.WaitlistURL("shop", s.Store.EntryToken(first))
	b.get(mailed(first, firstPage)).need("href", mailed(second, waitsAt))
	for name, link := range map[string]string{
		"no proof": firstPage, "another's proof": mailed(other, firstPage), "the proof of another entry": mailed(second, firstPage),
		"nonsense": views.Proven(firstPage, "x"), "of the right form": views.Proven(firstPage, strings.Repeat("a", 32)),
	} {
		if p := b.get(link).is(http.StatusOK); strings.Contains(p.body, waitsAt) {
			t.Errorf("%s: the other wait is told", name)
		}
	}

	s.Cancel(t, booked)
	offered := s.Entry(t, first)
	offer := views.OfferURL("shop", s.Store.OfferToken(offered))
	bare := s.browser(t)
	bare.header.Set("Accept-Language", "ja")
	page := b.get(mailed(offered, offer)).need("data-state", "offered")
	won := b.press(page, "/accept", nil).is(http.StatusSeeOther).location()
	page = b.get(won).need("data-state", "confirmed").says("同じ時間帯のキャンセル待ちが残っています")
	action, fields := page.form("/waits")
	without, _, _ := strings.Cut(won, "?")
	if p := bare.get(without); p.hasForm("/waits") || strings.Contains(p.body, waitsAt) {
		t.Error("the link of the booking alone tells of the other wait")
	}
	cut, _, _ := strings.Cut(action, "?")
	bare.post(cut, fields).is(http.StatusSeeOther)
	if e := s.Entry(t, second); e.State != store.Waiting {
		t.Errorf("without the proof the other wait was ended: %s", e.State)
	}
	fields.Add(views.FieldEntry, other.ID)
	left := b.post(action, fields).is(http.StatusSeeOther)
	b.follow(left).says("1件のキャンセル待ちをやめました")
	if e := s.Entry(t, second); e.State != store.Withdrawn {
		t.Errorf("the other wait is %s", e.State)
	}
	if e := s.Entry(t, other); e.State != store.Waiting {
		t.Errorf("somebody else's wait is %s", e.State)
	}

	// Another address is another proof, and the old one opens nothing more.
	r := s.Reservation(t, store.Reservation{TenantID: first.TenantID, ID: *s.Entry(t, first).ReservationID})
	old := s.Store.ReservationProof(r)
	if !s.Store.ReservationProven(r, old) {
		t.Fatal("the proof of the booking does not hold")
	}
	r.Email = "somebody@example.com"
	if s.Store.ReservationProven(r, old) {
		t.Error("the proof of an address holds for another one")
	}
	r.Email = ""
	if s.Store.ReservationProven(r, s.Store.ReservationProof(r)) {
		t.Error("who has no address has proved it")
	}
}
