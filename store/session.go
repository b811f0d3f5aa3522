package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// SessionStore keeps browser sessions for scs, whose CtxStore it satisfies by
// shape. Tokens arrive hashed. Expired rows are deleted by the sweep.
type SessionStore struct{ s *Store }

// Sessions gives the session table.
func (s *Store) Sessions() *SessionStore { return &SessionStore{s} }

const findSessionSQL = `-- find session
SELECT data FROM sessions WHERE token = @token AND expiry > statement_timestamp()`

// FindCtx gives the data of a session that has not ended. Like every read it is
// Busy where the server went away.
func (st *SessionStore) FindCtx(ctx context.Context, token string) ([]byte, bool, error) {
	var data []byte
	err := st.s.db.QueryRow(ctx, findSessionSQL, pgx.StrictNamedArgs{"token": token}).Scan(&data)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, false, nil
	}
	return data, err == nil, classify(err)
}

const commitSessionSQL = `-- commit session
INSERT INTO sessions (token, data, expiry) VALUES (@token, @data, @expiry)
ON CONFLICT (token) DO UPDATE SET data = excluded.data, expiry = excluded.expiry`

// CommitCtx stores a session.
func (st *SessionStore) CommitCtx(ctx context.Context, token string, data []byte, expiry time.Time) error {
	_, err := st.s.db.Exec(ctx, commitSessionSQL, pgx.StrictNamedArgs{"token": token, "data": data, "expiry": expiry})
	return classify(err)
}

const deleteSessionSQL = `-- delete session
DELETE FROM sessions WHERE token = @token`

// DeleteCtx ends a session.
func (st *SessionStore) DeleteCtx(ctx context.Context, token string) error {
	_, err := st.s.db.Exec(ctx, deleteSessionSQL, pgx.StrictNamedArgs{"token": token})
	return classify(err)
}

// Find is FindCtx without a request; scs asks for it by its interface and never calls it.
func (st *SessionStore) Find(token string) ([]byte, bool, error) {
	return st.FindCtx(context.Background(), token)
}

// Commit is CommitCtx without a request.
func (st *SessionStore) Commit(token string, data []byte, expiry time.Time) error {
	return st.CommitCtx(context.Background(), token, data, expiry)
}

// Delete is DeleteCtx without a request.
func (st *SessionStore) Delete(token string) error {
	return st.DeleteCtx(context.Background(), token)
}
