//go:build !unix

package process

import (
	"fmt"
	"io"
	"os"
	"os/exec"
)

// Supervise is not available on this system.
func Supervise(out io.Writer, _ []string) int {
	fmt.Fprintln(out, "foreman: build runs agents only on Linux, macOS and other Unix systems")
	return 1
}

func detach(*exec.Cmd) {}

func proceed(*os.Process) {}

func hide() error { return nil }
