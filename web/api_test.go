package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"

	"holdfast/store"
	"holdfast/store/storetest"
	"holdfast/store/storetest/shop"
)

// program is a caller of the API. Each of its answers is held against the document.
type program struct {
	t    testing.TB
	site *site
	key  string
	seen *answersSeen
}

// answersSeen are the answers that occurred, as "METHOD /path STATUS".
type answersSeen struct {
	mu  sync.Mutex
	all map[string]bool
}

var apiValidator = sync.OnceValues(func() (validator.Validator, error) {
	doc, err := libopenapi.NewDocument(openAPI())
	if err != nil {
		return nil, err
	}
	v, faults := validator.NewValidator(doc)
	if len(faults) > 0 {
		return nil, faults[0]
	}
	if ok, faults := v.ValidateDocument(); !ok {
		return nil, faults[0]
	}
	return v, nil
})

func (s *site) program(t testing.TB, scopes ...string) *program {
	t.Helper()
	if len(scopes) == 0 {
		scopes = store.Scopes
	}
	key, err := s.Store.AddAPIKey(t.Context(), s.Tenant, "test", scopes)
	if err != nil {
		t.Fatal(err)
	}
	return &program{t, s, key, &answersSeen{all: map[string]bool{}}}
}

// reply is what a program is answered.
type reply struct {
	t      testing.TB
	what   string
	status int
	header http.Header
	raw    string
	body   map[string]any
}

// send makes a request; body is JSON text, a value to be marshalled, or nil.
func (p *program) send(method, path string, body any, headers ...string) reply {
	p.t.Helper()
	text := ""
	switch b := body.(type) {
	case nil:
	case string:
		text = b
	default:
		raw, err := json.Marshal(b)
		if err != nil {
			p.t.Fatal(err)
		}
		text = string(raw)
	}
	req, err := http.NewRequestWithContext(p.t.Context(), method, p.site.addr+"/api/v1"+path, strings.NewReader(text))
	if err != nil {
		p.t.Fatal(err)
	}
	if p.key != "" {
		req.Header.Set("Authorization", "Bearer "+p.key)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	r := reply{p.t, method + " " + path, answer.StatusCode, answer.Header, string(raw), nil}
	if err := json.Unmarshal(raw, &r.body); err != nil {
		p.t.Errorf("%s: %d is no JSON object: %q", r.what, r.status, raw)
	}
	if r.header.Get("Set-Cookie") != "" {
		p.t.Errorf("%s sets a cookie", r.what)
	}
	if kind := r.header.Get("Content-Type"); (r.status < 400) != (kind == "application/json") || (r.status >= 400) != (kind == "application/problem+json") {
		p.t.Errorf("%s: %d is %s", r.what, r.status, kind)
	}
	if r.status >= 400 && (r.body["status"] != float64(r.status) || r.body["reason"] == "" || r.body["title"] == "") {
		p.t.Errorf("%s: a problem that says %s", r.what, raw)
	}
	for _, op := range apiOperations {
		if op.method == method && apiMatches(op.path, strings.Split(path, "?")[0]) {
			p.judge(op, req, answer, raw)
			return r
		}
	}
	return r
}

// judge holds an answer against the document: status, headers, content and shape.
func (p *program) judge(op apiOperation, req *http.Request, answer *http.Response, raw []byte) {
	p.t.Helper()
	v, err := apiValidator()
	if err != nil {
		p.t.Fatal(err)
	}
	p.seen.mu.Lock()
	p.seen.all[fmt.Sprintf("%s %s %d", op.method, op.path, answer.StatusCode)] = true
	p.seen.mu.Unlock()
	kept := *answer
	kept.Body = io.NopCloser(bytes.NewReader(raw))
	asked := req.Clone(p.t.Context())
	asked.URL = &url.URL{Path: req.URL.Path, RawQuery: req.URL.RawQuery}
	if ok, faults := v.ValidateHttpResponse(asked, &kept); !ok {
		for _, f := range faults {
			p.t.Errorf("%s %s answers %d otherwise than the document says: %s %s %v\n%s", op.method, op.path, answer.StatusCode, f.Message, f.Reason, f.SchemaValidationErrors, raw)
		}
	}
}

func (r reply) is(status int, reason string) reply {
	r.t.Helper()
	got, _ := r.body["reason"].(string)
	if r.status >= 400 && got != reason || r.status != status {
		r.t.Errorf("%s: %d %s, want %d %s", r.what, r.status, r.raw, status, reason)
	}
	return r
}

func (r reply) str(name string) string {
	text, _ := r.body[name].(string)
	return text
}

func (r reply) items() []map[string]any {
	var out []map[string]any
	items, _ := r.body["items"].([]any)
	for _, item := range items {
		one, _ := item.(map[string]any)
		out = append(out, one)
	}
	return out
}

func (r reply) first() map[string]any {
	r.t.Helper()
	if len(r.items()) == 0 {
		r.t.Fatalf("%s: no items in %d %s", r.what, r.status, r.raw)
	}
	return r.items()[0]
}

type object = map[string]any

// lastUse is the time of the last use of a key in a dump.
var lastUse = regexp.MustCompile(`"?2\d{3}-\d\d-\d\d \d\d:\d\d:\d\d[^,)]*`)

func holdBody(user string, slots ...store.Slot) object {
	var ids []string
	for _, slot := range slots {
		ids = append(ids, slot.ID)
	}
	return object{"slots": ids, "partySize": 1, "userId": user}
}

func person(s *site) object {
	who := s.Person()
	return object{"name": who.Name, "email": who.Email, "kana": who.Kana, "phone": "090-1234-5678", "locale": "ja"}
}

// The whole of the protocol by the API, and that each documented answer occurs.
func TestTheAPIAnswersAsItsDocumentSays(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, func(p *store.Policies) { p.HoldsPerVisitor = 1000 }, storetest.Conns(60)))
	p := s.program(t)
	ids := func(r reply) string { return fmt.Sprint(r.first()["id"]) }
	hold := func(slot store.Slot) string { return ids(p.send("POST", "/holds", holdBody("u", slot)).is(201, "")) }
	book := func(slot store.Slot) string {
		id := hold(slot)
		p.send("POST", "/reservations/"+id+"/confirm", object{"userId": "u", "contact": person(s)}).is(200, "")
		return id
	}
	join := func(slot store.Slot) string {
		return p.send("POST", "/slots/"+slot.ID+"/waitlist", object{"partySize": 1, "contact": person(s)}).is(201, "").str("id")
	}
	cancel := func(id string) { p.send("POST", "/reservations/"+id+"/cancel", object{"reason": "r"}).is(200, "") }

	// Reading.
	p.send("GET", "/services", nil).is(200, "")
	p.send("GET", "/resources", nil).is(200, "")
	slot := s.Slot(t, 2)
	read := p.send("GET", "/slots/"+slot.ID, nil).is(200, "")
	if read.header.Get("ETag") != `"0"` || read.body["startsAt"] != slot.StartsAt.UTC().Format("2006-01-02T15:04:05.000Z") || read.body["seatsLeft"] != float64(2) || read.body["timeZone"] != "Asia/Tokyo" {
		t.Errorf("a slot reads %v %s", read.header, read.raw)
	}

	// Hold, confirm, move, cancel; each by its own state once.
	id := hold(slot)
	if got := p.send("GET", "/reservations/"+id, nil).is(200, ""); got.str("state") != "held" || got.str("expiresAt") == "" || got.body["contact"] != nil {
		t.Errorf("a hold reads %s", got.raw)
	}
	p.send("POST", "/reservations/"+id+"/confirm", object{"userId": "somebody else"}).is(404, "not_owner")
	for range 2 {
		if got := p.send("POST", "/reservations/"+id+"/confirm", object{"userId": "u", "contact": person(s), "answers": object{}}).is(200, ""); got.str("state") != "confirmed" {
			t.Errorf("confirm gives %s", got.raw)
		}
	}
	target := s.Slot(t, 1)
	for range 2 {
		if got := p.send("POST", "/reservations/"+id+"/move", object{"slot": target.ID}).is(200, ""); got.str("slot") != target.ID {
			t.Errorf("move gives %s", got.raw)
		}
	}
	cancel(id)
	p.send("POST", "/reservations/"+id+"/cancel", object{}).is(200, "") // it is cancelled: the answer is its state
	p.send("POST", "/reservations/"+id+"/confirm", object{"userId": "u"}).is(409, "over")
	p.send("POST", "/reservations/"+id+"/move", object{"slot": slot.ID}).is(409, "over")
	back := hold(slot)
	p.send("POST", "/reservations/"+back+"/release", object{"userId": "u"}).is(200, "")
	p.send("POST", "/reservations/"+back+"/confirm", object{"userId": "u"}).is(409, "over")
	p.send("POST", "/reservations/"+book(s.Slot(t, 1))+"/release", object{"userId": "u"}).is(409, "conflict")
	if got := p.send("POST", "/reservations/"+hold(s.Slot(t, 1))+"/cancel", object{}).is(200, ""); got.str("state") != "released" {
		t.Errorf("a hold is cancelled as %s", got.raw)
	}
	p.send("POST", "/reservations/"+back+"/cancel", object{}).is(409, "over")
	gone := hold(s.Slot(t, 1))
	s.Exec(t, "UPDATE reservations SET shown_until = now() - interval '2 minutes', expires_at = now() - interval '1 minute' WHERE id = $1", gone)
	if got := p.send("GET", "/reservations/"+gone, nil).is(200, ""); got.str("state") != "expired" {
		t.Errorf("a hold past its deadline reads %s", got.raw)
	}
	p.send("POST", "/reservations/"+gone+"/confirm", object{"userId": "u"}).is(410, "expired")
	p.send("POST", "/reservations/"+gone+"/release", object{"userId": "u"}).is(200, "") // what is given back late is given back

	// Waiting.
	full := s.Slot(t, 1)
	p.send("POST", "/slots/"+full.ID+"/waitlist", object{"partySize": 1, "contact": person(s)}).is(409, "seats_free")
	booked := book(full)
	p.send("POST", "/holds", holdBody("u", full)).is(409, "sold_out")
	first, second, third := join(full), join(full), join(full)
	if got := p.send("GET", "/waitlist/"+second, nil).is(200, ""); got.body["place"] != float64(2) || got.body["of"] != float64(3) {
		t.Errorf("the second waits as %s", got.raw)
	}
	p.send("POST", "/waitlist/"+first+"/accept", nil).is(409, "over")
	p.send("POST", "/waitlist/"+first+"/claim", nil).is(409, "order_rules")
	cancel(booked)
	if got := p.send("GET", "/waitlist/"+first, nil).is(200, ""); got.str("state") != "offered" || got.str("expiresAt") == "" {
		t.Errorf("the offer reads %s", got.raw)
	}
	p.send("POST", "/waitlist/"+first+"/decline", nil).is(200, "")
	p.send("POST", "/waitlist/"+first+"/decline", nil).is(200, "")
	accepted := p.send("POST", "/waitlist/"+second+"/accept", object{"termsVersion": 1}).is(200, "").str("id")
	for _, step := range []string{"withdraw", "decline"} { // it is accepted: the answer is its state
		if got := p.send("POST", "/waitlist/"+second+"/"+step, nil).is(200, ""); got.str("state") != "accepted" {
			t.Errorf("%s after accept gives %s", step, got.raw)
		}
	}
	cancel(accepted)
	s.Exec(t, "UPDATE waitlist_entries SET shown_until = now() - interval '2 hours', expires_at = now() - interval '1 hour' WHERE id = $1", third)
	p.send("POST", "/waitlist/"+third+"/accept", nil).is(410, "expired")
	fourth := s.Slot(t, 1)
	b2 := book(fourth)
	e4, e5 := join(fourth), join(fourth)
	cancel(b2)
	s.Exec(t, "UPDATE waitlist_entries SET shown_until = now() - interval '2 hours', expires_at = now() - interval '1 hour' WHERE id = $1", e4)
	p.send("POST", "/waitlist/"+e4+"/decline", nil).is(200, "")
	p.send("POST", "/waitlist/"+e5+"/withdraw", nil).is(200, "")

	// First come, first served.
	open := s.Slot(t, 1)
	b3 := book(open)
	waits := join(open)
	s.Exec(t, "UPDATE slots SET order_until = '-infinity' WHERE id = $1", open.ID)
	cancel(b3)
	if got := p.send("POST", "/waitlist/"+waits+"/claim", nil).is(200, ""); got.str("state") != "confirmed" {
		t.Errorf("a claim gives %s", got.raw)
	}

	// Slots of the tenant.
	start := s.Start.Add(1000 * time.Hour)
	oneSlot := object{"slots": []object{{"service": "class", "resource": "studio-a", "startsAt": start.In(s.Tenant.Location()).Format(time.RFC3339), "capacity": 3}}}
	made := p.send("POST", "/slots", oneSlot, "Idempotency-Key", "make").is(201, "")
	if again := p.send("POST", "/slots", oneSlot, "Idempotency-Key", "make").is(201, ""); again.raw != made.raw || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the repeated request gives %s", again.raw)
	}
	p.send("POST", "/slots", oneSlot).is(409, "overlaps")
	of := "/slots/" + ids(made)
	p.send("PATCH", of, object{"capacity": 4}).is(428, "if_match_required")
	changed := p.send("PATCH", of, object{"capacity": 4}, "If-Match", `"0"`).is(200, "")
	if changed.header.Get("ETag") != `"1"` || changed.body["capacity"] != float64(4) {
		t.Errorf("a change gives %v %s", changed.header, changed.raw)
	}
	for _, stale := range []string{`"0"`, `"x"`, `W/"1"`, "1"} {
		p.send("PATCH", of, object{"capacity": 5}, "If-Match", stale).is(412, "conflict")
	}
	p.send("PATCH", of, object{"status": "closed", "reason": "r"}, "If-Match", "*").is(200, "")
	p.send("PATCH", of, object{"status": "open"}, "If-Match", "*").is(200, "")
	p.send("PATCH", of, object{"paused": true}, "If-Match", "*").is(200, "")
	p.send("PATCH", of, object{"paused": false}, "If-Match", "*").is(200, "")
	small := s.Slot(t, 2)
	book(small)
	p.send("PATCH", "/slots/"+small.ID, object{"capacity": 0}, "If-Match", "*").is(409, "below_taken")
	p.send("GET", "/slots/"+small.ID+"/roster", nil).is(200, "")
	p.send("POST", "/slots/"+small.ID+"/cancel", object{"reason": "台風"}, "If-Match", `"0"`).is(412, "conflict")
	p.send("POST", "/slots/"+small.ID+"/cancel", object{"reason": "台風"}).is(200, "")
	p.send("POST", "/holds", holdBody("u", small)).is(409, "closed")
	if _, err := s.Store.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.send("GET", "/events?limit=3", nil).is(200, "")

	// A stale version in each step that takes one.
	stale := []string{"If-Match", `"999"`}
	busySlot := s.Slot(t, 1)
	bk := book(busySlot)
	entry := join(busySlot)
	p.send("POST", "/holds", holdBody("u", busySlot), stale...).is(412, "conflict")
	p.send("POST", "/reservations/"+bk+"/cancel", object{}, stale...).is(412, "conflict")
	p.send("POST", "/reservations/"+bk+"/move", object{"slot": slot.ID}, stale...).is(412, "conflict")
	p.send("POST", "/slots/"+busySlot.ID+"/waitlist", object{"partySize": 1, "contact": person(s)}, stale...).is(412, "conflict")
	p.send("POST", "/waitlist/"+entry+"/withdraw", nil, stale...).is(412, "conflict")
	cancel(bk)
	for _, step := range []string{"decline", "accept"} {
		p.send("POST", "/waitlist/"+entry+"/"+step, nil, stale...).is(412, "conflict")
	}
	claimable := s.Slot(t, 1)
	b5 := book(claimable)
	e6 := join(claimable)
	s.Exec(t, "UPDATE slots SET order_until = '-infinity' WHERE id = $1", claimable.ID)
	cancel(b5)
	p.send("POST", "/waitlist/"+e6+"/claim", nil, stale...).is(412, "conflict")
	closed := s.Slot(t, 1)
	if _, err := s.Store.CancelSlot(t.Context(), store.SlotRequest{TenantID: closed.TenantID, SlotID: closed.ID, Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	p.send("PATCH", "/slots/"+closed.ID, object{"status": "open"}, "If-Match", "*").is(409, "closed")
	p.send("POST", "/slots/"+closed.ID+"/waitlist", object{"partySize": 1, "contact": person(s)}).is(409, "closed")

	// What every operation answers to what is wrong with the request itself.
	absent := "00000000-0000-4000-8000-000000000000"
	fill := func(path, id string) string {
		return strings.NewReplacer("{slot}", id, "{reservation}", id, "{entry}", id, "{schedule}", id).Replace(path)
	}
	real := strings.NewReplacer("{slot}", slot.ID, "{reservation}", bk, "{entry}", entry, "{schedule}", p.schedules(s))
	for _, op := range apiOperations {
		path := real.Replace(op.path)
		match := []string{}
		if op.method == "PATCH" {
			match = []string{"If-Match", "*"}
		}
		nobody := *p
		nobody.key = "hf_shop_wrong"
		nobody.send(op.method, path, nil, match...).is(401, "unauthorized")
		other := s.program(t, map[bool]string{true: "read", false: "manage"}[!slices.Contains(op.scopes, "read")])
		other.seen = p.seen
		if slices.Contains(op.scopes, "manage") {
			other.key = s.program(t, "read").key
		}
		other.send(op.method, path, nil, match...).is(403, "forbidden")
		if strings.Contains(op.path, "{") {
			full := validBody(s, op)
			p.send(op.method, fill(op.path, absent), full, match...).is(404, "not_found")
			p.send(op.method, fill(op.path, "x"), full, match...).is(404, "not_found")
		}
		if op.method == http.MethodGet {
			p.send(op.method, path+"?nonsense=1", nil).is(400, "bad_request")
			continue
		}
		for _, broken := range []string{`{`, `[]`, `"x"`, `{"unknown":1}`, `{} {}`, "{\"reason\":\"a\u0000b\"}", `{"slots":1}`, "{\"reason\":\"\xff\"}"} {
			if got := p.send(op.method, path, broken, match...); got.status != 400 {
				t.Errorf("%s %s with %q: %d %s", op.method, op.path, broken, got.status, got.raw)
			}
		}
		p.send(op.method, path, `{}`, append(match, "Content-Type", "text/plain")...).is(415, "media_type")
		p.send(op.method, path, `{"reason":"`+strings.Repeat("a", apiBodyLimit)+`"}`, match...).is(413, "too_large")
		if op.kept {
			// The key stands for another request; for this one, which is under way elsewhere.
			for key, fingerprint := range map[string][32]byte{
				"reused": {}, "under way": sha256.Sum256([]byte(op.method + " /api/v1" + path + "\n\n{}")),
			} {
				name := sha256.Sum256([]byte(key))
				if _, err := s.Store.BeginIdempotent(t.Context(), store.IdempotentRequest{
					TenantID: s.Tenant.ID, Route: op.method + " " + op.path, KeyHash: name[:], Fingerprint: fingerprint[:],
				}); err != nil {
					t.Fatal(err)
				}
			}
			p.send(op.method, path, "{}", "Idempotency-Key", "reused").is(422, "key_reused")
			p.send(op.method, path, "{}", "Idempotency-Key", "under way").is(409, "in_progress")
		}
	}
	fresh := s.Slot(t, 2)
	p.send("POST", "/holds", holdBody("u", fresh), "Idempotency-Key", "h").is(201, "")
	p.send("POST", "/holds", holdBody("other", fresh), "Idempotency-Key", "h").is(422, "key_reused")
	p.send("GET", "/slots", nil).is(200, "")
	p.send("POST", "/holds", object{"slots": []string{absent}, "partySize": 1, "userId": "u"}).is(404, "not_found")

	// Too many, and a database that does not answer in time.
	limited := openSite(t, s.Shop, func(c *Config) { c.RateLimit = true })
	q := *p
	q.site = limited
	q.key = s.program(t).key
	key, err := s.Store.APIKeyByText(t.Context(), s.Tenant.ID, q.key)
	if err != nil {
		t.Fatal(err)
	}
	if got := q.send("GET", "/services", nil).is(200, ""); got.header.Get("RateLimit-Limit") != strconv.Itoa(apiPerMinute) || got.header.Get("RateLimit-Remaining") == "" || got.header.Get("RateLimit-Reset") == "" {
		t.Errorf("the limit is told as %v", got.header)
	}
	for range 2 * apiPerMinute {
		limited.web.apiRate.OnLimit(headless{}, limitRequest(t), key.ID)
	}
	var all sync.WaitGroup
	lock := s.Conn(t)
	tx, err := lock.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "LOCK TABLE api_keys IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	for _, op := range apiOperations {
		all.Go(func() {
			if got := p.send(op.method, fill(op.path, absent), nil).is(503, "busy"); got.header.Get("Retry-After") == "" {
				t.Errorf("busy, and not when to come again: %v", got.header)
			}
		})
	}
	all.Wait()
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, op := range apiOperations {
		if got := q.send(op.method, fill(op.path, absent), nil).is(429, "too_many_requests"); got.header.Get("Retry-After") == "" {
			t.Errorf("too many, and not until when: %v", got.header)
		}
	}

	for _, op := range apiOperations {
		for _, status := range slices.Concat([]int{op.status}, everyFault, op.doc.faults) {
			if !p.seen.all[fmt.Sprintf("%s %s %d", op.method, op.path, status)] {
				t.Errorf("%s %s is documented to answer %d, and never did", op.method, op.path, status)
			}
		}
	}
}

func limitRequest(t testing.TB) *http.Request {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// validBody is a body that an operation takes.
func validBody(s *site, op apiOperation) any {
	switch op.doc.id {
	case "addSlots":
		return object{"slots": []object{{"service": "class", "resource": "studio-a", "startsAt": s.Start.Add(2000 * time.Hour).UTC().Format(time.RFC3339)}}}
	case "changeSlot":
		return object{"paused": false}
	case "cancelSlot":
		return object{"reason": "r"}
	case "previewSchedule", "addSchedule", "previewScheduleChange", "changeSchedule", "endSchedule":
		return scheduleBodyOf(s, op.doc.id)
	case "hold":
		return object{"slots": []string{"00000000-0000-4000-8000-000000000000"}, "partySize": 1, "userId": "u"}
	case "confirm", "release":
		return object{"userId": "u"}
	case "move":
		return object{"slot": "00000000-0000-4000-8000-000000000000"}
	case "join":
		return object{"partySize": 1, "contact": object{"name": "客", "email": "guest@example.com"}}
	}
	if op.doc.body == nil {
		return nil
	}
	return object{}
}

func TestTheAPIKeepsTenantsApart(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	l := live(t, s.Shop)
	planned := s.scheduled(t)
	other := s.AddTenant(t, "other", nil)
	key, err := s.Store.AddAPIKey(t.Context(), other, "test", store.Scopes)
	if err != nil {
		t.Fatal(err)
	}
	p := s.program(t)
	p.key = key
	before := dump(t, s.Shop)
	for _, op := range apiOperations {
		path := strings.NewReplacer("{slot}", l.full.ID, "{reservation}", l.booked.ID, "{entry}", l.offered.ID, "{schedule}", planned.ID).Replace(op.path)
		got := p.send(op.method, path, validBody(s, op), "If-Match", "*")
		if strings.Contains(op.path, "{") && got.status != http.StatusNotFound {
			t.Errorf("%s %s of another tenant: %d %s", op.method, op.path, got.status, got.raw)
		}
		if strings.Contains(got.raw, l.full.ID) || strings.Contains(got.raw, "class") && op.doc.id != "addSlots" || strings.Contains(got.raw, "客") {
			t.Errorf("%s %s tells of another tenant: %s", op.method, op.path, got.raw)
		}
	}
	p.send("POST", "/holds", holdBody("u", l.slot)).is(404, "not_found")
	lastUsed := func(text string) string { return lastUse.ReplaceAllString(text, "") }
	if after := dump(t, s.Shop); lastUsed(after) != lastUsed(before) {
		t.Errorf("another tenant's key has changed something:\n%s\nwas\n%s", after, before)
	}
	// A cookie is no key, and a key no cookie.
	b := atTheDesk(t, s)
	if got := b.get("/api/v1/slots"); got.status != http.StatusUnauthorized {
		t.Errorf("a session opens the API: %d", got.status)
	}
}

func TestTheListOfSlotsIsTheSameInPagesOfAnySize(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	p := s.program(t, "read")
	room := s.AddResource(t, s.Tenant, "studio-b")
	var want []string
	for range 4 {
		one := s.Slot(t, 1)
		twin, err := s.Store.AddSlots(t.Context(), s.Tenant.ID, []store.NewSlot{{ServiceID: s.Service.ID, ResourceID: room.ID, StartsAt: one.StartsAt, Capacity: 2}})
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, one.ID, twin[0].ID)
	}
	slices.Sort(want)
	for _, size := range []int{1, 2, 3, 100} {
		var got []string
		cursor := ""
		for range 20 {
			page := p.send("GET", "/slots?limit="+strconv.Itoa(size)+cursor, nil).is(200, "")
			for _, item := range page.items() {
				got = append(got, fmt.Sprint(item["id"]))
			}
			next, more := page.body["next"].(string)
			if !more {
				break
			}
			cursor = "&cursor=" + url.QueryEscape(next)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("in pages of %d: %d slots, %v", size, len(got), got)
		}
	}
	if n := len(p.send("GET", "/slots?resource=studio-b&free=2", nil).is(200, "").items()); n != 4 {
		t.Errorf("%d free in the other room", n)
	}
	for query, field := range map[string]string{
		"from=2027-01-01": "from", "from=2027-01-01T00:00:00": "from", "to=yesterday": "to", "from=2027-01-01T00:00:00Z&to=2028-02-01T00:00:00Z": "to",
		"from=2027-01-02T00:00:00Z&to=2027-01-01T00:00:00Z": "to", "service=nothing": "service", "resource=%00": "resource", "free=0": "free", "free=x": "free",
		"limit=0": "limit", "limit=501": "limit", "cursor=x": "cursor", "free=1&free=2": "free", "fields=all": "fields",
	} {
		got := p.send("GET", "/slots?"+query, nil).is(400, "bad_request")
		if !strings.Contains(got.raw, `"field":"`+field+`"`) {
			t.Errorf("%s: %s", query, got.raw)
		}
	}
}

func TestEventsAreReadSinceACursorEachOnce(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	p := s.program(t, "manage")
	cursor := ""
	var kinds []string
	for range 3 {
		s.Book(t, s.Slot(t, 1), 1)
		if _, err := s.Store.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			page := p.send("GET", "/events?limit=1"+cursor, nil).is(200, "")
			for _, e := range page.items() {
				kinds = append(kinds, fmt.Sprint(e["kind"]))
			}
			cursor = "&after=" + page.str("next")
		}
		for _, personal := range []string{"guest", "客", "+81"} {
			if got := p.send("GET", "/events", nil); strings.Contains(got.raw, personal) {
				t.Errorf("the feed tells %q: %s", personal, got.raw)
			}
		}
	}
	if got := strings.Join(kinds, " "); got != "held confirmed held confirmed held confirmed" {
		t.Errorf("read %s", got)
	}
	p.send("GET", "/events?after=-1", nil).is(400, "bad_request")
	p.send("GET", "/events?after=x", nil).is(400, "bad_request")
}

// The matrix of keys: same and other body, at once, after the end, other tenant's and other route's.
func TestAnIdempotencyKeyIsCarriedOutOnce(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	p := s.program(t)
	const n = 8
	slot := s.Slot(t, 5)
	ids := map[string]int{}
	var mu sync.Mutex
	var all sync.WaitGroup
	barrier := storetest.Barrier(n)
	for range n {
		all.Go(func() {
			barrier()
			got := p.send("POST", "/holds", holdBody("u", slot), "Idempotency-Key", `"one"`).is(201, "")
			mu.Lock()
			defer mu.Unlock()
			ids[fmt.Sprint(got.first()["id"])]++
		})
	}
	all.Wait()
	if len(ids) != 1 || s.Read(t, slot).Taken != 1 {
		t.Fatalf("one key made %v, taken %d", ids, s.Read(t, slot).Taken)
	}
	body := holdBody("u", slot)
	body["idempotencyKey"] = "one"
	if got := p.send("POST", "/holds", body).is(201, ""); ids[fmt.Sprint(got.first()["id"])] == 0 {
		t.Error("the key in the body is another")
	}
	p.send("POST", "/holds", body, "Idempotency-Key", "two").is(400, "bad_request")
	p.send("POST", "/holds", holdBody("v", slot), "Idempotency-Key", "one").is(422, "key_reused")

	id := ""
	for id = range ids {
		p.send("POST", "/reservations/"+id+"/release", object{"userId": "u"}).is(200, "")
	}
	if got := p.send("POST", "/holds", holdBody("u", slot), "Idempotency-Key", "one").is(201, ""); ids[fmt.Sprint(got.first()["id"])] != 0 {
		t.Error("after the end the key gives the hold that is over")
	}

	// Steps whose own state would answer otherwise the second time.
	start := func(hours int) object {
		return object{"slots": []object{{"service": "class", "resource": "studio-a", "startsAt": s.Start.Add(time.Duration(900+hours) * time.Hour).UTC().Format(time.RFC3339)}}}
	}
	answers := map[int]int{}
	barrier = storetest.Barrier(n)
	for range n {
		all.Go(func() {
			barrier()
			got := p.send("POST", "/slots", start(0), "Idempotency-Key", "slots")
			if got.status == 409 {
				got.is(409, "in_progress")
			} else {
				got.is(201, "")
			}
			mu.Lock()
			defer mu.Unlock()
			answers[got.status]++
		})
	}
	all.Wait()
	if answers[201] == 0 {
		t.Errorf("answers %v", answers)
	}
	p.send("POST", "/slots", start(0), "Idempotency-Key", "slots").is(201, "")
	p.send("POST", "/slots", start(1), "Idempotency-Key", "slots").is(422, "key_reused")
	var made int
	if err := s.Pool.QueryRow(t.Context(), "SELECT count(*) FROM slots").Scan(&made); err != nil || made != 2 {
		t.Errorf("%d slots, %v", made, err)
	}
	// The key is that tenant's and that route's.
	p.send("POST", "/slots/"+slot.ID+"/cancel", object{"reason": "r"}, "Idempotency-Key", "slots").is(200, "")
	other := s.AddTenant(t, "other", nil)
	s.AddService(t, other, "class", nil)
	s.AddResource(t, other, "studio-a")
	theirs, err := s.Store.AddAPIKey(t.Context(), other, "test", store.Scopes)
	if err != nil {
		t.Fatal(err)
	}
	q := *p
	q.key = theirs
	q.send("POST", "/slots", start(0), "Idempotency-Key", "slots").is(201, "")
	p.send("POST", "/slots", start(2), "Idempotency-Key", strings.Repeat("k", 300)).is(400, "bad_request")
}

func TestOnlyKeysThatMayManageReadContacts(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	full := s.Slot(t, 1)
	booked := s.Book(t, full, 1)
	waits := s.Join(t, full, 1)
	for _, scope := range []string{"read", "book", "manage"} {
		p := s.program(t, "read", scope)
		for _, path := range []string{"/reservations/" + booked.ID, "/waitlist/" + waits.ID} {
			got := p.send("GET", path, nil).is(200, "")
			if told := strings.Contains(got.raw, "@example.com"); told != (scope == "manage") {
				t.Errorf("a key for %s reads %s", scope, got.raw)
			}
			if strings.Contains(got.raw, s.Store.ReservationToken(booked)) || strings.Contains(got.raw, s.Store.EntryToken(waits)) {
				t.Errorf("the secret link is told: %s", got.raw)
			}
		}
	}
}

func TestTheDocumentIsServedToAnybodyAndShownToPeople(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := s.browser(t)
	if p := b.get("/api/v1/openapi.json").is(http.StatusOK); !json.Valid([]byte(p.body)) || !strings.Contains(p.body, `"openapi": "3.1.0"`) {
		t.Errorf("the document is %.200s", p.body)
	}
	for _, lang := range []string{"ja", "en"} {
		b.header.Set("Accept-Language", lang)
		p := b.get("/api/v1").is(http.StatusOK)
		for _, op := range apiOperations {
			if !p.has("id", op.doc.id) {
				t.Errorf("%s is not shown", op.doc.id)
			}
		}
	}
	p := s.program(t)
	if got := p.send("DELETE", "/slots", nil).is(405, "method_not_allowed"); got.header.Get("Allow") != "GET, POST" {
		t.Errorf("allowed: %q", got.header.Get("Allow"))
	}
	p.send("GET", "/nothing", nil).is(404, "not_found")
}

// A client written for numbers and times as they stand in the document.
func FuzzAPIBodies(f *testing.F) {
	for _, seed := range []string{`{}`, `{"slots":["x"],"partySize":1,"userId":"u"}`, `{"partySize":1e99}`, `{"slots":null}`, "{\"userId\":\"\u0000\"}", `[`, `{"a":{"a":{"a":1}}}`} {
		f.Add(seed)
	}
	s := openSite(f, shop.New(f, nil))
	p := s.program(f)
	f.Fuzz(func(t *testing.T, body string) {
		q := *p
		q.t = t
		for _, path := range []string{"/holds", "/slots", "/schedules"} {
			if got := q.send("POST", path, body); got.status >= 500 {
				t.Errorf("%s with %q: %d", path, body, got.status)
			}
		}
	})
}
