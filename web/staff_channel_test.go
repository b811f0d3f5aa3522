package web

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
	"holdfast/views"
	"holdfast/views/i18n"
)

func init() {
	address := badField{name: views.FieldWebhookURL, kind: textField, longest: store.LongestWebhookURL}
	events := []badField{{name: views.FieldEvents, kind: choiceField}, {name: views.FieldEventKind, kind: idField}}
	good := func() url.Values {
		return url.Values{views.FieldWebhookURL: {"https://hooks.example/in"}, views.FieldEvents: {"some"}, views.FieldEventKind: {"confirmed"}}
	}
	on := func(path func(tenant, webhook string) string, values ...string) func(*testing.T, *site) (string, url.Values) {
		return func(t *testing.T, s *site) (string, url.Values) {
			return path("shop", s.webhook(t)), with(none(), values...)
		}
	}
	for route, form := range map[string]badForm{
		"/staff/{tenant}/webhooks": {
			fields: append([]badField{address}, events...), owner: true, shown: true,
			fresh: func(t *testing.T, s *site) (string, url.Values) {
				s.Exec(t, "DELETE FROM webhook_endpoints")
				return views.StaffWebhooksURL("shop"), good()
			},
		},
		"/staff/{tenant}/webhooks/{webhook}": {
			fields: append([]badField{address}, append(events, hiddenFields(views.FieldVersion)...)...), owner: true,
			fresh: func(t *testing.T, s *site) (string, url.Values) {
				return views.StaffWebhookURL("shop", s.webhook(t)), with(good(), views.FieldVersion, "1")
			},
		},
		"/staff/{tenant}/webhooks/{webhook}/test":   {owner: true, fresh: on(views.StaffWebhookTestURL)},
		"/staff/{tenant}/webhooks/{webhook}/pause":  {owner: true, fresh: on(views.StaffWebhookPauseURL)},
		"/staff/{tenant}/webhooks/{webhook}/delete": {owner: true, fresh: on(views.StaffWebhookDeleteURL)},
		"/staff/{tenant}/webhooks/{webhook}/resume": {
			fields: []badField{{name: views.FieldResumeFrom, kind: choiceField}}, owner: true,
			fresh: func(t *testing.T, s *site) (string, url.Values) {
				id := s.webhook(t)
				if err := s.Store.PauseWebhook(t.Context(), s.Tenant.ID, id, ""); err != nil {
					t.Fatal(err)
				}
				return views.StaffWebhookResumeURL("shop", id), with(none(), views.FieldResumeFrom, "kept")
			},
		},
		"/staff/{tenant}/webhooks/{webhook}/secret": {
			fields: []badField{{name: views.FieldAtOnce, kind: choiceField}}, owner: true, shown: true, fresh: on(views.StaffWebhookSecretURL, views.FieldAtOnce, "1"),
		},
	} {
		forms[route] = form
	}
}

// webhook is one webhook of the shop, made anew.
func (s *site) webhook(t *testing.T) string {
	t.Helper()
	s.Exec(t, "DELETE FROM webhook_endpoints")
	id, _, err := s.Store.AddWebhook(t.Context(), store.WebhookChange{TenantID: s.Tenant.ID, URL: "https://first.example/"})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestEachKindOfEventCanBeChosenOnce(t *testing.T) {
	t.Parallel()
	var offered []string
	for _, g := range eventGroups {
		for _, kind := range g.kinds {
			offered = append(offered, string(kind))
		}
	}
	var all []string
	for _, kind := range store.EventKinds {
		all = append(all, string(kind))
	}
	slices.Sort(offered)
	slices.Sort(all)
	if !slices.Equal(offered, all) {
		t.Errorf("offered %v\nthere are %v", offered, all)
	}
	for _, kind := range append(all, string(store.WebhookPing)) {
		if !i18n.Has(i18n.Key("channel.kind." + kind)) {
			t.Errorf("no words for %s", kind)
		}
	}
	for _, o := range store.WebhookOutcomes {
		if !i18n.Has(i18n.Key("channel.outcome." + string(o))) {
			t.Errorf("no words for %s", o)
		}
	}
}

func TestAWebhookIsMadeAndItsSecretShownOnce(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	page := b.get(views.StaffWebhooksURL("shop")).is(http.StatusOK).says(ja("channel.none"))
	for typed, key := range map[string]i18n.Key{
		"": "channel.err.url_missing", "x": "channel.err.url", "http://x.example/": "channel.err.url_plain", "https://127.0.0.1/": "channel.err.url_private",
	} {
		b.press(page, "/webhooks", url.Values{views.FieldWebhookURL: {typed}, views.FieldEvents: {"all"}}).is(http.StatusUnprocessableEntity).
			need("data-error", views.FieldWebhookURL).says(ja(key))
	}
	b.press(page, "/webhooks", url.Values{views.FieldWebhookURL: {"https://x.example/"}, views.FieldEvents: {"some"}}).is(http.StatusUnprocessableEntity).
		need("data-error", views.FieldEventKind)
	made := b.press(page, "/webhooks", url.Values{views.FieldWebhookURL: {"https://X.example/in"}, views.FieldEvents: {"some"}, views.FieldEventKind: {"confirmed", "cancelled"}}).
		is(http.StatusOK).need("data-secret", "")
	secret := made.all("data-secret", "")[0].FirstChild.Data
	hooks, err := s.Store.Webhooks(t.Context(), s.Tenant.ID)
	if err != nil || len(hooks) != 1 || hooks[0].URL != "https://x.example/in" || !slices.Equal(hooks[0].Kinds, []string{"cancelled", "confirmed"}) {
		t.Fatalf("%+v %v", hooks, err)
	}
	open, err := s.Store.OpenWebhook(t.Context(), s.Tenant.ID, hooks[0].ID)
	if err != nil || !slices.Equal(open.Secrets, []string{secret}) {
		t.Fatalf("%v %v", open.Secrets, err)
	}
	if made.header.Get("Cache-Control") != cacheNever || strings.Contains(s.logs.String(), secret) || strings.Contains(s.logs.String(), "x.example") {
		t.Error("the secret, or the address, is kept")
	}
	here := views.StaffWebhookURL("shop", hooks[0].ID)
	page = b.get(here).is(http.StatusOK)
	if page.has("data-secret", "") || strings.Contains(page.body, secret) {
		t.Error("the secret is shown again")
	}
	b.get(views.StaffWebhooksURL("shop")).need("data-webhook", hooks[0].ID)

	// A stale form writes nothing and says what is stored.
	changed := url.Values{views.FieldWebhookURL: {"https://y.example/"}, views.FieldEvents: {"all"}}
	b.follow(b.press(page, here, changed)).says(ja("channel.saved")).says("https://y.example/")
	stale := url.Values{views.FieldWebhookURL: {"https://z.example/"}, views.FieldEvents: {"all"}}
	b.press(page, here, stale).is(http.StatusConflict).need("data-state", "changed").says("https://y.example/")

	// Both sign, then only the new one.
	turned := b.press(b.get(views.StaffWebhookSecretURL("shop", hooks[0].ID)).is(http.StatusOK), "/secret", nil).is(http.StatusOK).need("data-secret", "")
	second := turned.all("data-secret", "")[0].FirstChild.Data
	if open, err = s.Store.OpenWebhook(t.Context(), s.Tenant.ID, hooks[0].ID); err != nil || !slices.Equal(open.Secrets, []string{second, secret}) {
		t.Fatalf("%v %v", open.Secrets, err)
	}
	b.press(b.get(views.StaffWebhookSecretURL("shop", hooks[0].ID)), "/secret", url.Values{views.FieldAtOnce: {"1"}}).is(http.StatusOK)
	if open, err = s.Store.OpenWebhook(t.Context(), s.Tenant.ID, hooks[0].ID); err != nil || len(open.Secrets) != 1 {
		t.Fatalf("%v %v", open.Secrets, err)
	}

	// What happens while it is paused waits, or is left out.
	b.follow(b.press(b.get(here), "/pause", nil)).says(ja("channel.paused"))
	s.Book(t, s.Slot(t, 2), 1)
	if _, err := s.Store.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	paused := b.get(here).need("name", views.FieldResumeFrom)
	b.follow(b.press(paused, "/resume", url.Values{views.FieldResumeFrom: {"now"}})).says(ja("channel.resumed"))
	if h, err := s.Store.Webhook(t.Context(), s.Tenant.ID, hooks[0].ID); err != nil || h.Paused() || h.Cursor != h.Head || h.Head != 2 {
		t.Errorf("%+v %v", h, err)
	}
	b.follow(b.press(b.get(views.StaffWebhookDeleteURL("shop", hooks[0].ID)).is(http.StatusOK), "/delete", nil)).says(ja("channel.deleted")).says(ja("channel.none"))
	b.get(here).is(http.StatusNotFound)
}

func TestATestOfAWebhookTellsItsResult(t *testing.T) {
	t.Parallel()
	w := shop.New(t, nil)
	outcome := store.WebhookDelivered
	s := openSite(t, w, func(c *Config) {
		c.TestWebhook = func(ctx context.Context, tenant, id, actor string) (int64, error) {
			if !strings.HasPrefix(actor, "staff:") {
				t.Errorf("asked by %q", actor)
			}
			return w.Store.LogWebhookTest(ctx, tenant, id, store.WebhookResult{Kind: store.WebhookPing, Delivery: "d", Outcome: outcome, Status: 503, Took: 7 * time.Millisecond})
		}
	})
	b := asOwner(t, s)
	id := s.webhook(t)
	here := views.StaffWebhookURL("shop", id)
	done := b.follow(b.press(b.get(here), "/test", nil)).is(http.StatusOK)
	if !done.has("data-state", "done") || !strings.Contains(done.text(), "7") || done.has("data-error", "form") {
		t.Errorf("%s", done.text())
	}
	outcome = store.WebhookStatus
	if bad := b.follow(b.press(b.get(here), "/test", nil)).is(http.StatusOK); !bad.has("data-error", "form") || !strings.Contains(bad.text(), "503") {
		t.Errorf("%s", bad.text())
	}
	// The number of another line, or of none, tells nothing.
	if odd := b.get(here + "?tested=99").is(http.StatusOK); odd.has("data-state", "done") || odd.has("data-error", "form") {
		t.Errorf("%s", odd.text())
	}
	for range testsPerMinute - 2 {
		b.post(views.StaffWebhookTestURL("shop", id), nil)
	}
	b.post(views.StaffWebhookTestURL("shop", id), nil).is(http.StatusTooManyRequests).says(ja("channel.test.wait"))
}

func TestAWebhookThatWasGivenUpIsToldOnTheDay(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	id := s.webhook(t)
	today := views.StaffTodayURL("shop")
	if b.get(today).is(http.StatusOK).has("data-state", "webhook") {
		t.Error("told while all is well")
	}
	s.Exec(t, "UPDATE webhook_endpoints SET state = 'paused', paused_why = 'failing', paused_at = now()")
	told := b.get(today).need("data-state", "webhook").need("href", views.StaffWebhookURL("shop", id))
	if !strings.Contains(told.text(), "first.example") {
		t.Error(told.text())
	}
	if desk := atTheDesk(t, s).get(today).need("data-state", "webhook"); desk.has("href", views.StaffWebhookURL("shop", id)) {
		t.Error("the desk is led to a page that it may not open")
	}
	b.get(views.StaffWebhookURL("shop", id)).need("data-state", "failing")
}

// What is sent is the event of the API, without anything that says who somebody is.
func TestBodiesOfWebhooksAreEventsOfTheAPIWithoutPeople(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	slot := s.Slot(t, 2)
	booked := s.Book(t, slot, 2)
	s.Join(t, slot, 2)
	if _, err := s.Store.Cancel(t.Context(), store.CancelRequest{TenantID: slot.TenantID, IDs: []string{booked.ID}, Actor: shop.Staff, Reason: booked.Name + "様よりお電話"}); err != nil {
		t.Fatal(err)
	}
	late := s.Book(t, s.Slot(t, 2), 1)
	contact := s.Person()
	if _, err := s.Store.CorrectContact(t.Context(), store.ContactRequest{TenantID: s.Tenant.ID, ID: late.ID, Contact: contact, Actor: shop.Customer}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Store.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	events, err := s.Store.Feed(t.Context(), s.Tenant.ID, 0, 100)
	if err != nil || len(events) < 6 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	reasons := 0
	for _, e := range events {
		body, err := WebhookBody(e)
		if err != nil {
			t.Fatal(err)
		}
		for _, personal := range []string{"客", "guest", "example.com", "0123", "9012345678", "キャク", "192.0.2", "お電話"} {
			if strings.Contains(string(body), personal) {
				t.Errorf("%s tells %q: %s", e.Kind, personal, body)
			}
		}
		if _, typed := e.Details["reason"]; typed {
			reasons++
			delete(e.Details, "reason")
		}
		if want := strings.TrimSuffix(string(marshalAPI(apiEventOf(e))), "\n"); string(body) != want {
			t.Errorf("sent %s\nlisted %s", body, want)
		}
		var sent struct {
			Cursor, Slot, Kind, At string
			Details                map[string]any
		}
		if err := json.Unmarshal(body, &sent); err != nil || sent.Details == nil || sent.Kind != string(e.Kind) || !strings.HasSuffix(sent.At, "Z") || len(sent.At) != len("2027-03-14T01:00:00.000Z") {
			t.Errorf("%s %v", body, err)
		}
	}
	if reasons == 0 {
		t.Error("no reason was typed")
	}
	closed, err := WebhookBody(store.FeedEvent{Event: store.Event{Kind: store.EventEntryClosed, Details: map[string]any{"reason": "slot_cancelled"}}})
	if err != nil || !strings.Contains(string(closed), `"reason":"slot_cancelled"`) {
		t.Errorf("%s %v", closed, err)
	}
}
