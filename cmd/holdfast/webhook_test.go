package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"holdfast/cmd/internal/worker"
	"holdfast/store"
	"holdfast/store/storetest"
	"holdfast/store/storetest/shop"
)

// The whole program tells another system of a booking, in the order in which it came about, signed.
func TestTheProgramTellsAnotherSystem(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil, storetest.Conns(4))
	type told struct{ signature, body string }
	arrived := make(chan told, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		arrived <- told{r.Header.Get(worker.WebhookSignature), string(body)}
	}))
	t.Cleanup(receiver.Close)
	_, secret, err := s.Store.AddWebhook(t.Context(), store.WebhookChange{TenantID: s.Tenant.ID, URL: receiver.URL})
	check(t, err)
	port := freePort(t)
	settings := map[string]string{
		"DATABASE_URL": s.DSN, "HOLDFAST_SECRET": string(shop.Secret), "HOLDFAST_DATA_DIR": t.TempDir(), "HOLDFAST_ADDR": "127.0.0.1:" + port, "HOLDFAST_WEBHOOK_PRIVATE": "on",
	}
	log := &lockedBuffer{}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan int, 1)
	go func() {
		done <- Run(ctx, []string{"serve"}, func(name string) string { return settings[name] }, strings.NewReader(""), io.Discard, log)
	}()
	t.Cleanup(func() {
		stop()
		if code := <-done; code != 0 {
			t.Errorf("serve ended with %d: %s", code, log)
		}
	})
	booked := s.Book(t, s.Slot(t, 2), 1)
	at := regexp.MustCompile(`^t=([0-9]+),`)
	for _, kind := range []string{"held", "confirmed"} {
		select {
		case one := <-arrived:
			if !strings.Contains(one.body, `"kind":"`+kind+`"`) || strings.Contains(one.body, booked.Email) {
				t.Errorf("told %s, want %s", one.body, kind)
			}
			var seconds int64
			if m := at.FindStringSubmatch(one.signature); m != nil {
				seconds, err = strconv.ParseInt(m[1], 10, 64)
				check(t, err)
			}
			if want := worker.SignWebhook([]string{secret}, time.Unix(seconds, 0), []byte(one.body)); one.signature != want {
				t.Errorf("signed %s, want %s", one.signature, want)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("nothing is told: %s", log)
		}
	}
	if strings.Contains(log.String(), receiver.URL) || strings.Contains(log.String(), secret) {
		t.Error("the log has the address or the secret")
	}
}
