//go:build !linux && !darwin

package pgserver

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
)

const noFollow = 0

var (
	errLocked = errors.New("in use by another process")
	errSystem = errors.New("holdfast runs its own postgres on Linux and macOS only: set DATABASE_URL")
)

type account struct{ name string }

func accountFor(string) (*account, error) { return nil, errSystem }

func (*account) is(int) bool                  { return false }
func (*account) own(string) error             { return errSystem }
func (*account) mayEnter(fs.FileInfo) bool    { return false }
func (*account) reaches(string, string) error { return errSystem }

func runAs(*exec.Cmd, *account)                               {}
func dieWithUs(*exec.Cmd, syscall.Signal)                     {}
func ownerOf(fs.FileInfo) (int, bool)                         { return 0, false }
func lock(context.Context, string) (unlock func(), err error) { return nil, errSystem }
func tryLock(string) (*os.File, error)                        { return nil, errSystem }
func processExists(int) bool                                  { return false }
func isPostmaster(int, string) bool                           { return false }
func freeBytes(string) (uint64, bool)                         { return 0, false }
