package main

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

// One of three instances is killed while it books and while it sends: half of its mails hang before they were taken,
// half after, where only the Message-ID can tell that the second one is the same.
func faultKilledApp(t *testing.T) *trial {
	w := newTrial(t, 0)
	all := w.env
	w.env = all.with("HOLDFAST_DISPATCH", "off")
	w.serve(t)
	w.serve(t)
	w.env = all
	victim := w.serve(t)
	return w.under(t, 9, func() {
		// Behind a mail that hangs many pile up, of which it then takes as many as it has hands. Of what it has taken by
		// now there may be fewer: where nothing moves those are let go, and the next are looked at.
		w.post.hold()
		last, moved := 0, time.Now()
		until(t, func() bool {
			n := w.post.hangs()
			if n != last {
				last, moved = n, time.Now()
			}
			if n > 0 && time.Since(moved) > time.Second {
				w.post.open()
				w.post.hold()
				moved = time.Now()
			}
			return n >= 4
		}, func() string { return fmt.Sprintf("%d mails are on their way", last) })
		w.strike(t, func() { kill(t, victim.cmd.Process.Pid) }, address(victim))
		<-victim.ended
		w.leave(victim)
		w.post.open()
		w.serve(t)
	})
}

// An instance is told to stop while requests are in its hands, waiting for a slot: each of them gets its answer, and
// whoever gets none was never taken in.
func faultTerminated(t *testing.T) *trial {
	w := newTrial(t, 1)
	leaving := w.serve(t)
	load := w.begin(t, 8)
	load.press(t, "before the signal")
	release := w.lock(t, lockRows, w.Tenant.ID)
	w.Waiting(t, 4)
	told := time.Now()
	if err := leaving.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	until(t, func() bool { return strings.Contains(leaving.logged(), "stopping") }, leaving.logged)
	release()
	<-leaving.ended
	w.leave(leaving)
	if code := leaving.cmd.ProcessState.ExitCode(); code != exitFine {
		t.Errorf("exit %d\n%s", code, leaving.logged())
	}
	load.press(t, "after the signal")
	load.end(t)
	answered := 0
	for _, a := range w.acksOf(time.Time{}, time.Now()) {
		if a.app == address(leaving) && a.began.Before(told) && a.ended.After(told) {
			answered++
		}
	}
	if answered == 0 {
		t.Error("no request was in its hands when it was told to stop: nothing was shown")
	}
	// The log has a line per request that was taken in, and clients have counted their answers.
	if served, got := strings.Count(leaving.logged(), "msg=request "), int(w.answeredBy(address(leaving))); served > got {
		t.Errorf("%d requests were taken in, and %d got an answer", served, got)
	}
	w.verify(t)
	return w
}

// answeredBy is how many answers an instance gave.
func (w *trial) answeredBy(app string) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.answers[app]
}
