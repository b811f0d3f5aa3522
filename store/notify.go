package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Pages that are looked at learn of a change by two ways. The quick one: after
// its commit a step tells Watch.Changed, the instance gathers these for a moment
// and publishes them to all instances with NOTIFY. The sure one: each instance
// reads what its viewers look at every few seconds, in one statement however
// many they are. NOTIFY never stands in the transaction of a step: Postgres takes
// one lock of the whole database when a transaction that notified commits, so
// that slots that have nothing to do with each other would wait for each other.
// A notification that gets lost costs those few seconds and nothing else.

// ChangesChannel is the channel on which instances tell each other which slots have changed.
const ChangesChannel = "holdfast_changes"

// SlotRef names a slot of a tenant.
type SlotRef struct {
	TenantID string
	SlotID   string
}

// changed tells the instance that something about a slot has been committed.
func (s *Store) changed(tenant, slot string) {
	if s.watch.Changed != nil {
		s.watch.Changed(tenant, slot)
	}
}

// longestPayload is less than the 8000 bytes that one notification may have.
const longestPayload = 7900

// payloads packs refs into as few notifications as they need: per tenant a
// line, its id and those of its slots. Ids only; nothing about people.
func payloads(refs []SlotRef) []string {
	refs = slices.Clone(refs)
	slices.SortFunc(refs, func(a, b SlotRef) int {
		return strings.Compare(a.TenantID+a.SlotID, b.TenantID+b.SlotID)
	})
	var all []string
	var b strings.Builder
	last := ""
	for _, ref := range slices.Compact(refs) {
		if b.Len()+len(ref.TenantID)+len(ref.SlotID)+2 > longestPayload {
			all = append(all, b.String())
			b.Reset()
			last = ""
		}
		if ref.TenantID != last {
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(ref.TenantID)
			last = ref.TenantID
		}
		b.WriteByte(' ')
		b.WriteString(ref.SlotID)
	}
	if b.Len() > 0 {
		all = append(all, b.String())
	}
	return all
}

// ReadChanges takes a notification apart. What is no id is left out: anybody
// who may connect to the database may send one.
func ReadChanges(payload string) []SlotRef {
	var refs []SlotRef
	for line := range strings.SplitSeq(payload, "\n") {
		tenant, slots, _ := strings.Cut(line, " ")
		if !ValidID(tenant) {
			continue
		}
		for slot := range strings.SplitSeq(slots, " ") {
			if ValidID(slot) {
				refs = append(refs, SlotRef{tenant, slot})
			}
		}
	}
	return refs
}

const notifySQL = `-- tell of changes
SELECT pg_notify(@channel, payload) FROM unnest(@payloads::text[]) AS payload`

// PublishChanges tells all instances that slots have changed, on a connection
// that is in no transaction and belongs to the caller.
func PublishChanges(ctx context.Context, conn *pgx.Conn, refs []SlotRef) error {
	if len(refs) == 0 {
		return nil
	}
	_, err := conn.Exec(ctx, notifySQL, pgx.StrictNamedArgs{"channel": ChangesChannel, "payloads": payloads(refs)})
	return err
}

func refArrays(refs []SlotRef) (tenants, slots []string) {
	for _, ref := range refs {
		tenants, slots = append(tenants, ref.TenantID), append(slots, ref.SlotID)
	}
	return tenants, slots
}

// These reads take pairs of tenant and slot, since one instance serves all
// tenants and its viewers are to cost one statement; each row is found by its
// whole key, and nothing is locked.
const watchedSlotsSQL = `-- watched slots
` + slotSelect + `JOIN unnest(@tenants::text[]::uuid[], @slots::text[]::uuid[]) AS w (tenant_id, slot_id) ON s.tenant_id = w.tenant_id AND s.id = w.slot_id`

// SlotsOf reads the named slots, of any tenants, in one statement; those that do not exist are left out.
func (s *Store) SlotsOf(ctx context.Context, refs []SlotRef) ([]Slot, error) {
	if len(refs) == 0 {
		return nil, nil
	}
	tenants, slots := refArrays(refs)
	return list[Slot](ctx, s.db, watchedSlotsSQL, pgx.StrictNamedArgs{"at": s.at, "tenants": tenants, "slots": slots})
}

// Queue is who waits for a slot, without saying who they are.
type Queue struct {
	TenantID  string
	SlotID    string
	Positions []int64 // of the waiting entries, in order: an entry's place is one more than its index
}

const queuesSQL = `-- queues of watched slots
SELECT w.tenant_id::text, w.slot_id::text,
	ARRAY(SELECT e.position FROM waitlist_entries e WHERE e.tenant_id = w.tenant_id AND e.slot_id = w.slot_id AND e.state = 'waiting' ORDER BY e.position) AS positions
FROM unnest(@tenants::text[]::uuid[], @slots::text[]::uuid[]) AS w (tenant_id, slot_id)`

// Queues reads the queues of the named slots in one statement.
func (s *Store) Queues(ctx context.Context, refs []SlotRef) ([]Queue, error) {
	if len(refs) == 0 {
		return nil, nil
	}
	tenants, slots := refArrays(refs)
	return list[Queue](ctx, s.db, queuesSQL, pgx.StrictNamedArgs{"tenants": tenants, "slots": slots})
}

// DayRef names the slots of a tenant that begin in a stretch of time, From included, To not.
type DayRef struct {
	TenantID string
	From, To time.Time
}

// WatchedDay is how the slots of a DayRef stand.
type WatchedDay struct {
	TenantID string
	FromAt   time.Time
	ToAt     time.Time
	Pulse    int64    // another number after each numbered event and each new slot
	Slots    []string // ids
}

const daysSQL = `-- watched days
SELECT w.tenant_id::text, w.from_at, w.to_at, d.pulse, d.slots
FROM unnest(@tenants::text[]::uuid[], @froms::timestamptz[], @tos::timestamptz[]) AS w (tenant_id, from_at, to_at)
CROSS JOIN LATERAL (
	SELECT coalesce(sum(s.version) + 1000003 * count(*), 0)::bigint AS pulse, coalesce(array_agg(s.id::text ORDER BY s.id), '{}') AS slots
	FROM slots s WHERE s.tenant_id = w.tenant_id AND s.starts_at >= w.from_at AND s.starts_at < w.to_at
) d`

// WatchedDays reads how watched days stand, of any tenants, in one statement.
func (s *Store) WatchedDays(ctx context.Context, refs []DayRef) ([]WatchedDay, error) {
	if len(refs) == 0 {
		return nil, nil
	}
	var tenants []string
	var froms, tos []time.Time
	for _, ref := range refs {
		tenants, froms, tos = append(tenants, ref.TenantID), append(froms, ref.From), append(tos, ref.To)
	}
	return list[WatchedDay](ctx, s.db, daysSQL, pgx.StrictNamedArgs{"tenants": tenants, "froms": froms, "tos": tos})
}
