package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

// venue is where presses of the model go: a tenant's slots in the order of their keys.
type venue struct {
	Tenant string      `json:"tenant"`
	Slots  []string    `json:"slots"`
	First  []time.Time `json:"first"` // their starts as they were made
}

var tokyo = time.FixedZone("Asia/Tokyo", 9*60*60)

// press makes a press on the store. Refusals are answers; an error is what
// nobody should ever see. ids are those of what was made, by slot.
func (v venue) press(ctx context.Context, st *store.Store, pool *pgxpool.Pool, a act) (out answer, ids map[int]string, err error) {
	ids = map[int]string{}
	actor := shop.Customer
	if a.Staff {
		actor = shop.Staff
	}
	contact := store.Contact{Name: a.Key, Kana: "キャク", Email: a.Person, Locale: "ja"}
	one := store.Press{TenantID: v.Tenant, ID: a.ID, Actor: actor}
	slot := store.SlotRequest{TenantID: v.Tenant, SlotID: v.Slots[a.Slot], Actor: shop.Staff}
	entry := store.EntryRequest{TenantID: v.Tenant, ID: a.ID, Reason: "asked", Actor: shop.Staff}
	accept := store.AcceptRequest{TenantID: v.Tenant, ID: a.ID, TermsVersion: a.Terms, Actor: actor}
	reason := ""
	if a.Extra {
		reason = "a regular"
	}
	gave := func(r store.Reservation, err error) error {
		if err == nil {
			out.ID, out.State = r.ID, string(r.State)
			ids[a.Slot] = r.ID
		}
		return err
	}
	waits := func(e store.Entry, err error) error {
		if err == nil {
			out.ID = e.ID
			ids[a.Slot] = e.ID
		}
		return err
	}
	switch a.Do {
	case "hold", "hold two":
		req := store.HoldRequest{
			TenantID: v.Tenant, Slots: []store.HoldSlot{{ID: v.Slots[a.Slot], TermsVersion: a.Terms}}, PartySize: a.Party, Owner: a.Owner,
			Key: a.Key, Source: store.SourceWeb, Locale: "ja", Actor: shop.Customer,
		}
		if a.Do == "hold two" {
			req.Slots = append(req.Slots, store.HoldSlot{ID: v.Slots[a.To], TermsVersion: a.Both})
		}
		var held []store.Reservation
		if held, err = st.Hold(ctx, req); err != nil {
			break
		}
		for _, r := range held {
			ids[slices.Index(v.Slots, r.SlotID)] = r.ID
		}
		if a.Do == "hold" {
			out.ID, out.State = held[0].ID, string(held[0].State)
		}
	case "confirm":
		err = gave(st.Confirm(ctx, store.ConfirmRequest{
			TenantID: v.Tenant, ID: a.ID, Owner: a.Owner, TermsVersion: a.Terms, Contact: contact, Actor: shop.Customer,
		}))
	case "extend":
		_, err = st.Extend(ctx, store.OwnerPress{Press: one, Owner: a.Owner})
	case "release":
		_, err = st.Release(ctx, store.OwnerPress{Press: one, Owner: a.Owner})
	case "cancel":
		_, err = st.Cancel(ctx, store.CancelRequest{TenantID: v.Tenant, IDs: []string{a.ID}, Actor: actor})
	case "party":
		_, _, err = st.ChangeParty(ctx, store.PartyRequest{TenantID: v.Tenant, ID: a.ID, PartySize: a.Party, Actor: actor})
	case "move":
		err = gave(st.Move(ctx, store.MoveRequest{TenantID: v.Tenant, ID: a.ID, TargetSlot: v.Slots[a.To], TargetTerms: a.Terms, Actor: actor}))
	case "book":
		var r store.Reservation
		r, _, err = st.Book(ctx, store.BookRequest{
			TenantID: v.Tenant, SlotID: v.Slots[a.Slot], PartySize: a.Party, Contact: contact, Key: a.Key, ExtraReason: reason,
			Actor: store.Actor{Kind: store.Staff, ID: a.Owner},
		})
		err = gave(r, err)
	case "rebook":
		var r store.Reservation
		r, _, err = st.Rebook(ctx, store.RebookRequest{TenantID: v.Tenant, ID: a.ID, ExtraReason: reason, Actor: shop.Staff})
		err = gave(r, err)
	case "join":
		err = waits(st.Join(ctx, store.JoinRequest{
			TenantID: v.Tenant, SlotID: v.Slots[a.Slot], PartySize: a.Party, Contact: contact, Key: a.Key, Untold: a.Untold, Source: store.SourceWeb, Actor: actor,
		}))
	case "rejoin":
		err = waits(st.Rejoin(ctx, one))
	case "withdraw":
		_, err = st.Withdraw(ctx, one)
	case "decline":
		_, err = st.Decline(ctx, one)
	case "smaller":
		_, err = st.ResizeEntry(ctx, store.EntryPartyRequest{TenantID: v.Tenant, ID: a.ID, PartySize: a.Party, Actor: actor})
	case "accept":
		err = gave(st.Accept(ctx, accept))
	case "claim":
		err = gave(st.Claim(ctx, accept))
	case "offer":
		_, err = st.OfferTo(ctx, entry)
	case "revoke":
		_, err = st.Revoke(ctx, entry)
	case "remove":
		_, err = st.RemoveEntry(ctx, entry)
	case "capacity":
		_, err = st.ChangeCapacity(ctx, store.CapacityRequest{TenantID: v.Tenant, SlotID: v.Slots[a.Slot], Capacity: a.Party, Actor: shop.Staff})
	case "close":
		_, err = st.CloseSlot(ctx, slot)
	case "reopen":
		_, err = st.ReopenSlot(ctx, slot)
	case "pause":
		_, err = st.PauseWaitlist(ctx, slot)
	case "resume":
		_, err = st.ResumeWaitlist(ctx, slot)
	case "cancel slot":
		_, err = st.CancelSlot(ctx, slot)
	case "terms":
		starts, ends := a.times(v.First[a.Slot])
		_, err = st.ChangeTerms(ctx, store.TermsRequest{TenantID: v.Tenant, SlotID: v.Slots[a.Slot], StartsAt: starts, EndsAt: ends, Actor: shop.Staff})
	case "sweep":
		_, err = st.Sweep(ctx)
	case "expire", "switch", "sent":
		err = v.operate(ctx, pool, a)
	default:
		err = fmt.Errorf("there is no step %q", a.Do)
	}
	var refused store.Outcome
	if errors.As(err, &refused) {
		return answer{Outcome: refused}, ids, nil
	}
	return out, ids, err
}

// What an operator could do at the prompt: let time pass for the rows that
// have a deadline. Far enough that no press under way can have been before it.
var operateSQL = map[string][]string{
	"expire": {
		"UPDATE reservations SET shown_until = shown_until - interval '10 days', expires_at = expires_at - interval '10 days' WHERE tenant_id = $1 AND slot_id = $2 AND state = 'held' AND expires_at > now()",
		"UPDATE waitlist_entries SET shown_until = shown_until - interval '10 days', expires_at = expires_at - interval '10 days' WHERE tenant_id = $1 AND slot_id = $2 AND state = 'offered' AND expires_at > now()",
	},
	"switch": {"UPDATE slots SET order_until = now() - interval '10 days' WHERE tenant_id = $1 AND id = $2 AND order_until > now()"},
	"sent":   {"UPDATE outbox SET state = 'sent', sent_at = now() WHERE tenant_id = $1 AND state = 'pending' AND slot_id = $2"},
}

func (v venue) operate(ctx context.Context, pool *pgxpool.Pool, a act) error {
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT 1 FROM slots WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE", v.Tenant, v.Slots[a.Slot]); err != nil {
			return err
		}
		for _, sql := range operateSQL[a.Do] {
			if _, err := tx.Exec(ctx, sql, v.Tenant, v.Slots[a.Slot]); err != nil {
				return err
			}
		}
		return nil
	})
}

// slotView is a slot with all that is in it, as one statement sees it. The
// model gives the same, so the two can be compared.
type slotView struct {
	Head         headView          `json:"head"`
	Reservations []reservationView `json:"reservations"` // by id
	Entries      []entryView       `json:"entries"`      // by position
}

type headView struct {
	Capacity int    `json:"capacity"`
	Taken    int    `json:"taken"`
	Terms    int    `json:"terms"`
	Status   string `json:"status"`
	Paused   bool   `json:"paused"`
	Kept     bool   `json:"kept"`
	Begun    bool   `json:"begun"`
	Starts   int64  `json:"starts"` // instants in microseconds; 0: none
	Order    int64  `json:"order"`
}

type reservationView struct {
	ID        string `json:"id"`
	Key       string `json:"key"`
	Owner     string `json:"owner"`
	State     string `json:"state"`
	Party     int    `json:"party"`
	Extra     int    `json:"extra"`
	Terms     int    `json:"terms"`
	PersonKey string `json:"personKey"`
	Mark      bool   `json:"mark"`
	Extended  bool   `json:"extended"`
	Shown     int64  `json:"shown"` // held
	Expires   int64  `json:"expires"`
}

type entryView struct {
	ID      string `json:"id"`
	Key     string `json:"key"`
	State   string `json:"state"`
	Reason  string `json:"reason"`
	Party   int    `json:"party"`
	Booked  string `json:"booked"`
	Told    int    `json:"told"`
	Shown   int64  `json:"shown"` // offered
	Expires int64  `json:"expires"`
}

const lookSQL = `
SELECT json_build_object(
	'head', json_build_object('capacity', s.capacity, 'taken', s.taken, 'terms', s.terms_version, 'status', s.status, 'paused', s.waitlist_paused,
		'kept', s.kept, 'begun', s.entries_closed_at IS NOT NULL, 'starts', (1000000 * extract(epoch FROM s.starts_at))::bigint, 'order', CASE WHEN isfinite(s.order_until) THEN (1000000 * extract(epoch FROM s.order_until))::bigint ELSE 0 END),
	'reservations', (SELECT coalesce(json_agg(json_build_object('id', r.id, 'key', coalesce(r.idempotency_key, 'entry:' || r.name), 'owner', r.owner, 'state', r.state, 'party', r.party_size,
		'extra', r.extra_seats, 'terms', r.terms_version, 'personKey', CASE WHEN r.state = 'confirmed' THEN coalesce(r.person_key, '') ELSE '' END, 'mark', r.entry_to_close,
		'extended', r.extended_at IS NOT NULL, 'shown', CASE WHEN r.state = 'held' THEN (1000000 * extract(epoch FROM r.shown_until))::bigint ELSE 0 END,
		'expires', CASE WHEN r.state = 'held' THEN (1000000 * extract(epoch FROM r.expires_at))::bigint ELSE 0 END) ORDER BY r.id), '[]')
		FROM reservations r WHERE r.tenant_id = s.tenant_id AND r.slot_id = s.id),
	'entries', (SELECT coalesce(json_agg(json_build_object('id', e.id, 'key', e.name, 'state', e.state, 'reason', CASE WHEN e.state = 'closed' THEN e.reason ELSE '' END, 'party', e.party_size,
		'booked', coalesce(e.reservation_id::text, ''),
		'told', (SELECT count(*) FROM events v WHERE v.tenant_id = e.tenant_id AND v.slot_id = e.slot_id AND v.subject_id = e.id AND v.kind = 'vacancy_told'),
		'shown', CASE WHEN e.state = 'offered' THEN (1000000 * extract(epoch FROM e.shown_until))::bigint ELSE 0 END,
		'expires', CASE WHEN e.state = 'offered' THEN (1000000 * extract(epoch FROM e.expires_at))::bigint ELSE 0 END) ORDER BY e.position), '[]')
		FROM waitlist_entries e WHERE e.tenant_id = s.tenant_id AND e.slot_id = s.id))
FROM slots s WHERE s.tenant_id = $1 AND s.id = $2`

// look reads a slot in one statement, so at one instant.
func (v venue) look(ctx context.Context, pool *pgxpool.Pool, slot int) (slotView, error) {
	var raw []byte
	var view slotView
	if err := pool.QueryRow(ctx, lookSQL, v.Tenant, v.Slots[slot]).Scan(&raw); err != nil {
		return view, err
	}
	return view, json.Unmarshal(raw, &view)
}

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// view is the model as slotView. Whoever looks can't know what only the protocol's own bookkeeping holds.
func (m *slotModel) view() slotView {
	view := slotView{Head: headView{
		Capacity: m.Capacity, Taken: m.Taken, Terms: m.Terms, Status: string(m.Status), Paused: m.Paused, Kept: m.Kept, Begun: m.EntriesClosed,
		Starts: micros(m.Starts), Order: micros(m.OrderUntil),
	}}
	for _, r := range m.Reservations {
		row := reservationView{
			ID: r.ID, Key: r.Key, Owner: r.Owner, State: string(r.State), Party: r.Party, Extra: r.Extra, Terms: r.Terms, PersonKey: r.PersonKey, Mark: r.Mark, Extended: r.Extended,
		}
		if r.State == store.Held {
			row.Shown, row.Expires = micros(r.Shown), micros(r.Expires)
		}
		view.Reservations = append(view.Reservations, row)
	}
	slices.SortFunc(view.Reservations, func(a, b reservationView) int { return strings.Compare(a.ID, b.ID) })
	for _, e := range m.Entries {
		row := entryView{ID: e.ID, Key: e.Key, State: string(e.State), Party: e.Party, Booked: e.Booked, Told: e.Told}
		if e.State == store.EntryClosed {
			row.Reason = e.Reason
		}
		if e.State == store.Offered {
			row.Shown, row.Expires = micros(e.Shown), micros(e.Expires)
		}
		view.Entries = append(view.Entries, row)
	}
	return view
}

// String is what lives in the slot.
func (v slotView) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d/%d terms %d", v.Head.Status, v.Head.Taken, v.Head.Capacity, v.Head.Terms)
	if v.Head.Paused {
		b.WriteString(" paused")
	}
	if v.Head.Kept {
		b.WriteString(" kept")
	}
	for _, r := range v.Reservations {
		if r.State == string(store.Held) || r.State == string(store.Confirmed) {
			fmt.Fprintf(&b, " [%s %s %d %s]", r.Key, r.State, r.Party, r.PersonKey)
		}
	}
	for _, e := range v.Entries {
		if e.State == string(store.Waiting) || e.State == string(store.Offered) {
			fmt.Fprintf(&b, " (%s %s %d)", e.Key, e.State, e.Party)
		}
	}
	return b.String()
}

// anonymous takes off the keys of rows (a
// booking that moves loses its own).
func (v slotView) anonymous() slotView {
	v.Reservations = slices.Clone(v.Reservations)
	for i := range v.Reservations {
		v.Reservations[i].Key = ""
	}
	return v
}

// differs names the first rows in which two views are not the same.
func (v slotView) differs(o slotView) string {
	if v.Head != o.Head {
		return fmt.Sprintf("the slot is\n  %+v, not\n  %+v", v.Head, o.Head)
	}
	if len(v.Reservations) != len(o.Reservations) || len(v.Entries) != len(o.Entries) {
		return fmt.Sprintf("%d reservations and %d entries, not %d and %d", len(v.Reservations), len(v.Entries), len(o.Reservations), len(o.Entries))
	}
	for i, r := range v.Reservations {
		if r != o.Reservations[i] {
			return fmt.Sprintf("a reservation is\n  %+v, not\n  %+v", r, o.Reservations[i])
		}
	}
	for i, e := range v.Entries {
		if e != o.Entries[i] {
			return fmt.Sprintf("an entry is\n  %+v, not\n  %+v", e, o.Entries[i])
		}
	}
	return ""
}
