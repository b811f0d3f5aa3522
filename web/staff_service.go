package web

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// What a service may say, in characters, and its numbers.
const (
	longestLabel     = 100
	longestDetails   = 1000
	longestPlace     = 200
	longestBring     = 300
	longestSlug      = 63
	mostMinutes      = 7 * 24 * 60
	mostServiceSeats = 10_000
)

// serviceTexts are the texts of a service in the order of its form.
var serviceTexts = []struct {
	field   string
	longest int
	several bool
	of      func(*store.Service) *store.Text
}{
	{views.FieldName, longestLabel, false, func(s *store.Service) *store.Text { return &s.Name }},
	{views.FieldDescription, longestDetails, true, func(s *store.Service) *store.Text { return &s.Description }},
	{views.FieldPrice, longestLabel, false, func(s *store.Service) *store.Text { return &s.Price }},
	{views.FieldPlace, longestPlace, true, func(s *store.Service) *store.Text { return &s.Place }},
	{views.FieldBring, longestBring, true, func(s *store.Service) *store.Text { return &s.Bring }},
}

// serviceFields are the fields of the form in order.
func serviceFields() []string {
	var out []string
	for _, t := range serviceTexts {
		out = append(out, t.field+"_"+i18n.JA, t.field+"_"+i18n.EN)
	}
	return append(out, views.FieldMinutes, views.FieldCapacity, views.FieldSlug)
}

func typedService(sv store.Service) typedText {
	typed := typedText{
		views.FieldSlug: sv.Slug, views.FieldMinutes: strconv.Itoa(int(sv.Duration / time.Minute)), views.FieldCapacity: strconv.Itoa(sv.Capacity),
	}
	for _, t := range serviceTexts {
		typed.put(t.field, *t.of(&sv))
	}
	return typed
}

// decodeService reads the form of a service. Without a slug it gets the proposed one.
func decodeService(f *form, taken map[string]bool) (store.Service, typedText) {
	var sv store.Service
	typed := typedText{}
	for _, t := range serviceTexts {
		*t.of(&sv) = f.readText(typed, t.field, t.longest, t.several)
	}
	if sv.Name.In("") == "" {
		f.errs.fault(views.FieldName+"_"+i18n.JA, "service.err.name")
	}
	typed[views.FieldMinutes] = f.text(views.FieldMinutes, 20)
	sv.Duration = time.Duration(f.number(views.FieldMinutes, 1, mostMinutes, "service.err.minutes")) * time.Minute
	typed[views.FieldCapacity] = f.text(views.FieldCapacity, 20)
	sv.Capacity = f.number(views.FieldCapacity, 0, mostServiceSeats, "service.err.capacity")
	typed[views.FieldSlug] = f.text(views.FieldSlug, longestSlug)
	if sv.Slug = typed[views.FieldSlug]; sv.Slug == "" {
		sv.Slug = freeSlug(sv.Name, "service", taken)
	}
	if !store.ValidSlug(sv.Slug) {
		f.errs.fault(views.FieldSlug, "service.err.slug")
	}
	return sv, typed
}

func takenSlugs(services []store.Service) map[string]bool {
	taken := map[string]bool{"new": true}
	for _, sv := range services {
		taken[sv.Slug] = true
	}
	return taken
}

// serviceGroups lays the form out. fixed: the slug is in use.
func serviceGroups(ctx context.Context, t store.Tenant, typed typedText, errs formErrors, added, fixed bool) []views.StaffFormGroup {
	said := errs.in(ctx)
	words := views.StaffFormGroup{Title: i18n.T(ctx, "service.group.words"), Text: i18n.T(ctx, "service.group.words.text")}
	for _, text := range serviceTexts {
		words.Rows = append(words.Rows, pair(ctx, t, typed, errs, text.field, text.longest, text.several))
	}
	number := func(field, label, hint string, most int) views.StaffFormField {
		return views.StaffFormField{Field: views.Field{
			Name: field, Label: fieldLabel(ctx, label), Hint: hint, Type: "text", InputMode: "numeric", Value: typed[field], Error: said[field], Max: len(strconv.Itoa(most)),
		}}
	}
	slug := views.StaffFormField{Field: views.Field{
		Name: views.FieldSlug, Label: fieldLabel(ctx, views.FieldSlug), Hint: i18n.T(ctx, "service.slug.hint"), Type: "text", Value: typed[views.FieldSlug],
		Error: said[views.FieldSlug], Max: longestSlug, Lang: i18n.EN, Optional: added,
	}}
	if fixed {
		slug.Fixed, slug.Hint = typed[views.FieldSlug], i18n.T(ctx, "service.slug.fixed")
	}
	numbers := views.StaffFormGroup{Title: i18n.T(ctx, "service.group.numbers"), Text: i18n.T(ctx, "service.group.numbers.text"), Rows: [][]views.StaffFormField{
		{
			number(views.FieldMinutes, "duration", i18n.T(ctx, "service.minutes.hint"), mostMinutes),
			number(views.FieldCapacity, "capacity", i18n.T(ctx, "service.capacity.hint"), mostServiceSeats),
		},
		{slug},
	}}
	if added {
		numbers.Text = ""
	}
	return []views.StaffFormGroup{words, numbers}
}

// loadService finds the service of the path.
func (s *Server) loadService(r *http.Request) (store.Service, error) {
	id := chi.URLParam(r, "service")
	if !store.ValidID(id) {
		return store.Service{}, errNotFound
	}
	return s.store.Service(r.Context(), venue(r).ID, id)
}

func (s *Server) getServices(w http.ResponseWriter, r *http.Request) error {
	return s.servicesPage(w, r, http.StatusOK, "")
}

func (s *Server) servicesPage(w http.ResponseWriter, r *http.Request, status int, problem string) error {
	ctx, t := r.Context(), venue(r)
	c, edit := i18n.In(ctx), me(r).can(setUp)
	services, err := s.store.Services(ctx, t.ID)
	if err != nil {
		return err
	}
	use, err := s.store.ServiceUse(ctx, t.ID)
	if err != nil {
		return err
	}
	v := views.StaffServicesPage{Problem: problem}
	for i, sv := range services {
		other, missing := otherName(ctx, sv.Name)
		row := views.StaffServiceRow{
			ID: sv.ID, Name: sv.Name.In(c.Lang()), Other: other, Picture: picture(t, sv, c.Lang()), Version: strconv.Itoa(sv.Version), Rank: i + 1,
			First: i == 0, Final: i == len(services)-1, Ahead: aheadWords(ctx, use[sv.ID]),
		}
		row.Facts = []string{c.Duration(sv.Duration), i18n.T(ctx, "service.seats", "n", sv.Capacity)}
		if price := sv.Price.In(c.Lang()); price != "" {
			row.Facts = append(row.Facts, price)
		}
		if edit {
			row.URL, row.Missing = views.StaffServiceURL(t.Slug, sv.ID), missing
		}
		if sv.Active {
			row.PublicURL = views.VenueFilterURL(t.Slug, views.VenueFilter{Service: sv.Slug})
			if edit && len(services) > 1 {
				row.OrderURL = views.StaffServiceOrderURL(t.Slug, sv.ID)
			}
			v.Services = append(v.Services, row)
			continue
		}
		if edit {
			row.RestoreURL = views.StaffServiceRestoreURL(t.Slug, sv.ID)
		}
		v.Retired = append(v.Retired, row)
	}
	// The arrows move past retired ones in one press.
	for i := range v.Services {
		v.Services[i].First, v.Services[i].Final = i == 0, i == len(v.Services)-1
	}
	switch {
	case edit && len(services) >= store.MostServices:
		v.Full = i18n.T(ctx, "service.err.full")
	case edit:
		v.NewURL = views.StaffNewServiceURL(t.Slug)
	}
	if v.Last, err = s.lastChange(r, store.AreaService, ""); err != nil {
		return err
	}
	if v.Page, v.Staff, err = s.staffPage(r, "settings", i18n.T(ctx, "service.list.title"), views.StaffServicesURL(t.Slug)); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffServices(v))
}

// aheadWords says what lies ahead for a service or a resource.
func aheadWords(ctx context.Context, u store.CatalogUse) string {
	if u.Slots == 0 {
		return i18n.T(ctx, "service.ahead.none")
	}
	return i18n.T(ctx, "service.ahead", "n", u.Slots, "seats", u.Seats)
}

func (s *Server) postServiceOrder(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	if _, err := s.loadService(r); err != nil {
		return err
	}
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	from := f.number(views.FieldRank, 1, 1000, "service.err.order")
	by, err := direction(f)
	if err != nil {
		return err
	}
	if f.bad() {
		return s.servicesPage(w, r, http.StatusUnprocessableEntity, i18n.T(ctx, "service.err.order"))
	}
	services, err := s.store.Services(ctx, t.ID)
	if err != nil {
		return err
	}
	// Retired ones are not on the venue's page: a step goes past them.
	id := chi.URLParam(r, "service")
	at, step := slices.IndexFunc(services, func(sv store.Service) bool { return sv.ID == id }), by
	for next := at + step; at >= 0 && next >= 0 && next < len(services) && !services[next].Active; next += by {
		step += by
	}
	err = s.store.MoveService(ctx, t.ID, id, from, step, me(r).ID)
	if errors.Is(err, store.Conflict) {
		s.noteRefusal(r, store.Conflict)
		return s.servicesPage(w, r, http.StatusConflict, i18n.T(ctx, "service.order.changed"))
	}
	if err != nil {
		return err
	}
	return s.see(w, r, views.StaffServicesURL(t.Slug), "service.order.done")
}

// direction reads which way something moves.
func direction(f *form) (int, error) {
	switch f.text(views.FieldBy, 10) {
	case "up":
		return -1, nil
	case "down":
		return 1, nil
	}
	return 0, errBadRequest
}

func (s *Server) getNewService(w http.ResponseWriter, r *http.Request) error {
	return s.newServicePage(w, r, http.StatusOK, typedText{views.FieldMinutes: "60", views.FieldCapacity: "10"}, nil)
}

func (s *Server) newServicePage(w http.ResponseWriter, r *http.Request, status int, typed typedText, errs formErrors) error {
	ctx, t := r.Context(), venue(r)
	v := views.StaffSettingPage{
		BackURL: views.StaffServicesURL(t.Slug), BackText: i18n.T(ctx, "service.list.title"), Title: i18n.T(ctx, "service.add"), Lead: i18n.T(ctx, "service.add.lead"),
		Form: views.StaffSettingForm{
			ActionURL: views.StaffNewServiceURL(t.Slug), Errs: errs.in(ctx), Groups: serviceGroups(ctx, t, typed, errs, true, false), Submit: i18n.T(ctx, "service.add.submit"),
			BackURL: views.StaffServicesURL(t.Slug),
		},
	}
	var err error
	if v.Page, v.Staff, err = s.staffPage(r, "settings", v.Title, views.StaffNewServiceURL(t.Slug)); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffSetting(v))
}

func (s *Server) postNewService(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	services, err := s.store.Services(ctx, t.ID)
	if err != nil {
		return err
	}
	sv, typed := decodeService(f, takenSlugs(services))
	if !f.bad() {
		sv.TenantID = t.ID
		added, err := s.store.AddNamedService(ctx, store.ServiceChange{Service: sv, Staff: me(r).ID})
		if err == nil {
			return s.see(w, r, views.StaffServiceURL(t.Slug, added.ID), "service.added")
		}
		if !settingFault(f.errs, err) {
			return err
		}
	}
	return s.newServicePage(w, r, http.StatusUnprocessableEntity, typed, f.errs)
}

// servicePress is what came of a press on the form of a service.
type servicePress struct {
	typed  typedText // nil: what is stored
	errs   formErrors
	stored *views.StaffStored
}

func (s *Server) getService(w http.ResponseWriter, r *http.Request) error {
	sv, err := s.loadService(r)
	if err != nil {
		return err
	}
	return s.servicePage(w, r, http.StatusOK, sv, servicePress{})
}

func (s *Server) servicePage(w http.ResponseWriter, r *http.Request, status int, sv store.Service, p servicePress) error {
	ctx, t := r.Context(), venue(r)
	lang := i18n.Lang(ctx)
	use, err := s.store.ServiceUse(ctx, t.ID)
	if err != nil {
		return err
	}
	if p.typed == nil {
		p.typed = typedService(sv)
	}
	fixed := use[sv.ID].Ever
	if fixed {
		p.typed[views.FieldSlug] = sv.Slug
	}
	v := views.StaffServicePage{
		StaffSettingPage: views.StaffSettingPage{
			BackURL: views.StaffServicesURL(t.Slug), BackText: i18n.T(ctx, "service.list.title"), Title: sv.Name.In(lang), Lead: aheadWords(ctx, use[sv.ID]),
			Form: views.StaffSettingForm{
				ActionURL: views.StaffServiceURL(t.Slug, sv.ID), Version: strconv.Itoa(sv.Version), Stored: p.stored, Errs: p.errs.in(ctx),
				Groups: serviceGroups(ctx, t, p.typed, p.errs, false, fixed), Submit: i18n.T(ctx, "service.save"), BackURL: views.StaffServicesURL(t.Slug),
			},
		},
		Picture: picture(t, sv, lang), PictureURL: views.StaffServicePictureURL(t.Slug, sv.ID), QuestionsURL: views.StaffQuestionsURL(t.Slug, sv.ID),
		PoliciesURL: views.StaffServicePoliciesURL(t.Slug, sv.ID),
	}
	v.PublicURL = views.VenueFilterURL(t.Slug, views.VenueFilter{Service: sv.Slug})
	v.Public = s.plainAddress(v.PublicURL)
	for _, q := range sv.Questions {
		v.Questions = append(v.Questions, q.Label.In(lang))
	}
	if sv.Active {
		v.RetireURL = views.StaffServiceRetireURL(t.Slug, sv.ID)
	} else {
		v.Retired, v.RestoreURL = i18n.T(ctx, "service.is_retired"), views.StaffServiceRestoreURL(t.Slug, sv.ID)
	}
	if v.Last, err = s.lastChange(r, store.AreaService, sv.ID); err != nil {
		return err
	}
	if v.Page, v.Staff, err = s.staffPage(r, "settings", v.Title, views.StaffServiceURL(t.Slug, sv.ID)); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffService(v))
}

func (s *Server) postService(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	f, was, err := formFor(s, w, r, s.loadService)
	if err != nil {
		return err
	}
	if !f.values.Has(views.FieldSlug) {
		f.values.Set(views.FieldSlug, was.Slug) // it stands there as text, once it is in use
	}
	services, err := s.store.Services(ctx, t.ID)
	if err != nil {
		return err
	}
	sv, typed := decodeService(f, takenSlugs(services))
	if f.bad() {
		return s.servicePage(w, r, http.StatusUnprocessableEntity, was, servicePress{typed: typed, errs: f.errs})
	}
	sv.ID, sv.TenantID = was.ID, t.ID
	_, err = s.store.SaveService(ctx, store.ServiceChange{Service: sv, Version: shownVersion(f), Staff: me(r).ID})
	switch {
	case err == nil:
		return s.see(w, r, views.StaffServiceURL(t.Slug, was.ID), "service.saved")
	case errors.Is(err, store.Conflict):
		s.noteRefusal(r, store.Conflict)
		now, err := s.loadService(r)
		if err != nil {
			return err
		}
		stored, err := s.storedNow(r, store.AreaService, now.ID, serviceFields(), typed, typedService(now))
		if err != nil {
			return err
		}
		return s.servicePage(w, r, http.StatusConflict, now, servicePress{typed: typed, stored: stored})
	case settingFault(f.errs, err):
		return s.servicePage(w, r, http.StatusUnprocessableEntity, was, servicePress{typed: typed, errs: f.errs})
	}
	return err
}

// slotsNamed is how many slots a step lists by name.
const slotsNamed = 20

// slotsAhead names the next slots of a service or a resource, with links.
func (s *Server) slotsAhead(r *http.Request, service, resource string) ([]views.Link, string, error) {
	ctx, t := r.Context(), venue(r)
	now, err := s.store.Now(ctx)
	if err != nil {
		return nil, "", err
	}
	slots, err := s.store.Slots(ctx, store.SlotQuery{TenantID: t.ID, From: now.Add(-24 * time.Hour), To: now.AddDate(5, 0, 0), ServiceID: service, ResourceID: resource, Limit: 200})
	if err != nil {
		return nil, "", err
	}
	c := i18n.In(ctx)
	var links []views.Link
	more := 0
	for _, slot := range slots {
		if slot.Status == store.SlotCancelled || !slot.EndsAt.After(now) {
			continue
		}
		if len(links) == slotsNamed {
			more++
			continue
		}
		links = append(links, views.Link{
			Text: i18n.T(ctx, "service.slot", "when", c.DateTimeRange(slot.StartsAt, slot.EndsAt, t.Location()), "n", slot.Taken), URL: views.StaffSlotURL(t.Slug, slot.ID),
		})
	}
	if more > 0 {
		return links, i18n.T(ctx, "service.slots.more"), nil
	}
	return links, "", nil
}

func (s *Server) getServiceRetire(w http.ResponseWriter, r *http.Request) error {
	return s.serviceRetirePage(w, r, http.StatusOK, "")
}

func (s *Server) serviceRetirePage(w http.ResponseWriter, r *http.Request, status int, problem string) error {
	ctx, t := r.Context(), venue(r)
	sv, err := s.loadService(r)
	if err != nil {
		return err
	}
	use, err := s.store.ServiceUse(ctx, t.ID)
	if err != nil {
		return err
	}
	v := views.StaffRetirePage{
		BackURL: views.StaffServiceURL(t.Slug, sv.ID), BackText: sv.Name.In(i18n.Lang(ctx)), Title: i18n.T(ctx, "service.retire.ask", "name", sv.Name.In(i18n.Lang(ctx))),
		Version: strconv.Itoa(sv.Version), ActionURL: views.StaffServiceRetireURL(t.Slug, sv.ID), Submit: i18n.T(ctx, "service.retire.submit"), Problem: problem, Danger: true,
	}
	say := func(kind string, key i18n.Key, args ...any) {
		v.Consequence = append(v.Consequence, views.StaffConsequence{Kind: kind, Text: i18n.T(ctx, key, args...)})
	}
	say("open", "service.retire.hidden")
	switch u := use[sv.ID]; {
	case u.Slots == 0:
		say("open", "service.retire.no_slots")
	case u.Seats == 0:
		say("kept", "service.retire.slots", "n", u.Slots)
	default:
		say("kept", "service.retire.slots", "n", u.Slots)
		say("kept", "service.retire.booked", "n", u.Seats)
	}
	if n := use[sv.ID].Schedules; n > 0 {
		say("warn", "service.retire.schedules", "n", n)
	}
	say("open", "service.retire.back")
	if !sv.Active {
		v.ActionURL = ""
		v.Consequence = []views.StaffConsequence{{Kind: "open", Text: i18n.T(ctx, "service.is_retired")}}
	}
	if v.Slots, v.SlotsMore, err = s.slotsAhead(r, sv.ID, ""); err != nil {
		return err
	}
	if v.Page, v.Staff, err = s.staffPage(r, "settings", v.Title, views.StaffServiceRetireURL(t.Slug, sv.ID)); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffRetire(v))
}

func (s *Server) postServiceRetire(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	f, sv, err := formFor(s, w, r, s.loadService)
	if err != nil {
		return err
	}
	_, err = s.store.SetServiceActive(ctx, t.ID, sv.ID, shownVersion(f), false, me(r).ID)
	if errors.Is(err, store.Conflict) {
		s.noteRefusal(r, store.Conflict)
		return s.serviceRetirePage(w, r, http.StatusConflict, i18n.T(ctx, "service.stale.retire"))
	}
	if err != nil {
		return err
	}
	return s.see(w, r, views.StaffServicesURL(t.Slug), "service.retired")
}

func (s *Server) postServiceRestore(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	f, sv, err := formFor(s, w, r, s.loadService)
	if err != nil {
		return err
	}
	_, err = s.store.SetServiceActive(ctx, t.ID, sv.ID, shownVersion(f), true, me(r).ID)
	if errors.Is(err, store.Conflict) {
		s.noteRefusal(r, store.Conflict)
		return s.servicesPage(w, r, http.StatusConflict, i18n.T(ctx, "service.stale.restore"))
	}
	if err != nil {
		return err
	}
	return s.see(w, r, views.StaffServiceURL(t.Slug, sv.ID), "service.restored")
}
