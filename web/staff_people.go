package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/go-chi/chi/v5"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// How many customers, lines of a history, lines ahead and other contacts a page shows.
const (
	customersShown = 20
	linesShown     = 30
	aheadShown     = 50
	contactsShown  = 10
	// peopleFound is how many bookings, and how many waits, a search finds at most.
	peopleFound = store.SearchMost
	// erasePreviews is in how many slots the page before erasing works out what would follow.
	erasePreviews = 3
)

// Query fields that page through a list: the place of its last line, which is no personal data.
const (
	fieldBefore   = "before"
	fieldBeforeID = "id"
)

// placeOf reads where a list goes on; nonsense is the beginning.
func placeOf(q url.Values) (time.Time, string) {
	at, err := time.Parse(time.RFC3339Nano, q.Get(fieldBefore))
	if id := q.Get(fieldBeforeID); err == nil && store.ValidID(id) && at.Year() > 0 && at.Year() < 10000 {
		return at, id
	}
	return time.Time{}, ""
}

func placeText(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }

func (s *Server) getPeople(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	after, afterID := placeOf(r.URL.Query())
	people, err := s.store.RecentPeople(ctx, t.ID, after, afterID, customersShown+1)
	if err != nil {
		return err
	}
	v := views.StaffPeoplePage{}
	if len(people) > customersShown {
		people = people[:customersShown]
		last := people[customersShown-1]
		v.OlderURL = views.StaffPeopleOlderURL(t.Slug, placeText(last.ConfirmedAt), last.ID)
	}
	for _, p := range people {
		item := views.StaffPersonItem{URL: views.StaffPersonURL(t.Slug, p.ID), Name: called(ctx, p.Name), Kana: p.Kana, Email: p.Email}
		item.Phone, _ = phone(t, p.Phone)
		item.Facts = []string{i18n.T(ctx, "people.bookings", "n", p.Bookings), i18n.T(ctx, "people.last_booked", "day", i18n.In(ctx).DateShort(p.ConfirmedAt, t.Location()))}
		if p.NoShows > 0 {
			item.NoShows = i18n.T(ctx, "people.no_shows", "n", p.NoShows)
		}
		v.People = append(v.People, item)
	}
	return s.peoplePage(w, r, http.StatusOK, v)
}

func (s *Server) peoplePage(w http.ResponseWriter, r *http.Request, status int, v views.StaffPeoplePage) error {
	t := venue(r)
	v.ActionURL = views.StaffPeopleURL(t.Slug)
	var err error
	if v.Page, v.Staff, err = s.staffPage(r, "people", i18n.T(r.Context(), "people.title"), v.ActionURL); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffPeople(v))
}

// postPeople renders the customers whose bookings or waits match: what was typed stands in no address.
func (s *Server) postPeople(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	query := f.text(views.FieldQuery, longestQuery)
	if query == "" {
		f.errs.fault(views.FieldQuery, "people.err.query")
	}
	v := views.StaffPeoplePage{Query: query, Searched: true}
	if f.bad() {
		v.Problem, v.Searched = f.errs.in(ctx)[views.FieldQuery], false
		return s.peoplePage(w, r, http.StatusUnprocessableEntity, v)
	}
	reservations, err := s.store.Search(ctx, t.ID, query)
	if err != nil {
		return err
	}
	entries, err := s.store.SearchEntries(ctx, t.ID, query)
	if err != nil {
		return err
	}
	v.More = len(reservations) >= peopleFound || len(entries) >= peopleFound
	type found struct {
		views.StaffPersonItem
		at              time.Time
		bookings, waits int
	}
	// One line for each address, the newest contact on it; without an address each booking is its own.
	people := map[string]*found{}
	var order []string
	add := func(id, name, kana, email, number string, at time.Time) *found {
		key := cmp.Or(store.PersonKey(email), id)
		p := people[key]
		if p == nil {
			p = &found{}
			people[key] = p
			order = append(order, key)
		}
		if at.After(p.at) {
			p.at = at
			p.StaffPersonItem = views.StaffPersonItem{URL: views.StaffPersonURL(t.Slug, id), Name: called(ctx, name), Kana: kana, Email: email}
			p.Phone, _ = phone(t, number)
		}
		return p
	}
	for _, res := range reservations {
		if res.State == store.Held && res.Name == "" {
			continue // somebody who is filling in the form: nobody yet
		}
		add(res.ID, res.Name, res.Kana, res.Email, res.Phone, res.CreatedAt).bookings++
	}
	for _, e := range entries {
		add(e.ID, e.Name, e.Kana, e.Email, e.Phone, e.JoinedAt).waits++
	}
	slices.SortStableFunc(order, func(a, b string) int { return people[b].at.Compare(people[a].at) })
	for _, key := range order {
		p := people[key]
		if p.bookings > 0 {
			p.Facts = append(p.Facts, i18n.T(ctx, "people.bookings_found", "n", p.bookings))
		}
		if p.waits > 0 {
			p.Facts = append(p.Facts, i18n.T(ctx, "people.waits_found", "n", p.waits))
		}
		v.People = append(v.People, p.StaffPersonItem)
	}
	return s.peoplePage(w, r, http.StatusOK, v)
}

// person finds who the id of the path stands for.
func (s *Server) person(r *http.Request) (store.PersonRef, error) {
	return s.store.PersonOf(r.Context(), venue(r).ID, chi.URLParam(r, "person"))
}

// getPerson shows a customer. Nine statements besides the frame.
func (s *Server) getPerson(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	p, err := s.person(r)
	if err != nil {
		return err
	}
	counts, err := s.store.PersonCounts(ctx, p)
	if err != nil {
		return err
	}
	contacts, err := s.store.PersonContacts(ctx, p, contactsShown)
	if err != nil {
		return err
	}
	ahead, err := s.store.PersonUpcoming(ctx, p, aheadShown)
	if err != nil {
		return err
	}
	after, afterID := placeOf(r.URL.Query())
	past, err := s.store.PersonPast(ctx, p, after, afterID, linesShown+1)
	if err != nil {
		return err
	}
	n, err := s.loadNames(ctx, t.ID)
	if err != nil {
		return err
	}
	self := views.StaffPersonURL(t.Slug, p.ID)
	v := views.StaffPersonPage{BackURL: views.StaffPeopleURL(t.Slug), Name: i18n.T(ctx, "people.erased_name"), Counts: personCounts(ctx, counts)}
	if afterID != "" {
		v.NewerURL = self
	}
	if len(past) > linesShown {
		past = past[:linesShown]
		last := past[linesShown-1]
		v.OlderURL = views.StaffPersonOlderURL(t.Slug, p.ID, placeText(last.StartsAt), last.ID)
	}
	v.Upcoming, v.Past = personLines(ctx, t, n, ahead), personLines(ctx, t, n, past)
	if p.ErasedAt != nil {
		v.Erased = i18n.T(ctx, "people.erased", "day", i18n.In(ctx).Date(*p.ErasedAt, t.Location()))
	}
	if len(contacts) > 0 {
		last := contacts[0]
		v.Name, v.Kana, v.Email = called(ctx, last.Name), last.Kana, last.Email
		v.Phone, v.PhoneURL = phone(t, last.Phone)
		v.Language = i18n.T(ctx, i18n.Key("people.language."+last.Locale))
		v.Alone = p.Key == ""
		for _, c := range contacts[1:] {
			v.Others = append(v.Others, contactText(ctx, t, c, last))
		}
		if p.Key != "" && me(r).can(serveCustomers) && counts.Upcoming+counts.LiveWaits > 0 {
			v.LinksURL = views.StaffPersonLinksURL(t.Slug, p.ID)
		}
		if me(r).can(takeData) {
			v.ExportURL, v.EraseURL = views.StaffPersonExportURL(t.Slug, p.ID), views.StaffPersonEraseURL(t.Slug, p.ID)
		}
	}
	if v.Page, v.Staff, err = s.staffPage(r, "people", v.Name, self); err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, views.StaffPerson(v))
}

// contactText is another contact that was used: what of it differs from the last one.
func contactText(ctx context.Context, t store.Tenant, c, last store.PersonContact) string {
	var parts []string
	if c.Name != last.Name && c.Name != "" {
		parts = append(parts, c.Name)
	}
	if c.Kana != last.Kana && c.Kana != "" {
		parts = append(parts, c.Kana)
	}
	if c.Phone != last.Phone && c.Phone != "" {
		number, _ := phone(t, c.Phone)
		parts = append(parts, number)
	}
	if c.Email != last.Email && c.Email != "" {
		parts = append(parts, c.Email)
	}
	day := i18n.In(ctx).DateShort(c.At, t.Location())
	if len(parts) == 0 {
		return i18n.T(ctx, "people.former_less", "day", day)
	}
	return i18n.T(ctx, "people.former", "what", joinWords(ctx, parts), "day", day)
}

func joinWords(ctx context.Context, parts []string) string {
	out := parts[0]
	for _, p := range parts[1:] {
		out += i18n.T(ctx, "people.and") + p
	}
	return out
}

func personCounts(ctx context.Context, c store.PersonCounts) []views.StaffPersonCount {
	cat := i18n.In(ctx)
	note := func(key i18n.Key, n int) string {
		if n == 0 {
			return ""
		}
		return i18n.T(ctx, key, "n", n)
	}
	return []views.StaffPersonCount{
		{Label: i18n.T(ctx, "people.count.bookings"), Value: cat.Number(c.Bookings), Note: note("people.count.upcoming", c.Upcoming)},
		{Label: i18n.T(ctx, "people.count.visits"), Value: cat.Number(c.Visits), Note: note("people.count.unmarked", c.Unmarked)},
		{Label: i18n.T(ctx, "people.count.no_shows"), Value: cat.Number(c.NoShows), Warn: c.NoShows > 0},
		{Label: i18n.T(ctx, "people.count.cancelled"), Value: cat.Number(c.ByCustomer), Note: note("people.count.late", c.Late), Warn: c.Late > 1},
		{Label: i18n.T(ctx, "people.count.by_venue"), Value: cat.Number(c.ByVenue)},
		{Label: i18n.T(ctx, "people.count.waits"), Value: cat.Number(c.Waits), Note: note("people.count.offers", c.Offers)},
		{Label: i18n.T(ctx, "people.count.lapsed"), Value: cat.Number(c.OffersLapsed), Note: note("people.count.declined", c.OffersDeclined)},
	}
}

func personLines(ctx context.Context, t store.Tenant, n names, lines []store.PersonLine) []views.StaffPersonLine {
	c, lang := i18n.In(ctx), i18n.Lang(ctx)
	var out []views.StaffPersonLine
	for _, l := range lines {
		o := n.of(store.Slot{ServiceID: l.ServiceID, ResourceID: l.ResourceID})
		anchor := "#reservation-" + l.ID
		if l.IsEntry {
			anchor = "#entry-" + l.ID
		}
		v := views.StaffPersonLine{
			ID: l.ID, URL: views.StaffSlotURL(t.Slug, l.SlotID) + anchor, When: c.DateTimeRange(l.StartsAt, l.EndsAt, t.Location()), Service: o.service.Name.In(lang),
			Party: l.PartySize, Number: l.Number, State: l.State, Attendance: l.Attendance, Note: l.Note,
		}
		switch {
		case l.SlotStatus == store.SlotCancelled:
			v.Text = i18n.T(ctx, "people.line.slot_cancelled")
		case l.State == string(store.Cancelled) && l.EndedAt != nil:
			v.Text = i18n.T(ctx, byWhom(l.CancelledBy), "when", howLong(ctx, l.StartsAt.Sub(*l.EndedAt)))
		case l.State == string(store.Lapsed):
			v.Text = i18n.T(ctx, "people.line.lapsed")
		case l.State == string(store.Confirmed) && l.Attendance == "" && !l.Upcoming:
			v.Text = i18n.T(ctx, "people.line.unmarked")
		}
		out = append(out, v)
	}
	return out
}

func byWhom(by string) i18n.Key {
	switch store.ActorKind(by) {
	case store.Customer:
		return "people.line.by_customer"
	case store.API:
		return "people.line.by_api"
	default:
		return "people.line.by_staff"
	}
}

// howLong says how long before the start something was done.
func howLong(ctx context.Context, before time.Duration) string {
	switch {
	case before <= 0:
		return i18n.T(ctx, "people.after_start")
	case before < time.Minute:
		return i18n.T(ctx, "people.before_start", "time", i18n.In(ctx).Duration(time.Minute))
	case before >= 48*time.Hour:
		return i18n.T(ctx, "people.before_days", "n", int(before/(24*time.Hour)))
	default:
		return i18n.T(ctx, "people.before_start", "time", i18n.In(ctx).Duration(before.Truncate(time.Minute)))
	}
}

// postPersonLinks mails customers the links of what they have ahead, to the
// address that they gave themselves.
func (s *Server) postPersonLinks(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	p, err := s.person(r)
	if err != nil {
		return err
	}
	if _, err := s.form(w, r); err != nil {
		return err
	}
	contacts, err := s.store.PersonContacts(ctx, p, 1)
	if err != nil {
		return err
	}
	if p.Key == "" || len(contacts) == 0 {
		return s.see(w, r, views.StaffPersonURL(t.Slug, p.ID), "people.links.nobody")
	}
	if err := s.store.SendMyLinks(ctx, t.ID, contacts[0].Email, contacts[0].Locale); err != nil {
		return err
	}
	return s.see(w, r, views.StaffPersonURL(t.Slug, p.ID), "people.links.sent")
}

// eraseForm is what was chosen on the page before erasing.
type eraseForm struct {
	reason string
	cancel bool
	errs   formErrors
}

func (s *Server) getPersonErase(w http.ResponseWriter, r *http.Request) error {
	p, err := s.person(r)
	if err != nil {
		return err
	}
	return s.erasePage(w, r, http.StatusOK, p, eraseForm{})
}

// erasePage says what erasing would do. What would follow from bookings and
// waits that end is worked out by the step itself, undone, in the nearest slots.
func (s *Server) erasePage(w http.ResponseWriter, r *http.Request, status int, p store.PersonRef, typed eraseForm) error {
	ctx, t := r.Context(), venue(r)
	contacts, err := s.store.PersonContacts(ctx, p, 1)
	if err != nil {
		return err
	}
	if len(contacts) == 0 { // it is done
		return s.see(w, r, views.StaffPersonURL(t.Slug, p.ID), "people.erase.already")
	}
	counts, err := s.store.PersonCounts(ctx, p)
	if err != nil {
		return err
	}
	ahead, err := s.store.PersonUpcoming(ctx, p, aheadShown)
	if err != nil {
		return err
	}
	n, err := s.loadNames(ctx, t.ID)
	if err != nil {
		return err
	}
	errs := typed.errs.in(ctx)
	v := views.StaffErasePage{
		BackURL: views.StaffPersonURL(t.Slug, p.ID), ActionURL: views.StaffPersonEraseURL(t.Slug, p.ID), Name: called(ctx, contacts[0].Name), Kana: contacts[0].Kana,
		Upcoming: personLines(ctx, t, n, ahead), Bookings: counts.Upcoming, CancelUpcoming: typed.cancel, CancelErr: errs[views.FieldCancelUpcoming],
		Reason: views.StaffReasonForm{Reason: typed.reason, Err: errs[views.FieldReason]}, Problem: errs[""],
		Goes: []string{
			i18n.T(ctx, "people.erase.goes.contact", "n", counts.Bookings+counts.Waits), i18n.T(ctx, "people.erase.goes.press"),
			i18n.T(ctx, "people.erase.goes.messages"), i18n.T(ctx, "people.erase.goes.links"),
		},
		Stays: []string{i18n.T(ctx, "people.erase.stays.counts"), i18n.T(ctx, "people.erase.stays.history"), i18n.T(ctx, "people.erase.stays.elsewhere")},
	}
	if len(ahead) > 0 {
		preview, more, err := s.store.PreviewErase(ctx, p, me(r).actor(r), erasePreviews)
		if err != nil {
			return err
		}
		v.Consequence = s.erasureFollows(ctx, t, preview, more)
	}
	if v.Page, v.Staff, err = s.staffPage(r, "people", i18n.T(ctx, "people.erase.title", "name", v.Name), v.ActionURL); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffErase(v))
}

func (s *Server) erasureFollows(ctx context.Context, t store.Tenant, e store.Erasure, more bool) []views.StaffConsequence {
	var out []views.StaffConsequence
	add := func(kind string, key i18n.Key, args ...any) {
		out = append(out, views.StaffConsequence{Kind: kind, Text: i18n.T(ctx, key, args...)})
	}
	for _, next := range e.Offered() {
		until := ""
		if next.ShownUntil != nil {
			until = i18n.In(ctx).DateTimeShort(*next.ShownUntil, t.Location())
		}
		add("offer", "people.erase.offer", "name", called(ctx, next.Name), "n", next.PartySize, "time", until)
	}
	if told := len(e.Told()); told > 0 {
		add("vacancy", "people.erase.told", "n", told)
	}
	if len(e.Offered())+len(e.Told()) == 0 && e.Cancelled+e.Withdrawn > 0 {
		add("open", "people.erase.open_seats")
	}
	if more {
		add("open", "people.erase.more", "n", erasePreviews)
	}
	add("warn", "people.erase.untold")
	return out
}

func (s *Server) postPersonErase(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	f, p, err := formFor(s, w, r, s.person)
	if err != nil {
		return err
	}
	typed := eraseForm{reason: f.text(views.FieldReason, longestReason), cancel: f.text(views.FieldCancelUpcoming, 10) == "1", errs: f.errs}
	if typed.reason == "" {
		f.errs.fault(views.FieldReason, "people.erase.err.reason")
	}
	if f.bad() {
		return s.erasePage(w, r, http.StatusUnprocessableEntity, p, typed)
	}
	done, err := s.store.ErasePerson(ctx, store.EraseRequest{TenantID: t.ID, ID: p.ID, Reason: typed.reason, CancelUpcoming: typed.cancel, Actor: me(r).actor(r)})
	if errors.Is(err, store.Conflict) {
		s.noteRefusal(r, store.Conflict)
		f.errs.fault(views.FieldCancelUpcoming, "people.erase.err.upcoming")
		return s.erasePage(w, r, http.StatusUnprocessableEntity, p, typed)
	}
	if err != nil {
		return err
	}
	self := views.StaffPersonURL(t.Slug, p.ID)
	if done.Reservations+done.Entries+done.Messages == 0 {
		return s.see(w, r, self, "people.erase.already")
	}
	if passed := len(done.Offered()) + len(done.Told()); passed > 0 {
		return s.see(w, r, self, "people.erase.done_passed", "n", done.Reservations+done.Entries, "messages", done.Messages, "passed", passed)
	}
	return s.see(w, r, self, "people.erase.done", "n", done.Reservations+done.Entries, "messages", done.Messages)
}
