package store_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

// wire loses the answer to one message: the server has done what it was told,
// and the program can't know.
type wire struct {
	mu   sync.Mutex
	mark []byte // in the message whose answer will be lost; nil: none
	lost int
}

func (w *wire) loseAnswerTo(mark string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mark = []byte(mark)
}

func (w *wire) losses() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lost
}

type lossyConn struct {
	net.Conn
	wire *wire
	mine bool
}

func (c *lossyConn) Write(p []byte) (int, error) {
	c.wire.mu.Lock()
	if c.wire.mark != nil && bytes.Contains(p, c.wire.mark) {
		c.wire.mark, c.mine = nil, true
	}
	c.wire.mu.Unlock()
	return c.Conn.Write(p)
}

func (c *lossyConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.wire.mu.Lock()
	defer c.wire.mu.Unlock()
	if err == nil && n > 0 && c.mine { // the server has answered, so it has committed
		c.mine = false
		c.wire.lost++
		return 0, io.ErrUnexpectedEOF
	}
	return n, err
}

// lossy is a store whose connections go through the wire.
func lossy(t *testing.T, s *shop.Shop) (*store.Store, *wire) {
	t.Helper()
	cfg, err := pgxpool.ParseConfig(s.DSN)
	if err != nil {
		t.Fatal(err)
	}
	w, dial := &wire{}, cfg.ConnConfig.DialFunc
	cfg.MaxConns = 2
	cfg.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &lossyConn{Conn: conn, wire: w}, nil
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	st, err := store.New(pool, shop.Secret, store.Watch{})
	if err != nil {
		t.Fatal(err)
	}
	return st, w
}

func TestAHoldWhoseAnswerWasLostIsFoundByItsKey(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	st, w := lossy(t, s)
	if _, err := st.Hold(t.Context(), s.HoldRequest(s.Slot(t, 1), 1)); err != nil { // the statement is prepared now
		t.Fatal(err)
	}
	slot := s.Slot(t, 1)
	req := s.HoldRequest(slot, 1)
	req.Key = "the answer to this key is lost"
	w.loseAnswerTo(req.Key)
	held, err := st.Hold(t.Context(), req)
	if err != nil || len(held) != 1 || held[0].SlotID != slot.ID {
		t.Fatalf("%v %v", held, err)
	}
	if w.losses() != 1 {
		t.Fatal("no answer was lost")
	}
	taken(t, s, slot, 1)
}

func TestAGroupWhoseCommitWasLostIsFoundByItsKey(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	st, w := lossy(t, s)
	a, b := s.Slot(t, 1), s.Slot(t, 1)
	req := s.HoldRequest(a, 1)
	req.Slots = append(req.Slots, store.HoldSlot{ID: b.ID, TermsVersion: b.TermsVersion})
	slices.SortFunc(req.Slots, func(x, y store.HoldSlot) int { return strings.Compare(y.ID, x.ID) }) // not the order of their keys
	w.loseAnswerTo("commit")
	held, err := st.Hold(t.Context(), req)
	if err != nil || len(held) != 2 {
		t.Fatalf("%v %v", held, err)
	}
	if w.losses() != 1 {
		t.Fatal("no answer was lost")
	}
	taken(t, s, a, 1)
	taken(t, s, b, 1)
}

// A commit of unknown fate must not be tried again behind the customer's back:
// the answer is busy, and the second press is answered with what the first has done.
func TestACancellationWhoseCommitWasLostIsBusyAndNotRepeated(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	st, w := lossy(t, s)
	slot := s.Slot(t, 1)
	booked := s.Book(t, slot, 1)
	one, two := s.Join(t, slot, 1), s.Join(t, slot, 1)
	req := store.CancelRequest{TenantID: slot.TenantID, IDs: []string{booked.ID}, Actor: shop.Customer}
	w.loseAnswerTo("commit")
	if _, err := st.Cancel(t.Context(), req); err != store.Busy { //nolint:errorlint // exactly the refusal, not wrapped
		t.Fatalf("got %v, want busy; %d answers were lost", err, w.losses())
	}
	if w.losses() != 1 {
		t.Fatal("no answer was lost")
	}
	if _, err := st.Cancel(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if x, y := s.Entry(t, one), s.Entry(t, two); x.State != store.Offered || y.State != store.Waiting {
		t.Fatalf("the queue is %s, %s", x.State, y.State)
	}
	if n := messages(t, s, store.KindCancelled, booked.ID); n != 1 {
		t.Fatalf("%d mails", n)
	}
	taken(t, s, slot, 1)
}

// A confirm is one statement without a transaction around it: its answer can be lost, too.
func TestAConfirmWhoseAnswerWasLostIsAnsweredByTheSecondPress(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	st, w := lossy(t, s)
	if _, err := st.Confirm(t.Context(), s.ConfirmRequest(s.Hold(t, s.Slot(t, 1), 1))); err != nil {
		t.Fatal(err)
	}
	slot := s.Slot(t, 1)
	req := s.ConfirmRequest(s.Hold(t, slot, 1))
	w.loseAnswerTo(req.Contact.Email)
	if _, err := st.Confirm(t.Context(), req); err != store.Busy { //nolint:errorlint // exactly the refusal, not wrapped
		t.Fatalf("got %v, want busy", err)
	}
	if w.losses() != 1 {
		t.Fatal("no answer was lost")
	}
	if got, err := st.Confirm(t.Context(), req); err != nil || got.State != store.Confirmed {
		t.Fatalf("%+v %v", got, err)
	}
	if n := messages(t, s, store.KindConfirmed, req.ID); n != 1 {
		t.Fatalf("%d mails", n)
	}
}

// A refused change of terms leaves nothing behind: not the policies of the service that the slot did not get, either.
func TestAnOverlapLeavesThePoliciesOfTheOldService(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	a, b := s.Slot(t, 1), s.Slot(t, 1)
	other := s.AddService(t, s.Tenant, "other", []byte(`{"waitlistMode":"broadcast","partyMax":9}`))
	before := dump(t, s)
	_, err := s.Store.ChangeTerms(t.Context(), store.TermsRequest{
		TenantID: a.TenantID, SlotID: a.ID, ServiceID: other.ID, StartsAt: b.StartsAt, EndsAt: b.EndsAt, Actor: shop.Staff,
	})
	want(t, err, store.Overlaps)
	if after := dump(t, s); after != before {
		t.Fatalf("a refused change has changed something:\n%s\n%s", before, after)
	}
	if _, err := s.Store.ChangeTerms(t.Context(), store.TermsRequest{
		TenantID: a.TenantID, SlotID: a.ID, ServiceID: other.ID, StartsAt: b.StartsAt.Add(24 * time.Hour), EndsAt: b.EndsAt.Add(24 * time.Hour), Actor: shop.Staff,
	}); err != nil {
		t.Fatal(err)
	}
	if got := s.Read(t, a); got.WaitlistMode != store.Broadcast || got.PartyMax != 9 || got.OrderRules {
		t.Fatalf("the policies of the new service were not taken: %+v", got)
	}
}
