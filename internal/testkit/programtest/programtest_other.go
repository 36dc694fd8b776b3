//go:build !unix

package programtest

import (
	"errors"
	"os/exec"
)

// NamedPipe makes a named pipe. Only Unix has named pipes in folders; elsewhere the error is
// [errors.ErrUnsupported].
func NamedPipe(string) error { return errors.ErrUnsupported }

// KillChildren makes the end of the command's context also end the processes that the command
// started, which Go does not do by itself. It has no effect where there are no process groups.
func KillChildren(*exec.Cmd) {}
