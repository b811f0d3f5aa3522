package store

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// A webhook is an address of another system that is told of each event of the
// venue's feed, in the order of the feed, since its own cursor.
//
// The row of the endpoint is its lock: whoever delivers has claimed it by a
// conditional update, for a while (leased_until) and under a number (term) that
// goes up with each claim. What was delivered is written down under that number,
// so one who comes back late writes nothing. A deliverer that dies leaves the
// endpoint to the end of its lease; the next one sends the event at hand again,
// with the same delivery id, by which a receiver tells a repetition.
//
// The event behind the cursor is tried until it is taken: what follows waits, so
// that a receiver never sees effects before causes. After WebhookPatience the
// endpoint is paused and the venue's day says so; the cursor stays.
//
// The secret that signs has to be readable to us: it is encrypted by AES-256-GCM
// with a key derived from the server secret, bound to the endpoint, as the secret
// of a second factor is.

const (
	// MostWebhooks is how many endpoints a tenant may have.
	MostWebhooks = 10
	// WebhookPatience is how long an event is tried before its endpoint is paused.
	WebhookPatience = 72 * time.Hour
	// WebhookOverlap is how long a secret that was replaced signs as well.
	WebhookOverlap = 24 * time.Hour
	// WebhookLog is how many deliveries of an endpoint are kept.
	WebhookLog = 50
)

// AreaWebhook is where the changes of endpoints are noted.
const AreaWebhook = "webhook"

// WebhookPing is the kind of the event of a test, which stands in no feed.
const WebhookPing EventKind = "ping"

// WebhookOutcome is how one attempt of a delivery ended.
type WebhookOutcome string

// The ends of an attempt.
const (
	WebhookDelivered   WebhookOutcome = "delivered"   // answered with 2xx
	WebhookStatus      WebhookOutcome = "status"      // answered with another status
	WebhookRedirect    WebhookOutcome = "redirect"    // sent elsewhere; that is not followed
	WebhookTimeout     WebhookOutcome = "timeout"     // no answer in time
	WebhookConnection  WebhookOutcome = "connection"  // nobody there, or refused
	WebhookName        WebhookOutcome = "name"        // the name leads nowhere
	WebhookCertificate WebhookOutcome = "certificate" // no trust in whoever answers
	WebhookAddress     WebhookOutcome = "address"     // the name leads to an address to which nothing is sent
	WebhookBroken      WebhookOutcome = "broken"      // the connection broke, or the answer is none
)

// WebhookOutcomes lists every end, for tests that demand words for each.
var WebhookOutcomes = []WebhookOutcome{
	WebhookDelivered, WebhookStatus, WebhookRedirect, WebhookTimeout, WebhookConnection, WebhookName, WebhookCertificate, WebhookAddress, WebhookBroken,
}

// Why an endpoint is paused.
const (
	WebhookPausedByStaff = "staff"
	WebhookPausedFailing = "failing" // nothing was taken for WebhookPatience
)

// Webhook is an endpoint of a tenant, without its secret.
type Webhook struct {
	ID       string
	TenantID string
	URL      string
	Kinds    []string // of events; none: all
	// PausedWhy is WebhookPausedByStaff, WebhookPausedFailing or empty: events are delivered.
	PausedWhy string
	PausedAt  *time.Time
	Cursor    int64 // the place in the feed up to which all is done
	Head      int64 // the last place of the feed
	// Attempts in vain of the event behind the cursor, since when, and when the next is.
	Attempts     int
	FailingSince *time.Time
	NextAt       time.Time
	DeliveredAt  *time.Time // last
	OldUntil     *time.Time // until then the former secret signs too; nil: it does not
	Version      int
	CreatedAt    time.Time
	Now          time.Time // the database's clock at the read
}

// Paused reports whether nothing is delivered for now.
func (w Webhook) Paused() bool { return w.PausedWhy != "" }

const webhookColumns = `w.id::text, w.tenant_id::text, w.url, w.kinds, w.paused_why, w.paused_at, w.cursor, t.feed_head AS head, w.attempts, w.failing_since, w.next_at, w.delivered_at,
	CASE WHEN w.old_until > coalesce(@at::timestamptz, statement_timestamp()) THEN w.old_until END AS old_until, w.version, w.created_at,
	coalesce(@at::timestamptz, statement_timestamp()) AS now
FROM webhook_endpoints w JOIN tenants t ON t.id = w.tenant_id`

const webhooksSQL = `-- webhooks
SELECT ` + webhookColumns + ` WHERE w.tenant_id = @tenant ORDER BY w.created_at, w.id LIMIT 100`

// Webhooks lists the endpoints of a tenant, the oldest first.
func (s *Store) Webhooks(ctx context.Context, tenant string) ([]Webhook, error) {
	return list[Webhook](ctx, s.db, webhooksSQL, pgx.StrictNamedArgs{"tenant": tenant, "at": s.at})
}

const webhookSQL = `-- webhook
SELECT ` + webhookColumns + ` WHERE w.tenant_id = @tenant AND w.id = @id`

// Webhook finds an endpoint; NotFound if the tenant has none of that id.
func (s *Store) Webhook(ctx context.Context, tenant, id string) (Webhook, error) {
	return one[Webhook](ctx, s.db, webhookSQL, pgx.StrictNamedArgs{"tenant": tenant, "id": id, "at": s.at})
}

const failingWebhooksSQL = `-- webhooks that were given up
SELECT ` + webhookColumns + ` WHERE w.tenant_id = @tenant AND w.paused_why = 'failing' ORDER BY w.paused_at, w.id LIMIT 100`

// FailingWebhooks lists the endpoints that were paused because nothing was taken there.
func (s *Store) FailingWebhooks(ctx context.Context, tenant string) ([]Webhook, error) {
	return list[Webhook](ctx, s.db, failingWebhooksSQL, pgx.StrictNamedArgs{"tenant": tenant, "at": s.at})
}

const webhookKey = "webhook key"

func (s *Store) sealWebhook(tenant, id, secret string) ([]byte, error) {
	return s.encrypt(webhookKey, boundTo(tenant, id), secret)
}

func (s *Store) openWebhook(tenant, id string, sealed []byte) (string, error) {
	return s.decrypt(webhookKey, boundTo(tenant, id), sealed)
}

// boundTo ties a secret to its endpoint: in another row it can't be read.
func boundTo(tenant, id string) []byte { return []byte("webhook/" + tenant + "/" + id) }

// newWebhookSecret makes a secret of 130 bits, with a beginning by which people
// and programs that look for lost secrets can tell what it is.
func newWebhookSecret() string { return "hfwh_" + rand.Text() }

// ValidEventKinds reports whether each is a kind of event that there is, once.
func ValidEventKinds(kinds []string) bool {
	for i, kind := range kinds {
		if !slices.Contains(EventKinds, EventKind(kind)) || slices.Contains(kinds[:i], kind) {
			return false
		}
	}
	return true
}

// WebhookChange is what a form says of an endpoint. The address was checked by NormalizeWebhookURL.
type WebhookChange struct {
	TenantID string
	ID       string // of the one to be changed
	URL      string
	Kinds    []string // none: all
	Version  int      // that the form showed
	Staff    string
}

// Begins at the head of the feed: what was before is read by the API. A limit
// that two presses at once may pass by one is limit enough.
const addWebhookSQL = `-- add webhook
INSERT INTO webhook_endpoints (tenant_id, id, url, kinds, secret, cursor, next_at, created_at)
SELECT @tenant, @id, @url, @kinds::text[], @secret, t.feed_head, coalesce(@at::timestamptz, statement_timestamp()), coalesce(@at::timestamptz, statement_timestamp())
FROM tenants t WHERE t.id = @tenant AND (SELECT count(*) FROM webhook_endpoints WHERE tenant_id = @tenant) < @most`

// AddWebhook makes an endpoint, which is told of what happens from now on, and
// gives its id and its secret, the only time that it can be read.
// ErrCatalogFull: there are MostWebhooks.
func (s *Store) AddWebhook(ctx context.Context, c WebhookChange) (id, secret string, err error) {
	id, secret = newID(), newWebhookSecret()
	sealed, err := s.sealWebhook(c.TenantID, id, secret)
	if err != nil {
		return "", "", err
	}
	err = s.changeSetting(ctx, "add webhook", SettingChange{TenantID: c.TenantID, StaffID: c.Staff, Area: AreaWebhook}, func(ctx context.Context, tx pgx.Tx) (string, []string, error) {
		tag, err := tx.Exec(ctx, addWebhookSQL, pgx.StrictNamedArgs{
			"tenant": c.TenantID, "id": id, "url": c.URL, "kinds": sortedKinds(c.Kinds), "secret": sealed, "most": MostWebhooks, "at": s.at,
		})
		if err == nil && tag.RowsAffected() == 0 {
			err = ErrCatalogFull
		}
		return id, []string{"added"}, err
	})
	if err != nil {
		return "", "", err
	}
	return id, secret, nil
}

func sortedKinds(kinds []string) []string {
	out := append([]string{}, kinds...)
	slices.Sort(out)
	return out
}

const lockWebhookSQL = `-- lock webhook
SELECT ` + webhookColumns + ` WHERE w.tenant_id = @tenant AND w.id = @id FOR NO KEY UPDATE OF w`

// changeWebhook locks an endpoint and makes one change of its settings, which is
// noted under the fields that f gives.
func (s *Store) changeWebhook(ctx context.Context, tenant, id, staff, step string, f func(context.Context, pgx.Tx, Webhook) ([]string, error)) error {
	return s.changeSetting(ctx, step, SettingChange{TenantID: tenant, StaffID: staff, Area: AreaWebhook}, func(ctx context.Context, tx pgx.Tx) (string, []string, error) {
		w, err := one[Webhook](ctx, tx, lockWebhookSQL, pgx.StrictNamedArgs{"tenant": tenant, "id": id, "at": s.at})
		if err != nil {
			return "", nil, err
		}
		fields, err := f(ctx, tx, w)
		return id, fields, err
	})
}

// Another address begins anew: the failures were those of the former.
const saveWebhookSQL = `-- save webhook
UPDATE webhook_endpoints SET url = @url, kinds = @kinds::text[], version = version + 1,
	attempts = CASE WHEN url = @url THEN attempts ELSE 0 END, failing_since = CASE WHEN url = @url THEN failing_since END,
	next_at = CASE WHEN url = @url THEN next_at ELSE (SELECT coalesce(@at::timestamptz, statement_timestamp())) END
WHERE tenant_id = @tenant AND id = @id`

// SaveWebhook changes the address and the kinds of an endpoint. Conflict: it is no longer what the form showed.
func (s *Store) SaveWebhook(ctx context.Context, c WebhookChange) error {
	kinds := sortedKinds(c.Kinds)
	return s.changeWebhook(ctx, c.TenantID, c.ID, c.Staff, "save webhook", func(ctx context.Context, tx pgx.Tx, w Webhook) ([]string, error) {
		var fields fieldList
		noteIf(&fields, "webhook_url", w.URL, c.URL)
		noteIf(&fields, "webhook_kinds", strings.Join(w.Kinds, " "), strings.Join(kinds, " "))
		switch {
		case len(fields) == 0:
			return nil, nil
		case w.Version != c.Version:
			return nil, Conflict
		}
		_, err := tx.Exec(ctx, saveWebhookSQL, pgx.StrictNamedArgs{"tenant": c.TenantID, "id": c.ID, "url": c.URL, "kinds": kinds, "at": s.at})
		return fields, err
	})
}

const rotateWebhookSQL = `-- new secret of a webhook
UPDATE webhook_endpoints SET secret = @secret, version = version + 1,
	old_secret = CASE WHEN NOT @at_once THEN secret END,
	old_until = CASE WHEN NOT @at_once THEN (SELECT coalesce(@at::timestamptz, statement_timestamp())) + @overlap::interval END
WHERE tenant_id = @tenant AND id = @id`

// RotateWebhook gives an endpoint a new secret, returned this once. The former
// one signs too for WebhookOverlap, unless it is to end at once; one before that ends now.
func (s *Store) RotateWebhook(ctx context.Context, tenant, id, staff string, atOnce bool) (string, error) {
	secret := newWebhookSecret()
	sealed, err := s.sealWebhook(tenant, id, secret)
	if err != nil {
		return "", err
	}
	err = s.changeWebhook(ctx, tenant, id, staff, "new secret of a webhook", func(ctx context.Context, tx pgx.Tx, _ Webhook) ([]string, error) {
		_, err := tx.Exec(ctx, rotateWebhookSQL, pgx.StrictNamedArgs{"tenant": tenant, "id": id, "secret": sealed, "at_once": atOnce, "overlap": WebhookOverlap, "at": s.at})
		return []string{"webhook_secret"}, err
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

const pauseWebhookSQL = `-- pause webhook
UPDATE webhook_endpoints SET state = 'paused', paused_why = 'staff', paused_at = (SELECT coalesce(@at::timestamptz, statement_timestamp())), version = version + 1
WHERE tenant_id = @tenant AND id = @id`

// PauseWebhook stops the deliveries of an endpoint; what happens meanwhile waits. Pressed twice, it is one pause.
func (s *Store) PauseWebhook(ctx context.Context, tenant, id, staff string) error {
	return s.changeWebhook(ctx, tenant, id, staff, "pause webhook", func(ctx context.Context, tx pgx.Tx, w Webhook) ([]string, error) {
		if w.Paused() {
			return nil, nil
		}
		_, err := tx.Exec(ctx, pauseWebhookSQL, pgx.StrictNamedArgs{"tenant": tenant, "id": id, "at": s.at})
		return []string{"webhook_paused"}, err
	})
}

const resumeWebhookSQL = `-- resume webhook
UPDATE webhook_endpoints SET state = 'active', paused_why = '', paused_at = NULL, attempts = 0, failing_since = NULL, version = version + 1,
	next_at = (SELECT coalesce(@at::timestamptz, statement_timestamp())), cursor = CASE WHEN @skip THEN GREATEST(cursor, @head) ELSE cursor END
WHERE tenant_id = @tenant AND id = @id`

// ResumeWebhook delivers again: what has piled up, or, with skip, only what
// happens from now on. Pressed twice, it is one.
func (s *Store) ResumeWebhook(ctx context.Context, tenant, id, staff string, skip bool) error {
	return s.changeWebhook(ctx, tenant, id, staff, "resume webhook", func(ctx context.Context, tx pgx.Tx, w Webhook) ([]string, error) {
		if !w.Paused() {
			return nil, nil
		}
		_, err := tx.Exec(ctx, resumeWebhookSQL, pgx.StrictNamedArgs{"tenant": tenant, "id": id, "skip": skip, "head": w.Head, "at": s.at})
		return []string{"webhook_resumed"}, err
	})
}

const deleteWebhookSQL = `-- delete webhook
DELETE FROM webhook_endpoints WHERE tenant_id = @tenant AND id = @id`

// DeleteWebhook deletes an endpoint with its log.
func (s *Store) DeleteWebhook(ctx context.Context, tenant, id, staff string) error {
	return s.changeWebhook(ctx, tenant, id, staff, "delete webhook", func(ctx context.Context, tx pgx.Tx, _ Webhook) ([]string, error) {
		_, err := tx.Exec(ctx, deleteWebhookSQL, pgx.StrictNamedArgs{"tenant": tenant, "id": id})
		return []string{"removed"}, err
	})
}

// WebhookDelivery is one attempt in the log of an endpoint.
type WebhookDelivery struct {
	Number   int64
	Delivery string // the id in the header
	Kind     EventKind
	Attempt  int
	At       time.Time
	Took     time.Duration // whole milliseconds
	Outcome  WebhookOutcome
	Status   int // of the answer; 0: there was none
}

const webhookDeliveriesSQL = `-- log of a webhook
SELECT number, delivery, kind, attempt, at, took_ms * interval '1 millisecond' AS took, outcome, status
FROM webhook_deliveries WHERE tenant_id = @tenant AND endpoint_id = @id ORDER BY number DESC LIMIT @limit`

// WebhookDeliveries lists the last WebhookLog attempts of an endpoint, the newest first.
func (s *Store) WebhookDeliveries(ctx context.Context, tenant, id string) ([]WebhookDelivery, error) {
	return list[WebhookDelivery](ctx, s.db, webhookDeliveriesSQL, pgx.StrictNamedArgs{"tenant": tenant, "id": id, "limit": WebhookLog})
}
