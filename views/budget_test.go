package views

import (
	"bytes"
	"compress/gzip"
	"testing"
)

// packed is how many bytes a page costs on the wire.
func packed(t testing.TB, page string) int {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	if _, err := zip.Write([]byte(page)); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Len()
}
