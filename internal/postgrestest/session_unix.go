//go:build unix

package postgrestest

import (
	"os/exec"
	"syscall"
)

// apart starts a command in its own session, so that a signal to the group of this process, such
// as Ctrl-C, does not end the command, too.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
