//go:build unix

package postgrestest

import (
	"os/exec"
	"syscall"
)

// apart starts a command in a session of its own, so that a signal to the group of this
// process, such as a Ctrl-C, does not end it too.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
