package worker

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"holdfast/store"
)

// outbox is what the dispatcher needs of the store.
type outbox interface {
	TenantsToSend(ctx context.Context) ([]string, error)
	ClaimMessages(ctx context.Context, tenant string, limit int, lease time.Duration) ([]store.Message, error)
	Letter(ctx context.Context, m store.Message) (store.Letter, error)
	FinishMessage(ctx context.Context, m store.Message, r store.MessageResult) (bool, error)
}

const (
	// lease is how long a claimed message belongs to one dispatcher. A sending
	// that could outlast it is not begun, so that nobody else sends it as well.
	lease     = 5 * time.Minute
	sendLimit = lineTimeout + 5*smtpTimeout + smtpSettle + 10*time.Second
	// batch keeps the turns of the tenants short.
	batch      = 20
	concurrent = 4
	// settleLimit bounds writing down how a sending ended, also on the way out.
	settleLimit = 10 * time.Second
	settlePause = 250 * time.Millisecond

	firstAgain   = 15 * time.Second
	longestAgain = time.Hour
	maxAttempts  = 10
	// outageLimit is how old a message may become while the way is blocked for
	// all before it counts as failed: a weekend.
	outageLimit = 72 * time.Hour
)

// Dispatcher sends the messages of the outbox: tenant by tenant, a few at a
// time, so that one with a long backlog can't keep the others waiting.
//
// A message that is itself refused is tried again with growing pauses, and is
// failed after the last. When the way is blocked for all (the server is away,
// refuses to talk, or refuses the sender), nothing counts against the messages:
// they keep their place, the dispatcher rests, then tries with one, and what
// has piled up goes out in its order.
type Dispatcher struct {
	Store     outbox
	Write     func(store.Letter) (Mail, bool)
	Transport Transport // by mail
	Line      Transport // by LINE, tried first where a message can go there (see Line); nil: nothing does
	Log       *slog.Logger
	// Poll is the pause between looks at the tables; 0: one second.
	Poll time.Duration

	blocked int // how often in a row the way was found blocked
}

// Run sends until ctx ends.
func (d *Dispatcher) Run(ctx context.Context) error {
	poll := d.Poll
	if poll == 0 {
		poll = time.Second
	}
	if way, kept := d.Transport.(io.Closer); kept {
		defer func() {
			if err := way.Close(); err != nil {
				d.Log.WarnContext(ctx, "the connections to the mail server did not end well", "error", err)
			}
		}()
	}
	for {
		wait := poll
		sent, err := d.round(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, errBlocked):
			d.blocked++
			wait = rest(d.blocked)
			d.Log.WarnContext(ctx, "messages can't be sent for now", "tries", d.blocked, "again_in", wait.String(), "error", errors.Unwrap(err))
		case err != nil:
			d.Log.ErrorContext(ctx, "dispatch failed", "error", err)
			wait = max(poll, LongestPause)
		case sent:
			if d.blocked > 0 {
				d.Log.InfoContext(ctx, "messages can be sent again")
			}
			d.blocked = 0
			continue // there may be more
		}
		if !pause(ctx, wait) {
			return nil
		}
	}
}

// errBlocked wraps what blocks the way for all messages.
var errBlocked = errors.New("blocked")

type blockedError struct{ cause error }

func (e *blockedError) Error() string        { return errBlocked.Error() + ": " + e.cause.Error() }
func (e *blockedError) Unwrap() error        { return e.cause }
func (e *blockedError) Is(target error) bool { return target == errBlocked }

// round gives each tenant one turn. It reports whether anything was claimed.
func (d *Dispatcher) round(ctx context.Context) (claimed bool, err error) {
	tenants, err := d.Store.TenantsToSend(ctx)
	if err != nil {
		return false, err
	}
	var failed error
	for _, tenant := range tenants {
		if ctx.Err() != nil {
			return claimed, nil
		}
		limit := batch
		if d.blocked > 0 && !claimed {
			limit = 1 // try the way with one message
		}
		some, err := d.turn(ctx, tenant, limit)
		claimed = claimed || some
		if errors.Is(err, errBlocked) {
			return claimed, err
		}
		// One tenant's trouble is not the others'.
		failed = errors.Join(failed, err)
	}
	return claimed && failed == nil, failed
}

// turn claims and sends some messages of a tenant. Those to one reader go out
// one after the other, in order.
func (d *Dispatcher) turn(ctx context.Context, tenant string, limit int) (claimed bool, err error) {
	began := time.Now()
	messages, err := d.Store.ClaimMessages(ctx, tenant, limit, lease)
	if err != nil || len(messages) == 0 {
		return false, err
	}
	slices.SortStableFunc(messages, func(a, b store.Message) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	var order []string
	byReader := map[string][]store.Message{}
	for _, m := range messages {
		reader := strings.ToLower(m.Recipient)
		if byReader[reader] == nil {
			order = append(order, reader)
		}
		byReader[reader] = append(byReader[reader], m)
	}
	var (
		stop    atomic.Bool
		mu      sync.Mutex
		blocked error
	)
	// Not bound to ctx: what was claimed is settled, whether sent or given back.
	var group errgroup.Group
	group.SetLimit(concurrent)
	for _, reader := range order {
		group.Go(func() error {
			var failed error
			held := false // behind one that is to be tried again soon
			for _, m := range byReader[reader] {
				if held || stop.Load() || ctx.Err() != nil || time.Since(began)+sendLimit > lease {
					failed = errors.Join(failed, d.finish(ctx, m, giveBack(m, began, m.LastError)))
					continue
				}
				result, err := d.send(ctx, m)
				if err != nil {
					if result.State == store.MessagePending {
						result = giveBack(m, began, result.Error)
					}
					stop.Store(true)
					mu.Lock()
					blocked = err
					mu.Unlock()
				}
				held = result.State == store.MessagePending && m.Attempts <= store.HoldsOrder
				failed = errors.Join(failed, d.finish(ctx, m, result))
			}
			return failed
		})
	}
	err = group.Wait()
	if blocked != nil {
		return true, &blockedError{blocked}
	}
	return true, err
}

// finish writes down how a sending ended, also when the program is stopping.
func (d *Dispatcher) finish(ctx context.Context, m store.Message, r store.MessageResult) error {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleLimit)
	defer cancel()
	mine, err := d.Store.FinishMessage(bounded, m, r)
	for err != nil && pause(bounded, settlePause) {
		// A failover, say: what was sent should not be sent again.
		mine, err = d.Store.FinishMessage(bounded, m, r)
	}
	if err != nil {
		// Its lease will run out; sent twice, it has the same Message-ID.
		return err
	}
	if !mine {
		d.Log.WarnContext(ctx, "a message was taken over or erased while it was being sent", "message", m.ID)
		return nil
	}
	switch r.State {
	case store.MessageFailed:
		d.Log.WarnContext(ctx, "message failed", "message", m.ID, "kind", m.Kind, "attempts", m.Attempts, "error", r.Error)
	default:
		d.Log.DebugContext(ctx, "message settled", "message", m.ID, "kind", m.Kind, "state", r.State, "attempts", m.Attempts)
	}
	return nil
}

// send sends one claimed message. An error says that the way is blocked for
// all; the result then lets the message keep its place.
func (d *Dispatcher) send(ctx context.Context, m store.Message) (result store.MessageResult, blocked error) {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendLimit)
	defer cancel()
	var written Mail
	pointless := false
	err := guard(ctx, d.Log, "letter", func() error {
		l, err := d.Store.Letter(bounded, m)
		if err != nil {
			return err
		}
		if pointless = l.Pointless; pointless {
			return nil
		}
		var ok bool
		if written, ok = d.Write(l); !ok {
			return errors.New("no text for this kind of message")
		}
		return nil
	})
	switch {
	case pointless:
		return store.MessageResult{State: store.MessageObsolete}, nil
	case errors.Is(err, store.NotFound):
		return store.MessageResult{State: store.MessageObsolete, Error: "what it was about is gone"}, nil
	case err != nil:
		d.Log.ErrorContext(ctx, "message could not be written", "message", m.ID, "kind", m.Kind, "error", err)
		return retry(m, "the text could not be made"), nil
	}
	if d.Line != nil && written.Line != nil {
		if result, settled := d.sendByLine(bounded, m, written); settled {
			return result, nil
		}
	}
	written.At = claimedAt(m)
	err = guard(ctx, d.Log, "transport", func() error { return d.Transport.Send(bounded, written) })
	var refused *Refusal
	switch {
	case err == nil:
		return store.MessageResult{State: store.MessageSent, Channel: store.ChannelMail, Subject: written.Subject, Text: written.Text}, nil
	case errors.As(err, &refused) && refused.Permanent:
		return store.MessageResult{State: store.MessageFailed, Error: refused.Reason}, nil
	case errors.As(err, &refused):
		return retry(m, refused.Reason), nil
	}
	if m.Attempts >= maxAttempts && claimedAt(m).Sub(m.CreatedAt) > outageLimit {
		return store.MessageResult{State: store.MessageFailed, Error: err.Error()}, err
	}
	return store.MessageResult{State: store.MessagePending, Error: err.Error()}, err
}

// sendByLine tries a message by LINE. False: it is to go by mail now.
func (d *Dispatcher) sendByLine(ctx context.Context, m store.Message, written Mail) (result store.MessageResult, settled bool) {
	err := guard(ctx, d.Log, "line", func() error { return d.Line.Send(ctx, written) })
	var elsewhere *Elsewhere
	switch {
	case err == nil:
		return store.MessageResult{State: store.MessageSent, Channel: store.ChannelLine, Subject: written.Subject, Text: written.Line.Text}, true
	case errors.As(err, &elsewhere):
		return store.MessageResult{}, false
	case !errors.Is(err, errUnclear):
		d.Log.WarnContext(ctx, "the way by LINE failed", "message", m.ID, "error", err)
		err = errUnclear
	}
	result = retry(m, err.Error())
	result.LineTries = 1
	return result, true
}

// claimedAt is the database's clock at the claim.
func claimedAt(m store.Message) time.Time {
	if m.SendingUntil == nil {
		return m.NextAttemptAt
	}
	return m.SendingUntil.Add(-lease)
}

// giveBack lets a claimed message go with the place in the order that it had.
func giveBack(m store.Message, began time.Time, reason string) store.MessageResult {
	ago := claimedAt(m).Sub(m.NextAttemptAt) + time.Since(began)
	return store.MessageResult{State: store.MessagePending, Again: -ago, Error: reason}
}

// rest is the pause after the way was found blocked n times in a row.
func rest(n int) time.Duration {
	step := time.Minute
	if n < 6 {
		step = LongestPause << (n - 1)
	}
	return step - step/4 + rand.N(step/4)
}

// retry tries again later, or gives up after the last attempt.
func retry(m store.Message, reason string) store.MessageResult {
	if m.Attempts >= maxAttempts {
		return store.MessageResult{State: store.MessageFailed, Error: reason}
	}
	return store.MessageResult{State: store.MessagePending, Again: again(m.Attempts), Error: reason}
}

// again is the pause after the n-th attempt, from 1: doubling, with jitter so
// that what failed together is not tried together.
func again(n int) time.Duration {
	step := longestAgain
	if n = max(n, 1); n < 12 {
		step = min(firstAgain<<(n-1), longestAgain)
	}
	return step - step/4 + rand.N(step/2)
}
