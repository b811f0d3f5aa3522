package main

import (
	"testing"

	"holdfast/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }
