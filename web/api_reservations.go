package web

import (
	"errors"
	"net/http"
	"strconv"

	"holdfast/store"
	"holdfast/views/i18n"
)

// apiReservation is a reservation. The contact is told to keys that may manage.
type apiReservation struct {
	ID           string            `json:"id"`
	Slot         string            `json:"slot"`
	State        string            `json:"state"`
	PartySize    int               `json:"partySize"`
	Number       string            `json:"number"` // that people read to each other
	ExpiresAt    *apiTime          `json:"expiresAt"`
	TermsVersion int               `json:"termsVersion"`
	Group        *string           `json:"group"` // held together with others
	Source       string            `json:"source"`
	Attendance   string            `json:"attendance"`
	CreatedAt    apiTime           `json:"createdAt"`
	ConfirmedAt  *apiTime          `json:"confirmedAt"`
	EndedAt      *apiTime          `json:"endedAt"`
	CancelledBy  string            `json:"cancelledBy"`
	CancelReason string            `json:"cancelReason"`
	Contact      *apiContact       `json:"contact,omitempty"`
	Answers      map[string]string `json:"answers,omitempty"`
}

// apiContact is who a reservation or an entry is for.
type apiContact struct {
	Name   string `json:"name"`
	Kana   string `json:"kana"`
	Email  string `json:"email"`
	Phone  string `json:"phone"` // E.164
	Note   string `json:"note"`
	Locale string `json:"locale"`
}

func contactOfAPI(q *apiRequest, c apiContact) *apiContact {
	if !q.may(scopeManage) || c == (apiContact{Locale: c.Locale}) {
		return nil
	}
	return &c
}

func apiReservationOf(q *apiRequest, r store.Reservation) apiReservation {
	out := apiReservation{
		ID: r.ID, Slot: r.SlotID, State: string(r.State), PartySize: r.PartySize, Number: r.Number, TermsVersion: r.TermsVersion, Group: r.GroupID,
		Source: string(r.Source), Attendance: r.Attendance, CreatedAt: apiTime(r.CreatedAt), ConfirmedAt: apiTimeOf(r.ConfirmedAt), EndedAt: apiTimeOf(r.EndedAt),
		CancelledBy: r.CancelledBy, CancelReason: r.CancelReason, Contact: contactOfAPI(q, apiContact{r.Name, r.Kana, r.Email, r.Phone, r.Note, r.Locale}),
	}
	if r.State == store.Held {
		out.ExpiresAt = apiTimeOf(r.ShownUntil)
		if r.ExpiresAt != nil && !r.ExpiresAt.After(r.Now) { // due is over, whether or not it has been swept
			out.State = string(store.ExpiredR)
		}
	}
	if q.may(scopeManage) && len(r.Answers) > 0 {
		out.Answers = r.Answers
	}
	return out
}

const mostSlotsTogether = 20

// apiPostHold holds seats of one slot, or of several together or not at all.
func (s *Server) apiPostHold(q *apiRequest) (any, error) {
	var body struct {
		Slots          []string `json:"slots"`
		PartySize      int      `json:"partySize"`
		UserID         string   `json:"userId"`
		IdempotencyKey string   `json:"idempotencyKey"`
		TermsVersions  []int    `json:"termsVersions"`
		Locale         string   `json:"locale"`
	}
	if err := q.decode(&body); err != nil {
		return nil, err
	}
	key, err := q.idempotencyKey()
	if err != nil {
		return nil, err
	}
	named := q.text("idempotencyKey", body.IdempotencyKey, longestKey, false)
	if key != "" && named != "" && key != named {
		q.fault("idempotencyKey", "invalid")
	}
	if key == "" {
		key = named
	}
	version, err := q.version()
	if err != nil {
		return nil, err
	}
	user := q.text("userId", body.UserID, longestKey, true)
	if len(body.Slots) == 0 || len(body.Slots) > mostSlotsTogether || version != nil && len(body.Slots) > 1 {
		q.fault("slots", "invalid")
	}
	if body.PartySize < 1 || body.PartySize > mostSeats {
		q.fault("partySize", "invalid")
	}
	if body.TermsVersions != nil && len(body.TermsVersions) != len(body.Slots) {
		q.fault("termsVersions", "invalid")
	}
	locale := q.locale(body.Locale)
	seen := map[string]bool{}
	for i, id := range body.Slots {
		if seen[id] {
			q.fault("slots["+strconv.Itoa(i)+"]", "invalid")
		}
		seen[id] = true
	}
	if err := q.ok(); err != nil {
		return nil, err
	}
	ctx := q.Context()
	for try := 1; ; try++ {
		req := store.HoldRequest{
			TenantID: q.tenant(), PartySize: body.PartySize, Owner: "user:" + user, Key: key, Source: store.SourceAPI, Locale: locale, Actor: q.actor(),
		}
		for i, id := range body.Slots {
			if !store.ValidID(id) {
				return nil, store.NotFound
			}
			one := store.HoldSlot{ID: id, Version: version}
			if body.TermsVersions != nil {
				one.TermsVersion = body.TermsVersions[i]
			} else {
				// Who has shown nobody any terms agrees to those that are in force.
				slot, err := s.store.Slot(ctx, q.tenant(), id)
				if err != nil {
					return nil, err
				}
				one.TermsVersion = slot.TermsVersion
			}
			req.Slots = append(req.Slots, one)
		}
		held, err := s.store.Hold(ctx, req)
		if errors.Is(err, store.TermsChanged) && body.TermsVersions == nil && try < termsTries {
			continue
		}
		if err != nil {
			return nil, err
		}
		list := apiList[apiReservation]{Items: []apiReservation{}}
		for _, r := range held {
			list.Items = append(list.Items, apiReservationOf(q, r))
		}
		return list, nil
	}
}

// locale is the language of a person, the venue's where none is named.
func (q *apiRequest) locale(named string) string {
	switch {
	case named == "":
		return q.caller.tenant.Locale
	case !i18n.Known(named):
		q.fault("locale", "invalid")
	}
	return named
}

// contact checks and normalises a contact as the pages' forms do.
func (q *apiRequest) contact(c apiContact, emailNeeded bool) store.Contact {
	out := store.Contact{
		Name: store.NormalizeName(q.text("contact.name", c.Name, longestName, false)), Kana: store.NormalizeKana(q.text("contact.kana", c.Kana, longestName, false)),
		Note: q.text("contact.note", c.Note, longestNote, false), Locale: q.locale(c.Locale),
	}
	if email := q.text("contact.email", c.Email, longestEmail, emailNeeded); email != "" {
		normal, err := store.NormalizeEmail(email)
		if err != nil {
			q.fault("contact.email", "invalid")
		}
		out.Email = normal
	}
	if phone := q.text("contact.phone", c.Phone, longestPhone, false); phone != "" {
		normal, err := store.NormalizePhone(phone, region(q.caller.tenant))
		if err != nil {
			q.fault("contact.phone", "invalid")
		}
		out.Phone = normal
	}
	return out
}

// apiReservation finds the reservation of the path.
func (s *Server) apiReservation(q *apiRequest) (store.Reservation, error) {
	id, err := q.id("reservation")
	if err != nil {
		return store.Reservation{}, err
	}
	return s.store.Reservation(q.Context(), q.tenant(), id)
}

func (s *Server) apiGetReservation(q *apiRequest) (any, error) {
	q.query()
	if err := q.ok(); err != nil {
		return nil, err
	}
	r, err := s.apiReservation(q)
	if err != nil {
		return nil, err
	}
	return apiReservationOf(q, r), nil
}

func (s *Server) apiConfirm(q *apiRequest) (any, error) {
	var body struct {
		UserID       string            `json:"userId"`
		TermsVersion *int              `json:"termsVersion"`
		Contact      apiContact        `json:"contact"`
		Answers      map[string]string `json:"answers"`
		Consent      string            `json:"consentVersion"`
	}
	if err := q.decode(&body); err != nil {
		return nil, err
	}
	user := q.text("userId", body.UserID, longestKey, true)
	contact := q.contact(body.Contact, false)
	consent := q.text("consentVersion", body.Consent, 100, false)
	if len(body.Answers) > 50 {
		q.fault("answers", "invalid")
	}
	for id, answer := range body.Answers {
		q.text("answers."+id, answer, longestNote, false)
		q.text("answers", id, longestName, true)
	}
	contact.Answers = body.Answers
	if err := q.ok(); err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		r, err := s.apiReservation(q)
		if err != nil {
			return nil, err
		}
		terms := r.TermsVersion
		if body.TermsVersion != nil {
			terms = *body.TermsVersion
		}
		confirmed, err := s.store.Confirm(q.Context(), store.ConfirmRequest{
			TenantID: q.tenant(), ID: r.ID, Owner: "user:" + user, TermsVersion: terms, Contact: contact, ConsentVersion: consent, Actor: q.actor(),
		})
		if errors.Is(err, store.TermsChanged) && body.TermsVersion == nil && try < termsTries {
			continue
		}
		if err != nil {
			return nil, err
		}
		return apiReservationOf(q, confirmed), nil
	}
}

func (s *Server) apiRelease(q *apiRequest) (any, error) {
	var body struct {
		UserID string `json:"userId"`
	}
	if err := q.decode(&body); err != nil {
		return nil, err
	}
	user := q.text("userId", body.UserID, longestKey, true)
	if err := q.ok(); err != nil {
		return nil, err
	}
	r, err := s.apiReservation(q)
	if err != nil {
		return nil, err
	}
	_, err = s.store.Release(q.Context(), store.OwnerPress{Press: store.Press{TenantID: q.tenant(), ID: r.ID, Actor: q.actor()}, Owner: "user:" + user})
	return s.apiReservationAfter(q, r.ID, err)
}

// apiReservationAfter is the reservation as a step left it.
func (s *Server) apiReservationAfter(q *apiRequest, id string, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	r, err := s.store.Reservation(q.Context(), q.tenant(), id)
	if err != nil {
		return nil, err
	}
	return apiReservationOf(q, r), nil
}

func (s *Server) apiCancel(q *apiRequest) (any, error) {
	version, err := q.version()
	if err != nil {
		return nil, err
	}
	var body struct {
		Reason string `json:"reason"`
		Notify *bool  `json:"notify"` // false: the customer is not told, which is recorded
	}
	if err := q.decode(&body); err != nil {
		return nil, err
	}
	reason := q.text("reason", body.Reason, longestReason, false)
	if err := q.ok(); err != nil {
		return nil, err
	}
	r, err := s.apiReservation(q)
	if err != nil {
		return nil, err
	}
	_, err = s.store.Cancel(q.Context(), store.CancelRequest{
		TenantID: q.tenant(), IDs: []string{r.ID}, Actor: q.actor(), Reason: reason, Version: version, Silent: body.Notify != nil && !*body.Notify,
	})
	return s.apiReservationAfter(q, r.ID, err)
}

func (s *Server) apiMove(q *apiRequest) (any, error) {
	version, err := q.version()
	if err != nil {
		return nil, err
	}
	var body struct {
		Slot         string `json:"slot"`
		TermsVersion *int   `json:"termsVersion"` // of the target
		Reason       string `json:"reason"`
	}
	if err := q.decode(&body); err != nil {
		return nil, err
	}
	reason := q.text("reason", body.Reason, longestReason, false)
	if q.text("slot", body.Slot, 100, true); len(q.faults) == 0 && !store.ValidID(body.Slot) {
		return nil, store.NotFound
	}
	if err := q.ok(); err != nil {
		return nil, err
	}
	r, err := s.apiReservation(q)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		target, err := s.store.Slot(q.Context(), q.tenant(), body.Slot)
		if err != nil {
			return nil, err
		}
		terms := target.TermsVersion
		if body.TermsVersion != nil {
			terms = *body.TermsVersion
		}
		moved, err := s.store.Move(q.Context(), store.MoveRequest{TenantID: q.tenant(), ID: r.ID, TargetSlot: target.ID, TargetTerms: terms, Actor: q.actor(), Reason: reason, Version: version})
		if errors.Is(err, store.TermsChanged) && body.TermsVersion == nil && try < termsTries {
			continue
		}
		if err != nil {
			return nil, err
		}
		return apiReservationOf(q, moved), nil
	}
}

// apiEntry is a waitlist entry.
type apiEntry struct {
	ID          string      `json:"id"`
	Slot        string      `json:"slot"`
	State       string      `json:"state"`
	PartySize   int         `json:"partySize"`
	Place       *int        `json:"place"` // 1 is next; null unless it waits
	Of          *int        `json:"of"`    // how many wait
	ExpiresAt   *apiTime    `json:"expiresAt"`
	Reservation *string     `json:"reservation"`
	JoinedAt    apiTime     `json:"joinedAt"`
	OfferedAt   *apiTime    `json:"offeredAt"`
	EndedAt     *apiTime    `json:"endedAt"`
	Contact     *apiContact `json:"contact,omitempty"`
}

func apiEntryOf(q *apiRequest, e store.Entry) apiEntry {
	out := apiEntry{
		ID: e.ID, Slot: e.SlotID, State: string(entryState(e)), PartySize: e.PartySize, Reservation: e.ReservationID, JoinedAt: apiTime(e.JoinedAt),
		OfferedAt: apiTimeOf(e.OfferedAt), EndedAt: apiTimeOf(e.EndedAt), Contact: contactOfAPI(q, apiContact{e.Name, e.Kana, e.Email, e.Phone, e.Note, e.Locale}),
	}
	switch out.State {
	case string(store.Waiting):
		if e.Place > 0 {
			out.Place, out.Of = &e.Place, &e.Of
		}
	case string(store.Offered):
		out.ExpiresAt = apiTimeOf(e.ShownUntil)
	}
	return out
}

func (s *Server) apiJoin(q *apiRequest) (any, error) {
	id, err := q.id("slot")
	if err != nil {
		return nil, err
	}
	var body struct {
		PartySize int        `json:"partySize"`
		Contact   apiContact `json:"contact"`
		Consent   string     `json:"consentVersion"`
	}
	if err := q.decode(&body); err != nil {
		return nil, err
	}
	key, err := q.idempotencyKey()
	if err != nil {
		return nil, err
	}
	version, err := q.version()
	if err != nil {
		return nil, err
	}
	if body.PartySize < 1 || body.PartySize > mostSeats {
		q.fault("partySize", "invalid")
	}
	contact := q.contact(body.Contact, true)
	consent := q.text("consentVersion", body.Consent, 100, false)
	if err := q.ok(); err != nil {
		return nil, err
	}
	e, err := s.store.Join(q.Context(), store.JoinRequest{
		TenantID: q.tenant(), SlotID: id, PartySize: body.PartySize, Contact: contact, Key: key, ConsentVersion: consent, Source: store.SourceAPI, Actor: q.actor(), Version: version,
	})
	if err != nil {
		return nil, err
	}
	return apiEntryOf(q, e), nil
}

func (s *Server) apiEntry(q *apiRequest) (store.Entry, error) {
	id, err := q.id("entry")
	if err != nil {
		return store.Entry{}, err
	}
	return s.store.Entry(q.Context(), q.tenant(), id)
}

func (s *Server) apiGetEntry(q *apiRequest) (any, error) {
	q.query()
	if err := q.ok(); err != nil {
		return nil, err
	}
	e, err := s.apiEntry(q)
	if err != nil {
		return nil, err
	}
	return apiEntryOf(q, e), nil
}

// apiEndEntry is withdraw and decline.
func apiEndEntry(step func(*store.Store, *apiRequest, store.Press) error) func(*Server, *apiRequest) (any, error) {
	return func(s *Server, q *apiRequest) (any, error) {
		version, err := q.version()
		if err != nil {
			return nil, err
		}
		if err := q.decode(&struct{}{}); err != nil {
			return nil, err
		}
		e, err := s.apiEntry(q)
		if err != nil {
			return nil, err
		}
		if err := step(s.store, q, store.Press{TenantID: q.tenant(), ID: e.ID, Actor: q.actor(), Version: version}); err != nil {
			return nil, err
		}
		if e, err = s.apiEntry(q); err != nil {
			return nil, err
		}
		return apiEntryOf(q, e), nil
	}
}

// apiTakeSeat is accept and claim: the answer is the booking.
func apiTakeSeat(step func(*store.Store, *apiRequest, store.AcceptRequest) (store.Reservation, error)) func(*Server, *apiRequest) (any, error) {
	return func(s *Server, q *apiRequest) (any, error) {
		version, err := q.version()
		if err != nil {
			return nil, err
		}
		var body struct {
			TermsVersion *int `json:"termsVersion"`
		}
		if err := q.decode(&body); err != nil {
			return nil, err
		}
		e, err := s.apiEntry(q)
		if err != nil {
			return nil, err
		}
		for try := 1; ; try++ {
			slot, err := s.store.Slot(q.Context(), q.tenant(), e.SlotID)
			if err != nil {
				return nil, err
			}
			terms := slot.TermsVersion
			if body.TermsVersion != nil {
				terms = *body.TermsVersion
			}
			r, err := step(s.store, q, store.AcceptRequest{TenantID: q.tenant(), ID: e.ID, TermsVersion: terms, Actor: q.actor(), Version: version})
			if errors.Is(err, store.TermsChanged) && body.TermsVersion == nil && try < termsTries {
				continue
			}
			if err != nil {
				return nil, err
			}
			return apiReservationOf(q, r), nil
		}
	}
}

// apiEvent is a line of a slot's history. It holds no personal data.
type apiEvent struct {
	Cursor    string         `json:"cursor"`
	Slot      string         `json:"slot"`
	Number    *int64         `json:"number"` // its place in the slot's order; null for what has none
	Kind      string         `json:"kind"`
	Actor     string         `json:"actor"`
	PartySize int            `json:"partySize"`
	Seats     int            `json:"seats"` // by how much the seats taken changed
	Capacity  *int           `json:"capacity"`
	Mode      string         `json:"mode"`
	Subject   *string        `json:"subject"` // the reservation or the entry that it is about
	At        apiTime        `json:"at"`
	Details   map[string]any `json:"details"`
}

func apiEventOf(e store.FeedEvent) apiEvent {
	details := e.Details
	if details == nil {
		details = map[string]any{}
	}
	return apiEvent{
		Cursor: strconv.FormatInt(e.Feed, 10), Slot: e.SlotID, Number: e.Number, Kind: string(e.Kind), Actor: e.Actor, PartySize: e.PartySize, Seats: e.Seats,
		Capacity: e.Capacity, Mode: e.Mode, Subject: e.SubjectID, At: apiTime(e.At), Details: details,
	}
}

// apiGetEvents lists what happened after a cursor. Next always leads on: a
// caller that has read all asks with it again later.
func (s *Server) apiGetEvents(q *apiRequest) (any, error) {
	q.query("after", "limit")
	limit := q.limit()
	var after int64
	if text := q.URL.Query().Get("after"); text != "" {
		var err error
		if after, err = strconv.ParseInt(text, 10, 64); err != nil || after < 0 {
			q.fault("after", "invalid")
		}
	}
	if err := q.ok(); err != nil {
		return nil, err
	}
	events, err := s.store.Feed(q.Context(), q.tenant(), after, limit)
	if err != nil {
		return nil, err
	}
	list := apiList[apiEvent]{Items: []apiEvent{}}
	for _, e := range events {
		after = e.Feed
		list.Items = append(list.Items, apiEventOf(e))
	}
	next := strconv.FormatInt(after, 10)
	list.Next = &next
	return list, nil
}

// apiService is a service, as far as a program needs it to choose slots.
type apiService struct {
	Slug    string            `json:"slug"`
	Name    map[string]string `json:"name"` // by language
	Minutes int               `json:"minutes"`
	Active  bool              `json:"active"`
}

type apiResource struct {
	Slug string            `json:"slug"`
	Name map[string]string `json:"name"`
}

func (s *Server) apiGetServices(q *apiRequest) (any, error) {
	q.query()
	if err := q.ok(); err != nil {
		return nil, err
	}
	services, err := s.store.Services(q.Context(), q.tenant())
	if err != nil {
		return nil, err
	}
	list := apiList[apiService]{Items: []apiService{}}
	for _, sv := range services {
		list.Items = append(list.Items, apiService{sv.Slug, sv.Name, int(sv.Duration.Minutes()), sv.Active})
	}
	return list, nil
}

func (s *Server) apiGetResources(q *apiRequest) (any, error) {
	q.query()
	if err := q.ok(); err != nil {
		return nil, err
	}
	resources, err := s.store.Resources(q.Context(), q.tenant())
	if err != nil {
		return nil, err
	}
	list := apiList[apiResource]{Items: []apiResource{}}
	for _, r := range resources {
		list.Items = append(list.Items, apiResource{r.Slug, r.Name})
	}
	return list, nil
}

// apiOperations is every operation, in the order of the document.
var apiOperations = []apiOperation{
	{http.MethodGet, "/services", []string{scopeRead, scopeBook}, (*Server).apiGetServices, http.StatusOK, false, apiDoc{
		id: "listServices", text: "The services of the tenant.", answer: apiList[apiService]{}, faults: []int{400},
	}},
	{http.MethodGet, "/resources", []string{scopeRead, scopeBook}, (*Server).apiGetResources, http.StatusOK, false, apiDoc{
		id: "listResources", text: "The resources of the tenant.", answer: apiList[apiResource]{}, faults: []int{400},
	}},
	{http.MethodGet, "/slots", []string{scopeRead, scopeBook}, (*Server).apiGetSlots, http.StatusOK, false, apiDoc{
		id: "listSlots", text: "Slots by their start, with the seats that a newcomer could take now. The range is at most 366 days; without one it is the next 31 days.",
		query: []apiParam{
			{"from", "first start, included", timeSchema},
			{"to", "end of the starts, not included", timeSchema},
			{"service", "slug of the service", textSchema},
			{"resource", "slug of the resource", textSchema},
			{"free", "only slots that would take a hold of so many seats now", countSchema(1, 1000)},
			{"limit", "items of a page", countSchema(1, apiPageMost)},
			{"cursor", "next of the page before", textSchema},
		},
		answer: apiList[apiSlot]{}, faults: []int{400},
	}},
	{http.MethodPost, "/slots", []string{scopeManage}, (*Server).apiPostSlots, http.StatusCreated, true, apiDoc{
		id: "addSlots", text: "Make slots, all or none. Each has its own copy of its service's policies.", body: struct {
			Slots []apiNewSlot `json:"slots"`
		}{}, required: []string{"slots"}, answer: apiList[apiSlot]{}, faults: []int{400, 409, 413, 415, 422},
	}},
	{http.MethodGet, "/slots/{slot}", []string{scopeRead, scopeBook}, (*Server).apiGetSlot, http.StatusOK, false, apiDoc{
		id: "getSlot", text: "A slot. The ETag is its version, for If-Match.", answer: apiSlot{}, etag: true, faults: []int{400, 404},
	}},
	{http.MethodPatch, "/slots/{slot}", []string{scopeManage}, (*Server).apiPatchSlot, http.StatusOK, false, apiDoc{
		id: "changeSlot", text: "Change one of capacity, status (open, closed) and paused. If-Match names the version that was seen, or * for any; a stale one is 412 and changes nothing.",
		body: apiPatch{}, match: true, answer: apiSlot{}, etag: true, faults: []int{400, 404, 409, 412, 413, 415, 428},
	}},
	{http.MethodPost, "/slots/{slot}/cancel", []string{scopeManage}, (*Server).apiCancelSlot, http.StatusOK, true, apiDoc{
		id: "cancelSlot", text: "Cancel the slot: all bookings and entries end, and everybody is told with the reason.", body: struct {
			Reason string `json:"reason"`
		}{}, required: []string{"reason"}, match: true, answer: apiSlot{}, etag: true, faults: []int{400, 404, 409, 412, 413, 415, 422},
	}},
	{http.MethodGet, "/slots/{slot}/roster", []string{scopeManage}, (*Server).apiGetRoster, http.StatusOK, false, apiDoc{
		id: "getRoster", text: "Who has booked and who waits, with contacts.", answer: apiRoster{}, faults: []int{400, 404},
	}},
	{http.MethodPost, "/holds", []string{scopeBook}, (*Server).apiPostHold, http.StatusCreated, false, apiDoc{
		id: "hold", text: "Hold seats for a user until expiresAt: of one slot, or of several, together or not at all. The same key for the same request is answered with the same hold, as long as it lives; it may stand in the header or in the body. Without termsVersions those in force are agreed to.",
		body: struct {
			Slots          []string `json:"slots"`
			PartySize      int      `json:"partySize"`
			UserID         string   `json:"userId"`
			IdempotencyKey string   `json:"idempotencyKey"`
			TermsVersions  []int    `json:"termsVersions"`
			Locale         string   `json:"locale"`
		}{}, required: []string{"slots", "partySize", "userId"}, match: true, answer: apiList[apiReservation]{}, faults: []int{400, 404, 409, 412, 413, 415, 422},
	}},
	{http.MethodGet, "/reservations/{reservation}", []string{scopeRead, scopeBook}, (*Server).apiGetReservation, http.StatusOK, false, apiDoc{
		id: "getReservation", text: "A reservation. The contact is told to keys with the scope manage.", answer: apiReservation{}, faults: []int{400, 404},
	}},
	{http.MethodPost, "/reservations/{reservation}/confirm", []string{scopeBook}, (*Server).apiConfirm, http.StatusOK, true, apiDoc{
		id: "confirm", text: "Make the user's hold a booking, with all that is held together with it.", body: struct {
			UserID       string            `json:"userId"`
			TermsVersion *int              `json:"termsVersion"`
			Contact      apiContact        `json:"contact"`
			Answers      map[string]string `json:"answers"`
			Consent      string            `json:"consentVersion"`
		}{}, required: []string{"userId"}, answer: apiReservation{}, faults: []int{400, 404, 409, 410, 413, 415, 422},
	}},
	{http.MethodPost, "/reservations/{reservation}/release", []string{scopeBook}, (*Server).apiRelease, http.StatusOK, true, apiDoc{
		id: "release", text: "Give the user's hold back.", body: struct {
			UserID string `json:"userId"`
		}{}, required: []string{"userId"}, answer: apiReservation{}, faults: []int{400, 404, 409, 413, 415, 422},
	}},
	{http.MethodPost, "/reservations/{reservation}/cancel", []string{scopeBook}, (*Server).apiCancel, http.StatusOK, true, apiDoc{
		id: "cancel", text: "Cancel a booking; its seats go to whoever waits. The customer is told, unless notify is false, which is recorded.", body: struct {
			Reason string `json:"reason"`
			Notify *bool  `json:"notify"`
		}{}, match: true, answer: apiReservation{}, faults: []int{400, 404, 409, 412, 413, 415, 422},
	}},
	{http.MethodPost, "/reservations/{reservation}/move", []string{scopeBook}, (*Server).apiMove, http.StatusOK, true, apiDoc{
		id: "move", text: "Move a booking to another slot, or leave it where it is: never neither. If-Match names the version of the slot that it stands in.", body: struct {
			Slot         string `json:"slot"`
			TermsVersion *int   `json:"termsVersion"`
			Reason       string `json:"reason"`
		}{}, required: []string{"slot"}, match: true, answer: apiReservation{}, faults: []int{400, 404, 409, 412, 413, 415, 422},
	}},
	{http.MethodPost, "/slots/{slot}/waitlist", []string{scopeBook}, (*Server).apiJoin, http.StatusCreated, false, apiDoc{
		id: "join", text: "Wait for a full slot. The same key is answered with the same entry.", body: struct {
			PartySize int        `json:"partySize"`
			Contact   apiContact `json:"contact"`
			Consent   string     `json:"consentVersion"`
		}{}, required: []string{"partySize", "contact"}, match: true, answer: apiEntry{}, faults: []int{400, 404, 409, 412, 413, 415},
	}},
	{http.MethodGet, "/waitlist/{entry}", []string{scopeRead, scopeBook}, (*Server).apiGetEntry, http.StatusOK, false, apiDoc{
		id: "getEntry", text: "A waitlist entry, with its place, or the deadline of its offer.", answer: apiEntry{}, faults: []int{400, 404},
	}},
	{http.MethodPost, "/waitlist/{entry}/withdraw", []string{scopeBook}, apiEndEntry(func(st *store.Store, q *apiRequest, p store.Press) error {
		_, err := st.Withdraw(q.Context(), p)
		return err
	}), http.StatusOK, true, apiDoc{id: "withdraw", text: "Leave the waitlist.", body: struct{}{}, match: true, answer: apiEntry{}, faults: []int{400, 404, 409, 412, 413, 415, 422}}},
	{http.MethodPost, "/waitlist/{entry}/accept", []string{scopeBook}, apiTakeSeat(func(st *store.Store, q *apiRequest, r store.AcceptRequest) (store.Reservation, error) {
		return st.Accept(q.Context(), r)
	}), http.StatusOK, true, apiDoc{id: "accept", text: "Take the seats that are offered: the answer is the booking.", body: struct {
		TermsVersion *int `json:"termsVersion"`
	}{}, match: true, answer: apiReservation{}, faults: []int{400, 404, 409, 410, 412, 413, 415, 422}}},
	{http.MethodPost, "/waitlist/{entry}/decline", []string{scopeBook}, apiEndEntry(func(st *store.Store, q *apiRequest, p store.Press) error {
		_, err := st.Decline(q.Context(), p)
		return err
	}), http.StatusOK, true, apiDoc{id: "decline", text: "Let the offer pass.", body: struct{}{}, match: true, answer: apiEntry{}, faults: []int{400, 404, 409, 412, 413, 415, 422}}},
	{http.MethodPost, "/waitlist/{entry}/claim", []string{scopeBook}, apiTakeSeat(func(st *store.Store, q *apiRequest, r store.AcceptRequest) (store.Reservation, error) {
		return st.Claim(q.Context(), r)
	}), http.StatusOK, true, apiDoc{id: "claim", text: "Take open seats, first come, first served.", body: struct {
		TermsVersion *int `json:"termsVersion"`
	}{}, match: true, answer: apiReservation{}, faults: []int{400, 404, 409, 412, 413, 415, 422}}},
	{http.MethodGet, "/events", []string{scopeManage}, (*Server).apiGetEvents, http.StatusOK, false, apiDoc{
		id: "listEvents", text: "What happened in all slots, in the order in which it became visible, after a cursor. Each event is listed once; next leads on also where nothing is left to read, and is to be kept.",
		query: []apiParam{{"after", "cursor of the last event read; none: from the beginning", textSchema}, {"limit", "items of a page", countSchema(1, apiPageMost)}}, answer: apiList[apiEvent]{}, faults: []int{400},
	}},
}
