package pgserver

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// dieWithUs can't be had here: the next start joins a server that outlived us.
func dieWithUs(*exec.Cmd, syscall.Signal) {}

// isPostmaster tells a server from a stranger that got its number.
func isPostmaster(pid int, _ string) bool {
	out, err := exec.Command("ps", "-o", "comm=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && strings.Contains(string(out), "postgres")
}
