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

// SessionNote is what the table knows about a session besides its data.
type SessionNote struct {
	// Loaded: the request came with this session. It is written only while it is
	// there: a request that was under way when its session was ended must not
	// bring it back.
	Loaded  bool
	StaffID string // who is signed in; empty for nobody
	Handle  string // names the session to its owner; no secret, opens nothing
	Device  string // a short code of browser and system
}

type sessionNoteKey struct{}

// NoteSession gives CommitCtx what it is to keep about the session.
func NoteSession(ctx context.Context, n SessionNote) context.Context {
	return context.WithValue(ctx, sessionNoteKey{}, n)
}

// sessionSeenEvery is how old "last seen" may become before a request writes it.
const sessionSeenEvery = 10 * time.Minute

const findSessionSQL = `-- find session
SELECT data, staff_id IS NOT NULL AND seen_at < statement_timestamp() - @every::interval FROM sessions WHERE token = @token AND expiry > statement_timestamp()`

const sessionSeenSQL = `-- session seen
UPDATE sessions SET seen_at = statement_timestamp() WHERE token = @token AND seen_at < statement_timestamp() - @every::interval`

// FindCtx gives the data of a session that has not ended. Like every read it is
// Busy where the server went away. Of a session of staff it notes, at most once
// in ten minutes, that it is in use.
func (st *SessionStore) FindCtx(ctx context.Context, token string) ([]byte, bool, error) {
	var data []byte
	var stale bool
	args := pgx.StrictNamedArgs{"token": token, "every": sessionSeenEvery}
	err := st.s.db.QueryRow(ctx, findSessionSQL, args).Scan(&data, &stale)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, false, nil
	}
	if err == nil && stale {
		_, err = st.s.db.Exec(ctx, sessionSeenSQL, args)
	}
	return data, err == nil, classify(err)
}

const commitSessionSQL = `-- commit session
INSERT INTO sessions (token, data, expiry, staff_id, handle, device, started_at, seen_at)
VALUES (@token, @data, @expiry, NULLIF(@staff, '')::uuid, @handle, @device, statement_timestamp(), statement_timestamp())
ON CONFLICT (token) DO UPDATE SET data = excluded.data, expiry = excluded.expiry, staff_id = excluded.staff_id, handle = excluded.handle, device = excluded.device`

const updateSessionSQL = `-- update session
UPDATE sessions SET data = @data, expiry = @expiry, staff_id = NULLIF(@staff, '')::uuid, handle = @handle, device = @device WHERE token = @token`

// CommitCtx stores a session. One that was loaded and has been ended since stays ended.
func (st *SessionStore) CommitCtx(ctx context.Context, token string, data []byte, expiry time.Time) error {
	n, _ := ctx.Value(sessionNoteKey{}).(SessionNote)
	sql := commitSessionSQL
	if n.Loaded {
		sql = updateSessionSQL
	}
	_, err := st.s.db.Exec(ctx, sql, pgx.StrictNamedArgs{
		"token": token, "data": data, "expiry": expiry, "staff": n.StaffID, "handle": n.Handle, "device": n.Device,
	})
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

// StaffSession is one browser in which a person is signed in.
type StaffSession struct {
	Handle    string
	Device    string // as it was noted
	StartedAt time.Time
	SeenAt    time.Time // up to ten minutes old
}

const staffSessionsSQL = `-- sessions of a person
SELECT handle, device, started_at, seen_at FROM sessions WHERE staff_id = @staff AND expiry > statement_timestamp() ORDER BY seen_at DESC, started_at DESC LIMIT 100`

// StaffSessions lists where a person is signed in, at most 100, last seen first.
func (s *Store) StaffSessions(ctx context.Context, staffID string) ([]StaffSession, error) {
	return list[StaffSession](ctx, s.db, staffSessionsSQL, pgx.StrictNamedArgs{"staff": staffID})
}

const endSessionSQL = `-- end a session of a person
DELETE FROM sessions WHERE staff_id = @staff AND handle = @handle`

// EndSession ends one session of a person; one that has ended already is as asked.
func (s *Store) EndSession(ctx context.Context, staffID, handle string) error {
	_, err := s.db.Exec(ctx, endSessionSQL, pgx.StrictNamedArgs{"staff": staffID, "handle": handle})
	return classify(err)
}

const endSessionsSQL = `-- end the sessions of a person
DELETE FROM sessions WHERE staff_id = @staff AND (@but::text = '' OR handle <> @but)`

// EndSessions ends all sessions of a person but the one of the handle (empty: all), and tells how many.
func (s *Store) EndSessions(ctx context.Context, staffID, but string) (int, error) {
	return endSessions(ctx, s.db, staffID, but)
}

func endSessions(ctx context.Context, db querier, staffID, but string) (int, error) {
	tag, err := db.Exec(ctx, endSessionsSQL, pgx.StrictNamedArgs{"staff": staffID, "but": but})
	return int(tag.RowsAffected()), readError(db, err)
}
