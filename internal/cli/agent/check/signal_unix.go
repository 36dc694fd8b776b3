//go:build unix

package check

import (
	"os"
	"syscall"
)

// terminate asks a program to end.
func terminate(p *os.Process) error { return p.Signal(syscall.SIGTERM) }

// terminated reports whether a program ended because it was asked to.
func terminated(s *os.ProcessState) bool {
	status, ok := s.Sys().(syscall.WaitStatus)
	return ok && (status.Signaled() && status.Signal() == syscall.SIGTERM || status.ExitStatus() == 128+int(syscall.SIGTERM))
}
