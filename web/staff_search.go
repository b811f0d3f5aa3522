package web

import (
	"net/http"
	"slices"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// longestQuery is the longest text to search for, in characters.
const longestQuery = 100

// getSearch is where the result of a search leads after a reload or a change of
// language: the text was in no address, so there is nothing to show yet.
func (s *Server) getSearch(w http.ResponseWriter, r *http.Request) error {
	return s.see(w, r, views.StaffTodayURL(venue(r).Slug), "")
}

// postSearch renders its result: names stand in no address.
func (s *Server) postSearch(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	query := f.text(views.FieldQuery, longestQuery)
	v := views.StaffSearchPage{Query: query}
	status := http.StatusOK
	switch {
	case f.bad():
		v.Problem, status = f.errs.in(ctx)[views.FieldQuery], http.StatusUnprocessableEntity
	case query == "":
		v.Problem, status = i18n.T(ctx, "staff.err.query"), http.StatusUnprocessableEntity
	default:
		if v.Found, v.More, err = s.find(r, query); err != nil {
			return err
		}
	}
	if v.Page, v.Staff, err = s.staffPage(r, "", i18n.T(ctx, "staff.search.title", "query", query), views.StaffTodayURL(t.Slug)); err != nil {
		return err
	}
	v.Staff.SearchText = query
	return s.render(w, r, status, views.StaffSearch(v))
}

// find looks for reservations and for people who wait. Five statements.
func (s *Server) find(r *http.Request, text string) ([]views.StaffFound, bool, error) {
	ctx, t := r.Context(), venue(r)
	reservations, err := s.store.Search(ctx, t.ID, text)
	if err != nil {
		return nil, false, err
	}
	entries, err := s.store.SearchEntries(ctx, t.ID, text)
	if err != nil {
		return nil, false, err
	}
	var ids []string
	for _, res := range reservations {
		ids = append(ids, res.SlotID)
	}
	for _, e := range entries {
		ids = append(ids, e.SlotID)
	}
	slots, err := s.store.SlotsByID(ctx, t.ID, slices.Compact(slices.Sorted(slices.Values(ids))))
	if err != nil {
		return nil, false, err
	}
	n, err := s.loadNames(ctx, t.ID)
	if err != nil {
		return nil, false, err
	}
	at := map[string]oneSlot{}
	for _, slot := range slots {
		at[slot.ID] = n.of(slot)
	}
	c, lang := i18n.In(ctx), i18n.Lang(ctx)
	type dated struct {
		views.StaffFound
		o oneSlot
	}
	var all []dated
	line := func(slot, id, name, kana, number string) dated {
		o := at[slot]
		d := dated{o: o, StaffFound: views.StaffFound{
			URL: views.StaffSlotURL(t.Slug, slot) + "#" + id, Name: called(ctx, name), Kana: kana, When: c.DateTimeRangeShort(o.StartsAt, o.EndsAt, t.Location()),
			Service: o.service.Name.In(lang), Past: !o.Now.Before(o.EndsAt),
		}}
		d.Phone, d.PhoneURL = phone(t, number)
		return d
	}
	for _, res := range reservations {
		d := line(res.SlotID, "reservation-"+res.ID, res.Name, res.Kana, res.Phone)
		d.Number, d.Party, d.State = res.Number, res.PartySize, string(res.State)
		if res.State == store.Held && res.Name == "" {
			d.Name = i18n.T(ctx, "staff.filling_in")
		}
		if res.Live() && !d.Past {
			d.CancelURL = views.StaffSlotCancelStepURL(t.Slug, res.SlotID, res.ID)
			if res.State == store.Confirmed {
				d.MoveURL = views.StaffSlotMoveStepURL(t.Slug, res.SlotID, res.ID)
			}
		}
		d.Past = d.Past || !res.Live()
		all = append(all, d)
	}
	for _, e := range entries {
		d := line(e.SlotID, "entry-"+e.ID, e.Name, e.Kana, e.Phone)
		d.Party, d.State = e.PartySize, string(e.State)
		all = append(all, d)
	}
	// What is still to come first, the nearest on top; then the past, the newest on top.
	slices.SortStableFunc(all, func(a, b dated) int {
		switch {
		case a.Past != b.Past && b.Past:
			return -1
		case a.Past != b.Past:
			return 1
		case a.Past:
			return b.o.StartsAt.Compare(a.o.StartsAt)
		default:
			return a.o.StartsAt.Compare(b.o.StartsAt)
		}
	})
	found := make([]views.StaffFound, 0, len(all))
	for _, d := range all {
		found = append(found, d.StaffFound)
	}
	return found, len(reservations) >= store.SearchMost || len(entries) >= store.SearchMost, nil
}
