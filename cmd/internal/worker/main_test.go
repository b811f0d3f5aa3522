package worker

import (
	"os"
	"testing"

	"holdfast/store/storetest"
)

func TestMain(m *testing.M) {
	if os.Getenv(processDSN) != "" {
		os.Exit(dispatcherProcess()) // one of several that a test starts
	}
	storetest.Main(m)
}
