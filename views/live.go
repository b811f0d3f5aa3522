package views

import (
	"context"
	"net/url"
	"strconv"

	"holdfast/views/i18n"
)

// Live pages: what stands within data-live is kept true by a script that
// listens to that address, which sends the same component again, finished and
// in the reader's language. Without a script it is what was so when the page was made.

// SlotNow is how a slot stands at this moment.
type SlotNow struct {
	ID        string
	State     SlotState
	SeatsLeft int
	Capacity  int
	Waiting   int       // parties in the queue
	Heading   string    // of the page
	Note      *LiveNote // what has become of the page below since it was made; nil: nothing
}

// LiveNote says that the page below is no longer what it was, and leads to what is.
type LiveNote struct {
	Kind string // stands in the page's data-key: another kind is news
	Text string
	Link Link
}

// EntryNow is where an entry stands in the queue at this moment, and what moved it.
type EntryNow struct {
	Place     int // 1 is next
	Of        int
	Broadcast bool // first come, first served: places count no more
	Story     []StoryLine
}

// StoryLine is one thing that happened to a place in the queue.
type StoryLine struct {
	At   string // written
	Time string // RFC 3339
	Text string
}

// Clash is where else the same person waits at the same time.
type Clash struct {
	Rows   []ClashRow
	Action string // the POST that leaves all of them; empty: they are only told
}

// ClashRow is one of them.
type ClashRow struct {
	Entry   string // its id
	URL     string
	Service string
	When    When
	State   EntryState
}

// FieldEntry names a waitlist entry in a form; it may repeat.
const FieldEntry = "entry"

// SlotLiveURL streams how a slot stands, in a language. Shows says which forms the page has
// (hold, join, both, none) and terms which version, so that the stream can say
// when they are no longer right.
func SlotLiveURL(tenant, slot, lang, shows string, terms int) string {
	return path(tenant, "slots", slot, "live") + "?" + url.Values{FieldLang: {lang}, "shows": {shows}, "terms": {strconv.Itoa(terms)}}.Encode()
}

// WaitlistLiveURL streams an entry's place in the queue, in a language. Shows is
// what the page shows, in the stream's own words.
func WaitlistLiveURL(tenant, token, lang, shows string) string {
	return path(tenant, "waitlist", token, "live") + "?" + url.Values{FieldLang: {lang}, "shows": {shows}}.Encode()
}

// ReservationWaitsURL takes the POST that leaves other waitlists (field entry, may repeat).
func ReservationWaitsURL(tenant, token string) string {
	return path(tenant, "reservations", token, "waits")
}

// StaffLiveDayURL streams that something has changed in a day; date is 2006-01-02 in the tenant's zone.
func StaffLiveDayURL(tenant, date string) string {
	return staffPath(tenant, "live") + "?" + url.Values{"date": {date}}.Encode()
}

// StaffLiveSlotURL streams that something has changed in a slot.
func StaffLiveSlotURL(tenant, slot string) string {
	return staffPath(tenant, "live") + "?" + url.Values{"slot": {slot}}.Encode()
}

// slotNow is a page's slot as its live part shows it.
func (v SlotPage) slotNow(ctx context.Context) SlotNow {
	return SlotNow{ID: v.Slot.ID, State: v.State, SeatsLeft: v.SeatsLeft, Capacity: v.Capacity, Waiting: v.Queue, Heading: slotHeading(ctx, v)}
}

// key changes when what has happened is worth saying aloud.
func (v SlotNow) key() string {
	if v.Note != nil {
		return string(v.State) + " " + v.Note.Kind
	}
	return string(v.State)
}

// said is what is spoken then.
func (v SlotNow) said(ctx context.Context) string {
	if v.Note != nil {
		return v.Note.Text
	}
	return markWord(ctx, v.State, v.SeatsLeft)
}

func (v EntryPage) entryNow() EntryNow {
	return EntryNow{Place: v.Place, Of: v.Of, Broadcast: v.Broadcast, Story: v.Story}
}

func (v EntryNow) key() string {
	if v.Broadcast {
		return ""
	}
	return strconv.Itoa(v.Place)
}

func (v EntryNow) said(ctx context.Context) string {
	if v.Broadcast {
		return ""
	}
	return i18n.T(ctx, "entry.place", "place", i18n.In(ctx).Ordinal(v.Place), "n", v.Of)
}

// waitingWords say how many are before somebody who joins now.
func waitingWords(ctx context.Context, n int) string {
	if n > 0 {
		return i18n.T(ctx, "join.ahead", "n", n)
	}
	return i18n.T(ctx, "join.first")
}
