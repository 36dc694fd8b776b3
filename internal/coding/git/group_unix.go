//go:build unix

package git

import (
	"os/exec"
	"syscall"
)

// group puts a command into a process group, and lets the end of its context kill the whole group.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
