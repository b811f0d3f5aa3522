package web

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"holdfast/store"
)

// The hub stands between the viewers of live pages and the database. A viewer
// watches a slot or a day; what is watched is read once for all of its viewers,
// and everything that is watched in one statement (two more where places in a
// queue are shown): when a notification names it, and every few seconds in any
// case. So a thousand people who look at one slot cost what one of them costs,
// and a lost notification costs a few seconds. Without viewers nothing is read.

const (
	// pollEvery is how often everything that is watched is read without a notification.
	pollEvery = 2 * time.Second
	// pollLeast is the least pause between two reads: a rush of changes is seen five times a second.
	pollLeast = 200 * time.Millisecond
	// readLimit bounds one read.
	readLimit = 5 * time.Second

	// How many streams one instance keeps open, in all and for one address. Many
	// people can share an address; each costs a connection and little else.
	streamsInAll      = 4000
	streamsPerAddress = 200
)

// liveReader is what the hub reads: the store.
type liveReader interface {
	SlotsOf(ctx context.Context, refs []store.SlotRef) ([]store.Slot, error)
	Queues(ctx context.Context, refs []store.SlotRef) ([]store.Queue, error)
	Moments(ctx context.Context, refs []store.SlotRef) ([]store.Moment, error)
	WatchedDays(ctx context.Context, refs []store.DayRef) ([]store.WatchedDay, error)
}

// topic is what a viewer watches: a slot, or the slots that begin in a stretch of time (unix seconds).
type topic struct {
	tenant   string
	slot     string
	from, to int64
}

func (t topic) slotRef() store.SlotRef { return store.SlotRef{TenantID: t.tenant, SlotID: t.slot} }

// liveState is what was last read of a topic. It is never changed once a viewer may have it.
type liveState struct {
	absent bool // there is no such slot
	slot   store.Slot
	// since is when the slot became full, or ceased to be; zero where that was not seen.
	since   time.Time
	queue   []int64 // positions of the waiting, where a viewer needs them
	moments []store.Moment
	pulse   int64 // of a day

	mu    sync.Mutex
	texts map[string]string // fragments by kind and language, made once for all viewers
}

// text gives the fragment of a key, and makes it where nobody has asked for it yet.
func (l *liveState) text(key string, make func() (string, error)) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if text, made := l.texts[key]; made {
		return text, nil
	}
	text, err := make()
	if err != nil {
		return "", err
	}
	if l.texts == nil {
		l.texts = map[string]string{}
	}
	l.texts[key] = text
	return text, nil
}

type watched struct {
	viewers map[*viewer]bool
	queues  int // viewers who need the queue
	state   *liveState
	round   uint64 // the reading that state was last found to hold by
	dirty   bool
	told    map[string]bool // slots that a notification has named since the last read
}

// viewer is one open stream.
type viewer struct {
	hub     *hub
	topic   topic
	address string
	queue   bool
	after   uint64 // the first reading that began after this viewer came
	started bool   // has had a state
	// signal has a value when there is something new to look at.
	signal chan struct{}
}

type hub struct {
	read       liveReader
	log        *slog.Logger
	inAll      int
	perAddress int // 0: no limit
	ended      context.Context
	end        context.CancelFunc
	wake       chan struct{}

	mu        sync.Mutex
	topics    map[topic]*watched
	addresses map[string]int
	viewers   int
	round     uint64 // counts the readings
	running   bool
	failing   bool
}

func newHub(read liveReader, log *slog.Logger, perAddress int) *hub {
	h := &hub{
		read: read, log: log, inAll: streamsInAll, perAddress: perAddress, wake: make(chan struct{}, 1),
		topics: map[topic]*watched{}, addresses: map[string]int{},
	}
	h.ended, h.end = context.WithCancel(context.Background())
	return h
}

var (
	errTooManyStreams = errors.New("too many streams")
	errHubEnded       = errors.New("the program is stopping")
)

// watch opens a viewer; leave closes it. The first viewer starts the reading.
func (h *hub) watch(t topic, address string, queue bool) (*viewer, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.ended.Err() != nil:
		return nil, errHubEnded
	case h.viewers >= h.inAll, h.perAddress > 0 && h.addresses[address] >= h.perAddress:
		return nil, errTooManyStreams
	}
	v := &viewer{hub: h, topic: t, address: address, queue: queue, after: h.round + 1, signal: make(chan struct{}, 1)}
	w := h.topics[t]
	if w == nil {
		w = &watched{viewers: map[*viewer]bool{}, told: map[string]bool{}}
		h.topics[t] = w
	}
	w.viewers[v] = true
	h.viewers++
	h.addresses[address]++
	if queue {
		w.queues++
	}
	// What was read before may be older than the viewer's page, so it is read
	// once more: for all who come within one breath together.
	w.dirty = true
	h.nudge()
	if !h.running {
		h.running = true
		go h.run()
	}
	return v, nil
}

func (v *viewer) leave() {
	h := v.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.topics[v.topic]
	if w == nil || !w.viewers[v] {
		return
	}
	delete(w.viewers, v)
	if v.queue {
		w.queues--
	}
	if len(w.viewers) == 0 {
		delete(h.topics, v.topic)
	}
	h.viewers--
	if h.addresses[v.address]--; h.addresses[v.address] == 0 {
		delete(h.addresses, v.address)
	}
	if h.viewers == 0 {
		h.nudge() // the reading ends
	}
}

// state is what was last read; nil as long as that was before the viewer came.
func (v *viewer) state() *liveState {
	v.hub.mu.Lock()
	defer v.hub.mu.Unlock()
	w := v.hub.topics[v.topic]
	if w == nil || w.round < v.after || v.queue && w.state.queue == nil && !w.state.absent {
		return nil
	}
	v.started = true
	return w.state
}

func (v *viewer) tell() {
	select {
	case v.signal <- struct{}{}:
	default: // not yet looked at the last one
	}
}

func (h *hub) nudge() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// changed says that something about slots was committed, here or elsewhere.
func (h *hub) changed(refs []store.SlotRef) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.topics) == 0 {
		return
	}
	byTenant := map[string][]string{}
	for _, ref := range refs {
		byTenant[ref.TenantID] = append(byTenant[ref.TenantID], ref.SlotID)
		if w := h.topics[topic{tenant: ref.TenantID, slot: ref.SlotID}]; w != nil {
			w.dirty, w.told[ref.SlotID] = true, true
			h.nudge()
		}
	}
	for t, w := range h.topics {
		if slots := byTenant[t.tenant]; t.slot == "" && len(slots) > 0 {
			w.dirty = true
			for _, slot := range slots {
				w.told[slot] = true
			}
			h.nudge()
		}
	}
}

// close ends all streams and the reading.
func (h *hub) close() { h.end() }

// run reads until nobody watches any more.
func (h *hub) run() {
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for {
		all := false
		select {
		case <-h.ended.Done():
		case <-h.wake:
		case <-poll.C:
			all = true
		}
		topics, round, over := h.due(all)
		if over {
			return
		}
		if len(topics) > 0 {
			h.refresh(topics, round)
			breath := time.NewTimer(pollLeast)
			select {
			case <-breath.C:
			case <-h.ended.Done():
				breath.Stop()
			}
		}
	}
}

// due takes what is to be read now, and whether the topic needs its queue. It
// reports true when there is nobody to read for.
func (h *hub) due(all bool) (map[topic]bool, uint64, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.viewers == 0 || h.ended.Err() != nil {
		h.running = false
		return nil, 0, true
	}
	h.round++
	topics := map[topic]bool{}
	for t, w := range h.topics {
		if all || w.dirty {
			w.dirty = false
			topics[t] = w.queues > 0
		}
	}
	return topics, h.round, false
}

func (h *hub) refresh(topics map[topic]bool, round uint64) {
	ctx, cancel := context.WithTimeout(h.ended, readLimit)
	defer cancel()
	err := errors.Join(h.refreshSlots(ctx, topics, round), h.refreshDays(ctx, topics, round))
	h.mu.Lock()
	first := err != nil && !h.failing
	h.failing = err != nil
	h.mu.Unlock()
	if first && h.ended.Err() == nil {
		// The next poll tries again; viewers see the state that they have.
		h.log.WarnContext(ctx, "live pages can't be read", "error", err)
	}
}

func (h *hub) refreshSlots(ctx context.Context, topics map[topic]bool, round uint64) error {
	var refs []store.SlotRef
	for t := range topics {
		if t.slot != "" {
			refs = append(refs, t.slotRef())
		}
	}
	if len(refs) == 0 {
		return nil
	}
	slots, err := h.read.SlotsOf(ctx, refs)
	if err != nil {
		return err
	}
	found := make(map[store.SlotRef]*liveState, len(slots))
	for _, slot := range slots {
		found[store.SlotRef{TenantID: slot.TenantID, SlotID: slot.ID}] = &liveState{slot: slot}
	}
	// A queue changes only with its slot's version.
	var queues []store.SlotRef
	h.mu.Lock()
	for t, needed := range topics {
		now := found[t.slotRef()]
		if !needed || now == nil {
			continue
		}
		if w := h.topics[t]; w == nil || w.state == nil || w.state.queue == nil || w.state.slot.Version != now.slot.Version {
			queues = append(queues, t.slotRef())
		}
	}
	h.mu.Unlock()
	if err := h.readQueues(ctx, queues, found); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for t := range topics {
		w := h.topics[t]
		if t.slot == "" || w == nil {
			continue
		}
		now := found[t.slotRef()]
		if now == nil {
			now = &liveState{absent: true}
		}
		w.take(now, round)
	}
	return nil
}

func (h *hub) readQueues(ctx context.Context, refs []store.SlotRef, found map[store.SlotRef]*liveState) error {
	if len(refs) == 0 {
		return nil
	}
	queues, err := h.read.Queues(ctx, refs)
	if err != nil {
		return err
	}
	moments, err := h.read.Moments(ctx, refs)
	if err != nil {
		return err
	}
	for _, q := range queues {
		state := found[store.SlotRef{TenantID: q.TenantID, SlotID: q.SlotID}]
		state.queue = q.Positions
		if state.queue == nil {
			state.queue = []int64{}
		}
	}
	for _, m := range moments {
		state := found[store.SlotRef{TenantID: m.TenantID, SlotID: m.SlotID}]
		state.moments = append(state.moments, m)
	}
	return nil
}

// take puts a new reading in the place of the old one, and tells the viewers
// if they would see a difference or a notification named the slot: staff also
// see what changes no seat.
func (w *watched) take(now *liveState, round uint64) {
	was := w.state
	w.round = round
	told := len(w.told) > 0
	clear(w.told)
	if was != nil && !was.absent && !now.absent {
		if now.queue == nil && was.slot.Version == now.slot.Version {
			now.queue, now.moments = was.queue, was.moments
		}
		now.since = was.since
		if (was.slot.SeatsLeft == 0) != (now.slot.SeatsLeft == 0) {
			now.since = now.slot.Now
		}
	}
	if was != nil && was.absent == now.absent && sameSlot(was.slot, now.slot) && slices.Equal(was.queue, now.queue) && len(was.moments) == len(now.moments) &&
		(was.queue == nil) == (now.queue == nil) {
		w.tell(told)
		return
	}
	w.state = now
	w.tell(true)
}

// tell tells all viewers, or only those who wait for their first state.
func (w *watched) tell(all bool) {
	for v := range w.viewers {
		if all || !v.started {
			v.tell()
		}
	}
}

// sameSlot reports whether two readings would be shown alike.
func sameSlot(a, b store.Slot) bool {
	return a.Version == b.Version && a.SeatsLeft == b.SeatsLeft && a.Waiting == b.Waiting && a.Status == b.Status && a.Capacity == b.Capacity &&
		a.WindowOpen() == b.WindowOpen() && a.OrderRules == b.OrderRules && a.Paused == b.Paused && a.TermsVersion == b.TermsVersion &&
		a.Held == b.Held && a.Offered == b.Offered && a.Confirmed == b.Confirmed && a.FewLeft == b.FewLeft && a.WaitlistMode == b.WaitlistMode
}

func (h *hub) refreshDays(ctx context.Context, topics map[topic]bool, round uint64) error {
	var refs []store.DayRef
	for t := range topics {
		if t.slot == "" {
			refs = append(refs, store.DayRef{TenantID: t.tenant, From: time.Unix(t.from, 0), To: time.Unix(t.to, 0)})
		}
	}
	if len(refs) == 0 {
		return nil
	}
	days, err := h.read.WatchedDays(ctx, refs)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, day := range days {
		w := h.topics[topic{tenant: day.TenantID, from: day.FromAt.Unix(), to: day.ToAt.Unix()}]
		if w == nil {
			continue
		}
		told := slices.ContainsFunc(day.Slots, func(slot string) bool { return w.told[slot] })
		clear(w.told)
		was := w.state
		w.state, w.round = &liveState{pulse: day.Pulse}, round
		w.tell(was == nil || told || was.pulse != day.Pulse)
	}
	return nil
}
