package web

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest"
	"holdfast/store/storetest/shop"
)

// caller is a program with a key.
type caller struct {
	*browser
	key string
}

func (s *site) caller(t testing.TB, tenant store.Tenant, scopes ...string) caller {
	t.Helper()
	key, err := s.Store.AddAPIKey(t.Context(), tenant, "test", scopes)
	if err != nil {
		t.Fatal(err)
	}
	return caller{s.browser(t), key}
}

// callBody is a body of the two calls; nil leaves a field out.
type callBody map[string]any

func bodyFor(slot store.Slot, user string) callBody {
	return callBody{"tenantId": "shop", "resourceId": "studio-a", "slotStartIso": slot.StartsAt.UTC().Format(time.RFC3339), "userId": user, "idempotencyKey": "key of " + user}
}

func (b callBody) with(name string, value any) callBody {
	out := callBody{}
	for k, v := range b {
		out[k] = v
	}
	out[name] = value
	if value == nil {
		delete(out, name)
	}
	return out
}

// send makes a call and gives status and answer.
func (c caller) send(call string, body any, edits ...func(*http.Request)) (int, map[string]any) {
	c.t.Helper()
	text, isText := body.(string)
	if !isText {
		raw, err := json.Marshal(body)
		if err != nil {
			c.t.Fatal(err)
		}
		text = string(raw)
	}
	all := append([]func(*http.Request){func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+c.key) }}, edits...)
	p := c.do(http.MethodPost, "/api/reservations/"+call, "application/json", text, all...)
	var answer map[string]any
	if err := json.Unmarshal([]byte(p.body), &answer); err != nil {
		c.t.Fatalf("%s: %d %q", call, p.status, p.body)
	}
	if ok, _ := answer["ok"].(bool); ok != (p.status == http.StatusOK) {
		c.t.Errorf("%s: %d with %s", call, p.status, p.body)
	}
	if p.header.Get("Set-Cookie") != "" {
		c.t.Error("a call makes a session")
	}
	return p.status, answer
}

// refused fails the test unless the call is refused so.
func (c caller) refused(call string, body any, status int, reason string, edits ...func(*http.Request)) {
	c.t.Helper()
	if got, answer := c.send(call, body, edits...); got != status || answer["reason"] != reason || len(answer) != 2 {
		c.t.Errorf("%s %v: %d %v, want %d %s", call, body, got, answer, status, reason)
	}
}

func TestTheTwoCallsHoldAndConfirm(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	c := s.caller(t, s.Tenant, "book")
	slot := s.Slot(t, 1)
	body := bodyFor(slot, "u1")
	status, held := c.send("hold", body)
	id, _ := held["reservationId"].(string)
	r, err := s.Store.Reservation(t.Context(), slot.TenantID, id)
	if status != http.StatusOK || err != nil || held["expiresAt"] != float64(r.ShownUntil.UnixMilli()) || r.PartySize != 1 || r.Source != store.SourceAPI {
		t.Fatalf("%d %v %+v %v", status, held, r, err)
	}
	if len(held) != 3 {
		t.Errorf("the answer has more than was asked for: %v", held)
	}
	// The same start, written otherwise, and the same press again.
	for _, start := range []string{slot.StartsAt.In(s.Tenant.Location()).Format(time.RFC3339), strings.ToLower(slot.StartsAt.UTC().Format("2006-01-02T15:04:05.000Z07:00")), slot.StartsAt.In(time.FixedZone("", -3*3600-1800)).Format(time.RFC3339)} {
		if status, again := c.send("hold", body.with("slotStartIso", start)); status != http.StatusOK || again["reservationId"] != id {
			t.Errorf("%s: %d %v", start, status, again)
		}
	}
	byHeader := func(r *http.Request) { r.Header.Set("Idempotency-Key", "key of u1") }
	if status, again := c.send("hold", body.with("idempotencyKey", nil).with("more", []int{1}), byHeader); status != http.StatusOK || again["reservationId"] != id {
		t.Errorf("by header: %d %v", status, again)
	}
	c.refused("hold", body.with("idempotencyKey", "other"), http.StatusBadRequest, "BAD_REQUEST", byHeader)
	c.refused("hold", body.with("userId", "u2"), http.StatusUnprocessableEntity, "KEY_REUSED")
	c.refused("hold", bodyFor(slot, "u2"), http.StatusConflict, "ALREADY_HELD_OR_BOOKED")

	confirm := body.with("reservationId", id)
	c.refused("confirm", confirm.with("userId", "u2"), http.StatusConflict, "NOT_OWNER")
	elsewhere := s.Slot(t, 1)
	c.refused("confirm", confirm.with("slotStartIso", elsewhere.StartsAt.Format(time.RFC3339)), http.StatusConflict, "NOT_FOUND")
	c.refused("confirm", confirm.with("resourceId", "studio-b"), http.StatusConflict, "NOT_FOUND")
	c.refused("confirm", confirm.with("reservationId", "00000000-0000-4000-8000-000000000000"), http.StatusConflict, "NOT_FOUND")
	c.refused("confirm", confirm.with("reservationId", "1"), http.StatusConflict, "NOT_FOUND")
	c.refused("confirm", confirm.with("reservationId", nil), http.StatusBadRequest, "BAD_REQUEST")
	for range 2 { // and once more
		if status, done := c.send("confirm", confirm); status != http.StatusOK || done["reservationId"] != id || done["expiresAt"] != held["expiresAt"] {
			t.Errorf("confirm: %d %v", status, done)
		}
	}
	if got := s.Read(t, slot); got.Confirmed != 1 || got.Held != 0 {
		t.Errorf("%+v", got)
	}
	s.Exec(t, "UPDATE reservations SET state = 'held', confirmed_at = NULL, shown_until = shown_until - interval '1 hour', expires_at = expires_at - interval '1 hour' WHERE id = $1", id)
	c.refused("confirm", confirm, http.StatusConflict, "EXPIRED")
	if _, err := s.Store.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.refused("confirm", confirm, http.StatusConflict, "EXPIRED")
	// The key is free again, and the hold is a new one.
	if status, anew := c.send("hold", body); status != http.StatusOK || anew["reservationId"] == id {
		t.Errorf("%d %v", status, anew)
	}
	// A visitor of the pages is not a user of the API, even by the same name.
	visitor := s.Hold(t, elsewhere, 1)
	c.refused("confirm", bodyFor(elsewhere, visitor.Owner).with("reservationId", visitor.ID), http.StatusConflict, "NOT_OWNER")
}

func TestWhatTheTwoCallsRefuse(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	c := s.caller(t, s.Tenant, "read", "book")
	slot := s.Slot(t, 1)
	body := bodyFor(slot, "u1")
	for _, start := range []any{
		"2026-10-08T10:00:00", "2026-10-08 10:00:00Z", "2026-10-08T10:00Z", "2026-10-08", "10:00+09:00", "2026-10-08T10:00:00,5Z", "2026-10-08T1:00:00Z",
		"2026-02-30T10:00:00Z", "2026-10-08T25:00:00Z", "2026-10-08T10:00:00+9:00", " 2026-10-08T10:00:00Z", "", 1772330400000, nil,
	} {
		c.refused("hold", body.with("slotStartIso", start), http.StatusBadRequest, "BAD_REQUEST")
	}
	for _, field := range []string{"tenantId", "resourceId", "userId"} {
		for _, value := range []any{nil, "", 7, []string{"x"}, strings.Repeat("x", 300), "a\x00b"} {
			c.refused("hold", body.with(field, value), http.StatusBadRequest, "BAD_REQUEST")
		}
	}
	for _, text := range []string{"", "{", "[]", "null", `"x"`, `{"tenantId":"shop"} {}`, strings.Repeat(" ", bodyLimit) + "{}"} {
		c.refused("hold", text, http.StatusBadRequest, "BAD_REQUEST")
		c.refused("confirm", text, http.StatusBadRequest, "BAD_REQUEST")
	}
	other := s.AddTenant(t, "other", nil)
	for _, absent := range []callBody{
		body.with("tenantId", "nobody"), body.with("tenantId", other.Slug), body.with("resourceId", "studio-z"), body.with("slotStartIso", "2031-01-01T00:00:00Z"),
	} {
		c.refused("hold", absent, http.StatusConflict, "NOT_FOUND")
		c.refused("confirm", absent.with("reservationId", "00000000-0000-4000-8000-000000000000"), http.StatusConflict, "NOT_FOUND")
	}
	for name, key := range map[string]string{
		"none": "", "of nobody": "hf_nobody_" + strings.Repeat("A", 26), "wrong": "hf_shop_" + strings.Repeat("A", 26), "no secret": "hf_shop_", "half": "hf_shop", "nonsense": "%00",
	} {
		wrong := caller{c.browser, key}
		if status, answer := wrong.send("hold", body); status != http.StatusUnauthorized || answer["reason"] != "UNAUTHORIZED" {
			t.Errorf("%s: %d %v", name, status, answer)
		}
	}
	c.refused("hold", body, http.StatusUnauthorized, "UNAUTHORIZED", func(r *http.Request) { r.Header.Set("Authorization", "Basic "+c.key) })
	c.refused("hold", body, http.StatusUnauthorized, "UNAUTHORIZED", func(r *http.Request) { r.Header.Del("Authorization") })
	s.caller(t, s.Tenant, "read").refused("hold", body, http.StatusForbidden, "FORBIDDEN")
	s.caller(t, other, "book").refused("hold", body, http.StatusConflict, "NOT_FOUND")
	// No cookie opens the API, and no foreign page is told apart: there is nothing to forge.
	c.refused("hold", body, http.StatusUnauthorized, "UNAUTHORIZED", func(r *http.Request) {
		r.Header.Del("Authorization")
		r.Header.Set("Origin", "https://evil.example")
		r.AddCookie(&http.Cookie{Name: "holdfast", Value: "x"})
	})
	if p := c.get("/api/reservations/hold"); p.status != http.StatusMethodNotAllowed || p.header.Get("Allow") != http.MethodPost {
		t.Errorf("GET: %d", p.status)
	}
	if p := c.get("/api/nothing"); p.status != http.StatusNotFound || !strings.Contains(p.header.Get("Content-Type"), "json") {
		t.Errorf("%d %s", p.status, p.header.Get("Content-Type"))
	}
	if got := s.Read(t, slot); got.Taken != 0 {
		t.Errorf("a refused call has taken %d", got.Taken)
	}
	// Closed, and too late.
	if _, err := s.Store.CloseSlot(t.Context(), store.SlotRequest{TenantID: slot.TenantID, SlotID: slot.ID, Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	c.refused("hold", body, http.StatusConflict, "ALREADY_HELD_OR_BOOKED")
	now, err := s.Store.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	past := s.SlotAt(t, 3, now.Add(-time.Hour).Truncate(time.Second))
	c.refused("hold", bodyFor(past, "u1"), http.StatusConflict, "ALREADY_HELD_OR_BOOKED")
}

func TestALockThatCannotBeHadIsBusy(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	c := s.caller(t, s.Tenant, "book")
	slot := s.Slot(t, 1)
	conn := s.Conn(t)
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT 1 FROM slots WHERE id = $1 FOR UPDATE", slot.ID); err != nil {
		t.Fatal(err)
	}
	c.refused("hold", bodyFor(slot, "u1"), http.StatusServiceUnavailable, "BUSY")
	if err := tx.Rollback(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	if status, answer := c.send("hold", bodyFor(slot, "u1")); status != http.StatusOK {
		t.Errorf("%d %v", status, answer)
	}
}

// Twenty at once by the API: exactly as many as there are seats, everybody else gets the normal word.
func TestARushOfCallsNeverOversells(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	c := s.caller(t, s.Tenant, "book")
	slot := s.Slot(t, 3)
	const n = 20
	barrier := storetest.Barrier(n)
	results := make(chan int, n)
	for i := range n {
		go func() {
			barrier()
			status, answer := caller{s.browser(t), c.key}.send("hold", bodyFor(slot, string(rune('a'+i))))
			if status != http.StatusOK && answer["reason"] != "ALREADY_HELD_OR_BOOKED" {
				t.Errorf("%d %v", status, answer)
			}
			results <- status
		}()
	}
	won := 0
	for range n {
		if <-results == http.StatusOK {
			won++
		}
	}
	if won != 3 {
		t.Errorf("%d held 3 seats", won)
	}
}
