// Package programtest helps tests that run programs.
package programtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
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

// OneDocument returns an error unless the output of a program is one JSON document and nothing else.
func OneDocument(output string) error {
	var one, more json.RawMessage
	decoder := json.NewDecoder(strings.NewReader(output))
	if err := decoder.Decode(&one); err != nil {
		return fmt.Errorf("the output is no JSON: %w", err)
	}
	switch err := decoder.Decode(&more); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return fmt.Errorf("the output goes on after the document: %w", err)
	}
	return fmt.Errorf("the output has a second document: %s", more)
}
