//go:build unix

package programtest

import (
	"os/exec"
	"syscall"
)

// NamedPipe makes a named pipe. Only Unix has named pipes in folders; elsewhere the error is
// [errors.ErrUnsupported].
func NamedPipe(path string) error { return syscall.Mkfifo(path, 0o600) }

// KillChildren makes the end of the command's context also end the processes that the command
// started, which Go does not do by itself. It has no effect where there are no process groups.
func KillChildren(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
