package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"
)

func pack(t *testing.T, files map[string]string) *bytes.Reader {
	t.Helper()
	var out bytes.Buffer
	gz := gzip.NewWriter(&out)
	tw := tar.NewWriter(gz)
	for name, text := range files {
		if err := tw.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(text)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := tw.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	if err := gz.Close(); err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(out.Bytes())
}

func TestPackedFilesGetTheirLinks(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	packed := pack(t, map[string]string{
		"package/native/bin/postgres":      "program",
		"package/native/lib/libx.so.1.2":   "library",
		"package/native/pg-symlinks.json":  `[{"source":"native/lib/libx.so.1.2","target":"native/lib/libx.so.1"}]`,
		"elsewhere/that/is/not/of/package": "no",
	})
	if err := unpack(packed, dir); err != nil {
		t.Fatal(err)
	}
	if err := link(dir); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "native", "lib", "libx.so.1")); err != nil || string(text) != "library" {
		t.Errorf("through the link: %q, %v", text, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "native", "bin", "postgres")); err != nil || info.Mode().Perm()&0o100 == 0 {
		t.Errorf("the program: %v, %v", info, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "that")); err == nil {
		t.Error("a file from outside of package/ was unpacked")
	}
}

func TestPackedFileCanNotWriteElsewhere(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	if err := unpack(pack(t, map[string]string{"package/../../escaped": "x"}), filepath.Join(base, "new")); err == nil {
		t.Error("no error")
	}
	if _, err := os.Stat(filepath.Join(base, "escaped")); err == nil {
		t.Error("a file was written outside")
	}
}

func TestLinkThatLeadsNowhereIsAnError(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	packed := pack(t, map[string]string{
		"package/native/lib/present":      "",
		"package/native/pg-symlinks.json": `[{"source":"native/lib/absent","target":"native/lib/link"}]`,
	})
	if err := unpack(packed, dir); err != nil {
		t.Fatal(err)
	}
	if err := link(dir); err == nil {
		t.Error("no error")
	}
}
