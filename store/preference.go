package store

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// PreferenceRequest says what a waiting party wants to be told.
type PreferenceRequest struct {
	TenantID      string
	ID            string
	TellVacancies bool // also of seats that are open, first come, first served
	Actor         Actor
}

const preferSQL = `-- what a waiting party wants to be told
UPDATE waitlist_entries SET tell_vacancies = @tell, press_addr = @addr, press_agent = @agent WHERE tenant_id = @tenant AND id = @id AND state = 'waiting'`

// SetPreference says whether a waiting party is told of open seats. It changes
// nothing about its place, and its turn is offered to it in any case. Who turns
// the telling on while seats are open is not written to: the page says so. What
// is as wanted already is left as it is. Refusals: NotFound, Over (no longer
// waiting), AlreadyBooked.
func (s *Store) SetPreference(ctx context.Context, req PreferenceRequest) (Entry, error) {
	_, err := s.onEntry(ctx, "entry_preference", Press{TenantID: req.TenantID, ID: req.ID, Actor: req.Actor}, func(ctx context.Context, t *slotTx, e Entry) error {
		if e.State != Waiting {
			return Over
		}
		if err := t.sweep(ctx); err != nil {
			return err
		}
		switch {
		case t.closedMeanwhile(e.ID):
			return AlreadyBooked
		case t.offeredMeanwhile(e.ID):
			return Over
		case e.TellVacancies == req.TellVacancies:
			return nil
		}
		err := t.exec(ctx, 1, preferSQL, pgx.StrictNamedArgs{
			"tenant": t.tenant, "id": e.ID, "tell": req.TellVacancies, "addr": t.actor.Addr, "agent": t.actor.Agent,
		})
		if err != nil {
			return err
		}
		// The size is as it was: whoever replays the queue finds the same party.
		t.event(EventEntryChanged, e.ID, e.PartySize, 0, map[string]any{"from": e.PartySize, "tell_vacancies": req.TellVacancies})
		return nil
	})
	if err != nil {
		return Entry{}, s.settle("entry_preference", err)
	}
	changed, err := s.Entry(ctx, req.TenantID, req.ID)
	return changed, s.settle("entry_preference", err)
}
