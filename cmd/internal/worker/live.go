package worker

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgxlisten"

	"holdfast/store"
)

// Live carries the news that slots have changed from the instance that changed
// them to the viewers of all instances. It may lose some: viewers poll as well.
type Live struct {
	// Connect opens a connection that Live then owns. It must lead to the server
	// itself: a pooler that shares connections between transactions can't listen.
	Connect func(context.Context) (*pgx.Conn, error)
	// Tell brings news to the viewers of this instance. It must be quick.
	Tell func([]store.SlotRef)
	Log  *slog.Logger

	once    sync.Once
	wake    chan struct{}
	mu      sync.Mutex
	pending map[store.SlotRef]struct{}
}

const (
	// gather is for how long changes are collected into one notification, so that
	// a rush on a slot costs ten of them a second and not thousands.
	gather = 100 * time.Millisecond
	// mostPending bounds what is remembered while the database can't be told.
	mostPending = 5000
	// publishLimit bounds one notification.
	publishLimit = 3 * time.Second
	// reconnect is how long Live waits before it connects again.
	reconnect = time.Second
)

func (l *Live) init() {
	l.once.Do(func() { l.wake, l.pending = make(chan struct{}, 1), map[store.SlotRef]struct{}{} })
}

// Changed notes that something about a slot has been committed. It waits for
// nothing, so that it may be called by every step.
func (l *Live) Changed(tenant, slot string) {
	l.init()
	l.mu.Lock()
	if len(l.pending) < mostPending {
		l.pending[store.SlotRef{TenantID: tenant, SlotID: slot}] = struct{}{}
	}
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *Live) take() []store.SlotRef {
	l.mu.Lock()
	defer l.mu.Unlock()
	refs := make([]store.SlotRef, 0, len(l.pending))
	for ref := range l.pending {
		refs = append(refs, ref)
	}
	clear(l.pending)
	return refs
}

// Publish tells all instances of what Changed noted, on a connection of its
// own, until ctx ends. Where it can't, it tells the viewers of this instance.
func (l *Live) Publish(ctx context.Context) error {
	l.init()
	var conn *pgx.Conn
	defer func() {
		if conn != nil {
			l.hangUp(ctx, conn)
		}
	}()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-l.wake:
		}
		if !pause(ctx, gather) {
			return nil
		}
		refs := l.take()
		err := guard(ctx, l.Log, "publish", func() (err error) {
			conn, err = l.publish(ctx, conn, refs)
			return err
		})
		if err == nil {
			failing = false
			continue
		}
		if ctx.Err() != nil {
			return nil
		}
		l.Tell(refs)
		if !failing {
			failing = true
			l.Log.WarnContext(ctx, "live pages: other instances can't be told; they look by themselves", "error", err)
		}
		if conn != nil {
			l.hangUp(ctx, conn)
			conn = nil
		}
		if !pause(ctx, reconnect) {
			return nil
		}
	}
}

// publish sends one notification, over conn or a new connection, and gives the
// connection to use the next time.
func (l *Live) publish(ctx context.Context, conn *pgx.Conn, refs []store.SlotRef) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, publishLimit)
	defer cancel()
	if conn != nil && !conn.IsClosed() {
		err := store.PublishChanges(ctx, conn, refs)
		if err == nil || ctx.Err() != nil {
			return conn, err
		}
		l.hangUp(ctx, conn) // it may have been lost while idle: once more on a new one
	}
	conn, err := l.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return conn, store.PublishChanges(ctx, conn, refs)
}

func (l *Live) hangUp(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := conn.Close(ctx); err != nil {
		l.Log.DebugContext(ctx, "live pages: closing a connection", "error", err)
	}
}

// Listen brings what any instance publishes to the viewers of this one, until
// ctx ends. A lost connection is made anew.
func (l *Live) Listen(ctx context.Context) error {
	failing := false
	listener := &pgxlisten.Listener{
		Connect: func(ctx context.Context) (*pgx.Conn, error) {
			bounded, cancel := context.WithTimeout(ctx, publishLimit)
			defer cancel()
			conn, err := l.Connect(bounded)
			if err == nil {
				failing = false
			}
			return conn, err
		},
		LogError: func(ctx context.Context, err error) {
			if ctx.Err() == nil && !failing {
				failing = true
				l.Log.WarnContext(ctx, "live pages: not listening; viewers' pages look by themselves", "error", err)
			}
		},
		ReconnectDelay: reconnect,
	}
	listener.Handle(store.ChangesChannel, pgxlisten.HandlerFunc(func(_ context.Context, n *pgconn.Notification, _ *pgx.Conn) error {
		l.Tell(store.ReadChanges(n.Payload))
		return nil
	}))
	if err := listener.Listen(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}
