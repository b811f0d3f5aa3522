package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// A stream of server-sent events tells an open page what has changed. It sends
// finished fragments of the page, or only that there is something to fetch. It
// ends by itself after a while, so that what a viewer may see is judged anew,
// and the browser comes back; it ends at once when the program stops.

const (
	// heartbeat is shorter than what proxies call silence.
	heartbeat = 15 * time.Second
	// writeLimit bounds one write: a telephone that has left without a word must not keep a stream.
	writeLimit = 10 * time.Second
	// streamLife is how long a stream lasts before its browser has to come again.
	streamLife = 30 * time.Minute
	// staffStreamLife is shorter, since a membership may have ended.
	staffStreamLife = 5 * time.Minute
	// tickLeast is the least pause between two events of one stream.
	tickLeast = 500 * time.Millisecond
)

// The events of streams. app.js knows them.
const (
	eventNow    = "now"    // the fragment as it is now
	eventTick   = "tick"   // something has changed: fetch it
	eventReload = "reload" // the page is about something else now: fetch it whole
)

// SlotsChanged tells the viewers of this instance that something about slots
// was committed, by whichever instance. It waits for nothing.
func (s *Server) SlotsChanged(refs []store.SlotRef) { s.live.changed(refs) }

// EndStreams ends all streams at once and lets no new ones begin: for a
// program that is stopping, which would otherwise wait for them.
func (s *Server) EndStreams() { s.live.close() }

// streamText is one event; an empty one says nothing.
type streamText struct {
	event, data string
	last        bool // the stream ends with it
}

// getSlotLive streams how a slot stands.
func (s *Server) getSlotLive(w http.ResponseWriter, r *http.Request) error {
	t, id := venue(r), chi.URLParam(r, "slot")
	if !store.ValidID(id) {
		return store.NotFound
	}
	r = inLanguageOfPage(r)
	shows := r.URL.Query().Get("shows")
	if !slices.Contains([]string{showsHold, showsJoin, showsBoth, showsNone}, shows) {
		shows = ""
	}
	terms, err := strconv.Atoi(r.URL.Query().Get("terms"))
	if err != nil {
		terms = 0
	}
	return s.stream(w, r, topic{tenant: t.ID, slot: id}, false, streamLife, func(ctx context.Context, state *liveState) (streamText, error) {
		stale := terms > 0 && terms != state.slot.TermsVersion
		text, err := state.text(fmt.Sprint(i18n.Lang(ctx), shows, stale), func() (string, error) {
			return fragment(ctx, views.LiveSlot(slotNow(ctx, t, state.slot, shows, stale, state.since)))
		})
		return streamText{event: eventNow, data: text}, err
	})
}

// getEntryLive streams an entry's place in the queue, as long as it waits.
func (s *Server) getEntryLive(w http.ResponseWriter, r *http.Request) error {
	t := venue(r)
	e, err := s.entry(r)
	if err != nil {
		return err
	}
	r = inLanguageOfPage(s.inLanguageOf(r, e.Locale))
	shows := r.URL.Query().Get("shows")
	return s.stream(w, r, topic{tenant: t.ID, slot: e.SlotID}, true, streamLife, func(ctx context.Context, state *liveState) (streamText, error) {
		at, waits := slices.BinarySearch(state.queue, e.Position)
		if !waits || entryShows(state.slot, e.PartySize) != shows {
			return streamText{event: eventReload, data: "-", last: true}, nil
		}
		place := at + 1
		text, err := fragment(ctx, views.LiveEntry(views.EntryNow{
			Place: place, Of: len(state.queue), Broadcast: !state.slot.OrderRules,
			Story: story(ctx, t, e.Position, place, state.moments, state.slot.Now),
		}))
		return streamText{event: eventNow, data: text}, err
	})
}

// getStaffLive streams that something has changed in a slot (?slot=), in a day
// (?date=, else today) or in the seven days from one on (?week=).
func (s *Server) getStaffLive(w http.ResponseWriter, r *http.Request) error {
	t := venue(r)
	on := topic{tenant: t.ID}
	if slot := r.URL.Query().Get("slot"); slot != "" {
		if !store.ValidID(slot) {
			return store.NotFound
		}
		on.slot = slot
	} else {
		loc := t.Location()
		day, days := startOfDay(s.now(), loc), 1
		if asked, err := time.ParseInLocation(time.DateOnly, r.URL.Query().Get("date"), loc); err == nil {
			day = asked
		} else if asked, err := time.ParseInLocation(time.DateOnly, r.URL.Query().Get("week"), loc); err == nil {
			day, days = asked, 7
		}
		on.from, on.to = day.Unix(), addDays(day, days).Unix()
	}
	first := true
	return s.stream(w, r, on, false, staffStreamLife, func(context.Context, *liveState) (streamText, error) {
		if first {
			first = false // what the page was made of
			return streamText{}, nil
		}
		return streamText{event: eventTick, data: "-"}, nil
	})
}

// inLanguageOfPage gives a stream the language of the page that it is for.
func inLanguageOfPage(r *http.Request) *http.Request {
	if lang := r.URL.Query().Get(views.FieldLang); i18n.Known(lang) {
		return r.WithContext(i18n.WithLang(r.Context(), lang))
	}
	return r
}

// fragment renders a part of a page.
func fragment(ctx context.Context, c templ.Component) (string, error) {
	var b bytes.Buffer
	if err := c.Render(ctx, &b); err != nil {
		return "", fmt.Errorf("render: %w", err)
	}
	return b.String(), nil
}

// stream answers with a stream of events: what write makes of each state. What
// it makes of two states alike is sent once, ticks apart.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, on topic, queue bool, life time.Duration, write func(context.Context, *liveState) (streamText, error)) error {
	v, err := s.live.watch(on, middleware.GetClientIP(r.Context()), queue)
	switch {
	case errors.Is(err, errTooManyStreams):
		w.Header().Set("Retry-After", "60")
		return problem{http.StatusTooManyRequests, views.ErrorTooMany}
	case err != nil:
		return store.Busy
	}
	defer v.leave()
	state, err := v.first(r.Context())
	if err != nil {
		return err
	}
	if state.absent {
		return store.NotFound
	}
	// The deadline of usual requests is not one for streams; the visitor who leaves is.
	ctx := context.WithoutCancel(r.Context())
	text, err := write(ctx, state)
	if err != nil {
		return err
	}
	if r.Method != http.MethodGet || !strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		// Somebody who follows no streams gets what is so now.
		if text.event != eventNow {
			w.WriteHeader(http.StatusNoContent)
			return nil
		}
		return s.render(w, r, http.StatusOK, templ.Raw(text.data))
	}
	to := eventWriter{w: w, c: http.NewResponseController(w)}
	if err := to.begin(); err != nil {
		return err
	}
	s.follow(whole(r), to, v, life, ctx, text, write)
	return nil
}

// follow writes events until the visitor leaves, the stream has lived long
// enough or the program stops. There is nobody left to tell of an error.
func (s *Server) follow(left context.Context, to eventWriter, v *viewer, life time.Duration, ctx context.Context, text streamText, write func(context.Context, *liveState) (streamText, error)) {
	end := time.NewTimer(life + rand.N(life/10))
	defer end.Stop()
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	sent := ""
	for {
		if text.event != "" && (text.data != sent || text.event == eventTick) {
			sent = text.data
			if to.event(text.event, text.data) != nil || text.last {
				return
			}
			if !breathe(left, v.hub.ended) {
				return
			}
		}
		text = streamText{}
		select {
		case <-left.Done():
			return
		case <-v.hub.ended.Done():
			return
		case <-end.C:
			return
		case <-beat.C:
			if to.comment() != nil {
				return
			}
		case <-v.signal:
			state := v.state()
			if state == nil || state.absent {
				continue
			}
			var err error
			if text, err = write(ctx, state); err != nil {
				s.log.ErrorContext(ctx, "a live page can't be made", "error", err)
				return
			}
		}
	}
}

// breathe keeps a slot under a rush from being sent more often than anybody reads.
func breathe(left, ended context.Context) bool {
	timer := time.NewTimer(tickLeast)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-left.Done():
	case <-ended.Done():
	}
	return false
}

// first waits for the first state that is not older than the viewer.
func (v *viewer) first(ctx context.Context) (*liveState, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-v.hub.ended.Done():
			return nil, store.Busy
		case <-v.signal:
			if state := v.state(); state != nil {
				return state, nil
			}
		}
	}
}

// eventWriter writes server-sent events, each at once.
type eventWriter struct {
	w http.ResponseWriter
	c *http.ResponseController
}

// begin sends the headers, and tells the browser how long to wait before it
// comes again: not all at the same moment.
func (e eventWriter) begin() error {
	// Reading too: past the server's limit for a request its context would end.
	if err := e.c.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	h := e.w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", cacheNever)
	h.Set("X-Accel-Buffering", "no")
	return e.send(fmt.Sprintf("retry: %d\n\n", 2000+rand.N(3000)))
}

func (e eventWriter) event(name, data string) error {
	var b strings.Builder
	b.WriteString("event: " + name + "\n")
	for line := range strings.SplitSeq(data, "\n") {
		b.WriteString("data: " + strings.TrimSuffix(line, "\r") + "\n")
	}
	b.WriteString("\n")
	return e.send(b.String())
}

func (e eventWriter) comment() error { return e.send(":\n\n") }

func (e eventWriter) send(text string) error {
	if err := e.c.SetWriteDeadline(time.Now().Add(writeLimit)); err != nil {
		return err
	}
	if _, err := e.w.Write([]byte(text)); err != nil {
		return err
	}
	return e.c.Flush()
}

type wholeKey struct{}

// whole is the request's own context, which ends when the visitor leaves and
// not with the deadline that usual requests have.
func whole(r *http.Request) context.Context {
	if ctx, ok := r.Context().Value(wholeKey{}).(context.Context); ok {
		return ctx
	}
	return r.Context()
}

// Which forms a slot's page has.
const (
	showsHold = "hold"
	showsJoin = "join"
	showsBoth = "both"
	showsNone = "none"
)

// showing names the forms of a slot's page.
func showing(v views.SlotPage) string {
	switch {
	case v.Hold != nil && v.Join != nil:
		return showsBoth
	case v.Hold != nil:
		return showsHold
	case v.Join != nil:
		return showsJoin
	default:
		return showsNone
	}
}

// slotNow is a slot as it stands, for a page that shows certain forms; stale:
// about terms that have changed since. Since is when it became full or ceased to be; zero: not known.
func slotNow(ctx context.Context, t store.Tenant, slot store.Slot, shows string, stale bool, since time.Time) views.SlotNow {
	v := views.SlotNow{ID: slot.ID, State: slotState(slot), SeatsLeft: slot.SeatsLeft, Capacity: slot.Capacity, Waiting: slot.Waiting}
	if !slot.Bookable() {
		v.SeatsLeft = 0
	}
	switch shows {
	case showsHold, showsBoth:
		v.Heading = i18n.T(ctx, "slot.heading.hold")
	case showsJoin:
		v.Heading = i18n.T(ctx, "slot.heading.full")
	default:
		v.Heading = i18n.T(ctx, "slot.heading")
	}
	note := func(kind, text, link string) {
		v.Note = &views.LiveNote{Kind: kind, Text: text, Link: views.Link{Text: link, URL: views.SlotURL(t.Slug, slot.ID)}}
	}
	open := slot.Status == store.SlotOpen && slot.WindowOpen()
	asks, joins := shows == showsHold || shows == showsBoth, shows == showsJoin || shows == showsBoth
	switch {
	case shows == "":
	case stale:
		note("changed", i18n.T(ctx, "live.changed"), i18n.T(ctx, "live.look"))
	case (asks || joins) && !open:
		note("closed", i18n.T(ctx, "live.closed"), i18n.T(ctx, "live.look"))
	case asks && !slot.Bookable():
		then, link := i18n.T(ctx, "live.full.none"), i18n.T(ctx, "live.look")
		if slot.Joinable() {
			then, link = i18n.T(ctx, "live.full.wait"), i18n.T(ctx, "live.full.join")
		}
		if since.IsZero() {
			note("full", i18n.T(ctx, "live.full.now", "then", then), link)
		} else {
			note("full", i18n.T(ctx, "live.full.at", "time", momentAt(ctx, t, since, slot.Now), "then", then), link)
		}
		v.Heading = i18n.T(ctx, "slot.heading.full")
	case !asks && slot.Bookable():
		free := i18n.T(ctx, "live.free")
		if !since.IsZero() {
			free = i18n.T(ctx, "live.free.at", "time", momentAt(ctx, t, since, slot.Now))
		}
		note("free", free, i18n.T(ctx, "live.free.go"))
		v.Heading = i18n.T(ctx, "live.heading.free")
	case shows == showsNone && slot.Joinable():
		note("open", i18n.T(ctx, "live.closed"), i18n.T(ctx, "live.look"))
	}
	return v
}

// entryShows says in a word what the page of a waiting entry depends on beyond
// its place: when that changes, the page is fetched anew.
func entryShows(slot store.Slot, party int) string {
	var b strings.Builder
	if claimable(slot, party) {
		b.WriteByte('c')
	}
	if !slot.OrderRules {
		b.WriteByte('b')
	}
	if slot.Paused {
		b.WriteByte('p')
	}
	return b.String() + strconv.Itoa(slot.TermsVersion)
}

// claimable reports whether a waiting party could claim seats now.
func claimable(slot store.Slot, party int) bool {
	return !slot.OrderRules && slot.Bookable() && slot.SeatsLeft >= party
}
