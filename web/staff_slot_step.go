package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// The pages that say what a step would do. What they say comes from the step
// itself, made and undone; the press behind them carries the version that they showed.

// stepPage puts the frame around such a page.
func (s *Server) stepPage(w http.ResponseWriter, r *http.Request, status int, c counter, press slotPress, v views.StaffStepPage) error {
	ctx := r.Context()
	v.Slot, v.Changed = c.head(ctx), press.changed
	if press.problem != "" {
		v.Problem = press.problem
	}
	if v.KeepText == "" {
		v.KeepText = i18n.T(ctx, "staff.step.keep")
	}
	// In another language it is the slot: what was typed stands in no address.
	self := c.url()
	if status == http.StatusOK && r.Method == http.MethodGet {
		self = r.URL.RequestURI()
	}
	var err error
	if v.Page, v.Staff, err = s.staffPage(r, "", v.Title, self); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffStep(v))
}

// foreseen takes what a step would do. Where it would be refused the page says why and has no form.
func (s *Server) foreseen(r *http.Request, c counter, v *views.StaffStepPage, change store.Change, err error, consequences func(context.Context, store.Change) []views.StaffConsequence) (refused store.Outcome, fault error) {
	var o store.Outcome
	switch {
	case err == nil:
		v.Consequence = append(v.Consequence, consequences(r.Context(), change)...)
		return "", nil
	case errors.As(err, &o) && o != store.Busy && o != store.NotFound:
		v.Problem, v.Forms = s.refusal(r, o), nil
		return o, nil
	default:
		return "", err
	}
}

func consequence(ctx context.Context, kind string, key i18n.Key, args ...any) views.StaffConsequence {
	return views.StaffConsequence{Kind: kind, Text: i18n.T(ctx, key, args...)}
}

// written says that somebody gets a mail, or that somebody has to call.
func written(ctx context.Context, name, email string, key i18n.Key) views.StaffConsequence {
	if email == "" {
		return consequence(ctx, "call", "staff.call_them", "name", called(ctx, name))
	}
	return consequence(ctx, "mail", key, "name", called(ctx, name))
}

// getSwitchStep says what reopening or resuming would do: both give out seats.
func (s *Server) getSwitchStep(step staffStep) handlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		return s.switchPage(w, r, step, http.StatusOK, slotPress{}, views.StaffReasonForm{})
	}
}

func (s *Server) switchPage(w http.ResponseWriter, r *http.Request, step staffStep, status int, press slotPress, reason views.StaffReasonForm) error {
	ctx := r.Context()
	c, err := s.loadCounter(r)
	if err != nil {
		return err
	}
	preview, would := s.store.PreviewReopen, c.Status == store.SlotClosed
	url := views.StaffSlotReopenURL(c.tenant.Slug, c.ID)
	if step == stepResume {
		preview, would, url = s.store.PreviewResume, c.Paused && c.Status != store.SlotCancelled, views.StaffSlotResumeURL(c.tenant.Slug, c.ID)
	}
	if step == stepClose || step == stepPause || !would {
		if status == http.StatusOK {
			return s.see(w, r, c.url(), "") // it is so already
		}
		if reason.Err != "" {
			return errBadRequest // of a page that is no longer there
		}
		return s.staffSlotPage(w, r, status, press)
	}
	v := views.StaffStepPage{
		Kind: string(step), Title: i18n.T(ctx, i18n.Key("staff.step."+string(step))), Lead: i18n.T(ctx, i18n.Key("staff.switch."+string(step)+"_note")),
		Then: i18n.T(ctx, "staff.step.then"),
		Forms: []views.StaffStepForm{{
			ActionURL: url, Text: i18n.T(ctx, i18n.Key("staff.switch."+string(step))), Fields: []views.Field{reasonField(ctx, string(step), reason, false)},
		}},
	}
	change, err := preview(ctx, s.slotRequest(r, c.ID, "", nil))
	after := c
	if step == stepReopen {
		after.Status = store.SlotOpen // what it would be then
	}
	if _, err := s.foreseen(r, c, &v, change, err, after.seatsFollow); err != nil {
		return err
	}
	if len(v.Consequence) == 0 && v.Problem == "" {
		v.Consequence = append(v.Consequence, consequence(ctx, "kept", "staff.would.nothing"))
	}
	return s.stepPage(w, r, status, c, press, v)
}

func reasonField(ctx context.Context, step string, form views.StaffReasonForm, required bool) views.Field {
	f := views.Field{
		ID: step + "-reason", Name: views.FieldReason, Label: i18n.T(ctx, "staff.field.reason"), Type: "text", Value: form.Reason, Error: form.Err,
		Autocomplete: "off", Required: required, Optional: !required, Max: longestReason,
	}
	return f
}

// getEntryStep says what a step of staff on a waiting party would do.
func (s *Server) getEntryStep(step staffStep) handlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		e, err := s.entryOf(r)
		if err != nil {
			return err
		}
		return s.staffEntryPage(w, r, step, e.ID, http.StatusOK, slotPress{}, views.StaffReasonForm{})
	}
}

func (s *Server) staffEntryPage(w http.ResponseWriter, r *http.Request, step staffStep, id string, status int, press slotPress, reason views.StaffReasonForm) error {
	ctx := r.Context()
	c, err := s.loadCounter(r)
	if err != nil {
		return err
	}
	e, here := c.entry(id)
	if !here {
		return store.NotFound
	}
	slug := c.tenant.Slug
	urls := map[staffStep]string{
		stepOffer: views.StaffEntryOfferURL(slug, c.ID, e.ID), stepRevoke: views.StaffEntryRevokeURL(slug, c.ID, e.ID), stepRemove: views.StaffEntryRemoveURL(slug, c.ID, e.ID),
	}
	previews := map[staffStep]func(context.Context, store.EntryRequest) (store.Change, error){
		stepOffer: s.store.PreviewOfferTo, stepRevoke: s.store.PreviewRevoke, stepRemove: s.store.PreviewRemoveEntry,
	}
	v := views.StaffStepPage{
		Kind: string(step), Title: i18n.T(ctx, i18n.Key("staff.step."+string(step)), "name", called(ctx, e.Name)), Who: c.entryWho(ctx, e), Then: i18n.T(ctx, "staff.step.then"),
		Forms: []views.StaffStepForm{{
			ActionURL: urls[step], Danger: step != stepOffer, Text: i18n.T(ctx, i18n.Key("staff.entry."+string(step)+"_press")),
			Fields: []views.Field{reasonField(ctx, string(step), reason, true)},
		}},
	}
	if want := map[staffStep]store.EntryState{stepOffer: store.Waiting, stepRevoke: store.Offered, stepRemove: store.Waiting}[step]; e.State != want {
		v.Problem, v.Forms, v.Then = s.refusal(r, store.Over), nil, ""
		return s.stepPage(w, r, status, c, press, v)
	}
	change, err := previews[step](ctx, store.EntryRequest{TenantID: e.TenantID, ID: e.ID, Reason: "-", Actor: me(r).actor(r)})
	if _, err := s.foreseen(r, c, &v, change, err, func(ctx context.Context, change store.Change) []views.StaffConsequence {
		return c.entryFollows(ctx, step, e, change)
	}); err != nil {
		return err
	}
	return s.stepPage(w, r, status, c, press, v)
}

// entryFollows says what a step on a waiting party would do.
func (c counter) entryFollows(ctx context.Context, step staffStep, e store.Entry, change store.Change) []views.StaffConsequence {
	var out []views.StaffConsequence
	switch step {
	case stepOffer:
		out = append(out, c.offersFollow(ctx, change)...)
		if e.Email != "" {
			out = append(out, written(ctx, e.Name, e.Email, "staff.would.mail_offer"))
		}
		if ahead := c.ahead(e); len(ahead) == 1 {
			out = append(out, consequence(ctx, "warn", "staff.offer_ahead.one_party", "name", called(ctx, ahead[0].Name), "n", ahead[0].PartySize))
		} else if len(ahead) > 1 {
			out = append(out, consequence(ctx, "warn", "staff.offer_ahead.parties", "n", len(ahead)))
		}
		return append(out, consequence(ctx, "kept", "staff.would.reason_kept"))
	case stepRevoke:
		out = append(out, consequence(ctx, "warn", "staff.would.revoke", "name", called(ctx, e.Name)), written(ctx, e.Name, e.Email, "staff.would.mail_revoke"))
		return append(out, c.seatsFollow(ctx, change)...)
	default:
		out = append(out, consequence(ctx, "warn", "staff.would.remove", "name", called(ctx, e.Name)), written(ctx, e.Name, e.Email, "staff.would.mail_remove"))
		return append(out, c.offersFollow(ctx, change)...)
	}
}

// offersFollow says who would be offered seats, without a word about the others.
func (c counter) offersFollow(ctx context.Context, change store.Change) []views.StaffConsequence {
	var out []views.StaffConsequence
	for _, e := range change.Offered {
		out = append(out, consequence(ctx, "offer", "staff.would.offer", "name", called(ctx, e.Name), "n", e.PartySize, "time", c.moment(ctx, *e.ShownUntil)))
		if e.Email == "" {
			out = append(out, consequence(ctx, "call", "staff.call_them", "name", called(ctx, e.Name)))
		}
	}
	if len(change.Told) > 0 {
		out = append(out, consequence(ctx, "vacancy", "staff.would.tell", "n", len(change.Told)))
	}
	return out
}

// ahead are those who wait and came before.
func (c counter) ahead(e store.Entry) []store.Entry {
	var out []store.Entry
	for _, o := range c.entries {
		if o.State == store.Waiting && o.Position < e.Position {
			out = append(out, o)
		}
	}
	return out
}

func (c counter) entryWho(ctx context.Context, e store.Entry) *views.StaffStepWho {
	v := views.StaffStepWho{Name: called(ctx, e.Name), Kana: e.Kana, Party: e.PartySize}
	v.Phone, v.PhoneURL = phone(c.tenant, e.Phone)
	if e.State == store.Waiting {
		v.Facts = append(v.Facts, i18n.T(ctx, "staff.step.waits", "n", len(c.ahead(e))+1, "time", c.moment(ctx, e.JoinedAt)))
	}
	if e.State == store.Offered && e.ShownUntil != nil {
		v.Facts = append(v.Facts, i18n.T(ctx, "staff.step.offered", "time", c.moment(ctx, *e.ShownUntil)))
	}
	return &v
}

func (c counter) bookedWho(ctx context.Context, r store.Reservation) *views.StaffStepWho {
	v := views.StaffStepWho{Name: called(ctx, r.Name), Kana: r.Kana, Party: r.PartySize, Number: r.Number}
	v.Phone, v.PhoneURL = phone(c.tenant, r.Phone)
	return &v
}

// sizeForm is a number of people, typed to be looked at or pressed.
type sizeForm struct {
	typed string
	party int // below 1: none that could be
	errs  formErrors
}

func sizeOf(f *form) sizeForm {
	size := sizeForm{typed: f.text(views.FieldPartySize, 20), errs: f.errs}
	size.party = f.number(views.FieldPartySize, 1, mostParty, "staff.err.party")
	return size
}

// asked reads a field of an address, as a form would be read; empty where it is not there.
func asked(r *http.Request, field string) (*form, bool) {
	q := r.URL.Query()
	return &form{values: q, errs: formErrors{}}, q.Has(field)
}

func sizeAsk(ctx context.Context, id string, url string, size sizeForm, was int, hidden ...views.Hidden) *views.StaffStepAsk {
	value := size.typed
	if value == "" && len(size.errs) == 0 {
		value = strconv.Itoa(was)
	}
	return &views.StaffStepAsk{
		ActionURL: url, Hidden: hidden, Text: i18n.T(ctx, "staff.look_first"),
		Field: views.Field{
			ID: id, Name: views.FieldPartySize, Label: i18n.T(ctx, "staff.field.party"), Type: "text", Value: value, Error: size.errs.in(ctx)[views.FieldPartySize],
			Autocomplete: "off", InputMode: "numeric", Max: 20,
		},
	}
}

// getStaffParty says what another number of people of a booking would do.
func (s *Server) getStaffParty(w http.ResponseWriter, r *http.Request) error {
	res, err := s.reservationOf(r, r.URL.Query().Get(views.FieldReservation))
	if err != nil {
		return s.lostSight(w, r, err)
	}
	size, status := sizeForm{party: -1}, http.StatusOK
	if f, typed := asked(r, views.FieldPartySize); typed {
		if size = sizeOf(f); f.bad() {
			status = http.StatusUnprocessableEntity
		}
	}
	return s.staffPartyPage(w, r, status, res.ID, slotPress{}, size)
}

func (s *Server) staffPartyPage(w http.ResponseWriter, r *http.Request, status int, id string, press slotPress, size sizeForm) error {
	ctx := r.Context()
	c, err := s.loadCounter(r)
	if err != nil {
		return err
	}
	res, here := c.reservation(id)
	if !here {
		return s.lostSight(w, r, store.Conflict)
	}
	if res.State != store.Confirmed {
		s.noteRefusal(r, store.Over)
		return s.staffSlotPage(w, r, answerFor(store.Over).status, slotPress{problem: s.refusal(r, store.Over)})
	}
	url, named := views.StaffSlotPartyURL(c.tenant.Slug, c.ID), views.Hidden{Name: views.FieldReservation, Value: res.ID}
	v := views.StaffStepPage{
		Kind: string(stepParty), Title: i18n.T(ctx, "staff.step.party", "name", called(ctx, res.Name)), Who: c.bookedWho(ctx, res),
		Asks: sizeAsk(ctx, "party-size", url, size, res.PartySize, named),
	}
	if size.party >= 1 && size.party != res.PartySize {
		v.Then = i18n.T(ctx, "staff.step.then")
		v.Forms = []views.StaffStepForm{{
			ActionURL: url, Hidden: []views.Hidden{named, {Name: views.FieldPartySize, Value: strconv.Itoa(size.party)}},
			Text: i18n.T(ctx, "staff.step.party_press", "n", size.party), Danger: size.party < res.PartySize,
		}}
		change, err := s.store.PreviewParty(ctx, store.PartyRequest{TenantID: res.TenantID, ID: res.ID, PartySize: size.party, Actor: me(r).actor(r)})
		if _, err := s.foreseen(r, c, &v, change, err, func(ctx context.Context, change store.Change) []views.StaffConsequence {
			if more := size.party - res.PartySize; more > 0 {
				return []views.StaffConsequence{consequence(ctx, "kept", "staff.would.more", "n", more), consequence(ctx, "kept", "staff.would.untold")}
			}
			out := append([]views.StaffConsequence{consequence(ctx, "open", "staff.would.less", "n", res.PartySize-size.party)}, c.seatsFollow(ctx, change)...)
			return append(out, consequence(ctx, "kept", "staff.would.untold"))
		}); err != nil {
			return err
		}
	}
	return s.stepPage(w, r, status, c, press, v)
}

// getStaffEntryParty says what a smaller waiting party would change.
func (s *Server) getStaffEntryParty(w http.ResponseWriter, r *http.Request) error {
	e, err := s.entryOf(r)
	if err != nil {
		return err
	}
	size, status := sizeForm{party: -1}, http.StatusOK
	if f, typed := asked(r, views.FieldPartySize); typed {
		if size = sizeOf(f); f.bad() {
			status = http.StatusUnprocessableEntity
		}
	}
	return s.staffEntryPartyPage(w, r, status, e.ID, slotPress{}, size)
}

func (s *Server) staffEntryPartyPage(w http.ResponseWriter, r *http.Request, status int, id string, press slotPress, size sizeForm) error {
	ctx := r.Context()
	c, err := s.loadCounter(r)
	if err != nil {
		return err
	}
	e, here := c.entry(id)
	if !here {
		return store.NotFound
	}
	url := views.StaffEntryPartyURL(c.tenant.Slug, c.ID, e.ID)
	v := views.StaffStepPage{
		Kind: string(stepEntryParty), Title: i18n.T(ctx, "staff.step.entry_party", "name", called(ctx, e.Name)), Lead: i18n.T(ctx, "staff.step.entry_party_note"), Who: c.entryWho(ctx, e),
	}
	if e.State != store.Waiting {
		v.Problem = s.refusal(r, store.Over)
		return s.stepPage(w, r, status, c, press, v)
	}
	v.Asks = sizeAsk(ctx, "entry-party", url, size, e.PartySize)
	if size.party >= 1 && size.party != e.PartySize {
		v.Then = i18n.T(ctx, "staff.step.then")
		v.Forms = []views.StaffStepForm{{
			ActionURL: url, Hidden: []views.Hidden{{Name: views.FieldPartySize, Value: strconv.Itoa(size.party)}}, Text: i18n.T(ctx, "staff.step.party_press", "n", size.party),
		}}
		change, err := s.store.PreviewResizeEntry(ctx, store.EntryPartyRequest{TenantID: e.TenantID, ID: e.ID, PartySize: size.party, Actor: me(r).actor(r)})
		refused, err := s.foreseen(r, c, &v, change, err, func(ctx context.Context, change store.Change) []views.StaffConsequence {
			out := []views.StaffConsequence{consequence(ctx, "kept", "staff.would.keeps_place")}
			return append(out, c.offersFollow(ctx, change)...)
		})
		if err != nil {
			return err
		}
		if refused == store.PartyTooLarge {
			v.Problem, v.Asks.Field.Error = "", i18n.T(ctx, "staff.err.entry_party", "n", e.PartySize)
		}
	}
	return s.stepPage(w, r, status, c, press, v)
}

func (s *Server) postStaffEntryParty(w http.ResponseWriter, r *http.Request) error {
	f, e, err := formFor(s, w, r, s.entryOf)
	if err != nil {
		return err
	}
	size := sizeOf(f)
	back := func(status int, press slotPress) error {
		if press.refused == store.PartyTooLarge {
			press.problem = "" // it stands beside the field
		}
		return s.staffEntryPartyPage(w, r, status, e.ID, press, size)
	}
	if f.bad() {
		return back(http.StatusUnprocessableEntity, slotPress{})
	}
	return s.press(w, r, staffPress{
		step: stepEntryParty, form: f, back: back, args: []any{"name", called(r.Context(), e.Name), "n", size.party},
		do: func(version *int64) (staffDone, error) {
			change, err := s.store.ResizeEntry(r.Context(), store.EntryPartyRequest{TenantID: e.TenantID, ID: e.ID, PartySize: size.party, Actor: me(r).actor(r), Version: version})
			done := staffDone{IDs: []string{e.ID}, N: size.party}.with(change)
			done.Frees = false
			return done, err
		},
		already: func(c counter) bool {
			now, here := c.entry(e.ID)
			return here && now.State == store.Waiting && now.PartySize == size.party
		},
	})
}

// getCapacity says what a number of seats would cause; without one it leads to
// the form, which stands on the slot's page.
func (s *Server) getCapacity(w http.ResponseWriter, r *http.Request) error {
	slot, err := slotParam(r)
	if err != nil {
		return err
	}
	f, typed := asked(r, views.FieldCapacity)
	if !typed {
		return s.see(w, r, views.StaffSlotURL(venue(r).Slug, slot)+"#capacity", "")
	}
	form, status := capacityOf(f), http.StatusOK
	if f.bad() {
		status = http.StatusUnprocessableEntity
	}
	return s.capacityPage(w, r, status, slotPress{}, form)
}

// capacityForm is a number of seats as typed.
type capacityForm struct {
	typed    string
	capacity int // below 0: none that could be
	errs     formErrors
}

func capacityOf(f *form) capacityForm {
	out := capacityForm{typed: f.text(views.FieldCapacity, 20), errs: f.errs}
	out.capacity = f.number(views.FieldCapacity, 0, mostSeats, "staff.err.capacity")
	return out
}

func (s *Server) capacityPage(w http.ResponseWriter, r *http.Request, status int, press slotPress, form capacityForm) error {
	ctx := r.Context()
	c, err := s.loadCounter(r)
	if err != nil {
		return err
	}
	url := views.StaffSlotCapacityURL(c.tenant.Slug, c.ID)
	v := views.StaffStepPage{
		Kind: string(stepCapacity), Title: i18n.T(ctx, "staff.step.capacity"), Lead: i18n.T(ctx, "staff.step.capacity_now", "n", c.Capacity),
		Asks: &views.StaffStepAsk{ActionURL: url, Text: i18n.T(ctx, "staff.look_first"), Field: views.Field{
			ID: "capacity-value", Name: views.FieldCapacity, Label: i18n.T(ctx, "staff.capacity.label"), Type: "text", Value: form.typed,
			Error: form.errs.in(ctx)[views.FieldCapacity], Autocomplete: "off", InputMode: "numeric", Max: 20,
		}},
	}
	if form.capacity >= 0 && form.capacity != c.Capacity {
		v.Then = i18n.T(ctx, "staff.step.then")
		v.Forms = []views.StaffStepForm{{
			ActionURL: url, Hidden: []views.Hidden{{Name: views.FieldCapacity, Value: strconv.Itoa(form.capacity)}},
			Text: i18n.T(ctx, "staff.step.capacity_press", "n", form.capacity),
		}}
		change, err := s.store.PreviewCapacity(ctx, store.CapacityRequest{TenantID: c.tenant.ID, SlotID: c.ID, Capacity: form.capacity, Actor: me(r).actor(r)})
		refused, err := s.foreseen(r, c, &v, change, err, c.seatsFollow)
		if err != nil {
			return err
		}
		if refused == store.BelowTaken {
			v.Then, v.MustMoveTitle, v.MustMove = "", i18n.T(ctx, "staff.capacity.must_move"), c.mustMove(ctx)
		}
		if extra := c.extraSeats(); extra > 0 && refused == "" {
			v.Consequence = append(v.Consequence, consequence(ctx, "kept", "staff.would.extras_end", "n", extra))
		}
	}
	return s.stepPage(w, r, status, c, press, v)
}

// extraSeats are those that were added for single bookings.
func (c counter) extraSeats() int {
	n := 0
	for _, r := range c.roster {
		if r.Live() {
			n += r.ExtraSeats
		}
	}
	return n
}

// postEntryStep is a step of staff on an entry that needs a reason.
func (s *Server) postEntryStep(step staffStep) handlerFunc {
	do := map[staffStep]func(context.Context, store.EntryRequest) (store.Change, error){
		stepOffer: s.store.OfferTo, stepRevoke: s.store.Revoke, stepRemove: s.store.RemoveEntry,
	}[step]
	over := map[staffStep]store.EntryState{stepOffer: store.Offered, stepRevoke: store.Withdrawn, stepRemove: store.Withdrawn}[step]
	return func(w http.ResponseWriter, r *http.Request) error {
		f, e, err := formFor(s, w, r, s.entryOf)
		if err != nil {
			return err
		}
		reason := f.text(views.FieldReason, longestReason)
		if reason == "" {
			f.errs.fault(views.FieldReason, "staff.err.reason")
		}
		back := func(status int, press slotPress) error {
			form := views.StaffReasonForm{Reason: reason, Err: f.errs.in(r.Context())[views.FieldReason]}
			return s.staffEntryPage(w, r, step, e.ID, status, press, form)
		}
		if f.bad() {
			return back(http.StatusUnprocessableEntity, slotPress{})
		}
		return s.press(w, r, staffPress{
			step: step, form: f, back: back, args: []any{"name", called(r.Context(), e.Name), "n", e.PartySize},
			do: func(version *int64) (staffDone, error) {
				change, err := do(r.Context(), store.EntryRequest{TenantID: e.TenantID, ID: e.ID, Reason: reason, Actor: me(r).actor(r), Version: version})
				return staffDone{IDs: []string{e.ID}, N: e.PartySize}.with(change), err
			},
			already: func(c counter) bool {
				now, here := c.entry(e.ID)
				return here && now.State == over
			},
		})
	}
}

// entryOf reads the entry of the path, which must wait for the slot of the path.
func (s *Server) entryOf(r *http.Request) (store.Entry, error) {
	slot, err := slotParam(r)
	if err != nil {
		return store.Entry{}, err
	}
	id := chi.URLParam(r, "entry")
	if !store.ValidID(id) {
		return store.Entry{}, store.NotFound
	}
	e, err := s.store.Entry(r.Context(), venue(r).ID, id)
	if err == nil && e.SlotID != slot {
		err = store.NotFound
	}
	return e, err
}
