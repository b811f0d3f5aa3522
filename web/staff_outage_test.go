package web

import (
	"strings"
	"testing"

	"holdfast/store/storetest/shop"
)

// While the mail server is away nothing fails yet, but people do not learn what they ought to: today says so.
func TestTodayListsMailThatWaitsTooLong(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	r := s.Book(t, s.Slot(t, 1), 1)
	b := atTheDesk(t, s)
	if fresh := b.get("/staff/shop/today").is(200); strings.Contains(fresh.body, r.Name) {
		t.Error("a mail that is just being sent needs nobody")
	}
	s.Exec(t, "UPDATE outbox SET created_at = created_at - interval '6 minutes'")
	if late := b.get("/staff/shop/today").is(200); !strings.Contains(late.body, r.Name) {
		t.Errorf("nothing says that a mail has been waiting:\n%s", late.text())
	}
}
