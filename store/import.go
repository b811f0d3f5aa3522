package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Slots and bookings that staff bring in from a file. A line is written at most
// once, however often the file is sent: a slot's id is made of the tenant, the
// file and the line, and a booking's idempotency key of the file and the line.
// What is there already is no fault: the line has been done.

// AreaImport is the area of an import among the changes of settings; its subject is the file's print.
const AreaImport = "import"

// MostImportLines bounds the lines of one file.
const MostImportLines = 1000

// ImportKey is the idempotency key of a line that books; file is the print of
// the text that was sent.
func ImportKey(file string, line int) string { return fmt.Sprintf("import %s %d", file, line) }

// ImportSlotID is the id of the slot that a line makes.
func ImportSlotID(tenant, file string, line int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "import %s %s %d", tenant, file, line))
	// A UUID of version 8: made of whatever its maker likes (RFC 9562, section 5.8).
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	h := hex.EncodeToString(sum[:16])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// ImportSlot is a line that makes a slot. StartsAt and EndsAt are instants,
// Capacity is at least 1.
type ImportSlot struct {
	Line       int
	ServiceID  string
	ResourceID string
	StartsAt   time.Time
	EndsAt     time.Time
	Capacity   int
}

// InTheWay is a slot that a line of an import meets.
type InTheWay struct {
	Line      int
	ID        string
	ServiceID string
	StartsAt  time.Time
	EndsAt    time.Time
	Capacity  int
	Mine      bool // the very line made it, in whatever state it is now
}

const importInTheWaySQL = `-- slots in the way of an import
SELECT p.line, s.id::text, s.service_id::text, s.starts_at, s.ends_at, s.capacity, s.id = p.id::uuid AS mine
FROM unnest(@lines::int[], @ids::text[], @resources::text[], @starts::timestamptz[], @ends::timestamptz[]) AS p(line, id, resource, starts, ends)
JOIN slots s ON s.tenant_id = @tenant AND (s.id = p.id::uuid
	OR s.status <> 'cancelled' AND s.resource_id = p.resource::uuid AND tstzrange(s.starts_at, s.ends_at) && tstzrange(p.starts, p.ends))
ORDER BY p.line, (s.id = p.id::uuid) DESC, s.starts_at, s.id`

// ImportInTheWay finds for each line the first slot that it meets: the one that
// it made itself before, or one in which its resource is at that time. Lines
// that meet none are not in the answer.
func (s *Store) ImportInTheWay(ctx context.Context, tenant, file string, slots []ImportSlot) (map[int]InTheWay, error) {
	if len(slots) == 0 {
		return nil, nil
	}
	var lines []int
	var ids, resources []string
	var starts, ends []time.Time
	for _, slot := range slots {
		lines, ids, resources = append(lines, slot.Line), append(ids, ImportSlotID(tenant, file, slot.Line)), append(resources, slot.ResourceID)
		starts, ends = append(starts, slot.StartsAt), append(ends, slot.EndsAt)
	}
	found, err := list[InTheWay](ctx, s.db, importInTheWaySQL, pgx.StrictNamedArgs{
		"tenant": tenant, "lines": lines, "ids": ids, "resources": resources, "starts": starts, "ends": ends,
	})
	out := map[int]InTheWay{}
	for _, f := range found {
		if _, there := out[f.Line]; !there {
			out[f.Line] = f
		}
	}
	return out, err
}

// ImportSlots makes the slots of the lines, each with its own copy of its
// service's policies, and notes the import. It gives the id of the slot by line
// for those that were made; a line whose resource is not free, or that was done
// before, makes none and stops no other. Refusals: NotFound (a service or a resource).
func (s *Store) ImportSlots(ctx context.Context, tenant, file, staff string, slots []ImportSlot) (map[int]string, error) {
	byService := map[string][]slotToMake{}
	lines := map[string]int{}
	var order []string
	for _, slot := range slots {
		if len(byService[slot.ServiceID]) == 0 {
			order = append(order, slot.ServiceID)
		}
		id := ImportSlotID(tenant, file, slot.Line)
		lines[id] = slot.Line
		byService[slot.ServiceID] = append(byService[slot.ServiceID], slotToMake{
			id: id, resource: slot.ResourceID, startsAt: slot.StartsAt, endsAt: slot.EndsAt, capacity: slot.Capacity,
		})
	}
	rules := map[string]Policies{}
	for _, service := range order {
		p, err := s.planning(ctx, s.db, tenant, service)
		if err != nil {
			return nil, classify(err)
		}
		rules[service] = p.rules
	}
	out := map[int]string{}
	err := s.changeSetting(ctx, "import_slots", SettingChange{TenantID: tenant, StaffID: staff, Area: AreaImport}, func(ctx context.Context, tx pgx.Tx) (string, []string, error) {
		clear(out)
		for _, service := range order {
			made, err := insertSlots(ctx, tx, tenant, service, "", rules[service], byService[service])
			if code(err) == "23503" { // a resource that is absent or another tenant's
				err = NotFound
			}
			if err != nil {
				return "", nil, err
			}
			for id := range made {
				out[lines[id]] = id
			}
		}
		if len(out) == 0 {
			return "", nil, nil
		}
		return file, []string{"slots"}, nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

const importTargetsSQL = `-- slots of an import by their start
` + slotSelect + `WHERE s.tenant_id = @tenant AND s.starts_at = ANY(@starts::timestamptz[]) AND s.status <> 'cancelled' ORDER BY s.starts_at, s.id LIMIT 5000`

// ImportTargets lists the slots that begin at one of the instants and take place.
func (s *Store) ImportTargets(ctx context.Context, tenant string, starts []time.Time) ([]Slot, error) {
	if len(starts) == 0 {
		return nil, nil
	}
	return list[Slot](ctx, s.db, importTargetsSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "starts": starts})
}

// ImportedBooking is a booking that a line of an import may stand for.
type ImportedBooking struct {
	ID     string
	SlotID string // in which the line books; the booking may have moved since
	Key    string // of the line that made it; empty where it has moved, or was made otherwise
	Moved  bool
	Name   string
	Email  string
	Phone  string
}

const importedBookingsSQL = `-- bookings that an import meets
SELECT r.id::text, r.slot_id::text, coalesce(r.idempotency_key, '') AS key, false AS moved, coalesce(r.name, '') AS name, coalesce(r.email, '') AS email, coalesce(r.phone, '') AS phone
FROM reservations r
WHERE r.tenant_id = @tenant AND r.slot_id = ANY(@slots::text[]::uuid[])
	AND (r.idempotency_key = ANY(@keys::text[]) OR (r.person_key = ANY(@people::text[]) OR r.name = ANY(@names::text[])) AND r.state IN ('held', 'confirmed'))
UNION ALL
SELECT r.id::text, e.slot_id::text, '' AS key, true AS moved, coalesce(r.name, '') AS name, coalesce(r.email, '') AS email, coalesce(r.phone, '') AS phone
FROM events e JOIN reservations r ON r.tenant_id = e.tenant_id AND r.id = e.subject_id
WHERE e.tenant_id = @tenant AND e.slot_id = ANY(@slots::text[]::uuid[]) AND e.kind = 'moved_out' AND r.source = 'staff' AND r.slot_id <> e.slot_id`

// ImportedBookings finds, in the slots named, what lines with these keys have
// made in whatever state it is now, live bookings of people with these addresses
// (where one may book once) or names, and bookings by staff that have moved
// elsewhere: a move takes the key off, and the line must not book again for all that.
func (s *Store) ImportedBookings(ctx context.Context, tenant string, slots, keys, emails, names []string) ([]ImportedBooking, error) {
	if len(slots) == 0 {
		return nil, nil
	}
	people := make([]string, 0, len(emails))
	for _, email := range emails {
		people = append(people, PersonKey(email))
	}
	return list[ImportedBooking](ctx, s.db, importedBookingsSQL, pgx.StrictNamedArgs{"tenant": tenant, "slots": slots, "keys": keys, "people": people, "names": names})
}
