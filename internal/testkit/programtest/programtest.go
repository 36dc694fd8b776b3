// Package programtest helps tests that run programs.
package programtest

import (
	"os"
	"path/filepath"
	"syscall"
)

// RaceDetector returns the settings of the race detector, from the environment, as a variable for a
// program's environment. Programs need it if they do not get the environment of the test: by default,
// a program with the race detector waits for a second before it ends.
func RaceDetector(getenv func(string) string) string { return "GORACE=" + getenv("GORACE") }

// Write writes an executable program, and makes the folders above it. It blocks the start of other
// processes meanwhile, because a new process would inherit the open file. The system refuses to
// run a program that any process has open for writing ("text file busy").
func Write(path, content string) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(content), 0o700) //nolint:gosec // a program
}
