//go:build !unix

package process

import (
	"fmt"
	"os/exec"
)

// Supervise is not available on this system.
func Supervise(streams Streams, _ []string) int {
	fmt.Fprintln(streams.Err, "foreman: build runs agents on Linux, macOS and other Unix systems")
	return 1
}

func detach(*exec.Cmd) {}
