//go:build !unix

package postgrestest

import "os/exec"

// apart does nothing on this platform.
func apart(*exec.Cmd) {}
