//go:build linux || darwin

package pgserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

const noFollow = syscall.O_NOFOLLOW

var errLocked = errors.New("in use by another process")

// account is the user that runs Postgres where we are root, which Postgres refuses to be. Nil: we run it ourselves.
type account struct {
	name     string
	uid, gid uint32
}

// accountFor chooses the user: the owner of an existing cluster, else postgres, else nobody.
func accountFor(folder string) (*account, error) {
	owner, group, there := 0, 0, false
	for _, path := range []string{filepath.Join(folder, "data"), folder} {
		info, err := os.Lstat(path)
		if err != nil {
			continue // not made yet, or not for us to see: then the folder above answers
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			owner, group, there = int(st.Uid), int(st.Gid), true
			break
		}
	}
	if us := os.Geteuid(); us != 0 {
		if there && owner != us {
			return nil, fmt.Errorf("%s belongs to the user with number %d: start holdfast as that user or as root, or set HOLDFAST_DATA_DIR to another folder", folder, owner)
		}
		return nil, nil
	}
	if there && owner != 0 {
		name := strconv.Itoa(owner)
		if u, err := user.LookupId(name); err == nil {
			name = u.Username
		}
		return &account{name: name, uid: uint32(owner), gid: uint32(group)}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil || uid == 0 {
			continue
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			continue
		}
		return &account{name: name, uid: uint32(uid), gid: uint32(gid)}, nil
	}
	return nil, errors.New("postgres refuses to run as root, and there is no user postgres or nobody to run it as; start holdfast as another user")
}

func (a *account) is(uid int) bool {
	if a == nil {
		return uid == os.Geteuid()
	}
	return uid == int(a.uid)
}

// own gives a folder to the account.
func (a *account) own(path string) error {
	if a == nil {
		return nil
	}
	if err := os.Lchown(path, int(a.uid), int(a.gid)); err != nil {
		return fmt.Errorf("give %s to the user %s: %w", path, a.name, err)
	}
	return nil
}

func (a *account) mayEnter(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	switch mode := info.Mode().Perm(); {
	case st.Uid == a.uid:
		return mode&0o100 != 0
	case st.Gid == a.gid:
		return mode&0o010 != 0
	default:
		return mode&0o001 != 0
	}
}

// reaches walks from the root down to dir. A root home is usually closed to others, and Postgres itself would say only
// "could not open directory".
func (a *account) reaches(dir, cure string) error {
	if a == nil {
		return nil
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	var closed string
	for d := dir; ; d = filepath.Dir(d) {
		info, err := os.Stat(d)
		if err != nil {
			return err
		}
		if !a.mayEnter(info) {
			closed = d
		}
		if d == filepath.Dir(d) {
			break
		}
	}
	if closed != "" {
		return fmt.Errorf("root runs postgres as the user %s, who can't enter %s (on the way to %s): %s", a.name, closed, dir, cure)
	}
	return nil
}

func runAs(cmd *exec.Cmd, a *account) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if a != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: a.uid, Gid: a.gid}
	}
}

func ownerOf(info fs.FileInfo) (int, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}

// lock waits for the file and gives the function that lets it go. The kernel lets it go too when we die.
func lock(ctx context.Context, path string) (func(), error) {
	for {
		f, err := tryLock(path)
		if err == nil {
			return func() { _ = f.Close() }, nil // closing a file that nobody wrote to loses nothing
		}
		if !errors.Is(err, errLocked) {
			return nil, err
		}
		if err := pause(ctx, lookEvery); err != nil {
			return nil, err
		}
	}
}

// tryLock locks the file or answers errLocked at once. Closing it lets it go.
func tryLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|noFollow, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return f, nil
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = errLocked
	}
	return nil, errors.Join(err, f.Close())
}

func processExists(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

func freeBytes(path string) (uint64, bool) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(path, &st); err != nil {
		return 0, false
	}
	return st.Bavail * uint64(st.Bsize), true
}
