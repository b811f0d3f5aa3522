package worker

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"holdfast/store"
)

// webhooks is what delivering needs of the store.
type webhooks interface {
	DueWebhooks(ctx context.Context, limit int) ([]store.DueWebhook, error)
	ClaimWebhook(ctx context.Context, tenant, id string, lease time.Duration) (store.WebhookClaim, bool, error)
	Feed(ctx context.Context, tenant string, after int64, limit int) ([]store.FeedEvent, error)
	FinishWebhook(ctx context.Context, c store.WebhookClaim, r store.WebhookResult, lease time.Duration) (store.WebhookClaim, bool, error)
	ReleaseWebhook(ctx context.Context, c store.WebhookClaim, cursor int64) error
	OpenWebhook(ctx context.Context, tenant, id string) (store.WebhookClaim, error)
	LogWebhookTest(ctx context.Context, tenant, id string, r store.WebhookResult) (int64, error)
}

const (
	// webhookLease is how long an endpoint belongs to one deliverer after each
	// step: longer than an attempt and the writing down of how it ended.
	webhookLease = time.Minute
	// A turn is short, so that endpoints which have much to be told share the places.
	webhookTurn       = 5 * time.Second
	webhookTurnEvents = 50
	webhookBatch      = 100
	// How many are delivered to at a time, of one tenant at most, and of those
	// at most that did not take what they were sent last. So nobody's slow or dead
	// receivers take the places of all.
	webhookPlaces    = 64
	webhookOfTenant  = 4
	webhookOfFailing = 32
	webhookLook      = 1000
)

// Webhooks tells the endpoints of all tenants what happened: each in order, and
// independently of each other.
type Webhooks struct {
	Store webhooks
	// Write makes the body of an event.
	Write  func(store.FeedEvent) ([]byte, error)
	Client *WebhookClient
	Log    *slog.Logger
	// Poll is the pause between looks at the tables; 0: one second.
	Poll time.Duration

	mu      sync.Mutex
	running map[string]store.DueWebhook // by id
	turns   sync.WaitGroup
	wake    chan struct{}
}

// Run delivers until ctx ends. What was begun is finished, within the limit of an attempt.
func (h *Webhooks) Run(ctx context.Context) error {
	poll := h.Poll
	if poll == 0 {
		poll = time.Second
	}
	h.running, h.wake = map[string]store.DueWebhook{}, make(chan struct{}, 1)
	defer h.turns.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-h.wake:
		}
		wait := poll
		if err := h.start(ctx); err != nil && ctx.Err() == nil {
			h.Log.ErrorContext(ctx, "webhooks can't be delivered for now", "error", err)
			wait = max(poll, LongestPause)
		}
		timer.Reset(wait)
	}
}

// start gives a turn to each endpoint that is due, as far as there is place.
func (h *Webhooks) start(ctx context.Context) error {
	due, err := h.Store.DueWebhooks(ctx, webhookLook)
	if err != nil {
		return err
	}
	for _, d := range due {
		if !h.enter(d) {
			continue
		}
		h.turns.Go(func() {
			more := false
			err := guard(ctx, h.Log, "webhook", func() (err error) {
				more, err = h.turn(ctx, d)
				return err
			})
			h.leave(d)
			if err != nil && ctx.Err() == nil {
				// Its lease runs out; then it is tried again.
				h.Log.ErrorContext(ctx, "webhook could not be delivered", "webhook", d.ID, "error", err)
			}
			if more {
				select {
				case h.wake <- struct{}{}:
				default:
				}
			}
		})
	}
	return nil
}

// enter takes a place, or reports that there is none for this one now.
func (h *Webhooks) enter(d store.DueWebhook) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	ofTenant, failing := 0, 0
	for _, r := range h.running {
		if r.TenantID == d.TenantID {
			ofTenant++
		}
		if r.Attempts > 0 {
			failing++
		}
	}
	if _, here := h.running[d.ID]; here || len(h.running) >= webhookPlaces || ofTenant >= webhookOfTenant || d.Attempts > 0 && failing >= webhookOfFailing {
		return false
	}
	h.running[d.ID] = d
	return true
}

func (h *Webhooks) leave(d store.DueWebhook) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.running, d.ID)
}

// turn claims an endpoint and delivers to it, event by event, until there is no
// more, one is not taken, or the turn is over. It reports whether there may be
// more at once.
func (h *Webhooks) turn(ctx context.Context, d store.DueWebhook) (more bool, err error) {
	began := time.Now()
	held := began // since when, at least, the endpoint is ours for a whole lease
	c, mine, err := h.Store.ClaimWebhook(ctx, d.TenantID, d.ID, webhookLease)
	if err != nil || !mine {
		return false, err
	}
	cursor, sent := c.Cursor, 0
	for {
		events, err := h.Store.Feed(ctx, c.TenantID, cursor, webhookBatch)
		if err != nil {
			return false, h.letGo(ctx, c, cursor, err)
		}
		for _, e := range events {
			over := sent >= webhookTurnEvents || time.Since(began) > webhookTurn
			if over || c.Paused || ctx.Err() != nil || time.Since(held) > webhookLease/2 {
				return over && !c.Paused, h.letGo(ctx, c, cursor, nil)
			}
			if !c.Wants(e.Kind) {
				cursor = e.Feed
				continue
			}
			body, err := h.Write(e)
			if err != nil {
				return false, h.letGo(ctx, c, cursor, err)
			}
			result := h.Client.Send(context.WithoutCancel(ctx), WebhookCall{URL: c.URL, Secrets: c.Secrets, Delivery: c.Delivery(e.Feed), Body: body, At: c.Now.Add(time.Since(held))})
			result.Feed, result.Kind = e.Feed, e.Kind
			if result.Outcome != store.WebhookDelivered {
				result.Again = later(c.Attempts+1, result.Again)
			}
			before, finished := c, time.Now()
			if c, mine, err = h.finish(ctx, c, result); err != nil {
				return false, err
			}
			switch {
			case !mine:
				h.Log.WarnContext(ctx, "a webhook was taken over or deleted while it was being delivered", "webhook", d.ID)
				return false, nil
			case result.Outcome != store.WebhookDelivered:
				if c.Paused && !before.Paused {
					h.Log.WarnContext(ctx, "webhook paused", "webhook", d.ID, "attempts", before.Attempts+1, "outcome", result.Outcome, "status", result.Status)
				}
				return false, nil
			}
			held, cursor = finished, max(e.Feed, c.Cursor)
			if sent++; cursor > e.Feed {
				break // staff have skipped what waited
			}
		}
		if len(events) < webhookBatch {
			return false, h.letGo(ctx, c, cursor, nil)
		}
	}
}

// finish writes down how an attempt ended, also when the program is stopping.
func (h *Webhooks) finish(ctx context.Context, c store.WebhookClaim, r store.WebhookResult) (store.WebhookClaim, bool, error) {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleLimit)
	defer cancel()
	now, mine, err := h.Store.FinishWebhook(bounded, c, r, webhookLease)
	for err != nil && pause(bounded, settlePause) {
		now, mine, err = h.Store.FinishWebhook(bounded, c, r, webhookLease)
	}
	return now, mine, err
}

// letGo gives an endpoint back, and the fault that made it necessary.
func (h *Webhooks) letGo(ctx context.Context, c store.WebhookClaim, cursor int64, fault error) error {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleLimit)
	defer cancel()
	if fault != nil && ctx.Err() == nil {
		return fault // the lease keeps it from being tried again at once
	}
	return h.Store.ReleaseWebhook(bounded, c, cursor)
}

// later is the pause after the n-th attempt in vain, or what the receiver asked
// for, with some more so that not all come back at one instant.
func later(n int, asked time.Duration) time.Duration {
	if asked > 0 {
		return asked + rand.N(asked/10+time.Second)
	}
	return again(n)
}

// Test sends a signed event of the kind store.WebhookPing to an endpoint, writes
// how that ended into the log, and gives its number there. An endpoint that is
// paused is tested too. NotFound: the tenant has none of that id.
func (h *Webhooks) Test(ctx context.Context, tenant, id, actor string) (int64, error) {
	began := time.Now()
	c, err := h.Store.OpenWebhook(ctx, tenant, id)
	if err != nil {
		return 0, err
	}
	body, err := h.Write(store.FeedEvent{Event: store.Event{Kind: store.WebhookPing, Actor: actor, At: c.Now}})
	if err != nil {
		return 0, err
	}
	// The caller has a page to show: the time that is left after an attempt is for that.
	bounded, cancel := context.WithTimeout(ctx, webhookLimit*7/10)
	defer cancel()
	result := h.Client.Send(bounded, WebhookCall{
		URL: c.URL, Secrets: c.Secrets, Delivery: c.ID + "-ping-" + strconv.FormatInt(c.Now.UnixMicro(), 10), Body: body, At: c.Now.Add(time.Since(began)),
	})
	result.Kind = store.WebhookPing
	return h.Store.LogWebhookTest(ctx, tenant, id, result)
}
