package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"holdfast/store/storetest/shop"
)

// diskSize is that of the disk of the server: room for a new cluster with a write-ahead log, and a little more.
const diskSize = "160m"

// The disk that the server keeps its data on gets full while clients press. It is a small one, which only root may mount:
// `make diskfull`.
func faultFullDisk(t *testing.T) *trial {
	disk := filepath.Dir(dataDir(t))
	// The program, since the system call means another thing on each system.
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size="+diskSize+",mode=0755", "tmpfs", disk).CombinedOutput(); err != nil {
		t.Fatalf("NOT RUN: no disk can be mounted here (root on Linux may): %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", disk).CombinedOutput(); err != nil {
			t.Errorf("unmount %s: %v: %s", disk, err, out)
		}
	})
	server := durable(t, filepath.Join(disk, "data"), false)
	env := settings{"DATABASE_URL": server.DSN(databaseName), "HOLDFAST_SECRET": string(shop.Secret), "HOLDFAST_DATA_DIR": t.TempDir()}
	env.fine(t, "", "migrate")
	w := openTrial(t, shopAt(t, env["DATABASE_URL"]), env, 2)
	return w.under(t, 8, func() {
		ballast := filepath.Join(disk, "ballast")
		busy := w.busy.Load()
		look := w.look(t, 2)
		fill(t, ballast)
		// What the server frees by itself is taken again, until presses are refused for a while.
		began := time.Now()
		until(t, func() bool {
			fill(t, ballast)
			return w.busy.Load() >= busy+20 && time.Since(began) > 2*time.Second
		}, func() string { return "nobody is told that it is busy, though the disk is full" })
		full := w.busy.Load() - busy
		// Now the write-ahead log needs its next file and can't have it, which no server survives: it starts again and
		// again, and ends its recovery when there is room.
		began, conn := time.Now(), w.Conn(t)
		for conn.Ping(t.Context()) == nil {
			fill(t, ballast)
			// It answers with an error, or not at all: that it dies is what is waited for.
			_, _ = conn.Exec(t.Context(), "SELECT pg_switch_wal()")
			if time.Since(began) > patience {
				t.Fatal("the server goes on without room for its log")
			}
		}
		until(t, func() bool { return time.Since(began) > 2*time.Second && w.busy.Load()-busy >= full+20 }, func() string {
			return "nobody is told that it is busy, though the server is down"
		})
		down := w.busy.Load() - busy - full
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		seen := look.seen.Load()
		until(t, func() bool { return look.seen.Load() > seen }, func() string { return "pages do not come back" })
		look.end()
		t.Logf("busy was the answer to %d presses while there was no room, to %d while the server was down, and to %d pages", full, down, look.toldBusy.Load())
	})
}

// fill writes to a file until there is no room left.
func fill(t *testing.T, name string) {
	t.Helper()
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil && !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if err != nil {
		return
	}
	defer file.Close()
	for _, size := range []int{1 << 20, 4096} {
		for {
			if _, err = io.Copy(file, io.LimitReader(zeros{}, int64(size))); err != nil {
				break
			}
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
