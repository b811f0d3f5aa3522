package store

import "context"

// undone gives the store whose steps on slots are made and undone: what they
// tell is what the step itself would do at this moment, so that a preview can't
// differ from the press behind it. It counts nothing and tells nobody. Steps of one
// statement (Hold, Confirm) are not undone by it, so it is not for them.
func (s *Store) undone() *Store {
	u := *s
	u.undo, u.watch = true, Watch{}
	return &u
}

// PreviewRebook tells what Rebook would do at this moment. Nothing is changed.
func (s *Store) PreviewRebook(ctx context.Context, req RebookRequest) (Change, error) {
	_, change, err := s.undone().Rebook(ctx, req)
	return change, err
}

// PreviewOfferTo tells what OfferTo would do at this moment. Nothing is changed.
func (s *Store) PreviewOfferTo(ctx context.Context, req EntryRequest) (Change, error) {
	return s.undone().OfferTo(ctx, req)
}

// PreviewRevoke tells what Revoke would do at this moment. Nothing is changed.
func (s *Store) PreviewRevoke(ctx context.Context, req EntryRequest) (Change, error) {
	return s.undone().Revoke(ctx, req)
}

// PreviewRemoveEntry tells what RemoveEntry would do at this moment. Nothing is changed.
func (s *Store) PreviewRemoveEntry(ctx context.Context, req EntryRequest) (Change, error) {
	return s.undone().RemoveEntry(ctx, req)
}

// PreviewResizeEntry tells what ResizeEntry would do at this moment. Nothing is changed.
func (s *Store) PreviewResizeEntry(ctx context.Context, req EntryPartyRequest) (Change, error) {
	return s.undone().ResizeEntry(ctx, req)
}

// PreviewReopen tells what ReopenSlot would do at this moment. Nothing is changed.
func (s *Store) PreviewReopen(ctx context.Context, req SlotRequest) (Change, error) {
	return s.undone().ReopenSlot(ctx, req)
}

// PreviewResume tells what ResumeWaitlist would do at this moment. Nothing is changed.
func (s *Store) PreviewResume(ctx context.Context, req SlotRequest) (Change, error) {
	return s.undone().ResumeWaitlist(ctx, req)
}

// PreviewTerms tells what ChangeTerms would do at this moment. Nothing is changed.
func (s *Store) PreviewTerms(ctx context.Context, req TermsRequest) (Change, error) {
	return s.undone().ChangeTerms(ctx, req)
}

// PreviewParty tells what ChangeParty would do at this moment. Nothing is changed.
func (s *Store) PreviewParty(ctx context.Context, req PartyRequest) (Change, error) {
	_, change, err := s.undone().ChangeParty(ctx, req)
	return change, err
}
