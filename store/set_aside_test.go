package store

import "testing"

func TestASlotThatFailsIsLeftOutOfMoreAndMorePasses(t *testing.T) {
	t.Parallel()
	var a setAside
	leftOut := func() (passes int) {
		a.failed("slot")
		for len(a.pass()) == 1 {
			passes++
		}
		return passes
	}
	for _, want := range []int{1, 3, 7, 15, 31, 63, 63} {
		if got := leftOut(); got != want {
			t.Fatalf("left out of %d passes, want %d", got, want)
		}
	}
	a.done("slot")
	if got := leftOut(); got != 1 {
		t.Errorf("after a success left out of %d passes, want 1", got)
	}
}
