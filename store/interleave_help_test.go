package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

// rival is another session with an open transaction. Where a step needs what
// the rival has, the step stands still in its middle, with the locks that it has
// taken so far, until the rival ends: so an interleaving is made of real steps,
// and needs no sleeping.
type rival struct {
	t    *testing.T
	conn *pgx.Conn
	tx   pgx.Tx
}

func newRival(t *testing.T, s *shop.Shop) *rival {
	t.Helper()
	r := &rival{t: t, conn: s.Conn(t)}
	r.begin()
	return r
}

func (r *rival) begin() {
	r.t.Helper()
	tx, err := r.conn.Begin(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	r.tx = tx
}

func (r *rival) exec(sql string, args ...any) {
	r.t.Helper()
	tag, err := r.tx.Exec(r.t.Context(), sql, args...)
	if err != nil {
		r.t.Fatal(err)
	}
	if tag.RowsAffected() != 1 {
		r.t.Fatalf("the rival meant one row and got %d", tag.RowsAffected())
	}
}

func (r *rival) lockSlot(slot store.Slot) {
	r.t.Helper()
	r.exec("SELECT 1 FROM slots WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE", slot.TenantID, slot.ID)
}

func (r *rival) lockReservation(res store.Reservation) {
	r.t.Helper()
	r.exec("SELECT 1 FROM reservations WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE", res.TenantID, res.ID)
}

func (r *rival) lockEntry(e store.Entry) {
	r.t.Helper()
	r.exec("SELECT 1 FROM waitlist_entries WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE", e.TenantID, e.ID)
}

// takeKey makes a hold with this key stand still after it has taken its seats.
func (r *rival) takeKey(slot store.Slot, key string) {
	r.t.Helper()
	r.exec(`INSERT INTO reservations (tenant_id, slot_id, party_size, state, number, locale, owner, shown_until, expires_at, terms_version,
			idempotency_key, link_hash, source, created_at)
		VALUES ($1, $2, 1, 'held', 'RIVAL' || left($3, 20), 'ja', 'rival', now() + interval '1 hour', now() + interval '1 hour', 1, $3, $3::text::bytea, 'web', now())`,
		slot.TenantID, slot.ID, key)
}

// takePlace makes a join of this address stand still after it was judged.
func (r *rival) takePlace(slot store.Slot, email string) {
	r.t.Helper()
	r.exec(`INSERT INTO waitlist_entries (tenant_id, slot_id, party_size, state, position, locale, person_key, link_hash, source, joined_at)
		VALUES ($1, $2, 1, 'waiting', 1000000, 'ja', $3, $3::text::bytea, 'web', now())`, slot.TenantID, slot.ID, store.PersonKey(email))
}

// takeMessage makes the confirming of a hold stand still after it has changed its row.
func (r *rival) takeMessage(res store.Reservation) {
	r.t.Helper()
	r.exec(`INSERT INTO outbox (tenant_id, kind, recipient, locale, next_attempt_at, dedupe_key, created_at) VALUES ($1, 'confirmed', '', 'ja', now(), $2, now())`,
		res.TenantID, fmt.Sprintf("confirmed/%s/%d", res.ID, res.TermsVersion))
}

func (r *rival) rollback() {
	r.t.Helper()
	if err := r.tx.Rollback(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rival) commit() {
	r.t.Helper()
	if err := r.tx.Commit(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

// pending is a press that has not been answered yet.
type pending[T any] struct {
	done chan struct{}
	got  T
	err  error
}

func press[T any](do func() (T, error)) *pending[T] {
	p := &pending[T]{done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.got, p.err = do()
	}()
	return p
}

func (p *pending[T]) answered() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// answer waits for the answer and gives it, success or not.
func (p *pending[T]) answer(t *testing.T) (T, error) {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(30 * time.Second):
		t.Fatal("a press was never answered")
	}
	return p.got, p.err
}

// ok waits for the answer, which must be a success.
func (p *pending[T]) ok(t *testing.T) T {
	t.Helper()
	got, err := p.answer(t)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// refused waits for the answer, which must be this refusal.
func (p *pending[T]) refused(t *testing.T, outcome store.Outcome) {
	t.Helper()
	_, err := p.answer(t)
	want(t, err, outcome)
}

// The steps as presses. They take the test's context.

func pressHold(t *testing.T, s *shop.Shop, req store.HoldRequest) *pending[[]store.Reservation] {
	return press(func() ([]store.Reservation, error) { return s.Store.Hold(t.Context(), req) })
}

func pressConfirm(t *testing.T, s *shop.Shop, req store.ConfirmRequest) *pending[store.Reservation] {
	return press(func() (store.Reservation, error) { return s.Store.Confirm(t.Context(), req) })
}

func pressCancel(t *testing.T, s *shop.Shop, r store.Reservation, actor store.Actor) *pending[store.Change] {
	return press(func() (store.Change, error) {
		return s.Store.Cancel(t.Context(), store.CancelRequest{TenantID: r.TenantID, IDs: []string{r.ID}, Actor: actor})
	})
}

func pressAccept(t *testing.T, s *shop.Shop, e store.Entry, terms int) *pending[store.Reservation] {
	return press(func() (store.Reservation, error) {
		return s.Store.Accept(t.Context(), store.AcceptRequest{TenantID: e.TenantID, ID: e.ID, TermsVersion: terms, Actor: shop.Customer})
	})
}

func pressClaim(t *testing.T, s *shop.Shop, e store.Entry, terms int) *pending[store.Reservation] {
	return press(func() (store.Reservation, error) {
		return s.Store.Claim(t.Context(), store.AcceptRequest{TenantID: e.TenantID, ID: e.ID, TermsVersion: terms, Actor: shop.Customer})
	})
}

func pressJoin(t *testing.T, s *shop.Shop, req store.JoinRequest) *pending[store.Entry] {
	return press(func() (store.Entry, error) { return s.Store.Join(t.Context(), req) })
}

func pressMove(t *testing.T, s *shop.Shop, r store.Reservation, to store.Slot) *pending[store.Reservation] {
	return press(func() (store.Reservation, error) {
		return s.Store.Move(t.Context(), store.MoveRequest{TenantID: r.TenantID, ID: r.ID, TargetSlot: to.ID, TargetTerms: to.TermsVersion, Actor: shop.Customer})
	})
}

func pressCapacity(t *testing.T, s *shop.Shop, slot store.Slot, capacity int) *pending[store.Change] {
	return press(func() (store.Change, error) {
		return s.Store.ChangeCapacity(t.Context(), store.CapacityRequest{TenantID: slot.TenantID, SlotID: slot.ID, Capacity: capacity, Actor: shop.Staff})
	})
}

func pressSweep(t *testing.T, st *store.Store) *pending[store.SweepReport] {
	return press(func() (store.SweepReport, error) { return st.Sweep(t.Context()) })
}

// later is the store as of some hours on, when every hold and offer is due.
func later(s *shop.Shop) *store.Store { return s.Store.At(s.Start.Add(-100 * time.Hour)) }

// inGrace moves the shown deadline into the past: the enforced one has not
// passed, but a refusal would not break the promise.
func inGrace(t *testing.T, s *shop.Shop, table, id string) {
	t.Helper()
	s.Exec(t, "UPDATE "+table+" SET shown_until = now() - interval '1 minute' WHERE id = $1", id)
}

// due moves both deadlines into the past, the enforced one by so much.
func due(t *testing.T, s *shop.Shop, table, id string, ago time.Duration) {
	t.Helper()
	s.Exec(t, "UPDATE "+table+" SET shown_until = now() - interval '1 hour', expires_at = now() - $2::interval WHERE id = $1", id, ago)
}

// messages counts the outbox rows of a kind about a subject.
func messages(t *testing.T, s *shop.Shop, kind store.MessageKind, subject string) int {
	t.Helper()
	var n int
	err := s.Pool.QueryRow(t.Context(), "SELECT count(*) FROM outbox WHERE kind = $1 AND subject_id = $2", string(kind), subject).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// taken fails the test unless so many seats of the slot are taken.
func taken(t *testing.T, s *shop.Shop, slot store.Slot, want int) {
	t.Helper()
	if got := s.Read(t, slot).Taken; got != want {
		t.Fatalf("taken is %d, want %d", got, want)
	}
}

// offeredTo fails the test unless exactly this entry was offered seats by the step.
func offeredTo(t *testing.T, change store.Change, e store.Entry) {
	t.Helper()
	if len(change.Offered) != 1 || change.Offered[0].ID != e.ID {
		t.Fatalf("offered to %d entries, want one offer to %s at position %d", len(change.Offered), e.ID, e.Position)
	}
}

func broadcast(p *store.Policies) { p.WaitlistMode = store.Broadcast }

// killWaiting ends the server's side of the one session that waits for a lock.
func killWaiting(t *testing.T, s *shop.Shop, step string) {
	t.Helper()
	var n int
	err := s.Conn(t).QueryRow(t.Context(), `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
		WHERE datname = current_database() AND state = 'active' AND wait_event_type = 'Lock' AND query LIKE '%' || $1 || '%' AND pid <> pg_backend_pid()`, step).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	if n != 1 {
		t.Fatalf("%d waiting sessions of %q were ended, want 1", n, step)
	}
}

// deadlocksSurface makes the shop's connections wait out a deadlock until it is a
// lock timeout, and so a refusal that the test sees. As they are, Postgres would
// end one of the two after a second and the step would quietly be made again.
func deadlocksSurface(t *testing.T, s *shop.Shop, conns int) {
	t.Helper()
	s.Exec(t, "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET deadlock_timeout = 600000', current_database()); END $$")
	st, err := store.New(s.NewPool(t, conns), shop.Secret, store.Watch{})
	if err != nil {
		t.Fatal(err)
	}
	was := s.Store
	t.Cleanup(func() { s.Store = was }) // which computes the invariants when this pool is closed
	s.Store = st
}

// dump is all rows of all tables that steps write, to compare before and after.
func dump(t *testing.T, s *shop.Shop) string {
	t.Helper()
	var all string
	for _, table := range []string{"slots", "reservations", "waitlist_entries", "outbox", "events"} {
		var rows string
		err := s.Conn(t).QueryRow(context.WithoutCancel(t.Context()), "SELECT coalesce(string_agg(x::text, E'\n' ORDER BY x::text), '') FROM "+table+" x").Scan(&rows)
		if err != nil {
			t.Fatal(err)
		}
		all += "-- " + table + "\n" + rows + "\n"
	}
	return all
}
