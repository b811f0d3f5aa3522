package web

import (
	"net/http"
	"sync"
	"testing"

	"holdfast/store/storetest/shop"
	"holdfast/views"
)

// Somebody who has never pressed anything here has no session; a double click
// without JavaScript then sends the same form twice, both times without one.
func TestADoubleFirstPressIsOneHold(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	slot := s.Slot(t, 4)
	path, fields := s.browser(t).get(views.SlotURL("shop", slot.ID)).form("/hold")
	places := make([]string, 4)
	var all sync.WaitGroup
	for i := range places {
		b := s.browser(t)
		all.Go(func() {
			if p := b.post(path, fields); p.status == http.StatusSeeOther {
				places[i] = p.location()
				p = b.get(path[:len(path)-len("/hold")])
				if !p.has("href", places[i]) {
					t.Error("the browser does not find its hold again")
				}
			}
		})
	}
	all.Wait()
	for _, place := range places {
		if place == "" || place != places[0] {
			t.Errorf("the presses lead to %q", places)
			break
		}
	}
	var taken, known int
	if err := s.Pool.QueryRow(t.Context(), `SELECT taken, (SELECT count(*) FROM reservations r WHERE r.tenant_id = s.tenant_id AND r.idempotency_key = $2)
		FROM slots s WHERE s.id = $1`, slot.ID, fields.Get(views.FieldIdempotencyKey)).Scan(&taken, &known); err != nil {
		t.Fatal(err)
	}
	if taken != 1 || known != 0 {
		t.Errorf("%d seats taken, %d reservations with the key of the form as it was sent", taken, known)
	}
}
