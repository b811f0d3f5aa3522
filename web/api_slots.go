package web

import (
	"context"
	"encoding/base64"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdfast/store"
)

// apiSlot is a slot.
type apiSlot struct {
	ID           string   `json:"id"`
	Service      string   `json:"service"`  // slug
	Resource     string   `json:"resource"` // slug
	StartsAt     apiTime  `json:"startsAt"`
	EndsAt       apiTime  `json:"endsAt"`
	TimeZone     string   `json:"timeZone"` // of the venue
	Status       string   `json:"status"`
	Capacity     int      `json:"capacity"`
	SeatsLeft    int      `json:"seatsLeft"` // what a newcomer could take now
	Bookable     bool     `json:"bookable"`
	Joinable     bool     `json:"joinable"` // a party could wait now
	Waiting      int      `json:"waiting"`
	WaitlistMode string   `json:"waitlistMode"`
	PartyMax     int      `json:"partyMax"`
	OpensAt      apiTime  `json:"opensAt"`
	ClosesAt     apiTime  `json:"closesAt"`
	CancelUntil  apiTime  `json:"cancelUntil"`
	OrderUntil   *apiTime `json:"orderUntil"` // until then freed seats go by order
	Paused       bool     `json:"paused"`
	Version      int64    `json:"version"`
	TermsVersion int      `json:"termsVersion"`
}

// apiNames finds the slugs of services and resources.
type apiNames struct {
	services, resources map[string]string // id → slug
	zone                string
}

func (s *Server) apiNames(ctx context.Context, t store.Tenant) (apiNames, error) {
	n := apiNames{map[string]string{}, map[string]string{}, t.TimeZone}
	services, err := s.store.Services(ctx, t.ID)
	if err != nil {
		return n, err
	}
	resources, err := s.store.Resources(ctx, t.ID)
	if err != nil {
		return n, err
	}
	for _, sv := range services {
		n.services[sv.ID] = sv.Slug
	}
	for _, r := range resources {
		n.resources[r.ID] = r.Slug
	}
	return n, nil
}

func (n apiNames) slot(s store.Slot) apiSlot {
	return apiSlot{
		ID: s.ID, Service: n.services[s.ServiceID], Resource: n.resources[s.ResourceID], StartsAt: apiTime(s.StartsAt), EndsAt: apiTime(s.EndsAt), TimeZone: n.zone,
		Status: string(s.Status), Capacity: s.Capacity, SeatsLeft: s.SeatsLeft, Bookable: s.Bookable(), Joinable: s.Joinable(), Waiting: s.Waiting,
		WaitlistMode: string(s.WaitlistMode), PartyMax: s.PartyMax, OpensAt: apiTime(s.OpensAt), ClosesAt: apiTime(s.ClosesAt), CancelUntil: apiTime(s.CancelUntil),
		OrderUntil: apiTimeOf(s.OrderUntil), Paused: s.Paused, Version: s.Version, TermsVersion: s.TermsVersion,
	}
}

// idOf finds the id of a slug; what nobody has is a fault of the field.
func idOf(q *apiRequest, field, slug string, ids map[string]string) string {
	if slug == "" {
		return ""
	}
	for id, known := range ids {
		if known == slug {
			return id
		}
	}
	q.fault(field, "invalid")
	return ""
}

const (
	apiRange     = 31 * 24 * time.Hour  // of slots, unless the caller says until when
	apiRangeMost = 366 * 24 * time.Hour // of slots
)

func (s *Server) apiGetSlots(q *apiRequest) (any, error) {
	ctx, v := q.Context(), q.URL.Query()
	q.query("from", "to", "service", "resource", "free", "limit", "cursor")
	n, err := s.apiNames(ctx, q.caller.tenant)
	if err != nil {
		return nil, err
	}
	from, to := q.instant("from", v.Get("from")), q.instant("to", v.Get("to"))
	if from.IsZero() {
		from = s.now().UTC()
	}
	if to.IsZero() {
		to = from.Add(apiRange)
	}
	if !to.After(from) || to.Sub(from) > apiRangeMost {
		q.fault("to", "invalid")
	}
	query := store.SlotQuery{
		TenantID: q.tenant(), From: from, To: to, ServiceID: idOf(q, "service", v.Get("service"), n.services), ResourceID: idOf(q, "resource", v.Get("resource"), n.resources),
	}
	if free := v.Get("free"); free != "" {
		if query.FreeFor, err = strconv.Atoi(free); err != nil || query.FreeFor < 1 || query.FreeFor > 1000 {
			q.fault("free", "invalid")
		}
	}
	limit := q.limit()
	if cursor := v.Get("cursor"); cursor != "" {
		var ok bool
		if query.AfterStart, query.AfterID, ok = readSlotCursor(cursor); !ok {
			q.fault("cursor", "invalid")
		}
	}
	if err := q.ok(); err != nil {
		return nil, err
	}
	query.Limit = limit + 1 // one more tells whether there is a next page
	slots, err := s.store.Slots(ctx, query)
	if err != nil {
		return nil, err
	}
	list := apiList[apiSlot]{Items: []apiSlot{}}
	for i, slot := range slots {
		if i == limit {
			last := slots[i-1]
			next := base64.RawURLEncoding.EncodeToString([]byte(last.StartsAt.UTC().Format(time.RFC3339Nano) + " " + last.ID))
			list.Next = &next
			break
		}
		list.Items = append(list.Items, n.slot(slot))
	}
	return list, nil
}

// readSlotCursor reads what apiGetSlots has written: the slot that was listed last.
func readSlotCursor(cursor string) (time.Time, string, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	start, id, split := strings.Cut(string(raw), " ")
	at, ok := parseStart(start)
	return at, id, err == nil && split && ok && store.ValidID(id)
}

func (s *Server) apiGetSlot(q *apiRequest) (any, error) {
	q.query()
	if err := q.ok(); err != nil {
		return nil, err
	}
	id, err := q.id("slot")
	if err != nil {
		return nil, err
	}
	return s.apiSlotNow(q, id)
}

// apiSlotNow is a slot as it is now, with its version as the tag of the answer.
func (s *Server) apiSlotNow(q *apiRequest, id string) (any, error) {
	slot, err := s.store.Slot(q.Context(), q.tenant(), id)
	if err != nil {
		return nil, err
	}
	n, err := s.apiNames(q.Context(), q.caller.tenant)
	if err != nil {
		return nil, err
	}
	q.etag = etagOf(slot.Version)
	return n.slot(slot), nil
}

// apiNewSlot is a slot to be made.
type apiNewSlot struct {
	Service  string `json:"service"`
	Resource string `json:"resource"`
	StartsAt string `json:"startsAt"`
	Capacity int    `json:"capacity"` // 0: the service's
}

const mostNewSlots = 500

func (s *Server) apiPostSlots(q *apiRequest) (any, error) {
	var body struct {
		Slots []apiNewSlot `json:"slots"`
	}
	if err := q.decode(&body); err != nil {
		return nil, err
	}
	n, err := s.apiNames(q.Context(), q.caller.tenant)
	if err != nil {
		return nil, err
	}
	if len(body.Slots) == 0 || len(body.Slots) > mostNewSlots {
		q.fault("slots", "invalid")
	}
	var slots []store.NewSlot
	for i, one := range body.Slots {
		field := func(name string) string { return "slots[" + strconv.Itoa(i) + "]." + name }
		for name, value := range map[string]string{"service": one.Service, "resource": one.Resource, "startsAt": one.StartsAt} {
			if value == "" {
				q.fault(field(name), "required")
			}
		}
		if one.Capacity < 0 || one.Capacity > mostSeats {
			q.fault(field("capacity"), "invalid")
		}
		slots = append(slots, store.NewSlot{
			ServiceID: idOf(q, field("service"), one.Service, n.services), ResourceID: idOf(q, field("resource"), one.Resource, n.resources),
			StartsAt: q.instant(field("startsAt"), one.StartsAt), Capacity: one.Capacity,
		})
	}
	if err := q.ok(); err != nil {
		return nil, err
	}
	made, err := s.store.AddSlots(q.Context(), q.tenant(), slots)
	if err != nil {
		return nil, err
	}
	list := apiList[apiSlot]{Items: []apiSlot{}}
	for _, slot := range made {
		list.Items = append(list.Items, n.slot(slot))
	}
	return list, nil
}

// apiPatchSlot is what of a slot can be changed; what is left out stays.
type apiPatch struct {
	Capacity *int    `json:"capacity"`
	Status   *string `json:"status"` // open or closed
	Paused   *bool   `json:"paused"`
	Reason   string  `json:"reason"`
}

func (s *Server) apiPatchSlot(q *apiRequest) (any, error) {
	id, err := q.id("slot")
	if err != nil {
		return nil, err
	}
	if q.Header.Get("If-Match") == "" {
		return nil, apiProblem{Status: http.StatusPreconditionRequired, Reason: "if_match_required", Detail: "name the version that you have seen, or * for any"}
	}
	version, err := q.version()
	if err != nil {
		return nil, err
	}
	var body apiPatch
	if err := q.decode(&body); err != nil {
		return nil, err
	}
	reason := q.text("reason", body.Reason, longestReason, false)
	if body.Capacity != nil && (*body.Capacity < 0 || *body.Capacity > mostSeats) {
		q.fault("capacity", "invalid")
	}
	if body.Status != nil && *body.Status != string(store.SlotOpen) && *body.Status != string(store.SlotClosed) {
		q.fault("status", "invalid")
	}
	// Each change is a step of its own, and only the first can be judged by what the caller saw.
	steps := []bool{body.Capacity != nil, body.Status != nil, body.Paused != nil}
	if n := len(slices.DeleteFunc(steps, func(asked bool) bool { return !asked })); n != 1 {
		return nil, badRequest("change one of capacity, status and paused at a time")
	}
	if err := q.ok(); err != nil {
		return nil, err
	}
	ctx := q.Context()
	req := store.SlotRequest{TenantID: q.tenant(), SlotID: id, Reason: reason, Actor: q.actor(), Version: version}
	switch {
	case body.Capacity != nil:
		_, err = s.store.ChangeCapacity(ctx, store.CapacityRequest{TenantID: q.tenant(), SlotID: id, Capacity: *body.Capacity, Actor: q.actor(), Version: version})
	case body.Status != nil && *body.Status == string(store.SlotOpen):
		_, err = s.store.ReopenSlot(ctx, req)
	case body.Status != nil:
		_, err = s.store.CloseSlot(ctx, req)
	case *body.Paused:
		_, err = s.store.PauseWaitlist(ctx, req)
	default:
		_, err = s.store.ResumeWaitlist(ctx, req)
	}
	if err != nil {
		return nil, err
	}
	return s.apiSlotNow(q, id)
}

func (s *Server) apiCancelSlot(q *apiRequest) (any, error) {
	id, err := q.id("slot")
	if err != nil {
		return nil, err
	}
	version, err := q.version()
	if err != nil {
		return nil, err
	}
	var body struct {
		Reason string `json:"reason"`
	}
	if err := q.decode(&body); err != nil {
		return nil, err
	}
	reason := q.text("reason", body.Reason, longestReason, true)
	if err := q.ok(); err != nil {
		return nil, err
	}
	if _, err := s.store.CancelSlot(q.Context(), store.SlotRequest{TenantID: q.tenant(), SlotID: id, Reason: reason, Actor: q.actor(), Version: version}); err != nil {
		return nil, err
	}
	return s.apiSlotNow(q, id)
}

// apiRoster is who comes and who waits, with contacts.
type apiRoster struct {
	Reservations []apiReservation `json:"reservations"`
	Waitlist     []apiEntry       `json:"waitlist"`
}

func (s *Server) apiGetRoster(q *apiRequest) (any, error) {
	q.query()
	if err := q.ok(); err != nil {
		return nil, err
	}
	id, err := q.id("slot")
	if err != nil {
		return nil, err
	}
	ctx := q.Context()
	if _, err := s.store.Slot(ctx, q.tenant(), id); err != nil {
		return nil, err
	}
	reservations, err := s.store.Roster(ctx, q.tenant(), id)
	if err != nil {
		return nil, err
	}
	entries, err := s.store.Waitlist(ctx, q.tenant(), id, true)
	if err != nil {
		return nil, err
	}
	out := apiRoster{[]apiReservation{}, []apiEntry{}}
	for _, r := range reservations {
		out.Reservations = append(out.Reservations, apiReservationOf(q, r))
	}
	for _, e := range entries {
		out.Waitlist = append(out.Waitlist, apiEntryOf(q, e))
	}
	return out, nil
}
