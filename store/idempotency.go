package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// IdempotencyKept is how long an answer is kept for its key.
	IdempotencyKept = 24 * time.Hour
	// idempotencyLease is after how long a request that gave no answer is taken for dead.
	idempotencyLease = time.Minute
)

// IdempotentRequest is a request of the API with a key. The key is scoped to
// its tenant and route; Fingerprint is a hash of all else that the request asks.
type IdempotentRequest struct {
	TenantID    string
	Route       string
	KeyHash     []byte
	Fingerprint []byte
}

// KeptAnswer is an answer of the API as it was given.
type KeptAnswer struct {
	Status int
	Body   []byte
}

// ErrInProgress says that the same request is under way elsewhere.
var ErrInProgress = errors.New("the request with this key is under way")

const beginIdempotentSQL = `-- begin a request with a key
INSERT INTO idempotency_answers AS a (tenant_id, route, key_hash, fingerprint, begun_at)
VALUES (@tenant, @route, @key, @fingerprint, statement_timestamp())
ON CONFLICT (tenant_id, route, key_hash) DO UPDATE SET fingerprint = excluded.fingerprint, status = NULL, body = NULL, begun_at = excluded.begun_at
WHERE a.begun_at < excluded.begun_at - @kept::interval OR (a.status IS NULL AND a.fingerprint = excluded.fingerprint AND a.begun_at < excluded.begun_at - @lease::interval)
RETURNING true`

const keptAnswerSQL = `-- answer kept for a key
SELECT fingerprint = @fingerprint AS same, status, body FROM idempotency_answers WHERE tenant_id = @tenant AND route = @route AND key_hash = @key`

// BeginIdempotent claims a key. Nil and nil: the request is the caller's to
// carry out, and FinishIdempotent is to follow. An answer: it was carried out
// before. Refusals: KeyReused (the key stands for another request); ErrInProgress.
func (s *Store) BeginIdempotent(ctx context.Context, r IdempotentRequest) (*KeptAnswer, error) {
	args := pgx.StrictNamedArgs{"tenant": r.TenantID, "route": r.Route, "key": r.KeyHash, "fingerprint": r.Fingerprint}
	begin := pgx.StrictNamedArgs{"kept": IdempotencyKept, "lease": idempotencyLease}
	for name, value := range args {
		begin[name] = value
	}
	var mine bool
	err := s.db.QueryRow(ctx, beginIdempotentSQL, begin).Scan(&mine)
	if err == nil {
		return nil, nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return nil, classify(err)
	}
	var same bool
	var status *int
	var body []byte
	err = s.db.QueryRow(ctx, keptAnswerSQL, args).Scan(&same, &status, &body)
	switch {
	case errors.Is(err, pgx.ErrNoRows): // given up in this moment
		return nil, ErrInProgress
	case err != nil:
		return nil, classify(err)
	case !same:
		return nil, KeyReused
	case status == nil:
		return nil, ErrInProgress
	}
	return &KeptAnswer{*status, body}, nil
}

const finishIdempotentSQL = `-- keep the answer of a request with a key
UPDATE idempotency_answers SET status = @status, body = @body WHERE tenant_id = @tenant AND route = @route AND key_hash = @key AND fingerprint = @fingerprint AND status IS NULL`

const dropIdempotentSQL = `-- give up a request with a key
DELETE FROM idempotency_answers WHERE tenant_id = @tenant AND route = @route AND key_hash = @key AND fingerprint = @fingerprint AND status IS NULL`

// FinishIdempotent keeps the answer, or with nil gives the key free: the
// request was not carried out and may be made again.
func (s *Store) FinishIdempotent(ctx context.Context, r IdempotentRequest, a *KeptAnswer) error {
	args := pgx.StrictNamedArgs{"tenant": r.TenantID, "route": r.Route, "key": r.KeyHash, "fingerprint": r.Fingerprint}
	sql := dropIdempotentSQL
	if a != nil {
		sql, args["status"], args["body"] = finishIdempotentSQL, a.Status, a.Body
	}
	_, err := s.db.Exec(ctx, sql, args)
	return classify(err)
}

const oldAnswersSQL = `-- tenants with old answers
SELECT DISTINCT tenant_id::text FROM idempotency_answers WHERE begun_at < statement_timestamp() - @kept::interval LIMIT 100`

const tidyAnswersSQL = `-- forget old answers
DELETE FROM idempotency_answers WHERE tenant_id = @tenant AND begun_at < statement_timestamp() - @kept::interval`

// tidyAnswers forgets the answers that are kept no longer.
func (s *Store) tidyAnswers(ctx context.Context) error {
	rows, err := s.db.Query(ctx, oldAnswersSQL, pgx.StrictNamedArgs{"kept": IdempotencyKept})
	if err != nil {
		return classify(err)
	}
	tenants, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return classify(err)
	}
	for _, tenant := range tenants {
		if _, err := s.db.Exec(ctx, tidyAnswersSQL, pgx.StrictNamedArgs{"tenant": tenant, "kept": IdempotencyKept}); err != nil {
			return classify(err)
		}
	}
	return nil
}
