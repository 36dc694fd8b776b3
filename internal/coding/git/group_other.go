//go:build !unix

package git

import "os/exec"

func group(*exec.Cmd) {}
