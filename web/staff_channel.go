package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"holdfast/store"
	"holdfast/views"
	"holdfast/views/i18n"
)

// eventGroups are the kinds of events as a form offers them; texts are the keys
// channel.group.KEY and channel.kind.KIND. Each kind stands in one.
var eventGroups = []struct {
	key   string
	kinds []store.EventKind
}{
	{"bookings", []store.EventKind{
		store.EventHeld, store.EventExtended, store.EventReleased, store.EventExpired, store.EventConfirmed, store.EventCancelled, store.EventPartyChanged,
		store.EventMovedOut, store.EventMovedIn,
	}},
	{"waitlist", []store.EventKind{
		store.EventJoined, store.EventOffered, store.EventStaffOffered, store.EventAccepted, store.EventDeclined, store.EventLapsed, store.EventRevoked,
		store.EventWithdrawn, store.EventClaimed, store.EventVacancyTold, store.EventEntryChanged, store.EventEntryClosed,
	}},
	{"slots", []store.EventKind{
		store.EventCapacityChanged, store.EventTermsChanged, store.EventPolicyChanged, store.EventClosed, store.EventReopened, store.EventPaused, store.EventResumed,
		store.EventSlotCancelled,
	}},
	{"records", []store.EventKind{
		store.EventContactChanged, store.EventEmailAsked, store.EventEmailChanged, store.EventLinkSent, store.EventNoticeSent, store.EventMessageGivenUp,
		store.EventErased, store.EventRefusedLate,
	}},
}

// webhookForm is an endpoint as typed.
type webhookForm struct {
	address string
	some    bool
	kinds   []string
	errs    formErrors
	stored  *views.StaffStored
}

// decodeWebhook reads an endpoint, and gives its address as it is to be stored.
func (s *Server) decodeWebhook(f *form) (webhookForm, string) {
	typed := webhookForm{address: f.text(views.FieldWebhookURL, store.LongestWebhookURL), errs: f.errs}
	address, err := store.NormalizeWebhookURL(typed.address, s.cfg.WebhookPrivate)
	switch {
	case typed.address == "":
		f.errs.fault(views.FieldWebhookURL, "channel.err.url_missing")
	case errors.Is(err, store.ErrWebhookPlain):
		f.errs.fault(views.FieldWebhookURL, "channel.err.url_plain")
	case errors.Is(err, store.ErrWebhookPrivate):
		f.errs.fault(views.FieldWebhookURL, "channel.err.url_private")
	case err != nil:
		f.errs.fault(views.FieldWebhookURL, "channel.err.url")
	}
	switch f.text(views.FieldEvents, 10) {
	case "all":
	case "some":
		typed.some = true
		typed.kinds = f.values[views.FieldEventKind]
		if len(typed.kinds) == 0 || !store.ValidEventKinds(typed.kinds) {
			f.errs.fault(views.FieldEventKind, "channel.err.kinds")
		}
	default:
		f.errs.fault(views.FieldEvents, "channel.err.events")
	}
	return typed, address
}

func typedWebhook(w store.Webhook) webhookForm {
	return webhookForm{address: w.URL, some: len(w.Kinds) > 0, kinds: w.Kinds}
}

func (s *Server) webhookForm(ctx context.Context, f webhookForm) views.StaffWebhookForm {
	v := views.StaffWebhookForm{Address: f.address, Some: f.some, Errs: f.errs.in(ctx), Stored: f.stored, Hint: i18n.T(ctx, "channel.field.url.hint")}
	if s.cfg.WebhookPrivate {
		v.Hint = i18n.T(ctx, "channel.field.url.hint_private")
	}
	for _, g := range eventGroups {
		group := views.StaffEventGroup{Title: i18n.T(ctx, i18n.Key("channel.group."+g.key))}
		for _, kind := range g.kinds {
			group.Kinds = append(group.Kinds, views.StaffEventKind{Value: string(kind), Text: eventWord(ctx, kind), Checked: slices.Contains(f.kinds, string(kind))})
		}
		v.Groups = append(v.Groups, group)
	}
	return v
}

// eventWord names a kind of event.
func eventWord(ctx context.Context, kind store.EventKind) string {
	key := i18n.Key("channel.kind." + string(kind))
	if !i18n.Has(key) { // written by a later version
		return string(kind)
	}
	return i18n.T(ctx, key)
}

func (s *Server) getWebhooks(w http.ResponseWriter, r *http.Request) error {
	return s.webhooksPage(w, r, http.StatusOK, webhookForm{})
}

func (s *Server) webhooksPage(w http.ResponseWriter, r *http.Request, status int, f webhookForm) error {
	ctx, t := r.Context(), venue(r)
	hooks, err := s.store.Webhooks(ctx, t.ID)
	if err != nil {
		return err
	}
	v := views.StaffWebhooksPage{Form: s.webhookForm(ctx, f)}
	v.Form.ActionURL, v.Form.Submit = views.StaffWebhooksURL(t.Slug), i18n.T(ctx, "channel.add")
	if len(hooks) >= store.MostWebhooks {
		v.Full = i18n.T(ctx, "channel.full", "n", store.MostWebhooks)
	}
	for _, h := range hooks {
		v.Webhooks = append(v.Webhooks, views.StaffWebhookRow{
			ID: h.ID, URL: views.StaffWebhookURL(t.Slug, h.ID), Address: h.URL, State: webhookState(h), Facts: []string{wanted(ctx, h), lastTaken(ctx, t, h)},
		})
	}
	if v.Page, v.Staff, err = s.staffPage(r, "settings", i18n.T(ctx, "channel.title"), views.StaffWebhooksURL(t.Slug)); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffWebhooks(v))
}

func webhookState(h store.Webhook) string {
	switch {
	case h.PausedWhy == store.WebhookPausedFailing:
		return "failing"
	case h.Paused():
		return "paused"
	case h.Attempts > 0:
		return "trying"
	}
	return "active"
}

func wanted(ctx context.Context, h store.Webhook) string {
	if len(h.Kinds) == 0 {
		return i18n.T(ctx, "channel.wants.all")
	}
	return i18n.T(ctx, "channel.wants.some", "n", len(h.Kinds))
}

func lastTaken(ctx context.Context, t store.Tenant, h store.Webhook) string {
	if h.DeliveredAt == nil {
		return i18n.T(ctx, "channel.delivered.never")
	}
	return i18n.T(ctx, "channel.delivered", "time", momentAt(ctx, t, *h.DeliveredAt, h.Now))
}

// postWebhooks makes an endpoint and answers with its page, the only one that
// shows the secret: one in the session or in an address could be read again.
func (s *Server) postWebhooks(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	f, err := s.form(w, r)
	if err != nil {
		return err
	}
	typed, address := s.decodeWebhook(f)
	if f.bad() {
		return s.webhooksPage(w, r, http.StatusUnprocessableEntity, typed)
	}
	id, secret, err := s.store.AddWebhook(ctx, store.WebhookChange{TenantID: t.ID, URL: address, Kinds: typed.kinds, Staff: me(r).ID})
	if errors.Is(err, store.ErrCatalogFull) {
		f.errs.fault("", "channel.full", "n", store.MostWebhooks)
		return s.webhooksPage(w, r, http.StatusUnprocessableEntity, typed)
	}
	if err != nil {
		return err
	}
	h, err := s.store.Webhook(ctx, t.ID, id)
	if err != nil {
		return err
	}
	return s.webhookPage(w, r, http.StatusOK, h, webhookPress{secret: secret})
}

// webhookParam reads the endpoint of the path.
func (s *Server) webhookParam(r *http.Request) (store.Webhook, error) {
	id := chi.URLParam(r, "webhook")
	if !store.ValidID(id) {
		return store.Webhook{}, store.NotFound
	}
	return s.store.Webhook(r.Context(), venue(r).ID, id)
}

// webhookPress is what a press leaves to be shown on the endpoint's page.
type webhookPress struct {
	form    *webhookForm // nil: as it is stored
	secret  string
	problem string
}

func (s *Server) getWebhook(w http.ResponseWriter, r *http.Request) error {
	h, err := s.webhookParam(r)
	if err != nil {
		return err
	}
	return s.webhookPage(w, r, http.StatusOK, h, webhookPress{})
}

func (s *Server) webhookPage(w http.ResponseWriter, r *http.Request, status int, h store.Webhook, p webhookPress) error {
	ctx, t := r.Context(), venue(r)
	log, err := s.store.WebhookDeliveries(ctx, t.ID, h.ID)
	if err != nil {
		return err
	}
	typed := typedWebhook(h)
	if p.form != nil {
		typed = *p.form
	}
	v := views.StaffWebhookPage{
		BackURL: views.StaffWebhooksURL(t.Slug), Host: hostOf(h.URL), Address: h.URL, State: webhookState(h), Says: webhookSays(ctx, t, h), Secret: p.secret, Problem: p.problem,
		SecretURL: views.StaffWebhookSecretURL(t.Slug, h.ID), DeleteURL: views.StaffWebhookDeleteURL(t.Slug, h.ID), Form: s.webhookForm(ctx, typed),
	}
	if h.OldUntil != nil {
		v.Old = i18n.T(ctx, "channel.secret.old", "time", i18n.In(ctx).DateTimeShort(*h.OldUntil, t.Location()))
	}
	v.Form.ActionURL, v.Form.Submit, v.Form.Version = views.StaffWebhookURL(t.Slug, h.ID), i18n.T(ctx, "channel.save"), strconv.Itoa(h.Version)
	if s.cfg.TestWebhook != nil {
		v.TestURL = views.StaffWebhookTestURL(t.Slug, h.ID)
	}
	if h.Paused() {
		v.ResumeURL = views.StaffWebhookResumeURL(t.Slug, h.ID)
		if waiting := h.Head - h.Cursor; waiting > 0 {
			v.Waiting = i18n.T(ctx, "channel.waiting", "n", int(waiting))
		}
	} else {
		v.PauseURL = views.StaffWebhookPauseURL(t.Slug, h.ID)
	}
	tested := r.URL.Query().Get(views.FieldTested)
	for _, d := range log {
		v.Log = append(v.Log, webhookLine(ctx, t, h, d))
		if d.Kind != store.WebhookPing || strconv.FormatInt(d.Number, 10) != tested {
			continue
		}
		if d.Outcome == store.WebhookDelivered {
			v.Done = i18n.T(ctx, "channel.test.good", "status", strconv.Itoa(d.Status), "ms", strconv.FormatInt(d.Took.Milliseconds(), 10))
		} else {
			v.Problem = i18n.T(ctx, "channel.test.bad", "outcome", outcomeWord(ctx, d.Outcome, d.Status))
		}
	}
	if v.Page, v.Staff, err = s.staffPage(r, "settings", v.Host, views.StaffWebhookURL(t.Slug, h.ID)); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffWebhook(v))
}

// webhooksDown are the endpoints that somebody has to see to. One statement.
func (s *Server) webhooksDown(r *http.Request) ([]views.StaffWebhookDown, error) {
	ctx, t := r.Context(), venue(r)
	failing, err := s.store.FailingWebhooks(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	var down []views.StaffWebhookDown
	for _, h := range failing {
		d := views.StaffWebhookDown{ID: h.ID, Text: i18n.T(ctx, "channel.attention", "host", i18n.Isolate(hostOf(h.URL)))}
		if me(r).can(runVenue) {
			d.URL = views.StaffWebhookURL(t.Slug, h.ID)
		}
		down = append(down, d)
	}
	return down, nil
}

// hostOf is by what people know an address.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	return u.Host
}

// webhookSays tells how an endpoint does, in sentences.
func webhookSays(ctx context.Context, t store.Tenant, h store.Webhook) []string {
	at := func(instant time.Time) string { return momentAt(ctx, t, instant, h.Now) }
	var says []string
	switch webhookState(h) {
	case "failing":
		says = append(says, i18n.T(ctx, "channel.says.failing", "time", at(*h.PausedAt)))
	case "paused":
		says = append(says, i18n.T(ctx, "channel.says.paused", "time", at(*h.PausedAt)))
	case "trying":
		says = append(says, i18n.T(ctx, "channel.says.trying", "n", h.Attempts, "since", at(*h.FailingSince), "time", at(h.NextAt)),
			i18n.T(ctx, "channel.says.until", "time", at(h.FailingSince.Add(store.WebhookPatience))))
	default:
		says = append(says, i18n.T(ctx, "channel.says.active"))
	}
	return append(says, wanted(ctx, h), lastTaken(ctx, t, h))
}

// webhookLine is one attempt of the log.
func webhookLine(ctx context.Context, t store.Tenant, h store.Webhook, d store.WebhookDelivery) views.StaffWebhookLine {
	line := views.StaffWebhookLine{
		At: i18n.In(ctx).DateTimeShort(d.At, t.Location()), What: eventWord(ctx, d.Kind), Kind: string(d.Kind), Good: d.Outcome == store.WebhookDelivered,
		Outcome: outcomeWord(ctx, d.Outcome, d.Status), Took: i18n.T(ctx, "channel.took", "n", int(d.Took.Milliseconds())),
	}
	if y, m, day := h.Now.In(t.Location()).Date(); sameDate(d.At.In(t.Location()), y, m, day) {
		line.At = d.At.In(t.Location()).Format(time.TimeOnly)
	}
	if d.Attempt > 1 {
		line.Attempt = i18n.T(ctx, "channel.attempt", "n", d.Attempt)
	}
	return line
}

func outcomeWord(ctx context.Context, o store.WebhookOutcome, status int) string {
	return i18n.T(ctx, i18n.Key("channel.outcome."+string(o)), "status", strconv.Itoa(status))
}

func (s *Server) postWebhook(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	f, h, err := formFor(s, w, r, s.webhookParam)
	if err != nil {
		return err
	}
	typed, address := s.decodeWebhook(f)
	if f.bad() {
		return s.webhookPage(w, r, http.StatusUnprocessableEntity, h, webhookPress{form: &typed})
	}
	err = s.store.SaveWebhook(ctx, store.WebhookChange{TenantID: t.ID, ID: h.ID, URL: address, Kinds: typed.kinds, Version: shownVersion(f), Staff: me(r).ID})
	if !errors.Is(err, store.Conflict) {
		return s.webhookDone(w, r, h, err, "channel.saved")
	}
	s.noteRefusal(r, store.Conflict)
	if h, err = s.webhookParam(r); err != nil {
		return err
	}
	now := typedText{"webhook_url": h.URL, "webhook_kinds": kindsText(ctx, h.Kinds)}
	asked := typedText{"webhook_url": address, "webhook_kinds": kindsText(ctx, typed.kinds)}
	if typed.stored, err = s.storedNow(r, store.AreaWebhook, h.ID, []string{"webhook_url", "webhook_kinds"}, asked, now); err != nil {
		return err
	}
	return s.webhookPage(w, r, http.StatusConflict, h, webhookPress{form: &typed})
}

func kindsText(ctx context.Context, kinds []string) string {
	if len(kinds) == 0 {
		return i18n.T(ctx, "channel.events.all")
	}
	var words []string
	for _, kind := range slices.Sorted(slices.Values(kinds)) {
		words = append(words, eventWord(ctx, store.EventKind(kind)))
	}
	return strings.Join(words, i18n.T(ctx, "changes.and"))
}

// webhookDone leads back to the endpoint's page, which says what was done.
func (s *Server) webhookDone(w http.ResponseWriter, r *http.Request, h store.Webhook, err error, done i18n.Key) error {
	if err != nil {
		return err
	}
	return s.see(w, r, views.StaffWebhookURL(venue(r).Slug, h.ID), done)
}

// testsPerMinute is how many tests a venue may send: each keeps a request waiting for somebody else's server.
const testsPerMinute = 20

func (s *Server) postWebhookTest(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	_, h, err := formFor(s, w, r, s.webhookParam)
	if err != nil {
		return err
	}
	if s.cfg.TestWebhook == nil {
		return s.webhookDone(w, r, h, nil, "channel.test.none")
	}
	wait, err := s.store.Hit(ctx, "webhook test "+t.ID, testsPerMinute, time.Minute)
	if err != nil {
		return err
	}
	if wait > 0 {
		return s.webhookPage(w, r, http.StatusTooManyRequests, h, webhookPress{problem: i18n.T(ctx, "channel.test.wait")})
	}
	number, err := s.cfg.TestWebhook(ctx, t.ID, h.ID, string(store.Staff)+":"+me(r).ID)
	if err != nil {
		return err
	}
	return s.see(w, r, views.StaffWebhookTestedURL(t.Slug, h.ID, number), "")
}

func (s *Server) postWebhookPause(w http.ResponseWriter, r *http.Request) error {
	_, h, err := formFor(s, w, r, s.webhookParam)
	if err != nil {
		return err
	}
	return s.webhookDone(w, r, h, s.store.PauseWebhook(r.Context(), venue(r).ID, h.ID, me(r).ID), "channel.paused")
}

func (s *Server) postWebhookResume(w http.ResponseWriter, r *http.Request) error {
	f, h, err := formFor(s, w, r, s.webhookParam)
	if err != nil {
		return err
	}
	skip := false
	switch f.text(views.FieldResumeFrom, 10) {
	case "", "kept":
	case "now":
		skip = true
	default:
		return errBadRequest
	}
	if f.bad() {
		return errBadRequest
	}
	return s.webhookDone(w, r, h, s.store.ResumeWebhook(r.Context(), venue(r).ID, h.ID, me(r).ID, skip), "channel.resumed")
}

func (s *Server) getWebhookSecret(w http.ResponseWriter, r *http.Request) error {
	h, err := s.webhookParam(r)
	if err != nil {
		return err
	}
	return s.webhookSecretPage(w, r, http.StatusOK, h, nil)
}

func (s *Server) webhookSecretPage(w http.ResponseWriter, r *http.Request, status int, h store.Webhook, errs formErrors) error {
	ctx, t := r.Context(), venue(r)
	v := views.StaffWebhookSecretPage{
		Address: h.URL, ActionURL: views.StaffWebhookSecretURL(t.Slug, h.ID), BackURL: views.StaffWebhookURL(t.Slug, h.ID), Errs: errs.in(ctx),
		Lines: []views.StaffConsequence{
			{Kind: "kept", Text: i18n.T(ctx, "channel.secret.effect.both")}, {Kind: "kept", Text: i18n.T(ctx, "channel.secret.effect.then")},
		},
	}
	if h.OldUntil != nil {
		v.Lines = append(v.Lines, views.StaffConsequence{Kind: "warn", Text: i18n.T(ctx, "channel.secret.effect.older")})
	}
	var err error
	if v.Page, v.Staff, err = s.staffPage(r, "settings", i18n.T(ctx, "channel.secret.title"), v.ActionURL); err != nil {
		return err
	}
	return s.render(w, r, status, views.StaffWebhookSecret(v))
}

// postWebhookSecret answers with the page that shows the new secret, once.
func (s *Server) postWebhookSecret(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	f, h, err := formFor(s, w, r, s.webhookParam)
	if err != nil {
		return err
	}
	atOnce := f.text(views.FieldAtOnce, 1)
	if atOnce != "" && atOnce != "1" {
		f.errs.fault(views.FieldAtOnce, "form.err.characters")
	}
	if f.bad() {
		return s.webhookSecretPage(w, r, http.StatusUnprocessableEntity, h, f.errs)
	}
	secret, err := s.store.RotateWebhook(ctx, t.ID, h.ID, me(r).ID, atOnce == "1")
	if err != nil {
		return err
	}
	if h, err = s.webhookParam(r); err != nil {
		return err
	}
	return s.webhookPage(w, r, http.StatusOK, h, webhookPress{secret: secret})
}

func (s *Server) getWebhookDelete(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), venue(r)
	h, err := s.webhookParam(r)
	if err != nil {
		return err
	}
	v := views.StaffAskPage{
		Title: i18n.T(ctx, "channel.delete.title"), About: h.URL, Button: i18n.T(ctx, "channel.delete"),
		ActionURL: views.StaffWebhookDeleteURL(t.Slug, h.ID), BackURL: views.StaffWebhookURL(t.Slug, h.ID), BackText: i18n.T(ctx, "channel.back"),
		Lines: []views.StaffConsequence{
			{Kind: "warn", Text: i18n.T(ctx, "channel.delete.effect.now")},
			{Kind: "warn", Text: i18n.T(ctx, "channel.delete.effect.log")},
			{Kind: "kept", Text: i18n.T(ctx, "channel.delete.effect.pause")},
		},
	}
	if v.Page, v.Staff, err = s.staffPage(r, "settings", v.Title, v.ActionURL); err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, views.StaffAsk(v))
}

func (s *Server) postWebhookDelete(w http.ResponseWriter, r *http.Request) error {
	_, h, err := formFor(s, w, r, s.webhookParam)
	if err != nil {
		return err
	}
	if err := s.store.DeleteWebhook(r.Context(), venue(r).ID, h.ID, me(r).ID); err != nil {
		return err
	}
	return s.see(w, r, views.StaffWebhooksURL(venue(r).Slug), "channel.deleted")
}
