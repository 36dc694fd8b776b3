//go:build !unix

package check

import "os"

// terminate kills a program, because these systems cannot ask one to end.
func terminate(p *os.Process) error { return p.Kill() }

// terminated reports whether a program ended by our signal.
func terminated(*os.ProcessState) bool { return true }
