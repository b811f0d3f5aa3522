package pgserver

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
)

// dieWithUs makes the kernel send the signal when the thread that starts cmd ends. runAs comes first.
func dieWithUs(cmd *exec.Cmd, signal syscall.Signal) { cmd.SysProcAttr.Pdeathsig = signal }

// isPostmaster tells a server of this cluster from a stranger that got its number: a postmaster stands in its cluster.
func isPostmaster(pid int, cluster string) bool {
	at, err := os.Stat(fmt.Sprintf("/proc/%d/cwd", pid))
	if errors.Is(err, fs.ErrNotExist) {
		return false // ended, or dead and not yet collected by its parent
	}
	if err != nil {
		return true // not ours to see; take the file's word
	}
	here, err := os.Stat(cluster)
	return err != nil || os.SameFile(at, here)
}
