// Package programtest writes programs that tests run.
package programtest

import (
	"os"
	"path/filepath"
	"syscall"
)

// Write writes a program, with the folders above it. No other process is started meanwhile: it
// would inherit the open file, and the system refuses to run a program that is open for writing
// ("text file busy"), however soon after the writing.
func Write(path, content string) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(content), 0o700) //nolint:gosec // a program
}
