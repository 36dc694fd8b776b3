//go:build !unix

package check

import "os"

// terminate ends a program: there is no way to ask it.
func terminate(p *os.Process) error { return p.Kill() }

// terminated reports whether a program ended by our signal.
func terminated(*os.ProcessState) bool { return true }
